// SPDX-License-Identifier: MIT
#include <inttypes.h>

#include "files/mesh_gmsh.h"

static bool read_physical(yw_gmsh* g, int64_t* out) {
  int32_t count;
  if (!yw_gmsh_count(g, "the number of physical groups", yw_gmsh_bytes(g, YW_INT32), &count))
    return false;
  for (int32_t i = 0; i < count; ++i) {
    int64_t physical;
    if (!yw_scan_int(g->scan, YW_INT32, "the tag of a physical group", &physical)) return false;
    // A sign only means orientation; the first group is used.
    if (i == 0) *out = physical < 0 ? -physical : physical;
  }
  return true;
}

// What a partitioned entity is a part of, and the partitions that it belongs to.
static bool read_parent(yw_gmsh* g, int32_t dimension, yw_gmsh_entity* entity) {
  int64_t parent_dimension, parent;
  int32_t count;
  if (!yw_scan_int(g->scan, YW_INT32, "the dimension of a parent", &parent_dimension) ||
      !yw_scan_int(g->scan, YW_INT32, "the tag of a parent", &parent) ||
      !yw_gmsh_count(g, "the number of partitions", yw_gmsh_bytes(g, YW_INT32), &count))
    return false;
  if (parent_dimension == dimension) entity->parent = parent;
  return yw_scan_skip_numbers(g->scan, YW_INT32, count, "a partition");
}

static bool read_entity(yw_gmsh* g, int32_t dimension, bool partitioned) {
  yw_gmsh_entity entity = {0};
  int32_t num_bounding;
  if (!yw_scan_int(g->scan, YW_INT32, "the tag of an entity", &entity.tag)) return false;
  if (partitioned && !read_parent(g, dimension, &entity)) return false;
  // A box; a point only since 4.1.
  bool point = dimension == 0 && g->version == YW_GMSH_41;
  if (!yw_scan_skip_numbers(g->scan, YW_FLOAT64, point ? 3 : 6, "the box of an entity"))
    return false;
  if (!read_physical(g, &entity.physical)) return false;
  if (dimension > 0) {
    size_t bytes = yw_gmsh_bytes(g, YW_INT32);
    if (!yw_gmsh_count(g, "the number of bounding entities", bytes, &num_bounding) ||
        !yw_scan_skip_numbers(g->scan, YW_INT32, num_bounding, "a bounding entity"))
      return false;
  }
  return dimension < 3 || YW_PUSH(&g->build->mem, g->scan, &g->volumes, entity);
}

// There are usually few volumes, in ascending order; others are sorted once (heap sort).
static void sift_down(yw_gmsh_entity* items, int32_t root, int32_t count) {
  for (int32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && items[child].tag < items[child + 1].tag) ++child;
    if (items[root].tag >= items[child].tag) return;
    yw_gmsh_entity swap = items[root];
    items[root] = items[child];
    items[child] = swap;
  }
}

static void sort_volumes(yw_gmsh* g) {
  yw_gmsh_entity* items = g->volumes.items;
  int32_t count = g->volumes.count;
  for (int32_t root = count / 2 - 1; root >= 0; --root) sift_down(items, root, count);
  for (int32_t last = count - 1; last > 0; --last) {
    yw_gmsh_entity swap = items[0];
    items[0] = items[last];
    items[last] = swap;
    sift_down(items, 0, last);
  }
}

// The number of partitions, then ghost entities: a tag and a partition each.
static bool skip_ghosts(yw_gmsh* g) {
  int32_t num_partitions, num_ghosts;
  return yw_gmsh_count(g, "the number of partitions", 0, &num_partitions) &&
         yw_gmsh_count(g, "the number of ghosts", 2 * yw_gmsh_bytes(g, YW_INT32), &num_ghosts) &&
         yw_scan_skip_numbers(g->scan, YW_INT32, 2 * (int64_t)num_ghosts, "a ghost entity");
}

bool yw_gmsh_read_entities(yw_gmsh* g, bool partitioned) {
  int32_t counts[4];
  if (partitioned && !skip_ghosts(g)) return false;
  for (int32_t d = 0; d < 4; ++d)
    if (!yw_gmsh_count(g, "the number of entities", 1, &counts[d])) return false;
  for (int32_t d = 0; d < 4; ++d)
    for (int32_t i = 0; i < counts[d]; ++i)
      if (!read_entity(g, d, partitioned)) return false;
  sort_volumes(g);
  return true;
}

static const yw_gmsh_entity* find(const yw_gmsh* g, int64_t tag) {
  int32_t low = 0, high = g->volumes.count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (g->volumes.items[middle].tag < tag)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < g->volumes.count && g->volumes.items[low].tag == tag;
  return found ? &g->volumes.items[low] : NULL;
}

void yw_gmsh_find_volume(const yw_gmsh* g, int64_t tag, int64_t* physical, int64_t* whole) {
  const yw_gmsh_entity* volume = find(g, tag);
  *physical = volume ? volume->physical : 0;
  *whole = tag;
  if (!volume || volume->parent == 0) return;
  *whole = volume->parent;
  const yw_gmsh_entity* parent = find(g, volume->parent);
  if (*physical == 0 && parent) *physical = parent->physical;
}
