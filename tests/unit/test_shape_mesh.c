// SPDX-License-Identifier: MIT
// Mesh shapes and sampled shapes against the analytic shapes they were made from.
#include "geometry/shape.h"

#include "geometry/winding.h"
#include "support/counted_memory.h"
#include "support/random_points.h"
#include "yawara/extend/hash.h"

#define PI 3.14159265358979323846

// Meshes made here

static yw_tri_mesh make_mesh(int32_t num_vertices, int32_t num_triangles) {
  yw_tri_mesh mesh = {.num_vertices = num_vertices, .num_triangles = num_triangles};
  mesh.positions = calloc((size_t)num_vertices, sizeof(yw_vec3));
  mesh.triangles = calloc(3 * (size_t)num_triangles, sizeof(int32_t));
  return mesh;
}

static void free_mesh(yw_tri_mesh* mesh) {
  free(mesh->positions);
  free(mesh->triangles);
}

// A ring of rows x columns quads; rows wrap around when is_torus, else they end in poles.
static yw_tri_mesh ring_mesh(int rows, int columns, bool is_torus, double ring, double radius) {
  int rings = is_torus ? rows : rows + 1;
  yw_tri_mesh mesh = make_mesh(rings * columns, 2 * rows * columns);
  for (int i = 0; i < rings; ++i)
    for (int j = 0; j < columns; ++j) {
      double a = (is_torus ? 2.0 : 1.0) * PI * i / rows, b = 2.0 * PI * j / columns;
      double r = (i == 0 || i == rows) && !is_torus ? 0.0 : ring + radius * sin(a);
      mesh.positions[i * columns + j] =
          yw_v3((float)(r * sin(b)), (float)(radius * cos(a)), (float)(r * cos(b)));
    }
  int32_t* t = mesh.triangles;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      int next = (i + 1) % rings, right = (j + 1) % columns;
      int p = i * columns + j, q = i * columns + right, r = next * columns + j;
      int s = next * columns + right;
      const int corners[6] = {p, r, q, q, r, s};
      for (int k = 0; k < 6; ++k) *t++ = corners[k];
    }
  return mesh;
}

static yw_tri_mesh ball_mesh(int rows, double radius) {
  return ring_mesh(rows, 2 * rows, false, 0.0, radius);
}

static yw_tri_mesh box_mesh(yw_vec3 h) {
  static const int32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                        2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
  yw_tri_mesh mesh = make_mesh(8, 12);
  for (int i = 0; i < 8; ++i)
    mesh.positions[i] = yw_v3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
  memcpy(mesh.triangles, triangles, sizeof triangles);
  return mesh;
}

static yw_tri_mesh join(const yw_tri_mesh* a, const yw_tri_mesh* b, yw_vec3 shift) {
  yw_tri_mesh mesh =
      make_mesh(a->num_vertices + b->num_vertices, a->num_triangles + b->num_triangles);
  memcpy(mesh.positions, a->positions, (size_t)a->num_vertices * sizeof(yw_vec3));
  memcpy(mesh.triangles, a->triangles, 3 * (size_t)a->num_triangles * sizeof(int32_t));
  for (int32_t i = 0; i < b->num_vertices; ++i)
    mesh.positions[a->num_vertices + i] = yw_add(b->positions[i], shift);
  for (int32_t i = 0; i < 3 * b->num_triangles; ++i)
    mesh.triangles[3 * a->num_triangles + i] = b->triangles[i] + a->num_vertices;
  return mesh;
}

static void turn_inside_out(yw_tri_mesh* mesh) {
  for (int32_t i = 0; i < mesh->num_triangles; ++i) {
    int32_t first = mesh->triangles[3 * i];
    mesh->triangles[3 * i] = mesh->triangles[3 * i + 1];
    mesh->triangles[3 * i + 1] = first;
  }
}

