// SPDX-License-Identifier: MIT
// Flat faces of a rigid body. One that lies on an obstacle is carried by a few contacts at its rim,
// but its friction against turning is that of even pressure: the mean distance of its points from
// the middle says how much. Triangles in one plane are one face, connected or not: the legs of a
// table are.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "methods/rigid/model.h"
#include "yawara/extend/memory.h"

// Planes as near as this are the same: share of the size, and of the unit normal.
#define SAME_PLANE 1e-3
// Faces with less than this share of the surface are left out: too small, or of a curved surface.
#define LEAST_AREA 0.01
// Intervals per edge for the mean distance (Simpson's rule).
#define INTERVALS 16

typedef struct piece {
  int32_t plane[4];  // normal and offset, rounded
  int32_t triangle;
  double normal[3], offset, area;
} piece;

static int compare_pieces(const void* a, const void* b) {
  const piece *x = a, *y = b;
  for (int k = 0; k < 4; ++k) {
    if (x->plane[k] != y->plane[k]) return x->plane[k] < y->plane[k] ? -1 : 1;
  }
  return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static void corners_of(const rigid_model* model, int32_t triangle, double out[3][3]) {
  for (int k = 0; k < 3; ++k) {
    yw_vec3 p = model->local[model->triangles[3 * (size_t)triangle + (size_t)k]];
    out[k][0] = (double)p.x, out[k][1] = (double)p.y, out[k][2] = (double)p.z;
  }
}

static piece make_piece(const rigid_model* model, int32_t triangle) {
  piece out = {.triangle = triangle};
  double x[3][3], a[3], b[3];
  corners_of(model, triangle, x);
  for (int k = 0; k < 3; ++k) a[k] = x[1][k] - x[0][k], b[k] = x[2][k] - x[0][k];
  yw_cross3(a, b, out.normal);
  double length = sqrt(yw_dot3(out.normal, out.normal));
  if (!(length > 0.0)) return out;
  for (int k = 0; k < 3; ++k) out.normal[k] /= length;
  out.area = 0.5 * length;
  out.offset = yw_dot3(out.normal, x[0]);
  for (int k = 0; k < 3; ++k) out.plane[k] = (int32_t)floor(out.normal[k] / SAME_PLANE + 0.5);
  out.plane[3] = (int32_t)floor(out.offset / (SAME_PLANE * (double)model->size) + 0.5);
  return out;
}

static bool is_in(const rigid_model* model, const rigid_face* face, const piece* p) {
  double off = fabs(p->offset - face->offset) / (double)model->size;
  for (int k = 0; k < 3; ++k) off = fmax(off, fabs(p->normal[k] - face->normal[k]));
  return off < SAME_PLANE;
}

// The largest faces; planes at the border of what was rounded may be listed as two at first.
static void list_faces(rigid_model* model, const piece* pieces, int32_t count, double surface) {
  for (int32_t first = 0, end; first < count; first = end) {
    rigid_face face = {.offset = pieces[first].offset};
    for (int k = 0; k < 3; ++k) face.normal[k] = pieces[first].normal[k];
    for (end = first; end < count; ++end) {
      if (memcmp(pieces[end].plane, pieces[first].plane, sizeof pieces->plane) != 0) break;
      face.area += pieces[end].area;
    }
    bool known = !(face.area > 0.5 * LEAST_AREA * surface);
    for (int32_t i = 0; i < model->num_faces && !known; ++i) {
      known = is_in(model, &model->faces[i], &pieces[first]);
    }
    if (!known && model->num_faces < RIGID_FACES) model->faces[model->num_faces++] = face;
  }
}

// Integral of the distance from `middle` over the triangle from there to an edge: a third of its
// height times the integral along the edge. Negative for edges that run the other way.
static double over_edge(const rigid_face* face, const double middle[3], const double from[3],
                        const double to[3]) {
  double a[3], way[3], turn[3], sum = 0.0;
  for (int k = 0; k < 3; ++k) a[k] = from[k] - middle[k], way[k] = to[k] - from[k];
  for (int i = 0; i <= INTERVALS; ++i) {
    double t = (double)i / INTERVALS, p[3];
    for (int k = 0; k < 3; ++k) p[k] = a[k] + t * way[k];
    double weight = i == 0 || i == INTERVALS ? 1.0 : i % 2 ? 4.0 : 2.0;
    sum += weight / (3.0 * INTERVALS) * sqrt(yw_dot3(p, p));
  }
  yw_cross3(a, way, turn);
  return sum * yw_dot3(turn, face->normal) / 3.0;
}

static void measure_face(const rigid_model* model, const piece* pieces, int32_t count,
                         rigid_face* face) {
  double middle[3] = {0}, x[3][3], sum = 0.0;
  face->area = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < count; ++i) {
      if (!is_in(model, face, &pieces[i])) continue;
      corners_of(model, pieces[i].triangle, x);
      if (pass == 0) face->area += pieces[i].area;
      for (int k = 0; k < 3; ++k) {
        if (pass == 0) middle[k] += pieces[i].area * (x[0][k] + x[1][k] + x[2][k]) / 3.0;
        if (pass == 1) sum += over_edge(face, middle, x[k], x[(k + 1) % 3]);
      }
    }
    for (int k = 0; k < 3 && pass == 0; ++k) middle[k] /= face->area;
  }
  face->reach = sum / face->area;
}

bool yw_rigid_fill_faces(rigid_model* model) {
  piece* pieces = YW_NEW_ARRAY(&model->mem, piece, model->num_triangles);
  if (!pieces) return false;
  double surface = 0.0;
  for (int32_t i = 0; i < model->num_triangles; ++i) {
    pieces[i] = make_piece(model, i);
    surface += pieces[i].area;
  }
  qsort(pieces, (size_t)model->num_triangles, sizeof *pieces, compare_pieces);
  list_faces(model, pieces, model->num_triangles, surface);
  int32_t kept = 0;
  for (int32_t i = 0; i < model->num_faces; ++i) {
    measure_face(model, pieces, model->num_triangles, &model->faces[i]);
    if (model->faces[i].area > LEAST_AREA * surface) model->faces[kept++] = model->faces[i];
  }
  model->num_faces = kept;
  yw_mem_free(&model->mem, pieces);
  return true;
}
