// SPDX-License-Identifier: MIT
// Motion of a body as a whole.
#ifndef YW_METHODS_KIT_RIGID_H
#define YW_METHODS_KIT_RIGID_H

#include "yawara/extend/vec.h"

/// Angular velocity (rad/s) of an inertia (xx, yy, zz, xy, xz, yz) that has an angular momentum.
/// Lines have a direction without inertia; a trace of it is added there.
void yw_spin_of(const double inertia[6], const double momentum[3], double spin[3]);

static inline yw_vec3 yw_v3_of(const double v[3]) {
  return yw_v3((float)v[0], (float)v[1], (float)v[2]);
}

#endif
