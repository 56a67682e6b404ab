// SPDX-License-Identifier: MIT
// Sleep: bodies at rest are skipped until something changes for them. Bodies that touch or are
// joined are an island; it falls asleep when all of it has been at rest for a while, and wakes as
// one: what leans on a body that was pushed away must fall.
#include "contact/obstacle_motion.h"
#include "world/world.h"

// An island falls asleep after it was at rest this long, s.
#define REST_TIME 0.5f
// Small bodies have to be slower: this share of their size in a second.
#define SIZE_SHARE 0.02f
// And so do those that pins hold, by this factor: they swing, and would stop beside where they
// hang.
#define PINNED_SHARE 0.1f
// Sleepers nearer to others than this share of the others' size may be touched.
#define REACH_SHARE 0.05f
// Obstacles that move nearer to a body than this share of its size wake it.
#define OBSTACLE_SHARE 0.05f

// Falling asleep and waking -----------------------------------------------------------------------

void yw_body_lie_down(const yw_world* world, yw_body* body) {
  const yw_particles* p = &body->particles;
  body->rest_box = yw_body_box(body);
  body->in_reach = false;
  if (body->begin) memcpy(body->begin, p->pos, sizeof *p->pos * (size_t)p->count);
  yw_body_remember(world, body);
}

static void fall_asleep(yw_world* world, yw_body* body, uint32_t island) {
  yw_particles* p = &body->particles;
  body->island = island;
  if (body->asleep) return;
  memset(p->vel, 0, (size_t)p->count * sizeof *p->vel);
  body->model->method->invalidate(body->state, p);
  body->asleep = true;
  yw_body_lie_down(world, body);
  yw_body_show(world, body);
}

// Methods may have put parts of the body to sleep.
static yw_status wake(yw_body* body) {
  const yw_method* method = body->model->method;
  yw_body_rouse(body);
  return method->wake ? method->wake(body->state) : YW_OK;
}

void yw_world_wake_all(yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    yw_status status = wake(body);
    if (status < 0) body->status = status;
    body->island = 0;
  }
}

void yw_world_wake_islands(yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    uint32_t island = yw_body_in_order(world, i)->island;
    if (island == 0 || yw_body_in_order(world, i)->asleep) continue;
    for (int32_t k = 0; k < world->body_order.count; ++k) {
      yw_body* other = yw_body_in_order(world, k);
      if (other->island != island) continue;
      yw_body_rouse(other);
      other->island = 0;
    }
  }
}

static bool is_pushed(const yw_body* body) {
  const yw_particles* p = &body->particles;
  for (int32_t i = 0; i < p->count; ++i) {
    if (p->vel[i].x != 0.0f || p->vel[i].y != 0.0f || p->vel[i].z != 0.0f) return true;
  }
  return false;
}

static bool is_near_moving_obstacle(const yw_body* body, yw_aabb box) {
  box = yw_aabb_pad(box, OBSTACLE_SHARE * yw_distance(box.lower, box.upper));
  for (int32_t k = 0; k < body->obstacles.count; ++k) {
    const yw_obstacle* o = &body->obstacles.items[k];
    if (yw_obstacle_moves(o) && yw_aabb_overlap(o->bounds, box)) return true;
  }
  return false;
}

static bool is_joined(const yw_world* world, uint32_t slot) {
  for (int32_t i = 0; i < world->joints.count; ++i) {
    const yw_joint* joint = &world->joints.items[i];
    if (!(joint->generation & 1) || !joint->takes_part) continue;
    if (joint->sides[0].body == (int32_t)slot || joint->sides[1].body == (int32_t)slot) return true;
  }
  return false;
}

void yw_world_wake_moved(yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    if (!body->asleep) continue;
    bool may_move = body->in_reach || is_joined(world, world->body_order.items[i]);
    if ((may_move && is_pushed(body)) || is_near_moving_obstacle(body, body->rest_box)) {
      yw_body_rouse(body);
    }
  }
  yw_world_wake_islands(world);
}

// Reach -------------------------------------------------------------------------------------------

