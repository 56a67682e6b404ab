// SPDX-License-Identifier: MIT
// A factor as bytes: supernodes and numbers, with a checksum. What follows from the supernodes is
// planned again on loading, which also finds data that contradict themselves.
#include <math.h>
#include <string.h>

#include "math/sparse/cholesky_plan.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

#define MAGIC 0x6c6f68636b677779ull
#define FORMAT 1u
enum { HAS_DOUBLE = 1, HAS_FLOAT = 2 };

static void write_numbers(yw_writer* writer, const int32_t* items, size_t count) {
  for (size_t k = 0; k < count; ++k) yw_write_u32(writer, (uint32_t)items[k]);
}

static void read_numbers(yw_reader* reader, int32_t* items, size_t count) {
  for (size_t k = 0; k < count; ++k) items[k] = (int32_t)yw_read_u32(reader);
}

void yw_cholesky_save(const yw_cholesky* f, yw_writer* writer) {
  size_t count = (size_t)f->num_supernodes, n = (size_t)f->size, begin = writer->size;
  size_t entries = f->entry_start[count], panel_size = f->panel_start[count];
  yw_write_u64(writer, MAGIC);
  yw_write_u32(writer, FORMAT);
  yw_write_u32(writer, (f->has_double ? HAS_DOUBLE : 0) | (f->has_float ? HAS_FLOAT : 0));
  yw_write_u32(writer, (uint32_t)f->size);
  yw_write_u32(writer, (uint32_t)f->num_supernodes);
  yw_write_u64(writer, f->row_start[count]);
  yw_write_u64(writer, entries);
  yw_write_u64(writer, f->pattern_hash);
  yw_write_u32(writer, (uint32_t)f->pattern_entries);
  write_numbers(writer, f->order, n);
  write_numbers(writer, f->first, count + 1);
  write_numbers(writer, f->parent, count);
  for (size_t s = 0; s <= count; ++s) yw_write_u64(writer, f->row_start[s]);
  for (size_t s = 0; s <= count; ++s) yw_write_u64(writer, f->entry_start[s]);
  write_numbers(writer, f->rows, f->row_start[count]);
  write_numbers(writer, f->entry_source, entries);
  write_numbers(writer, f->entry_target, entries);
  if (f->has_double) {
    for (size_t k = 0; k < panel_size; ++k) yw_write_f64(writer, f->panels[k]);
    for (size_t k = 0; k < n; ++k) yw_write_f64(writer, f->inv_diagonal[k]);
  }
  if (f->has_float) {
    yw_write_f32(writer, f->panels32, panel_size);
    yw_write_f32(writer, f->inv_diagonal32, n);
  }
  // Only a writer that holds the bytes can sum them up; one that counts needs the room.
  uint64_t sum = 0;
  if (writer->data && !writer->overflow) {
    sum = yw_hash_bytes(YW_HASH_SEED, writer->data + begin, writer->size - begin);
  }
  yw_write_u64(writer, sum);
}

typedef struct header {
  uint32_t has;
  size_t rows, entries, begin;
} header;

// Sizes are checked against the bytes that are left before anything is allocated.
static bool read_header(yw_reader* reader, yw_cholesky* f, header* head) {
  head->begin = reader->offset;
  bool known = yw_read_u64(reader) == MAGIC && yw_read_u32(reader) == FORMAT;
  head->has = yw_read_u32(reader);
  f->size = (int32_t)yw_read_u32(reader);
  f->num_supernodes = (int32_t)yw_read_u32(reader);
  uint64_t rows = yw_read_u64(reader), entries = yw_read_u64(reader);
  f->pattern_hash = yw_read_u64(reader);
  f->pattern_entries = (int32_t)yw_read_u32(reader);
  if (!known || reader->failed || f->size < 0 || f->num_supernodes < 0 || f->pattern_entries < 0 ||
      f->num_supernodes > f->size) {
    return false;
  }
  size_t left = (reader->size - reader->offset) / 4;
  if ((size_t)f->size > left || rows > left || entries > left) return false;
  head->rows = (size_t)rows;
  head->entries = (size_t)entries;
  return true;
}

