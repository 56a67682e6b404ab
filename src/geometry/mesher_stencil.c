// SPDX-License-Identifier: MIT
// Stencils: the second half of isosurface stuffing. Every lattice tet is kept, dropped or cut
// according to the sides of its four nodes.
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

typedef struct tet_vertices {
  int32_t v[4];
} tet_vertices;

typedef struct stuffer {
  yw_stuffing* s;
  yw_stuff_part part;
  int32_t max_vertices;
  int32_t* node_vertex;  ///< per node: vertex of the mesh, -1: none yet
  YW_LIST(yw_vec3) positions;
  YW_LIST(unsigned char) on_surface;
  YW_LIST(tet_vertices) tets;
  yw_status status;
  // The current tet.
  const lattice_tet* tet;
  int32_t nodes[4];
  int parity[4];  ///< of the sum of a node's cell coordinates
} stuffer;

// Vertices ----------------------------------------------------------------------------------------

static int32_t new_vertex(stuffer* f, yw_dvec3 p, bool on_surface) {
  if (f->status != YW_OK) return 0;
  if (f->positions.count >= f->max_vertices) {
    f->status = YW_ERR_LIMIT;
    return 0;
  }
  const yw_allocator* mem = &f->s->lattice.mem;
  if (!YW_LIST_RESERVE(mem, &f->positions, 1) || !YW_LIST_RESERVE(mem, &f->on_surface, 1)) {
    f->status = YW_ERR_MEMORY;
    return 0;
  }
  f->positions.items[f->positions.count++] = yw_f3(p);
  f->on_surface.items[f->on_surface.count++] = on_surface;
  return f->positions.count - 1;
}

// Vertex at node k of the tet.
static int32_t node_vertex(stuffer* f, int k) {
  int32_t node = f->nodes[k];
  if (f->node_vertex[node] < 0) {
    yw_dvec3 p = yw_stuffing_position(f->s, node);
    f->node_vertex[node] = new_vertex(f, p, f->s->side[node] == 0);
  }
  return f->node_vertex[node];
}

// The node that owns the edge between nodes a and b of the tet, and the edge's direction from it.
static int edge_owner(const stuffer* f, int a, int b, int* direction) {
  if ((a < 2) == (b < 2)) {
    *direction = f->tet->axis[a < 2 ? 0 : 1];
    return a < b ? a : b;
  }
  int center = a < b ? a : b, corner = a < b ? b : a, bits = 0;
  for (int axis = 0; axis < 3; ++axis) {
    int offset = f->tet->corner[axis];
    if (corner == 3 && f->tet->axis[1] == axis) ++offset;
    if (center == 1 && f->tet->axis[0] == axis) --offset;
    bits |= offset << axis;
  }
  *direction = 6 + bits;
  return center;
}

// Vertex where the edge between nodes a and b of the tet is cut.
static int32_t cut_vertex(stuffer* f, int a, int b) {
  int direction, owner = edge_owner(f, a, b, &direction);
  int32_t node = f->nodes[owner];
  yw_cut* cut = yw_stuffing_cut(f->s, node, direction);
  if (cut->vertex < 0) {
    const yw_bcc* lattice = &f->s->lattice;
    yw_dvec3 p = yw_bcc_position(lattice, node);
    p = yw_dmad(p, (double)cut->t, yw_bcc_edge_vector(lattice, node, direction));
    cut->vertex = new_vertex(f, p, true);
  }
  return cut->vertex;
}

// Pieces ------------------------------------------------------------------------------------------

static void emit(stuffer* f, int32_t a, int32_t b, int32_t c, int32_t d) {
  if (f->status != YW_OK) return;
  int on_surface = f->on_surface.items[a] + f->on_surface.items[b] + f->on_surface.items[c] +
                   f->on_surface.items[d];
  if (f->part == YW_STUFF_SKIN && on_surface < 3) return;
  if (!YW_LIST_RESERVE(&f->s->lattice.mem, &f->tets, 1)) {
    f->status = YW_ERR_MEMORY;
    return;
  }
  const yw_vec3* x = f->positions.items;
  yw_dvec3 p[4] = {yw_d3(x[a]), yw_d3(x[b]), yw_d3(x[c]), yw_d3(x[d])};
  bool positive = yw_tet_volume6(p) > 0.0;
  f->tets.items[f->tets.count++] = (tet_vertices){{a, b, positive ? c : d, positive ? d : c}};
}

