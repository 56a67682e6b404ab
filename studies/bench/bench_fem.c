// SPDX-License-Identifier: MIT
// yawara bench fem: forces of all finest tets compared with a plain scalar loop, and adaptive
// bodies compared with the finest mesh.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "console/options.h"
#include "methods/fem/forces.h"
#include "reference/clock.h"
#include "reference/fem_reference.h"
#include "yawara/fem.h"

#define PLAIN_LOOP "scalar loop"
#define FINEST "finest mesh"
// Force evaluations per timing; a frame of the bar has 50.
#define EVALUATIONS 16

static const yw_aabb bar_box = {{0, 0, 0}, {0.4f, 0.1f, 0.1f}};
static const int32_t bar_cells[3] = {4, 1, 1};
static const double bar_youngs = 3e5, bar_poissons = 0.3;

// Forces ------------------------------------------------------------------------------------------

// All finest tets of a slightly stretched bar.
typedef struct force_rig {
  yw_tet_mesh mesh, finest;
  fem_hierarchy h;
  fem_front front;
  fem_materials materials;
  fem_tables tables;
  fem_work work;
  fem_scratch scratch;
  yw_vec4 *pos, *force;
  double *reference_pos, *reference_force;
  fem_reference* reference;
} force_rig;

static void free_forces(force_rig* r) {
  free(r->pos);
  free(r->force);
  free(r->reference_pos);
  free(r->reference_force);
  fem_reference_destroy(r->reference);
  yw_fem_scratch_free(NULL, &r->scratch);
  yw_fem_work_free(&r->work);
  yw_fem_tables_free(NULL, &r->tables);
  yw_fem_front_free(&r->front);
  yw_fem_hierarchy_free(&r->h);
  yw_tet_mesh_free(&r->finest);
  yw_tet_mesh_free(&r->mesh);
}

static bool make_forces(force_rig* r, int32_t length) {
  const int32_t cells[3] = {length, 1, 1};
  const yw_aabb box = {{0, 0, 0}, {0.1f * (float)length, 0.1f, 0.1f}};
  yw_fem_isotropic(bar_youngs, bar_poissons, r->materials.uniform_stiffness);
  if (yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &r->mesh) < 0 ||
      yw_fem_hierarchy_create(NULL, &r->mesh, 3, 0.0, &r->h, NULL) < 0 ||
      yw_fem_finest_mesh(NULL, &r->h, &r->finest, NULL) < 0 ||
      !yw_fem_front_create(NULL, &r->h, &r->front) ||
      !yw_fem_tables_create(NULL, &r->h, &r->materials, YW_FEM_SOFTEN_FINEST, &r->tables) ||
      !yw_fem_work_create(NULL, &r->h, &r->tables, &r->work) ||
      !yw_fem_scratch_create(NULL, &r->work, &r->scratch)) {
    return false;
  }
  for (int32_t t = 0; t < r->h.num_parents; ++t) yw_fem_front_split(&r->front, t);
  yw_fem_front_update(&r->front);
  yw_fem_work_build(&r->work, &r->front, true);
  size_t nodes = (size_t)r->h.num_nodes;
  r->pos = calloc(nodes, sizeof *r->pos);
  r->force = calloc(nodes, sizeof *r->force);
  r->reference_pos = calloc(3 * nodes, sizeof *r->reference_pos);
  r->reference_force = calloc(3 * nodes, sizeof *r->reference_force);
  r->reference = fem_reference_create(&r->finest, &r->h.rest[0].x, bar_youngs, bar_poissons);
  if (!r->pos || !r->force || !r->reference_pos || !r->reference_force || !r->reference) {
    return false;
  }
  for (size_t n = 0; n < nodes; ++n) {
    yw_vec3 p = r->finest.positions[n];
    float bend = 0.4f * p.x / (float)length;
    r->pos[n] = (yw_vec4){p.x * 1.02f + bend * p.z, p.y, p.z + 2.0f * bend * p.x, 0.0f};
    for (int k = 0; k < 3; ++k) r->reference_pos[3 * n + (size_t)k] = (double)(&r->pos[n].x)[k];
  }
  return true;
}

