// SPDX-License-Identifier: MIT
// Parts and Euler characteristic of solids: tet meshes, and shapes sampled on a grid.
#ifndef YW_TESTS_SUPPORT_SOLID_TOPOLOGY_H
#define YW_TESTS_SUPPORT_SOLID_TOPOLOGY_H

#include "support/testing.h"
#include "yawara/extend/vec.h"
#include "yawara/shape.h"

/// Parts, and parts - tunnels + cavities.
typedef struct solid_topology {
  int parts, euler;
} solid_topology;

// Tets --------------------------------------------------------------------------------------------

typedef struct simplex_key {
  int32_t v[3];
} simplex_key;

static inline int compare_simplices(const void* a, const void* b) {
  return memcmp(a, b, sizeof(simplex_key));
}

static inline int count_distinct(simplex_key* keys, int count) {
  qsort(keys, (size_t)count, sizeof *keys, compare_simplices);
  int distinct = 0;
  for (int n = 0; n < count; ++n) distinct += n == 0 || compare_simplices(&keys[n], &keys[n - 1]);
  return distinct;
}

static inline simplex_key sorted_simplex(int32_t a, int32_t b, int32_t c) {
  if (a > b) {
    int32_t t = a;
    a = b;
    b = t;
  }
  if (b > c) {
    int32_t t = b;
    b = c;
    c = t;
  }
  if (a > b) {
    int32_t t = a;
    a = b;
    b = t;
  }
  return (simplex_key){{a, b, c}};
}

static inline solid_topology topology_of_tets(const yw_tet_mesh* mesh) {
  yw_tet_quality quality;
  assert_int_equal(yw_tet_mesh_quality(mesh, &quality), YW_OK);
  simplex_key* edges = malloc(6 * (size_t)mesh->num_tets * sizeof *edges);
  simplex_key* faces = malloc(4 * (size_t)mesh->num_tets * sizeof *faces);
  int num_edges = 0, num_faces = 0;
  for (int t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    for (int a = 0; a < 4; ++a) {
      faces[num_faces++] = sorted_simplex(v[a], v[(a + 1) & 3], v[(a + 2) & 3]);
      for (int b = a + 1; b < 4; ++b) edges[num_edges++] = sorted_simplex(v[a], v[b], -1);
    }
  }
  int euler = mesh->num_vertices - count_distinct(edges, num_edges) +
              count_distinct(faces, num_faces) - mesh->num_tets;
  free(edges);
  free(faces);
  return (solid_topology){quality.num_parts, euler};
}

// Grids -------------------------------------------------------------------------------------------

/// side^3 voxels with an empty border.
typedef struct voxels {
  int side;
  float size;  ///< of a voxel, m
  unsigned char* filled;
} voxels;

static inline size_t voxel_index(const voxels* v, int x, int y, int z) {
  return (size_t)x + (size_t)v->side * ((size_t)y + (size_t)v->side * (size_t)z);
}

static inline voxels voxels_of_shape(const yw_shape* shape, int side) {
  yw_aabb box;
  assert_true(yw_shape_bounds(shape, &box));
  yw_vec3 extent = yw_sub(box.upper, box.lower);
  float longest = fmaxf(extent.x, fmaxf(extent.y, extent.z));
  // Eight empty voxels on each side leave room to grow.
  voxels v = {side, longest / (float)(side - 16), calloc((size_t)side * side * side, 1)};
  yw_vec3 first = yw_mad(box.lower, -8.0f * v.size, yw_v3(1, 1, 1));
  for (int z = 1; z < side - 1; ++z) {
    for (int y = 1; y < side - 1; ++y) {
      for (int x = 1; x < side - 1; ++x) {
        yw_vec3 steps = yw_v3((float)x + 0.48f, (float)y + 0.49f, (float)z + 0.52f);
        v.filled[voxel_index(&v, x, y, z)] =
            yw_shape_distance(shape, yw_mad(first, v.size, steps)) < 0;
      }
    }
  }
  return v;
}

