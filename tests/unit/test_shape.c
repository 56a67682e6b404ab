// SPDX-License-Identifier: MIT
// Shapes: primitives, combinations, transforms, bounds, limits and memory.
#include "geometry/shape.h"

#include "support/counted_memory.h"
#include "support/random_points.h"
#include "yawara/extend/hash.h"

static yw_vec3 random_direction(test_random* random) {
  for (;;) {
    yw_vec3 p = random_point(random, 1.0);
    float length = yw_length(p);
    if (length > 0.1f && length < 1.0f) return yw_scale(p, 1.0f / length);
  }
}

static yw_quat random_rotation(test_random* random) {
  yw_vec3 p = random_point(random, 1.0);
  return yw_quat_normalize((yw_quat){p.x, p.y, p.z, (float)test_random_in(random, 0.1, 1)});
}

static yw_transform random_transform(test_random* random, double reach, double low, double high) {
  yw_transform t = YW_TRANSFORM_IDENTITY;
  t.position = random_point(random, reach);
  t.rotation = random_rotation(random);
  t.scale = (float)test_random_in(random, low, high);
  return t;
}

// Shapes of all kinds, for tests that apply to each.

enum { NUM_PRIMITIVES = 11 };

static yw_shape* primitive(const yw_allocator* mem, int which) {
  yw_shape* shape = NULL;
  switch (which) {
    case 0:
      yw_shape_sphere(mem, 0.7f, &shape);
      break;
    case 1:
      yw_shape_box(mem, yw_v3(0.8f, 0.5f, 0.3f), &shape);
      break;
    case 2:
      yw_shape_rounded_box(mem, yw_v3(0.8f, 0.5f, 0.4f), 0.2f, &shape);
      break;
    case 3:
      yw_shape_capsule(mem, yw_v3(-0.4f, 0.1f, 0.2f), yw_v3(0.5f, 0.6f, -0.3f), 0.3f, &shape);
      break;
    case 4:
      yw_shape_cylinder(mem, 0.6f, 0.7f, &shape);
      break;
    case 5:
      yw_shape_cone(mem, 0.8f, 0.3f, 0.5f, &shape);
      break;
    case 6:
      yw_shape_cone(mem, 0.0f, 0.9f, 0.6f, &shape);
      break;
    case 7:
      yw_shape_cone(mem, 0.5f, 0.0f, 0.9f, &shape);
      break;
    case 8:
      yw_shape_torus(mem, 0.7f, 0.25f, &shape);
      break;
    case 9:
      yw_shape_torus(mem, 0.3f, 0.5f, &shape);
      break;
    default:
      yw_shape_capsule(mem, yw_v3(0.2f, 0, 0), yw_v3(0.2f, 0, 0), 0.5f, &shape);
      break;
  }
  return shape;
}

// A tree of at most `depth` more levels.
static yw_shape* random_tree(test_random* random, int depth) {
  uint32_t pick = depth > 0 ? test_random_u32(random) % 7 : 0;
  yw_shape* out = NULL;
  if (pick == 0) {
    int which = (int)(test_random_u32(random) % (NUM_PRIMITIVES + 1));
    if (which < NUM_PRIMITIVES) return primitive(NULL, which);
    yw_vec3 normal = random_direction(random);
    yw_shape_plane(NULL, normal, (float)test_random_in(random, -1, 1), &out);
    return out;
  }
  yw_shape* children[5];
  int32_t count = pick < 5 ? 1 + (int32_t)(test_random_u32(random) % 5) : 1;
  for (int32_t i = 0; i < count; ++i) children[i] = random_tree(random, depth - 1);
  float smooth = test_random_u32(random) % 3 ? (float)test_random_in(random, 0.01, 0.8) : 0.0f;
  if (pick <= 2) {
    yw_shape_union(NULL, count, children, smooth, &out);
  } else if (pick == 3) {
    yw_shape_intersection(NULL, count, children, smooth, &out);
  } else if (pick == 4) {
    yw_shape_difference(NULL, count, children, smooth, &out);
  } else if (pick == 5) {
    yw_transform transform = random_transform(random, 1.0, 0.3, 2.0);
    yw_shape_transform(NULL, children[0], transform, &out);
  } else {
    yw_shape_offset(NULL, children[0], (float)test_random_in(random, -0.2, 0.3), &out);
  }
  for (int32_t i = 0; i < count; ++i) yw_shape_release(children[i]);
  return out;
}

// Exact distances

