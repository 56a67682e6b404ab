// SPDX-License-Identifier: MIT
// yawara mesh: examines a model, fills surfaces with tets, converts files.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/mesh_doctor.h"
#include "commands/mesh_sizes.h"
#include "console/model_options.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text.h"
#include "yawara/extend/timer.h"
#include "yawara/yawara.h"

typedef struct mesh_options {
  const char* input;
  const char* output;
  float size;
  int32_t max_vertices, bulk;
  mesh_sizes sizes;
  bool surface, split, repair;
  model_options model;
} mesh_options;

// Reading -----------------------------------------------------------------------------------------

// What a file holds: tets, or else a surface.
typedef struct model_data {
  yw_tet_mesh tets;
  yw_tri_mesh surface;
  bool has_tets;
} model_data;

static void free_model(model_data* model) {
  yw_tet_mesh_free(&model->tets);
  yw_tri_mesh_free(&model->surface);
}

// Some formats hold either. A file that has faces and no tets is a surface.
static yw_status read_model(const mesh_options* o, model_data* out, yw_error* error) {
  static const char* const surfaces[] = {".obj", ".ply", ".stl", ".gltf", ".glb"};
  *out = (model_data){.has_tets = true};
  for (size_t i = 0; i < sizeof surfaces / sizeof surfaces[0]; ++i) {
    if (yw_ends_with(o->input, surfaces[i])) out->has_tets = false;
  }
  yw_status status = YW_OK;
  if (out->has_tets) status = yw_tet_mesh_read(o->input, NULL, &out->tets, error);
  if (status < 0 && strstr(error->message, ": has no tets (")) out->has_tets = false;
  if (!out->has_tets) status = yw_tri_mesh_read(o->input, NULL, &out->surface, error);
  if (status < 0) return status;
  model_options_apply(&o->model, out->tets.positions, out->tets.num_vertices);
  model_options_apply(&o->model, out->surface.positions, out->surface.num_vertices);
  return status;
}

// Reports -----------------------------------------------------------------------------------------

static void report_quality(const yw_tet_mesh* mesh) {
  yw_tet_quality q;
  if (yw_tet_mesh_quality(mesh, &q) < 0) return;
  printf("  vertices        %d\n  tets            %d%s\n", mesh->num_vertices, mesh->num_tets,
         mesh->labels ? " with labels" : "");
  printf("  volume          %.6g m^3 in %d part%s\n", q.volume, q.num_parts,
         q.num_parts == 1 ? "" : "s");
  printf("  tet volumes     %.3g to %.3g m^3\n", (double)q.min_volume, (double)q.max_volume);
  printf("  dihedral angles %.1f to %.1f degrees, mean of the smallest %.1f\n",
         (double)q.min_dihedral, (double)q.max_dihedral, (double)q.mean_min_dihedral);
}

static void report_faults(const yw_tet_mesh* mesh) {
  yw_tet_faults faults;
  char text[1000];
  yw_error problem = {0};
  if (yw_tet_mesh_check(mesh, &problem) < 0) {
    printf("  cannot be simulated: %s\n", problem.message);
    return;
  }
  if (yw_tet_mesh_faults(mesh, &faults) < 0) return;
  if (yw_tet_faults_text(&faults, text, (int32_t)sizeof text) > 0) printf("  faults: %s\n", text);
}

// How well the tets fill the surface.
static void report_fit(const yw_tet_fit* fit) {
  char text[1000];
  if (!(fit->shape_volume > 0)) return;
  printf("  size            %.4g m\n  shape           %.6g m^3, of which the tets have %.2f %%\n",
         (double)fit->size, fit->shape_volume, 100 * fit->tet_volume / fit->shape_volume);
  if (fit->num_lost > 0 && yw_tet_fit_text(fit, 1000, text, (int32_t)sizeof text) > 0) {
    printf("  (masses at 1000 kg/m^3) %s\n", text);
  }
}

static void report_unit(const mesh_options* o, const yw_vec3* positions, int32_t count) {
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  float size = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    const float p[3] = {positions[i].x, positions[i].y, positions[i].z};
    for (int k = 0; k < 3; ++k) {
      low[k] = fminf(low[k], p[k]);
      high[k] = fmaxf(high[k], p[k]);
      size = fmaxf(size, high[k] - low[k]);
    }
  }
  char hint[300];
  model_options_hint(&o->model, size, hint, sizeof hint);
  if (hint[0]) printf("  hint: %s\n", hint);
}

// Filling -----------------------------------------------------------------------------------------

