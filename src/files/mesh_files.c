// SPDX-License-Identifier: MIT
// Mesh files by extension.
#include <string.h>

#include "files/mesh_formats.h"
#include "yawara/extend/ply_write.h"
#include "yawara/extend/vtu_write.h"
#include "yawara/files.h"

typedef bool (*reader)(yw_scan* scan, yw_mesh_build* build);

// TetGen's file pair is handled separately.
static const struct {
  const char* ending;
  reader read;
} formats[] = {{".obj", yw_read_obj},    {".ply", yw_read_ply},
               {".stl", yw_read_stl},    {".msh", yw_read_gmsh},
               {".vtk", yw_read_vtk},    {".vtu", yw_read_vtu},
               {".mesh", yw_read_medit}, {".meshb", yw_read_medit_binary},
               {".inp", yw_read_abaqus}, {".gltf", yw_read_gltf},
               {".glb", yw_read_gltf}};

#define ENDINGS ".obj, .ply, .stl, .node/.ele, .msh, .vtk, .vtu, .mesh, .meshb, .inp, .gltf or .glb"

// The last dot of the file name and what follows; "" without one.
static const char* ending_of(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* dot = strrchr(slash ? slash : path, '.');
  return dot ? dot : "";
}

static bool has_ending(const char* path, const char* ending) {
  const char* found = ending_of(path);
  return yw_span_is((yw_span){found, found + strlen(found)}, ending);
}

// What files that are no models are for, and how to get a model from them.
static const struct {
  const char *endings, *advice;
} strangers[] = {
    {".mhd .mha .vti",
     "a grid of numbers, which scenes read for stiffness, sizes and other values that change from "
     "place to place (\"grid\": { \"file\": ... }), has no surface. For a model of what it shows, "
     "take a contour of it elsewhere (ParaView: Contour, Save Data as PLY or STL)"},
    {".nrrd .nhdr .nii .dcm .raw .vdb",
     "a grid of numbers has no surface: take a contour of it elsewhere (3D Slicer, ParaView) and "
     "save that as STL, PLY or OBJ"},
    {".fbx .dae .3ds .blend .abc .usd .usda .usdc .usdz .x3d .wrl .off .3mf .c4d .max .ma .mb",
     "not read: open it in Blender or MeshLab and save it as OBJ, PLY, STL or GLB"},
    {".step .stp .iges .igs .brep .fcstd .dwg .dxf .sldprt",
     "a CAD model, whose curved faces are not read: save it as STL there, or as tets (.msh) with "
     "Gmsh"},
};

static const char* advice_for(const char* ending) {
  size_t length = strlen(ending);
  for (size_t n = 0; n < sizeof strangers / sizeof strangers[0]; ++n) {
    for (const char* at = strangers[n].endings; *at; at += strcspn(at, " "), at += *at == ' ') {
      yw_span word = {ending, ending + length};
      char one[16] = "";
      memcpy(one, at, strcspn(at, " "));
      if (yw_span_is(word, one)) return strangers[n].advice;
    }
  }
  return NULL;
}

static yw_status fail_ending(const char* path, const char* expected, yw_error* error) {
  const char* name = yw_file_short_name(path);
  const char* ending = ending_of(path);
  if (*ending == '\0')
    return yw_fail(error, YW_ERR_INVALID, "%s: has no ending, expected %s", name, expected);
  return yw_fail(error, YW_ERR_INVALID, "%s: unknown ending \"%.20s\", expected %s", name, ending,
                 expected);
}

static yw_status fail_reading(const char* path, const char* expected, yw_error* error) {
  const char* ending = ending_of(path);
  const char* advice = *ending ? advice_for(ending) : NULL;
  if (!advice) return fail_ending(path, expected, error);
  return yw_fail(error, YW_ERR_INVALID, "%s: %s", yw_file_short_name(path), advice);
}

static yw_status fail_writing(const char* path, const char* expected, yw_error* error) {
  for (size_t n = 0; n < sizeof formats / sizeof formats[0]; ++n) {
    if (!has_ending(path, formats[n].ending)) continue;
    return yw_fail(error, YW_ERR_INVALID, "%s: \"%s\" is read, but not written here; expected %s",
                   yw_file_short_name(path), formats[n].ending, expected);
  }
  return fail_ending(path, expected, error);
}

