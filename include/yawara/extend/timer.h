// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// A clock for measurements.
#ifndef YAWARA_EXTEND_TIMER_H
#define YAWARA_EXTEND_TIMER_H

#include "../base.h"

/// Seconds on a clock that never goes back.
YW_API double yw_seconds(void);

#endif
