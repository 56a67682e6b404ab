// SPDX-License-Identifier: MIT
// Grids of values: VTK image data (.vti) and MetaImage, a text header with the values in a separate
// file (.mhd) or after it (.mha), raw or as a zlib stream.
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "files/decompress.h"
#include "files/vtu_data.h"
#include "yawara/extend/file.h"
#include "yawara/extend/text_number.h"
#include "yawara/files.h"

#define MOST_POINTS 65536
#define MOST_VALUES ((int64_t)1 << 30)

void yw_grid_free(yw_grid* grid) {
  yw_mem_free(&grid->mem, grid->values);
  *grid = (yw_grid){0};
}

float yw_grid_value(const yw_grid* grid, yw_vec3 p) {
  const float x[3] = {p.x, p.y, p.z}, o[3] = {grid->origin.x, grid->origin.y, grid->origin.z};
  const float s[3] = {grid->spacing.x, grid->spacing.y, grid->spacing.z};
  size_t at[3], step[3];
  float t[3];
  for (int k = 0; k < 3; ++k) {
    float last = (float)(grid->size[k] - 1), place = (x[k] - o[k]) / s[k];
    // NaN goes to the first point.
    place = place > 0.0f ? (place < last ? place : last) : 0.0f;
    at[k] = (size_t)place;
    step[k] = at[k] + 1 < (size_t)grid->size[k];
    t[k] = place - (float)at[k];
  }
  size_t row = (size_t)grid->size[0], layer = row * (size_t)grid->size[1];
  const float* v = grid->values + at[2] * layer + at[1] * row + at[0];
  float c[4];
  for (int i = 0; i < 4; ++i) {
    const float* w =
        v + (i & 1) * (ptrdiff_t)(step[1] * row) + (i >> 1) * (ptrdiff_t)(step[2] * layer);
    c[i] = w[0] + t[0] * (w[step[0]] - w[0]);
  }
  float low = c[0] + t[1] * (c[1] - c[0]), high = c[2] + t[1] * (c[3] - c[2]);
  return low + t[2] * (high - low);
}

// Common checks -----------------------------------------------------------------------------------

static bool check_grid(yw_scan* scan, const int64_t size[3], const double origin[3],
                       const double spacing[3], yw_grid* grid) {
  int64_t count = 1;
  for (int k = 0; k < 3; ++k) {
    if (size[k] < 1 || size[k] > MOST_POINTS) {
      return yw_scan_fail(scan,
                          "the grid has %" PRId64 " points along an axis, but must have 1 to %d",
                          size[k], MOST_POINTS);
    }
    count *= size[k];
    if (count > MOST_VALUES) {
      return yw_scan_fail(scan, "the grid has more than %" PRId64 " points", MOST_VALUES);
    }
    if (!(fabs(origin[k]) <= 1e30) || !(spacing[k] >= 1e-30 && spacing[k] <= 1e30)) {
      return yw_scan_fail(scan,
                          "the grid starts at %g with a spacing of %g; both must be finite, "
                          "the spacing above 0",
                          origin[k], spacing[k]);
    }
    grid->size[k] = (int32_t)size[k];
  }
  grid->origin = (yw_vec3){(float)origin[0], (float)origin[1], (float)origin[2]};
  grid->spacing = (yw_vec3){(float)spacing[0], (float)spacing[1], (float)spacing[2]};
  return true;
}

static int64_t num_values(const yw_grid* grid) {
  return (int64_t)grid->size[0] * grid->size[1] * grid->size[2];
}

static bool read_values(yw_scan* file, yw_scan* scan, yw_scalar type, yw_grid* grid) {
  int64_t count = num_values(grid);
  grid->values = YW_NEW_ARRAY(&grid->mem, float, count);
  if (!grid->values) return yw_scan_fail_memory(file);
  for (int64_t i = 0; i < count; ++i) {
    double value;
    if (!yw_scan_real(scan, type, "a value of the grid", &value)) return false;
    if (!(fabs(value) <= FLT_MAX)) {
      return yw_scan_fail(file, "value %" PRId64 " of the grid is %g", i, value);
    }
    grid->values[i] = (float)value;
  }
  return true;
}

