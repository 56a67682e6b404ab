// SPDX-License-Identifier: MIT
// Pairs of primitives in lanes: the same answers as one at a time, at every width, and nothing that
// comes near is left out.
#include "contact/surfaces/near.h"

#include "contact/bodies.h"
#include "contact/surfaces/cone.h"
#include "contact/surfaces/leaf_boxes.h"
#include "contact/surfaces/patches.h"
#include "contact/surfaces/sift.h"
#include "support/sheet_samples.h"
#include "support/testing.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/tasks.h"

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
      yw_nearest nearest = yw_nearest_points(plain.kind, path.begin);
      assert_near(plain.distance[i], nearest.distance, 1e-5);
      for (int n = 0; n < 4; ++n) assert_near(plain.weights[n][i], nearest.weights[n], 1e-4);
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
  enum { NUM_BOXES = 42, FIRST = 7 };
  test_random random = {3};
  yw_box_block blocks[YW_NEAR_LEAF_MAX / YW_BOX_BLOCK];
  // What lies beyond the last box means nothing.
  memset(blocks, 0, sizeof blocks);
  yw_aabb items[NUM_BOXES];
  for (int i = 0; i < NUM_BOXES; ++i) {
    yw_vec3 lower = yw_xyz(random_point(&random, 1.0));
    items[i] = (yw_aabb){lower, yw_add(lower, yw_v3(0.3f, 0.3f, 0.3f))};
    yw_box_set(blocks, i, items[i]);
  }
  const yw_near_fns* near = yw_near_fns_of(yw_simd_resolve(YW_SIMD_AUTO));
  yw_aabb region = {yw_v3(-0.4f, -0.5f, -0.3f), yw_v3(0.5f, 0.4f, 0.3f)};
  yw_near_boxes a = {blocks, 100, NUM_BOXES, 0}, b = a;
  a.asked = near->select(&a, region, 0.1f);
  for (int i = 0; i < NUM_BOXES; ++i) {
    assert_int_equal(a.asked >> i & 1, yw_aabb_overlap(yw_aabb_pad(region, 0.1f), items[i]));
  }
  assert_int_equal(a.asked >> NUM_BOXES, 0);
  for (int same = 0; same < 2; ++same) {
    int32_t pairs[YW_NEAR_LEAF_MAX * YW_NEAR_LEAF_MAX][2];
    b.asked = same ? a.asked : ((uint64_t)1 << NUM_BOXES) - ((uint64_t)1 << FIRST);
    int32_t count = near->meet(&a, &b, 0.1f, same == 1, pairs), at = 0;
    for (int32_t i = 0; i < NUM_BOXES; ++i) {
      for (int32_t k = same ? i + 1 : FIRST; k < NUM_BOXES; ++k) {
        bool asked = (a.asked >> i & 1) && (b.asked >> k & 1);
        if (!asked || !yw_aabb_overlap(yw_aabb_pad(items[i], 0.1f), items[k])) continue;
        assert_true(at < count && pairs[at][0] == 100 + i && pairs[at][1] == 100 + k);
        ++at;
      }
    }
    assert_int_equal(at, count);
  }
}

// Lanes after the test, with everything that is random about a sieve.
static yw_sift random_sift(test_random* random, yw_pair_kind kind) {
  yw_sift sift = {.skin = 0.004f, .band = 0.05f, .thick = true};
  sift.is_volume = kind == YW_VERTEX_TRIANGLE;
  sift.found_by[0] = sift.found_by[1] = true;
  for (int i = 0; i < YW_LANES; ++i) {
    for (int k = 0; k < 4; ++k) {
      sift.radii[k][i] = (float)test_random_in(random, 0.0, 0.2);
      sift.thirds[k][i] = (int32_t)(test_random_u32(random) % NUM_POINTS);
      sift.has_third[k][i] = test_random_u32(random) % 4 > 0 ? 1.0f : 0.0f;
    }
  }
  return sift;
}

// A contact says how far apart its sides were when the substep began, along a unit normal.
static void check_contact(const yw_near_lanes* lanes, const yw_sift* sift, int i) {
  yw_vec3 n = yw_v3(sift->normal[0][i], sift->normal[1][i], sift->normal[2][i]);
  yw_path4 path = path_of(lanes, i);
  yw_vec3 apart = yw_v3(0, 0, 0);
  for (int k = 0; k < 4; ++k) {
    float weight = sift->weights[k][i];
    apart = yw_mad(apart, k < yw_pair_split(lanes->kind) ? weight : -weight, path.begin[k]);
  }
  assert_near(yw_length(n), 1.0, 1e-5);
  assert_near(sift->gap_before[i], yw_dot(n, apart) - sift->distance[i], 1e-5);
}

