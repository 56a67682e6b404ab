// SPDX-License-Identifier: MIT
// Rods and sheets: oriented particles, connected by local axes (the paper's frames) of two
// particles (rods) or three (sheets). All in double: a thin body is stiffer along itself than
// across by a factor of (length / thickness)^2. Rotations are relative to the rest pose: all are 1
// at rest.
//
// Rods (rod_energy.c). A massless frame (R, t) is tied to the pair a, b by springs to every piece
// of the oriented particles. With d = x_b - x_a, and l and e its length and direction at rest:
//   E = min_R  w/4 |d - l R e|^2 + sum_j 2 v_j^T I v_j,    v_j = vec(R^-1 R_j)
//     = w/4 (|d|^2 + l^2) + 2 tr Q - tr S,   A = w l / 2 d e^T + (R_a + R_b) Q = R S
// so that EA = w l / 2, EI = I_t l / 2, GJ = I_a l / 2; I = tr Q 1 - Q.
//
// Sheets (sheet_energy.c). F = sum x_j g_j^T and B = sum n_j g_j^T are the gradients of the middle
// surface and of the directors n_j; F = R S (R has two columns):
//   E = A t [mu |F - R|^2 + lambda/2 (tr S - 2)^2]            stretching, plane stress
//     + A t^3/12 [mu |b|^2 + lambda/2 (tr b)^2]               bending, b = sym F^T B - rest
//     + sum over edges of k/2 gamma^2                         transverse shear
//     + drill/2 delta^2                                       particles turn with the sheet
#ifndef YW_METHODS_SLENDER_MODEL_H
#define YW_METHODS_SLENDER_MODEL_H

#include "math/small/turn.h"
#include "yawara/extend/vec.h"
#include "yawara/slender.h"

typedef enum slender_kind { SLENDER_ROD, SLENDER_SHEET } slender_kind;

/// Two oriented particles and their frame.
typedef struct rod_pair {
  int32_t particles[2];
  double length;      ///< m
  double e[3];        ///< direction at rest
  double weight;      ///< w, N/m
  double q[6];        ///< Q, J: half the trace of I minus I; may be indefinite
  double inertia[6];  ///< I, J
} rod_pair;

/// Three oriented particles and their frame.
typedef struct sheet_triangle {
  int32_t particles[3];
  double g[3][2];               ///< 1/m
  double mu, lambda;            ///< A t mu and A t lambda, J
  double bend_mu, bend_lambda;  ///< A t^3/12 mu and lambda, J m^2
  double shear[3];              ///< k of the edges (j, j + 1), J
  double inv_length[3];         ///< of the edges, 1/m
  double drill;                 ///< per particle, J
  double normal[3][3];          ///< directors at rest
  double tangent[2][3];         ///< axes of the triangle at rest
  double rest_bend[3];          ///< b at rest: 11, 22, 12, 1/m
  double rest_shear[3];         ///< gamma at rest
  double rest_drill[3];         ///< delta at rest; 0 but in examples
} sheet_triangle;

/// Example poses (examples.h).
typedef struct slender_poses {
  int32_t count;
  double* strains;  ///< count rows of num_elements elements
  float strengths[YW_MAX_EXAMPLES];
  yw_grouping grouping;
  int32_t num_groups;
  int32_t* group;  ///< of each element
  double* gram;    ///< count x count per group, J
} slender_poses;

/// Elements as a body's examples bend them (examples.h).
typedef struct slender_bent {
  rod_pair* pairs;            ///< NULL: those of the model
  yw_turn (*turns)[2];        ///< with pairs: rotations of the ends at rest
  sheet_triangle* triangles;  ///< likewise
} slender_bent;

/// A vertex of the displayed surface, between two particles: sum_j (weight_j x_j + R_j lever_j),
/// which is a smooth curve along rods, offset by `length` in the direction of sum_j R_j side_j.
typedef struct slender_skin {
  int32_t particles[2];
  float weights[2];
  yw_vec3 lever[2];  ///< m, at rest
  yw_vec3 side[2];   ///< at rest
  float length;      ///< m
} slender_skin;

/// A vertex of a surface that follows a sheet: sum_j weight_j (x_j + R_j lever_j).
typedef struct sheet_ride {
  int32_t particles[3];
  float weights[3];
  yw_vec3 lever[3];  ///< m, at rest
} sheet_ride;

typedef struct slender_model {
  yw_allocator mem;
  slender_kind kind;
  yw_slender_params params;
  int32_t num_particles, num_elements, corners;
  rod_pair* pairs;
  sheet_triangle* triangles;
  bool closed;
  float density;  ///< kg/m^3

  yw_vec3* rest;          ///< m
  float* mass;            ///< kg
  double (*inertia)[6];   ///< kg m^2, in the axes of the rest pose
  double (*inverse)[6];   ///< inverse of inertia
  float* radius;          ///< m, of contact spheres
  double* stiffness;      ///< N/m, of the elements around each particle, approximate
  int32_t* elements;      ///< `corners` particles each
  yw_quat* orientations;  ///< rods: at rest, z along the rod

  // Elements by colour, for the position-based solvers.
  int32_t num_colors;
  int32_t* color_start;
  int32_t* color_elements;

  yw_tri_mesh surface;  ///< as displayed, at rest
  slender_skin* skin;   ///< per vertex of it
  sheet_ride* rides;    ///< or these, if the surface follows a sheet
  slender_poses poses;
  uint64_t hash;
} slender_model;

