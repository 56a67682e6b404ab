// SPDX-License-Identifier: MIT
// Files that are no meshes: messages name the file, the place and the numbers.
#include <sys/stat.h>

#include "support/temporary_folder.h"
#include "support/testing.h"
#include "yawara/files.h"

typedef struct bad_file {
  const char *name, *text, *message;
} bad_file;

static void assert_bad(const bad_file* file, bool volume) {
  const char* path = store_text(file->name, file->text);
  yw_tet_mesh tets;
  yw_tri_mesh surface;
  yw_error error = {0};
  yw_status status = volume ? yw_tet_mesh_read(path, NULL, &tets, &error)
                            : yw_tri_mesh_read(path, NULL, &surface, &error);
  if (status >= 0) fail_msg("%s was read, expected \"%s\"", file->name, file->message);
  assert_int_equal(error.status, status);
  // The message begins with the file.
  assert_int_equal(strncmp(error.message, path, strlen(path) - 5), 0);
  assert_contains(error.message, file->message);
}

#define GLTF(more) "{\"asset\": {\"version\": \"2.0\"}, " more "}"

static void errors_in_surfaces_name_place_and_numbers(void** state) {
  (void)state;
  static const bad_file files[] = {
      {"e.obj", "", "e.obj: the file is empty"},
      {"e.obj", "\n\n", "e.obj: has no vertices"},
      {"e.obj", "v 0 0 0\nv 1 x 0\n", "e.obj:2: expected y of a vertex, found \"x\""},
      {"e.obj", "v 0 0 0\nv 1 0\nv 0 1 0\n",
       "e.obj:2: the line ends where z of a vertex is expected"},
      {"e.obj", "v 0 0 0\nv 1 nan 0\n",
       "e.obj:2: vertex 2 has y = nan, but positions must be finite"},
      {"e.obj", "v 0 0 -inf\n", "e.obj:1: vertex 1 has z = -inf"},
      {"e.obj", "v 0 0 0\nv 1 0 0 1 nan 0\n", "e.obj:2: vertex 2 has a color of nan"},
      {"e.ply",
       "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
       "float z\nend_header\n0\n0\nnan\n",
       "e.ply:8: vertex 0 has z = nan"},
      {"e.obj", "v 0 1e39 0\n", "e.obj:1: vertex 1 has y = 1e+39"},
      {"e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\nv 1 1 1e400", "e.obj:5: vertex 4 has z = inf"},
      {"e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 9\n",
       "e.obj:5: face 1 refers to vertex 9, but the file has 3 vertices (1 to 3)"},
      {"e.obj", "v 0 0 0\nf 1 99999999999 1\n", "e.obj:2: face 1 refers to vertex 99999999999"},
      {"e.obj", "v 0 0 0\nf 1 -2 1\n",
       "e.obj:2: vertex number -2, but only 1 vertices come before it"},
      {"e.obj", "v 0 0 0\nf 0 1 1\n", "e.obj:2: vertex number 0, but the first vertex is number 1"},
      {"e.obj", "v 0 0 0\nf 1 1\n", "e.obj:2: face 1 has 2 corners, but needs at least 3"},
      {"e.obj", "v 0 0 0\nf 1 1 1a\n",
       "e.obj:2: expected a vertex number like 3 or 3/1/2, found \"1a\""},
      {"e.obj", "v 0 0 0\n", "e.obj: has 1 vertices but no faces"},
      {"e.ply", "plx\n", "e.ply:1: expected \"ply\", found \"plx\""},
      {"e.ply", "ply\nformat ascii 1.0\nelement vertex 100000000\nproperty float x\n",
       "e.ply:3: the number of elements is 100000000, but the file has only 18 bytes left"},
      {"e.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty flat y\n",
       "e.ply:5: unknown type \"flat\""},
      {"e.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
       "vertices have no x, y and z"},
      {"e.ply",
       "ply\nformat binary_little_endian 1.0\nelement vertex 20\nproperty float x\nproperty float "
       "y\nproperty float z\nend_header\n0123456789",
       "e.ply: byte 116: the number of elements \"vertex\" is 20, but the file has only 10 bytes "
       "left"},
      {"e.ply",
       "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
       "float "
       "z\nelement face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 "
       "0\n3 0 1 "
       "-5\n",
       "e.ply:13: face 0 refers to vertex -5, but the first is 0"},
      {"e.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\nendloop\n",
       "e.stl:6: expected z of a vertex, found \"endloop\""},
      {"e.stl", "hello", "e.stl: byte 0: the file has 5 bytes, but neither begins with \"solid\""},
      {"e.xyz", "{}", "e.xyz: unknown ending \".xyz\", expected .obj, .ply, .stl"},
      {"e.fbx", "{}", "e.fbx: not read: open it in Blender or MeshLab and save it as OBJ"},
      {"e.vti", "{}", "e.vti: a grid of numbers, which scenes read"},
      {"e.gltf", "{\n \"asset\": 1,}\n", "e.gltf:2:"},
      {"e.gltf", "{}", "e.gltf:1: the file is not glTF 2.0: asset.version is not \"2.0\""},
      {"e.gltf", GLTF("\"extensionsRequired\": [\"KHR_draco_mesh_compression\"]"),
       "needs the extension KHR_draco_mesh_compression, which cannot be read; save it without"},
      {"e.gltf", GLTF("\"buffers\": [{\"byteLength\": 4, \"uri\": \"data:;base64,AAAA\"}]"),
       "buffer 0 has 3 bytes, but must have 4"},
      {"e.gltf", GLTF("\"buffers\": [{\"byteLength\": 4, \"uri\": \"%2e./e.gltf\"}]"),
       "a buffer is in \"%2e./e.gltf\", but must be in a file beside this one"},
      {"e.gltf", GLTF("\"buffers\": [{\"byteLength\": 4, \"uri\": \"file:///etc/passwd\"}]"),
       "must be in a file beside this one"},
      {"e.gltf",
       GLTF("\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"children\": [0]}], \"meshes\": []"),
       "node 0 has several parents"},
      {"e.gltf",
       GLTF(
           "\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0}], \"meshes\": "
           "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"accessors\": "
           "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 2, \"type\": \"VEC3\"}], "
           "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 12}], \"buffers\": [{\"byteLength\": "
           "12, \"uri\": \"data:;base64,AAAAAAAAAAAAAAAA\"}]"),
       "accessors[0] reaches beyond its buffer"},
      {"e.gltf",
       GLTF("\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0}], \"meshes\": [{}]"),
       "e.gltf: has no vertices"},
      {"e.gltf",
       GLTF("\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0}], \"meshes\": "
            "[{\"primitives\": {\"mode\": 4}}]"),
       "e.gltf: has no vertices"},
      {"noending", "{}", "noending: has no ending, expected .obj"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) assert_bad(&files[i], false);
}

static void errors_in_tets_name_place_and_numbers(void** state) {
  (void)state;
  static const bad_file files[] = {
      {"e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
       "e.obj: has no tets (3 vertices, 1 faces); fill the surface with tets first"},
      {"e.msh", "$MeshFormat\n3.0 0 8\n$EndMeshFormat\n",
       "e.msh:2: version 3 is not supported, save the mesh as 4.1 or 2.2"},
      {"e.msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n5 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 5 "
       "5 "
       "5 6\n$EndElements\n",
       "e.msh:10: an element refers to node 6, but none of the 1 nodes has this tag"},
      {"e.msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 0 0 0\n1 0 0 0\n$EndNodes\n",
       "e.msh:8: two nodes have the number 1"},
      {"e.msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n2\n1 4 0 1 "
       "1 1 "
       "1\n2 5 0 1 1 1 1 1 1 1 1\n$EndElements\n",
       "e.msh: has 1 hexahedra beside 1 tets, but only tets can be used"},
      {"e.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n999999\n",
       "e.msh:5: the number of nodes is "
       "999999, but the file has only 1 bytes left"},
      {"e.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET STRUCTURED_POINTS\n",
       "e.vtk:4: \"STRUCTURED_POINTS\" cannot be read, expected UNSTRUCTURED_GRID or POLYDATA"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 "
       "5\n4 0 0 0 1\n",
       "e.vtk:8: a cell refers to point 1, but there are 1 points (0 to 0)"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 "
       "5\n9 0 0 0 0\n",
       "e.vtk:8: cell 0 has 9 corners, but 4 numbers are left"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 5\n5 0 0 0 0 0\n",
       "e.vtk:8: cell 0 has 5 corners, but 4 numbers are left"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 5\n-1 0 0 0 0\n",
       "e.vtk:8: cell 0 has -1 corners, but 4 numbers are left"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 "
       "10\n9 0 0 0 0 0 0 0 0 0\nCELL_TYPES 1\n24\n",
       "a tet has 9 corners, but must have 10"},
      {"e.vtk",
       "# vtk DataFile Version 5.1\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 2 4\nOFFSETS vtktypeint64\n0 99\nCONNECTIVITY vtktypeint64\n0 0 0 0\n",
       "e.vtk:9: offset 1 is 99, expected 0 to 4"},
      {"e.vtk",
       "# vtk DataFile Version 5.1\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 2 4\nOFFSETS vtktypeint64\n0 -1\nCONNECTIVITY vtktypeint64\n0 0 0 0\n",
       "e.vtk:9: offset 1 is -1, expected 0 to 4"},
      {"e.vtu",
       "<VTKFile type=\"UnstructuredGrid\">\n<Piece NumberOfPoints=\"1\" "
       "NumberOfCells=\"0\">\n<Points>"
       "\n\n<DataArray type=\"Float32\" Name=\"p\" NumberOfComponents=\"3\" "
       "format=\"binary\">DAAAAAAAAAAAAAAA</DataArray></Points></Piece></VTKFile>",
       "e.vtu:5: array \"p\" has 8 bytes, but 12 are needed"},
      {"e.vtu", "<VTKFile type=\"PolyData\"/>",
       "e.vtu:1: the type of the file is not UnstructuredGrid"},
      {"e.vtu",
       "<VTKFile type=\"UnstructuredGrid\"><Piece NumberOfPoints=\"1\"\nNumberOfCells=\"-1\">",
       "e.vtu:1: NumberOfCells is -1, but must not be negative"},
      {"e.vtu", "<VTKFile type=\"UnstructuredGrid\"\ncompressor=\"vtkZstdDataCompressor\">",
       "e.vtu:1: unknown compressor \"vtkZstdDataCompressor\", expected vtkZLibDataCompressor, "},
      {"e.mesh", "MeshVersionFormatted 1\nDimension 2\nEnd\n",
       "e.mesh:2: the dimension is 2, but must be 3"},
      {"e.mesh",
       "MeshVersionFormatted 1\nDimension 3\nVertices 1\n0 0 0 0\nTetrahedra 1\n1 1 1 5 0\nEnd\n",
       "e.mesh:6: tet 1 refers to vertex 5, but the file has 1 vertices (1 to 1)"},
      {"e.mesh", "MeshVersionFormatted 1\nDimension 3\nVertices 1\n0 0 0 0\n",
       "e.mesh:5: the file ends where a keyword or \"End\" is expected"},
      {"e.meshb", "hello world", "e.meshb: byte 0: expected the number 1 that tells the order of "},
      {"e.inp", "hello\n", "e.inp:1: an input file begins with a keyword like *NODE"},
      {"e.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D4\n1, 1, 1, 1\n\n*END STEP\n",
       "e.inp:6: element 1 has 3 of its 4 nodes"},
      {"e.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D4\n7, 1, 1, 1, 2\n",
       "element 7 refers to node 2, but none of the 1 nodes has this number"},
      {"e.inp", "*NODE\n1, 0, 0, 0\n1, 0, 0, 0\n", "two nodes have the number 1"},
      {"e.inp", "*NODE\n1, 0, x, 0\n", "e.inp:2: expected y of a node, found \"x\""},
      {"e.inp", "*PART\n*PART\n", "e.inp:2: the file has several parts; write one flat input file"},
      {"e.inp", "** a\n*Include, input=b.inp\n", "e.inp:2: *INCLUDE cannot be read"},
      {"e.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D8\n1, 1, 1, 1, 1, 1, 1, 1, 1\n",
       "e.inp: has 1 hexahedra beside 0 tets, but only tets can be used"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) assert_bad(&files[i], true);
}

// All cells that are solid but no tets are named in the message.
static void other_cells_are_named(void** state) {
  (void)state;
  static const struct {
    int type, corners;
    const char* name;
  } cells[] = {{12, 8, "hexahedra"},  {11, 8, "hexahedra"}, {25, 20, "hexahedra"},
               {29, 27, "hexahedra"}, {72, 8, "hexahedra"}, {13, 6, "wedges"},
               {26, 15, "wedges"},    {73, 6, "wedges"},    {14, 5, "pyramids"},
               {27, 13, "pyramids"},  {42, 4, "polyhedra"}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; ++i) {
    char text[400], message[100];
    int n = snprintf(text, sizeof text,
                     "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 "
                     "float\n0 0 0\nCELLS 1 %d\n%d",
                     cells[i].corners + 1, cells[i].corners);
    for (int k = 0; k < cells[i].corners; ++k)
      n += snprintf(text + n, sizeof text - (size_t)n, " 0");
    snprintf(text + n, sizeof text - (size_t)n, "\nCELL_TYPES 1\n%d\n", cells[i].type);
    snprintf(message, sizeof message, "has 1 %s beside 0 tets", cells[i].name);
    const bad_file file = {"e.vtk", text, message};
    assert_bad(&file, true);
  }
}

static void so_are_those_of_gmsh(void** state) {
  (void)state;
  static const struct {
    int type, nodes;
    const char* name;
  } cells[] = {{5, 8, "hexahedra"}, {12, 27, "hexahedra"}, {17, 20, "hexahedra"},
               {6, 6, "prisms"},    {13, 18, "prisms"},    {18, 15, "prisms"},
               {7, 5, "pyramids"},  {14, 14, "pyramids"},  {19, 13, "pyramids"}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; ++i) {
    char text[400], message[100];
    int n = snprintf(text, sizeof text,
                     "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n"
                     "$Elements\n1\n1 %d 0",
                     cells[i].type);
    for (int k = 0; k < cells[i].nodes; ++k) n += snprintf(text + n, sizeof text - (size_t)n, " 1");
    snprintf(text + n, sizeof text - (size_t)n, "\n$EndElements\n");
    snprintf(message, sizeof message, "has 1 %s beside 0 tets", cells[i].name);
    const bad_file file = {"e.msh", text, message};
    assert_bad(&file, true);
  }
}

static void a_wrong_tet_in_a_tetgen_pair_names_both_files(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_error error;
  store_text("box.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  const char* path = store_text("box.ele", "# tets\n2 4 0\n0 0 1 2 3\n1 0 1 2 900\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message,
                  "box.ele:4: tet 1 refers to vertex 900, but box.node has 4 vertices (0 to 3)");
  store_text("box.ele", "2 4 0\n0 0 1 2 3\n# cut off here");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.ele:3: the file ends where the number of a tet is expected");
  store_text("box.ele", "1 5 0\n0 0 1 2 3 3\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.ele:1: tets have 5 corners, but must have 4 or 10");
  store_text("box.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
  store_text("box.ele", "1 4 1\n1 1 2 3 4 0.5\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.ele:2: the attribute of tet 1 is 0.5, but must be a whole");
  // The number of vertices alone is enough of a first line.
  store_text("box.node", "4\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  store_text("box.ele", "1\n0 0 1 2 3\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_OK);
  yw_tet_mesh_free(&mesh);
  store_text("box.ele", "1 4 1\n1 1 2 3 4 0.5\n");
  store_text("box.node", "4 3 0 0\n2 0 0 0\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.node:1: the number of vertices is 4, but the file has only");
  store_text("box.node", "1 3 0 0\n2 0 0 0\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.node:2: the first vertex is number 2, but must be 0 or 1");
}

static void missing_files_and_folders_are_errors(void** state) {
  (void)state;
  yw_tri_mesh mesh;
  yw_error error;
  assert_int_equal(yw_tri_mesh_read(in_folder("none.obj"), NULL, &mesh, &error), YW_ERR_IO);
  assert_contains(error.message, "none.obj: cannot be opened: No such file or directory");
  assert_int_equal(mkdir(in_folder("dir.obj"), 0777), 0);
  assert_int_equal(yw_tri_mesh_read(in_folder("dir.obj"), NULL, &mesh, &error), YW_ERR_IO);
  assert_contains(error.message, "dir.obj: is a folder, expected a file");
  assert_int_equal(yw_tri_mesh_read(in_folder("none.obj"), NULL, &mesh, NULL), YW_ERR_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_in_surfaces_name_place_and_numbers),
      cmocka_unit_test(errors_in_tets_name_place_and_numbers),
      cmocka_unit_test(other_cells_are_named),
      cmocka_unit_test(so_are_those_of_gmsh),
      cmocka_unit_test(a_wrong_tet_in_a_tetgen_pair_names_both_files),
      cmocka_unit_test(missing_files_and_folders_are_errors),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
