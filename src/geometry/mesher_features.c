// SPDX-License-Identifier: MIT
// Sharp edges and corners of the shape that the lattice does not happen to follow.
//
// Where an edge of the boundary crosses a crease of the shape, one of its ends is moved there, or a
// vertex is inserted. Each change is tried, the vertices around it are improved, and it is undone
// if a tet stays bad: a rounded edge is better than a tet that cannot be simulated.
#include "geometry/mesh_faces.h"
#include "geometry/mesher.h"
#include "geometry/shape.h"
#include "geometry/surface_features.h"
#include "yawara/extend/vec.h"

#define SHARP_COSINE 0.77f   // 40 degrees
#define BAD_COSINE 0.9659    // 15 degrees (or 165): tets may be as bad as this
#define WORST_COSINE 0.9799  // 11.5 degrees: if it must be
#define NEAR_END 0.35f       // of an edge: a crease this close moves the end
#define CLOSE_ENOUGH 0.04f   // sizes: a boundary this close to a crease follows it
#define CORNER_REACH 0.7f    // sizes
#define ROUNDED 0.08f        // sizes: an edge this far from its ridge cuts it off
#define ON_CREASE 0.01f      // sizes
#define RELAX_ROUNDS 3
#define SPLIT_PASSES 3
#define PROBE_STEP 0.02f  // sizes
#define CORNER_SINE 0.6f
#define LATE_REACH 1.5f    // sizes
#define MOST_FACES 6       // of the shape that are seen from one triangle
#define SAME_COSINE 0.99f  // of normals of one face
#define LEAST_SPAN 0.3f    // of the normals of three faces that meet in a corner
#define MAX_RING 1024
#define HOLD_BLOCK 64  // vertices that a worker looks at

typedef struct boundary_edge {
  int32_t a, b;
} boundary_edge;

typedef struct offer {
  yw_vec3 place;
  float distance;
} offer;

/// The shape's normal where a vertex was when it was asked for.
typedef struct known_normal {
  yw_vec3 at, normal;
  bool is_known;
} known_normal;

typedef struct featurer {
  yw_tet_edit* edit;
  const yw_no_features* except;
  yw_places* unsharp;  ///< where edges stay rounded
  double bad_cosine;   ///< a change must not leave worse tets
  int32_t num_triangles;
  int32_t* triangles;     ///< of the boundary
  offer* offers;          ///< per vertex: the nearest place to move to
  known_normal* normals;  ///< per vertex; those that are inserted are on creases and need none
  // Where vertices were before a change that may be undone.
  int32_t num_saved;
  int32_t saved[MAX_RING];
  yw_vec3 before[MAX_RING];
} featurer;

static bool is_excepted(const featurer* f, yw_vec3 x) {
  for (int32_t n = 0; n < f->except->count; ++n) {
    const yw_vec4 ball = f->except->items[n];
    if (yw_distance(yw_xyz(ball), x) < ball.w) return true;
  }
  return false;
}

static yw_vec3 normal_at(const featurer* f, int32_t vertex) {
  known_normal* n = &f->normals[vertex];
  yw_vec3 x = f->edit->positions.items[vertex];
  if (!n->is_known || n->at.x != x.x || n->at.y != x.y || n->at.z != x.z) {
    *n = (known_normal){.at = x, .is_known = true};
    yw_shape_distance_normal(f->edit->shape, x, &n->normal);
  }
  return n->normal;
}

static bool is_on_surface(const featurer* f, yw_vec3 x, float tolerance) {
  yw_vec3 unused;
  return fabsf(yw_shape_gap(f->edit->shape, x, &unused)) <= tolerance;
}

// Boundary ----------------------------------------------------------------------------------------

