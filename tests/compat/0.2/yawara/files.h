// SPDX-License-Identifier: MIT
// Files: meshes, grids, point caches. Files are not trusted: every error names file, place, what
// was found and what was expected. Output goes to a temporary name and is renamed when complete.
#ifndef YAWARA_FILES_H
#define YAWARA_FILES_H

#include "base.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// All of these go by the ending of the name, letters of either case. Numbers are read and written
// the same in every locale. Errors in text name the line, in binary data the byte. Files above 4
// GiB, positions that are not finite and indices out of range are refused. mem may be NULL
// (malloc).

/// Reads a surface: .obj, .ply, .stl, and of the formats below the boundary of the tets, or their
/// faces where there are no tets. Polygons are cut into triangles; equal corners of STL files are
/// joined; colors are kept (.obj, .ply, .vtu). A file without faces is an error.
YW_API yw_status yw_tri_mesh_read(const char* path, const yw_allocator* mem, yw_tri_mesh* out,
                                  yw_error* error);
/// The same for a .ply file, with a number per vertex besides: the property of that name
/// ("quality", "stiffness", "red" ...). Integers become fractions of the largest of their type.
/// out_values is freed as in yw_positions_read.
YW_API yw_status yw_painted_mesh_read(const char* path, const char* attribute,
                                      const yw_allocator* mem, yw_tri_mesh* out, float** out_values,
                                      yw_error* error);
/// Reads tets: .node or .ele (TetGen, either names both), .msh (Gmsh 2.2 and 4.1), .vtk (legacy),
/// .vtu (uncompressed), .mesh (Medit). Tets of the wrong orientation are turned. Labels are
/// attributes (TetGen), physical groups or volumes (Gmsh), references (Medit), or cell data named
/// "label", "region" or "material" (VTK). Vertices keep their order; Gmsh's nodes that belong to no
/// tet are left out. Second-order tets and cells of other shapes are errors; faces, lines and
/// points beside the tets are passed over.
YW_API yw_status yw_tet_mesh_read(const char* path, const yw_allocator* mem, yw_tet_mesh* out,
                                  yw_error* error);
/// Reads only the vertex positions of a mesh file (example poses), in the order of the readers
/// above; of TetGen's pair only the .node file. STL gives three per triangle, not joined. Freed by
/// the caller: free() when mem is NULL, else with mem.
YW_API yw_status yw_positions_read(const char* path, const yw_allocator* mem, yw_vec3** out,
                                   int32_t* count, yw_error* error);

/// Writes a surface: .obj, .ply (binary), .stl (binary, no colors), .vtu. An older file stays as it
/// is until the new one is complete.
YW_API yw_status yw_tri_mesh_write(const char* path, const yw_tri_mesh* mesh, yw_error* error);
/// Writes tets: .node/.ele (both), .vtu, .msh (4.1 text; labels must not be negative), .mesh
YW_API yw_status yw_tet_mesh_write(const char* path, const yw_tet_mesh* mesh, yw_error* error);

/// Numbers at the points of a regular grid; x runs fastest.
typedef struct yw_grid {
  yw_allocator mem;
  int32_t size[3];  ///< points along each axis, >= 1
  yw_vec3 origin;   ///< of the first point, m
  yw_vec3 spacing;  ///< m, > 0
  float* values;    ///< size[0] * size[1] * size[2]
} yw_grid;

/// Reads .vti (VTK image data, uncompressed: the first array of one component in PointData or
/// CellData, or the one called `name`) or .mhd (MetaImage: a small text header and a raw file
/// beside it; name must be NULL). Values that are not finite are refused.
YW_API yw_status yw_grid_read(const char* path, const char* name, const yw_allocator* mem,
                              yw_grid* out, yw_error* error);
YW_API void yw_grid_free(yw_grid* grid);
/// Linear between the points; outside the value of the nearest point of the grid's box.
YW_API float yw_grid_value(const yw_grid* grid, yw_vec3 p);

#ifdef __cplusplus
}
#endif
#endif