// Points of the surface, by bisection along chords of a ball around it.
typedef struct cloud {
  int32_t count;
  yw_vec3* points;
} cloud;

static cloud sample_surface(const yw_shape* shape, int32_t wanted) {
  cloud out = {0, malloc((size_t)wanted * sizeof(yw_vec3))};
  test_random random = {7};
  yw_aabb box;
  assert_true(yw_shape_bounds(shape, &box));
  yw_vec3 middle = yw_scale(yw_add(box.lower, box.upper), 0.5f);
  float reach = yw_length(yw_sub(box.upper, middle));
  while (out.count < wanted) {
    // A line through the box; every change of sign is a point of the surface.
    yw_vec3 a = yw_mad(middle, 1.05f * reach, random_direction(&random));
    yw_vec3 b = yw_mad(middle, 1.05f * reach, random_direction(&random));
    float last = yw_shape_distance(shape, a);
    for (int i = 1; i <= 40 && out.count < wanted; ++i) {
      float next = yw_shape_distance(shape, yw_lerp(a, b, (float)i / 40.0f));
      if ((next < 0) != (last < 0)) {
        double low = (i - 1) / 40.0, high = i / 40.0;
        for (int k = 0; k < 30; ++k) {
          double mid = 0.5 * (low + high);
          bool same = (yw_shape_distance(shape, yw_lerp(a, b, (float)mid)) < 0) == (last < 0);
          if (same)
            low = mid;
          else
            high = mid;
        }
        out.points[out.count++] = yw_lerp(a, b, (float)low);
      }
      last = next;
    }
  }
  return out;
}

static float nearest(const cloud* surface, yw_vec3 p) {
  float best = INFINITY;
  for (int32_t i = 0; i < surface->count; ++i) {
    float d = yw_length2(yw_sub(p, surface->points[i]));
    best = d < best ? d : best;
  }
  return sqrtf(best);
}

// The solids by their textbook inequalities, without distances.
static bool is_inside(int which, yw_vec3 p) {
  double x = p.x, y = p.y, z = p.z, r = sqrt(x * x + z * z);
  switch (which) {
    case 0:
      return x * x + y * y + z * z < 0.49;
    case 1:
      return fabs(x) < 0.8 && fabs(y) < 0.5 && fabs(z) < 0.3;
    case 2: {
      double a = fmax(fabs(x) - 0.6, 0), b = fmax(fabs(y) - 0.3, 0), c = fmax(fabs(z) - 0.2, 0);
      return a * a + b * b + c * c < 0.04;
    }
    case 3: {
      double best = 1e9;
      for (int i = 0; i <= 1000; ++i) {
        double t = i / 1000.0, a = x + 0.4 - 0.9 * t, b = y - 0.1 - 0.5 * t, c = z - 0.2 + 0.5 * t;
        best = fmin(best, a * a + b * b + c * c);
      }
      return best < 0.09;
    }
    case 4:
      return r < 0.6 && fabs(y) < 0.7;
    case 5:
      return fabs(y) < 0.5 && r < 0.8 - 0.5 * (y + 0.5);
    case 6:
      return fabs(y) < 0.6 && r < 0.9 * (y + 0.6) / 1.2;
    case 7:
      return fabs(y) < 0.9 && r < 0.5 - 0.5 * (y + 0.9) / 1.8;
    case 8:
      return (r - 0.7) * (r - 0.7) + y * y < 0.0625;
    case 9:
      return (r - 0.3) * (r - 0.3) + y * y < 0.25;
    default:
      return (x - 0.2) * (x - 0.2) + y * y + z * z < 0.25;
  }
}

// Exact: the sign is right, no surface point is closer than the distance, and one is exactly that
// far away.
static void primitives_have_exact_distances_inside_and_outside(void** state) {
  (void)state;
  for (int which = 0; which < NUM_PRIMITIVES; ++which) {
    yw_shape* shape = primitive(NULL, which);
    cloud surface = sample_surface(shape, 20000);
    test_random random = {11 + (uint64_t)which};
    int inside = 0;
    for (int i = 0; i < 1000; ++i) {
      yw_vec3 p = random_point(&random, i % 2 ? 0.6 : 1.6), n;
      float d = yw_shape_distance_normal(shape, p, &n);
      inside += d < 0;
      if (fabsf(d) > 1e-5f) assert_int_equal(d < 0, is_inside(which, p));
      assert_at_most(fabsf(d), nearest(&surface, p) + 1e-5f);
      yw_vec3 foot = yw_mad(p, -d, n);
      assert_near(yw_shape_distance(shape, foot), 0.0, 2e-6);
      assert_int_equal(is_inside(which, yw_mad(foot, 1e-4f, n)), false);
    }
    assert_at_least(inside, 50);
    free(surface.points);
    yw_shape_release(shape);
  }
}

