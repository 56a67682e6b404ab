// SPDX-License-Identifier: MIT
// The tree of triangles and the winding numbers on it, against sums over all triangles.
#include "geometry/triangle_tree.h"

#include "geometry/winding.h"
#include "support/random_points.h"

typedef struct soup {
  int32_t num_triangles;
  int32_t* triangles;
  yw_vec3* positions;
} soup;

static soup make_soup(int32_t count) {
  soup out = {count, malloc(3 * (size_t)count * sizeof(int32_t)),
              malloc(3 * (size_t)count * sizeof(yw_vec3))};
  for (int32_t i = 0; i < 3 * count; ++i) out.triangles[i] = i;
  return out;
}

static soup random_soup(test_random* random, int32_t count, double size) {
  soup out = make_soup(count);
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 middle = random_point(random, 1.0);
    for (int k = 0; k < 3; ++k)
      out.positions[3 * i + k] = yw_add(middle, random_point(random, size));
  }
  return out;
}

// A ball of radius 1 of 2 n^2 triangles or so, outward.
static soup ball_soup(int32_t n) {
  soup out = make_soup(2 * n * n);
  const double pi = 3.14159265358979323846;
  int32_t count = 0;
  for (int32_t i = 0; i < n; ++i)
    for (int32_t j = 0; j < n; ++j) {
      yw_vec3 p[4];
      for (int k = 0; k < 4; ++k) {
        double a = pi * (i + (k >> 1)) / n, b = 2.0 * pi * ((j + (k & 1)) % n) / n;
        p[k] = yw_v3((float)(sin(a) * sin(b)), (float)cos(a), (float)(sin(a) * cos(b)));
        if (i + (k >> 1) == n) p[k] = yw_v3(0, -1, 0);
      }
      const int corners[6] = {0, 2, 1, 1, 2, 3};
      for (int k = 0; k < 6; ++k) out.positions[count++] = p[corners[k]];
    }
  return out;
}

static void free_soup(soup* s) {
  free(s->triangles);
  free(s->positions);
}

static yw_triangle_tree tree_of(const soup* s) {
  yw_triangle_tree tree;
  assert_int_equal(
      yw_triangle_tree_create(NULL, s->num_triangles, s->triangles, s->positions, NULL, &tree),
      YW_OK);
  return tree;
}

// Every triangle is in one leaf, every box contains its children, no path is too long.
static void check_tree(const yw_triangle_tree* tree, const soup* s) {
  int32_t* depth = calloc((size_t)tree->num_nodes, sizeof(int32_t));
  int32_t* seen = calloc((size_t)s->num_triangles, sizeof(int32_t));
  for (int32_t n = 0; n < tree->num_nodes; ++n) {
    const yw_tree_node* node = &tree->nodes[n];
    assert_at_most(depth[n], YW_TREE_MAX_DEPTH);
    if (node->count == 0) {
      assert_true(node->first > n && node->first + 1 < tree->num_nodes);
      for (int32_t c = node->first; c < node->first + 2; ++c) {
        depth[c] = depth[n] + 1;
        yw_vec3 low = tree->nodes[c].lower, high = tree->nodes[c].upper;
        assert_true(low.x >= node->lower.x && low.y >= node->lower.y && low.z >= node->lower.z);
        assert_true(high.x <= node->upper.x && high.y <= node->upper.y && high.z <= node->upper.z);
      }
      continue;
    }
    for (int32_t i = node->first; i < node->first + node->count; ++i) {
      ++seen[tree->triangles[i].index];
      const yw_vec3 p[3] = {tree->triangles[i].a, tree->triangles[i].b, tree->triangles[i].c};
      for (int k = 0; k < 3; ++k)
        assert_true(p[k].x >= node->lower.x && p[k].y >= node->lower.y && p[k].z >= node->lower.z &&
                    p[k].x <= node->upper.x && p[k].y <= node->upper.y && p[k].z <= node->upper.z);
    }
  }
  for (int32_t i = 0; i < s->num_triangles; ++i) assert_int_equal(seen[i], 1);
  free(depth);
  free(seen);
}

