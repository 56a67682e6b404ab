// SPDX-License-Identifier: MIT
#include "contact/moving_mesh.h"

#include <string.h>

#include "contact/box_walk.h"
#include "contact/surface.h"
#include "contact/surfaces/approach.h"
#include "geometry/order.h"

// Nodes on the way from the root to a leaf.
#define STACK 64
// Sine of the angle between two faces from which they are a concave corner.
#define IN_FRONT 0.05f
// Of coordinates, and of distances computed from them.
#define ROUNDING 1e-6f

// The tree ----------------------------------------------------------------------------------------

bool yw_moving_mesh_create(const yw_allocator* mem, const int32_t* triangles, int32_t num_triangles,
                           const yw_vec3* points, int32_t num_points, yw_moving_mesh* out) {
  *out = (yw_moving_mesh){.num_vertices = num_points, .num_triangles = num_triangles};
  int32_t leaves = (num_triangles + YW_MESH_LEAF - 1) / YW_MESH_LEAF;
  yw_vec3* centers = YW_NEW_ARRAY(mem, yw_vec3, num_triangles);
  int32_t* order = YW_NEW_ARRAY(mem, int32_t, num_triangles);
  out->triangles = yw_mem_alloc(mem, (size_t)num_triangles, sizeof *out->triangles);
  out->reaches = YW_NEW_ARRAY(mem, yw_aabb, num_points);
  yw_aabb* nodes = YW_NEW_ARRAY(mem, yw_aabb, yw_box_tree_nodes(leaves));
  bool made = centers && order && out->triangles && out->reaches && nodes;
  for (int32_t i = 0; i < num_triangles && made; ++i) {
    const int32_t* t = triangles + 3 * (size_t)i;
    yw_vec3 sum = yw_add(points[t[0]], yw_add(points[t[1]], points[t[2]]));
    centers[i] = yw_scale(sum, 1.0f / 3.0f);
  }
  made = made && yw_hilbert_order(mem, num_triangles, centers, 0.0, order) >= 0;
  for (int32_t i = 0; i < num_triangles && made; ++i) {
    memcpy(out->triangles[i], triangles + 3 * (size_t)order[i], sizeof *out->triangles);
  }
  out->tree = yw_box_tree_of(nodes, leaves);
  yw_mem_free(mem, centers);
  yw_mem_free(mem, order);
  if (!made) yw_moving_mesh_free(mem, out);
  return made;
}

void yw_moving_mesh_free(const yw_allocator* mem, yw_moving_mesh* mesh) {
  yw_mem_free(mem, mesh->triangles);
  yw_mem_free(mem, mesh->reaches);
  yw_mem_free(mem, mesh->tree.nodes);
  *mesh = (yw_moving_mesh){0};
}

float yw_moving_mesh_rounding(yw_aabb box) {
  yw_vec3 most = yw_max3(yw_neg(box.lower), box.upper);
  return ROUNDING * (most.x + most.y + most.z);
}

static int32_t end_of_leaf(const yw_moving_mesh* mesh, int32_t leaf) {
  int32_t end = (leaf + 1) * YW_MESH_LEAF;
  return end < mesh->num_triangles ? end : mesh->num_triangles;
}

static bool is_covered(const yw_moving_mesh* mesh, const yw_mesh_moment* moment) {
  const yw_mesh_moment* covers = mesh->covers;
  return covers[0].from && (covers[0].frame == moment->frame || covers[1].frame == moment->frame);
}

static yw_aabb reach_of(const yw_moving_mesh* mesh, int32_t triangle) {
  const int32_t* v = mesh->triangles[triangle];
  return yw_aabb_join(mesh->reaches[v[0]], yw_aabb_join(mesh->reaches[v[1]], mesh->reaches[v[2]]));
}

