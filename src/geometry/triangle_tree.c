// SPDX-License-Identifier: MIT
// Built top down with the surface area heuristic over bins of centroids (Wald 2007, "On fast
// construction of SAH-based bounding volume hierarchies"). The nearest point on a triangle follows
// from the Voronoi regions of its corners and edges (Ericson, "Real-Time Collision Detection",
// 5.1.5).
#include "geometry/triangle_tree.h"

#include <string.h>

#include "yawara/extend/memory.h"

#define NUM_BINS 16
#define LEAF_SIZE 4
/// Below this depth nodes are halved by count, so that no input exceeds YW_TREE_MAX_DEPTH (31 more
/// halvings reach a single triangle).
#define SAH_DEPTH 48
/// Cost of visiting a node, in triangle tests.
#define VISIT_COST 1.0f

// Building

typedef struct item {
  yw_aabb box;
  yw_vec3 center;
  int32_t triangle;
} item;

typedef struct span {
  int32_t node, begin, end, depth;
} span;

static float component(yw_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static float half_area(yw_aabb box) {
  yw_vec3 d = yw_sub(box.upper, box.lower);
  return d.x * d.y + d.y * d.z + d.z * d.x;
}

static int bin_of(const item* it, int axis, float low, float to_bin) {
  int bin = (int)((component(it->center, axis) - low) * to_bin);
  return bin < 0 ? 0 : bin >= NUM_BINS ? NUM_BINS - 1 : bin;
}

// Cost of the best cut between the bins of one axis, and the last bin on its left.
static float best_cut(const item* items, int32_t count, int axis, float low, float to_bin,
                      int* last_left) {
  yw_aabb boxes[NUM_BINS];
  int32_t counts[NUM_BINS] = {0};
  for (int b = 0; b < NUM_BINS; ++b) boxes[b] = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) {
    int b = bin_of(&items[i], axis, low, to_bin);
    ++counts[b];
    boxes[b] = yw_aabb_join(boxes[b], items[i].box);
  }
  float right_cost[NUM_BINS];
  yw_aabb box = yw_aabb_empty();
  int32_t n = 0;
  for (int b = NUM_BINS - 1; b > 0; --b) {
    box = yw_aabb_join(box, boxes[b]);
    n += counts[b];
    right_cost[b] = n ? half_area(box) * (float)n : INFINITY;
  }
  float best = INFINITY;
  box = yw_aabb_empty();
  n = 0;
  for (int b = 0; b + 1 < NUM_BINS; ++b) {
    box = yw_aabb_join(box, boxes[b]);
    n += counts[b];
    float cost = n ? half_area(box) * (float)n + right_cost[b + 1] : INFINITY;
    if (cost < best) best = cost, *last_left = b;
  }
  return best;
}

// Reorders the items and returns how many go left; 0 makes a leaf.
static int32_t split(item* items, int32_t count, yw_aabb box, int32_t depth) {
  if (count <= 1) return 0;
  yw_aabb centers = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) centers = yw_aabb_grow(centers, items[i].center);
  yw_vec3 extent = yw_sub(centers.upper, centers.lower);

  float best = INFINITY;
  int best_axis = -1, best_bin = 0;
  for (int axis = 0; axis < 3 && depth < SAH_DEPTH; ++axis) {
    float width = component(extent, axis);
    float to_bin = width > 0.0f ? (float)NUM_BINS / width : INFINITY;
    if (!isfinite(to_bin)) continue;
    int bin = 0;
    float cost = best_cut(items, count, axis, component(centers.lower, axis), to_bin, &bin);
    if (cost < best) best = cost, best_axis = axis, best_bin = bin;
  }
  float area = half_area(box), cost = area > 0.0f ? VISIT_COST + best / area : INFINITY;
  if (count <= LEAF_SIZE && !(cost < (float)count)) return 0;
  if (best_axis < 0) return count <= LEAF_SIZE ? 0 : count / 2;

  float low = component(centers.lower, best_axis);
  float to_bin = (float)NUM_BINS / component(extent, best_axis);
  int32_t left = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (bin_of(&items[i], best_axis, low, to_bin) > best_bin) continue;
    item moved = items[i];
    items[i] = items[left];
    items[left++] = moved;
  }
  return left > 0 && left < count ? left : count / 2;
}

