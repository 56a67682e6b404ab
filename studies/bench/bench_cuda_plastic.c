// SPDX-License-Identifier: MIT
// Part of yawara bench cuda: steps of plastic bodies with 20 iterations of the solve on a GPU,
// compared with the processor to the bit. A cube in free flight keeps its neighbour lists; one that
// is twisted has them rebuilt as often as yawara bench plastic has.
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "device/device.h"
#include "methods/plastic/body.h"
#include "methods/plastic/plastic.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"
#include "yawara/extend/vec.h"

#define SPACING 0.0625f
#define STEP 1e-3f
#define ITERATIONS 20
#define COMPARED_STEPS 4

typedef struct plastic_case {
  const char* name;  // its number of masters
  int32_t side;
  int32_t steps;  // timed
  bool is_quick;
} plastic_case;

static const plastic_case cases[] = {
    {"64000", 40, 400, true},
    {"1000000", 100, 120, false},
    {"9938375", 215, 24, false},
};

static yw_model* make_model(const plastic_case* c, yw_error* error) {
  yw_shape* cube = NULL;
  float half = 0.5f * SPACING * (float)c->side;
  if (yw_shape_box(NULL, yw_v3(half, half, half), &cube) < 0) return NULL;
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = cube;
  part.material.flow = YW_FLOW_VON_MISES;  // elastic matter is for the processor
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = SPACING;
  def.parts = &part;
  def.num_parts = 1;
  def.params.time_step = STEP;
  def.params.sleep_speed = 0.0f;
  def.memory_limit = 1e11;
  yw_model* model = NULL;
  if (yw_model_create_plastic_reach(NULL, &def, NULL, NULL, NULL, 2.0f, &model, error) < 0)
    model = NULL;
  yw_shape_release(cube);
  return model;
}

// As yawara bench plastic twists its cubes, or a hundred times less.
static bool twist(yw_world* world, yw_body_id id, const plastic_case* c, bool is_twisted) {
  const yw_particles* p = NULL;
  plastic_body* body = yw_body_state(world, id, &yw_plastic_method, &p);
  int32_t n = p->count;
  float much = (is_twisted ? 64.0f : 0.64f) / (SPACING * (float)(c->side * c->side));
  yw_vec3 *pos = YW_NEW_ARRAY(NULL, yw_vec3, n), *vel = YW_NEW_ARRAY(NULL, yw_vec3, n);
  bool good = pos && vel;
  for (int32_t m = 0; good && m < n; ++m) {
    pos[m] = yw_xyz(p->pos[m]);
    float turn = much * pos[m].y;
    vel[m] = yw_v3(turn * pos[m].z, 0.0f, -turn * pos[m].x);
  }
  good = good && yw_body_set_state(world, id, pos, vel) >= 0;
  yw_mem_free(NULL, pos);
  yw_mem_free(NULL, vel);
  body->fixed_iterations = ITERATIONS;
  return good;
}

static yw_world* make_world(const bench_run* run, yw_model* model, yw_device_kind device,
                            yw_body_id* body, yw_error* error) {
  yw_world_def def = yw_default_world_def();
  def.threads = run->threads;
  def.simd = run->simd;
  def.device = (uint8_t)device;
  def.contact = YW_CONTACT_POINTS;
  yw_world* world = NULL;
  if (yw_world_create(&def, &world) < 0) return NULL;
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  if (yw_body_create(world, &body_def, body, error) >= 0) return world;
  yw_world_destroy(world);
  return NULL;
}

// Seconds of one step of so many substeps; negative: failed.
static double time_steps(yw_world* world, int32_t steps) {
  double start = yw_seconds();
  yw_status status = yw_world_step(world, STEP * (float)steps, steps, NULL);
  return status < 0 ? -1.0 : yw_seconds() - start;
}

// Bytes that the iterations of a step must read and write per master, every array once per pass.
static double bytes_of(const plastic_body* body) {
  double n = body->num_masters, pairs = 4.0 * (double)body->four_start[body->num_masters] / n;
  double slots = body->num_locals / n, slaves = body->num_slaves / n;
  double gather = pairs * 6.0 + 33.0 * 4.0 + slots * (4.0 + 64.0);
  double hand = pairs * 5.0 + slots * (4.0 + 16.0);
  double multiply = slots * (4.0 + 16.0) + slaves * (64.0 + 48.0 + 6.0 * 16.0 + 24.0 + 5.0);
  return ITERATIONS * (gather + hand + multiply);
}

