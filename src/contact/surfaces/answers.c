// SPDX-License-Identifier: MIT
#include "contact/surfaces/answers.h"

#include "contact/surfaces/rigid.h"
#include "contact/surfaces/sweep.h"

// Answers that were seen may be exceeded by this factor before sweeps overshoot.
#define YIELD_SAFETY 1.1f
#define LEAST_YIELD 1e-3f
#define MOST_SHOWN 1.1

static const yw_contact_body* body_of(const yw_contact_problem* problem,
                                      const yw_contact_answer* a) {
  return &problem->bodies[a->body];
}

static void copy_velocities(yw_vec4* to, const yw_particles* p) {
  for (int32_t i = 0; i < p->count; ++i) to[i] = p->vel[i];
}

void yw_answers_begin(const yw_contact_problem* problem) {
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    const yw_contact_answer* a = &problem->answers[k];
    if (yw_answers(body_of(problem, a))) copy_velocities(a->free, body_of(problem, a)->particles);
  }
}

void yw_answers_base(const yw_contact_problem* problem) {
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    const yw_contact_answer* a = &problem->answers[k];
    copy_velocities(a->base, body_of(problem, a)->particles);
  }
}

// Answers ---------------------------------------------------------------------------------------

// Impulse on a particle, by what the sweeps did to it. Not from the mass: nodes of a coarse front
// carry that of their neighbours too.
static yw_vec3 impulse_on(const yw_particles* p, const yw_contact_answer* a, int32_t i,
                          float yield) {
  float mass = p->inv_mass[i] > 0.0f ? 1.0f / p->inv_mass[i] : 0.0f;
  return yw_scale(yw_sub(yw_xyz(p->vel[i]), yw_xyz(a->base[i])), mass / yield);
}

// The particles of other bodies answer one by one, as the sweeps assume.
static void measure_plain(const yw_contact_problem* problem, yw_contact_answer* a) {
  const yw_particles* p = body_of(problem, a)->particles;
  a->along = a->own = 0.0;
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 impulse = impulse_on(p, a, i, 1.0f), base = yw_xyz(a->base[i]);
    a->along += (double)yw_dot(impulse, base);
    a->own += (double)yw_dot(impulse, yw_sub(yw_xyz(p->vel[i]), base));
  }
}

static void answer(const yw_contact_problem* problem, yw_contact_answer* a) {
  const yw_contact_body* body = body_of(problem, a);
  yw_particles* p = body->particles;
  float yield = problem->yields[a->body];
  double own = 0.0, shown = 0.0;
  a->along = a->own = 0.0;
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 impulse = impulse_on(p, a, i, yield);
    own += (double)yw_dot(impulse, impulse) * (double)p->inv_mass[i];
    a->along += (double)yw_dot(impulse, yw_xyz(a->base[i]));
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
  a->own = shown;
  float seen = YIELD_SAFETY * (float)(shown / own);
  // The first answer replaces the guess of 1; later ones may only raise it. Those to smooth
  // pressure are small: with such a guess sweeps go much too far, so where rounds start from old
  // forces, 1 is a guess only in the first round of sweeps.
  bool guess = problem->first_round || !yw_island_searches(&problem->islands[a->island]);
  if ((yield == 1.0f && guess) || seen > yield) yield = seen;
  problem->yields[a->body] = yw_clampf(yield, LEAST_YIELD, 1.0f);
}

void yw_answers_replace(const yw_contact_problem* problem) {
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    yw_contact_answer* a = &problem->answers[k];
    (yw_answers(body_of(problem, a)) ? answer : measure_plain)(problem, a);
  }
}

// The sweeps overshot: some particles move more easily than the answers so far showed. No answer
// exceeds that of free particles, so this ends where the rounds converge.
void yw_answers_soften(const yw_contact_problem* problem) {
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    float* yield = &problem->yields[problem->answers[k].body];
    *yield = *yield < 0.25f ? 4.0f * *yield : 1.0f;
  }
}

// How far --------------------------------------------------------------------------------------
//
// Without friction, the impulses J sought are those with the least J A J / 2 + J (u - goal), where
// u are the relative velocities before and A J the answers to J. Of forces of the last substep, D,
// as much is used as makes this least: -D (u - goal) / D A D, for each island of bodies by itself;
// those of an impact that is over are dropped. With friction, a contact that slides would press
// more, to lift the body: goals that are lower by mu times the speed of sliding undo this (de Saxce
// and Feng 1998).
//
// Rods and sheets bend so far in an impact that their answers, which are linear, say little about
// the energy; and what an obstacle drives has to get out of its way. Their islands start from
// nothing.

