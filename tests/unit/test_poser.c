// SPDX-License-Identifier: MIT
// Poses made by hand: handles, brush, symmetry, deformers, undo.
#include <math.h>
#include <string.h>

#include "core/poser.h"
#include "support/testing.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// A bar along x, 1 m long, left and right alike.
static yw_model* make_model(bool frames) {
  yw_tet_mesh mesh;
  yw_model* model = NULL;
  yw_aabb box = {{-0.5f, -0.1f, -0.1f}, {0.5f, 0.1f, 0.1f}};
  const int32_t cells[3] = {10, 2, 2};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  if (frames) {
    yw_frames_def def = yw_default_frames_def();
    def.mesh = &mesh;
    assert_int_equal(yw_model_create_frames(NULL, &def, &model, NULL), YW_OK);
  } else {
    yw_match_def def = yw_default_match_def();
    def.mesh = &mesh;
    assert_int_equal(yw_model_create_match(NULL, &def, &model, NULL), YW_OK);
  }
  yw_tet_mesh_free(&mesh);
  return model;
}

// A rod along x, 1 m long.
static yw_model* make_rod(void) {
  yw_vec3 points[21];
  for (int i = 0; i < 21; ++i) points[i] = yw_v3(-0.5f + 0.05f * (float)i, 0, 0);
  yw_rod_def def = yw_default_rod_def();
  yw_model* model = NULL;
  def.points = points;
  def.num_points = 21;
  assert_int_equal(yw_model_create_rod(NULL, &def, &model, NULL), YW_OK);
  return model;
}

// A strip along x, 1 m long.
static yw_model* make_sheet(void) {
  enum { ACROSS = 3, ALONG = 11 };
  yw_tri_mesh mesh;
  int32_t cells = (ACROSS - 1) * (ALONG - 1);
  assert_int_equal(yw_tri_mesh_create(NULL, ACROSS * ALONG, 2 * cells, &mesh), YW_OK);
  for (int i = 0; i < ACROSS * ALONG; ++i) {
    mesh.positions[i] =
        yw_v3(-0.5f + 0.1f * (float)(i / ACROSS), 0, -0.1f + 0.1f * (float)(i % ACROSS));
  }
  for (int c = 0; c < cells; ++c) {
    int32_t v = c / (ACROSS - 1) * ACROSS + c % (ACROSS - 1);
    const int32_t corners[6] = {v, v + 1, v + ACROSS, v + 1, v + ACROSS + 1, v + ACROSS};
    memcpy(mesh.triangles + 6 * (size_t)c, corners, sizeof corners);
  }
  yw_sheet_def def = yw_default_sheet_def();
  yw_model* model = NULL;
  def.mesh = &mesh;
  assert_int_equal(yw_model_create_sheet(NULL, &def, &model, NULL), YW_OK);
  yw_tri_mesh_free(&mesh);
  return model;
}

static const yw_quat still = {0, 0, 0, 1};

static void settle(poser* p, int frames) {
  for (int i = 0; i < frames; ++i) poser_step(p);
}

static int32_t nearest(const poser* p, yw_vec3 at) {
  int32_t best = 0;
  const yw_vec3* rest = yw_model_points(p->source, NULL);
  for (int32_t i = 1; i < p->count; ++i) {
    if (yw_distance(rest[i], at) < yw_distance(rest[best], at)) best = i;
  }
  return best;
}

static poser_grip grip_at(float x, float y, float z) {
  return (poser_grip){.at = {x, y, z}, .radius = 0.15f, .strength = 0.8f, .falloff = 1.5f};
}

// The held end goes where it is moved, the far end stays, and what lies between bends smoothly.
static void a_handle_bends_the_body(void** state) {
  (void)state;
  for (int frames = 0; frames < 2; ++frames) {
    yw_model* model = make_model(frames);
    poser* p = poser_create(model, NULL, NULL);
    poser_grip grip = grip_at(0.5f, 0, 0);
    int32_t id = 0;
    assert_int_equal(poser_hold(p, &grip, &id, NULL), YW_OK);
    assert_int_equal(p->num_handles, 2);  // and the far side
    assert_int_equal(poser_move(p, id, yw_v3(0, 0.2f, 0), still, 1.0f, NULL), YW_OK);
    settle(p, 90);
    assert_near(p->now[nearest(p, yw_v3(0.5f, 0, 0))].y, 0.2, 2e-3);
    assert_near(p->now[nearest(p, yw_v3(-0.5f, 0, 0))].y, 0.0, 2e-3);
    float middle = p->now[nearest(p, yw_v3(0, 0, 0))].y;
    if (!(middle > 0.02f && middle < 0.18f)) fail_msg("the middle rose by %g m", (double)middle);
    poser_destroy(p);
    yw_model_release(model);
  }
}