static void print_rates(const bench_run* run, const plastic_case* c, const char* what,
                        double seconds, double here, double masters, double ceiling, bool barred) {
  char name[96];
  snprintf(name, sizeof name, "plastic %s, %s", c->name, what);
  bench_row row = {.name = name,
                   .threads = run->threads,
                   .value = 1e-6 * masters / seconds,
                   .unit = "Mmast/s",
                   .against = here > 0.0 ? "processor" : NULL,
                   .ratio = here > 0.0 ? here / seconds : 0.0,
                   .bar = barred ? BAR_AT_LEAST : BAR_NONE,
                   .bar_value = 90.0};
  bench_print(run, &row);
  if (!barred) return;
  snprintf(name, sizeof name, "plastic %s, share of the ceiling", c->name);
  row = (bench_row){.name = name,
                    .threads = run->threads,
                    .value = 100.0 * masters / seconds / ceiling,
                    .unit = "%"};
  bench_print(run, &row);
}

// Steps both worlds and compares them, then times the GPU.
static bool measure_worlds(const bench_run* run, const plastic_case* c, bool is_twisted,
                           yw_world* here, yw_world* there, yw_body_id body, double copy_rate) {
  if (!twist(there, body, c, is_twisted) || !twist(here, body, c, is_twisted)) return false;
  // The first makes lists.
  if (time_steps(here, 1) < 0.0 || time_steps(there, 1) < 0.0) return false;
  double on_processor = time_steps(here, COMPARED_STEPS) / COMPARED_STEPS;
  if (on_processor < 0.0 || time_steps(there, COMPARED_STEPS) < 0.0) return false;
  if (yw_world_hash(here) != yw_world_hash(there)) {
    fprintf(stderr, "plastic %s: the GPU gives other bits than the processor\n", c->name);
    return false;
  }
  const plastic_body* state = yw_body_state(there, body, &yw_plastic_method, NULL);
  int64_t rebuilt = state->rebuilt;
  double best_short = INFINITY, best_long = INFINITY;
  for (int32_t r = 0; r < bench_repetitions(run, 2, 1); ++r) {
    double brief = time_steps(there, c->steps / 4), all = time_steps(there, c->steps);
    if (brief < 0.0 || all < 0.0) return false;
    best_short = fmin(best_short, brief);
    best_long = fmin(best_long, all);
  }
  double seconds = (best_long - best_short) / (c->steps - c->steps / 4);
  double ceiling = copy_rate / bytes_of(state), masters = state->num_masters;
  int32_t steps = bench_repetitions(run, 2, 1) * (c->steps + c->steps / 4);
  print_rates(run, c, is_twisted ? "lists rebuilt" : "lists kept", seconds, on_processor, masters,
              ceiling, !is_twisted);
  bench_note(run, "%-40s %.0f bytes a step: ceiling %.0f M/s; %lld lists in %d steps", "",
             bytes_of(state), 1e-6 * ceiling, (long long)(state->rebuilt - rebuilt), steps);
  return true;
}

// GB of the GPU that are free.
static double free_memory(void) {
  const yw_device* device;
  yw_device_info info = {0};
  yw_error error;
  if (yw_device_find(YW_DEVICE_CUDA, &device, &error) >= 0) device->open(&info, &error);
  return 1e-9 * (double)info.free_memory;
}

static bool measure_case(const bench_run* run, const plastic_case* c, double copy_rate) {
  yw_error error = {0};
  yw_model* model = make_model(c, &error);
  bool good = model != NULL;
  for (int is_twisted = 0; good && is_twisted < 2; ++is_twisted) {
    yw_body_id a, b;
    double before = free_memory();
    yw_world* here = make_world(run, model, YW_DEVICE_CPU, &a, &error);
    yw_world* there = make_world(run, model, YW_DEVICE_CUDA, &b, &error);
    good = here && there && measure_worlds(run, c, is_twisted, here, there, b, copy_rate);
    bench_note(run, "%-40s %.2f GB of the GPU", "", before - free_memory());
    yw_world_destroy(here);
    yw_world_destroy(there);
  }
  if (!good && error.message[0]) fprintf(stderr, "%s\n", error.message);
  yw_model_release(model);
  return good;
}

bool bench_cuda_plastic(const bench_run* run, double copy_rate) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (run->quick && !cases[i].is_quick) continue;
    if (!measure_case(run, &cases[i], copy_rate)) return false;
  }
  return true;
}
