// SPDX-License-Identifier: MIT
// Rods and sheets in a world: errors, obstacles, clamps, contact, snapshots, same bits, no heap in
// a step, and the surfaces that are shown.
#include "support/method_world.h"
#include "support/slender_testing.h"
#include "yawara/extend/memory.h"
#include "yawara/slender.h"

static const yw_quat upright = {0, 0, 0, 1};

static yw_model* make_rod(int n, double length, float radius, float young,
                          yw_slender_solver solver) {
  yw_rod_def def = yw_default_rod_def();
  def.points = straight_points(n, length);
  def.num_points = n;
  def.radius = radius;
  def.youngs_modulus = young;
  def.params.solver = solver;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_rod(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  free((void*)def.points);
  return model;
}

static yw_model* make_sheet(double size, int n, float thickness, float young,
                            yw_slender_solver solver) {
  yw_tri_mesh mesh = plate_mesh(size, size, n, n, PLATE_MIRRORED);
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  def.thickness = thickness;
  def.youngs_modulus = young;
  def.params.solver = solver;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_sheet(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  yw_tri_mesh_free(&mesh);
  return model;
}

// Errors ------------------------------------------------------------------------------------------

static void refuse_rod(const yw_rod_def* def, const char* word) {
  yw_model* model = NULL;
  yw_error error = {0};
  assert_true(yw_model_create_rod(NULL, def, &model, &error) < 0);
  assert_null(model);
  if (!strstr(error.message, word)) fail_msg("\"%s\" lacks \"%s\"", error.message, word);
}

static void bad_rods_are_refused(void** state) {
  (void)state;
  yw_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
  const float radii[4] = {0.1f, 0.1f, 0.0f, 0.1f};
  const float moduli[4] = {1e6f, 1e6f, NAN, 1e6f}, ratios[4] = {0.0f, 0.5f, 0.1f, 0.1f};
  const yw_quat frames[4] = {{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 0}, {0, 0, 0, 1}};
  yw_rod_def good = yw_default_rod_def(), def;
  good.points = points;
  good.num_points = 4;
  def = good, def.num_points = 0, refuse_rod(&def, "at least one");
  def = good, def.points = NULL, refuse_rod(&def, "at least one");
  def = good, def.num_points = 2000000000, refuse_rod(&def, "at most");
  def = good, def.num_points = 2, def.closed = true, refuse_rod(&def, "3 or more");
  def = good, def.radius = 0.0f, refuse_rod(&def, "radius");
  def = good, def.radius = NAN, refuse_rod(&def, "radius");
  def = good, def.radii = radii, refuse_rod(&def, "radius");
  def = good, def.section = YW_SECTION_RECTANGLE, def.width = -1.0f, refuse_rod(&def, "width");
  def = good, def.section = (yw_section)7, refuse_rod(&def, "section");
  def = good, def.youngs_modulus = 0.0f, refuse_rod(&def, "rod: youngs_modulus is 0");
  def = good, def.youngs_modulus = INFINITY, refuse_rod(&def, "youngs_modulus");
  def = good, def.poissons_ratio = 0.5f, refuse_rod(&def, "poissons_ratio");
  def = good, def.poissons_ratio = -0.1f, refuse_rod(&def, "poissons_ratio");
  def = good, def.density = NAN, refuse_rod(&def, "density");
  def = good, def.youngs_modulus_field = moduli, refuse_rod(&def, "youngs_modulus_field[2] is nan");
  def = good, def.poissons_ratio_field = radii, def.poissons_ratio = 2.0f;
  yw_model* fine = NULL;
  assert_int_equal(yw_model_create_rod(NULL, &def, &fine, NULL), YW_OK);
  yw_model_release(fine);
  def.poissons_ratio_field = ratios, refuse_rod(&def, "poissons_ratio_field[1] is 0.5");
  def = good, def.frames = frames, refuse_rod(&def, "frame 0");
  def = good, def.contact_radius = -1.0f, refuse_rod(&def, "contact radius");
  def = good, def.params.substeps = 0, refuse_rod(&def, "substeps");
  points[2] = points[1], refuse_rod(&good, "points 1 and 2");
  points[2].x = NAN, refuse_rod(&good, "point 2 is not finite");
  points[2].x = 3e38f, points[3].x = -3e38f, refuse_rod(&good, "too far");
}

static void refuse_sheet(const yw_sheet_def* def, const char* word) {
  yw_model* model = NULL;
  yw_error error = {0};
  assert_true(yw_model_create_sheet(NULL, def, &model, &error) < 0);
  if (!strstr(error.message, word)) fail_msg("\"%s\" lacks \"%s\"", error.message, word);
}

static void bad_sheets_are_refused(void** state) {
  (void)state;
  yw_tri_mesh mesh = plate_mesh(1, 1, 2, 2, PLATE_SAME);
  yw_sheet_def good = yw_default_sheet_def(), def;
  good.mesh = &mesh;
  def = good, def.mesh = NULL, refuse_sheet(&def, "no triangles");
  def = good, def.thickness = 0.0f, refuse_sheet(&def, "thickness");
  def = good, def.poissons_ratio = 0.7f, refuse_sheet(&def, "poissons_ratio");
  def = good, def.youngs_modulus = -1.0f, refuse_sheet(&def, "youngs_modulus");
  const float moduli[9] = {1e6f, 1e6f, 1e6f, 0.0f, 1e6f, 1e6f, 1e6f, 1e6f, 1e6f};
  def = good, def.youngs_modulus_field = moduli;
  refuse_sheet(&def, "sheet: youngs_modulus_field[3] is 0");
  int32_t vertices = mesh.num_vertices;
  mesh.num_vertices = 200001, refuse_sheet(&good, "at most 200000"), mesh.num_vertices = vertices;
  mesh.num_triangles = 0, refuse_sheet(&good, "no triangles"), mesh.num_triangles = 8;
  int32_t kept = mesh.triangles[4];
  mesh.triangles[4] = 99, refuse_sheet(&good, "has vertex 99, but there are 9 (0 to 8)");
  mesh.triangles[4] = mesh.triangles[3], refuse_sheet(&good, "no area");
  mesh.triangles[4] = kept;
  int32_t first = mesh.triangles[0];
  mesh.triangles[0] = mesh.triangles[1], mesh.triangles[1] = first;
  refuse_sheet(&good, "wound");
  mesh.triangles[1] = mesh.triangles[0], mesh.triangles[0] = first;
  yw_vec3 place = mesh.positions[4];
  mesh.positions[4].y = INFINITY, refuse_sheet(&good, "vertex 4 is not finite");
  mesh.positions[4] = mesh.positions[3], refuse_sheet(&good, "no area");
  mesh.positions[4] = place;
  mesh.num_triangles = 7, refuse_sheet(&good, "belongs to no triangle"), mesh.num_triangles = 8;
  yw_tri_mesh_free(&mesh);
}

// Surfaces ----------------------------------------------------------------------------------------

// Enclosed volume; edges are matched by position, not index, since rims have duplicate vertices.
static double volume_inside(const yw_tri_mesh* mesh, const yw_vec3* x) {
  double sum = 0.0;
  for (int t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * t;
    yw_vec3 a = x[v[0]], b = x[v[1]], c = x[v[2]];
    sum += (double)yw_dot(a, yw_cross(b, c)) / 6;
  }
  return sum;
}

// Closed: the area vectors of all triangles sum to zero.
static void check_closed(const yw_tri_mesh* mesh, const yw_vec3* x) {
  double sum[3] = {0}, area = 0.0;
  for (int t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * t;
    for (int k = 0; k < 3; ++k) assert_true(v[k] >= 0 && v[k] < mesh->num_vertices);
    yw_vec3 n = yw_cross(yw_sub(x[v[1]], x[v[0]]), yw_sub(x[v[2]], x[v[0]]));
    area += (double)yw_length(n);
    sum[0] += (double)n.x, sum[1] += (double)n.y, sum[2] += (double)n.z;
  }
  for (int k = 0; k < 3; ++k) assert_at_most(fabs(sum[k]), 1e-5 * area);
}

static void rods_show_closed_tubes(void** state) {
  (void)state;
  yw_vec3 points[24];
  for (int i = 0; i < 24; ++i) {
    float angle = 6.2831853f * (float)i / 24.0f;
    points[i] = (yw_vec3){cosf(angle), 0, sinf(angle)};
  }
  for (int k = 0; k < 7; ++k) {
    yw_rod_def def = yw_default_rod_def();
    def.points = points;
    def.num_points = k == 6 ? 1 : 24;
    def.section = (yw_section)(k % 3);
    def.radius = 0.05f;
    def.width = 0.1f;
    def.thickness = 0.06f;
    def.closed = k >= 3 && k < 6;
    yw_model* model = NULL;
    yw_error error = {0};
    assert_int_equal(yw_model_create_rod(NULL, &def, &model, &error), 0);
    const yw_tri_mesh* surface = yw_model_surface(model);
    assert_true(yw_model_surface_has_state(model));
    assert_non_null(surface->colors);
    check_closed(surface, surface->positions);
    const double area[3] = {0.00785398, 0.00471239, 0.006};
    double length = k < 3 ? 2 * 3.14159265 * 23 / 24 : 2 * 3.14159265;
    double caps = k == 0 ? 4.0 / 3 * 3.14159 * 1.25e-4 : k == 1 ? 4.0 / 3 * 3.14159 * 4.5e-5 : 0;
    double expected = k == 6 ? 4.0 / 3 * 3.14159 * 1.25e-4 : area[k % 3] * length + caps;
    assert_near(volume_inside(surface, surface->positions) / expected, 1.0, k == 6 ? 0.08 : 0.035);
    // No tets: nothing to embed in.
    assert_int_equal(yw_model_tets(model)->num_tets, 0);
    assert_int_equal(yw_model_tets(model)->num_vertices, 0);
    int32_t num_points;
    const yw_vec3* rest = yw_model_points(model, &num_points);
    assert_int_equal(num_points, def.num_points);
    assert_memory_equal(rest, points, sizeof *rest * (size_t)num_points);
    assert_int_equal(yw_model_embed_surface(model, surface, &error), YW_ERR_INVALID);
    yw_model_release(model);
  }
}

static void sheets_show_both_sides_and_a_rim(void** state) {
  (void)state;
  yw_model* model = make_sheet(1.0, 4, 0.05f, 1e6f, YW_SLENDER_IMPLICIT);
  const yw_tri_mesh* surface = yw_model_surface(model);
  check_closed(surface, surface->positions);
  assert_near(volume_inside(surface, surface->positions), 0.05, 1e-6);
  yw_model_release(model);
}

// Both sides and the rim have the colours of the mesh; of other rows, other colours.
static void sheets_keep_their_colours(void** state) {
  (void)state;
  yw_tri_mesh mesh = plate_mesh(1.0, 1.0, 2, 2, PLATE_SAME);
  mesh.colors = yw_mem_alloc(&mesh.mem, (size_t)mesh.num_vertices, sizeof *mesh.colors);
  for (int i = 0; i < mesh.num_vertices; ++i) mesh.colors[i] = mesh.positions[i];
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  def.thickness = 0.05f;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_sheet(NULL, &def, &model, NULL), YW_OK);
  const yw_tri_mesh* surface = yw_model_surface(model);
  assert_non_null(surface->colors);
  for (int v = 0; v < surface->num_vertices; ++v) {
    assert_near(surface->colors[v].x, surface->positions[v].x, 0.051);
    assert_near(surface->colors[v].z, surface->positions[v].z, 0.051);
  }
  yw_model_release(model);
  yw_tri_mesh_free(&mesh);
}

// The surface moves and rotates with the body.
static void surfaces_follow_the_body(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_rod(5, 1.0, 0.05f, 1e6f, YW_SLENDER_IMPLICIT);
  const yw_quat turn = {0.36f, 0.48f, 0, 0.8f};
  const yw_vec3 shift = {1, 2, 3};
  yw_body_id id = add_body(world, model, shift, turn);
  const yw_tri_mesh* surface = yw_model_surface(model);
  yw_vec3* x = malloc(sizeof *x * (size_t)surface->num_vertices);
  assert_int_equal(yw_body_surface_positions(world, id, x, surface->num_vertices), 0);
  for (int v = 0; v < surface->num_vertices; ++v) {
    yw_vec3 expected = yw_add(yw_rotate(turn, surface->positions[v]), shift);
    assert_at_most(yw_distance(x[v], expected), 1e-5);
  }
  assert_int_equal(yw_body_surface_positions(world, id, x, 3), YW_ERR_INVALID);
  assert_int_equal(yw_body_surface_positions(world, id, NULL, surface->num_vertices),
                   YW_ERR_INVALID);
  assert_int_equal(yw_body_surface_positions(world, (yw_body_id){9, 1}, x, surface->num_vertices),
                   YW_ERR_INVALID);
  free(x);
  yw_world_destroy(world);
  yw_model_release(model);
}

// Obstacles and pins ------------------------------------------------------------------------------

static void rods_and_sheets_rest_on_the_floor(void** state) {
  (void)state;
  for (int solver = YW_SLENDER_IMPLICIT; solver <= YW_SLENDER_EXTENDED; ++solver) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, true);
    yw_model* rod = make_rod(11, 0.5, 0.02f, 1e7f, (yw_slender_solver)solver);
    yw_model* sheet = make_sheet(0.4, 5, 0.02f, 1e7f, (yw_slender_solver)solver);
    yw_body_id ids[2] = {add_body(world, rod, (yw_vec3){0, 0.1f, 0}, upright),
                         add_body(world, sheet, (yw_vec3){2, 0.1f, 0}, upright)};
    for (int step = 0; step < 180; ++step) {
      assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
    }
    for (int b = 0; b < 2; ++b) {
      int32_t n;
      const yw_vec3* x = yw_body_positions(world, ids[b], &n);
      for (int p = 0; p < n; ++p) assert_near(x[p].y, b == 0 ? 0.02 : 0.01, 3e-4);
    }
    yw_world_destroy(world);
    yw_model_release(rod);
    yw_model_release(sheet);
  }
}

