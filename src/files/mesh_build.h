// SPDX-License-Identifier: MIT
// The output of a mesh reader: lists that grow with the actual contents of the file, and the checks
// common to all formats. Indices may refer to vertices that come later in the file; the largest one
// is recorded with its position and checked at the end.
#ifndef YW_FILES_MESH_BUILD_H
#define YW_FILES_MESH_BUILD_H

#include "files/text_scan.h"
#include "yawara/extend/memory.h"
#include "yawara/files.h"
#include "yawara/mesh.h"

/// Appends to a YW_LIST; false, with an error in the scan, if out of memory.
#define YW_PUSH(mem, scan, list, value)                                    \
  (((list)->count < (list)->capacity || YW_LIST_RESERVE((mem), (list), 1)) \
       ? ((list)->items[(list)->count++] = (value), true)                  \
       : yw_scan_fail_memory(scan))

typedef struct yw_mesh_build {
  yw_allocator mem;
  int32_t index_base;  ///< number of the first vertex in the file, for messages: 0 or 1
  const char* path;    ///< of the file, to find others beside it; NULL: there are none
  /// A second file that holds the vertices (TetGen), for messages; NULL: the same.
  const char* vertex_file;
  YW_LIST(yw_vec3) positions;
  YW_LIST(yw_vec3) colors;   ///< empty, or as many as positions once finished
  YW_LIST(int32_t) corners;  ///< of all polygons, concatenated
  YW_LIST(int32_t) sizes;    ///< number of corners of each polygon
  YW_LIST(int32_t) tets;     ///< 4 each
  YW_LIST(int32_t) labels;   ///< empty, or one per tet
  const char* attribute;     ///< vertex property to read as well (PLY), or NULL
  YW_LIST(float) painted;    ///< its values, one per vertex
  bool with_look;            ///< read texture coordinates and materials as well (glTF, PLY)
  bool has_uvs;              ///< some vertices have texture coordinates
  YW_LIST(float) uvs;  ///< of each vertex, before equal ones are merged; 0 where there are none
  YW_LIST(yw_vec3) normals;    ///< of each vertex, likewise; fewer where some have none (glTF)
  YW_LIST(float) corner_uvs;   ///< of each corner of the polygons (PLY); or empty
  YW_LIST(int32_t) materials;  ///< of each polygon; -1: none
  YW_LIST(char*) names;        ///< of the materials
  bool drop_unused;            ///< leave out vertices of no cell (Gmsh's geometry points)
  int32_t num_curved;          ///< cells with nodes on their edges, read as linear ones
  bool weld;                   ///< the format repeats vertices (STL, glTF): merge equal ones
  int32_t num_other;           ///< volume cells that are not tets
  const char* other_name;      ///< their name, e.g. "hexahedra"
  // The largest vertex index so far and what refers to it.
  int64_t worst_index, worst_number;
  const char *worst_kind, *worst_place;
} yw_mesh_build;

void yw_mesh_build_init(yw_mesh_build* build, const yw_allocator* mem);
void yw_mesh_build_free(yw_mesh_build* build);

/// Adds a vertex; refuses values that are not finite as floats.
bool yw_build_position(yw_mesh_build* build, yw_scan* scan, const double p[3]);
/// Gives the last vertex a color, clamped to 0 to 1; earlier vertices without one become white.
bool yw_build_color(yw_mesh_build* build, yw_scan* scan, const double rgb[3]);
/// Adds the corners of a polygon one by one (0-based), then ends it. Fewer than 3 corners: error.
bool yw_build_corner(yw_mesh_build* build, yw_scan* scan, int64_t index);
bool yw_build_polygon_end(yw_mesh_build* build, yw_scan* scan, int32_t num_corners);
/// Adds a tet (0-based corners).
bool yw_build_tet(yw_mesh_build* build, yw_scan* scan, const int64_t corners[4]);
/// Gives the last tet a label; earlier tets without one get 0.
bool yw_build_label(yw_mesh_build* build, yw_scan* scan, int64_t label);
/// Counts a cell with nodes on its edges, of which only the corners were added: the other nodes are
/// left out at the end.
void yw_build_curved(yw_mesh_build* build);

/// Called after the last byte: checks indices and the numbers of colors and labels, and reorients
/// tets to positive volume.
bool yw_build_finish(yw_mesh_build* build, yw_scan* scan);

/// Transfer the result; the build keeps nothing of it. path is for messages.
/// YW_WARN_REDUNDANT, with a message: curved cells were read as linear ones.
yw_status yw_build_take_tets(yw_mesh_build* build, const char* path, yw_tet_mesh* out,
                             yw_error* error);
yw_status yw_build_take_triangles(yw_mesh_build* build, const char* path, yw_tri_mesh* out,
                                  yw_error* error);
/// Texture coordinates and materials, with the triangles.
yw_status yw_build_take_look(yw_mesh_build* build, const char* path, yw_tri_mesh* out,
                             yw_mesh_look* look, yw_error* error);
yw_status yw_build_take_positions(yw_mesh_build* build, const char* path, yw_vec3** out,
                                  int32_t* count, yw_error* error);

/// Merges equal positions (bitwise, but -0 equals 0), in the order of first appearance; index_of[i]
/// is the new number of vertex i. Returns the new count, or -1 if out of memory. out may be
/// positions.
int32_t yw_weld_positions(const yw_allocator* mem, const yw_vec3* positions, int32_t count,
                          yw_vec3* out, int32_t* index_of);

#endif
