// SPDX-License-Identifier: MIT
// Functions of the method table that manage a body's state (body.c).
#ifndef YW_METHODS_FRAMES_BODY_H
#define YW_METHODS_FRAMES_BODY_H

#include "methods/frames/step.h"

yw_status yw_frames_body_create(const void* model, const yw_allocator* mem, void** state,
                                yw_particles* particles, yw_error* error);
void yw_frames_body_destroy(void* state, yw_particles* particles);
void yw_frames_invalidate(void* state, const yw_particles* particles);
void yw_frames_push(void* state, yw_particles* particles, const yw_vec4* impulses);
void yw_frames_save(const void* state, yw_writer* writer);
void yw_frames_load(void* state, yw_reader* reader);

#endif
