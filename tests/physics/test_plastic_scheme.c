// SPDX-License-Identifier: MIT
// Constants of the scheme of Saida et al. 2017 that can be chosen: beta, alpha, contact after the
// solve, gamma, m and n.
#include "support/plastic_testing.h"
#include "support/scene_text.h"
#include "world/world.h"

#define D 0.02f

static void begin(plastic_lab* lab, int32_t n, const yw_plastic_scheme* scheme, float youngs) {
  yw_shape* box = lab_box(n, n, n, D);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  part.material.youngs_modulus = youngs;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = D;
  def.parts = &part;
  def.num_parts = 1;
  def.params.sleep_speed = 0.0f;
  lab_begin_scheme(lab, &def, scheme);
  yw_shape_release(box);
}

static float fastest(const plastic_lab* lab) {
  float most = 0;
  for (int32_t m = 0; m < lab->particles.count; ++m) {
    float speed = yw_length(yw_xyz(lab->particles.vel[m]));
    if (!(speed <= most)) most = speed;
  }
  return most;
}

// (8) with alpha = 0.9, as printed, lets bodies fall with 0.9 g; that is why it is 1 here.
static void blend_scales_gravity(void** state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    const float blends[3] = {-1.0f, 0.9f, 0.5f}, expected[3] = {1.0f, 0.9f, 0.5f};
    yw_plastic_scheme scheme = yw_default_plastic_scheme();
    scheme.velocity_blend = blends[k];
    plastic_lab lab;
    begin(&lab, 3, &scheme, 1e5f);
    for (int i = 0; i < 10; ++i) assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
    assert_near(lab.particles.vel[0].y, -9.81f * 0.01f * expected[k], 1e-5);
    lab_end(&lab);
  }
}

// A cube squeezed by 5 % vibrates. A wave passes it in 0.9 ms: with steps of 2 ms forces of the
// start of the step make it explode, those of the end do not.
static void explicit_steps_must_be_short(void** state) {
  (void)state;
  float speed[2];
  for (int k = 0; k < 2; ++k) {
    yw_plastic_scheme scheme = yw_default_plastic_scheme();
    scheme.implicit_share = (float)k;
    plastic_lab lab;
    begin(&lab, 5, &scheme, 1e7f);
    lab.body->params.time_step = 2e-3f;
    lab.ctx.gravity = yw_v3(0, 0, 0);
    for (int32_t m = 0; m < lab.particles.count; ++m) {
      lab.particles.vel[m] = (yw_vec4){(lab.particles.pos[m].x - 2.5f * D) * 2.0f, 0, 0, 0};
    }
    for (int i = 0; i < 20 && lab_step(&lab, 2e-3f) >= 0; ++i) continue;
    speed[k] = fastest(&lab);
    lab_end(&lab);
  }
  assert_at_most(speed[1], 0.2);
  assert_false(speed[0] < 10.0f);
}

// Step 5 as printed lets the solve push the layer in contact into the floor.
static void contact_after_the_solve_crushes_the_lowest_layer(void** state) {
  (void)state;
  float least[2];
  for (int k = 0; k < 2; ++k) {
    yw_plastic_scheme scheme = yw_default_plastic_scheme();
    scheme.collide_after = k == 1;
    plastic_lab lab;
    begin(&lab, 6, &scheme, 1e6f);
    lab.body->params.time_step = 1e-3f;
    lab_add_floor(&lab, 0.3f);
    for (int32_t m = 0; m < lab.particles.count; ++m) lab.particles.vel[m].y = -2.0f;
    least[k] = 1.0f;
    for (int i = 0; i < 40; ++i) {
      assert_true(lab_step(&lab, 1e-3f) >= 0);
      least[k] = fminf(least[k], (float)lab_measure(&lab).least_stretch);
    }
    lab_end(&lab);
  }
  // Lost stretch at least half as much again.
  assert_at_least(1.0f - least[1], 1.5f * (1.0f - least[0]));
}

// gamma: 2.5 radii reach the 6 neighbours of a lattice, 3 also the 12 across a square.
static void reach_counts_links(void** state) {
  (void)state;
  const float reach[2] = {2.5f, 3.0f};
  // Pairs in a cube of 4: 3 * 3 * 16 along its axes, 6 * 4 * 9 across its squares.
  const int32_t links[2] = {144, 144 + 216};
  for (int k = 0; k < 2; ++k) {
    yw_plastic_scheme scheme = yw_default_plastic_scheme();
    scheme.link_reach = reach[k];
    plastic_lab lab;
    begin(&lab, 4, &scheme, 1e5f);
    assert_int_equal(lab.model->num_links, links[k]);
    lab_end(&lab);
  }
}

