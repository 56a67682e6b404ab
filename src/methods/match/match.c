// SPDX-License-Identifier: MIT
// The step of example-based shape matching. Koyama et al. 2013; equation numbers refer to it. The
// phases that touch every particle are in match_kernels.c.
#include "methods/match/match.h"

#include <math.h>
#include <string.h>

#include "methods/kit/contact.h"
#include "methods/kit/pins.h"
#include "methods/match/between.h"
#include "methods/match/body.h"
#include "methods/match/offload.h"
#include "methods/match/response.h"
#include "yawara/extend/timer.h"

// Phases over chunks ------------------------------------------------------------------------------

typedef struct match_phase {
  const match_step* step;
  void (*run)(const match_step* step, int32_t chunk);
} match_phase;

static void run_chunk(void* context, int32_t chunk, int32_t worker) {
  const match_phase* phase = context;
  (void)worker;
  phase->run(phase->step, chunk);
}

static void run_phase(const yw_step_ctx* ctx, const match_step* step,
                      void (*run)(const match_step*, int32_t)) {
  match_phase phase = {step, run};
  yw_tasks_run_kind(ctx->tasks, (yw_task_kind)run, step->model->num_chunks, run_chunk, &phase);
}

// Sums --------------------------------------------------------------------------------------------

static void add_chunk(match_totals* t, const match_sums* s) {
  for (int k = 0; k < 3; ++k) {
    t->mx[k] += (double)s->mx[k];
    t->mv[k] += (double)s->mv[k];
    t->myv[k] += (double)s->myv[k];
  }
  for (int k = 0; k < 6; ++k) t->myy[k] += (double)s->myy[k];
  for (int k = 0; k < 4; ++k) t->rotation[k] += (double)s->rotation[k];
  t->recovered += s->recovered;
}

static void add_piece(match_totals* t, const match_totals* piece) {
  for (int k = 0; k < 3; ++k) {
    t->mx[k] += piece->mx[k];
    t->mv[k] += piece->mv[k];
    t->myv[k] += piece->myv[k];
  }
  for (int k = 0; k < 6; ++k) t->myy[k] += piece->myy[k];
  for (int k = 0; k < 4; ++k) t->rotation[k] += piece->rotation[k];
  t->recovered += piece->recovered;
}

static match_totals add_sums(const match_body* body) {
  // The kernels measure masses in units of the mean mass.
  match_totals t = {.mass = (double)body->model->num_particles};
  for (int32_t c = 0; c < body->model->num_chunks;) {
    match_totals piece = {0};
    int32_t end = c + MATCH_SUM_PIECE;
    for (; c < end && c < body->model->num_chunks; ++c) add_chunk(&piece, &body->sums[c]);
    add_piece(&t, &piece);
  }
  return t;
}

// Projection --------------------------------------------------------------------------------------

void yw_match_weigh(const yw_match_params* params, const match_model* model, const double* gram,
                    const double* b, const float* aims, float* weights, float* pulls) {
  match_weigh(params, model, gram, b, aims, weights, pulls);
}

// Adds up the shares of the chunks and projects every group (7). False when a sum is not finite.
static bool project_on_examples(match_body* body) {
  const match_model* model = body->model;
  int32_t n = model->num_examples;
  double *b = body->group_products, *pieces = body->group_pieces;
  for (int32_t i = 0; i < model->num_groups * n; ++i) b[i] = pieces[i] = 0.0;
  for (int32_t g = 0; g < model->num_groups; ++g) body->group_counts[g] = 0;
  for (int32_t share = 0; share < model->num_shares; ++share) {
    const float* lanes = body->products + (size_t)share * (size_t)n * YW_LANES;
    size_t group = (size_t)model->share_group[share], at = group * (size_t)n;
    for (int32_t k = 0; k < n; ++k, lanes += YW_LANES) {
      pieces[at + (size_t)k] += match_add_lanes(lanes);
    }
    if (++body->group_counts[group] % MATCH_SUM_PIECE > 0) continue;
    for (size_t i = at; i < at + (size_t)n; ++i) b[i] += pieces[i], pieces[i] = 0.0;
  }
  for (int32_t i = 0; i < model->num_groups * n; ++i) b[i] += pieces[i];
  for (size_t g = 0; g < (size_t)model->num_groups; ++g) {
    size_t at = g * (size_t)n;
    for (int32_t k = 0; k < n; ++k) {
      if (!isfinite(b[at + (size_t)k])) return false;
    }
    yw_match_weigh(&body->params, model, model->gram + at * (size_t)n, b + at, body->aims + at + g,
                   body->weights + at + g, body->pulls + at);
  }
  return true;
}

