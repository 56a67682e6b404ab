// SPDX-License-Identifier: MIT
// Example-based shape matching in plain scalar C, written directly from the paper: arrays of
// structs, lists of members, one region after another, float. A baseline for benchmarks, and an
// independent result for tests.
#ifndef YW_STUDIES_REFERENCE_MATCH_REFERENCE_H
#define YW_STUDIES_REFERENCE_MATCH_REFERENCE_H

#include "yawara/match.h"

typedef struct reference_body reference_body;

/// One group for the whole body, at most 4 examples; labels and projection of the definition are
/// ignored. NULL if out of memory. torque_free false: rotation and stretch of a region are those of
/// A_r, as in the paper; true: as in the library, so that no region rotates itself.
reference_body* reference_create(const yw_match_def* def, bool torque_free);
void reference_destroy(reference_body* body);

/// Positions and velocities in the order of the mesh.
yw_vec3* reference_positions(reference_body* body);
yw_vec3* reference_velocities(reference_body* body);
/// 1 + num_examples weights before beta.
const float* reference_weights(const reference_body* body);

typedef struct reference_step_def {
  float h;
  yw_vec3 gravity;
  /// Solid below y = floor; -INFINITY for none. Coulomb friction, restitution 0.
  float floor, friction;
} reference_step_def;
void reference_step(reference_body* body, const reference_step_def* def);

#endif
