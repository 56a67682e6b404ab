// SPDX-License-Identifier: MIT
// Subdivision: the five shapes, counts, volumes, conformity, rings, and rejected meshes.
#include "methods/fem/hierarchy.h"

#include "geometry/mesh_faces.h"
#include "methods/fem/materials.h"
#include "support/testing.h"
#include "yawara/extend/vec.h"

static yw_tet_mesh one_tet(void) {
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_create(NULL, 4, 1, &mesh), YW_OK);
  const yw_vec3 p[4] = {
      {0.1f, 0.2f, -0.1f}, {1.3f, 0.1f, 0.2f}, {0.2f, 0.9f, 0.3f}, {0.4f, 0.3f, 1.1f}};
  for (int i = 0; i < 4; ++i) mesh.positions[i] = p[i], mesh.tets[i] = i;
  return mesh;
}

// A box of 5 x 3 x 2 cells with randomly moved vertices and an even permutation of the slots of
// every tet.
static yw_tet_mesh shuffled_box(test_random* random, int32_t nx) {
  yw_tet_mesh mesh;
  const int32_t cells[3] = {nx, 2, 1};
  yw_aabb box = {{0, 0, 0}, {(float)nx, 2, 1}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    mesh.positions[i].x += (float)test_random_in(random, -0.1, 0.1);
    mesh.positions[i].y += (float)test_random_in(random, -0.1, 0.1);
    mesh.positions[i].z += (float)test_random_in(random, -0.1, 0.1);
  }
  for (int32_t t = 0; t < mesh.num_tets; ++t) {
    int32_t* v = mesh.tets + 4 * (size_t)t;
    for (int k = 0; k < 6; ++k) {
      // A cycle of three slots keeps the orientation.
      int skip = (int)(test_random_u32(random) & 3), s[3], n = 0;
      for (int i = 0; i < 4; ++i) {
        if (i != skip) s[n++] = i;
      }
      int32_t first = v[s[0]];
      v[s[0]] = v[s[1]], v[s[1]] = v[s[2]], v[s[2]] = first;
    }
  }
  return mesh;
}

