// SPDX-License-Identifier: MIT
// Impulses keep both momenta. The guard, which takes motion from one side alone, and pushes apart
// of bodies that slide along each other do not; nor do rigid bodies that are moved back as wholes.
// The difference over all of contact is small. It is added to the velocities of the island as a
// rigid motion: of all motions with these momenta the one of the least energy.
#include "contact/surfaces/balance.h"

#include <math.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "math/small/turn.h"

// Differences below this share of what the island has are rounding.
#define ROUNDING 1e-7

static bool takes_part(const yw_contact_body* body) {
  return (body->body_contact || body->self_contact) && !body->is_obstacle;
}

static void add_point(yw_balance* b, double mass, const double x[3], const double v[3]) {
  double turning[3];
  yw_cross3(x, v, turning);
  b->mass += mass;
  b->energy2 += mass * yw_dot3(v, v);
  for (int k = 0; k < 3; ++k) {
    b->moment[k] += mass * x[k];
    b->momentum[k] += mass * v[k];
    b->angular[k] += mass * turning[k];
  }
  b->inertia[0] += mass * (x[1] * x[1] + x[2] * x[2]);
  b->inertia[1] += mass * (x[0] * x[0] + x[2] * x[2]);
  b->inertia[2] += mass * (x[0] * x[0] + x[1] * x[1]);
  b->inertia[3] -= mass * x[0] * x[1];
  b->inertia[4] -= mass * x[0] * x[2];
  b->inertia[5] -= mass * x[1] * x[2];
}

// Inertia about the centre, in world axes.
static void own_inertia(const yw_rigid_motion* m, double out[6]) {
  double r[9];
  const double* q = m->rotation;
  yw_turn_matrix((yw_turn){q[0], q[1], q[2], q[3]}, r);
  static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
  for (int n = 0; n < 6; ++n) {
    out[n] = 0.0;
    for (int k = 0; k < 3; ++k) {
      out[n] += r[3 * rows[n] + k] * m->moments[k] * r[3 * columns[n] + k];
    }
  }
}

// False for what is held, and for nodes of a coarse front, which carry what hangs on them.
static bool moves_alone(float mass, float inv_mass) {
  return fabsf(mass * inv_mass - 1.0f) < 1e-3f;
}

static yw_balance sum_up(const yw_contact_body* body) {
  yw_balance sum = {.held = body->asleep || body->obstacles};
  const yw_particles* p = body->particles;
  const yw_rigid_motion* m = body->rigid;
  if (m) {
    double own[6], spin[3];
    own_inertia(m, own);
    yw_rigid_spin(m, spin);
    add_point(&sum, m->mass, m->center, m->velocity);
    sum.energy2 += yw_dot3(spin, m->angular);
    for (int k = 0; k < 3; ++k) sum.angular[k] += m->angular[k];
    for (int n = 0; n < 6; ++n) sum.inertia[n] += own[n];
    sum.held = sum.held || m->held || m->num_anchors > 0;
    return sum;
  }
  for (int32_t i = 0; i < p->count; ++i) {
    const double x[3] = {(double)p->pos[i].x, (double)p->pos[i].y, (double)p->pos[i].z};
    const double v[3] = {(double)p->vel[i].x, (double)p->vel[i].y, (double)p->vel[i].z};
    sum.held = sum.held || !moves_alone(p->mass[i], p->inv_mass[i]);
    add_point(&sum, (double)p->mass[i], x, v);
  }
  return sum;
}

static void join(yw_balance* to, const yw_balance* from) {
  to->held = to->held || from->held;
  to->mass += from->mass;
  to->energy2 += from->energy2;
  for (int k = 0; k < 3; ++k) {
    to->moment[k] += from->moment[k];
    to->momentum[k] += from->momentum[k];
    to->angular[k] += from->angular[k];
  }
  for (int n = 0; n < 6; ++n) to->inertia[n] += from->inertia[n];
}

typedef struct summing {
  yw_balance* balances;
  const yw_contact_body* bodies;
  const yw_surfaces* moved;  // NULL: all; only what contact may have moved
  const yw_balance* before;  // of its islands
} summing;

static bool is_summed(const summing* job, int32_t body) {
  if (!takes_part(&job->bodies[body])) return false;
  if (!job->moved) return true;
  int32_t island = job->moved->island_of.items[body];
  return !job->before[island].held && job->moved->islands.items[island].touches;
}

static void sum_body(void* context, int32_t body, int32_t worker) {
  (void)worker;
  const summing* job = context;
  bool summed = is_summed(job, body);
  job->balances[body] = summed ? sum_up(&job->bodies[body]) : (yw_balance){.held = true};
}

