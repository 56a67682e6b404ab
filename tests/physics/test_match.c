// SPDX-License-Identifier: MIT
// Laws of example-based shape matching.
#include "support/test_match.h"
#include "yawara/match.h"

// Fixed point -------------------------------------------------------------------------------------

// Largest |g - x| of one step that goes all the way to the goals.
static double largest_pull(match_case* c) {
  case_set(c, 1.0f, 0.95f, 0.0f);
  assert_at_least(case_step(c, 1), 0);
  double largest = 0;
  for (int32_t p = 0; p < c->particles.count; ++p) {
    largest = fmax(largest, (double)(yw_length(yw_xyz(c->particles.vel[p])) * c->ctx.h));
  }
  return largest;
}

static void assert_fixed_point(int cx, int cy, int cz, float far, yw_grouping grouping) {
  match_case c;
  float weights[3];
  case_begin(&c, cx, cy, cz);
  case_add_example(&c, YW_DEFORM_TWIST, 1.0f);
  case_add_example(&c, YW_DEFORM_BEND, 0.8f);
  c.def.grouping = grouping;
  case_build(&c);
  case_place(&c, NULL, some_rotation(), (yw_vec3){far, -far, 0.5f * far});
  // Positions themselves are stored with this rounding.
  double stored = (double)far * 6e-8 * 2;
  assert_at_most(largest_pull(&c), 1e-6 * c.size + stored);
  if (grouping == YW_GROUPS_GLOBAL) {
    assert_int_equal(yw_match_weights(c.state, weights, 3), 1);
    assert_near(weights[0], 1, 1e-4);
    // No more are written than there is room for.
    float few[3] = {7, 7, 7};
    assert_int_equal(yw_match_weights(c.state, few, 2), 1);
    assert_near(few[1], weights[1], 0);
    assert_near(few[2], 7, 0);
  }
  assert_int_equal(c.report.recovered, 0);
  case_end(&c);
}

static void regions_have_their_widths(void** state) {
  (void)state;
  for (int width = -1; width <= YW_MATCH_MAX_WIDTH + 1; ++width) {
    match_case c;
    case_begin(&c, 2, 2, 2);
    c.def.region_width = width;
    if (width >= 0 && width <= YW_MATCH_MAX_WIDTH) {
      case_build(&c);
    } else {
      yw_error error = {0};
      assert_int_equal(yw_match_model_create(NULL, &c.def, 0.0, &c.model, &error), YW_ERR_INVALID);
      assert_non_null(strstr(error.message, "region_width"));
    }
    case_end(&c);
  }
}

static void rest_pose_is_a_fixed_point(void** state) {
  (void)state;
  assert_fixed_point(4, 8, 4, 0.0f, YW_GROUPS_GLOBAL);
  assert_fixed_point(4, 8, 4, 3.0f, YW_GROUPS_PER_REGION);
  assert_fixed_point(4, 8, 4, 100.0f, YW_GROUPS_GLOBAL);
  assert_fixed_point(8, 24, 8, 1.0f, YW_GROUPS_GLOBAL);
}

static void rest_pose_of_a_large_body_far_away_is_a_fixed_point(void** state) {
  (void)state;
  assert_fixed_point(19, 49, 19, 100.0f, YW_GROUPS_GLOBAL);
  assert_fixed_point(1, 1, 2000, 50.0f, YW_GROUPS_GLOBAL);
}

// Projection --------------------------------------------------------------------------------------

static void build_three(match_case* c, yw_grouping grouping, const int32_t* labels) {
  case_begin(c, 4, 8, 4);
  case_add_example(c, YW_DEFORM_TWIST, 1.2f);
  case_add_example(c, YW_DEFORM_S_BEND, 0.7f);
  case_add_example(c, YW_DEFORM_SQUASH, 0.4f);
  c->def.grouping = grouping;
  c->def.vertex_labels = labels;
  case_build(c);
}

