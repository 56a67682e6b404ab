// SPDX-License-Identifier: MIT
// File: "YWCACHE1", kind (8 bytes, zero filled), key (2 x u64), size (u64), the bytes, a checksum
// (u64) of all before it; little-endian.
#include "base/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"

#define HEADER 40
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

static void fill_header(unsigned char header[HEADER], const char* kind, yw_cache_key key,
                        size_t size) {
  char word[8] = {0};
  for (int i = 0; i < 8 && kind[i]; ++i) word[i] = kind[i];
  yw_writer writer = {.data = header, .capacity = HEADER};
  yw_write_bytes(&writer, magic, sizeof magic);
  yw_write_bytes(&writer, word, sizeof word);
  yw_write_u64(&writer, key.a);
  yw_write_u64(&writer, key.b);
  yw_write_u64(&writer, size);
}

static uint64_t checksum_of(const unsigned char header[HEADER], const void* bytes, size_t size) {
  return yw_hash_bytes(yw_hash_bytes(YW_HASH_SEED, header, HEADER), bytes, size);
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
  unsigned char header[HEADER], expected[HEADER], sum[8];
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    return bad(error, path, "not a plain file");
  }
  if (!read_fully(file, header, HEADER) || memcmp(header, magic, sizeof magic) != 0) {
    return bad(error, path, "not a cache of this program");
  }
  fill_header(expected, kind, key, size);
  if (memcmp(header, expected, HEADER) != 0) return bad(error, path, "made of something else");
  if ((uint64_t)info.st_size != (uint64_t)size + HEADER + sizeof sum) {
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
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
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

static bool write_fully(int file, const void* from, size_t size) {
  const unsigned char* at = from;
  while (size > 0) {
    ssize_t put = write(file, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= (size_t)put;
  }
  return true;
}

// mkdir -p
static void make_folders(const char* folder) {
  char path[MAX_PATH_LENGTH];
  size_t length = strlen(folder);
  if (length >= sizeof path) return;
  memcpy(path, folder, length + 1);
  for (size_t i = 1; i <= length; ++i) {
    if (path[i] != '/' && path[i] != '\0') continue;
    char end = path[i];
    path[i] = '\0';
    mkdir(path, 0777);
    path[i] = end;
  }
}

// Differs between processes, threads and calls.
static void name_temporary(char path[MAX_PATH_LENGTH]) {
  static atomic_uint calls;
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t mixed = yw_hash_u64((uint64_t)getpid(), (uint64_t)now.tv_nsec);
  mixed = yw_hash_u64(mixed, atomic_fetch_add(&calls, 1u));
  size_t length = strlen(path);
  snprintf(path + length, MAX_PATH_LENGTH - length, ".tmp-%08x", (unsigned)mixed);
}

yw_status yw_cache_store(const char* folder, const char* kind, yw_cache_key key, const void* bytes,
                         size_t size, yw_error* error) {
  char path[MAX_PATH_LENGTH], temporary[MAX_PATH_LENGTH];
  unsigned char header[HEADER], sum[8];
  if (!folder) return YW_OK;
  if (!path_of(path, folder, kind, key)) {
    return yw_fail(error, YW_ERR_IO, "the name of the cache folder is too long");
  }
  memcpy(temporary, path, sizeof temporary);
  name_temporary(temporary);
  make_folders(folder);
  int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file < 0) {
    return yw_fail(error, YW_ERR_IO, "%s: the cache cannot be written: %s", folder,
                   strerror(errno));
  }
  fill_header(header, kind, key, size);
  yw_writer writer = {.data = sum, .capacity = sizeof sum};
  yw_write_u64(&writer, checksum_of(header, bytes, size));
  bool good = write_fully(file, header, HEADER) && write_fully(file, bytes, size) &&
              write_fully(file, sum, sizeof sum);
  int problem = errno;
  good = close(file) == 0 && good;
  if (good && rename(temporary, path) == 0) return YW_OK;
  if (good) problem = errno;
  unlink(temporary);
  return yw_fail(error, YW_ERR_IO, "%s: the cache cannot be written: %s", path, strerror(problem));
}
