// SPDX-License-Identifier: MIT
// Legacy VTK files, as text or big-endian binary: UNSTRUCTURED_GRID and POLYDATA with cells as rows
// of "count, corners" (versions 1 to 4) or as offsets and connectivity (5.1). Of the attributes
// only the region of a cell is used.
#include <inttypes.h>
#include <string.h>

#include "files/mesh_formats.h"
#include "files/mesh_vtk_cells.h"

typedef struct vtk {
  yw_scan* scan;
  yw_mesh_build* build;
  yw_encoding values;
  bool five;       // cells as offsets and connectivity
  bool poly_data;  // cell types follow from the keyword
  bool has_points;
  yw_vtk_cells cells;
} vtk;

static bool next_word(vtk* v, const char* what, yw_span* word) {
  return yw_scan_word_on_line(v->scan, word) ||
         yw_scan_fail(v->scan, "the line ends where %s is expected", what);
}

// False without an error: a type that cannot be read (bit, string).
static bool find_type(yw_span word, yw_scalar* type) {
  // vtkIdType is stored as int in these files, whatever its size in memory.
  static const struct {
    const char* name;
    yw_scalar type;
  } types[] = {{"unsigned_char", YW_UINT8}, {"char", YW_INT8},
               {"signed_char", YW_INT8},    {"unsigned_short", YW_UINT16},
               {"short", YW_INT16},         {"unsigned_int", YW_UINT32},
               {"int", YW_INT32},           {"unsigned_long", YW_UINT64},
               {"long", YW_INT64},          {"vtkIdType", YW_INT32},
               {"vtktypeint64", YW_INT64},  {"vtktypeuint64", YW_UINT64},
               {"vtktypeint32", YW_INT32},  {"vtktypeuint32", YW_UINT32},
               {"float", YW_FLOAT32},       {"double", YW_FLOAT64}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (!yw_span_is(word, types[i].name)) continue;
    *type = types[i].type;
    return true;
  }
  return false;
}

static bool read_type(vtk* v, yw_scalar* type) {
  yw_span word;
  if (!next_word(v, "a type", &word)) return false;
  return find_type(word, type) ||
         yw_scan_fail(v->scan, "unknown type \"%.*s\"", yw_span_shown(word), word.begin);
}

// Values start on the line after their keyword.
static void enter_values(vtk* v) {
  yw_scan_skip_line(v->scan);
  v->scan->encoding = v->values;
}
static void leave_values(vtk* v) { v->scan->encoding = YW_TEXT; }

static size_t bytes_of(const vtk* v, yw_scalar type) {
  return v->values == YW_TEXT ? 2 : yw_scalar_size(type);
}

// Points and cells --------------------------------------------------------------------------------

// POINTS COUNT TYPE
static bool read_points(vtk* v) {
  int64_t count;
  yw_scalar type;
  if (v->has_points) return yw_scan_fail(v->scan, "a second block of points");
  v->has_points = true;
  if (!yw_scan_int_on_line(v->scan, "the number of points", &count)) return false;
  if (!read_type(v, &type)) return false;
  enter_values(v);
  if (!yw_scan_check_count(v->scan, count, "the number of points", 3 * bytes_of(v, type)))
    return false;
  for (int64_t i = 0; i < count; ++i) {
    double p[3];
    for (int32_t k = 0; k < 3; ++k)
      if (!yw_scan_real(v->scan, type, "a coordinate of a point", &p[k])) return false;
    if (!yw_build_position(v->build, v->scan, p)) return false;
  }
  leave_values(v);
  return true;
}

static bool read_corners(vtk* v, yw_scalar type, int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    int64_t index;
    if (!yw_scan_int(v->scan, type, "a corner of a cell", &index)) return false;
    if (!yw_vtk_push_corner(&v->cells, v->scan, v->build, 0, index)) return false;
  }
  return true;
}

