// SPDX-License-Identifier: MIT
// Shapes are drawn through a mask of coverage, so that strokes that cross or join do not show.
#include "render/draw/draw.h"

#include <math.h>
#include <string.h>

#include "render/draw/font.h"
#include "yawara/extend/memory.h"

typedef struct mask {
  int32_t left, top, width, height;
  uint8_t* coverage;
} mask;

static float clamp01(float x) { return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }

// The part of the image between two corners; false when there is none.
static bool mask_open(const yw_image* image, float left, float top, float right, float bottom,
                      mask* out) {
  float x0 = fmaxf(floorf(left), 0.0f), y0 = fmaxf(floorf(top), 0.0f);
  float x1 = fminf(ceilf(right), (float)image->width);
  float y1 = fminf(ceilf(bottom), (float)image->height);
  if (!(x0 < x1) || !(y0 < y1)) return false;
  *out = (mask){(int32_t)x0, (int32_t)y0, (int32_t)(x1 - x0), (int32_t)(y1 - y0), NULL};
  out->coverage = YW_NEW_ARRAY(&image->mem, uint8_t, (size_t)out->width * (size_t)out->height);
  return out->coverage != NULL;
}

static void mask_add(mask* m, int32_t x, int32_t y, float coverage) {
  uint8_t value = (uint8_t)(255.0f * clamp01(coverage) + 0.5f);
  uint8_t* cell = &m->coverage[(size_t)(y - m->top) * (size_t)m->width + (size_t)(x - m->left)];
  if (value > *cell) *cell = value;
}

// A line with round ends.
static void mask_segment(mask* m, yw_point a, yw_point b, float radius) {
  float reach = radius + 1.0f;
  float x0 = fmaxf(fminf(a.x, b.x) - reach, (float)m->left);
  float y0 = fmaxf(fminf(a.y, b.y) - reach, (float)m->top);
  float x1 = fminf(fmaxf(a.x, b.x) + reach, (float)(m->left + m->width));
  float y1 = fminf(fmaxf(a.y, b.y) + reach, (float)(m->top + m->height));
  if (!(x0 < x1) || !(y0 < y1)) return;
  float dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  float inv = length2 > 0.0f ? 1.0f / length2 : 0.0f;
  for (int32_t y = (int32_t)y0; y < (int32_t)ceilf(y1); ++y) {
    for (int32_t x = (int32_t)x0; x < (int32_t)ceilf(x1); ++x) {
      float px = (float)x + 0.5f - a.x, py = (float)y + 0.5f - a.y;
      float t = clamp01((px * dx + py * dy) * inv);
      float ox = px - t * dx, oy = py - t * dy;
      float outside = sqrtf(ox * ox + oy * oy) - radius;
      if (outside < 0.5f) mask_add(m, x, y, 0.5f - outside);
    }
  }
}

static void mask_close(yw_image* image, mask* m, yw_rgb color, float opacity) {
  const float to[3] = {color.r, color.g, color.b};
  for (int32_t y = 0; y < m->height; ++y) {
    for (int32_t x = 0; x < m->width; ++x) {
      uint8_t coverage = m->coverage[(size_t)y * (size_t)m->width + (size_t)x];
      if (coverage == 0) continue;
      float share = (float)coverage / 255.0f * opacity;
      size_t i = (size_t)(y + m->top) * (size_t)image->width + (size_t)(x + m->left);
      for (int32_t k = 0; k < 3; ++k) {
        uint8_t* channel = &image->pixels[3 * i + (size_t)k];
        float value = (float)*channel + share * (to[k] - (float)*channel);
        *channel = (uint8_t)(value + 0.5f);
      }
    }
  }
  yw_mem_free(&image->mem, m->coverage);
}

void yw_draw_rect(yw_image* image, float x, float y, float width, float height, yw_rgb color,
                  float opacity) {
  mask m;
  if (!mask_open(image, x, y, x + width, y + height, &m)) return;
  for (int32_t row = m.top; row < m.top + m.height; ++row) {
    float tall = clamp01(fminf(y + height, (float)row + 1.0f) - fmaxf(y, (float)row));
    for (int32_t column = m.left; column < m.left + m.width; ++column) {
      float wide = clamp01(fminf(x + width, (float)column + 1.0f) - fmaxf(x, (float)column));
      mask_add(&m, column, row, wide * tall);
    }
  }
  mask_close(image, &m, color, opacity);
}

