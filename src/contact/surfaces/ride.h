// SPDX-License-Identifier: MIT
// The guard in axes that move along: what it takes from the motion of bodies must not depend on how
// fast all of them move through the world.
#ifndef YW_CONTACT_SURFACES_RIDE_H
#define YW_CONTACT_SURFACES_RIDE_H

#include "contact/surfaces/data.h"

/// Takes from all bodies that nothing holds the motion that they and what is near them have in
/// common. After yw_balance_begin. False when out of memory.
bool yw_ride_begin(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies, float h);
/// Gives it back.
void yw_ride_end(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies, float h);

#endif
