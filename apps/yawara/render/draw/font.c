// SPDX-License-Identifier: MIT
// Signs are written as strokes, separated by spaces. A point is a capital letter for x (A = 0) and
// a small letter for y (a = -4, e = 0 on the base line, m = 8 top of small letters, q = 12 top of
// capitals). A stroke that starts with ~ is a smooth curve along its points, with @ a closed one
// (uniform quadratic B-splines); others are straight. Two equal points make a dot.
#include "render/draw/font.h"

#include <string.h>

#define CURVE_STEPS 6
#define MAX_CONTROLS 24

typedef struct sign {
  uint32_t character;
  float advance;
  const char* strokes;
} sign;

static const sign signs[] = {
    {' ', 6.0f, ""},
    {'!', 4.5f, "BqBi BeBe"},
    {'"', 6.5f, "AqAm DqDm"},
    {'#', 12.5f, "CeDq GeHq AiJi AmJm"},
    {'$', 11.5f, "~HoGqDqAqAkEkIkIeEeBeAg EsEc"},
    {'%', 12.0f, "AeJq @AmAoBqCqDoDmClBl @GfGhHjIjJhJfIeHe"},
    {'&', 11.5f, "~IjGeDeAeAiDkGmGqCqCmElIe"},
    {'\'', 3.5f, "AqAm"},
    {'(', 6.0f, "~DrAoAeDb"},
    {')', 6.0f, "~ArDoDeAb"},
    {'*', 9.5f, "DqDk AoGl GoAl"},
    {'+', 11.5f, "EfEn AjIj"},
    {',', 4.0f, "BfAc"},
    {'-', 8.5f, "AjFj"},
    {'.', 3.8f, "AeAe"},
    {'/', 8.5f, "AcGr"},
    {'0', 10.5f, "@AhAnCqFqHnHhFeCe"},
    {'1', 10.5f, "BnEqEe BeHe"},
    {'2', 10.5f, "~AnBqGqHoHkAe AeHe"},
    {'3', 10.5f, "~AoBqGqHoHlFkDk ~DkFkHjHgGeBeAg"},
    {'4', 10.5f, "FeFqAhHh"},
    {'5', 10.5f, "GqBqAk ~AkCmFmHkHgFeBeAg"},
    {'6', 10.5f, "~GpEqCqAnAi @AgAkCmFmHkHgFeCe"},
    {'7', 10.5f, "AqHqCe"},
    {'8', 10.5f, "@BlBoCqFqGoGlFkCk @AgAiCkFkHiHgFeCe"},
    {'9', 10.5f, "~BfDeFeHhHm @HoHkFiCiAkAoCqFq"},
    {':', 4.2f, "AeAe AmAm"},
    {';', 4.5f, "BfAc BmBm"},
    {'<', 10.5f, "HnAjHf"},
    {'=', 11.5f, "AhIh AlIl"},
    {'>', 10.5f, "AnHjAf"},
    {'?', 9.5f, "~AoBqFqGoGlDkDi DeDe"},
    {'@', 14.0f, "~JfHeDeAhAnDqHqKnKiJhHhHm @HkHlFmEmDkDjEhGh"},
    {'A', 11.0f, "AeEqIe BiHi"},
    {'B', 11.5f, "AeAq ~AqEqHqHkEkAk ~AkEkIkIeEeAe"},
    {'C', 11.2f, "~InGqDqAnAhDeGeIh"},
    {'D', 11.8f, "AeAq ~AqDqIqIeDeAe"},
    {'E', 10.2f, "HqAqAeHe AkGk"},
    {'F', 9.8f, "HqAqAe AkGk"},
    {'G', 12.0f, "~InGqDqAnAhDeGeIg IgIkEk"},
    {'H', 12.0f, "AeAq IeIq AkIk"},
    {'I', 4.0f, "AeAq"},
    {'J', 9.0f, "~FqFgEeBeAh"},
    {'K', 11.0f, "AeAq HqAi CkIe"},
    {'L', 9.5f, "AqAeHe"},
    {'M', 14.0f, "AeAqFgKqKe"},
    {'N', 12.0f, "AeAqIeIq"},
    {'O', 12.8f, "@AhAnDqGqJnJhGeDe"},
    {'P', 11.0f, "AeAq ~AqEqIqIjEjAj"},
    {'Q', 12.8f, "@AhAnDqGqJnJhGeDe GhJd"},
    {'R', 11.2f, "AeAq ~AqEqIqIkEkAk EkIe"},
    {'S', 11.4f, "~HoGqDqAqAkEkIkIeEeBeAg"},
    {'T', 10.8f, "AqIq EeEq"},
    {'U', 11.8f, "~AqAhDeFeIhIq"},
    {'V', 10.8f, "AqEeIq"},
    {'W', 15.0f, "AqDeGpJeMq"},
    {'X', 11.0f, "AqIe IqAe"},
    {'Y', 10.8f, "AqEkIq EkEe"},
    {'Z', 11.2f, "AqIqAeIe"},
    {'[', 6.0f, "DrArAbDb"},
    {'\\', 8.5f, "ArGc"},
    {']', 6.0f, "ArDrDbAb"},
    {'^', 9.5f, "AmDqGm"},
    {'_', 10.5f, "AcIc"},
    {'`', 5.5f, "AqCn"},
    {'a', 9.5f, "@AgAkCmEmGkGgEeCe GmGe"},
    {'b', 9.5f, "AqAe @AgAkCmEmGkGgEeCe"},
    {'c', 8.8f, "~GlEmCmAkAgCeEeGf"},
    {'d', 9.5f, "@AgAkCmEmGkGgEeCe GqGe"},
    {'e', 9.2f, "AiGi ~GiGkEmCmAkAgCeEeGf"},
    {'f', 6.6f, "~EqCqBoBe AmEm"},
    {'g', 9.5f, "@AgAkCmEmGkGgEeCe ~GmGcEaCaAb"},
    {'h', 9.5f, "AqAe ~AiAlDmGmGiGe"},
    {'i', 3.8f, "AeAm ApAp"},
    {'j', 5.4f, "~CmCcBaAa CpCp"},
    {'k', 8.8f, "AqAe FmAh CjGe"},
    {'l', 5.2f, "~AqAgBeCe"},
    {'m', 13.5f, "AmAe ~AiAlCmFmFiFe ~FiFlHmKmKiKe"},
    {'n', 9.5f, "AmAe ~AiAlDmGmGiGe"},
    {'o', 9.4f, "@AgAkCmEmGkGgEeCe"},
    {'p', 9.5f, "AmAa @AgAkCmEmGkGgEeCe"},
    {'q', 9.5f, "@AgAkCmEmGkGgEeCe GmGa"},
    {'r', 6.6f, "AmAe ~AiAkCmEm"},
    {'s', 9.0f, "~FlEmAmAiDiGiGeCeAf"},
    {'t', 6.8f, "~BpBgCeEe AmEm"},
    {'u', 9.5f, "GmGe ~AmAiAeDeGfGi"},
    {'v', 8.6f, "AmDeGm"},
    {'w', 12.6f, "AmDeFlHeKm"},
    {'x', 8.8f, "AmGe GmAe"},
    {'y', 8.6f, "AmDe GmDe ~DeCaAa"},
    {'z', 8.8f, "AmGmAeGe"},
    {'{', 6.5f, "~DrBrBlAj ~AjBhBbDb"},
    {'|', 4.0f, "ArAb"},
    {'}', 6.5f, "~ArCrClDj ~DjChCbAb"},
    {'~', 11.0f, "~AiAlDlFiIiIl"},
    {0xb0, 6.5f, "@AnApBqCqDpDnCmBm"},            // degree
    {0xb1, 11.5f, "EhEo AlIl AeIe"},              // plus or minus
    {0xb2, 7.0f, "~AoBqDqEoAk AkEk"},             // squared
    {0xb3, 7.0f, "~ApBqEqEnBn ~BnEnEkBkAl"},      // cubed
    {0xb5, 9.5f, "AmAa GmGe ~AmAiAeDeGfGi"},      // micro
    {0xb7, 3.8f, "AjAj"},                         // middle dot
    {0xd7, 10.5f, "BgHm HgBm"},                   // times
    {0x394, 11.5f, "AeEqIeAe"},                   // Delta
    {0x3b1, 10.0f, "~HmGgEeCeAgAkCmEmGkHe"},      // alpha
    {0x3b2, 10.0f, "~AaAnBqGqGlDl ~DlHlHeCeAg"},  // beta
    {0x3b3, 8.8f, "AmDeGm DeDa"},                 // gamma
    {0x3b4, 9.4f, "~FpDqBpBnFlGjGgEeCeAgAjCl"},   // delta
    {0x3b5, 8.8f, "~FlEmAmAiDi ~DiAiAeEeGf"},     // epsilon
    {0x3b8, 9.4f, "@AhAnCqEqGnGhEeCe AkGk"},      // theta
    {0x3bb, 9.0f, "AqBqGe DkAe"},                 // lambda
    {0x3bc, 9.5f, "AmAa GmGe ~AmAiAeDeGfGi"},     // mu
    {0x3bd, 8.6f, "AmDeGm"},                      // nu
    {0x3c0, 10.5f, "AmHm CmCe FmFe"},             // pi
    {0x3c1, 9.4f, "~AaAjBmEmGmGeCeAf"},           // rho
    {0x3c3, 10.0f, "@AgAkCmEmGkGgEeCe DmHm"},     // sigma
    {0x2013, 11.0f, "AjIj"},                      // en dash
    {0x2014, 15.0f, "AjMj"},                      // em dash
    {0x2026, 12.0f, "AeAe EeEe IeIe"},            // ellipsis
};

