// SPDX-License-Identifier: MIT
// Rigid bodies in contact: particles of one body that move as a whole.
#ifndef YW_CONTACT_SURFACES_WHOLE_H
#define YW_CONTACT_SURFACES_WHOLE_H

#include "contact/surfaces/solve.h"

/// Takes what the solve did to the particles of rigid bodies into their motions, and pushes them
/// out of overlaps as wholes.
void yw_whole_settle(const yw_contact_problem* problem, int32_t num_bodies);

/// Leaves a share of the motion of a rigid body since the start of the substep. slower: takes a
/// part of the rest from its velocities, which never grow.
void yw_whole_retreat(const yw_contact_body* body, float share, float h, bool slower);

#endif
