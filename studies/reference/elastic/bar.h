// SPDX-License-Identifier: MIT
// Standard tests of a bar: tension, bending, a load at the tip, torsion, vibration, for any model
// that can solve an equilibrium. Roots are rollers where theory has no clamp: clamped roots
// converge slowly even for quadratic elements.
#ifndef YW_STUDIES_REFERENCE_ELASTIC_BAR_H
#define YW_STUDIES_REFERENCE_ELASTIC_BAR_H

#include "reference/elastic/beam.h"
#include "reference/elastic/calculix.h"
#include "reference/elastic/elastic.h"
#include "reference/elastic/grid.h"

/// A bar of lattice cells along x, its axis at y = z = 0; it bends along y.
typedef struct elastic_bar {
  double size[3];    ///< m
  int32_t cells[3];  ///< even across, so that there are particles on the axis
  yw_tet_mesh mesh;
  int32_t* cell_nodes;  ///< 8 vertices per cell
  int32_t num_cells;
  elastic_grid grid;
} elastic_bar;

/// order: of the grid, 1 or 2.
yw_status elastic_bar_create(const double size[3], const int32_t cells[3], int32_t order,
                             elastic_bar* out, yw_error* error);
void elastic_bar_free(elastic_bar* bar);

typedef enum bar_test {
  BAR_TENSION,
  BAR_BENDING,
  BAR_CANTILEVER,
  BAR_TORSION,
  BAR_TESTS  ///< number of tests
} bar_test;

/// Supports, prescribed displacements and loads of a test: 3 numbers per node each.
typedef struct bar_setup {
  int32_t size;  ///< 3 * nodes
  bool* fixed;
  double *displacements, *forces, *reactions;
} bar_setup;

yw_status bar_setup_create(int32_t num_nodes, bar_setup* out, yw_error* error);
void bar_setup_free(bar_setup* setup);

/// Solves for displacements and reactions.
typedef yw_status (*bar_solve)(void* context, bar_setup* setup, yw_error* error);

/// Results of the tests.
typedef struct bar_results {
  double youngs_modulus;  ///< Pa, from the force in tension
  double poissons_ratio;  ///< from the sides in tension
  double bending;         ///< N m^2, moment over curvature
  double cantilever;      ///< m/N, deflection of the tip
  double torsion;         ///< N m^2, torque over twist per length
} bar_results;

/// Runs the tests whose bits (1 << BAR_...) are set; the other results are NaN.
yw_status bar_run(const elastic_bar* bar, unsigned tests, bar_solve solve, void* context,
                  bar_results* out, yw_error* error);
#define BAR_ALL_TESTS ((1u << BAR_TESTS) - 1)

/// The theoretical results. length, depth and width are those of the bar.
bar_results bar_theory(const beam* b);
/// Errors of stiffness relative to theory: delivered / expected - 1 (cantilever: 1 / deflection).
bar_results bar_errors(const bar_results* delivered, const bar_results* expected);

/// A system as a solver for bar_run. Zero-initialise and set system; the last factor is kept.
typedef struct bar_system {
  const elastic_system* system;
  elastic_held* held;
  bool* fixed;  ///< of held
} bar_system;
yw_status bar_solve_system(void* context, bar_setup* setup, yw_error* error);
void bar_system_free(bar_system* solver);

/// CalculiX as a solver for bar_run, on the bar's own grid or one of order 2 in its place.
typedef struct bar_calculix {
  const elastic_grid* grid;
  calculix_material material;
  double seconds;  ///< time limit of each test
} bar_calculix;
yw_status bar_solve_calculix(void* context, bar_setup* setup, yw_error* error);

/// Young's modulus and Poisson's ratio of a body of any shape, from the energies of a uniform
/// expansion and a uniform shear prescribed on its boundary.
yw_status elastic_moduli(const elastic_system* system, const elastic_grid* grid, double volume,
                         double* youngs, double* poisson, yw_error* error);

/// Type of a vibration.
typedef enum bar_motion { BAR_BEND_Y, BAR_BEND_Z, BAR_TWIST, BAR_STRETCH, BAR_MOTIONS } bar_motion;
const char* bar_motion_name(bar_motion motion);

typedef struct bar_mode {
  bar_motion motion;
  int number;        ///< 1: the lowest of its type
  double frequency;  ///< rad/s, of the model
  double theory;     ///< rad/s
} bar_mode;

/// The lowest `count` vibrations of a bar that is clamped at x = 0 or free.
yw_status bar_modes(const elastic_bar* bar, const elastic_system* system, const beam* theory,
                    bool clamped, int32_t count, bar_mode* out, yw_error* error);

#endif
