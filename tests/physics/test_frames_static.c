// SPDX-License-Identifier: MIT
// Measured response of frames bodies for given E and nu, against theory.
#include "support/frames_testing.h"
#include "yawara/frames.h"

static const double poissons[3] = {0.0, 0.3, 0.45};

// Patch tests -------------------------------------------------------------------------------------

// Stretches a jittered bar with free sides and measures E and nu from reactions and contraction.
// Corotated stress is linear in stretch, so the strain need not be small.
static void tension_recovers_young_and_poisson_on_a_jittered_mesh(void** state) {
  (void)state;
  const double strain = 1e-2;
  for (int kind = 0; kind < 2; ++kind) {
    for (int k = 0; k < 3; ++k) {
      frames_bar bar;
      bar_make(&bar, 2, kind, poissons[k], YW_LATTICE_SIX, kind == YW_FRAMES_RINGS ? 0.2 : 0.0);
      size_t a = bar_vertex(&bar, 0, 0.5, 0.5), b = bar_vertex(&bar, 0, -0.5, 0.5);
      size_t c = bar_vertex(&bar, 0, -0.5, -0.5);
      for (size_t i = 0; i < bar.count; ++i) {
        double x = bar.mesh.positions[i].x;
        bar.fixed[3 * i] = bar_near(x, 0) || bar_near(x, BAR_LENGTH);
        if (bar_near(x, BAR_LENGTH)) bar.x[3 * i] += strain * BAR_LENGTH;
      }
      bar.fixed[3 * c + 1] = bar.fixed[3 * c + 2] = bar.fixed[3 * b + 1] = true;
      bar_solve(&bar, 1e-11);
      double force = 0;
      for (size_t i = 0; i < bar.count; ++i) {
        if (bar_near(bar.mesh.positions[i].x, BAR_LENGTH)) force += bar.reactions[3 * i];
      }
      double lateral = (bar.x[3 * a + 1] - bar.x[3 * b + 1]) - 1.0;
      double nu = (double)(float)poissons[k];
      assert_near(force / strain / BAR_YOUNG, 1, 1e-8);
      assert_near(-lateral / strain, nu, 1e-8);
      bar_free(&bar);
    }
  }
}

// A body sheared at its boundary is sheared uniformly, with the energy of mu.
static void shear_recovers_mu_on_a_jittered_mesh(void** state) {
  (void)state;
  const double shear = 1e-2;
  for (int kind = 0; kind < 2; ++kind) {
    for (int k = 0; k < 3; ++k) {
      frames_bar bar;
      bar_make(&bar, 2, kind, poissons[k], YW_LATTICE_SIX, kind == YW_FRAMES_RINGS ? 0.2 : 0.0);
      for (size_t i = 0; i < bar.count; ++i) {
        yw_vec3 p = bar.mesh.positions[i];
        bool outside = bar_near(p.x, 0) || bar_near(p.x, BAR_LENGTH) || bar_near(fabsf(p.y), 0.5) ||
                       bar_near(fabsf(p.z), 0.5);
        for (size_t j = 0; j < 3; ++j) bar.fixed[3 * i + j] = outside;
        if (outside) {
          bar.x[3 * i] += 0.5 * shear * (double)p.y;
          bar.x[3 * i + 1] += 0.5 * shear * (double)p.x;
        }
      }
      frames_static_report report = bar_solve(&bar, 1e-11);
      double mu = BAR_YOUNG / (2 * (1 + (double)(float)poissons[k]));
      assert_near(report.energy / (0.5 * mu * shear * shear * BAR_LENGTH), 1, 1e-8);
      double moment = 0;
      for (size_t i = 0; i < bar.count; ++i) {
        moment += bar.reactions[3 * i] * (double)bar.mesh.positions[i].y;
      }
      assert_near(moment / (mu * shear * BAR_LENGTH), 1, 1e-8);
      for (size_t i = 0; i < bar.count; ++i) {
        yw_vec3 p = bar.mesh.positions[i];
        assert_near(bar.x[3 * i] - (double)p.x, 0.5 * shear * (double)p.y, 1e-10);
        assert_near(bar.x[3 * i + 1] - (double)p.y, 0.5 * shear * (double)p.x, 1e-10);
      }
      bar_free(&bar);
    }
  }
}

// Convergence -------------------------------------------------------------------------------------

