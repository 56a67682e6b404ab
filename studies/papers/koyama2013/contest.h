// SPDX-License-Identifier: MIT
// One body with one example, simulated by several methods: match, frames, and the finite elements
// of Martin et al. 2011 and Schumacher et al. 2012.
#ifndef YW_STUDIES_PAPERS_KOYAMA2013_CONTEST_H
#define YW_STUDIES_PAPERS_KOYAMA2013_CONTEST_H

#include "yawara/yawara.h"

typedef enum contest_method {
  CONTEST_MATCH,
  CONTEST_FRAMES,
  CONTEST_SCHUMACHER,          ///< weights for the whole body
  CONTEST_SCHUMACHER_PER_TET,  ///< weights per tet
  CONTEST_MARTIN_ONCE,         ///< projected once per step
  CONTEST_MARTIN,              ///< projected in every iteration of the step
  CONTEST_COUNT
} contest_method;
const char* contest_name(contest_method method);
const char* contest_short_name(contest_method method);  ///< in legends

/// The body: tets, its example, and what it is made of. It stands on a floor without friction.
typedef struct contest_body {
  const char* name;
  yw_tet_mesh mesh;  ///< along y
  yw_vec3* example;
  double density, beta, damping;
  /// Young's modulus over rho g L (as in yw_match_params.stiffness). The same number means another
  /// twist in each method: where strains grow linearly, as in match and frames, a body is softer
  /// against large ones. These let all of them come to rest with about the same twist.
  double stiffness[CONTEST_COUNT];
} contest_body;
/// A lattice of 4 x 8 x 4 cells, 225 vertices, with a twisted and squashed example.
yw_status contest_cuboid(contest_body* out, yw_error* error);
/// A cylinder with about 2,000 vertices, of figure 9.
yw_status contest_cylinder(contest_body* out, yw_error* error);
void contest_body_free(contest_body* body);

typedef struct contest_run contest_run;
yw_status contest_open(contest_method method, const contest_body* body, contest_run** out,
                       yw_error* error);
void contest_close(contest_run* run);
/// Advances by h.
yw_status contest_step(contest_run* run, double h, yw_error* error);
/// Twist between the ends, degrees.
double contest_twist(contest_run* run);
/// Factorisations per step, and their share of the time; zero where there are none.
void contest_factors(const contest_run* run, double* per_step, double* seconds);

#endif
