// SPDX-License-Identifier: MIT
// Plastic bodies on a device (device/device.h, method "plastic"): inner steps are taken there, with
// the same bits, and neighbour lists are built there. New slaves and sleep are the processor's:
// positions and lists come back for these.
#ifndef YW_METHODS_PLASTIC_OFFLOAD_H
#define YW_METHODS_PLASTIC_OFFLOAD_H

#include "device/device.h"
#include "methods/plastic/body.h"

/// A body on a device.
typedef struct plastic_remote plastic_remote;

enum { PLASTIC_GROUP = 32 };  ///< masters, or slots, whose pairs are interleaved

/// Pairs as a device reads them. By masters: four e of lane l of a group of 32 masters is at
/// (row_start[group] + e) * 32 + l. By slaves, so that a slot (body.h, parts) gathers what masters
/// hand to its slave: slots of a chunk are ordered by their number of pairs, pair k of lane l of a
/// group of 32 of them is at (slot_start[group] + k) * 32 + l, in ascending order of masters.
typedef struct plastic_layout {
  int32_t* row_start;    ///< per group, + 1
  uint16_t* column;      ///< four per four: slaves within the chunk
  uint16_t* at;          ///< the same: place of the pair among those by slaves of the chunk
  int32_t* first_group;  ///< per chunk, + 1: groups of slots
  int32_t* slot_start;   ///< per group of slots, + 1
  uint16_t* slot;        ///< 32 per group: slot within the chunk
  uint16_t* count;       ///< the same: number of pairs; 0: no slot, or one that no master sees
  uint8_t* master;       ///< per pair by slaves: master within the chunk
} plastic_layout;

/// What an inner step has found.
typedef struct plastic_outcome {
  bool lost;         ///< gradients are not finite; nothing was moved
  bool bad;          ///< positions or velocities are beyond all bounds
  int32_t contacts;  ///< of masters with obstacles
  int32_t due;       ///< masters and links that may need new slaves
  float speed2;      ///< the largest, relative to the first master
  plastic_grip grip;
} plastic_outcome;

typedef struct plastic_solution {
  bool converged;
  int32_t iterations;
} plastic_solution;

/// Lists that a device has built.
typedef struct plastic_listing {
  int32_t num_slaves, num_locals, num_pairs;
  int32_t dropped;  ///< slaves that were crowded
} plastic_listing;

typedef struct plastic_device_fns {
  /// YW_ERR_DEVICE, with the bytes that are needed and free, if it has too little memory.
  yw_status (*create)(const plastic_body* body, plastic_remote** out, yw_error* error);
  void (*destroy)(plastic_remote* remote);
  /// False: obstacles among them that the device does not know.
  bool (*knows)(const yw_step_ctx* ctx);
  /// Copies masters: particles, state, spring forces, what has parted.
  yw_status (*send)(plastic_remote* remote, const plastic_body* body,
                    const yw_particles* particles);
  /// Copies lists and slaves.
  yw_status (*send_lists)(plastic_remote* remote, const plastic_body* body,
                          const plastic_layout* layout);
  yw_status (*send_links)(plastic_remote* remote, const plastic_body* body);
  /// Copies slaves, before lists are built.
  yw_status (*send_slaves)(plastic_remote* remote, const plastic_body* body);
  /// Builds lists with the body's skin, as yw_plastic_find_neighbours does.
  yw_status (*build_lists)(plastic_remote* remote, const plastic_body* body, plastic_listing* out);

  /// Squares of the largest speed and of the largest one relative to the mean.
  yw_status (*measure)(plastic_remote* remote, float* fastest2, float* spread2);
  /// An inner step up to the forces on slaves, from `begin` s after the start of the substep on.
  /// *box: of their paths.
  yw_status (*start)(plastic_remote* remote, const plastic_body* body, const yw_step_ctx* ctx,
                     float begin, yw_aabb* box);
  /// Contacts, if obstacles are near, and the solve.
  yw_status (*solve)(plastic_remote* remote, bool is_clear, plastic_solution* out);
  /// The rest of the step.
  yw_status (*finish)(plastic_remote* remote, plastic_outcome* out);
  /// Masters slower than `limit` rest for another h s. *any: one has rested for long enough.
  yw_status (*rest)(plastic_remote* remote, float h, float limit, float enough, bool* any);

  yw_status (*fetch)(plastic_remote* remote, yw_particles* particles);
  /// Positions of slaves, and masters that need some.
  yw_status (*fetch_slaves)(plastic_remote* remote, plastic_body* body);
  /// What masters carry from step to step.
  yw_status (*fetch_state)(plastic_remote* remote, plastic_body* body);
  /// row_start and column of lists that were built there.
  yw_status (*fetch_lists)(plastic_remote* remote, plastic_body* body);
  /// The same for rows where new slaves may be needed only; *all: false if these are too many.
  yw_status (*fetch_due_rows)(plastic_remote* remote, plastic_body* body, bool* all);
  /// The matrix and the contacts of the last inner step; lists are here.
  yw_status (*fetch_matrix)(plastic_remote* remote, plastic_body* body);
} plastic_device_fns;

/// See yw_method.
yw_status yw_plastic_attach(void* state, const yw_device* device, yw_error* error);
yw_status yw_plastic_fetch(void* state, yw_particles* particles, yw_method_report* report);
bool yw_plastic_is_away(const void* state);
void yw_plastic_detach(plastic_body* body);

/// True if this substep is taken on the device.
bool yw_plastic_goes_away(const plastic_body* body, const yw_step_ctx* ctx);
/// The device has the body as it is.
bool yw_plastic_is_known(const plastic_body* body, const yw_particles* particles,
                         const yw_step_ctx* ctx);
/// Everything is here, for whoever changes it: the device gets it before its next step.
yw_status yw_plastic_come_home(plastic_body* body, yw_particles* particles);
/// The state here is up to date, also what steps do not bring back.
yw_status yw_plastic_bring_rest(const plastic_body* body);
/// So are the matrix and contacts of the last inner step.
yw_status yw_plastic_bring_matrix(plastic_body* body);
/// The state here was changed.
void yw_plastic_resend(plastic_body* body);

/// Before the first inner step of a substep.
yw_status yw_plastic_leave(plastic_body* body, const yw_particles* particles);
/// As in plastic.c, on the device.
yw_status yw_plastic_measure_away(plastic_body* body, float* fastest2, float* spread2);
/// *converged: false if the solve did not, and the step was not accepted.
yw_status yw_plastic_step_away(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               float begin, bool accept, bool* converged);
/// After the last one: sleep.
yw_status yw_plastic_rest_away(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);

#endif