static void build_nodes(yw_triangle_tree* tree, item* items) {
  span stack[YW_TREE_MAX_DEPTH + 1] = {{0, 0, tree->num_triangles, 0}};
  int32_t top = 1;
  tree->num_nodes = 1;
  while (top > 0) {
    span work = stack[--top];
    yw_aabb box = yw_aabb_empty();
    for (int32_t i = work.begin; i < work.end; ++i) box = yw_aabb_join(box, items[i].box);
    int32_t count = work.end - work.begin;
    int32_t left = split(items + work.begin, count, box, work.depth);
    yw_tree_node* node = &tree->nodes[work.node];
    *node = (yw_tree_node){box.lower, work.begin, box.upper, count};
    if (left == 0) continue;
    int32_t child = tree->num_nodes, middle = work.begin + left;
    tree->num_nodes += 2;
    node->first = child;
    node->count = 0;
    stack[top++] = (span){child + 1, middle, work.end, work.depth + 1};
    stack[top++] = (span){child, work.begin, middle, work.depth + 1};
  }
}

static yw_tree_triangle make_triangle(const int32_t* corners, const yw_vec3* positions,
                                      int32_t index) {
  yw_tree_triangle t = {positions[corners[0]], positions[corners[1]], positions[corners[2]], index,
                        false};
  yw_vec3 ab = yw_sub(t.b, t.a), ac = yw_sub(t.c, t.a), bc = yw_sub(t.c, t.b);
  float longest2 = fmaxf(yw_length2(ab), fmaxf(yw_length2(ac), yw_length2(bc)));
  // Thinner than a millionth of its length: the sides of its plane are rounding noise.
  t.is_flat = !(yw_length2(yw_cross(ab, ac)) > 1e-12f * longest2 * longest2);
  return t;
}

yw_status yw_triangle_tree_create(const yw_allocator* mem, int32_t num_triangles,
                                  const int32_t* triangles, const yw_vec3* positions,
                                  const bool* use, yw_triangle_tree* out) {
  *out = (yw_triangle_tree){.mem = yw_mem_or_default(mem)};
  int32_t count = 0;
  for (int32_t i = 0; i < num_triangles; ++i) count += !use || use[i];
  if (count < 1) return YW_ERR_INVALID;
  item* items = YW_NEW_ARRAY(mem, item, count);
  out->nodes = YW_NEW_ARRAY(mem, yw_tree_node, 2 * (size_t)count);
  out->triangles = YW_NEW_ARRAY(mem, yw_tree_triangle, count);
  if (!items || !out->nodes || !out->triangles) {
    yw_mem_free(mem, items);
    yw_triangle_tree_free(out);
    return YW_ERR_MEMORY;
  }
  for (int32_t i = 0; i < num_triangles; ++i) {
    if (use && !use[i]) continue;
    const int32_t* corners = triangles + 3 * (size_t)i;
    yw_aabb box = yw_aabb_empty();
    for (int k = 0; k < 3; ++k) box = yw_aabb_grow(box, positions[corners[k]]);
    yw_vec3 center = yw_scale(yw_add(box.lower, box.upper), 0.5f);
    items[out->num_triangles++] = (item){box, center, i};
  }
  build_nodes(out, items);
  for (int32_t i = 0; i < count; ++i) {
    int32_t index = items[i].triangle;
    out->triangles[i] = make_triangle(triangles + 3 * (size_t)index, positions, index);
  }
  yw_mem_free(mem, items);
  return YW_OK;
}