// A rubber sheet with self-contact rests as still, and as high, as one without.
static void sheet_with_self_contact_rests(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* sheet = make_sheet(0.4, 8, 0.008f, 1.5e6f, YW_SLENDER_IMPLICIT);
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = sheet;
  def.self_contact = true;
  def.transform.position = (yw_vec3){0, 0.1f, 0};
  def.transform.rotation = (yw_quat){0.1f, 0, 0.05f, 0.993730f};
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
  for (int step = 0; step < 90; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60, 2, NULL) >= 0);
  }
  int32_t n;
  const yw_vec3* x = yw_body_positions(world, id, &n);
  for (int p = 0; p < n; ++p) assert_near(x[p].y, 0.004, 1e-5);
  yw_body_sums sums;
  yw_body_sums_of(world, id, &sums);
  assert_at_most(sqrt(2 * sums.kinetic_energy / sums.mass), 1e-6);
  yw_world_destroy(world);
  yw_model_release(sheet);
}

// Acceleration down a slope of 20 degrees, from the momenta of a second.
static double slide(yw_model* model, float radius, float friction) {
  yw_body_sums before, after;
  slide_down(model, 1.001f * radius, friction, &before, &after);
  return (along_slope(after.momentum) - along_slope(before.momentum)) / after.mass;
}

