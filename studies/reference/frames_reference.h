// SPDX-License-Identifier: MIT
// An implicit Euler step of a frames volume in plain scalar C: double, arrays of structs, lists of
// members, one region after another, conjugate gradients with the diagonal. What benchmarks compare
// with, and an independent answer for tests.
#ifndef YW_STUDIES_REFERENCE_FRAMES_REFERENCE_H
#define YW_STUDIES_REFERENCE_FRAMES_REFERENCE_H

#include "yawara/frames.h"

typedef struct frames_reference frames_reference;

/// Examples and solver of the definition are ignored. held: per vertex. NULL when memory is out or
/// the definition is refused.
frames_reference* frames_reference_create(const yw_frames_def* def, const bool* held);
void frames_reference_destroy(frames_reference* body);  ///< NULL is fine

/// Positions and velocities in the order of the mesh, 3 numbers each.
double* frames_reference_positions(frames_reference* body);
double* frames_reference_velocities(frames_reference* body);

/// One Newton step of implicit Euler; returns the iterations of conjugate gradients.
int32_t frames_reference_step(frames_reference* body, double h, yw_vec3 gravity, double tolerance);

#endif