// A body in the pose of example k, however rotated, projects to exactly that example.
static void pose_of_an_example_projects_to_it(void** state) {
  (void)state;
  match_case c;
  build_three(&c, YW_GROUPS_GLOBAL, NULL);
  for (int projection = 0; projection < 2; ++projection) {
    for (int k = 0; k < 3; ++k) {
      float w[4];
      yw_match_params params = {
          .alpha = 0.8f, .beta = 0.95f, .projection = (yw_projection)projection};
      assert_int_equal(yw_match_set_params(c.state, &params), 0);
      case_place(&c, c.examples[k], some_rotation(), (yw_vec3){3, 2, 1});
      case_step(&c, 1);
      assert_int_equal(yw_match_weights(c.state, w, 4), 1);
      for (int j = 0; j < 4; ++j) assert_near(w[j], j == k + 1, 1e-4);
    }
  }
  case_end(&c);
}

// Halves in different poses choose different examples.
static void groups_choose_for_themselves(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 4, 8, 4);
  int32_t n = c.mesh.num_vertices;
  int32_t* labels = malloc((size_t)n * sizeof *labels);
  yw_vec3* pose = malloc((size_t)n * sizeof *pose);
  for (int32_t v = 0; v < n; ++v) labels[v] = c.mesh.positions[v].y > 0.45f ? 7 : -3;
  case_end(&c);

  build_three(&c, YW_GROUPS_LABELS, labels);
  // Squashed above, at rest below: vertices near the border see both.
  float middle = 0.4f;
  for (int32_t v = 0; v < n; ++v) {
    pose[v] = c.mesh.positions[v];
    if (pose[v].y > middle) {
      pose[v] = yw_add(c.examples[2][v], (yw_vec3){0, middle - middle * 0.6f, 0});
    }
  }
  case_place(&c, pose, some_rotation(), (yw_vec3){0, 1, 0});
  case_step(&c, 1);
  float w[8];
  assert_int_equal(yw_match_weights(c.state, w, 8), 2);
  assert_at_least(w[0], 0.85);      // label -3: at rest
  assert_at_least(w[4 + 3], 0.85);  // label 7: squashed
  assert_at_most(w[3], 0.15);
  case_end(&c);
  free(labels);
  free(pose);
}

// Under uniform stretches all regions are unambiguous.
static void every_region_chooses_for_itself(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 4, 8, 4);
  case_add_example(&c, YW_DEFORM_STRETCH, 0.5f);
  case_add_example(&c, YW_DEFORM_SCALE, 0.4f);
  c.def.grouping = YW_GROUPS_PER_REGION;
  case_build(&c);
  for (int k = 0; k < 2; ++k) {
    case_place(&c, c.examples[k], some_rotation(), (yw_vec3){0, 0, 0});
    case_step(&c, 1);
    float w[3 * 225];
    assert_int_equal(yw_match_weights(c.state, w, 3 * 225), 225);
    for (int g = 0; g < 225; ++g) {
      for (int j = 0; j < 3; ++j) assert_near(w[3 * g + j], j == k + 1, 1e-4);
    }
  }
  case_end(&c);
}

// Two examples are weighed by lanes in float, more by the solver in double: a third that repeats
// the second makes no difference.
static void both_ways_to_weigh_regions_agree(void** state) {
  (void)state;
  match_case two, three;
  test_random random = {5};
  for (int k = 0; k < 2; ++k) {
    match_case* c = k == 0 ? &two : &three;
    case_begin(c, 4, 8, 4);
    case_add_example(c, YW_DEFORM_TWIST, 1.2f);
    case_add_example(c, YW_DEFORM_BEND, 1.0f);
    if (k == 1) case_add_example(c, YW_DEFORM_BEND, 1.0f);
    c->def.grouping = YW_GROUPS_PER_REGION;
    case_build(c);
  }
  yw_vec3 pose[225];
  for (int v = 0; v < 225; ++v) {
    float share = (float)test_random_in(&random, -0.2, 1.2);
    pose[v] = yw_lerp(two.mesh.positions[v], two.examples[v % 2][v], share);
  }
  case_place(&two, pose, some_rotation(), (yw_vec3){0, 0, 0});
  case_place(&three, pose, some_rotation(), (yw_vec3){0, 0, 0});
  case_step(&two, 1);
  case_step(&three, 1);
  float w2[3 * 225], w3[4 * 225];
  yw_match_weights(two.state, w2, 3 * 225);
  yw_match_weights(three.state, w3, 4 * 225);
  for (int r = 0; r < 225; ++r) {
    assert_near(w2[3 * r], w3[4 * r], 1e-3);
    assert_near(w2[3 * r + 1], w3[4 * r + 1], 1e-3);
    assert_near(w2[3 * r + 2], w3[4 * r + 2] + w3[4 * r + 3], 1e-3);
  }
  case_end(&two);
  case_end(&three);
}

