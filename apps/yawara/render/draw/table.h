// SPDX-License-Identifier: MIT
// Tables of numbers in CSV files, and plots of their columns.
#ifndef YW_APP_RENDER_DRAW_TABLE_H
#define YW_APP_RENDER_DRAW_TABLE_H

#include "render/draw/plot.h"

typedef struct yw_column {
  char name[80];
  char unit[24];   ///< from brackets at the end of the header: "time (s)"; "" for none
  double* values;  ///< NaN if a cell is empty or not a number
} yw_column;

typedef struct yw_table {
  yw_allocator mem;
  int32_t num_columns, num_rows;
  yw_column* columns;
} yw_table;

/// Reads a CSV file (RFC 4180) with names in the first line. mem may be NULL (malloc).
yw_status yw_table_read(const char* path, const yw_allocator* mem, yw_table* out, yw_error* error);
/// The same; only columns with these names get their values, the others have NULL.
yw_status yw_table_read_columns(const char* path, int32_t count, const char* const* names,
                                yw_table* out, yw_error* error);
/// Safe on a zeroed struct.
void yw_table_free(yw_table* table);
/// The column with this name, or NULL with an error that suggests another.
const yw_column* yw_table_find(const yw_table* table, const char* name, yw_error* error);

/// Sets the series and labels of a plot: columns `names` (which must share a unit) over column `x`
/// (NULL: the first). series has space for `count`; both refer to the table.
yw_status yw_table_plot(const yw_table* table, const char* x, int32_t count,
                        const char* const* names, yw_series* series, yw_plot* plot,
                        yw_error* error);

#endif
