// SPDX-License-Identifier: MIT
#ifndef YAWARA_EXTEND_TIMER_H
#define YAWARA_EXTEND_TIMER_H

#include "../base.h"

/// Seconds on a clock that never goes back.
YW_API double yw_seconds(void);

#endif
