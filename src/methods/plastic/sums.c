// SPDX-License-Identifier: MIT
// Sums over a whole body. A chunk's own sum has a fixed order; those of chunks are added exactly,
// so the result depends neither on their order nor on the ranks that have them.
#include <math.h>

#include "math/small/exact_sum.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"

static void sum_blocks(const plastic_body* body, int32_t first, int32_t end, int32_t count,
                       double* out) {
  yw_exact_sum sums[PLASTIC_MAX_SUMS] = {0};
  for (int32_t b = first; b < end; ++b) {
    for (int32_t k = 0; k < count; ++k) yw_exact_add(&sums[k], body->sums[b].value[k]);
  }
  if (body->ranks) {
    int32_t numbers = count * (int32_t)(sizeof *sums / sizeof(int64_t));
    yw_ranks_sum(body->ranks->comm, (int64_t*)sums, numbers);
  }
  for (int32_t k = 0; k < count; ++k) out[k] = yw_exact_value(&sums[k]);
}

void yw_plastic_sum_slaves(const plastic_body* body, int32_t count, double* out) {
  sum_blocks(body, body->first_own_block, body->num_slave_blocks, count, out);
}

void yw_plastic_sum_masters(const plastic_body* body, int32_t count, double* out) {
  sum_blocks(body, 0, yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK), count, out);
}

yw_aabb yw_plastic_join_boxes(const plastic_body* body, yw_aabb box) {
  double most[6] = {-(double)box.lower.x, -(double)box.lower.y, -(double)box.lower.z,
                    (double)box.upper.x,  (double)box.upper.y,  (double)box.upper.z};
  yw_ranks_most(body->ranks->comm, most, 6);
  return (yw_aabb){yw_v3(-(float)most[0], -(float)most[1], -(float)most[2]),
                   yw_v3((float)most[3], (float)most[4], (float)most[5])};
}

float yw_plastic_most(const plastic_body* body, float value) {
  if (!body->ranks) return value;
  double most = isfinite(value) ? (double)value : (double)INFINITY;
  yw_ranks_most(body->ranks->comm, &most, 1);
  return (float)most;
}
