// SPDX-License-Identifier: MIT
// What regions feel of poses, in numbers and words.
#include <string.h>

#include "support/testing.h"

#include "math/small/trig.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"

static const float pi = 3.14159265f;

// A bar along y, 1.2 m long.
static yw_tet_mesh make_slender_bar(float width, int32_t length_cells) {
  yw_tet_mesh mesh;
  float half = 0.5f * width;
  yw_aabb box = {{-half, -0.6f, -half}, {half, 0.6f, half}};
  const int32_t cells[] = {4, length_cells, 4};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), 0);
  return mesh;
}

static yw_tet_mesh make_bar(void) { return make_slender_bar(0.2f, 24); }

static yw_vec3* deformed(const yw_tet_mesh* mesh, yw_deform_kind kind, float amount) {
  yw_vec3* out = YW_NEW_ARRAY(NULL, yw_vec3, mesh->num_vertices);
  yw_deform deform = yw_default_deform(kind);
  deform.amount = amount;
  assert_int_equal(yw_deform_apply(&deform, mesh->num_vertices, mesh->positions, out, NULL), YW_OK);
  return out;
}

// Turns everything above y = 0 about the z axis, at once.
static yw_vec3* folded(const yw_tet_mesh* mesh, float angle) {
  yw_vec3* out = YW_NEW_ARRAY(NULL, yw_vec3, mesh->num_vertices);
  yw_quat turn = yw_quat_axis_angle(yw_v3(0, 0, 1), angle);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 p = mesh->positions[i];
    out[i] = p.y > 0.0f ? yw_rotate(turn, p) : p;
  }
  return out;
}

static yw_pose_report check_one(const yw_tet_mesh* mesh, const yw_vec3* pose) {
  yw_pose_report report;
  yw_error error = {0};
  assert_int_equal(yw_pose_check(mesh, NULL, 1, &pose, &report, &error), YW_OK);
  return report;
}

// A uniform stretch by 20 % is |S - 1| = 0.2 in every region, however it is turned.
static void stretch_is_measured_and_turns_of_the_whole_are_not(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_bar();
  yw_vec3* pose = deformed(&mesh, YW_DEFORM_STRETCH, 0.2f);
  yw_quat turn = yw_quat_axis_angle(yw_v3(0.6f, 0.0f, 0.8f), 1.0f);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) pose[i] = yw_rotate(turn, pose[i]);
  yw_pose_report report = check_one(&mesh, pose);
  assert_near(report.stretch, 0.2, 1e-5);
  assert_near(report.turn, 0.0, 1e-4);
  assert_near(report.seen, 1.0, 1e-4);
  assert_int_equal(report.nearest, -1);
  assert_int_equal(yw_pose_flaw_of(&report), YW_POSE_FINE);
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);
}

// Numbers of a pose are those of the body: the order of its vertices does not matter.
static void the_order_of_vertices_does_not_matter(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_bar();
  yw_vec3* pose = deformed(&mesh, YW_DEFORM_TAPER, 0.4f);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) pose[i].x += 0.3f * pose[i].y * pose[i].y;
  yw_pose_report report = check_one(&mesh, pose);
  const int32_t last = mesh.num_vertices - 1;
  for (int32_t i = 0; i < last - i; ++i) {
    yw_vec3 p = mesh.positions[i], q = pose[i];
    mesh.positions[i] = mesh.positions[last - i], mesh.positions[last - i] = p;
    pose[i] = pose[last - i], pose[last - i] = q;
  }
  for (int32_t n = 0; n < 4 * mesh.num_tets; ++n) mesh.tets[n] = last - mesh.tets[n];
  yw_pose_report turned = check_one(&mesh, pose);
  assert_true(report.stretch > 0.05f && report.turn > 0.05f);
  assert_near(turned.stretch / report.stretch, 1.0, 1e-5);
  assert_near(turned.turn / report.turn, 1.0, 1e-5);
  assert_near(turned.seen / report.seen, 1.0, 1e-5);
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);
}

static void a_turn_of_the_whole_is_the_rest_pose(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_bar();
  yw_vec3* pose = deformed(&mesh, YW_DEFORM_SCALE, 0.0f);
  yw_quat turn = yw_quat_axis_angle(yw_v3(0.0f, 0.6f, 0.8f), 2.0f);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) pose[i] = yw_rotate(turn, pose[i]);
  yw_pose_report report = check_one(&mesh, pose);
  char words[400];
  assert_int_equal(yw_pose_words(&report, NULL, words, sizeof words), YW_POSE_REST);
  assert_non_null(strstr(words, "rest pose"));
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);
}

