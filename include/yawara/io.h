// SPDX-License-Identifier: MIT
// Files: meshes, scenes, caches. Files are not trusted: every error names file, place, what was
// found and what was expected. Output goes to a temporary name and is renamed when complete.
#ifndef YAWARA_IO_H
#define YAWARA_IO_H

#include "base.h"
#include "mesh.h"
#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reads a surface by the ending of its name: .obj, .ply, .stl, and the boundary of any tet format.
YW_API yw_status yw_tri_mesh_read(const char* path, const yw_allocator* mem, yw_tri_mesh* out,
                                  yw_error* error);
/// Reads tets by the ending of the name: .node or .ele (TetGen, either names both), .msh (Gmsh 2.2
/// and 4.1), .vtk (legacy), .vtu, .mesh (Medit). Tets of the wrong orientation are turned.
YW_API yw_status yw_tet_mesh_read(const char* path, const yw_allocator* mem, yw_tet_mesh* out,
                                  yw_error* error);
/// Reads only the vertex positions of a mesh file (example poses).
YW_API yw_status yw_positions_read(const char* path, const yw_allocator* mem, yw_vec3** out,
                                   int32_t* count, yw_error* error);

/// Writes by the ending: .obj, .ply (binary), .stl (binary), .vtu
YW_API yw_status yw_tri_mesh_write(const char* path, const yw_tri_mesh* mesh, yw_error* error);
/// Writes by the ending: .node/.ele (both), .vtu, .msh (4.1 ascii), .mesh
YW_API yw_status yw_tet_mesh_write(const char* path, const yw_tet_mesh* mesh, yw_error* error);

#ifdef __cplusplus
}
#endif
#endif