static yw_shape* shape_of(const yw_tri_mesh* mesh) {
  yw_error error = {0};
  yw_shape* shape = NULL;
  yw_status status = yw_shape_mesh(NULL, mesh, &shape, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  return shape;
}

// Largest difference of two shapes at random points.
static double difference(const yw_shape* a, const yw_shape* b, double reach) {
  test_random random = {41};
  double worst = 0.0;
  for (int i = 0; i < 3000; ++i) {
    yw_vec3 p = random_point(&random, reach);
    worst = fmax(worst, fabs(yw_shape_distance(a, p) - yw_shape_distance(b, p)));
  }
  return worst;
}

// Closed meshes

static void a_box_of_triangles_is_a_box(void** state) {
  (void)state;
  yw_tri_mesh mesh = box_mesh(yw_v3(0.8f, 0.5f, 0.3f));
  yw_shape *shape = shape_of(&mesh), *box;
  yw_shape_box(NULL, yw_v3(0.8f, 0.5f, 0.3f), &box);
  assert_at_most(difference(shape, box, 1.5), 2e-6);
  yw_aabb bounds;
  assert_true(yw_shape_bounds(shape, &bounds));
  assert_near(bounds.upper.x, 0.8, 1e-6);
  assert_near(bounds.lower.z, -0.3, 1e-6);
  // On the surface the normals are those of faces, edges and corners.
  yw_vec3 n;
  yw_shape_distance_normal(shape, yw_v3(0.2f, 0.5f, 0.1f), &n);
  assert_near(n.y, 1.0, 1e-5);
  yw_shape_distance_normal(shape, yw_v3(0.8f, 0.5f, 0.1f), &n);
  assert_near(yw_dot(n, yw_v3(1, 1, 0)), sqrt(2.0), 1e-4);
  yw_shape_distance_normal(shape, yw_v3(-0.8f, 0.5f, 0.3f), &n);
  assert_near(yw_dot(n, yw_v3(-1, 1, 1)), sqrt(3.0), 1e-4);
  yw_shape_release(shape), yw_shape_release(box);
  free_mesh(&mesh);
}

static void fine_meshes_of_balls_and_rings_have_their_distances(void** state) {
  (void)state;
  yw_tri_mesh ball = ball_mesh(60, 0.7), ring = ring_mesh(60, 120, true, 0.7, 0.25);
  yw_shape *a = shape_of(&ball), *b, *c = shape_of(&ring), *d;
  yw_shape_sphere(NULL, 0.7f, &b);
  yw_shape_torus(NULL, 0.7f, 0.25f, &d);
  assert_at_most(difference(a, b, 1.5), 0.7 * PI * PI / (4 * 60 * 60) + 1e-5);
  assert_at_most(difference(c, d, 1.5), 0.002);
  yw_shape_release(a), yw_shape_release(b), yw_shape_release(c), yw_shape_release(d);
  free_mesh(&ball), free_mesh(&ring);
}

static void mesh_normals_are_gradients(void** state) {
  (void)state;
  yw_tri_mesh mesh = ring_mesh(20, 40, true, 0.7, 0.25);
  yw_shape* shape = shape_of(&mesh);
  test_random random = {43};
  const float e = 1e-3f;
  int checked = 0;
  for (int i = 0; i < 2000; ++i) {
    yw_vec3 p = random_point(&random, 1.2), n;
    float d = yw_shape_distance_normal(shape, p, &n);
    assert_near(yw_length(n), 1.0, 1e-5);
    assert_near(yw_shape_distance(shape, p), d, 1e-6);
    // Along the normal the distance grows at rate 1, except across the medial sheet.
    float ahead = yw_shape_distance(shape, yw_mad(p, e, n));
    float back = yw_shape_distance(shape, yw_mad(p, -e, n));
    if (fabsf(ahead + back - 2.0f * d) > 1e-5f) continue;
    assert_near((ahead - back) / (2.0f * e), 1.0, 6e-3);
    ++checked;
  }
  assert_at_least(checked, 1500);
  yw_shape_release(shape);
  free_mesh(&mesh);
}

static void mesh_distances_change_no_faster_than_the_point_moves(void** state) {
  (void)state;
  yw_tri_mesh ball = ball_mesh(12, 0.7), both = join(&ball, &ball, yw_v3(0.6f, 0.1f, 0));
  yw_shape* shapes[2] = {shape_of(&ball), shape_of(&both)};
  test_random random = {47};
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < 5000; ++i) {
      yw_vec3 p = random_point(&random, 1.0), q = yw_add(p, random_point(&random, 0.1));
      float change = fabsf(yw_shape_distance(shapes[s], p) - yw_shape_distance(shapes[s], q));
      assert_at_most(change, yw_distance(p, q) * 1.0001f + 3e-6f);
    }
  yw_shape_release(shapes[0]), yw_shape_release(shapes[1]);
  free_mesh(&ball), free_mesh(&both);
}

