// SPDX-License-Identifier: MIT
// Tets whose size the caller asks for, from place to place.
#include "support/testing.h"

#include "support/mesh_testing.h"
#include "support/scene_text.h"
#include "yawara/extend/vec.h"
#include "yawara/shape.h"

static yw_tet_mesh fill(const yw_shape* shape, const yw_mesher_def* def, yw_tet_fit* fit) {
  yw_tet_mesh mesh;
  yw_tet_quality quality;
  yw_error error;
  if (yw_shape_fill(shape, NULL, def, &mesh, fit, &error) != YW_OK) fail_msg("%s", error.message);
  if (yw_tet_mesh_check(&mesh, &error) != YW_OK) fail_msg("%s", error.message);
  assert_int_equal(yw_tet_mesh_quality(&mesh, &quality), YW_OK);
  assert_at_least(quality.min_dihedral, 10.0);
  assert_int_equal(quality.num_parts, 1);
  return mesh;
}

static yw_shape* bar(void) {
  yw_shape* shape;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){1.0f, 0.2f, 0.2f}, &shape), YW_OK);
  return shape;
}

// Mean length of the edges of tets with their centre between two x.
static double mean_edge(const yw_tet_mesh* mesh, float from, float to) {
  static const int edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  double sum = 0.0;
  int count = 0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * t;
    float x = 0.0f;
    for (int k = 0; k < 4; ++k) x += 0.25f * mesh->positions[v[k]].x;
    if (x < from || x > to) continue;
    for (int k = 0; k < 6; ++k) {
      yw_vec3 a = mesh->positions[v[edges[k][0]]], b = mesh->positions[v[edges[k][1]]];
      sum += (double)yw_length(yw_sub(a, b));
      ++count;
    }
  }
  assert_true(count > 0);
  return sum / count;
}

typedef struct ramp {
  float at_left, at_right;
  int calls;
} ramp;

static float size_of_ramp(void* context, yw_vec3 p) {
  ramp* r = context;
  ++r->calls;
  float t = 0.5f * (p.x + 1.0f);
  return r->at_left + t * (r->at_right - r->at_left);
}

// Edges of a body-centred lattice have 1 and sqrt(3) / 2 of its size, and half of it at the
// surface.
static void tets_are_as_small_as_asked_for(void** state) {
  (void)state;
  yw_shape* shape = bar();
  ramp r = {0.025f, 0.2f, 0};
  yw_mesher_def def = yw_default_mesher_def();
  def.size = 0.2f;
  def.size_at = size_of_ramp;
  def.size_context = &r;
  yw_tet_fit fit;
  yw_tet_mesh mesh = fill(shape, &def, &fit);
  assert_true(r.calls > 0);
  assert_near(fit.tet_volume, 8.0 * 1.0 * 0.2 * 0.2, 1e-4);
  double left = mean_edge(&mesh, -1.0f, -0.9f), right = mean_edge(&mesh, 0.8f, 1.0f);
  assert_at_most(left, 0.033 * 1.2);
  assert_at_least(left, 0.6 * 0.025 / 2);
  assert_at_least(right, 0.1);
  yw_tet_mesh_free(&mesh);
  yw_shape_release(shape);
}

static float nothing(void* context, yw_vec3 p) {
  (void)context;
  return p.x > 0.0f ? INFINITY : 0.0f;
}

// No wish, no difference: the same bits.
static void a_field_without_wishes_changes_nothing(void** state) {
  (void)state;
  yw_shape* shape = bar();
  yw_mesher_def def = yw_default_mesher_def();
  yw_tet_fit fit;
  yw_tet_mesh plain = fill(shape, &def, &fit);
  def.size_at = nothing;
  yw_tet_mesh same = fill(shape, &def, &fit);
  assert_int_equal(plain.num_tets, same.num_tets);
  assert_memory_equal(plain.tets, same.tets, 4 * (size_t)plain.num_tets * sizeof *plain.tets);
  assert_memory_equal(plain.positions, same.positions,
                      (size_t)plain.num_vertices * sizeof *plain.positions);
  yw_tet_mesh_free(&plain);
  yw_tet_mesh_free(&same);
  yw_shape_release(shape);
}

// The surface stays as fine as it was, and there are fewer tets inside.
static void the_bulk_is_coarser(void** state) {
  (void)state;
  yw_shape* ball;
  assert_int_equal(yw_shape_sphere(NULL, 0.85f, &ball), YW_OK);
  yw_mesher_def def = yw_default_mesher_def();
  def.size = 0.1f;
  yw_tet_fit fit[3];
  yw_tet_mesh mesh[3];
  yw_tri_mesh surface[3];
  for (int k = 0; k < 3; ++k) {
    def.bulk = 1 << k;
    mesh[k] = fill(ball, &def, &fit[k]);
    assert_int_equal(yw_tet_mesh_surface(&mesh[k], NULL, &surface[k], NULL), YW_OK);
    assert_balanced(&surface[k]);
    assert_near(surface[k].num_triangles, surface[0].num_triangles,
                0.02 * surface[0].num_triangles);
    assert_near(fit[k].tet_volume / fit[0].tet_volume, 1.0, 1e-3);
    assert_near(fit[k].size, 0.1, 1e-6);
  }
  assert_at_most(mesh[1].num_tets, 0.75 * mesh[0].num_tets);
  assert_at_most(mesh[2].num_tets, 1.02 * mesh[1].num_tets);
  for (int k = 0; k < 3; ++k) {
    yw_tri_mesh_free(&surface[k]);
    yw_tet_mesh_free(&mesh[k]);
  }
  def.bulk = 3;
  yw_error error;
  assert_int_equal(yw_shape_tets(ball, NULL, &def, &mesh[0], &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "must be 1, 2, 4 or 8"));
  yw_shape_release(ball);
}

