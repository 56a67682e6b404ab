// SPDX-License-Identifier: MIT
// What an iteration of the solve does, see solve.c: the tangent of masters, then the vectors of
// slaves; and the blocks of the preconditioner.
#include "plastic/pairs.h"

// The tangent -------------------------------------------------------------------------------------

// U Y U^T of W = U^T L U.
YW_LANE_FN yw_lanes_mat3 tangent_times(const plastic_work_block* work, const yw_lanes_mat3* u,
                                       const yw_lanes_mat3* l, int32_t lane) {
  yw_lanes_mat3 lu = yw_lanes_mat3_mul(l, u), w = yw_lanes_mat3_mul_tn(u, &lu);
  yw_lanes_sym3 d = yw_lanes_sym3_load((const yw_sym3x16*)work->diagonal, lane);
  yw_vf k[9];
  for (int i = 0; i < 9; ++i) k[i] = yw_vf_load(work->shear[i] + lane);
  yw_lanes_mat3 y = {d.xx * w.xx + d.xy * w.yy + d.xz * w.zz,
                     k[0] * w.xy + k[1] * w.yx,
                     k[3] * w.xz + k[4] * w.zx,
                     k[1] * w.xy + k[2] * w.yx,
                     d.xy * w.xx + d.yy * w.yy + d.yz * w.zz,
                     k[6] * w.yz + k[7] * w.zy,
                     k[4] * w.xz + k[5] * w.zx,
                     k[7] * w.yz + k[8] * w.zy,
                     d.xz * w.xx + d.yz * w.yy + d.zz * w.zz};
  yw_lanes_mat3 uy = yw_lanes_mat3_mul(u, &y);
  return mul_nt(&uy, u);
}

// Directions of the slaves of a chunk after the step that is due, as `multiply` has them.
YW_LANE_FN void next_directions(const plastic_body* body, int32_t chunk, quad* out) {
  int32_t first = body->local_start[chunk], end = body->local_start[chunk + 1];
  for (int32_t i = first; i < end; ++i) {
    int32_t s = body->local_slave[i];
    quad z = quad_load(&body->steep[s]) - body->alpha * quad_load(&body->image[s]);
    out[i - first] = z + body->beta * quad_load(&body->direction[s]);
  }
}

// Rows are read once: what 16 masters gathered from them is scattered while they are at hand.
void YW_KERNEL(yw_plastic_stiffen)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  quad locals[PLASTIC_MAX_LOCALS];
  yw_vec4* parts = body->parts + body->local_start[chunk];
  block_range range = blocks_of(body, chunk);
  next_directions(body, chunk, locals);
  clear_parts(parts, body, chunk);
  for (int32_t block = range.first; block < range.end; ++block) {
    yw_mat3x16 l;
    plastic_row rows[YW_LANES];
    gather_block(body, locals, block, &l, NULL);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 gradient = yw_lanes_mat3_load(&l, lane);
      yw_lanes_mat3 u = load_mat3(body->state[block].u[0], lane);
      yw_lanes_mat3 k = tangent_times(&body->work[block], &u, &gradient, lane);
      yw_lanes_mat3_store(&l, lane, &k);
    }
    int32_t count = masters_of(body, block);
    write_rows(rows, count, &l, NULL);
    for (int32_t k = 0; k < count; ++k) {
      scatter_master(body, parts, block * YW_LANES + k, &rows[k], false);
    }
  }
}

// Slaves ------------------------------------------------------------------------------------------

// The part of p that contact leaves free.
YW_LANE_FN quad free_part(const yw_vec4* normal, quad p) {
  if (normal->w == 0.0f) return p;
  if (normal->w > 1.0f) return (quad){0};
  quad n = {normal->x, normal->y, normal->z, 0.0f};
  float along = p[0] * n[0] + p[1] * n[1] + p[2] * n[2];
  return p - along * n;
}

YW_LANE_FN quad condition_times(const float b[6], quad r) {
  quad low = quad_load(b), high = quad_load(b + 2);
  quad x = __builtin_shufflevector(low, high, 0, 3, 6, 0);
  quad y = __builtin_shufflevector(low, high, 3, 1, 7, 0);
  quad z = __builtin_shufflevector(low, high, 6, 7, 2, 0);
  quad sum = (x * SPREAD(r, 0) + y * SPREAD(r, 1)) + z * SPREAD(r, 2);
  sum[3] = 0.0f;
  return sum;
}

