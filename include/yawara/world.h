// SPDX-License-Identifier: MIT
// Worlds: bodies, obstacles and pins; the step; snapshots and hashes. SI units, y is up.
//
// Threads. Functions that take a const world only read: any number of threads may call them on the
// same world at the same time. Functions that take a non-const world need exclusive access to it.
// Different worlds are independent: they may be created, stepped and destroyed on different threads
// at the same time, even if they share models and shapes, whose reference counts are atomic. See
// docs/design/threads.md.
#ifndef YAWARA_WORLD_H
#define YAWARA_WORLD_H

#include "base.h"
#include "model.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Ids are values, like yw_body_id.
typedef struct yw_obstacle_id {
  uint32_t index1, generation;
} yw_obstacle_id;
typedef struct yw_pin_id {
  uint32_t index1, generation;
} yw_pin_id;

/// How bodies touch each other and themselves.
typedef enum yw_contact_kind {
  YW_CONTACT_POINTS,  ///< particles inside the tets of others, and balls: bodies may overlap, or
                      ///< pass through each other
  /// Triangles, edges and vertices as they move: surfaces that do not cross at the start never do,
  /// and impulses act inside the methods' steps. Slower, up to about three times in crowds.
  YW_CONTACT_SURFACES
} yw_contact_kind;

/// Where bodies live that can live there; the others, and contact between bodies, stay on the
/// processor. Results are the same to the bit.
typedef enum yw_device_kind {
  YW_DEVICE_CPU,
  YW_DEVICE_CUDA  ///< an NVIDIA GPU: bodies of match and fem; see docs/design/gpu.md
} yw_device_kind;
/// YW_OK if worlds can have it; otherwise YW_ERR_DEVICE and a message that says what is missing.
YW_API yw_status yw_device_check(yw_device_kind device, yw_error* error);

typedef struct yw_world_def {
  yw_vec3 gravity;             ///< m/s^2; default (0, -9.81, 0)
  int32_t threads;             ///< including the caller; 0 (default): one per core
  yw_simd simd;                ///< default YW_SIMD_AUTO
  int32_t contact_iterations;  ///< sweeps over body-body contacts per substep, 1 to 64; default 4
  yw_allocator mem;            ///< default malloc
  /// Runs the world's work instead of its own threads; `threads` is then ignored. Copied. Default:
  /// none.
  yw_jobs jobs;
  yw_contact_kind contact;  ///< default YW_CONTACT_SURFACES
  /// Keeps the models of bodies and the shapes of obstacles that are destroyed, so that
  /// yw_world_restore can make them again; default false.
  bool rollback;
  /// yw_device_kind; default YW_DEVICE_CPU. YW_ERR_DEVICE if yw_device_check fails.
  uint8_t device;
} yw_world_def;
YW_API yw_world_def yw_default_world_def(void);
YW_API yw_status yw_world_create(const yw_world_def* def, yw_world** out);
YW_API void yw_world_destroy(yw_world* world);

// Motion along a path -----------------------------------------------------------------------------

/// Pose at a time, relative to where the object was placed:
/// p -> pivot + offset + rotation (p - pivot).
typedef struct yw_key {
  double time;       ///< s, strictly increasing
  yw_vec3 offset;    ///< m
  yw_quat rotation;  ///< about the pivot
} yw_key;

typedef struct yw_path {
  const yw_key* keys;  ///< copied
  int32_t num_keys;    ///< 0: no motion
  bool loop;           ///< start again after the last key; default: stay there
  bool smooth;         ///< Catmull-Rom spline through the offsets; default: straight lines
  yw_vec3 pivot;       ///< m, in the world
} yw_path;

// Bodies ------------------------------------------------------------------------------------------

typedef struct yw_body_def {
  yw_model* model;           ///< retained by the body
  const char* name;          ///< for messages; copied; may be NULL
  yw_transform transform;    ///< placement of the rest pose; scale must be 1; default identity
  yw_vec3 velocity;          ///< m/s
  yw_vec3 angular_velocity;  ///< rad/s about the centre of mass
  float friction;       ///< Coulomb coefficient, >= 0; default 0.4. Contacts use the geometric mean
  float restitution;    ///< 0 to 1; default 0. Contacts use the larger value
  bool body_contact;    ///< collides with other bodies; default true
  bool self_contact;    ///< collides with itself; default false
  const yw_vec3* pose;  ///< initial pose instead of the rest pose, before transform; may be NULL
  /// s, >= 0; default 0. Before this time the body waits where it was placed: it does not move,
  /// does not collide and is not shown. It starts with the substep that begins closest to this
  /// time.
  double start;
  /// Groups that the body is in, one bit each, and those that it collides with. Two bodies, or a
  /// body and an obstacle, collide when each is in a group of the other's mask. Default: in the
  /// first group, collides with all.
  uint32_t groups, mask;
} yw_body_def;
YW_API yw_body_def yw_default_body_def(void);
YW_API yw_status yw_body_create(yw_world* world, const yw_body_def* def, yw_body_id* out,
                                yw_error* error);