static yw_status fill(mesh_options* o, const yw_tri_mesh* surface, const yw_surface_report* report,
                      yw_tet_mesh* out, yw_error* error) {
  yw_shape* shape = NULL;
  yw_tet_fit fit = {0};
  double start = yw_seconds();
  yw_status status = yw_shape_mesh(NULL, surface, &shape, error);
  if (status >= 0) {
    yw_mesher_def def = yw_default_mesher_def();
    def.size = o->size;
    def.bulk = o->bulk;
    mesh_sizes_apply(&o->sizes, &def);
    if (o->max_vertices > 0) def.max_vertices = o->max_vertices;
    status = yw_shape_fill(shape, NULL, &def, out, &fit, error);
  }
  if (status >= 0) {
    printf("tets (%.2f s)\n", yw_seconds() - start);
    report_quality(out);
    report_faults(out);
    report_fit(&fit);
    doctor_print_loss(shape, report, out, &fit);
  }
  yw_shape_release(shape);
  return status;
}

// Writing -----------------------------------------------------------------------------------------

// The folder of the file is made if it does not exist.
static yw_status make_folder_of(const char* path, yw_error* error) {
  const char* slash = strrchr(path, '/');
  if (!slash || slash == path) return YW_OK;
  char* folder = yw_mem_alloc(NULL, (size_t)(slash - path) + 1, 1);
  if (!folder) return yw_fail_memory(error, "the name of a folder");
  memcpy(folder, path, (size_t)(slash - path));
  yw_status status = yw_make_folders(folder, error);
  yw_mem_free(NULL, folder);
  return status;
}

// NAME.vtu becomes NAME_2.vtu for part 2.
static void part_name(const char* path, int32_t part, char* out, size_t capacity) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  int stem = dot ? (int)(dot - path) : (int)strlen(path);
  snprintf(out, capacity, "%.*s_%d%s", stem, path, part, dot ? dot : "");
}

static yw_status write_tets(const char* path, const yw_tet_mesh* mesh, bool surface_only,
                            yw_error* error) {
  yw_status status = make_folder_of(path, error);
  if (status >= 0 && !surface_only) status = yw_tet_mesh_write(path, mesh, error);
  if (status >= 0 && surface_only) {
    yw_tri_mesh surface = {0};
    status = yw_tet_mesh_surface(mesh, NULL, &surface, NULL);
    if (status >= 0) status = yw_tri_mesh_write(path, &surface, error);
    yw_tri_mesh_free(&surface);
  }
  if (status >= 0) printf("wrote %s\n", path);
  return status;
}

static yw_status write_surface(const char* path, const yw_tri_mesh* surface, yw_error* error) {
  yw_status status = make_folder_of(path, error);
  if (status >= 0) status = yw_tri_mesh_write(path, surface, error);
  if (status >= 0) printf("wrote %s\n", path);
  return status;
}

static bool holds_surface(const char* path) {
  return yw_ends_with(path, ".obj") || yw_ends_with(path, ".ply") || yw_ends_with(path, ".stl");
}

// Surfaces ----------------------------------------------------------------------------------------

// Triangles that face opposite sides enclose nothing: they are turned over before tets are made of
// them, as scenes do.
static yw_status turn_over(const mesh_options* o, yw_tri_mesh* surface, yw_surface_report* report,
                           yw_error* error) {
  int32_t turned;
  yw_status status = yw_tri_mesh_orient(surface, &turned);
  if (status < 0) return yw_fail(error, status, "%s: its triangles cannot be turned", o->input);
  printf("  turned over     %d of %d triangles for the tets below, as in scenes\n", turned,
         surface->num_triangles);
  return yw_surface_report_of(surface, NULL, report, error);
}

// Reports on one surface, fills it unless it is flat or a sheet that nobody asked to fill, and
// writes it.
static yw_status treat_surface(mesh_options* o, yw_tri_mesh* surface, const char* name,
                               const char* output, yw_error* error) {
  yw_surface_report report;
  yw_status status = yw_surface_report_of(surface, NULL, &report, error);
  if (status < 0) return status;
  doctor_print_surface(surface, &report, name);
  report_unit(o, surface->positions, surface->num_vertices);
  bool flat = doctor_is_flat(&report);
  bool as_is = output && holds_surface(output) && !o->surface;
  if (as_is) return write_surface(output, surface, error);
  if (flat && output)
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "%s: is flat, so it cannot be filled with tets; write it as .obj, .ply or .stl",
                   name);
  if (flat) return YW_OK;
  if (doctor_is_sheet(&report) && !output && !(o->size > 0.0f)) {
    printf("  tets            not made of a sheet; -o OUT or --size H closes and fills it\n");
    return YW_OK;
  }
  if (report.turned_edges > 0) status = turn_over(o, surface, &report, error);
  if (status < 0) return status;
  yw_tet_mesh tets = {0};
  status = fill(o, surface, &report, &tets, error);
  if (status >= 0 && output) status = write_tets(output, &tets, o->surface, error);
  yw_tet_mesh_free(&tets);
  return status;
}

