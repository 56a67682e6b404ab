// SPDX-License-Identifier: MIT
// Moving targets of a pin.
#ifndef YW_WORLD_FOLLOW_H
#define YW_WORLD_FOLLOW_H

#include "yawara/follow.h"

typedef struct yw_follow {
  int32_t more_uses;  ///< besides the first: other pins, and the world that keeps it for rollback
  int32_t num_frames, num_vertices;
  yw_vec3* targets;  ///< a row of num_vertices per frame
  float* stiffness;  ///< N/m per vertex; 0: exact
  double fps, start;
  bool loop, smooth;
  float max_speed;  ///< m/s, of exact vertices
  float catch_up;   ///< m/s, of exact vertices whose target was torn away; 0: max_speed
  float reach;      ///< m, that springs can be stretched
} yw_follow;

/// Where vertex k should be at a time.
yw_vec3 yw_follow_target(const yw_follow* follow, int32_t k, double time);
/// Where an exact vertex, which is now at `from`, is at time + h.
yw_vec3 yw_follow_exactly(const yw_follow* follow, int32_t k, double time, float h, yw_vec3 from);
/// Where vertex k should be, not farther away from `from` than `reach`.
yw_vec3 yw_follow_near(const yw_follow* follow, int32_t k, double time, yw_vec3 from, float reach);
uint64_t yw_follow_hash(const yw_follow* follow, uint64_t hash);
/// Frees it with its last use; NULL is fine.
void yw_follow_release(const yw_allocator* mem, yw_follow* follow);

#endif
