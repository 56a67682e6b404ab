// SPDX-License-Identifier: MIT
// Weights as printed, for comparison: without any normalisation, with the velocity gradient by (7)
// and forces by (11), which are not adjoint, and volumes by (4) and (5). In SI units (7) carries a
// factor 0.3 h^2 / d^3, so the deformation matches the motion only for spacings around 0.3 m; see
// docs/methods/plastic.md. Corrected: (2) gets its mass, and the gradient in (11) is taken at the
// master.
#include <math.h>
#include <string.h>

#include "methods/plastic/phases.h"

// w and dw/dr of (3).
static float kernel(float r, float h, float* slope) {
  float scale = 3.0f / (2.0f * 3.14159265f * h * h * h), q = r / h;
  if (q < 1.0f) {
    *slope = scale / h * (1.5f * q - 2.0f) * q;
    return scale * ((0.5f * q - 1.0f) * q * q + 2.0f / 3.0f);
  }
  float out = q < 2.0f ? 2.0f - q : 0.0f;
  *slope = -scale / h * 0.5f * out * out;
  return scale * out * out * out * (1.0f / 6.0f);
}

// Shares w / W of a master, with which G = w r; the sum of w r goes to drag. Forces: the gradient
// of w at the master is r times the other share; here and in G, a factor W is left out.
static void weigh_master(plastic_body* body, const yw_particles* particles, int32_t m) {
  plastic_work_block* work = &body->work[m / YW_LANES];
  yw_vec4 x = particles->pos[m], origin = body->origin[m / PLASTIC_CHUNK];
  const int32_t* column = body->column + body->row_start[m];
  int32_t count = body->row_start[m + 1] - body->row_start[m];
  float* share = body->share + 4 * (size_t)body->four_start[m];
  float* back = body->back_share + 4 * (size_t)body->four_start[m];
  float total = 0.0f, slope;
  yw_vec3 drag = {0, 0, 0};
  for (int32_t k = 0; k < count; ++k) {
    yw_vec3 r = yw_sub(yw_xyz(body->slave_pos[column[k]]), yw_xyz(x));
    float length = yw_length(r), w = kernel(length, body->model->spacing, &slope);
    share[k] = w;
    back[k] = length > 0.0f ? -slope / length : 0.0f;
    drag = yw_mad(drag, w, r);
    total += w;
  }
  float inv = total > 0.0f ? 1.0f / total : 0.0f;
  for (int32_t k = 0; k < count; ++k) share[k] *= inv, back[k] *= inv;
  body->drag[m] = yw_v4(drag);
  const float center[3] = {x.x - origin.x, x.y - origin.y, x.z - origin.z};
  for (int k = 0; k < 3; ++k) work->center[k][m % YW_LANES] = center[k];
  for (int k = 0; k < 6; ++k) work->inverse[k][m % YW_LANES] = k < 3 ? total : 0.0f;
}

// (4), (5): computed once.
static void find_volumes(plastic_body* body, const yw_particles* particles) {
  float h = body->model->spacing;
  for (int32_t s = 0; s < body->num_slaves; ++s) body->slave_vel[s].w = 0.0f;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    float mass = particles->mass[m] * body->work[m / YW_LANES].inverse[0][m % YW_LANES];
    const float* share = body->share + 4 * (size_t)body->four_start[m];
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      body->slave_vel[body->column[e]].w += mass * *share++;
    }
  }
  for (int32_t m = 0; m < body->num_masters; ++m) {
    float density = 0.0f, slope;
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      int32_t s = body->column[e];
      float r = yw_distance(yw_xyz(body->slave_pos[s]), yw_xyz(particles->pos[m]));
      density += h * h * h * body->slave_vel[s].w * kernel(r, h, &slope);
    }
    body->state[m / YW_LANES].volume[m % YW_LANES] = particles->mass[m] / fmaxf(density, 1e-20f);
  }
}

void yw_plastic_weigh_as_printed(plastic_body* body, const yw_particles* particles) {
  int32_t blocks = yw_plastic_chunks(body->num_masters, YW_LANES);
  for (int32_t b = 0; b < blocks; ++b) {
    memset(body->state[b].c, 0, sizeof body->state[b].c);
  }
  memset(body->needs, 0, (size_t)body->num_masters);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    if (m % PLASTIC_CHUNK == 0) {
      body->origin[m / PLASTIC_CHUNK] = yw_v4(yw_xyz(particles->pos[m]));
    }
    weigh_master(body, particles, m);
  }
  if (body->num_measured < body->num_masters) {
    find_volumes(body, particles);
    body->num_measured = body->num_masters;
  }
}