YW_API yw_status yw_body_destroy(yw_world* world, yw_body_id id);
YW_API bool yw_body_is_valid(const yw_world* world, yw_body_id id);
YW_API int32_t yw_world_num_bodies(const yw_world* world);
/// Body i in order of creation, 0 <= i < yw_world_num_bodies.
YW_API yw_body_id yw_world_body(const yw_world* world, int32_t i);
YW_API const char* yw_body_name(const yw_world* world, yw_body_id id);
YW_API const yw_model* yw_body_model(const yw_world* world, yw_body_id id);

/// False while the body waits for its start time.
YW_API bool yw_body_is_active(const yw_world* world, yw_body_id id);

/// True once the body has diverged: it is frozen until yw_body_set_state or yw_world_load.
YW_API bool yw_body_is_diverged(const yw_world* world, yw_body_id id);
/// A pointer of the caller's, e.g. to a game object; NULL at first. The world does not use it.
YW_API yw_status yw_body_set_user(yw_world* world, yw_body_id id, void* user);
YW_API void* yw_body_user(const yw_world* world, yw_body_id id);

/// Friction (>= 0) and restitution (0 to 1), as in yw_body_def, from now on.
YW_API yw_status yw_body_set_surface(yw_world* world, yw_body_id id, float friction,
                                     float restitution);

/// Moves a body at once: p -> pivot + offset + rotation (p - pivot), its velocities, orientations
/// and pins along with it. Nothing is swept: what it then overlaps is pushed apart slowly.
/// YW_ERR_INVALID where the body is to be turned and its method cannot (yw_method.turn).
YW_API yw_status yw_body_teleport(yw_world* world, yw_body_id id, yw_vec3 pivot, yw_quat rotation,
                                  yw_vec3 offset);

/// Islands, i.e. bodies that touch each other or are joined, fall asleep when all of them have been
/// slower than this (m/s, rms over the particles of each body, by their way in a step) for half a
/// second. Bodies smaller than 0.25 m must be slower in proportion, pinned ones ten times, without
/// gravity all must stand still. None falls asleep while wind blows, or an obstacle nearby, a pin,
/// a parameter or a track moves. What sleeps stands still and costs nothing until one of its island
/// is woken: by a body that pushes it, an obstacle or pin that moves it, a force or impulse, a
/// change of its parameters, of gravity, wind, obstacles, pins, joints or filters. >= 0; default
/// YW_DEFAULT_SLEEP_SPEED; 0: bodies do not fall asleep, except parts of plastic and fem bodies as
/// these choose (alone they always do). Wakes all.
#define YW_DEFAULT_SLEEP_SPEED 0.005f
YW_API yw_status yw_world_set_sleep_speed(yw_world* world, float speed);
YW_API float yw_world_sleep_speed(const yw_world* world);

/// Puts a body to sleep, at rest or not; it wakes as above. Sleeping bodies do not see each other.
YW_API yw_status yw_body_sleep(yw_world* world, yw_body_id id);
/// Wakes a body and its island.
YW_API yw_status yw_body_wake(yw_world* world, yw_body_id id);
/// True if all of it sleeps.
YW_API bool yw_body_is_asleep(const yw_world* world, yw_body_id id);

/// Positions (velocities) in the vertex order of the model's mesh. Methods that add and remove
/// particles use an order of their own, and *count may change between steps. Valid until the next
/// call that takes a non-const world.
YW_API const yw_vec3* yw_body_positions(const yw_world* world, yw_body_id id, int32_t* count);
YW_API const yw_vec3* yw_body_velocities(const yw_world* world, yw_body_id id, int32_t* count);
/// Sets the positions and velocities of all particles, in the same order; velocities may be NULL
/// (unchanged).
YW_API yw_status yw_body_set_state(yw_world* world, yw_body_id id, const yw_vec3* positions,
                                   const yw_vec3* velocities);
