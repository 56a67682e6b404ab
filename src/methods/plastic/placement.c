// SPDX-License-Identifier: MIT
// Rest positions of slaves: on the lattice of the masters, shifted by half a spacing in each
// direction, wherever a master is within slave_reach: at the eight corners around each, or, as in
// the paper, at the 32 positions within 2h. Masters that are not on a lattice get the same
// positions each, except where another slave is already close.
#include <string.h>

#include "methods/plastic/cells.h"
#include "methods/plastic/kinds.h"
#include "methods/plastic/model.h"
#include "yawara/extend/memory.h"

// Two positions closer than this, in units of d, are one. Those of one lattice differ by 1.
#define LEAST_DISTANCE 0.7f

// Points in cells of edge d.
typedef struct point_grid {
  const yw_allocator* mem;
  float edge;
  uint32_t mask;
  int32_t* head;  // first point per bucket
  int32_t* next;
  const yw_vec3* points;
} point_grid;

static bool grid_create(point_grid* grid, const yw_allocator* mem, float edge, int64_t capacity) {
  uint32_t buckets = 1024;
  while (buckets < (uint64_t)capacity && buckets < (1u << 30)) buckets *= 2;
  *grid = (point_grid){.mem = mem, .edge = edge, .mask = buckets - 1};
  grid->head = YW_NEW_ARRAY(mem, int32_t, buckets);
  grid->next = YW_NEW_ARRAY(mem, int32_t, capacity);
  if (grid->head) memset(grid->head, 0xff, (size_t)buckets * sizeof *grid->head);
  return grid->head && grid->next;
}

static void grid_free(point_grid* grid) {
  yw_mem_free(grid->mem, grid->head);
  yw_mem_free(grid->mem, grid->next);
}

static uint32_t bucket_of(const point_grid* grid, plastic_cell cell) {
  uint32_t h = plastic_line(cell.y, cell.z) + (uint32_t)cell.x * 0xc2b2ae3du;
  return (h ^ (h >> 15)) & grid->mask;
}

static plastic_cell cell_of(const point_grid* grid, yw_vec3 p, yw_vec3 origin) {
  return plastic_cell_of(yw_v4(yw_sub(p, origin)), grid->edge);
}

static void grid_insert(point_grid* grid, int32_t point, yw_vec3 origin) {
  uint32_t b = bucket_of(grid, cell_of(grid, grid->points[point], origin));
  grid->next[point] = grid->head[b];
  grid->head[b] = point;
}

// True if a point of the grid is closer to p than reach. Tests the cell of p first.
static bool grid_has_near(const point_grid* grid, yw_vec3 p, yw_vec3 origin, float reach) {
  static const int order[3] = {0, -1, 1};
  plastic_cell c = cell_of(grid, p, origin);
  for (int k = 0; k < 27; ++k) {
    plastic_cell near = {c.x + order[k % 3], c.y + order[k / 3 % 3], c.z + order[k / 9]};
    for (int32_t i = grid->head[bucket_of(grid, near)]; i >= 0; i = grid->next[i]) {
      if (yw_length2(yw_sub(grid->points[i], p)) < reach * reach) return true;
    }
  }
  return false;
}

static bool reserve(plastic_model* model, int32_t* capacity, int32_t extra) {
  if (model->num_slaves > INT32_MAX / 2 - extra) return false;
  if (model->num_slaves + extra <= *capacity) return true;
  int32_t wanted = 2 * (model->num_slaves + extra);
  yw_vec3* grown = yw_mem_resize(&model->mem, model->slaves, (size_t)model->num_slaves,
                                 (size_t)wanted, sizeof *grown);
  if (!grown) return false;
  model->slaves = grown;
  *capacity = wanted;
  return true;
}

// Gives back what was reserved too much.
static bool fit(plastic_model* model) {
  yw_vec3* fitting = YW_NEW_ARRAY(&model->mem, yw_vec3, model->num_slaves);
  if (!fitting) return false;
  memcpy(fitting, model->slaves, (size_t)model->num_slaves * sizeof *fitting);
  yw_mem_free(&model->mem, model->slaves);
  model->slaves = fitting;
  return true;
}

