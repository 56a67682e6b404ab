// SPDX-License-Identifier: MIT
// yawara bench contact: a body of loose balls that all touch, in contact with itself and a floor.
// Times the contact step alone, always from the same positions, for 1/8 of the balls and for all,
// as points and as surfaces.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "console/options.h"
#include "contact/bodies.h"
#include "contact/obstacles.h"
#include "reference/clock.h"
#include "yawara/extend/memory.h"

#define H (1.0f / 240.0f)
#define RADIUS 0.01f
// Balls along the sides of the large heap; the small one has half as many.
#define SIDE 48

// Distance of neighbours and its random part, in radii. Points overlap a little at rest, surfaces
// keep a small distance.
typedef struct spacing {
  float pitch, jitter;
} spacing;
static const spacing spacings[] = {
    [YW_CONTACT_POINTS] = {1.99f, 0.05f}, [YW_CONTACT_SURFACES] = {2.02f, 0.02f}};

typedef struct heap {
  yw_contact_kind kind;
  yw_particles particles;
  yw_vec4 *pos, *vel;  // initial state
  yw_vec4* begin;      // before the step
  float* radius;
  yw_points* points;
  yw_surfaces* surfaces;
  double seconds;
  int32_t found;
} heap;

static bool make_heap(yw_contact_kind kind, int32_t side, yw_simd simd, heap* out) {
  int32_t count = side * side * side;
  *out = (heap){.kind = kind, .seconds = INFINITY};
  if (!yw_particles_create(NULL, count, &out->particles)) return false;
  yw_particles* p = &out->particles;
  out->pos = YW_NEW_ARRAY(NULL, yw_vec4, count);
  out->vel = YW_NEW_ARRAY(NULL, yw_vec4, count);
  out->begin = YW_NEW_ARRAY(NULL, yw_vec4, count);
  out->radius = YW_NEW_ARRAY(NULL, float, count);
  if (kind == YW_CONTACT_POINTS) out->points = yw_points_create(NULL);
  if (kind == YW_CONTACT_SURFACES) out->surfaces = yw_surfaces_create(NULL, simd);
  if (!out->pos || !out->vel || !out->begin || !out->radius) return false;
  if (!out->points && !out->surfaces) return false;
  p->count = count;
  uint32_t random = 1;
  for (int32_t k = 0; k < count; ++k) {
    // Indices are unrelated to positions, as in matter that has mixed (the factor and the count
    // have no common divisor).
    int32_t i = (int32_t)((int64_t)k * 5 * 7 * 11 * 13 % count);
    const int32_t place[3] = {i % side, i / side % side, i / side / side};
    float x[3];
    for (int d = 0; d < 3; ++d) {
      random = random * 1664525u + 1013904223u;
      float jitter = (float)(random >> 8) / 16777216.0f - 0.5f;
      const spacing* space = &spacings[kind];
      x[d] = (space->pitch * (float)place[d] + 1.0f + space->jitter * jitter) * RADIUS;
    }
    out->begin[k] = (yw_vec4){x[0], x[1], x[2], 0};
    out->vel[k] = (yw_vec4){0, -9.81f * H, 0, 0};
    out->pos[k] = (yw_vec4){x[0], x[1] - 9.81f * H * H, x[2], 0};
    out->radius[k] = RADIUS;
    p->mass[k] = 1.0f;
    p->inv_mass[k] = 1.0f;
  }
  return true;
}

static void free_heap(heap* h) {
  yw_particles_free(NULL, &h->particles);
  yw_mem_free(NULL, h->pos);
  yw_mem_free(NULL, h->vel);
  yw_mem_free(NULL, h->begin);
  yw_mem_free(NULL, h->radius);
  yw_points_destroy(h->points);
  yw_surfaces_destroy(h->surfaces);
}

