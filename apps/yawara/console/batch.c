// SPDX-License-Identifier: MIT
#include "console/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/options.h"

int task_share_read(const char* text, task_share* out) {
  *out = (task_share){0, 1};
  if (!text) return -1;
  char* end;
  long task = strtol(text, &end, 10);
  long tasks = *end == '/' ? strtol(end + 1, &end, 10) : 0;
  if (*end || task < 1 || task > tasks || tasks > BATCH_MAX_TASKS) {
    return bad_input("--task is \"%s\", but must be K/N with K from 1 to N, e.g. 3/8", text);
  }
  *out = (task_share){(int32_t)task - 1, (int32_t)tasks};
  return -1;
}

void find_program(char* out, size_t capacity) {
  ssize_t length = readlink("/proc/self/exe", out, capacity - 1);
  if (length > 0) {
    out[length] = '\0';
  } else {
    snprintf(out, capacity, "yawara");
  }
}

void print_quoted(const char* text) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (text[0] && text[strspn(text, plain)] == '\0') {
    fputs(text, stdout);
    return;
  }
  putchar('\'');
  for (; *text; ++text) {
    if (*text == '\'') {
      fputs("'\\''", stdout);
    } else {
      putchar(*text);
    }
  }
  putchar('\'');
}

void print_slurm_head(const char* name, int32_t tasks, const char* folder) {
  printf(
      "#!/bin/bash\n"
      "#SBATCH --job-name=%s\n"
      "#SBATCH --array=1-%d\n"
      "#SBATCH --cpus-per-task=1\n"
      "# What is in progress has a minute to end, and goes on when the task is started again.\n"
      "#SBATCH --signal=B:TERM@60\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output=\"%s/%%a.txt\"\n"
      ": \"${SLURM_ARRAY_TASK_ID:?is not set: give this script to sbatch, of Slurm}\"\n",
      name, (int)tasks, folder);
}
