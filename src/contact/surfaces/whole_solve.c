// SPDX-License-Identifier: MIT
// Contacts of rigid bodies with each other and with what does not move, once more: sweeps over
// particles see rigid bodies only through their answers, which takes more rounds than there are
// where many stand on each other. Here the unknowns are the motions themselves, so that every visit
// is exact. Impulses start from what the sweeps found.
#include <string.h>

#include "contact/surfaces/data.h"
#include "math/small/mat3d.h"
#include "math/small/turn.h"

// Forward and backward sweeps per iteration that the world asks for, and the share by which all
// impulses together have to change for another one.
#define SWEEPS_PER_ITERATION 10
#define SETTLED 1e-4

static bool is_free(const yw_contact_body* body) { return body->rigid && !body->rigid->held; }

// Rigid, or part of an obstacle.
static bool is_whole(const yw_contact_body* body) { return body->rigid || body->is_obstacle; }

// Rows ------------------------------------------------------------------------------------------

static yw_vec3 any_perpendicular(yw_vec3 n) {
  bool steep = fabsf(n.y) > 0.9f;
  return yw_normalize_or(yw_cross(n, steep ? yw_v3(1, 0, 0) : yw_v3(0, 1, 0)), yw_v3(0, 0, 1));
}

// Velocity of the point on a side that no impulse changes, less that of free bodies.
static void add_fixed_velocity(const yw_contact_problem* problem, const yw_contact* c, int side,
                               double out[3]) {
  double sign = side ? -1.0 : 1.0;
  const yw_contact_body* body = &problem->bodies[c->body[side]];
  if (c->count[side] == 0) {
    const double drift[3] = {(double)c->drift.x, (double)c->drift.y, (double)c->drift.z};
    for (int k = 0; k < 3; ++k) out[k] += sign * drift[k];
    return;
  }
  if (is_free(body)) {
    // As in yw_contact_solve, the velocities of the move.
    for (int k = 0; k < 3 && !body->asleep; ++k) out[k] -= sign * body->rigid->late_velocity[k];
    return;
  }
  for (int i = 0; i < c->count[side]; ++i) {
    yw_vec4 v = body->particles->vel[c->particles[side][i]];
    double w = sign * (double)c->weights[side][i];
    out[0] += w * (double)v.x, out[1] += w * (double)v.y, out[2] += w * (double)v.z;
  }
}

static yw_whole_row make_row(const yw_contact_problem* problem, yw_contact* c) {
  yw_whole_row row = {.contact = c, .body = {-1, -1}, .goal = (double)c->target};
  yw_vec3 tangent = any_perpendicular(c->normal), other = yw_cross(c->normal, tangent);
  const yw_vec3 axes[3] = {c->normal, tangent, other};
  for (int a = 0; a < 3; ++a) {
    row.axis[a][0] = (double)axes[a].x, row.axis[a][1] = (double)axes[a].y;
    row.axis[a][2] = (double)axes[a].z;
  }
  double inv_mass[3] = {0};
  for (int s = 0; s < 2; ++s) {
    const yw_contact_body* body = &problem->bodies[c->body[s]];
    add_fixed_velocity(problem, c, s, row.fixed);
    if (c->count[s] == 0 || !is_free(body)) continue;
    row.body[s] = c->body[s];
    yw_whole_side(body, c, s, row.arm[s]);
    for (int a = 0; a < 3; ++a) {
      inv_mass[a] += yw_rigid_inv_mass_at(body->rigid, row.arm[s], row.axis[a]);
    }
  }
  const double friction[3] = {(double)c->friction.x, (double)c->friction.y, (double)c->friction.z};
  row.impulse[0] = (double)c->impulse;
  for (int a = 0; a < 3; ++a) {
    row.mass[a] = inv_mass[a] > 0.0 ? 1.0 / inv_mass[a] : 0.0;
    if (a > 0) row.impulse[a] = yw_dot3(friction, row.axis[a]);
  }
  return row;
}

static bool may_have_rows(const yw_contact_problem* problem, const yw_contact_batch* batch) {
  const yw_contact_body *a = &problem->bodies[batch->a], *b = &problem->bodies[batch->b];
  return is_whole(a) && is_whole(b) && (is_free(a) || is_free(b));
}

static bool list_rows(yw_surfaces* c, const yw_contact_problem* problem) {
  int32_t count = 0;
  c->whole_rows.count = 0;
  for (int32_t i = 0; i < c->batches.count; ++i) {
    if (may_have_rows(problem, &problem->batches[i])) count += problem->batches[i].count;
  }
  if (!YW_LIST_RESERVE(&c->mem, &c->whole_rows, count)) return false;
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &problem->batches[i];
    if (!may_have_rows(problem, batch)) continue;
    for (int32_t k = 0; k < batch->count; ++k) {
      c->whole_rows.items[c->whole_rows.count++] = make_row(problem, &batch->contacts[k]);
    }
  }
  return true;
}

// Sweeps ----------------------------------------------------------------------------------------

static void push(yw_whole_state* state, const yw_rigid_motion* m, const double arm[3],
                 const double impulse[3]) {
  double twist[3], spin[3];
  yw_cross3(arm, impulse, twist);
  yw_sym_apply(m->inv_inertia, twist, spin);
  for (int k = 0; k < 3; ++k) {
    state->velocity[k] += impulse[k] / m->mass;
    state->spin[k] += spin[k];
    state->twist[k] += twist[k];
  }
}

