// SPDX-License-Identifier: MIT
// yawara fit, second mode: Young's modulus from a measurement.
//
// Displacements scale as load / E and frequencies as sqrt(E), so one solve with any E is enough.
// The error of the mesh is estimated from a second mesh: half as fine for boxes (errors fall as
// h^2), linear tets for others (which are too stiff where rings are slightly soft). Large
// deflections are not proportional to the load: their effect is found with the equilibrium solver
// on a coarse mesh.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/fit.h"
#include "methods/frames/static.h"
#include "reference/elastic/beam.h"
#include "render/draw/plot.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/frames.h"

#define PI 3.14159265358979323846
// Deflections beyond this fraction of the length are solved with large rotations.
#define SMALL_DEFLECTION 0.02
#define GRAVITY 9.80665
// Relative uncertainty of the effect of large rotations on the coarse mesh: measured 4 % with 2
// cells across against 4, for a tip deflection of 0.4 of the length.
#define ROTATION_DOUBT 0.05
#define MAX_SECANTS 12
#define FACTOR_TOLERANCE 2e-4

typedef struct measurement {
  const fit_options* options;
  fit_material material;  // with a modulus of 1 Pa, for the solve
  bool by_frequency, by_weight;
  double load;  // N, or m/s^2
} measurement;

// The modulus -------------------------------------------------------------------------------------

// The modulus, Pa, with which a body of this model responds as measured, in the linear range.
static yw_status modulus_of(const measurement* m, const fit_body* body, elastic_model model,
                            double* out, yw_error* error) {
  elastic_system system;
  yw_status status = fit_system(body, model, &m->material, 0, false, &system, error);
  if (status < 0) return status;
  bar_setup setup = {0};
  status = fit_cantilever(body, &system, m->by_weight, &setup, error);
  if (status >= 0 && strcmp(m->options->hold, "none") == 0) {
    memset(setup.fixed, 0, (size_t)setup.size * sizeof *setup.fixed);
  }
  if (status >= 0 && m->by_frequency) {
    double frequency;
    status = elastic_modes(&system, setup.fixed, 1, &frequency, NULL, error);
    if (status >= 0) *out = pow(2.0 * PI * (double)m->options->frequency / frequency, 2);
  } else if (status >= 0) {
    bar_system solver = {.system = &system};
    status = bar_solve_system(&solver, &setup, error);
    bar_system_free(&solver);
    if (status >= 0) *out = fabs(fit_tip(body, &setup)) * m->load / (double)m->options->deflection;
  }
  bar_setup_free(&setup);
  elastic_free(&system);
  return status;
}

// Large deflections -------------------------------------------------------------------------------

typedef struct large {
  const measurement* m;
  const fit_body* body;
  frames_regions regions;
  bar_setup setup;
  double *rest, *x, *forces;
} large;

static void large_free(large* l) {
  yw_frames_regions_free(&l->regions);
  bar_setup_free(&l->setup);
  yw_mem_free(NULL, l->rest);
  yw_mem_free(NULL, l->x);
  yw_mem_free(NULL, l->forces);
}

static yw_status large_create(const measurement* m, const fit_body* body, large* out,
                              yw_error* error) {
  *out = (large){.m = m, .body = body};
  yw_frames_def def = yw_default_frames_def();
  def.mesh = fit_mesh(body);
  def.kind = body->model == ELASTIC_CELLS ? YW_FRAMES_CELLS : YW_FRAMES_RINGS;
  def.cells = body->bar.cell_nodes;
  def.num_cells = body->bar.num_cells;
  def.youngs_modulus = 1.0f;
  def.poissons_ratio = (float)m->material.poissons_ratio;
  def.density = (float)m->material.density;
  yw_status status = yw_frames_regions_create(NULL, &def, 0.0, &out->regions, error);
  elastic_system masses = {.num_nodes = def.mesh->num_vertices, .mass = out->regions.mass};
  if (status >= 0) status = fit_cantilever(body, &masses, m->by_weight, &out->setup, error);
  if (status < 0) return status;
  size_t size = (size_t)out->setup.size;
  out->rest = YW_NEW_ARRAY(NULL, double, size);
  out->x = YW_NEW_ARRAY(NULL, double, size);
  out->forces = YW_NEW_ARRAY(NULL, double, size);
  if (!out->rest || !out->x || !out->forces) return yw_fail_memory(error, "a measurement");
  for (size_t i = 0; i < size; ++i) out->rest[i] = fit_grid(body)->nodes[i / 3][i % 3];
  memcpy(out->x, out->rest, size * sizeof *out->x);
  return YW_OK;
}

