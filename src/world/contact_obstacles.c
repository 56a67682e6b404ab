// SPDX-License-Identifier: MIT
// Where bodies touch obstacles, for the contact book.
#include "math/small/mat3d.h"
#include "world/world.h"

// Particles this near to an obstacle touch it, as a share of the mean edge of the surface (or of
// the radius); others do if they are no farther than the nearest by that much.
#define TOUCH_SHARE 0.02f
// A body whose momentum changes by this share of its weight, beyond gravity, may touch something.
#define PUSH_SHARE 0.05f
// Obstacles that one body touches at once; more count as none.
#define MAX_OBSTACLES 16
// Sweeps over their shares of the impulse.
#define SHARE_SWEEPS 30

static bool concerns(const yw_body* body, bool lockstep) {
  return yw_body_takes_part(body) && body->lockstep == lockstep;
}

// A particle near an obstacle.
typedef struct near_particle {
  int32_t particle, obstacle;  // obstacle: in the set of the body
  float gap, speed;
  yw_vec3 point, normal;
} near_particle;

// What a body does with obstacles in one part of a substep.
typedef struct meeting {
  yw_world* world;
  const yw_body* body;
  uint32_t slot;
  const float* radius;
  const yw_vec4* before;  // velocities
  yw_aabb box;            // of the body, with room
  float h, reach;
  int32_t num_obstacles;
  int32_t obstacles[MAX_OBSTACLES];
  yw_vec3 normals[MAX_OBSTACLES];  // sums
  yw_vec3 impulses[MAX_OBSTACLES];
  int32_t counts[MAX_OBSTACLES];  // particles
} meeting;

// Mean edge of the surface, or radius of balls.
static float scale_of(const yw_contact_geometry* g, const yw_particles* p) {
  double sum = 0.0;
  int32_t count = 0;
  if (g->radius) {
    for (int32_t i = 0; i < p->count; ++i) sum += (double)g->radius[i];
    return p->count > 0 ? (float)(sum / p->count) : 0.0f;
  }
  for (int32_t i = 0; i < g->num_triangles; ++i) {
    const int32_t* t = g->triangles + 3 * i;
    sum += (double)yw_distance(yw_xyz(p->pos[t[0]]), yw_xyz(p->pos[t[1]]));
    ++count;
  }
  return count > 0 ? (float)(sum / count) : 0.0f;
}

static near_particle look(const meeting* m, int32_t particle, int32_t obstacle) {
  yw_vec3 x = yw_xyz(m->body->particles.pos[particle]);
  yw_obstacle_near near = yw_obstacle_seen_from(&m->body->obstacles, obstacle, x);
  float radius = m->radius ? m->radius[particle] : 0.0f;
  // The closing speed at the start, with what gravity adds.
  yw_vec3 v = yw_mad(yw_xyz(m->before[particle]), m->h, m->world->gravity);
  return (near_particle){.particle = particle,
                         .obstacle = obstacle,
                         .gap = near.distance - radius,
                         .speed = -yw_dot(yw_sub(v, near.velocity), near.normal),
                         .point = yw_mad(x, -near.distance, near.normal),
                         .normal = near.normal};
}

// Calls `visit` for every surface particle and obstacle.
static void visit_surface(meeting* m, const yw_contact_geometry* g,
                          void (*visit)(meeting* m, int32_t particle, int32_t obstacle)) {
  int32_t count = g->surface_particles ? g->num_surface_particles : m->body->particles.count;
  for (int32_t k = 0; k < m->body->obstacles.count; ++k) {
    if (!yw_aabb_overlap(m->body->obstacles.items[k].bounds, m->box)) continue;
    for (int32_t i = 0; i < count; ++i) {
      visit(m, g->surface_particles ? g->surface_particles[i] : i, k);
    }
  }
}

static void note_nearest(meeting* m, int32_t particle, int32_t obstacle) {
  float gap = look(m, particle, obstacle).gap;
  if (gap < m->reach) m->reach = gap;
}

