// SPDX-License-Identifier: MIT
// Horizontal sections tell how much a body carries at each height, and with what.
//
// A part between the heights a and b that carries the weight N buckles, as a column whose ends do
// not turn but may shift, if N > pi^2 / ((b - a) int dy / (E I)). A section of several legs has the
// area A and the perimeter P of all of them; each is about 4 A / P thick, and I = A (4 A / P)^2 /
// 16 together, which is exact for equal round legs. The worst pair a, b counts.
#include "console/stance.h"

#include <math.h>

#include "yawara/extend/vec.h"

#define SECTIONS 48
// Sections below this one may be the soles of feet, or the underside of a ball.
#define SOLES 5
// Of the largest section: smaller ones are tips, or rounding.
#define LEAST_AREA 1e-5
// What is thinner than this share of its height does not stand, whatever it is made of.
#define MOST 2000.0
#define PI_SQUARED 9.8696044
// Horizontal directions in which a body may topple.
#define DIRECTIONS 64
// What is this close to the floor, of the longest side, is a foot.
#define FOOT 0.01
// Share of the energy of a fall that turns a body: of e^2, see steady_drop. Jelly and foam topple
// with one, what is stiffer does not; a third leaves some to spare (spot.obj).
#define TURNED_SHARE 3.0

typedef struct section {
  double area, perimeter;
  double first[2], second[3];  // moments: x, z; xx, zz, xz
} section;

static void add_cut(const double p[2], const double q[2], section* s) {
  double cross = p[0] * q[1] - q[0] * p[1], dx = q[0] - p[0], dz = q[1] - p[1];
  s->area += 0.5 * cross;
  s->perimeter += sqrt(dx * dx + dz * dz);
  for (int k = 0; k < 2; ++k) {
    s->first[k] += cross * (p[k] + q[k]) / 6.0;
    s->second[k] += cross * (p[k] * p[k] + p[k] * q[k] + q[k] * q[k]) / 12.0;
  }
  s->second[2] +=
      cross * (p[0] * q[1] + 2.0 * p[0] * p[1] + 2.0 * q[0] * q[1] + q[0] * p[1]) / 24.0;
}

static void add_triangle(const yw_vec3 p[3], int axis, double low, double step, section* sections) {
  double up[3], x[3], z[3];
  for (int k = 0; k < 3; ++k) {
    const float* c = &p[k].x;
    up[k] = ((double)c[axis] - low) / step - 0.5;
    x[k] = (double)c[(axis + 1) % 3];
    z[k] = (double)c[(axis + 2) % 3];
  }
  double least = fmin(up[0], fmin(up[1], up[2])), most = fmax(up[0], fmax(up[1], up[2]));
  int first = (int)fmax(ceil(least), 0.0), last = (int)fmin(floor(most), SECTIONS - 1);
  for (int n = first; n <= last; ++n) {
    // Where the plane cuts the edge that goes up, and the one that goes down.
    double at[2][2] = {{0, 0}, {0, 0}};
    int cuts = 0;
    for (int k = 0; k < 3; ++k) {
      int next = (k + 1) % 3;
      bool from = up[k] < n, to = up[next] < n;
      if (from == to) continue;
      double t = (n - up[k]) / (up[next] - up[k]);
      at[to][0] = x[k] + t * (x[next] - x[k]);
      at[to][1] = z[k] + t * (z[next] - z[k]);
      ++cuts;
    }
    if (cuts != 2) continue;
    add_cut(at[0], at[1], &sections[n]);
  }
}

static double thickness_of(const section* s) { return 4.0 * fabs(s->area) / s->perimeter; }

typedef struct leg_sums {
  double stress;     // largest volume above a section over its area
  double thickness;  // smallest of these sections
  double volume;
} leg_sums;