// Imperfect meshes

static void meshes_that_are_inside_out_give_the_same_solid(void** state) {
  (void)state;
  yw_tri_mesh mesh = ring_mesh(16, 32, true, 0.7, 0.25);
  yw_shape* right = shape_of(&mesh);
  turn_inside_out(&mesh);
  yw_shape* wrong = shape_of(&mesh);
  assert_at_most(difference(right, wrong, 1.2), 1e-6);
  yw_vec3 n;
  yw_shape_distance_normal(wrong, mesh.positions[0], &n);
  assert_near(yw_dot(n, yw_v3(0, 1, 0)), 1.0, 0.02);
  yw_shape_release(right), yw_shape_release(wrong);
  free_mesh(&mesh);
}

static void doubled_faces_and_unwelded_vertices_change_nothing(void** state) {
  (void)state;
  yw_tri_mesh mesh = ball_mesh(16, 0.7), twice = join(&mesh, &mesh, yw_v3(0, 0, 0));
  yw_tri_mesh soup = make_mesh(3 * mesh.num_triangles, mesh.num_triangles);
  for (int32_t i = 0; i < 3 * mesh.num_triangles; ++i) {
    soup.positions[i] = mesh.positions[mesh.triangles[i]];
    soup.triangles[i] = i;
  }
  yw_shape *a = shape_of(&mesh), *b = shape_of(&twice), *c = shape_of(&soup);
  assert_at_most(difference(a, b, 1.2), 1e-6);
  assert_at_most(difference(a, c, 1.2), 1e-6);
  yw_shape_release(a), yw_shape_release(b), yw_shape_release(c);
  free_mesh(&mesh), free_mesh(&twice), free_mesh(&soup);
}

static void overlapping_balls_are_their_union_inside_too(void** state) {
  (void)state;
  yw_tri_mesh ball = ball_mesh(40, 0.6), both = join(&ball, &ball, yw_v3(0.5f, 0, 0));
  yw_shape *mesh = shape_of(&both), *left, *right, *join_shape;
  yw_shape_sphere(NULL, 0.6f, &left);
  yw_transform move = YW_TRANSFORM_IDENTITY;
  move.position.x = 0.5f;
  yw_shape_transform(NULL, left, move, &right);
  yw_shape_union(NULL, 2, (yw_shape*[]){left, right}, 0, &join_shape);
  test_random random = {53};
  for (int i = 0; i < 3000; ++i) {
    yw_vec3 p = random_point(&random, 1.3);
    float d = yw_shape_distance(mesh, p), expected = yw_shape_distance(join_shape, p);
    if (fabsf(expected) > 0.005f) assert_int_equal(d < 0, expected < 0);
    // Outside the union is exact; inside, the true distance is at least that of the union.
    if (expected > 0) assert_near(d, expected, 0.004);
    if (expected < 0) assert_at_most(d, expected + 0.05);
  }
  // In the middle, faces inside the overlap are not mistaken for the surface: the nearest points
  // are on the seam, sqrt(0.6^2 - 0.25^2) away.
  assert_near(yw_shape_distance(mesh, yw_v3(0.25f, 0, 0)), -sqrt(0.36 - 0.0625), 0.03);
  yw_shape_release(mesh), yw_shape_release(left), yw_shape_release(right);
  yw_shape_release(join_shape);
  free_mesh(&ball), free_mesh(&both);
}

