// SPDX-License-Identifier: MIT
// Data derived once from the connectivity of a body: boundary faces of tets, neighbours of
// triangles, sharp edges. Shared by all bodies with equal connectivity.
#ifndef YW_CONTACT_POINTS_TOPOLOGY_H
#define YW_CONTACT_POINTS_TOPOLOGY_H

#include "yawara/extend/method.h"

#define YW_POINT_LEAF 16   ///< tets per leaf
#define YW_POINT_GROUP 16  ///< sample points per group

/// A surface edge that is sharp at rest. Only these need edge-edge contacts, since round surfaces
/// touch with their vertices first.
typedef struct yw_point_edge {
  int32_t ends[2];
  int32_t opposite[2];  ///< third particles of the triangles on both sides
  int32_t tet;          ///< a tet with one of these triangles
} yw_point_edge;

typedef struct yw_point_topology {
  yw_allocator mem;
  uint64_t hash;
  int32_t users;
  bool is_volume;

  float size;  ///< m, mean edge of the surface at rest, or mean diameter of spheres

  // Sample points: surface particles of volumes, all particles of sphere bodies.
  int32_t num_points, num_groups;
  int32_t* points;  ///< of volumes; spheres are sorted in every step

  // Tets sorted along a space-filling curve, with the particles of each leaf of 16 listed once.
  // "Ordered" below refers to this order.
  int32_t num_tets, num_leaves;
  int32_t (*tets)[4];       ///< particles of ordered tets
  int32_t (*tet_faces)[4];  ///< surface triangles of an ordered tet, -1 where there is none
  int32_t* leaf_start;      ///< num_leaves + 1
  int32_t* leaf_particles;

  // Surface.
  int32_t num_triangles;
  int32_t (*triangles)[3];
  int32_t (*neighbors)[3];  ///< triangle across edge k, k + 1; -1 at holes
  int32_t* triangle_tet;    ///< ordered tet behind a triangle, -1 when it has none
  int32_t* point_of;        ///< particle -> sample point, -1 inside; num_particles entries
  int32_t num_particles;
  int32_t* fan_start;  ///< triangles around each sample point; num_points + 1
  int32_t* fan;

  int32_t num_edges;
  yw_point_edge* edges;
} yw_point_topology;

/// Hash of the arrays that a topology is made from.
uint64_t yw_point_topology_hash(const yw_contact_geometry* geometry, int32_t num_particles);
/// NULL when out of memory.
yw_point_topology* yw_point_topology_create(const yw_allocator* mem,
                                            const yw_contact_geometry* geometry,
                                            int32_t num_particles);
void yw_point_topology_destroy(yw_point_topology* topology);

/// Sorts keys ascending with their values; equal keys keep their order. scratch has count entries.
typedef struct yw_point_sort_item {
  uint64_t key;
  int32_t value;
} yw_point_sort_item;
void yw_point_sort_items(yw_point_sort_item* items, yw_point_sort_item* scratch, int32_t count);

/// Position on a Morton curve through the box, 10 bits per axis.
uint64_t yw_point_morton_code(yw_aabb box, yw_vec3 p);

#endif
