// SPDX-License-Identifier: MIT
// The shown surface of a plastic body: it follows the masters smoothly until they part.
#ifndef YW_METHODS_PLASTIC_CLADDING_H
#define YW_METHODS_PLASTIC_CLADDING_H

#include "methods/plastic/model.h"

// In spacings: how far a vertex sees masters; how far it sees beyond the nearest one, if that is
// far.
#define PLASTIC_REACH 2.4f
#define PLASTIC_BEYOND 1.6f

/// How far a vertex at p sees masters.
static inline float yw_plastic_reach(const plastic_model* model, int32_t seed, yw_vec3 p) {
  float d = model->spacing, away = yw_distance(model->masters[seed], p);
  return fmaxf(PLASTIC_REACH * d, away + PLASTIC_BEYOND * d);
}

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
void yw_plastic_surface_range(const void* state, const yw_particles* particles, int32_t first,
                              int32_t count, yw_vec3* out);
int32_t yw_plastic_surface_particle(const void* model, int32_t vertex);
int32_t yw_plastic_surface_parted(const void* state, const yw_particles* particles, float* out);
int32_t yw_plastic_parted_range(const void* state, const yw_particles* particles, int32_t first,
                                int32_t count, float* out);

#endif