static void sifted_lanes_agree_at_every_width(void** state) {
  (void)state;
  test_random random = {4};
  int contacts = 0, spares = 0, unclear = 0, turned = 0;
  for (int trial = 0; trial < 400; ++trial) {
    points p = random_points(&random, 0.1);
    yw_near_lanes lanes = random_lanes(&random, &p, (yw_pair_kind)(trial % 2));
    lanes.needed = 0.5f;
    uint32_t near = yw_near_fns_of(YW_SIMD_PLAIN)->test(&lanes);
    yw_sift plain = random_sift(&random, lanes.kind), start = plain;
    yw_sift_fns_of(YW_SIMD_PLAIN)->sift(&lanes, near, &plain);
    assert_int_equal((plain.contacts | plain.spares | plain.unclear) & ~near, 0);
    contacts += __builtin_popcount(plain.contacts);
    spares += __builtin_popcount(plain.spares);
    unclear += __builtin_popcount(plain.unclear);
    turned += __builtin_popcount(plain.turned);
    for (uint32_t left = plain.contacts | plain.spares; left != 0; left &= left - 1) {
      check_contact(&lanes, &plain, __builtin_ctz(left));
    }
    for (int k = 1; k < 3; ++k) {
      if (yw_simd_resolve(levels[k]) != levels[k]) continue;
      yw_sift wide = start;
      yw_sift_fns_of(levels[k])->sift(&lanes, near, &wide);
      assert_int_equal(wide.contacts, plain.contacts);
      assert_int_equal(wide.spares, plain.spares);
      assert_int_equal(wide.unclear, plain.unclear);
      assert_int_equal(wide.turned, plain.turned);
      for (uint32_t left = plain.contacts | plain.spares; left != 0; left &= left - 1) {
        int i = __builtin_ctz(left);
        assert_true(wide.gap_before[i] == plain.gap_before[i]);
        for (int d = 0; d < 3; ++d) assert_true(wide.normal[d][i] == plain.normal[d][i]);
      }
    }
  }
  // All answers are given.
  assert_at_least(contacts, 100);
  assert_at_least(spares, 100);
  assert_at_least(unclear, 100);
  assert_at_least(turned, 1);
}

// Sheets ----------------------------------------------------------------------------------------

// Least distance on the way between the vertices of one leaf and the triangles of another.
static float distance_of_leaves(const yw_complex* c, int32_t a, int32_t b, const yw_vec4* begin,
                                const yw_vec4* end) {
  float least = INFINITY;
  for (int32_t i = c->leaves[a].vertex; i < c->leaves[a + 1].vertex; ++i) {
    for (int32_t k = c->leaves[b].triangle; k < c->leaves[b + 1].triangle; ++k) {
      const int32_t* v = c->triangles[k];
      const int32_t corners[4] = {c->vertices[i], v[0], v[1], v[2]};
      if (corners[0] == v[0] || corners[0] == v[1] || corners[0] == v[2]) continue;
      for (int step = 0; step <= 4; ++step) {
        yw_vec3 x[4];
        for (int n = 0; n < 4; ++n) {
          x[n] = yw_lerp(yw_xyz(begin[corners[n]]), yw_xyz(end[corners[n]]), 0.25f * (float)step);
        }
        least = fminf(least, yw_nearest_points(YW_VERTEX_TRIANGLE, x).distance);
      }
    }
  }
  return least;
}

static bool share(const int32_t* a, int count_a, const int32_t* b, int count_b) {
  for (int i = 0; i < count_a; ++i) {
    for (int k = 0; k < count_b; ++k) {
      if (a[i] == b[k]) return true;
    }
  }
  return false;
}

// Least distance at rest of two primitives, of leaves a and b, that share no corner.
static float distance_at_rest(const yw_complex* c, const yw_vec3* rest, int32_t a, int32_t b) {
  float least = INFINITY;
  const yw_complex_leaf *l = &c->leaves[a], *m = &c->leaves[b];
  for (int32_t i = l[0].vertex; i < l[1].vertex; ++i) {
    for (int32_t k = m[0].triangle; k < m[1].triangle; ++k) {
      const int32_t *v = &c->vertices[i], *t = c->triangles[k];
      yw_vec3 x[4] = {rest[v[0]], rest[t[0]], rest[t[1]], rest[t[2]]};
      if (share(v, 1, t, 3)) continue;
      least = fminf(least, yw_nearest_points(YW_VERTEX_TRIANGLE, x).distance);
    }
  }
  for (int32_t i = l[0].edge; i < l[1].edge; ++i) {
    for (int32_t k = m[0].edge; k < m[1].edge; ++k) {
      const int32_t *e = c->edges[i], *f = c->edges[k];
      yw_vec3 x[4] = {rest[e[0]], rest[e[1]], rest[f[0]], rest[f[1]]};
      if (share(e, 2, f, 2)) continue;
      least = fminf(least, yw_nearest_points(YW_EDGE_EDGE, x).distance);
    }
  }
  return least;
}