// Coulomb's law: g (sin - mu cos) on a steep slope, none below the friction angle.
static void friction_is_coulombs(void** state) {
  (void)state;
  for (int k = 0; k < 12; ++k) {
    yw_slender_solver solver = (yw_slender_solver)(k % 3);
    float young = k / 3 % 2 ? 2e9f : 2e6f;
    bool is_rod = k < 6;
    yw_model* model =
        is_rod ? make_rod(9, 0.4, 0.01f, young, solver) : make_sheet(0.3, 4, 0.01f, young, solver);
    float radius = is_rod ? 0.01f : 0.005f;
    double rough = 9.81 * (0.34202 - 0.2 * 0.93969);
    assert_near(slide(model, radius, 0.0f), 9.81 * 0.34202, 0.01 * 9.81 * 0.34202);
    assert_near(slide(model, radius, 0.2f), rough, 0.01 * rough);
    assert_near(slide(model, radius, 0.6f), 0, 1e-3);
    yw_model_release(model);
  }
}

// A steel plate that lands on a corner comes to rest: contact does not stretch it.
static void steel_plate_does_not_leap(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* sheet = make_sheet(0.5, 6, 0.001f, 2e11f, YW_SLENDER_IMPLICIT);
  yw_body_id id =
      add_body(world, sheet, (yw_vec3){0, 0.5f, 0}, (yw_quat){0.3f, 0.2f, 0.1f, 0.927362f});
  yw_body_sums sums;
  int steps = getenv("YW_TEST_FAST") ? 60 : 180;
  for (int step = 0; step < steps; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
    yw_body_sums_of(world, id, &sums);
    // Never more than from a fall of 0.7 m.
    assert_at_most(sums.kinetic_energy / sums.mass, 9.81 * 0.7);
  }
  if (steps == 180) {
    assert_at_most(sums.center[1], 0.002);
    assert_at_most(2 * sums.kinetic_energy / sums.mass, 1e-6);
  }
  yw_world_destroy(world);
  yw_model_release(sheet);
}

