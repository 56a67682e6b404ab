// SPDX-License-Identifier: MIT
#include "contact/surfaces/near.h"

#include "contact/surfaces/pair_lanes.h"

#define MAX_REGISTERS ((YW_NEAR_LEAF_MAX + YW_VF_LANES - 1) / YW_VF_LANES)

// Boxes -----------------------------------------------------------------------------------------

// One bit per box of a register that meets the query box.
YW_LANE_FN uint32_t meeting(const float* const sides[6], int32_t at, const float lower[3],
                            const float upper[3]) {
  yw_vi meets = yw_vf_load(sides[0] + at) <= upper[0];
  for (int d = 0; d < 3; ++d) {
    if (d > 0) meets &= yw_vf_load(sides[d] + at) <= upper[d];
    meets &= yw_vf_load(sides[3 + d] + at) >= lower[d];
  }
  return yw_vi_bits(meets);
}

// Finds the boxes first .. end - 1 that meet a box: one mask per register. Returns whether any
// does.
static bool select_boxes(const yw_lane_boxes* boxes, int32_t first, int32_t end, yw_aabb box,
                         float pad, uint32_t* masks) {
  const float lower[3] = {box.lower.x - pad, box.lower.y - pad, box.lower.z - pad};
  const float upper[3] = {box.upper.x + pad, box.upper.y + pad, box.upper.z + pad};
  const float* const* sides = (const float* const*)boxes->sides;
  uint32_t any = 0;
  for (int32_t at = first; at < end; at += YW_VF_LANES) {
    uint32_t bits = meeting(sides, at, lower, upper);
    if (end - at < YW_VF_LANES) bits &= (1u << (end - at)) - 1;
    any |= * masks++ = bits;
  }
  return any != 0;
}

// Registers of boxes that have to be looked at.
typedef struct box_registers {
  int32_t count;
  int32_t at[MAX_REGISTERS];                               // first box
  uint32_t boxes[MAX_REGISTERS];                           // one bit per box
  yw_vf lower[MAX_REGISTERS][3], upper[MAX_REGISTERS][3];  // with the pad
} box_registers;

// Loads the boxes first .. end - 1 that meet a box, a register at a time.
YW_LANE_FN void load_boxes(const yw_lane_boxes* boxes, int32_t first, int32_t end, yw_aabb box,
                           float pad, box_registers* out) {
  uint32_t masks[MAX_REGISTERS];
  out->count = 0;
  if (!select_boxes(boxes, first, end, box, pad, masks)) return;
  for (int32_t at = first, k = 0; at < end; at += YW_VF_LANES, ++k) {
    if (masks[k] == 0) continue;
    int32_t r = out->count++;
    out->at[r] = at;
    out->boxes[r] = masks[k];
    for (int d = 0; d < 3; ++d) {
      out->lower[r][d] = yw_vf_load(boxes->sides[d] + at) - pad;
      out->upper[r][d] = yw_vf_load(boxes->sides[3 + d] + at) + pad;
    }
  }
}

// Appends the pairs of box i of a with the boxes of b.
YW_LANE_FN int32_t meet_box(const yw_near_leaves* l, int32_t i, const box_registers* b,
                            int32_t (*pairs)[2]) {
  int32_t count = 0;
  float lower[3], upper[3];
  for (int d = 0; d < 3; ++d) {
    lower[d] = l->a->sides[d][i];
    upper[d] = l->a->sides[3 + d][i];
  }
  for (int32_t r = 0; r < b->count; ++r) {
    yw_vi meets = b->lower[r][0] <= upper[0];
    for (int d = 0; d < 3; ++d) {
      if (d > 0) meets &= b->lower[r][d] <= upper[d];
      meets &= b->upper[r][d] >= lower[d];
    }
    for (uint32_t bits = yw_vi_bits(meets) & b->boxes[r]; bits != 0; bits &= bits - 1) {
      int32_t k = b->at[r] + __builtin_ctz(bits);
      if (l->same && k <= i) continue;
      pairs[count][0] = i;
      pairs[count++][1] = k;
    }
  }
  return count;
}

static bool reach(const yw_near_leaves* l) {
  uint32_t masks[MAX_REGISTERS];
  return select_boxes(l->a, l->first_a, l->end_a, l->box_b, l->pad, masks) &&
         select_boxes(l->b, l->first_b, l->end_b, l->box_a, l->pad, masks);
}

static int32_t meet(const yw_near_leaves* l, int32_t (*pairs)[2]) {
  uint32_t in_a[MAX_REGISTERS];
  if (!select_boxes(l->a, l->first_a, l->end_a, l->box_b, l->pad, in_a)) return 0;
  box_registers b;
  load_boxes(l->b, l->first_b, l->end_b, l->box_a, l->pad, &b);
  if (b.count == 0) return 0;
  int32_t count = 0;
  const uint32_t* mask = in_a;
  for (int32_t at = l->first_a; at < l->end_a; at += YW_VF_LANES) {
    for (uint32_t bits = *mask++; bits != 0; bits &= bits - 1) {
      count += meet_box(l, at + __builtin_ctz(bits), &b, pairs + count);
    }
  }
  return count;
}

