// SPDX-License-Identifier: MIT
// The background grid of graded isosurface stuffing (Labelle and Shewchuk 2007, section 4).
#include "geometry/mesher_octree.h"

#include "yawara/extend/hash.h"

void yw_octree_begin(const yw_allocator* mem, int32_t finest, int32_t max_cells, yw_octree* out) {
  *out = (yw_octree){
      .mem = yw_mem_or_default(mem), .finest = finest, .max_cells = max_cells, .status = YW_OK};
}

void yw_octree_free(yw_octree* tree) {
  YW_LIST_FREE(&tree->mem, &tree->cells);
  YW_LIST_FREE(&tree->mem, &tree->nodes);
  YW_LIST_FREE(&tree->mem, &tree->tets);
  yw_mem_free(&tree->mem, tree->cell_table.slots);
  yw_mem_free(&tree->mem, tree->node_table.slots);
  *tree = (yw_octree){0};
}

// Tables ------------------------------------------------------------------------------------------

static uint64_t hash_place(const int32_t at[3], int32_t level) {
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)(uint32_t)at[0] << 32 | (uint32_t)at[1]);
  return yw_hash_u64(h, (uint64_t)(uint32_t)at[2] << 8 | (uint32_t)level);
}

static bool is_same_place(const int32_t a[3], const int32_t b[3]) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static size_t slot_of_cell(const yw_octree* tree, yw_grid_cell cell) {
  size_t mask = tree->cell_table.capacity - 1, slot = hash_place(cell.at, cell.level) & mask;
  for (; tree->cell_table.slots[slot] != 0; slot = (slot + 1) & mask) {
    const yw_grid_cell* other = &tree->cells.items[tree->cell_table.slots[slot] - 1];
    if (other->level == cell.level && is_same_place(other->at, cell.at)) break;
  }
  return slot;
}

static size_t slot_of_node(const yw_octree* tree, const int32_t at[3]) {
  size_t mask = tree->node_table.capacity - 1, slot = hash_place(at, 0) & mask;
  for (; tree->node_table.slots[slot] != 0; slot = (slot + 1) & mask) {
    if (is_same_place(tree->nodes.items[tree->node_table.slots[slot] - 1].at, at)) break;
  }
  return slot;
}

// An empty table of twice the size if the old one is half full; false if out of memory.
static bool grow_table(const yw_allocator* mem, yw_grid_table* table, int32_t count, bool* grown) {
  *grown = 2 * ((size_t)count + 1) > table->capacity;
  if (!*grown) return true;
  size_t capacity = table->capacity > 0 ? 2 * table->capacity : 1024;
  int32_t* slots = YW_NEW_ARRAY(mem, int32_t, capacity);
  if (slots == NULL) return false;
  yw_mem_free(mem, table->slots);
  *table = (yw_grid_table){slots, capacity};
  return true;
}

static bool reserve_cell(yw_octree* tree) {
  bool grown;
  if (!YW_LIST_RESERVE(&tree->mem, &tree->cells, 1)) return false;
  if (!grow_table(&tree->mem, &tree->cell_table, tree->cells.count, &grown)) return false;
  for (int32_t n = 0; grown && n < tree->cells.count; ++n) {
    tree->cell_table.slots[slot_of_cell(tree, tree->cells.items[n])] = n + 1;
  }
  return true;
}

static bool reserve_node(yw_octree* tree) {
  bool grown;
  if (!YW_LIST_RESERVE(&tree->mem, &tree->nodes, 1)) return false;
  if (!grow_table(&tree->mem, &tree->node_table, tree->nodes.count, &grown)) return false;
  for (int32_t n = 0; grown && n < tree->nodes.count; ++n) {
    tree->node_table.slots[slot_of_node(tree, tree->nodes.items[n].at)] = n + 1;
  }
  return true;
}

int32_t yw_octree_find(const yw_octree* tree, yw_grid_cell cell) {
  if (tree->cell_table.capacity == 0) return -1;
  return tree->cell_table.slots[slot_of_cell(tree, cell)] - 1;
}

static int32_t find_node(const yw_octree* tree, const int32_t at[3]) {
  return tree->node_table.slots[slot_of_node(tree, at)] - 1;
}

// Cells -------------------------------------------------------------------------------------------

