// SPDX-License-Identifier: MIT
// Frames bodies: what the world needs besides the method table.
#ifndef YW_METHODS_FRAMES_FRAMES_H
#define YW_METHODS_FRAMES_FRAMES_H

#include "yawara/extend/method.h"
#include "yawara/frames.h"

extern const yw_method yw_frames_method;

/// Checks the definition and builds the rest data.
yw_status yw_frames_model_create(const yw_allocator* mem, const yw_frames_def* def, void** model,
                                 yw_error* error);

/// Sets the parameters of one body. YW_ERR_INVALID when a value is out of range.
yw_status yw_frames_set_params(void* state, const yw_frames_params* params);
yw_frames_params yw_frames_params_of(const void* state);

void yw_frames_statistics_of(const void* state, yw_frames_statistics* out);

/// Weights of the rest pose and the examples in the last step, before beta. Writes at most capacity
/// numbers (out may be NULL) and returns how many there are.
int32_t yw_frames_weights(const void* state, float* out, int32_t capacity);
/// See yw_body_frames_set_weights.
yw_status yw_frames_set_weights(void* state, int32_t group, const float* weights, float share);

/// Parts of an implicit step.
typedef enum yw_frames_part {
  YW_FRAMES_SET_UP,     ///< guess, diagonal, springs; the coarse factor when it is recomputed
  YW_FRAMES_LINEARISE,  ///< rotations, forces and tangents of the regions
  YW_FRAMES_PRODUCT,    ///< stiffness times a direction
  YW_FRAMES_COARSE,     ///< restriction to the coarse lattice and the solve there
  YW_FRAMES_VECTORS,    ///< diagonal preconditioning and vector updates of conjugate gradients
  YW_FRAMES_OTHER,      ///< momenta, contact, copying
  YW_FRAMES_NUM_PARTS
} yw_frames_part;

/// Cost of the last step of an implicit solver.
typedef struct yw_frames_effort {
  int32_t newton;                       ///< Newton steps
  int32_t iterations;                   ///< of conjugate gradients
  double seconds[YW_FRAMES_NUM_PARTS];  ///< measured only when the step is timed
} yw_frames_effort;
yw_frames_effort yw_frames_effort_of(const void* state);

#endif
