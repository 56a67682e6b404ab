// SPDX-License-Identifier: MIT
// Rods, sheets and volumes with extreme but valid values: no crash, no non-finite number without a
// report; invalid values are rejected.
#include "support/slender_testing.h"
#include "support/world_fixture.h"
#include "yawara/frames.h"
#include "yawara/slender.h"

static const yw_quat upright = {0, 0, 0, 1};

typedef struct extreme {
  const char* name;
  int points;
  bool closed;
  float size, radius, young, density, poisson, dt;
} extreme;

static const extreme cases[] = {
    {"one particle", 1, false, 1, 0.01f, 1e6f, 1000, 0.3f, 1.0f / 60},
    {"two particles", 2, false, 1, 0.01f, 1e6f, 1000, 0.3f, 1.0f / 60},
    {"ring of three", 3, true, 1, 0.01f, 1e6f, 1000, 0.3f, 1.0f / 60},
    {"hard as nothing is", 11, false, 1, 0.01f, 1e12f, 1000, 0.3f, 1.0f / 60},
    {"soft as nothing is", 11, false, 1, 0.01f, 1e-3f, 1000, 0.3f, 1.0f / 60},
    {"a hair of a hair", 11, false, 1, 1e-6f, 1e6f, 1000, 0.3f, 1.0f / 60},
    {"a hard hair", 11, false, 1, 1e-6f, 1e12f, 1000, 0.3f, 1.0f / 60},
    {"tiny", 11, false, 1e-4f, 1e-6f, 1e6f, 1000, 0.3f, 1.0f / 60},
    {"huge", 11, false, 30, 0.3f, 1e6f, 1000, 0.3f, 1.0f / 60},
    {"light", 11, false, 1, 0.01f, 1e6f, 1e-3f, 0.3f, 1.0f / 60},
    {"heavy", 11, false, 1, 0.01f, 1e6f, 1e6f, 0.3f, 1.0f / 60},
    {"incompressible", 11, false, 1, 0.01f, 1e6f, 1000, 0.4999f, 1.0f / 60},
    {"short steps", 11, false, 1, 0.01f, 1e6f, 1000, 0.3f, 1e-6f},
    {"long steps", 11, false, 1, 0.01f, 1e6f, 1000, 0.3f, 1.0f},
    {"long steps, hard", 11, false, 1, 0.01f, 1e12f, 1000, 0.3f, 1.0f},
};

static yw_model* rod_of(const extreme* e, int solver) {
  yw_vec3 points[11];
  for (int i = 0; i < e->points; ++i) {
    double angle = 2 * M_PI * i / e->points, r = (double)e->size / 2;
    points[i] = e->closed ? (yw_vec3){(float)(r * cos(angle)), 0, (float)(r * sin(angle))}
                          : (yw_vec3){e->size * (float)i / (float)(e->points - 1), 0, 0};
  }
  if (e->points == 1) points[0] = (yw_vec3){0, 0, 0};
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = e->points;
  def.closed = e->closed;
  def.radius = e->radius;
  def.youngs_modulus = e->young;
  def.poissons_ratio = e->poisson;
  def.density = e->density;
  def.params.solver = (yw_slender_solver)solver;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_rod(NULL, &def, &model, &error) < 0)
    fail_msg("%s: %s", e->name, error.message);
  return model;
}

static yw_model* sheet_of(const extreme* e, int solver) {
  int n = e->points == 1 ? 1 : e->points == 2 ? 2 : 4;
  yw_tri_mesh mesh = plate_mesh((double)e->size, (double)e->size, n, n, PLATE_MIRRORED);
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  def.thickness = e->radius;
  def.youngs_modulus = e->young;
  def.poissons_ratio = e->poisson;
  def.density = e->density;
  def.params.solver = (yw_slender_solver)solver;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_sheet(NULL, &def, &model, &error) < 0) {
    fail_msg("%s: %s", e->name, error.message);
  }
  yw_tri_mesh_free(&mesh);
  return model;
}

