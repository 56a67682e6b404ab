// SPDX-License-Identifier: MIT
// Rigid bodies for tests.
#ifndef YW_TESTS_SUPPORT_RIGID_TESTING_H
#define YW_TESTS_SUPPORT_RIGID_TESTING_H

#include "support/world_fixture.h"
#include "yawara/rigid.h"

#define PI 3.14159265358979323846

/// Takes the shape.
static inline yw_model* make_rigid(yw_shape* shape, float size, float density) {
  yw_error error = {0};
  yw_tri_mesh surface = {0};
  yw_model* model = NULL;
  if (yw_shape_surface(shape, NULL, size, &surface, &error) < 0) fail_msg("%s", error.message);
  yw_rigid_def def = yw_default_rigid_def();
  def.surface = &surface;
  def.shape = shape;
  def.density = density;
  if (yw_model_create_rigid(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  yw_tri_mesh_free(&surface);
  yw_shape_release(shape);
  return model;
}

static inline yw_model* make_rigid_box(float x, float y, float z) {
  yw_shape* shape = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.5f * x, 0.5f * y, 0.5f * z}, &shape), YW_OK);
  return make_rigid(shape, fminf(fmaxf(x, fmaxf(y, z)) / 8.0f, fminf(x, fminf(y, z)) / 2.5f),
                    1000.0f);
}

static inline yw_model* make_rigid_ball(float radius) {
  yw_shape* shape = NULL;
  assert_int_equal(yw_shape_sphere(NULL, radius, &shape), YW_OK);
  return make_rigid(shape, radius / 5.0f, 1000.0f);
}

/// A box of five tets, which has few particles.
static inline yw_model* make_rigid_tets(float x, float y, float z) {
  yw_error error = {0};
  yw_tet_mesh mesh = {0};
  yw_aabb box = {{-0.5f * x, -0.5f * y, -0.5f * z}, {0.5f * x, 0.5f * y, 0.5f * z}};
  const int32_t cells[3] = {1, 1, 1};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_rigid_def def = yw_default_rigid_def();
  def.mesh = &mesh;
  yw_model* model = NULL;
  if (yw_model_create_rigid(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  yw_tet_mesh_free(&mesh);
  return model;
}

/// Releases the model. The body does not collide with other bodies.
static inline yw_body_id add_ghost(yw_world* world, yw_model* model, yw_vec3 position) {
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform.position = position;
  def.body_contact = false;
  yw_body_id id;
  if (yw_body_create(world, &def, &id, &error) < 0) fail_msg("%s", error.message);
  yw_model_release(model);
  return id;
}

/// Releases the model.
static inline yw_body_id add_rigid(yw_world* world, yw_model* model, yw_vec3 position,
                                   yw_vec3 velocity, yw_vec3 spin) {
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform.position = position;
  def.velocity = velocity;
  def.angular_velocity = spin;
  yw_body_id id;
  if (yw_body_create(world, &def, &id, &error) < 0) fail_msg("%s", error.message);
  yw_model_release(model);
  return id;
}

static inline yw_rigid_state rigid_state_of(const yw_world* world, yw_body_id id) {
  yw_rigid_state state;
  assert_int_equal(yw_body_rigid_state(world, id, &state), YW_OK);
  return state;
}

static inline double total_energy(const yw_world* world, yw_body_id id) {
  yw_body_energy energy;
  assert_int_equal(yw_body_energy_of(world, id, &energy), YW_OK);
  return energy.kinetic + energy.gravitational;
}

static inline double length3(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

#endif
