// SPDX-License-Identifier: MIT
// PC2: "POINTCACHE2\0", version 1, points, start frame, frames per sample, samples; then positions.
// MDD: frames, points, a time in seconds for every frame; then positions.
#include "yawara/extend/point_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "files/mesh_formats.h"
#include "yawara/extend/memory.h"

#define PC2_HEADER 32
#define PC2_COUNT_OFFSET 28

static bool find_format(const char* path, yw_point_cache_format* format) {
  size_t length = strlen(path);
  if (length < 4) return false;
  yw_span ending = {path + length - 4, path + length};
  *format = yw_span_is(ending, ".mdd") ? YW_POINT_CACHE_MDD : YW_POINT_CACHE_PC2;
  return *format == YW_POINT_CACHE_MDD || yw_span_is(ending, ".pc2");
}

static yw_status fail_format(const char* path, yw_error* error) {
  return yw_fail(error, YW_ERR_INVALID, "%s: the name of a point cache must end in .pc2 or .mdd",
                 yw_file_short_name(path));
}

// Writing -----------------------------------------------------------------------------------------

static void put_pc2_header(yw_point_cache_writer* cache) {
  unsigned char header[PC2_HEADER] = "POINTCACHE2";
  yw_put_u32_le(header + 12, 1);
  yw_put_u32_le(header + 16, (uint32_t)cache->def.num_points);
  yw_put_float_le(header + 20, (float)cache->def.start_frame);
  // Every sample is one frame.
  yw_put_float_le(header + 24, 1.0f);
  yw_file_write(&cache->file, header, sizeof header);
}

// Counts and times of all frames. MDD has no start frame: its times imply it.
static void put_mdd_header(yw_file_writer* file, const yw_point_cache_def* def,
                           int32_t num_frames) {
  unsigned char bytes[4];
  yw_put_u32_be(bytes, (uint32_t)num_frames);
  yw_file_write(file, bytes, sizeof bytes);
  yw_put_u32_be(bytes, (uint32_t)def->num_points);
  yw_file_write(file, bytes, sizeof bytes);
  for (int32_t i = 0; i < num_frames; ++i) {
    yw_put_float_be(bytes, (float)((def->start_frame + (double)i) / def->fps));
    yw_file_write(file, bytes, sizeof bytes);
  }
}

yw_status yw_point_cache_open(yw_point_cache_writer* cache, const char* path,
                              const yw_point_cache_def* def, const yw_allocator* mem,
                              yw_error* error) {
  *cache = (yw_point_cache_writer){.mem = yw_mem_or_default(mem), .def = *def};
  if (!find_format(path, &cache->format)) return fail_format(path, error);
  if (def->num_points < 1 || !(def->fps > 0.0) || !isfinite(def->fps) ||
      !isfinite(def->start_frame) || def->expected_frames < 0)
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: a point cache needs points (%d) and frames per second (%g) above 0",
                   yw_file_short_name(path), def->num_points, def->fps);
  yw_status status = yw_file_writer_open(&cache->file, path, mem, error);
  if (status != YW_OK) return status;
  cache->frame = yw_mem_alloc(&cache->mem, (size_t)def->num_points, 12);
  if (!cache->frame) {
    yw_point_cache_abort(cache);
    return yw_fail_memory(error, "a frame of a point cache");
  }
  if (cache->format == YW_POINT_CACHE_PC2)
    put_pc2_header(cache);
  else
    put_mdd_header(&cache->file, def, def->expected_frames);
  return YW_OK;
}

yw_status yw_point_cache_append(yw_point_cache_writer* cache, const yw_vec3* positions,
                                yw_error* error) {
  if (!cache->frame) return yw_fail(error, YW_ERR_INVALID, "the point cache is not open");
  void (*put)(unsigned char*, float) =
      cache->format == YW_POINT_CACHE_PC2 ? yw_put_float_le : yw_put_float_be;
  unsigned char* out = cache->frame;
  for (int32_t i = 0; i < cache->def.num_points; ++i, out += 12) {
    put(out, positions[i].x);
    put(out + 4, positions[i].y);
    put(out + 8, positions[i].z);
  }
  yw_file_write(&cache->file, cache->frame, (size_t)(out - cache->frame));
  if (cache->file.system_error || cache->num_frames == INT32_MAX) {
    // finish reports the reason.
    yw_status status = yw_file_writer_finish(&cache->file, error);
    if (status == YW_OK) status = yw_fail(error, YW_ERR_LIMIT, "a point cache has too many frames");
    yw_point_cache_abort(cache);
    return status;
  }
  ++cache->num_frames;
  return YW_OK;
}

