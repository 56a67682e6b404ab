// SPDX-License-Identifier: MIT
// The guard: whatever forces and impulses did, surfaces that did not cross at the start of the
// substep do not cross at its end.
#ifndef YW_CONTACT_SURFACES_GUARD_H
#define YW_CONTACT_SURFACES_GUARD_H

#include "contact/surfaces/touch.h"

/// Flags the corners of the listed pairs, which are not known to stay apart, and nothing else.
void yw_guard_begin(const yw_contact_work* works, int32_t num_works, const yw_contact_list* lists,
                    int32_t num_lists);
/// Leaves (all of them, or those with a flagged particle) have to be looked at. True if there are
/// more of them than before.
bool yw_guard_unsettle(yw_contact_work* works, int32_t num_works, bool all);

/// Shortens motions until every near pair is known to stay apart. Moves only particles of pairs
/// that would come too close, and takes the lost motion from their velocities. Returns the number
/// of pairs it had to hold.
int32_t yw_guard_motion(const yw_contact_work* works, int32_t num_works, yw_contact_list* lists,
                        int32_t num_lists, float h, yw_tasks* tasks);

#endif
