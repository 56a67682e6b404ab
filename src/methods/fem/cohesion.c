// SPDX-License-Identifier: MIT
// What holds the two sides of an open face together. Camacho and Ortiz, "Computational modelling of
// impact damage in brittle materials" (1996): a traction that falls linearly with the opening, and
// does as much work per area as the toughness says.
//
// At each corner of the face, with g the way from its first side to the other, p the unit vector of
// the traction under which it opened, and e a small length:
//   r = |g + e p|,   R = largest r so far (e at first),   d = R - e
//   traction on the first side   t = k (g + e p),   k = s (1 - d / w) / R
// So the traction is s p when the face opens, as the tets had it: nothing jumps. It falls to 0 at
// d = w, and the work until then is s w / 2. Faces that close again unload towards g = -e p. Sides
// that overlap are pushed apart.
#include <math.h>

#include "geometry/tet_math.h"
#include "methods/fem/cracks.h"

// In sizes of the tets: sides that overlap push each other as long as their corners are this near,
// and contact takes over when all of them are this far apart. It would find thousands of touching
// triangles where a crack has just run.
#define BESIDE 0.3
#define PARTED 0.1

void yw_fem_crack_axes(const yw_vec4* pos, const int32_t node[3], yw_dvec3 axes[3]) {
  yw_dvec3 a = yw_d3(yw_xyz(pos[node[0]]));
  yw_dvec3 u = yw_dsub(yw_d3(yw_xyz(pos[node[1]])), a);
  yw_dvec3 n = yw_dcross(u, yw_dsub(yw_d3(yw_xyz(pos[node[2]])), a));
  // Faces without extent have axes of length 0 and no traction.
  axes[0] = yw_dscale(u, 1.0 / fmax(sqrt(yw_ddot(u, u)), 1e-30));
  axes[2] = yw_dscale(n, 1.0 / fmax(sqrt(yw_ddot(n, n)), 1e-60));
  axes[1] = yw_dcross(axes[2], axes[0]);
}

static yw_dvec3 first_pull(const fem_crack* c, const yw_dvec3 axes[3]) {
  yw_dvec3 p = yw_dscale(axes[0], (double)c->pull[0]);
  p = yw_dadd(p, yw_dscale(axes[1], (double)c->pull[1]));
  return yw_dadd(p, yw_dscale(axes[2], (double)c->pull[2]));
}

// k at a corner that has reached so far.
static double stiffness_at(const fem_crack* c, double reach) {
  double opened = reach - (double)c->slack;
  if (!(opened < (double)c->span)) return 0.0;
  return (double)c->strength * (1.0 - opened / (double)c->span) / reach;
}

// g at a corner.
static yw_dvec3 gap_at(const fem_crack* c, const yw_vec4* pos, int corner) {
  yw_dvec3 from = yw_d3(yw_xyz(pos[c->node[0][corner]]));
  return yw_dsub(yw_d3(yw_xyz(pos[c->node[1][corner]])), from);
}

static void add_force(yw_vec4* force, yw_dvec3 f, double scale) {
  force->x += (float)(scale * f.x);
  force->y += (float)(scale * f.y);
  force->z += (float)(scale * f.z);
}

// True if nothing holds this corner any more; *apart receives its opening, m.
static bool pull_corner(fem_crack* c, int corner, const yw_dvec3 axes[3], yw_dvec3 pull,
                        double scale, const yw_vec4* pos, yw_vec4* force, double* apart) {
  int32_t a = c->node[0][corner], b = c->node[1][corner];
  *apart = 0.0;
  if (a == b) return false;
  yw_dvec3 gap = gap_at(c, pos, corner);
  yw_dvec3 way = yw_dadd(gap, yw_dscale(pull, (double)c->slack));
  double r = sqrt(yw_ddot(way, way));
  if (r > (double)c->reach[corner]) c->reach[corner] = (float)r;
  double k = stiffness_at(c, (double)c->reach[corner]), depth = yw_ddot(gap, axes[2]);
  *apart = sqrt(yw_ddot(gap, gap));
  yw_dvec3 traction = yw_dscale(way, k);
  // Far apart, the normal says nothing about which side is where.
  if (depth < 0.0 && *apart < BESIDE * (double)c->size) {
    traction = yw_dadd(traction, yw_dscale(axes[2], (double)c->stiffness * depth));
  }
  double share = scale * (double)c->area / 3.0;
  add_force(&force[a], traction, share);
  add_force(&force[b], traction, -share);
  return k == 0.0;
}

// Cohesion of one face. True if it came loose or parted.
static bool pull_face(fem_cracks* cracks, fem_crack* c, float scale, const yw_vec4* pos,
                      yw_vec4* force) {
  yw_dvec3 axes[3];
  yw_fem_crack_axes(pos, c->node[0], axes);
  yw_dvec3 pull = first_pull(c, axes);
  double apart, least = INFINITY;
  bool released = true, was_loose = c->loose;
  for (int k = 0; k < 3; ++k) {
    released = pull_corner(c, k, axes, pull, (double)scale, pos, force, &apart) && released;
    least = fmin(least, apart);
  }
  c->loose = c->loose || released;
  c->parted = c->loose && least > PARTED * (double)c->size;
  if (c->loose) yw_fem_crack_mark(cracks, c->half, cracks->loose);
  if (c->parted) yw_fem_crack_mark(cracks, c->half, cracks->parted);
  return c->parted || c->loose != was_loose;
}

bool yw_fem_cohesion(fem_cracks* cracks, float scale, const yw_vec4* pos, yw_vec4* force) {
  bool any = false;
  for (int32_t i = 0; i < cracks->num_faces; ++i) {
    fem_crack* c = &cracks->faces[i];
    if (!c->parted) any = pull_face(cracks, c, scale, pos, force) || any;
  }
  return any;
}

// J/m^2 at a corner: what was dissipated on the way to its reach, and what is stored since the face
// opened.
static double work_at(const fem_crack* c, int corner, const yw_dvec3 axes[3], const yw_vec4* pos) {
  double s = (double)c->strength, w = (double)c->span, e = (double)c->slack;
  double reach = (double)c->reach[corner], d = fmin(reach - e, w);
  double done = w > 0.0 ? s * d * (1.0 - 0.5 * d / w) : 0.0, k = stiffness_at(c, reach);
  if (c->parted || c->node[0][corner] == c->node[1][corner]) return done;
  yw_dvec3 gap = gap_at(c, pos, corner);
  yw_dvec3 way = yw_dadd(gap, yw_dscale(first_pull(c, axes), e));
  bool beside = yw_ddot(gap, gap) < BESIDE * BESIDE * (double)c->size * (double)c->size;
  double depth = beside ? fmin(yw_ddot(gap, axes[2]), 0.0) : 0.0;
  // Unloading gives back the difference of the stored energies.
  return done - 0.5 * k * (reach * reach - yw_ddot(way, way)) +
         0.5 * (double)c->stiffness * depth * depth;
}

double yw_fem_cohesive_work(const fem_cracks* cracks, const yw_vec4* pos) {
  double work = 0.0;
  for (int32_t i = 0; i < cracks->num_faces; ++i) {
    const fem_crack* c = &cracks->faces[i];
    yw_dvec3 axes[3];
    yw_fem_crack_axes(pos, c->node[0], axes);
    for (int k = 0; k < 3; ++k) work += (double)c->area / 3.0 * work_at(c, k, axes, pos);
  }
  return work;
}
