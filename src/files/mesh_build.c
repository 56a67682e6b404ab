// SPDX-License-Identifier: MIT
#include "files/mesh_build.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "files/mesh_polygon.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"

void yw_mesh_build_init(yw_mesh_build* build, const yw_allocator* mem) {
  memset(build, 0, sizeof *build);
  build->mem = yw_mem_or_default(mem);
  build->worst_index = -1;
}

void yw_mesh_build_free(yw_mesh_build* build) {
  YW_LIST_FREE(&build->mem, &build->positions);
  YW_LIST_FREE(&build->mem, &build->colors);
  YW_LIST_FREE(&build->mem, &build->corners);
  YW_LIST_FREE(&build->mem, &build->sizes);
  YW_LIST_FREE(&build->mem, &build->tets);
  YW_LIST_FREE(&build->mem, &build->labels);
  YW_LIST_FREE(&build->mem, &build->painted);
  YW_LIST_FREE(&build->mem, &build->uvs);
  YW_LIST_FREE(&build->mem, &build->corner_uvs);
  YW_LIST_FREE(&build->mem, &build->normals);
  YW_LIST_FREE(&build->mem, &build->materials);
  for (int32_t i = 0; i < build->names.count; ++i) yw_mem_free(&build->mem, build->names.items[i]);
  YW_LIST_FREE(&build->mem, &build->names);
}

// Adding ------------------------------------------------------------------------------------------

// A larger double becomes an infinite float.
#define LARGEST 0x1.ffffffp127

// Nearest float; values that round to the largest float may slightly exceed it.
static float to_float(double value) {
  double largest = (double)FLT_MAX;
  return (float)(value > largest ? largest : value < -largest ? -largest : value);
}

bool yw_build_position(yw_mesh_build* build, yw_scan* scan, const double p[3]) {
  for (int32_t k = 0; k < 3; ++k)
    if (!(fabs(p[k]) < LARGEST))
      return yw_scan_fail(scan,
                          "vertex %d has %c = %g, but positions must be finite (below 3.4e38)",
                          build->positions.count + build->index_base, "xyz"[k], p[k]);
  yw_vec3 position = {to_float(p[0]), to_float(p[1]), to_float(p[2])};
  return YW_PUSH(&build->mem, scan, &build->positions, position);
}

static float clamp01(double value) {
  return value > 0.0 ? value < 1.0 ? (float)value : 1.0f : 0.0f;
}

bool yw_build_color(yw_mesh_build* build, yw_scan* scan, const double rgb[3]) {
  while (build->colors.count < build->positions.count)
    if (!YW_PUSH(&build->mem, scan, &build->colors, ((yw_vec3){1.0f, 1.0f, 1.0f}))) return false;
  for (int32_t k = 0; k < 3; ++k)
    if (!isfinite(rgb[k]))
      return yw_scan_fail(scan, "vertex %d has a color of %g, but colors must be 0 to 1",
                          build->positions.count - 1 + build->index_base, rgb[k]);
  build->colors.items[build->colors.count - 1] =
      (yw_vec3){clamp01(rgb[0]), clamp01(rgb[1]), clamp01(rgb[2])};
  return true;
}

static bool note_index(yw_mesh_build* build, yw_scan* scan, int64_t index, const char* kind,
                       int64_t number) {
  if (index < 0)
    return yw_scan_fail(scan, "%s %" PRId64 " refers to vertex %" PRId64 ", but the first is %d",
                        kind, number, index + build->index_base, build->index_base);
  if (index > build->worst_index) {
    build->worst_index = index;
    build->worst_number = number;
    build->worst_kind = kind;
    build->worst_place = scan->mark;
  }
  return true;
}

// An index too large for 32 bits is recorded above and fails at the end.
static int32_t store_index(int64_t index) { return index > INT32_MAX ? INT32_MAX : (int32_t)index; }

bool yw_build_corner(yw_mesh_build* build, yw_scan* scan, int64_t index) {
  int64_t number = (int64_t)build->sizes.count + build->index_base;
  return note_index(build, scan, index, "face", number) &&
         YW_PUSH(&build->mem, scan, &build->corners, store_index(index));
}

