// SPDX-License-Identifier: MIT
// Frames bodies: state, parameters and snapshots.
#include "methods/frames/body.h"

#include <math.h>
#include <string.h>

#include "methods/frames/frames.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

void yw_frames_body_destroy(void* state, yw_particles* particles) {
  frames_body* body = state;
  if (!body) return;
  yw_allocator mem = body->mem;
  void* const arrays[] = {
      body->rotations,      body->tangents,    body->rows,      body->sums,     body->base,
      body->drift,          body->anchor,      body->guess,     body->step,     body->moved,
      body->residual,       body->conditioned, body->direction, body->product,  body->diagonal,
      body->inverse,        body->last_pos,    body->last_vel,  body->left_vel, body->touched,
      body->work,           body->bent,        body->products,  body->duals,    body->recovered,
      body->grips,          body->weights,     body->aims,      body->pulls,    body->sweep_pulls,
      body->group_products, body->turns,       body->spins,     body->balls};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_frames_coarse_solver_free(&mem, &body->coarse);
  yw_near_free(&body->near);
  yw_mem_free(&mem, body);
  yw_particles_free(&mem, particles);
}

static size_t num_weights(const frames_model* model) {
  return (size_t)model->num_groups * (size_t)(model->num_examples + 1);
}

static bool allocate_weights(frames_body* body) {
  const frames_model* model = body->model;
  const yw_allocator* mem = &body->mem;
  size_t n = (size_t)model->num_examples, lanes = (size_t)model->num_blocks * YW_LANES;
  body->products = YW_NEW_ARRAY(mem, float, n* lanes);
  body->pulls = YW_NEW_ARRAY(mem, float, n* lanes);
  body->sweep_pulls = YW_NEW_ARRAY(mem, float, n*(size_t)model->sweeps.num_blocks* YW_LANES);
  body->weights = YW_NEW_ARRAY(mem, float, num_weights(model));
  body->aims = YW_NEW_ARRAY(mem, float, num_weights(model));
  body->group_products = YW_NEW_ARRAY(mem, double, num_weights(model));
  if (!body->aims) return false;
  yw_aims_clear(body->aims, model->num_groups, model->num_examples);
  return body->products && body->pulls && body->sweep_pulls && body->weights &&
         body->group_products;
}

// Room for orientations is there whatever the solver: it may change between steps.
static bool allocate_turns(frames_body* body) {
  size_t n = (size_t)body->model->num_particles;
  body->turns = YW_NEW_ARRAY(&body->mem, yw_vec4, n);
  body->spins = YW_NEW_ARRAY(&body->mem, yw_vec4, n);
  body->balls = YW_NEW_ARRAY(&body->mem, float, n);
  if (body->balls) yw_frames_balls(body->model, body->balls);
  return body->turns && body->spins && body->balls;
}

static bool allocate(frames_body* body) {
  const frames_model* model = body->model;
  const yw_allocator* mem = &body->mem;
  size_t n = (size_t)model->num_particles;
  int32_t chunks =
      model->particle_chunks > model->region_chunks ? model->particle_chunks : model->region_chunks;
  yw_vec4** const vectors[] = {
      &body->base,     &body->drift,    &body->anchor,      &body->guess,     &body->step,
      &body->moved,    &body->residual, &body->conditioned, &body->direction, &body->product,
      &body->last_pos, &body->last_vel, &body->left_vel};
  bool good = yw_near_create(mem, model->num_particles, &body->near);
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = YW_NEW_ARRAY(mem, yw_vec4, n);
    good = good && *vectors[i];
  }
  body->rotations = YW_NEW_ARRAY(mem, yw_quatx16, model->num_blocks);
  body->tangents = YW_NEW_ARRAY(mem, frames_tangent_block, model->num_blocks);
  body->rows = YW_NEW_ARRAY(mem, float, (size_t)model->num_regions* FRAMES_ROW);
  body->sums = YW_NEW_ARRAY(mem, frames_sums, chunks);
  body->work = YW_NEW_ARRAY(mem, yw_vec4, n);
  body->duals = YW_NEW_ARRAY(mem, frames_dual_block, model->sweeps.num_blocks);
  body->recovered = YW_NEW_ARRAY(mem, int32_t, model->sweeps.num_blocks);
  body->touched = YW_NEW_ARRAY(mem, bool, n);
  body->grips = YW_NEW_ARRAY(mem, frames_grip, n);
  body->diagonal = YW_NEW_ARRAY(mem, float, n);
  body->inverse = YW_NEW_ARRAY(mem, float, n);
  if (model->num_examples > 0) {
    body->bent = YW_NEW_ARRAY(mem, frames_example_block, model->num_blocks);
    good = good && body->bent && allocate_weights(body);
  }
  return good && body->rotations && body->tangents && body->rows && body->sums && body->diagonal &&
         body->inverse && body->grips && allocate_turns(body);
}

