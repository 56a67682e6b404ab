// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// The seam between the world and a method. A method sees its own state, its particles and a step
// context; never the world, never another method.
//
// The world calls, per substep:   advance -> (body-body contact) -> settle
// advance must move the particles by ctx->h, in as many inner steps as it likes. In each inner step
// it applies gravity, pins and springs, and then asks ctx->collide once, so that explicit, implicit
// and position-based methods meet obstacles at their own rate. settle may add or remove particles,
// refine or coarsen; it then raises topology_version. The count of particles may change there, the
// capacity never does: what may come later is allocated when the body is made.
//
// A method outside of the library fills a yw_method, makes its own rest data, and hands both to
// yw_model_create_custom; from there on its bodies are bodies like any other. examples/own_method.c
// is a complete one.
#ifndef YAWARA_EXTEND_METHOD_H
#define YAWARA_EXTEND_METHOD_H

#include "../mesh.h"
#include "../model.h"
#include "stream.h"
#include "tasks.h"
#include "vec.h"

/// Particles in the order the method likes best. pos.w and vel.w are 0.
typedef struct yw_particles {
  int32_t count;
  int32_t capacity;  ///< of every array; a multiple of 16, tail zeroed
  yw_vec4* pos;      ///< m
  yw_vec4* vel;      ///< m/s
  float* mass;       ///< kg, > 0
  float* inv_mass;   ///< 1/kg; 0 while the particle is held by a pin
} yw_particles;

/// A particle held exactly: at the end of the step it is at `end` (inner steps interpolate).
typedef struct yw_hold {
  int32_t particle;
  yw_vec3 begin, end;  ///< m
  bool clamp;          ///< its orientation is held too: over the substep it turns by `turn`
  yw_quat turn;        ///< 1 when the pin does not turn
} yw_hold;

/// A particle pulled by a spring to a point that moves from begin to end.
typedef struct yw_spring {
  int32_t particle;
  float stiffness;     ///< N/m
  float damping;       ///< N s/m
  yw_vec3 begin, end;  ///< m
} yw_spring;

/// What a step tells the world.
typedef struct yw_method_report {
  int32_t recovered;          ///< decompositions or elements that took the safe path
  int32_t stalled;            ///< solves that did not converge and were done again in smaller steps
  int32_t obstacle_contacts;  ///< filled by collide
  int32_t asleep;             ///< particles at rest that the step left out
  double seconds_adapt;       ///< part of advance spent on weights of examples or refinement
  double seconds_contact;     ///< part of advance spent in collide
} yw_method_report;

/// Energies that only the method knows, J.
typedef struct yw_method_energy {
  double elastic;     ///< stored in the deformation; NAN when the method has no such energy
  double rotational;  ///< of particles that turn, besides m v^2 / 2
} yw_method_energy;

typedef struct yw_step_ctx yw_step_ctx;
struct yw_step_ctx {
  float h;          ///< s, length of this substep
  double time;      ///< s, at its beginning
  yw_vec3 gravity;  ///< m/s^2
  yw_simd simd;     ///< resolved
  yw_tasks* tasks;  ///< NULL: work alone
  bool timing;      ///< fill the seconds of the report

  const yw_hold* holds;
  int32_t num_holds;
  const yw_spring* springs;
  int32_t num_springs;

  /// Pushes particles that moved from old_pos over the time [begin, begin + span] (s, from the
  /// start of the substep) out of obstacles and changes their velocities (restitution, friction).
  /// radius may be NULL.
  void (*collide)(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                  const float* radius, float begin, float span);
  /// True when nothing in the substep can touch an obstacle inside the box (then collide may be
  /// skipped).
  bool (*is_clear)(const yw_step_ctx* ctx, yw_aabb box);
  /// Which points are inside an obstacle `at` seconds after the start of the substep, for methods
  /// that meet obstacles inside their solve: normal of the surface, w the depth (0: outside all;
  /// else that of the deepest), and velocity of the obstacle there, w the friction with it
  /// (INFINITY: it is sticky). May be NULL.
  void (*probe)(const yw_step_ctx* ctx, int32_t count, const yw_vec4* points, float at,
                yw_vec4* normal, yw_vec4* velocity);
  /// What the obstacles that reach into a box look like, as a number: another one when any of them
  /// comes, goes or stands elsewhere. *moves: one of them moves in this substep. May be NULL.
  uint64_t (*obstacles_in)(const yw_step_ctx* ctx, yw_aabb box, bool* moves);
  const void* obstacles;        ///< for the four above
  float friction, restitution;  ///< of the body

  yw_method_report* report;
};

/// What other bodies collide with. Index arrays belong to the model or the state.
typedef struct yw_contact_geometry {
  // Volumes: points of one body are found inside the tets of another and leave through its surface.
  const int32_t* tets;  ///< 4 per tet, particle numbers; NULL for bodies of spheres
  int32_t num_tets;
  const int32_t* triangles;  ///< surface, 3 per triangle, outward
  int32_t num_triangles;
  const int32_t* surface_particles;  ///< ascending
  int32_t num_surface_particles;
  const yw_vec3* rest;  ///< rest positions in particle order, for depth inside the material
  // Spheres: rods, sheets, loose matter.
  const float* radius;  ///< per particle, m; NULL for volumes
} yw_contact_geometry;