void yw_moving_mesh_fit(yw_moving_mesh* mesh) {
  if (is_covered(mesh, &mesh->begin) && is_covered(mesh, &mesh->end)) return;
  mesh->covers[0] = mesh->begin;
  mesh->covers[1] = mesh->end;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_aabb box =
        yw_aabb_join(yw_mesh_moment_reach(&mesh->begin, i), yw_mesh_moment_reach(&mesh->end, i));
    // Distances found inside are never smaller than the distance to the box, rounded or not.
    mesh->reaches[i] = yw_aabb_pad(box, yw_moving_mesh_rounding(box));
  }
  for (int32_t leaf = 0; leaf < mesh->tree.num_leaves; ++leaf) {
    yw_aabb box = yw_aabb_empty();
    for (int32_t i = leaf * YW_MESH_LEAF; i < end_of_leaf(mesh, leaf); ++i) {
      box = yw_aabb_join(box, reach_of(mesh, i));
    }
    mesh->tree.nodes[mesh->tree.first_leaf + leaf] = box;
  }
  yw_box_tree_refit(&mesh->tree);
}

// Places ------------------------------------------------------------------------------------------

// Corners of a triangle at both ends of the substep.
typedef struct motion {
  yw_vec3 begin[3], end[3];
} motion;

static motion motion_of(const yw_moving_mesh* mesh, int32_t triangle) {
  motion m;
  for (int k = 0; k < 3; ++k) {
    int32_t v = mesh->triangles[triangle][k];
    m.begin[k] = yw_mesh_moment_point(&mesh->begin, v);
    m.end[k] = yw_mesh_moment_point(&mesh->end, v);
  }
  return m;
}

static yw_aabb box_of(const motion* m) {
  yw_aabb box = yw_aabb_empty();
  for (int k = 0; k < 3; ++k) box = yw_aabb_grow(yw_aabb_grow(box, m->begin[k]), m->end[k]);
  return box;
}

static void corners_of(const motion* m, float at, yw_vec3 x[3]) {
  for (int k = 0; k < 3; ++k) x[k] = yw_lerp(m->begin[k], m->end[k], at);
}

static void corners_at(const yw_moving_mesh* mesh, int32_t triangle, float at, yw_vec3 x[3]) {
  motion m = motion_of(mesh, triangle);
  corners_of(&m, at, x);
}

yw_vec3 yw_moving_mesh_point(const yw_moving_mesh* mesh, const yw_mesh_place* place, float at) {
  yw_vec3 x[3], sum = yw_v3(0, 0, 0);
  corners_at(mesh, place->triangle, at, x);
  for (int k = 0; k < 3; ++k) sum = yw_mad(sum, place->weights[k], x[k]);
  return sum;
}

yw_vec3 yw_moving_mesh_way(const yw_moving_mesh* mesh, const yw_mesh_place* place) {
  yw_vec3 sum = yw_v3(0, 0, 0);
  motion m = motion_of(mesh, place->triangle);
  for (int k = 0; k < 3; ++k) {
    sum = yw_mad(sum, place->weights[k], yw_sub(m.end[k], m.begin[k]));
  }
  return sum;
}

// Away from the triangle, or along its normal for a point in its middle.
static yw_vec3 normal_of(yw_vec3 apart, const yw_vec3 x[3]) {
  yw_vec3 flat = yw_cross(yw_sub(x[1], x[0]), yw_sub(x[2], x[0]));
  return yw_normalize_or(apart, yw_normalize_or(flat, yw_v3(0, 1, 0)));
}

static float distance2_to_box(yw_aabb box, yw_vec3 p) {
  yw_vec3 nearest = yw_max3(box.lower, yw_min3(box.upper, p));
  return yw_length2(yw_sub(p, nearest));
}

static void look_at_leaf(const yw_moving_mesh* mesh, int32_t leaf, float at, yw_vec3 p,
                         float* most2, yw_mesh_place* out) {
  for (int32_t i = leaf * YW_MESH_LEAF; i < end_of_leaf(mesh, leaf); ++i) {
    yw_vec3 x[3];
    float weights[3];
    if (!(distance2_to_box(reach_of(mesh, i), p) <= *most2)) continue;
    corners_at(mesh, i, at, x);
    yw_vec3 apart = yw_sub(p, yw_nearest_on_triangle(p, x[0], x[1], x[2], weights));
    float found = yw_length2(apart);
    // Of triangles at the same distance the first, whichever is looked at first.
    bool same = found == *most2 && out->triangle >= 0;
    if (!(found <= *most2) || (same && out->triangle < i)) continue;
    *most2 = found;
    out->triangle = i;
    out->normal = normal_of(apart, x);
    memcpy(out->weights, weights, sizeof weights);
  }
}