static void planes_have_exact_distances_for_normals_of_any_length(void** state) {
  (void)state;
  yw_shape* plane;
  assert_int_equal(yw_shape_plane(NULL, yw_v3(0, 3, 4), 10, &plane), YW_OK);
  assert_near(yw_shape_distance(plane, yw_v3(5, 3, 4)), 3.0, 1e-6);
  assert_near(yw_shape_distance(plane, yw_v3(0, 0, 0)), -2.0, 1e-6);
  yw_vec3 n;
  yw_shape_distance_normal(plane, yw_v3(0, 0, 0), &n);
  assert_near(n.y, 0.6, 1e-6);
  assert_near(n.z, 0.8, 1e-6);
  yw_shape_release(plane);
}

// Normals

static void check_gradient(const yw_shape* shape, yw_vec3 p, int* checked) {
  const float e = 1e-3f;
  yw_vec3 n;
  float d = yw_shape_distance_normal(shape, p, &n);
  assert_near(d, yw_shape_distance(shape, p), 1e-6);
  assert_near(yw_length(n), 1.0, 1e-5);
  float x = yw_shape_distance(shape, yw_add(p, yw_v3(e, 0, 0))) -
            yw_shape_distance(shape, yw_sub(p, yw_v3(e, 0, 0)));
  float y = yw_shape_distance(shape, yw_add(p, yw_v3(0, e, 0))) -
            yw_shape_distance(shape, yw_sub(p, yw_v3(0, e, 0)));
  float z = yw_shape_distance(shape, yw_add(p, yw_v3(0, 0, e))) -
            yw_shape_distance(shape, yw_sub(p, yw_v3(0, 0, e)));
  yw_vec3 numeric = yw_scale(yw_v3(x, y, z), 0.5f / e);
  float length = yw_length(numeric);
  // On creases and medial sheets the central difference mixes both sides: the second difference
  // detects this.
  float bend = yw_shape_distance(shape, yw_mad(p, e, n)) +
               yw_shape_distance(shape, yw_mad(p, -e, n)) - 2.0f * d;
  if (length < 0.3f || fabsf(bend) > 1e-5f) return;
  float bends = 0;
  for (int axis = 0; axis < 3; ++axis) {
    yw_vec3 step = yw_v3(axis == 0 ? e : 0, axis == 1 ? e : 0, axis == 2 ? e : 0);
    float b = yw_shape_distance(shape, yw_add(p, step)) +
              yw_shape_distance(shape, yw_sub(p, step)) - 2.0f * d;
    bends = fabsf(b) > bends ? fabsf(b) : bends;
  }
  if (bends > 2e-5f) return;
  numeric = yw_scale(numeric, 1.0f / length);
  assert_near(yw_distance(n, numeric), 0.0, 0.03);
  ++*checked;
}

static void normals_are_gradients_of_the_distance(void** state) {
  (void)state;
  test_random random = {3};
  int checked = 0;
  for (int which = 0; which < NUM_PRIMITIVES; ++which) {
    yw_shape* shape = primitive(NULL, which);
    for (int i = 0; i < 500; ++i) check_gradient(shape, random_point(&random, 1.5), &checked);
    yw_shape_release(shape);
  }
  assert_at_least(checked, 4000);
  checked = 0;
  for (int tree = 0; tree < 200; ++tree) {
    yw_shape* shape = random_tree(&random, 4);
    for (int i = 0; i < 50; ++i) check_gradient(shape, random_point(&random, 2.0), &checked);
    yw_shape_release(shape);
  }
  assert_at_least(checked, 6000);
}

