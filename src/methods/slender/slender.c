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
      body->sticky_pos,   body->sticky_vel, body->left_pos};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_slender_solver_free(&body->solver);
  yw_mem_free(&mem, body);
  yw_particles_free(&mem, particles);
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
  return good && body->touches && body->touched && body->duals;
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

// Orientations from positions alone ---------------------------------------------------------------

static yw_turn shortest(const double from[3], const double to[3]) {
  double c = yw_dot3(from, to);
  yw_turn q = {from[1] * to[2] - from[2] * to[1], from[2] * to[0] - from[0] * to[2],
               from[0] * to[1] - from[1] * to[0], 1.0 + c};
  if (c < -1.0 + 1e-9) q = (yw_turn){from[1], -from[0], 0.0, 1e-9};
  return yw_turn_normalize(q);
}

// Mean direction of the pairs at a particle, at rest and now; false where it is undefined.
static bool directions(const slender_model* model, const yw_particles* particles, int32_t p,
                       double rest[3], double now[3]) {
  int32_t n = model->num_particles;
  memset(rest, 0, 3 * sizeof *rest);
  memset(now, 0, 3 * sizeof *now);
  for (int side = -1; side < 1; ++side) {
    int32_t k = p + side;
    if (model->closed) k = (k + n) % n;
    if (k < 0 || k >= model->num_elements) continue;
    const rod_pair* pair = &model->pairs[k];
    yw_vec3 d = yw_sub(yw_xyz(particles->pos[pair->particles[1]]),
                       yw_xyz(particles->pos[pair->particles[0]]));
    d = yw_normalize_or(d, yw_v3(0, 0, 0));
    for (int i = 0; i < 3; ++i) rest[i] += pair->e[i], now[i] += (double)(&d.x)[i];
  }
  double a = sqrt(yw_dot3(rest, rest)), b = sqrt(yw_dot3(now, now));
  if (!(a > 1e-6) || !(b > 1e-6) || !isfinite(b)) return false;
  for (int i = 0; i < 3; ++i) rest[i] /= a, now[i] /= b;
  return true;
}

// Rods: carried from particle to particle with no more twist than at rest.
static void fit_rod(slender_body* body, const yw_particles* particles) {
  yw_turn carried = YW_TURN_NONE;
  for (int32_t p = 0; p < particles->count; ++p) {
    double rest[3], now[3], moved[3];
    if (directions(body->model, particles, p, rest, now)) {
      yw_turn_apply(carried, rest, moved);
      carried = yw_turn_normalize(yw_turn_mul(shortest(moved, now), carried));
    }
    body->turn[p] = carried;
  }
}

// Sheets: mean rotation of the adjacent triangles.
static void fit_sheet(slender_body* body, const yw_particles* particles) {
  const slender_model* model = body->model;
  double(*sum)[9] = (double(*)[9])body->solver.element_hessian;
  memset(sum, 0, (size_t)particles->count * sizeof *sum);
  for (int32_t e = 0; e < model->num_elements; ++e) {
    const sheet_triangle* t = &model->triangles[e];
    double f[2][3] = {{0}}, normal[3], rest[3];
    for (int j = 0; j < 3; ++j) {
      const float* x = &particles->pos[t->particles[j]].x;
      for (int k = 0; k < 3; ++k) {
        f[0][k] += (double)x[k] * t->g[j][0];
        f[1][k] += (double)x[k] * t->g[j][1];
      }
    }
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      normal[k] = f[0][a] * f[1][b] - f[0][b] * f[1][a];
      rest[k] = t->tangent[0][a] * t->tangent[1][b] - t->tangent[0][b] * t->tangent[1][a];
    }
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 9; ++k) {
        sum[t->particles[j]][k] += f[0][k / 3] * t->tangent[0][k % 3] +
                                   f[1][k / 3] * t->tangent[1][k % 3] + normal[k / 3] * rest[k % 3];
      }
    }
  }
  for (int32_t p = 0; p < particles->count; ++p) {
    double r[9], s[6];
    yw_m3_polar(sum[p], r, s);
    body->turn[p] = yw_turn_from_matrix(r);
  }
}

static bool is_lost(const slender_body* body, const yw_particles* particles) {
  const slender_model* model = body->model;
  for (int32_t p = 0; p < particles->count; ++p) {
    yw_turn q = body->turn[p];
    double size = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    const double* momentum = body->momentum + 3 * p;
    if (!(size > 0.5 && size < 2.0) || !isfinite(momentum[0] + momentum[1] + momentum[2]))
      return true;
    double rest[3], now[3], turned[3];
    if (model->kind != SLENDER_ROD || !directions(model, particles, p, rest, now)) continue;
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
    if (body->model->kind == SLENDER_ROD) fit_rod(body, particles);
    if (body->model->kind == SLENDER_SHEET) fit_sheet(body, particles);
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
  yw_status status = yw_slender_params_check(params, NULL);
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

static void save(const void* state, yw_writer* writer) {
  const slender_body* body = state;
  const yw_slender_params* p = &body->params;
  size_t n = (size_t)body->model->num_particles;
  const float numbers[3] = {p->damping, p->tolerance, p->stiffness};
  yw_write_u32(writer, (uint32_t)p->solver);
  yw_write_u32(writer, (uint32_t)p->substeps);
  yw_write_u32(writer, (uint32_t)p->sweeps);
  yw_write_u32(writer, body->in_contact);
  yw_write_f32(writer, numbers, 3);
  yw_write_f64(writer, body->last_h);
  write_doubles(writer, body->low, 3 * n);
  write_doubles(writer, &body->turn[0].x, 4 * n);
  write_doubles(writer, body->momentum, 3 * n);
  if (p->solver != YW_SLENDER_BDF2) return;
  write_doubles(writer, body->old_x, 3 * n);
  write_doubles(writer, body->old_v, 3 * n);
  write_doubles(writer, body->old_momentum, 3 * n);
  write_doubles(writer, &body->old_turn[0].x, 4 * n);
  yw_write_f32(writer, &body->left_v[0].x, 4 * n);
}

static void load(void* state, yw_reader* reader) {
  slender_body* body = state;
  yw_slender_params p = {.solver = (yw_slender_solver)yw_read_u32(reader)};
  size_t n = (size_t)body->model->num_particles;
  float numbers[3];
  p.substeps = (int32_t)yw_read_u32(reader);
  p.sweeps = (int32_t)yw_read_u32(reader);
  bool in_contact = yw_read_u32(reader) != 0;
  yw_read_f32(reader, numbers, 3);
  p.damping = numbers[0];
  p.tolerance = numbers[1];
  p.stiffness = numbers[2];
  if (reader->failed || yw_slender_params_check(&p, NULL) < 0) {
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

// What tracks may change over time.
static const yw_parameter tracked[] = {{"damping", offsetof(yw_slender_params, damping)},
                                       {"stiffness", offsetof(yw_slender_params, stiffness)}};
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
    .statistics = yw_slender_statistics_list,
    .energy = yw_slender_body_energy,
    .num_fields = yw_slender_num_fields,
    .field_info = yw_slender_field_info,
    .field_meaning = yw_slender_field_meaning,
    .model_elements = model_elements,
    .field_values = yw_slender_field_values,
    .parameters = tracked,
    .num_parameters = sizeof tracked / sizeof *tracked,
    .params = params,
    .set_params = set_params,
};