// Deflection under the load for a given modulus, starting from the last equilibrium.
static yw_status large_deflection(large* l, double modulus, double* out, yw_error* error) {
  size_t size = (size_t)l->setup.size;
  for (size_t i = 0; i < size; ++i) l->forces[i] = l->setup.forces[i] * l->m->load / modulus;
  frames_load load = {.fixed = l->setup.fixed, .forces = l->forces, .tolerance = 1e-5};
  yw_status status = yw_frames_static(&l->regions, &load, l->x, NULL, NULL, error);
  for (size_t i = 0; i < size; ++i) l->setup.displacements[i] = l->x[i] - l->rest[i];
  *out = fabs(fit_tip(l->body, &l->setup));
  return status;
}

// Ratio of the moduli with and without large rotations: 1 for small deflections, less for large.
static yw_status rotation_factor(const measurement* m, const fit_body* body, double linear,
                                 double* out, yw_error* error) {
  *out = 1.0;
  double wanted = (double)m->options->deflection;
  if (m->by_frequency || wanted < SMALL_DEFLECTION * fit_length(body)) return YW_OK;
  large l;
  yw_status status = large_create(m, body, &l, error);
  // Secant steps in logarithms, from the stiff side: a body that is far too soft would curl up.
  double before = 0.0, from = 0.0, at = 0.0, got = 0.0;
  for (int round = 0; round < MAX_SECANTS && status >= 0; ++round) {
    status = large_deflection(&l, linear * exp(at), &got, error);
    double miss = log(got / wanted);
    *out = exp(at);
    if (fabs(miss) < FACTOR_TOLERANCE) break;
    double slope = round > 0 && at != from ? (miss - before) / (at - from) : -1.0;
    double step = -miss / (slope < -0.2 ? slope : -0.2);
    before = miss, from = at;
    at += fmax(-0.7, fmin(0.7, step));
  }
  large_free(&l);
  if (status >= 0 && fabs(got / wanted - 1.0) > 0.02) {
    return yw_fail(error, YW_ERR_INVALID,
                   "no modulus makes the tip give way by %g m: that is %.2f of the length", wanted,
                   wanted / fit_length(body));
  }
  return status;
}

// The result --------------------------------------------------------------------------------------

static yw_status plot_answer(const measurement* m, double modulus, double spread, yw_error* error) {
  enum { POINTS = 60 };
  double x[POINTS], y[POINTS];
  double measured = (double)(m->by_frequency ? m->options->frequency : m->options->deflection);
  for (int i = 0; i < POINTS; ++i) {
    double ratio = pow(10.0, -1.0 + 2.0 * i / (POINTS - 1));
    x[i] = modulus * ratio;
    y[i] = measured * (m->by_frequency ? sqrt(ratio) : 1.0 / ratio);
  }
  double at[3] = {modulus - spread, modulus, modulus + spread},
         level[3] = {measured, measured, measured};
  const yw_series series[] = {{"body", POINTS, x, y, YW_SERIES_LINE, -1, false},
                              {"measured", 1, at + 1, level, YW_SERIES_POINTS, -1, false},
                              {"uncertainty of the mesh", 3, at, level, YW_SERIES_LINE, 1, false}};
  yw_plot plot = yw_default_plot();
  plot.title = m->by_frequency ? "Frequency against Young's modulus"
                               : "Deflection (small) against Young's modulus";
  plot.x = (yw_axis){"Young's modulus", "Pa", true, (double)NAN, (double)NAN};
  plot.y = (yw_axis){m->by_frequency ? "frequency" : "deflection", m->by_frequency ? "Hz" : "m",
                     true, (double)NAN, (double)NAN};
  plot.num_series = 3;
  plot.series = series;
  return yw_plot_write(m->options->plot, &plot, error);
}

static double beam_modulus(const measurement* m, const fit_body* body) {
  if (!body->is_bar) return (double)NAN;
  const double* size = body->bar.size;
  bool clamped = strcmp(m->options->hold, "end") == 0;
  beam b = {size[0], size[1], size[2], 1.0, m->material.poissons_ratio, m->material.density};
  if (m->by_frequency) {
    beam turned = beam_turned(&b);
    double lowest =
        fmin(beam_bending_frequency(&b, 1, clamped), beam_bending_frequency(&turned, 1, clamped));
    return pow(2.0 * PI * (double)m->options->frequency / lowest, 2);
  }
  return (m->by_weight ? beam_droop(&b) : beam_cantilever(&b)) * m->load /
         (double)m->options->deflection;
}