// The times come before the frames, one per frame: if the number of frames differs from the
// expected one, the frames are copied to a second file.
static yw_status rewrite_mdd(yw_point_cache_writer* cache, yw_error* error) {
  const char* name = yw_file_short_name(cache->file.path);
  yw_file_writer fresh;
  yw_status status = YW_OK;
  errno = 0;
  if (fflush(cache->file.stream) != 0)
    return yw_fail(error, YW_ERR_IO, "%s: cannot be written: %s", name, strerror(errno));
  FILE* old = fopen(cache->file.temporary, "rb");
  if (!old) return yw_fail(error, YW_ERR_IO, "%s: cannot be read back: %s", name, strerror(errno));
  status = yw_file_writer_open(&fresh, cache->file.path, &cache->mem, error);
  if (status == YW_OK) {
    put_mdd_header(&fresh, &cache->def, cache->num_frames);
    if (fseeko(old, (off_t)(8 + 4 * (int64_t)cache->def.expected_frames), SEEK_SET) != 0)
      status = yw_fail(error, YW_ERR_IO, "%s: cannot be read back: %s", name, strerror(errno));
    size_t size = 12 * (size_t)cache->def.num_points;
    for (int32_t i = 0; status == YW_OK && i < cache->num_frames; ++i) {
      if (fread(cache->frame, 1, size, old) != size)
        status = yw_fail(error, YW_ERR_IO, "%s: cannot be read back", name);
      else
        yw_file_write(&fresh, cache->frame, size);
    }
    if (status == YW_OK)
      status = yw_file_writer_commit(&fresh, error);
    else
      yw_file_writer_abort(&fresh);
  }
  fclose(old);
  return status;
}

yw_status yw_point_cache_close(yw_point_cache_writer* cache, yw_error* error) {
  if (!cache->frame) return yw_fail(error, YW_ERR_INVALID, "the point cache is not open");
  yw_status status = YW_OK;
  if (cache->num_frames == 0) {
    status = yw_fail(error, YW_ERR_INVALID, "%s: a point cache without frames is not written",
                     yw_file_short_name(cache->file.path));
  } else if (cache->format == YW_POINT_CACHE_PC2) {
    unsigned char count[4];
    yw_put_u32_le(count, (uint32_t)cache->num_frames);
    yw_file_write_at(&cache->file, PC2_COUNT_OFFSET, count, sizeof count);
    status = yw_file_writer_commit(&cache->file, error);
  } else if (cache->num_frames == cache->def.expected_frames) {
    status = yw_file_writer_commit(&cache->file, error);
  } else {
    status = rewrite_mdd(cache, error);
  }
  yw_point_cache_abort(cache);
  return status;
}

void yw_point_cache_abort(yw_point_cache_writer* cache) {
  yw_file_writer_abort(&cache->file);
  yw_mem_free(&cache->mem, cache->frame);
  *cache = (yw_point_cache_writer){0};
}

// Reading -----------------------------------------------------------------------------------------

static uint32_t get_u32(const unsigned char* p, bool big) {
  uint32_t value = 0;
  for (int32_t i = 0; i < 4; ++i) value = value << 8 | p[big ? i : 3 - i];
  return value;
}

