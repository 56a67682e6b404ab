// SPDX-License-Identifier: MIT
// Grids of numbers and painted meshes: every way they are stored, what lies between the points, and
// files that are damaged or lie.
#include "geometry/painted.h"
#include "support/temporary_folder.h"
#include "yawara/extend/decompress.h"
#include "yawara/files.h"

static yw_grid read_good(const char* path, const char* name) {
  yw_grid grid;
  yw_error error = {0};
  yw_status status = yw_grid_read(path, name, NULL, &grid, &error);
  if (status != YW_OK) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  return grid;
}

static void refuse(const char* path, const char* name, const char* word) {
  yw_grid grid;
  yw_error error = {0};
  yw_status status = yw_grid_read(path, name, NULL, &grid, &error);
  assert_true(status < 0);
  assert_null(grid.values);
  if (!strstr(error.message, word)) print_error("%s\n(without \"%s\")\n", error.message, word);
  assert_non_null(strstr(error.message, word));
}

#define VTI(extent, more, data)                                                            \
  "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"0.1\" "                  \
  "byte_order=\"LittleEndian\">\n<ImageData WholeExtent=\"" extent                         \
  "\" Origin=\"1 2 3\" Spacing=\"0.5 1 2\"" more ">\n<Piece Extent=\"" extent "\">\n" data \
  "\n</Piece>\n</ImageData>\n</VTKFile>\n"
#define POINTS(values)                                                                        \
  "<PointData Scalars=\"E\"><DataArray type=\"Float32\" NumberOfComponents=\"3\" Name=\"v\" " \
  "format=\"ascii\">0 0 0</DataArray><DataArray type=\"Float32\" Name=\"E\" "                 \
  "format=\"ascii\">" values "</DataArray></PointData>"

static const char ascii[] = VTI("0 1 0 1 0 1", "", POINTS("0 1 2 3 4 5 6 7"));

// value = x + 2 y + 4 z in units of the spacing: linear fields are exact.
static void check_linear(const yw_grid* grid) {
  test_random random = {3};
  for (int i = 0; i < 100; ++i) {
    double u = test_random_in(&random, 0, 1), v = test_random_in(&random, 0, 1);
    double w = test_random_in(&random, 0, 1);
    yw_vec3 p = {(float)(1 + 0.5 * u), (float)(2 + v), (float)(3 + 2 * w)};
    assert_near(yw_grid_value(grid, p), u + 2 * v + 4 * w, 1e-5);
  }
  // Outside, the nearest point counts.
  assert_near(yw_grid_value(grid, (yw_vec3){-10, -10, -10}), 0, 1e-6);
  assert_near(yw_grid_value(grid, (yw_vec3){10, 10, 10}), 7, 1e-6);
  assert_near(yw_grid_value(grid, (yw_vec3){10, 2, -1e30f}), 1, 1e-6);
  assert_near(yw_grid_value(grid, (yw_vec3){NAN, NAN, NAN}), 0, 1e-6);
}

static void points_of_a_vti_file(void** state) {
  (void)state;
  yw_grid grid = read_good(store_text("a.vti", ascii), NULL);
  assert_int_equal(grid.size[0] * 100 + grid.size[1] * 10 + grid.size[2], 222);
  check_linear(&grid);
  yw_grid_free(&grid);
  grid = read_good(store_text("a.vti", ascii), "E");
  check_linear(&grid);
  yw_grid_free(&grid);
  refuse(store_text("a.vti", ascii), "nu", "no array \"nu\"");
  refuse(store_text("a.vti", ascii), "v", "3 components");
}

// The first value of a cell is at its centre.
static void cells_of_a_vti_file(void** state) {
  (void)state;
  yw_grid grid =
      read_good(store_text("c.vti", VTI("2 4 0 1 0 0", "",
                                        "<CellData><DataArray type=\"Float64\" Name=\"a\" "
                                        "format=\"ascii\">5 6</DataArray></CellData>")),
                NULL);
  assert_int_equal(grid.size[0], 2);
  assert_int_equal(grid.size[1], 1);
  assert_int_equal(grid.size[2], 1);
  assert_near(grid.origin.x, 1 + 0.5 * 2.5, 1e-6);
  assert_near(yw_grid_value(&grid, (yw_vec3){2.5f, 0, 0}), 5.5, 1e-5);
  yw_grid_free(&grid);
}

