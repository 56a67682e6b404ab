// SPDX-License-Identifier: MIT
// A surface around balls that is quick enough for every frame. Distances to a mean of the balls
// nearby (Zhu and Bridson 2005, "Animating sand as a fluid", section 5) on a grid, and the dual
// surface of it (surface nets: a vertex per cell that it passes through).
#ifndef YW_WEB_WRAP_H
#define YW_WEB_WRAP_H

#include "yawara/base.h"

/// Zero-initialised: empty. Keeps its memory from frame to frame.
typedef struct wrap {
  int32_t num_vertices, num_triangles;
  yw_vec3 *positions, *normals;
  int32_t* triangles;  ///< 3 vertices each, facing outwards
  int32_t* owners;     ///< ball that is nearest to each vertex

  // Scratch
  size_t num_cells, vertex_capacity, triangle_capacity;
  float* sums;       ///< of each grid point: weight, weighted position and radius
  float* distance;   ///< of each grid point
  int32_t* nearest;  ///< ball at each grid point
  float* weight;     ///< of that ball
  int32_t* vertex;   ///< of each cell; -1: none
} wrap;

/// False if out of memory. Balls that are not finite are left out.
bool wrap_make(wrap* s, int32_t count, const yw_vec3* positions, const float* radii);
void wrap_free(wrap* s);

#endif