// ns per tet.
static double time_forces(force_rig* r, yw_simd simd, yw_tasks* tasks) {
  fem_forces_def def = {.work = &r->work,
                        .front = &r->front,
                        .materials = &r->materials,
                        .kernels = YW_KERNEL_PICK(yw_fem_kernels, simd),
                        .tasks = tasks,
                        .pos = r->pos,
                        .scratch = &r->scratch,
                        .force = r->force};
  // As in a step: one evaluation after another, with a check for squeezed tets every fourth time.
  double start = bench_seconds(tasks == NULL);
  for (int k = 0; k < EVALUATIONS; ++k) {
    def.look_for_squeezed = k % 4 == 0;
    yw_fem_forces(&def);
  }
  return 1e9 / EVALUATIONS * (bench_seconds(tasks == NULL) - start) / r->front.num_tets;
}

static double time_reference(force_rig* r) {
  double start = bench_seconds(true);
  fem_reference_forces(r->reference, r->reference_pos, r->reference_force);
  return 1e9 * (bench_seconds(true) - start) / r->front.num_tets;
}

static double force_difference(const force_rig* r) {
  double worst = 0.0, largest = 0.0;
  for (size_t n = 0; n < (size_t)r->h.num_nodes; ++n) {
    for (size_t k = 0; k < 3; ++k) {
      double expected = r->reference_force[3 * n + k];
      worst = fmax(worst, fabs((double)(&r->force[n].x)[k] - expected));
      largest = fmax(largest, fabs(expected));
    }
  }
  return worst / largest;
}

// ns per tet, fastest of all repetitions.
typedef struct force_times {
  double simd[YW_SIMD_AVX512 + 1], many, plain;
} force_times;

static force_times time_all(const bench_run* run, force_rig* r, yw_tasks* tasks, int32_t usual) {
  force_times best = {.many = INFINITY, .plain = INFINITY};
  for (int level = 0; level <= YW_SIMD_AVX512; ++level) best.simd[level] = INFINITY;
  int32_t repetitions = bench_repetitions(run, usual, 20);
  for (int32_t i = 0; i < repetitions; ++i) {
    for (yw_simd level = YW_SIMD_PLAIN; level <= run->simd; ++level) {
      if (yw_simd_resolve(level) != level) continue;
      best.simd[level] = fmin(best.simd[level], time_forces(r, level, NULL));
    }
    if (tasks) best.many = fmin(best.many, time_forces(r, run->simd, tasks));
    best.plain = fmin(best.plain, time_reference(r));
  }
  return best;
}

// Targets apply to the usual size; large bodies do not fit in the cache.
static void print_forces(const bench_run* run, const force_rig* r, const force_times* best,
                         bool bars) {
  double own = best->simd[run->simd];
  char name[40], level_name[64];
  snprintf(name, sizeof name, "forces, %d tets", r->front.num_tets);
  bench_row row = {.name = name, .threads = 1, .value = own, .unit = "ns/tet"};
  row.bar = bars ? BAR_AT_MOST : BAR_NONE, row.bar_value = 5.0;
  bench_print(run, &row);
  row.against = PLAIN_LOOP, row.ratio = best->plain / own;
  row.bar = bars ? BAR_RATIO_AT_LEAST : BAR_NONE, row.bar_value = 4.0;
  bench_print(run, &row);
  if (isfinite(best->many)) {
    row = (bench_row){.name = name, .threads = run->threads, .value = best->many};
    row.unit = "ns/tet", row.against = "1 thread", row.ratio = own / best->many;
    row.bar = run->threads == 2 ? BAR_RATIO_AT_LEAST : BAR_NONE, row.bar_value = 1.7;
    bench_print(run, &row);
  }
  for (yw_simd level = YW_SIMD_PLAIN; level < run->simd; ++level) {
    if (!isfinite(best->simd[level])) continue;
    snprintf(level_name, sizeof level_name, "%s, %s", name, yw_simd_name(level));
    row = (bench_row){.name = level_name, .threads = 1, .value = best->simd[level]};
    row.unit = "ns/tet", row.against = PLAIN_LOOP, row.ratio = best->plain / best->simd[level];
    bench_print(run, &row);
  }
  row = (bench_row){.name = "forces, " PLAIN_LOOP, .threads = 1, .value = best->plain};
  row.unit = "ns/tet";
  bench_print(run, &row);
  row = (bench_row){.name = "forces, difference from " PLAIN_LOOP, .threads = 1};
  row.value = force_difference(r), row.unit = "of max";
  row.bar = bars ? BAR_AT_MOST : BAR_NONE, row.bar_value = 1e-5;
  bench_print(run, &row);
}