bool yw_balance_begin(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies,
                      yw_tasks* tasks) {
  c->balances.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->balances, 4 * num_bodies)) return false;
  summing job = {.balances = c->balances.items, .bodies = bodies};
  yw_tasks_run(tasks, num_bodies, sum_body, &job);
  return true;
}

// A rigid motion: velocity + spin x (x - center).
typedef struct rigid_change {
  double center[3], velocity[3], spin[3];
  bool any;
} rigid_change;

// What gives an island back its momenta.
static rigid_change change_of(const yw_balance* before, const yw_balance* after) {
  rigid_change out = {.any = false};
  double lost[3], angular[3], turning[3], inertia[6], inverse[6], mass = after->mass;
  for (int k = 0; k < 3; ++k) {
    out.center[k] = after->moment[k] / mass;
    lost[k] = before->momentum[k] - after->momentum[k];
    out.velocity[k] = lost[k] / mass;
  }
  const double* x = out.center;
  yw_cross3(x, lost, turning);
  for (int k = 0; k < 3; ++k) angular[k] = before->angular[k] - after->angular[k] - turning[k];
  const double at[6] = {x[1] * x[1] + x[2] * x[2],
                        x[0] * x[0] + x[2] * x[2],
                        x[0] * x[0] + x[1] * x[1],
                        -x[0] * x[1],
                        -x[0] * x[2],
                        -x[1] * x[2]};
  for (int n = 0; n < 6; ++n) inertia[n] = after->inertia[n] - mass * at[n];
  double trace = inertia[0] + inertia[1] + inertia[2];
  // A straight rod does not turn about itself.
  for (int n = 0; n < 3; ++n) inertia[n] += 1e-6 * trace;
  yw_sym_invert(inertia, inverse);
  yw_sym_apply(inverse, angular, out.spin);
  double size = sqrt(mass * after->energy2), reach = sqrt(trace / mass);
  bool moved = sqrt(yw_dot3(lost, lost)) > ROUNDING * size;
  bool turned = sqrt(yw_dot3(angular, angular)) > ROUNDING * size * reach;
  out.any = trace > 0.0 && (moved || turned);
  return out;
}

static void apply(const yw_contact_body* body, const rigid_change* change) {
  yw_particles* p = body->particles;
  yw_rigid_motion* m = body->rigid;
  double arm[3], turning[3];
  if (m) {
    double own[6], angular[3];
    own_inertia(m, own);
    yw_sym_apply(own, change->spin, angular);
    for (int k = 0; k < 3; ++k) arm[k] = m->center[k] - change->center[k];
    yw_cross3(change->spin, arm, turning);
    for (int k = 0; k < 3; ++k) {
      m->velocity[k] += change->velocity[k] + turning[k];
      m->angular[k] += angular[k];
    }
    body->follow(body->context);
    return;
  }
  for (int32_t i = 0; i < p->count; ++i) {
    arm[0] = (double)p->pos[i].x - change->center[0];
    arm[1] = (double)p->pos[i].y - change->center[1];
    arm[2] = (double)p->pos[i].z - change->center[2];
    yw_cross3(change->spin, arm, turning);
    p->vel[i].x = (float)((double)p->vel[i].x + change->velocity[0] + turning[0]);
    p->vel[i].y = (float)((double)p->vel[i].y + change->velocity[1] + turning[1]);
    p->vel[i].z = (float)((double)p->vel[i].z + change->velocity[2] + turning[2]);
  }
}

void yw_balance_end(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies,
                    yw_tasks* tasks) {
  if (c->batches.count == 0) return;
  const int32_t* island_of = c->island_of.items;
  yw_balance *first = c->balances.items, *before = first + num_bodies, *after = before + num_bodies;
  yw_balance* last = after + num_bodies;  // of bodies, as `first` is
  memset(before, 0, 2 * (size_t)num_bodies * sizeof *before);
  for (int32_t i = 0; i < num_bodies; ++i) {
    if (takes_part(&bodies[i])) join(&before[island_of[i]], &first[i]);
  }
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &c->colored.items[i];
    bool obstacle = bodies[batch->a].is_obstacle || bodies[batch->b].is_obstacle;
    if (obstacle) before[batch->island].held = true;
  }
  summing job = {.balances = last, .bodies = bodies, .moved = c, .before = before};
  yw_tasks_run(tasks, num_bodies, sum_body, &job);
  for (int32_t i = 0; i < num_bodies; ++i) {
    if (is_summed(&job, i)) join(&after[island_of[i]], &last[i]);
  }
  for (int32_t i = 0; i < num_bodies; ++i) {
    int32_t island = island_of[i];
    if (!takes_part(&bodies[i]) || !(after[island].mass > 0.0)) continue;
    rigid_change change = change_of(&before[island], &after[island]);
    if (change.any) apply(&bodies[i], &change);
  }
}