// The same name with another extension, in capitals if the old one is.
static char* replace_ending(const char* path, const char* ending, const yw_allocator* mem) {
  const char* old = ending_of(path);
  size_t kept = (size_t)(old - path), length = strlen(ending);
  char* name = YW_NEW_ARRAY(mem, char, kept + length + 1);
  if (!name) return NULL;
  memcpy(name, path, kept);
  bool capitals = old[1] >= 'A' && old[1] <= 'Z';
  for (size_t i = 0; i < length; ++i)
    name[kept + i] = (char)(capitals && ending[i] >= 'a' ? ending[i] - 32 : ending[i]);
  return name;
}

// Reading -----------------------------------------------------------------------------------------

static yw_status read_with(const char* path, reader read, yw_mesh_build* build, yw_error* error) {
  yw_file_data data;
  yw_status status = yw_file_read_all(path, 0, &build->mem, &data, error);
  if (status != YW_OK) return status;
  yw_scan scan;
  yw_scan_init(&scan, path, data.bytes, data.size, error);
  // Some editors begin text with a mark of its encoding, which is no part of the first word.
  if (data.size >= 3 && memcmp(data.bytes, "\xef\xbb\xbf", 3) == 0) scan.at = scan.mark += 3;
  build->path = path;
  if (data.size == 0)
    status = yw_fail(error, YW_ERR_FORMAT, "%s: the file is empty", scan.name);
  else if (!read(&scan, build))
    status = scan.status != YW_OK ? scan.status : YW_ERR_FORMAT;
  build->path = NULL;
  yw_file_data_free(&data);
  return status;
}

static bool read_tets_and_finish(yw_scan* scan, yw_mesh_build* build) {
  return yw_read_tetgen_tets(scan, build) && yw_build_finish(build, scan);
}

static yw_status read_tetgen(const char* path, bool nodes_only, yw_mesh_build* build,
                             yw_error* error) {
  char* node_path = replace_ending(path, ".node", &build->mem);
  char* ele_path = replace_ending(path, ".ele", &build->mem);
  yw_status status = YW_OK;
  if (!node_path || !ele_path) status = yw_fail_memory(error, "a file name");
  if (status == YW_OK) status = read_with(node_path, yw_read_tetgen_nodes, build, error);
  if (status == YW_OK && !nodes_only) {
    const char* slash = strrchr(node_path, '/');
    build->vertex_file = slash ? slash + 1 : node_path;
    status = read_with(ele_path, read_tets_and_finish, build, error);
    build->vertex_file = NULL;
  }
  yw_mem_free(&build->mem, node_path);
  yw_mem_free(&build->mem, ele_path);
  return status;
}

static yw_status read_any(const char* path, bool positions_only, yw_mesh_build* build,
                          yw_error* error) {
  if (has_ending(path, ".node") || has_ending(path, ".ele"))
    return read_tetgen(path, positions_only, build, error);
  for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i)
    if (has_ending(path, formats[i].ending)) return read_with(path, formats[i].read, build, error);
  return fail_reading(path, ENDINGS, error);
}

yw_status yw_tri_mesh_read(const char* path, const yw_allocator* mem, yw_tri_mesh* out,
                           yw_error* error) {
  if (!path || !out) return yw_fail(error, YW_ERR_INVALID, "yw_tri_mesh_read: a pointer is NULL");
  memset(out, 0, sizeof *out);
  yw_mesh_build build;
  yw_mesh_build_init(&build, mem);
  yw_status status = read_any(path, false, &build, error);
  if (status == YW_OK) status = yw_build_take_triangles(&build, path, out, error);
  yw_mesh_build_free(&build);
  return status;
}

void yw_mesh_look_free(yw_mesh_look* look) {
  yw_mem_free(&look->mem, look->uvs);
  yw_mem_free(&look->mem, look->corners);
  yw_mem_free(&look->mem, look->materials);
  yw_mem_free(&look->mem, look->normals);
  yw_mem_free(&look->mem, look->normal_corners);
  for (int32_t i = 0; look->names && i < look->num_materials; ++i) {
    yw_mem_free(&look->mem, look->names[i]);
  }
  yw_mem_free(&look->mem, look->names);
  *look = (yw_mesh_look){0};
}

