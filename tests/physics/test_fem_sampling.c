// SPDX-License-Identifier: MIT
// Sampled matrices of the coarse tets: exact for homogeneous bodies, close to the periodic
// reference for mixtures and layers, always positive definite.
#include "methods/fem/sampling.h"

#include "math/small/dense.h"
#include "support/fem_periodic.h"
#include "support/fem_samples.h"
#include "yawara/fem.h"

static bool fast(void) { return getenv("YW_TEST_FAST") != NULL; }

static fem_samples sample(const fem_hierarchy* h, const yw_sym6* c, const yw_sym6* d,
                          yw_fem_sampling kind) {
  const fem_sampling_def def = {.kind = kind};
  fem_samples samples;
  yw_error error = {0};
  must(yw_fem_sample(NULL, h, c, d, &def, &samples, &error), &error);
  assert_int_equal(samples.count, h->num_parents);
  return samples;
}

static yw_sym6* filled(const fem_hierarchy* h, yw_sym6 c) {
  yw_sym6* all = malloc(test_num_finest(h) * sizeof *all);
  for (int32_t t = 0; t < test_num_finest(h); ++t) all[t] = c;
  return all;
}

static yw_dvec3 centre_of(const fem_hierarchy* h, int32_t tet) {
  yw_dvec3 sum = {0, 0, 0};
  for (int k = 0; k < 4; ++k) sum = yw_dmad(sum, 0.25, h->rest[h->nodes[tet][k]]);
  return sum;
}

// A stiffness of 1 or 100, drawn for every finest tet.
static yw_sym6* mixture(const fem_hierarchy* h, uint64_t seed) {
  yw_sym6* c = malloc(test_num_finest(h) * sizeof *c);
  test_random random = {seed};
  for (int32_t t = 0; t < test_num_finest(h); ++t) {
    c[t] = yw_sym6_isotropic(test_random_in(&random, 0, 1) < 0.5 ? 1.0 : 100.0, 0.3);
  }
  return c;
}

// Alternately 1 and 10 along y.
static yw_sym6* layers(const fem_hierarchy* h, double thickness) {
  yw_sym6* c = malloc(test_num_finest(h) * sizeof *c);
  for (int32_t t = 0; t < test_num_finest(h); ++t) {
    double y = centre_of(h, h->level_start[h->max_level] + t).y;
    c[t] = yw_sym6_isotropic((int)floor(y / thickness) % 2 ? 1.0 : 10.0, 0.3);
  }
  return c;
}

// Smallest over largest eigenvalue.
static double definiteness(const yw_sym6* c) {
  yw_mat6 full = yw_sym6_full(c);
  double values[6];
  assert_true(yw_dense_eigen(6, full.m, values, NULL));
  return values[0] / values[5];
}

static void homogeneous_bodies_keep_their_matrix(void** state) {
  (void)state;
  test_random random = {21};
  for (int trial = 0; trial < 3; ++trial) {
    yw_sym6 c = trial == 0   ? yw_sym6_isotropic(3e5, 0.3)
                : trial == 1 ? yw_sym6_isotropic(1e6, 0.49)
                             : test_anisotropic(&random, 1e5);
    yw_tet_mesh mesh = test_box(2, 1, 1, YW_LATTICE_FIVE, 0.2, true, 30 + trial);
    fem_hierarchy h = test_levels(&mesh, fast() ? 2 : 3);
    yw_sym6* all = filled(&h, c);
    fem_samples samples = sample(&h, all, NULL, YW_FEM_EMBEDDED);
    for (int32_t t = 0; t < samples.count; ++t) {
      assert_at_most(test_difference(samples.elasticity + t, &c), 1e-6);
      assert_int_equal(samples.how[t], FEM_SAMPLED_EMBEDDED);
      // StVK material stays linear without limit.
      for (int m = 0; m < 6; ++m) {
        assert_true(samples.range[t].high[m] == INFINITY);
        assert_true(samples.range[t].low[m] == -INFINITY);
      }
    }
    yw_fem_samples_free(&samples);
    free(all);
    yw_fem_hierarchy_free(&h);
    yw_tet_mesh_free(&mesh);
  }
}

