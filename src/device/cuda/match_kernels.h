// SPDX-License-Identifier: MIT
// What the phases of a step of a match body share. One thread per region or particle: rows
// (match_rows.h), regions (match_regions.h), totals and bend (match_body.h), then pull
// (match_pull.h), which also meets obstacles (match_meet.h). A block of threads handles a part of a
// chunk of the model, and gathers rows of rings from memory: neighbours are near each other, so
// that the first cache has most of them. Formulas are those of methods/match/region_lanes.h and
// between.h; sums are made in the order of match_kernels.c: lanes of a part block by block, then
// lanes in pairs, parts of a chunk, pieces of chunks, pieces.
#ifndef YW_DEVICE_CUDA_MATCH_KERNELS_H
#define YW_DEVICE_CUDA_MATCH_KERNELS_H

#include "device/cuda/thread.h"

/// What is summed over the body: NUM_SUMS of regions, then the torque of the last pull.
enum { SUM_TORQUE = NUM_SUMS, NUM_COLUMNS = NUM_SUMS + 3 };

/// What steps change besides arrays.
struct match_scalars {
  match_axes axes;
  yw_vec3 torque;
  yw_vec3 origin;      // that positions are relative to (kit/near.h)
  ordered_box placed;  // of the particles in the world
  match_step step;     // from rows to meet
  match_step next;     // as it is if it has no origin
  int has_cut;
  int diverged;  // steps do nothing from then on
  int bad;       // particles that are too fast or too far away
  int recovered, contacts, most_contacts;
  int is_open;       // the last step is not settled yet: its torque and contacts are not counted
  int opened_first;  // it was the first of its substep
  unsigned ended;    // blocks of totals
};

/// Members of a ring, read at once: numbers of particles. Behind the last particle is a row of
/// zeros, at which shorter rings of a block end.
enum { RING_QUAD = 4 };
struct alignas(16) ring_quad {
  int32_t members[RING_QUAD];
};

/// What a particle adds to the moments of regions, m~ d (x0 - origin, 1)^T, as its factors: m~ d
/// and x0. Only the first one changes.
struct alignas(16) moving_row {
  float dx, dy, dz, x0;
};
struct alignas(8) resting_row {
  float y0, z0;
};

/// Arrays of a body on the device, and one inner step.
struct match_args {
  match_model model;  // pointers to device memory; rings are quads, ring_start counts those
  match_body body;    // likewise
  match_scalars* scalars;
  const yw_vec4* pos;
  yw_vec4 *new_pos, *vel, *cut;
  const float* inv_mass;
  float* fits;
  moving_row* moving_rows;  // one per particle, then zeros
  resting_row* resting_rows;
  double* share_products;       // products of each share, lanes added
  const int32_t* group_shares;  // shares of each group, ascending, group after group
  const int32_t* piece_start;   // in group_shares: pieces of at most MATCH_SUM_PIECE of a group
  const int32_t* group_start;   // pieces of each group, num_groups + 1
  double* piece_products;       // their sums
  float* part_sums;             // NUM_COLUMNS per part
  double* piece_sums;           // of chunks: NUM_COLUMNS each
  int32_t num_pieces;           // of shares
  int32_t zero_row;             // behind the last particle
  match_response response;
  yw_vec3 gravity;
  float h;              // s, of the substep
  float inner_end;      // share of the substep that has passed at the end
  bool enters, leaves;  // first, last inner step of the substep
  const yw_hold* holds;
  const yw_spring* springs;
  const yw_obstacle* obstacles;
  int32_t num_holds, num_springs, num_obstacles;
  int32_t obstacle_bytes;  // with their shapes
  bool springs_differ;     // no two pull the same particle
  bool has_pins;           // holds or springs
  bool is_prepared;        // `next` is this step
  bool has_rows;           // the last step has left rows for it, unless there is an origin
  bool only_settles;       // the last step: somebody looks at the body
  yw_collide_terms terms;
};

/// Parts of a chunk, as many as the largest has; a block of threads each.
enum { MOST_PARTS = 4, PART_THREADS = MATCH_PART_BLOCKS * YW_LANES };

// Sums of parts -----------------------------------------------------------------------------------

// Adds a lane of so many blocks.
KERNEL_FN float add_column(const float* from, int32_t blocks) {
  float sum = 0.0f;
#pragma unroll 16
  for (int32_t b = 0; b < blocks; ++b) sum += from[b * YW_LANES];
  return sum;
}

// Lanes in pairs. Loops of fixed length: the lanes then stay in registers.
KERNEL_FN float add_pairs(const float* from) {
  float lanes[YW_LANES / 2];
#pragma unroll
  for (int l = 0; l < 8; ++l) lanes[l] = from[l] + from[l + 8];
#pragma unroll
  for (int l = 0; l < 4; ++l) lanes[l] += lanes[l + 4];
#pragma unroll
  for (int l = 0; l < 2; ++l) lanes[l] += lanes[l + 2];
  return lanes[0] + lanes[1];
}

