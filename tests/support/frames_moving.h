// SPDX-License-Identifier: MIT
// A frames bar in motion, driven through the method table without a world.
#ifndef YW_TESTS_SUPPORT_FRAMES_MOVING_H
#define YW_TESTS_SUPPORT_FRAMES_MOVING_H

#include "methods/frames/frames.h"
#include "methods/frames/step.h"
#include "support/frames_testing.h"

// A bar driven through the method table without a world.
typedef struct moving_bar {
  frames_bar bar;
  void *model, *state;
  yw_particles particles;
  const int32_t* order;
  yw_hold* holds;
  yw_method_report report;
  yw_step_ctx ctx;
} moving_bar;

static inline void moving_make(moving_bar* m, int n, yw_frames_kind kind, double young,
                               double poisson, yw_frames_solver solver) {
  *m = (moving_bar){0};
  bar_make(&m->bar, n, kind, poisson, YW_LATTICE_FIVE, 0.0);
  yw_frames_def def = bar_def(&m->bar, kind);
  def.youngs_modulus = (float)young;
  def.params.solver = solver;
  yw_error error = {0};
  if (yw_frames_model_create(NULL, &def, &m->model, &error) < 0) fail_msg("%s", error.message);
  assert_int_equal(yw_frames_method.body_create(m->model, NULL, &m->state, &m->particles, &error),
                   0);
  m->order = yw_frames_method.particle_of_vertex(m->state);
  m->ctx = (yw_step_ctx){.h = 1.0f / 60.0f, .simd = yw_simd_resolve(YW_SIMD_AUTO)};
  m->ctx.report = &m->report;
}

static inline void moving_free(moving_bar* m) {
  yw_frames_method.body_destroy(m->state, &m->particles);
  yw_frames_method.model_destroy(m->model);
  free(m->holds);
  bar_free(&m->bar);
}

// Pins the end at x = 0.
static inline void moving_clamp(moving_bar* m) {
  m->holds = malloc(sizeof *m->holds * m->bar.count);
  int32_t count = 0;
  for (size_t v = 0; v < m->bar.count; ++v) {
    yw_vec3 p = m->bar.mesh.positions[v];
    if (!bar_near(p.x, 0)) continue;
    m->holds[count++] = (yw_hold){.particle = m->order[v], .begin = p, .end = p};
    m->particles.inv_mass[m->order[v]] = 0.0f;
  }
  m->ctx.holds = m->holds;
  m->ctx.num_holds = count;
}

static inline yw_status moving_step(moving_bar* m, int steps) {
  yw_status status = YW_OK;
  for (int s = 0; s < steps && status >= 0; ++s) {
    status = yw_frames_method.advance(m->state, &m->particles, &m->ctx);
  }
  return status;
}

static inline void moving_momenta(const moving_bar* m, double p[3], double l[3]) {
  double mass = 0, c[3] = {0};
  memset(p, 0, 24), memset(l, 0, 24);
  for (int32_t i = 0; i < m->particles.count; ++i) {
    double w = m->particles.mass[i];
    const float *x = &m->particles.pos[i].x, *v = &m->particles.vel[i].x;
    mass += w;
    for (int k = 0; k < 3; ++k) c[k] += w * x[k], p[k] += w * v[k];
  }
  for (int k = 0; k < 3; ++k) c[k] /= mass;
  for (int32_t i = 0; i < m->particles.count; ++i) {
    double w = m->particles.mass[i];
    const float *x = &m->particles.pos[i].x, *v = &m->particles.vel[i].x;
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      l[k] += w * ((x[a] - c[a]) * v[b] - (x[b] - c[b]) * v[a]);
    }
  }
}

static inline double moving_kinetic(const moving_bar* m) {
  double sum = 0;
  for (int32_t i = 0; i < m->particles.count; ++i) {
    sum += 0.5 * m->particles.mass[i] * yw_length2(yw_xyz(m->particles.vel[i]));
  }
  return sum;
}

