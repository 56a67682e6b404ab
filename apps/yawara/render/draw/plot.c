// SPDX-License-Identifier: MIT
#include "render/draw/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/draw/canvas.h"
#include "render/output/file.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define TEXT_SIZE 9.0f
#define INK YW_RGB(0x222831)
#define PALE YW_RGB(0xe3e6ea)

yw_plot yw_default_plot(void) {
  return (yw_plot){.x = {.low = (double)NAN, .high = (double)NAN},
                   .y = {.low = (double)NAN, .high = (double)NAN},
                   .width = 800,
                   .height = 500};
}

static yw_rgb series_color(const yw_plot* plot, int32_t index) {
  static const uint32_t colors[] = {0x2e6fb5, 0xe4572e, 0x2f9e63, 0x9a5fb4,
                                    0xe0a020, 0x17a6a0, 0xd9487d, 0x5c6670};
  int32_t number = plot->series[index].color;
  if (number < 0) number = index;
  return YW_RGB(colors[number % (int32_t)(sizeof colors / sizeof colors[0])]);
}

// An axis as drawn: values low to high run from pixel start to pixel end.
typedef struct scale {
  double low, high;
  bool log;
  float start, end;
} scale;

static bool is_drawable(double value, bool log) { return isfinite(value) && (!log || value > 0.0); }

static float place(const scale* s, double value) {
  double share = s->log ? (log(value) - log(s->low)) / (log(s->high) - log(s->low))
                        : (value - s->low) / (s->high - s->low);
  return (float)(s->start + share * (double)(s->end - s->start));
}

static double tick_step(double range, int32_t wanted) {
  double rough = range / (wanted > 1 ? wanted : 1), power = pow(10.0, floor(log10(rough)));
  double lead = rough / power;
  return power * (lead < 1.5 ? 1.0 : lead < 3.5 ? 2.0 : lead < 7.5 ? 5.0 : 10.0);
}

static void add_tick(yw_ticks* ticks, double value, const char* label) {
  if (ticks->count >= YW_MAX_TICKS) return;
  ticks->values[ticks->count] = value;
  snprintf(ticks->labels[ticks->count], sizeof ticks->labels[0], "%s", label);
  ++ticks->count;
}

static void log_ticks(double low, double high, int32_t wanted, yw_ticks* out) {
  int32_t first = (int32_t)floor(log10(low) + 1e-9), last = (int32_t)ceil(log10(high) - 1e-9);
  int32_t most = wanted > 1 ? wanted : 1, every = (last - first + most - 1) / most;
  if (every < 1) every = 1;
  // Few decades: 2 and 5 get labels too. Many: only every n-th power.
  bool between = last - first <= 2, minors = last - first <= 3;
  for (int32_t power = first; power <= last; ++power) {
    for (int32_t lead = 1; lead <= 9; ++lead) {
      double value = pow(10.0, power) * lead;
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      bool major = lead == 1 && (power - first) % every == 0;
      bool labelled = major || (between && (lead == 2 || lead == 5));
      if (!labelled && !minors && lead > 1) continue;
      char label[24] = "";
      if (labelled) snprintf(label, sizeof label, "%g", value);
      add_tick(out, value, label);
    }
  }
}

void yw_plot_ticks(double low, double high, bool log, int32_t wanted, yw_ticks* out) {
  out->count = 0;
  if (!(low < high) || !isfinite(high - low)) return;
  if (log) {
    log_ticks(low, high, wanted, out);
    if (out->count > 1) return;
    out->count = 0;
  }
  double step = tick_step(high - low, wanted);
  for (int64_t i = (int64_t)ceil(low / step - 1e-9); (double)i * step <= high + 1e-9 * step; ++i) {
    char label[24];
    double value = (double)i * step;
    snprintf(label, sizeof label, "%.6g", value);
    add_tick(out, value, label);
    if (out->count >= YW_MAX_TICKS) break;
  }
}

