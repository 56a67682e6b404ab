// SPDX-License-Identifier: MIT
// Pairs that may touch, in lanes: most of them touch where they start or soon after, away from the
// borders of their primitives. What becomes of these is decided here. The rest is unclear and
// looked at one by one (candidate.c), by the same rules.
#ifndef YW_CONTACT_SURFACES_SIFT_H
#define YW_CONTACT_SURFACES_SIFT_H

#include "contact/surfaces/candidate.h"
#include "contact/surfaces/near.h"

typedef struct yw_sift {
  // The same for all pairs of two bodies.
  float skin, band;     ///< m, see yw_touch_skin and yw_contact_band
  bool is_volume;       ///< side 1 encloses matter
  bool thick;           ///< particles have radii
  bool found_by[2];     ///< a vertex of this side near the other is found with a triangle of it
  const yw_vec4* rest;  ///< a thick surface against itself: where it is at rest; otherwise NULL
  const yw_complex* complex;  ///< of that surface

  // Per lane.
  float radii[4][YW_LANES];      ///< m, of the corners, if thick
  int32_t thirds[4][YW_LANES];   ///< of two edges: corners opposite to edge 0, and to edge 1
  float has_third[4][YW_LANES];  ///< 1 where there is such a corner; otherwise 0

  // Results: one bit per lane, and the numbers of those that have one.
  uint32_t contacts, spares, unclear;
  uint32_t turned;  ///< unclear because the direction turned too far on the way
  float weights[4][YW_LANES];
  float normal[3][YW_LANES];
  float distance[YW_LANES];    ///< m, to keep
  float gap_before[YW_LANES];  ///< m
} yw_sift;

typedef struct yw_sift_fns {
  /// Sifts the lanes that have a bit in `near`, after yw_near_fns.test has looked at them.
  void (*sift)(const yw_near_lanes* lanes, uint32_t near, yw_sift* sift);
} yw_sift_fns;

/// level as from yw_simd_resolve.
const yw_sift_fns* yw_sift_fns_of(yw_simd level);

/// Sets what all pairs of two bodies have in common.
void yw_sift_begin(yw_sift* sift, const yw_contact_work* const works[2], yw_pair_kind kind,
                   float fall);
/// Sifts lanes; pairs: their primitives.
void yw_sift_lanes(yw_sift* sift, const yw_contact_work* const works[2], const int32_t (*pairs)[2],
                   const yw_near_lanes* lanes, uint32_t near, const yw_sift_fns* fns);
/// Appends what became of a lane.
void yw_sift_append_contact(const yw_sift* sift, const int32_t body[2], const yw_near_lanes* lanes,
                            int32_t lane, yw_contact_list* list);
void yw_sift_append_spare(const yw_sift* sift, const yw_near_lanes* lanes, int32_t lane,
                          yw_contact_list* list);

#endif
