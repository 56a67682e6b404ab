// SPDX-License-Identifier: MIT
// Counts what crosses in a world, by what contact sees of bodies and obstacles but with tests of
// its own: edges of one through triangles of the other, exact but for the rounding of doubles, and
// how deep things with a thickness lie in each other.
#ifndef YW_TESTS_SUPPORT_CENSUS_H
#define YW_TESTS_SUPPORT_CENSUS_H

#include "support/crossings.h"

/// Of a body or obstacle: a triangle, a segment of a rod, or a ball (3, 2, 1 corners).
typedef struct census_item {
  yw_aabb box;  ///< with its radius
  yw_vec3 x[3];
  int32_t v[3];  ///< particles
  int32_t corners;
  int32_t owner;        ///< number of the body, or of bodies plus that of the obstacle
  const yw_vec3* rest;  ///< of the body; NULL: none
  float radius;
} census_item;

typedef struct census {
  int between, within, obstacles;  ///< pairs that cross, and balls inside of volumes
  double overlap;                  ///< deepest of bodies with a thickness, as a share of both radii
} census;

typedef struct census_list {
  const yw_world* world;
  census_item* items;
  int32_t count, room, num_bodies;
} census_list;

static inline void census_add(census_list* list, const yw_vec3* x, const int32_t* v, int corners,
                              int32_t owner, const yw_vec3* rest, float radius) {
  if (list->count == list->room) {
    list->room = 2 * list->room + 1024;
    list->items = realloc(list->items, sizeof *list->items * (size_t)list->room);
    assert_non_null(list->items);
  }
  census_item* item = &list->items[list->count++];
  *item = (census_item){
      .box = yw_aabb_empty(), .corners = corners, .owner = owner, .rest = rest, .radius = radius};
  for (int k = 0; k < corners; ++k) {
    item->x[k] = x[k];
    item->v[k] = v[k];
    item->box = yw_aabb_grow(item->box, x[k]);
  }
  item->box = yw_aabb_pad(item->box, radius);
}

static inline void census_add_cells(census_list* list, const yw_body* body, int32_t owner,
                                    const yw_contact_geometry* g, const int32_t* cells,
                                    int32_t count, int corners) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t* v = cells ? cells + (size_t)corners * (size_t)i : &i;
    yw_vec3 x[3];
    for (int k = 0; k < corners; ++k) x[k] = yw_xyz(body->particles.pos[v[k]]);
    census_add(list, x, v, corners, owner, g->rest, g->radius ? g->radius[v[0]] : 0.0f);
  }
}

static inline void census_add_body(census_list* list, const yw_body* body, int32_t owner) {
  yw_contact_geometry g = body->model->method->contact_geometry(body->state);
  census_add_cells(list, body, owner, &g, g.triangles, g.num_triangles, 3);
  census_add_cells(list, body, owner, &g, g.segments, g.num_segments, 2);
  bool balls = g.num_triangles == 0 && g.num_segments == 0;
  if (balls) census_add_cells(list, body, owner, &g, NULL, body->particles.count, 1);
}

static inline void census_add_obstacle(census_list* list, const yw_world* world, int32_t slot) {
  const yw_world_obstacle* o = &world->obstacles.items[slot];
  if (!(o->generation & 1) || !o->surface) return;
  yw_transform pose;
  yw_obstacle_id id = {(uint32_t)slot + 1, o->generation};
  assert_int_equal(yw_obstacle_pose(world, id, yw_world_time(world), &pose), YW_OK);
  const yw_obstacle_surface* s = o->surface;
  for (int32_t i = 0; i < s->geometry.num_triangles; ++i) {
    const int32_t* v = s->triangles + 3 * (size_t)i;
    yw_vec3 x[3];
    for (int k = 0; k < 3; ++k) x[k] = yw_transform_point(pose, s->rest[v[k]]);
    census_add(list, x, v, 3, list->num_bodies + slot, NULL, 0.0f);
  }
}

// Distances ---------------------------------------------------------------------------------------

static inline void census_sub(const yw_vec3 a, const yw_vec3 b, double out[3]) {
  out[0] = (double)a.x - (double)b.x;
  out[1] = (double)a.y - (double)b.y;
  out[2] = (double)a.z - (double)b.z;
}