static const sign missing = {0, 9.5f, "AeGeGqAqAe"};

static const sign* find_sign(uint32_t character) {
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; ++i) {
    if (signs[i].character == character) return &signs[i];
  }
  return &missing;
}

static void add_point(yw_glyph* glyph, float x, float y, bool starts) {
  if (glyph->num_points >= YW_FONT_MAX_POINTS) return;
  glyph->points[glyph->num_points] = (yw_point){x, y};
  glyph->starts[glyph->num_points] = starts;
  ++glyph->num_points;
}

static yw_point middle(yw_point a, yw_point b) {
  return (yw_point){0.5f * (a.x + b.x), 0.5f * (a.y + b.y)};
}

// The parabola from a to c with control point b, without its first point.
static void add_parabola(yw_glyph* glyph, yw_point a, yw_point b, yw_point c) {
  for (int32_t i = 1; i <= CURVE_STEPS; ++i) {
    float t = (float)i / CURVE_STEPS, s = 1.0f - t;
    add_point(glyph, s * s * a.x + 2 * s * t * b.x + t * t * c.x,
              s * s * a.y + 2 * s * t * b.y + t * t * c.y, false);
  }
}

// A curve that touches the middles of the lines between its points; an open one ends in its ends.
static void add_curve(yw_glyph* glyph, const yw_point* p, int32_t count, bool closed) {
  yw_point from = closed ? middle(p[count - 1], p[0]) : p[0];
  add_point(glyph, from.x, from.y, true);
  int32_t first = closed ? 0 : 1, last = closed ? count - 1 : count - 2;
  for (int32_t i = first; i <= last; ++i) {
    yw_point next = p[(i + 1) % count];
    yw_point to = !closed && i == last ? next : middle(p[i], next);
    add_parabola(glyph, from, p[i], to);
    from = to;
  }
}

