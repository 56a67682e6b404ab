// SPDX-License-Identifier: MIT
// Implicit steps: one Newton step, solved by preconditioned conjugate gradients (conjugate.c).
//
// Backward formulas of first and second order solve the same problem. With
//   Euler  x^ = x_n,                     v^ = v_n,                     h' = h
//   BDF2   x^ = (4 x_n - x_{n-1}) / 3,   v^ = (4 v_n - v_{n-1}) / 3,   h' = 2 h / 3
// the new state is x = x^ + h' v, v = v^ + h' (g + f(x) / m), which minimises
//   1/2 |x - y|^2_{m / h'^2} + E(x),   y = x^ + h' (v^ + h' g)
// Newton expands about x^ + h' v^, where a body at rest is in equilibrium. Conjugate gradients may
// start from free fall, so that free flight costs nothing. Springs of pins join the first term;
// held particles start at their goal and stay there. Damping is a force -d m (v - u) against
// velocities that differ from the rigid motion u; it joins the first term as d m / h' |x - x^ - h'
// u|^2 / 2. With stiffness_scale, everything is divided by it: E stays that of the model.
#include <math.h>
#include <string.h>

#include "methods/frames/rigid.h"
#include "methods/kit/pins.h"
#include "methods/kit/rigid.h"

// Newton steps of a solve at most; and in steps after one for which they were not enough.
#define MAX_NEWTON 3
#define SHORT_NEWTON 1
// Line search: number of trials, largest uphill slope accepted (as a share of the first slope), and
// shortest step of a trial relative to the previous one.
#define MAX_SEARCHES 5
#define SEARCH_OVERSHOOT 0.5
#define SHORTEST_TRIAL 0.1
// The residual must fall by this factor, or be at the level of rounding.
#define RESIDUAL_FALL 0.5
// Rounding of forces, relative to stiffness times the largest coordinate.
#define FORCE_ROUNDING 2e-7
// Conjugate gradients reduce the residual to this share of it.
#define SOLVE_SHARE 0.05
// A velocity change above this share of the velocity plus this many steps of free fall is an
// impact, after which the second-order formula restarts.
#define KICK_SHARE 0.25f
#define KICK_FALLS 8.0f
// Weight of held particles on the lattice, relative to its stiffness.
#define HELD_WEIGHT 10.0f
#define PARTICLE_BLOCK 2048
// Tolerance of a first solve that only has to find the contacts; and of Newton steps that are not
// expected to be enough.
#define ROUGH_TOLERANCE 0.02f
#define SHORT_TOLERANCE 0.1f

// Set-up ------------------------------------------------------------------------------------------

typedef struct backward {
  yw_particles* particles;
  bool second_order;
  float h, h1;  // h'
  yw_vec3 gravity;
  float damping;
  float soft;                      // 1 / stiffness_scale
  yw_vec3 center, velocity, spin;  // u = velocity + spin x (x - center)
} backward;

static bool is_kick(yw_vec4 before, yw_vec4 after, float usual) {
  float change = yw_distance(yw_xyz(before), yw_xyz(after));
  float speed = fmaxf(yw_length(yw_xyz(before)), yw_length(yw_xyz(after)));
  return change > KICK_SHARE * speed + usual;
}

// True when something other than the solver has changed velocities since the last step.
static bool was_kicked(const frames_body* body, const yw_particles* particles, float usual) {
  for (int32_t p = 0; p < particles->count; ++p) {
    if (is_kick(body->left_vel[p], particles->vel[p], usual)) return true;
  }
  return false;
}

// Particles, each on its own.
typedef struct particle_job {
  frames_body* body;
  const backward* b;
  yw_particles* particles;
  float alpha, h;
  void (*run)(const struct particle_job* job, int32_t first, int32_t end);
} particle_job;

