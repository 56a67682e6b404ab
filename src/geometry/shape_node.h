// SPDX-License-Identifier: MIT
// Storage of a shape: one node per primitive, combination or transform. Included by shape*.c, and
// by devices, which evaluate copies of the nodes.
#ifndef YW_GEOMETRY_SHAPE_NODE_H
#define YW_GEOMETRY_SHAPE_NODE_H

#ifdef __cplusplus
typedef int atomic_int;  // of the same size; devices do not count references
#else
#include <stdatomic.h>
#endif

#include "yawara/extend/vec.h"
#include "yawara/shape.h"

/// Maximum depth of the tree. Evaluation recurses, so this bounds the stack.
#define YW_SHAPE_MAX_DEPTH 64
/// Maximum number of nodes visited by one evaluation. Shared children count each time they are
/// visited: a chain of unions of a shape with itself would otherwise take 2^depth evaluations.
#define YW_SHAPE_MAX_VISITS 1000000

typedef enum yw_shape_kind {
  YW_SHAPE_SPHERE,
  YW_SHAPE_BOX,
  YW_SHAPE_CAPSULE,
  YW_SHAPE_CYLINDER,
  YW_SHAPE_CONE,
  YW_SHAPE_TORUS,
  YW_SHAPE_PLANE,
  YW_SHAPE_UNION,
  YW_SHAPE_INTERSECTION,
  YW_SHAPE_DIFFERENCE,
  YW_SHAPE_TRANSFORM,
  YW_SHAPE_OFFSET,
  YW_SHAPE_MESH,
  YW_SHAPE_SAMPLED
} yw_shape_kind;

typedef struct yw_shape_ball {
  yw_vec3 center;
  float radius;
} yw_shape_ball;

/// inner + radius is the outer half size; radius is 0 for a sharp box.
typedef struct yw_shape_brick {
  yw_vec3 inner;
  float radius;
} yw_shape_brick;

typedef struct yw_shape_pill {
  yw_vec3 a, ab;      ///< one end, and the vector to the other
  float inv_length2;  ///< of ab; 0 if the ends coincide
  float radius;
  yw_vec3 side;  ///< any unit vector perpendicular to the axis: the normal on the axis
} yw_shape_pill;

typedef struct yw_shape_can {
  float radius, half_height;
} yw_shape_can;

/// Profile in (distance from the axis, y): slant from (bottom, -half_height) to (top, half_height)
/// with unit outward normal (normal_r, normal_y).
typedef struct yw_shape_frustum {
  float bottom, top, half_height;
  float normal_r, normal_y;
  float length;  ///< of the slant
} yw_shape_frustum;

typedef struct yw_shape_ring {
  float ring, tube;
  float spike;  ///< y where the tube crosses the axis; 0 if it does not
} yw_shape_ring;

typedef struct yw_shape_half_space {
  yw_vec3 normal;
  float offset;
} yw_shape_half_space;

typedef struct yw_shape_group {
  float smooth;
  int32_t count;
  yw_shape** children;  ///< in the same memory block as the node
} yw_shape_group;

/// local = to_local * (p - position); to_local = rotation^T / scale.
typedef struct yw_shape_placed {
  yw_shape* child;
  yw_mat3 to_local;
  yw_mat3 rotation;
  yw_vec3 position;
  float scale;
} yw_shape_placed;

typedef struct yw_shape_grown {
  yw_shape* child;
  float distance;
} yw_shape_grown;

typedef struct yw_mesh_solid yw_mesh_solid;
typedef struct yw_distance_grid yw_distance_grid;

struct yw_shape {
  yw_shape_kind kind;
  union {
    yw_shape_ball ball;
    yw_shape_brick brick;
    yw_shape_pill pill;
    yw_shape_can can;
    yw_shape_frustum frustum;
    yw_shape_ring ring;
    yw_shape_half_space half_space;
    yw_shape_group group;
    yw_shape_placed placed;
    yw_shape_grown grown;
    yw_mesh_solid* mesh;
    yw_distance_grid* grid;
  } as;
  yw_aabb bounds;
  int32_t depth;   ///< 1 for a leaf
  int32_t visits;  ///< nodes that one evaluation visits
  atomic_int references;
  yw_allocator mem;
};

/// A node of the given kind with one reference, followed by `extra` bytes; NULL if out of memory.
yw_shape* yw_shape_new(const yw_allocator* mem, yw_shape_kind kind, size_t extra);
/// Largest direction . p over the points with distance <= level: never too small, and exact for
/// primitives (with a unit direction). -inf if there are no such points, inf if unbounded.
double yw_shape_support(const yw_shape* shape, const double direction[3], double level);
/// Fills shape->bounds from the support function.
void yw_shape_set_bounds(yw_shape* shape);

// The two heavy leaves live in shape_mesh.c and shape_sampled.c.
float yw_mesh_solid_distance(const yw_mesh_solid* mesh, yw_vec3 p);
float yw_mesh_solid_distance_normal(const yw_mesh_solid* mesh, yw_vec3 p, yw_vec3* normal);
/// See yw_shape_gap.
float yw_mesh_solid_gap(const yw_mesh_solid* mesh, yw_vec3 p, yw_vec3* normal);
/// Fastest if consecutive points of the batch are close in space.
void yw_mesh_solid_distance_many(const yw_mesh_solid* mesh, int32_t count, const yw_vec4* points,
                                 float* distance);
double yw_mesh_solid_support(const yw_mesh_solid* mesh, const double direction[3]);
uint64_t yw_mesh_solid_hash(const yw_mesh_solid* mesh, uint64_t seed);
void yw_mesh_solid_free(const yw_allocator* mem, yw_mesh_solid* mesh);

float yw_distance_grid_distance(const yw_distance_grid* grid, yw_vec3 p);
float yw_distance_grid_distance_normal(const yw_distance_grid* grid, yw_vec3 p, yw_vec3* normal);
yw_aabb yw_distance_grid_solid_box(const yw_distance_grid* grid);
uint64_t yw_distance_grid_hash(const yw_distance_grid* grid, uint64_t seed);
void yw_distance_grid_free(const yw_allocator* mem, yw_distance_grid* grid);

#endif
