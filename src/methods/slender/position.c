// SPDX-License-Identifier: MIT
// Position-based steps of rods and sheets: predict, sweep over the elements colour by colour,
// derive velocities and angular momenta from the displacements.
//
// Extended, rods, first sweep: each pair matches its frame, for positions and rotations, with the
// stiffness of spring and inertia in series,
//   1/omega = h^2/m + 1/w,   Omega^-1 = h^2 J^-1 + I^-1,
// and applies F = -omega (x - g), and torques likewise: its own backward Euler step in closed form.
// Further sweeps, and sheets: the strains of an element are solved together (XPBD), including what
// has been applied before. (Undoing a torque by a rotation of h^2 J^-1 T, as for positions, fails:
// particles of thin bodies have almost no inertia, and that rotation would be many turns.) Classic:
// shape matching with orientations.
#include <string.h>

#include "math/small/dense.h"
#include "math/small/exponent.h"
#include "math/small/mat3d.h"
#include "methods/kit/contact.h"
#include "methods/slender/motion.h"
#include "methods/slender/sheet_energy.h"
#include "yawara/extend/timer.h"

#define ELEMENTS_PER_TASK 32

typedef struct sweep {
  slender_body* body;
  const yw_particles* particles;
  slender_pose pose;
  double h2;
  double stiffness;  // classic
  bool again;        // elements have already applied stress
  int32_t first, last;
  void (*run)(const struct sweep*, int32_t element);
} sweep;

// 1/m, 0 while held.
static double inverse_mass(const sweep* s, int32_t p) { return (double)s->particles->inv_mass[p]; }

static bool is_clamped(const sweep* s, int32_t p) { return s->body->solver.anchors[p].clamped; }

static void turn_by(yw_turn* q, const double way[3], double share) {
  const double part[3] = {share * way[0], share * way[1], share * way[2]};
  *q = yw_turn_normalize(yw_turn_mul(yw_turn_exp(part), *q));
}

// q <- exp(h^2 J^-1 torque) q, torque in world axes.
static void apply_torque(const sweep* s, int32_t p, yw_turn* q, const double torque[3]) {
  double rate[3];
  if (is_clamped(s, p)) return;
  yw_slender_rate_of(s->body->model, p, *q, torque, rate);
  turn_by(q, rate, s->h2);
}

// Extended, rods ----------------------------------------------------------------------------------

// (h^2 J^-1 + I^-1)^-1 in the rest axes, and the corresponding moment Q.
static void series_moment(const sweep* s, const rod_pair* pair, int32_t p, double q[6]) {
  double soft[6], sum[6], stiff[6];
  yw_sym_invert(pair->inertia, soft);
  for (int k = 0; k < 6; ++k) {
    sum[k] = soft[k] + (is_clamped(s, p) ? 0.0 : s->h2 * s->body->model->inverse[p][k]);
  }
  yw_sym_invert(sum, stiff);
  double half = 0.5 * (stiff[0] + stiff[1] + stiff[2]);
  for (int k = 0; k < 6; ++k) q[k] = (k < 3 ? half : 0.0) - stiff[k];
}

typedef struct pair_ends {
  double x[2][3], omega[2], m[2][9];
  yw_turn q[2];
  double d[3];
} pair_ends;