// Sum of squares of the changes of the impulses.
static double visit(const yw_contact_problem* problem, yw_whole_state* states, yw_whole_row* row) {
  double u[3] = {row->fixed[0], row->fixed[1], row->fixed[2]}, change[3], sum[3] = {0}, turning[3];
  for (int s = 0; s < 2; ++s) {
    if (row->body[s] < 0) continue;
    const yw_whole_state* state = &states[row->body[s]];
    yw_cross3(state->spin, row->arm[s], turning);
    for (int k = 0; k < 3; ++k) u[k] += (s ? -1.0 : 1.0) * (state->velocity[k] + turning[k]);
  }
  double now[3];
  now[0] = fmax(row->impulse[0] + row->mass[0] * (row->goal - yw_dot3(u, row->axis[0])), 0.0);
  for (int a = 1; a < 3; ++a) now[a] = row->impulse[a] - row->mass[a] * yw_dot3(u, row->axis[a]);
  // Friction stops the sliding or reaches its limit.
  double limit = (double)row->contact->friction_limit * now[0];
  double size2 = now[1] * now[1] + now[2] * now[2];
  double scale = size2 > limit * limit ? limit / sqrt(size2) : 1.0;
  now[1] *= scale, now[2] *= scale;
  for (int a = 0; a < 3; ++a) {
    change[a] = now[a] - row->impulse[a];
    row->impulse[a] = now[a];
    for (int k = 0; k < 3; ++k) sum[k] += change[a] * row->axis[a][k];
  }
  double moved = yw_dot3(change, change);
  if (moved == 0.0) return 0.0;
  for (int s = 0; s < 2; ++s) {
    if (row->body[s] < 0) continue;
    const double side[3] = {s ? -sum[0] : sum[0], s ? -sum[1] : sum[1], s ? -sum[2] : sum[2]};
    push(&states[row->body[s]], problem->bodies[row->body[s]].rigid, row->arm[s], side);
  }
  return moved;
}

static void sweep(yw_surfaces* c, const yw_contact_problem* problem) {
  yw_whole_row* rows = c->whole_rows.items;
  int32_t count = c->whole_rows.count;
  for (int32_t round = 0; round < SWEEPS_PER_ITERATION * problem->iterations; ++round) {
    double moved = 0.0, size = 0.0;
    for (int32_t i = 0; i < count; ++i) visit(problem, c->whole_states.items, &rows[i]);
    for (int32_t i = count - 1; i >= 0; --i) {
      moved += visit(problem, c->whole_states.items, &rows[i]);
      size += yw_dot3(rows[i].impulse, rows[i].impulse);
    }
    if (!(moved > SETTLED * SETTLED * size)) return;
  }
}

// Motions ---------------------------------------------------------------------------------------

// The body goes where the new velocities take it.
static void adopt(const yw_contact_body* body, const yw_whole_state* state, double h) {
  yw_rigid_motion* m = body->rigid;
  double before[3], turn[3];
  yw_rigid_spin(m, before);
  for (int k = 0; k < 3; ++k) {
    m->center[k] += h * (state->velocity[k] - m->velocity[k]);
    m->velocity[k] = state->velocity[k];
    m->angular[k] += state->twist[k];
    turn[k] = h * (state->spin[k] - before[k]);
  }
  yw_turn now = {m->rotation[0], m->rotation[1], m->rotation[2], m->rotation[3]};
  now = yw_turn_normalize(yw_turn_mul(yw_turn_exp(turn), now));
  m->rotation[0] = now.x, m->rotation[1] = now.y, m->rotation[2] = now.z, m->rotation[3] = now.w;
  yw_rigid_turned(m);
  body->follow(body->context);
}

bool yw_whole_solve(yw_surfaces* c, const yw_contact_problem* problem) {
  if (!list_rows(c, problem)) return false;
  if (c->whole_rows.count == 0) return true;
  int32_t num_bodies = c->works.count;
  c->whole_states.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->whole_states, num_bodies)) return false;
  for (int32_t i = 0; i < num_bodies; ++i) {
    yw_whole_state* state = &c->whole_states.items[i];
    memset(state, 0, sizeof *state);
    if (!is_free(&problem->bodies[i])) continue;
    memcpy(state->velocity, problem->bodies[i].rigid->velocity, sizeof state->velocity);
    yw_rigid_spin(problem->bodies[i].rigid, state->spin);
  }
  sweep(c, problem);
  for (int32_t i = 0; i < c->whole_rows.count; ++i) {
    const yw_whole_row* row = &c->whole_rows.items[i];
    double friction[3];
    for (int k = 0; k < 3; ++k) {
      friction[k] = row->impulse[1] * row->axis[1][k] + row->impulse[2] * row->axis[2][k];
    }
    row->contact->impulse = (float)row->impulse[0];
    row->contact->friction = yw_v3((float)friction[0], (float)friction[1], (float)friction[2]);
  }
  for (int32_t i = 0; i < num_bodies; ++i) {
    const yw_contact_body* body = &problem->bodies[i];
    if (!is_free(body)) continue;
    const yw_whole_state* state = &c->whole_states.items[i];
    if (memcmp(state->velocity, body->rigid->velocity, sizeof state->velocity) != 0 ||
        yw_dot3(state->twist, state->twist) > 0.0) {
      adopt(body, state, (double)problem->h);
    }
  }
  return true;
}