static void normals_are_unit_vectors_at_singular_points_too(void** state) {
  (void)state;
  const yw_vec3 points[] = {{0, 0, 0},         {0, 0.3f, 0},       {0.7f, 0, 0},
                            {0, 0, -0.7f},     {1e-30f, 0, 0},     {0, 1e-22f, 0},
                            {1e25f, 1e25f, 0}, {0.2f, 0, 0},       {0, 0.4f, 0},
                            {0, -0.6f, 0},     {0.8f, 0.5f, 0.3f}, {3e-16f, 1e-16f, 0}};
  for (int which = 0; which < NUM_PRIMITIVES; ++which) {
    yw_shape* shape = primitive(NULL, which);
    for (size_t i = 0; i < sizeof points / sizeof *points; ++i) {
      yw_vec3 n, again;
      yw_shape_distance_normal(shape, points[i], &n);
      yw_shape_distance_normal(shape, points[i], &again);
      assert_near(yw_length(n), 1.0, 1e-5);
      assert_memory_equal(&n, &again, sizeof n);
    }
    yw_shape_release(shape);
  }
  // Half-way between two equal spheres the gradient of the blend vanishes.
  yw_shape *left, *right, *ball, *both;
  yw_shape_sphere(NULL, 0.5f, &ball);
  yw_transform move = YW_TRANSFORM_IDENTITY;
  move.position.x = -1;
  yw_shape_transform(NULL, ball, move, &left);
  move.position.x = 1;
  yw_shape_transform(NULL, ball, move, &right);
  yw_shape_union(NULL, 2, (yw_shape*[]){left, right}, 0.5f, &both);
  yw_vec3 n;
  yw_shape_distance_normal(both, yw_v3(0, 0, 0), &n);
  assert_near(yw_length(n), 1.0, 1e-5);
  yw_shape_release(ball), yw_shape_release(left), yw_shape_release(right), yw_shape_release(both);
}

// Combinations

static void no_shape_changes_faster_than_the_point_moves(void** state) {
  (void)state;
  test_random random = {5};
  for (int tree = 0; tree < 300; ++tree) {
    yw_shape* shape = random_tree(&random, 5);
    for (int i = 0; i < 100; ++i) {
      yw_vec3 p = random_point(&random, 2.0);
      yw_vec3 q = yw_mad(p, (float)test_random_in(&random, 0.001, 0.5), random_direction(&random));
      float change = fabsf(yw_shape_distance(shape, p) - yw_shape_distance(shape, q));
      assert_at_most(change, yw_distance(p, q) * 1.0001f + 3e-6f);
    }
    yw_shape_release(shape);
  }
}

static void sharp_combinations_are_minimum_and_maximum(void** state) {
  (void)state;
  test_random random = {9};
  yw_shape *a = primitive(NULL, 1), *b = primitive(NULL, 5), *c = primitive(NULL, 8);
  yw_shape *join, *cut, *less;
  yw_shape* all[] = {a, b, c};
  yw_shape_union(NULL, 3, all, 0, &join);
  yw_shape_intersection(NULL, 3, all, 0, &cut);
  yw_shape_difference(NULL, 3, all, 0, &less);
  for (int i = 0; i < 500; ++i) {
    yw_vec3 p = random_point(&random, 1.2);
    float x = yw_shape_distance(a, p), y = yw_shape_distance(b, p), z = yw_shape_distance(c, p);
    assert_near(yw_shape_distance(join, p), fminf(x, fminf(y, z)), 0);
    assert_near(yw_shape_distance(cut, p), fmaxf(x, fmaxf(y, z)), 0);
    assert_near(yw_shape_distance(less, p), fmaxf(x, fmaxf(-y, -z)), 0);
  }
  yw_shape_release(a), yw_shape_release(b), yw_shape_release(c);
  yw_shape_release(join), yw_shape_release(cut), yw_shape_release(less);
}

static void smooth_unions_do_not_depend_on_the_order(void** state) {
  (void)state;
  test_random random = {13};
  yw_shape* parts[24];
  yw_shape* backwards[24];
  for (int i = 0; i < 24; ++i) {
    yw_shape* leaf = primitive(NULL, i % NUM_PRIMITIVES);
    yw_transform t = random_transform(&random, 0.7, 0.6, 0.6);
    yw_shape_transform(NULL, leaf, t, &parts[i]);
    backwards[23 - i] = parts[i];
    yw_shape_release(leaf);
  }
  yw_shape *there, *back;
  yw_shape_union(NULL, 24, parts, 0.4f, &there);
  yw_shape_union(NULL, 24, backwards, 0.4f, &back);
  for (int i = 0; i < 2000; ++i) {
    yw_vec3 p = random_point(&random, 1.5);
    assert_true(yw_shape_distance(there, p) == yw_shape_distance(back, p));
  }
  for (int i = 0; i < 24; ++i) yw_shape_release(parts[i]);
  yw_shape_release(there), yw_shape_release(back);
}

