// SPDX-License-Identifier: MIT
#include "support/polar_reference.h"
#include "yawara/extend/hash.h"

#define BLOCKS 1000

typedef struct batch {
  yw_mat3x16 a[BLOCKS], r[BLOCKS], v[BLOCKS];
  yw_sym3x16 s[BLOCKS];
  yw_quatx16 q[BLOCKS];
  float sigma[BLOCKS][3][YW_LANES];
} batch;

static batch one_batch, other_batch;

static yw_mat3 lane_of(const yw_mat3x16* m, int lane) {
  return (yw_mat3){{m->m[0][lane], m->m[3][lane], m->m[6][lane]},
                   {m->m[1][lane], m->m[4][lane], m->m[7][lane]},
                   {m->m[2][lane], m->m[5][lane], m->m[8][lane]}};
}

static yw_mat3 sym_of(const yw_sym3x16* s, int lane) {
  float xy = s->m[3][lane], xz = s->m[4][lane], yz = s->m[5][lane];
  return (yw_mat3){{s->m[0][lane], xy, xz}, {xy, s->m[1][lane], yz}, {xz, yz, s->m[2][lane]}};
}

static void set_lane(yw_mat3x16* to, int lane, const yw_mat3* m) {
  dmat3 d = wide(m);
  for (int i = 0; i < 9; ++i) to->m[i][lane] = (float)d.m[i / 3][i % 3];
}

static yw_quat quat_of(const yw_quatx16* q, int lane) {
  return (yw_quat){q->m[0][lane], q->m[1][lane], q->m[2][lane], q->m[3][lane]};
}

static void set_quat(yw_quatx16* to, int lane, yw_quat q) {
  to->m[0][lane] = q.x, to->m[1][lane] = q.y, to->m[2][lane] = q.z, to->m[3][lane] = q.w;
}

// All kinds mixed in every block, so that each vector has lanes that need every path.
static void fill(batch* b, uint64_t seed) {
  test_random random = {seed};
  memset(b, 0, sizeof *b);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = random_matrix(&random, i % KINDS);
    set_lane(&b->a[i / YW_LANES], i % YW_LANES, &a);
  }
}

// The kinds for which float has a well-defined answer.
static yw_mat3 plausible_matrix(test_random* random, int i) {
  float s[3];
  for (int k = 0; k < 3; ++k) s[k] = (float)test_random_in(random, 0.4, 2);
  if (i % 10 == 0) s[2] = 0.0f;
  if (i % 10 == 1) s[2] = -0.1f;
  return with_stretches(random, s[0], s[1], s[2]);
}

// Initial guesses are off by up to `angle`.
static void fill_warm(batch* b, uint64_t seed, double angle) {
  test_random random = {seed};
  memset(b, 0, sizeof *b);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = plausible_matrix(&random, i), r, s;
    set_lane(&b->a[i / YW_LANES], i % YW_LANES, &a);
    yw_polar(&a, &r, &s);
    yw_vec3 axis = random_rotation(&random).cx;
    yw_quat off = yw_quat_axis_angle(axis, (float)test_random_in(&random, 0, angle));
    set_quat(&b->q[i / YW_LANES], i % YW_LANES, yw_quat_mul(yw_quat_from_mat3(&r), off));
  }
}

static const yw_polar_batch_fns* best(void) {
  return yw_polar_batch(yw_simd_resolve(YW_SIMD_AUTO));
}

static void batches_have_their_nearest_rotations(void** state) {
  (void)state;
  batch* b = &one_batch;
  fill(b, 21);
  best()->polar(BLOCKS, b->a, b->r, b->s);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = lane_of(&b->a[i / YW_LANES], i % YW_LANES);
    yw_mat3 r = lane_of(&b->r[i / YW_LANES], i % YW_LANES);
    yw_mat3 s = sym_of(&b->s[i / YW_LANES], i % YW_LANES);
    check_polar(&a, &r, &s, 4e-6);
  }
}

