// SPDX-License-Identifier: MIT
// Neighbouring pieces of one surface. They are near each other all the time, but what is nearly as
// it was at rest does not touch: pairs of leaves that moved together like one rigid piece are left
// out of the search for self-contact.
#ifndef YW_CONTACT_SURFACES_PATCHES_H
#define YW_CONTACT_SURFACES_PATCHES_H

#include "contact/surfaces/complex.h"
#include "contact/surfaces/near.h"
#include "yawara/extend/vec.h"

/// Two leaves that are near each other at rest.
typedef struct yw_patch_pair {
  int32_t other;   ///< leaf
  float distance;  ///< m, least at rest between primitives without a common corner, or a bound
} yw_patch_pair;

/// Derived once from the rest shape.
typedef struct yw_patches {
  yw_allocator mem;
  int32_t* first_particle;  ///< per leaf, and one more
  int32_t* particles;       ///< of the primitives of the leaves
  yw_vec3* rest;            ///< m, where these particles are at rest
  int32_t (*corners)[3];    ///< per leaf: three of its entries in `particles`, far apart
  yw_vec4* bounds;       ///< m, per leaf: centre of its particles at rest, and their distance to it
  int32_t* first_pair;   ///< per leaf, and one more
  yw_patch_pair* pairs;  ///< with itself and higher leaves
} yw_patches;

/// How a leaf lies in space in one substep.
typedef struct yw_patch_pose {
  yw_vec3 origin, axes[3];  ///< where the rest shape would be if moved as a rigid body
  float error;              ///< m, farthest that a particle is from there at the start
  yw_vec3 low, high;        ///< m, bounds of the motions of its particles
} yw_patch_pose;

/// NULL when out of memory. rest: m, per particle.
yw_patches* yw_patches_create(const yw_allocator* mem, const yw_complex* complex,
                              const yw_vec3* rest, const yw_near_fns* near);
void yw_patches_destroy(yw_patches* patches);

/// The pose of a leaf whose particles move from begin to end.
yw_patch_pose yw_patch_pose_of(const yw_patches* patches, int32_t leaf, const yw_vec4* begin,
                               const yw_vec4* end);
/// True when leaf a and leaf b >= a stay farther apart than `needed`, but for primitives with a
/// common corner, also if particles stop anywhere on their way.
bool yw_patches_stay_apart(const yw_patches* patches, const yw_patch_pose* poses, int32_t a,
                           int32_t b, float needed);

#endif
