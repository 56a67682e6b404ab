// SPDX-License-Identifier: MIT
#ifndef YW_BASE_TIMER_H
#define YW_BASE_TIMER_H

/// Seconds on a clock that never goes back.
double yw_seconds(void);

#endif
