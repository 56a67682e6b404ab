// SPDX-License-Identifier: MIT
// A polyline in Oklab (Ottosson 2020), traversed at constant speed: distances in Oklab are
// perceived differences, and its first coordinate is lightness.
#include "render/draw/colormap.h"

#include <math.h>

#include "render/draw/svg.h"
#include "yawara/extend/vec.h"

#define NUM_STOPS 6

// Lightness, green to red, blue to yellow.
static const yw_vec3 stops[NUM_STOPS] = {{0.27f, 0.065f, -0.095f},  {0.41f, 0.010f, -0.125f},
                                         {0.55f, -0.060f, -0.070f}, {0.67f, -0.110f, 0.020f},
                                         {0.80f, -0.125f, 0.120f},  {0.92f, -0.055f, 0.170f}};

static yw_vec3 linear_of_oklab(yw_vec3 c) {
  float l = c.x + 0.3963377774f * c.y + 0.2158037573f * c.z;
  float m = c.x - 0.1055613458f * c.y - 0.0638541728f * c.z;
  float s = c.x - 0.0894841775f * c.y - 1.2914855480f * c.z;
  l = l * l * l;
  m = m * m * m;
  s = s * s * s;
  yw_vec3 rgb = {4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s,
                 -1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s,
                 -0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s};
  return yw_max3(yw_v3(0, 0, 0), yw_min3(rgb, yw_v3(1, 1, 1)));
}

yw_vec3 yw_colormap(float t) {
  if (isnan(t)) return yw_v3(0.3f, 0.3f, 0.3f);
  float lengths[NUM_STOPS - 1], whole = 0.0f;
  for (int i = 0; i + 1 < NUM_STOPS; ++i) {
    lengths[i] = yw_distance(stops[i], stops[i + 1]);
    whole += lengths[i];
  }
  float way = yw_clampf(t, 0.0f, 1.0f) * whole;
  int i = 0;
  while (i + 2 < NUM_STOPS && way > lengths[i]) way -= lengths[i++];
  return linear_of_oklab(yw_lerp(stops[i], stops[i + 1], fminf(way / lengths[i], 1.0f)));
}

static double srgb_percent(float linear) {
  double x = (double)linear;
  return 100.0 * (x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055);
}

static void add_gradient(yw_svg* svg) {
  enum { STEPS = 16 };
  yw_svg_add(svg, "<linearGradient id='colors' x1='0' y1='1' x2='0' y2='0'>\n");
  for (int i = 0; i <= STEPS; ++i) {
    double t = (double)i / STEPS;
    yw_vec3 c = yw_colormap((float)t);
    yw_svg_add(svg, "<stop offset='%g%%' stop-color='rgb(%g%%,%g%%,%g%%)'/>\n", 100.0 * t,
               srgb_percent(c.x), srgb_percent(c.y), srgb_percent(c.z));
  }
  yw_svg_add(svg, "</linearGradient>\n");
}

yw_status yw_draw_colorbar(yw_image* image, const char* title, double low, double high,
                           yw_error* error) {
  yw_svg svg;
  yw_status status = yw_svg_open(&svg, image->width, image->height, error);
  if (status < 0) return status;
  double font = 0.03 * image->height + 3.0;
  double height = floor(0.4 * image->height), width = floor(image->height / 22.0) + 1.0;
  double left = floor(image->width - width - 1.4 * font);
  double top = floor(0.5 * (image->height - height));
  add_gradient(&svg);
  yw_svg_add(&svg,
             "<rect x='%g' y='%g' width='%g' height='%g' fill='#fff' fill-opacity='0.8'/>\n"
             "<rect x='%g' y='%g' width='%g' height='%g' fill='url(#colors)'/>\n",
             left - 2.0, top - 2.0, width + 4.0, height + 4.0, left, top, width, height);
  // The outline keeps text readable on any picture.
  yw_svg_add(&svg,
             "<g font-size='%g' text-anchor='end' paint-order='stroke' stroke='#fff' "
             "stroke-opacity='0.85' stroke-width='%g' stroke-linejoin='round'>\n",
             font, 0.4 * font);
  for (int k = 0; k < 3; ++k) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", low + 0.5 * k * (high - low));
    yw_svg_add(&svg, "<text x='%g' y='%g'>%s</text>\n", left - 0.5 * font,
               top + height * (1.0 - 0.5 * k) + 0.36 * font, text);
  }
  yw_svg_add(&svg, "<text x='%g' y='%g'>%s</text>\n</g>\n", left + width, top - 0.9 * font, title);
  return yw_svg_overlay(&svg, image, error);
}
