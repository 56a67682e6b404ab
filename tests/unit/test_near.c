// SPDX-License-Identifier: MIT
// Pairs of primitives in lanes: the same answers as one at a time, at every width, and nothing that
// comes near is left out.
#include "contact/surfaces/near.h"

#include "support/testing.h"

enum { NUM_POINTS = 64 };

static yw_vec4 random_point(test_random* random, double size) {
  float x[3];
  for (int d = 0; d < 3; ++d) x[d] = (float)test_random_in(random, -size, size);
  return (yw_vec4){x[0], x[1], x[2], 0.0f};
}

typedef struct points {
  yw_vec4 begin[NUM_POINTS], end[NUM_POINTS];
} points;

// Points of a unit cube that move by up to `way`.
static points random_points(test_random* random, double way) {
  points p;
  for (int i = 0; i < NUM_POINTS; ++i) {
    p.begin[i] = random_point(random, 1.0);
    yw_vec4 step = random_point(random, way);
    p.end[i] = yw_v4(yw_add(yw_xyz(p.begin[i]), yw_xyz(step)));
  }
  return p;
}

static yw_near_lanes random_lanes(test_random* random, const points* p, yw_pair_kind kind) {
  yw_near_lanes lanes = {
      .kind = kind, .count = YW_LANES, .begin = {p->begin, p->begin}, .end = {p->end, p->end}};
  for (int i = 0; i < YW_LANES; ++i) {
    for (int k = 0; k < 4; ++k) {
      lanes.corners[k][i] = (int32_t)(test_random_u32(random) % NUM_POINTS);
    }
  }
  return lanes;
}

static yw_path4 path_of(const yw_near_lanes* lanes, int lane) {
  yw_path4 path;
  for (int k = 0; k < 4; ++k) {
    path.begin[k] = yw_xyz(lanes->begin[0][lanes->corners[k][lane]]);
    path.end[k] = yw_xyz(lanes->end[0][lanes->corners[k][lane]]);
  }
  return path;
}

static const yw_simd levels[] = {YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};

static void lanes_agree_at_every_width(void** state) {
  (void)state;
  test_random random = {1};
  for (int trial = 0; trial < 200; ++trial) {
    points p = random_points(&random, 0.5);
    yw_near_lanes plain = random_lanes(&random, &p, (yw_pair_kind)(trial % 2));
    plain.needed = 0.1f;
    plain.prove = trial % 3 == 0;
    yw_near_lanes start = plain;
    uint32_t found = yw_near_fns_of(YW_SIMD_PLAIN)->test(&plain);
    for (int i = 0; i < YW_LANES; ++i) {
      yw_path4 path = path_of(&plain, i);
      assert_near(plain.distance[i], yw_nearest_points(plain.kind, path.begin).distance, 1e-5);
    }
    for (int k = 1; k < 3; ++k) {
      if (yw_simd_resolve(levels[k]) != levels[k]) continue;
      yw_near_lanes wide = start;
      assert_int_equal(yw_near_fns_of(levels[k])->test(&wide), found);
      assert_memory_equal(wide.weights, plain.weights, sizeof wide.weights);
      assert_memory_equal(wide.apart, plain.apart, sizeof wide.apart);
      assert_memory_equal(wide.distance, plain.distance, sizeof wide.distance);
    }
  }
}

static float least_distance_on(const yw_path4* path, yw_pair_kind kind) {
  float least = INFINITY;
  for (int i = 0; i <= 100; ++i) {
    yw_vec3 x[4];
    yw_path_corners(path, 0.01f * (float)i, x);
    float distance = yw_nearest_points(kind, x).distance;
    least = distance < least ? distance : least;
  }
  return least;
}

// With proofs, and with every corner stopped anywhere.
static void nothing_that_comes_near_is_left_out(void** state) {
  (void)state;
  test_random random = {2};
  int left_out = 0, near = 0;
  for (int trial = 0; trial < 400; ++trial) {
    points p = random_points(&random, 0.2);
    yw_near_lanes lanes = random_lanes(&random, &p, (yw_pair_kind)(trial % 2));
    lanes.needed = 0.05f;
    lanes.prove = trial % 4 < 2;
    lanes.question = lanes.prove ? YW_NEAR_MOVING : YW_NEAR_STOPPED;
    uint32_t found = yw_near_fns_of(yw_simd_resolve(YW_SIMD_AUTO))->test(&lanes);
    for (int i = 0; i < YW_LANES; ++i) {
      if (found >> i & 1) {
        ++near;
        continue;
      }
      ++left_out;
      yw_path4 path = path_of(&lanes, i);
      for (int k = 0; k < 4 && !lanes.prove; ++k) {
        float stop = (float)test_random_in(&random, 0.0, 1.0);
        path.end[k] = yw_lerp(path.begin[k], path.end[k], stop);
      }
      assert_at_least(least_distance_on(&path, lanes.kind), 0.0499);
    }
  }
  // Both answers are given.
  assert_at_least(left_out, 1000);
  assert_at_least(near, 1000);
}

static void boxes_that_meet_are_listed_once(void** state) {
  (void)state;
  enum { NUM_BOXES = 40, LENGTH = NUM_BOXES + YW_LANES };
  test_random random = {3};
  float sides[6][LENGTH] = {{0}};
  yw_lane_boxes boxes;
  yw_aabb items[NUM_BOXES], all = yw_aabb_empty();
  for (int i = 0; i < NUM_BOXES; ++i) {
    yw_vec3 lower = yw_xyz(random_point(&random, 1.0));
    items[i] = (yw_aabb){lower, yw_add(lower, yw_v3(0.3f, 0.3f, 0.3f))};
    all = yw_aabb_join(all, items[i]);
    const float* numbers = &items[i].lower.x;
    for (int d = 0; d < 6; ++d) sides[d][i] = numbers[d];
  }
  for (int d = 0; d < 6; ++d) boxes.sides[d] = sides[d];
  for (int same = 0; same < 2; ++same) {
    yw_near_leaves leaves = {.a = &boxes,
                             .b = &boxes,
                             .end_a = NUM_BOXES,
                             .first_b = same ? 0 : 7,
                             .end_b = NUM_BOXES,
                             .box_a = all,
                             .box_b = all,
                             .pad = 0.1f,
                             .same = same == 1};
    int32_t pairs[YW_NEAR_LEAF_MAX * YW_NEAR_LEAF_MAX][2];
    int32_t count = yw_near_fns_of(yw_simd_resolve(YW_SIMD_AUTO))->meet(&leaves, pairs), at = 0;
    for (int32_t i = 0; i < NUM_BOXES; ++i) {
      for (int32_t k = same ? i + 1 : 7; k < NUM_BOXES; ++k) {
        if (!yw_aabb_overlap(yw_aabb_pad(items[i], 0.1f), items[k])) continue;
        assert_true(at < count && pairs[at][0] == i && pairs[at][1] == k);
        ++at;
      }
    }
    assert_int_equal(at, count);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_agree_at_every_width),
      cmocka_unit_test(nothing_that_comes_near_is_left_out),
      cmocka_unit_test(boxes_that_meet_are_listed_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
