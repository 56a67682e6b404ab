// SPDX-License-Identifier: MIT
// Surfaces in triangles of another size: topology, borders, tips, angles, what is refused.
#include "support/counted_memory.h"
#include "support/mesh_testing.h"

#include "geometry/triangle_tree.h"
#include "yawara/extend/memory.h"
#include "yawara/shape.h"

static yw_tri_mesh remeshed(const yw_tri_mesh* mesh, float edge, int32_t** home) {
  yw_tri_mesh out;
  yw_error error = {0};
  if (yw_tri_mesh_remesh(mesh, NULL, edge, &out, home, &error) < 0) fail_msg("%s", error.message);
  return out;
}

static yw_surface_report report_of(const yw_tri_mesh* mesh) {
  yw_surface_report report;
  yw_error error = {0};
  if (yw_surface_report_of(mesh, NULL, &report, &error) < 0) fail_msg("%s", error.message);
  return report;
}

// Share of the triangles whose smallest angle is below so many degrees.
static double share_of_slivers(const yw_tri_mesh* mesh, double degrees) {
  int count = 0;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    double smallest = 180;
    for (int k = 0; k < 3; ++k) {
      const int32_t* v = mesh->triangles + 3 * t;
      yw_vec3 a = mesh->positions[v[k]];
      yw_vec3 b = yw_sub(mesh->positions[v[(k + 1) % 3]], a);
      yw_vec3 c = yw_sub(mesh->positions[v[(k + 2) % 3]], a);
      double angle = atan2((double)yw_length(yw_cross(b, c)), (double)yw_dot(b, c));
      smallest = fmin(smallest, angle * 57.29577951);
    }
    count += smallest < degrees;
  }
  return (double)count / mesh->num_triangles;
}

// The largest distance of a vertex of one surface from the other.
static double distance_between(const yw_tri_mesh* from, const yw_tri_mesh* to) {
  yw_triangle_tree tree;
  double largest2 = 0;
  assert_int_equal(
      yw_triangle_tree_create(NULL, to->num_triangles, to->triangles, to->positions, NULL, &tree),
      YW_OK);
  for (int32_t v = 0; v < from->num_vertices; ++v) {
    yw_nearest found = yw_triangle_tree_nearest(&tree, from->positions[v], INFINITY);
    largest2 = fmax(largest2, (double)found.distance2);
  }
  yw_triangle_tree_free(&tree);
  return sqrt(largest2);
}

static yw_tri_mesh surface_of(yw_shape* shape, float size) {
  yw_tri_mesh mesh;
  yw_error error = {0};
  if (yw_shape_surface(shape, NULL, size, &mesh, &error) < 0) fail_msg("%s", error.message);
  yw_shape_release(shape);
  return mesh;
}

// A flat square of n x n cells without the one in the middle; n is odd.
static yw_tri_mesh square_with_a_hole(int n) {
  yw_tri_mesh mesh;
  int32_t row = n + 1, written = 0;
  assert_int_equal(yw_tri_mesh_create(NULL, row * row, 2 * (n * n - 1), &mesh), YW_OK);
  for (int32_t i = 0; i < row * row; ++i) {
    mesh.positions[i] = yw_v3((float)(i % row) / (float)n, 0, (float)(i / row) / (float)n);
  }
  for (int32_t cell = 0; cell < n * n; ++cell) {
    int32_t a = cell / n * row + cell % n;
    if (cell == n * n / 2) continue;
    const int32_t corners[6] = {a, a + row, a + 1, a + 1, a + row, a + row + 1};
    memcpy(mesh.triangles + written, corners, sizeof corners);
    written += 6;
  }
  return mesh;
}