static void batches_have_their_singular_values(void** state) {
  (void)state;
  batch* b = &one_batch;
  fill(b, 22);
  best()->svd(BLOCKS, b->a, b->r, b->sigma, b->v);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    int block = i / YW_LANES, lane = i % YW_LANES;
    yw_mat3 a = lane_of(&b->a[block], lane), u = lane_of(&b->r[block], lane);
    yw_mat3 v = lane_of(&b->v[block], lane);
    float(*sigma)[YW_LANES] = b->sigma[block];
    check_svd(&a, &u, yw_v3(sigma[0][lane], sigma[1][lane], sigma[2][lane]), &v, 6e-6);
  }
}

static void warm_starts_agree_with_cold_ones(void** state) {
  (void)state;
  batch* b = &one_batch;
  const double angles[] = {0.0, 1e-3, 0.03, 0.3, 1.0};
  for (int k = 0; k < 5; ++k) {
    fill_warm(b, 23 + (uint64_t)k, angles[k]);
    int32_t rescued = best()->polar_warm(BLOCKS, b->a, b->q, b->r, b->s);
    if (angles[k] < 0.5) assert_int_equal(rescued, 0);
    for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
      yw_mat3 a = lane_of(&b->a[i / YW_LANES], i % YW_LANES), r, s;
      yw_mat3 warm = lane_of(&b->r[i / YW_LANES], i % YW_LANES);
      yw_mat3 from_q = yw_mat3_from_quat(quat_of(&b->q[i / YW_LANES], i % YW_LANES));
      yw_polar(&a, &r, &s);
      dmat3 dw = wide(&warm), dr = wide(&r), dq = wide(&from_q);
      assert_at_most(difference(&dw, &dr), 1e-5);
      assert_at_most(difference(&dq, &dr), 1e-5);
    }
  }
}

static void bad_guesses_are_rescued(void** state) {
  (void)state;
  batch* b = &one_batch;
  fill(b, 31);
  test_random random = {32};
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    // Zero, NaN, or a rotation from anywhere, half turns from the answer included.
    yw_mat3 a = lane_of(&b->a[i / YW_LANES], i % YW_LANES), r, s;
    yw_polar(&a, &r, &s);
    yw_quat q = {0, 0, 0, 0};
    if (i % 5 == 1) q.x = NAN;
    if (i % 5 == 2) q = yw_quat_mul(yw_quat_from_mat3(&r), (yw_quat){1, 0, 0, 0});
    if (i % 5 >= 3) {
      yw_mat3 anywhere = random_rotation(&random);
      q = yw_quat_from_mat3(&anywhere);
    }
    set_quat(&b->q[i / YW_LANES], i % YW_LANES, q);
  }
  int32_t rescued = best()->polar_warm(BLOCKS, b->a, b->q, b->r, b->s);
  assert_at_least(rescued, BLOCKS * YW_LANES / 2);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = lane_of(&b->a[i / YW_LANES], i % YW_LANES);
    yw_mat3 r = lane_of(&b->r[i / YW_LANES], i % YW_LANES);
    yw_mat3 s = sym_of(&b->s[i / YW_LANES], i % YW_LANES);
    yw_mat3 from_q = yw_mat3_from_quat(quat_of(&b->q[i / YW_LANES], i % YW_LANES));
    check_polar(&a, &r, &s, 4e-6);
    dmat3 dr = wide(&r), dq = wide(&from_q);
    assert_at_most(difference(&dr, &dq), 2e-6);
  }
}

// A region squashed flat, inverted and pulled back, with each rotation as the next guess.
static void a_rotation_carried_through_a_plane_stays_the_nearest(void** state) {
  (void)state;
  batch* b = &one_batch;
  memset(b, 0, sizeof *b);
  test_random random = {33};
  yw_mat3 turn[YW_LANES];
  for (int lane = 0; lane < YW_LANES; ++lane) {
    turn[lane] = random_rotation(&random);
    set_quat(&b->q[0], lane, yw_quat_from_mat3(&turn[lane]));
  }
  for (int frame = 0; frame <= 400; ++frame) {
    float height = (float)(frame - 200) / -200.0f;
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_mat3 squash = yw_mat3_diagonal(yw_v3(1.0f, 1.1f, height));
      squash.cy.x = 0.01f * (float)lane;
      yw_mat3 a = yw_mat3_mul(turn[lane], squash);
      set_lane(&b->a[0], lane, &a);
    }
    best()->polar_warm(1, b->a, b->q, b->r, b->s);
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_mat3 a = lane_of(&b->a[0], lane), r = lane_of(&b->r[0], lane);
      yw_mat3 s = sym_of(&b->s[0], lane);
      check_polar(&a, &r, &s, 4e-6);
    }
  }
}

