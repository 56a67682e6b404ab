// SPDX-License-Identifier: MIT
// Elastoplastic bodies of master and slave particles: the step. Saida, Fujisawa, Mikawa 2017;
// numbers in brackets are their equations. See docs/methods/plastic.md for the differences.
//
// Masters carry matter. Slaves are points between and around them where forces are evaluated, in
// place of the grid of a material point method.
#include "methods/plastic/plastic.h"

#include <math.h>
#include <string.h>

#include "methods/kit/pins.h"
#include "methods/plastic/cladding.h"
#include "methods/plastic/offload.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "methods/plastic/slave_steps.h"
#include "yawara/extend/timer.h"

// Automatic time step: no master moves farther than this fraction of d relative to the body, ...
#define MOST_WAY 0.4f
// ... or of d in absolute terms (obstacles), and no wave passes more than MOST_WAVES masters.
#define MOST_FALL 1.0f
#define MOST_WAVES 5.0f
#define MAX_INNER_STEPS 10000
// A body whose masters move apart faster than sound, and would take more steps than this for it,
// each several hundred times d, has diverged.
#define MAX_STEPS_APART 1000
// A step whose solve did not converge is repeated at half length, at most this often in a row.
#define MAX_HALVINGS 6
// Tolerance of answers to impulses: contact iterates over them.
#define RESPOND_TOLERANCE 1e-2f

typedef struct chunk_job {
  plastic_body* body;
  yw_particles* particles;
  plastic_chunk_fn run;
  const int32_t* list;  // of chunks; NULL: all
} chunk_job;

static void run_chunk(void* context, int32_t chunk, int32_t worker) {
  (void)worker;
  const chunk_job* job = context;
  job->run(job->body, job->particles, chunk);
}

void yw_plastic_run(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                    int32_t chunks, plastic_chunk_fn run) {
  chunk_job job = {body, particles, run, NULL};
  yw_tasks_run_kind(ctx->tasks, (yw_task_kind)run, chunks, run_chunk, &job);
}

static void run_listed_chunk(void* context, int32_t i, int32_t worker) {
  (void)worker;
  const chunk_job* job = context;
  job->run(job->body, job->particles, job->list[i]);
}

static void run_listed(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                       const int32_t* list, int32_t count, plastic_chunk_fn run) {
  chunk_job job = {body, particles, run, list};
  yw_tasks_run_kind(ctx->tasks, (yw_task_kind)run, count, run_listed_chunk, &job);
}

void yw_plastic_run_masters(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                            plastic_chunk_fn run) {
  run_listed(body, particles, ctx, body->sleep.chunks, body->sleep.num_chunks, run);
}

void yw_plastic_run_slaves(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                           plastic_chunk_fn run) {
  yw_plastic_run(body, particles, ctx, body->num_slave_blocks, run);
}

void yw_plastic_scatter(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                        plastic_chunk_fn run, int32_t halves) {
  const plastic_ranks* ranks = body->ranks;
  if (!ranks) {
    yw_plastic_run_masters(body, particles, ctx, run);
    return;
  }
  // Parts that others need travel while the rest is made. Bodies on several ranks do not sleep.
  const int32_t* list = ranks->chunks.data;
  int32_t border = ranks->num_border, all = body->sleep.num_chunks;
  run_listed(body, particles, ctx, list, border, run);
  yw_plastic_begin_share(body, 0);
  run_listed(body, particles, ctx, list + border, all - border, run);
  yw_plastic_end_share(body);
  if (halves < 2) return;
  yw_plastic_begin_share(body, 1);
  yw_plastic_end_share(body);
}

// Phases ------------------------------------------------------------------------------------------

typedef struct inner_step {
  plastic_body* body;
  yw_particles* particles;
  const yw_step_ctx* ctx;
  const plastic_kernels* kernels;
  float begin;   // s, from the start of the substep
  float apart;   // s, longest step for masters that move apart faster than sound
  bool is_away;  // on a device
  double clock;
} inner_step;

static void run_masters(const inner_step* s, plastic_chunk_fn run) {
  yw_plastic_run_masters(s->body, s->particles, s->ctx, run);
}

