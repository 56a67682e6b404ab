// SPDX-License-Identifier: MIT
// Charts with axes, ticks and a legend, as SVG, PNG and CSV.
#ifndef YW_APP_RENDER_DRAW_PLOT_H
#define YW_APP_RENDER_DRAW_PLOT_H

#include "render/draw/svg.h"

typedef enum yw_series_style {
  YW_SERIES_LINE,
  YW_SERIES_DASHED,
  YW_SERIES_POINTS,
  YW_SERIES_LINE_POINTS
} yw_series_style;

typedef struct yw_series {
  const char* name;  ///< in the legend and the CSV file; NULL: the label of the y axis
  int32_t count;
  const double* x;
  const double* y;  ///< NaN interrupts the line; so does a value <= 0 on a logarithmic axis
  yw_series_style style;
  int32_t color;  ///< index in the palette; -1: the next one
  bool unlisted;  ///< not in the legend
} yw_series;

typedef struct yw_axis {
  const char* label;  ///< name of the quantity, or NULL
  const char* unit;   ///< shown in brackets, also in the CSV file; NULL: none
  bool log;
  double low, high;  ///< NaN: from the data
} yw_axis;

typedef struct yw_plot {
  const char* title;  ///< or NULL
  yw_axis x, y;
  int32_t num_series;
  const yw_series* series;
  int32_t width, height;  ///< user units; a PNG has twice as many pixels
} yw_plot;
/// 800 x 500, axes from the data.
yw_plot yw_default_plot(void);

/// Draws the plot as a closed document; free it.
yw_status yw_plot_draw(const yw_plot* plot, yw_svg* out, yw_error* error);
/// Writes the data: one column of x for all series that share it, then theirs. Shorter columns end
/// in empty cells. Every number reads back exactly.
yw_status yw_plot_write_csv(const char* path, const yw_plot* plot, yw_error* error);
/// NAME.svg writes NAME.csv too, and NAME.png all three. Files are written atomically.
yw_status yw_plot_write(const char* path, const yw_plot* plot, yw_error* error);

#define YW_MAX_TICKS 48
typedef struct yw_ticks {
  int32_t count;
  double values[YW_MAX_TICKS];
  char labels[YW_MAX_TICKS][40];  ///< UTF-8; empty: a minor tick
} yw_ticks;
/// Round numbers between low and high, at most `wanted` + 1 with labels. Logarithmic axes have
/// powers of ten, and numbers between them if there is space.
void yw_plot_ticks(double low, double high, bool log, int32_t wanted, yw_ticks* out);

#endif
