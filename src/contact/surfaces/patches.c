// SPDX-License-Identifier: MIT
// A pose R, o of a leaf puts a particle that was at X to R X + o. If the particles of two leaves
// are within e of where one pose puts them, distances between their primitives are those at rest to
// within 2 e. For the other leaf, e is its own error and what the two poses differ by there.
#include "contact/surfaces/patches.h"

#include "contact/box_walk.h"
#include "contact/surfaces/approach.h"
#include "contact/surfaces/leaf_boxes.h"
#include "yawara/extend/memory.h"

// Distances at rest beyond this many mean edges do not matter.
#define FAR 0.75f
// Rounding of distances at rest, in mean edges.
#define ROUNDING 1e-4f

// Rest shape ------------------------------------------------------------------------------------

static int32_t corner_of_leaf(const yw_complex* c, int32_t leaf, int32_t i) {
  const yw_complex_leaf* l = &c->leaves[leaf];
  if (c->num_triangles > 0) return c->triangles[l->triangle + i / 3][i % 3];
  return c->edges[l->edge + i / 2][i % 2];
}

static int32_t num_corners(const yw_complex* c, int32_t leaf) {
  const yw_complex_leaf* l = &c->leaves[leaf];
  return c->num_triangles > 0 ? 3 * (l[1].triangle - l[0].triangle) : 2 * (l[1].edge - l[0].edge);
}

static int32_t farthest_from(const yw_vec3* rest, int32_t count, yw_vec3 a, yw_vec3 b) {
  int32_t best = 0;
  float most = -1.0f;
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 to = yw_sub(rest[i], a), along = yw_normalize_or(yw_sub(b, a), yw_v3(0, 0, 0));
    float far = yw_length2(yw_mad(to, -yw_dot(to, along), along));
    if (far > most) best = i, most = far;
  }
  return best;
}

static yw_vec4 bounds_of(const yw_vec3* rest, int32_t count) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) box = yw_aabb_grow(box, rest[i]);
  yw_vec3 center = yw_scale(yw_add(box.lower, box.upper), 0.5f);
  yw_vec4 bounds = yw_v4(center);
  for (int32_t i = 0; i < count; ++i) bounds.w = fmaxf(bounds.w, yw_distance(rest[i], center));
  return bounds;
}

// Lists the particles of every leaf, each once, and chooses three far apart.
static void list_particles(yw_patches* p, const yw_complex* c, const yw_vec3* rest, int32_t* seen) {
  int32_t count = 0;
  for (int32_t i = 0; i < c->num_particles; ++i) seen[i] = -1;
  for (int32_t leaf = 0; leaf < c->num_leaves; ++leaf) {
    int32_t first = p->first_particle[leaf] = count;
    for (int32_t i = 0; i < num_corners(c, leaf); ++i) {
      int32_t particle = corner_of_leaf(c, leaf, i);
      if (seen[particle] == leaf) continue;
      seen[particle] = leaf;
      p->particles[count] = particle;
      p->rest[count++] = rest[particle];
    }
    const yw_vec3* x = p->rest + first;
    int32_t* corners = p->corners[leaf];
    corners[0] = farthest_from(x, count - first, x[0], x[0]);
    corners[1] = farthest_from(x, count - first, x[corners[0]], x[corners[0]]);
    corners[2] = farthest_from(x, count - first, x[corners[0]], x[corners[1]]);
    for (int k = 0; k < 3; ++k) corners[k] += first;
    p->bounds[leaf] = bounds_of(x, count - first);
  }
  p->first_particle[c->num_leaves] = count;
}

// Pairs at rest ---------------------------------------------------------------------------------

typedef struct rest_boxes {
  yw_box_block* blocks;
  yw_box_tree leaves;
  int32_t (*found)[2];
} rest_boxes;

static void set_box(yw_box_block* first, int32_t i, const int32_t* particles, int count,
                    const yw_vec3* rest, yw_aabb* all) {
  yw_aabb box = yw_aabb_empty();
  for (int k = 0; k < count; ++k) box = yw_aabb_grow(box, rest[particles[k]]);
  yw_box_set(first, i, box);
  *all = yw_aabb_join(*all, box);
}

