// SPDX-License-Identifier: MIT
// Energy of a frames body, its gradient and its second derivative, in double: for statics and
// fitting, and as the reference for the kernels. Symbols as in regions.h.
#ifndef YW_METHODS_FRAMES_ENERGY_H
#define YW_METHODS_FRAMES_ENERGY_H

#include "methods/frames/regions.h"

/// Second derivative of V [mu |A - R S~|^2 + lambda/2 (tr S - tr S~)^2] with respect to A; S~ is 1
/// for the material itself:
///   W = R^T dA,   dP = R (2 mu W - [omega] S~ + lambda tr W),   omega = turn . axial(W S~)
/// where turn = 2 mu (1 - ...) H^-1 with H the resistance of A S~ to rotation.
typedef struct frames_tangent {
  double r[9];
  double target[6];    ///< S~
  double turn[6];      ///< kappa H^-1 V
  double mu2, lambda;  ///< 2 mu V and lambda V
} frames_tangent;

/// Pull of the examples: E = (1 - beta) E_rest + beta E_target.
typedef struct frames_targets {
  double (*stretch)[6];  ///< S~ per region
  double beta;
} frames_targets;

typedef enum frames_hessian {
  FRAMES_EXACT,    ///< the true second derivative; may be indefinite
  FRAMES_DEFINITE  ///< the rotation part is limited so that no eigenvalue is negative
} frames_hessian;

/// Tangents per region: 1, or 2 with targets.
static inline int32_t yw_frames_parts(const frames_targets* targets) { return targets ? 2 : 1; }

/// Energy at x (3 numbers per particle), J. gradient (3 numbers per particle, overwritten),
/// tangents (parts per region) and targets may be NULL.
double yw_frames_energy(const frames_regions* regions, const frames_targets* targets,
                        const double* x, double* gradient, frames_tangent* tangents,
                        frames_hessian hessian);

/// out = (second derivative) dx.
void yw_frames_apply(const frames_regions* regions, const frames_tangent* tangents, int32_t parts,
                     const double* dx, double* out);

/// The 3x3 blocks on the diagonal of the second derivative, symmetric, 6 numbers per particle.
void yw_frames_diagonal(const frames_regions* regions, const frames_tangent* tangents,
                        int32_t parts, double* out);

/// A_r = sum x g^T of one region.
void yw_frames_map(const frames_regions* regions, int32_t r, const double* x, double a[9]);

#endif