static inline double census_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double census_clamp(double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

/// Squared, of two segments, which may be points.
static inline double segment_distance2(const yw_vec3 p[2], const yw_vec3 q[2]) {
  double u[3], v[3], w[3];
  census_sub(p[1], p[0], u);
  census_sub(q[1], q[0], v);
  census_sub(p[0], q[0], w);
  double a = census_dot(u, u), b = census_dot(u, v), c = census_dot(v, v);
  double d = census_dot(u, w), e = census_dot(v, w), area = a * c - b * b;
  double s = area > 1e-12 * a * c ? census_clamp((b * e - c * d) / area) : 0.0;
  double t = c > 0.0 ? (b * s + e) / c : 0.0;
  if (t < 0.0 || t > 1.0) {
    t = census_clamp(t);
    s = a > 0.0 ? census_clamp((b * t - d) / a) : 0.0;
  } else if (c == 0.0 && a > 0.0) {
    s = census_clamp(-d / a);
  }
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    double off = w[k] + s * u[k] - t * v[k];
    sum += off * off;
  }
  return sum;
}

/// Squared, of a point to the inside of a triangle; infinite if another part of it is nearer.
static inline double face_distance2(yw_vec3 p, const yw_vec3 t[3]) {
  double u[3], v[3], w[3];
  census_sub(t[1], t[0], u);
  census_sub(t[2], t[0], v);
  census_sub(p, t[0], w);
  double a = census_dot(u, u), b = census_dot(u, v), c = census_dot(v, v);
  double d = census_dot(u, w), e = census_dot(v, w), area = a * c - b * b;
  double s = (c * d - b * e) / area, r = (a * e - b * d) / area;
  if (!(area > 0.0) || s < 0.0 || r < 0.0 || s + r > 1.0) return INFINITY;
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    double off = w[k] - s * u[k] - r * v[k];
    sum += off * off;
  }
  return sum;
}

static inline int num_edges(const census_item* item) { return item->corners == 3 ? 3 : 1; }

static inline void edge_of(const census_item* item, int edge, yw_vec3 out[2]) {
  out[0] = item->x[edge];
  out[1] = item->x[(edge + 1) % item->corners];
}

static inline double item_distance(const census_item* a, const census_item* b) {
  double least = INFINITY;
  yw_vec3 p[2], q[2];
  for (int i = 0; i < num_edges(a); ++i) {
    for (int k = 0; k < num_edges(b); ++k) {
      edge_of(a, i, p);
      edge_of(b, k, q);
      least = fmin(least, segment_distance2(p, q));
    }
  }
  for (int k = 0; k < a->corners && b->corners == 3; ++k) {
    least = fmin(least, face_distance2(a->x[k], b->x));
  }
  for (int k = 0; k < b->corners && a->corners == 3; ++k) {
    least = fmin(least, face_distance2(b->x[k], a->x));
  }
  return sqrt(least);
}

// Pairs -------------------------------------------------------------------------------------------

static inline bool edges_cross(const census_item* a, const census_item* b) {
  yw_vec3 e[2];
  for (int i = 0; i < num_edges(a) && a->corners > 1 && b->corners == 3; ++i) {
    edge_of(a, i, e);
    if (crosses(e, b->x)) return true;
  }
  return false;
}

static inline bool share_corner(const census_item* a, const census_item* b) {
  for (int i = 0; i < a->corners; ++i) {
    for (int k = 0; k < b->corners; ++k) {
      if (a->v[i] == b->v[k]) return true;
    }
  }
  return false;
}

/// True for two parts of one body that are as near at rest as to leave contact no room.
static inline bool are_near_at_rest(const census_item* a, const census_item* b, double keep) {
  if (a->owner != b->owner) return false;
  if (!a->rest) return true;
  census_item at_rest[2] = {*a, *b};
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < at_rest[i].corners; ++k) {
      at_rest[i].x[k] = at_rest[i].rest[at_rest[i].v[k]];
    }
  }
  return item_distance(&at_rest[0], &at_rest[1]) < 2.0 * keep;
}

/// False for bodies that are joined, or filtered.
static inline bool items_may_meet(const census_list* list, const census_item* a,
                                  const census_item* b) {
  int32_t count = list->world->filters.count;
  if (a->owner == b->owner || a->owner >= count || b->owner >= count) return true;
  const yw_contact_body sides[2] = {{.filter = &list->world->filters.items[a->owner]},
                                    {.filter = &list->world->filters.items[b->owner]}};
  return yw_contact_may_meet(&sides[0], &sides[1]);
}

