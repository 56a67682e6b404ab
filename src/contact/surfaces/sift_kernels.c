// SPDX-License-Identifier: MIT
// The rules are those of candidate.c, in the same order.
#include "contact/surfaces/sift.h"

#include "contact/surfaces/cone.h"
#include "contact/surfaces/pair_lanes.h"

typedef struct paths {
  vec begin[4], way[4];
} paths;

// A moment of the substep: the nearest points of the two sides.
typedef struct moment {
  yw_vf t;
  nearest near;
  yw_vf distance;
} moment;

YW_LANE_FN nearest nearest_of(yw_pair_kind kind, const vec x[4]) {
  return kind == YW_VERTEX_TRIANGLE ? nearest_on_triangle(x) : nearest_on_segments(x);
}

// Weighted sum of side 0 minus that of side 1.
YW_LANE_FN vec difference(const vec x[4], const yw_vf weights[4], int split) {
  vec zero = {yw_vf_splat(0.0f), yw_vf_splat(0.0f), yw_vf_splat(0.0f)}, sum = zero;
  for (int k = 0; k < 4; ++k) sum = mad(sum, k < split ? weights[k] : -weights[k], x[k]);
  return sum;
}

YW_LANE_FN vec select3(yw_vi mask, vec a, vec b) {
  return (vec){yw_vf_select(mask, a.x, b.x), yw_vf_select(mask, a.y, b.y),
               yw_vf_select(mask, a.z, b.z)};
}

YW_LANE_FN moment at_time(yw_pair_kind kind, const paths* p, yw_vf t) {
  vec x[4];
  for (int k = 0; k < 4; ++k) x[k] = mad(p->begin[k], t, p->way[k]);
  moment m = {t, nearest_of(kind, x), t};
  m.distance = yw_vf_sqrt(dot(m.near.apart, m.near.apart));
  return m;
}

YW_LANE_FN moment choose(yw_vi mask, const moment* a, const moment* b) {
  moment m = {yw_vf_select(mask, a->t, b->t),
              {.apart = select3(mask, a->near.apart, b->near.apart)},
              yw_vf_select(mask, a->distance, b->distance)};
  for (int k = 0; k < 4; ++k) {
    m.near.weights[k] = yw_vf_select(mask, a->near.weights[k], b->near.weights[k]);
  }
  return m;
}

// Distance to keep between the sides.
YW_LANE_FN yw_vf distance_to_keep(const yw_near_lanes* l, const yw_sift* s, int32_t first,
                                  yw_pair_kind kind, const yw_vf weights[4]) {
  yw_vf sum = yw_vf_splat(s->skin);
  if (!s->thick) return sum;
  for (int k = 0; k < 4; ++k) sum += weights[k] * yw_vf_load(s->radii[k] + first);
  if (!s->rest) return sum;
  const int32_t* second = l->corners[yw_pair_split(kind)];
  vec between =
      sub(load_corner(s->rest, l->corners[0] + first), load_corner(s->rest, second + first));
  yw_vf far = 1.001f * (2.0f * s->complex->longest + sum * (1.0f / YW_REST_SHARE));
  if (yw_vi_bits(dot(between, between) <= far * far) == 0) return sum;
  const yw_vec4* const from[2] = {s->rest, s->rest};
  vec x[4];
  load_corners(from, l->corners[0], first, yw_pair_split(kind), x);
  vec apart = nearest_of(kind, x).apart;
  return yw_vf_min(sum, YW_REST_SHARE * yw_vf_sqrt(dot(apart, apart)));
}

// Follows pairs that are apart at the start along their speed of approach. Returns the lanes that
// do not touch, and adds those that turned too far to `lost`.
YW_LANE_FN yw_vi approach(yw_pair_kind kind, const paths* p, yw_vf keep, float slack, yw_vi running,
                          moment* m, yw_vi* lost) {
  yw_vi apart = running & 0;
  for (int step = 0; step < YW_QUICK_STEPS; ++step) {
    yw_vf gap = m->distance - keep;
    running &= ~(gap <= slack);
    vec way = difference(p->way, m->near.weights, yw_pair_split(kind));
    yw_vf speed = -dot(way, m->near.apart) / m->distance;
    yw_vi misses = running & ~(gap < (1.0f - m->t) * speed);
    apart |= misses;
    running &= ~misses;
    if (yw_vi_bits(running) == 0) break;
    moment next = at_time(kind, p, yw_vf_select(running, m->t + gap / speed, m->t));
    vec before = m->near.apart;
    yw_vf limit = 0.5f * next.distance * yw_vf_sqrt(dot(before, before));
    yw_vi turned = running & ~(dot(before, next.near.apart) > limit);
    *lost |= turned;
    running &= ~turned;
    *m = choose(running, &next, m);
  }
  return apart;
}

