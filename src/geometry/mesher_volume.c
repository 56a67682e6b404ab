// SPDX-License-Identifier: MIT
// Vertices on the surface make tets that cut off what is convex and fill what is hollow: 2 to 5 %
// of the volume of a slim model with few tets. A surface of flat triangles with the right volume
// lies on both sides of the shape's.
//
// Every vertex of the boundary moves so that the triangles around it are on average where the
// surface is, one patch of the surface like another, so that what is round stays round. Several
// planes at a sharp edge are all met, by least squares, so edges stay sharp and flat faces flat.
#include "geometry/mesh_faces.h"
#include "geometry/mesher.h"
#include "geometry/mesher_rounded.h"
#include "geometry/order.h"
#include "yawara/extend/memory.h"

#define ROUNDS 3
#define LEAST_DAMPING 1e-3  // of the planes around a vertex; flat ones leave two directions free
#define FARTHEST 0.25       // of the shortest edge at a vertex, per round
#define HALVINGS 2          // of a step that makes bad tets
#define POOR_COSINE 0.9659  // 15 degrees (or 165): tets that are better may become as bad
#define UNDO_REACH 0.5      // sizes
#define UNDO_ROUNDS 4       // of what moved into other tets
#define SAME_PATCH 0.7071   // cosine between neighbours that bend into each other; not an edge
#define SMOOTHINGS 2        // large and small triangles of a ball would make it bumpy

// Planes around a vertex: the least squares of sum area (n u - gap)^2.
typedef struct planes {
  double a[6];  // xx xy xz yy yz zz
  yw_dvec3 b;
  double area;
  double shortest2;  // m^2, of the edges on the boundary
} planes;

// A face of the boundary.
typedef struct facet {
  int32_t v[3];
  yw_dvec3 normal;
  double area;      // twice
  double gap, sum;  // m, mean distance to the surface, outwards; and while it is smoothed
} facet;

typedef struct settler {
  const yw_shape* shape;
  yw_tet_mesh* mesh;
  const yw_allocator* mem;
  int32_t num_faces;
  facet* faces;
  int32_t *start, *list;  ///< the faces of every vertex
  planes* at;             ///< per vertex
  yw_vec3* old;           ///< positions before
  yw_vertex_tets around;
} settler;

// Faces of the boundary ---------------------------------------------------------------------------

static yw_status list_faces(settler* s) {
  const yw_tet_mesh* mesh = s->mesh;
  int32_t* partner = YW_NEW_ARRAY(s->mem, int32_t, 4 * (size_t)mesh->num_tets + 1);
  s->faces = YW_NEW_ARRAY(s->mem, facet, 4 * (size_t)mesh->num_tets + 1);
  yw_status status = partner && s->faces ? YW_OK : YW_ERR_MEMORY;
  if (status == YW_OK) status = yw_tet_face_partners(s->mem, mesh, partner);
  for (int32_t f = 0; status == YW_OK && f < 4 * mesh->num_tets; ++f) {
    if (partner[f] < 0) yw_tet_face_vertices(mesh, f, s->faces[s->num_faces++].v);
  }
  yw_mem_free(s->mem, partner);
  return status;
}

static yw_status list_faces_of_vertices(settler* s) {
  int32_t num_vertices = s->mesh->num_vertices;
  s->start = YW_NEW_ARRAY(s->mem, int32_t, num_vertices + 2);
  s->list = YW_NEW_ARRAY(s->mem, int32_t, 3 * (size_t)s->num_faces + 1);
  if (!s->start || !s->list) return YW_ERR_MEMORY;
  // Counted one place further on: filling moves the starts back to where they belong.
  int32_t* next = s->start + 1;
  for (int32_t f = 0; f < s->num_faces; ++f) {
    for (int k = 0; k < 3; ++k) {
      if (s->faces[f].v[k] + 1 < num_vertices) next[s->faces[f].v[k] + 1]++;
    }
  }
  for (int32_t i = 1; i < num_vertices; ++i) next[i] += next[i - 1];
  for (int32_t f = 0; f < s->num_faces; ++f) {
    for (int k = 0; k < 3; ++k) s->list[next[s->faces[f].v[k]]++] = f;
  }
  return YW_OK;
}

// Middles of edges give the mean of a quadratic function exactly.
static double mean_gap(const settler* s, const yw_dvec3 p[3]) {
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    yw_dvec3 middle = yw_dscale(yw_dadd(p[k], p[(k + 1) % 3]), 0.5);
    sum -= (double)yw_shape_distance(s->shape, yw_f3(middle));
  }
  return sum / 3.0;
}

static void add_plane(planes* at, double area, yw_dvec3 n, double gap) {
  const double product[6] = {n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z};
  for (int k = 0; k < 6; ++k) at->a[k] += area * product[k];
  at->b = yw_dmad(at->b, area * gap, n);
  at->area += area;
}

