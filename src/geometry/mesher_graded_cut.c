// SPDX-License-Identifier: MIT
// Cuts, warps and tets of a graded background.
#include "geometry/mesher.h"
#include "geometry/mesher_graded.h"
#include "yawara/extend/hash.h"

// A node is moved onto a cut that is closer than these fractions of the edge: long edges run along
// an axis, short ones through a cell, others across a face between cells of different levels.
#define ALPHA_LONG 0.24999
#define ALPHA_SHORT 0.41189
#define ALPHA_FACE 0.25

// Cuts --------------------------------------------------------------------------------------------

static size_t slot_of_cut(const yw_graded* g, int32_t a, int32_t b) {
  size_t mask = g->cut_table.capacity - 1;
  size_t slot = yw_hash_u64(YW_HASH_SEED, (uint64_t)(uint32_t)a << 32 | (uint32_t)b) & mask;
  for (; g->cut_table.slots[slot] != 0; slot = (slot + 1) & mask) {
    const yw_grid_cut* cut = &g->cuts.items[g->cut_table.slots[slot] - 1];
    if (cut->node[0] == a && cut->node[1] == b) break;
  }
  return slot;
}

yw_grid_cut* yw_graded_cut(const yw_graded* g, int32_t a, int32_t b) {
  int32_t n = g->cut_table.slots[slot_of_cut(g, a < b ? a : b, a < b ? b : a)] - 1;
  return n < 0 ? NULL : &g->cuts.items[n];
}

static bool reserve_cut(yw_graded* g) {
  if (!YW_LIST_RESERVE(&g->mem, &g->cuts, 1)) return false;
  if (2 * ((size_t)g->cuts.count + 1) <= g->cut_table.capacity) return true;
  size_t capacity = g->cut_table.capacity > 0 ? 2 * g->cut_table.capacity : 1024;
  int32_t* slots = YW_NEW_ARRAY(&g->mem, int32_t, capacity);
  if (slots == NULL) return false;
  yw_mem_free(&g->mem, g->cut_table.slots);
  g->cut_table = (yw_grid_table){slots, capacity};
  for (int32_t n = 0; n < g->cuts.count; ++n) {
    slots[slot_of_cut(g, g->cuts.items[n].node[0], g->cuts.items[n].node[1])] = n + 1;
  }
  return true;
}

static void add_cut(yw_graded* g, int32_t a, int32_t b) {
  if (!reserve_cut(g)) {
    g->tree.status = YW_ERR_MEMORY;
    return;
  }
  size_t slot = slot_of_cut(g, a, b);
  if (g->cut_table.slots[slot] != 0) return;
  yw_dvec3 p = yw_graded_place(g, a), edge = yw_dsub(yw_graded_place(g, b), p);
  float t =
      yw_find_cut(g->shape, p, edge, (double)g->values[a], (double)g->values[b], yw_dlength(edge));
  g->cuts.items[g->cuts.count++] = (yw_grid_cut){{a, b}, t, -1};
  g->cut_table.slots[slot] = g->cuts.count;
}

static void add_cuts(yw_graded* g) {
  if (g->tree.status == YW_OK && !reserve_cut(g)) g->tree.status = YW_ERR_MEMORY;
  for (int32_t n = 0; n < g->tree.tets.count; ++n) {
    const int32_t* node = g->tree.tets.items[n].node;
    for (int k = 0; k < 6; ++k) {
      static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
      int32_t a = node[ends[k][0]], b = node[ends[k][1]];
      if (g->tree.status != YW_OK) return;
      if (g->side[a] * g->side[b] < 0) add_cut(g, a < b ? a : b, a < b ? b : a);
    }
  }
}

// Warps -------------------------------------------------------------------------------------------

// How far a node may move along an edge, m. Where cells of several sizes meet, the smallest
// decides.
static double reach_of(const yw_graded* g, int32_t node, const yw_grid_cut* cut, double length) {
  const yw_grid_node* nodes = g->tree.nodes.items;
  const int32_t *p = nodes[cut->node[0]].at, *q = nodes[cut->node[1]].at;
  int32_t axes = 0, longest = 0;
  for (int k = 0; k < 3; ++k) {
    int32_t along = p[k] > q[k] ? p[k] - q[k] : q[k] - p[k];
    axes += along > 0;
    if (along > longest) longest = along;
  }
  int32_t usual = g->width[node] / (axes == 3 ? 2 : 1);
  double alpha = axes == 1 ? ALPHA_LONG : axes == 3 ? ALPHA_SHORT : ALPHA_FACE;
  return alpha * length * (longest > usual ? (double)usual / longest : 1.0);
}

