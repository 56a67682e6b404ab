// SPDX-License-Identifier: MIT
// Subdivision of a tet mesh to a number of levels. Imai, Yue, Chen, Nishita, "Adaptive
// Deformation Simulation of Inhomogeneous Elastic Objects", appendix A.
//
// A tet has four label slots 0..3. Its type is A, or T_t with its apex in slot t (the paper's b, c,
// d, e are T_2, T_3, T_1, T_0). Every descendant of a root is a translate of one of five shapes,
// scaled by +-2^-level: five shape matrices per root serve all of them.
#ifndef YW_METHODS_FEM_HIERARCHY_H
#define YW_METHODS_FEM_HIERARCHY_H

#include "geometry/tet_math.h"

#define FEM_TYPES 5
#define FEM_MAX_LEVEL 8
#define FEM_FAMILY_NODES 11  ///< in a family of 12; a family of 7 has 10
#define FEM_FAMILY_CHILDREN 12

enum { FEM_A = 0, FEM_T0, FEM_T1, FEM_T2, FEM_T3 };

/// How a child is formed: slot s of the child is node local[s] of the family. Local nodes are the
/// corners 0..3 of the parent, the midpoints 4..9 of its edges 01 02 03 12 13 23, and its centre
/// 10 (type A only).
typedef struct fem_child_rule {
  uint8_t type;
  int8_t sign;  ///< relative to the parent
  uint8_t local[4];
} fem_child_rule;

/// Rules for the children of a tet of this type, 12 (A) or 7 (T); returns their number.
int yw_fem_child_rules(int type, fem_child_rule rules[FEM_FAMILY_CHILDREN]);
static inline int yw_fem_num_children(int type) { return type == FEM_A ? 12 : 7; }
static inline int yw_fem_num_family_nodes(int type) { return type == FEM_A ? 11 : 10; }

/// The two local nodes of the family whose midpoint is node 4 + edge.
extern const uint8_t yw_fem_edges[6][2];

/// A node: given (level 0), the midpoint of an edge, or the centre of a tet of type A.
typedef struct fem_node {
  /// The node is the mean of: -1 four times (given), two ends and -1 twice, or four corners.
  int32_t parents[4];
  /// Number of tets of level born - 1 around a midpoint's edge; 0 for given nodes and centres.
  int32_t ring;
  int32_t born;  ///< first level that has this node
} fem_node;

/// Gradients of the four barycentric functions of a tet, 1/m, and its volume, m^3.
typedef struct fem_shape {
  double gradient[4][3];
  double volume;
} fem_shape;

/// All levels of a subdivided mesh. Tets are numbered level by level, the children of one parent
/// consecutively in the order of their rules; nodes likewise, so that parents precede the nodes
/// derived from them.
typedef struct fem_hierarchy {
  yw_allocator mem;
  int32_t max_level;
  int32_t num_roots, num_tets, num_nodes;
  int32_t max_nodes;                       ///< num_nodes, and room for the copies that cracks make
  int32_t num_parents;                     ///< tets below the finest level: 0 .. num_parents - 1
  int32_t level_start[FEM_MAX_LEVEL + 2];  ///< tets of level l: [l], .. < [l + 1]
  int32_t node_level_start[FEM_MAX_LEVEL + 2];  ///< nodes born at level l

  // Per tet.
  uint8_t* type;
  int8_t* sign;
  uint8_t* level;
  int32_t* root;
  int32_t* parent;       ///< -1 for roots
  int32_t* first_child;  ///< -1 at the finest level
  int32_t (*nodes)[4];   ///< in slot order

  int32_t (*family)[FEM_FAMILY_NODES];  ///< per parent: local nodes; the last is -1 for T
  fem_node* node;
  yw_dvec3* rest;                  ///< per node, m
  fem_shape (*shapes)[FEM_TYPES];  ///< per root: the five shapes at level 0 with sign +1
} fem_hierarchy;

/// Tets of all levels and of the finest, nodes, and approximate memory of a model and one body.
typedef struct fem_size {
  double tets, finest, nodes, bytes;
} fem_size;
fem_size yw_fem_estimate(int32_t num_roots, int32_t max_level);

/// Subdivides the mesh; max_bytes limits the estimate (0: no limit). Roots that are inverted, flat,
/// duplicated or not conforming face to face are refused.
yw_status yw_fem_hierarchy_create(const yw_allocator* mem, const yw_tet_mesh* mesh,
                                  int32_t max_level, double max_bytes, fem_hierarchy* out,
                                  yw_error* error);
void yw_fem_hierarchy_free(fem_hierarchy* hierarchy);

/// Number of children of a parent.
static inline int32_t yw_fem_children_of(const fem_hierarchy* h, int32_t tet) {
  return yw_fem_num_children(h->type[tet]);
}

/// m^3
static inline double yw_fem_volume(const fem_hierarchy* h, int32_t tet) {
  return h->shapes[h->root[tet]][h->type[tet]].volume / (double)(1ll << (3 * h->level[tet]));
}

/// True if the slots of a tet, in order, form a positive tet; if not, swap two.
static inline bool yw_fem_is_positive(const fem_hierarchy* h, int32_t tet) {
  return (h->sign[tet] > 0) == (h->type[tet] == FEM_A);
}

/// Factor from the gradients of the shape to those of the tet's barycentric functions.
static inline double yw_fem_gradient_scale(const fem_hierarchy* h, int32_t tet) {
  return (double)h->sign[tet] * (double)(1ll << h->level[tet]);
}

/// The tets of a level as a mesh of the nodes born until then, every tet positive.
yw_status yw_fem_level_mesh(const yw_allocator* mem, const fem_hierarchy* hierarchy, int32_t level,
                            yw_tet_mesh* out, yw_error* error);
/// The finest tets as a mesh of all nodes.
yw_status yw_fem_finest_mesh(const yw_allocator* mem, const fem_hierarchy* hierarchy,
                             yw_tet_mesh* out, yw_error* error);

/// Reports where the roots do not conform: faces of more than two tets, vertices inside the faces
/// or edges of others. The mesh must have passed yw_tet_mesh_check.
yw_status yw_fem_check_conformity(const yw_allocator* mem, const yw_tet_mesh* mesh,
                                  yw_error* error);

#endif
