// SPDX-License-Identifier: MIT
// slender: rods and sheets with Young's modulus and Poisson's ratio. docs/methods/slender.md
#ifndef YAWARA_SLENDER_H
#define YAWARA_SLENDER_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Time integration of a rod or sheet.
typedef enum yw_slender_solver {
  YW_SLENDER_IMPLICIT = 0,  ///< implicit Euler with Newton's method (default)
  YW_SLENDER_BDF2,          ///< same with the second-order backward formula; damps vibrations less
  YW_SLENDER_EXTENDED,  ///< extended position-based: sweeps over the elements, in physical units
  YW_SLENDER_CLASSIC    ///< classic position-based with `stiffness`, for comparison
} yw_slender_solver;

/// Parameters of a rod or sheet that can change while it runs.
typedef struct yw_slender_params {
  yw_slender_solver solver;
  /// Decay rate of the non-rigid part of the velocity, 1/s, >= 0; default 0. Vibration amplitudes
  /// decay as exp(-damping t / 2), independent of the time step.
  float damping;
  /// Newton steps stop when the residual has fallen by this factor, 1e-6 to 0.5; default 1e-3.
  float tolerance;
  int32_t substeps;  ///< position-based: steps per substep of the world, 1 to 1000; default 10
  int32_t sweeps;    ///< position-based: sweeps per step, 1 to 1000; default 1
  float
      stiffness;  ///< classic only: fraction of the way to the goal per sweep, 0 to 1; default 0.5
  float beta;     ///< how strongly examples attract, 0 (not at all) to 1 (a body may rest in one);
                  ///< default 0.95
  /// Multiplies Young's modulus, 1e-6 to 1e6; default 1. Not for the classic solver.
  float stiffness_scale;
} yw_slender_params;

/// Example poses of a rod or sheet, for implicit solvers. In every step the rest shape becomes the
/// blend of the poses' strains (stretch, bending, twist, shear) that is nearest to those of the
/// body. Pointers are read during the call only.
typedef struct yw_slender_examples {
  int32_t count;                ///< 0 (default) to YW_MAX_EXAMPLES
  const yw_vec3* const* poses;  ///< m, one position per point or vertex each
  /// Rotations of the particles from rest, one each. NULL, or NULL for a pose: found from the
  /// positions, with no more twist than at rest.
  const yw_quat* const* turns;
  const float* strengths;        ///< of each, 0 to 1; beta multiplies it; NULL (default): 1
  yw_grouping grouping;          ///< regions are pairs of points or triangles
  const int32_t* vertex_labels;  ///< with YW_GROUPS_LABELS, one per point or vertex, any integers;
                                 ///< a region takes the one that most of its corners have
} yw_slender_examples;

/// Cross-section of a rod.
typedef enum yw_section {
  YW_SECTION_ROUND = 0,  ///< circle (default): radius or radii
  YW_SECTION_ELLIPSE,    ///< width and thickness are its axes
  YW_SECTION_RECTANGLE   ///< width and thickness are its sides
} yw_section;

/// A rod: a chain of oriented particles that stretches, bends and twists with EA, EI and GJ of its
/// cross-section. For ropes, rulers, springs, cords and rings. Pointers are read during the call
/// only.
typedef struct yw_rod_def {
  const yw_vec3* points;  ///< m, particles at rest from one end to the other; the rest shape, to
                          ///< which the rod returns, may be curved or coiled
  int32_t num_points;     ///< 1 to 1,000,000; a single point is a rigid ball
  bool closed;            ///< a ring: the last point is joined to the first; 3 points or more
  yw_section section;
  float radius;            ///< m, > 0, of a round rod; default 0.01
  const float* radii;      ///< m, per point; replaces radius; may be NULL
  float width, thickness;  ///< m, > 0, of other sections: along the x and y axes of `frames`
  /// Rest orientations, per point: the z axis points along the rod, the x axis along its width.
  /// NULL: transported along the curve without twist, starting with the width closest to
  /// width_direction.
  const yw_quat* frames;
  yw_vec3 width_direction;            ///< need not be a unit vector; zero (default): any
  float density;                      ///< kg/m^3, > 0; default 1000
  float youngs_modulus;               ///< Pa, > 0; default 1e6
  float poissons_ratio;               ///< 0 to below 0.5; default 0.3
  const float* youngs_modulus_field;  ///< Pa, per point; replaces the above; may be NULL
  const float* poissons_ratio_field;  ///< per point; replaces the above; may be NULL
  float contact_radius;  ///< m, of the particles as spheres in contact; 0 (default): the radius,
                         ///< or half the smaller side
  yw_slender_params params;  ///< initial parameters of bodies
  yw_slender_examples examples;
} yw_rod_def;
YW_API yw_rod_def yw_default_rod_def(void);
/// Its bodies have one particle per point, in the same order. Returns YW_WARN_REDUNDANT, with the
/// names in error->message, if an example has no effect.
YW_API yw_status yw_model_create_rod(const yw_allocator* mem, const yw_rod_def* def, yw_model** out,
                                     yw_error* error);

