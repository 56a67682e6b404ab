// SPDX-License-Identifier: MIT
// What the libFuzzer programs (tests/fuzz/fuzz_*.c) share. scripts/fuzz.sh runs each of them in an
// empty folder of its own, so that files are named without a path. With YW_FUZZ_SEEDS=FOLDER a
// program writes its first inputs into that folder and ends. Files that are read as a whole can be
// given in memory: the programs are linked with --wrap=yw_file_read_all, since a file on a disk
// takes longer than most readers. Without libFuzzer (YW_FUZZ_ALONE) they are short tests: each runs
// its first inputs, and some changes of them that are always the same.
#ifndef YW_TESTS_SUPPORT_FUZZING_H
#define YW_TESTS_SUPPORT_FUZZING_H

#ifdef YW_FUZZ_ALONE
#include <unistd.h>
#endif
#include "support/testing.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/stream.h"
#include "yawara/yawara.h"

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// Every program has these: what is done once, before inputs are timed, and calls of add_seed.
static void prepare(void);
static void write_seeds(void);

/// Writes a file whose first byte may be `kind`; -1: it has none.
static inline void put_file(const char* path, int kind, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  bool good = file && (kind < 0 || fputc(kind, file) == kind);
  good = good && fwrite(bytes, 1, size, file) == size;
  if (!file || fclose(file) != 0 || !good) {
    perror(path);
    abort();
  }
}

/// All bytes of a file; freed by the caller.
static inline unsigned char* get_file(const char* path, size_t* size) {
  enum { MOST = 1 << 22 };
  FILE* file = fopen(path, "rb");
  unsigned char* bytes = malloc(MOST);
  *size = file ? fread(bytes, 1, MOST, file) : 0;
  if (!file || fclose(file) != 0 || *size == 0 || *size == MOST) {
    perror(path);
    abort();
  }
  return bytes;
}

/// The file in memory that is read in place of the one of this name.
static struct {
  const char* path;  ///< NULL: none
  const void* bytes;
  size_t size;
} given;

yw_status __real_yw_file_read_all(const char* path, uint64_t max_bytes, const yw_allocator* mem,
                                  yw_file_data* out, yw_error* error);
yw_status __wrap_yw_file_read_all(const char* path, uint64_t max_bytes, const yw_allocator* mem,
                                  yw_file_data* out, yw_error* error);

yw_status __wrap_yw_file_read_all(const char* path, uint64_t max_bytes, const yw_allocator* mem,
                                  yw_file_data* out, yw_error* error) {
  if (!given.path || strcmp(given.path, path) != 0 || (max_bytes && given.size > max_bytes)) {
    return __real_yw_file_read_all(path, max_bytes, mem, out, error);
  }
  *out = (yw_file_data){.mem = yw_mem_or_default(mem), .size = given.size};
  out->bytes = YW_NEW_ARRAY(&out->mem, char, given.size + 1);
  if (!out->bytes) return yw_fail_memory(error, path);
  if (given.size > 0) memcpy(out->bytes, given.bytes, given.size);
  return YW_OK;
}

/// A first input. kind is its first byte, which picks the reader; -1: there is only one reader.
static inline void add_seed(int kind, const void* bytes, size_t size) {
  static int count;
  char path[600];
  snprintf(path, sizeof path, "%s/seed_%03d", getenv("YW_FUZZ_SEEDS"), count++);
  put_file(path, kind, bytes, size);
}

/// A law that an input has broken.
static inline void require(bool holds, const char* law) {
  if (holds) return;
  fprintf(stderr, "broken: %s\n", law);
  abort();
}

/// Recomputes the checksum in the last eight bytes, so that damage gets as far as the readers.
static inline void seal_bytes(unsigned char* bytes, size_t size) {
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, bytes, size - 8);
  for (size_t i = 0; i < 8; ++i) bytes[size - 8 + i] = (unsigned char)(hash >> 8 * i);
}

#ifdef YW_FUZZ_ALONE

/// Runs an input, and changes of it: bytes replaced, or the end cut off.
static inline void run_changes(test_random* random, unsigned char* bytes, size_t size, int rounds) {
  for (int round = 0; round <= rounds; ++round) {
    size_t length = round % 4 == 3 ? test_random_u32(random) % size : size;
    // A copy of exactly this length, so that the sanitizer detects reading past it.
    unsigned char* changed = malloc(length ? length : 1);
    memcpy(changed, bytes, length);
    for (int k = 0; length > 0 && k < round % 4; ++k) {
      changed[test_random_u32(random) % length] = (unsigned char)test_random_u32(random);
    }
    LLVMFuzzerTestOneInput(changed, length);
    free(changed);
  }
}

/// Programs whose inputs take long have a smaller number.
#ifndef ROUNDS_ALONE
#define ROUNDS_ALONE 40
#endif

int main(void) {
  char place[] = "/tmp/yawara-fuzz-XXXXXX", text[100];
  if (!mkdtemp(place) || chdir(place) != 0) abort();
  setenv("YW_FUZZ_SEEDS", place, 1);
  prepare();
  write_seeds();
  test_random random = {1};
  int count = 0;
  for (;; ++count) {
    snprintf(text, sizeof text, "%s/seed_%03d", place, count);
    if (access(text, R_OK) != 0) break;
    size_t size;
    unsigned char* bytes = get_file(text, &size);
    run_changes(&random, bytes, size, ROUNDS_ALONE);
    free(bytes);
  }
  snprintf(text, sizeof text, "rm -rf '%s'", place);
  if (chdir("/") != 0 || system(text) != 0) abort();
  printf("%s %d first inputs, %d changes of each\n", count > 0 ? "ok" : "not ok", count,
         ROUNDS_ALONE);
  return count > 0 ? 0 : 1;
}

#else

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc, (void)argv;
  prepare();
  if (!getenv("YW_FUZZ_SEEDS")) return 0;
  write_seeds();
  exit(0);
}

#endif

#endif
