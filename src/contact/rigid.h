// SPDX-License-Identifier: MIT
// Bodies as wholes: what no impulse on a few particles can do.
#ifndef YW_CONTACT_RIGID_H
#define YW_CONTACT_RIGID_H

#include "contact/solve.h"

/// Restitution. A few particles at the surface cannot turn a body round: they are stopped by those
/// behind them, or these by them, and how fast the body leaves is the material's affair. So where
/// the pair has a restitution, an impact changes the motion of both bodies as wholes, as if they
/// were rigid, such that they leave with that share of their speed. Nothing happens without
/// restitution.
void yw_contact_bounce(const yw_contact_problem* problem, const yw_contact_batch* batch);

/// Angular momentum that moving particles apart gave to the pair while they slide along each other,
/// and that friction gave to balls, which meet beside their centres.
yw_vec3 yw_contact_lost_spin(const yw_contact_problem* problem, const yw_contact_batch* batch);
/// Bodies that were made inside each other, or forced there: stops their approach and moves them
/// apart as wholes at a bounded speed. Points far inside disagree about the way out, and pushing
/// them one by one would tear at the bodies.
void yw_contact_part(const yw_contact_problem* problem, yw_contact_batch* batch);
/// Takes the spin that all batches of the pair lost back by turning the pair as one.
void yw_contact_keep_spin(const yw_contact_problem* problem, const yw_contact_batch* batch,
                          yw_vec3 lost_spin);

#endif
