// SPDX-License-Identifier: MIT
// TetGen's file pair: name.node holds the vertices, name.ele the tets. One record per line,
// comments after #, numbered from 0 or 1 according to the first vertex.
#include <inttypes.h>
#include <math.h>

#include "files/mesh_formats.h"

// An optional integer at the end of a header line.
static bool read_optional(yw_scan* scan, const char* what, int64_t missing, int64_t* out) {
  yw_span word;
  *out = missing;
  if (!yw_scan_word_on_line(scan, &word)) return true;
  scan->at = word.begin;
  return yw_scan_int_on_line(scan, what, out);
}

// The number at the start of every record: consecutive, from the base of the file.
static bool read_number(yw_scan* scan, const char* kind, int64_t expected) {
  char what[40];
  snprintf(what, sizeof what, "the number of a %s", kind);
  int64_t number;
  if (!yw_scan_int(scan, YW_INT32, what, &number)) return false;
  if (number != expected)
    return yw_scan_fail(scan, "expected %s %" PRId64 ", found %s %" PRId64, kind, expected, kind,
                        number);
  return true;
}

// COUNT DIMENSION ATTRIBUTES MARKERS, then NUMBER X Y Z ... per line
bool yw_read_tetgen_nodes(yw_scan* scan, yw_mesh_build* build) {
  scan->comment = '#';
  int64_t dimension;
  int32_t count;
  if (!yw_scan_count(scan, YW_INT32, "the number of vertices", 8, &count)) return false;
  if (!read_optional(scan, "the dimension", 3, &dimension)) return false;
  if (dimension != 3)
    return yw_scan_fail(scan, "the dimension is %" PRId64 ", but must be 3", dimension);
  yw_scan_skip_line(scan);
  static const char* const names[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
  for (int32_t i = 0; i < count; ++i) {
    if (i == 0) {
      int64_t first;
      if (!yw_scan_int(scan, YW_INT32, "the number of a vertex", &first)) return false;
      if (first != 0 && first != 1)
        return yw_scan_fail(scan, "the first vertex is number %" PRId64 ", but must be 0 or 1",
                            first);
      build->index_base = (int32_t)first;
    } else if (!read_number(scan, "vertex", i + (int64_t)build->index_base)) {
      return false;
    }
    double p[3];
    for (int32_t k = 0; k < 3; ++k)
      if (!yw_scan_real_on_line(scan, names[k], &p[k])) return false;
    if (!yw_build_position(build, scan, p)) return false;
    yw_scan_skip_line(scan);
  }
  return true;
}

// Region attributes are written as reals; only integers are labels.
static bool read_label(yw_scan* scan, yw_mesh_build* build) {
  double value;
  if (!yw_scan_real_on_line(scan, "the attribute of a tet", &value)) return false;
  if (!(fabs(value) <= 2147483648.0) || floor(value) != value)
    return yw_scan_fail(scan, "the attribute of tet %d is %g, but must be a whole number",
                        build->tets.count / 4 - 1 + build->index_base, value);
  return yw_build_label(build, scan, (int64_t)value);
}

// COUNT CORNERS ATTRIBUTES, then NUMBER A B C D [ATTRIBUTE] per line
bool yw_read_tetgen_tets(yw_scan* scan, yw_mesh_build* build) {
  scan->comment = '#';
  int64_t num_corners, num_attributes;
  int32_t count;
  if (!yw_scan_count(scan, YW_INT32, "the number of tets", 10, &count)) return false;
  if (!read_optional(scan, "the number of corners", 4, &num_corners)) return false;
  if (num_corners != 4 && num_corners != 10)
    return yw_scan_fail(scan, "tets have %" PRId64 " corners, but must have 4 or 10", num_corners);
  if (!read_optional(scan, "the number of attributes", 0, &num_attributes)) return false;
  yw_scan_skip_line(scan);
  for (int32_t i = 0; i < count; ++i) {
    if (!read_number(scan, "tet", i + (int64_t)build->index_base)) return false;
    int64_t corners[10];
    for (int32_t k = 0; k < num_corners; ++k) {
      if (!yw_scan_int_on_line(scan, "a corner of a tet", &corners[k])) return false;
      corners[k] -= build->index_base;
    }
    if (!yw_build_tet(build, scan, corners)) return false;
    if (num_corners == 10) yw_build_curved(build);
    if (num_attributes > 0 && !read_label(scan, build)) return false;
    yw_scan_skip_line(scan);
  }
  return true;
}

// Writing -----------------------------------------------------------------------------------------

void yw_write_tetgen_nodes(yw_file_writer* file, const yw_tet_mesh* mesh) {
  yw_file_printf(file, "%d 3 0 0\n", mesh->num_vertices);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_file_printf(file, "%d ", i);
    yw_file_write_vec3(file, mesh->positions[i]);
    yw_file_write(file, "\n", 1);
  }
}

void yw_write_tetgen_tets(yw_file_writer* file, const yw_tet_mesh* mesh) {
  yw_file_printf(file, "%d 4 %d\n", mesh->num_tets, mesh->labels ? 1 : 0);
  for (int32_t i = 0; i < mesh->num_tets; ++i) {
    const int32_t* v = mesh->tets + 4 * (size_t)i;
    yw_file_printf(file, "%d %d %d %d %d", i, v[0], v[1], v[2], v[3]);
    if (mesh->labels) yw_file_printf(file, " %d", mesh->labels[i]);
    yw_file_write(file, "\n", 1);
  }
}