bool yw_build_polygon_end(yw_mesh_build* build, yw_scan* scan, int32_t num_corners) {
  if (num_corners < 3)
    return yw_scan_fail(scan, "face %d has %d corners, but needs at least 3",
                        build->sizes.count + build->index_base, num_corners);
  return YW_PUSH(&build->mem, scan, &build->sizes, num_corners);
}

bool yw_build_tet(yw_mesh_build* build, yw_scan* scan, const int64_t corners[4]) {
  int64_t number = build->tets.count / 4 + build->index_base;
  for (int32_t k = 0; k < 4; ++k) {
    if (!note_index(build, scan, corners[k], "tet", number)) return false;
    if (!YW_PUSH(&build->mem, scan, &build->tets, store_index(corners[k]))) return false;
  }
  return true;
}

static bool pad_labels(yw_mesh_build* build, yw_scan* scan) {
  while (build->labels.count < build->tets.count / 4)
    if (!YW_PUSH(&build->mem, scan, &build->labels, 0)) return false;
  return true;
}

bool yw_build_label(yw_mesh_build* build, yw_scan* scan, int64_t label) {
  if (label < INT32_MIN || label > INT32_MAX)
    return yw_scan_fail(scan, "tet %d has the label %" PRId64 ", which does not fit 32 bits",
                        build->tets.count / 4 - 1 + build->index_base, label);
  if (!pad_labels(build, scan)) return false;
  build->labels.items[build->labels.count - 1] = (int32_t)label;
  return true;
}

void yw_build_curved(yw_mesh_build* build) {
  ++build->num_curved;
  build->drop_unused = true;
}

// Finishing ---------------------------------------------------------------------------------------

static bool check_indices(yw_mesh_build* build, yw_scan* scan) {
  int32_t count = build->positions.count, base = build->index_base;
  if (build->worst_index < count) return true;
  scan->mark = build->worst_place;
  const char* owner = build->vertex_file ? build->vertex_file : "the file";
  if (count == 0)
    return yw_scan_fail(scan, "%s %" PRId64 " refers to vertex %" PRId64 ", but %s has no vertices",
                        build->worst_kind, build->worst_number, build->worst_index + base, owner);
  return yw_scan_fail(
      scan, "%s %" PRId64 " refers to vertex %" PRId64 ", but %s has %d vertices (%d to %d)",
      build->worst_kind, build->worst_number, build->worst_index + base, owner, count, base,
      count - 1 + base);
}

static void turn_tets(yw_mesh_build* build) {
  const yw_vec3* x = build->positions.items;
  for (int32_t t = 0; t < build->tets.count; t += 4) {
    int32_t* v = build->tets.items + t;
    double e[3][3];
    for (int32_t k = 0; k < 3; ++k) {
      e[k][0] = (double)x[v[k + 1]].x - (double)x[v[0]].x;
      e[k][1] = (double)x[v[k + 1]].y - (double)x[v[0]].y;
      e[k][2] = (double)x[v[k + 1]].z - (double)x[v[0]].z;
    }
    double volume = (e[0][1] * e[1][2] - e[0][2] * e[1][1]) * e[2][0] +
                    (e[0][2] * e[1][0] - e[0][0] * e[1][2]) * e[2][1] +
                    (e[0][0] * e[1][1] - e[0][1] * e[1][0]) * e[2][2];
    if (volume < 0.0) {
      int32_t swap = v[2];
      v[2] = v[3];
      v[3] = swap;
    }
  }
}

bool yw_build_finish(yw_mesh_build* build, yw_scan* scan) {
  if (scan->status != YW_OK || !check_indices(build, scan)) return false;
  if (build->colors.count > 0)
    while (build->colors.count < build->positions.count)
      if (!YW_PUSH(&build->mem, scan, &build->colors, ((yw_vec3){1.0f, 1.0f, 1.0f}))) return false;
  if (build->labels.count > 0 && !pad_labels(build, scan)) return false;
  turn_tets(build);
  // Drop labels that are all equal to 0.
  bool any = false;
  for (int32_t t = 0; t < build->labels.count && !any; ++t) any = build->labels.items[t] != 0;
  if (!any) YW_LIST_FREE(&build->mem, &build->labels);
  return true;
}

// Handing over ------------------------------------------------------------------------------------