static fem_hierarchy subdivide(const yw_tet_mesh* mesh, int32_t level) {
  fem_hierarchy h;
  yw_error error;
  yw_status status = yw_fem_hierarchy_create(NULL, mesh, level, 0.0, &h, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  return h;
}

// 1, 12, 104, 848, 6816, 54592: A -> 4 A + 8 T, T -> A + 6 T.
static void counts_per_level(void** state) {
  (void)state;
  static const int32_t expected[6] = {1, 12, 104, 848, 6816, 54592};
  yw_tet_mesh mesh = one_tet();
  fem_hierarchy h = subdivide(&mesh, 5);
  for (int l = 0; l <= 5; ++l) {
    assert_int_equal(h.level_start[l + 1] - h.level_start[l], expected[l]);
    assert_near(yw_fem_estimate(1, l).finest, expected[l], 0);
  }
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

// Every descendant is +-2^-l times one of the five shapes of its root, and has its volume.
static void five_shapes_serve_all(void** state) {
  (void)state;
  yw_tet_mesh mesh = one_tet();
  fem_hierarchy h = subdivide(&mesh, 5);
  double worst = 0.0, worst_volume = 0.0, total[6] = {0};
  for (int32_t t = 0; t < h.num_tets; ++t) {
    yw_dvec3 p[4];
    for (int s = 0; s < 4; ++s) p[s] = h.rest[h.nodes[t][s]];
    double volume = yw_tet_volume6(p) / 6.0 * (yw_fem_is_positive(&h, t) ? 1.0 : -1.0);
    total[h.level[t]] += volume;
    worst_volume = fmax(worst_volume, fabs(volume / yw_fem_volume(&h, t) - 1.0));
    const fem_shape* shape = &h.shapes[h.root[t]][h.type[t]];
    double scale = yw_fem_gradient_scale(&h, t);
    // Gradients of barycentric functions times edges are the unit matrix.
    for (int a = 0; a < 4; ++a) {
      const double* g = shape->gradient[a];
      for (int b = 1; b < 4; ++b) {
        yw_dvec3 e = yw_dsub(p[b], p[0]);
        double product = scale * (g[0] * e.x + g[1] * e.y + g[2] * e.z);
        worst = fmax(worst, fabs(product - ((a == b) - (a == 0))));
      }
    }
  }
  assert_at_most(worst, 1e-12);
  assert_at_most(worst_volume, 1e-12);
  double root = yw_fem_volume(&h, 0);
  for (int l = 0; l <= 5; ++l) assert_near(total[l] / root, 1.0, 1e-12);
  // Volumes V / 8^n (A) and V / (2 8^n) (T).
  for (int t = 0; t < 4; ++t) {
    assert_near(h.shapes[0][FEM_T0 + t].volume / h.shapes[0][FEM_A].volume, 0.5, 1e-14);
  }
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

// Inner faces are shared by two tets; all others lie on the boundary of the roots.
static void every_level_conforms(void** state) {
  (void)state;
  test_random random = {7};
  for (int round = 0; round < 3; ++round) {
    yw_tet_mesh mesh = shuffled_box(&random, 2);
    double area0 = -1.0;
    for (int32_t level = 0; level <= 3; ++level) {
      fem_hierarchy h = subdivide(&mesh, level);
      yw_tet_mesh fine;
      assert_int_equal(yw_fem_finest_mesh(NULL, &h, &fine, NULL), YW_OK);
      yw_error error;
      if (yw_tet_mesh_check(&fine, &error) < 0) fail_msg("level %d: %s", level, error.message);
      assert_int_equal(yw_fem_check_conformity(NULL, &fine, &error), YW_OK);
      yw_tri_mesh surface;
      assert_int_equal(yw_tet_mesh_surface(&fine, NULL, &surface, NULL), YW_OK);
      double area = 0.0;
      for (int32_t i = 0; i < surface.num_triangles; ++i) {
        const int32_t* v = surface.triangles + 3 * (size_t)i;
        yw_dvec3 a = yw_d3(surface.positions[v[0]]);
        area += yw_dlength(yw_dcross(yw_dsub(yw_d3(surface.positions[v[1]]), a),
                                     yw_dsub(yw_d3(surface.positions[v[2]]), a)));
      }
      if (level == 0) area0 = area;
      // An unshared inner face would count as boundary.
      assert_near(area / area0, 1.0, 1e-6);
      yw_tri_mesh_free(&surface);
      yw_tet_mesh_free(&fine);
      yw_fem_hierarchy_free(&h);
    }
    yw_tet_mesh_free(&mesh);
  }
}

// ring counts the tets around the edge that a midpoint splits; families list children's nodes.
static void rings_and_families(void** state) {
  (void)state;
  test_random random = {11};
  yw_tet_mesh mesh = shuffled_box(&random, 2);
  fem_hierarchy h = subdivide(&mesh, 2);
  int32_t* counted = calloc((size_t)h.num_nodes, sizeof *counted);
  for (int32_t t = 0; t < h.num_parents; ++t) {
    const int32_t* v = h.nodes[t];
    for (int e = 0; e < 6; ++e) {
      int32_t middle = h.family[t][4 + e];
      const fem_node* node = &h.node[middle];
      int32_t a = v[yw_fem_edges[e][0]], b = v[yw_fem_edges[e][1]];
      assert_true((node->parents[0] == a && node->parents[1] == b) ||
                  (node->parents[0] == b && node->parents[1] == a));
      assert_int_equal(node->born, h.level[t] + 1);
      ++counted[middle];
    }
    assert_int_equal(h.family[t][10] >= 0, h.type[t] == FEM_A);
    for (int32_t c = 0; c < yw_fem_children_of(&h, t); ++c) {
      assert_int_equal(h.parent[h.first_child[t] + c], t);
    }
  }
  for (int32_t i = 0; i < h.num_nodes; ++i) {
    assert_int_equal(h.node[i].ring, counted[i]);
    for (int k = 0; k < 4; ++k) assert_true(h.node[i].parents[k] < i);
    assert_true(i >= h.node_level_start[h.node[i].born]);
    assert_true(i < h.node_level_start[h.node[i].born + 1]);
  }
  free(counted);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

static void refuse(const yw_tet_mesh* mesh, int32_t level, double bytes, yw_status expected,
                   const char* word) {
  fem_hierarchy h;
  yw_error error;
  assert_int_equal(yw_fem_hierarchy_create(NULL, mesh, level, bytes, &h, &error), expected);
  if (!strstr(error.message, word)) print_error("no \"%s\" in: %s\n", word, error.message);
  assert_non_null(strstr(error.message, word));
  assert_null(h.nodes);
}

static void bad_roots_are_refused(void** state) {
  (void)state;
  yw_tet_mesh mesh = one_tet();
  refuse(&mesh, -1, 0.0, YW_ERR_INVALID, "between 0 and 8");
  refuse(&mesh, 9, 0.0, YW_ERR_INVALID, "between 0 and 8");
  refuse(&mesh, 6, 1e6, YW_ERR_LIMIT, "use level 3");
  mesh.tets[0] = 1, mesh.tets[1] = 0;
  refuse(&mesh, 1, 0.0, YW_ERR_GEOMETRY, "inverted");
  yw_tet_mesh_free(&mesh);

  yw_tet_mesh twice;
  assert_int_equal(yw_tet_mesh_create(NULL, 4, 2, &twice), YW_OK);
  yw_tet_mesh one = one_tet();
  memcpy(twice.positions, one.positions, 4 * sizeof(yw_vec3));
  for (int i = 0; i < 8; ++i) twice.tets[i] = i & 3;
  refuse(&twice, 1, 0.0, YW_ERR_GEOMETRY, "same vertices");
  yw_tet_mesh_free(&twice);
  yw_tet_mesh_free(&one);
}

static void tets_that_do_not_meet_are_refused(void** state) {
  (void)state;
  // Three tets on one face.
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_create(NULL, 6, 3, &mesh), YW_OK);
  const yw_vec3 p[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2f, 0.2f, 2}, {0, 0, -1}};
  memcpy(mesh.positions, p, sizeof p);
  const int32_t tets[12] = {0, 1, 2, 3, 0, 1, 2, 4, 0, 2, 1, 5};
  memcpy(mesh.tets, tets, sizeof tets);
  refuse(&mesh, 1, 0.0, YW_ERR_GEOMETRY, "more than two tets");
  // The same where it is the first face of each.
  const int32_t turned[12] = {3, 1, 0, 2, 4, 1, 0, 2, 5, 2, 0, 1};
  memcpy(mesh.tets, turned, sizeof turned);
  refuse(&mesh, 1, 0.0, YW_ERR_GEOMETRY, "more than two tets");
  // A vertex in the middle of a neighbour's edge, and one inside a neighbour's face.
  const yw_vec3 on[2] = {{0.5f, 0, 0}, {0.3f, 0.3f, 0}};
  for (int k = 0; k < 2; ++k) {
    mesh.positions[4] = on[k];
    mesh.num_tets = 2;
    const int32_t pair[8] = {0, 1, 2, 3, 0, 2, 4, 5};
    memcpy(mesh.tets, pair, sizeof pair);
    refuse(&mesh, 1, 0.0, YW_ERR_GEOMETRY, "vertex 4 lies inside");
  }
  yw_tet_mesh_free(&mesh);
}

static void matrices_are_symmetric_by_index(void** state) {
  (void)state;
  int seen[FEM_MATRIX] = {0};
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) {
      assert_int_equal(yw_fem_matrix_at(i, j), yw_fem_matrix_at(j, i));
      ++seen[yw_fem_matrix_at(i, j)];
    }
  }
  for (int k = 0; k < FEM_MATRIX; ++k) assert_int_equal(seen[k], 1);
  // Uniaxial stress gives the modulus E, shear gives E / 2(1 + nu).
  float c[FEM_MATRIX];
  yw_fem_isotropic(3e5, 0.3, c);
  double lateral = -0.3, stress = 0.0, side = 0.0;
  const double strain[3] = {1.0, lateral, lateral};
  for (int j = 0; j < 3; ++j) {
    stress += (double)c[yw_fem_matrix_at(0, j)] * strain[j];
    side += (double)c[yw_fem_matrix_at(1, j)] * strain[j];
  }
  assert_near(stress, 3e5, 0.1);
  assert_near(side, 0.0, 0.1);
  assert_near(c[yw_fem_matrix_at(3, 3)], 3e5 / 2.6, 0.1);
}

