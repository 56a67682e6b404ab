// SPDX-License-Identifier: MIT
#include "support/testing.h"

#include "geometry/matter.h"
#include "geometry/mesher.h"
#include "geometry/tet_fit.h"
#include "scene/method.h"
#include "support/solid_topology.h"
#include "yawara/extend/vec.h"
#include "yawara/scene.h"
#include "yawara/shape.h"

static const double pi = 3.14159265358979;

static yw_shape* box_at(float x, float y, float z, float a, float b, float c) {
  yw_shape *box, *out;
  assert_int_equal(yw_shape_box(NULL, yw_v3(0.5f * a, 0.5f * b, 0.5f * c), &box), YW_OK);
  yw_transform place = {{x, y, z}, {0, 0, 0, 1}, 1};
  assert_int_equal(yw_shape_transform(NULL, box, place, &out), YW_OK);
  yw_shape_release(box);
  return out;
}

// A thick top on round legs, which the lattice cannot follow.
static yw_shape* stool(float leg_radius) {
  yw_shape *parts[3], *out;
  parts[0] = box_at(0, 0.7f, 0, 1, 0.3f, 0.6f);
  for (int n = 0; n < 2; ++n) {
    float x = n ? 0.4f : -0.4f;
    yw_shape_capsule(NULL, yw_v3(x, 0, 0.013f), yw_v3(x, 0.7f, 0.013f), leg_radius, &parts[1 + n]);
  }
  assert_int_equal(yw_shape_union(NULL, 3, parts, 0, &out), YW_OK);
  for (int n = 0; n < 3; ++n) yw_shape_release(parts[n]);
  return out;
}

static yw_tet_fit fit_of(const yw_shape* shape, float size, int max_tets) {
  yw_mesher_def def = yw_default_mesher_def();
  def.size = size;
  def.max_tets = max_tets;
  yw_tet_mesh mesh;
  yw_tet_fit fit;
  yw_error error;
  if (yw_shape_fill(shape, NULL, &def, &mesh, &fit, &error) != YW_OK) fail_msg("%s", error.message);
  yw_tet_mesh_free(&mesh);
  return fit;
}

// In any order of coming, the largest parts are listed, the largest first, and all are counted.
static void the_largest_lost_parts_are_listed(void** state) {
  (void)state;
  enum { PARTS = 13 };
  yw_tet_fit fit = {0};
  for (int n = 0; n < PARTS; ++n) {
    yw_tet_fit_add(&fit, (yw_lost_part){.volume = 1 + n * 5 % PARTS, .length = 1});
  }
  assert_int_equal(fit.num_lost, PARTS);
  assert_near(fit.lost_volume, PARTS * (PARTS + 1) / 2, 1e-9);
  for (int n = 0; n < YW_MAX_LOST_PARTS; ++n) assert_near(fit.lost[n].volume, PARTS - n, 0);
}

static void volume_and_thickness_are_those_of_the_shape(void** state) {
  (void)state;
  yw_shape* shapes[5];
  yw_shape_sphere(NULL, 1, &shapes[0]);
  yw_shape_box(NULL, yw_v3(1, 0.6f, 0.3f), &shapes[1]);
  yw_shape_box(NULL, yw_v3(1, 0.0005f, 1), &shapes[2]);
  yw_shape_torus(NULL, 1, 0.3f, &shapes[3]);
  shapes[4] = stool(0.03f);
  const double volumes[5] = {4 * pi / 3, 1.44, 0.004, 2 * pi * pi * 0.09,
                             0.18 + 2 * pi * (0.03 * 0.03 * 0.55 + 2.0 / 3 * 0.03 * 0.03 * 0.03)};
  const double thickness[5] = {2, 0.6, 0.001, 0.6, 0.06};
  for (int n = 0; n < 5; ++n) {
    yw_aabb box;
    yw_matter matter;
    assert_true(yw_shape_bounds(shapes[n], &box));
    assert_int_equal(yw_matter_create(NULL, shapes[n], box, YW_MATTER_FINE, NULL, &matter), YW_OK);
    assert_near(matter.volume / volumes[n], 1, 0.005);
    assert_near(yw_matter_thickness(&matter, 0.005, YW_THICKNESS_OF_MATTER) / thickness[n], 1, 0.1);
    yw_matter_free(&matter);
    yw_shape_release(shapes[n]);
  }
}

