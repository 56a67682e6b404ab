// SPDX-License-Identifier: MIT
// Adaptive finite elements: interface for the world.
#ifndef YW_METHODS_FEM_FEM_H
#define YW_METHODS_FEM_FEM_H

#include "methods/fem/model.h"
#include "yawara/extend/method.h"
#include "yawara/fem.h"

extern const yw_method yw_fem_method;

yw_status yw_fem_set_params(void* state, const yw_fem_params* params);
yw_fem_params yw_fem_params_of(const void* state);
void yw_fem_statistics_of(const void* state, yw_fem_statistics* out);
/// J
double yw_fem_fracture_energy(const void* state);

/// The hierarchy of a model. The vertices of its finest level are the particles, in order.
const fem_hierarchy* yw_fem_hierarchy_of(const void* model);

#endif