void yw_draw_polyline(yw_image* image, int32_t count, const yw_point* points, float width,
                      yw_rgb color, float opacity) {
  if (count < 1) return;
  float x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY, reach = 0.5f * width + 1.0f;
  for (int32_t i = 0; i < count; ++i) {
    x0 = fminf(x0, points[i].x), x1 = fmaxf(x1, points[i].x);
    y0 = fminf(y0, points[i].y), y1 = fmaxf(y1, points[i].y);
  }
  mask m;
  if (!mask_open(image, x0 - reach, y0 - reach, x1 + reach, y1 + reach, &m)) return;
  if (count == 1) mask_segment(&m, points[0], points[0], 0.5f * width);
  for (int32_t i = 1; i < count; ++i) mask_segment(&m, points[i - 1], points[i], 0.5f * width);
  mask_close(image, &m, color, opacity);
}

void yw_draw_disc(yw_image* image, float x, float y, float radius, yw_rgb color, float opacity) {
  yw_point centre = {x, y};
  yw_draw_polyline(image, 1, &centre, 2.0f * radius, color, opacity);
}

yw_text_style yw_default_text_style(void) {
  return (yw_text_style){.size = 12,
                         .weight = 0.12f,
                         .color = YW_RGB(0x222831),
                         .anchor = YW_TEXT_LEFT,
                         .halo_color = YW_RGB(0xffffff)};
}

float yw_text_width(const char* text, const yw_text_style* style) {
  float advance = 0.0f;
  yw_glyph glyph;
  while (*text) {
    yw_font_glyph(yw_font_next(&text), &glyph);
    advance += glyph.advance;
  }
  return advance * style->size / YW_FONT_CAP;
}

// Text as a frame of reference: where it starts, and which way it runs.
typedef struct text_frame {
  yw_point start, along, up;  // along and up are one unit of the font
} text_frame;

static yw_point text_place(const text_frame* frame, float x, float y) {
  return (yw_point){frame->start.x + x * frame->along.x + y * frame->up.x,
                    frame->start.y + x * frame->along.y + y * frame->up.y};
}

static void mask_text(mask* m, const text_frame* frame, const char* text, float radius) {
  float pen = 0.0f;
  yw_glyph glyph;
  while (*text) {
    yw_font_glyph(yw_font_next(&text), &glyph);
    yw_point last = {0, 0};
    for (int32_t i = 0; i < glyph.num_points; ++i) {
      yw_point p = text_place(frame, pen + glyph.points[i].x, glyph.points[i].y);
      // Dots are a little fatter than lines.
      if (!glyph.starts[i]) {
        bool dot = p.x == last.x && p.y == last.y;
        mask_segment(m, last, p, dot ? 1.3f * radius : radius);
      }
      last = p;
    }
    pen += glyph.advance;
  }
}

void yw_draw_text(yw_image* image, float x, float y, const char* text, const yw_text_style* style) {
  float unit = style->size / YW_FONT_CAP, width = yw_text_width(text, style);
  float shift = style->anchor == YW_TEXT_CENTER  ? -0.5f * width
                : style->anchor == YW_TEXT_RIGHT ? -width
                                                 : 0.0f;
  text_frame frame = {{x + shift, y}, {unit, 0}, {0, -unit}};
  if (style->upward) frame = (text_frame){{x, y - shift}, {0, -unit}, {-unit, 0}};
  // Strokes are drawn around points that lie one unit to the right of the pen.
  frame.start = text_place(&frame, 1.3f, 0.0f);

  float radius = 0.5f * fmaxf(style->weight * style->size, 1.1f);
  yw_point low = text_place(&frame, 0.0f, -5.0f);
  yw_point high = text_place(&frame, width / unit, 15.0f);
  for (int32_t pass = style->halo > 0.0f ? 0 : 1; pass < 2; ++pass) {
    float r = pass == 0 ? radius + style->halo : radius, reach = r + 2.0f;
    mask m;
    if (!mask_open(image, fminf(low.x, high.x) - reach, fminf(low.y, high.y) - reach,
                   fmaxf(low.x, high.x) + reach, fmaxf(low.y, high.y) + reach, &m)) {
      return;
    }
    mask_text(&m, &frame, text, r);
    mask_close(image, &m, pass == 0 ? style->halo_color : style->color, pass == 0 ? 0.85f : 1.0f);
  }
}

void yw_draw_label(yw_image* image, int32_t corner, const char* text, float size) {
  yw_text_style style = yw_default_text_style();
  style.size = size;
  float pad = 0.75f * size, gap = size;
  float width = yw_text_width(text, &style), height = size;
  bool right = (corner & 1) != 0, bottom = (corner & 2) != 0;
  float x = right ? (float)image->width - gap - width - pad : gap + pad;
  float y = bottom ? (float)image->height - gap - pad : gap + pad + size;
  // A thick line with round ends makes the tag.
  yw_point ends[2] = {{x + 0.2f * size, y - 0.5f * height},
                      {x + width - 0.2f * size, y - 0.5f * height}};
  yw_draw_polyline(image, 2, ends, height + 1.7f * pad, YW_RGB(0xffffff), 0.78f);
  yw_draw_text(image, x, y, text, &style);
}
