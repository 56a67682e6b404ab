// SPDX-License-Identifier: MIT
// Small-strain elasticity of a tet mesh as a sparse matrix, in double, for several models:
//   frames   regions of the frames method (rings or cells), linearised at rest
//   tets     linear tets, the textbook finite element
//   springs  rigid frames tied to the particles by springs of one constant (Hino et al.; also
//            what classic shape matching amounts to), linearised at rest
// Loads are solved with a Cholesky factor, frequencies with subspace iteration.
#ifndef YW_STUDIES_REFERENCE_ELASTIC_ELASTIC_H
#define YW_STUDIES_REFERENCE_ELASTIC_ELASTIC_H

#include "math/sparse/cholesky.h"
#include "yawara/frames.h"

typedef enum elastic_model {
  ELASTIC_RINGS,         ///< frames, regions around vertices
  ELASTIC_CELLS,         ///< frames, regions of lattice cells
  ELASTIC_TETS,          ///< linear tets
  ELASTIC_RING_SPRINGS,  ///< rigid frames, regions around vertices
  ELASTIC_CELL_SPRINGS   ///< rigid frames, lattice cells
} elastic_model;

/// "rings", "cells", "linear tets", ...
const char* elastic_model_name(elastic_model model);

typedef struct elastic_def {
  elastic_model model;
  const yw_tet_mesh* mesh;
  const int32_t* cells;  ///< 8 vertices each; for models made of cells
  int32_t num_cells;
  double youngs_modulus;  ///< Pa; not for springs
  double poissons_ratio;  ///< not for springs
  double density;         ///< kg/m^3
  double kappa;           ///< springs: constant / mass, 1/s^2
  bool sequential;        ///< springs: a particle's mass counts in full in every region that has it
                          ///< (regions moved in turn); false: it is shared (goals averaged)
} elastic_def;

/// K u = f. Unknown k of node i is 3 i + k; nodes are the vertices of the mesh.
typedef struct elastic_system {
  int32_t num_nodes;
  yw_sparse stiffness;  ///< N/m
  double* mass;         ///< kg, lumped
  yw_vec3* points;      ///< for the elimination order
} elastic_system;

/// Largest system allowed: a factor for 16,000 nodes takes 1.4 GB.
#define ELASTIC_MAX_NODES 20000

yw_status elastic_create(const elastic_def* def, elastic_system* out, yw_error* error);
/// Safe on a zeroed struct.
void elastic_free(elastic_system* system);

/// A factorised system with some components held.
typedef struct elastic_held elastic_held;

/// fixed: 3 per node. shift (1/s^2) adds shift times the masses, for bodies without supports.
/// YW_ERR_INVALID if the body can still move or rotate.
yw_status elastic_hold(const elastic_system* system, const bool* fixed, double shift,
                       elastic_held** out, yw_error* error);
void elastic_release(elastic_held* held);  ///< NULL is allowed

/// Equilibrium (without shift). displacements: 3 per node; fixed components are given, the others
/// are computed. forces may be NULL. reactions (may be NULL): support forces, 0 elsewhere.
yw_status elastic_solve(elastic_held* held, const double* forces, double* displacements,
                        double* reactions, yw_error* error);

/// Maximum number of modes for elastic_modes.
#define ELASTIC_MAX_MODES 16

/// The `count` lowest frequencies, rad/s, ascending; shapes (may be NULL): count times 3 per node.
/// For a body without supports, the six rigid motions are omitted.
yw_status elastic_modes(const elastic_system* system, const bool* fixed, int32_t count,
                        double* frequencies, double* shapes, yw_error* error);

/// 1/2 u^T K u, J.
double elastic_energy(const elastic_system* system, const double* u);

#endif