// In double, by projecting on the plane and clamping to the edges.
static double exact_distance2(const yw_tree_triangle* t, yw_vec3 q) {
  double p[3][3] = {{t->a.x, t->a.y, t->a.z}, {t->b.x, t->b.y, t->b.z}, {t->c.x, t->c.y, t->c.z}};
  double x[3] = {q.x, q.y, q.z}, best = INFINITY, n[3];
  bool inside = true;
  for (int k = 0; k < 3; ++k) {
    int u = (k + 1) % 3, v = (k + 2) % 3;
    n[k] = (p[1][u] - p[0][u]) * (p[2][v] - p[0][v]) - (p[1][v] - p[0][v]) * (p[2][u] - p[0][u]);
  }
  double n2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2], height = 0;
  for (int k = 0; k < 3; ++k) height += (x[k] - p[0][k]) * n[k];
  for (int e = 0; e < 3; ++e) {
    double *a = p[e], *b = p[(e + 1) % 3], along = 0, length2 = 0, cross[3], d2 = 0, side = 0;
    for (int k = 0; k < 3; ++k) {
      along += (x[k] - a[k]) * (b[k] - a[k]);
      length2 += (b[k] - a[k]) * (b[k] - a[k]);
      int u = (k + 1) % 3, v = (k + 2) % 3;
      cross[k] = (b[u] - a[u]) * (x[v] - a[v]) - (b[v] - a[v]) * (x[u] - a[u]);
    }
    double s = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0;
    for (int k = 0; k < 3; ++k) {
      d2 += pow(x[k] - a[k] - s * (b[k] - a[k]), 2);
      side += cross[k] * n[k];
    }
    best = fmin(best, d2);
    if (side < 0) inside = false;
  }
  return inside && n2 > 0 ? fmin(best, height * height / n2) : best;
}

static void check_nearest(const soup* s, test_random* random, int queries, double tolerance) {
  yw_triangle_tree tree = tree_of(s);
  check_tree(&tree, s);
  for (int i = 0; i < queries; ++i) {
    yw_vec3 p = random_point(random, i % 2 ? 1.0 : 3.0);
    double best = INFINITY;
    for (int32_t t = 0; t < s->num_triangles; ++t)
      best = fmin(best, exact_distance2(&tree.triangles[t], p));
    yw_nearest found = yw_triangle_tree_nearest(&tree, p, INFINITY);
    assert_true(found.triangle >= 0 && found.corners >= 1 && found.corners <= 7);
    assert_near(sqrt(found.distance2), sqrt(best), tolerance);
    assert_near(yw_distance(p, found.point), sqrtf(found.distance2), 1e-6);
    // A limit just above finds the same, one just below finds nothing.
    float d2 = found.distance2;
    assert_near(yw_triangle_tree_nearest(&tree, p, d2 * 1.001f).distance2, d2, 0);
    assert_int_equal(yw_triangle_tree_nearest(&tree, p, d2 * 0.999f).triangle, -1);
  }
  yw_triangle_tree_free(&tree);
}

static void nearest_triangles_agree_with_a_search_over_all(void** state) {
  (void)state;
  test_random random = {1};
  const int32_t counts[] = {1, 2, 5, 33, 1000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    soup s = random_soup(&random, counts[i], i % 2 ? 0.5 : 0.05);
    check_nearest(&s, &random, 200, 3e-6);
    free_soup(&s);
  }
}

static void triangles_without_area_are_segments_and_points(void** state) {
  (void)state;
  test_random random = {2};
  soup s = random_soup(&random, 300, 0.3);
  for (int32_t i = 0; i < s.num_triangles; ++i) {
    yw_vec3* p = s.positions + 3 * i;
    if (i % 4 == 0) p[2] = p[1];
    if (i % 4 == 1) p[1] = p[2] = p[0];
    if (i % 4 == 2) p[2] = yw_lerp(p[0], p[1], 0.3f);
    if (i % 4 == 3) p[2] = yw_add(yw_lerp(p[0], p[1], 1.7f), yw_v3(1e-7f, 0, 0));
  }
  check_nearest(&s, &random, 300, 3e-6);
  free_soup(&s);
}

