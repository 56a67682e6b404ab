// SPDX-License-Identifier: MIT
// The grid that Saida, Fujisawa, Mikawa 2017 argue against (sections 1 and 2): a material point
// method beside `plastic`, in the paper's scenes and in a space that grows.
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "papers/saida2017/grid_world.h"
#include "papers/saida2017/saida.h"
#include "yawara/extend/error.h"

#define SPACING "bodies[0].plastic.spacing"
#define MEGA (1.0 / 1048576.0)

// Scenes ------------------------------------------------------------------------------------------

typedef struct grid_take {
  const grid_kind* kind;  // NULL: plastic
  mpm* particles;
  double cpu;  // s
  double bytes;
} grid_take;

static bool advance(paper_take* take, void* user) {
  grid_take* own = user;
  if (!own->particles) own->particles = grid_of_world(take->world, own->kind);
  if (!own->particles) return false;
  float frame = 1.0f / take->info.fps;
  clock_t begin = clock();
  bool good = mpm_advance(own->particles, frame, frame / (float)take->info.substeps);
  own->cpu += (double)(clock() - begin) / CLOCKS_PER_SEC;
  own->bytes = fmax(own->bytes, mpm_bytes(own->particles));
  return good && grid_show(own->particles, take->world);
}

static void print_take(const char* label, const paper_take* take, const grid_take* own) {
  double steps = (double)take->info.frames * take->info.substeps;
  bool is_grid = own->kind != NULL;
  double inner = is_grid && own->particles ? (double)own->particles->substeps / steps : 1.0;
  printf("  %-24s %7.2f %11.3f %9.1f %6.0f %7.0f %8.3f %8.1f%s\n", label, inner,
         1e3 * (is_grid ? own->cpu : take->cpu) / steps,
         MEGA * (is_grid ? own->bytes : grid_plastic_bytes(take->world)),
         paper_last(take, SAIDA_PIECES), paper_last(take, SAIDA_CRUMBS),
         paper_last(take, SAIDA_TOP), paper_peak(take, SAIDA_SPEED, NULL),
         take->diverged ? "  diverged" : "");
  fflush(stdout);
}

typedef struct grid_scene {
  int32_t row;               // of saida_table
  const char* short_frames;  // without a movie
  bool pictures;
} grid_scene;

static yw_status play_take(const paper_options* options, const grid_scene* s, const char* name,
                           grid_take* own, yw_error* error) {
  static const double moments[] = {0, 0.04, 0.1, 0.2, 0.3, 0.5};
  const saida_take* t = &saida_table[s->row];
  yw_scene_override settings[SAIDA_MAX_SETTINGS + 2];
  int32_t count = 0;
  for (; count < t->num_settings; ++count) settings[count] = t->settings[count];
  if (options->quick) settings[count++] = (yw_scene_override){SPACING, t->coarse};
  if (options->quick || options->full) {
    settings[count++] = (yw_scene_override){"frames", s->short_frames};
  }
  paper_options numbers = *options;
  numbers.no_pictures |= !s->pictures;
  const paper_script script = {.scene = t->scene,
                               .title = own->kind ? own->kind->label : "Masters and slaves",
                               .num_columns = SAIDA_COLUMNS,
                               .measure = saida_measure,
                               .num_moments = 6,
                               .moments = moments,
                               .sheet_columns = 3,
                               .width = 480,
                               .height = 360,
                               .settings = settings,
                               .num_settings = count,
                               .name = name,
                               .may_diverge = own->kind && !s->pictures,
                               .advance = own->kind ? advance : NULL,
                               .user = own};
  paper_take take;
  yw_status status = paper_play(&numbers, &script, &take, error);
  if (status >= 0) {
    if (!own->kind) printf("%s, %d masters\n", t->label, paper_particles(&take, 0));
    print_take(own->kind ? own->kind->label : "masters and slaves", &take, own);
    paper_take_free(&take);
  }
  mpm_destroy(own->particles);
  return status;
}

static yw_status play_scenes(const paper_options* options, yw_error* error) {
  static const grid_scene scenes[] = {{0, "12", false}, {1, "12", false}, {2, "20", false},
                                      {3, "20", false}, {6, "12", false}, {7, "25", true},
                                      {8, "25", false}};
  static const grid_kind kinds[] = {{.label = "MPM, explicit", .cells = 2},
                                    {.label = "MPM, semi-implicit", .implicit = true, .cells = 2}};
  static const char* const names[] = {"mpm", "mpm_implicit"};
  printf("\n%-26s %7s %11s %9s %6s %7s %8s %8s\n", "the paper's scenes", "inner", "CPU ms", "MB",
         "pieces", "crumbs", "top", "speed");
  printf("%-26s %7s %11s %9s %6s %7s %8s %8s\n", "", "steps", "per step", "", "", "", "m", "m/s");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    grid_take own = {0};
    yw_status status = play_take(options, &scenes[i], "plastic", &own, error);
    for (int k = 0; k < 2 && status >= 0; ++k) {
      own = (grid_take){.kind = &kinds[k]};
      status = play_take(options, &scenes[i], names[k], &own, error);
    }
    if (status < 0) return status;
  }
  return YW_OK;
}

