// SPDX-License-Identifier: MIT
// A rigid body together with the points of soft bodies that are glued to it: how impulses change
// its motion. Points of mass m at r from its centre move with it, so that with a push P and a
// twist T about that centre
//   (M + sum m) V + W x S = P,   (I + sum m (r.r 1 - r r^T)) W + S x V = T,   S = sum m r.
#include "math/small/mat3d.h"
#include "world/joint.h"

// Adds m (r.r 1 - r r^T).
static void add_inertia(double inertia[6], double m, const double r[3]) {
  double square = yw_dot3(r, r);
  for (int k = 0; k < 3; ++k) inertia[k] += m * (square - r[k] * r[k]);
  inertia[3] -= m * r[0] * r[1];
  inertia[4] -= m * r[0] * r[2];
  inertia[5] -= m * r[1] * r[2];
}

void yw_load_begin(yw_joint_load* load, const yw_rigid_motion* motion) {
  *load = (yw_joint_load){.held = motion->held, .mass = motion->mass};
  if (!load->held) yw_sym_invert(motion->inv_inertia, load->inertia);
}

void yw_load_add(yw_joint_load* load, double mass, const double arm[3]) {
  load->mass += mass;
  for (int k = 0; k < 3; ++k) load->moment[k] += mass * arm[k];
  add_inertia(load->inertia, mass, arm);
}

void yw_load_finish(yw_joint_load* load) {
  if (load->held) return;
  add_inertia(load->inertia, -1.0 / load->mass, load->moment);
  yw_sym_invert(load->inertia, load->inv_inertia);
}

void yw_load_answer(const yw_joint_load* load, const double push[3], const double twist[3],
                    double velocity[3], double spin[3]) {
  double v[3], turning[3];
  for (int k = 0; k < 3; ++k) velocity[k] = spin[k] = 0.0;
  if (load->held) return;
  yw_cross3(load->moment, push, v);
  for (int k = 0; k < 3; ++k) turning[k] = twist[k] - v[k] / load->mass;
  yw_sym_apply(load->inv_inertia, turning, spin);
  yw_cross3(spin, load->moment, v);
  for (int k = 0; k < 3; ++k) velocity[k] = (push[k] - v[k]) / load->mass;
}
