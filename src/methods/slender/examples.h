// SPDX-License-Identifier: MIT
// Example poses of rods and sheets: Koyama et al. 2013 with the strains of oriented particles.
//
// The descriptor of a pose is the strains e of all elements against rest: of pairs R^T d - l e and
// twice v_a and v_b; of triangles S - 1, b and gamma. In the metric K of the energy, per group,
//   w = argmin |e - sum w_k e^k|_K  over w >= 0, sum w <= 1
// and the rest shape of an element becomes the one whose strains are e~ = beta sum w_k e^k:
//   pairs      l e + u~ instead of l e;  R_j rho_j^-1 instead of R_j, with vec(rho_j) = v~_j
//   triangles  F S~^-1 instead of F;  b~ and gamma~ instead of those at rest
// DIFFERS: the paper's S~ is the goal of a stretch, not a rest shape. Near S~ = 1 both are the
// same; energies, forces and stiffness are then those of a body without examples, and a pose with
// weight 1 has no stress. Weights are found once per step, from its beginning.
#ifndef YW_METHODS_SLENDER_EXAMPLES_H
#define YW_METHODS_SLENDER_EXAMPLES_H

#include "methods/slender/slender.h"

/// Strains of an element: 9 of a pair or a triangle, and 3 of drilling.
#define SLENDER_STRAINS 12
/// Those that the metric sees.
#define SLENDER_FELT 9

/// Strains of an element at a pose against rest.
void yw_slender_strains(const slender_model* model, int32_t element, const slender_pose* pose,
                        double out[SLENDER_STRAINS]);
/// Elements with the rest shape of these strains. turns: rho_a and rho_b.
void yw_rod_bend(const rod_pair* rest, const double strains[SLENDER_STRAINS], rod_pair* out,
                 yw_turn turns[2]);
void yw_sheet_bend(const sheet_triangle* rest, const double strains[SLENDER_STRAINS],
                   sheet_triangle* out);

/// Describes the poses; the rest of the model must be finished. YW_WARN_REDUNDANT, with a message.
yw_status yw_slender_examples_create(slender_model* model, const yw_slender_examples* def,
                                     yw_error* error);
void yw_slender_examples_free(slender_model* model);
/// Continues the hash of a model with its examples; without any, it stays.
uint64_t yw_slender_examples_hash(const slender_model* model, uint64_t hash);

/// Weights of a body at body->x and body->turn, and the elements of its solver.
void yw_slender_fit_examples(slender_body* body);

#endif
