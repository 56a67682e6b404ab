// SPDX-License-Identifier: MIT
// All mutable state. Bodies, pins and obstacles are stored in slots; ids are slot + generation.
#ifndef YW_WORLD_WORLD_H
#define YW_WORLD_WORLD_H

#include "contact/bodies.h"
#include "contact/obstacles.h"
#include "model/model.h"
#include "world/contact_book.h"
#include "world/follow.h"
#include "world/joint.h"
#include "world/mesh_obstacle.h"
#include "world/obstacle_surface.h"
#include "world/path.h"
#include "world/query.h"
#include "world/shown_surface.h"
#include "world/slots.h"
#include "world/track.h"
#include "world/wind.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/method.h"
#include "yawara/force.h"
#include "yawara/world.h"

#define YW_NAME_LENGTH 64

/// Impulses on a body during a step, N s; see numbers.c.
typedef struct yw_body_balance {
  double momentum[3];  ///< kg m/s, reference for the next impulse
  bool is_current;     ///< that is the momentum now
  double support[3], pins[3], obstacles[3], contact[3];
  bool mixed;   ///< pins and obstacles acted together: only their sum is known
  double span;  ///< s, of the step; 0: not measured
} yw_body_balance;

typedef struct yw_body {
  uint32_t generation;  ///< odd while alive
  uint64_t key;         ///< unique within a world, never reused
  char name[YW_NAME_LENGTH];
  yw_model* model;
  void* state;
  yw_particles particles;
  float friction, restitution;
  float built_friction;  ///< without tracks
  bool body_contact, self_contact;
  uint32_t groups, mask;               ///< it is in these groups, and collides with those
  yw_transform placing;                ///< where it was made ...
  yw_vec3 first_velocity, first_spin;  ///< ... and how it moved
  double start;                        ///< s, when it starts to take part
  bool active;                         ///< it has started
  bool diverged;                       ///< frozen at its last finite state
  bool lockstep;  ///< in this substep: advances in parts, together with bodies near it
  bool crowded;   ///< in this substep: other surfaces, or its own, may touch it

  /// Positions at the start of the world step, or when its particles last changed.
  yw_vec4* last_good;
  int32_t last_good_count;
  yw_vec4* begin;          ///< positions at the start of the substep; NULL: none are needed yet
  uint64_t last_topology;  ///< topology_version of last_good
  yw_vec3 *shown_positions, *shown_velocities;  ///< in mesh order; shared: NULL until asked for
  float* shown_radii;                           ///< NULL for volumes

  yw_obstacle_set obstacles;  ///< of the substep, those that it collides with
  YW_LIST(yw_hold) holds;
  YW_LIST(yw_spring) springs;
  yw_method_report report;
  yw_status status;
  yw_body_balance forces;
  yw_vec4* pushes;    ///< N, forces from outside in the next step; NULL: never had any
  yw_vec4* impulses;  ///< N s, scratch; with pushes
  bool asleep;        ///< skipped; see sleep.c
  float rest_time;    ///< s, that it has been at rest
  uint32_t island;    ///< of sleepers: 1 + slot of the first that fell asleep with it; 0: none
  yw_aabb rest_box;   ///< of a sleeper's particles
  bool in_reach;      ///< a sleeper that others may touch in this substep
  void* user;
  bool is_pushed;    ///< pushes act in the next step
  int32_t support;   ///< step scratch: of parting.c
  bool is_pressed;   ///< surfaces of obstacles acted on it in the last substep
  bool is_placed;    ///< new, or put somewhere: it may overlap others, see parting.c
  uint64_t changes;  ///< counts changes of its particles, for queries
  uint64_t known;    ///< `changes` of which a device knows; 0: none
  bool stays;        ///< in this step: on its device, see away.c
  yw_body_query* query;
  yw_shown_wall* shown_wall;  ///< keeps others out of what is shown, see shown_surface.c
  bool is_shared;             ///< ranks have a part each, see ranks_bodies.c
  int32_t home;               ///< the rank that advances it; -1: all that have it do
} yw_body;

