// SPDX-License-Identifier: MIT
#include "geometry/mesher_graded.h"

#include "geometry/mesher.h"
#include "geometry/shape.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/vec.h"

#define BATCH 256

// Nodes of an aligned lattice that are closer to the surface, in spacings, are on it: rounding.
#define ON_FACE 1e-4f

// Places ------------------------------------------------------------------------------------------

// A place in the coordinates of nodes.
static yw_dvec3 place_of(const yw_graded* g, double x, double y, double z) {
  if (yw_is_aligned(&g->alignment)) {
    return yw_alignment_position(&g->alignment, 0.5 * x, 0.5 * y, 0.5 * z);
  }
  return yw_dmad(g->origin, 0.5 * g->spacing, (yw_dvec3){x, y, z});
}

yw_dvec3 yw_graded_place(const yw_graded* g, int32_t node) {
  const int32_t* at = g->tree.nodes.items[node].at;
  return place_of(g, at[0], at[1], at[2]);
}

typedef struct ball {
  yw_dvec3 center;
  double radius;
} ball;

// The ball around a cube of `cells` cells of a level.
static ball ball_of(const yw_graded* g, yw_grid_cell cell, int32_t cells) {
  double width = yw_octree_width(&g->tree, cell.level), x[3], y[3];
  for (int a = 0; a < 3; ++a) x[a] = cell.at[a] * width, y[a] = x[a] + cells * width;
  yw_dvec3 low = place_of(g, x[0], x[1], x[2]), high = place_of(g, y[0], y[1], y[2]);
  return (ball){yw_dscale(yw_dadd(low, high), 0.5), 0.5001 * yw_dlength(yw_dsub(high, low))};
}

static double distance_at(const yw_graded* g, yw_dvec3 p) {
  return (double)yw_shape_distance(g->shape, yw_f3(p));
}

// Cells of level 0 --------------------------------------------------------------------------------

static double coarsest_of(const yw_graded* g) {
  double coarsest = g->spacing * (double)(1 << g->tree.finest);
  return yw_is_aligned(&g->alignment) ? g->alignment.widest : coarsest;
}

// Adds the cells near the shape: those that it may touch, and their neighbours.
static void add_coarse_cells(yw_graded* g, yw_grid_cell cell, int32_t cells) {
  if (g->tree.status != YW_OK) return;
  ball b = ball_of(g, cell, cells);
  if (distance_at(g, b.center) > b.radius + 1.01 * coarsest_of(g)) return;
  if (cells == 1) {
    yw_octree_add(&g->tree, cell);
    return;
  }
  int32_t half = cells / 2;
  for (int n = 0; n < 8; ++n) {
    yw_grid_cell child = cell;
    for (int a = 0; a < 3; ++a) child.at[a] += (n >> a & 1) * half;
    add_coarse_cells(g, child, half);
  }
}

// How far the lattice must reach from its origin, in cells of level 0.
static double reach_of(const yw_graded* g, yw_aabb bounds) {
  double coarsest = g->spacing * (double)(1 << g->tree.finest);
  yw_dvec3 size = yw_dsub(yw_d3(bounds.upper), yw_d3(bounds.lower));
  double reach = 0.5 * fmax(size.x, fmax(size.y, size.z)) / coarsest + 2.0;
  if (!yw_is_aligned(&g->alignment)) return reach;
  // Any axis may run along the diagonal, and what is beyond the planes on one side of it.
  reach = yw_dlength(size) / coarsest + 2.0;
  int32_t most = 0;
  for (int n = 0; n < 3; ++n) {
    if (g->alignment.axis[n].count > most) most = g->alignment.axis[n].count;
  }
  return reach + (double)(most >> g->tree.finest) + 1.0;
}

static void add_all_coarse_cells(yw_graded* g, yw_aabb bounds) {
  double reach = reach_of(g, bounds);
  int32_t half = 1;
  while ((double)half < reach && half < 1 << (28 - YW_MAX_GRID_LEVEL)) half *= 2;
  for (int n = 0; n < 8; ++n) {
    yw_grid_cell cell = {{n & 1 ? 0 : -half, n & 2 ? 0 : -half, n & 4 ? 0 : -half}, 0};
    add_coarse_cells(g, cell, half);
  }
}

