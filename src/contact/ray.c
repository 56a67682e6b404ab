// SPDX-License-Identifier: MIT
#include "contact/ray.h"

typedef struct vec3d {
  double x, y, z;
} vec3d;

static vec3d wide(yw_vec3 a) { return (vec3d){(double)a.x, (double)a.y, (double)a.z}; }
static vec3d sub(vec3d a, vec3d b) { return (vec3d){a.x - b.x, a.y - b.y, a.z - b.z}; }
static vec3d mad(vec3d a, double s, vec3d b) {
  return (vec3d){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static double dot(vec3d a, vec3d b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vec3d cross(vec3d a, vec3d b) {
  return (vec3d){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Rays --------------------------------------------------------------------------------------------

yw_ray yw_ray_of(yw_vec3 from, yw_vec3 way) {
  const float d[3] = {way.x, way.y, way.z};
  int z = fabsf(d[0]) > fabsf(d[1]) ? 0 : 1;
  if (fabsf(d[2]) > fabsf(d[z])) z = 2;
  int x = (z + 1) % 3, y = (z + 2) % 3;
  double inv = 1.0 / (double)d[z];
  return (yw_ray){from, way, {x, y, z}, {(double)d[x] * inv, (double)d[y] * inv, inv}};
}

// A corner as the sheared ray sees it; z is in shares of the way.
static vec3d see(const yw_ray* ray, yw_vec3 p) {
  const double q[3] = {(double)p.x - (double)ray->from.x, (double)p.y - (double)ray->from.y,
                       (double)p.z - (double)ray->from.z};
  double deep = q[ray->axes[2]];
  return (vec3d){q[ray->axes[0]] - ray->shear[0] * deep, q[ray->axes[1]] - ray->shear[1] * deep,
                 ray->shear[2] * deep};
}

double yw_ray_triangle(const yw_ray* ray, yw_vec3 a, yw_vec3 b, yw_vec3 c, double weights[3]) {
  vec3d p = see(ray, a), q = see(ray, b), r = see(ray, c);
  double u = r.x * q.y - r.y * q.x, v = p.x * r.y - p.y * r.x, w = q.x * p.y - q.y * p.x;
  if ((u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0)) return -1.0;
  double det = u + v + w;
  if (det == 0.0) return -1.0;
  double share = (u * p.z + v * q.z + w * r.z) / det;
  if (!(share >= 0.0 && share <= 1.0)) return -1.0;
  weights[0] = u / det;
  weights[1] = v / det;
  weights[2] = w / det;
  return share;
}

bool yw_ray_crosses_x(yw_vec3 p, yw_vec3 a, yw_vec3 b, yw_vec3 c) {
  const yw_vec3 corners[3] = {a, b, c};
  double y[3], z[3], edge[3], x = 0.0, det = 0.0;
  for (int k = 0; k < 3; ++k) {
    y[k] = (double)corners[k].y - (double)p.y;
    z[k] = (double)corners[k].z - (double)p.z;
  }
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    edge[k] = y[i] * z[j] - z[i] * y[j];
    det += edge[k];
    x += edge[k] * ((double)corners[k].x - (double)p.x);
  }
  if (det == 0.0) return false;
  double sign = det > 0.0 ? 1.0 : -1.0;
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double side = sign * edge[k], dy = sign * (y[j] - y[i]), dz = sign * (z[j] - z[i]);
    // A line through an edge belongs to the triangle whose edge runs this way.
    bool owned = dz > 0.0 || (dz == 0.0 && dy < 0.0);
    if (side < 0.0 || (side == 0.0 && !owned)) return false;
  }
  return sign * x > 0.0;
}

// Moving balls ------------------------------------------------------------------------------------

// First share in [0, 1] at which |from + share * way| <= radius; -1: never.
static double enter_ball(vec3d from, vec3d way, double radius) {
  double c = dot(from, from) - radius * radius, b = dot(from, way), a = dot(way, way);
  if (c <= 0.0) return 0.0;
  double root = b * b - a * c;
  if (b >= 0.0 || root < 0.0) return -1.0;
  double share = c / (-b + sqrt(root));
  return share <= 1.0 ? share : -1.0;
}

static double earlier(double a, double b) { return a < 0.0 || (b >= 0.0 && b < a) ? b : a; }

double yw_sweep_ball(yw_vec3 from, yw_vec3 way, yw_vec3 a, double radius) {
  return enter_ball(sub(wide(from), wide(a)), wide(way), radius);
}

// The cylinder between the ends.
static double enter_cylinder(vec3d from, vec3d way, vec3d axis, double radius) {
  double length2 = dot(axis, axis);
  if (!(length2 > 0.0)) return -1.0;
  vec3d off = mad(from, -dot(from, axis) / length2, axis);
  vec3d across = mad(way, -dot(way, axis) / length2, axis);
  double share = enter_ball(off, across, radius);
  if (share < 0.0) return -1.0;
  double at = dot(mad(from, share, way), axis);
  return at >= 0.0 && at <= length2 ? share : -1.0;
}

double yw_sweep_segment(yw_vec3 from, yw_vec3 way, yw_vec3 a, yw_vec3 b, double radius) {
  vec3d p = wide(from), w = wide(way), start = wide(a), end = wide(b);
  double share = enter_cylinder(sub(p, start), w, sub(end, start), radius);
  share = earlier(share, enter_ball(sub(p, start), w, radius));
  return earlier(share, enter_ball(sub(p, end), w, radius));
}

// The slab between the two faces that lie `radius` above and below the triangle.
static double enter_slab(vec3d from, vec3d way, vec3d u, vec3d v, double radius) {
  vec3d normal = cross(u, v);
  double size = sqrt(dot(normal, normal));
  if (!(size > 0.0)) return -1.0;
  double height = dot(from, normal) / size, rise = dot(way, normal) / size, share = 0.0;
  if (fabs(height) > radius) {
    double gap = fabs(height) - radius, closing = height > 0.0 ? -rise : rise;
    if (!(closing > 0.0) || gap > closing) return -1.0;
    share = gap / closing;
  }
  vec3d p = mad(from, share, way);
  double s = dot(cross(p, v), normal), t = dot(cross(u, p), normal), most = size * size;
  return s >= 0.0 && t >= 0.0 && s + t <= most ? share : -1.0;
}

double yw_sweep_triangle(yw_vec3 from, yw_vec3 way, yw_vec3 a, yw_vec3 b, yw_vec3 c,
                         double radius) {
  vec3d p = wide(a);
  double share =
      enter_slab(sub(wide(from), p), wide(way), sub(wide(b), p), sub(wide(c), p), radius);
  share = earlier(share, yw_sweep_segment(from, way, a, b, radius));
  share = earlier(share, yw_sweep_segment(from, way, b, c, radius));
  return earlier(share, yw_sweep_segment(from, way, c, a, radius));
}

// Boxes -------------------------------------------------------------------------------------------

// True when the axis separates the box from the corners.
static bool separates(vec3d axis, vec3d half, const vec3d corners[3]) {
  double reach = fabs(axis.x) * half.x + fabs(axis.y) * half.y + fabs(axis.z) * half.z;
  double least = INFINITY, most = -INFINITY;
  for (int k = 0; k < 3; ++k) {
    double at = dot(axis, corners[k]);
    least = at < least ? at : least;
    most = at > most ? at : most;
  }
  return least > reach || most < -reach;
}

bool yw_box_meets_triangle(yw_vec3 half, yw_vec3 a, yw_vec3 b, yw_vec3 c) {
  const vec3d corners[3] = {wide(a), wide(b), wide(c)};
  const vec3d axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const vec3d edges[3] = {sub(corners[1], corners[0]), sub(corners[2], corners[1]),
                          sub(corners[0], corners[2])};
  vec3d h = wide(half);
  for (int k = 0; k < 3; ++k) {
    if (separates(axes[k], h, corners)) return false;
    for (int e = 0; e < 3; ++e) {
      if (separates(cross(axes[k], edges[e]), h, corners)) return false;
    }
  }
  return !separates(cross(edges[0], edges[1]), h, corners);
}
