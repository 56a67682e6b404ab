// SPDX-License-Identifier: MIT
// Which tets cover which cubes of the matter.
#ifndef YW_GEOMETRY_MATTER_COVER_H
#define YW_GEOMETRY_MATTER_COVER_H

#include "geometry/matter.h"

typedef struct yw_matter_cover {
  const yw_matter* matter;
  int32_t* slots;  ///< first cube + 1 of a cell, 0: empty
  int32_t* next;   ///< per cube: next of the same slot, -1: none
  size_t mask;
  int32_t* tet;  ///< per cube: the first tet that holds its point; -1: none
} yw_matter_cover;

/// YW_ERR_MEMORY is the only error.
yw_status yw_matter_cover_create(const yw_matter* matter, const yw_tet_mesh* tets,
                                 yw_matter_cover* out);
void yw_matter_cover_free(yw_matter_cover* cover);
/// The cube of a cell; -1: none.
int32_t yw_matter_cover_find(const yw_matter_cover* cover, const int32_t cell[3]);

#endif
