// SPDX-License-Identifier: MIT
// Visits of contacts in lanes. Rows of a group have no particle in common: lanes neither see nor
// disturb each other, and bits do not depend on their number.
#include "contact/surfaces/pair_lanes.h"
#include "contact/surfaces/rows.h"

// A vector of each lane, with the fourth entry of the particle, which stays as it is.
typedef struct value {
  vec xyz;
  yw_vf w;
} value;

YW_LANE_FN vec load_vec(const float rows[3][YW_LANES], int32_t first) {
  return (vec){yw_vf_load(rows[0] + first), yw_vf_load(rows[1] + first),
               yw_vf_load(rows[2] + first)};
}

YW_LANE_FN void store_vec(float rows[3][YW_LANES], int32_t first, vec v) {
  yw_vf_store(rows[0] + first, v.x);
  yw_vf_store(rows[1] + first, v.y);
  yw_vf_store(rows[2] + first, v.z);
}

YW_LANE_FN vec scale(yw_vf s, vec v) { return (vec){s * v.x, s * v.y, s * v.z}; }

YW_LANE_FN value load_value(yw_vec4* const* from) {
  yw_vf r[4];
  for (int j = 0; j < 4; ++j) {
    yw_float4 rows[YW_VF_LANES / 4];
    for (int32_t i = 0; i < YW_VF_LANES / 4; ++i) rows[i] = yw_float4_load(from[4 * i + j]);
    r[j] = widen(rows);
  }
  transpose_blocks(r);
  return (value){{r[0], r[1], r[2]}, r[3]};
}

YW_LANE_FN void store_value(yw_vec4* const* to, value v) {
  yw_vf r[4] = {v.xyz.x, v.xyz.y, v.xyz.z, v.w};
  transpose_blocks(r);
  for (int j = 0; j < 4; ++j) {
    yw_float4 rows[YW_VF_LANES / 4];
    narrow(r[j], rows);
    for (int32_t i = 0; i < YW_VF_LANES / 4; ++i) yw_float4_store(to[4 * i + j], rows[i]);
  }
}

YW_LANE_FN vec sum_of(const yw_contact_rows* r, int32_t first, value values[4]) {
  vec parts[4];
  for (int k = 0; k < 4; ++k) {
    values[k] = load_value(r->values[k] + first);
    parts[k] = scale(yw_vf_load(r->weights[k] + first), values[k].xyz);
  }
  return (vec){(parts[0].x + parts[1].x) + (parts[2].x + parts[3].x),
               (parts[0].y + parts[1].y) + (parts[2].y + parts[3].y),
               (parts[0].z + parts[1].z) + (parts[2].z + parts[3].z)};
}

YW_LANE_FN void push_all(const yw_contact_rows* r, int32_t first, value values[4], vec by) {
  for (int k = 0; k < 4; ++k) {
    values[k].xyz = mad(values[k].xyz, yw_vf_load(r->mobility[k] + first), by);
    store_value(r->values[k] + first, values[k]);
  }
}

// Velocities ------------------------------------------------------------------------------------

// Contacts share particles and are often redundant: slightly less than the full correction
// converges faster (tuned on stacks: 0.8 to 1 equal, 1.2 trembles).
#define RELAXATION 0.9f

YW_LANE_FN void visit_velocity(yw_contact_rows* r, int32_t first) {
  value values[4];
  vec normal = load_vec((const float(*)[YW_LANES])r->normal, first);
  vec relative = sum_of(r, first, values);
  vec before = load_vec((const float(*)[YW_LANES])r->friction, first);
  yw_vf along = dot(relative, normal), mass = RELAXATION * yw_vf_load(r->mass + first);

  // Contacts push but do not pull.
  yw_vf old = yw_vf_load(r->impulse + first);
  yw_vf impulse = old + (yw_vf_load(r->goal + first) - along) * mass;
  impulse = yw_vf_select(impulse > 0.0f, impulse, yw_vf_splat(0.0f));

  // Friction stops the sliding or reaches its limit.
  vec friction = mad(before, -mass, mad(relative, -along, normal));
  yw_vf limit = yw_vf_load(r->friction_limit + first) * impulse, size2 = dot(friction, friction);
  yw_vf shorter = limit / yw_vf_sqrt(size2);
  friction = scale(yw_vf_select(size2 > limit * limit, shorter, yw_vf_splat(1.0f)), friction);
  vec change = mad(sub(friction, before), impulse - old, normal);
  yw_vf_store(r->impulse + first, impulse);
  store_vec(r->friction, first, friction);
  push_all(r, first, values, change);
}

static void visit_velocities(yw_contact_rows* r) {
  for (int32_t first = 0; first < r->count; first += YW_VF_LANES) visit_velocity(r, first);
}

