// SPDX-License-Identifier: MIT
// Positions relative to a point of the body while it advances. Floats are coarse far from the
// origin of the world (1e-6 m at 15 m, 6e-5 m at 1 km): what they cut off would be a random strain,
// and a random velocity where that is a difference of positions. So a step sees positions, pins and
// obstacles relative to the body's first particle, and what the world's floats cannot hold is kept
// for the next step. Nothing changes for bodies around the origin, along axes that they span.
#ifndef YW_METHODS_KIT_NEAR_H
#define YW_METHODS_KIT_NEAR_H

#include "yawara/extend/method.h"
#include "yawara/extend/stream.h"

/// Boxes grow by this share of their coordinates when they leave the frame of the body: rounding.
#define YW_NEAR_ROUNDING 4e-7f

typedef struct yw_near {
  yw_allocator mem;
  int32_t count;
  yw_vec3 origin;   ///< m, of the last advance
  yw_vec3 shift;    ///< m, origin of the advance before minus that of the last
  yw_vec4* cut;     ///< m, exact position minus the one in the world; per particle
  yw_step_ctx ctx;  ///< as the step sees it
  const yw_step_ctx* world;
  yw_hold* holds;
  yw_spring* springs;
  int32_t hold_capacity, spring_capacity;
  yw_vec4 *pos, *old_pos;  ///< in the world, for contact
} yw_near;

/// count: most particles that a body has, or lets meet obstacles. False: out of memory.
bool yw_near_create(const yw_allocator* mem, int32_t count, yw_near* out);
void yw_near_free(yw_near* near);
/// The particles were placed from outside: nothing is cut off.
void yw_near_forget(yw_near* near);

/// Makes positions relative and returns the context of the step; its `collide`, `is_clear` and
/// `obstacles_in` take relative positions too, the others are absent. NULL: out of memory, and
/// nothing has changed.
const yw_step_ctx* yw_near_enter(yw_near* near, yw_particles* particles, const yw_step_ctx* ctx);
/// Returns positions to the world.
void yw_near_leave(yw_near* near, yw_particles* particles);

void yw_near_save(const yw_near* near, yw_writer* writer);
/// False, and the reader has failed, when a number is not finite.
bool yw_near_load(yw_near* near, yw_reader* reader);

#endif
