// SPDX-License-Identifier: MIT
// The implicit step against the plain scalar reference of the benchmarks.
#include "reference/frames_reference.h"

#include "support/frames_moving.h"
#include "yawara/frames.h"

// A clamped bar falls and swings: both give the same motion, up to rounding and tolerance.
static void the_step_is_that_of_the_reference(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    moving_bar m;
    moving_make(&m, 2, kind, BAR_YOUNG, 0.3, YW_FRAMES_IMPLICIT);
    moving_clamp(&m);
    m.ctx.gravity = (yw_vec3){0, -2, 1};
    yw_frames_params params = yw_frames_params_of(m.state);
    params.tolerance = 1e-5f;
    assert_int_equal(yw_frames_set_params(m.state, &params), YW_OK);
    bool* held = calloc(m.bar.count, sizeof *held);
    for (size_t v = 0; v < m.bar.count; ++v) held[v] = bar_near(m.bar.mesh.positions[v].x, 0);
    yw_frames_def def = bar_def(&m.bar, kind);
    def.youngs_modulus = (float)BAR_YOUNG;
    frames_reference* reference = frames_reference_create(&def, held);
    assert_non_null(reference);
    for (int step = 0; step < 20; ++step) {
      assert_int_equal(moving_step(&m, 1), YW_OK);
      assert_at_least(frames_reference_step(reference, (double)m.ctx.h, m.ctx.gravity, 1e-8), 1);
    }
    const double* x = frames_reference_positions(reference);
    double apart = 0, moved = 0;
    for (size_t v = 0; v < m.bar.count; ++v) {
      yw_vec3 p = yw_xyz(m.particles.pos[m.order[v]]), rest = m.bar.mesh.positions[v];
      yw_vec3 q = {(float)x[3 * v], (float)x[3 * v + 1], (float)x[3 * v + 2]};
      apart = fmax(apart, (double)yw_distance(p, q));
      moved = fmax(moved, (double)yw_distance(p, rest));
    }
    assert_at_least(moved, 0.05);
    assert_at_most(apart / moved, 1e-3);
    frames_reference_destroy(reference);
    free(held);
    moving_free(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_step_is_that_of_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
