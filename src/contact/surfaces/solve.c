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

#include "contact/surfaces/answers.h"
#include "contact/surfaces/rigid.h"
#include "contact/surfaces/sweep.h"
#include "math/small/float4.h"

// Overlap not caused by this substep is pushed out by this share per substep, at most this fast
// (m/s).
#define PUSH_OUT_SHARE 0.2f
#define PUSH_OUT_SPEED 0.5f
// An approach slower than this many steps of gravity is resting contact, not an impact.
#define REST_STEPS 2.0f
// Rounds of sweeps and answers, per iteration that the world asks for. Answers are dear: there are
// twice the sweeps in a round with them.
#define ROUNDS_PER_ITERATION 3
// Rounds that start from old forces converge, and seldom take so many: they may go on for longer,
// and end later.
#define ROUNDS_PER_SEARCH 5
#define SEARCH_SETTLED 1e-3
// Where bodies do not answer, only every so many rounds visit the contacts at which nothing
// presses.
#define ROUNDS_PER_FULL 4
#define SWEEPS_WITH_ANSWERS 2
// Rounds end when the impulses change by less than this share.
#define SETTLED 2e-3
// Friction exceeds that of the present pressure at most this many times.
#define MOST_GRIP 10.0f
// The mean of the pressure is known after this part of the time over which it is taken.
#define GRIP_KNOWN 3.0f
// Old forces are made at most this many times as large.
#define MOST_START 2.0f

// Weighted sum of one side's particles. The fourth entry means nothing.
YW_LANE_FN yw_float4 side_sum(const yw_contact* c, int side, const yw_vec4* values) {
  yw_float4 sum = c->weights[side][0] * yw_float4_load(&values[c->particles[side][0]]);
  for (int k = 1; k < c->count[side]; ++k) {
    sum += c->weights[side][k] * yw_float4_load(&values[c->particles[side][k]]);
  }
  return sum;
}

YW_LANE_FN yw_vec3 xyz(yw_float4 a) { return yw_v3(a[0], a[1], a[2]); }

static inline void push_side(const yw_contact* c, int side, const yw_particles* particles,
                             yw_vec4* values, yw_vec3 impulse) {
  for (int k = 0; k < c->count[side]; ++k) {
    int32_t i = c->particles[side][k];
    float share = c->weights[side][k] * particles->inv_mass[i];
    values[i].x += share * impulse.x;
    values[i].y += share * impulse.y;
    values[i].z += share * impulse.z;
  }
}

yw_vec3 yw_contact_relative(const yw_contact_problem* problem, const yw_contact* c, bool velocity) {
  const yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_float4 front = side_sum(c, 0, velocity ? a->vel : a->pos);
  if (c->count[1] == 0) return velocity ? yw_sub(xyz(front), yw_xyz(c->drift)) : xyz(front);
  const yw_particles* b = problem->bodies[c->body[1]].particles;
  return xyz(front - side_sum(c, 1, velocity ? b->vel : b->pos));
}

// Preparation -----------------------------------------------------------------------------------

