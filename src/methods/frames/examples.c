// SPDX-License-Identifier: MIT
// Example poses of frames bodies: their stretches, and the weights that best fit a state.
//
// In the metric of the energy, with L_k = S^k - 1,
//   G_kl = sum V [mu L_k : L_l + lambda/2 tr L_k tr L_l]
//   b_k  = sum V [mu L_k : (R1^T A - 1) + lambda/2 tr L_k (tr S - 3)],   R1 = polar(A S~)
// and w minimises w G w / 2 - b w over w >= 0, sum w <= 1. R1 uses the previous weights: rotations
// and weights are updated in turn, once per evaluation, and each update lowers the same energy.
#include <math.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "math/small/simplex.h"
#include "methods/frames/energy.h"
#include "methods/frames/step.h"
#include "methods/kit/groups.h"
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
  double* gram = model->gram + (size_t)model->group[r] * (size_t)(n * n);
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
      gram[i * n + j] += mu * product + half * ti * tj;
    }
  }
}

// Rings take the label of their vertex, which comes first.
static yw_status take_groups(frames_model* model, const yw_frames_def* def,
                             const frames_regions* regions, const int32_t* region_of,
                             yw_error* error) {
  model->grouping = def->grouping;
  model->group = YW_NEW_ARRAY(&model->mem, int32_t, model->num_regions);
  model->sweep_place = YW_NEW_ARRAY(&model->mem, int32_t, model->num_regions);
  if (!model->group || !model->sweep_place) return yw_fail_memory(error, "groups of examples");
  if (def->grouping == YW_GROUPS_LABELS && !def->vertex_labels) {
    return yw_fail(error, YW_ERR_INVALID, "groups by labels need a label per vertex");
  }
  for (int32_t r = 0; r < model->num_regions; ++r) {
    int32_t begin = regions->start[region_of[r]], end = regions->start[region_of[r] + 1];
    int32_t labels[8] = {0}, count = model->kind == YW_FRAMES_CELLS ? end - begin : 1;
    for (int32_t i = 0; i < count && def->grouping == YW_GROUPS_LABELS; ++i) {
      labels[i] = def->vertex_labels[regions->member[begin + i]];
    }
    model->group[r] = def->grouping == YW_GROUPS_PER_REGION ? r : yw_most_common(count, labels);
    model->sweep_place[r] = model->sweeps.place[region_of[r]];
  }
  model->num_groups = yw_number_groups(&model->mem, model->num_regions, model->group);
  return model->num_groups < 0 ? yw_fail_memory(error, "groups of examples") : YW_OK;
}

yw_status yw_frames_build_examples(frames_model* model, const yw_frames_def* def,
                                   const frames_regions* regions, const int32_t* region_of,
                                   yw_error* error) {
  yw_status status = check_poses(def, error);
  if (status >= 0) {
    status =
        yw_solid_take_strengths(def->num_examples, def->example_strengths, model->strengths, error);
  }
  model->num_groups = 1;
  if (status < 0 || def->num_examples == 0) return status;
  size_t n = (size_t)def->num_examples;
  model->num_examples = def->num_examples;
  model->examples = YW_NEW_ARRAY(&model->mem, yw_sym3x16, (size_t)model->num_blocks * n);
  frames_sweeps* sweeps = &model->sweeps;
  sweeps->num_examples = def->num_examples;
  sweeps->examples = YW_NEW_ARRAY(&sweeps->mem, yw_sym3x16, (size_t)sweeps->num_blocks * n);
  status = take_groups(model, def, regions, region_of, error);
  if (status < 0) return status;
  model->gram = YW_NEW_ARRAY(&model->mem, double, (size_t)model->num_groups* n* n);
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

// b of every group.
static void add_products(frames_body* body) {
  const frames_model* model = body->model;
  int32_t n = model->num_examples;
  double* b = body->group_products;
  memset(b, 0, (size_t)model->num_groups * (size_t)n * sizeof *b);
  for (int32_t c = 0; c < model->region_chunks && model->num_groups == 1; ++c) {
    for (int32_t k = 0; k < n; ++k) b[k] += (double)body->products[c * n + k];
  }
  for (int32_t r = 0; r < model->num_regions && model->num_groups > 1; ++r) {
    const float* own = body->products + (size_t)(r / YW_LANES) * (size_t)n * YW_LANES;
    double* sum = b + (size_t)model->group[r] * (size_t)n;
    for (int32_t k = 0; k < n; ++k) sum[k] += (double)own[k * YW_LANES + r % YW_LANES];
  }
}

static void weigh_group(frames_body* body, int32_t group) {
  const frames_model* model = body->model;
  int32_t n = model->num_examples;
  const double* b = body->group_products + (size_t)group * (size_t)n;
  float* weights = body->weights + (size_t)group * (size_t)(n + 1);
  double w[YW_MAX_EXAMPLES], rest = 1.0;
  for (int32_t k = 0; k < n; ++k) {
    if (!isfinite(b[k])) return;
  }
  yw_project_exact(n, model->gram + (size_t)group * (size_t)(n * n), b, weights, w);
  yw_aims_blend(body->aims + (size_t)group * (size_t)(n + 1), n, w);
  for (int32_t k = 0; k < n; ++k) {
    weights[1 + k] = (float)w[k];
    rest -= w[k];
  }
  weights[0] = (float)fmax(rest, 0.0);
}

// Every lane gets the weights of its group. Lanes beyond the last region keep 0.
void yw_frames_spread_weights(frames_body* body) {
  const frames_model* model = body->model;
  int32_t n = model->num_examples;
  for (int32_t r = 0; r < model->num_regions && n > 0; ++r) {
    const float* weights = body->weights + (size_t)model->group[r] * (size_t)(n + 1);
    int32_t place = model->sweep_place[r];
    float* own = body->pulls + (size_t)(r / YW_LANES) * (size_t)n * YW_LANES + r % YW_LANES;
    float* swept =
        body->sweep_pulls + (size_t)(place / YW_LANES) * (size_t)n * YW_LANES + place % YW_LANES;
    for (int32_t k = 0; k < n; ++k) {
      own[k * YW_LANES] = swept[k * YW_LANES] = model->strengths[k] * weights[1 + k];
    }
  }
}

void yw_frames_fit_examples(frames_body* body, const yw_vec4* x, const yw_step_ctx* ctx,
                            const frames_kernels* kernels) {
  const frames_model* model = body->model;
  frames_phase phase = {.body = body, .model = model, .x = x};
  yw_frames_spread_weights(body);
  yw_frames_run(ctx, model->region_chunks, kernels->weigh, &phase);
  add_products(body);
  for (int32_t g = 0; g < model->num_groups; ++g) weigh_group(body, g);
  yw_frames_spread_weights(body);
}
