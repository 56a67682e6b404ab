// SPDX-License-Identifier: MIT
// yawara fit, first mode: the behaviour of a body for its given material, compared with theory.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/fit.h"
#include "render/draw/plot.h"
#include "yawara/extend/error.h"

#define NUM_MODES 6
#define BAR_ROWS 5  // for a bar, before its frequencies
#define MAX_ROWS (BAR_ROWS + NUM_MODES)
#define CALCULIX_SECONDS 120
#define PI 3.14159265358979323846

enum { MODEL, THEORY, TETS, CALCULIX };

typedef struct report {
  const fit_options* options;
  fit_material material;
  fit_body body;
  fit_row rows[MAX_ROWS];
  int32_t num_rows;
  bar_mode modes[NUM_MODES];  // of a bar, in the order of its rows
} report;

static beam beam_of(const fit_body* body, const fit_material* m) {
  const double* size = body->bar.size;
  return (beam){size[0], size[1], size[2], m->youngs_modulus, m->poissons_ratio, m->density};
}

static fit_row* add_row(report* r, const char* key, const char* name, const char* unit) {
  fit_row* row = &r->rows[r->num_rows++];
  *row = (fit_row){.unit = unit};
  snprintf(row->key, sizeof row->key, "%s", key);
  snprintf(row->name, sizeof row->name, "%s", name);
  for (int c = 0; c < FIT_MAX_COLUMNS; ++c) row->values[c] = (double)NAN;
  return row;
}

// CalculiX ----------------------------------------------------------------------------------------

// Frequencies of the body with quadratic tets, clamped at x = 0 or free.
static yw_status calculix_modes(const bar_calculix* solver, bool clamped, double* frequencies,
                                yw_error* error) {
  const elastic_grid* grid = solver->grid;
  bar_setup setup;
  yw_status status = bar_setup_create(grid->num_nodes, &setup, error);
  if (status < 0) return status;
  for (int32_t i = 0; i < setup.size; ++i) {
    setup.fixed[i] = clamped && elastic_is_at(grid, grid->nodes[i / 3][0], 0);
  }
  // Without supports, the six rigid motions come first.
  double all[NUM_MODES + 6];
  int32_t rigid = clamped ? 0 : 6;
  calculix_model model = {
      .grid = grid, .num_materials = 1, .materials = &solver->material, .fixed = setup.fixed};
  status = calculix_frequencies(&model, NUM_MODES + rigid, solver->seconds, all, error);
  for (int m = 0; m < NUM_MODES && status >= 0; ++m) frequencies[m] = all[rigid + m];
  bar_setup_free(&setup);
  return status;
}

static yw_status run_calculix(const report* r, bar_results* results, double* frequencies,
                              bool clamped, yw_error* error) {
  elastic_grid grid;
  yw_status status = elastic_grid_create(fit_mesh(&r->body), 2, &grid, error);
  if (status < 0) return status;
  const fit_material* m = &r->material;
  bar_calculix solver = {
      &grid, {m->youngs_modulus, m->poissons_ratio, m->density}, CALCULIX_SECONDS};
  if (r->body.is_bar) {
    elastic_bar bar = r->body.bar;
    bar.grid = grid;
    status = bar_run(&bar, BAR_ALL_TESTS, bar_solve_calculix, &solver, results, error);
  }
  if (status >= 0) status = calculix_modes(&solver, clamped, frequencies, error);
  elastic_grid_free(&grid);
  return status;
}

// Rows --------------------------------------------------------------------------------------------

static void fill(report* r, int column, const bar_results* b) {
  const double values[BAR_ROWS] = {b->youngs_modulus, b->poissons_ratio, b->bending, b->cantilever,
                                   b->torsion};
  for (int k = 0; k < BAR_ROWS; ++k) r->rows[k].values[column] = values[k];
}

