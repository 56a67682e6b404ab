// SPDX-License-Identifier: MIT
// Figures 15 and 16 and tables 1 and 2 of Saida, Fujisawa, Mikawa 2017: cost of a step against the
// number of particles, against the extent of space, and for every scene.
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "papers/saida2017/saida.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define SPACING "bodies[0].plastic.spacing"
#define COARSE "0.09"

// Figure 16 ---------------------------------------------------------------------------------------

enum { MASTERS, SLAVES, SECONDS, COLUMNS };

static void measure(const paper_take* take, double* row) {
  int32_t count;
  yw_body_positions(take->world, paper_body(take, 0), &count);
  row[MASTERS] = count;
  yw_plastic_statistics statistics = {0};
  yw_body_plastic_statistics(take->world, paper_body(take, 0), &statistics);
  row[SLAVES] = statistics.num_slaves;
  row[SECONDS] = take->cpu;
}

static yw_status plot_cost(const paper_take* take, const double* cost, yw_error* error) {
  int32_t frames = take->info.frames;
  double* masters = YW_NEW_ARRAY(NULL, double, 2 * (size_t)frames);
  double* slaves = masters + frames;
  if (!masters) return yw_fail_memory(error, "a plot");
  for (int32_t i = 0; i < frames; ++i) {
    masters[i] = 1e-3 * paper_value(take, i + 1, MASTERS);
    slaves[i] = 1e-3 * paper_value(take, i + 1, SLAVES);
  }
  const yw_series series[] = {
      {"CPU ms per step", take->info.frames, take->times + 1, cost, YW_SERIES_LINE, 0, false},
      {"thousand masters", take->info.frames, take->times + 1, masters, YW_SERIES_DASHED, 1, false},
      {"thousand slaves", take->info.frames, take->times + 1, slaves, YW_SERIES_DASHED, 2, false}};
  yw_plot plot = paper_time_plot("Bunnies added one after another", 3, series);
  plot.y.label = "CPU time per step (ms), thousand particles";
  yw_status status = paper_write_plot(take->options, "cost", &plot, error);
  yw_mem_free(NULL, masters);
  return status;
}

// Bunnies one after another: the cost of a step follows the current number of particles.
static yw_status play_many(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.1, 0.3, 0.5, 0.7, 0.86, 1.0};
  static const yw_scene_override coarse = {SPACING, COARSE};
  const paper_script script = {.scene = "saida2017/fig15.json",
                               .title = "Bunnies in a wide space",
                               .num_columns = COLUMNS,
                               .measure = measure,
                               .num_moments = 6,
                               .moments = moments,
                               .sheet_columns = 3,
                               .width = 640,
                               .height = 400,
                               .film_every = 1,
                               .settings = &coarse,
                               .num_settings = options->quick};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  double* cost = YW_NEW_ARRAY(NULL, double, take.info.frames);
  if (!cost) status = yw_fail_memory(error, "a plot");
  if (status >= 0)
    printf("\n%8s %10s %10s %12s %22s\n", "t (s)", "masters", "slaves", "CPU ms/step",
           "us/step and master");
  for (int32_t i = 0; i < take.info.frames && status >= 0; ++i) {
    double seconds = paper_value(&take, i + 1, SECONDS) - paper_value(&take, i, SECONDS);
    cost[i] = 1e3 * seconds / take.info.substeps;
    double masters = paper_value(&take, i + 1, MASTERS);
    if (i % 5 == 4) {
      printf("%8.2f %10.0f %10.0f %12.2f %22.2f\n", take.times[i + 1], masters,
             paper_value(&take, i + 1, SLAVES), cost[i], 1e3 * cost[i] / masters);
    }
  }
  if (status >= 0) status = plot_cost(&take, cost, error);
  yw_mem_free(NULL, cost);
  paper_take_free(&take);
  return status;
}

// CPU time of a step in seconds, in the fastest of a few frames.
static yw_status time_frames(const paper_options* options, yw_world* world,
                             const yw_scene_info* info, int32_t frames, double* out,
                             yw_error* error) {
  const int32_t warm_up = paper_at_most(options, 3) - 1;
  frames = paper_at_most(options, frames);
  *out = INFINITY;
  for (int32_t i = 0; i < warm_up + frames; ++i) {
    clock_t begin = clock();
    yw_status status = yw_world_step(world, 1.0f / info->fps, info->substeps, NULL);
    if (status < 0) return yw_fail(error, status, "the step failed");
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (i >= warm_up && seconds < *out) *out = seconds;
  }
  *out /= info->substeps;
  return YW_OK;
}

