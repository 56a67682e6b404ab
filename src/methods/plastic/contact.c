// SPDX-License-Identifier: MIT
// Slaves inside obstacles and around pinned masters: constraints of the solve.
#include <math.h>
#include <string.h>

#include "methods/kit/pins.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "methods/plastic/slave_steps.h"

// Slaves closer to a pinned master than this, in units of d, move with it: eight on the lattice.
#define HELD_REACH 0.9f

// Predicts slave positions at the end of the step, to body->solved. Returns a box around all paths.
static yw_aabb predict(plastic_body* body, const yw_step_ctx* ctx) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    yw_vec3 next = plastic_predict(body, ctx->gravity, s);
    body->solved[s] = yw_v4(next);
    box = yw_aabb_grow(yw_aabb_grow(box, yw_xyz(body->slave_pos[s])), next);
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
    plastic_look_ahead(body, s, ahead[s], normal[s], velocity[s]);
  }
}

// Keeps, of the slaves inside obstacles or about to be, those that would move farther in, and all
// that are inside sticky ones. The force on them becomes what leads to the velocity after friction.
static void choose_contacts(plastic_body* body, const yw_step_ctx* ctx) {
  // Slaves of lower ranks come first, and are counted there.
  int32_t first = body->ranks ? body->ranks->num_foreign : 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    body->num_touching += plastic_choose_contact(body, ctx->gravity, s) && s >= first;
  }
}

// Drags of the slaves that touch.
static void grip(plastic_body* body) {
  for (int32_t b = 0; b < body->num_slave_blocks; ++b) {
    double sum = 0.0;
    for (int32_t s = body->slave_block[b]; s < body->slave_block[b + 1]; ++s) {
      sum += (double)plastic_press(body, s);
    }
    body->sums[b].value[0] = sum;
  }
  double impulse;
  yw_plastic_sum_slaves(body, 1, &impulse);
  body->next_grip = plastic_next_grip(body, impulse);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    plastic_grip_slave(body, body->next_grip, s);
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
  bool meets = ctx->probe && ctx->obstacles && !body->model->scheme.collide_after;
  bool is_clear = !meets;
  // Only contacts of the last inner step count.
  body->num_touching = 0;
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
  // All ranks, whether slaves here touch or not.
  body->next_grip = (plastic_grip){0};
  if (meets && !plastic_is_far(body)) grip(body);
  hold_slaves(body, particles, ctx);
}
