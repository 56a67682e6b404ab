// SPDX-License-Identifier: MIT
// World features for methods beyond a fixed set of particles: placement, method surfaces, changing
// numbers of particles, bodies that start later, fields.
#include "support/grains.h"
#include "support/world_fixture.h"
#include "world/fingerprint.h"

static const yw_quat upright = {0, 0, 0, 1};
static const yw_vec3 four[4] = {{0, 1, 0}, {0.5f, 1, 0}, {1, 1, 0}, {1.5f, 1, 0}};

static yw_body_id add_grains(yw_world* world, const yw_method* method, int32_t capacity,
                             int32_t period, double start) {
  yw_model* model = make_grains(method, 4, capacity, four, 0.05f, 2.0f, period);
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.start = start;
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
  yw_model_release(model);
  return id;
}

static void run(yw_world* world, int32_t steps) {
  for (int32_t i = 0; i < steps; ++i) {
    assert_int_equal(yw_world_step(world, 1 / 60.0f, 4, NULL), YW_OK);
  }
}

// Surfaces --------------------------------------------------------------------------------------

static void a_method_is_told_how_it_was_placed(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_grains(&ribbon_method, 4, 4, four, 0.05f, 2.0f, 0);
  const yw_tri_mesh* rest = yw_model_surface(model);
  assert_int_equal(rest->num_vertices, 8);
  assert_int_equal(rest->num_triangles, 6);
  assert_true(yw_model_surface_has_state(model));
  assert_int_equal(yw_model_tets(model)->num_tets, 0);
  yw_vec3 shown[8];
  assert_int_equal(yw_model_surface_positions(model, four, shown), YW_ERR_INVALID);

  // A quarter turn about y: x becomes -z. Not of length 1: the world normalises.
  yw_body_id id = add_body(world, model, (yw_vec3){0, 2, 0}, (yw_quat){0, 2, 0, 2});
  assert_int_equal(yw_body_surface_positions(world, id, shown, 7), YW_ERR_INVALID);
  assert_int_equal(yw_body_surface_positions(world, id, shown, 8), YW_OK);
  assert_near(shown[4].x, 0.0, 1e-6);
  assert_near(shown[4].y, 3.0, 1e-6);
  assert_near(shown[4].z, -1.05, 1e-6);
  assert_near(shown[5].z, -0.95, 1e-6);

  yw_error error = {0};
  yw_model* alone = make_grains(&ribbon_method, 4, 4, four, 0.05f, 2.0f, 0);
  assert_int_equal(yw_model_embed_surface(alone, rest, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "embedded in tets only"));
  assert_non_null(strstr(error.message, "\"ribbon\""));
  yw_model_release(alone);
  yw_model_release(model);
  yw_world_destroy(world);
}

static void loose_bodies_have_radii_and_no_surface(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id id = add_grains(world, &grain_method, 8, 0, 0);
  const yw_model* model = yw_body_model(world, id);
  assert_int_equal(yw_model_surface(model)->num_triangles, 0);
  int32_t count = 0;
  const float* radii = yw_body_radii(world, id, &count);
  assert_int_equal(count, 4);
  for (int i = 0; i < 4; ++i) assert_near(radii[i], 0.05f, 0);
  yw_model* box = make_box_model(1, 1, 1, 0);
  yw_body_id volume = add_body(world, box, (yw_vec3){5, 0, 0}, upright);
  assert_null(yw_body_radii(world, volume, NULL));
  yw_model_release(box);
  yw_world_destroy(world);
}

// Changing counts -------------------------------------------------------------------------------

