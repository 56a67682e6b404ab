// SPDX-License-Identifier: MIT
// Projected Gauss-Seidel on impulses at contact points.
//
// A contact point is a weighted sum of particles, so that its inverse mass sum(w^2 / m) is the same
// in all directions: an impulse J changes its velocity by J times that, and normal and friction
// parts are solved in one visit. Velocities are solved without moving anything, which conserves
// both momenta to rounding. Positions then follow the change of velocities, and what is left of the
// overlap that this substep added is pushed out along the normals.
//
// Particles of a stiff body do not move alone: what pushes its surface moves the whole body. Bodies
// that solve implicit steps answer impulses with that same step (`respond` of a method), so that
// contact acts as if it had been part of the solve: sweeps propose impulses, the bodies answer,
// sweeps correct. Between answers, a body's particles count as heavier by the factor that the last
// answers showed.
#include "contact/surfaces/solve.h"

#include "contact/surfaces/rigid.h"

// Overlap not caused by this substep is pushed out by this share per substep, at most this fast
// (m/s).
#define PUSH_OUT_SHARE 0.2f
#define PUSH_OUT_SPEED 0.5f
// An approach slower than this many steps of gravity is resting contact, not an impact.
#define REST_STEPS 2.0f
// Rounds of sweeps and answers, per iteration that the world asks for. Answers are dear: there are
// twice the sweeps in a round with them.
#define ROUNDS_PER_ITERATION 3
// Where bodies do not answer, only every so many rounds visit the contacts at which nothing
// presses.
#define ROUNDS_PER_FULL 4
#define SWEEPS_WITH_ANSWERS 2
// Rounds end when the impulses change by less than this share.
#define SETTLED 2e-3
// Answers that were seen may be exceeded by this factor before sweeps overshoot.
#define YIELD_SAFETY 1.1f
#define LEAST_YIELD 1e-3f
#define MOST_SHOWN 1.1
// Batches per task, and groups of rows. Fewer batches or groups than this are not worth waking
// threads for.
#define BATCHES_PER_TASK 8
#define GROUPS_PER_TASK 8
#define MIN_PARALLEL 32
#define MIN_PARALLEL_GROUPS 32
// Colors of rows that are added at a time, at most.
#define ADDED_COLORS 64

// Weighted sum of one side's particles.
static inline yw_vec3 side_sum(const yw_contact* c, int side, const yw_vec4* values) {
  yw_vec3 sum = yw_scale(yw_xyz(values[c->particles[side][0]]), c->weights[side][0]);
  for (int k = 1; k < c->count[side]; ++k) {
    sum = yw_mad(sum, c->weights[side][k], yw_xyz(values[c->particles[side][k]]));
  }
  return sum;
}

static inline void push_side(const yw_contact* c, int side, const yw_particles* particles,
                             yw_vec4* values, yw_vec3 impulse) {
  for (int k = 0; k < c->count[side]; ++k) {
    int32_t i = c->particles[side][k];
    if (!(particles->inv_mass[i] > 0.0f)) continue;
    float share = c->weights[side][k] * particles->inv_mass[i];
    values[i].x += share * impulse.x;
    values[i].y += share * impulse.y;
    values[i].z += share * impulse.z;
  }
}

yw_vec3 yw_contact_relative(const yw_contact_problem* problem, const yw_contact* c, bool velocity) {
  const yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_vec3 front = side_sum(c, 0, velocity ? a->vel : a->pos);
  if (c->count[1] == 0) return velocity ? yw_sub(front, yw_xyz(c->drift)) : front;
  const yw_particles* b = problem->bodies[c->body[1]].particles;
  return yw_sub(front, side_sum(c, 1, velocity ? b->vel : b->pos));
}

// Preparation -----------------------------------------------------------------------------------

