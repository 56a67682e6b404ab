// SPDX-License-Identifier: MIT
// A match body of a lattice box, driven through the method table without a world.
#ifndef YW_TESTS_SUPPORT_TEST_MATCH_H
#define YW_TESTS_SUPPORT_TEST_MATCH_H

#include "math/small/polar.h"
#include "math/small/trig.h"
#include "methods/match/match.h"
#include "support/testing.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"

#define CASE_CELL 0.1f

typedef struct match_case {
  yw_tet_mesh mesh;
  yw_vec3* examples[YW_MAX_EXAMPLES];
  yw_match_def def;
  void* model;
  void* state;
  yw_particles particles;
  const int32_t* order;
  double size;  // m, diagonal of the box
  yw_method_report report;
  yw_step_ctx ctx;
} match_case;

// The box and the definition of the model; change def, add examples, then call case_build.
static inline void case_begin(match_case* c, int cx, int cy, int cz) {
  *c = (match_case){0};
  const int32_t cells[3] = {cx, cy, cz};
  yw_vec3 upper = {CASE_CELL * (float)cx, CASE_CELL * (float)cy, CASE_CELL * (float)cz};
  assert_int_equal(
      yw_tet_mesh_lattice(NULL, (yw_aabb){{0, 0, 0}, upper}, cells, YW_LATTICE_FIVE, &c->mesh), 0);
  c->size = (double)yw_length(upper);
  c->def = (yw_match_def){.mesh = &c->mesh,
                          .density = 1000,
                          .examples = (const yw_vec3* const*)c->examples,
                          .params = {.alpha = 0.8f, .beta = 0.95f, .damping = 2.0f}};
  c->ctx = (yw_step_ctx){.h = 1.0f / 240.0f, .simd = yw_simd_resolve(YW_SIMD_AUTO)};
}

static inline yw_vec3* case_add_example(match_case* c, yw_deform_kind kind, float amount) {
  yw_deform deform = yw_default_deform(kind);
  deform.amount = amount;
  yw_vec3* pose = malloc((size_t)c->mesh.num_vertices * sizeof *pose);
  assert_non_null(pose);
  assert_true(yw_deform_apply(&deform, c->mesh.num_vertices, c->mesh.positions, pose, NULL) >= 0);
  c->examples[c->def.num_examples++] = pose;
  return pose;
}

static inline void case_build(match_case* c) {
  yw_error error = {0};
  c->def.mesh = &c->mesh;
  c->def.examples = (const yw_vec3* const*)c->examples;
  if (yw_match_model_create(NULL, &c->def, 0.0, &c->model, &error) < 0)
    fail_msg("%s", error.message);
  assert_int_equal(yw_match_method.body_create(c->model, NULL, &c->state, &c->particles, &error),
                   0);
  c->order = yw_match_method.particle_of_vertex(c->state);
  c->ctx.report = &c->report;
}

static inline void case_end(match_case* c) {
  if (c->state) yw_match_method.body_destroy(c->state, &c->particles);
  if (c->model) yw_match_method.model_destroy(c->model);
  yw_tet_mesh_free(&c->mesh);
  for (int k = 0; k < YW_MAX_EXAMPLES; ++k) free(c->examples[k]);
}

// Puts the body in a pose (mesh order, NULL: rest pose), rotated and moved, with zero velocity.
static inline void case_place(match_case* c, const yw_vec3* pose, yw_quat rotation, yw_vec3 shift) {
  const yw_vec3* from = pose ? pose : c->mesh.positions;
  for (int32_t v = 0; v < c->mesh.num_vertices; ++v) {
    c->particles.pos[c->order[v]] = yw_v4(yw_add(yw_rotate(rotation, from[v]), shift));
    c->particles.vel[c->order[v]] = (yw_vec4){0};
  }
  yw_match_method.invalidate(c->state, &c->particles);
}

static inline void case_set(match_case* c, float alpha, float beta, float damping) {
  yw_match_params params = {.alpha = alpha, .beta = beta, .damping = damping};
  assert_int_equal(yw_match_set_params(c->state, &params), 0);
}

