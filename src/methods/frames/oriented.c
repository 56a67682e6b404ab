// SPDX-License-Identifier: MIT
// Oriented particles: particles are balls with orientations of their own. Mueller, Chentanez:
// Solid simulation with oriented particles (2011); Hino et al. explain them as frames on springs.
//   A_r  = sum of w_i ((x_i - c) (x0_i - c0)^T + r_i^2 / 5 R_i),   w_i = m_i / number of its
//   regions R_r  = polar(A_r);  goals of its members: R_r (x0_i - c0) + c, and R_r for their
//   rotation R_i
// A sweep moves particles and rotations by a share s towards the mean of their goals. All regions
// move at once: with these weights momentum is conserved, and the order does not matter.
#include <math.h>

#include "math/small/exponent.h"
#include "math/small/turn.h"
#include "methods/frames/rigid.h"
#include "methods/kit/rigid.h"

#define PI 3.14159265358979323846

void yw_frames_balls(const frames_model* model, float* out) {
  double volume = 0.0;
  for (int32_t r = 0; r < model->num_regions; ++r) volume += (double)model->volume[r];
  double density = model->total_mass / volume;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double cube = 0.75 / PI * (double)model->solid.mass[p] / density;
    out[p] = 0.2f * yw_powf((float)cube, 2.0f / 3.0f);
  }
}

static yw_turn turn_at(const yw_vec4* turns, int32_t p) {
  yw_vec4 q = turns[p];
  return (yw_turn){(double)q.x, (double)q.y, (double)q.z, (double)q.w};
}

static yw_vec4 packed(yw_turn q) {
  return (yw_vec4){(float)q.x, (float)q.y, (float)q.z, (float)q.w};
}

// Rotation matrix of a unit quaternion.
static yw_mat3 matrix_of(yw_vec4 q) {
  float x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  float xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
  float wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  return (yw_mat3){{1.0f - yy - zz, xy + wz, xz - wy},
                   {xy - wz, 1.0f - xx - zz, yz + wx},
                   {xz + wy, yz - wx, 1.0f - xx - yy}};
}

// Rotation vector from one rotation to another; most are small, and a series does.
static yw_vec3 way_to(yw_quat goal, yw_vec4 own) {
  yw_quat q = yw_quat_mul(goal, (yw_quat){-own.x, -own.y, -own.z, own.w});
  float sign = q.w < 0.0f ? -2.0f : 2.0f, s2 = q.x * q.x + q.y * q.y + q.z * q.z;
  if (s2 > 0.04f) {
    double way[3];
    yw_turn_log(yw_turn_of(q), way);
    return yw_v3_of(way);
  }
  // asin(s) / s
  float series =
      1.0f + s2 * (1.0f / 6 + s2 * (3.0f / 40 + s2 * (5.0f / 112 + s2 * (35.0f / 1152))));
  return yw_scale(yw_v3(q.x, q.y, q.z), sign * series);
}

static float weight_of(const frames_model* model, int32_t p) {
  return model->solid.mass[p] / (float)(model->holder_start[p + 1] - model->holder_start[p]);
}

// Regions -----------------------------------------------------------------------------------------

// Centres of a region, now and at rest.
static float region_centers(const frames_body* body, int32_t r, yw_vec3* now, yw_vec3* rest) {
  const frames_model* m = body->model;
  const int32_t first = m->members[m->member_start[r]].particle;
  // Relative to a member, for the sake of rounding.
  yw_vec3 x = yw_xyz(body->work[first]), x0 = m->solid.rest_positions[first];
  yw_vec3 sum = {0, 0, 0}, sum0 = {0, 0, 0};
  float mass = 0.0f;
  for (int32_t i = m->member_start[r]; i < m->member_start[r + 1]; ++i) {
    int32_t p = m->members[i].particle;
    float w = weight_of(m, p);
    sum = yw_mad(sum, w, yw_sub(yw_xyz(body->work[p]), x));
    sum0 = yw_mad(sum0, w, yw_sub(m->solid.rest_positions[p], x0));
    mass += w;
  }
  *now = yw_mad(x, 1.0f / mass, sum);
  *rest = yw_mad(x0, 1.0f / mass, sum0);
  return mass;
}

static void match_region(const frames_body* body, int32_t r) {
  const frames_model* m = body->model;
  yw_vec3 c, c0;
  float mass = region_centers(body, r, &c, &c0), size = 0.0f;
  yw_mat3 a = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int32_t i = m->member_start[r]; i < m->member_start[r + 1]; ++i) {
    int32_t p = m->members[i].particle;
    float w = weight_of(m, p), ball = w * body->balls[p];
    yw_vec3 x = yw_scale(yw_sub(yw_xyz(body->work[p]), c), w);
    yw_vec3 q = yw_sub(m->solid.rest_positions[p], c0);
    yw_mat3 own = matrix_of(body->turns[p]);
    a.cx = yw_mad(yw_mad(a.cx, q.x, x), ball, own.cx);
    a.cy = yw_mad(yw_mad(a.cy, q.y, x), ball, own.cy);
    a.cz = yw_mad(yw_mad(a.cz, q.z, x), ball, own.cz);
    size += w * (yw_length2(q) + body->balls[p]);
  }
  float scale = 1.0f / fmaxf(size, 1e-30f * mass);
  a = (yw_mat3){yw_scale(a.cx, scale), yw_scale(a.cy, scale), yw_scale(a.cz, scale)};
  yw_mat3 rotation, stretch;
  yw_polar(&a, &rotation, &stretch);
  yw_quat q = yw_quat_from_mat3(&rotation);
  const float parts[4] = {q.x, q.y, q.z, q.w};
  for (int k = 0; k < 4; ++k) body->rotations[r / YW_LANES].m[k][r % YW_LANES] = parts[k];
  // Goals relative to c0, so that they are as precise as the body is small.
  float* row = body->rows + (size_t)r * FRAMES_ROW;
  row[0] = c.x, row[1] = c.y, row[2] = c.z, row[3] = c0.x, row[4] = c0.y, row[5] = c0.z;
}

