// SPDX-License-Identifier: MIT
// Brings a surface of a pose to a body at rest: rotation, scale and place.
#ifndef YW_GEOMETRY_POSE_ALIGN_H
#define YW_GEOMETRY_POSE_ALIGN_H

#include "geometry/triangle_tree.h"
#include "yawara/model.h"

/// y = scale * rotation x + shift
typedef struct yw_similarity {
  yw_mat3 rotation;
  float scale;
  yw_vec3 shift;
} yw_similarity;

yw_vec3 yw_similarity_apply(const yw_similarity* map, yw_vec3 x);
yw_vec3 yw_similarity_undo(const yw_similarity* map, yw_vec3 y);

/// Finds the map from the rest pose to the pose. boundary: that of the tets; tree: of the pose.
void yw_pose_find_alignment(const yw_pose_fit_def* def, const yw_tri_mesh* boundary,
                            const yw_triangle_tree* tree, yw_similarity* out);

/// y = map x + shift
typedef struct yw_affine {
  yw_mat3 map;
  yw_vec3 shift;
} yw_affine;

/// The affine map of the rest pose that fits an aligned pose best (tree: of that pose); the unit
/// map where it would turn the body inside out or flatten it.
yw_status yw_pose_find_affine(const yw_tri_mesh* boundary, const yw_tri_mesh* pose,
                              const yw_triangle_tree* tree, yw_affine* out);

/// Sum of the normals of the triangles around every vertex, for these positions.
void yw_surface_normals(const yw_tri_mesh* mesh, const yw_vec3* positions, yw_vec3* normals);
yw_vec3 yw_tree_normal(const yw_tree_triangle* triangle);
/// Whether two pieces of surface look into about the same direction: not the far side of something
/// thin, and not a side wall instead of an end.
bool yw_normals_agree(yw_vec3 a, yw_vec3 b);

/// Signed volume inside a surface, m^3.
double yw_surface_volume(const yw_tri_mesh* mesh);

#endif
