// SPDX-License-Identifier: MIT
#include "contact/surfaces/near.h"

#include "contact/surfaces/pair_lanes.h"

// Boxes -----------------------------------------------------------------------------------------
//
// Leaves seldom have more than eight primitives of a kind: wider registers would be half empty.

#if YW_VF_LANES >= 8
#define BOX_LANES 8
typedef float boxes_f __attribute__((vector_size(32)));
typedef int32_t boxes_i __attribute__((vector_size(32)));
YW_LANE_FN uint32_t bits_of(boxes_i mask) { return (uint32_t)_mm256_movemask_ps((__m256)mask); }
#else
#define BOX_LANES 4
typedef yw_vf boxes_f;
typedef yw_vi boxes_i;
YW_LANE_FN uint32_t bits_of(boxes_i mask) { return yw_vi_bits(mask); }
#endif
#define MAX_REGISTERS (YW_NEAR_LEAF_MAX / BOX_LANES)

YW_LANE_FN boxes_f load_side(const yw_near_boxes* boxes, int32_t at, int side) {
  boxes_f v;
  memcpy(&v, &boxes->blocks[at / YW_BOX_BLOCK].sides[side][at % YW_BOX_BLOCK], sizeof v);
  return v;
}

// One bit per lane whose box meets another.
YW_LANE_FN uint32_t meeting(const boxes_f lower[3], const boxes_f upper[3],
                            const float box_lower[3], const float box_upper[3]) {
  boxes_i meets = lower[0] <= box_upper[0];
  for (int k = 0; k < 3; ++k) {
    if (k > 0) meets &= lower[k] <= box_upper[k];
    meets &= upper[k] >= box_lower[k];
  }
  return bits_of(meets);
}

static uint64_t select_boxes(const yw_near_boxes* boxes, yw_aabb box, float pad) {
  const float lower[3] = {box.lower.x - pad, box.lower.y - pad, box.lower.z - pad};
  const float upper[3] = {box.upper.x + pad, box.upper.y + pad, box.upper.z + pad};
  uint64_t found = 0;
  for (int32_t at = 0; at < boxes->count; at += BOX_LANES) {
    boxes_f from[3], to[3];
    for (int k = 0; k < 3; ++k) {
      from[k] = load_side(boxes, at, k);
      to[k] = load_side(boxes, at, 3 + k);
    }
    found |= (uint64_t)meeting(from, to, lower, upper) << at;
  }
  // Lanes beyond the last mean nothing.
  return found & (((uint64_t)1 << boxes->count) - 1);
}

// Registers of boxes that have to be looked at.
typedef struct box_registers {
  int32_t count;
  int32_t at[MAX_REGISTERS];                                 // first box
  uint32_t asked[MAX_REGISTERS];                             // one bit per box
  boxes_f lower[MAX_REGISTERS][3], upper[MAX_REGISTERS][3];  // with the pad
} box_registers;

YW_LANE_FN void load_boxes(const yw_near_boxes* boxes, float pad, box_registers* out) {
  out->count = 0;
  for (int32_t at = 0; at < boxes->count; at += BOX_LANES) {
    uint32_t asked = (uint32_t)(boxes->asked >> at) & ((1u << BOX_LANES) - 1);
    if (asked == 0) continue;
    int32_t r = out->count++;
    out->at[r] = at;
    out->asked[r] = asked;
    for (int k = 0; k < 3; ++k) {
      out->lower[r][k] = load_side(boxes, at, k) - pad;
      out->upper[r][k] = load_side(boxes, at, 3 + k) + pad;
    }
  }
}

static int32_t meet(const yw_near_boxes* a, const yw_near_boxes* b, float pad, bool same,
                    int32_t (*pairs)[2]) {
  if (a->asked == 0 || b->asked == 0) return 0;
  box_registers registers;
  load_boxes(b, pad, &registers);
  int32_t count = 0;
  for (uint64_t left = a->asked; left != 0; left &= left - 1) {
    int32_t i = __builtin_ctzll(left);
    const yw_box_block* block = &a->blocks[i / YW_BOX_BLOCK];
    float lower[3], upper[3];
    for (int k = 0; k < 3; ++k) {
      lower[k] = block->sides[k][i % YW_BOX_BLOCK];
      upper[k] = block->sides[3 + k][i % YW_BOX_BLOCK];
    }
    for (int32_t r = 0; r < registers.count; ++r) {
      uint32_t bits = meeting(registers.lower[r], registers.upper[r], lower, upper);
      for (bits &= registers.asked[r]; bits != 0; bits &= bits - 1) {
        int32_t k = registers.at[r] + __builtin_ctz(bits);
        if (same && k <= i) continue;
        pairs[count][0] = a->first + i;
        pairs[count++][1] = b->first + k;
      }
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

// Edges of sheets -------------------------------------------------------------------------------

// Seen along the edge, its triangles are two lines from one point. They leave it on opposite sides,
// and the line between their far ends passes it nearby.
static uint32_t flat(const yw_ridge_lanes* l, const yw_vec4* x) {
  const yw_vec4* const from[2] = {x, x};
  uint32_t found = 0;
  for (int32_t first = 0; first < l->count; first += YW_VF_LANES) {
    vec c[4];
    load_corners(from, l->corners[0], first, 2, c);
    vec along = sub(c[1], c[0]), to = sub(c[2], c[0]);
    vec a = cross(along, to), b = cross(along, sub(c[3], c[0])), both = sub(a, b);
    yw_vf limit = yw_vf_load(l->limits + first), height = dot(to, b);
    yw_vi is_flat = (dot(a, b) < 0.0f) & (height * height < limit * limit * dot(both, both));
    found |= yw_vi_bits(is_flat) << first;
  }
  return found & (l->count < YW_LANES ? (1u << l->count) - 1 : ~0u);
}

extern const yw_near_fns YW_KERNEL(yw_near_table);
const yw_near_fns YW_KERNEL(yw_near_table) = {select_boxes, meet, test, flat};
