// SPDX-License-Identifier: MIT
// "sizes" of a shape filled with tets: where they are smaller than elsewhere.
#ifndef YW_SCENE_TET_SIZES_H
#define YW_SCENE_TET_SIZES_H

#include "scene/stiffness.h"

typedef struct yw_sized_point {
  yw_vec3 at;
  float size;  ///< m
} yw_sized_point;

typedef struct yw_tet_size_spec {
  yw_stiffness_spec layer;  ///< where, and how the size varies
  const yw_json *size_node, *points_node;
  float growth;  ///< m of size per m of distance from the points
  yw_layer_value size;
  int32_t num_points;
  yw_sized_point* points;  ///< owned by the document
} yw_tet_size_spec;

typedef struct yw_tet_sizes {
  int32_t count;
  yw_tet_size_spec* items;  ///< owned by the document
} yw_tet_sizes;

/// Reads a list; node may be NULL.
bool yw_load_tet_sizes(yw_loader* l, const yw_json* node, yw_tet_sizes* out);
/// Opens the files. Close frees what was opened, also after a failure.
bool yw_open_tet_sizes(yw_loader* l, yw_tet_sizes* sizes);
void yw_close_tet_sizes(yw_tet_sizes* sizes);
/// The smallest size of all layers at a point, m; INFINITY: none reaches it. For
/// yw_mesher_def.size_at, with yw_tet_sizes as context.
float yw_tet_size_at(void* sizes, yw_vec3 p);

#endif