// Moves a node onto the nearest of the cuts that are too close to it, if any.
static void warp_node(yw_graded* g, int32_t node, const int32_t* list, int32_t count) {
  double nearest = INFINITY;
  for (int32_t n = 0; n < count; ++n) {
    const yw_grid_cut* cut = &g->cuts.items[list[n]];
    bool first = cut->node[0] == node;
    if (g->side[cut->node[first ? 1 : 0]] == 0) continue;
    double length =
        yw_dlength(yw_dsub(yw_graded_place(g, cut->node[1]), yw_graded_place(g, cut->node[0])));
    double distance = (double)(first ? cut->t : 1.0f - cut->t) * length;
    if (distance >= nearest || distance >= reach_of(g, node, cut, length)) continue;
    nearest = distance;
    g->warp[node] = list[n];
  }
  if (g->warp[node] >= 0) g->side[node] = 0;
}

// The cuts at each node are listed by counting.
static void warp_nodes(yw_graded* g) {
  int32_t num_nodes = g->tree.nodes.count;
  int32_t* start = YW_NEW_ARRAY(&g->mem, int32_t, num_nodes + 1);
  int32_t* list = YW_NEW_ARRAY(&g->mem, int32_t, 2 * (size_t)g->cuts.count + 1);
  if (start == NULL || list == NULL) {
    g->tree.status = YW_ERR_MEMORY;
  } else {
    for (int32_t n = 0; n < g->cuts.count; ++n) {
      for (int k = 0; k < 2; ++k) ++start[g->cuts.items[n].node[k]];
    }
    for (int32_t n = 1; n <= num_nodes; ++n) start[n] += start[n - 1];
    for (int32_t n = g->cuts.count - 1; n >= 0; --n) {
      for (int k = 0; k < 2; ++k) list[--start[g->cuts.items[n].node[k]]] = n;
    }
    for (int32_t n = 0; n < num_nodes; ++n) {
      if (g->side[n] != 0) warp_node(g, n, list + start[n], start[n + 1] - start[n]);
    }
  }
  yw_mem_free(&g->mem, start);
  yw_mem_free(&g->mem, list);
}

void yw_graded_find_cuts(yw_graded* g) {
  if (g->tree.status != YW_OK) return;
  int32_t count = g->tree.nodes.count;
  g->side = YW_NEW_ARRAY(&g->mem, signed char, count);
  g->warp = YW_NEW_ARRAY(&g->mem, int32_t, count);
  g->width = YW_NEW_ARRAY(&g->mem, int32_t, count);
  if (g->side == NULL || g->warp == NULL || g->width == NULL) {
    g->tree.status = YW_ERR_MEMORY;
    return;
  }
  for (int32_t n = 0; n < count; ++n) {
    g->side[n] = g->values[n] < 0.0f ? -1 : g->values[n] > 0.0f ? 1 : 0;
    g->warp[n] = -1;
    g->width[n] = INT32_MAX;
  }
  for (int32_t n = 0; n < g->tree.tets.count; ++n) {
    const yw_grid_tet* tet = &g->tree.tets.items[n];
    int32_t width = yw_octree_width(&g->tree, tet->level);
    for (int k = 0; k < 4; ++k) {
      if (width < g->width[tet->node[k]]) g->width[tet->node[k]] = width;
    }
  }
  add_cuts(g);
  if (g->tree.status == YW_OK) warp_nodes(g);
}

// Tets --------------------------------------------------------------------------------------------

typedef struct filler {
  yw_stencil stencil;  ///< first, so that a stencil is found in its filler
  yw_graded* g;
  int32_t* node_vertex;  ///< per node: vertex of the mesh, -1: none yet
  const int32_t* node;   ///< of the current tet
  YW_LIST(float) sizes;  ///< per vertex
} filler;

static yw_dvec3 place_of_cut(const yw_graded* g, const yw_grid_cut* cut) {
  yw_dvec3 p = yw_graded_place(g, cut->node[0]);
  return yw_dmad(p, (double)cut->t, yw_dsub(yw_graded_place(g, cut->node[1]), p));
}

