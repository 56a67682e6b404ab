// SPDX-License-Identifier: MIT
#include "render/draw/table.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text.h"
#include "yawara/extend/text_number.h"

#define CELL 128  // maximum bytes of a cell; the rest is cut off
#define MAX_COLUMNS 4096

// Writing -----------------------------------------------------------------------------------------

// A column of the file: x of the series, or y.
typedef struct out_column {
  const yw_series* series;
  bool is_x;
} out_column;

static bool same_x(const yw_series* a, const yw_series* b) {
  return a->count == b->count &&
         (a->x == b->x || memcmp(a->x, b->x, (size_t)a->count * sizeof *a->x) == 0);
}

// x of every set of series that share it, then their y. Returns the number of columns.
static int32_t list_columns(const yw_plot* plot, out_column* out, int32_t* num_x) {
  int32_t count = 0;
  *num_x = 0;
  for (int32_t i = 0; i < plot->num_series; ++i) {
    const yw_series* first = &plot->series[i];
    bool seen = false;
    for (int32_t k = 0; k < i; ++k) seen = seen || same_x(&plot->series[k], first);
    if (seen) continue;
    out[count++] = (out_column){first, true};
    ++*num_x;
    for (int32_t k = i; k < plot->num_series; ++k) {
      if (same_x(&plot->series[k], first)) out[count++] = (out_column){&plot->series[k], false};
    }
  }
  return count;
}

static void write_header(yw_file_writer* file, const yw_plot* plot, const out_column* column,
                         bool x_has_owner) {
  const yw_axis* axis = column->is_x ? &plot->x : &plot->y;
  const char *label = axis->label ? axis->label : column->is_x ? "x" : "y", *owner = "";
  if (column->series->name && !column->is_x) label = column->series->name;
  if (column->series->name && column->is_x && x_has_owner) owner = column->series->name;
  char text[3 * CELL];
  snprintf(text, sizeof text, "%s%s%s%s%s%s", label, owner[0] ? " of " : "", owner,
           axis->unit ? " (" : "", axis->unit ? axis->unit : "", axis->unit ? ")" : "");
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) yw_file_write(file, "\"", 1);
  for (const char* s = text; *s; ++s) {
    yw_file_write(file, s, 1);
    if (*s == '"') yw_file_write(file, s, 1);
  }
  if (quoted) yw_file_write(file, "\"", 1);
}

yw_status yw_plot_write_csv(const char* path, const yw_plot* plot, yw_error* error) {
  out_column* columns = YW_NEW_ARRAY(NULL, out_column, 2 * (size_t)plot->num_series + 1);
  if (!columns) return yw_fail_memory(error, "a table");
  int32_t num_x, count = list_columns(plot, columns, &num_x), rows = 0;
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  for (int32_t i = 0; i < count && status >= 0; ++i) {
    if (i > 0) yw_file_write(&file, ",", 1);
    write_header(&file, plot, &columns[i], num_x > 1);
    if (columns[i].series->count > rows) rows = columns[i].series->count;
  }
  for (int32_t row = 0; row < rows && status >= 0; ++row) {
    for (int32_t i = 0; i < count; ++i) {
      const yw_series* s = columns[i].series;
      yw_file_write(&file, i > 0 ? "," : "\n", 1);
      if (row < s->count) yw_file_write_double(&file, columns[i].is_x ? s->x[row] : s->y[row]);
    }
  }
  if (status >= 0) yw_file_write(&file, "\n", 1);
  if (status >= 0) status = yw_file_writer_commit(&file, error);
  yw_mem_free(NULL, columns);
  return status;
}

// Reading -----------------------------------------------------------------------------------------

typedef struct reader {
  const char *at, *end;
  int32_t line;
} reader;

// Skips empty lines and comments; false at the end of the file.
static bool next_line(reader* r) {
  while (r->at < r->end && (*r->at == '\n' || *r->at == '\r' || *r->at == '#')) {
    while (r->at < r->end && *r->at != '\n') ++r->at;
    if (r->at < r->end) ++r->at;
    ++r->line;
  }
  return r->at < r->end;
}

