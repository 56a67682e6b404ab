// SPDX-License-Identifier: MIT
// Rods and sheets: the state of a body, snapshots, and the table for the world.
#include "methods/slender/slender.h"

#include <string.h>

#include "math/small/mat3d.h"
#include "methods/slender/motion.h"
#include "methods/slender/shown.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Orientations that deviate from the shape by more than this cosine belong to another state.
#define LOST_COSINE 0.9

// State -------------------------------------------------------------------------------------------

static void body_destroy(void* state, yw_particles* particles) {
  slender_body* body = state;
  if (!body) return;
  yw_allocator mem = body->mem;
  void* const arrays[] = {
      body->low,          body->turn,       body->momentum,      body->old_x,      body->old_v,
      body->old_momentum, body->old_turn,   body->left_v,        body->x,          body->v,
      body->base_x,       body->base_v,     body->base_momentum, body->base_turn,  body->old_pos,
      body->touched,      body->duals,      body->touches,       body->smooth_pos, body->smooth_vel,
      body->sticky_pos,   body->sticky_vel, body->left_pos,      body->weights,    body->aims,
      body->products};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_slender_solver_free(&body->solver);
  yw_mem_free(&mem, body);
  yw_particles_free(&mem, particles);
}

static size_t num_weights(const slender_model* model) {
  return (size_t)model->poses.num_groups * (size_t)(model->poses.count + 1);
}

static bool allocate_weights(slender_body* body) {
  const slender_poses* poses = &body->model->poses;
  if (poses->count == 0) return true;
  body->weights = YW_NEW_ARRAY(&body->mem, float, num_weights(body->model));
  body->aims = YW_NEW_ARRAY(&body->mem, float, num_weights(body->model));
  body->products = YW_NEW_ARRAY(&body->mem, double, num_weights(body->model));
  if (!body->weights || !body->aims || !body->products) return false;
  yw_aims_clear(body->aims, poses->num_groups, poses->count);
  for (int32_t g = 0; g < poses->num_groups; ++g) body->weights[g * (poses->count + 1)] = 1.0f;
  return true;
}

static bool allocate(slender_body* body) {
  const yw_allocator* mem = &body->mem;
  size_t n = (size_t)body->model->num_particles;
  double** const vectors[] = {
      &body->low, &body->momentum, &body->old_x,  &body->old_v,  &body->old_momentum,
      &body->x,   &body->v,        &body->base_x, &body->base_v, &body->base_momentum};
  yw_turn** const turns[] = {&body->turn, &body->old_turn, &body->base_turn};
  bool good = true;
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = YW_NEW_ARRAY(mem, double, 3 * n);
    good = good && *vectors[i];
  }
  for (size_t i = 0; i < sizeof turns / sizeof turns[0]; ++i) {
    *turns[i] = YW_NEW_ARRAY(mem, yw_turn, n);
    good = good && *turns[i];
  }
  yw_vec4** const places[] = {&body->left_v,     &body->old_pos,    &body->smooth_pos,
                              &body->smooth_vel, &body->sticky_pos, &body->sticky_vel,
                              &body->left_pos};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    *places[i] = YW_NEW_ARRAY(mem, yw_vec4, n);
    good = good && *places[i];
  }
  body->touches = YW_NEW_ARRAY(mem, slender_touch, n);
  body->touched = YW_NEW_ARRAY(mem, bool, n);
  body->duals = YW_NEW_ARRAY(mem, double, 12 * (size_t)body->model->num_elements);
  return good && body->touches && body->touched && body->duals && allocate_weights(body);
}

