// SPDX-License-Identifier: MIT
// The path of a ball is followed in the axes of the obstacle, in steps that the distance proves
// free, as for particles (obstacles.c). Nothing is moved here.
#include "contact/touch.h"

#include "contact/obstacles.h"

#define STICKY_FRICTION 1e6f
#define MAX_ADVANCES 96
// Rounding of a distance, relative to the size of the coordinates.
#define ROUNDING 1e-6f
// Ways in which a ball touches one mesh at once.
#define MAX_MESH_TOUCHES 4

// A path in the axes of an obstacle, in its scale.
typedef struct path {
  yw_vec3 from, to;
  float radius, gap;  // at the start
  yw_vec3 touch, normal;
  float share;  // of the path, where it touches
} path;

// False when the ball stays clear on the whole path.
static bool follow(const yw_shape* shape, float margin, path* p) {
  p->touch = p->from;
  p->share = 0.0f;
  if (p->gap > margin) {
    yw_vec3 way = yw_sub(p->to, p->from);
    float length = yw_length(way), done = 0.0f, gap = p->gap;
    float size = fabsf(p->from.x) + fabsf(p->from.y) + fabsf(p->from.z) + p->radius;
    for (int i = 0; gap > ROUNDING * size; ++i) {
      done += gap;
      if (done > length || i == MAX_ADVANCES) return false;
      p->touch = yw_mad(p->from, done / length, way);
      gap = yw_shape_distance(shape, p->touch) - p->radius;
    }
    p->share = done / length;
  }
  yw_shape_distance_normal(shape, p->touch, &p->normal);
  // Gap to the plane in which it touches; a start beside that plane is already there.
  if (p->share > 0.0f) p->gap = fmaxf(0.0f, yw_dot(p->normal, yw_sub(p->from, p->touch)));
  return true;
}

static bool is_near(const yw_obstacle* obstacle, yw_vec3 from, yw_vec3 to, float reach) {
  yw_aabb box = yw_aabb_grow(yw_aabb_grow(yw_aabb_empty(), from), to);
  return yw_aabb_overlap(obstacle->bounds, yw_aabb_pad(box, reach));
}

// Velocity of a place on a mesh over the whole substep.
static yw_vec3 velocity_of(const yw_obstacle* o, const yw_mesh_place* place, float h) {
  yw_vec3 begin = yw_transform_point(o->begin, yw_moving_mesh_point(o->mesh, place, 0.0f));
  yw_vec3 end = yw_transform_point(o->end, yw_moving_mesh_point(o->mesh, place, 1.0f));
  return h > 0.0f ? yw_scale(yw_sub(end, begin), 1.0f / h) : yw_v3(0, 0, 0);
}

static int32_t touch_mesh(const yw_step_ctx* ctx, int32_t number, yw_vec3 from, yw_vec3 to,
                          float radius, float margin, int32_t capacity, yw_touch* out) {
  const yw_obstacle_set* set = ctx->obstacles;
  const yw_obstacle* o = &set->items[number];
  float scale = o->begin.scale;
  yw_mesh_path way = {.from = yw_transform_point_inv(o->begin, from),
                      .to = yw_transform_point_inv(o->end, to),
                      .end = 1.0f,
                      .radius = radius / scale};
  way.rounding =
      ROUNDING * (fabsf(way.from.x) + fabsf(way.from.y) + fabsf(way.from.z) + way.radius);
  yw_mesh_touch touches[MAX_MESH_TOUCHES];
  int32_t most = capacity < MAX_MESH_TOUCHES ? capacity : MAX_MESH_TOUCHES;
  int32_t count = yw_moving_mesh_touches(o->mesh, &way, margin / scale, most, touches);
  for (int32_t i = 0; i < count; ++i) {
    out[i] =
        (yw_touch){.obstacle = number,
                   .gap = touches[i].gap * scale,
                   .share = touches[i].share,
                   .normal = yw_rotate(o->end.rotation, touches[i].place.normal),
                   .velocity = velocity_of(o, &touches[i].place, set->h),
                   .friction = o->sticky ? STICKY_FRICTION : sqrtf(ctx->friction * o->friction),
                   .restitution = o->sticky ? 0.0f : fmaxf(ctx->restitution, o->restitution)};
  }
  return count;
}

int32_t yw_obstacles_touch(const yw_step_ctx* ctx, yw_vec3 from, yw_vec3 to, float radius,
                           float margin, int32_t capacity, yw_touch* out) {
  const yw_obstacle_set* set = ctx->obstacles;
  int32_t count = 0;
  for (int32_t i = 0; set && i < set->count && count < capacity; ++i) {
    const yw_obstacle* o = &set->items[i];
    if (!is_near(o, from, to, radius + margin)) continue;
    if (o->mesh) {
      count += touch_mesh(ctx, i, from, to, radius, margin, capacity - count, out + count);
      continue;
    }
    float scale = o->begin.scale;
    path p = {.from = yw_transform_point_inv(o->begin, from),
              .to = yw_transform_point_inv(o->end, to),
              .radius = radius / scale};
    p.gap = yw_shape_distance(o->shape, p.from) - p.radius;
    if (!follow(o->shape, margin / scale, &p)) continue;
    yw_vec3 moved =
        yw_sub(yw_transform_point(o->end, p.touch), yw_transform_point(o->begin, p.touch));
    out[count++] =
        (yw_touch){.obstacle = i,
                   .gap = p.gap * scale,
                   .share = p.share,
                   .normal = yw_rotate(o->end.rotation, p.normal),
                   .velocity = set->h > 0.0f ? yw_scale(moved, 1.0f / set->h) : yw_v3(0, 0, 0),
                   .friction = o->sticky ? STICKY_FRICTION : sqrtf(ctx->friction * o->friction),
                   .restitution = o->sticky ? 0.0f : fmaxf(ctx->restitution, o->restitution)};
  }
  return count;
}
