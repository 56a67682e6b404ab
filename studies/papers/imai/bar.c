// SPDX-License-Identifier: MIT
// Imai, Yue, Chen, Nishita, figures 6 and 7: a bar clamped at one end sags under its weight,
// adaptive compared with the finest mesh. In addition: other loads, and the paper's own variants.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/imai/course.h"
#include "papers/paper.h"
#include "yawara/fem.h"

#define BAR_SCENE "imai/bar.json"
#define LENGTH 0.4  // m
static const yw_vec3 tip = {0.4f, 0.0f, 0.0f};
enum { EVEN, EVEN_FINEST, GRADED, GRADED_FINEST, NUM_BARS };
static const char* const bar_names[NUM_BARS] = {"adaptive", "finest", "graded, adaptive",
                                                "graded, finest"};

static fem_case bar_case(const paper_options* options, int32_t body, int32_t quick_frames) {
  return (fem_case){.scene = BAR_SCENE,
                    .num_bodies = NUM_BARS,
                    .body = body,
                    .frames = options->quick ? quick_frames : 0,
                    .point = tip,
                    .radius = 0.02};
}

// Figure 6 ----------------------------------------------------------------------------------------

enum { F6_SAG, F6_TETS = NUM_BARS, F6_ERROR = 2 * NUM_BARS, F6_COLUMNS = F6_ERROR + 2 };

// For every bar: tip deflection in mm and % of the tets in use; then the two errors, mm.
static void measure_fig6(const paper_take* take, double* row) {
  double place[NUM_BARS][2];
  for (int32_t i = 0; i < NUM_BARS; ++i) {
    yw_body_id body = paper_body(take, i);
    yw_fem_statistics state;
    yw_body_fem_statistics(take->world, body, &state);
    yw_vec3 p = paper_place(take->world, body, tip, 0.02);
    place[i][0] = 1e3 * (double)p.x;
    place[i][1] = 1e3 * (double)p.y;
    row[F6_SAG + i] = -place[i][1];
    row[F6_TETS + i] =
        100.0 * state.num_tets / yw_model_tets(yw_body_model(take->world, body))->num_tets;
  }
  for (int k = 0; k < 2; ++k) {
    const double(*pair)[2] = (const double(*)[2])place + 2 * k;
    row[F6_ERROR + k] = hypot(pair[0][0] - pair[1][0], pair[0][1] - pair[1][1]);
  }
}

static void print_fig6(const paper_take* take) {
  static const char* const names[] = {"one stiffness", "4x stiffer to the tip"};
  printf("\n%-24s %10s %10s %10s %10s %10s\n", "", "sag mm", "error mm", "% of sag", "at end %",
         "tets %");
  for (int k = 0; k < 2; ++k) {
    double sag = paper_peak(take, F6_SAG + 2 * k + 1, NULL), tets = 0.0;
    for (int32_t i = 1; i <= take->info.frames; ++i) {
      tets += paper_value(take, i, F6_TETS + 2 * k) / take->info.frames;
    }
    double error = paper_peak(take, F6_ERROR + k, NULL);
    printf("%-24s %10.1f %10.2f %10.2f %10.2f %10.1f\n", names[k], sag, error, 100.0 * error / sag,
           100.0 * paper_last(take, F6_ERROR + k) / sag, tets);
  }
  printf(
      "sag: largest, of the finest mesh; error: largest distance of the tips; tets: in use, in "
      "the mean, of %d\n",
      yw_model_tets(yw_body_model(take->world, paper_body(take, 0)))->num_tets);
}

yw_status paper_imai_fig6(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.0, 0.05, 0.1, 0.2, 0.5, 1.5};
  const paper_script script = {.scene = BAR_SCENE,
                               .title =
                                   "Fig. 6: bars, adaptive and finest; blue: level 0, "
                                   "yellow: level 3",
                               .num_columns = F6_COLUMNS,
                               .measure = measure_fig6,
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 2,
                               .width = 480,
                               .height = 270,
                               .labels = bar_names,
                               .field = "level",
                               .field_high = 3.0f,
                               .quick_frames = 24};
  static const int32_t sags[] = {0, 1, 2, 3}, errors[] = {F6_ERROR, F6_ERROR + 1};
  static const char* const error_names[] = {"one stiffness", "4x stiffer to the tip"};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  status = paper_plot(&take, "sag", "Bars under gravity", "sag of the tip", "mm", 4, sags,
                      bar_names, error);
  if (status >= 0) {
    status = paper_plot(&take, "error", "Distance of the tip from that of the finest mesh",
                        "distance", "mm", 2, errors, error_names, error);
  }
  if (status >= 0) print_fig6(&take);
  paper_take_free(&take);
  return status;
}

