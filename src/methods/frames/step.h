// SPDX-License-Identifier: MIT
// State of a frames body, and the data that its kernels share during one step.
#ifndef YW_METHODS_FRAMES_STEP_H
#define YW_METHODS_FRAMES_STEP_H

#include "methods/frames/frames.h"
#include "methods/frames/model.h"
#include "methods/kit/aims.h"
#include "methods/kit/near.h"
#include "yawara/frames.h"

/// Second derivative of 16 regions (see energy.h): with W = R^T dA,
///   dP = R (2 mu sym W + [T z] + lambda tr W),   z = axial(W - W^T).
typedef struct frames_tangent_block {
  _Alignas(64) float r[9][YW_LANES];
  float twist[6][YW_LANES];  ///< T, J
} frames_tangent_block;

/// The same for the part of the energy that examples control; S~ is the target stretch:
///   W = R^T dA,   dP = R (2 mu W - [omega] S~ + lambda tr W),   omega = turn . axial(W S~)
typedef struct frames_example_block {
  _Alignas(64) float r[9][YW_LANES];
  float target[6][YW_LANES];  ///< S~
  float turn[6][YW_LANES];    ///< 2 mu V (tr S~^2 - S~^2)^-1, J
} frames_example_block;

/// Good steps after which a body whose solves fell short gets several Newton steps again.
#define FRAMES_SHORT_STEPS 30

/// Sums over one chunk.
typedef struct frames_sums {
  double a;           ///< sum of the current phase
  int32_t recovered;  ///< rotations that took the slow path
  // Rigid motion, positions relative to a centre.
  double mass, mx[3], mv[3], myv[3];
  double myy[6];  ///< xx, yy, zz, xy, xz, yz
  yw_aabb box;    ///< of positions before and after
} frames_sums;

/// How a particle that an obstacle stopped is held (friction.c).
typedef enum frames_grip_state {
  FRAMES_STICKS,
  FRAMES_WAITS,  ///< will slide; still fixed where collide put it
  FRAMES_SLIDES  ///< in the plane of contact
} frames_grip_state;

typedef struct frames_grip {
  int32_t particle;
  frames_grip_state state;
  yw_vec3 normal;    ///< away from the obstacle
  yw_vec3 velocity;  ///< m/s, of the obstacle there
  yw_vec3 slip;      ///< m, along the obstacle in this step, as fast as before it
  yw_vec3 stick;     ///< m, place of the particle if it sticks
  float friction;    ///< coefficient
  yw_vec3 force;     ///< N, of friction, while it slides
  yw_vec3 side;      ///< across the slip, in the plane of contact ...
  float drag;        ///< N/m, ... and what slips that way meet
  yw_vec3 anchor;    ///< of the body, without that force
  bool stopped;      ///< slid before, in this step
} frames_grip;

