// SPDX-License-Identifier: MIT
// What is written comes back, to the bit, and nothing is left of what could not be written.
#include <locale.h>

#include "files/mesh_formats.h"
#include "support/temporary_folder.h"
#include "support/testing.h"
#include "yawara/extend/vtu_write.h"
#include "yawara/files.h"

// The host program's locale may use a decimal comma.
static void results_do_not_depend_on_the_locale(void** state) {
  (void)state;
  static const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  bool found = false;
  for (size_t i = 0; !found && i < sizeof names / sizeof *names; ++i)
    found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found) print_message("no locale with a decimal comma is installed; only C was tried\n");
  yw_tri_mesh mesh, back;
  yw_error error;
  assert_int_equal(
      yw_tri_mesh_read(store_text("l.obj", "v 0.5 0 0\nv 1.25 0 0\nv 0 2.5 0\nf 1 2 3\n"), NULL,
                       &mesh, &error),
      YW_OK);
  assert_near(mesh.positions[1].x, 1.25, 0);
  assert_int_equal(yw_tri_mesh_write(in_folder("m.obj"), &mesh, &error), YW_OK);
  assert_int_equal(yw_tri_mesh_read(in_folder("m.obj"), NULL, &back, &error), YW_OK);
  assert_memory_equal(mesh.positions, back.positions, 3 * sizeof(yw_vec3));
  setlocale(LC_ALL, "C");
  yw_tri_mesh_free(&mesh);
  yw_tri_mesh_free(&back);
}

// Difficult numbers: long, tiny, huge, negative zero.
static float odd_number(test_random* random) {
  static const float odd[] = {0.1f,        -0.0f, 1e-45f, 3.4028235e38f, -1.17549435e-38f,
                              16777217.0f, 0.3f};
  uint32_t pick = test_random_u32(random) % 24;
  return pick < 7 ? odd[pick] : (float)test_random_in(random, -10.0, 10.0);
}

