// SPDX-License-Identifier: MIT
// The material as the fem solver sees it: filled by sampling, read by the forces.
#ifndef YW_METHODS_FEM_MATERIALS_H
#define YW_METHODS_FEM_MATERIALS_H

#include "yawara/base.h"

#define FEM_MATRIX 21  ///< entries of a symmetric 6x6 matrix

/// Upper triangle by rows: C11 C12 .. C16 C22 .. C66. Strains are (E11 E22 E33 2E23 2E13 2E12),
/// stresses (S11 S22 S33 S23 S13 S12): *engineering* shear.
static inline int yw_fem_matrix_at(int row, int column) {
  int i = row < column ? row : column, j = row < column ? column : row;
  return i * 6 - i * (i + 1) / 2 + j;
}

/// Material of all tets of all levels. Arrays are in the order of the hierarchy's tets and belong
/// to their creator. If a pointer is NULL, the single value next to it applies to all tets.
typedef struct fem_materials {
  float uniform_stiffness[FEM_MATRIX];  ///< Pa
  const float* stiffness;               ///< FEM_MATRIX per tet of every level, Pa; or NULL
  /// Damping, stress per strain rate, Pa s: this time (s) times the stiffness, or matrices.
  float damping_time;
  const float* damping;   ///< FEM_MATRIX per tet of every level; NULL: use damping_time
  float uniform_density;  ///< kg/m^3
  const float* density;   ///< per tet of the finest level, from level_start[max_level] on; or NULL
} fem_materials;

/// C of an isotropic material.
static inline void yw_fem_isotropic(double youngs_modulus, double poissons_ratio,
                                    float c[FEM_MATRIX]) {
  double lambda =
      youngs_modulus * poissons_ratio / ((1.0 + poissons_ratio) * (1.0 - 2.0 * poissons_ratio));
  double mu = youngs_modulus / (2.0 * (1.0 + poissons_ratio));
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) {
      double value = i < 3 && j < 3 ? lambda : 0.0;
      if (i == j) value += i < 3 ? 2.0 * mu : mu;
      c[yw_fem_matrix_at(i, j)] = (float)value;
    }
  }
}

#endif