typedef struct frames_body {
  const frames_model* model;
  yw_allocator mem;
  yw_frames_params params;

  yw_quatx16* rotations;           ///< R of the last evaluation, per block
  frames_tangent_block* tangents;  ///< per block
  frames_example_block* bent;      ///< per block; with examples
  float* weights;                  ///< of the rest pose and the examples, before beta, per group
  float* aims;                     ///< likewise: weights that are given (kit/aims.h)
  bool aims_by_hand;               ///< some of them by the caller
  float* pulls;            ///< weights times strengths, by lanes: num_examples x 16 per block
  float* sweep_pulls;      ///< the same in the order of the sweeps
  float* products;         ///< num_examples per chunk; with several groups x 16 per block
  double* group_products;  ///< num_examples per group
  float* rows;             ///< FRAMES_ROW per region
  frames_sums* sums;       ///< per chunk

  // Vectors of the solver, particle order.
  yw_vec4* base;    ///< x^, start of the backward difference
  yw_vec4* drift;   ///< v^
  yw_vec4* anchor;  ///< target of inertia, gravity, damping and springs, relative to x^ + h' v^
  yw_vec4* moved;   ///< sum of the Newton steps: current position, relative to x^ + h' v^
  yw_vec4* guess;   ///< the same position in world space, where the energy is expanded
  yw_vec4* step;    ///< Newton step
  yw_vec4* residual;
  yw_vec4* conditioned;
  yw_vec4* direction;
  yw_vec4* product;
  float* diagonal;  ///< m / h'^2 and stiffness of springs, N/m
  frames_coarse_solver coarse;
  bool use_coarse;  ///< in the current solve
  float* inverse;   ///< of the preconditioner's diagonal; 0 for held particles

  yw_vec4 *last_pos, *last_vel;  ///< second-order history: the state one step ago
  yw_vec4* left_vel;             ///< velocities at the end of the last step
  float last_h;                  ///< s; 0: no history

  // Position-based solvers.
  yw_vec4* work;             ///< positions; w: 1 / mass, 0 where held
  frames_dual_block* duals;  ///< per block of the sweeps
  int32_t* recovered;        ///< per chunk of a colour
  // Oriented particles; without them NULL.
  yw_vec4 *turns, *spins;  ///< rotations since rest as quaternions; rad/s
  float* balls;            ///< m^2, r^2 / 5
  bool has_turns;          ///< false: placed anew, turns as a whole

  float h1;            ///< s, h' of the current step; 0: none yet, so the matrix is not valid
  bool* touched;       ///< particles that an obstacle stopped in this step
  frames_grip* grips;  ///< in the current step; room for all particles
  int32_t num_grips;
  bool pressed;       ///< others have changed velocities since the last step
  bool in_contact;    ///< an obstacle touched the body in the last step
  bool troubled;      ///< the first Newton step of the last step was not enough
  bool fell_short;    ///< nor were all that it was allowed
  int32_t short_for;  ///< steps for which one Newton step has to do, because more were not enough

  yw_near near;  ///< positions, also those above, are relative while the body advances

  int32_t iterations;  ///< of conjugate gradients in the last step
  int32_t newton;      ///< Newton steps in the last step
  double seconds[YW_FRAMES_NUM_PARTS];
  double mark;  ///< s, when the current part began
} frames_body;

/// Ends a part of the step and starts timing the next, when the step is timed.
void yw_frames_end_part(frames_body* body, const yw_step_ctx* ctx, yw_frames_part part);

/// Input of the kernels of one phase.
typedef struct frames_phase {
  frames_body* body;
  const frames_model* model;
  const yw_vec4* x;      ///< positions, or a direction
  yw_vec4* out;          ///< one vector per particle
  const float* inverse;  ///< 0 marks held particles
} frames_phase;

/// One function per phase and chunk; compiled once per instruction set.
typedef struct frames_kernels {
  /// A = R S of the regions at x, rows of P, and tangents.
  void (*linearise)(const frames_phase* phase, int32_t chunk);
  /// Rows of P only.
  void (*stress)(const frames_phase* phase, int32_t chunk);
  /// Rows of dP for a direction x.
  void (*stiffen)(const frames_phase* phase, int32_t chunk);
  /// Products of the examples with the stretches at x, using the rotations for the current weights.
  void (*weigh)(const frames_phase* phase, int32_t chunk);
  /// The first three for bodies with examples.
  void (*linearise_bent)(const frames_phase* phase, int32_t chunk);
  void (*stress_bent)(const frames_phase* phase, int32_t chunk);
  void (*stiffen_bent)(const frames_phase* phase, int32_t chunk);
  /// out = D (anchor - moved) - forces of the rows, 0 where held. Sums: a = out . out / D.
  void (*forces)(const frames_phase* phase, int32_t chunk);
  /// out = D x + forces of the rows, 0 where held. Sums: a = x . out.
  void (*multiply)(const frames_phase* phase, int32_t chunk);
} frames_kernels;

extern const frames_kernels yw_frames_kernels_plain, yw_frames_kernels_avx2,
    yw_frames_kernels_avx512;

