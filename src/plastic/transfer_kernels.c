// SPDX-License-Identifier: MIT
// Mass, momentum and forces from masters to slaves.
#include "plastic/pairs.h"

// Slaves move along with at most this much deformation per step.
#define MOST_MOTION 0.5f

static void scatter(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  scatter_rows(body, chunk);
}

// Rows of m (N v + C D_N G): since N (r - r̄) = D_N G, this is m N [v + C (r - r̄)].
YW_LANE_FN void spread_affine(plastic_body* body, yw_particles* particles, int32_t chunk,
                              bool motion) {
  block_range range = blocks_of(body, chunk);
  float h = body->model->spacing, h2 = h * h;
  for (int32_t block = range.first; block < range.end; ++block) {
    const plastic_work_block* work = &body->work[block];
    yw_mat3x16 rows;
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 c = load_mat3(motion ? work->l[0] : body->state[block].c[0], lane);
      yw_lanes_sym3 d = yw_lanes_sym3_load((const yw_sym3x16*)work->moment, lane);
      yw_lanes_mat3 b = mul_sym(&c, &d);
      yw_vf scale = h2 * yw_vf_load(particles->mass + block * YW_LANES + lane);
      if (motion) {
        yw_vf turn = body->dt * yw_vf_sqrt(yw_lanes_mat3_norm2(&c));
        scale *= yw_vf_min(yw_vf_splat(1.0f), MOST_MOTION / yw_vf_max(turn, yw_vf_splat(1e-20f)));
      }
      b = yw_lanes_mat3_scale(&b, scale);
      yw_lanes_mat3_store(&rows, lane, &b);
    }
    write_rows(body->rows + block * YW_LANES, masters_of(body, block), &rows, NULL);
    for (int32_t k = 0; k < masters_of(body, block); ++k) {
      int32_t m = block * YW_LANES + k;
      yw_vec4 v = particles->vel[m];
      float mass = particles->mass[m];
      body->rows[m].n = (yw_vec4){mass * v.x, mass * v.y, mass * v.z, mass};
    }
  }
}

static void spread(plastic_body* body, yw_particles* particles, int32_t chunk) {
  spread_affine(body, particles, chunk, false);
  scatter_rows(body, chunk);
}

static void spread_motion(plastic_body* body, yw_particles* particles, int32_t chunk) {
  spread_affine(body, particles, chunk, true);
  scatter_rows(body, chunk);
}

static void to_slaves(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  for (int32_t s = first; s < end; ++s) {
    quad sum = sum_parts(body, body->parts, s);
    float mass = sum[3] > 0.0f ? sum[3] : 0.0f, inv = mass > 0.0f ? 1.0f / mass : 0.0f;
    body->slave_vel[s] = (yw_vec4){sum[0] * inv, sum[1] * inv, sum[2] * inv, mass};
  }
}

static void forces(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  for (int32_t s = first; s < end; ++s) {
    quad sum = sum_parts(body, body->parts, s);
    body->force[s] = (yw_vec4){sum[0], sum[1], sum[2], 0.0f};
  }
}

const plastic_kernels YW_KERNEL(yw_plastic_kernels) = {
    .spread = spread,
    .spread_motion = spread_motion,
    .stress = YW_KERNEL(yw_plastic_stress),
    .scatter = scatter,
    .stiffen = YW_KERNEL(yw_plastic_stiffen),
    .block_parts = YW_KERNEL(yw_plastic_block_parts),
    .flow = YW_KERNEL(yw_plastic_flow),
    .to_slaves = to_slaves,
    .forces = forces,
    .multiply = YW_KERNEL(yw_plastic_multiply),
    .condition = YW_KERNEL(yw_plastic_condition),
};
