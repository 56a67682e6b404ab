// SPDX-License-Identifier: MIT
// Corners and straight edges of flat faces that are cut off when the edges of the mesh follow the
// creases that they cross.
#include "geometry/mesher_features.h"
#include "geometry/shape.h"
#include "geometry/surface_features.h"
#include "geometry/triangle_tree.h"
#include "yawara/extend/vec.h"

#define ROUNDED 0.08f      // sizes: an edge this far from its ridge cuts it off
#define LATE_REACH 1.5f    // sizes
#define MOST_FACES 6       // of the shape that are seen from one triangle
#define SAME_COSINE 0.99f  // of normals of one face
#define LEAST_SPAN 0.3f    // of the normals of three faces that meet in a corner
#define MAX_BEHIND 16      // vertices
// Corners that are still cut off ------------------------------------------------------------------

/// Flat faces of the shape as seen from a few points of its surface.
typedef struct face_set {
  float side;  ///< where they are looked for: -1 inside, for a corner that sticks out; 1 outside
  int count;
  yw_vec3 at[MOST_FACES], normal[MOST_FACES];
} face_set;

static void add_face(face_set* set, yw_vec3 at, yw_vec3 normal) {
  for (int n = 0; n < set->count; ++n) {
    if (yw_dot(set->normal[n], normal) > YW_FEATURE_SHARP_COSINE) return;
  }
  if (set->count == MOST_FACES) return;
  set->at[set->count] = at;
  set->normal[set->count++] = normal;
}

// Inside of a convex edge, or outside of a concave one, normals are those of its faces.
static void add_faces_at(const yw_featurer* f, yw_vec3 x, float size, face_set* set) {
  yw_vec4 normals[YW_BCC_DIRECTIONS];
  float distance[YW_BCC_DIRECTIONS];
  yw_feature_probe(f->edit, x, size, distance, normals);
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

// Volume between the normals of three faces.
static float span_of(const face_set* three) {
  const yw_vec3* n = three->normal;
  return fabsf(yw_dot(n[0], yw_cross(n[1], n[2])));
}

// Where three planes meet, if that is a corner of the shape.
static bool meet(const yw_featurer* f, const face_set* set, float size, yw_vec3* out) {
  const yw_vec3 *n = set->normal, *p = set->at;
  yw_vec3 q = yw_scale(yw_cross(n[1], n[2]), yw_dot(n[0], p[0]));
  q = yw_mad(q, yw_dot(n[1], p[1]), yw_cross(n[2], n[0]));
  q = yw_mad(q, yw_dot(n[2], p[2]), yw_cross(n[0], n[1]));
  *out = yw_scale(q, 1.0f / yw_dot(n[0], yw_cross(n[1], n[2])));
  if (!yw_feature_is_on_surface(f, *out, YW_FEATURE_ON_CREASE * size)) return false;
  // On that side of it, farther from two of the faces, the third is the nearest.
  for (int k = 0; k < 3; ++k) {
    yw_vec3 deep = yw_add(n[(k + 1) % 3], n[(k + 2) % 3]), normal;
    yw_vec3 x = yw_mad(*out, set->side * YW_FEATURE_PROBE_STEP * size, yw_mad(deep, 0.5f, n[k]));
    float distance = yw_shape_distance_normal(f->edit->shape, x, &normal);
    if (!(distance * set->side > 0.0f) || yw_dot(normal, n[k]) < SAME_COSINE) return false;
  }
  return true;
}

static bool find_missed(const yw_featurer* f, const int32_t* v, float size, float side,
                        yw_vec3* corner) {
  const yw_tet_edit* e = f->edit;
  face_set set = {.side = side};
  for (int k = 0; k < 3; ++k) {
    add_faces_at(f, e->positions.items[v[k]], e->sizes.items[v[k]], &set);
  }
  return pick_three(&set) && meet(f, &set, size, corner) && !yw_feature_is_excepted(f, *corner);
}

// Whether the corner is near the triangle, and no vertex is there.
static bool is_open_corner(const yw_featurer* f, const int32_t* v, float size, yw_vec3 corner) {
  const yw_tet_edit* e = f->edit;
  float nearest = INFINITY;
  for (int k = 0; k < 3; ++k) {
    nearest = fminf(nearest, yw_distance(e->positions.items[v[k]], corner));
  }
  if (!(nearest < LATE_REACH * size)) return false;
  for (int32_t i = 0; i < e->positions.count; ++i) {
    if (yw_distance(e->positions.items[i], corner) < YW_FEATURE_CLOSE_ENOUGH * size) return false;
  }
  return true;
}

// Number of vertices of a triangle that are at corners; -1 if it is flat on a face. size: of the
// largest cell.
static int corners_of(const yw_featurer* f, const int32_t* v, float* size) {
  const yw_tet_edit* e = f->edit;
  bool sharp = false;
  int count = 0;
  *size = 0.0f;
  for (int k = 0; k < 3; ++k) {
    count += e->holds.items[v[k]] == YW_HOLD_CORNER;
    sharp = sharp || e->holds.items[v[k]] >= YW_HOLD_CREASE;
    *size = fmaxf(*size, e->sizes.items[v[k]]);
  }
  return sharp ? count : -1;
}

// A corner that the triangle cuts off.
static bool misses_corner(const yw_featurer* f, const int32_t* v, yw_vec3* corner) {
  float size;
  if (corners_of(f, v, &size) != 0) return false;
  if (!find_missed(f, v, size, -1.0f, corner) && !find_missed(f, v, size, 1.0f, corner)) {
    return false;
  }
  return is_open_corner(f, v, size, *corner);
}

// The same for a triangle that ends at another corner, as large cells do: any three of the faces
// around may meet.
static bool misses_next_corner(const yw_featurer* f, const int32_t* v, yw_vec3* corner) {
  const yw_tet_edit* e = f->edit;
  float size;
  if (corners_of(f, v, &size) < 0) return false;
  face_set set = {.side = -1.0f};
  for (int k = 0; k < 3; ++k) {
    add_faces_at(f, e->positions.items[v[k]], e->sizes.items[v[k]], &set);
  }
  for (int n = 0; n < set.count * set.count * set.count; ++n) {
    int a = n % set.count, b = n / set.count % set.count, c = n / (set.count * set.count);
    if (a >= b || b >= c) continue;
    const face_set three = {.side = set.side,
                            .count = 3,
                            .at = {set.at[a], set.at[b], set.at[c]},
                            .normal = {set.normal[a], set.normal[b], set.normal[c]}};
    if (span_of(&three) > LEAST_SPAN && meet(f, &three, size, corner) &&
        !yw_feature_is_excepted(f, *corner) && is_open_corner(f, v, size, *corner)) {
      return true;
    }
  }
  return false;
}

// The nearest vertex moves there, along its crease if it is on one; or an edge is split.
static bool make_corner(yw_featurer* f, const int32_t* triangle, yw_vec3 corner) {
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
    if (yw_feature_try_move(f, v[n], corner, YW_HOLD_CORNER)) return true;
    e->holds.items[v[n]] = before;
  }
  for (int n = 0; n < 3; ++n) {
    if (!yw_feature_try_split(f, triangle[n], triangle[(n + 1) % 3], corner)) continue;
    e->holds.items[e->positions.count - 1] = YW_HOLD_CORNER;
    return true;
  }
  return false;
}