static void add_bar_rows(report* r) {
  add_row(r, "youngs_modulus", "Young's modulus, in tension", "Pa");
  add_row(r, "poissons_ratio", "Poisson's ratio, in tension", "")->is_ratio = true;
  add_row(r, "bending_stiffness", "bending stiffness EI", "N m^2");
  add_row(r, "cantilever", "deflection of the tip per force", "m/N");
  add_row(r, "torsion_stiffness", "torsion stiffness GJ", "N m^2");
}

// Other models may have their vibrations in a different order.
static void match_modes(report* r, int column, const bar_mode* modes) {
  for (int m = 0; m < NUM_MODES; ++m) {
    for (int k = 0; k < NUM_MODES; ++k) {
      if (modes[k].motion != r->modes[m].motion || modes[k].number != r->modes[m].number) continue;
      r->rows[BAR_ROWS + m].values[column] = modes[k].frequency / (2.0 * PI);
    }
  }
}

// CalculiX does not identify modes: each row takes the remaining one closest to theory.
static void match_frequencies(report* r, double* frequencies) {
  for (int m = 0; m < NUM_MODES; ++m) {
    int nearest = 0;
    for (int k = 1; k < NUM_MODES; ++k) {
      if (fabs(frequencies[k] - r->modes[m].theory) <
          fabs(frequencies[nearest] - r->modes[m].theory)) {
        nearest = k;
      }
    }
    r->rows[BAR_ROWS + m].values[CALCULIX] = frequencies[nearest] / (2.0 * PI);
    frequencies[nearest] = INFINITY;
  }
}

// The column of one model, for a bar.
static yw_status measure_bar(report* r, elastic_model model, int column, bool clamped,
                             yw_error* error) {
  elastic_system system;
  yw_status status = fit_system(&r->body, model, &r->material, 0, false, &system, error);
  if (status < 0) return status;
  bar_system solver = {.system = &system};
  bar_results results;
  bar_mode modes[NUM_MODES];
  beam theory = beam_of(&r->body, &r->material);
  status = bar_run(&r->body.bar, BAR_ALL_TESTS, bar_solve_system, &solver, &results, error);
  bar_system_free(&solver);
  if (status >= 0) {
    status = bar_modes(&r->body.bar, &system, &theory, clamped, NUM_MODES, modes, error);
  }
  elastic_free(&system);
  if (status < 0) return status;
  fill(r, column, &results);
  if (column != MODEL) {
    match_modes(r, column, modes);
    return YW_OK;
  }
  memcpy(r->modes, modes, sizeof modes);
  for (int m = 0; m < NUM_MODES; ++m) {
    char name[48], key[40];
    snprintf(name, sizeof name, "%s %d%s", bar_motion_name(modes[m].motion), modes[m].number,
             clamped ? ", clamped" : ", free");
    snprintf(key, sizeof key, "frequency_%d", m + 1);
    fit_row* row = add_row(r, key, name, "Hz");
    row->values[MODEL] = modes[m].frequency / (2.0 * PI);
    row->values[THEORY] = modes[m].theory / (2.0 * PI);
  }
  return YW_OK;
}

static yw_status measure_other(report* r, elastic_model model, int column, yw_error* error) {
  elastic_system system;
  yw_status status = fit_system(&r->body, model, &r->material, 0, false, &system, error);
  if (status < 0) return status;
  double youngs, poisson, frequencies[NUM_MODES];
  bar_setup free_body = {0};
  status = bar_setup_create(system.num_nodes, &free_body, error);
  if (status >= 0) {
    status = elastic_moduli(&system, fit_grid(&r->body), r->body.volume, &youngs, &poisson, error);
  }
  if (status >= 0) {
    status = elastic_modes(&system, free_body.fixed, NUM_MODES, frequencies, NULL, error);
  }
  bar_setup_free(&free_body);
  elastic_free(&system);
  if (status < 0) return status;
  r->rows[0].values[column] = youngs;
  r->rows[1].values[column] = poisson;
  for (int m = 0; m < NUM_MODES; ++m) r->rows[2 + m].values[column] = frequencies[m] / (2.0 * PI);
  return YW_OK;
}

