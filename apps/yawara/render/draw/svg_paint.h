// SPDX-License-Identifier: MIT
// What the program and the library that paints (svg_rsvg.c) share.
#ifndef YW_APP_RENDER_DRAW_SVG_PAINT_H
#define YW_APP_RENDER_DRAW_SVG_PAINT_H

#include "plugins/plugin.h"
#include "render/draw/svg.h"

/// yw_svg_paint, in the library.
#define SVG_PAINT PLUGIN_NAME(svg_paint)
typedef yw_status (*svg_paint_fn)(const yw_svg* svg, yw_image* image, yw_error* error);

#endif