static bool make_boxes(const yw_allocator* mem, const yw_complex* c, const yw_vec3* rest,
                       rest_boxes* b) {
  b->blocks = YW_NEW_ARRAY(mem, yw_box_block, c->leaves[c->num_leaves].block);
  yw_aabb* nodes = YW_NEW_ARRAY(mem, yw_aabb, yw_box_tree_nodes(c->num_leaves));
  b->found = yw_mem_alloc(mem, YW_NEAR_LEAF_MAX * YW_NEAR_LEAF_MAX, sizeof *b->found);
  b->leaves = yw_box_tree_of(nodes, c->num_leaves);
  if (!b->blocks || !nodes || !b->found) return false;
  for (int32_t leaf = 0; leaf < c->num_leaves; ++leaf) {
    const yw_complex_leaf* l = &c->leaves[leaf];
    yw_box_block* vertices = b->blocks + yw_leaf_vertex_block(l);
    yw_box_block* triangles = b->blocks + yw_leaf_triangle_block(l);
    yw_box_block* edges = b->blocks + yw_leaf_edge_block(l);
    yw_aabb all = yw_aabb_empty();
    for (int32_t i = l[0].vertex; i < l[1].vertex; ++i) {
      set_box(vertices, i - l->vertex, &c->vertices[i], 1, rest, &all);
    }
    for (int32_t i = l[0].edge; i < l[1].edge; ++i) {
      set_box(edges, i - l->edge, c->edges[i], 2, rest, &all);
    }
    for (int32_t i = l[0].triangle; i < l[1].triangle; ++i) {
      set_box(triangles, i - l->triangle, c->triangles[i], 3, rest, &all);
    }
    nodes[b->leaves.first_leaf + leaf] = all;
  }
  yw_box_tree_refit(&b->leaves);
  return true;
}

// Least distance between the vertices (or edges) of one leaf and the triangles (or edges) of
// another, as far as they are nearer than `least`.
static float least_distance(const yw_complex* c, const yw_vec3* rest, const rest_boxes* b,
                            const yw_near_fns* near, yw_pair_kind kind, const int32_t leaf[2],
                            float least) {
  const yw_complex_leaf *l0 = &c->leaves[leaf[0]], *l1 = &c->leaves[leaf[1]];
  bool edges = kind == YW_EDGE_EDGE;
  yw_near_boxes side_0 = edges ? yw_leaf_edges(l0, b->blocks) : yw_leaf_vertices(l0, b->blocks);
  yw_near_boxes side_1 = edges ? yw_leaf_edges(l1, b->blocks) : yw_leaf_triangles(l1, b->blocks);
  const yw_aabb* boxes = b->leaves.nodes + b->leaves.first_leaf;
  side_0.asked = near->select(&side_0, boxes[leaf[1]], least);
  side_1.asked = near->select(&side_1, boxes[leaf[0]], least);
  bool same = edges && leaf[0] == leaf[1];
  int32_t found = near->meet(&side_0, &side_1, least, same, b->found);
  for (int32_t i = 0; i < found; ++i) {
    const int32_t* pair = b->found[i];
    const int32_t* second = edges ? c->edges[pair[1]] : c->triangles[pair[1]];
    const int32_t* first = edges ? c->edges[pair[0]] : &c->vertices[pair[0]];
    int split = yw_pair_split(kind);
    bool share = false;
    yw_vec3 x[4];
    for (int j = 0; j < 4; ++j) x[j] = rest[j < split ? first[j] : second[j - split]];
    for (int j = 0; j < split; ++j) {
      for (int k = 0; k < 4 - split; ++k) share = share || first[j] == second[k];
    }
    if (share) continue;
    float distance = yw_nearest_points(kind, x).distance;
    if (distance < least) least = distance;
  }
  return least;
}

static float distance_at_rest(const yw_complex* c, const yw_vec3* rest, const rest_boxes* b,
                              const yw_near_fns* near, int32_t leaf, int32_t other) {
  const int32_t forth[2] = {leaf, other}, back[2] = {other, leaf};
  float least = FAR * c->size;
  least = least_distance(c, rest, b, near, YW_VERTEX_TRIANGLE, forth, least);
  least = least_distance(c, rest, b, near, YW_VERTEX_TRIANGLE, back, least);
  least = least_distance(c, rest, b, near, YW_EDGE_EDGE, forth, least);
  return least - ROUNDING * c->size;
}

