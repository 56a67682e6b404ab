// SPDX-License-Identifier: MIT
// Fem bodies on a device (device/device.h, method "fem"): forces and motion of the nodes are
// computed there, with the same bits. Positions stay there over the inner steps of a substep;
// refinement, and the nodes of the surface while an obstacle is near, come back for the processor.
#ifndef YW_METHODS_FEM_OFFLOAD_H
#define YW_METHODS_FEM_OFFLOAD_H

#include "device/device.h"
#include "methods/fem/body.h"
#include "methods/fem/node_lanes.h"

/// A body on a device.
typedef struct fem_remote fem_remote;

/// What to compute in one evaluation of the forces.
typedef struct fem_force_orders {
  float lag;  ///< see fem_force_args
  bool damped, plastic, look, carry;
} fem_force_orders;

/// How nodes move in one inner step.
typedef struct fem_move_orders {
  fem_move move;
  float share;     ///< of the substep, at the end of the inner step: for pins
  float h;         ///< s, of the substep
  bool obstacles;  ///< the box of the surface is asked for
} fem_move_orders;

typedef struct fem_device_fns {
  /// YW_ERR_DEVICE, with the bytes that are needed and free, if it has too little memory.
  yw_status (*create)(const fem_body* body, fem_remote** out, yw_error* error);
  void (*destroy)(fem_remote* remote);
  /// Copies the lists of the front.
  yw_status (*send_front)(fem_remote* remote, const fem_body* body);
  /// Copies tensions of plastic strain.
  yw_status (*send_offsets)(fem_remote* remote, const fem_body* body);
  /// Copies particles and pins.
  yw_status (*send)(fem_remote* remote, const fem_body* body, const yw_particles* particles,
                    const yw_step_ctx* ctx);
  yw_status (*fetch)(fem_remote* remote, yw_particles* particles);
  /// *box: of the velocities of all nodes that move.
  yw_status (*velocities)(fem_remote* remote, yw_aabb* box);
  /// Forces of all tets on the nodes. *squeezed: the tets that were found squeezed, if looked for.
  yw_status (*forces)(fem_remote* remote, const fem_force_orders* orders, int32_t* squeezed);
  /// Nodes, springs, holds. *box: of the surface during the step, if asked for.
  yw_status (*move)(fem_remote* remote, const fem_move_orders* orders, yw_aabb* box);
  /// The surface before and after the last move, into surface_old and the particles; and back.
  yw_status (*fetch_surface)(fem_remote* remote, fem_body* body, yw_particles* particles);
  yw_status (*send_surface)(fem_remote* remote, const fem_body* body,
                            const yw_particles* particles);
  /// Hanging nodes follow.
  yw_status (*follow)(fem_remote* remote);
} fem_device_fns;

/// See yw_method.
yw_status yw_fem_attach(void* state, const yw_device* device, yw_error* error);
void yw_fem_detach(fem_body* body);

/// The box of velocities, the forces of one inner step on the device, and its motion. Particles go
/// there first, where they are not there yet.
yw_status yw_fem_velocities_away(fem_body* body, const yw_particles* particles,
                                 const yw_step_ctx* ctx, yw_aabb* box);
yw_status yw_fem_forces_away(fem_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                             bool look, int32_t* squeezed);
yw_status yw_fem_move_away(fem_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                           const fem_move* move, bool obstacles, float begin);
/// The particles return.
yw_status yw_fem_come_home(fem_body* body, yw_particles* particles);

#endif
