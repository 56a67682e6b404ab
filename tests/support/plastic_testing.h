// SPDX-License-Identifier: MIT
// Plastic bodies for tests: lattices and a step with a floor, without a world around them.
#ifndef YW_TESTS_SUPPORT_PLASTIC_TESTING_H
#define YW_TESTS_SUPPORT_PLASTIC_TESTING_H

#include "contact/obstacles.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/plastic.h"
#include "support/testing.h"
#include "yawara/extend/memory.h"
#include "yawara/yawara.h"

enum { LAB_MAX_OBSTACLES = 8 };

/// One body, its obstacles and the step context.
typedef struct plastic_lab {
  plastic_model* model;
  plastic_body* body;
  yw_particles particles;
  yw_shape* shapes[LAB_MAX_OBSTACLES];
  yw_obstacle obstacles[LAB_MAX_OBSTACLES];
  yw_obstacle_set set;
  yw_method_report report;
  yw_step_ctx ctx;
} plastic_lab;

/// A box of nx x ny x nz masters whose lower corner is at the origin.
static inline yw_shape* lab_box(int32_t nx, int32_t ny, int32_t nz, float d) {
  yw_shape *box = NULL, *moved = NULL;
  yw_vec3 half = {0.5f * d * (float)nx, 0.5f * d * (float)ny, 0.5f * d * (float)nz};
  assert_int_equal(yw_shape_box(NULL, half, &box), YW_OK);
  yw_transform put = YW_TRANSFORM_IDENTITY;
  put.position = half;
  assert_int_equal(yw_shape_transform(NULL, box, put, &moved), YW_OK);
  yw_shape_release(box);
  return moved;
}

static inline void lab_begin_reach(plastic_lab* lab, const yw_plastic_def* def,
                                   const yw_plastic_scheme* scheme, float reach) {
  yw_error error = {0};
  void *model = NULL, *body = NULL;
  *lab = (plastic_lab){0};
  yw_status status = yw_plastic_model_create(NULL, def, scheme, reach, &model, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  lab->model = model;
  assert_int_equal(yw_plastic_method.body_create(model, NULL, &body, &lab->particles, &error),
                   YW_OK);
  lab->body = body;
  yw_plastic_method.invalidate(body, &lab->particles);
  lab->set = (yw_obstacle_set){.items = lab->obstacles};
  lab->ctx = (yw_step_ctx){.h = 1e-3f,
                           .gravity = {0, -9.81f, 0},
                           .simd = yw_simd_resolve(YW_SIMD_AUTO),
                           .collide = yw_obstacles_collide,
                           .is_clear = yw_obstacles_clear,
                           .probe = yw_obstacles_probe,
                           .obstacles_in = yw_obstacles_in,
                           .obstacles = &lab->set,
                           .friction = 0.3f,
                           .report = &lab->report};
}

static inline void lab_begin_scheme(plastic_lab* lab, const yw_plastic_def* def,
                                    const yw_plastic_scheme* scheme) {
  lab_begin_reach(lab, def, scheme, 0.0f);
}

static inline void lab_begin(plastic_lab* lab, const yw_plastic_def* def) {
  lab_begin_scheme(lab, def, NULL);
}

/// One part of one shape.
static inline void lab_begin_shape(plastic_lab* lab, const yw_shape* shape, float d,
                                   const yw_plastic_part* like) {
  yw_plastic_part part = like ? *like : yw_default_plastic_part();
  part.shape = shape;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = &part;
  def.num_parts = 1;
  lab_begin(lab, &def);
}

/// {G, N} of pair e of master m, as kernels use them.
static inline yw_vec4 lab_pair(const plastic_body* body, int32_t m, int32_t e) {
  const plastic_work_block* work = &body->work[m / YW_LANES];
  const float *x = &body->slave_pos[body->column[e]].x, *o = &body->origin[m / PLASTIC_CHUNK].x;
  float arm[3], d[6], n = body->share[4 * body->four_start[m] + e - body->row_start[m]];
  for (int k = 0; k < 6; ++k) d[k] = work->inverse[k][m % YW_LANES];
  for (int k = 0; k < 3; ++k) arm[k] = n * ((x[k] - o[k]) - work->center[k][m % YW_LANES]);
  return (yw_vec4){d[0] * arm[0] + d[3] * arm[1] + d[4] * arm[2],
                   d[3] * arm[0] + d[1] * arm[1] + d[5] * arm[2],
                   d[4] * arm[0] + d[5] * arm[1] + d[2] * arm[2], n};
}

static inline void lab_end(plastic_lab* lab) {
  yw_plastic_method.body_destroy(lab->body, &lab->particles);
  yw_plastic_method.model_destroy(lab->model);
  for (int i = 0; i < lab->set.count; ++i) yw_shape_release(lab->shapes[i]);
}

/// Takes ownership of the shape.
static inline void lab_add_obstacle(plastic_lab* lab, yw_shape* shape, yw_transform pose,
                                    float friction) {
  int32_t i = lab->set.count++;
  lab->shapes[i] = shape;
  lab->obstacles[i] =
      (yw_obstacle){.shape = shape, .begin = pose, .end = pose, .friction = friction};
  lab->obstacles[i].bounds = yw_obstacle_bounds(shape, pose, pose);
}

static inline void lab_add_floor(plastic_lab* lab, float friction) {
  yw_shape* plane = NULL;
  assert_int_equal(yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0.0f, &plane), YW_OK);
  lab_add_obstacle(lab, plane, YW_TRANSFORM_IDENTITY, friction);
}