// A second modulus that differs by the error of the mesh, and the uncertainty of the first.
static yw_status second_opinion(const measurement* m, const fit_body* body, double modulus,
                                double* best, double* spread, yw_error* error) {
  double other;
  if (!body->is_bar) {
    yw_status status = modulus_of(m, body, ELASTIC_TETS, &other, error);
    // Rings are slightly soft and linear tets too stiff: the truth is between, closer to rings.
    *best = modulus;
    *spread = fabs(modulus - other);
    return status;
  }
  fit_body coarse;
  yw_status status = fit_body_create(m->options, 0.5, &coarse, error);
  if (status >= 0) status = modulus_of(m, &coarse, coarse.model, &other, error);
  if (status >= 0) {
    double n = body->bar.cells[0], k = coarse.bar.cells[0];
    *best = modulus + (modulus - other) / (pow(n / k, 2) - 1.0);
    *spread = fabs(*best - modulus);
  }
  fit_body_free(&coarse);
  return status;
}

static void print_answer(const measurement* m, const fit_body* body, double modulus, double best,
                         double spread, double factor) {
  char title[400];
  snprintf(title, sizeof title, "%s (%s), %s; nu %g, %g kg/m^3", body->name,
           elastic_model_name(body->model),
           strcmp(m->options->hold, "end") == 0 ? "clamped at one end" : "free",
           m->material.poissons_ratio, m->material.density);
  const fit_value values[] = {
      {"measured_frequency", "measured: first frequency", "Hz",
       m->by_frequency ? (double)m->options->frequency : (double)NAN},
      {"measured_deflection", "measured: deflection of the tip", "m",
       (double)m->options->deflection},
      {"force", "under a force of", "N", m->by_frequency || m->by_weight ? (double)NAN : m->load},
      {"gravity", "under its own weight at", "m/s^2", m->by_weight ? m->load : (double)NAN},
      {"youngs_modulus", "Young's modulus of the material", "Pa", factor * best},
      {"uncertainty", "  uncertain, because of the mesh, by", "Pa", factor * spread},
      {"relative_uncertainty", "  that is", "%", 100.0 * spread / best},
      {"youngs_modulus_of_mesh", "value with which this mesh answers as measured", "Pa",
       factor * modulus},
      {"youngs_modulus_of_beam", "beam theory (small deflections)", "Pa", beam_modulus(m, body)},
      {"large_rotation_factor", "part of large rotations", "",
       factor == 1.0 ? (double)NAN : factor},
  };
  fit_print_values(title, sizeof values / sizeof values[0], values, NULL, m->options->json);
}

static yw_status check_measurement(const measurement* m, yw_error* error) {
  const fit_options* o = m->options;
  if (m->by_frequency && !isnan(o->deflection)) {
    return yw_fail(error, YW_ERR_INVALID, "give --deflection or --frequency, not both");
  }
  if (!m->by_frequency && strcmp(o->hold, "none") == 0) {
    return yw_fail(error, YW_ERR_INVALID,
                   "a deflection needs supports, but --hold is \"none\": a body that nothing holds "
                   "flies away; use --hold end, or measure a --frequency");
  }
  if (!m->by_frequency && !isnan(o->force) && !isnan(o->gravity)) {
    return yw_fail(error, YW_ERR_INVALID, "give --force or --gravity, not both");
  }
  return YW_OK;
}

yw_status fit_measure(const fit_options* options, yw_error* error) {
  measurement m = {.options = options, .by_frequency = !isnan(options->frequency)};
  m.by_weight = !m.by_frequency && isnan(options->force);
  m.load = !m.by_weight ? (double)options->force
                        : (isnan(options->gravity) ? GRAVITY : (double)options->gravity);
  yw_status status = check_measurement(&m, error);
  if (status >= 0) status = fit_find_material(options, &m.material, error);
  m.material.youngs_modulus = 1.0;
  fit_body body = {0}, coarse = {0};
  double modulus = 0, best = 0, spread = 0, factor = 1;
  if (status >= 0) status = fit_body_create(options, 1.0, &body, error);
  if (status >= 0) status = modulus_of(&m, &body, body.model, &modulus, error);
  if (status >= 0) status = second_opinion(&m, &body, modulus, &best, &spread, error);
  double refine = body.is_bar && body.bar.cells[1] >= 8 && body.bar.cells[2] >= 8 ? 0.25 : 0.5;
  if (status >= 0 && body.is_bar) status = fit_body_create(options, refine, &coarse, error);
  if (status >= 0) {
    const fit_body* bent = body.is_bar ? &coarse : &body;
    double linear = modulus;
    if (body.is_bar) status = modulus_of(&m, bent, bent->model, &linear, error);
    if (status >= 0) status = rotation_factor(&m, bent, linear, &factor, error);
  }
  spread += ROTATION_DOUBT * fabs(1.0 - factor) * best;
  if (status >= 0) print_answer(&m, &body, modulus, best, spread, factor);
  if (status >= 0 && options->plot) {
    status = plot_answer(&m, factor * best, factor * spread, error);
  }
  fit_body_free(&body);
  fit_body_free(&coarse);
  return status;
}
