// SPDX-License-Identifier: MIT
// Bars whose stiffness rises or falls by a factor of four along them: coarse levels with sampled
// matrices against the finest mesh.
#include "model/model.h"
#include "support/fem_energy.h"
#include "yawara/fem.h"

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

static yw_fem_def graded_def(yw_fem_material_at material) {
  yw_fem_def def = yw_default_fem_def();
  def.params.soften = YW_FEM_SOFTEN_FINEST;
  def.params.mass_damping = 1.0f;
  def.max_level = getenv("YW_TEST_FAST") ? 2 : 3;
  def.material_at = material;
  return def;
}

// Stiff at the clamp: strains are small there, but the tip depends on them.
static void bar_stiff_at_the_clamp_swings_as_the_finest_mesh(void** state) {
  (void)state;
  yw_fem_def def = graded_def(softer_along_x);
  check_fem_swing(&def, 2, def.max_level == 3, 0.07);
}

// With both values of tau, or one with YW_TEST_FAST.
static void bar_stiff_at_the_tip_swings_as_the_finest_mesh(void** state) {
  (void)state;
  yw_fem_def def = graded_def(stiffer_along_x);
  check_fem_swing(&def, getenv("YW_TEST_FAST") ? 1 : 2, def.max_level == 3, 0.14);
}

// As for one material (test_fem_bar.c); one way with YW_TEST_FAST.
static void switches_hardly_pump_energy(void** state) {
  (void)state;
  const yw_fem_material_at materials[2] = {softer_along_x, stiffer_along_x};
  for (int k = 0; k < (getenv("YW_TEST_FAST") ? 1 : 2); ++k) {
    yw_fem_def def = graded_def(materials[k]);
    fem_switches s = fem_switch_energy(&def, 9.81f, getenv("YW_TEST_FAST") ? 0.25f : 0.5f);
    assert_true(s.splits > 100);
    assert_at_most(s.upward / s.stored, 0.005);
  }
}

// Masses and stable steps of a block of softened tets of all sizes.
static void several_workers_find_the_same_steps(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  const int32_t cells[3] = {9, 7, 5};
  yw_aabb box = {{0, 0, 0}, {1, 1, 1}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    mesh.positions[i].x *= 0.2f + mesh.positions[i].x;
    mesh.positions[i].y *= 0.5f + mesh.positions[i].z;
  }
  yw_fem_def def = yw_default_fem_def();
  void* models[2];
  def.mesh = &mesh;
  def.max_level = 2;
  def.mass_scaling = 0.05f;
  for (int k = 0; k < 2; ++k) {
    def.threads = 1 + 2 * k;
    assert_int_equal(yw_fem_model_create(NULL, &def, &models[k], NULL), YW_OK);
  }
  const fem_model *alone = models[0], *shared = models[1];
  assert_true(alone->soft_step[2] > alone->level_step[2]);
  assert_true(alone->moved_mass > 0.0f);
  assert_memory_equal(alone->soft_step, shared->soft_step, sizeof alone->soft_step);
  assert_memory_equal(alone->level_step, shared->level_step, sizeof alone->level_step);
  assert_memory_equal(alone->fine_mass, shared->fine_mass,
                      sizeof(double) * (size_t)alone->h.num_nodes);
  for (int k = 0; k < 2; ++k) yw_fem_model_destroy(models[k]);
  yw_tet_mesh_free(&mesh);
}

// Default bodies whose stiffness varies ---------------------------------------------------------

static void hardly_varies(void* context, yw_vec3 point, int32_t label, yw_fem_material* material) {
  (void)context;
  (void)label;
  material->youngs_modulus = 1e5f * (1.0f + 1e-4f * point.x);
}

// Tets of the finest level next to each other are up to a hundred times as stiff.
static void grains(void* context, yw_vec3 point, int32_t label, yw_fem_material* material) {
  (void)context;
  (void)label;
  float grain =
      floorf(40.0f * point.x) + 3.0f * floorf(40.0f * point.y) + 5.0f * floorf(40.0f * point.z);
  material->youngs_modulus = ((int)grain & 1) ? 1e5f : 1e3f;
}

static fem_model* make_block(yw_fem_material_at material, yw_tet_mesh* mesh) {
  const int32_t cells[3] = {4, 2, 2};
  yw_aabb box = {{0, 0, 0}, {0.4f, 0.2f, 0.15f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, mesh), YW_OK);
  yw_fem_def def = yw_default_fem_def();
  def.mesh = mesh;
  def.max_level = 2;
  def.material_at = material;
  def.params.mass_damping = 0.0f;
  def.params.refine = YW_FEM_REFINE_NEVER;
  def.params.min_level = 2;
  void* model;
  assert_int_equal(yw_fem_model_create(NULL, &def, &model, NULL), YW_OK);
  return model;
}

