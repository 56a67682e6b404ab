// SPDX-License-Identifier: MIT
// Forces and strains of 16 families at a time. Symbols as in element.h: q of an edge is half the
// change of its squared length, T = M q its tension.
//
// Positions are gathered four floats at a time and transposed into lanes; then every edge of a
// family is computed once for all children that share it.
#include "math/small/float4.h"
#include "methods/fem/element.h"
#include "methods/fem/kernels.h"

// x, y, z of nodes in 16 lanes.
typedef struct lane_vec3 {
  _Alignas(64) float x[YW_LANES], y[YW_LANES], z[YW_LANES];
} lane_vec3;

// Gathering and scattering ------------------------------------------------------------------------

// Gathers rows of 4 floats, `stride` bytes apart, by node number.
YW_LANE_FN void gather(const void* from, size_t stride, const int32_t* nodes, lane_vec3* out,
                       float* w) {
  const char* base = from;
  for (int g = 0; g < YW_LANES; g += 4) {
    yw_float4 row[4];
    for (int k = 0; k < 4; ++k) row[k] = yw_float4_load(base + stride * (size_t)nodes[g + k]);
    yw_float4_transpose(row);
    yw_float4_store(out->x + g, row[0]);
    yw_float4_store(out->y + g, row[1]);
    yw_float4_store(out->z + g, row[2]);
    if (w) yw_float4_store(w + g, row[3]);
  }
}

// Scatters lanes to rows of 4 floats, `stride` bytes apart.
YW_LANE_FN void spread(const float* x, const float* y, const float* z, const float* w, void* to,
                       size_t stride) {
  char* base = to;
  for (int g = 0; g < YW_LANES; g += 4) {
    yw_float4 row[4] = {yw_float4_load(x + g), yw_float4_load(y + g), yw_float4_load(z + g)};
    if (w) row[3] = yw_float4_load(w + g);
    yw_float4_transpose(row);
    for (int k = 0; k < 4; ++k) yw_float4_store(base + stride * (size_t)(g + k), row[k]);
  }
}

// Forces ------------------------------------------------------------------------------------------

typedef struct edge_lanes {
  yw_vf x[FEM_MAX_EDGES], y[FEM_MAX_EDGES], z[FEM_MAX_EDGES];  // from the first end to the second
  yw_vf q[FEM_MAX_EDGES], rate[FEM_MAX_EDGES], tension[FEM_MAX_EDGES];
} edge_lanes;

// Source of a child's matrix: 21 numbers for all lanes, or 21 per lane.
typedef enum matrix_source { SHARED_BY_ALL, SHARED_BY_LANE, OWN } matrix_source;

YW_LANE_FN yw_vf matrix_entry(const float* m, int i, matrix_source source) {
  return source == SHARED_BY_ALL ? yw_vf_splat(m[i]) : yw_vf_load(m + i * YW_LANES);
}

// t = M q for the six edges of a tet.
YW_LANE_FN void times_matrix(const float* m, matrix_source source, const uint8_t* edge,
                             const yw_vf* q, yw_vf t[6]) {
  yw_vf a = q[edge[0]], b = q[edge[1]], c = q[edge[2]], d = q[edge[3]], e = q[edge[4]],
        f = q[edge[5]];
#define M(i) matrix_entry(m, i, source)
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
  times_matrix(m, source, edge, q, t);
  for (int k = 0; k < 6; ++k) tension[edge[k]] += source == OWN ? t[k] : factor * t[k];
}

