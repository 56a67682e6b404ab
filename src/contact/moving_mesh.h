// SPDX-License-Identifier: MIT
// A triangle mesh that moves on its own: two-sided, with a thickness, so that holes and triangles
// that cross each other do not matter. Vertices move along straight lines from where they are at
// the start of a substep to where they are at its end.
#ifndef YW_CONTACT_MOVING_MESH_H
#define YW_CONTACT_MOVING_MESH_H

#include "contact/box_tree.h"
#include "geometry/mesh_moment.h"
#include "yawara/extend/memory.h"

#define YW_MESH_LEAF 4  ///< triangles per leaf

typedef struct yw_moving_mesh {
  int32_t num_vertices, num_triangles;
  int32_t (*triangles)[3];    ///< neighbours near each other
  yw_mesh_moment begin, end;  ///< both ends of the substep; points are in the obstacle's axes
  float radius;               ///< m, half of the thickness
  bool moves;                 ///< begin and end differ
  /// Of all places between the frames around `covers`, which begin and end are two of: it is seldom
  /// fitted, and where the mesh is exactly is computed where somebody looks. No result depends on
  /// these boxes.
  yw_box_tree tree;
  yw_aabb* reaches;  ///< the same per vertex
  yw_mesh_moment covers[2];
  yw_aabb box;  ///< of the places between the frames around begin and end
} yw_moving_mesh;

/// Sorts triangles along a space-filling curve through `points` and makes the tree. False: out of
/// memory.
bool yw_moving_mesh_create(const yw_allocator* mem, const int32_t* triangles, int32_t num_triangles,
                           const yw_vec3* points, int32_t num_points, yw_moving_mesh* out);
void yw_moving_mesh_free(const yw_allocator* mem, yw_moving_mesh* mesh);
/// Fits the tree to the frames around begin and end, if it does not cover them.
void yw_moving_mesh_fit(yw_moving_mesh* mesh);
/// Rounding of places in a box, and of distances from them, m.
float yw_moving_mesh_rounding(yw_aabb box);

/// A place on the mesh.
typedef struct yw_mesh_place {
  int32_t triangle;
  float weights[3];  ///< of its corners
  yw_vec3 normal;    ///< unit vector from there to the point that asked
  float distance;    ///< m, from the middle of the triangle
} yw_mesh_place;

/// The nearest place within `most` of p, `at` (0 to 1) of the substep; false: there is none.
bool yw_moving_mesh_nearest(const yw_moving_mesh* mesh, float at, yw_vec3 p, float most,
                            yw_mesh_place* out);
/// Where a place is.
yw_vec3 yw_moving_mesh_point(const yw_moving_mesh* mesh, const yw_mesh_place* place, float at);
/// How far it moves in the substep.
yw_vec3 yw_moving_mesh_way(const yw_moving_mesh* mesh, const yw_mesh_place* place);
/// True when the motion of some triangle comes as near as `reach` to the box.
bool yw_moving_mesh_near_box(const yw_moving_mesh* mesh, yw_aabb box, float reach);

/// A ball on a straight line, during a part of the substep.
typedef struct yw_mesh_path {
  yw_vec3 from, to;
  float begin, end;  ///< 0 to 1, of the substep
  float radius;      ///< m, of the ball
  float rounding;    ///< m, of distances here
} yw_mesh_path;

/// Where a ball first touches.
typedef struct yw_mesh_touch {
  float share;          ///< of the path
  float gap;            ///< m, at the start of the path; negative within the thickness
  yw_mesh_place place;  ///< at that moment
} yw_mesh_touch;

/// The first triangle in the way of the ball; of several the one with the deepest start. False when
/// it passes none and does not end in one.
bool yw_moving_mesh_sweep(const yw_moving_mesh* mesh, const yw_mesh_path* path, yw_mesh_touch* out);
/// Where the ball touches on its whole way, or comes within `margin` at the start: at most
/// `capacity` touches that face different ways. gap is that to the plane of the touch.
int32_t yw_moving_mesh_touches(const yw_moving_mesh* mesh, const yw_mesh_path* path, float margin,
                               int32_t capacity, yw_mesh_touch* out);

#endif
