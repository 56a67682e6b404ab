// SPDX-License-Identifier: MIT
// An implicit Euler step of a frames volume in plain scalar C: double, arrays of structs, lists of
// members, one region after another, conjugate gradients with a diagonal preconditioner. A baseline
// for benchmarks, and an independent result for tests.
#ifndef YW_STUDIES_REFERENCE_FRAMES_REFERENCE_H
#define YW_STUDIES_REFERENCE_FRAMES_REFERENCE_H

#include "yawara/frames.h"

typedef struct frames_reference frames_reference;

/// Ignores examples and solver of the definition. held: per vertex. NULL if out of memory or the
/// definition is refused.
frames_reference* frames_reference_create(const yw_frames_def* def, const bool* held);
void frames_reference_destroy(frames_reference* body);  ///< NULL is allowed

/// Positions and velocities in the order of the mesh, 3 numbers each.
double* frames_reference_positions(frames_reference* body);
double* frames_reference_velocities(frames_reference* body);

/// One Newton step of implicit Euler; returns the number of conjugate gradient iterations.
int32_t frames_reference_step(frames_reference* body, double h, yw_vec3 gravity, double tolerance);

#endif
