// SPDX-License-Identifier: MIT
// Inside of example_fem: state, and systems of equations with the pattern of the mesh.
#ifndef YW_STUDIES_REFERENCE_EXAMPLES_BODY_H
#define YW_STUDIES_REFERENCE_EXAMPLES_BODY_H

#include "math/sparse/cholesky.h"
#include "reference/examples/example_fem.h"
#include "reference/examples/strain.h"

struct example_fem {
  example_fem_def def;
  int32_t num_vertices, num_tets, num_groups;
  strain_tet* tets;
  double* mass;                  ///< per vertex, lumped
  double *rest, *x, *v;          ///< 3 per vertex
  double (*examples)[6];         ///< strains of example k at examples[k * num_tets]
  double (*targets)[6];          ///< beta T per tet
  double* weights;               ///< num_groups x num_examples
  double* grams;                 ///< num_groups x num_examples^2
  double* pose;                  ///< Martin: 3 per vertex
  double (*directions)[6];       ///< Martin: change of the pose's strains with weight k
  double* solutions;             ///< Martin: num_examples + 1 vectors of 3 per vertex
  double *predicted, *gradient;  ///< 3 per vertex
  double *step, *trial;
  yw_assembly assembly;
  yw_sparse matrix;
  int32_t* diagonal;  ///< places of the diagonal entries
  double* elements;   ///< 144 per tet
  yw_cholesky* factor;
  double* scratch;
  example_fem_statistics statistics;
};

static inline int32_t example_group(const example_fem* body, int32_t tet) {
  return body->num_groups > 1 ? tet : 0;
}

/// Element matrices at positions x for given rest strains; see strain_stiffness.
void example_elements(example_fem* body, const double* x, strain_moduli moduli,
                      const double (*targets)[6], bool whole);
/// Sums them, adds to the diagonal (3 per vertex) and factorises; false if not positive definite.
bool example_factorise(example_fem* body, const double* added);
void example_solve(example_fem* body, const double* b, double* x);

/// One step of the search for weights and pose; the largest change of a weight, or of a strain of
/// the pose.
double example_project_once(example_fem* body, const double* x);
/// targets = beta T.
void example_aim(example_fem* body);

#endif
