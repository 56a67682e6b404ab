// SPDX-License-Identifier: MIT
// Hino, Ding, Mitake, Hasegawa, section 5: position-based dynamics of oriented particles (places,
// orientations, velocities, spins) beside ellipsoids on the springs of a rigid frame.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/paper.h"
#include "reference/oriented.h"
#include "yawara/extend/error.h"

#define PARTICLES 6
#define STEPS 60
#define STEP (1.0 / 60)

// Settings of the position-based loop.
typedef struct setting {
  double stiffness;
  int32_t sweeps;
  const char* name;
} setting;
static const setting settings[] = {
    {0.1, 1, "s = 0.1, 1 sweep"}, {0.5, 3, "s = 0.5, 3 sweeps"}, {0.8, 2, "s = 0.8, 2 sweeps"}};
enum { NUM_SETTINGS = sizeof settings / sizeof settings[0] };

#define NUM_SIZES 6
static const double sizes[NUM_SIZES] = {0.3, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5};

static double random_in(uint64_t* state, double low, double high) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return low + (high - low) * ((double)(*state >> 11) / 9007199254740992.0);
}

// A group near its rest pose, off by about `size` (m and rad; m/s and rad/s times 5).
static void disturb(double size, frames_oriented* p) {
  uint64_t random = 7;
  yw_frames_random_state(37, true, false, p, PARTICLES);
  for (int i = 0; i < PARTICLES; ++i) {
    double way[3];
    for (int k = 0; k < 3; ++k) {
      p[i].x[k] = p[i].rest[k] + size * random_in(&random, -1, 1);
      p[i].v[k] = 5.0 * size * random_in(&random, -1, 1);
      p[i].spin[k] = 5.0 * size * random_in(&random, -1, 1);
      way[k] = size * random_in(&random, -1, 1);
    }
    p[i].turn = yw_turn_mul(yw_turn_exp(way), p[i].rest_turn);
  }
}

typedef struct gap {
  double place, turn;  // largest difference over time, over the size of the disturbance
  double momentum;     // change of the angular momentum of the position-based loop, likewise
} gap;

static double size_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void add_gap(const frames_oriented* a, const frames_oriented* b, gap* out) {
  for (int i = 0; i < PARTICLES; ++i) {
    double way[3], far[3];
    for (int k = 0; k < 3; ++k) far[k] = a[i].x[k] - b[i].x[k];
    yw_turn_log(yw_turn_mul(a[i].turn, yw_turn_conjugate(b[i].turn)), way);
    out->place = fmax(out->place, size_of(far));
    out->turn = fmax(out->turn, size_of(way));
  }
}

static yw_status compare(const setting* s, double size, gap* out, yw_error* error) {
  frames_loop loop = {.scheme = FRAMES_POSITIONS,
                      .h = STEP,
                      .rate = s->stiffness,
                      .sweeps = s->sweeps,
                      .oriented = true};
  frames_loop springs = {.scheme = FRAMES_IMPLICIT, .h = STEP, .oriented = true};
  springs.rate = yw_frames_equivalent_stiffness(&loop, 1.0);
  frames_oriented a[PARTICLES], b[PARTICLES];
  double before[3], after[3];
  *out = (gap){0};
  disturb(size, a);
  memcpy(b, a, sizeof a);
  yw_oriented_angular_momentum(a, PARTICLES, before);
  for (int n = 0; n < STEPS; ++n) {
    if (!yw_oriented_step(&loop, a, PARTICLES) || !yw_oriented_step(&springs, b, PARTICLES)) {
      return yw_fail(error, YW_ERR_DIVERGED, "a step did not converge");
    }
    add_gap(a, b, out);
  }
  yw_oriented_angular_momentum(a, PARTICLES, after);
  for (int k = 0; k < 3; ++k) after[k] -= before[k];
  out->place /= size, out->turn /= size;
  out->momentum = size_of(after) / size_of(before);
  return YW_OK;
}

static yw_status plot_gaps(const paper_options* options, gap (*gaps)[NUM_SIZES], yw_error* error) {
  double place[NUM_SETTINGS][NUM_SIZES], turn[NUM_SETTINGS][NUM_SIZES];
  yw_series series[2 * NUM_SETTINGS];
  char names[NUM_SETTINGS][60];
  for (int i = 0; i < NUM_SETTINGS; ++i) {
    for (int k = 0; k < NUM_SIZES; ++k)
      place[i][k] = gaps[i][k].place, turn[i][k] = gaps[i][k].turn;
    snprintf(names[i], sizeof names[i], "orientations, %s", settings[i].name);
    series[2 * i] =
        (yw_series){settings[i].name, NUM_SIZES, sizes, place[i], YW_SERIES_LINE_POINTS, i, false};
    series[2 * i + 1] = (yw_series){names[i], NUM_SIZES, sizes, turn[i], YW_SERIES_DASHED, i, true};
  }
  yw_plot plot = yw_default_plot();
  plot.title = "Oriented particles beside springs (dashed: orientations)";
  plot.x = (yw_axis){"disturbance", "m, rad", true, (double)NAN, (double)NAN};
  plot.y = (yw_axis){"difference in 60 steps / disturbance", NULL, true, (double)NAN, (double)NAN};
  plot.num_series = 2 * NUM_SETTINGS;
  plot.series = series;
  return paper_write_plot(options, "oriented", &plot, error);
}

yw_status paper_hino_oriented(const paper_options* options, yw_error* error) {
  gap gaps[NUM_SETTINGS][NUM_SIZES];
  printf(
      "\n%d ellipsoids in one group, disturbed; %d steps of 1/60 s: position-based, and implicit\n"
      "Euler of springs with kappa = ((1 - s)^-k - 1) / h^2. Largest difference / disturbance\n",
      PARTICLES, STEPS);
  printf("%-20s %12s", "", "disturbance");
  for (int k = 0; k < NUM_SIZES; ++k) printf(" %9.0e", sizes[k]);
  printf("\n");
  for (int i = 0; i < NUM_SETTINGS; ++i) {
    for (int k = 0; k < NUM_SIZES; ++k) {
      yw_status status = compare(&settings[i], sizes[k], &gaps[i][k], error);
      if (status < 0) return status;
    }
    printf("%-20s %12s", settings[i].name, "places");
    for (int k = 0; k < NUM_SIZES; ++k) printf(" %9.1e", gaps[i][k].place);
    printf("\n%-20s %12s", "", "orientations");
    for (int k = 0; k < NUM_SIZES; ++k) printf(" %9.1e", gaps[i][k].turn);
    printf("\n%-20s %12s", "", "ang. mom.");
    for (int k = 0; k < NUM_SIZES; ++k) printf(" %9.1e", gaps[i][k].momentum);
    printf("\n");
  }
  printf("ang. mom.: change of the angular momentum of the position-based loop, over its size\n");
  return plot_gaps(options, gaps, error);
}