// Renumbers the vertices used by tets, or by faces if there are none, and compacts them.
static bool drop_unused(yw_mesh_build* build) {
  int32_t count = build->positions.count, used = 0;
  bool tets = build->tets.count > 0;
  int32_t num_corners = tets ? build->tets.count : build->corners.count;
  int32_t* corners = tets ? build->tets.items : build->corners.items;
  int32_t* new_of_old = YW_NEW_ARRAY(&build->mem, int32_t, count);
  if (!new_of_old) return false;
  for (int32_t i = 0; i < num_corners; ++i) new_of_old[corners[i]] = 1;
  for (int32_t i = 0; i < count; ++i) {
    if (!new_of_old[i]) continue;
    build->positions.items[used] = build->positions.items[i];
    if (build->colors.count) build->colors.items[used] = build->colors.items[i];
    new_of_old[i] = used++;
  }
  for (int32_t i = 0; i < num_corners; ++i) corners[i] = new_of_old[corners[i]];
  yw_mem_free(&build->mem, new_of_old);
  build->positions.count = used;
  if (build->colors.count) build->colors.count = used;
  if (!tets) return true;
  // Faces were for a surface; the tets' boundary replaces them.
  YW_LIST_FREE(&build->mem, &build->corners);
  YW_LIST_FREE(&build->mem, &build->sizes);
  return true;
}

static yw_status prepare(yw_mesh_build* build, const char* path, yw_error* error) {
  const char* name = yw_file_short_name(path);
  if (build->positions.count == 0)
    return yw_fail(error, YW_ERR_FORMAT, "%s: has no vertices", name);
  bool cells = build->tets.count > 0 || build->corners.count > 0;
  if (build->drop_unused && cells && !drop_unused(build)) return yw_fail_memory(error, name);
  return YW_OK;
}

// The status of a mesh that was taken: a warning if nodes were left out.
static yw_status finished(const yw_mesh_build* build, const char* path, yw_error* error) {
  if (build->num_curved == 0) return YW_OK;
  return yw_fail(error, YW_WARN_REDUNDANT,
                 "%s: %d cells are of second or higher order and are read as linear ones; nodes "
                 "on their edges are left out",
                 yw_file_short_name(path), build->num_curved);
}

// Takes the items out of a YW_LIST, reallocated to the exact size if much would be wasted.
static void* give(const yw_allocator* mem, void* list, size_t size) {
  struct {
    void* items;
    int32_t count, capacity;
  } taken;
  memcpy(&taken, list, sizeof taken);
  memset(list, 0, sizeof taken);
  if (taken.capacity - taken.count < taken.count / 8) return taken.items;
  size_t count = (size_t)taken.count;
  void* exact = yw_mem_resize(mem, taken.items, count, count, size);
  return exact ? exact : taken.items;
}
#define GIVE(build, list) give(&(build)->mem, (list), sizeof *(list)->items)

yw_status yw_build_take_tets(yw_mesh_build* build, const char* path, yw_tet_mesh* out,
                             yw_error* error) {
  memset(out, 0, sizeof *out);
  yw_status status = prepare(build, path, error);
  if (status != YW_OK) return status;
  const char* name = yw_file_short_name(path);
  if (build->num_other > 0)
    return yw_fail(error, YW_ERR_FORMAT, "%s: has %d %s beside %d tets, but only tets can be used",
                   name, build->num_other, build->other_name, build->tets.count / 4);
  if (build->tets.count == 0)
    return yw_fail(error, YW_ERR_FORMAT, "%s: has no tets (%d vertices, %d faces)%s", name,
                   build->positions.count, build->sizes.count,
                   build->sizes.count ? "; fill the surface with tets first" : "");
  out->mem = build->mem;
  out->num_vertices = build->positions.count;
  out->num_tets = build->tets.count / 4;
  bool labelled = build->labels.count > 0;
  out->positions = GIVE(build, &build->positions);
  out->tets = GIVE(build, &build->tets);
  if (labelled) out->labels = GIVE(build, &build->labels);
  return finished(build, path, error);
}

