// SPDX-License-Identifier: MIT
#include "geometry/mesher_size.h"

// A cell has twelve tets. At the surface tets are cut: counted on balls, boxes and rings.
#define TETS_PER_CELL 12.0
#define TETS_PER_SQUARE 5.0

double yw_estimate_tets(const yw_matter* matter, double size) {
  double cells = matter->volume / (size * size * size), squares = matter->area / (size * size);
  return TETS_PER_CELL * cells + TETS_PER_SQUARE * squares;
}

double yw_choose_size(const yw_matter* matter, yw_size_wish wish) {
  double coarsest = matter->longest / wish.cells;
  double size = fmin(coarsest, yw_matter_thinnest(matter) / wish.across);
  while (yw_estimate_tets(matter, size) > wish.max_tets && size < coarsest) size *= 1.02;
  return fmin(size, coarsest);
}
