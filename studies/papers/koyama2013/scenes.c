// SPDX-License-Identifier: MIT
// Figures 8, 9 and 10 of Koyama et al. 2013: a slope, four cylinders, four cars.
#include <math.h>
#include <stdio.h>

#include "papers/paper.h"

// Figure 8: ten cuboids on a slope ----------------------------------------------------------------

// Frames per second in 2013 and 2012; the papers do not say how many steps a frame takes.
#define PAPER_FPS 49.0
#define PAPER_2012_FPS 14.0
#define F8_LEVELS 9
enum { F8_TWIST, F8_SWAY, F8_COLUMNS };

// The largest twist of one half of the bodies and the largest sway of the other.
static void measure_fig8(const paper_take* take, double* row) {
  row[F8_TWIST] = row[F8_SWAY] = 0;
  int32_t half = yw_world_num_bodies(take->world) / 2;
  for (int32_t i = 0; i < 2 * half; ++i) {
    paper_slices slices;
    paper_slice(take->world, paper_body(take, i), F8_LEVELS, &slices);
    if (i < half) row[F8_TWIST] = fmax(row[F8_TWIST], fabs(slices.total_twist));
    if (i >= half) row[F8_SWAY] = fmax(row[F8_SWAY], slices.sway);
  }
}

static void print_fig8(const paper_take* take) {
  int32_t bodies = yw_world_num_bodies(take->world);
  double steps = (double)take->info.frames * take->info.substeps / take->seconds;
  printf("\n%d bodies, %d particles\n", bodies, bodies * paper_particles(take, 0));
  printf("largest twist of the first kind         %6.1f degrees\n",
         paper_peak(take, F8_TWIST, NULL));
  printf("largest sway of the second kind         %6.2f of its length\n",
         paper_peak(take, F8_SWAY, NULL));
  printf(
      "steps per second                        %6.0f  (%.1f times the %.0f frames of the 2013 "
      "paper, %.0f times the %.0f of 2012)\n",
      steps, steps / PAPER_FPS, PAPER_FPS, steps / PAPER_2012_FPS, PAPER_2012_FPS);
  printf("frames per second, %d steps in each      %6.0f  (slowest frame %.1f ms)\n",
         take->info.substeps, take->info.frames / take->seconds, 1e3 * take->worst_step);
}

yw_status paper_fig8(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.0, 0.4, 0.7, 1.1, 1.6, 4.0};
  const paper_script script = {.scene = "koyama2013/fig8.json",
                               .title = "Fig. 8: two kinds of cuboids on a slope",
                               .num_columns = F8_COLUMNS,
                               .measure = measure_fig8,
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 2,
                               .width = 640,
                               .height = 360,
                               .film_every = 2};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  print_fig8(&take);
  paper_take_free(&take);
  return status;
}

// Figures 9 and 10: one body per example ----------------------------------------------------------

#define MAX_BODIES 4
#define SLICES 12

// Per body: distortion, weight of its example, twist, sway, length and width.
enum { DISTORTION, WEIGHT, TWIST, SWAY, LENGTH, WIDTH, PER_BODY };

static void measure_each(const paper_take* take, double* row) {
  for (int32_t i = 0; i < MAX_BODIES; ++i) {
    yw_body_id body = paper_body(take, i);
    paper_slices slices;
    paper_slice(take->world, body, SLICES, &slices);
    double* numbers = row + i * PER_BODY;
    numbers[DISTORTION] = paper_distortion(take->world, body);
    numbers[WEIGHT] = paper_weight(take->world, body, 1, 0, 1);
    numbers[TWIST] = fabs(slices.total_twist);
    numbers[SWAY] = slices.sway;
    numbers[LENGTH] = slices.length;
    numbers[WIDTH] = slices.width;
  }
}

static void print_each(const paper_take* take, const char* const* names) {
  printf("\n%d particles each, %d surface triangles\n", paper_particles(take, 0),
         yw_model_surface(yw_body_model(take->world, paper_body(take, 0)))->num_triangles);
  printf("%-16s %8s %8s %8s %8s %8s %12s\n", "largest", "weight", "twist", "sway", "width",
         "distort", "at the end");
  for (int32_t i = 0; i < MAX_BODIES; ++i) {
    int32_t at = i * PER_BODY;
    printf("%-16s %8.2f %8.1f %8.2f %8.2f %8.2f %12.3f\n", names[i],
           paper_peak(take, at + WEIGHT, NULL), paper_peak(take, at + TWIST, NULL),
           paper_peak(take, at + SWAY, NULL), paper_peak(take, at + WIDTH, NULL),
           paper_peak(take, at + DISTORTION, NULL), paper_last(take, at + DISTORTION));
  }
}

#define NUM_MOMENTS 6

static yw_status play_each(const paper_options* options, const char* scene, const char* title,
                           const double* moments, const char* const* labels, yw_error* error) {
  const paper_script script = {.scene = scene,
                               .title = title,
                               .num_columns = MAX_BODIES * PER_BODY,
                               .measure = measure_each,
                               .num_moments = NUM_MOMENTS,
                               .moments = moments,
                               .sheet_columns = 2,
                               .width = 640,
                               .height = 360,
                               .labels = labels,
                               .film_every = 2};
  static const int32_t columns[MAX_BODIES] = {DISTORTION, PER_BODY + DISTORTION,
                                              2 * PER_BODY + DISTORTION, 3 * PER_BODY + DISTORTION};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  status = paper_plot(&take, "distortion", "Distance from the rest shape",
                      "distance / radius of gyration", NULL, MAX_BODIES, columns, labels, error);
  if (status >= 0) print_each(&take, labels);
  paper_take_free(&take);
  return status;
}

yw_status paper_fig9(const paper_options* options, yw_error* error) {
  static const double moments[NUM_MOMENTS] = {0.0, 0.2, 0.3, 0.4, 0.6, 4.0};
  static const char* const labels[MAX_BODIES] = {"squash", "S-bend", "twist", "bulge"};
  return play_each(options, "koyama2013/fig9.json",
                   "Fig. 9: tubes in cylinders with very different examples", moments, labels,
                   error);
}

yw_status paper_fig10(const paper_options* options, yw_error* error) {
  static const double moments[NUM_MOMENTS] = {0.0, 0.2, 0.3, 0.4, 0.6, 2.5};
  static const char* const labels[MAX_BODIES] = {"plain", "bulge", "arch", "lean"};
  return play_each(options, "koyama2013/fig10.json",
                   "Fig. 10: cars into a wall, plain and with examples", moments, labels, error);
}
