// SPDX-License-Identifier: MIT
// Quantities for display, per particle; computed on request.
#ifndef YW_METHODS_SLENDER_SHOWN_H
#define YW_METHODS_SLENDER_SHOWN_H

#include "yawara/extend/method.h"
#include "yawara/model.h"

/// Energy density of the elements around each particle.
int32_t yw_slender_num_fields(const void* state);
yw_field_info yw_slender_field_info(const void* state, int32_t field);
const char* yw_slender_field_meaning(const void* state, int32_t field);
void yw_slender_field_values(const void* state, const yw_particles* particles, int32_t field,
                             float* out);
int32_t yw_slender_axes(const void* state, const yw_particles* particles, int32_t capacity,
                        yw_vec3* origins, yw_quat* turns);
void yw_slender_statistics_list(const void* state, const yw_particles* particles,
                                yw_statistics* out);
/// J, against the rest pose, with or without examples.
double yw_slender_strain_energy(const void* state, const yw_particles* particles);
void yw_slender_own_spin(const void* state, const yw_particles* particles, double out[3]);
yw_method_energy yw_slender_body_energy(const void* state, const yw_particles* particles);

#endif
