// SPDX-License-Identifier: MIT
// Bodies in lockstep meet many times in a substep and hardly move in between. Pairs of primitives
// that one search has listed last for the next parts as long as every vertex is within a leeway of
// where it was: the search lists all that are nearer than what contact needs and the leeway of both
// bodies. What comes of a list is then what a search would have found. Paths of a few vertices may
// lead out of the leeway, where the material presses them into their neighbours: if contact does
// not keep them back, the look after the solve searches all.
#ifndef YW_CONTACT_SURFACES_PARTS_H
#define YW_CONTACT_SURFACES_PARTS_H

#include "contact/surfaces/data.h"

/// True when the next parts of the substep may use what is about to be found: gives bodies, which
/// are fitted, their leeway. False when some are too fast.
bool yw_parts_allow(yw_surfaces* c);
/// After such a search: notes where everything is.
void yw_parts_note(yw_surfaces* c, yw_tasks* tasks);
/// A new part, for which bodies have moved: true when the list still has all that can meet. Bodies
/// are then as they were in the last part.
bool yw_parts_renew(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies,
                    yw_tasks* tasks);
/// The same within a part, after contact has moved bodies.
bool yw_parts_last(yw_surfaces* c, yw_tasks* tasks);

#endif
