// SPDX-License-Identifier: MIT
// PLY: a header that describes elements and their properties, then their values as text or binary
// in either byte order. x, y, z and colors of "vertex", the index lists of "face" and "tristrips"
// and, where they are asked for, the lists "texcoord" of "face" are used; everything else is
// ignored, wherever it appears.
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "files/mesh_formats.h"

// Role of a property.
typedef enum role {
  ROLE_NONE,
  ROLE_X,
  ROLE_Y,
  ROLE_Z,
  ROLE_RED,
  ROLE_GREEN,
  ROLE_BLUE,
  ROLE_INDICES,
  ROLE_UVS
} role;

typedef struct ply_property {
  yw_scalar type;
  yw_scalar count_type;  // of lists
  bool is_list;
  bool painted;  // the requested attribute
  role role;
} ply_property;

typedef enum element_kind { KIND_OTHER, KIND_VERTEX, KIND_FACE, KIND_STRIP } element_kind;

typedef struct ply_element {
  yw_span name;
  element_kind kind;
  int64_t count;
  int32_t first, num_properties;  // range in the list of properties
} ply_element;

typedef struct ply_header {
  YW_LIST(ply_element) elements;
  YW_LIST(ply_property) properties;
  yw_encoding encoding;
} ply_header;

static bool read_type(yw_scan* scan, yw_scalar* type) {
  static const struct {
    const char* name;
    yw_scalar type;
  } types[] = {{"char", YW_INT8},       {"int8", YW_INT8},      {"uchar", YW_UINT8},
               {"uint8", YW_UINT8},     {"short", YW_INT16},    {"int16", YW_INT16},
               {"ushort", YW_UINT16},   {"uint16", YW_UINT16},  {"int", YW_INT32},
               {"int32", YW_INT32},     {"uint", YW_UINT32},    {"uint32", YW_UINT32},
               {"int64", YW_INT64},     {"uint64", YW_UINT64},  {"float", YW_FLOAT32},
               {"float32", YW_FLOAT32}, {"double", YW_FLOAT64}, {"float64", YW_FLOAT64}};
  yw_span word;
  if (!yw_scan_word_on_line(scan, &word))
    return yw_scan_fail(scan, "the line ends where the type of a property is expected");
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (!yw_span_is(word, types[i].name)) continue;
    *type = types[i].type;
    return true;
  }
  return yw_scan_fail(scan, "unknown type \"%.*s\" of a property, expected one like float or uchar",
                      yw_span_shown(word), word.begin);
}

static role role_of(element_kind kind, yw_span name, bool is_list) {
  static const struct {
    const char* name;
    role role;
  } names[] = {{"x", ROLE_X},
               {"y", ROLE_Y},
               {"z", ROLE_Z},
               {"red", ROLE_RED},
               {"green", ROLE_GREEN},
               {"blue", ROLE_BLUE},
               {"r", ROLE_RED},
               {"g", ROLE_GREEN},
               {"b", ROLE_BLUE},
               {"diffuse_red", ROLE_RED},
               {"diffuse_green", ROLE_GREEN},
               {"diffuse_blue", ROLE_BLUE}};
  if (is_list) {
    bool indices = yw_span_is(name, "vertex_indices") || yw_span_is(name, "vertex_index");
    if (kind == KIND_FACE && yw_span_is(name, "texcoord")) return ROLE_UVS;
    return indices && kind != KIND_OTHER ? ROLE_INDICES : ROLE_NONE;
  }
  if (kind != KIND_VERTEX) return ROLE_NONE;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (yw_span_is(name, names[i].name)) return names[i].role;
  return ROLE_NONE;
}