YW_LANE_FN void measure_edges(const fem_kind* kind, const lane_vec3* x, const lane_vec3* v,
                              const float* half_squares, int32_t lane, float lag, bool own_damping,
                              edge_lanes* out) {
  for (int32_t e = 0; e < kind->num_edges; ++e) {
    const lane_vec3 *a = &x[kind->edge[e][0]], *b = &x[kind->edge[e][1]];
    yw_vf dx = yw_vf_load(b->x + lane) - yw_vf_load(a->x + lane);
    yw_vf dy = yw_vf_load(b->y + lane) - yw_vf_load(a->y + lane);
    yw_vf dz = yw_vf_load(b->z + lane) - yw_vf_load(a->z + lane);
    yw_vf q = 0.5f * (dx * dx + dy * dy + dz * dz) - yw_vf_load(half_squares + e * YW_LANES + lane);
    if (v) {
      a = &v[kind->edge[e][0]], b = &v[kind->edge[e][1]];
      yw_vf rate = dx * (yw_vf_load(b->x + lane) - yw_vf_load(a->x + lane)) +
                   dy * (yw_vf_load(b->y + lane) - yw_vf_load(a->y + lane)) +
                   dz * (yw_vf_load(b->z + lane) - yw_vf_load(a->z + lane));
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
    yw_vf_store(f[n].x + lane, x);
    yw_vf_store(f[n].y + lane, y);
    yw_vf_store(f[n].z + lane, z);
  }
}

// T = M q of all children.
YW_LANE_FN void add_children(const fem_force_args* args, const fem_kind* kind, size_t at,
                             int32_t lane, matrix_source source, edge_lanes* edges) {
  const fem_batches* b = args->batches;
  const size_t nc = (size_t)kind->num_children, matrix = FEM_MATRIX * YW_LANES;
  for (size_t c = 0; c < nc; ++c) {
    const float* m;
    yw_vf factor = {0};
    if (source == OWN) {
      m = b->matrices + (at * nc + c) * matrix + lane;
    } else {
      m = source == SHARED_BY_ALL
              ? args->root_matrices[b->table_root[at]][kind->child_type[c]]
              : b->lane_tables + (at * FEM_TYPES + kind->child_type[c]) * matrix + lane;
      factor = yw_vf_load(b->factors + (at * nc + c) * YW_LANES + lane);
    }
    add_tensions(m, source, factor, kind->child_edge[c], edges->q, edges->tension);
  }
}

// Edges of a T tet by the slot of its apex: those at the apex, and the one opposite each.
static const uint8_t tip_edges[4][3] = {{0, 1, 2}, {0, 3, 4}, {1, 3, 5}, {2, 4, 5}};
static const uint8_t base_edges[4][3] = {{5, 4, 3}, {5, 2, 1}, {4, 2, 0}, {3, 1, 0}};

// Adds the q of an A tet under the strain that gives a T tet's edges q; and the transpose. The
// corner of A opposite the base is p_t = p_u + p_v + p_w - 2 apex, so its edge to p_u is the sum of
// the apex's edges to p_v and p_w.
YW_LANE_FN void turn_to_a(int apex, const yw_vf* q, yw_vf* out) {
  const uint8_t *tip = tip_edges[apex], *base = base_edges[apex];
  yw_vf all = (q[tip[0]] + q[tip[1]]) + q[tip[2]];
  for (int i = 0; i < 3; ++i) {
    out[base[i]] += q[base[i]];
    out[tip[i]] += 2.0f * (all - q[tip[i]]) - q[base[i]];
  }
}

YW_LANE_FN void turn_from_a(int apex, const yw_vf* tension, yw_vf* out) {
  const uint8_t *tip = tip_edges[apex], *base = base_edges[apex];
  yw_vf all = (tension[tip[0]] + tension[tip[1]]) + tension[tip[2]];
  for (int i = 0; i < 3; ++i) {
    out[base[i]] = tension[base[i]] - tension[tip[i]];
    out[tip[i]] = 2.0f * (all - tension[tip[i]]);
  }
}

// Adds the contribution of one type of children to the mean q of an A tet.
YW_LANE_FN void add_type(const fem_kind* kind, int type, const float* shares, const yw_vf* q,
                         yw_vf* mean) {
  yw_vf sum[6];
  for (int k = 0; k < 6; ++k) sum[k] = yw_vf_splat(0.0f);
  for (int32_t i = 0; i < kind->num_of_type[type]; ++i) {
    int32_t c = kind->of_type[type][i];
    yw_vf share = yw_vf_load(shares + c * YW_LANES);
    for (int k = 0; k < 6; ++k) sum[k] += share * q[kind->child_edge[c][k]];
  }
  if (type == FEM_A) {
    for (int k = 0; k < 6; ++k) mean[k] += sum[k];
  } else {
    turn_to_a(type - FEM_T0, sum, mean);
  }
}

// t = (V N^T K N) R q by type of child: the response of softened families to their mean strain
// (soften.h).
YW_LANE_FN void find_means(const fem_batches* b, const fem_kind* kind, size_t at, int32_t lane,
                           const yw_vf* q, yw_vf t[FEM_TYPES][6]) {
  static const uint8_t own_edges[6] = {0, 1, 2, 3, 4, 5};
  const float* shares = b->shares + at * (size_t)kind->num_children * YW_LANES + lane;
  yw_vf mean[6];
  for (int k = 0; k < 6; ++k) mean[k] = yw_vf_splat(0.0f);
  add_type(kind, FEM_A, shares, q, mean);
  add_type(kind, FEM_T0, shares, q, mean);
  add_type(kind, FEM_T1, shares, q, mean);
  add_type(kind, FEM_T2, shares, q, mean);
  add_type(kind, FEM_T3, shares, q, mean);
  times_matrix(b->mean_matrices + at * FEM_MATRIX * YW_LANES + lane, OWN, own_edges, mean,
               t[FEM_A]);
  turn_from_a(0, t[FEM_A], t[FEM_T0]);
  turn_from_a(1, t[FEM_A], t[FEM_T1]);
  turn_from_a(2, t[FEM_A], t[FEM_T2]);
  turn_from_a(3, t[FEM_A], t[FEM_T3]);
}

// T = M q of all children of softened families, plus the mean-strain term.
YW_LANE_FN void add_soft_children(const fem_batches* b, const fem_kind* kind, size_t at,
                                  int32_t lane, edge_lanes* edges) {
  const size_t nc = (size_t)kind->num_children;
  yw_vf means[FEM_TYPES][6], t[6];
  find_means(b, kind, at, lane, edges->q, means);
  for (size_t c = 0; c < nc; ++c) {
    const uint8_t* edge = kind->child_edge[c];
    yw_vf share = yw_vf_load(b->shares + (at * nc + c) * YW_LANES + (size_t)lane);
    times_matrix(b->matrices + (at * nc + c) * FEM_MATRIX * YW_LANES + lane, OWN, edge, edges->q,
                 t);
    const yw_vf* mean = means[kind->child_type[c]];
    for (int k = 0; k < 6; ++k) edges->tension[edge[k]] += t[k] + share * mean[k];
  }
}

YW_LANE_FN bool batch_forces(const fem_force_args* args, int32_t batch, const fem_kind* kind,
                             bool damped) {
  const fem_batches* b = args->batches;
  const bool own_damping = damped && b->dampings;
  const size_t at = (size_t)batch, nn = (size_t)kind->num_nodes;
  const size_t nc = (size_t)kind->num_children, matrix = FEM_MATRIX * YW_LANES;
  lane_vec3 x[FEM_FAMILY_NODES], v[FEM_FAMILY_NODES], f[FEM_FAMILY_NODES];
  for (size_t n = 0; n < nn; ++n) {
    const int32_t* nodes = b->nodes + (at * nn + n) * YW_LANES;
    gather(args->pos, sizeof *args->pos, nodes, &x[n], NULL);
    if (damped) gather(args->vel, sizeof *args->vel, nodes, &v[n], NULL);
  }
  uint32_t low[FEM_FAMILY_CHILDREN] = {0}, any = 0;
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    edge_lanes edges;
    measure_edges(kind, x, damped ? v : NULL,
                  b->half_squares + at * (size_t)kind->num_edges * YW_LANES, lane, args->lag,
                  own_damping, &edges);
    yw_vf turn = yw_vf_load(b->turn + at * YW_LANES + (size_t)lane);
    if (batch < b->num_soft) {
      add_soft_children(b, kind, at, lane, &edges);
    } else if (b->matrices) {
      add_children(args, kind, at, lane, OWN, &edges);
    } else if (b->table_root[at] < 0) {
      add_children(args, kind, at, lane, SHARED_BY_LANE, &edges);
    } else {
      add_children(args, kind, at, lane, SHARED_BY_ALL, &edges);
    }
    for (size_t c = 0; c < nc && args->plastic; ++c) {
      const float* offset = b->offsets + (at * nc + c) * 6 * YW_LANES + lane;
      for (int k = 0; k < 6; ++k) {
        edges.tension[kind->child_edge[c][k]] -= yw_vf_load(offset + k * YW_LANES);
      }
    }
    for (size_t c = 0; c < nc && own_damping; ++c) {
      add_tensions(b->dampings + (at * nc + c) * matrix + lane, OWN, turn, kind->child_edge[c],
                   edges.rate, edges.tension);
    }
    for (size_t c = 0; c < nc && args->squeezed; ++c) {
      uint32_t bits = squeezed_lanes(&edges, kind, (int32_t)c, turn) << lane;
      low[c] |= bits;
      any |= bits;
    }
    add_forces(kind, &edges, lane, f);
  }
  for (size_t n = 0; n < nn; ++n) {
    spread(f[n].x, f[n].y, f[n].z, NULL, args->slots + (size_t)b->first_slot[at] + n * YW_LANES,
           sizeof(yw_vec4));
  }
  // Empty lanes have no volume and look squeezed; children outside the front do not count.
  bool found = false;
  for (size_t c = 0; c < nc && any; ++c) {
    uint32_t bits = 0;
    for (uint32_t l = 0; l < YW_LANES; ++l) {
      bits |= (uint32_t)(b->present[at * YW_LANES + l] >> c & 1) << l;
    }
    args->squeezed[at * FEM_FAMILY_CHILDREN + c] = (uint16_t)(low[c] & bits);
    found = found || (low[c] & bits);
  }
  return found;
}

