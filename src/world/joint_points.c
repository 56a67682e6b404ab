// SPDX-License-Identifier: MIT
// Pairs of points that joints hold together: where they are, how fast, and what impulses do there.
#include "math/small/mat3d.h"
#include "world/joint.h"

void yw_joint_point_at(const yw_joint_side* side, const yw_joint_point* p, int s, double out[3]) {
  if (side->motion) {
    yw_rigid_point(side->motion, p->local[s], out);
    return;
  }
  for (int k = 0; k < 3; ++k) out[k] = p->local[s][k];
  if (!side->soft) return;
  out[0] = out[1] = out[2] = 0.0;
  for (int32_t i = 0; i < p->count[s]; ++i) {
    yw_vec4 x = side->soft->pos[side->particles[p->first[s] + i]];
    const double at[3] = {(double)x.x, (double)x.y, (double)x.z};
    for (int k = 0; k < 3; ++k) out[k] += at[k] / p->count[s];
  }
}

void yw_joint_velocity_of(const yw_joint_side* side, const yw_joint_point* p, int s,
                          double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  if (side->motion) yw_rigid_velocity_at(side->motion, p->arms[s], out);
  for (int32_t i = 0; side->soft && i < p->count[s]; ++i) {
    yw_vec4 v = side->soft->vel[side->particles[p->first[s] + i]];
    const double u[3] = {(double)v.x, (double)v.y, (double)v.z};
    for (int k = 0; k < 3; ++k) out[k] += u[k] / p->count[s];
  }
}

void yw_joint_relative_velocity(const yw_joint* joint, const yw_joint_point* p, double out[3]) {
  double first[3];
  yw_joint_velocity_of(&joint->sides[0], p, 0, first);
  yw_joint_velocity_of(&joint->sides[1], p, 1, out);
  for (int k = 0; k < 3; ++k) out[k] -= first[k];
}

void yw_joint_push_side(const yw_joint_side* side, const yw_joint_point* p, int s,
                        const double impulse[3], double shift) {
  if (side->motion) yw_rigid_push(side->motion, p->arms[s], impulse);
  for (int32_t i = 0; side->soft && i < p->count[s]; ++i) {
    int32_t n = side->particles[p->first[s] + i];
    double share = (double)side->soft->inv_mass[n] / p->count[s];
    yw_vec3 change = yw_v3((float)(share * impulse[0]), (float)(share * impulse[1]),
                           (float)(share * impulse[2]));
    side->soft->vel[n] = yw_v4(yw_add(yw_xyz(side->soft->vel[n]), change));
    side->soft->pos[n] = yw_v4(yw_mad(yw_xyz(side->soft->pos[n]), (float)shift, change));
  }
}

void yw_joint_push(const yw_joint* joint, yw_joint_point* p, const double impulse[3],
                   double shift) {
  const double opposite[3] = {-impulse[0], -impulse[1], -impulse[2]};
  yw_joint_push_side(&joint->sides[0], p, 0, opposite, shift);
  yw_joint_push_side(&joint->sides[1], p, 1, impulse, shift);
  for (int k = 0; k < 3; ++k) p->impulse[k] += impulse[k];
}

void yw_joint_begin_point(const yw_joint* joint, yw_joint_point* p) {
  for (int i = 0; i < 6; ++i) p->inv_masses[i] = 0.0;
  for (int s = 0; s < 2; ++s) {
    const yw_joint_side* side = &joint->sides[s];
    if (side->motion) yw_rigid_add_inv_masses(side->motion, p->arms[s], p->inv_masses);
    for (int32_t i = 0; side->soft && i < p->count[s]; ++i) {
      double weight = 1.0 / p->count[s];
      double inv = (double)side->soft->inv_mass[side->particles[p->first[s] + i]];
      for (int k = 0; k < 3; ++k) p->inv_masses[k] += weight * weight * inv;
    }
  }
  double trace = p->inv_masses[0] + p->inv_masses[1] + p->inv_masses[2];
  if (!(trace > 0.0)) {
    for (int i = 0; i < 6; ++i) p->inverse[i] = 0.0;
    return;
  }
  yw_sym_invert(p->inv_masses, p->inverse);
}

double yw_joint_inv_mass_along(const yw_joint_point* p, const double n[3]) {
  double v[3];
  yw_sym_apply(p->inv_masses, n, v);
  return yw_dot3(n, v);
}

static void spin_of(const yw_joint_side* side, double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  if (side->motion) yw_rigid_spin(side->motion, out);
}

void yw_joint_relative_spin(const yw_joint* joint, double out[3]) {
  double first[3];
  spin_of(&joint->sides[0], first);
  spin_of(&joint->sides[1], out);
  for (int k = 0; k < 3; ++k) out[k] -= first[k];
}

void yw_joint_twist(yw_joint* joint, const double impulse[3]) {
  const double opposite[3] = {-impulse[0], -impulse[1], -impulse[2]};
  if (joint->sides[0].motion) yw_rigid_twist(joint->sides[0].motion, opposite);
  if (joint->sides[1].motion) yw_rigid_twist(joint->sides[1].motion, impulse);
  for (int k = 0; k < 3; ++k) joint->turn_impulse[k] += impulse[k];
}
