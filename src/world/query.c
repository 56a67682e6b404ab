// SPDX-License-Identifier: MIT
// Queries of a world: a tree over the boxes of bodies, and in each body a tree over its surface.
// Both are fitted under a lock by the first query after a change; afterwards queries only read.
#include "yawara/query.h"

#include <float.h>
#include <pthread.h>

#include "geometry/order.h"
#include "world/obstacle_query.h"
#include "world/world.h"
#include "yawara/extend/memory.h"

struct yw_queries {
  yw_allocator mem;
  pthread_mutex_t lock;
  atomic_uint_least64_t fitted;  // `changes` of the world when the boxes were fitted
  YW_LIST(uint32_t) slots;       // of the leaves
  YW_LIST(uint32_t) unsorted;    // the same in order of creation
  YW_LIST(yw_aabb) boxes, nodes;
  YW_LIST(yw_vec3) centers;
  YW_LIST(int32_t) order;
  yw_box_tree tree;
};

yw_query_filter yw_default_query_filter(void) {
  return (yw_query_filter){.mask = UINT32_MAX, .bodies = true, .obstacles = true};
}

// Fitting -----------------------------------------------------------------------------------------

yw_queries* yw_queries_create(const yw_allocator* mem) {
  yw_queries* q = YW_NEW(mem, yw_queries);
  if (!q) return NULL;
  q->mem = *mem;
  atomic_init(&q->fitted, UINT64_MAX);
  pthread_mutex_init(&q->lock, NULL);
  return q;
}

void yw_queries_destroy(yw_queries* q) {
  if (!q) return;
  yw_allocator mem = q->mem;
  YW_LIST_FREE(&mem, &q->slots);
  YW_LIST_FREE(&mem, &q->unsorted);
  YW_LIST_FREE(&mem, &q->boxes);
  YW_LIST_FREE(&mem, &q->nodes);
  YW_LIST_FREE(&mem, &q->centers);
  YW_LIST_FREE(&mem, &q->order);
  pthread_mutex_destroy(&q->lock);
  yw_mem_free(&mem, q);
}

void yw_body_query_destroy(const yw_allocator* mem, yw_body_query* query) {
  if (!query) return;
  yw_query_surface_destroy(query->surface);
  yw_mem_free(mem, query->vertex_of_particle);
  yw_mem_free(mem, query);
}

static yw_aabb box_of(const yw_body* body) {
  const yw_particles* p = &body->particles;
  const float* radius = body->model->method->contact_geometry(body->state).radius;
  yw_aabb box = yw_aabb_empty();
  float largest = 0.0f;
  for (int32_t i = 0; i < p->count; ++i) {
    box = yw_aabb_grow(box, yw_xyz(p->pos[i]));
    if (radius && radius[i] > largest) largest = radius[i];
  }
  return yw_aabb_pad(box, largest);
}

static bool reserve_leaves(yw_queries* q, int32_t count) {
  q->slots.count = q->unsorted.count = q->boxes.count = q->nodes.count = 0;
  q->centers.count = q->order.count = 0;
  return YW_LIST_RESERVE(&q->mem, &q->slots, count) &&
         YW_LIST_RESERVE(&q->mem, &q->unsorted, count) &&
         YW_LIST_RESERVE(&q->mem, &q->boxes, count) &&
         YW_LIST_RESERVE(&q->mem, &q->centers, count) &&
         YW_LIST_RESERVE(&q->mem, &q->order, count) &&
         YW_LIST_RESERVE(&q->mem, &q->nodes, yw_box_tree_nodes(count));
}

static bool fit_boxes(const yw_world* world, yw_queries* q) {
  int32_t count = 0;
  if (!reserve_leaves(q, world->body_order.count)) return false;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (!body->active || body->particles.count == 0) continue;
    q->boxes.items[count] = box_of(body);
    q->centers.items[count] =
        yw_scale(yw_add(q->boxes.items[count].lower, q->boxes.items[count].upper), 0.5f);
    q->unsorted.items[count++] = world->body_order.items[i];
  }
  int32_t* order = q->order.items;
  if (yw_hilbert_order(&q->mem, count, q->centers.items, 0.0, order) < 0) return false;
  q->tree = yw_box_tree_of(q->nodes.items, count);
  for (int32_t k = 0; k < count; ++k) {
    q->tree.nodes[q->tree.first_leaf + k] = q->boxes.items[order[k]];
    q->slots.items[k] = q->unsorted.items[order[k]];
  }
  yw_box_tree_refit(&q->tree);
  return true;
}

