// SPDX-License-Identifier: MIT
// Weights as printed, for comparison: no normalisation anywhere, the gradient of velocity by (7)
// and forces by (11), which are not adjoint, volumes by (4) and (5). In SI units (7) carries a
// factor 0.3 h^2 / d^3, so that only spacings around 0.3 m deform by what moves; see
// docs/methods/plastic.md. What is corrected: (2) gets its mass, the gradient in (11) is taken at
// the master.
#include <math.h>
#include <string.h>

#include "plastic/phases.h"

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

// Row of a master: w r and w / sum w; the sum of w r in drag.
static void weigh_master(plastic_body* body, yw_vec4 x, int32_t m) {
  float h = body->model->spacing, total = 0.0f, slope;
  yw_vec3 drag = {0, 0, 0};
  for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
    yw_vec3 r = yw_sub(yw_xyz(body->slave_pos[body->column[e]]), yw_xyz(x));
    float w = kernel(yw_length(r), h, &slope);
    body->row[e] = yw_v4(yw_scale(r, w));
    body->row[e].w = w;
    drag = yw_mad(drag, w, r);
    total += w;
  }
  float inv = total > 0.0f ? 1.0f / total : 0.0f;
  for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) body->row[e].w *= inv;
  body->drag[m] = yw_v4(drag);
}

// What goes to slaves: gradient of w at the master, and w.
static void weigh_back(plastic_body* body, yw_vec4 x, int32_t m) {
  for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
    yw_vec3 r = yw_sub(yw_xyz(body->slave_pos[body->column[e]]), yw_xyz(x));
    float length = yw_length(r), slope, w = kernel(length, body->model->spacing, &slope);
    body->back_row[e] = yw_v4(yw_scale(r, length > 0.0f ? -slope / length : 0.0f));
    body->back_row[e].w = w;
  }
}

// (4), (5): once.
static void find_volumes(plastic_body* body, const yw_particles* particles) {
  float h = body->model->spacing;
  for (int32_t s = 0; s < body->num_slaves; ++s) body->slave_vel[s].w = 0.0f;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      body->slave_vel[body->column[e]].w += particles->mass[m] * body->back_row[e].w;
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
    memset(body->work[b].moment, 0, sizeof body->work[b].moment);
    memset(body->state[b].c, 0, sizeof body->state[b].c);
  }
  memset(body->needs, 0, (size_t)body->num_masters);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    weigh_master(body, particles->pos[m], m);
    weigh_back(body, particles->pos[m], m);
  }
  if (body->num_measured < body->num_masters) {
    find_volumes(body, particles);
    body->num_measured = body->num_masters;
  }
}