static bool is_listed(const yw_featurer* f, yw_vec3 corner) {
  for (int32_t n = 0; n < f->unsharp->count; ++n) {
    yw_vec3 x = f->unsharp->items[n];
    if (yw_distance(x, corner) < 1e-4f * (1.0f + yw_length(corner))) return true;
  }
  return false;
}

// Corners at which no triangle had a vertex on each of the three faces. *num_made: how many; those
// that cannot be made are listed if `last`.
yw_status yw_make_missed_corners(yw_featurer* f, bool last, int32_t* num_made) {
  *num_made = 0;
  for (int32_t t = 0; t < f->num_triangles; ++t) {
    const int32_t* v = f->triangles + 3 * (size_t)t;
    yw_vec3 corner;
    if (!misses_corner(f, v, &corner) && !(last && misses_next_corner(f, v, &corner))) continue;
    if (make_corner(f, v, corner)) {
      ++*num_made;
    } else if (last && !is_listed(f, corner)) {
      if (!YW_LIST_RESERVE(&f->edit->mem, f->unsharp, 1)) return YW_ERR_MEMORY;
      f->unsharp->items[f->unsharp->count++] = corner;
    }
  }
  return *num_made > 0 ? yw_feature_list_boundary(f) : YW_OK;
}

// Edges that are still cut off --------------------------------------------------------------------

// Whether the boundary is this close to a place.
static bool is_reached(const yw_featurer* f, yw_vec3 place, float distance) {
  const yw_vec3* x = f->edit->positions.items;
  for (int32_t t = 0; t < f->num_triangles; ++t) {
    const int32_t* v = f->triangles + 3 * (size_t)t;
    if (yw_distance(x[v[0]], place) > 4.0f * f->edit->sizes.items[v[0]]) continue;
    int32_t corners;
    yw_tree_triangle triangle = {.a = x[v[0]], .b = x[v[1]], .c = x[v[2]]};
    yw_vec3 near = yw_triangle_nearest(&triangle, place, &corners);
    if (yw_distance(near, place) < distance) return true;
  }
  return false;
}