/// What a method does. Everything down to `load` is needed except `settle`; models and bodies keep
/// a pointer to the table, which is usually static.
typedef struct yw_method {
  const char* name;  ///< for messages and statistics

  void (*model_destroy)(void* model);
  /// Of everything in the model that a step depends on: guards snapshots.
  uint64_t (*model_hash)(const void* model);
  int32_t (*model_num_particles)(const void* model);

  /// Allocates the state and the particles, at rest in the model's own frame.
  yw_status (*body_create)(const void* model, const yw_allocator* mem, void** state,
                           yw_particles* particles, yw_error* error);
  void (*body_destroy)(void* state, yw_particles* particles);

  yw_status (*advance)(void* state, yw_particles* particles, const yw_step_ctx* ctx);
  yw_status (*settle)(void* state, yw_particles* particles,
                      const yw_step_ctx* ctx);  ///< may be NULL

  /// The state was changed from outside (placed, moved, loaded): forget warm starts and sums. The
  /// count of particles may have changed too (a snapshot was loaded).
  void (*invalidate)(void* state, const yw_particles* particles);

  yw_contact_geometry (*contact_geometry)(const void* state);

  /// Everything besides positions and velocities (and, for methods that settle, masses) that the
  /// next step depends on. Before load the particles are in place and invalidate was called.
  void (*save)(const void* state, yw_writer* writer);
  void (*load)(void* state, yw_reader* reader);

  // What follows may be NULL -------------------------------------------------------------------

  /// Where the model's particles are at rest, model_num_particles of them; for models that are not
  /// made of tets.
  const yw_vec3* (*model_points)(const void* model);
  /// Changes whenever contact_geometry or the count of particles does. NULL: they never do.
  uint64_t (*topology_version)(const void* state);
  /// Input vertex i is particle order[i]. NULL: the same order, as for methods that change their
  /// number of particles; these never move or remove a particle that ctx->holds or ctx->springs
  /// name.
  const int32_t* (*particle_of_vertex)(const void* state);

  /// The body was placed: what is kept besides positions and velocities (orientations, spins) turns
  /// along. Called once, after the particles were moved and invalidate was called.
  void (*place)(void* state, const yw_particles* particles, yw_quat rotation,
                yw_vec3 angular_velocity);

  /// What a body shows where that is not the boundary of its tets or a surface embedded in them:
  /// tubes of rods, thick sheets. model_surface makes the triangles at rest; surface_positions
  /// writes their vertices for a body as it is.
  yw_status (*model_surface)(const void* model, const yw_allocator* mem, yw_tri_mesh* out);
  void (*surface_positions)(const void* state, const yw_particles* particles, yw_vec3* out);

  /// Quantities to look at, in the particles' order; worked out when asked for, not in the step.
  int32_t (*num_fields)(const void* state);
  yw_field_info (*field_info)(const void* state, int32_t field);
  void (*field_values)(const void* state, const yw_particles* particles, int32_t field, float* out);
  /// Numbers for logs, added with yw_statistics_add; the same ones in every step.
  void (*statistics)(const void* state, const yw_particles* particles, yw_statistics* out);
  /// NULL: the method has no energy.
  yw_method_energy (*energy)(const void* state, const yw_particles* particles);
  /// The tets of the body as it is now, 4 particles each, where they are not those of the model.
  const int32_t* (*cells)(const void* state, int32_t* num_cells);
} yw_method;

// What a method's own functions need to make models and to look at bodies ------------------------

/// A model of a method's rest data. Owns `data` from now on, also when this fails: then
/// model_destroy has been called. mesh is copied; NULL for bodies that are not made of tets (these
/// show nothing, or what model_surface makes). YW_ERR_INVALID, with a message, when the table lacks
/// something. Writes to `error` only when it fails, so that a warning about the data stays there.
YW_API yw_status yw_model_create_custom(const yw_allocator* mem, const yw_method* method,
                                        void* data, const yw_tet_mesh* mesh, yw_model** out,
                                        yw_error* error);
/// The rest data of a model of this method; NULL for other models.
YW_API const void* yw_model_data(const yw_model* model, const yw_method* method);
/// The state of a body of this method, and its particles (may be NULL); NULL for dead ids and
/// bodies of other methods.
YW_API void* yw_body_state(const yw_world* world, yw_body_id id, const yw_method* method,
                           const yw_particles** particles);

/// Adds a number; what does not fit is left out.
YW_API void yw_statistics_add(yw_statistics* out, const char* name, const char* unit, double value);
/// Adds the weights of a group of examples: the rest pose first, then num_examples. Of several
/// groups, the names have the group's number.
YW_API void yw_statistics_add_weights(yw_statistics* out, int32_t group, int32_t num_groups,
                                      const float* weights, int32_t num_examples);

/// Frees / allocates the arrays of particles; capacity is rounded up to a multiple of 16.
YW_API bool yw_particles_create(const yw_allocator* mem, int32_t count, yw_particles* out);
YW_API void yw_particles_free(const yw_allocator* mem, yw_particles* particles);

#endif
