// SPDX-License-Identifier: MIT
// Stiffness of match bodies: the same material whatever the mesh and the step, the same behaviour
// at any size, and defaults that hold a body up.
#include "support/world_fixture.h"
#include "yawara/extend/vec.h"
#include "yawara/match.h"
#include "yawara/shape.h"

static const yw_quat straight = {0, 0, 0, 1};

typedef struct toy {
  yw_world* world;
  yw_body_id body;
  yw_vec3 size;
} toy;

// A body of tets whose size is given; stiffness 0: the default. The mesh is freed.
static toy make_body(yw_tet_mesh* mesh, yw_vec3 size, float stiffness, float y) {
  toy t = {.world = make_world(1, YW_SIMD_AUTO, true), .size = size};
  yw_error error = {0};
  yw_match_def def = yw_default_match_def();
  def.mesh = mesh;
  if (stiffness > 0.0f) def.params.stiffness = stiffness;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_match(NULL, &def, &model, &error), YW_OK);
  t.body = add_body(t.world, model, (yw_vec3){0, y, 0}, straight);
  yw_model_release(model);
  yw_tet_mesh_free(mesh);
  return t;
}

// A box on the floor or above it; stiffness 0: nothing but the mesh is given.
static toy make_toy(yw_vec3 size, const int32_t cells[3], float stiffness, float above) {
  yw_tet_mesh mesh = {0};
  yw_vec3 half = yw_scale(size, 0.5f);
  assert_int_equal(
      yw_tet_mesh_lattice(NULL, (yw_aabb){yw_neg(half), half}, cells, YW_LATTICE_FIVE, &mesh), 0);
  return make_body(&mesh, size, stiffness, half.y + above);
}

static yw_vec3 extent(const toy* t) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(t->world, t->body, &count);
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) box = yw_aabb_grow(box, x[i]);
  return yw_sub(box.upper, box.lower);
}

static void assert_in_range_of(double value, double low, double high) {
  assert_at_least(value, low);
  assert_at_most(value, high);
}

// Pins the vertices of the top face; the bottom is then free.
static void hang(toy* t) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(t->world, t->body, &count);
  yw_vec3* rest = malloc(sizeof *rest * (size_t)count);
  float top = -INFINITY;
  for (int32_t i = 0; i < count; ++i) {
    rest[i] = x[i];
    top = fmaxf(top, x[i].y);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (rest[i].y > top - 1e-4f * t->size.y) pin_vertex(t->world, t->body, i, false);
  }
  free(rest);
}

static void rest_for(toy* t, double seconds, float dt, int32_t substeps) {
  double end = yw_world_time(t->world) + seconds;
  while (yw_world_time(t->world) < end) {
    assert_int_equal(yw_world_step(t->world, dt, substeps, NULL), YW_OK);
  }
}

// Elongation of a hanging column, over rho g H / (2 E) times its height.
static double elongation(float height, int32_t across, float stiffness, int32_t substeps) {
  const int32_t cells[3] = {across, 4 * across, across};
  yw_vec3 size = {0.25f * height, height, 0.25f * height};
  toy t = make_toy(size, cells, stiffness, height);
  hang(&t);
  float pace = sqrtf(height);
  rest_for(&t, 12.0 * (double)pace, pace / 60.0f, substeps);
  double stretch = (double)extent(&t).y / (double)height - 1.0;
  double diagonal = (double)yw_length(size);
  yw_world_destroy(t.world);
  return stretch / ((double)height / (2.0 * (double)stiffness * diagonal));
}

// The analytic answer of a rod with Poisson's ratio 0; the error is that of one layer of cells.
static void a_hanging_column_has_the_modulus_asked_for(void** state) {
  (void)state;
  for (int32_t across = 2; across <= 6; across += 2) {
    assert_near(elongation(1.0f, across, 50.0f, 4), 1.0, 0.5 / across);
  }
}

// A leg that hangs from a block has cells of a fraction of the block's size.
static yw_tet_mesh leg_and_block(void) {
  yw_shape *block = NULL, *leg = NULL, *low = NULL, *both = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.4f, 0.3f, 0.4f}, &block), YW_OK);
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.05f, 0.4f, 0.05f}, &leg), YW_OK);
  yw_transform under = {.position = {0, -0.65f, 0}, .rotation = straight, .scale = 1};
  assert_int_equal(yw_shape_transform(NULL, leg, under, &low), YW_OK);
  yw_shape* const parts[2] = {block, low};
  assert_int_equal(yw_shape_union(NULL, 2, parts, 0, &both), YW_OK);
  yw_mesher_def def = yw_default_mesher_def();
  def.size = 0.4f;
  yw_tet_mesh mesh = {0};
  assert_int_equal(yw_shape_tets(both, NULL, &def, &mesh, NULL), YW_OK);
  yw_shape* const all[4] = {block, leg, low, both};
  for (int k = 0; k < 4; ++k) yw_shape_release(all[k]);
  return mesh;
}

