// SPDX-License-Identifier: MIT
// The substep of rigid bodies under contacts, pins and joints: RATTLE, with projected Gauss-Seidel
// sweeps for the impulses of both halves. Impulses of joints and pins act where these are at the
// start of the substep, which makes the map symplectic; where they end up is measured after the
// move, and the sweeps are repeated until it is right.
#include <math.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "math/small/turn.h"
#include "yawara/extend/rigid_motion.h"

// Moves that measure what joints and pins miss. Each divides it by about 1 / (angle turned).
#define MAX_MOVES 8
#define MAX_SWEEPS 100
// Sweeps end when no velocity changes by more than this share of the largest ...
#define SETTLED 1e-9
// ... and moves, when joints and pins miss by less than this, m.
#define CLOSE 1e-10

static yw_turn turn_of(const double q[4]) { return (yw_turn){q[0], q[1], q[2], q[3]}; }

// Contacts ----------------------------------------------------------------------------------------

// Any two directions that complete the normal to a frame.
static void find_tangents(const double n[3], double out[2][3]) {
  int least = fabs(n[0]) <= fabs(n[1]) && fabs(n[0]) <= fabs(n[2]) ? 0
              : fabs(n[1]) <= fabs(n[2])                           ? 1
                                                                   : 2;
  double axis[3] = {0};
  axis[least] = 1.0;
  yw_cross3(n, axis, out[0]);
  double length = sqrt(yw_dot3(out[0], out[0]));
  for (int k = 0; k < 3; ++k) out[0][k] /= length;
  yw_cross3(n, out[0], out[1]);
}

// The arm of a contact after t seconds of the move.
static void arm_at(const yw_rigid_motion* motion, const yw_rigid_contact* c, const double spin[3],
                   double t, double out[3]) {
  const double turn[3] = {t * spin[0], t * spin[1], t * spin[2]};
  yw_turn q = turn_of(motion->rotation);
  if (t > 0.0) q = yw_turn_mul(yw_turn_exp(turn), q);
  yw_turn_apply(q, c->local, out);
  for (int k = 0; k < 3; ++k) out[k] -= c->radius * c->normal[k];
}

// A few contacts carry a flat face, mostly at its rim. Even pressure has its friction farther in:
// it acts between them and the centre of pressure, at the mean distance of the points of the face.
// What it gave in these sweeps moves there too.
static void spread_friction(yw_rigid_motion* motion, bool moves) {
  double weight[YW_RIGID_FACES] = {0}, middle[YW_RIGID_FACES][3] = {{0}},
         mean[YW_RIGID_FACES] = {0};
  for (int32_t i = 0; i < motion->num_contacts; ++i) {
    const yw_rigid_contact* c = &motion->contacts[i];
    if (c->face < 0) continue;
    weight[c->face] += c->impulse;
    for (int k = 0; k < 3; ++k) middle[c->face][k] += c->impulse * c->arm[k];
  }
  for (int32_t i = 0; i < motion->num_contacts; ++i) {
    const yw_rigid_contact* c = &motion->contacts[i];
    if (c->face < 0 || !(weight[c->face] > 0.0)) continue;
    double away[3], share = c->impulse / weight[c->face];
    for (int k = 0; k < 3; ++k) away[k] = c->arm[k] - middle[c->face][k] / weight[c->face];
    mean[c->face] += share * sqrt(yw_dot3(away, away));
  }
  for (int32_t i = 0; i < motion->num_contacts; ++i) {
    yw_rigid_contact* c = &motion->contacts[i];
    if (c->face < 0 || !(mean[c->face] > 0.0)) continue;
    double share = fmin(c->reach / mean[c->face], 1.0), way[3], twist[3];
    for (int k = 0; k < 3; ++k) {
      double at = middle[c->face][k] / weight[c->face], to = at + share * (c->arm[k] - at);
      way[k] = to - c->grip[k];
      c->grip[k] = to;
    }
    yw_cross3(way, c->sideways, twist);
    if (moves) yw_rigid_twist(motion, twist);
    for (int t = 0; t < 2; ++t) {
      c->inv_slide[t] = yw_rigid_inv_mass_at(motion, c->grip, c->tangents[t]);
    }
  }
}

