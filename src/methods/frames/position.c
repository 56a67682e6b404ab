// SPDX-License-Identifier: MIT
// Position-based solvers: predict, sweep over the regions colour by colour, derive velocities from
// the displacements. Extended: physical units; classic: a stiffness (notes, sections 1 and 3).
#include <math.h>
#include <string.h>

#include "math/small/exponent.h"
#include "methods/frames/rigid.h"
#include "methods/kit/contact.h"
#include "methods/kit/pins.h"
#include "methods/kit/rigid.h"
#include "yawara/extend/timer.h"

typedef struct sweep_job {
  const frames_sweep* sweep;
  void (*run)(const frames_sweep*, int32_t);
} sweep_job;

static void run_chunk(void* context, int32_t chunk, int32_t worker) {
  const sweep_job* job = context;
  (void)worker;
  job->run(job->sweep, chunk);
}

static int32_t sweep_colors(frames_body* body, const yw_step_ctx* ctx, frames_sweep* sweep) {
  const frames_sweep_kernels* kernels = YW_KERNEL_PICK(yw_frames_sweep_kernels, ctx->simd);
  bool is_classic = body->params.solver == YW_FRAMES_CLASSIC;
  bool bent = body->model->num_examples > 0;
  sweep_job job = {sweep, is_classic ? kernels->classic
                          : bent     ? kernels->extended_bent
                                     : kernels->extended};
  int32_t recovered = 0;
  for (int32_t c = 0; c < sweep->sweeps->num_colors; ++c) {
    sweep->first = sweep->sweeps->color_start[c];
    sweep->last = sweep->sweeps->color_start[c + 1];
    int32_t chunks = (sweep->last - sweep->first + FRAMES_SWEEP_CHUNK - 1) / FRAMES_SWEEP_CHUNK;
    yw_tasks_run_kind(ctx->tasks, (yw_task_kind)job.run, chunks, run_chunk, &job);
    for (int32_t k = 0; k < chunks; ++k) recovered += sweep->recovered[k];
  }
  return recovered;
}

// x* = x + h v + h^2 g; held particles move to their goal.
static void predict(frames_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                    frames_span span) {
  yw_vec3 kick = yw_scale(ctx->gravity, span.h);
  for (int32_t p = 0; p < particles->count; ++p) {
    yw_vec3 v = yw_add(yw_xyz(particles->vel[p]), kick);
    yw_vec3 x = yw_mad(yw_xyz(particles->pos[p]), span.h, v);
    body->work[p] = (yw_vec4){x.x, x.y, x.z, particles->inv_mass[p]};
    body->last_pos[p] = particles->pos[p];
  }
  float t = (span.begin + span.h) / ctx->h;
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    const yw_hold* hold = &ctx->holds[i];
    yw_vec3 x = yw_hold_at(hold, t);
    body->work[hold->particle] = (yw_vec4){x.x, x.y, x.z, 0.0f};
  }
  // Springs are implicit in their own particle:
  //   (m + h c + h^2 k) x = m x* + h c (x + h u) + h^2 k e.
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* s = &ctx->springs[i];
    yw_vec4* w = &body->work[s->particle];
    float slow = span.h * s->damping * w->w, stiff = span.h * span.h * s->stiffness * w->w;
    yw_vec3 goal = yw_spring_at(s, t);
    yw_vec3 carried =
        yw_mad(yw_xyz(particles->pos[s->particle]), span.h / ctx->h, yw_sub(s->end, s->begin));
    yw_vec3 sum = yw_mad(yw_mad(yw_xyz(*w), slow, carried), stiff, goal);
    sum = yw_scale(sum, 1.0f / (1.0f + slow + stiff));
    *w = (yw_vec4){sum.x, sum.y, sum.z, w->w};
  }
}

static yw_aabb take_velocities(frames_body* body, yw_particles* particles, float h) {
  yw_aabb box = yw_aabb_empty();
  float rate = 1.0f / h;
  for (int32_t p = 0; p < particles->count; ++p) {
    yw_vec3 x = yw_xyz(body->work[p]), old = yw_xyz(body->last_pos[p]);
    particles->pos[p] = yw_v4(x);
    particles->vel[p] = yw_v4(yw_scale(yw_sub(x, old), rate));
    box = yw_aabb_grow(yw_aabb_grow(box, x), old);
  }
  return box;
}

// Whether obstacles moved any particle from where the sweeps left it.
static bool was_stopped(const frames_body* body, const yw_particles* particles) {
  for (int32_t p = 0; p < particles->count; ++p) {
    yw_vec3 moved = yw_sub(yw_xyz(particles->pos[p]), yw_xyz(body->work[p]));
    if (yw_length2(moved) != 0.0f) return true;
  }
  return false;
}

