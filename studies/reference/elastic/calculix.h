// SPDX-License-Identifier: MIT
// Independent results from CalculiX (the program ccx; Debian package calculix-ccx): writes an input
// deck, runs it in a temporary folder with a time limit, and reads its results.
#ifndef YW_STUDIES_REFERENCE_ELASTIC_CALCULIX_H
#define YW_STUDIES_REFERENCE_ELASTIC_CALCULIX_H

#include "reference/elastic/grid.h"

typedef struct calculix_material {
  double youngs_modulus;  ///< Pa
  double poissons_ratio;
  double density;  ///< kg/m^3; for frequencies
} calculix_material;

/// A linear elastic body: C3D4 elements for a grid of order 1, C3D10 for 2.
typedef struct calculix_model {
  const elastic_grid* grid;
  int32_t num_materials;
  const calculix_material* materials;
  const int32_t* material_of;   ///< per element; NULL: the first for all
  const bool* fixed;            ///< 3 per node
  const double* displacements;  ///< 3 per node, used where fixed; NULL: 0
  const double* forces;         ///< 3 per node, N; may be NULL
  double gravity[3];            ///< m/s^2, on all elements; needs densities
} calculix_model;

/// True if ccx is installed ($YAWARA_CCX names another program).
bool calculix_available(void);

/// Displacements and reactions (3 per node each; reactions are 0 where nothing is fixed, and may be
/// NULL), to the seven digits of the result file. Forces on fixed components are ignored. seconds:
/// time limit.
yw_status calculix_static(const calculix_model* model, double seconds, double* displacements,
                          double* reactions, yw_error* error);
/// The `count` lowest frequencies, rad/s.
yw_status calculix_frequencies(const calculix_model* model, int32_t count, double seconds,
                               double* frequencies, yw_error* error);

/// Processor time of `count` implicit steps of `step` seconds with large rotations, less that of
/// reading the input and of a single step.
yw_status calculix_dynamic(const calculix_model* model, double step, int32_t count, double seconds,
                           double* cpu, yw_error* error);

/// What a deck asks for: an equilibrium, unless one of these is set.
typedef struct calculix_task {
  int32_t frequencies;  ///< number of lowest frequencies
  int32_t steps;        ///< number of implicit steps with large rotations ...
  double step;          ///< ... of so many seconds
} calculix_task;
/// Writes the input deck, for other uses.
yw_status calculix_write(const char* path, const calculix_model* model, const calculix_task* task,
                         yw_error* error);

#endif
