// SPDX-License-Identifier: MIT
// Gmsh 4.1 as text: one volume entity per label, whose physical group is the label.
#include <stdlib.h>

#include "files/mesh_formats.h"
#include "yawara/extend/vec.h"

static int compare_labels(const void* a, const void* b) {
  int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
  return (x > y) - (x < y);
}

// Sorts labels in ascending order and removes duplicates.
static int32_t sort_unique(int32_t* labels, int32_t count) {
  qsort(labels, (size_t)count, sizeof *labels, compare_labels);
  int32_t unique = 0;
  for (int32_t i = 0; i < count; ++i)
    if (i == 0 || labels[i] != labels[i - 1]) labels[unique++] = labels[i];
  return unique;
}

// Number of the entity of a label, counted from 1.
static int32_t entity_of(const int32_t* labels, int32_t count, int32_t label) {
  int32_t low = 0, high = count;
  while (low + 1 < high) {
    int32_t middle = low + (high - low) / 2;
    if (labels[middle] <= label)
      low = middle;
    else
      high = middle;
  }
  return low + 1;
}

static int32_t label_of(const yw_tet_mesh* mesh, int32_t tet) {
  return mesh->labels ? mesh->labels[tet] : 0;
}

// TAG BOX NUM_PHYSICAL [PHYSICAL] NUM_BOUNDING
static void put_entities(yw_file_writer* file, const yw_tet_mesh* mesh, const int32_t* labels,
                         int32_t num_labels) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < mesh->num_vertices; ++i) box = yw_aabb_grow(box, mesh->positions[i]);
  yw_file_printf(file, "$Entities\n0 0 0 %d\n", num_labels);
  for (int32_t i = 0; i < num_labels; ++i) {
    yw_file_printf(file, "%d ", i + 1);
    yw_file_write_vec3(file, box.lower);
    yw_file_write(file, " ", 1);
    yw_file_write_vec3(file, box.upper);
    if (labels[i] != 0)
      yw_file_printf(file, " 1 %d 0\n", labels[i]);
    else
      yw_file_printf(file, " 0 0\n");
  }
  yw_file_printf(file, "$EndEntities\n");
}

static void put_nodes(yw_file_writer* file, const yw_tet_mesh* mesh) {
  int32_t count = mesh->num_vertices;
  yw_file_printf(file, "$Nodes\n1 %d 1 %d\n3 1 0 %d\n", count, count, count);
  for (int32_t i = 0; i < count; ++i) yw_file_printf(file, "%d\n", i + 1);
  for (int32_t i = 0; i < count; ++i) {
    yw_file_write_vec3(file, mesh->positions[i]);
    yw_file_write(file, "\n", 1);
  }
  yw_file_printf(file, "$EndNodes\n");
}

// One block per run of equal labels, so that tets keep their order.
static void put_elements(yw_file_writer* file, const yw_tet_mesh* mesh, const int32_t* labels,
                         int32_t num_labels) {
  int32_t num_blocks = 0;
  for (int32_t i = 0; i < mesh->num_tets; ++i)
    num_blocks += i == 0 || label_of(mesh, i) != label_of(mesh, i - 1);
  yw_file_printf(file, "$Elements\n%d %d 1 %d\n", num_blocks, mesh->num_tets, mesh->num_tets);
  for (int32_t begin = 0, end; begin < mesh->num_tets; begin = end) {
    int32_t label = label_of(mesh, begin);
    for (end = begin + 1; end < mesh->num_tets && label_of(mesh, end) == label;) ++end;
    yw_file_printf(file, "3 %d 4 %d\n", entity_of(labels, num_labels, label), end - begin);
    for (int32_t i = begin; i < end; ++i) {
      const int32_t* v = mesh->tets + 4 * (size_t)i;
      yw_file_printf(file, "%d %d %d %d %d\n", i + 1, v[0] + 1, v[1] + 1, v[2] + 1, v[3] + 1);
    }
  }
  yw_file_printf(file, "$EndElements\n");
}

yw_status yw_write_gmsh(yw_file_writer* file, const yw_tet_mesh* mesh, yw_error* error) {
  for (int32_t i = 0; i < mesh->num_tets; ++i)
    if (label_of(mesh, i) < 0)
      return yw_fail(error, YW_ERR_INVALID,
                     "%s: tet %d has the label %d, but Gmsh's physical groups are above 0; write "
                     "another format",
                     yw_file_short_name(file->path), i, label_of(mesh, i));
  int32_t* labels = YW_NEW_ARRAY(&mesh->mem, int32_t, mesh->num_tets + 1);
  if (!labels) return yw_fail_memory(error, "labels");
  for (int32_t i = 0; i < mesh->num_tets; ++i) labels[i] = label_of(mesh, i);
  int32_t num_labels = mesh->num_tets > 0 ? sort_unique(labels, mesh->num_tets) : 0;
  yw_file_printf(file, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
  put_entities(file, mesh, labels, num_labels);
  put_nodes(file, mesh);
  put_elements(file, mesh, labels, num_labels);
  yw_mem_free(&mesh->mem, labels);
  return YW_OK;
}
