// SPDX-License-Identifier: MIT
// One set of drawing calls for pixels and for SVG.
#ifndef YW_APP_RENDER_DRAW_CANVAS_H
#define YW_APP_RENDER_DRAW_CANVAS_H

#include <stdio.h>

#include "render/draw/draw.h"

typedef struct yw_canvas {
  yw_image* image;  ///< draws here, or
  FILE* svg;        ///< writes elements here
} yw_canvas;

/// XML declaration and opening element, with a white background.
void yw_canvas_begin(const yw_canvas* canvas, int32_t width, int32_t height, const char* title);
void yw_canvas_end(const yw_canvas* canvas);
void yw_canvas_rect(const yw_canvas* canvas, float x, float y, float width, float height,
                    yw_rgb color, float opacity);
void yw_canvas_line(const yw_canvas* canvas, float x0, float y0, float x1, float y1, float width,
                    yw_rgb color);
void yw_canvas_polyline(const yw_canvas* canvas, int32_t count, const yw_point* points, float width,
                        bool dashed, yw_rgb color);
void yw_canvas_disc(const yw_canvas* canvas, float x, float y, float radius, yw_rgb color);
void yw_canvas_text(const yw_canvas* canvas, float x, float y, const char* text,
                    const yw_text_style* style);

#endif