// With beta = 0 examples have no effect: the same motion as without any.
static void examples_without_beta_change_nothing(void** state) {
  (void)state;
  match_case with, without;
  build_three(&with, YW_GROUPS_GLOBAL, NULL);
  case_begin(&without, 4, 8, 4);
  case_build(&without);
  case_set(&with, 0.8f, 0.0f, 2.0f);
  case_place(&with, with.examples[1], some_rotation(), (yw_vec3){0, 0, 0});
  case_place(&without, with.examples[1], some_rotation(), (yw_vec3){0, 0, 0});
  case_step(&with, 20);
  case_step(&without, 20);
  for (int32_t v = 0; v < with.mesh.num_vertices; ++v) {
    yw_vec3 a = yw_xyz(with.particles.pos[with.order[v]]);
    yw_vec3 b = yw_xyz(without.particles.pos[without.order[v]]);
    assert_at_most(yw_distance(a, b), 2e-4 * with.size);
  }
  case_end(&with);
  case_end(&without);
}

// Momentum ----------------------------------------------------------------------------------------

static void assert_case_keeps_momenta(match_case* c, int steps) {
  case_build(c);
  case_place(c, NULL, some_rotation(), (yw_vec3){0, 0, 0});
  // Spinning, moving, and shaken.
  test_random random = {7};
  for (int32_t p = 0; p < c->particles.count; ++p) {
    yw_vec3 x = yw_xyz(c->particles.pos[p]);
    yw_vec3 v = yw_add((yw_vec3){1, 2, -0.5f}, yw_cross((yw_vec3){2, 6, -3}, x));
    v.x += (float)test_random_in(&random, -0.5, 0.5);
    v.y += (float)test_random_in(&random, -0.5, 0.5);
    v.z += (float)test_random_in(&random, -0.5, 0.5);
    c->particles.vel[p] = yw_v4(v);
  }
  double p0[3], l0[3], p1[3], l1[3];
  case_momenta(c, p0, l0);
  case_step(c, steps);
  case_momenta(c, p1, l1);
  for (int k = 0; k < 3; ++k) {
    assert_near(p1[k], p0[k], 1e-5 * norm3(p0));
    assert_near(l1[k], l0[k], 1e-5 * norm3(l0));
  }
  case_end(c);
}

static void assert_momenta_kept(int num_examples, yw_grouping grouping, float damping,
                                float viscosity) {
  match_case c;
  case_begin(&c, 4, 8, 4);
  if (num_examples > 0) case_add_example(&c, YW_DEFORM_TWIST, 1.0f);
  if (num_examples > 1) case_add_example(&c, YW_DEFORM_BEND, 0.8f);
  c.def.grouping = grouping;
  c.def.params.damping = damping;
  c.def.params.viscosity = viscosity;
  assert_case_keeps_momenta(&c, 1000);
}

static void momenta_are_kept(void** state) {
  (void)state;
  assert_momenta_kept(0, YW_GROUPS_GLOBAL, 0.0f, 0.0f);
  assert_momenta_kept(0, YW_GROUPS_GLOBAL, 5.0f, 0.0f);
  assert_momenta_kept(2, YW_GROUPS_GLOBAL, 2.0f, 0.0f);
  assert_momenta_kept(2, YW_GROUPS_PER_REGION, 2.0f, 0.0f);
  assert_momenta_kept(2, YW_GROUPS_GLOBAL, YW_MATCH_DEFAULT, YW_MATCH_DEFAULT);
  assert_momenta_kept(2, YW_GROUPS_PER_REGION, YW_MATCH_DEFAULT, YW_MATCH_DEFAULT);
}