static inline double norm3(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// A free bar that flies, turns and wobbles keeps both momenta, up to a share of them.
static inline void check_momenta(yw_frames_solver solver, int steps, double tolerance) {
  moving_bar m;
  moving_make(&m, 2, YW_FRAMES_RINGS, 3e5, 0.3, solver);
  for (int32_t i = 0; i < m.particles.count; ++i) {
    yw_vec3 x = yw_xyz(m.particles.pos[i]);
    m.particles.vel[i] = yw_v4((yw_vec3){1 - 2 * x.y, 2 * x.x - 1.5f * x.z, 1.5f * x.y + x.x});
  }
  double p0[3], l0[3], p1[3], l1[3];
  moving_momenta(&m, p0, l0);
  assert_at_least(moving_step(&m, steps), 0);
  moving_momenta(&m, p1, l1);
  double dp[3], dl[3];
  for (int k = 0; k < 3; ++k) dp[k] = p1[k] - p0[k], dl[k] = l1[k] - l0[k];
  assert_at_most(norm3(dp), tolerance * norm3(p0));
  assert_at_most(norm3(dl), tolerance * norm3(l0));
  moving_free(&m);
}

// First natural frequency of the clamped bar as it is discretised, by inverse iteration with the
// equilibrium solver; shape receives the mode (3 per vertex, tip of length 1).
static inline double natural_frequency(frames_bar* bar, double young, double* shape) {
  for (size_t i = 0; i < bar->count; ++i) {
    bool root = bar_near(bar->mesh.positions[i].x, 0);
    for (size_t k = 0; k < 3; ++k) bar->fixed[3 * i + k] = root;
    shape[3 * i] = shape[3 * i + 2] = 0;
    shape[3 * i + 1] = pow(bar->mesh.positions[i].x / BAR_LENGTH, 2);
  }
  double *rest = malloc(24 * bar->count), omega2 = 0;
  memcpy(rest, bar->x, 24 * bar->count);
  const double small = 1e-4;
  for (int round = 0; round < 4; ++round) {
    double before = 0, work = 0;
    for (size_t i = 0; i < 3 * bar->count; ++i) {
      bar->forces[i] = small * BAR_YOUNG * 1e-4 * bar->regions.mass[i / 3] * shape[i];
    }
    memcpy(bar->x, rest, 24 * bar->count);
    bar_solve(bar, 1e-7);
    for (size_t i = 0; i < 3 * bar->count; ++i) {
      double u = bar->x[i] - rest[i];
      work += bar->forces[i] * u;
      before += bar->regions.mass[i / 3] * u * u;
      shape[i] = u;
    }
    omega2 = work / before;
    double tip = shape[3 * bar_vertex(bar, BAR_LENGTH, 0.5, 0.5) + 1];
    for (size_t i = 0; i < 3 * bar->count; ++i) shape[i] /= tip;
  }
  memcpy(bar->x, rest, 24 * bar->count);
  free(rest);
  return sqrt(omega2 * young / BAR_YOUNG);
}

// Frequency and damping rate of the tip, from its zero crossings and turning points.
static inline void vibrate(moving_bar* m, const double* shape, double amplitude, int swings,
                           double* frequency, double* rate) {
  int32_t tip = m->order[bar_vertex(&m->bar, BAR_LENGTH, 0.5, 0.5)];
  for (size_t v = 0; v < m->bar.count; ++v) {
    yw_vec3 u = {(float)(amplitude * shape[3 * v]), (float)(amplitude * shape[3 * v + 1]),
                 (float)(amplitude * shape[3 * v + 2])};
    m->particles.pos[m->order[v]] = yw_v4(yw_add(m->bar.mesh.positions[v], u));
  }
  yw_frames_method.invalidate(m->state, &m->particles);
  double first = 0, last = 0, before = amplitude, time = 0, peak = 0, first_peak = 0;
  int crossings = 0;
  while (crossings <= swings && time < 1000) {
    assert_at_least(moving_step(m, 1), 0);
    time += (double)m->ctx.h;
    double now = (double)m->particles.pos[tip].y - 0.5;
    peak = fmax(peak, fabs(now));
    if (now * before < 0) {
      last = time - (double)m->ctx.h * now / (now - before);
      if (crossings == 0) first = last;
      if (crossings == 1) first_peak = peak;
      ++crossings;
      if (crossings <= swings) peak = 0;
    }
    before = now;
  }
  *frequency = M_PI * swings / (last - first);
  *rate = log(first_peak / peak) / ((last - first) * (swings - 1) / swings);
}

#endif