// Rows of "count, corners": num_cells rows with `size` numbers in all.
static bool read_rows(vtk* v, int64_t num_cells, int64_t size) {
  enter_values(v);
  if (!yw_scan_check_count(v->scan, size, "the size of the cell list", bytes_of(v, YW_INT32)) ||
      !yw_scan_check_count(v->scan, num_cells, "the number of cells", bytes_of(v, YW_INT32)))
    return false;
  int64_t left = size;
  for (int64_t i = 0; i < num_cells; ++i) {
    int64_t count;
    if (!yw_scan_int(v->scan, YW_INT32, "the number of corners of a cell", &count)) return false;
    if (count < 0 || count >= left)
      return yw_scan_fail(v->scan,
                          "cell %" PRId64 " has %" PRId64 " corners, but %" PRId64
                          " numbers are left of the size in the keyword line",
                          i, count, left - 1);
    left -= count + 1;
    if (!read_corners(v, YW_INT32, count)) return false;
    if (!yw_vtk_push_end(&v->cells, v->scan, &v->build->mem, v->cells.corners.count)) return false;
  }
  leave_values(v);
  return true;
}

// OFFSETS TYPE (num_offsets values), CONNECTIVITY TYPE (size values)
static bool read_offsets(vtk* v, int64_t num_offsets, int64_t size) {
  yw_scalar type;
  int32_t base = v->cells.corners.count;
  yw_scan_skip_line(v->scan);
  if (!yw_scan_expect(v->scan, "OFFSETS") || !read_type(v, &type)) return false;
  enter_values(v);
  if (!yw_scan_check_count(v->scan, num_offsets, "the number of offsets", bytes_of(v, type)))
    return false;
  for (int64_t i = 0; i < num_offsets; ++i) {
    int64_t offset;
    if (!yw_scan_int(v->scan, type, "an offset", &offset)) return false;
    if (offset < 0 || offset > size || (i == 0 && offset != 0))
      return yw_scan_fail(v->scan, "offset %" PRId64 " is %" PRId64 ", expected %s %" PRId64, i,
                          offset, i == 0 ? "0 of" : "0 to", size);
    if (i > 0 && !yw_vtk_push_end(&v->cells, v->scan, &v->build->mem, base + offset)) return false;
  }
  leave_values(v);
  if (!yw_scan_expect(v->scan, "CONNECTIVITY") || !read_type(v, &type)) return false;
  enter_values(v);
  if (!yw_scan_check_count(v->scan, size, "the size of the cell list", bytes_of(v, type)))
    return false;
  if (!read_corners(v, type, size)) return false;
  leave_values(v);
  return true;
}

// CELLS (or POLYGONS ...) COUNT SIZE; type is that of all cells, or -1 if CELL_TYPES gives it
static bool read_cells(vtk* v, int32_t type) {
  int64_t count, size;
  if (!yw_scan_int_on_line(v->scan, "the number of cells", &count)) return false;
  if (!yw_scan_int_on_line(v->scan, "the size of the cell list", &size)) return false;
  if (!(v->five ? read_offsets(v, count, size) : read_rows(v, count, size))) return false;
  while (type >= 0 && v->cells.types.count < v->cells.ends.count)
    if (!yw_vtk_push_type(&v->cells, v->scan, &v->build->mem, type)) return false;
  return true;
}

static bool read_cell_types(vtk* v) {
  int64_t count, type;
  if (!yw_scan_int_on_line(v->scan, "the number of cell types", &count)) return false;
  enter_values(v);
  if (!yw_scan_check_count(v->scan, count, "the number of cell types", bytes_of(v, YW_INT32)))
    return false;
  for (int64_t i = 0; i < count; ++i) {
    if (!yw_scan_int(v->scan, YW_INT32, "a cell type", &type)) return false;
    if (!yw_vtk_push_type(&v->cells, v->scan, &v->build->mem, type)) return false;
  }
  leave_values(v);
  return true;
}

// Attributes --------------------------------------------------------------------------------------

// One array of count numbers; the region of cells is kept.
static bool read_array(vtk* v, yw_span name, yw_scalar type, int64_t count, bool per_cell) {
  enter_values(v);
  if (!yw_scan_check_count(v->scan, count, "the number of values", bytes_of(v, type))) return false;
  bool labels = per_cell && count == v->cells.ends.count && v->cells.labels.count == 0 &&
                yw_vtk_is_label_name(name);
  if (labels) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t label;
      if (!yw_scan_int(v->scan, type, "a whole number as label", &label)) return false;
      if (!yw_vtk_push_label(&v->cells, v->scan, &v->build->mem, label)) return false;
    }
  } else if (!yw_scan_skip_numbers(v->scan, type, count, "a value of an attribute")) {
    return false;
  }
  leave_values(v);
  return true;
}

