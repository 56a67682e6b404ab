// SPDX-License-Identifier: MIT
// A lattice rounds off sharp edges, and makes them jagged at an angle to the lattice. The shape's
// normals at the two ends of a mesh edge show that there is a crease in between. The tangent planes
// meet in it, and the distance there shows whether it is really sharp (after L. Kobbelt et al.,
// "Feature sensitive surface extraction from volume data", SIGGRAPH 2001).
#include "geometry/surface_features.h"

#include "geometry/shape.h"
#include "geometry/surface_split.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define SMOOTH_COSINE 0.9f        // planes within 25 degrees are one surface
#define OPPOSITE_COSINE (-0.95f)  // planes back to back do not intersect usefully
#define ON_SURFACE 0.01f          // of the edge: how close to the surface a crease must be
#define FACING_COSINE 0.2f        // a triangle and the surface may be 78 degrees apart
#define CREASE_STEPS 4
#define NEAR_END 0.3f  // of the edge: a crease this close moves the end

typedef struct crease {
  yw_vec3 place;
  bool sharp;
  int32_t vertex;  ///< placed there; -1: none
} crease;

typedef struct sharpener {
  const yw_shape* shape;
  yw_tri_mesh* mesh;
  int32_t* partner;  ///< per half-edge
  crease* creases;   ///< per half-edge; only the lower one of a pair is used
  yw_vec3* normals;  ///< per vertex, of the shape
  unsigned char* on_crease;
  float* nearest;    ///< per vertex: distance to the crease it would move to
  yw_vec3* targets;  ///< per vertex: target position; after the move, the previous position
  int32_t old_vertices;
  int32_t num_new;  ///< new vertices on edges
} sharpener;

static int32_t next_of(int32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }

static crease* crease_of(const sharpener* s, int32_t h) {
  int32_t other = s->partner[h];
  return &s->creases[other >= 0 && other < h ? other : h];
}

// Finding creases ---------------------------------------------------------------------------------

// The point nearest to q on both planes (a, na) and (b, nb).
static yw_vec3 meet_planes(yw_vec3 q, yw_vec3 a, yw_vec3 na, yw_vec3 b, yw_vec3 nb) {
  float c = yw_dot(na, nb), inv = 1.0f / (1.0f - c * c);
  float ea = yw_dot(na, yw_sub(a, q)), eb = yw_dot(nb, yw_sub(b, q));
  return yw_mad(yw_mad(q, (ea - c * eb) * inv, na), (eb - c * ea) * inv, nb);
}

// A point of the surface slightly beside q, towards `end`, and the normal there.
static void sample_side(const yw_shape* shape, yw_vec3 q, yw_vec3 end, float length, yw_vec3* point,
                        yw_vec3* normal) {
  yw_vec3 way = yw_sub(end, q);
  float distance = yw_length(way);
  if (!(distance > 1e-3f * length)) return;
  float step = fmaxf(0.25f * distance, 0.05f * length);
  yw_vec3 p = yw_mad(q, step / distance, way), n;
  float d = yw_shape_distance_normal(shape, p, &n);
  *point = yw_mad(p, -d, n);
  *normal = n;
}

// The planes are recomputed next to the first result, which converges on curved creases.
bool yw_find_crease(const yw_shape* shape, const yw_vec3 p[2], const yw_vec3 normal[2],
                    yw_vec3* out) {
  float length = yw_distance(p[0], p[1]);
  yw_vec3 middle = yw_lerp(p[0], p[1], 0.5f), q = middle;
  yw_vec3 a = p[0], na = normal[0], b = p[1], nb = normal[1];
  for (int step = 0; step < CREASE_STEPS; ++step) {
    float c = yw_dot(na, nb);
    if (!(c < SMOOTH_COSINE && c > OPPOSITE_COSINE)) return false;
    q = meet_planes(q, a, na, b, nb);
    if (!(yw_distance(q, middle) < length)) return false;
    if (step == CREASE_STEPS - 1) break;
    sample_side(shape, q, p[0], length, &a, &na);
    sample_side(shape, q, p[1], length, &b, &nb);
  }
  *out = q;
  float along = yw_dot(yw_sub(q, p[0]), yw_sub(p[1], p[0])) / (length * length);
  yw_vec3 unused;
  return along > 0.0f && along < 1.0f &&
         fabsf(yw_shape_gap(shape, q, &unused)) < ON_SURFACE * length;
}