/// Where the shown surface of a plastic body no longer holds, since matter has flowed or torn
/// there: one value per particle, from 0 (it holds) to 1 (a skin around the particles is better).
/// Returns how many are above 0; then out, with room for capacity values, is filled. 0, and nothing
/// is written, for other bodies and where capacity is too small.
YW_API int32_t yw_body_parted(const yw_world* world, yw_body_id id, float* out, int32_t capacity);
/// Radii (m) of bodies that collide as spheres, in the same order; NULL for volumes.
YW_API const float* yw_body_radii(const yw_world* world, yw_body_id id, int32_t* count);
/// True for bodies that collide with others, see yw_body_def.body_contact.
YW_API bool yw_body_has_contact(const yw_world* world, yw_body_id id);
/// Writes the vertices of the shown surface (see yw_model_surface) to out. An embedded surface is
/// kept out of other bodies and obstacles, also where it reaches beyond the tets that contact sees.
YW_API yw_status yw_body_surface_positions(const yw_world* world, yw_body_id id, yw_vec3* out,
                                           int32_t capacity);

/// Number of fields: those of the method, then "speed", "vx", "vy" and "vz" (m/s per particle),
/// which all bodies have.
/// Fields are computed on request.
YW_API int32_t yw_body_num_fields(const yw_world* world, yw_body_id id);
/// 0 <= field < yw_body_num_fields; name is NULL if there is no such field.
YW_API yw_field_info yw_body_field_info(const yw_world* world, yw_body_id id, int32_t field);
/// What a field is in a few words, e.g. "von Mises stress (Cauchy)"; "" if its name says it all or
/// there is no such field.
YW_API const char* yw_body_field_meaning(const yw_world* world, yw_body_id id, int32_t field);
/// Index of the field with this name; -1 if there is none.
YW_API int32_t yw_body_find_field(const yw_world* world, yw_body_id id, const char* name);
/// Writes one value per particle, in the order of yw_body_positions, or per cell, in the order of
/// yw_body_cells. YW_ERR_INVALID if there are more than `capacity` values.
YW_API yw_status yw_body_field_values(const yw_world* world, yw_body_id id, int32_t field,
                                      float* out, int32_t capacity);
/// Writes origins (m) and rotations from rest of the frames that the body is made of: those of
/// regions or cells (frames), or of points (rods and sheets; of rods, z is along the rod). At most
/// capacity of them, evenly spread. Returns how many it wrote; 0 for other methods.
YW_API int32_t yw_body_axes(const yw_world* world, yw_body_id id, yw_vec3* origins, yw_quat* turns,
                            int32_t capacity);
/// Writes the current tets of the body to out, 4 indices into yw_body_positions each; out has room
/// for `capacity` tets and may be NULL. Returns the number of tets, or -1 if out of memory.
YW_API int32_t yw_body_cells(const yw_world* world, yw_body_id id, int32_t* out, int32_t capacity);

/// 0: the cells of the body are always the tets of its model. Otherwise changes whenever the cells
/// do.
YW_API uint64_t yw_body_cells_version(const yw_world* world, yw_body_id id);

typedef struct yw_body_sums {
  double mass;                 ///< kg
  double center[3];            ///< m
  double momentum[3];          ///< kg m/s
  double angular_momentum[3];  ///< kg m^2/s about center
  double kinetic_energy;       ///< J
} yw_body_sums;
YW_API yw_status yw_body_sums_of(const yw_world* world, yw_body_id id, yw_body_sums* out);

typedef struct yw_body_energy {
  double kinetic;        ///< J, including rotation of oriented particles
  double elastic;        ///< J; NAN if the method has none: match, and frames with examples
  double gravitational;  ///< J, 0 at the origin
} yw_body_energy;
YW_API yw_status yw_body_energy_of(const yw_world* world, yw_body_id id, yw_body_energy* out);
/// Both, for less than each by itself.
YW_API yw_status yw_body_sums_and_energy_of(const yw_world* world, yw_body_id id,
                                            yw_body_sums* sums, yw_body_energy* energy);

/// Statistics of the body's method by name, for logs. A body always has the same ones in the same
/// order. The headers of the methods offer them as structs.
YW_API yw_status yw_body_statistics_of(const yw_world* world, yw_body_id id, yw_statistics* out);

