// SPDX-License-Identifier: MIT
// Colours the regions and lays them out for sweeps.
#include "methods/frames/sweeps.h"

#include <math.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define COLOR_WORDS 16
#define MAX_COLORS (64 * COLOR_WORDS)
// Weight of the pull to the affine fit: gamma in the notes, for cells and for rings.
#define SWEEP_GAMMA_CELLS FRAMES_GAMMA_CELLS
#define SWEEP_GAMMA_RINGS 0.15

typedef struct color_mask {
  uint64_t words[COLOR_WORDS];
} color_mask;

// Greedy colouring: the first colour not used by a region that shares a particle. Returns the
// number of colours, 0 when there are too many.
static int32_t color_regions(const frames_regions* regions, const int32_t* order, color_mask* used,
                             int32_t* color) {
  int32_t num_colors = 0;
  for (int32_t n = 0; n < regions->num_regions; ++n) {
    int32_t r = order[n], first = 0;
    color_mask taken = {{0}};
    for (int32_t e = regions->start[r]; e < regions->start[r + 1]; ++e) {
      const color_mask* m = &used[regions->member[e]];
      for (int w = 0; w < COLOR_WORDS; ++w) taken.words[w] |= m->words[w];
    }
    while (first < MAX_COLORS && (taken.words[first / 64] >> (first % 64) & 1)) ++first;
    if (first == MAX_COLORS) return 0;
    for (int32_t e = regions->start[r]; e < regions->start[r + 1]; ++e) {
      used[regions->member[e]].words[first / 64] |= (uint64_t)1 << (first % 64);
    }
    color[r] = first;
    if (first + 1 > num_colors) num_colors = first + 1;
  }
  return num_colors;
}

// Compliance of A to a stress: between the mean and the largest eigenvalue of sum g g^T / m, so
// that no direction is over-relaxed by a factor of 2 or more.
static double give_of(const frames_regions* regions, int32_t r) {
  double m[6] = {0};
  for (int32_t e = regions->start[r]; e < regions->start[r + 1]; ++e) {
    const double *g = regions->entries[e].g, w = 1.0 / regions->mass[regions->member[e]];
    m[0] += w * g[0] * g[0], m[1] += w * g[1] * g[1], m[2] += w * g[2] * g[2];
    m[3] += w * g[0] * g[1], m[4] += w * g[0] * g[2], m[5] += w * g[1] * g[2];
  }
  double mean = (m[0] + m[1] + m[2]) / 3.0;
  yw_mat3 unit = {{(float)(m[0] / mean), (float)(m[3] / mean), (float)(m[4] / mean)},
                  {(float)(m[3] / mean), (float)(m[1] / mean), (float)(m[5] / mean)},
                  {(float)(m[4] / mean), (float)(m[5] / mean), (float)(m[2] / mean)}};
  yw_vec3 values;
  yw_mat3 vectors;
  yw_eigen_symmetric(&unit, &values, &vectors);
  return 0.5 * mean * (1.0 + (double)values.x);
}

static void fill_region(const frames_regions* regions, int32_t r, const yw_vec3* rest,
                        const int32_t* particle_of_vertex, frames_sweep_block* block, int32_t lane,
                        frames_sweep_entry* entries) {
  int32_t begin = regions->start[r], count = regions->start[r + 1] - begin;
  const float* origin = &rest[regions->member[begin]].x;
  double center[3] = {0}, m[6] = {0}, inverse[6], lightest = 0.0;
  for (int32_t k = 0; k < block->length; ++k) {
    int32_t vertex = regions->member[k < count ? begin + k : begin];
    const float* x = &rest[vertex].x;
    entries[k].particle[lane] = particle_of_vertex[vertex];
    if (k >= count) continue;
    lightest = fmax(lightest, 1.0 / regions->mass[vertex]);
    for (int i = 0; i < 3; ++i) {
      entries[k].g[i][lane] = (float)regions->entries[begin + k].g[i];
      entries[k].q[i][lane] = x[i] - origin[i];
      center[i] += (double)entries[k].q[i][lane] / count;
    }
  }
  for (int32_t k = 0; k < count; ++k) {
    double q[3];
    for (int i = 0; i < 3; ++i) q[i] = (double)entries[k].q[i][lane] - center[i];
    m[0] += q[0] * q[0], m[1] += q[1] * q[1], m[2] += q[2] * q[2];
    m[3] += q[0] * q[1], m[4] += q[0] * q[2], m[5] += q[1] * q[2];
  }
  double trace = m[0] + m[1] + m[2];
  // Keeps the affine fit defined for flat rings (four vertices of one tet are not flat).
  for (int i = 0; i < 3; ++i) m[i] += 1e-9 * trace;
  yw_sym_invert(m, inverse);
  double gamma = regions->kind == YW_FRAMES_CELLS ? SWEEP_GAMMA_CELLS : SWEEP_GAMMA_RINGS;
  block->mu2[lane] = (float)(2.0 * regions->mu[r] * regions->volume[r]);
  block->lambda[lane] = (float)(regions->lambda[r] * regions->volume[r]);
  block->give[lane] = (float)give_of(regions, r);
  block->spring[lane] = (float)(6.0 * gamma * regions->mu[r] * regions->volume[r] / trace);
  block->lightest[lane] = (float)lightest;
  block->inv_count[lane] = 1.0f / (float)count;
  block->count[lane] = count;
  for (int i = 0; i < 6; ++i) block->inv_moment[i][lane] = (float)inverse[i];
  for (int i = 0; i < 3; ++i) block->center[i][lane] = (float)center[i];
}