static yw_status list_boundary(featurer* f) {
  yw_tet_edit* e = f->edit;
  int32_t num_tets = e->tets.count;
  yw_mem_free(&e->mem, f->triangles);
  f->triangles = NULL;
  f->num_triangles = 0;
  if (num_tets > INT32_MAX / 12) return YW_ERR_MEMORY;
  yw_tet_mesh view = yw_edit_view(e);
  int32_t* partner = YW_NEW_ARRAY(&e->mem, int32_t, 4 * (size_t)num_tets);
  if (partner == NULL) return YW_ERR_MEMORY;
  yw_status status = yw_tet_face_partners(&e->mem, &view, partner);
  int32_t count = 0;
  for (int32_t n = 0; status == YW_OK && n < 4 * num_tets; ++n) count += partner[n] < 0;
  f->triangles = YW_NEW_ARRAY(&e->mem, int32_t, 3 * (size_t)count);
  if (f->triangles == NULL) status = YW_ERR_MEMORY;
  for (int32_t n = 0; status == YW_OK && n < 4 * num_tets; ++n) {
    if (partner[n] >= 0) continue;
    yw_tet_face_vertices(&view, n, f->triangles + 3 * (size_t)f->num_triangles++);
  }
  yw_mem_free(&e->mem, partner);
  return status;
}

// Calls `visit` for every edge of the boundary. In a closed surface every edge occurs in both
// directions; one of them is enough.
static void each_edge(featurer* f, void (*visit)(featurer* f, int32_t a, int32_t b)) {
  for (int32_t h = 0; h < 3 * f->num_triangles; ++h) {
    int32_t a = f->triangles[h], b = f->triangles[h % 3 == 2 ? h - 2 : h + 1];
    if (a < b) visit(f, a, b);
  }
}

// Changes that may be undone ----------------------------------------------------------------------

static void save_around(featurer* f, int32_t vertex) {
  const yw_tet_edit* e = f->edit;
  f->num_saved = 0;
  for (int32_t c = e->first.items[vertex]; c >= 0; c = e->next.items[c]) {
    for (int k = 0; k < 4 && f->num_saved < MAX_RING; ++k) {
      int32_t v = e->tets.items[c >> 2].v[k];
      f->saved[f->num_saved] = v;
      f->before[f->num_saved++] = e->positions.items[v];
    }
  }
}

static void restore(featurer* f) {
  for (int32_t n = f->num_saved - 1; n >= 0; --n) {
    f->edit->positions.items[f->saved[n]] = f->before[n];
  }
}

// Improves what is around a vertex that has moved; false if a tet stays bad.
static bool settle_around(featurer* f, int32_t vertex) {
  yw_tet_edit* e = f->edit;
  yw_vec3 x = e->positions.items[vertex];
  for (int round = 0; round < RELAX_ROUNDS; ++round) {
    bool moved = false;
    if (yw_edit_badness_at(e, vertex, x, 4.0) <= f->bad_cosine) return true;
    for (int32_t c = e->first.items[vertex]; c >= 0; c = e->next.items[c]) {
      if (yw_edit_badness(e, c >> 2) <= f->bad_cosine) continue;
      for (int k = 0; k < 4; ++k) {
        int32_t v = e->tets.items[c >> 2].v[k];
        if (v != vertex && yw_edit_improve_vertex(e, v, f->bad_cosine)) moved = true;
      }
    }
    if (!moved) return false;
  }
  return yw_edit_badness_at(e, vertex, x, 4.0) <= f->bad_cosine;
}

static bool try_move(featurer* f, int32_t vertex, yw_vec3 x, yw_vertex_hold hold) {
  if (f->edit->holds.items[vertex] != YW_HOLD_SURFACE) return false;
  save_around(f, vertex);
  f->edit->positions.items[vertex] = x;
  if (settle_around(f, vertex)) {
    f->edit->holds.items[vertex] = (unsigned char)hold;
    return true;
  }
  restore(f);
  return false;
}

