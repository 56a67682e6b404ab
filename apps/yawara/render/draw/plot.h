// SPDX-License-Identifier: MIT
// Line charts with axes, ticks and a legend, as PNG or SVG.
#ifndef YW_APP_RENDER_DRAW_PLOT_H
#define YW_APP_RENDER_DRAW_PLOT_H

#include "render/output/image.h"

typedef enum yw_series_style {
  YW_SERIES_LINE,
  YW_SERIES_DASHED,
  YW_SERIES_POINTS,
  YW_SERIES_LINE_POINTS
} yw_series_style;

typedef struct yw_series {
  const char* name;  ///< in the legend; NULL: not in the legend
  int32_t count;
  const double* x;
  const double* y;  ///< NaN interrupts the line; so does a value <= 0 on a logarithmic axis
  yw_series_style style;
  int32_t color;  ///< number in the palette; -1: the next one
} yw_series;

typedef struct yw_axis {
  const char* label;  ///< or NULL
  bool log;
  double low, high;  ///< NaN: from the data
} yw_axis;

typedef struct yw_plot {
  const char* title;  ///< or NULL
  yw_axis x, y;
  int32_t num_series;
  const yw_series* series;
  int32_t width, height;  ///< pixels
  bool no_grid;
} yw_plot;
/// 800 x 500, axes from the data.
yw_plot yw_default_plot(void);

/// Into a new image.
yw_status yw_plot_draw(const yw_plot* plot, const yw_allocator* mem, yw_image* out,
                       yw_error* error);
/// By the ending: .png or .svg. Written under a temporary name and renamed.
yw_status yw_plot_write(const char* path, const yw_plot* plot, const yw_allocator* mem,
                        yw_error* error);

#define YW_MAX_TICKS 32
typedef struct yw_ticks {
  int32_t count;
  double values[YW_MAX_TICKS];
  char labels[YW_MAX_TICKS][24];  ///< empty: a minor tick without a label
} yw_ticks;
/// Round numbers between low and high, about `wanted` of them; powers of ten when log.
void yw_plot_ticks(double low, double high, bool log, int32_t wanted, yw_ticks* out);

#endif
