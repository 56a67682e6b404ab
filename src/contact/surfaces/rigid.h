// SPDX-License-Identifier: MIT
// Rigid motion in contacts: what impulses on a few particles cannot do.
#ifndef YW_CONTACT_SURFACES_RIGID_H
#define YW_CONTACT_SURFACES_RIGID_H

#include "contact/surfaces/solve.h"

/// Restitution. A few particles at the surface cannot reverse a body: they are stopped by those
/// behind them, or the reverse, and the rebound speed would depend on the material. So where the
/// pair has a restitution, an impact changes the motion of both bodies as if they were rigid, such
/// that they separate with that share of their speed. Without restitution nothing happens.
void yw_contact_bounce(const yw_contact_problem* problem, const yw_contact_batch* batch);

/// Angular momentum added to the pair by moving particles apart while they slide along each other,
/// and by friction between balls, which acts beside their centres.
yw_vec3 yw_contact_lost_angular(const yw_contact_problem* problem, const yw_contact_batch* batch);
/// Removes angular momentum (kg m^2/s) from a free body by rotating it as a whole.
void yw_contact_turn_back(const yw_contact_body* body, yw_vec3 angular);
/// Removes the angular momentum added by all batches of the pair, by rotating the pair as one.
void yw_contact_keep_angular(const yw_contact_problem* problem, const yw_contact_batch* batch,
                             yw_vec3 lost_angular);

#endif
