// SPDX-License-Identifier: MIT
#include "support/testing.h"

#include "yawara/extend/vec.h"
#include "yawara/mesh.h"
#include "yawara/pose.h"

static const float pi = 3.14159265f;

// A bar along an axis: 2 m long, 0.4 m wide, centred at the origin.
static yw_tet_mesh make_bar(void) {
  yw_tet_mesh mesh;
  yw_aabb box = {{-0.2f, -1, -0.2f}, {0.2f, 1, 0.2f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, (int32_t[]){6, 60, 6}, YW_LATTICE_SIX, &mesh), 0);
  return mesh;
}

static double volume_of(const yw_tet_mesh* mesh) {
  yw_tet_quality quality;
  assert_int_equal(yw_tet_mesh_quality(mesh, &quality), YW_OK);
  assert_true(quality.min_volume > 0.0f);
  return quality.volume;
}

static yw_vec3 moved(const yw_deform* deform, yw_vec3 p) {
  assert_int_equal(yw_deform_apply(deform, 1, &p, &p, NULL), YW_OK);
  return p;
}

static void assert_near3(yw_vec3 p, double x, double y, double z) {
  assert_near(p.x, x, 2e-6);
  assert_near(p.y, y, 2e-6);
  assert_near(p.z, z, 2e-6);
}

static void amount_zero_changes_no_bit(void** state) {
  (void)state;
  test_random random = {1};
  for (int kind = 0; kind < YW_DEFORM_COUNT; ++kind) {
    yw_deform deform = yw_default_deform((yw_deform_kind)kind);
    deform.axis = yw_v3(0.3f, 0.7f, -0.2f);
    deform.origin = yw_v3(0.1f, 3, -7);
    for (int i = 0; i < 100; ++i) {
      yw_vec3 p = {(float)test_random_in(&random, -2, 2), (float)test_random_in(&random, -2, 2),
                   (float)test_random_in(&random, -2, 2)};
      yw_vec3 q = moved(&deform, p);
      assert_memory_equal(&p, &q, sizeof p);
    }
  }
}

static void the_origin_stays(void** state) {
  (void)state;
  for (int kind = 0; kind < YW_DEFORM_COUNT; ++kind) {
    yw_deform deform = yw_default_deform((yw_deform_kind)kind);
    deform.axis = yw_v3(1, 2, 3);
    deform.origin = yw_v3(0.5f, -1, 2);
    deform.amount = 0.5f;
    deform.length = 2;
    yw_vec3 p = moved(&deform, deform.origin);
    assert_near3(p, 0.5, -1, 2);
  }
}

static void twist_keeps_volume_and_turns_ends_by_the_amount(void** state) {
  (void)state;
  yw_tet_mesh bar = make_bar();
  double before = volume_of(&bar);
  yw_deform twist = yw_default_deform(YW_DEFORM_TWIST);
  twist.amount = pi;
  assert_int_equal(yw_deform_apply(&twist, bar.num_vertices, bar.positions, bar.positions, NULL),
                   0);
  assert_near(volume_of(&bar) / before, 1.0, 2e-3);
  yw_tet_mesh_free(&bar);

  // Right-handed: at the upper end, a quarter turn from the middle, x goes to -z.
  twist.length = 2;
  assert_near3(moved(&twist, yw_v3(0.2f, 1, 0)), 0, 1, -0.2);
  assert_near3(moved(&twist, yw_v3(0.2f, -1, 0)), 0, -1, 0.2);
}

static double length_of_axis(const yw_deform* deform) {
  enum { PARTS = 1000 };
  double length = 0.0;
  for (int i = 0; i < PARTS; ++i) {
    yw_vec3 a = {0, -1 + 2.0f * (float)i / PARTS, 0},
            b = {0, -1 + 2.0f * (float)(i + 1) / PARTS, 0};
    length += (double)yw_distance(moved(deform, a), moved(deform, b));
  }
  return length;
}

static void bends_keep_the_length_of_the_axis(void** state) {
  (void)state;
  for (int kind = YW_DEFORM_BEND; kind <= YW_DEFORM_S_BEND; ++kind) {
    yw_deform bend = yw_default_deform((yw_deform_kind)kind);
    bend.length = 2;
    for (int i = 0; i < 6; ++i) {
      bend.amount = (const float[]){1e-6f, 1e-3f, 0.1f, 1, 3, -2}[i];
      assert_near(length_of_axis(&bend), 2.0, 1e-4);
    }
  }
}

static void bend_by_half_a_turn_makes_a_half_circle(void** state) {
  (void)state;
  yw_deform bend = yw_default_deform(YW_DEFORM_BEND);
  bend.length = 2;
  bend.amount = pi;
  double r = 2.0 / 3.14159265358979;
  assert_near3(moved(&bend, yw_v3(0, 1, 0)), r, r, 0);
  assert_near3(moved(&bend, yw_v3(0, -1, 0)), r, -r, 0);
  assert_near3(moved(&bend, yw_v3(0.1f, 0, 0.1f)), 0.1, 0, 0.1);
  yw_tet_mesh bar = make_bar();
  double before = volume_of(&bar);
  assert_int_equal(yw_deform_apply(&bend, bar.num_vertices, bar.positions, bar.positions, NULL), 0);
  assert_near(volume_of(&bar) / before, 1.0, 2e-3);  // straight axis through the middle: Pappus
  yw_tet_mesh_free(&bar);
}

