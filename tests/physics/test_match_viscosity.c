// SPDX-License-Identifier: MIT
// Viscosity of match bodies: resists the rate of strain, does not affect rigid motion and momentum,
// and is independent of the step.
#include "support/scene_text.h"
#include "support/world_fixture.h"
#include "yawara/match.h"

typedef struct wobble {
  yw_world* world;
  yw_body_id body;
} wobble;

// A free, rotating box, stretched along y by a fraction.
static wobble make_wobble(float alpha, float viscosity, float stretch, yw_vec3 spin) {
  wobble w = {.world = make_weightless_world(1)};
  yw_model* model = make_box_model(4, 8, 4, 0);
  const yw_tet_mesh* rest = yw_model_tets(model);
  yw_vec3* pose = malloc(sizeof(yw_vec3) * (size_t)rest->num_vertices);
  for (int32_t i = 0; i < rest->num_vertices; ++i) {
    pose[i] = rest->positions[i];
    pose[i].y *= 1.0f + stretch;
  }
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.pose = pose;
  def.angular_velocity = spin;
  def.velocity = (yw_vec3){spin.y, 0, 0};
  yw_error error;
  assert_int_equal(yw_body_create(w.world, &def, &w.body, &error), YW_OK);
  yw_match_params params = {.alpha = alpha, .beta = 0.95f, .viscosity = viscosity};
  assert_int_equal(yw_body_set_match_params(w.world, w.body, &params), YW_OK);
  yw_model_release(model);
  free(pose);
  return w;
}

static double height(const wobble* w) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(w->world, w->body, &count);
  double low = 1e9, high = -1e9;
  for (int32_t i = 0; i < count; ++i) {
    low = fmin(low, (double)x[i].y);
    high = fmax(high, (double)x[i].y);
  }
  return high - low;
}

// Largest |height - 1| in [from, to] s.
static double swing_between(float alpha, float h, float viscosity, double from, double to) {
  wobble w = make_wobble(alpha, viscosity, 0.02f, (yw_vec3){0, 0, 0});
  double largest = 0;
  while (yw_world_time(w.world) < to) {
    assert_int_equal(yw_world_step(w.world, h, 1, NULL), YW_OK);
    if (yw_world_time(w.world) > from) largest = fmax(largest, fabs(height(&w) - 1.0));
  }
  yw_world_destroy(w.world);
  return largest;
}

static void a_wobble_dies_away(void** state) {
  (void)state;
  assert_at_least(swing_between(0.3f, 1 / 240.0f, 0.0f, 1.0, 1.5), 0.01);
  assert_at_most(swing_between(0.3f, 1 / 240.0f, 0.004f, 1.0, 1.5), 0.002);
}

// Half the step at a quarter of alpha is the same stiffness: same vibration, same decay.
static void viscosity_does_not_depend_on_the_step(void** state) {
  (void)state;
  double coarse = swing_between(0.2f, 1 / 240.0f, 0.002f, 0.3, 0.6);
  double fine = swing_between(0.0125f, 1 / 960.0f, 0.002f, 0.3, 0.6);
  assert_at_least(fine, 0.001);
  assert_near(coarse / fine, 1.0, 0.15);
}

// Viscosity acts on strain only: momentum and spin are unchanged.
static void momentum_stays(void** state) {
  (void)state;
  wobble w = make_wobble(0.4f, 0.004f, 0.05f, (yw_vec3){1.0f, 2.0f, 0.5f});
  yw_body_sums before, after;
  yw_body_sums_of(w.world, w.body, &before);
  for (int i = 0; i < 1000; ++i) yw_world_step(w.world, 1 / 240.0f, 1, NULL);
  yw_body_sums_of(w.world, w.body, &after);
  double p = 0, l = 0, dp = 0, dl = 0;
  for (int k = 0; k < 3; ++k) {
    p += before.momentum[k] * before.momentum[k];
    l += before.angular_momentum[k] * before.angular_momentum[k];
    dp += pow(after.momentum[k] - before.momentum[k], 2);
    dl += pow(after.angular_momentum[k] - before.angular_momentum[k], 2);
  }
  assert_at_most(sqrt(dp / p), 1e-5);
  assert_at_most(sqrt(dl / l), 1e-5);
  yw_world_destroy(w.world);
}

// Viscosity above the stable limit is clamped to it.
static void any_viscosity_is_stable(void** state) {
  (void)state;
  const float alphas[] = {0.01f, 0.3f, 1.0f};
  for (int i = 0; i < 3; ++i) {
    wobble w = make_wobble(alphas[i], 1000.0f, 0.2f, (yw_vec3){0, 3, 0});
    for (int k = 0; k < 500; ++k)
      assert_int_equal(yw_world_step(w.world, 1 / 60.0f, 1, NULL), YW_OK);
    assert_near(height(&w), 1.0, 0.2);
    yw_world_destroy(w.world);
  }
  wobble w = make_wobble(0.5f, 0.0f, 0.0f, (yw_vec3){0, 0, 0});
  yw_match_params bad = {.alpha = 0.5f, .beta = 0.5f, .viscosity = -2.0f};
  assert_int_equal(yw_body_set_match_params(w.world, w.body, &bad), YW_ERR_INVALID);
  bad.viscosity = NAN;
  assert_int_equal(yw_body_set_match_params(w.world, w.body, &bad), YW_ERR_INVALID);
  yw_world_destroy(w.world);
}

// Angular momentum that a body with an example gets from its own targets, over its mass times the
// square of its size, rad/s; and how near it is to rest in the end.
static double own_spin(const char* target, float* rest_weight) {
  char text[900];
  snprintf(text, sizeof text,
           "{\"gravity\": [0, 0, 0], \"bodies\": [{\"mesh\": {\"lattice\": {\"size\": [0.5, 1, "
           "0.2], \"cells\": [4, 6, 1]}}, \"match\": {\"alpha\": 0.3, \"beta\": 0.9, \"damping\": "
           "0, \"viscosity\": 0, \"target\": \"%s\"}, \"examples\": [{\"deform\": [{\"shear\": "
           "{\"amount\": 0.5}}, {\"bend\": {\"degrees\": 60}}]}], \"start_pose\": 0}]}",
           target);
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  yw_body_id body = yw_world_body(world, 0);
  double most = 0;
  for (int i = 0; i < 60; ++i) {
    yw_body_sums sums;
    yw_world_step(world, 1 / 60.0f, 4, NULL);
    yw_body_sums_of(world, body, &sums);
    const double* l = sums.angular_momentum;
    most = fmax(most, sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]) / sums.mass);
  }
  float weights[2];
  yw_body_match_weights(world, body, weights, 2);
  *rest_weight = weights[0];
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return most;
}

// The target as printed, R S~, turns a body that nothing touches; ours does not. Both let it go
// back to rest.
static void printed_targets_turn_a_free_body(void** state) {
  (void)state;
  float rest[2];
  double free_spin = own_spin("free", &rest[0]), printed = own_spin("paper", &rest[1]);
  assert_at_most(free_spin, 1e-5);
  assert_at_least(printed, 1e-3);
  for (int i = 0; i < 2; ++i) assert_at_least(rest[i], 0.3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wobble_dies_away),
      cmocka_unit_test(viscosity_does_not_depend_on_the_step),
      cmocka_unit_test(momentum_stays),
      cmocka_unit_test(printed_targets_turn_a_free_body),
      cmocka_unit_test(any_viscosity_is_stable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
