// SPDX-License-Identifier: MIT
// Tensions and forces of one register of families, for fem_kernels.c and for devices. Symbols as in
// element.h: q of an edge is half the change of its squared length, T = M q its tension.
//
// `lane` is the place of the register within the 16 lanes of a batch. What is gathered has as many
// lanes as the batch on the processor, and one on a device.
#ifndef YW_METHODS_FEM_FAMILY_LANES_H
#define YW_METHODS_FEM_FAMILY_LANES_H

#include "math/small/lanes.h"
#include "methods/fem/element.h"
#include "methods/fem/kernels.h"

#if YW_VF_LANES == 1
#define FEM_GATHERED 1
#define gathered(lane) ((void)(lane), 0)
#else
#define FEM_GATHERED YW_LANES
#define gathered(lane) (lane)
#endif

// x, y, z of nodes.
typedef struct lane_vec3 {
  _Alignas(FEM_GATHERED * 4) float x[FEM_GATHERED], y[FEM_GATHERED], z[FEM_GATHERED];
} lane_vec3;

typedef struct edge_lanes {
  yw_vf x[FEM_MAX_EDGES], y[FEM_MAX_EDGES], z[FEM_MAX_EDGES];  // from the first end to the second
  yw_vf q[FEM_MAX_EDGES], rate[FEM_MAX_EDGES], tension[FEM_MAX_EDGES];
} edge_lanes;

// Source of a child's matrix: 21 numbers for all lanes, these scaled by lane, or 21 per lane.
typedef enum matrix_source { SHARED_BY_ALL, SCALED_BY_LANE, SHARED_BY_LANE, OWN } matrix_source;

YW_LANE_FN yw_vf matrix_entry(const float* m, int i, matrix_source source, yw_vf scale) {
  if (source == SCALED_BY_LANE) return scale * m[i];
  return source == SHARED_BY_ALL ? yw_vf_splat(m[i]) : yw_vf_load(m + i * YW_LANES);
}

// t = M q for the six edges of a tet.
YW_LANE_FN void times_matrix(const float* m, matrix_source source, yw_vf scale, const uint8_t* edge,
                             const yw_vf* q, yw_vf t[6]) {
  yw_vf a = q[edge[0]], b = q[edge[1]], c = q[edge[2]], d = q[edge[3]], e = q[edge[4]],
        f = q[edge[5]];
#define M(i) matrix_entry(m, i, source, scale)
  yw_vf m1 = M(1), m2 = M(2), m3 = M(3), m4 = M(4), m5 = M(5);
  t[0] = (M(0) * a + m1 * b) + (m2 * c + m3 * d) + (m4 * e + m5 * f);
  yw_vf m7 = M(7), m8 = M(8), m9 = M(9), m10 = M(10);
  t[1] = (m1 * a + M(6) * b) + (m7 * c + m8 * d) + (m9 * e + m10 * f);
  yw_vf m12 = M(12), m13 = M(13), m14 = M(14);
  t[2] = (m2 * a + m7 * b) + (M(11) * c + m12 * d) + (m13 * e + m14 * f);
  yw_vf m16 = M(16), m17 = M(17);
  t[3] = (m3 * a + m8 * b) + (m12 * c + M(15) * d) + (m16 * e + m17 * f);
  yw_vf m19 = M(19);
  t[4] = (m4 * a + m9 * b) + (m13 * c + m16 * d) + (M(18) * e + m19 * f);
  t[5] = (m5 * a + m10 * b) + (m14 * c + m17 * d) + (m19 * e + M(20) * f);
#undef M
}

// tension += factor M q for the six edges of a child.
YW_LANE_FN void add_tensions(const float* m, matrix_source source, yw_vf factor,
                             const uint8_t* edge, const yw_vf* q, yw_vf* tension) {
  yw_vf t[6];
  times_matrix(m, source, factor, edge, q, t);
  for (int k = 0; k < 6; ++k) tension[edge[k]] += source == OWN ? t[k] : factor * t[k];
}

// What the children of a batch share, or have of their own; at its first lane.
typedef struct batch_tables {
  const fem_kind* kind;
  const float *matrices, *squares, *mean;  // of the root, or by lane
  const float *factors, *shares;
  size_t factor_step;  // from child to child
  yw_vf rest_scale, mean_scale, share_scale;
  bool is_soft;
} batch_tables;

// L^2 / 2 of an edge at rest, of the root or by lane.
YW_LANE_FN yw_vf rest_square(const float* squares, matrix_source source, yw_vf scale, int32_t e) {
  return source == SHARED_BY_ALL ? scale * squares[e] : yw_vf_load(squares + e * YW_LANES);
}

