// SPDX-License-Identifier: MIT
// Nodes of the grid in blocks of 4 x 4 x 4, and how particles find them.
#ifndef YW_STUDIES_REFERENCE_MPM_GRID_H
#define YW_STUDIES_REFERENCE_MPM_GRID_H

#include "math/small/float4.h"
#include "reference/mpm/mpm.h"

enum { MPM_EDGE = 4, MPM_BLOCK = MPM_EDGE * MPM_EDGE * MPM_EDGE };

/// Particles that follow each other and have their lowest node in the same block.
typedef struct mpm_run {
  int32_t first, end;
  int32_t block[3];
  int32_t slot[8];  ///< of the block and its upper neighbours: 4 * x + 2 * y + z
} mpm_run;

struct mpm_grid {
  bool dense;
  int32_t low[3], size[3];  ///< dense: blocks
  int32_t num_blocks, capacity;
  int32_t (*places)[3];  ///< of the blocks
  int32_t num_slots;     ///< of the hash table, a power of two
  int32_t* slots;        ///< block + 1; 0: empty
  int32_t num_nodes;     ///< 64 per block
  yw_float4* node;       ///< momentum and mass, then velocity and mass
  yw_float4* normal;     ///< of the obstacle that it touches, w = 1; 0: none
  yw_float4* before;     ///< velocity before forces; NULL where nothing needs it
  int32_t num_runs, runs_capacity;
  mpm_run* runs;
};

mpm_grid* mpm_grid_create(const mpm_def* def);
void mpm_grid_destroy(mpm_grid* g);
/// Finds the blocks of all particles and clears their nodes. False: see mpm_advance.
bool mpm_grid_place(mpm_grid* g, const mpm* m);
double mpm_grid_bytes(const mpm_grid* g);

/// The 27 nodes of a particle: weights and positions relative to it, in cells.
typedef struct mpm_reach {
  float w[3][3], r[3][3];
  int32_t at[3][3];  ///< offset in its block
  int32_t up[3][3];  ///< 1: in the upper block
} mpm_reach;

static inline int32_t mpm_floor(float x) {
  int32_t i = (int32_t)x;
  return i - ((float)i > x);
}

static inline mpm_reach mpm_reach_of(yw_vec3 x, float inverse_cell) {
  static const int32_t stride[3] = {MPM_EDGE * MPM_EDGE, MPM_EDGE, 1};
  mpm_reach reach;
  const float p[3] = {x.x * inverse_cell, x.y * inverse_cell, x.z * inverse_cell};
  for (int a = 0; a < 3; ++a) {
    int32_t base = mpm_floor(p[a] - 0.5f);
    float f = p[a] - (float)base;
    reach.w[a][0] = 0.5f * (1.5f - f) * (1.5f - f);
    reach.w[a][1] = 0.75f - (f - 1.0f) * (f - 1.0f);
    reach.w[a][2] = 0.5f * (f - 0.5f) * (f - 0.5f);
    for (int k = 0; k < 3; ++k) {
      int32_t n = base + k;
      reach.r[a][k] = (float)k - f;
      reach.at[a][k] = (n & (MPM_EDGE - 1)) * stride[a];
      reach.up[a][k] = (n >> 2) - (base >> 2);
    }
  }
  return reach;
}

/// Node (i, j, k) of a particle.
static inline int32_t mpm_node_of(const mpm_run* run, const mpm_reach* reach, int i, int j, int k) {
  int32_t slot = run->slot[4 * reach->up[0][i] + 2 * reach->up[1][j] + reach->up[2][k]];
  return MPM_BLOCK * slot + reach->at[0][i] + reach->at[1][j] + reach->at[2][k];
}

/// Adds w_i (value + matrix r_i) to the nodes of a particle.
static inline void mpm_scatter(yw_float4* node, const mpm_run* run, const mpm_reach* reach,
                               yw_float4 value, const yw_float4 matrix[3]) {
  for (int i = 0; i < 3; ++i) {
    yw_float4 at_i = value + matrix[0] * reach->r[0][i];
    for (int j = 0; j < 3; ++j) {
      yw_float4 at_j = at_i + matrix[1] * reach->r[1][j];
      float w = reach->w[0][i] * reach->w[1][j];
      for (int k = 0; k < 3; ++k) {
        node[mpm_node_of(run, reach, i, j, k)] +=
            (w * reach->w[2][k]) * (at_j + matrix[2] * reach->r[2][k]);
      }
    }
  }
}

/// Sum of w_i v_i and of w_i v_i r_i^T, r in cells.
static inline void mpm_gather(const yw_float4* node, const mpm_run* run, const mpm_reach* reach,
                              yw_float4* value, yw_float4 matrix[3]) {
  *value = matrix[0] = matrix[1] = matrix[2] = (yw_float4){0};
  for (int i = 0; i < 3; ++i) {
    yw_float4 in_i = {0};
    for (int j = 0; j < 3; ++j) {
      yw_float4 in_j = {0};
      float w = reach->w[0][i] * reach->w[1][j];
      for (int k = 0; k < 3; ++k) {
        yw_float4 v = (w * reach->w[2][k]) * node[mpm_node_of(run, reach, i, j, k)];
        in_j += v;
        matrix[2] += v * reach->r[2][k];
      }
      in_i += in_j;
      matrix[1] += in_j * reach->r[1][j];
    }
    *value += in_i;
    matrix[0] += in_i * reach->r[0][i];
  }
}

#endif