static yw_turn match_ends(const rod_pair* pair, const pair_ends* ends, double series) {
  double a[9], s[6], along[3];
  for (int i = 0; i < 9; ++i) {
    a[i] = series * pair->length * ends->d[i / 3] * pair->e[i % 3] + ends->m[0][i] + ends->m[1][i];
  }
  yw_turn one = ends->q[0], two = ends->q[1];
  double sign = one.x * two.x + one.y * two.y + one.z * two.z + one.w * two.w < 0.0 ? -1.0 : 1.0;
  yw_turn mid = yw_turn_normalize((yw_turn){one.x + sign * two.x, one.y + sign * two.y,
                                            one.z + sign * two.z, one.w + sign * two.w});
  yw_turn_apply(mid, pair->e, along);
  double length = sqrt(ends->d[0] * ends->d[0] + ends->d[1] * ends->d[1] + ends->d[2] * ends->d[2]);
  double cosine = along[0] * ends->d[0] + along[1] * ends->d[1] + along[2] * ends->d[2];
  if (length > 0.0 && cosine > -0.9 * length) {
    yw_turn tilt = {along[1] * ends->d[2] - along[2] * ends->d[1],
                    along[2] * ends->d[0] - along[0] * ends->d[2],
                    along[0] * ends->d[1] - along[1] * ends->d[0], length + cosine};
    mid = yw_turn_mul(yw_turn_normalize(tilt), mid);
  }
  return yw_slender_polar(a, mid, s);
}

static void first_pair(const sweep* s, int32_t element) {
  const rod_pair* pair = &s->body->model->pairs[element];
  double* lambda = s->body->duals + 12 * (size_t)element;
  pair_ends ends;
  for (int j = 0; j < 2; ++j) {
    int32_t p = pair->particles[j];
    double q[6], moment[9], r[9];
    ends.q[j] = s->pose.q[p];
    for (int k = 0; k < 3; ++k) ends.x[j][k] = s->pose.x[3 * p + k];
    ends.omega[j] = 1.0 / (s->h2 * inverse_mass(s, p) + 1.0 / pair->weight);
    series_moment(s, pair, p, q);
    yw_m3_of_sym(q, moment);
    yw_turn_matrix(ends.q[j], r);
    yw_m3_mul(r, moment, ends.m[j]);
  }
  for (int k = 0; k < 3; ++k) ends.d[k] = ends.x[1][k] - ends.x[0][k];
  double series = ends.omega[0] * ends.omega[1] / (ends.omega[0] + ends.omega[1]), r[9], u[3];
  yw_turn_matrix(match_ends(pair, &ends, series), r);
  for (int k = 0; k < 3; ++k) {
    u[k] =
        r[k] * ends.d[0] + r[3 + k] * ends.d[1] + r[6 + k] * ends.d[2] - pair->length * pair->e[k];
    lambda[k] = -series * u[k];
  }
  for (int j = 0; j < 2; ++j) {
    int32_t p = pair->particles[j];
    double n[9], *axial = lambda + 3 + 3 * j, torque[3], sign = j == 0 ? -1.0 : 1.0;
    yw_m3_mul_tn(r, ends.m[j], n);
    yw_m3_axial(n, axial);
    for (int k = 0; k < 3; ++k) axial[k] = -axial[k];
    for (int k = 0; k < 3; ++k) {
      const double* row = r + 3 * k;
      double force = row[0] * lambda[0] + row[1] * lambda[1] + row[2] * lambda[2];
      torque[k] = row[0] * axial[0] + row[1] * axial[1] + row[2] * axial[2];
      s->pose.x[3 * p + k] += s->h2 * inverse_mass(s, p) * sign * force;
    }
    apply_torque(s, p, &s->pose.q[p], torque);
  }
}

// (h^2 J M^-1 J^T + K^-1) change = -(strain + K^-1 lambda); forces are J^T lambda. jacobian and
// light = J M^-1: by rows of 6 per corner. Adds the change to lambda; way: change of the unknowns.
static bool solve_strains(int n, int columns, double h2, const double* strain,
                          const double* jacobian, const double* light, const double* compliance,
                          double* lambda, double* way) {
  double matrix[SHEET_STRAINS * SHEET_STRAINS], lower[SHEET_STRAINS * SHEET_STRAINS];
  double change[SHEET_STRAINS];
  for (int i = 0; i < n; ++i) {
    change[i] = -strain[i];
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int c = 0; c < columns; ++c) sum += light[columns * i + c] * jacobian[columns * j + c];
      matrix[n * i + j] = h2 * sum + compliance[n * i + j];
      change[i] -= compliance[n * i + j] * lambda[j];
    }
  }
  if (!yw_dense_cholesky(n, matrix, lower)) return false;
  yw_dense_solve(n, lower, change, change);
  for (int i = 0; i < n; ++i) lambda[i] += change[i];
  for (int c = 0; c < columns; ++c) {
    way[c] = 0.0;
    for (int i = 0; i < n; ++i) way[c] += h2 * light[columns * i + c] * change[i];
  }
  return true;
}

