// SPDX-License-Identifier: MIT
// The guard: whatever forces and impulses did, surfaces that did not cross at the start of the
// substep do not cross at its end.
#ifndef YW_CONTACT_SURFACES_GUARD_H
#define YW_CONTACT_SURFACES_GUARD_H

#include "contact/surfaces/touch.h"

/// Shortens motions until every near pair is known to stay apart. Moves only particles of pairs
/// that would come too close, and takes the lost motion from their velocities. Returns the number
/// of pairs it had to hold.
int32_t yw_guard_motion(const yw_contact_work* works, int32_t num_works, yw_contact_list* lists,
                        int32_t num_lists, float h, yw_tasks* tasks);

#endif
