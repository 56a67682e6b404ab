// SPDX-License-Identifier: MIT
// Strain ranges of sampled matrices during a simulation: the paper's rule splits tets that leave
// them, and homogeneous material has no limits.
#include "methods/fem/sampling.h"
#include "support/fem_bar.h"
#include "yawara/fem.h"

static void mixed(void* context, yw_vec3 p, int32_t label, yw_fem_material* m) {
  (void)context;
  (void)label;
  // Neighbouring finest tets differ: a fine pattern in all directions.
  int cell = (int)floorf(9.0f * p.x) + (int)floorf(11.0f * p.y) + (int)floorf(7.0f * p.z);
  m->youngs_modulus = cell % 2 ? 100.0f : 1e4f;
}

// Tets in use after a body of 48 roots, stretched along x, was checked once.
static int32_t tets_in_range(bool mixture, float stretch, float error_share, float stress) {
  const int32_t cells[3] = {2, 2, 2};
  yw_fem_def def = yw_default_fem_def();
  def.max_level = 1;
  def.youngs_modulus = 1000;
  def.threads = 1;
  def.material_at = mixture ? mixed : NULL;
  def.params.refine = YW_FEM_REFINE_RANGE;
  def.params.strain_range = 100;
  def.range_error = error_share;
  def.range_stress = stress;
  def.params.check_interval = 1e-6f;
  def.params.sleep_speed = 0;
  yw_model* model = make_fem_model(&def, cells, (yw_aabb){{0, 0, 0}, {1, 1, 1}});
  const yw_tet_mesh* rest = yw_model_tets(model);
  yw_vec3* pose = malloc(rest->num_vertices * sizeof *pose);
  for (int32_t i = 0; i < rest->num_vertices; ++i) {
    pose[i] = rest->positions[i];
    pose[i].x *= stretch;
  }
  yw_world* world = make_weightless_world(1);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.pose = pose;
  yw_body_id body;
  yw_error error = {0};
  assert_int_equal(yw_body_create(world, &body_def, &body, &error), YW_OK);
  assert_int_equal(yw_world_step(world, 1e-4f, 1, NULL), YW_OK);
  int32_t tets = fem_state_of(world, body).num_tets;
  yw_world_destroy(world);
  yw_model_release(model);
  free(pose);
  return tets;
}

static int32_t tets_when_stretched(bool mixture, float stretch) {
  return tets_in_range(mixture, stretch, 0.0f, 0.0f);
}

// T1 and T2 of the paper: either one, if large enough, keeps the coarse tets.
static void tolerances_widen_the_range(void** state) {
  (void)state;
  assert_int_equal(tets_in_range(true, 1.5f, 100.0f, 0.0f), 48);
  assert_int_equal(tets_in_range(true, 1.5f, 0.0f, 1e9f), 48);
  assert_at_least(tets_in_range(true, 1.5f, 0.0f, 1e-3f), 300);
}

// Condition 3 of section 5.2: children whose strains differ from their parent's are not merged.
static int32_t tets_after_release(bool bent) {
  const int32_t cells[3] = {2, 2, 2};
  yw_fem_def def = yw_default_fem_def();
  def.max_level = 1;
  def.youngs_modulus = 1000;
  def.threads = 1;
  def.params.refine = YW_FEM_REFINE_RANGE;
  def.params.strain_range = 100;
  def.params.check_interval = 1e-6f;
  def.params.sleep_speed = 0;
  def.params.min_level = 1;
  yw_model* model = make_fem_model(&def, cells, (yw_aabb){{0, 0, 0}, {1, 1, 1}});
  const yw_tet_mesh* rest = yw_model_tets(model);
  yw_vec3* pose = malloc(rest->num_vertices * sizeof *pose);
  for (int32_t i = 0; i < rest->num_vertices; ++i) {
    pose[i] = rest->positions[i];
    pose[i].x += 0.2f * (bent ? pose[i].x * pose[i].y : pose[i].x);
  }
  yw_world* world = make_weightless_world(1);
  yw_body_id body;
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.pose = pose;
  assert_int_equal(yw_body_create(world, &body_def, &body, NULL), YW_OK);
  yw_fem_params params = def.params;
  params.min_level = 0;
  assert_int_equal(yw_body_set_fem_params(world, body, &params), YW_OK);
  assert_int_equal(yw_world_step(world, 1e-4f, 1, NULL), YW_OK);
  int32_t tets = fem_state_of(world, body).num_tets;
  yw_world_destroy(world);
  yw_model_release(model);
  free(pose);
  return tets;
}