typedef struct yw_pin {
  uint32_t generation;
  uint32_t body;  ///< slot
  yw_path path;
  float stiffness, damping;
  float strength;     ///< 0 to 1, by a track; otherwise 1
  yw_follow* follow;  ///< targets instead of a path; may be NULL
  bool clamp;
  int32_t num_particles;
  int32_t* particles;
  yw_vec3* placed;                 ///< position of each when the pin was created
  bool by_hand;                    ///< moved with yw_pin_move
  yw_motion hand_begin, hand_end;  ///< over the next step
} yw_pin;

typedef struct yw_world_obstacle {
  uint32_t generation;
  char name[YW_NAME_LENGTH];
  yw_shape* shape;         ///< NULL: a mesh
  yw_animated_mesh* mesh;  ///< NULL: a shape
  uint64_t shape_hash;     ///< of either
  yw_transform transform;
  yw_path path;
  yw_obstacle_surface* surface;  ///< where contact sees surfaces; may be NULL
  bool is_near;                  ///< step scratch: some body may touch the surface
  float friction, restitution;
  bool sticky;
  uint32_t groups, mask;
  void* user;
  bool by_hand;                       ///< off its path
  yw_transform hand_begin, hand_end;  ///< over the next step
  yw_vec3 velocity, spin;             ///< m/s and rad/s, by hand
} yw_world_obstacle;

/// A shape of a destroyed obstacle.
typedef struct yw_kept_shape {
  yw_shape* shape;
  uint64_t hash;
} yw_kept_shape;

/// Two bodies that are moved apart, see parting.c.
typedef struct yw_parting {
  yw_body *first, *second;
  yw_vec3 way;     ///< unit vector, of the second
  float distance;  ///< m, left to go
} yw_parting;

/// Passes impulses of contact on to the method of a body.
typedef struct yw_responder {
  yw_body* body;
  yw_step_ctx ctx;
  const yw_world* world;
} yw_responder;

/// Consecutive particles of a body, which one worker looks at.
typedef struct yw_span {
  yw_body* body;
  int32_t first, count;
  bool failed;
} yw_span;
/// Of one body, at most.
#define YW_MAX_SPANS 16

struct yw_world {
  yw_allocator mem;
  yw_tasks* tasks;
  yw_simd simd;
  const struct yw_device* device;  ///< NULL: the processor
  const struct yw_ranks* ranks;    ///< that simulate this world together; NULL: this one alone
  int32_t* order_depth;            ///< calls in progress that other ranks were told of (ranks.c)
  yw_error unshared;               ///< why a body is not shared by these ranks
  yw_vec3 gravity;
  yw_vec3 built_gravity;  ///< without tracks
  int32_t contact_iterations;
  double time;
  uint64_t step_count;
  uint64_t next_key;
  bool measures_forces;                    ///< for the caller
  bool notes_forces;                       ///< in this step: for the caller or for drives
  bool is_checked;                         ///< nothing moved particles since yw_world_check_bodies
  bool rollback;                           ///< keeps models and shapes
  YW_LIST(yw_model*) kept_models;          ///< of destroyed bodies
  YW_LIST(yw_kept_shape) kept_shapes;      ///< of destroyed obstacles
  YW_LIST(yw_animated_mesh*) kept_meshes;  ///< likewise
  YW_LIST(yw_follow*) kept_follows;        ///< of destroyed pins
  yw_wind_def wind;                        ///< density 0: none
  yw_vec3 wind_velocity;                   ///< m/s, now; tracks change it
  uint64_t changes;                        ///< counts changes of bodies, for queries
  yw_queries* queries;
  yw_shown_surfaces* shown_surfaces;
  float impact_speed;     ///< m/s, of events
  float sleep_speed;      ///< m/s; 0: bodies do not fall asleep by themselves
  yw_contact_book* book;  ///< NULL: contacts are not recorded

  YW_LIST(yw_body) bodies;
  YW_LIST(uint32_t) body_order;  ///< slots in order of creation
  YW_LIST(yw_pin) pins;
  YW_LIST(yw_world_obstacle) obstacles;
  YW_LIST(yw_joint) joints;
  YW_LIST(yw_track) tracks;