// Space -------------------------------------------------------------------------------------------

typedef struct grid_cost {
  double seconds, bytes;  // seconds: of a step; negative: not run
} grid_cost;

static yw_status time_plastic(const paper_options* options, yw_world* world,
                              const yw_scene_info* info, grid_cost* out, yw_error* error) {
  *out = (grid_cost){INFINITY, 0};
  for (int i = 0; i < paper_at_most(options, 4); ++i) {
    clock_t begin = clock();
    if (yw_world_step(world, 1.0f / info->fps, info->substeps, NULL) < 0) {
      return yw_fail(error, YW_ERR_DIVERGED, "the step failed");
    }
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (i > 0) out->seconds = fmin(out->seconds, seconds / info->substeps);
  }
  out->bytes = grid_plastic_bytes(world);
  return YW_OK;
}

// A few frames, as above; a dense grid that does not fit is only counted.
static grid_cost time_grid(const paper_options* options, const yw_world* world,
                           const yw_scene_info* info, const grid_kind* kind) {
  grid_cost cost = {-1, 0};
  mpm* m = grid_of_world(world, kind);
  float frame = 1.0f / info->fps;
  for (int i = 0; i < paper_at_most(options, 4) && m; ++i) {
    clock_t begin = clock();
    if (!mpm_advance(m, frame, frame / (float)info->substeps)) break;
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC / info->substeps;
    if (i > 0) cost.seconds = cost.seconds < 0 ? seconds : fmin(cost.seconds, seconds);
  }
  if (m) cost.bytes = mpm_bytes(m);
  mpm_destroy(m);
  return cost;
}

static void print_cost(grid_cost c) {
  if (c.seconds < 0) {
    printf(" %9s %9.0f", "-", MEGA * c.bytes);
  } else {
    printf(" %9.2f %9.0f", 1e3 * c.seconds, MEGA * c.bytes);
  }
}

static yw_status play_extent(const paper_options* options, int extent, yw_error* error) {
  char spacing[60], position[60];
  snprintf(spacing, sizeof spacing, "[%d,0,%d]", extent, extent);
  snprintf(position, sizeof position, "[-%g,0.06,-%g]", 0.5 * extent, 0.5 * extent);
  const yw_scene_override settings[] = {
      {"bodies[0].repeat.spacing", spacing}, {"bodies[0].position", position},
      {"bodies[0].repeat.count", "[2,1,2]"}, {"bodies[0].repeat.interval", "0"},
      {"bodies[0].repeat.turn", "0"},        {SPACING, "0.09"}};
  yw_scene* scene;
  yw_world* world;
  yw_status status = paper_open_with(options, "saida2017/fig15.json", 5 + options->quick, settings,
                                     &scene, &world, error);
  if (status < 0) return status;
  yw_scene_info info = yw_scene_info_of(scene);
  float half = 0.5f * (float)extent + 1.0f;
  const yw_aabb box = {{-half, -0.3f, -half}, {half, 1.7f, half}};
  const grid_kind sparse = {.cells = 2}, dense = {.cells = 2, .dense = true, .box = box};
  int32_t masters;
  yw_body_positions(world, yw_world_body(world, 0), &masters);
  grid_cost own[3];
  own[1] = time_grid(options, world, &info, &sparse);
  own[2] = time_grid(options, world, &info, &dense);
  status = time_plastic(options, world, &info, &own[0], error);
  mpm* m = grid_of_world(world, &sparse);
  if (own[2].seconds < 0 && m) own[2].bytes = mpm_dense_bytes(box, m->def.cell);
  mpm_destroy(m);
  if (status >= 0) {
    printf("%10d %8d", extent, masters);
    for (int k = 0; k < 3; ++k) print_cost(own[k]);
    printf("\n");
    fflush(stdout);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return status;
}

static yw_status play_extents(const paper_options* options, yw_error* error) {
  printf("\n%10s %8s %19s %19s %19s\n", "extent", "masters", "masters and slaves", "MPM, sparse",
         "MPM, dense");
  printf("%10s %8s", "m", "");
  for (int k = 0; k < 3; ++k) printf(" %9s %9s", "ms/step", "MB");
  printf("\n");
  for (int extent = 2; extent <= 128; extent *= 4) {
    yw_status status = play_extent(options, extent, error);
    if (status < 0) return status;
  }
  return YW_OK;
}

yw_status paper_saida_mpm(const paper_options* options, yw_error* error) {
  yw_status status = paper_saida_laws(options, error);
  if (status >= 0) status = play_extents(options, error);
  return status < 0 ? status : play_scenes(options, error);
}