static inline void lab_move(plastic_lab* lab, yw_vec3 by) {
  for (int32_t m = 0; m < lab->particles.count; ++m) {
    lab->particles.pos[m] = yw_v4(yw_add(yw_xyz(lab->particles.pos[m]), by));
  }
  yw_plastic_method.invalidate(lab->body, &lab->particles);
}

static inline yw_status lab_step(plastic_lab* lab, float h) {
  lab->ctx.h = lab->set.h = h;
  lab->set.gravity = lab->ctx.gravity;
  lab->report = (yw_method_report){0};
  yw_status status = yw_plastic_method.advance(lab->body, &lab->particles, &lab->ctx);
  if (status >= 0) yw_plastic_method.settle(lab->body, &lab->particles, &lab->ctx);
  lab->ctx.time += (double)h;
  return status;
}

typedef struct lab_sums {
  double mass, momentum[3], spin[3], center[3], kinetic;
  double lowest, highest, fastest;
  double least_stretch, most_stretch;
} lab_sums;

static inline lab_sums lab_measure(const plastic_lab* lab) {
  lab_sums s = {.lowest = INFINITY, .highest = -INFINITY, .least_stretch = 9, .most_stretch = 0};
  const yw_particles* p = &lab->particles;
  for (int32_t m = 0; m < p->count; ++m) {
    double w = p->mass[m], v2 = 0.0;
    const double v[3] = {p->vel[m].x, p->vel[m].y, p->vel[m].z};
    const double x[3] = {p->pos[m].x, p->pos[m].y, p->pos[m].z};
    s.mass += w;
    for (int k = 0; k < 3; ++k) {
      s.momentum[k] += w * v[k], s.center[k] += w * x[k], v2 += v[k] * v[k];
      double stretch = lab->body->state[m / YW_LANES].sigma[k][m % YW_LANES];
      s.least_stretch = fmin(s.least_stretch, stretch);
      s.most_stretch = fmax(s.most_stretch, stretch);
    }
    s.kinetic += 0.5 * w * v2;
    s.lowest = fmin(s.lowest, x[1]), s.highest = fmax(s.highest, x[1]);
    s.fastest = fmax(s.fastest, sqrt(v2));
  }
  for (int k = 0; k < 3; ++k) s.center[k] /= s.mass;
  for (int32_t m = 0; m < p->count; ++m) {
    double w = p->mass[m];
    const double v[3] = {p->vel[m].x, p->vel[m].y, p->vel[m].z};
    const double r[3] = {p->pos[m].x - s.center[0], p->pos[m].y - s.center[1],
                         p->pos[m].z - s.center[2]};
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      s.spin[k] += w * (r[a] * v[b] - r[b] * v[a]);
    }
  }
  return s;
}

/// Pieces of at least `least` masters.
static inline int32_t lab_pieces(const plastic_lab* lab, int32_t least) {
  int32_t n = lab->particles.count, found = 0;
  int32_t* piece = malloc(sizeof *piece * (size_t)n);
  int32_t* size = calloc((size_t)n, sizeof *size);
  int32_t pieces = yw_plastic_pieces(lab->body, &lab->particles, piece);
  assert_true(pieces > 0);
  for (int32_t m = 0; m < n; ++m) ++size[piece[m]];
  for (int32_t i = 0; i < pieces; ++i) found += size[i] >= least;
  free(piece);
  free(size);
  return found;
}

/// What a snapshot holds of the body; the caller frees it.
static inline unsigned char* lab_save(const plastic_lab* lab, size_t* size) {
  yw_writer count = {0};
  yw_plastic_method.save(lab->body, &count);
  unsigned char* data = malloc(count.size);
  yw_writer writer = {.data = data, .capacity = count.size};
  yw_plastic_method.save(lab->body, &writer);
  assert_false(writer.overflow);
  *size = count.size;
  return data;
}

static inline void lab_load(plastic_lab* lab, const unsigned char* data, size_t size) {
  yw_reader reader = {.data = data, .size = size};
  yw_plastic_method.load(lab->body, &reader);
  assert_false(reader.failed);
  assert_int_equal(reader.offset, reader.size);
}

/// Snapshots cut short are refused.
static inline void lab_refuse_cut(plastic_lab* lab, const unsigned char* data, size_t size) {
  for (size_t part = 0; part < 20; ++part) {
    yw_reader cut = {.data = data, .size = size * part / 20};
    yw_plastic_method.load(lab->body, &cut);
    assert_true(cut.failed);
  }
}

#endif
