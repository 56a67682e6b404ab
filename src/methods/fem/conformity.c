// SPDX-License-Identifier: MIT
// Checks that tets meet face to face, which midpoints of shared edges rely on.
#include <stdlib.h>

#include "geometry/mesh_faces.h"
#include "geometry/order.h"
#include "methods/fem/hierarchy.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// A vertex this close to a face, relative to the face's longest edge, is on it.
#define ON_FACE 1e-5
// Barycentric coordinates below this count as being on the face's corner or edge.
#define AT_CORNER 1e-4

typedef struct along_x {
  float x;
  int32_t vertex;
} along_x;

// The faces that one tet alone has, and their vertices.
typedef struct boundary {
  const yw_tet_mesh* mesh;
  int32_t* partner;  ///< per face: that of the tet beyond; negative: none
  yw_vertex_tets around;
  bool* seen;
  along_x* sorted;
  int32_t count;
} boundary;

static int compare_x(const void* a, const void* b) {
  const along_x *l = a, *r = b;
  if (l->x != r->x) return l->x < r->x ? -1 : 1;
  return (l->vertex > r->vertex) - (l->vertex < r->vertex);
}

static yw_status check_partners(const yw_tet_mesh* mesh, const int32_t* partner, yw_error* error) {
  for (int32_t f = 0; f < 4 * mesh->num_tets; ++f) {
    if (partner[f] < 0 || partner[partner[f]] == f) continue;
    int32_t v[3];
    yw_tet_face_vertices(mesh, f, v);
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "more than two tets share the face (%d, %d, %d), among them tets %d and %d; "
                   "tets must not overlap",
                   v[0], v[1], v[2], partner[f] / 4, f / 4);
  }
  return YW_OK;
}

static bool is_in_plane(const yw_dvec3 t[3], yw_dvec3 p) {
  yw_dvec3 e = yw_dsub(t[1], t[0]), f = yw_dsub(t[2], t[0]), n = yw_dcross(e, f);
  double area2 = yw_dlength(n), longest = fmax(yw_dlength(e), yw_dlength(f));
  longest = fmax(longest, yw_dlength(yw_dsub(t[2], t[1])));
  return area2 > 0.0 && fabs(yw_ddot(yw_dsub(p, t[0]), n)) <= ON_FACE * longest * area2;
}

// True if p is in the triangle, edges included, but not at a corner.
static bool is_inside_face(const yw_dvec3 t[3], yw_dvec3 p) {
  if (!is_in_plane(t, p)) return false;
  yw_dvec3 e = yw_dsub(t[1], t[0]), f = yw_dsub(t[2], t[0]), d = yw_dsub(p, t[0]);
  yw_dvec3 n = yw_dcross(e, f);
  double area2 = yw_dlength(n);
  double b1 = yw_ddot(yw_dcross(d, f), n) / (area2 * area2);
  double b2 = yw_ddot(yw_dcross(e, d), n) / (area2 * area2);
  double b0 = 1.0 - b1 - b2, low = fmin(b0, fmin(b1, b2)), high = fmax(b0, fmax(b1, b2));
  return low > -ON_FACE && high < 1.0 - AT_CORNER;
}

// Whether a boundary face with this vertex lies in the plane of another: tets that should be joined
// there have one. Parts of a body that merely touch with a vertex do not.
static bool lies_against(const boundary* b, const yw_dvec3 t[3], int32_t vertex) {
  const yw_tet_mesh* mesh = b->mesh;
  for (size_t n = 4 * b->around.start[vertex]; n < 4 * b->around.start[vertex + 1]; ++n) {
    int32_t f = 4 * b->around.tets[n / 4] + (int32_t)(n % 4), v[3];
    yw_tet_face_vertices(mesh, f, v);
    bool flat = b->partner[f] < 0 && (v[0] == vertex || v[1] == vertex || v[2] == vertex);
    for (int k = 0; k < 3 && flat; ++k) flat = is_in_plane(t, yw_d3(mesh->positions[v[k]]));
    if (flat) return true;
  }
  return false;
}