// Contact may give a body the speed of any other, on top of its own.
bool yw_sleep_find_reach(yw_world* world, float h) {
  int32_t sleepers = 0, awake = 0;
  float fastest = 0.0f;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    body->in_reach = false;
    sleepers += body->asleep;
    awake += !body->asleep && yw_body_takes_part(body);
  }
  if (sleepers == 0 || awake == 0) return awake > 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = yw_body_in_order(world, i);
    const yw_particles* p = &body->particles;
    for (int32_t k = 0; k < p->count && !body->asleep; ++k) {
      fastest = fmaxf(fastest, yw_length2(yw_xyz(p->vel[k])));
    }
  }
  float way = 2.0f * h * sqrtf(fastest);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = yw_body_in_order(world, i);
    if (body->asleep || !yw_body_takes_part(body) || !body->body_contact) continue;
    yw_aabb box = yw_body_box(body);
    box = yw_aabb_pad(box, way + REACH_SHARE * yw_distance(box.lower, box.upper));
    for (int32_t k = 0; k < world->body_order.count; ++k) {
      yw_body* other = yw_body_in_order(world, k);
      if (!other->asleep || !yw_aabb_overlap(box, other->rest_box)) continue;
      other->in_reach = true;
    }
  }
  return true;
}

// Islands -----------------------------------------------------------------------------------------

bool yw_sleep_note_touching(yw_world* world) {
  if (!(world->sleep_speed > 0.0f)) return true;
  int32_t count =
      world->surfaces ? yw_surfaces_num_pairs(world->surfaces) : yw_points_num_pairs(world->points);
  if (!YW_LIST_RESERVE(&world->mem, &world->touching, count)) return false;
  for (int32_t i = 0; i < count; ++i) {
    int32_t pair[2];
    uint32_t slots[2];
    if (world->surfaces) yw_surfaces_pair(world->surfaces, i, pair);
    if (!world->surfaces) yw_points_pair(world->points, i, pair);
    // The others are obstacles.
    if (pair[0] >= world->responders.count || pair[1] >= world->responders.count) continue;
    for (int k = 0; k < 2; ++k) {
      slots[k] = (uint32_t)(world->responders.items[pair[k]].body - world->bodies.items);
    }
    world->touching.items[world->touching.count++] = yw_contact_pair(slots[0], slots[1]);
  }
  return true;
}

// The slot that stands for the island of this one.
static uint32_t root_of(const uint32_t* islands, uint32_t slot) {
  while (islands[slot] != slot) slot = islands[slot];
  return slot;
}

// The lower slot stands for both.
static void unite(uint32_t* islands, uint32_t a, uint32_t b) {
  a = root_of(islands, a);
  b = root_of(islands, b);
  if (a < b) islands[b] = a;
  if (b < a) islands[a] = b;
}

static void find_islands(yw_world* world) {
  uint32_t* islands = world->islands.items;
  for (uint32_t i = 0; i < (uint32_t)world->bodies.count; ++i) islands[i] = i;
  for (int32_t i = 0; i < world->touching.count; ++i) {
    uint64_t pair = world->touching.items[i];
    unite(islands, (uint32_t)(pair >> 32), (uint32_t)pair);
  }
  for (int32_t i = 0; i < world->joints.count; ++i) {
    const yw_joint* joint = &world->joints.items[i];
    int32_t a = joint->sides[0].body, b = joint->sides[1].body;
    if ((joint->generation & 1) && a >= 0 && b >= 0) unite(islands, (uint32_t)a, (uint32_t)b);
  }
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = yw_body_in_order(world, i);
    if (body->island != 0) unite(islands, world->body_order.items[i], body->island - 1);
  }
}

static bool is_blown(const yw_world* world) {
  const yw_wind_def* wind = &world->wind;
  return wind->density > 0.0f && wind->drag > 0.0f &&
         (yw_length2(world->wind_velocity) > 0.0f || wind->turbulence > 0.0f);
}

// Without weight, a slow body need not be at rest.
static float speed_share(const yw_world* world, const yw_body* body) {
  if (!(yw_length2(world->gravity) > 0.0f)) return 0.0f;
  return body->holds.count + body->springs.count > 0 ? PINNED_SHARE : 1.0f;
}

float yw_sleep_speed_of(const yw_world* world, const yw_body* body) {
  return speed_share(world, body) * world->sleep_speed;
}

static float rest_speed(const yw_world* world, const yw_body* body, yw_aabb box) {
  float most = SIZE_SHARE * yw_distance(box.lower, box.upper);
  return speed_share(world, body) * fminf(world->sleep_speed, most);
}

// The sum of squares of the ways of particles in the step; once it is more than `most`, no more of
// them are added: what moves is told after a few.
static double squared_ways(const yw_body* body, double most) {
  const yw_particles* p = &body->particles;
  double sum = 0.0;
  for (int32_t i = 0; i < p->count && !(sum > most); ++i) {
    yw_vec3 way = yw_sub(yw_xyz(p->pos[i]), yw_xyz(body->last_good[i]));
    sum += (double)yw_length2(way);
  }
  return sum;
}

