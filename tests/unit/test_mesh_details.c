// SPDX-License-Identifier: MIT
// Details of mesh files: polygons in any plane, sizes that files claim, comments, and calls with
// meshes that make no sense.
#include "files/mesh_polygon.h"
#include "support/mesh_samples.h"
#include "support/mesh_testing.h"
#include "support/temporary_folder.h"
#include "yawara/extend/vtu_write.h"
#include "yawara/files.h"

// Polygons ----------------------------------------------------------------------------------------

// A random star in a random plane, in either sense: its triangles face the same way and cover it
// exactly, without overlap.
static void stars_in_any_plane_are_covered_once(void** state) {
  (void)state;
  enum { MOST = 12 };
  test_random random = {5};
  for (int round = 0; round < 300; ++round) {
    int count = 4 + round % (MOST - 3);
    double e[2][3], length = 0, along = 0;
    for (int i = 0; i < 6; ++i) e[i / 3][i % 3] = test_random_in(&random, -1, 1);
    for (int k = 0; k < 3; ++k) length += e[0][k] * e[0][k];
    for (int k = 0; k < 3; ++k) along += e[0][k] * e[1][k] / length;
    for (int k = 0; k < 3; ++k) e[1][k] -= along * e[0][k];
    yw_vec3 p[MOST];
    int32_t corners[MOST], scratch[MOST], out[3 * MOST];
    for (int i = 0; i < count; ++i) {
      double angle = 6.283185307 * i / count, r = test_random_in(&random, 0.2, 1);
      double u = r * cos(angle), v = r * sin(angle) * (round % 2 ? -1 : 1), x[3];
      for (int k = 0; k < 3; ++k) x[k] = 2.0 * k - 1.5 + u * e[0][k] + v * e[1][k];
      p[i] = yw_v3((float)x[0], (float)x[1], (float)x[2]);
      corners[i] = i;
    }
    yw_vec3 whole = yw_v3(0, 0, 0), sum = whole;
    for (int i = 1; i + 1 < count; ++i) {
      whole = yw_add(whole, yw_cross(yw_sub(p[i], p[0]), yw_sub(p[i + 1], p[0])));
    }
    int64_t budget = 100000;
    yw_polygon_triangles(p, corners, count, &budget, scratch, out);
    double areas = 0;
    for (int t = 0; t < count - 2; ++t) {
      yw_vec3 a = p[out[3 * t]], b = p[out[3 * t + 1]], c = p[out[3 * t + 2]];
      yw_vec3 n = yw_cross(yw_sub(b, a), yw_sub(c, a));
      sum = yw_add(sum, n);
      areas += (double)yw_length(n);
    }
    assert_near(yw_length(yw_sub(sum, whole)) / yw_length(whole), 0, 1e-5);
    assert_near(areas / (double)yw_length(whole), 1, 1e-5);
  }
}

// Files -------------------------------------------------------------------------------------------

static void refuse_tets(const char* name, const char* text, const char* message) {
  yw_tet_mesh mesh;
  yw_error error = {0};
  if (yw_tet_mesh_read(store_text(name, text), NULL, &mesh, &error) >= 0) {
    fail_msg("%s was read, expected \"%s\"", name, message);
  }
  assert_contains(error.message, message);
}

static void sizes_of_numbers_are_checked(void** state) {
  (void)state;
  static const char rest[] = "\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n";
  static const struct {
    const char *format, *message;
  } files[] = {{"2.2 0 4", "numbers of 4 bytes are not supported, expected 8"},
               {"2.2 0 7", "numbers of 7 bytes are not supported, expected 8"},
               {"4.1 0 5", "numbers of 5 bytes are not supported, expected 8"},
               {"3.0 0 8", "version 3 is not supported"},
               {"1.9 0 8", "version 1.9 is not supported"},
               {"4.2 0 8", "version 4.2 is not supported"},
               {"2.2 2 8", "expected 0 (text) or 1 (binary), found 2"},
               {"2.2 0 8", "the file ends without $Elements"}};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    char text[200];
    snprintf(text, sizeof text, "$MeshFormat\n%s%s", files[i].format, rest);
    refuse_tets("f.msh", text, files[i].message);
  }
  refuse_tets("f.vtu",
              "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4x\" "
              "NumberOfCells=\"0\"></Piece></UnstructuredGrid></VTKFile>",
              "NumberOfPoints is \"4x\", expected a number");
  refuse_tets("f.vtu",
              "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" "
              "NumberOfCells=\"\"></Piece></UnstructuredGrid></VTKFile>",
              "NumberOfCells is \"\", expected a number");
  // A .glb file that was cut off.
  static unsigned char bytes[4000];
  sample s = {.bytes = bytes, .capacity = sizeof bytes};
  make_glb(&s);
  char expected[100];
  snprintf(expected, sizeof expected, "should have %zu bytes, but has %zu", s.size, s.size - 5);
  yw_tri_mesh mesh;
  yw_error error = {0};
  assert_int_equal(yw_tri_mesh_read(store("f.glb", s.bytes, s.size - 5), NULL, &mesh, &error),
                   YW_ERR_FORMAT);
  assert_contains(error.message, expected);
}

