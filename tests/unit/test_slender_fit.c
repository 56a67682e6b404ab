// SPDX-License-Identifier: MIT
// Orientations of rods: given ones are checked, and those found from positions alone turn the rest
// directions to where the rod points now, half turns included.
#include "support/slender_testing.h"
#include "yawara/slender.h"

enum { COUNT = 5 };

static yw_rod_def rod_along(yw_vec3 way, yw_vec3* points) {
  for (int i = 0; i < COUNT; ++i) points[i] = yw_scale(way, 0.1f * (float)i);
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = COUNT;
  return def;
}

static void given_frames_point_along_the_rod(void** state) {
  (void)state;
  yw_vec3 points[COUNT];
  yw_rod_def def = rod_along(yw_v3(1, 0, 0), points);
  // A quarter turn about y takes z to x; the opposite one takes it to -x.
  const float r = 0.70710678f;
  yw_quat frames[COUNT];
  for (int i = 0; i < COUNT; ++i) frames[i] = (yw_quat){0, r, 0, r};
  def.frames = frames;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_rod(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  yw_model_release(model);
  frames[3] = (yw_quat){0, -r, 0, r};
  assert_int_equal(yw_model_create_rod(NULL, &def, &model, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "the third axis of frame 3 does not point along the rod"));
  frames[3] = (yw_quat){0, 0, 0, 0};
  assert_int_equal(yw_model_create_rod(NULL, &def, &model, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "frame 3 is not a rotation"));
  // A single ball may be turned any way.
  frames[0] = (yw_quat){0, -r, 0, r};
  def.num_points = 1;
  if (yw_model_create_rod(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  yw_model_release(model);
}

// Whatever the rest direction and the new one, also where they are opposite.
static void fitted_turns_take_rods_to_their_direction(void** state) {
  (void)state;
  static const yw_vec3 ways[] = {{1, 0, 0},        {0, 1, 0},           {0, 0, 1},
                                 {-1, 0, 0},       {0, -1, 0},          {0, 0, -1},
                                 {0.6f, 0, 0.8f},  {-0.6f, 0, -0.8f},   {0, 0.6f, -0.8f},
                                 {0, -0.6f, 0.8f}, {0.48f, 0.6f, 0.64f}};
  const int num_ways = (int)(sizeof ways / sizeof *ways);
  for (int a = 0; a < num_ways; ++a) {
    yw_vec3 points[COUNT];
    yw_rod_def def = rod_along(ways[a], points);
    void* made = NULL;
    yw_error error = {0};
    if (yw_rod_model_create(NULL, &def, &made, &error) < 0) fail_msg("%s", error.message);
    const slender_model* model = made;
    for (int b = 0; b < num_ways; ++b) {
      yw_vec4 pos[COUNT];
      double scratch[COUNT][9];
      yw_turn q[COUNT];
      for (int i = 0; i < COUNT; ++i) pos[i] = yw_v4(yw_scale(ways[b], 0.1f * (float)i));
      yw_slender_fit_turns(model, pos, scratch, q);
      const double from[3] = {(double)ways[a].x, (double)ways[a].y, (double)ways[a].z};
      for (int i = 0; i < COUNT; ++i) {
        double to[3];
        yw_turn_apply(q[i], from, to);
        assert_near(to[0], ways[b].x, 1e-6);
        assert_near(to[1], ways[b].y, 1e-6);
        assert_near(to[2], ways[b].z, 1e-6);
      }
    }
    yw_slender_model_destroy(made);
  }
}

static int vertices_at_radius(const float* along, int axis, double radius) {
  yw_vec3 points[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    points[i] = yw_v3(axis == 0 ? along[i] : 0, axis == 1 ? along[i] : 0, axis == 2 ? along[i] : 0);
  }
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = COUNT;
  def.radius = (float)radius;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_rod(NULL, &def, &model, NULL), YW_OK);
  const yw_tri_mesh* surface = yw_model_surface(model);
  int count = 0;
  for (int32_t v = 0; v < surface->num_vertices; ++v) {
    const float* x = &surface->positions[v].x;
    double u = (double)x[(axis + 1) % 3], w = (double)x[(axis + 2) % 3];
    count += fabs(sqrt(u * u + w * w) - radius) < 1e-3 * radius;
  }
  yw_model_release(model);
  return count;
}

// A rod that turns back on itself is as round as a straight one: its frames turn with it.
static void rods_may_turn_back(void** state) {
  (void)state;
  const float ahead[COUNT] = {0, 0.1f, 0.2f, 0.3f, 0.4f}, back[COUNT] = {0, 0.1f, 0.2f, 0.1f, 0};
  for (int axis = 0; axis < 3; ++axis) {
    const int straight = vertices_at_radius(ahead, axis, 0.02);
    assert_at_least(straight, 8 * COUNT);
    assert_at_least(vertices_at_radius(back, axis, 0.02), 0.9 * straight);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(given_frames_point_along_the_rod),
      cmocka_unit_test(fitted_turns_take_rods_to_their_direction),
      cmocka_unit_test(rods_may_turn_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
