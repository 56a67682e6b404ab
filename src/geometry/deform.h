// SPDX-License-Identifier: MIT
// Deformations of space, used to make example poses from the rest pose. Each keeps the origin
// fixed; an amount of 0 changes no bit.
#ifndef YW_GEOMETRY_DEFORM_H
#define YW_GEOMETRY_DEFORM_H

#include "yawara/extend/vec.h"

/// s is the signed distance along the axis from the origin.
typedef enum yw_deform_kind {
  /// Rotates cross-sections about the axis by amount * s / length: amount (rad) is the right-handed
  /// angle between two ends that are length apart.
  YW_DEFORM_TWIST,
  /// Bends the axis into a circular arc towards `toward`: amount (rad) is the angle between the
  /// tangents at two ends that are length apart. The axis keeps its length.
  YW_DEFORM_BEND,
  /// Two such arcs, the upper half towards `toward`, the lower half away from it: amount (rad) is
  /// the angle by which the tangent turns from the middle to either end.
  YW_DEFORM_S_BEND,
  YW_DEFORM_SHEAR,    ///< displaces by amount * s towards `toward`: amount is the slope
  YW_DEFORM_TAPER,    ///< scales cross-sections by 1 + amount * s / length, which must stay > 0
  YW_DEFORM_SQUASH,   ///< shortens by the fraction amount (< 1) along the axis and widens: keeps
                      ///< the volume
  YW_DEFORM_STRETCH,  ///< lengthens by the fraction amount (> -1) along the axis, width unchanged
  YW_DEFORM_SCALE,    ///< enlarges by the fraction amount (> -1) in all directions
  YW_DEFORM_COUNT
} yw_deform_kind;

typedef struct yw_deform {
  yw_deform_kind kind;
  yw_vec3 axis;    ///< along the body; need not be a unit vector; default y
  yw_vec3 toward;  ///< across the axis (made perpendicular); zero: any direction; default x
  yw_vec3 origin;  ///< m, a point of the axis that stays in place
  float amount;    ///< see the kinds; 0: no effect
  float length;    ///< m, > 0; 0 (default): the extent of the points along the axis
} yw_deform;

yw_deform yw_default_deform(yw_deform_kind kind);

/// Moves count points; in and out may be the same. Nothing is written on error.
yw_status yw_deform_apply(const yw_deform* deform, int32_t count, const yw_vec3* in, yw_vec3* out,
                          yw_error* error);

/// "twist", "bend", "s_bend", "shear", "taper", "squash", "stretch", "scale".
const char* yw_deform_name(yw_deform_kind kind);
/// False if there is no kind of that name.
bool yw_deform_from_name(const char* name, yw_deform_kind* out);

#endif
