// SPDX-License-Identifier: MIT
#include "playback/sealed.h"

#include <errno.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

yw_writer sealed_begin(const char magic[SEALED_MAGIC], size_t size) {
  size_t whole = SEALED_MAGIC + size;
  yw_writer writer = {.data = yw_mem_alloc(NULL, whole, 1), .capacity = whole};
  if (writer.data) yw_write_bytes(&writer, magic, SEALED_MAGIC);
  return writer;
}

uint64_t sealed_hash(const yw_writer* writer) {
  return yw_hash_bytes(YW_HASH_SEED, writer->data, writer->size);
}

yw_status sealed_write(const char* path, const yw_writer* writer, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  yw_file_write(&file, writer->data, writer->size);
  unsigned char seal[SEALED_SEAL];
  yw_writer tail = {.data = seal, .capacity = sizeof seal};
  yw_write_u64(&tail, sealed_hash(writer));
  yw_file_write(&file, seal, sizeof seal);
  return yw_file_writer_commit(&file, error);
}

yw_status sealed_file_begin(yw_file_writer* file, const char* path, const char magic[SEALED_MAGIC],
                            const yw_writer* head, bool durable, yw_error* error) {
  yw_status status = yw_file_writer_open(file, path, NULL, error);
  if (status < 0) return status;
  file->durable = durable;
  yw_file_write(file, magic, SEALED_MAGIC);
  yw_file_write(file, head->data, head->size);
  // Signals may interrupt it; what was written stays written.
  int failed;
  do {
    errno = 0;
    failed = fflush(file->stream);
  } while (failed != 0 && errno == EINTR);
  if (failed == 0) return YW_OK;
  status = yw_fail(error, YW_ERR_IO, "%s: cannot be written", yw_file_short_name(path));
  yw_file_writer_abort(file);
  return status;
}

yw_status sealed_file_end(yw_file_writer* file, yw_status status, uint64_t size, yw_error* error) {
  uint64_t whole = SEALED_MAGIC + size, hash = 0;
  if (status >= 0) status = yw_file_hash(file->temporary, 0, whole, NULL, &hash, error);
  if (status < 0) {
    yw_file_writer_abort(file);
    return status;
  }
  unsigned char seal[SEALED_SEAL];
  yw_writer tail = {.data = seal, .capacity = sizeof seal};
  yw_write_u64(&tail, hash);
  yw_file_write_at(file, whole, seal, sizeof seal);
  return yw_file_writer_commit(file, error);
}

yw_status sealed_read(const char* path, const char magic[SEALED_MAGIC], yw_file_data* data,
                      yw_reader* reader, uint64_t* hash, yw_error* error) {
  yw_status status = yw_file_read_all(path, 0, NULL, data, error);
  return status < 0 ? status : sealed_open(path, magic, data, reader, hash, error);
}

yw_status sealed_open(const char* path, const char magic[SEALED_MAGIC], yw_file_data* data,
                      yw_reader* reader, uint64_t* hash, yw_error* error) {
  const unsigned char* bytes = (const unsigned char*)data->bytes;
  bool whole = data->size >= SEALED_MAGIC + SEALED_SEAL && memcmp(bytes, magic, SEALED_MAGIC) == 0;
  if (whole) {
    size_t size = data->size - SEALED_SEAL;
    yw_reader tail = {.data = bytes + size, .size = SEALED_SEAL};
    uint64_t seal = yw_read_u64(&tail);
    whole = seal == yw_hash_bytes(YW_HASH_SEED, bytes, size);
    if (hash) *hash = seal;
    *reader = (yw_reader){.data = bytes, .size = size, .offset = SEALED_MAGIC};
  }
  if (whole) return YW_OK;
  yw_file_data_free(data);
  return yw_fail(error, YW_ERR_FORMAT, "%s: is damaged or not a file of this version of yawara",
                 yw_file_short_name(path));
}
