// SPDX-License-Identifier: MIT
// Frames bodies in a world: obstacles, pins, other bodies, snapshots, same bits, no heap in a step.
#include "methods/frames/frames.h"
#include "support/method_world.h"
#include "yawara/match.h"

// twist, rad/m, makes an example; 0: none.
static yw_model* make_twisted(int cx, int cy, int cz, yw_frames_kind kind, float young,
                              yw_frames_solver solver, float twist) {
  yw_error error = {0};
  yw_tet_mesh mesh = {0};
  const int32_t cells[3] = {cx, cy, cz};
  yw_vec3 half = {0.05f * (float)cx, 0.05f * (float)cy, 0.05f * (float)cz};
  yw_aabb box = {{-half.x, -half.y, -half.z}, half};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  int32_t* list = malloc(sizeof(int32_t) * 8 * (size_t)(cx * cy * cz));
  yw_lattice_cells(cells, list);
  yw_frames_def def = yw_default_frames_def();
  def.mesh = &mesh;
  def.kind = kind;
  def.cells = list;
  def.num_cells = cx * cy * cz;
  def.youngs_modulus = young;
  def.params.solver = solver;
  def.params.damping = 1.0f;
  yw_vec3* pose = malloc(sizeof *pose * (size_t)mesh.num_vertices);
  twist_positions(mesh.num_vertices, mesh.positions, twist, pose);
  const yw_vec3* const poses[] = {pose};
  def.num_examples = twist != 0;
  def.examples = poses;
  yw_model* model = NULL;
  if (yw_model_create_frames(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  assert_string_equal(yw_model_method(model), "frames");
  yw_tet_mesh_free(&mesh);
  free(list);
  free(pose);
  return model;
}

static yw_model* make_frames(int cx, int cy, int cz, yw_frames_kind kind, float young,
                             yw_frames_solver solver) {
  return make_twisted(cx, cy, cz, kind, young, solver, 0);
}

static float lowest(const yw_world* world, yw_body_id id) {
  int32_t n;
  const yw_vec3* x = yw_body_positions(world, id, &n);
  float low = INFINITY;
  for (int32_t i = 0; i < n; ++i) low = fminf(low, x[i].y);
  return low;
}

static const yw_quat upright = {0, 0, 0, 1};

// A block dropped on the floor comes to rest on it, slightly compressed by its weight.
static void a_block_comes_to_rest_on_the_floor(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    for (int solver = 0; solver < 2; ++solver) {
      yw_world* world = make_world(1, YW_SIMD_AUTO, true);
      const float young = 1e5f;
      yw_model* model = make_frames(4, 6, 4, kind, young, solver);
      yw_body_id id = add_body(world, model, (yw_vec3){0, 0.5f, 0}, upright);
      for (int step = 0; step < 240; ++step) {
        assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
      }
      yw_body_sums sums;
      assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
      // The second-order formula keeps vibrating.
      bool lively = solver == YW_FRAMES_BDF2;
      assert_at_most(2 * sums.kinetic_energy / sums.mass, lively ? 0.05 : 1e-9);
      assert_near(lowest(world, id), 0, 1e-5);
      // Under its own weight a column of height H sinks by rho g H^2 / 2E, its centre by a third of
      // rho g H^2 / E.
      double sink = 1000 * 9.81 * 0.36 / young / 3;
      assert_near(sums.center[1], 0.3 - sink, lively ? 0.01 : 0.1 * sink);
      yw_world_destroy(world);
      yw_model_release(model);
    }
  }
}

// Acceleration down a slope of 20 degrees.
static double slide(float friction, yw_frames_solver solver) {
  yw_model* model = make_frames(6, 3, 4, YW_FRAMES_RINGS, 1e6f, solver);
  yw_body_sums before, after;
  slide_down(model, 0.151f, friction, &before, &after);
  yw_model_release(model);
  // From t = 1/4 s to 5/4 s the way is (25 - 1) / 32 of the acceleration.
  return (along_slope(after.center) - along_slope(before.center)) / 0.75;
}

// Acceleration g (sin - mu cos) on a steep slope, none below the friction angle.
static void friction_holds_or_slows_a_block_on_a_slope(void** state) {
  (void)state;
  for (int solver = 0; solver < 3; ++solver) {
    const double free = 9.81 * (double)SLOPE_SIN, normal = 9.81 * (double)SLOPE_COS;
    // First-order steps are ahead by half a step in a second: 1.1 %.
    assert_near(slide(0.0f, solver), free, 0.012 * free);
    assert_near(slide(0.2f, solver), free - 0.2 * normal, 0.012 * free);
    assert_near(slide(0.6f, solver), 0, 1e-3);
  }
}

// A floor that a body is near, but does not touch, does not change its motion, in steps of 40 us:
// sums of what rounding and sweeps do to momentum are taken away as in space.
static void floors_that_are_not_touched_do_nothing(void** state) {
  (void)state;
  for (int solver = YW_FRAMES_IMPLICIT; solver <= YW_FRAMES_CLASSIC; ++solver) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, true);
    yw_model* model = make_frames(2, 2, 2, YW_FRAMES_RINGS, 1e5f, (yw_frames_solver)solver);
    yw_body_id id = add_body(world, model, (yw_vec3){0, 0.11f, 0}, upright);
    yw_vec3 x[27], v[27];
    int32_t count;
    memcpy(x, yw_body_positions(world, id, &count), sizeof x);
    assert_int_equal(count, 27);
    for (int i = 0; i < 27; ++i) v[i] = (yw_vec3){0.3f, 0.2f, 0.1f};
    assert_int_equal(yw_body_set_state(world, id, x, v), YW_OK);
    assert_int_equal(yw_world_set_gravity(world, (yw_vec3){0, 0, 0}), YW_OK);
    for (int step = 0; step < 4; ++step) {
      assert_true(yw_world_step(world, 4e-3f, 100, NULL) >= 0);
    }
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
    assert_near(sums.kinetic_energy / (0.5 * 0.14 * sums.mass), 1, 1e-3);
    yw_world_destroy(world);
    yw_model_release(model);
  }
}

