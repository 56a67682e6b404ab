// SPDX-License-Identifier: MIT
// How much of a body is thinner than it may be.
#ifndef YW_APP_CONSOLE_THIN_PARTS_H
#define YW_APP_CONSOLE_THIN_PARTS_H

#include "yawara/yawara.h"

/// The share of the volume in parts thinner than `thickness`, which is relative to the longest
/// side. `tets`: the file has tets, whose boundary is meant. 0 for a file that cannot be read.
float thin_share_of_file(const char* path, bool tets, float thickness);

#endif
