// SPDX-License-Identifier: MIT
// yawara fit: relates materials and measurements to the behaviour of a frames body.
#ifndef YW_STUDIES_FIT_FIT_H
#define YW_STUDIES_FIT_FIT_H

#include "reference/elastic/bar.h"
#include "yawara/yawara.h"

/// Options of the command. Numbers that were not given are NaN.
typedef struct fit_options {
  const char* file;      ///< tet mesh or scene; NULL: a box
  const char* box;       ///< "length x depth x width", m
  const char* kind;      ///< "rings" or "cells"
  const char* hold;      ///< "end" or "none"
  const char* material;  ///< by name, or NULL
  const char* plot;      ///< file, or NULL
  const char* cells;     ///< of a box: "8" across, or "40x8x8"
  int32_t body;          ///< of a scene
  int32_t sweeps;
  float youngs_modulus, poissons_ratio, density;
  float deflection, force, gravity, frequency;  ///< measured: m, N, m/s^2, Hz
  float alpha, stiffness, dt;                   ///< position-based
  bool averaged, calculix, json;
} fit_options;

typedef struct fit_material {
  double youngs_modulus, poissons_ratio, density;
  bool has_youngs;  ///< given, not the default
} fit_material;

/// The body to measure on. Boxes have a bar; other bodies only a mesh.
typedef struct fit_body {
  bool is_bar;
  elastic_model model;  ///< rings or cells
  elastic_bar bar;
  yw_tet_mesh mesh;   ///< of bodies other than boxes
  elastic_grid grid;  ///< of bodies other than boxes
  double volume;      ///< m^3
  int axis, across;   ///< of the body's longest and shortest side
  char name[200];
} fit_body;

/// Creates a box, with `refine` times the cells of the options, or the body of a file.
yw_status fit_body_create(const fit_options* options, double refine, fit_body* out,
                          yw_error* error);
void fit_body_free(fit_body* body);
const yw_tet_mesh* fit_mesh(const fit_body* body);
const elastic_grid* fit_grid(const fit_body* body);
/// Young's modulus, Poisson's ratio and density: from the options, then the named material, then
/// the scene's body, then the defaults.
yw_status fit_find_material(const fit_options* options, fit_material* out, yw_error* error);

/// The body as a linear system. kappa is for springs.
yw_status fit_system(const fit_body* body, elastic_model model, const fit_material* material,
                     double kappa, bool sequential, elastic_system* out, yw_error* error);

/// Supports at the low end (none if hold is false) and a load of 1 N at the other, or the body's
/// weight under 1 m/s^2.
yw_status fit_cantilever(const fit_body* body, const elastic_system* system, bool weight,
                         bar_setup* out, yw_error* error);
/// Deflection of the loaded end.
double fit_tip(const fit_body* body, const bar_setup* setup);
/// Size of the body along its axis, m.
double fit_length(const fit_body* body);

// The three modes of the command. Each prints its numbers and draws its plot.
yw_status fit_report(const fit_options* options, yw_error* error);
yw_status fit_measure(const fit_options* options, yw_error* error);
yw_status fit_classic(const fit_options* options, yw_error* error);

// Output ------------------------------------------------------------------------------------------

#define FIT_MAX_COLUMNS 4

/// A line of a table; NaN values are omitted.
typedef struct fit_row {
  char key[40];   ///< in JSON
  char name[48];  ///< in the table
  const char* unit;
  double values[FIT_MAX_COLUMNS];
  bool is_ratio;  ///< the error is shown as a difference
} fit_row;

typedef struct fit_table {
  const char* title;
  int32_t num_columns;
  const char* columns[FIT_MAX_COLUMNS];  ///< the first is the model, the second its reference
  int32_t num_rows;
  const fit_row* rows;
  const char* note;  ///< lines below the table, or NULL
} fit_table;

/// Prints the errors of the first column against the second too.
void fit_print_table(const fit_table* table, bool json);

/// One number with its name; unit "" for none.
typedef struct fit_value {
  const char* key;
  const char* name;
  const char* unit;
  double value;
} fit_value;
void fit_print_values(const char* title, int32_t count, const fit_value* values, const char* note,
                      bool json);

#endif
