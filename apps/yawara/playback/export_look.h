// SPDX-License-Identifier: MIT
// Texture coordinates and materials of a model for exports.
#ifndef YW_APP_PLAYBACK_EXPORT_LOOK_H
#define YW_APP_PLAYBACK_EXPORT_LOOK_H

#include "playback/obj_corners.h"
#include "playback/shown.h"
#include "yawara/extend/ply_write.h"

/// Zero-initialised: a model whose file says nothing.
typedef struct export_look {
  bool known;
  obj_corners corners;
  float* uvs;          ///< for PLY: of vertices, or of corners where a vertex has several
  bool per_vertex;     ///< the former
  const char** names;  ///< of materials
} export_look;

yw_status export_look_take(const shown_model* model, export_look* out, yw_error* error);
void export_look_free(export_look* look);
/// Valid as long as the look.
yw_ply_look export_look_ply(const export_look* look);

#endif
