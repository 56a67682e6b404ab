// SPDX-License-Identifier: MIT
// Energy of a frames body: derivatives against finite differences, invariances, bad input.
#include "math/small/mat3d.h"
#include "support/frames_testing.h"
#include "yawara/frames.h"

#define STEP 1e-5

// A bar twisted, bent and perturbed, optionally with compressed and inverted regions.
static void deform(frames_bar* bar, double amount, uint64_t seed) {
  test_random random = {seed};
  for (size_t i = 0; i < bar->count; ++i) {
    double* p = bar->x + 3 * i;
    double angle = 0.4 * amount * p[0], y = p[1], z = p[2];
    p[1] = cos(angle) * y - sin(angle) * z + 0.05 * amount * p[0] * p[0];
    p[2] = sin(angle) * y + cos(angle) * z;
    for (int k = 0; k < 3; ++k) p[k] += test_random_in(&random, -0.15, 0.15) * amount / bar->n;
  }
}

static double norm(size_t n, const double* a) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * a[i];
  return sqrt(sum);
}

// Largest relative errors of directional derivatives of energy and gradient.
static void check_derivatives(frames_bar* bar, const frames_targets* targets, bool second) {
  size_t n = 3 * bar->count;
  int32_t parts = yw_frames_parts(targets);
  double *d = malloc(n * 8), *g = malloc(n * 8), *up = malloc(n * 8), *down = malloc(n * 8);
  double *x = malloc(n * 8), *kd = malloc(n * 8);
  frames_tangent* c = malloc(sizeof *c * (size_t)parts * (size_t)bar->regions.num_regions);
  test_random random = {11};
  for (size_t i = 0; i < n; ++i) d[i] = test_random_in(&random, -1, 1);
  yw_frames_energy(&bar->regions, targets, bar->x, g, c, FRAMES_EXACT);
  for (size_t i = 0; i < n; ++i) x[i] = bar->x[i] + STEP * d[i];
  double e1 = yw_frames_energy(&bar->regions, targets, x, up, NULL, FRAMES_EXACT);
  for (size_t i = 0; i < n; ++i) x[i] = bar->x[i] - STEP * d[i];
  double e0 = yw_frames_energy(&bar->regions, targets, x, down, NULL, FRAMES_EXACT);
  double slope = 0;
  for (size_t i = 0; i < n; ++i) slope += g[i] * d[i];
  assert_at_most(fabs((e1 - e0) / (2 * STEP) - slope), 1e-6 * norm(n, g) * norm(n, d));
  if (second) {
    yw_frames_apply(&bar->regions, c, parts, d, kd);
    for (size_t i = 0; i < n; ++i) x[i] = (up[i] - down[i]) / (2 * STEP) - kd[i];
    assert_at_most(norm(n, x) / norm(n, kd), 1e-6);
  }
  free(d), free(g), free(up), free(down), free(x), free(kd), free(c);
}

static void gradient_and_second_derivative_are_those_of_the_energy(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    for (int k = 0; k < 3; ++k) {
      frames_bar bar;
      bar_make(&bar, 2, kind, (double[]){0, 0.3, 0.45}[k], YW_LATTICE_SIX,
               kind == YW_FRAMES_RINGS ? 0.15 : 0.0);
      deform(&bar, 1.0, 3);
      check_derivatives(&bar, NULL, true);
      bar_free(&bar);
    }
  }
}

static void limited_second_derivative_is_positive_and_near_the_exact_one(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    for (int amount = 0; amount < 3; ++amount) {
      frames_bar bar;
      bar_make(&bar, 2, kind, 0.3, YW_LATTICE_FIVE, 0.0);
      deform(&bar, (double[]){0.01, 1, 8}[amount], 5);  // the last inverts regions
      size_t n = 3 * bar.count, regions = (size_t)bar.regions.num_regions;
      frames_tangent* exact = malloc(sizeof *exact * regions);
      frames_tangent* limited = malloc(sizeof *limited * regions);
      double *d = malloc(n * 8), *a = malloc(n * 8), *b = malloc(n * 8);
      yw_frames_energy(&bar.regions, NULL, bar.x, NULL, exact, FRAMES_EXACT);
      yw_frames_energy(&bar.regions, NULL, bar.x, NULL, limited, FRAMES_DEFINITE);
      test_random random = {23};
      for (int round = 0; round < 200; ++round) {
        for (size_t i = 0; i < n; ++i) {
          // Rotations of single regions are the indefinite directions.
          d[i] = round % 2 ? test_random_in(&random, -1, 1) : 0;
        }
        if (round % 2 == 0) {
          size_t at = 3 * (test_random_u32(&random) % bar.count);
          for (size_t i = 0; i < 3; ++i) d[at + i] = test_random_in(&random, -1, 1);
        }
        yw_frames_apply(&bar.regions, exact, 1, d, a);
        yw_frames_apply(&bar.regions, limited, 1, d, b);
        double qa = 0, qb = 0;
        for (size_t i = 0; i < n; ++i) qa += d[i] * a[i], qb += d[i] * b[i];
        assert_true(qb > 0);
        assert_true(qb >= qa * (1 - 1e-9));
        if (amount == 0) assert_near(qb / qa, 1, 0.02);
      }
      free(exact), free(limited), free(d), free(a), free(b);
      bar_free(&bar);
    }
  }
}

