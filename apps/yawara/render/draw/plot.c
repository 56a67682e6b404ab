// SPDX-License-Identifier: MIT
#include "render/draw/plot.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/text.h"

#define FONT 13.0
// From the middle of a line of text to its baseline.
#define BASE (0.36 * FONT)
#define ROW 20.0   // height in the legend
#define MARK 34.0  // line or point in front of a name
#define PNG_SCALE 2
// Renderers store coordinates as fixed-point numbers; lines are clipped long before this.
#define FAR_AWAY 1e6

yw_plot yw_default_plot(void) {
  return (yw_plot){.x = {.low = (double)NAN, .high = (double)NAN},
                   .y = {.low = (double)NAN, .high = (double)NAN},
                   .width = 800,
                   .height = 500};
}

// Okabe and Ito (2008): distinguishable with any colour vision. Yellow is too light for lines.
static const char* color_of(const yw_plot* plot, int32_t index) {
  static const char* const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                       "#e69f00", "#56b4e9", "#000000"};
  int32_t number = plot->series[index].color;
  return colors[(number < 0 ? index : number) % (int32_t)(sizeof colors / sizeof *colors)];
}

static bool has_line(const yw_series* s) { return s->style != YW_SERIES_POINTS; }
static bool has_points(const yw_series* s) {
  return s->style == YW_SERIES_POINTS || s->style == YW_SERIES_LINE_POINTS;
}
static bool is_listed(const yw_series* s) { return s->name && !s->unlisted; }

// Layout ------------------------------------------------------------------------------------------

// An axis as drawn: values from low to high map to start to end.
typedef struct scale {
  double low, high;
  bool log;
  double start, end;
} scale;

typedef struct box {
  double left, top, width, height;
} box;

typedef struct layout {
  const yw_plot* plot;
  scale x, y;
  yw_ticks x_ticks, y_ticks;
  box legend;  // zero width if there is none
} layout;

static bool is_drawable(double value, bool log) { return isfinite(value) && (!log || value > 0.0); }

static double place(const scale* s, double value) {
  double share = s->log ? (log(value) - log(s->low)) / (log(s->high) - log(s->low))
                        : (value - s->low) / (s->high - s->low);
  return fmax(-FAR_AWAY, fmin(FAR_AWAY, s->start + share * (s->end - s->start)));
}

// Point k of a series; false if there is none.
static bool find_point(const layout* l, const yw_series* s, int32_t k, double* x, double* y) {
  if (!is_drawable(s->x[k], l->x.log) || !is_drawable(s->y[k], l->y.log)) return false;
  *x = place(&l->x, s->x[k]);
  *y = place(&l->y, s->y[k]);
  return true;
}

// The range of the data plus a margin.
static void find_data_range(const yw_plot* plot, bool vertical, double* low, double* high) {
  bool is_log = vertical ? plot->y.log : plot->x.log, points = false;
  *low = (double)INFINITY, *high = (double)-INFINITY;
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* s = &plot->series[i];
    points = points || has_points(s);
    for (int32_t k = 0; k < s->count; ++k) {
      if (!is_drawable(s->x[k], plot->x.log) || !is_drawable(s->y[k], plot->y.log)) continue;
      *low = fmin(*low, vertical ? s->y[k] : s->x[k]);
      *high = fmax(*high, vertical ? s->y[k] : s->x[k]);
    }
  }
  if (!isfinite(*low)) *low = *high = 1.0;
  bool is_constant = !(*high - *low > 1e-9 * fmax(fabs(*low), fabs(*high)));
  double room = vertical ? 0.06 : points ? 0.02 : 0.0;
  if (is_log) {
    double factor = is_constant ? 2.0 : exp(fmin(room * (log(*high) - log(*low)), 10.0));
    *low /= factor, *high *= factor;
    return;
  }
  double extra = !is_constant ? room * (*high - *low) : *high == 0.0 ? 1.0 : 0.5 * fabs(*high);
  // Positive data that starts near zero is shown from zero.
  bool from_zero = vertical && *low >= 0.0 && *low < 0.35 * *high;
  *low = from_zero ? 0.0 : *low - extra;
  *high += extra;
}