/// Runs a phase over chunks; small bodies run on the calling thread.
void yw_frames_run(const yw_step_ctx* ctx, int32_t chunks,
                   void (*run)(const frames_phase*, int32_t), const frames_phase* phase);

static inline double frames_dot(yw_vec4 a, yw_vec4 b) {
  return (double)(a.x * b.x) + (double)(a.y * b.y) + (double)(a.z * b.z);
}

/// conjugate.c: solves (D + K) step = residual with the tangents of the last linearisation, to the
/// tolerance or to rounding (`floor`, a norm). May start from a fall of all particles. False when
/// the solve stalled; the step found so far is still downhill.
bool yw_frames_solve_step(frames_body* body, const yw_step_ctx* ctx, const frames_kernels* kernels,
                          yw_vec3 fall, float tolerance, double floor);
/// Sum of `a` over the chunks of particles.
double yw_frames_sum(const frames_body* body);

/// respond.c: answer of the body to impulses, with the matrix of the last step.
yw_status yw_frames_respond(frames_body* body, const yw_particles* particles,
                            const yw_step_ctx* ctx, const yw_vec4* impulses, float tolerance,
                            yw_vec4* change);

/// A part of the world's substep.
typedef struct frames_span {
  float begin;  ///< s, from the start of the substep
  float h;      ///< s
} frames_span;

/// How a step of an implicit solver ended.
typedef enum frames_outcome {
  FRAMES_SOLVED,
  FRAMES_STALLED,  ///< the residual did not fall enough; the step found is still downhill
  FRAMES_LOST      ///< the state is not finite
} frames_outcome;

typedef struct frames_rigid frames_rigid;
/// implicit.c: one backward step over the span; rigid is the motion before it. particles->pos and
/// vel receive the new state when it is solved, or when it stalled and accept is set; otherwise
/// they do not change.
frames_outcome yw_frames_implicit_step(frames_body* body, yw_particles* particles,
                                       const yw_step_ctx* ctx, const frames_rigid* rigid,
                                       frames_span span, bool accept);

/// examples.c: gives the kernels the weights of the groups.
void yw_frames_spread_weights(frames_body* body);
/// Weights of the examples at positions x.
void yw_frames_fit_examples(frames_body* body, const yw_vec4* x, const yw_step_ctx* ctx,
                            const frames_kernels* kernels);

/// position.c: all steps of a position-based solver in one world substep.
yw_status yw_frames_position_advance(frames_body* body, yw_particles* particles,
                                     const yw_step_ctx* ctx);

/// oriented.c: a step of h seconds from predicted positions in body->work.
void yw_frames_oriented_step(frames_body* body, const yw_step_ctx* ctx, float h);
void yw_frames_oriented_wake(frames_body* body, const frames_rigid* motion);
/// Spins lose this share of what differs from the spin of the whole body.
void yw_frames_oriented_damp(frames_body* body, const frames_rigid* motion, float lose);
void yw_frames_balls(const frames_model* model, float* out);

/// Fixes the particles that collide has moved where it put them; false when there are none.
bool yw_frames_implicit_touches(frames_body* body, const yw_particles* particles);
/// A second Newton step of all the others, so that the body feels the obstacle in the same step.
frames_outcome yw_frames_implicit_again(frames_body* body, yw_particles* particles,
                                        const yw_step_ctx* ctx, frames_span span);
/// friction.c: particles that slide keep to the plane of contact and are dragged across their slip.
/// These take what leads out of that plane from forces, a product or a preconditioned residual, add
/// the drag, and return the change of the sums: of squares over stiffness, curvature, and r . z.
double yw_frames_grip_drag(const frames_body* body, yw_vec4* forces);
double yw_frames_grip_multiply(const frames_body* body, const yw_vec4* vectors, yw_vec4* product);
double yw_frames_grip_condition(const frames_body* body, const yw_vec4* residual,
                                yw_vec4* conditioned);
/// Stores what the second-order formula needs from this step.
void yw_frames_implicit_remember(frames_body* body, const yw_particles* particles,
                                 const yw_step_ctx* ctx, frames_span span);

#endif