yw_status yw_mesh_look_read(const char* path, const yw_allocator* mem, yw_tri_mesh* out,
                            yw_mesh_look* look, yw_error* error) {
  if (!path || !out || !look)
    return yw_fail(error, YW_ERR_INVALID, "yw_mesh_look_read: a pointer is NULL");
  memset(out, 0, sizeof *out);
  *look = (yw_mesh_look){0};
  bool ply = has_ending(path, ".ply");
  if (!ply && !has_ending(path, ".gltf") && !has_ending(path, ".glb"))
    return fail_reading(path, ".gltf, .glb or .ply", error);
  yw_mesh_build build;
  yw_mesh_build_init(&build, mem);
  build.with_look = true;
  yw_status status = read_with(path, ply ? yw_read_ply : yw_read_gltf, &build, error);
  if (status == YW_OK) status = yw_build_take_look(&build, path, out, look, error);
  if (status < 0) yw_mesh_look_free(look);
  yw_mesh_build_free(&build);
  return status;
}

yw_status yw_painted_mesh_read(const char* path, const char* attribute, const yw_allocator* mem,
                               yw_tri_mesh* out, float** out_values, yw_error* error) {
  if (!path || !attribute || !out || !out_values)
    return yw_fail(error, YW_ERR_INVALID, "yw_painted_mesh_read: a pointer is NULL");
  memset(out, 0, sizeof *out);
  *out_values = NULL;
  if (!has_ending(path, ".ply")) return fail_reading(path, ".ply", error);
  yw_mesh_build build;
  yw_mesh_build_init(&build, mem);
  build.attribute = attribute;
  yw_status status = read_with(path, yw_read_ply, &build, error);
  if (status == YW_OK) status = yw_build_take_triangles(&build, path, out, error);
  if (status == YW_OK && build.painted.count != out->num_vertices) {
    yw_tri_mesh_free(out);
    status = yw_fail(error, YW_ERR_FORMAT, "%s: vertices appear twice", yw_file_short_name(path));
  }
  if (status == YW_OK) {
    *out_values = build.painted.items;
    build.painted.items = NULL;
  }
  yw_mesh_build_free(&build);
  return status;
}

yw_status yw_tet_mesh_read(const char* path, const yw_allocator* mem, yw_tet_mesh* out,
                           yw_error* error) {
  if (!path || !out) return yw_fail(error, YW_ERR_INVALID, "yw_tet_mesh_read: a pointer is NULL");
  memset(out, 0, sizeof *out);
  yw_mesh_build build;
  yw_mesh_build_init(&build, mem);
  yw_status status = read_any(path, false, &build, error);
  if (status == YW_OK) status = yw_build_take_tets(&build, path, out, error);
  yw_mesh_build_free(&build);
  return status;
}

yw_status yw_positions_read(const char* path, const yw_allocator* mem, yw_vec3** out,
                            int32_t* count, yw_error* error) {
  if (!path || !out || !count)
    return yw_fail(error, YW_ERR_INVALID, "yw_positions_read: a pointer is NULL");
  *out = NULL;
  *count = 0;
  yw_mesh_build build;
  yw_mesh_build_init(&build, mem);
  yw_status status = read_any(path, true, &build, error);
  if (status == YW_OK) status = yw_build_take_positions(&build, path, out, count, error);
  yw_mesh_build_free(&build);
  return status;
}

// Writing -----------------------------------------------------------------------------------------

void yw_put_u32_le(unsigned char* out, uint32_t value) {
  for (int32_t i = 0; i < 4; ++i) out[i] = (unsigned char)(value >> (8 * i));
}
void yw_put_u32_be(unsigned char* out, uint32_t value) {
  for (int32_t i = 0; i < 4; ++i) out[3 - i] = (unsigned char)(value >> (8 * i));
}
static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
void yw_put_float_le(unsigned char* out, float value) { yw_put_u32_le(out, bits_of(value)); }
void yw_put_float_be(unsigned char* out, float value) { yw_put_u32_be(out, bits_of(value)); }

