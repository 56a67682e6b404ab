// SPDX-License-Identifier: MIT
// One hash per aspect of how a world was built: guards snapshots and tells what differs.
#ifndef YW_WORLD_FINGERPRINT_H
#define YW_WORLD_FINGERPRINT_H

#include "yawara/world.h"

#define YW_FINGERPRINT_PARTS 8

typedef struct yw_fingerprint {
  uint64_t parts[YW_FINGERPRINT_PARTS];
} yw_fingerprint;

yw_fingerprint yw_world_fingerprint(const yw_world* world);
/// In the plural, such as "the shapes of obstacles".
const char* yw_fingerprint_part_name(int32_t part);

#endif
