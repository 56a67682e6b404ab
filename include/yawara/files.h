// SPDX-License-Identifier: MIT
// Mesh and grid files. Input is not trusted: every error names the file, the place, what was found
// and what was expected. Output goes to a temporary file, which is renamed when complete.
#ifndef YAWARA_FILES_H
#define YAWARA_FILES_H

#include "base.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// The format follows from the file extension, in either case. Numbers are read and written the same
// way in every locale. Errors name the line in text and the byte in binary data. Files above 4 GiB,
// non-finite positions and indices out of range are refused. Compressed VTK and MetaImage files
// need a decompressor, see extend/decompress.h. mem may be NULL (malloc).

/// Reads a surface: .obj, .ply, .stl, .gltf, .glb, or one of the tet formats below, whose boundary
/// is returned (or the faces in the file if it has no tets). Polygons are triangulated; equal
/// corners of STL and glTF files are merged; colors are kept (.obj, .ply, .vtu, .gltf, .glb). Of
/// glTF files the first scene is read, with all nodes in place. A file without faces is an error.
/// YW_WARN_REDUNDANT, with a message: as in yw_tet_mesh_read.
YW_API yw_status yw_tri_mesh_read(const char* path, const yw_allocator* mem, yw_tri_mesh* out,
                                  yw_error* error);
/// What a surface file says of its triangles besides positions and colors. Zeroed: nothing.
typedef struct yw_mesh_look {
  yw_allocator mem;
  int32_t num_uvs;     ///< 0: the file has no texture coordinates
  float* uvs;          ///< u and v of each, v from the bottom of a picture to its top
  int32_t* corners;    ///< 3 per triangle, each a number of a texture coordinate; NULL without
  int32_t* materials;  ///< of each triangle, a number of a name, or -1; NULL if there are no names
  int32_t num_materials;
  char** names;
  int32_t num_normals;      ///< 0: the file has none, or not for all triangles
  yw_vec3* normals;         ///< unit, as the positions are placed
  int32_t* normal_corners;  ///< 3 per triangle, each a number of a normal; NULL without
} yw_mesh_look;
/// yw_tri_mesh_read of a .gltf or .glb file, with the first texture coordinates, the normals and
/// the materials, or of a .ply file, with the texture coordinates of its faces ("texcoord") if they
/// are triangles.
YW_API yw_status yw_mesh_look_read(const char* path, const yw_allocator* mem, yw_tri_mesh* out,
                                   yw_mesh_look* look, yw_error* error);
YW_API void yw_mesh_look_free(yw_mesh_look* look);  ///< safe on a zeroed one

/// yw_tri_mesh_read of a .ply file, and also one value per vertex: the property with the given name
/// ("quality", "stiffness", "red" ...). Integers are divided by the largest value of their type.
/// Free out_values as in yw_positions_read.
YW_API yw_status yw_painted_mesh_read(const char* path, const char* attribute,
                                      const yw_allocator* mem, yw_tri_mesh* out, float** out_values,
                                      yw_error* error);
/// Reads tets: .node or .ele (TetGen, either one names the pair), .msh (Gmsh 2.2, 4.0 and 4.1),
/// .vtk (legacy), .vtu, .mesh and .meshb (Medit), .inp (Abaqus and CalculiX). Inverted tets are
/// reoriented. Labels are attributes (TetGen), physical groups or volumes (Gmsh, also of
/// partitioned meshes), references (Medit), cell data named "label", "region" or "material" (VTK),
/// or 1, 2, ... for the element sets of solid sections, else of *ELEMENT, else of *ELSET (Abaqus,
/// CalculiX). Vertices keep their order; nodes of .msh and .inp files that belong to no tet are
/// left out. Tets of higher order are read as linear ones, without the nodes on their edges:
/// YW_WARN_REDUNDANT, with a message. Other volume cells are errors; faces, lines and points are
/// ignored.
YW_API yw_status yw_tet_mesh_read(const char* path, const yw_allocator* mem, yw_tet_mesh* out,
                                  yw_error* error);
/// Reads only the vertex positions of a mesh file (for example poses), in the same order as the
/// readers above. Of a TetGen pair only the .node file is read. STL and glTF
/// give positions that are not merged. The caller frees *out: with free() if mem is NULL, else with
/// mem.
YW_API yw_status yw_positions_read(const char* path, const yw_allocator* mem, yw_vec3** out,
                                   int32_t* count, yw_error* error);

/// Writes a surface: .obj, .ply (binary), .stl (binary, no colors), .vtu. An existing file is kept
/// until the new one is complete.
YW_API yw_status yw_tri_mesh_write(const char* path, const yw_tri_mesh* mesh, yw_error* error);
/// Writes tets: .node/.ele (both), .vtu, .msh (4.1 text; labels must be >= 0), .mesh.
YW_API yw_status yw_tet_mesh_write(const char* path, const yw_tet_mesh* mesh, yw_error* error);

/// Values at the points of a regular grid; x runs fastest.
typedef struct yw_grid {
  yw_allocator mem;
  int32_t size[3];  ///< points along each axis, >= 1
  yw_vec3 origin;   ///< position of the first point, m
  yw_vec3 spacing;  ///< m, > 0
  float* values;    ///< size[0] * size[1] * size[2]
} yw_grid;

/// Reads .vti (VTK image data: the first one-component array in PointData or CellData, or the one
/// called `name`), .mhd or .mha (MetaImage: a text header, and the values in a file beside it or
/// after it; name must be NULL). Non-finite values are refused.
YW_API yw_status yw_grid_read(const char* path, const char* name, const yw_allocator* mem,
                              yw_grid* out, yw_error* error);
YW_API void yw_grid_free(yw_grid* grid);
/// Trilinear interpolation; outside the grid, the value at the nearest point of its box.
YW_API float yw_grid_value(const yw_grid* grid, yw_vec3 p);

#ifdef __cplusplus
}
#endif
#endif
