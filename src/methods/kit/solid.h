// SPDX-License-Identifier: MIT
// Rest data of a tet mesh that all methods for volumes need, in particle order.
#ifndef YW_METHODS_KIT_SOLID_H
#define YW_METHODS_KIT_SOLID_H

#include "yawara/extend/method.h"

typedef struct yw_solid {
  float* mass;  ///< kg
  yw_vec3* rest_positions;
  int32_t* particle_of_vertex;
  int32_t num_tets, num_triangles, num_surface;
  int32_t* tets;       ///< 4 per tet, particles
  int32_t* triangles;  ///< of the surface, facing outward
  int32_t* surface;    ///< particles on the surface, ascending
} yw_solid;

/// Fills in tets and surface; particle_of_vertex must be set. what: "a match model", for messages.
yw_status yw_solid_add_tets(yw_solid* solid, const yw_allocator* mem, const yw_tet_mesh* mesh,
                            const char* what, yw_error* error);
void yw_solid_free(yw_solid* solid, const yw_allocator* mem);
/// Continues `hash` with positions, masses and tets.
uint64_t yw_solid_hash(const yw_solid* solid, int32_t num_particles, uint64_t hash);
yw_contact_geometry yw_solid_contact_geometry(const yw_solid* solid);
/// Sets positions and masses of a new body.
void yw_solid_put_at_rest(const yw_solid* solid, yw_particles* particles);
/// Mean of |E|^2 over the volume at rest, with the Green strain E of the tets.
double yw_solid_mean_strain2(const yw_solid* solid, const yw_particles* particles);
/// YW_ERR_INVALID when there are too many example poses, or one is missing.
yw_status yw_solid_check_examples(int32_t count, const yw_vec3* const* examples, yw_error* error);
/// Copies the strengths of the examples, 0 to 1 each; given may be NULL, for 1.
yw_status yw_solid_take_strengths(int32_t count, const float* given, float* out, yw_error* error);
/// Adds them to the hash of a model, unless all are 1.
uint64_t yw_solid_hash_strengths(int32_t count, const float* strengths, uint64_t hash);

#endif