// property TYPE NAME or property list COUNT_TYPE TYPE NAME
static bool read_property(yw_scan* scan, yw_mesh_build* build, ply_header* header) {
  if (header->elements.count == 0) return yw_scan_fail(scan, "a property before the first element");
  ply_element* owner = &header->elements.items[header->elements.count - 1];
  ply_property property = {0};
  yw_span word;
  if (!yw_scan_word_on_line(scan, &word))
    return yw_scan_fail(scan, "the line ends where the type of a property is expected");
  property.is_list = yw_span_is(word, "list");
  if (property.is_list) {
    if (!read_type(scan, &property.count_type)) return false;
    if (yw_scalar_is_real(property.count_type))
      return yw_scan_fail(scan, "the length of a list must be an integer type");
  } else {
    scan->at = word.begin;
  }
  if (!read_type(scan, &property.type)) return false;
  if (!yw_scan_word_on_line(scan, &word))
    return yw_scan_fail(scan, "the line ends where the name of a property is expected");
  property.role = role_of(owner->kind, word, property.is_list);
  property.painted = build->attribute && owner->kind == KIND_VERTEX && !property.is_list &&
                     yw_span_is(word, build->attribute);
  if (!YW_LIST_RESERVE(&build->mem, &header->properties, 1)) return yw_scan_fail_memory(scan);
  header->properties.items[header->properties.count++] = property;
  ++owner->num_properties;
  return true;
}

static bool read_element(yw_scan* scan, yw_mesh_build* build, ply_header* header) {
  ply_element element = {.first = header->properties.count};
  if (!yw_scan_word_on_line(scan, &element.name))
    return yw_scan_fail(scan, "the line ends where the name of an element is expected");
  if (!yw_scan_int_on_line(scan, "the number of elements", &element.count)) return false;
  if (!yw_scan_check_count(scan, element.count, "the number of elements", 1)) return false;
  element.kind = yw_span_is(element.name, "vertex")      ? KIND_VERTEX
                 : yw_span_is(element.name, "face")      ? KIND_FACE
                 : yw_span_is(element.name, "tristrips") ? KIND_STRIP
                                                         : KIND_OTHER;
  if (!YW_LIST_RESERVE(&build->mem, &header->elements, 1)) return yw_scan_fail_memory(scan);
  header->elements.items[header->elements.count++] = element;
  return true;
}

static bool read_format(yw_scan* scan, ply_header* header) {
  yw_span word;
  if (yw_scan_word_on_line(scan, &word)) {
    if (yw_span_is(word, "ascii"))
      header->encoding = YW_TEXT;
    else if (yw_span_is(word, "binary_little_endian"))
      header->encoding = YW_LITTLE_ENDIAN;
    else if (yw_span_is(word, "binary_big_endian"))
      header->encoding = YW_BIG_ENDIAN;
    else
      return yw_scan_fail(scan,
                          "unknown format \"%.*s\", expected ascii, binary_little_endian or "
                          "binary_big_endian",
                          yw_span_shown(word), word.begin);
    return true;
  }
  return yw_scan_fail(scan, "the line ends where a format is expected");
}

static bool read_header(yw_scan* scan, yw_mesh_build* build, ply_header* header) {
  bool formatted = false;
  yw_span word;
  if (!yw_scan_expect(scan, "ply")) return false;
  while (yw_scan_word(scan, &word)) {
    bool good = true;
    if (yw_span_is(word, "end_header")) {
      // Exactly one newline separates the header from binary data.
      const char* newline = memchr(scan->at, '\n', yw_scan_left(scan));
      if (!newline) return yw_scan_fail(scan, "the file ends after its header");
      if (!formatted) return yw_scan_fail(scan, "the header has no format line");
      scan->at = newline + 1;
      scan->encoding = header->encoding;
      return true;
    }
    if (yw_span_is(word, "format"))
      good = formatted = read_format(scan, header);
    else if (yw_span_is(word, "element"))
      good = read_element(scan, build, header);
    else if (yw_span_is(word, "property"))
      good = read_property(scan, build, header);
    else if (!yw_span_is(word, "comment") && !yw_span_is(word, "obj_info"))
      good = yw_scan_fail(scan, "unknown header line \"%.*s\"", yw_span_shown(word), word.begin);
    if (!good) return false;
    yw_scan_skip_line(scan);
  }
  return yw_scan_fail(scan, "the file ends inside the header");
}

// Integer colors are divided by the largest value of their type.
static double color_scale(yw_scalar type) {
  static const double largest[YW_NUM_SCALARS] = {
      127.0, 255.0, 32767.0, 65535.0, 2147483647.0, 4294967295.0, 1.0, 1.0, 1.0, 1.0};
  return 1.0 / largest[type];
}