// Rows * components without overflow; impossible sizes fail the check of the array.
static int64_t product(int64_t rows, int64_t components) {
  if (rows < 0 || components < 0) return -1;
  return components != 0 && rows > INT64_MAX / components ? INT64_MAX : rows * components;
}

static void skip_metadata(vtk* v) {
  // Skip to an empty line.
  yw_span word;
  do yw_scan_skip_line(v->scan);
  while (yw_scan_word_on_line(v->scan, &word));
}

// FIELD NAME COUNT, then arrays of NAME COMPONENTS ROWS TYPE. *readable becomes false at a type
// that cannot be read.
static bool read_field(vtk* v, bool per_cell, bool* readable) {
  yw_span name, word;
  int64_t num_arrays, components, rows;
  if (!next_word(v, "the name of a field", &name)) return false;
  if (!yw_scan_int_on_line(v->scan, "the number of arrays", &num_arrays)) return false;
  for (int64_t i = 0; i < num_arrays; ++i) {
    if (!yw_scan_word(v->scan, &name))
      return yw_scan_fail(v->scan, "the file ends where the name of an array is expected");
    if (yw_span_is(name, "METADATA")) {  // belongs to the previous array
      skip_metadata(v);
      --i;
      continue;
    }
    if (!yw_scan_int_on_line(v->scan, "the number of components", &components)) return false;
    if (!yw_scan_int_on_line(v->scan, "the number of rows", &rows)) return false;
    yw_scalar type;
    if (!next_word(v, "a type", &word)) return false;
    *readable = find_type(word, &type);
    if (!*readable) return true;
    if (!read_array(v, name, type, product(rows, components), per_cell && components == 1))
      return false;
  }
  return true;
}

// SCALARS NAME TYPE [COMPONENTS], then LOOKUP_TABLE NAME and the values
static bool read_scalars(vtk* v, int64_t rows, bool per_cell, bool* readable) {
  yw_span name, word;
  yw_scalar type;
  int64_t components = 1;
  if (!next_word(v, "the name of an attribute", &name)) return false;
  if (!next_word(v, "a type", &word)) return false;
  *readable = find_type(word, &type);
  if (!*readable) return true;
  if (yw_scan_word_on_line(v->scan, &word)) {
    v->scan->at = word.begin;
    if (!yw_scan_int_on_line(v->scan, "the number of components", &components)) return false;
  }
  if (!yw_scan_expect(v->scan, "LOOKUP_TABLE")) return false;
  return read_array(v, name, type, product(rows, components), per_cell && components == 1);
}

// Attributes with a fixed number of components: KEYWORD NAME TYPE
static int64_t components_of(yw_span keyword) {
  static const struct {
    const char* name;
    int64_t components;
  } keywords[] = {{"VECTORS", 3},  {"NORMALS", 3},    {"TENSORS", 9},
                  {"TENSORS6", 6}, {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}};
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; ++i)
    if (yw_span_is(keyword, keywords[i].name)) return keywords[i].components;
  return 0;
}

// Everything after CELL_DATA or POINT_DATA. Attributes are optional: reading stops at an unknown
// keyword or type, and what was found before is used.
static bool read_attributes(vtk* v, bool per_cell) {
  int64_t rows;
  yw_span word, name;
  bool readable = true;
  if (!yw_scan_int_on_line(v->scan, "the number of rows", &rows)) return false;
  while (readable && yw_scan_word(v->scan, &word)) {
    bool good = true;
    int64_t components = components_of(word);
    if (yw_span_is(word, "CELL_DATA") || yw_span_is(word, "POINT_DATA")) {
      per_cell = yw_span_is(word, "CELL_DATA");
      good = yw_scan_int_on_line(v->scan, "the number of rows", &rows);
    } else if (yw_span_is(word, "SCALARS")) {
      good = read_scalars(v, rows, per_cell, &readable);
    } else if (yw_span_is(word, "FIELD")) {
      good = read_field(v, per_cell, &readable);
    } else if (yw_span_is(word, "METADATA")) {
      skip_metadata(v);
    } else if (components > 0) {
      yw_scalar type;
      good = next_word(v, "the name of an attribute", &name) && next_word(v, "a type", &word);
      readable = good && find_type(word, &type);
      if (readable) good = read_array(v, name, type, product(rows, components), false);
    } else {
      readable = false;
    }
    if (!good) return false;
  }
  return true;
}