// A quad on a lattice face: nodes a and b inside, o outside. True: its diagonal runs from a to the
// cut of b-o; false: from b to the cut of a-o. Both tets at the face must agree, so only the face
// may decide. The paper's rule: the diagonal ends at the cut of the long edge. If both edges are
// short, the parity of o decides, so that the two quads of a tet with two nodes inside on a long
// edge have their diagonals at opposite ends (21.9 degrees; 9.6 at the same end).
static bool diagonal_from_first(const stuffer* f, int a, int b, int o) {
  if ((a < 2) == (o < 2)) return false;
  if ((b < 2) == (o < 2)) return true;
  return (a < b) == (f->parity[o] == 0);
}

// A prism with bottom x[0..2] and top x[3..5]. up[q]: the diagonal of the side from q to q + 1 runs
// from bottom q to top q + 1, else from bottom q + 1 to top q. The three must not all be equal.
static void emit_prism(stuffer* f, const int32_t x[6], const bool up[3]) {
  for (int q = 0; q < 3; ++q) {
    int next = (q + 1) % 3, last = (q + 2) % 3;
    if (!up[q] || up[last]) continue;
    // Two diagonals start at bottom q: the tet over the top, then the opposite side as a pyramid.
    emit(f, x[q], x[3 + q], x[3 + next], x[3 + last]);
    if (up[next]) {
      emit(f, x[q], x[next], x[last], x[3 + last]);
      emit(f, x[q], x[next], x[3 + last], x[3 + next]);
    } else {
      emit(f, x[q], x[next], x[last], x[3 + next]);
      emit(f, x[q], x[last], x[3 + last], x[3 + next]);
    }
    return;
  }
}

// One node inside: a tet of it and, for each other node, the node itself or the cut towards it.
static void stuff_one_inside(stuffer* f, int a) {
  int32_t v[3];
  for (int n = 0; n < 3; ++n) {
    int k = (a + 1 + n) & 3;
    v[n] = f->s->side[f->nodes[k]] == 0 ? node_vertex(f, k) : cut_vertex(f, a, k);
  }
  emit(f, node_vertex(f, a), v[0], v[1], v[2]);
}

// a, b inside, z on the surface, o outside: a pyramid with apex z.
static void stuff_pyramid(stuffer* f, int a, int b, int z, int o) {
  int32_t va = node_vertex(f, a), vb = node_vertex(f, b), vz = node_vertex(f, z);
  int32_t ca = cut_vertex(f, a, o), cb = cut_vertex(f, b, o);
  if (diagonal_from_first(f, a, b, o)) {
    emit(f, vz, va, vb, cb);
    emit(f, vz, va, cb, ca);
  } else {
    emit(f, vz, va, vb, ca);
    emit(f, vz, vb, cb, ca);
  }
}

// a, b inside, o, p outside: a prism between the triangles cut off at a and b.
static void stuff_wedge(stuffer* f, int a, int b, int o, int p) {
  int32_t x[6];
  x[0] = node_vertex(f, a), x[1] = cut_vertex(f, a, o), x[2] = cut_vertex(f, a, p);
  x[3] = node_vertex(f, b), x[4] = cut_vertex(f, b, o), x[5] = cut_vertex(f, b, p);
  // The sides a-o and p-a are shared with other tets; the side on the surface is free and takes the
  // diagonal that the other two allow.
  bool first = diagonal_from_first(f, a, b, o), second = !diagonal_from_first(f, a, b, p);
  emit_prism(f, x, (bool[]){first, !first, second});
}

// All but o inside: a prism between the inner face and the cuts.
static void stuff_three_inside(stuffer* f, int o) {
  int a = (o + 1) & 3, b = (o + 2) & 3, c = (o + 3) & 3;
  int32_t x[6];
  x[0] = node_vertex(f, a), x[1] = node_vertex(f, b), x[2] = node_vertex(f, c);
  x[3] = cut_vertex(f, a, o), x[4] = cut_vertex(f, b, o), x[5] = cut_vertex(f, c, o);
  emit_prism(f, x,
             (bool[]){diagonal_from_first(f, a, b, o), diagonal_from_first(f, b, c, o),
                      diagonal_from_first(f, c, a, o)});
}