static void prepare(const yw_contact_problem* problem, yw_contact* c) {
  const yw_contact_body *a = &problem->bodies[c->body[0]], *b = &problem->bodies[c->body[1]];
  bool obstacle = c->count[1] == 0;
  c->friction_limit = sqrtf(a->friction * (obstacle ? c->obstacle_friction : b->friction));
  c->impulse = c->push = c->push_impulse = 0.0f;
  c->friction = yw_v3(0, 0, 0);
  c->arm = yw_contact_relative(problem, c, false);
  c->offset = obstacle ? c->obstacle_gap - yw_dot(c->arm, c->normal) : -c->distance;
  if (obstacle) c->arm = yw_v3(0, 0, 0);
  yw_warm_entry entry = {.force = 0.0f};
  if (problem->warm) yw_warm_find(problem->warm, problem->bodies, c, &entry);
  c->grip = entry.grip;
  c->grip_age = entry.age;
  c->slip = 0.0f;
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

// Bodies that answer follow as wholes, see answers.c.
static void follow_velocity(const yw_contact_problem* problem, yw_contact* c) {
  yw_vec3 way = yw_scale(yw_mad(c->friction, c->impulse, c->normal), c->share * problem->h);
  for (int side = 0; side < 2; ++side) {
    yw_contact_body* body = &problem->bodies[c->body[side]];
    if (yw_answers(body)) continue;
    push_side(c, side, body->particles, body->particles->pos, side ? yw_neg(way) : way);
  }
}

// An overlap from before leaves slowly; none is added.
static void measure_depth(const yw_contact_problem* problem, yw_contact* c) {
  float limit = PUSH_OUT_SPEED * problem->h, push = PUSH_OUT_SHARE * (-c->slop - c->gap_before);
  c->push_goal = push > 0.0f ? c->gap_before + (push < limit ? push : limit) : -c->slop;
}

// Batches ---------------------------------------------------------------------------------------

// The row of velocities of a contact, without impulses.
static yw_contact_row velocity_row(const yw_contact_problem* problem, yw_contact* c) {
  const yw_contact_body *a = &problem->bodies[c->body[0]], *b = &problem->bodies[c->body[1]];
  const float yields[2] = {problem->yields[c->body[0]], problem->yields[c->body[1]]};
  return yw_contact_velocity_row(c, a->particles, b->particles, yields);
}

static void prepare_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) {
    yw_contact* c = &batch->contacts[i];
    prepare(problem, c);
    batch->rows[i] = velocity_row(problem, c);
    batch->rows[i].contact = i;
    batch->searches[i] = (yw_contact_search){.last = {0, 0, 0, 0}};
  }
}

// Friction follows the mean of the pressure where that is known, not the pressure at once: see
// Friction in docs/design/contact.md. The share of the present pressure that makes it so.
static float grip_share(const yw_contact* c, float impulse, float h) {
  float mean = h * c->grip, known = fminf(GRIP_KNOWN * c->grip_age / YW_GRIP_TIME, 1.0f);
  if (!(impulse > 0.0f)) return 1.0f;
  return 1.0f + known * (fminf(mean / impulse, MOST_GRIP) - 1.0f);
}

// The rows of velocities; impulses so far stay as they are.
static void weigh_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) {
    int32_t contact = batch->rows[i].contact;
    yw_contact* c = &batch->contacts[contact];
    yw_vec4 friction = batch->rows[i].friction;
    float impulse = batch->rows[i].impulse;
    batch->rows[i] = velocity_row(problem, c);
    batch->rows[i].friction = friction;
    batch->rows[i].impulse = impulse;
    batch->rows[i].contact = contact;
    if (c->grip > 0.0f) batch->rows[i].friction_limit *= grip_share(c, impulse, problem->h);
  }
}

static void bounce_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  yw_contact_bounce(problem, batch);
}

// Spares ----------------------------------------------------------------------------------------
//
// Where flat faces lie on each other, most crossings of edges follow from the vertices around them;
// and what begins far apart seldom touches. Left alone, they end up no deeper than what is
// tolerated. Those that would are taken up.

YW_LANE_FN yw_float4 lerp(const yw_vec4* values, const int32_t corners[2], float t) {
  yw_float4 from = yw_float4_load(&values[corners[0]]);
  return from + t * (yw_float4_load(&values[corners[1]]) - from);
}

YW_LANE_FN yw_vec3 spare_relative(const yw_contact_spare* s, const yw_vec4* a, const yw_vec4* b) {
  if (s->vertex) {
    const yw_vec4 *front = s->swapped ? b : a, *back = s->swapped ? a : b;
    yw_float4 corner = yw_float4_load(&back[s->corners[1]]), apart;
    apart = yw_float4_load(&front[s->corners[0]]) - corner;
    apart -= s->shares[0] * (yw_float4_load(&back[s->corners[2]]) - corner);
    return xyz(apart - s->shares[1] * (yw_float4_load(&back[s->corners[3]]) - corner));
  }
  return xyz(lerp(a, s->corners, s->shares[0]) - lerp(b, s->corners + 2, s->shares[1]));
}

// m, the least gap at the end of the substep that a spare may leave.
static float tolerated_gap(const yw_contact_spare* s, float slop) {
  return s->gap_before < -slop ? s->gap_before : -slop;
}