static inline void count_pair(const census_list* list, const census_item* a, const census_item* b,
                              census* out) {
  bool of_obstacle = a->owner >= list->num_bodies || b->owner >= list->num_bodies;
  if (a->owner == b->owner && share_corner(a, b)) return;
  if (a->owner >= list->num_bodies && b->owner >= list->num_bodies) return;
  if (!items_may_meet(list, a, b)) return;
  bool found = edges_cross(a, b) || edges_cross(b, a);
  double keep = (double)a->radius + (double)b->radius;
  if (keep > 0.0 && !of_obstacle && !are_near_at_rest(a, b, keep)) {
    out->overlap = fmax(out->overlap, 1.0 - item_distance(a, b) / keep);
  }
  if (of_obstacle)
    out->obstacles += found;
  else if (a->owner == b->owner)
    out->within += found;
  else
    out->between += found;
}

// Balls in volumes --------------------------------------------------------------------------------

/// Solid angle of a triangle seen from p, over 4 pi (Van Oosterom and Strackee 1983).
static inline double turns_of_triangle(yw_vec3 p, const yw_vec3 t[3]) {
  double r[3][3], length[3];
  for (int k = 0; k < 3; ++k) {
    census_sub(t[k], p, r[k]);
    length[k] = sqrt(census_dot(r[k], r[k]));
  }
  double top = volume6(p, t[0], t[1], t[2]);
  double bottom = length[0] * length[1] * length[2] + census_dot(r[0], r[1]) * length[2] +
                  census_dot(r[1], r[2]) * length[0] + census_dot(r[2], r[0]) * length[1];
  return atan2(top, bottom) / 6.283185307179586;
}

/// Whether a closed surface winds around a point, however the body behind it is folded.
static inline bool winds_around(const yw_body* body, const yw_contact_geometry* g, yw_vec3 p) {
  double turns = 0.0;
  for (int32_t i = 0; i < g->num_triangles; ++i) {
    const int32_t* v = g->triangles + 3 * (size_t)i;
    const yw_vec3 t[3] = {yw_xyz(body->particles.pos[v[0]]), yw_xyz(body->particles.pos[v[1]]),
                          yw_xyz(body->particles.pos[v[2]])};
    turns += turns_of_triangle(p, t);
  }
  return fabs(turns) > 0.5;
}

static inline int count_balls_inside(const yw_world* world, const yw_body* balls) {
  int found = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    yw_contact_geometry g = body->model->method->contact_geometry(body->state);
    if (body == balls || g.num_triangles == 0 || g.radius) continue;
    yw_aabb box = yw_aabb_empty();
    for (int32_t k = 0; k < 3 * g.num_triangles; ++k) {
      box = yw_aabb_grow(box, yw_xyz(body->particles.pos[g.triangles[k]]));
    }
    for (int32_t k = 0; k < balls->particles.count; ++k) {
      yw_vec3 p = yw_xyz(balls->particles.pos[k]);
      found += yw_aabb_overlap(box, (yw_aabb){p, p}) && winds_around(body, &g, p);
    }
  }
  return found;
}

static inline int count_all_balls_inside(const yw_world* world) {
  int found = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    yw_contact_geometry g = body->model->method->contact_geometry(body->state);
    if (g.num_triangles == 0 && g.num_segments == 0) found += count_balls_inside(world, body);
  }
  return found;
}

static inline int compare_items(const void* a, const void* b) {
  float x = ((const census_item*)a)->box.lower.x, y = ((const census_item*)b)->box.lower.x;
  return (x > y) - (x < y);
}

static inline census take_census(const yw_world* world) {
  census_list list = {.world = world, .num_bodies = world->body_order.count};
  census out = {0};
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    census_add_body(&list, &world->bodies.items[world->body_order.items[i]], i);
  }
  for (int32_t i = 0; i < world->obstacles.count; ++i) census_add_obstacle(&list, world, i);
  if (list.count > 0) qsort(list.items, (size_t)list.count, sizeof *list.items, compare_items);
  for (int32_t i = 0; i < list.count; ++i) {
    const census_item* a = &list.items[i];
    for (int32_t k = i + 1; k < list.count; ++k) {
      const census_item* b = &list.items[k];
      if (b->box.lower.x > a->box.upper.x) break;
      if (yw_aabb_overlap(a->box, b->box)) count_pair(&list, a, b, &out);
    }
  }
  free(list.items);
  out.between += count_all_balls_inside(world);
  return out;
}

#endif