// Plots -------------------------------------------------------------------------------------------

#define MAX_POINTS 4

// Errors of a bar with fewer and fewer cells.
static yw_status plot_bar(const report* r, yw_error* error) {
  static const char* const names[] = {"bending", "cantilever", "torsion"};
  double x[MAX_POINTS], y[3][MAX_POINTS];
  int32_t count = 0;
  int32_t finest =
      r->body.bar.cells[1] < r->body.bar.cells[2] ? r->body.bar.cells[1] : r->body.bar.cells[2];
  int32_t first = 1;
  while (first < 8 && 2 * first * 2 <= finest) first *= 2;
  for (int32_t divide = first; divide >= 1; divide /= 2, ++count) {
    fit_body body;
    elastic_system system;
    bar_results got;
    yw_status status = fit_body_create(r->options, 1.0 / divide, &body, error);
    if (status < 0) return status;
    status = fit_system(&body, body.model, &r->material, 0, false, &system, error);
    if (status >= 0) {
      bar_system solver = {.system = &system};
      beam theory = beam_of(&body, &r->material);
      bar_results expected = bar_theory(&theory);
      status = bar_run(&body.bar, BAR_ALL_TESTS, bar_solve_system, &solver, &got, error);
      bar_system_free(&solver);
      elastic_free(&system);
      got = bar_errors(&got, &expected);
    }
    x[count] = body.bar.cells[1] < body.bar.cells[2] ? body.bar.cells[1] : body.bar.cells[2];
    fit_body_free(&body);
    if (status < 0) return status;
    y[0][count] = 100.0 * fabs(got.bending);
    y[1][count] = 100.0 * fabs(got.cantilever);
    y[2][count] = 100.0 * fabs(got.torsion);
  }
  yw_series series[3];
  for (int k = 0; k < 3; ++k) {
    series[k] = (yw_series){names[k], count, x, y[k], YW_SERIES_LINE_POINTS, -1, false};
  }
  yw_plot plot = yw_default_plot();
  plot.title = "Error of stiffness against theory";
  plot.x = (yw_axis){"cells across", NULL, false, (double)NAN, (double)NAN};
  plot.y = (yw_axis){"error", "%", true, (double)NAN, (double)NAN};
  plot.num_series = 3;
  plot.series = series;
  return yw_plot_write(r->options->plot, &plot, error);
}

static yw_status plot_other(const report* r, bool has_calculix, yw_error* error) {
  static const char* const names[] = {"model", "linear tets", "quadratic tets"};
  static const int columns[] = {MODEL, TETS, CALCULIX};
  double x[NUM_MODES], y[3][NUM_MODES];
  yw_series series[3];
  for (int k = 0; k < 3; ++k) {
    for (int m = 0; m < NUM_MODES; ++m) {
      x[m] = m + 1;
      y[k][m] = r->rows[2 + m].values[columns[k]];
    }
    series[k] = (yw_series){names[k], NUM_MODES, x, y[k], YW_SERIES_LINE_POINTS, -1, false};
  }
  yw_plot plot = yw_default_plot();
  plot.title = "Frequencies of the free body";
  plot.x.label = "vibration";
  plot.y.label = "frequency";
  plot.y.unit = "Hz";
  plot.num_series = has_calculix ? 3 : 2;
  plot.series = series;
  return yw_plot_write(r->options->plot, &plot, error);
}

// The report --------------------------------------------------------------------------------------

