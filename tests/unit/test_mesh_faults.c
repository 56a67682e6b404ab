// SPDX-License-Identifier: MIT
#include "support/testing.h"

#include "geometry/box_grid.h"
#include "support/mesh_testing.h"
#include "yawara/extend/timer.h"
#include "yawara/extend/vec.h"
#include "yawara/mesh.h"

// Two meshes in one, not joined.
static yw_tet_mesh both(yw_tet_mesh a, yw_tet_mesh b, yw_vec3 shift) {
  yw_tet_mesh out;
  assert_int_equal(
      yw_tet_mesh_create(NULL, a.num_vertices + b.num_vertices, a.num_tets + b.num_tets, &out),
      YW_OK);
  for (int i = 0; i < out.num_vertices; ++i) {
    out.positions[i] =
        i < a.num_vertices ? a.positions[i] : yw_add(b.positions[i - a.num_vertices], shift);
  }
  for (int n = 0; n < 4 * out.num_tets; ++n) {
    out.tets[n] = n < 4 * a.num_tets ? a.tets[n] : b.tets[n - 4 * a.num_tets] + a.num_vertices;
  }
  yw_tet_mesh_free(&a);
  yw_tet_mesh_free(&b);
  return out;
}

static yw_tet_mesh bar(int x, int y, int z) {
  const int32_t cells[3] = {x, y, z};
  yw_tet_mesh out;
  yw_aabb box = {{0, 0, 0}, {(float)x, (float)y, (float)z}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &out), YW_OK);
  return out;
}

// Replaces vertex `from` by `to` in all tets.
static void join(yw_tet_mesh* mesh, int32_t from, int32_t to) {
  for (int n = 0; n < 4 * mesh->num_tets; ++n) {
    if (mesh->tets[n] == from) mesh->tets[n] = to;
  }
}

static yw_tet_faults faults_of(yw_tet_mesh* mesh, const char* words) {
  yw_tet_faults faults;
  char text[800];
  assert_int_equal(yw_tet_mesh_faults(mesh, &faults), YW_OK);
  int length = yw_tet_faults_text(&faults, text, sizeof text);
  assert_int_equal(length, (int)strlen(text));
  if (words == NULL && length > 0) fail_msg("%s", text);
  if (words && !strstr(text, words)) fail_msg("\"%s\" lacks \"%s\"", text, words);
  yw_tet_mesh_free(mesh);
  return faults;
}

static void sound_meshes_have_no_faults(void** state) {
  (void)state;
  yw_tet_mesh mesh = bar(4, 3, 2);
  faults_of(&mesh, NULL);
  mesh = both(bar(2, 2, 2), bar(2, 2, 2), yw_v3(2.01f, 0, 0));
  faults_of(&mesh, NULL);
}

static void overlaps_are_found(void** state) {
  (void)state;
  yw_tet_mesh mesh = both(bar(2, 2, 2), bar(1, 1, 1), yw_v3(1.9f, 0.3f, 0.3f));
  yw_tet_faults faults = faults_of(&mesh, "overlap, such as");
  assert_true(faults.num_overlaps > 0 && faults.overlap[0] < 48 && faults.overlap[1] >= 48);
  assert_int_equal(faults.num_hanging, 0);
}

// A bar whose halves have the same vertices twice.
static void unmerged_vertices_are_found(void** state) {
  (void)state;
  yw_tet_mesh mesh = both(bar(2, 2, 2), bar(2, 2, 2), yw_v3(2, 0, 0));
  yw_tet_faults faults = faults_of(&mesh, "merge them");
  assert_int_equal(faults.num_unmerged, 18);
  assert_int_equal(faults.num_overlaps + faults.num_hanging, 0);
}

// A fine bar on a coarse one: the 9 - 4 vertices that the coarse one lacks hang.
static void hanging_vertices_are_found(void** state) {
  (void)state;
  yw_tet_mesh coarse = bar(1, 1, 1), fine = bar(2, 2, 2);
  for (int i = 0; i < coarse.num_vertices; ++i) {
    coarse.positions[i] = yw_scale(coarse.positions[i], 2);
  }
  yw_tet_mesh mesh = both(coarse, fine, yw_v3(2, 0, 0));
  yw_tet_faults faults = faults_of(&mesh, "inside an edge or a face");
  assert_int_equal(faults.num_hanging, 5);
  assert_int_equal(faults.num_unmerged, 8);
  assert_int_equal(faults.num_overlaps, 0);
}

static void weak_joints_are_found(void** state) {
  (void)state;
  // Cube 2 starts at the corner (1, 1, 1) of cube 1: vertices 7 and 8 are the same.
  yw_tet_mesh mesh = both(bar(1, 1, 1), bar(1, 1, 1), yw_v3(1, 1, 1));
  join(&mesh, 8, 7);
  mesh.positions[8] = yw_v3(9, 9, 9);
  yw_tet_faults faults = faults_of(&mesh, "6 tets on 6 by vertex 7");
  assert_int_equal(faults.num_weak_joints, 1);
  // Along an edge: (1, 1, 0) to (1, 1, 1).
  mesh = both(bar(1, 1, 1), bar(1, 1, 1), yw_v3(1, 1, 0));
  join(&mesh, 8, 3);
  join(&mesh, 12, 7);
  faults = faults_of(&mesh, "by the edge ");
  assert_int_equal(faults.num_weak_joints, 1);
  assert_int_equal(faults.weak_joint[0] + faults.weak_joint[1], 10);
}