static void prepare(const yw_contact_problem* problem, yw_contact* c) {
  const yw_contact_body *a = &problem->bodies[c->body[0]], *b = &problem->bodies[c->body[1]];
  bool obstacle = c->count[1] == 0;
  c->friction_limit = sqrtf(a->friction * (obstacle ? c->obstacle_friction : b->friction));
  c->impulse = c->push = c->push_impulse = 0.0f;
  c->color = -1;
  c->friction = yw_v3(0, 0, 0);
  c->arm = yw_contact_relative(problem, c, false);
  c->offset = obstacle ? c->obstacle_gap - yw_dot(c->arm, c->normal) : -c->distance;
  if (obstacle) c->arm = yw_v3(0, 0, 0);
  float approach = -yw_dot(yw_contact_relative(problem, c, true), c->normal);
  float gap = c->gap_before - approach * problem->h;
  c->approach = approach;
  c->bounced = 0.0f;

  // A gap at the start of the step may close, but no further. A gap that was already closed is not
  // an impact, however hard it is pressed; nor is a slow approach.
  float rest_speed = REST_STEPS * yw_length(problem->gravity) * problem->h;
  float restitution = a->restitution > b->restitution ? a->restitution : b->restitution;
  if (obstacle) restitution = 0.0f;  // has already bounced off the obstacle
  bool impact = approach > rest_speed && c->gap_before > 0.0f && gap < 0.0f;
  c->target = c->gap_before > 0.0f ? -c->gap_before / problem->h : 0.0f;
  c->bounce = impact ? restitution : 0.0f;
  c->share = 1.0f;
  if (c->bounce > 0.0f) {
    c->target = restitution * approach;
    c->share = yw_clampf(-gap / (approach * problem->h), 0.0f, 1.0f);
  }
}

// Positions -------------------------------------------------------------------------------------

static bool answers(const yw_contact_body* body) { return body->respond != NULL; }

// Bodies that answer follow as wholes, see settle_answer.
static void follow_velocity(const yw_contact_problem* problem, yw_contact* c) {
  yw_vec3 way = yw_scale(yw_mad(c->friction, c->impulse, c->normal), c->share * problem->h);
  for (int side = 0; side < 2; ++side) {
    yw_contact_body* body = &problem->bodies[c->body[side]];
    if (answers(body)) continue;
    push_side(c, side, body->particles, body->particles->pos, side ? yw_neg(way) : way);
  }
}

// An overlap from before leaves slowly; none is added.
static void measure_depth(const yw_contact_problem* problem, yw_contact* c) {
  float limit = PUSH_OUT_SPEED * problem->h, push = PUSH_OUT_SHARE * (-c->slop - c->gap_before);
  c->push_goal = push > 0.0f ? c->gap_before + (push < limit ? push : limit) : -c->slop;
}

// Batches ---------------------------------------------------------------------------------------

typedef void (*batch_visit)(const yw_contact_problem*, yw_contact_batch*);

typedef struct batch_job {
  const yw_contact_problem* problem;
  batch_visit visit;
  int32_t first, end;
} batch_job;

static void visit_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const batch_job* job = context;
  int32_t first = job->first + block * BATCHES_PER_TASK, end = first + BATCHES_PER_TASK;
  for (int32_t i = first; i < end && i < job->end; ++i) {
    job->visit(job->problem, &job->problem->batches[i]);
  }
}

static void visit_range(const yw_contact_problem* problem, batch_visit visit, int32_t first,
                        int32_t end, yw_tasks* tasks) {
  batch_job job = {problem, visit, first, end};
  int32_t blocks = (end - first + BATCHES_PER_TASK - 1) / BATCHES_PER_TASK;
  yw_tasks_run(end - first < MIN_PARALLEL ? NULL : tasks, blocks, visit_block, &job);
}

// Visits that change nothing but the batch itself.
static void visit_batches(const yw_contact_problem* problem, batch_visit visit) {
  visit_range(problem, visit, 0, problem->num_batches, problem->tasks);
}

// Visits that move bodies as wholes.
static void visit_wholes(const yw_contact_problem* problem, batch_visit visit) {
  for (int32_t k = 0; k <= YW_CONTACT_MAX_COLORS; ++k) {
    visit_range(problem, visit, problem->color_start[k], problem->color_start[k + 1],
                k == YW_CONTACT_MAX_COLORS ? NULL : problem->tasks);
  }
}

static void prepare_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) prepare(problem, &batch->contacts[i]);
}

static void bounce_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  yw_contact_bounce(problem, batch);
}

