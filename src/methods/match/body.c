// SPDX-License-Identifier: MIT
// Bodies of example-based shape matching: state, parameters and snapshots.
#include <string.h>

#include "methods/match/axes.h"
#include "methods/match/body.h"
#include "methods/match/match.h"
#include "methods/match/offload.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

void yw_match_body_destroy(void* state, yw_particles* particles) {
  match_body* body = state;
  if (!body) return;
  yw_allocator mem = body->mem;
  void* const arrays[] = {body->rotations,      body->targets,      body->spare_pos,   body->sums,
                          body->products,       body->weights,      body->aims,        body->pulls,
                          body->group_products, body->group_pieces, body->group_counts};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_near_free(&body->near);
  yw_match_detach(body);
  yw_mem_free(&mem, body);
  yw_particles_free(&mem, particles);
}

static bool allocate(match_body* body) {
  const match_model* model = body->model;
  const yw_allocator* mem = &body->mem;
  size_t blocks = (size_t)model->num_blocks, n = (size_t)model->num_examples;
  size_t groups = (size_t)model->num_groups;
  body->rotations = YW_NEW_ARRAY(mem, yw_quatx16, blocks);
  // The last row is followed by a row of zeros.
  body->targets = YW_NEW_ARRAY(mem, float, (blocks * YW_LANES + 1) * MATCH_ROW);
  body->spare_pos = YW_NEW_ARRAY(mem, yw_vec4, blocks * YW_LANES);
  body->sums = YW_NEW_ARRAY(mem, match_sums, model->num_chunks);
  body->weights = YW_NEW_ARRAY(mem, float, groups*(n + 1));
  body->aims = YW_NEW_ARRAY(mem, float, groups*(n + 1));
  if (!yw_near_create(mem, model->num_particles, &body->near)) return false;
  if (!body->rotations || !body->targets || !body->spare_pos || !body->sums || !body->weights ||
      !body->aims) {
    return false;
  }
  if (model->num_shares == 0) return true;
  body->products = YW_NEW_ARRAY(mem, float, (size_t)model->num_shares* n* YW_LANES);
  body->pulls = YW_NEW_ARRAY(mem, float, groups* n);
  body->group_products = YW_NEW_ARRAY(mem, double, groups* n);
  body->group_pieces = YW_NEW_ARRAY(mem, double, groups* n);
  body->group_counts = YW_NEW_ARRAY(mem, int32_t, groups);
  return body->products && body->pulls && body->group_products && body->group_pieces &&
         body->group_counts;
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
  yw_solid_put_at_rest(&model->solid, particles);
  yw_aims_clear(body->aims, model->num_groups, model->num_examples);
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
  yw_match_resend(body);
  yw_near_forget(&body->near);
  body->axes = yw_match_axes_of(model, particles);
  body->torque = (yw_vec3){0, 0, 0};
  for (int32_t b = 0; b < model->num_blocks; ++b) {
    for (int k = 0; k < 4; ++k) {
      for (int l = 0; l < YW_LANES; ++l) body->rotations[b].m[k][l] = k == 3 ? 1.0f : 0.0f;
    }
  }
}

// Parameters, statistics, weights -----------------------------------------------------------------

yw_status yw_match_set_params(void* state, const yw_match_params* params) {
  yw_status status = yw_match_params_check(params, NULL);
  if (status >= 0) ((match_body*)state)->params = *params;
  return status;
}

yw_match_params yw_match_params_of(const void* state) { return ((const match_body*)state)->params; }

void yw_match_statistics_of(const void* state, yw_match_statistics* out) {
  const match_model* model = ((const match_body*)state)->model;
  *out = (yw_match_statistics){.num_regions = model->num_particles,
                               .num_groups = model->num_groups,
                               .num_examples = model->num_examples};
}

int32_t yw_match_weights(const void* state, float* out, int32_t capacity) {
  const match_body* body = state;
  const match_model* model = body->model;
  int32_t width = model->num_examples + 1;
  bool single = model->grouping == YW_GROUPS_PER_REGION;
  if (single) yw_match_bring_rest(body);
  for (int32_t g = 0; out && g < model->num_groups; ++g) {
    const float* row =
        body->weights + (size_t)(single ? model->solid.particle_of_vertex[g] : g) * (size_t)width;
    for (int32_t k = 0; k < width && (int64_t)g * width + k < capacity; ++k) {
      out[(size_t)g * (size_t)width + (size_t)k] = row[k];
    }
  }
  return model->num_groups;
}

yw_status yw_match_set_weights(void* state, int32_t group, const float* weights, float share) {
  match_body* body = state;
  const match_model* model = body->model;
  // Regions that choose on their own are too many to be told.
  if (model->grouping == YW_GROUPS_PER_REGION ||
      !yw_aims_give(body->aims, model->num_groups, model->num_examples, group, weights, share)) {
    return YW_ERR_INVALID;
  }
  body->aims_by_hand = weights || (body->aims_by_hand && group >= 0);
  return YW_OK;
}

