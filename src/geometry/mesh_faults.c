// SPDX-License-Identifier: MIT
// Tets that do not fit together, as they come from files: overlaps, vertices that were not merged,
// hanging vertices, pieces joined by an edge or a vertex only.
#include <stdarg.h>
#include <stdio.h>

#include "geometry/box_grid.h"
#include "geometry/mesh_faces.h"
#include "math/small/union_find.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Depths and distances below this fraction of an edge are rounding.
#define TOLERANCE 1e-4

typedef struct searcher {
  const yw_tet_mesh* mesh;
  yw_tet_faults* out;
  yw_allocator mem;
  int32_t* partner;  ///< per face
  yw_aabb* boxes;    ///< of tets or faces
  int32_t* faces;    ///< on the boundary
  int32_t num_faces;
  const unsigned char* suspect;  ///< per tet; NULL: all are
  unsigned char* overlapping;    ///< per tet; may be NULL
  int32_t self;                  ///< tet or vertex of the current query
  bool found;
} searcher;

static yw_aabb box_of(const yw_tet_mesh* mesh, const int32_t* v, int count) {
  yw_aabb box = yw_aabb_empty();
  for (int k = 0; k < count; ++k) box = yw_aabb_grow(box, mesh->positions[v[k]]);
  return box;
}

// Overlaps ----------------------------------------------------------------------------------------

// Whether the tets lie on both sides of a plane across the axis, or overlap by rounding only.
static bool axis_separates(const yw_dvec3 a[4], const yw_dvec3 b[4], yw_dvec3 axis, double slack) {
  double length = yw_dlength(axis);
  double low_a = INFINITY, high_a = -INFINITY, low_b = INFINITY, high_b = -INFINITY;
  if (!(length > 0.0)) return false;
  for (int k = 0; k < 4; ++k) {
    double x = yw_ddot(a[k], axis) / length, y = yw_ddot(b[k], axis) / length;
    low_a = fmin(low_a, x), high_a = fmax(high_a, x);
    low_b = fmin(low_b, y), high_b = fmax(high_b, y);
  }
  return fmin(high_a, high_b) - fmax(low_a, low_b) < slack;
}

static bool a_face_separates(const yw_dvec3 a[4], const yw_dvec3 b[4], double slack) {
  for (int k = 0; k < 4; ++k) {
    const unsigned char* v = yw_tet_faces[k];
    yw_dvec3 n = yw_dcross(yw_dsub(a[v[1]], a[v[0]]), yw_dsub(a[v[2]], a[v[0]]));
    if (axis_separates(a, b, n, slack)) return true;
  }
  return false;
}

static bool tets_overlap(const yw_dvec3 a[4], const yw_dvec3 b[4]) {
  static const unsigned char edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  double slack = TOLERANCE * fmin(yw_tet_longest_edge(a), yw_tet_longest_edge(b));
  if (a_face_separates(a, b, slack) || a_face_separates(b, a, slack)) return false;
  for (int m = 0; m < 6; ++m) {
    yw_dvec3 e = yw_dsub(a[edges[m][1]], a[edges[m][0]]);
    for (int n = 0; n < 6; ++n) {
      yw_dvec3 f = yw_dsub(b[edges[n][1]], b[edges[n][0]]), axis = yw_dcross(e, f);
      // Parallel edges give no axis, only rounding.
      if (yw_ddot(axis, axis) < 1e-12 * yw_ddot(e, e) * yw_ddot(f, f)) continue;
      if (axis_separates(a, b, axis, slack)) return false;
    }
  }
  return true;
}