// No error accumulates over a long run: each answer is the next guess.
static void a_spinning_region_stays_exact(void** state) {
  (void)state;
  batch* b = &one_batch;
  memset(b, 0, sizeof *b);
  for (int lane = 0; lane < YW_LANES; ++lane) set_quat(&b->q[0], lane, (yw_quat){0, 0, 0, 1});
  int32_t rescued = 0;
  for (int step = 0; step < 20000; ++step) {
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_vec3 axis = yw_v3(1, 0.1f * (float)lane, -0.5f);
      float speed = 0.002f * (float)lane;
      yw_mat3 turn = yw_mat3_from_quat(yw_quat_axis_angle(axis, speed * (float)step));
      yw_mat3 pull = {{1.2f, 0.1f, 0}, {0.1f, 0.9f, 0.05f}, {0, 0.05f, 0.7f}};
      yw_mat3 a = yw_mat3_mul(turn, pull);
      set_lane(&b->a[0], lane, &a);
    }
    rescued += best()->polar_warm(1, b->a, b->q, b->r, b->s);
    if (step % 100 != 0) continue;
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_quat q = quat_of(&b->q[0], lane);
      assert_near(sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w), 1, 5e-7);
      yw_mat3 a = lane_of(&b->a[0], lane), r = lane_of(&b->r[0], lane);
      yw_mat3 s = sym_of(&b->s[0], lane);
      check_polar(&a, &r, &s, 3e-6);
    }
  }
  assert_int_equal(rescued, 0);
}

static void no_blocks_is_no_work(void** state) {
  (void)state;
  assert_int_equal(best()->polar_warm(0, NULL, NULL, NULL, NULL), 0);
  best()->polar(0, NULL, NULL, NULL);
  best()->svd(0, NULL, NULL, NULL, NULL);
}

// An odd number of blocks covers the ends of tiles and pairs.
static void any_number_of_blocks_gives_the_same_answers(void** state) {
  (void)state;
  fill(&one_batch, 61);
  best()->svd(11, one_batch.a, one_batch.r, one_batch.sigma, one_batch.v);
  for (int count = 1; count < 11; ++count) {
    fill(&other_batch, 61);
    best()->svd(count, other_batch.a, other_batch.r, other_batch.sigma, other_batch.v);
    size_t blocks = (size_t)count;
    assert_memory_equal(one_batch.r, other_batch.r, blocks * sizeof one_batch.r[0]);
    assert_memory_equal(one_batch.v, other_batch.v, blocks * sizeof one_batch.v[0]);
    assert_memory_equal(one_batch.sigma, other_batch.sigma, blocks * sizeof one_batch.sigma[0]);
    assert_true(other_batch.sigma[count][0][0] == 0.0f);
  }
}

static void batches_of_the_largest_floats_stay_finite(void** state) {
  (void)state;
  batch* b = &one_batch;
  memset(b, 0, sizeof *b);
  for (int i = 0; i < 9; ++i) {
    for (int lane = 0; lane < YW_LANES; ++lane) {
      b->a[0].m[i][lane] = (lane >> i % 4 & 1 ? 3.4e38f : -3.4e38f) / (float)(1 + i % 3);
    }
  }
  b->a[1] = b->a[0];
  best()->polar(1, b->a, b->r, b->s);
  best()->polar_warm(1, b->a + 1, b->q + 1, b->r + 1, b->s + 1);
  best()->svd(1, b->a, b->v, b->sigma, b->v + 1);
  for (int lane = 0; lane < YW_LANES; ++lane) {
    for (int block = 0; block < 2; ++block) {
      for (int i = 0; i < 9; ++i) {
        assert_true(isfinite(b->r[block].m[i][lane]) && isfinite(b->v[block].m[i][lane]));
      }
      for (int i = 0; i < 6; ++i) assert_true(isfinite(b->s[block].m[i][lane]));
    }
    for (int i = 0; i < 3; ++i) assert_true(isfinite(b->sigma[0][i][lane]));
  }
}

