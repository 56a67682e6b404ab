// SPDX-License-Identifier: MIT
// Elasticity and damping matrices of the coarse tets, sampled from the finest level. Imai et al.,
// section 4.
//
//   e_c    strain of finest tet c in six load cases, a column each
//   e_bar  its mean over the coarse tet          L_c = e_c e_bar^-1
//   C_bar  = sum V_c L_c^T C_c L_c / V           symmetric positive definite by construction
//
// DIFFERS: the paper bends each coarse tet alone, with the nodes between its corners free. A free
// face cannot carry uniform stress, so even homogeneous material comes out several times too soft
// per level. Here six cases of uniform stress are solved once on the whole finest mesh, and every
// coarse tet of every level takes its response from there. The literal form is kept for comparison.
#ifndef YW_METHODS_FEM_SAMPLING_H
#define YW_METHODS_FEM_SAMPLING_H

#include "methods/fem/hierarchy.h"
#include "methods/fem/stiffness.h"
#include "yawara/fem.h"

typedef struct fem_sampling_def {
  yw_fem_sampling kind;
  double range_tolerance;  ///< T1: relative deviation of stress from linear; 0: the paper's 0.01
  double range_stress;     ///< T2: deviation that is allowed in any case, Pa
  yw_simd simd;
  yw_tasks* tasks;  ///< NULL: single-threaded
  yw_progress progress;
  void* progress_context;
  struct fem_range_sum* sums;  ///< filled per parent, for plots (not for AVERAGE); NULL: not needed
} fem_sampling_def;

/// Strains beyond which the error of a coarse tet's matrix exceeds T1: smallest (negative) and
/// largest Green strain of each component alone; infinite if no limit was found.
typedef struct fem_range {
  float low[6], high[6];
} fem_range;

typedef enum fem_sampled {
  FEM_SAMPLED_EMBEDDED = 0,
  FEM_SAMPLED_LINEAR_FACES,  ///< the load cases hardly strained the tet in some direction
  FEM_SAMPLED_STANDALONE,
  FEM_SAMPLED_AVERAGE,
  FEM_SAMPLED_SETTLED
} fem_sampled;

/// One entry per parent of the hierarchy (tets below the finest level).
typedef struct fem_samples {
  yw_allocator mem;
  int32_t count;
  yw_sym6* elasticity;  ///< Pa
  yw_sym6* damping;     ///< Pa s, or NULL
  fem_range* range;
  uint8_t* how;  ///< fem_sampled
} fem_samples;

/// elasticity and damping (or NULL) are those of the finest tets, in their order. On failure out is
/// zeroed. A matrix that is not positive definite is refused with the tet's number.
yw_status yw_fem_sample(const yw_allocator* mem, const fem_hierarchy* hierarchy,
                        const yw_sym6* elasticity, const yw_sym6* damping,
                        const fem_sampling_def* def, fem_samples* out, yw_error* error);
void yw_fem_samples_free(fem_samples* samples);

/// Young's modulus, bulk and shear modulus of the isotropic matrix nearest to one (Voigt means).
typedef struct fem_moduli {
  double youngs, bulk, shear, poissons;
} fem_moduli;
fem_moduli yw_fem_moduli(const yw_sym6* c);

// Parts, for tests and pictures -------------------------------------------------------------------

/// A finest tet inside a coarse tet: volume, displacement gradients per unit strain of the coarse
/// tet (9 for each of the six components), matrix.
typedef struct fem_piece {
  double volume;
  double gradient[54];
  const yw_sym6* elasticity;
} fem_piece;

/// Work of the stresses inside a coarse tet that is strained by alpha e_m, in the motions of unit
/// strain j: V (p[m][0][j] alpha + p[m][1][j] alpha^2 + p[m][2][j] alpha^3).
typedef struct fem_range_sum {
  double p[6][3][6];
  double volume;
} fem_range_sum;
void yw_fem_range_add(fem_range_sum* sum, const fem_piece* piece);
/// This work per volume, and its value with matrix c_bar. The two are equal to first order, and for
/// all alpha in homogeneous material.
void yw_fem_range_stress(const fem_range_sum* sum, const yw_sym6* c_bar, int m, double alpha,
                         double stress[6], double line[6]);
/// The strains at which the two differ by more than the relative tolerance.
fem_range yw_fem_range_find(const fem_range_sum* sum, const yw_sym6* c_bar,
                            const fem_sampling_def* def);

/// A family: a coarse tet and its children, in local nodes.
typedef struct fem_family {
  int num_nodes, num_children;
  yw_dvec3 x[FEM_FAMILY_NODES];
  uint8_t local[FEM_FAMILY_CHILDREN][4];
  double volume[FEM_FAMILY_CHILDREN];
  const yw_sym6* elasticity[FEM_FAMILY_CHILDREN];
} fem_family;
/// Gradients of the children per unit strain of the family (6 x 9 each), with its corners following
/// that strain. free_midpoints: the nodes between the corners are free (the paper); otherwise they
/// stay on straight edges and only a centre node is free. False if a child's matrix is not
/// definite.
bool yw_fem_family_gradients(const fem_family* family, bool free_midpoints,
                             double gradients[FEM_FAMILY_CHILDREN][54]);

/// The paper's experiment on one family (section 4.2): its corners follow the Green strain alpha
/// e_m, the nodes between them settle into equilibrium of St. Venant-Kirchhoff material (Newton). x
/// holds a guess for the nodes 4 and up and receives the solution; stress is the mean second
/// Piola-Kirchhoff stress. False if no equilibrium was found or the strain is impossible.
bool yw_fem_family_bend(const fem_family* family, int m, double alpha, yw_dvec3* x,
                        double stress[6]);

/// Strains per side at which a settled family is sampled, and the most points of a line.
#define FEM_SETTLED_ALPHAS 6
#define FEM_MOST_SAMPLES 64
/// The paper's matrix and ranges (sections 4.2 and 4.3): lines fitted to the stresses of the
/// settled family. False if the matrix is not positive definite. (sampling_settled.c)
bool yw_fem_family_settled(const fem_family* family, const fem_sampling_def* def,
                           yw_sym6* elasticity, fem_range* range);
/// Slope through the origin, without points far off it or not finite; kept tells which count. At
/// most FEM_MOST_SAMPLES points are used.
double yw_fem_fit_line(int32_t count, const double* x, const double* y, bool* kept);

/// Strain matrix of six displacement gradients, one column per case.
static inline yw_mat6 yw_strains_of_gradients(const double h[54]) {
  yw_mat6 e;
  for (int c = 0; c < 6; ++c) {
    double column[6];
    yw_strain_of_gradient(h + 9 * c, column);
    for (int k = 0; k < 6; ++k) e.m[6 * k + c] = column[k];
  }
  return e;
}

#endif
