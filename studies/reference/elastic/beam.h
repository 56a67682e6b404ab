// SPDX-License-Identifier: MIT
// Beams of rectangular section in theory: what experiments are measured against.
#ifndef YW_STUDIES_REFERENCE_ELASTIC_BEAM_H
#define YW_STUDIES_REFERENCE_ELASTIC_BEAM_H

#include <stdbool.h>

/// A bar along x; it bends along y.
typedef struct beam {
  double length, depth, width;  ///< m: along x, y, z
  double youngs_modulus;        ///< Pa
  double poissons_ratio;
  double density;  ///< kg/m^3
} beam;

double beam_area(const beam* b);           ///< m^2
double beam_shear_modulus(const beam* b);  ///< Pa
double beam_bending(const beam* b);        ///< EI, N m^2
double beam_torsion(const beam* b);        ///< GJ, N m^2 (Saint-Venant's series)

/// Tip deflection for a force at the tip, m/N: L^3 / 3EI and 6/5 L / GA of shear (Timoshenko).
double beam_cantilever(const beam* b);
/// Tip deflection for its own weight under an acceleration of 1, m per m/s^2.
double beam_droop(const beam* b);

/// Frequency of a bending mode (1, 2, ...), rad/s, with shear and rotary inertia (Timoshenko,
/// shear factor of Cowper), of a beam clamped at one end or free at both. Along y.
double beam_bending_frequency(const beam* b, int mode, bool clamped);
/// The same of twisting and stretching.
double beam_torsion_frequency(const beam* b, int mode, bool clamped);
double beam_axial_frequency(const beam* b, int mode, bool clamped);

/// The beam turned by 90 degrees about its axis: it bends along z.
beam beam_turned(const beam* b);

#endif
