// SPDX-License-Identifier: MIT
// The visits of rows.c, with a batch in each lane. Every lane does what its batch would do alone,
// to the bit.
#include "contact/surfaces/row_lanes.h"

#include <stddef.h>

#include "contact/surfaces/block_lanes.h"

typedef struct vec {
  yw_vf x, y, z;
} vec;

YW_LANE_FN vec sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
YW_LANE_FN vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
YW_LANE_FN vec scale(yw_vf s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
YW_LANE_FN yw_vf dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
YW_LANE_FN vec select3(yw_vi mask, vec a, vec b) {
  return (vec){yw_vf_select(mask, a.x, b.x), yw_vf_select(mask, a.y, b.y),
               yw_vf_select(mask, a.z, b.z)};
}
YW_LANE_FN vec first3(const yw_vf r[4]) { return (vec){r[0], r[1], r[2]}; }

// Rows in memory --------------------------------------------------------------------------------

// Entry k of the four floats at each address becomes register k.
YW_LANE_FN void load4(void* const from[YW_VF_LANES], size_t offset, yw_vf out[4]) {
  for (int j = 0; j < 4; ++j) {
    yw_float4 blocks[YW_VF_LANES / 4];
    for (int i = 0; i < YW_VF_LANES / 4; ++i) {
      blocks[i] = yw_float4_load((const char*)from[4 * i + j] + offset);
    }
    out[j] = widen(blocks);
  }
  transpose_blocks(out);
}

YW_LANE_FN void store4(void* const to[YW_VF_LANES], size_t offset, const yw_vf in[4]) {
  yw_vf r[4] = {in[0], in[1], in[2], in[3]};
  transpose_blocks(r);
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < YW_VF_LANES / 4; ++i) {
      yw_float4_store((char*)to[4 * i + j] + offset, block_of(r[j], i));
    }
  }
}

#define LOAD(rows, field, out) load4(rows, offsetof(yw_contact_row, field), out)
#define STORE(rows, field, in) store4(rows, offsetof(yw_contact_row, field), in)

// goal, impulse, mass and friction_limit of the rows.
enum { GOAL, IMPULSE, MASS, LIMIT };

// The row that each lane visits; batches that are over visit one that moves nothing.
YW_LANE_FN void choose(const yw_row_lanes* lanes, int32_t first, int32_t at, yw_row_nothing* none,
                       void* rows[YW_VF_LANES]) {
  for (int32_t i = 0; i < YW_VF_LANES; ++i) {
    rows[i] = at < lanes->counts[first + i] ? lanes->rows[first + i] + at : &none->row;
  }
}

// Where the corners k of the rows are.
YW_LANE_FN void corners(void* const rows[YW_VF_LANES], int k, void* out[YW_VF_LANES]) {
  for (int i = 0; i < YW_VF_LANES; ++i) out[i] = ((const yw_contact_row*)rows[i])->values[k];
}

YW_LANE_FN void load_corners(void* const rows[YW_VF_LANES], int k, yw_vf out[4]) {
  void* at[YW_VF_LANES];
  corners(rows, k, at);
  load4(at, 0, out);
}

YW_LANE_FN vec sum_of(void* const rows[YW_VF_LANES], yw_vf values[4][4]) {
  yw_vf weights[4];
  vec parts[4];
  LOAD(rows, weights, weights);
  for (int k = 0; k < 4; ++k) {
    load_corners(rows, k, values[k]);
    parts[k] = scale(weights[k], first3(values[k]));
  }
  return add(add(parts[0], parts[1]), add(parts[2], parts[3]));
}

YW_LANE_FN void push_all(void* const rows[YW_VF_LANES], yw_vf values[4][4], yw_vi active, vec by) {
  yw_vf mobility[4];
  LOAD(rows, mobility, mobility);
  for (int k = 0; k < 4; ++k) {
    vec old = first3(values[k]);
    vec to = select3(active, add(old, scale(mobility[k], by)), old);
    const yw_vf r[4] = {to.x, to.y, to.z, values[k][3]};
    void* at[YW_VF_LANES];
    corners(rows, k, at);
    store4(at, 0, r);
  }
}

