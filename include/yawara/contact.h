// SPDX-License-Identifier: MIT
// Who collides with whom, what touched in the last step, and events. docs/game.md
#ifndef YAWARA_CONTACT_H
#define YAWARA_CONTACT_H

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Filters -----------------------------------------------------------------------------------------
// Bodies and obstacles are in groups and have masks, see yw_body_def. Filters do not concern
// contact of a body with itself.

YW_API yw_status yw_body_set_filter(yw_world* world, yw_body_id id, uint32_t groups, uint32_t mask);
YW_API yw_status yw_obstacle_set_filter(yw_world* world, yw_obstacle_id id, uint32_t groups,
                                        uint32_t mask);
/// Turns contact of two different bodies off, or on again, whatever their groups. On does not make
/// bodies collide that their groups or a joint (yw_joint_def.collide) keep apart. Forgotten when
/// one of them is destroyed.
YW_API yw_status yw_world_set_pair_contact(yw_world* world, yw_body_id a, yw_body_id b, bool on);

// Overlaps ----------------------------------------------------------------------------------------

/// Pairs of bodies that overlap as they are now: their surfaces cross, or one lies inside of the
/// other. Loose particles overlap what is nearer than 0.9 of what contact keeps. Only of bodies
/// that collide and have started. Older bodies first; the first `capacity` pairs are written (out
/// may be NULL if it is 0). Returns how many there are; -1: out of memory, or world is NULL. Steps
/// move such bodies apart as wholes, at 0.5 m/s and without giving them velocity, when they have
/// just been made, started or placed; contact pushes loose particles out.
YW_API int32_t yw_world_crossings(yw_world* world, yw_body_id (*out)[2], int32_t capacity);

// Contacts of the last step -----------------------------------------------------------------------

/// Turns the recording of contacts and events on or off (default off). It costs two passes over the
/// particles per substep, and distances of those that touch obstacles. Results do not change.
/// YW_ERR_MEMORY: it is off.
YW_API yw_status yw_world_record_contacts(yw_world* world, bool on);

/// Two bodies, or a body and an obstacle, that pressed against each other in the last step.
/// Sleepers keep their contacts, with the impulse of their last step awake, without friction, area
/// and points.
typedef struct yw_contact_info {
  yw_body_id bodies[2];     ///< both the same: it touches itself. The second is null: an obstacle
  yw_obstacle_id obstacle;  ///< null: two bodies
  yw_vec3 point;            ///< m, mean of where they touched, by impulse
  yw_vec3 normal;           ///< unit vector, mean by impulse, towards the first body
  /// N s, along the normal, of the whole step: divided by its length, the mean force. NAN for a
  /// body that pins hold and an obstacle touches, where only the sum of both is known. A body that
  /// touches several obstacles at once: their shares are estimated from the normals.
  float impulse;
  yw_vec3 friction;  ///< N s, on the first body, across the normal, of the whole step
  float area;        ///< m^2, of the surface around vertices that touched in the last substep, as
                     ///< seen along the normal; 0 for rods and balls
  float speed;       ///< m/s, the largest closing speed in the step
  int32_t first_point, num_points;  ///< in yw_world_contact_points
} yw_contact_info;

/// A place where a pair touched in the last substep.
typedef struct yw_contact_point {
  int32_t contact;  ///< in yw_world_contacts
  yw_vec3 point;    ///< m
  yw_vec3 normal;   ///< unit vector, towards the first body of the pair
  float impulse;    ///< N s, along the normal, of this substep alone. Obstacles and soft bodies:
                    ///< the pair's in equal shares
} yw_contact_point;

/// Older bodies first; bodies before obstacles. Both are valid until the next call that takes a
/// non-const world, and empty unless contacts are recorded.
YW_API const yw_contact_info* yw_world_contacts(const yw_world* world, int32_t* count);
YW_API const yw_contact_point* yw_world_contact_points(const yw_world* world, int32_t* count);

/// Something that happened to a pair in the last step.
typedef struct yw_contact_event {
  yw_body_id bodies[2];  ///< as in yw_contact_info; may have been destroyed since
  yw_obstacle_id obstacle;
  yw_vec3 point, normal;  ///< of yw_contact_info; of an end: when they touched last
  float impulse, speed;   ///< likewise
} yw_contact_event;

/// Lists of the last step, in the order of yw_world_contacts; valid as long.
typedef struct yw_contact_events {
  const yw_contact_event *begins, *ends;  ///< pairs that touch and did not in the step before, and
                                          ///< the other way round
  const yw_contact_event* impacts;        ///< pairs that met at the impact speed or faster
  int32_t num_begins, num_ends, num_impacts;
} yw_contact_events;
YW_API yw_contact_events yw_world_contact_events(const yw_world* world);
/// m/s, >= 0; default 1.
YW_API yw_status yw_world_set_impact_speed(yw_world* world, float speed);

#ifdef __cplusplus
}
#endif
#endif
