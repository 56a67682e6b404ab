// SPDX-License-Identifier: MIT
// Where a ray or a moving ball meets a triangle, a segment or a ball. In double, since coordinates
// are floats: sums and products of them are then nearly exact.
#ifndef YW_CONTACT_RAY_H
#define YW_CONTACT_RAY_H

#include "yawara/extend/vec.h"

/// A ray for triangles (Woop, Benthin and Wald 2013, "Watertight ray/triangle intersection"): space
/// is sheared so that the ray becomes an axis. A ray through a shared edge or corner cannot slip
/// between two triangles: both see the same sheared corners.
typedef struct yw_ray {
  yw_vec3 from, way;
  int axes[3];      ///< the last one is the largest of `way`
  double shear[3];  ///< of the other two, and 1 / largest
} yw_ray;

/// way must not be 0.
yw_ray yw_ray_of(yw_vec3 from, yw_vec3 way);
/// Share of the way at which it meets the triangle, edges included; -1: it does not, or only in its
/// plane. weights: of a, b, c.
double yw_ray_triangle(const yw_ray* ray, yw_vec3 a, yw_vec3 b, yw_vec3 c, double weights[3]);

/// First share in [0, 1] at which the point from + share * way is at most `radius` from the
/// primitive; -1: never. 0 where it starts that near.
double yw_sweep_ball(yw_vec3 from, yw_vec3 way, yw_vec3 a, double radius);
double yw_sweep_segment(yw_vec3 from, yw_vec3 way, yw_vec3 a, yw_vec3 b, double radius);
double yw_sweep_triangle(yw_vec3 from, yw_vec3 way, yw_vec3 a, yw_vec3 b, yw_vec3 c, double radius);

/// True when the line from p along +x crosses the triangle. Of two triangles that share an edge and
/// that face the same way as seen along x, exactly one owns it, so that the parity of crossings of
/// a closed surface is exact.
bool yw_ray_crosses_x(yw_vec3 p, yw_vec3 a, yw_vec3 b, yw_vec3 c);

/// True when the triangle meets the box around the origin (Akenine-Moeller 2001, by separating
/// axes); touching counts.
bool yw_box_meets_triangle(yw_vec3 half, yw_vec3 a, yw_vec3 b, yw_vec3 c);

#endif