// The range of an axis: what the caller fixed, the rest from the data with a little room.
static yw_status find_range(const yw_plot* plot, bool vertical, scale* out, yw_error* error) {
  const yw_axis* axis = vertical ? &plot->y : &plot->x;
  double low = (double)INFINITY, high = (double)-INFINITY;
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* series = &plot->series[i];
    for (int32_t k = 0; k < series->count; ++k) {
      if (!is_drawable(series->x[k], plot->x.log) || !is_drawable(series->y[k], plot->y.log)) {
        continue;
      }
      double value = vertical ? series->y[k] : series->x[k];
      low = fmin(low, value);
      high = fmax(high, value);
    }
  }
  if (!isfinite(low)) low = high = 1.0;
  double room = vertical ? 0.06 : 0.0;
  if (axis->log) {
    double factor = high > low ? pow(high / low, room) : 1.5;
    low /= factor, high *= factor;
  } else {
    double extra = high > low ? room * (high - low) : fmax(0.5 * fabs(high), 0.5);
    // A chart of positive numbers that starts near zero starts at zero.
    bool from_zero = vertical && low >= 0.0 && low < 0.35 * high;
    low = from_zero ? 0.0 : low - extra;
    high += extra;
  }
  out->low = isnan(axis->low) ? low : axis->low;
  out->high = isnan(axis->high) ? high : axis->high;
  out->log = axis->log;
  if (!(out->low < out->high) || !isfinite(out->high - out->low) ||
      (axis->log && !(out->low > 0.0))) {
    return yw_fail(error, YW_ERR_INVALID, "the %s axis runs from %g to %g, which cannot be drawn%s",
                   vertical ? "y" : "x", out->low, out->high,
                   axis->log ? " on a logarithmic scale" : "");
  }
  return YW_OK;
}

static float widest_label(const yw_ticks* ticks, const yw_text_style* style) {
  float widest = 0.0f;
  for (int32_t i = 0; i < ticks->count; ++i) {
    widest = fmaxf(widest, yw_text_width(ticks->labels[i], style));
  }
  return widest;
}

static void draw_axes(const yw_canvas* canvas, const yw_plot* plot, const scale* x, const scale* y,
                      const yw_ticks* x_ticks, const yw_ticks* y_ticks) {
  yw_text_style style = yw_default_text_style();
  style.size = TEXT_SIZE;
  style.anchor = YW_TEXT_CENTER;
  for (int32_t i = 0; i < x_ticks->count; ++i) {
    float at = roundf(place(x, x_ticks->values[i])) + 0.5f;
    bool major = x_ticks->labels[i][0] != '\0';
    if (!plot->no_grid && major) yw_canvas_line(canvas, at, y->end, at, y->start, 1.0f, PALE);
    yw_canvas_line(canvas, at, y->start, at, y->start + (major ? 5.0f : 3.0f), 1.0f, INK);
    yw_canvas_text(canvas, at, y->start + 10.0f + TEXT_SIZE, x_ticks->labels[i], &style);
  }
  style.anchor = YW_TEXT_RIGHT;
  for (int32_t i = 0; i < y_ticks->count; ++i) {
    float at = roundf(place(y, y_ticks->values[i])) + 0.5f;
    bool major = y_ticks->labels[i][0] != '\0';
    if (!plot->no_grid && major) yw_canvas_line(canvas, x->start, at, x->end, at, 1.0f, PALE);
    yw_canvas_line(canvas, x->start - (major ? 5.0f : 3.0f), at, x->start, at, 1.0f, INK);
    yw_canvas_text(canvas, x->start - 9.0f, at + 0.5f * TEXT_SIZE, y_ticks->labels[i], &style);
  }
  yw_point frame[3] = {{x->start, y->end}, {x->start, y->start}, {x->end, y->start}};
  yw_canvas_polyline(canvas, 3, frame, 1.4f, false, INK);

  style.anchor = YW_TEXT_CENTER;
  style.size = TEXT_SIZE + 1.0f;
  float middle_x = 0.5f * (x->start + x->end), middle_y = 0.5f * (y->start + y->end);
  if (plot->x.label) {
    yw_canvas_text(canvas, middle_x, (float)plot->height - 10.0f, plot->x.label, &style);
  }
  if (plot->title) {
    yw_text_style bold = style;
    bold.size = 12.0f;
    bold.weight = 0.14f;
    yw_canvas_text(canvas, middle_x, 27.0f, plot->title, &bold);
  }
  if (plot->y.label) {
    style.upward = true;
    yw_canvas_text(canvas, 20.0f, middle_y, plot->y.label, &style);
  }
}

// The part of a segment inside the frame (Liang and Barsky); false when there is none.
static bool clip(const scale* x, const scale* y, yw_point* a, yw_point* b) {
  float from = 0.0f, to = 1.0f, dx = b->x - a->x, dy = b->y - a->y;
  const float p[4] = {-dx, dx, -dy, dy};
  const float q[4] = {a->x - x->start, x->end - a->x, a->y - y->end, y->start - a->y};
  for (int32_t i = 0; i < 4; ++i) {
    if (p[i] == 0.0f) {
      if (q[i] < 0.0f) return false;
      continue;
    }
    float t = q[i] / p[i];
    if (p[i] < 0.0f) {
      from = fmaxf(from, t);
    } else {
      to = fminf(to, t);
    }
  }
  if (from > to) return false;
  yw_point start = *a;
  *a = (yw_point){start.x + from * dx, start.y + from * dy};
  *b = (yw_point){start.x + to * dx, start.y + to * dy};
  return true;
}

