// SPDX-License-Identifier: MIT
// Glue: many points of a soft body on one rigid body. Point by point the impulses would take
// hundreds of sweeps to agree, since each turns the rigid body for all others. Impulses j_i on
// points of mass m_i at r_i that change their velocities against the rigid body by d_i are
//   j_i = m_i (d_i - V - W x r_i)
// where the rigid body, laden with the points, recoils with -V and -W under all m_i d_i.
#include "math/small/mat3d.h"
#include "world/joint.h"

bool yw_joint_is_glue(const yw_joint* joint) {
  const yw_joint_side* sides = joint->sides;
  return joint->kind == YW_JOINT_FIXED &&
         ((sides[0].motion && sides[1].soft) || (sides[1].motion && sides[0].soft));
}

static int rigid_side(const yw_joint* joint) { return joint->sides[0].motion ? 0 : 1; }

// Pinned particles have no mass of their own to move: they are swept one by one.
bool yw_joint_glues(const yw_joint_point* p) { return p->glued_mass > 0.0; }

static double glued_mass(const yw_joint_side* side, const yw_joint_point* p, int s) {
  double inverse = 0.0, weight = 1.0 / p->count[s];
  for (int32_t i = 0; i < p->count[s]; ++i) {
    inverse += weight * weight * (double)side->soft->inv_mass[side->particles[p->first[s] + i]];
  }
  return inverse > 0.0 ? 1.0 / inverse : 0.0;
}

void yw_joint_begin_glue(yw_joint* joint, yw_joint_load* whole) {
  int rigid = rigid_side(joint), soft = 1 - rigid;
  yw_load_begin(&joint->load, joint->sides[rigid].motion);
  for (int32_t i = 0; i < joint->num_points; ++i) {
    yw_joint_point* p = &joint->points[i];
    p->glued_mass = glued_mass(&joint->sides[soft], p, soft);
    if (!yw_joint_glues(p)) continue;
    yw_load_add(&joint->load, p->glued_mass, p->arms[rigid]);
    yw_load_add(whole, p->glued_mass, p->arms[rigid]);
  }
  yw_load_finish(&joint->load);
}

// What the soft points miss against the rigid body, m/s; returns the largest, 0 if it is rounding.
static double find_misses(yw_joint* joint, double sign, double h, bool at_end) {
  double largest = 0.0, fastest = 0.0;
  for (int32_t i = 0; i < joint->num_points; ++i) {
    yw_joint_point* p = &joint->points[i];
    double u[3];
    if (!yw_joint_glues(p)) continue;
    yw_joint_relative_velocity(joint, p, u);
    for (int k = 0; k < 3; ++k) {
      double miss = (at_end ? 0.0 : p->seen[k] - p->to[k] / h) - u[k];
      p->miss[k] = sign * miss;
      largest = fmax(largest, fabs(miss));
    }
    yw_joint_velocity_of(&joint->sides[0], p, 0, u);
    fastest = fmax(fastest, yw_dot3(u, u));
  }
  return largest > YW_JOINT_ROUNDING * (1.0 + sqrt(fastest)) ? largest : 0.0;
}

static void find_recoil(const yw_joint* joint, double velocity[3], double spin[3]) {
  int rigid = rigid_side(joint);
  double push[3] = {0}, twist[3] = {0}, v[3];
  for (int32_t i = 0; i < joint->num_points; ++i) {
    const yw_joint_point* p = &joint->points[i];
    if (!yw_joint_glues(p)) continue;
    yw_cross3(p->arms[rigid], p->miss, v);
    for (int k = 0; k < 3; ++k) {
      push[k] += p->glued_mass * p->miss[k];
      twist[k] += p->glued_mass * v[k];
    }
  }
  yw_load_answer(&joint->load, push, twist, velocity, spin);
}

double yw_joint_sweep_glue(yw_joint* joint, double h, bool at_end) {
  int rigid = rigid_side(joint);
  double velocity[3], spin[3], push[3] = {0}, twist[3] = {0};
  double sign = rigid == 0 ? 1.0 : -1.0, largest = find_misses(joint, sign, h, at_end);
  find_recoil(joint, velocity, spin);
  for (int32_t i = 0; i < joint->num_points; ++i) {
    yw_joint_point* p = &joint->points[i];
    double v[3], impulse[3];
    if (!yw_joint_glues(p)) continue;
    yw_cross3(spin, p->arms[rigid], v);
    for (int k = 0; k < 3; ++k) {
      impulse[k] = p->glued_mass * (p->miss[k] - velocity[k] - v[k]);
      p->impulse[k] += sign * impulse[k];
      push[k] -= impulse[k];
    }
    yw_cross3(p->arms[rigid], impulse, v);
    for (int k = 0; k < 3; ++k) twist[k] -= v[k];
    yw_joint_push_side(&joint->sides[1 - rigid], p, 1 - rigid, impulse, at_end ? 0.0 : h);
  }
  const double center[3] = {0};
  yw_rigid_push(joint->sides[rigid].motion, center, push);
  yw_rigid_twist(joint->sides[rigid].motion, twist);
  return largest;
}
