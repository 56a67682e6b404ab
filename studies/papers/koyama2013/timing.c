// SPDX-License-Identifier: MIT
// Table 1 of Koyama et al. 2013, and that of 2012: time per step of bodies, each alone on a floor,
// one thread.
#include <math.h>
#include <stdio.h>

#include "papers/paper.h"
#include "reference/clock.h"
#include "yawara/extend/error.h"
#include "yawara/extend/vec.h"
#include "yawara/match.h"

// Step length that the paper's scenes use here.
#define STEP (1.0f / 240.0f)
// Long enough for the clock, short enough to avoid interruptions.
#define STEPS 50
#define REPEATS 200
#define QUICK_REPEATS 20

// Finer meshes, for bodies of the 2012 paper, which was measured on the same machine.
#define CUBOID_CELLS "models.global.mesh.lattice.cells"
#define CAR_SIZE "models.bulge.mesh.tets.size"

typedef struct timing_row {
  const char* name;
  const char* scene;
  int32_t body;
  double match, project, total;  // of the paper, ms
  int32_t particles;             // of the paper
  const char* key;               // of the scene, to be changed; NULL: none
  const char* value;
} timing_row;

static const timing_row rows[] = {
    {"cuboid", "koyama2013/fig7.json", 0, 0.21, 0.091, 0.33, 225, NULL, NULL},
    {"cuboid, per region", "koyama2013/fig7.json", 1, 0.21, 0.17, 0.40, 225, NULL, NULL},
    {"cylinder", "koyama2013/fig9.json", 1, 2.0, 0.86, 3.1, 2025, NULL, NULL},
    {"teddy", "koyama2013/fig6.json", 0, 1.3, 0.72, 2.2, 1280, NULL, NULL},
    {"car", "koyama2013/fig10.json", 1, 0.17, 0.078, 0.27, 192, NULL, NULL},
    {"2012: cuboid", "koyama2013/fig7.json", 0, 1.5, 0.17, 2.2, 1225, CUBOID_CELLS, "[6, 24, 6]"},
    {"2012: cylinder", "koyama2013/fig9.json", 1, 6.7, 0.89, 8.6, 2025, NULL, NULL},
    {"2012: teddy", "koyama2013/fig6.json", 0, 4.6, 0.57, 5.5, 1280, NULL, NULL},
    {"2012: car", "koyama2013/fig10.json", 1, 1.4, 0.14, 1.8, 1197, CAR_SIZE, "0.193"},
};
enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

// The body alone above a floor, at rest as in its scene's model.
static yw_status make_world(yw_model* model, yw_world** out, yw_error* error) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  yw_status status = yw_world_create(&def, out);
  if (status < 0) return yw_fail(error, status, "cannot make a world");
  // Bodies that come to rest would fall asleep, and cost nothing.
  yw_world_set_sleep_speed(*out, 0.0f);
  yw_obstacle_def floor = yw_default_obstacle_def();
  status = yw_shape_plane(NULL, yw_v3(0, 1, 0), 0.0f, &floor.shape);
  if (status < 0) return yw_fail_memory(error, "a floor");
  yw_obstacle_id obstacle;
  status = yw_obstacle_create(*out, &floor, &obstacle, error);
  yw_shape_release(floor.shape);
  yw_body_def body = yw_default_body_def();
  body.model = model;
  body.transform.position = yw_v3(0, 1.5f, 0);
  yw_body_id id;
  if (status >= 0) status = yw_body_create(*out, &body, &id, error);
  return status;
}

// Microseconds per step of a short run, or the best so far if that is less.
static double faster(yw_world* world, double best) {
  double begin = bench_seconds(true);
  for (int32_t i = 0; i < STEPS; ++i) yw_world_step(world, STEP, 1, NULL);
  double now = 1e6 * (bench_seconds(true) - begin) / STEPS;
  return now < best ? now : best;
}

// The same body without its examples.
static yw_status make_plain(const yw_model* model, const yw_match_params* params, yw_model** out,
                            yw_error* error) {
  yw_match_def def = yw_default_match_def();
  def.mesh = yw_model_tets(model);
  def.params = *params;
  return yw_model_create_match(NULL, &def, out, error);
}

static void print_row(const timing_row* row, int32_t particles, double plain, double total) {
  double project = total > plain ? total - plain : 0.0;
  printf("%-19s %6d %8.1f %8.1f %8.1f   %6d %7.2f %8.3f %7.2f %7.0fx\n", row->name, particles,
         plain, project, total, row->particles, row->match, row->project, row->total,
         1e3 * row->total / total);
  fflush(stdout);
}

static yw_status compare(const paper_options* options, const timing_row* row, yw_model* model,
                         const yw_match_params* params, yw_error* error) {
  yw_world *world = NULL, *plain_world = NULL;
  yw_model* plain = NULL;
  yw_status status = make_plain(model, params, &plain, error);
  if (status >= 0) status = make_world(model, &world, error);
  if (status >= 0) status = make_world(plain, &plain_world, error);
  double best = INFINITY, best_plain = INFINITY;
  int32_t repeats = options->quick ? QUICK_REPEATS : REPEATS;
  for (int32_t i = 0; i < repeats && status >= 0; ++i) {
    best_plain = faster(plain_world, best_plain);
    best = faster(world, best);
  }
  if (status >= 0) print_row(row, yw_model_num_particles(model), best_plain, best);
  yw_world_destroy(world);
  yw_world_destroy(plain_world);
  yw_model_release(plain);
  return status;
}

static yw_status time_row(const paper_options* options, const timing_row* row, yw_error* error) {
  yw_scene* scene;
  yw_world* staged;
  const yw_scene_override change = {row->key, row->value};
  yw_status status =
      paper_open_with(options, row->scene, row->key ? 1 : 0, &change, &scene, &staged, error);
  if (status < 0) return status;
  yw_body_id body = yw_world_body(staged, row->body);
  yw_model* model = yw_model_retain((yw_model*)yw_body_model(staged, body));
  yw_match_params params = {0};
  yw_body_match_params(staged, body, &params);
  yw_world_destroy(staged);
  yw_scene_destroy(scene);
  status = compare(options, row, model, &params, error);
  yw_model_release(model);
  return status;
}

yw_status paper_table1(const paper_options* options, yw_error* error) {
  printf("\n%-19s %6s %26s   %6s %24s\n", "", "here:", "microseconds per step",
         "paper:", "milliseconds per step");
  printf("%-19s %6s %8s %8s %8s   %6s %7s %8s %7s %8s\n", "model", "parts", "match", "project",
         "total", "parts", "match", "project", "total", "faster");
  yw_status status = YW_OK;
  for (int32_t i = 0; i < NUM_ROWS && status >= 0; ++i) status = time_row(options, &rows[i], error);
  if (status >= 0) {
    printf(
        "CPU time of one thread, %s; match: the body without examples, project: what they add;\n",
        yw_simd_name(yw_simd_resolve(YW_SIMD_AUTO)));
    printf("fastest of %d runs of %d steps, the two in turn\n",
           options->quick ? QUICK_REPEATS : REPEATS, STEPS);
  }
  return status;
}
