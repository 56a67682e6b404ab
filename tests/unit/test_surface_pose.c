// SPDX-License-Identifier: MIT
#include "support/testing.h"

#include "yawara/extend/vec.h"
#include "yawara/model.h"
#include "yawara/pose.h"

static yw_tet_mesh make_bar(float half_width, float half_height, int cells) {
  yw_tet_mesh mesh;
  yw_aabb box = {{-half_width, -half_height, -half_width}, {half_width, half_height, half_width}};
  int32_t counts[3] = {cells, 2 * cells, cells};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, counts, YW_LATTICE_FIVE, &mesh), YW_OK);
  return mesh;
}

// A finer surface inside the tets.
static yw_tri_mesh make_skin(void) {
  yw_tet_mesh fine = make_bar(0.2f, 0.45f, 8);
  yw_tri_mesh skin;
  assert_int_equal(yw_tet_mesh_surface(&fine, NULL, &skin, NULL), YW_OK);
  yw_tet_mesh_free(&fine);
  return skin;
}

static yw_vec3* pose_tets(const yw_tet_mesh* tets, const yw_tri_mesh* skin, const yw_vec3* pose) {
  yw_vec3* out = malloc((size_t)tets->num_vertices * sizeof(yw_vec3));
  yw_error error;
  if (yw_tets_from_surface_pose(tets, skin, pose, out, &error)) fail_msg("%s", error.message);
  return out;
}

static void affine_poses_are_met_exactly(void** state) {
  (void)state;
  yw_tet_mesh tets = make_bar(0.25f, 0.5f, 4);
  yw_tri_mesh skin = make_skin();
  yw_mat3 map = {{1.2f, 0.5f, -0.1f}, {-0.4f, 0.9f, 0.2f}, {0.1f, -0.3f, 1.4f}};
  yw_vec3 offset = {3, -2, 1};
  yw_vec3* pose = malloc((size_t)skin.num_vertices * sizeof(yw_vec3));
  for (int i = 0; i < skin.num_vertices; ++i) {
    pose[i] = yw_add(yw_mul(map, skin.positions[i]), offset);
  }
  yw_vec3* out = pose_tets(&tets, &skin, pose);
  for (int i = 0; i < tets.num_vertices; ++i) {
    yw_vec3 expected = yw_add(yw_mul(map, tets.positions[i]), offset);
    assert_at_most(yw_distance(out[i], expected), 2e-6);
  }
  free(pose);
  free(out);
  yw_tri_mesh_free(&skin);
  yw_tet_mesh_free(&tets);
}

// A twist or a bend given for the skin only is found again in all tets, none of which flips.
static void bent_poses_are_carried_inside(void** state) {
  (void)state;
  for (int kind = YW_DEFORM_TWIST; kind <= YW_DEFORM_S_BEND; ++kind) {
    yw_tet_mesh tets = make_bar(0.25f, 0.5f, 6);
    yw_tri_mesh skin = make_skin();
    yw_deform deform = yw_default_deform((yw_deform_kind)kind);
    deform.amount = kind == YW_DEFORM_S_BEND ? 0.7f : 1.5f;
    deform.length = 1;
    size_t bytes = (size_t)tets.num_vertices * sizeof(yw_vec3);
    yw_vec3* pose = malloc((size_t)skin.num_vertices * sizeof(yw_vec3));
    yw_vec3* expected = malloc(bytes);
    assert_int_equal(yw_deform_apply(&deform, skin.num_vertices, skin.positions, pose, NULL), 0);
    assert_int_equal(yw_deform_apply(&deform, tets.num_vertices, tets.positions, expected, NULL),
                     0);
    yw_vec3* out = pose_tets(&tets, &skin, pose);
    double sum2 = 0.0;
    for (int i = 0; i < tets.num_vertices; ++i) {
      sum2 += (double)yw_length2(yw_sub(out[i], expected[i]));
    }
    assert_at_most(sqrt(sum2 / tets.num_vertices), 0.01);
    memcpy(tets.positions, out, bytes);
    yw_error error;
    if (yw_tet_mesh_check(&tets, &error) != YW_OK) fail_msg("%s", error.message);
    free(pose);
    free(expected);
    free(out);
    yw_tri_mesh_free(&skin);
    yw_tet_mesh_free(&tets);
  }
}

