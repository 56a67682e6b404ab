// SPDX-License-Identifier: MIT
// Plays the scene of a figure and records the numbers of every frame.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "console/progress.h"
#include "papers/paper.h"
#include "reference/clock.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Line by line. Where a model replaces shapes, it is no surprise that some are not used.
static void print_warnings(char* lines, bool with_model) {
  char* rest = lines;
  for (char* line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    if (with_model && strstr(line, " is not used")) continue;
    fprintf(stderr, "warning: %s\n", line);
  }
}

yw_status paper_open(const paper_options* options, const char* scene, yw_scene** out_scene,
                     yw_world** out_world, yw_error* error) {
  return paper_open_with(options, scene, 0, NULL, out_scene, out_world, error);
}

yw_status paper_open_with(const paper_options* options, const char* scene, int32_t num_settings,
                          const yw_scene_override* settings, yw_scene** out_scene,
                          yw_world** out_world, yw_error* error) {
  char path[1024];
  snprintf(path, sizeof path, "%s/papers/%s", options->scenes, scene);
  yw_error warning = {0};
  *out_scene = NULL;
  *out_world = NULL;
  paper_model_changes model;
  yw_scene_override all[PAPER_MAX_SETTINGS + PAPER_MODEL_CHANGES];
  yw_status status = paper_model_find(options, scene, &model, error);
  if (status < 0) return status;
  if (num_settings > PAPER_MAX_SETTINGS) return yw_fail(error, YW_ERR_INVALID, "many settings");
  for (int32_t i = 0; i < model.count; ++i) all[i] = model.settings[i];
  for (int32_t i = 0; i < num_settings; ++i) all[model.count + i] = settings[i];
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  def.overrides = all;
  def.num_overrides = model.count + num_settings;
  status = yw_scene_read(&def, out_scene, &warning, error);
  if (status < 0) return status;
  print_warnings(warning.message, model.count > 0);
  status = yw_scene_build(*out_scene, options->threads, YW_SIMD_AUTO, out_world, error);
  if (status < 0) {
    yw_scene_destroy(*out_scene);
    *out_scene = NULL;
  }
  return status;
}

static yw_status open_take(paper_take* take, yw_error* error) {
  const paper_script* script = take->script;
  yw_status status = paper_open_with(take->options, script->scene, script->num_settings,
                                     script->settings, &take->scene, &take->world, error);
  if (status < 0) return status;
  take->info = yw_scene_info_of(take->scene);
  if (take->options->quick && script->quick_frames > 0) take->info.frames = script->quick_frames;
  take->info.frames = paper_at_most(take->options, take->info.frames);
  int32_t rows = take->info.frames + 1;
  take->rows = YW_NEW_ARRAY(NULL, double, rows * script->num_columns);
  take->times = YW_NEW_ARRAY(NULL, double, rows);
  if (!take->rows || !take->times) return yw_fail_memory(error, "the numbers of a figure");
  return take->options->no_pictures ? YW_OK : paper_pictures_open(take, error);
}

static yw_status move(paper_take* take, yw_step_report* report) {
  const paper_script* script = take->script;
  if (!script->advance) {
    return yw_world_step(take->world, 1.0f / take->info.fps, take->info.substeps, report);
  }
  *report = (yw_step_report){.diverged_bodies = !script->advance(take, script->user)};
  report->first_diverged = paper_body(take, 0);
  return YW_OK;
}

static yw_status step(paper_take* take, yw_error* error) {
  yw_step_report report;
  double begin = bench_seconds(take->options->threads == 1);
  clock_t ticks = clock();
  yw_status status = move(take, &report);
  double seconds = bench_seconds(take->options->threads == 1) - begin;
  take->seconds += seconds;
  take->cpu += (double)(clock() - ticks) / CLOCKS_PER_SEC;
  if (seconds > take->worst_step) take->worst_step = seconds;
  ++take->frame;
  if (status >= 0 && report.diverged_bodies > 0 && take->script->may_diverge) {
    take->diverged = true;
    return YW_OK;
  }
  if (status >= 0 && report.diverged_bodies > 0) {
    return yw_fail(error, YW_ERR_DIVERGED, "%s: frame %d: body \"%s\" diverged",
                   take->script->scene, take->frame,
                   yw_body_name(take->world, report.first_diverged));
  }
  if (status < 0) {
    return yw_fail(error, status, "%s: frame %d: the step failed", take->script->scene,
                   take->frame);
  }
  return YW_OK;
}