// Each root is homogeneous, with its own material: all levels keep the material of their root,
// however large the jump between neighbours.
static void homogeneous_roots_keep_their_matrix(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(4, 2, 2, YW_LATTICE_FIVE, 0, false, 1);
  fem_hierarchy h = test_levels(&mesh, 2);
  yw_sym6 soft = yw_sym6_isotropic(1.0, 0.3), hard = yw_sym6_isotropic(20.0, 0.3);
  yw_sym6* all = filled(&h, soft);
  int32_t first = h.level_start[2];
  for (int32_t t = first; t < h.num_tets; ++t) {
    if (centre_of(&h, h.root[t]).x > 2) all[t - first] = hard;
  }
  fem_samples samples = sample(&h, all, NULL, YW_FEM_EMBEDDED);
  for (int32_t t = 0; t < samples.count; ++t) {
    bool is_hard = centre_of(&h, h.root[t]).x > 2;
    fem_moduli m = yw_fem_moduli(samples.elasticity + t);
    assert_near(m.youngs, is_hard ? 20.0 : 1.0, 1e-6 * (is_hard ? 20.0 : 1.0));
  }
  yw_fem_samples_free(&samples);
  free(all);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

static yw_sym6 effective(const fem_hierarchy* h, int level, const yw_sym6* c, double size) {
  int32_t first = h->level_start[level];
  const periodic_cell cell = {
      h->num_nodes,      h->level_start[level + 1] - first, h->rest, h->nodes[first], c,
      {size, size, size}};
  return periodic_elasticity(&cell);
}

static double strain_energy(const yw_sym6* c, const double strain[6]) {
  double sum = 0;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) sum += strain[i] * yw_sym6_get(c, i, j) * strain[j];
  }
  return sum;
}

// Every level, as a periodic body of its own, against the finest one: the energies of the six unit
// strains, which are the diagonal entries, and of any others, which need all entries.
static void compare_levels(const fem_hierarchy* h, const yw_sym6* c, double size,
                           double tolerance) {
  fem_samples samples = sample(h, c, NULL, YW_FEM_EMBEDDED);
  yw_sym6 truth = effective(h, h->max_level, c, size);
  for (int32_t t = 0; t < samples.count; ++t) {
    assert_at_least(definiteness(samples.elasticity + t), 1e-4);
  }
  for (int l = 0; l < h->max_level; ++l) {
    yw_sym6 coarse = effective(h, l, samples.elasticity + h->level_start[l], size);
    for (int m = 0; m < 6; ++m) {
      double ratio = yw_sym6_get(&coarse, m, m) / yw_sym6_get(&truth, m, m);
      assert_near(ratio, 1.0, tolerance);
    }
    test_random random = {17};
    for (int k = 0; k < 100; ++k) {
      double strain[6];
      for (int m = 0; m < 6; ++m) strain[m] = test_random_in(&random, -1, 1);
      assert_near(strain_energy(&coarse, strain) / strain_energy(&truth, strain), 1.0, tolerance);
    }
  }
  yw_fem_samples_free(&samples);
}