static void thin_legs_are_named_when_they_are_lost(void** state) {
  (void)state;
  yw_shape* shape = stool(0.03f);
  yw_tet_fit fit = fit_of(shape, 0.2f, 100);
  assert_int_equal(fit.num_lost, 2);
  double leg = pi * 0.03 * 0.03 * 0.55;
  for (int n = 0; n < 2; ++n) {
    assert_near(fit.lost[n].volume / leg, 1, 0.25);
    assert_near(fit.lost[n].thickness, 0.06, 0.01);
    assert_near(fabsf(fit.lost[n].center.x), 0.4, 0.02);
    assert_near(fit.lost[n].center.y, 0.27, 0.06);
  }
  char text[600];
  assert_true(yw_tet_fit_text(&fit, 1000, text, sizeof text) > 0);
  assert_non_null(strstr(text, "2 parts thinner than the size of 0.2 m are lost: 1."));
  assert_non_null(strstr(text, " kg at ("));
  assert_non_null(strstr(text, "so the mass is that of the shape"));
  // A short buffer is filled, not overrun.
  memset(text, 'x', sizeof text);
  assert_int_equal(yw_tet_fit_text(&fit, 1000, text, 20), 19);
  assert_int_equal(text[20], 'x');
  yw_shape_release(shape);
}

// A leg of 3 mm under a cube of 1 m weighs nothing, but it is seen. One of 30 mm is kept.
// Parts that hang by a neck are the same wherever the shape is.
static void necks_do_not_depend_on_the_place(void** state) {
  (void)state;
  yw_shape *here = stool(0.05f), *there;
  yw_transform far = {{3.1f, 5.3f, -7.7f}, {0, 0, 0, 1}, 1};
  assert_int_equal(yw_shape_transform(NULL, here, far, &there), YW_OK);
  for (float size = 0.1f; size < 0.25f; size += 0.04f) {
    yw_tet_fit a = fit_of(here, size, 4000), b = fit_of(there, size, 4000);
    assert_int_equal(a.num_lost, b.num_lost);
    assert_near(a.lost_volume, b.lost_volume, 1e-3);
    for (int n = 0; n < a.num_lost && n < YW_MAX_LOST_PARTS; ++n) {
      assert_near(a.lost[n].volume, b.lost[n].volume, 0.05 * a.lost[n].volume + 1e-5);
      assert_near(a.lost[n].thickness, b.lost[n].thickness, 0.02);
    }
  }
  yw_shape_release(here), yw_shape_release(there);
}

static void long_legs_of_little_mass_are_kept_or_named(void** state) {
  (void)state;
  for (int n = 0; n < 2; ++n) {
    float width = n == 0 ? 0.003f : 0.03f;
    yw_shape* parts[2] = {box_at(0, 0, 0, 1, 1, 1), box_at(0.1f, -1.0f, 0.1f, width, 1.2f, width)};
    yw_shape* shape = NULL;
    assert_int_equal(yw_shape_union(NULL, 2, parts, 0.0f, &shape), YW_OK);
    yw_tet_fit fit = fit_of(shape, 0, 8000);
    char text[600];
    yw_tet_fit_text(&fit, 1000, text, sizeof text);
    if (fit.num_lost != 1 - n) fail_msg("%d parts lost: %s", fit.num_lost, text);
    if (n == 0) {
      assert_near(fit.lost[0].thickness, 0.003, 0.002);
      assert_near(fit.lost[0].center.y, -1.05, 0.15);
      assert_true(fit.lost[0].length > 0.6f && fit.lost[0].length < 1.2f);
      assert_non_null(strstr(text, "1 part thinner than the size of "));
      assert_non_null(strstr(text, "less than "));
    }
    yw_shape_release(shape);
    for (int k = 0; k < 2; ++k) yw_shape_release(parts[k]);
  }
}

// Nothing set but the shape.
static void thin_legs_are_kept_by_default(void** state) {
  (void)state;
  yw_shape* shape = stool(0.03f);
  yw_tet_fit fit = fit_of(shape, 0, 30000);
  char text[600];
  yw_tet_fit_text(&fit, 1000, text, sizeof text);
  if (fit.num_lost > 0) fail_msg("%s", text);
  assert_near(fit.tet_volume / fit.shape_volume, 1, 0.02);
  yw_shape_release(shape);
}

