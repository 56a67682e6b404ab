// SPDX-License-Identifier: MIT
#include "playback/frame_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "playback/sealed.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

static const char magic[SEALED_MAGIC] = {'Y', 'W', 'P', 'A', 'C', 'K', '0', '1'};
// Before each frame: its number of bytes.
#define LENGTH sizeof(uint64_t)

// Reading -----------------------------------------------------------------------------------------

void frame_pack_index_free(frame_pack_index* index) { YW_LIST_FREE(NULL, index); }

static bool read_at(int file, uint64_t offset, void* bytes, size_t size) {
  size_t have = 0;
  while (have < size) {
    ssize_t done = pread(file, (char*)bytes + have, size - have, (off_t)(offset + have));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    have += (size_t)done;
  }
  return true;
}

// Where frame `number` begins, with its length.
static uint64_t begin_of(const frame_pack_index* index, int32_t number) {
  return number > 0 ? index->items[number - 1] : sizeof magic;
}

// The bytes of the frame that begins there; 0 if it is not, or not all of it.
static uint64_t length_at(int file, uint64_t begin, uint64_t size) {
  unsigned char bytes[LENGTH];
  if (begin + LENGTH > size || !read_at(file, begin, bytes, LENGTH)) return 0;
  yw_reader reader = {.data = bytes, .size = LENGTH};
  uint64_t length = yw_read_u64(&reader);
  return length <= size - begin - LENGTH ? length : 0;
}

// Adds the frames that were written since it was last looked at. False if out of memory.
static bool look(int file, uint64_t size, frame_pack_index* index) {
  // A run that was started again has fewer frames than it had.
  if (index->count > 0 && index->items[index->count - 1] > size) index->count = 0;
  uint64_t begin = begin_of(index, index->count), length;
  while (index->count < INT32_MAX && (length = length_at(file, begin, size)) > 0) {
    if (!YW_LIST_RESERVE(NULL, index, 1)) return false;
    begin += LENGTH + length;
    index->items[index->count++] = begin;
  }
  return true;
}

// Opens the file and looks for its frames. Returns a handle, or a negative yw_status.
static int open_and_look(const char* path, frame_pack_index* index, yw_error* error) {
  const char* name = yw_file_short_name(path);
  struct stat info;
  char found[sizeof magic];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return yw_fail(error, YW_ERR_IO, "%s: cannot be opened: %s", name, strerror(errno));
  }
  yw_status status = YW_OK;
  bool readable = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  if (!readable || !read_at(file, 0, found, sizeof found) ||
      memcmp(found, magic, sizeof magic) != 0) {
    status = yw_fail(error, YW_ERR_FORMAT, "%s: is damaged or not a file of this version of yawara",
                     name);
  } else if (!look(file, (uint64_t)info.st_size, index)) {
    status = yw_fail_memory(error, name);
  }
  if (status >= 0) return file;
  close(file);
  return status;
}

int32_t frame_pack_count(const char* path, frame_pack_index* index) {
  int file = open_and_look(path, index, NULL);
  if (file < 0) return 0;
  close(file);
  return index->count;
}

yw_status frame_pack_read(const char* path, frame_pack_index* index, int32_t number,
                          yw_file_data* out, yw_error* error) {
  const char* name = yw_file_short_name(path);
  *out = (yw_file_data){.mem = yw_mem_or_default(NULL)};
  int file = open_and_look(path, index, error);
  if (file < 0) return (yw_status)file;
  yw_status status = YW_OK;
  if (number < 0 || number >= index->count) {
    status = yw_fail(error, YW_ERR_FORMAT, "%s: has %d frames, but no frame %d", name,
                     (int)index->count, (int)number);
  } else {
    uint64_t begin = begin_of(index, number) + LENGTH;
    out->size = (size_t)(index->items[number] - begin);
    out->bytes = YW_NEW_ARRAY(&out->mem, char, out->size);
    if (!out->bytes) {
      status = yw_fail_memory(error, name);
    } else if (!read_at(file, begin, out->bytes, out->size)) {
      status = yw_fail(error, YW_ERR_IO, "%s: frame %d cannot be read", name, (int)number);
    }
  }
  close(file);
  if (status < 0) yw_file_data_free(out);
  return status;
}

// Writing -----------------------------------------------------------------------------------------

yw_status frame_pack_open(const char* path, int32_t keep, frame_pack* out, yw_error* error) {
  frame_pack_index index = {0};
  yw_status status = YW_OK;
  *out = (frame_pack){0};
  if (keep > 0 && frame_pack_count(path, &index) < keep) {
    status = yw_fail(error, YW_ERR_FORMAT, "%s: frame %d is missing", yw_file_short_name(path),
                     (int)index.count);
  }
  uint64_t kept = keep > 0 ? begin_of(&index, keep) : 0;
  if (status >= 0) status = growing_file_open(path, kept, &out->file, error);
  if (status >= 0 && keep == 0) growing_file_put(&out->file, magic, sizeof magic);
  frame_pack_index_free(&index);
  return status;
}

yw_writer frame_pack_begin(frame_pack* pack, const char* frame_magic, size_t size) {
  size_t whole = SEALED_MAGIC + size;
  unsigned char* room = growing_file_room(&pack->file, LENGTH + whole + SEALED_SEAL);
  if (!room) return (yw_writer){0};
  yw_writer length = {.data = room, .capacity = LENGTH};
  yw_write_u64(&length, whole + SEALED_SEAL);
  yw_writer frame = {.data = room + LENGTH, .capacity = whole};
  yw_write_bytes(&frame, frame_magic, SEALED_MAGIC);
  return frame;
}

// A hash waits for the word before; those of several frames do not wait for each other.
static void seal(frame_pack* pack) {
  yw_writer frames[FRAME_PACK_WAYS];
  uint64_t hashes[FRAME_PACK_WAYS];
  for (int32_t k = 0; k < pack->unsealed; ++k) {
    frames[k] = (yw_writer){.data = pack->file.held + pack->begin[k], .size = pack->size[k]};
  }
  sealed_hashes(pack->unsealed, frames, hashes);
  for (int32_t k = 0; k < pack->unsealed; ++k) {
    yw_writer end = {.data = frames[k].data + frames[k].size, .capacity = SEALED_SEAL};
    yw_write_u64(&end, hashes[k]);
  }
  pack->unsealed = 0;
}

void frame_pack_end(frame_pack* pack, const yw_writer* frame) {
  if (!frame->data) return;
  pack->begin[pack->unsealed] = (size_t)(frame->data - pack->file.held);
  pack->size[pack->unsealed] = frame->size;
  pack->file.used += LENGTH + frame->size + SEALED_SEAL;
  if (++pack->unsealed == FRAME_PACK_WAYS) seal(pack);
}

yw_status frame_pack_flush(frame_pack* pack, yw_error* error) {
  seal(pack);
  return growing_file_flush(&pack->file, error);
}

void frame_pack_close(frame_pack* pack) {
  growing_file_close(&pack->file);
  pack->unsealed = 0;
}
