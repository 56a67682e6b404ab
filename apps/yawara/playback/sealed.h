// SPDX-License-Identifier: MIT
// Binary files of a run: eight letters that identify the type, the content, and a hash of
// everything before it. A truncated or changed file is detected before anything in it is used.
#ifndef YW_APP_PLAYBACK_SEALED_H
#define YW_APP_PLAYBACK_SEALED_H

#include "yawara/extend/file.h"
#include "yawara/extend/stream.h"

#define SEALED_MAGIC 8  // bytes
#define SEALED_SEAL 8   // bytes of the hash at the end

/// Allocates the magic, which is filled in, and `size` bytes of content; data NULL: out of memory.
/// The caller frees the data with yw_mem_free.
yw_writer sealed_begin(const char magic[SEALED_MAGIC], size_t size);
/// The hash at the end of the file.
uint64_t sealed_hash(const yw_writer* writer);
/// Those of several; four take hardly longer than one.
void sealed_hashes(int32_t count, const yw_writer* writers, uint64_t* out);
/// durable: it gets its name once all of it is on the disk.
yw_status sealed_write(const char* path, const yw_writer* writer, bool durable, yw_error* error);
/// A file whose content does not stand in memory: begin opens a temporary file and writes the magic
/// and the bytes of `head`, others write to it by its path, and end seals it and gives it its name;
/// durable: once all of it is on the disk.
/// After begin has succeeded, end must be called; with a status below 0 it drops the file.
yw_status sealed_file_begin(yw_file_writer* file, const char* path, const char magic[SEALED_MAGIC],
                            const yw_writer* head, bool durable, yw_error* error);
/// size: of the content, with the head.
yw_status sealed_file_end(yw_file_writer* file, yw_status status, uint64_t size, yw_error* error);

/// reader returns the content; the caller frees data with yw_file_data_free. hash may be NULL.
yw_status sealed_read(const char* path, const char magic[SEALED_MAGIC], yw_file_data* data,
                      yw_reader* reader, uint64_t* hash, yw_error* error);
/// The same of bytes that have been read. On error they are freed.
yw_status sealed_open(const char* path, const char magic[SEALED_MAGIC], yw_file_data* data,
                      yw_reader* reader, uint64_t* hash, yw_error* error);

#endif
