// SPDX-License-Identifier: MIT
// Parameters of solvers are taken at the ends of their ranges and refused, by name, just beyond.
#include "methods/kit/solver_params.h"

#include "support/testing.h"

static const yw_solver_params good = {.damping = 0.0f,
                                      .tolerance = 1e-3f,
                                      .substeps = 4,
                                      .sweeps = 2,
                                      .stiffness = 0.5f,
                                      .stiffness_scale = 1.0f};

static void assert_taken(yw_solver_params params) {
  yw_error error = {0};
  if (yw_solver_params_check(params, &error) != YW_OK) fail_msg("%s", error.message);
}

static void assert_refused(yw_solver_params params, const char* name) {
  yw_error error = {0};
  assert_int_equal(yw_solver_params_check(params, &error), YW_ERR_INVALID);
  if (strstr(error.message, name) != error.message) fail_msg("%s: %s", name, error.message);
}

static void fractions_have_ranges(void** state) {
  (void)state;
  yw_solver_params p = good;
  assert_taken(p);
  p.damping = -1e-6f;
  assert_refused(p, "damping");
  p.damping = INFINITY;
  assert_refused(p, "damping");
  p = good, p.tolerance = 1e-6f;
  assert_taken(p);
  p.tolerance = 0.5f;
  assert_taken(p);
  p.tolerance = 0.9e-6f;
  assert_refused(p, "tolerance");
  p.tolerance = 0.51f;
  assert_refused(p, "tolerance");
  p.tolerance = NAN;
  assert_refused(p, "tolerance");
}

static void counts_have_ranges(void** state) {
  (void)state;
  yw_solver_params p = good;
  p.substeps = 1;
  assert_taken(p);
  p.substeps = 1000;
  assert_taken(p);
  p.substeps = 0;
  assert_refused(p, "substeps");
  p.substeps = 1001;
  assert_refused(p, "substeps");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fractions_have_ranges),
                                     cmocka_unit_test(counts_have_ranges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
