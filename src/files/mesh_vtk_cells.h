// SPDX-License-Identifier: MIT
// Cells as VTK stores them, shared by legacy .vtk and .vtu files: corner lists, their ends, types.
#ifndef YW_FILES_MESH_VTK_CELLS_H
#define YW_FILES_MESH_VTK_CELLS_H

#include "files/mesh_build.h"

#define YW_VTK_VERTEX 1
#define YW_VTK_POLY_VERTEX 2
#define YW_VTK_LINE 3
#define YW_VTK_POLY_LINE 4
#define YW_VTK_TRIANGLE 5
#define YW_VTK_STRIP 6
#define YW_VTK_POLYGON 7
#define YW_VTK_TET 10

typedef struct yw_vtk_cells {
  YW_LIST(int32_t) corners;
  YW_LIST(int32_t) ends;         ///< of each cell in corners, ascending
  YW_LIST(unsigned char) types;  ///< one per cell once complete
  YW_LIST(int32_t) labels;       ///< empty, or one per cell
} yw_vtk_cells;

void yw_vtk_cells_free(yw_vtk_cells* cells, const yw_allocator* mem);
/// Adds a corner to the cell after the last end. index counts from first_vertex; one outside the
/// vertices of this piece is an error at the scan's mark.
bool yw_vtk_push_corner(yw_vtk_cells* cells, yw_scan* scan, const yw_mesh_build* build,
                        int32_t first_vertex, int64_t index);
/// Ends a cell: its corners are those up to end, which must not be before the last end.
bool yw_vtk_push_end(yw_vtk_cells* cells, yw_scan* scan, const yw_allocator* mem, int64_t end);
bool yw_vtk_push_type(yw_vtk_cells* cells, yw_scan* scan, const yw_allocator* mem, int64_t type);
bool yw_vtk_push_label(yw_vtk_cells* cells, yw_scan* scan, const yw_allocator* mem, int64_t label);
/// Adds tets and faces, with labels, to the build.
bool yw_build_vtk_cells(yw_mesh_build* build, yw_scan* scan, const yw_vtk_cells* cells);
/// True for names of arrays that hold the region of a cell.
bool yw_vtk_is_label_name(yw_span name);

#endif