static void meet_tet(void* context, int32_t other) {
  searcher* s = context;
  // Pairs are seen from both sides: the suspect's, or the lower number's.
  bool from_both = s->suspect == NULL || s->suspect[other];
  if (other == s->self || (from_both && other < s->self)) return;
  // Boxes that only touch are the common case.
  yw_vec3 low = yw_max3(s->boxes[s->self].lower, s->boxes[other].lower);
  yw_vec3 shared = yw_sub(yw_min3(s->boxes[s->self].upper, s->boxes[other].upper), low);
  yw_vec3 size = yw_sub(s->boxes[s->self].upper, s->boxes[s->self].lower);
  float least = 0.1f * (float)TOLERANCE * yw_length(size);
  if (shared.x < least || shared.y < least || shared.z < least) return;
  yw_dvec3 a[4], b[4];
  yw_tet_corners(s->mesh, s->self, a);
  yw_tet_corners(s->mesh, other, b);
  if (!tets_overlap(a, b)) return;
  if (s->overlapping != NULL) s->overlapping[s->self] = s->overlapping[other] = 1;
  if (s->out->num_overlaps++ == 0) s->out->overlap[0] = s->self, s->out->overlap[1] = other;
}

static yw_status find_overlaps(searcher* s) {
  const yw_tet_mesh* mesh = s->mesh;
  yw_box_grid grid;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    s->boxes[t] = box_of(mesh, mesh->tets + 4 * (size_t)t, 4);
  }
  yw_status status = yw_box_grid_create(&s->mem, mesh->num_tets, s->boxes, &grid);
  if (status != YW_OK) return status;
  for (s->self = 0; s->self < mesh->num_tets; ++s->self) {
    if (s->suspect != NULL && !s->suspect[s->self]) continue;
    yw_box_grid_query(&grid, s->boxes[s->self], meet_tet, s);
  }
  yw_box_grid_free(&grid);
  return YW_OK;
}

yw_status yw_tet_overlaps(const yw_tet_mesh* mesh, const unsigned char* suspect,
                          unsigned char* overlapping, int32_t* count) {
  yw_tet_faults faults = {0};
  searcher s = {.mesh = mesh,
                .out = &faults,
                .mem = mesh->mem,
                .suspect = suspect,
                .overlapping = overlapping};
  s.boxes = YW_NEW_ARRAY(&s.mem, yw_aabb, mesh->num_tets);
  yw_status status = s.boxes != NULL ? find_overlaps(&s) : YW_ERR_MEMORY;
  yw_mem_free(&s.mem, s.boxes);
  *count = faults.num_overlaps;
  return status;
}

// Vertices on the boundary ------------------------------------------------------------------------

// Distance of a point to a triangle if it lies over it, else INFINITY.
static double distance_over(const yw_dvec3 p[3], yw_dvec3 x) {
  yw_dvec3 n = yw_dcross(yw_dsub(p[1], p[0]), yw_dsub(p[2], p[0]));
  double area2 = yw_ddot(n, n), edge = -TOLERANCE * area2;
  for (int k = 0; k < 3; ++k) {
    yw_dvec3 side = yw_dcross(yw_dsub(p[(k + 1) % 3], p[k]), yw_dsub(x, p[k]));
    if (yw_ddot(side, n) < edge) return INFINITY;
  }
  return area2 > 0.0 ? fabs(yw_ddot(n, yw_dsub(x, p[0]))) / sqrt(area2) : INFINITY;
}

static void meet_face(void* context, int32_t n) {
  searcher* s = context;
  const yw_tet_mesh* mesh = s->mesh;
  int32_t v[3];
  if (s->found) return;
  yw_tet_face_vertices(mesh, s->faces[n], v);
  if (v[0] == s->self || v[1] == s->self || v[2] == s->self) return;
  yw_dvec3 p[3], x = yw_d3(mesh->positions[s->self]);
  for (int k = 0; k < 3; ++k) p[k] = yw_d3(mesh->positions[v[k]]);
  double limit = TOLERANCE * yw_dlength(yw_dsub(p[1], p[0]));
  for (int k = 0; k < 3; ++k) {
    if (yw_dlength(yw_dsub(p[k], x)) > limit) continue;
    s->found = true;
    if (s->out->num_unmerged++ > 0) return;
    s->out->unmerged[0] = s->self < v[k] ? s->self : v[k];
    s->out->unmerged[1] = s->self < v[k] ? v[k] : s->self;
    return;
  }
  if (!(distance_over(p, x) < limit)) return;
  s->found = true;
  if (s->out->num_hanging++ > 0) return;
  s->out->hanging[0] = s->self;
  s->out->hanging[1] = s->faces[n] / 4;
}

