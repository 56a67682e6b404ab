// SPDX-License-Identifier: MIT
// Forces of masters and their tangents, 16 at a time (stress_lanes.h).
#include "methods/plastic/stress_lanes.h"

#include "methods/plastic/pairs.h"

void YW_KERNEL(yw_plastic_stress)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  block_range range = blocks_of(body, chunk);
  local_slave locals[PLASTIC_MAX_LOCALS];
  pair_rows rows;
  yw_vec4* parts = body->parts + body->local_start[chunk];
  load_locals(body, NULL, chunk, locals);
  clear_parts(parts, body, chunk);
  for (int32_t block = range.first; block < range.end; ++block) {
    yw_mat3x16 force;
    yw_vec4 pull[YW_LANES] = {0};
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 tau = stress_lanes(body, block, lane);
      yw_lanes_mat3_store(&force, lane, &tau);
    }
    size_t count = (size_t)masters_of(body, block);
    if (body->is_pulled) memcpy(pull, body->pull + block * YW_LANES, count * sizeof *pull);
    make_back_rows(body, locals, block, &rows);
    scatter_block(body, &rows, block, &force, body->is_pulled ? pull : NULL, parts);
  }
}