static yw_status time_heap(heap* h, const yw_obstacle_set* floor, yw_tasks* tasks,
                           bool one_thread) {
  yw_particles* p = &h->particles;
  memcpy(p->pos, h->pos, sizeof *h->pos * (size_t)p->count);
  memcpy(p->vel, h->vel, sizeof *h->vel * (size_t)p->count);
  yw_contact_body body = {.geometry = {.radius = h->radius},
                          .topology_version = 1,
                          .key = 1,
                          .particles = p,
                          .begin = h->begin,
                          .friction = 0.4f,
                          .self_contact = true,
                          .obstacles = floor};
  double start = bench_seconds(one_thread);
  yw_status status =
      h->points
          ? yw_points_resolve(h->points, &body, 1, H, floor->gravity, 4, tasks, &h->found)
          : yw_surfaces_resolve(h->surfaces, &body, 1, H, floor->gravity, 4, tasks, &h->found);
  double seconds = bench_seconds(one_thread) - start;
  h->seconds = seconds < h->seconds ? seconds : h->seconds;
  return status;
}

static yw_status measure(const bench_run* run, const yw_obstacle_set* floor, heap* small,
                         heap* large, int32_t threads) {
  yw_tasks* tasks = threads > 1 ? yw_tasks_create(NULL, threads) : NULL;
  small->seconds = large->seconds = INFINITY;
  yw_status status = threads > 1 && !tasks ? YW_ERR_MEMORY : YW_OK;
  for (int32_t r = 0; status >= 0 && r < bench_repetitions(run, 5, 2); ++r) {
    status = time_heap(small, floor, tasks, threads == 1);
    if (status >= 0) status = time_heap(large, floor, tasks, threads == 1);
  }
  yw_tasks_destroy(tasks);
  return status;
}

static void print(const bench_run* run, const heap* small, const heap* large, int32_t threads) {
  double per_small = 1e9 * small->seconds / small->particles.count;
  double per_large = 1e9 * large->seconds / large->particles.count;
  const char* kind = small->kind == YW_CONTACT_POINTS ? "points" : "surfaces";
  char name[2][64];
  snprintf(name[0], sizeof name[0], "%d balls that touch, %s", small->particles.count, kind);
  snprintf(name[1], sizeof name[1], "%d balls that touch, %s", large->particles.count, kind);
  bench_row rows[2] = {{.name = name[0], .threads = threads, .value = per_small, .unit = "ns/ball"},
                       {.name = name[1],
                        .threads = threads,
                        .value = per_large,
                        .unit = "ns/ball",
                        .against = "1/8 of the balls",
                        .ratio = per_small / per_large}};
  bench_print(run, &rows[0]);
  bench_print(run, &rows[1]);
}

static yw_status measure_kind(const bench_run* run, const yw_obstacle_set* floor,
                              yw_contact_kind kind) {
  heap small = {0}, large = {0};
  int32_t side = run->quick ? SIDE / 2 : SIDE;
  yw_status status = YW_OK;
  if (!make_heap(kind, side / 2, run->simd, &small) || !make_heap(kind, side, run->simd, &large))
    status = YW_ERR_MEMORY;
  for (int32_t threads = 1; status >= 0 && threads <= run->threads; threads += run->threads - 1) {
    status = measure(run, floor, &small, &large, threads);
    if (status >= 0 && threads == 1) bench_note(run, "%d contacts in the large heap", large.found);
    if (status >= 0) print(run, &small, &large, threads);
    if (run->threads == 1) break;
  }
  free_heap(&small);
  free_heap(&large);
  return status;
}

int bench_spheres(const bench_run* run) {
  yw_obstacle plane = {.begin = YW_TRANSFORM_IDENTITY, .end = YW_TRANSFORM_IDENTITY};
  yw_shape* shape = NULL;
  yw_status status = yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0, &shape);
  if (status >= 0) {
    plane.shape = shape;
    plane.friction = 0.4f;
    plane.bounds = yw_obstacle_bounds(shape, plane.begin, plane.end);
    yw_obstacle_set floor = {.items = &plane, .count = 1, .h = H, .gravity = {0, -9.81f, 0}};
    status = measure_kind(run, &floor, YW_CONTACT_POINTS);
    if (status >= 0) status = measure_kind(run, &floor, YW_CONTACT_SURFACES);
  }
  yw_shape_release(shape);
  return status < 0 ? EXIT_FAILED : EXIT_DONE;
}