YW_LANE_FN void measure_edges(const fem_kind* kind, const lane_vec3* x, const lane_vec3* v,
                              const batch_tables* tables, matrix_source source, int32_t lane,
                              float lag, bool own_damping, edge_lanes* out) {
  const int32_t at = gathered(lane);
  for (int32_t e = 0; e < kind->num_edges; ++e) {
    const lane_vec3 *a = &x[kind->edge[e][0]], *b = &x[kind->edge[e][1]];
    yw_vf dx = yw_vf_load(b->x + at) - yw_vf_load(a->x + at);
    yw_vf dy = yw_vf_load(b->y + at) - yw_vf_load(a->y + at);
    yw_vf dz = yw_vf_load(b->z + at) - yw_vf_load(a->z + at);
    yw_vf q = 0.5f * (dx * dx + dy * dy + dz * dz) -
              rest_square(tables->squares, source, tables->rest_scale, e);
    if (v) {
      a = &v[kind->edge[e][0]], b = &v[kind->edge[e][1]];
      yw_vf rate = dx * (yw_vf_load(b->x + at) - yw_vf_load(a->x + at)) +
                   dy * (yw_vf_load(b->y + at) - yw_vf_load(a->y + at)) +
                   dz * (yw_vf_load(b->z + at) - yw_vf_load(a->z + at));
      if (own_damping) {
        out->rate[e] = rate;
      } else {
        q += lag * rate;
      }
    }
    out->x[e] = dx, out->y[e] = dy, out->z[e] = dz;
    out->q[e] = q;
    out->tension[e] = yw_vf_splat(0.0f);
  }
}

// Lanes whose child has lost too much of its volume.
YW_LANE_FN uint32_t squeezed_lanes(const edge_lanes* edges, const fem_kind* kind, int32_t c,
                                   yw_vf turn) {
  // Edges 01, 02, 03 of the child; those stored reversed change the sign of det.
  const uint8_t *e = kind->child_edge[c], *n = kind->child_node[c];
  float sign = kind->child_turn[c];
  for (int k = 0; k < 3; ++k) {
    if (kind->edge[e[k]][0] != n[0]) sign = -sign;
  }
  yw_vf ax = edges->x[e[0]], ay = edges->y[e[0]], az = edges->z[e[0]];
  yw_vf bx = edges->x[e[1]], by = edges->y[e[1]], bz = edges->z[e[1]];
  yw_vf det = edges->x[e[2]] * (ay * bz - az * by) + edges->y[e[2]] * (az * bx - ax * bz) +
              edges->z[e[2]] * (ax * by - ay * bx);
  yw_vi low = (det * sign) * turn < (float)FEM_LEAST_VOLUME;
  return yw_vi_bits(low);
}

// f_a = sum of T (x_b - x_a), node by node: half the stores of an edge-by-edge loop.
YW_LANE_FN void add_forces(const fem_kind* kind, const edge_lanes* edges, int32_t lane,
                           lane_vec3* f) {
  const int32_t at = gathered(lane);
  for (int32_t n = 0; n < kind->num_nodes; ++n) {
    yw_vf x = yw_vf_splat(0.0f), y = x, z = x;
    for (int k = 0; k < kind->num_from[n]; ++k) {
      int e = kind->from[n][k];
      x += edges->tension[e] * edges->x[e];
      y += edges->tension[e] * edges->y[e];
      z += edges->tension[e] * edges->z[e];
    }
    for (int k = 0; k < kind->num_to[n]; ++k) {
      int e = kind->to[n][k];
      x -= edges->tension[e] * edges->x[e];
      y -= edges->tension[e] * edges->y[e];
      z -= edges->tension[e] * edges->z[e];
    }
    yw_vf_store(f[n].x + at, x);
    yw_vf_store(f[n].y + at, y);
    yw_vf_store(f[n].z + at, z);
  }
}

// M of a child, to be multiplied by its factor unless it is its own.
YW_LANE_FN const float* child_matrix(const batch_tables* t, matrix_source source, size_t c) {
  if (source == OWN) return t->matrices + c * FEM_MATRIX * YW_LANES;
  size_t type = t->kind->child_type[c];
  return t->matrices + type * (source == SHARED_BY_ALL ? FEM_MATRIX : FEM_MATRIX * YW_LANES);
}

YW_LANE_FN yw_vf child_factor(const batch_tables* t, matrix_source source, size_t c) {
  return source == OWN ? yw_vf_splat(1.0f) : yw_vf_load(t->factors + c * t->factor_step);
}

// Fraction of the volume of a softened family.
YW_LANE_FN yw_vf child_share(const batch_tables* t, matrix_source source, size_t c) {
  if (source == OWN) return yw_vf_load(t->shares + c * YW_LANES);
  return child_factor(t, source, c) * (t->share_scale * t->kind->child_volume[c]);
}