// Lists the mean over all groups when there are too many to list one by one.
void yw_match_statistics_list(const void* state, const yw_particles* particles,
                              yw_statistics* out) {
  const match_body* body = state;
  const match_model* model = body->model;
  (void)particles;
  int32_t width = model->num_examples + 1;
  if (model->num_examples == 0) return;
  if ((int64_t)model->num_groups * width <= YW_MAX_STATISTICS) {
    for (int32_t g = 0; g < model->num_groups; ++g) {
      const float* row = body->weights + (size_t)g * (size_t)width;
      yw_statistics_add_weights(out, g, model->num_groups, row, model->num_examples);
    }
    return;
  }
  float mean[1 + YW_MAX_EXAMPLES];
  yw_match_bring_rest(body);
  for (int32_t k = 0; k < width; ++k) {
    double sum = 0.0;
    for (int32_t g = 0; g < model->num_groups; ++g) {
      sum += (double)body->weights[(size_t)g * (size_t)width + (size_t)k];
    }
    mean[k] = (float)(sum / model->num_groups);
  }
  yw_statistics_add_weights(out, 0, 1, mean, model->num_examples);
}

// Snapshots ---------------------------------------------------------------------------------------

// Flags beside the projection: weights that the caller gave follow; targets as printed.
#define BY_HAND 256u
#define PAPER_TARGET 512u

static size_t num_weights(const match_model* model) {
  return (size_t)model->num_groups * (size_t)(model->num_examples + 1);
}

void yw_match_save(const void* state, yw_writer* writer) {
  const match_body* body = state;
  const match_model* model = body->model;
  yw_match_bring_rest(body);
  const match_axes* f = &body->axes;
  const float numbers[] = {body->params.alpha,
                           body->params.beta,
                           body->params.damping,
                           body->params.viscosity,
                           body->params.stiffness,
                           body->torque.x,
                           body->torque.y,
                           body->torque.z,
                           f->rotation.x,
                           f->rotation.y,
                           f->rotation.z,
                           f->rotation.w,
                           f->center.x,
                           f->center.y,
                           f->center.z,
                           f->velocity.x,
                           f->velocity.y,
                           f->velocity.z,
                           f->spin.x,
                           f->spin.y,
                           f->spin.z};
  uint32_t kind = (uint32_t)body->params.projection | (body->aims_by_hand ? BY_HAND : 0u);
  yw_write_u32(writer, kind | (body->params.target == YW_TARGET_PAPER ? PAPER_TARGET : 0u));
  yw_write_f32(writer, numbers, sizeof numbers / sizeof numbers[0]);
  yw_write_f32(writer, body->rotations[0].m[0], (size_t)model->num_blocks * 4 * YW_LANES);
  yw_write_f32(writer, body->weights, num_weights(model));
  yw_near_save(&body->near, writer);
  if (body->aims_by_hand) yw_write_f32(writer, body->aims, num_weights(model));
}

// True for unit quaternions; any other length would scale the body.
static bool is_rotation(float x, float y, float z, float w) {
  return fabsf(x * x + y * y + z * z + w * w - 1.0f) < 1e-2f;
}

static bool state_is_sound(const match_body* body) {
  const match_axes* f = &body->axes;
  yw_quat q = f->rotation;
  bool sound =
      yw_is_finite3(f->center) && yw_is_finite3(body->torque) && is_rotation(q.x, q.y, q.z, q.w);
  for (int32_t b = 0; b < body->model->num_blocks; ++b) {
    const yw_quatx16* r = &body->rotations[b];
    for (int l = 0; l < YW_LANES; ++l) {
      sound = sound && is_rotation(r->m[0][l], r->m[1][l], r->m[2][l], r->m[3][l]);
    }
  }
  for (size_t i = 0; i < num_weights(body->model); ++i) {
    sound = sound && isfinite(body->weights[i]);
  }
  return sound;
}

void yw_match_load(void* state, yw_reader* reader) {
  match_body* body = state;
  const match_model* model = body->model;
  float n[21];
  yw_match_resend(body);
  uint32_t kind = yw_read_u32(reader);
  yw_match_params params = {.projection = (yw_projection)(kind & ~(BY_HAND | PAPER_TARGET)),
                            .target = kind & PAPER_TARGET ? YW_TARGET_PAPER : YW_TARGET_FREE};
  yw_read_f32(reader, n, 21);
  params.alpha = n[0];
  params.beta = n[1];
  params.damping = n[2];
  params.viscosity = n[3];
  params.stiffness = n[4];
  if (reader->failed || yw_match_params_check(&params, NULL) < 0) {
    reader->failed = true;
    return;
  }
  body->params = params;
  body->torque = (yw_vec3){n[5], n[6], n[7]};
  body->axes = (match_axes){{n[8], n[9], n[10], n[11]},
                            {n[12], n[13], n[14]},
                            {n[15], n[16], n[17]},
                            {n[18], n[19], n[20]}};
  yw_read_f32(reader, body->rotations[0].m[0], (size_t)model->num_blocks * 4 * YW_LANES);
  yw_read_f32(reader, body->weights, num_weights(model));
  yw_near_load(&body->near, reader);
  // Tracks give theirs again after this.
  body->aims_by_hand = (kind & BY_HAND) != 0;
  yw_aims_clear(body->aims, model->num_groups, model->num_examples);
  if (body->aims_by_hand) yw_read_f32(reader, body->aims, num_weights(model));
  if (!state_is_sound(body) || !yw_aims_are_sound(body->aims, num_weights(model))) {
    reader->failed = true;
  }
}
