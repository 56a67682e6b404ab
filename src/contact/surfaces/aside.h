// SPDX-License-Identifier: MIT
// Contacts that begin far apart. Paths before contact say where particles would go if nothing held
// them: in a pile, the material drives every surface into its neighbours by many times what moves
// in the end. So contacts are found all around, but of those that begin far apart one in fifty
// presses when the solver is done (docs/design/contact.md). They wait as spares.
#ifndef YW_CONTACT_SURFACES_ASIDE_H
#define YW_CONTACT_SURFACES_ASIDE_H

#include "contact/surfaces/touch.h"

/// Measures how a body moves as a whole.
void yw_aside_measure(yw_contact_work* work);
/// m, contacts of two bodies wait if they begin further apart: bodies that approach each other as
/// wholes close larger gaps. INFINITY: none waits.
float yw_aside_gap(const yw_contact_work* a, const yw_contact_work* b);
/// The same of pairs that need not even wait: also not where bodies turn towards each other.
float yw_aside_skipped(const yw_contact_work* a, const yw_contact_work* b);
/// Makes spares of such contacts of a job, among the last `count` of the list. Returns how many
/// contacts are left.
int32_t yw_aside_put(const yw_contact_work* works, const yw_contact_job* job, yw_contact_list* list,
                     int32_t count);

#endif
