// SPDX-License-Identifier: MIT
#include "methods/frames/shown.h"

#include <string.h>

#include "math/small/mat3d.h"
#include "math/small/turn.h"
#include "methods/frames/step.h"

static const yw_field_info fields[] = {{"stress", "Pa", false}, {"energy", "J/m^3", false}};

int32_t yw_frames_num_fields(const void* state) {
  (void)state;
  return 2;
}

yw_field_info yw_frames_field_info(const void* state, int32_t field) {
  (void)state;
  return fields[field];
}

const char* yw_frames_field_meaning(const void* state, int32_t field) {
  (void)state;
  return field == 0 ? "von Mises stress (Cauchy)" : "elastic energy per volume at rest";
}

// A = sum (x - x_0) g^T of a region.
static void region_map(const frames_model* model, const yw_particles* particles, int32_t r,
                       double a[9]) {
  const frames_member* origin = &model->members[model->member_start[r]];
  memset(a, 0, 9 * sizeof *a);
  for (int32_t e = model->member_start[r]; e < model->member_start[r + 1]; ++e) {
    const frames_member* m = &model->members[e];
    yw_vec3 d =
        yw_sub(yw_xyz(particles->pos[m->particle]), yw_xyz(particles->pos[origin->particle]));
    for (int k = 0; k < 9; ++k) a[k] += (double)(&d.x)[k / 3] * (double)m->g[k % 3];
  }
}

// Stretch minus 1 of a region, from A = R S.
static void strain_of(const double a[9], double strain[6]) {
  double turn[9];
  yw_m3_polar(a, turn, strain);
  for (int k = 0; k < 3; ++k) strain[k] -= 1.0;
}

// Sum of the squares of all nine entries of a symmetric matrix.
static double square_of(const double s[6]) {
  return s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 2.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]);
}

// Von Mises norm of the Cauchy stress T U / det U, where U is the stretch and T = 2 mu (U - 1) +
// lambda tr(U - 1) the stress per area at rest. Both have the same axes, so the product is
// symmetric.
static double cauchy_norm(double mu2, double lambda, const double strain[6]) {
  double trace = strain[0] + strain[1] + strain[2], stress[6], stretch[6], t[9], u[9], product[9];
  for (int k = 0; k < 6; ++k) {
    stress[k] = mu2 * strain[k] + (k < 3 ? lambda * trace : 0.0);
    stretch[k] = strain[k] + (k < 3 ? 1.0 : 0.0);
  }
  yw_m3_of_sym(stress, t);
  yw_m3_of_sym(stretch, u);
  yw_m3_mul(t, u, product);
  const double* v = product;
  double volume = u[0] * (u[4] * u[8] - u[5] * u[7]) - u[1] * (u[3] * u[8] - u[5] * u[6]) +
                  u[2] * (u[3] * u[7] - u[4] * u[6]);
  double mean = (v[0] + v[4] + v[8]) / 3.0;
  const double deviator[6] = {v[0] - mean, v[4] - mean, v[8] - mean, v[1], v[2], v[5]};
  return sqrt(1.5 * square_of(deviator)) / fmax(fabs(volume), 1e-6);
}

// Value of the quantity times the region's volume: J.
static double region_value(const frames_model* model, int32_t r, const double s[6], int32_t field) {
  const frames_region_block* block = &model->blocks[r / YW_LANES];
  double mu2 = (double)block->mu2[r % YW_LANES], lambda = (double)block->lambda[r % YW_LANES];
  if (field == 0) return cauchy_norm(mu2, lambda, s);
  double trace = s[0] + s[1] + s[2];
  return 0.5 * mu2 * square_of(s) + 0.5 * lambda * trace * trace;
}

void yw_frames_field_values(const void* state, const yw_particles* particles, int32_t field,
                            float* out) {
  const frames_body* body = state;
  const frames_model* model = body->model;
  memset(out, 0, (size_t)particles->count * sizeof *out);
  for (int32_t r = 0; r < model->num_regions; ++r) {
    double a[9], strain[6];
    region_map(model, particles, r, a);
    strain_of(a, strain);
    float value = body->params.stiffness_scale * (float)region_value(model, r, strain, field);
    for (int32_t e = model->member_start[r]; e < model->member_start[r + 1]; ++e) {
      out[model->members[e].particle] += value;
    }
  }
  for (int32_t p = 0; p < particles->count; ++p) {
    float volume = 0.0f;
    for (int32_t i = model->holder_start[p]; i < model->holder_start[p + 1]; ++i) {
      volume += model->volume[model->holder_region[i]];
    }
    if (volume > 0.0f) out[p] /= volume;
  }
}

