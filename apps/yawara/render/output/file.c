// SPDX-License-Identifier: MIT
#include "render/output/file.h"

#include <errno.h>
#include <string.h>

#include "yawara/extend/error.h"

yw_status yw_out_file_name(yw_out_file* file, const char* path, yw_error* error) {
  memset(file, 0, sizeof *file);
  size_t length = strlen(path);
  if (length == 0 || length + sizeof ".part" > sizeof file->part) {
    return yw_fail(error, YW_ERR_IO, "the name of the output file is %s",
                   length == 0 ? "empty" : "too long");
  }
  memcpy(file->path, path, length + 1);
  memcpy(file->part, path, length);
  memcpy(file->part + length, ".part", sizeof ".part");
  return YW_OK;
}

yw_status yw_out_file_open(yw_out_file* file, const char* path, yw_error* error) {
  yw_status status = yw_out_file_name(file, path, error);
  if (status < 0) return status;
  file->stream = fopen(file->part, "wb");
  if (!file->stream) {
    return yw_fail(error, YW_ERR_IO,
                   "%s: cannot create the file: %s. Check that the folder exists and can be "
                   "written",
                   path, strerror(errno));
  }
  return YW_OK;
}

yw_status yw_out_file_close(yw_out_file* file, yw_error* error) {
  int cause = 0;
  if (file->stream) {
    if (fflush(file->stream) != 0 || ferror(file->stream)) cause = errno ? errno : EIO;
    if (fclose(file->stream) != 0 && !cause) cause = errno;
    file->stream = NULL;
  }
  if (!cause && rename(file->part, file->path) != 0) cause = errno;
  if (!cause) return YW_OK;
  remove(file->part);
  return yw_fail(error, YW_ERR_IO, "%s: cannot write the file: %s", file->path, strerror(cause));
}

void yw_out_file_discard(yw_out_file* file) {
  if (file->stream) fclose(file->stream);
  file->stream = NULL;
  remove(file->part);
}
