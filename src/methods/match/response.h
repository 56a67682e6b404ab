// SPDX-License-Identifier: MIT
// How a body answers deformation in a step of a given length: parameters as the kernels use them.
#ifndef YW_METHODS_MATCH_RESPONSE_H
#define YW_METHODS_MATCH_RESPONSE_H

#include "methods/match/model.h"

/// m/s^2, of the unit of stiffness.
#define STANDARD_GRAVITY 9.81

typedef struct match_response {
  int32_t num_steps;  ///< inner steps
  float h;            ///< s, of an inner step
  float alpha;        ///< share of the way to the goal covered in one of them
  float damp;         ///< share of the non-rigid velocity removed in one of them
  float lag;          ///< tau, s
  bool uneven;        ///< regions pull with their grips
} match_response;

/// num_parts: of the substep that h is one of; 0 or 1: all of it.
match_response yw_match_response(const match_model* model, const yw_match_params* params, float h,
                                 int32_t num_parts);

/// J, with the strains of the tets and Poisson's ratio 0; NAN where alpha is given, whose stiffness
/// depends on the step.
double yw_match_strain_energy(const void* state, const yw_particles* particles);

#endif
