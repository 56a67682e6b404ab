// SPDX-License-Identifier: MIT
// Rigid motion in contacts: what impulses on a few particles cannot do.
#ifndef YW_CONTACT_POINTS_RIGID_H
#define YW_CONTACT_POINTS_RIGID_H

#include "contact/points/solve.h"

/// Restitution. A few particles at the surface cannot reverse a body: they are stopped by those
/// behind them, or the reverse, and the rebound speed would depend on the material. So where the
/// pair has a restitution, an impact changes the motion of both bodies as if they were rigid, such
/// that they separate with that share of their speed. Without restitution nothing happens.
void yw_point_bounce(const yw_point_problem* problem, const yw_point_batch* batch);

/// Angular momentum added to the pair by moving particles apart while they slide along each other,
/// and by friction between balls, which acts beside their centres.
yw_vec3 yw_point_lost_angular(const yw_point_problem* problem, const yw_point_batch* batch);
/// Bodies that were created inside each other, or forced there: stops their approach and moves them
/// apart as wholes at a bounded speed. Points far inside disagree about the way out, and pushing
/// them one by one would distort the bodies.
void yw_point_part(const yw_point_problem* problem, yw_point_batch* batch);
/// Removes the angular momentum added by all batches of the pair, by rotating the pair as one.
void yw_point_keep_angular(const yw_point_problem* problem, const yw_point_batch* batch,
                           yw_vec3 lost_angular);

#endif
