// SPDX-License-Identifier: MIT
// Rigid bodies in contact: particles of one body that move as a whole.
#ifndef YW_CONTACT_SURFACES_WHOLE_H
#define YW_CONTACT_SURFACES_WHOLE_H

#include "contact/surfaces/solve.h"

/// A contact between rigid bodies, or of one with what does not move.
typedef struct yw_whole_row {
  yw_contact* contact;
  int32_t body[2];    ///< -1: a side that does not give way
  double arm[2][3];   ///< m, from the centres of the bodies
  double axis[3][3];  ///< normal and two tangents
  double mass[3];     ///< kg, of the point along the axes
  double impulse[3];  ///< N s, so far
  double goal;        ///< m/s, least normal velocity
  double fixed[3];    ///< m/s, part of the relative velocity that no impulse changes
} yw_whole_row;

typedef struct yw_whole_state {
  double velocity[3], spin[3];
  double twist[3];  ///< N m s, about the centre, so far
} yw_whole_state;

/// Solves the contacts of rigid bodies with their motions as unknowns. False: out of memory.
bool yw_whole_solve(yw_surfaces* c, const yw_contact_problem* problem);

/// Takes what the solve did to the particles of rigid bodies into their motions, solves their
/// contacts with each other, and pushes them out of overlaps as wholes. False: out of memory.
bool yw_whole_settle(yw_surfaces* c, const yw_contact_problem* problem, int32_t num_bodies);

/// Where a side of a contact is, from the centre of its body if it is rigid.
void yw_whole_side(const yw_contact_body* body, const yw_contact* contact, int side, double out[3]);

/// Leaves a share of the motion of a rigid body since the start of the substep. slower: takes a
/// part of the rest from its velocities, which never grow.
void yw_whole_retreat(const yw_contact_body* body, float share, float h, bool slower);
/// Moves a rigid body, m; its velocities stay.
void yw_whole_shift(const yw_contact_body* body, yw_vec3 way);

#endif
