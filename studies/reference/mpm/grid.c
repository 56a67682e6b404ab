// SPDX-License-Identifier: MIT
#include "reference/mpm/grid.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 4e9

// Bytes of a node: momentum and contact normal.
#define NODE_BYTES (2.0 * sizeof(yw_float4))

static void dense_blocks(yw_aabb box, float cell, int32_t low[3], int32_t size[3]) {
  const float from[3] = {box.lower.x, box.lower.y, box.lower.z};
  const float to[3] = {box.upper.x, box.upper.y, box.upper.z};
  for (int a = 0; a < 3; ++a) {
    low[a] = mpm_floor(from[a] / cell - 0.5f) >> 2;
    size[a] = ((mpm_floor(to[a] / cell - 0.5f) + 2) >> 2) - low[a] + 1;
  }
}

double mpm_dense_bytes(yw_aabb box, float cell) {
  int32_t low[3], size[3];
  dense_blocks(box, cell, low, size);
  return NODE_BYTES * MPM_BLOCK * (double)size[0] * (double)size[1] * (double)size[2];
}

// Nodes hold nothing yet when their number grows.
static bool reserve_blocks(mpm_grid* g, int32_t count, bool keeps) {
  size_t nodes = (size_t)count * MPM_BLOCK, bytes = nodes * sizeof(yw_float4);
  int32_t(*places)[3] = realloc(g->places, sizeof *places * (size_t)count);
  if (places) g->places = places;
  yw_float4** arrays[] = {&g->node, &g->normal, &g->before};
  for (int k = 0; k < 2 + keeps; ++k) {
    free(*arrays[k]);
    *arrays[k] = aligned_alloc(64, bytes);
    if (!*arrays[k]) return false;
  }
  g->capacity = count;
  return places != NULL;
}

mpm_grid* mpm_grid_create(const mpm_def* def) {
  if (def->dense && mpm_dense_bytes(def->box, def->cell) > MOST_BYTES) return NULL;
  mpm_grid* g = calloc(1, sizeof *g);
  if (!g) return NULL;
  g->dense = def->dense;
  int32_t blocks = 64;
  if (g->dense) {
    dense_blocks(def->box, def->cell, g->low, g->size);
    blocks = g->size[0] * g->size[1] * g->size[2];
  } else {
    g->num_slots = 256;
    g->slots = calloc((size_t)g->num_slots, sizeof *g->slots);
  }
  if (!reserve_blocks(g, blocks, def->flip > 0 || def->implicit) || (!g->dense && !g->slots)) {
    mpm_grid_destroy(g);
    return NULL;
  }
  for (int32_t i = 0; i < blocks && g->dense; ++i) {
    g->places[i][0] = g->low[0] + i / (g->size[1] * g->size[2]);
    g->places[i][1] = g->low[1] + i / g->size[2] % g->size[1];
    g->places[i][2] = g->low[2] + i % g->size[2];
  }
  if (g->dense) g->num_blocks = blocks;
  g->num_nodes = MPM_BLOCK * g->num_blocks;
  return g;
}

void mpm_grid_destroy(mpm_grid* g) {
  if (!g) return;
  free(g->places);
  free(g->slots);
  free(g->node);
  free(g->before);
  free(g->normal);
  free(g->runs);
  free(g);
}

double mpm_grid_bytes(const mpm_grid* g) {
  double node = NODE_BYTES + (g->before ? sizeof(yw_float4) : 0.0);
  return node * MPM_BLOCK * g->capacity + sizeof *g->places * (double)g->capacity +
         sizeof *g->slots * (double)g->num_slots + sizeof *g->runs * (double)g->runs_capacity;
}

// Sparse blocks -----------------------------------------------------------------------------------

static int32_t* find_slot(const mpm_grid* g, const int32_t place[3]) {
  uint32_t hash = (uint32_t)place[0] * 0x9e3779b1u ^ (uint32_t)place[1] * 0x85ebca77u ^
                  (uint32_t)place[2] * 0xc2b2ae3du;
  uint32_t mask = (uint32_t)g->num_slots - 1u;
  for (uint32_t i = hash ^ hash >> 15;; ++i) {
    int32_t* slot = &g->slots[i & mask];
    if (*slot == 0 || memcmp(g->places[*slot - 1], place, sizeof g->places[0]) == 0) return slot;
  }
}

