// SPDX-License-Identifier: MIT
// Tables and JSON of yawara fit.
#include <math.h>
#include <stdio.h>

#include "fit/fit.h"

static double error_of(const fit_row* row) {
  double got = row->values[0], wanted = row->values[1];
  return row->is_ratio ? got - wanted : got / wanted - 1.0;
}

// A number, or null if it is NaN.
static void put_json(double value) {
  if (isfinite(value)) {
    printf("%.9g", value);
  } else {
    printf("null");
  }
}

// Escapes quotes, backslashes and control characters of a file name.
static void put_text(const char* text) {
  putchar('"');
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    if ((unsigned char)*text >= ' ') putchar(*text);
  }
  putchar('"');
}

static void print_json_table(const fit_table* table) {
  printf("{\"body\": ");
  put_text(table->title);
  printf(", \"rows\": [\n");
  for (int32_t r = 0; r < table->num_rows; ++r) {
    const fit_row* row = &table->rows[r];
    printf("  {\"key\": \"%s\", \"unit\": \"%s\"", row->key, row->unit);
    for (int32_t c = 0; c < table->num_columns; ++c) {
      printf(", \"%s\": ", table->columns[c]);
      put_json(row->values[c]);
    }
    printf(", \"error\": ");
    put_json(error_of(row));
    printf("}%s\n", r + 1 < table->num_rows ? "," : "");
  }
  printf("]}\n");
}

void fit_print_table(const fit_table* table, bool json) {
  if (json) {
    print_json_table(table);
    return;
  }
  printf("%s\n\n%-32s %-7s", table->title, "", "");
  for (int32_t c = 0; c < table->num_columns; ++c) printf(" %12s", table->columns[c]);
  printf(" %12s\n", "error");
  for (int32_t r = 0; r < table->num_rows; ++r) {
    const fit_row* row = &table->rows[r];
    printf("%-32s %-7s", row->name, row->unit);
    for (int32_t c = 0; c < table->num_columns; ++c) {
      if (isfinite(row->values[c])) {
        printf(" %12.6g", row->values[c]);
      } else {
        printf(" %12s", "-");
      }
    }
    double error = error_of(row);
    if (row->is_ratio && isfinite(error)) printf(" %+12.4f", error);
    if (!row->is_ratio && isfinite(error)) printf(" %+10.2f %%", 100.0 * error);
    printf("\n");
  }
  if (table->note) printf("\n%s", table->note);
}

void fit_print_values(const char* title, int32_t count, const fit_value* values, const char* note,
                      bool json) {
  if (json) {
    printf("{\"body\": ");
    put_text(title);
    for (int32_t i = 0; i < count; ++i) {
      printf(",\n \"%s\": ", values[i].key);
      put_json(values[i].value);
    }
    printf("}\n");
    return;
  }
  printf("%s\n\n", title);
  for (int32_t i = 0; i < count; ++i) {
    if (!isfinite(values[i].value)) continue;
    printf("%-52s %12.6g %s\n", values[i].name, values[i].value, values[i].unit);
  }
  if (note) printf("\n%s", note);
}