// Bending a slender bar is nearly isometric, and a bar four times as thick is stretched four times
// as much.
static void a_pose_that_only_turns_is_explained(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_slender_bar(0.05f, 96);
  yw_vec3* pose = deformed(&mesh, YW_DEFORM_BEND, 0.5f * pi);
  yw_pose_report report = check_one(&mesh, pose);
  char words[400];
  assert_true(report.turn > 0.3f);
  assert_true(report.seen < 0.05f);
  assert_int_equal(yw_pose_words(&report, NULL, words, sizeof words), YW_POSE_TURNS);
  assert_non_null(strstr(words, "regions feel"));
  assert_non_null(strstr(words, "groups"));
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);

  mesh = make_bar();
  pose = deformed(&mesh, YW_DEFORM_BEND, 0.5f * pi);
  report = check_one(&mesh, pose);
  assert_int_equal(yw_pose_flaw_of(&report), YW_POSE_FINE);
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);
}

// With groups, the one that turns most is named.
static void the_group_that_turns_most_is_named(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_slender_bar(0.05f, 96);
  yw_vec3* pose = deformed(&mesh, YW_DEFORM_BEND, 0.5f * pi);
  int32_t* labels = YW_NEW_ARRAY(NULL, int32_t, mesh.num_vertices);
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < mesh.num_vertices; ++i) box = yw_aabb_grow(box, mesh.positions[i]);
  yw_vec3 size = yw_sub(box.upper, box.lower);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    yw_vec3 from = yw_sub(mesh.positions[i], box.lower);
    float along = fmaxf(from.x / size.x * (float)(size.x >= size.y && size.x >= size.z),
                        fmaxf(from.y / size.y * (float)(size.y > size.x && size.y >= size.z),
                              from.z / size.z * (float)(size.z > size.x && size.z > size.y)));
    labels[i] = along < 0.1f ? 3 : 7;
  }
  const yw_vec3* const poses[] = {pose};
  yw_pose_report report;
  char words[400], expected[60];
  assert_int_equal(yw_pose_check(&mesh, labels, 1, poses, &report, NULL), YW_OK);
  assert_int_equal(report.num_groups, 2);
  const int most = report.groups[1].turn > report.groups[0].turn;
  assert_int_equal(yw_pose_words(&report, NULL, words, sizeof words), YW_POSE_TURNS);
  snprintf(expected, sizeof expected, "Most of it is in group %d.", (int)report.groups[most].label);
  assert_non_null(strstr(words, expected));
  yw_mem_free(NULL, labels);
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);
}

static void twins_are_named(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_bar();
  yw_vec3* a = deformed(&mesh, YW_DEFORM_TWIST, 1.0f);
  yw_vec3* b = deformed(&mesh, YW_DEFORM_SQUASH, 0.3f);
  yw_vec3* c = deformed(&mesh, YW_DEFORM_TWIST, 1.001f);
  const yw_vec3* const poses[] = {a, b, c};
  static const char* const names[] = {"screw", "flat", "screw again"};
  yw_pose_report reports[3];
  char words[400];
  assert_int_equal(yw_pose_check(&mesh, NULL, 3, poses, reports, NULL), YW_OK);
  assert_int_equal(reports[2].nearest, 0);
  assert_true(reports[2].distance < 0.01f);
  assert_int_equal(yw_pose_words(&reports[2], names, words, sizeof words), YW_POSE_TWIN);
  assert_non_null(strstr(words, "\"screw\""));
  assert_int_equal(yw_pose_words(&reports[2], NULL, words, sizeof words), YW_POSE_TWIN);
  assert_non_null(strstr(words, "is the same as pose 1,"));
  assert_int_equal(yw_pose_flaw_of(&reports[1]), YW_POSE_FINE);
  yw_mem_free(NULL, a);
  yw_mem_free(NULL, b);
  yw_mem_free(NULL, c);
  yw_tet_mesh_free(&mesh);
}

// Pushing one inner vertex through its neighbours turns tets around it inside out, but not the
// regions, which are larger.
static void inverted_tets_are_counted(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_bar();
  yw_vec3* pose = deformed(&mesh, YW_DEFORM_SQUASH, 0.2f);
  assert_int_equal(check_one(&mesh, pose).inverted_tets, 0);
  int32_t inner = -1;
  for (int32_t i = 0; i < mesh.num_vertices && inner < 0; ++i) {
    if (yw_length(mesh.positions[i]) < 1e-4f) inner = i;
  }
  pose[inner].x += 0.15f;
  yw_pose_report report = check_one(&mesh, pose);
  int32_t expected = 0;
  for (int32_t t = 0; t < mesh.num_tets; ++t) {
    const int32_t* v = mesh.tets + 4 * t;
    yw_vec3 e[3];
    for (int k = 0; k < 3; ++k) e[k] = yw_sub(pose[v[k + 1]], pose[v[0]]);
    expected += !(yw_dot(yw_cross(e[0], e[1]), e[2]) > 0.0f);
  }
  assert_true(expected > 0);
  assert_int_equal(report.inverted_tets, expected);
  assert_true(report.first_inverted >= 0);
  assert_int_equal(report.inverted_regions, 0);
  assert_int_equal(yw_pose_flaw_of(&report), YW_POSE_FINE);

  // Seen in a mirror, all regions are inside out.
  for (int32_t i = 0; i < mesh.num_vertices; ++i) pose[i].x = -mesh.positions[i].x;
  char words[400];
  report = check_one(&mesh, pose);
  assert_int_equal(report.inverted_regions, mesh.num_vertices);
  assert_int_equal(report.inverted_tets, mesh.num_tets);
  assert_int_equal(yw_pose_words(&report, NULL, words, sizeof words), YW_POSE_INVERTED);
  assert_non_null(strstr(words, "inside out"));
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);
}