static void bending(double y, double z, double* t) { (void)z, t[0] = y; }
static void parabolic_shear(double y, double z, double* t) {
  (void)z, t[1] = 1.5 * (1 - 4 * y * y);
}
static void twisting(double y, double z, double* t) { t[1] = -z, t[2] = y; }

#define LOAD 10.0

// u_x = 0 at the root: clamped roots converge slowly even for quadratic elements.
static void hold_roller_root(frames_bar* bar) {
  for (size_t i = 0; i < bar->count; ++i) {
    if (bar_near(bar->mesh.positions[i].x, 0)) bar->fixed[3 * i] = true;
  }
  size_t middle = bar_vertex(bar, 0, 0, 0), side = bar_vertex(bar, 0, 0, 0.5);
  bar->fixed[3 * middle + 1] = bar->fixed[3 * middle + 2] = bar->fixed[3 * side + 1] = true;
}

static double tip(const frames_bar* bar) {
  return bar->x[3 * bar_vertex(bar, BAR_LENGTH, 0, 0) + 1] -
         bar->x[3 * bar_vertex(bar, 0, 0, 0) + 1];
}

// Errors of stiffness against beam theory.
static double bending_error(int n, int kind, double nu) {
  frames_bar bar;
  bar_make(&bar, n, kind, nu, YW_LATTICE_FIVE, 0.0);
  hold_roller_root(&bar);
  bar_load(&bar, BAR_LENGTH, bending, LOAD);
  bar_solve(&bar, 1e-5);
  double exact = -LOAD * BAR_LENGTH * BAR_LENGTH / 2 / BAR_YOUNG;
  double error = exact / tip(&bar) - 1;
  bar_free(&bar);
  return error;
}

static double cantilever_error(int n, int kind, double nu) {
  frames_bar bar;
  bar_make(&bar, n, kind, nu, YW_LATTICE_FIVE, 0.0);
  hold_roller_root(&bar);
  bar_load(&bar, BAR_LENGTH, parabolic_shear, LOAD);
  bar_load(&bar, 0, parabolic_shear, -LOAD);
  bar_solve(&bar, 1e-5);
  double exact = LOAD * pow(BAR_LENGTH, 3) * 12 / 3 / BAR_YOUNG +
                 1.2 * LOAD * BAR_LENGTH * 2 * (1 + nu) / BAR_YOUNG;
  double error = tip(&bar) / exact - 1;
  bar_free(&bar);
  return error;
}

// Twist of the middle half, away from the ends.
static double torsion_error(int n, int kind, double nu) {
  frames_bar bar;
  bar_make(&bar, n, kind, nu, YW_LATTICE_FIVE, 0.0);
  for (size_t i = 0; i < bar.count; ++i) {
    yw_vec3 p = bar.mesh.positions[i];
    if (!bar_near(p.x, 0)) continue;
    // The section may warp; its axes of symmetry do not.
    bar.fixed[3 * i] = bar_near(p.y, 0) || bar_near(p.z, 0);
    bar.fixed[3 * i + 1] = bar.fixed[3 * i + 2] = true;
  }
  bar_load(&bar, BAR_LENGTH, twisting, LOAD);
  bar_solve(&bar, 1e-5);
  double angle = 2 * (bar.x[3 * bar_vertex(&bar, 1.25, 0, 0.5) + 1] -
                      bar.x[3 * bar_vertex(&bar, 3.75, 0, 0.5) + 1]);
  double torque = LOAD / 6, stiffness = 0.1405770 * BAR_YOUNG / (2 * (1 + nu));
  double error = torque * 2.5 / stiffness / angle - 1;
  bar_free(&bar);
  return error;
}

static void check_convergence(double (*error)(int, int, double), const char* what, bool falls) {
  for (int kind = 0; kind < 2; ++kind) {
    double coarse = error(4, kind, 0.3), fine = error(8, kind, 0.3);
    print_message("%s, %s, nu 0.3: %+.2f %% at n = 4, %+.2f %% at n = 8\n", what,
                  kind == YW_FRAMES_CELLS ? "cells" : "rings", 100 * coarse, 100 * fine);
    assert_at_most(fabs(coarse), 0.05);
    assert_at_most(fabs(fine), 0.015);
    if (falls) assert_at_least(fabs(coarse / fine), 2.5);
    for (int k = 0; k < 3; k += 2) assert_at_most(fabs(error(4, kind, poissons[k])), 0.075);
  }
}