static bool try_split(featurer* f, int32_t a, int32_t b, yw_vec3 x) {
  int32_t count = yw_edit_split(f->edit, a, b, x, YW_HOLD_CREASE);
  if (count == 0) return false;
  int32_t middle = f->edit->positions.count - 1;
  save_around(f, middle);
  if (settle_around(f, middle)) return true;
  restore(f);
  yw_edit_undo_split(f->edit, b, count);
  return false;
}

// Vertices that are on creases already ------------------------------------------------------------

// Distances and normals a little way around a point of the surface.
static void probe(const yw_tet_edit* e, yw_vec3 x, float size, float* distance, yw_vec4* normals) {
  yw_vec4 points[YW_BCC_DIRECTIONS];
  for (int n = 0; n < YW_BCC_DIRECTIONS; ++n) {
    points[n] = yw_v4(yw_mad(x, PROBE_STEP * size, yw_f3(yw_bcc_edge(n))));
  }
  yw_shape_distance_normal_many(e->shape, YW_BCC_DIRECTIONS, points, distance, normals);
}

// What the surface is at a vertex, judged by its normals a little way around: all alike, in a
// plane (a crease), or not (a corner).
static yw_vertex_hold hold_at(const yw_tet_edit* e, int32_t vertex) {
  yw_vec4 normals[YW_BCC_DIRECTIONS];
  float distance[YW_BCC_DIRECTIONS];
  probe(e, e->positions.items[vertex], e->sizes.items[vertex], distance, normals);
  yw_vec3 first = yw_xyz(normals[0]), second = first;
  float least = 1.0f, most = 0.0f;
  for (int n = 1; n < YW_BCC_DIRECTIONS; ++n) {
    float cosine = yw_dot(first, yw_xyz(normals[n]));
    if (cosine < least) least = cosine, second = yw_xyz(normals[n]);
  }
  if (least > SHARP_COSINE) return YW_HOLD_SURFACE;
  yw_vec3 along = yw_normalize_or(yw_cross(first, second), yw_v3(0, 0, 0));
  for (int n = 1; n < YW_BCC_DIRECTIONS; ++n) {
    most = fmaxf(most, fabsf(yw_dot(along, yw_xyz(normals[n]))));
  }
  return most > CORNER_SINE ? YW_HOLD_CORNER : YW_HOLD_CREASE;
}

static void hold_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_tet_edit* edit = context;
  for (int32_t i = block * HOLD_BLOCK; i < (block + 1) * HOLD_BLOCK; ++i) {
    if (i >= edit->positions.count || edit->holds.items[i] != YW_HOLD_SURFACE) continue;
    edit->holds.items[i] = (unsigned char)hold_at(edit, i);
  }
}

void yw_mesher_hold_creases(yw_tet_edit* edit, yw_tasks* tasks) {
  yw_tasks_run(tasks, edit->positions.count / HOLD_BLOCK + 1, hold_block, edit);
}

// Corners -----------------------------------------------------------------------------------------

static void make_offer(featurer* f, int32_t vertex, yw_vec3 place) {
  if (is_excepted(f, place)) return;
  float distance = yw_distance(f->edit->positions.items[vertex], place);
  if (distance < f->offers[vertex].distance) f->offers[vertex] = (offer){place, distance};
}

static void clear_offers(featurer* f) {
  for (int32_t i = 0; i < f->edit->positions.count; ++i) f->offers[i].distance = INFINITY;
}

static void offer_corners(featurer* f) {
  const yw_tet_edit* e = f->edit;
  for (int32_t t = 0; t < f->num_triangles; ++t) {
    const int32_t* v = f->triangles + 3 * (size_t)t;
    yw_vec3 p[3], normal[3], corner;
    for (int k = 0; k < 3; ++k) {
      p[k] = e->positions.items[v[k]];
      normal[k] = normal_at(f, v[k]);
    }
    if (yw_dot(normal[0], normal[1]) > SHARP_COSINE ||
        yw_dot(normal[1], normal[2]) > SHARP_COSINE ||
        yw_dot(normal[2], normal[0]) > SHARP_COSINE) {
      continue;
    }
    if (!yw_find_corner(e->shape, p, normal, &corner)) continue;
    int nearest = 0;
    for (int k = 1; k < 3; ++k) {
      if (yw_distance(p[k], corner) < yw_distance(p[nearest], corner)) nearest = k;
    }
    make_offer(f, v[nearest], corner);
  }
}