// Reads a cell and its delimiter; returns true if another cell follows in the line.
static bool read_cell(reader* r, char out[CELL]) {
  size_t length = 0;
  bool quoted = false;
  for (; r->at < r->end; ++r->at) {
    if (*r->at == '"') {
      // Two quotes in a row inside quotes stand for one.
      bool is_double = quoted && r->at + 1 < r->end && r->at[1] == '"';
      if (!is_double) quoted = !quoted;
      if (!is_double) continue;
      ++r->at;
    } else if (!quoted && (*r->at == ',' || *r->at == '\n')) {
      break;
    }
    if (*r->at == '\n') ++r->line;
    if (*r->at != '\r' && length + 1 < CELL) out[length++] = *r->at;
  }
  out[length] = '\0';
  bool more = r->at < r->end && *r->at == ',';
  if (r->at < r->end && *r->at == '\n') ++r->line;
  if (r->at < r->end) ++r->at;
  return more;
}

// "time (s)" is a name and a unit.
static void split_unit(const char* header, yw_column* out) {
  size_t length = strlen(header);
  const char* bracket = strrchr(header, '(');
  bool has_unit = bracket && bracket > header && header[length - 1] == ')';
  size_t name = has_unit ? (size_t)(bracket - header) : length;
  while (name > 0 && header[name - 1] == ' ') --name;
  snprintf(out->name, sizeof out->name, "%.*s", (int)name, header);
  if (has_unit) {
    snprintf(out->unit, sizeof out->unit, "%.*s", (int)(header + length - 2 - bracket),
             bracket + 1);
  }
}

static double number_of(const char* cell, const char* end) {
  while (cell < end && *cell == ' ') ++cell;
  while (end > cell && end[-1] == ' ') --end;
  double value;
  return yw_parse_double(cell, end, &value) == end && end > cell ? value : (double)NAN;
}

// Reads a cell as read_cell does; NAN if it is no number. out NULL: skips it.
static bool read_number(reader* r, double* out) {
  static const bool ends_here[256] = {['\n'] = true, ['\r'] = true, ['"'] = true, [','] = true};
  const char* end = r->at;
  while (end < r->end && !ends_here[(unsigned char)*end]) ++end;
  bool is_plain = end == r->end || *end == ',' || *end == '\n';
  if (!is_plain || end - r->at >= CELL) {
    char cell[CELL];
    bool more = read_cell(r, cell);
    if (out) *out = number_of(cell, cell + strlen(cell));
    return more;
  }
  if (out) *out = number_of(r->at, end);
  bool more = end < r->end && *end == ',';
  if (end < r->end && *end == '\n') ++r->line;
  r->at = end < r->end ? end + 1 : end;
  return more;
}

static yw_status read_rows(const char* path, reader* r, yw_table* out, yw_error* error) {
  for (; next_line(r); ++out->num_rows) {
    int32_t count = 0, line = r->line;
    for (bool more = true; more; ++count) {
      double* values = count < out->num_columns ? out->columns[count].values : NULL;
      more = read_number(r, values ? values + out->num_rows : NULL);
    }
    if (count == out->num_columns) continue;
    return yw_fail(error, YW_ERR_FORMAT, "%s:%d: %d cells, but the header has %d", path, line,
                   count, out->num_columns);
  }
  return YW_OK;
}

static bool is_wanted(const char* name, int32_t count, const char* const* names) {
  bool found = !names;
  for (int32_t i = 0; i < count; ++i) found = found || strcmp(name, names[i]) == 0;
  return found;
}