// A barrel on legs with thin ankles of the given radius, from y = 0.1 to 0.2.
static yw_shape* animal(float ankle) {
  yw_shape *parts[13], *out;
  yw_shape_capsule(NULL, yw_v3(-0.3f, 0.5f, 0), yw_v3(0.3f, 0.5f, 0), 0.12f, &parts[0]);
  for (int n = 0; n < 4; ++n) {
    float x = n & 1 ? 0.28f : -0.28f, z = n & 2 ? 0.1f : -0.09f;
    yw_shape** leg = &parts[1 + 3 * n];
    yw_shape_capsule(NULL, yw_v3(x, 0.23f, z), yw_v3(x, 0.5f, 0.5f * z), 0.03f, &leg[0]);
    yw_shape_capsule(NULL, yw_v3(x, 0.1f, z), yw_v3(x, 0.23f, z), ankle, &leg[1]);
    yw_shape_capsule(NULL, yw_v3(x, 0.06f, z), yw_v3(x + 0.03f, 0.05f, z), 0.03f, &leg[2]);
  }
  assert_int_equal(yw_shape_union(NULL, 13, parts, 0, &out), YW_OK);
  for (int n = 0; n < 13; ++n) yw_shape_release(parts[n]);
  return out;
}

// Area of the part of a tet in a plane y = height.
static double section_of_tet(const yw_tet_mesh* mesh, int32_t t, double height) {
  yw_dvec3 p[4], at[4], sum = {0};
  int count = 0;
  yw_tet_corners(mesh, t, p);
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < a; ++b) {
      if ((p[a].y < height) == (p[b].y < height)) continue;
      double s = (height - p[a].y) / (p[b].y - p[a].y);
      at[count++] = yw_dmad(p[a], s, yw_dsub(p[b], p[a]));
    }
  }
  // A triangle, or a quad in some order: the largest of its three areas is that of its outline.
  static const unsigned char orders[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 3, 2}};
  double area = 0.0;
  for (int o = 0; o < 3 && count >= 3; ++o) {
    sum = (yw_dvec3){0};
    for (int k = 0; k < count; ++k) {
      const unsigned char* order = orders[count == 3 ? 0 : o];
      sum = yw_dadd(sum, yw_dcross(at[order[k]], at[order[(k + 1) % count]]));
    }
    area = fmax(area, 0.5 * fabs(sum.y));
  }
  return area;
}

// Tets about as large as ankles are thick used to end there, or to meet in a vertex: legs were
// hinges. Every section of four ankles has most of its area.
static void ankles_are_as_thick_as_those_of_the_shape(void** state) {
  (void)state;
  const yw_size_wish wish = {.cells = 4.0, .across = 1.3, .max_tets = 3000.0};
  const float ankle = 0.01f;
  yw_shape* shape = animal(ankle);
  yw_tet_mesh mesh;
  yw_tet_fit fit;
  yw_error error;
  yw_status status = yw_mesher_fill(shape, NULL, NULL, &wish, NULL, &mesh, &fit, &error);
  if (status != YW_OK) fail_msg("%s", error.message);
  double whole = 4.0 * pi * (double)ankle * (double)ankle, least = 1.0;
  for (double y = 0.1; y < 0.2; y += 0.003) {
    double area = 0.0;
    for (int32_t t = 0; t < mesh.num_tets; ++t) area += section_of_tet(&mesh, t, y);
    least = fmin(least, area / whole);
  }
  if (least < 0.6) fail_msg("%d tets, a section has %.2f of its area", mesh.num_tets, least);
  assert_int_equal(fit.num_lost, 0);
  yw_tet_mesh_free(&mesh);
  yw_shape_release(shape);
}

static void several_workers_make_the_same_tets(void** state) {
  (void)state;
  const yw_size_wish wish = {.cells = 4.0, .across = 1.3, .max_tets = 3000.0};
  yw_shape* shape = animal(0.02f);
  yw_tasks* tasks = yw_tasks_create(NULL, 3);
  yw_tet_mesh alone, shared;
  yw_tet_fit fit[2];
  assert_int_equal(yw_mesher_fill(shape, NULL, NULL, &wish, NULL, &alone, &fit[0], NULL), YW_OK);
  assert_int_equal(yw_mesher_fill(shape, NULL, NULL, &wish, tasks, &shared, &fit[1], NULL), YW_OK);
  assert_int_equal(alone.num_tets, shared.num_tets);
  assert_int_equal(alone.num_vertices, shared.num_vertices);
  assert_memory_equal(alone.positions, shared.positions,
                      sizeof(yw_vec3) * (size_t)alone.num_vertices);
  assert_memory_equal(alone.tets, shared.tets, 4 * sizeof(int32_t) * (size_t)alone.num_tets);
  assert_true(fit[0].shape_volume == fit[1].shape_volume);
  yw_tet_mesh_free(&alone);
  yw_tet_mesh_free(&shared);
  yw_tasks_destroy(tasks);
  yw_shape_release(shape);
}