yw_status yw_frames_body_create(const void* model_pointer, const yw_allocator* mem, void** state,
                                yw_particles* particles, yw_error* error) {
  const frames_model* model = model_pointer;
  *state = NULL;
  *particles = (yw_particles){0};
  frames_body* body = YW_NEW(mem, frames_body);
  if (!body) return yw_fail_memory(error, "a frames body");
  body->model = model;
  body->mem = yw_mem_or_default(mem);
  body->params = model->params;
  if (!allocate(body) || !yw_particles_create(mem, model->num_particles, particles)) {
    yw_frames_body_destroy(body, particles);
    return yw_fail_memory(error, "a frames body");
  }
  yw_status status = yw_frames_coarse_solver_create(
      mem, &model->coarse, yw_simd_resolve(YW_SIMD_AUTO), &body->coarse, error);
  if (status < 0) {
    yw_frames_body_destroy(body, particles);
    return status;
  }
  yw_solid_put_at_rest(&model->solid, particles);
  yw_frames_invalidate(body, particles);
  *state = body;
  return YW_OK;
}

// The best-fitting rotation of the whole body: initial guess for the regions.
static yw_quat fit_rotation(const frames_model* model, const yw_particles* particles) {
  double x[3] = {0}, x0[3] = {0}, a[9] = {0}, largest = 0.0;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double m = (double)model->solid.mass[p] / model->total_mass;
    const float *now = &particles->pos[p].x, *rest = &model->solid.rest_positions[p].x;
    for (int i = 0; i < 3; ++i) x[i] += m * (double)now[i], x0[i] += m * (double)rest[i];
  }
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double m = (double)model->solid.mass[p] / model->total_mass;
    const float *now = &particles->pos[p].x, *rest = &model->solid.rest_positions[p].x;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        a[3 * i + j] += m * ((double)now[i] - x[i]) * ((double)rest[j] - x0[j]);
      }
    }
  }
  for (int i = 0; i < 9; ++i) largest = fmax(largest, fabs(a[i]));
  if (!(largest > 0.0) || !isfinite(largest)) return (yw_quat){0, 0, 0, 1};
  for (int i = 0; i < 9; ++i) a[i] /= largest;
  yw_mat3 map = {{(float)a[0], (float)a[3], (float)a[6]},
                 {(float)a[1], (float)a[4], (float)a[7]},
                 {(float)a[2], (float)a[5], (float)a[8]}};
  yw_mat3 rotation, stretch;
  yw_polar(&map, &rotation, &stretch);
  return yw_quat_from_mat3(&rotation);
}

void yw_frames_invalidate(void* state, const yw_particles* particles) {
  frames_body* body = state;
  yw_quat q = fit_rotation(body->model, particles);
  const float parts[4] = {q.x, q.y, q.z, q.w};
  for (int32_t b = 0; b < body->model->num_blocks; ++b) {
    for (int k = 0; k < 4; ++k) {
      for (int l = 0; l < YW_LANES; ++l) body->rotations[b].m[k][l] = parts[k];
    }
  }
  const frames_model* model = body->model;
  for (size_t i = 0; model->num_examples > 0 && i < num_weights(model); ++i) {
    body->weights[i] = i % (size_t)(model->num_examples + 1) == 0 ? 1.0f : 0.0f;
  }
  body->last_h = body->h1 = 0.0f;
  body->in_contact = false;
  body->has_turns = false;
}

