// SPDX-License-Identifier: MIT
// Trigonometric functions with the same bits on every machine; those of C libraries differ in the
// last bit. See exponent.h for exp, log and pow.
#ifndef YW_MATH_SMALL_TRIG_H
#define YW_MATH_SMALL_TRIG_H

#include "yawara/base.h"

/// Within 2e-7 of the true value for |x| <= 1e4 rad.
float yw_sinf(float x);
float yw_cosf(float x);
/// -pi to pi; 0 for (0, 0).
float yw_atan2f(float y, float x);
/// Argument clamped to [-1, 1].
float yw_acosf(float x);
/// Within 1e-11.
double yw_acos(double x);
float yw_cbrtf(float x);

/// Rotation by `angle` rad about `axis` (need not be a unit vector; zero axis: identity).
yw_quat yw_quat_axis_angle(yw_vec3 axis, float angle);
/// Shortest-arc interpolation.
yw_quat yw_quat_slerp(yw_quat a, yw_quat b, float t);

#endif