// Sweeps ----------------------------------------------------------------------------------------

typedef void (*rows_visit)(const yw_contact_problem*, yw_contact_rows*);

typedef struct sweep {
  const yw_contact_problem* problem;
  rows_visit visit;
  int32_t first, end;  // groups
} sweep;

static void sweep_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const sweep* job = context;
  int32_t first = job->first + block * GROUPS_PER_TASK, end = first + GROUPS_PER_TASK;
  for (int32_t i = first; i < end && i < job->end; ++i) {
    job->visit(job->problem, &job->problem->rows->groups.items[i]);
  }
}

static void sweep_range(const yw_contact_problem* problem, rows_visit visit, int32_t first,
                        int32_t end) {
  sweep job = {problem, visit, first, end};
  int32_t count = end - first, blocks = (count + GROUPS_PER_TASK - 1) / GROUPS_PER_TASK;
  yw_tasks_run(count < MIN_PARALLEL_GROUPS ? NULL : problem->tasks, blocks, sweep_block, &job);
}

// Visits the rows of all colors.
static void sweep_all(const yw_contact_problem* problem, rows_visit visit) {
  const int32_t* starts = problem->rows->starts.items;
  for (int32_t k = 0; k + 1 < problem->rows->starts.count; ++k) {
    sweep_range(problem, visit, starts[k], starts[k + 1]);
  }
}

// Visits colors from last to first.
static void sweep_back(const yw_contact_problem* problem, rows_visit visit) {
  const int32_t* starts = problem->rows->starts.items;
  for (int32_t k = problem->rows->starts.count - 2; k >= 0; --k) {
    sweep_range(problem, visit, starts[k], starts[k + 1]);
  }
}

// Visits that change nothing but the rows themselves.
static void sweep_from(const yw_contact_problem* problem, rows_visit visit, int32_t first) {
  sweep_range(problem, visit, first, problem->rows->groups.count);
}

static void velocity_rows(const yw_contact_problem* problem, yw_contact_rows* rows) {
  if (!problem->short_round || rows->busy != 0) problem->visits->visit_velocities(rows);
}

// Spares ----------------------------------------------------------------------------------------
//
// Where flat faces lie on each other, most crossings of edges follow from the vertices around them:
// left alone, they end up no deeper than what is tolerated. Those that would are taken up.

static yw_vec3 spare_relative(const yw_contact_spare* s, const yw_vec4* a, const yw_vec4* b) {
  yw_vec3 front = yw_lerp(yw_xyz(a[s->corners[0]]), yw_xyz(a[s->corners[1]]), s->shares[0]);
  yw_vec3 back = yw_lerp(yw_xyz(b[s->corners[2]]), yw_xyz(b[s->corners[3]]), s->shares[1]);
  return yw_sub(front, back);
}

// m, the least gap at the end of the substep that a spare may leave.
static float tolerated_gap(const yw_contact_spare* s, float slop) {
  return s->gap_before < -slop ? s->gap_before : -slop;
}

// The contact of a spare becomes the last one.
static yw_contact* take_up(const yw_contact_problem* problem, yw_contact_batch* batch,
                           const yw_contact_spare* s) {
  yw_contact* c = &batch->contacts[batch->count++];
  *c = (yw_contact){
      .body = {batch->a, batch->b},
      .count = {2, 2},
      .particles = {{s->corners[0], s->corners[1]}, {s->corners[2], s->corners[3]}},
      .weights = {{1.0f - s->shares[0], s->shares[0]}, {1.0f - s->shares[1], s->shares[1]}},
      .normal = s->normal,
      .distance = s->distance,
      .gap_before = s->gap_before,
      .slop = batch->slop};
  prepare(problem, c);
  return c;
}

// Takes up what velocities would press together. The next round must visit all.
static void take_up_velocities(const yw_contact_problem* problem, yw_contact_batch* batch) {
  const yw_contact_body *a = &problem->bodies[batch->a], *b = &problem->bodies[batch->b];
  int32_t left = 0, before = batch->count;
  for (int32_t i = 0; i < batch->num_spares; ++i) {
    const yw_contact_spare* s = &batch->spares[i];
    yw_vec3 relative = spare_relative(s, a->particles->vel, b->particles->vel);
    float gap = s->gap_before + problem->h * yw_dot(relative, s->normal);
    if (!(gap < tolerated_gap(s, batch->spare_slop))) {
      batch->spares[left++] = *s;
      continue;
    }
    take_up(problem, batch, s);
  }
  batch->num_spares = left;
  batch->taken_up = batch->count - before;
}

