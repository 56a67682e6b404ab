// SPDX-License-Identifier: MIT
// Figures 1, 5 and 7 of Koyama et al. 2013: a cuboid of 225 particles and its twisted example.
#include <math.h>
#include <stdio.h>

#include "papers/paper.h"
#include "yawara/extend/error.h"
#include "yawara/match.h"

#define NUM_EXAMPLES 1
#define LEVELS 9  // of vertices along the cuboid

static double twist_of(const paper_take* take, int32_t body) {
  paper_slices slices;
  paper_slice(take->world, paper_body(take, body), LEVELS, &slices);
  return slices.total_twist;
}

static double length_of(const paper_take* take, int32_t body) {
  paper_slices slices;
  paper_slice(take->world, paper_body(take, body), LEVELS, &slices);
  return slices.length;
}

// Figure 1: dropped, plain and with the example ---------------------------------------------------

enum { F1_PLAIN_TWIST, F1_TWIST, F1_WEIGHT, F1_PLAIN_LENGTH, F1_LENGTH, F1_COLUMNS };

static void measure_fig1(const paper_take* take, double* row) {
  row[F1_PLAIN_TWIST] = twist_of(take, 0);
  row[F1_TWIST] = twist_of(take, 1);
  row[F1_WEIGHT] = paper_weight(take->world, paper_body(take, 1), NUM_EXAMPLES, 0, 1);
  row[F1_PLAIN_LENGTH] = length_of(take, 0);
  row[F1_LENGTH] = length_of(take, 1);
}

static void print_fig1(const paper_take* take) {
  double when, lowest[2] = {1, 1};
  for (int32_t k = 0; k <= take->info.frames; ++k) {
    lowest[0] = fmin(lowest[0], paper_value(take, k, F1_PLAIN_LENGTH));
    lowest[1] = fmin(lowest[1], paper_value(take, k, F1_LENGTH));
  }
  paper_peak(take, F1_TWIST, &when);
  printf("\n%d particles each          plain   with example\n", paper_particles(take, 0));
  printf("largest twist (degrees)   %6.1f   %6.1f  (at %.2f s)\n",
         paper_peak(take, F1_PLAIN_TWIST, NULL), paper_peak(take, F1_TWIST, NULL), when);
  printf("twist at the end          %6.1f   %6.1f\n", paper_last(take, F1_PLAIN_TWIST),
         paper_last(take, F1_TWIST));
  printf("shortest (of its length)  %6.2f   %6.2f\n", lowest[0], lowest[1]);
  printf("largest weight of example      -   %6.2f\n", paper_peak(take, F1_WEIGHT, NULL));
}

yw_status paper_fig1(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.0, 0.25, 0.35, 0.45, 0.55, 0.7, 1.8, 5.0};
  static const char* const labels[] = {"plain", "twisted example"};
  const paper_script script = {.scene = "koyama2013/fig1.json",
                               .title = "Fig. 1: a cuboid dropped, plain and with an example",
                               .num_columns = F1_COLUMNS,
                               .measure = measure_fig1,
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 4,
                               .width = 400,
                               .height = 360,
                               .labels = labels,
                               .film_every = 2};
  static const int32_t twists[] = {F1_PLAIN_TWIST, F1_TWIST}, weights[] = {F1_WEIGHT};
  static const char* const names[] = {"plain", "with example"};
  static const char* const weight_names[] = {"twisted example"};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  status = paper_plot(&take, "twist", "Twist between the ends", "twist", "degrees", 2, twists,
                      names, error);
  if (status >= 0) {
    status = paper_plot(&take, "weight", "Weight of the example", "weight", NULL, 1, weights,
                        weight_names, error);
  }
  if (status >= 0) print_fig1(&take);
  paper_take_free(&take);
  return status;
}

// Figure 5: at rest on the floor, from beta 0 to 1 ------------------------------------------------

#define F5_BODIES 8
enum { F5_TWIST = 0, F5_LENGTH = F5_BODIES, F5_WEIGHT = 2 * F5_BODIES, F5_COLUMNS = 3 * F5_BODIES };

static void measure_fig5(const paper_take* take, double* row) {
  for (int32_t i = 0; i < F5_BODIES; ++i) {
    row[F5_TWIST + i] = twist_of(take, i);
    row[F5_LENGTH + i] = length_of(take, i);
    row[F5_WEIGHT + i] = paper_weight(take->world, paper_body(take, i), NUM_EXAMPLES, 0, 1);
  }
}

static yw_status plot_fig5(const paper_take* take, const double* betas, yw_error* error) {
  double twists[F5_BODIES];
  for (int32_t i = 0; i < F5_BODIES; ++i) twists[i] = paper_last(take, F5_TWIST + i);
  const yw_series series = {NULL, F5_BODIES, betas, twists, YW_SERIES_LINE_POINTS, 0, false};
  yw_plot plot = yw_default_plot();
  plot.title = "Twist at rest under gravity";
  plot.x.label = "β";
  plot.y.label = "twist";
  plot.y.unit = "degrees";
  plot.num_series = 1;
  plot.series = &series;
  return paper_write_plot(take->options, "twist", &plot, error);
}