// A bar of `length` cells.
static int measure_forces(const bench_run* run, int32_t length, int32_t usual, bool bars) {
  force_rig r = {0};
  bool good = make_forces(&r, length);
  if (good) {
    yw_tasks* tasks = run->threads > 1 ? yw_tasks_create(NULL, run->threads) : NULL;
    force_times best = time_all(run, &r, tasks, usual);
    print_forces(run, &r, &best, bars);
    yw_tasks_destroy(tasks);
  }
  free_forces(&r);
  return good ? EXIT_DONE : bad_input("out of memory");
}

// Bodies ------------------------------------------------------------------------------------------

// A bar held at one end; a finger pressing the middle of a block, or a single vertex of a cube,
// both held from below.
typedef enum body_case { BAR_CASE, FINGER_CASE, VERTEX_CASE } body_case;

#define FINGER_RADIUS 0.026f      // m
#define FINGER_STIFFNESS 3000.0f  // N/m, all its springs together
#define VERTEX_STIFFNESS 400.0f

typedef struct body_rig {
  yw_world* world;
  yw_model* model;
  yw_body_id body;
  int32_t shown;  // vertex that is compared
  bool one_thread;
  double seconds;         // in steps so far
  double fastest;         // fastest step
  double wall, adapting;  // last step in wall-clock time, and the part spent on the front
} body_rig;

static void free_body(body_rig* r) {
  yw_world_destroy(r->world);
  yw_model_release(r->model);
}

static bool pin_vertices(body_rig* r, const int32_t* vertices, int32_t count, float stiffness,
                         const yw_key* keys) {
  yw_pin_def def = yw_default_pin_def();
  def.body = r->body;
  def.vertices = vertices;
  def.num_vertices = count;
  def.stiffness = stiffness;
  def.damping = stiffness / 80.0f;
  if (keys) def.path = (yw_path){.keys = keys, .num_keys = 2};
  yw_pin_id pin;
  return yw_pin_create(r->world, &def, &pin, NULL) >= 0;
}

// Springs pull the pressed vertices down by 2 cm, evenly.
static bool press_vertices(body_rig* r, const int32_t* vertices, int32_t count, float stiffness) {
  const yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}}, {0.05, {0, 0, -0.02f}, {0, 0, 0, 1}}};
  return pin_vertices(r, vertices, count, stiffness / (float)count, keys);
}

// Holds the face at the lower end of an axis, and presses the middle of the opposite one.
static bool pin_body(body_rig* r, body_case which) {
  const yw_tet_mesh* mesh = yw_model_tets(r->model);
  size_t most = (size_t)mesh->num_vertices;
  int32_t *held = malloc(2 * sizeof *held * most), *pressed = held + most, num_held = 0, count = 0;
  if (!held) return false;
  yw_vec3 end = which == BAR_CASE ? (yw_vec3){0.4f, 0.05f, 0.05f} : (yw_vec3){0, 0, 0.1f};
  float nearest = INFINITY;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 p = mesh->positions[i];
    float x = p.x - end.x, y = p.y - end.y, z = p.z - end.z;
    float distance = sqrtf(x * x + y * y + z * z);
    if (which == BAR_CASE ? p.x < 1e-5f : p.z < -0.1f + 1e-5f) held[num_held++] = i;
    if (fabsf(z) < 1e-5f && distance < FINGER_RADIUS) pressed[count++] = i;
    if (distance < nearest) nearest = distance, r->shown = i;
  }
  bool good = pin_vertices(r, held, num_held, 0.0f, NULL);
  if (which == FINGER_CASE) good = good && press_vertices(r, pressed, count, FINGER_STIFFNESS);
  if (which == VERTEX_CASE) good = good && press_vertices(r, &r->shown, 1, VERTEX_STIFFNESS);
  free(held);
  return good;
}