static void bending_converges_to_beam_theory(void** state) {
  (void)state;
  check_convergence(bending_error, "bending", true);
}
static void cantilever_converges_to_beam_theory(void** state) {
  (void)state;
  check_convergence(cantilever_error, "cantilever", false);
}
static void torsion_converges_to_saint_venant(void** state) {
  (void)state;
  check_convergence(torsion_error, "torsion", false);
}

static void nearly_incompressible_bars_do_not_lock(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) assert_at_most(fabs(bending_error(4, kind, 0.49)), 0.08);
}

// Large deflections -------------------------------------------------------------------------------

// Tip deflection w / L of an elastica that also shears and stretches (Reissner's beam) under a dead
// end load, P L^2 / EI = load. Shooting on the curvature at the root, midpoint rule along the arc.
static double elastica(double load, double shear, double stretch) {
  double low = 0, high = 10, y = 0;
  for (int round = 0; round < 60; ++round) {
    double curvature = 0.5 * (low + high), angle = 0, k = curvature, h = 1e-3;
    y = 0;
    for (int i = 0; i < 1000; ++i) {
      double am = angle + 0.5 * h * k, km = k - 0.5 * h * load * cos(angle);
      double slide = shear * load * cos(am), longer = 1 + stretch * load * sin(am);
      y += h * (longer * sin(am) + slide * cos(am));
      k -= h * load * (longer * cos(am) - slide * sin(am));
      angle += h * km;
    }
    *(k > 0 ? &high : &low) = curvature;
  }
  return y;
}

static void end_pull(double y, double z, double* t) { (void)y, (void)z, t[1] = 1; }

static void large_bending_follows_the_elastica(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    frames_bar bar;
    bar_make(&bar, 4, kind, 0.0, YW_LATTICE_FIVE, 0.0);
    hold_roller_root(&bar);
    // EI / (L^2 GA) with the shear factor 5/6, and EI / (L^2 EA).
    double alpha = 3, EI = BAR_YOUNG / 12, slender = 1 / (12 * BAR_LENGTH * BAR_LENGTH);
    double w = elastica(alpha, 2.4 * slender, slender);
    bar_load(&bar, BAR_LENGTH, end_pull, alpha * EI / (BAR_LENGTH * BAR_LENGTH));
    bar_load(&bar, 0, end_pull, -alpha * EI / (BAR_LENGTH * BAR_LENGTH));
    bar_solve(&bar, 1e-5);
    double got = tip(&bar) / BAR_LENGTH;
    print_message("elastica, %s: w/L %.4f against %.4f\n", kind ? "cells" : "rings", got, w);
    assert_near(got / w, 1, 0.04);
    bar_free(&bar);
  }
}

static void bodies_that_are_not_held_are_refused(void** state) {
  (void)state;
  frames_bar bar;
  bar_make(&bar, 1, YW_FRAMES_RINGS, 0.3, YW_LATTICE_FIVE, 0.0);
  frames_load load = {.fixed = bar.fixed, .forces = bar.forces};
  yw_error error = {0};
  assert_int_equal(yw_frames_static(&bar.regions, &load, bar.x, NULL, NULL, &error),
                   YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "six rigid motions"));
  // Held along a line: it can still rotate about it.
  for (size_t i = 0; i < bar.count; ++i) {
    yw_vec3 p = bar.mesh.positions[i];
    bool line = bar_near(p.y, 0.5) && bar_near(p.z, 0.5);
    for (size_t k = 0; k < 3; ++k) bar.fixed[3 * i + k] = line;
  }
  assert_int_equal(yw_frames_static(&bar.regions, &load, bar.x, NULL, NULL, &error),
                   YW_ERR_INVALID);
  bar_free(&bar);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tension_recovers_young_and_poisson_on_a_jittered_mesh),
      cmocka_unit_test(shear_recovers_mu_on_a_jittered_mesh),
      cmocka_unit_test(bending_converges_to_beam_theory),
      cmocka_unit_test(cantilever_converges_to_beam_theory),
      cmocka_unit_test(torsion_converges_to_saint_venant),
      cmocka_unit_test(nearly_incompressible_bars_do_not_lock),
      cmocka_unit_test(large_bending_follows_the_elastica),
      cmocka_unit_test(bodies_that_are_not_held_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
