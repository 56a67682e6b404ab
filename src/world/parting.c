// SPDX-License-Identifier: MIT
// Bodies that overlap when they start, or that somebody has put into each other. Contact of
// surfaces keeps apart what is apart, so it must not see them: it would hold on to every crossing.
// Instead they are moved apart as wholes, without velocity, until they no longer touch.
#include "contact/surfaces/crossings.h"
#include "world/world.h"

// Speed at which two bodies are moved apart, m/s.
#define PARTING_SPEED 0.5f
// Distance to reach, as a share of the size of the smaller body: more than contact keeps, so that
// it does not push.
#define GAP_SHARE 3e-3f
// Directions to choose from: those to the faces, edges and corners of a cube.
#define NUM_DIRECTIONS 26

// Finding -----------------------------------------------------------------------------------------

static bool is_listed(const yw_world* world, uint64_t pair) {
  for (int32_t i = 0; i < world->parting.count; ++i) {
    if (world->parting.items[i] == pair) return true;
  }
  return false;
}

static bool may_part(const yw_body* body) { return body->body_contact && yw_body_takes_part(body); }

// With thickness: also while contact would push them.
static bool touch(const yw_world* world, const yw_body* a, const yw_body* b, bool thick,
                  bool* out_of_memory) {
  const yw_body* bodies[2] = {a, b};
  yw_crossing_side sides[2] = {{0}, {0}};
  bool good = true, solid = true;
  for (int s = 0; s < 2 && good; ++s) {
    yw_contact_geometry g = bodies[s]->model->method->contact_geometry(bodies[s]->state);
    solid = solid && g.num_triangles + g.num_segments > 0;
    if (solid) good = yw_crossing_side_create(&world->mem, &g, &bodies[s]->particles, &sides[s]);
  }
  bool found = good && solid && yw_sides_touch(&sides[0], &sides[1]);
  found = found || (good && solid && thick && yw_sides_press(&sides[0], &sides[1]));
  for (int s = 0; s < 2; ++s) yw_crossing_side_free(&world->mem, &sides[s]);
  *out_of_memory = *out_of_memory || !good;
  return found;
}

static bool may_meet(const yw_world* world, int32_t i, int32_t k) {
  if (world->filters.count == 0) return true;
  const yw_contact_body a = {.filter = &world->filters.items[i]};
  const yw_contact_body b = {.filter = &world->filters.items[k]};
  return yw_contact_may_meet(&a, &b);
}

// Adds the pairs of a body that is new, or was put somewhere. False: out of memory.
static bool find_pairs(yw_world* world, int32_t i) {
  bool out_of_memory = false;
  const yw_body* body = yw_body_in_order(world, i);
  yw_aabb box = world->body_boxes.items[i];
  box = yw_aabb_pad(box, GAP_SHARE * yw_distance(box.lower, box.upper));
  for (int32_t k = 0; k < world->body_order.count && may_part(body); ++k) {
    const yw_body* other = yw_body_in_order(world, k);
    uint64_t pair = yw_contact_pair(world->body_order.items[i], world->body_order.items[k]);
    if (k == i || !may_part(other) || !may_meet(world, i, k) || is_listed(world, pair)) continue;
    if (!yw_aabb_overlap(box, world->body_boxes.items[k])) continue;
    if (!touch(world, body, other, false, &out_of_memory)) continue;
    if (!YW_LIST_RESERVE(&world->mem, &world->parting, 1)) return false;
    world->parting.items[world->parting.count++] = pair;
  }
  return !out_of_memory;
}

static bool share_body(uint64_t a, uint64_t b) {
  uint32_t of_a[2] = {(uint32_t)(a >> 32), (uint32_t)a},
           of_b[2] = {(uint32_t)(b >> 32), (uint32_t)b};
  return of_a[0] == of_b[0] || of_a[0] == of_b[1] || of_a[1] == of_b[0] || of_a[1] == of_b[1];
}

// Moves to the front the pairs from `kept` on that have a body in common with one before; returns
// how many are there then. A stack is moved apart as a whole: what is apart already still carries.
static int32_t keep_neighbours(uint64_t* pairs, int32_t kept, int32_t count) {
  for (int32_t i = 0; i < kept; ++i) {
    for (int32_t k = kept; k < count; ++k) {
      if (!share_body(pairs[i], pairs[k])) continue;
      uint64_t pair = pairs[k];
      pairs[k] = pairs[kept];
      pairs[kept++] = pair;
    }
  }
  return kept;
}