static yw_status find_range(const yw_plot* plot, bool vertical, scale* out, yw_error* error) {
  const yw_axis* axis = vertical ? &plot->y : &plot->x;
  find_data_range(plot, vertical, &out->low, &out->high);
  if (!isnan(axis->low)) out->low = axis->low;
  if (!isnan(axis->high)) out->high = axis->high;
  out->log = axis->log;
  if (out->low < out->high && isfinite(out->high - out->low) && (!axis->log || out->low > 0.0)) {
    return YW_OK;
  }
  return yw_fail(error, YW_ERR_INVALID, "the %s axis runs from %g to %g, which cannot be drawn%s",
                 vertical ? "y" : "x", out->low, out->high,
                 axis->log ? " on a logarithmic scale" : "");
}

// True if x is a count, so that ticks between whole numbers make no sense.
static bool counts(const yw_plot* plot) {
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* s = &plot->series[i];
    for (int32_t k = 0; k < s->count; ++k) {
      if (s->x[k] != floor(s->x[k])) return false;
    }
  }
  return true;
}

// As many x ticks as there is space for labels.
static void fit_x_ticks(layout* l) {
  bool whole = counts(l->plot);
  int32_t most = (int32_t)fmax(2.0, (l->x.end - l->x.start) / 60.0);
  for (int32_t wanted = most; wanted >= 2; --wanted) {
    yw_plot_ticks(l->x.low, l->x.high, l->x.log, wanted, &l->x_ticks);
    double free_from = -FAR_AWAY;
    bool fits = true;
    for (int32_t i = 0; i < l->x_ticks.count; ++i) {
      double half = 0.5 * yw_text_width(l->x_ticks.labels[i], FONT);
      double at = place(&l->x, l->x_ticks.values[i]);
      if (!(half > 0.0)) continue;
      fits = fits && at - half > free_from && !(whole && strchr(l->x_ticks.labels[i], '.'));
      free_from = at + half + FONT;
    }
    if (fits) return;
  }
}

static bool covers_data(const layout* l, box b) {
  for (int32_t i = 0; i < l->plot->num_series; ++i) {
    const yw_series* s = &l->plot->series[i];
    double x0, y0, x1, y1;
    for (int32_t k = 0; k < s->count; ++k) {
      if (!find_point(l, s, k, &x0, &y0)) continue;
      bool joined = has_line(s) && k + 1 < s->count && find_point(l, s, k + 1, &x1, &y1);
      if (!joined) x1 = x0, y1 = y0;
      int steps = (int)fmin(200.0, hypot(x1 - x0, y1 - y0) / 5.0) + 1;
      for (int t = 0; t <= steps; ++t) {
        double x = x0 + t * (x1 - x0) / steps, y = y0 + t * (y1 - y0) / steps;
        if (x > b.left && x < b.left + b.width && y > b.top && y < b.top + b.height) return true;
      }
    }
  }
  return false;
}

// Puts the legend inside the axes where it hides nothing, otherwise to the right of them.
static void place_legend(layout* l) {
  box* b = &l->legend;
  int32_t rows = 0;
  for (int32_t i = 0; i < l->plot->num_series; ++i) {
    const yw_series* s = &l->plot->series[i];
    if (!is_listed(s)) continue;
    b->width = fmax(b->width, MARK + yw_text_width(s->name, FONT) + 12.0);
    ++rows;
  }
  if (rows == 0) return;
  b->height = rows * ROW + 8.0;
  static const double heights[] = {0.0, 1.0, 0.5};
  for (int place = 0; place < 6; ++place) {
    double room = l->y.start - l->y.end - b->height - 16.0;
    b->left = place % 2 ? l->x.start + 10.0 : l->x.end - b->width - 8.0;
    b->top = l->y.end + 8.0 + heights[place / 2] * room;
    if (!covers_data(l, *b)) return;
  }
  l->x.end = fmax(l->x.end - b->width, l->x.start + 60.0);
  b->left = l->x.end + 14.0;
  b->top = l->y.end;
}

