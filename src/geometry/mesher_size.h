// SPDX-License-Identifier: MIT
// The size of tets from place to place: small enough for what is thin, as far as the number of tets
// allows.
#ifndef YW_GEOMETRY_MESHER_SIZE_H
#define YW_GEOMETRY_MESHER_SIZE_H

#include "geometry/matter.h"

#define YW_LEAST_ACROSS 1.15  ///< cells across something thin, so that it is kept

typedef struct yw_size_wish {
  double cells;     ///< along the longest side, at least
  double across;    ///< cells across what is thin
  double max_tets;  ///< fewer cells are taken to stay below, but thin parts are kept
} yw_size_wish;

/// Cells of the size `coarsest`, and of halves, quarters, ... of it where matter is thin.
typedef struct yw_size_field {
  const yw_matter* matter;
  double coarsest;     ///< m
  double floor;        ///< no smaller cells, even if matter is lost; m
  int32_t finest;      ///< the highest level
  signed char* level;  ///< per cube of the matter: cells of size coarsest / 2^level; owned
  signed char* extra;  ///< per cube: levels beyond what its thickness asks for; owned
} yw_size_field;

/// No cells yet. YW_ERR_MEMORY is the only error.
yw_status yw_size_field_create(const yw_matter* matter, yw_size_field* out);
/// `to` was created for the same matter.
void yw_size_field_copy(const yw_size_field* from, yw_size_field* to);
void yw_size_field_free(yw_size_field* field);

/// Chooses sizes for a wish; max_tets does not matter.
void yw_size_field_choose(yw_size_field* field, yw_size_wish wish);
/// Cells of the given size, and smaller ones only where matter would be lost.
void yw_size_field_around(yw_size_field* field, double size);

/// Number of tets in a cube of the matter if they have the given size.
double yw_cube_tets(const yw_matter* matter, int32_t cube, double size);
/// Number of tets, to some 10 % where all sizes are alike, 30 % elsewhere.
double yw_estimate_tets(const yw_size_field* field);
/// Size of the cells of a level, m.
static inline double yw_size_of_level(const yw_size_field* field, int32_t level) {
  return field->coarsest / (double)(1 << level);
}
/// Size of the cells at a cube of the matter, m.
static inline double yw_size_at(const yw_size_field* field, int32_t cube) {
  return yw_size_of_level(field, field->level[cube]);
}

#endif
