// SPDX-License-Identifier: MIT
// The mesh of an obstacle that deforms. Where its points are depends on the time alone, so that it
// has no state of its own.
#ifndef YW_WORLD_MESH_OBSTACLE_H
#define YW_WORLD_MESH_OBSTACLE_H

#include "contact/moving_mesh.h"
#include "yawara/mesh.h"

typedef struct yw_animated_mesh {
  int32_t more_uses;  ///< besides the first: the world that keeps it for rollback
  uint64_t hash;
  yw_mesh_animation animation;
  yw_vec3* frames;  ///< memory of its points
  yw_moving_mesh mesh;
  yw_aabb* boxes;  ///< per frame: of all places on the way to the next
  bool* changes;   ///< per frame: something moves on that way
} yw_animated_mesh;

/// Brings the mesh to where it is between two times, s.
void yw_animated_mesh_fit(yw_animated_mesh* mesh, double begin, double end);
/// Frees it with its last use; NULL is fine.
void yw_animated_mesh_release(const yw_allocator* mem, yw_animated_mesh* mesh);

#endif