// Figure 7 ----------------------------------------------------------------------------------------

#define SPAN 3  // frames on both sides for averaging rates

static yw_status plot_courses(const paper_options* options, const fem_course* courses,
                              yw_error* error) {
  static double values[2][NUM_BARS][PAPER_FEM_FRAMES + 1];
  yw_series rates[NUM_BARS], tets[2];
  for (int k = 0; k < NUM_BARS; ++k) {
    const fem_course* c = &courses[k];
    for (int32_t i = 0; i <= c->frames; ++i) {
      values[0][k][i] = paper_fem_rate(c, i, SPAN);
      values[1][k][i] = 100.0 * c->tets[i] / c->all_tets;
    }
    yw_series_style style = k % 2 ? YW_SERIES_DASHED : YW_SERIES_LINE;
    rates[k] = (yw_series){bar_names[k], c->frames + 1, c->time, values[0][k], style, k / 2, false};
    if (k % 2 == 0) {
      tets[k / 2] = (yw_series){k ? "4x stiffer to the tip" : "one stiffness",
                                c->frames + 1,
                                c->time,
                                values[1][k],
                                YW_SERIES_LINE,
                                k / 2,
                                false};
    }
  }
  yw_plot plot = paper_time_plot("Fig. 7: updates per second of computing", NUM_BARS, rates);
  plot.y = (yw_axis){"updates per second", NULL, true, (double)NAN, (double)NAN};
  yw_status status = paper_write_plot(options, "updates", &plot, error);
  plot.title = "Tets in use";
  plot.y = (yw_axis){"tets in use, of the finest mesh", "%", false, 0.0, 100.0};
  plot.num_series = 2;
  plot.series = tets;
  return status < 0 ? status : paper_write_plot(options, "tets", &plot, error);
}

static void print_moments(const fem_course* adaptive, const fem_course* finest) {
  static const double moments[] = {0.02, 0.04, 0.1, 0.2, 0.5, 1.0, 1.4};
  printf("%10s %10s %14s %14s %10s\n", "time s", "tets %", "updates/s", "finest", "ratio");
  for (size_t m = 0; m < sizeof moments / sizeof *moments; ++m) {
    int32_t i = 0;
    while (i < adaptive->frames && adaptive->time[i] < moments[m] - 1e-3) ++i;
    if (adaptive->time[i] < moments[m] - 1e-3) break;
    int32_t span = i < 10 ? 1 : SPAN;
    double rate = paper_fem_rate(adaptive, i, span), slow = paper_fem_rate(finest, i, span);
    printf("%10.3f %10.1f %14.0f %14.0f %10.2f\n", adaptive->time[i],
           100.0 * adaptive->tets[i] / adaptive->all_tets, rate, slow, rate / slow);
  }
}

yw_status paper_imai_fig7(const paper_options* options, yw_error* error) {
  static fem_course courses[NUM_BARS];
  for (int32_t k = 0; k < NUM_BARS; ++k) {
    fem_case c = bar_case(options, k, 12);
    yw_status status = paper_fem_run(options, &c, &courses[k], error);
    if (status < 0) return status;
  }
  for (int k = 0; k < 2; ++k) {
    printf("\n%s\n", k ? "4x stiffer to the tip" : "one stiffness");
    print_moments(&courses[2 * k], &courses[2 * k + 1]);
    fem_comparison c = paper_fem_compare(&courses[2 * k], &courses[2 * k + 1]);
    printf("in all: %.2f times faster with %.1f %% of the tets\n", c.faster, 100.0 * c.tets);
  }
  return plot_courses(options, courses, error);
}

// Loads -------------------------------------------------------------------------------------------

