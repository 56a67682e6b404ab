// SPDX-License-Identifier: MIT
// Sharp edges and corners of the shape that the lattice does not happen to follow.
//
// Where an edge of the boundary crosses a crease of the shape, one of its ends is moved there, or a
// vertex is inserted. Each change is tried, the vertices around it are improved, and it is undone
// if a tet stays bad: a rounded edge is better than a tet that cannot be simulated.
#include "geometry/mesher_features.h"
#include "geometry/mesh_faces.h"
#include "geometry/shape.h"
#include "geometry/surface_features.h"
#include "yawara/extend/vec.h"

#define BAD_COSINE 0.9659    // 15 degrees (or 165): tets may be as bad as this
#define WORST_COSINE 0.9799  // 11.5 degrees: if it must be
#define NEAR_END 0.35f       // of an edge: a crease this close moves the end
#define CORNER_REACH 0.7f    // sizes
#define RELAX_ROUNDS 3
#define SPLIT_PASSES 3
#define CORNER_SINE 0.6f
#define HOLD_BLOCK 64  // vertices that a worker looks at

bool yw_feature_is_excepted(const yw_featurer* f, yw_vec3 x) {
  for (int32_t n = 0; n < f->except->count; ++n) {
    const yw_vec4 ball = f->except->items[n];
    if (yw_distance(yw_xyz(ball), x) < ball.w) return true;
  }
  return false;
}

yw_vec3 yw_feature_normal(const yw_featurer* f, int32_t vertex) {
  yw_known_normal* n = &f->normals[vertex];
  yw_vec3 x = f->edit->positions.items[vertex];
  if (!n->is_known || n->at.x != x.x || n->at.y != x.y || n->at.z != x.z) {
    *n = (yw_known_normal){.at = x, .is_known = true};
    yw_shape_distance_normal(f->edit->shape, x, &n->normal);
  }
  return n->normal;
}

bool yw_feature_is_on_surface(const yw_featurer* f, yw_vec3 x, float tolerance) {
  yw_vec3 unused;
  return fabsf(yw_shape_gap(f->edit->shape, x, &unused)) <= tolerance;
}

// Boundary ----------------------------------------------------------------------------------------

