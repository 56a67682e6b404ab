// SPDX-License-Identifier: MIT
// Hino, Ding, Mitake, Hasegawa, what they leave open: error against resolution of frames bodies
// with Young's modulus and Poisson's ratio, and the errors that remain with a single spring
// constant fitted to finite elements.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/paper.h"
#include "reference/elastic/bar.h"
#include "yawara/extend/error.h"

#define YOUNG 1e6
#define DENSITY 1000.0
#define CALCULIX_SECONDS 120.0

static const double bar_size[3] = {5, 1, 1};

static beam beam_of(double poisson) {
  return (beam){bar_size[0], bar_size[1], bar_size[2], YOUNG, poisson, DENSITY};
}

// Measuring ---------------------------------------------------------------------------------------

static yw_status make_bar(int32_t n, int32_t order, elastic_bar* out, yw_error* error) {
  const int32_t cells[3] = {5 * n, n, n};
  return elastic_bar_create(bar_size, cells, order, out, error);
}

// kappa is for springs.
static yw_status measure(elastic_model model, int32_t n, double poisson, double kappa,
                         bar_results* out, yw_error* error) {
  elastic_bar bar;
  elastic_system system = {0};
  yw_status status = make_bar(n, 1, &bar, error);
  if (status < 0) return status;
  elastic_def def = {.model = model,
                     .mesh = &bar.mesh,
                     .cells = bar.cell_nodes,
                     .num_cells = bar.num_cells,
                     .youngs_modulus = YOUNG,
                     .poissons_ratio = poisson,
                     .density = DENSITY,
                     .kappa = kappa};
  status = elastic_create(&def, &system, error);
  bar_system solver = {.system = &system};
  if (status >= 0) status = bar_run(&bar, BAR_ALL_TESTS, bar_solve_system, &solver, out, error);
  bar_system_free(&solver);
  elastic_free(&system);
  elastic_bar_free(&bar);
  return status;
}

// Quadratic tets of CalculiX.
static yw_status measure_reference(int32_t n, double poisson, bar_results* out, yw_error* error) {
  elastic_bar bar;
  yw_status status = make_bar(n, 2, &bar, error);
  if (status < 0) return status;
  bar_calculix solver = {&bar.grid, {YOUNG, poisson, DENSITY}, CALCULIX_SECONDS};
  status = bar_run(&bar, BAR_ALL_TESTS, bar_solve_calculix, &solver, out, error);
  elastic_bar_free(&bar);
  return status;
}

static bar_results errors_against_theory(const bar_results* got, double poisson) {
  beam b = beam_of(poisson);
  bar_results expected = bar_theory(&b);
  return bar_errors(got, &expected);
}

// Error against resolution ------------------------------------------------------------------------

enum { RINGS, CELLS, TETS, QUADRATIC, NUM_MODELS };
static const char* const model_names[NUM_MODELS] = {"rings", "cells", "linear tets",
                                                    "quadratic (CalculiX)"};
#define NUM_RATIOS 3
static const double ratios[NUM_RATIOS] = {0.0, 0.3, 0.45};
#define NUM_SIZES 5
static const int32_t sizes[NUM_SIZES] = {2, 4, 6, 8, 12};
// Quadratic tets have converged at this resolution.
#define FINEST_QUADRATIC 6
#define QUICK_FINEST 4
#define LEAST_SHOWN 0.05  // %, in plots

typedef struct resolution_table {
  int32_t num_sizes;
  bool has_calculix;
  bar_results errors[NUM_MODELS][NUM_RATIOS][NUM_SIZES];
} resolution_table;

static yw_status fill_table(resolution_table* t, yw_error* error) {
  for (int m = 0; m < NUM_MODELS; ++m) {
    for (int r = 0; r < NUM_RATIOS; ++r) {
      for (int s = 0; s < t->num_sizes; ++s) {
        double none = (double)NAN;
        bar_results got = {none, none, none, none, none};
        yw_status status = YW_OK;
        if (m != QUADRATIC) {
          static const elastic_model models[] = {ELASTIC_RINGS, ELASTIC_CELLS, ELASTIC_TETS};
          status = measure(models[m], sizes[s], ratios[r], 0.0, &got, error);
        } else if (t->has_calculix && sizes[s] <= FINEST_QUADRATIC) {
          status = measure_reference(sizes[s], ratios[r], &got, error);
        }
        if (status < 0) return status;
        t->errors[m][r][s] = errors_against_theory(&got, ratios[r]);
      }
    }
  }
  return YW_OK;
}

typedef struct quantity {
  const char* name;
  size_t offset;
} quantity;
static const quantity quantities[] = {
    {"bending", offsetof(bar_results, bending)},
    {"cantilever", offsetof(bar_results, cantilever)},
    {"torsion", offsetof(bar_results, torsion)},
};
enum { NUM_QUANTITIES = sizeof quantities / sizeof quantities[0] };