// Lines are cut where data is missing and where they leave the frame.
static void draw_line(const yw_canvas* canvas, const yw_series* series, const scale* x,
                      const scale* y, yw_point* points, yw_rgb color) {
  bool dashed = series->style == YW_SERIES_DASHED;
  int32_t count = 0;
  for (int32_t i = 1; i <= series->count; ++i) {
    bool whole = i < series->count && is_drawable(series->x[i - 1], x->log) &&
                 is_drawable(series->y[i - 1], y->log) && is_drawable(series->x[i], x->log) &&
                 is_drawable(series->y[i], y->log);
    yw_point a = {0, 0}, b = {0, 0};
    if (whole) {
      a = (yw_point){place(x, series->x[i - 1]), place(y, series->y[i - 1])};
      b = (yw_point){place(x, series->x[i]), place(y, series->y[i])};
      whole = clip(x, y, &a, &b);
    }
    bool joins = whole && count > 0 && fabsf(points[count - 1].x - a.x) < 0.01f &&
                 fabsf(points[count - 1].y - a.y) < 0.01f;
    if (!joins) {
      yw_canvas_polyline(canvas, count, points, 2.0f, dashed, color);
      count = 0;
      if (whole) points[count++] = a;
    }
    if (whole) points[count++] = b;
  }
}

static void draw_points(const yw_canvas* canvas, const yw_series* series, const scale* x,
                        const scale* y, yw_rgb color) {
  for (int32_t i = 0; i < series->count; ++i) {
    if (!is_drawable(series->x[i], x->log) || !is_drawable(series->y[i], y->log)) continue;
    float px = place(x, series->x[i]), py = place(y, series->y[i]);
    if (px < x->start - 0.5f || px > x->end + 0.5f || py < y->end - 0.5f || py > y->start + 0.5f) {
      continue;
    }
    yw_canvas_disc(canvas, px, py, 3.4f, color);
  }
}

// How many points of the data a box at (left, top) would cover.
static int32_t covered(const yw_plot* plot, const scale* x, const scale* y, float left, float top,
                       float width, float height) {
  int32_t count = 0;
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* series = &plot->series[i];
    for (int32_t k = 0; k < series->count; ++k) {
      if (!is_drawable(series->x[k], x->log) || !is_drawable(series->y[k], y->log)) continue;
      float px = place(x, series->x[k]), py = place(y, series->y[k]);
      if (px >= left && px <= left + width && py >= top && py <= top + height) ++count;
    }
  }
  return count;
}

// The legend goes to the corner where it hides the least.
static void draw_legend(const yw_canvas* canvas, const yw_plot* plot, const scale* x,
                        const scale* y) {
  yw_text_style style = yw_default_text_style();
  style.size = TEXT_SIZE;
  const float row = 2.1f * TEXT_SIZE, mark = 30.0f;
  float width = 0.0f, height = 0.6f * TEXT_SIZE;
  for (int32_t i = 0; i < plot->num_series; ++i) {
    if (!plot->series[i].name) continue;
    width = fmaxf(width, mark + 18.0f + yw_text_width(plot->series[i].name, &style));
    height += row;
  }
  if (!(width > 0.0f)) return;
  float left = 0, top = 0;
  int32_t least = -1;
  for (int32_t corner = 0; corner < 4; ++corner) {
    float cx = corner & 1 ? x->start + 10.0f : x->end - width - 6.0f;
    float cy = corner & 2 ? y->start - height - 8.0f : y->end + 6.0f;
    int32_t hidden = covered(plot, x, y, cx, cy, width, height);
    if (least < 0 || hidden < least) least = hidden, left = cx, top = cy;
  }
  yw_canvas_rect(canvas, left, top, width, height, YW_RGB(0xffffff), 0.85f);
  float at = top + 0.3f * TEXT_SIZE + 0.5f * row;
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* series = &plot->series[i];
    if (!series->name) continue;
    yw_rgb color = series_color(plot, i);
    yw_point ends[2] = {{left + 6.0f, at}, {left + 6.0f + mark - 6.0f, at}};
    if (series->style != YW_SERIES_POINTS) {
      yw_canvas_polyline(canvas, 2, ends, 2.0f, series->style == YW_SERIES_DASHED, color);
    }
    if (series->style == YW_SERIES_POINTS || series->style == YW_SERIES_LINE_POINTS) {
      yw_canvas_disc(canvas, 0.5f * (ends[0].x + ends[1].x), at, 3.4f, color);
    }
    yw_canvas_text(canvas, left + mark + 8.0f, at + 0.5f * TEXT_SIZE, series->name, &style);
    at += row;
  }
}

