// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Writes VTU files (appended raw data, uncompressed) and PVD files that list the files of a series.
#ifndef YAWARA_EXTEND_VTU_WRITE_H
#define YAWARA_EXTEND_VTU_WRITE_H

#include "../mesh.h"

/// Values at points or in cells.
typedef struct yw_vtu_field {
  const char* name;
  int32_t components;   ///< per point or cell, >= 1
  const float* values;  ///< components * num_points (or num_cells)
  bool per_cell;
  const char* unit;     ///< stored as VTK's UNITS_LABEL; NULL or "": none
  const char* meaning;  ///< stored as a comment; NULL or "": none
} yw_vtu_field;

/// Cells of one kind and their data.
typedef struct yw_vtu_grid {
  int32_t num_points;
  const yw_vec3* positions;
  int32_t num_cells;
  int32_t corners_per_cell;  ///< 1: points, 2: lines, 3: triangles, 4: tets
  const int32_t* cells;      ///< NULL with 1 corner: every point is a cell
  const int32_t* labels;     ///< per cell; NULL: none
  const yw_vtu_field* fields;
  int32_t num_fields;
} yw_vtu_grid;

YW_API yw_status yw_vtu_write(const char* path, const yw_vtu_grid* grid, const yw_allocator* mem,
                              yw_error* error);
YW_API yw_status yw_vtu_write_triangles(const char* path, const yw_tri_mesh* mesh, yw_error* error);
YW_API yw_status yw_vtu_write_tets(const char* path, const yw_tet_mesh* mesh, yw_error* error);

/// One file of a series.
typedef struct yw_pvd_entry {
  double time;       ///< s
  int32_t part;      ///< several files may share a time, e.g. one per body
  const char* file;  ///< relative to the folder of the PVD file
} yw_pvd_entry;

YW_API yw_status yw_pvd_write(const char* path, const yw_pvd_entry* entries, int32_t count,
                              const yw_allocator* mem, yw_error* error);

#endif
