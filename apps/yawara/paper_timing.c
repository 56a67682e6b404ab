// SPDX-License-Identifier: MIT
// Table 1 of Koyama et al. 2013: time per step of five bodies, each alone on a floor, one thread.
#include <stdio.h>

#include "base/error.h"
#include "base/timer.h"
#include "math/vec.h"
#include "paper.h"

// Steps of this length are what the paper's scenes take here.
#define STEP (1.0f / 240.0f)
// Long enough for the clock, short enough to be left alone by the machine.
#define STEPS 400
#define REPEATS 25
#define QUICK_REPEATS 3

typedef struct timing_row {
  const char* name;
  const char* scene;
  int32_t body;
  double match, project, total;  // of the paper, ms
  int32_t particles;             // of the paper
} timing_row;

static const timing_row rows[] = {
    {"cuboid", "koyama2013/fig7.json", 0, 0.21, 0.091, 0.33, 225},
    {"cuboid, per region", "koyama2013/fig7.json", 1, 0.21, 0.17, 0.40, 225},
    {"cylinder", "koyama2013/fig9.json", 1, 2.0, 0.86, 3.1, 2025},
    {"teddy", "koyama2013/fig6.json", 0, 1.3, 0.72, 2.2, 1280},
    {"car", "koyama2013/fig10.json", 1, 0.17, 0.078, 0.27, 192},
};
enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

// Microseconds per step.
typedef struct timing {
  double match, project, total;
} timing;

// The body alone above a floor, as it is at rest in its scene's model.
static yw_status make_world(yw_model* model, yw_world** out, yw_error* error) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  yw_status status = yw_world_create(&def, out);
  if (status < 0) return yw_fail(error, status, "cannot make a world");
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

// The clock inside the step costs something itself: the total is measured without it, and the
// report only says how the time is split.
static void measure(yw_world* world, timing* best) {
  double begin = yw_seconds();
  for (int32_t i = 0; i < STEPS; ++i) yw_world_step(world, STEP, 1, NULL);
  double total = 1e6 * (yw_seconds() - begin) / STEPS;
  yw_step_report report;
  double match = 0, project = 0, whole = 0;
  for (int32_t i = 0; i < STEPS; ++i) {
    yw_world_step(world, STEP, 1, &report);
    match += report.seconds_match;
    project += report.seconds_project;
    whole += report.seconds_total;
  }
  if (best->total > 0 && total >= best->total) return;
  *best = (timing){total * match / whole, total * project / whole, total};
}

static void print_row(const timing_row* row, int32_t particles, const timing* t) {
  printf("%-19s %6d %9.2f %9.2f %9.2f   %6d %8.2f %7.3f %7.2f %8.0fx\n", row->name, particles,
         t->match, t->project, t->total, row->particles, row->match, row->project, row->total,
         1e3 * row->total / t->total);
}

static yw_status time_row(const paper_options* options, const timing_row* row, yw_error* error) {
  yw_scene* scene;
  yw_world *staged, *world = NULL;
  yw_status status = paper_open(options, row->scene, 1, &scene, &staged, error);
  if (status < 0) return status;
  yw_model* model =
      yw_model_retain((yw_model*)yw_body_model(staged, yw_world_body(staged, row->body)));
  yw_world_destroy(staged);
  yw_scene_destroy(scene);
  status = make_world(model, &world, error);
  timing best = {0};
  int32_t repeats = options->quick ? QUICK_REPEATS : REPEATS;
  for (int32_t i = 0; i < repeats && status >= 0; ++i) measure(world, &best);
  if (status >= 0) print_row(row, yw_model_num_particles(model), &best);
  fflush(stdout);
  yw_world_destroy(world);
  yw_model_release(model);
  return status;
}

yw_status paper_table1(const paper_options* options, yw_error* error) {
  printf("\n%-19s %6s %29s   %6s %24s\n", "", "here:", "microseconds per step",
         "paper:", "milliseconds per step");
  printf("%-19s %6s %9s %9s %9s   %6s %8s %7s %7s %9s\n", "model", "parts", "match", "project",
         "total", "parts", "match", "project", "total", "faster");
  yw_status status = YW_OK;
  for (int32_t i = 0; i < NUM_ROWS && status >= 0; ++i) status = time_row(options, &rows[i], error);
  if (status >= 0) {
    printf("one thread, %s; least of %d times %d steps\n",
           yw_simd_name(yw_simd_resolve(YW_SIMD_AUTO)), options->quick ? QUICK_REPEATS : REPEATS,
           STEPS);
  }
  return status;
}
