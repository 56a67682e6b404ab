// SPDX-License-Identifier: MIT
// Gmsh .msh, versions 2.x and 4.1, text and binary. The two forms of a version hold the same
// numbers in the same order, so one reader serves both; versions differ in how they group them.
// Node tags may have gaps: they are looked up, never used as array indices.
#include <inttypes.h>
#include <string.h>

#include "files/mesh_formats.h"
#include "yawara/extend/hash.h"

typedef struct gmsh_entity {
  int64_t tag, physical;
} gmsh_entity;

typedef struct gmsh {
  yw_scan* scan;
  yw_mesh_build* build;
  bool four;                     // version 4.1, else 2.x
  yw_encoding values;            // encoding inside the sections
  yw_scalar size_type;           // of counts and tags in 4.1
  YW_LIST(int64_t) tags;         // of the nodes, in the order of positions
  YW_LIST(gmsh_entity) volumes;  // 4.1: sorted by tag once complete
  YW_LIST(int32_t) elementary;   // per tet
  bool any_physical;
  int32_t* slots;  // hash table from tag to node number + 1
  size_t num_slots;
  uint64_t seed;
  int64_t first_tag;  // tags are first_tag, first_tag + 1, ... if consecutive
  bool consecutive;
} gmsh;

// Sections ----------------------------------------------------------------------------------------

static bool read_format(gmsh* g) {
  yw_scan* scan = g->scan;
  double version;
  int64_t binary, size;
  if (!yw_scan_real(scan, YW_FLOAT64, "a version", &version)) return false;
  g->four = version == 4.1;
  if (!g->four && !(version >= 2.0 && version < 3.0))
    return yw_scan_fail(scan, "version %g is not supported, save the mesh as 4.1 or 2.2", version);
  if (!yw_scan_int(scan, YW_INT32, "0 (text) or 1 (binary)", &binary)) return false;
  if (binary != 0 && binary != 1)
    return yw_scan_fail(scan, "expected 0 (text) or 1 (binary), found %" PRId64, binary);
  if (!yw_scan_int(scan, YW_INT32, "the size of a number", &size)) return false;
  if (size != 8 && (!g->four || size != 4))
    return yw_scan_fail(scan, "numbers of %" PRId64 " bytes are not supported, expected 8", size);
  g->size_type = size == 4 ? YW_UINT32 : YW_UINT64;
  if (binary) {
    // An integer 1 reveals the byte order.
    yw_scan_skip_line(scan);
    scan->mark = scan->at;
    int64_t one;
    scan->encoding = YW_LITTLE_ENDIAN;
    if (!yw_scan_int(scan, YW_INT32, "the number 1 that tells the order of bytes", &one))
      return false;
    if (one != 1 && one != 0x01000000)
      return yw_scan_fail(
          scan, "expected the number 1 that tells the order of bytes, found %" PRId64, one);
    g->values = one == 1 ? YW_LITTLE_ENDIAN : YW_BIG_ENDIAN;
    scan->encoding = YW_TEXT;
  }
  return true;
}

// Moves from a keyword to the values: binary ones start right after the newline.
static void enter_section(gmsh* g) {
  yw_scan_skip_line(g->scan);
  g->scan->encoding = g->values;
}

static bool leave_section(gmsh* g, const char* end) {
  g->scan->encoding = YW_TEXT;
  return yw_scan_expect(g->scan, end);
}

// Skips to the end of an unused section.
static bool skip_section(gmsh* g, yw_span name) {
  yw_scan* scan = g->scan;
  size_t length = yw_span_size(name);
  for (const char* p = scan->at; (p = memchr(p, '$', (size_t)(scan->end - p))) != NULL; ++p) {
    if ((size_t)(scan->end - p) < length + 3 || memcmp(p, "$End", 4) != 0) continue;
    if (memcmp(p + 4, name.begin + 1, length - 1) != 0) continue;
    scan->at = p + 3 + length;
    return true;
  }
  return yw_scan_fail(scan, "section %.*s has no end", yw_span_shown(name), name.begin);
}

static bool read_size(gmsh* g, const char* what, size_t bytes_each, int32_t* out) {
  return yw_scan_count(g->scan, g->four ? g->size_type : YW_INT32, what, bytes_each, out);
}

// Minimum size of a number in bytes.
static size_t bytes_of(const gmsh* g, yw_scalar type) {
  return g->values == YW_TEXT ? 2 : yw_scalar_size(type);
}

// Entities (4.1): which physical group a volume belongs to ----------------------------------------

