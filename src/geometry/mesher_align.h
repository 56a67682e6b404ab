// SPDX-License-Identifier: MIT
// Coordinates of a lattice whose planes fall on the flat faces of a shape, so that boxes, and what
// is built of them, keep their edges and corners exactly.
#ifndef YW_GEOMETRY_MESHER_ALIGN_H
#define YW_GEOMETRY_MESHER_ALIGN_H

#include "geometry/tet_math.h"
#include "yawara/shape.h"

/// Positions of the planes 0 to count - 1 of a lattice along one axis; beyond them planes are
/// `spacing` apart.
typedef struct yw_lattice_axis {
  yw_dvec3 direction;  ///< unit vector
  double spacing;
  int32_t count;
  double* planes;
} yw_lattice_axis;

/// All zero if the shape has no flat faces.
typedef struct yw_alignment {
  yw_allocator mem;
  yw_lattice_axis axis[3];
  double widest;  ///< distance of two neighbouring planes, m, before cells are divided
} yw_alignment;

/// Chooses axes and planes for cells of about the given spacing, and divides these cells in two
/// `levels` times; the planes are those of the smallest cells. YW_ERR_MEMORY is the only error.
yw_status yw_alignment_create(const yw_allocator* mem, const yw_shape* shape, double spacing,
                              int32_t levels, yw_alignment* out);
void yw_alignment_free(yw_alignment* alignment);

static inline bool yw_is_aligned(const yw_alignment* a) { return a->axis[0].count > 0; }

/// Coordinate of a place given in cells.
static inline double yw_axis_coordinate(const yw_lattice_axis* axis, double cells) {
  double last = axis->count - 1.0;
  if (cells <= 0.0) return axis->planes[0] + cells * axis->spacing;
  if (cells >= last) return axis->planes[axis->count - 1] + (cells - last) * axis->spacing;
  int32_t below = (int32_t)cells;
  double low = axis->planes[below], part = cells - below;
  return part > 0.0 ? low + part * (axis->planes[below + 1] - low) : low;
}

static inline yw_dvec3 yw_alignment_position(const yw_alignment* a, double x, double y, double z) {
  yw_dvec3 p = yw_dscale(a->axis[0].direction, yw_axis_coordinate(&a->axis[0], x));
  p = yw_dmad(p, yw_axis_coordinate(&a->axis[1], y), a->axis[1].direction);
  return yw_dmad(p, yw_axis_coordinate(&a->axis[2], z), a->axis[2].direction);
}

#endif