static void run_particles(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const particle_job* job = context;
  int32_t first = block * PARTICLE_BLOCK, left = job->body->model->num_particles - first;
  job->run(job, first, first + (left < PARTICLE_BLOCK ? left : PARTICLE_BLOCK));
}

static void for_particles(const yw_step_ctx* ctx, particle_job* job) {
  int32_t blocks = (job->body->model->num_particles + PARTICLE_BLOCK - 1) / PARTICLE_BLOCK;
  yw_tasks_run_kind(ctx->tasks, (yw_task_kind)job->run, blocks, run_particles, job);
}

static void begin_particles(const particle_job* job, int32_t first, int32_t end) {
  frames_body* body = job->body;
  const backward* b = job->b;
  const frames_model* model = body->model;
  float inv_h2 = 1.0f / (b->h1 * b->h1), slow = b->damping * b->h1;
  for (int32_t p = first; p < end; ++p) {
    yw_vec3 x = yw_xyz(b->particles->pos[p]), v = yw_xyz(b->particles->vel[p]), base = x, drift = v;
    if (b->second_order) {
      base = yw_mad(x, 1.0f / 3.0f, yw_sub(x, yw_xyz(body->last_pos[p])));
      drift = yw_mad(v, 1.0f / 3.0f, yw_sub(v, yw_xyz(body->last_vel[p])));
    }
    yw_vec3 ahead = yw_mad(base, b->h1, drift);
    yw_vec3 u = yw_add(b->velocity, yw_cross(b->spin, yw_sub(ahead, b->center)));
    yw_vec3 pull = yw_mad(yw_scale(b->gravity, b->h1), slow, yw_sub(u, drift));
    body->base[p] = yw_v4(base);
    body->drift[p] = yw_v4(drift);
    body->guess[p] = yw_v4(ahead);
    body->moved[p] = (yw_vec4){0};
    body->diagonal[p] = model->solid.mass[p] * inv_h2 * (1.0f + slow) * b->soft;
    body->anchor[p] = yw_v4(yw_scale(pull, b->h1 / (1.0f + slow)));
    body->inverse[p] = 1.0f;
  }
}

// Stiffness k and damping c / h' towards the far end of the spring.
static void add_springs(frames_body* body, const yw_step_ctx* ctx, const backward* b,
                        frames_span span) {
  float t = (span.begin + span.h) / ctx->h;
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* s = &ctx->springs[i];
    int32_t p = s->particle;
    float stiff = s->stiffness * b->soft, slow = s->damping / b->h1 * b->soft;
    float old = body->diagonal[p];
    yw_vec3 goal = yw_sub(yw_spring_at(s, t), yw_xyz(body->guess[p]));
    yw_vec3 speed = yw_spring_velocity(s, ctx->h);
    yw_vec3 carried = yw_scale(yw_sub(speed, yw_xyz(body->drift[p])), b->h1);
    yw_vec3 pull = yw_mad(yw_scale(goal, stiff), slow, carried);
    body->diagonal[p] = old + stiff + slow;
    pull = yw_mad(pull, old, yw_xyz(body->anchor[p]));
    body->anchor[p] = yw_v4(yw_scale(pull, 1.0f / body->diagonal[p]));
  }
}

// The lattice treats held particles as very heavy.
static void weigh_particles(const particle_job* job, int32_t first, int32_t end) {
  frames_body* body = job->body;
  const float* firmness = body->model->coarse.firmness;
  float* weight = &body->step[0].x;
  for (int32_t p = first; p < end; ++p) {
    if (job->b->particles->inv_mass[p] == 0.0f) body->inverse[p] = 0.0f;
    float full = body->diagonal[p] + body->model->jacobi[p], held = body->diagonal[p];
    if (firmness) held += firmness[p];
    weight[p] = body->inverse[p] == 0.0f ? HELD_WEIGHT * held : body->diagonal[p];
    body->inverse[p] *= 1.0f / full;
  }
}