static void find_creases(sharpener* s) {
  const yw_tri_mesh* mesh = s->mesh;
  for (int32_t h = 0; h < 3 * mesh->num_triangles; ++h) {
    if (s->partner[h] < h) continue;
    int32_t u = mesh->triangles[h], v = mesh->triangles[next_of(h)];
    if (!(yw_dot(s->normals[u], s->normals[v]) < SMOOTH_COSINE)) continue;
    yw_vec3 ends[2] = {mesh->positions[u], mesh->positions[v]};
    yw_vec3 normals[2] = {s->normals[u], s->normals[v]};
    crease* here = &s->creases[h];
    here->sharp = yw_find_crease(s->shape, ends, normals, &here->place);
    here->vertex = -1;
  }
}

// Vertices onto creases ---------------------------------------------------------------------------

// Records for both ends of an edge how close its crease is.
static void offer_crease(sharpener* s, int32_t h) {
  const yw_tri_mesh* mesh = s->mesh;
  int32_t ends[2] = {mesh->triangles[h], mesh->triangles[next_of(h)]};
  float length = yw_distance(mesh->positions[ends[0]], mesh->positions[ends[1]]);
  for (int k = 0; k < 2; ++k) {
    float distance = yw_distance(s->creases[h].place, mesh->positions[ends[k]]);
    if (distance >= NEAR_END * length || distance >= s->nearest[ends[k]]) continue;
    s->nearest[ends[k]] = distance;
    s->targets[ends[k]] = s->creases[h].place;
  }
}

// Whether a triangle faces the same way as the surface at its vertices. Unknown on a crease.
static bool faces_surface(const sharpener* s, const yw_vec3* x, const int32_t* v) {
  yw_vec3 n = yw_cross(yw_sub(x[v[1]], x[v[0]]), yw_sub(x[v[2]], x[v[0]]));
  float least = FACING_COSINE * yw_length(n);
  for (int k = 0; k < 3; ++k) {
    if (v[k] >= s->old_vertices || s->on_crease[v[k]]) continue;
    if (yw_dot(n, s->normals[v[k]]) < least) return false;
  }
  return true;
}

// Reverts moves that flip a triangle: there the mesh is too coarse for its creases. targets holds
// the previous positions.
static void undo_moves(sharpener* s) {
  yw_tri_mesh* mesh = s->mesh;
  bool changed = true;
  while (changed) {
    changed = false;
    for (int32_t t = 0; t < mesh->num_triangles; ++t) {
      const int32_t* v = mesh->triangles + 3 * (size_t)t;
      if (!s->on_crease[v[0]] && !s->on_crease[v[1]] && !s->on_crease[v[2]]) continue;
      if (faces_surface(s, mesh->positions, v)) continue;
      for (int k = 0; k < 3; ++k) {
        if (!s->on_crease[v[k]]) continue;
        mesh->positions[v[k]] = s->targets[v[k]];
        s->on_crease[v[k]] = 0;
      }
      changed = true;
    }
  }
}

static void move_vertices(sharpener* s) {
  yw_tri_mesh* mesh = s->mesh;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) s->nearest[i] = INFINITY;
  for (int32_t h = 0; h < 3 * mesh->num_triangles; ++h) {
    if (s->partner[h] > h && s->creases[h].sharp) offer_crease(s, h);
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    if (!(s->nearest[i] < INFINITY)) continue;
    yw_vec3 from = mesh->positions[i];
    mesh->positions[i] = s->targets[i];
    s->targets[i] = from;
    s->on_crease[i] = 1;
  }
  undo_moves(s);
}

// New vertices ------------------------------------------------------------------------------------

static bool is_split(const sharpener* s, int32_t h) { return crease_of(s, h)->vertex >= 0; }

