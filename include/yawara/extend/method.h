// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// The interface between the world and a method. A method sees its own state, its particles and a
// step context, but neither the world nor other methods.
//
// The world calls, per substep:   advance -> (body-body contact) -> fold -> settle
// advance must move the particles by ctx->h, in any number of inner steps. Each inner step applies
// gravity, pins and springs, then calls ctx->collide once, so that explicit, implicit and
// position-based methods collide with obstacles at their own rate. settle may add or remove
// particles, refine or coarsen; topology_version must then change. settle may change the particle
// count but not the capacity: memory for particles added later is allocated when the body is
// created. advance may add particles too, each where another one is (with its velocity and
// `begin`); methods that do so have a settle.
//
// A method outside the library fills a yw_method, builds its own rest data, and passes both to
// yw_model_create_custom. Its bodies are then bodies like any other. examples/own_method.c is a
// complete example.
#ifndef YAWARA_EXTEND_METHOD_H
#define YAWARA_EXTEND_METHOD_H

#include "../mesh.h"
#include "../model.h"
#include "rigid_motion.h"
#include "stream.h"
#include "tasks.h"
#include "vec.h"

/// Particles, in an order chosen by the method. pos.w and vel.w are 0.
typedef struct yw_particles {
  int32_t count;
  int32_t capacity;  ///< of every array; a multiple of 16, tail zeroed
  yw_vec4* pos;      ///< m
  yw_vec4* vel;      ///< m/s
  float* mass;       ///< kg, > 0
  float* inv_mass;   ///< 1/kg; 0 while the particle is held by a pin
} yw_particles;

/// A particle held exactly: at the end of the substep it is at `end` (inner steps interpolate).
typedef struct yw_hold {
  int32_t particle;
  yw_vec3 begin, end;  ///< m
  bool clamp;          ///< its orientation is held too and turns by `turn` over the substep
  yw_quat turn;        ///< identity if the pin does not turn
} yw_hold;

/// A particle pulled by a spring to a point that moves from begin to end.
typedef struct yw_spring {
  int32_t particle;
  float stiffness;     ///< N/m
  float damping;       ///< N s/m
  yw_vec3 begin, end;  ///< m
} yw_spring;

/// What a method reports about a substep.
typedef struct yw_method_report {
  int32_t recovered;          ///< decompositions or elements that took the slow, safe path
  int32_t stalled;            ///< solves that did not converge and were repeated in smaller steps
  int32_t obstacle_contacts;  ///< set by collide
  int32_t asleep;             ///< particles at rest, skipped in the substep
  double seconds_adapt;       ///< part of advance spent on example weights or refinement
  double seconds_contact;     ///< part of advance spent in collide
} yw_method_report;

/// Energies that only the method knows, J.
typedef struct yw_method_energy {
  double elastic;     ///< stored in the deformation; NAN if the method has no such energy
  double rotational;  ///< of oriented particles, in addition to m v^2 / 2
} yw_method_energy;

/// An obstacle that a ball meets in a substep.
typedef struct yw_touch {
  int32_t obstacle;   ///< its number in this substep
  float gap;          ///< m, from the start to the plane in which they touch; negative inside
  float share;        ///< of the substep, when they touch
  yw_vec3 normal;     ///< away from the obstacle
  yw_vec3 velocity;   ///< m/s, of the obstacle there
  float friction;     ///< of the pair
  float restitution;  ///< of the pair
} yw_touch;

/// See yw_method.attach.
typedef struct yw_device yw_device;
/// See yw_method.body_create_shared.
struct yw_ranks;

typedef struct yw_step_ctx yw_step_ctx;
struct yw_step_ctx {
  float h;          ///< s, length of this substep
  double time;      ///< s, at its beginning
  yw_vec3 gravity;  ///< m/s^2
  yw_simd simd;     ///< resolved
  yw_tasks* tasks;  ///< NULL: single-threaded
  bool timing;      ///< fill in the times of the report

  /// Bodies that touch may advance in lockstep: a substep is then num_parts calls of advance, each
  /// followed by contact, and this is call number `part`, from 0. h, time, holds and springs are
  /// those of the part. 0: one call for the whole substep.
  int32_t part, num_parts;

