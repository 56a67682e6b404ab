// SPDX-License-Identifier: MIT
// The step of frames bodies: solvers and obstacle contact.
#include "methods/frames/frames.h"

#include <math.h>
#include <string.h>

#include "methods/frames/body.h"
#include "methods/frames/friction.h"
#include "methods/frames/rigid.h"
#include "methods/frames/shown.h"
#include "methods/kit/contact.h"
#include "yawara/extend/timer.h"

// A step that stalls, or whose result is not finite, is retried in two halves, at most this many
// times in a row. A step that still stalls is then accepted, and counted.
#define MAX_HALVINGS 4
// Solves with other states of friction, at most.
#define MAX_GRIP_ROUNDS 4
// Tolerance of answers to impulses: contact iterates over them.
#define RESPOND_TOLERANCE 1e-2f

typedef struct chunk_job {
  const frames_phase* phase;
  void (*run)(const frames_phase*, int32_t);
} chunk_job;

static void run_chunk(void* context, int32_t chunk, int32_t worker) {
  const chunk_job* job = context;
  (void)worker;
  job->run(job->phase, chunk);
}

void yw_frames_run(const yw_step_ctx* ctx, int32_t chunks,
                   void (*run)(const frames_phase*, int32_t), const frames_phase* phase) {
  chunk_job job = {phase, run};
  yw_tasks_run_kind(ctx->tasks, (yw_task_kind)run, chunks, run_chunk, &job);
}

void yw_frames_end_part(frames_body* body, const yw_step_ctx* ctx, yw_frames_part part) {
  if (!ctx->timing) return;
  double now = yw_seconds();
  body->seconds[part] += now - body->mark;
  body->mark = now;
}

// The step ----------------------------------------------------------------------------------------

// The body with the particles that obstacles stopped; these stick or slide as Coulomb says.
static frames_outcome solve_gripped(frames_body* body, yw_particles* particles,
                                    const yw_step_ctx* ctx, frames_span span) {
  yw_frames_grip_hold(body, particles);
  frames_outcome outcome = yw_frames_implicit_again(body, particles, ctx, span);
  for (int round = 0; round < MAX_GRIP_ROUNDS && outcome == FRAMES_SOLVED; ++round) {
    if (!yw_frames_grip_check(body, particles, ctx)) break;
    outcome = yw_frames_implicit_again(body, particles, ctx, span);
  }
  yw_frames_grip_end(body, particles);
  return outcome;
}

// Particles stopped by an obstacle stay there while the rest of the body is solved once more.
// Otherwise every step would press one layer of particles into the floor by the body's weight.
static frames_outcome resolve_obstacles(frames_body* body, yw_particles* particles,
                                        const yw_step_ctx* ctx, yw_aabb box, frames_span span) {
  bool was_rough = body->in_contact;
  bool is_clear = !yw_obstacles_near(ctx, box);
  if (!is_clear) {
    yw_meet_obstacles(ctx, particles, body->last_pos, NULL, span.begin, span.h);
    yw_frames_grip_begin(body, particles, ctx, span);
  }
  body->in_contact = !is_clear && yw_frames_implicit_touches(body, particles);
  // The first solve of a body that was in contact is only a rough one.
  if (!body->in_contact && !was_rough) return FRAMES_SOLVED;
  frames_outcome outcome = solve_gripped(body, particles, ctx, span);
  if (outcome == FRAMES_LOST || is_clear) return outcome;
  int32_t contacts = ctx->report ? ctx->report->obstacle_contacts : 0;
  yw_meet_obstacles(ctx, particles, body->last_pos, NULL, span.begin, span.h);
  if (ctx->report && body->in_contact) ctx->report->obstacle_contacts = contacts;
  body->in_contact = yw_frames_implicit_touches(body, particles) || body->in_contact;
  return outcome;
}

