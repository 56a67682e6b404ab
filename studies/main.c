// SPDX-License-Identifier: MIT
// yawara-studies: runs `yawara bench`, `yawara fit` and `yawara paper`.
#include <stdio.h>
#include <string.h>

#include "codecs/codecs.h"
#include "console/options.h"
#include "studies.h"

static int run_study(int argc, char** argv) {
  codecs_register();
  const char* name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "bench") == 0) return study_bench(argc - 2, argv + 2);
  if (strcmp(name, "fit") == 0) return study_fit(argc - 2, argv + 2);
  if (strcmp(name, "paper") == 0) return study_paper(argc - 2, argv + 2);
  fprintf(stderr, "usage: yawara bench|fit|paper [NAME]\n");
  return EXIT_BAD_INPUT;
}

int main(int argc, char** argv) { return finish_output(run_study(argc, argv)); }