static bool read_entity(gmsh* g, int32_t dimension) {
  yw_scan* scan = g->scan;
  gmsh_entity entity = {0};
  int32_t num_physical, num_bounding;
  if (!yw_scan_int(scan, YW_INT32, "the tag of an entity", &entity.tag)) return false;
  // A point, or a box.
  if (!yw_scan_skip_numbers(scan, YW_FLOAT64, dimension == 0 ? 3 : 6, "the box of an entity"))
    return false;
  if (!read_size(g, "the number of physical groups", bytes_of(g, YW_INT32), &num_physical))
    return false;
  for (int32_t i = 0; i < num_physical; ++i) {
    int64_t physical;
    if (!yw_scan_int(scan, YW_INT32, "the tag of a physical group", &physical)) return false;
    // A sign only means orientation; the first group is used.
    if (i == 0) entity.physical = physical < 0 ? -physical : physical;
  }
  if (dimension > 0) {
    if (!read_size(g, "the number of bounding entities", bytes_of(g, YW_INT32), &num_bounding))
      return false;
    if (!yw_scan_skip_numbers(scan, YW_INT32, num_bounding, "a bounding entity")) return false;
  }
  return dimension < 3 || YW_PUSH(&g->build->mem, g->scan, &g->volumes, entity);
}

static bool read_entities(gmsh* g) {
  int32_t counts[4];
  for (int32_t d = 0; d < 4; ++d)
    if (!read_size(g, "the number of entities", 1, &counts[d])) return false;
  for (int32_t d = 0; d < 4; ++d)
    for (int32_t i = 0; i < counts[d]; ++i)
      if (!read_entity(g, d)) return false;
  return true;
}

// There are usually few volumes, in ascending order; others are sorted once (heap sort).
static void sift_down(gmsh_entity* items, int32_t root, int32_t count) {
  for (int32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && items[child].tag < items[child + 1].tag) ++child;
    if (items[root].tag >= items[child].tag) return;
    gmsh_entity swap = items[root];
    items[root] = items[child];
    items[child] = swap;
  }
}

static void sort_volumes(gmsh* g) {
  gmsh_entity* items = g->volumes.items;
  int32_t count = g->volumes.count;
  for (int32_t root = count / 2 - 1; root >= 0; --root) sift_down(items, root, count);
  for (int32_t last = count - 1; last > 0; --last) {
    gmsh_entity swap = items[0];
    items[0] = items[last];
    items[last] = swap;
    sift_down(items, 0, last);
  }
}

static int64_t physical_of(const gmsh* g, int64_t tag) {
  int32_t low = 0, high = g->volumes.count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (g->volumes.items[middle].tag < tag)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < g->volumes.count && g->volumes.items[low].tag == tag;
  return found ? g->volumes.items[low].physical : 0;
}

// Nodes -------------------------------------------------------------------------------------------

static bool read_coordinates(gmsh* g) {
  static const char* const names[3] = {"x of a node", "y of a node", "z of a node"};
  double p[3];
  for (int32_t k = 0; k < 3; ++k)
    if (!yw_scan_real(g->scan, YW_FLOAT64, names[k], &p[k])) return false;
  return yw_build_position(g->build, g->scan, p);
}

static bool read_nodes_2(gmsh* g) {
  int32_t count;
  // The count is text even in binary files.
  g->scan->encoding = YW_TEXT;
  if (!yw_scan_count(g->scan, YW_INT32, "the number of nodes", 8, &count)) return false;
  enter_section(g);
  for (int32_t i = 0; i < count; ++i) {
    int64_t tag;
    if (!yw_scan_int(g->scan, YW_INT32, "the tag of a node", &tag)) return false;
    if (!YW_PUSH(&g->build->mem, g->scan, &g->tags, tag) || !read_coordinates(g)) return false;
  }
  return true;
}

