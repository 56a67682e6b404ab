// SPDX-License-Identifier: MIT
// Small worlds for tests: a floor and boxes of tets with examples.
#ifndef YW_TESTS_SUPPORT_WORLD_FIXTURE_H
#define YW_TESTS_SUPPORT_WORLD_FIXTURE_H

#include "math/small/trig.h"
#include "support/testing.h"
#include "yawara/yawara.h"

/// A plane through the origin.
static inline yw_obstacle_id add_plane(yw_world* world, yw_vec3 normal, float friction) {
  yw_error error = {0};
  yw_shape* plane = NULL;
  assert_int_equal(yw_shape_plane(NULL, normal, 0.0f, &plane), YW_OK);
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = plane;
  def.friction = friction;
  yw_obstacle_id id;
  assert_int_equal(yw_obstacle_create(world, &def, &id, &error), YW_OK);
  yw_shape_release(plane);
  return id;
}

static inline yw_obstacle_id add_floor(yw_world* world) {
  return add_plane(world, (yw_vec3){0, 1, 0}, yw_default_obstacle_def().friction);
}

static inline yw_world* make_world(int32_t threads, yw_simd simd, bool with_floor) {
  yw_world_def def = yw_default_world_def();
  def.threads = threads;
  def.simd = simd;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  if (with_floor) add_floor(world);
  return world;
}

/// Without gravity.
static inline yw_world* make_weightless_world(int32_t threads) {
  yw_world_def def = yw_default_world_def();
  def.threads = threads;
  def.gravity = (yw_vec3){0, 0, 0};
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  return world;
}

/// Rotates every point about the y axis by an angle that increases with height.
static inline void twist_positions(int32_t count, const yw_vec3* rest, float radians_per_metre,
                                   yw_vec3* out) {
  for (int32_t i = 0; i < count; ++i) {
    float angle = radians_per_metre * rest[i].y;
    float c = yw_cosf(angle), s = yw_sinf(angle);
    out[i] = (yw_vec3){c * rest[i].x + s * rest[i].z, rest[i].y, -s * rest[i].x + c * rest[i].z};
  }
}

/// A box of 0.5 x 1 x 0.5 m with a twisted example.
static inline yw_model* make_box_model(int32_t cells_x, int32_t cells_y, int32_t cells_z,
                                       int32_t num_examples) {
  yw_error error = {0};
  yw_tet_mesh mesh = {0};
  yw_aabb box = {{-0.25f, -0.5f, -0.25f}, {0.25f, 0.5f, 0.25f}};
  int32_t cells[3] = {cells_x, cells_y, cells_z};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  yw_vec3* poses[4] = {0};
  const yw_vec3* examples[4];
  for (int32_t k = 0; k < num_examples; ++k) {
    poses[k] = malloc(sizeof(yw_vec3) * (size_t)mesh.num_vertices);
    twist_positions(mesh.num_vertices, mesh.positions, 1.0f + (float)k, poses[k]);
    examples[k] = poses[k];
  }
  def.num_examples = num_examples;
  def.examples = examples;
  yw_model* model = NULL;
  yw_status status = yw_model_create_match(NULL, &def, &model, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_true(status >= 0);
  for (int32_t k = 0; k < num_examples; ++k) free(poses[k]);
  yw_tet_mesh_free(&mesh);
  return model;
}

static inline yw_body_id add_body(yw_world* world, yw_model* model, yw_vec3 position,
                                  yw_quat rotation) {
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform.position = position;
  def.transform.rotation = rotation;
  yw_body_id id;
  yw_status status = yw_body_create(world, &def, &id, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  return id;
}

/// clamp: the vertex does not turn either.
static inline yw_pin_id pin_vertex(yw_world* world, yw_body_id body, int32_t vertex, bool clamp) {
  yw_error error = {0};
  yw_pin_def def = yw_default_pin_def();
  def.body = body;
  def.vertices = &vertex;
  def.num_vertices = 1;
  def.clamp = clamp;
  yw_pin_id id;
  assert_int_equal(yw_pin_create(world, &def, &id, &error), YW_OK);
  return id;
}

#endif