/// Mean forces on a body over the last yw_world_step, N.
typedef struct yw_body_forces {
  double support[3];    ///< from pins and obstacles together, and from damping that slows free
                        ///< flight (mass_damping of fem)
  double pins[3];       ///< from pins and their springs; NAN if obstacles acted in the same substep
  double obstacles[3];  ///< from obstacles; NAN if pins acted in the same substep
  double contact[3];    ///< from other bodies
} yw_body_forces;
/// Turns the measuring of forces on or off (default off). It costs two passes over the particles
/// per substep. Results do not change.
YW_API yw_status yw_world_measure_forces(yw_world* world, bool on);
/// YW_ERR_INVALID before the first step that measured them.
YW_API yw_status yw_body_forces_of(const yw_world* world, yw_body_id id, yw_body_forces* out);

// Pins and handles --------------------------------------------------------------------------------

typedef struct yw_pin_def {
  yw_body_id body;
  const int32_t* vertices;  ///< in the order of the model's mesh; copied
  int32_t num_vertices;     ///< >= 1
  yw_path path;             ///< how the pinned points move
  /// 0 (default): the vertices are held exactly. > 0: each is pulled by a spring of this stiffness
  /// (N/m) to where the path would hold it.
  float stiffness;
  float damping;  ///< N s/m, of the spring; default 0
  /// true: particles of rods and sheets that are held exactly also keep their orientation, which
  /// turns with the path (a clamp). Default false: a hinge. Ignored for other bodies.
  bool clamp;
} yw_pin_def;
YW_API yw_pin_def yw_default_pin_def(void);
YW_API yw_status yw_pin_create(yw_world* world, const yw_pin_def* def, yw_pin_id* out,
                               yw_error* error);
YW_API yw_status yw_pin_destroy(yw_world* world, yw_pin_id id);
/// Moves a pin interactively, e.g. with the mouse. Overrides the path from the next step on.
YW_API yw_status yw_pin_move(yw_world* world, yw_pin_id id, yw_vec3 offset, yw_quat rotation);

// Obstacles ---------------------------------------------------------------------------------------

typedef struct yw_obstacle_def {
  yw_shape* shape;  ///< retained
  yw_transform transform;
  yw_path path;       ///< motion, applied on top of transform
  float friction;     ///< default 0.4
  float restitution;  ///< 0 to 1; default 0
  /// Plastic material that touches the obstacle moves with it and comes off only by tearing. Bodies
  /// of other methods do not slide on it, but can lift off. Default false.
  bool sticky;
  const char* name;       ///< copied; may be NULL
  uint32_t groups, mask;  ///< as of bodies
} yw_obstacle_def;
YW_API yw_obstacle_def yw_default_obstacle_def(void);
YW_API yw_status yw_obstacle_create(yw_world* world, const yw_obstacle_def* def,
                                    yw_obstacle_id* out, yw_error* error);
YW_API yw_status yw_obstacle_destroy(yw_world* world, yw_obstacle_id id);
YW_API const char* yw_obstacle_name(const yw_world* world, yw_obstacle_id id);
/// As of bodies.
YW_API yw_status yw_obstacle_set_user(yw_world* world, yw_obstacle_id id, void* user);
YW_API void* yw_obstacle_user(const yw_world* world, yw_obstacle_id id);
YW_API yw_status yw_obstacle_set_surface(yw_world* world, yw_obstacle_id id, float friction,
                                         float restitution);
// Each of these takes the obstacle off its path, for good.
/// Moves it there during the next step, so that it pushes what is in its way; then it stands still.
YW_API yw_status yw_obstacle_move(yw_world* world, yw_obstacle_id id, yw_vec3 position,
                                  yw_quat rotation);
/// Puts it there at once, at rest.
YW_API yw_status yw_obstacle_place(yw_world* world, yw_obstacle_id id, yw_vec3 position,
                                   yw_quat rotation);
/// Lets it move from now on: m/s, and rad/s about the origin of its shape.
YW_API yw_status yw_obstacle_set_velocity(yw_world* world, yw_obstacle_id id, yw_vec3 velocity,
                                          yw_vec3 angular_velocity);

/// Pose of the obstacle at a time (s), e.g. yw_world_time(world); off its path, the current one.
YW_API yw_status yw_obstacle_pose(const yw_world* world, yw_obstacle_id id, double time,
                                  yw_transform* out);

// The step ----------------------------------------------------------------------------------------

