// SPDX-License-Identifier: MIT
// Gusts.
#ifndef YW_WORLD_WIND_H
#define YW_WORLD_WIND_H

#include "yawara/force.h"

/// What gusts add to the velocity of the air at a point and a time, m/s; 0 without turbulence.
yw_vec3 yw_wind_gust(const yw_wind_def* wind, yw_vec3 point, double time);

#endif