static void particles_come_and_go(void** state) {
  (void)state;
  for (int period = -3; period <= 3; period += 6) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, true);
    yw_body_id id = add_grains(world, &grain_method, 20, period, 0);
    int32_t count = 0;
    yw_body_positions(world, id, &count);
    assert_int_equal(count, 4);
    run(world, 6);  // 24 settles
    const yw_vec3* x = yw_body_positions(world, id, &count);
    assert_int_equal(count, period > 0 ? 12 : 1);
    for (int32_t i = 0; i < count; ++i) assert_true(isfinite(x[i].y));
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
    // The i-th added particle weighs 2 (i + 1) kg.
    assert_near(sums.mass, period > 0 ? 8.0 + 2 * (5 + 6 + 7 + 8 + 9 + 10 + 11 + 12) : 2.0, 1e-6);
    run(world, 30);
    yw_body_positions(world, id, &count);
    assert_int_equal(count, period > 0 ? 20 : 1);
    yw_world_destroy(world);
  }
}

static void snapshots_hold_changing_counts(void** state) {
  (void)state;
  yw_world *world = make_world(1, YW_SIMD_AUTO, true), *other = make_world(2, YW_SIMD_AUTO, true);
  yw_body_id id = add_grains(world, &grain_method, 20, 3, 0);
  add_grains(other, &grain_method, 20, 3, 0);
  yw_error error = {0};
  pin_vertex(world, id, 2, false);
  pin_vertex(other, yw_world_body(other, 0), 2, false);

  run(world, 5);
  size_t size = yw_world_snapshot_size(world);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
  assert_int_equal(yw_world_load(other, bytes, size, &error), YW_OK);
  assert_int_equal(yw_world_hash(other), yw_world_hash(world));
  run(world, 10);
  run(other, 10);
  assert_int_equal(yw_world_hash(other), yw_world_hash(world));
  int32_t count = 0;
  const yw_vec3* x = yw_body_positions(other, yw_world_body(other, 0), &count);
  assert_int_equal(count, 20);
  assert_near(x[2].y, 1.0, 1e-6);  // still held
  // Loads a state with fewer particles than the world has.
  assert_int_equal(yw_world_load(world, bytes, size, &error), YW_OK);
  yw_body_positions(world, id, &count);
  assert_int_equal(count, 10);
  run(world, 10);
  assert_int_equal(yw_world_hash(other), yw_world_hash(world));
  free(bytes);
  yw_world_destroy(world);
  yw_world_destroy(other);
}

// Counts and masses in a file are validated: wrong content with a correct checksum is rejected.
static void wrong_counts_in_snapshots_are_refused(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  add_grains(world, &grain_method, 16, 3, 0);
  run(world, 2);
  uint64_t before = yw_world_hash(world);
  size_t size = yw_world_snapshot_size(world);
  unsigned char* bytes = malloc(size);
  assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
  // After magic bytes, fingerprint, time and steps.
  const size_t count_at = 8 + 8 * YW_FINGERPRINT_PARTS + 8 + 8;
  const size_t mass_at = count_at + 3 * 4 + 2 * 16 * bytes[count_at];
  const struct {
    size_t at;
    uint32_t value;
  } wrong[] = {
      {count_at, 17}, {count_at, 0xffffffffu}, {count_at, 0}, {mass_at, 0}, {mass_at, 0x7f800000u}};
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
    unsigned char* bad = malloc(size);
    memcpy(bad, bytes, size);
    memcpy(bad + wrong[k].at, &wrong[k].value, 4);
    yw_writer seal = {.data = bad + size - 8, .capacity = 8};
    yw_write_u64(&seal, yw_hash_bytes(YW_HASH_SEED, bad, size - 8));
    yw_error error = {0};
    assert_int_equal(yw_world_load(world, bad, size, &error), YW_ERR_FORMAT);
    assert_int_equal(yw_world_hash(world), before);
    free(bad);
  }
  free(bytes);
  yw_world_destroy(world);
}

