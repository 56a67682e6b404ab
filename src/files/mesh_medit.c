// SPDX-License-Identifier: MIT
// Medit .mesh as text: keywords, each followed by a count and its records. Vertices, Triangles,
// Quadrilaterals and Tetrahedra are used; other keywords are skipped with their numbers.
#include <inttypes.h>

#include "files/mesh_formats.h"

static bool read_vertices(yw_scan* scan, yw_mesh_build* build) {
  static const char* const names[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
  int32_t count;
  if (!yw_scan_count(scan, YW_INT32, "the number of vertices", 8, &count)) return false;
  if (count > 0 && build->positions.count > 0)
    return yw_scan_fail(scan, "a second block of vertices");
  for (int32_t i = 0; i < count; ++i) {
    double p[3];
    int64_t reference;
    for (int32_t k = 0; k < 3; ++k)
      if (!yw_scan_real(scan, YW_FLOAT64, names[k], &p[k])) return false;
    if (!yw_build_position(build, scan, p)) return false;
    if (!yw_scan_int(scan, YW_INT32, "the reference of a vertex", &reference)) return false;
  }
  return true;
}

static bool read_faces(yw_scan* scan, yw_mesh_build* build, int32_t num_corners) {
  int32_t count;
  size_t bytes = 2 * ((size_t)num_corners + 1);
  if (!yw_scan_count(scan, YW_INT32, "the number of faces", bytes, &count)) return false;
  for (int32_t i = 0; i < count; ++i) {
    int64_t value;
    for (int32_t k = 0; k < num_corners; ++k) {
      if (!yw_scan_int(scan, YW_INT32, "a corner of a face", &value)) return false;
      if (!yw_build_corner(build, scan, value - 1)) return false;
    }
    if (!yw_build_polygon_end(build, scan, num_corners)) return false;
    if (!yw_scan_int(scan, YW_INT32, "the reference of a face", &value)) return false;
  }
  return true;
}

static bool read_tets(yw_scan* scan, yw_mesh_build* build) {
  int32_t count;
  if (!yw_scan_count(scan, YW_INT32, "the number of tets", 10, &count)) return false;
  for (int32_t i = 0; i < count; ++i) {
    int64_t corners[4], label;
    for (int32_t k = 0; k < 4; ++k) {
      if (!yw_scan_int(scan, YW_INT32, "a corner of a tet", &corners[k])) return false;
      --corners[k];
    }
    if (!yw_build_tet(build, scan, corners)) return false;
    if (!yw_scan_int(scan, YW_INT32, "the reference of a tet", &label)) return false;
    if (!yw_build_label(build, scan, label)) return false;
  }
  return true;
}

static bool read_dimension(yw_scan* scan) {
  int64_t dimension;
  if (!yw_scan_int(scan, YW_INT32, "the dimension", &dimension)) return false;
  return dimension == 3 ||
         yw_scan_fail(scan, "the dimension is %" PRId64 ", but must be 3", dimension);
}

static bool count_other(yw_scan* scan, yw_mesh_build* build, const char* name) {
  int32_t count;
  if (!yw_scan_count(scan, YW_INT32, "the number of cells", 8, &count)) return false;
  if (count > 0) build->other_name = name;
  build->num_other += count;
  return true;
}

// Numbers belong to the preceding keyword.
static bool is_number(yw_span word) {
  char c = *word.begin;
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

bool yw_read_medit(yw_scan* scan, yw_mesh_build* build) {
  scan->comment = '#';
  build->index_base = 1;
  int64_t version;
  if (!yw_scan_expect(scan, "MeshVersionFormatted")) return false;
  if (!yw_scan_int(scan, YW_INT32, "the version", &version)) return false;
  yw_span word;
  bool ended = false;
  while (!ended && yw_scan_word(scan, &word)) {
    bool good = true;
    if (yw_span_is(word, "Dimension"))
      good = read_dimension(scan);
    else if (yw_span_is(word, "Vertices"))
      good = read_vertices(scan, build);
    else if (yw_span_is(word, "Triangles"))
      good = read_faces(scan, build, 3);
    else if (yw_span_is(word, "Quadrilaterals"))
      good = read_faces(scan, build, 4);
    else if (yw_span_is(word, "Tetrahedra"))
      good = read_tets(scan, build);
    else if (yw_span_is(word, "TetrahedraP2"))
      good = yw_build_fail_second_order(scan, "save first-order tets");
    else if (yw_span_is(word, "Hexahedra") || yw_span_is(word, "Hexaedra"))
      good = count_other(scan, build, "hexahedra");
    else if (yw_span_is(word, "Prisms"))
      good = count_other(scan, build, "prisms");
    else if (yw_span_is(word, "Pyramids"))
      good = count_other(scan, build, "pyramids");
    else
      ended = yw_span_is(word, "End");
    if (!good) return false;
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