static yw_status make_lattice(body_case which, yw_tet_mesh* mesh) {
  const int32_t cube_cells[3] = {2, 2, 2}, block_cells[3] = {4, 4, 2};
  const yw_aabb cube = {{-0.1f, -0.1f, -0.1f}, {0.1f, 0.1f, 0.1f}};
  const yw_aabb block = {{-0.2f, -0.2f, -0.1f}, {0.2f, 0.2f, 0.1f}};
  switch (which) {
    case BAR_CASE:
      return yw_tet_mesh_lattice(NULL, bar_box, bar_cells, YW_LATTICE_SIX, mesh);
    case FINGER_CASE:
      return yw_tet_mesh_lattice(NULL, block, block_cells, YW_LATTICE_FIVE, mesh);
    default:
      return yw_tet_mesh_lattice(NULL, cube, cube_cells, YW_LATTICE_FIVE, mesh);
  }
}

static bool make_body(body_case which, float gravity, const yw_fem_params* params, int32_t threads,
                      body_rig* r) {
  *r = (body_rig){.one_thread = threads == 1};
  yw_world_def world_def = yw_default_world_def();
  world_def.gravity = (yw_vec3){0, 0, -gravity};
  world_def.threads = threads;
  yw_tet_mesh mesh = {0};
  yw_fem_def def = yw_default_fem_def();
  def.youngs_modulus = (float)bar_youngs;
  def.params = *params;
  def.mesh = &mesh;
  bool good = yw_world_create(&world_def, &r->world) >= 0 && make_lattice(which, &mesh) >= 0 &&
              yw_model_create_fem(NULL, &def, &r->model, NULL) >= 0;
  yw_tet_mesh_free(&mesh);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = r->model;
  good = good && yw_body_create(r->world, &body_def, &r->body, NULL) >= 0;
  return good && pin_body(r, which);
}

static void step_body(body_rig* r) {
  yw_step_report report;
  double start = bench_seconds(r->one_thread), wall = bench_seconds(false);
  yw_world_step(r->world, 1.0f / 240.0f, 1, &report);
  double seconds = bench_seconds(r->one_thread) - start;
  r->seconds += seconds;
  r->fastest = r->fastest > 0.0 ? fmin(r->fastest, seconds) : seconds;
  r->wall = bench_seconds(false) - wall;
  r->adapting = report.work_adapt;
}

static double distance_of(const body_rig* a, const body_rig* b) {
  yw_vec3 p = yw_body_positions(a->world, a->body, NULL)[a->shown];
  yw_vec3 q = yw_body_positions(b->world, b->body, NULL)[b->shown];
  double x = (double)p.x - (double)q.x, y = (double)p.y - (double)q.y;
  double z = (double)p.z - (double)q.z;
  return sqrt(x * x + y * y + z * z);
}

// Displacement of the shown vertex from rest.
static double way_of(const body_rig* r) {
  yw_vec3 p = yw_body_positions(r->world, r->body, NULL)[r->shown];
  yw_vec3 q = yw_model_tets(r->model)->positions[r->shown];
  double x = (double)p.x - (double)q.x, y = (double)p.y - (double)q.y;
  double z = (double)p.z - (double)q.z;
  return sqrt(x * x + y * y + z * z);
}

typedef struct adaptive_case {
  const char* name;
  body_case which;
  bool soften;
  float gravity, tau, damping;
  int32_t skip, frames, quick;  // of 1/240 s: before, and during the measurement
  double bar;                   // target: times faster than the finest mesh
  double size;                  // m, of the body
} adaptive_case;

