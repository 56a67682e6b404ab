// SPDX-License-Identifier: MIT
// glTF 2.0, text or binary: the triangles of the scene that is shown first, placed by their nodes,
// with the colors of their vertices and, where they are asked for, the first texture coordinates,
// normals and the names of materials. Morph targets, skins and cameras are ignored.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/gltf_data.h"
#include "files/mesh_formats.h"

#define CHUNK_JSON 0x4E4F534A
#define CHUNK_BINARY 0x004E4942

// Vertices and corners for every byte of the file, so that a mesh may be shown many times but a
// small file cannot fill the memory.
#define MOST_PER_BYTE 8

typedef struct node_visit {
  int64_t node;
  double matrix[12];  // three rows of four: from the node's parent to the world
} node_visit;

// Transforms --------------------------------------------------------------------------------------

static void multiply(const double a[12], const double b[12], double out[12]) {
  for (int32_t r = 0; r < 3; ++r)
    for (int32_t c = 0; c < 4; ++c)
      out[4 * r + c] = a[4 * r] * b[c] + a[4 * r + 1] * b[4 + c] + a[4 * r + 2] * b[8 + c] +
                       (c == 3 ? a[4 * r + 3] : 0.0);
}

static double determinant(const double m[12]) {
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
         m[2] * (m[4] * m[9] - m[5] * m[8]);
}