// Both get longer as rods of the stiffness asked for: the leg by h^2 / (2 K L), the block by what
// hangs below its middle. L = 1.313 m is the diagonal of the box with the same inertia. The error
// is that of a leg one cell thick, as above.
static void small_tets_are_as_stiff_as_large_ones(void** state) {
  (void)state;
  const double stiffness = 20, size = 1.313, leg = 0.75, block = 0.6;
  yw_tet_mesh mesh = leg_and_block();
  toy t = make_body(&mesh, (yw_vec3){0.8f, 1.35f, 0.8f}, (float)stiffness, 2.0f);
  double before = (double)extent(&t).y;
  hang(&t);
  rest_for(&t, 3.0, 1 / 60.0f, 4);
  double longer = (double)extent(&t).y - before;
  yw_world_destroy(t.world);
  double below = (leg * 0.01 + 0.5 * block * 0.64) / 0.64;
  double expected = (0.5 * leg * leg + block * below) / (stiffness * size);
  assert_near(longer / expected, 1.0, 0.5);
}

static void stiffness_depends_on_neither_size_nor_step(void** state) {
  (void)state;
  double plain = elongation(1.0f, 2, 50.0f, 4);
  assert_near(elongation(0.01f, 2, 50.0f, 4), plain, 1e-3);
  assert_near(elongation(10.0f, 2, 50.0f, 4), plain, 1e-3);
  assert_near(elongation(1.0f, 2, 50.0f, 1), plain, 1e-3);
  assert_near(elongation(1.0f, 2, 50.0f, 64), plain, 1e-3);
  assert_near(elongation(1.0f, 2, 300.0f, 4), plain, 1e-2);
}

// Lengths scale with L, times with sqrt(L): the same motion, up to rounding that grows in contact.
static void small_and_large_bodies_move_alike(void** state) {
  (void)state;
  const int32_t cells[3] = {4, 8, 4};
  const float scales[3] = {1.0f, 0.01f, 10.0f};
  toy toys[3];
  for (int k = 0; k < 3; ++k) {
    toys[k] = make_toy(yw_scale((yw_vec3){0.5f, 1, 0.5f}, scales[k]), cells, 0.0f, scales[k]);
  }
  for (int frame = 0; frame < 60; ++frame) {
    double height[3];
    for (int k = 0; k < 3; ++k) {
      yw_world_step(toys[k].world, sqrtf(scales[k]) / 60.0f, 4, NULL);
      yw_body_sums sums;
      yw_body_sums_of(toys[k].world, toys[k].body, &sums);
      height[k] = sums.center[1] / (double)scales[k];
    }
    assert_near(height[1], height[0], 1e-2);
    assert_near(height[2], height[0], 1e-2);
  }
  for (int k = 0; k < 3; ++k) yw_world_destroy(toys[k].world);
}

// Nothing is given but the mesh: sags by less than a tenth, and has 95 % of its shape a second
// after it fell from its own height.
static void assert_holds_up(yw_vec3 size, const int32_t cells[3]) {
  toy t = make_toy(size, cells, 0.0f, 0.0f);
  rest_for(&t, 1.0, 1 / 60.0f, 4);
  assert_in_range_of((double)(extent(&t).y / size.y), 0.9, 1.02);
  yw_world_destroy(t.world);

  t = make_toy(size, cells, 0.0f, size.y);
  double fall = sqrt(2.0 * (double)size.y / 9.81);
  rest_for(&t, fall + 1.0, 1 / 60.0f, 4);
  // It may have toppled: lengths are measured along its own edges.
  int32_t count;
  const yw_vec3* x = yw_body_positions(t.world, t.body, &count);
  const int32_t nx = cells[0] + 1, nxy = nx * (cells[1] + 1);
  const int32_t far[3] = {cells[0], nx * cells[1], nxy * cells[2]};
  const float lengths[3] = {size.x, size.y, size.z};
  for (int k = 0; k < 3; ++k) {
    assert_in_range_of((double)(yw_distance(x[0], x[far[k]]) / lengths[k]), 0.95, 1.05);
  }
  yw_world_destroy(t.world);
}

static void default_toys_hold_up(void** state) {
  (void)state;
  const int32_t cube[3] = {5, 5, 5}, tall[3] = {6, 20, 2}, edge[3] = {20, 6, 2},
                flat[3] = {20, 2, 6};
  const float scales[] = {0.1f, 1.0f, 10.0f, 100.0f};
  for (int k = 0; k < 4; ++k) {
    float s = scales[k];
    assert_holds_up((yw_vec3){0.1f * s, 0.1f * s, 0.1f * s}, cube);
    assert_holds_up((yw_vec3){0.03f * s, 0.1f * s, 0.01f * s}, tall);
    assert_holds_up((yw_vec3){0.1f * s, 0.03f * s, 0.01f * s}, edge);
    assert_holds_up((yw_vec3){0.1f * s, 0.01f * s, 0.03f * s}, flat);
  }
}