static inline yw_status case_step(match_case* c, int steps) {
  yw_status status = YW_OK;
  for (int s = 0; s < steps && status >= 0; ++s) {
    status = yw_match_method.advance(c->state, &c->particles, &c->ctx);
  }
  return status;
}

static inline bool case_is_finite(const match_case* c) {
  for (int32_t p = 0; p < c->particles.count; ++p) {
    if (!yw_is_finite3(yw_xyz(c->particles.pos[p])) ||
        !yw_is_finite3(yw_xyz(c->particles.vel[p]))) {
      return false;
    }
  }
  return true;
}

// Largest distance of a particle from the best-fitting rigid motion of a pose (mesh order).
static inline double case_distance(const match_case* c, const yw_vec3* pose) {
  const yw_vec3* from = pose ? pose : c->mesh.positions;
  int32_t n = c->mesh.num_vertices;
  double a[3] = {0}, b[3] = {0}, m[3][3] = {{0}}, largest = 0;
  for (int32_t v = 0; v < n; ++v) {
    yw_vec4 x = c->particles.pos[c->order[v]];
    a[0] += from[v].x, a[1] += from[v].y, a[2] += from[v].z;
    b[0] += x.x, b[1] += x.y, b[2] += x.z;
  }
  for (int k = 0; k < 3; ++k) a[k] /= n, b[k] /= n;
  for (int32_t v = 0; v < n; ++v) {
    yw_vec4 x = c->particles.pos[c->order[v]];
    const double p[3] = {x.x - b[0], x.y - b[1], x.z - b[2]};
    const double q[3] = {from[v].x - a[0], from[v].y - a[1], from[v].z - a[2]};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) m[i][j] += p[i] * q[j] / (n * c->size * c->size);
    }
  }
  yw_mat3 map = {{(float)m[0][0], (float)m[1][0], (float)m[2][0]},
                 {(float)m[0][1], (float)m[1][1], (float)m[2][1]},
                 {(float)m[0][2], (float)m[1][2], (float)m[2][2]}};
  yw_mat3 r, s;
  yw_polar(&map, &r, &s);
  for (int32_t v = 0; v < n; ++v) {
    yw_vec4 x = c->particles.pos[c->order[v]];
    yw_vec3 q = {(float)(from[v].x - a[0]), (float)(from[v].y - a[1]), (float)(from[v].z - a[2])};
    yw_vec3 p = {(float)(x.x - b[0]), (float)(x.y - b[1]), (float)(x.z - b[2])};
    largest = fmax(largest, (double)yw_length(yw_sub(p, yw_mul(r, q))));
  }
  return largest;
}

// Momentum, and angular momentum about the centre of mass, in double.
static inline void case_momenta(const match_case* c, double p[3], double l[3]) {
  double mass = 0, center[3] = {0};
  for (int k = 0; k < 3; ++k) p[k] = l[k] = 0;
  for (int32_t i = 0; i < c->particles.count; ++i) {
    double m = c->particles.mass[i];
    yw_vec4 x = c->particles.pos[i], v = c->particles.vel[i];
    mass += m;
    center[0] += m * x.x, center[1] += m * x.y, center[2] += m * x.z;
    p[0] += m * v.x, p[1] += m * v.y, p[2] += m * v.z;
  }
  for (int k = 0; k < 3; ++k) center[k] /= mass;
  for (int32_t i = 0; i < c->particles.count; ++i) {
    double m = c->particles.mass[i];
    yw_vec4 x = c->particles.pos[i], v = c->particles.vel[i];
    const double y[3] = {x.x - center[0], x.y - center[1], x.z - center[2]};
    l[0] += m * (y[1] * v.z - y[2] * v.y);
    l[1] += m * (y[2] * v.x - y[0] * v.z);
    l[2] += m * (y[0] * v.y - y[1] * v.x);
  }
}

static inline double norm3(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline yw_quat some_rotation(void) {
  return yw_quat_axis_angle((yw_vec3){0.3f, -0.8f, 0.5f}, 2.1f);
}

#endif