// Impulses from outside. The history of the second-order formula gets them too, as if the body had
// always been that fast: otherwise the formula would extrapolate the change and add half of it.
void yw_frames_push(void* state, yw_particles* particles, const yw_vec4* impulses) {
  frames_body* body = state;
  for (int32_t p = 0; p < particles->count; ++p) {
    yw_vec3 change = yw_scale(yw_xyz(impulses[p]), particles->inv_mass[p]);
    particles->vel[p] = yw_v4(yw_add(yw_xyz(particles->vel[p]), change));
    body->last_vel[p] = yw_v4(yw_add(yw_xyz(body->last_vel[p]), change));
    body->left_vel[p] = yw_v4(yw_add(yw_xyz(body->left_vel[p]), change));
    body->last_pos[p] = yw_v4(yw_mad(yw_xyz(body->last_pos[p]), -body->last_h, change));
  }
}

// Parameters --------------------------------------------------------------------------------------

yw_status yw_frames_set_params(void* state, const yw_frames_params* params) {
  frames_body* body = state;
  yw_status status = yw_frames_params_check(params, body->model->num_examples, NULL);
  if (status < 0) return status;
  if (params->solver != YW_FRAMES_ORIENTED) body->has_turns = false;
  body->params = *params;
  return status;
}

yw_frames_params yw_frames_params_of(const void* state) {
  return ((const frames_body*)state)->params;
}

void yw_frames_statistics_of(const void* state, yw_frames_statistics* out) {
  const frames_body* body = state;
  *out = (yw_frames_statistics){.num_regions = body->model->num_regions,
                                .num_examples = body->model->num_examples,
                                .newton_steps = body->newton,
                                .iterations = body->iterations};
}

int32_t yw_frames_weights(const void* state, float* out, int32_t capacity) {
  const frames_body* body = state;
  int32_t count = (int32_t)num_weights(body->model);
  for (int32_t k = 0; out && k < count && k < capacity; ++k) {
    out[k] = body->model->num_examples > 0 ? body->weights[k] : 1.0f;
  }
  return count;
}

yw_status yw_frames_set_weights(void* state, int32_t group, const float* weights, float share) {
  frames_body* body = state;
  const frames_model* model = body->model;
  // Regions that choose on their own are too many to be told.
  if (model->num_examples == 0 || model->grouping == YW_GROUPS_PER_REGION ||
      !yw_aims_give(body->aims, model->num_groups, model->num_examples, group, weights, share)) {
    return YW_ERR_INVALID;
  }
  body->aims_by_hand = weights || (body->aims_by_hand && group >= 0);
  return YW_OK;
}

yw_frames_effort yw_frames_effort_of(const void* state) {
  const frames_body* body = state;
  yw_frames_effort effort = {.newton = body->newton, .iterations = body->iterations};
  memcpy(effort.seconds, body->seconds, sizeof effort.seconds);
  return effort;
}

// Snapshots ---------------------------------------------------------------------------------------

// Flag beside the solver: weights that the caller gave follow.
#define BY_HAND 256u

static size_t num_floats(const frames_body* body) { return 4 * (size_t)body->model->num_particles; }

// Without examples, the weight of the rest pose alone.
static void write_weights(const frames_body* body, yw_writer* writer, const float* rows) {
  static const float rest = 1.0f;
  bool any = body->model->num_examples > 0;
  yw_write_f32(writer, any ? rows : &rest, any ? num_weights(body->model) : 1);
}

static void read_weights(frames_body* body, yw_reader* reader, bool by_hand) {
  const frames_model* model = body->model;
  size_t count = num_weights(model);
  // Tracks give theirs again after this.
  body->aims_by_hand = by_hand;
  yw_aims_clear(body->aims, model->num_groups, model->num_examples);
  if (by_hand) yw_read_f32(reader, body->aims, count);
  bool sound = yw_aims_are_sound(body->aims, count);
  for (size_t i = 0; i < count; ++i) sound = sound && isfinite(body->weights[i]);
  if (!sound) reader->failed = true;
}

