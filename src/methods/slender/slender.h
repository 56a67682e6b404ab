// SPDX-License-Identifier: MIT
// Rods and sheets as bodies: their state and their steps. Models and energies are in model.h, the
// solver in solve.h.
#ifndef YW_METHODS_SLENDER_SLENDER_H
#define YW_METHODS_SLENDER_SLENDER_H

#include "methods/kit/aims.h"
#include "methods/slender/model.h"
#include "methods/slender/solve.h"
#include "yawara/extend/method.h"
#include "yawara/slender.h"

/// State of a particle's contact with an obstacle during a step.
typedef enum slender_state {
  SLENDER_FREE,
  SLENDER_STICKS,
  SLENDER_SLIDES,
  SLENDER_BOUNCES
} slender_state;

typedef struct slender_touch {
  slender_state state;
  double friction;
  double normal[3], at[3];  ///< contact plane at the end of the step
  double stick[3];          ///< position when it sticks
  double depth;             ///< m, motion into the plane without obstacles
  double slip, drag;   ///< m and N/m, along the plane: without obstacles, then of the last solve
  double pull;         ///< N, along the plane, when it was held; 0: it was not
  double velocity[3];  ///< m/s, of the obstacle; of the particle when it bounces
} slender_touch;

typedef struct slender_body slender_body;
struct slender_body {
  const slender_model* model;
  yw_allocator mem;
  yw_slender_params params;

  // State in addition to positions and velocities.
  double* low;       ///< 3 per particle: position minus its float, m
  yw_turn* turn;     ///< rotations from rest
  double* momentum;  ///< 3 per particle: angular momenta, kg m^2/s
  bool in_contact;

  // Second-order history: the state one step ago, and the velocities at the end of the last step.
  double last_h;  ///< s; 0: none
  double *old_x, *old_v, *old_momentum;
  yw_turn* old_turn;
  yw_vec4* left_v;

  // Data of one step.
  slender_solver solver;
  double h1;                ///< s, h' of the last implicit step; 0: none yet, so there is no factor
  double *x, *v;            ///< 3 per particle, at the start of the step
  double *base_x, *base_v;  ///< start of the backward difference
  double* base_momentum;
  yw_turn* base_turn;
  yw_vec4* old_pos;  ///< positions at the start of the step
  bool* touched;     ///< particles that an obstacle stopped
  slender_touch* touches;
  // Results without friction and with unlimited friction; positions before obstacles.
  yw_vec4 *smooth_pos, *smooth_vel, *sticky_pos, *sticky_vel, *left_pos;
  double* duals;   ///< position-based: stress applied by the elements so far
  int32_t newton;  ///< Newton steps in the last step

  // Examples: a row per group.
  float* weights;     ///< 1 + count, before beta
  float* aims;        ///< likewise: weights that are given (kit/aims.h)
  bool aims_by_hand;  ///< some of them by the caller
  double* products;   ///< count; scratch
};

// surface.c
void yw_slender_surface_positions(const void* state, const yw_particles* particles, yw_vec3* out);
// ride.c
void yw_sheet_ride_positions(const slender_body* body, const yw_particles* particles, yw_vec3* out);
// step.c, position.c
yw_status yw_slender_implicit_advance(slender_body* body, yw_particles* particles,
                                      const yw_step_ctx* ctx);
yw_status yw_slender_position_advance(slender_body* body, yw_particles* particles,
                                      const yw_step_ctx* ctx);
// respond.c
yw_status yw_slender_respond(void* state, const yw_particles* particles, const yw_step_ctx* ctx,
                             const yw_vec4* impulses, yw_vec4* change);

extern const yw_method yw_slender_method;
yw_status yw_slender_set_params(void* state, const yw_slender_params* params);
yw_slender_params yw_slender_params_of(const void* state);
void yw_slender_statistics_of(const void* state, yw_slender_statistics* out);
int32_t yw_slender_weights(const void* state, float* out, int32_t capacity);
yw_status yw_slender_set_weights(void* state, int32_t group, const float* weights, float share);

#endif