// A face just outside of a long face lies against it, up to 1e-5 of the face's size, whichever
// corner of the face is the first; a vertex alone may touch it.
static void vertices_close_to_faces_are_found(void** state) {
  (void)state;
  static const int32_t orders[3][4] = {{0, 1, 2, 3}, {1, 2, 0, 3}, {2, 0, 1, 3}};
  for (int k = 0; k < 3; ++k) {
    for (int n = 0; n < 3; ++n) {
      yw_tet_mesh mesh;
      bool good = n > 0, alone = n == 2;
      float x = n == 1 ? 3e-4f : 5e-5f, other = alone ? 4 : x;  // of 1e-4
      const yw_vec3 points[8] = {{0, 0, 0},    {0, 10, 0},       {0, 0, 1},        {-1, 3, 0.3f},
                                 {x, 2, 0.3f}, {other, 3, 0.3f}, {other, 2, 0.5f}, {4, 2, 1}};
      assert_int_equal(yw_tet_mesh_create(NULL, 8, 2, &mesh), YW_OK);
      memcpy(mesh.positions, points, sizeof points);
      for (int i = 0; i < 4; ++i) mesh.tets[i] = orders[k][i], mesh.tets[4 + i] = 4 + i;
      for (int t = 0; t < 2; ++t) {
        int32_t* v = mesh.tets + 4 * t;
        const yw_vec3* p = mesh.positions;
        yw_vec3 a = yw_sub(p[v[1]], p[v[0]]), b = yw_sub(p[v[2]], p[v[0]]);
        if (yw_dot(yw_cross(a, b), yw_sub(p[v[3]], p[v[0]])) > 0) continue;
        int32_t swap = v[0];
        v[0] = v[1], v[1] = swap;
      }
      yw_error error = {0};
      yw_status status = yw_fem_check_conformity(NULL, &mesh, &error);
      assert_int_equal(status, good ? YW_OK : YW_ERR_GEOMETRY);
      if (!good) assert_non_null(strstr(error.message, "vertex 4 lies inside the face"));
      yw_tet_mesh_free(&mesh);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_per_level),
      cmocka_unit_test(five_shapes_serve_all),
      cmocka_unit_test(every_level_conforms),
      cmocka_unit_test(vertices_close_to_faces_are_found),
      cmocka_unit_test(rings_and_families),
      cmocka_unit_test(bad_roots_are_refused),
      cmocka_unit_test(tets_that_do_not_meet_are_refused),
      cmocka_unit_test(matrices_are_symmetric_by_index),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