static bool is_finite_motion(const frames_rigid* r) {
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    sum += fabs(r->center[i]) + fabs(r->velocity[i]) + fabs(r->angular[i]);
  }
  return isfinite(sum);
}

// One step over the span, including obstacles. Unless it is solved (or accepted), the particles do
// not change.
static frames_outcome try_span(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               const frames_rigid* before, frames_span span, bool accept) {
  bool was_in_contact = body->in_contact;
  int32_t contacts = ctx->report ? ctx->report->obstacle_contacts : 0;
  frames_outcome outcome = yw_frames_implicit_step(body, particles, ctx, before, span, accept),
                 answer = FRAMES_SOLVED;
  if (outcome == FRAMES_LOST || (outcome == FRAMES_STALLED && !accept)) return outcome;
  frames_rigid after = yw_frames_rigid_motion(body, particles, body->last_pos, ctx);
  if (is_finite_motion(&after)) {
    answer = resolve_obstacles(body, particles, ctx, after.box, span);
  } else {
    answer = FRAMES_LOST;
  }
  if (answer == FRAMES_SOLVED) return outcome;
  if (answer == FRAMES_STALLED && accept) return answer;
  size_t bytes = (size_t)particles->count * sizeof(yw_vec4);
  memcpy(particles->pos, body->last_pos, bytes);
  memcpy(particles->vel, body->last_vel, bytes);
  body->in_contact = was_in_contact;
  if (ctx->report) ctx->report->obstacle_contacts = contacts;
  return answer;
}

static yw_status advance_span(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                              frames_span span, int32_t depth) {
  frames_rigid before = yw_frames_rigid_motion(body, particles, NULL, ctx);
  if (!is_finite_motion(&before)) return YW_ERR_DIVERGED;
  bool shortest = depth == MAX_HALVINGS;
  frames_outcome outcome = try_span(body, particles, ctx, &before, span, shortest);
  if (outcome != FRAMES_SOLVED && ctx->report) ++ctx->report->stalled;
  if (outcome == FRAMES_LOST && shortest) return YW_ERR_DIVERGED;
  if (outcome != FRAMES_SOLVED && !shortest) {
    frames_span first = {span.begin, 0.5f * span.h}, second = {span.begin + 0.5f * span.h, first.h};
    bool in_contact = body->in_contact;
    yw_frames_invalidate(body, particles);
    body->in_contact = in_contact;
    yw_status status = advance_span(body, particles, ctx, first, depth + 1);
    return status < 0 ? status : advance_span(body, particles, ctx, second, depth + 1);
  }
  frames_rigid after = yw_frames_rigid_motion(body, particles, NULL, ctx);
  if (body->in_contact) {
    yw_frames_restore_spin(body, particles, ctx, &before, &after, span.h);
  } else {
    yw_frames_restore_momentum(body, particles, ctx, &before, &after, span.h);
  }
  yw_frames_implicit_remember(body, particles, ctx, span);
  return YW_OK;
}

// The second-order formula remembers positions of the last step, relative to its origin.
static void follow_origin(frames_body* body) {
  if (body->params.solver != YW_FRAMES_BDF2 || body->last_h == 0.0f) return;
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    body->last_pos[p] = yw_v4(yw_add(yw_xyz(body->last_pos[p]), body->near.shift));
  }
}

