// SPDX-License-Identifier: MIT
// Input files of Abaqus and CalculiX (.inp), as written by them, Gmsh, meshio, FreeCAD and others:
// *NODE, *ELEMENT, *ELSET and *SOLID SECTION; other keywords are skipped with their lines. Elements
// may come before their nodes, so nodes are looked up at the end.
#include "files/mesh_abaqus.h"

#include <inttypes.h>

#include "files/mesh_formats.h"
#include "yawara/extend/text_number.h"

typedef enum cell_kind { SKIPPED, FACE, TET, VOLUME } cell_kind;
typedef enum data_kind { NO_DATA, NODES, ELEMENTS, SET, SET_RANGES } data_kind;

typedef struct abaqus {
  yw_scan* scan;
  yw_mesh_build* build;
  data_kind data;  // what the lines after the keyword hold
  cell_kind cell;  // of the elements of the keyword
  int32_t num_nodes, num_corners;
  int32_t set;          // of the keyword, or -1
  int64_t pending[28];  // the element that is being read: its number and nodes
  int32_t num_pending;
  bool in_assembly, in_instance;
  int32_t num_parts, num_instances;
  yw_tag_index nodes;
  yw_tag_index elements;     // of the tets
  YW_LIST(int64_t) corners;  // node numbers of faces and tets, in the order of the file
  YW_LIST(int32_t) sizes;    // corners of each face; 0: a tet
  YW_LIST(int64_t) owners;   // element numbers, for messages
  yw_element_sets sets;
} abaqus;

// Lines and fields --------------------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static yw_span trim(yw_span text) {
  while (text.begin < text.end && is_blank(*text.begin)) ++text.begin;
  while (text.end > text.begin && is_blank(text.end[-1])) --text.end;
  return text;
}

// The next line that is neither empty nor a comment (**); false at the end of the file.
static bool next_line(yw_scan* scan, yw_span* line) {
  while (scan->at < scan->end) {
    const char* begin = scan->at;
    yw_scan_skip_line(scan);
    *line =
        trim((yw_span){begin, scan->at > begin && scan->at[-1] == '\n' ? scan->at - 1 : scan->at});
    scan->mark = line->begin;
    bool comment = yw_span_size(*line) >= 2 && line->begin[0] == '*' && line->begin[1] == '*';
    if (yw_span_size(*line) > 0 && !comment) return true;
  }
  scan->mark = scan->end;
  return false;
}

// Takes the field before the next comma; false if there is none left.
static bool next_field(yw_span* rest, yw_span* field) {
  if (!rest->begin) return false;
  const char* comma = rest->begin;
  while (comma < rest->end && *comma != ',') ++comma;
  *field = trim((yw_span){rest->begin, comma});
  *rest = comma < rest->end ? (yw_span){comma + 1, rest->end} : (yw_span){0};
  return true;
}

static bool parse_int(abaqus* a, yw_span field, const char* what, int64_t* out) {
  const char* next = yw_parse_int(field.begin, field.end, out);
  return (next && next == field.end) || yw_scan_fail(a->scan, "expected %s, found \"%.*s\"", what,
                                                     yw_span_shown(field), field.begin);
}

// The value of NAME=VALUE, or an empty span at the end of a bare NAME.
static bool parse_parameter(yw_span field, const char* name, yw_span* value) {
  const char* equals = field.begin;
  while (equals < field.end && *equals != '=') ++equals;
  if (!yw_span_is(trim((yw_span){field.begin, equals}), name)) return false;
  *value =
      equals < field.end ? trim((yw_span){equals + 1, field.end}) : (yw_span){field.end, field.end};
  return true;
}

static bool find_parameter(yw_span parameters, const char* name, yw_span* value) {
  yw_span field;
  while (next_field(&parameters, &field))
    if (parse_parameter(field, name, value)) return true;
  return false;
}

// Keywords ----------------------------------------------------------------------------------------

static bool starts_with(yw_span text, const char* start) {
  for (; *start; ++start, ++text.begin) {
    if (text.begin == text.end) return false;
    char c = *text.begin >= 'a' && *text.begin <= 'z' ? (char)(*text.begin - 32) : *text.begin;
    if (c != *start) return false;
  }
  return true;
}