// A ring keeps its hole, coarser and finer; triangles have the size asked for and good angles.
static void a_ring_stays_a_ring(void** state) {
  (void)state;
  yw_shape* torus;
  assert_int_equal(yw_shape_torus(NULL, 1.0f, 0.3f, &torus), YW_OK);
  yw_tri_mesh ring = surface_of(torus, 0.08f);
  const float edges[2] = {0.2f, 0.05f};
  for (int k = 0; k < 2; ++k) {
    int32_t* home;
    yw_tri_mesh out = remeshed(&ring, edges[k], &home), again = remeshed(&ring, edges[k], NULL);
    assert_int_equal(assert_manifold(&out), 0);
    assert_int_equal(report_of(&out).num_parts, 1);
    // Equilateral triangles of that edge would be as many.
    double wanted = report_of(&ring).area / (0.4330127 * (double)edges[k] * (double)edges[k]);
    assert_near(out.num_triangles / wanted, 1.0, 0.25);
    assert_at_most(share_of_slivers(&out, 15), 0.0);
    assert_at_most(share_of_slivers(&out, 30), 0.02);
    assert_at_most(distance_between(&ring, &out), 0.2 * (double)edges[k]);
    for (int32_t v = 0; v < ring.num_vertices; ++v) {
      assert_in_range(home[v], 0, out.num_vertices - 1);
      float far = yw_distance(ring.positions[v], out.positions[home[v]]);
      assert_at_most(far, 2.0f * fmaxf(edges[k], 0.08f));
    }
    assert_int_equal(again.num_vertices, out.num_vertices);
    assert_memory_equal(again.positions, out.positions,
                        (size_t)out.num_vertices * sizeof *out.positions);
    assert_memory_equal(again.triangles, out.triangles, 12 * (size_t)out.num_triangles);
    yw_mem_free(NULL, home);
    yw_tri_mesh_free(&again);
    yw_tri_mesh_free(&out);
  }
  yw_tri_mesh_free(&ring);
}

// A cube of 12 triangles gets many, and keeps its corners and volume; so does a thin needle on it
// that is much thinner than an edge.
static void corners_and_thin_parts_stay(void** state) {
  (void)state;
  yw_shape *cube, *needle, *both;
  assert_int_equal(yw_shape_box(NULL, yw_v3(0.5f, 0.5f, 0.5f), &cube), YW_OK);
  yw_tri_mesh fine = surface_of(cube, 0.1f), out = remeshed(&fine, 0.2f, NULL);
  assert_int_equal(assert_manifold(&out), 2);
  assert_near(report_of(&out).volume / report_of(&fine).volume, 1.0, 0.01);
  assert_at_most(distance_between(&fine, &out), 0.25 * 0.2);
  yw_tri_mesh_free(&fine);
  yw_tri_mesh_free(&out);

  assert_int_equal(yw_shape_box(NULL, yw_v3(0.5f, 0.5f, 0.5f), &cube), YW_OK);
  assert_int_equal(yw_shape_capsule(NULL, yw_v3(0, 0, 0), yw_v3(0, 1.2f, 0), 0.04f, &needle),
                   YW_OK);
  yw_shape* parts[2] = {cube, needle};
  assert_int_equal(yw_shape_union(NULL, 2, parts, 0, &both), YW_OK);
  yw_shape_release(cube);
  yw_shape_release(needle);
  fine = surface_of(both, 0.03f);
  out = remeshed(&fine, 0.2f, NULL);
  assert_int_equal(assert_manifold(&out), 2);
  yw_aabb box = report_of(&out).box;
  assert_at_least(box.upper.y, 1.24f - 0.05f);
  assert_at_most(share_of_slivers(&out, 15), 0.01);
  yw_tri_mesh_free(&fine);
  yw_tri_mesh_free(&out);
}