// A box or ring inside of another changes nothing, whichever comes first or has more triangles.
static void what_is_inside_changes_nothing(void** state) {
  (void)state;
  for (int order = 0; order < 8; ++order) {
    bool box = order & 1;
    yw_tri_mesh large =
        box ? box_mesh(yw_v3(1, 1, 1)) : ring_mesh(order & 4 ? 8 : 12, 20, true, 0.6, 0.35);
    yw_tri_mesh small =
        box ? box_mesh(yw_v3(0.3f, 0.2f, 0.3f)) : ring_mesh(10, 20, true, 0.6, 0.12);
    yw_vec3 middle = {0, 0, 0};
    yw_tri_mesh both = order & 2 ? join(&small, &large, middle) : join(&large, &small, middle);
    yw_shape *one = shape_of(&large), *two = shape_of(&both);
    assert_at_most(difference(one, two, 1.3), 1e-6);
    yw_shape_release(one), yw_shape_release(two);
    free_mesh(&large), free_mesh(&small), free_mesh(&both);
  }
}

static void an_open_hemisphere_is_closed_across_its_rim(void** state) {
  (void)state;
  yw_tri_mesh mesh = ball_mesh(40, 0.7);
  mesh.num_triangles /= 2;  // the upper half
  yw_shape *shape = shape_of(&mesh), *ball, *below, *half;
  yw_shape_sphere(NULL, 0.7f, &ball);
  yw_shape_plane(NULL, yw_v3(0, -1, 0), 0, &below);
  yw_shape_intersection(NULL, 2, (yw_shape*[]){ball, below}, 0, &half);
  test_random random = {59};
  int inside = 0;
  for (int i = 0; i < 5000; ++i) {
    yw_vec3 p = random_point(&random, 1.0), n;
    float d = yw_shape_distance_normal(shape, p, &n), expected = yw_shape_distance(half, p);
    if (fabsf(expected) > 0.01f) assert_int_equal(d < 0, expected < 0);
    inside += d < 0;
    assert_near(yw_length(n), 1.0, 1e-5);
    // Never much more than the true distance: nothing steps through the hole.
    if (d > 0 && p.y > -0.3f && p.y < 0 && yw_length(p) < 0.6f) {
      assert_at_most(d, 1.02f * -p.y + 0.005f);
      assert_at_least(d, 0.7f * -p.y - 0.005f);
    }
  }
  assert_at_least(inside, 300);
  // Through the hole the value goes through zero.
  float last = yw_shape_distance(shape, yw_v3(0.1f, -0.2f, 0));
  for (int i = -199; i < 200; ++i) {
    float d = yw_shape_distance(shape, yw_v3(0.1f, 0.001f * (float)i, 0));
    assert_near(d, last, 0.02);
    last = d;
  }
  yw_shape_release(shape), yw_shape_release(ball), yw_shape_release(below), yw_shape_release(half);
  free_mesh(&mesh);
}

static void triangles_without_area_do_no_harm(void** state) {
  (void)state;
  yw_tri_mesh box = box_mesh(yw_v3(0.8f, 0.5f, 0.3f));
  yw_tri_mesh mesh = make_mesh(9, 16);
  memcpy(mesh.positions, box.positions, 8 * sizeof(yw_vec3));
  mesh.positions[8] = yw_v3(0.8f, 0, 0.3f);  // on an edge of the box
  memcpy(mesh.triangles, box.triangles, 36 * sizeof(int32_t));
  const int32_t flat[12] = {0, 0, 0, 1, 1, 2, 5, 8, 7, 7, 8, 5};
  memcpy(mesh.triangles + 36, flat, sizeof flat);
  yw_shape *a = shape_of(&mesh), *b = shape_of(&box);
  test_random random = {61};
  for (int i = 0; i < 2000; ++i) {
    yw_vec3 p = random_point(&random, 1.0);
    // Triangle 1-1-2 is a diagonal of a face.
    assert_near(yw_shape_distance(a, p), yw_shape_distance(b, p), 2e-6);
  }
  yw_shape_release(a), yw_shape_release(b);
  free_mesh(&mesh), free_mesh(&box);
}

