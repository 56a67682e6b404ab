// SPDX-License-Identifier: MIT
// Shapes: signed distance functions used for bodies, regions, selections and obstacles. A shape is
// immutable and reference counted. Distances are in metres, negative inside.
#ifndef YAWARA_SHAPE_H
#define YAWARA_SHAPE_H

#include "base.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yw_shape yw_shape;

// Primitives, centred at the origin. Every length must be finite and > 0 (radius of a rounded box
// >= 0); otherwise YW_ERR_INVALID is returned and *out is NULL. mem may be NULL (malloc); it must
// outlive the shape. Any number of threads may share and query a shape.
YW_API yw_status yw_shape_sphere(const yw_allocator* mem, float radius, yw_shape** out);
YW_API yw_status yw_shape_box(const yw_allocator* mem, yw_vec3 half_size, yw_shape** out);
/// A box with rounded edges; half_size is the outer half size, radius <= smallest half size.
YW_API yw_status yw_shape_rounded_box(const yw_allocator* mem, yw_vec3 half_size, float radius,
                                      yw_shape** out);
YW_API yw_status yw_shape_capsule(const yw_allocator* mem, yw_vec3 a, yw_vec3 b, float radius,
                                  yw_shape** out);
/// Axis y, from -half_height to half_height.
YW_API yw_status yw_shape_cylinder(const yw_allocator* mem, float radius, float half_height,
                                   yw_shape** out);
/// Axis y; one of the two radii may be 0.
YW_API yw_status yw_shape_cone(const yw_allocator* mem, float bottom_radius, float top_radius,
                               float half_height, yw_shape** out);
/// Ring in the xz plane.
YW_API yw_status yw_shape_torus(const yw_allocator* mem, float ring_radius, float tube_radius,
                                yw_shape** out);
/// Half-space: all points with normal . p <= offset. The normal need not be a unit vector.
YW_API yw_status yw_shape_plane(const yw_allocator* mem, yw_vec3 normal, float offset,
                                yw_shape** out);

// Combinations. They retain their children. smooth >= 0 is the width of the blend in metres; 0 is
// sharp. Two surfaces blend where their distances differ by less than this; where the distances are
// equal, the result is smooth / 4 away from both. Blends of many shapes do not depend on their
// order; at any point the 16 nearest contribute. YW_ERR_LIMIT if nested more than 64 deep, or if
// one evaluation would visit more than a million nodes (shared shapes count each time).
YW_API yw_status yw_shape_union(const yw_allocator* mem, int32_t count, yw_shape* const* shapes,
                                float smooth, yw_shape** out);
YW_API yw_status yw_shape_intersection(const yw_allocator* mem, int32_t count,
                                       yw_shape* const* shapes, float smooth, yw_shape** out);
/// The first shape minus all the others.
YW_API yw_status yw_shape_difference(const yw_allocator* mem, int32_t count,
                                     yw_shape* const* shapes, float smooth, yw_shape** out);
YW_API yw_status yw_shape_transform(const yw_allocator* mem, yw_shape* shape,
                                    yw_transform transform, yw_shape** out);
/// Grows (distance > 0) or shrinks (distance < 0) a shape; metres.
YW_API yw_status yw_shape_offset(const yw_allocator* mem, yw_shape* shape, float distance,
                                 yw_shape** out);

/// The solid enclosed by a triangle mesh: all points with winding number above 1/2, so holes,
/// self-intersections and duplicate faces are fine. The distance to the triangles that bound the
/// solid is exact (bounding volume tree); across holes it is an estimate that is zero where the
/// winding number is 1/2. A mesh that is inside out as a whole is flipped; parts wound against the
/// rest are cavities. Triangles without area are tolerated. The mesh is copied. YW_ERR_GEOMETRY: no
/// triangles, no area, index out of range, NaN or infinity.
YW_API yw_status yw_shape_mesh(const yw_allocator* mem, const yw_tri_mesh* mesh, yw_shape** out,
                               yw_error* error);
/// The distance of a shape sampled on a grid (trilinear), for obstacles that are queried millions
/// of times. spacing is in metres. YW_ERR_LIMIT above 512 M samples; YW_ERR_GEOMETRY if the shape
/// is unbounded or empty. The grid extends two cells beyond the solid; outside it the value is a
/// lower bound.
YW_API yw_status yw_shape_sampled(const yw_allocator* mem, yw_shape* shape, float spacing,
                                  yw_shape** out, yw_error* error);

YW_API yw_shape* yw_shape_retain(yw_shape* shape);
YW_API void yw_shape_release(yw_shape* shape);  ///< shape may be NULL

/// Signed distance at p: exact for primitives, inside and outside. For combinations it never
/// exceeds the true distance. Its Lipschitz constant is 1.
YW_API float yw_shape_distance(const yw_shape* shape, yw_vec3 p);
/// Signed distance and unit outward normal (gradient). Where the gradient is undefined (centre of a
/// sphere), the normal is one of the nearest directions, always the same.
YW_API float yw_shape_distance_normal(const yw_shape* shape, yw_vec3 p, yw_vec3* normal);
/// Bounding box of the solid. Tight for primitives in any orientation, never too small for
/// combinations; lower > upper if empty. Returns false if the solid is unbounded (planes); out is
/// then infinite in those directions.
YW_API bool yw_shape_bounds(const yw_shape* shape, yw_aabb* out);

/// Triangle surface of a shape, closed and consistently wound, with edges of about `size` metres.
YW_API yw_status yw_shape_surface(const yw_shape* shape, const yw_allocator* mem, float size,
                                  yw_tri_mesh* out, yw_error* error);

/// Settings of the tet mesher.
typedef struct yw_mesher_def {
  float size;            ///< edge length of the lattice, m; 0 (default): yw_shape_tet_size
  int32_t max_vertices;  ///< larger meshes are refused; default 4,000,000
  int32_t max_tets;      ///< size 0: number of tets to stay below, to some 10 %; default 30,000
} yw_mesher_def;
YW_API yw_mesher_def yw_default_mesher_def(void);
/// The size that a mesh gets if none is given: 1/12 of the longest side, or half the thickness of
/// the thinnest part that matters (1 % of the volume), or less until the volume is right to about
/// 1 %, as far as max_tets allows. Takes as long as the mesh itself.
YW_API yw_status yw_shape_tet_size(const yw_shape* shape, const yw_allocator* mem,
                                   const yw_mesher_def* def, float* out, yw_error* error);
/// Fills a bounded shape with uniform tets: body-centred lattice, boundary snapped to the surface.
/// Planes of the lattice are shifted onto flat faces of the shape, so boxes and what is built of
/// them keep their edges.
YW_API yw_status yw_shape_tets(const yw_shape* shape, const yw_allocator* mem,
                               const yw_mesher_def* def, yw_tet_mesh* out, yw_error* error);

#ifdef __cplusplus
}
#endif
#endif
