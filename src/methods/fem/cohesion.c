// SPDX-License-Identifier: MIT
// What holds the two sides of an open face together. Camacho and Ortiz, "Computational modelling of
// impact damage in brittle materials" (1996): a traction that falls linearly with the opening, and
// does as much work per area as the toughness says.
//
// At each corner of the face, with g the way from its first side to the other, o its largest length
// so far (of its part along p while that is small), p the unit vector of the traction under which
// the face opened, and e a small length:
//   traction on the first side   t = k (g + max(e - o, 0) p),   k = s (1 - o / w) / max(o, e)
// So the traction is s p when the face opens, as the tets had it: nothing jumps. It falls to 0 at
// o = w, and the work until then is s w / 2. Faces that close again unload along k. Beyond e forces
// are along g alone, without a torque; p turns with the face, and would feed energy into it.
#include <math.h>

#include "geometry/tet_math.h"
#include "methods/fem/cracks.h"

// In sizes of the tets: contact takes over when all corners of a loose face are this far apart, and
// none is behind the other side by more than this. Earlier it would find thousands of touching
// triangles where a crack has just run.
#define PARTED 0.1
#define BEHIND 0.02

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

// k and max(e - o, 0) at a corner.
static double stiffness_at(const fem_crack* c, int corner, double* left) {
  double o = (double)c->reach[corner], e = (double)c->slack;
  *left = fmax(e - o, 0.0);
  if (!(o < (double)c->span)) return 0.0;
  return (double)c->strength * (1.0 - o / (double)c->span) / fmax(o, e);
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

/// Forces of one face, and how it is after them.
typedef struct face_pull {
  yw_dvec3 axes[3], pull;
  double scale;   // of forces
  double apart;   // m, least length of g
  double behind;  // m, least distance of the other side in front of the first
  bool released;  // nothing holds any corner
} face_pull;

// Raises o by what g is longer than before; below e only what is along the first traction counts.
static void note_opening(fem_crack* c, int corner, yw_dvec3 gap, yw_dvec3 pull) {
  double left, full = fmax((double)c->reach[corner], (double)c->slack);
  stiffness_at(c, corner, &left);
  yw_dvec3 way = yw_dadd(gap, yw_dscale(pull, left));
  double more = sqrt(yw_ddot(way, way)) - full;
  if (more > 0.0) c->reach[corner] = (float)((double)c->reach[corner] + more);
}

static void pull_corner(fem_crack* c, int corner, face_pull* f, const yw_vec4* pos,
                        yw_vec4* force) {
  int32_t a = c->node[0][corner], b = c->node[1][corner];
  yw_dvec3 gap = gap_at(c, pos, corner);
  note_opening(c, corner, gap, f->pull);
  double left, k = stiffness_at(c, corner, &left), share = f->scale * (double)c->area / 3.0;
  f->apart = fmin(f->apart, sqrt(yw_ddot(gap, gap)));
  f->behind = fmin(f->behind, yw_ddot(gap, f->axes[2]));
  f->released = f->released && a != b && k == 0.0;
  if (a == b) return;
  yw_dvec3 traction = yw_dscale(yw_dadd(gap, yw_dscale(f->pull, left)), k);
  // Trapezoids: the force goes from one value to the next as the gap does.
  yw_dvec3 both = yw_dadd(traction, yw_d3(c->traction[corner]));
  c->work += 0.5 * (double)c->area / 3.0 * yw_ddot(both, yw_dsub(gap, yw_d3(c->gap[corner])));
  c->gap[corner] = yw_f3(gap);
  c->traction[corner] = yw_f3(traction);
  add_force(&force[a], traction, share);
  add_force(&force[b], traction, -share);
}

// Cohesion of one face. True if it came loose or parted.
static bool pull_face(fem_cracks* cracks, fem_crack* c, float scale, const yw_vec4* pos,
                      yw_vec4* force) {
  face_pull f = {.scale = (double)scale, .apart = INFINITY, .behind = INFINITY, .released = true};
  yw_fem_crack_axes(pos, c->node[0], f.axes);
  f.pull = first_pull(c, (const yw_dvec3*)f.axes);
  for (int k = 0; k < 3; ++k) pull_corner(c, k, &f, pos, force);
  bool was_loose = c->loose;
  double size = (double)c->size;
  c->loose = c->loose || f.released;
  c->parted = c->loose && f.apart > PARTED * size && f.behind > -BEHIND * size;
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

double yw_fem_cohesive_work(const fem_cracks* cracks) {
  double work = 0.0;
  for (int32_t i = 0; i < cracks->num_faces; ++i) work += cracks->faces[i].work;
  return work;
}
