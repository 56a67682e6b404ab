// SPDX-License-Identifier: MIT
// Real models, nothing set: volume, parts, tunnels, angles, with the usual sizes and with those
// that methods wish for. The table of docs/design/meshing.md.
#include "support/testing.h"

#include "geometry/mesher.h"
#include "scene/method.h"
#include "support/mesh_testing.h"
#include "support/solid_topology.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"
#include "yawara/shape.h"

#define GRID 72

// Volume by counting points of a fine grid, each somewhere in its cell.
static double sampled_volume(const yw_shape* shape) {
  const int side = 48;
  test_random random = {7};
  yw_aabb box;
  assert_true(yw_shape_bounds(shape, &box));
  yw_vec3 step = yw_scale(yw_sub(box.upper, box.lower), 1.0f / (float)side);
  long inside = 0;
  for (int n = 0; n < side * side * side; ++n) {
    yw_vec3 p = box.lower;
    p.x += step.x * ((float)(n % side) + (float)test_random_in(&random, 0, 1));
    p.y += step.y * ((float)(n / side % side) + (float)test_random_in(&random, 0, 1));
    p.z += step.z * ((float)(n / side / side) + (float)test_random_in(&random, 0, 1));
    inside += yw_shape_distance(shape, p) < 0;
  }
  return (double)inside * (double)step.x * (double)step.y * (double)step.z;
}

static void check_tets(const char* name, const char* method, const yw_size_wish* wish,
                       const yw_shape* shape) {
  yw_error error;
  yw_tet_mesh mesh;
  yw_tet_fit fit;
  yw_tet_quality q;
  yw_tet_faults faults;
  if (yw_mesher_fill(shape, NULL, NULL, wish, NULL, &mesh, &fit, &error) != YW_OK) {
    fail_msg("%s", error.message);
  }
  assert_int_equal(yw_tet_mesh_quality(&mesh, &q), YW_OK);
  assert_int_equal(yw_tet_mesh_faults(&mesh, &faults), YW_OK);
  double volume = sampled_volume(shape);
  solid_topology expected, found = topology_of_tets(&mesh);
  bool clear = topology_of_shape(shape, GRID, 0.5f * fit.size, &expected);
  print_message("| %s | %s | %d | %d | %.1f | %d | %d | %.1f |\n", name, method, mesh.num_vertices,
                mesh.num_tets, 100 * q.volume / volume, found.parts, 1 - found.euler,
                (double)q.min_dihedral);
  assert_near(q.volume / volume, 1, 0.02);
  assert_int_equal(found.parts, 1);
  if (clear) assert_int_equal(found.euler, expected.euler);
  assert_at_least(q.min_dihedral, 10);
  assert_int_equal(faults.num_overlaps, 0);
  assert_int_equal(faults.num_weak_joints, 0);
  yw_tet_mesh_free(&mesh);
}

// `frames` wishes for the sizes of `match`. Particles, sheets and rigid bodies have no tets.
static void check_model(const char* name, const yw_tri_mesh* surface) {
  yw_shape* shape;
  yw_error error;
  if (yw_shape_mesh(NULL, surface, &shape, &error) != YW_OK) fail_msg("%s", error.message);
  assert_memory_equal(yw_scene_match.tet_size, yw_scene_frames.tet_size, sizeof(yw_size_wish));
  check_tets(name, "none", NULL, shape);
  check_tets(name, "match, frames", yw_scene_match.tet_size, shape);
  check_tets(name, "fem", yw_scene_fem.tet_size, shape);
  yw_shape_release(shape);
}

// Triangles of a file, or the boundary of its tets.
static bool read_surface(const char* file, yw_tri_mesh* out) {
  char path[1000];
  yw_tet_mesh tets;
  snprintf(path, sizeof path, "%s/%s", test_models(), file);
  if (!strstr(file, ".ele")) return read_obj(path, out);
  if (yw_tet_mesh_read(path, NULL, &tets, NULL) != YW_OK) return false;
  assert_int_equal(yw_tet_mesh_surface(&tets, NULL, out, NULL), YW_OK);
  yw_tet_mesh_free(&tets);
  return true;
}

static void models_are_kept(void** state) {
  (void)state;
  if (test_models() == NULL) {
    print_message("no shared models\n");
    skip();
  }
  const char* const files[] = {"armadillo_4k.ele", "bunny_10k.obj", "cow.obj", "spot.obj",
                               "teapot.obj"};
  print_message(
      "| model | method | vertices | tets | volume, %% | parts | tunnels | smallest angle |\n");
  for (int m = 0; m < 5; ++m) {
    // The quickest of them.
    if (getenv("YW_TEST_FAST") && m != 2) continue;
    yw_tri_mesh surface;
    if (!read_surface(files[m], &surface)) continue;
    check_model(files[m], &surface);
    yw_tri_mesh_free(&surface);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(models_are_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