// Fills blocks of 16 with the regions of each colour, in order.
static yw_status fill_blocks(const frames_regions* regions, const yw_vec3* rest,
                             const int32_t* particle_of_vertex, const int32_t* by_color,
                             const int32_t* color_size, frames_sweeps* out, yw_error* error) {
  for (int32_t c = 0; c < out->num_colors; ++c) {
    out->color_start[c] = out->num_blocks;
    out->num_blocks += (color_size[c] + YW_LANES - 1) / YW_LANES;
  }
  out->color_start[out->num_colors] = out->num_blocks;
  out->blocks = YW_NEW_ARRAY(&out->mem, frames_sweep_block, out->num_blocks);
  if (!out->blocks) return yw_fail_memory(error, "the sweeps of a frames model");
  int32_t entries = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const int32_t* next = by_color;
    for (int32_t c = 0; c < out->num_colors; next += color_size[c++]) {
      for (int32_t n = 0; n < color_size[c]; ++n) {
        frames_sweep_block* block = &out->blocks[out->color_start[c] + n / YW_LANES];
        int32_t r = next[n], count = regions->start[r + 1] - regions->start[r];
        if (pass == 1) {
          out->place[r] = (int32_t)(block - out->blocks) * YW_LANES + n % YW_LANES;
          fill_region(regions, r, rest, particle_of_vertex, block, n % YW_LANES,
                      out->entries + block->first_entry);
        } else if (count > block->length) {
          block->length = count;
        }
      }
    }
    if (pass == 1) break;
    for (int32_t b = 0; b < out->num_blocks; ++b) {
      out->blocks[b].first_entry = entries;
      entries += out->blocks[b].length;
    }
    out->entries = YW_NEW_ARRAY(&out->mem, frames_sweep_entry, entries);
    if (!out->entries) return yw_fail_memory(error, "the sweeps of a frames model");
  }
  return YW_OK;
}

// Sorts by colour, then by number of members, since a block is as long as its longest region;
// otherwise keeps the given order. cursor: first slot of each colour.
static void sort_regions(const frames_regions* regions, const int32_t* region_order,
                         const int32_t* color, int32_t* cursor, int32_t* by_color) {
  int32_t most = 0;
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    int32_t count = regions->start[r + 1] - regions->start[r];
    if (count > most) most = count;
  }
  for (int32_t members = most, next = 0; members > 0; members = next) {
    next = 0;
    for (int32_t n = 0; n < regions->num_regions; ++n) {
      int32_t r = region_order[n], count = regions->start[r + 1] - regions->start[r];
      if (count == members) by_color[cursor[color[r]]++] = r;
      if (count < members && count > next) next = count;
    }
  }
}

yw_status yw_frames_sweeps_create(const yw_allocator* mem, const frames_regions* regions,
                                  const yw_vec3* rest, const int32_t* particle_of_vertex,
                                  const int32_t* region_order, frames_sweeps* out,
                                  yw_error* error) {
  *out = (frames_sweeps){.mem = yw_mem_or_default(mem)};
  color_mask* used = YW_NEW_ARRAY(mem, color_mask, regions->num_particles);
  int32_t* color = YW_NEW_ARRAY(mem, int32_t, regions->num_regions);
  int32_t* by_color = YW_NEW_ARRAY(mem, int32_t, regions->num_regions);
  int32_t size[MAX_COLORS] = {0}, cursor[MAX_COLORS];
  yw_status status = YW_OK;
  out->color_start = YW_NEW_ARRAY(mem, int32_t, MAX_COLORS + 1);
  out->place = YW_NEW_ARRAY(mem, int32_t, regions->num_regions);
  if (!used || !color || !by_color || !out->color_start || !out->place) {
    status = yw_fail_memory(error, "the sweeps of a frames model");
  } else if ((out->num_colors = color_regions(regions, region_order, used, color)) == 0) {
    status = yw_fail(error, YW_ERR_LIMIT,
                     "a vertex is in the rings of more than %d others: the mesh is too irregular",
                     MAX_COLORS);
  } else {
    for (int32_t r = 0; r < regions->num_regions; ++r) ++size[color[r]];
    for (int32_t c = 0, sum = 0; c < out->num_colors; ++c) cursor[c] = sum, sum += size[c];
    sort_regions(regions, region_order, color, cursor, by_color);
    status = fill_blocks(regions, rest, particle_of_vertex, by_color, size, out, error);
  }
  yw_mem_free(mem, used);
  yw_mem_free(mem, color);
  yw_mem_free(mem, by_color);
  if (status < 0) yw_frames_sweeps_free(out);
  return status;
}

void yw_frames_sweeps_free(frames_sweeps* sweeps) {
  yw_mem_free(&sweeps->mem, sweeps->color_start);
  yw_mem_free(&sweeps->mem, sweeps->blocks);
  yw_mem_free(&sweeps->mem, sweeps->entries);
  yw_mem_free(&sweeps->mem, sweeps->place);
  yw_mem_free(&sweeps->mem, sweeps->examples);
  *sweeps = (frames_sweeps){0};
}