void yw_triangle_tree_free(yw_triangle_tree* tree) {
  yw_mem_free(&tree->mem, tree->nodes);
  yw_mem_free(&tree->mem, tree->triangles);
  *tree = (yw_triangle_tree){0};
}

static yw_aabb box_of_leaf(const yw_triangle_tree* tree, const yw_tree_node* leaf) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = leaf->first; i < leaf->first + leaf->count; ++i) {
    const yw_tree_triangle* t = &tree->triangles[i];
    box = yw_aabb_grow(yw_aabb_grow(yw_aabb_grow(box, t->a), t->b), t->c);
  }
  return box;
}

void yw_triangle_tree_refit(yw_triangle_tree* tree, const int32_t* triangles,
                            const yw_vec3* positions) {
  for (int32_t i = 0; i < tree->num_triangles; ++i) {
    int32_t index = tree->triangles[i].index;
    tree->triangles[i] = make_triangle(triangles + 3 * (size_t)index, positions, index);
  }
  for (int32_t n = tree->num_nodes - 1; n >= 0; --n) {
    yw_tree_node* node = &tree->nodes[n];
    const yw_tree_node* child = &tree->nodes[node->first];
    if (node->count > 0) {
      yw_aabb box = box_of_leaf(tree, node);
      node->lower = box.lower;
      node->upper = box.upper;
    } else {
      node->lower = yw_min3(child[0].lower, child[1].lower);
      node->upper = yw_max3(child[0].upper, child[1].upper);
    }
  }
}

// Nearest point

static yw_vec3 nearest_on_edge(yw_vec3 a, yw_vec3 b, yw_vec3 p, int32_t bit_a, int32_t bit_b,
                               int32_t* corners) {
  yw_vec3 ab = yw_sub(b, a);
  float along = yw_dot(yw_sub(p, a), ab), length2 = yw_length2(ab);
  *corners = bit_a;
  if (!(along > 0.0f)) return a;
  *corners = bit_b;
  if (!(along < length2)) return b;
  *corners = bit_a | bit_b;
  return yw_mad(a, along / length2, ab);
}

static yw_vec3 nearest_on_flat(const yw_tree_triangle* t, yw_vec3 p, int32_t* corners) {
  int32_t at[3];
  yw_vec3 points[3] = {nearest_on_edge(t->a, t->b, p, 1, 2, &at[0]),
                       nearest_on_edge(t->b, t->c, p, 2, 4, &at[1]),
                       nearest_on_edge(t->c, t->a, p, 4, 1, &at[2])};
  int best = 0;
  for (int i = 1; i < 3; ++i)
    if (yw_length2(yw_sub(points[i], p)) < yw_length2(yw_sub(points[best], p))) best = i;
  *corners = at[best];
  return points[best];
}

// In double: the areas below are differences of products and would vanish in a sliver.
typedef struct wide {
  double x, y, z;
} wide;