// Of several vertices that are offered one corner, the nearest gets it.
static yw_status drop_double_offers(featurer* f) {
  const yw_tet_edit* e = f->edit;
  int32_t* list = YW_NEW_ARRAY(&e->mem, int32_t, e->positions.count);
  int32_t count = 0;
  if (list == NULL) return YW_ERR_MEMORY;
  for (int32_t i = 0; i < e->positions.count; ++i) {
    if (f->offers[i].distance < INFINITY) list[count++] = i;
  }
  for (int32_t m = 0; m < count; ++m) {
    for (int32_t n = m + 1; n < count; ++n) {
      offer *first = &f->offers[list[m]], *second = &f->offers[list[n]];
      float gap = yw_distance(first->place, second->place);
      if (gap > CLOSE_ENOUGH * e->sizes.items[list[m]]) continue;
      (first->distance <= second->distance ? second : first)->distance = INFINITY;
    }
  }
  yw_mem_free(&e->mem, list);
  return YW_OK;
}

static void take_offers(featurer* f, float reach, yw_vertex_hold hold) {
  int32_t count = f->edit->positions.count;
  for (int32_t i = 0; i < count; ++i) {
    if (!(f->offers[i].distance < reach * f->edit->sizes.items[i]) ||
        f->edit->holds.items[i] != YW_HOLD_SURFACE)
      continue;
    try_move(f, i, f->offers[i].place, hold);
  }
}

// Edges -------------------------------------------------------------------------------------------

// along (may be NULL) receives the direction of the crease.
static bool crosses_crease(const featurer* f, int32_t a, int32_t b, yw_vec3* place,
                           yw_vec3* along) {
  const yw_tet_edit* e = f->edit;
  if (e->holds.items[a] != YW_HOLD_SURFACE || e->holds.items[b] != YW_HOLD_SURFACE) return false;
  const yw_vec3 p[2] = {e->positions.items[a], e->positions.items[b]};
  const yw_vec3 normal[2] = {normal_at(f, a), normal_at(f, b)};
  if (yw_dot(normal[0], normal[1]) > SHARP_COSINE) return false;
  if (along != NULL) *along = yw_normalize_or(yw_cross(normal[0], normal[1]), yw_v3(0, 0, 0));
  return yw_find_crease(e->shape, p, normal, place);
}

static void offer_crease(featurer* f, int32_t a, int32_t b) {
  yw_vec3 place;
  if (!crosses_crease(f, a, b, &place, NULL)) return;
  const yw_vec3* x = f->edit->positions.items;
  float limit = NEAR_END * yw_distance(x[a], x[b]);
  if (yw_distance(x[a], place) < limit) make_offer(f, a, place);
  if (yw_distance(x[b], place) < limit) make_offer(f, b, place);
}

// Moves a vertex to the nearest point of a straight crease.
static bool try_slide(featurer* f, int32_t vertex, yw_vec3 place, yw_vec3 along) {
  const yw_tet_edit* e = f->edit;
  yw_vec3 from = yw_sub(e->positions.items[vertex], place);
  yw_vec3 x = yw_mad(place, yw_dot(from, along), along);
  float tolerance = ON_CREASE * e->sizes.items[vertex];
  if (!is_on_surface(f, x, tolerance)) return false;
  return try_move(f, vertex, x, YW_HOLD_CREASE);
}