static void next_pair(const sweep* s, int32_t element) {
  const rod_pair* pair = &s->body->model->pairs[element];
  double light[9][12], compliance[81] = {0}, soft[6], full[9], r[9], way[12];
  rod_strains t;
  yw_rod_strains(pair, &s->pose, &t);
  yw_turn_matrix(t.frame, r);
  for (int j = 0; j < 2; ++j) {
    int32_t p = pair->particles[j];
    double inv = inverse_mass(s, p), turned[6] = {0};
    yw_turn way_of = yw_turn_mul(yw_turn_conjugate(t.frame), s->pose.q[p]);
    if (!is_clamped(s, p)) yw_slender_turn_sym(way_of, s->body->model->inverse[p], turned);
    for (int i = 0; i < 9; ++i) {
      for (int c = 0; c < 3; ++c) light[i][6 * j + c] = inv * t.jacobian[i][6 * j + c];
      yw_sym_apply(turned, t.jacobian[i] + 6 * j + 3, light[i] + 6 * j + 3);
    }
  }
  yw_sym_invert(pair->inertia, soft);
  yw_m3_of_sym(soft, full);
  for (int i = 0; i < 9; ++i) {
    if (i < 3) compliance[10 * i] = 2.0 / pair->weight;
    compliance[9 * (3 + i / 3) + 3 + i % 3] = compliance[9 * (6 + i / 3) + 6 + i % 3] = full[i];
  }
  if (!solve_strains(9, 12, s->h2, t.strain, t.jacobian[0], light[0], compliance,
                     s->body->duals + 12 * (size_t)element, way)) {
    return;
  }
  for (int j = 0; j < 2; ++j) {
    int32_t p = pair->particles[j];
    double turn[3];
    for (int k = 0; k < 3; ++k) {
      const double *row = r + 3 * k, *d = way + 6 * j;
      s->pose.x[3 * p + k] += row[0] * d[0] + row[1] * d[1] + row[2] * d[2];
      turn[k] = row[0] * d[3] + row[1] * d[4] + row[2] * d[5];
    }
    turn_by(&s->pose.q[p], turn, 1.0);
  }
}

static void extended_pair(const sweep* s, int32_t element) {
  if (s->again) {
    next_pair(s, element);
  } else {
    first_pair(s, element);
  }
}

// Extended, sheets --------------------------------------------------------------------------------

static void extended_triangle(const sweep* s, int32_t element) {
  enum { N = SHEET_STRAINS };
  const sheet_triangle* triangle = &s->body->model->triangles[element];
  double *lambda = s->body->duals + N * (size_t)element, k[N / 3][9];
  double light[N][18], compliance[N * N] = {0}, way[18];
  sheet_state t;
  yw_sheet_strains(triangle, &s->pose, &t);
  if (!s->again) memset(lambda, 0, N * sizeof *lambda);
  for (int j = 0; j < 3; ++j) {
    int32_t p = triangle->particles[j];
    double inv = inverse_mass(s, p), turned[6] = {0};
    if (!is_clamped(s, p)) yw_slender_turn_sym(s->pose.q[p], s->body->model->inverse[p], turned);
    for (int i = 0; i < N; ++i) {
      for (int c = 0; c < 3; ++c) light[i][6 * j + c] = inv * t.jacobian[i][6 * j + c];
      yw_sym_apply(turned, t.jacobian[i] + 6 * j + 3, light[i] + 6 * j + 3);
    }
  }
  yw_sheet_stiffness(triangle, k);
  for (int g = 0; g < N / 3; ++g) {
    const double sym[6] = {k[g][0], k[g][4], k[g][8], k[g][1], k[g][2], k[g][5]};
    double inverse[6], full[9];
    yw_sym_invert(sym, inverse);
    yw_m3_of_sym(inverse, full);
    for (int i = 0; i < 9; ++i) compliance[(3 * g + i / 3) * N + 3 * g + i % 3] = full[i];
  }
  if (!solve_strains(N, 18, s->h2, t.strain, t.jacobian[0], light[0], compliance, lambda, way)) {
    return;
  }
  for (int j = 0; j < 3; ++j) {
    int32_t p = triangle->particles[j];
    for (int c = 0; c < 3; ++c) s->pose.x[3 * p + c] += way[6 * j + c];
    turn_by(&s->pose.q[p], way + 6 * j + 3, 1.0);
  }
}

