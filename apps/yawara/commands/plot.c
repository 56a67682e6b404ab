// SPDX-License-Identifier: MIT
// yawara plot: charts of a run's statistics over time.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "console/options.h"
#include "render/draw/table.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/text.h"

/// Readers cannot tell more lines apart.
#define MAX_LINES 12
#define MAX_FILE_NAME 1200

typedef struct plot_options {
  const char* run;
  const char* output;
  const char* columns;
  const char* over;
  bool list, log_scale;
} plot_options;

static int parse(int argc, char** argv, plot_options* out) {
  const option options[] = {
      {"output", 'o', OPTION_TEXT, &out->output, "PATH",
       "a file (.svg or .png) with --columns, else a folder (default: RUN/plots)", 0, 0},
      {"columns", 'c', OPTION_TEXT, &out->columns, "LIST",
       "one chart of these columns (comma separated) instead of the usual ones", 0, 0},
      {"over", 0, OPTION_TEXT, &out->over, "COLUMN", "along the horizontal axis (default: time)", 0,
       0},
      {"log", 0, OPTION_FLAG, &out->log_scale, NULL, "a logarithmic vertical axis", 0, 0},
      {"list", 'l', OPTION_FLAG, &out->list, NULL, "list the columns", 0, 0},
  };
  const command self = {.name = "plot",
                        .summary = "charts of a run's numbers: energies, forces, weights, times",
                        .usage = "plot RUN [--columns LIST] [-o PATH]",
                        .examples =
                            "  yawara plot out/teddy\n"
                            "  yawara plot out/teddy --list\n"
                            "  yawara plot out/teddy -c \"all kinetic energy\" -o energy.svg\n",
                        .options = options,
                        .num_options = sizeof options / sizeof options[0],
                        .min_arguments = 1,
                        .max_arguments = 1};
  *out = (plot_options){.over = "time"};
  int32_t count;
  return parse_options(&self, argc, argv, &out->run, &count);
}

static yw_status draw(const yw_table* table, const plot_options* o, const char* title,
                      int32_t count, const char* const* names, const char* path, yw_error* error) {
  yw_series series[MAX_LINES];
  yw_plot plot = yw_default_plot();
  yw_status status = yw_table_plot(table, o->over, count, names, series, &plot, error);
  if (status < 0) return status;
  plot.title = title;
  plot.y.log = o->log_scale;
  return yw_plot_write(path, &plot, error);
}

// Charts that every run has -----------------------------------------------------------------------

typedef struct usual_chart {
  const char* file;
  const char* title;
  const char* parts[3];  ///< columns whose names contain one of these
  const char* owner;     ///< and start with this; NULL: any
} usual_chart;

static const usual_chart usual_charts[] = {
    {"energy", "Energy of all bodies", {"energy"}, "all "},
    {"kinetic_energy", "Kinetic energy", {" kinetic energy"}, NULL},
    {"elastic_energy", "Elastic energy", {" elastic energy"}, NULL},
    {"momentum", "Momentum of all bodies", {" momentum"}, "all "},
    {"forces", "Force of obstacles and pins, upwards", {"obstacle force y", "pin force y"}, NULL},
    {"height", "Height of the centres of mass", {" y (m)"}, NULL},
    {"weights", "Weights of examples", {"weight"}, NULL},
    {"times", "Computing time per frame", {"step", "advance", "contact"}, ""},
    {"contacts", "Contacts in the last substep", {"body contacts", "obstacle contacts"}, ""},
    {"iterations", "Iterations", {"iterations", "newton steps"}, NULL},
    {"counts", "Counts", {" tets", " masters", " slaves"}, NULL},
};
enum { NUM_USUAL_CHARTS = sizeof usual_charts / sizeof usual_charts[0] };

static bool has_numbers(const yw_table* table, const yw_column* column) {
  for (int32_t i = 0; i < table->num_rows; ++i) {
    if (column->values[i] != 0.0 && column->values[i] == column->values[i]) return true;
  }
  return false;
}

