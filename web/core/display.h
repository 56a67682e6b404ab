// SPDX-License-Identifier: MIT
// Surfaces as a graphics card wants them: one normal per vertex, so vertices on creases appear once
// per side. Split once, from the rest pose; normals follow the motion.
#ifndef YW_WEB_DISPLAY_H
#define YW_WEB_DISPLAY_H

#include "yawara/mesh.h"

typedef struct display_mesh {
  int32_t num_vertices, num_triangles;
  int32_t* source;     ///< vertex of the surface, for each vertex
  int32_t* triangles;  ///< 3 vertices each
} display_mesh;

/// Edges that turn by more than `crease` degrees at rest stay sharp. False if out of memory.
bool display_mesh_create(const yw_tri_mesh* surface, float crease, display_mesh* out);
void display_mesh_free(display_mesh* mesh);
/// Positions and unit normals of all vertices, given those of the surface.
void display_mesh_move(const display_mesh* mesh, const yw_vec3* surface, yw_vec3* positions,
                       yw_vec3* normals);

#endif