// Nor does one that is touched shake what lies on it: a classic block that turned comes to rest in
// short steps, up to some roundings of its positions in a step. (Sweeps changed its momentum, and
// in a fifth of a second of 100 us steps it got 0.65 m/s.)
static void floors_that_are_touched_do_not_shake(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = make_frames(2, 2, 2, YW_FRAMES_RINGS, 1e6f, YW_FRAMES_CLASSIC);
  yw_body_id id = add_body(world, model, (yw_vec3){0, 0.1f, 0}, upright);
  yw_vec3 x[27], v[27];
  int32_t count;
  memcpy(x, yw_body_positions(world, id, &count), sizeof x);
  assert_int_equal(count, 27);
  for (int i = 0; i < 27; ++i) v[i] = (yw_vec3){0.1f * x[i].z, 0, -0.1f * x[i].x};
  assert_int_equal(yw_body_set_state(world, id, x, v), YW_OK);
  for (int step = 0; step < 50; ++step) {
    assert_true(yw_world_step(world, 4e-3f, 40, NULL) >= 0);
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
    assert_at_most(sqrt(2 * sums.kinetic_energy / sums.mass), 5e-3);
  }
  yw_world_destroy(world);
  yw_model_release(model);
}

// Settings are those of the model until they are changed for one body; values out of range, or for
// another method, are rejected.
static void settings_are_changed_while_a_body_runs(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_frames(2, 2, 2, YW_FRAMES_RINGS, 1e5f, YW_FRAMES_BDF2);
  yw_model* other = make_box_model(1, 1, 1, 0);
  yw_body_id id = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  yw_body_id twin = add_body(world, model, (yw_vec3){1, 0, 0}, upright);
  yw_body_id match = add_body(world, other, (yw_vec3){3, 0, 0}, upright);
  yw_frames_params params;
  yw_match_params match_params;
  assert_int_equal(yw_body_frames_params(world, id, &params), YW_OK);
  assert_int_equal(params.solver, YW_FRAMES_BDF2);
  assert_near(params.damping, 1.0, 0);
  params.solver = YW_FRAMES_EXTENDED;
  params.substeps = 7;
  assert_int_equal(yw_body_set_frames_params(world, id, &params), YW_OK);
  params.substeps = 0;
  assert_int_equal(yw_body_set_frames_params(world, id, &params), YW_ERR_INVALID);
  assert_int_equal(yw_body_set_frames_params(world, id, NULL), YW_ERR_INVALID);
  assert_int_equal(yw_body_frames_params(world, id, &params), YW_OK);
  assert_int_equal(params.substeps, 7);
  assert_int_equal(yw_body_frames_params(world, twin, &params), YW_OK);
  assert_int_equal(params.solver, YW_FRAMES_BDF2);
  assert_int_equal(yw_body_frames_params(world, match, &params), YW_ERR_INVALID);
  assert_int_equal(yw_body_set_frames_params(world, match, &params), YW_ERR_INVALID);
  assert_int_equal(yw_body_match_params(world, id, &match_params), YW_ERR_INVALID);
  float weights[2] = {7, 7};
  assert_int_equal(yw_body_frames_weights(world, id, weights, 2), 1);
  assert_near(weights[0], 1, 0);
  assert_near(weights[1], 7, 0);
  assert_int_equal(yw_body_frames_weights(world, match, weights, 2), 0);
  yw_step_report report;
  assert_true(yw_world_step(world, 1.0f / 60, 1, &report) >= 0);
  assert_int_equal(report.stalled_solves, 0);
  yw_world_destroy(world);
  yw_model_release(model);
  yw_model_release(other);
}