static yw_status body_create(const void* model_pointer, const yw_allocator* mem, void** state,
                             yw_particles* particles, yw_error* error) {
  const slender_model* model = model_pointer;
  *state = NULL;
  *particles = (yw_particles){0};
  slender_body* body = YW_NEW(mem, slender_body);
  if (!body) return yw_fail_memory(error, "a rod or sheet");
  body->model = model;
  body->mem = yw_mem_or_default(mem);
  body->params = model->params;
  yw_status status = YW_OK;
  if (!allocate(body) || !yw_particles_create(mem, model->num_particles, particles)) {
    status = yw_fail_memory(error, "a rod or sheet");
  }
  if (status >= 0) status = yw_slender_solver_create(mem, model, &body->solver, error);
  if (status < 0) {
    body_destroy(body, particles);
    return status;
  }
  for (int32_t p = 0; p < model->num_particles; ++p) {
    particles->pos[p] = yw_v4(model->rest[p]);
    particles->mass[p] = model->mass[p];
    particles->inv_mass[p] = 1.0f / model->mass[p];
    body->turn[p] = YW_TURN_NONE;
  }
  *state = body;
  return YW_OK;
}

// Orientations
// -------------------------------------------------------------------------------------

static bool is_lost(const slender_body* body, const yw_particles* particles) {
  const slender_model* model = body->model;
  for (int32_t p = 0; p < particles->count; ++p) {
    yw_turn q = body->turn[p];
    double size = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    const double* momentum = body->momentum + 3 * p;
    if (!(size > 0.5 && size < 2.0) || !isfinite(momentum[0] + momentum[1] + momentum[2]))
      return true;
    double rest[3], now[3], turned[3];
    if (model->kind != SLENDER_ROD || !yw_rod_directions(model, particles->pos, p, rest, now)) {
      continue;
    }
    yw_turn_apply(q, rest, turned);
    if (yw_dot3(turned, now) < LOST_COSINE) return true;
  }
  for (int32_t e = 0; model->kind == SLENDER_SHEET && e < model->num_elements; ++e) {
    const sheet_triangle* t = &model->triangles[e];
    yw_vec3 x[3];
    for (int j = 0; j < 3; ++j) x[j] = yw_xyz(particles->pos[t->particles[j]]);
    yw_vec3 n = yw_cross(yw_sub(x[1], x[0]), yw_sub(x[2], x[0]));
    n = yw_normalize_or(n, yw_v3(0, 0, 0));
    const double now[3] = {(double)n.x, (double)n.y, (double)n.z};
    double off = 0.0;
    for (int j = 0; j < 3; ++j) {
      double turned[3];
      yw_turn_apply(body->turn[t->particles[j]], t->normal[j], turned);
      off = fmax(off, 1.0 - yw_dot3(turned, now));
    }
    if (off > 2.0 * (1.0 - LOST_COSINE)) return true;
  }
  return false;
}

// Positions may have been set without orientations: recomputes orientations that no longer fit.
static void invalidate(void* state, const yw_particles* particles) {
  slender_body* body = state;
  if (is_lost(body, particles)) {
    yw_slender_fit_turns(body->model, particles->pos, (double(*)[9])body->solver.element_hessian,
                         body->turn);
    memset(body->momentum, 0, 3 * (size_t)particles->count * sizeof *body->momentum);
  }
  memset(body->low, 0, 3 * (size_t)particles->count * sizeof *body->low);
  body->last_h = body->h1 = 0.0;
  body->in_contact = false;
}

// Impulses from outside. The history of the second-order formula gets them too, as if the body had
// always been that fast: otherwise the formula would extrapolate the change and add half of it.
static void push(void* state, yw_particles* particles, const yw_vec4* impulses) {
  slender_body* body = state;
  for (int32_t p = 0; p < particles->count; ++p) {
    for (int k = 0; k < 3; ++k) {
      float change = (&impulses[p].x)[k] * particles->inv_mass[p];
      (&particles->vel[p].x)[k] += change;
      body->old_v[3 * p + k] += (double)change;
      body->old_x[3 * p + k] -= body->last_h * (double)change;
    }
  }
}

