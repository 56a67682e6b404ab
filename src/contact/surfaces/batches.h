// SPDX-License-Identifier: MIT
// From lists of contacts to batches that may be solved at the same time.
#ifndef YW_CONTACT_SURFACES_BATCHES_H
#define YW_CONTACT_SURFACES_BATCHES_H

#include "contact/surfaces/data.h"

/// Fills in the problem but for what does not depend on contacts. False when out of memory.
bool yw_surfaces_batch(yw_surfaces* c, yw_contact_problem* problem);

#endif
