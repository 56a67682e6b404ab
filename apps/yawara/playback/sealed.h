// SPDX-License-Identifier: MIT
// Binary files of a run: eight letters that say what it is, the content, and a hash of all before
// it. A file that was cut short or changed is noticed before anything in it is used.
#ifndef YW_APP_PLAYBACK_SEALED_H
#define YW_APP_PLAYBACK_SEALED_H

#include "yawara/extend/file.h"
#include "yawara/extend/stream.h"

#define SEALED_MAGIC 8  // bytes

/// Room for the magic, which is filled in, and `size` bytes of content; data NULL: memory is out.
/// The data is freed by the caller with yw_mem_free.
yw_writer sealed_begin(const char magic[SEALED_MAGIC], size_t size);
/// The hash that the file ends with.
uint64_t sealed_hash(const yw_writer* writer);
yw_status sealed_write(const char* path, const yw_writer* writer, yw_error* error);

/// reader gives the content; data is freed by the caller with yw_file_data_free. hash may be NULL.
yw_status sealed_read(const char* path, const char magic[SEALED_MAGIC], yw_file_data* data,
                      yw_reader* reader, uint64_t* hash, yw_error* error);

#endif