static bool allocate(yw_cholesky* f, const header* head) {
  const yw_allocator* mem = &f->mem;
  size_t count = (size_t)f->num_supernodes, n = (size_t)f->size;
  f->order = YW_NEW_ARRAY(mem, int32_t, n);
  f->place = YW_NEW_ARRAY(mem, int32_t, n);
  f->first = YW_NEW_ARRAY(mem, int32_t, count + 1);
  f->parent = YW_NEW_ARRAY(mem, int32_t, count);
  f->num_descendants = YW_NEW_ARRAY(mem, int32_t, count);
  f->row_start = YW_NEW_ARRAY(mem, size_t, count + 1);
  f->entry_start = YW_NEW_ARRAY(mem, size_t, count + 1);
  f->rows = YW_NEW_ARRAY(mem, int32_t, head->rows);
  f->entry_source = YW_NEW_ARRAY(mem, int32_t, head->entries);
  f->entry_target = YW_NEW_ARRAY(mem, int32_t, head->entries);
  return f->order && f->place && f->first && f->parent && f->num_descendants && f->row_start &&
         f->entry_start && f->rows && f->entry_source && f->entry_target;
}

static void read_supernodes(yw_reader* reader, yw_cholesky* f, const header* head) {
  size_t count = (size_t)f->num_supernodes;
  read_numbers(reader, f->order, (size_t)f->size);
  read_numbers(reader, f->first, count + 1);
  read_numbers(reader, f->parent, count);
  for (size_t s = 0; s <= count; ++s) f->row_start[s] = (size_t)yw_read_u64(reader);
  for (size_t s = 0; s <= count; ++s) f->entry_start[s] = (size_t)yw_read_u64(reader);
  read_numbers(reader, f->rows, head->rows);
  read_numbers(reader, f->entry_source, head->entries);
  read_numbers(reader, f->entry_target, head->entries);
}

// The order is a permutation, supernodes are in postorder and cover all columns, and every list
// starts where the one before it ends.
static bool supernodes_are_sound(yw_cholesky* f, const header* head) {
  int32_t count = f->num_supernodes;
  for (int32_t i = 0; i < f->size; ++i) f->place[i] = -1;
  for (int32_t k = 0; k < f->size; ++k) {
    int32_t i = f->order[k];
    if (i < 0 || i >= f->size || f->place[i] >= 0) return false;
    f->place[i] = k;
  }
  if (f->first[0] != 0 || f->first[count] != f->size || f->row_start[0] != 0 ||
      f->row_start[count] != head->rows || f->entry_start[0] != 0 ||
      f->entry_start[count] != head->entries) {
    return false;
  }
  for (int32_t s = 0; s < count; ++s) {
    int32_t p = f->parent[s];
    if (f->first[s + 1] <= f->first[s] || f->first[s + 1] > f->size ||
        f->row_start[s + 1] < f->row_start[s] ||
        f->row_start[s + 1] - f->row_start[s] > (size_t)f->size ||
        f->entry_start[s + 1] < f->entry_start[s] || p >= count || (p >= 0 && p <= s) || p < -1) {
      return false;
    }
    // In a postorder the subtree of s ends right before s.
    int32_t c = s - 1, descendants = 0;
    for (; c >= 0 && f->parent[c] == s; c -= f->num_descendants[c] + 1) {
      descendants += f->num_descendants[c] + 1;
    }
    f->num_descendants[s] = descendants;
    if (c >= 0 && f->parent[c] >= 0 && f->parent[c] < s) return false;
  }
  return true;
}

