// SPDX-License-Identifier: MIT
// yawara bench contact: a body of 2,025 particles rides on an animated mesh of 20,000 triangles
// that waves under it. Times whole frames at 60 per second; the slowest counts, since that is what
// a viewer notices.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "console/options.h"
#include "reference/clock.h"
#include "yawara/extend/vec.h"

enum { CELLS = 100, SIDE = CELLS + 1, POINTS = SIDE * SIDE, FRAMES = 60, SETTLE = 30 };
// m
#define WIDTH 4.0f
#define HEIGHT 0.03f
#define FPS 60.0
// Longest frame, ms, that keeps 60 frames per second.
#define TARGET 16.7

static const char scene_text[] =
    "{ \"bodies\": [ { \"mesh\": { \"lattice\": { \"size\": [0.8, 1.2, 0.8], \"cells\": [8, 24, 8] "
    "} }, \"position\": [0, 0.8, 0], \"match\": { \"stiffness\": 100 } } ] }";

typedef struct carpet {
  int32_t triangles[6 * CELLS * CELLS];
  yw_vec3 points[FRAMES * POINTS];
} carpet;

// One period of a wave that runs along x.
static void weave(carpet* c) {
  int32_t* corner = c->triangles;
  for (int32_t i = 0; i < CELLS; ++i) {
    for (int32_t k = 0; k < CELLS; ++k) {
      int32_t a = i * SIDE + k, b = a + 1, d = a + SIDE, e = d + 1;
      const int32_t two[6] = {a, b, e, a, e, d};
      memcpy(corner, two, sizeof two);
      corner += 6;
    }
  }
  for (int32_t frame = 0; frame < FRAMES; ++frame) {
    for (int32_t i = 0; i < POINTS; ++i) {
      float x = ((float)(i / SIDE) / CELLS - 0.5f) * WIDTH;
      float z = ((float)(i % SIDE) / CELLS - 0.5f) * WIDTH;
      float phase = 6.2831853f * ((float)frame / FRAMES + x);
      c->points[frame * POINTS + i] = yw_v3(x, HEIGHT * sinf(phase), z);
    }
  }
}

static yw_status make_world(const bench_run* run, const carpet* c, int32_t threads,
                            yw_scene** scene, yw_world** world) {
  yw_scene_def def = yw_default_scene_def();
  def.path = "carpet";
  def.text = scene_text;
  def.size = sizeof scene_text - 1;
  yw_status status = yw_scene_read(&def, scene, NULL, NULL);
  if (status >= 0) status = yw_scene_build(*scene, threads, run->simd, world, NULL);
  if (status < 0) return status;
  yw_mesh_obstacle_def obstacle = yw_default_mesh_obstacle_def();
  obstacle.triangles = c->triangles;
  obstacle.num_triangles = 2 * CELLS * CELLS;
  obstacle.animation.points = c->points;
  obstacle.animation.num_points = POINTS;
  obstacle.animation.num_frames = FRAMES;
  obstacle.animation.fps = FPS;
  obstacle.animation.loop = true;
  yw_obstacle_id id;
  return yw_mesh_obstacle_create(*world, &obstacle, &id, NULL);
}

// The slowest of FRAMES frames once the body lies on the mesh, s. *contacts: of the last frame.
static yw_status measure(const bench_run* run, const carpet* c, int32_t threads, double* slowest,
                         int32_t* contacts) {
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  yw_status status = make_world(run, c, threads, &scene, &world);
  yw_step_report report = {0};
  *slowest = 0.0;
  for (int32_t i = 0; status >= 0 && i < SETTLE + FRAMES; ++i) {
    double start = bench_seconds(threads == 1);
    status = yw_world_step(world, (float)(1.0 / FPS), 4, &report);
    if (i >= SETTLE) *slowest = fmax(*slowest, bench_seconds(threads == 1) - start);
  }
  *contacts = report.obstacle_contacts;
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return status;
}

int bench_carpet(const bench_run* run) {
  carpet* c = malloc(sizeof *c);
  yw_status status = c ? YW_OK : YW_ERR_MEMORY;
  if (c) weave(c);
  for (int32_t threads = 1; threads <= run->threads && status >= 0; threads += run->threads - 1) {
    double best = INFINITY, slowest = 0.0;
    int32_t contacts = 0;
    for (int32_t r = 0; status >= 0 && r < bench_repetitions(run, 5, 1); ++r) {
      status = measure(run, c, threads, &slowest, &contacts);
      best = fmin(best, slowest);
    }
    if (threads == 1) bench_note(run, "%d particles touch the mesh", contacts);
    bench_row row = {.name = "2025 particles on a mesh of 20000 triangles",
                     .threads = threads,
                     .value = 1e3 * best,
                     .unit = "ms/frame",
                     .bar = BAR_AT_MOST,
                     .bar_value = TARGET};
    if (status >= 0) bench_print(run, &row);
    if (run->threads == 1) break;
  }
  free(c);
  return status < 0 ? EXIT_FAILED : EXIT_DONE;
}
