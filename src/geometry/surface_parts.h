// SPDX-License-Identifier: MIT
// Surfaces of files as they come: which of their triangles face the wrong way.
#ifndef YW_GEOMETRY_SURFACE_PARTS_H
#define YW_GEOMETRY_SURFACE_PARTS_H

#include "yawara/base.h"
#include "yawara/mesh.h"

/// Turns over what cannot be meant: triangles that face other sides than their neighbours, and
/// closed parts that face the other way than the rest and are no cavities. Surfaces without these
/// keep their bits, also where parts lie inside of each other. *num_turned: how many triangles.
/// YW_ERR_GEOMETRY: an index is out of range. YW_ERR_MEMORY.
yw_status yw_tri_mesh_mend(yw_tri_mesh* mesh, int32_t* num_turned);

#endif
