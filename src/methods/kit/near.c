// SPDX-License-Identifier: MIT
#include "methods/kit/near.h"

#include <math.h>
#include <string.h>

#include "math/small/float4.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

typedef int32_t int4 __attribute__((vector_size(16)));
typedef int64_t words __attribute__((vector_size(16)));

bool yw_near_create(const yw_allocator* mem, int32_t count, yw_near* out) {
  *out = (yw_near){.mem = yw_mem_or_default(mem), .count = count};
  out->cut = YW_NEW_ARRAY(mem, yw_vec4, count);
  out->pos = YW_NEW_ARRAY(mem, yw_vec4, count);
  out->old_pos = YW_NEW_ARRAY(mem, yw_vec4, count);
  return out->cut && out->pos && out->old_pos;
}

void yw_near_free(yw_near* near) {
  void* const arrays[] = {near->cut, near->pos, near->old_pos, near->holds, near->springs};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&near->mem, arrays[i]);
  *near = (yw_near){0};
}

void yw_near_forget(yw_near* near) {
  memset(near->cut, 0, (size_t)near->count * sizeof *near->cut);
}

// What the step sees ------------------------------------------------------------------------------

// The origin as it is added to positions.
static yw_float4 origin_of(const yw_near* near) {
  return (yw_float4){near->origin.x, near->origin.y, near->origin.z, 0.0f};
}

static bool is_at_origin(const yw_near* near) {
  return near->origin.x == 0.0f && near->origin.y == 0.0f && near->origin.z == 0.0f;
}

static bool have_same_bits(yw_float4 a, yw_float4 b) {
  words difference = (words)a ^ (words)b;
  return (difference[0] | difference[1]) == 0;
}

// Blocks of particles ----------------------------------------------------------------------------

#define BLOCK 4096

typedef struct near_job {
  const yw_near* near;
  yw_particles* particles;
  const yw_vec4* old_pos;
  yw_float4* farthest;  // per worker
} near_job;

typedef struct block_range {
  int32_t first, end;
} block_range;

static block_range range_of(const near_job* job, int32_t block) {
  int32_t first = block * BLOCK, left = job->particles->count - first;
  return (block_range){first, first + (left < BLOCK ? left : BLOCK)};
}

static void run_blocks(const yw_step_ctx* ctx, yw_task task, near_job* job) {
  yw_tasks_run(ctx->tasks, (job->particles->count + BLOCK - 1) / BLOCK, task, job);
}

// Obstacles ---------------------------------------------------------------------------------------

static void bring_to_world(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const near_job* job = context;
  const yw_near* near = job->near;
  yw_float4 origin = origin_of(near);
  block_range range = range_of(job, block);
  for (int32_t i = range.first; i < range.end; ++i) {
    yw_float4_store(&near->pos[i], yw_float4_load(&job->particles->pos[i]) + origin);
    yw_float4_store(&near->old_pos[i], yw_float4_load(&job->old_pos[i]) + origin);
  }
}

// Particles that no obstacle moved keep every bit.
static void take_back(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const near_job* job = context;
  const yw_near* near = job->near;
  yw_vec4* pos = job->particles->pos;
  yw_float4 origin = origin_of(near);
  block_range range = range_of(job, block);
  for (int32_t i = range.first; i < range.end; ++i) {
    yw_float4 after = yw_float4_load(&near->pos[i]);
    if (have_same_bits(yw_float4_load(&pos[i]) + origin, after)) continue;
    yw_float4_store(&pos[i], after - origin);
  }
}

static void collide(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                    const float* radius, float begin, float span) {
  const yw_near* near = ctx->obstacles;
  yw_step_ctx world = *near->world;
  world.pressing = ctx->pressing;
  if (is_at_origin(near)) {
    world.collide(&world, particles, old_pos, radius, begin, span);
    return;
  }
  yw_particles there = *particles;
  there.pos = near->pos;
  near_job job = {.near = near, .particles = particles, .old_pos = old_pos};
  run_blocks(ctx, bring_to_world, &job);
  world.collide(&world, &there, near->old_pos, radius, begin, span);
  run_blocks(ctx, take_back, &job);
}

static yw_aabb box_in_world(const yw_near* near, yw_aabb box) {
  yw_aabb out = {yw_add(box.lower, near->origin), yw_add(box.upper, near->origin)};
  float most = fmaxf(yw_length(out.lower), yw_length(out.upper));
  return isfinite(most) ? yw_aabb_pad(out, YW_NEAR_ROUNDING * most) : out;
}

static bool is_clear(const yw_step_ctx* ctx, yw_aabb box) {
  const yw_near* near = ctx->obstacles;
  return near->world->is_clear(near->world, box_in_world(near, box));
}

static uint64_t obstacles_in(const yw_step_ctx* ctx, yw_aabb box, bool* moves) {
  const yw_near* near = ctx->obstacles;
  return near->world->obstacles_in(near->world, box_in_world(near, box), moves);
}

static bool reserve(yw_near* near, const yw_step_ctx* ctx) {
  if (ctx->num_holds > near->hold_capacity) {
    yw_hold* holds = YW_NEW_ARRAY(&near->mem, yw_hold, ctx->num_holds);
    if (!holds) return false;
    yw_mem_free(&near->mem, near->holds);
    near->holds = holds;
    near->hold_capacity = ctx->num_holds;
  }
  if (ctx->num_springs > near->spring_capacity) {
    yw_spring* springs = YW_NEW_ARRAY(&near->mem, yw_spring, ctx->num_springs);
    if (!springs) return false;
    yw_mem_free(&near->mem, near->springs);
    near->springs = springs;
    near->spring_capacity = ctx->num_springs;
  }
  return true;
}

