// SPDX-License-Identifier: MIT
// Turns the user's description of the material into matrices for all tets of all levels: evaluated
// at the finest tets, sampled for the coarse ones, kept in a cache.
#ifndef YW_METHODS_FEM_MAKE_MATERIALS_H
#define YW_METHODS_FEM_MAKE_MATERIALS_H

#include "methods/fem/materials.h"
#include "methods/fem/sampling.h"
#include "yawara/fem.h"

typedef struct fem_material_def {
  yw_fem_material material;  ///< everywhere, or the initial value for `at`
  yw_fem_material_at at;     ///< NULL: the same everywhere
  void* context;
  const int32_t* labels;     ///< of the roots; NULL: all 0
  const char* cache_folder;  ///< NULL: no cache
  fem_sampling_def sampling;
} fem_material_def;

/// Young's moduli of one level (of the nearest isotropic matrices).
typedef struct fem_level_moduli {
  double smallest, mean, largest;  ///< Pa; mean by volume
  int32_t fallen_back;             ///< tets with faces kept linear, see fem_sampled
} fem_level_moduli;

typedef struct fem_material_data {
  yw_allocator mem;
  fem_materials view;  ///< points into the arrays below
  float *stiffness, *damping, *density;
  fem_range* range;       ///< per parent; NULL: no limits
  float longest_damping;  ///< s, largest ratio of damping to stiffness; 0 without damping matrices
  bool cached;            ///< the matrices of coarse tets came from the cache
  fem_level_moduli levels[FEM_MAX_LEVEL + 1];
} fem_material_data;

/// YW_WARN_CACHE, with the reason in error, if a cache exists but is unusable. An impossible
/// stiffness, density or damping is refused with its value and location.
yw_status yw_fem_materials_make(const yw_allocator* mem, const fem_hierarchy* hierarchy,
                                const fem_material_def* def, fem_material_data* out,
                                yw_error* error);
void yw_fem_materials_free(fem_material_data* data);

#endif
