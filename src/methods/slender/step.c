// SPDX-License-Identifier: MIT
// Implicit steps of rods and sheets: the backward formulas of implicit.c, with orientations.
//   Euler  x^ = x_n,                     v^ = v_n,                     h' = h
//   BDF2   x^ = (4 x_n - x_{n-1}) / 3,   v^ = (4 v_n - v_{n-1}) / 3,   h' = 2 h / 3
// Orientations likewise: q^ is a third of the last rotation further; angular momenta L^ are treated
// as velocities. A particle rotates freely from q^ to q* with L^; from there inertia pulls with
// 2 v^T J v / h'^2, v = vec(q q*^-1), and L = L^ + h' torque.
#include <math.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "methods/slender/contact.h"
#include "methods/slender/examples.h"

// A step whose result is not finite is retried in two halves, at most this many times in a row.
#define MAX_DEPTH 4
// So is one whose residual does not fall to this share, at most this many times.
#define STALLED_RESIDUAL 0.1
#define MAX_STALLS 2
// A velocity change above this share of the velocity plus this many steps of free fall is an
// impact, after which the second-order formula restarts.
#define KICK_SHARE 0.25
#define KICK_FALLS 8.0
// A body that would turn by more than this in a step (rad) takes shorter ones, down to a share of
// it: large rotations say little about each other, and energy would grow. With twice this, 7 of
// 1,560 random rods at 100 rad/s gained 11 to 38 % (test_torture).
#define MOST_TURN 0.5
#define MOST_CUTS 32
// Begin -------------------------------------------------------------------------------------------

static bool is_kick(yw_vec4 before, yw_vec4 after, double usual) {
  double change = (double)yw_distance(yw_xyz(before), yw_xyz(after));
  double speed = (double)fmaxf(yw_length(yw_xyz(before)), yw_length(yw_xyz(after)));
  return change > KICK_SHARE * speed + usual;
}

static bool was_kicked(const slender_body* body, const yw_particles* particles, double usual) {
  for (int32_t p = 0; p < particles->count; ++p) {
    if (is_kick(body->left_v[p], particles->vel[p], usual)) return true;
  }
  return false;
}

// x^, v^, q^, L^.
static void begin_bases(slender_body* body, const yw_particles* particles,
                        const slender_backward* b) {
  double third = b->second_order ? 1.0 / 3.0 : 0.0;
  for (int32_t p = 0; p < particles->count; ++p) {
    double way[3] = {0};
    body->base_turn[p] = body->turn[p];
    if (b->second_order) {
      yw_turn_log(yw_turn_mul(body->turn[p], yw_turn_conjugate(body->old_turn[p])), way);
      for (int k = 0; k < 3; ++k) way[k] *= third;
      body->base_turn[p] = yw_turn_normalize(yw_turn_mul(yw_turn_exp(way), body->turn[p]));
    }
    for (int k = 0; k < 3; ++k) {
      int32_t i = 3 * p + k;
      body->x[i] = yw_slender_place(body, particles, p, k);
      body->v[i] = (double)(&particles->vel[p].x)[k];
      body->base_x[i] = body->x[i] + third * (body->x[i] - body->old_x[i]);
      body->base_v[i] = body->v[i] + third * (body->v[i] - body->old_v[i]);
      body->base_momentum[i] =
          body->momentum[i] + third * (body->momentum[i] - body->old_momentum[i]);
    }
  }
}

// Inertia, gravity and damping. The solve starts from free flight, or, for held bodies, from motion
// without forces.
static void begin_anchors(slender_body* body, const yw_step_ctx* ctx, const slender_backward* b) {
  const slender_model* model = body->model;
  const double g[3] = {(double)ctx->gravity.x, (double)ctx->gravity.y, (double)ctx->gravity.z};
  double h1 = b->h1, slow = b->slow;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    slender_anchor* anchor = &body->solver.anchors[p];
    double u[3], arm[3], momentum[3];
    // Everything is divided by the scale of the stiffness: elements stay those of the model.
    double scale = (double)body->params.stiffness_scale;
    *anchor = (slender_anchor){.weight = (double)model->mass[p] * (1.0 + slow) / (h1 * h1) / scale,
                               .turning = (1.0 + slow) / (h1 * h1) / scale};
    for (int k = 0; k < 3; ++k) {
      arm[k] = body->base_x[3 * p + k] + h1 * body->base_v[3 * p + k] - b->rigid.center[k];
    }
    for (int k = 0; k < 3; ++k) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      u[k] = b->rigid.velocity[k] + b->rigid.spin[i] * arm[j] - b->rigid.spin[j] * arm[i];
    }
    // Angular momentum of a particle that rotates with the whole body.
    yw_slender_momentum_of(model, p, body->base_turn[p], b->rigid.spin, momentum);
    for (int k = 0; k < 3; ++k) {
      double v = body->base_v[3 * p + k];
      anchor->place[k] =
          body->base_x[3 * p + k] + h1 * (v + h1 * g[k] + slow * u[k]) / (1.0 + slow);
      momentum[k] = (body->base_momentum[3 * p + k] + slow * momentum[k]) / (1.0 + slow);
      body->base_momentum[3 * p + k] = momentum[k];
      body->solver.pose.x[3 * p + k] =
          ctx->num_holds == 0 ? anchor->place[k] : body->base_x[3 * p + k] + h1 * v;
    }
    anchor->turn = yw_slender_ahead(model, p, body->base_turn[p], momentum, h1);
    body->solver.pose.q[p] = anchor->turn;
  }
}