// The moment of touch. Returns the lanes that do not touch but are so near at the start or at the
// end that others may press them together; `nothing` receives those that are not even that.
YW_LANE_FN yw_vi find_moment(yw_pair_kind kind, const paths* p, const yw_sift* s, yw_vf keep,
                             uint32_t asked, moment* m, yw_vi* nothing, yw_vi* unclear,
                             yw_vi* turned) {
  float slack = YW_TOUCH_SLOP * s->skin;
  int split = yw_pair_split(kind);
  yw_vi close = m->distance - keep <= slack;
  yw_vi slow = reach_of(p->way, split, false) < YW_SLOW_PAIR * s->skin;
  yw_vi near = m->distance < keep + s->band;
  *unclear |= ~(close | slow);
  // What is near at the start touches there, to within that distance.
  vec at_end = m->near.apart, way = difference(p->way, m->near.weights, split);
  at_end = (vec){at_end.x + way.x, at_end.y + way.y, at_end.z + way.z};
  yw_vi apart = ~close & near & ~(dot(at_end, m->near.apart) < (keep + slack) * m->distance);
  yw_vi far = slow & ~close & ~near;
  if ((yw_vi_bits(far) & asked) == 0) return apart;
  yw_vi misses = approach(kind, p, keep, slack, far, m, turned);
  *unclear |= *turned;
  if ((yw_vi_bits(misses) & asked) == 0) return apart;
  moment end = at_time(kind, p, yw_vf_splat(1.0f));
  *m = choose(misses, &end, m);
  *nothing |= misses & (m->distance > keep + s->band);
  return apart | misses;
}

// True where the faces at an edge lie behind it, see candidate.c. Adds edges within a flat face
// that n, which is at right angles to them, leads into (cone.h) to `cannot`.
YW_LANE_FN yw_vi stands_out(const vec thirds[2], const yw_vi has[2], vec p, vec edge, vec n,
                            float least, yw_vi* cannot) {
  yw_vi sharp = has[0] & 0, wrong = sharp, ahead = sharp;
  yw_vf height = yw_vf_splat(INFINITY), scale = 1.0f / dot(edge, edge), reach2[2], beside[2];
  for (int k = 0; k < 2; ++k) {
    vec to = sub(thirds[k], p);
    yw_vf along = dot(to, n), size2 = dot(to, to);
    yw_vi clear = along * along > YW_FLAT * YW_FLAT * size2, front = has[k] & (along < 0.0f);
    wrong |= clear & front;
    sharp |= ~has[k] | clear;
    height = yw_vf_select(has[k], yw_vf_min(along, height), height);
    beside[k] = dot(to, edge);
    reach2[k] = size2 - beside[k] * beside[k] * scale;
    ahead |= front & (along * along > (1.0f - YW_CONE_LEAST * YW_CONE_LEAST) * reach2[k]);
  }
  yw_vf between = dot(sub(thirds[0], p), sub(thirds[1], p)) - beside[0] * beside[1] * scale;
  yw_vi flat = has[0] & has[1] & (between < 0.0f) &
               (between * between > YW_FLAT_FACES * YW_FLAT_FACES * reach2[0] * reach2[1]);
  *cannot |= ahead & flat;
  return ~wrong & (sharp | (height > least));
}

YW_LANE_FN yw_vi both_stand_out(const yw_near_lanes* l, const yw_sift* s, int32_t first,
                                const vec x[4], const moment* m, vec n, yw_vi* cannot) {
  vec begin[4], end[4];
  yw_vi has[4];
  load_corners(l->begin, s->thirds[0], first, 2, begin);
  load_corners(l->end, s->thirds[0], first, 2, end);
  for (int k = 0; k < 4; ++k) {
    begin[k] = mad(begin[k], m->t, sub(end[k], begin[k]));
    has[k] = yw_vf_load(s->has_third[k] + first) > 0.0f;
  }
  vec u = sub(x[1], x[0]), v = sub(x[3], x[2]), behind = {-n.x, -n.y, -n.z};
  vec front = mad(x[0], m->near.weights[1], u), back = mad(x[2], m->near.weights[3], v);
  return stands_out(begin, has, front, u, n, YW_RIDGE * s->skin, cannot) &
         stands_out(begin + 2, has + 2, back, v, behind, YW_RIDGE * s->skin, cannot);
}

// Normal of the triangle, or of both edges.
YW_LANE_FN vec normal_of(yw_pair_kind kind, const vec x[4]) {
  return kind == YW_VERTEX_TRIANGLE ? cross(sub(x[2], x[1]), sub(x[3], x[1]))
                                    : cross(sub(x[1], x[0]), sub(x[3], x[2]));
}