// h is the time of the move, 0 after it. A point that turns goes along a chord, at right angles to
// where it is half-way. Its impulse acts where it is while it touches: in the middle of what is
// left of the move then.
static void begin_contacts(yw_rigid_motion* motion, double h) {
  double spin[3];
  yw_rigid_spin(motion, spin);
  // A chord is shorter than its arc: sin(x) / x with x half the angle.
  double half2 = 0.25 * h * h * yw_dot3(spin, spin);
  double chord = half2 < 1.0 ? 1.0 - half2 / 6.0 * (1.0 - half2 / 20.0) : 0.84;
  for (int32_t i = 0; i < motion->num_contacts; ++i) {
    yw_rigid_contact* c = &motion->contacts[i];
    arm_at(motion, c, spin, 0.5 * h, c->lever);
    for (int k = 0; k < 3; ++k) c->lever[k] *= chord;
    arm_at(motion, c, spin, 0.5 * (1.0 + c->share) * h, c->arm);
    memcpy(c->grip, c->arm, sizeof c->grip);
    find_tangents(c->normal, c->tangents);
    c->inv_mass = yw_rigid_inv_mass_at(motion, c->arm, c->normal);
    for (int t = 0; t < 2; ++t) {
      c->inv_slide[t] = yw_rigid_inv_mass_at(motion, c->arm, c->tangents[t]);
    }
  }
  spread_friction(motion, false);
}

// Friction: stops the sliding, as far as the impulse stays within the cone.
static double stop_sliding(yw_rigid_motion* motion, yw_rigid_contact* c) {
  double slide[3], wanted[3], limit = c->friction * c->impulse;
  yw_rigid_velocity_at(motion, c->grip, slide);
  for (int k = 0; k < 3; ++k) {
    slide[k] -= c->drift[k];
    wanted[k] = c->sideways[k];
  }
  for (int t = 0; t < 2; ++t) {
    double push = -yw_dot3(slide, c->tangents[t]) / c->inv_slide[t];
    for (int k = 0; k < 3; ++k) wanted[k] += push * c->tangents[t][k];
  }
  double size = sqrt(yw_dot3(wanted, wanted)), scale = size > limit ? limit / size : 1.0,
         change = 0;
  double impulse[3];
  for (int k = 0; k < 3; ++k) {
    wanted[k] *= scale;
    impulse[k] = wanted[k] - c->sideways[k];
    c->sideways[k] = wanted[k];
    change = fmax(change, fabs(impulse[k]));
  }
  yw_rigid_push(motion, c->grip, impulse);
  return change * fmax(c->inv_slide[0], c->inv_slide[1]);
}

static double sweep_contacts(yw_rigid_motion* motion, bool at_end) {
  double largest = 0.0;
  spread_friction(motion, true);
  for (int32_t i = 0; i < motion->num_contacts; ++i) {
    yw_rigid_contact* c = &motion->contacts[i];
    double target = at_end ? c->end_target : c->target, u[3], impulse[3];
    if (!(c->inv_mass > 0.0) || (at_end && c->leaves)) continue;
    yw_rigid_velocity_at(motion, c->lever, u);
    for (int k = 0; k < 3; ++k) u[k] -= c->drift[k];
    // Both halves together never pull; the second may take back what the first gave too much.
    double wanted = c->impulse + (target - yw_dot3(u, c->normal)) / c->inv_mass;
    double change = (wanted > 0.0 ? wanted : 0.0) - c->impulse;
    for (int k = 0; k < 3; ++k) impulse[k] = change * c->normal[k];
    yw_rigid_push(motion, c->arm, impulse);
    c->impulse += change;
    largest = fmax(largest, fmax(fabs(change) * c->inv_mass, stop_sliding(motion, c)));
  }
  return largest;
}

// Contacts that do not touch after the move have nothing to keep at the end.
static void end_contacts(yw_rigid_motion* motion, double h) {
  for (int32_t i = 0; i < motion->num_contacts; ++i) {
    yw_rigid_contact* c = &motion->contacts[i];
    c->leaves = false;
    if (c->impulse > 0.0) continue;
    double from[3], to[3], way = 0.0;
    yw_turn_apply(turn_of(motion->start_rotation), c->local, from);
    yw_turn_apply(turn_of(motion->rotation), c->local, to);
    for (int k = 0; k < 3; ++k) {
      double moved = to[k] + motion->center[k] - from[k] - motion->start_center[k];
      way += c->normal[k] * (moved - h * c->drift[k]);
    }
    c->leaves = c->gap + way > 0.0;
  }
}

// Pins --------------------------------------------------------------------------------------------