// The same four bunnies, farther and farther apart, while they fall flat.
static yw_status play_extents(const paper_options* options, yw_error* error) {
  printf("\n%12s %10s %12s\n", "extent (m)", "masters", "CPU ms/step");
  double first = 0;
  for (int scale = 1; scale <= 64; scale *= 4) {
    char spacing[60], position[60];
    snprintf(spacing, sizeof spacing, "[%d,0,%d]", 2 * scale, 2 * scale);
    snprintf(position, sizeof position, "[-%d,0.06,-%d]", scale, scale);
    yw_scene_override settings[] = {
        {"bodies[0].repeat.spacing", spacing}, {"bodies[0].position", position},
        {"bodies[0].repeat.count", "[2,1,2]"}, {"bodies[0].repeat.interval", "0"},
        {"bodies[0].repeat.turn", "0"},        {SPACING, COARSE}};
    yw_scene* scene;
    yw_world* world;
    yw_status status = paper_open_with(options, "saida2017/fig15.json", 5 + options->quick,
                                       settings, &scene, &world, error);
    if (status < 0) return status;
    yw_scene_info info = yw_scene_info_of(scene);
    double seconds = 0;
    status = time_frames(options, world, &info, 3, &seconds, error);
    int32_t count;
    yw_body_positions(world, yw_world_body(world, 0), &count);
    if (scale == 1) first = seconds;
    if (status >= 0) {
      printf("%12d %10d %12.2f  (%.2f of the first)\n", 2 * scale, count, 1e3 * seconds,
             seconds / first);
    }
    yw_world_destroy(world);
    yw_scene_destroy(scene);
    if (status < 0) return status;
  }
  return YW_OK;
}

yw_status paper_saida_fig16(const paper_options* options, yw_error* error) {
  yw_status status = play_many(options, error);
  return status < 0 ? status : play_extents(options, error);
}

// Table 2 -----------------------------------------------------------------------------------------

// Every scene at full resolution (coarse with --quick), from its first impact on.
yw_status paper_saida_table2(const paper_options* options, yw_error* error) {
  printf("\n%-26s %8s %8s %9s %12s %15s %8s\n", "", "masters", "slaves", "step (s)", "CPU ms/step",
         "paper: s/frame", "ratio");
  for (int32_t i = 0; i < saida_num_table; ++i) {
    const saida_take* t = &saida_table[i];
    yw_scene_override settings[SAIDA_MAX_SETTINGS + 2];
    for (int32_t k = 0; k < t->num_settings; ++k) settings[k] = t->settings[k];
    int32_t count = t->num_settings;
    bool merging = i + 1 == saida_num_table;
    if (merging) settings[count++] = (yw_scene_override){"bodies[0].repeat.interval", "0"};
    if (options->quick) settings[count++] = (yw_scene_override){SPACING, t->coarse};
    yw_scene* scene;
    yw_world* world;
    yw_status status = paper_open_with(options, t->scene, count, settings, &scene, &world, error);
    if (status < 0) return status;
    yw_scene_info info = yw_scene_info_of(scene);
    double seconds = 0;
    status = time_frames(options, world, &info, options->quick ? 1 : 4, &seconds, error);
    int32_t masters;
    yw_body_positions(world, yw_world_body(world, 0), &masters);
    if (status >= 0) {
      yw_plastic_statistics statistics = {0};
      yw_body_plastic_statistics(world, yw_world_body(world, 0), &statistics);
      printf("%-26s %8d %8d %9.4f %12.2f %15.4f %7.0fx\n", t->label, masters, statistics.num_slaves,
             1.0 / ((double)info.fps * info.substeps), 1e3 * seconds, t->paper_step,
             t->paper_step / seconds);
      fflush(stdout);
    }
    yw_world_destroy(world);
    yw_scene_destroy(scene);
    if (status < 0) return status;
  }
  return YW_OK;
}
