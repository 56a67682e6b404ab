// SPDX-License-Identifier: MIT
// Boxes of the primitives of a body, leaf by leaf: those of its vertices, of its triangles, and of
// its edges, each in blocks of their own, so that what a pair of leaves needs is read in one go.
#ifndef YW_CONTACT_SURFACES_LEAF_BOXES_H
#define YW_CONTACT_SURFACES_LEAF_BOXES_H

#include "contact/surfaces/complex.h"
#include "contact/surfaces/near.h"

static inline int32_t yw_box_blocks(int32_t count) {
  return (count + YW_BOX_BLOCK - 1) / YW_BOX_BLOCK;
}

/// Says where the blocks of each leaf begin; their number is that of the end of the leaves.
static inline void yw_leaf_place_boxes(yw_complex* c) {
  c->leaves[0].block = 0;
  for (int32_t i = 0; i < c->num_leaves; ++i) {
    const yw_complex_leaf *l = &c->leaves[i], *end = l + 1;
    c->leaves[i + 1].block = l->block + yw_box_blocks(end->vertex - l->vertex) +
                             yw_box_blocks(end->triangle - l->triangle) +
                             yw_box_blocks(end->edge - l->edge);
  }
}

/// The first blocks of the vertices, triangles and edges of a leaf.
static inline int32_t yw_leaf_vertex_block(const yw_complex_leaf* l) { return l->block; }
static inline int32_t yw_leaf_triangle_block(const yw_complex_leaf* l) {
  return l->block + yw_box_blocks(l[1].vertex - l->vertex);
}
static inline int32_t yw_leaf_edge_block(const yw_complex_leaf* l) {
  return l[1].block - yw_box_blocks(l[1].edge - l->edge);
}

/// Boxes of a leaf among all of its body; nothing is asked about them yet.
static inline yw_near_boxes yw_leaf_vertices(const yw_complex_leaf* l, const yw_box_block* all) {
  return (yw_near_boxes){all + yw_leaf_vertex_block(l), l->vertex, l[1].vertex - l->vertex, 0};
}
static inline yw_near_boxes yw_leaf_triangles(const yw_complex_leaf* l, const yw_box_block* all) {
  return (yw_near_boxes){all + yw_leaf_triangle_block(l), l->triangle, l[1].triangle - l->triangle,
                         0};
}
static inline yw_near_boxes yw_leaf_edges(const yw_complex_leaf* l, const yw_box_block* all) {
  return (yw_near_boxes){all + yw_leaf_edge_block(l), l->edge, l[1].edge - l->edge, 0};
}

/// Sets the box of the primitive `at` of a leaf; first: block of its kind.
static inline void yw_box_set(yw_box_block* first, int32_t at, yw_aabb box) {
  const float sides[6] = {box.lower.x, box.lower.y, box.lower.z,
                          box.upper.x, box.upper.y, box.upper.z};
  for (int d = 0; d < 6; ++d) first[at / YW_BOX_BLOCK].sides[d][at % YW_BOX_BLOCK] = sides[d];
}

#endif
