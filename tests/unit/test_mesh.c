// SPDX-License-Identifier: MIT
#include "support/testing.h"

#include "yawara/mesh.h"

static const yw_aabb unit_box = {{0, 0, 0}, {1, 1, 1}};

static yw_tet_mesh make_lattice(int nx, int ny, int nz, yw_lattice_cut cut) {
  yw_tet_mesh mesh;
  int32_t cells[3] = {nx, ny, nz};
  assert_int_equal(yw_tet_mesh_lattice(NULL, unit_box, cells, cut, &mesh), YW_OK);
  return mesh;
}

// The first tet of a unit cube corner: volume 1/6, right angles and atan(sqrt 2).
static yw_tet_mesh make_corner_tet(void) {
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_create(NULL, 4, 1, &mesh), YW_OK);
  mesh.positions[1].x = 1;
  mesh.positions[2].y = 1;
  mesh.positions[3].z = 1;
  for (int k = 0; k < 4; ++k) mesh.tets[k] = k;
  return mesh;
}

static void lattices_have_their_counts_and_fill_the_box(void** state) {
  (void)state;
  for (int cut = 0; cut < 2; ++cut) {
    for (int n = 1; n < 5; ++n) {
      yw_tet_mesh mesh = make_lattice(n, 2 * n, 3, (yw_lattice_cut)cut);
      assert_int_equal(mesh.num_vertices, (n + 1) * (2 * n + 1) * 4);
      assert_int_equal(mesh.num_tets, n * 2 * n * 3 * (cut == YW_LATTICE_FIVE ? 5 : 6));
      yw_error error;
      assert_int_equal(yw_tet_mesh_check(&mesh, &error), YW_OK);
      yw_tet_quality quality;
      assert_int_equal(yw_tet_mesh_quality(&mesh, &quality), YW_OK);
      assert_near(quality.volume, 1.0, 1e-6);
      assert_int_equal(quality.num_parts, 1);
      yw_tet_mesh_free(&mesh);
    }
  }
}

// Cuts that disagree across cell faces would leave inner faces on the boundary.
static void lattices_are_conforming(void** state) {
  (void)state;
  for (int cut = 0; cut < 2; ++cut) {
    yw_tet_mesh mesh = make_lattice(3, 4, 5, (yw_lattice_cut)cut);
    yw_tri_mesh surface;
    assert_int_equal(yw_tet_mesh_surface(&mesh, NULL, &surface, NULL), YW_OK);
    assert_int_equal(surface.num_triangles, 2 * 2 * (3 * 4 + 4 * 5 + 3 * 5));
    assert_int_equal(surface.num_vertices, 4 * 5 * 6 - 2 * 3 * 4);
    yw_tri_mesh_free(&surface);
    yw_tet_mesh_free(&mesh);
  }
}

static void x_runs_fastest(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_aabb box = {{-1, 0.1f, 2}, {1, 0.7f, 5}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, (int32_t[]){4, 3, 2}, YW_LATTICE_FIVE, &mesh), 0);
  assert_near(mesh.positions[1].x, -0.5, 1e-7);
  assert_near(mesh.positions[5].y, 0.3, 1e-7);
  assert_near(mesh.positions[20].z, 3.5, 1e-7);
  yw_vec3 last = mesh.positions[mesh.num_vertices - 1];
  assert_true(last.x == box.upper.x && last.y == box.upper.y && last.z == box.upper.z);
  yw_tet_mesh_free(&mesh);
}