// Whether a place is on a straight edge between flat faces that reach a size around it. side: of
// the shape on which its edge is looked at, -1 inside, 1 outside.
static bool is_plain_edge(const yw_featurer* f, yw_vec3 place, const yw_vec3 normal[2], float side,
                          float size) {
  float cosine = yw_dot(normal[0], normal[1]), tolerance = YW_FEATURE_ON_CREASE * size;
  yw_vec3 along = yw_normalize_or(yw_cross(normal[0], normal[1]), yw_v3(0, 0, 0));
  for (int n = 0; n < 9; ++n) {
    yw_vec3 x = yw_mad(place, (float)(n % 3 - 1) * size, along);
    if (n >= 3) {
      // Away from the edge on one of its faces.
      yw_vec3 own = normal[n / 3 - 1], other = normal[2 - n / 3];
      yw_vec3 away = yw_normalize_or(yw_mad(other, -cosine, own), yw_v3(0, 0, 0));
      x = yw_mad(x, side * size, away);
    }
    if (!yw_feature_is_on_surface(f, x, tolerance)) return false;
  }
  return true;
}

// Whether the boundary misses a straight edge.
static bool is_missed(yw_featurer* f, yw_vec3 place, const yw_vec3 normal[2], float side,
                      float size) {
  if (!is_plain_edge(f, place, normal, side, size)) return false;
  return !yw_feature_is_excepted(f, place) && !is_reached(f, place, ROUNDED * size);
}

// Vertices inside of the tets around the edge a-b, each once.
static int list_behind(const yw_featurer* f, int32_t a, int32_t b, int32_t out[MAX_BEHIND]) {
  const yw_tet_edit* e = f->edit;
  int count = 0;
  for (int32_t c = e->first.items[b]; c >= 0; c = e->next.items[c]) {
    const int32_t* v = e->tets.items[c >> 2].v;
    if (v[0] != a && v[1] != a && v[2] != a && v[3] != a) continue;
    for (int k = 0; k < 4 && count < MAX_BEHIND; ++k) {
      bool known = e->holds.items[v[k]] != YW_HOLD_NOTHING;
      for (int n = 0; n < count; ++n) known = known || out[n] == v[k];
      if (!known) out[count++] = v[k];
    }
  }
  return count;
}

// Makes room for a vertex in a groove: what is behind it moves until it is behind both faces. The
// tets around it must stay good as those around the new vertex must.
static bool try_groove(yw_featurer* f, int32_t a, int32_t b, yw_vec3 place, const yw_vec3 normal[2],
                       float depth) {
  yw_tet_edit* e = f->edit;
  int32_t behind[MAX_BEHIND];
  yw_vec3 before[MAX_BEHIND];
  int count = list_behind(f, a, b, behind);
  for (int n = 0; n < count; ++n) {
    yw_vec3* x = &e->positions.items[behind[n]];
    before[n] = *x;
    for (int k = 0; k < 2; ++k) {
      float off = yw_dot(normal[k], yw_sub(*x, place)) + depth;
      if (off > 0.0f) *x = yw_mad(*x, -off, normal[k]);
    }
  }
  int32_t made = yw_edit_split(e, a, b, place, YW_HOLD_CREASE), middle = e->positions.count - 1;
  bool good = made > 0;
  if (good) {
    yw_feature_save(f, middle);
    good = yw_feature_settle(f, middle);
    for (int n = 0; n < count && good; ++n) {
      yw_edit_improve_vertex(e, behind[n], f->bad_cosine);
      yw_vec3 x = e->positions.items[behind[n]];
      good = yw_edit_badness_at(e, behind[n], x, 4.0) <= f->bad_cosine;
    }
    if (!good) yw_feature_restore(f);
    if (!good) yw_edit_undo_split(e, b, made);
  }
  for (int n = 0; n < count && !good; ++n) e->positions.items[behind[n]] = before[n];
  return good;
}

// The same for some places along the edge, and depths. A ridge needs no room.
static bool try_places(yw_featurer* f, int32_t a, int32_t b, yw_vec3 place, const yw_vec3 normal[2],
                       float side, float size) {
  yw_vec3 along = yw_normalize_or(yw_cross(normal[0], normal[1]), yw_v3(0, 0, 0));
  static const float ways[] = {0.0f, 0.15f, -0.15f, 0.3f, -0.3f};
  for (int n = 0; n < (side > 0.0f ? 15 : 5); ++n) {
    yw_vec3 x = yw_mad(place, ways[n % 5] * size, along);
    if (!yw_feature_is_on_surface(f, x, YW_FEATURE_ON_CREASE * size)) continue;
    float depth = (0.2f + 0.15f * (float)(n / 5)) * size;
    if (side > 0.0f ? try_groove(f, a, b, x, normal, depth) : yw_feature_try_split(f, a, b, x))
      return true;
  }
  return false;
}

