// SPDX-License-Identifier: MIT
// Mass, momentum and forces from masters to slaves, and means of slaves back to masters.
#include "methods/plastic/pairs.h"
#include "methods/plastic/slave_steps.h"

// Maximum deformation per step when slaves move along.
#define MOST_MOTION 0.5f

// Factors of N for the masters of a block: momentum (or mass times displacement), and mass.
YW_LANE_FN void load_momenta(const yw_particles* particles, const yw_vec4* from, int32_t first,
                             int32_t count, yw_vec4 out[YW_LANES]) {
  for (int32_t k = 0; k < count; ++k) {
    const yw_vec4* v = from ? &particles->pos[first + k] : &particles->vel[first + k];
    yw_vec4 base = from ? from[first + k] : (yw_vec4){0};
    float mass = particles->mass[first + k];
    out[k] =
        (yw_vec4){mass * (v->x - base.x), mass * (v->y - base.y), mass * (v->z - base.z), mass};
  }
}

// m N [v + C (r - r̄)]
YW_LANE_FN void spread_affine(plastic_body* body, const yw_particles* particles, int32_t chunk,
                              bool motion) {
  block_range range = blocks_of(body, chunk);
  local_slave locals[PLASTIC_MAX_LOCALS];
  pair_rows rows;
  yw_vec4* parts = body->parts + body->local_start[chunk];
  load_locals(body, NULL, chunk, locals);
  clear_parts(parts, body, chunk);
  // As printed there is no affine velocity.
  float affine = body->back_share ? 0.0f : 1.0f;
  for (int32_t block = range.first; block < range.end; ++block) {
    yw_mat3x16 matrix;
    yw_vec4 momenta[YW_LANES] = {0};
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      const float* from = motion ? body->work[block].l[0] : body->state[block].c[0];
      yw_lanes_mat3 c = yw_lanes_mat3_load((const yw_mat3x16*)from, lane);
      yw_vf scale = affine * yw_vf_load(particles->mass + block * YW_LANES + lane);
      if (motion) {
        yw_vf turn = body->dt * yw_vf_sqrt(yw_lanes_mat3_norm2(&c));
        scale *= yw_vf_min(yw_vf_splat(1.0f), MOST_MOTION / yw_vf_max(turn, yw_vf_splat(1e-20f)));
      }
      c = yw_lanes_mat3_scale(&c, scale);
      yw_lanes_mat3_store(&matrix, lane, &c);
    }
    load_momenta(particles, NULL, block * YW_LANES, masters_of(body, block), momenta);
    make_back_rows(body, locals, block, &rows);
    scatter_block(body, &rows, block, &matrix, momenta, parts);
  }
}

static void spread(plastic_body* body, yw_particles* particles, int32_t chunk) {
  spread_affine(body, particles, chunk, false);
}

static void spread_motion(plastic_body* body, yw_particles* particles, int32_t chunk) {
  spread_affine(body, particles, chunk, true);
}

static void spread_push(plastic_body* body, yw_particles* particles, int32_t chunk) {
  block_range range = blocks_of(body, chunk);
  local_slave locals[PLASTIC_MAX_LOCALS];
  pair_rows rows;
  yw_vec4* parts = body->parts + body->local_start[chunk];
  load_locals(body, NULL, chunk, locals);
  clear_parts(parts, body, chunk);
  for (int32_t block = range.first; block < range.end; ++block) {
    const yw_mat3x16 none = {0};
    yw_vec4 ways[YW_LANES] = {0};
    load_momenta(particles, body->last_pos, block * YW_LANES, masters_of(body, block), ways);
    make_back_rows(body, locals, block, &rows);
    scatter_block(body, &rows, block, &none, ways, parts);
  }
}

static void spread_pull(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  block_range range = blocks_of(body, chunk);
  local_slave locals[PLASTIC_MAX_LOCALS];
  pair_rows rows;
  yw_vec4* parts = body->parts + body->local_start[chunk];
  load_locals(body, NULL, chunk, locals);
  clear_parts(parts, body, chunk);
  for (int32_t block = range.first; block < range.end; ++block) {
    const yw_mat3x16 none = {0};
    yw_vec4 pull[YW_LANES] = {0};
    memcpy(pull, body->pull + block * YW_LANES, (size_t)masters_of(body, block) * sizeof *pull);
    make_rows(body, locals, block, &rows, NULL, NULL);
    scatter_block(body, &rows, block, &none, pull, parts);
  }
}

static void gather_means(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  block_range range = blocks_of(body, chunk);
  local_slave locals[PLASTIC_MAX_LOCALS];
  pair_rows rows;
  load_locals(body, body->solved, chunk, locals);
  for (int32_t block = range.first; block < range.end; ++block) {
    yw_mat3x16 unused;
    _Alignas(64) float mean[4][YW_LANES];
    make_rows(body, locals, block, &rows, &unused, mean);
    for (int32_t k = 0; k < masters_of(body, block); ++k) {
      body->pull[block * YW_LANES + k] = (yw_vec4){mean[0][k], mean[1][k], mean[2][k], mean[3][k]};
    }
  }
}

static void to_slaves(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = body->slave_block[chunk], end = body->slave_block[chunk + 1];
  for (int32_t s = first; s < end; ++s) {
    ask_parts(body, body->parts, s + SLAVES_AHEAD);
    yw_float4 sum = sum_parts(body, body->parts, s);
    body->slave_vel[s] = plastic_velocity_of((yw_vec4){sum[0], sum[1], sum[2], sum[3]});
  }
}

static void forces(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = body->slave_block[chunk], end = body->slave_block[chunk + 1];
  for (int32_t s = first; s < end; ++s) {
    ask_parts(body, body->parts, s + SLAVES_AHEAD);
    yw_float4 sum = sum_parts(body, body->parts, s);
    body->force[s] = (yw_vec4){sum[0], sum[1], sum[2], 0.0f};
  }
}

const plastic_kernels YW_KERNEL(yw_plastic_kernels) = {
    .spread = spread,
    .spread_motion = spread_motion,
    .stress = YW_KERNEL(yw_plastic_stress),
    .spread_push = spread_push,
    .spread_pull = spread_pull,
    .gather_means = gather_means,
    .stiffen = YW_KERNEL(yw_plastic_stiffen),
    .block_parts = YW_KERNEL(yw_plastic_block_parts),
    .flow = YW_KERNEL(yw_plastic_flow),
    .to_slaves = to_slaves,
    .forces = forces,
    .multiply = YW_KERNEL(yw_plastic_multiply),
    .condition = YW_KERNEL(yw_plastic_condition),
};
