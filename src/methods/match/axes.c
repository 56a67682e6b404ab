// SPDX-License-Identifier: MIT
#include "methods/match/axes.h"

#include "math/small/polar.h"
#include "methods/kit/rigid.h"

// Sums from which the axes are found; positions and velocities are relative to the centre's.
typedef struct axes_sums {
  double center[3], velocity[3];
  double map[3][3];    // m y x0^T
  double extent;       // m |x0|^2
  double momentum[3];  // m y x v
  double yy[6];        // m y y^T: xx, yy, zz, xy, xz, yz
} axes_sums;

static void add_centers(axes_sums* s, double m, yw_vec4 x, yw_vec4 v) {
  const double pos[3] = {(double)x.x, (double)x.y, (double)x.z};
  const double vel[3] = {(double)v.x, (double)v.y, (double)v.z};
  for (int k = 0; k < 3; ++k) {
    s->center[k] += m * pos[k];
    s->velocity[k] += m * vel[k];
  }
}

static void add_moments(axes_sums* s, double m, yw_vec4 x, yw_vec4 v, yw_vec4 rest) {
  const double y[3] = {(double)x.x - s->center[0], (double)x.y - s->center[1],
                       (double)x.z - s->center[2]};
  const double u[3] = {(double)v.x - s->velocity[0], (double)v.y - s->velocity[1],
                       (double)v.z - s->velocity[2]};
  const double x0[3] = {(double)rest.x, (double)rest.y, (double)rest.z};
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    s->extent += m * x0[i] * x0[i];
    for (int c = 0; c < 3; ++c) s->map[i][c] += m * y[i] * x0[c];
    s->momentum[i] += m * (y[j] * u[k] - y[k] * u[j]);
    s->yy[i] += m * y[i] * y[i];
  }
  s->yy[3] += m * y[0] * y[1];
  s->yy[4] += m * y[0] * y[2];
  s->yy[5] += m * y[1] * y[2];
}

match_axes yw_match_axes_of(const match_model* model, const yw_particles* particles) {
  axes_sums s = {.extent = 0.0};
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double m = (double)model->solid.mass[p] / model->total_mass;
    add_centers(&s, m, particles->pos[p], particles->vel[p]);
  }
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double m = (double)model->solid.mass[p] / model->total_mass;
    add_moments(&s, m, particles->pos[p], particles->vel[p], model->rest[p]);
  }
  double scale = 1.0 / s.extent, spin[3];
  double inertia[6] = {s.yy[1] + s.yy[2], s.yy[0] + s.yy[2], s.yy[0] + s.yy[1],
                       -s.yy[3],          -s.yy[4],          -s.yy[5]};
  yw_spin_of(inertia, s.momentum, spin);
  yw_mat3 map = {
      {(float)(scale * s.map[0][0]), (float)(scale * s.map[1][0]), (float)(scale * s.map[2][0])},
      {(float)(scale * s.map[0][1]), (float)(scale * s.map[1][1]), (float)(scale * s.map[2][1])},
      {(float)(scale * s.map[0][2]), (float)(scale * s.map[1][2]), (float)(scale * s.map[2][2])}};
  match_axes axes = {.rotation = {0, 0, 0, 1}};
  if (!yw_is_finite3(map.cx) || !yw_is_finite3(map.cy) || !yw_is_finite3(map.cz)) return axes;
  yw_mat3 rotation, stretch;
  yw_polar(&map, &rotation, &stretch);
  axes.rotation = yw_quat_from_mat3(&rotation);
  axes.center = yw_v3_of(s.center);
  yw_vec3 velocity = yw_v3_of(s.velocity), turning = yw_v3_of(spin);
  if (yw_is_finite3(velocity) && yw_is_finite3(turning)) {
    axes.velocity = velocity;
    axes.spin = turning;
  }
  return axes;
}