// The contact of a spare becomes the last one.
static yw_contact* take_up(const yw_contact_problem* problem, yw_contact_batch* batch,
                           const yw_contact_spare* s) {
  int32_t at = batch->count++;
  yw_contact* c = &batch->contacts[at];
  *c = (yw_contact){.body = {s->swapped ? batch->b : batch->a, s->swapped ? batch->a : batch->b},
                    .count = {s->vertex ? 1 : 2, s->vertex ? 3 : 2},
                    .normal = s->normal,
                    .distance = s->distance,
                    .gap_before = s->gap_before,
                    .slop = batch->slop};
  const float first = s->shares[0], second = s->shares[1];
  const float edges[4] = {1.0f - first, first, 1.0f - second, second};
  const float triangle[4] = {1.0f, 1.0f - first - second, first, second};
  for (int k = 0; k < 4; ++k) {
    int side = k < c->count[0] ? 0 : 1, slot = side ? k - c->count[0] : k;
    c->particles[side][slot] = s->corners[k];
    c->weights[side][slot] = s->vertex ? triangle[k] : edges[k];
  }
  prepare(problem, c);
  batch->searches[at] = (yw_contact_search){.last = {0, 0, 0, 0}};
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
    if (!(gap < tolerated_gap(s, batch->slop))) {
      batch->spares[left++] = *s;
      continue;
    }
    yw_contact* c = take_up(problem, batch, s);
    yw_contact_row* row = &batch->rows[batch->count - 1];
    *row = velocity_row(problem, c);
    row->contact = batch->count - 1;
  }
  batch->num_spares = left;
  batch->taken_up = batch->count - before;
}

// True if any batch took up a spare.
static bool take_up_spares(const yw_contact_problem* problem) {
  yw_sweep_all(problem, take_up_velocities);
  bool any = false;
  for (int32_t i = 0; i < problem->color_start[YW_CONTACT_MAX_COLORS + 1]; ++i) {
    any = any || problem->batches[i].taken_up > 0;
  }
  return any;
}

// Spares at which something pressed in the last substep are contacts.
static void take_up_warm(const yw_contact_problem* problem, yw_contact_batch* batch) {
  if (!yw_island_searches(&problem->islands[batch->island])) return;
  int32_t left = 0;
  for (int32_t i = 0; i < batch->num_spares; ++i) {
    const yw_contact_spare* s = &batch->spares[i];
    if (!yw_warm_has_spare(problem->warm, problem->bodies, batch->a, batch->b, s)) {
      batch->spares[left++] = *s;
      continue;
    }
    take_up(problem, batch, s);
    batch->rows[batch->count - 1] = (yw_contact_row){.contact = batch->count - 1};
  }
  batch->num_spares = left;
}

// Applies the impulses of the last substep. Friction only where it has to hold a rigid body: from
// nothing, rounds of answers find it slowly; stacks of soft boxes that begin with it sway for
// longer.
static void start_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  const bool pushed[2] = {true, true};
  bool rigid = problem->bodies[batch->a].rigid || problem->bodies[batch->b].rigid;
  if (!yw_island_searches(&problem->islands[batch->island])) return;
  for (int32_t i = 0; i < batch->count; ++i) {
    yw_contact_row* row = &batch->rows[i];
    yw_contact_search* search = &batch->searches[i];
    const yw_contact* c = &batch->contacts[row->contact];
    yw_warm_entry entry;
    if (row->mass == 0.0f || c->bounce > 0.0f) continue;
    if (!yw_warm_find(problem->warm, problem->bodies, c, &entry)) continue;
    if (!(entry.force > 0.0f)) continue;
    yw_vec3 start = yw_scale(c->normal, problem->h * entry.force);
    yw_vec3 drag = yw_mad(entry.drag, -yw_dot(entry.drag, c->normal), c->normal);
    search->heading = yw_v4(rigid ? yw_mad(start, problem->h, drag) : start);
    yw_contact_turn(row, search, 1.0f, pushed);
    *search = (yw_contact_search){.last = {0, 0, 0, 0}};
  }
}

