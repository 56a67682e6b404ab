// SPDX-License-Identifier: MIT
// Quantities for display, per particle; computed on request.
#ifndef YW_METHODS_FRAMES_SHOWN_H
#define YW_METHODS_FRAMES_SHOWN_H

#include "yawara/extend/method.h"
#include "yawara/model.h"

/// Volumes: von Mises stress and energy density, relative to the rest pose.
int32_t yw_frames_num_fields(const void* state);
yw_field_info yw_frames_field_info(const void* state, int32_t field);
const char* yw_frames_field_meaning(const void* state, int32_t field);
void yw_frames_field_values(const void* state, const yw_particles* particles, int32_t field,
                            float* out);
int32_t yw_frames_axes(const void* state, const yw_particles* particles, int32_t capacity,
                       yw_vec3* origins, yw_quat* turns);
void yw_frames_statistics_list(const void* state, const yw_particles* particles,
                               yw_statistics* out);
/// J, against the rest pose, with or without examples.
double yw_frames_strain_energy(const void* state, const yw_particles* particles);
/// Elastic energy; NaN for bodies with examples.
yw_method_energy yw_frames_body_energy(const void* state, const yw_particles* particles);

#endif
