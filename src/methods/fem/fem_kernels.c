// SPDX-License-Identifier: MIT
// Forces and strains of 16 families at a time (formulas of the forces: family_lanes.h).
//
// Positions are gathered four floats at a time and transposed into lanes; then every edge of a
// family is computed once for all children that share it.
#include "math/small/transpose_lanes.h"
#include "methods/fem/family_lanes.h"

// Gathering and scattering ------------------------------------------------------------------------

// Gathers rows of 4 floats, `stride` bytes apart, by node number.
YW_LANE_FN void gather(const void* from, size_t stride, const int32_t* nodes, lane_vec3* out,
                       float* w) {
  const char* base = from;
  for (int g = 0; g < YW_LANES; g += YW_VF_LANES) {
    yw_vf v[4];
    for (int k = 0; k < 4; ++k) {
      const void* rows[YW_VF_LANES / 4];
      for (int j = 0; j < YW_VF_LANES / 4; ++j) {
        rows[j] = base + stride * (size_t)nodes[g + k + 4 * j];
      }
      v[k] = yw_lanes_of_rows(rows);
    }
    yw_lanes_transpose(v);
    yw_vf_store(out->x + g, v[0]);
    yw_vf_store(out->y + g, v[1]);
    yw_vf_store(out->z + g, v[2]);
    if (w) yw_vf_store(w + g, v[3]);
  }
}

// Scatters lanes to rows of 4 floats, `stride` bytes apart.
YW_LANE_FN void spread(const float* x, const float* y, const float* z, const float* w, void* to,
                       size_t stride) {
  for (int g = 0; g < YW_LANES; g += YW_VF_LANES) {
    yw_vf v[4] = {yw_vf_load(x + g), yw_vf_load(y + g), yw_vf_load(z + g), yw_vf_splat(0.0f)};
    if (w) v[3] = yw_vf_load(w + g);
    yw_lanes_transpose(v);
    char* base = (char*)to + stride * (size_t)g;
    for (size_t k = 0; k < 4; ++k, base += stride) {
      yw_float4_store(base, YW_ROW_OF(v[k], 0));
#if YW_VF_LANES > 4
      yw_float4_store(base + 4 * stride, YW_ROW_OF(v[k], 1));
#endif
#if YW_VF_LANES > 8
      yw_float4_store(base + 8 * stride, YW_ROW_OF(v[k], 2));
      yw_float4_store(base + 12 * stride, YW_ROW_OF(v[k], 3));
#endif
    }
  }
}

// Forces ------------------------------------------------------------------------------------------

YW_LANE_FN bool batch_forces(const fem_force_args* args, int32_t batch, const fem_kind* kind,
                             bool damped) {
  const fem_batches* b = args->batches;
  const size_t at = (size_t)batch, nn = (size_t)kind->num_nodes, nc = (size_t)kind->num_children;
  lane_vec3 x[FEM_FAMILY_NODES], v[FEM_FAMILY_NODES], f[FEM_FAMILY_NODES];
  for (size_t n = 0; n < nn; ++n) {
    const int32_t* nodes = b->nodes + (at * nn + n) * YW_LANES;
    gather(args->pos, sizeof *args->pos, nodes, &x[n], NULL);
    if (damped) gather(args->vel, sizeof *args->vel, nodes, &v[n], NULL);
  }
  uint32_t low[FEM_FAMILY_CHILDREN] = {0}, any = 0;
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    edge_lanes edges;
    find_tensions(args, at, lane, kind, x, damped ? v : NULL, &edges);
    yw_vf turn = yw_vf_load(b->turn + at * YW_LANES + (size_t)lane);
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

// Gradients of the shape of each of 16 single tets.
static void load_own_gradients(const fem_strain_args* args, const int32_t* owner,
                               lane_gradients* out) {
  for (int l = 0; l < YW_LANES; ++l) {
    int32_t tet = owner[l] < 0 ? 0 : owner[l];
    const float* row = args->tables->gradients[args->h->root[tet]][args->h->type[tet]];
    for (int k = 0; k < 9; ++k) out->g[k][l] = row[k];
  }
}

// Gradients of the shapes of 16 roots, four numbers at a time. Lanes without owner are not scaled.
static void load_gradients(const fem_strain_args* args, int32_t batch, lane_gradients* out) {
  enum { ROWS = 9 * FEM_TYPES };
  const int32_t* owner = args->batches->owner + (size_t)batch * YW_LANES;
  int32_t roots[YW_LANES];
  if (args->k == FEM_SINGLES) {
    load_own_gradients(args, owner, &out[FEM_A]);
    return;
  }
  for (int l = 0; l < YW_LANES; ++l) roots[l] = owner[l] < 0 ? 0 : args->h->root[owner[l]];
  const float* from = args->tables->gradients[0][0];
  for (int row = 0; row < ROWS; row += 4) {
    int at = row < ROWS - 4 ? row : ROWS - 4;
    lane_vec3 v;
    _Alignas(64) float w[YW_LANES];
    gather(from + at, ROWS * sizeof *from, roots, &v, w);
    const float* const rows[4] = {v.x, v.y, v.z, w};
    for (int k = 0; k < 4; ++k) {
      memcpy(out[(at + k) / 9].g[(at + k) % 9], rows[k], YW_LANES * sizeof(float));
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