static void add_node(yw_octree* tree, const int32_t at[3]) {
  if (tree->status != YW_OK) return;
  if (!reserve_node(tree)) {
    tree->status = YW_ERR_MEMORY;
    return;
  }
  size_t slot = slot_of_node(tree, at);
  if (tree->node_table.slots[slot] != 0) return;
  tree->nodes.items[tree->nodes.count++] = (yw_grid_node){{at[0], at[1], at[2]}};
  tree->node_table.slots[slot] = tree->nodes.count;
}

// Corner `bits` of a cell, bit a: the upper one on axis a; 8: the centre.
static void place_of_node(const yw_octree* tree, yw_grid_cell cell, int bits, int32_t out[3]) {
  int32_t width = yw_octree_width(tree, cell.level);
  for (int a = 0; a < 3; ++a) {
    int32_t offset = bits == 8 ? width / 2 : (bits >> a & 1) * width;
    out[a] = cell.at[a] * width + offset;
  }
}

int32_t yw_octree_node(const yw_octree* tree, yw_grid_cell cell, int bits) {
  int32_t at[3];
  place_of_node(tree, cell, bits, at);
  return find_node(tree, at);
}

static yw_grid_cell parent_of(yw_grid_cell cell) {
  // Rounds down for negative coordinates too.
  return (yw_grid_cell){{cell.at[0] >> 1, cell.at[1] >> 1, cell.at[2] >> 1}, cell.level - 1};
}

// The middles of the edges of the faces at a cell's corner in its parent. Two of a face's four are
// corners of the cell, but all four are needed for the centre of the face.
static void add_edge_nodes(yw_octree* tree, yw_grid_cell cell) {
  yw_grid_cell parent = parent_of(cell);
  int32_t width = yw_octree_width(tree, parent.level);
  for (int n = 0; n < 12; ++n) {
    int axis = n / 4, first = (axis + 1 + (n & 1)) % 3, second = 3 - axis - first;
    int32_t at[3];
    at[axis] = (parent.at[axis] + (cell.at[axis] & 1)) * width;
    at[first] = (parent.at[first] + (n >> 1 & 1)) * width;
    at[second] = parent.at[second] * width + width / 2;
    add_node(tree, at);
  }
}

// The cell lies in one eighth of its parent, at the corner p. Its corners are p, the parent's
// centre, the middles of three edges at p, and the centres of three faces at p. The middle of an
// edge needs the four cells around it, the centre of a face those around the face's four edges:
// together all neighbours across faces, and across edges that touch one of the faces at p.
static void add_needed(yw_octree* tree, yw_grid_cell cell) {
  yw_grid_cell parent = parent_of(cell);
  yw_octree_add(tree, parent);
  for (int n = 0; n < 27; ++n) {
    int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}, distance = 0, towards = 0;
    for (int a = 0; a < 3; ++a) {
      distance += offset[a] != 0;
      towards += offset[a] != 0 && (offset[a] > 0) == (cell.at[a] & 1);
    }
    if (distance == 0 || distance == 3 || (distance == 2 && towards == 0)) continue;
    yw_octree_add(tree, (yw_grid_cell){{parent.at[0] + offset[0], parent.at[1] + offset[1],
                                        parent.at[2] + offset[2]},
                                       parent.level});
  }
  add_edge_nodes(tree, cell);
}

void yw_octree_add(yw_octree* tree, yw_grid_cell cell) {
  if (tree->status != YW_OK || yw_octree_find(tree, cell) >= 0) return;
  if (tree->cells.count >= tree->max_cells) {
    tree->status = YW_ERR_LIMIT;
    return;
  }
  if (cell.level > 0) add_needed(tree, cell);
  if (tree->status != YW_OK) return;
  if (!reserve_cell(tree)) {
    tree->status = YW_ERR_MEMORY;
    return;
  }
  size_t slot = slot_of_cell(tree, cell);
  tree->cells.items[tree->cells.count++] = cell;
  tree->cell_table.slots[slot] = tree->cells.count;
  for (int bits = 0; bits <= 8; ++bits) {
    int32_t at[3];
    place_of_node(tree, cell, bits, at);
    add_node(tree, at);
  }
}

// Tets --------------------------------------------------------------------------------------------

static void add_tet(yw_octree* tree, int32_t a, int32_t b, int32_t c, int32_t d, int32_t level) {
  if (tree->status != YW_OK) return;
  if (!YW_LIST_RESERVE(&tree->mem, &tree->tets, 1)) {
    tree->status = YW_ERR_MEMORY;
    return;
  }
  tree->tets.items[tree->tets.count++] = (yw_grid_tet){{a, b, c, d}, level};
}