// A hinge lets the rod hang, a clamp supports it.
static void clamps_carry_and_hinges_do_not(void** state) {
  (void)state;
  for (int clamp = 0; clamp < 2; ++clamp) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_model* rod = make_rod(11, 0.5, 0.02f, 1e9f, YW_SLENDER_IMPLICIT);
    yw_body_id id = add_body(world, rod, (yw_vec3){0, 0, 0}, upright);
    yw_slender_params params;
    assert_int_equal(yw_body_slender_params(world, id, &params), 0);
    params.damping = 0.0f;
    assert_int_equal(yw_body_set_slender_params(world, id, &params), 0);
    pin_vertex(world, id, 0, clamp);
    float lowest = 0.0f;
    for (int step = 0; step < 60; ++step) {
      assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
      lowest = fminf(lowest, yw_body_positions(world, id, NULL)[10].y);
    }
    if (clamp) assert_at_least(lowest, -0.01);
    if (!clamp) assert_at_most(lowest, -0.45);
    yw_world_destroy(world);
    yw_model_release(rod);
  }
}

// A clamp rotated explicitly rotates the rod with it.
static void turned_pin_turns_the_rod(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_model* rod = make_rod(11, 0.5, 0.02f, 1e8f, YW_SLENDER_IMPLICIT);
  yw_body_id id = add_body(world, rod, (yw_vec3){0, 0, 0}, upright);
  yw_pin_id pin = pin_vertex(world, id, 0, true);
  for (int step = 1; step <= 200; ++step) {
    float angle = 1.5707963f * fminf(1.0f, (float)step / 60.0f);
    yw_quat turn = {0, sinf(0.5f * angle), 0, cosf(0.5f * angle)};
    assert_int_equal(yw_pin_move(world, pin, (yw_vec3){0, 0, 0}, turn), 0);
    assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
  }
  // x rotated by a quarter turn about y is -z.
  yw_vec3 tip = yw_body_positions(world, id, NULL)[10];
  assert_near(tip.x, 0.0, 2e-3);
  assert_near(tip.z, -0.5, 1e-3);
  yw_world_destroy(world);
  yw_model_release(rod);
}