// Eight floats 0 .. 7 after a length of 32: in base64 inside the tag, and raw at the end.
static void binary_vti_files(void** state) {
  (void)state;
  unsigned char bytes[36] = {32};
  for (int i = 0; i < 8; ++i) {
    float value = (float)i;
    memcpy(bytes + 4 + 4 * i, &value, 4);
  }
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char text[49] = {0}, file[2000];
  for (int i = 0; i < 12; ++i) {
    uint32_t word =
        (uint32_t)bytes[3 * i] << 16 | (uint32_t)bytes[3 * i + 1] << 8 | bytes[3 * i + 2];
    for (int k = 0; k < 4; ++k) text[4 * i + k] = digits[word >> (18 - 6 * k) & 63];
  }
  snprintf(file, sizeof file,
           VTI("0 1 0 1 0 1", "",
               "<PointData><DataArray type=\"Float32\" Name=\"E\" format=\"binary\">%s</DataArray>"
               "</PointData>"),
           text);
  yw_grid grid = read_good(store_text("b.vti", file), NULL);
  check_linear(&grid);
  yw_grid_free(&grid);

  int length = snprintf(file, sizeof file,
                        "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 1\" "
                        "Origin=\"1 2 3\" Spacing=\".5 1 2\"><Piece Extent=\"0 1 0 1 0 1\">"
                        "<PointData><DataArray type=\"Float32\" Name=\"E\" format=\"appended\" "
                        "offset=\"0\"/></PointData></Piece></ImageData>"
                        "<AppendedData encoding=\"raw\">_");
  memcpy(file + length, bytes, sizeof bytes);
  grid = read_good(store("r.vti", file, length + sizeof bytes), NULL);
  check_linear(&grid);
  yw_grid_free(&grid);
  refuse(store("r.vti", file, length + sizeof bytes - 1), NULL, "bytes");
}

#define MHD                                                                    \
  "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementSpacing = 0.5 1 2\n" \
  "Offset = 1 2 3\nElementType = MET_FLOAT\nElementDataFile = v.raw\n"

static void a_header_and_a_raw_file(void** state) {
  (void)state;
  float values[8];
  for (int i = 0; i < 8; ++i) values[i] = (float)i;
  store("v.raw", values, sizeof values);
  yw_grid grid = read_good(store_text("v.mhd", MHD), NULL);
  check_linear(&grid);
  yw_grid_free(&grid);
  // Big-endian short integers after a header of two bytes.
  unsigned char shorts[18] = {9, 9};
  for (int i = 0; i < 8; ++i) shorts[3 + 2 * i] = (unsigned char)i;
  store("v.raw", shorts, sizeof shorts);
  grid =
      read_good(store_text("v.mhd",
                           "NDims = 3\nDimSize = 2 2 2\nElementSpacing = 0.5 1 2\nOffset = 1 2 3\n"
                           "BinaryDataByteOrderMSB = True\nHeaderSize = 2\n"
                           "ElementType = MET_USHORT\nElementDataFile = v.raw\n"),
                NULL);
  check_linear(&grid);
  yw_grid_free(&grid);
}

