// SPDX-License-Identifier: MIT
// Slaves inside obstacles and around pinned masters: constraints of the solve.
#include <math.h>
#include <string.h>

#include "methods/kit/pins.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"

// Slaves closer to a pinned master than this, in units of d, move with it: eight on the lattice.
#define HELD_REACH 0.9f
// How far forces may move a slave, in units of d, when contacts are predicted. If a step is longer
// than a wave needs to travel d, forces give the direction of motion but not its length.
#define FORCE_REACH 0.03f

void yw_plastic_meet(const plastic_body* body, int32_t slave, yw_vec4* velocity) {
  yw_vec4 n = body->normal[slave], u = body->surface_vel[slave];
  if (n.w == 0.0f) return;
  if (n.w == PLASTIC_HELD) {
    *velocity = (yw_vec4){u.x, u.y, u.z, 0.0f};
    return;
  }
  yw_vec3 relative = yw_sub(yw_xyz(*velocity), yw_xyz(u));
  float approach = -yw_dot(relative, yw_xyz(n));
  if (!(approach > 0.0f)) return;
  yw_vec3 slide = yw_mad(relative, approach, yw_xyz(n));
  float speed2 = yw_length2(slide), held = u.w * approach;
  float share = speed2 > held * held ? 1.0f - held / sqrtf(speed2) : 0.0f;
  *velocity = yw_v4(yw_mad(yw_xyz(u), share, slide));
}

// Predicts slave positions at the end of the step, to body->solved. Returns a box around all paths.
static yw_aabb predict(plastic_body* body, const yw_step_ctx* ctx) {
  yw_aabb box = yw_aabb_empty();
  float dt = body->dt, most = FORCE_REACH * body->model->spacing;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    yw_vec3 x = yw_xyz(body->slave_pos[s]), next = x;
    float mass = body->slave_vel[s].w;
    if (mass > 0.0f) {
      yw_vec3 pushed = yw_scale(yw_xyz(body->force[s]), dt * dt / mass);
      float far = yw_length(pushed);
      next = yw_mad(x, dt, yw_mad(yw_xyz(body->slave_vel[s]), dt, ctx->gravity));
      next = yw_mad(next, far > most ? most / far : 1.0f, pushed);
    }
    body->solved[s] = yw_v4(next);
    box = yw_aabb_grow(yw_aabb_grow(box, x), next);
  }
  return box;
}

// Slaves that are outside but may be inside at the end of the step can move up to the surface.
// DIFFERS: if contact began only once slaves are inside, slaves a hair above their support would be
// free for a step. In a long one the body falls by g dt^2, or everything compressed expands; then
// masters hit the obstacle themselves and are pushed into each other without any deformation.
static void look_ahead(plastic_body* body, const yw_step_ctx* ctx, float end) {
  yw_vec4 *ahead = body->solved, *normal = body->residual, *velocity = body->product;
  ctx->probe(ctx, body->num_slaves, ahead, end, normal, velocity);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    if (body->normal[s].w != 0.0f || normal[s].w == 0.0f) continue;
    yw_vec3 n = yw_xyz(normal[s]), way = yw_sub(yw_xyz(ahead[s]), yw_xyz(body->slave_pos[s]));
    // Relative to the obstacle, taken as flat.
    float gap = -normal[s].w - yw_dot(yw_mad(way, -body->dt, yw_xyz(velocity[s])), n);
    yw_vec3 u = yw_mad(yw_xyz(velocity[s]), -fmaxf(gap, 0.0f) / body->dt, n);
    body->normal[s] = normal[s];
    body->surface_vel[s] = (yw_vec4){u.x, u.y, u.z, velocity[s].w};
  }
}