// The worst part: its length times its compliance times its load. Lengths are in units of the file.
static double worst_part(const section* sections, double step, leg_sums* out) {
  double carried[SECTIONS + 1] = {0}, compliance[SECTIONS] = {0}, largest = 0.0, worst = 0.0;
  for (int n = 0; n < SECTIONS; ++n) largest = fmax(largest, fabs(sections[n].area));
  for (int n = SECTIONS - 1; n >= 0; --n) {
    double area = fabs(sections[n].area);
    carried[n] = carried[n + 1] + area * step;
    if (!(area > LEAST_AREA * largest)) continue;
    double thickness = thickness_of(&sections[n]);
    compliance[n] = step * 16.0 / (area * thickness * thickness);
  }
  *out = (leg_sums){.thickness = (double)INFINITY, .volume = carried[0]};
  for (int a = 0; a < SECTIONS; ++a) {
    double sum = 0.0;
    // Of what carries at least half of the body.
    if (a >= SOLES && carried[a] > 0.5 * carried[0] && compliance[a] > 0.0) {
      out->stress = fmax(out->stress, carried[a] / fabs(sections[a].area));
      out->thickness = fmin(out->thickness, thickness_of(&sections[a]));
    }
    for (int b = a; b < SECTIONS; ++b) {
      sum += compliance[b];
      worst = fmax(worst, (b + 1 - a) * step * sum * carried[b + 1] / PI_SQUARED);
    }
  }
  return worst;
}

// Centre of what the surface encloses.
static void find_center(const yw_tri_mesh* surface, double center[3]) {
  double volume = 0.0, sum[3] = {0};
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    yw_vec3 a = surface->positions[v[0]], b = surface->positions[v[1]];
    yw_vec3 c = surface->positions[v[2]], all = yw_add(yw_add(a, b), c);
    double part = (double)yw_dot(a, yw_cross(b, c));
    volume += part;
    for (int k = 0; k < 3; ++k) sum[k] += part * (double)(&all.x)[k] / 4.0;
  }
  for (int k = 0; k < 3; ++k) center[k] = sum[k] / volume;
}

// How far a body's feet reach from below its centre, in some horizontal directions.
typedef struct footing {
  double height;             // of the centre
  double reach[DIRECTIONS];  // below 0: the centre is not above the feet
} footing;

static footing footing_of(const yw_tri_mesh* surface, int axis, double low, double length) {
  double center[3];
  footing out;
  find_center(surface, center);
  out.height = center[axis] - low;
  for (int n = 0; n < DIRECTIONS; ++n) out.reach[n] = -(double)INFINITY;
  for (size_t i = 0; i < 3 * (size_t)surface->num_triangles; ++i) {
    const float* p = &surface->positions[surface->triangles[i]].x;
    if ((double)p[axis] > low + FOOT * length) continue;
    for (int n = 0; n < DIRECTIONS; ++n) {
      double angle = 6.283185307 * n / DIRECTIONS;
      int x = (axis + 1) % 3, z = (axis + 2) % 3;
      double along =
          ((double)p[x] - center[x]) * cos(angle) + ((double)p[z] - center[z]) * sin(angle);
      out.reach[n] = fmax(out.reach[n], along);
    }
  }
  return out;
}

// Whether it stands, and half the depth of the feet in direction n.
static bool stands(const footing* f, int n, double* half) {
  *half = 0.5 * (f->reach[n] + f->reach[(n + DIRECTIONS / 2) % DIRECTIONS]);
  return f->reach[n] > 0.0 && f->height > 0.0;
}

// A body whose centre is at the height h, and inside of its feet by the margin d, topples over that
// side when it gets the energy of a rise by b = sqrt(d^2 + h^2) - h. Feet on that side carry more
// than those behind by the share e = 1 - d / (half the distance between both), give way more, and
// turn the body: about e^2 of the energy of its fall.
static double steady_drop(const footing* f) {
  double most = (double)INFINITY, h = f->height;
  for (int n = 0; n < DIRECTIONS; ++n) {
    double d = f->reach[n], half;
    if (!stands(f, n, &half)) return (double)INFINITY;
    double e = fmax(1.0 - d / half, 0.0);
    if (e > 0.0) most = fmin(most, (sqrt(d * d + h * h) - h) / (TURNED_SHARE * e * e));
  }
  return most;
}

// Second moment of a section about its own axis across direction n.
static double moment_along(const section* s, int n) {
  double sign = s->area < 0.0 ? -1.0 : 1.0, angle = 6.283185307 * n / DIRECTIONS;
  double c = cos(angle), r = sin(angle), first = c * s->first[0] + r * s->first[1];
  double about = c * c * s->second[0] + r * r * s->second[1] + 2.0 * c * r * s->second[2];
  return sign * (about - first * first / s->area);
}

