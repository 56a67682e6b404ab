// SPDX-License-Identifier: MIT
// A wedge that other programs run: scripts for Slurm, and how to stop it from anywhere.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/wedge.h"
#include "yawara/extend/file.h"

int wedge_print_slurm(const wedge* w, int32_t tasks) {
  char program[RUN_MAX_PATH], folder[RUN_MAX_PATH];
  yw_error error = {0};
  snprintf(folder, sizeof folder, "%s/slurm", w->dir);
  if (yw_make_folders(folder, &error) < 0) return bad_input("%s", error.message);
  wedge_take_back_stop(w);
  find_program(program, sizeof program);
  if (tasks > w->num_runs) tasks = w->num_runs;
  const char* name = strrchr(w->dir, '/');
  print_slurm_head(name ? name + 1 : w->dir, tasks, folder);
  printf("exec ");
  print_quoted(program);
  printf(" wedge ");
  print_quoted(w->dir);
  printf(" --task \"$SLURM_ARRAY_TASK_ID/%d\" --jobs \"${SLURM_CPUS_PER_TASK:-1}\" --quiet\n",
         (int)tasks);
  return EXIT_DONE;
}

static void stop_path(const wedge* w, char out[RUN_MAX_PATH]) {
  snprintf(out, RUN_MAX_PATH, "%s/stop", w->dir);
}

int wedge_stop(const wedge* w) {
  char path[RUN_MAX_PATH];
  stop_path(w, path);
  FILE* file = fopen(path, "w");
  if (!file || fclose(file) != 0) {
    return bad_input("%s: cannot be written: %s", path, strerror(errno));
  }
  printf("its processes stop after their frames; go on with: yawara wedge %s\n", w->dir);
  return EXIT_DONE;
}

bool wedge_is_stopped(const wedge* w) {
  char path[RUN_MAX_PATH];
  stop_path(w, path);
  return access(path, F_OK) == 0;
}

void wedge_take_back_stop(const wedge* w) {
  char path[RUN_MAX_PATH];
  stop_path(w, path);
  unlink(path);
}
