// SPDX-License-Identifier: MIT
#include "contact/surfaces/row_lanes.h"

// Fewer lanes than this are faster one after another.
#define LEAST_LANES 3

extern const yw_row_fns yw_row_table_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const yw_row_fns yw_row_table_avx2, yw_row_table_avx512;
#endif

const yw_row_fns* yw_row_fns_of(yw_simd level) { return YW_KERNEL_PICK(yw_row_table, level); }

// Half as wide: fewer lanes are faster there. NULL: none.
static const yw_row_fns* narrower_than(const yw_row_fns* fns) {
#ifdef YW_HAVE_X86_KERNELS
  if (fns == &yw_row_table_avx512) return &yw_row_table_avx2;
  if (fns == &yw_row_table_avx2) return &yw_row_table_plain;
#endif
  (void)fns;
  return NULL;
}

// Rows that more than `few` lanes have. Most of the time lanes come with the longest first.
static int32_t common_rows(const yw_row_lanes* lanes, int32_t few) {
  if (lanes->count <= few) return 0;
  int32_t sorted[YW_LANES] = {0};
  for (int32_t i = 0; i < lanes->count; ++i) {
    int32_t at = i;
    for (; at > 0 && sorted[at - 1] < lanes->counts[i]; --at) sorted[at] = sorted[at - 1];
    sorted[at] = lanes->counts[i];
  }
  return sorted[few];
}

// The rows of each lane after the first ones.
static yw_row_lanes rest_of(const yw_row_lanes* lanes, int32_t first) {
  yw_row_lanes rest = {.count = 0};
  for (int32_t i = 0; i < lanes->count; ++i) {
    if (lanes->counts[i] <= first) continue;
    rest.rows[rest.count] = lanes->rows[i] + first;
    rest.counts[rest.count++] = lanes->counts[i] - first;
  }
  return rest;
}

static void visit_one_by_one(const yw_row_lanes* lanes, yw_row_kind kind, bool back) {
  for (int32_t i = 0; i < lanes->count; ++i) {
    if (kind == YW_ROWS_VELOCITIES) {
      (back ? yw_contact_visit_velocities_back : yw_contact_visit_velocities)(lanes->rows[i],
                                                                              lanes->counts[i]);
    } else {
      (back ? yw_contact_visit_positions_back : yw_contact_visit_positions)(lanes->rows[i],
                                                                            lanes->counts[i]);
    }
  }
}

void yw_row_lanes_visit(const yw_row_fns* fns, const yw_row_lanes* lanes, yw_row_kind kind,
                        bool back) {
  // Wide registers visit what more lanes have than narrower ones could take.
  for (const yw_row_fns* next; (next = narrower_than(fns)) && lanes->count <= next->lanes;) {
    fns = next;
  }
  const yw_row_fns* next = narrower_than(fns);
  int32_t common = common_rows(lanes, next ? next->lanes : LEAST_LANES - 1);
  yw_row_lanes rest = rest_of(lanes, common);
  for (int part = 0; part < 2; ++part) {
    bool first_rows = (part == 0) != back;
    if (first_rows && common > 0) {
      (kind == YW_ROWS_VELOCITIES ? fns->velocities : fns->positions)(lanes, common, back);
    } else if (!first_rows && rest.count > 0) {
      if (next) yw_row_lanes_visit(next, &rest, kind, back);
      if (!next) visit_one_by_one(&rest, kind, back);
    }
  }
}