// Minimum size of one element in bytes, to check its count against the remaining file.
static size_t element_bytes(const ply_header* header, const ply_element* element) {
  size_t bytes = 0;
  for (int32_t i = 0; i < element->num_properties; ++i) {
    const ply_property* p = &header->properties.items[element->first + i];
    bytes += header->encoding == YW_TEXT ? 2 : yw_scalar_size(p->is_list ? p->count_type : p->type);
  }
  return bytes;
}

static bool read_list_length(yw_scan* scan, const ply_property* p, int32_t* length) {
  size_t bytes = scan->encoding == YW_TEXT ? 2 : yw_scalar_size(p->type);
  return yw_scan_count(scan, p->count_type, "the length of a list", bytes, length);
}

static bool skip_property(yw_scan* scan, const ply_property* p) {
  if (!p->is_list) return yw_scan_skip_numbers(scan, p->type, 1, "a property");
  int32_t length;
  return read_list_length(scan, p, &length) &&
         yw_scan_skip_numbers(scan, p->type, length, "a list");
}

static bool has_attribute(const yw_mesh_build* build, const ply_property* properties,
                          int32_t count) {
  for (int32_t i = 0; build->attribute && i < count; ++i) {
    if (properties[i].painted) return true;
  }
  return !build->attribute;
}

static bool read_vertices(yw_scan* scan, yw_mesh_build* build, const ply_header* header,
                          const ply_element* element) {
  const ply_property* properties = header->properties.items + element->first;
  uint32_t roles = 0;
  for (int32_t i = 0; i < element->num_properties; ++i) roles |= 1u << properties[i].role;
  uint32_t xyz = 1u << ROLE_X | 1u << ROLE_Y | 1u << ROLE_Z;
  uint32_t rgb = 1u << ROLE_RED | 1u << ROLE_GREEN | 1u << ROLE_BLUE;
  if ((roles & xyz) != xyz) return yw_scan_fail(scan, "vertices have no x, y and z");
  if (!has_attribute(build, properties, element->num_properties)) {
    return yw_scan_fail(scan, "vertices have no attribute \"%.40s\"", build->attribute);
  }
  bool colored = (roles & rgb) == rgb;
  for (int64_t v = 0; v < element->count; ++v) {
    double values[8] = {0.0}, paint = 0.0;
    const char* start = scan->at;
    for (int32_t i = 0; i < element->num_properties; ++i) {
      const ply_property* p = &properties[i];
      if (p->role == ROLE_NONE && !p->painted) {
        if (!skip_property(scan, p)) return false;
        continue;
      }
      double* value = p->role == ROLE_NONE ? &paint : &values[p->role];
      if (!yw_scan_real(scan, p->type, "a coordinate or color", value)) return false;
      if (i == 0) start = scan->mark;
      if (p->role >= ROLE_RED || p->role == ROLE_NONE) *value *= color_scale(p->type);
      if (p->painted) paint = *value;
      if (p->painted && !(fabs(paint) <= FLT_MAX)) {
        return yw_scan_fail(scan, "attribute \"%s\" of vertex %" PRId64 " is %g", build->attribute,
                            v, paint);
      }
    }
    if (build->attribute && !YW_PUSH(&build->mem, scan, &build->painted, (float)paint))
      return false;
    scan->mark = start;
    if (!yw_build_position(build, scan, values + ROLE_X)) return false;
    if (colored && !yw_build_color(build, scan, values + ROLE_RED)) return false;
  }
  return true;
}

static bool read_face(yw_scan* scan, yw_mesh_build* build, const ply_property* p) {
  int32_t length;
  if (!read_list_length(scan, p, &length)) return false;
  const char* start = scan->mark;
  for (int32_t i = 0; i < length; ++i) {
    int64_t index;
    if (!yw_scan_int(scan, p->type, "a vertex number", &index)) return false;
    if (!yw_build_corner(build, scan, index)) return false;
  }
  scan->mark = start;
  return yw_build_polygon_end(build, scan, length);
}

