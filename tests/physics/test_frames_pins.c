// SPDX-License-Identifier: MIT
// Pins that move a frames body faster than waves travel in it: what a step costs, counted in
// iterations, and whether the body comes out of it in its shape.
#include "support/world_fixture.h"
#include "yawara/extend/vec.h"

#define FRAMES_MOVING 60
#define FRAMES_AFTER 360

typedef struct dragged {
  int64_t iterations, newton, stalled;
  int32_t count;
  yw_vec3* x;  // relative to the pin, once it has stood still
} dragged;

static yw_model* make_bar(float youngs, yw_tet_mesh* mesh) {
  const int32_t cells[3] = {12, 4, 4};
  yw_aabb box = {{0, -0.1f, -0.1f}, {0.6f, 0.1f, 0.1f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, mesh), YW_OK);
  yw_frames_def def = yw_default_frames_def();
  def.mesh = mesh;
  def.youngs_modulus = youngs;
  def.params.damping = 2.0f;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_frames(NULL, &def, &model, NULL), YW_OK);
  return model;
}

// Holds the end x = 0 and moves it sideways for a second.
static dragged drag(float youngs, float speed, int after) {
  yw_tet_mesh mesh = {0};
  yw_model* model = make_bar(youngs, &mesh);
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  int32_t held[64], count = 0;
  for (int32_t v = 0; v < mesh.num_vertices; ++v) {
    if (mesh.positions[v].x < 0.01f) held[count++] = v;
  }
  yw_pin_def def = yw_default_pin_def();
  def.body = id;
  def.vertices = held;
  def.num_vertices = count;
  yw_pin_id pin;
  assert_int_equal(yw_pin_create(world, &def, &pin, NULL), YW_OK);
  dragged out = {0};
  yw_vec3 offset = {0, 0, 0};
  for (int i = 0; i < FRAMES_MOVING + after; ++i) {
    if (i < FRAMES_MOVING) offset.z = speed * (float)(i + 1) / 60.0f;
    assert_int_equal(yw_pin_move(world, pin, offset, (yw_quat){0, 0, 0, 1}), YW_OK);
    yw_step_report report;
    assert_true(yw_world_step(world, 1.0f / 60.0f, 1, &report) >= 0);
    yw_frames_statistics now;
    assert_int_equal(yw_body_frames_statistics(world, id, &now), YW_OK);
    if (i >= FRAMES_MOVING) continue;
    out.iterations += now.iterations;
    out.newton += now.newton_steps;
    out.stalled += report.stalled_solves;
  }
  const yw_vec3* x = yw_body_positions(world, id, &out.count);
  out.x = malloc(sizeof *out.x * (size_t)out.count);
  for (int32_t i = 0; i < out.count; ++i) out.x[i] = yw_sub(x[i], offset);
  yw_world_destroy(world);
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
  return out;
}

// Waves travel at 3, 12 and 120 m/s.
static void fast_pins_cost_at_most_twice_as_much(void** state) {
  (void)state;
  static const float moduli[] = {1e4f, 1e5f, 1e7f};
  for (int k = 0; k < 3; ++k) {
    dragged slow = drag(moduli[k], 3.0f, 0), fast = drag(moduli[k], 20.0f, 0);
    print_message("%.0e Pa: %lld iterations in %lld Newton steps at 3 m/s, %lld in %lld at 20\n",
                  (double)moduli[k], (long long)slow.iterations, (long long)slow.newton,
                  (long long)fast.iterations, (long long)fast.newton);
    assert_at_most(fast.iterations, 2 * slow.iterations);
    assert_at_most(fast.newton, 2 * slow.newton);
    assert_int_equal(fast.stalled, 0);
    free(slow.x);
    free(fast.x);
  }
}

// Six seconds after the pin has stopped.
static void bodies_recover_from_fast_pins(void** state) {
  (void)state;
  static const float moduli[] = {1e4f, 1e5f, 1e7f};
  for (int k = 0; k < 3; ++k) {
    dragged still = drag(moduli[k], 0.0f, FRAMES_AFTER),
            fast = drag(moduli[k], 20.0f, FRAMES_AFTER);
    double worst = 0;
    for (int32_t i = 0; i < still.count; ++i) {
      worst = fmax(worst, (double)yw_distance(still.x[i], fast.x[i]));
    }
    print_message("%.0e Pa: %.4f m from the pose of a body at rest\n", (double)moduli[k], worst);
    assert_at_most(worst, 0.05 * 0.6);
    free(still.x);
    free(fast.x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fast_pins_cost_at_most_twice_as_much),
      cmocka_unit_test(bodies_recover_from_fast_pins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