static void add_springs(slender_body* body, const yw_step_ctx* ctx, const slender_backward* b,
                        slender_span s) {
  double t = (s.begin + s.h) / (double)ctx->h;
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* spring = &ctx->springs[i];
    slender_anchor* anchor = &body->solver.anchors[spring->particle];
    double soft = 1.0 / (double)body->params.stiffness_scale;
    double stiff = (double)spring->stiffness * soft, slow = (double)spring->damping / b->h1 * soft;
    double sum = anchor->weight + stiff + slow;
    for (int k = 0; k < 3; ++k) {
      double from = (double)(&spring->begin.x)[k], to = (double)(&spring->end.x)[k];
      double goal = from + t * (to - from);
      double carried =
          body->base_x[3 * spring->particle + k] + b->h1 * (to - from) / (double)ctx->h;
      anchor->place[k] = (anchor->weight * anchor->place[k] + stiff * goal + slow * carried) / sum;
    }
    anchor->weight = sum;
  }
}

static void set_holds(slender_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                      slender_span s) {
  slender_solver* solver = &body->solver;
  double t = (s.begin + s.h) / (double)ctx->h;
  for (int32_t p = 0; p < particles->count; ++p) {
    if (particles->inv_mass[p] != 0.0f) continue;
    solver->anchors[p].held = true;
    for (int k = 0; k < 3; ++k) solver->pose.x[3 * p + k] = body->x[3 * p + k];
  }
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    const yw_hold* hold = &ctx->holds[i];
    int32_t p = hold->particle;
    solver->anchors[p].held = true;
    for (int k = 0; k < 3; ++k) {
      double from = (double)(&hold->begin.x)[k], to = (double)(&hold->end.x)[k];
      solver->pose.x[3 * p + k] = from + t * (to - from);
    }
    if (!hold->clamp) continue;
    solver->anchors[p].clamped = true;
    yw_turn turn = yw_slender_clamp_turn(hold, s.h / (double)ctx->h);
    solver->pose.q[p] = yw_turn_normalize(yw_turn_mul(turn, body->turn[p]));
  }
}

// Finish ------------------------------------------------------------------------------------------

static void finish_momentum(slender_body* body, int32_t p, const slender_backward* b) {
  const slender_anchor* anchor = &body->solver.anchors[p];
  yw_turn q = body->solver.pose.q[p];
  double torque[3], rate[3];
  if (anchor->clamped) {
    yw_turn_log(yw_turn_mul(q, yw_turn_conjugate(body->turn[p])), rate);
    for (int k = 0; k < 3; ++k) rate[k] /= b->h;
    yw_slender_momentum_of(body->model, p, q, rate, body->momentum + 3 * p);
  } else {
    yw_slender_inertia_torque(body->model, p, anchor, q, torque);
    double scale = (double)body->params.stiffness_scale;
    for (int k = 0; k < 3; ++k) {
      body->momentum[3 * p + k] =
          body->base_momentum[3 * p + k] + scale * (b->h1 * torque[k] / (1.0 + b->slow));
    }
  }
}

// Sets positions and velocities of particles that no obstacle stopped.
void yw_slender_finish_places(slender_body* body, yw_particles* particles,
                              const slender_backward* b) {
  const slender_pose* pose = &body->solver.pose;
  for (int32_t p = 0; p < particles->count; ++p) {
    if (body->touched[p]) continue;
    bool held = body->solver.anchors[p].held;
    for (int k = 0; k < 3; ++k) {
      double x = pose->x[3 * p + k];
      double v = held ? (x - body->x[3 * p + k]) / b->h : (x - body->base_x[3 * p + k]) / b->h1;
      (&particles->vel[p].x)[k] = (float)v;
    }
    yw_slender_put(body, particles, p, pose->x + 3 * p);
  }
}

// The old state becomes history; orientations and angular momenta become the new state. Only once
// per step: bases and clamp rotations refer to the old ones.
static void finish_turns(slender_body* body, const slender_backward* b) {
  size_t n = (size_t)body->model->num_particles;
  memcpy(body->old_x, body->x, 3 * n * sizeof(double));
  memcpy(body->old_v, body->v, 3 * n * sizeof(double));
  memcpy(body->old_momentum, body->momentum, 3 * n * sizeof(double));
  for (int32_t p = 0; p < (int32_t)n; ++p) finish_momentum(body, p, b);
  memcpy(body->old_turn, body->turn, n * sizeof(yw_turn));
  memcpy(body->turn, body->solver.pose.q, n * sizeof(yw_turn));
}

// The step ----------------------------------------------------------------------------------------