// Blocks: all tags, then all coordinates, followed by parameters on the geometry.
static bool read_node_block(gmsh* g) {
  int64_t dimension, entity, parametric, tag;
  int32_t count;
  if (!yw_scan_int(g->scan, YW_INT32, "the dimension of an entity", &dimension) ||
      !yw_scan_int(g->scan, YW_INT32, "the tag of an entity", &entity) ||
      !yw_scan_int(g->scan, YW_INT32, "0 or 1 (parametric)", &parametric))
    return false;
  if (dimension < 0 || dimension > 3)
    return yw_scan_fail(g->scan, "an entity of dimension %" PRId64 ", expected 0 to 3", dimension);
  size_t bytes = bytes_of(g, g->size_type) + 3 * bytes_of(g, YW_FLOAT64);
  if (!read_size(g, "the number of nodes in a block", bytes, &count)) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (!yw_scan_int(g->scan, g->size_type, "the tag of a node", &tag)) return false;
    if (!YW_PUSH(&g->build->mem, g->scan, &g->tags, tag)) return false;
  }
  int64_t num_parameters = parametric ? dimension : 0;
  for (int32_t i = 0; i < count; ++i) {
    if (!read_coordinates(g)) return false;
    if (!yw_scan_skip_numbers(g->scan, YW_FLOAT64, num_parameters, "a parameter of a node"))
      return false;
  }
  return true;
}

static bool read_nodes_4(gmsh* g) {
  int32_t num_blocks, num_nodes;
  int64_t tag;
  if (!read_size(g, "the number of blocks", 4 * bytes_of(g, YW_INT32), &num_blocks)) return false;
  if (!read_size(g, "the number of nodes", 4 * bytes_of(g, YW_INT32), &num_nodes)) return false;
  if (!yw_scan_int(g->scan, g->size_type, "the smallest tag", &tag)) return false;
  if (!yw_scan_int(g->scan, g->size_type, "the largest tag", &tag)) return false;
  for (int32_t i = 0; i < num_blocks; ++i)
    if (!read_node_block(g)) return false;
  if (g->tags.count != num_nodes)
    return yw_scan_fail(g->scan, "the blocks have %d nodes, but the section says %d", g->tags.count,
                        num_nodes);
  return true;
}

// Most files number their nodes without gaps. Others use a hash table, whose seed depends on all
// tags so that no file can be crafted to make it slow.
static bool index_tags(gmsh* g) {
  int32_t count = g->tags.count;
  const int64_t* tags = g->tags.items;
  g->consecutive = true;
  for (int32_t i = 0; i < count && g->consecutive; ++i)
    g->consecutive = i == 0 || (tags[i - 1] < INT64_MAX && tags[i] == tags[i - 1] + 1);
  g->first_tag = count > 0 ? tags[0] : 0;
  if (g->consecutive) return true;
  for (g->num_slots = 16; g->num_slots < 2 * (size_t)count;) g->num_slots *= 2;
  g->slots = YW_NEW_ARRAY(&g->build->mem, int32_t, g->num_slots);
  if (!g->slots) return yw_scan_fail_memory(g->scan);
  g->seed = yw_hash_bytes(YW_HASH_SEED, tags, (size_t)count * sizeof *tags);
  for (int32_t i = 0; i < count; ++i) {
    size_t slot = (size_t)yw_hash_u64(g->seed, (uint64_t)tags[i]) & (g->num_slots - 1);
    while (g->slots[slot] && tags[g->slots[slot] - 1] != tags[i])
      slot = (slot + 1) & (g->num_slots - 1);
    if (g->slots[slot]) return yw_scan_fail(g->scan, "two nodes have the tag %" PRId64, tags[i]);
    g->slots[slot] = i + 1;
  }
  return true;
}

static bool find_node(gmsh* g, int64_t tag, int64_t* node) {
  *node = -1;
  if (g->consecutive) {
    if (tag >= g->first_tag && tag - g->first_tag < g->tags.count) *node = tag - g->first_tag;
  } else if (g->slots) {
    size_t slot = (size_t)yw_hash_u64(g->seed, (uint64_t)tag) & (g->num_slots - 1);
    while (g->slots[slot] && g->tags.items[g->slots[slot] - 1] != tag)
      slot = (slot + 1) & (g->num_slots - 1);
    *node = (int64_t)g->slots[slot] - 1;
  }
  return *node >= 0 || yw_scan_fail(g->scan,
                                    "an element refers to node %" PRId64
                                    ", but none of the %d nodes has this tag",
                                    tag, g->tags.count);
}

// Elements ----------------------------------------------------------------------------------------

#define TYPE_TRIANGLE 2
#define TYPE_QUAD 3
#define TYPE_TET 4

// Nodes per element by type; 0 if there is no such type.
static int32_t nodes_of_type(int64_t type) {
  static const unsigned char nodes[32] = {0,  2,  3,  4,  4, 8, 6,  5,  3,  6, 9,
                                          10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10,
                                          12, 15, 15, 21, 4, 5, 6,  20, 35, 56};
  if (type == 92) return 64;
  if (type == 93) return 125;
  return type > 0 && type < 32 ? nodes[type] : 0;
}

