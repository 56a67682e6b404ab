// SPDX-License-Identifier: MIT
// Generalised winding numbers of triangle soups: how often the triangles wind around a point. 1
// inside and 0 outside a closed mesh; in between near the holes of an open one.
#ifndef YW_GEOMETRY_WINDING_H
#define YW_GEOMETRY_WINDING_H

#include "geometry/triangle_tree.h"

/// Far-field approximation of a node.
typedef struct yw_dipole {
  yw_vec3 center;  ///< area-weighted
  float reach2;    ///< closer than the square root of this, its children are used
  yw_vec3 normal;  ///< sum of areas times unit normals
} yw_dipole;

/// One dipole per node of a tree, which must outlive it.
typedef struct yw_winding {
  const yw_triangle_tree* tree;
  yw_dipole* dipoles;
} yw_winding;

/// beta: distance, in radii of a node, beyond which its dipole is accurate enough. On bunny, spot,
/// cow and teapot the largest error is 0.08 at 2, 0.055 at 2.3, 0.03 at 3; the time grows with its
/// square.
yw_status yw_winding_create(const yw_triangle_tree* tree, float beta, yw_winding* out);
void yw_winding_free(yw_winding* winding);

/// gradient may be NULL.
float yw_winding_number(const yw_winding* winding, yw_vec3 p, yw_vec3* gradient);
/// The exact sum over all triangles, for small meshes and tests.
float yw_winding_number_exact(const yw_winding* winding, yw_vec3 p);

#endif
