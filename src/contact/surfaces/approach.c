// SPDX-License-Identifier: MIT
#include "contact/surfaces/approach.h"

#include "contact/surface.h"

// Steps of conservative advancement; what has not moved apart by then counts as touching.
#define MAX_ADVANCES 64

// Weights of the nearest points of the segments x0-x1 and x2-x3.
static void nearest_on_segments(const yw_vec3 x[4], float weights[4]) {
  yw_vec3 u = yw_sub(x[1], x[0]), v = yw_sub(x[3], x[2]), r = yw_sub(x[0], x[2]);
  float uu = yw_dot(u, u), vv = yw_dot(v, v), uv = yw_dot(u, v);
  float ur = yw_dot(u, r), vr = yw_dot(v, r);
  float s = 0.0f, t = 0.0f, det = uu * vv - uv * uv;
  if (uu > 0.0f && vv > 0.0f) {
    // Nearly parallel: any point of the overlap is nearest, and the clamps below find one.
    s = det > 1e-6f * uu * vv ? yw_clampf((uv * vr - vv * ur) / det, 0.0f, 1.0f) : 0.5f;
    t = yw_clampf((uv * s + vr) / vv, 0.0f, 1.0f);
    s = yw_clampf((uv * t - ur) / uu, 0.0f, 1.0f);
    t = yw_clampf((uv * s + vr) / vv, 0.0f, 1.0f);
  } else if (uu > 0.0f) {
    s = yw_clampf(-ur / uu, 0.0f, 1.0f);
  } else if (vv > 0.0f) {
    t = yw_clampf(vr / vv, 0.0f, 1.0f);
  }
  weights[0] = 1.0f - s;
  weights[1] = s;
  weights[2] = 1.0f - t;
  weights[3] = t;
}

yw_nearest yw_nearest_points(yw_pair_kind kind, const yw_vec3 x[4]) {
  yw_nearest out;
  if (kind == YW_VERTEX_TRIANGLE) {
    out.weights[0] = 1.0f;
    yw_vec3 q = yw_nearest_on_triangle(x[0], x[1], x[2], x[3], out.weights + 1);
    out.apart = yw_sub(x[0], q);
  } else {
    nearest_on_segments(x, out.weights);
    // From differences of corners, so that nothing is lost far from the origin.
    yw_vec3 r = yw_sub(x[0], x[2]);
    r = yw_mad(r, out.weights[1], yw_sub(x[1], x[0]));
    out.apart = yw_mad(r, -out.weights[3], yw_sub(x[3], x[2]));
  }
  out.distance = yw_length(out.apart);
  return out;
}

float yw_path_reach(yw_pair_kind kind, const yw_path4* path) {
  yw_vec3 way[4], mean = yw_v3(0, 0, 0);
  for (int k = 0; k < 4; ++k) {
    way[k] = yw_sub(path->end[k], path->begin[k]);
    mean = yw_mad(mean, 0.25f, way[k]);
  }
  // A motion that all share does not change the distance.
  float most[2] = {0.0f, 0.0f};
  for (int k = 0; k < 4; ++k) {
    float length = yw_length2(yw_sub(way[k], mean));
    float* side = &most[k < yw_pair_split(kind) ? 0 : 1];
    if (length > *side) *side = length;
  }
  return sqrtf(most[0]) + sqrtf(most[1]);
}

bool yw_path_keeps_side(yw_pair_kind kind, const yw_path4* path, float distance) {
  // Two edges of the plane, and from the plane to the other side: all linear in time.
  static const int ends[2][6] = {{1, 2, 1, 3, 1, 0}, {0, 1, 2, 3, 2, 0}};
  const int* e = ends[kind];
  const yw_vec3 *b = path->begin, *f = path->end;
  yw_vec3 u0 = yw_sub(b[e[1]], b[e[0]]), u1 = yw_sub(f[e[1]], f[e[0]]);
  yw_vec3 v0 = yw_sub(b[e[3]], b[e[2]]), v1 = yw_sub(f[e[3]], f[e[2]]);
  yw_vec3 w0 = yw_sub(b[e[5]], b[e[4]]), w1 = yw_sub(f[e[5]], f[e[4]]);
  // Normal u x v and volume w . (u x v) as Bernstein polynomials of degree 2 and 3: they stay
  // within their coefficients.
  yw_vec3 n0 = yw_cross(u0, v0), n2 = yw_cross(u1, v1);
  yw_vec3 n1 = yw_scale(yw_add(yw_cross(u0, v1), yw_cross(u1, v0)), 0.5f);
  float volumes[4] = {yw_dot(w0, n0), (2.0f * yw_dot(w0, n1) + yw_dot(w1, n0)) / 3.0f,
                      (yw_dot(w0, n2) + 2.0f * yw_dot(w1, n1)) / 3.0f, yw_dot(w1, n2)};
  float area = yw_length2(n0);
  if (yw_length2(n1) > area) area = yw_length2(n1);
  if (yw_length2(n2) > area) area = yw_length2(n2);
  float least = 1.01f * distance * sqrtf(area), sign = volumes[0] < 0.0f ? -1.0f : 1.0f;
  bool keeps = true;
  for (int k = 0; k < 4; ++k) keeps = keeps && sign * volumes[k] > least;
  return keeps;
}

float yw_time_of_touch(yw_pair_kind kind, const yw_path4* path, float distance, float slack,
                       yw_nearest* near) {
  if (near->distance - distance <= slack) return 0.0f;
  float reach = yw_path_reach(kind, path), t = 0.0f;
  for (int step = 0; step < MAX_ADVANCES; ++step) {
    float gap = near->distance - distance;
    if (gap <= slack) return t;
    if (!(gap < (1.0f - t) * reach)) return 2.0f;
    t += gap / reach;
    yw_vec3 x[4];
    yw_path_corners(path, t, x);
    *near = yw_nearest_points(kind, x);
  }
  return t < 1.0f ? t : 1.0f;
}

bool yw_path_stays_apart(yw_pair_kind kind, const yw_path4* path, yw_vec3 normal, float least) {
  float front = INFINITY, back = -INFINITY;
  int split = yw_pair_split(kind);
  for (int k = 0; k < 4; ++k) {
    // Relative to a corner at the start, to keep digits.
    float along = yw_dot(normal, yw_sub(path->end[k], path->begin[0]));
    if (k < split) front = along < front ? along : front;
    if (k >= split) back = along > back ? along : back;
  }
  if (front - back >= least || yw_path_keeps_side(kind, path, least)) return true;
  yw_nearest near = yw_nearest_points(kind, path->begin);
  return yw_time_of_touch(kind, path, least, 0.0f, &near) > 1.0f;
}