static void move_pins(yw_near* near, const yw_step_ctx* ctx) {
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    near->holds[i] = ctx->holds[i];
    near->holds[i].begin = yw_sub(ctx->holds[i].begin, near->origin);
    near->holds[i].end = yw_sub(ctx->holds[i].end, near->origin);
  }
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    near->springs[i] = ctx->springs[i];
    near->springs[i].begin = yw_sub(ctx->springs[i].begin, near->origin);
    near->springs[i].end = yw_sub(ctx->springs[i].end, near->origin);
  }
}

// The step ----------------------------------------------------------------------------------------

static yw_float4 larger_of(yw_float4 a, yw_float4 b) {
  int4 more = a > b;
  return (yw_float4)(((int4)a & more) | ((int4)b & ~more));
}

static yw_float4 distance_of(const yw_vec4* pos, yw_float4 from) {
  const int4 positive = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
  return (yw_float4)((int4)(yw_float4_load(pos) - from) & positive);
}

// Four at once: a comparison waits for the one before.
static void find_farthest(void* context, int32_t block, int32_t worker) {
  const near_job* job = context;
  const yw_vec4* pos = job->particles->pos;
  yw_float4 first = yw_float4_load(&pos[0]), most[4] = {job->farthest[worker]};
  block_range range = range_of(job, block);
  int32_t i = range.first;
  for (; i + 4 <= range.end; i += 4) {
    for (int k = 0; k < 4; ++k) most[k] = larger_of(distance_of(&pos[i + k], first), most[k]);
  }
  for (; i < range.end; ++i) most[0] = larger_of(distance_of(&pos[i], first), most[0]);
  job->farthest[worker] = larger_of(larger_of(most[0], most[1]), larger_of(most[2], most[3]));
}

// The first particle's coordinates, where all others are within half of them, so that differences
// are exact (Sterbenz); 0 otherwise: the body is at the origin, or larger than its distance from
// it.
static yw_vec3 choose_origin(near_job* job, const yw_step_ctx* ctx) {
  const yw_particles* particles = job->particles;
  if (particles->count == 0) return yw_v3(0, 0, 0);
  yw_float4 farthest[YW_MAX_WORKERS], most = {0};
  int32_t workers = yw_tasks_workers(ctx->tasks);
  for (int32_t w = 0; w < workers; ++w) farthest[w] = most;
  job->farthest = farthest;
  run_blocks(ctx, find_farthest, job);
  for (int32_t w = 0; w < workers; ++w) most = larger_of(farthest[w], most);
  yw_float4 first = yw_float4_load(&particles->pos[0]);
  float origin[3];
  for (int k = 0; k < 3; ++k) origin[k] = most[k] <= 0.5f * fabsf(first[k]) ? first[k] : 0.0f;
  return yw_v3(origin[0], origin[1], origin[2]);
}

static void bring_near(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const near_job* job = context;
  yw_vec4* pos = job->particles->pos;
  yw_float4 from = origin_of(job->near);
  block_range range = range_of(job, block);
  for (int32_t i = range.first; i < range.end; ++i) {
    yw_float4 x = yw_float4_load(&pos[i]) - from;
    yw_float4_store(&pos[i], x + yw_float4_load(&job->near->cut[i]));
  }
}

static void bring_back(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const near_job* job = context;
  yw_vec4* pos = job->particles->pos;
  yw_float4 origin = origin_of(job->near);
  block_range range = range_of(job, block);
  for (int32_t i = range.first; i < range.end; ++i) {
    yw_float4 exact = yw_float4_load(&pos[i]), there = exact + origin;
    yw_float4_store(&job->near->cut[i], exact - (there - origin));
    yw_float4_store(&pos[i], there);
  }
}

const yw_step_ctx* yw_near_enter(yw_near* near, yw_particles* particles, const yw_step_ctx* ctx) {
  if (!reserve(near, ctx)) return NULL;
  near_job job = {.near = near, .particles = particles};
  yw_vec3 origin = choose_origin(&job, ctx);
  near->shift = yw_sub(near->origin, origin);
  near->origin = origin;
  near->world = ctx;
  move_pins(near, ctx);
  near->ctx = *ctx;
  near->ctx.holds = near->holds;
  near->ctx.springs = near->springs;
  near->ctx.collide = ctx->collide ? collide : NULL;
  near->ctx.is_clear = ctx->is_clear ? is_clear : NULL;
  near->ctx.obstacles_in = ctx->obstacles_in ? obstacles_in : NULL;
  near->ctx.probe = NULL;
  near->ctx.touch = NULL;
  near->ctx.obstacles = near;
  run_blocks(ctx, bring_near, &job);
  return &near->ctx;
}

void yw_near_leave(yw_near* near, yw_particles* particles) {
  near_job job = {.near = near, .particles = particles};
  run_blocks(&near->ctx, bring_back, &job);
}

void yw_near_save(const yw_near* near, yw_writer* writer) {
  yw_write_f32(writer, &near->origin.x, 3);
  yw_write_f32(writer, &near->cut[0].x, 4 * (size_t)near->count);
}

bool yw_near_load(yw_near* near, yw_reader* reader) {
  yw_read_f32(reader, &near->origin.x, 3);
  yw_read_f32(reader, &near->cut[0].x, 4 * (size_t)near->count);
  bool sound = !reader->failed && yw_is_finite3(near->origin);
  for (int32_t i = 0; sound && i < near->count; ++i) {
    sound = yw_is_finite3(yw_xyz(near->cut[i])) && near->cut[i].w == 0.0f;
  }
  if (!sound) reader->failed = true;
  return sound;
}
