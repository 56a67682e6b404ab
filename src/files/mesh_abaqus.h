// SPDX-License-Identifier: MIT
// Sets of elements of an Abaqus or CalculiX input file, which become labels of tets.
#ifndef YW_FILES_MESH_ABAQUS_H
#define YW_FILES_MESH_ABAQUS_H

#include "files/tag_index.h"

/// Elements first, first + step, ... up to last.
typedef struct yw_set_range {
  int32_t set;
  int64_t first, last, step;
} yw_set_range;

typedef struct yw_element_set {
  yw_span name;
  bool section;  ///< a *SOLID SECTION uses it
  bool listed;   ///< a keyword *ELSET names it
} yw_element_set;

/// Zero-initialise it.
typedef struct yw_element_sets {
  YW_LIST(yw_element_set) sets;  ///< in the order of the file
  YW_LIST(yw_set_range) ranges;
} yw_element_sets;

/// The set of this name, made if there is none; -1 after an error.
int32_t yw_set_named(yw_element_sets* sets, yw_scan* scan, const yw_allocator* mem, yw_span name);
bool yw_set_add(yw_element_sets* sets, yw_scan* scan, const yw_allocator* mem, yw_set_range range);
/// Adds all elements of another set.
bool yw_set_add_set(yw_element_sets* sets, yw_scan* scan, const yw_allocator* mem, int32_t to,
                    yw_span from);
/// Labels of the tets whose element numbers are given, see yw_tet_mesh_read.
bool yw_set_labels(const yw_element_sets* sets, yw_scan* scan, yw_mesh_build* build,
                   yw_tag_index* elements);
void yw_set_free(yw_element_sets* sets, const yw_allocator* mem);

#endif
