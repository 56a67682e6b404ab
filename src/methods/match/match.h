// SPDX-License-Identifier: MIT
// Example-based shape matching: what the world needs besides the method table.
#ifndef YW_METHODS_MATCH_MATCH_H
#define YW_METHODS_MATCH_MATCH_H

#include "yawara/extend/method.h"
#include "yawara/match.h"

extern const yw_method yw_match_method;

/// Checks the definition and builds the rest data. Returns YW_WARN_REDUNDANT, with a message that
/// names the examples, when an example adds nothing; the model is still created.
/// youngs_modulus: Pa, instead of the stiffness and alpha of def->params; 0: they count.
yw_status yw_match_model_create(const yw_allocator* mem, const yw_match_def* def,
                                double youngs_modulus, void** model, yw_error* error);

/// YW_ERR_INVALID, with a message, when a value is out of range.
yw_status yw_match_params_check(const yw_match_params* params, yw_error* error);
/// Sets the parameters of one body. YW_ERR_INVALID when a value is out of range.
yw_status yw_match_set_params(void* state, const yw_match_params* params);
yw_match_params yw_match_params_of(const void* state);

void yw_match_statistics_of(const void* state, yw_match_statistics* out);

void yw_match_statistics_list(const void* state, const yw_particles* particles, yw_statistics* out);
/// Weights of the last substep before beta: one row of 1 + num_examples numbers per group, the rest
/// pose first. Groups are in ascending order of their labels, or in the order of the mesh's
/// vertices with YW_GROUPS_PER_REGION. Writes at most capacity numbers (out may be NULL) and
/// returns the number of groups.
int32_t yw_match_weights(const void* state, float* out, int32_t capacity);
/// See yw_body_match_set_weights.
yw_status yw_match_set_weights(void* state, int32_t group, const float* weights, float share);

#endif
