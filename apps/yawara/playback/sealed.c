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

static inline uint64_t word_at(const unsigned char* p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static void hash_four(const yw_writer* w, uint64_t out[4]) {
  const unsigned char *p0 = w[0].data, *p1 = w[1].data, *p2 = w[2].data, *p3 = w[3].data;
  uint64_t h0 = yw_hash_u64(YW_HASH_SEED, w[0].size), h1 = yw_hash_u64(YW_HASH_SEED, w[1].size),
           h2 = yw_hash_u64(YW_HASH_SEED, w[2].size), h3 = yw_hash_u64(YW_HASH_SEED, w[3].size);
  size_t common = w[0].size;
  for (int k = 1; k < 4; ++k) common = w[k].size < common ? w[k].size : common;
  common -= common % 8;
  for (size_t at = 0; at < common; at += 8) {
    h0 = yw_hash_u64(h0, word_at(p0 + at));
    h1 = yw_hash_u64(h1, word_at(p1 + at));
    h2 = yw_hash_u64(h2, word_at(p2 + at));
    h3 = yw_hash_u64(h3, word_at(p3 + at));
  }
  const uint64_t begun[4] = {h0, h1, h2, h3};
  for (int k = 0; k < 4; ++k) {
    out[k] = yw_hash_words(begun[k], w[k].data + common, w[k].size - common);
  }
}

void sealed_hashes(int32_t count, const yw_writer* writers, uint64_t* out) {
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) hash_four(writers + i, out + i);
  for (; i < count; ++i) out[i] = sealed_hash(&writers[i]);
}

yw_status sealed_write(const char* path, const yw_writer* writer, bool durable, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  file.durable = durable;
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
