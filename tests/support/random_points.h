// SPDX-License-Identifier: MIT
// Random points for tests of geometry.
#ifndef YW_TESTS_SUPPORT_RANDOM_POINTS_H
#define YW_TESTS_SUPPORT_RANDOM_POINTS_H

#include "support/testing.h"
#include "yawara/base.h"

/// A point in the cube [-reach, reach]^3. Separate statements: the order in which arguments are
/// evaluated is unspecified.
static inline yw_vec3 random_point(test_random* random, double reach) {
  yw_vec3 p;
  p.x = (float)test_random_in(random, -reach, reach);
  p.y = (float)test_random_in(random, -reach, reach);
  p.z = (float)test_random_in(random, -reach, reach);
  return p;
}

#endif
