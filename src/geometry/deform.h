// SPDX-License-Identifier: MIT
// Deformations of space, for example poses made from the rest pose. Each leaves the origin where it
// is, and an amount of 0 changes no bit.
#ifndef YW_GEOMETRY_DEFORM_H
#define YW_GEOMETRY_DEFORM_H

#include "yawara/extend/vec.h"

/// s is the distance along the axis from the origin, signed.
typedef enum yw_deform_kind {
  /// Turns cross-sections about the axis by amount * s / length: amount (rad) is the angle between
  /// two ends that are length apart, right-handed.
  YW_DEFORM_TWIST,
  /// Bends the axis into a circular arc towards `toward`: amount (rad) is the angle between the
  /// tangents of two ends that are length apart. The axis keeps its length.
  YW_DEFORM_BEND,
  /// Two such arcs, the upper half towards `toward`, the lower half away from it: amount (rad) is
  /// the angle by which the tangent turns from the middle to either end.
  YW_DEFORM_S_BEND,
  YW_DEFORM_SHEAR,    ///< moves by amount * s towards `toward`: amount is the slope
  YW_DEFORM_TAPER,    ///< scales cross-sections by 1 + amount * s / length, which must stay > 0
  YW_DEFORM_SQUASH,   ///< shorter by the share amount (< 1) along the axis, wider: keeps the volume
  YW_DEFORM_STRETCH,  ///< longer by the share amount (> -1) along the axis, width unchanged
  YW_DEFORM_SCALE,    ///< larger by the share amount (> -1) in all directions
  YW_DEFORM_COUNT
} yw_deform_kind;

typedef struct yw_deform {
  yw_deform_kind kind;
  yw_vec3 axis;    ///< along the body; need not have length 1; default y
  yw_vec3 toward;  ///< across the axis (made perpendicular); zero: some direction; default x
  yw_vec3 origin;  ///< m, a point of the axis that stays in place
  float amount;    ///< see the kinds; 0: nothing happens
  float length;    ///< m, > 0; 0 (default): the extent of the points along the axis
} yw_deform;

yw_deform yw_default_deform(yw_deform_kind kind);

/// Moves count points; out may be in. Nothing is written on an error.
yw_status yw_deform_apply(const yw_deform* deform, int32_t count, const yw_vec3* in, yw_vec3* out,
                          yw_error* error);

/// "twist", "bend", "s_bend", "shear", "taper", "squash", "stretch", "scale".
const char* yw_deform_name(yw_deform_kind kind);
/// The kind of that name; false when there is none.
bool yw_deform_from_name(const char* name, yw_deform_kind* out);

#endif