static void begin_anchors(yw_rigid_motion* motion) {
  for (int32_t i = 0; i < motion->num_anchors; ++i) {
    yw_rigid_anchor* a = &motion->anchors[i];
    double masses[6] = {0};
    yw_turn_apply(turn_of(motion->rotation), a->local, a->arm);
    yw_rigid_add_inv_masses(motion, a->arm, masses);
    yw_sym_invert(masses, a->inv_stiff);
    a->inv_mass = masses[0] + masses[1] + masses[2];
  }
}

// The body is at the end of its move; arms are still those of the start.
static double measure_anchors(yw_rigid_motion* motion) {
  double largest = 0.0;
  for (int32_t i = 0; i < motion->num_anchors; ++i) {
    yw_rigid_anchor* a = &motion->anchors[i];
    double at[3], arm[3];
    yw_rigid_point(motion, a->local, at);
    yw_turn_apply(turn_of(motion->start_rotation), a->local, arm);
    for (int k = 0; k < 3; ++k) {
      a->to[k] = at[k] - a->end[k];
      a->from[k] = motion->start_center[k] + arm[k] - a->begin[k];
      if (a->stiffness == 0.0) largest = fmax(largest, fabs(a->to[k]));
    }
  }
  return largest;
}

// Back at the start, the velocities that the errors call for.
static void aim_anchors(yw_rigid_motion* motion, double h) {
  for (int32_t i = 0; i < motion->num_anchors; ++i) {
    yw_rigid_anchor* a = &motion->anchors[i];
    yw_rigid_velocity_at(motion, a->arm, a->seen);
    for (int k = 0; k < 3; ++k) a->wanted[k] = a->seen[k] - a->to[k] / h;
  }
}

// A spring pulls with the mean of its forces at both ends of the substep, which keeps its energy;
// half of the impulse comes before the move.
static void pull_spring(const yw_rigid_anchor* a, const double u[3], double h, double impulse[3]) {
  double resist = 1.0 + (0.25 * a->stiffness * h * h + 0.5 * a->damping * h) * a->inv_mass;
  for (int k = 0; k < 3; ++k) {
    double to = a->to[k] + h * (u[k] - a->seen[k]);
    double force = -0.5 * a->stiffness * (a->from[k] + to) - a->damping * (to - a->from[k]) / h;
    impulse[k] = (0.5 * h * force - a->impulse[k]) / resist;
  }
}

static double sweep_anchors(yw_rigid_motion* motion, double h, bool at_end) {
  double largest = 0.0;
  for (int32_t i = 0; i < motion->num_anchors; ++i) {
    yw_rigid_anchor* a = &motion->anchors[i];
    double u[3], impulse[3], miss[3];
    if (a->stiffness > 0.0 && at_end) continue;
    yw_rigid_velocity_at(motion, a->arm, u);
    if (a->stiffness > 0.0) {
      pull_spring(a, u, h, impulse);
    } else {
      for (int k = 0; k < 3; ++k) {
        miss[k] = (at_end ? (a->end[k] - a->begin[k]) / h : a->wanted[k]) - u[k];
      }
      yw_sym_apply(a->inv_stiff, miss, impulse);
    }
    for (int k = 0; k < 3; ++k) {
      a->impulse[k] += impulse[k];
      largest = fmax(largest, fabs(impulse[k]) * a->inv_mass);
    }
    yw_rigid_push(motion, a->arm, impulse);
  }
  return largest;
}

// The other half of what springs give.
static void finish_springs(yw_rigid_motion* motion) {
  for (int32_t i = 0; i < motion->num_anchors; ++i) {
    yw_rigid_anchor* a = &motion->anchors[i];
    if (!(a->stiffness > 0.0)) continue;
    yw_rigid_push(motion, a->arm, a->impulse);
    for (int k = 0; k < 3; ++k) a->impulse[k] *= 2.0;
  }
}

// The substep -------------------------------------------------------------------------------------

typedef struct solve {
  yw_rigid_motion* const* motions;
  int32_t count;
  double h;
  const yw_rigid_coupling* coupling;
} solve;

static double speed_scale(const solve* s) {
  double largest = 0.0;
  for (int32_t i = 0; i < s->count; ++i) {
    const yw_rigid_motion* m = s->motions[i];
    double kick = 2.0 * sqrt(yw_dot3(m->kick, m->kick));
    largest = fmax(largest, sqrt(yw_dot3(m->velocity, m->velocity)) + kick);
  }
  return largest;
}

