// SPDX-License-Identifier: MIT
#include "methods/kit/respond.h"

#include "methods/kit/rigid.h"

bool yw_is_free(const yw_particles* particles, const yw_step_ctx* ctx) {
  if (ctx->num_holds > 0 || ctx->num_springs > 0) return false;
  for (int32_t p = 0; p < particles->count; ++p) {
    if (particles->inv_mass[p] == 0.0f) return false;
  }
  return true;
}

static void arm_of(const yw_particles* particles, const double center[3], int32_t p, double y[3]) {
  const float* x = &particles->pos[p].x;
  for (int i = 0; i < 3; ++i) y[i] = (double)x[i] - center[i];
}

static void find_mass(const yw_particles* particles, yw_rigid_answer* out) {
  // Relative to a particle, so that a body far away keeps the precision of its positions.
  double near[3], sum[3] = {0}, y[3];
  arm_of(particles, sum, 0, near);
  for (int32_t p = 0; p < particles->count; ++p) {
    double m = (double)particles->mass[p];
    arm_of(particles, near, p, y);
    out->mass += m;
    for (int i = 0; i < 3; ++i) sum[i] += m * y[i];
  }
  for (int i = 0; i < 3; ++i) out->center[i] = near[i] + sum[i] / out->mass;
  for (int32_t p = 0; p < particles->count; ++p) {
    double m = (double)particles->mass[p];
    arm_of(particles, out->center, p, y);
    for (int i = 0; i < 3; ++i) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      out->inertia[i] += m * (y[j] * y[j] + y[k] * y[k]);
    }
    out->inertia[3] -= m * y[0] * y[1];
    out->inertia[4] -= m * y[0] * y[2];
    out->inertia[5] -= m * y[1] * y[2];
  }
}

static void add_cross(const double a[3], const double b[3], double sum[3]) {
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    sum[i] += a[j] * b[k] - a[k] * b[j];
  }
}

static void motion_at(const yw_rigid_answer* rigid, const double y[3], double out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = rigid->velocity[i];
  add_cross(rigid->spin, y, out);
}

yw_rigid_answer yw_answer_rigidly(const yw_particles* particles, const yw_vec4* impulses,
                                  bool turns, yw_vec4* rest) {
  yw_rigid_answer out = {.turns = turns};
  double angular[3] = {0}, y[3], v[3];
  if (particles->count == 0) return out;
  find_mass(particles, &out);
  for (int32_t p = 0; p < particles->count; ++p) {
    const double j[3] = {(double)impulses[p].x, (double)impulses[p].y, (double)impulses[p].z};
    if (j[0] == 0.0 && j[1] == 0.0 && j[2] == 0.0) continue;
    arm_of(particles, out.center, p, y);
    for (int i = 0; i < 3; ++i) out.velocity[i] += j[i] / out.mass;
    add_cross(y, j, angular);
  }
  if (turns) yw_spin_of(out.inertia, angular, out.spin);
  for (int32_t p = 0; p < particles->count; ++p) {
    double m = (double)particles->mass[p];
    arm_of(particles, out.center, p, y);
    motion_at(&out, y, v);
    rest[p] = (yw_vec4){(float)((double)impulses[p].x - m * v[0]),
                        (float)((double)impulses[p].y - m * v[1]),
                        (float)((double)impulses[p].z - m * v[2]), 0.0f};
  }
  return out;
}

void yw_answer_add_rigid(const yw_particles* particles, const yw_rigid_answer* answer,
                         yw_vec4* change) {
  yw_rigid_answer missing = *answer;
  double linear[3] = {0}, angular[3] = {0}, spin[3] = {0}, y[3], v[3];
  for (int32_t p = 0; p < particles->count; ++p) {
    double m = (double)particles->mass[p];
    const double own[3] = {m * (double)change[p].x, m * (double)change[p].y,
                           m * (double)change[p].z};
    arm_of(particles, answer->center, p, y);
    for (int i = 0; i < 3; ++i) linear[i] += own[i];
    add_cross(y, own, angular);
  }
  if (answer->turns) yw_spin_of(answer->inertia, angular, spin);
  for (int i = 0; i < 3; ++i) {
    missing.velocity[i] -= linear[i] / answer->mass;
    missing.spin[i] -= spin[i];
  }
  for (int32_t p = 0; p < particles->count; ++p) {
    arm_of(particles, answer->center, p, y);
    motion_at(&missing, y, v);
    change[p] = (yw_vec4){(float)((double)change[p].x + v[0]), (float)((double)change[p].y + v[1]),
                          (float)((double)change[p].z + v[2]), 0.0f};
  }
}

void yw_answer_apart(const yw_particles* particles, const yw_vec4* impulses, yw_vec4* change) {
  for (int32_t p = 0; p < particles->count; ++p) {
    change[p] = yw_v4(yw_scale(yw_xyz(impulses[p]), particles->inv_mass[p]));
  }
}
