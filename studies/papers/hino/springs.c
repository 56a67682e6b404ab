// SPDX-License-Identifier: MIT
// Hino, Ding, Mitake, Hasegawa: the theorem as a table of residuals, and the effect of
// position-based steps on the frequency of a group.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers/paper.h"
#include "reference/oriented.h"
#include "yawara/extend/error.h"

#define PI 3.14159265358979323846

// The theorem -------------------------------------------------------------------------------------

#define STATES 2000
#define QUICK_STATES 200
#define MOST_PARTICLES 12

typedef struct residuals {
  double force, torque, others_torque;  // largest
  double stable, others;                // smallest, largest
} residuals;

static int compare_doubles(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

// Largest residuals over many random states; stable and others get one number per state.
static residuals try_states(int32_t states, bool oriented, bool reflected, double* stable,
                            double* others) {
  residuals r = {.stable = INFINITY, .others = -INFINITY};
  for (int32_t i = 0; i < states; ++i) {
    frames_oriented particles[MOST_PARTICLES];
    int32_t count = oriented ? 2 + i % 11 : 4 + i % 9;
    yw_frames_random_state((uint64_t)i, oriented, reflected, particles, count);
    frames_theorem t = yw_frames_theorem(particles, count);
    r.force = fmax(r.force, t.force);
    r.torque = fmax(r.torque, t.torque);
    r.others_torque = fmax(r.others_torque, t.others_torque);
    r.stable = fmin(r.stable, t.stable);
    r.others = fmax(r.others, t.others);
    stable[i] = t.stable, others[i] = t.others;
  }
  qsort(stable, (size_t)states, sizeof *stable, compare_doubles);
  qsort(others, (size_t)states, sizeof *others, compare_doubles);
  return r;
}

static yw_status plot_stability(const paper_options* options, int32_t states,
                                double (*stable)[STATES], double (*others)[STATES],
                                yw_error* error) {
  static double x[STATES];
  for (int32_t i = 0; i < states; ++i) x[i] = 100.0 * (i + 0.5) / states;
  const yw_series series[] = {
      {"polar(A), points", states, x, stable[0], YW_SERIES_LINE, 0, false},
      {"polar(A), ellipsoids", states, x, stable[2], YW_SERIES_DASHED, 0, false},
      {"best of the other three, points", states, x, others[0], YW_SERIES_LINE, 1, false},
      {"best of the other three, ellipsoids", states, x, others[2], YW_SERIES_DASHED, 1, false},
  };
  yw_plot plot = yw_default_plot();
  plot.title = "Of four equilibria of a frame one is stable";
  plot.x.label = "share of random states";
  plot.x.unit = "%";
  plot.y.label = "least stiffness against rotation, over tr |S|";
  plot.num_series = 4;
  plot.series = series;
  return paper_write_plot(options, "stability", &plot, error);
}

yw_status paper_hino_theorem(const paper_options* options, yw_error* error) {
  static double stable[4][STATES], others[4][STATES];
  static const char* const names[] = {"points", "points, reflected", "ellipsoids",
                                      "ellipsoids, reflected"};
  int32_t states = options->quick ? QUICK_STATES : STATES;
  printf("\n%d random states each, largest values         polar(A)             the other three\n",
         states);
  printf("%-24s %10s %10s %12s %12s %12s\n", "", "force", "torque", "stiffness", "torque",
         "stiffness");
  for (int k = 0; k < 4; ++k) {
    residuals r = try_states(states, k >= 2, k % 2 == 1, stable[k], others[k]);
    printf("%-24s %10.1e %10.1e %12.1e %12.1e %12.1e\n", names[k], r.force, r.torque, r.stable,
           r.others_torque, r.others);
  }
  printf(
      "force, torque: net, of the springs on the frame, over the sum of their sizes\n"
      "stiffness: least resistance of the frame to rotation, over tr |S|: worst case; below 0 is "
      "unstable\n");
  return plot_stability(options, states, stable, others, error);
}

// Frequencies -------------------------------------------------------------------------------------

// Settings that agree at 1/60 s: kappa = 900 / s^2.
#define ALPHA 0.25
#define SWEEP 0.2
#define KAPPA 900.0
#define STEPS 60
#define NUM_STEPS 5

enum { MATCHING, POSITIONS, SYMPLECTIC, IMPLICIT, NUM_SCHEMES };
static const char* const scheme_names[NUM_SCHEMES] = {
    "shape matching, alpha = 0.25", "position-based, s = 0.2", "springs, symplectic Euler",
    "springs, implicit Euler"};

static frames_loop loop_of(int scheme, double h) {
  static const frames_scheme schemes[] = {FRAMES_MATCHING, FRAMES_POSITIONS, FRAMES_SYMPLECTIC,
                                          FRAMES_IMPLICIT};
  static const double rates[] = {ALPHA, SWEEP, KAPPA, KAPPA};
  return (frames_loop){.scheme = schemes[scheme], .h = h, .rate = rates[scheme], .sweeps = 1};
}

// rad/s, by the table in docs/methods/frames.md.
static double analytic(int scheme, double h) {
  frames_loop loop = loop_of(scheme, h);
  double kappa = KAPPA;
  if (scheme < SYMPLECTIC) kappa = yw_frames_equivalent_stiffness(&loop, 1.0);
  double w = sqrt(kappa);
  bool implicit = scheme == POSITIONS || scheme == IMPLICIT;
  return implicit ? atan(h * w) / h : acos(1.0 - 0.5 * h * h * kappa) / h;
}

// a_{n+1} = p a_n + q a_{n-1} for any damped oscillation: least squares, then the roots' angle.
static double frequency_of(const double* a, int count, double h) {
  double m[3] = {0}, r[2] = {0};
  for (int n = 1; n + 1 < count; ++n) {
    m[0] += a[n] * a[n], m[1] += a[n] * a[n - 1], m[2] += a[n - 1] * a[n - 1];
    r[0] += a[n] * a[n + 1], r[1] += a[n - 1] * a[n + 1];
  }
  double det = m[0] * m[2] - m[1] * m[1];
  double p = (m[2] * r[0] - m[1] * r[1]) / det, q = (m[0] * r[1] - m[1] * r[0]) / det;
  return atan2(sqrt(fmax(-q - 0.25 * p * p, 0.0)), 0.5 * p) / h;
}

// A cube of eight particles, released slightly stretched along x.
static yw_status simulate(int scheme, double h, double* frequency, yw_error* error) {
  frames_oriented particles[8] = {{0}};
  double length[STEPS];
  for (int i = 0; i < 8; ++i) {
    frames_oriented* p = &particles[i];
    p->mass = 1.0;
    p->turn.w = p->rest_turn.w = 1.0;
    for (int k = 0; k < 3; ++k) p->x[k] = p->rest[k] = (i >> k & 1) - 0.5;
    p->x[0] *= 1.0 + 1e-4;
  }
  frames_loop loop = loop_of(scheme, h);
  for (int n = 0; n < STEPS; ++n) {
    length[n] = particles[1].x[0] - particles[0].x[0] - 1.0;
    if (!yw_oriented_step(&loop, particles, 8)) {
      return yw_fail(error, YW_ERR_DIVERGED, "a step of %g s did not converge", h);
    }
  }
  *frequency = frequency_of(length, STEPS, h);
  return YW_OK;
}

static yw_status plot_frequencies(const paper_options* options, const double* steps,
                                  double (*measured)[NUM_STEPS], yw_error* error) {
  enum { POINTS = 60 };
  double x[POINTS], curve[NUM_SCHEMES][POINTS], dots[NUM_SCHEMES][NUM_STEPS], at[NUM_STEPS];
  for (int i = 0; i < POINTS; ++i) {
    x[i] = 30.0 * pow(16.0, i / (POINTS - 1.0));
    for (int k = 0; k < NUM_SCHEMES; ++k) curve[k][i] = analytic(k, 1.0 / x[i]) / (2.0 * PI);
  }
  yw_series series[2 * NUM_SCHEMES];
  char names[NUM_SCHEMES][60];
  for (int k = 0; k < NUM_SCHEMES; ++k) {
    for (int i = 0; i < NUM_STEPS; ++i) {
      at[i] = 1.0 / steps[i];
      dots[k][i] = measured[k][i] / (2.0 * PI);
    }
    snprintf(names[k], sizeof names[k], "%s: formula", scheme_names[k]);
    series[2 * k] = (yw_series){names[k], POINTS, x, curve[k], YW_SERIES_LINE, k, true};
    series[2 * k + 1] =
        (yw_series){scheme_names[k], NUM_STEPS, at, dots[k], YW_SERIES_POINTS, k, false};
  }
  yw_plot plot = yw_default_plot();
  plot.title = "Frequency of a group against time step (lines: formulas)";
  plot.x = (yw_axis){"steps per second", NULL, true, (double)NAN, (double)NAN};
  plot.y = (yw_axis){"frequency", "Hz", true, (double)NAN, (double)NAN};
  plot.num_series = 2 * NUM_SCHEMES;
  plot.series = series;
  return paper_write_plot(options, "frequency", &plot, error);
}

yw_status paper_hino_frequency(const paper_options* options, yw_error* error) {
  static const double steps[NUM_STEPS] = {1.0 / 30, 1.0 / 60, 1.0 / 120, 1.0 / 240, 1.0 / 480};
  double measured[NUM_SCHEMES][NUM_STEPS], worst = 0.0;
  printf("\nfrequency over that of the springs (%.4f Hz)\n%-32s", sqrt(KAPPA) / (2.0 * PI), "");
  for (int i = 0; i < NUM_STEPS; ++i) printf("   1/%-3.0f s", 1.0 / steps[i]);
  printf("\n");
  for (int k = 0; k < NUM_SCHEMES; ++k) {
    printf("%-32s", scheme_names[k]);
    for (int i = 0; i < NUM_STEPS; ++i) {
      yw_status status = simulate(k, steps[i], &measured[k][i], error);
      if (status < 0) return status;
      worst = fmax(worst, fabs(measured[k][i] / analytic(k, steps[i]) - 1.0));
      printf(" %9.4f", measured[k][i] / sqrt(KAPPA));
    }
    printf("\n");
  }
  printf("largest difference from the formulas: %.1e\n", worst);
  return plot_frequencies(options, steps, measured, error);
}
