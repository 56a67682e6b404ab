// SPDX-License-Identifier: MIT
// Medit .mesh (text) and .meshb (binary): keywords, each followed by a count and its records.
// Vertices, Triangles, Quadrilaterals and Tetrahedra are used, of second order too; other keywords
// are skipped. Both forms hold the same numbers in the same order, so one reader serves both.
#include <inttypes.h>

#include "files/mesh_formats.h"

typedef struct medit {
  yw_scan* scan;
  yw_mesh_build* build;
  yw_scalar real, integer;  // in binary files
} medit;

// A keyword: its name in text, its number in binary files, and what its records are.
typedef struct keyword {
  const char* name;
  int32_t code;
  int32_t num_nodes, num_corners;  // of faces and tets
  const char* other;               // volume cells that cannot be used
} keyword;

static const keyword keywords[] = {
    {"Dimension", 3, 0, 0, NULL},        {"Vertices", 4, 1, 0, NULL},
    {"Triangles", 6, 3, 3, NULL},        {"TrianglesP2", 24, 6, 3, NULL},
    {"Quadrilaterals", 7, 4, 4, NULL},   {"Tetrahedra", 8, 4, 4, NULL},
    {"TetrahedraP2", 30, 10, 4, NULL},   {"Hexahedra", 10, 0, 0, "hexahedra"},
    {"Hexaedra", 10, 0, 0, "hexahedra"}, {"Prisms", 9, 0, 0, "prisms"},
    {"Pyramids", 49, 0, 0, "pyramids"},  {"End", 54, 0, 0, NULL}};
enum { NUM_KEYWORDS = sizeof keywords / sizeof *keywords, CODE_DIMENSION = 3, CODE_VERTICES = 4 };
enum { CODE_TETS = 8, CODE_CURVED_TETS = 30, CODE_END = 54 };

// Records -----------------------------------------------------------------------------------------

// Smallest size of a number in bytes.
static size_t bytes_of(const medit* m, yw_scalar type) {
  return m->scan->encoding == YW_TEXT ? 2 : yw_scalar_size(type);
}

static bool read_count(medit* m, const char* what, size_t bytes_each, int32_t* count) {
  return yw_scan_count(m->scan, m->integer, what, bytes_each, count);
}

