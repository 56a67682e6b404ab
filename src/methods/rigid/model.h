// SPDX-License-Identifier: MIT
// Rest data of a rigid body. "Local" is in principal axes, from the centre of mass.
#ifndef YW_METHODS_RIGID_MODEL_H
#define YW_METHODS_RIGID_MODEL_H

#include "math/small/turn.h"
#include "yawara/extend/method.h"
#include "yawara/rigid.h"

#define RIGID_INNER 5   ///< particles after the vertices: one at the centre, and four
#define RIGID_GROUP 32  ///< balls per group
#define RIGID_FACES 32  ///< flat faces

/// A ball of the body that touches its surface from inside; a point where that is sharp.
typedef struct rigid_ball {
  float local[3], radius;
} rigid_ball;

/// Triangles in one plane, in principal axes.
typedef struct rigid_face {
  double normal[3], offset, area;
  double reach;  ///< m, mean distance of its points from its middle
} rigid_face;

typedef struct rigid_model {
  yw_allocator mem;
  uint64_t hash;
  yw_rigid_params params;
  double mass, moments[3];
  double center[3];  ///< in the coordinates of the rest pose
  double inertia[6];
  yw_turn axes;  ///< of the principal axes in the rest pose
  float size;    ///< m, of the box around it

  int32_t num_particles;
  yw_vec3* rest;
  yw_vec3* local;
  float* particle_mass;

  int32_t num_tets, num_triangles, num_surface;
  int32_t *tets, *triangles, *surface;  ///< tets: NULL when there are none

  int32_t num_balls, num_groups;
  rigid_ball* balls;   ///< meet obstacles
  rigid_ball* groups;  ///< around RIGID_GROUP of them each
  int32_t num_faces;
  rigid_face faces[RIGID_FACES];

  yw_tri_mesh shown;
  yw_vec3* shown_local;
} rigid_model;

yw_status yw_rigid_model_create(const yw_allocator* mem, const yw_rigid_def* def, void** out,
                                yw_error* error);
void yw_rigid_model_destroy(void* model);

/// Lists the balls of the surface, and groups of them; false when out of memory.
bool yw_rigid_fill_balls(rigid_model* model, const yw_tri_mesh* surface, const yw_shape* shape);
/// Lists the flat faces of the triangles; false when out of memory.
bool yw_rigid_fill_faces(rigid_model* model);
/// Gives the particles masses that add up to the body: its mass, centre and inertia.
yw_status yw_rigid_spread_mass(rigid_model* model, const float* weights, int32_t count,
                               yw_error* error);

/// From the rest pose to principal axes.
static inline void yw_rigid_to_local(const rigid_model* model, yw_vec3 p, double out[3]) {
  const double arm[3] = {(double)p.x - model->center[0], (double)p.y - model->center[1],
                         (double)p.z - model->center[2]};
  yw_turn_apply(yw_turn_conjugate(model->axes), arm, out);
}

#endif
