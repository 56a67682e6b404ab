// SPDX-License-Identifier: MIT
// What came out of a wedge: states on the terminal, values and measures in table.csv.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/wedge.h"
#include "render/draw/table.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/text_number.h"

#define MAX_MEASURES 32

// States ------------------------------------------------------------------------------------------

// "a=1 b=2": the swept values of a run.
static void print_values(const wedge* w, int32_t run) {
  const char* set[OPTION_LIST_MAX];
  int32_t count = wedge_overrides(w, run, set);
  for (int32_t i = w->def.set.count; i < count; ++i) printf(" %s", set[i]);
}

void wedge_print_status(const wedge* w, task_share share, bool quiet,
                        int32_t counts[WEDGE_NUM_STATES]) {
  int32_t total = 0;
  for (int k = 0; k < WEDGE_NUM_STATES; ++k) counts[k] = 0;
  if (!quiet) printf("%6s  %-7s  %13s  %9s  values\n", "run", "state", "frames", "seconds");
  for (int32_t run = share.first; run < w->num_runs; run += share.every) {
    wedge_status s = wedge_look(w, run);
    ++counts[s.state];
    ++total;
    if (quiet && s.state != WEDGE_FAILED) continue;
    char frames[32] = "", seconds[32] = "";
    if (s.begun) {
      snprintf(frames, sizeof frames, "%d of %d", s.frames_done, s.frames);
      snprintf(seconds, sizeof seconds, "%.2f", s.seconds);
    }
    printf("%6d  %-7s  %13s  %9s ", run + 1, wedge_state_name(s.state), frames, seconds);
    print_values(w, run);
    printf("%s%s\n", s.reason[0] ? ": " : "", s.reason);
  }
  printf("%d run%s: %d done, %d failed, %d running, %d waiting\n", total, total == 1 ? "" : "s",
         counts[WEDGE_DONE], counts[WEDGE_FAILED], counts[WEDGE_RUNNING], counts[WEDGE_WAITING]);
}

// table.csv ---------------------------------------------------------------------------------------

typedef struct measures {
  int32_t count;
  char* list;  ///< owns the names
  const char* names[MAX_MEASURES];
  char units[MAX_MEASURES][24];
  bool found[MAX_MEASURES];  ///< in the log of some run
} measures;