bool yw_find_corner(const yw_shape* shape, const yw_vec3 p[3], const yw_vec3 normal[3],
                    yw_vec3* out) {
  yw_vec3 n0 = normal[0], n1 = normal[1], n2 = normal[2];
  float det = yw_dot(n0, yw_cross(n1, n2)), length = yw_distance(p[0], p[1]);
  if (!(fabsf(det) > 0.1f)) return false;
  yw_vec3 q = yw_scale(yw_cross(n1, n2), yw_dot(n0, p[0]));
  q = yw_mad(q, yw_dot(n1, p[1]), yw_cross(n2, n0));
  q = yw_scale(yw_mad(q, yw_dot(n2, p[2]), yw_cross(n0, n1)), 1.0f / det);
  *out = q;
  return yw_distance(q, p[0]) < 1.5f * length &&
         fabsf(yw_shape_distance(shape, q)) < ON_SURFACE * length;
}

static bool find_corner(const sharpener* s, int32_t t, yw_vec3* out) {
  const int32_t* v = s->mesh->triangles + 3 * (size_t)t;
  const yw_vec3* x = s->mesh->positions;
  const yw_vec3 p[3] = {x[v[0]], x[v[1]], x[v[2]]};
  const yw_vec3 normal[3] = {s->normals[v[0]], s->normals[v[1]], s->normals[v[2]]};
  return yw_find_corner(s->shape, p, normal, out);
}

// Numbers the new vertices for edges that still cross a crease.
static void number_new_vertices(sharpener* s) {
  const yw_tri_mesh* mesh = s->mesh;
  s->num_new = 0;
  for (int32_t h = 0; h < 3 * mesh->num_triangles; ++h) {
    crease* here = &s->creases[h];
    here->vertex = -1;
    if (s->partner[h] < h || !here->sharp) continue;
    if (s->on_crease[mesh->triangles[h]] || s->on_crease[mesh->triangles[next_of(h)]]) continue;
    here->vertex = s->old_vertices + s->num_new++;
  }
}

#define MAX_PIECES 6

typedef struct triangle_writer {
  int32_t* triangles;
  int32_t num_triangles;
  yw_vec3* positions;
  int32_t num_vertices;
} triangle_writer;

static void write_triangle(triangle_writer* w, int32_t a, int32_t b, int32_t c) {
  int32_t* out = w->triangles + 3 * (size_t)w->num_triangles++;
  out[0] = a, out[1] = b, out[2] = c;
}

// A triangle with two split edges: corner w between them, new vertices a after w and b before it.
static void write_two_splits(triangle_writer* out, int32_t w, int32_t u, int32_t v, int32_t a,
                             int32_t b) {
  write_triangle(out, w, a, b);
  const yw_vec3* x = out->positions;
  if (yw_distance(x[a], x[v]) <= yw_distance(x[u], x[b])) {
    write_triangle(out, a, u, v);
    write_triangle(out, a, v, b);
  } else {
    write_triangle(out, a, u, b);
    write_triangle(out, u, v, b);
  }
}

static void write_split_triangle(const sharpener* s, int32_t t, triangle_writer* out) {
  const int32_t* v = s->mesh->triangles + 3 * (size_t)t;
  int32_t m[3], splits = 0, first = 0;
  for (int k = 0; k < 3; ++k) {
    m[k] = crease_of(s, 3 * t + k)->vertex;
    splits += m[k] >= 0;
  }
  // Rotate the triangle so that a single split is on edge 0, two are on edges 0 and 2.
  for (int k = 0; k < 3; ++k) {
    if (splits == 1 && m[k] >= 0) first = k;
    if (splits == 2 && m[(k + 1) % 3] < 0) first = k;
  }
  int32_t a = v[first], b = v[(first + 1) % 3], c = v[(first + 2) % 3];
  int32_t ab = m[first], bc = m[(first + 1) % 3], ca = m[(first + 2) % 3];
  if (splits == 0) {
    write_triangle(out, a, b, c);
  } else if (splits == 1) {
    write_triangle(out, a, ab, c);
    write_triangle(out, ab, b, c);
  } else if (splits == 2) {
    write_two_splits(out, a, b, c, ab, ca);
  } else {
    write_triangle(out, a, ab, ca);
    write_triangle(out, b, bc, ab);
    write_triangle(out, c, ca, bc);
    yw_vec3 corner;
    if (!find_corner(s, t, &corner)) {
      write_triangle(out, ab, bc, ca);
      return;
    }
    int32_t tip = out->num_vertices++;
    out->positions[tip] = corner;
    write_triangle(out, tip, ab, bc);
    write_triangle(out, tip, bc, ca);
    write_triangle(out, tip, ca, ab);
  }
}