static void only_equal_strains_are_merged(void** state) {
  (void)state;
  assert_int_equal(tets_after_release(false), 48);
  assert_at_least(tets_after_release(true), 500);
}

static void mixtures_split_where_their_range_ends(void** state) {
  (void)state;
  assert_int_equal(tets_when_stretched(true, 1.0f), 48);
  assert_at_least(tets_when_stretched(true, 1.5f), 300);
}

static void one_material_has_no_range(void** state) {
  (void)state;
  assert_int_equal(tets_when_stretched(false, 1.5f), 48);
}

// Section 4.2: lines fitted to stresses of settled tets, without points far off.
static void lines_are_fitted_without_outliers(void** state) {
  (void)state;
  double x[12], y[12];
  bool kept[12];
  for (int i = 0; i < 12; ++i) {
    x[i] = 0.01 * (i - 5.5);
    y[i] = 3.0 * x[i] + 1e-4 * (i % 2 ? 1 : -1);
  }
  y[2] = 5.0;
  y[9] = NAN;
  assert_near(yw_fem_fit_line(12, x, y, kept), 3.0, 0.01);
  for (int i = 0; i < 12; ++i) assert_int_equal(kept[i], i != 2 && i != 9);
}

// The settled matrix of a family is, for small strains, that of the linear solve; its lines hold in
// a range that ends, since a tet alone is not linear.
static void settled_families_have_the_linear_matrix(void** state) {
  (void)state;
  const int32_t cells[3] = {1, 1, 1};
  yw_tet_mesh mesh;
  fem_hierarchy h;
  assert_int_equal(
      yw_tet_mesh_lattice(NULL, (yw_aabb){{0, 0, 0}, {1, 1, 1}}, cells, YW_LATTICE_SIX, &mesh), 0);
  assert_int_equal(yw_fem_hierarchy_create(NULL, &mesh, 1, 0.0, &h, NULL), YW_OK);
  int32_t count = h.num_tets - h.num_parents;
  yw_sym6* elasticity = malloc(sizeof *elasticity * (size_t)count);
  for (int32_t t = 0; t < count; ++t) {
    elasticity[t] = yw_sym6_isotropic(t % 3 ? 1.0 : 4.0, 0.3);
  }
  fem_samples linear, settled;
  fem_sampling_def def = {.kind = YW_FEM_STANDALONE};
  assert_int_equal(yw_fem_sample(NULL, &h, elasticity, NULL, &def, &linear, NULL), YW_OK);
  def.kind = YW_FEM_SETTLED;
  def.range_tolerance = 0.05;
  assert_int_equal(yw_fem_sample(NULL, &h, elasticity, NULL, &def, &settled, NULL), YW_OK);
  for (int32_t t = 0; t < h.num_parents; ++t) {
    assert_int_equal(settled.how[t], FEM_SAMPLED_SETTLED);
    double size = yw_sym6_get(&linear.elasticity[t], 0, 0);
    for (int k = 0; k < 36; ++k) {
      assert_near(yw_sym6_get(&settled.elasticity[t], k / 6, k % 6) / size,
                  yw_sym6_get(&linear.elasticity[t], k / 6, k % 6) / size, 0.15);
    }
    bool ends = false;
    for (int m = 0; m < 6; ++m) {
      ends = ends || settled.range[t].high[m] < 0.15f || settled.range[t].low[m] > -0.15f;
    }
    assert_true(ends);
  }
  yw_fem_samples_free(&linear);
  yw_fem_samples_free(&settled);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
  free(elasticity);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_fitted_without_outliers),
      cmocka_unit_test(settled_families_have_the_linear_matrix),
      cmocka_unit_test(mixtures_split_where_their_range_ends),
      cmocka_unit_test(one_material_has_no_range),
      cmocka_unit_test(tolerances_widen_the_range),
      cmocka_unit_test(only_equal_strains_are_merged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
