// SPDX-License-Identifier: MIT
// Rigid motion of a body.
#ifndef YW_METHODS_KIT_RIGID_H
#define YW_METHODS_KIT_RIGID_H

#include "yawara/extend/vec.h"

/// Angular velocity (rad/s) from inertia (xx, yy, zz, xy, xz, yz) and angular momentum. A body on a
/// line has no inertia about that line; a fraction of the trace is added to make it invertible.
void yw_spin_of(const double inertia[6], const double momentum[3], double spin[3]);

static inline yw_vec3 yw_v3_of(const double v[3]) {
  return yw_v3((float)v[0], (float)v[1], (float)v[2]);
}

#endif
