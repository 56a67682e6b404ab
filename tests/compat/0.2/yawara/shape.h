// SPDX-License-Identifier: MIT
// Shapes: signed distances that serve as body, region, selector and obstacle alike.
// A shape is immutable and reference counted; negative inside, metres.
#ifndef YAWARA_SHAPE_H
#define YAWARA_SHAPE_H

#include "base.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yw_shape yw_shape;

// Primitives, centred at the origin. Every length must be finite and > 0 (radius of a rounded box
// >= 0). Return YW_ERR_INVALID with *out = NULL otherwise. mem may be NULL (malloc); it must
// outlive the shape. A shape may be shared and asked by any number of threads.
YW_API yw_status yw_shape_sphere(const yw_allocator* mem, float radius, yw_shape** out);
YW_API yw_status yw_shape_box(const yw_allocator* mem, yw_vec3 half_size, yw_shape** out);
/// A box whose edges are rounded; half_size is the outer half size, radius <= smallest half size.
YW_API yw_status yw_shape_rounded_box(const yw_allocator* mem, yw_vec3 half_size, float radius,
                                      yw_shape** out);
YW_API yw_status yw_shape_capsule(const yw_allocator* mem, yw_vec3 a, yw_vec3 b, float radius,
                                  yw_shape** out);
/// Axis y, from -half_height to half_height.
YW_API yw_status yw_shape_cylinder(const yw_allocator* mem, float radius, float half_height,
                                   yw_shape** out);
/// Axis y; radii at the bottom and the top, one of them may be 0.
YW_API yw_status yw_shape_cone(const yw_allocator* mem, float bottom_radius, float top_radius,
                               float half_height, yw_shape** out);
/// Ring in the xz plane.
YW_API yw_status yw_shape_torus(const yw_allocator* mem, float ring_radius, float tube_radius,
                                yw_shape** out);
/// Half space: all points with normal . p <= offset. The normal need not have length 1.
YW_API yw_status yw_shape_plane(const yw_allocator* mem, yw_vec3 normal, float offset,
                                yw_shape** out);

// Combinations. They retain their children. smooth >= 0 is the width of the blend in metres, 0
// sharp: two surfaces blend where their distances differ by less than it, and where they are equal
// the result is smooth / 4 away from them. Blends of many shapes do not depend on their order; the
// 16 nearest take part at any point. YW_ERR_LIMIT when nested more than 64 deep, or when one
// evaluation would visit more than a million nodes (shared shapes count each time).
YW_API yw_status yw_shape_union(const yw_allocator* mem, int32_t count, yw_shape* const* shapes,
                                float smooth, yw_shape** out);
YW_API yw_status yw_shape_intersection(const yw_allocator* mem, int32_t count,
                                       yw_shape* const* shapes, float smooth, yw_shape** out);
/// First shape without all the others.
YW_API yw_status yw_shape_difference(const yw_allocator* mem, int32_t count,
                                     yw_shape* const* shapes, float smooth, yw_shape** out);
YW_API yw_status yw_shape_transform(const yw_allocator* mem, yw_shape* shape,
                                    yw_transform transform, yw_shape** out);
/// Grown (distance > 0) or shrunk by a distance.
YW_API yw_status yw_shape_offset(const yw_allocator* mem, yw_shape* shape, float distance,
                                 yw_shape** out);

/// The solid that a triangle mesh encloses: the points around which it winds more than half a time,
/// so holes, self-intersections and doubled faces are fine. Exact distance (bounding volume tree)
/// to the triangles that bound the solid; across holes an estimate that is zero where the winding
/// number is 1/2. A mesh that is inside out as a whole is turned; parts wound against the rest are
/// cavities. Triangles without area are tolerated. The mesh is copied. YW_ERR_GEOMETRY: no
/// triangles, no area, index out of range, NaN or infinity.
YW_API yw_status yw_shape_mesh(const yw_allocator* mem, const yw_tri_mesh* mesh, yw_shape** out,
                               yw_error* error);
/// The same distance sampled on a grid (trilinear), for obstacles that are asked millions of times.
/// spacing in metres; refused with YW_ERR_LIMIT above 512 M samples, with YW_ERR_GEOMETRY when the
/// shape is unbounded or empty. Outside the grid, which ends two cells from the solid, the value is
/// a lower bound.
YW_API yw_status yw_shape_sampled(const yw_allocator* mem, yw_shape* shape, float spacing,
                                  yw_shape** out, yw_error* error);

YW_API yw_shape* yw_shape_retain(yw_shape* shape);
YW_API void yw_shape_release(yw_shape* shape);  ///< NULL is fine

/// Signed distance at p: exact for primitives, inside and outside. In combinations it is never
/// larger than the true distance, and it never changes faster than the point moves.
YW_API float yw_shape_distance(const yw_shape* shape, yw_vec3 p);
/// Signed distance and unit outward normal (gradient). Where there is none (centre of a sphere),
/// one of the nearest directions, always the same.
YW_API float yw_shape_distance_normal(const yw_shape* shape, yw_vec3 p, yw_vec3* normal);
/// Box around the solid; false when it is unbounded (planes) and then out is infinite there. Tight
/// for primitives however turned, never too small for combinations; lower > upper when empty.
YW_API bool yw_shape_bounds(const yw_shape* shape, yw_aabb* out);

/// Triangle surface of a shape with edges of about size metres (closed, consistently wound).
YW_API yw_status yw_shape_surface(const yw_shape* shape, const yw_allocator* mem, float size,
                                  yw_tri_mesh* out, yw_error* error);

/// Settings of the tet mesher.
typedef struct yw_mesher_def {
  float size;            ///< edge length of the lattice, m; 0: a 12th of the longest side
  int32_t max_vertices;  ///< refuse beyond; default 4,000,000
} yw_mesher_def;
YW_API yw_mesher_def yw_default_mesher_def(void);
/// Uniform tets of a bounded shape: body-centred lattice, boundary snapped to the surface.
YW_API yw_status yw_shape_tets(const yw_shape* shape, const yw_allocator* mem,
                               const yw_mesher_def* def, yw_tet_mesh* out, yw_error* error);

#ifdef __cplusplus
}
#endif
#endif
