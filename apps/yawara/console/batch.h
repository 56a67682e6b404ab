// SPDX-License-Identifier: MIT
// Work that is shared over tasks: shares, command lines for other programs, job arrays of Slurm.
#ifndef YW_APP_CONSOLE_BATCH_H
#define YW_APP_CONSOLE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define BATCH_MAX_TASKS 100000

/// Items first, first + every, ...
typedef struct task_share {
  int32_t first, every;
} task_share;

/// Reads "K/N", the K-th of N shares; NULL: all. Returns -1 to continue, or the exit code.
int task_share_read(const char* text, task_share* out);
/// The path of this program.
void find_program(char* out, size_t capacity);
/// Prints an argument as a shell reads it.
void print_quoted(const char* text);
/// Prints the head of a script for sbatch, up to its last command. Task K of a job has its messages
/// in folder/K.txt.
void print_slurm_head(const char* name, int32_t tasks, const char* folder);

#endif
