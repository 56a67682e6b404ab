// SPDX-License-Identifier: MIT
// File format: "YWCACHE1", kind (8 bytes, zero-padded), key (2 x u64), size (u64), the bytes, and a
// checksum (u64) of everything before it; little-endian.
#include "base/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"

#define HEADER_BYTES 40
#define MAX_PATH_LENGTH 4000

static const char magic[8] = {'Y', 'W', 'C', 'A', 'C', 'H', 'E', '1'};

void yw_cache_key_add(yw_cache_key* key, const void* bytes, size_t size) {
  key->a = yw_hash_bytes(yw_hash_u64(key->a, size), bytes, size);
  key->b = yw_hash_bytes(yw_hash_u64(~key->b, size), bytes, size);
}

static bool path_of(char path[MAX_PATH_LENGTH], const char* folder, const char* kind,
                    yw_cache_key key) {
  int length =
      snprintf(path, MAX_PATH_LENGTH, "%s/%s-%016llx.ywc", folder, kind, (unsigned long long)key.a);
  return length > 0 && length < MAX_PATH_LENGTH - 32;
}

static void fill_header(unsigned char header[HEADER_BYTES], const char* kind, yw_cache_key key,
                        size_t size) {
  char word[8] = {0};
  for (int i = 0; i < 8 && kind[i]; ++i) word[i] = kind[i];
  yw_writer writer = {.data = header, .capacity = HEADER_BYTES};
  yw_write_bytes(&writer, magic, sizeof magic);
  yw_write_bytes(&writer, word, sizeof word);
  yw_write_u64(&writer, key.a);
  yw_write_u64(&writer, key.b);
  yw_write_u64(&writer, size);
}

static uint64_t checksum_of(const unsigned char header[HEADER_BYTES], const void* bytes,
                            size_t size) {
  return yw_hash_bytes(yw_hash_bytes(YW_HASH_SEED, header, HEADER_BYTES), bytes, size);
}

// Reading -----------------------------------------------------------------------------------------

static bool read_fully(int file, void* to, size_t size) {
  unsigned char* at = to;
  while (size > 0) {
    ssize_t got = read(file, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

static yw_cache_found bad(yw_error* error, const char* path, const char* why) {
  yw_fail(error, YW_ERR_FORMAT, "%s: %s; it is ignored and made again", path, why);
  return YW_CACHE_BAD;
}

static yw_cache_found read_cache(int file, const char* path, const char* kind, yw_cache_key key,
                                 void* bytes, size_t size, yw_error* error) {
  struct stat info;
  unsigned char header[HEADER_BYTES], expected[HEADER_BYTES], sum[8];
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    return bad(error, path, "not a plain file");
  }
  if (!read_fully(file, header, HEADER_BYTES) || memcmp(header, magic, sizeof magic) != 0) {
    return bad(error, path, "not a cache of this program");
  }
  fill_header(expected, kind, key, size);
  if (memcmp(header, expected, HEADER_BYTES) != 0)
    return bad(error, path, "made of something else");
  if ((uint64_t)info.st_size != (uint64_t)size + HEADER_BYTES + sizeof sum) {
    return bad(error, path, "the file has been cut short or has grown");
  }
  if (!read_fully(file, bytes, size) || !read_fully(file, sum, sizeof sum)) {
    return bad(error, path, "the file cannot be read to its end");
  }
  yw_reader reader = {.data = sum, .size = sizeof sum};
  if (yw_read_u64(&reader) != checksum_of(header, bytes, size)) {
    return bad(error, path, "the checksum is wrong: the file is damaged");
  }
  return YW_CACHE_HIT;
}

yw_cache_found yw_cache_load(const char* folder, const char* kind, yw_cache_key key, void* bytes,
                             size_t size, yw_error* error) {
  char path[MAX_PATH_LENGTH];
  if (!folder || !path_of(path, folder, kind, key)) return YW_CACHE_MISSING;
  // Without O_NONBLOCK, opening a pipe without a writer would block forever.
  int file = open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) {
    return errno == ENOENT || errno == ENOTDIR ? YW_CACHE_MISSING
                                               : bad(error, path, strerror(errno));
  }
  yw_cache_found found = read_cache(file, path, kind, key, bytes, size, error);
  close(file);
  return found;
}

// Writing -----------------------------------------------------------------------------------------

yw_status yw_cache_store(const char* folder, const char* kind, yw_cache_key key, const void* bytes,
                         size_t size, yw_error* error) {
  char path[MAX_PATH_LENGTH];
  unsigned char header[HEADER_BYTES], sum[8];
  if (!folder) return YW_OK;
  if (!path_of(path, folder, kind, key)) {
    return yw_fail(error, YW_ERR_IO, "the name of the cache folder is too long");
  }
  yw_error why = {0};
  yw_file_writer file = {0};
  fill_header(header, kind, key, size);
  yw_writer writer = {.data = sum, .capacity = sizeof sum};
  yw_write_u64(&writer, checksum_of(header, bytes, size));
  yw_status status = yw_make_folders(folder, &why);
  if (status >= 0) status = yw_file_writer_open(&file, path, NULL, &why);
  if (status >= 0) {
    yw_file_write(&file, header, HEADER_BYTES);
    yw_file_write(&file, bytes, size);
    yw_file_write(&file, sum, sizeof sum);
    status = yw_file_writer_commit(&file, &why);
  }
  if (status >= 0) return YW_OK;
  return yw_fail(error, YW_ERR_IO, "the cache cannot be written: %s", why.message);
}