static yw_status find_bad_vertices(searcher* s) {
  const yw_tet_mesh* mesh = s->mesh;
  unsigned char* outer = YW_NEW_ARRAY(&s->mem, unsigned char, mesh->num_vertices);
  yw_box_grid grid;
  if (outer == NULL) return YW_ERR_MEMORY;
  for (int32_t n = 0; n < s->num_faces; ++n) {
    int32_t v[3];
    yw_tet_face_vertices(mesh, s->faces[n], v);
    yw_aabb box = box_of(mesh, v, 3);
    float margin = (float)TOLERANCE * yw_distance(box.lower, box.upper);
    box.lower = yw_sub(box.lower, yw_v3(margin, margin, margin));
    box.upper = yw_add(box.upper, yw_v3(margin, margin, margin));
    s->boxes[n] = box;
    for (int k = 0; k < 3; ++k) outer[v[k]] = 1;
  }
  yw_status status = yw_box_grid_create(&s->mem, s->num_faces, s->boxes, &grid);
  for (s->self = 0; status == YW_OK && s->self < mesh->num_vertices; ++s->self) {
    if (!outer[s->self]) continue;
    s->found = false;
    yw_aabb point = {mesh->positions[s->self], mesh->positions[s->self]};
    yw_box_grid_query(&grid, point, meet_face, s);
  }
  if (status == YW_OK) yw_box_grid_free(&grid);
  yw_mem_free(&s->mem, outer);
  return status;
}

// Weak joints -------------------------------------------------------------------------------------

// The second vertex that tets of both pieces share, besides v; -1: none.
static int32_t second_shared(const searcher* s, int32_t* piece, int32_t a, int32_t b, int32_t v,
                             unsigned char* marks) {
  const yw_tet_mesh* mesh = s->mesh;
  for (size_t n = 0; n < 4 * (size_t)mesh->num_tets; ++n) {
    if (yw_union_root(piece, (int32_t)(n / 4)) == a) marks[mesh->tets[n]] = 1;
  }
  for (size_t n = 0; n < 4 * (size_t)mesh->num_tets; ++n) {
    if (yw_union_root(piece, (int32_t)(n / 4)) != b) continue;
    if (marks[mesh->tets[n]] && mesh->tets[n] != v) return mesh->tets[n];
  }
  return -1;
}

// Pieces are joined by faces. A vertex of two pieces joins them weakly; each piece counts once.
static yw_status find_weak_joints(searcher* s) {
  const yw_tet_mesh* mesh = s->mesh;
  int32_t num_tets = mesh->num_tets;
  int32_t* piece = YW_NEW_ARRAY(&s->mem, int32_t, num_tets);
  int32_t* group = YW_NEW_ARRAY(&s->mem, int32_t, num_tets);
  int32_t* owner = YW_NEW_ARRAY(&s->mem, int32_t, mesh->num_vertices);
  unsigned char* marks = YW_NEW_ARRAY(&s->mem, unsigned char, mesh->num_vertices);
  bool ready = piece && group && owner && marks;
  for (int32_t t = 0; ready && t < num_tets; ++t) piece[t] = group[t] = t;
  for (int32_t i = 0; ready && i < mesh->num_vertices; ++i) owner[i] = -1;
  for (int32_t f = 0; ready && f < 4 * num_tets; ++f) {
    if (s->partner[f] < 0) continue;
    int32_t a = yw_union_root(piece, f / 4), b = yw_union_root(piece, s->partner[f] / 4);
    piece[a > b ? a : b] = a > b ? b : a;
  }
  for (int32_t n = 0; ready && n < 4 * num_tets; ++n) {
    int32_t v = mesh->tets[n], a = yw_union_root(piece, n / 4);
    if (owner[v] < 0) owner[v] = a;
    int32_t b = owner[v], x = yw_union_root(group, a), y = yw_union_root(group, b);
    if (x == y) continue;
    group[x > y ? x : y] = x > y ? y : x;
    if (s->out->num_weak_joints++ > 0) continue;
    s->out->weak_joint[0] = v;
    s->out->weak_joint[1] = second_shared(s, piece, a, b, v, marks);
    for (int32_t t = 0; t < num_tets; ++t) {
      s->out->weak_joint_tets[0] += yw_union_root(piece, t) == b;
      s->out->weak_joint_tets[1] += yw_union_root(piece, t) == a;
    }
  }
  yw_mem_free(&s->mem, piece);
  yw_mem_free(&s->mem, group);
  yw_mem_free(&s->mem, owner);
  yw_mem_free(&s->mem, marks);
  return ready ? YW_OK : YW_ERR_MEMORY;
}

