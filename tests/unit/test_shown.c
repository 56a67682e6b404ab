// SPDX-License-Identifier: MIT
// Shown surfaces that reach beyond their tets stay out of other bodies and of obstacles.
#include "yawara/extend/shown.h"

#include "geometry/tet_math.h"
#include "support/world_fixture.h"
#include "yawara/extend/vec.h"
#include "yawara/match.h"

// Shown over the size of the tets: in the middle of a face, 0.2 cells beyond.
#define LARGER 1.1f

// A cube of tets from -1 to 1 that shows a larger cube, whose triangles share no vertices.
static yw_model* make_model(void) {
  yw_tet_mesh mesh;
  yw_tri_mesh boundary, soup;
  yw_model* model = NULL;
  yw_error error = {0};
  yw_aabb box = {{-1, -1, -1}, {1, 1, 1}};
  int32_t cells[3] = {4, 4, 4};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  assert_int_equal(yw_tet_mesh_surface(&mesh, NULL, &boundary, NULL), YW_OK);
  int32_t corners = 3 * boundary.num_triangles;
  assert_int_equal(yw_tri_mesh_create(NULL, corners, boundary.num_triangles, &soup), YW_OK);
  for (int32_t i = 0; i < corners; ++i) {
    soup.positions[i] = yw_scale(boundary.positions[boundary.triangles[i]], LARGER);
    soup.triangles[i] = i;
  }
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  assert_int_equal(yw_model_create_match(NULL, &def, &model, &error), YW_OK);
  assert_int_equal(yw_model_embed_surface(model, &soup, &error), YW_OK);
  yw_tri_mesh_free(&boundary);
  yw_tri_mesh_free(&soup);
  yw_tet_mesh_free(&mesh);
  return model;
}

static yw_vec3* surface_of(const yw_world* world, int32_t body, const yw_tri_mesh* surface) {
  yw_vec3* out = malloc(sizeof *out * (size_t)surface->num_vertices);
  yw_body_id id = yw_world_body(world, body);
  assert_int_equal(yw_body_surface_positions(world, id, out, surface->num_vertices), YW_OK);
  return out;
}

static double volume6(yw_vec3 a, yw_vec3 b, yw_vec3 c, yw_vec3 d) {
  yw_dvec3 o = yw_d3(d);
  return yw_ddot(yw_dsub(yw_d3(a), o), yw_dcross(yw_dsub(yw_d3(b), o), yw_dsub(yw_d3(c), o)));
}

static bool edge_crosses(yw_vec3 p, yw_vec3 q, const yw_vec3* x, const int32_t* t) {
  yw_vec3 a = x[t[0]], b = x[t[1]], c = x[t[2]];
  if (volume6(a, b, c, p) * volume6(a, b, c, q) >= 0.0) return false;
  double u = volume6(p, q, a, b), v = volume6(p, q, b, c), w = volume6(p, q, c, a);
  return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

// Edges of one surface that pass through triangles of the other, both ways.
static int count_crossings(const yw_tri_mesh* surface, const yw_vec3* x, const yw_vec3* y) {
  int count = 0;
  for (int32_t s = 0; s < 3 * surface->num_triangles; ++s) {
    const int32_t* from = surface->triangles + s - s % 3;
    int32_t a = from[s % 3], b = from[(s + 1) % 3];
    for (int32_t t = 0; t < 3 * surface->num_triangles; t += 3) {
      count += edge_crosses(x[a], x[b], y, surface->triangles + t);
      count += edge_crosses(y[a], y[b], x, surface->triangles + t);
    }
  }
  return count;
}

// Two cubes whose tets are 0.02 m apart and whose surfaces would overlap by 0.18 m, face on face
// and edge on face.
static void surfaces_of_touching_bodies_do_not_cross(void** state) {
  (void)state;
  const yw_quat turns[2] = {{0.25881905f, 0, 0, 0.96592583f}, {0, 0, 0.38268343f, 0.92387953f}};
  const float places[2] = {2.02f, 1.0f + 1.41421356f + 0.02f};
  for (int k = 0; k < 2; ++k) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_model* model = make_model();
    const yw_tri_mesh* surface = yw_model_surface(model);
    add_body(world, model, yw_v3(0, 0, 0), (yw_quat){0, 0, 0, 1});
    add_body(world, model, yw_v3(places[k], 0.1f, 0.07f), turns[k]);
    yw_vec3 *a = surface_of(world, 0, surface), *b = surface_of(world, 1, surface);
    assert_int_equal(count_crossings(surface, a, b), 0);
    // In the middle of the patch the surface follows the tets, to a tenth of a cell.
    for (int32_t i = 0; k == 0 && i < surface->num_vertices; ++i) {
      if (a[i].x > 0.5f && fabsf(a[i].y) + fabsf(a[i].z) < 0.6f) assert_near(a[i].x, 1.0f, 0.05f);
    }
    free(a);
    free(b);
    yw_model_release(model);
    yw_world_destroy(world);
  }
}

