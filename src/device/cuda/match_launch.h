// SPDX-License-Identifier: MIT
// The launches of a step of a match body.
#ifndef YW_DEVICE_CUDA_MATCH_LAUNCH_H
#define YW_DEVICE_CUDA_MATCH_LAUNCH_H

#include "device/cuda/match_pull.h"
#include "device/cuda/runtime.h"

// Blocks of rows; mostly they find nothing to do.
enum { MOST_ROW_BLOCKS = 512 };

static bool run_totals(device_stream stream, const match_args& a) {
  return device_run<totals_kernel>(stream, a, totals_kernel::blocks(a),
                                   totals_kernel::shared_bytes());
}

template <bool WITH_SHARES>
static bool run_regions(device_stream stream, const match_args& a, int parts) {
  typedef regions_kernel<WITH_SHARES> kernel;
  return device_run<kernel>(stream, a, parts, kernel::shared_bytes(a.model.num_examples));
}

template <bool PAPER>
static bool run_bend(device_stream stream, const match_args& a) {
  typedef bend_kernel<PAPER> kernel;
  return device_run<kernel>(stream, a, kernel::blocks(a), kernel::shared_bytes());
}

static bool run_pins(device_stream stream, const match_args& a) {
  int pieces = (a.model.num_particles + YW_COLLIDE_CHUNK - 1) / YW_COLLIDE_CHUNK;
  return device_run<pins_kernel>(stream, a, 1, pins_kernel::shared_bytes()) &&
         device_run<meet_kernel>(stream, a, pieces, meet_kernel::shared_bytes());
}

/// Settles the last step, for whoever looks at the body after it.
static bool run_settling(device_stream stream, match_args a) {
  a.only_settles = true;
  return device_run<totals_kernel>(stream, a, totals_kernel::first_of_shares(a),
                                   totals_kernel::shared_bytes()) &&
         run_bend<false>(stream, a);
}

/// An inner step.
static bool run_step(device_stream stream, const match_args& a) {
  int parts = a.model.num_chunks * MOST_PARTS;
  int row_blocks = parts < MOST_ROW_BLOCKS ? parts : MOST_ROW_BLOCKS;
  bool is_paper = a.body.params.target == YW_TARGET_PAPER, has_shares = a.model.num_shares > 0;
  return device_run<rows_kernel>(stream, a, row_blocks, rows_kernel::shared_bytes()) &&
         (has_shares ? run_regions<true>(stream, a, parts)
                     : run_regions<false>(stream, a, parts)) &&
         run_totals(stream, a) &&
         (is_paper ? run_bend<true>(stream, a) : run_bend<false>(stream, a)) &&
         device_run<pull_kernel>(stream, a, parts, pull_kernel::shared_bytes()) &&
         (!a.has_pins || run_pins(stream, a));
}

#endif