static void size_and_place_of_a_mesh_do_not_matter(void** state) {
  (void)state;
  const float sizes[] = {1e-36f, 1e-12f, 1e-3f, 1e6f, 1e15f, 1e37f};
  yw_tri_mesh box = box_mesh(yw_v3(1, 1, 1));
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    yw_tri_mesh mesh = box_mesh(yw_v3(sizes[i], sizes[i], sizes[i]));
    yw_shape* shape = shape_of(&mesh);
    yw_vec3 n;
    float d = yw_shape_distance_normal(shape, yw_v3(3 * sizes[i], 0, 0), &n);
    assert_near(d / sizes[i], 2.0, 1e-5);
    assert_near(n.x, 1.0, 1e-5);
    assert_near(yw_shape_distance(shape, yw_v3(0, 0.5f * sizes[i], 0)) / sizes[i], -0.5, 1e-5);
    yw_shape_release(shape);
    free_mesh(&mesh);
  }
  free_mesh(&box);
}

// Batches and samples

static void mesh_batches_agree_with_single_queries(void** state) {
  (void)state;
  yw_tri_mesh ball = ball_mesh(20, 0.6), both = join(&ball, &ball, yw_v3(0.5f, 0, 0));
  yw_tri_mesh open = ball_mesh(20, 0.6);
  open.num_triangles = open.num_triangles * 3 / 4;
  yw_shape* shapes[3] = {shape_of(&ball), shape_of(&both), shape_of(&open)};
  test_random random = {67};
  enum { COUNT = 500 };
  static yw_vec4 points[COUNT], normals[COUNT];
  static float distance[COUNT], again[COUNT];
  for (int s = 0; s < 3; ++s)
    for (int round = 0; round < 20; ++round) {
      yw_vec3 p = random_point(&random, 1.0), step = random_point(&random, 0.02);
      for (int i = 0; i < COUNT; ++i)
        points[i] = yw_v4(round % 2 ? random_point(&random, 1.2) : yw_mad(p, (float)i, step));
      yw_shape_distance_many(shapes[s], COUNT, points, distance);
      yw_shape_distance_normal_many(shapes[s], COUNT, points, again, normals);
      for (int i = 0; i < COUNT; ++i) {
        yw_vec3 n;
        float d = yw_shape_distance_normal(shapes[s], yw_xyz(points[i]), &n);
        assert_near(distance[i], d, 1e-6);
        assert_true(again[i] == d);
        assert_true(normals[i].x == n.x && normals[i].y == n.y && normals[i].z == n.z);
      }
    }
  for (int s = 0; s < 3; ++s) yw_shape_release(shapes[s]);
  free_mesh(&ball), free_mesh(&both), free_mesh(&open);
}

static void sampled_shapes_follow_the_shape_within_the_spacing(void** state) {
  (void)state;
  yw_shape *ring, *sampled;
  yw_error error = {.status = YW_ERR_FORMAT, .message = "of something else"};
  yw_shape_torus(NULL, 0.7f, 0.25f, &ring);
  const float h = 0.02f;
  assert_int_equal(yw_shape_sampled(NULL, ring, h, &sampled, &error), YW_OK);
  assert_int_equal(error.status, YW_OK);
  assert_string_equal(error.message, "");
  test_random random = {71};
  yw_aabb box;
  assert_true(yw_shape_bounds(sampled, &box));
  for (int i = 0; i < 5000; ++i) {
    yw_vec3 p = random_point(&random, 1.1), n, m;
    float d = yw_shape_distance_normal(ring, p, &n);
    float e = yw_shape_distance_normal(sampled, p, &m);
    assert_near(yw_length(m), 1.0, 1e-5);
    assert_at_most(e, d + 0.6f * h);
    assert_near(yw_shape_distance(sampled, p), e, 0);
    if (e < 0) {
      assert_true(p.x >= box.lower.x && p.y >= box.lower.y && p.z >= box.lower.z);
      assert_true(p.x <= box.upper.x && p.y <= box.upper.y && p.z <= box.upper.z);
    }
    if (fabsf(d) < 1.5f * h) {
      assert_near(e, d, 0.1f * h);
      assert_at_least(yw_dot(n, m), 0.97);
    }
  }
  // Outside the grid the value never exceeds the true distance by more than the sampling error; it
  // grows along the normal, except across the axis of the ring.
  int asked = 0, rising = 0;
  for (int i = 0; i < 3000; ++i) {
    yw_vec3 p = random_point(&random, 6.0), n;
    float d = yw_shape_distance(ring, p), e = yw_shape_distance_normal(sampled, p, &n);
    if (d < 0.2f) continue;
    assert_at_most(e, d + 0.6f * h);
    assert_at_least(e, 0.6f * d);
    float step = 1e-2f, ahead = yw_shape_distance(sampled, yw_mad(p, step, n));
    ++asked;
    rising += ahead - e > 0.9f * step;
    assert_at_most(ahead - e, 1.05f * step);
  }
  assert_at_least(rising, 0.95 * asked);
  yw_shape_release(ring), yw_shape_release(sampled);
}

