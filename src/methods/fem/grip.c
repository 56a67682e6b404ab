// SPDX-License-Identifier: MIT
// Obstacles. Free nodes of the surface collide with them; nodes hanging between these follow.
//
// An elastic body that slides with Coulomb friction is unstable: friction that follows pressure at
// once feeds waves that lift the surface and let it slip (Schallamach 1971, Adams 1995), so that a
// block creeps down slopes on which it should rest, however short the steps. Measured friction
// follows pressure with a delay (Prakash and Clifton 1993), which ends this: a node feels the
// friction of its mean pressure while it touched, over some crossings of a wave. Friction still
// only slows, and its mean is Coulomb's.
#include <math.h>
#include <string.h>

#include "math/small/float4.h"
#include "methods/fem/body.h"
#include "methods/kit/contact.h"

// Of the time that shear waves take through the body: half of the period in which it sways on its
// base; friction must not follow that. Blocks of 1e5 to 1e7 Pa at 26 degrees come to rest with 2
// to 5.
#define MEMORY 3.0f

void yw_fem_remember_surface(fem_body* b, const yw_particles* p) {
  for (int32_t i = 0; i < b->num_surface; ++i) b->surface_old[i] = p->pos[b->surface[i]];
}

static void forget(fem_grip* grip, float h) {
  grip->age -= h;
  if (!(grip->age > 0.0f)) *grip = (fem_grip){0};
}

// The first touch is an impact, which the next steps should not remember.
static void remember(fem_grip* grip, float h, float most, float pressure) {
  bool first = grip->age == 0.0f;
  grip->age = fminf(grip->age + h, most);
  if (first) return;
  float share = grip->pressure > 0.0f ? fminf(h / grip->age, 1.0f) : 1.0f;
  grip->pressure += share * (pressure - grip->pressure);
}

// b->pressing: the approach that was stopped in this step, if any.
static void remember_all(fem_body* b, float h) {
  float most = MEMORY * b->model->crossing_time / sqrtf(b->params.stiffness_scale);
  b->gripped = false;
  for (int32_t i = 0; i < b->num_surface; ++i) {
    fem_grip* grip = &b->grip[b->surface[i]];
    if (b->pressing[i] > 0.0f) {
      remember(grip, h, most, b->pressing[i] / h);
    } else if (grip->age > 0.0f) {
      forget(grip, h);
    }
    b->gripped = b->gripped || grip->age > 0.0f;
  }
}

void yw_fem_release_obstacles(fem_body* b, float h) {
  memset(b->pressing, 0, (size_t)b->num_surface * sizeof *b->pressing);
  if (b->gripped) remember_all(b, h);
}

void yw_fem_press_obstacles(fem_body* b, yw_particles* p, const yw_step_ctx* ctx, float begin,
                            float h) {
  yw_particles* copy = &b->surface_copy;
  copy->count = b->num_surface;
  for (int32_t i = 0; i < b->num_surface; ++i) {
    int32_t n = b->surface[i];
    copy->pos[i] = p->pos[n];
    copy->vel[i] = p->vel[n];
    copy->mass[i] = (float)b->mass[n];
    copy->inv_mass[i] = b->inv_mass[n];
    b->pressing[i] = -h * b->grip[n].pressure;
  }
  yw_step_ctx with = *ctx;
  with.pressing = b->pressing;
  yw_meet_obstacles(&with, copy, b->surface_old, NULL, begin, h);
  for (int32_t i = 0; i < b->num_surface; ++i) {
    p->pos[b->surface[i]] = copy->pos[i];
    p->vel[b->surface[i]] = copy->vel[i];
  }
  remember_all(b, h);
}

void yw_fem_meet_obstacles(fem_body* b, yw_particles* p, const yw_step_ctx* ctx, float begin,
                           float h) {
  if (!ctx->collide || b->num_surface == 0) return;
  yw_float4 lower = {INFINITY, INFINITY, INFINITY, INFINITY}, upper = 0.0f - lower;
  for (int32_t i = 0; i < b->num_surface; ++i) {
    yw_float4 from = yw_float4_load(&b->surface_old[i]),
              to = yw_float4_load(&p->pos[b->surface[i]]);
    lower = yw_vf_min(lower, yw_vf_min(from, to));
    upper = yw_vf_max(upper, yw_vf_max(from, to));
  }
  const yw_aabb box = {{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
  if (yw_obstacles_near(ctx, box)) {
    yw_fem_press_obstacles(b, p, ctx, begin, h);
  } else {
    yw_fem_release_obstacles(b, h);
  }
}