// A flat square with a hole has the same borders and area.
static int compare_floats(const void* a, const void* b) {
  float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

// A bar along x, 0.2 m wide, whose vertices stand on its edges only, at distances that alternate.
static yw_tri_mesh uneven_bar(int cuts) {
  yw_tri_mesh mesh;
  int written = 0;
  assert_int_equal(yw_tri_mesh_create(NULL, 4 * cuts, 8 * (cuts - 1) + 4, &mesh), YW_OK);
  float x = 0;
  for (int i = 0; i < cuts; ++i) {
    for (int k = 0; k < 4; ++k) {
      mesh.positions[4 * i + k] = yw_v3(x, k == 1 || k == 2 ? 0.2f : 0, k >= 2 ? 0.2f : 0);
    }
    x += i % 2 ? 0.17f : 0.26f;
  }
  for (int i = 0; i + 1 < cuts; ++i) {
    for (int k = 0; k < 4; ++k) {
      int32_t a = 4 * i + k, b = 4 * i + (k + 1) % 4;
      const int32_t corners[6] = {a, a + 4, b, b, a + 4, b + 4};
      memcpy(mesh.triangles + written, corners, sizeof corners);
      written += 6;
    }
  }
  int32_t last = 4 * (cuts - 1);
  const int32_t ends[12] = {0, 1, 2, 0, 2, 3, last, last + 2, last + 1, last, last + 3, last + 2};
  memcpy(mesh.triangles + written, ends, sizeof ends);
  return mesh;
}

// Vertices slide along creases until they stand evenly there.
static void creases_become_even(void** state) {
  (void)state;
  yw_tri_mesh bar = uneven_bar(9), even = remeshed(&bar, 0.2f, NULL);
  float x[100];
  int count = 0;
  for (int32_t i = 0; i < even.num_vertices && count < 100; ++i) {
    yw_vec3 p = even.positions[i];
    if (fabsf(p.y) < 1e-6f && fabsf(p.z) < 1e-6f) x[count++] = p.x;
  }
  qsort(x, (size_t)count, sizeof *x, compare_floats);
  double shortest = INFINITY, longest = 0;
  for (int i = 1; i < count; ++i) {
    shortest = fmin(shortest, (double)(x[i] - x[i - 1]));
    longest = fmax(longest, (double)(x[i] - x[i - 1]));
  }
  assert_int_equal(count, 9);
  assert_at_most(longest / shortest, 1.2);
  yw_tri_mesh_free(&bar);
  yw_tri_mesh_free(&even);
}

static void borders_stay(void** state) {
  (void)state;
  yw_tri_mesh square = square_with_a_hole(21);
  const float edges[2] = {0.15f, 0.02f};
  for (int k = 0; k < 2; ++k) {
    yw_tri_mesh out = remeshed(&square, edges[k], NULL);
    yw_surface_report before = report_of(&square), after = report_of(&out);
    assert_int_equal(after.holes, before.holes);
    assert_int_equal(after.num_parts, 1);
    assert_int_equal(after.crowded_edges + after.turned_edges, 0);
    assert_near(after.area / before.area, 1.0, 0.01);
    assert_near(after.box.upper.x - after.box.lower.x, 1.0, 1e-6);
    assert_near(after.box.upper.z - after.box.lower.z, 1.0, 1e-6);
    assert_at_most(share_of_slivers(&out, 15), 0.02);
    yw_tri_mesh_free(&out);
  }
  yw_tri_mesh_free(&square);
}

static void refuse(const yw_tri_mesh* mesh, float edge, yw_status expected, const char* word) {
  yw_tri_mesh out;
  int32_t* home;
  yw_error error = {0};
  assert_int_equal(yw_tri_mesh_remesh(mesh, NULL, edge, &out, &home, &error), expected);
  assert_null(out.positions);
  assert_null(home);
  if (!strstr(error.message, word)) fail_msg("\"%s\" lacks \"%s\"", error.message, word);
}

static void what_cannot_be_is_refused(void** state) {
  (void)state;
  yw_tri_mesh square = square_with_a_hole(3);
  refuse(&square, 0.0f, YW_ERR_INVALID, "longer than 0");
  refuse(&square, NAN, YW_ERR_INVALID, "longer than 0");
  refuse(&square, 1e-4f, YW_ERR_LIMIT, "vertices");
  int32_t* v = square.triangles;
  int32_t kept[6];
  memcpy(kept, v, sizeof kept);
  v[0] = square.num_vertices;
  refuse(&square, 0.1f, YW_ERR_GEOMETRY, "does not exist");
  memcpy(v, kept, sizeof kept);
  // The first triangle turned over, and then the same twice.
  v[1] = kept[2], v[2] = kept[1];
  refuse(&square, 0.1f, YW_ERR_GEOMETRY, "opposite sides");
  memcpy(v, kept, sizeof kept);
  memcpy(v, kept + 3, 3 * sizeof *v);
  refuse(&square, 0.1f, YW_ERR_GEOMETRY, "more than two triangles");
  memcpy(v, kept, sizeof kept);
  square.positions[5].y = INFINITY;
  refuse(&square, 0.1f, YW_ERR_GEOMETRY, "not finite");
  square.positions[5].y = 0;
  for (int k = 0; k < 3 * square.num_triangles; ++k) v[k] = 4;
  refuse(&square, 0.1f, YW_ERR_GEOMETRY, "no area");
  square.num_triangles = 0;
  refuse(&square, 0.1f, YW_ERR_GEOMETRY, "no triangles");
  yw_tri_mesh_free(&square);
}

// Two triangles that share only a corner become two parts.
static void fans_that_share_a_corner_come_apart(void** state) {
  (void)state;
  yw_tri_mesh mesh, out;
  const yw_vec3 points[5] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {-1, 0, 0}, {-1, -1, 0}};
  const int32_t corners[6] = {0, 1, 2, 0, 3, 4};
  assert_int_equal(yw_tri_mesh_create(NULL, 5, 2, &mesh), YW_OK);
  memcpy(mesh.positions, points, sizeof points);
  memcpy(mesh.triangles, corners, sizeof corners);
  out = remeshed(&mesh, 0.3f, NULL);
  yw_surface_report report = report_of(&out);
  assert_near(report.area, 1.0, 0.02);
  assert_int_equal(report.crowded_edges + report.turned_edges, 0);
  yw_tri_mesh_free(&mesh);
  yw_tri_mesh_free(&out);
}