static bool forces(const fem_force_args* args, int32_t batch) {
  return args->vel ? batch_forces(args, batch, args->kind, true)
                   : batch_forces(args, batch, args->kind, false);
}

// Strains -----------------------------------------------------------------------------------------

typedef struct lane_gradients {
  _Alignas(64) float g[9][YW_LANES];
} lane_gradients;

typedef struct lane_strain {
  yw_vf e[6];
} lane_strain;

// Green strain of the tet with nodes n; gradients are those of the shape times scale.
YW_LANE_FN lane_strain green_strain(const lane_vec3* x, const uint8_t* n, const lane_gradients* g,
                                    yw_vf scale, int32_t lane) {
  yw_vf ox = yw_vf_load(x[n[0]].x + lane), oy = yw_vf_load(x[n[0]].y + lane);
  yw_vf oz = yw_vf_load(x[n[0]].z + lane);
  yw_vf f[3][3];
  for (int i = 0; i < 9; ++i) f[i / 3][i % 3] = yw_vf_splat(0.0f);
  for (int k = 0; k < 3; ++k) {
    const lane_vec3* p = &x[n[k + 1]];
    yw_vf dx = (yw_vf_load(p->x + lane) - ox) * scale, dy = (yw_vf_load(p->y + lane) - oy) * scale;
    yw_vf dz = (yw_vf_load(p->z + lane) - oz) * scale;
    for (int j = 0; j < 3; ++j) {
      yw_vf gradient = yw_vf_load(g->g[3 * k + j] + lane);
      f[0][j] += dx * gradient;
      f[1][j] += dy * gradient;
      f[2][j] += dz * gradient;
    }
  }
#define COLUMNS(i, j) (f[0][i] * f[0][j] + f[1][i] * f[1][j] + f[2][i] * f[2][j])
  return (lane_strain){{0.5f * (COLUMNS(0, 0) - 1.0f), 0.5f * (COLUMNS(1, 1) - 1.0f),
                        0.5f * (COLUMNS(2, 2) - 1.0f), COLUMNS(1, 2), COLUMNS(0, 2),
                        COLUMNS(0, 1)}};
#undef COLUMNS
}

