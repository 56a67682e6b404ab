// SPDX-License-Identifier: MIT
// Laws for frames bodies in motion.
#include "support/frames_moving.h"
#include "yawara/frames.h"

// Kernels -----------------------------------------------------------------------------------------

// Forces and stiffness of the float kernels against those in double, at every instruction set.
static void kernels_agree_with_double_precision(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    moving_bar m;
    moving_make(&m, 3, kind, BAR_YOUNG, 0.4, YW_FRAMES_IMPLICIT);
    frames_body* body = m.state;
    const frames_model* model = m.model;
    size_t n = m.bar.count;
    double *g = malloc(24 * n), *d = malloc(24 * n), *kd = malloc(24 * n);
    frames_tangent* c = malloc(sizeof *c * (size_t)m.bar.regions.num_regions);
    test_random random = {4};
    for (size_t v = 0; v < n; ++v) {
      double* x = m.bar.x + 3 * v;
      double turn = 0.5 * x[0], y = x[1], z = x[2];
      x[1] = cos(turn) * y - sin(turn) * z, x[2] = sin(turn) * y + cos(turn) * z;
      float *guess = &body->guess[m.order[v]].x, *direction = &body->direction[m.order[v]].x;
      for (int k = 0; k < 3; ++k) {
        x[k] = (double)(float)(x[k] + test_random_in(&random, -0.02, 0.02));
        guess[k] = (float)x[k];
        direction[k] = (float)test_random_in(&random, -1, 1);
        d[3 * v + (size_t)k] = (double)direction[k];
      }
      body->inverse[m.order[v]] = 1.0f;
    }
    yw_frames_energy(&m.bar.regions, NULL, m.bar.x, g, c, FRAMES_DEFINITE);
    yw_frames_apply(&m.bar.regions, c, 1, d, kd);
    for (int simd = YW_SIMD_PLAIN; simd <= (int)yw_simd_resolve(YW_SIMD_AUTO); ++simd) {
      const frames_kernels* kernels = YW_KERNEL_PICK(yw_frames_kernels, (yw_simd)simd);
      frames_phase phase = {body, model, body->guess, body->residual, body->inverse};
      for (int32_t b = 0; b < model->region_chunks; ++b) kernels->linearise(&phase, b);
      for (int32_t b = 0; b < model->particle_chunks; ++b) kernels->forces(&phase, b);
      phase.x = body->direction, phase.out = body->product;
      for (int32_t b = 0; b < model->region_chunks; ++b) kernels->stiffen(&phase, b);
      for (int32_t b = 0; b < model->particle_chunks; ++b) kernels->multiply(&phase, b);
      double e = 0, s = 0, ek = 0, sk = 0;
      for (size_t v = 0; v < n; ++v) {
        const float *r = &body->residual[m.order[v]].x, *q = &body->product[m.order[v]].x;
        for (size_t k = 0; k < 3; ++k) {
          e += pow((double)r[k] + g[3 * v + k], 2), s += pow(g[3 * v + k], 2);
          ek += pow((double)q[k] - kd[3 * v + k], 2), sk += pow(kd[3 * v + k], 2);
        }
      }
      assert_at_most(sqrt(e / s), 2e-5);
      assert_at_most(sqrt(ek / sk), 2e-5);
    }
    free(g), free(d), free(kd), free(c);
    moving_free(&m);
  }
}

// Motion ------------------------------------------------------------------------------------------

static void free_fall_is_free(void** state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    moving_bar m;
    moving_make(&m, 2, YW_FRAMES_RINGS, 1e5, 0.3, k ? YW_FRAMES_EXTENDED : YW_FRAMES_IMPLICIT);
    m.ctx.gravity = (yw_vec3){0, -9.81f, 0};
    assert_int_equal(moving_step(&m, 30), 0);
    for (int32_t i = 0; i < m.particles.count; ++i) {
      // Velocities that come from positions have their rounding, over a substep.
      assert_near(m.particles.vel[i].y, -9.81 * 0.5, k ? 2e-2 : 1e-4);
    }
    assert_int_equal(m.report.recovered, 0);
    moving_free(&m);
  }
}