// names NULL: all columns.
static yw_status read_table(const char* path, const yw_file_data* data, int32_t num_names,
                            const char* const* names, yw_table* out, yw_error* error) {
  reader r = {data->bytes, data->bytes + data->size, 1};
  if (!next_line(&r)) return yw_fail(error, YW_ERR_FORMAT, "%s: no header", path);
  reader header = r;
  char cell[CELL];
  int32_t count = 1;
  size_t lines = 1;
  while (read_cell(&r, cell)) ++count;
  for (const char* s = r.at; s < r.end; ++s) lines += *s == '\n';
  if (count > MAX_COLUMNS || lines > INT32_MAX) {
    return yw_fail(error, YW_ERR_LIMIT, "%s: %d columns, but at most %d can be read", path, count,
                   MAX_COLUMNS);
  }
  out->columns = YW_NEW_ARRAY(&out->mem, yw_column, count);
  if (!out->columns) return yw_fail_memory(error, "a table");
  for (out->num_columns = 0; out->num_columns < count; ++out->num_columns) {
    yw_column* column = &out->columns[out->num_columns];
    read_cell(&header, cell);
    split_unit(cell, column);
    if (!is_wanted(column->name, num_names, names)) continue;
    column->values = YW_NEW_ARRAY(&out->mem, double, lines);
    if (!column->values) return yw_fail_memory(error, "a table");
  }
  return read_rows(path, &r, out, error);
}

static yw_status read_file(const char* path, const yw_allocator* mem, int32_t num_names,
                           const char* const* names, yw_table* out, yw_error* error) {
  *out = (yw_table){.mem = yw_mem_or_default(mem)};
  yw_file_data data;
  yw_status status = yw_file_read_all(path, 0, mem, &data, error);
  if (status < 0) return status;
  status = read_table(path, &data, num_names, names, out, error);
  yw_file_data_free(&data);
  if (status < 0) yw_table_free(out);
  return status;
}

yw_status yw_table_read(const char* path, const yw_allocator* mem, yw_table* out, yw_error* error) {
  return read_file(path, mem, 0, NULL, out, error);
}

yw_status yw_table_read_columns(const char* path, int32_t count, const char* const* names,
                                yw_table* out, yw_error* error) {
  return read_file(path, NULL, count, names, out, error);
}

void yw_table_free(yw_table* table) {
  for (int32_t i = 0; i < table->num_columns; ++i) {
    yw_mem_free(&table->mem, table->columns[i].values);
  }
  yw_mem_free(&table->mem, table->columns);
  *table = (yw_table){0};
}

const yw_column* yw_table_find(const yw_table* table, const char* name, yw_error* error) {
  const char* names[MAX_COLUMNS];
  for (int32_t i = 0; i < table->num_columns; ++i) {
    if (strcmp(table->columns[i].name, name) == 0) return &table->columns[i];
    names[i] = table->columns[i].name;
  }
  yw_hint hint = yw_suggest(name, table->num_columns, names);
  yw_fail(error, YW_ERR_INVALID, "there is no column \"%s\"%s", name, hint.text);
  return NULL;
}

yw_status yw_table_plot(const yw_table* table, const char* x, int32_t count,
                        const char* const* names, yw_series* series, yw_plot* plot,
                        yw_error* error) {
  const yw_column* across = x ? yw_table_find(table, x, error) : &table->columns[0];
  const yw_column* first = NULL;
  for (int32_t i = 0; i < count && across; ++i) {
    const yw_column* column = yw_table_find(table, names[i], error);
    if (!column) return YW_ERR_INVALID;
    if (!first) first = column;
    if (strcmp(column->unit, first->unit) != 0) {
      return yw_fail(error, YW_ERR_INVALID,
                     "\"%s\" (%s) and \"%s\" (%s) have different units and cannot share an axis",
                     first->name, first->unit, column->name, column->unit);
    }
    series[i] =
        (yw_series){column->name, table->num_rows, across->values, column->values, YW_SERIES_LINE,
                    -1,           count == 1};
  }
  if (!across) return YW_ERR_INVALID;
  plot->x.label = across->name;
  plot->x.unit = across->unit[0] ? across->unit : NULL;
  plot->y.label = count == 1 ? first->name : NULL;
  plot->y.unit = first && first->unit[0] ? first->unit : NULL;
  plot->num_series = count;
  plot->series = series;
  return YW_OK;
}
