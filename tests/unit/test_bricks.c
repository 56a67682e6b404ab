// SPDX-License-Identifier: MIT
// The order of masters on a lattice: every point once, and compact ranges.
#include "methods/plastic/bricks.h"
#include "support/testing.h"
#include "yawara/extend/memory.h"

enum { RANKS = 8 };

// The rank of every point of a lattice whose order is dealt out evenly; each has one.
static int32_t* deal(const int64_t points[3], int64_t* num_blocks) {
  size_t total = (size_t)(points[0] * points[1] * points[2]), at = 0;
  int32_t* rank = YW_NEW_ARRAY(NULL, int32_t, total);
  plastic_bricks bricks;
  int64_t brick[3];
  assert_true(rank && yw_plastic_bricks_create(NULL, points, &bricks));
  *num_blocks = bricks.num_blocks;
  for (int64_t b = 0; b < bricks.num_blocks; ++b) {
    for (int64_t i = 0; i < yw_plastic_bricks_of_block(&bricks); ++i) {
      if (!yw_plastic_brick_at(&bricks, b, i, brick)) continue;
      for (int64_t k = 0; k < bricks.size[0] * bricks.size[1] * bricks.size[2]; ++k) {
        int64_t x = brick[0] * bricks.size[0] + k % bricks.size[0];
        int64_t y = brick[1] * bricks.size[1] + k / bricks.size[0] % bricks.size[1];
        int64_t z = brick[2] * bricks.size[2] + k / (bricks.size[0] * bricks.size[1]);
        if (x >= points[0] || y >= points[1] || z >= points[2]) continue;
        size_t place = (size_t)((z * points[1] + y) * points[0] + x);
        assert_int_equal(rank[place], 0);
        rank[place] = 1 + (int32_t)(at++ * RANKS / total);
      }
    }
  }
  assert_int_equal(at, total);
  yw_plastic_bricks_free(NULL, &bricks);
  return rank;
}

// Neighbours along the axes that are of different ranks.
static int64_t border(const int64_t points[3], const int32_t* rank) {
  const int64_t way[3] = {1, points[0], points[0] * points[1]};
  int64_t count = 0;
  for (int64_t i = 0; i < points[0] * points[1] * points[2]; ++i) {
    const int64_t at[3] = {i % points[0], i / points[0] % points[1], i / way[2]};
    for (int k = 0; k < 3; ++k) {
      count += at[k] + 1 < points[k] && rank[i] != rank[i + way[k]];
    }
  }
  return count;
}

static void ranges_of_a_large_lattice_are_compact(void** state) {
  (void)state;
  static const struct {
    int64_t points[3];
    double most;  // of what bricks that follow each other row by row have: slabs across z
  } cases[] = {{{100, 100, 100}, 0.75}, {{200, 200, 200}, 0.6}, {{300, 80, 80}, 0.5}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    const int64_t* n = cases[c].points;
    int64_t blocks, slabs = (RANKS - 1) * n[0] * n[1];
    int32_t* rank = deal(n, &blocks);
    int64_t found = border(n, rank);
    yw_mem_free(NULL, rank);
    print_message("%lld x %lld x %lld: %lld blocks, border %lld, %.2f of slabs\n", (long long)n[0],
                  (long long)n[1], (long long)n[2], (long long)blocks, (long long)found,
                  (double)found / (double)slabs);
    assert_true((double)found <= cases[c].most * (double)slabs);
  }
}

// Bodies of up to 64 masters across, and sheets, are one block: bricks follow row by row.
static void a_small_lattice_is_one_block(void** state) {
  (void)state;
  static const int64_t cases[][3] = {{64, 64, 64}, {1, 1, 1}, {40, 6, 8}, {17, 1, 64}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    plastic_bricks bricks;
    assert_true(yw_plastic_bricks_create(NULL, cases[c], &bricks));
    assert_int_equal(bricks.num_blocks, 1);
    for (int64_t i = 0; i < yw_plastic_bricks_of_block(&bricks); ++i) {
      int64_t brick[3];
      assert_true(yw_plastic_brick_at(&bricks, 0, i, brick));
      assert_int_equal((brick[2] * bricks.count[1] + brick[1]) * bricks.count[0] + brick[0], i);
    }
    yw_plastic_bricks_free(NULL, &bricks);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_of_a_large_lattice_are_compact),
                                     cmocka_unit_test(a_small_lattice_is_one_block)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
