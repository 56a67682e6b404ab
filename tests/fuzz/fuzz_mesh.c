// SPDX-License-Identifier: MIT
// libFuzzer target for all mesh readers: the first byte picks the format, the rest is the file.
// How to build it: see tests/CMakeLists.txt. How to run it: tests/fuzz_mesh -max_total_time=60
#include "files/mesh_formats.h"
#ifdef YW_HAVE_CODECS
#include "codecs/codecs.h"
#endif

static bool read_nodes(yw_scan* scan, yw_mesh_build* build) {
  return yw_read_tetgen_nodes(scan, build) && yw_build_finish(build, scan);
}

// Tets of four existing vertices.
static bool read_tets(yw_scan* scan, yw_mesh_build* build) {
  for (int32_t i = 0; i < 4; ++i) {
    double p[3] = {i == 1, i == 2, i == 3};
    if (!yw_build_position(build, scan, p)) return false;
  }
  return yw_read_tetgen_tets(scan, build) && yw_build_finish(build, scan);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static bool (*const readers[])(yw_scan*, yw_mesh_build*) = {
      yw_read_obj,   yw_read_ply, yw_read_stl, yw_read_gmsh,         yw_read_vtk,    yw_read_vtu,
      yw_read_medit, read_nodes,  read_tets,   yw_read_medit_binary, yw_read_abaqus, yw_read_gltf};
  if (size == 0) return 0;
#ifdef YW_HAVE_CODECS
  codecs_register();
#endif
  yw_error error = {0};
  yw_scan scan;
  yw_mesh_build build;
  yw_scan_init(&scan, "fuzz", (const char*)data + 1, size - 1, &error);
  yw_mesh_build_init(&build, NULL);
  if (readers[data[0] % (sizeof readers / sizeof *readers)](&scan, &build)) {
    yw_tri_mesh mesh;
    if (yw_build_take_triangles(&build, "fuzz", &mesh, &error) >= 0) yw_tri_mesh_free(&mesh);
  }
  yw_mesh_build_free(&build);
  return 0;
}