// Finer cells -------------------------------------------------------------------------------------

// Adds the cells of levels up to `level` that meet both the ball and the shape.
static void refine_in(yw_graded* g, yw_grid_cell cell, ball where, int32_t level) {
  if (g->tree.status != YW_OK) return;
  ball b = ball_of(g, cell, 1);
  double reach = b.radius + where.radius;
  yw_dvec3 between = yw_dsub(b.center, where.center);
  if (yw_ddot(between, between) > reach * reach) return;
  if (cell.level > 0) {
    // Cells that were added before have been found to meet the shape.
    if (yw_octree_find(&g->tree, cell) < 0 && distance_at(g, b.center) > b.radius) return;
    yw_octree_add(&g->tree, cell);
  }
  if (cell.level >= level) return;
  for (int n = 0; n < 8; ++n) {
    yw_grid_cell child = {.level = cell.level + 1};
    for (int a = 0; a < 3; ++a) child.at[a] = 2 * cell.at[a] + (n >> a & 1);
    refine_in(g, child, where, level);
  }
}

// The coordinate of a place on an axis, in finest cells, rounded down.
static int32_t cell_on_axis(const yw_graded* g, int axis, double at) {
  const yw_lattice_axis* line = &g->alignment.axis[axis];
  if (!yw_is_aligned(&g->alignment)) return (int32_t)floor(at / g->spacing);
  if (at < line->planes[0]) return (int32_t)floor((at - line->planes[0]) / line->spacing);
  int32_t low = 0, high = line->count;
  while (high - low > 1) {
    int32_t middle = (low + high) / 2;
    *(line->planes[middle] <= at ? &low : &high) = middle;
  }
  if (low + 1 < line->count) return low;
  return low + (int32_t)floor((at - line->planes[low]) / line->spacing);
}

// Refines the cells of level 0 around a ball.
static void refine_around(yw_graded* g, ball where, int32_t level) {
  int32_t low[3], high[3];
  for (int a = 0; a < 3; ++a) {
    yw_dvec3 from = yw_dsub(where.center, g->origin), unit = {a == 0, a == 1, a == 2};
    double at = yw_ddot(from, unit);
    if (yw_is_aligned(&g->alignment)) at = yw_ddot(where.center, g->alignment.axis[a].direction);
    low[a] = cell_on_axis(g, a, at - where.radius) >> g->tree.finest;
    high[a] = cell_on_axis(g, a, at + where.radius) >> g->tree.finest;
  }
  yw_grid_cell cell = {.level = 0};
  for (cell.at[2] = low[2]; cell.at[2] <= high[2]; ++cell.at[2]) {
    for (cell.at[1] = low[1]; cell.at[1] <= high[1]; ++cell.at[1]) {
      for (cell.at[0] = low[0]; cell.at[0] <= high[0]; ++cell.at[0]) {
        refine_in(g, cell, where, level);
      }
    }
  }
}

static void add_fine_cells(yw_graded* g, const yw_size_field* sizes) {
  const yw_matter* m = sizes->matter;
  for (int32_t n = 0; n < m->count && g->tree.status == YW_OK; ++n) {
    if (sizes->level[n] == 0) continue;
    ball where = {yw_matter_center(m, &m->cubes[n]), 0.75 * m->side};
    refine_around(g, where, sizes->level[n]);
  }
}

// Values ------------------------------------------------------------------------------------------

typedef struct evaluation {
  yw_graded* g;
  int32_t first;
  float on_face;  ///< m: closer nodes are on the surface
} evaluation;

static void evaluate_batch(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const evaluation* job = context;
  yw_graded* g = job->g;
  int32_t start = job->first + block * BATCH, count = g->tree.nodes.count;
  int32_t batch = count - start < BATCH ? count - start : BATCH;
  yw_vec4 points[BATCH];
  for (int32_t n = 0; n < batch; ++n) points[n] = yw_v4(yw_f3(yw_graded_place(g, start + n)));
  yw_shape_distance_many(g->shape, batch, points, g->values + start);
  for (int32_t n = start; n < start + batch; ++n) {
    if (!(fabsf(g->values[n]) < INFINITY)) g->values[n] = (float)g->spacing;
    if (fabsf(g->values[n]) < job->on_face) g->values[n] = 0.0f;
  }
}

