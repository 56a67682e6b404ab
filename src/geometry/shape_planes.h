// SPDX-License-Identifier: MIT
// The flat faces of a shape's primitives: sides of sharp boxes, caps of cylinders and cones,
// planes.
#ifndef YW_GEOMETRY_SHAPE_PLANES_H
#define YW_GEOMETRY_SHAPE_PLANES_H

#include "geometry/tet_math.h"
#include "yawara/extend/memory.h"
#include "yawara/shape.h"

/// The points with normal . p = offset.
typedef struct yw_flat_face {
  yw_dvec3 normal;
  double offset;
  double area;  ///< of the primitive's face, m^2; 0 if it has no end
} yw_flat_face;

typedef YW_LIST(yw_flat_face) yw_flat_faces;

/// Adds the faces of all primitives that are combined without blends, as far as there is room for a
/// few thousand. False if out of memory.
bool yw_shape_flat_faces(const yw_allocator* mem, const yw_shape* shape, yw_flat_faces* out);

/// A sharp box.
typedef struct yw_placed_box {
  yw_dvec3 center, axis[3];
  double half[3];  ///< m
} yw_placed_box;

typedef YW_LIST(yw_placed_box) yw_placed_boxes;

/// The same for sharp boxes.
bool yw_shape_sharp_boxes(const yw_allocator* mem, const yw_shape* shape, yw_placed_boxes* out);

#endif
