// SPDX-License-Identifier: MIT
// One particle and one obstacle: inline, since devices compile it too (shapes only).
//   1. the path is expressed in the obstacle's axes, which makes a moving obstacle a fixed one;
//   2. conservative advancement finds where the particle enters, however thin the obstacle;
//   3. there the approaching velocity is stopped or reflected, and friction is applied;
//   4. the rest of the path slides along the surface, shortened in the same proportion as the
//      velocity, so that sticking particles do not creep.
#ifndef YW_CONTACT_OBSTACLE_PARTICLE_H
#define YW_CONTACT_OBSTACLE_PARTICLE_H

#include "contact/obstacle_motion.h"

#ifdef YW_ONE_LANE
#include "geometry/shape_evaluate.h"
#define YW_CONTACT_DISTANCE yw_shape_value
#define YW_CONTACT_NORMAL yw_shape_value_normal
#else
#include "geometry/shape.h"
#define YW_CONTACT_DISTANCE yw_shape_distance
#define YW_CONTACT_NORMAL yw_shape_distance_normal
#endif

/// Particles that are ruled out together: chunks of groups.
#define YW_COLLIDE_CHUNK 1024
#define YW_COLLIDE_GROUP 64

// Friction of sticky obstacles: enough to stop anything that touches.
#define YW_STICKY_FRICTION 1e6f
// An approach slower than this many steps of gravity is resting contact, not an impact.
#define YW_REST_STEPS 2.0f
#define YW_MAX_ADVANCES 96
#define YW_MAX_PUSHES 4

// Poses -----------------------------------------------------------------------------------------

static inline yw_transform yw_pose_between(yw_transform a, yw_transform b, float t) {
  if (t <= 0.0f) return a;
  if (t >= 1.0f) return b;
  yw_quat p = a.rotation, q = b.rotation;
  float sign = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w < 0.0f ? -t : t;
  float rest = 1.0f - t;
  yw_quat mixed = {rest * p.x + sign * q.x, rest * p.y + sign * q.y, rest * p.z + sign * q.z,
                   rest * p.w + sign * q.w};
  return (yw_transform){yw_lerp(a.position, b.position, t), yw_quat_normalize(mixed),
                        a.scale + t * (b.scale - a.scale)};
}

static inline bool yw_same_pose(yw_transform a, yw_transform b) {
  return a.position.x == b.position.x && a.position.y == b.position.y &&
         a.position.z == b.position.z && a.rotation.x == b.rotation.x &&
         a.rotation.y == b.rotation.y && a.rotation.z == b.rotation.z &&
         a.rotation.w == b.rotation.w && a.scale == b.scale;
}

static inline bool yw_obstacle_is_moving(const yw_obstacle* o) {
  return !yw_same_pose(o->begin, o->end) || (o->mesh && o->mesh->moves);
}

/// What does not depend on the particle in one collide call.
typedef struct yw_collide_terms {
  float h;            ///< s, length of the substep
  float begin, span;  ///< s, within the substep
  float friction, restitution;
  float rest_speed;
} yw_collide_terms;

static inline yw_obstacle_motion yw_obstacle_motion_of(const yw_collide_terms* job,
                                                       const yw_obstacle* obstacle) {
  yw_obstacle_motion motion = {.shape = obstacle->shape, .mesh = obstacle->mesh};
  motion.span = job->span;
  float inv_h = job->h > 0.0f ? 1.0f / job->h : 0.0f;
  bool travels = !yw_same_pose(obstacle->begin, obstacle->end);
  motion.moves = yw_obstacle_is_moving(obstacle);
  motion.begin = yw_clampf(job->begin * inv_h, 0.0f, 1.0f);
  motion.end = yw_clampf((job->begin + job->span) * inv_h, 0.0f, 1.0f);
  motion.first = motion.last = obstacle->begin;
  if (travels) {
    motion.first = yw_pose_between(obstacle->begin, obstacle->end, job->begin * inv_h);
    motion.last = yw_pose_between(obstacle->begin, obstacle->end, (job->begin + job->span) * inv_h);
  }
  motion.in_place = !travels && yw_same_pose(motion.first, YW_TRANSFORM_IDENTITY);
  motion.friction =
      obstacle->sticky ? YW_STICKY_FRICTION : sqrtf(job->friction * obstacle->friction);
  motion.restitution =
      job->restitution > obstacle->restitution ? job->restitution : obstacle->restitution;
  if (obstacle->sticky) motion.restitution = 0.0f;
  motion.rest_speed = job->rest_speed;
  return motion;
}

