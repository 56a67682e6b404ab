// SPDX-License-Identifier: MIT
// yawara bench cuda: boxes of match bodies that lie on a floor, on a GPU. Every case is first
// stepped on the processor too, and the bits are compared. Rates are those of substeps while bodies
// stay on the GPU; the ceiling is what its memory could do with the bytes that a step must move
// (docs/design/gpu.md).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "console/options.h"
#include "device/device.h"
#include "methods/match/match.h"
#include "methods/match/offload.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"

#define CELL 0.1f
#define SUBSTEP (1.0f / 240.0f)
#define COMPARED_SUBSTEPS 8
enum { NUM_EXAMPLES = 2 };

typedef struct cuda_case {
  const char* name;  // its number of particles
  int32_t cells[3];
  int32_t substeps;  // timed
  bench_bar bar;
  double bar_value;
  bool is_quick;
} cuda_case;

static const cuda_case cases[] = {
    {"20000", {19, 49, 19}, 400, BAR_AT_MOST, 30.0, true},
    {"1000000", {99, 99, 99}, 800, BAR_AT_LEAST, 3.5, false},
    {"9938375", {214, 214, 214}, 240, BAR_AT_LEAST, 3.5, false},
};

// A box with two examples. NULL: out of memory.
static yw_model* make_model(const cuda_case* c) {
  static const yw_deform_kind kinds[NUM_EXAMPLES] = {YW_DEFORM_TWIST, YW_DEFORM_S_BEND};
  yw_tet_mesh mesh = {0};
  yw_model* model = NULL;
  yw_aabb box = {{0, 0, 0},
                 {CELL * (float)c->cells[0], CELL * (float)c->cells[1], CELL * (float)c->cells[2]}};
  if (yw_tet_mesh_lattice(NULL, box, c->cells, YW_LATTICE_FIVE, &mesh) < 0) return NULL;
  yw_vec3* poses[NUM_EXAMPLES] = {NULL};
  bool made = true;
  for (int k = 0; k < NUM_EXAMPLES; ++k) {
    yw_deform deform = yw_default_deform(kinds[k]);
    poses[k] = YW_NEW_ARRAY(NULL, yw_vec3, mesh.num_vertices);
    made = made && poses[k] &&
           yw_deform_apply(&deform, mesh.num_vertices, mesh.positions, poses[k], NULL) >= 0;
  }
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  def.num_examples = NUM_EXAMPLES;
  def.examples = (const yw_vec3* const*)poses;
  def.params.alpha = 0.8f;
  if (made && yw_model_create_match(NULL, &def, &model, NULL) < 0) model = NULL;
  for (int k = 0; k < NUM_EXAMPLES; ++k) yw_mem_free(NULL, poses[k]);
  yw_tet_mesh_free(&mesh);
  return model;
}

static yw_world* make_world(const bench_run* run, yw_model* model, yw_device_kind device,
                            yw_error* error) {
  yw_world_def def = yw_default_world_def();
  def.threads = run->threads;
  def.simd = run->simd;
  def.device = (uint8_t)device;
  def.contact = YW_CONTACT_POINTS;  // with surfaces, bodies come back after every substep
  yw_world* world = NULL;
  yw_shape* floor = NULL;
  if (yw_world_create(&def, &world) < 0) return NULL;
  yw_world_set_sleep_speed(world, 0.0f);  // after some thousand steps the body would sleep
  yw_obstacle_def obstacle = yw_default_obstacle_def();
  yw_obstacle_id floor_id;
  yw_body_id body_id;
  yw_body_def body = yw_default_body_def();
  body.model = model;
  body.transform.position.y = 2e-4f;
  body.velocity = yw_v3(0.3f, -0.5f, 0.1f);
  bool made = yw_shape_plane(NULL, yw_v3(0, 1, 0), 0.0f, &floor) >= 0;
  obstacle.shape = floor;
  made = made && yw_obstacle_create(world, &obstacle, &floor_id, error) >= 0 &&
         yw_body_create(world, &body, &body_id, error) >= 0;
  yw_shape_release(floor);
  if (made) return world;
  yw_world_destroy(world);
  return NULL;
}

// Seconds of one step of so many substeps; negative: failed.
static double time_step(yw_world* world, int32_t substeps) {
  double start = yw_seconds();
  yw_status status = yw_world_step(world, SUBSTEP * (float)substeps, substeps, NULL);
  return status < 0 ? -1.0 : yw_seconds() - start;
}

// Bytes that the kernels must read and write per particle: every array once per phase. Rings are in
// fours; contact with the floor concerns few particles.
static double bytes_of(const match_model* model) {
  double rings = 0.0, n = model->num_examples;
  for (int32_t b = 0; b < model->num_blocks; ++b) {
    rings += (double)((model->blocks[b].ring_length + 3) / 4 * 4 * YW_LANES) * sizeof(int32_t);
  }
  rings /= model->num_particles;
  double rows = 16 + 16 + 16 + 4 + 4 + 16;
  double regions = 16 + 8 + rings + 16 + 28 + 2 * 16 + n * 24 + 36;
  double bend = 36 + 16 + 12 + n * 24 + 48;
  double pull = 48 + rings + 16 + 16 + 20 + 16 + 16;
  return rows + regions + bend + pull;
}