yw_status yw_feature_list_boundary(yw_featurer* f) {
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
static void each_edge(yw_featurer* f, void (*visit)(yw_featurer* f, int32_t a, int32_t b)) {
  for (int32_t h = 0; h < 3 * f->num_triangles; ++h) {
    int32_t a = f->triangles[h], b = f->triangles[h % 3 == 2 ? h - 2 : h + 1];
    if (a < b) visit(f, a, b);
  }
}

// Changes that may be undone ----------------------------------------------------------------------

void yw_feature_save(yw_featurer* f, int32_t vertex) {
  const yw_tet_edit* e = f->edit;
  f->num_saved = 0;
  for (int32_t c = e->first.items[vertex]; c >= 0; c = e->next.items[c]) {
    for (int k = 0; k < 4 && f->num_saved < YW_FEATURE_MAX_RING; ++k) {
      int32_t v = e->tets.items[c >> 2].v[k];
      f->saved[f->num_saved] = v;
      f->before[f->num_saved++] = e->positions.items[v];
    }
  }
}

void yw_feature_restore(yw_featurer* f) {
  for (int32_t n = f->num_saved - 1; n >= 0; --n) {
    f->edit->positions.items[f->saved[n]] = f->before[n];
  }
}

// Improves what is around a vertex that has moved; false if a tet stays bad.
bool yw_feature_settle(yw_featurer* f, int32_t vertex) {
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

bool yw_feature_try_move(yw_featurer* f, int32_t vertex, yw_vec3 x, yw_vertex_hold hold) {
  if (f->edit->holds.items[vertex] != YW_HOLD_SURFACE) return false;
  yw_feature_save(f, vertex);
  f->edit->positions.items[vertex] = x;
  if (yw_feature_settle(f, vertex)) {
    f->edit->holds.items[vertex] = (unsigned char)hold;
    return true;
  }
  yw_feature_restore(f);
  return false;
}

bool yw_feature_try_split(yw_featurer* f, int32_t a, int32_t b, yw_vec3 x) {
  int32_t count = yw_edit_split(f->edit, a, b, x, YW_HOLD_CREASE);
  if (count == 0) return false;
  int32_t middle = f->edit->positions.count - 1;
  yw_feature_save(f, middle);
  if (yw_feature_settle(f, middle)) return true;
  yw_feature_restore(f);
  yw_edit_undo_split(f->edit, b, count);
  return false;
}

// Vertices that are on creases already ------------------------------------------------------------

// Distances and normals a little way around a point of the surface.
void yw_feature_probe(const yw_tet_edit* e, yw_vec3 x, float size, float* distance,
                      yw_vec4* normals) {
  yw_vec4 points[YW_BCC_DIRECTIONS];
  for (int n = 0; n < YW_BCC_DIRECTIONS; ++n) {
    points[n] = yw_v4(yw_mad(x, YW_FEATURE_PROBE_STEP * size, yw_f3(yw_bcc_edge(n))));
  }
  yw_shape_distance_normal_many(e->shape, YW_BCC_DIRECTIONS, points, distance, normals);
}

// What the surface is at a vertex, judged by its normals a little way around: all alike, in a
// plane (a crease), or not (a corner).
static yw_vertex_hold hold_at(const yw_tet_edit* e, int32_t vertex) {
  yw_vec4 normals[YW_BCC_DIRECTIONS];
  float distance[YW_BCC_DIRECTIONS];
  yw_feature_probe(e, e->positions.items[vertex], e->sizes.items[vertex], distance, normals);
  yw_vec3 first = yw_xyz(normals[0]), second = first;
  float least = 1.0f, most = 0.0f;
  for (int n = 1; n < YW_BCC_DIRECTIONS; ++n) {
    float cosine = yw_dot(first, yw_xyz(normals[n]));
    if (cosine < least) least = cosine, second = yw_xyz(normals[n]);
  }
  if (least > YW_FEATURE_SHARP_COSINE) return YW_HOLD_SURFACE;
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

static void make_offer(yw_featurer* f, int32_t vertex, yw_vec3 place) {
  if (yw_feature_is_excepted(f, place)) return;
  float distance = yw_distance(f->edit->positions.items[vertex], place);
  if (distance < f->offers[vertex].distance)
    f->offers[vertex] = (yw_feature_offer){place, distance};
}

static void clear_offers(yw_featurer* f) {
  for (int32_t i = 0; i < f->edit->positions.count; ++i) f->offers[i].distance = INFINITY;
}

static void offer_corners(yw_featurer* f) {
  const yw_tet_edit* e = f->edit;
  for (int32_t t = 0; t < f->num_triangles; ++t) {
    const int32_t* v = f->triangles + 3 * (size_t)t;
    yw_vec3 p[3], normal[3], corner;
    for (int k = 0; k < 3; ++k) {
      p[k] = e->positions.items[v[k]];
      normal[k] = yw_feature_normal(f, v[k]);
    }
    if (yw_dot(normal[0], normal[1]) > YW_FEATURE_SHARP_COSINE ||
        yw_dot(normal[1], normal[2]) > YW_FEATURE_SHARP_COSINE ||
        yw_dot(normal[2], normal[0]) > YW_FEATURE_SHARP_COSINE) {
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
static yw_status drop_double_offers(yw_featurer* f) {
  const yw_tet_edit* e = f->edit;
  int32_t* list = YW_NEW_ARRAY(&e->mem, int32_t, e->positions.count);
  int32_t count = 0;
  if (list == NULL) return YW_ERR_MEMORY;
  for (int32_t i = 0; i < e->positions.count; ++i) {
    if (f->offers[i].distance < INFINITY) list[count++] = i;
  }
  for (int32_t m = 0; m < count; ++m) {
    for (int32_t n = m + 1; n < count; ++n) {
      yw_feature_offer *first = &f->offers[list[m]], *second = &f->offers[list[n]];
      float gap = yw_distance(first->place, second->place);
      if (gap > YW_FEATURE_CLOSE_ENOUGH * e->sizes.items[list[m]]) continue;
      (first->distance <= second->distance ? second : first)->distance = INFINITY;
    }
  }
  yw_mem_free(&e->mem, list);
  return YW_OK;
}

static void take_offers(yw_featurer* f, float reach, yw_vertex_hold hold) {
  int32_t count = f->edit->positions.count;
  for (int32_t i = 0; i < count; ++i) {
    if (!(f->offers[i].distance < reach * f->edit->sizes.items[i]) ||
        f->edit->holds.items[i] != YW_HOLD_SURFACE)
      continue;
    yw_feature_try_move(f, i, f->offers[i].place, hold);
  }
}

// Edges -------------------------------------------------------------------------------------------

// along (may be NULL) receives the direction of the crease.
bool yw_feature_crosses(const yw_featurer* f, int32_t a, int32_t b, yw_vec3* place,
                        yw_vec3* along) {
  const yw_tet_edit* e = f->edit;
  if (e->holds.items[a] != YW_HOLD_SURFACE || e->holds.items[b] != YW_HOLD_SURFACE) return false;
  const yw_vec3 p[2] = {e->positions.items[a], e->positions.items[b]};
  const yw_vec3 normal[2] = {yw_feature_normal(f, a), yw_feature_normal(f, b)};
  if (yw_dot(normal[0], normal[1]) > YW_FEATURE_SHARP_COSINE) return false;
  if (along != NULL) *along = yw_normalize_or(yw_cross(normal[0], normal[1]), yw_v3(0, 0, 0));
  return yw_find_crease(e->shape, p, normal, place);
}

static void offer_crease(yw_featurer* f, int32_t a, int32_t b) {
  yw_vec3 place;
  if (!yw_feature_crosses(f, a, b, &place, NULL)) return;
  const yw_vec3* x = f->edit->positions.items;
  float limit = NEAR_END * yw_distance(x[a], x[b]);
  if (yw_distance(x[a], place) < limit) make_offer(f, a, place);
  if (yw_distance(x[b], place) < limit) make_offer(f, b, place);
}

// Moves a vertex to the nearest point of a straight crease.
static bool try_slide(yw_featurer* f, int32_t vertex, yw_vec3 place, yw_vec3 along) {
  const yw_tet_edit* e = f->edit;
  yw_vec3 from = yw_sub(e->positions.items[vertex], place);
  yw_vec3 x = yw_mad(place, yw_dot(from, along), along);
  float tolerance = YW_FEATURE_ON_CREASE * e->sizes.items[vertex];
  if (!yw_feature_is_on_surface(f, x, tolerance)) return false;
  return yw_feature_try_move(f, vertex, x, YW_HOLD_CREASE);
}

// Inserts a vertex a little way along the crease.
static bool try_beside(yw_featurer* f, int32_t a, int32_t b, yw_vec3 place, yw_vec3 along,
                       float size) {
  for (int n = 0; n < 4; ++n) {
    yw_vec3 beside = yw_mad(place, (n < 2 ? 0.15f : 0.3f) * (n & 1 ? size : -size), along);
    if (!yw_feature_is_on_surface(f, beside, YW_FEATURE_ON_CREASE * size)) continue;
    if (yw_feature_try_split(f, a, b, beside)) return true;
  }
  return false;
}

// Inserts a vertex where an edge still crosses a crease, or moves one of its ends after all.
static void split_at_crease(yw_featurer* f, int32_t a, int32_t b) {
  yw_vec3 place, along;
  if (!yw_feature_crosses(f, a, b, &place, &along) || yw_feature_is_excepted(f, place)) return;
  const yw_vec3* x = f->edit->positions.items;
  yw_vec3 edge = yw_sub(x[b], x[a]);
  float size = fminf(f->edit->sizes.items[a], f->edit->sizes.items[b]);
  float t = yw_dot(yw_sub(place, x[a]), edge) / yw_length2(edge);
  if (yw_distance(place, yw_mad(x[a], t, edge)) < YW_FEATURE_CLOSE_ENOUGH * size) return;
  if (yw_feature_try_split(f, a, b, place)) return;
  int32_t first = t < 0.5f ? a : b, second = t < 0.5f ? b : a;
  if (yw_feature_try_move(f, first, place, YW_HOLD_CREASE) ||
      yw_feature_try_move(f, second, place, YW_HOLD_CREASE)) {
    return;
  }
  if (try_slide(f, first, place, along) || try_slide(f, second, place, along)) return;
  try_beside(f, a, b, place, along, size);
}

static yw_status sharpen_corners(yw_featurer* f) {
  int32_t num_made = 0;
  f->bad_cosine = BAD_COSINE;
  yw_status status = yw_make_missed_corners(f, false, &num_made);
  f->bad_cosine = WORST_COSINE;
  int32_t again = 0;
  if (status == YW_OK) status = yw_make_missed_corners(f, true, &again);
  if (status == YW_OK && num_made + again > 0) {
    each_edge(f, split_at_crease);
    status = yw_feature_list_boundary(f);
  }
  return status;
}

yw_status yw_mesher_sharpen(yw_tet_edit* edit, const yw_no_features* except, bool has_faces,
                            yw_places* unsharp) {
  unsharp->count = 0;
  yw_featurer f = {.edit = edit,
                   .except = except,
                   .unsharp = unsharp,
                   .has_faces = has_faces,
                   .bad_cosine = BAD_COSINE};
  yw_status status = yw_feature_list_boundary(&f);
  f.offers = YW_NEW_ARRAY(&edit->mem, yw_feature_offer, edit->positions.count);
  f.normals = YW_NEW_ARRAY(&edit->mem, yw_known_normal, edit->positions.count);
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
    status = yw_feature_list_boundary(&f);
  }
  if (status == YW_OK && has_faces) status = sharpen_corners(&f);
  if (status == YW_OK) each_edge(&f, yw_note_unsharp);
  if (status == YW_OK && has_faces) status = yw_feature_list_boundary(&f);
  if (status == YW_OK && has_faces) each_edge(&f, yw_mend_missed_edge);
  yw_mem_free(&edit->mem, f.offers);
  yw_mem_free(&edit->mem, f.normals);
  yw_mem_free(&edit->mem, f.triangles);
  return status;
}