// Classic -----------------------------------------------------------------------------------------

// One group of oriented particles: x += s (g - x), R <- exp(s log(R_k R^-1)) R.
static void classic_group(const sweep* s, int32_t element) {
  const slender_model* model = s->body->model;
  const int32_t* particles = model->elements + (size_t)element * (size_t)model->corners;
  double mass = 0.0, center[3] = {0}, rest[3] = {0}, a[9] = {0}, sym[6], r[9];
  yw_turn sum = {0, 0, 0, 0};
  for (int j = 0; j < model->corners; ++j) {
    int32_t p = particles[j];
    double m = (double)model->mass[p];
    mass += m;
    for (int k = 0; k < 3; ++k) {
      center[k] += m * s->pose.x[3 * p + k];
      rest[k] += m * (double)(&model->rest[p].x)[k];
    }
    yw_turn q = s->pose.q[p];
    double sign = sum.x * q.x + sum.y * q.y + sum.z * q.z + sum.w * q.w < 0.0 ? -1.0 : 1.0;
    sum = (yw_turn){sum.x + sign * q.x, sum.y + sign * q.y, sum.z + sign * q.z, sum.w + sign * q.w};
  }
  for (int k = 0; k < 3; ++k) center[k] /= mass, rest[k] /= mass;
  for (int j = 0; j < model->corners; ++j) {
    int32_t p = particles[j];
    const double* inertia = model->inertia[p];
    double half = 0.5 * (inertia[0] + inertia[1] + inertia[2]), own[6], moment[9], turned[9], m[9];
    for (int k = 0; k < 6; ++k) own[k] = (k < 3 ? half : 0.0) - inertia[k];
    yw_m3_of_sym(own, moment);
    yw_turn_matrix(s->pose.q[p], turned);
    yw_m3_mul(turned, moment, m);
    for (int k = 0; k < 9; ++k) {
      a[k] += m[k] + (double)model->mass[p] * (s->pose.x[3 * p + k / 3] - center[k / 3]) *
                         ((double)(&model->rest[p].x)[k % 3] - rest[k % 3]);
    }
  }
  yw_turn frame = yw_slender_polar(a, yw_turn_normalize(sum), sym);
  yw_turn_matrix(frame, r);
  for (int j = 0; j < model->corners; ++j) {
    int32_t p = particles[j];
    double way[3], q[3];
    for (int k = 0; k < 3; ++k) q[k] = (double)(&model->rest[p].x)[k] - rest[k];
    for (int k = 0; k < 3 && inverse_mass(s, p) > 0.0; ++k) {
      double goal = center[k] + r[3 * k] * q[0] + r[3 * k + 1] * q[1] + r[3 * k + 2] * q[2];
      s->pose.x[3 * p + k] += s->stiffness * (goal - s->pose.x[3 * p + k]);
    }
    if (is_clamped(s, p)) continue;
    yw_turn_log(yw_turn_mul(frame, yw_turn_conjugate(s->pose.q[p])), way);
    turn_by(&s->pose.q[p], way, s->stiffness);
  }
}

// Sweeps ------------------------------------------------------------------------------------------

