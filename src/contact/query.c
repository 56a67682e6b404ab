// SPDX-License-Identifier: MIT
// Trees over the surface of one body. Pruning keeps ties, and ties go to the least number, so that
// a result does not depend on the order in which the tree is walked.
#include "contact/query.h"

#include <string.h>

#include "contact/ray.h"
#include "contact/surface.h"
#include "geometry/order.h"
#include "yawara/extend/memory.h"

// Depth of a tree of up to 2^31 leaves; a walk keeps one node per level.
#define MAX_DEPTH 32
// Searches by thirds for the nearest points of a box and a thick primitive: enough for a float.
#define THIRDS 40
// Boxes of a ray are grown by this share of the coordinates, more than they can be off by rounding.
#define ROUNDING 4e-7f

// Making and fitting ------------------------------------------------------------------------------

static const int32_t* primitives_of(const yw_contact_geometry* g, const yw_particles* p,
                                    int32_t* corners, int32_t* count) {
  if (g->num_triangles > 0) {
    *corners = 3, *count = g->num_triangles;
    return g->triangles;
  }
  if (g->num_segments > 0) {
    *corners = 2, *count = g->num_segments;
    return g->segments;
  }
  *corners = 1, *count = g->radius ? p->count : 0;
  return NULL;
}

// Puts the primitives into an order in which neighbours in space are neighbours.
static bool sort_items(yw_query_surface* s, const int32_t* items, const yw_contact_geometry* g,
                       const yw_particles* p) {
  yw_vec3* centers = YW_NEW_ARRAY(&s->mem, yw_vec3, s->count);
  bool ok = centers != NULL;
  for (int32_t i = 0; ok && i < s->count; ++i) {
    for (int32_t k = 0; k < s->corners; ++k) {
      int32_t particle = items ? items[s->corners * i + k] : i;
      yw_vec3 at = g->rest ? g->rest[particle] : yw_xyz(p->pos[particle]);
      centers[i] = yw_mad(centers[i], 1.0f / (float)s->corners, at);
    }
  }
  ok = ok && yw_hilbert_order(&s->mem, s->count, centers, 0.0, s->numbers) >= 0;
  for (int32_t i = 0; ok && i < s->corners * s->count; ++i) {
    int32_t number = s->numbers[i / s->corners];
    s->items[i] = items ? items[s->corners * number + i % s->corners] : number;
  }
  yw_mem_free(&s->mem, centers);
  return ok;
}

yw_query_surface* yw_query_surface_create(const yw_allocator* mem,
                                          const yw_contact_geometry* geometry,
                                          const yw_particles* particles) {
  yw_query_surface* s = YW_NEW(mem, yw_query_surface);
  if (!s) return NULL;
  s->mem = *mem;
  const int32_t* items = primitives_of(geometry, particles, &s->corners, &s->count);
  s->is_volume = geometry->num_tets > 0 && s->corners == 3;
  s->is_loose = !geometry->rest;
  int32_t leaves = (s->count + YW_QUERY_LEAF - 1) / YW_QUERY_LEAF;
  s->items = YW_NEW_ARRAY(mem, int32_t, s->corners * s->count);
  s->numbers = YW_NEW_ARRAY(mem, int32_t, s->count);
  s->nodes = YW_NEW_ARRAY(mem, yw_aabb, yw_box_tree_nodes(leaves));
  bool ok = s->items && s->numbers && s->nodes && sort_items(s, items, geometry, particles);
  if (!ok) {
    yw_query_surface_destroy(s);
    return NULL;
  }
  s->tree = yw_box_tree_of(s->nodes, leaves);
  return s;
}

void yw_query_surface_destroy(yw_query_surface* s) {
  if (!s) return;
  yw_allocator mem = s->mem;
  yw_mem_free(&mem, s->items);
  yw_mem_free(&mem, s->numbers);
  yw_mem_free(&mem, s->nodes);
  yw_mem_free(&mem, s);
}

// The radius of a primitive: the largest of its corners.
static float radius_of(const yw_query_surface* s, int32_t item) {
  float radius = 0.0f;
  for (int32_t k = 0; s->radius && k < s->corners; ++k) {
    radius = fmaxf(radius, s->radius[s->items[s->corners * item + k]]);
  }
  return radius;
}

static void corners_of(const yw_query_surface* s, int32_t item, yw_vec3 out[3]) {
  for (int32_t k = 0; k < 3; ++k) {
    int32_t corner = k < s->corners ? k : s->corners - 1;
    out[k] = yw_xyz(s->pos[s->items[s->corners * item + corner]]);
  }
}