static void match_chunk(const frames_phase* phase, int32_t chunk) {
  int32_t end = (chunk + 1) * FRAMES_CHUNK;
  if (end > phase->model->num_regions) end = phase->model->num_regions;
  for (int32_t r = chunk * FRAMES_CHUNK; r < end; ++r) match_region(phase->body, r);
}

// Particles ---------------------------------------------------------------------------------------

static yw_quat rotation_of(const frames_body* body, int32_t r) {
  const yw_quatx16* block = &body->rotations[r / YW_LANES];
  int32_t l = r % YW_LANES;
  return (yw_quat){block->m[0][l], block->m[1][l], block->m[2][l], block->m[3][l]};
}

static void pull_particle(frames_body* body, int32_t p) {
  const frames_model* m = body->model;
  int32_t begin = m->holder_start[p], end = m->holder_start[p + 1];
  yw_vec4 own = body->turns[p];
  yw_vec3 x = yw_xyz(body->work[p]), x0 = m->solid.rest_positions[p], way = {0, 0, 0};
  yw_vec3 turn = {0, 0, 0};
  float share = body->params.stiffness / (float)(end - begin);
  for (int32_t i = begin; i < end; ++i) {
    int32_t r = m->holder_region[i];
    const float* row = body->rows + (size_t)r * FRAMES_ROW;
    yw_quat q = rotation_of(body, r);
    yw_vec3 goal = yw_rotate(q, yw_sub(x0, yw_v3(row[3], row[4], row[5])));
    way = yw_add(way, yw_add(goal, yw_sub(yw_v3(row[0], row[1], row[2]), x)));
    turn = yw_add(turn, way_to(q, own));
  }
  const double back[3] = {(double)(share * turn.x), (double)(share * turn.y),
                          (double)(share * turn.z)};
  yw_turn now = yw_turn_mul(yw_turn_exp(back), turn_at(body->turns, p));
  body->turns[p] = packed(yw_turn_normalize(now));
  if (body->work[p].w == 0.0f) return;
  x = yw_mad(x, share, way);
  body->work[p] = (yw_vec4){x.x, x.y, x.z, body->work[p].w};
}

static void pull_chunk(const frames_phase* phase, int32_t chunk) {
  int32_t end = (chunk + 1) * FRAMES_CHUNK;
  if (end > phase->model->num_particles) end = phase->model->num_particles;
  for (int32_t p = chunk * FRAMES_CHUNK; p < end; ++p) pull_particle(phase->body, p);
}

// Steps -------------------------------------------------------------------------------------------

// A body that was placed anew turns as a whole.
void yw_frames_oriented_wake(frames_body* body, const frames_rigid* motion) {
  yw_quat q = rotation_of(body, 0);
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    body->turns[p] = (yw_vec4){q.x, q.y, q.z, q.w};
    body->spins[p] = yw_v4(yw_v3_of(motion->spin));
  }
  body->has_turns = true;
}

void yw_frames_oriented_damp(frames_body* body, const frames_rigid* motion, float lose) {
  yw_vec3 whole = yw_v3_of(motion->spin);
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    yw_vec3 spin = yw_xyz(body->spins[p]);
    body->spins[p] = yw_v4(yw_mad(spin, lose, yw_sub(whole, spin)));
  }
}

void yw_frames_oriented_step(frames_body* body, const yw_step_ctx* ctx, float h) {
  const frames_model* model = body->model;
  // Where rotations began; no other use in position-based steps.
  yw_vec4* start = body->base;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    yw_vec3 spin = yw_scale(yw_xyz(body->spins[p]), h);
    const double way[3] = {(double)spin.x, (double)spin.y, (double)spin.z};
    start[p] = body->turns[p];
    body->turns[p] = packed(yw_turn_mul(yw_turn_exp(way), turn_at(body->turns, p)));
  }
  const frames_phase phase = {.body = body, .model = model};
  for (int32_t k = 0; k < body->params.sweeps; ++k) {
    yw_frames_run(ctx, model->region_chunks, match_chunk, &phase);
    yw_frames_run(ctx, model->particle_chunks, pull_chunk, &phase);
  }
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double way[3];
    yw_turn_log(yw_turn_mul(turn_at(body->turns, p), yw_turn_conjugate(turn_at(start, p))), way);
    for (int c = 0; c < 3; ++c) way[c] /= (double)h;
    body->spins[p] = yw_v4(yw_v3_of(way));
  }
}
