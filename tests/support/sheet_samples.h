// SPDX-License-Identifier: MIT
// Flat square sheets for tests of contact.
#ifndef YW_TESTS_SUPPORT_SHEET_SAMPLES_H
#define YW_TESTS_SUPPORT_SHEET_SAMPLES_H

#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/method.h"

// Cells of 1 in a square; of those between two halves nothing is made.
typedef struct sheet {
  int32_t side, count, num_triangles;
  yw_vec3* rest;
  int32_t* triangles;
  float* radius;
} sheet;

static inline sheet make_sheet(int32_t side, bool halves) {
  sheet s = {.side = side, .count = side * side};
  s.rest = YW_NEW_ARRAY(NULL, yw_vec3, s.count);
  s.triangles = YW_NEW_ARRAY(NULL, int32_t, 6 * s.count);
  s.radius = YW_NEW_ARRAY(NULL, float, s.count);
  for (int32_t i = 0; i < side; ++i) {
    for (int32_t k = 0; k < side; ++k) {
      int32_t a = i * side + k, b = a + side;
      s.rest[a] = yw_v3((float)i, 0.0f, (float)k);
      s.radius[a] = 0.1f;
      if (i + 1 == side || k + 1 == side || (halves && i + 1 == side / 2)) continue;
      const int32_t corners[6] = {a, b, b + 1, a, b + 1, a + 1};
      memcpy(s.triangles + 3 * (size_t)s.num_triangles, corners, sizeof corners);
      s.num_triangles += 2;
    }
  }
  return s;
}

static inline void free_sheet(sheet* s) {
  yw_mem_free(NULL, s->rest);
  yw_mem_free(NULL, s->triangles);
  yw_mem_free(NULL, s->radius);
}

static inline yw_contact_geometry geometry_of(const sheet* s) {
  return (yw_contact_geometry){.triangles = s->triangles,
                               .num_triangles = s->num_triangles,
                               .rest = s->rest,
                               .radius = s->radius};
}

#endif
