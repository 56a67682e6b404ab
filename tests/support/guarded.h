// SPDX-License-Identifier: MIT
// Bytes at the end of memory: reading past them is a crash, with or without a sanitizer.
#ifndef YW_TESTS_SUPPORT_GUARDED_H
#define YW_TESTS_SUPPORT_GUARDED_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/testing.h"

/// A copy of the bytes that ends where memory ends: reading past the end is a crash. Valid until
/// the next one.
static inline char* copy_at_the_end(const void* bytes, size_t size) {
  static char* memory;
  const size_t room = 1 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
  if (!memory) {
    // Not of the heap, which the leak sanitizer reads.
    int zeros = open("/dev/zero", O_RDWR);
    assert_true(zeros >= 0);
    memory = (char*)mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeros, 0);
    close(zeros);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + room, page, PROT_NONE), 0);
  }
  assert_true(size <= room);
  return (char*)memcpy(memory + room - size, bytes, size);
}

#endif