static yw_status lay_out(const yw_plot* plot, layout* l, yw_error* error) {
  *l = (layout){.plot = plot};
  yw_status status = find_range(plot, false, &l->x, error);
  if (status >= 0) status = find_range(plot, true, &l->y, error);
  if (status < 0) return status;
  l->y.start = plot->height - (plot->x.label || plot->x.unit ? 58.5 : 36.5);
  l->y.end = plot->title ? 46.5 : 18.5;
  yw_plot_ticks(l->y.low, l->y.high, l->y.log, (int32_t)((l->y.start - l->y.end) / 45.0),
                &l->y_ticks);
  double widest = 0.0;
  for (int32_t i = 0; i < l->y_ticks.count; ++i) {
    widest = fmax(widest, yw_text_width(l->y_ticks.labels[i], FONT));
  }
  l->x.start = round(20.0 + widest + (plot->y.label || plot->y.unit ? 24.0 : 0.0)) + 0.5;
  l->x.end = plot->width - 24.5;
  place_legend(l);
  fit_x_ticks(l);
  return YW_OK;
}

// Drawing -----------------------------------------------------------------------------------------

// Lines at pixel centres are sharp.
static double sharp(const scale* s, double value) { return round(place(s, value) - 0.5) + 0.5; }

// Grid lines, tick marks and their labels along one axis.
static void draw_ticks(yw_svg* svg, const layout* l, bool vertical) {
  const yw_ticks* ticks = vertical ? &l->y_ticks : &l->x_ticks;
  double at[YW_MAX_TICKS], left = l->x.start, bottom = l->y.start;
  yw_svg_add(svg, "<path stroke='#e3e6ea' d='");
  for (int32_t i = 0; i < ticks->count; ++i) {
    at[i] = sharp(vertical ? &l->y : &l->x, ticks->values[i]);
    if (!ticks->labels[i][0]) continue;
    if (vertical) yw_svg_add(svg, "M%g %gH%g", left, at[i], l->x.end);
    if (!vertical) yw_svg_add(svg, "M%g %gV%g", at[i], bottom, l->y.end);
  }
  yw_svg_add(svg, "'/>\n<path stroke='" YW_INK "' d='");
  for (int32_t i = 0; i < ticks->count; ++i) {
    double length = ticks->labels[i][0] ? 5.0 : 3.0;
    if (vertical) yw_svg_add(svg, "M%g %gh%g", left, at[i], -length);
    if (!vertical) yw_svg_add(svg, "M%g %gv%g", at[i], bottom, length);
  }
  yw_svg_add(svg, "'/>\n<g text-anchor='%s'>\n", vertical ? "end" : "middle");
  for (int32_t i = 0; i < ticks->count; ++i) {
    if (!ticks->labels[i][0]) continue;
    yw_svg_add(svg, "<text x='%g' y='%g'>%s</text>\n", vertical ? left - 9.0 : at[i],
               vertical ? at[i] + BASE : bottom + 21.0, ticks->labels[i]);
  }
  yw_svg_add(svg, "</g>\n");
}

static void draw_axis_title(yw_svg* svg, const yw_axis* axis) {
  if (axis->label) yw_svg_add(svg, "%s", axis->label);
  if (axis->unit) yw_svg_add(svg, axis->label ? " (%s)" : "%s", axis->unit);
  yw_svg_add(svg, "</text>\n");
}