static void run_slaves(const inner_step* s, plastic_chunk_fn run) {
  yw_plastic_run_slaves(s->body, s->particles, s->ctx, run);
}

static void scatter(const inner_step* s, plastic_chunk_fn run) {
  yw_plastic_scatter(s->body, s->particles, s->ctx, run, 1);
}

static void lap(inner_step* s, plastic_phase_time phase) {
  if (!s->ctx->timing) return;
  double now = yw_seconds();
  s->body->seconds[phase] += now - s->clock;
  s->clock = now;
}

// Pinned masters move as their pins do.
static void hold_masters(const inner_step* s) {
  for (int32_t i = 0; i < s->ctx->num_holds; ++i) {
    const yw_hold* hold = &s->ctx->holds[i];
    int32_t m = hold->particle - s->body->first_master;
    if (m < 0 || m >= s->body->num_masters) continue;
    yw_vec3 v = yw_hold_velocity(hold, s->ctx->h);
    s->particles->vel[m] = yw_v4(v);
    for (int k = 0; k < 9; ++k) s->body->state[m / YW_LANES].c[k][m % YW_LANES] = 0.0f;
  }
}

// Springs as forces, implicit in their own master.
static void pull_masters(const inner_step* s) {
  plastic_body* body = s->body;
  const yw_step_ctx* ctx = s->ctx;
  float dt = body->dt, t = (s->begin + dt) / ctx->h;
  if (ctx->num_springs == 0 && !body->is_pulled && !body->is_borne) return;
  body->is_pulled = ctx->num_springs > 0 || body->is_borne;
  float share = body->is_borne ? 1.0f / ctx->h : 0.0f;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    body->pull[m] = yw_v4(yw_scale(yw_xyz(body->borne[m]), share));
  }
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* spring = &ctx->springs[i];
    int32_t m = spring->particle - body->first_master;
    if (m < 0 || m >= body->num_masters) continue;
    yw_vec3 goal = yw_spring_at(spring, t);
    yw_vec3 speed = yw_spring_velocity(spring, ctx->h);
    yw_vec3 x = yw_mad(yw_xyz(s->particles->pos[m]), dt, yw_xyz(s->particles->vel[m]));
    yw_vec3 force = yw_scale(yw_sub(goal, x), spring->stiffness);
    force = yw_mad(force, spring->damping, yw_sub(speed, yw_xyz(s->particles->vel[m])));
    float slow = 1.0f + (spring->damping + dt * spring->stiffness) * dt / s->particles->mass[m];
    body->pull[m] = yw_v4(yw_mad(yw_xyz(body->pull[m]), 1.0f / slow, force));
  }
}

// Without slaves: everything is evaluated at the masters, which keep their own velocities.
static void to_twins(const inner_step* s) {
  for (int32_t m = 0; m < s->body->num_masters; ++m) {
    yw_vec4* v = &s->body->slave_vel[s->body->twin[m]];
    *v = s->particles->vel[m];
    v->w = s->particles->mass[m];
  }
}

static void from_twins(const inner_step* s) {
  for (int32_t m = 0; m < s->body->num_masters; ++m) {
    s->particles->vel[m] = s->body->solved[s->body->twin[m]];
    s->particles->vel[m].w = 0.0f;
  }
}

static void meet_again(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = body->slave_block[chunk], end = body->slave_block[chunk + 1];
  for (int32_t i = first; i < end; ++i) {
    plastic_meet(body, i, &body->solved[i]);
    body->solved[i].w = 1.0f;
  }
}

static void move_masters(plastic_body* body, yw_particles* particles, int32_t chunk) {
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  if (end > body->num_masters) end = body->num_masters;
  for (int32_t m = first; m < end; ++m) {
    yw_vec4 v = particles->vel[m], *x = &particles->pos[m];
    body->last_pos[m] = *x;
    *x = (yw_vec4){x->x + body->dt * v.x, x->y + body->dt * v.y, x->z + body->dt * v.z, 0.0f};
  }
}