// Numbers of an attribute or a line, separated by blanks; false if there are not exactly `count`.
static bool parse_numbers(yw_span text, int count, double* out) {
  const char* at = text.begin;
  for (int i = 0; i < count; ++i) {
    while (at < text.end && (*at == ' ' || *at == '\t')) ++at;
    at = yw_parse_double(at, text.end, out + i);
    if (!at) return false;
  }
  while (at < text.end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
  return at == text.end;
}

// VTK ---------------------------------------------------------------------------------------------

typedef struct vti {
  yw_scan* scan;
  const char* wanted;
  yw_vtu_storage storage;
  double extent[6], origin[3], spacing[3];
  bool has_extent, in_cells, in_points, of_cells;
  int32_t num_pieces;
  yw_vtu_array array;
} vti;

static bool read_numbers(vti* v, const yw_xml_tag* tag, const char* name, int count, double* out) {
  yw_span value;
  if (!yw_xml_attribute(tag, name, &value)) return true;
  if (parse_numbers(value, count, out)) return true;
  return yw_scan_fail(v->scan, "%s is \"%.*s\", expected %d numbers", name, yw_span_shown(value),
                      value.begin, count);
}

static bool read_image_tag(vti* v, const yw_xml_tag* tag) {
  static const double straight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double direction[9];
  memcpy(direction, straight, sizeof straight);
  yw_span value;
  v->has_extent = yw_xml_attribute(tag, "WholeExtent", &value);
  for (int k = 0; k < 3; ++k) v->spacing[k] = 1.0;
  if (!v->has_extent) return yw_scan_fail(v->scan, "ImageData without WholeExtent");
  if (!read_numbers(v, tag, "WholeExtent", 6, v->extent) ||
      !read_numbers(v, tag, "Origin", 3, v->origin) ||
      !read_numbers(v, tag, "Spacing", 3, v->spacing) ||
      !read_numbers(v, tag, "Direction", 9, direction)) {
    return false;
  }
  for (int k = 0; k < 9; ++k) {
    if (fabs(direction[k] - straight[k]) > 1e-6) {
      return yw_scan_fail(v->scan, "the grid is turned (Direction), which cannot be read");
    }
  }
  for (int k = 0; k < 6; ++k) {
    if (!(fabs(v->extent[k]) <= 1e9) || v->extent[k] != floor(v->extent[k])) {
      return yw_scan_fail(v->scan, "WholeExtent must be six whole numbers");
    }
  }
  return true;
}

static bool read_array_tag(vti* v, const yw_xml_tag* tag) {
  yw_vtu_array array;
  if (v->array.place || !(v->in_cells || v->in_points)) return true;
  if (!yw_vtu_parse_array(v->scan, tag, &array)) return false;
  bool named = v->wanted && array.name.begin && yw_span_is(array.name, v->wanted);
  if (v->wanted ? !named : array.components != 1) return true;
  if (array.components != 1) {
    return yw_scan_fail(v->scan, "array \"%.40s\" has %" PRId64 " components, expected 1",
                        v->wanted, array.components);
  }
  v->array = array;
  v->of_cells = v->in_cells;
  return true;
}

static bool read_vti_root(vti* v) {
  yw_xml_tag tag;
  yw_span value;
  if (!yw_xml_next(v->scan, &tag) || tag.closing || !yw_span_is(tag.name, "VTKFile"))
    return yw_scan_fail(v->scan, "a VTI file begins with the tag VTKFile");
  if (!yw_xml_attribute(&tag, "type", &value) || !yw_span_is(value, "ImageData"))
    return yw_scan_fail(v->scan, "the type of the file is not ImageData");
  return yw_vtu_parse_storage(v->scan, &tag, &v->storage);
}

static bool read_vti_tags(vti* v) {
  yw_xml_tag tag;
  if (!read_vti_root(v)) return false;
  while (yw_xml_next(v->scan, &tag)) {
    bool good = true;
    if (yw_span_is(tag.name, "VTKFile") && tag.closing) return true;
    if (yw_span_is(tag.name, "AppendedData") && !tag.closing)
      return yw_vtu_find_appended(v->scan, &tag, &v->storage);
    if (yw_span_is(tag.name, "ImageData") && !tag.closing) good = read_image_tag(v, &tag);
    if (yw_span_is(tag.name, "Piece") && !tag.closing && ++v->num_pieces > 1)
      good = yw_scan_fail(v->scan, "the grid is in several pieces, which cannot be read");
    if (yw_span_is(tag.name, "PointData")) v->in_points = !tag.closing && !tag.empty;
    if (yw_span_is(tag.name, "CellData")) v->in_cells = !tag.closing && !tag.empty;
    if (yw_span_is(tag.name, "DataArray") && !tag.closing) good = read_array_tag(v, &tag);
    if (!good) return false;
  }
  return v->scan->status == YW_OK && yw_scan_fail(v->scan, "the file ends inside the tag VTKFile");
}

static bool read_vti(yw_scan* scan, const char* wanted, yw_grid* grid) {
  vti v = {.scan = scan, .wanted = wanted};
  if (!read_vti_tags(&v)) return false;
  if (!v.has_extent) return yw_scan_fail(scan, "the file has no ImageData");
  if (!v.array.place) {
    return wanted ? yw_scan_fail(scan, "the grid has no array \"%.40s\"", wanted)
                  : yw_scan_fail(scan, "the grid has no array of one component");
  }
  int64_t size[3];
  double origin[3];
  for (int k = 0; k < 3; ++k) {
    // Cell values are located at cell centres.
    double points = v.extent[2 * k + 1] - v.extent[2 * k] + 1.0;
    bool cells = v.of_cells && points > 1.0;
    size[k] = (int64_t)points - (cells ? 1 : 0);
    origin[k] = v.origin[k] + v.spacing[k] * (v.extent[2 * k] + (cells ? 0.5 : 0.0));
  }
  if (!check_grid(scan, size, origin, v.spacing, grid)) return false;
  yw_vtu_values values;
  if (!yw_vtu_open(scan, &v.storage, &v.array, num_values(grid), &grid->mem, &values)) return false;
  scan->mark = v.array.place;
  bool good = read_values(scan, &values.scan, v.array.type, grid);
  return yw_vtu_close(scan, &values, &grid->mem) && good;
}

// MetaImage ---------------------------------------------------------------------------------------

typedef struct mhd {
  double dimensions, size[3], origin[3], spacing[3], channels, skip;
  bool has_size, big_endian, compressed, has_type, local;
  yw_scalar type;
  yw_span file;
} mhd;

static bool parse_mhd_type(yw_scan* scan, yw_span word, mhd* m) {
  static const struct {
    const char* name;
    yw_scalar type;
  } types[] = {{"MET_CHAR", YW_INT8},       {"MET_UCHAR", YW_UINT8},   {"MET_SHORT", YW_INT16},
               {"MET_USHORT", YW_UINT16},   {"MET_INT", YW_INT32},     {"MET_UINT", YW_UINT32},
               {"MET_LONG_LONG", YW_INT64}, {"MET_FLOAT", YW_FLOAT32}, {"MET_DOUBLE", YW_FLOAT64}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (!yw_span_is(word, types[i].name)) continue;
    m->type = types[i].type;
    return m->has_type = true;
  }
  return yw_scan_fail(scan, "unknown ElementType \"%.*s\", expected one like MET_FLOAT",
                      yw_span_shown(word), word.begin);
}

static bool is_straight(yw_span value) {
  double a[9];
  if (!parse_numbers(value, 9, a)) return false;
  for (int k = 0; k < 9; ++k) {
    if (fabs(a[k] - (k % 4 == 0)) > 1e-6) return false;
  }
  return true;
}

// One line: key = value.
static bool read_mhd_line(yw_scan* scan, mhd* m, yw_span key, yw_span value) {
  bool yes = yw_span_is(value, "True");
  bool good = true;
  if (yw_span_is(key, "NDims")) {
    good = parse_numbers(value, 1, &m->dimensions) && m->dimensions == 3.0;
  } else if (yw_span_is(key, "DimSize")) {
    good = m->has_size = parse_numbers(value, 3, m->size);
  } else if (yw_span_is(key, "ElementSpacing") || yw_span_is(key, "ElementSize")) {
    good = parse_numbers(value, 3, m->spacing);
  } else if (yw_span_is(key, "Offset") || yw_span_is(key, "Position") ||
             yw_span_is(key, "Origin")) {
    good = parse_numbers(value, 3, m->origin);
  } else if (yw_span_is(key, "ElementNumberOfChannels")) {
    good = parse_numbers(value, 1, &m->channels) && m->channels == 1.0;
  } else if (yw_span_is(key, "HeaderSize")) {
    good = parse_numbers(value, 1, &m->skip) && m->skip >= 0.0 && m->skip <= 1e9;
  } else if (yw_span_is(key, "CompressedData")) {
    m->compressed = yes;
  } else if (yw_span_is(key, "TransformMatrix") || yw_span_is(key, "Rotation") ||
             yw_span_is(key, "Orientation")) {
    good = is_straight(value);
  } else if (yw_span_is(key, "BinaryDataByteOrderMSB") || yw_span_is(key, "ElementByteOrderMSB")) {
    m->big_endian = yes;
  } else if (yw_span_is(key, "ElementType")) {
    return parse_mhd_type(scan, value, m);
  } else if (yw_span_is(key, "ElementDataFile")) {
    m->file = value;
  }
  return good || yw_scan_fail(scan, "%.*s = %.*s cannot be read", yw_span_shown(key), key.begin,
                              yw_span_shown(value), value.begin);
}

static bool read_mhd_header(yw_scan* scan, mhd* m) {
  while (scan->at < scan->end && !m->file.begin) {
    const char* newline = memchr(scan->at, '\n', yw_scan_left(scan));
    const char* end = newline ? newline : scan->end;
    const char* equals = memchr(scan->at, '=', (size_t)(end - scan->at));
    yw_span key = {scan->at, equals ? equals : end}, value = {equals ? equals + 1 : end, end};
    scan->mark = scan->at;
    while (key.begin < key.end && (*key.begin == ' ' || *key.begin == '\t')) ++key.begin;
    while (key.end > key.begin && (unsigned char)key.end[-1] <= ' ') --key.end;
    while (value.begin < value.end && (*value.begin == ' ' || *value.begin == '\t')) ++value.begin;
    while (value.end > value.begin && (unsigned char)value.end[-1] <= ' ') --value.end;
    if (!equals && key.begin < key.end) return yw_scan_fail(scan, "expected a line KEY = VALUE");
    if (equals && !read_mhd_line(scan, m, key, value)) return false;
    scan->at = newline ? newline + 1 : scan->end;
  }
  if (!m->has_size) return yw_scan_fail(scan, "the header has no DimSize of three numbers");
  if (!m->has_type) return yw_scan_fail(scan, "the header has no ElementType");
  if (!m->file.begin) return yw_scan_fail(scan, "the header has no ElementDataFile");
  for (const char* p = m->file.begin; p < m->file.end; ++p) {
    if (*p == '/' || *p == '\\' || *p == '\0')
      return yw_scan_fail(scan, "ElementDataFile must be the name of a file beside the header");
  }
  m->local = yw_span_is(m->file, "LOCAL");
  if (yw_span_is(m->file, "LIST") || m->file.begin == m->file.end)
    return yw_scan_fail(scan, "ElementDataFile must be the name of a file beside the header");
  return true;
}

// The values as they are in memory once expanded; *expanded is freed by the caller.
static bool expand_mhd(yw_scan* scan, const mhd* m, yw_span* data, uint64_t needed,
                       const yw_allocator* mem, char** expanded) {
  if (!m->compressed) return true;
  size_t size = yw_span_size(*data);
  if (!yw_check_expansion(scan, YW_COMPRESSION_ZLIB, size, needed)) return false;
  *expanded = YW_NEW_ARRAY(mem, char, needed);
  if (!*expanded) return yw_scan_fail_memory(scan);
  if (!yw_decompressor(YW_COMPRESSION_ZLIB)(data->begin, size, *expanded, (size_t)needed))
    return yw_scan_fail(scan,
                        "the compressed values are damaged: they are not %" PRIu64
                        " bytes compressed with zlib",
                        needed);
  *data = (yw_span){*expanded, *expanded + needed};
  return true;
}

static bool read_mhd_values(yw_scan* scan, const mhd* m, yw_span data, const char* path,
                            yw_grid* grid) {
  uint64_t needed = (uint64_t)num_values(grid) * yw_scalar_size(m->type);
  uint64_t skip = (uint64_t)m->skip, size = yw_span_size(data);
  if (size < skip || (!m->compressed && size - skip != needed)) {
    return yw_scan_fail(scan,
                        "%s has %" PRIu64 " bytes of values, but the header asks for %" PRIu64,
                        yw_file_short_name(path), size, skip + needed);
  }
  data.begin += skip;
  char* expanded = NULL;
  bool good = expand_mhd(scan, m, &data, needed, &grid->mem, &expanded);
  if (good) {
    yw_scan raw;
    yw_scan_init(&raw, path, data.begin, yw_span_size(data), scan->error);
    raw.encoding = m->big_endian ? YW_BIG_ENDIAN : YW_LITTLE_ENDIAN;
    good = read_values(scan, &raw, m->type, grid);
    if (!good && scan->status == YW_OK) scan->status = raw.status;
  }
  yw_mem_free(&grid->mem, expanded);
  return good;
}

// Values in a file beside the header.
static bool read_mhd_file(yw_scan* scan, const mhd* m, const char* path, yw_grid* grid) {
  const char* slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash - path) + 1 : 0, length = yw_span_size(m->file);
  char* name = YW_NEW_ARRAY(&grid->mem, char, folder + length + 1);
  if (!name) return yw_scan_fail_memory(scan);
  memcpy(name, path, folder);
  memcpy(name + folder, m->file.begin, length);
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(name, 0, &grid->mem, &data, scan->error);
  bool good = false;
  if (status == YW_OK) {
    yw_span values = {data.bytes, data.bytes + data.size};
    good = read_mhd_values(scan, m, values, name, grid);
  } else {
    scan->status = status;
  }
  yw_file_data_free(&data);
  yw_mem_free(&grid->mem, name);
  return good;
}