// T = M q of all children.
YW_LANE_FN void add_children(const batch_tables* t, matrix_source source, edge_lanes* edges) {
  for (size_t c = 0; c < (size_t)t->kind->num_children; ++c) {
    add_tensions(child_matrix(t, source, c), source, child_factor(t, source, c),
                 t->kind->child_edge[c], edges->q, edges->tension);
  }
}

// Edges of a T tet by the slot of its apex: those at the apex, and the one opposite each.
YW_LANE_FN const uint8_t* tip_edges(int apex) {
  static const uint8_t edges[4][3] = {{0, 1, 2}, {0, 3, 4}, {1, 3, 5}, {2, 4, 5}};
  return edges[apex];
}
YW_LANE_FN const uint8_t* base_edges(int apex) {
  static const uint8_t edges[4][3] = {{5, 4, 3}, {5, 2, 1}, {4, 2, 0}, {3, 1, 0}};
  return edges[apex];
}

// Adds the q of an A tet under the strain that gives a T tet's edges q; and the transpose. The
// corner of A opposite the base is p_t = p_u + p_v + p_w - 2 apex, so its edge to p_u is the sum of
// the apex's edges to p_v and p_w.
YW_LANE_FN void turn_to_a(int apex, const yw_vf* q, yw_vf* out) {
  const uint8_t *tip = tip_edges(apex), *base = base_edges(apex);
  yw_vf all = (q[tip[0]] + q[tip[1]]) + q[tip[2]];
  for (int i = 0; i < 3; ++i) {
    out[base[i]] += q[base[i]];
    out[tip[i]] += 2.0f * (all - q[tip[i]]) - q[base[i]];
  }
}

YW_LANE_FN void turn_from_a(int apex, const yw_vf* tension, yw_vf* out) {
  const uint8_t *tip = tip_edges(apex), *base = base_edges(apex);
  yw_vf all = (tension[tip[0]] + tension[tip[1]]) + tension[tip[2]];
  for (int i = 0; i < 3; ++i) {
    out[base[i]] = tension[base[i]] - tension[tip[i]];
    out[tip[i]] = 2.0f * (all - tension[tip[i]]);
  }
}

// Adds the contribution of one type of children to the mean q of an A tet.
YW_LANE_FN void add_type(const batch_tables* tables, matrix_source source, int type, const yw_vf* q,
                         yw_vf* mean) {
  const fem_kind* kind = tables->kind;
  yw_vf sum[6];
  for (int k = 0; k < 6; ++k) sum[k] = yw_vf_splat(0.0f);
  for (int32_t i = 0; i < kind->num_of_type[type]; ++i) {
    size_t c = kind->of_type[type][i];
    yw_vf share = child_share(tables, source, c);
    for (int k = 0; k < 6; ++k) sum[k] += share * q[kind->child_edge[c][k]];
  }
  if (type == FEM_A) {
    for (int k = 0; k < 6; ++k) mean[k] += sum[k];
  } else {
    turn_to_a(type - FEM_T0, sum, mean);
  }
}

// t = V N^T K N q of an A tet.
YW_LANE_FN void times_mean_matrix(const batch_tables* tables, matrix_source source, const yw_vf* q,
                                  yw_vf t[6]) {
  static const uint8_t own_edges[6] = {0, 1, 2, 3, 4, 5};
  bool shared = source == SHARED_BY_ALL;
  times_matrix(tables->mean, shared ? SCALED_BY_LANE : OWN, tables->mean_scale, own_edges, q, t);
}

// t = (V N^T K N) R q by type of child: the response of softened families to their mean strain
// (soften.h).
YW_LANE_FN void find_means(const batch_tables* tables, matrix_source source, const yw_vf* q,
                           yw_vf t[FEM_TYPES][6]) {
  yw_vf mean[6];
  for (int k = 0; k < 6; ++k) mean[k] = yw_vf_splat(0.0f);
  add_type(tables, source, FEM_A, q, mean);
  add_type(tables, source, FEM_T0, q, mean);
  add_type(tables, source, FEM_T1, q, mean);
  add_type(tables, source, FEM_T2, q, mean);
  add_type(tables, source, FEM_T3, q, mean);
  times_mean_matrix(tables, source, mean, t[FEM_A]);
  turn_from_a(0, t[FEM_A], t[FEM_T0]);
  turn_from_a(1, t[FEM_A], t[FEM_T1]);
  turn_from_a(2, t[FEM_A], t[FEM_T2]);
  turn_from_a(3, t[FEM_A], t[FEM_T3]);
}

