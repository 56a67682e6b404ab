// SPDX-License-Identifier: MIT
// yawara bench contact: a cloth folded in half, in contact with itself everywhere, flat and bent
// around a cylinder. Times the contact step alone, always from the same positions, as points (balls
// at the vertices) and as surfaces.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "console/options.h"
#include "contact/bodies.h"
#include "reference/clock.h"
#include "yawara/extend/memory.h"

#define H (1.0f / 240.0f)
#define CELL 0.005f
#define RADIUS 0.0005f
// Vertices along a side: about 2 x 316 x 316 triangles.
#define SIDE 317
// ms per substep, of surfaces with two threads, flat.
#define TARGET 60.0
// m, radius of the cylinder.
#define BEND 0.5f

typedef struct cloth {
  yw_particles particles;
  yw_vec4 *pos, *vel, *begin;
  yw_vec3* rest;
  float* radius;
  int32_t* triangles;
  int32_t num_triangles;
  yw_points* points;
  yw_surfaces* surfaces;
  double seconds;
  int32_t found;
  bool bent;
} cloth;

// A vertex of the lower or upper half. The upper one lies at the distance that surfaces keep at
// rest, and a little more; it is shifted, so that vertices do not lie on vertices.
static yw_vec3 layered(int32_t i, int32_t k, int32_t side, bool bent) {
  int32_t half = side / 2;
  yw_vec3 flat = yw_v3(CELL * (float)i, 0, CELL * (float)k);
  if (i >= half) {
    flat = yw_v3(CELL * ((float)(i - half) + 0.3f), 2.0f * RADIUS + 0.006f * CELL,
                 CELL * ((float)k + 0.4f));
  }
  if (!bent) return flat;
  float angle = flat.x / BEND, radius = BEND + flat.y;
  return yw_v3(radius * sinf(angle), radius * cosf(angle), flat.z);
}

static void place_vertices(cloth* c, int32_t side, bool bent) {
  for (int32_t i = 0; i < side; ++i) {
    for (int32_t k = 0; k < side; ++k) {
      int32_t at = i * side + k;
      yw_vec3 x = layered(i, k, side, bent);
      bool upper = i >= side / 2;
      c->rest[at] = yw_v3(CELL * (float)i, 0, CELL * (float)k);
      c->begin[at] = yw_v4(x);
      c->vel[at] = (yw_vec4){0, upper ? -9.81f * H : 0.0f, 0, 0};
      c->pos[at] = yw_v4(yw_mad(x, H, yw_xyz(c->vel[at])));
      c->radius[at] = RADIUS;
      c->particles.mass[at] = c->particles.inv_mass[at] = 1.0f;
    }
  }
}

static void join_vertices(cloth* c, int32_t side) {
  for (int32_t i = 0; i + 1 < side; ++i) {
    for (int32_t k = 0; k + 1 < side && i + 1 != side / 2; ++k) {
      int32_t a = i * side + k, b = a + side;
      const int32_t corners[6] = {a, b, b + 1, a, b + 1, a + 1};
      memcpy(c->triangles + 3 * (size_t)c->num_triangles, corners, sizeof corners);
      c->num_triangles += 2;
    }
  }
}

static bool make_cloth(int32_t side, bool bent, yw_simd simd, cloth* c) {
  int32_t count = side * side, triangles = 2 * (side - 1) * (side - 1);
  if (!yw_particles_create(NULL, count, &c->particles)) return false;
  c->particles.count = count;
  c->pos = YW_NEW_ARRAY(NULL, yw_vec4, count);
  c->vel = YW_NEW_ARRAY(NULL, yw_vec4, count);
  c->begin = YW_NEW_ARRAY(NULL, yw_vec4, count);
  c->rest = YW_NEW_ARRAY(NULL, yw_vec3, count);
  c->radius = YW_NEW_ARRAY(NULL, float, count);
  c->triangles = YW_NEW_ARRAY(NULL, int32_t, 3 * triangles);
  c->points = yw_points_create(NULL);
  c->surfaces = yw_surfaces_create(NULL, simd);
  c->bent = bent;
  bool ok = c->pos && c->vel && c->begin && c->rest && c->radius && c->triangles;
  if (!ok || !c->points || !c->surfaces) return false;
  place_vertices(c, side, bent);
  join_vertices(c, side);
  return true;
}

