// SPDX-License-Identifier: MIT
// The bar that bends under its weight: adaptive against the finest mesh, coming to rest, and what
// changes of the front do to the energy.
#include "fem/body.h"
#include "fem/fem.h"
#include "fem_bar.h"

// Through the first swing: the tip stays near that of the finest mesh with part of its tets.
static void bar_swings_as_the_finest_mesh(void** state) {
  (void)state;
  yw_fem_def def = yw_default_fem_def();
  def.params.mass_damping = 1.0f;
  def.max_level = getenv("YW_TEST_FAST") ? 2 : 3;
  check_fem_swing(&def, 2, def.max_level == 3, 0.2);
}

// A whole level coarser and under a small load, the tip is where the finest mesh has it, thanks to
// softening; without it, it is far off.
static void coarse_level_bends_as_the_finest(void** state) {
  (void)state;
  yw_fem_def def = yw_default_fem_def();
  def.params.mass_damping = 4.0f;
  def.params.sleep_speed = 0.0f;
  def.max_level = getenv("YW_TEST_FAST") ? 2 : 3;
  def.params.refine = YW_FEM_REFINE_FINEST;
  fem_test_bar finest = make_fem_bar(&def, 1.0f), coarse[2];
  def.params.refine = YW_FEM_REFINE_NEVER;
  def.params.min_level = def.max_level - 1;
  def.params.soften = true;
  coarse[0] = make_fem_bar(&def, 1.0f);
  def.params.soften = false;
  coarse[1] = make_fem_bar(&def, 1.0f);
  double worst[2] = {0}, deflection = 0.0;
  for (int32_t i = 0; i < 96; ++i) {
    assert_int_equal(yw_world_step(finest.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
    for (int k = 0; k < 2; ++k) {
      assert_int_equal(yw_world_step(coarse[k].world, FEM_TEST_FRAME, 1, NULL), YW_OK);
      worst[k] = fmax(worst[k], fem_tip_error(&coarse[k], &finest, &deflection));
    }
  }
  if (def.max_level == 3) {
    assert_at_most(worst[0] / deflection, 0.01);
    assert_at_least(worst[1] / deflection, 0.1);
  }
  free_fem_bar(&finest);
  for (int k = 0; k < 2; ++k) free_fem_bar(&coarse[k]);
}

// Damped to rest: within 1 % of the finest mesh, and the front stands still for the last second.
static void bar_comes_to_rest(void** state) {
  (void)state;
  yw_fem_def def = yw_default_fem_def();
  def.params.mass_damping = 12.0f;
  def.params.sleep_speed = 0.0f;
  def.max_level = getenv("YW_TEST_FAST") ? 2 : 3;
  fem_test_bar adaptive = make_fem_bar(&def, 9.81f);
  def.params.refine = YW_FEM_REFINE_FINEST;
  fem_test_bar finest = make_fem_bar(&def, 9.81f);
  int64_t switches = 0;
  for (int32_t i = 0; i < 480; ++i) {
    assert_int_equal(yw_world_step(adaptive.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
    if (i < 240) assert_int_equal(yw_world_step(finest.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
    yw_fem_state s = fem_state_of(adaptive.world, adaptive.body);
    if (i == 239) switches = s.splits + s.merges;
  }
  yw_fem_state s = fem_state_of(adaptive.world, adaptive.body);
  assert_int_equal(s.splits + s.merges, switches);
  double deflection = 0.0, error = fem_tip_error(&adaptive, &finest, &deflection);
  if (def.max_level == 3) {
    assert_at_most(error / deflection, 0.01);
    assert_at_most(s.num_tets / 20352.0, 0.65);
  }
  free_fem_bar(&adaptive);
  free_fem_bar(&finest);
}

// Energy of a body in a field of gravity along -z.
static double total_energy(const fem_body* b, const yw_particles* p, double gravity) {
  double energy = yw_fem_elastic_energy(b, p);
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    const yw_vec4 v = p->vel[n];
    double v2 = (double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z;
    energy += b->mass[n] * (0.5 * v2 + gravity * (double)p->pos[n].z);
  }
  return energy;
}

// Switches raise the energy by less than half a per cent of what the bar stores, all together.
static void switches_hardly_pump_energy(void** state) {
  (void)state;
  yw_fem_def def = yw_default_fem_def();
  def.params.mass_damping = 1.0f;
  def.max_level = getenv("YW_TEST_FAST") ? 2 : 3;
  def.youngs_modulus = 3e5f;
  yw_tet_mesh mesh;
  const int32_t cells[3] = {4, 1, 1};
  yw_aabb box = {{0, 0, 0}, {0.4f, 0.1f, 0.1f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  def.mesh = &mesh;
  void *model, *body;
  yw_particles p;
  assert_int_equal(yw_fem_model_create(NULL, &def, &model, NULL), YW_OK);
  assert_int_equal(yw_fem_method.body_create(model, NULL, &body, &p, NULL), YW_OK);
  fem_body* b = body;
  yw_hold* holds = calloc((size_t)p.count, sizeof *holds);
  yw_step_ctx ctx = {
      .gravity = {0, 0, -9.81f}, .simd = yw_simd_resolve(YW_SIMD_AUTO), .holds = holds};
  for (int32_t n = 0; n < p.count; ++n) {
    yw_vec3 x = yw_xyz(p.pos[n]);
    if (x.x < 1e-5f) holds[ctx.num_holds++] = (yw_hold){.particle = n, .begin = x, .end = x};
  }
  float interval = 30.0f * ((const fem_model*)model)->level_step[def.max_level];
  double upward = 0.0, stored = 0.0;
  for (float t = 0.0f; t < 0.5f; t += interval) {
    ctx.h = interval;
    b->params.refine = YW_FEM_REFINE_NEVER;
    assert_true(yw_fem_method.advance(body, &p, &ctx) >= 0);
    b->params.refine = YW_FEM_REFINE_JUMP;
    double before = total_energy(b, &p, 9.81);
    yw_fem_adapt(b, &p, &ctx);
    upward += fmax(total_energy(b, &p, 9.81) - before, 0.0);
    stored = fmax(stored, yw_fem_elastic_energy(b, &p));
  }
  assert_true(b->splits > 100 && b->merges > 10);
  assert_at_least(stored, 1.5);
  assert_at_most(upward / stored, 0.005);
  free(holds);
  yw_fem_method.body_destroy(body, &p);
  yw_fem_model_destroy(model);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bar_swings_as_the_finest_mesh),
      cmocka_unit_test(coarse_level_bends_as_the_finest),
      cmocka_unit_test(bar_comes_to_rest),
      cmocka_unit_test(switches_hardly_pump_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