// By the way of its particles in the step, not their velocities: where rounding or contact makes
// them tremble, these do not say how the body moves.
static bool is_at_rest(const yw_world* world, const yw_body* body, float dt) {
  const yw_particles* p = &body->particles;
  const yw_method* method = body->model->method;
  if (body->last_good_count != p->count || is_blown(world)) return false;
  if (method->may_sleep && !method->may_sleep(body->state)) return false;
  // No body, however large, may be faster than that.
  double fastest = (double)yw_sleep_speed_of(world, body) * (double)dt;
  double sum = squared_ways(body, fastest * fastest * p->count);
  if (sum > fastest * fastest * p->count) return false;
  yw_aabb box = yw_body_box(body);
  double most = (double)rest_speed(world, body, box) * (double)dt;
  return sum <= most * most * p->count && !is_near_moving_obstacle(body, box);
}

typedef struct rest_job {
  yw_world* world;
  float dt;
} rest_job;

static bool is_counted(const yw_body* body) { return yw_body_takes_part(body) && !body->asleep; }

static void count_rest_of(void* context, int32_t i, int32_t worker) {
  (void)worker;
  const rest_job* job = context;
  yw_body* body = yw_body_in_order(job->world, i);
  if (!is_counted(body)) return;
  body->rest_time = is_at_rest(job->world, body, job->dt) ? body->rest_time + job->dt : 0.0f;
}

// True if some body has been at rest for long enough.
static bool count_rest(yw_world* world, float dt) {
  bool any = false;
  rest_job job = {world, dt};
  yw_tasks_run(world->tasks, world->body_order.count, count_rest_of, &job);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = yw_body_in_order(world, i);
    any = any || (is_counted(body) && body->rest_time >= REST_TIME);
  }
  return any;
}

// True where the method sees to sleep and there is nobody to sleep with.
static bool sleeps_alone(const yw_body* body, const uint32_t* sizes, uint32_t root) {
  return sizes[root] == 1 && body->model->method->wake;
}

// Islands with a body that has not rested long enough stay awake: their entries become those of
// nobody.
bool yw_sleep_end_step(yw_world* world, float dt) {
  const uint32_t nobody = UINT32_MAX;
  if (!(world->sleep_speed > 0.0f)) return true;
  // From the first step on, so that falling asleep needs no memory.
  world->islands.count = 0;
  if (!YW_LIST_RESERVE(&world->mem, &world->islands, 3 * world->bodies.count)) return false;
  if (!count_rest(world, dt)) return true;
  uint32_t *islands = world->islands.items, *roots = islands + world->bodies.count;
  uint32_t* sizes = roots + world->bodies.count;
  find_islands(world);
  memset(sizes, 0, sizeof *sizes * (size_t)world->bodies.count);
  for (uint32_t i = 0; i < (uint32_t)world->bodies.count; ++i) {
    roots[i] = root_of(islands, i);
    ++sizes[roots[i]];
  }
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = yw_body_in_order(world, i);
    bool rests = body->asleep || body->rest_time >= REST_TIME || !yw_body_takes_part(body);
    uint32_t root = roots[world->body_order.items[i]];
    if (!rests || sleeps_alone(body, sizes, root)) islands[root] = nobody;
  }
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    uint32_t root = roots[world->body_order.items[i]];
    if (islands[root] != nobody && yw_body_takes_part(body)) fall_asleep(world, body, root + 1);
  }
  return true;
}

// For callers -------------------------------------------------------------------------------------

yw_status yw_world_set_sleep_speed(yw_world* world, float speed) {
  if (!world || !(speed >= 0.0f) || !isfinite(speed)) return YW_ERR_INVALID;
  world->sleep_speed = speed;
  yw_world_wake_all(world);
  return YW_OK;
}

float yw_world_sleep_speed(const yw_world* world) { return world ? world->sleep_speed : 0.0f; }

yw_status yw_body_sleep(yw_world* world, yw_body_id id) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body) return YW_ERR_INVALID;
  if (!body->asleep) fall_asleep(world, body, id.index1);
  return YW_OK;
}

yw_status yw_body_wake(yw_world* world, yw_body_id id) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body) return YW_ERR_INVALID;
  yw_status status = wake(body);
  yw_world_wake_islands(world);
  return status;
}

void yw_body_changed(yw_world* world, yw_body_id id) {
  yw_body* body = yw_world_find_body(world, id);
  if (body) yw_body_rouse(body);
}

bool yw_body_is_asleep(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body) return false;
  return body->asleep || (body->report.asleep > 0 && body->report.asleep == body->particles.count);
}
