// SPDX-License-Identifier: MIT
// Whether surfaces cross as they are now: exact but for the rounding of doubles. On request, not in
// the step, where detection and guard keep surfaces apart that were so before.
#ifndef YW_CONTACT_SURFACES_CROSSINGS_H
#define YW_CONTACT_SURFACES_CROSSINGS_H

#include "contact/box_walk.h"
#include "contact/surfaces/complex.h"

/// The surface of a body with a tree of its leaves.
typedef struct yw_crossing_side {
  const yw_particles* particles;
  yw_contact_geometry geometry;
  yw_complex* complex;
  yw_box_tree leaves;
  yw_vec3 shift;  ///< m, by which it is moved in a test
} yw_crossing_side;

/// False when out of memory.
bool yw_crossing_side_create(const yw_allocator* mem, const yw_contact_geometry* geometry,
                             const yw_particles* particles, yw_crossing_side* out);
void yw_crossing_side_free(const yw_allocator* mem, yw_crossing_side* side);

/// True if an edge of one goes through a triangle of the other, or one lies inside of the tets of
/// the other. Loose particles do if they are clearly nearer than contact keeps them.
bool yw_sides_cross(const yw_crossing_side* a, const yw_crossing_side* b);
/// The same also for those that only touch. Never of loose particles: contact pushes them out.
bool yw_sides_touch(const yw_crossing_side* a, const yw_crossing_side* b);
/// True if they are nearer than contact keeps things of their thickness.
bool yw_sides_press(const yw_crossing_side* a, const yw_crossing_side* b);

#endif