static void turn(void* state, yw_quat rotation) {
  slender_body* body = state;
  yw_turn by = yw_turn_normalize(yw_turn_of(rotation));
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    double momentum[3];
    body->turn[p] = yw_turn_normalize(yw_turn_mul(by, body->turn[p]));
    yw_turn_apply(by, body->momentum + 3 * p, momentum);
    memcpy(body->momentum + 3 * p, momentum, sizeof momentum);
  }
}

// The particles were rotated from rest, or from a pose of their own.
static void place(void* state, const yw_particles* particles, yw_quat rotation,
                  yw_vec3 angular_velocity) {
  slender_body* body = state;
  yw_turn turn = yw_turn_normalize(yw_turn_of(rotation));
  const double rate[3] = {(double)angular_velocity.x, (double)angular_velocity.y,
                          (double)angular_velocity.z};
  for (int32_t p = 0; p < particles->count; ++p) body->turn[p] = turn;
  invalidate(state, particles);
  for (int32_t p = 0; p < particles->count; ++p) {
    yw_slender_momentum_of(body->model, p, body->turn[p], rate, body->momentum + 3 * p);
  }
}

// Parameters and the step -------------------------------------------------------------------------

yw_status yw_slender_set_params(void* state, const yw_slender_params* params) {
  slender_body* body = state;
  yw_status status = yw_slender_params_check(params, body->model->poses.count, NULL);
  if (status >= 0) body->params = *params;
  return status;
}

yw_slender_params yw_slender_params_of(const void* state) {
  return ((const slender_body*)state)->params;
}

void yw_slender_statistics_of(const void* state, yw_slender_statistics* out) {
  const slender_body* body = state;
  *out = (yw_slender_statistics){.num_elements = body->model->num_elements,
                                 .newton_steps = body->newton};
}

int32_t yw_slender_weights(const void* state, float* out, int32_t capacity) {
  const slender_body* body = state;
  int64_t count = (int64_t)num_weights(body->model);
  for (int64_t i = 0; out && i < count && i < capacity; ++i) out[i] = body->weights[i];
  return body->model->poses.num_groups;
}

// Regions that choose on their own are too many to be told.
static bool takes_aims(const slender_model* model) {
  return model->poses.count > 0 && model->poses.grouping != YW_GROUPS_PER_REGION;
}

yw_status yw_slender_set_weights(void* state, int32_t group, const float* weights, float share) {
  slender_body* body = state;
  const slender_poses* poses = &body->model->poses;
  if (!takes_aims(body->model) ||
      !yw_aims_give(body->aims, poses->num_groups, poses->count, group, weights, share)) {
    return YW_ERR_INVALID;
  }
  body->aims_by_hand = weights || (body->aims_by_hand && group >= 0);
  return YW_OK;
}

static bool aim(void* state, int32_t group, int32_t example, float value) {
  slender_body* body = state;
  const slender_poses* poses = &body->model->poses;
  return takes_aims(body->model) &&
         yw_aims_set(body->aims, poses->num_groups, poses->count, group, example, value);
}

static yw_status advance(void* state, yw_particles* particles, const yw_step_ctx* ctx) {
  slender_body* body = state;
  int32_t before = ctx->report ? ctx->report->recovered + ctx->report->stalled : 0;
  yw_status status = body->params.solver >= YW_SLENDER_EXTENDED
                         ? yw_slender_position_advance(body, particles, ctx)
                         : yw_slender_implicit_advance(body, particles, ctx);
  if (status < 0) return status;
  bool trouble = ctx->report && ctx->report->recovered + ctx->report->stalled > before;
  return trouble ? YW_WARN_NUMERICS : YW_OK;
}

// Snapshots ---------------------------------------------------------------------------------------

static void write_doubles(yw_writer* writer, const double* values, size_t count) {
  for (size_t i = 0; i < count; ++i) yw_write_f64(writer, values[i]);
}

