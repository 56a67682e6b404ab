// SPDX-License-Identifier: MIT
#include "playback/moments.h"

#include "yawara/extend/vec.h"

// Of the larger horizontal side: an upper half this far from the middle tells the front.
#define FRONT_OFFSET 0.02f
// Degrees from the front within which a face is seen.
#define FACE_ANGLE 90.0f
#define DEGREES 57.2957795f

moments moments_start(const yw_framing* framing, float aspect) {
  return (moments){yw_framer_start(framing, aspect), yw_aabb_empty()};
}

static void add_point(moments* m, yw_vec3 p) {
  if (!yw_is_finite3(p)) return;
  yw_framer_add(&m->framer, p);
  m->box = yw_aabb_grow(m->box, p);
}

static yw_vec3 corner_of(yw_aabb box, int corner) {
  return yw_v3(corner & 1 ? box.upper.x : box.lower.x, corner & 2 ? box.upper.y : box.lower.y,
               corner & 4 ? box.upper.z : box.lower.z);
}

static void add_body(moments* m, const frame_body* body) {
  const yw_vec3* points = body->surface ? body->surface : body->positions;
  int32_t count = body->surface ? body->num_surface : body->num_particles;
  for (int32_t i = 0; i < count; ++i) {
    add_point(m, points[i]);
    if (!body->radii || body->surface) continue;
    for (int corner = 0; corner < 8; ++corner) {
      yw_aabb ball = yw_aabb_pad((yw_aabb){points[i], points[i]}, 0.577f * body->radii[i]);
      add_point(m, corner_of(ball, corner));
    }
  }
}

static void add_obstacle(moments* m, const shown_obstacle* obstacle, double time,
                         yw_transform pose) {
  if (obstacle->plane || obstacle->unbounded || !obstacle->look.visible) return;
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < obstacle->surface.num_vertices; ++i) {
    box = yw_aabb_grow(box, shown_obstacle_vertex(obstacle, i, time, YW_TRANSFORM_IDENTITY));
  }
  for (int corner = 0; corner < 8 && box.lower.x <= box.upper.x; ++corner) {
    add_point(m, yw_transform_point(pose, corner_of(box, corner)));
  }
}

static bool is_seen(const shown_scene* shown, const frame_data* frame, int32_t body) {
  return frame->bodies[body].active && shown->bodies[body].look.visible;
}

void moments_add(moments* m, const shown_scene* shown, const frame_data* frame) {
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    if (is_seen(shown, frame, i)) add_body(m, &frame->bodies[i]);
  }
  for (int32_t i = 0; i < frame->num_obstacles; ++i) {
    add_obstacle(m, &shown->obstacles[i], frame->time, frame->obstacles[i]);
  }
  yw_framer_end_moment(&m->framer);
}

// The highest visible floor below a point; false if there is none.
static bool floor_below(const shown_scene* shown, const frame_data* frame, yw_vec3 p, float* out) {
  bool any = false;
  for (int32_t i = 0; i < frame->num_obstacles; ++i) {
    const shown_obstacle* obstacle = &shown->obstacles[i];
    if (!obstacle->plane) continue;
    yw_transform pose = frame->obstacles[i];
    yw_vec3 normal = yw_rotate(pose.rotation, obstacle->normal);
    float offset = pose.scale * obstacle->offset + yw_dot(normal, pose.position);
    if (normal.y < 0.1f || yw_dot(normal, p) < offset) continue;
    float height = (offset - normal.x * p.x - normal.z * p.z) / normal.y;
    if (!any || height > *out) *out = height;
    any = true;
  }
  return any;
}

void moments_add_fall(moments* m, const shown_scene* shown, const frame_data* frame) {
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    const frame_body* body = &frame->bodies[i];
    for (int32_t k = 0; k < body->num_particles && is_seen(shown, frame, i); ++k) {
      yw_vec3 p = body->positions[k];
      float height = 0.0f;
      if (floor_below(shown, frame, p, &height)) add_point(m, yw_v3(p.x, height, p.z));
    }
  }
  // Falling is no moment: its shadow on the floor and the body are not seen together.
  yw_framer unchanged = m->framer;
  yw_framer_end_moment(&m->framer);
  m->framer.depth = unchanged.depth;
}

static bool is_alone(const shown_scene* shown, const frame_data* frame) {
  if (frame->num_bodies != 1 || !is_seen(shown, frame, 0)) return false;
  for (int32_t i = 0; i < frame->num_obstacles; ++i) {
    const shown_obstacle* obstacle = &shown->obstacles[i];
    if (!obstacle->plane && obstacle->look.visible) return false;
  }
  return true;
}

float moments_azimuth(const shown_scene* shown, const frame_data* frame, float usual) {
  if (!is_alone(shown, frame)) return usual;
  const frame_body* body = &frame->bodies[0];
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < body->num_particles; ++i) box = yw_aabb_grow(box, body->positions[i]);
  yw_vec3 middle = yw_lerp(box.lower, box.upper, 0.5f), size = yw_sub(box.upper, box.lower);
  float x = 0.0f, z = 0.0f, count = 0.0f;
  for (int32_t i = 0; i < body->num_particles; ++i) {
    if (body->positions[i].y < middle.y) continue;
    x += body->positions[i].x - middle.x;
    z += body->positions[i].z - middle.z;
    count += 1.0f;
  }
  if (!(hypotf(x, z) > FRONT_OFFSET * count * fmaxf(size.x, size.z))) return usual;
  float front = atan2f(x, z) * DEGREES, away = remainderf(usual - front, 360.0f);
  return fabsf(away) <= FACE_ANGLE ? usual : front + copysignf(FACE_ANGLE, away);
}
