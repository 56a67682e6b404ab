// SPDX-License-Identifier: MIT
// Particle order, chunks with their halos, and ring offsets (see model.h).
#include <string.h>

#include "methods/match/model.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Particles per chunk. Smaller chunks have a larger halo in proportion; larger ones have rows that
// fall out of cache and leave less work to share among threads. Tuned on lattices of 2,025 to
// 200,000 particles (32 kB L1, 1 MB L2).
#define CHUNK_PARTICLES 512
// Large bodies use larger chunks: fewer particles are read twice (6 % faster at 200,000 particles),
// and there are still enough chunks for all threads.
#define LARGE_CHUNK_PARTICLES 1024
#define LARGE_BODY 8192

// Sorting -----------------------------------------------------------------------------------------

static void sift_down(uint64_t* keys, size_t root, size_t count) {
  uint64_t key = keys[root];
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && keys[child + 1] > keys[child]) ++child;
    if (keys[child] <= key) break;
    keys[root] = keys[child];
  }
  keys[root] = key;
}

// Heap sort: in place, with no hidden allocation as in the C library's qsort.
static void sort_keys(uint64_t* keys, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift_down(keys, i, count);
  for (size_t end = count; end-- > 1;) {
    uint64_t largest = keys[0];
    keys[0] = keys[end];
    keys[end] = largest;
    sift_down(keys, 0, end);
  }
}

// Groups ------------------------------------------------------------------------------------------

static yw_status number_groups(match_model* model, match_build* build, yw_error* error) {
  int32_t n = model->num_particles;
  if (model->num_examples == 0 || model->grouping == YW_GROUPS_GLOBAL) {
    model->num_groups = 1;
    return YW_OK;
  }
  if (model->grouping == YW_GROUPS_PER_REGION) {
    model->num_groups = n;
    return YW_OK;
  }
  uint64_t* keys = YW_NEW_ARRAY(&model->mem, uint64_t, n);
  build->group = YW_NEW_ARRAY(&model->mem, int32_t, n);
  if (!keys || !build->group) {
    yw_mem_free(&model->mem, keys);
    return yw_fail_memory(error, "the groups of a match model");
  }
  // Labels in ascending order, each with its vertex.
  for (int32_t i = 0; i < n; ++i) {
    uint64_t label = (uint64_t)((int64_t)build->def->vertex_labels[i] - INT32_MIN);
    keys[i] = label << 32 | (uint32_t)i;
  }
  sort_keys(keys, (size_t)n);
  int32_t group = 0;
  for (int32_t k = 0; k < n; ++k) {
    if (k > 0 && keys[k] >> 32 != keys[k - 1] >> 32) ++group;
    build->group[(uint32_t)keys[k]] = group;
  }
  model->num_groups = group + 1;
  yw_mem_free(&model->mem, keys);
  return YW_OK;
}

// Order -------------------------------------------------------------------------------------------

static int32_t ring_size(const match_build* build, int32_t vertex) {
  return build->rings.start[vertex + 1] - build->rings.start[vertex] + 1;
}

// Counts the rows of the particles curve[begin .. end-1]: themselves and their neighbours. seen
// holds the last stamp set on each vertex.
static int32_t count_rows(const match_build* build, const int32_t* curve, int32_t begin,
                          int32_t end, int32_t* seen, int32_t stamp) {
  int32_t rows = 0;
  for (int32_t p = begin; p < end; ++p) {
    int32_t v = curve[p];
    if (seen[v] != stamp) {
      seen[v] = stamp;
      ++rows;
    }
    for (int32_t n = build->rings.start[v]; n < build->rings.start[v + 1]; ++n) {
      int32_t other = build->rings.items[n];
      if (seen[other] != stamp) {
        seen[other] = stamp;
        ++rows;
      }
    }
  }
  return rows;
}