static void set_inverse(frames_body* body, const yw_step_ctx* ctx, const backward* b,
                        frames_span span) {
  float t = (span.begin + span.h) / ctx->h;
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    const yw_hold* hold = &ctx->holds[i];
    body->guess[hold->particle] = yw_v4(yw_hold_at(hold, t));
    body->inverse[hold->particle] = 0.0f;
  }
  for_particles(ctx, &(particle_job){.body = body, .b = b, .run = weigh_particles});
  yw_frames_coarse_prepare(&body->coarse, &body->step[0].x, ctx->tasks);
}

// Newton ------------------------------------------------------------------------------------------

// Largest coordinate times stiffness, in the norm of find_residual.
static double rounding_scale(const frames_body* body) {
  float most = 0.0f;
  double sum = 0.0;
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    const yw_vec4 x = body->guess[p];
    most = fmaxf(most, fmaxf(fabsf(x.x), fmaxf(fabsf(x.y), fabsf(x.z))));
    double k = (double)body->model->jacobi[p];
    sum += k * k * (double)body->inverse[p];
  }
  return (double)most * sqrt(sum);
}

// Residual of the backward formula at the guess; the norm is that of the preconditioner's diagonal.
static double find_residual(frames_body* body, const yw_step_ctx* ctx,
                            const frames_kernels* kernels, bool tangents) {
  const frames_model* model = body->model;
  yw_frames_end_part(body, ctx, YW_FRAMES_VECTORS);
  frames_phase phase = {.body = body,
                        .model = model,
                        .x = body->guess,
                        .out = body->residual,
                        .inverse = body->inverse};
  void (*regions)(const frames_phase*, int32_t) = tangents ? kernels->linearise : kernels->stress;
  if (model->num_examples > 0) {
    yw_frames_fit_examples(body, body->guess, ctx, kernels);
    regions = tangents ? kernels->linearise_bent : kernels->stress_bent;
  }
  yw_frames_run(ctx, model->region_chunks, regions, &phase);
  for (int32_t c = 0; c < model->region_chunks && ctx->report; ++c) {
    ctx->report->recovered += body->sums[c].recovered;
  }
  yw_frames_run(ctx, model->particle_chunks, kernels->forces, &phase);
  double norm2 = yw_frames_sum(body) + yw_frames_grip_drag(body, body->residual);
  yw_frames_end_part(body, ctx, YW_FRAMES_LINEARISE);
  return sqrt(fmax(norm2, 0.0));
}

static void move_particles(const particle_job* job, int32_t first, int32_t end) {
  frames_body* body = job->body;
  float h1 = body->h1;
  for (int32_t p = first; p < end; ++p) {
    if (body->inverse[p] == 0.0f) continue;
    body->moved[p] = yw_mad4(body->moved[p], job->alpha, body->step[p]);
    yw_vec4 v = yw_mad4(body->drift[p], 1.0f / h1, body->moved[p]);
    body->guess[p] = yw_mad4(body->base[p], h1, v);
  }
}

// Moves by alpha times the step.
static void take_step(frames_body* body, const yw_step_ctx* ctx, float alpha) {
  for_particles(ctx, &(particle_job){.body = body, .alpha = alpha, .run = move_particles});
}

// Rate at which the energy falls along the step, at the last residual.
static double fall_along_step(const frames_body* body) {
  double sum = 0.0;
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    sum += frames_dot(body->residual[p], body->step[p]);
  }
  return sum;
}

// Goes back along a step that went uphill again, roughly to the energy minimum. Returns the
// residual there.
static double search_line(frames_body* body, const yw_step_ctx* ctx, const frames_kernels* kernels,
                          double residual) {
  double last = fall_along_step(body);
  if (last >= 0.0) return residual;
  take_step(body, ctx, -1.0f);
  find_residual(body, ctx, kernels, false);
  double first = fall_along_step(body);
  double at = 1.0, done = 0.0;
  for (int i = 0; i < MAX_SEARCHES && first > 0.0 && last < -SEARCH_OVERSHOOT * first; ++i) {
    at *= isfinite(last) ? fmax(first / (first - last), SHORTEST_TRIAL) : SHORTEST_TRIAL;
    take_step(body, ctx, (float)(at - done));
    done = at;
    residual = find_residual(body, ctx, kernels, false);
    last = fall_along_step(body);
  }
  if (done == 0.0) {
    take_step(body, ctx, 1.0f);
    residual = find_residual(body, ctx, kernels, false);
  }
  return residual;
}

