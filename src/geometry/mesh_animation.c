// SPDX-License-Identifier: MIT
#include <math.h>

#include "geometry/mesh_moment.h"

static const yw_vec3* points_of_frame(const yw_mesh_animation* a, int32_t frame) {
  int32_t last = a->num_frames - 1;
  int32_t at = frame < 0 ? 0 : frame > last ? last : frame;
  return a->points + (size_t)at * (size_t)a->num_points;
}

yw_mesh_moment yw_mesh_moment_of_frame(const yw_mesh_animation* a, int32_t frame) {
  return (yw_mesh_moment){.frame = frame,
                          .smooth = a->smooth,
                          .from = points_of_frame(a, frame),
                          .to = points_of_frame(a, frame + 1),
                          .prev = points_of_frame(a, frame - 1),
                          .next = points_of_frame(a, frame + 2)};
}

yw_mesh_moment yw_mesh_moment_at(const yw_mesh_animation* a, double time) {
  int32_t last = a->num_frames - 1;
  double at = (time - a->start) * a->fps;
  if (a->loop && last > 0 && at > last) at = fmod(at, last);
  // Before and after the frames, points rest where they are in the first and in the last.
  if (!(at > 0.0)) return yw_mesh_moment_of_frame(a, 0);
  if (at >= last) return yw_mesh_moment_of_frame(a, last);
  yw_mesh_moment moment = yw_mesh_moment_of_frame(a, (int32_t)at);
  moment.share = (float)(at - moment.frame);
  return moment;
}

yw_vec3 yw_mesh_animation_point(const yw_mesh_animation* a, int32_t point, double time) {
  yw_mesh_moment moment = yw_mesh_moment_at(a, time);
  return yw_mesh_moment_point(&moment, point);
}