  const yw_hold* holds;
  int32_t num_holds;
  const yw_spring* springs;
  int32_t num_springs;

  /// Pushes particles that moved from old_pos during [begin, begin + span] (s, from the start of
  /// the substep) out of obstacles and updates their velocities (restitution, friction). radius may
  /// be NULL.
  void (*collide)(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                  const float* radius, float begin, float span);
  /// True if nothing inside the box can touch an obstacle in this substep (collide may be skipped).
  bool (*is_clear)(const yw_step_ctx* ctx, yw_aabb box);
  /// Finds points inside obstacles `at` seconds after the start of the substep, for methods that
  /// handle obstacles inside their solve. normal: surface normal, w = depth in the deepest obstacle
  /// (0: outside all). velocity: of the obstacle at the point, w = friction with it (INFINITY:
  /// sticky). May be NULL.
  void (*probe)(const yw_step_ctx* ctx, int32_t count, const yw_vec4* points, float at,
                yw_vec4* normal, yw_vec4* velocity);
  /// Fingerprint of the obstacles that overlap a box; changes when one is added, removed or moved.
  /// *moves: one of them moves in this substep. May be NULL.
  uint64_t (*obstacles_in)(const yw_step_ctx* ctx, yw_aabb box, bool* moves);
  /// Finds obstacles that a ball touches on its way through the whole substep, or that are within
  /// margin at its start; writes at most `capacity` of them and returns their number. May be NULL.
  int32_t (*touch)(const yw_step_ctx* ctx, yw_vec3 from, yw_vec3 to, float radius, float margin,
                   int32_t capacity, yw_touch* out);
  const void* obstacles;        ///< for the five above
  float friction, restitution;  ///< of the body

  /// Where the particles were at the start, as contact of surfaces sees it; NULL where it does not
  /// look. A method that adds particles to the surface in advance writes where these were then, on
  /// the surface of that time.
  yw_vec4* begin;
  /// Others may touch the body, or it may touch itself: from `begin` on its surface may move but
  /// not jump, so particles may be added to it, but removed only where it is flat.
  bool crowded;

  /// The particles may stay on a device until fetch: nobody looks at them in between.
  bool stay;
  /// Nobody has changed the particles since the last fetch.
  bool untouched;

  yw_method_report* report;

  /// For collide, one per particle; NULL (default): friction is that of the present step. In: 0, or
  /// minus the approach (m/s) whose friction a particle feels instead. Out, where an obstacle
  /// stopped a particle: the approach that it stopped.
  float* pressing;
};

/// Surface of a body for contact with others and itself. The arrays belong to the model or the
/// state. Volumes have tets and triangles; sheets triangles and radii (half their thickness); rods
/// segments and radii; loose particles radii only.
typedef struct yw_contact_geometry {
  const int32_t* tets;  ///< 4 per tet, particle numbers
  int32_t num_tets;
  const int32_t* triangles;  ///< 3 per triangle; those of volumes face outward
  int32_t num_triangles;
  const int32_t* segments;  ///< 2 per segment
  int32_t num_segments;
  const int32_t* surface_particles;  ///< of volumes, ascending
  int32_t num_surface_particles;
  const yw_vec3* rest;  ///< rest positions in particle order; NULL: loose
  const float* radius;  ///< per particle, m; NULL for volumes
  /// Particles that are always the mean of two others: (particle, parent, parent), ascending by
  /// particle, each above its parents. What acts on them acts on their parents.
  const int32_t (*hanging)[3];
  int32_t num_hanging;
  bool has_balls;  ///< particles meet obstacles inside of the method, all around: triangles do not
  /// Per particle, kg: with the mass of those that follow it, 0 for these. Impulses act on it, so
  /// it is what keeps momenta; see own_spin. NULL: everything moves alone.
  const double* carried_mass;
} yw_contact_geometry;

/// A number of a body that tracks may change (yawara/track.h).
typedef struct yw_parameter {
  const char* name;  ///< as in the method's public parameters
  size_t offset;     ///< of the float in them
} yw_parameter;
/// Parameters of a method have at most this size.
#define YW_MAX_PARAMS_BYTES 256