// Positions follow the velocities of this batch, and its rows get ready for positions.
static void follow_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  const yw_contact_body *first = &problem->bodies[batch->a], *second = &problem->bodies[batch->b];
  bool plain = !yw_answers(first) && !yw_answers(second) && !yw_contact_is_loose(first) &&
               !yw_contact_is_loose(second);
  for (int32_t i = 0; i < batch->count; ++i) {
    int32_t contact = batch->rows[i].contact;
    yw_contact* c = &batch->contacts[contact];
    const yw_contact_body *a = &problem->bodies[c->body[0]], *b = &problem->bodies[c->body[1]];
    c->impulse = batch->rows[i].impulse;
    c->friction = yw_xyz(batch->rows[i].friction);
    if (plain && c->count[1] > 0) {
      measure_depth(problem, c);
      yw_contact_follow(&batch->rows[i], c, a->particles, b->particles, c->share * problem->h);
      continue;
    }
    if (c->impulse > 0.0f) follow_velocity(problem, c);
    if (yw_answers(a) || yw_answers(b)) c->slip = yw_contact_slip(&batch->rows[i]);
    measure_depth(problem, c);
    batch->rows[i] = yw_contact_position_row(c, a->particles, b->particles);
    batch->rows[i].contact = contact;
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
    if (!(gap < tolerated_gap(s, batch->slop))) {
      batch->spares[left++] = *s;
      continue;
    }
    yw_contact* c = take_up(problem, batch, s);
    measure_depth(problem, c);
    yw_contact_row* row = &batch->rows[batch->count - 1];
    *row = yw_contact_position_row(c, problem->bodies[c->body[0]].particles,
                                   problem->bodies[c->body[1]].particles);
    row->contact = batch->count - 1;
  }
  batch->num_spares = left;
}

static void lost_angular_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) {
    const yw_contact_row* row = &batch->rows[i];
    batch->contacts[row->contact].push_impulse = row->impulse * row->mass;
  }
  batch->lost_angular = yw_contact_lost_angular(problem, batch);
}

// Sums the angular momentum added by all batches of a pair.
static void add_lost_angular(const yw_contact_problem* problem) {
  for (int32_t i = 0; i < problem->num_pairs; ++i) problem->pair_angular[i] = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < problem->color_start[YW_CONTACT_MAX_COLORS + 1]; ++i) {
    const yw_contact_batch* batch = &problem->batches[i];
    problem->pair_angular[batch->pair] =
        yw_add(problem->pair_angular[batch->pair], batch->lost_angular);
  }
}

static void keep_angular_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  if (batch->leads) yw_contact_keep_angular(problem, batch, problem->pair_angular[batch->pair]);
}

// Directions of search --------------------------------------------------------------------------
//
// Rounds of sweeps and answers are a fixed-point iteration. Conjugate directions speed it up
// (Silcowitz et al. 2010): the last direction is followed further, by the ratio of the squares of
// the last two changes, and dropped when the changes grow. Answers are linear, so the velocities
// along a direction are known without another answer.

// Bodies that answer turn as wholes, see answers.c.
static void turn_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  float beta = problem->extrapolate;
  if (!yw_answers(&problem->bodies[batch->a]) && !yw_answers(&problem->bodies[batch->b])) {
    yw_contact_turn_all(batch->rows, batch->searches, yw_sweep_num_rows(problem, batch), beta);
  } else {
    for (int32_t i = 0; i < batch->count; ++i) {
      const int32_t* body = batch->contacts[batch->rows[i].contact].body;
      const bool pushed[2] = {!yw_answers(&problem->bodies[body[0]]),
                              !yw_answers(&problem->bodies[body[1]])};
      yw_contact_turn(&batch->rows[i], &batch->searches[i], beta, pushed);
    }
  }
  if (problem->short_round) return;
  batch->busy = yw_contact_bring_forward(batch->rows, batch->searches, batch->count);
}

// Square of the last change of all impulses; 0 when it is small enough to stop.
static double last_step2(const yw_contact_problem* problem, double settled) {
  double step2 = 0.0, size2 = 0.0;
  for (int32_t i = 0; i < problem->color_start[YW_CONTACT_MAX_COLORS + 1]; ++i) {
    step2 += problem->batches[i].step2;
    size2 += problem->batches[i].size2;
  }
  return step2 > settled * settled * size2 ? step2 : 0.0;
}

