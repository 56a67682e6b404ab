// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Writes points with attributes as Houdini's classic binary geometry, .bgeo version 5.
#ifndef YAWARA_EXTEND_BGEO_WRITE_H
#define YAWARA_EXTEND_BGEO_WRITE_H

#include "../base.h"

/// A float or vector attribute of points. Characters of the name other than letters, digits and _
/// become _.
typedef struct yw_bgeo_field {
  const char* name;
  const float* values;  ///< one per point, or three of a vector
  bool vector;
} yw_bgeo_field;

YW_API yw_status yw_bgeo_write(const char* path, int32_t num_points, const yw_vec3* positions,
                               const yw_bgeo_field* fields, int32_t num_fields, yw_error* error);

#endif
