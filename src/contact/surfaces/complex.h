// SPDX-License-Identifier: MIT
// The surface of a body as contact sees it: vertices, edges and triangles, in leaves of up to 16
// triangles (or segments of rods, or loose points) that are close at rest. Derived once from the
// connectivity and shared by all bodies that have the same.
#ifndef YW_CONTACT_SURFACES_COMPLEX_H
#define YW_CONTACT_SURFACES_COMPLEX_H

#include "yawara/extend/method.h"

#define YW_CONTACT_LEAF 16  ///< triangles, segments or points per leaf

/// Where the parts of a leaf begin in the arrays of the complex. A vertex or edge belongs to the
/// first leaf that has a triangle with it.
typedef struct yw_complex_leaf {
  int32_t vertex, edge, triangle;
  int32_t block;  ///< of boxes, see leaf_boxes.h
} yw_complex_leaf;

typedef struct yw_complex {
  yw_allocator mem;
  uint64_t hash;
  int32_t users;
  int32_t num_particles;
  bool is_volume;  ///< its triangles face outward and enclose matter
  bool is_loose;   ///< points without a rest shape, sorted anew in every step
  float size;      ///< m, mean edge of the surface at rest, or mean diameter of loose points
  float longest;   ///< m, longest edge of a thick surface at rest

  int32_t num_leaves;
  yw_complex_leaf* leaves;  ///< num_leaves + 1
  int32_t num_vertices, num_edges, num_triangles;
  int32_t* vertices;             ///< particles
  int32_t* place_of_vertex;      ///< per particle: its index among them; 0 where it has none
  int32_t (*edges)[2];           ///< particles; the same one twice for loose points
  int32_t (*triangles)[3];       ///< particles
  int32_t (*edge_triangles)[2];  ///< on both sides; -1: none
  int32_t (*edge_thirds)[2];     ///< third corners of these triangles; -1: none
  int32_t (*triangle_edges)[3];  ///< edge k joins the corners k and k + 1
  int32_t* triangle_of_vertex;   ///< per particle: its first triangle; -1: none
  int32_t (*next_edges)[2];      ///< of segments: the one that continues at each end; -1: none
  yw_vec4* rest;                 ///< per particle of thick surfaces: where it is at rest
  struct yw_patches* patches;    ///< where bodies touch themselves; otherwise NULL
  int32_t num_hanging;
  int32_t (*hanging)[3];  ///< as in yw_contact_geometry
  int32_t (*parents)[2];  ///< per particle: whose mean it is; -1: free. NULL: nothing hangs
} yw_complex;

/// Hash of the arrays that a complex is made from.
uint64_t yw_complex_hash(const yw_contact_geometry* geometry, int32_t num_particles);
/// NULL when out of memory.
yw_complex* yw_complex_create(const yw_allocator* mem, const yw_contact_geometry* geometry,
                              int32_t num_particles);
void yw_complex_destroy(yw_complex* complex);

#endif