typedef YW_LIST(yw_patch_pair) pair_list;

static bool list_pairs(yw_patches* p, const yw_complex* c, const yw_vec3* rest, const rest_boxes* b,
                       const yw_near_fns* near, pair_list* list) {
  for (int32_t leaf = 0; leaf < c->num_leaves; ++leaf) {
    p->first_pair[leaf] = list->count;
    yw_aabb box = yw_aabb_pad(b->leaves.nodes[b->leaves.first_leaf + leaf], FAR * c->size);
    yw_box_walk walk = yw_box_walk_begin(&b->leaves, box);
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      if (other < leaf) continue;
      if (!YW_LIST_RESERVE(&p->mem, list, 1)) return false;
      float distance = distance_at_rest(c, rest, b, near, leaf, other);
      list->items[list->count++] = (yw_patch_pair){other, distance};
    }
  }
  p->first_pair[c->num_leaves] = list->count;
  return true;
}

yw_patches* yw_patches_create(const yw_allocator* mem, const yw_complex* c, const yw_vec3* rest,
                              const yw_near_fns* near) {
  yw_patches* p = YW_NEW(mem, yw_patches);
  if (!p) return NULL;
  p->mem = yw_mem_or_default(mem);
  size_t corners = 0;
  for (int32_t leaf = 0; leaf < c->num_leaves; ++leaf) corners += (size_t)num_corners(c, leaf);
  p->first_particle = YW_NEW_ARRAY(&p->mem, int32_t, c->num_leaves + 1);
  p->particles = YW_NEW_ARRAY(&p->mem, int32_t, corners);
  p->rest = YW_NEW_ARRAY(&p->mem, yw_vec3, corners);
  p->corners = yw_mem_alloc(&p->mem, (size_t)c->num_leaves, sizeof *p->corners);
  p->bounds = YW_NEW_ARRAY(&p->mem, yw_vec4, c->num_leaves);
  p->first_pair = YW_NEW_ARRAY(&p->mem, int32_t, c->num_leaves + 1);
  int32_t* seen = YW_NEW_ARRAY(&p->mem, int32_t, c->num_particles);
  rest_boxes boxes = {.blocks = NULL};
  pair_list list = {0};
  bool ok = p->first_particle && p->particles && p->rest && p->corners && p->bounds &&
            p->first_pair && seen && make_boxes(&p->mem, c, rest, &boxes);
  if (ok) list_particles(p, c, rest, seen);
  ok = ok && list_pairs(p, c, rest, &boxes, near, &list);
  p->pairs = list.items;
  yw_mem_free(&p->mem, seen);
  yw_mem_free(&p->mem, boxes.blocks);
  yw_mem_free(&p->mem, boxes.leaves.nodes);
  yw_mem_free(&p->mem, boxes.found);
  if (ok) return p;
  yw_patches_destroy(p);
  return NULL;
}

void yw_patches_destroy(yw_patches* p) {
  if (!p) return;
  yw_allocator mem = p->mem;
  void* arrays[] = {p->first_particle, p->particles,  p->rest, p->corners,
                    p->bounds,         p->first_pair, p->pairs};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_mem_free(&mem, p);
}

// Poses -----------------------------------------------------------------------------------------

