// SPDX-License-Identifier: MIT
#include "server/wire.h"

#include <math.h>
#include <string.h>

#include "frame_layout.h"
#include "server/thin.h"
#include "yawara/extend/memory.h"

#define TOP 65534  // 65535 is not a number

static int32_t int_at(const float* words, size_t index) {
  int32_t value;
  memcpy(&value, words + index, sizeof value);
  return value;
}

static void pad(text* out) {
  static const char zeros[4] = {0};
  text_add_bytes(out, zeros, (4 - out->size % 4) % 4);
}

/// Numbers low + step * k, k from 0 to TOP.
typedef struct scale {
  float low, step;
} scale;

static scale find_scale(const float* values, size_t count, size_t stride) {
  float low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < count; ++i) {
    float value = values[i * stride];
    if (!isfinite(value)) continue;
    low = fminf(low, value);
    high = fmaxf(high, value);
  }
  if (low > high) return (scale){0.0f, 0.0f};
  // Halves, because the difference of large numbers may not be finite.
  return (scale){low, 2.0f * ((0.5f * high - 0.5f * low) / (float)TOP)};
}

static uint16_t quantise(scale s, float value) {
  if (!isfinite(value)) return UINT16_MAX;
  float number = s.step > 0.0f ? (value - s.low) / s.step + 0.5f : 0.0f;
  return (uint16_t)fminf(fmaxf(number, 0.0f), (float)TOP);
}

static void add_positions(text* out, const float* positions, size_t count) {
  scale s[3];
  for (size_t k = 0; k < 3; ++k) s[k] = find_scale(positions + k, count, 3);
  for (size_t k = 0; k < 3; ++k) text_add_bytes(out, &s[k].low, sizeof(float));
  for (size_t k = 0; k < 3; ++k) text_add_bytes(out, &s[k].step, sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    uint16_t numbers[3];
    for (size_t k = 0; k < 3; ++k) numbers[k] = quantise(s[k], positions[3 * i + k]);
    text_add_bytes(out, numbers, sizeof numbers);
  }
  pad(out);
}

static void add_scalars(text* out, const float* values, size_t count) {
  scale s = find_scale(values, count, 1);
  text_add_bytes(out, &s.low, sizeof s.low);
  text_add_bytes(out, &s.step, sizeof s.step);
  for (size_t i = 0; i < count; ++i) {
    uint16_t number = quantise(s, values[i]);
    text_add_bytes(out, &number, sizeof number);
  }
  pad(out);
}

static int8_t round_unit(float x) { return (int8_t)lrintf(127.0f * fminf(fmaxf(x, -1.0f), 1.0f)); }

// The octahedron |x| + |y| + |z| = 1, its lower half folded out to the corners of a square.
static void add_normals(text* out, const float* normals, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float* n = normals + 3 * i;
    float sum = fabsf(n[0]) + fabsf(n[1]) + fabsf(n[2]);
    float x = sum > 0.0f ? n[0] / sum : 0.0f, y = sum > 0.0f ? n[1] / sum : 1.0f;
    if (n[2] < 0.0f) {
      float folded = copysignf(1.0f - fabsf(y), x);
      y = copysignf(1.0f - fabsf(x), y);
      x = folded;
    }
    int8_t pair[2] = {round_unit(x), round_unit(y)};
    text_add_bytes(out, pair, sizeof pair);
  }
  pad(out);
}

// Two bytes are enough for most.
static void add_indices(text* out, const float* words, size_t count) {
  int32_t most = 0, bytes;
  for (size_t i = 0; i < count; ++i) {
    if (int_at(words, i) > most) most = int_at(words, i);
  }
  bytes = most <= UINT16_MAX ? 2 : 4;
  text_add_bytes(out, &bytes, sizeof bytes);
  for (size_t i = 0; i < count && bytes == 2; ++i) {
    uint16_t number = (uint16_t)int_at(words, i);
    text_add_bytes(out, &number, sizeof number);
  }
  if (bytes == 4) text_add_bytes(out, words, sizeof *words * count);
  pad(out);
}

// Corners of triangles: position and value of each, in turn.
static void add_cut(text* out, const float* corners, size_t count) {
  float* parts = YW_NEW_ARRAY(NULL, float, 4 * count);
  if (!parts) {
    out->failed = true;
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    memcpy(parts + 3 * i, corners + 4 * i, 3 * sizeof *parts);
    parts[3 * count + i] = corners[4 * i + 3];
  }
  add_positions(out, parts, count);
  add_scalars(out, parts + 3 * count, count);
  yw_mem_free(NULL, parts);
}

