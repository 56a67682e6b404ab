// SPDX-License-Identifier: MIT
// Sets of numbers that are joined: every number leads to another of its set, and the root to
// itself. Start with set[n] = n.
#ifndef YW_MATH_SMALL_UNION_FIND_H
#define YW_MATH_SMALL_UNION_FIND_H

#include <stdint.h>

static inline int32_t yw_union_root(int32_t* set, int32_t n) {
  while (set[n] != n) n = set[n] = set[set[n]];
  return n;
}

/// The lower root stands for both.
static inline void yw_union_join(int32_t* set, int32_t m, int32_t n) {
  int32_t a = yw_union_root(set, m), b = yw_union_root(set, n);
  set[a > b ? a : b] = a > b ? b : a;
}

#endif