// The number of nodes stands in the name of a type after its family: C3D10M, S4R, CPS3.
static cell_kind kind_of_type(yw_span type, int32_t* num_nodes, int32_t* num_corners) {
  static const struct {
    const char* family;
    bool solid;
  } families[] = {{"C3D", true},  {"DC3D", true}, {"AC3D", true},  {"SFM3D", false},
                  {"M3D", false}, {"R3D", false}, {"CPS", false},  {"CPEG", false},
                  {"CPE", false}, {"CAX", false}, {"STRI", false}, {"S", false}};
  *num_nodes = *num_corners = 0;
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
    if (!starts_with(type, families[i].family)) continue;
    const char* at = type.begin;
    for (const char* p = families[i].family; *p; ++p) ++at;
    int32_t nodes = 0;
    for (; at < type.end && *at >= '0' && *at <= '9' && nodes < 100; ++at)
      nodes = 10 * nodes + (*at - '0');
    if (nodes == 65) nodes = 6;  // STRI65: 6 nodes with 5 degrees of freedom
    *num_nodes = nodes;
    bool tet = nodes == 4 || nodes == 10, triangle = nodes == 3 || nodes == 6;
    bool quad = nodes == 4 || nodes == 8 || nodes == 9;
    if (nodes == 0 || nodes > 27) return SKIPPED;
    if (families[i].solid) *num_corners = 4;
    if (families[i].solid) return tet ? TET : VOLUME;
    *num_corners = triangle ? 3 : 4;
    return triangle || quad ? FACE : SKIPPED;
  }
  return SKIPPED;
}

static bool begin_set(abaqus* a, yw_span name) {
  a->set = yw_set_named(&a->sets, a->scan, &a->build->mem, name);
  return a->set >= 0;
}

// *ELEMENT, TYPE=..., ELSET=...
static bool begin_elements(abaqus* a, yw_span parameters) {
  yw_span value;
  if (!find_parameter(parameters, "TYPE", &value))
    return yw_scan_fail(a->scan, "*ELEMENT without TYPE");
  a->cell = kind_of_type(value, &a->num_nodes, &a->num_corners);
  if (a->cell == SKIPPED) return true;
  a->data = ELEMENTS;
  return !find_parameter(parameters, "ELSET", &value) || begin_set(a, value);
}

// *ELSET, ELSET=..., GENERATE
static bool begin_list(abaqus* a, yw_span parameters) {
  yw_span value;
  if (!find_parameter(parameters, "ELSET", &value))
    return yw_scan_fail(a->scan, "*ELSET without ELSET=NAME");
  int32_t known = a->sets.sets.count;
  if (!begin_set(a, value)) return false;
  // A set that *ELEMENT named before stays one of *ELEMENT.
  if (a->set == known) a->sets.sets.items[a->set].listed = true;
  a->data = find_parameter(parameters, "GENERATE", &value) ? SET_RANGES : SET;
  return true;
}

static bool begin_nodes(abaqus* a, yw_span parameters) {
  yw_span value;
  if (find_parameter(parameters, "SYSTEM", &value) && !yw_span_is(value, "R"))
    return yw_scan_fail(a->scan, "nodes in the system \"%.*s\" cannot be read, expected R",
                        yw_span_shown(value), value.begin);
  a->data = NODES;
  return true;
}

static bool fail_several(abaqus* a, const char* what) {
  return yw_scan_fail(a->scan, "the file has several %s; write one flat input file for each", what);
}

// Parts and instances number their nodes by themselves, so there must be one of them.
static bool follow_assembly(abaqus* a, yw_span name) {
  if (yw_span_is(name, "PART") && ++a->num_parts > 1) return fail_several(a, "parts");
  if (yw_span_is(name, "INSTANCE") && ++a->num_instances > 1) return fail_several(a, "instances");
  if (yw_span_is(name, "ASSEMBLY")) a->in_assembly = true;
  if (yw_span_is(name, "END ASSEMBLY")) a->in_assembly = false;
  if (yw_span_is(name, "INSTANCE")) a->in_instance = true;
  if (yw_span_is(name, "END INSTANCE")) a->in_instance = false;
  return true;
}

static bool check_pending(abaqus* a) {
  return a->num_pending == 0 || yw_scan_fail(a->scan, "element %" PRId64 " has %d of its %d nodes",
                                             a->pending[0], a->num_pending - 1, a->num_nodes);
}

