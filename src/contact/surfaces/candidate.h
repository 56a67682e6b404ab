// SPDX-License-Identifier: MIT
// A pair of primitives that may touch, looked at one by one after lanes have let it pass.
#ifndef YW_CONTACT_SURFACES_CANDIDATE_H
#define YW_CONTACT_SURFACES_CANDIDATE_H

#include "contact/surfaces/touch.h"

// Guarded distance: this share of the thickness of both, and that of the skin. Less with obstacles,
// the larger of both: what rests on them is as near as its method lets it, and the guard would have
// to look at all of it.
#define YW_LEAST_THICKNESS 0.9f
#define YW_LEAST_OBSTACLE 0.8f
#define YW_LEAST_SKIN 0.05f

// Primitives of one body are kept at most this share of their distance at rest apart.
#define YW_REST_SHARE 0.9f
// Sine of the angle by which faces may protrude over the plane between two edges; edges of surfaces
// less flat than this stand out.
#define YW_FLAT 0.02f
// Edges that stand out less than this, in skins, leave the contact to vertices.
#define YW_RIDGE 0.25f
// Pairs that move less than this relative to each other, in skins (half a mean edge), do not change
// their direction much; steps towards the moment of their touch.
#define YW_SLOW_PAIR 125.0f
#define YW_QUICK_STEPS 3
// Weights below this are on the border of a triangle or segment.
#define YW_BORDER 1e-4f
/// Sine of the angle between edges that count as parallel.
#define YW_PARALLEL 1e-3f

/// A pair under test, with everything known about it.
typedef struct yw_candidate {
  const yw_contact_work* works[2];
  int32_t body[2];
  yw_pair_kind kind;
  int32_t corners[4];
  int32_t primitive[2];  ///< vertex or edge; triangle or edge
  bool turns;            ///< known to turn too far for quick steps
  yw_path4 path;         ///< filled by the test
} yw_candidate;

/// m, that must remain between two bodies whose thicknesses sum up to `thick`.
static inline float yw_guarded_distance(const yw_contact_work* const works[2], float thick,
                                        float skin) {
  float least = YW_LEAST_SKIN * skin;
  if (!works[0]->body->is_obstacle && !works[1]->body->is_obstacle)
    return YW_LEAST_THICKNESS * thick + least;
  thick *= YW_LEAST_OBSTACLE;
  return thick > least ? thick : least;
}

/// m, between the first corners of two primitives of one body at rest: where they are farther apart
/// than this, the distance at rest is no limit to one of `sum`.
static inline float yw_far_at_rest(const yw_complex* complex, float sum) {
  return 1.001f * (2.0f * complex->longest + sum / YW_REST_SHARE);
}

/// m, gap beyond which a contact is not considered: half a skin, and what gravity can close.
static inline float yw_contact_band(float skin, float fall) { return 0.5f * skin + 2.0f * fall; }

/// Appends what the mode of the step asks for; start: nearest points at the start.
void yw_candidate_test(yw_candidate* c, const yw_nearest* start, const yw_touch_step* step,
                       yw_contact_list* list);

#endif
