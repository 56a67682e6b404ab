// SPDX-License-Identifier: MIT
// Grabbing and pinning: both hold the particles near a point.
#include <math.h>
#include <string.h>

#include "core.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// How far a hold reaches from the point, in sizes of the body, and at least how many particles.
#define REACH 0.06f
#define MIN_VERTICES 4
#define MAX_VERTICES 512
// The spring swings a body of its mass at this rate, rad/s, or faster for small bodies, so that
// their weight stretches it by no more than SAG of their size. Chosen by hand with bodies of 5 cm
// to 2 m.
#define RATE 20.0f
#define SAG 0.05f
#define GRAVITY 9.81f
#define DAMPING 0.7f  // of critical

// A particle and its distance from the point.
typedef struct near_vertex {
  int32_t vertex;
  float distance2;
} near_vertex;

// Keeps the `count` nearest in order of distance; returns how many there are.
static int32_t keep_near(near_vertex* list, int32_t count, int32_t limit, near_vertex next) {
  int32_t at = count < limit ? count : limit - 1;
  if (count == limit && list[at].distance2 <= next.distance2) return count;
  for (; at > 0 && list[at - 1].distance2 > next.distance2; --at) list[at] = list[at - 1];
  list[at] = next;
  return count < limit ? count + 1 : count;
}

// The particles within reach of the point, nearest first.
static bool find_vertices(const core* c, int32_t body, yw_vec3 at, core_hold* out) {
  near_vertex list[MAX_VERTICES];
  int32_t count = 0, found = 0;
  const yw_vec3* positions = yw_body_positions(c->world, c->bodies[body].id, &count);
  float reach = REACH * c->bodies[body].size;
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 away = yw_sub(positions[i], at);
    near_vertex next = {i, yw_length2(away)};
    bool inside = next.distance2 <= reach * reach;
    if (inside || found < MIN_VERTICES || next.distance2 < list[MIN_VERTICES - 1].distance2) {
      found = keep_near(list, found, MAX_VERTICES, next);
    }
  }
  while (found > MIN_VERTICES && list[found - 1].distance2 > reach * reach) --found;
  out->vertices = YW_NEW_ARRAY(NULL, int32_t, found + 1);
  if (!out->vertices) return false;
  for (int32_t i = 0; i < found; ++i) out->vertices[i] = list[i].vertex;
  out->num_vertices = found;
  return found > 0;
}

static void drop(core_hold* hold) {
  yw_mem_free(NULL, hold->vertices);
  *hold = (core_hold){0};
}

static yw_status hold_body(core* c, int32_t body, yw_vec3 at, bool spring, core_hold* out) {
  *out = (core_hold){.body = body, .at = at, .goal = at};
  if (!c->world || body < 0 || body >= c->shown->num_bodies ||
      !yw_body_is_active(c->world, c->bodies[body].id) || !yw_is_finite3(at)) {
    return yw_fail(&c->message, YW_ERR_INVALID, "there is nothing to hold");
  }
  if (!find_vertices(c, body, at, out)) {
    drop(out);
    return yw_fail(&c->message, YW_ERR_INVALID, "there is nothing to hold");
  }
  yw_pin_def def = yw_default_pin_def();
  def.body = c->bodies[body].id;
  def.vertices = out->vertices;
  def.num_vertices = out->num_vertices;
  if (spring) {
    yw_body_sums sums = {0};
    yw_body_sums_of(c->world, def.body, &sums);
    float share = (float)sums.mass / (float)out->num_vertices;
    float rate = sqrtf(fmaxf(RATE * RATE, GRAVITY / (SAG * fmaxf(c->bodies[body].size, 1e-4f))));
    def.stiffness = share * rate * rate;
    def.damping = 2.0f * DAMPING * share * rate;
  }
  yw_status status = yw_pin_create(c->world, &def, &out->pin, &c->message);
  if (status < 0) drop(out);
  return status;
}

yw_status core_grab(core* c, int32_t body, yw_vec3 at) {
  core_release(c);
  return hold_body(c, body, at, true, &c->grab);
}

yw_status core_drag(core* c, yw_vec3 to) {
  if (c->grab.num_vertices == 0 || !yw_is_finite3(to)) return YW_OK;
  c->grab.goal = to;
  return yw_pin_move(c->world, c->grab.pin, yw_sub(to, c->grab.at), (yw_quat){0, 0, 0, 1});
}

void core_release(core* c) {
  if (c->grab.num_vertices > 0) yw_pin_destroy(c->world, c->grab.pin);
  drop(&c->grab);
}

// The pin of the body that is within reach of the point; -1: none.
static int32_t find_pin(const core* c, int32_t body, yw_vec3 at) {
  if (!c->shown || body < 0 || body >= c->shown->num_bodies) return -1;
  float reach = 2.0f * REACH * c->bodies[body].size;
  for (int32_t i = 0; i < c->num_pins; ++i) {
    if (c->pins[i].body == body && yw_distance(c->pins[i].goal, at) <= reach) return i;
  }
  return -1;
}

yw_status core_pin(core* c, int32_t body, yw_vec3 at) {
  int32_t known = find_pin(c, body, at);
  if (known >= 0) {
    yw_pin_destroy(c->world, c->pins[known].pin);
    drop(&c->pins[known]);
    --c->num_pins;
    c->pins[known] = c->pins[c->num_pins];
    c->pins[c->num_pins] = (core_hold){0};
    return YW_OK;
  }
  if (c->num_pins == CORE_MAX_PINS) {
    return yw_fail(&c->message, YW_ERR_LIMIT, "there are %d pins already", CORE_MAX_PINS);
  }
  yw_status status = hold_body(c, body, at, false, &c->pins[c->num_pins]);
  if (status >= 0) ++c->num_pins;
  return status;
}

void core_forget_holds(core* c) {
  drop(&c->grab);
  for (int32_t i = 0; i < c->num_pins; ++i) drop(&c->pins[i]);
  c->num_pins = 0;
}