static double value_of(const bar_results* results, const quantity* q) {
  double value;
  memcpy(&value, (const char*)results + q->offset, sizeof value);
  return value;
}

static void print_table(const resolution_table* t) {
  for (int q = 0; q < NUM_QUANTITIES; ++q) {
    printf("\n%s: error of stiffness, %%\n%-28s", quantities[q].name, "cells across");
    for (int s = 0; s < t->num_sizes; ++s) printf(" %8d", sizes[s]);
    printf("\n");
    for (int r = 0; r < NUM_RATIOS; ++r) {
      for (int m = 0; m < NUM_MODELS - !t->has_calculix; ++m) {
        printf("nu %-4g %-21.21s", ratios[r], model_names[m]);
        for (int s = 0; s < t->num_sizes; ++s) {
          double error = 100.0 * value_of(&t->errors[m][r][s], &quantities[q]);
          if (isfinite(error)) {
            printf(" %+8.2f", error);
          } else {
            printf(" %8s", "");
          }
        }
        printf("\n");
      }
    }
  }
}

static yw_status plot_quantity(const paper_options* options, const resolution_table* t,
                               const quantity* q, yw_error* error) {
  double x[NUM_SIZES], y[NUM_MODELS][2][NUM_SIZES];
  yw_series series[2 * NUM_MODELS];
  char names[NUM_MODELS][40];
  int32_t count = 0;
  for (int s = 0; s < t->num_sizes; ++s) x[s] = sizes[s];
  for (int m = 0; m < NUM_MODELS - !t->has_calculix; ++m) {
    for (int r = 1; r < NUM_RATIOS; ++r) {
      bool seen = false;
      for (int s = 0; s < t->num_sizes; ++s) {
        double percent = 100.0 * fabs(value_of(&t->errors[m][r][s], q));
        y[m][r - 1][s] = percent < LEAST_SHOWN ? (double)NAN : percent;
        seen = seen || percent >= LEAST_SHOWN;
      }
      if (!seen) continue;
      snprintf(names[m], sizeof names[m], "%s, \u03bd = 0.45", model_names[m]);
      series[count++] = (yw_series){r == 1 ? model_names[m] : names[m],
                                    t->num_sizes,
                                    x,
                                    y[m][r - 1],
                                    r == 1 ? YW_SERIES_LINE_POINTS : YW_SERIES_DASHED,
                                    m,
                                    r != 1};
    }
  }
  char title[100];
  snprintf(title, sizeof title, "Error of stiffness in %s (\u03bd = 0.3; dashed 0.45)", q->name);
  yw_plot plot = yw_default_plot();
  plot.title = title;
  plot.x = (yw_axis){"cells across", NULL, false, (double)NAN, (double)NAN};
  plot.y = (yw_axis){"error", "%", true, (double)NAN, (double)NAN};
  plot.num_series = count;
  plot.series = series;
  return paper_write_plot(options, q->name, &plot, error);
}

yw_status paper_hino_resolution(const paper_options* options, yw_error* error) {
  static resolution_table table;
  table = (resolution_table){.has_calculix = calculix_available()};
  for (int s = 0; s < NUM_SIZES; ++s) {
    if (!options->quick || sizes[s] <= QUICK_FINEST) ++table.num_sizes;
  }
  if (!table.has_calculix) {
    printf("ccx is not installed (Debian package calculix-ccx): no independent reference\n");
  }
  yw_status status = fill_table(&table, error);
  if (status < 0) return status;
  printf("\nbar of 5 x 1 x 1, roller root, against Timoshenko's beam and Saint-Venant's torsion\n");
  print_table(&table);
  for (int q = 0; q < NUM_QUANTITIES && status >= 0; ++q) {
    status = plot_quantity(options, &table, &quantities[q], error);
  }
  return status;
}

// One spring constant -----------------------------------------------------------------------------

#define LIMIT_SIZE 8
#define LIMIT_QUICK_SIZE 4
#define LIMIT_REFERENCE 4
#define NUM_LIMITS 6
static const double limit_ratios[NUM_LIMITS] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.45};

// What remains with one constant: errors divided by those of finite elements.
typedef struct leftover {
  double tension, bending, torsion, contraction;
} leftover;

static leftover leftover_of(const bar_results* springs, double kappa, const bar_results* fem) {
  return (leftover){kappa * springs->youngs_modulus / fem->youngs_modulus - 1.0,
                    kappa * springs->bending / fem->bending - 1.0,
                    kappa * springs->torsion / fem->torsion - 1.0,
                    springs->poissons_ratio / fem->poissons_ratio - 1.0};
}