// The end of a rod or a strip is turned upwards: what lies between becomes an arc that keeps its
// length, and the arc is the new shape once everything is let go.
static void thin_bodies_bend(void** state) {
  (void)state;
  yw_model* models[2] = {make_rod(), make_sheet()};
  for (int k = 0; k < 2; ++k) {
    poser* p = poser_create(models[k], NULL, NULL);
    assert_non_null(p);
    poser_grip grip = grip_at(0.5f, 0, 0);
    int32_t id = 0;
    yw_error error = {0};
    assert_int_equal(poser_hold(p, &grip, &id, &error), YW_OK);
    yw_quat upwards = {0, 0, 0.70710678f, 0.70710678f};
    assert_int_equal(poser_move(p, id, yw_v3(-0.2f, 0.3f, 0), upwards, 1.0f, &error), YW_OK);
    settle(p, 90);
    float length = 0.0f, highest = 0.0f;
    for (int i = 0; i < 10; ++i) {
      float x = -0.5f + 0.1f * (float)i;
      int32_t a = nearest(p, yw_v3(x, 0, 0)), b = nearest(p, yw_v3(x + 0.1f, 0, 0));
      length += yw_distance(p->now[a], p->now[b]);
      highest = fmaxf(highest, p->now[b].y);
    }
    assert_near(length, 1.0, 0.03);
    assert_near(p->now[nearest(p, yw_v3(-0.5f, 0, 0))].y, 0.0, 2e-3);
    assert_true(highest > 0.3f);
    assert_int_equal(poser_bake(p, &error), YW_OK);
    yw_vec3 end = p->now[nearest(p, yw_v3(0.5f, 0, 0))];
    settle(p, 30);
    assert_near(yw_distance(end, p->now[nearest(p, yw_v3(0.5f, 0, 0))]), 0.0, 1e-6);
    poser_destroy(p);
    yw_model_release(models[k]);
  }
}

// Turning one end about the bar twists it; scaling makes it wider.
static void handles_turn_and_scale(void** state) {
  (void)state;
  yw_model* model = make_model(false);
  poser* p = poser_create(model, NULL, NULL);
  poser_grip grip = grip_at(0.5f, 0, 0);
  int32_t id = 0;
  assert_int_equal(poser_hold(p, &grip, &id, NULL), YW_OK);
  yw_quat quarter = {0.38268343f, 0, 0, 0.92387953f};  // 45 degrees about x
  assert_int_equal(poser_move(p, id, yw_v3(0, 0, 0), quarter, 1.5f, NULL), YW_OK);
  settle(p, 90);
  yw_vec3 corner = p->now[nearest(p, yw_v3(0.5f, 0.1f, 0.1f))];
  // A corner at 45 degrees is turned upright, 1.5 times as far from the axis.
  assert_near(corner.y, 0.0, 5e-3);
  assert_near(corner.z, 1.5 * 0.14142, 5e-3);
  poser_destroy(p);
  yw_model_release(model);
}

static void the_other_side_does_the_same(void** state) {
  (void)state;
  yw_model* model = make_model(false);
  poser* p = poser_create(model, NULL, NULL);
  poser_grip grip = grip_at(0.5f, 0, 0);
  grip.mirror = true;
  int32_t id = 0;
  assert_int_equal(poser_hold(p, &grip, &id, NULL), YW_OK);
  assert_int_equal(poser_move(p, id, yw_v3(0.1f, 0.15f, 0), still, 1.0f, NULL), YW_OK);
  settle(p, 60);
  yw_vec3 right = p->now[nearest(p, yw_v3(0.5f, 0, 0))];
  yw_vec3 left = p->now[nearest(p, yw_v3(-0.5f, 0, 0))];
  assert_near(right.x, 0.6, 5e-3);
  assert_near(left.x, -0.6, 5e-3);
  assert_near(left.y, right.y, 1e-3);
  poser_drop(p, id);
  for (int32_t i = 0; i < p->num_handles; ++i) assert_true(p->handles[i].anchor);
  poser_destroy(p);
  yw_model_release(model);
}

