// SPDX-License-Identifier: MIT
// A closed surface around a cloud of balls, for pictures and exports. Uses OpenVDB if the program
// was built with it. The same balls give the same surface on any number of threads.
#ifndef YW_APP_RENDER_SKIN_SKIN_H
#define YW_APP_RENDER_SKIN_SKIN_H

#include <stdbool.h>

#include "plugins/plugin.h"
#include "yawara/base.h"
#include "yawara/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct skin_def {
  int32_t count;
  const yw_vec3* positions;  ///< m
  const float* radii;        ///< m, > 0; half the distance between neighbours
  float voxel;               ///< side of the voxels / mean radius, 0.2 to 1; default 0.5
  int32_t smoothing;         ///< passes of a Gaussian filter, 0 to 8; default 1
  bool fair;                 ///< see skin_fair.h; default true
  /// A surface that is shown where `parted`, one value per ball, is 0; the skin where it is 1, and
  /// what lies between them where it is between. Of an open one the solid that it encloses counts.
  /// surface may be NULL, or hardly enclose anything: the skin everywhere.
  const yw_tri_mesh* surface;
  const float* parted;
} skin_def;
skin_def skin_default_def(void);

/// Checks that the program was built with OpenVDB, and opens the library that makes skins; if not,
/// error says what to install.
yw_status skin_available(yw_error* error);
/// A mesh around the balls, facing outwards; empty without balls. Free it with yw_tri_mesh_free.
yw_status skin_make(const skin_def* def, yw_tri_mesh* out, yw_error* error);

// The same, in the library (skin_openvdb.cpp).
#define SKIN_MAKE PLUGIN_NAME(skin_make)
typedef yw_status (*skin_make_fn)(const skin_def* def, yw_tri_mesh* out, yw_error* error);

#ifdef __cplusplus
}
#endif
#endif