static bool is_finite_pose(const slender_solver* solver) {
  double sum = 0.0;
  for (int32_t p = 0; p < solver->model->num_particles; ++p) {
    yw_turn q = solver->pose.q[p];
    sum += fabs(q.x) + fabs(q.y) + fabs(q.z) + fabs(q.w);
    for (int k = 0; k < 3; ++k) sum += fabs(solver->pose.x[3 * p + k]);
  }
  return isfinite(sum) && sum < 1e12;
}

// After an impact, or after trouble, the next step uses the first-order formula, which damps more.
static void remember(slender_body* body, const yw_particles* particles, double usual, double h,
                     bool trouble) {
  body->last_h = trouble ? 0.0 : h;
  memcpy(body->left_v, particles->vel, (size_t)particles->count * sizeof *body->left_v);
  for (int32_t p = 0; p < particles->count && body->in_contact; ++p) {
    yw_vec4 before = {(float)body->v[3 * p], (float)body->v[3 * p + 1], (float)body->v[3 * p + 2],
                      0.0f};
    if (body->touched[p] && is_kick(before, particles->vel[p], usual)) body->last_h = 0.0;
  }
}

static yw_status advance_span(slender_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                              slender_span s, int32_t depth) {
  double usual = KICK_FALLS * s.h * (double)yw_length(ctx->gravity);
  slender_backward b = {.h = s.h, .rigid = yw_slender_motion(body, particles, ctx)};
  slender_motion before = yw_slender_motion(body, particles, NULL);
  if (!before.finite) return YW_ERR_DIVERGED;
  b.second_order = body->params.solver == YW_SLENDER_BDF2 && body->last_h == s.h &&
                   !was_kicked(body, particles, usual);
  b.h1 = b.second_order ? s.h * (2.0 / 3.0) : s.h;
  b.slow = (double)body->params.damping * b.h1;
  for (int k = 0; k < 3; ++k) {
    if (ctx->num_holds == 0) b.rigid.velocity[k] += s.h * (double)(&ctx->gravity.x)[k];
    b.rigid.center[k] += s.h * b.rigid.velocity[k];
  }
  size_t n = (size_t)particles->count;
  memcpy(body->old_pos, particles->pos, n * sizeof *body->old_pos);
  memset(body->touched, 0, n * sizeof *body->touched);
  body->h1 = b.h1;
  begin_bases(body, particles, &b);
  yw_slender_fit_examples(body);
  begin_anchors(body, ctx, &b);
  add_springs(body, ctx, &b, s);
  set_holds(body, particles, ctx, s);
  // What touched an obstacle will be solved again.
  bool loose = body->in_contact;
  double tolerance = (double)body->params.tolerance;
  slender_solve_report solved = yw_slender_solve(
      &body->solver, ctx->tasks, loose ? SLENDER_LOOSE : tolerance, SLENDER_MAX_NEWTON);
  body->newton += solved.newton;
  bool lost = !is_finite_pose(&body->solver);
  if (lost && depth == MAX_DEPTH) return YW_ERR_DIVERGED;
  // Half steps are easier. A quarter step that still stalls is downhill, and accepted.
  if (lost || (!solved.converged && solved.residual > STALLED_RESIDUAL && depth < MAX_STALLS)) {
    if (ctx->report) ++ctx->report->stalled;
    body->last_h = 0.0;
    slender_span first = {s.begin, 0.5 * s.h}, second = {s.begin + 0.5 * s.h, 0.5 * s.h};
    yw_status status = advance_span(body, particles, ctx, first, depth + 1);
    return status < 0 ? status : advance_span(body, particles, ctx, second, depth + 1);
  }
  if (ctx->report && !solved.converged) ++ctx->report->recovered;
  yw_slender_finish_places(body, particles, &b);
  yw_slender_meet_obstacles(body, particles, ctx, &b, s);
  if (loose && !body->in_contact) {
    solved = yw_slender_solve(&body->solver, ctx->tasks, tolerance, SLENDER_MAX_NEWTON);
    body->newton += solved.newton;
    yw_slender_finish_places(body, particles, &b);
    yw_slender_meet_obstacles(body, particles, ctx, &b, s);
  }
  finish_turns(body, &b);
  if (!body->in_contact && ctx->num_holds == 0 && ctx->num_springs == 0) {
    yw_slender_restore(body, particles, &before, ctx->gravity, s.h);
  }
  remember(body, particles, usual, s.h, !solved.converged);
  return YW_OK;
}

yw_status yw_slender_implicit_advance(slender_body* body, yw_particles* particles,
                                      const yw_step_ctx* ctx) {
  body->newton = 0;
  slender_motion motion = yw_slender_motion(body, particles, NULL);
  const double* w = motion.spin;
  double turn = (double)ctx->h * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  int32_t cuts = 1;
  while (cuts < MOST_CUTS && turn > MOST_TURN * cuts) cuts *= 2;
  double h = (double)ctx->h / cuts;
  yw_status status = YW_OK;
  for (int32_t i = 0; i < cuts && status >= 0; ++i) {
    yw_status now = advance_span(body, particles, ctx, (slender_span){i * h, h}, 0);
    status = now < 0 || status == YW_OK ? now : status;
  }
  return status;
}