// Cuts the curve into chunks of whole blocks whose rows fit the scratch buffer.
static yw_status cut_chunks(match_model* model, const match_build* build, const int32_t* curve,
                            int32_t* seen, yw_error* error) {
  int32_t stamp = 0;
  for (int32_t begin = 0; begin < model->num_particles;) {
    int32_t size = model->num_particles < LARGE_BODY ? CHUNK_PARTICLES : LARGE_CHUNK_PARTICLES;
    int32_t end, rows;
    for (;;) {
      end = begin + size < model->num_particles ? begin + size : model->num_particles;
      rows = count_rows(build, curve, begin, end, seen, ++stamp);
      if (rows < MATCH_MAX_ROWS) break;
      if (size == YW_LANES) {
        return yw_fail(error, YW_ERR_LIMIT,
                       "the vertices near vertex %d touch %d others, but a match body takes at "
                       "most %d; remesh it with tets of more even size",
                       curve[begin], rows, MATCH_MAX_ROWS - 1);
      }
      size /= 2;
    }
    match_chunk* chunk = &model->chunks[model->num_chunks++];
    *chunk = (match_chunk){.begin = begin,
                           .count = end - begin,
                           .first_block = begin / YW_LANES,
                           .num_blocks = (end - begin + YW_LANES - 1) / YW_LANES,
                           .num_halo = rows - (end - begin)};
    begin = end;
  }
  return YW_OK;
}

// Sorts the particles of a chunk by group, then ring size, then position on the curve.
static void sort_chunk(const match_build* build, const match_chunk* chunk, const int32_t* curve,
                       int32_t* vertex_of_particle) {
  uint64_t keys[LARGE_CHUNK_PARTICLES];
  for (int32_t i = 0; i < chunk->count; ++i) {
    int32_t v = curve[chunk->begin + i];
    uint64_t group = build->group ? (uint64_t)build->group[v] : 0;
    keys[i] = group << 32 | (uint64_t)ring_size(build, v) << 16 | (uint64_t)i;
  }
  sort_keys(keys, (size_t)chunk->count);
  for (int32_t i = 0; i < chunk->count; ++i) {
    vertex_of_particle[chunk->begin + i] = curve[chunk->begin + (int32_t)(keys[i] & 0xffff)];
  }
}

// Halos and rings ---------------------------------------------------------------------------------

// Lists the neighbours that belong to other chunks, ascending, and records the row of every vertex.
static void list_halo(match_model* model, const match_build* build, const match_chunk* chunk,
                      int32_t* row_of_vertex) {
  uint64_t keys[MATCH_MAX_ROWS];
  int32_t count = 0, end = chunk->begin + chunk->count;
  for (int32_t p = chunk->begin; p < end; ++p) {
    row_of_vertex[build->vertex_of_particle[p]] = p - chunk->begin;
  }
  for (int32_t p = chunk->begin; p < end; ++p) {
    int32_t v = build->vertex_of_particle[p];
    for (int32_t n = build->rings.start[v]; n < build->rings.start[v + 1]; ++n) {
      int32_t other = build->rings.items[n];
      int32_t q = model->solid.particle_of_vertex[other];
      if ((q < chunk->begin || q >= end) && row_of_vertex[other] < 0) {
        row_of_vertex[other] = 0;
        keys[count++] = (uint64_t)q;
      }
    }
  }
  sort_keys(keys, (size_t)count);
  for (int32_t i = 0; i < count; ++i) {
    model->halo[chunk->halo_start + i] = (int32_t)keys[i];
    row_of_vertex[build->vertex_of_particle[keys[i]]] = chunk->count + i;
  }
}

static void forget_rows(const match_model* model, const match_build* build,
                        const match_chunk* chunk, int32_t* row_of_vertex) {
  for (int32_t i = 0; i < chunk->count; ++i) {
    row_of_vertex[build->vertex_of_particle[chunk->begin + i]] = -1;
  }
  for (int32_t i = 0; i < chunk->num_halo; ++i) {
    row_of_vertex[build->vertex_of_particle[model->halo[chunk->halo_start + i]]] = -1;
  }
}

