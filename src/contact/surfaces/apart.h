// SPDX-License-Identifier: MIT
// Bodies that nothing is near: contact looks at their particles once per substep and no more.
#ifndef YW_CONTACT_SURFACES_APART_H
#define YW_CONTACT_SURFACES_APART_H

#include "contact/surfaces/touch.h"

/// Fits one box around all paths of the body, and notes that it counts as apart until something is
/// found near it.
void yw_apart_fit(yw_contact_work* work);
/// Of the bodies that count as apart, those with something within reach do not any more. order: all
/// bodies along a space-filling curve; nodes: room for a tree over them.
void yw_apart_find(yw_contact_work* works, int32_t count, const yw_sort_item* order, yw_aabb* nodes,
                   const yw_touch_step* step);

#endif
