// SPDX-License-Identifier: MIT
// State of a fem body.
#ifndef YW_METHODS_FEM_BODY_H
#define YW_METHODS_FEM_BODY_H

#include "methods/fem/cracks.h"
#include "methods/fem/forces.h"
#include "methods/fem/model.h"
#include "methods/fem/relax.h"
#include "methods/fem/transfer.h"
#include "methods/kit/near.h"
#include "yawara/extend/method.h"
#include "yawara/fem.h"

/// How obstacles pressed on a node lately (grip.c).
typedef struct fem_grip {
  float pressure;  ///< m/s^2, mean normal force over mass; 0: not known
  float age;       ///< s, that the mean is over; 0: did not touch
} fem_grip;

typedef struct fem_body {
  yw_allocator mem;
  const fem_model* model;
  yw_fem_params params;

  fem_front front;
  fem_work work;
  fem_scratch scratch;
  double* mass;     ///< kg per node; free nodes only
  float* inv_mass;  ///< 1/kg per node; 0 if held or not free
  yw_vec4* force;
  double* carried;  ///< 4 per node, used while the front changes
  fem_relax relax;

  // Refinement.
  float* strains;  ///< see fem_strain_args
  float* jumps;    ///< see fem_jump_args
  yw_vec4 (*node_strain)[2];
  int32_t *to_split, *to_merge;
  float* merge_jump;  ///< per entry of to_merge: strain jump between its children
  float* merged_at;   ///< per parent: the same when it was last merged; 0: no longer counts
  bool* forced;       ///< per parent: stays split because of pins inside
  float since_check;  ///< s
  float patience;     ///< factor of the time between two checks
  float stretch;      ///< largest strain at the last check; the stable step shrinks with it
  int64_t inner_steps, splits, merges;
  float last_step;     ///< s
  float missed;        ///< s of the last substep by which it did not advance
  int32_t since_look;  ///< inner steps of this substep since the last check for squeezed tets
  int32_t squeezed;    ///< tets, found in the last inner step of this substep
  bool sums_wait;      ///< forces of tets were found, and are summed at nodes when these move

  // Plastic strain of every tet of every level, and the tensions it subtracts.
  float (*plastic)[6];
  float (*plastic_tension)[6];
  bool has_flown;  ///< some plastic strain is not 0

  // Cracks; all zero if the model never breaks.
  fem_cracks cracks;
  bool is_apart;     ///< has pieces, as of the last substep
  int32_t num_seen;  ///< particles when the body was last invalidated

  // Pins.
  int32_t* held;    ///< particles of the holds
  int32_t* sprung;  ///< particles of the springs
  int32_t num_held, num_sprung;
  bool* is_held;  ///< per node

  // Free nodes of the surface, packed for obstacle contact.
  int32_t num_surface;
  int32_t* surface;
  yw_particles surface_copy;
  yw_vec4* surface_old;
  float* pressing;  ///< see yw_step_ctx
  fem_grip* grip;   ///< per node
  bool gripped;     ///< one of the surface has an age

  // Sleep, and the state that contact is compared with.
  bool asleep;
  float still;                  ///< s since a node was last faster than sleep_speed
  uint64_t sleep_surroundings;  ///< fingerprint of obstacles and gravity when it fell asleep
  yw_vec4 *end_pos, *end_vel;   ///< as left by the last advance

  struct fem_away* away;  ///< on a device (offload.c); NULL: on the processor

  yw_near near;  ///< positions are relative while the body takes its inner steps

  // The front as tets and triangles, as of the last advance, invalidate or load.
  uint64_t front_version, shown_version;
  int32_t* cells;      ///< 4 per tet, positive
  int32_t* cell_tets;  ///< their tets in the hierarchy
  int32_t* triangles;
  int32_t* surface_nodes;
  int32_t (*hanging)[3];  ///< node and its two parents
  int32_t num_triangles, num_surface_nodes, num_hanging;
  uint64_t mass_version;  ///< of the front whose masses the particles have
} fem_body;

yw_status yw_fem_body_create(const void* model, const yw_allocator* mem, void** state,
                             yw_particles* particles, yw_error* error);
void yw_fem_body_destroy(void* state, yw_particles* particles);
void yw_fem_invalidate(void* state, const yw_particles* particles);
void yw_fem_save(const void* state, yw_writer* writer);
void yw_fem_load(void* state, yw_reader* reader);

/// Masses of nodes at the finest level, and which of them are on the surface.
const double* yw_fem_fine_mass(const fem_body* body);
const bool* yw_fem_on_surface(const fem_body* body);

/// Call after the front and its masses changed: rebuilds batches and lists.
void yw_fem_front_changed(fem_body* body);
/// Writes the inverse masses for contact.
void yw_fem_show_masses(fem_body* body, yw_particles* particles);
/// Lists the front's tets and surface if they are not up to date.
void yw_fem_show_front(fem_body* body);

/// Call after the lists of pins changed: updates held nodes and the tets to be split for them.
void yw_fem_note_pins(fem_body* body);
/// Evaluates strains and changes the front where needed (adapt.c). True if it changed.
bool yw_fem_adapt(fem_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Sets node_strain of all nodes in use to the mean of the tets around them (adapt.c).
void yw_fem_find_node_strains(fem_body* body, const yw_particles* particles,
                              const yw_step_ctx* ctx);
/// Stable step of the finest tets in use at their current stretch, without damping, s (fem.c).
float yw_fem_stable_now(const fem_body* body, bool squeezed);
/// *hasty: longest step after which no tet is deformed too much by velocities alone, s; INFINITY if
/// that is surely more than `step`. If not, looks at the largest strain too (haste.c).
yw_status yw_fem_hasty_step(fem_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                            float step, float* hasty);
/// Obstacles (grip.c): where the surface is, and after a step of h from `begin` (s, in the
/// substep).
void yw_fem_remember_surface(fem_body* body, const yw_particles* particles);
void yw_fem_meet_obstacles(fem_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                           float begin, float h);
/// Its two outcomes: some obstacle is near, or none.
void yw_fem_press_obstacles(fem_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                            float begin, float h);
void yw_fem_release_obstacles(fem_body* body, float h);
/// Splits at once to the level that params require, and around pins.
void yw_fem_enforce(fem_body* body, yw_particles* particles, const yw_step_ctx* ctx);

/// Lets the material flow for `time` seconds under the strain of the tets in the batches of a kind
/// (laid out as in fem_strain_args). True if something flowed (plastic.c).
bool yw_fem_flow(fem_body* body, int k, const float* strains, float time);
/// Transfer plastic strain between coarse and fine tets when the front changes.
void yw_fem_flow_merged(fem_body* body, int32_t parent);
void yw_fem_flow_split(fem_body* body, int32_t parent);
/// Writes the tension offsets of plastic strains into the lists of the front.
void yw_fem_flow_offsets(fem_body* body);
/// Recomputes the tensions of all tets from their plastic strains.
void yw_fem_flow_restore(fem_body* body);

/// Quantities for display (shown.c).
int32_t yw_fem_num_fields(const void* state);
yw_field_info yw_fem_field_info(const void* state, int32_t field);
const char* yw_fem_field_meaning(const void* state, int32_t field);
void yw_fem_field_values(const void* state, const yw_particles* particles, int32_t field,
                         float* out);
const int32_t* yw_fem_cells(const void* state, int32_t* num_cells);
double yw_fem_elastic_energy(const fem_body* body, const yw_particles* particles);
void yw_fem_statistics_list(const void* state, const yw_particles* particles, yw_statistics* out);
yw_method_energy yw_fem_energy(const void* state, const yw_particles* particles);

#endif
