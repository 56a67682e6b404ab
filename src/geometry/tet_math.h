// SPDX-License-Identifier: MIT
// Double-precision vectors and measures of a tet, for set-up work where accuracy matters.
#ifndef YW_GEOMETRY_TET_MATH_H
#define YW_GEOMETRY_TET_MATH_H

#include <math.h>

#include "yawara/mesh.h"

typedef struct yw_dvec3 {
  double x, y, z;
} yw_dvec3;

static inline yw_dvec3 yw_d3(yw_vec3 a) { return (yw_dvec3){a.x, a.y, a.z}; }
static inline yw_vec3 yw_f3(yw_dvec3 a) { return (yw_vec3){(float)a.x, (float)a.y, (float)a.z}; }
static inline yw_dvec3 yw_dadd(yw_dvec3 a, yw_dvec3 b) {
  return (yw_dvec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline yw_dvec3 yw_dsub(yw_dvec3 a, yw_dvec3 b) {
  return (yw_dvec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline yw_dvec3 yw_dscale(yw_dvec3 a, double s) {
  return (yw_dvec3){a.x * s, a.y * s, a.z * s};
}
/// a + s b
static inline yw_dvec3 yw_dmad(yw_dvec3 a, double s, yw_dvec3 b) {
  return (yw_dvec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double yw_ddot(yw_dvec3 a, yw_dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline yw_dvec3 yw_dcross(yw_dvec3 a, yw_dvec3 b) {
  return (yw_dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double yw_dlength(yw_dvec3 a) { return sqrt(yw_ddot(a, a)); }

/// Vertices of face k (opposite vertex k) of a positive tet, counter-clockwise as seen from
/// outside.
static const unsigned char yw_tet_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static inline void yw_tet_corners(const yw_tet_mesh* mesh, int32_t tet, yw_dvec3 out[4]) {
  const int32_t* v = mesh->tets + 4 * (size_t)tet;
  for (int k = 0; k < 4; ++k) out[k] = yw_d3(mesh->positions[v[k]]);
}

/// Signed volume times 6.
static inline double yw_tet_volume6(const yw_dvec3 p[4]) {
  return yw_ddot(yw_dcross(yw_dsub(p[1], p[0]), yw_dsub(p[2], p[0])), yw_dsub(p[3], p[0]));
}

/// Largest and smallest cosine of the six dihedral angles (the smallest angle has the largest
/// cosine). A flat face gives 1 and -1.
static inline void yw_tet_dihedral_cosines(const yw_dvec3 p[4], double* largest, double* smallest) {
  yw_dvec3 n[4];
  double length[4];
  for (int f = 0; f < 4; ++f) {
    const unsigned char* v = yw_tet_faces[f];
    n[f] = yw_dcross(yw_dsub(p[v[1]], p[v[0]]), yw_dsub(p[v[2]], p[v[0]]));
    length[f] = yw_dlength(n[f]);
  }
  *largest = -1.0, *smallest = 1.0;
  for (int f = 0; f < 4; ++f) {
    for (int g = f + 1; g < 4; ++g) {
      double scale = length[f] * length[g];
      // Outward normals: the inner angle is the supplement of the angle between them.
      double cosine = scale > 0.0 ? -yw_ddot(n[f], n[g]) / scale : 1.0;
      if (!(scale > 0.0)) *smallest = -1.0;
      if (cosine > *largest) *largest = cosine > 1.0 ? 1.0 : cosine;
      if (cosine < *smallest) *smallest = cosine < -1.0 ? -1.0 : cosine;
    }
  }
}

/// Length of the longest of the six edges.
static inline double yw_tet_longest_edge(const yw_dvec3 p[4]) {
  double longest2 = 0.0;
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      yw_dvec3 e = yw_dsub(p[a], p[b]);
      double length2 = yw_ddot(e, e);
      if (length2 > longest2) longest2 = length2;
    }
  }
  return sqrt(longest2);
}

#endif