// Pins refer to particles by index; a removed particle is no longer held.
static void pins_of_particles_that_are_gone_hold_nothing(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id id = add_grains(world, &grain_method, 16, -2, 0);
  yw_error error = {0};
  int32_t held[2] = {0, 3};
  yw_pin_def pin = yw_default_pin_def();
  pin.body = id;
  pin.vertices = held;
  pin.num_vertices = 2;
  yw_pin_id pin_id;
  assert_int_equal(yw_pin_create(world, &pin, &pin_id, &error), YW_OK);
  run(world, 10);
  int32_t count = 0;
  const yw_vec3* x = yw_body_positions(world, id, &count);
  assert_int_equal(count, 1);
  assert_near(x[0].y, 1.0, 1e-6);
  assert_int_equal(yw_pin_destroy(world, pin_id), YW_OK);
  run(world, 6);
  assert_at_most(yw_body_positions(world, id, NULL)[0].y, 0.96);
  yw_world_destroy(world);
}

static void a_diverging_body_goes_back_to_its_last_particles(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id id = add_grains(world, &grain_method, 16, 3, 0);
  run(world, 3);
  int32_t count = 0;
  const yw_vec3* x = yw_body_positions(world, id, &count);
  yw_vec3 far[16], fast[16];
  for (int32_t i = 0; i < count; ++i) {
    far[i] = x[i];
    fast[i] = (yw_vec3){3e38f, 0, 0};
  }
  assert_int_equal(yw_body_set_state(world, id, far, fast), YW_OK);
  yw_step_report report;
  assert_int_equal(yw_world_step(world, 1.0f, 4, &report), YW_WARN_NUMERICS);
  assert_int_equal(report.diverged_bodies, 1);
  x = yw_body_positions(world, id, &count);
  for (int32_t i = 0; i < count; ++i) assert_true(isfinite(x[i].x) && fabsf(x[i].x) < 10);
  yw_world_destroy(world);
}

static yw_status throw_away(void* state, yw_particles* p, const yw_step_ctx* ctx) {
  (void)state, (void)ctx;
  p->pos[0].x = INFINITY;
  return YW_OK;
}

// After the substep's check, in the last substep too: by `fold`, which follows contact, or
// `settle`.
static void a_body_that_diverges_last_is_found(void** state) {
  (void)state;
  static const yw_method folds = {.name = "folds", GRAIN_HOOKS, .fold = throw_away};
  static const yw_method settles = {.name = "settles", GRAIN_HOOKS, .settle = throw_away};
  const yw_method* const methods[] = {&folds, &settles, &grain_method};
  for (int i = 0; i < 3; ++i) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_body_id id = add_grains(world, methods[i], 4, 0, 0);
    yw_step_report report;
    yw_status status = yw_world_step(world, 0.01f, 1, &report);
    assert_int_equal(status, i < 2 ? YW_WARN_NUMERICS : YW_OK);
    assert_int_equal(report.diverged_bodies, i < 2 ? 1 : 0);
    const yw_vec3* x = yw_body_positions(world, id, NULL);
    for (int k = 0; k < 4; ++k) assert_true(isfinite(x[k].x));
    yw_world_destroy(world);
  }
}

// Starting later --------------------------------------------------------------------------------

static void start_times_are_checked(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_grains(&grain_method, 4, 4, four, 0.05f, 2.0f, 0);
  const double wrong[] = {-1e-9, (double)NAN, (double)INFINITY};
  for (int i = 0; i < 3; ++i) {
    yw_error error = {0};
    yw_body_def def = yw_default_body_def();
    def.model = model;
    def.name = "late";
    def.start = wrong[i];
    yw_body_id id;
    assert_int_equal(yw_body_create(world, &def, &id, &error), YW_ERR_INVALID);
    assert_non_null(strstr(error.message, "late: start is"));
  }
  yw_model_release(model);
  yw_world_destroy(world);
}

