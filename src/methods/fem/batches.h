// SPDX-License-Identifier: MIT
// The tets of a front in batches of 16 families (or single tets), laid out for the kernels.
//
// A family is the children of one split tet: its 11 (or 10) nodes are gathered once for 12 (or 7)
// children that share 30 (or 24) edges. Families with only a few children in the front are split up
// into single tets. Kernels write results per node of a family into separate slots; nodes add up
// their slots in a fixed order.
#ifndef YW_METHODS_FEM_BATCHES_H
#define YW_METHODS_FEM_BATCHES_H

#include "base/simd.h"
#include "methods/fem/front.h"
#include "methods/fem/materials.h"
#include "methods/fem/soften.h"

// Kinds of batches. Families by the type of their parent: 0..4 if children share the matrices of
// their root, up to a factor, and FEM_OWN + 0..4 with one matrix per child. Then single tets.
#define FEM_KINDS 11
#define FEM_OWN 5
#define FEM_SINGLES 10
#define FEM_MAX_EDGES 30
#define FEM_NODE_BLOCK 256  ///< nodes per task, about 1 microsecond

/// Connectivity of the tets of one kind; local numbers as in fem_child_rule.
typedef struct fem_kind {
  int32_t num_nodes, num_edges, num_children;
  uint8_t edge[FEM_MAX_EDGES][2];  ///< unique edges, local nodes
  // Edges that begin and end at each node.
  uint8_t num_from[FEM_FAMILY_NODES], num_to[FEM_FAMILY_NODES];
  uint8_t from[FEM_FAMILY_NODES][FEM_MAX_EDGES], to[FEM_FAMILY_NODES][FEM_MAX_EDGES];
  uint8_t child_edge[FEM_FAMILY_CHILDREN][6];  ///< edges of a child in slot order
  uint8_t child_node[FEM_FAMILY_CHILDREN][4];
  uint8_t child_type[FEM_FAMILY_CHILDREN];
  uint8_t num_of_type[FEM_TYPES], of_type[FEM_TYPES][FEM_FAMILY_CHILDREN];  ///< children by type
  float child_sign[FEM_FAMILY_CHILDREN];
  /// J = det of the child's edges times this, divided by that of an A tet of the level.
  float child_turn[FEM_FAMILY_CHILDREN];
  float child_volume[FEM_FAMILY_CHILDREN];  ///< divided by that of an A tet of the level
} fem_kind;

/// Tables of all kinds.
void yw_fem_make_kinds(fem_kind kinds[FEM_KINDS]);

/// Tables per root for all levels.
typedef struct fem_tables {
  fem_kind kinds[FEM_KINDS];
  float (*gradients)[FEM_TYPES][9];                 ///< per root: gradients of slots 1..3
  float (*half_squares)[FEM_TYPES][FEM_MAX_EDGES];  ///< per root, parent type: L^2 / 2 of the edges
  /// M per root and type, to be multiplied by 2^level and by the tet's factor. NULL unless the
  /// finest tets have the same material up to a factor.
  float (*root_matrices)[FEM_TYPES][FEM_MATRIX];
  /// From here on, root_matrices has those of softened families. 0: softened ones have their own.
  int32_t first_soft_root;
  float* finest_factors;  ///< per finest tet; NULL: 1
  /// M per tet, to be used unscaled; NULL if one material serves all levels.
  float (*tet_matrices)[FEM_MATRIX];
  float* weights;                     ///< per tet: weight of its strain jumps; NULL: 1
  float (*tet_dampings)[FEM_MATRIX];  ///< damping matrices, likewise; NULL: none
  fem_softening softening;
} fem_tables;

/// soften: which families can be softened, and how; none: as the default.
bool yw_fem_tables_create(const yw_allocator* mem, const fem_hierarchy* h,
                          const fem_materials* materials, yw_fem_soften soften, fem_tables* out);
void yw_fem_tables_free(const yw_allocator* mem, fem_tables* tables);