  yw_points* points;
  yw_surfaces* surfaces;                    ///< NULL: bodies touch with points
  bool may_touch;                           ///< in this substep, with surfaces
  YW_LIST(yw_contact_body) contact_bodies;  ///< step scratch
  YW_LIST(yw_responder) responders;         ///< step scratch
  YW_LIST(yw_aabb) body_boxes;              ///< step scratch
  YW_LIST(yw_obstacle) obstacle_poses;      ///< step scratch
  YW_LIST(yw_obstacle) chosen_obstacles;    ///< step scratch: of bodies that do not meet all
  YW_LIST(uint64_t) pairs_apart;       ///< yw_contact_pair of slots that do not collide; ascending
  YW_LIST(uint64_t) apart;             ///< step scratch: the same, and joined bodies
  YW_LIST(yw_contact_filter) filters;  ///< step scratch
  YW_LIST(uint32_t) small_bodies;      ///< step scratch
  YW_LIST(yw_span) spans;              ///< step scratch
  YW_LIST(yw_joined) joined;           ///< step scratch: rigid bodies of joints
  YW_LIST(yw_rigid_motion*) motions;   ///< step scratch: their motions
  YW_LIST(uint64_t) parting;           ///< yw_contact_pair of slots that are moved apart
  YW_LIST(yw_parting) partings;        ///< step scratch
  YW_LIST(uint64_t) touching;          ///< step scratch: yw_contact_pair of slots
  YW_LIST(uint32_t) islands;           ///< step scratch: of slots, another of the same island
};

/// Vertex i of the input is particle table[i]; NULL: same order.
static inline const int32_t* yw_body_vertex_table(const yw_body* body) {
  const yw_method* method = body->model->method;
  return method->particle_of_vertex ? method->particle_of_vertex(body->state) : NULL;
}
/// True if the body, or its pieces, may touch itself.
static inline bool yw_body_meets_itself(const yw_body* body) {
  const yw_method* method = body->model->method;
  return body->self_contact || (method->has_pieces && method->has_pieces(body->state));
}

static inline uint64_t yw_body_topology(const yw_body* body) {
  const yw_method* method = body->model->method;
  return method->topology_version ? method->topology_version(body->state) : 0;
}

/// Stiffness of a pin's spring at particle k, N/m; 0: held exactly.
static inline float yw_pin_stiffness(const yw_pin* pin, int32_t k) {
  return pin->follow ? pin->follow->stiffness[k] : pin->stiffness;
}
/// True if a pin holds its particle k exactly, now.
static inline bool yw_pin_holds(const yw_pin* pin, int32_t k) {
  return yw_pin_stiffness(pin, k) == 0.0f && pin->strength >= 0.5f;
}

/// True for bodies that the step moves.
static inline bool yw_body_takes_part(const yw_body* body) {
  return body->active && !body->diverged;
}
/// Body i in the order of creation.
static inline yw_body* yw_body_in_order(const yw_world* world, int32_t i) {
  return &world->bodies.items[world->body_order.items[i]];
}
/// Box of the particles, without their radii.
yw_aabb yw_body_box(const yw_body* body);

bool yw_body_is_finite(const yw_body* body);
/// Freezes the bodies that have diverged, and counts them.
void yw_world_check_bodies(yw_world* world, yw_step_report* report);
/// Positions now are those that a body returns to if it diverges.
void yw_world_remember_good(yw_world* world);

/// Adds the particles of a body to the work that yw_spans_run does.
void yw_spans_add(yw_world* world, yw_body* body);
/// task gets the world; block is the number of a span. The spans are listed until more are added.
void yw_spans_run(yw_world* world, yw_task task);
/// Stores the current positions, to restore them if the body diverges.
void yw_body_remember(const yw_world* world, yw_body* body);

/// Copies what readers see (the shown_ arrays) from the particles. Every call that changes
/// particles ends with one of these, so that readers never write.
void yw_body_show(yw_world* world, yw_body* body);
/// All bodies, or those that are awake.
void yw_world_show(yw_world* world, bool all);

/// The body, or NULL for a dead or null id.
yw_body* yw_world_find_body(const yw_world* world, yw_body_id id);
/// The sums of a body but for angular momentum.
yw_body_sums yw_body_motion_of(const yw_world* world, const yw_body* body);
yw_transform yw_obstacle_pose_at(const yw_world_obstacle* obstacle, double time);
/// Removes the pins of a body (slot) before it is destroyed.
void yw_world_drop_pins(yw_world* world, uint32_t body);
void yw_pin_release(yw_world* world, yw_pin* pin);
/// yw_pin_create with targets, or NULL; owns them if it succeeds.
yw_status yw_pin_create_following(yw_world* world, const yw_pin_def* def, yw_follow* follow,
                                  yw_pin_id* out, yw_error* error);
