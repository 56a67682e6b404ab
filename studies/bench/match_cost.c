// SPDX-License-Identifier: MIT
// Minimum computation and memory traffic of a step of example-based shape matching, counted from
// the sizes of the model and the formulas of match_kernels.c (a division or a root counts as one).
#include <math.h>

#include "bench/match_state.h"
#include "methods/match/model.h"

// Flops by purpose.
enum {
  // Per row: displacement in the frame 21, times mass 3, rest position 3, outer product 12.
  FLOPS_ROW = 39,
  // Per ring entry and half of the step: 12 additions.
  FLOPS_ENTRY = 12,
  // Per region: moment and mean 39, one Newton step 177, test of it 117, sums 43.
  FLOPS_REGION = 376,
  // Per region and example: descriptor product 12, target 12.
  FLOPS_EXAMPLE = 24,
  // Per region with examples: change of the moment 6, turn 96, rotation 24, target and its row 72.
  FLOPS_BEND = 198,
  // Per region without examples: the row.
  FLOPS_TARGET = 27,
  // Per particle: displacement 21, goal 24, back to the world 15, damping 12, velocity and
  // position 24, floor 6.
  FLOPS_PARTICLE = 102
};

// Bytes by array.
enum {
  BYTES_VEC4 = 16,
  BYTES_INDEX = 4,
  BYTES_ROW_MASS = 4,
  BYTES_SYM3 = 24,
  BYTES_MOMENT = 28,  // and its scale
  BYTES_QUAT = 16,
  BYTES_CENTER = 16,  // and 1 / mass
  BYTES_SHIFT = 12,
  BYTES_TARGET = 64,    // a row
  BYTES_PARTICLE = 20,  // rest position, mass, 1 / number of regions
  BYTES_RING_ENTRY = 2
};

typedef struct model_sizes {
  double particles, entries, padded_entries, halo;
} model_sizes;

static model_sizes sizes_of(const match_model* model) {
  model_sizes s = {.particles = (double)model->num_particles};
  for (int32_t b = 0; b < model->num_blocks; ++b) {
    s.padded_entries += (double)model->blocks[b].ring_length * YW_LANES;
    for (int l = 0; l < YW_LANES; ++l) {
      float inv = model->particles[b].inv_count[l];
      if (model->particles[b].mass[l] > 0.0f) s.entries += 1.0 / (double)inv;
    }
  }
  for (int32_t c = 0; c < model->num_chunks; ++c) s.halo += (double)model->chunks[c].num_halo;
  return s;
}

match_bench_cost match_bench_cost_of(const match_bench* bench) {
  const match_model* model = bench->model;
  model_sizes s = sizes_of(model);
  double n = model->num_examples, rows = s.particles + s.halo;
  bool examples = model->num_examples > 0;

  double flops = FLOPS_ROW * rows + 2.0 * FLOPS_ENTRY * s.entries;
  flops += s.particles * (FLOPS_REGION + FLOPS_PARTICLE + FLOPS_EXAMPLE * n);
  flops += s.particles * (examples ? FLOPS_BEND : FLOPS_TARGET);

  // First half: rows from positions, regions, rotations in and out, velocities for the sums.
  double match = rows * (2 * BYTES_VEC4 + BYTES_ROW_MASS) + s.halo * BYTES_INDEX +
                 BYTES_RING_ENTRY * s.padded_entries +
                 s.particles * (BYTES_MOMENT + BYTES_CENTER + 2 * BYTES_QUAT + BYTES_VEC4);
  // Between: fits and shifts out and in again (where the targets will be), examples and their
  // duals, targets out.
  double bend = s.particles * BYTES_TARGET;
  if (examples) {
    bend += s.particles *
            (2 * BYTES_SYM3 + 2 * BYTES_SHIFT + 2 * BYTES_SYM3 * n + BYTES_QUAT + BYTES_CENTER);
  }
  // Second half: targets in, positions and velocities in and out, the floor over them again.
  double pull = rows * BYTES_TARGET + s.halo * BYTES_INDEX + BYTES_RING_ENTRY * s.padded_entries +
                s.particles * (BYTES_PARTICLE + 4 * BYTES_VEC4 + 3 * BYTES_VEC4);

  double kept =
      s.particles * (3 * BYTES_VEC4 + BYTES_VEC4 + BYTES_ROW_MASS + BYTES_MOMENT + BYTES_CENTER +
                     BYTES_QUAT + BYTES_TARGET + BYTES_PARTICLE + 2 * BYTES_SYM3 * n) +
      BYTES_RING_ENTRY * s.padded_entries + s.halo * BYTES_INDEX;
  return (match_bench_cost){.flops = flops,
                            .row_bytes = 2.0 * 12.0 * sizeof(float) * s.entries,
                            .stream_bytes = match + bend + pull,
                            .working_set = kept,
                            .mean_ring = s.entries / s.particles};
}