// Comments and empty lines may stand anywhere in Abaqus' files.
static void comments_of_abaqus_are_skipped(void** state) {
  (void)state;
  static const char text[] =
      "** made by hand\n\n*HEADING\n a tet\n**\n*NODE\n** points\n1, 0, 0, 0\n\n2, 1, 0, 0\n** 9, "
      "9, 9, 9\n3, 0, 1, 0\n   \n4, 0, 0, 1\n*ELEMENT, TYPE=C3D4\n**one\n1, 1, 2, 3, 4\n\n**\n";
  yw_tet_mesh mesh;
  yw_error error = {0};
  if (yw_tet_mesh_read(store_text("c.inp", text), NULL, &mesh, &error) < 0) {
    fail_msg("%s", error.message);
  }
  assert_int_equal(mesh.num_vertices, 4);
  assert_int_equal(mesh.num_tets, 1);
  assert_near(mesh.positions[3].z, 1, 0);
  yw_tet_mesh_free(&mesh);
}

// Integers that stand for shares: the largest is 1 exactly, of every type that glTF allows.
// A last line of one letter needs no end of the line.
static void lines_of_abaqus_end_with_the_file(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_error error = {0};
  const char* path = store_text("end.inp",
                                "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n"
                                "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3,\n4");
  if (yw_tet_mesh_read(path, NULL, &mesh, &error) < 0) fail_msg("%s", error.message);
  assert_int_equal(mesh.num_tets, 1);
  assert_int_equal(mesh.tets[3], 3);
  yw_tet_mesh_free(&mesh);
}

static void largest_integers_of_gltf_are_one(void** state) {
  (void)state;
  static const struct {
    int type, size;
    uint64_t largest;
  } kinds[] = {{5121, 1, 255}, {5123, 2, 65535}};
  for (int i = 0; i < 2; ++i) {
    unsigned char bytes[84] = {0}, file[3000];
    sample buffer = {.bytes = bytes, .capacity = sizeof bytes};
    for (int k = 0; k < 9; ++k) put_f32(&buffer, (float)(k % 4 == 0), false);
    for (int k = 0; k < 12; ++k)
      put_uint(&buffer, kinds[i].largest / (k % 4 + 1), kinds[i].size, false);
    char text[1500];
    snprintf(
        text, sizeof text,
        "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}]"
        ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"COLOR_0\":1}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}"
        ",{\"bufferView\":1,\"componentType\":%d,\"normalized\":true,\"count\":3,\"type\":"
        "\"VEC4\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{\"buffer\":0,"
        "\"byteOffset\":36,\"byteLength\":%d}],\"buffers\":[{\"byteLength\":84,\"uri\":"
        "\"with%%09tab.bin\"}]}",
        kinds[i].type, 12 * kinds[i].size);
    sample s = {.bytes = file, .capacity = sizeof file};
    put_text(&s, text);
    store("with\ttab.bin", bytes, sizeof bytes);
    yw_tri_mesh mesh;
    yw_error error = {0};
    if (yw_tri_mesh_read(store("c.gltf", s.bytes, s.size), NULL, &mesh, &error) < 0) {
      fail_msg("%s", error.message);
    }
    assert_non_null(mesh.colors);
    assert_near(mesh.colors[0].x, 1, 0);
    assert_near(mesh.colors[0].y, (double)(kinds[i].largest / 2) / (double)kinds[i].largest, 1e-7);
    yw_tri_mesh_free(&mesh);
  }
}