// Pieces of a crumpled surface are never taken to be farther apart at rest than they are.
static void distances_at_rest_are_bounds(void** state) {
  (void)state;
  test_random random = {11};
  sheet s = make_sheet(12, false);
  for (int32_t i = 0; i < s.count; ++i) {
    yw_vec4 crease = random_point(&random, 0.8);
    s.rest[i] = yw_add(s.rest[i], yw_xyz(crease));
  }
  yw_contact_geometry geometry = geometry_of(&s);
  yw_complex* c = yw_complex_create(NULL, &geometry, s.count);
  yw_patches* p = yw_patches_create(NULL, c, s.rest, yw_near_fns_of(YW_SIMD_PLAIN));
  int near = 0;
  for (int32_t a = 0; a < c->num_leaves; ++a) {
    for (int32_t k = p->first_pair[a]; k < p->first_pair[a + 1]; ++k) {
      int32_t b = p->pairs[k].other;
      float least = fminf(distance_at_rest(c, s.rest, a, b), distance_at_rest(c, s.rest, b, a));
      assert_at_most(p->pairs[k].distance, least);
      near += p->pairs[k].distance > least - 1e-3f;
    }
  }
  assert_at_least(near, 20);
  yw_patches_destroy(p);
  yw_complex_destroy(c);
  free_sheet(&s);
}

// A sheet that is rolled up, creased and jolted: pieces that are said to stay apart do; while it is
// as at rest, but for a rotation, all are.
static void pieces_that_keep_their_shape_stay_apart(void** state) {
  (void)state;
  test_random random = {5};
  sheet s = make_sheet(16, false);
  yw_contact_geometry geometry = geometry_of(&s);
  yw_complex* c = yw_complex_create(NULL, &geometry, s.count);
  yw_patches* p = yw_patches_create(NULL, c, s.rest, yw_near_fns_of(YW_SIMD_PLAIN));
  yw_patch_pose* poses = YW_NEW_ARRAY(NULL, yw_patch_pose, c->num_leaves);
  yw_vec4 *begin = YW_NEW_ARRAY(NULL, yw_vec4, s.count),
          *end = YW_NEW_ARRAY(NULL, yw_vec4, s.count);
  const float needed = 0.25f;
  int apart = 0, unknown = 0;
  for (int trial = 0; trial < 6; ++trial) {
    float radius = trial == 0 ? 1e4f : 40.0f / (float)(trial * trial);
    for (int32_t i = 0; i < s.count; ++i) {
      float angle = s.rest[i].x / radius;
      yw_vec3 x = yw_v3(radius * sinf(angle), s.rest[i].z, radius * cosf(angle) - radius);
      yw_vec4 crease = random_point(&random, 0.06 * trial);
      yw_vec4 jolt = random_point(&random, 0.02 * trial);
      begin[i] = yw_v4(yw_add(x, yw_xyz(crease)));
      end[i] = yw_v4(yw_add(yw_xyz(begin[i]), yw_xyz(jolt)));
    }
    for (int32_t a = 0; a < c->num_leaves; ++a) poses[a] = yw_patch_pose_of(p, a, begin, end);
    for (int32_t a = 0; a < c->num_leaves; ++a) {
      for (int32_t k = p->first_pair[a]; k < p->first_pair[a + 1]; ++k) {
        int32_t b = p->pairs[k].other;
        bool known = yw_patches_stay_apart(p, poses, a, b, needed);
        apart += known;
        unknown += !known;
        if (trial == 0) assert_true(known);
        if (!known) continue;
        assert_at_least(distance_of_leaves(c, a, b, begin, end), needed);
        assert_at_least(distance_of_leaves(c, b, a, begin, end), needed);
      }
    }
  }
  assert_at_least(apart, 100);
  assert_at_least(unknown, 100);
  yw_mem_free(NULL, begin);
  yw_mem_free(NULL, end);
  yw_mem_free(NULL, poses);
  yw_patches_destroy(p);
  yw_complex_destroy(c);
  free_sheet(&s);
}

