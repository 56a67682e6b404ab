// SPDX-License-Identifier: MIT
// Bodies that answer impulses with a step of their own, see solve.c, and how far the impulses that
// sweeps propose are followed.
#ifndef YW_CONTACT_SURFACES_ANSWERS_H
#define YW_CONTACT_SURFACES_ANSWERS_H

#include "contact/surfaces/solve.h"

static inline bool yw_answers(const yw_contact_body* body) { return body->respond != NULL; }

/// True where rounds start from old forces.
static inline bool yw_island_searches(const yw_contact_island* island) {
  return island->answers && !island->thin && !island->driven;
}

/// Before the first round: velocities without contact.
void yw_answers_begin(const yw_contact_problem* problem);
/// Before the sweeps of a round.
void yw_answers_base(const yw_contact_problem* problem);
/// After them: replaces what they did to bodies by the answers of these.
void yw_answers_replace(const yw_contact_problem* problem);
/// Then makes of what impulses and answers did the share that is best, between 0 and `most`.
void yw_answers_search(const yw_contact_problem* problem, float most);
/// Follows the last direction of search further, as the contacts do (yw_contact_turn).
void yw_answers_turn(const yw_contact_problem* problem);
/// Rounds do not settle: particles count as lighter.
void yw_answers_soften(const yw_contact_problem* problem);
/// After the last round: positions follow.
void yw_answers_settle(const yw_contact_problem* problem);

#endif