bool yw_moving_mesh_nearest(const yw_moving_mesh* mesh, float at, yw_vec3 p, float most,
                            yw_mesh_place* out) {
  const yw_box_tree* tree = &mesh->tree;
  struct {
    int32_t node;
    float distance2;
  } stack[STACK], now = {1, distance2_to_box(tree->nodes[1], p)};
  int32_t depth = 0;
  float most2 = most * most;
  out->triangle = -1;
  for (;;) {
    bool near = now.distance2 <= most2;
    if (near && now.node < tree->first_leaf) {
      // The nearer child first.
      int32_t left = 2 * now.node, right = left + 1;
      float to_left = distance2_to_box(tree->nodes[left], p);
      float to_right = distance2_to_box(tree->nodes[right], p);
      bool swap = to_right < to_left;
      float farther = swap ? to_left : to_right;
      if (farther <= most2) {
        stack[depth].node = swap ? left : right;
        stack[depth++].distance2 = farther;
      }
      now.node = swap ? right : left;
      now.distance2 = swap ? to_right : to_left;
      continue;
    }
    if (near) look_at_leaf(mesh, now.node - tree->first_leaf, at, p, &most2, out);
    if (depth == 0) break;
    now = stack[--depth];
  }
  out->distance = sqrtf(most2);
  return out->triangle >= 0;
}

bool yw_moving_mesh_near_box(const yw_moving_mesh* mesh, yw_aabb box, float reach) {
  yw_aabb wide = yw_aabb_pad(box, reach);
  yw_box_walk walk = yw_box_walk_begin(&mesh->tree, wide);
  for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) {
    for (int32_t i = leaf * YW_MESH_LEAF; i < end_of_leaf(mesh, leaf); ++i) {
      if (!yw_aabb_overlap(reach_of(mesh, i), wide)) continue;
      motion m = motion_of(mesh, i);
      if (yw_aabb_overlap(box_of(&m), wide)) return true;
    }
  }
  return false;
}

// Paths -------------------------------------------------------------------------------------------

// A ball that slides along, or past an edge, may dip into the thickness on its way, but not into
// the inner half of it, and not at the end.
static bool may_go_on(const yw_path4* way, const yw_nearest* start, float least, float rounding) {
  if (!(start->distance > 0.5f * least)) return false;
  if (yw_nearest_points(YW_VERTEX_TRIANGLE, way->end).distance < least - rounding) return false;
  yw_vec3 normal = yw_scale(start->apart, 1.0f / start->distance);
  return yw_path_stays_apart(YW_VERTEX_TRIANGLE, way, normal, 0.5f * least);
}

// False when the triangle stays out of the box on its way.
static bool path_to(const yw_moving_mesh* mesh, int32_t triangle, const yw_mesh_path* path,
                    yw_aabb box, yw_path4* out) {
  if (!yw_aabb_overlap(reach_of(mesh, triangle), box)) return false;
  motion m = motion_of(mesh, triangle);
  if (!yw_aabb_overlap(box_of(&m), box)) return false;
  out->begin[0] = path->from;
  out->end[0] = path->to;
  corners_of(&m, path->begin, out->begin + 1);
  corners_of(&m, path->end, out->end + 1);
  return true;
}

static yw_mesh_place place_of(int32_t triangle, const yw_path4* way, float share,
                              const yw_nearest* near) {
  yw_vec3 x[4];
  yw_path_corners(way, share, x);
  yw_mesh_place place = {triangle, {0}, normal_of(near->apart, x + 1), near->distance};
  memcpy(place.weights, near->weights + 1, sizeof place.weights);
  return place;
}

// When the ball meets a triangle, and where; false: it does not.
static bool meet(const yw_moving_mesh* mesh, int32_t triangle, const yw_mesh_path* path,
                 yw_aabb box, yw_mesh_touch* out) {
  yw_path4 way;
  if (!path_to(mesh, triangle, path, box, &way)) return false;
  float least = mesh->radius + path->radius;
  yw_nearest near = yw_nearest_points(YW_VERTEX_TRIANGLE, way.begin);
  out->gap = near.distance - least;
  out->share = 0.0f;
  if (may_go_on(&way, &near, least, path->rounding)) return false;
  if (out->gap > path->rounding) {
    out->share = yw_time_of_touch(YW_VERTEX_TRIANGLE, &way, least, path->rounding, &near);
    if (out->share > 1.0f) return false;
  }
  out->place = place_of(triangle, &way, out->share, &near);
  return true;
}

