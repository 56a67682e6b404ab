// SPDX-License-Identifier: MIT
// Crumbs: pieces of a few tets. Contact and obstacles throw them about, and so light a piece is
// strained far in a single step, where St. Venant-Kirchhoff material is too stiff for the step of
// the body. So most of their motion beyond that of a rigid body is taken away in every inner step,
// which allows steps several times as long.
#include <math.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "methods/fem/cracks.h"

// Pieces of at most this many tets are crumbs.
#define CRUMB_TETS 24
// Share of the motion beyond that of a rigid body that an inner step leaves. A mode of frequency w
// is then stable for (w h)^2 below 2 (1 + KEPT) / KEPT = 22 instead of 4.
#define KEPT 0.1

static void add_node(fem_cracks* c, int32_t node) {
  for (int32_t i = c->crumb_start[c->num_crumbs]; i < c->num_crumb_nodes; ++i) {
    if (c->crumb_nodes[i] == node) return;
  }
  c->crumb_nodes[c->num_crumb_nodes++] = node;
}

// Tets of a piece form a chain: the next one, or -1.
void yw_fem_crumbs_list(fem_cracks* c, const int32_t* piece) {
  int32_t num_tets = c->fragile->num_tets, *size = c->piece_size;
  c->num_crumbs = c->num_crumb_nodes = 0;
  c->crumb_start[0] = 0;
  if (c->num_pieces == 1) return;
  memset(size, 0, (size_t)num_tets * sizeof *size);
  for (int32_t t = 0; t < num_tets; ++t) {
    ++size[piece[t]];
    c->next_tet[t] = -1;
  }
  // A piece is named after its lowest tet; others are linked in behind it.
  for (int32_t t = num_tets - 1; t >= 0; --t) {
    int32_t first = piece[t];
    if (size[first] > CRUMB_TETS || first == t) continue;
    c->next_tet[t] = c->next_tet[first];
    c->next_tet[first] = t;
  }
  for (int32_t t = 0; t < num_tets; ++t) {
    if (piece[t] != t || size[t] > CRUMB_TETS) continue;
    for (int32_t k = t; k >= 0; k = c->next_tet[k]) {
      for (int s = 0; s < 4; ++s) add_node(c, c->corners[k][s]);
    }
    c->crumb_start[++c->num_crumbs] = c->num_crumb_nodes;
  }
}

/// Rigid motion of some nodes.
typedef struct crumb_motion {
  double mass, center[3], velocity[3], spin[3];
} crumb_motion;

static void read_vector(yw_vec4 v, double out[3]) {
  out[0] = (double)v.x, out[1] = (double)v.y, out[2] = (double)v.z;
}

static crumb_motion motion_of(const int32_t* nodes, int32_t count, const double* mass,
                              const yw_particles* p) {
  crumb_motion m = {0};
  double inertia[6] = {0}, inverse[6], angular[3] = {0}, x[3], v[3], turn[3];
  for (int32_t i = 0; i < count; ++i) {
    read_vector(p->pos[nodes[i]], x);
    read_vector(p->vel[nodes[i]], v);
    m.mass += mass[nodes[i]];
    for (int k = 0; k < 3; ++k) {
      m.center[k] += mass[nodes[i]] * x[k];
      m.velocity[k] += mass[nodes[i]] * v[k];
    }
  }
  for (int k = 0; k < 3; ++k) m.center[k] /= m.mass, m.velocity[k] /= m.mass;
  for (int32_t i = 0; i < count; ++i) {
    double own = mass[nodes[i]], square;
    read_vector(p->pos[nodes[i]], x);
    read_vector(p->vel[nodes[i]], v);
    for (int k = 0; k < 3; ++k) x[k] -= m.center[k];
    yw_cross3(x, v, turn);
    square = yw_dot3(x, x);
    for (int k = 0; k < 3; ++k) {
      angular[k] += own * turn[k];
      inertia[k] += own * (square - x[k] * x[k]);
    }
    inertia[3] -= own * x[0] * x[1];
    inertia[4] -= own * x[0] * x[2];
    inertia[5] -= own * x[1] * x[2];
  }
  double det = yw_sym_invert(inertia, inverse), size = inertia[0] + inertia[1] + inertia[2];
  // Needles and points do not spin.
  if (fabs(det) > 1e-9 * size * size * size) yw_sym_apply(inverse, angular, m.spin);
  return m;
}

static void calm_crumb(const int32_t* nodes, int32_t count, const double* mass, double h,
                       yw_particles* p) {
  crumb_motion m = motion_of(nodes, count, mass, p);
  for (int32_t i = 0; i < count; ++i) {
    int32_t n = nodes[i];
    double x[3], v[3], rigid[3], less[3];
    read_vector(p->pos[n], x);
    read_vector(p->vel[n], v);
    for (int k = 0; k < 3; ++k) x[k] -= m.center[k];
    yw_cross3(m.spin, x, rigid);
    for (int k = 0; k < 3; ++k) less[k] = (1.0 - KEPT) * (v[k] - rigid[k] - m.velocity[k]);
    // The step has moved the nodes by h v already.
    p->vel[n].x -= (float)less[0], p->pos[n].x -= (float)(h * less[0]);
    p->vel[n].y -= (float)less[1], p->pos[n].y -= (float)(h * less[1]);
    p->vel[n].z -= (float)less[2], p->pos[n].z -= (float)(h * less[2]);
  }
}

void yw_fem_crumbs_calm(const fem_cracks* c, const double* mass, const float* inv_mass, float h,
                        yw_particles* p) {
  for (int32_t i = 0; i < c->num_crumbs; ++i) {
    const int32_t* nodes = c->crumb_nodes + c->crumb_start[i];
    int32_t count = c->crumb_start[i + 1] - c->crumb_start[i];
    bool held = false;
    for (int32_t k = 0; k < count; ++k) held = held || inv_mass[nodes[k]] == 0.0f;
    if (!held) calm_crumb(nodes, count, mass, (double)h, p);
  }
}