// Only the upper half turns: its group has all of the turning, the lower one none of the stretch.
static void groups_have_numbers_of_their_own(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_bar();
  yw_vec3* pose = folded(&mesh, 0.2f);
  int32_t* labels = YW_NEW_ARRAY(NULL, int32_t, mesh.num_vertices);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) labels[i] = mesh.positions[i].y > 0.15f ? 7 : 3;
  const yw_vec3* const poses[] = {pose};
  yw_pose_report report;
  assert_int_equal(yw_pose_check(&mesh, labels, 1, poses, &report, NULL), YW_OK);
  assert_int_equal(report.num_groups, 2);
  const yw_pose_group* upper = &report.groups[report.groups[0].label == 7 ? 0 : 1];
  const yw_pose_group* lower = &report.groups[report.groups[0].label == 7 ? 1 : 0];
  assert_int_equal(upper->label, 7);
  assert_int_equal(upper->num_regions + lower->num_regions, mesh.num_vertices);
  assert_near(upper->stretch, 0.0, 1e-5);
  assert_true(lower->stretch > 0.01f);
  yw_mem_free(NULL, labels);
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);
}

static void positions_must_be_finite(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_bar();
  yw_vec3* pose = deformed(&mesh, YW_DEFORM_SQUASH, 0.2f);
  pose[5].y = NAN;
  const yw_vec3* const poses[] = {pose};
  yw_pose_report report;
  yw_error error = {0};
  assert_int_equal(yw_pose_check(&mesh, NULL, 1, poses, &report, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "vertex 5 of pose 0"));
  yw_mem_free(NULL, pose);
  yw_tet_mesh_free(&mesh);
}

// Bent to more than a circle, and drawn out sideways by `rise` per length so that the ends pass
// each other.
static yw_vec3* coiled(const yw_tet_mesh* mesh, float rise) {
  yw_vec3* out = deformed(mesh, YW_DEFORM_BEND, 400.0f / 180.0f * pi);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) out[i].z += rise * mesh->positions[i].y;
  return out;
}

// A coil to the left and one to the right are sound, and so is the way to each; between them the
// ends meet.
static void mixtures_that_cross_are_found(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_slender_bar(0.1f, 24);
  yw_vec3 *left = coiled(&mesh, 0.2f), *right = coiled(&mesh, -0.2f), *flat = coiled(&mesh, 0.0f);
  const yw_vec3* const coils[] = {left, right};
  const yw_vec3* const ring[] = {flat};
  yw_pose_mixture found[8];
  int32_t count = -1;
  assert_int_equal(yw_pose_check_mixtures(&mesh, 2, coils, 2, found, 8, &count, NULL), YW_OK);
  assert_int_equal(count, 1);
  assert_int_equal(found[0].from, 0);
  assert_int_equal(found[0].to, 1);
  assert_near(found[0].share, 0.5, 1e-6);
  assert_true(found[0].crossing_triangles > 20);
  assert_int_equal(yw_pose_check_mixtures(&mesh, -1, coils, 2, found, 8, &count, NULL),
                   YW_ERR_INVALID);
  assert_int_equal(yw_pose_check_mixtures(&mesh, 2, NULL, 2, found, 8, &count, NULL),
                   YW_ERR_INVALID);
  assert_int_equal(yw_pose_check_mixtures(&mesh, 2, coils, 0, found, 8, &count, NULL),
                   YW_ERR_INVALID);
  // The pose itself, but not three quarters of it.
  assert_int_equal(yw_pose_check_mixtures(&mesh, 1, ring, 4, found, 8, &count, NULL), YW_OK);
  assert_int_equal(count, 1);
  assert_int_equal(found[0].from, -1);
  assert_near(found[0].share, 1.0, 1e-6);
  yw_mem_free(NULL, left);
  yw_mem_free(NULL, right);
  yw_mem_free(NULL, flat);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stretch_is_measured_and_turns_of_the_whole_are_not),
      cmocka_unit_test(the_order_of_vertices_does_not_matter),
      cmocka_unit_test(a_turn_of_the_whole_is_the_rest_pose),
      cmocka_unit_test(a_pose_that_only_turns_is_explained),
      cmocka_unit_test(the_group_that_turns_most_is_named),
      cmocka_unit_test(twins_are_named),
      cmocka_unit_test(inverted_tets_are_counted),
      cmocka_unit_test(groups_have_numbers_of_their_own),
      cmocka_unit_test(positions_must_be_finite),
      cmocka_unit_test(mixtures_that_cross_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
