// SPDX-License-Identifier: MIT
// (M + dt^2 H) v = M v + dt (f + M g), (15): conjugate gradients with a 3x3 block preconditioner.
// An iteration makes one pass over the masters and one over the slaves, with a barrier after each.
// The step along a direction is applied in the next iteration, where the new direction is needed.
// beta comes from (r - alpha q) . P (r - alpha q) = r.z - 2 alpha z.q + alpha^2 q.u: G. Meurant,
// Multitasking the conjugate gradient method, Parallel Computing 5, 1987. r.z itself is summed
// again each time, so rounding errors do not accumulate.
// Slaves in contact move only along the surface: normals are projected out inside the solve.
// DIFFERS: colliding only after the solve, as printed, crushes the layer in contact.
#include <math.h>
#include <string.h>

#include "methods/plastic/phases.h"
#include "methods/plastic/slave_steps.h"

typedef struct solver {
  plastic_body* body;
  const yw_step_ctx* ctx;
  yw_vec3 mean;  // velocity of the whole body
} solver;

typedef void (*chunk_work)(const solver* s, int32_t first, int32_t end, plastic_sums* sums);

typedef struct solver_job {
  const solver* solver;
  chunk_work run;
} solver_job;

static void run_job(void* context, int32_t chunk, int32_t worker) {
  (void)worker;
  const solver_job* job = context;
  plastic_body* body = job->solver->body;
  int32_t first = body->slave_block[chunk], end = body->slave_block[chunk + 1];
  job->run(job->solver, first, end, &body->sums[chunk]);
}

static void run(const solver* s, chunk_work work) {
  solver_job job = {s, work};
  yw_tasks_run_kind(s->ctx->tasks, (yw_task_kind)work, s->body->num_slave_blocks, run_job, &job);
}

// The same, and the sum of what it measured.
static double run_and_sum(const solver* s, chunk_work work) {
  double sum;
  run(s, work);
  yw_plastic_sum_slaves(s->body, 1, &sum);
  return sum;
}

// What these do with a slave: slave_steps.h.
static void begin(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  for (int32_t i = first; i < end; ++i) {
    plastic_begin_slave(s->body, s->ctx->gravity, s->mean, i);
  }
  (void)sums;
}

static void first_residual(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  double sum = 0.0;
  for (int32_t i = first; i < end; ++i) sum += plastic_first_residual(s->body, s->mean, i);
  sums->value[0] = sum;
}

static void measure(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  double sum = 0.0;
  for (int32_t i = first; i < end; ++i) sum += plastic_measure(s->body, s->mean, i);
  sums->value[0] = sum;
}

static void advance(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  double sum = 0.0;
  for (int32_t i = first; i < end; ++i) sum += plastic_advance_slave(s->body, s->body->alpha, i);
  sums->value[0] = sum;
}

static void add_momentum(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  const plastic_body* body = s->body;
  double p[4] = {0};
  for (int32_t i = first; i < end; ++i) {
    yw_vec4 v = body->slave_vel[i];
    double m = (double)v.w;
    p[0] += m * (double)v.x, p[1] += m * (double)v.y, p[2] += m * (double)v.z, p[3] += m;
  }
  memcpy(sums->value, p, sizeof p);
}

static yw_vec3 mean_velocity(solver* s, double* mass) {
  double p[4];
  run(s, add_momentum);
  yw_plastic_sum_slaves(s->body, 4, p);
  *mass = p[3];
  if (!(p[3] > 0.0)) return yw_v3(0, 0, 0);
  return yw_v3((float)(p[0] / p[3]), (float)(p[1] / p[3]), (float)(p[2] / p[3]));
}

// The remaining residual is momentum that the solve has not distributed. If nothing touches the
// body, all of the body moves by it.
static void add_residual(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  const plastic_body* body = s->body;
  double p[3] = {0};
  for (int32_t i = first; i < end; ++i) {
    yw_vec4 r = body->residual[i];
    p[0] += (double)r.x, p[1] += (double)r.y, p[2] += (double)r.z;
    if (body->normal[i].w != 0.0f) p[0] = INFINITY;
  }
  memcpy(sums->value, p, sizeof p);
}

static void shift(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  (void)sums;
  for (int32_t i = first; i < end; ++i) {
    s->body->solved[i] = yw_v4(yw_add(yw_xyz(s->body->solved[i]), s->mean));
  }
}

static void restore_momentum(solver* s, double mass) {
  double p[3];
  run(s, add_residual);
  yw_plastic_sum_slaves(s->body, 3, p);
  if (!isfinite(p[0] + p[1] + p[2]) || !(mass > 0.0)) return;
  s->mean = yw_v3((float)(p[0] / mass), (float)(p[1] / mass), (float)(p[2] / mass));
  run(s, shift);
}

typedef struct products {
  double pq, rz, zq, qu;
} products;

static products multiply(const solver* s, yw_particles* particles) {
  plastic_body* body = s->body;
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, s->ctx->simd);
  yw_plastic_scatter(body, particles, s->ctx, kernels->stiffen, 1);
  yw_plastic_run_slaves(body, particles, s->ctx, kernels->multiply);
  double sum[4];
  yw_plastic_sum_slaves(body, 4, sum);
  return (products){sum[0], sum[1], sum[2], sum[3]};
}