// A body that is turned inside out is recovered, and the report says so, whichever solver.
static void inverted_regions_are_counted(void** state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    moving_bar m;
    moving_make(&m, 1, YW_FRAMES_RINGS, 1e5, 0.3, k ? YW_FRAMES_EXTENDED : YW_FRAMES_IMPLICIT);
    for (int32_t i = 0; i < m.particles.count; ++i) m.particles.pos[i].x *= -1;
    yw_frames_method.invalidate(m.state, &m.particles);
    assert_int_equal(moving_step(&m, 1), YW_WARN_NUMERICS);
    assert_at_least(m.report.recovered, m.bar.count / 2);
    moving_free(&m);
  }
}

// A body that spins, twists and vibrates on its own.
static void momentum_and_angular_momentum_are_kept(void** state) {
  (void)state;
  for (int solver = 0; solver < 2; ++solver) check_momenta(solver, 200, 2e-5);
}

static void cantilever_swings_at_the_frequency_of_implicit_euler(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    const double young = 3e7;
    moving_bar m;
    moving_make(&m, 2, kind, young, 0.3, YW_FRAMES_IMPLICIT);
    moving_clamp(&m);
    double *shape = malloc(24 * m.bar.count), w, rate;
    double w0 = natural_frequency(&m.bar, young, shape), h = (double)m.ctx.h;
    vibrate(&m, shape, 0.05, 6, &w, &rate);
    print_message("%s: omega %.4f rad/s, implicit Euler %.4f, model %.4f; damping %.4f, %.4f 1/s\n",
                  kind ? "cells" : "rings", w, atan(h * w0) / h, w0, rate,
                  log(1 + h * h * w0 * w0) / (2 * h));
    assert_near(w / (atan(h * w0) / h), 1, 0.01);
    assert_near(rate / (log(1 + h * h * w0 * w0) / (2 * h)), 1, 0.05);

    // The second-order formula is more accurate and damps far less.
    yw_frames_params params = yw_frames_params_of(m.state);
    params.solver = YW_FRAMES_BDF2;
    assert_int_equal(yw_frames_set_params(m.state, &params), 0);
    memset(m.particles.vel, 0, sizeof(yw_vec4) * (size_t)m.particles.count);
    double w2, rate2;
    vibrate(&m, shape, 0.05, 6, &w2, &rate2);
    print_message("  BDF2: omega %.4f, damping %.4f\n", w2, rate2);
    assert_near(w2 / w0, 1, 0.01);
    assert_at_most(rate2, 0.3 * rate);
    free(shape);
    moving_free(&m);
  }
}

// Amplitudes decay as exp(-damping t / 2), whatever the step.
static void damping_is_a_rate(void** state) {
  (void)state;
  const double young = 1e6;
  double rates[2][2];
  for (int fine = 0; fine < 2; ++fine) {
    for (int damped = 0; damped < 2; ++damped) {
      moving_bar m;
      moving_make(&m, 2, YW_FRAMES_CELLS, young, 0.3, YW_FRAMES_BDF2);
      moving_clamp(&m);
      m.ctx.h = fine ? 1.0f / 240 : 1.0f / 60;
      yw_frames_params params = yw_frames_params_of(m.state);
      params.damping = damped ? 0.6f : 0;
      params.tolerance = 1e-5f;
      yw_frames_set_params(m.state, &params);
      double *shape = malloc(24 * m.bar.count), w;
      natural_frequency(&m.bar, young, shape);
      vibrate(&m, shape, 0.05, 4, &w, &rates[fine][damped]);
      free(shape);
      moving_free(&m);
    }
    assert_near(rates[fine][1] - rates[fine][0], 0.3, 0.015);
  }
}