static void a_body_waits_for_its_start(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_grains(&grain_method, 4, 4, four, 0.05f, 2.0f, 0);
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.velocity = (yw_vec3){1, 0, 0};
  def.start = 0.5;
  yw_body_id late, early;
  assert_int_equal(yw_body_create(world, &def, &late, &error), YW_OK);
  // The early one is in the same place: if both were active, they would push each other apart.
  def.start = 0;
  def.velocity = (yw_vec3){0, 0, 0};
  assert_int_equal(yw_body_create(world, &def, &early, &error), YW_OK);
  yw_model_release(model);
  for (int frame = 1; frame <= 30; ++frame) {
    assert_false(yw_body_is_active(world, late));
    yw_step_report report;
    assert_int_equal(yw_world_step(world, 1 / 60.0f, 4, &report), YW_OK);
    assert_int_equal(report.num_particles, 4);
    assert_int_equal(report.body_contacts, 0);
    assert_near(yw_body_positions(world, late, NULL)[1].x, 0.5, 0);
  }
  assert_true(yw_body_is_active(world, late));
  for (int frame = 31; frame <= 60; ++frame) run(world, 1);
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, late, &sums), YW_OK);
  // 120 substeps of free fall: g h^2 (1 + 2 + ... + 120), and half a second at 1 m/s.
  assert_near(sums.center[0], 0.75 + 0.5, 1e-5);
  assert_near(sums.center[1], 1.0 - 9.81 * 7260 / (240.0 * 240.0), 1e-4);
  yw_world_destroy(world);
}

static void waiting_bodies_are_in_snapshots(void** state) {
  (void)state;
  yw_world *world = make_world(1, YW_SIMD_AUTO, true), *other = make_world(1, YW_SIMD_AUTO, true);
  yw_world* wrong = make_world(1, YW_SIMD_AUTO, true);
  for (int k = 0; k < 2; ++k) {
    add_grains(k ? other : world, &grain_method, 20, 3, 0.1);
    add_grains(k ? other : world, &grain_method, 20, 0, 0.3);
  }
  add_grains(wrong, &grain_method, 20, 3, 0.1);
  add_grains(wrong, &grain_method, 20, 0, 0.2);
  run(world, 12);
  size_t size = yw_world_snapshot_size(world);
  void* bytes = malloc(size);
  yw_error error = {0};
  assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
  assert_int_equal(yw_world_load(wrong, bytes, size, &error), YW_ERR_FORMAT);
  assert_int_equal(yw_world_load(other, bytes, size, &error), YW_OK);
  assert_true(yw_body_is_active(other, yw_world_body(other, 0)));
  assert_false(yw_body_is_active(other, yw_world_body(other, 1)));
  run(world, 20);
  run(other, 20);
  assert_true(yw_body_is_active(other, yw_world_body(other, 1)));
  assert_int_equal(yw_world_hash(other), yw_world_hash(world));
  free(bytes);
  yw_world_destroy(world);
  yw_world_destroy(other);
  yw_world_destroy(wrong);
}

// Fields ----------------------------------------------------------------------------------------

