// SPDX-License-Identifier: MIT
// State of a rigid body.
#ifndef YW_METHODS_RIGID_BODY_H
#define YW_METHODS_RIGID_BODY_H

#include "methods/rigid/model.h"
#include "yawara/extend/memory.h"

#define RIGID_PATCHES 8         ///< flat parts of obstacles that it touches at once
#define RIGID_PATCH_CONTACTS 9  ///< contacts that hold it there, at first
#define RIGID_CONTACTS (2 * RIGID_PATCHES * RIGID_PATCH_CONTACTS)

/// A ball that meets an obstacle in the substep.
typedef struct rigid_meeting {
  int32_t ball, patch;
  bool listed;    ///< as a contact
  float end_gap;  ///< m, above the obstacle, if nothing stopped it
  yw_touch touch;
} rigid_meeting;

typedef struct rigid_body {
  yw_allocator mem;
  const rigid_model* model;
  yw_rigid_params params;
  yw_rigid_motion motion;
  yw_rigid_contact contacts[RIGID_CONTACTS];
  YW_LIST(yw_rigid_anchor) anchors;
  rigid_meeting* meetings;  ///< of this substep
  int32_t num_meetings, max_meetings;
  yw_rigid_statistics statistics;
} rigid_body;

/// Writes positions and velocities of the particles.
void yw_rigid_write(const rigid_body* body, yw_particles* particles);

/// Lists the contacts of the substep in motion.contacts; the motion is at its start, with the
/// velocities of the first half.
void yw_rigid_find_contacts(rigid_body* body, const yw_step_ctx* ctx);

/// After the solve: adds the balls that went deepest into an obstacle although they were not
/// listed. Returns true when there are any, and the substep must be solved again.
bool yw_rigid_add_missed(rigid_body* body, const yw_step_ctx* ctx);

/// Lists pins as anchors. A body held by three points or more that are not in line is moved to its
/// end at once: returns true. *status: YW_ERR_MEMORY when out of memory.
bool yw_rigid_take_pins(rigid_body* body, const yw_step_ctx* ctx, yw_status* status);

#endif