// A mesh built by the caller may refer to vertices it does not have.
static yw_status check_indices(const int32_t* indices, int64_t count, int32_t num_vertices,
                               const char* path, yw_error* error) {
  for (int64_t i = 0; i < count; ++i)
    if (indices[i] < 0 || indices[i] >= num_vertices)
      return yw_fail(error, YW_ERR_INVALID,
                     "%s: cannot be written: the mesh refers to vertex %d, but has %d vertices",
                     yw_file_short_name(path), indices[i], num_vertices);
  return YW_OK;
}

yw_status yw_tri_mesh_write(const char* path, const yw_tri_mesh* mesh, yw_error* error) {
  if (!path || !mesh) return yw_fail(error, YW_ERR_INVALID, "yw_tri_mesh_write: a pointer is NULL");
  yw_status status = check_indices(mesh->triangles, 3 * (int64_t)mesh->num_triangles,
                                   mesh->num_vertices, path, error);
  if (status != YW_OK) return status;
  if (has_ending(path, ".vtu")) return yw_vtu_write_triangles(path, mesh, error);
  bool obj = has_ending(path, ".obj"), ply = has_ending(path, ".ply");
  if (!obj && !ply && !has_ending(path, ".stl"))
    return fail_writing(path, ".obj, .ply, .stl or .vtu for a surface", error);
  yw_file_writer file;
  status = yw_file_writer_open(&file, path, &mesh->mem, error);
  if (status != YW_OK) return status;
  if (obj)
    yw_write_obj(&file, mesh);
  else if (ply)
    yw_ply_put(&file, mesh, NULL, 0);
  else
    yw_write_stl(&file, mesh);
  return yw_file_writer_commit(&file, error);
}

// Both files are completed before either is renamed.
static yw_status write_tetgen(const char* path, const yw_tet_mesh* mesh, yw_error* error) {
  char* node_path = replace_ending(path, ".node", &mesh->mem);
  char* ele_path = replace_ending(path, ".ele", &mesh->mem);
  yw_file_writer nodes = {0}, tets = {0};
  yw_status status = node_path && ele_path ? YW_OK : yw_fail_memory(error, "a file name");
  if (status == YW_OK) status = yw_file_writer_open(&nodes, node_path, &mesh->mem, error);
  if (status == YW_OK) status = yw_file_writer_open(&tets, ele_path, &mesh->mem, error);
  if (status == YW_OK) {
    yw_write_tetgen_nodes(&nodes, mesh);
    yw_write_tetgen_tets(&tets, mesh);
    status = yw_file_writer_finish(&nodes, error);
    if (status == YW_OK) status = yw_file_writer_finish(&tets, error);
    if (status == YW_OK) status = yw_file_writer_commit(&nodes, error);
    if (status == YW_OK) status = yw_file_writer_commit(&tets, error);
  }
  yw_file_writer_abort(&nodes);
  yw_file_writer_abort(&tets);
  yw_mem_free(&mesh->mem, node_path);
  yw_mem_free(&mesh->mem, ele_path);
  return status;
}

yw_status yw_tet_mesh_write(const char* path, const yw_tet_mesh* mesh, yw_error* error) {
  if (!path || !mesh) return yw_fail(error, YW_ERR_INVALID, "yw_tet_mesh_write: a pointer is NULL");
  yw_status status =
      check_indices(mesh->tets, 4 * (int64_t)mesh->num_tets, mesh->num_vertices, path, error);
  if (status != YW_OK) return status;
  if (has_ending(path, ".node") || has_ending(path, ".ele")) return write_tetgen(path, mesh, error);
  if (has_ending(path, ".vtu")) return yw_vtu_write_tets(path, mesh, error);
  bool gmsh = has_ending(path, ".msh");
  if (!gmsh && !has_ending(path, ".mesh"))
    return fail_writing(path, ".node/.ele, .vtu, .msh or .mesh for tets", error);
  yw_file_writer file;
  status = yw_file_writer_open(&file, path, &mesh->mem, error);
  if (status != YW_OK) return status;
  if (gmsh)
    status = yw_write_gmsh(&file, mesh, error);
  else
    yw_write_medit(&file, mesh);
  if (status == YW_OK) return yw_file_writer_commit(&file, error);
  yw_file_writer_abort(&file);
  return status;
}
