// SPDX-License-Identifier: MIT
// Edits of tet meshes: edges are split, and splits undone.
#include "geometry/mesher_edit.h"

#include "support/mesh_testing.h"

static double volume_of(const yw_tet_mesh* mesh, double* least) {
  double sum = 0.0;
  *least = INFINITY;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    for (int k = 0; k < 4; ++k) p[k] = yw_d3(mesh->positions[mesh->tets[4 * t + k]]);
    double volume = yw_tet_volume6(p) / 6.0;
    *least = fmin(*least, volume);
    sum += volume;
  }
  return sum;
}

static bool has(const int32_t* tet, int32_t v) {
  return tet[0] == v || tet[1] == v || tet[2] == v || tet[3] == v;
}

// All tets around the edge are split in two, and no other; undone, the mesh is as before.
static void check_edge(yw_tet_edit* edit, const yw_tet_mesh* mesh, int32_t a, int32_t b) {
  int32_t around = 0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    around += has(mesh->tets + 4 * t, a) && has(mesh->tets + 4 * t, b);
  }
  yw_vec3 middle = yw_lerp(mesh->positions[a], mesh->positions[b], 0.4f);
  int32_t split = yw_edit_split(edit, a, b, middle, YW_HOLD_NOTHING);
  assert_int_equal(split, around);
  if (split == 0) return;
  double least, whole, before = volume_of(mesh, &least);
  yw_tet_mesh now = yw_edit_view(edit);
  assert_int_equal(now.num_tets, mesh->num_tets + around);
  assert_int_equal(now.num_vertices, mesh->num_vertices + 1);
  whole = volume_of(&now, &least);
  assert_near(whole, before, 1e-5 * before);
  assert_true(least > 0.0);
  for (int32_t t = 0; t < now.num_tets; ++t) {
    assert_false(has(now.tets + 4 * t, a) && has(now.tets + 4 * t, b));
  }
  yw_edit_undo_split(edit, b, split);
  now = yw_edit_view(edit);
  assert_int_equal(now.num_vertices, mesh->num_vertices);
  assert_int_equal(now.num_tets, mesh->num_tets);
  assert_memory_equal(now.tets, mesh->tets, 16 * (size_t)mesh->num_tets);
}

static void edges_are_split_with_all_tets_around_them(void** state) {
  (void)state;
  const int32_t cells[3] = {2, 2, 2};
  const yw_aabb box = {{-1, -1, -1}, {1, 1, 1}};
  yw_tet_mesh mesh;
  yw_tet_edit edit;
  yw_shape* shape = NULL;
  unsigned char on_surface[27] = {0};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){1, 1, 1}, &shape), YW_OK);
  assert_int_equal(yw_edit_begin(shape, 1.0f, NULL, &mesh, on_surface, &edit), YW_OK);
  for (int32_t a = 0; a < mesh.num_vertices; ++a) {
    for (int32_t b = 0; b < mesh.num_vertices; ++b) {
      if (a != b) check_edge(&edit, &mesh, a, b);
    }
  }
  yw_edit_free(&edit);
  yw_tet_mesh_free(&mesh);
  yw_shape_release(shape);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(edges_are_split_with_all_tets_around_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
