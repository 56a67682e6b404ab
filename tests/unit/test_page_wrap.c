// SPDX-License-Identifier: MIT
// The page's surface around balls.
#include "core/wrap.h"
#include "support/testing.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define RADIUS 0.02f
#define MAX_BALLS 30000

typedef struct balls {
  int32_t count;
  yw_vec3 positions[MAX_BALLS];
  float radii[MAX_BALLS];
} balls;

// A lattice of balls, two radii apart, inside a ball of 0.48 m around a point.
static void fill_ball(balls* b, yw_vec3 center, float radius) {
  int n = (int)(0.24f / radius);
  for (int i = -n; i <= n; ++i) {
    for (int j = -n; j <= n; ++j) {
      for (int k = -n; k <= n; ++k) {
        yw_vec3 p = yw_scale(yw_v3((float)i, (float)j, (float)k), 2.0f * radius);
        if (yw_length(p) > 0.48f - radius || b->count == MAX_BALLS) continue;
        b->positions[b->count] = yw_add(center, p);
        b->radii[b->count++] = radius;
      }
    }
  }
}

static double volume_of(const wrap* s) {
  double sum = 0.0;
  for (int32_t t = 0; t < s->num_triangles; ++t) {
    const int32_t* v = s->triangles + 3 * t;
    sum += (double)yw_dot(s->positions[v[0]], yw_cross(s->positions[v[1]], s->positions[v[2]])) / 6;
  }
  return sum;
}

// A ball full of balls is a ball: round to the distance of two small ones, with the volume of their
// cells.
static void check_ball(float radius, int32_t least) {
  static balls b;
  wrap s = {0};
  b.count = 0;
  fill_ball(&b, yw_v3(0, 0, 0), radius);
  assert_in_range(b.count, least, MAX_BALLS - 1);
  assert_true(wrap_make(&s, b.count, b.positions, b.radii));
  double cells = b.count * pow(2.0 * (double)radius, 3);
  assert_near(volume_of(&s) / cells, 1.0, 0.04);
  for (int32_t i = 0; i < s.num_vertices; ++i) {
    double r = (double)yw_length(s.positions[i]);
    if (fabs(r - 0.47) > 2.0 * (double)radius) fail_msg("a vertex is %g m from the middle", r);
    assert_true(yw_dot(s.normals[i], s.positions[i]) > 0.0f);
    // Its colour is that of a ball nearby.
    assert_true(yw_distance(b.positions[s.owners[i]], s.positions[i]) < 3.0f * radius);
  }
  wrap_free(&s);
}

static void a_lattice_becomes_a_round_ball(void** state) {
  (void)state;
  check_ball(RADIUS, 1000);
}

// With larger cells.
static void so_do_very_many_balls(void** state) {
  (void)state;
  check_ball(0.0125f, 20001);
}

// Every edge has a triangle on either side, once in each direction: closed, also for two pieces.
static void surfaces_are_closed(void** state) {
  (void)state;
  static balls b;
  wrap s = {0};
  b.count = 0;
  fill_ball(&b, yw_v3(0, 0, 0), RADIUS);
  b.positions[b.count] = yw_v3(0.9f, 0, 0);
  b.radii[b.count++] = RADIUS;
  assert_true(wrap_make(&s, b.count, b.positions, b.radii));
  long sum = 0;
  for (int32_t i = 0; i < 3 * s.num_triangles; ++i) {
    int32_t a = s.triangles[i], c = s.triangles[i % 3 == 2 ? i - 2 : i + 1];
    assert_true(a >= 0 && a < s.num_vertices);
    // Cancels exactly where each edge is used once in either direction.
    sum += a < c ? (long)a * 65599 + c : -((long)c * 65599 + a);
  }
  assert_int_equal(sum, 0);
  wrap_free(&s);
}

static void nothing_and_nonsense_make_no_surface(void** state) {
  (void)state;
  wrap s = {0};
  yw_vec3 p = {NAN, 0, 0};
  float r = 1.0f;
  assert_true(wrap_make(&s, 0, NULL, NULL));
  assert_int_equal(s.num_triangles, 0);
  assert_true(wrap_make(&s, 1, &p, &r));
  assert_int_equal(s.num_triangles, 0);
  // Balls that are very far apart get a coarse grid instead of all of the memory.
  yw_vec3 far[2] = {{0, 0, 0}, {1e6f, 1e6f, 1e6f}};
  float radii[2] = {RADIUS, RADIUS};
  assert_true(wrap_make(&s, 2, far, radii));
  wrap_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lattice_becomes_a_round_ball),
      cmocka_unit_test(so_do_very_many_balls),
      cmocka_unit_test(surfaces_are_closed),
      cmocka_unit_test(nothing_and_nonsense_make_no_surface),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
