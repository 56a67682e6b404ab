// SPDX-License-Identifier: MIT
// Rigid motion of a body: momentum, angular momentum, inertia. Held particles are weighted by much
// more than their mass, so that the rigid motion found is one that the holds allow: the motion of a
// clamp that holds the body, or a swing about a single held point.
#include <math.h>

#include "math/small/mat3d.h"
#include "methods/frames/rigid.h"
#include "methods/kit/rigid.h"

#define HELD_WEIGHT 1e5
// Bodies that turn by less than this in a step, rad, do not roll.
#define LEAST_TURN 1e-3

typedef struct rigid_phase {
  frames_phase phase;
  const yw_particles* particles;
  const yw_vec4* old_pos;
  double center[3];
} rigid_phase;

static void sum_chunk(const frames_phase* phase, int32_t chunk) {
  const rigid_phase* rigid = (const rigid_phase*)phase;
  const yw_particles* particles = rigid->particles;
  frames_sums s = {.box = yw_aabb_empty()};
  int32_t end = (chunk + 1) * FRAMES_CHUNK;
  if (end > phase->model->num_particles) end = phase->model->num_particles;
  for (int32_t p = chunk * FRAMES_CHUNK; p < end; ++p) {
    double m = (double)phase->model->solid.mass[p];
    if (particles->inv_mass[p] == 0.0f) m *= HELD_WEIGHT;
    s.mass += m;
    yw_vec4 x = particles->pos[p], u = particles->vel[p];
    const double y[3] = {(double)x.x - rigid->center[0], (double)x.y - rigid->center[1],
                         (double)x.z - rigid->center[2]};
    const double v[3] = {(double)u.x, (double)u.y, (double)u.z};
    for (int i = 0; i < 3; ++i) {
      s.mx[i] += m * y[i];
      s.mv[i] += m * v[i];
      s.myy[i] += m * y[i] * y[i];
      s.myv[i] += m * (y[(i + 1) % 3] * v[(i + 2) % 3] - y[(i + 2) % 3] * v[(i + 1) % 3]);
    }
    s.myy[3] += m * y[0] * y[1];
    s.myy[4] += m * y[0] * y[2];
    s.myy[5] += m * y[1] * y[2];
    s.box = yw_aabb_grow(s.box, yw_xyz(x));
    if (rigid->old_pos) s.box = yw_aabb_grow(s.box, yw_xyz(rigid->old_pos[p]));
  }
  phase->body->sums[chunk] = s;
}

frames_rigid yw_frames_rigid_motion(frames_body* body, const yw_particles* particles,
                                    const yw_vec4* old_pos, const yw_step_ctx* ctx) {
  const frames_model* model = body->model;
  yw_vec4 near = particles->pos[0];
  rigid_phase phase = {.phase = {.body = body, .model = model},
                       .particles = particles,
                       .old_pos = old_pos,
                       .center = {(double)near.x, (double)near.y, (double)near.z}};
  yw_frames_run(ctx, model->particle_chunks, sum_chunk, &phase.phase);
  frames_rigid r = {.box = yw_aabb_empty()};
  double c[3] = {0}, mv[3] = {0}, myv[3] = {0}, myy[6] = {0};
  for (int32_t k = 0; k < model->particle_chunks; ++k) {
    const frames_sums* s = &body->sums[k];
    r.mass += s->mass;
    for (int i = 0; i < 3; ++i) c[i] += s->mx[i], mv[i] += s->mv[i], myv[i] += s->myv[i];
    for (int i = 0; i < 6; ++i) myy[i] += s->myy[i];
    r.box = yw_aabb_join(r.box, s->box);
  }
  for (int i = 0; i < 3; ++i) {
    c[i] /= r.mass;
    r.center[i] = phase.center[i] + c[i];
    r.velocity[i] = mv[i] / r.mass;
  }
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    r.angular[i] = myv[i] - (c[j] * mv[k] - c[k] * mv[j]);
    r.inertia[i] = (myy[j] - r.mass * c[j] * c[j]) + (myy[k] - r.mass * c[k] * c[k]);
  }
  r.inertia[3] = r.mass * c[0] * c[1] - myy[3];
  r.inertia[4] = r.mass * c[0] * c[2] - myy[4];
  r.inertia[5] = r.mass * c[1] * c[2] - myy[5];
  yw_spin_of(r.inertia, r.angular, r.spin);
  return r;
}

// DIFFERS: backward formulas and position-based steps lose angular momentum (of order h^2 per
// step), and a solve that stops early loses a little of both momenta. A free body gets them back.
void yw_frames_restore_momentum(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                                const frames_rigid* before, const frames_rigid* after, float h) {
  if (ctx->num_holds > 0 || ctx->num_springs > 0) return;
  double spin[3];
  yw_spin_of(after->inertia, before->angular, spin);
  for (int i = 0; i < 3; ++i) spin[i] -= after->spin[i];
  yw_vec3 turn = yw_v3_of(spin), center = yw_v3_of(after->center);
  yw_vec3 shift = yw_sub(yw_v3_of(before->velocity), yw_v3_of(after->velocity));
  shift = yw_mad(shift, h, ctx->gravity);
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    yw_vec3 y = yw_sub(yw_xyz(particles->pos[p]), center);
    yw_vec3 change = yw_add(shift, yw_cross(turn, y));
    particles->vel[p] = yw_v4(yw_add(yw_xyz(particles->vel[p]), change));
  }
}

// The backward formula of first order keeps r' x m v' - r' x m v = h times the torque, with arms r'
// at the end of the step, where the law has r x m v: (r' - r) x m v is lost. Torques of obstacles
// need not be known.
void yw_frames_restore_spin(const frames_body* body, yw_particles* particles,
                            const yw_step_ctx* ctx, const frames_rigid* before,
                            const frames_rigid* after, float h) {
  bool slow = yw_dot3(before->spin, before->spin) * (double)(h * h) < LEAST_TURN * LEAST_TURN;
  bool held = ctx->num_holds > 0 || ctx->num_springs > 0;
  if (slow || held || body->h1 != h) return;
  double lost[3] = {0}, spin[3], turning[3];
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    yw_vec4 from = body->last_pos[p], to = particles->pos[p], u = body->last_vel[p];
    double m = (double)body->model->solid.mass[p], way[3], v[3];
    const double step[3] = {(double)to.x - (double)from.x, (double)to.y - (double)from.y,
                            (double)to.z - (double)from.z};
    for (int k = 0; k < 3; ++k) way[k] = step[k] - (after->center[k] - before->center[k]);
    v[0] = (double)u.x, v[1] = (double)u.y, v[2] = (double)u.z;
    yw_cross3(way, v, turning);
    for (int k = 0; k < 3; ++k) lost[k] -= m * turning[k];
  }
  yw_spin_of(after->inertia, lost, spin);
  yw_vec3 turn = yw_v3_of(spin), center = yw_v3_of(after->center);
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    yw_vec3 y = yw_sub(yw_xyz(particles->pos[p]), center);
    particles->vel[p] = yw_v4(yw_add(yw_xyz(particles->vel[p]), yw_cross(turn, y)));
  }
}
