// SPDX-License-Identifier: MIT
// What an OBJ file says besides positions: texture coordinates, normals, polygons, groups and
// materials. Kept with a run, so that exports give the file back with moved vertices.
#ifndef YW_APP_PLAYBACK_OBJ_SOURCE_H
#define YW_APP_PLAYBACK_OBJ_SOURCE_H

#include "yawara/yawara.h"

/// The lines of the file except its vertices and comments, with all indices counted from the
/// beginning. NULL if it has none that matter, is not understood, or does not have num_vertices
/// vertices. Free with yw_mem_free(NULL, ...).
char* obj_source_take(const char* text, size_t size, int32_t num_vertices);
/// The same from texture coordinates and normals of each vertex, of a file that is not OBJ; uv or
/// normals may be NULL. NULL if both are, or if there is not enough memory.
char* obj_source_make(const yw_tri_mesh* surface, float* const uv[2], float* const normals[3]);
/// The same from texture coordinates of corners, and materials. NULL if it has neither, or there is
/// not enough memory.
char* obj_source_of_look(const yw_tri_mesh* surface, const yw_mesh_look* look);
/// The same from the triangles alone. NULL: there is not enough memory.
char* obj_source_plain(const yw_tri_mesh* surface);
/// Writes the file with the vertices of `posed`; normals turn with the surface. source is not
/// trusted. rest and posed have the same triangles.
yw_status obj_source_write(const char* path, const char* source, const yw_tri_mesh* rest,
                           const yw_tri_mesh* posed, yw_error* error);

#endif
