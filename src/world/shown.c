// SPDX-License-Identifier: MIT
// What readers see: positions, velocities and radii in mesh order. Copied at the end of every call
// that changes particles, never by a reader, except where ranks share a body.
#include "world/world.h"
#include "yawara/extend/ranks.h"

// Particles per block of work.
#define BLOCK 4096

typedef struct copy_job {
  yw_body* body;
  const int32_t* table;  // particle of a vertex; NULL: same order
  const float* radius;
} copy_job;

static copy_job job_of(yw_body* body) {
  const yw_method* method = body->model->method;
  return (copy_job){
      .body = body,
      .table = yw_body_vertex_table(body),
      .radius = body->shown_radii ? method->contact_geometry(body->state).radius : NULL};
}

static void copy_range(const copy_job* job, int32_t begin, int32_t end) {
  const yw_particles* p = &job->body->particles;
  yw_vec3 *pos = job->body->shown_positions, *vel = job->body->shown_velocities;
  for (int32_t i = begin; i < end; ++i) {
    int32_t particle = job->table ? job->table[i] : i;
    pos[i] = yw_xyz(p->pos[particle]);
    vel[i] = yw_xyz(p->vel[particle]);
  }
  for (int32_t i = begin; job->radius && i < end; ++i) {
    job->body->shown_radii[i] = job->radius[job->table ? job->table[i] : i];
  }
}

static void copy_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const copy_job* job = context;
  int32_t begin = block * BLOCK, count = job->body->particles.count;
  copy_range(job, begin, begin + BLOCK < count ? begin + BLOCK : count);
}

void yw_body_show(yw_world* world, yw_body* body) {
  ++body->changes;
  ++world->changes;
  if (body->is_shared) return;
  copy_job job = job_of(body);
  yw_tasks_run(world->tasks, (body->particles.count + BLOCK - 1) / BLOCK, copy_block, &job);
}

static void copy_small_body(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_world* world = context;
  copy_job job = job_of(&world->bodies.items[world->small_bodies.items[block]]);
  ++job.body->changes;
  copy_range(&job, 0, job.body->particles.count);
}

// Large bodies one after another, each by all workers; small ones in parallel.
void yw_world_show(yw_world* world, bool all) {
  world->small_bodies.count = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    uint32_t slot = world->body_order.items[i];
    yw_body* body = &world->bodies.items[slot];
    if (body->asleep && !all) continue;
    if (body->particles.count > BLOCK || body->is_shared) {
      yw_body_show(world, body);
    } else {
      world->small_bodies.items[world->small_bodies.count++] = slot;
    }
  }
  ++world->changes;
  yw_tasks_run(world->tasks, world->small_bodies.count, copy_small_body, world);
}

static yw_body* find(const yw_world* world, yw_body_id id, int32_t* count) {
  yw_body* body = yw_world_find_body(world, id);
  if (count) *count = body ? body->particles.count : 0;
  return body;
}

// Of a body that ranks share, `*list` is filled in when somebody asks: most ranks are never asked,
// and a world on several ranks has one reader at a time.
static void fill_shared(const yw_world* world, yw_vec3** list, const yw_vec4* from, int32_t count,
                        int32_t capacity) {
  if (!*list) *list = YW_NEW_ARRAY(&world->mem, yw_vec3, capacity);
  if (!*list) world->ranks->abandon(world->ranks->context, "not enough memory to show a body");
  for (int32_t i = 0; i < count; ++i) (*list)[i] = yw_xyz(from[i]);
}

const yw_vec3* yw_body_positions(const yw_world* world, yw_body_id id, int32_t* count) {
  yw_body* body = find(world, id, count);
  if (!body) return NULL;
  const yw_particles* p = &body->particles;
  if (body->is_shared) fill_shared(world, &body->shown_positions, p->pos, p->count, p->capacity);
  return body->shown_positions;
}

const yw_vec3* yw_body_velocities(const yw_world* world, yw_body_id id, int32_t* count) {
  yw_body* body = find(world, id, count);
  if (!body) return NULL;
  const yw_particles* p = &body->particles;
  if (body->is_shared) fill_shared(world, &body->shown_velocities, p->vel, p->count, p->capacity);
  return body->shown_velocities;
}

const float* yw_body_radii(const yw_world* world, yw_body_id id, int32_t* count) {
  const yw_body* body = find(world, id, count);
  if (!body) return NULL;
  // Shared bodies keep the order of their method.
  if (body->is_shared) return body->model->method->contact_geometry(body->state).radius;
  return body->shown_radii;
}