static bool is_current(const yw_body_query* query, const yw_body* body) {
  return query->surface && query->topology == yw_body_topology(body) &&
         query->num_particles == body->particles.count;
}

static bool renew_surface(const yw_world* world, yw_body* body,
                          const yw_contact_geometry* geometry) {
  const int32_t* table = yw_body_vertex_table(body);
  int32_t count = body->particles.count;
  yw_body_query* query = body->query;
  yw_query_surface_destroy(query->surface);
  query->surface = yw_query_surface_create(&world->mem, geometry, &body->particles);
  if (!query->surface) return false;
  if (table && !YW_RENEW_ARRAY(&world->mem, query->vertex_of_particle, count)) return false;
  for (int32_t i = 0; table && i < count; ++i) query->vertex_of_particle[table[i]] = i;
  query->topology = yw_body_topology(body);
  query->num_particles = count;
  return true;
}

static bool fit_surface(const yw_world* world, yw_body* body) {
  yw_contact_geometry geometry = body->model->method->contact_geometry(body->state);
  if (!is_current(body->query, body) && !renew_surface(world, body, &geometry)) return false;
  return yw_query_surface_fit(body->query->surface, &geometry, &body->particles);
}

// The boxes of all bodies as they are now; NULL: out of memory.
static const yw_queries* current_boxes(const yw_world* world) {
  yw_queries* q = world->queries;
  if (atomic_load_explicit(&q->fitted, memory_order_acquire) == world->changes) return q;
  pthread_mutex_lock(&q->lock);
  bool ok = atomic_load_explicit(&q->fitted, memory_order_relaxed) == world->changes;
  if (!ok && fit_boxes(world, q)) {
    atomic_store_explicit(&q->fitted, world->changes, memory_order_release);
    ok = true;
  }
  pthread_mutex_unlock(&q->lock);
  return ok ? q : NULL;
}

const yw_query_surface* yw_body_query_surface(const yw_world* world, yw_body* body) {
  yw_body_query* query = body->query;
  if (atomic_load_explicit(&query->fitted, memory_order_acquire) == body->changes) {
    return query->surface;
  }
  pthread_mutex_lock(&world->queries->lock);
  bool ok = atomic_load_explicit(&query->fitted, memory_order_relaxed) == body->changes;
  if (!ok && fit_surface(world, body)) {
    atomic_store_explicit(&query->fitted, body->changes, memory_order_release);
    ok = true;
  }
  pthread_mutex_unlock(&world->queries->lock);
  return ok ? query->surface : NULL;
}

// Results -----------------------------------------------------------------------------------------

static yw_hit hit_of_body(const yw_world* world, uint32_t slot, const yw_query_find* found) {
  const yw_body* body = &world->bodies.items[slot];
  const yw_query_surface* s = body->query->surface;
  yw_hit hit = {.body = {slot + 1, body->generation},
                .point = found->point,
                .normal = found->normal,
                .distance = found->share,
                .triangle = s->numbers[found->item],
                .num_vertices = s->corners};
  for (int32_t k = 0; k < s->corners; ++k) {
    int32_t particle = s->items[s->corners * found->item + k];
    hit.vertices[k] =
        body->query->vertex_of_particle ? body->query->vertex_of_particle[particle] : particle;
    hit.weights[k] = found->weights[k];
  }
  return hit;
}

static yw_hit hit_of_obstacle(const yw_world* world, int32_t slot, const yw_obstacle_find* found) {
  return (yw_hit){.obstacle = {(uint32_t)slot + 1, world->obstacles.items[slot].generation},
                  .point = found->point,
                  .normal = found->normal,
                  .distance = found->distance,
                  .inside = found->inside,
                  .triangle = -1};
}

// Sorted; the first ones are kept where there is no more room.
typedef struct hit_list {
  const yw_world* world;
  yw_hit* items;
  int32_t count, capacity;
  bool by_distance;
  yw_status status;
} hit_list;

// Older bodies have lower keys; obstacles come last.
static uint64_t age_of(const yw_world* world, const yw_hit* hit) {
  return hit->body.index1 > 0 ? world->bodies.items[hit->body.index1 - 1].key : UINT64_MAX;
}

static bool comes_before(const hit_list* list, const yw_hit* a, const yw_hit* b) {
  if (list->by_distance && a->distance != b->distance) return a->distance < b->distance;
  return age_of(list->world, a) < age_of(list->world, b);
}