// kappa that minimises the squares of all relative errors of stiffness.
static double best_kappa(const bar_results* s, const bar_results* fem) {
  const double ratio[4] = {s->youngs_modulus / fem->youngs_modulus, s->bending / fem->bending,
                           fem->cantilever / s->cantilever, s->torsion / fem->torsion};
  double sum = 0.0, squares = 0.0;
  for (int k = 0; k < 4; ++k) sum += ratio[k], squares += ratio[k] * ratio[k];
  return sum / squares;
}

typedef struct limit_table {
  leftover tension[NUM_LIMITS], all[NUM_LIMITS], frames[NUM_LIMITS];
} limit_table;

static yw_status fill_limits(const paper_options* options, limit_table* t, yw_error* error) {
  int32_t n = options->quick ? LIMIT_QUICK_SIZE : LIMIT_SIZE;
  bar_results springs;
  yw_status status = measure(ELASTIC_CELL_SPRINGS, n, 0.0, 1.0, &springs, error);
  for (int r = 0; r < NUM_LIMITS && status >= 0; ++r) {
    double nu = limit_ratios[r];
    beam b = beam_of(nu);
    bar_results fem = bar_theory(&b), own;
    if (calculix_available()) status = measure_reference(LIMIT_REFERENCE, nu, &fem, error);
    if (status >= 0) status = measure(ELASTIC_CELLS, n, nu, 0.0, &own, error);
    if (status < 0) return status;
    t->tension[r] = leftover_of(&springs, fem.youngs_modulus / springs.youngs_modulus, &fem);
    t->all[r] = leftover_of(&springs, best_kappa(&springs, &fem), &fem);
    t->frames[r] = leftover_of(&own, 1.0, &fem);
  }
  return status;
}

static void print_limits(const limit_table* t) {
  printf("\n%-8s %28s   %28s   %28s\n", "", "springs, fitted in tension", "springs, fitted to all",
         "frames with E and nu");
  printf("%-8s", "nu");
  for (int k = 0; k < 3; ++k) printf(" %9s %9s %9s ", "bending", "torsion", "sides");
  printf("\n");
  for (int r = 0; r < NUM_LIMITS; ++r) {
    const leftover* rows[3] = {&t->tension[r], &t->all[r], &t->frames[r]};
    printf("%-8g", limit_ratios[r]);
    for (int k = 0; k < 3; ++k) {
      printf(" %+9.1f %+9.1f", 100.0 * rows[k]->bending, 100.0 * rows[k]->torsion);
      if (limit_ratios[r] > 0.0) {
        printf(" %+9.1f ", 100.0 * rows[k]->contraction);
      } else {
        printf(" %9s ", "-");
      }
    }
    printf("\n");
  }
  printf("errors in %% against %s; sides: lateral contraction in tension\n",
         calculix_available() ? "quadratic tets of CalculiX" : "theory");
}

static yw_status plot_limits(const paper_options* options, const limit_table* t, yw_error* error) {
  double y[5][NUM_LIMITS];
  for (int r = 0; r < NUM_LIMITS; ++r) {
    bool contracts = limit_ratios[r] > 0.0;
    y[0][r] = 100.0 * fabs(t->tension[r].torsion);
    y[1][r] = 100.0 * fabs(t->all[r].torsion);
    y[2][r] = contracts ? 100.0 * fabs(t->all[r].contraction) : (double)NAN;
    y[3][r] = 100.0 * fabs(t->frames[r].torsion);
    y[4][r] = contracts ? 100.0 * fabs(t->frames[r].contraction) : (double)NAN;
  }
  static const char* const names[] = {
      "springs fitted in tension: torsion", "springs fitted to all: torsion",
      "springs: lateral contraction", "frames: torsion", "frames: lateral contraction"};
  yw_series series[5];
  for (int k = 0; k < 5; ++k) {
    series[k] = (yw_series){
        names[k], NUM_LIMITS, limit_ratios, y[k], k < 3 ? YW_SERIES_LINE_POINTS : YW_SERIES_DASHED,
        k,        false};
  }
  yw_plot plot = yw_default_plot();
  plot.title = "What one spring constant leaves";
  plot.x.label = "Poisson's ratio";
  plot.y = (yw_axis){"error", "%", false, 0.0, (double)NAN};
  plot.num_series = 5;
  plot.series = series;
  return paper_write_plot(options, "limit", &plot, error);
}

yw_status paper_hino_limit(const paper_options* options, yw_error* error) {
  limit_table table;
  yw_status status = fill_limits(options, &table, error);
  if (status < 0) return status;
  print_limits(&table);
  return plot_limits(options, &table, error);
}
