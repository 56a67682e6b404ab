// SPDX-License-Identifier: MIT
// Turns the normals of a file as the surface around their vertices turned.
#ifndef YW_APP_PLAYBACK_SURFACE_TURN_H
#define YW_APP_PLAYBACK_SURFACE_TURN_H

#include "yawara/yawara.h"

typedef struct surface_turn {
  const yw_tri_mesh *rest, *posed;
  yw_vec3 *rest_normals, *normals;  ///< of vertices
  int32_t* neighbours;              ///< of vertices, along an edge
} surface_turn;

/// Both surfaces have the same triangles, and outlive it. False if out of memory; close it in
/// either case.
bool surface_turn_open(const yw_tri_mesh* rest, const yw_tri_mesh* posed, surface_turn* out);
void surface_turn_close(surface_turn* t);
/// Where a normal n at rest, at this vertex, points now.
yw_vec3 surface_turn_normal(const surface_turn* t, int32_t vertex, yw_vec3 n);

#endif
