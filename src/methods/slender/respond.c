// SPDX-License-Identifier: MIT
// Answer of a rod or sheet to impulses J on its particles that act as constant forces over the last
// step: (M + h'^2 K) change = J. The factor is the step's last one, so K is that of its last Newton
// step but one: a new factor would cost half a step. Orientations answer too, but only velocities
// are reported. Particles that an obstacle stopped are free here.
#include "methods/kit/respond.h"

#include <string.h>

#include "methods/slender/motion.h"

// Holds are those of the particles now. The factor is made again where the step had others:
// particles on obstacles.
static bool prepare_factor(slender_body* body, const yw_particles* particles, yw_tasks* tasks) {
  bool same = !body->solver.has_no_factor;
  for (int32_t p = 0; p < particles->count; ++p) {
    slender_anchor* anchor = &body->solver.anchors[p];
    bool held = particles->inv_mass[p] == 0.0f;
    same = same && anchor->held == held && !(anchor->normal > 0.0);
    anchor->held = held;
    anchor->normal = anchor->drag = 0.0;
  }
  if (same) return true;
  body->solver.has_no_factor = false;
  return yw_slender_factorise(&body->solver, tasks);
}

// Impulses as forces, 0 where held.
static void load_impulses(slender_body* body, const yw_particles* particles,
                          const yw_vec4* impulses) {
  for (int32_t p = 0; p < particles->count; ++p) {
    double* load = body->solver.step + 6 * p;
    bool held = body->solver.anchors[p].held;
    for (int k = 0; k < 3; ++k) {
      load[k] = held ? 0.0 : (double)(&impulses[p].x)[k] / body->h1;
      load[3 + k] = 0.0;
    }
  }
}

// Free bodies ------------------------------------------------------------------------------------
// As in kit/respond.h, with orientations: rigid motions are exact, which damping is not to touch.

static void arm_of(const slender_body* body, const yw_particles* particles,
                   const slender_motion* motion, int32_t p, double y[3]) {
  for (int k = 0; k < 3; ++k) y[k] = yw_slender_place(body, particles, p, k) - motion->center[k];
}

// Velocity and spin of the motion whose momenta are those of six numbers per particle.
static void find_rigid(const slender_body* body, const yw_particles* particles, const double* six,
                       slender_motion* motion) {
  double linear[3] = {0}, angular[3] = {0}, y[3];
  for (int32_t p = 0; p < particles->count; ++p) {
    const double* f = six + 6 * p;
    arm_of(body, particles, motion, p, y);
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      linear[k] += f[k];
      angular[k] += y[a] * f[b] - y[b] * f[a] + f[3 + k];
    }
  }
  for (int k = 0; k < 3; ++k) motion->velocity[k] = linear[k] / motion->mass;
  yw_slender_spin_of(motion->inertia, angular, motion->spin);
}

// six += share times the velocities of a rigid motion, or, with masses, their momenta.
static void add_rigid(const slender_body* body, const yw_particles* particles,
                      const slender_motion* motion, double share, bool masses, double* six) {
  for (int32_t p = 0; p < particles->count; ++p) {
    double y[3], turn[3], mass = masses ? (double)body->model->mass[p] : 1.0;
    arm_of(body, particles, motion, p, y);
    memcpy(turn, motion->spin, sizeof turn);
    if (masses) yw_slender_momentum_of(body->model, p, body->turn[p], motion->spin, turn);
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      double v = motion->velocity[k] + motion->spin[a] * y[b] - motion->spin[b] * y[a];
      six[6 * p + k] += share * mass * v;
      six[6 * p + 3 + k] += share * turn[k];
    }
  }
}

// six = momenta of six velocities per particle.
static void to_momenta(const slender_body* body, int32_t count, const double* velocities,
                       double* six) {
  for (int32_t p = 0; p < count; ++p) {
    for (int k = 0; k < 3; ++k) {
      six[6 * p + k] = (double)body->model->mass[p] * velocities[6 * p + k];
    }
    yw_slender_momentum_of(body->model, p, body->turn[p], velocities + 6 * p + 3, six + 6 * p + 3);
  }
}

// step = (H / h')^-1 step; for free bodies the rigid part of it is that of the momenta.
static bool answer(slender_body* body, const yw_particles* particles, bool free) {
  double *step = body->solver.step, *momenta = body->solver.gradient;
  slender_motion motion = {0}, own;
  if (free) {
    // Loads are momenta per h'.
    motion = yw_slender_motion(body, particles, NULL);
    find_rigid(body, particles, step, &motion);
    add_rigid(body, particles, &motion, -1.0, true, step);
  }
  // H is divided by the scale of the stiffness (step.c).
  const double scale = (double)body->params.stiffness_scale;
  for (int32_t i = 0; i < 6 * particles->count; ++i) step[i] /= scale;
  if (!yw_slender_backsolve(&body->solver)) return false;
  if (!free) return true;
  own = motion;
  to_momenta(body, particles->count, step, momenta);
  find_rigid(body, particles, momenta, &own);
  add_rigid(body, particles, &own, -1.0, false, step);
  add_rigid(body, particles, &motion, body->h1 * body->h1, false, step);
  return true;
}

yw_status yw_slender_respond(void* state, const yw_particles* particles, const yw_step_ctx* ctx,
                             const yw_vec4* impulses, yw_vec4* change) {
  slender_body* body = state;
  bool implicit = body->params.solver < YW_SLENDER_EXTENDED && body->h1 > 0.0;
  if (!implicit || body->model->num_elements == 0) {
    yw_answer_apart(particles, impulses, change);
    return YW_OK;
  }
  bool solved = prepare_factor(body, particles, ctx->tasks);
  load_impulses(body, particles, impulses);
  solved = solved && answer(body, particles, yw_is_free(particles, ctx));
  if (!solved) {
    yw_answer_apart(particles, impulses, change);
    return YW_WARN_NUMERICS;
  }
  // The unknown is h' times the change.
  for (int32_t p = 0; p < particles->count; ++p) {
    const double* d = body->solver.step + 6 * p;
    bool held = body->solver.anchors[p].held;
    change[p] = (yw_vec4){0};
    for (int k = 0; k < 3 && !held; ++k) (&change[p].x)[k] = (float)(d[k] / body->h1);
  }
  return YW_OK;
}