// A texture coordinate of which only one number is not finite is refused; a material after the last
// is none.
static void looks_of_gltf_are_checked(void** state) {
  (void)state;
  for (int bad = 0; bad < 3; ++bad) {
    unsigned char bytes[60] = {0};
    sample buffer = {.bytes = bytes, .capacity = sizeof bytes};
    for (int k = 0; k < 9; ++k) put_f32(&buffer, (float)(k % 4 == 0), false);
    for (int k = 0; k < 6; ++k) put_f32(&buffer, k == 1 + bad ? INFINITY : 0.5f, false);
    if (bad == 2) memset(bytes + 36, 0, 24);
    store("look.bin", bytes, sizeof bytes);
    yw_tri_mesh mesh;
    yw_mesh_look look;
    yw_error error = {0};
    yw_status status = yw_mesh_look_read(
        store_text(
            "c.gltf",
            "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{"
            "\"mesh\":0}],\"materials\":[{\"name\":\"wood\"}],\"meshes\":[{\"primitives\":[{"
            "\"attributes\":{\"POSITION\":0,\"TEXCOORD_0\":1},\"material\":1}]}],\"accessors\":["
            "{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
            "{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"}],"
            "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,"
            "\"byteLength\":24}],\"buffers\":[{\"byteLength\":60,\"uri\":\"look.bin\"}]}"),
        NULL, &mesh, &look, &error);
    assert_int_equal(status >= 0, bad == 2);
    if (status < 0) assert_contains(error.message, "is not finite");
    if (status < 0) continue;
    assert_int_equal(look.num_materials, 1);
    assert_int_equal(look.materials[0], -1);
    yw_mesh_look_free(&look);
    yw_tri_mesh_free(&mesh);
  }
}

// Points of a piece are numbered from 0: those of other pieces cannot be reached.
static void pieces_of_vtk_refer_to_their_own_points(void** state) {
  (void)state;
  const char *begin = strstr(sample_vtu_text, "<Piece"), *end = strstr(begin, "</Piece>") + 8;
  char text[2 * sizeof sample_vtu_text];
  snprintf(text, sizeof text, "%.*s%s", (int)(end - sample_vtu_text), sample_vtu_text, begin);
  char* cell = strstr(strstr(text, "</Piece>"), "0 1 2 3<");
  memcpy(cell, "0 1 2 7", 7);
  refuse_tets("two.vtu", text, "a cell refers to point 7, but there are 4 points (0 to 3)");
}