// Collides masters [first, end) of awake chunks with obstacles; sleepers among them stay.
static void collide_range(const inner_step* s, int32_t first, int32_t end) {
  plastic_body* body = s->body;
  if (end > body->num_masters) end = body->num_masters;
  yw_particles some = *s->particles;
  some.count = end - first;
  some.pos += first, some.vel += first, some.mass += first, some.inv_mass += first;
  s->ctx->collide(s->ctx, &some, body->last_pos + first, body->reach + first, s->begin, body->dt);
  for (int32_t m = first; body->sleep.num_mixed > 0 && m < end; ++m) {
    if (body->sleep.island[m] < 0) continue;
    s->particles->pos[m] = body->last_pos[m];
    s->particles->vel[m] = (yw_vec4){0};
  }
}

static void collide_masters(const inner_step* s) {
  plastic_body* body = s->body;
  float t = (s->begin + body->dt) / s->ctx->h;
  for (int32_t i = 0; i < s->ctx->num_holds; ++i) {
    const yw_hold* hold = &s->ctx->holds[i];
    int32_t m = hold->particle - body->first_master;
    if (m >= 0 && m < body->num_masters) s->particles->pos[m] = yw_v4(yw_hold_at(hold, t));
  }
  if (!s->ctx->collide) return;
  int32_t before = s->ctx->report ? s->ctx->report->obstacle_contacts : 0;
  const plastic_sleep* sleep = &body->sleep;
  for (int32_t i = 0, next; i < sleep->num_chunks; i = next) {
    for (next = i + 1; next < sleep->num_chunks; ++next) {
      if (sleep->chunks[next] != sleep->chunks[next - 1] + 1) break;
    }
    collide_range(s, sleep->chunks[i] * PLASTIC_CHUNK,
                  (sleep->chunks[next - 1] + 1) * PLASTIC_CHUNK);
  }
  // Only contacts of the last inner step count.
  if (s->ctx->report) s->ctx->report->obstacle_contacts -= before;
}

static float largest_gradient(const inner_step* s) {
  float most = 0.0f;
  for (int32_t c = 0; c < s->body->sleep.num_chunks; ++c) {
    float g = s->body->sums[s->body->sleep.chunks[c]].gradient2;
    if (!(g <= most)) most = g;
  }
  return yw_plastic_most(s->body, most);
}

typedef enum step_end {
  STEP_DONE,
  STEP_STALLED,
  STEP_LOST,
  STEP_NO_MEMORY,
  STEP_NO_DEVICE
} step_end;

// One step of body->dt. No persistent state changes before the solve has converged.
static step_end step_once(inner_step* s, bool accept) {
  plastic_body* body = s->body;
  s->clock = s->ctx->timing ? yw_seconds() : 0.0;
  if (!yw_plastic_find_neighbours(body, s->particles, s->ctx)) return STEP_NO_MEMORY;
  lap(s, PLASTIC_NEIGHBOURS);
  yw_plastic_weigh(body, s->particles, s->ctx);
  lap(s, PLASTIC_WEIGHTS);
  body->fall = yw_scale(s->ctx->gravity, body->dt);
  hold_masters(s);
  pull_masters(s);
  yw_plastic_add_bending(body, s->particles);
  scatter(s, s->kernels->spread);  // m_s, v_s (1), (2)
  run_slaves(s, s->kernels->to_slaves);
  if (body->twin) to_twins(s);
  scatter(s, s->kernels->stress);  // f_s (11)
  run_slaves(s, s->kernels->forces);
  lap(s, PLASTIC_MATERIAL);
  yw_plastic_find_contacts(body, s->particles, s->ctx, s->begin);
  lap(s, PLASTIC_CONTACT);
  // The rows hold mean stiffnesses besides forces; the solve starts from them.
  bool converged = yw_plastic_solve(body, s->particles, s->ctx);  // (15)
  lap(s, PLASTIC_SOLVE);
  if (!converged && !accept) return STEP_STALLED;
  body->grip = body->next_grip;
  if (body->model->scheme.collide_after) {
    yw_plastic_find_late_contacts(body, s->ctx, s->begin);
  }
  run_slaves(s, meet_again);
  run_masters(s, s->kernels->flow);  // (6), (18)-(21), and v, C of masters
  if (body->twin) from_twins(s);
  yw_plastic_restore_sleepers(body, s->particles);
  hold_masters(s);
  float gradient2 = largest_gradient(s);
  if (!isfinite(gradient2)) return STEP_LOST;
  lap(s, PLASTIC_MATERIAL);
  run_masters(s, move_masters);  // (10)
  bool is_kept = yw_plastic_keep_shape(body, s->particles, s->ctx);
  collide_masters(s);
  yw_plastic_soften_openings(body, s->particles);
  lap(s, PLASTIC_CONTACT);
  if (body->model->without_slaves) return STEP_DONE;
  if (is_kept) yw_plastic_show_motion(body, s->particles);
  yw_plastic_move_slaves(body, s->particles, s->ctx);  // (22)
  if (is_kept) yw_plastic_hide_motion(body, s->particles);
  lap(s, PLASTIC_MOTION);
  bool added = yw_plastic_add_slaves(body, s->particles);
  lap(s, PLASTIC_SLAVES);
  return added ? STEP_DONE : STEP_NO_MEMORY;
}

