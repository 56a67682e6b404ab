// SPDX-License-Identifier: MIT
// Steps that are too long for the speed at which a body is deformed: the rate is that of the
// fastest direction, or a little more.
#include "methods/fem/body.h"
#include "methods/fem/fem.h"
#include "support/testing.h"

enum { X, Y, Z };

// Longest step of a block whose velocities are v_i = a x_i + g x_k, in 1/s.
static double longest_step(int i, int k, float a, float g) {
  yw_fem_def def = yw_default_fem_def();
  def.max_level = 1;
  const int32_t cells[3] = {2, 2, 2};
  const yw_aabb box = {{0, 0, 0}, {0.2f, 0.2f, 0.2f}};
  yw_tet_mesh mesh;
  void *model = NULL, *state = NULL;
  yw_particles p;
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  def.mesh = &mesh;
  assert_int_equal(yw_fem_model_create(NULL, &def, &model, NULL), YW_OK);
  assert_int_equal(yw_fem_method.body_create(model, NULL, &state, &p, NULL), YW_OK);
  yw_tet_mesh_free(&mesh);
  yw_fem_method.invalidate(state, &p);
  for (int32_t n = 0; n < p.count; ++n) {
    const float* x = &p.pos[n].x;
    float v[3] = {0};
    v[i] = a * x[i] + g * x[k];
    p.vel[n] = (yw_vec4){v[X], v[Y], v[Z], 0};
  }
  const yw_step_ctx ctx = {.simd = yw_simd_resolve(YW_SIMD_AUTO)};
  float hasty = 0;
  assert_int_equal(yw_fem_hasty_step(state, &p, &ctx, 1.0f, &hasty), YW_OK);
  yw_fem_method.body_destroy(state, &p);
  yw_fem_model_destroy(model);
  return (double)hasty;
}

// A shear by g per second alone deforms by that; with a stretch by a, by sqrt(a^2 + g^2): row sums
// are between that and a tenth more.
static void rates_are_those_of_the_fastest_direction(void** state) {
  (void)state;
  const float g = 1000.0f;
  const double shear = longest_step(X, Z, 0, g);
  assert_true(isfinite(shear) && shear > 0);
  for (int i = X; i <= Z; ++i) {
    for (int k = X; k <= Z; ++k) {
      if (i == k) continue;
      assert_near(longest_step(i, k, 0, g) / shear, 1.0, 1e-4);
      double slower = shear / longest_step(i, k, 0.5f * g, g);
      assert_at_least(slower, sqrt(1.25) - 1e-4);
      assert_at_most(slower, 1.1 * sqrt(1.25));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rates_are_those_of_the_fastest_direction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
