// SPDX-License-Identifier: MIT
// Keyframed motion: pose of a pin or an obstacle at a time, relative to its initial placement.
#ifndef YW_WORLD_PATH_H
#define YW_WORLD_PATH_H

#include "yawara/extend/vec.h"
#include "yawara/world.h"

/// p -> pivot + offset + rotation (p - pivot)
typedef struct yw_motion {
  yw_vec3 offset;
  yw_quat rotation;
} yw_motion;

#define YW_MOTION_NONE ((yw_motion){{0, 0, 0}, {0, 0, 0, 1}})

/// Keys must be finite, with strictly increasing times. `what` starts the message.
yw_status yw_path_check(const yw_path* path, const char* what, yw_error* error);
/// Makes a copy that owns its keys (free with yw_path_free).
bool yw_path_copy(const yw_allocator* mem, const yw_path* path, yw_path* out);
void yw_path_free(const yw_allocator* mem, yw_path* path);

yw_motion yw_path_at(const yw_path* path, double time);
yw_motion yw_motion_between(yw_motion a, yw_motion b, float t);

static inline yw_vec3 yw_motion_apply(yw_motion motion, yw_vec3 pivot, yw_vec3 p) {
  return yw_add(yw_add(pivot, motion.offset), yw_rotate(motion.rotation, yw_sub(p, pivot)));
}

#endif