bool yw_query_surface_fit(yw_query_surface* s, const yw_contact_geometry* geometry,
                          const yw_particles* particles) {
  s->pos = particles->pos;
  s->radius = geometry->radius;
  if (s->is_loose && !sort_items(s, NULL, geometry, particles)) return false;
  for (int32_t leaf = 0; leaf < s->tree.num_leaves; ++leaf) {
    yw_aabb box = yw_aabb_empty();
    int32_t end = (leaf + 1) * YW_QUERY_LEAF < s->count ? (leaf + 1) * YW_QUERY_LEAF : s->count;
    for (int32_t i = leaf * YW_QUERY_LEAF; i < end; ++i) {
      yw_vec3 x[3];
      corners_of(s, i, x);
      yw_aabb own = yw_aabb_grow(yw_aabb_grow(yw_aabb_grow(yw_aabb_empty(), x[0]), x[1]), x[2]);
      box = yw_aabb_join(box, yw_aabb_pad(own, radius_of(s, i)));
    }
    s->tree.nodes[s->tree.first_leaf + leaf] = box;
  }
  yw_box_tree_refit(&s->tree);
  return true;
}

// Walks -------------------------------------------------------------------------------------------

// Least number first where two are as near.
static bool is_better(const yw_query_surface* s, const yw_query_find* best, int32_t item,
                      float share) {
  if (best->item < 0 || share < best->share) return true;
  return share == best->share && s->numbers[item] < s->numbers[best->item];
}

float yw_query_enter_box(yw_aabb box, yw_vec3 from, yw_vec3 way, float most) {
  const float lower[3] = {box.lower.x, box.lower.y, box.lower.z};
  const float upper[3] = {box.upper.x, box.upper.y, box.upper.z};
  const float p[3] = {from.x, from.y, from.z}, d[3] = {way.x, way.y, way.z};
  float first = 0.0f, last = most;
  for (int k = 0; k < 3; ++k) {
    float pad = ROUNDING * (fabsf(p[k]) + fabsf(d[k]) + fmaxf(fabsf(lower[k]), fabsf(upper[k])));
    float low = lower[k] - pad - p[k], high = upper[k] + pad - p[k];
    if (d[k] == 0.0f) {
      if (!(low <= 0.0f && high >= 0.0f)) return INFINITY;
      continue;
    }
    float a = low / d[k], b = high / d[k];
    first = fmaxf(first, fminf(a, b));
    last = fminf(last, fmaxf(a, b));
  }
  // A share is rounded too.
  return first <= last * (1.0f + 4.0f * ROUNDING) + 4.0f * ROUNDING ? first : INFINITY;
}

static float box_distance2(yw_aabb box, yw_vec3 p) {
  yw_vec3 off = yw_max3(yw_max3(yw_sub(box.lower, p), yw_sub(p, box.upper)), yw_v3(0, 0, 0));
  return yw_length2(off);
}

// Nodes still to visit, nearest on top.
typedef struct node_stack {
  int32_t count;
  struct {
    int32_t node;
    float key;
  } items[MAX_DEPTH + 2];
} node_stack;

static void push(node_stack* w, int32_t node, float key) {
  if (key == INFINITY) return;
  w->items[w->count].node = node;
  w->items[w->count++].key = key;
}

static void push_children(node_stack* w, int32_t node, float left, float right) {
  bool left_first = left <= right;
  push(w, 2 * node + (left_first ? 1 : 0), left_first ? right : left);
  push(w, 2 * node + (left_first ? 0 : 1), left_first ? left : right);
}

// Casts -------------------------------------------------------------------------------------------

static yw_vec3 face_normal(const yw_vec3 x[3]) {
  yw_vec3 n = yw_cross(yw_sub(x[1], x[0]), yw_sub(x[2], x[0]));
  return yw_normalize_or(n, yw_v3(0, 1, 0));
}

// Nearest point of a primitive, without its radius.
static yw_vec3 nearest_on(const yw_query_surface* s, const yw_vec3 x[3], yw_vec3 p,
                          float weights[3]) {
  if (s->corners == 3) return yw_nearest_on_triangle(p, x[0], x[1], x[2], weights);
  yw_vec3 u = yw_sub(x[1], x[0]);
  float length2 = yw_length2(u);
  float t = length2 > 0.0f ? yw_clampf(yw_dot(yw_sub(p, x[0]), u) / length2, 0.0f, 1.0f) : 0.0f;
  weights[0] = 1.0f - t;
  weights[1] = t;
  weights[2] = 0.0f;
  return yw_mad(x[0], t, u);
}

// Direction from a place on a primitive to a point beside it.
static yw_vec3 away_from(const yw_query_surface* s, const yw_vec3 x[3], yw_vec3 place, yw_vec3 p) {
  yw_vec3 fallback = yw_v3(0, 1, 0);
  if (s->corners == 3) fallback = face_normal(x);
  return yw_normalize_or(yw_sub(p, place), fallback);
}