// gcc and clang give these bits at every optimisation level; if they change, results change.
static void bits_have_not_changed(void** state) {
  (void)state;
  static const int kinds[] = {GENERAL, ROTATION, SYMMETRIC, REPEATED, FLAT,
                              LINE,    POINT,    REFLECTED, MIRROR,   INTEGER};
  batch* b = &one_batch;
  memset(b, 0, sizeof *b);
  test_random random = {71};
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = random_matrix(&random, kinds[i % 10]), r = random_rotation(&random);
    set_lane(&b->a[i / YW_LANES], i % YW_LANES, &a);
    set_quat(&b->q[i / YW_LANES], i % YW_LANES, yw_quat_from_mat3(&r));
  }
  best()->polar(BLOCKS, b->a, b->r, b->s);
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, b, sizeof *b);
  best()->polar_warm(BLOCKS, b->a, b->q, b->r, b->s);
  hash = yw_hash_bytes(hash, b, sizeof *b);
  best()->svd(BLOCKS, b->a, b->r, b->sigma, b->v);
  hash = yw_hash_bytes(hash, b, sizeof *b);
  if (hash != 0x96fbe6a5ec64f859ull) {
    print_error("hash is %016llx, expected 96fbe6a5ec64f859\n", (unsigned long long)hash);
    fail();
  }
}

static void run_all(batch* b, yw_simd level, uint64_t seed) {
  const yw_polar_batch_fns* fns = yw_polar_batch(level);
  const int third = BLOCKS / 3;
  fill(b, seed);
  test_random random = {seed};
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 r = random_rotation(&random);
    set_quat(&b->q[i / YW_LANES], i % YW_LANES, yw_quat_from_mat3(&r));
  }
  fns->svd(third, b->a, b->r, b->sigma, b->v);
  fns->polar(third, b->a + third, b->r + third, b->s + third);
  fns->polar_warm(third, b->a + 2 * third, b->q + 2 * third, b->r + 2 * third, b->s + 2 * third);
}

static void every_instruction_set_gives_the_same_bits(void** state) {
  (void)state;
  run_all(&one_batch, YW_SIMD_PLAIN, 41);
  for (int level = YW_SIMD_AVX2; level <= YW_SIMD_AVX512; ++level) {
    if ((int)yw_simd_resolve((yw_simd)level) != level) continue;
    run_all(&other_batch, (yw_simd)level, 41);
    assert_memory_equal(&one_batch, &other_batch, sizeof one_batch);
  }
}

static void a_lane_does_not_depend_on_its_neighbours(void** state) {
  (void)state;
  batch* b = &one_batch;
  fill(b, 51);
  best()->polar(BLOCKS, b->a, b->r, b->s);
  for (int block = 0; block < BLOCKS; block += 7) {
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_mat3 a = lane_of(&b->a[block], lane);
      for (int k = 0; k < YW_LANES; ++k) set_lane(&other_batch.a[0], k, &a);
      best()->polar(1, other_batch.a, other_batch.r, other_batch.s);
      for (int i = 0; i < 9; ++i) {
        assert_true(other_batch.r[0].m[i][5] == b->r[block].m[i][lane]);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches_have_their_nearest_rotations),
      cmocka_unit_test(batches_have_their_singular_values),
      cmocka_unit_test(warm_starts_agree_with_cold_ones),
      cmocka_unit_test(bad_guesses_are_rescued),
      cmocka_unit_test(a_rotation_carried_through_a_plane_stays_the_nearest),
      cmocka_unit_test(a_spinning_region_stays_exact),
      cmocka_unit_test(no_blocks_is_no_work),
      cmocka_unit_test(any_number_of_blocks_gives_the_same_answers),
      cmocka_unit_test(batches_of_the_largest_floats_stay_finite),
      cmocka_unit_test(bits_have_not_changed),
      cmocka_unit_test(every_instruction_set_gives_the_same_bits),
      cmocka_unit_test(a_lane_does_not_depend_on_its_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