static int32_t place_of(meeting* m, int32_t obstacle) {
  int32_t at = 0;
  while (at < m->num_obstacles && m->obstacles[at] != obstacle) ++at;
  if (at == MAX_OBSTACLES) return -1;
  if (at == m->num_obstacles) m->obstacles[m->num_obstacles++] = obstacle;
  return at;
}

static void note_touch(meeting* m, int32_t particle, int32_t obstacle) {
  near_particle near = look(m, particle, obstacle);
  int32_t at = near.gap <= m->reach ? place_of(m, obstacle) : -1;
  if (at < 0) return;
  m->normals[at] = yw_add(m->normals[at], near.normal);
  ++m->counts[at];
}

static void record_touch(meeting* m, int32_t particle, int32_t obstacle) {
  near_particle near = look(m, particle, obstacle);
  int32_t at = near.gap <= m->reach ? place_of(m, obstacle) : -1;
  if (at < 0) return;
  float share = 1.0f / (float)m->counts[at];
  int64_t number = m->body->obstacles.items[obstacle].number;
  yw_vec3 impulse = yw_scale(m->impulses[at], share);
  float along = yw_dot(impulse, near.normal);
  yw_book_point point = {.pair = {m->slot, -1 - number},
                         .vertices = {particle, -1},
                         .shown = {.point = near.point, .normal = near.normal, .impulse = along}};
  yw_book_add(m->world->book, &point, impulse, (double)share, near.speed);
}

// Splits an impulse among the obstacles: pushes along their normals that explain it best, and what
// is left, which is friction, in proportion to these. False if nothing pushes: matter of `plastic`
// that leaves an obstacle is held back by its contacts for a step.
static bool split_impulse(meeting* m, yw_vec3 impulse) {
  float pushes[MAX_OBSTACLES] = {0}, sum = 0.0f;
  yw_vec3 left = impulse;
  for (int32_t k = 0; k < m->num_obstacles; ++k) {
    m->normals[k] = yw_normalize_or(m->normals[k], yw_v3(0, 1, 0));
  }
  for (int sweep = 0; sweep < SHARE_SWEEPS; ++sweep) {
    for (int32_t k = 0; k < m->num_obstacles; ++k) {
      float push = fmaxf(0.0f, pushes[k] + yw_dot(left, m->normals[k]));
      left = yw_mad(left, pushes[k] - push, m->normals[k]);
      pushes[k] = push;
    }
  }
  for (int32_t k = 0; k < m->num_obstacles; ++k) sum += pushes[k];
  for (int32_t k = 0; sum > 0.0f && k < m->num_obstacles; ++k) {
    m->impulses[k] = yw_mad(yw_scale(left, pushes[k] / sum), pushes[k], m->normals[k]);
  }
  return sum > 0.0f;
}

static void record_obstacles(yw_world* world, uint32_t slot, yw_vec3 impulse, const yw_vec4* before,
                             float h) {
  const yw_body* body = &world->bodies.items[slot];
  yw_contact_geometry g = body->model->method->contact_geometry(body->state);
  float scale = scale_of(&g, &body->particles);
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < body->particles.count; ++i) {
    box = yw_aabb_grow(box, yw_xyz(body->particles.pos[i]));
  }
  meeting m = {.world = world,
               .body = body,
               .slot = slot,
               .radius = g.radius,
               .before = before,
               .box = yw_aabb_pad(box, 2.0f * scale),
               .h = h,
               .reach = INFINITY};
  visit_surface(&m, &g, note_nearest);
  if (!(m.reach <= scale)) return;
  m.reach = fmaxf(m.reach, 0.0f) + TOUCH_SHARE * scale;
  visit_surface(&m, &g, note_touch);
  if (m.num_obstacles == 0) return;
  if (!split_impulse(&m, impulse)) return;
  visit_surface(&m, &g, record_touch);
  bool pinned = body->holds.count + body->springs.count > 0;
  for (int32_t k = 0; pinned && k < m.num_obstacles; ++k) {
    int64_t number = body->obstacles.items[m.obstacles[k]].number;
    yw_book_entry* entry = yw_book_entry_of(world->book, (yw_book_pair){slot, -1 - number});
    if (entry) entry->unknown = true;
  }
}