static void diagonal_blocks_are_those_of_the_second_derivative(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    frames_bar bar;
    bar_make(&bar, 2, kind, 0.3, YW_LATTICE_FIVE, 0.0);
    deform(&bar, 1.0, 9);
    size_t n = 3 * bar.count;
    frames_tangent* c = malloc(sizeof *c * (size_t)bar.regions.num_regions);
    double *d = calloc(n, 8), *out = malloc(n * 8), *diagonal = malloc(2 * n * 8);
    yw_frames_energy(&bar.regions, NULL, bar.x, NULL, c, FRAMES_DEFINITE);
    yw_frames_diagonal(&bar.regions, c, 1, diagonal);
    for (size_t p = 0; p < bar.count; p += 5) {
      static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
      for (int k = 0; k < 6; ++k) {
        d[3 * p + (size_t)column[k]] = 1;
        yw_frames_apply(&bar.regions, c, 1, d, out);
        assert_near(diagonal[6 * p + (size_t)k], out[3 * p + (size_t)row[k]],
                    1e-9 * diagonal[6 * p]);
        d[3 * p + (size_t)column[k]] = 0;
      }
    }
    free(c), free(d), free(out), free(diagonal);
    bar_free(&bar);
  }
}

// Neither a rigid motion nor its first-order part costs energy, and forces have no sum or torque.
static void rigid_motions_cost_nothing(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    frames_bar bar;
    bar_make(&bar, 2, kind, 0.45, YW_LATTICE_FIVE, 0.0);
    for (size_t i = 0; i < bar.count; ++i) {
      double* p = bar.x + 3 * i;
      double x = p[0], y = p[1];
      p[0] = 0.6 * x - 0.8 * y + 3, p[1] = 0.8 * x + 0.6 * y - 7, p[2] += 2;
    }
    assert_at_most(fabs(yw_frames_energy(&bar.regions, NULL, bar.x, NULL, NULL, FRAMES_EXACT)),
                   1e-12 * BAR_YOUNG);
    deform(&bar, 1.0, 3);
    double *g = malloc(3 * bar.count * 8), sum[3] = {0}, torque[3] = {0}, size = 0;
    yw_frames_energy(&bar.regions, NULL, bar.x, g, NULL, FRAMES_EXACT);
    for (size_t i = 0; i < bar.count; ++i) {
      const double *p = bar.x + 3 * i, *f = g + 3 * i;
      for (int k = 0; k < 3; ++k) sum[k] += f[k], size += fabs(f[k]) * 10;
      torque[0] += p[1] * f[2] - p[2] * f[1];
      torque[1] += p[2] * f[0] - p[0] * f[2];
      torque[2] += p[0] * f[1] - p[1] * f[0];
    }
    assert_at_most(norm(3, sum), 1e-13 * size);
    assert_at_most(norm(3, torque), 1e-13 * size);
    free(g);
    bar_free(&bar);
  }
}

// Regions count every piece of material exactly once.
static void volumes_and_masses_add_up(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    frames_bar bar;
    bar_make(&bar, 3, kind, 0.3, YW_LATTICE_FIVE, kind == YW_FRAMES_RINGS ? 0.2 : 0.0);
    double volume = 0, mass = 0;
    for (int32_t r = 0; r < bar.regions.num_regions; ++r) volume += bar.regions.volume[r];
    for (size_t i = 0; i < bar.count; ++i) mass += bar.regions.mass[i];
    assert_near(volume, BAR_LENGTH, 1e-6);
    assert_near(mass, 1000 * BAR_LENGTH, 1e-3);
    bar_free(&bar);
  }
}

