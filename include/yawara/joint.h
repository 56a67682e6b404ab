// SPDX-License-Identifier: MIT
// Joints connect rigid bodies with each other, with the world, and with points of soft bodies.
// docs/joints.md
#ifndef YAWARA_JOINT_H
#define YAWARA_JOINT_H

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Ids are values, like yw_body_id.
typedef struct yw_joint_id {
  uint32_t index1, generation;
} yw_joint_id;

typedef enum yw_joint_kind {
  YW_JOINT_FIXED = 0,  ///< no relative motion; with a soft body: its vertices are glued
  YW_JOINT_BALL,       ///< a common point
  YW_JOINT_HINGE,      ///< a common point and axis; rigid bodies and the world only
  YW_JOINT_SLIDER,     ///< motion along an axis without rotation; rigid bodies and the world only
  YW_JOINT_ROPE,       ///< a largest distance of two points
  YW_JOINT_SPRING      ///< a spring between two points
} yw_joint_kind;

/// What a joint holds on to: a rigid body, vertices of a soft one, or the world.
typedef struct yw_joint_end {
  yw_body_id body;          ///< null (default): the world
  const int32_t* vertices;  ///< of a soft body: their mean is the point held; glued one by one by
                            ///< YW_JOINT_FIXED. Copied. NULL for rigid bodies and the world
  int32_t num_vertices;     ///< 0 for rigid bodies and the world
  yw_vec3 point;            ///< m, in the world when the joint is created; not for vertices. Ropes
                            ///< and springs have two points; other joints use the first end's,
                            ///< or the place of the vertices
} yw_joint_end;

typedef struct yw_joint_def {
  yw_joint_kind kind;
  yw_joint_end ends[2];
  yw_vec3 axis;       ///< of a hinge or slider, in the world; need not be a unit vector; default x
  bool limited;       ///< lower and upper apply; default false
  float lower;        ///< rad (hinge, -pi to pi) or m (slider) from where it was created; <= 0
  float upper;        ///< the same, >= 0
  float motor_speed;  ///< rad/s or m/s, of the second end against the first; default 0
  float motor_force;  ///< N m or N, >= 0, that the motor uses at most; default 0: no motor
  float length;       ///< m, of a rope or spring at rest; < 0 (default): that at creation
  float stiffness;    ///< N/m, of a spring, > 0; default 1000
  float damping;      ///< N s/m, of a spring, >= 0; default 0
  const char* name;   ///< for messages; copied; may be NULL
  bool collide;       ///< the two bodies collide with each other; default false
} yw_joint_def;
YW_API yw_joint_def yw_default_joint_def(void);

/// YW_ERR_INVALID, with a message: a stale body, a soft body where a rigid one is needed, vertices
/// out of range, two ends on one body, or a parameter out of range.
YW_API yw_status yw_joint_create(yw_world* world, const yw_joint_def* def, yw_joint_id* out,
                                 yw_error* error);
/// Joints are also destroyed with their bodies.
YW_API yw_status yw_joint_destroy(yw_world* world, yw_joint_id id);
YW_API bool yw_joint_is_valid(const yw_world* world, yw_joint_id id);
YW_API int32_t yw_world_num_joints(const yw_world* world);

/// Changes the motor of a hinge or slider; force 0 switches it off.
YW_API yw_status yw_joint_set_motor(yw_world* world, yw_joint_id id, float speed, float force);

/// What a joint did in the last substep.
typedef struct yw_joint_reading {
  double position;   ///< rad (hinge), m (slider, rope, spring: length); else 0
  double speed;      ///< of the position, per second
  double force[3];   ///< N, on the second end, mean of the substep
  double torque[3];  ///< N m, on the second end beyond what the force does at the joint
  double error;      ///< m, that its points miss each other
} yw_joint_reading;
YW_API yw_status yw_joint_read(const yw_world* world, yw_joint_id id, yw_joint_reading* out);

#ifdef __cplusplus
}
#endif
#endif
