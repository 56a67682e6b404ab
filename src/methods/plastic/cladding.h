// SPDX-License-Identifier: MIT
// The shown surface of a plastic body: it follows the masters smoothly until they part.
#ifndef YW_METHODS_PLASTIC_CLADDING_H
#define YW_METHODS_PLASTIC_CLADDING_H

#include "methods/plastic/model.h"

/// Adds a surface, in the coordinates of the model, to a finished model; parts: of the definition,
/// for each vertex, or NULL. surface may be NULL.
yw_status yw_plastic_clad(plastic_model* model, const yw_tri_mesh* surface, const int32_t* parts,
                          yw_error* error);
void yw_plastic_unclad(plastic_model* model);
/// Keeps what moves the surface; yw_plastic_model_surface then has none.
void yw_plastic_forget_triangles(void* model);

// For the world, see yw_method.
yw_status yw_plastic_model_surface(const void* model, const yw_allocator* mem, yw_tri_mesh* out);
void yw_plastic_surface_positions(const void* state, const yw_particles* particles, yw_vec3* out);
int32_t yw_plastic_surface_particle(const void* model, int32_t vertex);
int32_t yw_plastic_surface_parted(const void* state, const yw_particles* particles, float* out);

#endif
