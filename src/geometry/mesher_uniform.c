// SPDX-License-Identifier: MIT
// The tets of a lattice of one size.
#include "geometry/mesher.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// A lattice tet: nodes 0 and 1 are centres, 2 and 3 corners; 0-1 and 2-3 are its long edges, lower
// node first. axis[0] is that of edge 0-1, axis[1] that of 2-3; corner holds the offsets of node 2
// from the cell of node 0.
typedef struct lattice_tet {
  int axis[2];
  int corner[3];
} lattice_tet;

typedef struct uniform {
  yw_stencil stencil;  ///< first, so that a stencil is found in its lattice
  yw_stuffing* s;
  int32_t* node_vertex;  ///< per node: vertex of the mesh, -1: none yet
  // The current tet.
  const lattice_tet* tet;
  int32_t nodes[4];
  int parity[4];  ///< of the sum of a node's cell coordinates
} uniform;

// Vertices ----------------------------------------------------------------------------------------

static int32_t node_vertex(yw_stencil* stencil, int k) {
  uniform* u = (uniform*)stencil;
  int32_t node = u->nodes[k];
  if (u->node_vertex[node] < 0) {
    yw_dvec3 p = yw_stuffing_position(u->s, node);
    u->node_vertex[node] = yw_stencil_vertex(stencil, p, u->s->side[node] == 0);
  }
  return u->node_vertex[node];
}

// The node that owns the edge between nodes a and b of the tet, and the edge's direction from it.
static int edge_owner(const uniform* u, int a, int b, int* direction) {
  if ((a < 2) == (b < 2)) {
    *direction = u->tet->axis[a < 2 ? 0 : 1];
    return a < b ? a : b;
  }
  int center = a < b ? a : b, corner = a < b ? b : a, bits = 0;
  for (int axis = 0; axis < 3; ++axis) {
    int offset = u->tet->corner[axis];
    if (corner == 3 && u->tet->axis[1] == axis) ++offset;
    if (center == 1 && u->tet->axis[0] == axis) --offset;
    bits |= offset << axis;
  }
  *direction = 6 + bits;
  return center;
}

static int32_t cut_vertex(yw_stencil* stencil, int a, int b) {
  uniform* u = (uniform*)stencil;
  int direction, owner = edge_owner(u, a, b, &direction);
  int32_t node = u->nodes[owner];
  yw_cut* cut = yw_stuffing_cut(u->s, node, direction);
  if (cut->vertex < 0) {
    const yw_bcc* lattice = &u->s->lattice;
    yw_dvec3 p = yw_bcc_position(lattice, node);
    p = yw_dmad(p, (double)cut->t, yw_bcc_edge_vector(lattice, node, direction));
    cut->vertex = yw_stencil_vertex(stencil, p, true);
  }
  return cut->vertex;
}

// The paper's rule: the diagonal ends at the cut of the long edge. If both edges are short, the
// parity of o decides, so that the two quads of a tet with two nodes inside on a long edge have
// their diagonals at opposite ends (21.9 degrees; 9.6 at the same end).
static bool diagonal_from_first(yw_stencil* stencil, int a, int b, int o) {
  if ((a < 2) == (o < 2)) return false;
  if ((b < 2) == (o < 2)) return true;
  return (a < b) == (((uniform*)stencil)->parity[o] == 0);
}

// Lattice tets ------------------------------------------------------------------------------------

// Twelve tets belong to a cell: for each axis, the four around the edge from its centre to the next
// cell's centre, one for each side of the face in between.
static void list_cell_tets(lattice_tet out[12]) {
  int count = 0;
  for (int axis = 0; axis < 3; ++axis) {
    for (int n = 0; n < 4; ++n) {
      int along = (axis + 1 + (n & 1)) % 3, across = 3 - axis - along;
      lattice_tet tet = {.axis = {axis, along}};
      tet.corner[axis] = 1;
      tet.corner[across] = n >> 1;
      out[count++] = tet;
    }
  }
}

// Finds the nodes of a tet of a cell; false if one is in no block (the tet is then outside).
static bool gather_nodes(uniform* u, int32_t block, int x, int y, int z, const lattice_tet* tet) {
  const yw_bcc* lattice = &u->s->lattice;
  const int32_t* cell = lattice->blocks[block].cell;
  for (int k = 0; k < 4; ++k) {
    int at[3] = {x, y, z};
    for (int axis = 0; axis < 3 && k >= 2; ++axis) at[axis] += tet->corner[axis];
    if (k == 1) ++at[tet->axis[0]];
    if (k == 3) ++at[tet->axis[1]];
    u->nodes[k] = yw_bcc_node(lattice, block, at[0], at[1], at[2], k < 2);
    if (u->nodes[k] < 0) return false;
    u->parity[k] = (cell[0] + cell[1] + cell[2] + at[0] + at[1] + at[2]) & 1;
  }
  u->tet = tet;
  return true;
}

static void stuff_blocks(uniform* u) {
  lattice_tet tets[12];
  list_cell_tets(tets);
  for (int32_t block = 0; block < u->s->lattice.num_blocks && u->stencil.status == YW_OK; ++block) {
    for (int cell = 0; cell < YW_BCC_CELLS; ++cell) {
      for (int n = 0; n < 12; ++n) {
        if (!gather_nodes(u, block, cell & 3, cell >> 2 & 3, cell >> 4, &tets[n])) continue;
        for (int k = 0; k < 4; ++k) u->stencil.side[k] = u->s->side[u->nodes[k]];
        yw_stencil_apply(&u->stencil);
      }
    }
  }
}

yw_status yw_stuffing_tets(yw_stuffing* s, yw_stuff_part part, int32_t max_vertices,
                           yw_tet_mesh* out, unsigned char** on_surface) {
  const yw_allocator mem = s->lattice.mem;
  size_t num_nodes = (size_t)s->lattice.num_blocks * YW_BCC_NODES;
  uniform u = {.stencil = {.mem = mem,
                           .part = part,
                           .max_vertices = max_vertices,
                           .status = YW_OK,
                           .node_vertex = node_vertex,
                           .cut_vertex = cut_vertex,
                           .diagonal_from_first = diagonal_from_first},
               .s = s};
  *out = (yw_tet_mesh){0};
  u.node_vertex = YW_NEW_ARRAY(&mem, int32_t, num_nodes);
  if (u.node_vertex == NULL) return YW_ERR_MEMORY;
  for (size_t n = 0; n < num_nodes; ++n) u.node_vertex[n] = -1;
  stuff_blocks(&u);
  yw_mem_free(&mem, u.node_vertex);
  return yw_stencil_finish(&u.stencil, out, on_surface);
}
