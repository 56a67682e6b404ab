// SPDX-License-Identifier: MIT
// From lists of contacts to batches that may be solved at the same time.
#ifndef YW_CONTACT_SURFACES_BATCHES_H
#define YW_CONTACT_SURFACES_BATCHES_H

#include "contact/surfaces/data.h"

/// Makes room for the chunks of all jobs: large bodies are cut into chunks of vertices that are
/// close at rest. False when out of memory.
bool yw_surfaces_begin_chunks(yw_surfaces* c);
/// Lists the chunks that what was found by a job touches.
void yw_surfaces_list_chunks(yw_surfaces* c, int32_t job, const yw_contact_list* list);
/// Fills in the problem but for what does not depend on contacts. False when out of memory.
bool yw_surfaces_batch(yw_surfaces* c, yw_contact_problem* problem);

#endif