bool yw_plastic_place_slaves(plastic_model* model, plastic_part* part, yw_quat rotation) {
  part->first_slave = model->num_slaves;
  float d = model->spacing;
  // DIFFERS: the eight around each master. The paper has one wherever a master is within 2h, so 32
  // for one alone; those outside are light, give way to any stress at the surface in a step, and
  // have forgotten it in the next: matter at rest creeps (docs/methods/plastic.md).
  const float reach2 = model->slave_reach * model->slave_reach;
  // At most 32 each: a solid lattice has hardly more slaves than masters, a line has them all.
  int64_t most = 33 * (int64_t)part->count;
  if (most > INT32_MAX / 2) most = INT32_MAX / 2;
  point_grid grid;
  int32_t capacity = model->num_slaves;
  bool good = grid_create(&grid, &model->mem, d, most + model->num_slaves);
  // Cells whose centers are the slaves of the lattice.
  yw_vec3 origin = model->masters[part->first];
  for (int32_t m = part->first; good && m < part->first + part->count; ++m) {
    good = reserve(model, &capacity, 64);
    grid.points = model->slaves;
    for (int k = 0; good && k < 64; ++k) {
      yw_vec3 o = yw_v3((float)(k % 4) - 1.5f, (float)(k / 4 % 4) - 1.5f, (float)(k / 16) - 1.5f);
      if (yw_length2(o) >= reach2) continue;
      yw_vec3 p = yw_mad(model->masters[m], d, yw_rotate(rotation, o));
      if (grid_has_near(&grid, p, origin, LEAST_DISTANCE * d)) continue;
      if (model->num_slaves - part->first_slave >= most) continue;
      model->slaves[model->num_slaves] = p;
      grid_insert(&grid, model->num_slaves++, origin);
    }
  }
  part->num_slaves = model->num_slaves - part->first_slave;
  grid_free(&grid);
  return good && fit(model);
}

bool yw_plastic_link_masters(plastic_model* model, plastic_part* part) {
  point_grid grid;
  // Half of a master's neighbours: 6 on the lattice, 26 below two spacings.
  int64_t most = (model->scheme.link_reach > 2.5f ? 13 : 3) * (int64_t)part->count;
  float reach = 0.5f * model->scheme.link_reach;
  bool good = grid_create(&grid, &model->mem, reach * model->spacing, model->num_masters);
  int64_t capacity = model->num_links + most;
  plastic_link* links = yw_mem_resize(&model->mem, model->links, (size_t)model->num_links,
                                      (size_t)capacity, sizeof *links);
  if (links) model->links = links;
  grid.points = model->masters;
  float reach2 = reach * reach * model->spacing * model->spacing;
  yw_vec3 origin = {0, 0, 0};
  for (int32_t m = part->first; good && links && m < part->first + part->count; ++m) {
    plastic_cell c = cell_of(&grid, model->masters[m], origin);
    for (int k = 0; k < 27; ++k) {
      plastic_cell near = {c.x + k % 3 - 1, c.y + k / 3 % 3 - 1, c.z + k / 9 - 1};
      for (int32_t i = grid.head[bucket_of(&grid, near)]; i >= 0; i = grid.next[i]) {
        // Two cells may share a bucket.
        plastic_cell own = cell_of(&grid, model->masters[i], origin);
        if (own.x != near.x || own.y != near.y || own.z != near.z) continue;
        yw_vec3 way = yw_sub(model->masters[i], model->masters[m]);
        // Irregular points may have more neighbours; these are enough to detect a tear.
        bool is_near = yw_length2(way) <= reach2;
        if (is_near && model->num_links < capacity)
          model->links[model->num_links++] = (plastic_link){i, m};
      }
    }
    grid_insert(&grid, m, origin);
  }
  grid_free(&grid);
  return good && links;
}

static bool collect_links(plastic_model* model, plastic_kinds* kinds) {
  int32_t members[64], at = 0;
  for (int32_t m = 0; m < model->num_masters; ++m) {
    int32_t count = 0;
    if (m % PLASTIC_LINK_BLOCK == 0) model->first_link[m / PLASTIC_LINK_BLOCK] = at;
    for (; at < model->num_links && model->links[at].b == m; ++at) {
      // A ball of less than three spacings has fewer masters that are not at one place.
      if (count == (int32_t)(sizeof members / sizeof *members)) return false;
      members[count++] = model->links[at].a - m;
    }
    model->link_kind[m] = yw_plastic_kind_of(kinds, members, count);
    if (model->link_kind[m] < 0) return false;
  }
  return true;
}

bool yw_plastic_fold_links(plastic_model* model) {
  const yw_allocator* mem = &model->mem;
  int32_t blocks = model->num_masters / PLASTIC_LINK_BLOCK + 1;
  plastic_kinds kinds;
  model->link_kind = YW_NEW_ARRAY(mem, int32_t, model->num_masters);
  model->first_link = YW_NEW_ARRAY(mem, int32_t, blocks);
  bool good = yw_plastic_kinds_begin(&kinds, mem, model->num_masters) && model->link_kind &&
              model->first_link && collect_links(model, &kinds);
  good = yw_plastic_kinds_end(&kinds, good, &model->first_way, &model->link_way);
  yw_mem_free(mem, model->links);
  model->links = NULL;
  return good;
}