// Forces on single particles ----------------------------------------------------------------------

// One of the steps that a substep of the world is made of.
typedef struct inner_step {
  float begin, h;  // s, from the start of the substep
  float end;       // share of the substep that has passed at its end
} inner_step;

static void pull_springs(yw_particles* p, const yw_vec4* old_pos, const yw_step_ctx* ctx,
                         const inner_step* inner, yw_aabb* box) {
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* s = &ctx->springs[i];
    int32_t n = s->particle;
    if (p->inv_mass[n] == 0.0f) continue;
    yw_vec3 x = yw_xyz(old_pos[n]), u = yw_spring_velocity(s, ctx->h);
    yw_vec3 goal = yw_spring_at(s, inner->end);
    yw_vec3 v = yw_spring_pull(s, goal, u, x, yw_xyz(p->vel[n]), p->inv_mass[n], inner->h);
    x = yw_mad(x, inner->h, v);
    p->vel[n] = yw_v4(v);
    p->pos[n] = yw_v4(x);
    *box = yw_aabb_grow(*box, x);
  }
}

static void set_holds(yw_particles* p, const yw_step_ctx* ctx, float share, yw_aabb* box) {
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    const yw_hold* hold = &ctx->holds[i];
    yw_vec3 place = yw_hold_at(hold, share);
    p->pos[hold->particle] = yw_v4(place);
    p->vel[hold->particle] = yw_v4(yw_hold_velocity(hold, ctx->h));
    *box = yw_aabb_grow(*box, place);
  }
}

// The step ----------------------------------------------------------------------------------------

static yw_aabb swept_box(const match_body* body) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t c = 0; c < body->model->num_chunks; ++c) box = yw_aabb_join(box, body->sums[c].box);
  return box;
}

static yw_vec3 total_torque(const match_body* body) {
  double sum[3] = {0};
  for (int32_t c = 0; c < body->model->num_chunks;) {
    double piece[3] = {0};
    int32_t end = c + MATCH_SUM_PIECE;
    for (; c < end && c < body->model->num_chunks; ++c) {
      for (int k = 0; k < 3; ++k) piece[k] += (double)body->sums[c].torque[k];
    }
    for (int k = 0; k < 3; ++k) sum[k] += piece[k];
  }
  return yw_v3_of(sum);
}

// Swaps the position buffers of the two ends of the step.
static void turn_over(match_body* body, yw_particles* particles) {
  yw_vec4* old_pos = particles->pos;
  particles->pos = body->spare_pos;
  body->spare_pos = old_pos;
}

static yw_status advance_inner(match_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               const match_response* response, const inner_step* inner) {
  const match_kernels* kernels = YW_KERNEL_PICK(yw_match_kernels, ctx->simd);
  match_step step = {.body = body,
                     .model = body->model,
                     .pos = particles->pos,
                     .new_pos = body->spare_pos,
                     .vel = particles->vel,
                     .paper = body->params.target == YW_TARGET_PAPER};
  match_begin_step(&body->axes, ctx->gravity, response, &step);

  run_phase(ctx, &step, kernels->match_regions);  // A_r = R_r S_r (1), sums of the body
  match_totals totals = add_sums(body);
  if (!match_totals_finite(&totals)) return YW_ERR_DIVERGED;
  match_rigid_motion motion = match_find_rigid_motion(body->axes.rotation, body->torque, &totals);
  match_set_rigid_motion(&step, &motion);

  if (body->model->num_shares > 0) {
    double start = ctx->timing ? yw_seconds() : 0.0;
    if (!project_on_examples(body)) return YW_ERR_DIVERGED;  // w_k per group (7), then beta
    run_phase(ctx, &step, kernels->bend_targets);            // S~_r = sum w_k S_r^k
    if (ctx->timing && ctx->report) ctx->report->seconds_adapt += yw_seconds() - start;
  }
  run_phase(ctx, &step, kernels->pull_particles);  // goals (3), velocities (4), positions (5)
  body->axes = match_predict_axes(&body->axes, &motion, ctx->gravity, step.h);
  body->torque = total_torque(body);
  turn_over(body, particles);

  yw_aabb box = swept_box(body);
  pull_springs(particles, body->spare_pos, ctx, inner, &box);
  set_holds(particles, ctx, inner->end, &box);
  if (yw_obstacles_near(ctx, box)) {
    yw_meet_obstacles(ctx, particles, body->spare_pos, NULL, inner->begin, inner->h);
  }
  if (ctx->report) ctx->report->recovered += (int32_t)totals.recovered;
  return totals.recovered > 0 ? YW_WARN_NUMERICS : YW_OK;
}

