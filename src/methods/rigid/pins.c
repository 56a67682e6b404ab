// SPDX-License-Identifier: MIT
// Pins on rigid bodies. One held particle is a ball joint, two are a hinge, and three fix the body:
// it then goes where the pins go.
#include "math/small/mat3d.h"
#include "methods/rigid/body.h"

// Points closer to a line than this share of the size are in line.
#define IN_LINE 1e-4

static void widen(yw_vec3 v, double out[3]) {
  out[0] = (double)v.x, out[1] = (double)v.y, out[2] = (double)v.z;
}

static yw_vec3 local_of(const rigid_body* body, const yw_hold* hold) {
  return body->model->local[hold->particle];
}

// Picks held particles that say as much as all: the first, the farthest from it, and the farthest
// from their line. Returns their number.
static int pick_holds(const rigid_body* body, const yw_step_ctx* ctx, int32_t picked[3]) {
  float close = (float)IN_LINE * body->model->size, best = close;
  int count = 1;
  picked[0] = 0;
  yw_vec3 a = local_of(body, &ctx->holds[0]), along = yw_v3(0, 0, 0);
  for (int32_t i = 1; i < ctx->num_holds; ++i) {
    yw_vec3 way = yw_sub(local_of(body, &ctx->holds[i]), a);
    if (!(yw_length(way) > best)) continue;
    best = yw_length(way);
    along = yw_scale(way, 1.0f / best);
    picked[1] = i;
    count = 2;
  }
  best = close;
  for (int32_t i = 1; i < ctx->num_holds && count >= 2; ++i) {
    yw_vec3 way = yw_sub(local_of(body, &ctx->holds[i]), a);
    float off = yw_length(yw_cross(way, along));
    if (!(off > best)) continue;
    best = off;
    picked[2] = i;
    count = 3;
  }
  return count;
}

// Axes (row-major, as columns) of a triangle.
static void frame_of(const double a[3], const double b[3], const double c[3], double out[9]) {
  double x[3], y[3], z[3], way[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = b[k] - a[k];
    way[k] = c[k] - a[k];
  }
  yw_cross3(x, way, z);
  yw_cross3(z, x, y);
  double lx = sqrt(yw_dot3(x, x)), ly = sqrt(yw_dot3(y, y)), lz = sqrt(yw_dot3(z, z));
  for (int k = 0; k < 3; ++k) {
    out[3 * k] = x[k] / lx;
    out[3 * k + 1] = y[k] / ly;
    out[3 * k + 2] = z[k] / lz;
  }
}

// Moves the body to where three pins hold it, and derives its velocities from that.
static void follow_pins(rigid_body* body, const yw_step_ctx* ctx, const int32_t picked[3]) {
  yw_rigid_motion* m = &body->motion;
  double local[3][3], goal[3][3], own[9], held[9], own_t[9], turned[9], h = (double)ctx->h;
  for (int i = 0; i < 3; ++i) {
    widen(local_of(body, &ctx->holds[picked[i]]), local[i]);
    widen(ctx->holds[picked[i]].end, goal[i]);
  }
  frame_of(local[0], local[1], local[2], own);
  frame_of(goal[0], goal[1], goal[2], held);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) own_t[3 * i + j] = own[3 * j + i];
  }
  yw_m3_mul(held, own_t, turned);
  yw_turn q = yw_turn_from_matrix(turned), before;
  before = (yw_turn){m->start_rotation[0], m->start_rotation[1], m->start_rotation[2],
                     m->start_rotation[3]};
  double arm[3], spin[3], own_spin[3];
  yw_turn_apply(q, local[0], arm);
  yw_turn_log(yw_turn_mul(q, yw_turn_conjugate(before)), spin);
  for (int k = 0; k < 3; ++k) {
    m->center[k] = goal[0][k] - arm[k];
    m->velocity[k] = (m->center[k] - m->start_center[k]) / h;
    spin[k] /= h;
  }
  m->rotation[0] = q.x, m->rotation[1] = q.y, m->rotation[2] = q.z, m->rotation[3] = q.w;
  yw_turn_apply(yw_turn_conjugate(q), spin, own_spin);
  for (int k = 0; k < 3; ++k) own_spin[k] *= m->moments[k];
  yw_turn_apply(q, own_spin, m->angular);
  for (int k = 0; k < 3; ++k) {
    m->half_velocity[k] = m->velocity[k];
    m->half_angular[k] = m->angular[k];
  }
}

static yw_rigid_anchor anchor_of(const rigid_body* body, int32_t particle, yw_vec3 begin,
                                 yw_vec3 end) {
  yw_rigid_anchor anchor = {0};
  widen(body->model->local[particle], anchor.local);
  widen(begin, anchor.begin);
  widen(end, anchor.end);
  return anchor;
}

bool yw_rigid_take_pins(rigid_body* body, const yw_step_ctx* ctx, yw_status* status) {
  yw_rigid_motion* m = &body->motion;
  int32_t picked[3];
  int count = ctx->num_holds > 0 ? pick_holds(body, ctx, picked) : 0;
  *status = YW_OK;
  m->num_anchors = 0;
  m->held = count == 3;
  yw_rigid_turned(m);
  if (m->held) {
    follow_pins(body, ctx, picked);
    return true;
  }
  body->anchors.count = 0;
  if (!YW_LIST_RESERVE(&body->mem, &body->anchors, count + ctx->num_springs)) {
    *status = YW_ERR_MEMORY;
    return false;
  }
  for (int i = 0; i < count; ++i) {
    const yw_hold* hold = &ctx->holds[picked[i]];
    body->anchors.items[body->anchors.count++] =
        anchor_of(body, hold->particle, hold->begin, hold->end);
  }
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* spring = &ctx->springs[i];
    yw_rigid_anchor anchor = anchor_of(body, spring->particle, spring->begin, spring->end);
    anchor.stiffness = (double)spring->stiffness;
    anchor.damping = (double)spring->damping;
    body->anchors.items[body->anchors.count++] = anchor;
  }
  m->anchors = body->anchors.items;
  m->num_anchors = body->anchors.count;
  return false;
}
