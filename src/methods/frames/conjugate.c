// SPDX-License-Identifier: MIT
// Conjugate gradients of a frames body: (D + K) step = residual. The preconditioner is the sum of a
// diagonal and smooth motions on a background lattice (coarse.h).
#include <math.h>
#include <string.h>

#include "methods/frames/step.h"

// Iterations of conjugate gradients after which a solve has stalled.
#define MAX_ITERATIONS 1000
// Nodes of the coarse lattice per task.
#define NODE_CHUNK 64

double yw_frames_sum(const frames_body* body) {
  double sum = 0.0;
  for (int32_t c = 0; c < body->model->particle_chunks; ++c) sum += body->sums[c].a;
  return sum;
}

typedef struct combine {
  frames_phase phase;
  float alpha, beta;
} combine;

static int32_t chunk_end(const frames_phase* phase, int32_t chunk) {
  int32_t end = (chunk + 1) * FRAMES_CHUNK;
  return end < phase->model->num_particles ? end : phase->model->num_particles;
}

// z = P^-1 r; sums r . z.
static void condition(const frames_phase* phase, int32_t chunk) {
  frames_body* body = phase->body;
  double sum = 0.0;
  for (int32_t p = chunk * FRAMES_CHUNK; p < chunk_end(phase, chunk); ++p) {
    float s = body->inverse[p];
    yw_vec4 r = body->residual[p];
    yw_vec3 z = yw_scale(yw_xyz(r), s);
    if (body->use_coarse && s != 0.0f) z = yw_add(z, yw_frames_coarse_at(&body->coarse, p));
    body->conditioned[p] = yw_v4(z);
    sum += frames_dot(r, body->conditioned[p]);
  }
  body->sums[chunk].a = sum;
}

static void restrict_residual(const frames_phase* phase, int32_t chunk) {
  const frames_body* body = phase->body;
  int32_t end = (chunk + 1) * NODE_CHUNK, nodes = body->coarse.coarse->num_nodes;
  yw_frames_coarse_restrict(&body->coarse, body->residual, chunk * NODE_CHUNK,
                            end < nodes ? end : nodes);
}

// Applies both parts of the preconditioner. Returns r . z.
static double condition_residual(frames_body* body, const yw_step_ctx* ctx,
                                 const frames_phase* phase) {
  if (body->use_coarse) {
    int32_t chunks = (body->coarse.coarse->num_nodes + NODE_CHUNK - 1) / NODE_CHUNK;
    yw_frames_end_part(body, ctx, YW_FRAMES_VECTORS);
    yw_frames_run(ctx, chunks, restrict_residual, phase);
    yw_frames_coarse_solve(&body->coarse);
    yw_frames_end_part(body, ctx, YW_FRAMES_COARSE);
  }
  yw_frames_run(ctx, body->model->particle_chunks, condition, phase);
  double dragged = yw_frames_grip_condition(body, body->residual, body->conditioned);
  return yw_frames_sum(body) + dragged;
}

// step += alpha d, r -= alpha q.
static void advance_step(const frames_phase* phase, int32_t chunk) {
  frames_body* body = phase->body;
  float alpha = ((const combine*)phase)->alpha;
  for (int32_t p = chunk * FRAMES_CHUNK; p < chunk_end(phase, chunk); ++p) {
    body->step[p] = yw_mad4(body->step[p], alpha, body->direction[p]);
    body->residual[p] = yw_mad4(body->residual[p], -alpha, body->product[p]);
  }
}

// d = z + beta d.
static void turn_direction(const frames_phase* phase, int32_t chunk) {
  frames_body* body = phase->body;
  float beta = ((const combine*)phase)->beta;
  for (int32_t p = chunk * FRAMES_CHUNK; p < chunk_end(phase, chunk); ++p) {
    body->direction[p] = yw_mad4(body->conditioned[p], beta, body->direction[p]);
  }
}

// Starts from free fall of all particles if that has the smaller residual. Returns r . z.
static double start_falling(frames_body* body, const yw_step_ctx* ctx,
                            const frames_kernels* kernels, combine* c, double rz, yw_vec3 fall) {
  const frames_model* model = body->model;
  frames_phase product = c->phase;
  product.x = body->direction;
  product.out = body->product;
  void (*stiffen)(const frames_phase*, int32_t) =
      model->num_examples > 0 ? kernels->stiffen_bent : kernels->stiffen;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    body->direction[p] = body->inverse[p] != 0.0f ? yw_v4(fall) : (yw_vec4){0};
  }
  yw_frames_end_part(body, ctx, YW_FRAMES_VECTORS);
  yw_frames_run(ctx, model->region_chunks, stiffen, &product);
  yw_frames_run(ctx, model->particle_chunks, kernels->multiply, &product);
  yw_frames_end_part(body, ctx, YW_FRAMES_PRODUCT);
  c->alpha = 1.0f;
  yw_frames_run(ctx, model->particle_chunks, advance_step, &c->phase);
  double fallen = condition_residual(body, ctx, &c->phase);
  if (fallen < rz) return fallen;
  c->alpha = -1.0f;
  yw_frames_run(ctx, model->particle_chunks, advance_step, &c->phase);
  return condition_residual(body, ctx, &c->phase);
}

bool yw_frames_solve_step(frames_body* body, const yw_step_ctx* ctx, const frames_kernels* kernels,
                          yw_vec3 fall, float tolerance, double floor) {
  const frames_model* model = body->model;
  int32_t chunks = model->particle_chunks;
  combine c = {.phase = {.body = body, .model = model, .inverse = body->inverse}};
  frames_phase product = c.phase;
  product.x = body->direction;
  product.out = body->product;
  void (*stiffen)(const frames_phase*, int32_t) =
      model->num_examples > 0 ? kernels->stiffen_bent : kernels->stiffen;
  memset(body->step, 0, (size_t)model->num_particles * sizeof *body->step);
  body->use_coarse = body->coarse.ready;
  double rz = condition_residual(body, ctx, &c.phase),
         reduction = (double)tolerance * (double)tolerance;
  if (yw_length2(fall) > 0.0f) rz = start_falling(body, ctx, kernels, &c, rz, fall);
  double goal = fmax(reduction * rz, floor * floor);
  memcpy(body->direction, body->conditioned, (size_t)model->num_particles * sizeof *body->step);
  for (int32_t i = 0; i < MAX_ITERATIONS && rz > goal; ++i) {
    yw_frames_end_part(body, ctx, YW_FRAMES_VECTORS);
    yw_frames_run(ctx, model->region_chunks, stiffen, &product);
    yw_frames_run(ctx, chunks, kernels->multiply, &product);
    double dragged = yw_frames_grip_multiply(body, body->direction, body->product);
    yw_frames_end_part(body, ctx, YW_FRAMES_PRODUCT);
    double curvature = yw_frames_sum(body) + dragged;
    if (!(curvature > 0.0) || !isfinite(curvature)) return false;
    c.alpha = (float)(rz / curvature);
    yw_frames_run(ctx, chunks, advance_step, &c.phase);
    double next = condition_residual(body, ctx, &c.phase);
    if (next < 0.0 && body->use_coarse) {
      // Rounding has made the lattice part indefinite: restart without it.
      body->use_coarse = false;
      next = condition_residual(body, ctx, &c.phase);
      rz = INFINITY;
    }
    c.beta = (float)(next / rz);
    rz = next;
    ++body->iterations;
    if (rz > goal) yw_frames_run(ctx, chunks, turn_direction, &c.phase);
  }
  yw_frames_end_part(body, ctx, YW_FRAMES_VECTORS);
  return rz >= 0.0 && rz <= goal;
}