typedef double wide_sum __attribute__((vector_size(32)));

#define TOTAL(s) (((s)[0] + (s)[1]) + (s)[2])

// What stands in brackets is the step that was due: [x += alpha p, r -= alpha q, z -= alpha u],
// p = z + beta p, q = A p, u = P q, and the sums of p q, r z, z q, q u.
void YW_KERNEL(yw_plastic_multiply)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  float alpha = body->alpha, beta = body->beta;
  wide_sum pq = {0}, rz = {0}, zq = {0}, qu = {0};
  for (int32_t s = first; s < end; ++s) {
    quad p = quad_load(&body->direction[s]);
    quad x = quad_load(&body->solved[s]) + alpha * p;
    quad r = quad_load(&body->residual[s]) - alpha * quad_load(&body->product[s]);
    quad z = quad_load(&body->steep[s]) - alpha * quad_load(&body->image[s]);
    p = z + beta * p;
    quad q = body->slave_vel[s].w * p + sum_parts(body, body->parts, s);
    q[3] = 0.0f;
    q = free_part(&body->normal[s], q);
    quad u = free_part(&body->normal[s], condition_times(body->inverse[s], q));
    quad_store(&body->solved[s], x);
    quad_store(&body->residual[s], r);
    quad_store(&body->steep[s], z);
    quad_store(&body->direction[s], p);
    quad_store(&body->product[s], q);
    quad_store(&body->image[s], u);
    pq += __builtin_convertvector(p * q, wide_sum);
    rz += __builtin_convertvector(r * z, wide_sum);
    zq += __builtin_convertvector(z * q, wide_sum);
    qu += __builtin_convertvector(q * u, wide_sum);
  }
  plastic_sums* sums = &body->sums[chunk];
  sums->a = TOTAL(pq);
  sums->momentum[0] = TOTAL(rz);
  sums->momentum[1] = TOTAL(zq);
  sums->momentum[2] = TOTAL(qu);
}

// shear |G|^2 + (stretch - shear) G G^T of the rows of stress, to both halves of the parts: xx, yy,
// zz and the isotropic part; xy, yz, zx.
void YW_KERNEL(yw_plastic_block_parts)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  const yw_vec4* rows = body->back_row ? body->back_row : body->row;
  yw_vec4 *a = body->parts + body->local_start[chunk], *b = a + body->num_locals;
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  if (end > body->num_masters) end = body->num_masters;
  clear_parts(a, body, chunk);
  clear_parts(b, body, chunk);
  for (int32_t m = first; m < end; ++m) {
    float shear = body->rows[m].x.w, rest = body->rows[m].y.w;
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      int32_t at = body->local_column[e];
      quad g = quad_load(&rows[e]), gg = g * g, kg = rest * g;
      quad own = rest * gg, cross = kg * __builtin_shufflevector(g, g, 1, 2, 0, 3);
      own[3] = shear * ((gg[0] + gg[1]) + gg[2]);
      quad_store(&a[at], quad_load(&a[at]) + own);
      quad_store(&b[at], quad_load(&b[at]) + cross);
    }
  }
}

// Inverse of m + sum of blocks: exact where nothing is deformed.
void YW_KERNEL(yw_plastic_condition)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  for (int32_t s = first; s < end; ++s) {
    quad own = sum_parts(body, body->parts, s);
    quad mixed = sum_parts(body, body->parts + body->num_locals, s);
    float base = body->slave_vel[s].w + own[3];
    // In units of the base, so that no product leaves the range of floats.
    float unit = base > 1e-30f ? 1.0f / base : 0.0f;
    float xx = 1.0f + unit * own[0], yy = 1.0f + unit * own[1], zz = 1.0f + unit * own[2];
    float xy = unit * mixed[0], yz = unit * mixed[1], xz = unit * mixed[2];
    float cxx = yy * zz - yz * yz, cyy = xx * zz - xz * xz, czz = xx * yy - xy * xy;
    float cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy, cyz = xy * xz - yz * xx;
    float det = xx * cxx + xy * cxy + xz * cxz, inv = det > 0.0f ? unit / det : 0.0f;
    float* out = body->inverse[s];
    out[0] = cxx * inv, out[1] = cyy * inv, out[2] = czz * inv;
    out[3] = cxy * inv, out[4] = cxz * inv, out[5] = cyz * inv;
  }
}
