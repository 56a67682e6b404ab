// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Whole files in, and files out that are either complete or not there. A writer fills a temporary
// beside the target and renames it when everything is on its way to the disk; after any error the
// temporary is removed and an older file of that name stays as it was.
#ifndef YAWARA_EXTEND_FILE_H
#define YAWARA_EXTEND_FILE_H

#include <stdio.h>

#include "../base.h"
#include "error.h"

/// Larger files are refused: offsets and counts of a mesh that big do not fit 32 bits.
#define YW_FILE_MAX_BYTES ((uint64_t)4 << 30)

typedef struct yw_file_data {
  yw_allocator mem;
  char* bytes;  ///< size bytes and a 0 that is not counted
  size_t size;
} yw_file_data;

/// Reads a file of at most max_bytes (0: YW_FILE_MAX_BYTES). Folders and missing files are errors.
YW_API yw_status yw_file_read_all(const char* path, uint64_t max_bytes, const yw_allocator* mem,
                                  yw_file_data* out, yw_error* error);
/// Safe on a zeroed struct.
YW_API void yw_file_data_free(yw_file_data* data);

/// A file that was read.
typedef struct yw_file_record {
  char* path;     ///< as it was opened
  uint64_t size;  ///< bytes
  uint64_t hash;  ///< yw_hash_bytes of them, from YW_HASH_SEED
} yw_file_record;

/// Files in the order in which they were first read, each path once. Zero-initialise it; mem is
/// what it allocates with.
typedef struct yw_file_list {
  yw_allocator mem;
  yw_file_record* items;
  int32_t count, capacity;
} yw_file_list;

/// From now on everything that yw_file_read_all reads on this thread is added to the list; NULL:
/// to none. Returns the list that was in use before, for the caller to put back.
YW_API yw_file_list* yw_file_list_use(yw_file_list* list);
/// Adds a file with these bytes, unless the path is there already. false: memory is out.
YW_API bool yw_file_list_add(yw_file_list* list, const char* path, const void* bytes, size_t size);
YW_API void yw_file_list_free(yw_file_list* list);

/// Errors are remembered: write as much as you like and look at the status of finish or commit.
typedef struct yw_file_writer {
  yw_allocator mem;
  FILE* stream;      ///< NULL once finished
  char* path;        ///< where the file will be
  char* temporary;   ///< where it is until then
  int system_error;  ///< errno of the first write that failed, 0: none
} yw_file_writer;

YW_API yw_status yw_file_writer_open(yw_file_writer* writer, const char* path,
                                     const yw_allocator* mem, yw_error* error);
/// The same with a temporary of the caller's choice, which is truncated (tests point it at a full
/// disk).
YW_API yw_status yw_file_writer_open_with(yw_file_writer* writer, const char* path,
                                          const char* temporary, const yw_allocator* mem,
                                          yw_error* error);
YW_API void yw_file_write(yw_file_writer* writer, const void* bytes, size_t size);
/// Not for floating-point numbers: their decimal point follows the host program's locale. See
/// yw_file_write_float.
YW_API void yw_file_printf(yw_file_writer* writer, const char* format, ...) YW_PRINTF(2, 3);
/// Shortest decimal that reads back as the same float.
YW_API void yw_file_write_float(yw_file_writer* writer, float value);
/// "x y z" in the same way.
YW_API void yw_file_write_vec3(yw_file_writer* writer, yw_vec3 value);
YW_API void yw_file_write_double(yw_file_writer* writer, double value);
/// Overwrites bytes at an offset from the beginning, then goes on at the end.
YW_API void yw_file_write_at(yw_file_writer* writer, uint64_t offset, const void* bytes,
                             size_t size);
/// Flushes and closes the temporary. On error it is removed and the writer is empty.
YW_API yw_status yw_file_writer_finish(yw_file_writer* writer, yw_error* error);
/// Finishes and renames. On error the temporary is removed. The writer is empty afterwards.
YW_API yw_status yw_file_writer_commit(yw_file_writer* writer, yw_error* error);
/// Removes the temporary. Safe on a zeroed or committed writer.
YW_API void yw_file_writer_abort(yw_file_writer* writer);

/// Makes a folder and those above it where they do not exist yet.
YW_API yw_status yw_make_folders(const char* path, yw_error* error);

/// A file name for a message: the last part of it when it is very long.
YW_API const char* yw_file_short_name(const char* path);

#endif