static void mixtures_of_100_to_1_are_within_5_percent(void** state) {
  (void)state;
  int32_t n = 4;
  yw_tet_mesh mesh = test_box(n, n, n, YW_LATTICE_SIX, 0, false, 1);
  fem_hierarchy h = test_levels(&mesh, fast() ? 1 : 2);
  yw_sym6* c = mixture(&h, 1);
  compare_levels(&h, c, n, 0.05);
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

static void layers_of_10_to_1_are_within_10_percent(void** state) {
  (void)state;
  int32_t n = 2;
  yw_tet_mesh mesh = test_box(n, n, n, YW_LATTICE_SIX, 0, false, 1);
  fem_hierarchy h = test_levels(&mesh, 2);
  for (int k = 0; k < 2; ++k) {
    // Layers of half and of a quarter of a root: one and two, or two and four, inside a tet.
    yw_sym6* c = layers(&h, k ? 0.25 : 0.5);
    compare_levels(&h, c, n, 0.10);
    free(c);
  }
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

// The periodic solver itself: across layers there is a closed form, the harmonic mean.
static void periodic_truth_of_layers_is_the_closed_form(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(2, 2, 2, YW_LATTICE_SIX, 0, false, 1);
  fem_hierarchy h = test_levels(&mesh, 1);
  yw_sym6 *c = layers(&h, 0.5), truth = effective(&h, 1, c, 2.0);
  yw_sym6 soft = yw_sym6_isotropic(1.0, 0.3), hard = yw_sym6_isotropic(10.0, 0.3);
  for (int m = 1; m < 6; m += 2) {  // yy, yz, xy
    double a = yw_sym6_get(&soft, m, m), b = yw_sym6_get(&hard, m, m);
    assert_near(yw_sym6_get(&truth, m, m), 2 * a * b / (a + b), 1e-6);
  }
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

// Damping proportional to stiffness in every finest tet is also proportional in every coarse one.
static void damping_follows_the_same_strains(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(2, 2, 1, YW_LATTICE_FIVE, 0.1, true, 3);
  fem_hierarchy h = test_levels(&mesh, 2);
  yw_sym6 *c = mixture(&h, 2), *d = mixture(&h, 2);
  for (int32_t t = 0; t < test_num_finest(&h); ++t) {
    for (int k = 0; k < 21; ++k) d[t].m[k] *= 0.003;
  }
  const yw_fem_sampling kinds[3] = {YW_FEM_EMBEDDED, YW_FEM_STANDALONE, YW_FEM_AVERAGE};
  for (int k = 0; k < 3; ++k) {
    fem_samples samples = sample(&h, c, d, kinds[k]);
    for (int32_t t = 0; t < samples.count; ++t) {
      yw_sym6 expected = {{0}};
      yw_sym6_add(&expected, 0.003, samples.elasticity + t);
      assert_at_most(test_difference(samples.damping + t, &expected), 1e-9);
    }
    yw_fem_samples_free(&samples);
  }
  free(c);
  free(d);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

// The paper's form, taken literally: 2 to 30 times too soft for each level.
static void standing_alone_is_too_soft(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(1, 1, 1, YW_LATTICE_FIVE, 0.1, true, 4);
  fem_hierarchy h = test_levels(&mesh, 2);
  yw_sym6* c = filled(&h, yw_sym6_isotropic(1.0, 0.3));
  fem_samples samples = sample(&h, c, NULL, YW_FEM_STANDALONE);
  for (int32_t t = 0; t < samples.count; ++t) {
    double youngs = yw_fem_moduli(samples.elasticity + t).youngs;
    double levels = 2 - h.level[t];
    assert_at_most(youngs, pow(0.5, levels));
    assert_at_least(youngs, pow(1.0 / 30.0, levels));
    assert_true(yw_sym6_get(samples.elasticity + t, 0, 0) > 0);
    assert_at_least(definiteness(samples.elasticity + t), 1e-4);
  }
  yw_fem_samples_free(&samples);
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

static void average_is_the_volume_average(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(1, 1, 1, YW_LATTICE_FIVE, 0.1, true, 4);
  fem_hierarchy h = test_levels(&mesh, 2);
  yw_sym6* c = mixture(&h, 5);
  fem_samples samples = sample(&h, c, NULL, YW_FEM_AVERAGE);
  yw_sym6 sum = {{0}}, roots = {{0}};
  for (int32_t t = 0; t < test_num_finest(&h); ++t) {
    yw_sym6_add(&sum, yw_fem_volume(&h, h.level_start[2] + t), c + t);
  }
  for (int32_t r = 0; r < h.num_roots; ++r) {
    yw_sym6_add(&roots, yw_fem_volume(&h, r), samples.elasticity + r);
  }
  assert_at_most(test_difference(&roots, &sum), 1e-12);
  yw_fem_samples_free(&samples);
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

// Soft fillings of stiff shells: load cases hardly reach the shear of some tets. They use the
// fallback and are still positive definite.
static void tets_that_load_cases_miss_fall_back(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(3, 3, 3, YW_LATTICE_SIX, 0, false, 1);
  fem_hierarchy h = test_levels(&mesh, 1);
  yw_sym6* c = mixture(&h, 2);
  for (int32_t t = 0; t < test_num_finest(&h); ++t) {
    if (yw_fem_moduli(c + t).youngs > 50) c[t] = yw_sym6_isotropic(1e6, 0.3);
  }
  fem_samples samples = sample(&h, c, NULL, YW_FEM_EMBEDDED);
  int fallen = 0;
  for (int32_t t = 0; t < samples.count; ++t) {
    fallen += samples.how[t] == FEM_SAMPLED_LINEAR_FACES;
    yw_mat6 full = yw_sym6_full(samples.elasticity + t), lower;
    assert_true(yw_dense_cholesky(6, full.m, lower.m));
  }
  assert_at_least(fallen, 1);
  assert_at_most(fallen, samples.count / 2);
  yw_fem_samples_free(&samples);
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

// Two separate boxes, and two tets that share one edge: each part is solved by itself.
static void parts_are_sampled_on_their_own(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_create(NULL, 10, 3, &mesh), YW_OK);
  const yw_vec3 p[10] = {{0, 0, 0},  {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0},
                         {0, -1, 0}, {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
  const int32_t tets[12] = {0, 1, 3, 2, 0, 1, 5, 4, 6, 7, 8, 9};
  memcpy(mesh.positions, p, sizeof p);
  for (int t = 0; t < 3; ++t) {
    yw_dvec3 x[4];
    for (int k = 0; k < 4; ++k) mesh.tets[4 * t + k] = tets[4 * t + k];
    yw_tet_corners(&mesh, t, x);
    if (yw_tet_volume6(x) < 0)
      mesh.tets[4 * t] = tets[4 * t + 1], mesh.tets[4 * t + 1] = tets[4 * t];
  }
  fem_hierarchy h = test_levels(&mesh, 2);
  yw_sym6 soft = yw_sym6_isotropic(1.0, 0.3), hard = yw_sym6_isotropic(1e6, 0.2);
  yw_sym6* c = filled(&h, soft);
  for (int32_t t = 0; t < test_num_finest(&h); ++t) {
    if (h.root[h.level_start[2] + t] == 1) c[t] = hard;
  }
  fem_samples samples = sample(&h, c, NULL, YW_FEM_EMBEDDED);
  for (int32_t t = 0; t < samples.count; ++t) {
    assert_at_most(test_difference(samples.elasticity + t, h.root[t] == 1 ? &hard : &soft), 1e-6);
  }
  yw_fem_samples_free(&samples);
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

static void threads_give_the_same_bits(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(3, 2, 2, YW_LATTICE_FIVE, 0.1, true, 9);
  fem_hierarchy h = test_levels(&mesh, 2);
  yw_sym6* c = mixture(&h, 3);
  yw_error error = {0};
  yw_tasks* tasks = yw_tasks_create(NULL, 3);
  const fem_sampling_def def = {.tasks = tasks, .simd = YW_SIMD_PLAIN};
  fem_samples a = sample(&h, c, c, YW_FEM_EMBEDDED), b;
  must(yw_fem_sample(NULL, &h, c, c, &def, &b, &error), &error);
  assert_memory_equal(a.elasticity, b.elasticity, a.count * sizeof *a.elasticity);
  assert_memory_equal(a.damping, b.damping, a.count * sizeof *a.damping);
  assert_memory_equal(a.range, b.range, a.count * sizeof *a.range);
  assert_memory_equal(a.how, b.how, a.count);
  yw_fem_samples_free(&a);
  yw_fem_samples_free(&b);
  yw_tasks_destroy(tasks);
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

// The cubic of the range against the energy of the same motion: work along m is dW / d alpha.
static void range_stress_is_the_derivative_of_the_energy(void** state) {
  (void)state;
  test_random random = {41};
  yw_sym6 c[3];
  fem_piece piece[3];
  fem_range_sum sum = {0};
  for (int i = 0; i < 3; ++i) {
    c[i] = test_anisotropic(&random, 1.0);
    piece[i] = (fem_piece){.volume = test_random_in(&random, 0.5, 2), .elasticity = c + i};
    for (int k = 0; k < 54; ++k) piece[i].gradient[k] = test_random_in(&random, -1, 1);
    yw_fem_range_add(&sum, piece + i);
  }
  for (int m = 0; m < 6; ++m) {
    for (double alpha = -0.3; alpha < 0.35; alpha += 0.2) {
      double work[2], stress[6], line[6];
      for (int side = 0; side < 2; ++side) {
        double a = alpha + (side ? 1e-5 : -1e-5);
        work[side] = 0.0;
        for (int i = 0; i < 3; ++i) {
          double f[9], e[9], s[6];
          for (int k = 0; k < 9; ++k) f[k] = a * piece[i].gradient[9 * m + k] + (k % 4 == 0);
          for (int r = 0; r < 3; ++r) {
            for (int q = 0; q < 3; ++q) {
              e[3 * r + q] =
                  0.5 * (f[r] * f[q] + f[3 + r] * f[3 + q] + f[6 + r] * f[6 + q] - (r == q));
            }
          }
          const double green[6] = {e[0], e[4], e[8], 2 * e[5], 2 * e[2], 2 * e[1]};
          yw_sym6_apply(c + i, green, s);
          for (int k = 0; k < 6; ++k) work[side] += 0.5 * piece[i].volume * s[k] * green[k];
        }
      }
      yw_fem_range_stress(&sum, c, m, alpha, stress, line);
      double expected = (work[1] - work[0]) / 2e-5 / sum.volume;
      assert_near(stress[m], expected, 1e-8 + 1e-7 * fabs(expected));
    }
  }
}

// Mixtures become nonlinear as strains grow; the range says where, on both sides of zero.
static void mixtures_have_ranges(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(2, 2, 2, YW_LATTICE_SIX, 0, false, 1);
  fem_hierarchy h = test_levels(&mesh, 1);
  yw_sym6* c = mixture(&h, 7);
  fem_samples samples = sample(&h, c, NULL, YW_FEM_EMBEDDED);
  int limited = 0;
  for (int32_t t = 0; t < samples.count; ++t) {
    for (int m = 0; m < 6; ++m) {
      assert_true(samples.range[t].low[m] < 0 && samples.range[t].high[m] > 0);
      limited += isfinite(samples.range[t].low[m]);
    }
  }
  assert_at_least(limited, samples.count);
  yw_fem_samples_free(&samples);
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

static fem_family family_of(const fem_hierarchy* h, int32_t tet, const yw_sym6* c) {
  fem_family family;
  fem_child_rule rules[FEM_FAMILY_CHILDREN];
  family.num_children = yw_fem_child_rules(h->type[tet], rules);
  family.num_nodes = yw_fem_num_family_nodes(h->type[tet]);
  for (int i = 0; i < family.num_nodes; ++i) family.x[i] = h->rest[h->family[tet][i]];
  for (int k = 0; k < family.num_children; ++k) {
    int32_t child = h->first_child[tet] + k;
    memcpy(family.local[k], rules[k].local, 4);
    family.volume[k] = yw_fem_volume(h, child);
    family.elasticity[k] = c + (child - h->num_parents);
  }
  return family;
}

// The nonlinear response (Newton) of a coarse tet starts along the matrix of the linear solve.
static void bending_by_hand_begins_along_the_sampled_matrix(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(1, 1, 1, YW_LATTICE_FIVE, 0.1, true, 4);
  fem_hierarchy h = test_levels(&mesh, 1);
  yw_sym6* c = mixture(&h, 11);
  fem_samples samples = sample(&h, c, NULL, YW_FEM_STANDALONE);
  for (int32_t t = 0; t < samples.count; ++t) {
    fem_family family = family_of(&h, t, c);
    for (int m = 0; m < 6; ++m) {
      double low[6], high[6];
      yw_dvec3 x[FEM_FAMILY_NODES];
      memcpy(x, family.x, sizeof x);
      assert_true(yw_fem_family_bend(&family, m, -1e-5, x, low));
      memcpy(x, family.x, sizeof x);
      assert_true(yw_fem_family_bend(&family, m, 1e-5, x, high));
      double size = yw_sym6_get(samples.elasticity + t, m, m);
      for (int k = 0; k < 6; ++k) {
        assert_near((high[k] - low[k]) / 2e-5, yw_sym6_get(samples.elasticity + t, k, m),
                    1e-6 * size);
      }
    }
  }
  yw_dvec3 x[FEM_FAMILY_NODES];
  double stress[6];
  fem_family family = family_of(&h, 0, c);
  assert_false(yw_fem_family_bend(&family, 0, -0.6, x, stress));
  yw_fem_samples_free(&samples);
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

static void bad_matrices_are_refused(void** state) {
  (void)state;
  yw_tet_mesh mesh = test_box(1, 1, 1, YW_LATTICE_FIVE, 0, false, 1);
  fem_hierarchy h = test_levels(&mesh, 1);
  const double bad[5] = {0.0, -1.0, NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 5; ++k) {
    yw_sym6* c = filled(&h, yw_sym6_isotropic(1.0, 0.3));
    for (int i = 0; i < 21; ++i) c[17].m[i] *= bad[k];
    const fem_sampling_def def = {0};
    fem_samples samples;
    yw_error error = {0};
    assert_int_equal(yw_fem_sample(NULL, &h, c, NULL, &def, &samples, &error), YW_ERR_INVALID);
    assert_non_null(strstr(error.message, "17"));
    assert_null(samples.elasticity);
    free(c);
  }
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(homogeneous_bodies_keep_their_matrix),
      cmocka_unit_test(homogeneous_roots_keep_their_matrix),
      cmocka_unit_test(mixtures_of_100_to_1_are_within_5_percent),
      cmocka_unit_test(layers_of_10_to_1_are_within_10_percent),
      cmocka_unit_test(periodic_truth_of_layers_is_the_closed_form),
      cmocka_unit_test(damping_follows_the_same_strains),
      cmocka_unit_test(standing_alone_is_too_soft),
      cmocka_unit_test(average_is_the_volume_average),
      cmocka_unit_test(tets_that_load_cases_miss_fall_back),
      cmocka_unit_test(parts_are_sampled_on_their_own),
      cmocka_unit_test(threads_give_the_same_bits),
      cmocka_unit_test(range_stress_is_the_derivative_of_the_energy),
      cmocka_unit_test(mixtures_have_ranges),
      cmocka_unit_test(bending_by_hand_begins_along_the_sampled_matrix),
      cmocka_unit_test(bad_matrices_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