static const adaptive_case adaptive_cases[] = {
    {"bar, g = 1", BAR_CASE, true, 1.0f, 0.01f, 4.0f, 0, 120, 24, 8.0, 0.4},
    {"bar, g = 1, not softened", BAR_CASE, false, 1.0f, 0.01f, 4.0f, 0, 120, 24, 0.0, 0.4},
    {"bar, g = 9.81", BAR_CASE, true, 9.81f, 0.01f, 1.0f, 0, 96, 24, 0.0, 0.4},
    {"bar, g = 9.81, not softened", BAR_CASE, false, 9.81f, 0.01f, 1.0f, 0, 96, 24, 0.0, 0.4},
    {"bar, g = 9.81, at rest", BAR_CASE, true, 9.81f, 0.01f, 12.0f, 240, 24, 12, 1.5, 0.4},
    {"poke", FINGER_CASE, true, 0.0f, 0.04f, 30.0f, 0, 72, 24, 12.0, 0.4},
    {"poke, not softened", FINGER_CASE, false, 0.0f, 0.006f, 30.0f, 0, 72, 24, 0.0, 0.4},
    {"poke at a vertex", VERTEX_CASE, true, 0.0f, 0.02f, 12.0f, 0, 72, 24, 0.0, 0.2},
    {"poke at a vertex, not softened", VERTEX_CASE, false, 0.0f, 0.01f, 12.0f, 0, 72, 24, 0.0, 0.2},
};

#define MOST_FRAMES 128
#define ROUNDS 4

// Fraction of the time spent on strain checks and on building lists. Other work on the machine
// disturbs single frames, so the fastest of several rounds counts.
static bool time_adapting(const adaptive_case* c, const yw_fem_params* params, int32_t frames,
                          double* share) {
  double wall[MOST_FRAMES], adapting[MOST_FRAMES], sum = 0.0, all = 0.0;
  bool good = true;
  for (int32_t round = 0; round < ROUNDS && good; ++round) {
    body_rig r;
    good = make_body(c->which, c->gravity, params, 1, &r);
    for (int32_t i = -c->skip; i < frames && good; ++i) {
      step_body(&r);
      if (i < 0) continue;
      wall[i] = round > 0 ? fmin(wall[i], r.wall) : r.wall;
      adapting[i] = round > 0 ? fmin(adapting[i], r.adapting) : r.adapting;
    }
    free_body(&r);
  }
  for (int32_t i = 0; i < frames && good; ++i) sum += adapting[i], all += wall[i];
  *share = sum / all;
  return good;
}

// Result of a body compared with the finest mesh; displacements and distances in m, fractions of 1.
typedef struct adaptive_result {
  double ms_per_frame, faster, tets, worst, last, way, adapting;
} adaptive_result;

static void print_share(const bench_run* run, const adaptive_case* c, const char* what,
                        double value, const char* unit, double bar) {
  char name[96];
  snprintf(name, sizeof name, "%s, %s", c->name, what);
  bench_row row = {.name = name, .threads = 1, .value = 100.0 * value, .unit = unit};
  row.bar = bar > 0.0 ? BAR_AT_MOST : BAR_NONE, row.bar_value = bar;
  bench_print(run, &row);
}

static void print_adaptive(const bench_run* run, const adaptive_case* c, const adaptive_result* r) {
  bench_row row = {.name = c->name,
                   .threads = 1,
                   .value = r->ms_per_frame,
                   .unit = "ms/frame",
                   .against = FINEST,
                   .ratio = r->faster,
                   .bar = c->bar > 0.0 ? BAR_RATIO_AT_LEAST : BAR_NONE,
                   .bar_value = c->bar};
  bench_print(run, &row);
  print_share(run, c, "tets", r->tets, "% of all", 0.0);
  // Relative to the motion of the tip, or the depth of the poke; the target is for the end.
  print_share(run, c, "error at most", r->worst / r->way, "% of way", 0.0);
  print_share(run, c, "error at the end", r->last / r->way, "% of way", c->bar > 0.0 ? 1.0 : 0.0);
  print_share(run, c, "error at most", r->worst / c->size, "% of size", 1.0);
  print_share(run, c, "indicator, lists", r->adapting, "% time", 15.0);
}