// Gradients of the shapes of 16 roots. Single tets have one shape each.
static void load_gradients(const fem_strain_args* args, int32_t batch, lane_gradients* out) {
  const int32_t* owner = args->batches->owner + (size_t)batch * YW_LANES;
  for (int l = 0; l < YW_LANES; ++l) {
    if (owner[l] < 0) {
      for (int t = 0; t < FEM_TYPES; ++t) {
        for (int k = 0; k < 9; ++k) out[t].g[k][l] = 0.0f;
      }
      continue;
    }
    const float(*table)[9] = (const float(*)[9])args->tables->gradients[args->h->root[owner[l]]];
    for (int t = 0; t < FEM_TYPES; ++t) {
      int type = args->k == FEM_SINGLES ? args->h->type[owner[l]] : t;
      for (int k = 0; k < 9; ++k) out[t].g[k][l] = table[type][k];
    }
  }
}

// Adds volume times strain to the four nodes of a child.
YW_LANE_FN void add_to_nodes(const lane_strain* s, yw_vf volume, const uint8_t* nodes, int32_t lane,
                             float (*sums)[7][YW_LANES]) {
  for (int n = 0; n < 4; ++n) {
    float(*sum)[YW_LANES] = sums[nodes[n]];
    for (int i = 0; i < 6; ++i) {
      yw_vf_store(sum[i] + lane, yw_vf_load(sum[i] + lane) + volume * s->e[i]);
    }
    yw_vf_store(sum[6] + lane, yw_vf_load(sum[6] + lane) + volume);
  }
}