static int32_t sweep_until_settled(const solve* s, bool at_end) {
  double enough = (s->coupling ? s->coupling->settled : SETTLED) * speed_scale(s);
  for (int32_t i = 0; i < s->count; ++i) {
    begin_contacts(s->motions[i], at_end ? 0.0 : s->h);
    if (at_end) begin_anchors(s->motions[i]);
  }
  if (s->coupling) s->coupling->begin(s->coupling->context, at_end);
  // Before joints take back what they began with, contacts answer it.
  for (int32_t i = 0; s->coupling && i < s->count; ++i) sweep_contacts(s->motions[i], at_end);
  for (int32_t sweep = 1;; ++sweep) {
    double change = 0.0;
    for (int32_t i = 0; i < s->count; ++i) {
      change = fmax(change, sweep_anchors(s->motions[i], s->h, at_end));
    }
    if (s->coupling) {
      change = fmax(change, s->coupling->sweep(s->coupling->context, s->h, at_end));
    }
    for (int32_t i = 0; i < s->count; ++i) {
      change = fmax(change, sweep_contacts(s->motions[i], at_end));
    }
    if (!(change > enough) || sweep == MAX_SWEEPS) return sweep;
  }
}

// Moves all bodies and measures; false when there is nothing to measure, or it is small.
static bool misses(const solve* s) {
  double largest = -1.0;
  for (int32_t i = 0; i < s->count; ++i) {
    yw_rigid_motion* m = s->motions[i];
    yw_rigid_move(m, s->h);
    if (m->num_anchors > 0) largest = fmax(largest, measure_anchors(m));
  }
  if (s->coupling) {
    largest = fmax(largest, s->coupling->measure(s->coupling->context, s->h));
  }
  return largest > CLOSE;
}

static void back_to_start(const solve* s) {
  for (int32_t i = 0; i < s->count; ++i) {
    yw_rigid_rewind(s->motions[i]);
    begin_anchors(s->motions[i]);
    aim_anchors(s->motions[i], s->h);
  }
}

// What sticks to an obstacle has no velocity left, so gravity's second half came and went: contact
// has to know along the surface, or it drives bodies up a slope. Across it all of gravity counts:
// what carries a tower then pushes a little more, and towers come to rest in fewer sweeps.
static void note_late(yw_rigid_motion* m) {
  double n[3] = {0}, aside[3], late = 0.0;
  for (int32_t i = 0; i < m->num_contacts; ++i) {
    for (int k = 0; k < 3; ++k) n[k] += m->contacts[i].impulse * m->contacts[i].normal[k];
  }
  double length2 = yw_dot3(n, n), along = length2 > 0.0 ? yw_dot3(m->kick, n) / length2 : 0.0;
  for (int k = 0; k < 3; ++k) {
    aside[k] = length2 > 0.0 ? m->kick[k] - along * n[k] : 0.0;
    late += (m->velocity[k] - m->half_velocity[k]) * aside[k];
  }
  double size2 = yw_dot3(aside, aside), lost = 0.0;
  if (size2 > 0.0) lost = 1.0 - fmin(fmax(late / size2, 0.0), 1.0);
  for (int k = 0; k < 3; ++k) m->late_velocity[k] = m->kick[k] - lost * aside[k];
}

int32_t yw_rigid_solve(yw_rigid_motion* const* motions, int32_t count, double h,
                       const yw_rigid_coupling* coupling) {
  solve s = {motions, count, h, coupling};
  bool measured = coupling != NULL, touching = false;
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      motions[i]->free_velocity[k] = motions[i]->velocity[k];
      motions[i]->free_angular[k] = motions[i]->angular[k];
    }
    measured = measured || motions[i]->num_anchors > 0;
    touching = touching || motions[i]->num_contacts > 0;
  }
  int32_t sweeps = 0;
  bool missing = misses(&s);
  for (int move = 0; (move == 0 && (touching || measured)) || (missing && move < MAX_MOVES);
       ++move) {
    back_to_start(&s);
    sweeps += sweep_until_settled(&s, false);
    missing = misses(&s) && measured;
  }
  for (int32_t i = 0; i < count; ++i) {
    yw_rigid_motion* m = motions[i];
    for (int k = 0; k < 3 && !m->held; ++k) m->velocity[k] += m->kick[k];
    end_contacts(m, h);
    begin_anchors(m);
    finish_springs(m);
  }
  if (touching || measured) sweeps += sweep_until_settled(&s, true);
  for (int32_t i = 0; i < count; ++i) note_late(motions[i]);
  return sweeps;
}