static bool begin_keyword(abaqus* a, yw_span line) {
  yw_span name, value;
  ++line.begin;
  next_field(&line, &name);
  if (!check_pending(a)) return false;
  a->data = NO_DATA;
  a->set = -1;
  if (!follow_assembly(a, name)) return false;
  // Reference points of an assembly are numbered by themselves.
  bool mesh = !a->in_assembly || a->in_instance;
  if (yw_span_is(name, "NODE") && mesh) return begin_nodes(a, line);
  if (yw_span_is(name, "ELEMENT") && mesh) return begin_elements(a, line);
  if (yw_span_is(name, "ELSET")) return begin_list(a, line);
  if (yw_span_is(name, "SOLID SECTION") && find_parameter(line, "ELSET", &value)) {
    if (!begin_set(a, value)) return false;
    a->sets.sets.items[a->set].section = true;
    return true;
  }
  static const char* const generators[] = {"NGEN", "NFILL", "NCOPY", "ELGEN", "ELCOPY", "INCLUDE"};
  for (size_t i = 0; i < sizeof generators / sizeof *generators; ++i)
    if (yw_span_is(name, generators[i]))
      return yw_scan_fail(a->scan,
                          "*%s cannot be read; write a file that lists all nodes and "
                          "elements",
                          generators[i]);
  return true;
}

// Data --------------------------------------------------------------------------------------------

// NUMBER, X, Y, Z; missing coordinates are 0.
static bool read_node(abaqus* a, yw_span line) {
  yw_span field;
  int64_t number;
  double p[3] = {0};
  next_field(&line, &field);
  if (!parse_int(a, field, "the number of a node", &number)) return false;
  for (int32_t k = 0; k < 3 && next_field(&line, &field); ++k) {
    if (yw_span_size(field) == 0) continue;
    const char* next = yw_parse_double(field.begin, field.end, &p[k]);
    if (!next || next != field.end)
      return yw_scan_fail(a->scan, "expected %c of a node, found \"%.*s\"", "xyz"[k],
                          yw_span_shown(field), field.begin);
  }
  return yw_tag_push(&a->nodes, a->scan, &a->build->mem, number) &&
         yw_build_position(a->build, a->scan, p);
}

static bool end_element(abaqus* a) {
  const yw_allocator* mem = &a->build->mem;
  int64_t number = a->pending[0];
  a->num_pending = 0;
  if (a->set >= 0) {
    yw_set_range range = {a->set, number, number, 1};
    if (!yw_set_add(&a->sets, a->scan, mem, range)) return false;
  }
  if (a->cell == VOLUME) {
    ++a->build->num_other;
    a->build->other_name = a->num_nodes == 6 || a->num_nodes == 15 ? "wedges" : "hexahedra";
    return true;
  }
  if (a->num_nodes > a->num_corners) yw_build_curved(a->build);
  for (int32_t k = 0; k < a->num_corners; ++k)
    if (!YW_PUSH(mem, a->scan, &a->corners, a->pending[k + 1])) return false;
  if (a->cell == TET && !yw_tag_push(&a->elements, a->scan, mem, number)) return false;
  return YW_PUSH(mem, a->scan, &a->owners, number) &&
         YW_PUSH(mem, a->scan, &a->sizes, a->cell == TET ? 0 : a->num_corners);
}

// NUMBER, NODE, NODE, ...; an element may go on in the next line.
static bool read_element(abaqus* a, yw_span line) {
  yw_span field;
  while (next_field(&line, &field)) {
    if (yw_span_size(field) == 0) continue;
    const char* what = a->num_pending ? "a node of an element" : "the number of an element";
    if (!parse_int(a, field, what, &a->pending[a->num_pending++])) return false;
    if (a->num_pending == a->num_nodes + 1 && !end_element(a)) return false;
  }
  return true;
}

// Numbers of elements, or names of other sets.
static bool read_set(abaqus* a, yw_span line) {
  yw_span field;
  while (next_field(&line, &field)) {
    if (yw_span_size(field) == 0) continue;
    int64_t number;
    const char* next = yw_parse_int(field.begin, field.end, &number);
    bool good = true;
    if (next && next == field.end) {
      yw_set_range range = {a->set, number, number, 1};
      good = yw_set_add(&a->sets, a->scan, &a->build->mem, range);
    } else {
      good = yw_set_add_set(&a->sets, a->scan, &a->build->mem, a->set, field);
    }
    if (!good) return false;
  }
  return true;
}

