// SPDX-License-Identifier: MIT
// Theory of beams with rectangular cross-section, for comparison with tests.
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

/// Tip deflection per force at the tip, m/N: L^3 / 3EI plus 6/5 L / GA of shear (Timoshenko).
double beam_cantilever(const beam* b);
/// Tip deflection under its own weight per acceleration, m per m/s^2.
double beam_droop(const beam* b);

/// Frequency of a bending mode (1, 2, ...) along y, rad/s, with shear and rotary inertia
/// (Timoshenko, Cowper's shear factor), of a beam clamped at one end or free at both.
double beam_bending_frequency(const beam* b, int mode, bool clamped);
/// The same for torsion and axial vibration.
double beam_torsion_frequency(const beam* b, int mode, bool clamped);
double beam_axial_frequency(const beam* b, int mode, bool clamped);

/// The beam rotated by 90 degrees about its axis: it bends along z.
beam beam_turned(const beam* b);

#endif