// Paths -----------------------------------------------------------------------------------------

// A plane between the sides moves along: they are apart at the end along the direction of their
// start distance.
YW_LANE_FN yw_vi plane_between(const vec begin[4], const vec end[4], int split, vec apart,
                               yw_vf distance, float needed) {
  yw_vf front = yw_vf_splat(INFINITY), back = yw_vf_splat(-INFINITY);
  for (int k = 0; k < 4; ++k) {
    yw_vf along = dot(apart, sub(end[k], begin[0]));
    if (k < split) front = yw_vf_min(front, along);
    if (k >= split) back = yw_vf_max(back, along);
  }
  return (front - back > 1.001f * needed * distance) & (distance > needed);
}

// The volume that the corners span keeps its sign, see yw_path_keeps_side.
YW_LANE_FN yw_vi keeps_side(yw_pair_kind kind, const vec b[4], const vec f[4], float needed) {
  bool edges = kind == YW_EDGE_EDGE;
  vec u0 = edges ? sub(b[1], b[0]) : sub(b[2], b[1]),
      u1 = edges ? sub(f[1], f[0]) : sub(f[2], f[1]);
  vec v0 = edges ? sub(b[3], b[2]) : sub(b[3], b[1]),
      v1 = edges ? sub(f[3], f[2]) : sub(f[3], f[1]);
  vec w0 = edges ? sub(b[0], b[2]) : sub(b[0], b[1]),
      w1 = edges ? sub(f[0], f[2]) : sub(f[0], f[1]);
  vec n0 = cross(u0, v0), n2 = cross(u1, v1), m = cross(u0, v1), k = cross(u1, v0);
  vec n1 = {0.5f * (m.x + k.x), 0.5f * (m.y + k.y), 0.5f * (m.z + k.z)};
  yw_vf area = yw_vf_max(yw_vf_max(dot(n0, n0), dot(n1, n1)), dot(n2, n2));
  yw_vf least = 1.01f * needed * yw_vf_sqrt(area);
  yw_vf f0 = dot(w0, n0), f3 = dot(w1, n2);
  yw_vf f1 = (2.0f * dot(w0, n1) + dot(w1, n0)) * (1.0f / 3.0f);
  yw_vf f2 = (dot(w0, n2) + 2.0f * dot(w1, n1)) * (1.0f / 3.0f);
  yw_vf low = yw_vf_min(yw_vf_min(f0, f1), yw_vf_min(f2, f3));
  yw_vf high = yw_vf_max(yw_vf_max(f0, f1), yw_vf_max(f2, f3));
  return (low > least) | (high < -least);
}

// used: one bit per lane that is asked for.
YW_LANE_FN uint32_t test_register(yw_near_lanes* l, int32_t first, uint32_t used,
                                  yw_pair_kind kind) {
  vec begin[4], end[4], way[4];
  int split = yw_pair_split(kind);
  load_corners(l->begin, l->corners[0], first, split, begin);
  load_corners(l->end, l->corners[0], first, split, end);
  for (int k = 0; k < 4; ++k) way[k] = sub(end[k], begin[k]);
  nearest near =
      kind == YW_VERTEX_TRIANGLE ? nearest_on_triangle(begin) : nearest_on_segments(begin);
  yw_vf distance = yw_vf_sqrt(dot(near.apart, near.apart));
  for (int k = 0; k < 4; ++k) yw_vf_store(l->weights[k] + first, near.weights[k]);
  yw_vf_store(l->apart[0] + first, near.apart.x);
  yw_vf_store(l->apart[1] + first, near.apart.y);
  yw_vf_store(l->apart[2] + first, near.apart.z);
  yw_vf_store(l->distance + first, distance);
  if (l->kept >= 0.0f) {
    yw_vi far = distance - reach_of(way, split, true) > l->kept;
    l->kept_lanes |= yw_vi_bits(~far) << first;
  }
  yw_vf reach = reach_of(way, split, l->question == YW_NEAR_STOPPED);
  yw_vi apart = distance - reach > l->needed;
  uint32_t left = yw_vi_bits(~apart) & used;
  if (l->prove && left != 0) {
    apart |= plane_between(begin, end, split, near.apart, distance, l->needed);
    left &= yw_vi_bits(~apart);
    if (left != 0) left &= yw_vi_bits(~keeps_side(kind, begin, end, l->needed));
  }
  return left << first;
}

static uint32_t test(yw_near_lanes* l) {
  uint32_t near = 0, used = l->count < YW_LANES ? (1u << l->count) - 1 : ~0u;
  l->kept_lanes = 0;
  for (int32_t first = 0; first < l->count; first += YW_VF_LANES) {
    near |= l->kind == YW_VERTEX_TRIANGLE
                ? test_register(l, first, used >> first, YW_VERTEX_TRIANGLE)
                : test_register(l, first, used >> first, YW_EDGE_EDGE);
  }
  l->kept_lanes &= used;
  return near;
}

extern const yw_near_fns YW_KERNEL(yw_near_table);
const yw_near_fns YW_KERNEL(yw_near_table) = {meet, reach, test};
