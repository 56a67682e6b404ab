// SPDX-License-Identifier: MIT
#include "contact/surfaces/whole.h"

#include "math/small/mat3d.h"
#include "math/small/turn.h"

// Overlap from before the substep leaves by this share per substep, at most this fast (m/s); the
// same as for particles.
#define PUSH_OUT_SHARE 0.2
#define PUSH_OUT_SPEED 0.5
// Velocities lose this share of the motion that is taken back. All of it would stop a heavy body
// for the sake of one corner; none would let gravity gather speed where a body is held for long.
#define SLOWING 0.02

static yw_turn turn_of(const double q[4]) { return (yw_turn){q[0], q[1], q[2], q[3]}; }

static void set_rotation(yw_rigid_motion* m, yw_turn q) {
  yw_turn unit = yw_turn_normalize(q);
  m->rotation[0] = unit.x, m->rotation[1] = unit.y, m->rotation[2] = unit.z;
  m->rotation[3] = unit.w;
}

// Retreat ---------------------------------------------------------------------------------------

// Adds to a velocity what it may lose: it never grows.
static void slow_down(double velocity[3], const double change[3]) {
  double sum[3], before = yw_dot3(velocity, velocity);
  for (int k = 0; k < 3; ++k) sum[k] = velocity[k] + change[k];
  double after = yw_dot3(sum, sum), scale = after > before ? sqrt(before / after) : 1.0;
  for (int k = 0; k < 3; ++k) velocity[k] = scale * sum[k];
}

// The angular momentum that belongs to a change of spin.
static void angular_of(const yw_rigid_motion* m, const double spin[3], double out[3]) {
  double own[3];
  yw_turn_apply(yw_turn_conjugate(turn_of(m->rotation)), spin, own);
  for (int k = 0; k < 3; ++k) own[k] *= m->moments[k];
  yw_turn_apply(turn_of(m->rotation), own, out);
}

void yw_whole_retreat(const yw_contact_body* body, float share, float h, bool slower) {
  yw_rigid_motion* m = body->rigid;
  if (m->held) return;
  double turn[3], change[3], lost[3], keep = (double)share;
  yw_turn start = turn_of(m->start_rotation);
  yw_turn_log(yw_turn_mul(turn_of(m->rotation), yw_turn_conjugate(start)), turn);
  for (int k = 0; k < 3; ++k) {
    double to = m->start_center[k] + keep * (m->center[k] - m->start_center[k]);
    change[k] = SLOWING * (to - m->center[k]) / (double)h;
    m->center[k] = keep > 0.0 ? to : m->start_center[k];
    lost[k] = SLOWING * (keep - 1.0) * turn[k] / (double)h;
    turn[k] *= keep;
  }
  if (keep > 0.0) set_rotation(m, yw_turn_mul(yw_turn_exp(turn), start));
  // To the bit where it began.
  for (int k = 0; k < 4 && !(keep > 0.0); ++k) m->rotation[k] = m->start_rotation[k];
  yw_rigid_turned(m);
  if (slower) {
    double angular[3];
    angular_of(m, lost, angular);
    slow_down(m->velocity, change);
    slow_down(m->angular, angular);
  }
  body->follow(body->context);
}

void yw_whole_shift(const yw_contact_body* body, yw_vec3 way) {
  yw_rigid_motion* m = body->rigid;
  m->center[0] += (double)way.x, m->center[1] += (double)way.y, m->center[2] += (double)way.z;
  body->follow(body->context);
}

// Overlaps --------------------------------------------------------------------------------------

void yw_whole_side(const yw_contact_body* body, const yw_contact* c, int side, double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = body->rigid ? -body->rigid->center[k] : 0.0;
  for (int i = 0; i < c->count[side]; ++i) {
    yw_vec4 x = body->particles->pos[c->particles[side][i]];
    double w = (double)c->weights[side][i];
    out[0] += w * (double)x.x, out[1] += w * (double)x.y, out[2] += w * (double)x.z;
  }
}

// Least gap that the pushes aim at: an overlap from before leaves slowly, none is added.
static double goal_of(const yw_contact* c, double h) {
  double before = (double)c->gap_before, slop = (double)c->slop;
  double push = fmin(PUSH_OUT_SHARE * (-slop - before), PUSH_OUT_SPEED * h);
  return push > 0.0 ? before + push : -slop;
}

// Moves the rigid bodies of a contact apart. Others have done their part.
static void push_apart(const yw_contact_problem* problem, const yw_contact* c) {
  const yw_contact_body* bodies[2] = {&problem->bodies[c->body[0]], &problem->bodies[c->body[1]]};
  const double n[3] = {(double)c->normal.x, (double)c->normal.y, (double)c->normal.z};
  double at[2][3], gap = -(double)c->distance, inv_mass = 0.0;
  for (int s = 0; s < 2; ++s) {
    const yw_rigid_motion* m = bodies[s]->rigid;
    yw_whole_side(bodies[s], c, s, at[s]);
    double along = yw_dot3(n, at[s]) + (m ? yw_dot3(n, m->center) : 0.0);
    gap += s ? -along : along;
    if (m && !m->held) inv_mass += yw_rigid_inv_mass_at(m, at[s], n);
  }
  double push = goal_of(c, (double)problem->h) - gap;
  if (!(push > 0.0) || !(inv_mass > 0.0)) return;
  for (int s = 0; s < 2; ++s) {
    yw_rigid_motion* m = bodies[s]->rigid;
    if (!m || m->held) continue;
    double size = (s ? -push : push) / inv_mass, impulse[3], twist[3], turn[3];
    for (int k = 0; k < 3; ++k) {
      impulse[k] = size * n[k];
      m->center[k] += impulse[k] / m->mass;
    }
    yw_cross3(at[s], impulse, twist);
    yw_sym_apply(m->inv_inertia, twist, turn);
    set_rotation(m, yw_turn_mul(yw_turn_exp(turn), turn_of(m->rotation)));
    yw_rigid_turned(m);
    bodies[s]->follow(bodies[s]->context);
  }
}

bool yw_whole_settle(yw_surfaces* c, const yw_contact_problem* problem, int32_t num_bodies) {
  bool any = false;
  for (int32_t i = 0; i < num_bodies; ++i) {
    const yw_contact_body* body = &problem->bodies[i];
    if (!body->rigid) continue;
    body->fold(body->context);
    any = true;
  }
  if (!any) return true;
  if (!yw_whole_solve(c, problem)) return false;
  int32_t count = problem->color_start[YW_CONTACT_MAX_COLORS + 1];
  for (int32_t i = 0; i < count; ++i) {
    const yw_contact_batch* batch = &problem->batches[i];
    if (!problem->bodies[batch->a].rigid && !problem->bodies[batch->b].rigid) continue;
    for (int32_t k = 0; k < batch->count; ++k) {
      if (batch->contacts[k].count[1] > 0) push_apart(problem, &batch->contacts[k]);
    }
  }
  return true;
}
