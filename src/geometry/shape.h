// SPDX-License-Identifier: MIT
// Internal part of shapes: distances of many points at once, and a hash.
//
// Both batch functions give the same bits as yw_shape_distance and yw_shape_distance_normal (for
// mesh shapes: the same up to rounding), but switch over the kind of shape once per batch instead
// of once per point. w of the points is ignored.
#ifndef YW_GEOMETRY_SHAPE_H
#define YW_GEOMETRY_SHAPE_H

#include "yawara/extend/vec.h"
#include "yawara/shape.h"

/// As yw_shape_distance_normal, except that both results may have the opposite sign, so that p -
/// distance * normal is the same point. Of triangle meshes this takes less time.
float yw_shape_gap(const yw_shape* shape, yw_vec3 p, yw_vec3* normal);

void yw_shape_distance_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                            float* out_distance);
/// Normals are unit vectors with w = 0.
void yw_shape_distance_normal_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                                   float* out_distance, yw_vec4* out_normal);

/// Few triangles a little inside the surface of a shape, *inset deep; parts of unions may pass
/// through each other. None if the shape is unbounded or empty.
yw_status yw_shape_triangles(const yw_shape* shape, const yw_allocator* mem, yw_tri_mesh* out,
                             float* inset);

/// Hash of everything the distances depend on. Takes time proportional to the triangles or samples
/// of the shape.
uint64_t yw_shape_hash(const yw_shape* shape);

#endif
