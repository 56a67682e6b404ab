// SPDX-License-Identifier: MIT
// Particles against meshes that move on their own. A mesh has no inside: a particle is kept on the
// side on which it is, so its whole path is followed again whenever a contact has changed it.
#include "contact/obstacle_motion.h"

// Contacts of one particle in one step, e.g. in a corner; after that it sticks.
#define MAX_MEETINGS 6

// Velocity of a place, m/s, in the axes of the world.
static yw_vec3 velocity_of(const yw_obstacle_motion* m, const yw_mesh_place* place) {
  if (!m->moves || !(m->span > 0.0f)) return yw_v3(0, 0, 0);
  yw_vec3 begin = yw_moving_mesh_point(m->mesh, place, m->begin);
  yw_vec3 end = yw_moving_mesh_point(m->mesh, place, m->end);
  yw_vec3 way = yw_sub(yw_transform_point(m->last, end), yw_transform_point(m->first, begin));
  return yw_scale(way, 1.0f / m->span);
}

// Moves p, at the end of the span, out of the thickness by at most `limit`.
static yw_vec3 push_out(const yw_obstacle_motion* m, const yw_mesh_path* path, yw_vec3 p,
                        float limit) {
  yw_mesh_place place;
  float least = m->mesh->radius + path->radius;
  if (!yw_moving_mesh_nearest(m->mesh, m->end, p, least, &place)) return p;
  float depth = least - place.distance;
  if (depth <= path->rounding) return p;
  return yw_mad(p, depth < limit ? depth : limit, place.normal);
}

// True for a particle in the thickness of a triangle that goes no deeper.
static bool is_leaving(const yw_obstacle_motion* m, const yw_mesh_path* path,
                       const yw_mesh_touch* touch) {
  if (touch->gap >= -path->rounding) return false;
  yw_vec3 end = yw_moving_mesh_point(m->mesh, &touch->place, m->end);
  float along = yw_dot(touch->place.normal, yw_sub(path->to, end));
  return along >= touch->place.distance - path->rounding;
}

// Where the path ends after a touch: the rest of it along the surface, as far as friction allows,
// and off it in a bounce.
static yw_vec3 turn_aside(const yw_obstacle_motion* m, const yw_mesh_path* path,
                          const yw_mesh_touch* touch, float* pressing, yw_vec4* vel) {
  yw_vec3 n = touch->place.normal;
  yw_vec3 entry = yw_lerp(path->from, path->to, touch->share);
  float at = m->begin + touch->share * (m->end - m->begin);
  yw_vec3 carry = yw_sub(yw_moving_mesh_point(m->mesh, &touch->place, m->end),
                         yw_moving_mesh_point(m->mesh, &touch->place, at));
  bool bounces, was_free = touch->gap > path->rounding;
  yw_vec3 normal = m->in_place ? n : yw_rotate(m->last.rotation, n);
  float share = yw_obstacle_respond(m, velocity_of(m, &touch->place), normal, was_free, pressing,
                                    vel, &bounces);
  yw_vec3 rest = yw_sub(yw_sub(path->to, entry), carry);
  float inward = -yw_dot(rest, n);
  yw_vec3 slide = yw_mad(rest, inward, n);
  float off = inward < 0.0f ? -inward : bounces ? m->restitution * inward : 0.0f;
  yw_vec3 p = yw_mad(yw_mad(yw_add(entry, carry), share, slide), off, n);
  bool started_inside = touch->gap < -path->rounding;
  float slow = YW_PUSH_OUT_SPEED * m->span / m->last.scale;
  return push_out(m, path, p, started_inside ? slow : yw_length(rest));
}

// Where a particle ends that moves along with the first place that it touches.
static yw_vec3 stick(const yw_obstacle_motion* m, const yw_mesh_path* path,
                     const yw_mesh_touch* touch, yw_vec4* vel) {
  float at = m->begin + touch->share * (m->end - m->begin);
  yw_vec3 carry = yw_sub(yw_moving_mesh_point(m->mesh, &touch->place, m->end),
                         yw_moving_mesh_point(m->mesh, &touch->place, at));
  *vel = yw_v4(velocity_of(m, &touch->place));
  return yw_add(yw_lerp(path->from, path->to, touch->share), carry);
}

bool yw_mesh_collide(const yw_obstacle_motion* m, float radius, yw_vec4 old_pos, float* pressing,
                     yw_vec4* pos, yw_vec4* vel) {
  yw_vec3 from = yw_xyz(old_pos), to = yw_xyz(*pos);
  if (!m->in_place) {
    from = yw_transform_point_inv(m->first, from);
    to = yw_transform_point_inv(m->last, to);
  }
  yw_mesh_path path = {from, to, m->begin, m->end, radius / m->last.scale, 0.0f};
  path.rounding =
      YW_OBSTACLE_ROUNDING * (fabsf(from.x) + fabsf(from.y) + fabsf(from.z) + path.radius);
  yw_mesh_touch touch;
  int meetings = 0;
  for (; yw_moving_mesh_sweep(m->mesh, &path, &touch); ++meetings) {
    if (meetings > 0 && is_leaving(m, &path, &touch)) break;
    bool last = meetings == MAX_MEETINGS;
    path.to = last ? stick(m, &path, &touch, vel) : turn_aside(m, &path, &touch, pressing, vel);
    if (last) break;
  }
  if (meetings == 0) return false;
  // Added to the old position where that is possible: sticking particles keep every bit.
  yw_vec3 carried = m->moves ? yw_transform_point(m->last, from) : yw_xyz(old_pos);
  yw_vec3 moved = yw_sub(path.to, from);
  if (!m->in_place) moved = yw_scale(yw_rotate(m->last.rotation, moved), m->last.scale);
  *pos = yw_v4(yw_add(carried, moved));
  return true;
}