static void measure_faces(settler* s) {
  for (int32_t f = 0; f < s->num_faces; ++f) {
    facet* face = &s->faces[f];
    yw_dvec3 p[3];
    for (int k = 0; k < 3; ++k) p[k] = yw_d3(s->mesh->positions[face->v[k]]);
    yw_dvec3 n = yw_dcross(yw_dsub(p[1], p[0]), yw_dsub(p[2], p[0]));
    face->area = yw_dlength(n);
    face->gap = mean_gap(s, p);
    face->normal = face->area > 0.0 ? yw_dscale(n, 1.0 / face->area) : n;
  }
}

// Gaps of a patch that bends become those of the faces around: a large triangle of a ball is
// farther inside than a small one.
static void smooth_gaps(settler* s) {
  for (int32_t f = 0; f < s->num_faces; ++f) {
    facet* face = &s->faces[f];
    double sum = 0.0, area = 0.0;
    for (int k = 0; k < 3; ++k) {
      for (int32_t n = s->start[face->v[k]]; n < s->start[face->v[k] + 1]; ++n) {
        const facet* other = &s->faces[s->list[n]];
        if (!(yw_ddot(face->normal, other->normal) > SAME_PATCH)) continue;
        sum += other->area * other->gap;
        area += other->area;
      }
    }
    face->sum = area > 0.0 ? sum / area : face->gap;
  }
  for (int32_t f = 0; f < s->num_faces; ++f) s->faces[f].gap = s->faces[f].sum;
}

static void gather_planes(settler* s) {
  for (int32_t i = 0; i < s->mesh->num_vertices; ++i) s->at[i] = (planes){.shortest2 = INFINITY};
  measure_faces(s);
  for (int n = 0; n < SMOOTHINGS; ++n) smooth_gaps(s);
  for (int32_t f = 0; f < s->num_faces; ++f) {
    const facet* face = &s->faces[f];
    if (!(face->area > 0.0)) continue;
    for (int k = 0; k < 3; ++k) {
      int32_t i = face->v[k], next = face->v[(k + 1) % 3];
      yw_dvec3 edge = yw_dsub(yw_d3(s->mesh->positions[next]), yw_d3(s->mesh->positions[i]));
      planes *a = &s->at[i], *b = &s->at[next];
      add_plane(a, face->area, face->normal, face->gap);
      a->shortest2 = fmin(a->shortest2, yw_ddot(edge, edge));
      b->shortest2 = fmin(b->shortest2, yw_ddot(edge, edge));
    }
  }
}

// Moves -------------------------------------------------------------------------------------------

static yw_dvec3 least_squares(const planes* at) {
  double damping = LEAST_DAMPING * at->area;
  yw_dvec3 x = {at->a[0] + damping, at->a[1], at->a[2]},
           y = {at->a[1], at->a[3] + damping, at->a[4]},
           z = {at->a[2], at->a[4], at->a[5] + damping};
  yw_dvec3 yz = yw_dcross(y, z), zx = yw_dcross(z, x), xy = yw_dcross(x, y);
  double inv = 1.0 / yw_ddot(x, yz);
  // The matrix is symmetric: rows of its inverse are these over the determinant.
  yw_dvec3 u = {inv * yw_ddot(yz, at->b), inv * yw_ddot(zx, at->b), inv * yw_ddot(xy, at->b)};
  double length = yw_dlength(u), most = FARTHEST * sqrt(at->shortest2);
  return length > most ? yw_dscale(u, most / length) : u;
}

// The largest absolute cosine of the dihedral angles of a tet; 2 if it is turned over.
static double badness(const settler* s, const yw_vec3* positions, int32_t tet) {
  yw_dvec3 p[4];
  double largest, smallest;
  for (int k = 0; k < 4; ++k) p[k] = yw_d3(positions[s->mesh->tets[4 * (size_t)tet + (size_t)k]]);
  if (!(yw_tet_volume6(p) > 0.0)) return 2.0;
  yw_tet_dihedral_cosines(p, &largest, &smallest);
  return fmax(largest, -smallest);
}

static double badness_around(const settler* s, int32_t vertex) {
  double worst = 0.0;
  for (size_t n = s->around.start[vertex]; n < s->around.start[vertex + 1]; ++n) {
    worst = fmax(worst, badness(s, s->mesh->positions, s->around.tets[n]));
  }
  return worst;
}

static void move_vertex(settler* s, int32_t i) {
  if (!(s->at[i].area > 0.0)) return;
  yw_dvec3 u = least_squares(&s->at[i]);
  yw_vec3* x = &s->mesh->positions[i];
  yw_vec3 before = *x;
  double limit = fmax(badness_around(s, i), POOR_COSINE);
  for (int n = 0; n <= HALVINGS; ++n, u = yw_dscale(u, 0.5)) {
    *x = yw_f3(yw_dadd(yw_d3(before), u));
    if (badness_around(s, i) <= limit) return;
  }
  *x = before;
}

