// SPDX-License-Identifier: MIT
// Bars whose stiffness grows to four times along them, or falls: coarse levels with sampled
// matrices against the finest mesh.
#include "fem_bar.h"

static void stiffer_along_x(void* context, yw_vec3 point, int32_t label,
                            yw_fem_material* material) {
  (void)context;
  (void)label;
  material->youngs_modulus = 3e5f * (1.0f + 3.0f * point.x / 0.4f);
}

static void softer_along_x(void* context, yw_vec3 point, int32_t label, yw_fem_material* material) {
  (void)context;
  (void)label;
  material->youngs_modulus = 3e5f * (4.0f - 3.0f * point.x / 0.4f);
}

// Stiff where it is held: strains are small there, but the tip follows them. Softened,
// and as it is with YW_TEST_FULL.
static void bar_stiff_at_the_clamp_swings_as_the_finest_mesh(void** state) {
  (void)state;
  yw_fem_def def = yw_default_fem_def();
  def.params.mass_damping = 1.0f;
  def.max_level = getenv("YW_TEST_FAST") ? 2 : 3;
  def.material_at = softer_along_x;
  if (getenv("YW_TEST_FULL")) check_fem_swing(&def, 1, def.max_level == 3, 0.07);
  def.params.soften = true;
  check_fem_swing(&def, 2, def.max_level == 3, 0.07);
}

static void graded_bar_swings_as_the_finest_mesh(void** state) {
  (void)state;
  yw_fem_def def = yw_default_fem_def();
  def.params.mass_damping = 1.0f;
  def.max_level = getenv("YW_TEST_FAST") ? 2 : 3;
  def.material_at = stiffer_along_x;
  check_fem_swing(&def, 2, def.max_level == 3, 0.14);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bar_stiff_at_the_clamp_swings_as_the_finest_mesh),
      cmocka_unit_test(graded_bar_swings_as_the_finest_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