// Large sag under gravity: the dynamic solver comes to rest at the static equilibrium.
static void a_damped_bar_comes_to_rest_in_equilibrium(void** state) {
  (void)state;
  moving_bar m;
  const double young = 1e6;
  moving_make(&m, 2, YW_FRAMES_RINGS, young, 0.3, YW_FRAMES_IMPLICIT);
  moving_clamp(&m);
  m.ctx.gravity = (yw_vec3){0, -0.5f, 0};
  m.ctx.h = 0.1f;
  yw_frames_params params = yw_frames_params_of(m.state);
  params.damping = 3;
  params.tolerance = 1e-5f;
  yw_frames_set_params(m.state, &params);
  assert_at_least(moving_step(&m, 400), 0);
  for (size_t i = 0; i < m.bar.count; ++i) {
    bool root = bar_near(m.bar.mesh.positions[i].x, 0);
    for (size_t k = 0; k < 3; ++k) m.bar.fixed[3 * i + k] = root;
    m.bar.forces[3 * i + 1] = -0.5 * m.bar.regions.mass[i];
  }
  bar_solve(&m.bar, 1e-6);
  double sag = m.bar.x[3 * bar_vertex(&m.bar, BAR_LENGTH, 0.5, 0.5) + 1] - 0.5, most = 0;
  for (size_t v = 0; v < m.bar.count; ++v) {
    const float* x = &m.particles.pos[m.order[v]].x;
    for (size_t k = 0; k < 3; ++k) most = fmax(most, fabs((double)x[k] - m.bar.x[3 * v + k]));
  }
  assert_true(sag < -0.3);
  assert_at_most(most, 1e-3 * fabs(sag));
  moving_free(&m);
}

static void springs_pull_with_their_stiffness(void** state) {
  (void)state;
  moving_bar m;
  moving_make(&m, 1, YW_FRAMES_RINGS, 1e8, 0.3, YW_FRAMES_IMPLICIT);
  m.ctx.gravity = (yw_vec3){0, -9.81f, 0};
  yw_spring* springs = malloc(sizeof *springs * m.bar.count);
  const double k = 1e5;
  for (size_t v = 0; v < m.bar.count; ++v) {
    yw_vec3 p = m.bar.mesh.positions[v];
    springs[v] = (yw_spring){m.order[v], (float)(k * m.bar.regions.mass[v]), 0, p, p};
    springs[v].damping = springs[v].stiffness * 0.01f;
  }
  m.ctx.springs = springs;
  m.ctx.num_springs = (int32_t)m.bar.count;
  assert_at_least(moving_step(&m, 200), 0);
  for (size_t v = 0; v < m.bar.count; ++v) {
    double fall = (double)m.particles.pos[m.order[v]].y - (double)m.bar.mesh.positions[v].y;
    assert_near(fall / (-9.81 / k), 1, 0.02);
  }
  free(springs);
  moving_free(&m);
}

static double energy_of(const moving_bar* m) {
  double* x = malloc(24 * m->bar.count);
  double energy = 0;
  for (size_t v = 0; v < m->bar.count; ++v) {
    yw_vec4 p = m->particles.pos[m->order[v]], u = m->particles.vel[m->order[v]];
    x[3 * v] = p.x, x[3 * v + 1] = p.y, x[3 * v + 2] = p.z;
    energy += 0.5 * m->particles.mass[m->order[v]] * yw_dot(yw_xyz(u), yw_xyz(u));
  }
  energy += yw_frames_energy(&m->bar.regions, NULL, x, NULL, NULL, FRAMES_EXACT);
  free(x);
  return energy;
}

