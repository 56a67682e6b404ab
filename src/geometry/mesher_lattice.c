// SPDX-License-Identifier: MIT
// The blocks that the shape touches are found by descending an octree: a cube whose centre is
// farther from the surface than its corners lies entirely on one side.
//
// That holds for true distances. The sign of an open triangle mesh also changes across its holes,
// far from any triangle, so a cube is only taken as a whole if its corners agree, and blocks are
// added wherever an inside node lacks a neighbour.
#include "geometry/mesher_lattice.h"

#include "geometry/shape.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Nodes of an aligned lattice that are closer to the surface, in spacings, are on it: rounding.
#define ON_FACE 1e-4f

typedef struct block_table {
  int32_t* slots;  ///< block + 1, 0 for an empty slot
  size_t capacity;
} block_table;

typedef struct builder {
  yw_bcc* lattice;
  int32_t capacity;  ///< of lattice->blocks
  int32_t max_blocks;
  block_table table;
  yw_status status;
} builder;

// Table of blocks ---------------------------------------------------------------------------------

static size_t slot_of(const block_table* table, const yw_bcc_block* blocks, const int32_t cell[3]) {
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)(uint32_t)cell[0] << 32 | (uint32_t)cell[1]);
  size_t slot = (size_t)yw_hash_u64(h, (uint32_t)cell[2]) & (table->capacity - 1);
  for (; table->slots[slot] != 0; slot = (slot + 1) & (table->capacity - 1)) {
    const int32_t* other = blocks[table->slots[slot] - 1].cell;
    if (cell[0] == other[0] && cell[1] == other[1] && cell[2] == other[2]) break;
  }
  return slot;
}

static int32_t find_block(const builder* b, const int32_t cell[3]) {
  return b->table.slots[slot_of(&b->table, b->lattice->blocks, cell)] - 1;
}

// Makes room for one more block in the list and the table.
static bool reserve_block(builder* b) {
  yw_bcc* lattice = b->lattice;
  lattice->blocks = yw_list_grow(&lattice->mem, lattice->blocks, &b->capacity, lattice->num_blocks,
                                 1, sizeof *lattice->blocks);
  if (!lattice->blocks || b->capacity <= lattice->num_blocks) return false;
  if (2 * ((size_t)lattice->num_blocks + 1) <= b->table.capacity) return true;
  block_table grown = {.capacity = b->table.capacity > 0 ? 2 * b->table.capacity : 256};
  grown.slots = YW_NEW_ARRAY(&lattice->mem, int32_t, grown.capacity);
  if (grown.slots == NULL) return false;
  for (int32_t n = 0; n < lattice->num_blocks; ++n) {
    grown.slots[slot_of(&grown, lattice->blocks, lattice->blocks[n].cell)] = n + 1;
  }
  yw_mem_free(&lattice->mem, b->table.slots);
  b->table = grown;
  return true;
}

static void add_block(builder* b, const int32_t cell[3], bool uniform) {
  yw_bcc* lattice = b->lattice;
  if (b->status != YW_OK) return;
  if (lattice->num_blocks >= b->max_blocks) {
    b->status = YW_ERR_LIMIT;
    return;
  }
  if (!reserve_block(b)) {
    b->status = YW_ERR_MEMORY;
    return;
  }
  int32_t block = lattice->num_blocks;
  lattice->blocks[block] = (yw_bcc_block){.cell = {cell[0], cell[1], cell[2]}, .uniform = uniform};
  // The table compares cells, so the block must be in place before its slot is looked up.
  b->table.slots[slot_of(&b->table, lattice->blocks, cell)] = block + 1;
  lattice->num_blocks = block + 1;
}

// Octree ------------------------------------------------------------------------------------------

typedef enum cube_side { CUBE_OUTSIDE, CUBE_INSIDE, CUBE_MIXED } cube_side;

