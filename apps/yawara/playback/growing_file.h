// SPDX-License-Identifier: MIT
// A file that grows at its end. What is put is held back until it is flushed and then written at
// once: the system takes as long for a small write as for thousands of bytes.
#ifndef YW_APP_PLAYBACK_GROWING_FILE_H
#define YW_APP_PLAYBACK_GROWING_FILE_H

#include "playback/run_info.h"

/// Zero-initialised: closed.
typedef struct growing_file {
  bool is_open;
  int file;
  char path[RUN_MAX_PATH + 32];
  uint64_t size;          ///< bytes in the file
  unsigned char* held;    ///< bytes to come
  size_t used, capacity;  ///< of them
  bool out_of_memory;     ///< something could not be held; told by growing_file_flush
} growing_file;

/// Keeps the first bytes of the file and drops the others; 0: a new file.
yw_status growing_file_open(const char* path, uint64_t keep, growing_file* out, yw_error* error);
void growing_file_put(growing_file* f, const void* bytes, size_t size);
/// Room behind what was put; what the caller writes there counts once it adds its size to `used`.
/// NULL: out of memory.
unsigned char* growing_file_room(growing_file* f, size_t size);
/// After an error, what was held is still held.
yw_status growing_file_flush(growing_file* f, yw_error* error);
/// Drops what is held. Safe on a closed one.
void growing_file_close(growing_file* f);

#endif
