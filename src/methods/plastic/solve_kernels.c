// SPDX-License-Identifier: MIT
// One iteration of the solve, see solve.c: the tangent of masters, then the vectors of slaves; and
// the blocks of the preconditioner.
#include <stddef.h>

#include "methods/plastic/pairs.h"
#include "methods/plastic/slave_steps.h"
#include "methods/plastic/stress_lanes.h"

// The tangent -------------------------------------------------------------------------------------

// Directions of the slaves of a chunk after the pending step, as `multiply` computes them.
YW_LANE_FN void next_directions(const plastic_body* body, int32_t chunk, local_slave* out) {
  yw_float4 origin = yw_float4_load(&body->origin[chunk]);
  int32_t first = body->local_start[chunk], count = body->local_start[chunk + 1] - first;
  for (int32_t i = 0; i < count; ++i) {
    int32_t s = body->local_slave[first + i];
    const plastic_course* course = &body->course[s];
    yw_float4 z = yw_float4_load(&course->steep) - body->alpha * yw_float4_load(&course->image);
    out[i].v = z + body->beta * yw_float4_load(&course->direction);
    out[i].place = place_from(origin, &course->place);
  }
}

// Prefetch for the next block and the next chunk, a little with every master: all of it is
// streamed, but from more places than the hardware prefetcher follows.
typedef struct slaves_ahead {
  const int32_t *next, *end;
} slaves_ahead;

// The slaves of the next chunk that one block of this chunk prefetches.
YW_LANE_FN slaves_ahead look_ahead(const plastic_body* body, int32_t block, int32_t chunk) {
  int32_t blocks = PLASTIC_CHUNK / YW_LANES, part = block - chunk * blocks;
  if ((chunk + 1) * PLASTIC_CHUNK >= body->num_masters) return (slaves_ahead){NULL, NULL};
  int32_t first = body->local_start[chunk + 1], count = body->local_start[chunk + 2] - first;
  const int32_t* slaves = body->local_slave + first;
  return (slaves_ahead){slaves + count * part / blocks, slaves + count * (part + 1) / blocks};
}

// Prefetches them, and as many of their parts as fit one cache line.
YW_LANE_FN void ask_slaves(const plastic_body* body, slaves_ahead* ahead) {
  if (ahead->next < ahead->end) {
    size_t part = (size_t)(ahead->next - body->local_slave);
    __builtin_prefetch(&body->parts[part], 1, 2);
  }
  for (int i = 0; i < 3 && ahead->next < ahead->end; ++i) {
    __builtin_prefetch(&body->course[*ahead->next++], 0, 2);
  }
}

// Prefetches part k of 16 of a block's tangents, the start of its work block.
YW_LANE_FN void ask_tangents(const plastic_body* body, int32_t block, int32_t k) {
  if (block * YW_LANES >= body->num_masters) return;
  const char* work = (const char*)&body->work[block];
  __builtin_prefetch(work + 64 * k, 0, 2);
  __builtin_prefetch(work + 64 * (k + 16), 0, 2);
  if (k == 0) __builtin_prefetch(work + 64 * 32, 0, 2);
}
_Static_assert(offsetof(plastic_work_block, inverse) == 33 * 64, "tangents are 33 lines");

