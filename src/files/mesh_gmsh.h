// SPDX-License-Identifier: MIT
// State of the reader of Gmsh's .msh files, shared by its two files.
#ifndef YW_FILES_MESH_GMSH_H
#define YW_FILES_MESH_GMSH_H

#include "files/mesh_formats.h"
#include "files/tag_index.h"

/// A volume. Parts of a partitioned volume have a parent.
typedef struct yw_gmsh_entity {
  int64_t tag, physical, parent;  ///< 0: none
} yw_gmsh_entity;

typedef enum yw_gmsh_version { YW_GMSH_2, YW_GMSH_40, YW_GMSH_41 } yw_gmsh_version;

typedef struct yw_gmsh {
  yw_scan* scan;
  yw_mesh_build* build;
  yw_gmsh_version version;
  yw_encoding values;               ///< encoding inside the sections
  yw_scalar size_type;              ///< of counts in 4.x
  yw_scalar tag_type;               ///< of nodes and elements
  yw_tag_index nodes;               ///< in the order of positions
  YW_LIST(yw_gmsh_entity) volumes;  ///< 4.x: sorted by tag once complete
  YW_LIST(int32_t) elementary;      ///< per tet
  bool any_physical;
} yw_gmsh;

/// A count of items that each take at least bytes_each.
bool yw_gmsh_count(yw_gmsh* g, const char* what, size_t bytes_each, int32_t* out);
/// Smallest size of a number in bytes.
size_t yw_gmsh_bytes(const yw_gmsh* g, yw_scalar type);

/// The sections $Entities and $PartitionedEntities: which physical group a volume belongs to.
bool yw_gmsh_read_entities(yw_gmsh* g, bool partitioned);
/// The physical group of a volume (0: none), and the volume that it is a part of, or itself.
void yw_gmsh_find_volume(const yw_gmsh* g, int64_t tag, int64_t* physical, int64_t* whole);

#endif
