// SPDX-License-Identifier: MIT
// Forces and impulses from outside, explosions and wind. docs/game.md
//
// Impulses act at once. Forces act during the whole next yw_world_step and are then forgotten; add
// them anew before every step in which they act. Vertices held by pins do not move. Functions on
// bodies return YW_ERR_INVALID for stale ids and numbers that are not finite, and YW_ERR_MEMORY.
#ifndef YAWARA_FORCE_H
#define YAWARA_FORCE_H

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// On the whole body: every particle by its share of the mass. N s or N.
YW_API yw_status yw_body_add_impulse(yw_world* world, yw_body_id id, yw_vec3 impulse);
YW_API yw_status yw_body_add_force(yw_world* world, yw_body_id id, yw_vec3 force);

/// At a point (m). Rigid bodies: exactly there. Others: on the vertices within `radius` (m, >= 0)
/// of it, by mass and less towards the border; on the nearest triangle, segment or ball of the
/// surface if there are none, e.g. for radius 0.
YW_API yw_status yw_body_add_impulse_at(yw_world* world, yw_body_id id, yw_vec3 point, float radius,
                                        yw_vec3 impulse);
YW_API yw_status yw_body_add_force_at(yw_world* world, yw_body_id id, yw_vec3 point, float radius,
                                      yw_vec3 force);

/// On vertices, in the order of yw_body_positions: one vector each. A vertex may be listed twice.
YW_API yw_status yw_body_add_vertex_impulses(yw_world* world, yw_body_id id,
                                             const int32_t* vertices, const yw_vec3* impulses,
                                             int32_t count);
YW_API yw_status yw_body_add_vertex_forces(yw_world* world, yw_body_id id, const int32_t* vertices,
                                           const yw_vec3* forces, int32_t count);

/// A blast that pushes surfaces away from its centre at once. It goes through obstacles.
typedef struct yw_explosion_def {
  yw_vec3 center;  ///< m
  float radius;    ///< m, > 0: where it ends
  float impulse;   ///< N s per m^2 of surface that faces the centre (Pa s), at the centre; falls
                   ///< linearly to 0 at the radius. Negative: pulls
  uint32_t mask;   ///< bodies in at least one of these groups; default all
} yw_explosion_def;
YW_API yw_explosion_def yw_default_explosion_def(void);
/// Surfaces of volumes that face away feel nothing; sheets feel it on either side, rods and balls
/// on their cross-section.
YW_API yw_status yw_world_explode(yw_world* world, const yw_explosion_def* def);

/// Moving air, everywhere the same but for gusts: drag on surfaces from their speed against it,
/// 1/2 density drag area |u . n| u, on the sides of volumes that it blows on, on sheets, and on the
/// cross-sections of rods and balls. Still air slows bodies down.
typedef struct yw_wind_def {
  yw_vec3 velocity;  ///< m/s
  float density;     ///< kg/m^3, >= 0; default 1.2 (air); 0: no wind
  float drag;        ///< coefficient, >= 0; default 1
  /// m/s, >= 0; default 0. Root mean square of what gusts add to each component of the velocity.
  float turbulence;
  float size;     ///< m, > 0, of gusts; default 1
  uint32_t seed;  ///< of gusts; default 0
} yw_wind_def;
YW_API yw_wind_def yw_default_wind_def(void);
/// NULL: no air, as at first. YW_ERR_INVALID if a number is out of range.
YW_API yw_status yw_world_set_wind(yw_world* world, const yw_wind_def* def);
/// Velocity of the air at a point (m) now, with gusts, m/s.
YW_API yw_vec3 yw_world_wind(const yw_world* world, yw_vec3 point);

#ifdef __cplusplus
}
#endif
#endif