// A leaning body bends its legs: with the weight W, the compliance C = int dy / (E I) below the
// centre and the offset o of the centre from the middle of the feet, it leans by theta = W C (o + h
// theta). Its centre stays above its feet, o + h theta < o + d, if E > W h int dy / I (1 + o / d).
// Sections that carry less than half of the body, such as the back of a chair, bend on their own.
static double leaning(const footing* f, const section* sections, double step, double volume) {
  double worst = 0.0, largest = 0.0;
  for (int n = 0; n < SECTIONS; ++n) largest = fmax(largest, fabs(sections[n].area));
  for (int n = 0; n < DIRECTIONS; ++n) {
    double sum = 0.0, carried = volume, half;
    if (!stands(f, n, &half)) return 0.0;
    // The lowest section may be the rounding of soles.
    for (int i = 1; i < SECTIONS && (i + 1) * step < f->height; ++i) {
      carried -= step * fabs(sections[i - 1].area);
      if (carried < 0.5 * volume) break;
      if (!(fabs(sections[i].area) > LEAST_AREA * largest)) continue;
      sum += step / moment_along(&sections[i], n);
    }
    worst = fmax(worst, volume * f->height * sum * fmax(half / f->reach[n], 1.0));
  }
  return worst;
}

stance stance_of(const yw_tri_mesh* surface, int axis) {
  section sections[SECTIONS] = {{0}};
  stance found = {0};
  yw_aabb box = yw_aabb_empty();
  for (size_t n = 0; n < 3 * (size_t)surface->num_triangles; ++n) {
    box = yw_aabb_grow(box, surface->positions[surface->triangles[n]]);
  }
  yw_vec3 size = yw_sub(box.upper, box.lower);
  double length = (double)fmaxf(size.x, fmaxf(size.y, size.z));
  double low = (double)(&box.lower.x)[axis], step = (double)(&size.x)[axis] / SECTIONS;
  if (!(step > 0.0) || !isfinite(length)) return found;
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    yw_vec3 p[3];
    for (int k = 0; k < 3; ++k) {
      p[k] = surface->positions[surface->triangles[3 * (size_t)t + (size_t)k]];
    }
    add_triangle(p, axis, low, step, sections);
  }
  leg_sums sums;
  double stiffness = worst_part(sections, step, &sums) / length;
  if (!(sums.volume > 0.0) || !isfinite(stiffness)) return found;
  const footing feet = footing_of(surface, axis, low, length);
  double lean = leaning(&feet, sections, step, sums.volume) / length;
  found.falls = stiffness > MOST || lean > MOST;
  found.stiffness = (float)fmin(stiffness, MOST);
  found.lean = (float)fmin(lean, MOST);
  found.stress = (float)(sums.stress / length);
  found.thickness = (float)(sums.thickness / length);
  found.volume = (float)(sums.volume / (length * length * length));
  found.drop = (float)(steady_drop(&feet) / length);
  return found;
}

static float area_as_vector(const yw_tri_mesh* surface) {
  yw_vec3 sum = yw_v3(0, 0, 0);
  double area = 0.0;
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    yw_vec3 a = surface->positions[v[0]];
    yw_vec3 normal = yw_cross(yw_sub(surface->positions[v[1]], a),  //
                              yw_sub(surface->positions[v[2]], a));
    sum = yw_add(sum, normal);
    area += (double)yw_length(normal);
  }
  return area > 0.0 ? (float)((double)yw_length(sum) / area) : 0.0f;
}

// Triangles that face opposite sides are turned over first. Of many holes each may have another
// panel in front of it.
static float openness_of(yw_tri_mesh* surface) {
  yw_surface_report r;
  int32_t turned;
  if (yw_surface_openings(surface, NULL, &r) < 0 || r.open_edges == 0) return 0.0f;
  if (r.turned_edges > 0 && yw_tri_mesh_orient(surface, &turned) < 0) return 0.0f;
  float open = area_as_vector(surface);
  return r.holes <= 2 ? fmaxf(open, (float)(r.hole_area / r.area)) : open;
}

stance stance_of_file(const char* path, bool tets, int axis) {
  yw_tet_mesh volume = {0};
  yw_tri_mesh surface = {0};
  yw_status status = tets ? yw_tet_mesh_read(path, NULL, &volume, NULL)
                          : yw_tri_mesh_read(path, NULL, &surface, NULL);
  if (status >= 0 && tets) status = yw_tet_mesh_surface(&volume, NULL, &surface, NULL);
  stance found = status >= 0 ? stance_of(&surface, axis) : (stance){0};
  if (status >= 0) found.open = openness_of(&surface);
  yw_tri_mesh_free(&surface);
  yw_tet_mesh_free(&volume);
  return found;
}
