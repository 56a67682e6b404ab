// SPDX-License-Identifier: MIT
// Files that several writers fill, each its own part, and hashes of files that no one holds.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Bytes that are written or read at a time.
#define BUFFER ((size_t)1 << 20)

struct yw_file_part {
  yw_allocator mem;
  int file;
  int system_error;  // errno of the first failed write; 0: none
  uint64_t offset;   // of the buffer
  size_t used;       // bytes in the buffer
  unsigned char* data;
};

// Not zeroed: of a large buffer, small files touch only the beginning.
static unsigned char* make_buffer(const yw_allocator* mem) {
  yw_allocator hook = yw_mem_or_default(mem);
  return hook.alloc(hook.context, BUFFER, 64);
}

static void flush(yw_file_part* part) {
  for (size_t at = 0; at < part->used && part->system_error == 0;) {
    ssize_t done = pwrite(part->file, part->data + at, part->used - at, (off_t)(part->offset + at));
    if (done > 0) {
      at += (size_t)done;
    } else if (done == 0 || errno != EINTR) {
      part->system_error = done == 0 ? ENOSPC : errno;
    }
  }
  part->offset += part->used;
  part->used = 0;
}

yw_status yw_file_part_open(const char* path, const yw_allocator* mem, yw_file_part** out,
                            yw_error* error) {
  *out = NULL;
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    return yw_fail(error, YW_ERR_IO, "%s: cannot be written: %s", yw_file_short_name(path),
                   strerror(errno));
  }
  yw_file_part* part = YW_NEW(mem, yw_file_part);
  if (part) part->data = make_buffer(mem);
  if (!part || !part->data) {
    yw_mem_free(mem, part);
    close(file);
    return yw_fail_memory(error, "writing a file");
  }
  part->mem = yw_mem_or_default(mem);
  part->file = file;
  *out = part;
  return YW_OK;
}

void yw_file_part_put(void* context, uint64_t offset, const void* bytes, size_t size) {
  yw_file_part* part = context;
  const unsigned char* from = bytes;
  if (offset != part->offset + part->used) {
    flush(part);
    part->offset = offset;
  }
  while (size > 0) {
    size_t some = BUFFER - part->used < size ? BUFFER - part->used : size;
    memcpy(part->data + part->used, from, some);
    part->used += some;
    from += some;
    size -= some;
    if (part->used == BUFFER) flush(part);
  }
}

yw_status yw_file_part_close(yw_file_part* part, const char* path, bool durable, yw_error* error) {
  if (!part) return YW_OK;
  flush(part);
  int failed = part->system_error;
  while (durable && failed == 0 && fsync(part->file) != 0) {
    if (errno != EINTR) failed = errno;
  }
  if (close(part->file) != 0 && failed == 0) failed = errno;
  yw_allocator mem = part->mem;
  yw_mem_free(&mem, part->data);
  yw_mem_free(&mem, part);
  if (failed == 0) return YW_OK;
  return yw_fail(error, YW_ERR_IO, "%s: cannot be written: %s", yw_file_short_name(path),
                 strerror(failed));
}

static yw_status read_failed(const char* path, const char* why, yw_error* error) {
  return yw_fail(error, YW_ERR_IO, "%s: cannot be read back: %s", yw_file_short_name(path), why);
}

// Hashes are made of words of eight bytes: pieces of whole words give the hash of all of them.
yw_status yw_file_hash(const char* path, uint64_t offset, uint64_t size, const yw_allocator* mem,
                       uint64_t* out, yw_error* error) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return read_failed(path, strerror(errno), error);
  unsigned char* data = make_buffer(mem);
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, size);
  yw_status status = data ? YW_OK : yw_fail_memory(error, "reading a file");
  for (uint64_t at = 0; status >= 0 && at < size;) {
    size_t wanted = size - at < BUFFER ? (size_t)(size - at) : BUFFER, have = 0;
    while (have < wanted) {
      ssize_t done = pread(file, data + have, wanted - have, (off_t)(offset + at + have));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) break;
      have += (size_t)done;
    }
    if (have < wanted) {
      status = read_failed(path, "it is too short", error);
      break;
    }
    hash = yw_hash_words(hash, data, wanted);
    at += wanted;
  }
  yw_mem_free(mem, data);
  close(file);
  *out = hash;
  return status;
}