// The first bytes of an STL file say who wrote it, and not "solid", as text would.
static void stl_files_name_their_writer(void** state) {
  (void)state;
  yw_vec3 positions[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  int32_t triangle[3] = {0, 1, 2};
  yw_tri_mesh mesh = {
      .num_vertices = 3, .positions = positions, .num_triangles = 1, .triangles = triangle};
  yw_error error = {0};
  yw_file_data data;
  assert_int_equal(yw_tri_mesh_write(in_folder("w.stl"), &mesh, &error), YW_OK);
  assert_int_equal(yw_file_read_all(in_folder("w.stl"), 0, NULL, &data, &error), YW_OK);
  assert_int_equal(strncmp(data.bytes, "Yawara ", 7), 0);
  yw_file_data_free(&data);
}

// Calls -------------------------------------------------------------------------------------------

// Cells of VTK have 1 to 4 corners: points, edges, triangles and tets.
static void cells_of_other_kinds_are_not_written(void** state) {
  (void)state;
  yw_vec3 positions[5] = {{0, 0, 0}};
  int32_t cell[5] = {0, 1, 2, 3, 4};
  for (int32_t corners = 0; corners < 6; ++corners) {
    yw_vtu_grid grid = {.num_points = 5,
                        .positions = positions,
                        .num_cells = 1,
                        .corners_per_cell = corners,
                        .cells = cell};
    yw_error error = {0};
    yw_status status = yw_vtu_write(in_folder("cells.vtu"), &grid, NULL, &error);
    assert_int_equal(status, corners >= 1 && corners <= 4 ? YW_OK : YW_ERR_INVALID);
  }
}

static void meshes_that_make_no_sense_are_refused(void** state) {
  (void)state;
  yw_vec3 positions[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int32_t tets[4] = {0, 1, 2, 3};
  const yw_tet_mesh good = {.positions = positions, .num_vertices = 4, .tets = tets, .num_tets = 1};
  yw_tet_mesh bad[5] = {good, good, good, good, good};
  bad[0].num_vertices = -1, bad[1].num_tets = -1;
  bad[2].positions = NULL, bad[3].tets = NULL, bad[4].num_vertices = 3;
  yw_tri_mesh surface;
  yw_tet_quality quality;
  yw_error error = {0};
  assert_int_equal(yw_tet_mesh_check(&good, &error), YW_OK);
  assert_int_equal(yw_tet_mesh_quality(&good, &quality), YW_OK);
  assert_int_equal(yw_tet_mesh_surface(&good, NULL, &surface, NULL), YW_OK);
  yw_tri_mesh_free(&surface);
  for (int i = 0; i < 5; ++i) {
    assert_true(yw_tet_mesh_check(&bad[i], &error) < 0);
    assert_true(yw_tet_mesh_quality(&bad[i], &quality) < 0);
    if (i == 2 || i == 3) continue;  // these arrays are the caller's duty
    assert_int_equal(yw_tet_mesh_surface(&bad[i], NULL, &surface, NULL), YW_ERR_INVALID);
  }
  // Nothing at all is a mesh, of no quality.
  const yw_tet_mesh nothing = {0};
  assert_int_equal(yw_tet_mesh_quality(&nothing, &quality), YW_OK);
  assert_int_equal(yw_tet_mesh_surface(&nothing, NULL, &surface, NULL), YW_OK);
  yw_tri_mesh_free(&surface);
}

// Ranges of sets: a first number from 0 on, a last one that is not before it, and a step.
static void ranges_that_make_no_sense_are_refused(void** state) {
  (void)state;
  static const char* const ranges[] = {"-3, 5", "5, 3", "1, 2, 0", "-5, -3"};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
    char text[300];
    snprintf(text, sizeof text,
             "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n"
             "*ELSET, ELSET=A, GENERATE\n%s\n",
             ranges[i]);
    refuse_tets("g.inp", text, "expected FIRST, LAST, STEP with FIRST <= LAST and STEP >= 1");
  }
}

// The triangles of a surface in Medit's format, whose numbers begin with 1.
static void faces_of_medit_are_read(void** state) {
  (void)state;
  const char* text =
      "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
      "Triangles 2\n1 2 3 0\n1 4 2 7\nEnd\n";
  static const float expected[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},
                                       {0, 0, 0}, {0, 0, 1}, {1, 0, 0}};
  yw_tri_mesh mesh;
  yw_error error = {0};
  if (yw_tri_mesh_read(store_text("s.mesh", text), NULL, &mesh, &error) < 0) {
    fail_msg("%s", error.message);
  }
  assert_int_equal(mesh.num_triangles, 2);
  for (int c = 0; c < 6; ++c) {
    assert_memory_equal(&mesh.positions[mesh.triangles[c]], expected[c], sizeof expected[c]);
  }
  yw_tri_mesh_free(&mesh);
}

// Only numbers of cells are labels, not those of as many points.
static void labels_of_vtk_are_scalars_of_cells(void** state) {
  (void)state;
  for (int per_cell = 0; per_cell < 2; ++per_cell) {
    char text[500];
    snprintf(text, sizeof text,
             "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n"
             "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 4 20\n4 0 1 2 3\n4 0 1 2 3\n4 0 1 2 3\n4 0 1 2 3\n"
             "CELL_TYPES 4\n10 10 10 10\n%s_DATA 4\nSCALARS material int 1\n"
             "LOOKUP_TABLE default\n5 6 7 8\n",
             per_cell ? "CELL" : "POINT");
    yw_tet_mesh mesh;
    yw_error error = {0};
    if (yw_tet_mesh_read(store_text("l.vtk", text), NULL, &mesh, &error) < 0) {
      fail_msg("%s", error.message);
    }
    assert_int_equal(mesh.labels != NULL, per_cell);
    for (int t = 0; t < 4 && mesh.labels; ++t) assert_int_equal(mesh.labels[t], 5 + t);
    yw_tet_mesh_free(&mesh);
  }
}