static void draw_titles(yw_svg* svg, const layout* l) {
  const yw_plot* plot = l->plot;
  double middle_x = 0.5 * (l->x.start + l->x.end), middle_y = 0.5 * (l->y.start + l->y.end);
  yw_svg_add(svg, "<g text-anchor='middle'>\n");
  if (plot->title) {
    yw_svg_add(svg, "<text x='%g' y='28' font-size='16'>%s</text>\n", 0.5 * plot->width,
               plot->title);
  }
  if (plot->x.label || plot->x.unit) {
    yw_svg_add(svg, "<text x='%g' y='%g'>", middle_x, plot->height - 12.0);
    draw_axis_title(svg, &plot->x);
  }
  if (plot->y.label || plot->y.unit) {
    yw_svg_add(svg, "<text transform='translate(22 %g) rotate(-90)'>", middle_y);
    draw_axis_title(svg, &plot->y);
  }
  yw_svg_add(svg, "</g>\n");
}

static void start_line(yw_svg* svg, const layout* l, int32_t i) {
  yw_svg_add(svg, "<path fill='none' stroke='%s' stroke-width='2' stroke-linejoin='round'",
             color_of(l->plot, i));
  if (l->plot->series[i].style == YW_SERIES_DASHED) yw_svg_add(svg, " stroke-dasharray='7 4'");
  yw_svg_add(svg, " d='");
}

// One path, with a gap wherever data is missing. Points that do not move the pen are skipped.
static void draw_line(yw_svg* svg, const layout* l, int32_t i) {
  const yw_series* s = &l->plot->series[i];
  double x, y, last_x = 0, last_y = 0;
  bool pen_down = false;
  start_line(svg, l, i);
  for (int32_t k = 0; k < s->count; ++k) {
    bool found = find_point(l, s, k, &x, &y);
    bool moved = !pen_down || fabs(x - last_x) + fabs(y - last_y) > 0.1;
    if (found && moved) {
      yw_svg_add(svg, pen_down ? "L%g %g" : "M%g %g", x, y);
      last_x = x, last_y = y;
    }
    pen_down = found;
  }
  yw_svg_add(svg, "'/>\n");
}

static void draw_points(yw_svg* svg, const layout* l, int32_t i) {
  const yw_series* s = &l->plot->series[i];
  yw_svg_add(svg, "<g fill='%s' stroke='#fff'>\n", color_of(l->plot, i));
  for (int32_t k = 0; k < s->count; ++k) {
    double x, y;
    if (!find_point(l, s, k, &x, &y)) continue;
    bool inside =
        x > l->x.start - 0.5 && x < l->x.end + 0.5 && y > l->y.end - 0.5 && y < l->y.start + 0.5;
    if (inside) yw_svg_add(svg, "<circle cx='%g' cy='%g' r='4'/>\n", x, y);
  }
  yw_svg_add(svg, "</g>\n");
}

static void draw_legend(yw_svg* svg, const layout* l) {
  const box* b = &l->legend;
  if (!(b->width > 0.0)) return;
  double y = b->top + 4.0 + 0.5 * ROW;
  yw_svg_add(svg, "<rect x='%g' y='%g' width='%g' height='%g' fill='#fff'/>\n", b->left - 4.0,
             b->top, b->width, b->height);
  for (int32_t i = 0; i < l->plot->num_series; ++i) {
    const yw_series* s = &l->plot->series[i];
    if (!is_listed(s)) continue;
    if (has_line(s)) {
      start_line(svg, l, i);
      yw_svg_add(svg, "M%g %gh26'/>\n", b->left, y);
    }
    if (has_points(s)) {
      yw_svg_add(svg, "<circle cx='%g' cy='%g' r='4' fill='%s'/>\n", b->left + 13.0, y,
                 color_of(l->plot, i));
    }
    yw_svg_add(svg, "<text x='%g' y='%g'>%s</text>\n", b->left + MARK, y + BASE, s->name);
    y += ROW;
  }
}