// Smaller cells help there.
static void list_unsharp(yw_featurer* f, yw_vec3 place) {
  if (!YW_LIST_RESERVE(&f->edit->mem, f->unsharp, 1)) return;
  f->unsharp->items[f->unsharp->count++] = place;
}

// Lists an edge that still cuts off a ridge; one that fills a groove gets a vertex there.
void yw_note_unsharp(yw_featurer* f, int32_t a, int32_t b) {
  const yw_tet_edit* e = f->edit;
  yw_vec3 place;
  if (!yw_feature_crosses(f, a, b, &place, NULL)) return;
  const yw_vec3* x = e->positions.items;
  yw_vec3 edge = yw_sub(x[b], x[a]);
  float size = fminf(e->sizes.items[a], e->sizes.items[b]);
  yw_vec3 near = yw_mad(x[a], yw_dot(yw_sub(place, x[a]), edge) / yw_length2(edge), edge);
  if (yw_distance(place, near) < ROUNDED * size) return;
  if (yw_shape_distance(e->shape, near) > 0.0f) {
    const yw_vec3 normal[2] = {yw_feature_normal(f, a), yw_feature_normal(f, b)};
    if (!f->has_faces || !is_missed(f, place, normal, 1.0f, size)) return;
    try_places(f, a, b, place, normal, 1.0f, size);
    return;
  }
  list_unsharp(f, place);
}

static face_set faces_of(const yw_featurer* f, int32_t vertex, float side) {
  const yw_tet_edit* e = f->edit;
  yw_vec3 x = e->positions.items[vertex];
  face_set set = {.side = side};
  if (e->holds.items[vertex] == YW_HOLD_SURFACE) {
    add_face(&set, x, yw_feature_normal(f, vertex));
  } else {
    add_faces_at(f, x, e->sizes.items[vertex], &set);
  }
  return set;
}

// The point of a straight crease, through place, that is nearest to an edge across it.
static yw_vec3 crossing_of(const yw_vec3 p[2], yw_vec3 place, const yw_vec3 normal[2]) {
  yw_vec3 along = yw_normalize_or(yw_cross(normal[0], normal[1]), yw_v3(0, 0, 0));
  yw_vec3 edge = yw_sub(p[1], p[0]), from = yw_sub(p[0], place);
  float slope = yw_dot(edge, along), square = yw_length2(edge) - slope * slope;
  if (!(square > 1e-3f * yw_length2(edge))) return place;
  float t = (slope * yw_dot(from, along) - yw_dot(from, edge)) / square;
  t = fminf(fmaxf(t, 0.0f), 1.0f);
  return yw_mad(place, yw_dot(from, along) + t * slope, along);
}

// An edge that begins on one crease and cuts off another, or fills it: inserts a vertex there, or
// lists the place.
void yw_mend_missed_edge(yw_featurer* f, int32_t a, int32_t b) {
  const yw_tet_edit* e = f->edit;
  int least = e->holds.items[a], most = e->holds.items[b];
  if (least > most) least = e->holds.items[b], most = e->holds.items[a];
  if (least < YW_HOLD_SURFACE || most < YW_HOLD_CREASE) return;
  const yw_vec3 p[2] = {e->positions.items[a], e->positions.items[b]};
  yw_vec3 middle = yw_lerp(p[0], p[1], 0.5f);
  float size = fminf(e->sizes.items[a], e->sizes.items[b]);
  if (yw_feature_is_on_surface(f, middle, 0.5f * ROUNDED * size)) return;
  float side = yw_shape_distance(e->shape, middle) < 0.0f ? -1.0f : 1.0f;
  const face_set first = faces_of(f, a, side), second = faces_of(f, b, side);
  for (int n = 0; n < first.count * second.count; ++n) {
    const yw_vec3 normal[2] = {first.normal[n % first.count], second.normal[n / first.count]};
    yw_vec3 place;
    if (!yw_find_crease(e->shape, p, normal, &place)) continue;
    place = crossing_of(p, place, normal);
    if (!is_missed(f, place, normal, side, size)) continue;
    if (!try_places(f, a, b, place, normal, side, size)) list_unsharp(f, place);
    return;
  }
}
