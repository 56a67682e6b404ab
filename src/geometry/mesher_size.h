// SPDX-License-Identifier: MIT
// The size of tets when none is given: small enough for the thinnest part that matters, as far as
// the number of tets allows.
#ifndef YW_GEOMETRY_MESHER_SIZE_H
#define YW_GEOMETRY_MESHER_SIZE_H

#include "geometry/matter.h"

typedef struct yw_size_wish {
  double cells;     ///< along the longest side, at least
  double across;    ///< cells across the thinnest part
  double max_tets;  ///< fewer cells across are taken to stay below
} yw_size_wish;

/// Number of tets of a given size, to some 10 %.
double yw_estimate_tets(const yw_matter* matter, double size);
double yw_choose_size(const yw_matter* matter, yw_size_wish wish);

#endif
