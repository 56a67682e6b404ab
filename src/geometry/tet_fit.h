// SPDX-License-Identifier: MIT
// How well tets fill the shape they were made from.
#ifndef YW_GEOMETRY_TET_FIT_H
#define YW_GEOMETRY_TET_FIT_H

#include "geometry/matter.h"

/// Compares tets of the given size with finely sampled matter. YW_ERR_MEMORY is the only error.
yw_status yw_tet_fit_measure(const yw_matter* matter, const yw_tet_mesh* tets, double size,
                             yw_tet_fit* out);

#endif
