// SPDX-License-Identifier: MIT
#include "playback/growing_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"

static yw_status cannot_write(const char* path, int reason, yw_error* error) {
  return yw_fail(error, YW_ERR_IO, "%s: cannot be written: %s", yw_file_short_name(path),
                 strerror(reason));
}

yw_status growing_file_open(const char* path, uint64_t keep, growing_file* out, yw_error* error) {
  *out = (growing_file){.size = keep};
  snprintf(out->path, sizeof out->path, "%s", path);
  if (keep > 0 && truncate(path, (off_t)keep) != 0) return cannot_write(path, errno, error);
  int flags = O_WRONLY | O_CLOEXEC | (keep == 0 ? O_CREAT | O_TRUNC : 0);
  out->file = open(path, flags, 0666);
  if (out->file < 0) return cannot_write(path, errno, error);
  out->is_open = true;
  return YW_OK;
}

unsigned char* growing_file_room(growing_file* f, size_t size) {
  if (size <= f->capacity - f->used) return f->held + f->used;
  size_t capacity = 2 * f->capacity + size + 4096;
  unsigned char* held = yw_mem_resize(NULL, f->held, f->used, capacity, 1);
  if (!held) {
    f->out_of_memory = true;
    return NULL;
  }
  f->held = held;
  f->capacity = capacity;
  return held + f->used;
}

void growing_file_put(growing_file* f, const void* bytes, size_t size) {
  unsigned char* room = growing_file_room(f, size);
  if (!room) return;
  memcpy(room, bytes, size);
  f->used += size;
}

yw_status growing_file_flush(growing_file* f, yw_error* error) {
  if (f->out_of_memory) return yw_fail_memory(error, yw_file_short_name(f->path));
  size_t at = 0;
  while (at < f->used) {
    ssize_t done = pwrite(f->file, f->held + at, f->used - at, (off_t)(f->size + at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return cannot_write(f->path, done < 0 ? errno : ENOSPC, error);
    at += (size_t)done;
  }
  f->size += f->used;
  f->used = 0;
  return YW_OK;
}

void growing_file_close(growing_file* f) {
  // What was flushed was checked.
  if (f->is_open) close(f->file);
  yw_mem_free(NULL, f->held);
  *f = (growing_file){0};
}
