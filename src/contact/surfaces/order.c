// SPDX-License-Identifier: MIT
#include "contact/surfaces/order.h"

#include <string.h>

// Bottom-up merge sort: stable, with no bad worst case.
void yw_sort_items(yw_sort_item* items, yw_sort_item* scratch, int32_t count) {
  yw_sort_item *from = items, *to = scratch;
  for (int32_t width = 1; width < count; width *= 2) {
    for (int32_t start = 0; start < count; start += 2 * width) {
      int32_t middle = start + width < count ? start + width : count;
      int32_t end = start + 2 * width < count ? start + 2 * width : count;
      int32_t left = start, right = middle;
      for (int32_t k = start; k < end; ++k) {
        bool take_left = left < middle && (right >= end || from[left].key <= from[right].key);
        to[k] = take_left ? from[left++] : from[right++];
      }
    }
    yw_sort_item* other = from;
    from = to;
    to = other;
  }
  if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
}

static uint64_t spread_bits(float x) {
  // Spreads bits to every third of 30. Values outside [0, 1] (and NaN) are clamped.
  float clamped = x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
  uint32_t v = (uint32_t)(clamped * 1023.0f);
  v = (v | (v << 16)) & 0x030000FFu;
  v = (v | (v << 8)) & 0x0300F00Fu;
  v = (v | (v << 4)) & 0x030C30C3u;
  v = (v | (v << 2)) & 0x09249249u;
  return v;
}

uint64_t yw_morton_code(yw_aabb box, yw_vec3 p) {
  yw_vec3 size = yw_sub(box.upper, box.lower), q = yw_sub(p, box.lower);
  return spread_bits(size.x > 0.0f ? q.x / size.x : 0.0f) |
         spread_bits(size.y > 0.0f ? q.y / size.y : 0.0f) << 1 |
         spread_bits(size.z > 0.0f ? q.z / size.z : 0.0f) << 2;
}