// A flat patch does not determine the perpendicular direction, whichever that is; the result is
// still finite and close.
static void a_flat_surface_gives_a_sane_pose(void** state) {
  (void)state;
  static const yw_vec3 across[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, -1}};
  yw_tet_mesh tets = make_bar(0.25f, 0.5f, 3);
  for (size_t k = 0; k < sizeof across / sizeof *across; ++k) {
    yw_vec3 n = yw_normalize_or(across[k], yw_v3(0, 0, 1));
    yw_vec3 u = yw_normalize_or(yw_cross(n, yw_v3(1, 2, 3)), yw_v3(0, 0, 1));
    yw_vec3 v = yw_cross(n, u);
    yw_tri_mesh patch;
    assert_int_equal(yw_tri_mesh_create(NULL, 25, 0, &patch), YW_OK);
    yw_vec3 pose[25];
    for (int i = 0; i < 25; ++i) {
      patch.positions[i] = yw_add(yw_scale(u, 0.05f * (float)(i % 5) - 0.1f),
                                  yw_scale(v, 0.1f * (float)(i / 5) - 0.2f));
      // Stretched by a fifth along v.
      float along = yw_dot(patch.positions[i], v);
      pose[i] = yw_add(yw_mad(patch.positions[i], 0.2f * along, v), yw_v3(1, 2, 3));
    }
    yw_vec3* out = pose_tets(&tets, &patch, pose);
    for (int i = 0; i < tets.num_vertices; ++i) {
      yw_vec3 x = tets.positions[i];
      yw_vec3 expected = yw_add(yw_mad(x, 0.2f * yw_dot(x, v), v), yw_v3(1, 2, 3));
      assert_at_most(yw_distance(out[i], expected), 1e-4);
    }
    free(out);
    yw_tri_mesh_free(&patch);
  }
  yw_tet_mesh_free(&tets);
}

static void bad_poses_are_refused_by_name(void** state) {
  (void)state;
  yw_tet_mesh tets = make_bar(0.25f, 0.5f, 2);
  yw_tri_mesh skin = make_skin();
  yw_vec3* pose = malloc((size_t)skin.num_vertices * sizeof(yw_vec3));
  yw_vec3* out = malloc((size_t)tets.num_vertices * sizeof(yw_vec3));
  memcpy(pose, skin.positions, (size_t)skin.num_vertices * sizeof(yw_vec3));
  yw_error error;
  pose[7].y = NAN;
  assert_int_equal(yw_tets_from_surface_pose(&tets, &skin, pose, out, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "vertex 7"));
  pose[7] = skin.positions[7];
  assert_int_equal(yw_tets_from_surface_pose(&tets, &skin, NULL, out, &error), YW_ERR_INVALID);
  assert_int_equal(yw_tets_from_surface_pose(NULL, &skin, pose, out, &error), YW_ERR_INVALID);
  assert_int_equal(yw_tets_from_surface_pose(&tets, NULL, pose, out, &error), YW_ERR_INVALID);
  assert_int_equal(yw_tets_from_surface_pose(&tets, &skin, pose, NULL, &error), YW_ERR_INVALID);
  for (int i = 0; i < skin.num_vertices; ++i) skin.positions[i].x += 100;
  assert_int_equal(yw_tets_from_surface_pose(&tets, &skin, pose, out, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "away from the tets"));
  skin.num_vertices = 2;
  assert_int_equal(yw_tets_from_surface_pose(&tets, &skin, pose, out, &error), YW_ERR_GEOMETRY);
  free(pose);
  free(out);
  yw_tri_mesh_free(&skin);
  yw_tet_mesh_free(&tets);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(affine_poses_are_met_exactly),
      cmocka_unit_test(bent_poses_are_carried_inside),
      cmocka_unit_test(a_flat_surface_gives_a_sane_pose),
      cmocka_unit_test(bad_poses_are_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