static yw_status check_plot(const yw_plot* plot, yw_error* error) {
  const int32_t most = YW_IMAGE_MAX_SIDE / PNG_SCALE;
  if (plot->width < 160 || plot->height < 120 || plot->width > most || plot->height > most) {
    return yw_fail(error, YW_ERR_INVALID,
                   "size of the plot is %d x %d, but must be between 160 x 120 and %d x %d",
                   plot->width, plot->height, most, most);
  }
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* s = &plot->series[i];
    if (s->count < 0 || (s->count > 0 && (!s->x || !s->y))) {
      return yw_fail(error, YW_ERR_INVALID, "series %d of the plot has no data", i);
    }
  }
  return YW_OK;
}

yw_status yw_plot_draw(const yw_plot* plot, yw_svg* out, yw_error* error) {
  layout l;
  *out = (yw_svg){0};
  yw_status status = check_plot(plot, error);
  if (status >= 0) status = lay_out(plot, &l, error);
  if (status >= 0) status = yw_svg_open(out, plot->width, plot->height, error);
  if (status < 0) return status;
  if (plot->title) yw_svg_add(out, "<title>%s</title>\n", plot->title);
  yw_svg_add(out, "<rect width='%g' height='%g' fill='#fff'/>\n", (double)plot->width,
             (double)plot->height);
  // One extra unit on every side, so that lines on the border keep their width.
  yw_svg_add(out, "<clipPath id='frame'><path d='M%g %gH%gV%gH%gz'/></clipPath>\n", l.x.start - 1.0,
             l.y.end - 1.0, l.x.end + 1.0, l.y.start + 1.0, l.x.start - 1.0);
  draw_ticks(out, &l, false);
  draw_ticks(out, &l, true);
  draw_titles(out, &l);
  yw_svg_add(out, "<path fill='none' stroke='" YW_INK "' stroke-width='1.4' d='M%g %gV%gH%g'/>\n",
             l.x.start, l.y.end, l.y.start, l.x.end);
  yw_svg_add(out, "<g clip-path='url(#frame)'>\n");
  for (int32_t i = 0; i < plot->num_series; ++i) {
    if (has_line(&plot->series[i])) draw_line(out, &l, i);
  }
  yw_svg_add(out, "</g>\n");
  for (int32_t i = 0; i < plot->num_series; ++i) {
    if (has_points(&plot->series[i])) draw_points(out, &l, i);
  }
  draw_legend(out, &l);
  return yw_svg_close(out, error);
}

// Files -------------------------------------------------------------------------------------------

static yw_status write_png(const char* path, const yw_plot* plot, const yw_svg* svg,
                           yw_error* error) {
  yw_image image;
  yw_status status =
      yw_image_create(NULL, PNG_SCALE * plot->width, PNG_SCALE * plot->height, &image, error);
  if (status >= 0) status = yw_svg_paint(svg, &image, error);
  if (status >= 0) status = yw_image_write_png(path, &image, error);
  yw_image_free(&image);
  return status;
}

yw_status yw_plot_write(const char* path, const yw_plot* plot, yw_error* error) {
  bool png = yw_ends_with(path, ".png");
  size_t length = strlen(path);
  char beside[4096];
  if (!png && !yw_ends_with(path, ".svg")) {
    return yw_fail(error, YW_ERR_INVALID, "%s: the name of a plot must end in .png or .svg", path);
  }
  if (length >= sizeof beside) {
    return yw_fail(error, YW_ERR_INVALID, "the name of a plot has %zu characters", length);
  }
  memcpy(beside, path, length + 1);
  yw_svg svg;
  yw_status status = yw_plot_draw(plot, &svg, error);
  if (status < 0) return status;
  memcpy(beside + length - 4, ".csv", 4);
  status = yw_plot_write_csv(beside, plot, error);
  memcpy(beside + length - 4, ".svg", 4);
  if (status >= 0) status = yw_svg_write(beside, &svg, error);
  if (status >= 0 && png) status = write_png(path, plot, &svg, error);
  yw_svg_free(&svg);
  return status;
}
