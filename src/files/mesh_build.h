// SPDX-License-Identifier: MIT
// What a mesh reader fills: lists that grow with what the file really holds, and the checks all
// formats share. Indices may refer to vertices that come later in the file; the largest one is
// remembered with its place and checked at the end.
#ifndef YW_FILES_MESH_BUILD_H
#define YW_FILES_MESH_BUILD_H

#include "files/text_scan.h"
#include "yawara/extend/memory.h"
#include "yawara/mesh.h"

/// Appends to a YW_LIST; false after an error in the scan when memory is out.
#define YW_PUSH(mem, scan, list, value)                                    \
  (((list)->count < (list)->capacity || YW_LIST_RESERVE((mem), (list), 1)) \
       ? ((list)->items[(list)->count++] = (value), true)                  \
       : yw_scan_fail_memory(scan))

typedef struct yw_mesh_build {
  yw_allocator mem;
  int32_t index_base;  ///< number of the first vertex in the file, for messages: 0 or 1
  /// A second file that has the vertices (TetGen), for messages; NULL: the same.
  const char* vertex_file;
  YW_LIST(yw_vec3) positions;
  YW_LIST(yw_vec3) colors;   ///< empty, or as many as positions once finished
  YW_LIST(int32_t) corners;  ///< of all polygons, one after another
  YW_LIST(int32_t) sizes;    ///< number of corners of each polygon
  YW_LIST(int32_t) tets;     ///< 4 each
  YW_LIST(int32_t) labels;   ///< empty, or one per tet
  const char* attribute;     ///< number of vertices to be kept besides (PLY), or NULL
  YW_LIST(float) painted;    ///< its values, one per vertex
  bool drop_unused;        ///< vertices of no tet are no part of the body (Gmsh's geometry points)
  bool weld;               ///< the format repeats vertices (STL): join equal ones
  int32_t num_other;       ///< volume cells that are not tets
  const char* other_name;  ///< what they are, e.g. "hexahedra"
  // The largest vertex index so far and who refers to it.
  int64_t worst_index, worst_number;
  const char *worst_kind, *worst_place;
} yw_mesh_build;

void yw_mesh_build_init(yw_mesh_build* build, const yw_allocator* mem);
void yw_mesh_build_free(yw_mesh_build* build);

/// Adds a vertex; refuses what is not finite as a float.
bool yw_build_position(yw_mesh_build* build, yw_scan* scan, const double p[3]);
/// Gives the last vertex a color, clamped to 0 to 1; earlier ones without become white.
bool yw_build_color(yw_mesh_build* build, yw_scan* scan, const double rgb[3]);
/// Adds the corners of a polygon one by one (0-based); then ends it. Fewer than 3 corners: error.
bool yw_build_corner(yw_mesh_build* build, yw_scan* scan, int64_t index);
bool yw_build_polygon_end(yw_mesh_build* build, yw_scan* scan, int32_t num_corners);
/// Adds a tet (0-based corners).
bool yw_build_tet(yw_mesh_build* build, yw_scan* scan, const int64_t corners[4]);
/// Gives the last tet a label; earlier ones without get 0.
bool yw_build_label(yw_mesh_build* build, yw_scan* scan, int64_t label);
/// The error for tets with nodes on their edges.
bool yw_build_fail_second_order(yw_scan* scan, const char* how_to_avoid);

/// After the last byte: indices in range, as many colors and labels as things that have them, tets
/// turned to positive volume.
bool yw_build_finish(yw_mesh_build* build, yw_scan* scan);

/// Hand over what was read; the build keeps nothing of it. path is for messages.
yw_status yw_build_take_tets(yw_mesh_build* build, const char* path, yw_tet_mesh* out,
                             yw_error* error);
yw_status yw_build_take_triangles(yw_mesh_build* build, const char* path, yw_tri_mesh* out,
                                  yw_error* error);
yw_status yw_build_take_positions(yw_mesh_build* build, const char* path, yw_vec3** out,
                                  int32_t* count, yw_error* error);

/// Copies a vertex list in which equal positions (bit for bit, -0 is 0) appear once, in the order
/// of their first appearance; index_of[i] is the new number of vertex i. Returns the new count or
/// -1 when memory is out. out may be positions.
int32_t yw_weld_positions(const yw_allocator* mem, const yw_vec3* positions, int32_t count,
                          yw_vec3* out, int32_t* index_of);

#endif
