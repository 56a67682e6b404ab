// SPDX-License-Identifier: MIT
// Charts of a wedge: the last value of each measure over each swept value that is a number. Runs
// that differ in nothing else are a line; where these would be too many, every run is a point.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/wedge.h"
#include "render/draw/table.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/text.h"

/// Readers cannot tell more lines apart.
#define MAX_LINES 8
/// Above this, only points: whoever has a line is found by comparing all runs.
#define MAX_GROUPED 4096

typedef struct point {
  double x, y;
} point;

typedef struct chart {
  const wedge* w;
  const yw_column* measure;
  int32_t sweep;      ///< index among the overrides of a run
  char path[128];     ///< of the swept value
  int32_t* line_of;   ///< per run
  point* points;      ///< of one line
  double *x, *y;      ///< of all lines, one after the other
  int32_t num_lines;  ///< 0: one line of points
  char names[MAX_LINES][96];
} chart;

static double value_of(const chart* c, int32_t run) {
  const char* set[OPTION_LIST_MAX];
  wedge_overrides(c->w, run, set);
  const char* text = strchr(set[c->sweep], '=') + 1;
  char* end;
  double value = strtod(text, &end);
  return *end || end == text ? NAN : value;
}

// A chart needs two values that are numbers, and no others.
static bool is_numeric(const chart* c) {
  double first = value_of(c, 0);
  bool varies = false;
  for (int32_t run = 0; run < c->w->num_runs; ++run) {
    double value = value_of(c, run);
    if (!isfinite(value)) return false;
    varies = varies || value != first;
  }
  return varies;
}

// Lines -------------------------------------------------------------------------------------------

static bool same_line(const chart* c, int32_t a, int32_t b) {
  const char *set_a[OPTION_LIST_MAX], *set_b[OPTION_LIST_MAX];
  int32_t count = wedge_overrides(c->w, a, set_a);
  wedge_overrides(c->w, b, set_b);
  for (int32_t i = c->w->def.set.count; i < count; ++i) {
    if (i != c->sweep && strcmp(set_a[i], set_b[i]) != 0) return false;
  }
  return true;
}

// "friction=0.4 dt=0.01": what the runs of a line have in common.
static void name_line(const chart* c, int32_t run, char out[96]) {
  const char* set[OPTION_LIST_MAX];
  int32_t count = wedge_overrides(c->w, run, set), length = 0;
  out[0] = '\0';
  for (int32_t i = c->w->def.set.count; i < count && length < 95; ++i) {
    if (i == c->sweep) continue;
    const char* text = set[i];
    for (const char* at = text; *at != '='; ++at) {
      if (*at == '.') text = at + 1;
    }
    length += snprintf(out + length, 96 - (size_t)length, "%s%s", length > 0 ? " " : "", text);
  }
}

static void find_lines(chart* c) {
  int32_t first_of[MAX_LINES], count = 0;
  for (int32_t run = 0; run < c->w->num_runs; ++run) {
    int32_t line = 0;
    while (line < count && !same_line(c, first_of[line], run)) ++line;
    if (line == MAX_LINES) {
      count = 0;
      break;
    }
    if (line == count) {
      first_of[count++] = run;
      name_line(c, run, c->names[line]);
    }
    c->line_of[run] = line;
  }
  c->num_lines = count;
}

static int by_x(const void* a, const void* b) {
  double x = ((const point*)a)->x, y = ((const point*)b)->x;
  return (x > y) - (x < y);
}

// Copies a line's points, by x, to x and y from `at` on; returns how many.
static int32_t collect(chart* c, int32_t line, int32_t at) {
  int32_t count = 0;
  for (int32_t run = 0; run < c->w->num_runs; ++run) {
    if (c->num_lines > 0 && c->line_of[run] != line) continue;
    double y = c->measure->values[run];
    if (isfinite(y)) c->points[count++] = (point){value_of(c, run), y};
  }
  qsort(c->points, (size_t)count, sizeof *c->points, by_x);
  for (int32_t i = 0; i < count; ++i) {
    c->x[at + i] = c->points[i].x;
    c->y[at + i] = c->points[i].y;
  }
  return count;
}

// Charts ------------------------------------------------------------------------------------------

