// SPDX-License-Identifier: MIT
// The field "stress" is the von Mises norm of the Cauchy stress, force per area as it is now, at
// large strains and in any orientation.
#include "support/world_fixture.h"
#include "yawara/fem.h"
#include "yawara/frames.h"

#define YOUNG 1e6
#define POISSON 0.3

static const double mu = YOUNG / (2.0 * (1.0 + POISSON));
static const double lambda = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
static const double stretch[3] = {1.5, 0.8, 1.1};

static double von_mises(const double s[3]) {
  double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
  return sqrt(0.5 * (a * a + b * b + c * c));
}

// Stretches along the axes, then turns about z by 40 degrees.
static yw_vec3 moved(yw_vec3 p) {
  const double c = 0.76604444, s = 0.64278761;
  double x = stretch[0] * (double)p.x, y = stretch[1] * (double)p.y;
  return (yw_vec3){(float)(c * x - s * y), (float)(s * x + c * y),
                   (float)(stretch[2] * (double)p.z)};
}

static void check_stress(yw_model* model, double expected) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_def def = yw_default_body_def();
  yw_body_id id;
  yw_error error = {0};
  def.model = model;
  if (yw_body_create(world, &def, &id, &error) < 0) fail_msg("%s", error.message);
  int32_t n;
  const yw_vec3* rest = yw_body_positions(world, id, &n);
  yw_vec3* x = malloc(sizeof *x * (size_t)n);
  for (int32_t i = 0; i < n; ++i) x[i] = moved(rest[i]);
  assert_int_equal(yw_body_set_state(world, id, x, NULL), YW_OK);
  int32_t field = yw_body_find_field(world, id, "stress");
  yw_field_info info = yw_body_field_info(world, id, field);
  assert_string_equal(info.unit, "Pa");
  assert_non_null(strstr(yw_body_field_meaning(world, id, field), "Cauchy"));
  assert_string_equal(yw_body_field_meaning(world, id, 99), "");
  int32_t count = info.per_cell ? yw_model_tets(model)->num_tets : n;
  float* values = malloc(sizeof *values * (size_t)count);
  assert_int_equal(yw_body_field_values(world, id, field, values, count), YW_OK);
  for (int32_t i = 0; i < count; ++i) assert_near((double)values[i] / expected, 1.0, 1e-3);
  free(x);
  free(values);
  yw_world_destroy(world);
}

static yw_tet_mesh make_box(void) {
  const int32_t cells[3] = {3, 2, 2};
  yw_tet_mesh mesh = {0};
  yw_aabb box = {{-0.3f, -0.2f, -0.2f}, {0.3f, 0.2f, 0.2f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  return mesh;
}

// Energy mu |U - 1|^2 + lambda/2 tr(U - 1)^2: force per area at rest T, now T u / det u.
static void frames_bodies_show_cauchy_stress(void** state) {
  (void)state;
  double trace = stretch[0] + stretch[1] + stretch[2] - 3.0, s[3];
  double volume = stretch[0] * stretch[1] * stretch[2];
  for (int k = 0; k < 3; ++k)
    s[k] = (2.0 * mu * (stretch[k] - 1.0) + lambda * trace) * stretch[k] / volume;
  yw_tet_mesh mesh = make_box();
  yw_frames_def def = yw_default_frames_def();
  def.mesh = &mesh;
  def.youngs_modulus = (float)YOUNG;
  def.poissons_ratio = (float)POISSON;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_frames(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  check_stress(model, von_mises(s));
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
}

// St. Venant-Kirchhoff: S = 2 mu E + lambda tr E with E = (U^2 - 1) / 2; U S U / det U.
static void fem_bodies_show_cauchy_stress(void** state) {
  (void)state;
  double trace = 0.0, s[3], volume = stretch[0] * stretch[1] * stretch[2];
  for (int k = 0; k < 3; ++k) trace += 0.5 * (stretch[k] * stretch[k] - 1.0);
  for (int k = 0; k < 3; ++k) {
    double square = stretch[k] * stretch[k];
    s[k] = (mu * (square - 1.0) + lambda * trace) * square / volume;
  }
  yw_tet_mesh mesh = make_box();
  yw_fem_def def = yw_default_fem_def();
  def.mesh = &mesh;
  def.max_level = 0;
  def.youngs_modulus = (float)YOUNG;
  def.poissons_ratio = (float)POISSON;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_fem(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  check_stress(model, von_mises(s));
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_bodies_show_cauchy_stress),
      cmocka_unit_test(fem_bodies_show_cauchy_stress),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
