// SPDX-License-Identifier: MIT
// Frames bodies against quadratic tets of an independent program: the same bar, 5 x 1 x 1 m.
#include "reference/elastic/bar.h"
#include "support/need_calculix.h"
#include "yawara/extend/timer.h"

#define YOUNG 1e6
#define POISSON 0.3
// Across: quadratic tets have converged at half the resolution (asserted below).
#define OURS 8
#define THEIRS 4
#define SECONDS 50

static const beam theory = {5, 1, 1, YOUNG, POISSON, 1000};

static void make_bar(int32_t n, int32_t order, elastic_bar* bar) {
  const double size[3] = {theory.length, theory.depth, theory.width};
  const int32_t cells[3] = {5 * n, n, n};
  yw_error error = {0};
  if (elastic_bar_create(size, cells, order, bar, &error) < 0) fail_msg("%s", error.message);
}

static bar_results reference(int32_t n) {
  elastic_bar bar;
  make_bar(n, 2, &bar);
  bar_calculix solver = {&bar.grid, {YOUNG, POISSON, theory.density}, SECONDS};
  bar_results results;
  yw_error error = {0};
  if (bar_run(&bar, BAR_ALL_TESTS, bar_solve_calculix, &solver, &results, &error) < 0) {
    fail_msg("%s", error.message);
  }
  elastic_bar_free(&bar);
  return results;
}

static bar_results measure(elastic_model kind) {
  elastic_bar bar;
  elastic_system system;
  make_bar(OURS, 1, &bar);
  elastic_def def = {.model = kind,
                     .mesh = &bar.mesh,
                     .cells = bar.cell_nodes,
                     .num_cells = bar.num_cells,
                     .youngs_modulus = YOUNG,
                     .poissons_ratio = POISSON,
                     .density = theory.density};
  yw_error error = {0};
  if (elastic_create(&def, &system, &error) < 0) fail_msg("%s", error.message);
  bar_system solver = {.system = &system};
  bar_results results;
  if (bar_run(&bar, BAR_ALL_TESTS, bar_solve_system, &solver, &results, &error) < 0) {
    fail_msg("%s", error.message);
  }
  bar_system_free(&solver);
  elastic_free(&system);
  elastic_bar_free(&bar);
  return results;
}

static void print_errors(const char* name, const bar_results* e) {
  print_message(
      "%-22s E %+.4f %%, nu %+.5f, bending %+.2f %%, cantilever %+.2f %%, torsion %+.2f %%\n", name,
      100 * e->youngs_modulus, e->poissons_ratio, 100 * e->bending, 100 * e->cantilever,
      100 * e->torsion);
}

static void frames_agree_with_quadratic_tets(void** state) {
  (void)state;
  need_calculix();
  double begin = yw_seconds();
  bar_results expected = reference(THEIRS), exact = bar_theory(&theory);
  bar_results off = bar_errors(&expected, &exact);
  print_errors("quadratic / theory:", &off);
  print_message("ccx took %.1f s\n", yw_seconds() - begin);
  // The reference itself is right.
  assert_at_most(fabs(off.bending), 0.005);
  assert_at_most(fabs(off.cantilever), 0.005);
  assert_at_most(fabs(off.torsion), 0.005);
  for (int kind = 0; kind <= ELASTIC_CELLS; ++kind) {
    bar_results got = measure((elastic_model)kind);
    bar_results e = bar_errors(&got, &expected);
    print_errors(kind == ELASTIC_CELLS ? "cells / quadratic:" : "rings / quadratic:", &e);
    assert_at_most(fabs(e.youngs_modulus), 1e-5);
    assert_at_most(fabs(e.poissons_ratio), 1e-5);
    assert_at_most(fabs(e.bending), 0.02);
    assert_at_most(fabs(e.cantilever), 0.02);
    assert_at_most(fabs(e.torsion), 0.02);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_agree_with_quadratic_tets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