static void stiffness_that_hardly_varies_takes_the_same_steps(void** state) {
  (void)state;
  yw_tet_mesh mesh[2];
  fem_model *uniform = make_block(NULL, &mesh[0]), *varied = make_block(hardly_varies, &mesh[1]);
  assert_null(uniform->materials.stiffness);
  assert_non_null(varied->materials.stiffness);
  for (int l = 1; l <= 2; ++l) {
    assert_at_least(uniform->soft_step[l], 1.05 * uniform->level_step[l]);
    assert_near(varied->soft_step[l] / uniform->soft_step[l], 1, 1e-3);
  }
  yw_fem_model_destroy(uniform);
  yw_fem_model_destroy(varied);
  for (int k = 0; k < 2; ++k) yw_tet_mesh_free(&mesh[k]);
}

// Velocities that differ from node to node stir all frequencies; nothing damps them.
static void grains_of_any_stiffness_gain_no_energy(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  void *model = make_block(grains, &mesh), *body;
  yw_particles p;
  test_random random = {3};
  assert_int_equal(yw_fem_method.body_create(model, NULL, &body, &p, NULL), YW_OK);
  fem_body* b = body;
  yw_step_ctx ctx = {.simd = yw_simd_resolve(YW_SIMD_AUTO)};
  ctx.h = 10.0f * ((const fem_model*)model)->soft_step[2];
  assert_true(yw_fem_method.advance(body, &p, &ctx) >= 0);
  assert_int_equal(b->front.finest, 2);
  for (int32_t n = 0; n < p.count; ++n) {
    for (int k = 0; k < 3; ++k) (&p.vel[n].x)[k] += (float)test_random_in(&random, -0.03, 0.03);
  }
  // Energy of single steps swings with the fastest vibrations; it must not grow.
  double largest[2] = {0.0, 0.0};
  for (int k = 0; k < 600; ++k) {
    assert_true(yw_fem_method.advance(body, &p, &ctx) >= 0);
    largest[k / 300] = fmax(largest[k / 300], fem_total_energy(b, &p, 0.0));
  }
  assert_at_most(largest[1] / largest[0], 1.02);
  yw_fem_method.body_destroy(body, &p);
  yw_fem_model_destroy(model);
  yw_tet_mesh_free(&mesh);
}

// The last tenth of a bar, all of it of tets that want shorter steps than the rest. It weighs what
// it weighed, however much mass moves to the smallest of them.
static double mass_of_end(float mass_scaling, yw_fem_info* info) {
  const yw_aabb box = {{0, 0, 0}, {3.2f, 0.2f, 0.2f}};
  const int32_t cells[3] = {64, 4, 4};
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    yw_vec3* p = &mesh.positions[i];
    bool inside = fabsf(p->y - 0.1f) < 0.01f && fabsf(p->z - 0.1f) < 0.01f;
    bool odd = (int32_t)lroundf(p->x / 0.05f) % 2 == 1;
    if (p->x > 2.88f && p->x < 3.19f && inside && odd) p->x += 0.04f;
  }
  yw_fem_def def = yw_default_fem_def();
  def.mesh = &mesh;
  def.max_level = 1;
  def.mass_scaling = mass_scaling;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_fem(NULL, &def, &model, NULL), YW_OK);
  assert_int_equal(yw_model_fem_info(model, info), YW_OK);
  const fem_model* fem = model->data;
  double mass = 0.0;
  for (int32_t n = 0; n < fem->h.num_nodes; ++n) {
    if (fem->h.rest[n].x > 2.88) mass += fem->fine_mass[n];
  }
  yw_tet_mesh_free(&mesh);
  yw_model_release(model);
  return mass;
}

static void thin_parts_keep_their_weight(void** state) {
  (void)state;
  yw_fem_info plain, scaled;
  double mass = mass_of_end(0.0f, &plain), moved = mass_of_end(0.01f, &scaled);
  assert_true(scaled.moved_mass > 0.005f);
  assert_true(scaled.levels[1].time_step > 1.5f * plain.levels[1].time_step);
  assert_near(moved / mass, 1.0, 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thin_parts_keep_their_weight),
      cmocka_unit_test(bar_stiff_at_the_clamp_swings_as_the_finest_mesh),
      cmocka_unit_test(bar_stiff_at_the_tip_swings_as_the_finest_mesh),
      cmocka_unit_test(switches_hardly_pump_energy),
      cmocka_unit_test(several_workers_find_the_same_steps),
      cmocka_unit_test(stiffness_that_hardly_varies_takes_the_same_steps),
      cmocka_unit_test(grains_of_any_stiffness_gain_no_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