static void large_meshes_are_searched_quickly(void** state) {
  (void)state;
  yw_tet_mesh mesh = bar(26, 26, 26);
  double start = yw_seconds();
  faults_of(&mesh, NULL);
  print_message("105456 tets in %.2f s\n", yw_seconds() - start);
}

static void count_box(void* context, int32_t box) {
  (void)box;
  ++*(int*)context;
}

// Against comparing with every box; some boxes are huge.
static void a_grid_finds_every_box_once(void** state) {
  (void)state;
  enum { COUNT = 400 };
  test_random random = {5};
  yw_aabb boxes[COUNT];
  for (int n = 0; n < COUNT; ++n) {
    float size = n % 50 ? 0.1f : 30;
    for (int axis = 0; axis < 3; ++axis) {
      float at = (float)test_random_in(&random, -3, 3);
      (&boxes[n].lower.x)[axis] = at;
      (&boxes[n].upper.x)[axis] = at + (float)test_random_in(&random, 0, (double)size);
    }
  }
  yw_box_grid grid;
  assert_int_equal(yw_box_grid_create(NULL, COUNT, boxes, &grid), YW_OK);
  for (int n = 0; n < COUNT; ++n) {
    int expected = 0, found = 0;
    for (int m = 0; m < COUNT; ++m) {
      yw_vec3 low = yw_max3(boxes[n].lower, boxes[m].lower);
      yw_vec3 high = yw_min3(boxes[n].upper, boxes[m].upper);
      expected += low.x <= high.x && low.y <= high.y && low.z <= high.z;
    }
    yw_box_grid_query(&grid, boxes[n], count_box, &found);
    assert_int_equal(found, expected);
  }
  yw_box_grid_free(&grid);
}

// Two tets whose edges pass each other crosswise are apart, whichever corners these edges have: no
// plane through a face separates them, only one along both edges.
static void crossed_edges_do_not_overlap(void** state) {
  (void)state;
  // The first edge of each is the one near the other.
  static const yw_vec3 low[4] = {{-1, 0, 0}, {1, 0, 0}, {0.3f, -1, 0.4f}, {-0.3f, -1.5f, -0.4f}};
  static const yw_vec3 high[4] = {
      {0, 0.05f, -1}, {0, 0.05f, 1}, {0.4f, 1.05f, 0.3f}, {-0.4f, 1.65f, -0.3f}};
  for (int one = 0; one < 6; ++one) {
    for (int two = 0; two < 6; ++two) {
      static const int edges[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                      {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
      yw_tet_mesh mesh;
      assert_int_equal(yw_tet_mesh_create(NULL, 8, 2, &mesh), YW_OK);
      for (int k = 0; k < 4; ++k) {
        mesh.positions[edges[one][k]] = low[k];
        mesh.positions[4 + edges[two][k]] = high[k];
        mesh.tets[k] = k;
        mesh.tets[4 + k] = 4 + k;
      }
      yw_tet_faults faults;
      for (int gap = 0; gap < 2; ++gap) {
        // The upper one is moved down: by more than there is between them the second time.
        for (int k = 4; k < 8; ++k) mesh.positions[k].y -= gap ? 0.2f : 0.0f;
        assert_int_equal(yw_tet_mesh_faults(&mesh, &faults), YW_OK);
        if (faults.num_overlaps != gap) {
          fail_msg("edges %d and %d: %d overlaps, expected %d", one, two, (int)faults.num_overlaps,
                   gap);
        }
      }
      yw_tet_mesh_free(&mesh);
    }
  }
}

static void count_touching(void* context, int32_t box) {
  (void)box;
  ++*(int*)context;
}

// Boxes that only touch are found, on all sides.
static void boxes_that_touch_are_found(void** state) {
  (void)state;
  const yw_aabb middle = {{0, 0, 0}, {1, 1, 1}};
  for (int side = 0; side < 6; ++side) {
    yw_aabb boxes[2] = {middle, middle};
    float way = side % 2 ? 1.0f : -1.0f;
    (&boxes[1].lower.x)[side / 2] += way;
    (&boxes[1].upper.x)[side / 2] += way;
    for (int k = 0; k < 2; ++k) {
      yw_box_grid grid;
      int found = 0;
      assert_int_equal(yw_box_grid_create(NULL, 1, &boxes[k], &grid), YW_OK);
      yw_box_grid_query(&grid, boxes[1 - k], count_touching, &found);
      if (found != 1) fail_msg("side %d: %d boxes are found", side, found);
      yw_box_grid_free(&grid);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sound_meshes_have_no_faults),
      cmocka_unit_test(overlaps_are_found),
      cmocka_unit_test(unmerged_vertices_are_found),
      cmocka_unit_test(hanging_vertices_are_found),
      cmocka_unit_test(weak_joints_are_found),
      cmocka_unit_test(large_meshes_are_searched_quickly),
      cmocka_unit_test(a_grid_finds_every_box_once),
      cmocka_unit_test(crossed_edges_do_not_overlap),
      cmocka_unit_test(boxes_that_touch_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