// The same on a device.
static step_end step_away(inner_step* s, bool accept) {
  plastic_body* body = s->body;
  bool converged = false;
  body->fall = yw_scale(s->ctx->gravity, body->dt);
  yw_status status = yw_plastic_step_away(body, s->particles, s->ctx, s->begin, accept, &converged);
  if (status == YW_ERR_MEMORY) return STEP_NO_MEMORY;
  if (status == YW_ERR_DIVERGED) return STEP_LOST;
  if (status < 0) return STEP_NO_DEVICE;
  return converged ? STEP_DONE : STEP_STALLED;
}

// Time --------------------------------------------------------------------------------------------

// Of what is awake.
static yw_vec3 mean_velocity(plastic_body* body, const yw_particles* particles) {
  for (int32_t first = 0; first < body->num_masters; first += PLASTIC_CHUNK) {
    double *sum = body->sums[first / PLASTIC_CHUNK].value, p[4] = {0};
    int32_t end = first + PLASTIC_CHUNK;
    for (int32_t m = first; m < end && m < body->num_masters; ++m) {
      if (body->sleep.island[m] >= 0) continue;
      double w = (double)particles->mass[m];
      yw_vec4 v = particles->vel[m];
      p[0] += w * (double)v.x, p[1] += w * (double)v.y, p[2] += w * (double)v.z;
      p[3] += w;
    }
    memcpy(sum, p, sizeof p);
  }
  double p[4];
  yw_plastic_sum_masters(body, 4, p);
  return yw_v3((float)(p[0] / p[3]), (float)(p[1] / p[3]), (float)(p[2] / p[3]));
}

// Squares of the largest speed, and of the largest one relative to the mean, of what is awake.
static yw_status measure_speeds(const inner_step* s, float* fastest2, float* spread2) {
  plastic_body* body = s->body;
  *fastest2 = *spread2 = 0.0f;
  if (s->is_away) return yw_plastic_measure_away(body, fastest2, spread2);
  yw_vec3 whole = mean_velocity(body, s->particles);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    if (body->sleep.island[m] >= 0) continue;
    yw_vec3 v = yw_xyz(s->particles->vel[m]);
    float fast2 = yw_length2(v), off2 = yw_length2(yw_sub(v, whole));
    if (fast2 > *fastest2) *fastest2 = fast2;
    if (off2 > *spread2) *spread2 = off2;
  }
  return YW_OK;
}

// The longest step allowed; see docs/methods/plastic.md for the rule.
static yw_status longest_step(inner_step* s, float* out) {
  plastic_body* body = s->body;
  *out = body->params.time_step * 1.0001f;
  s->apart = INFINITY;
  if (body->params.time_step > 0.0f) return YW_OK;
  float fastest2, spread2;
  yw_status status = measure_speeds(s, &fastest2, &spread2);
  fastest2 = yw_plastic_most(body, fastest2);
  spread2 = yw_plastic_most(body, spread2);
  float wave = body->model->wave_speed * sqrtf(body->params.stiffness_scale);
  float d = body->model->spacing, longest = MOST_WAVES * d / wave;
  float by_spread = MOST_WAY * d / sqrtf(spread2 + 1e-20f);
  float by_fall = MOST_FALL * d / sqrtf(fastest2 + 1e-20f);
  if (spread2 > wave * wave) s->apart = by_spread;
  if (by_spread < longest) longest = by_spread;
  *out = by_fall < longest ? by_fall : longest;
  return status;
}