// Rows are built once: what 16 masters gather with them is scattered while they are in cache.
void YW_KERNEL(yw_plastic_stiffen)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  local_slave locals[PLASTIC_MAX_LOCALS];
  pair_rows rows;
  yw_vec4* parts = body->parts + body->local_start[chunk];
  block_range range = blocks_of(body, chunk);
  next_directions(body, chunk, locals);
  clear_parts(parts, body, chunk);
  for (int32_t block = range.first; block < range.end; ++block) {
    yw_mat3x16 l;
    gathered sums[YW_LANES] = {0};
    plastic_row columns[YW_LANES];
    slaves_ahead ahead = look_ahead(body, block, chunk);
    for (int32_t k = 0; k < masters_of(body, block); ++k) {
      pair_range pairs = pairs_of(body, block * YW_LANES + k, &rows);
      ask_pairs(body, block + 1, k);
      sums[k] = make_row(&pairs, locals, center_of(&body->work[block], k), ROWS_AND_GRADIENT);
    }
    sums_to_lanes(sums, &l, NULL);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 gradient = yw_lanes_mat3_load(&l, lane);
      yw_lanes_mat3 u = yw_lanes_mat3_load((const yw_mat3x16*)body->work[block].u, lane);
      yw_lanes_mat3 k = tangent_times(&body->work[block], &u, &gradient, lane);
      yw_lanes_mat3_store(&l, lane, &k);
    }
    if (body->back_share) make_back_rows(body, locals, block, &rows);
    lanes_to_columns(&l, columns);
    for (int32_t k = 0; k < masters_of(body, block); ++k) {
      pair_range pairs = pairs_of(body, block * YW_LANES + k, &rows);
      ask_tangents(body, block + 1, k);
      ask_slaves(body, &ahead);
      scatter_row(&pairs, &columns[k], parts, false);
    }
  }
}

// Slaves ------------------------------------------------------------------------------------------

// The part of p that contact leaves free.
YW_LANE_FN yw_float4 free_part(const yw_vec4* normal, yw_float4 p) {
  if (normal->w == 0.0f) return p;
  if (normal->w > 1.0f) return (yw_float4){0};
  yw_float4 n = {normal->x, normal->y, normal->z, 0.0f};
  float along = p[0] * n[0] + p[1] * n[1] + p[2] * n[2];
  return p - along * n;
}

YW_LANE_FN yw_float4 condition_times(const float b[6], yw_float4 r) {
  yw_float4 low = yw_float4_load(b), high = yw_float4_load(b + 2);
  yw_float4 x = __builtin_shufflevector(low, high, 0, 3, 6, 0);
  yw_float4 y = __builtin_shufflevector(low, high, 3, 1, 7, 0);
  yw_float4 z = __builtin_shufflevector(low, high, 6, 7, 2, 0);
  yw_float4 sum =
      (x * YW_FLOAT4_SPREAD(r, 0) + y * YW_FLOAT4_SPREAD(r, 1)) + z * YW_FLOAT4_SPREAD(r, 2);
  sum[3] = 0.0f;
  return sum;
}

typedef double wide_sum __attribute__((vector_size(32)));

#define TOTAL(s) (((s)[0] + (s)[1]) + (s)[2])

// Prefetches what slave s will need.
YW_LANE_FN void ask_slave(const plastic_body* body, int32_t s) {
  if (s >= body->num_slaves) return;
  __builtin_prefetch(&body->course[s], 1, 2);
  __builtin_prefetch(body->inverse[s], 0, 2);
  if (s % 4 == 0) {
    __builtin_prefetch(&body->solved[s], 1, 2);
    __builtin_prefetch(&body->residual[s], 1, 2);
    __builtin_prefetch(&body->product[s], 1, 2);
  }
  ask_parts(body, body->parts, s);
}

// The pending step is in brackets: [x += alpha p, r -= alpha q, z -= alpha u], p = z + beta p,
// q = A p, u = P q, and the sums p.q, r.z, z.q, q.u.
void YW_KERNEL(yw_plastic_multiply)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = body->slave_block[chunk], end = body->slave_block[chunk + 1];
  float alpha = body->alpha, beta = body->beta;
  wide_sum pq = {0}, rz = {0}, zq = {0}, qu = {0};
  for (int32_t s = first; s < end; ++s) {
    ask_slave(body, s + SLAVES_AHEAD);
    plastic_course* course = &body->course[s];
    yw_float4 p = yw_float4_load(&course->direction);
    yw_float4 x = yw_float4_load(&body->solved[s]) + alpha * p;
    yw_float4 r = yw_float4_load(&body->residual[s]) - alpha * yw_float4_load(&body->product[s]);
    yw_float4 z = yw_float4_load(&course->steep) - alpha * yw_float4_load(&course->image);
    p = z + beta * p;
    yw_float4 q = course->place.w * p + sum_parts(body, body->parts, s);
    q[3] = 0.0f;
    if (body->touches[s]) q = free_part(&body->normal[s], q);
    yw_float4 u = condition_times(body->inverse[s], q);
    if (body->touches[s]) u = free_part(&body->normal[s], u);
    yw_float4_store(&body->solved[s], x);
    yw_float4_store(&body->residual[s], r);
    yw_float4_store(&body->product[s], q);
    yw_float4_store(&course->steep, z);
    yw_float4_store(&course->direction, p);
    yw_float4_store(&course->image, u);
    pq += __builtin_convertvector(p * q, wide_sum);
    rz += __builtin_convertvector(r * z, wide_sum);
    zq += __builtin_convertvector(z * q, wide_sum);
    qu += __builtin_convertvector(q * u, wide_sum);
  }
  plastic_sums* sums = &body->sums[chunk];
  sums->value[0] = TOTAL(pq);
  sums->value[1] = TOTAL(rz);
  sums->value[2] = TOTAL(zq);
  sums->value[3] = TOTAL(qu);
}