/// A sheet: oriented particles on a triangle mesh that stretches, bends and shears as a plate or
/// shell of the given thickness. Pointers are read during the call only.
typedef struct yw_sheet_def {
  const yw_tri_mesh* mesh;  ///< mid-surface at rest, flat or curved, up to 200,000 vertices (25 kB
                            ///< each in a body); may have borders and holes; neighbouring
                            ///< triangles must be wound consistently
  float thickness;          ///< m, > 0; default 0.002
  float density;            ///< kg/m^3, > 0; default 1000
  float youngs_modulus;     ///< Pa, > 0; default 1e6
  float poissons_ratio;     ///< 0 to below 0.5; default 0.3
  const float* youngs_modulus_field;  ///< Pa, per vertex; replaces the above; may be NULL
  const float* poissons_ratio_field;  ///< per vertex; replaces the above; may be NULL
  float contact_radius;      ///< m, of the particles as spheres in contact; 0 (default): half the
                             ///< thickness
  yw_slender_params params;  ///< initial parameters of bodies
  yw_slender_examples examples;
  /// What is shown, at rest: a surface near the mesh, such as the one that it was remeshed from,
  /// which follows it without showing its facets. NULL (default): the mesh with its thickness.
  const yw_tri_mesh* surface;
  const int32_t* surface_home;  ///< a vertex of mesh near each vertex of surface, as from
                                ///< yw_tri_mesh_remesh; NULL, or -1: searched
} yw_sheet_def;
YW_API yw_sheet_def yw_default_sheet_def(void);
/// Its bodies have one particle per vertex, in the same order. Warns as yw_model_create_rod.
YW_API yw_status yw_model_create_sheet(const yw_allocator* mem, const yw_sheet_def* def,
                                       yw_model** out, yw_error* error);

// Bodies. These functions return YW_ERR_INVALID for bodies of other methods.

YW_API yw_status yw_body_slender_params(const yw_world* world, yw_body_id body,
                                        yw_slender_params* out);
/// YW_ERR_INVALID if a parameter is out of range.
YW_API yw_status yw_body_set_slender_params(yw_world* world, yw_body_id body,
                                            const yw_slender_params* params);

/// Current statistics of a rod or sheet.
typedef struct yw_slender_statistics {
  int32_t num_elements;  ///< pairs of a rod, triangles of a sheet
  int32_t newton_steps;  ///< of implicit solvers, in the last step
} yw_slender_statistics;
YW_API yw_status yw_body_slender_statistics(const yw_world* world, yw_body_id body,
                                            yw_slender_statistics* out);
/// Example weights in the last step, before beta is applied: a row of 1 + count numbers per group,
/// the rest pose first. Writes at most capacity numbers (out may be NULL) and returns the number of
/// groups; 0 for bodies of other methods.
YW_API int32_t yw_body_slender_weights(const yw_world* world, yw_body_id body, float* out,
                                       int32_t capacity);
/// As yw_body_match_set_weights (yawara/match.h).
YW_API yw_status yw_body_slender_set_weights(yw_world* world, yw_body_id body, int32_t group,
                                             const float* weights, float share);

#ifdef __cplusplus
}
#endif
#endif