// T = M q of all children of softened families, plus the mean-strain term.
YW_LANE_FN void add_soft_children(const batch_tables* tables, matrix_source source,
                                  edge_lanes* edges) {
  yw_vf means[FEM_TYPES][6], t[6];
  find_means(tables, source, edges->q, means);
  for (size_t c = 0; c < (size_t)tables->kind->num_children; ++c) {
    const uint8_t* edge = tables->kind->child_edge[c];
    yw_vf factor = child_factor(tables, source, c), share = child_share(tables, source, c);
    times_matrix(child_matrix(tables, source, c), source, factor, edge, edges->q, t);
    const yw_vf* mean = means[tables->kind->child_type[c]];
    for (int k = 0; k < 6; ++k) {
      edges->tension[edge[k]] += (source == OWN ? t[k] : factor * t[k]) + share * mean[k];
    }
  }
}

// T = M q of the children of all families.
YW_LANE_FN void add_families(const batch_tables* tables, matrix_source source, edge_lanes* edges) {
  if (tables->is_soft) {
    add_soft_children(tables, source, edges);
  } else {
    add_children(tables, source, edges);
  }
}

// Of a batch whose families have one root.
YW_LANE_FN batch_tables tables_of_root(const fem_force_args* args, const fem_kind* kind, size_t at,
                                       int32_t lane) {
  const fem_batches* b = args->batches;
  const int32_t root = b->table_root[at];
  const size_t i = at * YW_LANES + (size_t)lane;
  batch_tables t = {.kind = kind,
                    .matrices = args->root_matrices[root][0],
                    .squares = args->root_squares[root][args->type],
                    .factors = b->factors + at * (size_t)kind->num_children * YW_LANES + lane,
                    .factor_step = b->one_factor[at] ? 0 : YW_LANES,
                    .rest_scale = yw_vf_load(b->rest_scale + i),
                    .is_soft = (int32_t)at < b->num_soft};
  if (!t.is_soft) return t;
  t.mean = args->root_means[root];
  t.mean_scale = yw_vf_load(b->mean_scale + i);
  t.share_scale = yw_vf_load(b->share_scale + i);
  return t;
}

YW_LANE_FN batch_tables tables_of_lanes(const fem_force_args* args, const fem_kind* kind, size_t at,
                                        int32_t lane) {
  const fem_batches* b = args->batches;
  const size_t nc = (size_t)kind->num_children, matrix = FEM_MATRIX * YW_LANES;
  batch_tables t = {.kind = kind,
                    .squares = b->half_squares + at * (size_t)kind->num_edges * YW_LANES + lane,
                    .rest_scale = {0},
                    .is_soft = (int32_t)at < b->num_soft};
  if (t.is_soft) t.mean = b->mean_matrices + at * matrix + lane;
  if (b->matrices) {
    t.matrices = b->matrices + at * nc * matrix + lane;
    if (t.is_soft) t.shares = b->shares + at * nc * YW_LANES + lane;
    return t;
  }
  t.matrices = b->lane_tables + at * FEM_TYPES * matrix + lane;
  t.factors = b->factors + at * nc * YW_LANES + lane;
  t.factor_step = b->one_factor[at] ? 0 : YW_LANES;
  if (t.is_soft) t.share_scale = yw_vf_load(b->share_scale + at * YW_LANES + (size_t)lane);
  return t;
}

// Tensions of all edges of the families of batch `at`. v: NULL without damping.
YW_LANE_FN void find_tensions(const fem_force_args* args, size_t at, int32_t lane,
                              const fem_kind* kind, const lane_vec3* x, const lane_vec3* v,
                              edge_lanes* edges) {
  const fem_batches* b = args->batches;
  const bool own_damping = v && b->dampings;
  const size_t nc = (size_t)kind->num_children, matrix = FEM_MATRIX * YW_LANES;
  if (b->table_root && b->table_root[at] >= 0) {
    const batch_tables tables = tables_of_root(args, kind, at, lane);
    measure_edges(kind, x, v, &tables, SHARED_BY_ALL, lane, args->lag, own_damping, edges);
    add_families(&tables, SHARED_BY_ALL, edges);
  } else {
    const batch_tables tables = tables_of_lanes(args, kind, at, lane);
    measure_edges(kind, x, v, &tables, OWN, lane, args->lag, own_damping, edges);
    if (b->matrices) {
      add_families(&tables, OWN, edges);
    } else {
      add_families(&tables, SHARED_BY_LANE, edges);
    }
  }
  for (size_t c = 0; c < nc && args->plastic; ++c) {
    const float* offset = b->offsets + (at * nc + c) * 6 * YW_LANES + lane;
    for (int k = 0; k < 6; ++k) {
      edges->tension[kind->child_edge[c][k]] -= yw_vf_load(offset + k * YW_LANES);
    }
  }
  for (size_t c = 0; c < nc && own_damping; ++c) {
    add_tensions(b->dampings + (at * nc + c) * matrix + lane, OWN, yw_vf_splat(0.0f),
                 kind->child_edge[c], edges->rate, edges->tension);
  }
}

#endif
