// SPDX-License-Identifier: MIT
// Pins whose vertices follow targets. Nothing but the time and the particles decides where they
// go, so that they have no state of their own.
#include "world/follow.h"

#include <math.h>
#include <string.h>

#include "world/world.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/mesh.h"

// A body crosses its own size this often in a second; what jumps, or moves faster, is torn away,
// and is approached so slowly that explicit methods survive it: fem did not at 2 sizes per second.
#define SIZES_PER_SECOND 20.0f
#define TORN_SIZES_PER_SECOND 1.0f

// Targets -----------------------------------------------------------------------------------------

yw_vec3 yw_follow_target(const yw_follow* follow, int32_t k, double time) {
  yw_mesh_animation targets = {.points = follow->targets,
                               .num_points = follow->num_vertices,
                               .num_frames = follow->num_frames,
                               .fps = follow->fps,
                               .start = follow->start,
                               .loop = follow->loop,
                               .smooth = follow->smooth};
  return yw_mesh_animation_point(&targets, k, time);
}

// At most `reach` from one point towards another.
static yw_vec3 towards(yw_vec3 from, yw_vec3 target, float reach) {
  yw_vec3 way = yw_sub(target, from);
  float length = yw_length(way);
  return length <= reach ? target : yw_mad(from, reach / length, way);
}

yw_vec3 yw_follow_near(const yw_follow* follow, int32_t k, double time, yw_vec3 from, float reach) {
  return towards(from, yw_follow_target(follow, k, time), reach);
}

yw_vec3 yw_follow_exactly(const yw_follow* follow, int32_t k, double time, float h, yw_vec3 from) {
  float most = follow->max_speed * h, slow = follow->catch_up * h;
  yw_vec3 target = yw_follow_target(follow, k, time + (double)h);
  if (!(follow->catch_up > 0.0f)) return towards(from, target, most);
  yw_vec3 before = yw_follow_target(follow, k, time);
  bool jumps = yw_distance(before, target) > most;
  if (!jumps && yw_distance(before, from) <= slow) return target;
  // It goes along with what the target does now, and makes up for the rest slowly.
  yw_vec3 along = jumps ? yw_v3(0, 0, 0) : yw_sub(target, before);
  return yw_add(towards(from, before, slow), along);
}

uint64_t yw_follow_hash(const yw_follow* follow, uint64_t hash) {
  size_t count = (size_t)follow->num_vertices;
  const double numbers[2] = {follow->fps, follow->start};
  const float speeds[2] = {follow->max_speed, follow->reach};
  hash = yw_hash_u64(hash, (uint64_t)follow->num_frames << 2 | (uint64_t)follow->loop << 1 |
                               (uint64_t)follow->smooth);
  hash = yw_hash_bytes(hash, numbers, sizeof numbers);
  hash = yw_hash_bytes(hash, speeds, sizeof speeds);
  hash = yw_hash_bytes(hash, follow->stiffness, count * sizeof *follow->stiffness);
  return yw_hash_bytes(hash, follow->targets,
                       (size_t)follow->num_frames * count * sizeof *follow->targets);
}

void yw_follow_release(const yw_allocator* mem, yw_follow* follow) {
  if (!follow || follow->more_uses-- > 0) return;
  yw_mem_free(mem, follow->targets);
  yw_mem_free(mem, follow->stiffness);
  yw_mem_free(mem, follow);
}

// Creating ----------------------------------------------------------------------------------------

yw_follow_def yw_default_follow_def(void) {
  return (yw_follow_def){.fps = 24.0, .stiffness = 1000.0f};
}

static yw_status check_numbers(const yw_body* body, const yw_follow_def* def, yw_error* error) {
  if (def->num_frames < 1 || !def->targets) {
    return yw_fail(error, YW_ERR_INVALID, "follow on \"%s\": there are no targets", body->name);
  }
  if (!(def->fps > 0.0) || !isfinite(def->fps) || !isfinite(def->start)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "follow on \"%s\": fps is %g and start %g s, but fps must be above 0",
                   body->name, def->fps, def->start);
  }
  if (!(def->stiffness > 0.0f) || !isfinite(def->stiffness) || !(def->max_speed >= 0.0f) ||
      !isfinite(def->max_speed)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "follow on \"%s\": stiffness is %g N/m and max_speed %g m/s, but stiffness must "
                   "be above 0 and max_speed 0 or more",
                   body->name, (double)def->stiffness, (double)def->max_speed);
  }
  for (int32_t i = 0; def->strengths && i < def->num_vertices; ++i) {
    float s = def->strengths[i];
    if (s >= 0.0f && s <= 1.0f) continue;
    return yw_fail(error, YW_ERR_INVALID,
                   "follow on \"%s\": strength %d is %g, but must be between 0 and 1", body->name,
                   (int)i, (double)s);
  }
  size_t count = (size_t)def->num_frames * (size_t)def->num_vertices;
  for (size_t i = 0; i < count; ++i) {
    if (yw_is_finite3(def->targets[i])) continue;
    return yw_fail(error, YW_ERR_INVALID, "follow on \"%s\": target %zu of frame %zu is not finite",
                   body->name, i % (size_t)def->num_vertices, i / (size_t)def->num_vertices);
  }
  return YW_OK;
}