static void slivers_are_as_exact_as_other_triangles(void** state) {
  (void)state;
  test_random random = {9};
  soup s = random_soup(&random, 2000, 0.5);
  for (int32_t i = 0; i < s.num_triangles; ++i) {
    yw_vec3* p = s.positions + 3 * i;
    float thickness = powf(10.0f, -(float)test_random_in(&random, 0, 7));
    float along = (float)test_random_in(&random, -0.2, 1.2);
    p[2] = yw_mad(yw_lerp(p[0], p[1], along), thickness, yw_sub(p[2], p[0]));
  }
  yw_triangle_tree tree = tree_of(&s);
  for (int32_t i = 0; i < s.num_triangles; ++i)
    for (int k = 0; k < 50; ++k) {
      yw_vec3 p = random_point(&random, k % 2 ? 1.0 : 5.0);
      int32_t corners;
      yw_vec3 found = yw_triangle_nearest(&tree.triangles[i], p, &corners);
      assert_near(yw_distance(p, found), sqrt(exact_distance2(&tree.triangles[i], p)), 3e-6);
    }
  yw_triangle_tree_free(&tree);
  free_soup(&s);
}

static void hostile_arrangements_do_not_make_deep_trees(void** state) {
  (void)state;
  test_random random = {3};
  enum { COUNT = 3000 };
  soup s = make_soup(COUNT);
  // Sizes and positions halve repeatedly: every split by area would separate a single triangle.
  for (int32_t i = 0; i < COUNT; ++i) {
    float scale = ldexpf(1.0f, -(i % 120));
    for (int k = 0; k < 3; ++k)
      s.positions[3 * i + k] = yw_scale(yw_add(yw_v3(1, 1, 1), random_point(&random, 0.1)), scale);
  }
  yw_triangle_tree tree = tree_of(&s);
  check_tree(&tree, &s);
  yw_triangle_tree_free(&tree);
  // All at the same position.
  for (int32_t i = 0; i < 3 * COUNT; ++i) s.positions[i] = yw_v3((float)(i % 3), 0, 1);
  tree = tree_of(&s);
  check_tree(&tree, &s);
  assert_near(yw_triangle_tree_nearest(&tree, yw_v3(1, 3, 1), INFINITY).distance2, 9.0, 1e-6);
  yw_triangle_tree_free(&tree);
  free_soup(&s);
}

static void chosen_triangles_alone_are_found(void** state) {
  (void)state;
  test_random random = {4};
  soup s = random_soup(&random, 200, 0.1);
  bool use[200];
  for (int i = 0; i < 200; ++i) use[i] = i % 3 == 0;
  yw_triangle_tree tree;
  assert_int_equal(yw_triangle_tree_create(NULL, 200, s.triangles, s.positions, use, &tree), YW_OK);
  assert_int_equal(tree.num_triangles, 67);
  for (int i = 0; i < 67; ++i) assert_int_equal(tree.triangles[i].index % 3, 0);
  yw_triangle_tree_free(&tree);
  free_soup(&s);
}

static void the_tree_is_the_same_every_time(void** state) {
  (void)state;
  test_random random = {5};
  soup s = random_soup(&random, 500, 0.1);
  yw_triangle_tree a = tree_of(&s), b = tree_of(&s);
  assert_int_equal(a.num_nodes, b.num_nodes);
  assert_memory_equal(a.nodes, b.nodes, (size_t)a.num_nodes * sizeof *a.nodes);
  yw_triangle_tree_free(&a), yw_triangle_tree_free(&b);
  free_soup(&s);
}

// Winding numbers

static void winding_is_one_inside_and_zero_outside_a_closed_mesh(void** state) {
  (void)state;
  test_random random = {6};
  soup s = ball_soup(40);
  yw_triangle_tree tree = tree_of(&s);
  yw_winding winding;
  assert_int_equal(yw_winding_create(&tree, 2.3f, &winding), YW_OK);
  for (int i = 0; i < 2000; ++i) {
    yw_vec3 p = random_point(&random, 1.3);
    float r = yw_length(p);
    if (r > 0.99f && r < 1.0f) continue;
    double expected = r < 0.995f ? 1.0 : 0.0;
    assert_near(yw_winding_number_exact(&winding, p), expected, 2e-4);
    assert_near(yw_winding_number(&winding, p, NULL), expected, 0.06);
  }
  yw_winding_free(&winding);
  yw_triangle_tree_free(&tree);
  free_soup(&s);
}

