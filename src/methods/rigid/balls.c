// SPDX-License-Identifier: MIT
// What meets obstacles: the vertices of the surface, grown inwards into the largest balls that fit
// (their centres sample the medial axis; Ma, Bae and Choi 2012, "3D medial axis point approximation
// using nearest neighbors and the normal field"). A ball becomes one ball and a cylinder a row of
// them, so that these roll without facets; corners and sharp edges stay points.
#include "geometry/order.h"
#include "methods/rigid/model.h"
#include "yawara/extend/memory.h"

// A ball fits when it stays inside to this share of the body's size.
#define FITS 1e-6f
// Balls closer than this share of the body's size are one.
#define SAME 1e-4f
#define HALVINGS 24

static bool fits(const yw_shape* shape, yw_vec3 p, yw_vec3 normal, float radius, float size) {
  return yw_shape_distance(shape, yw_mad(p, -radius, normal)) <= FITS * size - radius;
}

static float largest_ball(const yw_shape* shape, yw_vec3 p, yw_vec3 normal, float size) {
  float low = 0.0f, high = size;
  for (int i = 0; i < HALVINGS; ++i) {
    float middle = 0.5f * (low + high);
    if (fits(shape, p, normal, middle, size)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low > 1e-3f * size ? low : 0.0f;
}

static bool is_listed(const rigid_model* model, const rigid_ball* ball) {
  float near = SAME * model->size;
  for (int32_t i = 0; i < model->num_balls; ++i) {
    const rigid_ball* other = &model->balls[i];
    float off = fabsf(ball->radius - other->radius);
    for (int k = 0; k < 3; ++k) off = fmaxf(off, fabsf(ball->local[k] - other->local[k]));
    if (off < near) return true;
  }
  return false;
}

static rigid_ball ball_around(const rigid_ball* balls, int32_t count) {
  rigid_ball around = {{0}, 0.0f};
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) around.local[k] += balls[i].local[k] / (float)count;
  }
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 away = yw_v3(balls[i].local[0] - around.local[0], balls[i].local[1] - around.local[1],
                         balls[i].local[2] - around.local[2]);
    around.radius = fmaxf(around.radius, yw_length(away) + balls[i].radius);
  }
  return around;
}

// The order in which to visit the vertices, so that groups are small; the caller frees it.
static int32_t* spatial_order(const rigid_model* model, const yw_tri_mesh* surface) {
  int32_t* order = YW_NEW_ARRAY(&model->mem, int32_t, surface->num_vertices);
  if (order &&
      yw_hilbert_order(&model->mem, surface->num_vertices, surface->positions, 0.0, order) < 0) {
    yw_mem_free(&model->mem, order);
    return NULL;
  }
  return order;
}

bool yw_rigid_fill_balls(rigid_model* model, const yw_tri_mesh* surface, const yw_shape* shape) {
  int32_t most = surface->num_vertices;
  int32_t* order = spatial_order(model, surface);
  model->balls = YW_NEW_ARRAY(&model->mem, rigid_ball, most);
  model->groups = YW_NEW_ARRAY(&model->mem, rigid_ball, most / RIGID_GROUP + 1);
  bool ok = order && model->balls && model->groups;
  for (int32_t i = 0; ok && i < most; ++i) {
    yw_vec3 p = surface->positions[order[i]], normal = yw_v3(0, 0, 0);
    float radius = 0.0f;
    if (shape) {
      // Vertices are close to the shape, not on it.
      float off = yw_shape_distance_normal(shape, p, &normal);
      p = yw_mad(p, -off, normal);
      radius = largest_ball(shape, p, normal, model->size);
    }
    double local[3];
    yw_rigid_to_local(model, yw_mad(p, -radius, normal), local);
    rigid_ball ball = {{(float)local[0], (float)local[1], (float)local[2]}, radius};
    if (radius > 0.0f && is_listed(model, &ball)) continue;
    model->balls[model->num_balls++] = ball;
  }
  yw_mem_free(&model->mem, order);
  for (int32_t first = 0; ok && first < model->num_balls; first += RIGID_GROUP) {
    int32_t left = model->num_balls - first;
    model->groups[model->num_groups++] =
        ball_around(model->balls + first, left < RIGID_GROUP ? left : RIGID_GROUP);
  }
  return ok;
}
