// SPDX-License-Identifier: MIT
#include "contact/surfaces/row_lanes.h"

// Fewer lanes than this are faster one after another.
#define LEAST_LANES 3

extern const yw_row_fns yw_row_table_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const yw_row_fns yw_row_table_avx2, yw_row_table_avx512;
#endif

const yw_row_fns* yw_row_fns_of(yw_simd level) { return YW_KERNEL_PICK(yw_row_table, level); }

// Rows that at least LEAST_LANES lanes have.
static int32_t common_rows(const yw_row_lanes* lanes) {
  int32_t most[LEAST_LANES] = {0};
  for (int32_t i = 0; i < lanes->count; ++i) {
    int32_t count = lanes->counts[i];
    for (int k = 0; k < LEAST_LANES; ++k) {
      if (count <= most[k]) continue;
      int32_t smaller = most[k];
      most[k] = count;
      count = smaller;
    }
  }
  return most[LEAST_LANES - 1];
}

// The rows of each lane after those that are visited together.
static void visit_rest(const yw_row_lanes* lanes, int32_t common, yw_row_kind kind, bool back) {
  for (int32_t i = 0; i < lanes->count; ++i) {
    yw_contact_row* rows = lanes->rows[i] + common;
    int32_t count = lanes->counts[i] - common;
    if (count <= 0) continue;
    if (kind == YW_ROWS_VELOCITIES) {
      (back ? yw_contact_visit_velocities_back : yw_contact_visit_velocities)(rows, count);
    } else {
      (back ? yw_contact_visit_positions_back : yw_contact_visit_positions)(rows, count);
    }
  }
}

void yw_row_lanes_visit(const yw_row_fns* fns, const yw_row_lanes* lanes, yw_row_kind kind,
                        bool back) {
  int32_t common = common_rows(lanes);
  if (back) visit_rest(lanes, common, kind, back);
  if (common > 0) {
    (kind == YW_ROWS_VELOCITIES ? fns->velocities : fns->positions)(lanes, common, back);
  }
  if (!back) visit_rest(lanes, common, kind, back);
}