enum { SPINDLES = 16, RIM = 200 };

// Spindles about one centre: rims of tets around short axes, whose ends touch all of their rim.
static void make_spindles(yw_tet_mesh* mesh) {
  assert_int_equal(yw_tet_mesh_create(NULL, SPINDLES * (RIM + 2), SPINDLES * RIM, mesh), YW_OK);
  test_random random = {3};
  int32_t* tet = mesh->tets;
  for (int32_t s = 0, v = 0; s < SPINDLES; ++s, v += RIM + 2) {
    yw_vec3* x = mesh->positions + v;
    yw_quat turn = {(float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1),
                    (float)test_random_in(&random, -1, 1), 1};
    turn = yw_quat_normalize(turn);
    x[0] = yw_rotate(turn, (yw_vec3){0, 0, -0.1f});
    x[1] = yw_rotate(turn, (yw_vec3){0, 0, 0.1f});
    for (int32_t k = 0; k < RIM; ++k, tet += 4) {
      float angle = 6.2831853f * (float)k / RIM;
      x[2 + k] = yw_rotate(turn, (yw_vec3){yw_cosf(angle), yw_sinf(angle), 0});
      const int32_t corners[4] = {v, v + 1, v + 2 + k, v + 2 + (k + 1) % RIM};
      memcpy(tet, corners, sizeof corners);
    }
  }
}

// Where vertices touch hundreds of others, the body is worked on in smaller parts.
static void momenta_are_kept_where_many_tets_meet(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 1, 1, 1);
  yw_tet_mesh_free(&c.mesh);
  make_spindles(&c.mesh);
  case_add_example(&c, YW_DEFORM_TWIST, 1.0f);
  assert_case_keeps_momenta(&c, 100);
}

// Damping scales non-rigid motion by exp(-damping t), here with matching switched off.
static void damping_leaves_rigid_motion_alone(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 4, 8, 4);
  case_build(&c);
  case_set(&c, 0.0f, 0.95f, 3.0f);
  case_place(&c, NULL, some_rotation(), (yw_vec3){0, 0, 0});
  double before = 0, after = 0;
  yw_vec3 center = yw_rotate(some_rotation(), (yw_vec3){0.2f, 0.4f, 0.2f});
  for (int32_t p = 0; p < c.particles.count; ++p) {
    // A pulsation of the whole body: no momentum, no spin.
    c.particles.vel[p] = yw_v4(yw_sub(yw_xyz(c.particles.pos[p]), center));
    before += (double)yw_length2(yw_xyz(c.particles.vel[p]));
  }
  case_step(&c, 80);
  for (int32_t p = 0; p < c.particles.count; ++p) {
    after += (double)yw_length2(yw_xyz(c.particles.vel[p]));
  }
  assert_near(sqrt(after / before), exp(-1.0), 1e-4);
  case_end(&c);
}

// Recovery ----------------------------------------------------------------------------------------

typedef yw_vec3 (*wreck_fn)(yw_vec3 x, test_random* random);

static yw_vec3 to_point(yw_vec3 x, test_random* random) {
  (void)x;
  (void)random;
  return (yw_vec3){1, 1, 1};
}

static yw_vec3 to_line(yw_vec3 x, test_random* random) {
  (void)random;
  return (yw_vec3){0.3f * x.y, x.y, -0.2f * x.y};
}

static yw_vec3 to_plane(yw_vec3 x, test_random* random) {
  (void)random;
  return (yw_vec3){x.x, x.y, 0.4f * x.x - 0.1f * x.y};
}

static yw_vec3 to_mirror(yw_vec3 x, test_random* random) {
  (void)random;
  return (yw_vec3){-x.x, x.y, x.z};
}

static yw_vec3 through_plane(yw_vec3 x, test_random* random) {
  (void)random;
  return (yw_vec3){x.x, fabsf(x.y - 0.35f), x.z};
}

static yw_vec3 scattered(yw_vec3 x, test_random* random) {
  (void)x;
  return (yw_vec3){(float)test_random_in(random, 0, 1), (float)test_random_in(random, 0, 1),
                   (float)test_random_in(random, 0, 1)};
}