static void the_papers_box_is_a_five_tet_lattice(void** state) {
  (void)state;
  if (test_models() == NULL) {
    print_message("no shared models\n");
    skip();
  }
  char path[1000];
  snprintf(path, sizeof path, "%s/koyama-box/box.ele", test_models());
  FILE* file = fopen(path, "r");
  if (file == NULL) skip();
  yw_tet_mesh mesh = make_lattice(4, 8, 4, YW_LATTICE_FIVE);
  int count = 0, per_tet, attributes, equal = 0;
  assert_int_equal(fscanf(file, "%d %d %d", &count, &per_tet, &attributes), 3);
  assert_int_equal(count, mesh.num_tets);
  for (int t = 0; t < count; ++t) {
    int v[4], number;
    assert_int_equal(fscanf(file, "%d %d %d %d %d", &number, v, v + 1, v + 2, v + 3), 5);
    // The same four vertices, in any order, in one of the five tets of the same cell.
    for (int u = t / 5 * 5; u < t / 5 * 5 + 5; ++u) {
      int shared = 0;
      for (int k = 0; k < 4; ++k) {
        for (int m = 0; m < 4; ++m) shared += mesh.tets[4 * u + m] == v[k];
      }
      equal += shared == 4;
    }
  }
  fclose(file);
  assert_int_equal(equal, count);
  yw_tet_mesh_free(&mesh);
}

static void absurd_lattices_are_refused(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  const int32_t huge[3] = {2000000000, 2000000000, 2000000000}, none[3] = {1, 0, 1};
  assert_int_equal(yw_tet_mesh_lattice(NULL, unit_box, huge, YW_LATTICE_SIX, &mesh), YW_ERR_LIMIT);
  const int32_t many[3] = {INT32_MAX, 1, 1};
  assert_int_equal(yw_tet_mesh_lattice(NULL, unit_box, many, YW_LATTICE_SIX, &mesh), YW_ERR_LIMIT);
  assert_int_equal(yw_tet_mesh_lattice(NULL, unit_box, none, YW_LATTICE_SIX, &mesh),
                   YW_ERR_INVALID);
  const int32_t one[3] = {1, 1, 1};
  yw_aabb flat = {{0, 0, 0}, {1, 0, 1}}, nan_box = {{0, 0, 0}, {1, NAN, 1}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, flat, one, YW_LATTICE_SIX, &mesh), YW_ERR_INVALID);
  assert_int_equal(yw_tet_mesh_lattice(NULL, nan_box, one, YW_LATTICE_SIX, &mesh), YW_ERR_INVALID);
  for (int k = 0; k < 6; ++k) {
    yw_aabb endless = unit_box;
    (k < 3 ? &endless.lower.x : &endless.upper.x)[k % 3] = k < 3 ? -INFINITY : INFINITY;
    assert_int_equal(yw_tet_mesh_lattice(NULL, endless, one, YW_LATTICE_SIX, &mesh),
                     YW_ERR_INVALID);
  }
  assert_null(mesh.tets);
}

static void quality_of_a_corner_tet_is_known(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_corner_tet();
  yw_tet_quality quality;
  assert_int_equal(yw_tet_mesh_quality(&mesh, &quality), YW_OK);
  assert_near(quality.volume, 1.0 / 6.0, 1e-12);
  assert_near(quality.min_dihedral, 54.7356103, 1e-5);
  assert_near(quality.max_dihedral, 90.0, 1e-5);
  assert_near(quality.mean_min_dihedral, 54.7356103, 1e-5);
  yw_tet_mesh_free(&mesh);
}

static void parts_are_counted_by_shared_vertices(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_create(NULL, 13, 3, &mesh), YW_OK);  // vertex 12 is in no tet
  for (int k = 0; k < 12; ++k) mesh.tets[k] = k;
  yw_tet_quality quality;
  assert_int_equal(yw_tet_mesh_quality(&mesh, &quality), YW_OK);
  assert_int_equal(quality.num_parts, 3);
  mesh.tets[11] = 2;
  assert_int_equal(yw_tet_mesh_quality(&mesh, &quality), YW_OK);
  assert_int_equal(quality.num_parts, 2);
  yw_tet_mesh_free(&mesh);
}

static void expect_refusal(const yw_tet_mesh* mesh, const char* words) {
  yw_error error;
  assert_int_equal(yw_tet_mesh_check(mesh, &error), YW_ERR_GEOMETRY);
  if (strstr(error.message, words) == NULL) {
    print_error("\"%s\" does not say \"%s\"\n", error.message, words);
    fail();
  }
}

