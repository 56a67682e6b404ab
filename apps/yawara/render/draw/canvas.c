// SPDX-License-Identifier: MIT
#include "render/draw/canvas.h"

#include <math.h>

#define DASH 7.0f
#define DASH_GAP 5.0f

// Text with the five signs that XML keeps for itself escaped, and control characters left out.
static void put_escaped(FILE* out, const char* text) {
  for (; *text; ++text) {
    switch (*text) {
      case '&':
        fputs("&amp;", out);
        break;
      case '<':
        fputs("&lt;", out);
        break;
      case '>':
        fputs("&gt;", out);
        break;
      case '"':
        fputs("&quot;", out);
        break;
      case '\'':
        fputs("&apos;", out);
        break;
      default:
        if ((unsigned char)*text >= 32) fputc(*text, out);
    }
  }
}

static void put_color(FILE* out, yw_rgb color) {
  fprintf(out, "#%02x%02x%02x", color.r, color.g, color.b);
}

void yw_canvas_begin(const yw_canvas* canvas, int32_t width, int32_t height, const char* title) {
  if (canvas->image) {
    yw_image_fill(canvas->image, YW_RGB(0xffffff));
    return;
  }
  fprintf(canvas->svg,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\">\n",
          width, height, width, height);
  if (title) {
    fputs("<title>", canvas->svg);
    put_escaped(canvas->svg, title);
    fputs("</title>\n", canvas->svg);
  }
  fprintf(canvas->svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height);
}

void yw_canvas_end(const yw_canvas* canvas) {
  if (canvas->svg) fputs("</svg>\n", canvas->svg);
}

void yw_canvas_rect(const yw_canvas* canvas, float x, float y, float width, float height,
                    yw_rgb color, float opacity) {
  if (canvas->image) {
    yw_draw_rect(canvas->image, x, y, width, height, color, opacity);
    return;
  }
  fprintf(canvas->svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"",
          (double)x, (double)y, (double)width, (double)height);
  put_color(canvas->svg, color);
  fprintf(canvas->svg, "\" fill-opacity=\"%.2f\"/>\n", (double)opacity);
}

// Draws the dashes of a polyline one by one.
static void draw_dashes(yw_image* image, int32_t count, const yw_point* points, float width,
                        yw_rgb color) {
  float phase = 0.0f;  // since the start of the current dash
  for (int32_t i = 1; i < count; ++i) {
    yw_point a = points[i - 1], b = points[i];
    float length = hypotf(b.x - a.x, b.y - a.y);
    if (!(length > 0.0f)) continue;
    float dx = (b.x - a.x) / length, dy = (b.y - a.y) / length;
    for (float at = 0.0f; at < length;) {
      bool on = phase < DASH;
      float step = fminf((on ? DASH : DASH + DASH_GAP) - phase, length - at);
      // Too small a step would not move on.
      step = fmaxf(step, 0.01f);
      if (on) {
        yw_point dash[2] = {{a.x + at * dx, a.y + at * dy},
                            {a.x + (at + step) * dx, a.y + (at + step) * dy}};
        yw_draw_polyline(image, 2, dash, width, color, 1.0f);
      }
      at += step;
      phase += step;
      if (phase >= DASH + DASH_GAP) phase = 0.0f;
    }
  }
}

void yw_canvas_polyline(const yw_canvas* canvas, int32_t count, const yw_point* points, float width,
                        bool dashed, yw_rgb color) {
  if (count < 2) return;
  if (canvas->image && dashed) {
    draw_dashes(canvas->image, count, points, width, color);
  } else if (canvas->image) {
    yw_draw_polyline(canvas->image, count, points, width, color, 1.0f);
  } else {
    fputs("<polyline fill=\"none\" stroke-linejoin=\"round\" stroke=\"", canvas->svg);
    put_color(canvas->svg, color);
    fprintf(canvas->svg, "\" stroke-width=\"%.2f\"", (double)width);
    if (dashed) {
      fprintf(canvas->svg, " stroke-dasharray=\"%g %g\"", (double)DASH, (double)DASH_GAP);
    }
    fputs(" points=\"", canvas->svg);
    for (int32_t i = 0; i < count; ++i) {
      fprintf(canvas->svg, "%s%.2f,%.2f", i ? " " : "", (double)points[i].x, (double)points[i].y);
    }
    fputs("\"/>\n", canvas->svg);
  }
}

void yw_canvas_line(const yw_canvas* canvas, float x0, float y0, float x1, float y1, float width,
                    yw_rgb color) {
  yw_point ends[2] = {{x0, y0}, {x1, y1}};
  yw_canvas_polyline(canvas, 2, ends, width, false, color);
}

void yw_canvas_disc(const yw_canvas* canvas, float x, float y, float radius, yw_rgb color) {
  if (canvas->image) {
    yw_draw_disc(canvas->image, x, y, radius, color, 1.0f);
    return;
  }
  fprintf(canvas->svg, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"", (double)x, (double)y,
          (double)radius);
  put_color(canvas->svg, color);
  fputs("\"/>\n", canvas->svg);
}

void yw_canvas_text(const yw_canvas* canvas, float x, float y, const char* text,
                    const yw_text_style* style) {
  if (canvas->image) {
    yw_draw_text(canvas->image, x, y, text, style);
    return;
  }
  static const char* const anchors[] = {"start", "middle", "end"};
  // Capitals are about 0.72 of the font size.
  fprintf(canvas->svg, "<text font-size=\"%.2f\" text-anchor=\"%s\" fill=\"",
          (double)style->size / 0.72, anchors[style->anchor]);
  put_color(canvas->svg, style->color);
  if (style->upward) {
    fprintf(canvas->svg, "\" transform=\"translate(%.2f %.2f) rotate(-90)\">", (double)x,
            (double)y);
  } else {
    fprintf(canvas->svg, "\" x=\"%.2f\" y=\"%.2f\">", (double)x, (double)y);
  }
  put_escaped(canvas->svg, text);
  fputs("</text>\n", canvas->svg);
}