YW_LANE_FN yw_vi on_border(const yw_vf* weights, int count) {
  yw_vi border = ~(weights[0] > YW_BORDER);
  for (int k = 1; k < count; ++k) border |= ~(weights[k] > YW_BORDER);
  return border;
}

YW_LANE_FN void sift_register(const yw_near_lanes* l, uint32_t asked, yw_sift* s, int32_t first,
                              yw_pair_kind kind) {
  int split = yw_pair_split(kind);
  paths p;
  vec x[4];
  load_corners(l->begin, l->corners[0], first, split, p.begin);
  load_corners(l->end, l->corners[0], first, split, x);
  for (int k = 0; k < 4; ++k) p.way[k] = sub(x[k], p.begin[k]);
  moment m = {.t = yw_vf_splat(0.0f), .distance = yw_vf_load(l->distance + first)};
  for (int k = 0; k < 4; ++k) m.near.weights[k] = yw_vf_load(l->weights[k] + first);
  m.near.apart = (vec){yw_vf_load(l->apart[0] + first), yw_vf_load(l->apart[1] + first),
                       yw_vf_load(l->apart[2] + first)};
  yw_vi nothing = (yw_vi){0}, unclear = m.distance < 1e-3f * s->skin;
  // Material lies between a vertex and a triangle that faces away.
  if (kind == YW_VERTEX_TRIANGLE && s->is_volume) {
    yw_vf facing = dot(m.near.apart, normal_of(kind, p.begin));
    nothing |= ~unclear & ~on_border(m.near.weights + 1, 3) & (facing < 0.0f);
  }
  yw_vf keep = distance_to_keep(l, s, first, kind, m.near.weights);
  yw_vi turned = (yw_vi){0};
  yw_vi apart = find_moment(kind, &p, s, keep, asked, &m, &nothing, &unclear, &turned);

  for (int k = 0; k < 4; ++k) x[k] = mad(p.begin[k], m.t, p.way[k]);
  vec n = normal_of(kind, x);
  yw_vf size = yw_vf_sqrt(dot(n, n)), scale = 1.0f / size;
  scale = yw_vf_select(dot(n, m.near.apart) < 0.0f, -scale, scale);
  n = (vec){scale * n.x, scale * n.y, scale * n.z};
  unclear |= (m.distance < 1e-3f * s->skin) | ~((size > 0.0f) & (size < INFINITY));
  yw_vi contact = ~nothing;
  if (kind == YW_VERTEX_TRIANGLE) {
    unclear |= on_border(m.near.weights + 1, 3);
  } else {
    // Edges that are nearly parallel have no normal of their own.
    vec u = sub(x[1], x[0]), v = sub(x[3], x[2]);
    unclear |= ~(size * size > YW_PARALLEL * YW_PARALLEL * dot(u, u) * dot(v, v));
    for (int side = 0; side < 2; ++side) {
      yw_vi border = on_border(m.near.weights + 2 * side, 2);
      if (s->found_by[side]) nothing |= border & ~unclear;
      if (!s->found_by[side]) unclear |= border;
    }
    yw_vi cannot = (yw_vi){0};
    contact = both_stand_out(l, s, first, x, &m, n, &cannot);
    nothing |= cannot & ~unclear;
  }
  for (int k = 0; k < 4; ++k) yw_vf_store(s->weights[k] + first, m.near.weights[k]);
  yw_vf_store(s->normal[0] + first, n.x);
  yw_vf_store(s->normal[1] + first, n.y);
  yw_vf_store(s->normal[2] + first, n.z);
  yw_vf_store(s->distance + first, keep);
  yw_vf gap = dot(n, difference(p.begin, m.near.weights, split)) - keep;
  yw_vf_store(s->gap_before + first, gap);
  s->unclear |= (yw_vi_bits(unclear & ~nothing) & asked) << first;
  s->turned |= (yw_vi_bits(turned) & asked) << first;
  s->contacts |= (yw_vi_bits(contact & ~unclear & ~nothing) & asked) << first;
  s->spares |= (yw_vi_bits(~contact & ~apart & ~unclear & ~nothing) & asked) << first;
}

static void sift(const yw_near_lanes* l, uint32_t near, yw_sift* s) {
  s->contacts = s->spares = s->unclear = s->turned = 0;
  for (int32_t first = 0; first < l->count; first += YW_VF_LANES) {
    uint32_t asked = near >> first & (uint32_t)((1ull << YW_VF_LANES) - 1);
    if (asked == 0) continue;
    if (l->kind == YW_VERTEX_TRIANGLE) {
      sift_register(l, asked, s, first, YW_VERTEX_TRIANGLE);
    } else {
      sift_register(l, asked, s, first, YW_EDGE_EDGE);
    }
  }
}

extern const yw_sift_fns YW_KERNEL(yw_sift_table);
const yw_sift_fns YW_KERNEL(yw_sift_table) = {sift};