// Inserts a vertex where an edge still crosses a crease, or moves one of its ends after all.
static void split_at_crease(featurer* f, int32_t a, int32_t b) {
  yw_vec3 place, along;
  if (!crosses_crease(f, a, b, &place, &along) || is_excepted(f, place)) return;
  const yw_vec3* x = f->edit->positions.items;
  yw_vec3 edge = yw_sub(x[b], x[a]);
  float size = fminf(f->edit->sizes.items[a], f->edit->sizes.items[b]);
  float t = yw_dot(yw_sub(place, x[a]), edge) / yw_length2(edge);
  if (yw_distance(place, yw_mad(x[a], t, edge)) < CLOSE_ENOUGH * size) return;
  if (try_split(f, a, b, place)) return;
  int32_t first = t < 0.5f ? a : b, second = t < 0.5f ? b : a;
  if (try_move(f, first, place, YW_HOLD_CREASE) || try_move(f, second, place, YW_HOLD_CREASE)) {
    return;
  }
  if (try_slide(f, first, place, along) || try_slide(f, second, place, along)) return;
  for (int n = 0; n < 4; ++n) {
    yw_vec3 beside = yw_mad(place, (n < 2 ? 0.15f : 0.3f) * (n & 1 ? size : -size), along);
    if (!is_on_surface(f, beside, ON_CREASE * size)) continue;
    if (try_split(f, a, b, beside)) return;
  }
}

// Lists an edge that still cuts off a ridge.
static void note_unsharp(featurer* f, int32_t a, int32_t b) {
  yw_vec3 place;
  if (!crosses_crease(f, a, b, &place, NULL)) return;
  const yw_vec3* x = f->edit->positions.items;
  yw_vec3 edge = yw_sub(x[b], x[a]);
  float size = fminf(f->edit->sizes.items[a], f->edit->sizes.items[b]);
  yw_vec3 near = yw_mad(x[a], yw_dot(yw_sub(place, x[a]), edge) / yw_length2(edge), edge);
  if (yw_distance(place, near) < ROUNDED * size || yw_shape_distance(f->edit->shape, near) > 0.0f) {
    return;
  }
  if (!YW_LIST_RESERVE(&f->edit->mem, f->unsharp, 1)) return;
  f->unsharp->items[f->unsharp->count++] = place;
}

// Corners that are still cut off ------------------------------------------------------------------

/// Flat faces of the shape as seen from a few points of its surface.
typedef struct face_set {
  float side;  ///< where they are looked for: -1 inside, for a corner that sticks out; 1 outside
  int count;
  yw_vec3 at[MOST_FACES], normal[MOST_FACES];
} face_set;

static void add_face(face_set* set, yw_vec3 at, yw_vec3 normal) {
  for (int n = 0; n < set->count; ++n) {
    if (yw_dot(set->normal[n], normal) > SHARP_COSINE) return;
  }
  if (set->count == MOST_FACES) return;
  set->at[set->count] = at;
  set->normal[set->count++] = normal;
}

// Inside of a convex edge, or outside of a concave one, normals are those of its faces.
static void add_faces_at(const featurer* f, yw_vec3 x, float size, face_set* set) {
  yw_vec4 normals[YW_BCC_DIRECTIONS];
  float distance[YW_BCC_DIRECTIONS];
  probe(f->edit, x, size, distance, normals);
  for (int n = 0; n < YW_BCC_DIRECTIONS; ++n) {
    if (distance[n] * set->side > 0.0f) add_face(set, x, yw_xyz(normals[n]));
  }
}

// Three faces that are far from parallel, first in the set; false if there are none.
static bool pick_three(face_set* set) {
  float most = LEAST_SPAN;
  int best[3] = {-1, -1, -1};
  for (int a = 0; a < set->count; ++a) {
    for (int b = a + 1; b < set->count; ++b) {
      for (int c = b + 1; c < set->count; ++c) {
        const yw_vec3* n = set->normal;
        float span = fabsf(yw_dot(n[a], yw_cross(n[b], n[c])));
        if (span > most) most = span, best[0] = a, best[1] = b, best[2] = c;
      }
    }
  }
  if (best[0] < 0) return false;
  face_set three = {.side = set->side, .count = 3};
  for (int k = 0; k < 3; ++k) {
    three.at[k] = set->at[best[k]];
    three.normal[k] = set->normal[best[k]];
  }
  *set = three;
  return true;
}

