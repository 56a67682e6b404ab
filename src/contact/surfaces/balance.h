// SPDX-License-Identifier: MIT
// Bodies that touch nothing but each other keep their momentum and angular momentum: what contact
// loses of these is given back to them as a whole.
#ifndef YW_CONTACT_SURFACES_BALANCE_H
#define YW_CONTACT_SURFACES_BALANCE_H

#include "contact/surfaces/data.h"

/// Sums up all bodies before contact. False when out of memory.
bool yw_balance_begin(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies,
                      yw_tasks* tasks);
/// After contact: for every island that nothing holds.
void yw_balance_end(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies,
                    yw_tasks* tasks);

#endif