static bool entries_are_sound(const yw_cholesky* f) {
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    size_t panel = f->panel_start[s + 1] - f->panel_start[s];
    for (size_t e = f->entry_start[s]; e < f->entry_start[s + 1]; ++e) {
      if (f->entry_target[e] < 0 || (size_t)f->entry_target[e] >= panel || f->entry_source[e] < 0 ||
          f->entry_source[e] >= f->pattern_entries) {
        return false;
      }
    }
  }
  return true;
}

static yw_status read_panels(yw_reader* reader, yw_cholesky* f, const header* head,
                             yw_error* error) {
  size_t size = f->panel_start[f->num_supernodes], n = (size_t)f->size;
  size_t bytes = (head->has & HAS_DOUBLE ? 8 : 0) + (head->has & HAS_FLOAT ? 4 : 0);
  size_t left = reader->size - reader->offset;
  if (bytes > 0 && (left < 8 || (left - 8) / bytes < n || (left - 8) / bytes - n < size)) {
    return yw_fail(error, YW_ERR_FORMAT, "saved factor: the numbers are cut short");
  }
  if (head->has & HAS_DOUBLE) {
    f->panels = yw_cholesky_raw_memory(&f->mem, size, sizeof(double));
    f->inv_diagonal = YW_NEW_ARRAY(&f->mem, double, n);
    if (!f->panels || !f->inv_diagonal) return yw_fail_memory(error, "a saved factor");
    for (size_t k = 0; k < size; ++k) f->panels[k] = yw_read_f64(reader);
    for (size_t k = 0; k < n; ++k) f->inv_diagonal[k] = yw_read_f64(reader);
    f->has_double = true;
  }
  if (head->has & HAS_FLOAT) {
    f->panels32 = yw_cholesky_raw_memory(&f->mem, size, sizeof(float));
    f->inv_diagonal32 = YW_NEW_ARRAY(&f->mem, float, n);
    if (!f->panels32 || !f->inv_diagonal32) return yw_fail_memory(error, "a saved factor");
    yw_read_f32(reader, f->panels32, size);
    yw_read_f32(reader, f->inv_diagonal32, n);
    f->has_float = true;
  }
  return YW_OK;
}

static yw_status read_factor(yw_reader* reader, yw_cholesky* f, yw_error* error) {
  header head = {0};
  if (!read_header(reader, f, &head)) {
    return yw_fail(error, YW_ERR_FORMAT, "saved factor: not a factor of this version");
  }
  if (!allocate(f, &head)) return yw_fail_memory(error, "a saved factor");
  read_supernodes(reader, f, &head);
  if (reader->failed || !supernodes_are_sound(f, &head)) {
    return yw_fail(error, YW_ERR_FORMAT, "saved factor: the supernodes are damaged");
  }
  yw_status status = yw_cholesky_plan_work(f, error);
  if (status != YW_OK) return status;
  if (!entries_are_sound(f)) {
    return yw_fail(error, YW_ERR_FORMAT, "saved factor: the entries are damaged");
  }
  status = read_panels(reader, f, &head, error);
  if (status != YW_OK) return status;
  size_t end = reader->offset;
  uint64_t sum = yw_read_u64(reader);
  if (reader->failed ||
      sum != yw_hash_bytes(YW_HASH_SEED, reader->data + head.begin, end - head.begin)) {
    return yw_fail(error, YW_ERR_FORMAT, "saved factor: the checksum does not match");
  }
  return YW_OK;
}

yw_status yw_cholesky_load(const yw_allocator* mem, yw_reader* reader, yw_simd simd,
                           yw_cholesky** out, yw_error* error) {
  *out = NULL;
  yw_cholesky* f = YW_NEW(mem, yw_cholesky);
  if (!f) return yw_fail_memory(error, "a saved factor");
  f->mem = yw_mem_or_default(mem);
  f->simd = yw_simd_resolve(simd);
  yw_status status = read_factor(reader, f, error);
  if (status != YW_OK) {
    yw_cholesky_destroy(f);
    return status;
  }
  *out = f;
  return YW_OK;
}