// Where three planes meet, if that is a corner of the shape.
static bool meet(const featurer* f, const face_set* set, float size, yw_vec3* out) {
  const yw_vec3 *n = set->normal, *p = set->at;
  yw_vec3 q = yw_scale(yw_cross(n[1], n[2]), yw_dot(n[0], p[0]));
  q = yw_mad(q, yw_dot(n[1], p[1]), yw_cross(n[2], n[0]));
  q = yw_mad(q, yw_dot(n[2], p[2]), yw_cross(n[0], n[1]));
  *out = yw_scale(q, 1.0f / yw_dot(n[0], yw_cross(n[1], n[2])));
  if (!is_on_surface(f, *out, ON_CREASE * size)) return false;
  // On that side of it, farther from two of the faces, the third is the nearest.
  for (int k = 0; k < 3; ++k) {
    yw_vec3 deep = yw_add(n[(k + 1) % 3], n[(k + 2) % 3]), normal;
    yw_vec3 x = yw_mad(*out, set->side * PROBE_STEP * size, yw_mad(deep, 0.5f, n[k]));
    float distance = yw_shape_distance_normal(f->edit->shape, x, &normal);
    if (!(distance * set->side > 0.0f) || yw_dot(normal, n[k]) < SAME_COSINE) return false;
  }
  return true;
}

static bool find_missed(const featurer* f, const int32_t* v, float size, float side,
                        yw_vec3* corner) {
  const yw_tet_edit* e = f->edit;
  face_set set = {.side = side};
  for (int k = 0; k < 3; ++k) {
    add_faces_at(f, e->positions.items[v[k]], e->sizes.items[v[k]], &set);
  }
  return pick_three(&set) && meet(f, &set, size, corner) && !is_excepted(f, *corner);
}

// A corner that the triangle cuts off.
static bool misses_corner(featurer* f, const int32_t* v, yw_vec3* corner) {
  const yw_tet_edit* e = f->edit;
  float size = 0.0f, nearest = INFINITY;
  bool sharp = false;
  for (int k = 0; k < 3; ++k) {
    if (e->holds.items[v[k]] == YW_HOLD_CORNER) return false;
    sharp = sharp || e->holds.items[v[k]] == YW_HOLD_CREASE;
    size = fmaxf(size, e->sizes.items[v[k]]);
  }
  if (!sharp) return false;
  if (!find_missed(f, v, size, -1.0f, corner) && !find_missed(f, v, size, 1.0f, corner)) {
    return false;
  }
  for (int k = 0; k < 3; ++k) {
    nearest = fminf(nearest, yw_distance(e->positions.items[v[k]], *corner));
  }
  if (!(nearest < LATE_REACH * size)) return false;
  for (int32_t i = 0; i < e->positions.count; ++i) {
    if (yw_distance(e->positions.items[i], *corner) < CLOSE_ENOUGH * size) return false;
  }
  return true;
}

// The nearest vertex moves there, along its crease if it is on one; or an edge is split.
static bool make_corner(featurer* f, const int32_t* triangle, yw_vec3 corner) {
  yw_tet_edit* e = f->edit;
  int32_t v[3] = {triangle[0], triangle[1], triangle[2]};
  for (int n = 0; n < 3; ++n) {
    int near = n;
    for (int k = n + 1; k < 3; ++k) {
      const yw_vec3* x = e->positions.items;
      if (yw_distance(x[v[k]], corner) < yw_distance(x[v[near]], corner)) near = k;
    }
    int32_t swap = v[n];
    v[n] = v[near];
    v[near] = swap;
    unsigned char before = e->holds.items[v[n]];
    e->holds.items[v[n]] = YW_HOLD_SURFACE;
    if (try_move(f, v[n], corner, YW_HOLD_CORNER)) return true;
    e->holds.items[v[n]] = before;
  }
  for (int n = 0; n < 3; ++n) {
    if (!try_split(f, triangle[n], triangle[(n + 1) % 3], corner)) continue;
    e->holds.items[e->positions.count - 1] = YW_HOLD_CORNER;
    return true;
  }
  return false;
}