static void add_hit(hit_list* list, const yw_hit* hit) {
  int32_t at = list->count < list->capacity ? list->count : list->capacity;
  while (at > 0 && comes_before(list, hit, &list->items[at - 1])) --at;
  ++list->count;
  if (at >= list->capacity) return;
  int32_t last = list->count <= list->capacity ? list->count - 1 : list->capacity - 1;
  for (int32_t i = last; i > at; --i) list->items[i] = list->items[i - 1];
  list->items[at] = *hit;
}

// What is looked for; the functions give INFINITY where there is nothing.
typedef struct query {
  const yw_world* world;
  yw_query_filter filter;
  yw_vec3 from, way, half;
  yw_quat rotation;
  float length, radius, most;
  bool (*look)(const struct query* q, yw_body* body, const yw_query_surface* s,
               yw_query_find* found, bool* inside);
  yw_obstacle_find (*look_at_obstacle)(const struct query* q, const yw_obstacle_view* o);
} query;

static bool sees_body(const query* q, uint32_t slot) {
  const yw_body* body = &q->world->bodies.items[slot];
  if (!(body->groups & q->filter.mask)) return false;
  return q->filter.ignored.index1 != slot + 1 || q->filter.ignored.generation != body->generation;
}

// True when the body was hit.
static bool look_at(const query* q, uint32_t slot, hit_list* list, yw_hit* hit) {
  yw_body* body = &q->world->bodies.items[slot];
  const yw_query_surface* surface = yw_body_query_surface(q->world, body);
  if (!surface) {
    list->status = YW_ERR_MEMORY;
    return false;
  }
  yw_query_find found;
  bool inside = false;
  if (!q->look(q, body, surface, &found, &inside)) return false;
  *hit = hit_of_body(q->world, slot, &found);
  hit->inside = inside;
  return true;
}

static void look_at_obstacles(const query* q, hit_list* list) {
  for (int32_t i = 0; q->filter.obstacles && i < q->world->obstacles.count; ++i) {
    const yw_world_obstacle* o = &q->world->obstacles.items[i];
    if (!(o->generation & 1) || !(o->groups & q->filter.mask)) continue;
    yw_obstacle_view view = {o->shape, o->mesh ? &o->mesh->mesh : NULL,
                             yw_obstacle_pose_at(o, q->world->time)};
    yw_obstacle_find found = q->look_at_obstacle(q, &view);
    if (!(found.distance <= q->most)) continue;
    yw_hit hit = hit_of_obstacle(q->world, i, &found);
    add_hit(list, &hit);
  }
}

static bool is_finite_quat(yw_quat r) {
  float norm = r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w;
  return norm > 1e-12f && isfinite(norm);
}

static yw_query_filter filter_or_default(const yw_query_filter* filter) {
  return filter ? *filter : yw_default_query_filter();
}

// Casts -------------------------------------------------------------------------------------------

static bool cast_at_body(const query* q, yw_body* body, const yw_query_surface* s,
                         yw_query_find* found, bool* inside) {
  (void)body;
  *inside = yw_query_contains(s, q->from);
  if (*inside && q->filter.skip_inside) return false;
  if (*inside || !(q->length > 0.0f)) {
    // Starts inside: the nearest surface says which way is out.
    *found = yw_query_nearest(s, q->from, *inside ? INFINITY : q->radius);
    if (found->item < 0) return false;
    *inside = *inside || found->share <= 0.0f || q->radius > 0.0f;
  } else {
    *found = yw_query_cast(s, q->from, q->way, q->radius, 1.0f);
    if (found->item < 0) return false;
    *inside = found->share == 0.0f && (q->radius > 0.0f || s->radius);
    found->share *= q->length;
    if (!*inside) return true;
  }
  if (q->filter.skip_inside) return false;
  found->share = 0.0f;
  if (q->radius == 0.0f) found->point = q->from;
  return true;
}

static yw_obstacle_find cast_at_obstacle(const query* q, const yw_obstacle_view* o) {
  yw_obstacle_find found = yw_obstacle_cast(o, q->from, q->way, q->radius);
  if (found.inside && q->filter.skip_inside) found.distance = INFINITY;
  return found;
}

