// SPDX-License-Identifier: MIT
// Poses given as meshes of another topology: weights are those of the pose given for the tets
// themselves, and the residual says how well it worked.
#include "math/small/trig.h"
#include "support/testing.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"
#include "yawara/yawara.h"

typedef struct fit_case {
  yw_tet_mesh mesh;     // of the body
  yw_vec3* original;    // the pose of its vertices
  yw_tet_mesh other;    // the same shape with other tets, in the pose
  yw_tri_mesh surface;  // of these
  yw_vec3* fitted;
} fit_case;

static void deform(int32_t count, yw_vec3* points, yw_deform_kind kind, float amount) {
  yw_deform d = yw_default_deform(kind);
  d.amount = amount;
  d.length = 2.0f;
  assert_int_equal(yw_deform_apply(&d, count, points, points, NULL), YW_OK);
}

static void make_box(const int32_t cells[3], yw_lattice_cut cut, yw_tet_mesh* out) {
  yw_aabb box = {{-0.5f, -1, -0.5f}, {0.5f, 1, 0.5f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, cut, out), YW_OK);
}

// A body of 4 x 8 x 4 cells and the pose on 5 x 11 x 6 cells, cut differently.
static void fit_begin(fit_case* c, int num, const yw_deform_kind* kinds, const float* amounts) {
  const int32_t cells[3] = {4, 8, 4}, others[3] = {5, 11, 6};
  *c = (fit_case){0};
  make_box(cells, YW_LATTICE_FIVE, &c->mesh);
  make_box(others, YW_LATTICE_SIX, &c->other);
  size_t bytes = sizeof(yw_vec3) * (size_t)c->mesh.num_vertices;
  c->original = malloc(bytes);
  c->fitted = malloc(bytes);
  memcpy(c->original, c->mesh.positions, bytes);
  for (int i = 0; i < num; ++i) {
    deform(c->mesh.num_vertices, c->original, kinds[i], amounts[i]);
    deform(c->other.num_vertices, c->other.positions, kinds[i], amounts[i]);
  }
  assert_int_equal(yw_tet_mesh_surface(&c->other, NULL, &c->surface, NULL), YW_OK);
}

static void fit_end(fit_case* c) {
  free(c->original);
  free(c->fitted);
  yw_tet_mesh_free(&c->mesh);
  yw_tet_mesh_free(&c->other);
  yw_tri_mesh_free(&c->surface);
}

static yw_pose_fit fit_pose(fit_case* c, yw_pose_align align, int32_t num,
                            const yw_landmark* landmarks) {
  const yw_pose_fit_def def = {.rest = &c->mesh,
                               .pose = &c->surface,
                               .align = align,
                               .num_landmarks = num,
                               .landmarks = landmarks};
  yw_pose_fit fit = {0};
  yw_error error = {0};
  if (yw_tets_from_pose_mesh(&def, c->fitted, &fit, &error) < 0) fail_msg("%s", error.message);
  return fit;
}

// The weight of an example for a body held in a given pose.
static double weight_of(const fit_case* c, const yw_vec3* example, const yw_vec3* held) {
  const yw_vec3* const examples[1] = {example};
  yw_match_def def = yw_default_match_def();
  def.mesh = &c->mesh;
  def.num_examples = 1;
  def.examples = examples;
  yw_model* model;
  yw_world* world;
  yw_error error = {0};
  assert_true(yw_model_create_match(NULL, &def, &model, &error) >= 0);
  yw_world_def world_def = yw_default_world_def();
  world_def.gravity = yw_v3(0, 0, 0);
  world_def.threads = 1;
  assert_int_equal(yw_world_create(&world_def, &world), YW_OK);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.pose = held;
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &body_def, &id, &error), YW_OK);
  assert_true(yw_world_step(world, 1e-5f, 1, NULL) >= 0);
  float weights[2] = {0};
  assert_int_equal(yw_body_match_weights(world, id, weights, 2), 1);
  yw_world_destroy(world);
  yw_model_release(model);
  return (double)weights[1];
}

// Halfway to the pose, in it, and in the poses' own words: within 2 %.
static void assert_same_weights(const fit_case* c) {
  int32_t n = c->mesh.num_vertices;
  yw_vec3* held = malloc(sizeof(yw_vec3) * (size_t)n);
  for (int k = 1; k <= 4; ++k) {
    for (int32_t i = 0; i < n; ++i) {
      held[i] = yw_lerp(c->mesh.positions[i], c->original[i], 0.25f * (float)k);
    }
    double expected = weight_of(c, c->original, held);
    assert_near(weight_of(c, c->fitted, held), expected, 0.02);
  }
  free(held);
}

static void remeshed_poses_give_the_same_weights(void** state) {
  (void)state;
  static const struct {
    int count;
    yw_deform_kind kinds[2];
    float amounts[2];
  } poses[] = {{1, {YW_DEFORM_SQUASH}, {0.3f}},
               {2, {YW_DEFORM_BEND, YW_DEFORM_SQUASH}, {0.8f, 0.15f}},
               {2, {YW_DEFORM_TAPER, YW_DEFORM_STRETCH}, {0.5f, 0.4f}}};
  for (size_t i = 0; i < sizeof poses / sizeof *poses; ++i) {
    fit_case c;
    fit_begin(&c, poses[i].count, poses[i].kinds, poses[i].amounts);
    yw_pose_fit fit = fit_pose(&c, YW_ALIGN_NONE, 0, NULL);
    // Cells of the pose are about 0.2 m.
    assert_at_most(fit.mean, 0.004);
    assert_at_most(fit.worst, 0.05);
    assert_same_weights(&c);
    fit_end(&c);
  }
}