/// The functions of a method. Everything down to `load` is required except `settle`. Models and
/// bodies keep a pointer to this table, which is usually static.
typedef struct yw_method {
  const char* name;  ///< for messages and statistics

  void (*model_destroy)(void* model);
  /// Hash of everything in the model that a step depends on; snapshots are checked against it.
  uint64_t (*model_hash)(const void* model);
  int32_t (*model_num_particles)(const void* model);

  /// Allocates the state and the particles, at rest in model coordinates.
  yw_status (*body_create)(const void* model, const yw_allocator* mem, void** state,
                           yw_particles* particles, yw_error* error);
  /// The same for a body that several ranks share (yawara/extend/ranks.h): every rank has all
  /// particles, and after advance all of them are where they belong. NULL: every rank simulates all
  /// of it.
  yw_status (*body_create_shared)(const void* model, const yw_allocator* mem,
                                  const struct yw_ranks* ranks, void** state,
                                  yw_particles* particles, yw_error* error);
  void (*body_destroy)(void* state, yw_particles* particles);

  yw_status (*advance)(void* state, yw_particles* particles, const yw_step_ctx* ctx);
  yw_status (*settle)(void* state, yw_particles* particles,
                      const yw_step_ctx* ctx);  ///< may be NULL

  /// Called after the particles were changed from outside (placed, moved, loaded): discard warm
  /// starts and sums. The particle count may have changed too (if a snapshot was loaded).
  void (*invalidate)(void* state, const yw_particles* particles);

  yw_contact_geometry (*contact_geometry)(const void* state);

  /// Everything the next step depends on except positions and velocities (and, for methods that
  /// settle, masses). Before load, the particles have been restored and invalidate has been called.
  void (*save)(const void* state, yw_writer* writer);
  void (*load)(void* state, yw_reader* reader);

  // Optional (may be NULL) ------------------------------------------------------------------------

  /// Rest positions of the model's particles, model_num_particles of them; for models without tets.
  const yw_vec3* (*model_points)(const void* model);
  /// Changes whenever contact_geometry or the particle count does. NULL: they never change.
  uint64_t (*topology_version)(const void* state);
  /// Input vertex i is particle order[i]. NULL: the same order. Methods that change their particle
  /// count must use NULL, and never move or remove a particle named in ctx->holds or ctx->springs.
  const int32_t* (*particle_of_vertex)(const void* state);

  /// Called once when the body is placed, after the particles were moved and invalidate was called:
  /// rotate the state kept besides positions and velocities (orientations, spins).
  void (*place)(void* state, const yw_particles* particles, yw_quat rotation,
                yw_vec3 angular_velocity);

  /// The shown surface, if it is neither the boundary of the tets nor embedded in them: tubes of
  /// rods, thick sheets, bodies that break. model_surface makes the triangles at rest, or none, and
  /// the surface is then that of the tets; surface_positions writes the current vertices of a body.
  yw_status (*model_surface)(const void* model, const yw_allocator* mem, yw_tri_mesh* out);
  void (*surface_positions)(const void* state, const yw_particles* particles, yw_vec3* out);
  /// True if that surface is not what contact sees (the triangles of model_elements) but only near
  /// it, and has to be kept out of obstacles. NULL: false.
  bool (*surface_strays)(const void* model);
  /// Where that surface no longer is what matter looks like, one value per particle: 0 (it holds)
  /// to 1 (a skin around particles is better). Returns how many are above 0. NULL: it always holds.
  int32_t (*surface_parted)(const void* state, const yw_particles* particles, float* out);
  /// The particle that a vertex of such a surface follows most closely. With surface_parted only.
  int32_t (*surface_particle)(const void* model, int32_t vertex);

  /// Fields, in particle order; computed on request, not in the step.
  int32_t (*num_fields)(const void* state);
  yw_field_info (*field_info)(const void* state, int32_t field);
  void (*field_values)(const void* state, const yw_particles* particles, int32_t field, float* out);
  /// Statistics for logs, added with yw_statistics_add; the same ones in every step.
  void (*statistics)(const void* state, const yw_particles* particles, yw_statistics* out);
  /// NULL: the method has no energy.
  yw_method_energy (*energy)(const void* state, const yw_particles* particles);
  /// Rigid bodies: the motion, for contact and joints to change; `follow` then moves the particles
  /// along. Both or none.
  yw_rigid_motion* (*rigid_motion)(void* state);
  void (*follow)(void* state, yw_particles* particles);
  /// The current tets of the body, 4 particles each, if they are not those of the model.
  const int32_t* (*cells)(const void* state, int32_t* num_cells);
  /// The tets that embedded surfaces follow, if not those of the model: coarser ones, where those
  /// of the model are finer than what moves on its own. Their vertices are the first of the
  /// model's.
  yw_status (*carrier_tets)(const void* model, const yw_allocator* mem, yw_tet_mesh* out);
  /// What a field is, in a few words for readers of exported files, e.g. which stress.
  const char* (*field_meaning)(const void* state, int32_t field);
  /// Lines (*corners 2) or triangles (3) between the model's particles; for models without tets.
  const int32_t* (*model_elements)(const void* model, int32_t* corners, int32_t* count);

  /// Changes of the velocities at the end of the substep (m/s, one per particle) if the impulses
  /// (N s, one per particle, most of them 0) had acted as constant forces during it: to first order
  /// about where the last advance ended, (M + h^2 K) change = impulses with the stiffness of the
  /// method's own implicit step. NULL: impulses / mass. Called after advance, any number of times,
  /// with the same particles. As an operator it must be linear, symmetric and positive definite,
  /// and the same throughout one substep; it may be solved roughly (to 1e-2), but free bodies keep
  /// the linear momentum of the impulses to rounding. Particles whose inv_mass is 0 do not move.
  /// Must neither change what the next step depends on nor allocate.
  yw_status (*respond)(void* state, const yw_particles* particles, const yw_step_ctx* ctx,
                       const yw_vec4* impulses, yw_vec4* change);
  /// Number of inner steps that advance takes for this ctx->h; explicit methods follow their stable
  /// step. advance, called that many times with as many parts of h, then does the same steps, so
  /// that bodies that touch can advance in lockstep. NULL: 1.
  int32_t (*inner_steps)(const void* state, const yw_particles* particles, const yw_step_ctx* ctx);
  /// Takes in what contact and joints did to single particles that do not move on their own: they
  /// end where the body can have them. Called after every contact, so once per part of a substep in
  /// lockstep. Changes neither the number of particles nor the topology.
  yw_status (*fold)(void* state, yw_particles* particles, const yw_step_ctx* ctx);

  /// Adds impulses from outside (N s, one per particle) to the velocities; between substeps.
  /// Methods whose particles do not move on their own, or that keep velocities of earlier steps, do
  /// it themselves. NULL: impulses / mass.
  void (*push)(void* state, yw_particles* particles, const yw_vec4* impulses);
  /// Rotates the state kept besides positions and velocities (orientations, spins) by this much,
  /// after the particles of a body under way were turned; invalidate is called next. NULL with
  /// `place`: bodies cannot be turned; otherwise there is nothing to rotate.
  void (*turn)(void* state, yw_quat rotation);
  /// Numbers that tracks may change, within the struct of parameters that the two functions copy.
  /// set_params checks the values (YW_ERR_INVALID); all values between two good ones must be good.
  /// NULL, 0: none.
  const yw_parameter* parameters;
  int32_t num_parameters;
  void (*params)(const void* state, void* out);
  yw_status (*set_params)(void* state, const void* params);
  /// Wakes a body that sleeps: what acts on it has changed. NULL: it has nothing asleep.
  yw_status (*wake)(void* state);
  /// Weights of examples that are given instead of chosen: that of an example, or, for example -1,
  /// the share in which given weights count (1 if it is not given). group -1: all groups. NAN: not
  /// given. False: there is no such group or example. NULL: no examples.
  bool (*aim)(void* state, int32_t group, int32_t example, float value);
  /// J, of the deformation against the rest pose, also where `energy` has none because what the
  /// body aims for changes. NAN: unknown. NULL: elastic energy of `energy`.
  double (*strain_energy)(const void* state, const yw_particles* particles);
  /// False for bodies that must not fall asleep at rest (yw_world_set_sleep_speed). NULL: all may.
  bool (*may_sleep)(const void* state);
  /// Origins (m) and rotations from rest of the frames that the body is made of: of regions, or of
  /// particles that turn. Writes at most capacity of them, evenly spread, and returns how many it
  /// wrote. NULL: there are none.
  int32_t (*axes)(const void* state, const yw_particles* particles, int32_t capacity,
                  yw_vec3* origins, yw_quat* turns);

  /// True once the body has come apart: its pieces then collide with each other, whatever its
  /// self_contact says. NULL: it never does.
  bool (*has_pieces)(const void* state);
  /// Contact of surfaces: adds triangles and rest positions to the geometry of a body of balls that
  /// holds together as a whole, so that others touch these, as thick as the balls. Obstacles still
  /// meet its balls, inside of the method. False: nothing is added. NULL: false.
  bool (*contact_skin)(const void* state, yw_contact_geometry* geometry);
  /// Angular momentum (kg m^2/s) that particles have in themselves besides that of their motion.
  /// NULL: none.
  void (*own_spin)(const void* state, const yw_particles* particles, double out[3]);

  // Bodies on a device (yw_world_def.device). NULL: they stay on the processor.

  /// Called once after body_create: the body may live on the device from now on, and takes the same
  /// steps with the same bits. YW_ERR_DEVICE, with a message, if it cannot for lack of memory.
  yw_status (*attach)(void* state, const yw_device* device, yw_error* error);
  /// True while the particles on the host are out of date, after an advance with ctx->stay.
  bool (*is_away)(const void* state);
  /// Brings them back, and reports on the substeps since. YW_ERR_DEVICE: the device is lost, and
  /// with it these substeps.
  yw_status (*fetch)(void* state, yw_particles* particles, yw_method_report* report);

  // Bodies that ranks share show themselves by parts. NULL: every rank makes all to write some.

  /// surface_positions, of the vertices [first, first + count) alone.
  void (*surface_range)(const void* state, const yw_particles* particles, int32_t first,
                        int32_t count, yw_vec3* out);
  /// surface_parted, of the particles [first, first + count) alone.
  int32_t (*parted_range)(const void* state, const yw_particles* particles, int32_t first,
                          int32_t count, float* out);
} yw_method;

