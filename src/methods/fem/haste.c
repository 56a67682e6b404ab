// SPDX-License-Identifier: MIT
// Bodies that are deformed faster than sound runs through their tets, by what hits them: steps that
// are stable at rest would carry nodes through several tets.
#include <math.h>

#include "math/small/float4.h"
#include "methods/fem/body.h"
#include "methods/fem/offload.h"

// Most that velocities of nodes may deform a tet in one step, as a share of its size.
#define MOST_CHANGE 0.5f

typedef struct rate_run {
  fem_body* b;
  const fem_kernels* kernels;
  const yw_vec4* field;  // positions or velocities
  float* strains[FEM_KINDS];
} rate_run;

static void batch_strains(void* context, int32_t k, int32_t batch) {
  const rate_run* r = context;
  const fem_strain_args args = {.h = &r->b->model->h,
                                .tables = &r->b->model->tables,
                                .k = k,
                                .batches = &r->b->work.kinds[k],
                                .pos = r->field,
                                .strains = r->strains[k],
                                .slots = (yw_vec4(*)[2])r->b->scratch.slots};
  r->kernels->strains(&args, batch);
}

// Largest tensile strain of a child, by row sums.
static float largest_of(const float* strain, size_t children) {
  float largest = -0.5f;
  for (size_t c = 0; c < children; ++c, strain += (size_t)6 * YW_LANES) {
    float e[6];
    for (int i = 0; i < 6; ++i) e[i] = strain[i * YW_LANES];
    float yz = 0.5f * fabsf(e[3]), xz = 0.5f * fabsf(e[4]), xy = 0.5f * fabsf(e[5]);
    largest = fmaxf(largest, fmaxf(e[0] + xy + xz, fmaxf(e[1] + xy + yz, e[2] + xz + yz)));
  }
  return largest;
}

// Of (G^T G - 1) / 2 of all tets, G the gradient of the field.
static float largest_strain(fem_body* b, const yw_step_ctx* ctx, const yw_vec4* field) {
  rate_run run = {.b = b, .kernels = YW_KERNEL_PICK(yw_fem_kernels, ctx->simd), .field = field};
  float *strains = b->strains, largest = -0.5f;
  for (int k = 0; k < FEM_KINDS; ++k) {
    run.strains[k] = strains;
    strains += (size_t)b->work.kinds[k].capacity * 6 *
               ((size_t)b->model->tables.kinds[k].num_children + 1);
  }
  yw_fem_for_batches(&b->work, ctx->tasks, batch_strains, &run);
  for (int k = 0; k < FEM_KINDS; ++k) {
    size_t children = (size_t)b->model->tables.kinds[k].num_children;
    for (int32_t i = 0; i < b->work.kinds[k].count; ++i) {
      size_t batch = (size_t)i / YW_LANES, lane = (size_t)i % YW_LANES;
      const float* strain = run.strains[k] + batch * (children + 1) * 6 * YW_LANES + lane;
      largest = fmaxf(largest, largest_of(strain, children));
    }
  }
  return largest;
}

// Velocities of all nodes that move --------------------------------------------------------------

typedef struct box_run {
  const fem_body* b;
  const yw_vec4* vel;
  yw_vec4 (*boxes)[2];  // per block
} box_run;

static void box_of_nodes(void* context, int32_t block, int worker) {
  (void)worker;
  const box_run* r = context;
  const fem_front* front = &r->b->front;
  int32_t begin = block * FEM_NODE_BLOCK, end = begin + FEM_NODE_BLOCK;
  yw_float4 lower = {INFINITY, INFINITY, INFINITY, INFINITY}, upper = 0.0f - lower;
  for (int32_t i = begin; i < end && i < front->num_active; ++i) {
    yw_float4 v = yw_float4_load(&r->vel[front->active[i]]);
    lower = yw_vf_min(lower, v);
    upper = yw_vf_max(upper, v);
  }
  yw_float4_store(&r->boxes[block][0], lower);
  yw_float4_store(&r->boxes[block][1], upper);
}

// The slots of forces hold the boxes of blocks meanwhile: every active node has one.
static yw_aabb box_of_velocities(fem_body* b, const yw_particles* p, const yw_step_ctx* ctx) {
  _Static_assert(FEM_NODE_BLOCK >= 2, "blocks need two slots each");
  box_run run = {b, p->vel, (yw_vec4(*)[2])b->scratch.slots};
  int32_t blocks = (b->front.num_active + FEM_NODE_BLOCK - 1) / FEM_NODE_BLOCK;
  yw_tasks_run(ctx->tasks, blocks, box_of_nodes, &run);
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < blocks; ++i) {
    box = yw_aabb_join(box, (yw_aabb){yw_xyz(run.boxes[i][0]), yw_xyz(run.boxes[i][1])});
  }
  return box;
}

// No tet is deformed faster than this, 1/s.
static float bound_of_rate(const fem_body* b, yw_aabb velocities) {
  float steepest = b->model->steepest * (float)(1 << b->front.finest);
  return 3.0f * steepest * yw_length(yw_sub(velocities.upper, velocities.lower));
}

yw_status yw_fem_hasty_step(fem_body* b, yw_particles* p, const yw_step_ctx* ctx, float step,
                            float* hasty) {
  *hasty = INFINITY;
  yw_aabb box;
  yw_status status = YW_OK;
  if (b->away) {
    status = yw_fem_velocities_away(b, p, ctx, &box);
  } else {
    box = box_of_velocities(b, p, ctx);
  }
  if (status < 0 || !(bound_of_rate(b, box) * step > MOST_CHANGE)) return status;
  status = yw_fem_come_home(b, p);
  if (status < 0) return status;
  float rate = sqrtf(fmaxf(1.0f + 2.0f * largest_strain(b, ctx, p->vel), 0.0f));
  if (!(rate * step > MOST_CHANGE)) return YW_OK;
  b->stretch = largest_strain(b, ctx, p->pos);
  *hasty = MOST_CHANGE / rate;
  return YW_OK;
}