// Leaf after leaf whose box the way enters.
static int32_t next_on_way(const query* q, const yw_box_tree* tree, int32_t* node) {
  while (*node != 0) {
    yw_aabb box = yw_aabb_pad(tree->nodes[*node], q->radius);
    bool hit = yw_query_enter_box(box, q->from, q->way, 1.0f) < INFINITY;
    if (hit && *node < tree->first_leaf) {
      *node *= 2;
      continue;
    }
    int32_t leaf = hit ? *node - tree->first_leaf : -1;
    while (*node & 1) *node >>= 1;
    if (*node != 0) ++*node;
    if (leaf >= 0) return leaf;
  }
  return -1;
}

static int32_t cast(query* q, hit_list* list) {
  const yw_queries* boxes = current_boxes(q->world);
  if (!boxes) return YW_ERR_MEMORY;
  q->length = yw_length(q->way);
  q->most = q->length;
  q->look = cast_at_body;
  q->look_at_obstacle = cast_at_obstacle;
  list->world = q->world;
  list->by_distance = true;
  int32_t node = q->filter.bodies && boxes->tree.num_leaves > 0 ? 1 : 0;
  for (int32_t leaf; (leaf = next_on_way(q, &boxes->tree, &node)) >= 0;) {
    yw_hit hit;
    uint32_t slot = boxes->slots.items[leaf];
    if (sees_body(q, slot) && look_at(q, slot, list, &hit)) add_hit(list, &hit);
  }
  look_at_obstacles(q, list);
  return list->status < 0 ? (int32_t)list->status : list->count;
}

static int32_t cast_first(query* q, yw_hit* out) {
  hit_list list = {.items = out, .capacity = 1};
  int32_t count = cast(q, &list);
  return count > 1 ? 1 : count;
}

static bool is_bad_cast(const yw_world* world, yw_vec3 origin, yw_vec3 way, float radius) {
  return !world || !yw_is_finite3(origin) || !isfinite(yw_length2(way)) || !(radius >= 0.0f) ||
         !isfinite(radius);
}

int32_t yw_world_cast_ray(const yw_world* world, yw_vec3 origin, yw_vec3 translation,
                          const yw_query_filter* filter, yw_hit* out) {
  return yw_world_cast_ball(world, origin, 0.0f, translation, filter, out);
}

int32_t yw_world_cast_ball(const yw_world* world, yw_vec3 center, float radius, yw_vec3 translation,
                           const yw_query_filter* filter, yw_hit* out) {
  if (is_bad_cast(world, center, translation, radius) || !out) return YW_ERR_INVALID;
  query q = {.world = world, .filter = filter_or_default(filter)};
  q.from = center;
  q.way = translation;
  q.radius = radius;
  return cast_first(&q, out);
}

int32_t yw_world_cast_ray_all(const yw_world* world, yw_vec3 origin, yw_vec3 translation,
                              const yw_query_filter* filter, yw_hit* out, int32_t capacity) {
  if (is_bad_cast(world, origin, translation, 0.0f) || capacity < 0 || (!out && capacity > 0)) {
    return YW_ERR_INVALID;
  }
  query q = {.world = world, .filter = filter_or_default(filter)};
  q.from = origin;
  q.way = translation;
  hit_list list = {.items = out, .capacity = capacity};
  return cast(&q, &list);
}

// Nearest and overlaps ----------------------------------------------------------------------------

// Signed distance to the body, and the direction out of it.
static bool find_nearest(const query* q, const yw_query_surface* s, float most,
                         yw_query_find* found, bool* inside) {
  *inside = yw_query_contains(s, q->from);
  *found = yw_query_nearest(s, q->from, *inside ? INFINITY : most);
  if (found->item < 0) return false;
  if (s->radius) {
    *inside = found->share < 0.0f;
    return true;
  }
  yw_vec3 off = yw_sub(q->from, found->point);
  found->normal = yw_normalize_or(*inside ? yw_neg(off) : off, found->normal);
  if (*inside) found->share = -found->share;
  return true;
}

static bool nearest_at_body(const query* q, yw_body* body, const yw_query_surface* s,
                            yw_query_find* found, bool* inside) {
  (void)body;
  return find_nearest(q, s, q->most, found, inside);
}

static yw_obstacle_find nearest_at_obstacle(const query* q, const yw_obstacle_view* o) {
  return yw_obstacle_nearest(o, q->from);
}

