// SPDX-License-Identifier: MIT
// Pins and springs for methods that store positions as floats.
#ifndef YW_METHODS_KIT_PINS_H
#define YW_METHODS_KIT_PINS_H

#include "yawara/extend/method.h"

/// Position of a hold, or of the far end of a spring, after the given share of the substep.
static inline yw_vec3 yw_hold_at(const yw_hold* hold, float share) {
  return yw_lerp(hold->begin, hold->end, share);
}
static inline yw_vec3 yw_spring_at(const yw_spring* spring, float share) {
  return yw_lerp(spring->begin, spring->end, share);
}

/// Velocity (m/s) of a hold, or of the far end of a spring, in a substep of h seconds.
static inline yw_vec3 yw_hold_velocity(const yw_hold* hold, float h) {
  return yw_scale(yw_sub(hold->end, hold->begin), 1.0f / h);
}
static inline yw_vec3 yw_spring_velocity(const yw_spring* spring, float h) {
  return yw_scale(yw_sub(spring->end, spring->begin), 1.0f / h);
}

/// Velocity after h seconds of a particle at x with velocity v, pulled to goal by a spring whose
/// far end moves with velocity u. Implicit in the particle, hence stable for any stiffness:
///   v' = v + h/m (k (goal - x - h v') + c (u - v'))
static inline yw_vec3 yw_spring_pull(const yw_spring* s, yw_vec3 goal, yw_vec3 u, yw_vec3 x,
                                     yw_vec3 v, float inv_mass, float h) {
  float per_mass = h * inv_mass;
  yw_vec3 force = yw_mad(yw_scale(yw_sub(goal, x), s->stiffness), s->damping, u);
  float resist = 1.0f + per_mass * (s->damping + h * s->stiffness);
  return yw_scale(yw_mad(v, per_mass, force), 1.0f / resist);
}

#endif