// What nothing touches stays as it is, to the last bit, and seams stay closed everywhere.
static void only_what_touches_moves(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_model();
  const yw_tri_mesh* surface = yw_model_surface(model);
  yw_body_id alone = add_body(world, model, yw_v3(0, 0, 0), (yw_quat){0, 0, 0, 1});
  yw_vec3* before = surface_of(world, 0, surface);
  yw_vec3* free_form = malloc(sizeof *free_form * (size_t)surface->num_vertices);
  const yw_vec3* x = yw_body_positions(world, alone, NULL);
  assert_int_equal(yw_model_surface_positions(model, x, free_form), YW_OK);
  assert_memory_equal(before, free_form, sizeof *before * (size_t)surface->num_vertices);
  add_body(world, model, yw_v3(2.02f, 0.3f, 0.2f), (yw_quat){0, 0, 0, 1});
  yw_vec3* after = surface_of(world, 0, surface);
  int moved = 0;
  for (int32_t i = 0; i < surface->num_vertices; ++i) {
    bool same = memcmp(&before[i], &after[i], sizeof *after) == 0;
    moved += !same;
    if (before[i].x < 0.5f) assert_true(same);
    for (int32_t k = 0; k < i; ++k) {
      if (memcmp(&before[i], &before[k], sizeof *before) != 0) continue;
      assert_memory_equal(&after[i], &after[k], sizeof *after);
    }
  }
  assert_true(moved > 0);
  free(before);
  free(after);
  free(free_form);
  yw_model_release(model);
  yw_world_destroy(world);
}

// Tets that stand on a floor, and beside a ball that is as near.
static void surfaces_stay_out_of_obstacles(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_model();
  yw_shape *floor = NULL, *ball = NULL;
  yw_error error = {0};
  const yw_tri_mesh* surface = yw_model_surface(model);
  yw_obstacle_def def = yw_default_obstacle_def();
  yw_obstacle_id id;
  assert_int_equal(yw_shape_plane(NULL, yw_v3(0, 1, 0), -1.001f, &floor), YW_OK);
  assert_int_equal(yw_shape_sphere(NULL, 2.0f, &ball), YW_OK);
  def.shape = floor;
  assert_int_equal(yw_obstacle_create(world, &def, &id, &error), YW_OK);
  def.shape = ball;
  def.transform.position = yw_v3(3.001f, 0, 0);
  assert_int_equal(yw_obstacle_create(world, &def, &id, &error), YW_OK);
  add_body(world, model, yw_v3(0, 0, 0), (yw_quat){0, 0, 0, 1});
  yw_vec3* x = surface_of(world, 0, surface);
  for (int32_t i = 0; i < surface->num_vertices; ++i) {
    assert_true(x[i].y >= -1.0011f);
    assert_true(yw_distance(x[i], def.transform.position) >= 1.999f);
  }
  free(x);
  yw_shape_release(floor);
  yw_shape_release(ball);
  yw_model_release(model);
  yw_world_destroy(world);
}

// Bodies that pass through each other are shown where they are.
static void bodies_without_contact_are_left_alone(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_model();
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  yw_body_id id;
  const yw_tri_mesh* surface = yw_model_surface(model);
  def.model = model;
  def.body_contact = false;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
  assert_false(yw_body_has_contact(world, id));
  yw_vec3* before = surface_of(world, 0, surface);
  add_body(world, model, yw_v3(2.02f, 0, 0), (yw_quat){0, 0, 0, 1});
  yw_vec3* after = surface_of(world, 0, surface);
  assert_memory_equal(before, after, sizeof *after * (size_t)surface->num_vertices);
  free(before);
  free(after);
  yw_model_release(model);
  yw_world_destroy(world);
}

// Falls on another cube for a while; asks for its surface in every step, or only in the last one.
static yw_vec3* surface_after_fall(int threads, bool ask_often) {
  yw_world* world = make_world(threads, YW_SIMD_AUTO, true);
  yw_model* model = make_model();
  const yw_tri_mesh* surface = yw_model_surface(model);
  add_body(world, model, yw_v3(0, 0, 0), (yw_quat){0, 0, 0, 1});
  add_body(world, model, yw_v3(0.2f, 2.3f, 0.1f), (yw_quat){0.1305262f, 0, 0, 0.9914449f});
  for (int step = 0; step < 12; ++step) {
    yw_world_step(world, 1.0f / 30.0f, 2, NULL);
    if (ask_often) free(surface_of(world, step % 2, surface));
  }
  yw_vec3* out = surface_of(world, 1, surface);
  yw_vec3* free_form = malloc(sizeof *out * (size_t)surface->num_vertices);
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 1), NULL);
  assert_int_equal(yw_model_surface_positions(model, x, free_form), YW_OK);
  assert_memory_not_equal(out, free_form, sizeof *out * (size_t)surface->num_vertices);
  free(free_form);
  yw_model_release(model);
  yw_world_destroy(world);
  return out;
}

// What is kept between calls, and threads, change no bit.
static void surfaces_depend_on_positions_alone(void** state) {
  (void)state;
  yw_model* model = make_model();
  size_t size = sizeof(yw_vec3) * (size_t)yw_model_surface(model)->num_vertices;
  yw_vec3* expected = surface_after_fall(1, false);
  const int threads[2] = {1, 3};
  for (int k = 0; k < 2; ++k) {
    yw_vec3* found = surface_after_fall(threads[k], true);
    assert_memory_equal(found, expected, size);
    free(found);
  }
  free(expected);
  yw_model_release(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(surfaces_of_touching_bodies_do_not_cross),
      cmocka_unit_test(only_what_touches_moves),
      cmocka_unit_test(surfaces_stay_out_of_obstacles),
      cmocka_unit_test(bodies_without_contact_are_left_alone),
      cmocka_unit_test(surfaces_depend_on_positions_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
