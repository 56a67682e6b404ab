// SPDX-License-Identifier: MIT
// Necks: places where tets are much thinner than the matter that they stand for.
#ifndef YW_GEOMETRY_TET_NECKS_H
#define YW_GEOMETRY_TET_NECKS_H

#include "geometry/matter_cover.h"
#include "geometry/mesher_size.h"

/// Limbs: what is joined to the rest of the matter by little more than half of the tets that it
/// should be joined by, or less.
typedef struct yw_limbs {
  int32_t count;
  int32_t gaps;  ///< where matter is whole, but the tets on both sides are not joined
  yw_lost_part items[YW_MAX_LOST_PARTS];  ///< the first; thickness is that of the neck, length is 0
} yw_limbs;

/// Finds limbs and gaps. neck (per cube of the matter) is set to 1 between a limb and the rest
/// and around gaps, and to 0 elsewhere. YW_ERR_MEMORY is the only error.
yw_status yw_find_limbs(const yw_size_field* sizes, const yw_matter_cover* cover,
                        const yw_tet_mesh* tets, unsigned char* neck, yw_limbs* out);

#endif
