// SPDX-License-Identifier: MIT
// Output files that appear only when complete: written as path + ".part", then renamed.
#ifndef YW_APP_RENDER_OUTPUT_FILE_H
#define YW_APP_RENDER_OUTPUT_FILE_H

#include <stdio.h>

#include "yawara/base.h"

#define YW_MAX_PATH 4096

typedef struct yw_out_file {
  FILE* stream;
  char path[YW_MAX_PATH];  ///< the final name
  char part[YW_MAX_PATH];  ///< the name while it is written
} yw_out_file;

/// Only makes the two names; for files that another program writes.
yw_status yw_out_file_name(yw_out_file* file, const char* path, yw_error* error);
yw_status yw_out_file_open(yw_out_file* file, const char* path, yw_error* error);
/// Flushes, checks and renames; on failure the part is removed.
yw_status yw_out_file_close(yw_out_file* file, yw_error* error);
/// Removes the part.
void yw_out_file_discard(yw_out_file* file);

#endif