/// All batches of one kind. Arrays are indexed by batch, then as noted, then by 16 lanes. Lanes
/// beyond count, and some before the next root, have no owner, zero matrices and no slots.
typedef struct fem_batches {
  int32_t count, capacity;  ///< lanes, each a family or tet; batches are (count + 15) / 16
  int32_t* nodes;           ///< num_nodes
  float* half_squares;      ///< num_edges; unused where all lanes have one root
  // Families that share the matrices and rest lengths of their root:
  int32_t* table_root;  ///< per batch: the root of all lanes, or -1 to use lane_tables
  float* lane_tables;   ///< FEM_TYPES x FEM_MATRIX
  float* factors;       ///< num_children; 0 for children not in the front
  bool* one_factor;     ///< per batch: those of all children are those of the first
  float* rest_scale;    ///< of the squares of the root's edges
  float* mean_scale;    ///< of the root's V N^T K N
  float* share_scale;   ///< fraction of the volume of an A child, over its factor
  // Others:
  float* matrices;  ///< num_children x FEM_MATRIX; zeros for children not in the front
  float* offsets;   ///< num_children x 6: tensions subtracted for plastic strain
  float* dampings;  ///< like matrices; NULL: none
  // Softened families, in the first batches; zeros in lanes that are not softened.
  int32_t num_soft;      ///< batches
  float* shares;         ///< num_children: fraction of the volume; if matrices are not shared
  float* mean_matrices;  ///< FEM_MATRIX: V N^T K N of soften.h; unused where lanes have one root
  float* turn;           ///< sign of det divided by 6 volumes of an A tet of the level
  float* scale;          ///< factor from the root's shape gradients to the parent's (or tet's)
  int32_t* owner;        ///< parent tet, or the tet
  int32_t* present;      ///< bit c: child c is in the front
  bool* is_new;          ///< per batch: some lane has changed since its lane_tables were computed
  int32_t* first_slot;   ///< per batch; slot of node n in lane l: first + 16 n + l
} fem_batches;

/// Reference to one batch.
typedef struct fem_batch_ref {
  int32_t kind, batch;
} fem_batch_ref;

typedef struct fem_work {
  yw_allocator mem;
  const fem_hierarchy* h;
  const fem_tables* tables;
  bool soften;
  const int32_t (*corners)[4];  ///< nodes of the finest tets if they may crack, or NULL
  fem_batches kinds[FEM_KINDS];
  int32_t num_slots, slot_capacity;
  // Active nodes and batches, in the order in which threads process them (order.c).
  int32_t* nodes;       ///< as many as front->num_active
  int32_t* slot_start;  ///< per entry of nodes, + 1
  int32_t* slots;       ///< of a node, ascending
  int32_t* place;       ///< per node: index in nodes
  int32_t num_batches;  ///< of all kinds
  fem_batch_ref* order;
  int32_t* root_start;  ///< per root, + 1; scratch
} fem_work;

bool yw_fem_work_create(const yw_allocator* mem, const fem_hierarchy* h, const fem_tables* tables,
                        fem_work* out);
void yw_fem_work_free(fem_work* work);
/// Lists the tets of a front. soften: families bend as the tables say.
void yw_fem_work_build(fem_work* work, const fem_front* front, bool soften);
/// Call after corners changed: the next build fills all lanes again.
void yw_fem_work_forget(fem_work* work);
/// The part of yw_fem_work_build that lists nodes, batches and slots in order (order.c).
void yw_fem_work_order(fem_work* work, const fem_front* front);
/// Bit mask of a family's children that are softened together; 0: none, or not in the front.
int32_t yw_fem_softened(const fem_work* work, const fem_front* front, int32_t parent);
/// Copies the tension offsets of all tets in the lists; 6 per tet of the hierarchy.
void yw_fem_work_set_offsets(fem_work* work, const float (*tensions)[6]);

/// Matrices of families that share them: per root, as softened as the work is.
static inline const float (*yw_fem_shared_matrices(const fem_work* work))[FEM_TYPES][FEM_MATRIX] {
  const fem_tables* t = work->tables;
  int32_t first = work->soften ? t->first_soft_root : 0;
  return t->root_matrices ? (const float(*)[FEM_TYPES][FEM_MATRIX])(t->root_matrices + first)
                          : NULL;
}

/// True if the children of this parent share the matrices of their root.
static inline bool yw_fem_shares(const fem_tables* t, const fem_hierarchy* h, int32_t parent) {
  return t->root_matrices && !t->tet_dampings && h->level[parent] + 1 == h->max_level;
}

/// The same for softened children.
static inline bool yw_fem_soft_shares(const fem_tables* t) {
  return t->first_soft_root > 0 && !t->tet_dampings;
}

/// The four nodes of a tet, in slot order: its own copies where it is cracked.
static inline const int32_t* yw_fem_nodes_of(const fem_work* work, int32_t tet) {
  int32_t first = work->h->level_start[work->h->max_level];
  return work->corners && tet >= first ? work->corners[tet - first] : work->h->nodes[tet];
}

static inline int32_t yw_fem_num_batches(const fem_batches* batches) {
  return (batches->count + YW_LANES - 1) / YW_LANES;
}

#endif