static float size_of(const yw_body* body) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < body->particles.count; ++i) {
    box = yw_aabb_grow(box, yw_xyz(body->particles.pos[i]));
  }
  return yw_distance(box.lower, box.upper);
}

// The vertices that follow at all; NULL: out of memory.
static yw_follow* make_follow(const yw_world* world, const yw_body* body, const yw_follow_def* def,
                              const int32_t* chosen, int32_t count) {
  yw_follow* follow = YW_NEW(&world->mem, yw_follow);
  if (!follow) return NULL;
  float size = size_of(body);
  *follow =
      (yw_follow){.num_frames = def->num_frames,
                  .num_vertices = count,
                  .fps = def->fps,
                  .start = def->start,
                  .loop = def->loop,
                  .smooth = def->smooth,
                  .max_speed = def->max_speed > 0.0f ? def->max_speed : SIZES_PER_SECOND * size,
                  .catch_up = def->max_speed > 0.0f ? 0.0f : TORN_SIZES_PER_SECOND * size,
                  .reach = size};
  follow->targets = yw_mem_alloc(
      &world->mem, (size_t)def->num_frames * (size_t)count * sizeof *follow->targets, 16);
  follow->stiffness = YW_NEW_ARRAY(&world->mem, float, count);
  if (!follow->targets || !follow->stiffness) {
    yw_follow_release(&world->mem, follow);
    return NULL;
  }
  for (int32_t k = 0; k < count; ++k) {
    float s = def->strengths ? def->strengths[chosen[k]] : 1.0f;
    follow->stiffness[k] = s < 1.0f ? def->stiffness * s / (1.0f - s) : 0.0f;
    for (int32_t f = 0; f < def->num_frames; ++f) {
      follow->targets[(size_t)f * (size_t)count + (size_t)k] =
          def->targets[(size_t)f * (size_t)def->num_vertices + (size_t)chosen[k]];
    }
  }
  return follow;
}

static yw_status create(yw_world* world, const yw_body* body, const yw_follow_def* def,
                        int32_t* vertices, int32_t* chosen, yw_pin_id* out, yw_error* error) {
  int32_t count = 0;
  for (int32_t i = 0; i < def->num_vertices; ++i) {
    if (def->strengths && def->strengths[i] == 0.0f) continue;
    vertices[count] = def->vertices[i];
    chosen[count++] = i;
  }
  if (count == 0) {
    return yw_fail(error, YW_ERR_INVALID, "follow on \"%s\": the strength is 0 everywhere",
                   body->name);
  }
  yw_follow* follow = make_follow(world, body, def, chosen, count);
  if (!follow) return yw_fail_memory(error, "targets to follow");
  yw_pin_def pin = yw_default_pin_def();
  pin.body = def->body;
  pin.vertices = vertices;
  pin.num_vertices = count;
  pin.damping = def->damping;
  yw_status status = yw_pin_create_following(world, &pin, follow, out, error);
  if (status < 0) yw_follow_release(&world->mem, follow);
  return status;
}

yw_status yw_follow_create(yw_world* world, const yw_follow_def* def, yw_pin_id* out,
                           yw_error* error) {
  yw_error_clear(error);
  if (!world || !def || !out) return yw_fail(error, YW_ERR_INVALID, "world, def or out is NULL");
  *out = (yw_pin_id){0};
  yw_body* body = yw_world_find_body(world, def->body);
  if (!body) return yw_fail(error, YW_ERR_INVALID, "follow: the body does not exist");
  if (def->num_vertices < 1 || !def->vertices) {
    return yw_fail(error, YW_ERR_INVALID, "follow on \"%s\": has no vertices", body->name);
  }
  yw_status status = check_numbers(body, def, error);
  if (status < 0) return status;
  int32_t* vertices = YW_NEW_ARRAY(&world->mem, int32_t, def->num_vertices);
  int32_t* chosen = YW_NEW_ARRAY(&world->mem, int32_t, def->num_vertices);
  status = vertices && chosen ? create(world, body, def, vertices, chosen, out, error)
                              : yw_fail_memory(error, "targets to follow");
  yw_mem_free(&world->mem, vertices);
  yw_mem_free(&world->mem, chosen);
  return status;
}