// A sheet falls on a ball and lies on it.
static void sheet_drapes_over_a_ball(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_shape* ball = NULL;
  yw_error error = {0};
  assert_int_equal(yw_shape_sphere(NULL, 0.3f, &ball), 0);
  yw_obstacle_def obstacle = yw_default_obstacle_def();
  obstacle.shape = ball;
  obstacle.transform.position = (yw_vec3){0.5f, -0.4f, 0.5f};
  obstacle.friction = 0.8f;
  yw_obstacle_id obstacle_id;
  assert_int_equal(yw_obstacle_create(world, &obstacle, &obstacle_id, &error), 0);
  yw_shape_release(ball);
  yw_model* sheet = make_sheet(1.0, 12, 0.01f, 3e5f, YW_SLENDER_IMPLICIT);
  yw_body_id id = add_body(world, sheet, (yw_vec3){0, 0, 0}, upright);
  int newton = 0;
  for (int step = 0; step < 120; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
    yw_slender_statistics now;
    yw_body_slender_statistics(world, id, &now);
    if (step >= 90) newton += now.newton_steps;
  }
  // What sticks and slides is found by loose solves: 9 Newton steps, and 15 with strict ones.
  assert_at_most(newton / 30.0, 12);
  int32_t n;
  const yw_vec3* x = yw_body_positions(world, id, &n);
  float nearest = INFINITY, lowest = INFINITY;
  for (int p = 0; p < n; ++p) {
    nearest = fminf(nearest, yw_distance(x[p], (yw_vec3){0.5f, -0.4f, 0.5f}));
    lowest = fminf(lowest, x[p].y);
  }
  assert_near(nearest, 0.305, 1e-3);
  assert_at_most(lowest, -0.3);
  assert_at_least(lowest, -1.2);
  yw_world_destroy(world);
  yw_model_release(sheet);
}

