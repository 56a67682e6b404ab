// SPDX-License-Identifier: MIT
// A polyline in Oklab (Ottosson 2020), walked at constant speed: there, distance is how different
// two colours look, and the first coordinate is how light they are.
#include "render/draw/colormap.h"

#include <math.h>
#include <stdio.h>

#include "render/draw/draw.h"
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

static yw_rgb srgb_of(yw_vec3 linear) {
  const float in[3] = {linear.x, linear.y, linear.z};
  uint8_t out[3];
  for (int k = 0; k < 3; ++k) {
    float s = in[k] <= 0.0031308f ? 12.92f * in[k] : 1.055f * powf(in[k], 1 / 2.4f) - 0.055f;
    out[k] = (uint8_t)(255.0f * s + 0.5f);
  }
  return (yw_rgb){out[0], out[1], out[2]};
}

void yw_draw_colorbar(yw_image* image, const char* title, double low, double high) {
  yw_text_style style = yw_default_text_style();
  style.size = 0.022f * (float)image->height + 2.0f;
  style.halo = 0.3f * style.size;
  style.halo_color = YW_RGB(0xffffff);
  // Whole pixels, or the rows would show.
  int32_t height = 2 * image->height / 5, width = image->height / 22 + 1;
  float left = floorf((float)(image->width - width) - 2.0f * style.size);
  float top = (float)((image->height - height) / 2);
  yw_draw_rect(image, left - 2, top - 2, (float)width + 4, (float)height + 4, YW_RGB(0xffffff),
               0.8f);
  for (int32_t i = 0; i < height; ++i) {
    yw_rgb color = srgb_of(yw_colormap(1.0f - ((float)i + 0.5f) / (float)height));
    yw_draw_rect(image, left, top + (float)i, (float)width, 1, color, 1.0f);
  }
  style.anchor = YW_TEXT_RIGHT;
  for (int k = 0; k < 3; ++k) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", low + 0.5 * k * (high - low));
    float y = top + (float)height * (1.0f - 0.5f * (float)k);
    yw_draw_text(image, left - 0.7f * style.size, y + 0.5f * style.size, text, &style);
  }
  yw_draw_text(image, left + (float)width, top - 1.2f * style.size, title, &style);
}