// Texture coordinates of the corners of a face, in the order of its vertices.
static bool read_uvs(yw_scan* scan, yw_mesh_build* build, const ply_property* p) {
  int32_t length;
  if (!read_list_length(scan, p, &length)) return false;
  for (int32_t i = 0; i < length; ++i) {
    double value;
    if (!yw_scan_real(scan, p->type, "a texture coordinate", &value)) return false;
    float narrow = fabs(value) <= FLT_MAX ? (float)value : 0.0f;
    if (!YW_PUSH(&build->mem, scan, &build->corner_uvs, narrow)) return false;
  }
  return true;
}

// Corners without texture coordinates get 0; lists that are longer than their face are cut.
static bool even_uvs(yw_scan* scan, yw_mesh_build* build) {
  if (build->corner_uvs.count == 0) return true;
  while (build->corner_uvs.count < 2 * build->corners.count)
    if (!YW_PUSH(&build->mem, scan, &build->corner_uvs, 0.0f)) return false;
  build->corner_uvs.count = 2 * build->corners.count;
  return true;
}

// A strip: every vertex forms a triangle with the two before it, with alternating orientation; -1
// starts a new strip.
static bool read_strip(yw_scan* scan, yw_mesh_build* build, const ply_property* p) {
  int32_t length;
  if (!read_list_length(scan, p, &length)) return false;
  int64_t last[2] = {0, 0};
  int32_t run = 0;
  for (int32_t i = 0; i < length; ++i) {
    int64_t index;
    if (!yw_scan_int(scan, p->type, "a vertex number", &index)) return false;
    if (index == -1) {
      run = 0;
      continue;
    }
    if (run >= 2) {
      bool odd = run % 2 == 1;
      if (!yw_build_corner(build, scan, last[odd]) || !yw_build_corner(build, scan, last[!odd]) ||
          !yw_build_corner(build, scan, index) || !yw_build_polygon_end(build, scan, 3))
        return false;
    }
    last[0] = last[1];
    last[1] = index;
    ++run;
  }
  return true;
}

static bool read_indices(yw_scan* scan, yw_mesh_build* build, const ply_header* header,
                         const ply_element* element) {
  const ply_property* properties = header->properties.items + element->first;
  for (int64_t f = 0; f < element->count; ++f) {
    for (int32_t i = 0; i < element->num_properties; ++i) {
      const ply_property* p = &properties[i];
      bool uvs = p->role == ROLE_UVS && build->with_look;
      bool good = uvs                          ? read_uvs(scan, build, p)
                  : p->role != ROLE_INDICES    ? skip_property(scan, p)
                  : element->kind == KIND_FACE ? read_face(scan, build, p)
                                               : read_strip(scan, build, p);
      if (!good) return false;
    }
    if (!even_uvs(scan, build)) return false;
  }
  return true;
}

static bool read_elements(yw_scan* scan, yw_mesh_build* build, const ply_header* header) {
  for (int32_t i = 0; i < header->elements.count; ++i) {
    const ply_element* element = &header->elements.items[i];
    scan->mark = scan->at;
    if (element->count == 0) continue;
    if (element->num_properties == 0)
      return yw_scan_fail(scan, "element \"%.*s\" has no properties", yw_span_shown(element->name),
                          element->name.begin);
    char what[80];
    snprintf(what, sizeof what, "the number of elements \"%.*s\"", yw_span_shown(element->name),
             element->name.begin);
    if (!yw_scan_check_count(scan, element->count, what, element_bytes(header, element)))
      return false;
    bool good = element->kind == KIND_VERTEX ? read_vertices(scan, build, header, element)
                                             : read_indices(scan, build, header, element);
    if (!good) return false;
  }
  return true;
}

bool yw_read_ply(yw_scan* scan, yw_mesh_build* build) {
  ply_header header = {0};
  bool good = read_header(scan, build, &header) && read_elements(scan, build, &header);
  YW_LIST_FREE(&build->mem, &header.elements);
  YW_LIST_FREE(&build->mem, &header.properties);
  return good && yw_build_finish(build, scan);
}
