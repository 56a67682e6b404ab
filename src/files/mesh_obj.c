// SPDX-License-Identifier: MIT
// Wavefront OBJ: vertices (with colors after the coordinates, as many programs write them) and
// faces of any size. Texture coordinates, normals, materials, groups and curves are ignored.
#include <inttypes.h>

#include "files/mesh_formats.h"
#include "yawara/extend/text_number.h"

// v x y z [w] or v x y z r g b or v x y z w r g b
static bool read_vertex(yw_scan* scan, yw_mesh_build* build) {
  double values[7];
  int32_t count = 0;
  static const char* const names[7] = {"x of a vertex", "y of a vertex", "z of a vertex",
                                       "a number",      "a number",      "a number",
                                       "a number"};
  const char* start = scan->mark;
  yw_span word;
  while (count < 7) {
    if (count >= 3) {
      if (!yw_scan_word_on_line(scan, &word)) break;
      scan->at = word.begin;
    }
    if (!yw_scan_real_on_line(scan, names[count], &values[count])) return false;
    ++count;
  }
  scan->mark = start;
  if (!yw_build_position(build, scan, values)) return false;
  return count < 6 || yw_build_color(build, scan, values + count - 3);
}

// f v v v ... with v, v/vt, v//vn or v/vt/vn; numbered from 1, or backwards from the last vertex.
static bool read_face(yw_scan* scan, yw_mesh_build* build) {
  yw_span word;
  int32_t count = 0;
  const char* start = scan->mark;
  for (; yw_scan_word_on_line(scan, &word); ++count) {
    int64_t index;
    const char* next = yw_parse_int(word.begin, word.end, &index);
    if (!next || (next != word.end && *next != '/'))
      return yw_scan_fail(scan, "expected a vertex number like 3 or 3/1/2, found \"%.*s\"",
                          yw_span_shown(word), word.begin);
    if (index == 0) return yw_scan_fail(scan, "vertex number 0, but the first vertex is number 1");
    if (index < 0 && -index > build->positions.count)
      return yw_scan_fail(scan, "vertex number %" PRId64 ", but only %d vertices come before it",
                          index, build->positions.count);
    if (!yw_build_corner(build, scan, index > 0 ? index - 1 : build->positions.count + index))
      return false;
  }
  scan->mark = start;
  return yw_build_polygon_end(build, scan, count);
}

bool yw_read_obj(yw_scan* scan, yw_mesh_build* build) {
  scan->comment = '#';
  scan->joiner = '\\';
  build->index_base = 1;
  yw_span word;
  while (yw_scan_word(scan, &word)) {
    bool good = true;
    if (yw_span_is(word, "v"))
      good = read_vertex(scan, build);
    else if (yw_span_is(word, "f"))
      good = read_face(scan, build);
    if (!good) return false;
    yw_scan_skip_line(scan);
  }
  return yw_build_finish(build, scan);
}

void yw_write_obj(yw_file_writer* file, const yw_tri_mesh* mesh) {
  yw_file_printf(file, "# %d vertices, %d triangles\n", mesh->num_vertices, mesh->num_triangles);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_file_write(file, "v ", 2);
    yw_file_write_vec3(file, mesh->positions[i]);
    if (mesh->colors) {
      yw_file_write(file, " ", 1);
      yw_file_write_vec3(file, mesh->colors[i]);
    }
    yw_file_write(file, "\n", 1);
  }
  for (int32_t i = 0; i < mesh->num_triangles; ++i) {
    const int32_t* t = mesh->triangles + 3 * (size_t)i;
    yw_file_printf(file, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
  }
}