// Side of the cube of `cells` cells starting at `cell`, for all nodes in it and their neighbours.
static cube_side classify_cube(const yw_bcc* lattice, const int32_t cell[3], int32_t cells) {
  yw_vec4 points[9];
  float distance[9];
  yw_dvec3 low = yw_bcc_point(lattice, cell[0], cell[1], cell[2]);
  yw_dvec3 high = yw_bcc_point(lattice, cell[0] + cells, cell[1] + cells, cell[2] + cells);
  for (int n = 0; n < 9; ++n) {
    double at[3];
    for (int axis = 0; axis < 3; ++axis) {
      at[axis] = cell[axis] + (n == 8 ? 0.5 : n >> axis & 1 ? 1.0 : 0.0) * cells;
    }
    yw_dvec3 p = yw_bcc_point(lattice, at[0], at[1], at[2]);
    // Planes may be unevenly spaced: the centre is that of the corners.
    if (n == 8 && yw_is_aligned(&lattice->alignment)) p = yw_dscale(yw_dadd(low, high), 0.5);
    points[n] = yw_v4(yw_f3(p));
  }
  yw_shape_distance_many(lattice->shape, 9, points, distance);
  int inside = 0;
  for (int n = 0; n < 9; ++n) inside += distance[n] < 0.0f;
  if (inside != 0 && inside != 9) return CUBE_MIXED;
  // Half the diagonal and one long edge.
  double reach = (0.8661 * cells + 1.01) * lattice->spacing;
  if (yw_is_aligned(&lattice->alignment)) {
    reach = 0.5001 * yw_dlength(yw_dsub(high, low)) + 1.01 * lattice->alignment.widest;
  }
  if (!(fabs((double)distance[8]) > reach)) return CUBE_MIXED;
  return inside == 9 ? CUBE_INSIDE : CUBE_OUTSIDE;
}

static void add_inside_blocks(builder* b, const int32_t cell[3], int32_t cells) {
  for (int32_t z = 0; z < cells; z += YW_BCC_SIDE) {
    for (int32_t y = 0; y < cells; y += YW_BCC_SIDE) {
      for (int32_t x = 0; x < cells; x += YW_BCC_SIDE) {
        if (b->status != YW_OK) return;
        add_block(b, (int32_t[]){cell[0] + x, cell[1] + y, cell[2] + z}, true);
      }
    }
  }
}

static void descend(builder* b, const int32_t cell[3], int32_t cells) {
  if (b->status != YW_OK) return;
  cube_side side = classify_cube(b->lattice, cell, cells);
  if (side == CUBE_OUTSIDE) return;
  if (side == CUBE_INSIDE) {
    add_inside_blocks(b, cell, cells);
    return;
  }
  if (cells == YW_BCC_SIDE) {
    add_block(b, cell, false);
    return;
  }
  int32_t half = cells / 2;
  for (int n = 0; n < 8; ++n) {
    int32_t child[3];
    for (int axis = 0; axis < 3; ++axis) child[axis] = cell[axis] + (n >> axis & 1) * half;
    descend(b, child, half);
  }
}

// Values ------------------------------------------------------------------------------------------

static void evaluate_block(yw_bcc* lattice, int32_t block) {
  float* values = lattice->values + (size_t)block * YW_BCC_NODES;
  if (lattice->blocks[block].uniform) {
    for (int n = 0; n < YW_BCC_NODES; ++n) values[n] = -(float)lattice->spacing;
    return;
  }
  yw_vec4 points[YW_BCC_NODES];
  for (int n = 0; n < YW_BCC_NODES; ++n) {
    points[n] = yw_v4(yw_f3(yw_bcc_position(lattice, block * YW_BCC_NODES + n)));
  }
  yw_shape_distance_many(lattice->shape, YW_BCC_NODES, points, values);
  float on_face = yw_is_aligned(&lattice->alignment) ? ON_FACE * (float)lattice->spacing : 0.0f;
  for (int n = 0; n < YW_BCC_NODES; ++n) {
    if (!(fabsf(values[n]) < INFINITY)) values[n] = (float)lattice->spacing;
    if (fabsf(values[n]) < on_face) values[n] = 0.0f;
  }
}