static void two_equal_surfaces_blend_a_quarter_of_the_width_apart(void** state) {
  (void)state;
  yw_shape *x, *y, *both, *corner;
  yw_shape_plane(NULL, yw_v3(1, 0, 0), 0, &x);
  yw_shape_plane(NULL, yw_v3(0, 1, 0), 0, &y);
  yw_shape_union(NULL, 2, (yw_shape*[]){x, y}, 0.4f, &both);
  yw_shape_intersection(NULL, 2, (yw_shape*[]){x, y}, 0.4f, &corner);
  assert_near(yw_shape_distance(both, yw_v3(1, 1, 0)), 0.9, 1e-6);
  assert_near(yw_shape_distance(corner, yw_v3(1, 1, 0)), 1.1, 1e-6);
  // Farther apart than the width, the blend equals the minimum.
  assert_near(yw_shape_distance(both, yw_v3(1, 1.4f, 0)), 1.0, 1e-6);
  assert_near(yw_shape_distance(both, yw_v3(1, 1.2f, 0)), 1.0 - 0.4 / 16, 1e-6);
  yw_shape_release(x), yw_shape_release(y), yw_shape_release(both), yw_shape_release(corner);
}

static void transforms_carry_distances_and_normals(void** state) {
  (void)state;
  test_random random = {17};
  for (int which = 0; which < NUM_PRIMITIVES; ++which) {
    yw_shape* shape = primitive(NULL, which);
    yw_transform t = random_transform(&random, 3, 0.2, 3);
    yw_shape* moved;
    assert_int_equal(yw_shape_transform(NULL, shape, t, &moved), YW_OK);
    for (int i = 0; i < 100; ++i) {
      yw_vec3 p = random_point(&random, 1.5), n, m;
      float d = yw_shape_distance_normal(shape, p, &n);
      float e = yw_shape_distance_normal(moved, yw_transform_point(t, p), &m);
      assert_near(e, d * t.scale, 5e-6 * t.scale + 2e-6);
      if (fabsf(d) > 0.02f) {
        float turned = yw_distance(m, yw_rotate(t.rotation, n));
        if (turned > 1e-3f) {
          // Only where two directions are equally near.
          assert_true(d < 0);
        }
      }
    }
    yw_shape_release(shape), yw_shape_release(moved);
  }
}

// Bounds

static void bounds_contain_every_point_inside(void** state) {
  (void)state;
  test_random random = {19};
  int bounded = 0, hits = 0;
  for (int tree = 0; tree < 400; ++tree) {
    yw_shape* shape = random_tree(&random, 4);
    yw_aabb box;
    bounded += yw_shape_bounds(shape, &box);
    for (int i = 0; i < 300; ++i) {
      yw_vec3 p = random_point(&random, 3.0);
      if (!(yw_shape_distance(shape, p) < -1e-5f)) continue;
      ++hits;
      assert_true(p.x >= box.lower.x && p.y >= box.lower.y && p.z >= box.lower.z);
      assert_true(p.x <= box.upper.x && p.y <= box.upper.y && p.z <= box.upper.z);
    }
    yw_shape_release(shape);
  }
  assert_at_least(bounded, 150);
  assert_at_least(hits, 3000);
}

static void bounds_of_turned_primitives_are_tight(void** state) {
  (void)state;
  test_random random = {23};
  for (int which = 0; which < NUM_PRIMITIVES; ++which) {
    yw_shape *shape = primitive(NULL, which), *moved;
    yw_transform t = random_transform(&random, 1, 1.3, 1.3);
    yw_shape_transform(NULL, shape, t, &moved);
    cloud surface = sample_surface(moved, 20000);
    yw_aabb box, seen = yw_aabb_empty();
    assert_true(yw_shape_bounds(moved, &box));
    for (int32_t i = 0; i < surface.count; ++i) seen = yw_aabb_grow(seen, surface.points[i]);
    assert_at_most(yw_distance(seen.lower, box.lower), 0.15);
    assert_at_most(yw_distance(seen.upper, box.upper), 0.15);
    free(surface.points);
    yw_shape_release(shape), yw_shape_release(moved);
  }
}