static void polar_in_double_is_exact(void** state) {
  (void)state;
  test_random random = {1};
  for (int round = 0; round < 2000; ++round) {
    double a[9], r[9], s[6], full[9], back[9], unit[9];
    for (int i = 0; i < 9; ++i) a[i] = test_random_in(&random, -1, 1) + 2 * (i % 4 == 0);
    yw_m3_polar(a, r, s);
    yw_m3_of_sym(s, full);
    yw_m3_mul(r, full, back);
    yw_m3_mul_tn(r, r, unit);
    for (int i = 0; i < 9; ++i) {
      assert_near(back[i], a[i], 1e-14 * 8);
      assert_near(unit[i], i % 4 == 0, 1e-14);
    }
  }
}

// Bad input ---------------------------------------------------------------------------------------

static void assert_refused(const yw_frames_def* def, const char* word) {
  frames_regions regions;
  yw_error error = {0};
  assert_true(yw_frames_regions_create(NULL, def, 0.0, &regions, &error) < 0);
  if (!strstr(error.message, word)) fail_msg("\"%s\" does not name %s", error.message, word);
}

static void materials_out_of_range_are_refused_with_the_place(void** state) {
  (void)state;
  frames_bar bar;
  bar_make(&bar, 1, YW_FRAMES_RINGS, 0.3, YW_LATTICE_FIVE, 0.0);
  const float bad_ratio[] = {-0.1f, 0.5f, 0.7f, NAN, INFINITY};
  const float bad_modulus[] = {0, -5, NAN, INFINITY};
  for (size_t i = 0; i < 5; ++i) {
    yw_frames_def def = bar_def(&bar, YW_FRAMES_RINGS);
    def.poissons_ratio = bad_ratio[i];
    assert_refused(&def, "poissons_ratio");
  }
  for (size_t i = 0; i < 4; ++i) {
    yw_frames_def def = bar_def(&bar, YW_FRAMES_RINGS);
    def.youngs_modulus = bad_modulus[i];
    assert_refused(&def, "youngs_modulus");
    def = bar_def(&bar, YW_FRAMES_RINGS);
    def.density = bad_modulus[i];
    assert_refused(&def, "density");
  }
  float* field = malloc(sizeof(float) * bar.count);
  for (size_t i = 0; i < bar.count; ++i) field[i] = 1e5f;
  yw_frames_def def = bar_def(&bar, YW_FRAMES_RINGS);
  def.youngs_modulus_field = field;
  field[5] = NAN;
  assert_refused(&def, "youngs_modulus_field[5]");
  field[5] = 0;
  assert_refused(&def, "youngs_modulus_field[5]");
  for (size_t i = 0; i < bar.count; ++i) field[i] = 0.2f;
  def = bar_def(&bar, YW_FRAMES_RINGS);
  def.poissons_ratio_field = field;
  field[3] = 0.5f;
  assert_refused(&def, "poissons_ratio_field[3]");
  def = bar_def(&bar, YW_FRAMES_RINGS);
  def.kind = (yw_frames_kind)9;
  assert_refused(&def, "kind");
  free(field);
  bar_free(&bar);
}

static void cells_that_are_no_boxes_or_do_not_fill_the_mesh_are_refused(void** state) {
  (void)state;
  frames_bar bar;
  bar_make(&bar, 1, YW_FRAMES_CELLS, 0.3, YW_LATTICE_FIVE, 0.0);
  yw_frames_def def = bar_def(&bar, YW_FRAMES_CELLS);
  def.num_cells = 4;
  assert_refused(&def, "volume");
  def = bar_def(&bar, YW_FRAMES_CELLS);
  def.cells = NULL;
  assert_refused(&def, "cells");
  def = bar_def(&bar, YW_FRAMES_CELLS);
  int32_t kept = bar.cells[11];
  bar.cells[11] = 99;
  assert_refused(&def, "cells[1] names vertex 99");
  bar.cells[11] = bar.cells[12];
  assert_refused(&def, "cells[1] is not a box");
  bar.cells[11] = kept;
  bar_free(&bar);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradient_and_second_derivative_are_those_of_the_energy),
      cmocka_unit_test(limited_second_derivative_is_positive_and_near_the_exact_one),
      cmocka_unit_test(diagonal_blocks_are_those_of_the_second_derivative),
      cmocka_unit_test(rigid_motions_cost_nothing),
      cmocka_unit_test(volumes_and_masses_add_up),
      cmocka_unit_test(polar_in_double_is_exact),
      cmocka_unit_test(materials_out_of_range_are_refused_with_the_place),
      cmocka_unit_test(cells_that_are_no_boxes_or_do_not_fill_the_mesh_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
