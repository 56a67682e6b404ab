// SPDX-License-Identifier: MIT
// The guard stops particles where they were at the start of the substep. In a crumpled body that
// flies at 50 m/s, these then lag behind the rest by 50 m/s: it was torn apart by its own speed. So
// bodies that may touch each other in this substep, and nothing that is held, are looked at in axes
// that move with their centre of mass. Relative paths are the same in such axes.
#include "contact/surfaces/ride.h"

// In worlds of more bodies the guard works in axes at rest: looking at every pair would take long.
#define FEW_BODIES 256
// More than the guard may move particles beyond their paths, as a share of the mean edge; the fall
// of a substep is added.
#define MARGIN_SHARE 0.02f

static bool takes_part(const yw_contact_body* body) {
  return body->body_contact || body->self_contact;
}

// True when the body, or some particle of it, does not move along.
static bool is_fixed(const yw_contact_body* body) {
  const yw_particles* p = body->particles;
  if (body->is_obstacle || body->asleep || body->obstacles) return true;
  if (body->rigid) return body->rigid->held || body->rigid->num_anchors > 0;
  bool fixed = false;
  for (int32_t i = 0; i < p->count; ++i) fixed |= p->inv_mass[i] == 0.0f && p->mass[i] > 0.0f;
  return fixed;
}

// Box of the paths of a body, wherever the guard leaves its particles, if it works in axes that
// move by `way`.
static yw_aabb reach_of(const yw_contact_work* work, yw_vec3 way, float fall) {
  const yw_contact_body* body = work->body;
  yw_aabb begin = yw_aabb_empty(), all = begin;
  for (int32_t k = 0; k < work->complex->num_vertices; ++k) {
    begin = yw_aabb_grow(begin, yw_touch_begin(work, work->vertices[k]));
    all = yw_aabb_grow(all, yw_touch_end(work, work->vertices[k]));
  }
  all = yw_aabb_join(all, begin);
  all = yw_aabb_join(all, (yw_aabb){yw_add(begin.lower, way), yw_add(begin.upper, way)});
  float skin = fmaxf(body->skin, MARGIN_SHARE * work->complex->size);
  return yw_aabb_pad(all, work->max_radius + skin + fall);
}

// The group of every body gets the sums of its members, and all the way of its centre of mass.
static void sum_up(yw_surfaces* c, int32_t num_bodies, float h) {
  yw_ride* rides = c->rides.items;
  for (int32_t i = 0; i < num_bodies; ++i) rides[i].sum = (yw_ride_sum){.fixed = false};
  for (int32_t i = 0; i < num_bodies; ++i) {
    yw_ride_sum* sum = &rides[rides[i].group].sum;
    const yw_balance* own = &c->balances.items[i];
    sum->fixed = sum->fixed || rides[i].fixed;
    sum->mass += own->mass;
    for (int k = 0; k < 3; ++k) sum->momentum[k] += own->momentum[k];
  }
  for (int32_t i = 0; i < num_bodies; ++i) {
    const yw_ride_sum* sum = &rides[rides[i].group].sum;
    double time = sum->fixed || !(sum->mass > 0.0) ? 0.0 : (double)h / sum->mass;
    const double* p = sum->momentum;
    rides[i].way = yw_v3((float)(time * p[0]), (float)(time * p[1]), (float)(time * p[2]));
  }
}

// Joins the groups that may touch. True if there were any.
static bool join_groups(yw_surfaces* c, int32_t num_bodies) {
  yw_ride* rides = c->rides.items;
  bool joined = false;
  for (int32_t i = 0; i < num_bodies; ++i) {
    if (!rides[i].takes_part) continue;
    rides[i].reach = reach_of(&c->works.items[i], rides[i].way, c->step.fall);
  }
  for (int32_t i = 0; i < num_bodies; ++i) {
    for (int32_t k = 0; k < i && rides[i].takes_part; ++k) {
      int32_t from = rides[i].group, to = rides[k].group;
      bool both = rides[from].sum.fixed && rides[to].sum.fixed;
      if (from == to || both || !rides[k].takes_part) continue;
      if (!yw_aabb_overlap(rides[i].reach, rides[k].reach)) continue;
      for (int32_t n = 0; n < num_bodies; ++n) {
        if (rides[n].group == from) rides[n].group = to;
      }
      rides[to].sum.fixed = rides[to].sum.fixed || rides[from].sum.fixed;
      joined = true;
    }
  }
  return joined;
}

// Moves a body by `sign` times the way of its group.
static void move(const yw_contact_body* body, yw_vec3 way, float sign, float h) {
  yw_particles* p = body->particles;
  yw_rigid_motion* m = body->rigid;
  yw_vec3 step = yw_scale(way, sign), speed = yw_scale(way, sign / h);
  if (m) {
    const float by[3] = {step.x, step.y, step.z}, faster[3] = {speed.x, speed.y, speed.z};
    for (int k = 0; k < 3; ++k) {
      m->center[k] += (double)by[k];
      m->velocity[k] += (double)faster[k];
    }
    body->follow(body->context);
    return;
  }
  for (int32_t i = 0; i < p->count; ++i) {
    p->pos[i] = yw_v4(yw_add(yw_xyz(p->pos[i]), step));
    p->vel[i] = yw_v4(yw_add(yw_xyz(p->vel[i]), speed));
  }
}

static void move_all(yw_surfaces* c, const yw_contact_body* bodies, float sign, float h) {
  for (int32_t i = 0; i < c->rides.count; ++i) {
    const yw_ride* ride = &c->rides.items[i];
    if (!ride->takes_part || !(yw_length2(ride->way) > 0.0f)) continue;
    move(&bodies[i], ride->way, sign, h);
    c->works.items[i].outdated = true;
  }
}

bool yw_ride_begin(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies, float h) {
  c->rides.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->rides, num_bodies)) return false;
  bool any = false, all = num_bodies <= FEW_BODIES;
  for (int32_t i = 0; i < num_bodies && all; ++i) {
    const yw_contact_work* work = &c->works.items[i];
    yw_ride* ride = &c->rides.items[i];
    *ride = (yw_ride){.group = c->island_of.items[i], .takes_part = takes_part(&bodies[i])};
    ride->fixed = ride->takes_part && is_fixed(&bodies[i]);
    any = any || (ride->takes_part && !ride->fixed);
    // Where a large obstacle is, is known near others alone.
    all = !(ride->takes_part && work->nearby);
  }
  if (!any || !all) return true;
  do {
    sum_up(c, num_bodies, h);
  } while (join_groups(c, num_bodies));
  c->rides.count = num_bodies;
  move_all(c, bodies, -1.0f, h);
  return true;
}

void yw_ride_end(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies, float h) {
  (void)num_bodies;
  move_all(c, bodies, 1.0f, h);
}