static void lies_are_refused(void** state) {
  (void)state;
  refuse(store_text("x.vti", VTI("0 1 0 1 0 1", "", POINTS("0 1 2 3 4 5 6"))), NULL, "value");
  refuse(store_text("x.vti", VTI("0 1 0 1 0 1", "", POINTS("0 1 2 nan 4 5 6 7"))), NULL,
         "value 3 of the grid is nan");
  refuse(store_text("x.vti", VTI("0 1 0 1 0 1", "", POINTS("0 1 2 1e39 4 5 6 7"))), NULL,
         "value 3");
  refuse(store_text("x.vti", VTI("0 60000 0 60000 0 60000", "", POINTS("0 1"))), NULL, "points");
  refuse(store_text("x.vti", VTI("0 999 0 999 0 999", "", POINTS("0 1"))), NULL, "too few");
  refuse(store_text("x.vti", VTI("1 0 0 1 0 1", "", POINTS("0 1"))), NULL, "0 points");
  refuse(store_text("x.vti", VTI("0 1 0 1 0 nan", "", POINTS("0 1"))), NULL, "WholeExtent");
  refuse(store_text("x.vti", VTI("0 1 0 1 0 1", " Direction=\"0 1 0 1 0 0 0 0 1\"", POINTS("0"))),
         NULL, "turned");
  refuse(store_text("x.vti", "<VTKFile type=\"UnstructuredGrid\">"), NULL, "ImageData");
  refuse(store_text("x.vti", ""), NULL, "VTKFile");
  refuse(store_text("x.vti", "</VTKFile type=\"ImageData\">"), NULL, "begins with the tag VTKFile");
  refuse(store_text("x.txt", "hello"), NULL, ".vti, .mhd or .mha");
  refuse("no/such.vti", NULL, "cannot be opened");

  float values[8] = {0};
  store("v.raw", values, sizeof values);
  refuse(store_text("y.mhd", MHD), "E", "without a name");
  refuse(store_text("y.mhd", "NDims = 2\nDimSize = 2 2\n"), NULL, "NDims");
  refuse(store_text("y.mhd", "DimSize = 2 2 3\nElementType = MET_FLOAT\nElementDataFile = v.raw\n"),
         NULL, "32 bytes");
  refuse(store_text("y.mhd", "DimSize = 0 2 3\nElementType = MET_FLOAT\nElementDataFile = v.raw\n"),
         NULL, "0 points");
  refuse(
      store_text("y.mhd",
                 "DimSize = 60000 60000 60000\nElementType = MET_FLOAT\nElementDataFile = v.raw\n"),
      NULL, "points");
  refuse(store_text("y.mhd",
                    "DimSize = 2 2 2\nElementType = MET_FLOAT\n"
                    "ElementDataFile = ../../etc/passwd\n"),
         NULL, "beside the header");
  // A list of files, one per slice, or none.
  refuse(store_text("y.mhd", "DimSize = 2 2 2\nElementType = MET_FLOAT\nElementDataFile = LIST\n"),
         NULL, "the name of a file beside the header");
  refuse(store_text("y.mhd", "DimSize = 2 2 2\nElementType = MET_FLOAT\nElementDataFile =\n"), NULL,
         "the name of a file beside the header");
  refuse(
      store_text("y.mhd", "DimSize = 2 2 2\nElementType = MET_FLOAT\nElementDataFile = no.raw\n"),
      NULL, "cannot be opened");
  refuse(
      store_text("y.mhd", "DimSize = 2 2 2\nElementType = MET_STRING\nElementDataFile = v.raw\n"),
      NULL, "MET_STRING");
  refuse(store_text("y.mhd",
                    "CompressedData = True\nDimSize = 2 2 2\nElementType = MET_FLOAT\n"
                    "ElementDataFile = v.raw\n"),
         NULL, yw_decompressor(YW_COMPRESSION_ZLIB) ? "damaged" : "built without");
  refuse(store_text("y.mhd",
                    "DimSize = 2 2 2\nElementSpacing = 1 0 1\nElementType = MET_FLOAT\n"
                    "ElementDataFile = v.raw\n"),
         NULL, "spacing");
  static const char* const turns[] = {"TransformMatrix", "Rotation", "Orientation"};
  for (int k = 0; k < 3; ++k) {
    char text[200];
    snprintf(text, sizeof text,
             "%s = 0 1 0 1 0 0 0 0 1\nDimSize = 2 2 2\nElementType = MET_FLOAT\n"
             "ElementDataFile = v.raw\n",
             turns[k]);
    refuse(store_text("y.mhd", text), NULL, turns[k]);
  }
}

// Truncated at every byte and changed at random: rejected or read, but always finite.
static void damaged_files_do_no_harm(void** state) {
  (void)state;
  float values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  store("v.raw", values, sizeof values);
  const char* const texts[2] = {ascii, MHD};
  const char* const names[2] = {"d.vti", "d.mhd"};
  test_random random = {77};
  for (int k = 0; k < 2; ++k) {
    size_t size = strlen(texts[k]);
    char* copy = malloc(size);
    for (size_t trial = 0; trial < size + 300; ++trial) {
      size_t length = trial < size ? trial : size;
      memcpy(copy, texts[k], size);
      for (int change = 0; trial >= size && change < 3; ++change) {
        copy[test_random_u32(&random) % size] = (char)(test_random_u32(&random) >> 24);
      }
      yw_grid grid;
      yw_error error = {0};
      yw_status status = yw_grid_read(store(names[k], copy, length), NULL, NULL, &grid, &error);
      if (status == YW_OK) {
        assert_true(isfinite(yw_grid_value(&grid, (yw_vec3){1.2f, 2.3f, 3.4f})));
      } else {
        assert_true(strlen(error.message) > 0);
      }
      yw_grid_free(&grid);
    }
    free(copy);
  }
}

