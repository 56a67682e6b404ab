// SPDX-License-Identifier: MIT
#include "methods/kit/near.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Boxes grow by this share of their coordinates when they leave the frame of the body: rounding.
#define BOX_ROUNDING 4e-7f

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

static yw_vec4 to_world(const yw_near* near, yw_vec4 x) {
  return (yw_vec4){x.x + near->origin.x, x.y + near->origin.y, x.z + near->origin.z, x.w};
}

static yw_vec4 from_world(const yw_near* near, yw_vec4 x) {
  return (yw_vec4){x.x - near->origin.x, x.y - near->origin.y, x.z - near->origin.z, x.w};
}

// Particles that no obstacle moved keep every bit.
static void collide(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                    const float* radius, float begin, float span) {
  const yw_near* near = ctx->obstacles;
  yw_particles there = *particles;
  there.pos = near->pos;
  for (int32_t i = 0; i < particles->count; ++i) {
    near->pos[i] = to_world(near, particles->pos[i]);
    near->old_pos[i] = to_world(near, old_pos[i]);
  }
  near->world->collide(near->world, &there, near->old_pos, radius, begin, span);
  for (int32_t i = 0; i < particles->count; ++i) {
    yw_vec4 before = to_world(near, particles->pos[i]);
    if (memcmp(&before, &near->pos[i], sizeof before) == 0) continue;
    particles->pos[i] = from_world(near, near->pos[i]);
  }
}

static yw_aabb box_in_world(const yw_near* near, yw_aabb box) {
  yw_aabb out = {yw_add(box.lower, near->origin), yw_add(box.upper, near->origin)};
  float most = fmaxf(yw_length(out.lower), yw_length(out.upper));
  return isfinite(most) ? yw_aabb_pad(out, BOX_ROUNDING * most) : out;
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

// The first particle's coordinate if all others are within half of it, so that differences are
// exact (Sterbenz); 0 otherwise: the body is at the origin, or larger than its distance from it.
static float origin_along(const yw_particles* particles, int axis) {
  float first = particles->count > 0 ? (&particles->pos[0].x)[axis] : 0.0f;
  float most = 0.5f * fabsf(first);
  for (int32_t i = 0; i < particles->count; ++i) {
    if (!(fabsf((&particles->pos[i].x)[axis] - first) <= most)) return 0.0f;
  }
  return first;
}

const yw_step_ctx* yw_near_enter(yw_near* near, yw_particles* particles, const yw_step_ctx* ctx) {
  if (!reserve(near, ctx)) return NULL;
  yw_vec3 origin = {origin_along(particles, 0), origin_along(particles, 1),
                    origin_along(particles, 2)};
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
  for (int32_t i = 0; i < particles->count; ++i) {
    yw_vec4 x = from_world(near, particles->pos[i]), cut = near->cut[i];
    particles->pos[i] = (yw_vec4){x.x + cut.x, x.y + cut.y, x.z + cut.z, x.w};
  }
  return &near->ctx;
}

void yw_near_leave(yw_near* near, yw_particles* particles) {
  for (int32_t i = 0; i < particles->count; ++i) {
    yw_vec4 exact = particles->pos[i], there = to_world(near, exact);
    yw_vec4 held = from_world(near, there);
    near->cut[i] = (yw_vec4){exact.x - held.x, exact.y - held.y, exact.z - held.z, 0.0f};
    particles->pos[i] = there;
  }
}

void yw_near_save(const yw_near* near, yw_writer* writer) {
  yw_write_f32(writer, &near->origin.x, 3);
  yw_write_f32(writer, &near->cut[0].x, 4 * (size_t)near->count);
}

bool yw_near_load(yw_near* near, yw_reader* reader) {
  yw_read_f32(reader, &near->origin.x, 3);
  yw_read_f32(reader, &near->cut[0].x, 4 * (size_t)near->count);
  bool sound = !reader->failed && yw_is_finite3(near->origin);
  for (int32_t i = 0; sound && i < near->count; ++i) sound = yw_is_finite3(yw_xyz(near->cut[i]));
  if (!sound) reader->failed = true;
  return sound;
}
