// SPDX-License-Identifier: MIT
// Rigid motion of a body.
#ifndef YW_METHODS_KIT_RIGID_H
#define YW_METHODS_KIT_RIGID_H

#include "yawara/extend/vec.h"

// An inertia whose determinant is below this share of the cubed trace is that of a line, ...
#define YW_LEAST_DETERMINANT 1e-9
// ... and gets this share of the trace added to its diagonal.
#define YW_ADDED_INERTIA 1e-2

/// Angular velocity (rad/s) from inertia (xx, yy, zz, xy, xz, yz) and angular momentum. A body on a
/// line has no inertia about that line; a fraction of the trace is added to make it invertible.
static inline void yw_spin_of(const double inertia[6], const double momentum[3], double spin[3]) {
  double m[6], trace = inertia[0] + inertia[1] + inertia[2];
  for (int i = 0; i < 6; ++i) m[i] = inertia[i];
  for (int attempt = 0; attempt < 2; ++attempt) {
    double cxx = m[1] * m[2] - m[5] * m[5], cyy = m[0] * m[2] - m[4] * m[4];
    double czz = m[0] * m[1] - m[3] * m[3], cxy = m[4] * m[5] - m[3] * m[2];
    double cxz = m[3] * m[5] - m[4] * m[1], cyz = m[3] * m[4] - m[5] * m[0];
    double det = m[0] * cxx + m[3] * cxy + m[4] * cxz;
    if (det > YW_LEAST_DETERMINANT * trace * trace * trace) {
      spin[0] = (cxx * momentum[0] + cxy * momentum[1] + cxz * momentum[2]) / det;
      spin[1] = (cxy * momentum[0] + cyy * momentum[1] + cyz * momentum[2]) / det;
      spin[2] = (cxz * momentum[0] + cyz * momentum[1] + czz * momentum[2]) / det;
      return;
    }
    for (int i = 0; i < 3; ++i) m[i] += YW_ADDED_INERTIA * trace;
  }
  spin[0] = spin[1] = spin[2] = 0.0;
}

static inline yw_vec3 yw_v3_of(const double v[3]) {
  return yw_v3((float)v[0], (float)v[1], (float)v[2]);
}

#endif
