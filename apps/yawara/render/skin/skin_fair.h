// SPDX-License-Identifier: MIT
// Takes bumps and steps of a lattice out of a skin.
#ifndef YW_APP_RENDER_SKIN_SKIN_FAIR_H
#define YW_APP_RENDER_SKIN_SKIN_FAIR_H

#include "yawara/base.h"
#include "yawara/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Moves the vertices of a closed mesh around balls of this mean radius (m), each by less than the
/// radius. The enclosed volume stays. strength (may be NULL: 1) says for every vertex how much of
/// its way it goes, 0 to 1.
yw_status skin_fair(yw_tri_mesh* mesh, float radius, const float* strength);

#ifdef __cplusplus
}
#endif
#endif