// Distances at nodes from `first` on.
static void evaluate_from(yw_graded* g, int32_t first) {
  int32_t count = g->tree.nodes.count;
  if (g->tree.status != YW_OK) return;
  float* grown =
      (float*)yw_mem_resize(&g->mem, g->values, (size_t)first, (size_t)count, sizeof(float));
  if (grown == NULL) {
    g->tree.status = YW_ERR_MEMORY;
    return;
  }
  g->values = grown;
  float on_face = yw_is_aligned(&g->alignment) ? ON_FACE * (float)g->spacing : 0.0f;
  evaluation job = {g, first, on_face};
  yw_tasks_run(g->tasks, (count - first + BATCH - 1) / BATCH, evaluate_batch, &job);
}

static bool has_node_inside(const yw_graded* g, yw_grid_cell cell) {
  for (int bits = 0; bits <= 8; ++bits) {
    if (g->values[yw_octree_node(&g->tree, cell, bits)] < 0.0f) return true;
  }
  return false;
}

// The sign of an open triangle mesh changes across its holes, far from any triangle: cells are
// added until all nodes inside have their neighbours.
static void evaluate_and_grow(yw_graded* g) {
  int32_t evaluated = 0, checked = 0;
  while (g->tree.status == YW_OK && evaluated < g->tree.nodes.count) {
    evaluate_from(g, evaluated);
    evaluated = g->tree.nodes.count;
    int32_t count = g->tree.cells.count;
    for (; checked < count && g->tree.status == YW_OK; ++checked) {
      yw_grid_cell cell = g->tree.cells.items[checked];
      if (cell.level > 0 || !has_node_inside(g, cell)) continue;
      for (int n = 0; n < 27; ++n) {
        yw_grid_cell next = {
            {cell.at[0] + n % 3 - 1, cell.at[1] + n / 3 % 3 - 1, cell.at[2] + n / 9 - 1}, 0};
        yw_octree_add(&g->tree, next);
      }
    }
  }
}

// All
// -----------------------------------------------------------------------------------------------

yw_status yw_graded_create(const yw_allocator* mem, const yw_shape* shape, yw_aabb bounds,
                           const yw_size_field* sizes, int32_t max_cells, yw_tasks* tasks,
                           yw_graded* out) {
  yw_graded g = {.mem = yw_mem_or_default(mem),
                 .shape = shape,
                 .tasks = tasks,
                 .spacing = sizes->coarsest / (double)(1 << sizes->finest)};
  yw_octree_begin(&g.mem, sizes->finest, max_cells, &g.tree);
  // Centred, so that the mesh of a symmetric shape is as symmetric as possible.
  g.origin = yw_dscale(yw_dadd(yw_d3(bounds.lower), yw_d3(bounds.upper)), 0.5);
  g.tree.status = yw_alignment_create(&g.mem, shape, sizes->coarsest, sizes->finest, &g.alignment);
  if (g.tree.status == YW_OK) add_all_coarse_cells(&g, bounds);
  add_fine_cells(&g, sizes);
  evaluate_and_grow(&g);
  yw_octree_list_tets(&g.tree);
  yw_graded_find_cuts(&g);
  yw_status status = g.tree.status;
  if (status != YW_OK) yw_graded_free(&g);
  *out = g;
  return status;
}

void yw_graded_free(yw_graded* g) {
  yw_octree_free(&g->tree);
  yw_alignment_free(&g->alignment);
  yw_mem_free(&g->mem, g->values);
  yw_mem_free(&g->mem, g->side);
  yw_mem_free(&g->mem, g->width);
  yw_mem_free(&g->mem, g->warp);
  YW_LIST_FREE(&g->mem, &g->cuts);
  yw_mem_free(&g->mem, g->cut_table.slots);
  *g = (yw_graded){0};
}