static bool grow_slots(mpm_grid* g) {
  free(g->slots);
  g->num_slots *= 2;
  g->slots = calloc((size_t)g->num_slots, sizeof *g->slots);
  for (int32_t i = 0; i < g->num_blocks && g->slots; ++i) *find_slot(g, g->places[i]) = i + 1;
  return g->slots != NULL;
}

static int32_t sparse_block(mpm_grid* g, const int32_t place[3], bool keeps) {
  int32_t* slot = find_slot(g, place);
  if (*slot > 0) return *slot - 1;
  if (g->num_blocks == g->capacity && !reserve_blocks(g, g->capacity + g->capacity / 2, keeps)) {
    return -1;
  }
  int32_t block = g->num_blocks++;
  memcpy(g->places[block], place, sizeof g->places[0]);
  *slot = block + 1;
  g->num_nodes = MPM_BLOCK * g->num_blocks;
  if (2 * g->num_blocks > g->num_slots && !grow_slots(g)) return -1;
  return block;
}

// Blocks of particles -----------------------------------------------------------------------------

static int32_t block_at(mpm_grid* g, const int32_t place[3], bool keeps) {
  if (!g->dense) return sparse_block(g, place, keeps);
  int32_t at = 0;
  for (int a = 0; a < 3; ++a) {
    int32_t i = place[a] - g->low[a];
    if (i < 0 || i >= g->size[a]) return -1;
    at = at * g->size[a] + i;
  }
  return at;
}

static bool begin_run(mpm_grid* g, int32_t particle, const int32_t block[3], bool keeps) {
  if (g->num_runs == g->runs_capacity) {
    int32_t capacity = g->runs_capacity ? 2 * g->runs_capacity : 256;
    mpm_run* runs = realloc(g->runs, sizeof *runs * (size_t)capacity);
    if (!runs) return false;
    g->runs = runs;
    g->runs_capacity = capacity;
  }
  mpm_run* run = &g->runs[g->num_runs++];
  memcpy(run->block, block, sizeof run->block);
  run->first = particle;
  for (int k = 0; k < 8; ++k) {
    const int32_t place[3] = {block[0] + (k >> 2), block[1] + (k >> 1 & 1), block[2] + (k & 1)};
    run->slot[k] = block_at(g, place, keeps);
    // Upper neighbours beyond a dense grid are never reached from inside of its box.
    if (run->slot[k] < 0 && (k == 0 || !g->dense)) return false;
  }
  return true;
}

bool mpm_grid_place(mpm_grid* g, const mpm* m) {
  float inverse = 1.0f / m->def.cell;
  bool keeps = m->def.flip > 0 || m->def.implicit;
  g->num_runs = 0;
  if (!g->dense) {
    g->num_blocks = 0;
    memset(g->slots, 0, sizeof *g->slots * (size_t)g->num_slots);
  }
  for (int32_t i = 0; i < m->count; ++i) {
    const float x[3] = {m->particles[i].x.x, m->particles[i].x.y, m->particles[i].x.z};
    const float from[3] = {m->def.box.lower.x, m->def.box.lower.y, m->def.box.lower.z};
    const float to[3] = {m->def.box.upper.x, m->def.box.upper.y, m->def.box.upper.z};
    int32_t block[3];
    for (int a = 0; a < 3; ++a) {
      if (!(fabsf(x[a] * inverse) < 1e8f)) return false;
      if (g->dense && !(x[a] >= from[a] && x[a] <= to[a])) return false;
      block[a] = mpm_floor(x[a] * inverse - 0.5f) >> 2;
    }
    bool is_new =
        g->num_runs == 0 || memcmp(g->runs[g->num_runs - 1].block, block, sizeof block) != 0;
    if (is_new && !begin_run(g, i, block, keeps)) return false;
    g->runs[g->num_runs - 1].end = i + 1;
  }
  memset(g->node, 0, sizeof *g->node * (size_t)g->num_nodes);
  return true;
}
