// SPDX-License-Identifier: MIT
#include "files/mesh_polygon.h"

#include <math.h>

typedef struct point {
  double x, y;
} point;

// A polygon viewed along its normal: the two axes that preserve its orientation.
typedef struct polygon_view {
  const yw_vec3* positions;
  int32_t u, v;  // 0 to 2
} polygon_view;

static double axis_of(yw_vec3 p, int32_t axis) {
  return (double)(axis == 0 ? p.x : axis == 1 ? p.y : p.z);
}

static point seen(const polygon_view* view, int32_t vertex) {
  yw_vec3 p = view->positions[vertex];
  return (point){axis_of(p, view->u), axis_of(p, view->v)};
}

// Twice the signed area of a triangle.
static double area(point a, point b, point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Views along the axis closest to the area vector (Newell), so that the polygon is
// counter-clockwise.
static polygon_view make_view(const yw_vec3* positions, const int32_t* corners, int32_t count) {
  double n[3] = {0.0, 0.0, 0.0};
  yw_vec3 origin = positions[corners[0]];
  for (int32_t i = 1; i + 1 < count; ++i) {
    yw_vec3 b = positions[corners[i]], c = positions[corners[i + 1]];
    double e[3] = {(double)b.x - (double)origin.x, (double)b.y - (double)origin.y,
                   (double)b.z - (double)origin.z};
    double f[3] = {(double)c.x - (double)origin.x, (double)c.y - (double)origin.y,
                   (double)c.z - (double)origin.z};
    for (int32_t k = 0; k < 3; ++k)
      n[k] += e[(k + 1) % 3] * f[(k + 2) % 3] - e[(k + 2) % 3] * f[(k + 1) % 3];
  }
  int32_t axis = fabs(n[0]) > fabs(n[1]) ? 0 : 1;
  if (fabs(n[2]) > fabs(n[axis])) axis = 2;
  int32_t u = (axis + 1) % 3, v = (axis + 2) % 3;
  return n[axis] >= 0.0 ? (polygon_view){positions, u, v} : (polygon_view){positions, v, u};
}

static bool is_convex(const polygon_view* view, const int32_t* corners, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    point a = seen(view, corners[i]), b = seen(view, corners[(i + 1) % count]),
          c = seen(view, corners[(i + 2) % count]);
    if (area(a, b, c) < 0.0) return false;
  }
  return true;
}

static bool contains(point a, point b, point c, point p) {
  return area(a, b, p) >= 0.0 && area(b, c, p) >= 0.0 && area(c, a, p) >= 0.0;
}

// True if the corner at `tip` can be cut off: it is convex and no other corner lies in its
// triangle.
static bool is_ear(const polygon_view* view, const int32_t* ring, int32_t count, int32_t tip) {
  int32_t before = (tip + count - 1) % count, after = (tip + 1) % count;
  point a = seen(view, ring[before]), b = seen(view, ring[tip]), c = seen(view, ring[after]);
  if (!(area(a, b, c) > 0.0)) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (ring[i] == ring[before] || ring[i] == ring[tip] || ring[i] == ring[after]) continue;
    if (contains(a, b, c, seen(view, ring[i]))) return false;
  }
  return true;
}

static int32_t* put_triangle(int32_t* out, int32_t a, int32_t b, int32_t c) {
  out[0] = a;
  out[1] = b;
  out[2] = c;
  return out + 3;
}

static void fan(const int32_t* corners, int32_t count, int32_t* out) {
  for (int32_t i = 1; i + 1 < count; ++i)
    out = put_triangle(out, corners[0], corners[i], corners[i + 1]);
}

void yw_polygon_triangles(const yw_vec3* positions, const int32_t* corners, int32_t count,
                          int64_t* budget, int32_t* scratch, int32_t* out) {
  if (count == 3) {
    put_triangle(out, corners[0], corners[1], corners[2]);
    return;
  }
  polygon_view view = make_view(positions, corners, count);
  if (is_convex(&view, corners, count)) {
    fan(corners, count, out);
    return;
  }
  for (int32_t i = 0; i < count; ++i) scratch[i] = corners[i];
  int32_t left = count, tip = 0, refused = 0;
  while (left > 3 && *budget > 0) {
    bool ear = is_ear(&view, scratch, left, tip);
    *budget -= left;
    // If there is no ear, the polygon is not simple: cut anyway, so that the loop ends.
    if (!ear && ++refused < left) {
      tip = (tip + 1) % left;
      continue;
    }
    out = put_triangle(out, scratch[(tip + left - 1) % left], scratch[tip],
                       scratch[(tip + 1) % left]);
    --left;
    for (int32_t i = tip; i < left; ++i) scratch[i] = scratch[i + 1];
    // Skipping the next corner spreads the cuts and avoids needles.
    tip = left > 0 ? (tip + 1) % left : 0;
    refused = 0;
  }
  fan(scratch, left, out);
}
