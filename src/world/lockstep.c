// SPDX-License-Identifier: MIT
// Which bodies of a substep touch, and which advance in lockstep. Explicit methods cannot take the
// impulse of a whole substep at once: they and what is near them advance in parts, with contact
// after each.
#include <math.h>
#include <string.h>

#include "world/world.h"

// Most parts of a substep for bodies in lockstep; beyond that, each part has several inner steps.
// Substeps longer than LONG_SUBSTEP have as many more, so that bodies do not run through each other
// between two parts.
#define MAX_PARTS 64
#define LONG_SUBSTEP (1.0f / 60.0f)
// Where two bodies are near each other and each part would have more than FEW_INNER_STEPS, every
// inner step is a part: a light stiff body under a heavy one would answer an impulse several times
// before it gets the next, and gain energy. In substeps above LARGE_SUBSTEP, in which impacts are
// harder, so would any with more than one.
#define FEW_INNER_STEPS 4
#define LARGE_SUBSTEP 0.01f
#define MOST_PARTS 4096
// The same where contact sees points, which has to be found anew in every part.
#define MAX_PARTS_OF_POINTS 8
// Bodies nearer than this share of their size, plus what they move, count as touching.
#define TOUCH_SHARE 0.05f
// In worlds of more bodies, all count as touching: looking at every pair would take longer.
#define FEW_BODIES 256

static bool meets_others(const yw_body* body) {
  return body->body_contact && yw_body_takes_part(body);
}

static yw_aabb box_of(const yw_body* body, float h) {
  const yw_particles* p = &body->particles;
  yw_aabb box = body->asleep ? body->rest_box : yw_aabb_empty();
  for (int32_t i = 0; i < p->count && !body->asleep; ++i) {
    yw_vec3 x = yw_xyz(p->pos[i]);
    box = yw_aabb_grow(yw_aabb_grow(box, x), yw_mad(x, h, yw_xyz(p->vel[i])));
  }
  float reach = yw_length(yw_sub(box.upper, box.lower));
  return p->count > 0 ? yw_aabb_pad(box, TOUCH_SHARE * reach) : box;
}

// Inner steps that the body takes on its own; 1 unless it is explicit.
static int32_t inner_steps_of(const yw_world* world, yw_body* body, float h) {
  const yw_method* method = body->model->method;
  if (!method->inner_steps || !meets_others(body) || body->asleep) return 1;
  yw_step_ctx ctx = {.h = h, .time = world->time, .gravity = world->gravity};
  return method->inner_steps(body->state, &body->particles, &ctx);
}

// True when contact of surfaces has something to look at.
static bool may_touch(const yw_world* world) {
  int32_t partners = 0;
  if (!world->surfaces) return false;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = yw_body_in_order(world, i);
    if (yw_body_meets_itself(body) && yw_body_takes_part(body)) return true;
    partners += meets_others(body);
  }
  return partners > 1 || (partners > 0 && yw_obstacle_surfaces_any(world));
}

// A body alone on several ranks needs none. Others may break in the step, and meet themselves then.
bool yw_lockstep_reserve(yw_world* world) {
  bool needed = world->body_order.count > 1 || yw_obstacle_surfaces_any(world);
  for (int32_t i = 0; i < world->body_order.count && world->surfaces; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    const yw_particles* p = &body->particles;
    if (body->begin || (body->is_shared && !needed && !yw_body_meets_itself(body))) continue;
    body->begin = YW_NEW_ARRAY(&world->mem, yw_vec4, p->capacity);
    if (!body->begin) return false;
    memcpy(body->begin, p->pos, sizeof *p->pos * (size_t)p->count);
  }
  return true;
}

typedef struct boxing {
  yw_world* world;
  float h;
} boxing;

static void find_box(void* context, int32_t i, int32_t worker) {
  (void)worker;
  const boxing* job = context;
  job->world->body_boxes.items[i] = box_of(yw_body_in_order(job->world, i), job->h);
}