// Drops the pairs that are apart now, or gone.
static bool drop_pairs(yw_world* world) {
  uint64_t* pairs = world->parting.items;
  int32_t kept = 0, count = 0;
  bool out_of_memory = false;
  for (int32_t i = 0; i < world->parting.count; ++i) {
    yw_body* a = &world->bodies.items[pairs[i] >> 32];
    yw_body* b = &world->bodies.items[(uint32_t)pairs[i]];
    if ((a->generation & 1) && (b->generation & 1) && may_part(a) && may_part(b)) {
      pairs[count++] = pairs[i];
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    uint64_t pair = pairs[i];
    yw_body* a = &world->bodies.items[pair >> 32];
    yw_body* b = &world->bodies.items[(uint32_t)pair];
    yw_body_rouse(a);
    yw_body_rouse(b);
    if (!touch(world, a, b, true, &out_of_memory)) continue;
    pairs[i] = pairs[kept];
    pairs[kept++] = pair;
  }
  world->parting.count = keep_neighbours(pairs, kept, count);
  return !out_of_memory;
}

static void find_box(void* context, int32_t i, int32_t worker) {
  (void)worker;
  yw_world* world = context;
  world->body_boxes.items[i] = yw_body_box(yw_body_in_order(world, i));
}

// Of bodies that are new, or were put somewhere.
static bool find_all_pairs(yw_world* world) {
  bool any = false;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = yw_body_in_order(world, i);
    any = any || (body->is_placed && body->active);
  }
  if (any) yw_tasks_run(world->tasks, world->body_order.count, find_box, world);
  for (int32_t i = 0; i < world->body_order.count && any; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    if (!body->is_placed || !body->active) continue;
    if (!find_pairs(world, i)) return false;
    body->is_placed = false;
  }
  return true;
}

bool yw_parting_begin_step(yw_world* world) {
  if (!world->surfaces) return true;
  bool any = world->parting.count > 0;
  if (!drop_pairs(world) || !find_all_pairs(world)) return false;
  any = any || world->parting.count > 0;
  if (!any) return true;
  world->partings.count = 0;
  return YW_LIST_RESERVE(&world->mem, &world->partings, world->parting.count) &&
         yw_filter_begin_step(world);
}

// The way out -------------------------------------------------------------------------------------

static yw_vec3 direction(int32_t i) {
  int32_t code = i < NUM_DIRECTIONS / 2 ? i : i + 1;
  yw_vec3 d = {(float)(code % 3 - 1), (float)(code / 3 % 3 - 1), (float)(code / 9 - 1)};
  return yw_scale(d, 1.0f / yw_length(d));
}

// How far a body reaches along d.
static float reach_along(const yw_body* body, yw_vec3 d) {
  const yw_particles* p = &body->particles;
  const float* radius = body->model->method->contact_geometry(body->state).radius;
  float reach = -INFINITY;
  for (int32_t i = 0; i < p->count; ++i) {
    reach = fmaxf(reach, yw_dot(yw_xyz(p->pos[i]), d) + (radius ? radius[i] : 0.0f));
  }
  return reach;
}

// The direction in which the second body gets away from the first on the shortest way, and how far
// that is (m).
static yw_vec3 way_out(const yw_body* a, const yw_body* b, float* way) {
  yw_aabb of_a = yw_body_box(a), of_b = yw_body_box(b);
  yw_vec3 best = yw_v3(0, 1, 0);
  float least = INFINITY;
  for (int32_t i = 0; i < NUM_DIRECTIONS; ++i) {
    yw_vec3 d = direction(i);
    float depth = reach_along(a, d) + reach_along(b, yw_neg(d));
    if (!(depth < least)) continue;
    least = depth;
    best = d;
  }
  float size_a = yw_distance(of_a.lower, of_a.upper), size_b = yw_distance(of_b.lower, of_b.upper);
  *way = least + GAP_SHARE * fminf(size_a, size_b);
  return best;
}

static void sum_up(const yw_body* body, double* mass, yw_vec3* velocity) {
  const yw_particles* p = &body->particles;
  double sum[3] = {0}, total = 0.0;
  for (int32_t i = 0; i < p->count; ++i) {
    double m = (double)p->mass[i];
    total += m;
    sum[0] += m * (double)p->vel[i].x;
    sum[1] += m * (double)p->vel[i].y;
    sum[2] += m * (double)p->vel[i].z;
  }
  *mass = total;
  *velocity = yw_v3((float)(sum[0] / total), (float)(sum[1] / total), (float)(sum[2] / total));
}

