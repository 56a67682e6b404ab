// SPDX-License-Identifier: MIT
// rigid: bodies that do not deform. docs/methods/rigid.md
#ifndef YAWARA_RIGID_H
#define YAWARA_RIGID_H

#include "model.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Parameters of a rigid body that can change while it runs.
typedef struct yw_rigid_params {
  float damping;  ///< 1/s, >= 0; default 0: decay rate of velocity and spin, as in air
} yw_rigid_params;

/// What a rigid body is made of: exactly one of mesh and surface. Pointers are read during the call
/// only.
typedef struct yw_rigid_def {
  const yw_tet_mesh* mesh;     ///< tets; their vertices become the particles
  const yw_tri_mesh* surface;  ///< closed surface; its vertices become the particles
  /// The shape that the surface approximates, or NULL. Mass and inertia are then those of the
  /// shape, and curved parts roll on obstacles without facets.
  const yw_shape* shape;
  const yw_tri_mesh* shown;  ///< surface to show instead, at rest; may be NULL
  float density;             ///< kg/m^3, > 0; default 1000
  yw_rigid_params params;
} yw_rigid_def;
YW_API yw_rigid_def yw_default_rigid_def(void);

/// Creates a model. The particles are the vertices in their order, and five more inside that carry
/// the rest of the mass, so that sums over particles are those of the body. YW_ERR_GEOMETRY: the
/// surface is not closed, or has no volume.
YW_API yw_status yw_model_create_rigid(const yw_allocator* mem, const yw_rigid_def* def,
                                       yw_model** out, yw_error* error);

typedef struct yw_rigid_mass {
  double mass;        ///< kg
  double center[3];   ///< m, at rest
  double inertia[6];  ///< kg m^2 about the centre: xx, yy, zz, xy, xz, yz
  double moments[3];  ///< kg m^2, principal moments
} yw_rigid_mass;
/// YW_ERR_INVALID for models of other methods.
YW_API yw_status yw_model_rigid_mass(const yw_model* model, yw_rigid_mass* out);

YW_API yw_status yw_body_rigid_params(const yw_world* world, yw_body_id id, yw_rigid_params* out);
YW_API yw_status yw_body_set_rigid_params(yw_world* world, yw_body_id id,
                                          const yw_rigid_params* params);

typedef struct yw_rigid_statistics {
  int32_t contacts;  ///< points pressed against obstacles in the last substep
  int32_t sweeps;    ///< sweeps of its solver in the last substep; joints have their own
} yw_rigid_statistics;
YW_API yw_status yw_body_rigid_statistics(const yw_world* world, yw_body_id id,
                                          yw_rigid_statistics* out);

/// Where a body is and how it moves.
typedef struct yw_rigid_state {
  double center[3];            ///< m, centre of mass
  double rotation[4];          ///< from the rest pose; x, y, z, w
  double velocity[3];          ///< m/s, of the centre
  double spin[3];              ///< rad/s, angular velocity
  double angular_momentum[3];  ///< kg m^2/s about the centre
} yw_rigid_state;
YW_API yw_status yw_body_rigid_state(const yw_world* world, yw_body_id id, yw_rigid_state* out);
/// Adds an impulse (N s) at a point in the world. yw_body_velocities shows it after the next step.
YW_API yw_status yw_body_rigid_push(yw_world* world, yw_body_id id, yw_vec3 point, yw_vec3 impulse);

#ifdef __cplusplus
}
#endif
#endif
