// SPDX-License-Identifier: MIT
// An obstacle as contact of surfaces sees it: triangles that move as given, so that faces and edges
// of bodies meet it too, and not only their vertices (contact/obstacles.h). The triangles lie a
// little inside of what vertices meet, by as much as contact keeps surfaces apart: where vertices
// rest, nothing else acts.
#ifndef YW_WORLD_OBSTACLE_SURFACE_H
#define YW_WORLD_OBSTACLE_SURFACE_H

#include "contact/bodies.h"
#include "contact/obstacles.h"
#include "yawara/shape.h"

typedef struct yw_obstacle_surface {
  yw_contact_geometry geometry;
  yw_particles particles;  ///< all held
  yw_vec4* begin;          ///< at the start of the substep
  yw_vec3* rest;           ///< m, in the obstacle's axes
  int32_t* triangles;
  float* radius;               ///< of meshes; NULL: a shape
  float skin;                  ///< m, kept by bodies
  const yw_moving_mesh* mesh;  ///< NULL: a shape
  yw_contact_source source;    ///< if it is large, for this substep
  float h;                     ///< s, of this substep
  yw_transform still;          ///< pose in which it was placed
  bool is_still;               ///< at both ends of the substep
  uint64_t places;             ///< how often it was moved
} yw_obstacle_surface;

/// *out is NULL for shapes that vertices alone are enough for (half spaces). YW_ERR_MEMORY.
yw_status yw_obstacle_surface_create(const yw_allocator* mem, const yw_shape* shape,
                                     const yw_moving_mesh* mesh, yw_obstacle_surface** out);
void yw_obstacle_surface_destroy(const yw_allocator* mem, yw_obstacle_surface* surface);
/// Contact asks for the places of large ones (source) instead of having all.
bool yw_obstacle_surface_is_large(const yw_obstacle_surface* surface);
/// Brings it to both ends of a substep of h seconds, large ones when contact asks for it.
void yw_obstacle_surface_place(yw_obstacle_surface* surface, const yw_obstacle* obstacle, float h);

#endif