// Checks that a type is known, and whether skipping it would leave out volume.
static bool check_type(gmsh* g, int64_t type, int32_t count) {
  if (nodes_of_type(type) == 0) return yw_scan_fail(g->scan, "unknown element type %" PRId64, type);
  if (type == 11 || type == 29 || type == 30 || type == 31)
    return yw_build_fail_second_order(g->scan, "mesh with -order 1");
  const char* name = type == 5 || type == 12 || type == 17   ? "hexahedra"
                     : type == 6 || type == 13 || type == 18 ? "prisms"
                     : type == 7 || type == 14 || type == 19 ? "pyramids"
                                                             : NULL;
  if (name && count > 0) {
    g->build->num_other += count;
    g->build->other_name = name;
  }
  return true;
}

// Reads the nodes of one element; points, lines and anything else that is not a face or tet are
// skipped.
static bool read_element_nodes(gmsh* g, int64_t type, yw_scalar tag_type, int64_t entity,
                               int64_t physical) {
  yw_scan* scan = g->scan;
  int32_t num_nodes = nodes_of_type(type);
  if (type != TYPE_TRIANGLE && type != TYPE_QUAD && type != TYPE_TET)
    return yw_scan_skip_numbers(scan, tag_type, num_nodes, "a node of an element");
  int64_t nodes[4];
  for (int32_t k = 0; k < num_nodes; ++k) {
    int64_t tag;
    if (!yw_scan_int(scan, tag_type, "a node of an element", &tag)) return false;
    if (!find_node(g, tag, &nodes[k])) return false;
  }
  if (type == TYPE_TET) {
    if (physical != 0) g->any_physical = true;
    int32_t elementary = (int32_t)(entity < INT32_MIN || entity > INT32_MAX ? 0 : entity);
    return yw_build_tet(g->build, scan, nodes) && yw_build_label(g->build, scan, physical) &&
           YW_PUSH(&g->build->mem, g->scan, &g->elementary, elementary);
  }
  for (int32_t k = 0; k < num_nodes; ++k)
    if (!yw_build_corner(g->build, scan, nodes[k])) return false;
  return yw_build_polygon_end(g->build, scan, num_nodes);
}

// NUMBER, tags (physical, elementary, ...), nodes
static bool read_element_2(gmsh* g, int64_t type, int64_t num_tags) {
  int64_t tags[2] = {0, 0};
  for (int64_t i = 0; i < num_tags; ++i) {
    int64_t tag;
    if (!yw_scan_int(g->scan, YW_INT32, "a tag of an element", &tag)) return false;
    if (i < 2) tags[i] = tag < 0 ? -tag : tag;
  }
  return read_element_nodes(g, type, YW_INT32, tags[1], tags[0]);
}

static bool read_elements_2(gmsh* g) {
  int32_t count;
  int64_t number, type, num_tags, in_block = 1;
  g->scan->encoding = YW_TEXT;
  if (!yw_scan_count(g->scan, YW_INT32, "the number of elements", 8, &count)) return false;
  enter_section(g);
  for (int64_t done = 0; done < count; done += in_block) {
    // Text: number, type, tags per element. Binary: type, count, tags; then the elements.
    bool text = g->values == YW_TEXT;
    if (text && !yw_scan_int(g->scan, YW_INT32, "the number of an element", &number)) return false;
    if (!yw_scan_int(g->scan, YW_INT32, "the type of an element", &type)) return false;
    if (!text && !yw_scan_int(g->scan, YW_INT32, "the number of elements in a block", &in_block))
      return false;
    if (!yw_scan_int(g->scan, YW_INT32, "the number of tags", &num_tags)) return false;
    if (in_block < 1 || in_block > count - done)
      return yw_scan_fail(g->scan, "a block of %" PRId64 " elements, but only %" PRId64 " are left",
                          in_block, count - done);
    if (!yw_scan_check_count(g->scan, num_tags, "the number of tags", 2)) return false;
    if (!check_type(g, type, (int32_t)in_block)) return false;
    for (int64_t i = 0; i < in_block; ++i) {
      if (!text && !yw_scan_int(g->scan, YW_INT32, "the number of an element", &number))
        return false;
      if (!read_element_2(g, type, num_tags)) return false;
    }
  }
  return true;
}

