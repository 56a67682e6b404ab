// SPDX-License-Identifier: MIT
// Particles that are always the mean of two others (yw_contact_geometry.hanging).
#ifndef YW_CONTACT_SURFACES_HANGING_H
#define YW_CONTACT_SURFACES_HANGING_H

#include "contact/surfaces/touch.h"

static inline bool yw_hangs(const yw_contact_work* work, int32_t particle) {
  return work->complex->parents && work->complex->parents[particle][0] >= 0;
}

/// Where a particle will be, from the free ones that it hangs on.
yw_vec3 yw_hanging_end(const yw_contact_work* work, int32_t particle);

/// Passes what was done to hanging particles alone on to their parents; they follow.
void yw_hanging_carry(const yw_contact_work* work);
/// Hanging particles follow their parents, and count as moved if these do.
void yw_hanging_follow(const yw_contact_work* work);

#endif