static void sweep_velocities(const yw_contact_problem* problem, int32_t iterations) {
  // Forward and backward sweeps: each order compensates the bias of the other.
  for (int32_t i = 0; i < iterations; ++i) {
    yw_sweep_rows(problem, YW_ROWS_VELOCITIES, YW_SWEEP_FORTH);
    bool last = i == iterations - 1;
    yw_sweep_rows(problem, YW_ROWS_VELOCITIES, last ? YW_SWEEP_BACK_LAST : YW_SWEEP_BACK);
  }
}

// Starts from the impulses of the last substep, as far as they lead towards the solution now. The
// bodies answer at once: sweeps would undo impulses that particles alone had to take.
static void start_warm(yw_contact_problem* problem) {
  yw_answers_base(problem);
  yw_sweep_all(problem, take_up_warm);
  yw_sweep_all(problem, weigh_batch);
  yw_sweep_all(problem, start_batch);
  problem->first_round = false;
  yw_answers_replace(problem);
  yw_answers_search(problem, MOST_START);
  problem->extrapolate = 0.0f;
  yw_sweep_all(problem, turn_batch);
  yw_answers_turn(problem);
}

static bool any_searches(const yw_contact_problem* problem) {
  bool any = false;
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    any = any || yw_island_searches(&problem->islands[problem->answers[k].island]);
  }
  return any;
}

static void solve_velocities(yw_contact_problem* problem) {
  bool answered = problem->num_answers > 0, searched = any_searches(problem);
  yw_answers_begin(problem);
  if (problem->warm) start_warm(problem);
  double before = 0.0, now = 1.0;
  bool was_short = false;
  int32_t rounds = (searched ? ROUNDS_PER_SEARCH : ROUNDS_PER_ITERATION) * problem->iterations;
  for (int32_t round = 0; round < rounds; ++round) {
    yw_answers_base(problem);
    if (answered) yw_sweep_all(problem, weigh_batch);
    // Rounds that find nothing to do must have looked everywhere.
    problem->short_round =
        !answered && round % ROUNDS_PER_FULL != 0 && round < rounds - 1 && now > 0.0;
    if (round == 0 || problem->short_round != was_short) yw_sweep_sort(problem);
    was_short = problem->short_round;
    sweep_velocities(problem, answered ? SWEEPS_WITH_ANSWERS : 1);
    problem->first_round = round == 0;
    yw_answers_replace(problem);
    now = last_step2(problem, searched ? SEARCH_SETTLED : SETTLED);
    if (round == rounds - 1) break;
    // The round after this one visits all contacts.
    bool look = answered || round % ROUNDS_PER_FULL == ROUNDS_PER_FULL - 1 || round == rounds - 2 ||
                now == 0.0;
    bool taken_up = look && take_up_spares(problem);
    if (now == 0.0 && !problem->short_round && !taken_up) break;
    bool grows = round > 0 && now >= before;
    problem->extrapolate = before > 0.0 && !grows ? (float)(now / before) : 0.0f;
    if (grows) yw_answers_soften(problem);
    before = now;
    yw_sweep_all(problem, turn_batch);
    yw_answers_turn(problem);
  }
  yw_answers_settle(problem);
}

void yw_contact_solve(yw_contact_problem* problem) {
  yw_sweep_begin(problem);
  yw_sweep_found(problem, prepare_batch);
  yw_sweep_wholes(problem, bounce_batch);
  solve_velocities(problem);
  problem->short_round = false;
  yw_sweep_sort(problem);
  yw_sweep_all(problem, follow_batch);
  for (int32_t i = 0; i < problem->iterations; ++i) {
    if (i == problem->iterations / 2) yw_sweep_all(problem, take_up_positions);
    yw_sweep_rows(problem, YW_ROWS_POSITIONS, YW_SWEEP_FORTH);
    yw_sweep_rows(problem, YW_ROWS_POSITIONS, YW_SWEEP_BACK);
  }
  yw_sweep_found(problem, lost_angular_batch);
  add_lost_angular(problem);
  yw_sweep_wholes(problem, keep_angular_batch);
}