// Walls that need more tets than were asked for get them: a mug is whole, not a sieve.
static void walls_of_a_mug_are_kept(void** state) {
  (void)state;
  yw_shape *parts[2], *inner, *mug;
  yw_shape_cylinder(NULL, 0.4f, 0.5f, &parts[0]);
  yw_shape_cylinder(NULL, 0.362f, 0.5f, &inner);
  yw_transform up = {{0, 0.06f, 0}, {0, 0, 0, 1}, 1};
  assert_int_equal(yw_shape_transform(NULL, inner, up, &parts[1]), YW_OK);
  assert_int_equal(yw_shape_difference(NULL, 2, parts, 0, &mug), YW_OK);
  yw_tet_fit fit = fit_of(mug, 0, 8000);
  assert_int_equal(fit.num_lost, 0);
  double volume = pi * (0.4 * 0.4 - 0.362 * 0.362 * 0.94);
  assert_near(fit.tet_volume / volume, 1, 0.02);
  for (int n = 0; n < 2; ++n) yw_shape_release(parts[n]);
  yw_shape_release(inner);
  yw_shape_release(mug);
}

// What hangs is named with its mass, its place and how thick its neck is.
static void limbs_that_hang_are_named(void** state) {
  (void)state;
  yw_tet_fit fit = {.size = 0.2f, .shape_volume = 1, .tet_volume = 1, .num_lost = 2};
  fit.lost[0] = (yw_lost_part){{1, 2, 3}, 0.01, 0.02f, 0.0f};
  fit.lost[1] = (yw_lost_part){{4, 5, 6}, 0.005, 0.03f, 0.7f};
  char text[600];
  yw_tet_fit_text(&fit, 1000, text, sizeof text);
  assert_non_null(strstr(text,
                         "1 part thinner than the size of 0.2 m is lost: 5 kg at (4, 5, 6), "
                         "0.03 m thick and 0.7 m long."));
  assert_non_null(strstr(text,
                         "1 part hangs by little more than half of the tets that its neck "
                         "needs, or less: 10 kg at (1, 2, 3), 0.02 m thick at the neck."));
}

static void a_box_loses_nothing(void** state) {
  (void)state;
  yw_shape* shape = box_at(0.1f, 0.2f, 0.3f, 1, 0.1f, 0.37f);
  yw_tet_fit fit = fit_of(shape, 0.13f, 30000);
  char text[600];
  assert_near(fit.tet_volume, 0.037, 1e-6);
  assert_int_equal(fit.num_lost, 0);
  assert_int_equal(yw_tet_fit_text(&fit, 1000, text, sizeof text), 0);
  assert_true(yw_tet_fit_density(&fit) == 1.0);
  yw_shape_release(shape);
}

// A coarse ball has too little volume, but weighs what it should with every method.
static void mass_is_that_of_the_shape(void** state) {
  (void)state;
  const char* const methods[] = {"match", "frames", "fem"};
  for (int n = 0; n < 3; ++n) {
    char text[400];
    snprintf(
        text, sizeof text,
        "{\"bodies\": [{\"mesh\": {\"tets\": {\"shape\": {\"sphere\": {\"radius\": 1}}, \"size\": "
        "0.5}}, \"%s\": {}, \"density\": 700}]}",
        methods[n]);
    yw_scene_def def = yw_default_scene_def();
    def.path = "ball.json";
    def.text = text;
    def.size = strlen(text);
    yw_scene* scene;
    yw_world* world;
    yw_error warning = {0}, error = {0};
    if (yw_scene_read(&def, &scene, &warning, &error) < 0) fail_msg("%s", error.message);
    assert_true(yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) >= 0);
    yw_tet_fit fit;
    assert_true(yw_scene_body_fit(scene, 0, &fit));
    assert_at_most(fit.tet_volume, 0.97 * fit.shape_volume);
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, yw_world_body(world, 0), &sums), YW_OK);
    assert_near(sums.mass / (700 * 4 * pi / 3), 1, 0.004);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// Simple bodies, nothing given but the shape and the method: no matter is lost, in one part.
#define BOX(size, center) "{\"box\": {\"size\": [" size "], \"center\": [" center "]}}"
#define CYLINDER(radius) "{\"cylinder\": {\"radius\": " radius ", \"height\": 0.05}}"
#define UNION(of) "{\"union\": {\"of\": [" of "]}}"
#define CUT(of) "{\"difference\": {\"of\": [" of "]}}"