// A concave polygon is cut into ears in a file of many corners as in a small one.
static void polygons_of_large_files_are_covered_once(void** state) {
  (void)state;
  enum { QUADS = 60000 };
  char* text = malloc(60 * (QUADS + 10));
  assert_non_null(text);
  // An arrow: the fan around its first corner would leave it.
  int n = sprintf(text, "v 0 1 0\nv -1 -1 0\nv 0 0 0\nv 1 -1 0\n");
  for (int i = 0; i < QUADS; ++i) n += sprintf(text + n, "f 2 3 4 1\n");
  yw_tri_mesh mesh;
  yw_error error = {0};
  if (yw_tri_mesh_read(store_text("large.obj", text), NULL, &mesh, &error) < 0) {
    fail_msg("%s", error.message);
  }
  free(text);
  assert_int_equal(mesh.num_triangles, 2 * QUADS);
  double area = 0;
  for (int32_t t = 0; t < mesh.num_triangles; ++t) {
    const int32_t* v = mesh.triangles + 3 * (size_t)t;
    yw_vec3 a = mesh.positions[v[0]];
    yw_vec3 turned = yw_cross(yw_sub(mesh.positions[v[1]], a), yw_sub(mesh.positions[v[2]], a));
    area += 0.5 * (double)yw_length(turned);
  }
  assert_near(area / QUADS, 1.0, 1e-6);
  yw_tri_mesh_free(&mesh);
}

// A file that cannot be read leaves an empty mesh, whatever was there.
static void failed_reads_leave_an_empty_mesh(void** state) {
  (void)state;
  yw_tet_mesh tets;
  yw_tri_mesh surface;
  yw_error error = {0};
  memset(&tets, 0xff, sizeof tets);
  memset(&surface, 0xff, sizeof surface);
  assert_true(yw_tet_mesh_read(in_folder("none.vtk"), NULL, &tets, &error) < 0);
  assert_true(yw_tri_mesh_read(in_folder("none.obj"), NULL, &surface, &error) < 0);
  assert_true(!tets.positions && !tets.tets && !tets.labels && tets.num_tets == 0);
  assert_true(!surface.positions && !surface.triangles && surface.num_triangles == 0);
}

// Labels are copied with the tets.
static void copies_have_the_labels(void** state) {
  (void)state;
  yw_tet_mesh mesh, copy;
  assert_int_equal(yw_tet_mesh_create(NULL, 4, 1, &mesh), YW_OK);
  for (int i = 0; i < 4; ++i) mesh.tets[i] = i;
  for (int k = 1; k < 4; ++k) (&mesh.positions[k].x)[k - 1] = 1;
  mesh.labels = yw_mem_alloc(&mesh.mem, 1, sizeof *mesh.labels);
  mesh.labels[0] = 7;
  assert_int_equal(yw_tet_mesh_copy(&mesh, NULL, &copy), YW_OK);
  assert_non_null(copy.labels);
  assert_int_equal(copy.labels[0], 7);
  yw_tet_mesh_free(&copy);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stars_in_any_plane_are_covered_once),
      cmocka_unit_test(sizes_of_numbers_are_checked),
      cmocka_unit_test(comments_of_abaqus_are_skipped),
      cmocka_unit_test(lines_of_abaqus_end_with_the_file),
      cmocka_unit_test(largest_integers_of_gltf_are_one),
      cmocka_unit_test(looks_of_gltf_are_checked),
      cmocka_unit_test(pieces_of_vtk_refer_to_their_own_points),
      cmocka_unit_test(stl_files_name_their_writer),
      cmocka_unit_test(cells_of_other_kinds_are_not_written),
      cmocka_unit_test(meshes_that_make_no_sense_are_refused),
      cmocka_unit_test(ranges_that_make_no_sense_are_refused),
      cmocka_unit_test(faces_of_medit_are_read),
      cmocka_unit_test(labels_of_vtk_are_scalars_of_cells),
      cmocka_unit_test(polygons_of_large_files_are_covered_once),
      cmocka_unit_test(failed_reads_leave_an_empty_mesh),
      cmocka_unit_test(copies_have_the_labels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