static void sampled_meshes_have_the_right_sign_everywhere(void** state) {
  (void)state;
  yw_tri_mesh ball = ball_mesh(20, 0.6), both = join(&ball, &ball, yw_v3(0.5f, 0, 0));
  yw_shape *mesh = shape_of(&both), *sampled;
  const float h = 0.03f;
  assert_int_equal(yw_shape_sampled(NULL, mesh, h, &sampled, NULL), YW_OK);
  test_random random = {73};
  for (int i = 0; i < 5000; ++i) {
    yw_vec3 p = random_point(&random, 1.2);
    float d = yw_shape_distance(mesh, p), e = yw_shape_distance(sampled, p);
    if (fabsf(d) > h) assert_int_equal(d < 0, e < 0);
    if (yw_length(p) < 0.7f) assert_near(e, d, h);
  }
  yw_shape_release(mesh), yw_shape_release(sampled);
  free_mesh(&ball), free_mesh(&both);
}

static void shapes_that_cannot_be_sampled_are_refused_with_the_reason(void** state) {
  (void)state;
  yw_shape *ball, *plane, *out;
  yw_error error;
  yw_shape_sphere(NULL, 1, &ball);
  yw_shape_plane(NULL, yw_v3(0, 1, 0), 0, &plane);
  assert_int_equal(yw_shape_sampled(NULL, ball, 1e-3f, &out, &error), YW_ERR_LIMIT);
  assert_null(out);
  assert_non_null(strstr(error.message, "samples"));
  assert_int_equal(yw_shape_sampled(NULL, ball, 1e-30f, &out, &error), YW_ERR_LIMIT);
  assert_int_equal(yw_shape_sampled(NULL, plane, 0.1f, &out, &error), YW_ERR_GEOMETRY);
  const float bad[] = {0.0f, -1.0f, NAN, INFINITY};
  for (int i = 0; i < 4; ++i)
    assert_int_equal(yw_shape_sampled(NULL, ball, bad[i], &out, &error), YW_ERR_INVALID);
  assert_int_equal(yw_shape_sampled(NULL, NULL, 0.1f, &out, &error), YW_ERR_INVALID);
  // A grid coarser than the shape still works.
  assert_int_equal(yw_shape_sampled(NULL, ball, 100.0f, &out, &error), YW_OK);
  assert_true(isfinite(yw_shape_distance(out, yw_v3(0, 0, 0))));
  yw_shape_release(ball), yw_shape_release(plane), yw_shape_release(out);
}

// The same bits with every compiler and optimisation level: crossed boxes, one of them open, and
// their samples.
static void mesh_distances_have_not_changed(void** state) {
  (void)state;
  yw_tri_mesh box = box_mesh(yw_v3(0.8f, 0.5f, 0.3f)), open = box_mesh(yw_v3(0.4f, 0.4f, 0.9f));
  open.num_triangles = 10;
  yw_tri_mesh both = join(&box, &open, yw_v3(0.1f, 0.2f, 0.05f));
  yw_shape* shapes[3] = {shape_of(&box), shape_of(&both), NULL};
  assert_int_equal(yw_shape_sampled(NULL, shapes[1], 0.05f, &shapes[2], NULL), YW_OK);
  test_random random = {83};
  uint64_t hash = YW_HASH_SEED;
  for (int i = 0; i < 3000; ++i) {
    yw_vec3 n;
    float d = yw_shape_distance_normal(shapes[i % 3], random_point(&random, 1.3), &n);
    hash = yw_hash_bytes(hash, &d, sizeof d);
    hash = yw_hash_bytes(hash, &n, sizeof n);
  }
  if (hash != 0x419e19374e975aebull) print_error("hash is 0x%llx\n", (unsigned long long)hash);
  assert_true(hash == 0x419e19374e975aebull);
  for (int i = 0; i < 3; ++i) yw_shape_release(shapes[i]);
  free_mesh(&box), free_mesh(&open), free_mesh(&both);
}