// Puts the kept numbers of each ball, `size` of them, in front; returns where the next kind begins.
static const float* keep(const float* from, size_t size, size_t count, const int32_t* kept,
                         size_t num_kept, float* to) {
  for (size_t i = 0; i < num_kept; ++i) {
    memcpy(to + size * i, from + size * (size_t)kept[i], sizeof *to * size);
  }
  return from + size * count;
}

// Balls that can be seen. False if there is not enough memory.
static bool add_thinned(text* out, const float* data, size_t count, int32_t parts,
                        size_t count_at) {
  int32_t* kept = YW_NEW_ARRAY(NULL, int32_t, count);
  float* values = YW_NEW_ARRAY(NULL, float, 3 * count);
  bool good = kept && values;
  if (good) {
    size_t num_kept = (size_t)thin_balls(data, data + 3 * count, (int32_t)count, kept);
    int32_t number = (int32_t)num_kept;
    memcpy(out->data + count_at, &number, sizeof number);
    data = keep(data, 3, count, kept, num_kept, values);
    add_positions(out, values, num_kept);
    data = keep(data, 1, count, kept, num_kept, values);
    add_scalars(out, values, num_kept);
    if (parts & PART_VALUES) {
      keep(data, 1, count, kept, num_kept, values);
      add_scalars(out, values, num_kept);
    }
  }
  yw_mem_free(NULL, kept);
  yw_mem_free(NULL, values);
  return good;
}

static void add_parts(text* out, const float* words, size_t entry, bool whole) {
  const float* data = words + int_at(words, entry);
  size_t count = (size_t)int_at(words, entry + 1);
  int32_t parts = int_at(words, entry + 2);
  if (parts == 0) return;
  bool is_heavy = (parts & PART_PARTICLES) && count >= THIN_FROM && !whole;
  if (is_heavy && add_thinned(out, data, count, parts, 4 + 4 * (entry + 1))) return;
  add_positions(out, data, count);
  data += 3 * count;
  if (parts & (PART_SURFACE | PART_SKIN)) {
    add_normals(out, data, count);
    data += 3 * count;
  } else {
    add_scalars(out, data, count);
    data += count;
  }
  if (parts & PART_SKIN) {
    add_indices(out, data, count);
    add_indices(out, data + count, 3 * (size_t)int_at(words, entry + 3));
  }
  if (parts & PART_VALUES) add_scalars(out, data, count);
}

static void add_body(text* out, const float* words, size_t entry, bool whole) {
  size_t triangles = (size_t)int_at(words, entry + 5);
  add_parts(out, words, entry, whole);
  if (triangles > 0) add_cut(out, words + int_at(words, entry + 4), 3 * triangles);
}

static void add_obstacle(text* out, const float* words, size_t entry) {
  const float* data = words + int_at(words, entry + 8);
  size_t count = (size_t)int_at(words, entry + 9);
  if (count == 0) return;
  add_positions(out, data, count);
  add_normals(out, data + 3 * count, count);
}

// Numbers as they are; in the header, where they are and how many.
static void add_plain(text* out, const float* words, size_t header, size_t size) {
  text_add_bytes(out, words + int_at(words, header),
                 sizeof *words * size * (size_t)int_at(words, header + 1));
}

void wire_make_frame(text* out, const float* words, size_t num_words, const bool* whole) {
  size_t bodies = (size_t)int_at(words, 0), obstacles = (size_t)int_at(words, 1);
  size_t front = HEADER_WORDS + BODY_WORDS * bodies + OBSTACLE_WORDS * obstacles +
                 3 * (size_t)int_at(words, 2) + 6 * (size_t)int_at(words, 3);
  if (front > num_words) return;
  uint32_t kind = WIRE_FRAME;
  text_clear(out);
  text_add_bytes(out, &kind, sizeof kind);
  text_add_bytes(out, words, sizeof *words * front);
  for (size_t i = 0; i < bodies && !out->failed; ++i) {
    add_body(out, words, HEADER_WORDS + BODY_WORDS * i, whole[i]);
  }
  for (size_t i = 0; i < obstacles && !out->failed; ++i) {
    add_obstacle(out, words, HEADER_WORDS + BODY_WORDS * bodies + OBSTACLE_WORDS * i);
  }
  add_plain(out, words, 8, 6);
  add_plain(out, words, 10, 7);
  size_t slaves = (size_t)int_at(words, 13);
  if (slaves > 0) add_positions(out, words + int_at(words, 12), slaves);
}