static void missing_memory_is_survived(void** state) {
  (void)state;
  yw_tri_mesh square = square_with_a_hole(5), out;
  counted_memory memory = {ENOUGH, 0, 0};
  yw_allocator mem = counted_allocator(&memory);
  yw_error error = {0};
  assert_int_equal(yw_tri_mesh_remesh(&square, &mem, 0.1f, &out, NULL, &error), YW_OK);
  yw_tri_mesh_free(&out);
  int calls = memory.calls;
  assert_int_equal(memory.alive, 0);
  for (int k = 0; k < calls; ++k) {
    memory.left = k;
    assert_int_equal(yw_tri_mesh_remesh(&square, &mem, 0.1f, &out, NULL, &error), YW_ERR_MEMORY);
    assert_int_equal(memory.alive, 0);
  }
  yw_tri_mesh_free(&square);
}

// Models of animals with 1,200 vertices: closed, with the same handles, ears and legs.
static void models_keep_their_parts(void** state) {
  (void)state;
  static const char* const names[] = {"cow", "spot", "bunny_10k"};
  if (!test_models()) {
    print_message("skipped: the shared models are not here\n");
    skip();
  }
  for (int k = 0; k < 3; ++k) {
    char path[1000];
    yw_tri_mesh mesh;
    snprintf(path, sizeof path, "%s/%s.obj", test_models(), names[k]);
    if (!read_obj(path, &mesh)) continue;
    double edge = sqrt(report_of(&mesh).area / (0.866 * 1200));
    yw_tri_mesh out = remeshed(&mesh, (float)edge, NULL);
    // All are spheres with ears, except for a corner that two fans of the cow share.
    assert_int_equal(assert_manifold(&out), 2);
    assert_int_equal(report_of(&out).num_parts, report_of(&mesh).num_parts);
    assert_in_range(out.num_vertices, 900, 1500);
    assert_at_most(distance_between(&mesh, &out), edge);
    assert_at_most(distance_between(&out, &mesh), 0.5 * edge);
    assert_at_most(share_of_slivers(&out, 15), 0.002);
    yw_tri_mesh_free(&mesh);
    yw_tri_mesh_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ring_stays_a_ring),
      cmocka_unit_test(corners_and_thin_parts_stay),
      cmocka_unit_test(creases_become_even),
      cmocka_unit_test(borders_stay),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(fans_that_share_a_corner_come_apart),
      cmocka_unit_test(missing_memory_is_survived),
      cmocka_unit_test(models_keep_their_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