static float component(yw_vec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

static yw_vec3 turned(const yw_patch_pose* pose, yw_vec3 x) {
  yw_vec3 sum = yw_mad(yw_scale(pose->axes[0], x.x), x.y, pose->axes[1]);
  return yw_mad(sum, x.z, pose->axes[2]);
}

// An orthonormal frame through three points; degenerate ones give any.
static void frame_of(yw_vec3 a, yw_vec3 b, yw_vec3 c, yw_vec3 axes[3]) {
  axes[0] = yw_normalize_or(yw_sub(b, a), yw_v3(1, 0, 0));
  yw_vec3 aside = yw_sub(c, a), other = fabsf(axes[0].x) < 0.8f ? yw_v3(1, 0, 0) : yw_v3(0, 1, 0);
  other = yw_sub(other, yw_scale(axes[0], yw_dot(other, axes[0])));
  aside = yw_sub(aside, yw_scale(axes[0], yw_dot(aside, axes[0])));
  axes[1] = yw_normalize_or(aside, yw_normalize_or(other, yw_v3(0, 1, 0)));
  axes[2] = yw_cross(axes[0], axes[1]);
}

yw_patch_pose yw_patch_pose_of(const yw_patches* p, int32_t leaf, const yw_vec4* begin,
                               const yw_vec4* end) {
  yw_vec3 now[3], rest[3], from[3], to[3];
  for (int k = 0; k < 3; ++k) {
    int32_t at = p->corners[leaf][k];
    rest[k] = p->rest[at];
    now[k] = yw_xyz(begin[p->particles[at]]);
  }
  frame_of(rest[0], rest[1], rest[2], from);
  frame_of(now[0], now[1], now[2], to);
  // R = sum to[k] from[k]^T.
  yw_patch_pose pose;
  for (int k = 0; k < 3; ++k) {
    pose.axes[k] = yw_scale(to[0], component(from[0], k));
    pose.axes[k] = yw_mad(pose.axes[k], component(from[1], k), to[1]);
    pose.axes[k] = yw_mad(pose.axes[k], component(from[2], k), to[2]);
  }
  yw_vec3 middle = yw_scale(yw_add(yw_add(rest[0], rest[1]), rest[2]), 1.0f / 3.0f);
  yw_vec3 center = yw_scale(yw_add(yw_add(now[0], now[1]), now[2]), 1.0f / 3.0f);
  pose.origin = yw_sub(center, turned(&pose, middle));
  pose.low = yw_v3(INFINITY, INFINITY, INFINITY);
  pose.high = yw_neg(pose.low);
  float error2 = 0.0f;
  for (int32_t i = p->first_particle[leaf]; i < p->first_particle[leaf + 1]; ++i) {
    yw_vec3 x = yw_xyz(begin[p->particles[i]]), way = yw_sub(yw_xyz(end[p->particles[i]]), x);
    yw_vec3 off = yw_sub(x, yw_add(pose.origin, turned(&pose, p->rest[i])));
    error2 = fmaxf(error2, yw_length2(off));
    pose.low = yw_min3(pose.low, way);
    pose.high = yw_max3(pose.high, way);
  }
  pose.error = sqrtf(error2);
  return pose;
}

// How far apart two poses put particles of leaf b, at most.
static float mismatch(const yw_patches* p, const yw_patch_pose* x, const yw_patch_pose* y,
                      int32_t b) {
  yw_vec3 center = yw_xyz(p->bounds[b]);
  yw_vec3 to_x = yw_add(x->origin, turned(x, center));
  yw_vec3 to_y = yw_add(y->origin, turned(y, center));
  float turn2 = 0.0f;
  for (int k = 0; k < 3; ++k) turn2 += yw_length2(yw_sub(x->axes[k], y->axes[k]));
  return yw_distance(to_x, to_y) + p->bounds[b].w * sqrtf(turn2);
}

bool yw_patches_stay_apart(const yw_patches* p, const yw_patch_pose* poses, int32_t a, int32_t b,
                           float needed) {
  const yw_patch_pair *pair = p->pairs + p->first_pair[a], *end = p->pairs + p->first_pair[a + 1];
  while (pair < end && pair->other != b) ++pair;
  if (pair == end) return false;
  // Motions relative to each other, and to standing still.
  yw_vec3 zero = yw_v3(0, 0, 0);
  yw_vec3 low = yw_min3(zero, yw_min3(poses[a].low, poses[b].low));
  yw_vec3 high = yw_max3(zero, yw_max3(poses[a].high, poses[b].high));
  float room = 0.5f * (pair->distance - needed - yw_distance(low, high));
  float error = poses[a].error;
  if (b != a) error = fmaxf(error, poses[b].error + mismatch(p, &poses[a], &poses[b], b));
  return error < room;
}