static void free_cloth(cloth* c) {
  yw_particles_free(NULL, &c->particles);
  void* arrays[] = {c->pos, c->vel, c->begin, c->rest, c->radius, c->triangles};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(NULL, arrays[i]);
  yw_points_destroy(c->points);
  yw_surfaces_destroy(c->surfaces);
}

static yw_status time_cloth(cloth* c, yw_contact_kind kind, yw_tasks* tasks, bool one_thread) {
  yw_particles* p = &c->particles;
  memcpy(p->pos, c->pos, sizeof *c->pos * (size_t)p->count);
  memcpy(p->vel, c->vel, sizeof *c->vel * (size_t)p->count);
  yw_contact_body body = {.geometry = {.triangles = c->triangles,
                                       .num_triangles = c->num_triangles,
                                       .rest = c->rest,
                                       .radius = c->radius},
                          .topology_version = 1,
                          .key = 1,
                          .particles = p,
                          .begin = c->begin,
                          .friction = 0.4f,
                          .self_contact = true};
  yw_vec3 gravity = yw_v3(0, -9.81f, 0);
  double start = bench_seconds(one_thread);
  yw_status status =
      kind == YW_CONTACT_POINTS
          ? yw_points_resolve(c->points, &body, 1, H, gravity, 4, tasks, &c->found)
          : yw_surfaces_resolve(c->surfaces, &body, 1, H, gravity, 4, tasks, &c->found);
  double seconds = bench_seconds(one_thread) - start;
  c->seconds = seconds < c->seconds ? seconds : c->seconds;
  return status;
}

static yw_status measure(const bench_run* run, cloth* c, yw_contact_kind kind, int32_t threads,
                         double* one) {
  yw_tasks* tasks = threads > 1 ? yw_tasks_create(NULL, threads) : NULL;
  yw_status status = threads > 1 && !tasks ? YW_ERR_MEMORY : YW_OK;
  c->seconds = INFINITY;
  for (int32_t r = 0; status >= 0 && r < bench_repetitions(run, 5, 2); ++r) {
    status = time_cloth(c, kind, tasks, threads == 1);
  }
  yw_tasks_destroy(tasks);
  if (status < 0) return status;
  char name[80];
  const char* kind_name = kind == YW_CONTACT_POINTS ? "points" : "surfaces";
  snprintf(name, sizeof name, "%scloth of %d triangles, %s", c->bent ? "bent " : "",
           c->num_triangles, kind_name);
  bench_row row = {.name = name, .threads = threads, .value = 1e3 * c->seconds, .unit = "ms/step"};
  if (threads == 1) {
    *one = c->seconds;
    bench_note(run, "%d contacts of the cloth with itself, %s", c->found, kind_name);
  } else {
    row.against = "1 thread";
    row.ratio = *one / c->seconds;
    if (kind == YW_CONTACT_SURFACES && !run->quick && !c->bent) row.bar = BAR_AT_MOST;
    row.bar_value = TARGET;
  }
  bench_print(run, &row);
  return YW_OK;
}

static yw_status measure_cloth(const bench_run* run, bool bent) {
  cloth c = {0};
  yw_status status =
      make_cloth(run->quick ? SIDE / 4 : SIDE, bent, run->simd, &c) ? YW_OK : YW_ERR_MEMORY;
  for (int kind = 0; kind < 2 && status >= 0; ++kind) {
    double one = 0.0;
    status = measure(run, &c, (yw_contact_kind)kind, 1, &one);
    if (status < 0 || run->threads == 1) continue;
    status = measure(run, &c, (yw_contact_kind)kind, run->threads, &one);
  }
  free_cloth(&c);
  return status;
}

int bench_cloth(const bench_run* run) {
  yw_status status = measure_cloth(run, false);
  if (status >= 0) status = measure_cloth(run, true);
  return status < 0 ? EXIT_FAILED : EXIT_DONE;
}