// Evaluates blocks from `first` on, growing the values as needed.
static void evaluate_from(builder* b, int32_t first, int32_t* value_blocks) {
  yw_bcc* lattice = b->lattice;
  if (b->status != YW_OK) return;
  if (lattice->num_blocks > *value_blocks) {
    int32_t room = lattice->num_blocks + (*value_blocks > 0 ? lattice->num_blocks / 4 : 0);
    float* grown =
        (float*)yw_mem_resize(&lattice->mem, lattice->values, (size_t)*value_blocks * YW_BCC_NODES,
                              (size_t)room * YW_BCC_NODES, sizeof(float));
    if (grown == NULL) {
      b->status = YW_ERR_MEMORY;
      return;
    }
    lattice->values = grown;
    *value_blocks = room;
  }
  for (int32_t n = first; n < lattice->num_blocks; ++n) evaluate_block(lattice, n);
}

static void link_block(builder* b, int32_t block) {
  yw_bcc_block* here = &b->lattice->blocks[block];
  for (int n = 0; n < 27; ++n) {
    int32_t cell[3] = {here->cell[0] + (n % 3 - 1) * YW_BCC_SIDE,
                       here->cell[1] + (n / 3 % 3 - 1) * YW_BCC_SIDE,
                       here->cell[2] + (n / 9 - 1) * YW_BCC_SIDE};
    here->neighbours[n] = find_block(b, cell);
  }
}