// True when the obstacle, moving from one pose to the other, stays clear of the ball.
static inline bool yw_obstacle_ball_is_clear(const yw_obstacle* obstacle, yw_transform first,
                                             yw_transform last, bool moves, yw_vec3 center,
                                             float radius) {
  yw_vec3 seen_first = yw_transform_point_inv(first, center);
  float scale = first.scale, travel = 0.0f;
  if (moves) {
    travel = yw_distance(seen_first, yw_transform_point_inv(last, center));
    if (last.scale < scale) scale = last.scale;
  }
  // 5 % margin for sampled or blended distances.
  float reach = radius / scale + travel;
  if (obstacle->mesh) {
#ifndef YW_ONE_LANE
    yw_aabb point = {seen_first, seen_first};
    return !yw_moving_mesh_near_box(obstacle->mesh, point, obstacle->mesh->radius + reach);
#endif
  }
  return YW_CONTACT_DISTANCE(obstacle->shape, seen_first) > 1.05f * reach;
}

static inline bool yw_obstacle_box_is_clear(const yw_obstacle* obstacle, yw_transform first,
                                            yw_transform last, bool moves, yw_aabb box) {
  if (!yw_aabb_overlap(obstacle->bounds, box)) return true;
  yw_vec3 center = yw_scale(yw_add(box.lower, box.upper), 0.5f);
  float radius = 0.5f * yw_distance(box.lower, box.upper);
  if (!isfinite(radius)) return false;
  return yw_obstacle_ball_is_clear(obstacle, first, last, moves, center, radius);
}

// One particle ----------------------------------------------------------------------------------

// A particle's path in the obstacle's axes, and where it enters.
typedef struct yw_sighting {
  yw_vec3 from, to;          // of this step
  float radius;              // in the obstacle's scale
  float start_gap, end_gap;  // at the ends of the path; negative inside
  yw_vec3 normal;            // at the start, then at the entry
  yw_vec3 entry;             // first touching point
  float rounding;            // rounding error of gaps here
  float* pressing;           // see yw_step_ctx; may be NULL
} yw_sighting;

// Follows the path in steps that the distance guarantees free. False when it stays outside.
static inline bool yw_find_entry(const yw_shape* shape, yw_sighting* s) {
  s->entry = s->from;
  s->rounding =
      YW_OBSTACLE_ROUNDING * (fabsf(s->from.x) + fabsf(s->from.y) + fabsf(s->from.z) + s->radius);
  float gap = s->start_gap;
  if (gap > s->rounding) {
    yw_vec3 path = yw_sub(s->to, s->from);
    float length = yw_length(path), done = 0.0f;
    for (int i = 0; gap > s->rounding && done < length && i < YW_MAX_ADVANCES; ++i) {
      // Two free balls, at this point and at the end, cover the rest of the path.
      if (s->end_gap > 0.0f && gap + s->end_gap > length - done) return false;
      done += gap;
      if (done >= length) {
        if (s->end_gap >= 0.0f) return false;
        done = length;
      }
      s->entry = yw_mad(s->from, done / length, path);
      gap = YW_CONTACT_DISTANCE(shape, s->entry) - s->radius;
    }
    YW_CONTACT_NORMAL(shape, s->entry, &s->normal);
  }
  // A touching particle that is leaving is not in contact.
  return s->end_gap < -s->rounding || yw_dot(s->normal, yw_sub(s->to, s->entry)) < 0.0f;
}

/// Approach (m/s) whose friction a particle feels.
static inline float yw_obstacle_push(const float* pressing, float approach) {
  return pressing && *pressing < 0.0f ? -*pressing : approach;
}

static inline float yw_obstacle_respond_to(const yw_obstacle_motion* motion,
                                           yw_vec3 surface_velocity, yw_vec3 normal, bool was_free,
                                           float* pressing, yw_vec4* velocity, bool* bounces) {
  yw_vec3 relative = yw_sub(yw_xyz(*velocity), surface_velocity);
  float approach = -yw_dot(relative, normal);
  // A particle that touched before the step is pressed, not thrown, at any speed.
  *bounces = was_free && approach > motion->rest_speed && motion->restitution > 0.0f;
  if (approach <= 0.0f) return 1.0f;
  float leave = *bounces ? motion->restitution * approach : 0.0f;
  yw_vec3 slide = yw_mad(relative, approach, normal);
  float speed2 = yw_length2(slide);
  float held = motion->friction * yw_obstacle_push(pressing, approach + leave);
  if (pressing) *pressing = approach;
  float share = speed2 > held * held ? 1.0f - held / sqrtf(speed2) : 0.0f;
  yw_vec3 after = yw_mad(yw_mad(surface_velocity, share, slide), leave, normal);
  *velocity = yw_v4(after);
  return share;
}