static void read_doubles(yw_reader* reader, double* values, size_t count) {
  for (size_t i = 0; i < count && !reader->failed; ++i) {
    values[i] = yw_read_f64(reader);
    if (!isfinite(values[i])) reader->failed = true;
  }
}

// What examples add.
static void save_examples(const slender_body* body, yw_writer* writer) {
  if (body->model->poses.count == 0) return;
  yw_write_u32(writer, body->aims_by_hand);
  yw_write_f32(writer, &body->params.beta, 1);
  yw_write_f32(writer, body->weights, num_weights(body->model));
  if (body->aims_by_hand) yw_write_f32(writer, body->aims, num_weights(body->model));
}

static void load_examples(slender_body* body, yw_reader* reader) {
  const slender_poses* poses = &body->model->poses;
  size_t count = num_weights(body->model);
  if (poses->count == 0) return;
  body->aims_by_hand = yw_read_u32(reader) != 0;
  yw_read_f32(reader, &body->params.beta, 1);
  yw_read_f32(reader, body->weights, count);
  // Tracks give theirs again after this.
  yw_aims_clear(body->aims, poses->num_groups, poses->count);
  if (body->aims_by_hand) yw_read_f32(reader, body->aims, count);
  bool sound = body->params.beta >= 0.0f && body->params.beta <= 1.0f;
  for (size_t i = 0; i < count; ++i) sound = sound && isfinite(body->weights[i]);
  if (!sound || !yw_aims_are_sound(body->aims, count)) reader->failed = true;
}

static void save(const void* state, yw_writer* writer) {
  const slender_body* body = state;
  const yw_slender_params* p = &body->params;
  size_t n = (size_t)body->model->num_particles;
  const float numbers[4] = {p->damping, p->tolerance, p->stiffness, p->stiffness_scale};
  yw_write_u32(writer, (uint32_t)p->solver);
  yw_write_u32(writer, (uint32_t)p->substeps);
  yw_write_u32(writer, (uint32_t)p->sweeps);
  yw_write_u32(writer, body->in_contact);
  yw_write_f32(writer, numbers, 4);
  yw_write_f64(writer, body->last_h);
  write_doubles(writer, body->low, 3 * n);
  write_doubles(writer, &body->turn[0].x, 4 * n);
  write_doubles(writer, body->momentum, 3 * n);
  save_examples(body, writer);
  if (p->solver != YW_SLENDER_BDF2) return;
  write_doubles(writer, body->old_x, 3 * n);
  write_doubles(writer, body->old_v, 3 * n);
  write_doubles(writer, body->old_momentum, 3 * n);
  write_doubles(writer, &body->old_turn[0].x, 4 * n);
  yw_write_f32(writer, &body->left_v[0].x, 4 * n);
}

static void load(void* state, yw_reader* reader) {
  slender_body* body = state;
  const slender_poses* poses = &body->model->poses;
  yw_slender_params p = {.solver = (yw_slender_solver)yw_read_u32(reader),
                         .beta = body->params.beta};
  size_t n = (size_t)body->model->num_particles;
  float numbers[4];
  p.substeps = (int32_t)yw_read_u32(reader);
  p.sweeps = (int32_t)yw_read_u32(reader);
  bool in_contact = yw_read_u32(reader) != 0;
  yw_read_f32(reader, numbers, 4);
  p.damping = numbers[0];
  p.tolerance = numbers[1];
  p.stiffness = numbers[2];
  p.stiffness_scale = numbers[3];
  if (reader->failed || yw_slender_params_check(&p, poses->count, NULL) < 0) {
    reader->failed = true;
    return;
  }
  body->params = p;
  body->in_contact = in_contact;
  read_doubles(reader, &body->last_h, 1);
  read_doubles(reader, body->low, 3 * n);
  read_doubles(reader, &body->turn[0].x, 4 * n);
  read_doubles(reader, body->momentum, 3 * n);
  for (size_t i = 0; i < n && !reader->failed; ++i) {
    yw_turn q = body->turn[i];
    double size = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (!(fabs(size - 1.0) < 1e-6)) reader->failed = true;
  }
  load_examples(body, reader);
  if (p.solver != YW_SLENDER_BDF2 || reader->failed) return;
  read_doubles(reader, body->old_x, 3 * n);
  read_doubles(reader, body->old_v, 3 * n);
  read_doubles(reader, body->old_momentum, 3 * n);
  read_doubles(reader, &body->old_turn[0].x, 4 * n);
  yw_read_f32(reader, &body->left_v[0].x, 4 * n);
}