// Adds the block next to side `n` of a block if one of its inside nodes has a neighbour there.
static void add_block_if_reached(builder* b, int32_t block, int n) {
  int side[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  const yw_bcc* lattice = b->lattice;
  for (int local = 0; local < YW_BCC_NODES; ++local) {
    int32_t node = block * YW_BCC_NODES + local;
    if (lattice->values[node] >= 0.0f) continue;
    yw_bcc_place p = yw_bcc_place_of(node);
    int place[3] = {p.x, p.y, p.z};
    // On each axis a centre's edges go one cell up, a corner's one cell down, and long edges both
    // ways; treating all nodes alike is simple and rarely adds too much.
    bool reached = true;
    for (int axis = 0; axis < 3; ++axis) {
      if (side[axis] < 0) reached = reached && place[axis] == 0;
      if (side[axis] > 0) reached = reached && place[axis] == YW_BCC_SIDE - 1;
    }
    if (!reached) continue;
    const int32_t* cell = lattice->blocks[block].cell;
    int32_t next[3] = {cell[0] + side[0] * YW_BCC_SIDE, cell[1] + side[1] * YW_BCC_SIDE,
                       cell[2] + side[2] * YW_BCC_SIDE};
    if (find_block(b, next) < 0) add_block(b, next, false);
    return;
  }
}

// Nodes in a cube that was taken as a whole share its sign. If a neighbour disagrees, the value was
// not a true distance, and the block is evaluated node by node.
static bool disagrees_with_neighbours(const yw_bcc* lattice, int32_t block) {
  for (int n = 0; n < 27; ++n) {
    int32_t other = lattice->blocks[block].neighbours[n];
    if (other < 0) return true;
    if (lattice->blocks[other].uniform) continue;
    for (int local = 0; local < YW_BCC_NODES; ++local) {
      if (lattice->values[(size_t)other * YW_BCC_NODES + (size_t)local] < 0.0f) continue;
      yw_bcc_place p = yw_bcc_place_of(local);
      int place[3] = {p.x, p.y, p.z}, side[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      bool touches = true;
      for (int axis = 0; axis < 3; ++axis) {
        if (side[axis] < 0) touches = touches && place[axis] == YW_BCC_SIDE - 1;
        if (side[axis] > 0) touches = touches && place[axis] == 0;
      }
      if (touches) return true;
    }
  }
  return false;
}

// Adds missing blocks and opens uniform ones until every inside node has all its neighbours.
static void grow(builder* b, int32_t* value_blocks) {
  yw_bcc* lattice = b->lattice;
  bool changed = true;
  while (changed && b->status == YW_OK) {
    changed = false;
    int32_t count = lattice->num_blocks;
    for (int32_t block = 0; block < count; ++block) link_block(b, block);
    for (int32_t block = 0; block < count && b->status == YW_OK; ++block) {
      for (int n = 0; n < 27; ++n) {
        if (lattice->blocks[block].neighbours[n] < 0) add_block_if_reached(b, block, n);
      }
    }
    if (lattice->num_blocks > count) changed = true;
    evaluate_from(b, count, value_blocks);
    if (b->status != YW_OK || changed) continue;
    for (int32_t block = 0; block < count; ++block) {
      yw_bcc_block* here = &lattice->blocks[block];
      if (!here->uniform || !disagrees_with_neighbours(lattice, block)) continue;
      here->uniform = false;
      evaluate_block(lattice, block);
      changed = true;
    }
  }
}

// How far the lattice must reach from its origin, in cells.
static double reach_of(const yw_bcc* lattice, yw_aabb bounds) {
  yw_dvec3 size = yw_dsub(yw_d3(bounds.upper), yw_d3(bounds.lower));
  double reach = 0.5 * fmax(size.x, fmax(size.y, size.z)) / lattice->spacing + 2.0;
  if (!yw_is_aligned(&lattice->alignment)) return reach;
  // Any axis may run along the diagonal, and what is beyond the planes on one side of it.
  reach = yw_dlength(size) / lattice->spacing + 2.0;
  int32_t most = 0;
  for (int n = 0; n < 3; ++n) {
    if (lattice->alignment.axis[n].count > most) most = lattice->alignment.axis[n].count;
  }
  return reach + most;
}

yw_status yw_bcc_create(const yw_allocator* mem, const yw_shape* shape, yw_aabb bounds,
                        double spacing, bool align, int32_t max_blocks, yw_bcc* out) {
  yw_bcc lattice = {.mem = yw_mem_or_default(mem), .shape = shape, .spacing = spacing};
  *out = (yw_bcc){0};
  yw_status status = YW_OK;
  if (align) status = yw_alignment_create(mem, shape, spacing, 0, &lattice.alignment);
  if (status != YW_OK) return status;
  // Centred, so that the mesh of a symmetric shape is as symmetric as possible.
  lattice.origin = yw_dscale(yw_dadd(yw_d3(bounds.lower), yw_d3(bounds.upper)), 0.5);
  double reach = reach_of(&lattice, bounds);
  int32_t half = YW_BCC_SIDE;
  while ((double)half < reach && half < 1 << 28) half *= 2;

  builder b = {.lattice = &lattice, .max_blocks = max_blocks, .status = YW_OK};
  if (!reserve_block(&b)) b.status = YW_ERR_MEMORY;
  for (int n = 0; n < 8; ++n) {
    descend(&b, (int32_t[]){n & 1 ? 0 : -half, n & 2 ? 0 : -half, n & 4 ? 0 : -half}, half);
  }
  int32_t value_blocks = 0;
  evaluate_from(&b, 0, &value_blocks);
  grow(&b, &value_blocks);
  yw_mem_free(&lattice.mem, b.table.slots);
  if (b.status != YW_OK) {
    yw_bcc_free(&lattice);
    lattice = (yw_bcc){0};
  }
  *out = lattice;
  return b.status;
}

void yw_bcc_free(yw_bcc* lattice) {
  yw_alignment_free(&lattice->alignment);
  yw_mem_free(&lattice->mem, lattice->blocks);
  yw_mem_free(&lattice->mem, lattice->values);
  *lattice = (yw_bcc){0};
}
