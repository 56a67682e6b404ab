// SPDX-License-Identifier: MIT
// VTK's XML files of unstructured grids. First all tags are read and the arrays of each piece
// recorded; then their values, once the start of the appended data is known.
#include <inttypes.h>
#include <string.h>

#include "files/mesh_formats.h"
#include "files/mesh_vtk_cells.h"
#include "files/vtu_data.h"
#include "yawara/extend/text_number.h"

typedef struct vtu_piece {
  const char* place;
  int64_t num_points, num_cells;
  yw_vtu_array points, connectivity, offsets, types, labels, colors;
} vtu_piece;

typedef struct vtu {
  yw_scan* scan;
  yw_mesh_build* build;
  yw_vtu_storage storage;
  yw_span section;  // Points, Cells, PointData or CellData
  YW_LIST(vtu_piece) pieces;
} vtu;

// Tags --------------------------------------------------------------------------------------------

static bool read_root(vtu* v) {
  yw_scan* scan = v->scan;
  yw_xml_tag tag;
  yw_span value;
  if (!yw_xml_next(scan, &tag) || tag.closing || !yw_span_is(tag.name, "VTKFile"))
    return yw_scan_fail(scan, "a VTU file begins with the tag VTKFile");
  if (!yw_xml_attribute(&tag, "type", &value) || !yw_span_is(value, "UnstructuredGrid"))
    return yw_scan_fail(scan, "the type of the file is not UnstructuredGrid");
  return yw_vtu_parse_storage(scan, &tag, &v->storage);
}

static bool read_size(vtu* v, const yw_xml_tag* tag, const char* name, int64_t* out) {
  yw_span value;
  if (!yw_xml_attribute(tag, name, &value))
    return yw_scan_fail(v->scan, "a Piece without %s", name);
  const char* next = yw_parse_int(value.begin, value.end, out);
  if (!next || next != value.end)
    return yw_scan_fail(v->scan, "%s is \"%.*s\", expected a number", name, yw_span_shown(value),
                        value.begin);
  // Every point and cell takes more than one byte; compressed, their number is checked with the
  // sizes of the blocks.
  return yw_scan_check_count(v->scan, *out, name, v->storage.compressed ? 0 : 1);
}

static bool read_piece(vtu* v, const yw_xml_tag* tag) {
  vtu_piece piece = {.place = tag->place};
  if (!read_size(v, tag, "NumberOfPoints", &piece.num_points) ||
      !read_size(v, tag, "NumberOfCells", &piece.num_cells))
    return false;
  if (!YW_LIST_RESERVE(&v->build->mem, &v->pieces, 1)) return yw_scan_fail_memory(v->scan);
  v->pieces.items[v->pieces.count++] = piece;
  return true;
}

static bool is_color_name(yw_span name) {
  return yw_span_is(name, "color") || yw_span_is(name, "colors") || yw_span_is(name, "rgb");
}

// Where to store an array of this section and name; NULL: not used.
static yw_vtu_array* slot_of(vtu* v, vtu_piece* piece, yw_span name) {
  if (yw_span_is(v->section, "Points")) return &piece->points;
  if (yw_span_is(v->section, "Cells")) {
    if (yw_span_is(name, "connectivity")) return &piece->connectivity;
    if (yw_span_is(name, "offsets")) return &piece->offsets;
    if (yw_span_is(name, "types")) return &piece->types;
  }
  if (yw_span_is(v->section, "CellData") && yw_vtk_is_label_name(name)) return &piece->labels;
  if (yw_span_is(v->section, "PointData") && is_color_name(name)) return &piece->colors;
  return NULL;
}

static bool read_array_tag(vtu* v, const yw_xml_tag* tag) {
  if (v->pieces.count == 0) return true;  // FieldData
  yw_span name = {tag->place, tag->place};
  yw_xml_attribute(tag, "Name", &name);
  yw_vtu_array* slot = slot_of(v, &v->pieces.items[v->pieces.count - 1], name);
  return !slot || slot->place || yw_vtu_parse_array(v->scan, tag, slot);
}

static bool read_tags(vtu* v) {
  yw_xml_tag tag;
  if (!read_root(v)) return false;
  while (yw_xml_next(v->scan, &tag)) {
    bool good = true;
    if (yw_span_is(tag.name, "VTKFile") && tag.closing) return true;
    // Appended data may contain anything, so reading of tags stops there.
    if (yw_span_is(tag.name, "AppendedData") && !tag.closing)
      return yw_vtu_find_appended(v->scan, &tag, &v->storage);
    if (yw_span_is(tag.name, "Piece") && !tag.closing)
      good = read_piece(v, &tag);
    else if (yw_span_is(tag.name, "DataArray") && !tag.closing)
      good = read_array_tag(v, &tag);
    else if (yw_span_is(tag.name, "Points") || yw_span_is(tag.name, "Cells") ||
             yw_span_is(tag.name, "PointData") || yw_span_is(tag.name, "CellData"))
      v->section = tag.closing ? (yw_span){0} : tag.name;
    if (!good) return false;
  }
  return yw_scan_fail(v->scan, "the file ends inside the tag VTKFile");
}

// Values ------------------------------------------------------------------------------------------

static bool fail_missing(vtu* v, const vtu_piece* piece, const char* name) {
  v->scan->mark = piece->place;
  return yw_scan_fail(v->scan, "this Piece has no array %s", name);
}