static bool box_at_body(const query* q, yw_body* body, const yw_query_surface* s,
                        yw_query_find* found, bool* inside) {
  (void)body;
  *found = yw_query_box(s, q->from, q->half, q->rotation);
  if (found->item < 0) {
    // Nothing of the surface is in the box: it is inside, or outside, as a whole.
    return yw_query_contains(s, q->from) && find_nearest(q, s, INFINITY, found, inside);
  }
  *inside = s->radius ? found->share < 0.0f : yw_query_contains(s, q->from);
  if (*inside && !s->radius) found->share = -found->share;
  return true;
}

static yw_obstacle_find box_at_obstacle(const query* q, const yw_obstacle_view* o) {
  return yw_obstacle_box(o, q->from, q->half, q->rotation);
}

// Bodies whose boxes are within `reach` of the middle in every direction.
static int32_t look_around(query* q, yw_vec3 reach, hit_list* list) {
  const yw_queries* boxes = current_boxes(q->world);
  if (!boxes) return YW_ERR_MEMORY;
  list->world = q->world;
  yw_box_walk walk =
      yw_box_walk_begin(&boxes->tree, (yw_aabb){yw_sub(q->from, reach), yw_add(q->from, reach)});
  if (!q->filter.bodies) walk.node = 0;
  for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) {
    yw_hit hit;
    uint32_t slot = boxes->slots.items[leaf];
    if (!sees_body(q, slot) || !look_at(q, slot, list, &hit)) continue;
    add_hit(list, &hit);
    // Only nearer ones are of interest from here on.
    if (list->by_distance && list->count >= list->capacity) {
      float most = fmaxf(list->items[list->capacity - 1].distance, 0.0f);
      yw_vec3 less = yw_v3(most, most, most);
      q->most = most;
      walk.box = yw_box_probe_of((yw_aabb){yw_sub(q->from, less), yw_add(q->from, less)});
    }
  }
  look_at_obstacles(q, list);
  return list->status < 0 ? (int32_t)list->status : list->count;
}

int32_t yw_world_nearest(const yw_world* world, yw_vec3 point, float max_distance,
                         const yw_query_filter* filter, yw_hit* out) {
  if (!world || !out || !yw_is_finite3(point) || !(max_distance >= 0.0f)) return YW_ERR_INVALID;
  query q = {.world = world, .filter = filter_or_default(filter), .from = point};
  q.most = max_distance;
  q.look = nearest_at_body;
  q.look_at_obstacle = nearest_at_obstacle;
  hit_list list = {.items = out, .capacity = 1, .by_distance = true};
  int32_t count = look_around(&q, yw_v3(max_distance, max_distance, max_distance), &list);
  return count > 1 ? 1 : count;
}

static bool is_bad_list(const yw_hit* out, int32_t capacity) {
  return capacity < 0 || (!out && capacity > 0);
}

int32_t yw_world_overlap_ball(const yw_world* world, yw_vec3 center, float radius,
                              const yw_query_filter* filter, yw_hit* out, int32_t capacity) {
  if (!world || is_bad_list(out, capacity) || !yw_is_finite3(center) || !(radius >= 0.0f) ||
      !isfinite(radius)) {
    return YW_ERR_INVALID;
  }
  query q = {.world = world, .filter = filter_or_default(filter), .from = center};
  q.most = radius;
  q.look = nearest_at_body;
  q.look_at_obstacle = nearest_at_obstacle;
  hit_list list = {.items = out, .capacity = capacity};
  return look_around(&q, yw_v3(radius, radius, radius), &list);
}

int32_t yw_world_overlap_box(const yw_world* world, yw_vec3 center, yw_vec3 half_size,
                             yw_quat rotation, const yw_query_filter* filter, yw_hit* out,
                             int32_t capacity) {
  bool sized = half_size.x >= 0.0f && half_size.y >= 0.0f && half_size.z >= 0.0f;
  if (!world || is_bad_list(out, capacity) || !yw_is_finite3(center) || !sized ||
      !yw_is_finite3(half_size) || !is_finite_quat(rotation)) {
    return YW_ERR_INVALID;
  }
  query q = {.world = world, .filter = filter_or_default(filter), .from = center};
  q.half = half_size;
  q.rotation = yw_quat_normalize(rotation);
  q.most = FLT_MAX;
  q.look = box_at_body;
  q.look_at_obstacle = box_at_obstacle;
  hit_list list = {.items = out, .capacity = capacity};
  float reach = yw_length(half_size);
  return look_around(&q, yw_v3(reach, reach, reach), &list);
}
