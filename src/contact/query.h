// SPDX-License-Identifier: MIT
// The surface of a body for queries: its triangles, segments or balls under a tree of boxes, which
// is refitted when the body has moved.
#ifndef YW_CONTACT_QUERY_H
#define YW_CONTACT_QUERY_H

#include "contact/box_walk.h"
#include "yawara/extend/method.h"

#define YW_QUERY_LEAF 4  ///< primitives per leaf

typedef struct yw_query_surface {
  yw_allocator mem;
  int32_t corners;   ///< of a primitive: 3 triangles, 2 segments, 1 balls
  int32_t count;     ///< primitives
  bool is_volume;    ///< its triangles enclose matter
  bool is_loose;     ///< balls without a rest shape: sorted anew in every fit
  int32_t* items;    ///< particles of the primitives, in the order of the tree
  int32_t* numbers;  ///< their numbers in the order of the body
  yw_aabb* nodes;
  yw_box_tree tree;
  const yw_vec4* pos;   ///< of the particles, as last fitted
  const float* radius;  ///< NULL: thin
} yw_query_surface;

/// Makes the surface of a body for its current connectivity, not yet fitted. NULL: out of memory.
yw_query_surface* yw_query_surface_create(const yw_allocator* mem,
                                          const yw_contact_geometry* geometry,
                                          const yw_particles* particles);
void yw_query_surface_destroy(yw_query_surface* surface);  ///< NULL is fine
/// Fits the tree to where the particles are, which must stay there while it is used. False: out of
/// memory (loose balls only).
bool yw_query_surface_fit(yw_query_surface* surface, const yw_contact_geometry* geometry,
                          const yw_particles* particles);

/// What was found on a surface.
typedef struct yw_query_find {
  int32_t item;      ///< primitive in the order of the tree; -1: none
  float share;       ///< casts: of the way; others: m, distance from the surface, > 0 outside
  float weights[3];  ///< of its corners
  yw_vec3 point;     ///< on the surface
  yw_vec3 normal;    ///< out of the body
} yw_query_find;

/// Share of the way (at most `most`) at which it enters the box, with room for rounding; INFINITY:
/// it does not.
float yw_query_enter_box(yw_aabb box, yw_vec3 from, yw_vec3 way, float most);

/// First touch of a ball (radius 0: a ray) on its way, up to and including the share `most`. Where
/// several primitives are as near, the one with the least number counts. A thick primitive in which
/// the way starts is met at share 0.
yw_query_find yw_query_cast(const yw_query_surface* surface, yw_vec3 from, yw_vec3 way,
                            float radius, float most);
/// The nearest surface, up to and including the distance `most`.
yw_query_find yw_query_nearest(const yw_query_surface* surface, yw_vec3 p, float most);
/// True when a volume contains the point: the parity of crossings along x.
bool yw_query_contains(const yw_query_surface* surface, yw_vec3 p);
/// The primitive that meets the box and is nearest to its centre.
yw_query_find yw_query_box(const yw_query_surface* surface, yw_vec3 center, yw_vec3 half,
                           yw_quat rotation);

#endif
