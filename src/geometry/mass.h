// SPDX-License-Identifier: MIT
// Volume, centre and second moments of the solid inside a closed surface.
#ifndef YW_GEOMETRY_MASS_H
#define YW_GEOMETRY_MASS_H

#include "yawara/mesh.h"
#include "yawara/shape.h"

/// Integrals over a solid, about the origin.
typedef struct yw_solid_moments {
  double volume;     ///< m^3
  double first[3];   ///< m^4, of x, y, z
  double second[6];  ///< m^5, of xx, yy, zz, xy, xz, yz
} yw_solid_moments;

/// Exact for a closed surface, by the divergence theorem; negative when it is inside out.
yw_solid_moments yw_surface_moments(const yw_tri_mesh* surface);
/// Of the solid that the surface approximates: its triangles are split and their new corners moved
/// to the shape, and the results extrapolated.
yw_solid_moments yw_shape_moments(const yw_tri_mesh* surface, const yw_shape* shape);

/// The first edge that triangles do not pass equally often in both directions; false: closed.
bool yw_surface_open_edge(const yw_tri_mesh* surface, const yw_allocator* mem, int32_t edge[2],
                          yw_status* status);

/// Second moments about the centre become principal moments of inertia per density: eigenvalues
/// (m^5) and the rotation (x, y, z, w) of the axes.
void yw_principal_axes(const double inertia[6], double moments[3], double rotation[4]);

#endif