static yw_status check_plot(const yw_plot* plot, yw_error* error) {
  if (plot->width < 160 || plot->height < 120 || plot->width > YW_IMAGE_MAX_SIDE ||
      plot->height > YW_IMAGE_MAX_SIDE) {
    return yw_fail(error, YW_ERR_INVALID,
                   "size of the plot is %d x %d, but must be between 160 x 120 and %d x %d",
                   plot->width, plot->height, YW_IMAGE_MAX_SIDE, YW_IMAGE_MAX_SIDE);
  }
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* series = &plot->series[i];
    if (series->count < 0 || (series->count > 0 && (!series->x || !series->y))) {
      return yw_fail(error, YW_ERR_INVALID, "series %d of the plot has no data", i);
    }
  }
  return YW_OK;
}

static yw_status draw_plot(const yw_canvas* canvas, const yw_plot* plot, const yw_allocator* mem,
                           yw_error* error) {
  scale x, y;
  yw_status status = find_range(plot, false, &x, error);
  if (status >= 0) status = find_range(plot, true, &y, error);
  if (status < 0) return status;
  int32_t longest = 0;
  for (int32_t i = 0; i < plot->num_series; ++i) {
    if (plot->series[i].count > longest) longest = plot->series[i].count;
  }
  yw_point* points = YW_NEW_ARRAY(mem, yw_point, (size_t)longest + 2);
  if (!points) return yw_fail_memory(error, "the lines of a plot");

  yw_ticks x_ticks, y_ticks;
  yw_plot_ticks(x.low, x.high, x.log, plot->width / 90, &x_ticks);
  yw_plot_ticks(y.low, y.high, y.log, plot->height / 60, &y_ticks);
  yw_text_style style = yw_default_text_style();
  style.size = TEXT_SIZE;
  x.start = roundf(18.0f + widest_label(&y_ticks, &style) + (plot->y.label ? 20.0f : 0.0f)) + 0.5f;
  x.end = (float)plot->width - 24.5f;
  y.start = (float)plot->height - (plot->x.label ? 54.5f : 34.5f);
  y.end = plot->title ? 44.5f : 16.5f;

  yw_canvas_begin(canvas, plot->width, plot->height, plot->title);
  draw_axes(canvas, plot, &x, &y, &x_ticks, &y_ticks);
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* series = &plot->series[i];
    yw_rgb color = series_color(plot, i);
    if (series->style != YW_SERIES_POINTS) draw_line(canvas, series, &x, &y, points, color);
    if (series->style == YW_SERIES_POINTS || series->style == YW_SERIES_LINE_POINTS) {
      draw_points(canvas, series, &x, &y, color);
    }
  }
  draw_legend(canvas, plot, &x, &y);
  yw_canvas_end(canvas);
  yw_mem_free(mem, points);
  return YW_OK;
}

yw_status yw_plot_draw(const yw_plot* plot, const yw_allocator* mem, yw_image* out,
                       yw_error* error) {
  memset(out, 0, sizeof *out);
  yw_status status = check_plot(plot, error);
  if (status >= 0) status = yw_image_create(mem, plot->width, plot->height, out, error);
  if (status < 0) return status;
  yw_canvas canvas = {.image = out};
  status = draw_plot(&canvas, plot, mem, error);
  if (status < 0) yw_image_free(out);
  return status;
}

static yw_status write_svg(const char* path, const yw_plot* plot, const yw_allocator* mem,
                           yw_error* error) {
  yw_status status = check_plot(plot, error);
  if (status < 0) return status;
  yw_out_file file;
  status = yw_out_file_open(&file, path, error);
  if (status < 0) return status;
  yw_canvas canvas = {.svg = file.stream};
  status = draw_plot(&canvas, plot, mem, error);
  if (status < 0) {
    yw_out_file_discard(&file);
    return status;
  }
  return yw_out_file_close(&file, error);
}

yw_status yw_plot_write(const char* path, const yw_plot* plot, const yw_allocator* mem,
                        yw_error* error) {
  size_t length = strlen(path);
  if (length > 4 && strcmp(path + length - 4, ".svg") == 0) {
    return write_svg(path, plot, mem, error);
  }
  if (length > 4 && strcmp(path + length - 4, ".png") == 0) {
    yw_image image;
    yw_status status = yw_plot_draw(plot, mem, &image, error);
    if (status < 0) return status;
    status = yw_image_write_png(path, &image, error);
    yw_image_free(&image);
    return status;
  }
  return yw_fail(error, YW_ERR_INVALID, "%s: the name of a plot must end in .png or .svg", path);
}
