// SPDX-License-Identifier: MIT
// Batches without a particle in common, visited at the same time: one in each lane. The order of
// visits within a batch stays as it is, so that results are those of one batch after another.
#ifndef YW_CONTACT_SURFACES_ROW_LANES_H
#define YW_CONTACT_SURFACES_ROW_LANES_H

#include "base/simd.h"
#include "contact/surfaces/rows.h"

typedef struct yw_row_lanes {
  int32_t count;  ///< lanes in use
  yw_contact_row* rows[YW_LANES];
  int32_t counts[YW_LANES];  ///< rows to visit; 0 in lanes that are not in use
} yw_row_lanes;

typedef struct yw_row_fns {
  int32_t lanes;  ///< in a register
  /// Visits the first `count` rows of every lane, or as many as it has.
  void (*velocities)(const yw_row_lanes* lanes, int32_t count, bool back);
  void (*positions)(const yw_row_lanes* lanes, int32_t count, bool back);
} yw_row_fns;

/// level as from yw_simd_resolve.
const yw_row_fns* yw_row_fns_of(yw_simd level);

/// A row that moves nothing.
typedef struct yw_row_nothing {
  yw_contact_row row;
  yw_vec4 corner;
} yw_row_nothing;

static inline void yw_row_nothing_begin(yw_row_nothing* none) {
  *none = (yw_row_nothing){.corner = {0, 0, 0, 0}};
  for (int k = 0; k < 4; ++k) none->row.values[k] = &none->corner;
}

typedef enum yw_row_kind { YW_ROWS_VELOCITIES, YW_ROWS_POSITIONS } yw_row_kind;

/// Visits all rows once; few lanes that are longer than the others go on alone.
void yw_row_lanes_visit(const yw_row_fns* fns, const yw_row_lanes* lanes, yw_row_kind kind,
                        bool back);

#endif