// Keeps, of the slaves inside obstacles or about to be, those that would move farther in, and all
// that are inside sticky ones. The force on them becomes what leads to the velocity after friction.
static void choose_contacts(plastic_body* body, const yw_step_ctx* ctx) {
  int32_t contacts = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    yw_vec4* n = &body->normal[s];
    float mass = body->slave_vel[s].w;
    if (n->w == 0.0f) continue;
    n->w = 0.0f;
    if (!(mass > 0.0f)) continue;
    yw_vec3 start = yw_mad(yw_xyz(body->slave_vel[s]), body->dt, ctx->gravity);
    yw_vec3 ahead = yw_mad(start, body->dt / mass, yw_xyz(body->force[s]));
    yw_vec4 u = body->surface_vel[s], met = yw_v4(ahead);
    bool is_sticky = isinf(u.w);
    if (!is_sticky && !(yw_dot(yw_sub(ahead, yw_xyz(u)), yw_xyz(*n)) < 0.0f)) continue;
    n->w = is_sticky ? PLASTIC_HELD : PLASTIC_TOUCHES;
    ++contacts;
    yw_plastic_meet(body, s, &met);
    body->force[s] = yw_v4(yw_scale(yw_sub(yw_xyz(met), start), mass / body->dt));
  }
  if (ctx->report && contacts > ctx->report->obstacle_contacts) {
    ctx->report->obstacle_contacts = contacts;
  }
}

void yw_plastic_hold_slave(plastic_body* body, const yw_step_ctx* ctx, int32_t slave,
                           int32_t hold) {
  body->normal[slave] = (yw_vec4){0, 1, 0, PLASTIC_HELD};
  body->surface_vel[slave] = yw_v4(yw_hold_velocity(&ctx->holds[hold], ctx->h));
}

static void hold_slaves(plastic_body* body, const yw_particles* particles, const yw_step_ctx* ctx) {
  float reach = HELD_REACH * body->model->spacing;
  // The last hold counts; ranks compare theirs.
  int32_t* held_by = body->fresh_next;
  if (body->ranks) memset(held_by, 0xff, (size_t)body->num_slaves * sizeof *held_by);
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    int32_t m = ctx->holds[i].particle - body->first_master;
    if (m < 0 || m >= body->num_masters) continue;
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      int32_t s = body->column[e];
      if (yw_distance(yw_xyz(body->slave_pos[s]), yw_xyz(particles->pos[m])) > reach) continue;
      yw_plastic_hold_slave(body, ctx, s, i);
      held_by[s] = i;
    }
  }
  if (body->ranks && ctx->num_holds > 0) yw_plastic_share_holds(body, ctx, held_by);
}

// Step 5 as printed: the solve knows nothing of obstacles; slaves inside them lose their normal
// velocity afterwards.
void yw_plastic_find_late_contacts(plastic_body* body, const yw_step_ctx* ctx, float begin) {
  if (!ctx->probe || !ctx->obstacles) return;
  yw_vec4 *normal = body->residual, *velocity = body->product;
  ctx->probe(ctx, body->num_slaves, body->slave_pos, begin + body->dt, normal, velocity);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    if (body->normal[s].w != 0.0f || normal[s].w == 0.0f) continue;
    bool is_sticky = isinf(velocity[s].w);
    body->normal[s] = normal[s];
    body->normal[s].w = is_sticky ? PLASTIC_HELD : PLASTIC_TOUCHES;
    body->surface_vel[s] = velocity[s];
  }
}

void yw_plastic_find_contacts(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                              float begin) {
  bool is_clear = !ctx->probe || !ctx->obstacles || body->model->scheme.collide_after;
  if (!is_clear) {
    yw_aabb box = predict(body, ctx);
    is_clear = ctx->is_clear && ctx->is_clear(ctx, box);
  }
  if (is_clear) {
    for (int32_t s = 0; s < body->num_slaves; ++s) body->normal[s].w = 0.0f;
  } else {
    ctx->probe(ctx, body->num_slaves, body->slave_pos, begin + body->dt, body->normal,
               body->surface_vel);
    look_ahead(body, ctx, begin + body->dt);
    choose_contacts(body, ctx);
  }
  hold_slaves(body, particles, ctx);
}
