// SPDX-License-Identifier: MIT
#ifndef YW_APP_RENDER_TRACE_CAMERA_H
#define YW_APP_RENDER_TRACE_CAMERA_H

#include "render/trace/render.h"
#include "yawara/extend/vec.h"

/// A camera as axes.
typedef struct yw_view {
  yw_vec3 eye, right, up, forward;
  float tan_x, tan_y;  ///< of half the angles of view
} yw_view;

yw_view yw_view_of(const yw_camera* camera, float aspect);

/// Unit direction through a point of the picture; x and y run from 0 to 1, from the top left.
static inline yw_vec3 yw_view_ray(const yw_view* view, float x, float y) {
  yw_vec3 d = yw_mad(view->forward, (2.0f * x - 1.0f) * view->tan_x, view->right);
  d = yw_mad(d, (1.0f - 2.0f * y) * view->tan_y, view->up);
  return yw_scale(d, 1.0f / yw_length(d));
}

#endif
