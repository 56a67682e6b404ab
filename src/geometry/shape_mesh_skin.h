// SPDX-License-Identifier: MIT
// Which triangles of a mesh bound its solid, and where their normals alone distinguish inside from
// outside.
#ifndef YW_GEOMETRY_SHAPE_MESH_SKIN_H
#define YW_GEOMETRY_SHAPE_MESH_SKIN_H

#include "geometry/shape_mesh_normals.h"
#include "geometry/winding.h"

/// Per triangle, in the caller's order.
typedef struct yw_mesh_skin {
  yw_allocator mem;
  bool* use;           ///< false: entirely inside the solid
  int32_t num_unused;  ///< number of false entries
  /// Bit k is set if the part with corners k (see yw_nearest) is clear: the solid is behind the
  /// normal there and nothing crosses it, so a point whose nearest point is on that part is inside
  /// exactly if it is behind it.
  uint8_t* clear_parts;
} yw_mesh_skin;

/// turn is -1 if the mesh is inside out, else 1.
yw_status yw_mesh_skin_create(const yw_winding* winding, const yw_mesh_normals* normals, float turn,
                              yw_mesh_skin* out);
void yw_mesh_skin_free(yw_mesh_skin* skin);

#endif
