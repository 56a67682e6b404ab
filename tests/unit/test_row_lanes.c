// SPDX-License-Identifier: MIT
// Rows of several batches in lanes: the same bits as one batch after another, at every width.
#include "contact/surfaces/row_lanes.h"

#include "support/testing.h"

enum { NUM_CORNERS = 8, MOST_ROWS = 12 };

// Batches with particles of their own; every row has up to four of these.
typedef struct batches {
  yw_vec4 values[YW_LANES][NUM_CORNERS];
  yw_contact_row rows[YW_LANES][MOST_ROWS];
  int32_t counts[YW_LANES];
  int32_t count;
} batches;

static yw_vec4 random_vector(test_random* random) {
  float x[3];
  for (int d = 0; d < 3; ++d) x[d] = (float)test_random_in(random, -1.0, 1.0);
  return (yw_vec4){x[0], x[1], x[2], 0.0f};
}

static yw_contact_row random_row(test_random* random, yw_vec4* values) {
  yw_vec4 normal = yw_v4(yw_normalize_or(yw_xyz(random_vector(random)), yw_v3(0, 1, 0)));
  yw_contact_row row = {.normal = normal, .friction_limit = 0.5f};
  float inv_mass = 0.0f;
  int used = 1 + (int)(test_random_u32(random) % 4);
  for (int k = 0; k < 4; ++k) {
    row.values[k] = values + (k + (int)(test_random_u32(random) % 2) * 4);
    if (k >= used) continue;
    row.weights[k] = (float)test_random_in(random, -1.0, 1.0);
    row.mobility[k] = 2.0f * row.weights[k];
    inv_mass += row.weights[k] * row.mobility[k];
  }
  // Some rows are held.
  row.mass = test_random_u32(random) % 8 ? 0.9f / inv_mass : 0.0f;
  row.goal = (float)test_random_in(random, -0.5, 0.5);
  return row;
}

static void fill(test_random* random, batches* b) {
  memset(b, 0, sizeof *b);
  b->count = 1 + (int32_t)(test_random_u32(random) % YW_LANES);
  for (int32_t i = 0; i < b->count; ++i) {
    b->counts[i] = (int32_t)(test_random_u32(random) % (MOST_ROWS + 1));
    for (int k = 0; k < NUM_CORNERS; ++k) b->values[i][k] = random_vector(random);
    for (int32_t k = 0; k < b->counts[i]; ++k) b->rows[i][k] = random_row(random, b->values[i]);
  }
}

// The same batches elsewhere in memory.
static void copy(const batches* from, batches* to) {
  memcpy(to, from, sizeof *to);
  for (int32_t i = 0; i < from->count; ++i) {
    for (int32_t k = 0; k < from->counts[i]; ++k) {
      for (int n = 0; n < 4; ++n) {
        to->rows[i][k].values[n] = to->values[i] + (from->rows[i][k].values[n] - from->values[i]);
      }
    }
  }
}

static void visit_alone(batches* b, yw_row_kind kind, bool back) {
  for (int32_t i = 0; i < b->count; ++i) {
    if (kind == YW_ROWS_VELOCITIES) {
      (back ? yw_contact_visit_velocities_back : yw_contact_visit_velocities)(b->rows[i],
                                                                              b->counts[i]);
    } else {
      (back ? yw_contact_visit_positions_back : yw_contact_visit_positions)(b->rows[i],
                                                                            b->counts[i]);
    }
  }
}

static void visit_in_lanes(batches* b, yw_simd level, yw_row_kind kind, bool back) {
  const yw_row_fns* fns = yw_row_fns_of(level);
  for (int32_t first = 0; first < b->count; first += fns->lanes) {
    yw_row_lanes lanes = {.count = b->count - first < fns->lanes ? b->count - first : fns->lanes};
    for (int32_t i = 0; i < lanes.count; ++i) {
      lanes.rows[i] = b->rows[first + i];
      lanes.counts[i] = b->counts[first + i];
    }
    yw_row_lanes_visit(fns, &lanes, kind, back);
  }
}

static void assert_same(const batches* a, const batches* b) {
  assert_memory_equal(a->values, b->values, sizeof a->values);
  for (int32_t i = 0; i < a->count; ++i) {
    for (int32_t k = 0; k < a->counts[i]; ++k) {
      const yw_contact_row *p = &a->rows[i][k], *q = &b->rows[i][k];
      assert_memory_equal(&p->friction, &q->friction, sizeof p->friction);
      assert_memory_equal(&p->impulse, &q->impulse, sizeof p->impulse);
    }
  }
}

static void lanes_do_what_batches_do_alone(void** state) {
  (void)state;
  test_random random = {7};
  const yw_simd levels[] = {YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};
  int32_t pressed = 0;
  for (int trial = 0; trial < 200; ++trial) {
    static batches start, alone, together;
    fill(&random, &start);
    yw_row_kind kind = (yw_row_kind)(trial % 2);
    copy(&start, &alone);
    for (int k = 0; k < 4; ++k) visit_alone(&alone, kind, k % 2 == 1);
    for (int32_t i = 0; i < alone.count; ++i) {
      for (int32_t k = 0; k < alone.counts[i]; ++k) pressed += alone.rows[i][k].impulse > 0.0f;
    }
    for (int n = 0; n < 3; ++n) {
      if (yw_simd_resolve(levels[n]) != levels[n]) continue;
      copy(&start, &together);
      for (int k = 0; k < 4; ++k) visit_in_lanes(&together, levels[n], kind, k % 2 == 1);
      assert_same(&alone, &together);
    }
  }
  assert_true(pressed > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_do_what_batches_do_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