// Self-contact: neighbours that overlap at rest do not collide, distant particles do not pass
// through.
static void rod_meets_itself_but_not_its_neighbours(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* rod = make_rod(41, 1.0, 0.02f, 1e5f, YW_SLENDER_IMPLICIT);
  yw_body_def def = yw_default_body_def();
  yw_error error = {0};
  yw_body_id id;
  def.model = rod;
  def.self_contact = true;
  assert_int_equal(yw_body_create(world, &def, &id, &error), 0);
  // Free fall: nothing touches.
  yw_step_report report;
  for (int step = 0; step < 10; ++step) yw_world_step(world, 1.0f / 60, 1, &report);
  assert_int_equal(report.body_contacts, 0);
  // Both ends fly towards each other.
  int32_t n;
  yw_vec3 x[41], v[41];
  memcpy(x, yw_body_positions(world, id, &n), sizeof x);
  for (int p = 0; p < 41; ++p) {
    float angle = 3.0f * (float)p / 40.0f - 1.5f;
    x[p] = (yw_vec3){0.3f * sinf(angle), -0.3f * cosf(angle), 0};
    v[p] = (yw_vec3){p < 8 ? 2.0f : p > 32 ? -2.0f : 0.0f, 0, 0};
  }
  assert_int_equal(yw_body_set_state(world, id, x, v), 0);
  int contacts = 0;
  float nearest = INFINITY;
  for (int step = 0; step < 120; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60, 4, &report) >= 0);
    contacts += report.body_contacts;
    const yw_vec3* now = yw_body_positions(world, id, &n);
    for (int a = 0; a < 41; ++a) {
      for (int b = a + 8; b < 41; ++b) nearest = fminf(nearest, yw_distance(now[a], now[b]));
    }
  }
  assert_true(contacts > 0);
  assert_at_least(nearest, 0.039);
  yw_world_destroy(world);
  yw_model_release(rod);
}

// Surfaces that follow ----------------------------------------------------------------------------

