// SPDX-License-Identifier: MIT
// A mesh animation at one time: the frames around it are found once, for all points.
#ifndef YW_GEOMETRY_MESH_MOMENT_H
#define YW_GEOMETRY_MESH_MOMENT_H

#include "yawara/extend/vec.h"
#include "yawara/mesh.h"

typedef struct yw_mesh_moment {
  int32_t frame;               ///< the moment lies between this frame and the next
  float share;                 ///< of the way to the next, 0 to 1
  bool smooth;                 ///< as in yw_mesh_animation
  const yw_vec3 *from, *to;    ///< points of these frames
  const yw_vec3 *prev, *next;  ///< of the frames before and after them
} yw_mesh_moment;

/// frame: >= 0.
yw_mesh_moment yw_mesh_moment_of_frame(const yw_mesh_animation* animation, int32_t frame);
yw_mesh_moment yw_mesh_moment_at(const yw_mesh_animation* animation, double time);

/// Where a point is.
static inline yw_vec3 yw_mesh_moment_point(const yw_mesh_moment* m, int32_t point) {
  yw_vec3 p = m->from[point], q = m->to[point];
  float t = m->share;
  if (!m->smooth) return yw_lerp(p, q, t);
  yw_vec3 leave = yw_scale(yw_sub(q, m->prev[point]), 0.5f);
  yw_vec3 arrive = yw_scale(yw_sub(m->next[point], p), 0.5f);
  float t2 = t * t, t3 = t2 * t;
  yw_vec3 result = yw_scale(p, 2 * t3 - 3 * t2 + 1);
  result = yw_mad(result, t3 - 2 * t2 + t, leave);
  result = yw_mad(result, -2 * t3 + 3 * t2, q);
  return yw_mad(result, t3 - t2, arrive);
}

/// Box of all places of a point between the two frames. A curve lies within its control points.
static inline yw_aabb yw_mesh_moment_reach(const yw_mesh_moment* m, int32_t point) {
  yw_vec3 p = m->from[point], q = m->to[point];
  yw_aabb box = {yw_min3(p, q), yw_max3(p, q)};
  if (!m->smooth) return box;
  box = yw_aabb_grow(box, yw_mad(p, 1.0f / 6.0f, yw_sub(q, m->prev[point])));
  return yw_aabb_grow(box, yw_mad(q, -1.0f / 6.0f, yw_sub(m->next[point], p)));
}

#endif
