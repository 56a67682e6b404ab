// SPDX-License-Identifier: MIT
// A particle at a time, its three components side by side: every sum has one order.
#include "world/sums.h"

#include "base/simd.h"
#include "math/small/float4.h"

typedef double double4 __attribute__((vector_size(32)));

// x, y, z, w.
#define DOUBLES(v) __builtin_convertvector(yw_float4_load(&(v).x), double4)
// y, z, x, w.
#define TURNED(v) __builtin_shufflevector((v), (v), 1, 2, 0, 3)

static yw_motion_sums sum_motion(const yw_particles* p) {
  double mass = 0.0, kinetic = 0.0;
  double4 moment = {0.0, 0.0, 0.0, 0.0}, momentum = moment;
  for (int32_t i = 0; i < p->count; ++i) {
    double m = (double)p->mass[i];
    double4 v = DOUBLES(p->vel[i]);
    double4 energy = 0.5 * m * v * v;
    mass += m;
    moment += m * DOUBLES(p->pos[i]);
    momentum += m * v;
    kinetic += energy[0];
    kinetic += energy[1];
    kinetic += energy[2];
  }
  return (yw_motion_sums){
      mass, kinetic, {moment[0], moment[1], moment[2]}, {momentum[0], momentum[1], momentum[2]}};
}

static double sum_momentum(const yw_particles* p, double out[3]) {
  double mass = 0.0;
  double4 momentum = {0.0, 0.0, 0.0, 0.0};
  for (int32_t i = 0; i < p->count; ++i) {
    double m = (double)p->mass[i];
    mass += m;
    momentum += m * DOUBLES(p->vel[i]);
  }
  for (int k = 0; k < 3; ++k) out[k] = momentum[k];
  return mass;
}

static void sum_spin(const yw_particles* p, const double center[3], double out[3]) {
  const double4 c = {center[0], center[1], center[2], 0.0};
  double4 spin = {0.0, 0.0, 0.0, 0.0};  // z, x, y
  for (int32_t i = 0; i < p->count; ++i) {
    double4 r = DOUBLES(p->pos[i]) - c, v = DOUBLES(p->vel[i]);
    spin += (double)p->mass[i] * (r * TURNED(v) - TURNED(r) * v);
  }
  for (int k = 0; k < 3; ++k) out[k] = spin[(k + 1) % 3];
}

extern const yw_sum_kernels YW_KERNEL(yw_sum_kernels);
const yw_sum_kernels YW_KERNEL(yw_sum_kernels) = {sum_motion, sum_momentum, sum_spin};