// Predicts and sweeps. Returns where particles are and were.
static yw_aabb sweep_positions(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               frames_span span, int32_t* total) {
  int32_t recovered = 0, sweeps = body->params.sweeps;
  predict(body, particles, ctx, span);
  if (body->model->num_examples > 0) {
    yw_frames_fit_examples(body, body->work, ctx, YW_KERNEL_PICK(yw_frames_kernels, ctx->simd));
  }
  frames_sweep sweep = {.sweeps = &body->model->sweeps,
                        .duals = body->duals,
                        .work = body->work,
                        .mass = body->model->solid.mass,
                        .h2 = span.h * span.h * body->params.stiffness_scale,
                        .stiffness = body->params.stiffness,
                        .beta = body->params.beta,
                        .pulls = body->sweep_pulls,
                        .recovered = body->recovered};
  bool oriented = body->params.solver == YW_FRAMES_ORIENTED;
  if (oriented) yw_frames_oriented_step(body, ctx, span.h);
  for (int32_t k = 0; k < sweeps && !oriented; ++k) {
    sweep.again = k > 0;
    sweep.keep = k + 1 < sweeps;
    recovered += sweep_colors(body, ctx, &sweep);
  }
  *total += recovered;
  return take_velocities(body, particles, span.h);
}

// Sweeps and rounding change momentum. h: time since `before`.
static void restore_momentum(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                             const frames_rigid* before, float h) {
  frames_rigid after = yw_frames_rigid_motion(body, particles, NULL, ctx);
  yw_frames_restore_momentum(body, particles, ctx, before, &after, h);
}

// The same if the body then moves less: sweeps added momentum. Where they took some, as from a body
// that is crushed flat, giving it back would add energy. True if it did.
static bool take_momentum_away(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               const frames_rigid* before, float h) {
  frames_rigid after = yw_frames_rigid_motion(body, particles, NULL, ctx);
  double spin[3], wanted = 0.0, now = 0.0;
  yw_spin_of(after.inertia, before->angular, spin);
  const float* g = &ctx->gravity.x;
  for (int i = 0; i < 3; ++i) {
    double v = before->velocity[i] + (double)(h * g[i]);
    wanted += after.mass * v * v + before->angular[i] * spin[i];
    now += after.mass * after.velocity[i] * after.velocity[i] + after.angular[i] * after.spin[i];
  }
  if (!(wanted <= now)) return false;
  yw_frames_restore_momentum(body, particles, ctx, before, &after, h);
  return true;
}

static int32_t take_steps(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  int32_t steps = body->params.substeps, recovered = 0;
  int32_t alone = 0;  // steps since `before`
  float h = ctx->h / (float)steps;
  bool classic = body->params.solver == YW_FRAMES_CLASSIC;
  frames_rigid before = yw_frames_rigid_motion(body, particles, NULL, ctx);
  for (int32_t k = 0; k < steps; ++k) {
    frames_span span = {h * (float)k, h};
    yw_aabb box = sweep_positions(body, particles, ctx, span, &recovered);
    ++alone;
    if (!yw_obstacles_near(ctx, box)) continue;
    // Where obstacles act, momentum is known before that. Classic bodies that lie on a floor would
    // shake and turn in short steps.
    float since = h * (float)alone;
    bool calmer = classic && take_momentum_away(body, particles, ctx, &before, since);
    if (ctx->report) ctx->report->obstacle_contacts = 0;
    yw_meet_obstacles(ctx, particles, body->last_pos, NULL, span.begin, span.h);
    bool stopped = was_stopped(body, particles);
    body->in_contact = body->in_contact || stopped;
    if (!classic) continue;
    if (!stopped && !calmer) restore_momentum(body, particles, ctx, &before, since);
    before = yw_frames_rigid_motion(body, particles, NULL, ctx);
    alone = 0;
  }
  // Oriented particles keep momentum by themselves, and part of the angular momentum as spin.
  bool free = !body->in_contact && body->params.solver != YW_FRAMES_ORIENTED;
  if (classic ? alone > 0 : free) {
    restore_momentum(body, particles, ctx, &before, alone == steps ? ctx->h : h * (float)alone);
  }
  return recovered;
}

// Non-rigid motion is damped by exp(-damping h).
static void damp(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  if (!(body->params.damping > 0.0f)) return;
  frames_rigid rigid = yw_frames_rigid_motion(body, particles, NULL, ctx);
  float lose = 1.0f - yw_expf(-body->params.damping * ctx->h);
  if (body->params.solver == YW_FRAMES_ORIENTED) yw_frames_oriented_damp(body, &rigid, lose);
  yw_vec3 velocity = yw_v3_of(rigid.velocity), spin = yw_v3_of(rigid.spin);
  yw_vec3 center = yw_v3_of(rigid.center);
  for (int32_t p = 0; p < particles->count; ++p) {
    if (particles->inv_mass[p] == 0.0f) continue;
    yw_vec3 v = yw_xyz(particles->vel[p]), y = yw_sub(yw_xyz(particles->pos[p]), center);
    yw_vec3 rest = yw_sub(yw_add(velocity, yw_cross(spin, y)), v);
    particles->vel[p] = yw_v4(yw_mad(v, lose, rest));
  }
}

yw_status yw_frames_position_advance(frames_body* body, yw_particles* particles,
                                     const yw_step_ctx* ctx) {
  body->in_contact = false;
  bool oriented = body->params.solver == YW_FRAMES_ORIENTED;
  if (oriented && !body->has_turns) {
    frames_rigid motion = yw_frames_rigid_motion(body, particles, NULL, ctx);
    yw_frames_oriented_wake(body, &motion);
  }
  damp(body, particles, ctx);
  int32_t recovered = take_steps(body, particles, ctx);
  body->last_h = 0.0f;
  body->newton = body->iterations = 0;
  if (ctx->report) ctx->report->recovered += recovered;
  return YW_OK;
}