static void shift(yw_body* body, yw_vec3 way, yw_vec3 change) {
  yw_particles* p = &body->particles;
  for (int32_t i = 0; i < p->count; ++i) {
    p->pos[i] = yw_v4(yw_add(yw_xyz(p->pos[i]), way));
    p->vel[i] = yw_v4(yw_add(yw_xyz(p->vel[i]), change));
  }
}

// Support -----------------------------------------------------------------------------------------

static bool is_held(const yw_body* body) {
  return body->holds.count > 0 || body->report.obstacle_contacts > 0;
}

// Levels of support, so that stacks stand while they are moved apart: what is held has 0, what is
// above it and moved away from it 1, and so on.
static void find_levels(yw_world* world) {
  int32_t count = world->partings.count;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    body->support = is_held(body) ? 0 : INT32_MAX;
  }
  bool changed = true;
  for (int32_t pass = 0; pass < count && changed; ++pass) {
    changed = false;
    for (int32_t i = 0; i < count; ++i) {
      const yw_parting* parting = &world->partings.items[i];
      bool first_below = yw_dot(parting->way, world->gravity) < 0.0f;
      yw_body* below = first_below ? parting->first : parting->second;
      yw_body* above = first_below ? parting->second : parting->first;
      if (!(yw_length2(world->gravity) > 0.0f) || below->support == INT32_MAX) continue;
      if (above->support <= below->support + 1) continue;
      above->support = below->support + 1;
      changed = true;
    }
  }
}

static int32_t level_of(const yw_parting* parting) {
  int32_t a = parting->first->support, b = parting->second->support;
  return a < b ? a : b;
}

// Stable, since the first of equals stays first.
static void sort_by_level(yw_parting* partings, int32_t count) {
  for (int32_t i = 1; i < count; ++i) {
    yw_parting parting = partings[i];
    int32_t at = i;
    for (; at > 0 && level_of(&partings[at - 1]) > level_of(&parting); --at) {
      partings[at] = partings[at - 1];
    }
    partings[at] = parting;
  }
}

// Moving ------------------------------------------------------------------------------------------

// How much of the way each of two bodies goes: the lighter one more, the one with better support
// and those that pins hold none.
static void share_way(const yw_body* bodies[2], const double mass[2], float shares[2]) {
  for (int s = 0; s < 2; ++s) {
    int32_t own = bodies[s]->support, other = bodies[1 - s]->support;
    shares[s] = (float)(mass[1 - s] / (mass[0] + mass[1]));
    if (own != other) shares[s] = own < other ? 0.0f : 1.0f;
    if (bodies[s]->holds.count > 0) shares[s] = 0.0f;
  }
}

// What they approach each other with is lost.
static void part(const yw_parting* parting, float h) {
  const yw_body* both[2] = {parting->first, parting->second};
  double mass[2];
  yw_vec3 velocity[2], d = parting->way;
  float shares[2], most = PARTING_SPEED * h;
  for (int s = 0; s < 2; ++s) sum_up(both[s], &mass[s], &velocity[s]);
  share_way(both, mass, shares);
  float way = fminf(fmaxf(parting->distance, 0.0f), most);
  float closing = fmaxf(-yw_dot(yw_sub(velocity[1], velocity[0]), d), 0.0f);
  shift(parting->first, yw_scale(d, -way * shares[0]), yw_scale(d, -closing * shares[0]));
  shift(parting->second, yw_scale(d, way * shares[1]), yw_scale(d, closing * shares[1]));
}

void yw_parting_apply(yw_world* world, bool lockstep, float h) {
  world->partings.count = 0;
  for (int32_t i = 0; i < world->parting.count; ++i) {
    uint64_t pair = world->parting.items[i];
    yw_body* a = &world->bodies.items[pair >> 32];
    yw_body* b = &world->bodies.items[(uint32_t)pair];
    bool now = (a->lockstep || b->lockstep) == lockstep;
    if (!now || !may_part(a) || !may_part(b)) continue;
    yw_parting* parting = &world->partings.items[world->partings.count++];
    *parting = (yw_parting){.first = a, .second = b};
    parting->way = way_out(a, b, &parting->distance);
  }
  find_levels(world);
  sort_by_level(world->partings.items, world->partings.count);
  for (int32_t i = 0; i < world->partings.count; ++i) part(&world->partings.items[i], h);
}
