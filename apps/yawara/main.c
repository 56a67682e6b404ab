// SPDX-License-Identifier: MIT
// The program: finds the subcommand and hands over.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "commands.h"
#include "options.h"
#include "yawara/yawara.h"

typedef struct entry {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* summary;
} entry;

static const entry entries[] = {
    {"run", cmd_run, "simulate a scene file and write a cache"},
    {"render", cmd_render, "ray-traced pictures or a movie of a cache or a scene"},
    {"export", cmd_export, "a cache as PLY, OBJ, VTU, PC2 or MDD"},
    {"mesh", cmd_mesh, "tets from a surface or a shape, with a quality report"},
    {"inspect", cmd_inspect, "what is in a mesh, scene, cache or snapshot"},
    {"bench", cmd_bench, "measurements, as a table or as JSON"},
    {"fit", cmd_fit, "materials and measurements against what a frames body does"},
    {"paper", cmd_paper, "a figure or table of a paper, reproduced"},
};
enum { NUM_ENTRIES = sizeof entries / sizeof entries[0] };

static void print_help(void) {
  printf(
      "yawara %s: soft things\n\n"
      "usage: yawara COMMAND [arguments]      yawara COMMAND --help shows an example\n\n",
      yw_version());
  for (int i = 0; i < NUM_ENTRIES; ++i) printf("  %-9s %s\n", entries[i].name, entries[i].summary);
  printf(
      "\nfirst steps:\n"
      "  yawara run scenes/gallery/first.json\n"
      "  yawara render out/first -o out/first.mp4\n\n"
      "exit codes: 0 done, 1 the simulation failed, 2 bad input, 130 interrupted (resume with "
      "--resume)\n");
}

int main(int argc, char** argv) {
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
      strcmp(argv[1], "help") == 0) {
    print_help();
    return argc < 2 ? EXIT_BAD_INPUT : EXIT_DONE;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("yawara %s\n", yw_version());
    return EXIT_DONE;
  }
  const char* names[NUM_ENTRIES];
  for (int i = 0; i < NUM_ENTRIES; ++i) {
    names[i] = entries[i].name;
    if (strcmp(argv[1], names[i]) == 0) return entries[i].run(argc - 2, argv + 2);
  }
  yw_hint hint = yw_suggest(argv[1], NUM_ENTRIES, names);
  return bad_input("there is no command \"%s\"%s; see: yawara --help", argv[1], hint.text);
}