static bool is_listed(const featurer* f, yw_vec3 corner) {
  for (int32_t n = 0; n < f->unsharp->count; ++n) {
    yw_vec3 x = f->unsharp->items[n];
    if (yw_distance(x, corner) < 1e-4f * (1.0f + yw_length(corner))) return true;
  }
  return false;
}

// Corners at which no triangle had a vertex on each of the three faces. *num_made: how many; those
// that cannot be made are listed if `last`.
static yw_status make_late_corners(featurer* f, bool last, int32_t* num_made) {
  *num_made = 0;
  for (int32_t t = 0; t < f->num_triangles; ++t) {
    const int32_t* v = f->triangles + 3 * (size_t)t;
    yw_vec3 corner;
    if (!misses_corner(f, v, &corner)) continue;
    if (make_corner(f, v, corner)) {
      ++*num_made;
    } else if (last && !is_listed(f, corner)) {
      if (!YW_LIST_RESERVE(&f->edit->mem, f->unsharp, 1)) return YW_ERR_MEMORY;
      f->unsharp->items[f->unsharp->count++] = corner;
    }
  }
  return *num_made > 0 ? list_boundary(f) : YW_OK;
}

static yw_status sharpen_corners(featurer* f) {
  int32_t num_made = 0;
  f->bad_cosine = BAD_COSINE;
  yw_status status = make_late_corners(f, false, &num_made);
  f->bad_cosine = WORST_COSINE;
  int32_t again = 0;
  if (status == YW_OK) status = make_late_corners(f, true, &again);
  if (status == YW_OK && num_made + again > 0) {
    each_edge(f, split_at_crease);
    status = list_boundary(f);
  }
  return status;
}

yw_status yw_mesher_sharpen(yw_tet_edit* edit, const yw_no_features* except, bool has_faces,
                            yw_places* unsharp) {
  unsharp->count = 0;
  featurer f = {.edit = edit, .except = except, .unsharp = unsharp, .bad_cosine = BAD_COSINE};
  yw_status status = list_boundary(&f);
  f.offers = YW_NEW_ARRAY(&edit->mem, offer, edit->positions.count);
  f.normals = YW_NEW_ARRAY(&edit->mem, known_normal, edit->positions.count);
  if (f.offers == NULL || f.normals == NULL) status = YW_ERR_MEMORY;
  if (status == YW_OK) {
    clear_offers(&f);
    offer_corners(&f);
    status = drop_double_offers(&f);
  }
  if (status == YW_OK) {
    take_offers(&f, CORNER_REACH, YW_HOLD_CORNER);
    clear_offers(&f);
    each_edge(&f, offer_crease);
    take_offers(&f, INFINITY, YW_HOLD_CREASE);
  }
  // What fails at first may succeed when its neighbours have changed.
  for (int pass = 0; pass < SPLIT_PASSES && status == YW_OK; ++pass) {
    if (pass == SPLIT_PASSES - 1) f.bad_cosine = WORST_COSINE;
    each_edge(&f, split_at_crease);
    status = list_boundary(&f);
  }
  if (status == YW_OK && has_faces) status = sharpen_corners(&f);
  if (status == YW_OK) each_edge(&f, note_unsharp);
  yw_mem_free(&edit->mem, f.offers);
  yw_mem_free(&edit->mem, f.normals);
  yw_mem_free(&edit->mem, f.triangles);
  return status;
}