static bool is_earlier(const yw_mesh_touch* a, const yw_mesh_touch* b) {
  return a->share < b->share || (a->share == b->share && a->gap < b->gap);
}

// True when what one touch holds back includes the other: its place is not in front of the plane of
// the first, as with neighbours in a flat or convex surface.
static bool includes(const yw_moving_mesh* mesh, const yw_mesh_touch* first,
                     const yw_mesh_touch* other, float at) {
  yw_vec3 way = yw_sub(yw_moving_mesh_point(mesh, &other->place, at),
                       yw_moving_mesh_point(mesh, &first->place, at));
  return yw_dot(first->place.normal, way) <= IN_FRONT * yw_length(way);
}

// Adds a touch, unless an earlier one includes it, and drops those that it includes.
static int32_t add_touch(const yw_moving_mesh* mesh, const yw_mesh_touch* touch, float at,
                         int32_t capacity, int32_t count, yw_mesh_touch* out) {
  for (int32_t i = 0; i < count; ++i) {
    if (!is_earlier(touch, &out[i]) && includes(mesh, &out[i], touch, at)) return count;
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (!is_earlier(touch, &out[i]) || !includes(mesh, touch, &out[i], at)) out[kept++] = out[i];
  }
  if (kept == capacity) return kept;
  out[kept] = *touch;
  return kept + 1;
}

int32_t yw_moving_mesh_touches(const yw_moving_mesh* mesh, const yw_mesh_path* path, float margin,
                               int32_t capacity, yw_mesh_touch* out) {
  yw_aabb box = yw_aabb_grow(yw_aabb_grow(yw_aabb_empty(), path->from), path->to);
  box = yw_aabb_pad(box, mesh->radius + path->radius + path->rounding + margin);
  yw_box_walk walk = yw_box_walk_begin(&mesh->tree, box);
  int32_t count = 0;
  for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) {
    for (int32_t i = leaf * YW_MESH_LEAF; i < end_of_leaf(mesh, leaf); ++i) {
      yw_path4 way;
      if (!path_to(mesh, i, path, box, &way)) continue;
      yw_nearest near = yw_nearest_points(YW_VERTEX_TRIANGLE, way.begin);
      float least = mesh->radius + path->radius;
      yw_mesh_touch touch = {.gap = near.distance - least};
      if (touch.gap > margin) {
        if (may_go_on(&way, &near, least, path->rounding)) continue;
        touch.share = yw_time_of_touch(YW_VERTEX_TRIANGLE, &way, least, path->rounding, &near);
        if (touch.share > 1.0f) continue;
      }
      touch.place = place_of(i, &way, touch.share, &near);
      if (touch.share > 0.0f) {
        yw_vec3 there = yw_moving_mesh_point(mesh, &touch.place, path->begin);
        float along = yw_dot(touch.place.normal, yw_sub(path->from, there));
        touch.gap = fmaxf(0.0f, along - least);
      }
      count = add_touch(mesh, &touch, path->begin, capacity, count, out);
    }
  }
  return count;
}

bool yw_moving_mesh_sweep(const yw_moving_mesh* mesh, const yw_mesh_path* path,
                          yw_mesh_touch* out) {
  yw_aabb box = yw_aabb_grow(yw_aabb_grow(yw_aabb_empty(), path->from), path->to);
  box = yw_aabb_pad(box, mesh->radius + path->radius + path->rounding);
  yw_box_walk walk = yw_box_walk_begin(&mesh->tree, box);
  bool found = false;
  for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) {
    for (int32_t i = leaf * YW_MESH_LEAF; i < end_of_leaf(mesh, leaf); ++i) {
      yw_mesh_touch touch;
      if (!meet(mesh, i, path, box, &touch)) continue;
      bool earlier =
          !found || touch.share < out->share || (touch.share == out->share && touch.gap < out->gap);
      if (earlier) *out = touch;
      found = true;
    }
  }
  return found;
}