static bool is_in(const usual_chart* chart, const yw_column* column) {
  char title[sizeof column->name + sizeof column->unit + 4];
  snprintf(title, sizeof title, "%s (%s)", column->name, column->unit);
  if (chart->owner && chart->owner[0] && strncmp(title, chart->owner, strlen(chart->owner)) != 0) {
    return false;
  }
  for (int i = 0; i < 3 && chart->parts[i]; ++i) {
    const char* found = strstr(title, chart->parts[i]);
    // With an empty owner, the title must start with the part.
    if (found && (!chart->owner || chart->owner[0] || found == title)) return true;
  }
  return false;
}

// Columns of a chart that contain numbers and have the first one's unit.
static int32_t choose(const yw_table* table, const usual_chart* chart,
                      const char* names[MAX_LINES]) {
  int32_t count = 0;
  const char* unit = NULL;
  for (int32_t i = 0; i < table->num_columns && count < MAX_LINES; ++i) {
    const yw_column* column = &table->columns[i];
    if (!is_in(chart, column) || !has_numbers(table, column)) continue;
    if (unit && strcmp(unit, column->unit) != 0) continue;
    unit = column->unit;
    names[count++] = column->name;
  }
  return count;
}

static int draw_usual(const yw_table* table, const plot_options* o) {
  char folder[MAX_FILE_NAME], path[MAX_FILE_NAME + 64];
  yw_error error = {0};
  snprintf(folder, sizeof folder, "%s%s", o->output ? o->output : o->run,
           o->output ? "" : "/plots");
  if (yw_make_folders(folder, &error) < 0) return bad_input("%s", error.message);
  for (int i = 0; i < NUM_USUAL_CHARTS; ++i) {
    const char* names[MAX_LINES];
    int32_t count = choose(table, &usual_charts[i], names);
    if (count == 0) continue;
    snprintf(path, sizeof path, "%s/%s.svg", folder, usual_charts[i].file);
    if (draw(table, o, usual_charts[i].title, count, names, path, &error) < 0) {
      return bad_input("%s", error.message);
    }
    printf("%s\n", path);
  }
  return EXIT_DONE;
}

// Requested columns -------------------------------------------------------------------------------

static int draw_columns(const yw_table* table, const plot_options* o) {
  char* list = strdup(o->columns);
  if (!list) return bad_input("not enough memory");
  const char* names[MAX_LINES];
  int32_t count = 0;
  bool too_many = false;
  char* rest = NULL;
  for (char* name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    name += strspn(name, " ");
    too_many = too_many || count == MAX_LINES;
    if (count < MAX_LINES) names[count++] = name;
  }
  char path[MAX_FILE_NAME];
  snprintf(path, sizeof path, "%s%s", o->output ? o->output : o->run, o->output ? "" : "/plot.svg");
  yw_error error = {0};
  int code = EXIT_DONE;
  if (count == 0 || too_many) {
    code = bad_input("--columns names %s columns; one to %d can be drawn",
                     count ? "too many" : "no", MAX_LINES);
  } else if (!yw_ends_with(path, ".svg") && !yw_ends_with(path, ".png")) {
    code = bad_input("--output is \"%s\", but must end in .svg or .png", path);
  } else if (draw(table, o, NULL, count, names, path, &error) < 0) {
    code = bad_input("%s", error.message);
  } else {
    printf("%s\n", path);
  }
  free(list);
  return code;
}

static int list_columns(const yw_table* table) {
  for (int32_t i = 0; i < table->num_columns; ++i) {
    const yw_column* column = &table->columns[i];
    printf("%s%s%s%s\n", column->name, column->unit[0] ? " (" : "", column->unit,
           column->unit[0] ? ")" : "");
  }
  return EXIT_DONE;
}

int cmd_plot(int argc, char** argv) {
  plot_options o;
  int code = parse(argc, argv, &o);
  if (code >= 0) return code;
  char path[MAX_FILE_NAME];
  struct stat info;
  bool folder = stat(o.run, &info) == 0 && S_ISDIR(info.st_mode);
  snprintf(path, sizeof path, "%s%s", o.run, folder ? "/log.csv" : "");
  yw_table table = {0};
  yw_error error = {0};
  if (yw_table_read(path, NULL, &table, &error) < 0) {
    return bad_input("%s%s", error.message,
                     folder ? " (is this the folder of a run? yawara run makes one)" : "");
  }
  code = o.list      ? list_columns(&table)
         : o.columns ? draw_columns(&table, &o)
                     : draw_usual(&table, &o);
  yw_table_free(&table);
  return code;
}