// Point to which the springs of a region are attached: centre of a cell, vertex of a ring.
static void region_center(const frames_model* model, const yw_particles* particles, int32_t r,
                          double t[3]) {
  int32_t begin = model->member_start[r], end = model->member_start[r + 1];
  if (model->kind == YW_FRAMES_RINGS) end = begin + 1;
  t[0] = t[1] = t[2] = 0.0;
  for (int32_t e = begin; e < end; ++e) {
    const float* x = &particles->pos[model->members[e].particle].x;
    for (int i = 0; i < 3; ++i) t[i] += (double)x[i] / (end - begin);
  }
}

int32_t yw_frames_axes(const void* state, const yw_particles* particles, int32_t capacity,
                       yw_vec3* origins, yw_quat* turns) {
  const frames_model* model = ((const frames_body*)state)->model;
  int32_t stride = (model->num_regions + capacity - 1) / capacity, count = 0;
  for (int32_t r = 0; r < model->num_regions; r += stride, ++count) {
    double a[9], rotation[9], strain[6], t[3];
    region_map(model, particles, r, a);
    yw_m3_polar(a, rotation, strain);
    region_center(model, particles, r, t);
    origins[count] = yw_v3((float)t[0], (float)t[1], (float)t[2]);
    turns[count] = yw_turn_to_quat(yw_turn_from_matrix(rotation));
  }
  return count;
}

// Energy of all springs, minus the part due to the affine motion of their region (energy.c).
static double spring_energy(const frames_model* model, const yw_particles* particles) {
  double sum = 0.0;
  for (int32_t p = 0; p < particles->count; ++p) {
    for (int32_t i = model->holder_start[p]; i < model->holder_start[p + 1]; ++i) {
      double t[3], length2 = 0.0;
      region_center(model, particles, model->holder_region[i], t);
      for (int k = 0; k < 3; ++k) {
        double d = (double)(&particles->pos[p].x)[k] - t[k];
        length2 += d * d;
      }
      sum += (double)model->holders[i].k * length2;
    }
  }
  return model->spring_share * sum;
}

static double mean_spring_energy(const frames_model* model, int32_t r, const double a[9]) {
  double n[6], nm[9], an[9];
  for (int k = 0; k < 6; ++k) n[k] = (double)model->blocks[r / YW_LANES].n[k][r % YW_LANES];
  yw_m3_of_sym(n, nm);
  yw_m3_mul(a, nm, an);
  return 0.5 * yw_m3_dot(a, an);
}

double yw_frames_strain_energy(const void* state, const yw_particles* particles) {
  const frames_body* body = state;
  const frames_model* model = body->model;
  double sum = spring_energy(model, particles);
  for (int32_t r = 0; r < model->num_regions; ++r) {
    double a[9], strain[6];
    region_map(model, particles, r, a);
    strain_of(a, strain);
    sum += region_value(model, r, strain, 1) - mean_spring_energy(model, r, a);
  }
  return sum * (double)body->params.stiffness_scale;
}

yw_method_energy yw_frames_body_energy(const void* state, const yw_particles* particles) {
  // With examples, the weights change from step to step, so there is no fixed elastic energy.
  bool fixed = ((const frames_body*)state)->model->num_examples == 0;
  return (yw_method_energy){.elastic = fixed ? yw_frames_strain_energy(state, particles) : NAN};
}

void yw_frames_statistics_list(const void* state, const yw_particles* particles,
                               yw_statistics* out) {
  const frames_body* body = state;
  (void)particles;
  yw_statistics_add(out, "newton steps", "", body->newton);
  yw_statistics_add(out, "iterations", "", body->iterations);
  const frames_model* model = body->model;
  int32_t width = model->num_examples + 1;
  if (model->num_examples == 0 || (int64_t)model->num_groups * width > YW_MAX_STATISTICS - 2)
    return;
  for (int32_t g = 0; g < model->num_groups; ++g) {
    yw_statistics_add_weights(out, g, model->num_groups, body->weights + (size_t)g * (size_t)width,
                              model->num_examples);
  }
}