static void assert_recovers(const char* name, wreck_fn wreck, int num_examples,
                            yw_grouping grouping, const int cells[3], uint64_t seed) {
  match_case c;
  test_random random = {seed};
  case_begin(&c, cells[0], cells[1], cells[2]);
  if (num_examples > 0) case_add_example(&c, YW_DEFORM_TWIST, 1.0f);
  if (num_examples > 1) case_add_example(&c, YW_DEFORM_BEND, 0.8f);
  c.def.grouping = grouping;
  case_build(&c);
  for (int32_t v = 0; v < c.mesh.num_vertices; ++v) {
    c.particles.pos[c.order[v]] = yw_v4(wreck(c.mesh.positions[v], &random));
  }
  yw_match_method.invalidate(c.state, &c.particles);
  for (int second = 0; second < 10; ++second) {
    assert_at_least(case_step(&c, 240), 0);
    assert_true(case_is_finite(&c));
  }
  double distance = case_distance(&c, NULL);
  if (!(distance < 0.01 * c.size)) {
    fail_msg("%s, %d examples: %.3g of the size from rest", name, num_examples, distance / c.size);
  }
  case_end(&c);
}

static void wrecked_bodies_recover(void** state) {
  (void)state;
  const struct {
    const char* name;
    wreck_fn wreck;
  } wrecks[] = {{"point", to_point},   {"line", to_line},         {"plane", to_plane},
                {"mirror", to_mirror}, {"folded", through_plane}, {"scatter", scattered}};
  for (size_t i = 0; i < sizeof wrecks / sizeof wrecks[0]; ++i) {
    const int cells[3] = {4, 8, 4};
    assert_recovers(wrecks[i].name, wrecks[i].wreck, 0, YW_GROUPS_GLOBAL, cells, 11);
    assert_recovers(wrecks[i].name, wrecks[i].wreck, 2, YW_GROUPS_GLOBAL, cells, 11);
    assert_recovers(wrecks[i].name, wrecks[i].wreck, 2, YW_GROUPS_PER_REGION, cells, 11);
  }
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const int cells[3] = {3 + (int)(seed % 3), 4, 2 + (int)(seed % 4)};
    assert_recovers("scatter", scattered, (int)(seed % 3), YW_GROUPS_GLOBAL, cells, seed);
  }
}

// beta --------------------------------------------------------------------------------------------

static void body_released_from_an_example_returns_unless_beta_is_one(void** state) {
  (void)state;
  const yw_grouping groupings[2] = {YW_GROUPS_GLOBAL, YW_GROUPS_PER_REGION};
  for (int g = 0; g < 2; ++g) {
    for (int stays = 0; stays < 2; ++stays) {
      match_case c;
      case_begin(&c, 4, 8, 4);
      yw_vec3* pose = case_add_example(&c, YW_DEFORM_STRETCH, 0.3f);
      c.def.grouping = groupings[g];
      c.def.params.beta = stays ? 1.0f : 0.95f;
      case_build(&c);
      case_place(&c, pose, some_rotation(), (yw_vec3){0, 0, 0});
      case_step(&c, 5 * 240);
      assert_at_most(case_distance(&c, stays ? pose : NULL), 0.01 * c.size);
      case_end(&c);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regions_have_their_widths),
      cmocka_unit_test(rest_pose_is_a_fixed_point),
      cmocka_unit_test(rest_pose_of_a_large_body_far_away_is_a_fixed_point),
      cmocka_unit_test(pose_of_an_example_projects_to_it),
      cmocka_unit_test(groups_choose_for_themselves),
      cmocka_unit_test(every_region_chooses_for_itself),
      cmocka_unit_test(both_ways_to_weigh_regions_agree),
      cmocka_unit_test(examples_without_beta_change_nothing),
      cmocka_unit_test(momenta_are_kept),
      cmocka_unit_test(momenta_are_kept_where_many_tets_meet),
      cmocka_unit_test(damping_leaves_rigid_motion_alone),
      cmocka_unit_test(wrecked_bodies_recover),
      cmocka_unit_test(body_released_from_an_example_returns_unless_beta_is_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
