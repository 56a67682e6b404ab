// SPDX-License-Identifier: MIT
// Strains of a triangle of oriented particles and their first derivatives; symbols as in model.h.
#ifndef YW_METHODS_SLENDER_SHEET_ENERGY_H
#define YW_METHODS_SLENDER_SHEET_ENERGY_H

#include "methods/slender/slender.h"

/// e11, e22, e12 (stretch); b11, b22, b12 (bending); gamma of three edges; delta of three
/// particles.
#define SHEET_STRAINS 12

typedef struct sheet_state {
  double x[3][3], n[3][3];  ///< positions and directors of the corners
  double tau[2][3][3];      ///< tangents that rotate with the particles: axis, corner
  double f[2][3], b[2][3];  ///< columns of F and B
  double r[3][3];           ///< columns of R, and the normal
  double s[3];              ///< S: 11, 22, 12
  double strain[SHEET_STRAINS];
  double stress[SHEET_STRAINS];        ///< dE/dstrain, J
  double jacobian[SHEET_STRAINS][18];  ///< of the strains; R is held fixed in those of stretch
} sheet_state;

void yw_sheet_strains(const sheet_triangle* triangle, const slender_pose* pose, sheet_state* out);
/// K of each group of three strains: stress = K strain.
void yw_sheet_stiffness(const sheet_triangle* triangle, double k[SHEET_STRAINS / 3][9]);

#endif
