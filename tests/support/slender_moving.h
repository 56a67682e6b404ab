// SPDX-License-Identifier: MIT
// A rod or sheet in motion, without a world.
#ifndef YW_TESTS_SUPPORT_SLENDER_MOVING_H
#define YW_TESTS_SUPPORT_SLENDER_MOVING_H

#include "support/slender_testing.h"
#include "yawara/slender.h"

typedef struct slender_mover {
  slender_model* model;
  slender_body* body;
  yw_particles particles;
  yw_hold holds[64];
  yw_method_report report;
  yw_step_ctx ctx;
} slender_mover;

/// mem may be NULL.
static inline void mover_make_in(slender_mover* m, slender_model* model, float h,
                                 const yw_allocator* mem) {
  yw_error error = {0};
  void* state = NULL;
  *m = (slender_mover){.model = model};
  yw_status status = yw_slender_method.body_create(model, mem, &state, &m->particles, &error);
  if (status < 0) fail_msg("%s", error.message);
  m->body = state;
  m->ctx = (yw_step_ctx){.h = h, .report = &m->report, .simd = yw_simd_resolve(YW_SIMD_AUTO)};
  m->ctx.holds = m->holds;
}

static inline void mover_make(slender_mover* m, slender_model* model, float h) {
  mover_make_in(m, model, h, NULL);
}

static inline void mover_free(slender_mover* m) {
  yw_slender_method.body_destroy(m->body, &m->particles);
  yw_slender_method.model_destroy(m->model);
}

static inline void mover_hold(slender_mover* m, int32_t p, bool clamp) {
  yw_vec3 x = yw_xyz(m->particles.pos[p]);
  m->holds[m->ctx.num_holds++] = (yw_hold){p, x, x, clamp, {0, 0, 0, 1}};
  m->particles.inv_mass[p] = 0.0f;
}

static inline void mover_solver(slender_mover* m, yw_slender_solver solver) {
  yw_slender_params params = yw_slender_params_of(m->body);
  params.solver = solver;
  assert_int_equal(yw_slender_set_params(m->body, &params), 0);
}

static inline void mover_step(slender_mover* m, int steps) {
  for (int i = 0; i < steps; ++i) {
    yw_status status = yw_slender_method.advance(m->body, &m->particles, &m->ctx);
    if (status < 0) fail_msg("step %d: status %d", i, (int)status);
    m->ctx.time += (double)m->ctx.h;
    for (int k = 0; k < m->ctx.num_holds; ++k) m->holds[k].begin = m->holds[k].end;
  }
}

#endif