// Without a direction, a bar bends towards the coordinate axis that is farthest from its own; of
// two as far, towards the first.
static void bends_without_a_direction_go_across(void** state) {
  (void)state;
  const yw_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const double toward[3][3] = {{0, 1, 0}, {1, 0, 0}, {1, 0, 0}};
  for (int k = 0; k < 3; ++k) {
    yw_deform bend = yw_default_deform(YW_DEFORM_BEND);
    bend.length = 2;
    bend.amount = pi;
    bend.axis = axes[k];
    bend.toward = yw_v3(0, 0, 0);
    double r = 2.0 / 3.14159265358979;
    const double end[3] = {(double)axes[k].x, (double)axes[k].y, (double)axes[k].z};
    assert_near3(moved(&bend, axes[k]), r * (end[0] + toward[k][0]), r * (end[1] + toward[k][1]),
                 r * (end[2] + toward[k][2]));
  }
}

static void s_bend_is_symmetric_about_its_origin(void** state) {
  (void)state;
  yw_deform bend = yw_default_deform(YW_DEFORM_S_BEND);
  bend.length = 2;
  bend.amount = pi / 2;
  double r = 2.0 / 3.14159265358979;
  assert_near3(moved(&bend, yw_v3(0, 1, 0)), r, r, 0);
  assert_near3(moved(&bend, yw_v3(0, -1, 0)), -r, -r, 0);
  yw_tet_mesh bar = make_bar();
  assert_int_equal(yw_deform_apply(&bend, bar.num_vertices, bar.positions, bar.positions, NULL), 0);
  assert_true(volume_of(&bar) > 0.0);
  yw_tet_mesh_free(&bar);
}

static void linear_kinds_do_what_their_numbers_say(void** state) {
  (void)state;
  yw_deform deform = yw_default_deform(YW_DEFORM_SHEAR);
  deform.amount = 0.5f;
  deform.length = 2;
  yw_vec3 p = {0.2f, 1, 0.3f};
  assert_near3(moved(&deform, p), 0.7, 1, 0.3);
  deform.kind = YW_DEFORM_TAPER;
  assert_near3(moved(&deform, p), 0.25, 1, 0.375);
  deform.kind = YW_DEFORM_SQUASH;
  assert_near3(moved(&deform, p), 0.2 * sqrt(2), 0.5, 0.3 * sqrt(2));
  deform.kind = YW_DEFORM_STRETCH;
  assert_near3(moved(&deform, p), 0.2, 1.5, 0.3);
  deform.kind = YW_DEFORM_SCALE;
  assert_near3(moved(&deform, p), 0.3, 1.5, 0.45);
}

static void names_go_both_ways(void** state) {
  (void)state;
  for (int k = 0; k < YW_DEFORM_COUNT; ++k) {
    assert_int_equal(yw_deform_from_name(yw_deform_name((yw_deform_kind)k)), k);
  }
  assert_int_equal(yw_deform_from_name("twirl"), -1);
}

static void senseless_numbers_are_refused(void** state) {
  (void)state;
  yw_vec3 points[2] = {{0, -1, 0}, {0, 1, 0}}, out[2];
  yw_error error;
  yw_deform deform = yw_default_deform(YW_DEFORM_SQUASH);
  deform.amount = 1;
  assert_int_equal(yw_deform_apply(&deform, 2, points, out, &error), YW_ERR_INVALID);
  deform = yw_default_deform(YW_DEFORM_STRETCH);
  deform.amount = -1;
  assert_int_equal(yw_deform_apply(&deform, 2, points, out, &error), YW_ERR_INVALID);
  deform = yw_default_deform(YW_DEFORM_TAPER);
  deform.amount = 2;
  assert_int_equal(yw_deform_apply(&deform, 2, points, out, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "taper"));
  deform = yw_default_deform(YW_DEFORM_TWIST);
  deform.amount = NAN;
  assert_int_equal(yw_deform_apply(&deform, 2, points, out, &error), YW_ERR_INVALID);
  deform.amount = 1;
  deform.axis = yw_v3(0, 0, 0);
  assert_int_equal(yw_deform_apply(&deform, 2, points, out, &error), YW_ERR_INVALID);
  deform.axis = yw_v3(1, 0, 0);
  assert_int_equal(yw_deform_apply(&deform, 2, points, out, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "length"));
  points[1].x = NAN;
  assert_int_equal(yw_deform_apply(&deform, 2, points, out, &error), YW_ERR_GEOMETRY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(amount_zero_changes_no_bit),
      cmocka_unit_test(the_origin_stays),
      cmocka_unit_test(twist_keeps_volume_and_turns_ends_by_the_amount),
      cmocka_unit_test(bends_keep_the_length_of_the_axis),
      cmocka_unit_test(bend_by_half_a_turn_makes_a_half_circle),
      cmocka_unit_test(bends_without_a_direction_go_across),
      cmocka_unit_test(s_bend_is_symmetric_about_its_origin),
      cmocka_unit_test(linear_kinds_do_what_their_numbers_say),
      cmocka_unit_test(names_go_both_ways),
      cmocka_unit_test(senseless_numbers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
