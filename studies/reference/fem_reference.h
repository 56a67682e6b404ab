// SPDX-License-Identifier: MIT
// A plain scalar loop over the finest tets in double precision, F S tet by tet: the reference for
// the speed of the family kernels.
#ifndef YW_STUDIES_REFERENCE_FEM_REFERENCE_H
#define YW_STUDIES_REFERENCE_FEM_REFERENCE_H

#include "yawara/mesh.h"

typedef struct fem_reference fem_reference;

/// Isotropic St. Venant-Kirchhoff material on a mesh; rest: 3 per vertex. NULL if out of memory.
fem_reference* fem_reference_create(const yw_tet_mesh* mesh, const double* rest,
                                    double youngs_modulus, double poissons_ratio);
void fem_reference_destroy(fem_reference* reference);  ///< NULL is allowed
/// positions and forces: 3 per vertex.
void fem_reference_forces(const fem_reference* reference, const double* positions, double* forces);

#endif