// Row offsets of the ring of particle i of a block, ascending, padded with the row of zeros.
static void write_ring(const match_build* build, const match_block* block, int32_t vertex,
                       int32_t zero_row, const int32_t* row_of_vertex, uint16_t* out) {
  uint64_t rows[MATCH_MAX_ROWS];
  int32_t count = 0;
  if (vertex >= 0) {
    rows[count++] = (uint64_t)row_of_vertex[vertex];
    for (int32_t n = build->rings.start[vertex]; n < build->rings.start[vertex + 1]; ++n) {
      rows[count++] = (uint64_t)row_of_vertex[build->rings.items[n]];
    }
    sort_keys(rows, (size_t)count);
  }
  const uint64_t units = sizeof(float) * MATCH_ROW / MATCH_RING_UNIT;
  for (int32_t k = 0; k < block->ring_length; ++k) {
    out[k * YW_LANES] = (uint16_t)((k < count ? rows[k] : (uint64_t)zero_row) * units);
  }
}

static void write_rings(match_model* model, const match_build* build, const match_chunk* chunk,
                        const int32_t* row_of_vertex) {
  int32_t zero_row = chunk->count + chunk->num_halo;
  for (int32_t b = 0; b < chunk->num_blocks; ++b) {
    const match_block* block = &model->blocks[chunk->first_block + b];
    uint16_t* out = model->rings + block->ring_start;
    for (int32_t i = 0; i < YW_LANES; ++i) {
      int32_t p = chunk->begin + b * YW_LANES + i;
      int32_t vertex = p < model->num_particles ? build->vertex_of_particle[p] : -1;
      write_ring(build, block, vertex, zero_row, row_of_vertex, out + i);
    }
  }
}

// Allocates halos and rings; their sizes follow from the order.
static yw_status size_rings(match_model* model, const match_build* build, yw_error* error) {
  int64_t halo = 0, offsets = 0;
  for (int32_t c = 0; c < model->num_chunks; ++c) {
    model->chunks[c].halo_start = (int32_t)halo;
    halo += model->chunks[c].num_halo;
  }
  for (int32_t b = 0; b < model->num_blocks; ++b) {
    match_block* block = &model->blocks[b];
    for (int32_t i = 0; i < YW_LANES && b * YW_LANES + i < model->num_particles; ++i) {
      int32_t size = ring_size(build, build->vertex_of_particle[b * YW_LANES + i]);
      if (size > block->ring_length) block->ring_length = size;
    }
    block->ring_start = (int32_t)offsets;
    offsets += (int64_t)block->ring_length * YW_LANES;
  }
  if (halo > INT32_MAX || offsets > INT32_MAX) {
    return yw_fail(error, YW_ERR_LIMIT, "a match model of %d particles is too large",
                   model->num_particles);
  }
  model->halo = YW_NEW_ARRAY(&model->mem, int32_t, halo + MATCH_HALO_PADDING);
  model->rings = YW_NEW_ARRAY(&model->mem, uint16_t, offsets);
  if (!model->halo || !model->rings) return yw_fail_memory(error, "the rings of a match model");
  return YW_OK;
}

// Shares ------------------------------------------------------------------------------------------

static int32_t group_of_particle(const match_build* build, int32_t p) {
  return build->group ? build->group[build->vertex_of_particle[p]] : 0;
}

// Lists the groups of every part of a chunk. Particles are sorted by group, so each share is
// contiguous.
#define PART_PARTICLES (MATCH_PART_BLOCKS * YW_LANES)

