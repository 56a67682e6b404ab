// SPDX-License-Identifier: MIT
// Shapes, the part that only the library uses: distances of many points at once, and a hash.
//
// Both functions for many points give the same bits as yw_shape_distance and
// yw_shape_distance_normal (for mesh shapes: the same up to rounding); the switch over the kinds of
// shape is taken once per batch, not once per point. w of the points is ignored.
#ifndef YW_GEOMETRY_SHAPE_H
#define YW_GEOMETRY_SHAPE_H

#include "yawara/extend/vec.h"
#include "yawara/shape.h"

void yw_shape_distance_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                            float* out_distance);
/// Normals have length 1 and w = 0.
void yw_shape_distance_normal_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                                   float* out_distance, yw_vec4* out_normal);

/// Of everything that the distances depend on. Takes time in proportion to the triangles or samples
/// of the shape.
uint64_t yw_shape_hash(const yw_shape* shape);

#endif