static void run_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const sweep* s = context;
  int32_t begin = s->first + block * ELEMENTS_PER_TASK, end = begin + ELEMENTS_PER_TASK;
  for (int32_t i = begin; i < end && i < s->last; ++i) {
    s->run(s, s->body->model->color_elements[i]);
  }
}

static void run_sweeps(sweep* s, yw_tasks* tasks, int32_t count) {
  const slender_model* model = s->body->model;
  for (int32_t k = 0; k < count; ++k) {
    s->again = k > 0;
    for (int32_t c = 0; c < model->num_colors; ++c) {
      s->first = model->color_start[c];
      s->last = model->color_start[c + 1];
      int32_t blocks = (s->last - s->first + ELEMENTS_PER_TASK - 1) / ELEMENTS_PER_TASK;
      yw_tasks_run_kind(tasks, (yw_task_kind)s->run, blocks, run_block, s);
    }
  }
}

// The step ----------------------------------------------------------------------------------------

static void hold(slender_body* body, const yw_step_ctx* ctx, double begin, double h) {
  slender_solver* solver = &body->solver;
  double t = (begin + h) / (double)ctx->h;
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    const yw_hold* held = &ctx->holds[i];
    int32_t p = held->particle;
    for (int k = 0; k < 3; ++k) {
      double from = (double)(&held->begin.x)[k], to = (double)(&held->end.x)[k];
      solver->pose.x[3 * p + k] = from + t * (to - from);
    }
    if (!held->clamp) continue;
    solver->anchors[p].clamped = true;
    yw_turn turn = yw_slender_clamp_turn(held, h / (double)ctx->h);
    solver->pose.q[p] = yw_turn_normalize(yw_turn_mul(turn, body->turn[p]));
  }
}

// Springs are implicit in their own particle.
static void pull_springs(slender_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                         double begin, double h) {
  double t = (begin + h) / (double)ctx->h;
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* spring = &ctx->springs[i];
    int32_t p = spring->particle;
    double inv = (double)particles->inv_mass[p];
    double slow = h * (double)spring->damping * inv,
           stiff = h * h * (double)spring->stiffness * inv;
    for (int k = 0; k < 3; ++k) {
      double from = (double)(&spring->begin.x)[k], to = (double)(&spring->end.x)[k];
      double goal = from + t * (to - from), *x = &body->solver.pose.x[3 * p + k];
      double carried = body->x[3 * p + k] + h * (to - from) / (double)ctx->h;
      *x = (*x + slow * carried + stiff * goal) / (1.0 + slow + stiff);
    }
  }
}

static void predict(slender_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                    double begin, double h) {
  slender_solver* solver = &body->solver;
  for (int32_t p = 0; p < particles->count; ++p) {
    bool free = particles->inv_mass[p] != 0.0f;
    for (int k = 0; k < 3; ++k) {
      double v = (double)(&particles->vel[p].x)[k] + h * (double)(&ctx->gravity.x)[k];
      body->x[3 * p + k] = yw_slender_place(body, particles, p, k);
      solver->pose.x[3 * p + k] = body->x[3 * p + k] + (free ? h * v : 0.0);
    }
    solver->anchors[p].clamped = false;
    solver->pose.q[p] = yw_slender_ahead(body->model, p, body->turn[p], body->momentum + 3 * p, h);
    body->base_turn[p] = solver->pose.q[p];
  }
  pull_springs(body, particles, ctx, begin, h);
  hold(body, ctx, begin, h);
}

