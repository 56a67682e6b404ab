// SPDX-License-Identifier: MIT
// New deformation and velocities of masters, 16 at a time: (6), (18) to (21), flow_lanes.h.
#include "methods/plastic/flow_lanes.h"

#include "methods/plastic/pairs.h"

// The loops of flow_one, apart from each other: each of them is vectorised.
static void flow_von_mises(const plastic_material_block* material, float scale,
                           plastic_state_block* state) {
  float e[3][YW_LANES];
  von_mises v[YW_LANES];
  int32_t yielding = 0, beyond = 0;
  for (int k = 0; k < YW_LANES; ++k) yielding += material->yield[k] < INFINITY;
  if (yielding == 0) return;
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < YW_LANES; ++k) e[a][k] = log_stretch(state->sigma[a][k]);
  }
  for (int k = 0; k < YW_LANES; ++k) {
    v[k] = von_mises_of(e[0][k], e[1][k], e[2][k], material->xi[k], state->strain[k],
                        material->yield[k], material->mu[k], scale);
    beyond += v[k].norm > v[k].limit;
  }
  if (beyond == 0) return;
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < YW_LANES; ++k) {
      float kept = kept_stretch(&v[k], e[a][k]);
      state->sigma[a][k] = v[k].norm > v[k].limit ? kept : state->sigma[a][k];
    }
  }
  for (int k = 0; k < YW_LANES; ++k) state->strain[k] += von_mises_strain(&v[k]);
}

static void harden(const plastic_material_block* material, plastic_state_block* state) {
  int32_t hardening = 0;
  for (int k = 0; k < YW_LANES; ++k) hardening += hardens(material->xi[k], material->yield[k]);
  if (hardening == 0) return;
  for (int k = 0; k < YW_LANES; ++k) {
    float factor = plastic_hardening(material->xi[k], state->det_p[k]);
    bool here = hardens(material->xi[k], material->yield[k]);
    state->harden[k] = here ? factor : state->harden[k];
  }
}

static void flow_block(plastic_body* body, int32_t block) {
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) flow_lanes(body, block, lane);
  flow_von_mises(&body->materials[block], body->params.stiffness_scale, &body->state[block]);
  harden(&body->materials[block], &body->state[block]);
}

// As printed: (7) measures velocities relative to that of the master.
static void flow_as_printed(const plastic_body* body, const yw_particles* particles, int32_t block,
                            plastic_work_block* work) {
  for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
    const float* v = &particles->vel[block * YW_LANES + k].x;
    const float* drag = &body->drag[block * YW_LANES + k].x;
    for (int i = 0; i < 9; ++i) work->l[i][k] -= v[i / 3] * drag[i % 3];
  }
}

// (8): masters keep part of their own velocity.
static void blend_velocities(const plastic_body* body, const yw_particles* particles, int32_t block,
                             float moved[4][YW_LANES]) {
  float blend = body->model->scheme.velocity_blend, rest = 1.0f - blend;
  for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
    const float* v = &particles->vel[block * YW_LANES + k].x;
    for (int i = 0; i < 3; ++i) moved[i][k] = rest * v[i] + blend * moved[i][k];
  }
}

void YW_KERNEL(yw_plastic_flow)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  block_range range = blocks_of(body, chunk);
  float gradient2 = 0.0f;
  local_slave locals[PLASTIC_MAX_LOCALS];
  pair_rows rows;
  load_locals(body, body->solved, chunk, locals);
  for (int32_t block = range.first; block < range.end; ++block) {
    _Alignas(64) float moved[4][YW_LANES];
    plastic_work_block* work = &body->work[block];
    make_rows(body, locals, block, &rows, (yw_mat3x16*)work->l, moved);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 sum = yw_lanes_mat3_load((const yw_mat3x16*)work->l, lane);
      yw_lanes_sym3 inverse = yw_lanes_sym3_load((const yw_sym3x16*)work->inverse, lane);
      yw_lanes_mat3 l = yw_lanes_mat3_mul_sym(&sum, &inverse);
      yw_lanes_mat3_store((yw_mat3x16*)work->l, lane, &l);
    }
    if (body->drag) flow_as_printed(body, particles, block, work);
    if (body->model->scheme.velocity_blend < 1.0f) blend_velocities(body, particles, block, moved);
    flow_block(body, block);
    for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
      // A master that sees no slave falls freely.
      yw_vec4* v = &particles->vel[block * YW_LANES + k];
      bool is_free = !body->drag && moved[3][k] < 0.5f;
      *v = is_free ? yw_v4(yw_add(yw_xyz(*v), body->fall))
                   : (yw_vec4){moved[0][k], moved[1][k], moved[2][k], 0.0f};
      float sum = 0.0f;
      for (int i = 0; i < 9; ++i) sum += work->l[i][k] * work->l[i][k];
      // NaN must pass through.
      if (!(sum <= gradient2)) gradient2 = sum;
    }
  }
  body->sums[chunk].gradient2 = gradient2;
}
