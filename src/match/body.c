// SPDX-License-Identifier: MIT
// Bodies of example-based shape matching: their state, its parameters, and snapshots of it.
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "match/body.h"
#include "match/match.h"

void yw_match_body_destroy(void* state, yw_particles* particles) {
  match_body* body = state;
  if (!body) return;
  yw_allocator mem = body->mem;
  void* const arrays[] = {body->rotations, body->targets, body->spare_pos, body->sums,
                          body->products,  body->weights, body->pulls,     body->group_products};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_mem_free(&mem, body);
  yw_particles_free(&mem, particles);
}

static bool allocate(match_body* body) {
  const match_model* model = body->model;
  const yw_allocator* mem = &body->mem;
  size_t blocks = (size_t)model->num_blocks, n = (size_t)model->num_examples;
  size_t groups = (size_t)model->num_groups;
  body->rotations = YW_NEW_ARRAY(mem, yw_quatx16, blocks);
  // One row of zeros stands behind the last one.
  body->targets = YW_NEW_ARRAY(mem, float, (blocks * YW_LANES + 1) * MATCH_ROW);
  body->spare_pos = YW_NEW_ARRAY(mem, yw_vec4, blocks * YW_LANES);
  body->sums = YW_NEW_ARRAY(mem, match_sums, model->num_chunks);
  body->weights = YW_NEW_ARRAY(mem, float, groups*(n + 1));
  if (!body->rotations || !body->targets || !body->spare_pos || !body->sums || !body->weights) {
    return false;
  }
  if (model->num_shares == 0) return true;
  body->products = YW_NEW_ARRAY(mem, float, (size_t)model->num_shares* n* YW_LANES);
  body->pulls = YW_NEW_ARRAY(mem, float, groups* n);
  body->group_products = YW_NEW_ARRAY(mem, double, groups* n);
  return body->products && body->pulls && body->group_products;
}

yw_status yw_match_body_create(const void* model_pointer, const yw_allocator* mem, void** state,
                               yw_particles* particles, yw_error* error) {
  const match_model* model = model_pointer;
  *state = NULL;
  *particles = (yw_particles){0};
  match_body* body = YW_NEW(mem, match_body);
  if (!body) return yw_fail_memory(error, "a match body");
  body->model = model;
  body->mem = yw_mem_or_default(mem);
  body->params = model->params;
  if (!allocate(body) || !yw_particles_create(mem, model->num_particles, particles)) {
    yw_match_body_destroy(body, particles);
    return yw_fail_memory(error, "a match body");
  }
  for (int32_t p = 0; p < model->num_particles; ++p) {
    particles->pos[p] = yw_v4(model->rest_positions[p]);
    particles->mass[p] = model->mass[p];
    particles->inv_mass[p] = 1.0f / model->mass[p];
  }
  // At rest every group is in the rest pose.
  for (int32_t g = 0; g < model->num_groups; ++g) {
    body->weights[(size_t)g * (size_t)(model->num_examples + 1)] = 1.0f;
  }
  yw_match_invalidate(body, particles);
  *state = body;
  return YW_OK;
}

