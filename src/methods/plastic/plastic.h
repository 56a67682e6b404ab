// SPDX-License-Identifier: MIT
// Elastoplastic bodies of master and slave particles: interface for the world and tests.
#ifndef YW_METHODS_PLASTIC_PLASTIC_H
#define YW_METHODS_PLASTIC_PLASTIC_H

#include "yawara/extend/method.h"
#include "yawara/plastic.h"

extern const yw_method yw_plastic_method;

yw_status yw_plastic_model_create(const yw_allocator* mem, const yw_plastic_def* def,
                                  const yw_plastic_scheme* scheme, float slave_reach, void** out,
                                  yw_error* error);
void yw_plastic_model_destroy(void* model);

/// YW_ERR_INVALID, with a message, if a value is out of range.
yw_status yw_plastic_params_check(const yw_plastic_params* params, yw_error* error);
/// Parameters of one body. YW_ERR_INVALID if a value is out of range.
yw_status yw_plastic_set_params(void* state, const yw_plastic_params* params);
yw_plastic_params yw_plastic_params_of(const void* state);
void yw_plastic_statistics_of(const void* state, yw_plastic_statistics* out);
/// Writes at most capacity positions; returns how many there are.
int32_t yw_plastic_slaves_of(const void* state, yw_vec3* out, int32_t capacity);

#endif
