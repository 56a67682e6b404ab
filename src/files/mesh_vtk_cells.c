// SPDX-License-Identifier: MIT
#include "files/mesh_vtk_cells.h"

#include <inttypes.h>

void yw_vtk_cells_free(yw_vtk_cells* cells, const yw_allocator* mem) {
  YW_LIST_FREE(mem, &cells->corners);
  YW_LIST_FREE(mem, &cells->ends);
  YW_LIST_FREE(mem, &cells->types);
  YW_LIST_FREE(mem, &cells->labels);
}

bool yw_vtk_push_corner(yw_vtk_cells* cells, yw_scan* scan, const yw_mesh_build* build,
                        int32_t first_vertex, int64_t index) {
  int32_t count = build->positions.count - first_vertex;
  if (index < 0 || index >= count)
    return yw_scan_fail(scan,
                        "a cell refers to point %" PRId64 ", but there are %d points (0 to %d)",
                        index, count, count - 1);
  return YW_PUSH(&build->mem, scan, &cells->corners, (int32_t)index + first_vertex);
}

bool yw_vtk_push_end(yw_vtk_cells* cells, yw_scan* scan, const yw_allocator* mem, int64_t end) {
  int32_t last = cells->ends.count ? cells->ends.items[cells->ends.count - 1] : 0;
  if (end < last || end > INT32_MAX)
    return yw_scan_fail(scan, "cell %d ends at corner %" PRId64 ", but begins at %d",
                        cells->ends.count, end, last);
  return YW_PUSH(mem, scan, &cells->ends, (int32_t)end);
}

bool yw_vtk_push_type(yw_vtk_cells* cells, yw_scan* scan, const yw_allocator* mem, int64_t type) {
  if (type < 0 || type > 255)
    return yw_scan_fail(scan, "unknown type %" PRId64 " of cell %d", type, cells->types.count);
  return YW_PUSH(mem, scan, &cells->types, (unsigned char)type);
}

bool yw_vtk_push_label(yw_vtk_cells* cells, yw_scan* scan, const yw_allocator* mem, int64_t label) {
  if (label < INT32_MIN || label > INT32_MAX)
    return yw_scan_fail(scan, "cell %d has the label %" PRId64 ", which does not fit 32 bits",
                        cells->labels.count, label);
  return YW_PUSH(mem, scan, &cells->labels, (int32_t)label);
}

bool yw_vtk_is_label_name(yw_span name) {
  static const char* const names[] = {"label",    "labels",        "region",    "regions",
                                      "material", "gmsh:physical", "medit:ref", "CellEntityIds"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (yw_span_is(name, names[i])) return true;
  return false;
}

// A strip: every corner after the second forms a triangle with the two before it.
static bool add_strip(yw_mesh_build* build, yw_scan* scan, const int32_t* v, int32_t count) {
  for (int32_t i = 2; i < count; ++i) {
    bool odd = i % 2 == 1;
    if (!yw_build_corner(build, scan, v[odd ? i - 1 : i - 2]) ||
        !yw_build_corner(build, scan, v[odd ? i - 2 : i - 1]) ||
        !yw_build_corner(build, scan, v[i]) || !yw_build_polygon_end(build, scan, 3))
      return false;
  }
  return true;
}

static bool add_polygon(yw_mesh_build* build, yw_scan* scan, const int32_t* v, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    if (!yw_build_corner(build, scan, v[i])) return false;
  return yw_build_polygon_end(build, scan, count);
}

// The corners come before the nodes on edges.
static bool add_curved_face(yw_mesh_build* build, yw_scan* scan, const int32_t* v, int32_t count,
                            int32_t num_corners) {
  if (count < num_corners)
    return yw_scan_fail(scan, "a face has %d nodes, but needs at least %d", count, num_corners);
  yw_build_curved(build);
  return add_polygon(build, scan, v, num_corners);
}

static bool add_tet(yw_mesh_build* build, yw_scan* scan, const int32_t* v, int32_t count,
                    bool curved, const int32_t* label) {
  if (curved ? count < 10 : count != 4)
    return yw_scan_fail(scan, "a tet has %d corners, but must have %d", count, curved ? 10 : 4);
  if (curved) yw_build_curved(build);
  int64_t corners[4] = {v[0], v[1], v[2], v[3]};
  return yw_build_tet(build, scan, corners) && (!label || yw_build_label(build, scan, *label));
}

static bool add_cell(yw_mesh_build* build, yw_scan* scan, int32_t type, const int32_t* v,
                     int32_t count, const int32_t* label) {
  switch (type) {
    case YW_VTK_TRIANGLE:
    case YW_VTK_POLYGON:
    case 9:  // quad
      return add_polygon(build, scan, v, count);
    case 8: {  // pixel: a quad whose corners are in row order
      if (count != 4) return yw_scan_fail(scan, "a pixel has %d corners, but must have 4", count);
      int32_t ring[4] = {v[0], v[1], v[3], v[2]};
      return add_polygon(build, scan, ring, 4);
    }
    case YW_VTK_STRIP:
      return add_strip(build, scan, v, count);
    case YW_VTK_TET:
      return add_tet(build, scan, v, count, false, label);
    case 24:  // quadratic
    case 71:  // Lagrange
    case 78:  // Bezier
      return add_tet(build, scan, v, count, true, label);
    case 22:  // quadratic triangle, the same with a node inside, Lagrange, Bezier
    case 34:
    case 69:
    case 76:
      return add_curved_face(build, scan, v, count, 3);
    case 23:  // quadratic quad, the same with a node inside
    case 28:
    case 70:
    case 77:
      return add_curved_face(build, scan, v, count, 4);
    case 11:
    case 12:
    case 13:
    case 14:
    case 25:
    case 26:
    case 27:
    case 29:
    case 42:
    case 72:
    case 73:
      build->other_name = type == 13 || type == 26 || type == 73 ? "wedges"
                          : type == 14 || type == 27             ? "pyramids"
                          : type == 42                           ? "polyhedra"
                                                                 : "hexahedra";
      ++build->num_other;
      return true;
    default:
      return true;
  }
}

bool yw_build_vtk_cells(yw_mesh_build* build, yw_scan* scan, const yw_vtk_cells* cells) {
  if (cells->types.count != cells->ends.count)
    return yw_scan_fail(scan, "there are %d cells, but %d cell types", cells->ends.count,
                        cells->types.count);
  bool labelled = cells->labels.count > 0 && cells->labels.count == cells->ends.count;
  int32_t begin = 0;
  for (int32_t i = 0; i < cells->ends.count; ++i) {
    int32_t end = cells->ends.items[i];
    if (end > cells->corners.count)
      return yw_scan_fail(scan, "cell %d ends at corner %d, but there are %d", i, end,
                          cells->corners.count);
    // A cell without corners may be at the end of the list, which may even be NULL.
    const int32_t* corners = end > begin ? cells->corners.items + begin : &begin;
    if (!add_cell(build, scan, cells->types.items[i], corners, end - begin,
                  labelled ? &cells->labels.items[i] : NULL))
      return false;
    begin = end;
  }
  return true;
}