// True if any batch took up a spare.
static bool take_up_spares(yw_contact_problem* problem) {
  visit_batches(problem, take_up_velocities);
  bool any = false;
  for (int32_t i = 0; i < problem->num_batches; ++i) {
    any = any || problem->batches[i].taken_up > 0;
  }
  if (any) sweep_from(problem, yw_rows_weigh, yw_rows_add(problem));
  return any;
}

// Positions follow the velocities of these rows, which get ready for positions.
static void follow_rows(const yw_contact_problem* problem, yw_contact_rows* rows) {
  for (int32_t i = 0; i < rows->count; ++i) {
    yw_contact* c = rows->contacts[i];
    c->impulse = rows->impulse[i];
    c->friction = yw_v3(rows->friction[0][i], rows->friction[1][i], rows->friction[2][i]);
    if (c->impulse > 0.0f) follow_velocity(problem, c);
    measure_depth(problem, c);
  }
}

// Takes up what is still too deep.
static void take_up_positions(const yw_contact_problem* problem, yw_contact_batch* batch) {
  const yw_contact_body *a = &problem->bodies[batch->a], *b = &problem->bodies[batch->b];
  int32_t left = 0;
  for (int32_t i = 0; i < batch->num_spares; ++i) {
    const yw_contact_spare* s = &batch->spares[i];
    yw_vec3 relative = spare_relative(s, a->particles->pos, b->particles->pos);
    float gap = yw_dot(relative, s->normal) - s->distance;
    if (!(gap < tolerated_gap(s, batch->spare_slop))) {
      batch->spares[left++] = *s;
      continue;
    }
    yw_contact* c = take_up(problem, batch, s);
    measure_depth(problem, c);
  }
  batch->num_spares = left;
}

static void position_rows(const yw_contact_problem* problem, yw_contact_rows* rows) {
  problem->visits->visit_positions(rows);
}

static void note_pushes(const yw_contact_problem* problem, yw_contact_rows* rows) {
  (void)problem;
  for (int32_t i = 0; i < rows->count; ++i) {
    rows->contacts[i]->push_impulse = rows->impulse[i] * rows->mass[i];
  }
}

static void lost_angular_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  batch->lost_angular = yw_contact_lost_angular(problem, batch);
}

// Sums the angular momentum added by all batches of a pair.
static void add_lost_angular(const yw_contact_problem* problem) {
  for (int32_t i = 0; i < problem->num_pairs; ++i) problem->pair_angular[i] = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < problem->num_batches; ++i) {
    const yw_contact_batch* batch = &problem->batches[i];
    problem->pair_angular[batch->pair] =
        yw_add(problem->pair_angular[batch->pair], batch->lost_angular);
  }
}

static void keep_angular_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  if (batch->leads) yw_contact_keep_angular(problem, batch, problem->pair_angular[batch->pair]);
}

// Answers ---------------------------------------------------------------------------------------

static void copy_vectors(yw_vec4* to, const yw_vec4* from, int32_t count) {
  for (int32_t i = 0; i < count; ++i) to[i] = from[i];
}

// Directions of search --------------------------------------------------------------------------
//
// Rounds of sweeps and answers are a fixed-point iteration. Conjugate directions speed it up
// (Silcowitz et al. 2010): the last direction is followed further, by the ratio of the squares of
// the last two changes, and dropped when the changes grow. Answers are linear, so the velocities
// along a direction are known without another answer.

// The last sweep of a round: nothing changes these impulses afterwards, so they are measured.
static void last_velocity_rows(const yw_contact_problem* problem, yw_contact_rows* rows) {
  velocity_rows(problem, rows);
  if (!problem->short_round || rows->busy != 0) problem->visits->measure(rows);
}