// The Newton steps were not enough. Each went downhill, so the result is one of a shorter or a more
// damped step. Where the residual has fallen at all, halving the step would not make it fall
// faster: regions that turn over, as in front of a pin that outruns the waves in the body, do so in
// halves too. Such steps tend to follow each other, and then get fewer and fewer Newton steps.
static frames_outcome end_short(frames_body* body, bool solved, double residual, double first) {
  bool tried = body->short_for == 0;
  body->fell_short = true;
  return solved && (residual < first || !tried) ? FRAMES_SOLVED : FRAMES_STALLED;
}

// One Newton step, and more where it did not reduce the residual. A stalled solve is followed by
// another Newton step, since its result is downhill.
static frames_outcome solve_newton(frames_body* body, const yw_step_ctx* ctx, float tolerance) {
  bool is_short = body->short_for > 0;
  if (is_short && tolerance < SHORT_TOLERANCE) tolerance = SHORT_TOLERANCE;
  bool at_start = body->newton == 0 && ctx->num_holds == 0;
  float fallen = at_start ? body->h1 * body->h1 : 0.0f;
  yw_vec3 fall = yw_scale(ctx->gravity, fallen);
  const frames_kernels* kernels = YW_KERNEL_PICK(yw_frames_kernels, ctx->simd);
  double noise = FORCE_ROUNDING * rounding_scale(body);
  double residual = find_residual(body, ctx, kernels, true), first = residual,
         goal = fmax(RESIDUAL_FALL * residual, noise);
  int32_t most = body->newton + (is_short ? SHORT_NEWTON : MAX_NEWTON);
  while (residual > 0.0) {
    if (!isfinite(residual)) return FRAMES_LOST;
    bool solved = yw_frames_solve_step(body, ctx, kernels, fall, tolerance, SOLVE_SHARE * noise);
    fall = yw_v3(0, 0, 0);
    take_step(body, ctx, 1.0f);
    ++body->newton;
    residual = find_residual(body, ctx, kernels, false);
    if (solved && residual <= goal) return FRAMES_SOLVED;
    body->troubled = true;
    if (ctx->report) ++ctx->report->recovered;
    residual = search_line(body, ctx, kernels, residual);
    if (solved && residual <= goal) return FRAMES_SOLVED;
    if (!isfinite(residual)) return FRAMES_LOST;
    if (body->newton >= most) return end_short(body, solved, residual, first);
    residual = find_residual(body, ctx, kernels, true);
  }
  return FRAMES_SOLVED;
}

// The step ----------------------------------------------------------------------------------------

static void place_particles(const particle_job* job, int32_t first, int32_t end) {
  const frames_body* body = job->body;
  yw_particles* particles = job->particles;
  float inv_h1 = 1.0f / body->h1, inv_h = 1.0f / job->h;
  for (int32_t p = first; p < end; ++p) {
    if (body->touched[p]) continue;
    if (body->inverse[p] == 0.0f) {
      yw_vec3 way = yw_sub(yw_xyz(body->guess[p]), yw_xyz(body->last_pos[p]));
      particles->vel[p] = yw_v4(yw_scale(way, inv_h));
    } else {
      particles->vel[p] = yw_mad4(body->drift[p], inv_h1, body->moved[p]);
    }
    particles->pos[p] = body->guess[p];
  }
}

static void finish_particles(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                             float h) {
  particle_job job = {.body = body, .particles = particles, .h = h, .run = place_particles};
  for_particles(ctx, &job);
}

