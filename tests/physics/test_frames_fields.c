// SPDX-License-Identifier: MIT
// Fields of frames bodies: stress and energy of a uniform stretch.
#include "support/slender_testing.h"
#include "support/world_fixture.h"
#include "yawara/extend/vec.h"
#include "yawara/frames.h"
#include "yawara/slender.h"

#define YOUNG 1e6
#define POISSON 0.3
#define STRAIN 1e-2

// Stretches a body along x by STRAIN, as if pulled, and compares a field at every particle.
static void check_field(yw_model* model, bool narrows, const char* name, double expected) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_def def = yw_default_body_def();
  yw_body_id id;
  yw_error error = {0};
  def.model = model;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
  int32_t n;
  const yw_vec3* rest = yw_body_positions(world, id, &n);
  yw_vec3* x = malloc(sizeof *x * (size_t)n);
  float* values = malloc(sizeof *values * (size_t)n);
  double side = narrows ? 1 - POISSON * STRAIN : 1;
  for (int i = 0; i < n; ++i) {
    x[i] = (yw_vec3){(float)((1 + STRAIN) * (double)rest[i].x), (float)(side * (double)rest[i].y),
                     (float)(side * (double)rest[i].z)};
  }
  int32_t field = yw_body_find_field(world, id, name);
  assert_true(field >= 0);
  assert_int_equal(yw_body_field_values(world, id, field, values, n), YW_OK);
  for (int i = 0; i < n; ++i) assert_at_most(fabs(values[i]), 1e-3 * expected);
  assert_int_equal(yw_body_set_state(world, id, x, NULL), YW_OK);
  assert_int_equal(yw_body_field_values(world, id, field, values, n), YW_OK);
  for (int i = 0; i < n; ++i) assert_near(values[i] / expected, 1.0, 2e-3);
  free(x);
  free(values);
  yw_world_destroy(world);
}

// A body that is turned as a whole: all its frames are turned so, and their origins with it.
static void check_axes(yw_model* model, int32_t expected, yw_vec3 along) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_def def = yw_default_body_def();
  yw_body_id id;
  yw_vec3 before[64], origins[64];
  yw_quat rest[64], turns[64];
  def.model = model;
  assert_int_equal(yw_body_create(world, &def, &id, NULL), YW_OK);
  assert_int_equal(yw_body_axes(world, id, before, rest, 64), expected);
  int32_t n;
  const yw_vec3* old = yw_body_positions(world, id, &n);
  yw_vec3* x = malloc(sizeof *x * (size_t)n);
  // A third of a turn about (1, 1, 1): x to y, y to z, z to x.
  yw_quat turn = {0.5f, 0.5f, 0.5f, 0.5f};
  for (int i = 0; i < n; ++i) x[i] = (yw_vec3){old[i].z, old[i].x, old[i].y};
  assert_int_equal(yw_body_set_state(world, id, x, NULL), YW_OK);
  assert_int_equal(yw_body_axes(world, id, origins, turns, 64), expected);
  for (int i = 0; i < expected; ++i) {
    yw_vec3 wanted = yw_rotate(turn, before[i]);
    yw_vec3 was = yw_rotate(turn, yw_rotate(rest[i], along)), is = yw_rotate(turns[i], along);
    assert_at_most(yw_distance(origins[i], wanted), 1e-5);
    assert_at_most(yw_distance(is, was), 1e-4);
  }
  assert_int_equal(yw_body_axes(world, id, NULL, turns, 64), 0);
  assert_int_equal(yw_body_axes(world, id, origins, NULL, 64), 0);
  // Fewer, evenly spread.
  assert_in_range(yw_body_axes(world, id, origins, turns, 4), 2, 4);
  free(x);
  yw_world_destroy(world);
}

static void volumes_show_stress_and_energy(void** state) {
  (void)state;
  for (int kind = YW_FRAMES_RINGS; kind <= YW_FRAMES_CELLS; ++kind) {
    const int32_t n[3] = {3, 2, 2};
    int32_t corners[8 * 12];
    yw_tet_mesh mesh = {0};
    yw_aabb box = {{-0.3f, -0.2f, -0.2f}, {0.3f, 0.2f, 0.2f}};
    assert_int_equal(yw_tet_mesh_lattice(NULL, box, n, YW_LATTICE_FIVE, &mesh), YW_OK);
    yw_lattice_cells(n, corners);
    yw_frames_def def = yw_default_frames_def();
    def.mesh = &mesh;
    def.kind = (yw_frames_kind)kind;
    def.cells = kind == YW_FRAMES_CELLS ? corners : NULL;
    def.num_cells = kind == YW_FRAMES_CELLS ? 12 : 0;
    def.youngs_modulus = (float)YOUNG;
    def.poissons_ratio = (float)POISSON;
    yw_model* model = NULL;
    yw_error error = {0};
    if (yw_model_create_frames(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
    // Force per area as it is now: the body got narrower.
    double side = 1 - POISSON * STRAIN;
    check_field(model, true, "stress", YOUNG * STRAIN / (side * side));
    check_field(model, true, "energy", 0.5 * YOUNG * STRAIN * STRAIN);
    check_axes(model, kind == YW_FRAMES_CELLS ? 12 : mesh.num_vertices, (yw_vec3){1, 0, 0});
    yw_model_release(model);
    yw_tet_mesh_free(&mesh);
  }
}

static void rods_and_sheets_show_energy(void** state) {
  (void)state;
  yw_model* model = NULL;
  yw_error error = {0};
  yw_rod_def rod = yw_default_rod_def();
  rod.points = straight_points(6, 0.5);
  rod.num_points = 6;
  rod.youngs_modulus = (float)YOUNG;
  if (yw_model_create_rod(NULL, &rod, &model, &error) < 0) fail_msg("%s", error.message);
  check_field(model, false, "energy", 0.5 * YOUNG * STRAIN * STRAIN);
  check_axes(model, 6, (yw_vec3){0, 0, 1});
  yw_model_release(model);
  free((void*)rod.points);
  yw_tri_mesh mesh = plate_mesh(0.4, 0.3, 4, 3, PLATE_JITTERED);
  yw_sheet_def sheet = yw_default_sheet_def();
  sheet.mesh = &mesh;
  sheet.youngs_modulus = (float)YOUNG;
  sheet.poissons_ratio = (float)POISSON;
  if (yw_model_create_sheet(NULL, &sheet, &model, &error) < 0) fail_msg("%s", error.message);
  check_field(model, true, "energy", 0.5 * YOUNG * STRAIN * STRAIN);
  check_axes(model, mesh.num_vertices, (yw_vec3){0, 0, 1});
  yw_model_release(model);
  yw_tri_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(volumes_show_stress_and_energy),
      cmocka_unit_test(rods_and_sheets_show_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