static bool read_vertices(medit* m) {
  static const char* const names[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
  int32_t count;
  size_t bytes = 3 * bytes_of(m, m->real) + bytes_of(m, m->integer);
  if (!read_count(m, "the number of vertices", bytes, &count)) return false;
  if (count > 0 && m->build->positions.count > 0)
    return yw_scan_fail(m->scan, "a second block of vertices");
  for (int32_t i = 0; i < count; ++i) {
    double p[3];
    int64_t reference;
    for (int32_t k = 0; k < 3; ++k)
      if (!yw_scan_real(m->scan, m->real, names[k], &p[k])) return false;
    if (!yw_build_position(m->build, m->scan, p)) return false;
    if (!yw_scan_int(m->scan, m->integer, "the reference of a vertex", &reference)) return false;
  }
  return true;
}

// Corners, nodes on edges and a reference per face.
static bool read_faces(medit* m, const keyword* key) {
  int32_t count;
  size_t bytes = ((size_t)key->num_nodes + 1) * bytes_of(m, m->integer);
  if (!read_count(m, "the number of faces", bytes, &count)) return false;
  for (int32_t i = 0; i < count; ++i) {
    int64_t value;
    for (int32_t k = 0; k < key->num_nodes; ++k) {
      if (!yw_scan_int(m->scan, m->integer, "a corner of a face", &value)) return false;
      if (k < key->num_corners && !yw_build_corner(m->build, m->scan, value - 1)) return false;
    }
    if (!yw_build_polygon_end(m->build, m->scan, key->num_corners)) return false;
    if (!yw_scan_int(m->scan, m->integer, "the reference of a face", &value)) return false;
    if (key->num_nodes > key->num_corners) yw_build_curved(m->build);
  }
  return true;
}

static bool read_tets(medit* m, const keyword* key) {
  int32_t count;
  size_t bytes = ((size_t)key->num_nodes + 1) * bytes_of(m, m->integer);
  if (!read_count(m, "the number of tets", bytes, &count)) return false;
  for (int32_t i = 0; i < count; ++i) {
    int64_t nodes[10], label;
    for (int32_t k = 0; k < key->num_nodes; ++k) {
      if (!yw_scan_int(m->scan, m->integer, "a corner of a tet", &nodes[k])) return false;
      --nodes[k];
    }
    if (!yw_build_tet(m->build, m->scan, nodes)) return false;
    if (!yw_scan_int(m->scan, m->integer, "the reference of a tet", &label)) return false;
    if (!yw_build_label(m->build, m->scan, label)) return false;
    if (key->num_nodes > 4) yw_build_curved(m->build);
  }
  return true;
}

static bool read_dimension(medit* m) {
  int64_t dimension;
  if (!yw_scan_int(m->scan, YW_INT32, "the dimension", &dimension)) return false;
  return dimension == 3 ||
         yw_scan_fail(m->scan, "the dimension is %" PRId64 ", but must be 3", dimension);
}

static bool count_other(medit* m, const char* name) {
  int32_t count;
  if (!read_count(m, "the number of cells", 8, &count)) return false;
  if (count > 0) m->build->other_name = name;
  m->build->num_other += count;
  return true;
}

static bool read_records(medit* m, const keyword* key) {
  if (key->other) return count_other(m, key->other);
  if (key->code == CODE_DIMENSION) return read_dimension(m);
  if (key->code == CODE_VERTICES) return read_vertices(m);
  bool tets = key->code == CODE_TETS || key->code == CODE_CURVED_TETS;
  return tets ? read_tets(m, key) : read_faces(m, key);
}

// Text --------------------------------------------------------------------------------------------

// Numbers belong to the preceding keyword.
static bool is_number(yw_span word) {
  char c = *word.begin;
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

static const keyword* find_name(yw_span word) {
  for (int32_t i = 0; i < NUM_KEYWORDS; ++i)
    if (yw_span_is(word, keywords[i].name)) return &keywords[i];
  return NULL;
}

bool yw_read_medit(yw_scan* scan, yw_mesh_build* build) {
  medit m = {.scan = scan, .build = build, .real = YW_FLOAT64, .integer = YW_INT32};
  scan->comment = '#';
  build->index_base = 1;
  int64_t version;
  if (!yw_scan_expect(scan, "MeshVersionFormatted")) return false;
  if (!yw_scan_int(scan, YW_INT32, "the version", &version)) return false;
  yw_span word;
  bool ended = false;
  while (!ended && yw_scan_word(scan, &word)) {
    const keyword* key = find_name(word);
    ended = key && key->code == CODE_END;
    if (key && !ended && !read_records(&m, key)) return false;
    // Skip the rest of an unused keyword.
    while (!ended && yw_scan_word(scan, &word)) {
      if (is_number(word)) continue;
      scan->at = word.begin;
      break;
    }
  }
  if (!ended) return yw_scan_fail(scan, "the file ends where a keyword or \"End\" is expected");
  return yw_build_finish(build, scan);
}

// Binary ------------------------------------------------------------------------------------------

static const keyword* find_code(int64_t code) {
  for (int32_t i = 0; i < NUM_KEYWORDS; ++i)
    if (keywords[i].code == code) return &keywords[i];
  return NULL;
}

// The number 1 in the byte order of the file, then the version, which says how wide numbers are.
static bool read_binary_header(medit* m, yw_scalar* position) {
  int64_t one, version;
  m->scan->encoding = YW_LITTLE_ENDIAN;
  if (!yw_scan_int(m->scan, YW_INT32, "the number 1 that tells the order of bytes", &one))
    return false;
  if (one != 1 && one != 0x01000000)
    return yw_scan_fail(m->scan,
                        "expected the number 1 that tells the order of bytes, found %" PRId64, one);
  if (one != 1) m->scan->encoding = YW_BIG_ENDIAN;
  if (!yw_scan_int(m->scan, YW_INT32, "the version", &version)) return false;
  if (version < 1 || version > 4)
    return yw_scan_fail(m->scan, "version %" PRId64 " is not supported, expected 1 to 4", version);
  m->real = version == 1 ? YW_FLOAT32 : YW_FLOAT64;
  m->integer = version < 4 ? YW_INT32 : YW_INT64;
  *position = version < 3 ? YW_INT32 : YW_INT64;
  return true;
}

bool yw_read_medit_binary(yw_scan* scan, yw_mesh_build* build) {
  medit m = {.scan = scan, .build = build};
  build->index_base = 1;
  yw_scalar position = YW_INT32;
  if (!read_binary_header(&m, &position)) return false;
  for (;;) {
    int64_t code, next;
    if (!yw_scan_int(scan, YW_INT32, "a keyword", &code)) return false;
    if (code == CODE_END) return yw_build_finish(build, scan);
    if (!yw_scan_int(scan, position, "the position of the next keyword", &next)) return false;
    const keyword* key = find_code(code);
    if (key && !read_records(&m, key)) return false;
    // Positions that go back would never end.
    if (next < scan->at - scan->begin || next > scan->end - scan->begin)
      return yw_scan_fail(
          scan, "keyword %" PRId64 " is followed by one at byte %" PRId64 ", which is not after it",
          code, next);
    scan->at = scan->begin + next;
  }
}

// Writing -----------------------------------------------------------------------------------------

void yw_write_medit(yw_file_writer* file, const yw_tet_mesh* mesh) {
  yw_file_printf(file, "MeshVersionFormatted 1\nDimension 3\nVertices\n%d\n", mesh->num_vertices);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_file_write_vec3(file, mesh->positions[i]);
    yw_file_write(file, " 0\n", 3);
  }
  yw_file_printf(file, "Tetrahedra\n%d\n", mesh->num_tets);
  for (int32_t i = 0; i < mesh->num_tets; ++i) {
    const int32_t* v = mesh->tets + 4 * (size_t)i;
    yw_file_printf(file, "%d %d %d %d %d\n", v[0] + 1, v[1] + 1, v[2] + 1, v[3] + 1,
                   mesh->labels ? mesh->labels[i] : 0);
  }
  yw_file_printf(file, "End\n");
}
