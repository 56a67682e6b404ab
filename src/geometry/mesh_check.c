// SPDX-License-Identifier: MIT
// Quality of a tet mesh, and whether it can be simulated at all.
#include "geometry/tet_math.h"
#include "math/small/trig.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// A tet whose volume is below this fraction of its longest edge cubed counts as flat: that is what
// single precision leaves of a tet in a plane.
#define FLAT_VOLUME 1e-8

static const double degrees_per_radian = 57.29577951308232;

static bool arrays_are_sane(const yw_tet_mesh* mesh) {
  return mesh != NULL && mesh->num_vertices >= 0 && mesh->num_tets >= 0 &&
         (mesh->num_vertices == 0 || mesh->positions != NULL) &&
         (mesh->num_tets == 0 || mesh->tets != NULL);
}

static bool tet_in_range(const yw_tet_mesh* mesh, int32_t tet) {
  const int32_t* v = mesh->tets + 4 * (size_t)tet;
  for (int k = 0; k < 4; ++k) {
    if (v[k] < 0 || v[k] >= mesh->num_vertices) return false;
  }
  return true;
}

// Quality -----------------------------------------------------------------------------------------

// Root of a vertex in the union-find forest; halves the path on the way.
static int32_t part_root(int32_t* parent, int32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

// Parts are connected by shared vertices; vertices of no tet are ignored.
static int32_t count_parts(const yw_tet_mesh* mesh, int32_t* parent) {
  for (int32_t i = 0; i < mesh->num_vertices; ++i) parent[i] = -1;
  int32_t parts = 0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    for (int k = 0; k < 4; ++k) {
      if (parent[v[k]] < 0) parent[v[k]] = v[k], ++parts;
      int32_t a = part_root(parent, v[0]), b = part_root(parent, v[k]);
      if (a == b) continue;
      // The lower number becomes the root; paths stay short without ranks.
      if (a < b) {
        parent[b] = a;
      } else {
        parent[a] = b;
      }
      --parts;
    }
  }
  return parts;
}

yw_status yw_tet_mesh_quality(const yw_tet_mesh* mesh, yw_tet_quality* out) {
  if (out == NULL) return YW_ERR_INVALID;
  *out = (yw_tet_quality){0};
  if (!arrays_are_sane(mesh)) return YW_ERR_INVALID;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    if (!tet_in_range(mesh, t)) return YW_ERR_INVALID;
  }
  if (mesh->num_tets == 0) return YW_OK;

  yw_allocator mem = yw_mem_or_default(&mesh->mem);
  int32_t* parent = YW_NEW_ARRAY(&mem, int32_t, mesh->num_vertices);
  if (parent == NULL) return YW_ERR_MEMORY;
  double largest = -1.0, smallest = 1.0, sum_min = 0.0, volume = 0.0;
  double min_volume = INFINITY, max_volume = -INFINITY;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(mesh, t, p);
    double v = yw_tet_volume6(p) / 6.0, high, low;
    yw_tet_dihedral_cosines(p, &high, &low);
    volume += v;
    if (v < min_volume) min_volume = v;
    if (v > max_volume) max_volume = v;
    if (high > largest) largest = high;
    if (low < smallest) smallest = low;
    sum_min += yw_acos(high);
  }
  out->min_dihedral = (float)(yw_acos(largest) * degrees_per_radian);
  out->max_dihedral = (float)(yw_acos(smallest) * degrees_per_radian);
  out->mean_min_dihedral = (float)(sum_min / mesh->num_tets * degrees_per_radian);
  out->min_volume = (float)min_volume;
  out->max_volume = (float)max_volume;
  out->volume = volume;
  out->num_parts = count_parts(mesh, parent);
  yw_mem_free(&mem, parent);
  return YW_OK;
}

// Check -------------------------------------------------------------------------------------------

static yw_status check_positions(const yw_tet_mesh* mesh, yw_error* error) {
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 p = mesh->positions[i];
    if (!yw_is_finite3(p)) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "vertex %d is at (%g, %g, %g), but positions must be finite", i, (double)p.x,
                     (double)p.y, (double)p.z);
    }
  }
  return YW_OK;
}

static yw_status check_indices(const yw_tet_mesh* mesh, yw_error* error) {
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    for (int k = 0; k < 4; ++k) {
      if (v[k] < 0 || v[k] >= mesh->num_vertices) {
        return yw_fail(error, YW_ERR_GEOMETRY,
                       "tet %d names vertex %d, but vertices are numbered 0 to %d", t, v[k],
                       mesh->num_vertices - 1);
      }
      for (int m = 0; m < k; ++m) {
        if (v[k] != v[m]) continue;
        return yw_fail(error, YW_ERR_GEOMETRY,
                       "tet %d names vertex %d twice (%d, %d, %d, %d); its four vertices must "
                       "differ",
                       t, v[k], v[0], v[1], v[2], v[3]);
      }
    }
  }
  return YW_OK;
}