typedef struct simple_body {
  const char *name, *shape;
  double volume;
  int tunnels;
} simple_body;

static const simple_body simple_bodies[] = {
    {"T", UNION(BOX("0.8, 0.1, 0.1", "0, 0.4, 0") "," BOX("0.1, 0.8, 0.1", "0, 0, 0")), 0.0155, 0},
    {"plus", UNION(BOX("1, 0.1, 0.1", "0, 0, 0") "," BOX("0.1, 1, 0.1", "0, 0, 0")), 0.019, 0},
    {"L", UNION(BOX("0.1, 1, 0.2", "0, 0, 0") "," BOX("0.6, 0.1, 0.2", "0.25, -0.45, 0")), 0.03, 0},
    {"U",
     UNION(BOX("0.1, 1, 0.1", "-0.3, 0, 0") "," BOX("0.1, 1, 0.1", "0.3, 0, 0") "," BOX(
         "0.7, 0.1, 0.1", "0, -0.45, 0")),
     0.025, 0},
    {"frame", CUT(BOX("1, 0.8, 0.06", "0, 0, 0") "," BOX("0.88, 0.68, 1", "0, 0, 0")), 0.012096, 1},
    {"table",
     UNION(BOX("1.2, 0.05, 0.8", "0, 0.7, 0") "," BOX("0.06, 0.7, 0.06", "0.5, 0.35, 0.3") "," BOX(
         "0.06, 0.7, 0.06",
         "-0.5, 0.35, 0.3") "," BOX("0.06, 0.7, 0.06",
                                    "0.5, 0.35, -0.3") "," BOX("0.06, 0.7, 0.06",
                                                               "-0.5, 0.35, -0.3")),
     0.05772, 0},
    {"flat ring", CUT(CYLINDER("0.5") "," CYLINDER("0.4")), 0.0141372, 1},
    {"plate with a hole",
     CUT(BOX("1, 0.05, 0.6", "0, 0, 0") ",{\"cylinder\": {\"radius\": 0.15, \"height\": 1}}"),
     0.0264657, 1},
};

static void check_simple_body(const simple_body* b, const char* method, const char* settings) {
  char text[1000];
  snprintf(text, sizeof text, "{\"bodies\": [{\"shape\": %s, \"%s\": {%s}, \"density\": 700}]}",
           b->shape, method, settings);
  yw_scene_def def = yw_default_scene_def();
  def.path = b->name;
  def.text = text;
  def.size = strlen(text);
  yw_scene* scene;
  yw_world* world;
  yw_error warning = {0}, error = {0};
  if (yw_scene_read(&def, &scene, &warning, &error) < 0) fail_msg("%s", error.message);
  if (warning.message[0]) fail_msg("%s, %s: %s", b->name, method, warning.message);
  assert_true(yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) >= 0);
  yw_body_id body = yw_world_body(world, 0);
  const yw_tet_mesh* tets = yw_model_tets(yw_body_model(world, body));
  yw_tet_quality q;
  yw_body_sums sums;
  assert_int_equal(yw_tet_mesh_quality(tets, &q), YW_OK);
  solid_topology found = topology_of_tets(tets);
  print_message("%s, %s: %d tets, %.2f %% of the volume, smallest angle %.1f degrees\n", b->name,
                method, tets->num_tets, 100 * q.volume / b->volume, (double)q.min_dihedral);
  assert_near(q.volume / b->volume, 1, 0.02);
  assert_at_least(q.min_dihedral, 10);
  assert_int_equal(found.parts, 1);
  assert_int_equal(found.euler, 1 - b->tunnels);
  assert_int_equal(yw_body_sums_of(world, body, &sums), YW_OK);
  assert_near(sums.mass / (700 * b->volume), 1, 0.01);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void simple_bodies_keep_their_matter(void** state) {
  (void)state;
  for (int n = 0; n < 8; ++n) {
    check_simple_body(&simple_bodies[n], "match", "");
    check_simple_body(&simple_bodies[n], "frames", "");
    // All levels of finite elements take seconds; the first has tets of every shape.
    check_simple_body(&simple_bodies[n], "fem", getenv("YW_TEST_FULL") ? "" : "\"max_level\": 1");
  }
}

