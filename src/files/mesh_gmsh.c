// SPDX-License-Identifier: MIT
// Gmsh .msh, versions 2.x, 4.0 and 4.1, text and binary. The two forms of a version hold the same
// numbers in the same order, so one reader serves both; versions differ in how they group them.
// Node tags may have gaps: they are looked up, never used as array indices.
#include <inttypes.h>
#include <string.h>

#include "files/mesh_gmsh.h"

// Sections ----------------------------------------------------------------------------------------

static bool read_format(yw_gmsh* g) {
  yw_scan* scan = g->scan;
  double version;
  int64_t binary, size;
  if (!yw_scan_real(scan, YW_FLOAT64, "a version", &version)) return false;
  bool four = version == 4.0 || version == 4.1;
  g->version = version == 4.1 ? YW_GMSH_41 : four ? YW_GMSH_40 : YW_GMSH_2;
  if (!four && !(version >= 2.0 && version < 3.0))
    return yw_scan_fail(scan, "version %g is not supported, save the mesh as 4.1 or 2.2", version);
  if (!yw_scan_int(scan, YW_INT32, "0 (text) or 1 (binary)", &binary)) return false;
  if (binary != 0 && binary != 1)
    return yw_scan_fail(scan, "expected 0 (text) or 1 (binary), found %" PRId64, binary);
  if (!yw_scan_int(scan, YW_INT32, "the size of a number", &size)) return false;
  if (size != 8 && (!four || size != 4))
    return yw_scan_fail(scan, "numbers of %" PRId64 " bytes are not supported, expected 8", size);
  g->size_type = !four ? YW_INT32 : size == 4 ? YW_UINT32 : YW_UINT64;
  g->tag_type = g->version == YW_GMSH_41 ? g->size_type : YW_INT32;
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
static void enter_section(yw_gmsh* g) {
  yw_scan_skip_line(g->scan);
  g->scan->encoding = g->values;
}

static bool leave_section(yw_gmsh* g, const char* end) {
  g->scan->encoding = YW_TEXT;
  return yw_scan_expect(g->scan, end);
}

// Skips to the end of an unused section.
static bool skip_section(yw_gmsh* g, yw_span name) {
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

bool yw_gmsh_count(yw_gmsh* g, const char* what, size_t bytes_each, int32_t* out) {
  return yw_scan_count(g->scan, g->size_type, what, bytes_each, out);
}

size_t yw_gmsh_bytes(const yw_gmsh* g, yw_scalar type) {
  return g->values == YW_TEXT ? 2 : yw_scalar_size(type);
}

// Nodes -------------------------------------------------------------------------------------------

static bool read_coordinates(yw_gmsh* g) {
  static const char* const names[3] = {"x of a node", "y of a node", "z of a node"};
  double p[3];
  for (int32_t k = 0; k < 3; ++k)
    if (!yw_scan_real(g->scan, YW_FLOAT64, names[k], &p[k])) return false;
  return yw_build_position(g->build, g->scan, p);
}

static bool read_nodes_2(yw_gmsh* g) {
  int32_t count;
  // The count is text even in binary files.
  g->scan->encoding = YW_TEXT;
  if (!yw_scan_count(g->scan, YW_INT32, "the number of nodes", 8, &count)) return false;
  enter_section(g);
  for (int32_t i = 0; i < count; ++i) {
    int64_t tag;
    if (!yw_scan_int(g->scan, YW_INT32, "the tag of a node", &tag)) return false;
    if (!yw_tag_push(&g->nodes, g->scan, &g->build->mem, tag) || !read_coordinates(g)) return false;
  }
  return true;
}

// The numbers that begin a block: 4.0 has the tag of the entity before its dimension.
static bool read_block_start(yw_gmsh* g, int64_t* dimension, int64_t* entity) {
  bool old = g->version == YW_GMSH_40;
  if (old && !yw_scan_int(g->scan, YW_INT32, "the tag of an entity", entity)) return false;
  if (!yw_scan_int(g->scan, YW_INT32, "the dimension of an entity", dimension)) return false;
  if (*dimension < 0 || *dimension > 3)
    return yw_scan_fail(g->scan, "an entity of dimension %" PRId64 ", expected 0 to 3", *dimension);
  return old || yw_scan_int(g->scan, YW_INT32, "the tag of an entity", entity);
}

static bool read_node_tag(yw_gmsh* g) {
  int64_t tag;
  return yw_scan_int(g->scan, g->tag_type, "the tag of a node", &tag) &&
         yw_tag_push(&g->nodes, g->scan, &g->build->mem, tag);
}

// 4.1: all tags of a block, then all coordinates. 4.0: a tag and coordinates per node. Parameters
// on the geometry may follow the coordinates.
static bool read_node_block(yw_gmsh* g) {
  int64_t dimension, entity, parametric;
  int32_t count;
  if (!read_block_start(g, &dimension, &entity) ||
      !yw_scan_int(g->scan, YW_INT32, "0 or 1 (parametric)", &parametric))
    return false;
  size_t bytes = yw_gmsh_bytes(g, g->tag_type) + 3 * yw_gmsh_bytes(g, YW_FLOAT64);
  if (!yw_gmsh_count(g, "the number of nodes in a block", bytes, &count)) return false;
  bool together = g->version == YW_GMSH_40;
  for (int32_t i = 0; i < count && !together; ++i)
    if (!read_node_tag(g)) return false;
  int64_t num_parameters = parametric ? dimension : 0;
  for (int32_t i = 0; i < count; ++i) {
    if (together && !read_node_tag(g)) return false;
    if (!read_coordinates(g)) return false;
    if (!yw_scan_skip_numbers(g->scan, YW_FLOAT64, num_parameters, "a parameter of a node"))
      return false;
  }
  return true;
}

// 4.1 says between which tags all are.
static bool skip_tag_range(yw_gmsh* g) {
  int64_t tag;
  return g->version == YW_GMSH_40 ||
         (yw_scan_int(g->scan, g->size_type, "the smallest tag", &tag) &&
          yw_scan_int(g->scan, g->size_type, "the largest tag", &tag));
}

static bool read_nodes_4(yw_gmsh* g) {
  int32_t num_blocks, num_nodes;
  size_t bytes = 4 * yw_gmsh_bytes(g, YW_INT32);
  if (!yw_gmsh_count(g, "the number of blocks", bytes, &num_blocks) ||
      !yw_gmsh_count(g, "the number of nodes", bytes, &num_nodes) || !skip_tag_range(g))
    return false;
  for (int32_t i = 0; i < num_blocks; ++i)
    if (!read_node_block(g)) return false;
  if (g->nodes.tags.count != num_nodes)
    return yw_scan_fail(g->scan, "the blocks have %d nodes, but the section says %d",
                        g->nodes.tags.count, num_nodes);
  return true;
}

static bool find_node(yw_gmsh* g, int64_t tag, int64_t* node) {
  *node = yw_tag_find(&g->nodes, tag);
  return *node >= 0 || yw_scan_fail(g->scan,
                                    "an element refers to node %" PRId64
                                    ", but none of the %d nodes has this tag",
                                    tag, g->nodes.tags.count);
}

// Elements ----------------------------------------------------------------------------------------

// Nodes per element by type; 0 if there is no such type.
static int32_t nodes_of_type(int64_t type) {
  static const unsigned char nodes[32] = {0,  2,  3,  4,  4, 8, 6,  5,  3,  6, 9,
                                          10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10,
                                          12, 15, 15, 21, 4, 5, 6,  20, 35, 56};
  if (type == 92) return 64;
  if (type == 93) return 125;
  return type > 0 && type < 32 ? nodes[type] : 0;
}

typedef enum cell_kind { OTHER, FACE, TET, VOLUME } cell_kind;

// What an element is, and its corners, which come before the nodes on edges.
static cell_kind kind_of_type(int64_t type, int32_t* num_corners) {
  switch (type) {
    case 2:
    case 9:
    case 20:
    case 21:
    case 22:
    case 23:
    case 24:
    case 25:
      *num_corners = 3;
      return FACE;
    case 3:
    case 10:
    case 16:
      *num_corners = 4;
      return FACE;
    case 4:
    case 11:
    case 29:
    case 30:
    case 31:
      *num_corners = 4;
      return TET;
    default:
      *num_corners = 0;
      return type == 5 || type == 6 || type == 7 || type == 12 || type == 13 || type == 14 ||
                     type == 17 || type == 18 || type == 19 || type == 92 || type == 93
                 ? VOLUME
                 : OTHER;
  }
}

// Checks that a type is known, and whether skipping it would leave out volume.
static bool check_type(yw_gmsh* g, int64_t type, int32_t count) {
  if (nodes_of_type(type) == 0) return yw_scan_fail(g->scan, "unknown element type %" PRId64, type);
  int32_t num_corners;
  if (count > 0 && kind_of_type(type, &num_corners) == VOLUME) {
    g->build->num_other += count;
    g->build->other_name = type == 6 || type == 13 || type == 18   ? "prisms"
                           : type == 7 || type == 14 || type == 19 ? "pyramids"
                                                                   : "hexahedra";
  }
  return true;
}

// Reads the nodes of one element; points, lines and anything else that is not a face or tet are
// skipped.
static bool read_element_nodes(yw_gmsh* g, int64_t type, int64_t entity, int64_t physical) {
  yw_scan* scan = g->scan;
  int32_t num_nodes = nodes_of_type(type), num_corners;
  cell_kind kind = kind_of_type(type, &num_corners);
  int64_t nodes[4];
  for (int32_t k = 0; k < num_corners; ++k) {
    int64_t tag;
    if (!yw_scan_int(scan, g->tag_type, "a node of an element", &tag)) return false;
    if (!find_node(g, tag, &nodes[k])) return false;
  }
  if (!yw_scan_skip_numbers(scan, g->tag_type, num_nodes - num_corners, "a node of an element"))
    return false;
  if (kind == OTHER || kind == VOLUME) return true;
  if (num_nodes > num_corners) yw_build_curved(g->build);
  if (kind == TET) {
    if (physical != 0) g->any_physical = true;
    int32_t elementary = (int32_t)(entity < INT32_MIN || entity > INT32_MAX ? 0 : entity);
    return yw_build_tet(g->build, scan, nodes) && yw_build_label(g->build, scan, physical) &&
           YW_PUSH(&g->build->mem, g->scan, &g->elementary, elementary);
  }
  for (int32_t k = 0; k < num_corners; ++k)
    if (!yw_build_corner(g->build, scan, nodes[k])) return false;
  return yw_build_polygon_end(g->build, scan, num_corners);
}

// NUMBER, tags (physical, elementary, ...), nodes
static bool read_element_2(yw_gmsh* g, int64_t type, int64_t num_tags) {
  int64_t tags[2] = {0, 0};
  for (int64_t i = 0; i < num_tags; ++i) {
    int64_t tag;
    if (!yw_scan_int(g->scan, YW_INT32, "a tag of an element", &tag)) return false;
    if (i < 2) tags[i] = tag < 0 ? -tag : tag;
  }
  return read_element_nodes(g, type, tags[1], tags[0]);
}

static bool read_elements_2(yw_gmsh* g) {
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

static bool read_element_block_4(yw_gmsh* g, int64_t* total) {
  int64_t dimension, entity, type, number;
  int32_t count;
  if (!read_block_start(g, &dimension, &entity) ||
      !yw_scan_int(g->scan, YW_INT32, "the type of elements", &type) || !check_type(g, type, 0))
    return false;
  size_t bytes = ((size_t)nodes_of_type(type) + 1) * yw_gmsh_bytes(g, g->tag_type);
  if (!yw_gmsh_count(g, "the number of elements in a block", bytes, &count)) return false;
  if (!check_type(g, type, count)) return false;
  int64_t physical = 0, whole = 0;
  if (dimension == 3) yw_gmsh_find_volume(g, entity, &physical, &whole);
  for (int32_t i = 0; i < count; ++i) {
    if (!yw_scan_int(g->scan, g->tag_type, "the number of an element", &number)) return false;
    if (!read_element_nodes(g, type, whole, physical)) return false;
  }
  *total += count;
  return true;
}

static bool read_elements_4(yw_gmsh* g) {
  int32_t num_blocks, num_elements;
  int64_t total = 0;
  size_t bytes = yw_gmsh_bytes(g, YW_INT32);
  if (!yw_gmsh_count(g, "the number of blocks", 4 * bytes, &num_blocks) ||
      !yw_gmsh_count(g, "the number of elements", 2 * bytes, &num_elements) || !skip_tag_range(g))
    return false;
  for (int32_t i = 0; i < num_blocks; ++i)
    if (!read_element_block_4(g, &total)) return false;
  if (total != num_elements)
    return yw_scan_fail(g->scan, "the blocks have %" PRId64 " elements, but the section says %d",
                        total, num_elements);
  return true;
}

// Without physical groups, the volumes themselves distinguish regions if there are several.
static void choose_labels(yw_gmsh* g) {
  int32_t count = g->elementary.count;
  if (g->any_physical || count == 0) return;
  bool several = false;
  for (int32_t i = 1; i < count && !several; ++i)
    several = g->elementary.items[i] != g->elementary.items[0];
  for (int32_t i = 0; i < count; ++i)
    g->build->labels.items[i] = several ? g->elementary.items[i] : 0;
}

static bool read_sections(yw_gmsh* g) {
  yw_span name;
  bool nodes = false, elements = false;
  if (!yw_scan_expect(g->scan, "$MeshFormat") || !read_format(g) ||
      !leave_section(g, "$EndMeshFormat"))
    return false;
  bool four = g->version != YW_GMSH_2;
  while (yw_scan_word(g->scan, &name)) {
    bool whole = yw_span_is(name, "$Entities");
    if (four && (whole || yw_span_is(name, "$PartitionedEntities"))) {
      enter_section(g);
      if (!yw_gmsh_read_entities(g, !whole)) return false;
      if (!leave_section(g, whole ? "$EndEntities" : "$EndPartitionedEntities")) return false;
    } else if (yw_span_is(name, "$Nodes")) {
      if (nodes) return yw_scan_fail(g->scan, "a second section $Nodes");
      nodes = true;
      if (four) enter_section(g);
      if (!(four ? read_nodes_4(g) : read_nodes_2(g)) ||
          !yw_tag_finish(&g->nodes, g->scan, &g->build->mem, "nodes"))
        return false;
      if (!leave_section(g, "$EndNodes")) return false;
    } else if (yw_span_is(name, "$Elements")) {
      if (!nodes) return yw_scan_fail(g->scan, "$Elements before $Nodes");
      elements = true;
      if (four) enter_section(g);
      if (!(four ? read_elements_4(g) : read_elements_2(g))) return false;
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
  yw_gmsh g = {.scan = scan, .build = build};
  build->index_base = 1;
  build->drop_unused = true;
  bool good = read_sections(&g);
  if (good) choose_labels(&g);
  yw_tag_free(&g.nodes, &build->mem);
  YW_LIST_FREE(&build->mem, &g.volumes);
  YW_LIST_FREE(&build->mem, &g.elementary);
  return good && yw_build_finish(build, scan);
}