// The file ----------------------------------------------------------------------------------------

static bool read_header(vtk* v) {
  static const char magic[] = "# vtk DataFile Version ";
  yw_scan* scan = v->scan;
  if (yw_scan_left(scan) < sizeof magic || memcmp(scan->at, magic, sizeof magic - 1) != 0)
    return yw_scan_fail(scan, "a VTK file begins with \"%s...\"", magic);
  scan->at += sizeof magic - 1;
  double version;
  if (!yw_scan_real_on_line(scan, "a version", &version)) return false;
  v->five = version >= 5.0;
  yw_scan_skip_line(scan);
  yw_scan_skip_line(scan);  // title
  yw_span word;
  if (!yw_scan_word(scan, &word))
    return yw_scan_fail(scan, "the file ends where ASCII or BINARY is expected");
  v->values = yw_span_is(word, "BINARY") ? YW_BIG_ENDIAN : YW_TEXT;
  if (v->values == YW_TEXT && !yw_span_is(word, "ASCII"))
    return yw_scan_fail(scan, "expected ASCII or BINARY, found \"%.*s\"", yw_span_shown(word),
                        word.begin);
  if (!yw_scan_expect(scan, "DATASET")) return false;
  if (!next_word(v, "a kind of data", &word)) return false;
  v->poly_data = yw_span_is(word, "POLYDATA");
  if (!v->poly_data && !yw_span_is(word, "UNSTRUCTURED_GRID"))
    return yw_scan_fail(scan, "\"%.*s\" cannot be read, expected UNSTRUCTURED_GRID or POLYDATA",
                        yw_span_shown(word), word.begin);
  return true;
}

// One keyword and its values. *ended becomes true at the attributes, which come last.
static bool read_section(vtk* v, yw_span word, bool* ended) {
  bool readable = true;
  if (yw_span_is(word, "POINTS")) return read_points(v);
  if (yw_span_is(word, "METADATA")) {
    skip_metadata(v);
    return true;
  }
  if (yw_span_is(word, "FIELD"))
    return read_field(v, false, &readable) &&
           (readable || yw_scan_fail(v->scan, "this field cannot be read"));
  if (yw_span_is(word, "CELL_DATA") || yw_span_is(word, "POINT_DATA")) {
    *ended = true;
    return read_attributes(v, yw_span_is(word, "CELL_DATA"));
  }
  if (!v->poly_data) {
    if (yw_span_is(word, "CELLS")) return read_cells(v, -1);
    if (yw_span_is(word, "CELL_TYPES")) return read_cell_types(v);
  } else {
    if (yw_span_is(word, "POLYGONS")) return read_cells(v, YW_VTK_POLYGON);
    if (yw_span_is(word, "TRIANGLE_STRIPS")) return read_cells(v, YW_VTK_STRIP);
    if (yw_span_is(word, "LINES")) return read_cells(v, YW_VTK_POLY_LINE);
    if (yw_span_is(word, "VERTICES")) return read_cells(v, YW_VTK_POLY_VERTEX);
  }
  return yw_scan_fail(v->scan, "unknown keyword \"%.*s\"", yw_span_shown(word), word.begin);
}

bool yw_read_vtk(yw_scan* scan, yw_mesh_build* build) {
  vtk v = {.scan = scan, .build = build};
  bool good = read_header(&v), ended = false;
  yw_span word;
  while (good && !ended && yw_scan_word(scan, &word)) good = read_section(&v, word, &ended);
  good = good && yw_build_vtk_cells(build, scan, &v.cells) && yw_build_finish(build, scan);
  yw_vtk_cells_free(&v.cells, &build->mem);
  return good;
}