static void print_case(const bench_run* run, const cuda_case* c, const match_model* model,
                       double seconds, double frame, double here, double copy_rate) {
  char name[64];
  double count = model->num_particles, ceiling = copy_rate / bytes_of(model);
  bool small = c->bar == BAR_AT_MOST;
  snprintf(name, sizeof name, "match %s", c->name);
  bench_row row = {.name = name,
                   .threads = run->threads,
                   .value = small ? 1e6 * seconds : 1e-9 * count / seconds,
                   .unit = small ? "us/step" : "Gpart/s",
                   .against = "processor",
                   .ratio = here / seconds,
                   .bar = c->bar,
                   .bar_value = c->bar_value};
  bench_print(run, &row);
  snprintf(name, sizeof name, "match %s, share of the ceiling", c->name);
  row = (bench_row){.name = name,
                    .threads = run->threads,
                    .value = 100.0 * (count / seconds) / ceiling,
                    .unit = "%"};
  bench_print(run, &row);
  snprintf(name, sizeof name, "match %s, frame of 16 substeps", c->name);
  row = (bench_row){.name = name,
                    .threads = run->threads,
                    .value = 1e3 * frame,
                    .unit = "ms",
                    .against = "processor",
                    .ratio = 16.0 * here / frame};
  bench_print(run, &row);
  bench_note(run, "%-40s %.0f bytes a step: ceiling %.2f G/s at %.2f TB/s", "", bytes_of(model),
             1e-9 * ceiling, 1e-12 * copy_rate);
}

// Steps both worlds and compares them, then times the GPU.
static bool measure_worlds(const bench_run* run, const cuda_case* c, const match_model* model,
                           yw_world* here, yw_world* there, double copy_rate) {
  double on_processor = time_step(here, COMPARED_SUBSTEPS) / COMPARED_SUBSTEPS;
  if (on_processor < 0.0 || time_step(there, COMPARED_SUBSTEPS) < 0.0) return false;
  uint64_t expected = yw_world_hash(here), found = yw_world_hash(there);
  if (expected != found) {
    fprintf(stderr, "match %s: the GPU gives %016llx, the processor %016llx\n", c->name,
            (unsigned long long)found, (unsigned long long)expected);
    return false;
  }
  // Copies and what a step does once are the same for both lengths.
  double best_short = INFINITY, best_long = INFINITY, frame = INFINITY;
  for (int32_t r = 0; r < bench_repetitions(run, 3, 1); ++r) {
    double brief = time_step(there, c->substeps / 4), all = time_step(there, c->substeps);
    double one = time_step(there, 16);
    if (brief < 0.0 || all < 0.0 || one < 0.0) return false;
    best_short = fmin(best_short, brief);
    best_long = fmin(best_long, all);
    frame = fmin(frame, one);
  }
  double seconds = (best_long - best_short) / (c->substeps - c->substeps / 4);
  print_case(run, c, model, seconds, frame, on_processor, copy_rate);
  return true;
}

static bool measure_case(const bench_run* run, const cuda_case* c, double copy_rate) {
  yw_error error = {0};
  yw_model* model = make_model(c);
  if (!model) return false;
  yw_world* here = make_world(run, model, YW_DEVICE_CPU, &error);
  yw_world* there = make_world(run, model, YW_DEVICE_CUDA, &error);
  bool good =
      here && there &&
      measure_worlds(run, c, yw_model_data(model, &yw_match_method), here, there, copy_rate);
  if (!there && error.message[0]) fprintf(stderr, "%s\n", error.message);
  yw_world_destroy(here);
  yw_world_destroy(there);
  yw_model_release(model);
  return good;
}

int bench_cuda(const bench_run* run) {
  yw_error error;
  const yw_device* device;
  if (yw_device_find(YW_DEVICE_CUDA, &device, &error) < 0) {
    bench_note(run, "skipped: %s", error.message);
    return EXIT_DONE;
  }
  yw_device_info info;
  if (device->open(&info, &error) < 0) return EXIT_FAILED;
  bench_note(run, "%s, %.0f GB; same bits as the processor in every row", info.name,
             1e-9 * (double)info.memory);
  double copy_rate = device->copy_rate();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (run->quick && !cases[i].is_quick) continue;
    if (!measure_case(run, &cases[i], copy_rate)) return EXIT_FAILED;
  }
  return bench_cuda_plastic(run, copy_rate) && bench_cuda_fem(run) ? EXIT_DONE : EXIT_FAILED;
}