/// All voxels within `radius` of a voxel of the given state get that state.
static inline voxels spread_voxels(const voxels* in, unsigned char state, float radius) {
  voxels out = {in->side, in->size, malloc((size_t)in->side * in->side * in->side)};
  memcpy(out.filled, in->filled, (size_t)in->side * in->side * in->side);
  int reach = (int)ceilf(radius / in->size), n = in->side;
  float limit = radius / in->size;
  for (int z = 1; z < n - 1; ++z) {
    for (int y = 1; y < n - 1; ++y) {
      for (int x = 1; x < n - 1; ++x) {
        if (in->filled[voxel_index(in, x, y, z)] != state) continue;
        bool border = false;
        for (int k = 0; k < 6; ++k) {
          int d[3] = {0, 0, 0};
          d[k / 2] = k & 1 ? 1 : -1;
          border = border || in->filled[voxel_index(in, x + d[0], y + d[1], z + d[2])] != state;
        }
        if (!border) continue;
        for (int dz = -reach; dz <= reach; ++dz) {
          for (int dy = -reach; dy <= reach; ++dy) {
            for (int dx = -reach; dx <= reach; ++dx) {
              if ((float)(dx * dx + dy * dy + dz * dz) > limit * limit) continue;
              int at[3] = {x + dx, y + dy, z + dz};
              if (at[0] < 1 || at[1] < 1 || at[2] < 1) continue;
              if (at[0] > n - 2 || at[1] > n - 2 || at[2] > n - 2) continue;
              out.filled[voxel_index(&out, at[0], at[1], at[2])] = state;
            }
          }
        }
      }
    }
  }
  return out;
}

/// Parts are joined by faces, edges or corners of voxels, as in the Euler characteristic.
static inline int count_voxel_parts(const voxels* v) {
  size_t total = (size_t)v->side * v->side * v->side;
  unsigned char* seen = calloc(total, 1);
  size_t* stack = malloc(total * sizeof *stack);
  int parts = 0, n = v->side;
  for (size_t start = 0; start < total; ++start) {
    if (!v->filled[start] || seen[start]) continue;
    size_t count = 0;
    stack[count++] = start;
    seen[start] = 1;
    ++parts;
    while (count > 0) {
      size_t at = stack[--count];
      for (int k = 0; k < 27; ++k) {
        size_t next = at + (size_t)(k % 3) - 1 + ((size_t)(k / 3 % 3) - 1) * (size_t)n +
                      ((size_t)(k / 9) - 1) * (size_t)n * (size_t)n;
        if (!v->filled[next] || seen[next]) continue;
        seen[next] = 1;
        stack[count++] = next;
      }
    }
  }
  free(seen);
  free(stack);
  return parts;
}

/// Whether one of the voxels around an element is filled: at (x, y, z), lower by one on the axes in
/// `span`.
static inline bool any_voxel(const voxels* v, int x, int y, int z, int span) {
  for (int k = 0; k < 8; ++k) {
    if (k & ~span) continue;
    if (v->filled[voxel_index(v, x - (k & 1), y - (k >> 1 & 1), z - (k >> 2))]) return true;
  }
  return false;
}

static inline solid_topology topology_of_voxels(const voxels* v) {
  int euler = 0;
  for (int z = 1; z < v->side; ++z) {
    for (int y = 1; y < v->side; ++y) {
      for (int x = 1; x < v->side; ++x) {
        // A corner touches voxels on both sides of three axes, an edge of two, a face of one.
        for (int span = 0; span < 8; ++span) {
          int axes = (span & 1) + (span >> 1 & 1) + (span >> 2);
          if (any_voxel(v, x, y, z, span)) euler += axes % 2 ? 1 : -1;
        }
      }
    }
  }
  return (solid_topology){count_voxel_parts(v), euler};
}

/// The topology of a shape, as far as it does not depend on details smaller than `detail`, or three
/// voxels: false if it does.
static inline bool topology_of_shape(const yw_shape* shape, int side, float detail,
                                     solid_topology* out) {
  voxels v = voxels_of_shape(shape, side);
  detail = fmaxf(detail, 3.0f * v.size);
  voxels thin = spread_voxels(&v, 0, 0.5f * detail), thick = spread_voxels(&v, 1, 0.5f * detail);
  *out = topology_of_voxels(&v);
  solid_topology a = topology_of_voxels(&thin), b = topology_of_voxels(&thick);
  free(v.filled);
  free(thin.filled);
  free(thick.filled);
  return a.parts == out->parts && a.euler == out->euler && b.parts == out->parts &&
         b.euler == out->euler;
}

#endif
