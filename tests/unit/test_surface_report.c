// SPDX-License-Identifier: MIT
// What is said about surfaces: closed or open, wound alike or not, crossing, in parts.
#include "geometry/surface_parts.h"
#include "support/counted_memory.h"
#include "support/mesh_testing.h"
#include "yawara/shape.h"

static yw_surface_report report_of(const yw_tri_mesh* mesh) {
  yw_surface_report report;
  yw_error error = {0};
  if (yw_surface_report_of(mesh, NULL, &report, &error) < 0) fail_msg("%s", error.message);
  return report;
}

// A box with 12 triangles, wound outward; corners of its own.
static yw_tri_mesh make_box(yw_vec3 low, yw_vec3 high) {
  static const int32_t corners[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
  yw_tri_mesh mesh;
  assert_int_equal(yw_tri_mesh_create(NULL, 8, 12, &mesh), YW_OK);
  for (int32_t i = 0; i < 8; ++i)
    mesh.positions[i] =
        (yw_vec3){i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z};
  memcpy(mesh.triangles, corners, sizeof corners);
  return mesh;
}

// Both, one after the other; frees them.
static yw_tri_mesh joined(yw_tri_mesh a, yw_tri_mesh b) {
  yw_tri_mesh mesh;
  assert_int_equal(yw_tri_mesh_create(NULL, a.num_vertices + b.num_vertices,
                                      a.num_triangles + b.num_triangles, &mesh),
                   YW_OK);
  memcpy(mesh.positions, a.positions, (size_t)a.num_vertices * sizeof(yw_vec3));
  memcpy(mesh.positions + a.num_vertices, b.positions, (size_t)b.num_vertices * sizeof(yw_vec3));
  memcpy(mesh.triangles, a.triangles, 12 * (size_t)a.num_triangles);
  for (int32_t i = 0; i < 3 * b.num_triangles; ++i)
    mesh.triangles[3 * a.num_triangles + i] = b.triangles[i] + a.num_vertices;
  yw_tri_mesh_free(&a);
  yw_tri_mesh_free(&b);
  return mesh;
}

static void turn(yw_tri_mesh* mesh, int32_t t) {
  int32_t* v = mesh->triangles + 3 * t;
  int32_t swap = v[1];
  v[1] = v[2], v[2] = swap;
}

static void a_box_is_closed_and_wound_alike(void** state) {
  (void)state;
  yw_tri_mesh box = make_box((yw_vec3){0, 0, 0}, (yw_vec3){1, 2, 3});
  // Vertices may be repeated, as in STL files.
  yw_tri_mesh loose;
  assert_int_equal(yw_tri_mesh_create(NULL, 36, 12, &loose), YW_OK);
  for (int32_t i = 0; i < 36; ++i) {
    loose.positions[i] = box.positions[box.triangles[i]];
    loose.triangles[i] = i;
  }
  const yw_tri_mesh* meshes[2] = {&box, &loose};
  for (int32_t k = 0; k < 2; ++k) {
    yw_surface_report r = report_of(meshes[k]);
    assert_int_equal(r.num_parts, 1);
    assert_int_equal(r.open_edges + r.holes + r.turned_edges + r.crowded_edges, 0);
    assert_int_equal(r.crossing_triangles + r.flat_triangles, 0);
    assert_near(r.volume, 6.0, 1e-6);
    assert_near(r.area, 22.0, 1e-6);
  }
  yw_tri_mesh_free(&loose);
  yw_tri_mesh_free(&box);
}

static void openings_are_counted_with_their_size(void** state) {
  (void)state;
  yw_tri_mesh box = make_box((yw_vec3){0, 0, 0}, (yw_vec3){1, 1, 1});
  // Without the two triangles of a face there is a hole of four edges; without one of another face,
  // a second hole.
  memmove(box.triangles, box.triangles + 6, 30 * sizeof(int32_t));
  box.num_triangles = 10;
  yw_surface_report r = report_of(&box);
  assert_int_equal(r.open_edges, 4);
  assert_int_equal(r.holes, 1);
  assert_near(r.hole_area, 16.0 / (4.0 * 3.14159265), 1e-6);
  assert_near(r.open_place.z, 0.0, 0.0);
  memmove(box.triangles, box.triangles + 3, 27 * sizeof(int32_t));
  box.num_triangles = 9;
  r = report_of(&box);
  assert_int_equal(r.open_edges, 7);
  assert_int_equal(r.holes, 2);
  yw_tri_mesh_free(&box);
}

static void turned_triangles_are_found_and_repaired(void** state) {
  (void)state;
  yw_error error = {0};
  test_random random = {11};
  yw_shape* ball = NULL;
  yw_tri_mesh mesh;
  assert_int_equal(yw_shape_sphere(NULL, 1.0f, &ball), YW_OK);
  assert_int_equal(yw_shape_surface(ball, NULL, 0.2f, &mesh, &error), YW_OK);
  yw_shape_release(ball);
  double volume = report_of(&mesh).volume;
  int32_t turned = 0;
  for (int32_t t = 0; t < mesh.num_triangles; ++t) {
    if (test_random_u32(&random) % 3) continue;
    turn(&mesh, t);
    ++turned;
  }
  assert_true(report_of(&mesh).turned_edges > turned);
  int32_t back;
  assert_int_equal(yw_tri_mesh_orient(&mesh, &back), YW_OK);
  assert_int_equal(back, turned);
  yw_surface_report r = report_of(&mesh);
  assert_int_equal(r.turned_edges, 0);
  assert_near(r.volume, volume, 1e-9);
  yw_tri_mesh_free(&mesh);
}

static void cavities_face_inward_and_stay_with_their_part(void** state) {
  (void)state;
  // A box with a cavity that has a kernel in it, and a box beside it, all facing anywhere.
  yw_tri_mesh mesh = joined(make_box((yw_vec3){0, 0, 0}, (yw_vec3){10, 10, 10}),
                            make_box((yw_vec3){1, 1, 1}, (yw_vec3){9, 9, 9}));
  mesh = joined(mesh, make_box((yw_vec3){20, 0, 0}, (yw_vec3){21, 1, 1}));
  mesh = joined(mesh, make_box((yw_vec3){4, 4, 4}, (yw_vec3){5, 5, 5}));
  for (int32_t t = 0; t < 48; t += 5) turn(&mesh, t);
  int32_t turned, count;
  assert_int_equal(yw_tri_mesh_orient(&mesh, &turned), YW_OK);
  assert_int_equal(report_of(&mesh).num_parts, 4);
  assert_near(report_of(&mesh).volume, 1000.0 - 512.0 + 1.0 + 1.0, 1e-3);
  yw_tri_mesh* parts;
  assert_int_equal(yw_tri_mesh_split(&mesh, NULL, &parts, &count), YW_OK);
  assert_int_equal(count, 3);
  static const double volumes[3] = {488.0, 1.0, 1.0};
  static const int32_t triangles[3] = {24, 12, 12};
  for (int32_t i = 0; i < 3; ++i) {
    assert_near(report_of(&parts[i]).volume, volumes[i], 1e-4);
    assert_int_equal(parts[i].num_triangles, triangles[i]);
    yw_tri_mesh_free(&parts[i]);
  }
  free(parts);
  yw_tri_mesh_free(&mesh);
}

// About `tip` and three points `size` along the axes; its second triangle begins at another corner
// than its first.
static yw_tri_mesh make_tet(yw_vec3 tip, float size) {
  static const int32_t corners[12] = {1, 2, 3, 0, 2, 1, 0, 3, 2, 0, 1, 3};
  yw_tri_mesh mesh;
  assert_int_equal(yw_tri_mesh_create(NULL, 4, 4, &mesh), YW_OK);
  for (int32_t i = 0; i < 4; ++i) mesh.positions[i] = tip;
  mesh.positions[1].x += size, mesh.positions[2].y += size, mesh.positions[3].z += size;
  memcpy(mesh.triangles, corners, sizeof corners);
  return mesh;
}

// Also where all volumes are small, and wherever triangles begin.
// Of a cavity in a cavity both belong to the body around them: what faces inward holds no matter.
static void cavities_in_cavities_stay_with_the_body(void** state) {
  (void)state;
  for (int order = 0; order < 2; ++order) {
    yw_vec3 a = {1, 1, 1}, b = {9, 9, 9}, c = {4, 4, 4}, d = {5, 5, 5};
    yw_tri_mesh mesh = make_box((yw_vec3){0, 0, 0}, (yw_vec3){10, 10, 10});
    mesh = joined(mesh, order ? make_box(c, d) : make_box(a, b));
    mesh = joined(mesh, order ? make_box(a, b) : make_box(c, d));
    for (int32_t t = 12; t < 36; ++t) turn(&mesh, t);
    yw_tri_mesh* parts;
    int32_t count;
    assert_int_equal(yw_tri_mesh_split(&mesh, NULL, &parts, &count), YW_OK);
    assert_int_equal(count, 1);
    assert_int_equal(parts[0].num_triangles, 36);
    yw_tri_mesh_free(&parts[0]);
    free(parts);
    yw_tri_mesh_free(&mesh);
  }
}

static void small_cavities_stay_with_their_part(void** state) {
  (void)state;
  yw_tri_mesh mesh =
      joined(make_tet((yw_vec3){0, 0, 0}, 1.0f), make_tet((yw_vec3){0.1f, 0.1f, 0.1f}, 0.4f));
  for (int32_t t = 4; t < 8; ++t) turn(&mesh, t);
  yw_tri_mesh* parts;
  int32_t count;
  assert_int_equal(yw_tri_mesh_split(&mesh, NULL, &parts, &count), YW_OK);
  assert_int_equal(count, 1);
  assert_int_equal(parts[0].num_triangles, 8);
  assert_near(report_of(&parts[0]).volume, (1.0 - 0.064) / 6.0, 1e-6);
  yw_tri_mesh_free(&parts[0]);
  free(parts);
  yw_tri_mesh_free(&mesh);
}

// Two boxes that pass through each other, do not touch, or touch with their faces.
static yw_tri_mesh box_of(float low, float high) {
  return make_box((yw_vec3){low, low, low}, (yw_vec3){high, high, high});
}

static int32_t mended(yw_tri_mesh* mesh) {
  int32_t turned = -1;
  assert_int_equal(yw_tri_mesh_mend(mesh, &turned), YW_OK);
  return turned;
}

// Only what cannot be meant is mended: a cavity, or an eye inside of a head, may be.
static void files_are_mended_where_they_contradict_themselves(void** state) {
  (void)state;
  for (int32_t inward = 0; inward < 2; ++inward) {
    yw_tri_mesh nested = joined(box_of(0, 3), box_of(1, 2));
    for (int32_t t = 12; inward && t < 24; ++t) turn(&nested, t);
    assert_int_equal(mended(&nested), 0);
    yw_tri_mesh_free(&nested);
  }

  // A part of its own that faces inward; then single triangles of both, one of them inside out.
  yw_tri_mesh two = joined(box_of(0, 1), box_of(2, 4));
  for (int32_t t = 0; t < 12; ++t) turn(&two, t);
  assert_int_equal(mended(&two), 12);
  assert_near(report_of(&two).volume, 9, 1e-6);
  for (int32_t t = 0; t < 12; ++t) turn(&two, t);
  for (int32_t t = 3; t < 24; t += 5) turn(&two, t);
  assert_true(mended(&two) > 5);
  assert_int_equal(report_of(&two).turned_edges, 0);
  assert_near(report_of(&two).volume, 9, 1e-6);
  yw_tri_mesh_free(&two);

  // An open box has no inside: it stays as most of it is.
  yw_tri_mesh open = box_of(0, 1);
  open.num_triangles = 10;
  for (int32_t t = 0; t < 10; ++t) {
    if (t != 4) turn(&open, t);
  }
  assert_int_equal(mended(&open), 1);
  assert_int_equal(report_of(&open).turned_edges, 0);
  yw_tri_mesh_free(&open);
}

static void only_what_passes_through_crosses(void** state) {
  (void)state;
  static const struct {
    yw_vec3 low, high;
    bool crosses;
  } cases[] = {{{0.5f, 0.3f, 0.2f}, {1.5f, 0.8f, 0.7f}, true},
               {{2, 0, 0}, {3, 1, 1}, false},
               {{1, 0, 0}, {2, 1, 1}, false},
               {{0.25f, 0.25f, 0.25f}, {0.5f, 0.5f, 0.5f}, false}};
  for (int32_t i = 0; i < 4; ++i) {
    yw_tri_mesh mesh = joined(make_box((yw_vec3){0, 0, 0}, (yw_vec3){1, 1, 1}),
                              make_box(cases[i].low, cases[i].high));
    yw_surface_report r = report_of(&mesh);
    if ((r.crossing_triangles > 0) != cases[i].crosses)
      fail_msg("case %d: %d triangles cross", i, r.crossing_triangles);
    // The first one is where the boxes meet.
    if (cases[i].crosses) assert_in_range(r.crossing_triangles, 4, 16);
    yw_tri_mesh_free(&mesh);
  }
  // A fold: two triangles that share a corner, one through the other.
  yw_tri_mesh fold;
  assert_int_equal(yw_tri_mesh_create(NULL, 5, 2, &fold), YW_OK);
  const yw_vec3 p[5] = {{0, 0, 0}, {2, -1, 0}, {2, 1, 0}, {1, 0, -1}, {1, 0, 1}};
  const int32_t corners[6] = {0, 1, 2, 0, 3, 4};
  memcpy(fold.positions, p, sizeof p);
  memcpy(fold.triangles, corners, sizeof corners);
  assert_int_equal(report_of(&fold).crossing_triangles, 2);
  yw_tri_mesh_free(&fold);
}

// The tree finds the same triangles as trying every pair, where pairs are alone in a mesh.
static void a_tree_finds_all_crossings(void** state) {
  (void)state;
  test_random random = {5};
  enum { COUNT = 60 };
  yw_tri_mesh mesh, pair;
  assert_int_equal(yw_tri_mesh_create(NULL, 3 * COUNT, COUNT, &mesh), YW_OK);
  assert_int_equal(yw_tri_mesh_create(NULL, 6, 2, &pair), YW_OK);
  for (int32_t i = 0; i < 3 * COUNT; ++i) {
    yw_vec3 near = i % 3 ? mesh.positions[i - i % 3] : (yw_vec3){0, 0, 0};
    double spread = i % 3 ? 0.4 : 1.0;
    mesh.positions[i] = (yw_vec3){near.x + (float)test_random_in(&random, -spread, spread),
                                  near.y + (float)test_random_in(&random, -spread, spread),
                                  near.z + (float)test_random_in(&random, -spread, spread)};
    mesh.triangles[i] = i;
  }
  for (int32_t i = 0; i < 6; ++i) pair.triangles[i] = i;
  int32_t crossing = 0;
  for (int32_t a = 0; a < COUNT; ++a) {
    bool any = false;
    for (int32_t b = 0; b < COUNT && !any; ++b) {
      if (a == b) continue;
      memcpy(pair.positions, mesh.positions + 3 * a, 3 * sizeof(yw_vec3));
      memcpy(pair.positions + 3, mesh.positions + 3 * b, 3 * sizeof(yw_vec3));
      any = report_of(&pair).crossing_triangles == 2;
    }
    crossing += any;
  }
  assert_in_range(crossing, 10, COUNT - 1);
  assert_int_equal(report_of(&mesh).crossing_triangles, crossing);
  yw_tri_mesh_free(&mesh);
  yw_tri_mesh_free(&pair);
}

static void damaged_surfaces_are_refused(void** state) {
  (void)state;
  yw_tri_mesh box = make_box((yw_vec3){0, 0, 0}, (yw_vec3){1, 1, 1});
  yw_surface_report report;
  yw_error error = {0};
  box.triangles[4] = 8;
  assert_int_equal(yw_surface_report_of(&box, NULL, &report, &error), YW_ERR_GEOMETRY);
  box.triangles[4] = 2;
  box.positions[3].y = NAN;
  assert_int_equal(yw_surface_report_of(&box, NULL, &report, &error), YW_ERR_GEOMETRY);
  box.num_triangles = 0;
  assert_int_equal(yw_surface_report_of(&box, NULL, &report, &error), YW_ERR_GEOMETRY);
  yw_tri_mesh_free(&box);
}

static void running_out_of_memory_is_said(void** state) {
  (void)state;
  yw_tri_mesh box = make_box((yw_vec3){0, 0, 0}, (yw_vec3){1, 1, 1});
  yw_surface_report report;
  counted_memory memory = {.left = ENOUGH};
  yw_allocator mem = counted_allocator(&memory);
  assert_int_equal(yw_surface_report_of(&box, &mem, &report, NULL), YW_OK);
  int blocks = memory.calls;
  assert_at_least(blocks, 5);
  for (int left = 0; left < blocks; ++left) {
    yw_error error = {0};
    memory.left = left;
    assert_int_equal(yw_surface_report_of(&box, &mem, &report, &error), YW_ERR_MEMORY);
    assert_non_null(strstr(error.message, "memory"));
    assert_int_equal(memory.alive, 0);
  }
  yw_tri_mesh_free(&box);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_is_closed_and_wound_alike),
      cmocka_unit_test(openings_are_counted_with_their_size),
      cmocka_unit_test(turned_triangles_are_found_and_repaired),
      cmocka_unit_test(cavities_face_inward_and_stay_with_their_part),
      cmocka_unit_test(cavities_in_cavities_stay_with_the_body),
      cmocka_unit_test(small_cavities_stay_with_their_part),
      cmocka_unit_test(files_are_mended_where_they_contradict_themselves),
      cmocka_unit_test(only_what_passes_through_crosses),
      cmocka_unit_test(a_tree_finds_all_crossings),
      cmocka_unit_test(damaged_surfaces_are_refused),
      cmocka_unit_test(running_out_of_memory_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