static yw_status take_steps(match_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  match_response response = yw_match_response(body->model, &body->params, ctx->h, ctx->num_parts);
  int32_t contacts = 0;
  yw_status worst = YW_OK;
  for (int32_t i = 0; i < response.num_steps; ++i) {
    inner_step inner = {(float)i * response.h, response.h,
                        (float)(i + 1) / (float)response.num_steps};
    if (ctx->report) ctx->report->obstacle_contacts = 0;
    yw_status status = advance_inner(body, particles, ctx, &response, &inner);
    if (status < 0) return status;
    if (status > 0) worst = status;
    // A particle that touches in several inner steps is one contact.
    int32_t now = ctx->report ? ctx->report->obstacle_contacts : 0;
    if (now > contacts) contacts = now;
  }
  if (ctx->report) ctx->report->obstacle_contacts = contacts;
  return worst;
}

static yw_status match_advance(void* state, yw_particles* particles, const yw_step_ctx* world) {
  match_body* body = state;
  yw_status elsewhere;
  if (yw_match_offload(body, particles, world, &elsewhere)) return elsewhere;
  const yw_step_ctx* ctx = yw_near_enter(&body->near, particles, world);
  if (!ctx) return YW_ERR_MEMORY;
  body->axes.center = yw_sub(body->axes.center, body->near.origin);
  yw_status status = take_steps(body, particles, ctx);
  body->axes.center = yw_add(body->axes.center, body->near.origin);
  yw_near_leave(&body->near, particles);
  return status;
}

static int32_t match_inner_steps(const void* state, const yw_particles* particles,
                                 const yw_step_ctx* ctx) {
  (void)particles;
  const match_body* body = state;
  return yw_match_response(body->model, &body->params, ctx->h, 1).num_steps;
}

// The table ---------------------------------------------------------------------------------------

static uint64_t model_hash(const void* model) { return ((const match_model*)model)->hash; }

static int32_t model_num_particles(const void* model) {
  return ((const match_model*)model)->num_particles;
}

static yw_contact_geometry contact_geometry(const void* state) {
  return yw_solid_contact_geometry(&((const match_body*)state)->model->solid);
}

static const int32_t* particle_of_vertex(const void* state) {
  return ((const match_body*)state)->model->solid.particle_of_vertex;
}

// What tracks may change over time.
static const yw_parameter tracked[] = {{"alpha", offsetof(yw_match_params, alpha)},
                                       {"beta", offsetof(yw_match_params, beta)},
                                       {"damping", offsetof(yw_match_params, damping)},
                                       {"viscosity", offsetof(yw_match_params, viscosity)},
                                       {"stiffness", offsetof(yw_match_params, stiffness)}};
_Static_assert(sizeof(yw_match_params) <= YW_MAX_PARAMS_BYTES, "must fit");

static void params(const void* state, void* out) {
  yw_match_params now = yw_match_params_of(state);
  memcpy(out, &now, sizeof now);
}

// Regions that choose on their own are too many to be told.
static bool aim(void* state, int32_t group, int32_t example, float value) {
  match_body* body = state;
  const match_model* model = body->model;
  if (model->grouping == YW_GROUPS_PER_REGION || model->num_examples == 0) return false;
  return yw_aims_set(body->aims, model->num_groups, model->num_examples, group, example, value);
}

static yw_status set_params(void* state, const void* wanted) {
  return yw_match_set_params(state, wanted);
}

const yw_method yw_match_method = {
    .name = "match",
    .model_destroy = yw_match_model_destroy,
    .model_hash = model_hash,
    .model_num_particles = model_num_particles,
    .body_create = yw_match_body_create,
    .body_destroy = yw_match_body_destroy,
    .advance = match_advance,
    .invalidate = yw_match_invalidate,
    .contact_geometry = contact_geometry,
    .particle_of_vertex = particle_of_vertex,
    .save = yw_match_save,
    .load = yw_match_load,
    .inner_steps = match_inner_steps,
    .statistics = yw_match_statistics_list,
    .parameters = tracked,
    .num_parameters = sizeof tracked / sizeof *tracked,
    .params = params,
    .set_params = set_params,
    .aim = aim,
    .strain_energy = yw_match_strain_energy,
    .attach = yw_match_attach,
    .fetch = yw_match_fetch,
    .is_away = yw_match_is_away,
};
