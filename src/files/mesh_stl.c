// SPDX-License-Identifier: MIT
// STL, text and binary. Every triangle has its own three corners; equal ones are merged when the
// file is read as a surface.
#include <inttypes.h>
#include <string.h>

#include "files/mesh_formats.h"
#include "yawara/extend/vec.h"

#define HEADER_BYTES 80
#define TRIANGLE_BYTES 50

static bool read_corner(yw_scan* scan, yw_mesh_build* build, yw_scalar type) {
  static const char* const names[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
  double p[3];
  const char* start = scan->at;
  for (int32_t k = 0; k < 3; ++k) {
    if (!yw_scan_real(scan, type, names[k], &p[k])) return false;
    if (k == 0) start = scan->mark;
  }
  scan->mark = start;
  if (!yw_build_position(build, scan, p)) return false;
  return yw_build_corner(build, scan, build->positions.count - 1);
}

static bool read_bytes(yw_scan* scan, yw_mesh_build* build, int64_t count) {
  scan->encoding = YW_LITTLE_ENDIAN;
  scan->at = scan->begin + HEADER_BYTES + 4;
  for (int64_t t = 0; t < count; ++t) {
    if (!yw_scan_skip_numbers(scan, YW_FLOAT32, 3, "a normal")) return false;
    for (int32_t k = 0; k < 3; ++k)
      if (!read_corner(scan, build, YW_FLOAT32)) return false;
    if (!yw_build_polygon_end(build, scan, 3)) return false;
    if (!yw_scan_skip_numbers(scan, YW_UINT16, 1, "the attribute of a triangle")) return false;
  }
  return true;
}

// facet normal x y z / outer loop / vertex x y z (three times) / endloop / endfacet
static bool read_facet(yw_scan* scan, yw_mesh_build* build) {
  if (!yw_scan_expect(scan, "normal")) return false;
  // Normals are not used, and some programs write "nan" for those of thin triangles.
  if (!yw_scan_skip_numbers(scan, YW_FLOAT32, 3, "a number of a normal")) return false;
  if (!yw_scan_expect(scan, "outer") || !yw_scan_expect(scan, "loop")) return false;
  for (int32_t k = 0; k < 3; ++k)
    if (!yw_scan_expect(scan, "vertex") || !read_corner(scan, build, YW_FLOAT32)) return false;
  return yw_build_polygon_end(build, scan, 3) && yw_scan_expect(scan, "endloop") &&
         yw_scan_expect(scan, "endfacet");
}

// One or more of: solid NAME / facets / endsolid NAME
static bool read_text(yw_scan* scan, yw_mesh_build* build) {
  bool inside = false;
  yw_span word;
  while (yw_scan_word(scan, &word)) {
    bool good = true;
    if (!inside && yw_span_is(word, "solid")) {
      inside = true;
      yw_scan_skip_line(scan);
    } else if (inside && yw_span_is(word, "facet")) {
      good = read_facet(scan, build);
    } else if (inside && yw_span_is(word, "endsolid")) {
      inside = false;
      yw_scan_skip_line(scan);
    } else {
      good = yw_scan_fail(scan, "expected %s, found \"%.*s\"",
                          inside ? "\"facet\" or \"endsolid\"" : "\"solid\"", yw_span_shown(word),
                          word.begin);
    }
    if (!good) return false;
  }
  return !inside || yw_scan_fail(scan, "the file ends where \"facet\" or \"endsolid\" is expected");
}

bool yw_read_stl(yw_scan* scan, yw_mesh_build* build) {
  build->weld = true;
  // The header of a binary file may hold anything, a mark at the start of text included.
  size_t size = (size_t)(scan->end - scan->begin);
  bool solid = yw_scan_left(scan) >= 5 && yw_span_is((yw_span){scan->at, scan->at + 5}, "solid");
  int64_t count = -1;
  if (size >= HEADER_BYTES + 4) {
    yw_scan header = *scan;
    header.encoding = YW_LITTLE_ENDIAN;
    header.at = scan->begin + HEADER_BYTES;
    yw_scan_int(&header, YW_UINT32, "the number of triangles", &count);
  }
  // Binary files may start with "solid" too: the size decides. Text has no zero bytes.
  bool fits = count >= 0 && size == HEADER_BYTES + 4 + (uint64_t)count * TRIANGLE_BYTES;
  bool binary = fits || !solid || (count >= 0 && memchr(scan->begin, 0, HEADER_BYTES + 4) != NULL);
  if (!binary) return read_text(scan, build) && yw_build_finish(build, scan);

  scan->encoding = YW_LITTLE_ENDIAN;
  if (count < 0)
    return yw_scan_fail(scan,
                        "the file has %zu bytes, but neither begins with \"solid\" nor has "
                        "the %d bytes of a binary header",
                        size, HEADER_BYTES + 4);
  scan->mark = scan->begin + HEADER_BYTES;
  uint64_t needed = HEADER_BYTES + 4 + (uint64_t)count * TRIANGLE_BYTES;
  if (needed > size)
    return yw_scan_fail(scan, "%" PRId64 " triangles need %" PRIu64 " bytes, but the file has %zu",
                        count, needed, size);
  return read_bytes(scan, build, count) && yw_build_finish(build, scan);
}

// Unit normal, or zero for a triangle without area.
static yw_vec3 normal_of(yw_vec3 a, yw_vec3 b, yw_vec3 c) {
  yw_vec3 n = yw_cross(yw_sub(b, a), yw_sub(c, a));
  return yw_normalize_or(n, (yw_vec3){0.0f, 0.0f, 0.0f});
}

void yw_write_stl(yw_file_writer* file, const yw_tri_mesh* mesh) {
  unsigned char header[HEADER_BYTES + 4] = {0};
  // Not "solid", which would look like a text file.
  snprintf((char*)header, HEADER_BYTES, "Yawara %s", yw_version());
  yw_put_u32_le(header + HEADER_BYTES, (uint32_t)mesh->num_triangles);
  yw_file_write(file, header, sizeof header);
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    yw_vec3 rows[4];
    for (int32_t k = 0; k < 3; ++k) rows[k + 1] = mesh->positions[v[k]];
    rows[0] = normal_of(rows[1], rows[2], rows[3]);
    unsigned char bytes[TRIANGLE_BYTES] = {0};
    for (size_t k = 0; k < 4; ++k) {
      yw_put_float_le(bytes + 12 * k, rows[k].x);
      yw_put_float_le(bytes + 12 * k + 4, rows[k].y);
      yw_put_float_le(bytes + 12 * k + 8, rows[k].z);
    }
    yw_file_write(file, bytes, sizeof bytes);
  }
}
