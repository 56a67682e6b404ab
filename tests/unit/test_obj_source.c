// SPDX-License-Identifier: MIT
// What an OBJ file has at the corners of its faces: normals, texture coordinates, materials.
#include "playback/obj_corners.h"

#include "support/testing.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// A square in the plane z = 0, seen from above: one polygon, read as two triangles.
static yw_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
static int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
static const yw_tri_mesh square = {
    .num_vertices = 4, .num_triangles = 2, .positions = corners, .triangles = triangles};

static void normals_follow_the_corners_of_polygons(void** state) {
  (void)state;
  yw_vec3* n = obj_corner_normals(
      "vt 0 0\nvn 0 0 2\nvn 0.6 0 0.8\ng part\nf 1/1/1 2//2 3//1 4//2\nusemtl red\n", &square);
  assert_non_null(n);
  const float x[6] = {0, 0.6f, 0, 0, 0, 0.6f};
  for (int i = 0; i < 6; ++i) {
    assert_near(n[i].x, x[i], 1e-6);
    assert_near(yw_length(n[i]), 1, 1e-6);
  }
  yw_mem_free(NULL, n);
}

static void normals_that_do_not_fit_are_left_out(void** state) {
  (void)state;
  const char* const sources[] = {
      "",
      "f 1 2 3 4\n",
      "vn 0 0 1\nf 1//1 2//1 3//1 4\n",
      "vn 0 0 1\nf 1//1 2//1 3//2 4//1\n",
      "vn 0 0 1\nf 1//1 2//1 3//1\n",
      "vn 0 0 1\nf 1//1 2//1 4//1 3//1\nf 1//1 2//1 3//1\n",
      "vn 0 0 -1\nf 1//1 2//1 3//1 4//1\n",
      "vn 0 zero 1\nf 1//1 2//1 3//1 4//1\n",
  };
  for (size_t k = 0; k < sizeof sources / sizeof sources[0]; ++k) {
    yw_vec3* n = obj_corner_normals(sources[k], &square);
    if (n) fail_msg("source %d has normals", (int)k);
  }
}

// Points are split where texture coordinates are; materials keep their names and order.
static void corners_have_texture_coordinates_and_materials(void** state) {
  (void)state;
  obj_corners c;
  assert_true(obj_corners_read(
      "vt 0 0.5\nvt 1\nusemtl old gold\nf 1/1 2/1 3/2\nusemtl \tb\nf 1/2 3/2 4\n", &square, &c));
  assert_int_equal(c.num_points, 5);
  assert_null(c.normals);
  const int32_t expected[6] = {0, 1, 2, 3, 2, 4};
  assert_memory_equal(c.triangles, expected, sizeof expected);
  const int32_t vertices[5] = {0, 1, 2, 0, 3};
  assert_memory_equal(c.vertices, vertices, sizeof vertices);
  const float uvs[10] = {0, 0.5f, 0, 0.5f, 1, 0, 1, 0, 0, 0};
  assert_memory_equal(c.uvs, uvs, sizeof uvs);
  assert_int_equal(c.num_materials, 2);
  assert_string_equal(c.names[0], "old gold");
  assert_string_equal(c.names[1], "b");
  assert_true(c.materials[0] == 0 && c.materials[1] == 1);
  obj_corners_free(&c);
}

static void corners_that_do_not_fit_are_refused(void** state) {
  (void)state;
  const char* const sources[] = {"",
                                 "f 1 2 3\n",
                                 "f 1/1 2 3 4\n",
                                 "vt x\nf 1/1 2 3 4\n",
                                 "vt 0 0\nf 1/-1 2 3 4\n",
                                 "f 1 2 3 4\nf 1 2 3\n"};
  obj_corners c;
  for (size_t k = 0; k < sizeof sources / sizeof sources[0]; ++k) {
    if (obj_corners_read(sources[k], &square, &c)) fail_msg("source %d was read", (int)k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(normals_follow_the_corners_of_polygons),
      cmocka_unit_test(normals_that_do_not_fit_are_left_out),
      cmocka_unit_test(corners_have_texture_coordinates_and_materials),
      cmocka_unit_test(corners_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
