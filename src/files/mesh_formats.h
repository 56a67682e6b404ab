// SPDX-License-Identifier: MIT
// One reader and, for some, one writer per mesh format. Readers fill a build from a scan over the
// whole file and return false after an error, which is in the scan.
#ifndef YW_FILES_MESH_FORMATS_H
#define YW_FILES_MESH_FORMATS_H

#include "files/mesh_build.h"
#include "yawara/extend/file.h"

bool yw_read_obj(yw_scan* scan, yw_mesh_build* build);
bool yw_read_ply(yw_scan* scan, yw_mesh_build* build);
bool yw_read_stl(yw_scan* scan, yw_mesh_build* build);
bool yw_read_gmsh(yw_scan* scan, yw_mesh_build* build);
bool yw_read_vtk(yw_scan* scan, yw_mesh_build* build);
bool yw_read_vtu(yw_scan* scan, yw_mesh_build* build);
bool yw_read_medit(yw_scan* scan, yw_mesh_build* build);
bool yw_read_medit_binary(yw_scan* scan, yw_mesh_build* build);
bool yw_read_abaqus(yw_scan* scan, yw_mesh_build* build);
/// Text (.gltf) or binary (.glb).
bool yw_read_gltf(yw_scan* scan, yw_mesh_build* build);
bool yw_read_tetgen_nodes(yw_scan* scan, yw_mesh_build* build);
/// After the nodes: uses the same numbering (from 0 or 1).
bool yw_read_tetgen_tets(yw_scan* scan, yw_mesh_build* build);

/// Write errors are kept in the file writer; what a format cannot represent is returned as a
/// status.
void yw_write_obj(yw_file_writer* file, const yw_tri_mesh* mesh);
void yw_write_stl(yw_file_writer* file, const yw_tri_mesh* mesh);
void yw_write_tetgen_nodes(yw_file_writer* file, const yw_tet_mesh* mesh);
void yw_write_tetgen_tets(yw_file_writer* file, const yw_tet_mesh* mesh);
yw_status yw_write_gmsh(yw_file_writer* file, const yw_tet_mesh* mesh, yw_error* error);
void yw_write_medit(yw_file_writer* file, const yw_tet_mesh* mesh);

/// Numbers as bytes in a given order, independent of this machine's byte order.
void yw_put_u32_le(unsigned char* out, uint32_t value);
void yw_put_u32_be(unsigned char* out, uint32_t value);
void yw_put_float_le(unsigned char* out, float value);
void yw_put_float_be(unsigned char* out, float value);

#endif
