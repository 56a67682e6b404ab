// SPDX-License-Identifier: MIT
#include "contact/surfaces/crossings.h"

#include "contact/surfaces/approach.h"
#include "yawara/extend/memory.h"

// Bodies in line with each other have edges within each other's faces, which cross nothing. So they
// are tested with one of them moved by this share of an edge, in a direction that is not in line
// with anything, and again with the opposite: what only touches is apart in one of the two.
#define SHIFT 1e-3f
static const yw_vec3 askew = {0.5347f, 0.6231f, 0.5709f};

// Balls overlap what is nearer than this share of the distance that contact keeps, which presses
// them together a little.
#define BALL_SHARE 0.9f

static yw_vec3 place(const yw_crossing_side* side, int32_t particle) {
  return yw_add(yw_xyz(side->particles->pos[particle]), side->shift);
}

// Boxes -----------------------------------------------------------------------------------------

static yw_aabb edge_box(const yw_crossing_side* side, int32_t edge) {
  yw_vec3 a = place(side, side->complex->edges[edge][0]);
  yw_vec3 b = place(side, side->complex->edges[edge][1]);
  return (yw_aabb){yw_min3(a, b), yw_max3(a, b)};
}

static yw_aabb triangle_box(const yw_crossing_side* side, int32_t triangle) {
  yw_aabb box = yw_aabb_empty();
  for (int k = 0; k < 3; ++k) {
    box = yw_aabb_grow(box, place(side, side->complex->triangles[triangle][k]));
  }
  return box;
}

bool yw_crossing_side_create(const yw_allocator* mem, const yw_contact_geometry* geometry,
                             const yw_particles* particles, yw_crossing_side* out) {
  *out = (yw_crossing_side){.particles = particles, .geometry = *geometry};
  out->complex = yw_complex_create(mem, geometry, particles->count);
  if (!out->complex) return false;
  const yw_complex* c = out->complex;
  yw_aabb* nodes = YW_NEW_ARRAY(mem, yw_aabb, yw_box_tree_nodes(c->num_leaves));
  if (!nodes) {
    yw_crossing_side_free(mem, out);
    return false;
  }
  out->leaves = yw_box_tree_of(nodes, c->num_leaves);
  for (int32_t i = 0; i < c->num_leaves; ++i) {
    const yw_complex_leaf* leaf = &c->leaves[i];
    yw_aabb box = yw_aabb_empty();
    for (int32_t e = leaf[0].edge; e < leaf[1].edge; ++e) box = yw_aabb_join(box, edge_box(out, e));
    for (int32_t t = leaf[0].triangle; t < leaf[1].triangle; ++t) {
      box = yw_aabb_join(box, triangle_box(out, t));
    }
    nodes[out->leaves.first_leaf + i] = box;
  }
  yw_box_tree_refit(&out->leaves);
  return true;
}

void yw_crossing_side_free(const yw_allocator* mem, yw_crossing_side* side) {
  yw_complex_destroy(side->complex);
  yw_mem_free(mem, side->leaves.nodes);
  *side = (yw_crossing_side){0};
}

// Edges and triangles ---------------------------------------------------------------------------

// Six times the volume of a tet, positive if d is above a, b, c seen counterclockwise.
static double volume6(yw_vec3 a, yw_vec3 b, yw_vec3 c, yw_vec3 d) {
  double u[3] = {(double)b.x - (double)a.x, (double)b.y - (double)a.y, (double)b.z - (double)a.z};
  double v[3] = {(double)c.x - (double)a.x, (double)c.y - (double)a.y, (double)c.z - (double)a.z};
  double w[3] = {(double)d.x - (double)a.x, (double)d.y - (double)a.y, (double)d.z - (double)a.z};
  return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
         (u[0] * v[1] - u[1] * v[0]) * w[2];
}

// Touching is not crossing.
static bool passes_through(yw_vec3 p, yw_vec3 q, const yw_vec3 t[3]) {
  if (volume6(t[0], t[1], t[2], p) * volume6(t[0], t[1], t[2], q) >= 0.0) return false;
  double a = volume6(p, q, t[0], t[1]), b = volume6(p, q, t[1], t[2]);
  double c = volume6(p, q, t[2], t[0]);
  return (a > 0.0 && b > 0.0 && c > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0);
}

static bool leaf_crosses(const yw_crossing_side* a, int32_t leaf_a, const yw_crossing_side* b,
                         int32_t leaf_b) {
  const yw_complex_leaf *la = &a->complex->leaves[leaf_a], *lb = &b->complex->leaves[leaf_b];
  for (int32_t e = la[0].edge; e < la[1].edge; ++e) {
    yw_aabb box = edge_box(a, e);
    for (int32_t k = lb[0].triangle; k < lb[1].triangle; ++k) {
      if (!yw_aabb_overlap(box, triangle_box(b, k))) continue;
      const int32_t *v = b->complex->triangles[k], *ends = a->complex->edges[e];
      const yw_vec3 t[3] = {place(b, v[0]), place(b, v[1]), place(b, v[2])};
      if (passes_through(place(a, ends[0]), place(a, ends[1]), t)) return true;
    }
  }
  return false;
}

// A surface that does not cross another is inside of it as a whole, or outside.
static bool lies_inside(const yw_crossing_side* inner, const yw_crossing_side* outer) {
  if (inner->complex->num_vertices == 0 || !outer->geometry.tets) return false;
  yw_vec3 p = place(inner, inner->complex->vertices[0]);
  for (int32_t i = 0; i < outer->geometry.num_tets; ++i) {
    const int32_t* v = outer->geometry.tets + 4 * (size_t)i;
    yw_vec3 x[4];
    for (int k = 0; k < 4; ++k) x[k] = place(outer, v[k]);
    double whole = volume6(x[0], x[1], x[2], x[3]);
    bool inside = whole > 0.0 && volume6(p, x[1], x[2], x[3]) > 0.0;
    inside = inside && volume6(x[0], p, x[2], x[3]) > 0.0 && volume6(x[0], x[1], p, x[3]) > 0.0;
    if (inside && volume6(x[0], x[1], x[2], p) > 0.0) return true;
  }
  return false;
}