static yw_status treat_parts(mesh_options* o, const yw_tri_mesh* surface, yw_error* error) {
  yw_tri_mesh* parts = NULL;
  int32_t count = 0;
  yw_status status = yw_tri_mesh_split(surface, NULL, &parts, &count);
  if (status < 0) return yw_fail(error, status, "%s: cannot be split into parts", o->input);
  for (int32_t i = 0; i < count && status >= 0; ++i) {
    char name[1100], path[1100];
    snprintf(name, sizeof name, "%s, part %d of %d", o->input, i + 1, count);
    if (o->output) part_name(o->output, i + 1, path, sizeof path);
    status = treat_surface(o, &parts[i], name, o->output ? path : NULL, error);
  }
  for (int32_t i = 0; i < count; ++i) yw_tri_mesh_free(&parts[i]);
  yw_mem_free(NULL, parts);
  return status;
}

static yw_status treat_model(mesh_options* o, model_data* model, yw_error* error) {
  if (model->has_tets) {
    printf("%s\n", o->input);
    report_quality(&model->tets);
    report_faults(&model->tets);
    report_unit(o, model->tets.positions, model->tets.num_vertices);
    return o->output ? write_tets(o->output, &model->tets, o->surface, error) : YW_OK;
  }
  if (o->repair) {
    int32_t turned;
    yw_status status = yw_tri_mesh_orient(&model->surface, &turned);
    if (status < 0) return yw_fail(error, status, "%s: cannot be repaired", o->input);
    printf("%d of %d triangles turned over\n", turned, model->surface.num_triangles);
  }
  if (o->split) return treat_parts(o, &model->surface, error);
  return treat_surface(o, &model->surface, o->input, o->output, error);
}

int cmd_mesh(int argc, char** argv) {
  mesh_options o = {0};
  const option options[] = {
      {"output", 'o', OPTION_TEXT, &o.output, "OUT",
       "file to write: .node/.ele, .vtu, .msh, .mesh; .obj, .ply, .stl: the surface as it is "
       "(default: only the report)",
       0, 0},
      {"size", 's', OPTION_FLOAT, &o.size, "H",
       "edge length of the tets, m (default: 1/12 of the longest side, less if thin or curved)",
       1e-9, 1e9},
      {"near", 0, OPTION_LIST, &o.sizes.near, "X,Y,Z=H",
       "edge length H at a place, growing by half of the distance from it; may be repeated", 0, 0},
      {"size-by", 0, OPTION_TEXT, &o.sizes.property, "NAME",
       "property of the vertices of a .ply file: the edge length there, m", 0, 0},
      {"bulk", 0, OPTION_INT, &o.bulk, "N",
       "times by which tets away from the surface are larger: 1 (default), 2, 4 or 8", 1, 8},
      {"max-vertices", 0, OPTION_INT, &o.max_vertices, "N",
       "refuse to make more (default: 4000000)", 1, 1e9},
      {"surface", 0, OPTION_FLAG, &o.surface, NULL,
       "write the boundary of the tets instead (.obj, .ply, .stl)", 0, 0},
      {"split", 0, OPTION_FLAG, &o.split, NULL,
       "treat connected parts of a surface one by one: OUT_1, OUT_2, ...", 0, 0},
      {"repair", 0, OPTION_FLAG, &o.repair, NULL,
       "turn triangles over that face against their neighbours", 0, 0},
      MODEL_OPTIONS(&o.model),
  };
  const command self = {
      .name = "mesh",
      .summary = "what is wrong with a model; tets from a surface; one format from another",
      .usage = "mesh IN [-o OUT] [--size H] [--unit UNIT] [--up AXIS]",
      .about =
          "Surfaces (OBJ, PLY, STL, glTF) are examined: open edges, mixed winding, parts,\n"
          "triangles that cross, volume lost in the tets, a better size. Tet files (VTU, VTK,\n"
          "MSH, MESH, INP, NODE/ELE) are checked and converted. Output is in metres, y up.\n",
      .examples =
          "  yawara mesh bunny.obj -o bunny.vtu --size 0.05\n"
          "  yawara mesh part.stl --unit mm --up z -o part.vtu\n"
          "  yawara mesh cow.obj --size 0.1 --near 0.4,0.3,0=0.02   # smaller tets at the head\n"
          "  yawara mesh bar.msh -o bar.node\n"
          "  yawara mesh many.obj --split -o parts/one.obj   # a file per part, for one body "
          "each\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 1};
  int32_t count;
  int code = parse_options(&self, argc, argv, &o.input, &count);
  if (code < 0) code = model_options_check(&o.model);
  if (code >= 0) return code;
  yw_error error = {0};
  model_data model;
  yw_status status = read_model(&o, &model, &error);
  if (status > 0) printf("warning: %s\n", error.message);
  if (status >= 0) status = mesh_sizes_read(&o.sizes, o.input, &o.model, &error);
  if (status >= 0) status = treat_model(&o, &model, &error);
  mesh_sizes_free(&o.sizes);
  free_model(&model);
  return status < 0 ? bad_input("%s", error.message) : EXIT_DONE;
}
