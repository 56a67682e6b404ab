// SPDX-License-Identifier: MIT
// Worlds from scene text, and an exact test of the surfaces that contact sees.
#ifndef SUPPORT_CROSSINGS_H
#define SUPPORT_CROSSINGS_H

#include <string.h>

#include "support/testing.h"
#include "world/world.h"
#include "yawara/yawara.h"

static inline yw_world* surface_world(const char* text, int32_t threads) {
  yw_scene_def def = yw_default_scene_def();
  def.path = "surfaces.json";
  def.text = text;
  def.size = strlen(text);
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  yw_error error = {0};
  if (yw_scene_read(&def, &scene, NULL, &error) < 0) fail_msg("%s", error.message);
  if (yw_scene_build(scene, threads, YW_SIMD_AUTO, &world, &error) < 0) {
    fail_msg("%s", error.message);
  }
  yw_scene_destroy(scene);
  return world;
}

static inline double volume6(yw_vec3 a, yw_vec3 b, yw_vec3 c, yw_vec3 d) {
  double u[3] = {(double)b.x - (double)a.x, (double)b.y - (double)a.y, (double)b.z - (double)a.z};
  double v[3] = {(double)c.x - (double)a.x, (double)c.y - (double)a.y, (double)c.z - (double)a.z};
  double w[3] = {(double)d.x - (double)a.x, (double)d.y - (double)a.y, (double)d.z - (double)a.z};
  return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
         u[2] * (v[0] * w[1] - v[1] * w[0]);
}

// True when the segment e passes through the triangle t; exact but for the rounding of doubles.
static inline bool crosses(const yw_vec3 e[2], const yw_vec3 t[3]) {
  double above = volume6(e[0], t[0], t[1], t[2]), below = volume6(e[1], t[0], t[1], t[2]);
  if (above * below >= 0.0) return false;
  double a = volume6(e[0], e[1], t[0], t[1]), b = volume6(e[0], e[1], t[1], t[2]),
         c = volume6(e[0], e[1], t[2], t[0]);
  return (a > 0.0 && b > 0.0 && c > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0);
}

static inline int count_crossings(const yw_body* a, const yw_body* b) {
  yw_contact_geometry g = a->model->method->contact_geometry(a->state);
  yw_contact_geometry k = b->model->method->contact_geometry(b->state);
  int count = 0;
  for (int32_t i = 0; i < 3 * g.num_triangles; ++i) {
    int32_t from = g.triangles[i], to = g.triangles[i % 3 == 2 ? i - 2 : i + 1];
    yw_vec3 e[2] = {yw_xyz(a->particles.pos[from]), yw_xyz(a->particles.pos[to])};
    yw_aabb box = {yw_min3(e[0], e[1]), yw_max3(e[0], e[1])};
    for (int32_t j = 0; j < k.num_triangles; ++j) {
      const int32_t* v = k.triangles + 3 * (size_t)j;
      yw_vec3 t[3] = {yw_xyz(b->particles.pos[v[0]]), yw_xyz(b->particles.pos[v[1]]),
                      yw_xyz(b->particles.pos[v[2]])};
      yw_aabb other = {yw_min3(t[0], yw_min3(t[1], t[2])), yw_max3(t[0], yw_max3(t[1], t[2]))};
      count += yw_aabb_overlap(box, other) && crosses(e, t);
    }
  }
  return count;
}

static inline void assert_nothing_crosses(const yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    for (int32_t k = 0; k < world->body_order.count; ++k) {
      const yw_body* a = &world->bodies.items[world->body_order.items[i]];
      const yw_body* b = &world->bodies.items[world->body_order.items[k]];
      if (i != k) assert_int_equal(count_crossings(a, b), 0);
    }
  }
}

#endif
