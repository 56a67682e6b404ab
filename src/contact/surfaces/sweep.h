// SPDX-License-Identifier: MIT
// Visits of all batches: color by color, those of one color at the same time.
#ifndef YW_CONTACT_SURFACES_SWEEP_H
#define YW_CONTACT_SURFACES_SWEEP_H

#include "contact/surfaces/solve.h"

typedef void (*yw_batch_visit)(const yw_contact_problem* problem, yw_contact_batch* batch);

/// Before the first sweep: counts contacts.
void yw_sweep_begin(yw_contact_problem* problem);

void yw_sweep_all(const yw_contact_problem* problem, yw_batch_visit visit);
/// For visits that change their batch alone. In the order in which batches were found: then
/// contacts and particles that are visited one after another are near in memory.
void yw_sweep_found(const yw_contact_problem* problem, yw_batch_visit visit);
/// For visits that move bodies as wholes.
void yw_sweep_wholes(const yw_contact_problem* problem, yw_batch_visit visit);

typedef enum yw_sweep_way {
  YW_SWEEP_FORTH,     ///< from the first color and row to the last
  YW_SWEEP_BACK,      ///< from the last to the first
  YW_SWEEP_BACK_LAST  ///< the same; afterwards the changes of impulses are measured
} yw_sweep_way;

/// Chooses which batches are visited together, by the rows that they have now. Results do not
/// depend on it.
void yw_sweep_sort(const yw_contact_problem* problem);

/// One visit of every row.
void yw_sweep_rows(const yw_contact_problem* problem, yw_row_kind kind, yw_sweep_way way);

/// Rows of a batch that sweeps of velocities visit: short rounds leave out those that are quiet.
static inline int32_t yw_sweep_num_rows(const yw_contact_problem* problem,
                                        const yw_contact_batch* batch) {
  return problem->short_round ? batch->busy : batch->count;
}

#endif