static void check_names_the_first_offender(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_lattice(2, 2, 2, YW_LATTICE_FIVE);
  yw_vec3 kept = mesh.positions[5];
  mesh.positions[5].y = NAN;
  expect_refusal(&mesh, "vertex 5");
  mesh.positions[5] = kept;
  int32_t* tet7 = mesh.tets + 4 * 7;
  int32_t old = tet7[2];
  tet7[2] = 27;
  expect_refusal(&mesh, "tet 7 names vertex 27, but vertices are numbered 0 to 26");
  tet7[2] = tet7[0];
  expect_refusal(&mesh, "twice");
  tet7[2] = tet7[3], tet7[3] = old;
  expect_refusal(&mesh, "inverted");
  tet7[3] = tet7[2], tet7[2] = old;
  memcpy(mesh.tets + 4 * 9, tet7, 4 * sizeof(int32_t));
  expect_refusal(&mesh, "tet 9 has the same vertices");
  yw_tet_mesh_free(&mesh);

  mesh = make_corner_tet();
  mesh.positions[3] = (yw_vec3){0.3f, 0.3f, 1e-9f};
  expect_refusal(&mesh, "flat");
  mesh.num_tets = 0;
  expect_refusal(&mesh, "0 tets");
  yw_tet_mesh_free(&mesh);

  assert_int_equal(yw_tet_mesh_create(NULL, 5, 1, &mesh), YW_OK);
  for (int k = 0; k < 4; ++k) mesh.tets[k] = k;
  mesh.positions[1].x = mesh.positions[2].y = mesh.positions[3].z = 1;
  expect_refusal(&mesh, "vertex 4 belongs to no tet");
  yw_tet_mesh_free(&mesh);
}

// Tiny and huge bodies work like any other.
static void check_does_not_depend_on_units(void** state) {
  (void)state;
  for (int e = -12; e <= 9; ++e) {
    yw_tet_mesh mesh = make_lattice(2, 2, 2, YW_LATTICE_SIX);
    for (int i = 0; i < mesh.num_vertices; ++i) {
      float s = (float)pow(10, e);
      mesh.positions[i].x *= s, mesh.positions[i].y *= s, mesh.positions[i].z *= s;
    }
    yw_error error;
    assert_int_equal(yw_tet_mesh_check(&mesh, &error), YW_OK);
    yw_tet_mesh_free(&mesh);
  }
}

static void surface_winds_outward_and_maps_back(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_lattice(6, 5, 7, YW_LATTICE_FIVE);
  yw_tri_mesh surface;
  int32_t* map = NULL;
  assert_int_equal(yw_tet_mesh_surface(&mesh, NULL, &surface, &map), YW_OK);
  double volume = 0;
  for (int t = 0; t < surface.num_triangles; ++t) {
    const int32_t* v = surface.triangles + 3 * t;
    yw_vec3 a = surface.positions[v[0]], b = surface.positions[v[1]], c = surface.positions[v[2]];
    volume += ((double)a.x * (b.y * c.z - b.z * c.y) + (double)a.y * (b.z * c.x - b.x * c.z) +
               (double)a.z * (b.x * c.y - b.y * c.x)) /
              6.0;
  }
  assert_near(volume, 1.0, 1e-6);
  for (int i = 0; i < surface.num_vertices; ++i) {
    assert_memory_equal(&surface.positions[i], &mesh.positions[map[i]], sizeof(yw_vec3));
    if (i > 0) assert_true(map[i] > map[i - 1]);
  }
  free(map);
  yw_tri_mesh_free(&surface);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lattices_have_their_counts_and_fill_the_box),
      cmocka_unit_test(lattices_are_conforming),
      cmocka_unit_test(x_runs_fastest),
      cmocka_unit_test(the_papers_box_is_a_five_tet_lattice),
      cmocka_unit_test(absurd_lattices_are_refused),
      cmocka_unit_test(quality_of_a_corner_tet_is_known),
      cmocka_unit_test(parts_are_counted_by_shared_vertices),
      cmocka_unit_test(check_names_the_first_offender),
      cmocka_unit_test(check_does_not_depend_on_units),
      cmocka_unit_test(surface_winds_outward_and_maps_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