static void fields_come_in_the_order_of_the_mesh(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id loose = add_grains(world, &grain_method, 20, 2, 0);
  yw_model* model = make_box_model(3, 5, 4, 0);
  yw_body_id box = add_body(world, model, (yw_vec3){5, 0, 0}, upright);
  run(world, 2);

  assert_int_equal(yw_body_num_fields(world, loose), 6);
  assert_int_equal(yw_body_find_field(world, loose, "height"), 1);
  assert_int_equal(yw_body_find_field(world, loose, "speed"), 2);
  assert_int_equal(yw_body_find_field(world, loose, "stress"), -1);
  assert_string_equal(yw_body_field_info(world, loose, 1).unit, "m");
  assert_string_equal(yw_body_field_info(world, loose, 5).name, "vz");
  assert_null(yw_body_field_info(world, loose, 6).name);
  float values[200];
  assert_int_equal(yw_body_field_values(world, loose, 6, values, 200), YW_ERR_INVALID);
  assert_int_equal(yw_body_field_values(world, loose, 1, values, 7), YW_ERR_INVALID);
  assert_int_equal(yw_body_field_values(world, loose, 1, values, 8), YW_OK);
  const yw_vec3* x = yw_body_positions(world, loose, NULL);
  for (int i = 0; i < 8; ++i) assert_near(values[i], x[i].y, 0);
  assert_int_equal(yw_body_cells(world, loose, NULL, 0), 0);

  // Shape matching renumbers its particles: speeds and velocities must follow the vertices.
  yw_vec3 moved[200], speeds[200];
  int32_t count = 0;
  x = yw_body_positions(world, box, &count);
  for (int32_t i = 0; i < count; ++i) {
    moved[i] = x[i];
    speeds[i] = (yw_vec3){0, (float)-i, 0};
  }
  assert_int_equal(yw_body_set_state(world, box, moved, speeds), YW_OK);
  int32_t speed = yw_body_find_field(world, box, "speed");
  assert_int_equal(yw_body_field_values(world, box, speed, values, 200), YW_OK);
  for (int32_t i = 0; i < count; ++i) assert_near(values[i], i, 0);
  const float direction[3] = {0, -1, 0};
  for (int32_t k = 0; k < 3; ++k) {
    assert_int_equal(yw_body_field_values(world, box, speed + 1 + k, values, 200), YW_OK);
    for (int32_t i = 0; i < count; ++i) assert_near(values[i], direction[k] * (float)i, 0);
  }

  const yw_tet_mesh* tets = yw_model_tets(model);
  int32_t* cells = malloc(sizeof(int32_t) * 4 * (size_t)tets->num_tets);
  assert_int_equal(yw_body_cells(world, box, cells, tets->num_tets), tets->num_tets);
  assert_memory_equal(cells, tets->tets, sizeof(int32_t) * 4 * (size_t)tets->num_tets);
  free(cells);
  yw_model_release(model);
  yw_world_destroy(world);
}

static void count_destroyed(void* data) { ++*(int*)data; }

// An incomplete table is rejected with the name of the missing function, and the rest data is
// freed.
static void incomplete_tables_are_refused(void** state) {
  (void)state;
  int destroyed = 0;
  yw_error error = {0};
  yw_model* model = NULL;
  yw_method method = grain_method;
  method.model_destroy = count_destroyed;
  method.save = NULL;
  assert_int_equal(yw_model_create_custom(NULL, &method, &destroyed, NULL, &model, &error),
                   YW_ERR_INVALID);
  assert_string_equal(error.message, "a model of method \"grains\" lacks save");
  assert_null(model);
  assert_int_equal(destroyed, 1);
  method.save = grain_method.save;
  method.model_surface = ribbon_method.model_surface;
  assert_int_equal(yw_model_create_custom(NULL, &method, &destroyed, NULL, &model, &error),
                   YW_ERR_INVALID);
  assert_int_equal(destroyed, 2);
  assert_int_equal(yw_model_create_custom(NULL, NULL, &destroyed, NULL, &model, &error),
                   YW_ERR_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_method_is_told_how_it_was_placed),
      cmocka_unit_test(loose_bodies_have_radii_and_no_surface),
      cmocka_unit_test(particles_come_and_go),
      cmocka_unit_test(snapshots_hold_changing_counts),
      cmocka_unit_test(wrong_counts_in_snapshots_are_refused),
      cmocka_unit_test(pins_of_particles_that_are_gone_hold_nothing),
      cmocka_unit_test(a_diverging_body_goes_back_to_its_last_particles),
      cmocka_unit_test(a_body_that_diverges_last_is_found),
      cmocka_unit_test(start_times_are_checked),
      cmocka_unit_test(a_body_waits_for_its_start),
      cmocka_unit_test(waiting_bodies_are_in_snapshots),
      cmocka_unit_test(fields_come_in_the_order_of_the_mesh),
      cmocka_unit_test(incomplete_tables_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