// Looks for boundary vertices on one boundary face, among vertices sorted along x.
static int32_t vertex_on_face(const boundary* b, const int32_t face[3]) {
  const yw_vec3* x = b->mesh->positions;
  yw_dvec3 t[3];
  double low = INFINITY, high = -INFINITY;
  for (int k = 0; k < 3; ++k) {
    t[k] = yw_d3(x[face[k]]);
    low = fmin(low, t[k].x);
    high = fmax(high, t[k].x);
  }
  double margin = ON_FACE * (yw_dlength(yw_dsub(t[1], t[0])) + yw_dlength(yw_dsub(t[2], t[0])));
  int32_t begin = 0, end = b->count;
  while (begin < end) {
    int32_t middle = begin + (end - begin) / 2;
    if ((double)b->sorted[middle].x < low - margin) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  for (int32_t i = begin; i < b->count && (double)b->sorted[i].x <= high + margin; ++i) {
    int32_t v = b->sorted[i].vertex;
    if (v == face[0] || v == face[1] || v == face[2]) continue;
    if (is_inside_face(t, yw_d3(x[v])) && lies_against(b, t, v)) return v;
  }
  return -1;
}

// Sorts the vertices of boundary faces along x.
static void sort_boundary(boundary* b) {
  for (int32_t f = 0; f < 4 * b->mesh->num_tets; ++f) {
    if (b->partner[f] >= 0) continue;
    int32_t v[3];
    yw_tet_face_vertices(b->mesh, f, v);
    for (int k = 0; k < 3; ++k) {
      if (b->seen[v[k]]) continue;
      b->seen[v[k]] = true;
      b->sorted[b->count++] = (along_x){b->mesh->positions[v[k]].x, v[k]};
    }
  }
  qsort(b->sorted, (size_t)b->count, sizeof *b->sorted, compare_x);
}

static yw_status check_boundary(const boundary* b, yw_error* error) {
  for (int32_t f = 0; f < 4 * b->mesh->num_tets; ++f) {
    if (b->partner[f] >= 0) continue;
    int32_t v[3];
    yw_tet_face_vertices(b->mesh, f, v);
    int32_t on = vertex_on_face(b, v);
    if (on < 0) continue;
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "vertex %d lies inside the face (%d, %d, %d) of tet %d, which does not have it "
                   "as a corner; tets must meet face to face",
                   on, v[0], v[1], v[2], f / 4);
  }
  return YW_OK;
}

yw_status yw_fem_check_conformity(const yw_allocator* mem, const yw_tet_mesh* mesh,
                                  yw_error* error) {
  if (mesh->num_tets > INT32_MAX / 4) {
    return yw_fail(error, YW_ERR_LIMIT, "%d tets are too many to subdivide", mesh->num_tets);
  }
  boundary b = {.mesh = mesh};
  b.partner = YW_NEW_ARRAY(mem, int32_t, 4 * (size_t)mesh->num_tets);
  b.seen = YW_NEW_ARRAY(mem, bool, mesh->num_vertices);
  b.sorted = YW_NEW_ARRAY(mem, along_x, mesh->num_vertices);
  bool ready = b.partner && b.seen && b.sorted && yw_vertex_tets_create(mem, mesh, &b.around);
  yw_status status = ready ? yw_tet_face_partners(mem, mesh, b.partner) : YW_ERR_MEMORY;
  if (status < 0) {
    yw_fail_memory(error, "the check of a mesh");
  } else {
    status = check_partners(mesh, b.partner, error);
    if (status >= 0) sort_boundary(&b);
    if (status >= 0) status = check_boundary(&b, error);
  }
  yw_mem_free(mem, b.partner);
  yw_mem_free(mem, b.seen);
  yw_mem_free(mem, b.sorted);
  yw_vertex_tets_free(mem, &b.around);
  return status;
}