// A plate with long teeth: more tets than wished for are made, so that none is lost.
static void thin_parts_get_more_tets_than_wished_for(void** state) {
  (void)state;
  yw_shape *parts[4], *comb;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.3f, 0.3f, 0.1f}, &parts[0]), YW_OK);
  for (int k = 1; k < 4; ++k) {
    yw_shape* tooth;
    assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.4f, 0.008f, 0.008f}, &tooth), YW_OK);
    yw_transform place = {{0.6f, 0.2f * (float)(k - 2), 0}, {0, 0, 0, 1}, 1};
    assert_int_equal(yw_shape_transform(NULL, tooth, place, &parts[k]), YW_OK);
    yw_shape_release(tooth);
  }
  assert_int_equal(yw_shape_union(NULL, 4, parts, 0.0f, &comb), YW_OK);
  yw_mesher_def def = yw_default_mesher_def();
  def.max_tets = 1500;
  yw_tet_fit fit;
  yw_tet_mesh mesh = fill(comb, &def, &fit);
  assert_int_equal(fit.num_lost, 0);
  assert_at_least(mesh.num_tets, 3000);
  yw_tet_mesh_free(&mesh);
  for (int k = 0; k < 4; ++k) yw_shape_release(parts[k]);
  yw_shape_release(comb);
}

// Scenes ------------------------------------------------------------------------------------------

#define SCENE(sizes)                                                                           \
  "{ \"bodies\": [ { \"mesh\": { \"tets\": { \"shape\": { \"box\": { \"size\": [2, 0.4, 0.4] " \
  "} }, \"size\": 0.2" sizes " } } } ] }"

static int32_t vertices_of(const char* text) {
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  int32_t count = 0;
  yw_body_positions(world, yw_world_body(world, 0), &count);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return count;
}

static void scenes_ask_in_several_ways(void** state) {
  (void)state;
  int32_t plain = vertices_of(SCENE(""));
  static const char* const asking[] = {
      SCENE(", \"sizes\": [ { \"points\": [ { \"at\": [1, 0, 0], \"size\": 0.04 } ] } ]"),
      SCENE(", \"sizes\": [ { \"from\": [-1, 0, 0], \"to\": [1, 0, 0], \"size\": [0.2, 0.05] } ]"),
      SCENE(", \"sizes\": [ { \"shape\": { \"sphere\": { \"radius\": 0.15 } }, \"blend\": 0.1, "
            "\"size\": 0.05 } ]")};
  for (int k = 0; k < 3; ++k) {
    assert_at_least(vertices_of(asking[k]), 1.5 * plain);
  }
  // Small at one end only, and at either end as much.
  int32_t both =
      vertices_of(SCENE(", \"sizes\": [ { \"from\": [-1, 0, 0], \"to\": [1, 0, 0], \"size\": "
                        "[0.05, 0.05] } ]"));
  int32_t left = vertices_of(
      SCENE(", \"sizes\": [ { \"from\": [-1, 0, 0], \"to\": [1, 0, 0], \"size\": [0.05, 0.2] } ]"));
  assert_at_most(vertices_of(asking[1]), 0.7 * both);
  assert_near((double)left / vertices_of(asking[1]), 1, 0.1);
  // Larger tets than around are no wish.
  assert_int_equal(vertices_of(SCENE(", \"sizes\": [ { \"size\": 0.5 } ]")), plain);
}

static void mistakes_are_named(void** state) {
  (void)state;
  static const char* const wrong[][2] = {
      {SCENE(", \"sizes\": [ {} ]"), "\"size\" or \"points\""},
      {SCENE(", \"sizes\": [ { \"points\": [ { \"at\": [0, 0, 0] } ] } ]"), "size"},
      {SCENE(", \"sizes\": [ { \"size\": [0.1, 0.2] } ]"), "needs \"from\" and \"to\""},
      {SCENE(", \"sizes\": [ { \"size\": -1 } ]"), "sizes[0].size"},
      {SCENE(", \"sizes\": [ { \"size\": [1, 2], \"painted\": { \"values\": \"AA==\" } } ]"),
       "give a \"file\""},
      {SCENE(", \"bulk\": 3"), "must be 1, 2, 4 or 8"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    yw_scene* scene = NULL;
    yw_error error = {0};
    assert_true(read_scene_text(wrong[k][0], "dir/a.json", &scene, NULL, &error) < 0);
    if (!strstr(error.message, wrong[k][1])) fail_msg("%s: not in: %s", wrong[k][1], error.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tets_are_as_small_as_asked_for),
      cmocka_unit_test(a_field_without_wishes_changes_nothing),
      cmocka_unit_test(the_bulk_is_coarser),
      cmocka_unit_test(thin_parts_get_more_tets_than_wished_for),
      cmocka_unit_test(scenes_ask_in_several_ways),
      cmocka_unit_test(mistakes_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