// Functions for methods: creating models, accessing bodies ----------------------------------------

/// Creates a model from a method's rest data. Takes ownership of `data` even on failure
/// (model_destroy is then called). mesh is copied; NULL for bodies without tets, which show nothing
/// or what model_surface makes. YW_ERR_INVALID, with a message, if the table lacks a required
/// function. `error` is written only on failure, so that a warning about the data is kept.
YW_API yw_status yw_model_create_custom(const yw_allocator* mem, const yw_method* method,
                                        void* data, const yw_tet_mesh* mesh, yw_model** out,
                                        yw_error* error);
/// The rest data of a model of this method; NULL for other models.
YW_API const void* yw_model_data(const yw_model* model, const yw_method* method);
/// yw_model_embed_surface by several workers; tasks may be NULL.
YW_API yw_status yw_model_embed_surface_on(yw_model* model, const yw_tri_mesh* surface,
                                           yw_tasks* tasks, yw_error* error);
/// The state of a body of this method, and its particles (may be NULL); NULL for stale ids and
/// bodies of other methods.
YW_API void* yw_body_state(const yw_world* world, yw_body_id id, const yw_method* method,
                           const yw_particles** particles);
/// To be called after parameters of a body were set: it wakes.
YW_API void yw_body_changed(yw_world* world, yw_body_id id);

/// Adds a statistic; beyond YW_MAX_STATISTICS they are dropped.
YW_API void yw_statistics_add(yw_statistics* out, const char* name, const char* unit, double value);
/// Adds the example weights of a group: the rest pose first, then num_examples. With several
/// groups, the names include the group's number.
YW_API void yw_statistics_add_weights(yw_statistics* out, int32_t group, int32_t num_groups,
                                      const float* weights, int32_t num_examples);

/// Allocates (frees) the particle arrays; the capacity is count rounded up to a multiple of 16.
YW_API bool yw_particles_create(const yw_allocator* mem, int32_t count, yw_particles* out);
YW_API void yw_particles_free(const yw_allocator* mem, yw_particles* particles);

#endif
