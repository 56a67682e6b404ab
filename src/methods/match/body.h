// SPDX-License-Identifier: MIT
// Functions of the method table that manage a body's state (body.c).
#ifndef YW_METHODS_MATCH_BODY_H
#define YW_METHODS_MATCH_BODY_H

#include "methods/match/step.h"

yw_status yw_match_body_create(const void* model, const yw_allocator* mem, void** state,
                               yw_particles* particles, yw_error* error);
void yw_match_body_destroy(void* state, yw_particles* particles);
void yw_match_invalidate(void* state, const yw_particles* particles);
void yw_match_save(const void* state, yw_writer* writer);
void yw_match_load(void* state, yw_reader* reader);

#endif
