// SPDX-License-Identifier: MIT
#include "support/testing.h"

#include "support/counted_memory.h"
#include "support/mesh_testing.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/timer.h"
#include "yawara/extend/vec.h"
#include "yawara/shape.h"

// The tets of a ball, as gcc, clang and Emscripten number them.
#define BALL_HASH UINT64_C(0x806ce2905fde34c8)

static const double pi = 3.14159265358979;

// Requirements on every mesh: volume, dihedral angles, orientation, closed boundary.
static yw_tet_quality assert_good_tets(const yw_tet_mesh* mesh) {
  yw_error error;
  if (yw_tet_mesh_check(mesh, &error) != YW_OK) fail_msg("%s", error.message);
  yw_tet_quality quality;
  assert_int_equal(yw_tet_mesh_quality(mesh, &quality), YW_OK);
  assert_at_least(quality.min_dihedral, 10.0);
  assert_at_most(quality.max_dihedral, 165.0);
  yw_tri_mesh surface;
  assert_int_equal(yw_tet_mesh_surface(mesh, NULL, &surface, NULL), YW_OK);
  assert_balanced(&surface);
  yw_tri_mesh_free(&surface);
  return quality;
}

static yw_tet_mesh make_tets(const yw_shape* shape, float size) {
  yw_mesher_def def = yw_default_mesher_def();
  def.size = size;
  yw_tet_mesh mesh;
  yw_error error;
  if (yw_shape_tets(shape, NULL, &def, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
  return mesh;
}

// Meshes the shape and releases it.
static void check_volume(yw_shape* shape, float size, double volume, double tolerance) {
  yw_tet_mesh mesh = make_tets(shape, size);
  yw_tet_quality quality = assert_good_tets(&mesh);
  assert_near(quality.volume / volume, 1.0, tolerance);
  assert_int_equal(quality.num_parts, 1);
  yw_tet_mesh_free(&mesh);
  yw_shape_release(shape);
}

static yw_shape* turned(yw_shape* shape) {
  yw_shape* out;
  yw_quat q = yw_quat_normalize((yw_quat){0.2f, 0.4f, 0.1f, 0.9f});
  yw_transform transform = {{0.3f, -0.2f, 0.1f}, q, 1};
  assert_int_equal(yw_shape_transform(NULL, shape, transform, &out), YW_OK);
  yw_shape_release(shape);
  return out;
}

static void volumes_are_within_two_percent(void** state) {
  (void)state;
  yw_shape* shape;
  yw_shape_sphere(NULL, 1, &shape);
  check_volume(shape, 0.1f, 4 * pi / 3, 0.01);
  yw_shape_box(NULL, yw_v3(1, 0.6f, 0.3f), &shape);
  check_volume(shape, 0.07f, 8 * 0.18, 0.02);
  yw_shape_box(NULL, yw_v3(1, 0.6f, 0.3f), &shape);
  check_volume(turned(shape), 0.07f, 8 * 0.18, 0.02);
  yw_shape_torus(NULL, 1, 0.3f, &shape);
  check_volume(shape, 0.08f, 2 * pi * pi * 0.09, 0.02);
  yw_shape_cylinder(NULL, 0.5f, 1, &shape);
  check_volume(turned(shape), 0.06f, pi * 0.25 * 2, 0.02);
  yw_shape_cone(NULL, 1, 0, 1, &shape);
  check_volume(turned(shape), 0.07f, pi * 2 / 3, 0.02);
}

// Sharp edges at every angle to the lattice, thin walls, deep cuts.
static void random_shapes_keep_their_angles(void** state) {
  (void)state;
  test_random random = {17};
  double least = 180.0;
  for (int n = 0; n < 30; ++n) {
    yw_shape *parts[3], *shape;
    for (int i = 0; i < 3; ++i) {
      float a = (float)test_random_in(&random, 0.1, 1), b = (float)test_random_in(&random, 0.1, 1);
      float c = (float)test_random_in(&random, 0.1, 1);
      yw_shape* part;
      if (i == 0) yw_shape_box(NULL, yw_v3(a, b, c), &part);
      if (i == 1) yw_shape_cylinder(NULL, 0.5f * a, b, &part);
      if (i == 2) yw_shape_cone(NULL, a, 0, b, &part);
      yw_quat q = {(float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1),
                   (float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1)};
      yw_transform transform = {{0.4f * a, 0.4f * b, 0.4f * c}, yw_quat_normalize(q), 1};
      assert_int_equal(yw_shape_transform(NULL, part, transform, &parts[i]), YW_OK);
      yw_shape_release(part);
    }
    float smooth = n % 3 ? 0.0f : 0.1f;
    assert_int_equal(n % 2 ? yw_shape_union(NULL, 3, parts, smooth, &shape)
                           : yw_shape_difference(NULL, 3, parts, smooth, &shape),
                     YW_OK);
    yw_mesher_def def = {.size = (float)test_random_in(&random, 0.06, 0.2), .max_vertices = 100000};
    yw_tet_mesh mesh;
    yw_status status = yw_shape_tets(shape, NULL, &def, &mesh, NULL);
    if (status == YW_OK) {
      yw_tet_quality quality = assert_good_tets(&mesh);
      least = fmin(least, (double)quality.min_dihedral);
      yw_tet_mesh_free(&mesh);
    } else {
      assert_int_equal(status, YW_ERR_GEOMETRY);  // nothing left of the first part
    }
    for (int i = 0; i < 3; ++i) yw_shape_release(parts[i]);
    yw_shape_release(shape);
  }
  print_message("smallest dihedral angle of 30 random shapes: %.2f degrees\n", least);
}

static void vertices_of_the_boundary_lie_on_the_surface(void** state) {
  (void)state;
  yw_shape* shape;
  yw_shape_torus(NULL, 1, 0.3f, &shape);
  yw_tet_mesh mesh = make_tets(shape, 0.1f);
  yw_tri_mesh surface;
  assert_int_equal(yw_tet_mesh_surface(&mesh, NULL, &surface, NULL), YW_OK);
  assert_int_equal(assert_manifold(&surface), 0);  // Euler characteristic of a ring
  for (int i = 0; i < surface.num_vertices; ++i) {
    assert_at_most(fabsf(yw_shape_distance(shape, surface.positions[i])), 0.005 * 0.1);
  }
  yw_tri_mesh_free(&surface);
  yw_tet_mesh_free(&mesh);
  yw_shape_release(shape);
}

static void size_zero_is_a_twelfth_of_the_longest_side(void** state) {
  (void)state;
  yw_shape* shape;
  yw_shape_sphere(NULL, 6, &shape);
  yw_tet_mesh a = make_tets(shape, 0), b = make_tets(shape, 1);
  assert_int_equal(a.num_vertices, b.num_vertices);
  assert_memory_equal(a.positions, b.positions, (size_t)a.num_vertices * sizeof(yw_vec3));
  assert_memory_equal(a.tets, b.tets, (size_t)a.num_tets * 4 * sizeof(int32_t));
  yw_tet_mesh_free(&a);
  yw_tet_mesh_free(&b);
  yw_shape_release(shape);
}

static void expect_refusal(const yw_shape* shape, float size, yw_status status, const char* words) {
  yw_mesher_def def = yw_default_mesher_def();
  def.size = size;
  yw_tet_mesh mesh;
  yw_error error;
  double start = yw_seconds();
  assert_int_equal(yw_shape_tets(shape, NULL, &def, &mesh, &error), status);
  assert_at_most(yw_seconds() - start, 2.0);
  assert_null(mesh.positions);
  if (strstr(error.message, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void hostile_requests_are_refused_at_once(void** state) {
  (void)state;
  yw_shape *sphere, *plane, *plate;
  yw_shape_sphere(NULL, 1, &sphere);
  yw_shape_plane(NULL, yw_v3(0, 1, 0), 0, &plane);
  yw_shape_box(NULL, yw_v3(1, 0.001f, 1), &plate);
  expect_refusal(sphere, NAN, YW_ERR_INVALID, "size");
  expect_refusal(sphere, INFINITY, YW_ERR_INVALID, "size");
  expect_refusal(sphere, -0.1f, YW_ERR_INVALID, "size");
  expect_refusal(sphere, 1e-9f, YW_ERR_LIMIT, "take a size of at least");
  expect_refusal(sphere, 1e-30f, YW_ERR_LIMIT, "take a size of at least");
  expect_refusal(sphere, 0.002f, YW_ERR_LIMIT, "vertices");
  expect_refusal(plane, 0.1f, YW_ERR_GEOMETRY, "no end");
  expect_refusal(NULL, 0.1f, YW_ERR_INVALID, "no shape");
  expect_refusal(sphere, 1e6f, YW_ERR_GEOMETRY, "thinner than the size");
  expect_refusal(plate, 1e-4f, YW_ERR_LIMIT, "vertices");
  yw_mesher_def def = {.size = 0.1f, .max_vertices = 0};
  yw_tet_mesh mesh;
  assert_int_equal(yw_shape_tets(sphere, NULL, &def, &mesh, NULL), YW_ERR_INVALID);
  for (def.max_vertices = 1; def.max_vertices <= 5000; def.max_vertices += 4999) {
    assert_int_equal(yw_shape_tets(sphere, NULL, &def, &mesh, NULL), YW_ERR_LIMIT);
  }
  yw_shape_release(sphere);
  yw_shape_release(plane);
  yw_shape_release(plate);
}

// Following the message's advice works.
static void the_advised_size_is_accepted(void** state) {
  (void)state;
  yw_shape* shapes[3];
  yw_shape_sphere(NULL, 1, &shapes[0]);
  yw_shape_torus(NULL, 2, 0.2f, &shapes[1]);
  yw_shape_box(NULL, yw_v3(1, 0.1f, 0.7f), &shapes[2]);
  for (int n = 0; n < 3; ++n) {
    for (int limit = 1000; limit <= 50000; limit *= 7) {
      yw_mesher_def def = {.size = 0.005f, .max_vertices = limit};
      yw_tet_mesh mesh;
      yw_error error;
      assert_int_equal(yw_shape_tets(shapes[n], NULL, &def, &mesh, &error), YW_ERR_LIMIT);
      const char* advice = strstr(error.message, "at least ");
      assert_non_null(advice);
      def.size = strtof(advice + strlen("at least "), NULL);
      if (yw_shape_tets(shapes[n], NULL, &def, &mesh, &error) != YW_OK) {
        fail_msg("%s", error.message);
      }
      assert_at_least(mesh.num_vertices, 0.4 * limit);
      yw_tet_mesh_free(&mesh);
    }
    yw_shape_release(shapes[n]);
  }
}

static void size_and_place_do_not_matter(void** state) {
  (void)state;
  for (int n = 0; n < 5; ++n) {
    float scale = (const float[]){1e-6f, 1e-3f, 1, 1e3f, 1e6f}[n];
    yw_shape *shape, *moved;
    yw_shape_sphere(NULL, scale, &shape);
    yw_transform transform = {{50 * scale, -20 * scale, 0}, {0, 0, 0, 1}, 1};
    assert_int_equal(yw_shape_transform(NULL, shape, transform, &moved), YW_OK);
    yw_tet_mesh mesh = make_tets(moved, 0.15f * scale);
    yw_tet_quality quality = assert_good_tets(&mesh);
    double volume = 4 * pi / 3 * (double)scale * (double)scale * (double)scale;
    assert_near(quality.volume / volume, 1.0, 0.02);
    yw_tet_mesh_free(&mesh);
    yw_shape_release(shape);
    yw_shape_release(moved);
  }
}

// The sign of an open mesh changes across its hole, far from any triangle.
static void an_open_bowl_is_filled(void** state) {
  (void)state;
  enum { RINGS = 6, SIDES = 20 };
  yw_tri_mesh bowl;
  assert_int_equal(yw_tri_mesh_create(NULL, (RINGS + 1) * SIDES, 2 * RINGS * SIDES, &bowl), YW_OK);
  int32_t* triangle = bowl.triangles;
  for (int r = 0; r <= RINGS; ++r) {
    for (int s = 0; s < SIDES; ++s) {
      double up = 0.5 * pi * r / RINGS, around = 2 * pi * s / SIDES;
      bowl.positions[r * SIDES + s] =
          yw_v3((float)(sin(up) * cos(around)), (float)-cos(up), (float)(sin(up) * sin(around)));
      if (r == RINGS) continue;
      int a = r * SIDES + s, b = r * SIDES + (s + 1) % SIDES;
      const int32_t two[6] = {a, b, a + SIDES, b, b + SIDES, a + SIDES};
      memcpy(triangle, two, sizeof two);
      triangle += 6;
    }
  }
  yw_shape* shape;
  yw_error error;
  if (yw_shape_mesh(NULL, &bowl, &shape, &error) != YW_OK) fail_msg("%s", error.message);
  if (yw_shape_distance(shape, yw_v3(0, -0.7f, 0)) > 0) print_message("the bowl is inside out\n");
  yw_tet_mesh mesh = make_tets(shape, 0.1f);
  yw_tet_quality quality = assert_good_tets(&mesh);
  print_message("open bowl: volume %.3f of the half ball's %.3f m^3\n", quality.volume, 2 * pi / 3);
  assert_int_equal(quality.num_parts, 1);
  assert_at_least(quality.volume, 0.4 * 2 * pi / 3);
  assert_at_most(quality.volume, 1.1 * 2 * pi / 3);
  yw_tet_mesh_free(&mesh);
  yw_shape_release(shape);
  yw_tri_mesh_free(&bowl);
}

static void hundred_thousand_tets_are_quick(void** state) {
  (void)state;
  yw_shape* shape;
  yw_shape_sphere(NULL, 1, &shape);
  double start = yw_seconds();
  yw_tet_mesh mesh = make_tets(shape, 0.079f);
  double seconds = yw_seconds() - start;
  print_message("%d tets in %.3f s\n", mesh.num_tets, seconds);
  assert_at_least(mesh.num_tets, 100000);
  assert_at_most(seconds, 20.0);  // generous: sanitizers and busy machines
  yw_tet_mesh_free(&mesh);
  yw_shape_release(shape);
}

// Every allocation fails once: an error is returned and nothing leaks.
static void running_out_of_memory_is_survived(void** state) {
  (void)state;
  yw_shape* shape;
  yw_shape_torus(NULL, 1, 0.3f, &shape);
  yw_mesher_def def = {.size = 0.25f, .max_vertices = 10000};
  yw_status status = YW_ERR_MEMORY;
  for (int n = 0; status != YW_OK && n < 1000; ++n) {
    counted_memory memory = {.left = n};
    yw_allocator mem = counted_allocator(&memory);
    yw_tet_mesh mesh;
    status = yw_shape_tets(shape, &mem, &def, &mesh, NULL);
    if (status == YW_OK) yw_tet_mesh_free(&mesh);
    if (status != YW_OK) assert_int_equal(status, YW_ERR_MEMORY);
    assert_int_equal(memory.alive, 0);
  }
  assert_int_equal(status, YW_OK);
  yw_shape_release(shape);
}

static void check_model(const char* name, const yw_tri_mesh* surface) {
  yw_shape* shape;
  yw_error error;
  if (yw_shape_mesh(NULL, surface, &shape, &error) != YW_OK) fail_msg("%s", error.message);
  yw_aabb box;
  yw_shape_bounds(shape, &box);
  yw_vec3 side = yw_sub(box.upper, box.lower);
  float longest = fmaxf(side.x, fmaxf(side.y, side.z));
  for (int cells = 6; cells <= 12; cells += 6) {
    double start = yw_seconds();
    yw_tet_mesh mesh = make_tets(shape, longest / (float)cells);
    double seconds = yw_seconds() - start;
    yw_tet_quality q = assert_good_tets(&mesh);
    print_message(
        "%-12s %2d cells: %5d vertices %6d tets, dihedral %.1f to %.1f degrees, mean of "
        "smallest %.1f, %d part(s), %.2f s\n",
        name, cells, mesh.num_vertices, mesh.num_tets, (double)q.min_dihedral,
        (double)q.max_dihedral, (double)q.mean_min_dihedral, q.num_parts, seconds);
    yw_tet_mesh_free(&mesh);
  }
  yw_shape_release(shape);
}

// Surfaces directly, tet meshes by their boundary.
static void shared_models_keep_their_angles(void** state) {
  (void)state;
  if (test_models() == NULL) {
    print_message("no shared models\n");
    skip();
  }
  const char* const names[] = {"bunny_10k", "cow", "spot", "teapot"};
  char path[1000];
  for (int m = 0; m < 4; ++m) {
    yw_tri_mesh surface;
    snprintf(path, sizeof path, "%s/%s.obj", test_models(), names[m]);
    if (!read_obj(path, &surface)) continue;
    check_model(names[m], &surface);
    yw_tri_mesh_free(&surface);
  }
  const char* const tet_names[] = {"armadillo_4k", "koyama-box/box"};
  for (int m = 0; m < 2; ++m) {
    yw_tet_mesh tets;
    yw_tri_mesh surface;
    snprintf(path, sizeof path, "%s/%s", test_models(), tet_names[m]);
    if (!read_tetgen(path, &tets)) continue;
    assert_int_equal(yw_tet_mesh_surface(&tets, NULL, &surface, NULL), YW_OK);
    check_model(tet_names[m], &surface);
    yw_tri_mesh_free(&surface);
    yw_tet_mesh_free(&tets);
  }
}

// Vertices are numbered as they are made; every compiler must make them in the same order.
static void numbers_do_not_depend_on_the_compiler(void** state) {
  (void)state;
  yw_shape* ball = NULL;
  yw_tet_mesh mesh = {0};
  yw_error error = {0};
  yw_mesher_def def = yw_default_mesher_def();
  def.size = 0.5f;
  yw_shape_sphere(NULL, 1.0f, &ball);
  if (yw_shape_tets(ball, NULL, &def, &mesh, &error) < 0) fail_msg("%s", error.message);
  uint64_t hash = YW_HASH_SEED;
  for (int32_t i = 0; i < 4 * mesh.num_tets; ++i) hash = yw_hash_u64(hash, (uint64_t)mesh.tets[i]);
  if (hash != BALL_HASH) fail_msg("the tets are numbered as %016llx", (unsigned long long)hash);
  yw_tet_mesh_free(&mesh);
  yw_shape_release(ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(volumes_are_within_two_percent),
      cmocka_unit_test(random_shapes_keep_their_angles),
      cmocka_unit_test(vertices_of_the_boundary_lie_on_the_surface),
      cmocka_unit_test(size_zero_is_a_twelfth_of_the_longest_side),
      cmocka_unit_test(hostile_requests_are_refused_at_once),
      cmocka_unit_test(the_advised_size_is_accepted),
      cmocka_unit_test(size_and_place_do_not_matter),
      cmocka_unit_test(an_open_bowl_is_filled),
      cmocka_unit_test(hundred_thousand_tets_are_quick),
      cmocka_unit_test(running_out_of_memory_is_survived),
      cmocka_unit_test(shared_models_keep_their_angles),
      cmocka_unit_test(numbers_do_not_depend_on_the_compiler),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