// v = displacement / h; angular momenta change by the deviation from free rotation.
static void take_velocities(slender_body* body, yw_particles* particles, double h) {
  const slender_pose* pose = &body->solver.pose;
  for (int32_t p = 0; p < particles->count; ++p) {
    double rate[3], momentum[3];
    bool clamped = body->solver.anchors[p].clamped;
    yw_turn from = clamped ? body->turn[p] : body->base_turn[p];
    yw_turn_log(yw_turn_mul(pose->q[p], yw_turn_conjugate(from)), rate);
    for (int k = 0; k < 3; ++k) {
      rate[k] /= h;
      (&particles->vel[p].x)[k] = (float)((pose->x[3 * p + k] - body->x[3 * p + k]) / h);
    }
    yw_slender_momentum_of(body->model, p, pose->q[p], rate, momentum);
    for (int k = 0; k < 3; ++k) {
      body->momentum[3 * p + k] = clamped ? momentum[k] : body->momentum[3 * p + k] + momentum[k];
    }
    body->turn[p] = pose->q[p];
    body->old_pos[p] = particles->pos[p];
    yw_slender_put(body, particles, p, pose->x + 3 * p);
  }
}

static void meet_obstacles(slender_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                           double begin, double h) {
  if (!ctx->collide) return;
  yw_aabb box = yw_aabb_empty();
  float radius = 0.0f;
  for (int32_t p = 0; p < particles->count; ++p) {
    box = yw_aabb_grow(yw_aabb_grow(box, yw_xyz(particles->pos[p])), yw_xyz(body->old_pos[p]));
    radius = fmaxf(radius, body->model->radius[p]);
  }
  if (!yw_obstacles_near(ctx, yw_aabb_pad(box, radius))) return;
  body->in_contact = true;
  if (ctx->report) ctx->report->obstacle_contacts = 0;
  yw_meet_obstacles(ctx, particles, body->old_pos, body->model->radius, (float)begin, (float)h);
}

// Non-rigid motion is damped by exp(-damping h).
static void damp(slender_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  if (!(body->params.damping > 0.0f)) return;
  slender_motion m = yw_slender_motion(body, particles, ctx);
  double lose = 1.0 - (double)yw_expf(-body->params.damping * ctx->h);
  for (int32_t p = 0; p < particles->count; ++p) {
    double y[3], momentum[3];
    for (int k = 0; k < 3; ++k) y[k] = yw_slender_place(body, particles, p, k) - m.center[k];
    yw_slender_momentum_of(body->model, p, body->turn[p], m.spin, momentum);
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      double v = (double)(&particles->vel[p].x)[k];
      double u = m.velocity[k] + m.spin[a] * y[b] - m.spin[b] * y[a];
      if (particles->inv_mass[p] != 0.0f) (&particles->vel[p].x)[k] = (float)(v + lose * (u - v));
      body->momentum[3 * p + k] += lose * (momentum[k] - body->momentum[3 * p + k]);
    }
  }
}

yw_status yw_slender_position_advance(slender_body* body, yw_particles* particles,
                                      const yw_step_ctx* ctx) {
  int32_t steps = body->params.substeps;
  double h = (double)ctx->h / steps;
  body->in_contact = false;
  body->newton = 0;
  damp(body, particles, ctx);
  slender_motion before = yw_slender_motion(body, particles, NULL);
  if (!before.finite) return YW_ERR_DIVERGED;
  sweep s = {.body = body,
             .particles = particles,
             .h2 = h * h * (double)body->params.stiffness_scale,
             .stiffness = (double)body->params.stiffness,
             .run = body->params.solver == YW_SLENDER_CLASSIC ? classic_group
                    : body->model->kind == SLENDER_ROD        ? extended_pair
                                                              : extended_triangle};
  for (int32_t i = 0; i < steps; ++i) {
    predict(body, particles, ctx, h * i, h);
    s.pose = body->solver.pose;
    run_sweeps(&s, ctx->tasks, body->params.sweeps);
    take_velocities(body, particles, h);
    meet_obstacles(body, particles, ctx, h * i, h);
  }
  if (!body->in_contact && ctx->num_holds == 0 && ctx->num_springs == 0) {
    yw_slender_restore(body, particles, &before, ctx->gravity, (double)ctx->h);
  }
  body->last_h = 0.0;
  return yw_slender_motion(body, particles, NULL).finite ? YW_OK : YW_ERR_DIVERGED;
}