// A plate of 4 x 4 squares with a surface of 32 x 32, offset from it.
static yw_model* make_carried_plate(float offset) {
  yw_tri_mesh mesh = plate_mesh(1.0, 1.0, 4, 4, PLATE_MIRRORED);
  yw_tri_mesh fine = plate_mesh(1.0, 1.0, 32, 32, PLATE_SAME);
  for (int v = 0; v < fine.num_vertices; ++v) fine.positions[v].y = offset;
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  def.thickness = 0.01f;
  def.surface = &fine;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_sheet(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  assert_int_equal(yw_model_surface(model)->num_vertices, fine.num_vertices);
  fine.triangles[7] = fine.num_vertices;
  yw_model* none = NULL;
  assert_int_equal(yw_model_create_sheet(NULL, &def, &none, &error), YW_ERR_GEOMETRY);
  fine.triangles[7] = 0;
  fine.positions[3].x = NAN;
  assert_int_equal(yw_model_create_sheet(NULL, &def, &none, &error), YW_ERR_INVALID);
  yw_tri_mesh_free(&mesh);
  yw_tri_mesh_free(&fine);
  return model;
}

static void carried_surface_of(const yw_world* world, yw_body_id id, yw_vec3 out[33 * 33]) {
  assert_int_equal(yw_body_surface_positions(world, id, out, 33 * 33), YW_OK);
}

// The surface moves rigidly with the body; where the plate is rolled into a quarter of a cylinder,
// it is round: facets of the plate would be off by a quarter of radius (1 - cos(pi / 16)), 0.012.
static void carried_surface_is_smooth(void** state) {
  (void)state;
  const float offset = 0.05f, radius = 2.0f / 3.14159265f;
  yw_world* world = make_weightless_world(1);
  yw_model* model = make_carried_plate(offset);
  yw_quat turn = {0.6f, 0, 0, 0.8f};
  yw_vec3 at = {1, 2, 3}, x[25], out[33 * 33];
  yw_body_id id = add_body(world, model, at, turn);
  carried_surface_of(world, id, out);
  for (int v = 0; v < 33 * 33; ++v) {
    yw_vec3 expected = yw_add(at, yw_rotate(turn, yw_model_surface(model)->positions[v]));
    assert_at_most(yw_distance(out[v], expected), 1e-5);
  }
  for (int p = 0; p < 25; ++p) {
    float angle = (float)(p % 5) / 4.0f / radius;
    x[p] = yw_v3(radius * sinf(angle), radius * cosf(angle), (float)(p / 5) / 4.0f);
  }
  assert_int_equal(yw_body_set_state(world, id, x, NULL), YW_OK);
  carried_surface_of(world, id, out);
  double worst = 0;
  for (int v = 0; v < 33 * 33; ++v) {
    // Rotations of particles at the border are those of the triangles on one side.
    int i = v % 33;
    if (i < 8 || i > 24) continue;
    double r = sqrt((double)(out[v].x * out[v].x + out[v].y * out[v].y));
    worst = fmax(worst, fabs(r - (double)(radius + offset)));
  }
  assert_at_most(worst, 0.002);
  yw_world_destroy(world);
  yw_model_release(model);
}

// What would be shown below the floor, on which the plate lies, is shown on it.
static void carried_surface_stays_out_of_obstacles(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_model* model = make_carried_plate(-0.03f);
  yw_shape* floor = NULL;
  yw_error error = {0};
  yw_obstacle_id obstacle_id;
  assert_int_equal(yw_shape_plane(NULL, yw_v3(0, 1, 0), 0.0f, &floor), YW_OK);
  yw_obstacle_def obstacle = yw_default_obstacle_def();
  obstacle.shape = floor;
  assert_int_equal(yw_obstacle_create(world, &obstacle, &obstacle_id, &error), YW_OK);
  yw_shape_release(floor);
  yw_body_id id = add_body(world, model, yw_v3(0, 0.006f, 0), upright);
  yw_vec3 out[33 * 33];
  carried_surface_of(world, id, out);
  for (int v = 0; v < 33 * 33; ++v) assert_near(out[v].y, 0.0, 1e-4);
  yw_world_destroy(world);
  yw_model_release(model);
}

// Bits --------------------------------------------------------------------------------------------

static void fill_world(yw_world* world, int solver) {
  yw_model* rod = make_rod(200, 3.0, 0.01f, 1e7f, solver);
  yw_model* sheet = make_sheet(1.0, 10, 0.004f, 1e6f, solver);
  yw_body_id a = add_body(world, rod, (yw_vec3){0, 0.3f, 0.5f}, (yw_quat){0, 0.6f, 0, 0.8f});
  add_body(world, sheet, (yw_vec3){0, 0.6f, 0}, (yw_quat){0.28f, 0, 0, 0.96f});
  pin_vertex(world, a, 0, true);
  yw_model_release(rod);
  yw_model_release(sheet);
}

static void bits_do_not_depend_on_threads_or_instruction_sets(void** state) {
  (void)state;
  int steps = getenv("YW_TEST_FAST") ? 6 : 24;
  for (int solver = 0; solver < 4; ++solver) {
    uint64_t hash = hash_after(fill_world, solver, steps, 1, YW_SIMD_PLAIN);
    assert_true(hash_after(fill_world, solver, steps, 3, YW_SIMD_AUTO) == hash);
  }
}

static void snapshots_go_on_bit_for_bit(void** state) {
  (void)state;
  for (int solver = 0; solver < 4; ++solver) check_snapshot(fill_world, solver, 20, 10);
}

static void steps_do_not_allocate(void** state) {
  (void)state;
  for (int solver = 0; solver < 4; ++solver) check_no_heap(fill_world, solver, 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_rods_are_refused),
      cmocka_unit_test(bad_sheets_are_refused),
      cmocka_unit_test(rods_show_closed_tubes),
      cmocka_unit_test(sheets_show_both_sides_and_a_rim),
      cmocka_unit_test(sheets_keep_their_colours),
      cmocka_unit_test(surfaces_follow_the_body),
      cmocka_unit_test(rods_and_sheets_rest_on_the_floor),
      cmocka_unit_test(sheet_with_self_contact_rests),
      cmocka_unit_test(friction_is_coulombs),
      cmocka_unit_test(steel_plate_does_not_leap),
      cmocka_unit_test(clamps_carry_and_hinges_do_not),
      cmocka_unit_test(turned_pin_turns_the_rod),
      cmocka_unit_test(sheet_drapes_over_a_ball),
      cmocka_unit_test(rod_meets_itself_but_not_its_neighbours),
      cmocka_unit_test(carried_surface_is_smooth),
      cmocka_unit_test(carried_surface_stays_out_of_obstacles),
      cmocka_unit_test(bits_do_not_depend_on_threads_or_instruction_sets),
      cmocka_unit_test(snapshots_go_on_bit_for_bit),
      cmocka_unit_test(steps_do_not_allocate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