static void axis_aligned_planes_bound_what_they_can(void** state) {
  (void)state;
  yw_shape* sides[6];
  const yw_vec3 normals[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  for (int i = 0; i < 6; ++i) yw_shape_plane(NULL, normals[i], 1.0f + (float)i, &sides[i]);
  yw_aabb box;
  assert_false(yw_shape_bounds(sides[2], &box));
  assert_true(box.upper.y == 3.0f && box.lower.y == -INFINITY && box.upper.x == INFINITY);
  yw_shape *cube, *grown, *nothing;
  yw_shape_intersection(NULL, 6, sides, 0, &cube);
  assert_true(yw_shape_bounds(cube, &box));
  assert_true(box.lower.x == -2 && box.upper.x == 1 && box.lower.z == -6 && box.upper.z == 5);
  yw_shape_offset(NULL, cube, 0.5f, &grown);
  assert_true(yw_shape_bounds(grown, &box));
  assert_true(box.lower.x == -2.5f && box.upper.x == 1.5f);
  yw_shape_offset(NULL, cube, -9.0f, &nothing);
  assert_true(yw_shape_bounds(nothing, &box));
  assert_true(box.lower.x > box.upper.x);
  for (int i = 0; i < 6; ++i) yw_shape_release(sides[i]);
  yw_shape_release(cube), yw_shape_release(grown), yw_shape_release(nothing);
}

static void slanted_planes_bound_a_solid_together(void** state) {
  (void)state;
  // A tetrahedron, moved and rotated; its planes are at distance 1 from its centre.
  test_random random = {37};
  const yw_vec3 normals[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  yw_transform t = random_transform(&random, 2, 0.8, 0.8);
  yw_shape *sides[4], *tetrahedron, *open;
  for (int i = 0; i < 4; ++i) {
    yw_shape* plane;
    yw_shape_plane(NULL, normals[i], sqrtf(3.0f), &plane);
    yw_shape_transform(NULL, plane, t, &sides[i]);
    yw_shape_release(plane);
  }
  yw_aabb box, expected = yw_aabb_empty();
  yw_shape_intersection(NULL, 3, sides, 0, &open);
  assert_false(yw_shape_bounds(open, &box));
  yw_shape_intersection(NULL, 4, sides, 0, &tetrahedron);
  assert_true(yw_shape_bounds(tetrahedron, &box));
  // Three planes meet at -sqrt 3 times the normal of the fourth.
  for (int i = 0; i < 4; ++i)
    expected = yw_aabb_grow(expected, yw_transform_point(t, yw_scale(normals[i], -sqrtf(3.0f))));
  assert_near(yw_distance(box.lower, expected.lower), 0.0, 1e-5);
  assert_near(yw_distance(box.upper, expected.upper), 0.0, 1e-5);
  for (int i = 0; i < 4; ++i) yw_shape_release(sides[i]);
  yw_shape_release(open), yw_shape_release(tetrahedron);
}

// Batches

static void batches_give_the_bits_of_single_queries(void** state) {
  (void)state;
  test_random random = {29};
  enum { COUNT = 150 };
  static yw_vec4 points[COUNT], normals[COUNT];
  static float distance[COUNT], again[COUNT];
  for (int tree = 0; tree < 200; ++tree) {
    yw_shape* shape = tree < NUM_PRIMITIVES ? primitive(NULL, tree) : random_tree(&random, 4);
    for (int i = 0; i < COUNT; ++i) points[i] = yw_v4(random_point(&random, 1.5));
    if (tree == NUM_PRIMITIVES) {
      // Smooth over a metre, as no shape by chance is.
      yw_shape* pair[2] = {primitive(NULL, 0), primitive(NULL, 1)};
      yw_shape_release(shape);
      assert_int_equal(yw_shape_union(NULL, 2, pair, 1.0f, &shape), YW_OK);
      yw_shape_release(pair[0]), yw_shape_release(pair[1]);
    }
    yw_shape_distance_many(shape, COUNT, points, distance);
    yw_shape_distance_normal_many(shape, COUNT, points, again, normals);
    assert_memory_equal(distance, again, sizeof distance);
    for (int i = 0; i < COUNT; ++i) {
      yw_vec3 n;
      float d = yw_shape_distance_normal(shape, yw_xyz(points[i]), &n);
      assert_true(d == distance[i] && d == yw_shape_distance(shape, yw_xyz(points[i])));
      assert_true(n.x == normals[i].x && n.y == normals[i].y && n.z == normals[i].z);
      assert_true(normals[i].w == 0.0f);
    }
    yw_shape_release(shape);
  }
}

// The same bits with every compiler and optimisation level.
static void distances_and_normals_have_not_changed(void** state) {
  (void)state;
  test_random random = {31};
  uint64_t hash = YW_HASH_SEED;
  for (int tree = 0; tree < 100; ++tree) {
    yw_shape* shape = tree < NUM_PRIMITIVES ? primitive(NULL, tree) : random_tree(&random, 4);
    for (int i = 0; i < 100; ++i) {
      yw_vec3 n;
      float d = yw_shape_distance_normal(shape, random_point(&random, 1.5), &n);
      hash = yw_hash_bytes(hash, &d, sizeof d);
      hash = yw_hash_bytes(hash, &n, sizeof n);
    }
    yw_shape_release(shape);
  }
  if (hash != 0x06f6771f71bcf8e1ull) print_error("hash is 0x%llx\n", (unsigned long long)hash);
  assert_true(hash == 0x06f6771f71bcf8e1ull);
}

// Bad input

static void impossible_sizes_are_refused(void** state) {
  (void)state;
  const float bad[] = {0.0f, -1.0f, NAN, INFINITY, -INFINITY};
  yw_shape* ball;
  yw_shape_sphere(NULL, 1, &ball);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    float x = bad[i];
    yw_shape* shape = ball;
#define REFUSED(call)                       \
  do {                                      \
    shape = ball;                           \
    assert_int_equal(call, YW_ERR_INVALID); \
    assert_null(shape);                     \
  } while (0)
    REFUSED(yw_shape_sphere(NULL, x, &shape));
    REFUSED(yw_shape_box(NULL, yw_v3(1, x, 1), &shape));
    REFUSED(yw_shape_rounded_box(NULL, yw_v3(1, 1, x), 0.1f, &shape));
    if (x != 0.0f) REFUSED(yw_shape_rounded_box(NULL, yw_v3(1, 1, 1), x, &shape));
    REFUSED(yw_shape_capsule(NULL, yw_v3(0, 0, 0), yw_v3(1, 0, 0), x, &shape));
    if (!isfinite(x)) REFUSED(yw_shape_capsule(NULL, yw_v3(0, x, 0), yw_v3(1, 0, 0), 1, &shape));
    if (!isfinite(x)) REFUSED(yw_shape_capsule(NULL, yw_v3(0, 1, 0), yw_v3(1, 0, x), 1, &shape));
    REFUSED(yw_shape_cylinder(NULL, x, 1, &shape));
    REFUSED(yw_shape_cylinder(NULL, 1, x, &shape));
    if (x != 0.0f) REFUSED(yw_shape_cone(NULL, x, 1, 1, &shape));
    if (x != 0.0f) REFUSED(yw_shape_cone(NULL, 1, x, 1, &shape));
    REFUSED(yw_shape_cone(NULL, 1, 1, x, &shape));
    REFUSED(yw_shape_torus(NULL, x, 1, &shape));
    REFUSED(yw_shape_torus(NULL, 1, x, &shape));
    if (!isfinite(x)) REFUSED(yw_shape_plane(NULL, yw_v3(x, 1, 0), 0, &shape));
    if (!isfinite(x)) REFUSED(yw_shape_plane(NULL, yw_v3(0, 1, 0), x, &shape));
    if (x != 0.0f) REFUSED(yw_shape_union(NULL, 1, &ball, x, &shape));
    if (!isfinite(x)) REFUSED(yw_shape_offset(NULL, ball, x, &shape));
    yw_transform t = YW_TRANSFORM_IDENTITY;
    t.scale = x;
    REFUSED(yw_shape_transform(NULL, ball, t, &shape));
  }
  yw_shape* shape;
  REFUSED(yw_shape_rounded_box(NULL, yw_v3(1, 1, 0.5f), 0.6f, &shape));
  REFUSED(yw_shape_plane(NULL, yw_v3(0, 0, 0), 0, &shape));
  REFUSED(yw_shape_cone(NULL, 0, 0, 1, &shape));
  REFUSED(yw_shape_union(NULL, 0, &ball, 0, &shape));
  REFUSED(yw_shape_union(NULL, 2, (yw_shape*[]){ball, NULL}, 0, &shape));
  REFUSED(yw_shape_offset(NULL, NULL, 1, &shape));
  yw_transform flat = {{0, 0, 0}, {0, 0, 0, 0}, 1};
  REFUSED(yw_shape_transform(NULL, ball, flat, &shape));
#undef REFUSED
  yw_shape_release(ball);
}

static void nesting_and_sharing_are_limited(void** state) {
  (void)state;
  yw_shape *shape, *next;
  yw_shape_box(NULL, yw_v3(1, 1, 1), &shape);
  int levels = 1;
  for (;; ++levels) {
    yw_status status = yw_shape_offset(NULL, shape, 0.01f, &next);
    if (status < 0) {
      assert_int_equal(status, YW_ERR_LIMIT);
      assert_null(next);
      break;
    }
    yw_shape_release(shape);
    shape = next;
  }
  assert_int_equal(levels, 64);
  assert_near(yw_shape_distance(shape, yw_v3(3, 0, 0)), 2.0 - 0.63, 1e-5);
  yw_shape_release(shape);

  // A shape united with itself doubles the work at each level.
  yw_shape_box(NULL, yw_v3(1, 1, 1), &shape);
  yw_status status = YW_OK;
  for (levels = 0; levels < 64; ++levels) {
    status = yw_shape_union(NULL, 2, (yw_shape*[]){shape, shape}, 0, &next);
    if (status < 0) break;
    yw_shape_release(shape);
    shape = next;
  }
  assert_int_equal(status, YW_ERR_LIMIT);
  assert_at_most(levels, 20);
  yw_shape_release(shape);
}

// Memory

static void children_live_as_long_as_someone_needs_them(void** state) {
  (void)state;
  counted_memory memory = {.left = 1000};
  yw_allocator mem = counted_allocator(&memory);
  yw_shape *ball, *box, *both, *moved;
  yw_shape_sphere(&mem, 1, &ball);
  yw_shape_box(&mem, yw_v3(1, 1, 1), &box);
  yw_shape_union(&mem, 2, (yw_shape*[]){ball, box}, 0.1f, &both);
  yw_transform t = {{5, 0, 0}, {0, 0, 0, 1}, 1};
  yw_shape_transform(&mem, both, t, &moved);
  assert_ptr_equal(yw_shape_retain(moved), moved);
  yw_shape_release(ball), yw_shape_release(box), yw_shape_release(both);
  assert_int_equal(memory.alive, 4);
  yw_shape_release(moved);
  assert_true(yw_shape_distance(moved, yw_v3(5, 0, 0)) < 0);
  yw_shape_release(moved);
  assert_int_equal(memory.alive, 0);
  yw_shape_release(NULL);
  assert_null(yw_shape_retain(NULL));
}

static void failing_memory_is_reported_and_nothing_leaks(void** state) {
  (void)state;
  for (int which = 0; which < NUM_PRIMITIVES; ++which) {
    counted_memory memory = {.left = 0};
    yw_allocator mem = counted_allocator(&memory);
    assert_null(primitive(&mem, which));
    memory.left = 1;
    yw_shape *shape = primitive(&mem, which), *out = shape;
    assert_non_null(shape);
    assert_int_equal(yw_shape_union(&mem, 1, &shape, 0, &out), YW_ERR_MEMORY);
    assert_null(out);
    assert_int_equal(yw_shape_offset(&mem, shape, 1, &out), YW_ERR_MEMORY);
    assert_int_equal(yw_shape_transform(&mem, shape, YW_TRANSFORM_IDENTITY, &out), YW_ERR_MEMORY);
    yw_shape_release(shape);
    assert_int_equal(memory.alive, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(primitives_have_exact_distances_inside_and_outside),
      cmocka_unit_test(planes_have_exact_distances_for_normals_of_any_length),
      cmocka_unit_test(normals_are_gradients_of_the_distance),
      cmocka_unit_test(normals_are_unit_vectors_at_singular_points_too),
      cmocka_unit_test(no_shape_changes_faster_than_the_point_moves),
      cmocka_unit_test(sharp_combinations_are_minimum_and_maximum),
      cmocka_unit_test(smooth_unions_do_not_depend_on_the_order),
      cmocka_unit_test(two_equal_surfaces_blend_a_quarter_of_the_width_apart),
      cmocka_unit_test(transforms_carry_distances_and_normals),
      cmocka_unit_test(bounds_contain_every_point_inside),
      cmocka_unit_test(bounds_of_turned_primitives_are_tight),
      cmocka_unit_test(axis_aligned_planes_bound_what_they_can),
      cmocka_unit_test(slanted_planes_bound_a_solid_together),
      cmocka_unit_test(batches_give_the_bits_of_single_queries),
      cmocka_unit_test(distances_and_normals_have_not_changed),
      cmocka_unit_test(impossible_sizes_are_refused),
      cmocka_unit_test(nesting_and_sharing_are_limited),
      cmocka_unit_test(children_live_as_long_as_someone_needs_them),
      cmocka_unit_test(failing_memory_is_reported_and_nothing_leaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