#define NUM_LOADS 6
#define NUM_TAUS 2
static const double loads[NUM_LOADS] = {0.03, 0.1, 0.3, 1.0, 3.0, 9.81};
static const char* const taus[NUM_TAUS] = {"0.01", "0.002"};

typedef struct load_row {
  double tets[NUM_LOADS], faster[NUM_LOADS];
} load_row;

// One load with every tau, compared with the finest mesh.
static yw_status try_load(const paper_options* options, int32_t load, load_row* rows,
                          yw_error* error) {
  static fem_course adaptive, finest;
  char gravity[48];
  snprintf(gravity, sizeof gravity, "[0, %g, 0]", -loads[load]);
  fem_case c = bar_case(options, EVEN_FINEST, 12);
  if (!options->quick) c.frames = 60;
  c.num_changes = 1;
  c.changes[0] = (yw_scene_override){"gravity", gravity};
  yw_status status = paper_fem_run(options, &c, &finest, error);
  for (int32_t k = 0; k < NUM_TAUS && status >= 0; ++k) {
    c.body = EVEN;
    c.num_changes = 2;
    c.changes[1] = (yw_scene_override){"models.even.fem.tau", taus[k]};
    status = paper_fem_run(options, &c, &adaptive, error);
    if (status < 0) break;
    fem_comparison r = paper_fem_compare(&adaptive, &finest);
    printf("%10.2f %10s %10.2f %10.1f %10.2f %12.1f %12.2f\n", loads[load], taus[k], 100.0 * r.tets,
           r.faster, 1e3 * r.way, 100.0 * r.error / r.way, 100.0 * r.error / LENGTH);
    rows[k].tets[load] = 100.0 * r.tets;
    rows[k].faster[load] = r.faster;
  }
  return status;
}

yw_status paper_imai_load(const paper_options* options, yw_error* error) {
  static load_row rows[NUM_TAUS];
  int32_t first = options->quick ? 1 : 0, count = options->quick ? 3 : NUM_LOADS;
  printf("\n%10s %10s %10s %10s %10s %12s %12s\n", "g m/s^2", "tau", "tets %", "faster", "sag mm",
         "error % sag", "% of length");
  for (int32_t k = first; k < first + count; ++k) {
    yw_status status = try_load(options, k, rows, error);
    if (status < 0) return status;
  }
  const double* x = loads + first;
  const yw_series series[] = {
      {"tets in use, %, tau = 0.01", count, x, rows[0].tets + first, YW_SERIES_LINE_POINTS, 0,
       false},
      {"times faster, tau = 0.01", count, x, rows[0].faster + first, YW_SERIES_LINE_POINTS, 1,
       false},
      {"tets in use, %, tau = 0.002", count, x, rows[1].tets + first, YW_SERIES_DASHED, 0, false},
      {"times faster, tau = 0.002", count, x, rows[1].faster + first, YW_SERIES_DASHED, 1, false},
  };
  yw_plot plot = yw_default_plot();
  plot.title = "The bar under other loads";
  plot.x = (yw_axis){"gravity", "m/s²", true, (double)NAN, (double)NAN};
  plot.y = (yw_axis){"tets in use (%), times faster", NULL, true, (double)NAN, (double)NAN};
  plot.num_series = 4;
  plot.series = series;
  return paper_write_plot(options, "load", &plot, error);
}

// Variants ----------------------------------------------------------------------------------------

typedef struct variant {
  const char* name;
  int32_t num_changes;
  yw_scene_override changes[4];
} variant;