static int read_names(const char* columns, measures* out) {
  *out = (measures){.list = strdup(columns)};
  if (!out->list) return bad_input("not enough memory");
  char* rest = NULL;
  for (char* name = strtok_r(out->list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    if (out->count == MAX_MEASURES) {
      return bad_input("--columns names more than %d columns", MAX_MEASURES);
    }
    out->names[out->count++] = name + strspn(name, " ");
  }
  return -1;
}

static yw_status read_log(const wedge* w, int32_t run, const measures* m, yw_table* out,
                          yw_error* error) {
  char path[RUN_MAX_PATH + 16], folder[RUN_MAX_PATH];
  wedge_run_folder(w, run, folder);
  snprintf(path, sizeof path, "%s/log.csv", folder);
  return yw_table_read_columns(path, m->count, m->names, out, error);
}

// Finds the units of the columns. A column that no run has is a mistake, with a suggestion from the
// last run.
static int find_units(const wedge* w, measures* m) {
  yw_error error = {0};
  bool any = false;
  int32_t missing = m->count;
  for (int32_t run = 0; run < w->num_runs && missing > 0; ++run) {
    yw_table table = {0};
    if (wedge_look(w, run).state != WEDGE_DONE || read_log(w, run, m, &table, NULL) < 0) continue;
    any = true;
    for (int32_t k = 0; k < m->count; ++k) {
      const yw_column* column = m->found[k] ? NULL : yw_table_find(&table, m->names[k], &error);
      if (!column) continue;
      m->found[k] = true;
      --missing;
      snprintf(m->units[k], sizeof m->units[k], "%s", column->unit);
    }
    yw_table_free(&table);
  }
  if (missing == 0 || !any) return -1;
  return bad_input(
      "table.csv was not written: %s. The runs are kept: yawara wedge %s --columns ...",
      error.message, w->dir);
}

// A cell as RFC 4180 has it.
static void put_text(yw_file_writer* writer, const char* text) {
  if (!strpbrk(text, ",\"\r\n")) {
    yw_file_write(writer, text, strlen(text));
    return;
  }
  yw_file_write(writer, "\"", 1);
  for (; *text; ++text) yw_file_write(writer, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
  yw_file_write(writer, "\"", 1);
}

static void put_number(yw_file_writer* writer, double value) {
  yw_file_write(writer, ",", 1);
  if (isfinite(value)) yw_file_write_double(writer, value);
}

static void put_header(yw_file_writer* writer, const wedge* w, const measures* m) {
  static const char* const kinds[] = {"last", "lowest", "highest"};
  const char* set[OPTION_LIST_MAX];
  int32_t count = wedge_overrides(w, 0, set);
  yw_file_printf(writer, "run");
  for (int32_t i = w->def.set.count; i < count; ++i) {
    char path[WEDGE_TEXT];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(set[i], "="), set[i]);
    yw_file_write(writer, ",", 1);
    put_text(writer, path);
  }
  yw_file_printf(writer, ",state,frames,seconds (s),state hash");
  for (int32_t k = 0; k < m->count; ++k) {
    for (int i = 0; i < 3; ++i) {
      char title[256];
      snprintf(title, sizeof title, "%.160s %s%s%s%s", m->names[k], kinds[i],
               m->units[k][0] ? " (" : "", m->units[k], m->units[k][0] ? ")" : "");
      yw_file_write(writer, ",", 1);
      put_text(writer, title);
    }
  }
  yw_file_write(writer, "\n", 1);
}

// Last, lowest and highest value of a column; empty rows do not count.
static void put_measures(yw_file_writer* writer, const yw_table* table, const char* name) {
  const yw_column* column = yw_table_find(table, name, NULL);
  double last = NAN, low = NAN, high = NAN;
  for (int32_t i = 0; column && i < table->num_rows; ++i) {
    double value = column->values[i];
    if (isnan(value)) continue;
    last = value;
    low = fmin(low, value);
    high = fmax(high, value);
  }
  put_number(writer, last);
  put_number(writer, low);
  put_number(writer, high);
}

static void put_run(yw_file_writer* writer, const wedge* w, int32_t run, const measures* m) {
  const char* set[OPTION_LIST_MAX];
  int32_t count = wedge_overrides(w, run, set);
  wedge_status s = wedge_look(w, run);
  yw_file_printf(writer, "%d", run + 1);
  for (int32_t i = w->def.set.count; i < count; ++i) {
    yw_file_write(writer, ",", 1);
    put_text(writer, strchr(set[i], '=') + 1);
  }
  yw_file_printf(writer, ",%s,", wedge_state_name(s.state));
  if (s.begun) yw_file_printf(writer, "%d", s.frames_done);
  put_number(writer, s.begun ? s.seconds : NAN);
  yw_file_write(writer, ",", 1);
  if (s.begun) yw_file_printf(writer, "%016llx", (unsigned long long)s.state_hash);
  yw_table table = {0};
  if (s.state == WEDGE_DONE) read_log(w, run, m, &table, NULL);
  for (int32_t k = 0; k < m->count; ++k) put_measures(writer, &table, m->names[k]);
  yw_file_write(writer, "\n", 1);
  yw_table_free(&table);
}

int wedge_write_table(const wedge* w, const char* columns) {
  measures m;
  char path[RUN_MAX_PATH];
  yw_error error = {0};
  yw_file_writer writer;
  snprintf(path, sizeof path, "%s/table.csv", w->dir);
  int code = read_names(columns, &m);
  if (code < 0) code = find_units(w, &m);
  if (code < 0 && yw_file_writer_open(&writer, path, NULL, &error) < 0) {
    code = bad_input("%s", error.message);
  }
  if (code < 0) {
    put_header(&writer, w, &m);
    for (int32_t run = 0; run < w->num_runs; ++run) put_run(&writer, w, run, &m);
    if (yw_file_writer_commit(&writer, &error) < 0) code = bad_input("%s", error.message);
  }
  free(m.list);
  return code;
}