static double cast_at(const yw_query_surface* s, const yw_ray* ray, int32_t item, float radius,
                      double weights[3]) {
  yw_vec3 x[3];
  corners_of(s, item, x);
  double reach = (double)radius + (double)radius_of(s, item);
  if (s->corners == 3 && reach == 0.0) return yw_ray_triangle(ray, x[0], x[1], x[2], weights);
  if (s->corners == 3) return yw_sweep_triangle(ray->from, ray->way, x[0], x[1], x[2], reach);
  if (s->corners == 2) return yw_sweep_segment(ray->from, ray->way, x[0], x[1], reach);
  return yw_sweep_ball(ray->from, ray->way, x[0], reach);
}

// Place, weights and normal of the primitive that was met.
static void describe_cast(const yw_query_surface* s, const yw_ray* ray, float radius,
                          const double exact[3], yw_query_find* found) {
  yw_vec3 x[3], at = yw_mad(ray->from, found->share, ray->way);
  corners_of(s, found->item, x);
  float own = radius_of(s, found->item);
  if (s->corners == 3 && radius == 0.0f && own == 0.0f) {
    for (int k = 0; k < 3; ++k) found->weights[k] = (float)exact[k];
    found->point = at;
    found->normal = face_normal(x);
    return;
  }
  yw_vec3 place = nearest_on(s, x, at, found->weights);
  found->normal = away_from(s, x, place, at);
  found->point = yw_mad(place, own, found->normal);
}

yw_query_find yw_query_cast(const yw_query_surface* s, yw_vec3 from, yw_vec3 way, float radius,
                            float most) {
  yw_query_find best = {.item = -1, .share = most};
  if (s->count == 0 || !(yw_length2(way) > 0.0f)) return best;
  yw_ray ray = yw_ray_of(from, way);
  double exact[3] = {0};
  node_stack w = {0};
  push(&w, 1, yw_query_enter_box(yw_aabb_pad(s->tree.nodes[1], radius), from, way, most));
  while (w.count > 0) {
    int32_t node = w.items[--w.count].node;
    if (w.items[w.count].key > best.share * (1.0f + 4.0f * ROUNDING) + 4.0f * ROUNDING) continue;
    if (node < s->tree.first_leaf) {
      float keys[2];
      for (int k = 0; k < 2; ++k) {
        keys[k] = yw_query_enter_box(yw_aabb_pad(s->tree.nodes[2 * node + k], radius), from, way,
                                     best.share);
      }
      push_children(&w, node, keys[0], keys[1]);
      continue;
    }
    int32_t first = (node - s->tree.first_leaf) * YW_QUERY_LEAF;
    for (int32_t i = first; i < first + YW_QUERY_LEAF && i < s->count; ++i) {
      double weights[3] = {0}, share = cast_at(s, &ray, i, radius, weights);
      if (share < 0.0 || (float)share > most || !is_better(s, &best, i, (float)share)) continue;
      best.item = i;
      best.share = (float)share;
      memcpy(exact, weights, sizeof exact);
    }
  }
  if (best.item >= 0) describe_cast(s, &ray, radius, exact, &best);
  return best;
}

// Nearest -----------------------------------------------------------------------------------------

yw_query_find yw_query_nearest(const yw_query_surface* s, yw_vec3 p, float most) {
  yw_query_find best = {.item = -1, .share = most};
  if (s->count == 0) return best;
  node_stack w = {0};
  push(&w, 1, box_distance2(s->tree.nodes[1], p));
  while (w.count > 0) {
    int32_t node = w.items[--w.count].node;
    float far = fmaxf(best.share, 0.0f);
    if (w.items[w.count].key > far * far * (1.0f + 8.0f * ROUNDING)) continue;
    if (node < s->tree.first_leaf) {
      push_children(&w, node, box_distance2(s->tree.nodes[2 * node], p),
                    box_distance2(s->tree.nodes[2 * node + 1], p));
      continue;
    }
    int32_t first = (node - s->tree.first_leaf) * YW_QUERY_LEAF;
    for (int32_t i = first; i < first + YW_QUERY_LEAF && i < s->count; ++i) {
      yw_query_find f = {.item = i};
      yw_vec3 x[3];
      corners_of(s, i, x);
      float radius = radius_of(s, i);
      yw_vec3 place = nearest_on(s, x, p, f.weights);
      f.share = yw_distance(place, p) - radius;
      if (f.share > most || !is_better(s, &best, i, f.share)) continue;
      f.normal = radius > 0.0f ? away_from(s, x, place, p) : face_normal(x);
      f.point = yw_mad(place, radius, f.normal);
      best = f;
    }
  }
  return best;
}