static int measure_adaptive(const bench_run* run, const adaptive_case* c) {
  yw_fem_params params = yw_default_fem_def().params;
  params.tau = c->tau;
  params.soften = c->soften;
  params.mass_damping = c->damping;
  params.sleep_speed = 0.0f;
  int32_t frames = run->quick ? c->quick : c->frames;
  adaptive_result result = {0};
  body_rig adaptive, finest = {0};
  bool good = make_body(c->which, c->gravity, &params, 1, &adaptive) &&
              time_adapting(c, &params, frames, &result.adapting);
  params.refine = YW_FEM_REFINE_FINEST;
  good = good && make_body(c->which, c->gravity, &params, 1, &finest);
  for (int32_t i = 0; i < c->skip && good; ++i) step_body(&adaptive), step_body(&finest);
  adaptive.seconds = finest.seconds = 0.0;
  double tets = 0.0, all = 0.0;
  for (int32_t i = 0; i < frames && good; ++i) {
    step_body(&adaptive);
    step_body(&finest);
    result.last = distance_of(&adaptive, &finest);
    result.worst = fmax(result.worst, result.last);
    result.way = fmax(result.way, way_of(&finest));
    yw_fem_statistics a, f;
    yw_body_fem_statistics(adaptive.world, adaptive.body, &a);
    yw_body_fem_statistics(finest.world, finest.body, &f);
    tets += a.num_tets;
    all += f.num_tets;
  }
  result.ms_per_frame = 1e3 * adaptive.seconds / frames;
  result.faster = finest.seconds / adaptive.seconds;
  result.tets = tets / all;
  if (good) print_adaptive(run, c, &result);
  free_body(&adaptive);
  free_body(&finest);
  return good ? EXIT_DONE : bad_input("out of memory");
}

// A fully refined body that keeps checking strains, against one that never does.
static int measure_overhead(const bench_run* run) {
  yw_fem_params params = yw_default_fem_def().params;
  params.tau = 1e-9f;
  params.sleep_speed = 0.0f;
  params.min_level = 3;
  body_rig looking, plain = {0};
  bool good = make_body(BAR_CASE, 9.81f, &params, 1, &looking);
  params.refine = YW_FEM_REFINE_FINEST;
  params.check_interval = 1e3f;
  good = good && make_body(BAR_CASE, 9.81f, &params, 1, &plain);
  int32_t frames = bench_repetitions(run, 24, 6);
  for (int32_t i = 0; i < frames && good; ++i) step_body(&looking), step_body(&plain);
  bench_row row = {.name = "fully refined, against never looking",
                   .threads = 1,
                   .value = looking.seconds / plain.seconds,
                   .unit = "times",
                   .bar = BAR_AT_MOST,
                   .bar_value = 1.2};
  if (good) bench_print(run, &row);
  free_body(&looking);
  free_body(&plain);
  return good ? EXIT_DONE : bad_input("out of memory");
}

// Complete steps of the finest bar, on one thread and on several; fastest of all frames.
static int measure_steps(const bench_run* run) {
  yw_fem_params params = yw_default_fem_def().params;
  params.refine = YW_FEM_REFINE_FINEST;
  params.sleep_speed = 0.0f;
  body_rig one, many = {0};
  bool good = make_body(BAR_CASE, 9.81f, &params, 1, &one) &&
              make_body(BAR_CASE, 9.81f, &params, run->threads, &many);
  int32_t frames = bench_repetitions(run, 96, 24);
  for (int32_t i = 0; i < frames && good; ++i) step_body(&one), step_body(&many);
  bench_row row = {.name = "finest bar, whole steps",
                   .threads = run->threads,
                   .value = 1e3 * many.fastest,
                   .unit = "ms/frame",
                   .against = "1 thread",
                   .ratio = one.fastest / many.fastest};
  if (good) bench_print(run, &row);
  free_body(&one);
  free_body(&many);
  return good ? EXIT_DONE : bad_input("out of memory");
}

int bench_fem(const bench_run* run) {
  int code = measure_forces(run, 4, 200, true);
  if (code == EXIT_DONE && !run->quick) code = measure_forces(run, 40, 20, false);
  if (code == EXIT_DONE && run->threads > 1) code = measure_steps(run);
  if (code == EXIT_DONE) code = measure_overhead(run);
  for (size_t i = 0; i < sizeof adaptive_cases / sizeof adaptive_cases[0]; ++i) {
    if (code == EXIT_DONE) code = measure_adaptive(run, &adaptive_cases[i]);
  }
  return code;
}