// Triangulates all polygons. Pure triangle meshes reuse the list of corners.
static bool triangulate(yw_mesh_build* build, int32_t** triangles, int32_t* count) {
  int64_t total = 0;
  int32_t largest = 0;
  for (int32_t i = 0; i < build->sizes.count; ++i) {
    total += build->sizes.items[i] - 2;
    if (build->sizes.items[i] > largest) largest = build->sizes.items[i];
  }
  if (total > INT32_MAX / 3) return false;
  *count = (int32_t)total;
  if (largest == 3) {
    *triangles = GIVE(build, &build->corners);
    return true;
  }
  *triangles = YW_NEW_ARRAY(&build->mem, int32_t, 3 * total);
  int32_t* scratch = YW_NEW_ARRAY(&build->mem, int32_t, largest);
  if (*triangles && scratch) {
    const int32_t* corners = build->corners.items;
    int32_t* out = *triangles;
    // Ear clipping is quadratic; a hostile file with huge polygons must not take hours.
    int64_t budget = 20000000 + 100 * (int64_t)build->corners.count;
    for (int32_t i = 0; i < build->sizes.count; ++i) {
      int32_t size = build->sizes.items[i];
      yw_polygon_triangles(build->positions.items, corners, size, &budget, scratch, out);
      corners += size;
      out += 3 * (size - 2);
    }
  }
  yw_mem_free(&build->mem, scratch);
  return *triangles && scratch;
}

static bool weld(yw_mesh_build* build) {
  int32_t* index_of = YW_NEW_ARRAY(&build->mem, int32_t, build->positions.count);
  if (!index_of) return false;
  int32_t count = yw_weld_positions(&build->mem, build->positions.items, build->positions.count,
                                    build->positions.items, index_of);
  if (count >= 0) {
    // Vertices are numbered by first appearance, and keep the color they had there.
    for (int32_t i = 0, next = 0; i < build->colors.count; ++i)
      if (index_of[i] == next) build->colors.items[next++] = build->colors.items[i];
    if (build->colors.count > 0) build->colors.count = count;
    build->positions.count = count;
    for (int32_t i = 0; i < build->corners.count; ++i)
      build->corners.items[i] = index_of[build->corners.items[i]];
  }
  yw_mem_free(&build->mem, index_of);
  return count >= 0;
}

yw_status yw_build_take_triangles(yw_mesh_build* build, const char* path, yw_tri_mesh* out,
                                  yw_error* error) {
  memset(out, 0, sizeof *out);
  if (build->tets.count > 0) {
    yw_tet_mesh tets;
    yw_status status = yw_build_take_tets(build, path, &tets, error);
    if (status < 0) return status;
    yw_status made = yw_tet_mesh_surface(&tets, &build->mem, out, NULL);
    if (made != YW_OK)
      status = yw_fail(error, made, "%s: the boundary of the tets cannot be made",
                       yw_file_short_name(path));
    yw_tet_mesh_free(&tets);
    return status;
  }
  yw_status status = prepare(build, path, error);
  if (status != YW_OK) return status;
  const char* name = yw_file_short_name(path);
  if (build->sizes.count == 0)
    return yw_fail(error, YW_ERR_FORMAT, "%s: has %d vertices but no faces", name,
                   build->positions.count);
  if (build->weld && !weld(build)) return yw_fail_memory(error, name);
  if (!triangulate(build, &out->triangles, &out->num_triangles)) {
    yw_mem_free(&build->mem, out->triangles);
    memset(out, 0, sizeof *out);
    return yw_fail_memory(error, name);
  }
  out->mem = build->mem;
  out->num_vertices = build->positions.count;
  bool colored = build->colors.count > 0;
  out->positions = GIVE(build, &build->positions);
  if (colored) out->colors = GIVE(build, &build->colors);
  return finished(build, path, error);
}

// Corners are numbers of vertices until equal ones are merged, and so of texture coordinates and
// normals.
static int32_t* copy_corners(yw_mesh_build* build) {
  size_t count = (size_t)build->corners.count;
  int32_t* out = YW_NEW_ARRAY(&build->mem, int32_t, count);
  if (out && count > 0) memcpy(out, build->corners.items, count * sizeof *out);
  return out;
}

static bool take_uvs(yw_mesh_build* build, yw_mesh_look* look) {
  look->corners = copy_corners(build);
  if (!look->corners) return false;
  look->num_uvs = build->positions.count;
  look->uvs = GIVE(build, &build->uvs);
  return true;
}

static bool take_normals(yw_mesh_build* build, yw_mesh_look* look) {
  look->normal_corners = copy_corners(build);
  if (!look->normal_corners) return false;
  look->num_normals = build->positions.count;
  look->normals = GIVE(build, &build->normals);
  return true;
}