// Inverted, flattened and scattered bodies stay within their size and lose energy.
static void scrambled_bodies_calm_down(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    for (int how = 0; how < 3; ++how) {
      moving_bar m;
      moving_make(&m, 2, kind, 1e5, 0.4, YW_FRAMES_IMPLICIT);
      double farthest = 0;
      for (size_t v = 0; v < m.bar.count; ++v) {
        farthest = fmax(farthest, (double)yw_length(m.bar.mesh.positions[v]));
      }
      test_random random = {17};
      for (int32_t i = 0; i < m.particles.count; ++i) {
        yw_vec4* x = &m.particles.pos[i];
        if (how == 0) x->x = -x->x;
        if (how == 1) x->y = 0;
        if (how == 2) {
          *x = yw_v4((yw_vec3){(float)test_random_in(&random, 0, 2),
                               (float)test_random_in(&random, 0, 2),
                               (float)test_random_in(&random, 0, 2)});
        }
      }
      yw_frames_method.invalidate(m.state, &m.particles);
      const double before = energy_of(&m);
      assert_at_least(moving_step(&m, 60), 0);
      assert_at_most(energy_of(&m), 0.5 * before);
      for (int32_t i = 0; i < m.particles.count; ++i) {
        assert_at_most(yw_length(yw_xyz(m.particles.pos[i])), 1.1 * farthest);
      }
      moving_free(&m);
    }
  }
}

static void scatter(moving_bar* m) {
  test_random random = {17};
  for (int32_t i = 0; i < m->particles.count; ++i) {
    float* x = &m->particles.pos[i].x;
    for (int k = 0; k < 3; ++k) x[k] = (float)test_random_in(&random, 0, 2);
  }
  yw_frames_method.invalidate(m->state, &m->particles);
}

// Every large step from a state far from equilibrium loses energy.
static void scattered_bodies_lose_energy_in_every_step(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    moving_bar m;
    moving_make(&m, 2, kind, BAR_YOUNG, 0.45, YW_FRAMES_IMPLICIT);
    m.ctx.h = 0.1f;
    scatter(&m);
    double energy = energy_of(&m);
    for (int step = 0; step < 20; ++step) {
      m.report = (yw_method_report){0};
      yw_status status = moving_step(&m, 1);
      assert_int_equal(status, m.report.recovered + m.report.stalled > 0 ? YW_WARN_NUMERICS : 0);
      double after = energy_of(&m);
      assert_at_most(after, energy);
      energy = after;
    }
    moving_free(&m);
  }
}

// A nearly incompressible, scattered body cannot be solved to six digits in one step: the step is
// repeated in smaller ones, and the report says so.
static void stalled_solves_are_done_again_in_smaller_steps(void** state) {
  (void)state;
  moving_bar m;
  moving_make(&m, 2, YW_FRAMES_RINGS, BAR_YOUNG, 0.49999, YW_FRAMES_IMPLICIT);
  m.ctx.h = 1.0f;
  yw_frames_params params = yw_frames_params_of(m.state);
  params.tolerance = 1e-6f;
  assert_int_equal(yw_frames_set_params(m.state, &params), YW_OK);
  scatter(&m);
  double energy = energy_of(&m);
  assert_int_equal(moving_step(&m, 1), YW_WARN_NUMERICS);
  assert_at_least(m.report.stalled, 1);
  assert_at_most(energy_of(&m), 0.5 * energy);
  moving_free(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_agree_with_double_precision),
      cmocka_unit_test(free_fall_is_free),
      cmocka_unit_test(inverted_regions_are_counted),
      cmocka_unit_test(momentum_and_angular_momentum_are_kept),
      cmocka_unit_test(cantilever_swings_at_the_frequency_of_implicit_euler),
      cmocka_unit_test(damping_is_a_rate),
      cmocka_unit_test(a_damped_bar_comes_to_rest_in_equilibrium),
      cmocka_unit_test(springs_pull_with_their_stiffness),
      cmocka_unit_test(scrambled_bodies_calm_down),
      cmocka_unit_test(scattered_bodies_lose_energy_in_every_step),
      cmocka_unit_test(stalled_solves_are_done_again_in_smaller_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