yw_status paper_fig5(const paper_options* options, yw_error* error) {
  static const double moments[] = {4.0};
  static const char* const labels[F5_BODIES] = {"β = 0", "0.5",  "0.8",   "0.9",
                                                "0.95",  "0.99", "0.995", "1"};
  const paper_script script = {.scene = "koyama2013/fig5.json",
                               .title = "Fig. 5: at rest under gravity, for growing β",
                               .num_columns = F5_COLUMNS,
                               .measure = measure_fig5,
                               .num_moments = 1,
                               .moments = moments,
                               .sheet_columns = 1,
                               .width = 1280,
                               .height = 320,
                               .labels = labels,
                               .film_every = 4};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  double betas[F5_BODIES];
  printf("\n  beta   twist (degrees)   length   weight of the example\n");
  for (int32_t i = 0; i < F5_BODIES; ++i) {
    yw_match_params params = {0};
    yw_body_match_params(take.world, paper_body(&take, i), &params);
    betas[i] = (double)params.beta;
    printf("%6.3f   %15.1f   %6.3f   %6.3f\n", betas[i], paper_last(&take, F5_TWIST + i),
           paper_last(&take, F5_LENGTH + i), paper_last(&take, F5_WEIGHT + i));
  }
  status = plot_fig5(&take, betas, error);
  paper_take_free(&take);
  return status;
}

// Figure 7: one group for the whole body against one per region -----------------------------------

#define PIECES (LEVELS - 1)
enum {
  F7_GLOBAL = 0,
  F7_REGIONS = PIECES,
  F7_SPREAD = 2 * PIECES,
  F7_TOTAL,
  F7_TOTAL_REGIONS,
  F7_COLUMNS
};

static void measure_fig7(const paper_take* take, double* row) {
  paper_slices slices[2];
  double mean;
  for (int32_t i = 0; i < 2; ++i) {
    paper_slice(take->world, paper_body(take, i), LEVELS, &slices[i]);
    for (int32_t k = 0; k < PIECES; ++k) row[i * PIECES + k] = slices[i].twist[k];
    row[F7_TOTAL + i] = slices[i].total_twist;
  }
  paper_weight_spread(take->world, paper_body(take, 1), NUM_EXAMPLES, 1, &mean, &row[F7_SPREAD]);
}

// Standard deviation divided by mean of the pieces from `first` on.
static double unevenness(const paper_take* take, int32_t frame, int32_t first) {
  double sum = 0, squares = 0;
  for (int32_t k = 0; k < PIECES; ++k) {
    double twist = paper_value(take, frame, first + k);
    sum += twist;
    squares += twist * twist;
  }
  double mean = sum / PIECES;
  return mean > 0 ? sqrt(fmax(0.0, squares / PIECES - mean * mean)) / mean : 0.0;
}

static yw_status show_fig7(const paper_take* take, yw_error* error) {
  double when, pieces[PIECES], twists[2][PIECES];
  paper_peak(take, F7_SPREAD, &when);
  int32_t frame = (int32_t)lrint(when * (double)take->info.fps);
  printf("\nin the first impact, at %.2f s            global   per region\n", when);
  printf("twist between the ends (degrees)       %7.1f   %7.1f\n",
         paper_value(take, frame, F7_TOTAL), paper_value(take, frame, F7_TOTAL_REGIONS));
  for (int32_t k = 0; k < PIECES; ++k) {
    pieces[k] = k + 1;
    twists[0][k] = paper_value(take, frame, F7_GLOBAL + k);
    twists[1][k] = paper_value(take, frame, F7_REGIONS + k);
    printf("  twist of piece %d of %d from below      %7.1f   %7.1f\n", k + 1, PIECES, twists[0][k],
           twists[1][k]);
  }
  printf("unevenness (deviation / mean)          %7.2f   %7.2f\n",
         unevenness(take, frame, F7_GLOBAL), unevenness(take, frame, F7_REGIONS));
  printf("deviation of the weights over regions  %7.2f   %7.2f\n", 0.0,
         paper_value(take, frame, F7_SPREAD));
  const yw_series series[2] = {
      {"global", PIECES, pieces, twists[0], YW_SERIES_LINE_POINTS, -1, false},
      {"per region", PIECES, pieces, twists[1], YW_SERIES_LINE_POINTS, -1, false}};
  yw_plot plot = yw_default_plot();
  plot.title = "Twist along the body in the impact";
  plot.x.label = "piece, from below";
  plot.y.label = "twist";
  plot.y.unit = "degrees";
  plot.num_series = 2;
  plot.series = series;
  return paper_write_plot(take->options, "twist", &plot, error);
}

yw_status paper_fig7(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.25, 0.3, 0.35, 0.45, 0.55, 0.7};
  static const char* const labels[] = {"global", "per region"};
  const paper_script script = {.scene = "koyama2013/fig7.json",
                               .title = "Fig. 7: one group for all regions, one group per region",
                               .num_columns = F7_COLUMNS,
                               .measure = measure_fig7,
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 3,
                               .width = 400,
                               .height = 360,
                               .labels = labels,
                               .film_every = 2};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  status = show_fig7(&take, error);
  paper_take_free(&take);
  return status;
}
