// SPDX-License-Identifier: MIT
// libFuzzer program for all mesh readers. The first byte picks the reader and what is taken from
// the mesh; the rest is the file.
#include "support/fuzzing.h"
#include "support/mesh_samples.h"

// The vertices that a .ele file needs are those of the sample.
static bool (*const readers[])(yw_scan*, yw_mesh_build*) = {
    yw_read_obj,     yw_read_ply,          yw_read_stl,    yw_read_gmsh,
    yw_read_vtk,     yw_read_vtu,          yw_read_medit,  read_sample_node,
    read_sample_ele, yw_read_medit_binary, yw_read_abaqus, yw_read_gltf};
enum {
  NUM_READERS = sizeof readers / sizeof *readers,
  TAKE_TETS = 0,
  TAKE_SURFACE,
  TAKE_POSITIONS
};

static void prepare(void) {
#ifdef YW_HAVE_CODECS
  codecs_register();
#endif
}

static void write_seeds(void) {
  sample_set* set = make_samples();
  for (int32_t i = 0; i < set->count; ++i) {
    const sample* s = &set->items[i];
    int kind = 0;
    while (readers[kind] != s->read) ++kind;
    int take = s->volume ? TAKE_TETS : TAKE_SURFACE;
    add_seed(kind + NUM_READERS * take, s->bytes, s->size);
  }
  free_samples(set);
}

static void take(yw_mesh_build* build, int what) {
  yw_error error = {0};
  if (what == TAKE_TETS) {
    yw_tet_mesh mesh;
    if (yw_build_take_tets(build, "fuzz", &mesh, &error) < 0) return;
    for (int64_t i = 0; i < 4 * (int64_t)mesh.num_tets; ++i) {
      require(mesh.tets[i] >= 0 && mesh.tets[i] < mesh.num_vertices, "corners are vertices");
    }
    yw_tet_mesh_free(&mesh);
  } else if (what == TAKE_SURFACE) {
    yw_tri_mesh mesh;
    if (yw_build_take_triangles(build, "fuzz", &mesh, &error) < 0) return;
    for (int64_t i = 0; i < 3 * (int64_t)mesh.num_triangles; ++i) {
      require(mesh.triangles[i] >= 0 && mesh.triangles[i] < mesh.num_vertices,
              "corners are vertices");
    }
    yw_tri_mesh_free(&mesh);
  } else {
    yw_vec3* positions;
    int32_t count;
    if (yw_build_take_positions(build, "fuzz", &positions, &count, &error) < 0) return;
    yw_mem_free(NULL, positions);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  yw_error error = {0};
  yw_scan scan;
  yw_mesh_build build;
  yw_scan_init(&scan, "fuzz", (const char*)data + 1, size - 1, &error);
  yw_mesh_build_init(&build, NULL);
  build.with_look = true;
  if (readers[data[0] % NUM_READERS](&scan, &build)) {
    take(&build, data[0] / NUM_READERS % 3);
  } else {
    require(error.message[0] != '\0', "an error has a message");
  }
  yw_mesh_build_free(&build);
  return 0;
}
