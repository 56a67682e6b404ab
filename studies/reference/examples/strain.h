// SPDX-License-Identifier: MIT
// Green strains of linear tets, and the energy, forces and stiffness of tets whose rest strain is
// given. Strains are 6-vectors (xx, yy, zz, sqrt2 xy, sqrt2 yz, sqrt2 zx), so that their Euclidean
// norm is the norm of the matrix.
#ifndef YW_STUDIES_REFERENCE_EXAMPLES_STRAIN_H
#define YW_STUDIES_REFERENCE_EXAMPLES_STRAIN_H

#include "yawara/mesh.h"

typedef struct strain_tet {
  int32_t v[4];
  double volume;
  double g[4][3];  ///< gradients of the shape functions: F = sum x_a g_a^T
} strain_tet;

/// What a tet's energy is made of, Pa.
typedef struct strain_moduli {
  double young, volume;
} strain_moduli;

/// False if a tet is flat.
bool strain_rest(const yw_tet_mesh* mesh, strain_tet* out);

/// F, row-major, from 3 numbers per vertex.
void strain_gradient(const strain_tet* tet, const double* x, double f[9]);
/// E = (F^T F - 1) / 2
void strain_green(const double f[9], double e[6]);
/// F^T dF made symmetric: how the strain changes with the deformation gradient.
void strain_change(const double f[9], const double df[9], double e[6]);

/// Energy for a stress young * (E - target): V (young / 2 |E - target|^2 + volume / 2 (J - 1)^2).
double strain_energy(const strain_tet* tet, strain_moduli moduli, const double f[9],
                     const double target[6]);
/// Adds its gradient to 3 numbers per vertex.
void strain_add_gradient(const strain_tet* tet, strain_moduli moduli, const double f[9],
                         const double target[6], double* out);
/// Its second derivatives, 12 x 12, or without those of strain and volume (never indefinite).
void strain_stiffness(const strain_tet* tet, strain_moduli moduli, const double f[9],
                      const double target[6], bool whole, double out[144]);

#endif