static inline wide wide_sub(yw_vec3 a, yw_vec3 b) {
  return (wide){(double)a.x - (double)b.x, (double)a.y - (double)b.y, (double)a.z - (double)b.z};
}
static inline double wide_dot(wide a, wide b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// a + s ab + t ac
static inline yw_vec3 wide_point(yw_vec3 a, double s, wide ab, double t, wide ac) {
  return yw_v3((float)((double)a.x + s * ab.x + t * ac.x),
               (float)((double)a.y + s * ab.y + t * ac.y),
               (float)((double)a.z + s * ab.z + t * ac.z));
}

yw_vec3 yw_triangle_nearest(const yw_tree_triangle* t, yw_vec3 p, int32_t* corners) {
  if (t->is_flat) return nearest_on_flat(t, p, corners);
  wide ab = wide_sub(t->b, t->a), ac = wide_sub(t->c, t->a), ap = wide_sub(p, t->a);
  double d1 = wide_dot(ab, ap), d2 = wide_dot(ac, ap);
  *corners = 1;
  if (d1 <= 0.0 && d2 <= 0.0) return t->a;
  wide bp = wide_sub(p, t->b);
  double d3 = wide_dot(ab, bp), d4 = wide_dot(ac, bp);
  *corners = 2;
  if (d3 >= 0.0 && d4 <= d3) return t->b;
  wide cp = wide_sub(p, t->c);
  double d5 = wide_dot(ab, cp), d6 = wide_dot(ac, cp);
  *corners = 4;
  if (d6 >= 0.0 && d5 <= d6) return t->c;

  // Areas of the parts cut off by the foot of p, up to a common factor.
  double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
  *corners = 3;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return wide_point(t->a, d1 / (d1 - d3), ab, 0.0, ac);
  *corners = 5;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return wide_point(t->a, 0.0, ab, d2 / (d2 - d6), ac);
  *corners = 6;
  double from_b = d4 - d3, from_c = d5 - d6, inv = 1.0 / (from_b + from_c);
  if (va <= 0.0 && from_b >= 0.0 && from_c >= 0.0)
    return wide_point(t->a, from_c * inv, ab, from_b * inv, ac);
  // All three areas are positive here unless rounding decides; the edges are then close enough.
  if (!(va > 0.0 && vb > 0.0 && vc > 0.0)) return nearest_on_flat(t, p, corners);
  *corners = 7;
  inv = 1.0 / (va + vb + vc);
  return wide_point(t->a, vb * inv, ab, vc * inv, ac);
}

static float box_distance2(const yw_tree_node* node, yw_vec3 p) {
  float x0 = node->lower.x - p.x, x1 = p.x - node->upper.x, x = x0 > x1 ? x0 : x1;
  float y0 = node->lower.y - p.y, y1 = p.y - node->upper.y, y = y0 > y1 ? y0 : y1;
  float z0 = node->lower.z - p.z, z1 = p.z - node->upper.z, z = z0 > z1 ? z0 : z1;
  x = x > 0.0f ? x : 0.0f, y = y > 0.0f ? y : 0.0f, z = z > 0.0f ? z : 0.0f;
  return x * x + y * y + z * z;
}

static void visit_leaf(const yw_triangle_tree* tree, const yw_tree_node* node, yw_vec3 p,
                       yw_nearest* best) {
  for (int32_t i = node->first; i < node->first + node->count; ++i) {
    int32_t corners;
    yw_vec3 point = yw_triangle_nearest(&tree->triangles[i], p, &corners);
    float distance2 = yw_length2(yw_sub(p, point));
    if (distance2 < best->distance2) *best = (yw_nearest){i, corners, distance2, point};
  }
}

yw_nearest yw_triangle_tree_nearest(const yw_triangle_tree* tree, yw_vec3 p, float limit2) {
  struct {
    int32_t node;
    float distance2;
  } stack[YW_TREE_MAX_DEPTH + 1];
  yw_nearest best = {-1, 0, limit2, {0, 0, 0}};
  int32_t top = 0, at = 0;
  for (;;) {
    const yw_tree_node* node = &tree->nodes[at];
    if (node->count > 0) {
      visit_leaf(tree, node, p, &best);
    } else {
      // The nearer child first; the other may be pruned later.
      float left = box_distance2(&tree->nodes[node->first], p);
      float right = box_distance2(&tree->nodes[node->first + 1], p);
      bool swap = right < left;
      float near2 = swap ? right : left, far2 = swap ? left : right;
      if (far2 < best.distance2) {
        stack[top].node = node->first + !swap;
        stack[top++].distance2 = far2;
      }
      if (near2 < best.distance2) {
        at = node->first + swap;
        continue;
      }
    }
    while (top > 0 && !(stack[top - 1].distance2 < best.distance2)) --top;
    if (top == 0) return best;
    at = stack[--top].node;
  }
}