// True if the values of a sweep were asked for in equal ratios.
static bool is_logarithmic(const chart* c) {
  const option_list* sweeps = &c->w->def.sweep;
  for (int32_t i = 0; i < sweeps->count; ++i) {
    const char* text = sweeps->items[i];
    size_t length = strlen(c->path);
    if (strncmp(text, c->path, length) == 0 && text[length] == '=') {
      return yw_ends_with(text, ":log");
    }
  }
  return false;
}

// "all kinetic energy last" over "bodies[0].match.alpha": all_kinetic_energy_over_match_alpha.svg
static void name_file(const chart* c, const char* measure, char* out, size_t capacity) {
  char name[256];
  snprintf(name, sizeof name, "%s_over_%s", measure, c->path);
  for (char* s = name; *s; ++s) {
    if (!isalnum((unsigned char)*s)) *s = '_';
  }
  snprintf(out, capacity, "%s/plots/%s.svg", c->w->dir, name);
}

static yw_status draw_chart(chart* c, yw_error* error) {
  char measure[sizeof c->measure->name], label[sizeof measure + 16], path[RUN_MAX_PATH + 300];
  snprintf(measure, sizeof measure, "%.*s", (int)strlen(c->measure->name) - (int)strlen(" last"),
           c->measure->name);
  snprintf(label, sizeof label, "%s at the end", measure);
  name_file(c, measure, path, sizeof path);
  yw_series series[MAX_LINES];
  yw_plot plot = yw_default_plot();
  int32_t at = 0;
  for (int32_t line = 0; line < (c->num_lines > 0 ? c->num_lines : 1); ++line) {
    int32_t count = collect(c, line, at);
    series[line] = (yw_series){
        .name = c->num_lines > 1 ? c->names[line] : NULL,
        .count = count,
        .x = c->x + at,
        .y = c->y + at,
        .style = c->num_lines > 0 ? YW_SERIES_LINE_POINTS : YW_SERIES_POINTS,
        .color = -1,
    };
    at += count;
    plot.num_series = line + 1;
  }
  if (at == 0) return YW_OK;
  plot.series = series;
  plot.x.label = c->path;
  plot.x.log = is_logarithmic(c);
  plot.y.label = label;
  plot.y.unit = c->measure->unit;
  return yw_plot_write(path, &plot, error);
}

// All measures over one swept value.
static yw_status draw_sweep(chart* c, const yw_table* table, yw_error* error) {
  yw_status status = YW_OK;
  if (!is_numeric(c)) return status;
  c->num_lines = 0;
  if (c->w->num_runs <= MAX_GROUPED && c->w->def.latin == 0) find_lines(c);
  for (int32_t i = 0; i < table->num_columns && status >= 0; ++i) {
    if (!yw_ends_with(table->columns[i].name, " last")) continue;
    c->measure = &table->columns[i];
    status = draw_chart(c, error);
  }
  return status;
}

yw_status wedge_write_plots(const wedge* w, yw_error* error) {
  char path[RUN_MAX_PATH];
  const char* set[OPTION_LIST_MAX];
  size_t runs = (size_t)w->num_runs;
  chart c = {.w = w,
             .line_of = calloc(runs, sizeof *c.line_of),
             .points = calloc(runs, sizeof *c.points),
             .x = calloc(runs, sizeof *c.x),
             .y = calloc(runs, sizeof *c.y)};
  yw_table table = {0};
  snprintf(path, sizeof path, "%s/plots", w->dir);
  yw_status status = yw_make_folders(path, error);
  snprintf(path, sizeof path, "%s/table.csv", w->dir);
  if (status >= 0) status = yw_table_read(path, NULL, &table, error);
  if (status >= 0 && !(c.line_of && c.points && c.x && c.y)) {
    status = yw_fail_memory(error, "charts");
  }
  int32_t count = wedge_overrides(w, 0, set);
  for (int32_t i = w->def.set.count; i < count && status >= 0; ++i) {
    c.sweep = i;
    snprintf(c.path, sizeof c.path, "%.*s", (int)strcspn(set[i], "="), set[i]);
    if (table.num_rows == w->num_runs) status = draw_sweep(&c, &table, error);
  }
  yw_table_free(&table);
  free(c.line_of);
  free(c.points);
  free(c.x);
  free(c.y);
  return status;
}