static void fill_world(yw_world* world, int solver) {
  yw_error error = {0};
  yw_model* rings = make_frames(12, 20, 15, YW_FRAMES_RINGS, 2e5f, solver);
  float twist = solver == YW_FRAMES_CLASSIC ? 0.0f : 2.0f;
  yw_model* plank = make_twisted(3, 9, 3, YW_FRAMES_RINGS, 1e6f, solver, twist);
  yw_model* cells = make_frames(3, 3, 3, YW_FRAMES_CELLS, 5e4f, solver);
  yw_body_id a = add_body(world, rings, (yw_vec3){0, 1.4f, 0}, upright);
  add_body(world, cells, (yw_vec3){0.05f, 0.2f, 0.1f}, (yw_quat){0.6f, 0, 0, 0.8f});
  add_body(world, plank, (yw_vec3){1.5f, 1.3f, 0}, (yw_quat){0, 0, 0.28f, 0.96f});
  int32_t n, vertices[2] = {0, 1};
  yw_body_positions(world, a, &n);
  vertices[0] = n - 1, vertices[1] = n - 2;
  yw_pin_def pin = yw_default_pin_def();
  pin.body = a;
  pin.vertices = vertices;
  pin.num_vertices = 2;
  yw_pin_id id;
  assert_int_equal(yw_pin_create(world, &pin, &id, &error), YW_OK);
  vertices[0] = n / 2, vertices[1] = n / 2 + 1;
  pin.stiffness = 500;
  pin.damping = 3;
  assert_int_equal(yw_pin_create(world, &pin, &id, &error), YW_OK);
  yw_model_release(rings);
  yw_model_release(cells);
  yw_model_release(plank);
}

static void bits_do_not_depend_on_threads_or_instruction_sets(void** state) {
  (void)state;
  for (int solver = 0; solver < 4; ++solver) {
    uint64_t hash = hash_after(fill_world, solver, 8, 1, YW_SIMD_PLAIN);
    assert_true(hash_after(fill_world, solver, 8, 2, YW_SIMD_AUTO) == hash);
    if (solver > 0) continue;
    for (int simd = YW_SIMD_AVX2; simd <= (int)yw_simd_resolve(YW_SIMD_AUTO); ++simd) {
      assert_true(hash_after(fill_world, solver, 8, 1, simd) == hash);
    }
    assert_true(hash_after(fill_world, solver, 8, 3, YW_SIMD_AUTO) == hash);
  }
}

static void snapshots_go_on_bit_for_bit(void** state) {
  (void)state;
  for (int solver = 0; solver < 4; ++solver) check_snapshot(fill_world, solver, 5, 5);
}

static void steps_do_not_allocate(void** state) {
  (void)state;
  for (int solver = 0; solver < 4; ++solver) check_no_heap(fill_world, solver, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_are_changed_while_a_body_runs),
      cmocka_unit_test(a_block_comes_to_rest_on_the_floor),
      cmocka_unit_test(floors_that_are_not_touched_do_nothing),
      cmocka_unit_test(floors_that_are_touched_do_not_shake),
      cmocka_unit_test(friction_holds_or_slows_a_block_on_a_slope),
      cmocka_unit_test(bits_do_not_depend_on_threads_or_instruction_sets),
      cmocka_unit_test(snapshots_go_on_bit_for_bit),
      cmocka_unit_test(steps_do_not_allocate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