static void report_sleepers(const plastic_body* body, const yw_step_ctx* ctx) {
  if (!ctx->report) return;
  ctx->report->asleep = body->sleep.num_asleep;
  ctx->report->obstacle_contacts += yw_plastic_sleeping_contacts(body);
}

// Masters touch what slaves touch. Those of all ranks.
static void report_contacts(const plastic_body* body, const yw_step_ctx* ctx) {
  int64_t contacts[2] = {ctx->report ? ctx->report->obstacle_contacts : 0, body->num_touching};
  if (body->ranks) yw_ranks_sum(body->ranks->comm, contacts, 2);
  int64_t most = contacts[0] > contacts[1] ? contacts[0] : contacts[1];
  if (ctx->report) ctx->report->obstacle_contacts = (int32_t)most;
}

// Takes inner steps until the substep is over. *troubles: solves that did not converge.
static yw_status take_steps(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                            bool is_away, int32_t* troubles) {
  inner_step s = {.body = body,
                  .particles = particles,
                  .ctx = ctx,
                  .is_away = is_away,
                  .kernels = YW_KERNEL_PICK(yw_plastic_kernels, ctx->simd)};
  float left = ctx->h;
  int32_t halvings = 0;
  float limit = INFINITY;
  while (left > 1e-6f * ctx->h) {
    float longest;
    yw_status measured = longest_step(&s, &longest);
    if (measured < 0) return measured;
    if (limit < longest) longest = limit;
    // A substep of just the wanted length is one step, despite rounding.
    float steps = ceilf(left / longest - 1e-4f);
    if (!(steps >= 1.0f)) steps = 1.0f;
    if (steps > (float)MAX_INNER_STEPS || left > (float)MAX_STEPS_APART * s.apart) {
      return YW_ERR_DIVERGED;
    }
    body->dt = left / steps;
    s.begin = ctx->h - left;
    // As printed, the result of any solve is accepted.
    bool accept = halvings == MAX_HALVINGS || body->model->paper;
    step_end end = is_away ? step_away(&s, accept) : step_once(&s, accept);
    if (end == STEP_NO_DEVICE) return YW_ERR_DEVICE;
    if (end == STEP_NO_MEMORY) return YW_ERR_MEMORY;
    if (end == STEP_LOST) return YW_ERR_DIVERGED;
    if (end == STEP_STALLED) {
      ++*troubles;
      ++halvings;
      limit = 0.5f * body->dt;
      continue;
    }
    halvings = 0;
    limit = 2.0f * body->dt;
    left -= body->dt;
    ++body->inner_steps;
  }
  return YW_OK;
}

// What others did to the body since its last substep.
static yw_status take_changes(plastic_body* body, yw_particles* particles, const yw_particles* here,
                              const yw_step_ctx* ctx) {
  bool by_hand = body->is_moved;
  size_t bytes = (size_t)body->num_masters * sizeof *here->pos;
  bool pushed = memcmp(body->last_pos, here->pos, bytes) != 0 ||
                memcmp(body->last_vel, here->vel, bytes) != 0;
  body->is_pushed = !by_hand && yw_plastic_most(body, pushed ? 1.0f : 0.0f) > 0.0f;
  if (!yw_plastic_follow(body, particles, ctx)) return YW_ERR_DIVERGED;
  body->is_borne = false;
  if (!by_hand && !body->drag && !body->twin) yw_plastic_take_support(body, here, ctx);
  if (!by_hand) yw_plastic_note_spin(body, here, ctx);
  return YW_OK;
}

