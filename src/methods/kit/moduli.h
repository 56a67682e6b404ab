// SPDX-License-Identifier: MIT
// Stiffness and density of a definition: one value, or one per vertex.
#ifndef YW_METHODS_KIT_MODULI_H
#define YW_METHODS_KIT_MODULI_H

#include <stdint.h>

#include "yawara/base.h"

typedef struct yw_moduli {
  float density;               ///< kg/m^3
  float youngs, poisson;       ///< Pa, 1
  const float* youngs_field;   ///< replaces youngs, one value per vertex; may be NULL
  const float* poisson_field;  ///< replaces poisson, one value per vertex; may be NULL
  int32_t count;               ///< number of vertices
} yw_moduli;

/// what: a prefix for every message, such as "rod: ".
yw_status yw_moduli_check(const yw_moduli* moduli, const char* what, yw_error* error);

static inline double yw_moduli_youngs(const yw_moduli* moduli, int32_t v) {
  return (double)(moduli->youngs_field ? moduli->youngs_field[v] : moduli->youngs);
}

static inline double yw_moduli_poisson(const yw_moduli* moduli, int32_t v) {
  return (double)(moduli->poisson_field ? moduli->poisson_field[v] : moduli->poisson);
}

#endif
