// SPDX-License-Identifier: MIT
#include "geometry/embedding_smooth.h"

#include "geometry/tet_math.h"
#include "support/random_points.h"
#include "yawara/match.h"

// Points that follow a box of tets.
typedef struct followers {
  yw_tet_mesh tets;
  yw_tri_mesh points;  // without triangles
  yw_embedding nearest;
  yw_smooth_embedding smooth;
} followers;

static void follow(followers* f, int32_t count, const yw_vec3* points) {
  yw_error error = {0};
  assert_int_equal(yw_tri_mesh_create(NULL, count, 0, &f->points), YW_OK);
  memcpy(f->points.positions, points, (size_t)count * sizeof *points);
  assert_int_equal(yw_embedding_create(NULL, &f->tets, count, points, NULL, &f->nearest, &error),
                   YW_OK);
  assert_int_equal(
      yw_smooth_embedding_create(NULL, &f->tets, points, &f->nearest, &f->smooth, &error), YW_OK);
}

static followers make_followers(int32_t count, const yw_vec3* points) {
  followers f;
  yw_aabb box = {{-1, -1, -1}, {1, 1, 1}};
  int32_t cells[3] = {6, 6, 6};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &f.tets), YW_OK);
  follow(&f, count, points);
  return f;
}

static void move(const followers* f, const yw_vec3* now, yw_vec3* out) {
  yw_surface_rig rig = {&f->tets, &f->points, f->smooth.first, f->smooth.links};
  assert_int_equal(yw_surface_rig_move(&rig, now, out), YW_OK);
}

static void free_followers(followers* f) {
  yw_tet_mesh_free(&f->tets);
  yw_tri_mesh_free(&f->points);
  yw_embedding_free(&f->nearest);
  yw_smooth_embedding_free(&f->smooth);
}

static void affine_motion_is_reproduced_in_and_outside(void** state) {
  (void)state;
  enum { COUNT = 500 };
  yw_vec3 points[COUNT], out[COUNT], now[7 * 7 * 7];
  test_random random = {21};
  for (int i = 0; i < COUNT; ++i) points[i] = random_point(&random, i < 250 ? 1.0 : 1.6);
  followers f = make_followers(COUNT, points);
  yw_mat3 m = {{1, 0.5f, 0}, {-0.3f, 2, 0.1f}, {0.2f, 0, 0.7f}};
  yw_vec3 shift = {3, -2, 1};
  for (int i = 0; i < f.tets.num_vertices; ++i) {
    now[i] = yw_add(shift, yw_mul(m, f.tets.positions[i]));
  }
  move(&f, now, out);
  for (int i = 0; i < COUNT; ++i) {
    assert_at_most(yw_distance(out[i], yw_add(shift, yw_mul(m, points[i]))), 1e-5);
  }
  free_followers(&f);
}

static yw_vec3 bend(yw_vec3 p) {
  return yw_v3(p.x, p.y + 0.4f * p.x * p.x - 0.2f * p.x * p.z, p.z + 0.3f * p.x * p.y);
}

