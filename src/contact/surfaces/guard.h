// SPDX-License-Identifier: MIT
// The guard: whatever forces and impulses did, surfaces that did not cross at the start of the
// substep do not cross at its end.
#ifndef YW_CONTACT_SURFACES_GUARD_H
#define YW_CONTACT_SURFACES_GUARD_H

#include "contact/surfaces/touch.h"

/// True when contact moved a surface particle farther from its path than detection looked.
bool yw_guard_left_paths(const yw_contact_work* work);

/// What the guard would have to do as it is.
typedef enum yw_guard_need {
  YW_GUARD_IDLE,     ///< every near pair is known to stay apart
  YW_GUARD_PRESSED,  ///< some that were in contact at the start are pressed together
  YW_GUARD_HIT       ///< some that were apart may hit each other
} yw_guard_need;
yw_guard_need yw_guard_needed(const yw_contact_work* works, yw_contact_list* lists,
                              int32_t num_lists, yw_tasks* tasks);

/// Shortens motions until every near pair is known to stay apart. Moves only particles of pairs
/// that would come too close, and takes the lost motion from their velocities. Returns the number
/// of pairs it had to hold.
int32_t yw_guard_motion(const yw_contact_work* works, int32_t num_works, yw_contact_list* lists,
                        int32_t num_lists, float h, yw_tasks* tasks);

#endif
