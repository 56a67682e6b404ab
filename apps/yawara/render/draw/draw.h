// SPDX-License-Identifier: MIT
// Antialiased lines, discs and text in images. Coordinates are pixels from the top left; the centre
// of the first pixel is (0.5, 0.5). Everything is cut off at the border.
#ifndef YW_APP_RENDER_DRAW_DRAW_H
#define YW_APP_RENDER_DRAW_DRAW_H

#include "render/output/image.h"

typedef struct yw_point {
  float x, y;
} yw_point;

void yw_draw_rect(yw_image* image, float x, float y, float width, float height, yw_rgb color,
                  float opacity);
/// Round joints and ends.
void yw_draw_polyline(yw_image* image, int32_t count, const yw_point* points, float width,
                      yw_rgb color, float opacity);
void yw_draw_disc(yw_image* image, float x, float y, float radius, yw_rgb color, float opacity);

typedef enum yw_text_anchor { YW_TEXT_LEFT, YW_TEXT_CENTER, YW_TEXT_RIGHT } yw_text_anchor;

typedef struct yw_text_style {
  float size;    ///< height of capital letters, pixels
  float weight;  ///< width of the strokes / size; 0.12 is regular, 0.17 bold
  yw_rgb color;
  yw_text_anchor anchor;
  bool upward;  ///< turned by a quarter, reading upwards
  float halo;   ///< width of a rim that keeps text readable on pictures, pixels; 0: none
  yw_rgb halo_color;
} yw_text_style;
yw_text_style yw_default_text_style(void);

/// (x, y) is on the base line at the anchor. UTF-8: ASCII and a few signs
/// (° ² ³ µ × · ± – — … α β γ δ ε θ λ ν π ρ σ Δ); others appear as a box.
void yw_draw_text(yw_image* image, float x, float y, const char* text, const yw_text_style* style);
/// Advance width in pixels.
float yw_text_width(const char* text, const yw_text_style* style);
/// A rounded tag with text in the given corner: 0 top left, 1 top right, 2 bottom left, 3 bottom
/// right.
void yw_draw_label(yw_image* image, int32_t corner, const char* text, float size);

#endif