static const variant variants[] = {
    {"as here", 0, {{0}}},
    {"hanging nodes snapped", 1, {{"bodies[2].fem.hanging", "snap"}}},
    {"refined by range 0.02",
     2,
     {{"bodies[2].fem.refine", "range"}, {"bodies[2].fem.strain_range", "0.02"}}},
    {"tets sampled alone", 1, {{"models.graded.fem.sampling", "standalone"}}},
    {"all three",
     3,
     {{"bodies[2].fem.hanging", "snap"},
      {"bodies[2].fem.refine", "range"},
      {"models.graded.fem.sampling", "standalone"}}},
    // As printed: settled, lines fitted, ranges of these (no limit of our own).
    {"settled (4.2)", 1, {{"models.graded.fem.sampling", "settled"}}},
    {"range of 4.3, settled",
     3,
     {{"bodies[2].fem.refine", "range"},
      {"bodies[2].fem.strain_range", "1000"},
      {"models.graded.fem.sampling", "settled"}}},
    {"the paper, as printed",
     4,
     {{"bodies[2].fem.hanging", "snap"},
      {"bodies[2].fem.refine", "range"},
      {"bodies[2].fem.strain_range", "1000"},
      {"models.graded.fem.sampling", "settled"}}},
};
enum { NUM_VARIANTS = sizeof variants / sizeof variants[0], NUM_QUICK = 5 };

// A bar thrown with spin: the momentum that remains when hanging nodes are carried or snapped.
static yw_status print_flights(const paper_options* options, yw_error* error) {
  static fem_course course;
  static const char* const hanging[] = {"carried", "snap"};
  printf("\n%-24s %14s %14s %10s\n", "thrown, spinning", "thrown, m/s", "0.25 s later", "tets %");
  for (int k = 0; k < 2; ++k) {
    fem_case c = {.scene = "imai/flight.json", .num_bodies = 1, .point = tip, .radius = 0.02};
    c.frames = options->quick ? 15 : 60;
    c.changes[c.num_changes++] = (yw_scene_override){"bodies[0].fem.hanging", hanging[k]};
    yw_status status = paper_fem_run(options, &c, &course, error);
    if (status < 0) return status;
    double tets = 0.0;
    for (int32_t i = 1; i <= course.frames; ++i) tets += course.tets[i] / course.frames;
    printf("%-24s %14.4f %14.4f %10.1f\n", k ? "hanging nodes snapped" : "as here", 1.0,
           sqrt(course.drift[0] * course.drift[0] + course.drift[1] * course.drift[1] +
                course.drift[2] * course.drift[2]),
           100.0 * tets / course.all_tets);
  }
  return YW_OK;
}

yw_status paper_imai_variants(const paper_options* options, yw_error* error) {
  static fem_course courses[NUM_VARIANTS], finest;
  fem_case c = bar_case(options, GRADED_FINEST, 12);
  yw_status status = paper_fem_run(options, &c, &finest, error);
  if (status < 0) return status;
  printf("\n%-24s %10s %12s %12s %10s %10s\n", "graded bar", "tets %", "error % sag", "at end %",
         "sag mm", "faster");
  yw_series series[NUM_VARIANTS + 1];
  static double sag[NUM_VARIANTS + 1][PAPER_FEM_FRAMES + 1];
  // Settling all tets takes long.
  int32_t count = options->quick ? NUM_QUICK : NUM_VARIANTS;
  for (int32_t k = 0; k <= count; ++k) {
    const fem_course* course = k < count ? &courses[k] : &finest;
    if (k < count) {
      c.body = GRADED;
      c.num_changes = variants[k].num_changes;
      memcpy(c.changes, variants[k].changes, sizeof variants[k].changes);
      status = paper_fem_run(options, &c, &courses[k], error);
      if (status < 0) return status;
      fem_comparison r = paper_fem_compare(course, &finest);
      printf("%-24s %10.1f %12.1f %12.1f %10.1f %10.2f\n", variants[k].name, 100.0 * r.tets,
             100.0 * r.error / r.way, 100.0 * r.last_error / r.way,
             -1e3 * (double)course->place[course->frames].y, r.faster);
    }
    for (int32_t i = 0; i <= course->frames; ++i) sag[k][i] = -1e3 * (double)course->place[i].y;
    series[k] = (yw_series){k < count ? variants[k].name : "finest mesh",
                            course->frames + 1,
                            course->time,
                            sag[k],
                            k < count ? YW_SERIES_LINE : YW_SERIES_DASHED,
                            -1,
                            false};
  }
  status = print_flights(options, error);
  if (status < 0) return status;
  yw_plot plot = paper_time_plot("The graded bar: how far its tip sags", count + 1, series);
  plot.y.label = "sag of the tip";
  plot.y.unit = "mm";
  return paper_write_plot(options, "variants", &plot, error);
}