// Visits ----------------------------------------------------------------------------------------

YW_LANE_FN void visit_velocities(void* const rows[YW_VF_LANES]) {
  yw_vf values[4][4], n4[4], f4[4], sums[4], zero = yw_vf_splat(0.0f);
  vec relative = sum_of(rows, values);
  LOAD(rows, normal, n4);
  LOAD(rows, friction, f4);
  LOAD(rows, goal, sums);
  vec normal = first3(n4), before = first3(f4);
  yw_vf along = dot(relative, normal), old = sums[IMPULSE], mass = sums[MASS];

  // Contacts push but do not pull.
  yw_vf impulse = old + (sums[GOAL] - along) * mass;
  impulse = yw_vf_select(impulse > zero, impulse, zero);
  yw_vi at_rest = (impulse == zero) & (old == zero) & (before.x == zero) & (before.y == zero) &
                  (before.z == zero);
  if (yw_vi_bits(~at_rest) == 0) return;

  // Friction stops the sliding or reaches its limit.
  vec friction = sub(before, scale(mass, sub(relative, scale(along, normal))));
  yw_vf limit = sums[LIMIT] * impulse, size2 = dot(friction, friction);
  vec limited = scale(limit / yw_vf_sqrt(size2), friction);
  friction = select3(size2 > limit * limit, limited, friction);
  vec change = add(scale(impulse - old, normal), sub(friction, before));
  friction = select3(at_rest, before, friction);
  sums[IMPULSE] = yw_vf_select(at_rest, old, impulse);
  f4[0] = friction.x, f4[1] = friction.y, f4[2] = friction.z;
  STORE(rows, friction, f4);
  STORE(rows, goal, sums);
  push_all(rows, values, ~at_rest, change);
}

YW_LANE_FN void visit_positions(void* const rows[YW_VF_LANES]) {
  yw_vf values[4][4], n4[4], sums[4], zero = yw_vf_splat(0.0f);
  vec relative = sum_of(rows, values);
  LOAD(rows, normal, n4);
  LOAD(rows, goal, sums);
  vec normal = first3(n4);
  yw_vf old = sums[IMPULSE], push = old + sums[GOAL] - dot(relative, normal);
  push = yw_vf_select((push > zero) & (sums[MASS] != zero), push, zero);
  yw_vi active = push != old;
  if (yw_vi_bits(active) == 0) return;
  sums[IMPULSE] = push;
  STORE(rows, goal, sums);
  push_all(rows, values, active, scale((push - old) * sums[MASS], normal));
}

static void velocities(const yw_row_lanes* lanes, int32_t count, bool back) {
  yw_row_nothing none;
  void* rows[YW_VF_LANES];
  yw_row_nothing_begin(&none);
  for (int32_t first = 0; first < lanes->count; first += YW_VF_LANES) {
    for (int32_t i = 0; i < count; ++i) {
      choose(lanes, first, back ? count - 1 - i : i, &none, rows);
      visit_velocities(rows);
    }
  }
}

static void positions(const yw_row_lanes* lanes, int32_t count, bool back) {
  yw_row_nothing none;
  void* rows[YW_VF_LANES];
  yw_row_nothing_begin(&none);
  for (int32_t first = 0; first < lanes->count; first += YW_VF_LANES) {
    for (int32_t i = 0; i < count; ++i) {
      choose(lanes, first, back ? count - 1 - i : i, &none, rows);
      visit_positions(rows);
    }
  }
}

extern const yw_row_fns YW_KERNEL(yw_row_table);
const yw_row_fns YW_KERNEL(yw_row_table) = {YW_VF_LANES, velocities, positions};
