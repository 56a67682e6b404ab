// SPDX-License-Identifier: MIT
// yawara mesh: fills a surface with tets and reports their quality.
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "console/options.h"
#include "yawara/extend/text.h"
#include "yawara/extend/timer.h"
#include "yawara/yawara.h"

typedef struct mesh_options {
  const char* output;
  float size;
  int32_t max_vertices;
  bool surface;
} mesh_options;

static bool is_tet_file(const char* path) {
  const char* endings[] = {".node", ".ele", ".msh", ".vtk", ".vtu", ".mesh"};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
    if (yw_ends_with(path, endings[i])) return true;
  }
  return false;
}

static void report_quality(const yw_tet_mesh* mesh) {
  yw_tet_quality q;
  if (yw_tet_mesh_quality(mesh, &q) < 0) return;
  printf("  vertices        %d\n  tets            %d\n", mesh->num_vertices, mesh->num_tets);
  printf("  volume          %.6g m^3 in %d part%s\n", q.volume, q.num_parts,
         q.num_parts == 1 ? "" : "s");
  printf("  tet volumes     %.3g to %.3g m^3\n", (double)q.min_volume, (double)q.max_volume);
  printf("  dihedral angles %.1f to %.1f degrees, mean of the smallest %.1f\n",
         (double)q.min_dihedral, (double)q.max_dihedral, (double)q.mean_min_dihedral);
}

// Tets of the solid inside a surface file.
static yw_status tets_of_surface(const char* path, const mesh_options* options, yw_tet_mesh* out,
                                 yw_error* error) {
  yw_tri_mesh surface = {0};
  yw_shape* shape = NULL;
  yw_status status = yw_tri_mesh_read(path, NULL, &surface, error);
  if (status >= 0) status = yw_shape_mesh(NULL, &surface, &shape, error);
  if (status >= 0) {
    yw_mesher_def def = yw_default_mesher_def();
    def.size = options->size;
    if (options->max_vertices > 0) def.max_vertices = options->max_vertices;
    status = yw_shape_tets(shape, NULL, &def, out, error);
  }
  yw_shape_release(shape);
  yw_tri_mesh_free(&surface);
  return status;
}

static yw_status write_result(const char* path, const yw_tet_mesh* mesh, bool surface_only,
                              yw_error* error) {
  if (!surface_only) return yw_tet_mesh_write(path, mesh, error);
  yw_tri_mesh surface = {0};
  yw_status status = yw_tet_mesh_surface(mesh, NULL, &surface, NULL);
  if (status >= 0) status = yw_tri_mesh_write(path, &surface, error);
  yw_tri_mesh_free(&surface);
  return status;
}

int cmd_mesh(int argc, char** argv) {
  mesh_options o = {0};
  const option options[] = {
      {"output", 'o', OPTION_TEXT, &o.output, "OUT",
       "file to write: .node/.ele, .vtu, .msh, .mesh (default: only the report)", 0, 0},
      {"size", 's', OPTION_FLOAT, &o.size, "H",
       "edge length of the tets, m (default: 1/12 of the longest side, less if thin or curved)",
       1e-9, 1e9},
      {"max-vertices", 0, OPTION_INT, &o.max_vertices, "N",
       "refuse to make more (default: 4000000)", 1, 1e9},
      {"surface", 0, OPTION_FLAG, &o.surface, NULL,
       "write the boundary of the tets instead (.obj, .ply, .stl)", 0, 0},
  };
  const command self = {
      .name = "mesh",
      .summary = "tets from a surface (OBJ, PLY, STL), or a tet file in another format",
      .usage = "mesh IN [-o OUT] [--size H]",
      .examples =
          "  yawara mesh bunny.obj -o bunny.vtu --size 0.05\n"
          "  yawara mesh bar.msh -o bar.node\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 1};
  const char* input;
  int32_t count;
  int code = parse_options(&self, argc, argv, &input, &count);
  if (code >= 0) return code;

  yw_error error = {0};
  yw_tet_mesh mesh = {0};
  double start = yw_seconds();
  yw_status status = is_tet_file(input) ? yw_tet_mesh_read(input, NULL, &mesh, &error)
                                        : tets_of_surface(input, &o, &mesh, &error);
  double seconds = yw_seconds() - start;
  if (status >= 0) {
    printf("%s (%.2f s)\n", input, seconds);
    report_quality(&mesh);
    yw_error problem = {0};
    if (yw_tet_mesh_check(&mesh, &problem) < 0)
      printf("  cannot be simulated: %s\n", problem.message);
    if (o.output) status = write_result(o.output, &mesh, o.surface, &error);
    if (o.output && status >= 0) printf("wrote %s\n", o.output);
  }
  yw_tet_mesh_free(&mesh);
  return status < 0 ? bad_input("%s", error.message) : EXIT_DONE;
}
