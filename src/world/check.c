// SPDX-License-Identifier: MIT
// Bodies that have diverged are found and frozen where they were last well.
#include <math.h>
#include <string.h>

#include "world/world.h"

// A body with a larger speed or coordinate has diverged.
#define MAX_COORDINATE 1e9f

static bool are_sane(const yw_vec4* v, int32_t count) {
  const float* numbers = &v->x;
  int32_t bad = 0;
  for (size_t i = 0; i < 4 * (size_t)count; ++i) bad |= !(fabsf(numbers[i]) < MAX_COORDINATE);
  return bad == 0;
}

bool yw_body_is_finite(const yw_body* body) {
  const yw_particles* p = &body->particles;
  if (yw_body_is_away(body)) return true;  // the device looks
  return are_sane(p->pos, p->count) && are_sane(p->vel, p->count);
}

// Moves a diverged body back to its positions at the start of the step, or when its particles last
// changed, and freezes it there. Particles newer than that take the position of particle 0.
static void freeze(const yw_world* world, yw_body* body) {
  yw_particles* p = &body->particles;
  yw_body_recall(world, body);
  for (int32_t i = body->last_good_count; i < p->count; ++i) p->pos[i] = p->pos[0];
  memset(p->vel, 0, sizeof(yw_vec4) * (size_t)p->count);
  body->diverged = true;
  body->report = (yw_method_report){0};
  body->model->method->invalidate(body->state, p);
}

static void check_span(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_span* span = &((yw_world*)context)->spans.items[block];
  const yw_particles* p = &span->body->particles;
  span->failed =
      !are_sane(p->pos + span->first, span->count) || !are_sane(p->vel + span->first, span->count);
}

static bool is_checked(const yw_body* body) { return yw_body_takes_part(body) && !body->asleep; }

void yw_world_check_bodies(yw_world* world, yw_step_report* report) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    if (is_checked(body) && !yw_body_is_away(body)) yw_spans_add(world, body);
  }
  const yw_span* span = world->spans.items;
  const yw_span* end = span + world->spans.count;
  yw_spans_run(world, check_span);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    bool failed = body->status < 0;
    for (; span < end && span->body == body; ++span) failed = failed || span->failed;
    if (!is_checked(body) || !failed) continue;
    freeze(world, body);
    if (report->diverged_bodies++ == 0) report->first_diverged = yw_world_body(world, i);
  }
}

static void copy_good(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const yw_span* span = &((yw_world*)context)->spans.items[block];
  memcpy(span->body->last_good + span->first, span->body->particles.pos + span->first,
         sizeof(yw_vec4) * (size_t)span->count);
}

void yw_world_remember_good(yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    if (body->asleep) continue;
    if (world->ranks) {  // each keeps its part
      yw_body_remember(world, body);
      continue;
    }
    yw_spans_add(world, body);
    body->last_good_count = body->particles.count;
    body->last_topology = yw_body_topology(body);
  }
  yw_spans_run(world, copy_good);
}
