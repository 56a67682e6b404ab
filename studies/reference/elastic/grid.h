// SPDX-License-Identifier: MIT
// Meshes of linear or quadratic tets in double, with loads on their boundary: the basis of
// small-strain tests with any solver.
#ifndef YW_STUDIES_REFERENCE_ELASTIC_GRID_H
#define YW_STUDIES_REFERENCE_ELASTIC_GRID_H

#include "yawara/mesh.h"

/// Nodes 0 .. num_vertices - 1 are the vertices of the tet mesh; those of edges follow. Elements
/// have 4 or 10 nodes (corners, then edges 01 12 02 03 13 23, as CalculiX numbers them), faces 3 or
/// 6 (corners counter-clockwise from outside, then edges 01 12 20).
typedef struct elastic_grid {
  int32_t order;  ///< 1 or 2
  int32_t num_nodes, num_elements, num_faces;
  double (*nodes)[3];  ///< m
  int32_t* elements;
  int32_t* faces;          ///< of the boundary
  double low[3], high[3];  ///< m, box around the nodes
} elastic_grid;

/// order 1: the mesh itself; 2: with a node at the midpoint of every edge.
yw_status elastic_grid_create(const yw_tet_mesh* mesh, int32_t order, elastic_grid* out,
                              yw_error* error);
/// Frees the arrays and zeroes the struct; safe on a zeroed struct.
void elastic_grid_free(elastic_grid* grid);

static inline int32_t elastic_corners(const elastic_grid* grid) {
  return grid->order == 1 ? 4 : 10;
}
static inline int32_t elastic_face_nodes(const elastic_grid* grid) {
  return grid->order == 1 ? 3 : 6;
}

/// Adds the force per area at a point, N/m^2, to t.
typedef void (*elastic_traction)(const void* context, const double place[3], double t[3]);

/// Adds the consistent forces (3 per node) of a traction on the faces whose nodes all have
/// coordinate `axis` within `slack` of `at`. Exact for quadratic tractions. Returns the area.
double elastic_load_face(const elastic_grid* grid, int axis, double at, double slack,
                         elastic_traction traction, const void* context, double* forces);

/// True if two coordinates are equal up to the rounding of float positions.
bool elastic_is_at(const elastic_grid* grid, double a, double b);
/// The node at a point, or -1.
int32_t elastic_node_at(const elastic_grid* grid, double x, double y, double z);

#endif