void yw_match_invalidate(void* state, const yw_particles* particles) {
  match_body* body = state;
  const match_model* model = body->model;
  double center[3] = {0}, a[3][3] = {{0}};
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double m = (double)model->mass[p] / model->total_mass;
    center[0] += m * (double)particles->pos[p].x;
    center[1] += m * (double)particles->pos[p].y;
    center[2] += m * (double)particles->pos[p].z;
  }
  double extent = 0.0;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double m = (double)model->mass[p] / model->total_mass;
    const double x[3] = {(double)particles->pos[p].x - center[0],
                         (double)particles->pos[p].y - center[1],
                         (double)particles->pos[p].z - center[2]};
    const double x0[3] = {(double)model->rest[p].x, (double)model->rest[p].y,
                          (double)model->rest[p].z};
    for (int i = 0; i < 3; ++i) {
      extent += m * x0[i] * x0[i];
      for (int j = 0; j < 3; ++j) a[i][j] += m * x[i] * x0[j];
    }
  }
  yw_mat3 map, rotation, stretch;
  double scale = 1.0 / extent;
  map.cx = yw_v3((float)(scale * a[0][0]), (float)(scale * a[1][0]), (float)(scale * a[2][0]));
  map.cy = yw_v3((float)(scale * a[0][1]), (float)(scale * a[1][1]), (float)(scale * a[2][1]));
  map.cz = yw_v3((float)(scale * a[0][2]), (float)(scale * a[1][2]), (float)(scale * a[2][2]));
  bool finite = yw_is_finite3(map.cx) && yw_is_finite3(map.cy) && yw_is_finite3(map.cz);
  body->frame = (match_frame){.rotation = {0, 0, 0, 1}};
  if (finite) {
    yw_polar(&map, &rotation, &stretch);
    body->frame.rotation = yw_quat_from_mat3(&rotation);
    body->frame.center = yw_v3((float)center[0], (float)center[1], (float)center[2]);
  }
  for (int32_t b = 0; b < model->num_blocks; ++b) {
    for (int k = 0; k < 4; ++k) {
      for (int l = 0; l < YW_LANES; ++l) body->rotations[b].m[k][l] = k == 3 ? 1.0f : 0.0f;
    }
  }
}

// Parameters and weights --------------------------------------------------------------------------

yw_status yw_match_set_params(void* state, const yw_match_params* params) {
  yw_status status = yw_match_params_check(params, NULL);
  if (status >= 0) ((match_body*)state)->params = *params;
  return status;
}

yw_match_params yw_match_params_of(const void* state) { return ((const match_body*)state)->params; }

int32_t yw_match_weights(const void* state, float* out, int32_t capacity) {
  const match_body* body = state;
  const match_model* model = body->model;
  int32_t width = model->num_examples + 1;
  bool single = model->grouping == YW_GROUPS_PER_REGION;
  for (int32_t g = 0; out && g < model->num_groups; ++g) {
    const float* row =
        body->weights + (size_t)(single ? model->particle_of_vertex[g] : g) * (size_t)width;
    for (int32_t k = 0; k < width && (int64_t)g * width + k < capacity; ++k) {
      out[(size_t)g * (size_t)width + (size_t)k] = row[k];
    }
  }
  return model->num_groups;
}

// Snapshots ---------------------------------------------------------------------------------------

static size_t num_weights(const match_model* model) {
  return (size_t)model->num_groups * (size_t)(model->num_examples + 1);
}

void yw_match_save(const void* state, yw_writer* writer) {
  const match_body* body = state;
  const match_model* model = body->model;
  const match_frame* f = &body->frame;
  const float numbers[10] = {
      body->params.alpha, body->params.beta, body->params.damping, f->rotation.x, f->rotation.y,
      f->rotation.z,      f->rotation.w,     f->center.x,          f->center.y,   f->center.z};
  yw_write_u32(writer, (uint32_t)body->params.projection);
  yw_write_f32(writer, numbers, 10);
  yw_write_f32(writer, body->rotations[0].m[0], (size_t)model->num_blocks * 4 * YW_LANES);
  yw_write_f32(writer, body->weights, num_weights(model));
}

void yw_match_load(void* state, yw_reader* reader) {
  match_body* body = state;
  const match_model* model = body->model;
  float n[10];
  yw_match_params params = {.projection = (yw_projection)yw_read_u32(reader)};
  yw_read_f32(reader, n, 10);
  params.alpha = n[0];
  params.beta = n[1];
  params.damping = n[2];
  if (reader->failed || yw_match_params_check(&params, NULL) < 0) {
    reader->failed = true;
    return;
  }
  body->params = params;
  body->frame = (match_frame){{n[3], n[4], n[5], n[6]}, {n[7], n[8], n[9]}};
  yw_read_f32(reader, body->rotations[0].m[0], (size_t)model->num_blocks * 4 * YW_LANES);
  yw_read_f32(reader, body->weights, num_weights(model));
}