static bool read_mhd(yw_scan* scan, const char* path, yw_grid* grid) {
  mhd m = {.spacing = {1, 1, 1}};
  if (!read_mhd_header(scan, &m)) return false;
  int64_t size[3];
  for (int k = 0; k < 3; ++k) {
    bool whole = fabs(m.size[k]) <= 1e9 && m.size[k] == floor(m.size[k]);
    size[k] = whole ? (int64_t)m.size[k] : 0;
  }
  if (!check_grid(scan, size, m.origin, m.spacing, grid)) return false;
  if (m.local) return read_mhd_values(scan, &m, (yw_span){scan->at, scan->end}, path, grid);
  return read_mhd_file(scan, &m, path, grid);
}

// Entry points ------------------------------------------------------------------------------------

static bool has_ending(const char* path, const char* ending) {
  size_t length = strlen(path), tail = strlen(ending);
  if (length < tail) return false;
  return yw_span_is((yw_span){path + length - tail, path + length}, ending);
}

yw_status yw_grid_read(const char* path, const char* name, const yw_allocator* mem, yw_grid* out,
                       yw_error* error) {
  if (!path || !out) return yw_fail(error, YW_ERR_INVALID, "yw_grid_read: a pointer is NULL");
  *out = (yw_grid){.mem = yw_mem_or_default(mem)};
  bool image = has_ending(path, ".vti");
  if (!image && !has_ending(path, ".mhd") && !has_ending(path, ".mha")) {
    return yw_fail(error, YW_ERR_INVALID, "%s: a grid is a .vti, .mhd or .mha file",
                   yw_file_short_name(path));
  }
  if (!image && name) {
    return yw_fail(error, YW_ERR_INVALID, "%s: a MetaImage file has one array, without a name",
                   yw_file_short_name(path));
  }
  yw_file_data data;
  yw_status status = yw_file_read_all(path, 0, mem, &data, error);
  if (status != YW_OK) return status;
  yw_scan scan;
  yw_scan_init(&scan, path, data.bytes, data.size, error);
  if (!(image ? read_vti(&scan, name, out) : read_mhd(&scan, path, out))) {
    status = scan.status != YW_OK ? scan.status : YW_ERR_FORMAT;
    yw_grid_free(out);
  }
  yw_file_data_free(&data);
  return status;
}
