// SPDX-License-Identifier: MIT
// Sheets on sheets. Two layers that are nearly flat are held apart by their vertices: where edges
// between these cross, the layers are as far apart as at the vertices around them, to within the
// height of the ridges at the edges. So edges of sheets that are flat, to within a small part of
// the thickness, are no contacts. The look after the solve has to prove that they stay apart, and
// of most pairs of leaves one plane between all of their particles does.
#ifndef YW_CONTACT_SURFACES_SHEETS_H
#define YW_CONTACT_SURFACES_SHEETS_H

#include "contact/surfaces/touch.h"

/// True if the edges of these bodies that are flat are left to the look.
static inline bool yw_sheets_meet(const yw_contact_work* a, const yw_contact_work* b) {
  return a->flat_edges && b->flat_edges;
}

/// Notes the edges of a leaf that are flat at both ends of the paths.
void yw_sheet_find_flat(const yw_contact_work* work, int32_t leaf, const yw_near_fns* near);

/// The particles of a leaf along the normal of the leaf, at both ends of their paths.
typedef struct yw_sheet_slab {
  int32_t leaf;  ///< -1: not known yet
  yw_vec3 origin, normal;
  float low[2], high[2];  ///< m, from the origin
} yw_sheet_slab;

/// True if a plane between leaf a and leaf b keeps them more than `least` apart, all the way;
/// moving: otherwise at the start alone. slab: of leaf a, or to be filled.
bool yw_sheet_leaves_part(const yw_contact_work* work_a, int32_t a, const yw_contact_work* work_b,
                          int32_t b, float least, bool moving, yw_sheet_slab* slab);

#endif