static void store_strain(float* out, int32_t lane, const lane_strain* s) {
  for (int i = 0; i < 6; ++i) yw_vf_store(out + i * YW_LANES + lane, s->e[i]);
}

static void strains(const fem_strain_args* args, int32_t batch) {
  static const uint8_t corners[4] = {0, 1, 2, 3};
  const fem_batches* b = args->batches;
  const fem_kind* kind = &args->tables->kinds[args->k];
  const size_t at = (size_t)batch, nn = (size_t)kind->num_nodes, nc = (size_t)kind->num_children;
  const bool single = args->k == FEM_SINGLES;
  lane_vec3 x[FEM_FAMILY_NODES];
  lane_gradients gradients[FEM_TYPES];
  _Alignas(64) float sums[FEM_FAMILY_NODES][7][YW_LANES] = {{{0}}};
  _Alignas(64) float here[FEM_FAMILY_CHILDREN][YW_LANES];
  for (size_t n = 0; n < nn; ++n) {
    gather(args->pos, sizeof *args->pos, b->nodes + (at * nn + n) * YW_LANES, &x[n], NULL);
  }
  load_gradients(args, batch, gradients);
  for (size_t l = 0; l < YW_LANES; ++l) {
    // |1 / turn| is six volumes of an A tet, or of the single tet.
    float turn = fabsf(b->turn[at * YW_LANES + l]);
    for (size_t c = 0; c < nc; ++c) {
      bool in = b->present[at * YW_LANES + l] >> c & 1;
      here[c][l] = in ? kind->child_volume[c] / turn : 0.0f;
    }
  }
  float* out = args->strains + at * (nc + 1) * 6 * YW_LANES;
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    yw_vf scale = yw_vf_load(b->scale + at * YW_LANES + (size_t)lane);
    for (size_t c = 0; c < nc; ++c) {
      float finer = single ? 1.0f : 2.0f * kind->child_sign[c];
      lane_strain s = green_strain(x, kind->child_node[c], &gradients[kind->child_type[c]],
                                   finer * scale, lane);
      store_strain(out + c * 6 * YW_LANES, lane, &s);
      add_to_nodes(&s, yw_vf_load(here[c] + lane), kind->child_node[c], lane, sums);
    }
    int type = single ? FEM_A : args->k % FEM_OWN;
    lane_strain s = green_strain(x, corners, &gradients[type], scale, lane);
    store_strain(out + nc * 6 * YW_LANES, lane, &s);
  }
  for (size_t n = 0; n < nn; ++n) {
    yw_vec4(*slots)[2] = args->slots + (size_t)b->first_slot[at] + n * YW_LANES;
    spread(sums[n][0], sums[n][1], sums[n][2], sums[n][3], slots, sizeof *slots);
    spread(sums[n][4], sums[n][5], sums[n][6], NULL, &slots[0][1], sizeof *slots);
  }
}

