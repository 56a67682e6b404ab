// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Reads whole files, and writes files that are either complete or absent. A writer fills a
// temporary file next to the target and renames it once everything has been flushed. After an error
// the temporary file is removed and an existing file of that name is unchanged.
#ifndef YAWARA_EXTEND_FILE_H
#define YAWARA_EXTEND_FILE_H

#include <stdio.h>

#include "../base.h"
#include "error.h"

/// Larger files are refused: offsets and counts of such a mesh do not fit in 32 bits.
#define YW_FILE_MAX_BYTES ((uint64_t)4 << 30)

typedef struct yw_file_data {
  yw_allocator mem;
  char* bytes;  ///< size bytes, followed by a 0 that is not counted
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
  uint64_t hash;  ///< yw_hash_bytes of the contents, from YW_HASH_SEED
} yw_file_record;

/// Files in the order in which they were first read, each path once. Zero-initialise it, then set
/// mem if needed.
typedef struct yw_file_list {
  yw_allocator mem;
  yw_file_record* items;
  int32_t count, capacity;
} yw_file_list;

/// From now on every file that yw_file_read_all reads on this thread is added to the list; NULL:
/// none. Returns the previous list, for the caller to restore.
YW_API yw_file_list* yw_file_list_use(yw_file_list* list);
/// Adds a file with these bytes unless the list already has its path; false if out of memory.
YW_API bool yw_file_list_add(yw_file_list* list, const char* path, const void* bytes, size_t size);
YW_API void yw_file_list_free(yw_file_list* list);

/// Write errors are remembered and reported by finish or commit, so writes need no checks.
typedef struct yw_file_writer {
  yw_allocator mem;
  FILE* stream;      ///< NULL once finished
  char* path;        ///< final path
  char* temporary;   ///< path until the file is renamed
  int system_error;  ///< errno of the first failed write; 0: none
  /// Set after opening: the content is on the disk, not only on its way there, before the file gets
  /// its name.
  bool durable;
} yw_file_writer;

YW_API yw_status yw_file_writer_open(yw_file_writer* writer, const char* path,
                                     const yw_allocator* mem, yw_error* error);
/// Same with a temporary path chosen by the caller, which is truncated (tests point it at a full
/// disk).
YW_API yw_status yw_file_writer_open_with(yw_file_writer* writer, const char* path,
                                          const char* temporary, const yw_allocator* mem,
                                          yw_error* error);
YW_API void yw_file_write(yw_file_writer* writer, const void* bytes, size_t size);
/// Not for floating-point numbers, whose decimal point would follow the host program's locale: use
/// yw_file_write_float.
YW_API void yw_file_printf(yw_file_writer* writer, const char* format, ...) YW_PRINTF(2, 3);
/// Writes the shortest decimal that reads back as the same float.
YW_API void yw_file_write_float(yw_file_writer* writer, float value);
/// Writes "x y z" in the same way.
YW_API void yw_file_write_vec3(yw_file_writer* writer, yw_vec3 value);
YW_API void yw_file_write_double(yw_file_writer* writer, double value);
/// Overwrites bytes at an offset from the start; later writes continue at the end.
YW_API void yw_file_write_at(yw_file_writer* writer, uint64_t offset, const void* bytes,
                             size_t size);
/// Flushes and closes the temporary file. On error it is removed and the writer is empty.
YW_API yw_status yw_file_writer_finish(yw_file_writer* writer, yw_error* error);
/// Finishes and renames. On error the temporary file is removed. The writer is empty afterwards.
YW_API yw_status yw_file_writer_commit(yw_file_writer* writer, yw_error* error);
/// Removes the temporary file. Safe on a zeroed or committed writer.
YW_API void yw_file_writer_abort(yw_file_writer* writer);

/// One of several writers of a file that exists; each writes its own bytes, at their offsets.
typedef struct yw_file_part yw_file_part;
YW_API yw_status yw_file_part_open(const char* path, const yw_allocator* mem, yw_file_part** out,
                                   yw_error* error);
/// As yw_writer.put: the context is the part. Errors are remembered and told when it is closed.
YW_API void yw_file_part_put(void* part, uint64_t offset, const void* bytes, size_t size);
/// durable: the content is on the disk afterwards. Safe on NULL.
YW_API yw_status yw_file_part_close(yw_file_part* part, const char* path, bool durable,
                                    yw_error* error);
/// yw_hash_bytes, from YW_HASH_SEED, of bytes of a file, without holding them.
YW_API yw_status yw_file_hash(const char* path, uint64_t offset, uint64_t size,
                              const yw_allocator* mem, uint64_t* out, yw_error* error);

/// Creates a folder and its missing parents.
YW_API yw_status yw_make_folders(const char* path, yw_error* error);

/// A path for a message: only its end if it is very long.
YW_API const char* yw_file_short_name(const char* path);

#endif