// Directions of search --------------------------------------------------------------------------

YW_LANE_FN vec total_impulse(const yw_contact_rows* r, int32_t first) {
  vec friction = load_vec((const float(*)[YW_LANES])r->friction, first);
  vec normal = load_vec((const float(*)[YW_LANES])r->normal, first);
  return mad(friction, yw_vf_load(r->impulse + first), normal);
}

static void measure(yw_contact_rows* r) {
  float change2[YW_LANES], size2[YW_LANES];
  for (int32_t first = 0; first < YW_LANES; first += YW_VF_LANES) {
    vec now = total_impulse(r, first);
    vec change = sub(now, load_vec((const float(*)[YW_LANES])r->last, first));
    yw_vf_store(change2 + first, dot(change, change));
    yw_vf_store(size2 + first, dot(now, now));
  }
  r->step2 = r->size2 = 0.0;
  for (int32_t i = 0; i < r->count; ++i) {
    r->step2 += (double)change2[i];
    r->size2 += (double)size2[i];
  }
}

YW_LANE_FN void push_extra(yw_contact_rows* r, int32_t first, vec extra) {
  for (int k = 0; k < 4; ++k) {
    float mobility[YW_LANES];
    memcpy(mobility, r->mobility[k], sizeof mobility);
    for (uint32_t bits = r->answering[k]; bits != 0; bits &= bits - 1) {
      mobility[__builtin_ctz(bits)] = 0.0f;
    }
    value v = load_value(r->values[k] + first);
    v.xyz = mad(v.xyz, yw_vf_load(mobility + first), extra);
    store_value(r->values[k] + first, v);
  }
}

// True where an entry is not zero.
YW_LANE_FN yw_vi any_entry(vec v) { return (v.x != 0.0f) | (v.y != 0.0f) | (v.z != 0.0f); }

static void turn(yw_contact_rows* r, float beta) {
  uint32_t busy = 0;
  for (int32_t first = 0; first < r->count; first += YW_VF_LANES) {
    vec now = total_impulse(r, first);
    vec extra = scale(yw_vf_splat(beta), load_vec((const float(*)[YW_LANES])r->heading, first));
    vec last = load_vec((const float(*)[YW_LANES])r->last, first), zero = {0};
    vec heading = mad(sub(now, last), yw_vf_splat(1.0f), extra);
    store_vec(r->heading, first, heading);
    store_vec(r->last, first, mad(now, yw_vf_splat(1.0f), extra));
    vec friction = load_vec((const float(*)[YW_LANES])r->friction, first);
    yw_vf impulse = yw_vf_load(r->impulse + first);
    if (beta != 0.0f) {
      vec normal = load_vec((const float(*)[YW_LANES])r->normal, first);
      yw_vf along = dot(extra, normal);
      impulse += along;
      friction = sub(mad(friction, yw_vf_splat(1.0f), extra), scale(along, normal));
      yw_vf_store(r->impulse + first, impulse);
      store_vec(r->friction, first, friction);
      push_extra(r, first, extra);
    }
    yw_vi pressed = any_entry(friction) | any_entry(heading) | (impulse != zero.x);
    busy |= yw_vi_bits(pressed) << first;
  }
  r->busy = (uint16_t)busy;
}

// Positions -------------------------------------------------------------------------------------

// Most rows have nothing to push. Whether any of the group has is asked first, for all of them, so
// that what is written does not depend on the width of registers.
static bool visit_positions(yw_contact_rows* r) {
  float by[3][YW_LANES];
  uint32_t any = 0;
  for (int32_t first = 0; first < r->count; first += YW_VF_LANES) {
    value values[4];
    vec normal = load_vec((const float(*)[YW_LANES])r->normal, first);
    yw_vf along = dot(sum_of(r, first, values), normal), mass = yw_vf_load(r->mass + first);
    yw_vf old = yw_vf_load(r->impulse + first);
    yw_vf push = old + yw_vf_load(r->goal + first) - along;
    push = yw_vf_select((push > 0.0f) & (mass != 0.0f), push, yw_vf_splat(0.0f));
    any |= yw_vi_bits(push != old);
    yw_vf_store(r->impulse + first, push);
    store_vec(by, first, scale((push - old) * mass, normal));
  }
  if (any == 0) return false;
  for (int32_t first = 0; first < r->count; first += YW_VF_LANES) {
    value values[4];
    for (int k = 0; k < 4; ++k) values[k] = load_value(r->values[k] + first);
    push_all(r, first, values, load_vec((const float(*)[YW_LANES])by, first));
  }
  return true;
}

extern const yw_row_fns YW_KERNEL(yw_row_table_fns);
const yw_row_fns YW_KERNEL(yw_row_table_fns) = {visit_velocities, measure, turn, visit_positions};
