// SPDX-License-Identifier: MIT
// Ticks are decimal numbers, digits * 10^power, so that their labels are exact.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/draw/plot.h"

#define LABEL sizeof(((yw_ticks*)NULL)->labels[0])
// Ticks that differ only beyond twelve digits are omitted.
#define MOST_STEPS 1e12
#define MOST_WANTED 24

static double decimal(int64_t digits, int32_t power) {
  return power < 0 && power >= -300 ? (double)digits / pow(10.0, -power)
                                    : (double)digits * pow(10.0, power);
}

// digits * 10^power without an exponent.
static void print_plain(char* out, int64_t digits, int32_t power) {
  char text[LABEL - 4];
  for (; power > 0; --power) digits *= 10;
  int length = snprintf(text, sizeof text, "%0*lld", 1 - power, llabs((long long)digits));
  int whole = length + power;
  snprintf(out, LABEL, "%s%.*s%s%s", digits < 0 ? "\u2212" : "", whole, text, power < 0 ? "." : "",
           text + whole);
}

// A power of ten, after a factor if there is one.
static void append_power(char* out, int32_t power) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char number[16];
  size_t at = strlen(out);
  at += (size_t)snprintf(out + at, LABEL - at, "%s10%s", at ? "×" : "", power < 0 ? "⁻" : "");
  snprintf(number, sizeof number, "%d", abs(power));
  for (const char* s = number; *s && at < LABEL; ++s) {
    at += (size_t)snprintf(out + at, LABEL - at, "%s", digits[*s - '0']);
  }
}

static char* add_tick(yw_ticks* ticks, double value) {
  ticks->values[ticks->count] = value;
  ticks->labels[ticks->count][0] = '\0';
  return ticks->labels[ticks->count++];
}

static void linear_ticks(double low, double high, int32_t wanted, yw_ticks* out) {
  static const int32_t leads[] = {1, 2, 5, 10};
  int32_t power = (int32_t)floor(log10((high - low) / wanted)), k = 0;
  while (k < 3 && (high - low) / decimal(leads[k], power) > wanted + 1e-9) ++k;
  double step = decimal(leads[k], power), first = ceil(low / step - 1e-9);
  double last = floor(high / step + 1e-9);
  if (!(fmax(fabs(first), fabs(last)) < MOST_STEPS)) return;
  if (leads[k] == 10) ++power;
  int64_t lead = leads[k] == 10 ? 1 : leads[k];

  // With an exponent if that is clearly shorter: 2×10⁶, 1.5×10⁻⁹, but 1000020 and 0.05.
  double largest = fmax(fmax(fabs(first), fabs(last)), 1.0) * (double)lead;
  int32_t size = power + (int32_t)floor(log10(largest) + 1e-12), sign = size < 0;
  int32_t plain = (size > 0 ? size + 1 : 1) + (power < 0 ? 1 - power : 0);
  int32_t with_power = 1 + (size > power ? 1 + size - power : 0) + 4 + sign;
  bool short_form = plain > with_power + 1;
  for (int64_t i = (int64_t)first; i <= (int64_t)last && out->count < YW_MAX_TICKS; ++i) {
    char* label = add_tick(out, decimal(i * lead, power));
    print_plain(label, i * lead, i == 0 ? 0 : short_form ? power - size : power);
    if (short_form && i != 0) append_power(label, size);
  }
}

static void log_ticks(double low, double high, int32_t wanted, yw_ticks* out) {
  int32_t first = (int32_t)floor(log10(low) + 1e-9), last = (int32_t)floor(log10(high) + 1e-9);
  double decades = log10(high / low);
  if (!isfinite(decades)) decades = last - first;
  // Few decades: 2 and 5 get labels too. Many: only every n-th power.
  bool between = 3.0 * decades <= wanted, minors = decades <= 4.0, all_powers = decades <= 30.0;
  bool plain = first >= -4 && last <= 4;
  int32_t every = (int32_t)ceil(decades / wanted);
  for (int32_t power = first; power <= last; ++power) {
    for (int32_t lead = 1; lead <= (minors ? 9 : 1); ++lead) {
      double value = decimal(lead, power);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      bool is_major = lead == 1 && power % every == 0;
      if (out->count == YW_MAX_TICKS || (!is_major && !all_powers)) continue;
      char* label = add_tick(out, value);
      if (!is_major && !(between && (lead == 2 || lead == 5))) continue;
      if (plain || lead > 1) print_plain(label, lead, plain ? power : 0);
      if (!plain) append_power(label, power);
    }
  }
}

void yw_plot_ticks(double low, double high, bool log, int32_t wanted, yw_ticks* out) {
  out->count = 0;
  if (!(low < high) || !isfinite(high - low) || (log && !(low > 0.0))) return;
  wanted = wanted < 2 ? 2 : wanted > MOST_WANTED ? MOST_WANTED : wanted;
  if (log) {
    log_ticks(low, high, wanted, out);
    int32_t labels = 0;
    for (int32_t i = 0; i < out->count; ++i) labels += out->labels[i][0] != '\0';
    if (labels > 1) return;
    out->count = 0;
  }
  linear_ticks(low, high, wanted, out);
}