static yw_status check_volumes(const yw_tet_mesh* mesh, yw_error* error) {
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(mesh, t, p);
    double volume6 = yw_tet_volume6(p), edge = yw_tet_longest_edge(p);
    if (volume6 > 6.0 * FLAT_VOLUME * edge * edge * edge) continue;
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    bool flat = volume6 >= -6.0 * FLAT_VOLUME * edge * edge * edge;
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "tet %d (%d, %d, %d, %d) is %s: volume %g m^3 with a longest edge of %g m, but "
                   "the volume must be positive; %s",
                   t, v[0], v[1], v[2], v[3], flat ? "flat" : "inverted", volume6 / 6.0, edge,
                   flat ? "remove the tet or move its vertices" : "swap two of its vertices");
  }
  return YW_OK;
}

static yw_status check_used(const yw_tet_mesh* mesh, const yw_allocator* mem, yw_error* error) {
  unsigned char* used = YW_NEW_ARRAY(mem, unsigned char, mesh->num_vertices);
  if (used == NULL) return yw_fail_memory(error, "the check of a tet mesh");
  for (size_t n = 0; n < 4 * (size_t)mesh->num_tets; ++n) used[mesh->tets[n]] = 1;
  yw_status status = YW_OK;
  for (int32_t i = 0; i < mesh->num_vertices && status == YW_OK; ++i) {
    if (used[i]) continue;
    status = yw_fail(error, YW_ERR_GEOMETRY,
                     "vertex %d belongs to no tet, so nothing would hold it; remove it", i);
  }
  yw_mem_free(mem, used);
  return status;
}

static void sorted_tet(const yw_tet_mesh* mesh, int32_t tet, int32_t out[4]) {
  const int32_t* v = mesh->tets + 4 * (size_t)tet;
  for (int k = 0; k < 4; ++k) {
    int m = k;
    for (; m > 0 && out[m - 1] > v[k]; --m) out[m] = out[m - 1];
    out[m] = v[k];
  }
}

static yw_status check_duplicates(const yw_tet_mesh* mesh, const yw_allocator* mem,
                                  yw_error* error) {
  size_t capacity = 16;
  while (capacity < 2 * (size_t)mesh->num_tets) capacity *= 2;
  int32_t* table = YW_NEW_ARRAY(mem, int32_t, capacity);  // tet + 1, 0 for an empty slot
  if (table == NULL) return yw_fail_memory(error, "the check of a tet mesh");
  yw_status status = YW_OK;
  for (int32_t t = 0; t < mesh->num_tets && status == YW_OK; ++t) {
    int32_t key[4], other[4];
    sorted_tet(mesh, t, key);
    uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)key[0] << 32 | (uint64_t)key[1]);
    h = yw_hash_u64(h, (uint64_t)key[2] << 32 | (uint64_t)key[3]);
    size_t slot = (size_t)h & (capacity - 1);
    for (; table[slot] != 0; slot = (slot + 1) & (capacity - 1)) {
      sorted_tet(mesh, table[slot] - 1, other);
      if (key[0] != other[0] || key[1] != other[1] || key[2] != other[2] || key[3] != other[3]) {
        continue;
      }
      status = yw_fail(error, YW_ERR_GEOMETRY,
                       "tet %d has the same vertices (%d, %d, %d, %d) as tet %d; remove one", t,
                       key[0], key[1], key[2], key[3], table[slot] - 1);
      break;
    }
    table[slot] = t + 1;
  }
  yw_mem_free(mem, table);
  return status;
}

yw_status yw_tet_mesh_check(const yw_tet_mesh* mesh, yw_error* error) {
  yw_error_clear(error);
  if (!arrays_are_sane(mesh)) {
    return yw_fail(error, YW_ERR_INVALID, "a tet mesh needs arrays of positions and tets");
  }
  if (mesh->num_vertices == 0 || mesh->num_tets == 0) {
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "the mesh has %d vertices and %d tets, but needs at least 4 and 1",
                   mesh->num_vertices, mesh->num_tets);
  }
  yw_allocator mem = yw_mem_or_default(&mesh->mem);
  yw_status status = check_positions(mesh, error);
  if (status == YW_OK) status = check_indices(mesh, error);
  if (status == YW_OK) status = check_volumes(mesh, error);
  if (status == YW_OK) status = check_used(mesh, &mem, error);
  if (status == YW_OK) status = check_duplicates(mesh, &mem, error);
  return status;
}
