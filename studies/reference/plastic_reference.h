// SPDX-License-Identifier: MIT
// One step of master and slave particles, written directly from the formulas: double, one pair
// after another. An independent result for tests, and a baseline for the library's speed.
#ifndef YW_STUDIES_REFERENCE_PLASTIC_REFERENCE_H
#define YW_STUDIES_REFERENCE_PLASTIC_REFERENCE_H

#include <stdint.h>

typedef struct reference_master {
  double x[3], v[3], c[9], f[9];  ///< matrices by rows; f: elastic part
  double mass, volume, mu, lambda;
  double low, high;  ///< limits of stretches
  double xi, eta, det_p;
} reference_master;

/// A slave that a master sees: share N, gradient G, position relative to the master.
typedef struct reference_pair {
  int32_t master, slave;
  double n, g[3], r[3];
} reference_pair;

typedef struct plastic_reference {
  double spacing, dt, gravity[3];
  double floor;        ///< height of a floor without friction; -inf: none
  double tolerance;    ///< of the solve
  int32_t iterations;  ///< maximum
  int32_t num_masters, num_slaves;
  reference_master* masters;
  double (*slaves)[3];
  int32_t done;  ///< iterations of the last step
  struct plastic_reference_scratch* scratch;
} plastic_reference;

/// The caller then fills masters and slaves. NULL if out of memory.
plastic_reference* plastic_reference_create(int32_t num_masters, int32_t num_slaves);
void plastic_reference_destroy(plastic_reference* r);
/// One step; slaves are neither added nor removed. 0: out of memory.
int plastic_reference_step(plastic_reference* r);
/// The pairs at the current positions, by master; returns their number.
int32_t plastic_reference_pairs(plastic_reference* r, const reference_pair** out);
/// Elastic energy of the masters, J.
double plastic_reference_energy(const plastic_reference* r);

#endif