// (23): with n = 0 new slaves are at the masters that parted, whatever the slave between them; with
// m = 0 at that slave, and halfway with both equal.
static void new_slaves_stand_where_the_weights_say(void** state) {
  (void)state;
  const float weights[3][2] = {{2, 0}, {0, 1}, {1, 1}};
  for (int k = 0; k < 3; ++k) {
    yw_plastic_scheme scheme = yw_default_plastic_scheme();
    scheme.split_master = weights[k][0];
    scheme.split_slave = weights[k][1];
    plastic_lab lab;
    begin(&lab, 2, &scheme, 1e5f);
    lab.ctx.gravity = yw_v3(0, 0, 0);
    lab.body->rules.repair = false;
    assert_int_equal(lab_step(&lab, 1e-6f), YW_OK);
    int32_t before = lab.body->num_slaves;
    // The slaves stay behind; only the rule for masters that part is at work.
    for (int32_t m = 0; m < lab.particles.count; ++m) {
      if (lab.particles.pos[m].x > D) lab.particles.pos[m].x += 1.2f * D;
    }
    assert_true(yw_plastic_add_slaves(lab.body, &lab.particles));
    assert_at_least(lab.body->num_slaves, before + 4);
    for (int32_t s = before; s < lab.body->num_slaves; ++s) {
      yw_vec3 x = yw_xyz(lab.body->slave_pos[s]);
      float nearest = INFINITY;
      for (int32_t m = 0; m < lab.particles.count; ++m) {
        for (int32_t from = 0; from < before; ++from) {
          yw_vec3 p = yw_lerp(yw_xyz(lab.particles.pos[m]), yw_xyz(lab.body->slave_pos[from]),
                              weights[k][1] / (weights[k][0] + weights[k][1]));
          nearest = fminf(nearest, yw_distance(x, p));
        }
      }
      assert_at_most(nearest, 1e-6f);
    }
    lab_end(&lab);
  }
}

// The keys of scenes reach the model.
static void scenes_choose_the_scheme(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{ \"bodies\": [{ \"shape\": { \"box\": { \"size\": 0.1 } }, \"plastic\": {"
      " \"spacing\": 0.02, \"implicit_share\": 0.5, \"velocity_blend\": 0.9,"
      " \"collide_after\": true, \"link_reach\": 3, \"split_master\": 4,"
      " \"split_slave\": 3 } }] }");
  yw_world* world = world_of(scene);
  const plastic_body* body = world->bodies.items[world->body_order.items[0]].state;
  const yw_plastic_scheme* s = &body->model->scheme;
  assert_near(s->implicit_share, 0.5, 1e-6);
  assert_near(s->velocity_blend, 0.9, 1e-6);
  assert_true(s->collide_after);
  assert_near(s->link_reach, 3, 1e-6);
  assert_near(s->split_master, 4, 1e-6);
  assert_near(s->split_slave, 3, 1e-6);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void bad_schemes_are_refused(void** state) {
  (void)state;
  yw_shape* box = lab_box(2, 2, 2, D);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = D;
  def.parts = &part;
  def.num_parts = 1;
  void* model = NULL;
  yw_error error = {0};
  yw_plastic_scheme scheme = yw_default_plastic_scheme();
  scheme.link_reach = 5.0f;
  assert_int_equal(yw_plastic_model_create(NULL, &def, &scheme, 0.0f, &model, &error),
                   YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "link_reach is 5, but must be between 2 and 4"));
  scheme.link_reach = 2.5f;
  scheme.split_master = scheme.split_slave = 0.0f;
  assert_int_equal(yw_plastic_model_create(NULL, &def, &scheme, 0.0f, &model, &error),
                   YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "must not both be 0"));
  assert_int_equal(yw_plastic_model_create(NULL, &def, NULL, 0.5f, &model, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "slave_reach is 0.5, but must be 0 (usual) or 1 to 2"));
  yw_shape_release(box);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blend_scales_gravity),
      cmocka_unit_test(explicit_steps_must_be_short),
      cmocka_unit_test(contact_after_the_solve_crushes_the_lowest_layer),
      cmocka_unit_test(reach_counts_links),
      cmocka_unit_test(new_slaves_stand_where_the_weights_say),
      cmocka_unit_test(scenes_choose_the_scheme),
      cmocka_unit_test(bad_schemes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