// Bad meshes and memory

static void bad_meshes_are_refused_with_the_reason(void** state) {
  (void)state;
  yw_error error;
  yw_shape* out;
  yw_tri_mesh mesh = box_mesh(yw_v3(1, 1, 1));
  mesh.num_triangles = 0;
  assert_int_equal(yw_shape_mesh(NULL, &mesh, &out, &error), YW_ERR_GEOMETRY);
  assert_null(out);
  mesh.num_triangles = 12;
  mesh.triangles[17] = 8;
  assert_int_equal(yw_shape_mesh(NULL, &mesh, &out, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "triangle 5"));
  mesh.triangles[17] = -1;
  assert_int_equal(yw_shape_mesh(NULL, &mesh, &out, &error), YW_ERR_GEOMETRY);
  mesh.triangles[17] = 4;
  mesh.positions[3].y = NAN;
  assert_int_equal(yw_shape_mesh(NULL, &mesh, &out, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "vertex 3"));
  for (int i = 0; i < 8; ++i) mesh.positions[i] = yw_v3((float)i, 0, 0);
  assert_int_equal(yw_shape_mesh(NULL, &mesh, &out, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "area"));
  assert_int_equal(yw_shape_mesh(NULL, &mesh, &out, NULL), YW_ERR_GEOMETRY);
  free_mesh(&mesh);
}

static void every_failing_allocation_is_reported_and_nothing_leaks(void** state) {
  (void)state;
  yw_tri_mesh ball = ball_mesh(8, 0.6), both = join(&ball, &ball, yw_v3(0.5f, 0, 0));
  yw_status status = YW_ERR_MEMORY;
  int tries = 0;
  for (; status == YW_ERR_MEMORY; ++tries) {
    counted_memory memory = {.left = tries};
    yw_allocator mem = counted_allocator(&memory);
    yw_error error = {0};
    yw_shape *mesh = NULL, *sampled = NULL;
    status = yw_shape_mesh(&mem, &both, &mesh, &error);
    if (status == YW_OK) status = yw_shape_sampled(&mem, mesh, 0.1f, &sampled, &error);
    if (status < 0) {
      assert_int_equal(status, YW_ERR_MEMORY);
      assert_int_equal(error.status, YW_ERR_MEMORY);
      assert_null(sampled);
    }
    yw_shape_release(mesh);
    yw_shape_release(sampled);
    assert_int_equal(memory.alive, 0);
  }
  assert_int_equal(status, YW_OK);
  assert_at_least(tries, 15);
  free_mesh(&ball), free_mesh(&both);
}

// Real models

static yw_tri_mesh read_obj(const char* path) {
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  char line[512];
  int32_t num_vertices = 0, num_triangles = 0;
  yw_tri_mesh mesh = {0};
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1) mesh = make_mesh(num_vertices, num_triangles);
    num_vertices = num_triangles = 0;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
      yw_vec3 p;
      if (sscanf(line, "v %f %f %f", &p.x, &p.y, &p.z) == 3) {
        if (pass == 1) mesh.positions[num_vertices] = p;
        ++num_vertices;
      }
      if (strncmp(line, "f ", 2) != 0) continue;
      int32_t corners[16];
      int count = 0;
      char* save = NULL;
      for (char* word = strtok_r(line + 2, " \t\r\n", &save); word && count < 16;
           word = strtok_r(NULL, " \t\r\n", &save))
        corners[count++] = atoi(word) - 1;
      for (int i = 2; i < count; ++i, ++num_triangles) {
        if (pass == 0) continue;
        mesh.triangles[3 * num_triangles] = corners[0];
        mesh.triangles[3 * num_triangles + 1] = corners[i - 1];
        mesh.triangles[3 * num_triangles + 2] = corners[i];
      }
    }
  }
  fclose(file);
  return mesh;
}