// Slopes along a line through many tets of a bent box jump where it crosses faces of tets, if
// points follow one tet each; smooth motion changes them by what the bend does and little more.
static void facets_of_the_tets_do_not_show(void** state) {
  (void)state;
  enum { COUNT = 2001 };
  static yw_vec3 points[COUNT], out[COUNT], now[7 * 7 * 7];
  for (int i = 0; i < COUNT; ++i) {
    float t = (float)i / (COUNT - 1) * 1.8f - 0.9f;
    points[i] = yw_v3(t, 0.31f + 0.1f * t, 0.17f);
  }
  followers f = make_followers(COUNT, points);
  for (int i = 0; i < f.tets.num_vertices; ++i) now[i] = bend(f.tets.positions[i]);
  move(&f, now, out);
  double step = 1.8 / (COUNT - 1), smooth = 0.0, jump = 0.0, error = 0.0;
  yw_dvec3 flat[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    const yw_embedded_point* p = &f.nearest.points[i];
    flat[i] = (yw_dvec3){0, 0, 0};
    for (int k = 0; k < 4; ++k) {
      flat[i] = yw_dmad(flat[i], (double)p->weights[k], yw_d3(now[p->vertices[k]]));
    }
    error = fmax(error, (double)yw_distance(out[i], bend(points[i])));
  }
  // Over a stride of ten points, so that rounding does not count.
  for (int i = 20; i < COUNT - 20; ++i) {
    yw_dvec3 a = yw_dadd(yw_d3(out[i - 10]), yw_d3(out[i + 10]));
    yw_dvec3 b = yw_dadd(flat[i - 10], flat[i + 10]);
    double scale = 1.0 / (10.0 * step);
    smooth = fmax(smooth, scale * yw_dlength(yw_dmad(a, -2.0, yw_d3(out[i]))));
    jump = fmax(jump, scale * yw_dlength(yw_dmad(b, -2.0, flat[i])));
  }
  print_message("largest jump of the slope: %.4f, in single tets %.4f; error %.4f\n", smooth, jump,
                error);
  assert_at_most(smooth, 0.25 * jump);
  assert_at_most(error, 0.01);
  free_followers(&f);
}

// Two boxes beside each other: points of one do not follow the other, however near it is.
static void separate_parts_do_not_stick_together(void** state) {
  (void)state;
  yw_tet_mesh a;
  yw_aabb box = {{-1, -1, -1}, {0, 1, 1}};
  int32_t cells[3] = {3, 6, 6};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &a), YW_OK);
  followers f;
  assert_int_equal(yw_tet_mesh_create(NULL, 2 * a.num_vertices, 2 * a.num_tets, &f.tets), YW_OK);
  for (int i = 0; i < a.num_vertices; ++i) {
    f.tets.positions[i] = a.positions[i];
    f.tets.positions[a.num_vertices + i] = yw_add(a.positions[i], yw_v3(1.02f, 0, 0));
  }
  for (int i = 0; i < 4 * a.num_tets; ++i) {
    f.tets.tets[i] = a.tets[i];
    f.tets.tets[4 * a.num_tets + i] = a.tets[i] + a.num_vertices;
  }
  yw_vec3 points[2] = {{-0.001f, 0.3f, 0.2f}, {0.021f, 0.3f, 0.2f}};
  follow(&f, 2, points);
  for (int32_t i = 0; i < 2; ++i) {
    for (int32_t n = f.smooth.first[i]; n < f.smooth.first[i + 1]; ++n) {
      assert_int_equal(f.smooth.links[n].vertex >= a.num_vertices, i);
    }
  }
  yw_tet_mesh_free(&a);
  free_followers(&f);
}

// A surface whose triangles share no vertices, as with seams of textures, stays closed: vertices at
// the same place move alike, in and outside of the tets.
static void seams_do_not_open(void** state) {
  (void)state;
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
    soup.positions[i] = yw_scale(boundary.positions[boundary.triangles[i]], 1.1f);
    soup.triangles[i] = i;
  }
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  assert_int_equal(yw_model_create_match(NULL, &def, &model, &error), YW_OK);
  assert_int_equal(yw_model_embed_surface(model, &soup, &error), YW_OK);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) mesh.positions[i] = bend(mesh.positions[i]);
  yw_vec3* out = malloc((size_t)corners * sizeof *out);
  assert_int_equal(yw_model_surface_positions(model, mesh.positions, out), YW_OK);
  for (int32_t i = 0; i < corners; ++i) {
    for (int32_t k = 0; k < i; ++k) {
      if (boundary.triangles[i] != boundary.triangles[k]) continue;
      assert_at_most(yw_distance(out[i], out[k]), 0.0);
    }
  }
  free(out);
  yw_model_release(model);
  yw_tri_mesh_free(&boundary);
  yw_tri_mesh_free(&soup);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(affine_motion_is_reproduced_in_and_outside),
      cmocka_unit_test(facets_of_the_tets_do_not_show),
      cmocka_unit_test(separate_parts_do_not_stick_together),
      cmocka_unit_test(seams_do_not_open),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
