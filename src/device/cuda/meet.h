// SPDX-License-Identifier: MIT
// One particle and one obstacle, as contact/obstacles.c has it.
#ifndef YW_DEVICE_CUDA_MEET_H
#define YW_DEVICE_CUDA_MEET_H

#include "device/cuda/runtime.h"

KERNEL_FN yw_vec3 see_point(yw_transform pose, yw_vec4 point) {
  yw_mat3 turn = yw_mat3_transpose(yw_mat3_from_quat(pose.rotation));
  float shrink = 1.0f / pose.scale;
  return yw_scale(yw_mul(turn, yw_sub(yw_xyz(point), pose.position)), shrink);
}

/// collide_group for one particle.
KERNEL_FN bool meet_obstacle(const yw_obstacle_motion* motion, float radius, yw_vec4 old_pos,
                             yw_vec4* pos, yw_vec4* vel) {
  yw_vec3 now = motion->in_place ? yw_xyz(*pos) : see_point(motion->last, *pos);
  float end_distance = yw_shape_value(motion->shape, now);
  float gap = end_distance * motion->last.scale - radius;
  yw_vec3 path = yw_sub(yw_xyz(*pos), yw_xyz(old_pos));
  if (gap > 0.0f && !motion->moves && gap * gap > yw_length2(path)) return false;
  yw_sighting s;
  s.from = motion->in_place ? yw_xyz(old_pos) : see_point(motion->first, old_pos);
  s.to = now;
  s.radius = radius / motion->last.scale;
  s.pressing = nullptr;
  s.start_gap = yw_shape_value_normal(motion->shape, s.from, &s.normal) - s.radius;
  s.end_gap = end_distance - s.radius;
  if (yw_rests_in_place(motion, &s, vel)) {
    *pos = old_pos;
    *vel = yw_v4(yw_v3(0, 0, 0));
    return true;
  }
  return yw_collide_particle(motion, &s, old_pos, pos, vel);
}

#endif
