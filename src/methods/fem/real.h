// SPDX-License-Identifier: MIT
// Number type of positions and velocities in the front: float in the library. Tests include the
// sources of the front with FEM_DOUBLE to show that its conservation errors are only rounding.
#ifndef YW_METHODS_FEM_REAL_H
#define YW_METHODS_FEM_REAL_H

#include "yawara/extend/vec.h"

#ifdef FEM_DOUBLE
typedef double fem_real;
typedef struct fem_vec4 {
  double x, y, z, w;
} fem_vec4;
#define yw_fem_carry_masses yw_fem_carry_masses_double
#define yw_fem_carry_forces yw_fem_carry_forces_double
#define yw_fem_follow yw_fem_follow_double
#define yw_fem_follow_one yw_fem_follow_one_double
#define yw_fem_is_mean yw_fem_is_mean_double
#define yw_fem_carry_one yw_fem_carry_one_double
#define yw_fem_follow_all yw_fem_follow_all_double
#define yw_fem_motion_of yw_fem_motion_of_double
#define yw_fem_restore_motion yw_fem_restore_motion_double
#define yw_fem_switch yw_fem_switch_double
#else
typedef float fem_real;
typedef yw_vec4 fem_vec4;
#endif

#endif