bool yw_query_contains(const yw_query_surface* s, yw_vec3 p) {
  if (!s->is_volume) return false;
  yw_aabb line = {p, yw_v3(INFINITY, p.y, p.z)};
  yw_box_walk walk = yw_box_walk_begin(&s->tree, line);
  bool inside = false;
  for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) {
    int32_t first = leaf * YW_QUERY_LEAF;
    for (int32_t i = first; i < first + YW_QUERY_LEAF && i < s->count; ++i) {
      yw_vec3 x[3];
      corners_of(s, i, x);
      inside = inside != yw_ray_crosses_x(p, x[0], x[1], x[2]);
    }
  }
  return inside;
}

// Boxes -------------------------------------------------------------------------------------------

static float box_gap2(yw_vec3 half, yw_vec3 p) {
  return box_distance2((yw_aabb){yw_neg(half), half}, p);
}

// Squared distance of a segment from the box: convex along it.
static float segment_gap2(yw_vec3 half, yw_vec3 a, yw_vec3 b) {
  float low = 0.0f, high = 1.0f;
  for (int i = 0; i < THIRDS; ++i) {
    float third = (high - low) / 3.0f, s = low + third, t = high - third;
    bool left = box_gap2(half, yw_lerp(a, b, s)) < box_gap2(half, yw_lerp(a, b, t));
    low = left ? low : s;
    high = left ? t : high;
  }
  return box_gap2(half, yw_lerp(a, b, 0.5f * (low + high)));
}

// The same of a triangle, slice by slice.
static float triangle_gap2(yw_vec3 half, const yw_vec3 x[3]) {
  float low = 0.0f, high = 1.0f;
  for (int i = 0; i < THIRDS; ++i) {
    float third = (high - low) / 3.0f, s = low + third, t = high - third;
    bool left = segment_gap2(half, yw_lerp(x[0], x[1], s), yw_lerp(x[0], x[2], s)) <
                segment_gap2(half, yw_lerp(x[0], x[1], t), yw_lerp(x[0], x[2], t));
    low = left ? low : s;
    high = left ? t : high;
  }
  float s = 0.5f * (low + high);
  return segment_gap2(half, yw_lerp(x[0], x[1], s), yw_lerp(x[0], x[2], s));
}

// x: corners in the axes of the box.
static bool meets_box(const yw_query_surface* s, const yw_vec3 x[3], float radius, yw_vec3 half) {
  if (s->corners == 1) return box_gap2(half, x[0]) <= radius * radius;
  if (s->corners == 2) return segment_gap2(half, x[0], x[1]) <= radius * radius;
  if (yw_box_meets_triangle(half, x[0], x[1], x[2])) return true;
  yw_vec3 more = yw_add(half, yw_v3(radius, radius, radius));
  if (radius == 0.0f || !yw_box_meets_triangle(more, x[0], x[1], x[2])) return false;
  return triangle_gap2(half, x) <= radius * radius;
}

// The box around a turned one.
static yw_aabb bounds_of(yw_vec3 center, yw_vec3 half, yw_quat rotation) {
  yw_mat3 m = yw_mat3_from_quat(rotation);
  yw_vec3 reach = yw_v3(fabsf(m.cx.x) * half.x + fabsf(m.cy.x) * half.y + fabsf(m.cz.x) * half.z,
                        fabsf(m.cx.y) * half.x + fabsf(m.cy.y) * half.y + fabsf(m.cz.y) * half.z,
                        fabsf(m.cx.z) * half.x + fabsf(m.cy.z) * half.y + fabsf(m.cz.z) * half.z);
  float size = fabsf(center.x) + fabsf(center.y) + fabsf(center.z) + reach.x + reach.y + reach.z;
  return yw_aabb_pad((yw_aabb){yw_sub(center, reach), yw_add(center, reach)}, ROUNDING * size);
}

yw_query_find yw_query_box(const yw_query_surface* s, yw_vec3 center, yw_vec3 half,
                           yw_quat rotation) {
  yw_query_find best = {.item = -1, .share = INFINITY};
  yw_quat back = yw_quat_conjugate(rotation);
  yw_box_walk walk = yw_box_walk_begin(&s->tree, bounds_of(center, half, rotation));
  for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) {
    int32_t first = leaf * YW_QUERY_LEAF;
    for (int32_t i = first; i < first + YW_QUERY_LEAF && i < s->count; ++i) {
      yw_vec3 x[3], seen[3];
      yw_query_find f = {.item = i};
      corners_of(s, i, x);
      for (int k = 0; k < 3; ++k) seen[k] = yw_rotate(back, yw_sub(x[k], center));
      float radius = radius_of(s, i);
      yw_vec3 place = nearest_on(s, x, center, f.weights);
      f.share = yw_distance(place, center) - radius;
      if (!is_better(s, &best, i, f.share) || !meets_box(s, seen, radius, half)) continue;
      f.normal = radius > 0.0f ? away_from(s, x, place, center) : face_normal(x);
      f.point = yw_mad(place, radius, f.normal);
      best = f;
    }
  }
  return best;
}