static yw_status report_bar(report* r, bool clamped, yw_error* error) {
  add_bar_rows(r);
  beam theory = beam_of(&r->body, &r->material);
  bar_results expected = bar_theory(&theory);
  fill(r, THEORY, &expected);
  yw_status status = measure_bar(r, r->body.model, MODEL, clamped, error);
  if (status >= 0) status = measure_bar(r, ELASTIC_TETS, TETS, clamped, error);
  if (status >= 0 && r->options->calculix) {
    bar_results results;
    double frequencies[NUM_MODES];
    status = run_calculix(r, &results, frequencies, clamped, error);
    if (status < 0) return status;
    fill(r, CALCULIX, &results);
    match_frequencies(r, frequencies);
  }
  return status;
}

static yw_status report_other(report* r, yw_error* error) {
  add_row(r, "youngs_modulus", "Young's modulus", "Pa");
  add_row(r, "poissons_ratio", "Poisson's ratio", "")->is_ratio = true;
  for (int m = 0; m < NUM_MODES; ++m) {
    char name[48], key[40];
    snprintf(name, sizeof name, "vibration %d, free", m + 1);
    snprintf(key, sizeof key, "frequency_%d", m + 1);
    add_row(r, key, name, "Hz");
  }
  r->rows[0].values[THEORY] = r->material.youngs_modulus;
  r->rows[1].values[THEORY] = r->material.poissons_ratio;
  yw_status status = measure_other(r, r->body.model, MODEL, error);
  if (status >= 0) status = measure_other(r, ELASTIC_TETS, TETS, error);
  if (status >= 0 && r->options->calculix) {
    double frequencies[NUM_MODES];
    status = run_calculix(r, NULL, frequencies, false, error);
    for (int m = 0; m < NUM_MODES && status >= 0; ++m) {
      r->rows[2 + m].values[CALCULIX] = frequencies[m] / (2.0 * PI);
    }
  }
  return status;
}

// Ratio of the longest to the shortest edge of a cell.
static double aspect_of(const elastic_bar* bar) {
  double low = INFINITY, high = 0.0;
  for (int k = 0; k < 3; ++k) {
    double edge = bar->size[k] / bar->cells[k];
    low = fmin(low, edge), high = fmax(high, edge);
  }
  return high / low;
}

yw_status fit_report(const fit_options* options, yw_error* error) {
  report r = {.options = options};
  bool clamped = strcmp(options->hold, "end") == 0;
  yw_status status = fit_find_material(options, &r.material, error);
  if (status >= 0) status = fit_body_create(options, 1.0, &r.body, error);
  if (status < 0) return status;
  status = r.body.is_bar ? report_bar(&r, clamped, error) : report_other(&r, error);
  if (status >= 0) {
    char title[400];
    snprintf(title, sizeof title, "%s (%s); E %g Pa, nu %g, %g kg/m^3", r.body.name,
             elastic_model_name(r.body.model), r.material.youngs_modulus, r.material.poissons_ratio,
             r.material.density);
    fit_table table = {.title = title,
                       .num_columns = options->calculix ? 4 : 3,
                       .columns = {"model", "theory", "linear tets", "quadratic"},
                       .num_rows = r.num_rows,
                       .rows = r.rows};
    bool stretched = r.body.is_bar && aspect_of(&r.body.bar) > 2.0;
    table.note = stretched
                     ? "theory: Timoshenko's beam, Saint-Venant's torsion. linear tets: finite "
                       "elements on the same mesh.\n"
                       "These cells are far from cubes, which rings do not like at all, and "
                       "cells only in torsion.\n"
                 : r.body.is_bar
                     ? "theory: Timoshenko's beam, Saint-Venant's torsion. linear tets: finite "
                       "elements on the same mesh.\n"
                     : "linear tets: finite elements on the same mesh, always too stiff; a body of "
                       "this form has no theory.\n";
    fit_print_table(&table, options->json);
  }
  if (status >= 0 && options->plot) {
    status = r.body.is_bar ? plot_bar(&r, error) : plot_other(&r, options->calculix, error);
  }
  fit_body_free(&r.body);
  return status;
}
