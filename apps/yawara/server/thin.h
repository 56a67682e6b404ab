// SPDX-License-Identifier: MIT
// Leaves out balls that others hide, so that heavy bodies are light to send and to draw.
#ifndef YW_APP_SERVER_THIN_H
#define YW_APP_SERVER_THIN_H

#include "yawara/base.h"

/// Bodies with fewer balls are sent whole.
#define THIN_FROM 20000

/// Writes the indices of the balls that may be seen from outside, in order, and returns how many
/// there are. A ball is hidden if the 26 cells around its own, three radii wide, all have balls in
/// them, wherever the borders of the cells are. kept has space for `count`. All are kept if there
/// is not enough memory, or if the balls are spread too far for cells.
int32_t thin_balls(const float* positions, const float* radii, int32_t count, int32_t* kept);

#endif