/// Positions and rotations in double, in particle order.
typedef struct slender_pose {
  double* x;  ///< 3 per particle, m
  yw_turn* q;
} slender_pose;

/// Which second derivative of an element to compute.
typedef enum slender_hessian {
  SLENDER_EXACT,    ///< may be indefinite
  SLENDER_DEFINITE  ///< that of the rest shape, rotated along (rods); negative parts left out
} slender_hessian;

/// Energy of an element, J. gradient (6 per corner: force on the position and torque about it, both
/// with the sign of dE) and hessian (by rows) may be NULL.
double yw_rod_energy(const rod_pair* pair, const slender_pose* pose, double* gradient,
                     double* hessian, slender_hessian kind);
double yw_sheet_energy(const sheet_triangle* triangle, const slender_pose* pose, double* gradient,
                       double* hessian, slender_hessian kind);
/// Strains of a pair in the axes of its frame, with stiffnesses w/2, I, I: R^T d - l e, and twice
/// v_a and v_b. Unknowns as in the gradient, in the same axes.
typedef struct rod_strains {
  yw_turn frame;
  double strain[9];
  double jacobian[9][12];
} rod_strains;
void yw_rod_strains(const rod_pair* pair, const slender_pose* pose, rod_strains* out);
/// Only the strains.
void yw_rod_strain(const rod_pair* pair, const slender_pose* pose, double out[9]);
/// Rotation of a pair's frame, and the moment S in it.
yw_turn yw_rod_frame(const rod_pair* pair, const slender_pose* pose, double s[6]);
/// The rotation R that maximises tr(R^T a), from an initial guess near it; s = R^T a.
yw_turn yw_slender_polar(const double a[9], yw_turn guess, double s[6]);

static inline double yw_slender_energy(const slender_model* model, int32_t element,
                                       const slender_pose* pose, double* gradient, double* hessian,
                                       slender_hessian kind) {
  return model->kind == SLENDER_ROD
             ? yw_rod_energy(&model->pairs[element], pose, gradient, hessian, kind)
             : yw_sheet_energy(&model->triangles[element], pose, gradient, hessian, kind);
}

/// Energy of a pair whose ends are turned at rest, as yw_rod_energy.
double yw_rod_bent_energy(const rod_pair* pair, const yw_turn turns[2], const slender_pose* pose,
                          double* gradient, double* hessian, slender_hessian kind);

/// The same of bent elements; NULL arrays: of the model.
static inline double yw_slender_bent_energy(const slender_model* model, const slender_bent* bent,
                                            int32_t element, const slender_pose* pose,
                                            double* gradient, double* hessian,
                                            slender_hessian kind) {
  if (bent->pairs) {
    return yw_rod_bent_energy(&bent->pairs[element], bent->turns[element], pose, gradient, hessian,
                              kind);
  }
  if (bent->triangles) {
    return yw_sheet_energy(&bent->triangles[element], pose, gradient, hessian, kind);
  }
  return yw_slender_energy(model, element, pose, gradient, hessian, kind);
}

/// Strains of an element in an example.
static inline double* yw_slender_example(const slender_model* model, int32_t example,
                                         int32_t element) {
  size_t row = (size_t)example * (size_t)model->num_elements + (size_t)element;
  return model->poses.strains + row * 12;
}

/// YW_ERR_INVALID, with a message, when a value is out of range.
yw_status yw_slender_params_check(const yw_slender_params* params, int32_t num_examples,
                                  yw_error* error);
// fit.c
/// Mean direction of the pairs at a particle of a rod, at rest and now; false where it is
/// undefined.
bool yw_rod_directions(const slender_model* model, const yw_vec4* pos, int32_t p, double rest[3],
                       double now[3]);
/// Rotations of all particles that fit positions. scratch: one per particle.
void yw_slender_fit_turns(const slender_model* model, const yw_vec4* pos, double (*scratch)[9],
                          yw_turn* out);
// model.c
/// Allocates the arrays whose sizes follow from the counts; does not fill them.
bool yw_slender_allocate(slender_model* model, slender_kind kind, int32_t num_particles,
                         int32_t num_elements);
/// Computes lists, colours and hash once particles and elements are filled in.
yw_status yw_slender_finish(slender_model* model, yw_error* error);
void yw_slender_model_destroy(void* model);
// rod_model.c, sheet_model.c
yw_status yw_rod_model_create(const yw_allocator* mem, const yw_rod_def* def, void** model,
                              yw_error* error);
yw_status yw_sheet_model_create(const yw_allocator* mem, const yw_sheet_def* def, void** model,
                                yw_error* error);
// surface.c
yw_status yw_rod_surface(slender_model* model, const yw_rod_def* def, yw_error* error);
yw_status yw_sheet_surface(slender_model* model, const yw_sheet_def* def, yw_error* error);
// ride.c
yw_status yw_sheet_ride(slender_model* model, const yw_sheet_def* def, yw_error* error);
// World axes --------------------------------------------------------------------------------------

/// R J R^T of a symmetric matrix.
static inline void yw_slender_turn_sym(yw_turn q, const double j[6], double out[6]) {
  double r[9], m[9];
  const double full[9] = {j[0], j[3], j[4], j[3], j[1], j[5], j[4], j[5], j[2]};
  yw_turn_matrix(q, r);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      m[3 * a + b] = r[3 * a] * full[b] + r[3 * a + 1] * full[3 + b] + r[3 * a + 2] * full[6 + b];
    }
  }
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; ++k) {
    const double *a = m + 3 * row[k], *b = r + 3 * column[k];
    out[k] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
}

#endif
