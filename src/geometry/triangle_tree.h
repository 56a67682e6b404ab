// SPDX-License-Identifier: MIT
// A tree of boxes over triangles that finds the nearest triangle to a point. Flat arrays with
// siblings next to each other, built and traversed without recursion.
#ifndef YW_GEOMETRY_TRIANGLE_TREE_H
#define YW_GEOMETRY_TRIANGLE_TREE_H

#include "yawara/extend/vec.h"

/// Upper bound of the depth, for any triangles.
#define YW_TREE_MAX_DEPTH 80

/// Inner node: count 0, children first and first + 1. Leaf: triangles first .. first + count - 1.
typedef struct yw_tree_node {
  yw_vec3 lower;
  int32_t first;
  yw_vec3 upper;
  int32_t count;
} yw_tree_node;

typedef struct yw_tree_triangle {
  yw_vec3 a, b, c;
  int32_t index;  ///< in the caller's array
  bool is_flat;   ///< negligible area: represented by its edges
} yw_tree_triangle;

typedef struct yw_triangle_tree {
  yw_allocator mem;
  int32_t num_nodes, num_triangles;
  yw_tree_node* nodes;          ///< children come after their parent
  yw_tree_triangle* triangles;  ///< in the order of the leaves
} yw_triangle_tree;

/// Where on a triangle the nearest point lies: bit k is set for corner k, so 7 is the inside, 3 the
/// edge ab, 4 the corner c.
typedef struct yw_nearest {
  int32_t triangle;  ///< in tree order; -1 if none is near enough
  int32_t corners;
  float distance2;
  yw_vec3 point;
} yw_nearest;

/// triangles: 3 vertices each, all in range. use (may be NULL) selects the triangles, at least one.
yw_status yw_triangle_tree_create(const yw_allocator* mem, int32_t num_triangles,
                                  const int32_t* triangles, const yw_vec3* positions,
                                  const bool* use, yw_triangle_tree* out);
void yw_triangle_tree_free(yw_triangle_tree* tree);

/// Fits the boxes to the same triangles in other positions; the tree keeps its structure.
void yw_triangle_tree_refit(yw_triangle_tree* tree, const int32_t* triangles,
                            const yw_vec3* positions);

/// The nearest point at a squared distance below limit2 (INFINITY: anywhere).
yw_nearest yw_triangle_tree_nearest(const yw_triangle_tree* tree, yw_vec3 p, float limit2);

/// Nearest point of one triangle.
yw_vec3 yw_triangle_nearest(const yw_tree_triangle* triangle, yw_vec3 p, int32_t* corners);

#endif