// Drops the creases of triangles of which a piece would flip; true if there were any.
static bool drop_bad_splits(sharpener* s, yw_vec3* positions) {
  bool dropped = false;
  for (int32_t t = 0; t < s->mesh->num_triangles; ++t) {
    if (!is_split(s, 3 * t) && !is_split(s, 3 * t + 1) && !is_split(s, 3 * t + 2)) continue;
    int32_t pieces[3 * MAX_PIECES];
    triangle_writer out = {pieces, 0, positions, s->old_vertices + s->num_new};
    write_split_triangle(s, t, &out);
    bool good = true;
    for (int32_t n = 0; n < out.num_triangles; ++n) {
      good = good && faces_surface(s, positions, pieces + 3 * n);
    }
    for (int k = 0; k < 3 && !good; ++k) crease_of(s, 3 * t + k)->sharp = false;
    dropped = dropped || !good;
  }
  return dropped;
}

// Replaces the mesh by one with the new vertices.
static yw_status insert_vertices(sharpener* s) {
  yw_tri_mesh* mesh = s->mesh;
  int32_t num_old = mesh->num_triangles, full = 0;
  number_new_vertices(s);
  for (int32_t t = 0; t < num_old; ++t) {
    full += is_split(s, 3 * t) && is_split(s, 3 * t + 1) && is_split(s, 3 * t + 2);
  }
  // A split edge adds two triangles; a triangle split three times adds up to two more and a tip.
  yw_tri_mesh grown;
  yw_status status = yw_tri_mesh_create(&mesh->mem, mesh->num_vertices + s->num_new + full + 1,
                                        num_old + 2 * s->num_new + 2 * full, &grown);
  if (status != YW_OK) return status;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) grown.positions[i] = mesh->positions[i];
  do {
    number_new_vertices(s);
    for (int32_t h = 0; h < 3 * num_old; ++h) {
      const crease* here = &s->creases[h];
      if (here->vertex >= 0) grown.positions[here->vertex] = here->place;
    }
  } while (drop_bad_splits(s, grown.positions));
  triangle_writer out = {grown.triangles, 0, grown.positions, mesh->num_vertices + s->num_new};
  for (int32_t t = 0; t < num_old; ++t) write_split_triangle(s, t, &out);
  grown.num_triangles = out.num_triangles;
  grown.num_vertices = out.num_vertices;
  yw_tri_mesh_free(mesh);
  *mesh = grown;
  return YW_OK;
}

yw_status yw_surface_sharpen(const yw_shape* shape, yw_tri_mesh* mesh) {
  if (mesh->num_triangles > INT32_MAX / 12) return YW_ERR_LIMIT;
  yw_allocator mem = mesh->mem;
  sharpener s = {.shape = shape, .mesh = mesh, .old_vertices = mesh->num_vertices};
  size_t num_half_edges = 3 * (size_t)mesh->num_triangles;
  s.partner = YW_NEW_ARRAY(&mem, int32_t, num_half_edges);
  s.creases = YW_NEW_ARRAY(&mem, crease, num_half_edges);
  s.normals = YW_NEW_ARRAY(&mem, yw_vec3, mesh->num_vertices);
  s.on_crease = YW_NEW_ARRAY(&mem, unsigned char, mesh->num_vertices);
  s.nearest = YW_NEW_ARRAY(&mem, float, mesh->num_vertices);
  s.targets = YW_NEW_ARRAY(&mem, yw_vec3, mesh->num_vertices);
  bool ready = s.partner && s.creases && s.normals && s.on_crease && s.nearest && s.targets;
  yw_status status = YW_ERR_MEMORY;
  if (ready) status = yw_half_edge_partners(&mem, mesh, s.partner);
  if (status == YW_OK) {
    for (int32_t i = 0; i < mesh->num_vertices; ++i) {
      yw_shape_distance_normal(shape, mesh->positions[i], &s.normals[i]);
    }
    find_creases(&s);
    move_vertices(&s);
    status = insert_vertices(&s);
  }
  yw_mem_free(&mem, s.partner);
  yw_mem_free(&mem, s.creases);
  yw_mem_free(&mem, s.normals);
  yw_mem_free(&mem, s.on_crease);
  yw_mem_free(&mem, s.nearest);
  yw_mem_free(&mem, s.targets);
  return status;
}