void yw_frames_save(const void* state, yw_writer* writer) {
  const frames_body* body = state;
  const yw_frames_params* p = &body->params;
  const float numbers[6] = {p->damping,   p->beta,      p->tolerance,
                            p->stiffness, body->last_h, p->stiffness_scale};
  yw_write_u32(writer, (uint32_t)p->solver | (body->aims_by_hand ? BY_HAND : 0u));
  yw_write_u32(writer, (uint32_t)p->substeps);
  yw_write_u32(writer, (uint32_t)p->sweeps);
  yw_write_u32(writer, body->in_contact);
  yw_write_u32(writer, (uint32_t)body->short_for);
  yw_write_f32(writer, numbers, 6);
  write_weights(body, writer, body->weights);
  yw_write_f32(writer, body->rotations[0].m[0], (size_t)body->model->num_blocks * 4 * YW_LANES);
  yw_near_save(&body->near, writer);
  if (body->aims_by_hand) write_weights(body, writer, body->aims);
  if (p->solver == YW_FRAMES_ORIENTED) {
    yw_write_u32(writer, body->has_turns);
    yw_write_f32(writer, &body->turns[0].x, num_floats(body));
    yw_write_f32(writer, &body->spins[0].x, num_floats(body));
  }
  if (p->solver >= YW_FRAMES_EXTENDED) return;
  yw_write_f32(writer, &body->left_vel[0].x, num_floats(body));
  if (p->solver != YW_FRAMES_BDF2) return;
  yw_write_f32(writer, &body->last_pos[0].x, num_floats(body));
  yw_write_f32(writer, &body->last_vel[0].x, num_floats(body));
}

static void read_turns(frames_body* body, yw_reader* reader) {
  body->has_turns = yw_read_u32(reader) != 0;
  yw_read_f32(reader, &body->turns[0].x, num_floats(body));
  yw_read_f32(reader, &body->spins[0].x, num_floats(body));
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    yw_vec4 q = body->turns[p];
    bool sound = isfinite(q.x + q.y + q.z + q.w) && yw_is_finite3(yw_xyz(body->spins[p]));
    if (!sound) reader->failed = true;
  }
}

void yw_frames_load(void* state, yw_reader* reader) {
  frames_body* body = state;
  uint32_t kind = yw_read_u32(reader);
  yw_frames_params p = {.solver = (yw_frames_solver)(kind & ~BY_HAND)};
  float numbers[6];
  p.substeps = (int32_t)yw_read_u32(reader);
  p.sweeps = (int32_t)yw_read_u32(reader);
  bool in_contact = yw_read_u32(reader) != 0;
  uint32_t short_for = yw_read_u32(reader);
  yw_read_f32(reader, numbers, 6);
  p.damping = numbers[0];
  p.beta = numbers[1];
  p.tolerance = numbers[2];
  p.stiffness = numbers[3];
  p.stiffness_scale = numbers[5];
  bool sane = short_for <= FRAMES_SHORT_STEPS;
  if (reader->failed || !sane || yw_frames_params_check(&p, body->model->num_examples, NULL) < 0) {
    reader->failed = true;
    return;
  }
  body->params = p;
  body->in_contact = in_contact;
  body->short_for = (int32_t)short_for;
  body->last_h = numbers[4];
  float rest;
  bool examples = body->model->num_examples > 0;
  yw_read_f32(reader, examples ? body->weights : &rest, examples ? num_weights(body->model) : 1);
  yw_read_f32(reader, body->rotations[0].m[0], (size_t)body->model->num_blocks * 4 * YW_LANES);
  yw_near_load(&body->near, reader);
  if (!examples && (kind & BY_HAND)) reader->failed = true;
  if (examples) read_weights(body, reader, (kind & BY_HAND) != 0);
  if (p.solver == YW_FRAMES_ORIENTED) read_turns(body, reader);
  if (p.solver >= YW_FRAMES_EXTENDED) return;
  yw_read_f32(reader, &body->left_vel[0].x, num_floats(body));
  if (p.solver != YW_FRAMES_BDF2) return;
  yw_read_f32(reader, &body->last_pos[0].x, num_floats(body));
  yw_read_f32(reader, &body->last_vel[0].x, num_floats(body));
}