typedef struct yw_step_report {
  int32_t num_particles;
  int32_t obstacle_contacts;   ///< particles touching an obstacle in the last substep
  int32_t body_contacts;       ///< contact points between and within bodies in the last substep
  int32_t sleeping_particles;  ///< at rest; skipped in the last substep
  int32_t recovered_regions;   ///< regions, elements or solves that took the slow, safe path
  int32_t stalled_solves;      ///< solves that did not converge and were repeated in smaller steps
  int32_t diverged_bodies;     ///< bodies stopped in this step (frozen in their last finite state)
  yw_body_id first_diverged;   ///< the first of them
  // Wall clock, s: the first four add up to the total.
  double seconds_advance;  ///< methods move their bodies, including contact with obstacles
  double seconds_contact;  ///< contact between and within bodies
  double seconds_settle;   ///< methods refine, add and remove particles after contact
  double seconds_other;    ///< pins, obstacle poses, checks, arrays for readers
  double seconds_total;
  // Parts of advance, s, summed over bodies. Bodies advance in parallel, so these sums can exceed
  // the wall clock.
  double work_obstacles;  ///< contact with obstacles
  double work_adapt;      ///< example weights (match), strain checks and refinement (fem)
} yw_step_report;

/// Advances by dt seconds in equal substeps. dt > 0 and finite, 1 <= substeps <= 10000. report may
/// be NULL. Returns YW_WARN_NUMERICS if a body diverged. After YW_ERR_MEMORY the world is in the
/// middle of a step: yw_world_load or yw_world_restore takes it back to a snapshot.
YW_API yw_status yw_world_step(yw_world* world, float dt, int32_t substeps, yw_step_report* report);

/// Where yw_world_record puts the positions of a body.
typedef struct yw_recording {
  yw_body_id body;
  yw_vec3* positions;  ///< m, a row of `count` positions per step, as yw_body_positions gives them
  int32_t count;       ///< particles of the body
} yw_recording;
/// Takes num_steps steps and copies the positions after each: a loop over yw_world_step for callers
/// to whom a call is expensive. Ends after the first step in which a body diverged
/// (YW_WARN_NUMERICS), or whose row does not fit because a body has another number of particles by
/// then (YW_ERR_LIMIT); num_taken (may be NULL) says how many steps were taken. report is that of
/// the last step and may be NULL.
YW_API yw_status yw_world_record(yw_world* world, float dt, int32_t substeps, int32_t num_steps,
                                 const yw_recording* recordings, int32_t num_recordings,
                                 int32_t* num_taken, yw_step_report* report);
/// m/s^2, from now on; a track of gravity (yawara/track.h) overrides it.
YW_API yw_status yw_world_set_gravity(yw_world* world, yw_vec3 gravity);
YW_API yw_vec3 yw_world_gravity(const yw_world* world);
YW_API double yw_world_time(const yw_world* world);
YW_API uint64_t yw_world_step_count(const yw_world* world);

// State -------------------------------------------------------------------------------------------

/// Hash of everything the next step depends on: motion, other state of the methods (orientations,
/// plastic strains, warm starts, parameters), and how the world was built. It does not depend on
/// the machine, thread count or SIMD level. Two worlds with the same hash take the same next step.
YW_API uint64_t yw_world_hash(const yw_world* world);
/// Number of bytes that yw_world_save writes.
YW_API size_t yw_world_snapshot_size(const yw_world* world);
YW_API yw_status yw_world_save(const yw_world* world, void* buffer, size_t capacity, size_t* size);
/// Continues a run of the same scene: the world must have been built with the same models, pins,
/// obstacles and gravity; the message says what differs. On error nothing is changed.
YW_API yw_status yw_world_load(yw_world* world, const void* buffer, size_t size, yw_error* error);

/// Goes back to a snapshot of this world, or of another one with the same models and shapes,
/// whatever happened since: bodies, obstacles, pins, joints and settings become those of the
/// snapshot, with their ids. What was made since is removed; what was destroyed is made again,
/// which needs yw_world_def.rollback unless something with the same model or shape is there. From
/// there on the world takes the same steps, and hands out the same ids, as it did. Pointers of
/// callers stay with bodies and obstacles that exist before and after; others have none. On error
/// nothing is changed (YW_ERR_MEMORY: bodies may be missing).
YW_API yw_status yw_world_restore(yw_world* world, const void* buffer, size_t size,
                                  yw_error* error);

typedef struct yw_snapshot_info {
  double time;     ///< s, yw_world_time when it was saved
  uint64_t steps;  ///< yw_world_step_count
} yw_snapshot_info;
/// Reads the header of a snapshot, without a world.
YW_API yw_status yw_snapshot_info_of(const void* buffer, size_t size, yw_snapshot_info* out,
                                     yw_error* error);

#ifdef __cplusplus
}
#endif
#endif