static yw_status list_shares(match_model* model, const match_build* build, yw_error* error) {
  if (model->num_examples == 0 || model->grouping == YW_GROUPS_PER_REGION) return YW_OK;
  for (int32_t c = 0; c < model->num_chunks; ++c) {
    match_chunk* chunk = &model->chunks[c];
    chunk->first_share = model->num_shares;
    for (int32_t p = chunk->begin; p < chunk->begin + chunk->count; ++p) {
      bool new_share = (p - chunk->begin) % PART_PARTICLES == 0 ||
                       group_of_particle(build, p) != group_of_particle(build, p - 1);
      if (new_share) ++model->num_shares;
    }
    chunk->num_shares = model->num_shares - chunk->first_share;
  }
  model->share_group = YW_NEW_ARRAY(&model->mem, int32_t, model->num_shares);
  model->lane_share = YW_NEW_ARRAY(&model->mem, int32_t, (size_t)model->num_blocks * YW_LANES);
  if (!model->share_group || !model->lane_share) {
    return yw_fail_memory(error, "the groups of a match model");
  }
  for (int32_t c = 0; c < model->num_chunks; ++c) {
    const match_chunk* chunk = &model->chunks[c];
    int32_t share = chunk->first_share - 1, last_group = -1;
    for (int32_t i = 0; i < chunk->num_blocks * YW_LANES; ++i) {
      int32_t p = chunk->begin + i, b = p / YW_LANES;
      if (i % PART_PARTICLES == 0) last_group = -1;
      if (p < model->num_particles && group_of_particle(build, p) != last_group) {
        last_group = group_of_particle(build, p);
        model->share_group[++share] = last_group;
      }
      match_block* block = &model->blocks[b];
      if (p % YW_LANES == 0) {
        block->share = share;
      } else if (block->share != share) {
        block->share = -1;
      }
      model->lane_share[b * YW_LANES + match_lane(p % YW_LANES)] = share;
    }
  }
  return YW_OK;
}

// All ---------------------------------------------------------------------------------------------

static yw_status order_particles(match_model* model, match_build* build, int32_t* curve,
                                 int32_t* spare, yw_error* error) {
  int32_t n = model->num_particles;
  yw_status status =
      yw_locality_order(&model->mem, &build->rings, build->def->mesh->positions, spare);
  if (status < 0) return yw_fail_memory(error, "the order of a match model");
  for (int32_t v = 0; v < n; ++v) curve[spare[v]] = v;
  memset(spare, 0, (size_t)n * sizeof *spare);
  status = cut_chunks(model, build, curve, spare, error);
  if (status < 0) return status;
  for (int32_t c = 0; c < model->num_chunks; ++c) {
    sort_chunk(build, &model->chunks[c], curve, build->vertex_of_particle);
  }
  for (int32_t p = 0; p < n; ++p) model->solid.particle_of_vertex[build->vertex_of_particle[p]] = p;
  return YW_OK;
}

yw_status yw_match_build_chunks(match_model* model, match_build* build, yw_error* error) {
  int32_t n = model->num_particles;
  model->num_blocks = (n + YW_LANES - 1) / YW_LANES;
  model->chunks = YW_NEW_ARRAY(&model->mem, match_chunk, model->num_blocks);
  model->blocks = YW_NEW_ARRAY(&model->mem, match_block, model->num_blocks);
  model->solid.particle_of_vertex = YW_NEW_ARRAY(&model->mem, int32_t, n);
  build->vertex_of_particle = YW_NEW_ARRAY(&model->mem, int32_t, n);
  int32_t* curve = YW_NEW_ARRAY(&model->mem, int32_t, n);
  int32_t* spare = YW_NEW_ARRAY(&model->mem, int32_t, n);
  yw_status status = YW_OK;
  if (!model->chunks || !model->blocks || !model->solid.particle_of_vertex ||
      !build->vertex_of_particle || !curve || !spare) {
    status = yw_fail_memory(error, "the chunks of a match model");
  }
  if (status >= 0) status = number_groups(model, build, error);
  if (status >= 0) status = order_particles(model, build, curve, spare, error);
  if (status >= 0) status = size_rings(model, build, error);
  if (status >= 0) {
    for (int32_t v = 0; v < n; ++v) spare[v] = -1;
    for (int32_t c = 0; c < model->num_chunks; ++c) {
      list_halo(model, build, &model->chunks[c], spare);
      write_rings(model, build, &model->chunks[c], spare);
      forget_rows(model, build, &model->chunks[c], spare);
    }
    status = list_shares(model, build, error);
  }
  yw_mem_free(&model->mem, curve);
  yw_mem_free(&model->mem, spare);
  return status;
}
