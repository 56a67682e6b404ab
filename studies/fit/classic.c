// SPDX-License-Identifier: MIT
// yawara fit, third mode: the Young's modulus that classic position-based settings correspond to,
// and the settings for a given modulus.
//
// Shape matching with alpha is symplectic Euler of springs with kappa = alpha / h^2 (constant over
// mass); k position-based sweeps of stiffness s are implicit Euler of springs with
// kappa = ((1 - s b)^-k - 1) / (b h^2) for the mode with eigenvalue b of M^-1 L, L being the
// springs for kappa = 1. Springs deform like a material without lateral contraction; the
// experiments show which modulus that is. See docs/methods/frames.md.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/fit.h"
#include "render/draw/plot.h"
#include "yawara/extend/error.h"

#define PI 3.14159265358979323846

typedef struct classic {
  const fit_options* options;
  fit_body body;
  fit_material material;
  bool by_sweeps;    // position-based; otherwise alpha
  double per_kappa;  // Pa per 1/s^2: modulus in tension (other bodies: for uniform strain)
  double poisson;
  double bending, torsion;  // Pa per 1/s^2: the modulus that these tests show, without contraction
  double mode;              // b of the first vibration
} classic;

// Springs of kappa = 1.
static yw_status measure_springs(classic* c, yw_error* error) {
  bool cells = c->body.model == ELASTIC_CELLS;
  elastic_system system;
  yw_status status =
      fit_system(&c->body, cells ? ELASTIC_CELL_SPRINGS : ELASTIC_RING_SPRINGS, &c->material, 1.0,
                 c->by_sweeps && !c->options->averaged, &system, error);
  if (status < 0) return status;
  c->bending = c->torsion = (double)NAN;
  if (c->body.is_bar) {
    bar_system solver = {.system = &system};
    bar_results got;
    status = bar_run(&c->body.bar, BAR_ALL_TESTS, bar_solve_system, &solver, &got, error);
    bar_system_free(&solver);
    const double* size = c->body.bar.size;
    beam unit = {size[0], size[1], size[2], 1.0, 0.0, c->material.density};
    c->per_kappa = got.youngs_modulus;
    // Anything this close to 0 is rounding of positions.
    c->poisson = fabs(got.poissons_ratio) < 1e-5 ? 0.0 : got.poissons_ratio;
    c->bending = got.bending / beam_bending(&unit);
    c->torsion = got.torsion / beam_torsion(&unit);
  } else {
    status = elastic_moduli(&system, fit_grid(&c->body), c->body.volume, &c->per_kappa, &c->poisson,
                            error);
  }
  double frequency = 0.0;
  bar_setup setup = {0};
  if (status >= 0) status = fit_cantilever(&c->body, &system, true, &setup, error);
  if (status >= 0 && strcmp(c->options->hold, "none") == 0) {
    memset(setup.fixed, 0, (size_t)setup.size * sizeof *setup.fixed);
  }
  if (status >= 0) status = elastic_modes(&system, setup.fixed, 1, &frequency, NULL, error);
  c->mode = frequency * frequency;
  bar_setup_free(&setup);
  elastic_free(&system);
  return status;
}

// kappa of the settings, for the first vibration.
static double kappa_of(const classic* c, double h) {
  if (!c->by_sweeps) return (double)c->options->alpha / (h * h);
  double b = c->mode, s = (double)c->options->stiffness;
  return (pow(1.0 - s * b, -c->options->sweeps) - 1.0) / (b * h * h);
}

// Settings ----------------------------------------------------------------------------------------

static yw_status plot_steps(const classic* c, yw_error* error) {
  enum { POINTS = 41 };
  double x[POINTS], y[POINTS], here_x = (double)c->options->dt, here_y;
  for (int i = 0; i < POINTS; ++i) {
    x[i] = here_x * pow(10.0, -1.0 + 2.0 * i / (POINTS - 1));
    y[i] = c->per_kappa * kappa_of(c, x[i]);
  }
  here_y = c->per_kappa * kappa_of(c, here_x);
  const yw_series series[] = {{"the same settings", POINTS, x, y, YW_SERIES_LINE, -1, false},
                              {"this step", 1, &here_x, &here_y, YW_SERIES_POINTS, -1, false}};
  yw_plot plot = yw_default_plot();
  plot.title = "Young's modulus that classic settings amount to";
  plot.x = (yw_axis){"time step", "s", true, (double)NAN, (double)NAN};
  plot.y = (yw_axis){"Young's modulus", "Pa", true, (double)NAN, (double)NAN};
  plot.num_series = 2;
  plot.series = series;
  return yw_plot_write(c->options->plot, &plot, error);
}

static void title_of(const classic* c, const char* how, char* out, size_t size) {
  snprintf(out, size, "%s (%s%s), time step %g s, %g kg/m^3", c->body.name,
           elastic_model_name(c->body.model), how, (double)c->options->dt, c->material.density);
}

