// SPDX-License-Identifier: MIT
// How well tets fill the shape they were made from.
#ifndef YW_GEOMETRY_TET_FIT_H
#define YW_GEOMETRY_TET_FIT_H

#include "geometry/matter_cover.h"
#include "geometry/mesher_size.h"

/// Compares tets of the given sizes with finely sampled matter. lost (may be NULL) receives for
/// each cube of it whether it belongs to a part that is lost. YW_ERR_MEMORY is the only error.
yw_status yw_tet_fit_measure(const yw_size_field* sizes, const yw_matter_cover* cover,
                             const yw_tet_mesh* tets, yw_tet_fit* out, unsigned char* lost);

/// Adds a part that is lost, or that hangs (its length is 0), in order of volume.
void yw_tet_fit_add(yw_tet_fit* fit, yw_lost_part part);

#endif