yw_status yw_tet_mesh_faults(const yw_tet_mesh* mesh, yw_tet_faults* out) {
  if (mesh == NULL || out == NULL || mesh->num_tets < 0 || mesh->num_tets > INT32_MAX / 4) {
    return YW_ERR_INVALID;
  }
  *out = (yw_tet_faults){0};
  searcher s = {.mesh = mesh, .out = out, .mem = yw_mem_or_default(&mesh->mem)};
  size_t num_faces = 4 * (size_t)mesh->num_tets;
  s.partner = YW_NEW_ARRAY(&s.mem, int32_t, num_faces);
  s.faces = YW_NEW_ARRAY(&s.mem, int32_t, num_faces);
  s.boxes = YW_NEW_ARRAY(&s.mem, yw_aabb, num_faces);
  yw_status status = s.partner && s.faces && s.boxes ? YW_OK : YW_ERR_MEMORY;
  if (status == YW_OK) status = yw_tet_face_partners(&s.mem, mesh, s.partner);
  for (int32_t f = 0; status == YW_OK && f < 4 * mesh->num_tets; ++f) {
    if (s.partner[f] < 0) s.faces[s.num_faces++] = f;
  }
  if (status == YW_OK) status = find_overlaps(&s);
  if (status == YW_OK) status = find_bad_vertices(&s);
  if (status == YW_OK) status = find_weak_joints(&s);
  yw_mem_free(&s.mem, s.partner);
  yw_mem_free(&s.mem, s.faces);
  yw_mem_free(&s.mem, s.boxes);
  return status;
}

// Words -------------------------------------------------------------------------------------------

static void write_text(char* text, int32_t room, int32_t* used, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int32_t left = room - *used;
  int count = left > 1 ? vsnprintf(text + *used, (size_t)left, format, arguments) : 0;
  va_end(arguments);
  if (count > 0) *used += count < left ? count : left - 1;
}

int32_t yw_tet_faults_text(const yw_tet_faults* f, char* text, int32_t room) {
  int32_t used = 0;
  if (room > 0) text[0] = 0;
  if (f->num_overlaps > 0) {
    write_text(text, room, &used, "%d pairs of tets overlap, such as %d and %d. ", f->num_overlaps,
               f->overlap[0], f->overlap[1]);
  }
  if (f->num_unmerged > 0) {
    write_text(text, room, &used,
               "%d vertices are at the place of another one, such as %d and %d: merge them, or the "
               "tets there are not joined. ",
               f->num_unmerged, f->unmerged[0], f->unmerged[1]);
  }
  if (f->num_hanging > 0) {
    write_text(text, room, &used,
               "%d vertices lie inside an edge or a face of another tet, such as vertex %d on tet "
               "%d: the tets there are not joined. ",
               f->num_hanging, f->hanging[0], f->hanging[1]);
  }
  const char* hang = f->num_weak_joints == 1 ? " hangs" : "s hang";
  if (f->num_weak_joints > 0 && f->weak_joint[1] >= 0) {
    write_text(text, room, &used,
               "%d piece%s on others by edges or vertices only, such as %d tets on %d by the "
               "edge %d-%d. ",
               f->num_weak_joints, hang, f->weak_joint_tets[1], f->weak_joint_tets[0],
               f->weak_joint[0], f->weak_joint[1]);
  } else if (f->num_weak_joints > 0) {
    write_text(text, room, &used,
               "%d piece%s on others by edges or vertices only, such as %d tets on %d by "
               "vertex %d. ",
               f->num_weak_joints, hang, f->weak_joint_tets[1], f->weak_joint_tets[0],
               f->weak_joint[0]);
  }
  if (used > 0 && text[used - 1] == ' ') text[--used] = 0;
  return used;
}
