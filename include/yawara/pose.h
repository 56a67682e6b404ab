// SPDX-License-Identifier: MIT
// Poses: deformations that make them, and what a pose is worth as an example.
#ifndef YAWARA_POSE_H
#define YAWARA_POSE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// Deformations ------------------------------------------------------------------------------------
// Each keeps its origin in place; an amount of 0 changes no bit.

/// s is the signed distance along the axis from the origin.
typedef enum yw_deform_kind {
  /// Rotates cross-sections about the axis by amount * s / length: amount (rad) is the right-handed
  /// angle between two ends that are length apart.
  YW_DEFORM_TWIST,
  /// Bends the axis into a circular arc towards `toward`: amount (rad) is the angle between the
  /// tangents at two ends that are length apart. The axis keeps its length.
  YW_DEFORM_BEND,
  /// Two such arcs, the upper half towards `toward`, the lower half away from it: amount (rad) is
  /// the angle by which the tangent turns from the middle to either end.
  YW_DEFORM_S_BEND,
  YW_DEFORM_SHEAR,    ///< displaces by amount * s towards `toward`: amount is the slope
  YW_DEFORM_TAPER,    ///< scales cross-sections by 1 + amount * s / length, which must stay > 0
  YW_DEFORM_SQUASH,   ///< shortens by the fraction amount (< 1) along the axis and widens: keeps
                      ///< the volume
  YW_DEFORM_STRETCH,  ///< lengthens by the fraction amount (> -1) along the axis, width unchanged
  YW_DEFORM_SCALE,    ///< enlarges by the fraction amount (> -1) in all directions
  YW_DEFORM_COUNT
} yw_deform_kind;

typedef struct yw_deform {
  yw_deform_kind kind;
  yw_vec3 axis;    ///< along the body; need not be a unit vector; default y
  yw_vec3 toward;  ///< across the axis (made perpendicular); zero: any direction; default x
  yw_vec3 origin;  ///< m, a point of the axis that stays in place
  float amount;    ///< see the kinds; 0: no effect
  float length;    ///< m, > 0; 0 (default): the extent of the points along the axis
} yw_deform;

YW_API yw_deform yw_default_deform(yw_deform_kind kind);

/// Moves count points; in and out may be the same. Nothing is written on error.
YW_API yw_status yw_deform_apply(const yw_deform* deform, int32_t count, const yw_vec3* in,
                                 yw_vec3* out, yw_error* error);

/// "twist", "bend", "s_bend", "shear", "taper", "squash", "stretch", "scale".
YW_API const char* yw_deform_name(yw_deform_kind kind);
/// The kind of that name; -1 if there is none.
YW_API int32_t yw_deform_from_name(const char* name);

// What regions feel of a pose ---------------------------------------------------------------------
// match and frames compare the stretch of regions, the tets around a vertex, with that of the
// examples. They do not feel how regions are turned, so a pose that turns parts without stretching
// anything does not attract.

#define YW_POSE_MAX_GROUPS 32

/// The same for the regions that choose together.
typedef struct yw_pose_group {
  int32_t label;
  int32_t num_regions;
  float stretch;   ///< see yw_pose_report
  float turn;      ///< see yw_pose_report
  float distance;  ///< to the nearest pose of the body, over the group's own stretch
} yw_pose_group;

typedef struct yw_pose_report {
  int32_t inverted_tets;   ///< tets without volume, or inside out
  int32_t first_inverted;  ///< -1: none
  /// Regions that as a whole are inside out: stretches no longer say what such a region looks like.
  int32_t inverted_regions;
  float stretch;       ///< root mean square over the regions of |S - 1|, S their stretch
  float turn;          ///< the same of |R - R_body|: how differently from the body regions turn
  float seen;          ///< stretch / sqrt(stretch^2 + turn^2): the share of the change that is felt
  int32_t nearest;     ///< the pose that is most alike: a number of a pose, or -1 for the rest pose
  float distance;      ///< to it: root mean square of |S - S_nearest|, over stretch; 1 for the rest
  int32_t num_groups;  ///< of groups; further ones are left out
  yw_pose_group groups[YW_POSE_MAX_GROUPS];
} yw_pose_report;

/// Measures poses of a tet mesh; reports has num_poses entries. labels: group of each vertex, or
/// NULL for one group. YW_ERR_GEOMETRY: a mesh that cannot be simulated, or a position that is not
/// finite.
YW_API yw_status yw_pose_check(const yw_tet_mesh* rest, const int32_t* labels, int32_t num_poses,
                               const yw_vec3* const* poses, yw_pose_report* reports,
                               yw_error* error);

/// What may disappoint about a pose, from worst to mildest.
typedef enum yw_pose_flaw {
  YW_POSE_FINE = 0,
  YW_POSE_INVERTED,  ///< more than one region in a hundred is inside out
  YW_POSE_REST,      ///< the same as the rest pose, perhaps turned as a whole
  YW_POSE_TURNS,     ///< turns parts, but stretches next to nothing
  YW_POSE_TWIN       ///< the same as another pose
} yw_pose_flaw;
YW_API yw_pose_flaw yw_pose_flaw_of(const yw_pose_report* report);
/// What is wrong and what to do, in one or two sentences that follow the name of the pose: "turns
/// parts of the body without ...". names: of the poses, or NULL. Writes at most capacity - 1
/// characters and returns the flaw; "" for YW_POSE_FINE.
YW_API yw_pose_flaw yw_pose_words(const yw_pose_report* report, const char* const* names, char* out,
                                  int32_t capacity);

// Between poses -----------------------------------------------------------------------------------

/// A mixture of two poses in which the body passes through itself.
typedef struct yw_pose_mixture {
  int32_t from, to;            ///< numbers of the poses; -1: the rest pose
  float share;                 ///< of the second one, > 0 to 1; 1 is that pose itself
  int32_t crossing_triangles;  ///< of the surface of the tets, that pass through others
  yw_vec3 place;               ///< m, of one of them
} yw_pose_mixture;

/// Looks for such mixtures on the way from the rest pose to each pose, and from each pose to every
/// other, at `steps` - 1 places in between (1 to 100 steps; 1: the poses themselves only).
/// Stretches of tets are mixed, as bodies with examples mix them. Writes at most `capacity`
/// mixtures; *count is how many there are. Errors as those of yw_pose_check.
YW_API yw_status yw_pose_check_mixtures(const yw_tet_mesh* rest, int32_t num_poses,
                                        const yw_vec3* const* poses, int32_t steps,
                                        yw_pose_mixture* mixtures, int32_t capacity, int32_t* count,
                                        yw_error* error);

#ifdef __cplusplus
}
#endif
#endif