// Marks the bodies that another, or the surface of an obstacle, may touch in the substep, or that
// may touch themselves.
static void mark_crowded(yw_world* world, float h) {
  int32_t count = world->body_order.count;
  bool few = count <= FEW_BODIES;
  boxing job = {world, h};
  if (few) yw_tasks_run(world->tasks, count, find_box, &job);
  for (int32_t i = 0; i < count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    bool touched = !few;
    for (int32_t k = 0; k < count && !touched; ++k) {
      touched = k != i && meets_others(yw_body_in_order(world, k)) &&
                yw_aabb_overlap(world->body_boxes.items[i], world->body_boxes.items[k]);
    }
    bool at_obstacle = few && world->surfaces &&
                       yw_obstacle_surfaces_near(world, body, world->body_boxes.items[i]);
    bool crowded = touched || at_obstacle;
    body->crowded =
        world->surfaces && (yw_body_meets_itself(body) || (body->body_contact && crowded));
    // Vertices meet obstacles in the inner steps: where nothing else does, lockstep is not needed.
    body->lockstep = body->lockstep && (touched || (at_obstacle && body->is_pressed));
  }
}

// Adds the bodies near those in lockstep until there are no more. True if any was added.
static bool spread_lockstep(yw_world* world) {
  bool added = false;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    if (!yw_body_in_order(world, i)->lockstep) continue;
    for (int32_t k = 0; k < world->body_order.count; ++k) {
      yw_body* other = yw_body_in_order(world, k);
      if (other->lockstep || !meets_others(other)) continue;
      if (!yw_aabb_overlap(world->body_boxes.items[i], world->body_boxes.items[k])) continue;
      other->lockstep = added = true;
    }
  }
  return added;
}

static void put_all_in_lockstep(yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    body->lockstep = body->lockstep || meets_others(body);
  }
}

// What is joined to a body in lockstep goes with it. True if any was added.
static bool spread_over_joints(yw_world* world) {
  bool added = false;
  for (int32_t i = 0; i < world->joints.count; ++i) {
    const yw_joint* joint = &world->joints.items[i];
    int32_t a = joint->sides[0].body, b = joint->sides[1].body;
    if (!(joint->generation & 1) || a < 0 || b < 0) continue;
    yw_body *first = &world->bodies.items[a], *second = &world->bodies.items[b];
    if (first->lockstep == second->lockstep) continue;
    first->lockstep = second->lockstep = added = true;
  }
  return added;
}

static int32_t count_in_lockstep(yw_world* world) {
  int32_t sum = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    sum += yw_body_in_order(world, i)->lockstep;
  }
  return sum;
}

// How many parts a substep may have.
static float most_parts(yw_world* world, float h, int32_t wanted) {
  float most = world->surfaces ? MAX_PARTS : MAX_PARTS_OF_POINTS;
  most *= fmaxf(1.0f, h / LONG_SUBSTEP);
  float few = h > LARGE_SUBSTEP ? 1.0f : FEW_INNER_STEPS;
  bool several = world->surfaces && (float)wanted > few * most;
  return several && count_in_lockstep(world) > 1 ? MOST_PARTS : most;
}

int32_t yw_lockstep_plan(yw_world* world, float h) {
  int32_t num_parts = 1, count = world->body_order.count;
  bool any = false;
  world->may_touch = may_touch(world);
  for (int32_t i = 0; i < count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    body->crowded = false;
    body->lockstep = (count > 1 || world->may_touch) && inner_steps_of(world, body, h) > 1;
    any = any || body->lockstep;
  }
  if (!any && !world->may_touch) return 1;
  mark_crowded(world, h);
  for (int32_t i = 0; i < count && any; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    int32_t steps = body->lockstep ? inner_steps_of(world, body, h) : 1;
    num_parts = steps > num_parts ? steps : num_parts;
  }
  if (num_parts == 1) return 1;
  if (count > FEW_BODIES) put_all_in_lockstep(world);
  bool added = true;
  while (added) {
    added = count <= FEW_BODIES && spread_lockstep(world);
    added = spread_over_joints(world) || added;
  }
  float most = most_parts(world, h, num_parts);
  return (float)num_parts < most ? num_parts : (int32_t)most;
}