// A matrix (columns first), or a translation, rotation (x, y, z, w) and scale.
static bool local_matrix(yw_gltf* g, const yw_json* node, double out[12]) {
  double m[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  double t[3] = {0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
  if (!yw_gltf_numbers(g, node, "matrix", 16, m) ||
      !yw_gltf_numbers(g, node, "translation", 3, t) ||
      !yw_gltf_numbers(g, node, "rotation", 4, q) || !yw_gltf_numbers(g, node, "scale", 3, s))
    return false;
  for (int32_t r = 0; r < 3; ++r)
    for (int32_t c = 0; c < 4; ++c) out[4 * r + c] = m[4 * c + r];
  if (yw_json_get(node, "matrix")) return true;
  double x = q[0], y = q[1], z = q[2], w = q[3];
  double rotation[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                        2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                        2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
  for (int32_t r = 0; r < 3; ++r) {
    for (int32_t c = 0; c < 3; ++c) out[4 * r + c] = rotation[3 * r + c] * s[c];
    out[4 * r + 3] = t[r];
  }
  return true;
}

// Meshes ------------------------------------------------------------------------------------------

// Numbers of the vertices of a primitive.
typedef struct vertex_data {
  yw_gltf_accessor positions, colors, uvs, normals;
} vertex_data;

// glTF counts v from the top of a picture.
static bool add_uv(yw_gltf* g, const yw_gltf_accessor* uvs, int64_t i) {
  bool given = uvs->count > 0;
  float u = given ? (float)yw_gltf_value(uvs, i, 0) : 0.0f;
  float v = given ? (float)(1.0 - yw_gltf_value(uvs, i, 1)) : 0.0f;
  if (!isfinite(u) || !isfinite(v))
    return yw_scan_fail(g->scan, "texture coordinate %" PRId64 " is not finite", i);
  g->build->has_uvs |= given;
  return YW_PUSH(&g->build->mem, g->scan, &g->build->uvs, u) &&
         YW_PUSH(&g->build->mem, g->scan, &g->build->uvs, v);
}

// Turned by the inverse transpose of the matrix, whose columns are cross products of its rows, and
// the determinant's sign.
static bool add_normal(yw_gltf* g, const yw_gltf_accessor* normals, int64_t i, const double m[12]) {
  double n[3], out[3], sign = determinant(m) < 0.0 ? -1.0 : 1.0, length2 = 0.0;
  for (int32_t k = 0; k < 3; ++k) n[k] = yw_gltf_value(normals, i, k);
  for (int32_t r = 0; r < 3; ++r) {
    const double *a = m + 4 * ((r + 1) % 3), *b = m + 4 * ((r + 2) % 3);
    double cofactors[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                           a[0] * b[1] - a[1] * b[0]};
    out[r] = sign * (cofactors[0] * n[0] + cofactors[1] * n[1] + cofactors[2] * n[2]);
    length2 += out[r] * out[r];
  }
  // One that is no direction: the file has no normals.
  if (!(length2 > 0.0) || !isfinite(length2)) return true;
  double scale = 1.0 / sqrt(length2);
  yw_vec3 unit = {(float)(scale * out[0]), (float)(scale * out[1]), (float)(scale * out[2])};
  return YW_PUSH(&g->build->mem, g->scan, &g->build->normals, unit);
}

static bool add_vertices(yw_gltf* g, const vertex_data* data, const double m[12]) {
  const yw_gltf_accessor *positions = &data->positions, *colors = &data->colors;
  for (int64_t i = 0; i < positions->count; ++i) {
    double p[3], out[3], rgb[3];
    for (int32_t k = 0; k < 3; ++k) p[k] = yw_gltf_value(positions, i, k);
    for (int32_t r = 0; r < 3; ++r)
      out[r] = m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3];
    if (!yw_build_position(g->build, g->scan, out)) return false;
    for (int32_t k = 0; k < 3 && colors->count; ++k) rgb[k] = yw_gltf_value(colors, i, k);
    if (colors->count && !yw_build_color(g->build, g->scan, rgb)) return false;
    if (g->build->with_look && !add_uv(g, &data->uvs, i)) return false;
    if (data->normals.count && !add_normal(g, &data->normals, i, m)) return false;
  }
  return true;
}

// Triangles of a list (mode 4), strip (5) or fan (6). A mirrored node turns them over.
static bool add_triangles(yw_gltf* g, const yw_gltf_accessor* indices, int64_t count, int64_t mode,
                          int64_t num_vertices, int32_t material, bool mirrored) {
  int64_t first = g->build->positions.count - num_vertices;
  int64_t num_triangles = mode == 4 ? count / 3 : count > 2 ? count - 2 : 0;
  for (int64_t t = 0; t < num_triangles; ++t) {
    int64_t at[3] = {mode == 4 ? 3 * t : mode == 5 ? t : 0, 0, 0};
    at[1] = mode == 4 ? 3 * t + 1 : t + 1;
    at[2] = mode == 4 ? 3 * t + 2 : t + 2;
    bool turn = mirrored != (mode == 5 && t % 2 == 1);
    for (int32_t k = 0; k < 3; ++k) {
      int64_t place = at[turn && k > 0 ? 3 - k : k];
      int64_t index = indices->count ? (int64_t)yw_gltf_value(indices, place, 0) : place;
      if (index >= num_vertices)
        return yw_scan_fail(g->scan,
                            "a triangle refers to vertex %" PRId64
                            ", but its primitive has %" PRId64 " vertices",
                            index, num_vertices);
      if (!yw_build_corner(g->build, g->scan, first + index)) return false;
    }
    if (!yw_build_polygon_end(g->build, g->scan, 3)) return false;
    if (!g->build->with_look) continue;
    if (!YW_PUSH(&g->build->mem, g->scan, &g->build->materials, material)) return false;
  }
  return true;
}

// An attribute that a primitive may have, with its number of components.
static bool open_optional(yw_gltf* g, const yw_json* attributes, const char* key,
                          int32_t components, const char* name, int64_t num_vertices,
                          yw_gltf_accessor* out) {
  int64_t at;
  if (!yw_gltf_int(g, attributes, key, -1, &at)) return false;
  if (at < 0) return true;
  if (!yw_gltf_open(g, at, out)) return false;
  bool more = components == 3 && strcmp(key, "COLOR_0") == 0 && out->components == 4;
  if ((out->components == components || more) && out->count == num_vertices) return true;
  return yw_scan_fail(g->scan,
                      "a primitive has %" PRId64 " %s of %d components for %" PRId64 " vertices",
                      out->count, name, out->components, num_vertices);
}

static bool open_attributes(yw_gltf* g, const yw_json* primitive, vertex_data* out) {
  yw_gltf_accessor* positions = &out->positions;
  const yw_json* attributes = yw_json_get(primitive, "attributes");
  int64_t position;
  if (!yw_gltf_int(g, attributes, "POSITION", -1, &position)) return false;
  if (position < 0) return yw_scan_fail(g->scan, "a primitive without POSITION");
  if (!yw_gltf_open(g, position, positions)) return false;
  if (positions->components != 3)
    return yw_scan_fail(g->scan, "positions have %d components, but must have 3",
                        positions->components);
  int64_t count = positions->count;
  if (!open_optional(g, attributes, "COLOR_0", 3, "colors", count, &out->colors)) return false;
  return !g->build->with_look ||
         (open_optional(g, attributes, "TEXCOORD_0", 2, "texture coordinates", count, &out->uvs) &&
          open_optional(g, attributes, "NORMAL", 3, "normals", count, &out->normals));
}

static bool add_primitive(yw_gltf* g, const yw_json* primitive, const double matrix[12]) {
  vertex_data data = {0};
  yw_gltf_accessor indices = {0};
  int64_t mode, index, material;
  if (!yw_gltf_int(g, primitive, "mode", 4, &mode)) return false;
  if (mode < 4) return true;  // points and lines
  if (mode > 6) return yw_scan_fail(g->scan, "unknown mode %" PRId64 " of a primitive", mode);
  if (!open_attributes(g, primitive, &data) || !yw_gltf_int(g, primitive, "indices", -1, &index) ||
      !yw_gltf_int(g, primitive, "material", -1, &material))
    return false;
  if (material >= g->build->names.count) material = -1;
  if (index >= 0 && !yw_gltf_open(g, index, &indices)) return false;
  if (index >= 0 && (indices.components != 1 || yw_scalar_is_real(indices.type)))
    return yw_scan_fail(g->scan, "the indices of a primitive must be single whole numbers");
  int64_t num_vertices = data.positions.count, count = index >= 0 ? indices.count : num_vertices;
  uint64_t made = (uint64_t)g->build->positions.count + (uint64_t)g->build->corners.count;
  uint64_t room = (uint64_t)(g->scan->end - g->scan->begin) + g->total;
  if (made + (uint64_t)num_vertices + 3 * (uint64_t)count > MOST_PER_BYTE * room)
    return yw_scan_fail(g->scan, "the meshes are shown so often that they do not fit the memory");
  if (!add_vertices(g, &data, matrix)) return false;
  // An empty list of indices is no list.
  if (index >= 0 && count == 0) return true;
  return add_triangles(g, &indices, count, mode, num_vertices, (int32_t)material,
                       determinant(matrix) < 0.0);
}

static bool add_mesh(yw_gltf* g, int64_t index, const double matrix[12]) {
  const yw_json* mesh = yw_gltf_item(g, "meshes", index);
  const yw_json* primitives = mesh ? yw_json_get(mesh, "primitives") : NULL;
  int32_t count = primitives && primitives->type == YW_JSON_ARRAY ? primitives->count : 0;
  for (int32_t i = 0; i < count; ++i)
    if (!add_primitive(g, primitives->items[i], matrix)) return false;
  return mesh != NULL;
}

// Nodes -------------------------------------------------------------------------------------------

typedef struct node_stack {
  YW_LIST(node_visit) visits;
  unsigned char* seen;  // per node
  int32_t num_nodes;
} node_stack;

static bool push_nodes(yw_gltf* g, node_stack* stack, const yw_json* list,
                       const double matrix[12]) {
  int32_t count = list && list->type == YW_JSON_ARRAY ? list->count : 0;
  for (int32_t i = 0; i < count; ++i) {
    const yw_json* item = list->items[i];
    bool valid = item->type == YW_JSON_NUMBER && item->number >= 0.0 &&
                 item->number < (double)stack->num_nodes;
    node_visit visit = {.node = valid ? (int64_t)item->number : 0};
    if (!valid) return yw_scan_fail(g->scan, "a list of nodes names one that does not exist");
    if (stack->seen[visit.node])
      return yw_scan_fail(g->scan, "node %" PRId64 " has several parents", visit.node);
    stack->seen[visit.node] = 1;
    memcpy(visit.matrix, matrix, sizeof visit.matrix);
    if (!YW_PUSH(&g->build->mem, g->scan, &stack->visits, visit)) return false;
  }
  return true;
}

static bool visit_node(yw_gltf* g, node_stack* stack, const node_visit* visit) {
  static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  const yw_json* node = yw_gltf_item(g, "nodes", visit->node);
  double local[12], matrix[12];
  int64_t mesh;
  if (!node || !local_matrix(g, node, local) || !yw_gltf_int(g, node, "mesh", -1, &mesh))
    return false;
  multiply(visit->matrix, local, matrix);
  // Skinned meshes are placed by their bones, which rest where the mesh is.
  const double* place = yw_json_get(node, "skin") ? identity : matrix;
  if (mesh >= 0 && !add_mesh(g, mesh, place)) return false;
  return push_nodes(g, stack, yw_json_get(node, "children"), matrix);
}

static bool add_scene(yw_gltf* g) {
  static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  const yw_json* nodes = yw_json_get(g->root, "nodes");
  node_stack stack = {.num_nodes = nodes && nodes->type == YW_JSON_ARRAY ? nodes->count : 0};
  int64_t index;
  if (!yw_gltf_int(g, g->root, "scene", 0, &index)) return false;
  const yw_json* scene = yw_gltf_item(g, "scenes", index);
  if (!scene) return false;
  stack.seen = YW_NEW_ARRAY(&g->build->mem, unsigned char, stack.num_nodes);
  bool good = stack.seen ? push_nodes(g, &stack, yw_json_get(scene, "nodes"), identity)
                         : yw_scan_fail_memory(g->scan);
  while (good && stack.visits.count > 0) {
    node_visit visit = stack.visits.items[--stack.visits.count];
    good = visit_node(g, &stack, &visit);
  }
  YW_LIST_FREE(&g->build->mem, &stack.visits);
  yw_mem_free(&g->build->mem, stack.seen);
  return good;
}

// The file ----------------------------------------------------------------------------------------

// Extensions without which the triangles cannot be found.
static bool check_extensions(yw_gltf* g) {
  static const char* const names[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression",
                                      "EXT_mesh_gpu_instancing"};
  const yw_json* list = yw_json_get(g->root, "extensionsRequired");
  int32_t count = list && list->type == YW_JSON_ARRAY ? list->count : 0;
  for (int32_t i = 0; i < count; ++i)
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
      if (list->items[i]->type == YW_JSON_STRING && strcmp(list->items[i]->string, names[k]) == 0)
        return yw_scan_fail(g->scan,
                            "the file needs the extension %s, which cannot be read; save "
                            "it without",
                            names[k]);
  return true;
}

static bool read_names(yw_gltf* g) {
  const yw_json* list = yw_json_get(g->root, "materials");
  int32_t count = list && list->type == YW_JSON_ARRAY && g->build->with_look ? list->count : 0;
  for (int32_t i = 0; i < count; ++i) {
    const yw_json* name = yw_json_get(list->items[i], "name");
    bool given = name && name->type == YW_JSON_STRING;
    size_t size = given ? strlen(name->string) + 1 : 24;
    char* copy = YW_NEW_ARRAY(&g->build->mem, char, size);
    if (!copy) return yw_scan_fail_memory(g->scan);
    if (given) {
      memcpy(copy, name->string, size);
    } else {
      snprintf(copy, size, "material %d", i);
    }
    if (!YW_PUSH(&g->build->mem, g->scan, &g->build->names, copy)) {
      yw_mem_free(&g->build->mem, copy);
      return false;
    }
  }
  return true;
}

// Header and chunks of a binary file: the JSON, then the bytes of the first buffer.
static bool open_chunks(yw_gltf* g, yw_span* json) {
  yw_scan* scan = g->scan;
  int64_t version, length, type;
  scan->encoding = YW_LITTLE_ENDIAN;
  scan->at += 4;
  if (!yw_scan_int(scan, YW_UINT32, "the version", &version) ||
      !yw_scan_int(scan, YW_UINT32, "the length of the file", &length))
    return false;
  if (version != 2) return yw_scan_fail(scan, "version %" PRId64 " is not 2", version);
  if (length > scan->end - scan->begin)
    return yw_scan_fail(scan, "the file should have %" PRId64 " bytes, but has %zu", length,
                        (size_t)(scan->end - scan->begin));
  *json = (yw_span){0};
  while (yw_scan_left(scan) >= 8) {
    if (!yw_scan_int(scan, YW_UINT32, "the length of a chunk", &length) ||
        !yw_scan_int(scan, YW_UINT32, "the type of a chunk", &type))
      return false;
    if (length > (int64_t)yw_scan_left(scan))
      return yw_scan_fail(scan, "a chunk of %" PRId64 " bytes, but only %zu are left", length,
                          yw_scan_left(scan));
    yw_span chunk = {scan->at, scan->at + length};
    if (type == CHUNK_JSON && !json->begin) *json = chunk;
    if (type == CHUNK_BINARY && !g->binary.begin) g->binary = chunk;
    scan->at += length;
  }
  return json->begin || yw_scan_fail(scan, "the file has no JSON chunk");
}

static bool parse_json(yw_gltf* g, yw_span json) {
  yw_status status = yw_json_parse(&g->build->mem, g->scan->name, json.begin, yw_span_size(json),
                                   &g->doc, g->scan->error);
  if (status != YW_OK) {
    g->scan->status = status;
    return false;
  }
  g->root = yw_json_root(g->doc);
  const yw_json* version = yw_json_get(yw_json_get(g->root, "asset"), "version");
  return (version && version->type == YW_JSON_STRING && version->string[0] == '2') ||
         yw_scan_fail(g->scan, "the file is not glTF 2.0: asset.version is not \"2.0\"");
}

bool yw_read_gltf(yw_scan* scan, yw_mesh_build* build) {
  yw_gltf g = {.scan = scan, .build = build};
  yw_span json = {scan->begin, scan->end};
  bool binary = yw_scan_left(scan) >= 4 && memcmp(scan->at, "glTF", 4) == 0;
  // Vertices are repeated wherever normals or texture coordinates differ.
  build->weld = true;
  bool good = (!binary || open_chunks(&g, &json)) && parse_json(&g, json) && check_extensions(&g) &&
              read_names(&g) && yw_gltf_open_buffers(&g) && add_scene(&g);
  yw_gltf_close_buffers(&g);
  yw_json_free(g.doc);
  return good && yw_build_finish(build, scan);
}