void yw_book_note_advance(yw_world* world, bool lockstep, float h) {
  yw_contact_book* book = world->book;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    uint32_t slot = world->body_order.items[i];
    const yw_body* body = &world->bodies.items[slot];
    // Rigid bodies are moved once more with their joints, and know their contacts.
    if (!concerns(body, lockstep) || body->asleep || body->model->method->rigid_motion) continue;
    const yw_book_body* kept = &book->bodies.items[i];
    double now[3], mass = 0.0;
    yw_book_momentum(body, now);
    for (int32_t k = 0; k < body->particles.count; ++k) mass += (double)body->particles.mass[k];
    mass *= (double)h;
    yw_vec3 g = world->gravity;
    yw_vec3 impulse = {(float)(now[0] - kept->momentum[0] - mass * (double)g.x),
                       (float)(now[1] - kept->momentum[1] - mass * (double)g.y),
                       (float)(now[2] - kept->momentum[2] - mass * (double)g.z)};
    // Methods with more than particles do not always count theirs.
    bool touches = body->report.obstacle_contacts > 0 || body->report.asleep > 0 ||
                   yw_length(impulse) > PUSH_SHARE * (float)mass * yw_length(g);
    if (!touches) continue;
    record_obstacles(world, slot, impulse, book->velocities.items + kept->first_velocity, h);
  }
}

int64_t yw_book_nearest_obstacle(const yw_body* body, yw_vec3 p) {
  float least = INFINITY;
  int64_t found = -1;
  for (int32_t i = 0; i < body->obstacles.count; ++i) {
    float distance = fabsf(yw_obstacle_seen_from(&body->obstacles, i, p).distance);
    if (distance >= least) continue;
    least = distance;
    found = body->obstacles.items[i].number;
  }
  return found;
}

void yw_book_add_rigid(yw_world* world, uint32_t slot) {
  const yw_body* body = &world->bodies.items[slot];
  const yw_rigid_motion* m = body->model->method->rigid_motion(body->state);
  for (int32_t i = 0; i < m->num_contacts; ++i) {
    const yw_rigid_contact* c = &m->contacts[i];
    if (!(c->impulse > 0.0)) continue;
    yw_vec3 normal = yw_v3((float)c->normal[0], (float)c->normal[1], (float)c->normal[2]);
    yw_vec3 side = yw_v3((float)c->sideways[0], (float)c->sideways[1], (float)c->sideways[2]);
    yw_vec3 at = yw_v3((float)(m->center[0] + c->arm[0]), (float)(m->center[1] + c->arm[1]),
                       (float)(m->center[2] + c->arm[2]));
    int64_t obstacle = yw_book_nearest_obstacle(body, at);
    if (obstacle < 0) continue;
    // Closing speed of the free motion, at the point where they touch.
    double spin[3], free[3];
    yw_sym_apply(m->inv_inertia, m->free_angular, spin);
    yw_cross3(spin, c->arm, free);
    double speed = 0.0;
    for (int k = 0; k < 3; ++k) {
      speed -= (m->free_velocity[k] + free[k] - c->drift[k]) * c->normal[k];
    }
    yw_book_point point = {.pair = {slot, -1 - obstacle},
                           .vertices = {-1, -1},
                           .shown = {.point = at, .normal = normal, .impulse = (float)c->impulse}};
    yw_vec3 impulse = yw_mad(side, (float)c->impulse, normal);
    yw_book_add(world->book, &point, impulse, c->impulse, (float)speed);
  }
}
