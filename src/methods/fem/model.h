// SPDX-License-Identifier: MIT
// Rest data of fem bodies: the hierarchy, its material, and tables shared by all bodies.
#ifndef YW_METHODS_FEM_MODEL_H
#define YW_METHODS_FEM_MODEL_H

#include "methods/fem/batches.h"
#include "methods/fem/fragile.h"
#include "methods/fem/make_materials.h"
#include "yawara/extend/vec.h"
#include "yawara/fem.h"

typedef struct fem_model {
  yw_allocator mem;
  fem_hierarchy h;
  fem_materials materials;
  fem_material_data material_data;  ///< owner of the material arrays; also valid ranges of strain
  fem_tables tables;
  double* fine_mass;       ///< kg per node, at the finest level
  yw_vec3* rest;           ///< m, per node
  uint8_t* surface_faces;  ///< per tet of every level: bit k, the face opposite slot k is outside
  bool* on_surface;        ///< per node
  float level_step[FEM_MAX_LEVEL + 1];  ///< s, stable step of the tets of each level at rest
  /// The same if the tets of this level are softened and those of coarser levels may be not; at
  /// least level_step.
  float soft_step[FEM_MAX_LEVEL + 1];
  float steepest;        ///< 1/m, largest gradient of a barycentric function, of tets of level 0
  float crossing_time;   ///< s, that shear waves take through the body, about
  float moved_mass;      ///< share of the mass that was moved to small tets
  float damping_time;    ///< s, largest ratio of damping to stiffness matrices
  fem_fragile* fragile;  ///< NULL: it never breaks
  yw_fem_params params;
  uint64_t hash;
} fem_model;

/// Longest stable step of a tet with this material, s.
double yw_fem_stable_step(const fem_shape* shape, double gradient_scale, const float c[FEM_MATRIX],
                          double density);

/// The same of a softened family of a tet of level 0, with K of soften.h; half of it per level.
double yw_fem_family_step(const fem_hierarchy* h, int32_t root, int type,
                          const float* const c[FEM_FAMILY_CHILDREN], const float part[FEM_MATRIX],
                          double density);

/// Masses and stable steps; up to a share `scaling` of the mass goes to tets that need short steps.
/// tasks may be NULL.
bool yw_fem_find_masses(fem_model* model, double scaling, yw_tasks* tasks);

yw_status yw_fem_params_check(const yw_fem_params* params, int32_t max_level, yw_error* error);
yw_status yw_fem_model_create(const yw_allocator* mem, const yw_fem_def* def, void** out,
                              yw_error* error);
void yw_fem_model_destroy(void* model);
void yw_fem_model_info(const void* model, yw_fem_info* out);

#endif