static void surfaces_come_back_as_they_were_written(void** state) {
  (void)state;
  static const char* const names[] = {"r.obj", "r.ply", "r.stl", "r.vtu"};
  test_random random = {7};
  yw_tri_mesh mesh, back;
  yw_error error = {0};
  assert_int_equal(yw_tri_mesh_create(NULL, 300, 500, &mesh), YW_OK);
  mesh.colors = calloc(300, sizeof(yw_vec3));
  for (int32_t i = 0; i < 300; ++i) {
    mesh.positions[i] = (yw_vec3){odd_number(&random), odd_number(&random), (float)i};
    for (int32_t k = 0; k < 3; ++k)
      (&mesh.colors[i].x)[k] = (float)(test_random_u32(&random) % 256) / 255.0f;
  }
  for (int32_t i = 0; i < 1500; ++i)
    mesh.triangles[i] = i < 300 ? i : (int32_t)(test_random_u32(&random) % 300);
  for (size_t f = 0; f < sizeof names / sizeof *names; ++f) {
    const char* path = in_folder(names[f]);
    if (yw_tri_mesh_write(path, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
    if (yw_tri_mesh_read(path, NULL, &back, &error) != YW_OK) fail_msg("%s", error.message);
    assert_int_equal(back.num_triangles, 500);
    if (strcmp(names[f], "r.stl") == 0) {
      // Welding numbers vertices by first use, which is this order.
      assert_int_equal(back.num_vertices, 300);
    } else {
      assert_int_equal(back.num_vertices, 300);
      assert_memory_equal(mesh.positions, back.positions, 300 * sizeof(yw_vec3));
      assert_memory_equal(mesh.colors, back.colors, 300 * sizeof(yw_vec3));
    }
    for (int32_t i = 0; i < 300; ++i) {
      assert_true(mesh.positions[i].x == back.positions[i].x);
      assert_true(mesh.positions[i].y == back.positions[i].y);
    }
    assert_memory_equal(mesh.triangles, back.triangles, 1500 * sizeof(int32_t));
    yw_tri_mesh_free(&back);
  }
  yw_tri_mesh_free(&mesh);
}

static void tets_come_back_as_they_were_written(void** state) {
  (void)state;
  static const char* const names[] = {"r.node", "q.ele", "r.vtu", "r.msh", "r.mesh", "S.NODE"};
  yw_tet_mesh mesh, back;
  yw_error error = {0};
  yw_aabb box = {{-0.1f, 0.2f, 1e-3f}, {1.0f / 3.0f, 5.0f, 7.7e6f}};
  int32_t cells[3] = {4, 3, 2};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  for (int32_t labelled = 0; labelled < 2; ++labelled) {
    if (labelled) mesh.labels = calloc((size_t)mesh.num_tets, sizeof(int32_t));
    for (int32_t t = 0; labelled && t < mesh.num_tets; ++t) mesh.labels[t] = (t * t / 5) % 4;
    for (size_t f = 0; f < sizeof names / sizeof *names; ++f) {
      const char* path = in_folder(names[f]);
      if (yw_tet_mesh_write(path, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
      if (yw_tet_mesh_read(path, NULL, &back, &error) != YW_OK) fail_msg("%s", error.message);
      assert_int_equal(back.num_vertices, mesh.num_vertices);
      assert_int_equal(back.num_tets, mesh.num_tets);
      assert_memory_equal(mesh.positions, back.positions,
                          (size_t)mesh.num_vertices * sizeof(yw_vec3));
      assert_memory_equal(mesh.tets, back.tets, (size_t)mesh.num_tets * 16);
      if (labelled)
        assert_memory_equal(mesh.labels, back.labels, (size_t)mesh.num_tets * 4);
      else
        assert_null(back.labels);
      yw_tet_mesh_free(&back);
    }
  }
  assert_int_equal(access(in_folder("S.ELE"), R_OK), 0);
  yw_tet_mesh_free(&mesh);
}

static void negative_labels_fit_all_formats_but_gmsh(void** state) {
  (void)state;
  yw_tet_mesh mesh, back;
  yw_error error = {0};
  int32_t cells[3] = {1, 1, 1};
  assert_int_equal(
      yw_tet_mesh_lattice(NULL, (yw_aabb){{0, 0, 0}, {1, 1, 1}}, cells, YW_LATTICE_SIX, &mesh),
      YW_OK);
  mesh.labels = calloc((size_t)mesh.num_tets, sizeof(int32_t));
  mesh.labels[3] = -2147483647 - 1;
  static const char* const names[] = {"n.node", "n.vtu", "n.mesh"};
  for (int32_t f = 0; f < 3; ++f) {
    assert_int_equal(yw_tet_mesh_write(in_folder(names[f]), &mesh, &error), YW_OK);
    if (yw_tet_mesh_read(in_folder(names[f]), NULL, &back, &error) != YW_OK)
      fail_msg("%s", error.message);
    assert_int_equal(back.labels[3], mesh.labels[3]);
    yw_tet_mesh_free(&back);
  }
  assert_int_equal(yw_tet_mesh_write(in_folder("n.msh"), &mesh, &error), YW_ERR_INVALID);
  assert_contains(error.message, "tet 3 has the label -2147483648");
  assert_int_equal(access(in_folder("n.msh"), F_OK), -1);
  yw_tet_mesh_free(&mesh);
}

static void meshes_that_cannot_be_written_leave_nothing_behind(void** state) {
  (void)state;
  yw_tri_mesh mesh;
  yw_error error;
  assert_int_equal(yw_tri_mesh_create(NULL, 3, 1, &mesh), YW_OK);
  assert_int_equal(yw_tri_mesh_write(in_folder("no/such/x.obj"), &mesh, &error), YW_ERR_IO);
  assert_contains(error.message, "no/such/x.obj: cannot be written: No such file or directory");
  assert_int_equal(yw_tri_mesh_write(in_folder("x.fbx"), &mesh, &error), YW_ERR_INVALID);
  assert_contains(error.message, "unknown ending \".fbx\", expected .obj, .ply, .stl or .vtu");
  assert_int_equal(yw_tri_mesh_write(in_folder("x.glb"), &mesh, &error), YW_ERR_INVALID);
  assert_contains(error.message, "\".glb\" is read, but not written here; expected .obj");
  mesh.triangles[2] = 3;
  assert_int_equal(yw_tri_mesh_write(in_folder("x.obj"), &mesh, &error), YW_ERR_INVALID);
  assert_contains(error.message, "the mesh refers to vertex 3, but has 3 vertices");
  assert_int_equal(access(in_folder("x.obj"), F_OK), -1);
  yw_tri_mesh_free(&mesh);
}

static void fields_and_series_are_written_for_paraview(void** state) {
  (void)state;
  yw_error error = {0};
  yw_vec3 positions[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  int32_t triangle[3] = {0, 1, 2};
  float speed[3] = {1, 2, 3};
  float level[1] = {7};
  yw_vtu_field fields[2] = {{"speed <m/s>", 1, speed, false, "m/s", "how fast"},
                            {"level", 1, level, true, NULL, NULL}};
  yw_vtu_grid grid = {.num_points = 3,
                      .positions = positions,
                      .num_cells = 1,
                      .corners_per_cell = 3,
                      .cells = triangle,
                      .fields = fields,
                      .num_fields = 2};
  assert_int_equal(yw_vtu_write(in_folder("f.vtu"), &grid, NULL, &error), YW_OK);
  yw_file_data data;
  assert_int_equal(yw_file_read_all(in_folder("f.vtu"), 0, NULL, &data, &error), YW_OK);
  assert_contains(data.bytes, "Name=\"speed &lt;m/s&gt;\"");
  const char* cell_data = strstr(data.bytes, "<CellData>");
  assert_non_null(cell_data);
  assert_contains(cell_data, "Name=\"level\"");
  // The value is where the tag says.
  long offset = strtol(strstr(strstr(cell_data, "level"), "offset=\"") + 8, NULL, 10);
  const char* values = strstr(data.bytes, "encoding=\"raw\">\n_") + strlen("encoding=\"raw\">\n_");
  float read;
  memcpy(&read, values + offset + 8, sizeof read);
  assert_near(read, 7, 0);
  yw_file_data_free(&data);

  // Points that belong to no cell become cells themselves.
  grid = (yw_vtu_grid){.num_points = 3,
                       .positions = positions,
                       .num_cells = 3,
                       .corners_per_cell = 1,
                       .fields = fields,
                       .num_fields = 1};
  assert_int_equal(yw_vtu_write(in_folder("p.vtu"), &grid, NULL, &error), YW_OK);
  grid.num_cells = 2;
  assert_int_equal(yw_vtu_write(in_folder("p.vtu"), &grid, NULL, &error), YW_ERR_INVALID);
  grid.num_cells = 3;
  grid.corners_per_cell = 4;
  assert_int_equal(yw_vtu_write(in_folder("p.vtu"), &grid, NULL, &error), YW_ERR_INVALID);
  yw_pvd_entry entries[2] = {{0.0, 0, "a&b_0.vtu"}, {1.0 / 60.0, 1, "b_1.vtu"}};
  assert_int_equal(yw_pvd_write(in_folder("s.pvd"), entries, 2, NULL, &error), YW_OK);
  assert_int_equal(yw_file_read_all(in_folder("s.pvd"), 0, NULL, &data, &error), YW_OK);
  assert_contains(data.bytes,
                  "<DataSet timestep=\"0\" group=\"\" part=\"0\" file=\"a&amp;b_0.vtu\"/>");
  assert_contains(data.bytes, "timestep=\"0.0166666666666666");
  yw_file_data_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_do_not_depend_on_the_locale),
      cmocka_unit_test(surfaces_come_back_as_they_were_written),
      cmocka_unit_test(tets_come_back_as_they_were_written),
      cmocka_unit_test(negative_labels_fit_all_formats_but_gmsh),
      cmocka_unit_test(meshes_that_cannot_be_written_leave_nothing_behind),
      cmocka_unit_test(fields_and_series_are_written_for_paraview),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