static yw_status record(paper_take* take, yw_error* error) {
  take->times[take->frame] = take->script->advance ? (double)take->frame / (double)take->info.fps
                                                   : yw_world_time(take->world);
  double* row = take->rows + (size_t)take->frame * (size_t)take->script->num_columns;
  if (take->script->measure) take->script->measure(take, row);
  return take->pictures ? paper_pictures_add(take, error) : YW_OK;
}

yw_status paper_play(const paper_options* options, const paper_script* script, paper_take* take,
                     yw_error* error) {
  *take = (paper_take){.options = options, .script = script};
  yw_status status = open_take(take, error);
  if (status >= 0) status = record(take, error);
  progress p = progress_start("frame", 0, take->info.frames, false);
  while (status >= 0 && take->frame < take->info.frames) {
    if (take->diverged) {
      ++take->frame;
    } else {
      status = step(take, error);
    }
    if (status >= 0) status = record(take, error);
    progress_show(&p, take->frame, NULL);
  }
  progress_end(&p);
  status = paper_pictures_close(take, status, error);
  if (status < 0) paper_take_free(take);
  return status;
}

void paper_take_free(paper_take* take) {
  yw_world_destroy(take->world);
  yw_scene_destroy(take->scene);
  yw_mem_free(NULL, take->rows);
  yw_mem_free(NULL, take->times);
  memset(take, 0, sizeof *take);
}

// Numbers -----------------------------------------------------------------------------------------

double paper_value(const paper_take* take, int32_t frame, int32_t column) {
  return take->rows[frame * take->script->num_columns + column];
}

double paper_last(const paper_take* take, int32_t column) {
  return paper_value(take, take->info.frames, column);
}

double paper_peak(const paper_take* take, int32_t column, double* time) {
  double peak = paper_value(take, 0, column);
  if (time) *time = 0;
  for (int32_t frame = 1; frame <= take->info.frames; ++frame) {
    double value = paper_value(take, frame, column);
    if (value <= peak) continue;
    peak = value;
    if (time) *time = take->times[frame];
  }
  return peak;
}

yw_body_id paper_body(const paper_take* take, int32_t body) {
  return yw_world_body(take->world, body);
}

int32_t paper_particles(const paper_take* take, int32_t body) {
  return yw_model_num_particles(yw_body_model(take->world, paper_body(take, body)));
}

// Plots -------------------------------------------------------------------------------------------

yw_plot paper_time_plot(const char* title, int32_t count, const yw_series* series) {
  yw_plot plot = yw_default_plot();
  plot.title = title;
  plot.x.label = "time";
  plot.x.unit = "s";
  plot.num_series = count;
  plot.series = series;
  return plot;
}

yw_status paper_write_plot(const paper_options* options, const char* name, const yw_plot* plot,
                           yw_error* error) {
  if (options->no_plots) return YW_OK;
  char path[1100];
  bool png = yw_svg_paint_available(NULL) >= 0 && yw_png_available(NULL) >= 0;
  snprintf(path, sizeof path, "%s/%s.%s", options->output, name, png ? "png" : "svg");
  yw_status status = yw_plot_write(path, plot, error);
  if (status >= 0) printf("wrote %s\n", path);
  return status;
}

yw_status paper_plot(const paper_take* take, const char* name, const char* title, const char* label,
                     const char* unit, int32_t count, const int32_t* columns,
                     const char* const* names, yw_error* error) {
  yw_series series[PAPER_MAX_SERIES];
  int32_t rows = take->info.frames + 1;
  double* values = YW_NEW_ARRAY(NULL, double, rows* count);
  if (!values) return yw_fail_memory(error, "a plot");
  for (int32_t i = 0; i < count; ++i) {
    double* column = values + (size_t)i * (size_t)rows;
    for (int32_t k = 0; k < rows; ++k) column[k] = paper_value(take, k, columns[i]);
    series[i] = (yw_series){names[i], rows, take->times, column, YW_SERIES_LINE, -1, false};
  }
  yw_plot plot = paper_time_plot(title, count, series);
  plot.y.label = label;
  plot.y.unit = unit;
  yw_status status = paper_write_plot(take->options, name, &plot, error);
  yw_mem_free(NULL, values);
  return status;
}
