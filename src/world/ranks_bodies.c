// SPDX-License-Identifier: MIT
// Bodies beside those that ranks share. Every rank has them, so that contact, joints and pins,
// which all ranks resolve alike, find them; but one rank, their home, advances them and answers
// impulses, and the others get their particles after that, and their states at the end of the step.
//
// Where contact needs more of a body than its particles (rigid motions, particles that come and go,
// nodes that follow others) every rank advances it: rigid bodies are small, and fem, rods and
// sheets, and clay that is too small to be shared, are as they would be on one rank.
#include <string.h>

#include "world/world.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/ranks.h"
#include "yawara/extend/stream.h"

bool yw_body_is_at_home(const yw_world* world, const yw_body* body) {
  return !world->ranks || body->home < 0 || body->home == world->ranks->rank;
}

// Drives look at the states of bodies in every substep.
static bool has_drives(const yw_world* world) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if ((track->generation & 1) && track->drive) return true;
  }
  return false;
}

static bool may_have_home(const yw_body* body) {
  const yw_method* method = body->model->method;
  return !body->is_shared && !method->settle && !method->fold && !method->rigid_motion &&
         !method->turn && !method->surface_positions && !method->topology_version;
}

// From the last rank on: rank 0 has files to write.
void yw_homes_choose(yw_world* world) {
  if (!world->ranks) return;
  bool everywhere = has_drives(world);
  for (int32_t i = 0, k = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    body->home = -1;
    if (everywhere || !may_have_home(body)) continue;
    body->home = world->ranks->count - 1 - k++ % world->ranks->count;
  }
}

// What advance leaves besides particles.
typedef struct home_news {
  yw_method_report report;
  int32_t status;
} home_news;

void yw_homes_share(yw_world* world, bool lockstep) {
  for (int32_t i = 0; world->ranks && i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    bool advanced = yw_body_takes_part(body) && body->lockstep == lockstep && !body->asleep;
    if (body->home < 0 || !advanced) continue;
    yw_particles* p = &body->particles;
    size_t bytes = (size_t)p->count * sizeof *p->pos;
    home_news news;
    memset(&news, 0, sizeof news);
    news.report = body->report;
    news.status = body->status;
    yw_ranks_broadcast(world->ranks, body->home, &news, sizeof news);
    yw_ranks_broadcast(world->ranks, body->home, p->pos, bytes);
    yw_ranks_broadcast(world->ranks, body->home, p->vel, bytes);
    body->report = news.report;
    body->status = news.status;
  }
}

yw_status yw_homes_respond(const yw_world* world, const yw_body* body, const yw_step_ctx* ctx,
                           const yw_vec4* impulses, yw_vec4* change) {
  const yw_method* method = body->model->method;
  int32_t status = YW_OK;
  if (yw_body_is_at_home(world, body)) {
    status = method->respond(body->state, &body->particles, ctx, impulses, change);
  }
  if (!world->ranks || body->home < 0) return status;
  yw_ranks_broadcast(world->ranks, body->home, &status, sizeof status);
  yw_ranks_broadcast(world->ranks, body->home, change,
                     (size_t)body->particles.count * sizeof *change);
  return status;
}

static void share_state(const yw_world* world, yw_body* body) {
  const yw_ranks* ranks = world->ranks;
  const yw_method* method = body->model->method;
  bool home = body->home == ranks->rank;
  yw_writer counter = {0};
  if (home) method->save(body->state, &counter);
  uint64_t size = counter.size;
  yw_ranks_broadcast(ranks, body->home, &size, sizeof size);
  unsigned char* data = yw_mem_alloc(&world->mem, (size_t)size + 1, 1);
  if (!data) ranks->abandon(ranks->context, "not enough memory for the state of a body");
  yw_writer writer = {.data = data, .capacity = (size_t)size};
  if (home) method->save(body->state, &writer);
  yw_ranks_broadcast(ranks, body->home, data, (size_t)size);
  if (!home) {
    yw_reader reader = {.data = data, .size = (size_t)size};
    method->invalidate(body->state, &body->particles);
    method->load(body->state, &reader);
  }
  yw_mem_free(&world->mem, data);
}

void yw_homes_end_step(yw_world* world) {
  for (int32_t i = 0; world->ranks && i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    if (body->home >= 0 && body->active && !body->asleep) share_state(world, body);
  }
}

// What every rank keeps of bodies that they share ----------------------------------------------

yw_kept_range yw_body_kept(const yw_world* world, const yw_body* body, int32_t rank,
                           int32_t count) {
  if (!body->is_shared) return (yw_kept_range){0, count};
  int64_t room = body->particles.capacity, ranks = world->ranks->count;
  int64_t first = room * rank / ranks, end = room * (rank + 1) / ranks;
  return (yw_kept_range){(int32_t)(first < count ? first : count),
                         (int32_t)(end < count ? end : count)};
}

void yw_body_recall(const yw_world* world, yw_body* body) {
  int32_t count = body->last_good_count;
  if (count > body->particles.count) count = body->particles.count;
  if (!body->is_shared) {
    memcpy(body->particles.pos, body->last_good, (size_t)count * sizeof(yw_vec4));
    return;
  }
  const yw_ranks* ranks = world->ranks;
  size_t* sizes = YW_NEW_ARRAY(&world->mem, size_t, ranks->count);
  if (!sizes) ranks->abandon(ranks->context, "not enough memory");
  for (int32_t r = 0; r < ranks->count; ++r) {
    yw_kept_range kept = yw_body_kept(world, body, r, count);
    sizes[r] = (size_t)(kept.end - kept.first) * sizeof(yw_vec4);
  }
  yw_ranks_gather(ranks, body->last_good, body->particles.pos, sizes);
  yw_mem_free(&world->mem, sizes);
}
