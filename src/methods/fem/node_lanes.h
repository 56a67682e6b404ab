// SPDX-License-Identifier: MIT
// Nodes of a front in one inner step: sums of forces and motion, for the processor and devices.
#ifndef YW_METHODS_FEM_NODE_LANES_H
#define YW_METHODS_FEM_NODE_LANES_H

#include "math/small/float4.h"

/// One inner step of symplectic Euler.
typedef struct fem_move {
  yw_vec3 gravity;  ///< m/s: times the step
  float h, keep;    ///< s; fraction of the velocity that damping leaves
  float push;       ///< h times the scale of the forces
  float lead;       ///< s, by which positions follow forces ahead of velocities
} fem_move;

/// Sum of the slots of one node.
YW_LANE_FN yw_float4 sum_slots(const yw_vec4* slots, const int32_t* list, int32_t begin,
                               int32_t end) {
  yw_float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int32_t s = begin; s < end; ++s) sum += yw_float4_load(&slots[list[s]]);
  return sum;
}

YW_LANE_FN void move_node(const fem_move* step, float inv_mass, const yw_vec4* force, yw_vec4* pos,
                          yw_vec4* vel) {
  const yw_float4 gravity = {step->gravity.x, step->gravity.y, step->gravity.z, 0.0f};
  yw_float4 pushed = (step->push * inv_mass) * yw_float4_load(force);
  yw_float4 v = step->keep * (yw_float4_load(vel) + gravity + pushed);
  yw_float4_store(vel, v);
  yw_float4_store(pos, yw_float4_load(pos) + (step->h * v + step->lead * pushed));
}

#endif