// The end of a substep, here.
static yw_status end_here(plastic_body* body, yw_particles* here, const yw_step_ctx* ctx) {
  memcpy(body->last_pos, here->pos, (size_t)body->num_masters * sizeof *here->pos);
  yw_plastic_give_back(body, here, ctx);
  yw_plastic_restore_spin(body, here);
  if (!yw_plastic_rest(body, here, ctx)) return YW_ERR_MEMORY;
  memcpy(body->last_vel, here->vel, (size_t)body->num_masters * sizeof *here->vel);
  return YW_OK;
}

// The same after a substep on a device. Impulses of other bodies are given back here.
static yw_status end_away(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  bool looked_at = body->is_borne || body->is_pushed || body->keeps_spin;
  if (!looked_at) return yw_plastic_rest_away(body, particles, ctx);
  yw_status status = yw_plastic_fetch(body, particles, ctx->report);
  if (status >= 0) status = yw_plastic_come_home(body, particles);
  return status < 0 ? status : end_here(body, particles, ctx);
}

// The device gets the body, if others may have changed it since.
static yw_status leave(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  if (!body->was_pushed && yw_plastic_is_known(body, particles, ctx)) return YW_OK;
  const inner_step s = {.body = body, .particles = particles, .ctx = ctx};
  yw_status status = yw_plastic_come_home(body, particles);
  if (status < 0) return status;
  if (!yw_plastic_wake_touched(body, particles, ctx)) return YW_ERR_MEMORY;
  status = take_changes(body, particles, particles, ctx);
  if (status < 0) return status;
  pull_masters(&s);
  return yw_plastic_leave(body, particles);
}

static yw_status plastic_advance_here(plastic_body* body, yw_particles* particles,
                                      const yw_step_ctx* ctx) {
  body->inner_steps = 0;
  body->keeps_spin = body->is_pushed = false;
  if (body->num_all == 0) return YW_OK;
  bool is_away = yw_plastic_goes_away(body, ctx);
  yw_status status = is_away ? leave(body, particles, ctx) : yw_plastic_come_home(body, particles);
  if (status < 0) return status;
  yw_particles here = yw_plastic_masters_here(body, particles);
  if (!is_away) {
    if (!yw_plastic_wake_touched(body, &here, ctx)) return YW_ERR_MEMORY;
    if (body->sleep.num_asleep == body->num_all && !body->is_moved) {
      report_sleepers(body, ctx);
      return YW_OK;
    }
    status = take_changes(body, particles, &here, ctx);
    if (status < 0) return status;
  }
  int32_t troubles = 0;
  status = take_steps(body, &here, ctx, is_away, &troubles);
  if (is_away && status == YW_ERR_DIVERGED) yw_plastic_come_home(body, particles);
  if (status < 0) return status;
  if (ctx->report) ctx->report->stalled += troubles;
  status = is_away ? end_away(body, &here, ctx) : end_here(body, &here, ctx);
  if (status < 0) return status;
  if (!is_away) report_contacts(body, ctx);
  report_sleepers(body, ctx);
  return troubles > 0 ? YW_WARN_NUMERICS : YW_OK;
}

// Ranks that share the body end the substep together: whoever cannot go on ends all of them.
static yw_status plastic_advance(void* state, yw_particles* particles, const yw_step_ctx* ctx) {
  plastic_body* body = state;
  yw_status status;
  if (!body->ranks) {
    status = plastic_advance_here(body, particles, ctx);
    if (status >= 0) yw_plastic_look_at_skin(body, particles);
    return status;
  }
  yw_plastic_balance(body);
  yw_plastic_begin_work(body);
  status = plastic_advance_here(body, particles, ctx);
  yw_plastic_end_work(body);
  const yw_ranks* comm = body->ranks->comm;
  if (status == YW_ERR_MEMORY) comm->abandon(comm->context, "not enough memory");
  yw_plastic_gather_masters(body, particles);
  yw_plastic_share_parted(body);
  if (status >= 0) yw_plastic_look_at_skin(body, particles);
  return status;
}

