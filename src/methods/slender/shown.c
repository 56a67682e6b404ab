// SPDX-License-Identifier: MIT
#include "methods/slender/shown.h"

#include <string.h>

#include "methods/slender/motion.h"

int32_t yw_slender_num_fields(const void* state) {
  (void)state;
  return 1;
}

yw_field_info yw_slender_field_info(const void* state, int32_t field) {
  (void)state;
  (void)field;
  return (yw_field_info){.name = "energy", .unit = "J/m^3"};
}

const char* yw_slender_field_meaning(const void* state, int32_t field) {
  (void)state;
  (void)field;
  return "elastic energy per volume at rest";
}

// Energy of one element of the model, from a copy with its own particle numbers.
static double model_energy(const slender_body* body, const yw_particles* particles, int32_t e) {
  const slender_model* model = body->model;
  const int32_t* corner = model->elements + (size_t)e * (size_t)model->corners;
  double x[9];
  yw_turn q[3];
  slender_pose pose = {x, q};
  for (int32_t c = 0; c < model->corners; ++c) {
    q[c] = body->turn[corner[c]];
    for (int k = 0; k < 3; ++k) {
      x[3 * c + k] = (double)(&particles->pos[corner[c]].x)[k] + body->low[3 * corner[c] + k];
    }
  }
  if (model->kind == SLENDER_ROD) {
    rod_pair pair = model->pairs[e];
    for (int32_t c = 0; c < 2; ++c) pair.particles[c] = c;
    return yw_rod_energy(&pair, &pose, NULL, NULL, SLENDER_EXACT);
  }
  sheet_triangle triangle = model->triangles[e];
  for (int32_t c = 0; c < 3; ++c) triangle.particles[c] = c;
  return yw_sheet_energy(&triangle, &pose, NULL, NULL, SLENDER_EXACT);
}

static double element_energy(const slender_body* body, const yw_particles* particles, int32_t e) {
  return model_energy(body, particles, e) * (double)body->params.stiffness_scale;
}

void yw_slender_field_values(const void* state, const yw_particles* particles, int32_t field,
                             float* out) {
  const slender_body* body = state;
  const slender_model* model = body->model;
  (void)field;
  memset(out, 0, (size_t)particles->count * sizeof *out);
  for (int32_t e = 0; e < model->num_elements; ++e) {
    float share = (float)(element_energy(body, particles, e) / model->corners);
    for (int32_t c = 0; c < model->corners; ++c) {
      out[model->elements[e * model->corners + c]] += share;
    }
  }
  for (int32_t p = 0; p < particles->count; ++p) out[p] *= model->density / model->mass[p];
}

double yw_slender_strain_energy(const void* state, const yw_particles* particles) {
  const slender_body* body = state;
  double sum = 0.0;
  for (int32_t e = 0; e < body->model->num_elements; ++e) sum += element_energy(body, particles, e);
  return sum;
}

void yw_slender_own_spin(const void* state, const yw_particles* particles, double out[3]) {
  const slender_body* body = state;
  out[0] = out[1] = out[2] = 0.0;
  for (int32_t p = 0; p < particles->count; ++p) {
    for (int k = 0; k < 3; ++k) out[k] += body->momentum[3 * p + k];
  }
}

yw_method_energy yw_slender_body_energy(const void* state, const yw_particles* particles) {
  const slender_body* body = state;
  yw_method_energy energy = {.elastic = yw_slender_strain_energy(state, particles)};
  // With examples, the weights change from step to step, so there is no fixed elastic energy.
  if (body->model->poses.count > 0) energy.elastic = NAN;
  for (int32_t p = 0; p < particles->count; ++p) {
    const double* momentum = body->momentum + 3 * p;
    double rate[3];
    yw_slender_rate_of(body->model, p, body->turn[p], momentum, rate);
    for (int k = 0; k < 3; ++k) energy.rotational += 0.5 * momentum[k] * rate[k];
  }
  return energy;
}

int32_t yw_slender_axes(const void* state, const yw_particles* particles, int32_t capacity,
                        yw_vec3* origins, yw_quat* turns) {
  const slender_body* body = state;
  const slender_model* model = body->model;
  int32_t stride = (particles->count + capacity - 1) / capacity, count = 0;
  for (int32_t p = 0; p < particles->count; p += stride, ++count) {
    yw_quat turn = yw_turn_to_quat(body->turn[p]);
    origins[count] = yw_xyz(particles->pos[p]);
    turns[count] = model->orientations ? yw_quat_mul(turn, model->orientations[p]) : turn;
  }
  return count;
}

void yw_slender_statistics_list(const void* state, const yw_particles* particles,
                                yw_statistics* out) {
  (void)particles;
  const slender_body* body = state;
  const slender_poses* poses = &body->model->poses;
  yw_statistics_add(out, "newton steps", "", body->newton);
  int32_t width = poses->count + 1;
  if (poses->count == 0 || (int64_t)poses->num_groups * width > YW_MAX_STATISTICS) return;
  for (int32_t g = 0; g < poses->num_groups; ++g) {
    yw_statistics_add_weights(out, g, poses->num_groups, body->weights + g * width, poses->count);
  }
}
