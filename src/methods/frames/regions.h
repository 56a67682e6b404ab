// SPDX-License-Identifier: MIT
// Regions of a volume in double precision: the parts of a frames body's energy.
//
// Region r contains the particles member[start[r]] .. member[start[r + 1] - 1]; the first is its
// origin. With x the positions of the members,
//   A   = sum x g^T          linear map: least squares for cells, the volume average of the
//                            gradients of the tets around a vertex for rings (sum of g is 0)
//   t   = mean of x (cells) or position of the origin (rings)
//   E_r = V [mu |A - R|^2 + lambda/2 (tr S - 3)^2] + share sum k |x - t|^2 - 1/2 tr(A N A^T)
// The last two terms keep members from moving against A. They form a constant quadratic form
// (share is 1/2 for cells and 1/4 for rings, where every pair of vertices is counted twice):
//   cells  gamma (3 mu V / tr M) sum |p - A q|^2, k = 2 gamma 3 mu V / tr M, N = k M
//   rings  gamma mu sum_t V_t/4 |F_t - A|^2, k = -2 gamma sum_t mu_t V_t grad_i . grad_r,
//          N = 2 gamma mu V
// Where tets of different materials meet at a vertex, each material has a ring of its own there: a
// mean over both would be as stiff in series as it is in parallel.
// DIFFERS: for rings, the notes have sum w |p - A q|^2 here too. The variance of the gradients
// costs half as much, since k lives on the edges of the mesh, and bends equally well.
#ifndef YW_METHODS_FRAMES_REGIONS_H
#define YW_METHODS_FRAMES_REGIONS_H

#include "yawara/extend/method.h"
#include "yawara/frames.h"

/// Weight of the terms that keep members from moving against A. Tuned on bent bars of 5 x 1 x 1.
#define FRAMES_GAMMA_CELLS 0.15
#define FRAMES_GAMMA_RINGS 0.12

/// One member of one region.
typedef struct frames_entry {
  double g[3];  ///< 1/m
  double k;     ///< N/m
} frames_entry;

typedef struct frames_regions {
  yw_allocator mem;
  yw_frames_kind kind;
  int32_t num_regions, num_particles;
  int32_t* start;   ///< num_regions + 1
  int32_t* member;  ///< particles (vertices of the mesh)
  frames_entry* entries;
  double* volume;  ///< m^3
  double* mu;      ///< Pa
  double* lambda;  ///< Pa
  double (*n)[6];  ///< N: xx, yy, zz, xy, xz, yz, in N m
  double* mass;    ///< kg per particle
  double share;    ///< of the spring terms
} frames_regions;

/// Lame's coefficients of a material.
static inline double yw_lame_mu(double youngs, double poisson) {
  return youngs / (2.0 * (1.0 + poisson));
}
static inline double yw_lame_lambda(double youngs, double poisson) {
  return youngs * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
}

/// Checks materials, cells and mesh, and builds the regions; gamma <= 0: the default.
yw_status yw_frames_regions_create(const yw_allocator* mem, const yw_frames_def* def, double gamma,
                                   frames_regions* out, yw_error* error);
void yw_frames_regions_free(frames_regions* regions);

#endif