// FIRST, LAST, STEP
static bool read_set_range(abaqus* a, yw_span line) {
  static const char* const names[3] = {"the first element", "the last element", "a step"};
  int64_t values[3] = {0, 0, 1};
  yw_span field;
  for (int32_t k = 0; k < 3 && next_field(&line, &field); ++k)
    if ((k < 2 || yw_span_size(field) > 0) && !parse_int(a, field, names[k], &values[k]))
      return false;
  if (values[0] < 0 || values[1] < values[0] || values[2] < 1)
    return yw_scan_fail(a->scan, "expected FIRST, LAST, STEP with FIRST <= LAST and STEP >= 1");
  yw_set_range range = {a->set, values[0], values[1], values[2]};
  return yw_set_add(&a->sets, a->scan, &a->build->mem, range);
}

static bool read_data(abaqus* a, yw_span line) {
  switch (a->data) {
    case NODES:
      return read_node(a, line);
    case ELEMENTS:
      return read_element(a, line);
    case SET:
      return read_set(a, line);
    case SET_RANGES:
      return read_set_range(a, line);
    default:
      return true;
  }
}

// The file ----------------------------------------------------------------------------------------

static bool add_cells(abaqus* a) {
  const int64_t* tags = a->corners.items;
  for (int32_t i = 0; i < a->sizes.count; ++i) {
    int32_t size = a->sizes.items[i], count = size ? size : 4;
    int64_t nodes[4];
    for (int32_t k = 0; k < count; ++k) {
      nodes[k] = yw_tag_find(&a->nodes, tags[k]);
      if (nodes[k] < 0)
        return yw_scan_fail(a->scan,
                            "element %" PRId64 " refers to node %" PRId64
                            ", but none of the %d nodes has this number",
                            a->owners.items[i], tags[k], a->nodes.tags.count);
    }
    tags += count;
    bool good = size > 0 || yw_build_tet(a->build, a->scan, nodes);
    for (int32_t k = 0; k < size && good; ++k) good = yw_build_corner(a->build, a->scan, nodes[k]);
    if (!good || (size > 0 && !yw_build_polygon_end(a->build, a->scan, size))) return false;
  }
  return true;
}

// A keyword that ends with a comma goes on in the next line, with a parameter.
static void join_lines(abaqus* a, yw_span* line) {
  const char* mark = a->scan->mark;
  while (line->end[-1] == ',') {
    const char* at = a->scan->at;
    yw_span more;
    bool letter =
        next_line(a->scan, &more) && ((*more.begin | 32) >= 'a' && (*more.begin | 32) <= 'z');
    if (!letter) {
      a->scan->at = at;
      break;
    }
    line->end = more.end;
  }
  a->scan->mark = mark;
}

static bool read_lines(abaqus* a) {
  yw_span line;
  bool any = false;
  while (next_line(a->scan, &line)) {
    bool keyword = *line.begin == '*';
    if (!any && !keyword)
      return yw_scan_fail(a->scan, "an input file begins with a keyword like *NODE");
    any = true;
    if (keyword) join_lines(a, &line);
    if (!(keyword ? begin_keyword(a, line) : read_data(a, line))) return false;
  }
  return check_pending(a);
}

bool yw_read_abaqus(yw_scan* scan, yw_mesh_build* build) {
  abaqus a = {.scan = scan, .build = build, .set = -1};
  const yw_allocator* mem = &build->mem;
  build->index_base = 1;
  build->drop_unused = true;
  bool good = read_lines(&a) && yw_tag_finish(&a.nodes, scan, mem, "nodes") && add_cells(&a) &&
              yw_set_labels(&a.sets, scan, build, &a.elements);
  yw_tag_free(&a.nodes, mem);
  yw_tag_free(&a.elements, mem);
  YW_LIST_FREE(mem, &a.corners);
  YW_LIST_FREE(mem, &a.sizes);
  YW_LIST_FREE(mem, &a.owners);
  yw_set_free(&a.sets, mem);
  return good && yw_build_finish(build, scan);
}
