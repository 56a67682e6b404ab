// SPDX-License-Identifier: MIT
// Files that other programs wrote with their default settings (tests/data/make_files.py), beyond
// those that test_mesh_files compares vertex by vertex.
#include "support/mesh_testing.h"
#include "yawara/extend/decompress.h"
#include "yawara/files.h"
#ifdef YW_HAVE_CODECS
#include "codecs/codecs.h"
#endif

static const char* data_file(const char* name) {
  static char path[600];
  snprintf(path, sizeof path, "%s/tests/data/files/%s", YW_SOURCE_DIR, name);
  return path;
}

static double volume_of_label(const yw_tet_mesh* mesh, int32_t label) {
  double volume = 0.0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    if (mesh->labels[t] != label) continue;
    const int32_t* v = mesh->tets + 4 * t;
    const yw_vec3* x = mesh->positions;
    yw_vec3 a = yw_sub(x[v[1]], x[v[0]]), b = yw_sub(x[v[2]], x[v[0]]);
    volume += (double)yw_dot(yw_cross(a, b), yw_sub(x[v[3]], x[v[0]])) / 6.0;
  }
  return volume;
}

// Boxes of 1 and 2 m^3, with a label each: cut into partitions, of second order, as sets.
static void boxes_of_gmsh_keep_their_volumes_and_labels(void** state) {
  (void)state;
  static const struct {
    const char* name;
    int32_t labels[2];
    yw_status status;
  } files[] = {{"gmsh_boxes_22_parts.msh", {7, 9}, YW_OK},
               {"gmsh_boxes_40_parts.msh", {7, 9}, YW_OK},
               {"gmsh_boxes_41_parts.msh", {7, 9}, YW_OK},
               {"gmsh_boxes_41_parts_binary.msh", {7, 9}, YW_OK},
               {"gmsh_boxes_22_second.msh", {7, 9}, YW_WARN_REDUNDANT},
               {"gmsh_boxes_41_second.msh", {7, 9}, YW_WARN_REDUNDANT},
               {"gmsh_boxes_second.inp", {1, 2}, YW_WARN_REDUNDANT},
               {"gmsh_boxes_second.vtk", {7, 9}, YW_WARN_REDUNDANT},
               {"gmsh_boxes.inp", {1, 2}, YW_OK}};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    yw_tet_mesh mesh;
    yw_error error = {0};
    yw_status status = yw_tet_mesh_read(data_file(files[i].name), NULL, &mesh, &error);
    if (status != files[i].status) fail_msg("%s: %d %s", files[i].name, status, error.message);
    if (status > 0) assert_non_null(strstr(error.message, "48 cells are of second"));
    assert_non_null(mesh.labels);
    assert_int_equal(mesh.num_vertices, 23);
    assert_near(volume_of_label(&mesh, files[i].labels[0]), 1.0, 1e-6);
    assert_near(volume_of_label(&mesh, files[i].labels[1]), 2.0, 1e-6);
    assert_int_equal(yw_tet_mesh_check(&mesh, &error), YW_OK);
    yw_tet_mesh_free(&mesh);
  }
}

// Gmsh 4.0 in binary, which only meshio writes, and without the names of groups.
static void gmsh_40_is_read_as_bytes_too(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_error error = {0};
  if (yw_tet_mesh_read(data_file("meshio_40_binary.msh"), NULL, &mesh, &error) != YW_OK)
    fail_msg("%s", error.message);
  assert_int_equal(mesh.num_tets, 2);
  assert_null(mesh.labels);
  yw_tet_mesh_free(&mesh);
}

// A cube of 1 x 2 x 3 m around x = 5: the 24 corners that VTK writes for its normals become 8, and
// the surface is closed.
static void a_cube_exported_as_gltf_is_closed(void** state) {
  (void)state;
  yw_tri_mesh mesh;
  yw_error error = {0};
  if (yw_tri_mesh_read(data_file("vtk_cube.gltf"), NULL, &mesh, &error) != YW_OK)
    fail_msg("%s", error.message);
  assert_int_equal(mesh.num_vertices, 8);
  assert_int_equal(mesh.num_triangles, 12);
  assert_int_equal(assert_manifold(&mesh), 2);
  assert_near(enclosed_volume(&mesh), 6.0, 1e-6);
  for (int32_t i = 0; i < 8; ++i) assert_near(fabs((double)mesh.positions[i].x - 5.0), 0.5, 1e-6);
  yw_tri_mesh_free(&mesh);
}

// x + 2 y + 4 z on a grid of 2 x 2 x 2, compressed by VTK as XML and as MetaImage.
static void compressed_grids_of_vtk_are_read(void** state) {
  (void)state;
  static const char* const names[] = {"vtk_zlib.vti", "vtk_zlib.mhd", "vtk_zlib.mha"};
  if (!yw_decompressor(YW_COMPRESSION_ZLIB)) {
    print_message("built without zlib; skipped\n");
    skip();
  }
  for (int32_t i = 0; i < 3; ++i) {
    yw_grid grid;
    yw_error error = {0};
    if (yw_grid_read(data_file(names[i]), NULL, NULL, &grid, &error) != YW_OK)
      fail_msg("%s: %s", names[i], error.message);
    assert_near(yw_grid_value(&grid, (yw_vec3){1.25f, 2.5f, 4.0f}), 0.5 + 1.0 + 2.0, 1e-6);
    yw_grid_free(&grid);
  }
}

int main(void) {
#ifdef YW_HAVE_CODECS
  codecs_register();
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_of_gmsh_keep_their_volumes_and_labels),
      cmocka_unit_test(gmsh_40_is_read_as_bytes_too),
      cmocka_unit_test(a_cube_exported_as_gltf_is_closed),
      cmocka_unit_test(compressed_grids_of_vtk_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