static yw_model* volume_of(const extreme* e, int solver) {
  yw_tet_mesh mesh = {0};
  yw_aabb box = {{0, 0, 0}, {e->size, e->size, e->size}};
  const int32_t cells[3] = {1, 1, e->points > 3 ? 3 : 1};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_frames_def def = yw_default_frames_def();
  def.mesh = &mesh;
  def.youngs_modulus = e->young;
  def.poissons_ratio = e->poisson;
  def.density = e->density;
  def.params.solver = (yw_frames_solver)solver;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_frames(NULL, &def, &model, &error) < 0) {
    fail_msg("%s: %s", e->name, error.message);
  }
  yw_tet_mesh_free(&mesh);
  return model;
}

// Falls on the floor from half its size, hanging from a pin or free. The final state is
// finite, not below the floor, and no faster than the fall; a stopped body is reported.
static void fall(const extreme* e, yw_model* model, const char* kind, int solver, bool pinned) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform.position = (yw_vec3){0, 0.5f * e->size, 0};
  def.transform.rotation = upright;
  yw_body_id id;
  if (yw_body_create(world, &def, &id, &error) < 0) fail_msg("%s: %s", e->name, error.message);
  if (pinned) pin_vertex(world, id, 0, true);
  int stopped = 0, stalled = 0, recovered = 0;
  double time = 0.0;
  for (int step = 0; step < 40; ++step) {
    yw_step_report report;
    assert_true(yw_world_step(world, e->dt, 1, &report) >= 0);
    stopped += report.diverged_bodies;
    stalled += report.stalled_solves;
    recovered += report.recovered_regions;
    time += (double)e->dt;
  }
  if (getenv("YW_TEST_TALK")) {
    print_message("%-20s %-6s solver %d %s: %d stopped, %d stalled, %d recovered\n", e->name, kind,
                  solver, pinned ? "pinned" : "free", stopped, stalled, recovered);
  }
  int32_t n;
  const yw_vec3* x = yw_body_positions(world, id, &n);
  double lowest = 1e30;
  for (int32_t i = 0; i < n; ++i) {
    assert_true(isfinite(x[i].x) && isfinite(x[i].y) && isfinite(x[i].z));
    lowest = fmin(lowest, (double)x[i].y);
  }
  yw_body_sums sums;
  yw_body_sums_of(world, id, &sums);
  // Positions are floats: position-based steps (10 per step) have rounding errors in the
  // velocities.
  double rounding = solver < YW_FRAMES_EXTENDED ? 0.0 : 1e-7 * (double)e->size * 10 / (double)e->dt;
  double speed = sqrt(2 * sums.kinetic_energy / sums.mass);
  double fastest = 1.01 * 9.81 * time + 1e-3 + rounding;
  if (stopped > 0) fail_msg("%s, %s, solver %d: stopped", e->name, kind, solver);
  if (speed > fastest) fail_msg("%s, %s, solver %d: %g m/s", e->name, kind, solver, speed);
  if (lowest < -0.02 * (double)e->size) {
    fail_msg("%s, %s, solver %d: %g m below the floor", e->name, kind, solver, -lowest);
  }
  yw_world_destroy(world);
}

// The solvers of volumes, rods and sheets have the same numbers.
static void run_cases(yw_model* (*make)(const extreme*, int), const char* kind) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int solver = YW_FRAMES_IMPLICIT; solver <= YW_FRAMES_CLASSIC; ++solver) {
      yw_model* model = make(&cases[i], solver);
      fall(&cases[i], model, kind, solver, false);
      fall(&cases[i], model, kind, solver, true);
      yw_model_release(model);
    }
  }
}

static void rods_bear_extremes(void** state) {
  (void)state;
  run_cases(rod_of, "rod");
}

static void sheets_bear_extremes(void** state) {
  (void)state;
  run_cases(sheet_of, "sheet");
}

static void volumes_bear_extremes(void** state) {
  (void)state;
  run_cases(volume_of, "volume");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rods_bear_extremes),
      cmocka_unit_test(sheets_bear_extremes),
      cmocka_unit_test(volumes_bear_extremes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