// The table ---------------------------------------------------------------------------------------

static uint64_t model_hash(const void* model) { return ((const slender_model*)model)->hash; }

static int32_t model_num_particles(const void* model) {
  return ((const slender_model*)model)->num_particles;
}

static const yw_vec3* model_points(const void* model) {
  return ((const slender_model*)model)->rest;
}

static const int32_t* model_elements(const void* data, int32_t* corners, int32_t* count) {
  const slender_model* model = data;
  *corners = model->corners;
  *count = model->num_elements;
  return model->elements;
}

static yw_contact_geometry contact_geometry(const void* state) {
  const slender_model* model = ((const slender_body*)state)->model;
  bool sheet = model->corners == 3;
  return (yw_contact_geometry){.triangles = sheet ? model->elements : NULL,
                               .num_triangles = sheet ? model->num_elements : 0,
                               .segments = sheet ? NULL : model->elements,
                               .num_segments = sheet ? 0 : model->num_elements,
                               .rest = model->rest,
                               .radius = model->radius};
}

static yw_status model_surface(const void* model, const yw_allocator* mem, yw_tri_mesh* out) {
  return yw_tri_mesh_copy(&((const slender_model*)model)->surface, mem, out);
}

static bool surface_strays(const void* model) {
  return ((const slender_model*)model)->rides != NULL;
}

// What tracks may change over time.
static const yw_parameter tracked[] = {
    {"damping", offsetof(yw_slender_params, damping)},
    {"beta", offsetof(yw_slender_params, beta)},
    {"stiffness", offsetof(yw_slender_params, stiffness)},
    {"stiffness_scale", offsetof(yw_slender_params, stiffness_scale)}};
_Static_assert(sizeof(yw_slender_params) <= YW_MAX_PARAMS_BYTES, "must fit");

static void params(const void* state, void* out) {
  yw_slender_params now = yw_slender_params_of(state);
  memcpy(out, &now, sizeof now);
}

static yw_status set_params(void* state, const void* wanted) {
  return yw_slender_set_params(state, wanted);
}

const yw_method yw_slender_method = {
    .name = "slender",
    .model_destroy = yw_slender_model_destroy,
    .model_hash = model_hash,
    .model_num_particles = model_num_particles,
    .model_points = model_points,
    .body_create = body_create,
    .body_destroy = body_destroy,
    .advance = advance,
    .respond = yw_slender_respond,
    .invalidate = invalidate,
    .push = push,
    .turn = turn,
    .contact_geometry = contact_geometry,
    .save = save,
    .load = load,
    .place = place,
    .model_surface = model_surface,
    .surface_positions = yw_slender_surface_positions,
    .surface_strays = surface_strays,
    .statistics = yw_slender_statistics_list,
    .energy = yw_slender_body_energy,
    .own_spin = yw_slender_own_spin,
    .num_fields = yw_slender_num_fields,
    .field_info = yw_slender_field_info,
    .field_meaning = yw_slender_field_meaning,
    .model_elements = model_elements,
    .field_values = yw_slender_field_values,
    .parameters = tracked,
    .num_parameters = sizeof tracked / sizeof *tracked,
    .params = params,
    .set_params = set_params,
    .aim = aim,
    .strain_energy = yw_slender_strain_energy,
    .axes = yw_slender_axes,
};