#define PLY                                                                                \
  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"          \
  "property float z\nproperty float stiffness\nproperty uchar red\nproperty uchar green\n" \
  "property uchar blue\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"

static yw_status read_painted(const char* text, const char* attribute, float out[3],
                              yw_error* error) {
  yw_tri_mesh mesh;
  float* values;
  yw_status status =
      yw_painted_mesh_read(store_text("p.ply", text), attribute, NULL, &mesh, &values, error);
  if (status == YW_OK) {
    assert_int_equal(mesh.num_vertices, 3);
    memcpy(out, values, 3 * sizeof *out);
    free(values);
    yw_tri_mesh_free(&mesh);
  }
  return status;
}

static void painted_meshes(void** state) {
  (void)state;
  yw_error error = {0};
  float v[3];
  const char good[] = PLY "0 0 0 1e5 0 51 255\n1 0 0 2e5 51 51 0\n0 1 0 3e5 255 51 0\n3 0 1 2\n";
  assert_int_equal(read_painted(good, "stiffness", v, &error), YW_OK);
  for (int i = 0; i < 3; ++i) assert_near(v[i], 1e5 * (i + 1), 1);
  assert_int_equal(read_painted(good, "red", v, &error), YW_OK);
  assert_near(v[1], 0.2, 1e-6);
  assert_near(v[2], 1.0, 1e-6);
  assert_int_equal(read_painted(good, "x", v, &error), YW_OK);
  assert_near(v[1], 1.0, 1e-6);
  assert_true(read_painted(good, "hardness", v, &error) < 0);
  assert_non_null(strstr(error.message, "no attribute \"hardness\""));
  const char bad[] = PLY "0 0 0 nan 0 51 255\n1 0 0 2e5 51 51 0\n0 1 0 3e5 255 51 0\n3 0 1 2\n";
  assert_true(read_painted(bad, "stiffness", v, &error) < 0);
  assert_non_null(strstr(error.message, "\"stiffness\" of vertex 0"));
  for (size_t cut = 0; cut < sizeof good - 12; ++cut) {
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    text[cut] = '\0';
    assert_true(read_painted(text, "stiffness", v, &error) < 0);
  }
}

// Between the corners of a triangle its values are mixed; one without an area has those of its
// nearest corners.
static void painted_values_fill_space(void** state) {
  (void)state;
  const float values[3] = {1, 2, 4};
  for (int flat = 0; flat < 2; ++flat) {
    yw_vec3 corners[3] = {{0, 0, 0}, {1, 0, 0}, {flat ? 3 : 0, flat ? 0 : 1, 0}};
    int32_t triangle[3] = {0, 1, 2};
    const yw_tri_mesh mesh = {
        .positions = corners, .triangles = triangle, .num_vertices = 3, .num_triangles = 1};
    yw_painted painted;
    assert_int_equal(yw_painted_create(NULL, &mesh, values, &painted), YW_OK);
    for (int k = 0; k < 3; ++k) {
      yw_vec3 p = {corners[k].x, corners[k].y, 0.5f};
      assert_near(yw_painted_value(&painted, p), values[k], 1e-6);
    }
    yw_vec3 middle = {flat ? 1.25f : 0.25f, flat ? 0 : 0.5f, -0.1f};
    // Shares 1/4, 1/4 and 1/2, or the second corner alone.
    assert_near(yw_painted_value(&painted, middle), flat ? 2.0 : 2.75, 1e-5);
    yw_painted_free(&painted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_of_a_vti_file),     cmocka_unit_test(cells_of_a_vti_file),
      cmocka_unit_test(binary_vti_files),         cmocka_unit_test(a_header_and_a_raw_file),
      cmocka_unit_test(lies_are_refused),         cmocka_unit_test(painted_values_fill_space),
      cmocka_unit_test(damaged_files_do_no_harm), cmocka_unit_test(painted_meshes),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