static void models_enclose_the_volume_of_their_triangles(void** state) {
  (void)state;
  const char* folder = test_models();
  if (!folder) {
    print_message("models missing, skipped\n");
    skip();
  }
  const char* names[] = {"bunny_10k.obj", "spot.obj", "cow.obj", "teapot.obj"};
  for (int m = 0; m < 4; ++m) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, names[m]);
    yw_tri_mesh mesh = read_obj(path);
    yw_shape* shape = shape_of(&mesh);
    yw_aabb box;
    assert_true(yw_shape_bounds(shape, &box));
    yw_vec3 size = yw_sub(box.upper, box.lower);
    double volume = 0.0;
    for (int32_t i = 0; i < mesh.num_triangles; ++i) {
      const int32_t* t = mesh.triangles + 3 * i;
      volume +=
          yw_dot(mesh.positions[t[0]], yw_cross(mesh.positions[t[1]], mesh.positions[t[2]])) / 6.0;
    }
    yw_triangle_tree tree;
    yw_winding winding;
    assert_int_equal(yw_triangle_tree_create(NULL, mesh.num_triangles, mesh.triangles,
                                             mesh.positions, NULL, &tree),
                     YW_OK);
    assert_int_equal(yw_winding_create(&tree, 3.0f, &winding), YW_OK);
    test_random random = {79};
    const int samples = 20000;
    int inside = 0;
    for (int i = 0; i < samples; ++i) {
      yw_vec3 p = yw_v3((float)test_random_in(&random, box.lower.x, box.upper.x),
                        (float)test_random_in(&random, box.lower.y, box.upper.y),
                        (float)test_random_in(&random, box.lower.z, box.upper.z));
      yw_vec3 n;
      float d = yw_shape_distance_normal(shape, p, &n);
      assert_true(isfinite(d));
      assert_near(yw_length(n), 1.0, 1e-4);
      inside += d < 0;
      // The shortcuts that avoid winding numbers agree with the exact sum.
      if (i % 10) continue;
      float w = yw_winding_number_exact(&winding, p);
      if (fabsf(w - 0.5f) > 0.05f) assert_int_equal(d<0, w> 0.5f);
    }
    yw_winding_free(&winding);
    yw_triangle_tree_free(&tree);
    double found = (double)inside / samples * size.x * size.y * size.z;
    if (!(fabs(found - volume) <= 0.05 * volume)) print_error("%s\n", names[m]);
    assert_near(found, volume, 0.05 * volume);
    yw_shape_release(shape);
    free_mesh(&mesh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_of_triangles_is_a_box),
      cmocka_unit_test(fine_meshes_of_balls_and_rings_have_their_distances),
      cmocka_unit_test(mesh_normals_are_gradients),
      cmocka_unit_test(mesh_distances_change_no_faster_than_the_point_moves),
      cmocka_unit_test(meshes_that_are_inside_out_give_the_same_solid),
      cmocka_unit_test(doubled_faces_and_unwelded_vertices_change_nothing),
      cmocka_unit_test(overlapping_balls_are_their_union_inside_too),
      cmocka_unit_test(what_is_inside_changes_nothing),
      cmocka_unit_test(an_open_hemisphere_is_closed_across_its_rim),
      cmocka_unit_test(triangles_without_area_do_no_harm),
      cmocka_unit_test(size_and_place_of_a_mesh_do_not_matter),
      cmocka_unit_test(mesh_batches_agree_with_single_queries),
      cmocka_unit_test(sampled_shapes_follow_the_shape_within_the_spacing),
      cmocka_unit_test(sampled_meshes_have_the_right_sign_everywhere),
      cmocka_unit_test(shapes_that_cannot_be_sampled_are_refused_with_the_reason),
      cmocka_unit_test(mesh_distances_have_not_changed),
      cmocka_unit_test(bad_meshes_are_refused_with_the_reason),
      cmocka_unit_test(every_failing_allocation_is_reported_and_nothing_leaks),
      cmocka_unit_test(models_enclose_the_volume_of_their_triangles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
