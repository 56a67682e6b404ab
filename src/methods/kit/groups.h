// SPDX-License-Identifier: MIT
// Groups of regions that choose their example together, by labels.
#ifndef YW_METHODS_KIT_GROUPS_H
#define YW_METHODS_KIT_GROUPS_H

#include "yawara/extend/memory.h"
#include "yawara/model.h"

/// The label that most of these have; of several, the smallest.
int32_t yw_most_common(int32_t count, const int32_t* labels);
/// Replaces labels by the numbers of groups, in ascending order of the labels. Returns the number
/// of groups; -1: out of memory.
int32_t yw_number_groups(const yw_allocator* mem, int32_t count, int32_t* labels);

#endif
