// SPDX-License-Identifier: MIT
// A stroke font: every sign is a few pen strokes on a grid of 12 units cap height.
#ifndef YW_APP_RENDER_DRAW_FONT_H
#define YW_APP_RENDER_DRAW_FONT_H

#include "render/draw/draw.h"

#define YW_FONT_CAP 12.0f       ///< units from the base line to the top of capitals
#define YW_FONT_MAX_POINTS 192  ///< of one sign, after curves are cut into pieces

typedef struct yw_glyph {
  float advance;                        ///< units to the next sign
  int32_t num_points;                   ///< of all strokes
  yw_point points[YW_FONT_MAX_POINTS];  ///< y up, 0 on the base line
  bool starts[YW_FONT_MAX_POINTS];      ///< this point starts a stroke
} yw_glyph;

/// The strokes of a Unicode character; a box when the font does not have it.
void yw_font_glyph(uint32_t character, yw_glyph* out);
/// Reads one character of UTF-8 and moves on; bad bytes count as one character each.
uint32_t yw_font_next(const char** text);

#endif