// Starts parts that are due; their masters come after those already there.
static yw_status plastic_settle(void* state, yw_particles* particles, const yw_step_ctx* ctx) {
  plastic_body* body = state;
  const plastic_model* model = body->model;
  double time = ctx->time + (double)ctx->h;
  while (body->num_started < model->num_parts &&
         yw_plastic_has_started(&model->parts[body->num_started], time)) {
    yw_status home = yw_plastic_come_home(body, particles);
    if (home < 0) return home;
    if (!yw_plastic_start_part(body, particles, &model->parts[body->num_started])) {
      return YW_ERR_MEMORY;
    }
  }
  return YW_OK;
}

static yw_status plastic_respond(void* state, const yw_particles* particles, const yw_step_ctx* ctx,
                                 const yw_vec4* impulses, yw_vec4* change) {
  return yw_plastic_respond(state, particles, ctx, impulses, RESPOND_TOLERANCE, change);
}

// The table ---------------------------------------------------------------------------------------

static uint64_t model_hash(const void* model) { return ((const plastic_model*)model)->hash; }

static const yw_vec3* model_points(const void* model) {
  return ((const plastic_model*)model)->masters;
}

static int32_t model_num_particles(const void* model) {
  const plastic_model* m = model;
  int32_t count = 0;
  for (int32_t i = 0; i < m->num_parts && yw_plastic_has_started(&m->parts[i], 0.0); ++i) {
    count += m->parts[i].count;
  }
  return count;
}

static yw_contact_geometry contact_geometry(const void* state) {
  return (yw_contact_geometry){.radius = ((const plastic_body*)state)->radius};
}

static uint64_t topology_version(const void* state) {
  return ((const plastic_body*)state)->version;
}

static bool may_sleep(const void* state) {
  const plastic_body* body = state;
  return body->sleep.is_on;
}

static yw_status wake(void* state) { return yw_plastic_wake_all(state) ? YW_OK : YW_ERR_MEMORY; }

// What tracks may change over time.
static const yw_parameter tracked[] = {
    {"stiffness_scale", offsetof(yw_plastic_params, stiffness_scale)}};
_Static_assert(sizeof(yw_plastic_params) <= YW_MAX_PARAMS_BYTES, "must fit");

static void params(const void* state, void* out) {
  yw_plastic_params now = yw_plastic_params_of(state);
  memcpy(out, &now, sizeof now);
}

static yw_status set_params(void* state, const void* wanted) {
  return yw_plastic_set_params(state, wanted);
}

const yw_method yw_plastic_method = {
    .name = "plastic",
    .model_destroy = yw_plastic_model_destroy,
    .model_hash = model_hash,
    .model_num_particles = model_num_particles,
    .model_points = model_points,
    .body_create = yw_plastic_body_create,
    .body_create_shared = yw_plastic_body_create_shared,
    .body_destroy = yw_plastic_body_destroy,
    .advance = plastic_advance,
    .respond = plastic_respond,
    .settle = plastic_settle,
    .invalidate = yw_plastic_invalidate,
    .contact_geometry = contact_geometry,
    .model_surface = yw_plastic_model_surface,
    .surface_positions = yw_plastic_surface_positions,
    .surface_parted = yw_plastic_surface_parted,
    .surface_range = yw_plastic_surface_range,
    .parted_range = yw_plastic_parted_range,
    .surface_particle = yw_plastic_surface_particle,
    .topology_version = topology_version,
    .save = yw_plastic_save,
    .load = yw_plastic_load,
    .statistics = yw_plastic_statistics_list,
    .energy = yw_plastic_energy,
    .num_fields = yw_plastic_num_fields,
    .field_info = yw_plastic_field_info,
    .field_meaning = yw_plastic_field_meaning,
    .field_values = yw_plastic_field_values,
    .parameters = tracked,
    .num_parameters = sizeof tracked / sizeof *tracked,
    .params = params,
    .set_params = set_params,
    .wake = wake,
    .may_sleep = may_sleep,
    .attach = yw_plastic_attach,
    .is_away = yw_plastic_is_away,
    .fetch = yw_plastic_fetch,
    .contact_skin = yw_plastic_contact_skin,
    .own_spin = yw_plastic_own_spin,
};
