// SPDX-License-Identifier: MIT
// Options of `yawara mesh` for tets of several sizes: around points, and by a property of a file.
#ifndef YW_APP_COMMANDS_MESH_SIZES_H
#define YW_APP_COMMANDS_MESH_SIZES_H

#include "console/model_options.h"

typedef struct sized_point {
  yw_vec3 at;
  float size;  ///< m
} sized_point;

typedef struct mesh_sizes {
  option_list near;      ///< X,Y,Z=H each
  const char* property;  ///< of the vertices of the model (.ply): edge length there, m; NULL: none
  int32_t num_points;
  sized_point points[OPTION_LIST_MAX];
  int32_t num_vertices;
  sized_point* vertices;  ///< in order of x
} mesh_sizes;

/// Reads the points and the property; positions change as those of the model do.
yw_status mesh_sizes_read(mesh_sizes* sizes, const char* model, const model_options* options,
                          yw_error* error);
void mesh_sizes_free(mesh_sizes* sizes);
/// Gives the mesher the sizes, if there are any.
void mesh_sizes_apply(mesh_sizes* sizes, yw_mesher_def* def);

#endif