static yw_status settings_to_modulus(const classic* c, yw_error* error) {
  double h = (double)c->options->dt, kappa = kappa_of(c, h), omega = sqrt(kappa * c->mode);
  // Symplectic Euler has no numerical damping; implicit Euler does.
  double seen = c->by_sweeps ? atan(h * omega) / h : acos(1.0 - 0.5 * pow(h * omega, 2)) / h;
  double damping = c->by_sweeps ? log(1.0 + pow(h * omega, 2)) / (2.0 * h) : 0.0;
  char title[400];
  bool in_turn = c->by_sweeps && !c->options->averaged;
  title_of(c, in_turn ? ", one after the other" : ", goals averaged", title, sizeof title);
  const fit_value values[] = {
      {"kappa", "springs: constant over mass, kappa", "1/s^2", kappa},
      {"youngs_modulus", "amounts to a Young's modulus of", "Pa", c->per_kappa * kappa},
      {"poissons_ratio", "  with a Poisson's ratio of", "", c->poisson},
      {"youngs_modulus_bending", "  in bending", "Pa", c->bending * kappa},
      {"youngs_modulus_torsion", "  in torsion", "Pa", c->torsion * kappa},
      {"first_frequency", "first vibration", "Hz", omega / (2.0 * PI)},
      {"first_frequency_seen", "  as these steps show it", "Hz", seen / (2.0 * PI)},
      {"damping", "  and damp it", "1/s", damping},
  };
  fit_print_values(title, sizeof values / sizeof values[0], values,
                   "Half the step is four times the modulus: classic stiffness is not a property "
                   "of the body.\n",
                   c->options->json);
  return c->options->plot ? plot_steps(c, error) : YW_OK;
}

static yw_status modulus_to_settings(classic* c, yw_error* error) {
  double h = (double)c->options->dt, per_averaged, per_turns, b_turns;
  // alpha applies to averaged goals, s to regions in sequence.
  c->by_sweeps = false;
  yw_status status = measure_springs(c, error);
  per_averaged = c->per_kappa;
  c->by_sweeps = true;
  if (status >= 0) status = measure_springs(c, error);
  per_turns = c->per_kappa, b_turns = c->mode;
  if (status < 0) return status;
  double alpha = c->material.youngs_modulus / per_averaged * h * h;
  double kappa = c->material.youngs_modulus / per_turns;
  double s = (1.0 - pow(1.0 + kappa * b_turns * h * h, -1.0 / c->options->sweeps)) / b_turns;
  char title[400], note[400];
  title_of(c, "", title, sizeof title);
  const fit_value values[] = {
      {"youngs_modulus", "wanted: Young's modulus", "Pa", c->material.youngs_modulus},
      {"alpha", "shape matching: alpha", "", alpha},
      {"alpha_step", "  is 1 at a time step of", "s", h / sqrt(alpha)},
      {"stiffness",
       c->options->averaged ? "position-based, goals averaged: stiffness s"
                            : "position-based, one region after the other: stiffness s",
       "", s},
      {"sweeps", "  with sweeps", "", c->options->sweeps},
  };
  bool stiff = alpha > 1.0 || s > 1.0;
  snprintf(note, sizeof note,
           "%sClassic settings have no Poisson's ratio: the body contracts by %.2g where it "
           "should by %.2g.\n",
           stiff ? "A value above 1 cannot be set: the step is too long for this modulus; shorten "
                   "it or use more sweeps.\n"
                 : "",
           c->poisson, c->material.poissons_ratio);
  fit_print_values(title, sizeof values / sizeof values[0], values, note, c->options->json);
  if (!c->options->plot) return YW_OK;
  return yw_fail(error, YW_ERR_INVALID,
                 "--plot needs settings to draw: give --alpha, or --stiffness, too");
}

static yw_status check_settings(const fit_options* o, yw_error* error) {
  if (isnan(o->dt)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "classic settings mean nothing without their time step: give --dt, e.g. --dt "
                   "0.0167");
  }
  if (!isnan(o->alpha) && !isnan(o->stiffness)) {
    return yw_fail(error, YW_ERR_INVALID, "give --alpha or --stiffness, not both");
  }
  return YW_OK;
}

yw_status fit_classic(const fit_options* options, yw_error* error) {
  classic c = {.options = options, .by_sweeps = !isnan(options->stiffness)};
  yw_status status = check_settings(options, error);
  if (status >= 0) status = fit_find_material(options, &c.material, error);
  bool wanted = isnan(options->alpha) && isnan(options->stiffness);
  if (status >= 0 && wanted && !c.material.has_youngs) {
    status =
        yw_fail(error, YW_ERR_INVALID,
                "--dt alone says nothing: give settings (--alpha, or --stiffness and --sweeps) "
                "or a modulus (--youngs-modulus or --material)");
  }
  if (status >= 0) status = fit_body_create(options, 1.0, &c.body, error);
  if (status >= 0 && wanted) {
    status = modulus_to_settings(&c, error);
  } else if (status >= 0) {
    status = measure_springs(&c, error);
    if (status >= 0) status = settings_to_modulus(&c, error);
  }
  fit_body_free(&c.body);
  return status;
}
