// SPDX-License-Identifier: MIT
// How much matter a shape has, and how thick it is from place to place.
//
// Cubes that may hold matter are split until there are some ten thousand. Those at the surface
// measure the thickness: the length of the chord from the surface along the inward normal.
#ifndef YW_GEOMETRY_MATTER_H
#define YW_GEOMETRY_MATTER_H

#include "geometry/tet_math.h"
#include "yawara/extend/tasks.h"
#include "yawara/shape.h"

/// A cube that holds matter.
typedef struct yw_matter_cube {
  int32_t cell[3];  ///< position, in sides
  yw_vec3 inside;   ///< a point of the matter, m
  float volume;     ///< of the matter in it, m^3
  float thickness;  ///< m; INFINITY: away from the surface
} yw_matter_cube;

typedef struct yw_matter {
  yw_allocator mem;
  yw_dvec3 origin;
  double side;     ///< of a cube, m
  double longest;  ///< side of the bounding box, m
  double volume;   ///< m^3
  double area;     ///< m^2, to a few percent
  int32_t count;
  yw_matter_cube* cubes;
} yw_matter;

/// Numbers of cubes to aim at: enough for thickness and a volume to 0.2 %, or for a quick estimate.
#define YW_MATTER_FINE 12000
#define YW_MATTER_QUICK 2000

/// Samples a bounded shape that is not empty. tasks may be NULL. YW_ERR_MEMORY is the only error.
yw_status yw_matter_create(const yw_allocator* mem, const yw_shape* shape, yw_aabb bounds,
                           int32_t num_cubes, yw_tasks* tasks, yw_matter* out);
void yw_matter_free(yw_matter* matter);

static inline yw_dvec3 yw_matter_center(const yw_matter* m, const yw_matter_cube* cube) {
  yw_dvec3 steps = {cube->cell[0] + 0.5, cube->cell[1] + 0.5, cube->cell[2] + 0.5};
  return yw_dmad(m->origin, m->side, steps);
}

typedef enum yw_thickness_of { YW_THICKNESS_OF_MATTER, YW_THICKNESS_OF_AREA } yw_thickness_of;
/// The thickness, m, that all but a share of the matter, or of the surface, exceeds.
double yw_matter_thickness(const yw_matter* matter, double share, yw_thickness_of of);

#endif