// One half of a sheet on the other, pressed together. Returns the contacts; hash: of the result.
static int32_t press_halves(const sheet* s, int32_t threads, uint64_t* hash) {
  yw_particles particles;
  assert_true(yw_particles_create(NULL, s->count, &particles));
  particles.count = s->count;
  yw_vec4* begin = YW_NEW_ARRAY(NULL, yw_vec4, s->count);
  for (int32_t i = 0; i < s->count; ++i) {
    bool upper = i / s->side >= s->side / 2;
    yw_vec3 x = s->rest[i], v = yw_v3(0, upper ? -1.0f : 0.0f, 0);
    if (upper) x = yw_v3(x.x - (float)(s->side / 2) + 0.3f, 0.206f, x.z + 0.4f);
    begin[i] = yw_v4(x);
    particles.vel[i] = yw_v4(v);
    particles.pos[i] = yw_v4(yw_mad(x, 0.01f, v));
    particles.mass[i] = particles.inv_mass[i] = 1.0f;
  }
  yw_contact_body body = {.geometry = geometry_of(s),
                          .topology_version = 1,
                          .key = 1,
                          .particles = &particles,
                          .begin = begin,
                          .friction = 0.5f,
                          .self_contact = true};
  yw_tasks* tasks = threads > 1 ? yw_tasks_create(NULL, threads) : NULL;
  yw_surfaces* surfaces = yw_surfaces_create(NULL, yw_simd_resolve(YW_SIMD_AUTO));
  int32_t found = 0;
  assert_int_equal(
      yw_surfaces_resolve(surfaces, &body, 1, 0.01f, yw_v3(0, -10, 0), 4, tasks, &found), YW_OK);
  size_t bytes = (size_t)s->count * sizeof(yw_vec4);
  *hash = yw_hash_bytes(yw_hash_bytes(YW_HASH_SEED, particles.pos, bytes), particles.vel, bytes);
  yw_surfaces_destroy(surfaces);
  yw_tasks_destroy(tasks);
  yw_mem_free(NULL, begin);
  yw_particles_free(NULL, &particles);
  return found;
}

// Large enough for several chunks (batches.c) and for boxes that are fitted in parallel.
static void threads_share_one_body(void** state) {
  (void)state;
  sheet s = make_sheet(80, true);
  uint64_t one, three;
  assert_at_least(press_halves(&s, 1, &one), 1000);
  press_halves(&s, 3, &three);
  assert_true(one == three);
  free_sheet(&s);
}

// Directions at the border of a surface stay as they are, also where it goes on beyond a gap; in
// the middle of a flat face, those that lead into it are turned into its normal or refused.
static void borders_have_no_cone(void** state) {
  (void)state;
  sheet s = make_sheet(6, true);
  yw_contact_geometry geometry = geometry_of(&s);
  yw_complex* c = yw_complex_create(NULL, &geometry, s.count);
  yw_vec4* places = YW_NEW_ARRAY(NULL, yw_vec4, s.count);
  for (int32_t i = 0; i < s.count; ++i) places[i] = yw_v4(s.rest[i]);
  yw_particles particles = {.count = s.count, .pos = places};
  const yw_contact_body body = {.particles = &particles, .begin = places};
  const yw_contact_work work = {.body = &body, .complex = c, .predicted = places};
  int borders = 0, turned = 0;
  for (int32_t edge = 0; edge < c->num_edges; ++edge) {
    bool border = c->edge_triangles[edge][1] < 0;
    const int32_t* ends = c->edges[edge];
    yw_vec3 p = yw_lerp(s.rest[ends[0]], s.rest[ends[1]], 0.5f);
    borders += border;
    for (int k = 0; k < 8; ++k) {
      float angle = 0.785f * (float)k;
      yw_vec3 away = yw_normalize_or(yw_v3(cosf(angle), 1.0f, sinf(angle)), yw_v3(0, 1, 0));
      yw_vec3 before = away;
      bool known = yw_cone_of_edge(&work, edge, p, 0.5f, &away);
      bool same = memcmp(&away, &before, sizeof away) == 0;
      if (border) assert_true(known && same);
      turned += !border && !same;
    }
  }
  assert_int_equal(borders, 2 * (2 * 5 + 2 * 2));
  assert_at_least(turned, 20);
  yw_mem_free(NULL, places);
  yw_complex_destroy(c);
  free_sheet(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_agree_at_every_width),
      cmocka_unit_test(nothing_that_comes_near_is_left_out),
      cmocka_unit_test(boxes_that_meet_are_listed_once),
      cmocka_unit_test(sifted_lanes_agree_at_every_width),
      cmocka_unit_test(pieces_that_keep_their_shape_stay_apart),
      cmocka_unit_test(threads_share_one_body),
      cmocka_unit_test(distances_at_rest_are_bounds),
      cmocka_unit_test(borders_have_no_cone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
