// SPDX-License-Identifier: MIT
// A material point method on a grid, with the material of `plastic`: what section 2 of Saida,
// Fujisawa, Mikawa 2017 argues against. Moving least squares MPM (Hu et al. 2018): quadratic
// B-splines, affine transfers (Jiang et al. 2015) or FLIP, explicit or semi-implicit steps
// (Stomakhin et al. 2013), on a dense grid over a box or on sparse blocks. Float, one thread.
#ifndef YW_STUDIES_REFERENCE_MPM_MPM_H
#define YW_STUDIES_REFERENCE_MPM_MPM_H

#include "yawara/extend/vec.h"
#include "yawara/shape.h"

typedef struct mpm_material {
  float mu, lambda;  ///< Pa
  float low, high;   ///< limits of stretches: 1 - theta_c, 1 + theta_s; -inf and inf: elastic
  float xi;          ///< hardening
  float eta;         ///< 0: particles keep velocity and rotation, 1: the whole affine velocity
} mpm_material;

typedef struct mpm_particle {
  yw_vec3 x, v;
  yw_mat3 c;           ///< affine velocity, 1/s
  yw_mat3 b;           ///< elastic left Cauchy-Green tensor
  yw_mat3 u;           ///< its axes
  yw_vec3 s;           ///< elastic stretches
  float det_p;         ///< plastic change of volume
  float harden;        ///< factor of mu and lambda
  float mass, volume;  /// kg, m^3 at rest
} mpm_particle;

typedef struct mpm_obstacle {
  const yw_shape* shape;
  yw_transform transform;
  float friction;
} mpm_obstacle;

#define MPM_MAX_OBSTACLES 8

typedef struct mpm_def {
  float cell;   ///< m, edge of a cell of the grid
  bool dense;   ///< nodes for the whole box; otherwise for blocks of 4 x 4 x 4 nodes near particles
  yw_aabb box;  ///< dense: the space; particles that leave it end the simulation
  bool implicit;
  float tolerance;  ///< of the implicit solve, relative to the momentum
  float flip;       ///< 0: affine transfers, to 1: particles add what changed on the grid
  yw_vec3 gravity;
  mpm_material material;
  int32_t num_obstacles;
  mpm_obstacle obstacles[MPM_MAX_OBSTACLES];
} mpm_def;

typedef struct mpm_grid mpm_grid;
typedef struct mpm_solver mpm_solver;

typedef struct mpm {
  mpm_def def;
  int32_t count;
  mpm_particle* particles;
  mpm_grid* grid;
  mpm_solver* solver;
  int64_t substeps, iterations;  ///< so far
} mpm;

mpm_def mpm_default_def(void);
/// The caller then fills x, v, mass and volume of the particles. NULL: out of memory, or the nodes
/// of a dense grid would take more than 4 GB.
mpm* mpm_create(const mpm_def* def, int32_t count);
void mpm_destroy(mpm* m);

/// The longest explicit step that is stable: 0.4 of what a wave needs for a cell, with the stiffest
/// particle and the fastest.
float mpm_stable_step(const mpm* m);
/// Moves everything by `time`, in substeps of at most `step` and, if explicit, of at most the
/// stable step. False: out of memory, a particle left the box, or the state is no longer finite.
bool mpm_advance(mpm* m, float time, float step);

/// Bytes of particles and nodes, and of the nodes of a dense grid over a box.
double mpm_bytes(const mpm* m);
double mpm_dense_bytes(yw_aabb box, float cell);
/// Elastic energy, J.
double mpm_energy(const mpm* m);

#endif
