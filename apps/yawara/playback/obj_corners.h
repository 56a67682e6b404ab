// SPDX-License-Identifier: MIT
// The corners of a surface as its OBJ file has them: texture coordinates, normals and materials,
// for formats whose vertices have one of each.
#ifndef YW_APP_PLAYBACK_OBJ_CORNERS_H
#define YW_APP_PLAYBACK_OBJ_CORNERS_H

#include "yawara/yawara.h"

#define OBJ_MAX_MATERIAL 128  // bytes of a name, the 0 at the end included

typedef struct obj_corners {
  /// One point for each combination of vertex, texture coordinate and normal. Without any they are
  /// the vertices.
  int32_t num_points;
  int32_t* vertices;   ///< of the surface, one per point
  float* uvs;          ///< 2 per point; 0 where a corner has none. NULL: the file has none
  yw_vec3* normals;    ///< unit, at rest; NULL unless all corners have one and they face outwards
  int32_t* triangles;  ///< 3 points each, in the order of the surface
  int32_t* materials;  ///< of each triangle, an index of names; -1: none
  int32_t num_materials;
  char (*names)[OBJ_MAX_MATERIAL];
} obj_corners;

/// source: see obj_source.h; it is not trusted. False if it does not belong to these triangles, or
/// if there is not enough memory. Free it only if true.
bool obj_corners_read(const char* source, const yw_tri_mesh* surface, obj_corners* out);
void obj_corners_free(obj_corners* corners);
/// The file's normals at rest, 3 per triangle of the surface; NULL if there are none (see above),
/// or not enough memory. Free with yw_mem_free(NULL, ...).
yw_vec3* obj_corner_normals(const char* source, const yw_tri_mesh* surface);

#endif
