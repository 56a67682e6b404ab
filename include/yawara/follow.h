// SPDX-License-Identifier: MIT
// Vertices that follow moving targets: an animated mesh, bones, motion capture.
#ifndef YAWARA_FOLLOW_H
#define YAWARA_FOLLOW_H

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yw_follow_def {
  yw_body_id body;
  const int32_t* vertices;  ///< in the order of the model's mesh; copied
  int32_t num_vertices;     ///< >= 1
  const yw_vec3* targets;   ///< m, in the world: a row of num_vertices per frame; copied
  int32_t num_frames;       ///< >= 1
  double fps;               ///< frames per second, > 0; default 24
  double start;  ///< s, time of the first frame; default 0. Before it, and after the last
                 ///< frame, targets rest
  bool loop;     ///< start again after the last frame; default false
  bool smooth;   ///< curves through the frames (Catmull-Rom) instead of straight lines; default
                 ///< false
  /// Per vertex: 1 is exactly at its target, 0 free; between, a spring of s / (1 - s) times
  /// `stiffness` pulls. NULL (default): 1.
  const float* strengths;
  float stiffness;  ///< N/m, of springs at strength 1/2, > 0; default 1000
  float damping;    ///< N s/m, of springs, >= 0; default 0
  /// m/s, >= 0. Targets that are torn away are followed at this speed at most. 0 (default): targets
  /// are followed exactly up to 20 times the size of the body per second; to those that jump or are
  /// faster, vertices go at its size per second, besides what the targets do meanwhile.
  float max_speed;
} yw_follow_def;
YW_API yw_follow_def yw_default_follow_def(void);

/// Creates a pin: yw_pin_destroy ends it and YW_TRACK_PIN weakens it; it cannot be moved by hand.
/// YW_ERR_INVALID, with a message: a stale body, a vertex out of range, a value out of range or not
/// finite.
YW_API yw_status yw_follow_create(yw_world* world, const yw_follow_def* def, yw_pin_id* out,
                                  yw_error* error);

#ifdef __cplusplus
}
#endif
#endif