static yw_status frames_advance(void* state, yw_particles* particles, const yw_step_ctx* world) {
  frames_body* body = state;
  const yw_step_ctx* ctx = yw_near_enter(&body->near, particles, world);
  if (!ctx) return YW_ERR_MEMORY;
  follow_origin(body);
  body->fell_short = false;
  body->pressed = memcmp(body->left_vel, particles->vel,
                         (size_t)particles->count * sizeof *particles->vel) != 0;
  int32_t before = ctx->report ? ctx->report->recovered + ctx->report->stalled : 0;
  memset(body->seconds, 0, sizeof body->seconds);
  if (ctx->timing) body->mark = yw_seconds();
  bool by_positions = body->params.solver >= YW_FRAMES_EXTENDED;
  yw_status status = by_positions
                         ? yw_frames_position_advance(body, particles, ctx)
                         : advance_span(body, particles, ctx, (frames_span){0.0f, ctx->h}, 0);
  yw_near_leave(&body->near, particles);
  if (body->fell_short) {
    body->short_for = FRAMES_SHORT_STEPS;
  } else if (body->short_for > 0) {
    --body->short_for;
  }
  yw_frames_end_part(body, ctx, YW_FRAMES_OTHER);
  if (status < 0) return status;
  int32_t after = ctx->report ? ctx->report->recovered + ctx->report->stalled : 0;
  return after > before ? YW_WARN_NUMERICS : YW_OK;
}

static void frames_placed(void* state, const yw_particles* particles) {
  yw_near_forget(&((frames_body*)state)->near);
  yw_frames_invalidate(state, particles);
}

static yw_status frames_respond(void* state, const yw_particles* particles, const yw_step_ctx* ctx,
                                const yw_vec4* impulses, yw_vec4* change) {
  return yw_frames_respond(state, particles, ctx, impulses, RESPOND_TOLERANCE, change);
}

// The table ---------------------------------------------------------------------------------------

static uint64_t model_hash(const void* model) { return ((const frames_model*)model)->hash; }

static int32_t model_num_particles(const void* model) {
  return ((const frames_model*)model)->num_particles;
}

static yw_contact_geometry contact_geometry(const void* state) {
  return yw_solid_contact_geometry(&((const frames_body*)state)->model->solid);
}

static const int32_t* particle_of_vertex(const void* state) {
  return ((const frames_body*)state)->model->solid.particle_of_vertex;
}

// What tracks may change over time.
static const yw_parameter tracked[] = {
    {"damping", offsetof(yw_frames_params, damping)},
    {"beta", offsetof(yw_frames_params, beta)},
    {"stiffness", offsetof(yw_frames_params, stiffness)},
    {"stiffness_scale", offsetof(yw_frames_params, stiffness_scale)}};
_Static_assert(sizeof(yw_frames_params) <= YW_MAX_PARAMS_BYTES, "must fit");

static void params(const void* state, void* out) {
  yw_frames_params now = yw_frames_params_of(state);
  memcpy(out, &now, sizeof now);
}

static bool aim(void* state, int32_t group, int32_t example, float value) {
  frames_body* body = state;
  const frames_model* model = body->model;
  // Regions that choose on their own are too many to be told.
  if (model->grouping == YW_GROUPS_PER_REGION || model->num_examples == 0) return false;
  return yw_aims_set(body->aims, model->num_groups, model->num_examples, group, example, value);
}

static yw_status set_params(void* state, const void* wanted) {
  return yw_frames_set_params(state, wanted);
}

const yw_method yw_frames_method = {
    .name = "frames",
    .model_destroy = yw_frames_model_destroy,
    .model_hash = model_hash,
    .model_num_particles = model_num_particles,
    .body_create = yw_frames_body_create,
    .body_destroy = yw_frames_body_destroy,
    .advance = frames_advance,
    .respond = frames_respond,
    .invalidate = frames_placed,
    .push = yw_frames_push,
    .contact_geometry = contact_geometry,
    .particle_of_vertex = particle_of_vertex,
    .save = yw_frames_save,
    .load = yw_frames_load,
    .statistics = yw_frames_statistics_list,
    .energy = yw_frames_body_energy,
    .num_fields = yw_frames_num_fields,
    .field_info = yw_frames_field_info,
    .field_meaning = yw_frames_field_meaning,
    .field_values = yw_frames_field_values,
    .parameters = tracked,
    .num_parameters = sizeof tracked / sizeof *tracked,
    .params = params,
    .set_params = set_params,
    .aim = aim,
    .strain_energy = yw_frames_strain_energy,
    .axes = yw_frames_axes,
};