frames_outcome yw_frames_implicit_step(frames_body* body, yw_particles* particles,
                                       const yw_step_ctx* ctx, const frames_rigid* rigid,
                                       frames_span span, bool accept) {
  float usual = KICK_FALLS * span.h * yw_length(ctx->gravity);
  bool second = body->params.solver == YW_FRAMES_BDF2 && body->last_h == span.h &&
                !was_kicked(body, particles, usual);
  backward b = {.particles = particles,
                .second_order = second,
                .h = span.h,
                .h1 = second ? span.h * (2.0f / 3.0f) : span.h,
                .gravity = ctx->gravity,
                .damping = body->params.damping,
                .soft = 1.0f / body->params.stiffness_scale,
                .velocity = yw_v3_of(rigid->velocity),
                .spin = yw_v3_of(rigid->spin)};
  size_t bytes = (size_t)particles->count * sizeof(yw_vec4);
  if (ctx->num_holds == 0) b.velocity = yw_mad(b.velocity, span.h, ctx->gravity);
  b.center = yw_mad(yw_v3_of(rigid->center), span.h, b.velocity);
  yw_frames_end_part(body, ctx, YW_FRAMES_OTHER);
  for_particles(ctx, &(particle_job){.body = body, .b = &b, .run = begin_particles});
  add_springs(body, ctx, &b, span);
  set_inverse(body, ctx, &b, span);
  yw_frames_end_part(body, ctx, YW_FRAMES_SET_UP);
  body->h1 = b.h1;
  body->newton = body->iterations = 0;
  body->troubled = false;
  float tolerance = body->params.tolerance;
  if (body->in_contact && tolerance < ROUGH_TOLERANCE) tolerance = ROUGH_TOLERANCE;
  frames_outcome outcome = solve_newton(body, ctx, tolerance);
  if (outcome == FRAMES_LOST || (outcome == FRAMES_STALLED && !accept)) return outcome;
  memcpy(body->last_pos, particles->pos, bytes);
  memcpy(body->last_vel, particles->vel, bytes);
  memset(body->touched, 0, (size_t)particles->count * sizeof *body->touched);
  finish_particles(body, particles, ctx, span.h);
  // After trouble, the next step uses the first-order formula, which damps more.
  body->last_h = body->troubled ? 0.0f : span.h;
  return outcome;
}

// The second-order formula extrapolates velocity changes: after an impact it would add another
// third of the change.
void yw_frames_implicit_remember(frames_body* body, const yw_particles* particles,
                                 const yw_step_ctx* ctx, frames_span span) {
  memcpy(body->left_vel, particles->vel, (size_t)particles->count * sizeof *particles->vel);
  float usual = KICK_FALLS * span.h * yw_length(ctx->gravity);
  for (int32_t p = 0; p < particles->count && body->in_contact; ++p) {
    if (body->touched[p] && is_kick(body->last_vel[p], particles->vel[p], usual)) {
      body->last_h = 0.0f;
    }
  }
}

bool yw_frames_implicit_touches(frames_body* body, const yw_particles* particles) {
  bool any = false;
  for (int32_t p = 0; p < particles->count; ++p) {
    yw_vec4 now = particles->pos[p], free = body->guess[p];
    if (body->inverse[p] == 0.0f || (now.x == free.x && now.y == free.y && now.z == free.z)) {
      continue;
    }
    body->touched[p] = any = true;
    body->inverse[p] = 0.0f;
    body->guess[p] = now;
  }
  return any;
}

frames_outcome yw_frames_implicit_again(frames_body* body, yw_particles* particles,
                                        const yw_step_ctx* ctx, frames_span span) {
  frames_outcome outcome = solve_newton(body, ctx, body->params.tolerance);
  if (outcome != FRAMES_LOST) finish_particles(body, particles, ctx, span.h);
  return outcome;
}
