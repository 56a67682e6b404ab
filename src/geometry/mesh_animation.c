// SPDX-License-Identifier: MIT
#include <math.h>

#include "yawara/extend/vec.h"
#include "yawara/mesh.h"

static yw_vec3 point_in_frame(const yw_mesh_animation* a, int32_t point, int32_t frame) {
  int32_t last = a->num_frames - 1;
  int32_t at = frame < 0 ? 0 : frame > last ? last : frame;
  return a->points[(size_t)at * (size_t)a->num_points + (size_t)point];
}

yw_vec3 yw_mesh_animation_point(const yw_mesh_animation* a, int32_t point, double time) {
  int32_t last = a->num_frames - 1;
  double at = (time - a->start) * a->fps;
  if (a->loop && last > 0 && at > last) at = fmod(at, last);
  if (!(at > 0.0)) return point_in_frame(a, point, 0);
  if (at >= last) return point_in_frame(a, point, last);
  int32_t frame = (int32_t)at;
  float t = (float)(at - frame);
  yw_vec3 p = point_in_frame(a, point, frame), q = point_in_frame(a, point, frame + 1);
  if (!a->smooth) return yw_lerp(p, q, t);
  yw_vec3 leave = yw_scale(yw_sub(q, point_in_frame(a, point, frame - 1)), 0.5f);
  yw_vec3 arrive = yw_scale(yw_sub(point_in_frame(a, point, frame + 2), p), 0.5f);
  float t2 = t * t, t3 = t2 * t;
  yw_vec3 result = yw_scale(p, 2 * t3 - 3 * t2 + 1);
  result = yw_mad(result, t3 - 2 * t2 + t, leave);
  result = yw_mad(result, -2 * t3 + 3 * t2, q);
  return yw_mad(result, t3 - t2, arrive);
}