// Terms of the regions or particles of a part, by lane, and their sums over blocks.
template <int N>
struct part_tile {
  float terms[N][PART_THREADS];
  float lanes[N][YW_LANES];

  KERNEL_METHOD void add_columns(int32_t blocks, int t) {
    for (int i = t; i < N * YW_LANES; i += PART_THREADS) {
      int term = i / YW_LANES, lane = i % YW_LANES;
      lanes[term][lane] = add_column(terms[term] + lane, blocks);
    }
  }
};

// Setting up --------------------------------------------------------------------------------------

// The blocks of a chunk that a block of threads handles.
struct match_span {
  int32_t chunk, part;
  int32_t first, count;  // blocks, the first one within the chunk
};
/// part: counted over all chunks.
KERNEL_FN match_span span_of(const match_chunk& chunk, int part) {
  int32_t own = part % MOST_PARTS, first = own * MATCH_PART_BLOCKS;
  int32_t count = chunk.num_blocks - first;
  count = count < 0 ? 0 : count < MATCH_PART_BLOCKS ? count : MATCH_PART_BLOCKS;
  return (match_span){part / MOST_PARTS, own, first, count};
}

KERNEL_FN float* sums_of_part(const match_args& a, match_span span) {
  return a.part_sums + (size_t)(span.chunk * MOST_PARTS + span.part) * NUM_COLUMNS;
}

// Coordinates of the first particle where all others are within half of them; see near.c.
KERNEL_FN yw_vec3 choose_origin(yw_vec4 first, yw_aabb box) {
  const float from[3] = {first.x, first.y, first.z};
  const float low[3] = {box.lower.x, box.lower.y, box.lower.z};
  const float high[3] = {box.upper.x, box.upper.y, box.upper.z};
  float origin[3];
  for (int k = 0; k < 3; ++k) {
    float below = fabsf(low[k] - from[k]), above = fabsf(high[k] - from[k]);
    float most = below > above ? below : above;
    origin[k] = most <= 0.5f * fabsf(from[k]) ? from[k] : 0.0f;
  }
  return yw_v3(origin[0], origin[1], origin[2]);
}

// What the first thread of a block has to find out; where the step is prepared, the rest of it is
// there.
KERNEL_FN void begin_step(const match_args& a, match_step* step) {
  match_axes axes = a.scalars->axes;
  step->origin = a.scalars->origin;
  step->has_cut = a.scalars->has_cut != 0;
  step->enters = a.enters;
  if (a.enters) {
    step->origin = choose_origin(a.pos[0], box_of_ordered(&a.scalars->placed));
    axes.center = yw_sub(axes.center, step->origin);
  }
  if (a.is_prepared) {
    step->center = axes.center;
  } else {
    match_begin_step(&axes, a.gravity, &a.response, step);
  }
  step->paper = a.body.params.target == YW_TARGET_PAPER;
  step->drift = step->spin = yw_v3(0, 0, 0);
}

// A thread's own step, with pointers that are the same for all: the compiler knows these, and reads
// only the numbers that are used.
KERNEL_FN match_step own_step(const match_args& a, const match_step& from) {
  match_step step = from;
  step.body = const_cast<match_body*>(&a.body);
  step.model = &a.model;
  step.pos = a.pos;
  step.new_pos = a.new_pos;
  step.vel = a.vel;
  step.cut = a.cut;
  step.fits = a.fits;
  return step;
}

// Copies a step, a word per thread.
KERNEL_FN void copy_step(const match_step& step, match_step* to, int t) {
  static_assert(sizeof(match_step) <= sizeof(uint32_t) * PART_THREADS);
  const uint32_t* from = (const uint32_t*)&step;
  if (t < (int)(sizeof(match_step) / sizeof(uint32_t))) ((uint32_t*)to)[t] = from[t];
}

// Threads are in the order of particles, not of lanes: neighbours then read neighbouring rows.
KERNEL_FN lane_set lane_of_thread(const match_chunk* chunk, int32_t first_block, int t) {
  return (lane_set){chunk->first_block + first_block + t / YW_LANES, match_lane(t % YW_LANES)};
}

// Anything may be added to -0 without a change.
KERNEL_FN ring_sums no_sums() {
  const float z = -0.0f;
  return (ring_sums){{{z, z, z, z}, {z, z, z, z}, {z, z, z, z}}};
}

// The members of a ring, four at a time (send_rings): the next ones are on their way from memory
// while those at hand are added.
struct ring_reader {
  static constexpr int AT_ONCE = RING_QUAD;
  const ring_quad* quads;  // one every 16
  int32_t length;
  ring_quad next;

  /// index: of the particle in its block
  YW_LANE_METHOD ring_reader(const match_model* model, const match_block& block, int32_t index) {
    quads = (const ring_quad*)model->rings + block.ring_start + index;
    length = block.ring_length;
    next = quads[0];
  }
  YW_LANE_METHOD ring_quad take(int32_t first) {
    const ring_quad now = next;
    if (first + AT_ONCE < length) next = quads[(first / AT_ONCE + 1) * YW_LANES];
    return now;
  }
};

#endif