/// Sets inv_mass of all particles of a body (slot): 0 where pinned, otherwise 1 / mass.
void yw_world_restore_masses(yw_world* world, uint32_t body);
void yw_world_obstacle_release(yw_world* world, yw_world_obstacle* obstacle);
/// yw_obstacle_create with a mesh, or NULL; owns it if it succeeds.
yw_status yw_world_add_obstacle(yw_world* world, const yw_obstacle_def* def, yw_animated_mesh* mesh,
                                yw_obstacle_id* out, yw_error* error);
/// Makes the surface of an obstacle where contact sees surfaces; false: out of memory.
bool yw_world_obstacle_add_surface(yw_world* world, yw_world_obstacle* obstacle);
/// Brings meshes of obstacles to the time of the world.
void yw_world_fit_meshes(yw_world* world);
void yw_body_release(yw_world* world, yw_body* body);
/// Room in all lists for this many bodies.
bool yw_world_reserve_bodies(yw_world* world, int32_t count);
/// Makes a body in a slot that is empty.
yw_status yw_body_rebuild(yw_world* world, const yw_body_def* def, yw_body* body, yw_error* error);
/// Friction, contact, filters and start.
void yw_body_take_settings(yw_body* body, const yw_body_def* def);

// obstacle_surface.c: called by the step where contact sees surfaces.
/// Room for the surfaces of obstacles; false: out of memory.
bool yw_obstacle_surfaces_reserve(yw_world* world);
/// True when obstacles have surfaces in this world.
bool yw_obstacle_surfaces_any(const yw_world* world);
/// True when the body, in the box, may touch one of them in the substep. Obstacles must be placed.
bool yw_obstacle_surfaces_near(const yw_world* world, const yw_body* body, yw_aabb box);
/// Notes which surfaces bodies may touch; true if there are any.
bool yw_obstacle_surfaces_find(yw_world* world);
/// Adds them to the bodies that contact looks at.
void yw_obstacle_surfaces_add(yw_world* world, float h);

// lockstep.c.
/// Room for where bodies begin, once contact of surfaces may look at it; false: out of memory.
bool yw_lockstep_reserve(yw_world* world);
/// Marks the bodies of the next substep that are crowded and those that advance in lockstep.
/// Returns the number of parts for these; 1: there are none.
int32_t yw_lockstep_plan(yw_world* world, float h);

// sleep.c
/// Something has changed for the body: it wakes, and what fell asleep with it does so before the
/// next substep.
static inline void yw_body_rouse(yw_body* body) {
  body->asleep = false;
  body->rest_time = 0.0f;
}
/// Keeps what a sleeper needs while it is skipped.
void yw_body_lie_down(const yw_world* world, yw_body* body);
void yw_world_wake_all(yw_world* world);
/// Wakes the islands of bodies that were roused.
void yw_world_wake_islands(yw_world* world);
/// Wakes bodies near obstacles that move, and those that contact or joints have pushed.
void yw_world_wake_moved(yw_world* world);
/// Before contact: marks the sleepers that may be touched. True if any body is awake.
bool yw_sleep_find_reach(yw_world* world, float h);
/// After contact, in the last substep of a step: notes who touches whom; false: out of memory.
bool yw_sleep_note_touching(yw_world* world);
/// At the end of a step: islands at rest fall asleep; false: out of memory.
bool yw_sleep_end_step(yw_world* world, float dt);
/// m/s, how fast a body at rest may be unless it is small; 0: it never rests.
float yw_sleep_speed_of(const yw_world* world, const yw_body* body);

// parting.c: where contact sees surfaces.
/// Looks for bodies that overlap, and adds them to the filters; false: out of memory.
bool yw_parting_begin_step(yw_world* world);
/// After bodies have advanced, in lockstep or all others: moves those that overlap apart.
void yw_parting_apply(yw_world* world, bool lockstep, float h);

// control.c
/// Obstacles by hand: where they go in a step of dt, and once it is over.
void yw_obstacles_begin_step(yw_world* world, float dt);
void yw_obstacles_end_step(yw_world* world);