static void stuff_tet(stuffer* f) {
  int inside[4], outside[4], zero[4], num_inside = 0, num_outside = 0, num_zero = 0;
  for (int k = 0; k < 4; ++k) {
    int8_t side = f->s->side[f->nodes[k]];
    if (side < 0) inside[num_inside++] = k;
    if (side > 0) outside[num_outside++] = k;
    if (side == 0) zero[num_zero++] = k;
  }
  if (num_inside == 0) return;
  if (num_outside == 0) {
    if (f->part == YW_STUFF_SKIN && num_zero < 3) return;
    // One after another: vertices are numbered as they appear, and compilers order arguments
    // freely.
    int32_t d = node_vertex(f, 3), c = node_vertex(f, 2), b = node_vertex(f, 1);
    int32_t a = node_vertex(f, 0);
    emit(f, a, b, c, d);
  } else if (num_inside == 1) {
    stuff_one_inside(f, inside[0]);
  } else if (num_inside == 3) {
    stuff_three_inside(f, outside[0]);
  } else if (num_zero == 1) {
    stuff_pyramid(f, inside[0], inside[1], zero[0], outside[0]);
  } else {
    stuff_wedge(f, inside[0], inside[1], outside[0], outside[1]);
  }
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
static bool gather_nodes(stuffer* f, int32_t block, int x, int y, int z, const lattice_tet* tet) {
  const yw_bcc* lattice = &f->s->lattice;
  const int32_t* cell = lattice->blocks[block].cell;
  for (int k = 0; k < 4; ++k) {
    int at[3] = {x, y, z};
    for (int axis = 0; axis < 3 && k >= 2; ++axis) at[axis] += tet->corner[axis];
    if (k == 1) ++at[tet->axis[0]];
    if (k == 3) ++at[tet->axis[1]];
    f->nodes[k] = yw_bcc_node(lattice, block, at[0], at[1], at[2], k < 2);
    if (f->nodes[k] < 0) return false;
    f->parity[k] = (cell[0] + cell[1] + cell[2] + at[0] + at[1] + at[2]) & 1;
  }
  f->tet = tet;
  return true;
}

static void stuff_blocks(stuffer* f) {
  lattice_tet tets[12];
  list_cell_tets(tets);
  for (int32_t block = 0; block < f->s->lattice.num_blocks && f->status == YW_OK; ++block) {
    for (int cell = 0; cell < YW_BCC_CELLS; ++cell) {
      for (int n = 0; n < 12; ++n) {
        if (gather_nodes(f, block, cell & 3, cell >> 2 & 3, cell >> 4, &tets[n])) stuff_tet(f);
      }
    }
  }
}

yw_status yw_stuffing_tets(yw_stuffing* s, yw_stuff_part part, int32_t max_vertices,
                           yw_tet_mesh* out, unsigned char** on_surface) {
  const yw_allocator mem = s->lattice.mem;
  size_t num_nodes = (size_t)s->lattice.num_blocks * YW_BCC_NODES;
  stuffer f = {.s = s, .part = part, .max_vertices = max_vertices, .status = YW_OK};
  *out = (yw_tet_mesh){0};
  f.node_vertex = YW_NEW_ARRAY(&mem, int32_t, num_nodes);
  if (f.node_vertex == NULL) return YW_ERR_MEMORY;
  for (size_t n = 0; n < num_nodes; ++n) f.node_vertex[n] = -1;
  stuff_blocks(&f);
  yw_mem_free(&mem, f.node_vertex);
  if (f.status == YW_OK) {
    f.status = yw_tet_mesh_create(&mem, f.positions.count, f.tets.count, out);
  }
  if (f.status == YW_OK) {
    for (int32_t i = 0; i < out->num_vertices; ++i) out->positions[i] = f.positions.items[i];
    for (int32_t t = 0; t < out->num_tets; ++t) {
      for (int k = 0; k < 4; ++k) out->tets[4 * (size_t)t + (size_t)k] = f.tets.items[t].v[k];
    }
  }
  YW_LIST_FREE(&mem, &f.positions);
  YW_LIST_FREE(&mem, &f.tets);
  if (f.status == YW_OK && on_surface != NULL) {
    *on_surface = f.on_surface.items;
  } else {
    YW_LIST_FREE(&mem, &f.on_surface);
  }
  return f.status;
}