// Bodies that answer turn as wholes, see turn_answer.
static void turn_rows(const yw_contact_problem* problem, yw_contact_rows* rows) {
  if (!problem->short_round || rows->busy != 0) problem->visits->turn(rows, problem->extrapolate);
}

static void turn_answer(const yw_contact_problem* problem, const yw_contact_answer* a) {
  yw_particles* p = problem->bodies[a->body].particles;
  float beta = problem->extrapolate;
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 change = yw_sub(yw_xyz(p->vel[i]), yw_xyz(a->base[i]));
    yw_vec3 extra = yw_scale(yw_xyz(a->heading[i]), beta);
    a->heading[i] = yw_v4(yw_add(extra, change));
    p->vel[i] = yw_v4(yw_add(yw_xyz(p->vel[i]), extra));
  }
}

// Square of the last change of all impulses; 0 when it is small enough to stop.
static double last_step2(const yw_contact_problem* problem) {
  double step2 = 0.0, size2 = 0.0;
  for (int32_t i = 0; i < problem->rows->groups.count; ++i) {
    step2 += problem->rows->groups.items[i].step2;
    size2 += problem->rows->groups.items[i].size2;
  }
  return step2 > SETTLED * SETTLED * size2 ? step2 : 0.0;
}

// Replaces what the sweeps did to a body by its own answer to the same impulses.
static void answer(const yw_contact_problem* problem, yw_contact_answer* a) {
  const yw_contact_body* body = &problem->bodies[a->body];
  yw_particles* p = body->particles;
  float yield = problem->yields[a->body];
  double own = 0.0, shown = 0.0;
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 change = yw_sub(yw_xyz(p->vel[i]), yw_xyz(a->base[i]));
    // Not from the mass: nodes of a coarse front carry that of their neighbours too.
    float mass = p->inv_mass[i] > 0.0f ? 1.0f / p->inv_mass[i] : 0.0f;
    yw_vec3 impulse = yw_scale(change, mass / yield);
    own += (double)yw_dot(impulse, impulse) * (double)p->inv_mass[i];
    a->impulses[i] = yw_v4(impulse);
  }
  if (!(own > 0.0)) return;
  bool answered = body->respond(body->context, a->impulses, a->change) >= 0;
  for (int32_t i = 0; i < p->count; ++i) {
    shown += (double)yw_dot(yw_xyz(a->impulses[i]), yw_xyz(a->change[i]));
  }
  // Stiffness only ever makes a body answer less than its particles alone would.
  bool sound = answered && shown > 0.0 && shown < MOST_SHOWN * own;
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 change =
        sound ? yw_xyz(a->change[i]) : yw_scale(yw_xyz(a->impulses[i]), p->inv_mass[i]);
    p->vel[i] = yw_v4(yw_add(yw_xyz(a->base[i]), change));
  }
  if (!sound) shown = own;
  float seen = YIELD_SAFETY * (float)(shown / own);
  // The first answer replaces the guess of 1; later ones may only raise it.
  if (yield == 1.0f || seen > yield) yield = seen;
  problem->yields[a->body] = yw_clampf(yield, LEAST_YIELD, 1.0f);
}

// Positions follow the whole change of velocities. The angular momentum that this displacement adds
// is taken out of the body's own rotation.
static void settle_answer(const yw_contact_problem* problem, const yw_contact_answer* a) {
  yw_particles* p = problem->bodies[a->body].particles;
  yw_vec3 lost = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 way = yw_scale(yw_sub(yw_xyz(p->vel[i]), yw_xyz(a->free[i])), problem->h);
    lost = yw_mad(lost, p->mass[i], yw_cross(way, yw_xyz(p->vel[i])));
    if (p->inv_mass[i] > 0.0f) p->pos[i] = yw_v4(yw_add(yw_xyz(p->pos[i]), way));
  }
  yw_contact_turn_back(p, lost);
}

static void sweep_velocities(const yw_contact_problem* problem, int32_t iterations) {
  // Forward and backward sweeps: each order compensates the bias of the other.
  for (int32_t i = 0; i < iterations; ++i) {
    sweep_all(problem, velocity_rows);
    sweep_back(problem, i < iterations - 1 ? velocity_rows : last_velocity_rows);
  }
}