// Shortcut for the most common case: a particle on a still obstacle, pressed against it and held by
// friction, does not move.
static inline bool yw_rests_in_place(const yw_obstacle_motion* motion, const yw_sighting* s,
                                     const yw_vec4* vel) {
  float size = fabsf(s->from.x) + fabsf(s->from.y) + fabsf(s->from.z) + s->radius;
  if (motion->moves || fabsf(s->start_gap) > YW_OBSTACLE_ROUNDING * size) return false;
  yw_vec3 velocity = yw_xyz(*vel);
  if (!motion->in_place) velocity = yw_rotate(yw_quat_conjugate(motion->last.rotation), velocity);
  float approach = -yw_dot(velocity, s->normal);
  float held = motion->friction * yw_obstacle_push(s->pressing, approach);
  bool enters = yw_dot(s->normal, yw_sub(s->to, s->from)) < 0.0f;
  float slide2 = yw_length2(velocity) - approach * approach;
  bool rests = enters && approach > 0.0f && slide2 <= held * held;
  if (rests && s->pressing) *s->pressing = approach;
  return rests;
}

// Moves p out along the gradient of the distance, by at most `limit`.
static inline yw_vec3 yw_push_out(const yw_shape* shape, yw_vec3 p, float radius, float rounding,
                                  float limit) {
  for (int i = 0; i < YW_MAX_PUSHES && limit > 0.0f; ++i) {
    float depth = radius - YW_CONTACT_DISTANCE(shape, p);
    if (depth <= rounding) break;
    yw_vec3 normal;
    YW_CONTACT_NORMAL(shape, p, &normal);
    float step = depth < limit ? depth : limit;
    p = yw_mad(p, step, normal);
    limit -= step;
  }
  return p;
}

// True when the particle touched the obstacle on its way; corrects pos and vel.
static inline bool yw_collide_particle(const yw_obstacle_motion* motion, yw_sighting* s,
                                       yw_vec4 old_pos, yw_vec4* pos, yw_vec4* vel) {
  if (!yw_find_entry(motion->shape, s)) return false;
  yw_vec3 surface_velocity = yw_v3(0, 0, 0), carried = yw_xyz(old_pos);
  if (motion->moves) {
    carried = yw_transform_point(motion->last, s->from);
    yw_vec3 before = yw_transform_point(motion->first, s->entry);
    yw_vec3 after = yw_transform_point(motion->last, s->entry);
    if (motion->span > 0.0f) {
      surface_velocity = yw_scale(yw_sub(after, before), 1.0f / motion->span);
    }
  }
  bool bounces;
  yw_vec3 normal = motion->in_place ? s->normal : yw_rotate(motion->last.rotation, s->normal);
  bool was_free = s->start_gap > s->rounding;
  float share = yw_obstacle_respond_to(motion, surface_velocity, normal, was_free, s->pressing, vel,
                                       &bounces);

  // The path after entry: along the surface as far as friction allows, and off it in a bounce.
  yw_vec3 rest = yw_sub(s->to, s->entry);
  float inward = -yw_dot(rest, s->normal);
  yw_vec3 slide = yw_mad(rest, inward, s->normal);
  float off = inward < 0.0f ? -inward : bounces ? motion->restitution * inward : 0.0f;
  yw_vec3 p = yw_mad(yw_mad(s->entry, share, slide), off, s->normal);
  bool started_inside = s->start_gap < -s->rounding;
  float slow = YW_PUSH_OUT_SPEED * motion->span / motion->last.scale;
  float limit = started_inside ? slow : yw_length(rest);
  p = yw_push_out(motion->shape, p, s->radius, s->rounding, limit);

  // Added to the old position, not transformed back: sticking particles keep every bit.
  yw_vec3 moved = yw_sub(p, s->from);
  if (!motion->in_place) {
    moved = yw_scale(yw_rotate(motion->last.rotation, moved), motion->last.scale);
  }
  *pos = yw_v4(yw_add(carried, moved));
  return true;
}

#endif