// A wheel of 1 m with a thick rim and 12 spokes, in the plane xz.
static yw_shape* wheel(float spoke) {
  yw_shape *parts[14], *out;
  yw_shape_torus(NULL, 0.47f, 0.03f, &parts[0]);
  yw_shape_cylinder(NULL, 0.06f, 0.06f, &parts[1]);
  for (int n = 0; n < 12; ++n) {
    float angle = (float)(2 * pi / 12 * (n + 0.3));
    yw_vec3 rim = yw_v3(0.47f * cosf(angle), 0, 0.47f * sinf(angle));
    yw_shape_capsule(NULL, yw_v3(0, 0, 0), rim, spoke, &parts[2 + n]);
  }
  assert_int_equal(yw_shape_union(NULL, 14, parts, 0, &out), YW_OK);
  for (int n = 0; n < 14; ++n) yw_shape_release(parts[n]);
  return out;
}

// Spokes of a hundredth of the wheel are thinner than a cube of the sampled matter, and than the
// cells of any method: smaller cells where they would break, and their volume is known.
static void spokes_stay_whole(void** state) {
  (void)state;
  const yw_size_wish* wishes[] = {yw_scene_match.tet_size, yw_scene_fem.tet_size};
  double volume = 2 * pi * pi * 0.47 * 0.0009 + pi * 0.0036 * 0.12 + 12 * pi * 25e-6 * 0.38;
  yw_shape* shape = wheel(0.005f);
  for (int n = 0; n < 2; ++n) {
    yw_tet_mesh mesh;
    yw_tet_fit fit;
    yw_error error;
    if (yw_mesher_fill(shape, NULL, NULL, wishes[n], NULL, &mesh, &fit, &error) != YW_OK) {
      fail_msg("%s", error.message);
    }
    yw_tet_quality q;
    assert_int_equal(yw_tet_mesh_quality(&mesh, &q), YW_OK);
    solid_topology found = topology_of_tets(&mesh);
    print_message("wheel, %s: %d tets, %d parts, %d tunnels, %.2f %% of the volume\n",
                  n ? "fem" : "match", mesh.num_tets, found.parts, 1 - found.euler,
                  100 * q.volume / volume);
    assert_near(fit.shape_volume / volume, 1, 0.01);
    assert_near(q.volume / volume, 1, 0.02);
    assert_int_equal(found.parts, 1);
    assert_int_equal(found.euler, 1 - 12);
    assert_int_equal(fit.num_lost, 0);
    assert_at_least(q.min_dihedral, 10);
    yw_tet_mesh_free(&mesh);
  }
  yw_shape_release(shape);
}

// The advice is a size that tets can have, or none where that would take more than a million.
static void advice_depends_on_the_number_of_tets(void** state) {
  (void)state;
  yw_tet_fit fit = {.size = 0.1f, .shape_volume = 1, .tet_volume = 0.99, .num_lost = 2};
  fit.lost[0] = (yw_lost_part){{0, 0, 0}, 0.006, 0.06f, 0.2f};
  fit.lost[1] = (yw_lost_part){{1, 0, 0}, 0.004, 0.05f, 0.1f};
  char text[1000];
  // 12 tets in a cube of half the thickness: 12 / 0.025^3 = 768,000.
  yw_tet_fit_text(&fit, 1000, text, sizeof text);
  assert_non_null(strstr(text, "Give a size of 0.025 m to keep them."));
  fit.lost[1].thickness = 0.04f;
  yw_tet_fit_text(&fit, 1000, text, sizeof text);
  assert_non_null(
      strstr(text, "They need tets of 0.02 m: make them thicker, or bodies of their own."));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spokes_stay_whole),
      cmocka_unit_test(advice_depends_on_the_number_of_tets),
      cmocka_unit_test(the_largest_lost_parts_are_listed),
      cmocka_unit_test(volume_and_thickness_are_those_of_the_shape),
      cmocka_unit_test(thin_legs_are_named_when_they_are_lost),
      cmocka_unit_test(necks_do_not_depend_on_the_place),
      cmocka_unit_test(long_legs_of_little_mass_are_kept_or_named),
      cmocka_unit_test(thin_legs_are_kept_by_default),
      cmocka_unit_test(ankles_are_as_thick_as_those_of_the_shape),
      cmocka_unit_test(several_workers_make_the_same_tets),
      cmocka_unit_test(walls_of_a_mug_are_kept),
      cmocka_unit_test(limbs_that_hang_are_named),
      cmocka_unit_test(a_box_loses_nothing),
      cmocka_unit_test(mass_is_that_of_the_shape),
      cmocka_unit_test(simple_bodies_keep_their_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
