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
/// Triangles of a shape for pictures and exports: few and exact for boxes, few and smooth for
/// other primitives; vertices at sharp edges are there once per side, so that averaged normals look
/// right. Unions have the triangles of their parts, inside of each other too. Everything else is as
/// of yw_shape_surface, with the same errors.
YW_API yw_status yw_shape_tessellate(const yw_shape* shape, const yw_allocator* mem, float size,
                                     yw_tri_mesh* out, yw_error* error);

/// Wanted edge length of tets at a point, m; INFINITY, or 0 and less: any.
typedef float (*yw_size_function)(void* context, yw_vec3 point);

/// Settings of the tet mesher.
typedef struct yw_mesher_def {
  /// Edge length of the lattice where the shape is thick, m. It is halved, repeatedly if needed,
  /// where parts would be lost because they are thin. 0 (default): 1/12 of the longest side, less
  /// where parts are thin, and less everywhere until the volume is right to about 1 %, as far as
  /// max_tets allows.
  float size;
  int32_t max_vertices;  ///< larger meshes are refused; default 4,000,000
  /// Size 0: number of tets to stay below, to some 10 %; up to twice as many are made to keep what
  /// is thin, and with a given size, too. 0: the default, 30,000.
  int32_t max_tets;
  /// Where tets are to be smaller than elsewhere: cells are halved until they are at most a fifth
  /// larger than asked for. Called at some hundred thousand points, from one thread. The tets that
  /// it asks for are added to max_tets. NULL (default): none.
  yw_size_function size_at;
  void* size_context;  ///< handed to size_at
  /// Times by which cells away from the surface may be larger than size (or the one that is
  /// chosen): 1 (default), 2, 4 or 8.
  int32_t bulk;
} yw_mesher_def;
YW_API yw_mesher_def yw_default_mesher_def(void);
/// Fills a bounded shape with tets: body-centred lattice of one size, or of several that differ by
/// a factor of two from neighbour to neighbour, boundary snapped to the surface.
/// Planes of the lattice are shifted onto flat faces of the shape, so boxes and what is built of
/// them keep their edges.
YW_API yw_status yw_shape_tets(const yw_shape* shape, const yw_allocator* mem,
                               const yw_mesher_def* def, yw_tet_mesh* out, yw_error* error);

/// Matter of a shape that its tets miss because it is thin, or whose tets hang on the rest by
/// little more than half of its neck, or less.
typedef struct yw_lost_part {
  yw_vec3 center;   ///< m
  double volume;    ///< m^3; of parts far below 1 % of the shape only an upper bound
  float thickness;  ///< m, mean; of what hangs, the smallest at its neck
  float length;  ///< m, how far it reaches from the tets; INFINITY: not connected to them; 0: hangs
} yw_lost_part;

#define YW_MAX_LOST_PARTS 8

/// How well tets fill a shape.
typedef struct yw_tet_fit {
  float size;                            ///< of the tets, m
  double shape_volume;                   ///< m^3, sampled: to about 0.2 %
  double tet_volume;                     ///< m^3
  int32_t num_lost;                      ///< connected parts that are missing or hang
  double lost_volume;                    ///< m^3, of all that are missing
  yw_lost_part lost[YW_MAX_LOST_PARTS];  ///< the largest, in order of volume
} yw_tet_fit;
/// yw_shape_tets, which also says how well the tets fill the shape.
YW_API yw_status yw_shape_fill(const yw_shape* shape, const yw_allocator* mem,
                               const yw_mesher_def* def, yw_tet_mesh* out, yw_tet_fit* fit,
                               yw_error* error);
/// The factor by which a density must grow so that the tets have the mass of the shape: 1 if the
/// volumes agree to 0.5 %, which is as good as the sampled one is known.
YW_API double yw_tet_fit_density(const yw_tet_fit* fit);
/// Says what is lost, where, and what to do. density, kg/m^3, is that of the shape. Empty if the
/// volume is right to 10 % and nothing is lost. Returns the length.
YW_API int32_t yw_tet_fit_text(const yw_tet_fit* fit, double density, char* text, int32_t room);

#ifdef __cplusplus
}
#endif
#endif