// The arm, a box of tets as coarse as they are by default for its thickness.
static yw_tet_mesh arm(yw_vec3 half) {
  yw_shape* box = NULL;
  assert_int_equal(yw_shape_box(NULL, half, &box), YW_OK);
  yw_mesher_def def = yw_default_mesher_def();
  def.size = 2.0f * half.y / 1.6f;
  yw_tet_mesh mesh = {0};
  assert_int_equal(yw_shape_tets(box, NULL, &def, &mesh, NULL), YW_OK);
  yw_shape_release(box);
  return mesh;
}

// How far the end of an arm droops that is held at the other end, over what beam theory says,
// 3 rho g L^4 / (2 E T^2).
static double droop(float scale, float width, bool by_modulus) {
  const float length = scale, thick = 0.1f * scale, wanted = 0.02f * scale, g = 9.81f;
  const yw_vec3 half = {0.5f * length, 0.5f * thick, 0.5f * width * scale};
  float modulus = 1.5f * 1000.0f * g * powf(length, 4) / (wanted * thick * thick);
  yw_tet_mesh mesh = arm(half);
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  def.params.damping = 10.0f / sqrtf(scale);
  // Of the box with these moments of inertia: its own.
  float size = 2.0f * yw_length(half);
  def.params.stiffness = modulus / (1000.0f * g * size);
  yw_error error = {0};
  yw_model* model = NULL;
  assert_int_equal(by_modulus ? yw_model_create_match_modulus(NULL, &def, modulus, &model, &error)
                              : yw_model_create_match(NULL, &def, &model, &error),
                   YW_OK);
  toy t = {.world = make_world(1, YW_SIMD_AUTO, true)};
  t.body = add_body(t.world, model, (yw_vec3){0, 5.0f * scale, 0}, straight);
  int32_t count;
  const yw_vec3* x = yw_body_positions(t.world, t.body, &count);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    if (mesh.positions[i].x < -0.499f * length) pin_vertex(t.world, t.body, i, false);
  }
  // Swinging about its pins is not damped: mean over the last of several periods.
  float frame = sqrtf(scale) / 60.0f;
  double sum = 0.0;
  rest_for(&t, 60.0 * (double)frame, frame, 4);
  for (int n = 0; n < 120; ++n) {
    assert_int_equal(yw_world_step(t.world, frame, 4, NULL), YW_OK);
    double least = INFINITY;
    x = yw_body_positions(t.world, t.body, &count);
    for (int32_t i = 0; i < count; ++i) least = fmin(least, (double)x[i].y);
    sum += least / 120.0;
  }
  yw_world_destroy(t.world);
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
  return (5.0 * (double)scale - (double)half.y - sum) / (double)wanted;
}

// Rods and plates less than two tets thick, within the factor that words may differ by; their
// stiffness alone makes them more than twice as stiff. Size does not matter.
static void thin_arms_bend_as_their_modulus_says(void** state) {
  (void)state;
  const float scales[3] = {0.01f, 1.0f, 10.0f};
  for (int k = 0; k < 3; ++k) {
    assert_in_range_of(droop(scales[k], 0.1f, true), 1.0 / 1.5, 1.5);
    assert_in_range_of(droop(scales[k], 0.5f, true), 1.0 / 1.5, 1.5);
  }
  assert_at_most(droop(1.0f, 0.1f, false), 0.5);
}

static void a_modulus_out_of_range_is_refused(void** state) {
  (void)state;
  yw_tet_mesh mesh = arm((yw_vec3){0.5f, 0.2f, 0.2f});
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  const float bad[] = {0.0f, -1.0f, NAN, INFINITY, 1e30f};
  for (int k = 0; k < 5; ++k) {
    yw_error error = {0};
    yw_model* model = NULL;
    assert_int_equal(yw_model_create_match_modulus(NULL, &def, bad[k], &model, &error),
                     YW_ERR_INVALID);
    assert_non_null(strstr(error.message, k < 4 ? "youngs_modulus is" : "stiffness is"));
  }
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hanging_column_has_the_modulus_asked_for),
      cmocka_unit_test(small_tets_are_as_stiff_as_large_ones),
      cmocka_unit_test(stiffness_depends_on_neither_size_nor_step),
      cmocka_unit_test(small_and_large_bodies_move_alike),
      cmocka_unit_test(default_toys_hold_up),
      cmocka_unit_test(thin_arms_bend_as_their_modulus_says),
      cmocka_unit_test(a_modulus_out_of_range_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