// Vertices of the tets that are marked go back, and those of tets which that makes bad.
static void undo(settler* s, unsigned char* marked) {
  yw_tet_mesh* mesh = s->mesh;
  for (bool more = true; more;) {
    for (size_t n = 0; n < 4 * (size_t)mesh->num_tets; ++n) {
      if (marked[n / 4]) mesh->positions[mesh->tets[n]] = s->old[mesh->tets[n]];
    }
    more = false;
    for (int32_t t = 0; t < mesh->num_tets; ++t) {
      double limit = fmax(badness(s, s->old, t), POOR_COSINE);
      if (marked[t] || badness(s, mesh->positions, t) <= limit) continue;
      marked[t] = 1;
      more = true;
    }
  }
}

// Parts of the surface that are close to each other may have met: they go back.
static yw_status undo_overlaps(settler* s) {
  yw_tet_mesh* mesh = s->mesh;
  unsigned char* suspect = YW_NEW_ARRAY(s->mem, unsigned char, 2 * (size_t)mesh->num_tets + 1);
  if (suspect == NULL) return YW_ERR_MEMORY;
  unsigned char* overlapping = suspect + mesh->num_tets;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    for (int k = 0; k < 4; ++k) suspect[t] |= s->at[mesh->tets[4 * (size_t)t + (size_t)k]].area > 0;
  }
  yw_status status = YW_OK;
  for (int round = 0; round <= UNDO_ROUNDS && status == YW_OK; ++round) {
    int32_t count = 0;
    for (int32_t t = 0; t < mesh->num_tets; ++t) overlapping[t] = 0;
    status = yw_tet_overlaps(mesh, suspect, overlapping, &count);
    if (status != YW_OK || count == 0) break;
    for (int32_t t = 0; t < mesh->num_tets && round == UNDO_ROUNDS; ++t) overlapping[t] = 1;
    undo(s, overlapping);
  }
  yw_mem_free(s->mem, suspect);
  return status;
}

// Edges of boxes that lost their place beside something curved go back.
static yw_status undo_rounded(settler* s, double size) {
  yw_tet_mesh* mesh = s->mesh;
  yw_places places = {0};
  int32_t count = 0;
  unsigned char* marked = YW_NEW_ARRAY(s->mem, unsigned char, mesh->num_tets + 1);
  yw_status status = marked != NULL ? YW_OK : YW_ERR_MEMORY;
  if (status == YW_OK) status = yw_list_rounded(s->mem, s->shape, mesh, size, &places, &count);
  for (int32_t n = 0; n < 4 * mesh->num_tets && status == YW_OK; ++n) {
    yw_vec3 x = mesh->positions[mesh->tets[n]];
    for (int32_t i = 0; i < places.count; ++i) {
      if ((double)yw_distance(x, places.items[i]) < UNDO_REACH * size) marked[n / 4] = 1;
    }
  }
  if (status == YW_OK && count > 0) undo(s, marked);
  YW_LIST_FREE(s->mem, &places);
  yw_mem_free(s->mem, marked);
  return status;
}

yw_status yw_mesher_settle(const yw_shape* shape, double size, yw_tet_mesh* mesh) {
  settler s = {.shape = shape, .mesh = mesh, .mem = &mesh->mem};
  s.at = YW_NEW_ARRAY(s.mem, planes, mesh->num_vertices + 1);
  s.old = YW_NEW_ARRAY(s.mem, yw_vec3, mesh->num_vertices + 1);
  bool ready = yw_vertex_tets_create(s.mem, mesh, &s.around) && s.at && s.old;
  yw_status status = ready ? list_faces(&s) : YW_ERR_MEMORY;
  if (status == YW_OK) status = list_faces_of_vertices(&s);
  for (int32_t i = 0; status == YW_OK && i < mesh->num_vertices; ++i) s.old[i] = mesh->positions[i];
  for (int round = 0; round < ROUNDS && status == YW_OK; ++round) {
    gather_planes(&s);
    for (int32_t i = 0; i < mesh->num_vertices; ++i) move_vertex(&s, i);
  }
  if (status == YW_OK) status = undo_overlaps(&s);
  if (status == YW_OK) status = undo_rounded(&s, size);
  yw_vertex_tets_free(s.mem, &s.around);
  yw_mem_free(s.mem, s.faces);
  yw_mem_free(s.mem, s.start);
  yw_mem_free(s.mem, s.list);
  yw_mem_free(s.mem, s.at);
  yw_mem_free(s.mem, s.old);
  return status;
}
