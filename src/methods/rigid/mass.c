// SPDX-License-Identifier: MIT
// Particles at the vertices alone cannot have the inertia of a solid: they are too far out. They
// get a part of the mass, and five particles inside the rest of it: one at the centre, and four in
// a tetrahedron that has the missing moments (a system of particles that moves like the solid is
// called equimomental).
#include "math/small/mat3d.h"
#include "methods/rigid/model.h"
#include "yawara/extend/error.h"

// Part of the mass at the vertices; less where their inertia would be too large.
#define OUTER_SHARE 0.5
#define LEAST_SHARE 1e-3
// Part of the rest that is at the centre.
#define CENTRE_SHARE 0.2
// Part of the second moments that the four must have left.
#define MARGIN 0.02

typedef struct moments {
  double mass, first[3], second[6];  // about the centre, in principal axes
} moments;

static void add_particle(moments* sum, const double p[3], double mass) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  sum->mass += mass;
  for (int k = 0; k < 3; ++k) sum->first[k] += mass * p[k];
  for (int n = 0; n < 6; ++n) sum->second[n] += mass * p[row[n]] * p[column[n]];
}

// Lower triangle a with a a^T = s (xx, yy, zz, xy, xz, yz); false when s is not positive definite.
static bool factor(const double s[6], double a[9]) {
  for (int i = 0; i < 9; ++i) a[i] = 0.0;
  if (!(s[0] > 0.0)) return false;
  a[0] = sqrt(s[0]);
  a[3] = s[3] / a[0];
  a[6] = s[4] / a[0];
  double yy = s[1] - a[3] * a[3];
  if (!(yy > 0.0)) return false;
  a[4] = sqrt(yy);
  a[7] = (s[5] - a[3] * a[6]) / a[4];
  double zz = s[2] - a[6] * a[6] - a[7] * a[7];
  if (!(zz > 0.0)) return false;
  a[8] = sqrt(zz);
  return true;
}

// The four particles inside that complete the vertices to the body; false when these weigh too
// much far out.
static bool find_inner(const rigid_model* model, const moments* outer, double share, double mass[2],
                       double points[4][3]) {
  static const double signs[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  double scale = share * model->mass / outer->mass, rest = (1.0 - share) * model->mass;
  double four = (1.0 - CENTRE_SHARE) * rest, middle[3], second[6], needed[6], a[9];
  const double* i = model->moments;
  const double whole[3] = {0.5 * (i[1] + i[2] - i[0]), 0.5 * (i[0] + i[2] - i[1]),
                           0.5 * (i[0] + i[1] - i[2])};
  for (int k = 0; k < 3; ++k) middle[k] = -scale * outer->first[k] / four;
  for (int n = 0; n < 6; ++n) {
    second[n] = (n < 3 ? whole[n] : 0.0) - scale * outer->second[n] -
                four * middle[row[n]] * middle[column[n]];
    needed[n] = second[n] - (n < 3 ? MARGIN * whole[n] : 0.0);
  }
  if (!factor(needed, a) || !factor(second, a)) return false;
  double size = 1.0 / sqrt(four);
  for (int p = 0; p < 4; ++p) {
    for (int k = 0; k < 3; ++k) {
      points[p][k] = middle[k] + size * (a[3 * k] * signs[p][0] + a[3 * k + 1] * signs[p][1] +
                                         a[3 * k + 2] * signs[p][2]);
    }
  }
  mass[0] = rest - four;
  mass[1] = 0.25 * four;
  return true;
}

static void set_inner(rigid_model* model, int32_t first, const double mass[2],
                      double points[4][3]) {
  for (int p = 0; p < RIGID_INNER; ++p) {
    const double centre[3] = {0}, *local = p == 0 ? centre : points[p - 1];
    double placed[3];
    yw_turn_apply(model->axes, local, placed);
    model->particle_mass[first + p] = (float)mass[p > 0];
    model->local[first + p] = yw_v3((float)local[0], (float)local[1], (float)local[2]);
    model->rest[first + p] =
        yw_v3((float)(placed[0] + model->center[0]), (float)(placed[1] + model->center[1]),
              (float)(placed[2] + model->center[2]));
  }
}

yw_status yw_rigid_spread_mass(rigid_model* model, const float* weights, int32_t count,
                               yw_error* error) {
  moments outer = {0};
  float least = INFINITY;
  for (int32_t i = 0; i < count; ++i) {
    if (weights[i] > 0.0f && weights[i] < least) least = weights[i];
  }
  // Vertices without a triangle weigh as little as the lightest.
  for (int32_t i = 0; i < count; ++i) {
    const double p[3] = {(double)model->local[i].x, (double)model->local[i].y,
                         (double)model->local[i].z};
    add_particle(&outer, p, (double)(weights[i] > 0.0f ? weights[i] : least));
  }
  double share = OUTER_SHARE, mass[2], points[4][3];
  while (!find_inner(model, &outer, share, mass, points)) {
    share *= 0.8;
    if (share < LEAST_SHARE) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "rigid: vertices are too far from the body for its inertia");
    }
  }
  double scale = share * model->mass / outer.mass;
  for (int32_t i = 0; i < count; ++i) {
    float weight = weights[i] > 0.0f ? weights[i] : least;
    model->particle_mass[i] = (float)(scale * (double)weight);
  }
  set_inner(model, count, mass, points);
  return YW_OK;
}