// A twist by a quarter turn looks like none; points on the edges tell.
static void landmarks_tell_a_twist(void** state) {
  (void)state;
  const yw_deform_kind kinds[2] = {YW_DEFORM_TWIST, YW_DEFORM_SQUASH};
  const float amounts[2] = {1.7f, 0.3f};
  fit_case c;
  fit_begin(&c, 2, kinds, amounts);
  yw_landmark marks[20];
  yw_vec3 there[20];
  for (int i = 0; i < 20; ++i) {
    float x = i % 2 ? 0.5f : -0.5f, z = i / 2 % 2 ? 0.5f : -0.5f;
    there[i] = marks[i].rest = yw_v3(x, -1.0f + 0.5f * (float)(i / 4), z);
  }
  // The twist is about the middle: both ends of the body are in the list, so its length is known.
  for (int i = 0; i < 2; ++i) deform(20, there, kinds[i], amounts[i]);
  for (int i = 0; i < 20; ++i) marks[i].pose = there[i];
  fit_pose(&c, YW_ALIGN_NONE, 20, marks);
  assert_same_weights(&c);
  fit_end(&c);
}

// Elsewhere, turned and in millimetres: the same pose.
static void similarity_finds_the_pose_anywhere(void** state) {
  (void)state;
  const yw_deform_kind kinds[2] = {YW_DEFORM_BEND, YW_DEFORM_TAPER};
  const float amounts[2] = {0.8f, 0.3f};
  fit_case c;
  fit_begin(&c, 2, kinds, amounts);
  double here = (double)fit_pose(&c, YW_ALIGN_RIGID, 0, NULL).mean;
  yw_quat turn = yw_quat_axis_angle(yw_v3(0, 0, 1), 1.9f);
  for (int32_t i = 0; i < c.surface.num_vertices; ++i) {
    yw_vec3 p = yw_rotate(turn, yw_scale(c.surface.positions[i], 1000.0f));
    c.surface.positions[i] = yw_add(p, yw_v3(5000, -300, 40));
  }
  yw_pose_fit fit = fit_pose(&c, YW_ALIGN_SIMILARITY, 0, NULL);
  // Bent and tapered boxes have the volume of the box to a few per cent.
  assert_near(fit.scale, 0.001, 0.0001);
  assert_at_most(fit.mean, fmax(2.0 * here, 0.004));
  fit_end(&c);
}

// The residual warns: the pose is somewhere else and may not be moved.
static void residuals_tell_a_bad_fit(void** state) {
  (void)state;
  const yw_deform_kind kind = YW_DEFORM_SQUASH;
  const float amount = 0.2f;
  fit_case c;
  fit_begin(&c, 1, &kind, &amount);
  // A box cannot be two boxes: a second one stands beside it.
  int32_t n = c.surface.num_vertices, m = c.surface.num_triangles;
  yw_vec3* positions = malloc(2 * sizeof(yw_vec3) * (size_t)n);
  int32_t* triangles = malloc(6 * sizeof(int32_t) * (size_t)m);
  for (int32_t i = 0; i < 2 * n; ++i) {
    positions[i] = yw_add(c.surface.positions[i % n], yw_v3(i < n ? 0.0f : 3.0f, 0, 0));
  }
  for (int32_t i = 0; i < 6 * m; ++i) {
    triangles[i] = c.surface.triangles[i % (3 * m)] + (i < 3 * m ? 0 : n);
  }
  const yw_tri_mesh both = {.num_vertices = 2 * n,
                            .num_triangles = 2 * m,
                            .positions = positions,
                            .triangles = triangles};
  const yw_pose_fit_def def = {.rest = &c.mesh, .pose = &both};
  yw_pose_fit fit = {0};
  assert_true(yw_tets_from_pose_mesh(&def, c.fitted, &fit, NULL) >= 0);
  assert_at_least(fit.worst, 0.2);
  free(positions);
  free(triangles);
  fit_end(&c);
}

static void wrong_input_is_refused(void** state) {
  (void)state;
  const yw_deform_kind kind = YW_DEFORM_SQUASH;
  const float amount = 0.2f;
  fit_case c;
  fit_begin(&c, 1, &kind, &amount);
  yw_error error = {0};
  yw_landmark bad = {{NAN, 0, 0}, {0, 0, 0}};
  yw_pose_fit_def def = {
      .rest = &c.mesh, .pose = &c.surface, .num_landmarks = 1, .landmarks = &bad};
  assert_int_equal(yw_tets_from_pose_mesh(&def, c.fitted, NULL, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "landmark 0 is not finite"));
  yw_tri_mesh empty = {0};
  def = (yw_pose_fit_def){.rest = &c.mesh, .pose = &empty};
  assert_int_equal(yw_tets_from_pose_mesh(&def, c.fitted, NULL, &error), YW_ERR_INVALID);
  fit_end(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(remeshed_poses_give_the_same_weights),
      cmocka_unit_test(landmarks_tell_a_twist),
      cmocka_unit_test(similarity_finds_the_pose_anywhere),
      cmocka_unit_test(residuals_tell_a_bad_fit),
      cmocka_unit_test(wrong_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