// What is held in the middle moves up and down, but not to one side.
static void the_middle_stays_in_the_middle(void** state) {
  (void)state;
  yw_model* model = make_model(false);
  poser* p = poser_create(model, NULL, NULL);
  poser_grip grip = grip_at(0.03f, 0.1f, 0);
  grip.mirror = grip.brush = true;
  int32_t id = 0;
  assert_int_equal(poser_hold(p, &grip, &id, NULL), YW_OK);
  assert_int_equal(poser_move(p, id, yw_v3(0.1f, 0.06f, 0), still, 1.0f, NULL), YW_OK);
  settle(p, 60);
  assert_int_equal(poser_end_stroke(p, NULL), YW_OK);
  float rise = p->now[nearest(p, yw_v3(0, 0.1f, 0))].y - 0.1f;
  yw_vec3 right = p->now[nearest(p, yw_v3(0.1f, 0.1f, 0))];
  yw_vec3 left = p->now[nearest(p, yw_v3(-0.1f, 0.1f, 0))];
  assert_true(rise > 0.01f);
  assert_near(right.x, -left.x, 1e-6);
  assert_near(right.y, left.y, 1e-6);
  poser_destroy(p);
  yw_model_release(model);
}

// A brush pulls most where it is, not at all three radii away, and what it made stays.
static void a_brush_stroke_stays(void** state) {
  (void)state;
  yw_model* model = make_model(true);
  poser* p = poser_create(model, NULL, NULL);
  poser_grip grip = grip_at(0.2f, 0.1f, 0);
  grip.brush = true;
  int32_t id = 0;
  assert_int_equal(poser_hold(p, &grip, &id, NULL), YW_OK);
  assert_int_equal(poser_move(p, id, yw_v3(0, 0.08f, 0), still, 1.0f, NULL), YW_OK);
  settle(p, 60);
  assert_int_equal(poser_end_stroke(p, NULL), YW_OK);
  assert_int_equal(p->num_handles, 0);
  settle(p, 30);
  float under = p->now[nearest(p, yw_v3(0.2f, 0.1f, 0))].y - 0.1f;
  float far = p->now[nearest(p, yw_v3(-0.5f, 0.1f, 0))].y - 0.1f;
  if (!(under > 0.02f && under < 0.08f)) fail_msg("under the brush it rose by %g m", (double)under);
  assert_near(far, 0.0, 1e-6);
  poser_destroy(p);
  yw_model_release(model);
}

// A brush as large as the body does not carry it away.
static void a_large_brush_leaves_the_far_side(void** state) {
  (void)state;
  yw_model* model = make_model(false);
  poser* p = poser_create(model, NULL, NULL);
  poser_grip grip = grip_at(0.5f, 0, 0);
  grip.brush = true;
  grip.radius = 0.4f;
  int32_t id = 0;
  assert_int_equal(poser_hold(p, &grip, &id, NULL), YW_OK);
  assert_int_equal(poser_move(p, id, yw_v3(0.2f, 0, 0), still, 1.0f, NULL), YW_OK);
  settle(p, 60);
  assert_near(p->now[nearest(p, yw_v3(-0.5f, 0, 0))].x, -0.5, 1e-3);
  assert_true(p->now[nearest(p, yw_v3(0.5f, 0, 0))].x > 0.55f);
  poser_destroy(p);
  yw_model_release(model);
}

// A stroke that would turn tets inside out is undone, and says so.
static void inverted_strokes_are_undone(void** state) {
  (void)state;
  yw_model* model = make_model(false);
  poser* p = poser_create(model, NULL, NULL);
  poser_grip grip = grip_at(0.2f, 0.1f, 0);
  grip.brush = true;
  grip.strength = 1.0f;
  int32_t id = 0;
  yw_error error = {0};
  assert_int_equal(poser_hold(p, &grip, &id, NULL), YW_OK);
  assert_int_equal(poser_move(p, id, yw_v3(0, -0.8f, 0), still, 1.0f, NULL), YW_OK);
  settle(p, 60);
  assert_int_equal(poser_end_stroke(p, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "inside out"));
  assert_memory_equal(p->now, p->shape, (size_t)p->count * sizeof *p->now);
  assert_memory_equal(p->now, yw_model_tets(model)->positions, (size_t)p->count * sizeof *p->now);
  poser_destroy(p);
  yw_model_release(model);
}