// The node halfway between two nodes; -1: there is none.
static int32_t middle_node(const yw_octree* tree, int32_t a, int32_t b) {
  const yw_grid_node *p = &tree->nodes.items[a], *q = &tree->nodes.items[b];
  int32_t at[3];
  for (int k = 0; k < 3; ++k) at[k] = (p->at[k] + q->at[k]) >> 1;
  return find_node(tree, at);
}

// Whether the eighth of a cell between its centre and one of its corners is a cell of its own.
static bool is_divided(const yw_octree* tree, int32_t center, int32_t corner, int32_t level) {
  if (level == tree->finest) return false;
  const yw_grid_node *c = &tree->nodes.items[center], *p = &tree->nodes.items[corner];
  yw_grid_cell cell = {.level = level + 1};
  int32_t width = yw_octree_width(tree, level + 1);
  for (int k = 0; k < 3; ++k) {
    int32_t lower = c->at[k] < p->at[k] ? c->at[k] : p->at[k];
    cell.at[k] = lower / width;
  }
  return yw_octree_find(tree, cell) >= 0;
}

// The tet between the centres of two neighbours (a, b) and an edge of the face between them (p, q),
// whole, in halves or in quarters.
static void add_lattice_tet(yw_octree* tree, const int32_t center[2], const int32_t corner[2],
                            int32_t level) {
  int32_t on_edge = level < tree->finest ? middle_node(tree, corner[0], corner[1]) : -1;
  if (on_edge < 0) {
    add_tet(tree, center[0], center[1], corner[0], corner[1], level);
    return;
  }
  int32_t on_face = middle_node(tree, center[0], center[1]);
  if (on_face < 0) {
    add_tet(tree, center[0], center[1], corner[0], on_edge, level);
    add_tet(tree, center[0], center[1], on_edge, corner[1], level);
    return;
  }
  for (int n = 0; n < 4; ++n) {
    int32_t c = center[n & 1], p = corner[n >> 1];
    if (!is_divided(tree, c, p, level)) add_tet(tree, c, on_face, on_edge, p, level);
  }
}

// The four tets across the upper face of a cell on an axis.
static void add_face_tets(yw_octree* tree, yw_grid_cell cell, yw_grid_cell next, int axis) {
  int32_t center[2] = {yw_octree_node(tree, cell, 8), yw_octree_node(tree, next, 8)};
  for (int n = 0; n < 4; ++n) {
    int along = (axis + 1 + (n & 1)) % 3, across = 3 - axis - along;
    int bits = 1 << axis | (n >> 1) << across;
    int32_t corner[2] = {yw_octree_node(tree, cell, bits),
                         yw_octree_node(tree, cell, bits | 1 << along)};
    add_lattice_tet(tree, center, corner, cell.level);
  }
}

// The half-pyramids of a cell at a face without a neighbour of its level. The face is divided as
// the quarters of coarser tets beyond it are: from the parent's corner if it is a part of the
// parent's face, else from the parent's centre.
static void add_half_pyramids(yw_octree* tree, yw_grid_cell cell, int axis, int upper) {
  int corner = 0;
  for (int a = 0; a < 3; ++a) corner |= (cell.at[a] & 1) << a;
  int from = (corner >> axis & 1) == upper ? corner : 7 - corner;
  int first = (axis + 1) % 3, second = (axis + 2) % 3;
  int32_t center = yw_octree_node(tree, cell, 8), a = yw_octree_node(tree, cell, from);
  int32_t b = yw_octree_node(tree, cell, from ^ 1 << first ^ 1 << second);
  add_tet(tree, center, a, b, yw_octree_node(tree, cell, from ^ 1 << first), cell.level);
  add_tet(tree, center, a, b, yw_octree_node(tree, cell, from ^ 1 << second), cell.level);
}

void yw_octree_list_tets(yw_octree* tree) {
  for (int32_t n = 0; n < tree->cells.count && tree->status == YW_OK; ++n) {
    yw_grid_cell cell = tree->cells.items[n];
    for (int axis = 0; axis < 3; ++axis) {
      for (int upper = 0; upper < 2; ++upper) {
        yw_grid_cell next = cell;
        next.at[axis] += upper ? 1 : -1;
        if (yw_octree_find(tree, next) < 0) {
          if (cell.level > 0) add_half_pyramids(tree, cell, axis, upper);
        } else if (upper) {
          add_face_tets(tree, cell, next, axis);
        }
      }
    }
  }
}