// The product with the first direction, taken as it is: there is no residual yet.
static void multiply_first(const solver* s, yw_particles* particles) {
  plastic_body* body = s->body;
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, s->ctx->simd);
  body->alpha = 0.0f;
  body->beta = 1.0f;
  yw_plastic_scatter(body, particles, s->ctx, kernels->stiffen, 1);
  yw_plastic_run_slaves(body, particles, s->ctx, kernels->multiply);
}

// Iterates until r.z is at most the goal, or `most` times. Returns r.z; below 0: breakdown.
static double iterate(const solver* s, yw_particles* particles, double rz, double goal,
                      int32_t most) {
  plastic_body* body = s->body;
  body->alpha = body->beta = 0.0f;
  body->iterations = 0;
  while (rz > goal && body->iterations < most) {
    products sum = multiply(s, particles);
    if (!(sum.pq > 0.0) || !isfinite(sum.pq) || !isfinite(sum.rz)) return -1.0;
    // With only rounding left, r.z may be below 0: continue with z = P r.
    double before = sum.rz > 0.0 ? sum.rz : 0.0, alpha = before / sum.pq;
    rz = before - 2.0 * alpha * sum.zq + alpha * alpha * sum.qu;
    body->alpha = (float)alpha;
    ++body->iterations;
    if (!(rz > goal) || body->iterations == most) {
      rz = run_and_sum(s, advance);
      body->alpha = 0.0f;
    }
    body->beta = before > 0.0 ? (float)(rz / before) : 0.0f;
  }
  return rz;
}

bool yw_plastic_solve(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, ctx->simd);
  solver s = {.body = body, .ctx = ctx};
  double mass;
  s.mean = mean_velocity(&s, &mass);
  yw_plastic_scatter(body, particles, ctx, kernels->block_parts, 2);
  yw_plastic_run_slaves(body, particles, ctx, kernels->condition);
  run(&s, begin);
  double size = run_and_sum(&s, measure);
  multiply_first(&s, particles);
  double rz = run_and_sum(&s, first_residual);
  double goal = (double)body->params.tolerance * (double)body->params.tolerance * size;
  int32_t most = body->params.max_iterations;
  if (body->fixed_iterations > 0) {
    goal = 0.0;
    most = body->fixed_iterations;
  }
  rz = iterate(&s, particles, rz, goal, most);
  if (rz < 0.0) return false;
  restore_momentum(&s, mass);
  return rz <= goal || body->fixed_iterations > 0;
}

// Answers -----------------------------------------------------------------------------------------

// The mass and the preconditioner without the drag of the last solve. `inverse` has xx, yy, zz, xy,
// xz, yz, and what is inverted xy, yz, zx.
static void release(plastic_body* body, int32_t i) {
  float mass = body->slave_vel[i].w, *b = body->inverse[i], block[6];
  float drag = body->course[i].place.w - mass, base = (b[0] + b[1] + b[2]) / 3.0f;
  body->course[i].place.w = mass;
  if (!(drag > 0.0f)) return;
  plastic_invert_block(base, (yw_vec4){b[0] - base, b[1] - base, b[2] - base, 0},
                       (yw_vec4){b[3], b[5], b[4], 0}, block);
  for (int k = 0; k < 3; ++k) block[k] = fmaxf(block[k] - drag - mass, 0.0f);
  plastic_invert_block(mass, (yw_vec4){block[0], block[1], block[2], 0},
                       (yw_vec4){block[3], block[5], block[4], 0}, b);
}

// Starts at rest, where the residual is the impulse. Sums r . P r.
static void begin_answer(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  plastic_body* body = s->body;
  double sum = 0.0;
  for (int32_t i = first; i < end; ++i) {
    if (body->normal[i].w == PLASTIC_TOUCHES && !plastic_is_far(body)) release(body, i);
    if (body->normal[i].w != PLASTIC_HELD) body->normal[i].w = 0.0f;
    body->touches[i] = body->normal[i].w != 0.0f;
    yw_vec4 r = plastic_free(&body->normal[i], body->force[i]), z = plastic_condition(body, i, r);
    body->solved[i] = body->product[i] = (yw_vec4){0};
    body->residual[i] = r;
    // Positions and masses remain those of the last solve.
    plastic_course* course = &body->course[i];
    course->steep = z;
    course->image = course->direction = (yw_vec4){0};
    sum += plastic_dot(r, z);
  }
  sums->value[0] = sum;
}

static void mark_solved(const solver* s, int32_t first, int32_t end, plastic_sums* sums) {
  for (int32_t i = first; i < end; ++i) s->body->solved[i].w = 1.0f;
  (void)sums;
}

bool yw_plastic_solve_answer(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                             float tolerance) {
  solver s = {.body = body, .ctx = ctx};
  double rz = run_and_sum(&s, begin_answer), goal = (double)tolerance * (double)tolerance * rz;
  // Statistics remain those of the step.
  int32_t iterations = body->iterations;
  rz = iterate(&s, particles, rz, goal, body->params.max_iterations);
  body->iterations = iterations;
  run(&s, mark_solved);
  return rz >= 0.0 && rz <= goal;
}