static bool read_element_block_4(gmsh* g, int64_t* total) {
  int64_t dimension, entity, type, number;
  int32_t count;
  if (!yw_scan_int(g->scan, YW_INT32, "the dimension of an entity", &dimension) ||
      !yw_scan_int(g->scan, YW_INT32, "the tag of an entity", &entity) ||
      !yw_scan_int(g->scan, YW_INT32, "the type of elements", &type) || !check_type(g, type, 0))
    return false;
  size_t bytes = ((size_t)nodes_of_type(type) + 1) * bytes_of(g, g->size_type);
  if (!read_size(g, "the number of elements in a block", bytes, &count)) return false;
  if (!check_type(g, type, count)) return false;
  int64_t physical = type == TYPE_TET ? physical_of(g, entity) : 0;
  for (int32_t i = 0; i < count; ++i) {
    if (!yw_scan_int(g->scan, g->size_type, "the number of an element", &number)) return false;
    if (!read_element_nodes(g, type, g->size_type, entity, physical)) return false;
  }
  *total += count;
  return true;
}

static bool read_elements_4(gmsh* g) {
  int32_t num_blocks, num_elements;
  int64_t tag, total = 0;
  if (!read_size(g, "the number of blocks", 4 * bytes_of(g, YW_INT32), &num_blocks)) return false;
  if (!read_size(g, "the number of elements", 2 * bytes_of(g, YW_INT32), &num_elements))
    return false;
  if (!yw_scan_int(g->scan, g->size_type, "the smallest tag", &tag)) return false;
  if (!yw_scan_int(g->scan, g->size_type, "the largest tag", &tag)) return false;
  for (int32_t i = 0; i < num_blocks; ++i)
    if (!read_element_block_4(g, &total)) return false;
  if (total != num_elements)
    return yw_scan_fail(g->scan, "the blocks have %" PRId64 " elements, but the section says %d",
                        total, num_elements);
  return true;
}

// Without physical groups, the volumes themselves distinguish regions if there are several.
static void choose_labels(gmsh* g) {
  int32_t count = g->elementary.count;
  if (g->any_physical || count == 0) return;
  bool several = false;
  for (int32_t i = 1; i < count && !several; ++i)
    several = g->elementary.items[i] != g->elementary.items[0];
  for (int32_t i = 0; i < count; ++i)
    g->build->labels.items[i] = several ? g->elementary.items[i] : 0;
}

static bool read_sections(gmsh* g) {
  yw_span name;
  bool nodes = false, elements = false;
  if (!yw_scan_expect(g->scan, "$MeshFormat") || !read_format(g) ||
      !leave_section(g, "$EndMeshFormat"))
    return false;
  while (yw_scan_word(g->scan, &name)) {
    if (yw_span_is(name, "$Entities") && g->four) {
      enter_section(g);
      if (!read_entities(g) || !leave_section(g, "$EndEntities")) return false;
      sort_volumes(g);
    } else if (yw_span_is(name, "$Nodes")) {
      if (nodes) return yw_scan_fail(g->scan, "a second section $Nodes");
      nodes = true;
      if (g->four) enter_section(g);
      if (!(g->four ? read_nodes_4(g) : read_nodes_2(g)) || !index_tags(g)) return false;
      if (!leave_section(g, "$EndNodes")) return false;
    } else if (yw_span_is(name, "$Elements")) {
      if (!nodes) return yw_scan_fail(g->scan, "$Elements before $Nodes");
      elements = true;
      if (g->four) enter_section(g);
      if (!(g->four ? read_elements_4(g) : read_elements_2(g))) return false;
      if (!leave_section(g, "$EndElements")) return false;
    } else if (*name.begin == '$') {
      if (!skip_section(g, name)) return false;
    } else {
      return yw_scan_fail(g->scan, "expected a section like $Nodes, found \"%.*s\"",
                          yw_span_shown(name), name.begin);
    }
  }
  if (!nodes || !elements)
    return yw_scan_fail(g->scan, "the file ends without %s", nodes ? "$Elements" : "$Nodes");
  return true;
}

bool yw_read_gmsh(yw_scan* scan, yw_mesh_build* build) {
  gmsh g = {.scan = scan, .build = build};
  build->index_base = 1;
  build->drop_unused = true;
  bool good = read_sections(&g);
  if (good) choose_labels(&g);
  YW_LIST_FREE(&build->mem, &g.tags);
  YW_LIST_FREE(&build->mem, &g.volumes);
  YW_LIST_FREE(&build->mem, &g.elementary);
  yw_mem_free(&build->mem, g.slots);
  return good && yw_build_finish(build, scan);
}
