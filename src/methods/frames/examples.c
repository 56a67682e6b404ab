// SPDX-License-Identifier: MIT
// Example poses of frames bodies: their stretches, and the weights that best fit a state.
//
// In the metric of the energy, with L_k = S^k - 1,
//   G_kl = sum V [mu L_k : L_l + lambda/2 tr L_k tr L_l]
//   b_k  = sum V [mu L_k : (R1^T A - 1) + lambda/2 tr L_k (tr S - 3)],   R1 = polar(A S~)
// and w minimises w G w / 2 - b w over w >= 0, sum w <= 1. R1 uses the previous weights: rotations
// and weights are updated in turn, once per evaluation, and each update lowers the same energy.
#include <math.h>

#include "math/small/mat3d.h"
#include "math/small/simplex.h"
#include "methods/frames/energy.h"
#include "methods/frames/step.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

_Static_assert(YW_MAX_EXAMPLES <= YW_SIMPLEX_MAX, "the fit must take all examples");

static yw_status check_poses(const yw_frames_def* def, yw_error* error) {
  yw_status status = yw_solid_check_examples(def->num_examples, def->examples, error);
  if (status < 0) return status;
  for (int32_t k = 0; k < def->num_examples; ++k) {
    for (int32_t v = 0; v < def->mesh->num_vertices; ++v) {
      yw_vec3 p = def->examples[k][v];
      if (!yw_is_finite3(p)) {
        return yw_fail(error, YW_ERR_GEOMETRY,
                       "vertex %d of examples[%d] is (%g, %g, %g), but must be finite", v, k,
                       (double)p.x, (double)p.y, (double)p.z);
      }
    }
  }
  return YW_OK;
}

// S^k - 1 of all regions.
static void describe(frames_model* model, const frames_regions* regions, const int32_t* region_of,
                     const yw_vec3* pose, double* x, int32_t k) {
  for (int32_t v = 0; v < regions->num_particles; ++v) {
    x[3 * v] = (double)pose[v].x;
    x[3 * v + 1] = (double)pose[v].y;
    x[3 * v + 2] = (double)pose[v].z;
  }
  for (int32_t r = 0; r < model->num_regions; ++r) {
    double a[9], rotation[9], s[6];
    yw_frames_map(regions, region_of[r], x, a);
    yw_m3_polar(a, rotation, s);
    yw_sym3x16* to = &model->examples[(r / YW_LANES) * model->num_examples + k];
    int32_t place = model->sweeps.place[region_of[r]];
    yw_sym3x16* too = &model->sweeps.examples[(place / YW_LANES) * model->num_examples + k];
    for (int i = 0; i < 6; ++i) {
      float entry = (float)(i < 3 ? s[i] - 1.0 : s[i]);
      to->m[i][r % YW_LANES] = too->m[i][place % YW_LANES] = entry;
    }
  }
}

static void add_gram(frames_model* model, int32_t r) {
  int32_t n = model->num_examples, lane = r % YW_LANES;
  const yw_sym3x16* l = &model->examples[(r / YW_LANES) * n];
  const frames_region_block* block = &model->blocks[r / YW_LANES];
  double mu = 0.5 * (double)block->mu2[lane], half = 0.5 * (double)block->lambda[lane];
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < n; ++j) {
      double product = 0.0, ti = 0.0, tj = 0.0;
      for (int c = 0; c < 6; ++c) {
        double p = (double)l[i].m[c][lane] * (double)l[j].m[c][lane];
        product += c < 3 ? p : 2.0 * p;
        ti += c < 3 ? (double)l[i].m[c][lane] : 0.0;
        tj += c < 3 ? (double)l[j].m[c][lane] : 0.0;
      }
      model->gram[i * n + j] += mu * product + half * ti * tj;
    }
  }
}

yw_status yw_frames_build_examples(frames_model* model, const yw_frames_def* def,
                                   const frames_regions* regions, const int32_t* region_of,
                                   yw_error* error) {
  yw_status status = check_poses(def, error);
  if (status >= 0) {
    status =
        yw_solid_take_strengths(def->num_examples, def->example_strengths, model->strengths, error);
  }
  if (status < 0 || def->num_examples == 0) return status;
  size_t n = (size_t)def->num_examples;
  model->num_examples = def->num_examples;
  model->examples = YW_NEW_ARRAY(&model->mem, yw_sym3x16, (size_t)model->num_blocks * n);
  frames_sweeps* sweeps = &model->sweeps;
  sweeps->num_examples = def->num_examples;
  sweeps->examples = YW_NEW_ARRAY(&sweeps->mem, yw_sym3x16, (size_t)sweeps->num_blocks * n);
  model->gram = YW_NEW_ARRAY(&model->mem, double, n* n);
  double* x = YW_NEW_ARRAY(&model->mem, double, 3 * (size_t)regions->num_particles);
  if (!model->examples || !sweeps->examples || !model->gram || !x) {
    yw_mem_free(&model->mem, x);
    return yw_fail_memory(error, "the examples of a frames model");
  }
  for (int32_t k = 0; k < model->num_examples; ++k) {
    describe(model, regions, region_of, def->examples[k], x, k);
  }
  yw_mem_free(&model->mem, x);
  for (int32_t r = 0; r < model->num_regions; ++r) add_gram(model, r);
  return YW_OK;
}

void yw_frames_fit_examples(frames_body* body, const yw_vec4* x, const yw_step_ctx* ctx,
                            const frames_kernels* kernels) {
  const frames_model* model = body->model;
  int32_t n = model->num_examples;
  frames_phase phase = {.body = body, .model = model, .x = x};
  yw_frames_run(ctx, model->region_chunks, kernels->weigh, &phase);
  double b[YW_MAX_EXAMPLES] = {0}, w[YW_MAX_EXAMPLES], rest = 1.0;
  for (int32_t c = 0; c < model->region_chunks; ++c) {
    for (int32_t k = 0; k < n; ++k) b[k] += (double)body->products[c * n + k];
  }
  for (int32_t k = 0; k < n; ++k) {
    if (!isfinite(b[k])) return;
  }
  yw_project_exact(n, model->gram, b, body->weights, w);
  yw_aims_blend(body->aims, n, w);
  for (int32_t k = 0; k < n; ++k) {
    body->weights[1 + k] = (float)w[k];
    rest -= w[k];
  }
  body->weights[0] = (float)fmax(rest, 0.0);
}
