// SPDX-License-Identifier: MIT
// Frames bodies of two materials that meet at a border of the elements, against theory: springs in
// series and in parallel, and a sandwich beam.
#include "support/frames_testing.h"

#define STIFF 10.0  // times the modulus of the rest

typedef double (*stiffness_at)(double x, double y);

static double series(double x, double y) { return (void)y, x < 2.5 ? 1.0 : STIFF; }
static double parallel(double x, double y) { return (void)x, y < 0.0 ? 1.0 : STIFF; }
static double plain(double x, double y) { return (void)x, (void)y, 1.0; }
static double core(double x, double y) { return (void)x, fabs(y) < 0.25 ? STIFF : 1.0; }
static double skins(double x, double y) { return (void)x, fabs(y) < 0.25 ? 1.0 : STIFF; }

// Gives the bar a modulus per element, at its centre; times BAR_YOUNG.
static void set_moduli(frames_bar* bar, yw_frames_kind kind, stiffness_at factor) {
  yw_frames_def def = bar_def(bar, kind);
  bool cells = kind == YW_FRAMES_CELLS;
  const int32_t* corner = cells ? bar->cells : bar->mesh.tets;
  int32_t of = cells ? 8 : 4, count = cells ? def.num_cells : bar->mesh.num_tets;
  float* moduli = malloc(sizeof *moduli * (size_t)count);
  for (int32_t i = 0; i < count; ++i) {
    double x = 0, y = 0;
    for (int32_t k = 0; k < of; ++k, ++corner) {
      x += (double)bar->mesh.positions[*corner].x / of;
      y += (double)bar->mesh.positions[*corner].y / of;
    }
    moduli[i] = (float)(BAR_YOUNG * factor(x, y));
  }
  def.element_youngs_modulus_field = moduli;
  yw_error error = {0};
  yw_frames_regions_free(&bar->regions);
  if (yw_frames_regions_create(NULL, &def, 0.0, &bar->regions, &error) < 0) {
    fail_msg("%s", error.message);
  }
  free(moduli);
}

// Force per strain and area of a bar that is pulled at both ends, without lateral contraction.
static double measured_modulus(yw_frames_kind kind, stiffness_at factor) {
  const double strain = 1e-3;
  frames_bar bar;
  bar_make(&bar, 2, kind, 0.0, YW_LATTICE_FIVE, 0.0);
  set_moduli(&bar, kind, factor);
  for (size_t i = 0; i < bar.count; ++i) {
    double x = bar.mesh.positions[i].x;
    bool end = bar_near(x, 0) || bar_near(x, BAR_LENGTH);
    for (size_t k = 0; k < 3; ++k) bar.fixed[3 * i + k] = end;
    if (bar_near(x, BAR_LENGTH)) bar.x[3 * i] += strain * BAR_LENGTH;
  }
  bar_solve(&bar, 1e-11);
  double force = 0;
  for (size_t i = 0; i < bar.count; ++i) {
    if (bar_near(bar.mesh.positions[i].x, BAR_LENGTH)) force += bar.reactions[3 * i];
  }
  bar_free(&bar);
  return force / strain / BAR_YOUNG;
}

// The strain jumps at the border in one case, the stress in the other: both are exact, because no
// region averages over the border.
static void two_materials_are_exact_in_series_and_in_parallel(void** state) {
  (void)state;
  for (int kind = YW_FRAMES_RINGS; kind <= YW_FRAMES_CELLS; ++kind) {
    assert_near(measured_modulus((yw_frames_kind)kind, series), 2 * STIFF / (1 + STIFF), 1e-7);
    assert_near(measured_modulus((yw_frames_kind)kind, parallel), 0.5 * (1 + STIFF), 1e-7);
  }
}

static stiffness_at bent;

static void bending(double y, double z, double* t) { (void)z, t[0] = bent(0, y) * y; }

// Error of the bending stiffness of a sandwich: EI = sum of E times the second moment of its layer.
static double sandwich_error(int n, yw_frames_kind kind, stiffness_at factor) {
  const double load = 10.0;
  frames_bar bar;
  bar_make(&bar, n, kind, 0.3, YW_LATTICE_FIVE, 0.0);
  set_moduli(&bar, kind, factor);
  for (size_t i = 0; i < bar.count; ++i) {
    if (bar_near(bar.mesh.positions[i].x, 0)) bar.fixed[3 * i] = true;
  }
  size_t root = bar_vertex(&bar, 0, 0, 0), side = bar_vertex(&bar, 0, 0, 0.5);
  bar.fixed[3 * root + 1] = bar.fixed[3 * root + 2] = bar.fixed[3 * side + 1] = true;
  bent = factor;
  bar_load(&bar, BAR_LENGTH, bending, load);
  bar_solve(&bar, 1e-6);
  size_t tip = bar_vertex(&bar, BAR_LENGTH, 0, 0);
  double moved = bar.x[3 * tip + 1] - bar.x[3 * root + 1];
  bar_free(&bar);
  // The stress load E(y) / E y makes a curvature of load / E, whatever the layers.
  return -load * BAR_LENGTH * BAR_LENGTH / 2 / BAR_YOUNG / moved - 1;
}

// The stiff core is two elements thick, or four: it bends no worse than a plain bar that is two
// elements thick. Values per vertex miss that.
static void sandwich_beams_bend_as_theory_says(void** state) {
  (void)state;
  static const char* const names[] = {"rings", "cells"};
  for (int kind = YW_FRAMES_RINGS; kind <= YW_FRAMES_CELLS; ++kind) {
    double limit = fabs(sandwich_error(2, (yw_frames_kind)kind, plain));
    for (int inside = 0; inside < 2; ++inside) {
      double coarse = sandwich_error(4, (yw_frames_kind)kind, inside ? core : skins);
      double fine = sandwich_error(8, (yw_frames_kind)kind, inside ? core : skins);
      print_message("%s, %s: %+.1f %% at 4 across, %+.1f %% at 8; plain bar at 2: %.1f %%\n",
                    names[kind], inside ? "stiff core" : "stiff skins", 100 * coarse, 100 * fine,
                    100 * limit);
      assert_at_most(fabs(coarse), limit);
      assert_at_most(fabs(fine), 0.03);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_materials_are_exact_in_series_and_in_parallel),
      cmocka_unit_test(sandwich_beams_bend_as_theory_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