// Jumps -------------------------------------------------------------------------------------------

YW_LANE_FN yw_vf jump_at(const float* strain, const uint8_t* nodes, float (*at)[6][YW_LANES],
                         int32_t lane) {
  yw_vf largest = yw_vf_splat(0.0f);
  for (int i = 0; i < 6; ++i) {
    yw_vf s = yw_vf_load(strain + i * YW_LANES + lane);
    for (int n = 0; n < 4; ++n) {
      largest = yw_vf_max(largest, yw_vf_abs(s - yw_vf_load(at[nodes[n]][i] + lane)));
    }
  }
  return largest;
}

static void jumps(const fem_jump_args* args, int32_t batch) {
  static const uint8_t corners[4] = {0, 1, 2, 3};
  const fem_batches* b = args->batches;
  const fem_kind* kind = args->kind;
  const size_t at = (size_t)batch, nn = (size_t)kind->num_nodes, nc = (size_t)kind->num_children;
  _Alignas(64) float node[FEM_FAMILY_NODES][6][YW_LANES];
  for (size_t n = 0; n < nn; ++n) {
    const int32_t* nodes = b->nodes + (at * nn + n) * YW_LANES;
    lane_vec3 low, high;
    _Alignas(64) float w[YW_LANES];
    gather(args->node_strains, sizeof *args->node_strains, nodes, &low, w);
    gather((const char*)args->node_strains + sizeof(yw_vec4), sizeof *args->node_strains, nodes,
           &high, NULL);
    memcpy(node[n][0], low.x, sizeof low.x);
    memcpy(node[n][1], low.y, sizeof low.y);
    memcpy(node[n][2], low.z, sizeof low.z);
    memcpy(node[n][3], w, sizeof w);
    memcpy(node[n][4], high.x, sizeof high.x);
    memcpy(node[n][5], high.y, sizeof high.y);
  }
  const float* strain = args->strains + at * (nc + 1) * 6 * YW_LANES;
  const float* parent = strain + nc * 6 * YW_LANES;
  float* out = args->jumps + at * (nc + FEM_JUMP_ROWS) * YW_LANES;
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    yw_vf apart = yw_vf_splat(0.0f), stretch = yw_vf_splat(0.0f);
    for (size_t c = 0; c < nc; ++c) {
      const float* own = strain + c * 6 * YW_LANES;
      yw_vf_store(out + c * YW_LANES + lane, jump_at(own, kind->child_node[c], node, lane));
      yw_vf e[6];
      for (int i = 0; i < 6; ++i) {
        e[i] = yw_vf_load(own + i * YW_LANES + lane);
        yw_vf difference = e[i] - yw_vf_load(parent + i * YW_LANES + lane);
        apart = yw_vf_max(apart, yw_vf_abs(difference));
      }
      // Row sums bound the largest eigenvalue.
      yw_vf yz = 0.5f * yw_vf_abs(e[3]), xz = 0.5f * yw_vf_abs(e[4]), xy = 0.5f * yw_vf_abs(e[5]);
      stretch = yw_vf_max(stretch, e[0] + xy + xz);
      stretch = yw_vf_max(stretch, e[1] + xy + yz);
      stretch = yw_vf_max(stretch, e[2] + xz + yz);
    }
    yw_vf_store(out + nc * YW_LANES + lane, jump_at(parent, corners, node, lane));
    yw_vf_store(out + (nc + 1) * YW_LANES + lane, apart);
    yw_vf_store(out + (nc + 2) * YW_LANES + lane, stretch);
  }
}

extern const fem_kernels YW_KERNEL(yw_fem_kernels);
const fem_kernels YW_KERNEL(yw_fem_kernels) = {forces, strains, jumps};
