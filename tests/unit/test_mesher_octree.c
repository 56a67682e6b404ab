// SPDX-License-Identifier: MIT
// The background of graded meshes: tets of several sizes that fit together.
#include "support/testing.h"

#include "geometry/mesher_octree.h"
#include "geometry/tet_math.h"
#include "support/counted_memory.h"

#define SIDE 7  // cells of level 0
#define LEVELS 3

static yw_octree make_tree(const yw_allocator* mem, test_random* random, int num_fine) {
  yw_octree tree;
  yw_octree_begin(mem, LEVELS, 1 << 20, &tree);
  for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
    yw_octree_add(&tree,
                  (yw_grid_cell){{n % SIDE - 3, n / SIDE % SIDE - 3, n / SIDE / SIDE - 3}, 0});
  }
  // Away from the border, so that all cells that finer ones need are there.
  for (int n = 0; n < num_fine; ++n) {
    yw_grid_cell cell = {.level = 1 + (int)(test_random_u32(random) % LEVELS)};
    for (int a = 0; a < 3; ++a) {
      int width = 1 << cell.level;
      cell.at[a] = (int)(test_random_u32(random) % (unsigned)(3 * width)) - width;
    }
    yw_octree_add(&tree, cell);
  }
  yw_octree_list_tets(&tree);
  return tree;
}

static void corners_of(const yw_octree* tree, int t, yw_dvec3 out[4]) {
  for (int k = 0; k < 4; ++k) {
    const int32_t* at = tree->nodes.items[tree->tets.items[t].node[k]].at;
    out[k] = (yw_dvec3){at[0], at[1], at[2]};
  }
}

static double volume_of(const yw_octree* tree) {
  double volume = 0;
  for (int t = 0; t < tree->tets.count; ++t) {
    yw_dvec3 p[4];
    corners_of(tree, t, p);
    volume += fabs(yw_tet_volume6(p)) / 6;
  }
  return volume;
}

typedef struct face {
  int32_t v[3];
} face;

static int compare_faces(const void* a, const void* b) { return memcmp(a, b, sizeof(face)); }

static int compare_numbers(const void* a, const void* b) {
  return (*(const int32_t*)a > *(const int32_t*)b) - (*(const int32_t*)a < *(const int32_t*)b);
}

static bool is_near_border(const yw_octree* tree, const face* f) {
  int32_t limit = 2 * yw_octree_width(tree, 0);
  for (int k = 0; k < 3; ++k) {
    const int32_t* at = tree->nodes.items[f->v[k]].at;
    for (int a = 0; a < 3; ++a) {
      if (at[a] < -limit || at[a] > limit + yw_octree_width(tree, 0)) return true;
    }
  }
  return false;
}

// Faces away from the border belong to two tets each: nothing hangs.
static void assert_faces_are_shared(const yw_octree* tree) {
  int count = 4 * tree->tets.count;
  face* faces = calloc((size_t)count, sizeof *faces);
  for (int n = 0; n < count; ++n) {
    int left = 0;
    for (int k = 0; k < 4; ++k) {
      if (k != n % 4) faces[n].v[left++] = tree->tets.items[n / 4].node[k];
    }
    qsort(faces[n].v, 3, sizeof(int32_t), compare_numbers);
  }
  qsort(faces, (size_t)count, sizeof *faces, compare_faces);
  for (int n = 0; n < count;) {
    int end = n + 1;
    while (end < count && compare_faces(&faces[n], &faces[end]) == 0) ++end;
    if (end - n != 2 && (end - n != 1 || !is_near_border(tree, &faces[n]))) {
      fail_msg("%d tets share a face", end - n);
    }
    n = end;
  }
  free(faces);
}

static void tets_of_all_sizes_fit_together(void** state) {
  (void)state;
  test_random random = {5};
  yw_octree plain = make_tree(NULL, &random, 0);
  double volume = volume_of(&plain);
  yw_octree_free(&plain);
  for (int n = 0; n < 12; ++n) {
    yw_octree tree = make_tree(NULL, &random, 1 + 3 * n);
    assert_int_equal(tree.status, YW_OK);
    assert_faces_are_shared(&tree);
    assert_near(volume_of(&tree) / volume, 1, 1e-12);
    for (int t = 0; t < tree.tets.count; ++t) {
      yw_dvec3 p[4], swap;
      double largest, smallest;
      corners_of(&tree, t, p);
      if (yw_tet_volume6(p) < 0) swap = p[2], p[2] = p[3], p[3] = swap;
      yw_tet_dihedral_cosines(p, &largest, &smallest);
      assert_at_most(largest, 0.7072);     // 45 degrees
      assert_at_least(smallest, -0.5001);  // 120 degrees
    }
    yw_octree_free(&tree);
  }
}

// Too many cells are refused, and every allocation may fail.
static void limits_are_kept(void** state) {
  (void)state;
  yw_octree tree;
  yw_octree_begin(NULL, LEVELS, 20, &tree);
  yw_octree_add(&tree, (yw_grid_cell){{0, 0, 0}, LEVELS});
  assert_int_equal(tree.status, YW_ERR_LIMIT);
  yw_octree_free(&tree);
  yw_status status = YW_ERR_MEMORY;
  for (int n = 0; status != YW_OK && n < 1000; ++n) {
    counted_memory memory = {.left = n};
    yw_allocator mem = counted_allocator(&memory);
    test_random random = {5};
    tree = make_tree(&mem, &random, 4);
    status = tree.status;
    yw_octree_free(&tree);
    if (status != YW_OK) assert_int_equal(status, YW_ERR_MEMORY);
    assert_int_equal(memory.alive, 0);
  }
  assert_int_equal(status, YW_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tets_of_all_sizes_fit_together),
      cmocka_unit_test(limits_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