static int32_t node_vertex(yw_stencil* stencil, int k) {
  filler* f = (filler*)stencil;
  int32_t node = f->node[k], warp = f->g->warp[node];
  if (f->node_vertex[node] < 0) {
    yw_dvec3 p =
        warp < 0 ? yw_graded_place(f->g, node) : place_of_cut(f->g, &f->g->cuts.items[warp]);
    f->node_vertex[node] = yw_stencil_vertex(stencil, p, f->g->side[node] == 0);
  }
  return f->node_vertex[node];
}

static int32_t cut_vertex(yw_stencil* stencil, int a, int b) {
  filler* f = (filler*)stencil;
  yw_grid_cut* cut = yw_graded_cut(f->g, f->node[a], f->node[b]);
  if (cut->vertex < 0) cut->vertex = yw_stencil_vertex(stencil, place_of_cut(f->g, cut), true);
  return cut->vertex;
}

// As in a lattice of one size: the diagonal ends at the cut of the longer edge. If both are equally
// long, the parity of o in cells of that length decides. Only coordinates of the face matter.
static bool diagonal_from_first(yw_stencil* stencil, int a, int b, int o) {
  const filler* f = (const filler*)stencil;
  const yw_grid_node* nodes = f->g->tree.nodes.items;
  const int32_t *p = nodes[f->node[a]].at, *q = nodes[f->node[b]].at, *r = nodes[f->node[o]].at;
  int64_t first = 0, second = 0;
  int32_t reach = 1, order = 0;
  for (int k = 0; k < 3; ++k) {
    int64_t u = p[k] - r[k], v = q[k] - r[k];
    first += u * u, second += v * v;
    if (u > reach || -u > reach) reach = (int32_t)(u < 0 ? -u : u);
    if (order == 0) order = p[k] < q[k] ? -1 : p[k] > q[k];
  }
  if (first != second) return second > first;
  int shift = 1;
  for (; reach > 1; reach >>= 1) ++shift;
  int32_t sum = (r[0] >> shift) + (r[1] >> shift) + (r[2] >> shift);
  return (order < 0) == ((sum & 1) == 0);
}

// Vertices get the size of the smallest cell that they belong to.
static void note_sizes(filler* f, int32_t first_tet, float size) {
  yw_stencil* s = &f->stencil;
  if (s->status != YW_OK) return;
  if (!YW_LIST_RESERVE(&s->mem, &f->sizes, s->positions.count - f->sizes.count)) {
    s->status = YW_ERR_MEMORY;
    return;
  }
  while (f->sizes.count < s->positions.count) f->sizes.items[f->sizes.count++] = INFINITY;
  for (int32_t t = first_tet; t < s->tets.count; ++t) {
    for (int k = 0; k < 4; ++k) {
      float* at = &f->sizes.items[s->tets.items[t].v[k]];
      *at = fminf(*at, size);
    }
  }
}

static void fill(filler* f) {
  const yw_octree* tree = &f->g->tree;
  for (int32_t n = 0; n < tree->tets.count && f->stencil.status == YW_OK; ++n) {
    const yw_grid_tet* tet = &tree->tets.items[n];
    int32_t first = f->stencil.tets.count;
    f->node = tet->node;
    for (int k = 0; k < 4; ++k) f->stencil.side[k] = f->g->side[tet->node[k]];
    yw_stencil_apply(&f->stencil);
    if (f->stencil.tets.count == first) continue;
    note_sizes(f, first, (float)(f->g->spacing * (double)(1 << (tree->finest - tet->level))));
  }
}

yw_status yw_graded_tets(yw_graded* g, int32_t max_vertices, yw_tet_mesh* out,
                         unsigned char** on_surface, float** sizes) {
  filler f = {.stencil = {.mem = g->mem,
                          .max_vertices = max_vertices,
                          .status = YW_OK,
                          .node_vertex = node_vertex,
                          .cut_vertex = cut_vertex,
                          .diagonal_from_first = diagonal_from_first},
              .g = g};
  *out = (yw_tet_mesh){0};
  *on_surface = NULL;
  *sizes = NULL;
  f.node_vertex = YW_NEW_ARRAY(&g->mem, int32_t, g->tree.nodes.count);
  if (f.node_vertex == NULL) return YW_ERR_MEMORY;
  for (int32_t n = 0; n < g->tree.nodes.count; ++n) f.node_vertex[n] = -1;
  fill(&f);
  yw_mem_free(&g->mem, f.node_vertex);
  yw_status status = yw_stencil_finish(&f.stencil, out, on_surface);
  if (status == YW_OK) {
    *sizes = f.sizes.items;
  } else {
    YW_LIST_FREE(&g->mem, &f.sizes);
  }
  return status;
}