static bool read_points(vtu* v, const vtu_piece* piece) {
  const yw_vtu_array* array = &piece->points;
  if (!array->place) return fail_missing(v, piece, "of points");
  v->scan->mark = array->place;
  if (array->components != 3)
    return yw_scan_fail(v->scan, "points have %" PRId64 " components, but must have 3",
                        array->components);
  yw_vtu_values values;
  const yw_allocator* mem = &v->build->mem;
  if (!yw_vtu_open(v->scan, &v->storage, array, 3 * piece->num_points, mem, &values)) return false;
  bool good = true;
  for (int64_t i = 0; good && i < piece->num_points; ++i) {
    double p[3];
    for (int32_t k = 0; good && k < 3; ++k)
      good = yw_scan_real(&values.scan, array->type, "a coordinate of a point", &p[k]);
    good = good && yw_build_position(v->build, v->scan, p);
  }
  return yw_vtu_close(v->scan, &values, mem) && good;
}

// Colors of the points added last.
static bool read_colors(vtu* v, const vtu_piece* piece, int32_t first_vertex) {
  const yw_vtu_array* array = &piece->colors;
  if (!array->place || (array->components != 3 && array->components != 4)) return true;
  yw_vtu_values values;
  const yw_allocator* mem = &v->build->mem;
  if (!yw_vtu_open(v->scan, &v->storage, array, array->components * piece->num_points, mem,
                   &values))
    return false;
  // yw_build_color sets the color of the last vertex: let the list end at each vertex in turn.
  int32_t num_vertices = v->build->positions.count;
  double scale = array->type == YW_UINT8 ? 1.0 / 255.0 : 1.0;
  bool good = true;
  for (int64_t i = 0; good && i < piece->num_points; ++i) {
    double rgba[4];
    for (int64_t k = 0; good && k < array->components; ++k) {
      good = yw_scan_real(&values.scan, array->type, "a color", &rgba[k]);
      if (good) rgba[k] *= scale;
    }
    v->build->positions.count = first_vertex + (int32_t)i + 1;
    good = good && yw_build_color(v->build, v->scan, rgba);
  }
  v->build->positions.count = num_vertices;
  return yw_vtu_close(v->scan, &values, mem) && good;
}

// Handles one integer of an array.
typedef bool (*take_int)(vtu* v, yw_vtk_cells* cells, int32_t first_vertex, int64_t value);

static bool take_end(vtu* v, yw_vtk_cells* cells, int32_t first_vertex, int64_t value) {
  (void)first_vertex;
  return yw_vtk_push_end(cells, v->scan, &v->build->mem, value);
}
static bool take_type(vtu* v, yw_vtk_cells* cells, int32_t first_vertex, int64_t value) {
  (void)first_vertex;
  return yw_vtk_push_type(cells, v->scan, &v->build->mem, value);
}
static bool take_label(vtu* v, yw_vtk_cells* cells, int32_t first_vertex, int64_t value) {
  (void)first_vertex;
  return yw_vtk_push_label(cells, v->scan, &v->build->mem, value);
}
static bool take_corner(vtu* v, yw_vtk_cells* cells, int32_t first_vertex, int64_t value) {
  return yw_vtk_push_corner(cells, v->scan, v->build, first_vertex, value);
}

static bool read_ints(vtu* v, const yw_vtu_array* array, int64_t count, yw_vtk_cells* cells,
                      int32_t first_vertex, take_int take) {
  yw_vtu_values values;
  const yw_allocator* mem = &v->build->mem;
  if (!yw_vtu_open(v->scan, &v->storage, array, count, mem, &values)) return false;
  bool good = true;
  for (int64_t i = 0; good && i < count; ++i) {
    int64_t value;
    good = yw_scan_int(&values.scan, array->type, "a whole number", &value) &&
           take(v, cells, first_vertex, value);
  }
  return yw_vtu_close(v->scan, &values, mem) && good;
}

static bool read_cells(vtu* v, const vtu_piece* piece, int32_t first_vertex, yw_vtk_cells* cells) {
  if (piece->num_cells == 0) return true;
  if (!piece->offsets.place) return fail_missing(v, piece, "offsets");
  if (!piece->types.place) return fail_missing(v, piece, "types");
  if (!piece->connectivity.place) return fail_missing(v, piece, "connectivity");
  if (!read_ints(v, &piece->offsets, piece->num_cells, cells, 0, take_end) ||
      !read_ints(v, &piece->types, piece->num_cells, cells, 0, take_type))
    return false;
  int64_t num_corners = cells->ends.items[cells->ends.count - 1];
  if (!read_ints(v, &piece->connectivity, num_corners, cells, first_vertex, take_corner))
    return false;
  if (piece->labels.place && piece->labels.components == 1 &&
      !read_ints(v, &piece->labels, piece->num_cells, cells, 0, take_label))
    return false;
  v->scan->mark = piece->place;
  return yw_build_vtk_cells(v->build, v->scan, cells);
}

static bool read_values(vtu* v, const vtu_piece* piece) {
  int32_t first_vertex = v->build->positions.count;
  if (piece->num_points == 0 && piece->num_cells == 0) return true;
  if (!read_points(v, piece) || !read_colors(v, piece, first_vertex)) return false;
  yw_vtk_cells cells = {0};
  bool good = read_cells(v, piece, first_vertex, &cells);
  yw_vtk_cells_free(&cells, &v->build->mem);
  return good;
}

bool yw_read_vtu(yw_scan* scan, yw_mesh_build* build) {
  vtu v = {.scan = scan, .build = build};
  bool good = read_tags(&v);
  for (int32_t i = 0; good && i < v.pieces.count; ++i) good = read_values(&v, &v.pieces.items[i]);
  YW_LIST_FREE(&build->mem, &v.pieces);
  return good && yw_build_finish(build, scan);
}