static void fast_winding_follows_the_exact_sum_in_a_soup(void** state) {
  (void)state;
  test_random random = {7};
  soup s = random_soup(&random, 2000, 0.2);
  yw_triangle_tree tree = tree_of(&s);
  yw_winding winding;
  assert_int_equal(yw_winding_create(&tree, 2.3f, &winding), YW_OK);
  double worst = 0.0;
  for (int i = 0; i < 500; ++i) {
    yw_vec3 p = random_point(&random, 2.0);
    // In double with atan2, one triangle after another.
    double sum = 0.0;
    for (int32_t t = 0; t < tree.num_triangles; ++t) {
      const yw_tree_triangle* tri = &tree.triangles[t];
      yw_vec3 a = yw_sub(tri->a, p), b = yw_sub(tri->b, p), c = yw_sub(tri->c, p);
      double la = yw_length(a), lb = yw_length(b), lc = yw_length(c);
      sum += 2.0 * atan2(yw_dot(a, yw_cross(b, c)),
                         la * lb * lc + yw_dot(a, b) * lc + yw_dot(b, c) * la + yw_dot(c, a) * lb);
    }
    sum /= 4.0 * 3.14159265358979323846;
    assert_near(yw_winding_number_exact(&winding, p), sum, 2e-4);
    worst = fmax(worst, fabs(yw_winding_number(&winding, p, NULL) - sum));
  }
  assert_at_most(worst, 0.1);
  yw_winding_free(&winding);
  yw_triangle_tree_free(&tree);
  free_soup(&s);
}

static void the_gradient_of_the_winding_number_is_its_slope(void** state) {
  (void)state;
  test_random random = {8};
  soup s = ball_soup(24);
  s.num_triangles /= 2;  // the upper half
  yw_triangle_tree tree = tree_of(&s);
  yw_winding winding;
  assert_int_equal(yw_winding_create(&tree, 4.0f, &winding), YW_OK);
  const float e = 2e-3f;
  for (int i = 0; i < 500; ++i) {
    yw_vec3 p = random_point(&random, 0.6), g;
    yw_winding_number(&winding, p, &g);
    yw_vec3 slope = yw_v3(yw_winding_number_exact(&winding, yw_add(p, yw_v3(e, 0, 0))) -
                              yw_winding_number_exact(&winding, yw_sub(p, yw_v3(e, 0, 0))),
                          yw_winding_number_exact(&winding, yw_add(p, yw_v3(0, e, 0))) -
                              yw_winding_number_exact(&winding, yw_sub(p, yw_v3(0, e, 0))),
                          yw_winding_number_exact(&winding, yw_add(p, yw_v3(0, 0, e))) -
                              yw_winding_number_exact(&winding, yw_sub(p, yw_v3(0, 0, e))));
    slope = yw_scale(slope, 0.5f / e);
    assert_near(yw_distance(g, slope), 0.0, 0.02 + 0.04 * yw_length(slope));
  }
  yw_winding_free(&winding);
  yw_triangle_tree_free(&tree);
  free_soup(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_triangles_agree_with_a_search_over_all),
      cmocka_unit_test(triangles_without_area_are_segments_and_points),
      cmocka_unit_test(slivers_are_as_exact_as_other_triangles),
      cmocka_unit_test(hostile_arrangements_do_not_make_deep_trees),
      cmocka_unit_test(chosen_triangles_alone_are_found),
      cmocka_unit_test(the_tree_is_the_same_every_time),
      cmocka_unit_test(winding_is_one_inside_and_zero_outside_a_closed_mesh),
      cmocka_unit_test(fast_winding_follows_the_exact_sum_in_a_soup),
      cmocka_unit_test(the_gradient_of_the_winding_number_is_its_slope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