// The sweeps overshot: some particles move more easily than the answers so far showed. No answer
// exceeds that of free particles, so this ends where the rounds converge.
static void soften(const yw_contact_problem* problem) {
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    float* yield = &problem->yields[problem->answers[k].body];
    *yield = *yield < 0.25f ? 4.0f * *yield : 1.0f;
  }
}

static void solve_velocities(yw_contact_problem* problem) {
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    const yw_contact_answer* a = &problem->answers[k];
    const yw_particles* p = problem->bodies[a->body].particles;
    copy_vectors(a->free, p->vel, p->count);
  }
  bool answered = problem->num_answers > 0;
  double before = 0.0, now = 1.0;
  int32_t rounds = ROUNDS_PER_ITERATION * problem->iterations;
  for (int32_t round = 0; round < rounds; ++round) {
    for (int32_t k = 0; k < problem->num_answers; ++k) {
      const yw_contact_answer* a = &problem->answers[k];
      const yw_particles* p = problem->bodies[a->body].particles;
      copy_vectors(a->base, p->vel, p->count);
    }
    if (round == 0 || problem->num_answers > 0) sweep_from(problem, yw_rows_weigh, 0);
    // Rounds that find nothing to do must have looked everywhere.
    problem->short_round = problem->num_answers == 0 && round % ROUNDS_PER_FULL != 0 &&
                           round < rounds - 1 && now > 0.0;
    sweep_velocities(problem, problem->num_answers > 0 ? SWEEPS_WITH_ANSWERS : 1);
    for (int32_t k = 0; k < problem->num_answers; ++k) answer(problem, &problem->answers[k]);
    now = last_step2(problem);
    if (round == rounds - 1) break;
    // The round after this one visits all contacts.
    bool look = answered || round % ROUNDS_PER_FULL == ROUNDS_PER_FULL - 1 || round == rounds - 2 ||
                now == 0.0;
    bool taken_up = look && take_up_spares(problem);
    if (now == 0.0 && !problem->short_round && !taken_up) break;
    bool grows = round > 0 && now >= before;
    problem->extrapolate = before > 0.0 && !grows ? (float)(now / before) : 0.0f;
    if (grows) soften(problem);
    before = now;
    sweep_all(problem, turn_rows);
    if (!problem->short_round && problem->num_answers == 0) yw_rows_sort(problem);
    for (int32_t k = 0; k < problem->num_answers; ++k) turn_answer(problem, &problem->answers[k]);
  }
  for (int32_t k = 0; k < problem->num_answers; ++k) settle_answer(problem, &problem->answers[k]);
}

// Pushes apart what is still too deep, until nothing is left to push.
static void solve_positions(yw_contact_problem* problem) {
  sweep_all(problem, follow_rows);
  sweep_from(problem, yw_rows_place, 0);
  for (int32_t i = 0; i < problem->iterations; ++i) {
    if (i == problem->iterations / 2) {
      visit_batches(problem, take_up_positions);
      int32_t first = yw_rows_add(problem);
      sweep_from(problem, yw_rows_weigh, first);
      sweep_from(problem, yw_rows_place, first);
    }
    sweep_all(problem, position_rows);
    sweep_back(problem, position_rows);
  }
  sweep_from(problem, note_pushes, 0);
}

bool yw_contact_solve(yw_contact_problem* problem) {
  int32_t num_spares = 0;
  for (int32_t i = 0; i < problem->num_batches; ++i) num_spares += problem->batches[i].num_spares;
  visit_batches(problem, prepare_batch);
  // Every color that is added may leave one group that is not full.
  int32_t added = ADDED_COLORS * (ROUNDS_PER_ITERATION * problem->iterations + 1);
  int32_t extra = num_spares / YW_LANES + (added < num_spares ? added : num_spares);
  if (!yw_rows_begin(problem, extra)) return false;
  visit_wholes(problem, bounce_batch);
  solve_velocities(problem);
  solve_positions(problem);
  visit_batches(problem, lost_angular_batch);
  add_lost_angular(problem);
  visit_wholes(problem, keep_angular_batch);
  return true;
}
