// SPDX-License-Identifier: MIT
// Sums over the particles of a body, in double precision and in the order of the particles.
#ifndef YW_WORLD_SUMS_H
#define YW_WORLD_SUMS_H

#include "yawara/extend/method.h"

typedef struct yw_motion_sums {
  double mass;         ///< m
  double kinetic;      ///< m v^2 / 2
  double moment[3];    ///< m x
  double momentum[3];  ///< m v
} yw_motion_sums;

typedef struct yw_sum_kernels {
  yw_motion_sums (*motion)(const yw_particles* p);
  /// Returns the mass; momentum: m v.
  double (*momentum)(const yw_particles* p, double momentum[3]);
  /// spin: m (x - center) x v.
  void (*spin)(const yw_particles* p, const double center[3], double spin[3]);
} yw_sum_kernels;

extern const yw_sum_kernels yw_sum_kernels_plain, yw_sum_kernels_avx2, yw_sum_kernels_avx512;

#endif