void yw_font_glyph(uint32_t character, yw_glyph* out) {
  const sign* found = find_sign(character);
  out->advance = found->advance;
  out->num_points = 0;
  const char* s = found->strokes;
  while (*s) {
    char kind = *s == '~' || *s == '@' ? *s++ : ' ';
    yw_point controls[MAX_CONTROLS];
    int32_t count = 0;
    for (; *s && *s != ' '; s += 2) {
      if (count < MAX_CONTROLS) {
        controls[count++] = (yw_point){(float)(s[0] - 'A'), (float)(s[1] - 'e')};
      }
    }
    if (*s == ' ') ++s;
    if (kind != ' ' && count > 2) {
      add_curve(out, controls, count, kind == '@');
    } else {
      for (int32_t i = 0; i < count; ++i) add_point(out, controls[i].x, controls[i].y, i == 0);
    }
  }
}

uint32_t yw_font_next(const char** text) {
  const unsigned char* s = (const unsigned char*)*text;
  uint32_t lead = s[0];
  int32_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
  uint32_t value = more == 3 ? lead & 7 : more == 2 ? lead & 15 : more == 1 ? lead & 31 : lead;
  for (int32_t i = 1; i <= more; ++i) {
    if ((s[i] & 0xc0) != 0x80) {
      *text += 1;
      return 0xfffd;
    }
    value = value << 6 | (s[i] & 63);
  }
  *text += more + 1;
  return lead >= 0x80 && more == 0 ? 0xfffd : value;
}