// Deformers always start from the shape before them: back to 0 is back to the start.
static void deformers_do_not_pile_up(void** state) {
  (void)state;
  yw_model* model = make_model(false);
  poser* p = poser_create(model, NULL, NULL);
  float amounts[YW_DEFORM_COUNT] = {0};
  size_t bytes = (size_t)p->count * sizeof *p->now;
  for (int i = 1; i <= 5; ++i) {
    amounts[YW_DEFORM_STRETCH] = 0.1f * (float)i;
    assert_int_equal(poser_deform(p, amounts, yw_v3(1, 0, 0), NULL), YW_OK);
  }
  assert_near(p->now[nearest(p, yw_v3(0.5f, 0, 0))].x, 0.75, 1e-5);
  amounts[YW_DEFORM_STRETCH] = 0.0f;
  assert_int_equal(poser_deform(p, amounts, yw_v3(1, 0, 0), NULL), YW_OK);
  assert_memory_equal(p->now, yw_model_tets(model)->positions, bytes);
  amounts[YW_DEFORM_TAPER] = 50.0f;
  yw_error error = {0};
  assert_true(poser_deform(p, amounts, yw_v3(1, 0, 0), &error) < 0);
  assert_memory_equal(p->now, yw_model_tets(model)->positions, bytes);
  poser_destroy(p);
  yw_model_release(model);
}

static void states_come_back(void** state) {
  (void)state;
  yw_model* model = make_model(false);
  poser* p = poser_create(model, NULL, NULL);
  poser_grip grip = grip_at(0.5f, 0, 0);
  int32_t id = 0, other = 0;
  assert_int_equal(poser_hold(p, &grip, &id, NULL), YW_OK);
  assert_int_equal(poser_move(p, id, yw_v3(0, 0.2f, 0), still, 1.0f, NULL), YW_OK);
  settle(p, 60);
  assert_true(poser_save(p));
  int32_t num_words = p->num_words;
  float* words = YW_NEW_ARRAY(NULL, float, num_words);
  memcpy(words, p->words, (size_t)num_words * sizeof *words);
  poser_grip second = grip_at(0, 0.1f, 0);
  assert_int_equal(poser_hold(p, &second, &other, NULL), YW_OK);
  assert_int_equal(poser_move(p, other, yw_v3(0, -0.1f, 0), still, 1.0f, NULL), YW_OK);
  settle(p, 60);
  assert_true(poser_load(p, words, num_words));
  assert_int_equal(p->num_handles, 2);
  settle(p, 30);
  // It was at rest, and still is.
  const yw_vec3* saved = (const yw_vec3*)(const void*)(words + 3 * p->count);
  for (int32_t i = 0; i < p->count; ++i) assert_true(yw_distance(p->now[i], saved[i]) < 2e-3f);
  // Cut short, nothing is read beyond the end.
  assert_false(poser_load(p, words, num_words - 3));
  assert_false(poser_load(p, words, 10));
  // Nor with numbers that are none.
  for (int32_t i = 6 * p->count; i < num_words; ++i) {
    float kept = words[i];
    words[i] = i % 2 ? NAN : 3e38f;
    poser_load(p, words, num_words);
    words[i] = kept;
  }
  assert_true(poser_load(p, words, num_words));
  yw_mem_free(NULL, words);
  poser_destroy(p);
  yw_model_release(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_handle_bends_the_body),
      cmocka_unit_test(thin_bodies_bend),
      cmocka_unit_test(handles_turn_and_scale),
      cmocka_unit_test(the_other_side_does_the_same),
      cmocka_unit_test(the_middle_stays_in_the_middle),
      cmocka_unit_test(a_brush_stroke_stays),
      cmocka_unit_test(a_large_brush_leaves_the_far_side),
      cmocka_unit_test(inverted_strokes_are_undone),
      cmocka_unit_test(deformers_do_not_pile_up),
      cmocka_unit_test(states_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