static bool cross_as_placed(const yw_crossing_side* a, const yw_crossing_side* b) {
  float pad = yw_length(a->shift);
  for (int32_t leaf = 0; leaf < a->complex->num_leaves; ++leaf) {
    yw_aabb box = yw_aabb_pad(a->leaves.nodes[a->leaves.first_leaf + leaf], pad);
    yw_box_walk walk = yw_box_walk_begin(&b->leaves, box);
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      if (leaf_crosses(a, leaf, b, other) || leaf_crosses(b, other, a, leaf)) return true;
    }
  }
  return lies_inside(a, b) || lies_inside(b, a);
}

// Thickness -------------------------------------------------------------------------------------

static float radius_of(const yw_crossing_side* side, int32_t particle) {
  return side->geometry.radius ? side->geometry.radius[particle] : 0.0f;
}

static float most_radius(const yw_crossing_side* side) {
  float most = 0.0f;
  for (int32_t i = 0; i < side->complex->num_vertices && side->geometry.radius; ++i) {
    most = fmaxf(most, radius_of(side, side->complex->vertices[i]));
  }
  return most;
}

// Vertices of one leaf with triangles of the other.
static bool vertex_is_near(const yw_crossing_side* a, int32_t leaf_a, const yw_crossing_side* b,
                           int32_t leaf_b, float share) {
  const yw_complex_leaf *la = &a->complex->leaves[leaf_a], *lb = &b->complex->leaves[leaf_b];
  for (int32_t i = la[0].vertex; i < la[1].vertex; ++i) {
    int32_t p = a->complex->vertices[i];
    for (int32_t k = lb[0].triangle; k < lb[1].triangle; ++k) {
      const int32_t* v = b->complex->triangles[k];
      const yw_vec3 x[4] = {place(a, p), place(b, v[0]), place(b, v[1]), place(b, v[2])};
      float distance = yw_nearest_points(YW_VERTEX_TRIANGLE, x).distance;
      if (distance < share * (radius_of(a, p) + radius_of(b, v[0]))) return true;
    }
  }
  return false;
}

static bool edge_is_near(const yw_crossing_side* a, int32_t leaf_a, const yw_crossing_side* b,
                         int32_t leaf_b, float share) {
  const yw_complex_leaf *la = &a->complex->leaves[leaf_a], *lb = &b->complex->leaves[leaf_b];
  for (int32_t i = la[0].edge; i < la[1].edge; ++i) {
    const int32_t* e = a->complex->edges[i];
    for (int32_t k = lb[0].edge; k < lb[1].edge; ++k) {
      const int32_t* f = b->complex->edges[k];
      const yw_vec3 x[4] = {place(a, e[0]), place(a, e[1]), place(b, f[0]), place(b, f[1])};
      float distance = yw_nearest_points(YW_EDGE_EDGE, x).distance;
      if (distance < share * (radius_of(a, e[0]) + radius_of(b, f[0]))) return true;
    }
  }
  return false;
}

// Whether two sides are nearer than this share of the distance that contact keeps.
static bool is_near(const yw_crossing_side* a, const yw_crossing_side* b, float share) {
  float pad = share * (most_radius(a) + most_radius(b));
  for (int32_t leaf = 0; leaf < a->complex->num_leaves && pad > 0.0f; ++leaf) {
    yw_aabb box = yw_aabb_pad(a->leaves.nodes[a->leaves.first_leaf + leaf], pad);
    yw_box_walk walk = yw_box_walk_begin(&b->leaves, box);
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      if (vertex_is_near(a, leaf, b, other, share) || vertex_is_near(b, other, a, leaf, share) ||
          edge_is_near(a, leaf, b, other, share)) {
        return true;
      }
    }
  }
  return false;
}

static bool is_loose(const yw_crossing_side* side) { return side->complex->is_loose; }

// The first of two sides, moved by one or minus one shift.
static yw_crossing_side shifted(const yw_crossing_side* a, const yw_crossing_side* b, float sign) {
  float size = a->complex->size < b->complex->size ? a->complex->size : b->complex->size;
  yw_crossing_side side = *a;
  side.shift = yw_scale(askew, sign * SHIFT * size);
  return side;
}

bool yw_sides_cross(const yw_crossing_side* a, const yw_crossing_side* b) {
  if (is_loose(a) || is_loose(b)) {
    const yw_crossing_side *balls = is_loose(a) ? a : b, *other = is_loose(a) ? b : a;
    return is_near(a, b, BALL_SHARE) || lies_inside(balls, other);
  }
  yw_crossing_side forth = shifted(a, b, 1.0f), back = shifted(a, b, -1.0f);
  return cross_as_placed(&forth, b) && cross_as_placed(&back, b);
}

bool yw_sides_touch(const yw_crossing_side* a, const yw_crossing_side* b) {
  if (is_loose(a) || is_loose(b)) return false;
  yw_crossing_side forth = shifted(a, b, 1.0f), back = shifted(a, b, -1.0f);
  return cross_as_placed(&forth, b) || cross_as_placed(&back, b);
}

bool yw_sides_press(const yw_crossing_side* a, const yw_crossing_side* b) {
  return is_near(a, b, 1.0f);
}
