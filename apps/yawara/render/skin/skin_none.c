// SPDX-License-Identifier: MIT
// Built without OpenVDB.
#include "render/skin/skin.h"
#include "yawara/extend/error.h"

skin_def skin_default_def(void) { return (skin_def){.voxel = 0.5f, .smoothing = 1, .fair = true}; }

yw_status skin_available(yw_error* error) {
  return yw_fail(
      error, YW_ERR_INVALID,
      "this build of yawara makes no skins of particles: it was built without OpenVDB. "
      "Install it (Debian: apt-get install libopenvdb-dev libboost-dev) and build again");
}

yw_status skin_make(const skin_def* def, yw_tri_mesh* out, yw_error* error) {
  (void)def;
  *out = (yw_tri_mesh){0};
  return skin_available(error);
}