// Equal texture coordinates share a number.
static bool merge_corners(yw_mesh_build* build, yw_mesh_look* look) {
  int32_t count = build->corners.count, merged = -1;
  yw_vec3* points = YW_NEW_ARRAY(&build->mem, yw_vec3, count);
  look->corners = YW_NEW_ARRAY(&build->mem, int32_t, count);
  look->uvs = YW_NEW_ARRAY(&build->mem, float, 2 * (size_t)count);
  if (points && look->corners && look->uvs) {
    const float* uv = build->corner_uvs.items;
    for (size_t i = 0; i < (size_t)count; ++i)
      points[i] = (yw_vec3){uv[2 * i], uv[2 * i + 1], 0.0f};
    merged = yw_weld_positions(&build->mem, points, count, points, look->corners);
    for (int32_t i = 0; i < merged; ++i) {
      look->uvs[2 * i] = points[i].x;
      look->uvs[2 * i + 1] = points[i].y;
    }
    look->num_uvs = merged;
  }
  yw_mem_free(&build->mem, points);
  return merged >= 0;
}

// Polygons are cut into triangles, which leaves no corners to go by.
static bool has_corner_uvs(const yw_mesh_build* build) {
  bool triangles = build->corner_uvs.count > 0;
  for (int32_t i = 0; triangles && i < build->sizes.count; ++i) {
    triangles = build->sizes.items[i] == 3;
  }
  return triangles;
}

yw_status yw_build_take_look(yw_mesh_build* build, const char* path, yw_tri_mesh* out,
                             yw_mesh_look* look, yw_error* error) {
  *look = (yw_mesh_look){.mem = build->mem};
  bool has_normals = build->normals.count > 0 && build->normals.count == build->positions.count;
  bool good = (!build->has_uvs || take_uvs(build, look)) &&
              (!has_normals || take_normals(build, look)) &&
              (!has_corner_uvs(build) || merge_corners(build, look));
  if (!good) return yw_fail_memory(error, yw_file_short_name(path));
  if (build->names.count > 0) {
    look->num_materials = build->names.count;
    look->names = GIVE(build, &build->names);
    look->materials = GIVE(build, &build->materials);
  }
  return yw_build_take_triangles(build, path, out, error);
}

yw_status yw_build_take_positions(yw_mesh_build* build, const char* path, yw_vec3** out,
                                  int32_t* count, yw_error* error) {
  *out = NULL;
  *count = 0;
  yw_status status = prepare(build, path, error);
  if (status != YW_OK) return status;
  *count = build->positions.count;
  *out = GIVE(build, &build->positions);
  return finished(build, path, error);
}

// Welding -----------------------------------------------------------------------------------------

// Hash table with open addressing. The seed depends on all the data, so no file can be crafted
// whose points all collide.
int32_t yw_weld_positions(const yw_allocator* mem, const yw_vec3* positions, int32_t count,
                          yw_vec3* out, int32_t* index_of) {
  size_t num_slots = 16;
  while (num_slots < 2 * (size_t)count) num_slots *= 2;
  int32_t* slots = YW_NEW_ARRAY(mem, int32_t, num_slots);  // index + 1
  if (!slots) return -1;
  uint64_t seed = yw_hash_bytes(YW_HASH_SEED, positions, (size_t)count * sizeof *positions);
  int32_t num_out = 0;
  for (int32_t i = 0; i < count; ++i) {
    // Adding 0 turns -0 into 0.
    yw_vec3 p = {positions[i].x + 0.0f, positions[i].y + 0.0f, positions[i].z + 0.0f};
    uint32_t bits[3];
    memcpy(bits, &p, sizeof bits);
    uint64_t hash = yw_hash_u64(yw_hash_u64(seed, (uint64_t)bits[0] << 32 | bits[1]), bits[2]);
    size_t slot = (size_t)hash & (num_slots - 1);
    while (slots[slot] && memcmp(&out[slots[slot] - 1], &p, sizeof p) != 0)
      slot = (slot + 1) & (num_slots - 1);
    if (!slots[slot]) {
      out[num_out] = p;
      slots[slot] = ++num_out;
    }
    index_of[i] = slots[slot] - 1;
  }
  yw_mem_free(mem, slots);
  return num_out;
}