static float get_float(const unsigned char* p, bool big) {
  uint32_t bits = get_u32(p, big);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Frame rate and start follow from the first and last times.
static yw_status read_mdd_times(yw_point_cache_reader* cache, uint32_t frames, yw_error* error) {
  unsigned char first[4], last[4];
  if (frames == 0) return YW_OK;
  off_t offset = 8 + 4 * ((off_t)frames - 1);
  if (fread(first, 1, 4, cache->stream) != 4 || fseeko(cache->stream, offset, SEEK_SET) != 0 ||
      fread(last, 1, 4, cache->stream) != 4)
    return yw_fail(error, YW_ERR_FORMAT, "%s: the file ends inside the times of %" PRIu32 " frames",
                   yw_file_short_name(cache->path), frames);
  double start = (double)get_float(first, true), span = (double)get_float(last, true) - start;
  cache->fps = span > 0.0 && isfinite(span) ? ((double)frames - 1.0) / span : 24.0;
  cache->start_frame = isfinite(start) ? start * cache->fps : 0.0;
  return YW_OK;
}

static yw_status read_header(yw_point_cache_reader* cache, yw_error* error) {
  yw_status status;
  const char* name = yw_file_short_name(cache->path);
  unsigned char header[PC2_HEADER];
  bool mdd = cache->format == YW_POINT_CACHE_MDD;
  size_t size = mdd ? 8 : PC2_HEADER;
  if (fread(header, 1, size, cache->stream) != size)
    return yw_fail(error, YW_ERR_FORMAT, "%s: the file ends inside its header of %zu bytes", name,
                   size);
  uint32_t points, frames;
  if (mdd) {
    frames = get_u32(header, true);
    points = get_u32(header + 4, true);
    status = read_mdd_times(cache, frames, error);
    if (status != YW_OK) return status;
    cache->data_offset = 8 + 4 * (uint64_t)frames;
  } else {
    if (memcmp(header, "POINTCACHE2", 12) != 0 || get_u32(header + 12, false) != 1)
      return yw_fail(error, YW_ERR_FORMAT, "%s: byte 0: is not a PC2 file of version 1", name);
    points = get_u32(header + 16, false);
    cache->start_frame = (double)get_float(header + 20, false);
    // PC2 stores frames, not seconds.
    cache->fps = 0.0;
    frames = get_u32(header + PC2_COUNT_OFFSET, false);
    cache->data_offset = PC2_HEADER;
  }
  if (points == 0 || points > INT32_MAX || frames == 0 || frames > INT32_MAX)
    return yw_fail(error, YW_ERR_FORMAT, "%s: %" PRIu32 " points and %" PRIu32 " frames", name,
                   points, frames);
  cache->num_points = (int32_t)points;
  cache->num_frames = (int32_t)frames;
  return YW_OK;
}

static yw_status check_length(const yw_point_cache_reader* cache, yw_error* error) {
  struct stat info;
  const char* name = yw_file_short_name(cache->path);
  if (fstat(fileno(cache->stream), &info) != 0)
    return yw_fail(error, YW_ERR_IO, "%s: cannot be read: %s", name, strerror(errno));
  // At most 2^31 * 2^31 * 12, which does not overflow.
  uint64_t frame = 12 * (uint64_t)cache->num_points;
  uint64_t size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
  uint64_t room = size > cache->data_offset ? (size - cache->data_offset) / frame : 0;
  if (room < (uint64_t)cache->num_frames)
    return yw_fail(error, YW_ERR_FORMAT,
                   "%s: %d frames of %d points are announced, but the file of %" PRIu64
                   " bytes has only %" PRIu64 " frames",
                   name, cache->num_frames, cache->num_points, size, room);
  return YW_OK;
}

yw_status yw_point_cache_reader_open(yw_point_cache_reader* cache, const char* path,
                                     const yw_allocator* mem, yw_error* error) {
  *cache = (yw_point_cache_reader){.mem = yw_mem_or_default(mem)};
  if (!find_format(path, &cache->format)) return fail_format(path, error);
  cache->stream = fopen(path, "rb");
  if (!cache->stream)
    return yw_fail(error, YW_ERR_IO, "%s: cannot be opened: %s", yw_file_short_name(path),
                   strerror(errno));
  size_t length = strlen(path) + 1;
  cache->path = YW_NEW_ARRAY(&cache->mem, char, length);
  yw_status status = cache->path ? YW_OK : yw_fail_memory(error, "a file name");
  if (status == YW_OK) {
    memcpy(cache->path, path, length);
    status = read_header(cache, error);
  }
  if (status == YW_OK) status = check_length(cache, error);
  if (status == YW_OK) {
    cache->frame = yw_mem_alloc(&cache->mem, (size_t)cache->num_points, 12);
    if (!cache->frame) status = yw_fail_memory(error, "a frame of a point cache");
  }
  if (status != YW_OK) yw_point_cache_reader_close(cache);
  return status;
}

yw_status yw_point_cache_read_frame(yw_point_cache_reader* cache, int32_t frame, yw_vec3* out,
                                    yw_error* error) {
  if (!cache->stream || frame < 0 || frame >= cache->num_frames)
    return yw_fail(error, YW_ERR_INVALID, "frame %d of a point cache with %d frames (0 to %d)",
                   frame, cache->num_frames, cache->num_frames - 1);
  size_t size = 12 * (size_t)cache->num_points;
  uint64_t offset = cache->data_offset + (uint64_t)frame * size;
  if (fseeko(cache->stream, (off_t)offset, SEEK_SET) != 0 ||
      fread(cache->frame, 1, size, cache->stream) != size)
    return yw_fail(error, YW_ERR_IO, "%s: byte %" PRIu64 ": frame %d cannot be read",
                   yw_file_short_name(cache->path), offset, frame);
  bool big = cache->format == YW_POINT_CACHE_MDD;
  const unsigned char* p = cache->frame;
  for (int32_t i = 0; i < cache->num_points; ++i, p += 12)
    out[i] = (yw_vec3){get_float(p, big), get_float(p + 4, big), get_float(p + 8, big)};
  return YW_OK;
}

void yw_point_cache_reader_close(yw_point_cache_reader* cache) {
  if (cache->stream) fclose(cache->stream);
  yw_mem_free(&cache->mem, cache->path);
  yw_mem_free(&cache->mem, cache->frame);
  *cache = (yw_point_cache_reader){0};
}
