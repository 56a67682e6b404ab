// SPDX-License-Identifier: MIT
// Position-based solvers of frames bodies.
#include "support/frames_moving.h"
#include "yawara/frames.h"

static void moving_set(moving_bar* m, yw_frames_solver solver, int substeps, int sweeps,
                       float stiffness) {
  yw_frames_params params = yw_frames_params_of(m->state);
  params.solver = solver;
  params.substeps = substeps;
  params.sweeps = sweeps;
  params.stiffness = stiffness;
  params.tolerance = 1e-6f;
  assert_int_equal(yw_frames_set_params(m->state, &params), 0);
}

// Many sweeps of one step converge to the implicit solver.
static void sweeps_converge_to_implicit_euler(void** state) {
  (void)state;
  moving_bar a, b;
  double most = 0, moved = 0;
  moving_make(&a, 2, YW_FRAMES_CELLS, 1e6, 0.3, YW_FRAMES_IMPLICIT);
  moving_make(&b, 2, YW_FRAMES_CELLS, 1e6, 0.3, YW_FRAMES_IMPLICIT);
  moving_set(&a, YW_FRAMES_IMPLICIT, 1, 1, 0);
  moving_set(&b, YW_FRAMES_EXTENDED, 1, 600, 0);
  moving_clamp(&a);
  moving_clamp(&b);
  a.ctx.gravity = b.ctx.gravity = (yw_vec3){0, -2, 1};
  for (int step = 0; step < 10; ++step) {
    assert_at_least(moving_step(&a, 1), 0);
    assert_at_least(moving_step(&b, 1), 0);
  }
  for (size_t v = 0; v < a.bar.count; ++v) {
    yw_vec3 x = yw_xyz(a.particles.pos[a.order[v]]), y = yw_xyz(b.particles.pos[b.order[v]]);
    most = fmax(most, (double)yw_distance(x, y));
    moved = fmax(moved, (double)yw_distance(x, a.bar.mesh.positions[v]));
  }
  assert_at_most(most / moved, 0.01);
  moving_free(&a);
  moving_free(&b);
}

// Several sweeps that remember their pulls give the same bits at every width of vectors.
static void sweeps_have_the_same_bits_at_any_width(void** state) {
  (void)state;
  const yw_simd levels[3] = {YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};
  for (int kind = 0; kind < 2; ++kind) {
    yw_vec4* first = NULL;
    for (int k = 0; k < 3; ++k) {
      if (yw_simd_resolve(levels[k]) != levels[k]) continue;
      moving_bar m;
      moving_make(&m, 2, kind, 1e6, 0.3, YW_FRAMES_IMPLICIT);
      moving_set(&m, YW_FRAMES_EXTENDED, 2, 4, 0);
      moving_clamp(&m);
      m.ctx.simd = levels[k];
      m.ctx.gravity = (yw_vec3){0, -2, 1};
      for (int step = 0; step < 5; ++step) assert_at_least(moving_step(&m, 1), 0);
      const size_t bytes = (size_t)m.particles.count * sizeof *first;
      if (!first) {
        first = malloc(bytes);
        memcpy(first, m.particles.pos, bytes);
      }
      assert_memory_equal(m.particles.pos, first, bytes);
      moving_free(&m);
    }
    free(first);
  }
}

// Stiffness is that of the material, whatever the number of steps; classic stiffness is not.
static void extended_frequency_is_that_of_the_material(void** state) {
  (void)state;
  const double young = 1e6;
  for (int kind = 0; kind < 2; ++kind) {
    moving_bar m;
    moving_make(&m, 2, kind, young, 0.3, YW_FRAMES_IMPLICIT);
    moving_clamp(&m);
    double *shape = malloc(24 * m.bar.count), w, rate;
    double w0 = natural_frequency(&m.bar, young, shape);
    for (int steps = 10; steps <= 20; steps *= 2) {
      moving_set(&m, YW_FRAMES_EXTENDED, steps, 1, 0);
      memset(m.particles.vel, 0, sizeof(yw_vec4) * (size_t)m.particles.count);
      vibrate(&m, shape, 0.2, 2, &w, &rate);
      print_message("%s, %d steps: omega %.4f against %.4f\n", kind ? "cells" : "rings", steps, w,
                    w0);
      // The remainder term of rings differs from that of the implicit solver.
      assert_near(w / w0, 1, kind == YW_FRAMES_CELLS ? 0.01 : 0.025);
    }
    free(shape);
    moving_free(&m);
  }
}

static void classic_stiffness_grows_with_the_number_of_steps(void** state) {
  (void)state;
  moving_bar m;
  moving_make(&m, 2, YW_FRAMES_CELLS, 1e6, 0.0, YW_FRAMES_CLASSIC);
  moving_clamp(&m);
  double *shape = malloc(24 * m.bar.count), w[2], rate;
  natural_frequency(&m.bar, 1e6, shape);
  for (int k = 0; k < 2; ++k) {
    moving_set(&m, YW_FRAMES_CLASSIC, k ? 2 : 1, 1, 0.1f);
    memset(m.particles.vel, 0, sizeof(yw_vec4) * (size_t)m.particles.count);
    vibrate(&m, shape, 0.05, 2, &w[k], &rate);
  }
  assert_near(w[1] / w[0], 2, 0.1);
  free(shape);
  moving_free(&m);
}

static void positions_keep_momentum_and_angular_momentum(void** state) {
  (void)state;
  for (int solver = YW_FRAMES_EXTENDED; solver <= YW_FRAMES_CLASSIC; ++solver) {
    check_momenta(solver, 20, 1e-4);
  }
}

static void scrambled_bodies_stay_finite(void** state) {
  (void)state;
  for (int solver = YW_FRAMES_EXTENDED; solver <= YW_FRAMES_CLASSIC; ++solver) {
    moving_bar m;
    moving_make(&m, 2, YW_FRAMES_RINGS, 1e5, 0.4, solver);
    test_random random = {17};
    for (int32_t i = 0; i < m.particles.count; ++i) {
      float* x = &m.particles.pos[i].x;
      for (int k = 0; k < 3; ++k) x[k] = (float)test_random_in(&random, 0, 2);
    }
    assert_at_least(moving_step(&m, 60), 0);
    for (int32_t i = 0; i < m.particles.count; ++i) {
      assert_at_most(yw_length(yw_xyz(m.particles.pos[i])), 20);
    }
    moving_free(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sweeps_have_the_same_bits_at_any_width),
      cmocka_unit_test(sweeps_converge_to_implicit_euler),
      cmocka_unit_test(extended_frequency_is_that_of_the_material),
      cmocka_unit_test(classic_stiffness_grows_with_the_number_of_steps),
      cmocka_unit_test(positions_keep_momentum_and_angular_momentum),
      cmocka_unit_test(scrambled_bodies_stay_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
