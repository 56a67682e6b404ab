// SPDX-License-Identifier: MIT
// Orientations of rods and sheets from positions alone.
#include <string.h>

#include "math/small/mat3d.h"
#include "methods/slender/slender.h"

static yw_turn shortest(const double from[3], const double to[3]) {
  double c = yw_dot3(from, to);
  yw_turn q = {from[1] * to[2] - from[2] * to[1], from[2] * to[0] - from[0] * to[2],
               from[0] * to[1] - from[1] * to[0], 1.0 + c};
  // Opposite: half a turn about an axis across, which differs for directions near z.
  if (c < -1.0 + 1e-9 && fabs(from[2]) < 0.9) q = (yw_turn){from[1], -from[0], 0.0, 1e-9};
  if (c < -1.0 + 1e-9 && fabs(from[2]) >= 0.9) q = (yw_turn){0.0, from[2], -from[1], 1e-9};
  return yw_turn_normalize(q);
}

bool yw_rod_directions(const slender_model* model, const yw_vec4* pos, int32_t p, double rest[3],
                       double now[3]) {
  int32_t n = model->num_particles;
  memset(rest, 0, 3 * sizeof *rest);
  memset(now, 0, 3 * sizeof *now);
  for (int side = -1; side < 1; ++side) {
    int32_t k = p + side;
    if (model->closed) k = (k + n) % n;
    if (k < 0 || k >= model->num_elements) continue;
    const rod_pair* pair = &model->pairs[k];
    yw_vec3 d = yw_sub(yw_xyz(pos[pair->particles[1]]), yw_xyz(pos[pair->particles[0]]));
    d = yw_normalize_or(d, yw_v3(0, 0, 0));
    for (int i = 0; i < 3; ++i) rest[i] += pair->e[i], now[i] += (double)(&d.x)[i];
  }
  double a = sqrt(yw_dot3(rest, rest)), b = sqrt(yw_dot3(now, now));
  if (!(a > 1e-6) || !(b > 1e-6) || !isfinite(b)) return false;
  for (int i = 0; i < 3; ++i) rest[i] /= a, now[i] /= b;
  return true;
}

// Rods: carried from particle to particle with no more twist than at rest.
static void fit_rod(const slender_model* model, const yw_vec4* pos, yw_turn* out) {
  yw_turn carried = YW_TURN_NONE;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double rest[3], now[3], moved[3];
    if (yw_rod_directions(model, pos, p, rest, now)) {
      yw_turn_apply(carried, rest, moved);
      carried = yw_turn_normalize(yw_turn_mul(shortest(moved, now), carried));
    }
    out[p] = carried;
  }
}

// Sheets: mean rotation of the adjacent triangles.
static void fit_sheet(const slender_model* model, const yw_vec4* pos, double (*sum)[9],
                      yw_turn* out) {
  memset(sum, 0, (size_t)model->num_particles * sizeof *sum);
  for (int32_t e = 0; e < model->num_elements; ++e) {
    const sheet_triangle* t = &model->triangles[e];
    double f[2][3] = {{0}}, normal[3], rest[3];
    for (int j = 0; j < 3; ++j) {
      const float* x = &pos[t->particles[j]].x;
      for (int k = 0; k < 3; ++k) {
        f[0][k] += (double)x[k] * t->g[j][0];
        f[1][k] += (double)x[k] * t->g[j][1];
      }
    }
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      normal[k] = f[0][a] * f[1][b] - f[0][b] * f[1][a];
      rest[k] = t->tangent[0][a] * t->tangent[1][b] - t->tangent[0][b] * t->tangent[1][a];
    }
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 9; ++k) {
        sum[t->particles[j]][k] += f[0][k / 3] * t->tangent[0][k % 3] +
                                   f[1][k / 3] * t->tangent[1][k % 3] + normal[k / 3] * rest[k % 3];
      }
    }
  }
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double r[9], s[6];
    yw_m3_polar(sum[p], r, s);
    out[p] = yw_turn_from_matrix(r);
  }
}

void yw_slender_fit_turns(const slender_model* model, const yw_vec4* pos, double (*scratch)[9],
                          yw_turn* out) {
  if (model->kind == SLENDER_ROD) {
    fit_rod(model, pos, out);
  } else {
    fit_sheet(model, pos, scratch, out);
  }
}