// N s m/s, what the last sweeps add to the product of impulses and goals.
static void measure_goals(const yw_contact_problem* problem, yw_contact_batch* batch) {
  batch->goal_along = 0.0;
  if (!yw_island_searches(&problem->islands[batch->island])) return;
  for (int32_t i = 0; i < batch->count; ++i) {
    const yw_contact_row* row = &batch->rows[i];
    float more = row->impulse - yw_dot(yw_xyz(row->normal), yw_xyz(batch->searches[i].last));
    if (more == 0.0f) continue;
    float goal = row->goal - row->friction_limit * yw_contact_slip(row);
    batch->goal_along += (double)(goal * more);
  }
}

static void scale_batch(const yw_contact_problem* problem, yw_contact_batch* batch) {
  float share = problem->islands[batch->island].share;
  if (share == 1.0f) return;
  for (int32_t i = 0; i < batch->count; ++i) {
    yw_contact_row* row = &batch->rows[i];
    yw_vec3 normal = yw_xyz(row->normal), last = yw_xyz(batch->searches[i].last);
    float along = yw_dot(normal, last);
    row->impulse = along + share * (row->impulse - along);
    row->friction = yw_v4(yw_lerp(yw_mad(last, -along, normal), yw_xyz(row->friction), share));
  }
  if (share < 1.0f) batch->step2 *= (double)(share * share);
}

static void scale_answer(const yw_contact_problem* problem, const yw_contact_answer* a) {
  float share = problem->islands[a->island].share;
  yw_particles* p = body_of(problem, a)->particles;
  if (share == 1.0f) return;
  for (int32_t i = 0; i < p->count; ++i) {
    p->vel[i] = yw_v4(yw_lerp(yw_xyz(a->base[i]), yw_xyz(p->vel[i]), share));
  }
}

void yw_answers_search(const yw_contact_problem* problem, float most) {
  yw_contact_island* islands = problem->islands;
  if (problem->num_answers == 0) return;
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    yw_contact_island* island = &islands[problem->answers[k].island];
    island->along = island->own = 0.0;
    island->share = 1.0f;
  }
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    const yw_contact_answer* a = &problem->answers[k];
    islands[a->island].along += a->along;
    islands[a->island].own += a->own;
  }
  yw_sweep_all(problem, measure_goals);
  for (int32_t i = 0; i < problem->color_start[YW_CONTACT_MAX_COLORS + 1]; ++i) {
    islands[problem->batches[i].island].along -= problem->batches[i].goal_along;
  }
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    yw_contact_island* island = &islands[problem->answers[k].island];
    if (!yw_island_searches(island) || !(island->own > 0.0)) continue;
    island->share = yw_clampf((float)(-island->along / island->own), 0.0f, most);
  }
  yw_sweep_all(problem, scale_batch);
  for (int32_t k = 0; k < problem->num_answers; ++k) scale_answer(problem, &problem->answers[k]);
}

// Velocities and positions ----------------------------------------------------------------------

static void turn_answer(const yw_contact_problem* problem, const yw_contact_answer* a) {
  yw_particles* p = body_of(problem, a)->particles;
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 change = yw_sub(yw_xyz(p->vel[i]), yw_xyz(a->base[i]));
    yw_vec3 extra = yw_scale(yw_xyz(a->heading[i]), problem->extrapolate);
    a->heading[i] = yw_v4(yw_add(extra, change));
    p->vel[i] = yw_v4(yw_add(yw_xyz(p->vel[i]), extra));
  }
}

void yw_answers_turn(const yw_contact_problem* problem) {
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    const yw_contact_answer* a = &problem->answers[k];
    if (yw_answers(body_of(problem, a))) turn_answer(problem, a);
  }
}

// Positions follow the whole change of velocities. The angular momentum that this displacement adds
// is taken out of the body's own rotation.
static void settle_answer(const yw_contact_problem* problem, const yw_contact_answer* a) {
  yw_particles* p = body_of(problem, a)->particles;
  yw_vec3 lost = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 way = yw_scale(yw_sub(yw_xyz(p->vel[i]), yw_xyz(a->free[i])), problem->h);
    lost = yw_mad(lost, p->mass[i], yw_cross(way, yw_xyz(p->vel[i])));
    if (p->inv_mass[i] > 0.0f) p->pos[i] = yw_v4(yw_add(yw_xyz(p->pos[i]), way));
  }
  yw_contact_turn_back(body_of(problem, a), lost);
}

void yw_answers_settle(const yw_contact_problem* problem) {
  for (int32_t k = 0; k < problem->num_answers; ++k) {
    const yw_contact_answer* a = &problem->answers[k];
    if (yw_answers(body_of(problem, a))) settle_answer(problem, a);
  }
}