// Adds shear |G|^2 + (stretch - shear) G G^T for the pairs of a master to both halves of the parts:
// xx, yy, zz and the isotropic part; xy, yz, zx.
YW_LANE_FN void scatter_blocks(const plastic_work_block* work, const pair_range* pairs,
                               int32_t lane, yw_vec4* a, yw_vec4* b) {
  float shear = work->stiffness[0][lane], rest = work->stiffness[1][lane], d[6];
  for (int k = 0; k < 6; ++k) d[k] = work->inverse[k][lane];
  yw_float4 x = {d[0], d[3], d[4], 0.0f}, y = {d[3], d[1], d[5], 0.0f},
            z = {d[4], d[5], d[2], 0.0f};
  for (int32_t e = 0; e < pairs->count; ++e) {
    int32_t at = pairs->column[e];
    yw_float4 row = yw_float4_load(pairs->row + e);
    yw_float4 g = (x * YW_FLOAT4_SPREAD(row, 0) + y * YW_FLOAT4_SPREAD(row, 1)) +
                  z * YW_FLOAT4_SPREAD(row, 2);
    yw_float4 gg = g * g, kg = rest * g;
    yw_float4 own = rest * gg, cross = kg * __builtin_shufflevector(g, g, 1, 2, 0, 3);
    own[3] = shear * ((gg[0] + gg[1]) + gg[2]);
    yw_float4_store(&a[at], yw_float4_load(&a[at]) + own);
    yw_float4_store(&b[at], yw_float4_load(&b[at]) + cross);
  }
}

void YW_KERNEL(yw_plastic_block_parts)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  local_slave locals[PLASTIC_MAX_LOCALS];
  pair_rows rows;
  yw_vec4 *a = body->parts + body->local_start[chunk], *b = a + body->num_slots;
  block_range range = blocks_of(body, chunk);
  load_locals(body, NULL, chunk, locals);
  clear_parts(a, body, chunk);
  clear_parts(b, body, chunk);
  for (int32_t block = range.first; block < range.end; ++block) {
    make_back_rows(body, locals, block, &rows);
    for (int32_t k = 0; k < masters_of(body, block); ++k) {
      pair_range pairs = pairs_of(body, block * YW_LANES + k, &rows);
      scatter_blocks(&body->work[block], &pairs, k, a, b);
    }
  }
}

void YW_KERNEL(yw_plastic_condition)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = body->slave_block[chunk], end = body->slave_block[chunk + 1];
  for (int32_t s = first; s < end; ++s) {
    ask_parts(body, body->parts, s + SLAVES_AHEAD);
    ask_parts(body, body->parts + body->num_slots, s + SLAVES_AHEAD);
    yw_float4 own = sum_parts(body, body->parts, s);
    yw_float4 mixed = sum_parts(body, body->parts + body->num_slots, s);
    yw_vec4 a, b;
    yw_float4_store(&a, own);
    yw_float4_store(&b, mixed);
    plastic_invert_block(body->slave_vel[s].w + plastic_drag(body, s), a, b, body->inverse[s]);
  }
}