// filter.c
/// Chooses the pairs of bodies that do not collide in this step; false: out of memory.
bool yw_filter_begin_step(yw_world* world);
/// Gives every body the obstacles of the substep that it collides with.
void yw_filter_obstacles(yw_world* world, const yw_obstacle_set* all);
/// Forgets a body (slot) that is destroyed.
void yw_world_drop_pairs(yw_world* world, uint32_t body);

// query.c
/// The surface of a body for queries, as it is now; NULL: out of memory.
const yw_query_surface* yw_body_query_surface(const yw_world* world, yw_body* body);

// ranks.c: worlds on several ranks.

typedef enum yw_order_kind {
  YW_ORDER_END,
  YW_ORDER_STEP,
  YW_ORDER_HASH,
  YW_ORDER_SIZE,
  YW_ORDER_SAVE,
  YW_ORDER_WRITE,
  YW_ORDER_LOAD,
  YW_ORDER_SUMS,
  YW_ORDER_ENERGY,
  YW_ORDER_FIELD,
  YW_ORDER_SHOW
} yw_order_kind;

/// What rank 0 does and others must do as well.
typedef struct yw_order {
  int32_t kind;
  int32_t number;  ///< substeps, of a field, or of places
  float dt;
  yw_body_id body;
  uint64_t size;     ///< bytes of a snapshot, or of the path of a file
  uint64_t offset;   ///< in a file
  const void* data;  ///< here; other ranks get a copy
} yw_order;

/// Rank 0 tells the others, unless it is within such a call; then yw_order_done ends it.
void yw_order_give(const yw_world* world, yw_order order);
void yw_order_done(const yw_world* world);
/// shown_surface.c: yw_body_surface_positions of some vertices, with a method that has
/// surface_range.
void yw_body_surface_range(const yw_world* world, const yw_body* body, int32_t first, int32_t count,
                           yw_vec3* out);
/// ranks_shown.c: takes part in writing what is shown of a body; data: places, then the path.
void yw_shown_follow(const yw_world* world, const yw_order* order, const char* data);

// ranks_bodies.c: bodies that live on one rank.
/// Chooses the rank that advances each body in this step.
void yw_homes_choose(yw_world* world);
/// True if this rank advances the body.
bool yw_body_is_at_home(const yw_world* world, const yw_body* body);
/// After advance: all ranks get the particles of bodies that others advanced.
void yw_homes_share(yw_world* world, bool lockstep);
/// `respond` of a body: its home answers for all.
yw_status yw_homes_respond(const yw_world* world, const yw_body* body, const yw_step_ctx* ctx,
                           const yw_vec4* impulses, yw_vec4* change);
/// At the end of a step: all ranks get the states.
void yw_homes_end_step(yw_world* world);
/// Of so many particles, those whose last good positions a rank keeps: all, or its share of a body
/// that is shared.
typedef struct yw_kept_range {
  int32_t first, end;
} yw_kept_range;
yw_kept_range yw_body_kept(const yw_world* world, const yw_body* body, int32_t rank, int32_t count);
/// Positions become the last good ones.
void yw_body_recall(const yw_world* world, yw_body* body);
/// snapshot.c: everything but the checksum.
void yw_world_write_snapshot(const yw_world* world, yw_writer* writer);

// away.c: bodies on a device.
/// Chooses the bodies that stay there in this step.
void yw_away_begin_step(yw_world* world);
/// True if the particles are out of date here.
bool yw_body_is_away(const yw_body* body);
/// Brings all bodies back; YW_ERR_DEVICE: a device is lost.
yw_status yw_away_end_step(yw_world* world, yw_step_report* report);
/// The step is over: changes of particles from now on are from outside.
void yw_away_note_shown(yw_world* world);

// pushes.c: called by the step. False: out of memory.
bool yw_pushes_begin_step(yw_world* world);
/// Forces and wind over h, on the bodies that advance in lockstep, or all others.
void yw_pushes_apply(yw_world* world, bool lockstep, float h);
void yw_pushes_end_step(yw_world* world);

// numbers.c: called by the step when the world measures forces.
void yw_forces_begin_step(yw_world* world, float dt);
/// What came from outside since the last note does not count.
void yw_forces_skip(yw_world* world, bool lockstep);
// For the bodies that advance in lockstep, or all others.
void yw_forces_note_advance(yw_world* world, bool lockstep, float h);
void yw_forces_note_contact(yw_world* world, bool lockstep);

#endif
