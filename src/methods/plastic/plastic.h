// SPDX-License-Identifier: MIT
// Elastoplastic bodies of master and slave particles, as the world and tests see them.
#ifndef YW_METHODS_PLASTIC_PLASTIC_H
#define YW_METHODS_PLASTIC_PLASTIC_H

#include "yawara/extend/method.h"
#include "yawara/plastic.h"

extern const yw_method yw_plastic_method;

yw_status yw_plastic_model_create(const yw_allocator* mem, const yw_plastic_def* def, void** out,
                                  yw_error* error);
void yw_plastic_model_destroy(void* model);

#endif
