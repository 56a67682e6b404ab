// SPDX-License-Identifier: MIT
// Transfer of masses, forces, motion and momentum between levels.
//
// DIFFERS: Imai et al. set only the positions of hanging nodes. The forces on them are then lost (a
// patch test fails by half of the largest force), and so is momentum. Here a hanging node is the
// mean of its parents in every respect: forces and masses are passed on to them.
#include "methods/fem/transfer.h"

#include <string.h>

void yw_fem_carry_masses(const fem_front* f, const double* fine_mass, double* mass) {
  const fem_hierarchy* h = f->h;
  memcpy(mass, fine_mass, sizeof *mass * (size_t)(h->num_nodes + f->num_copies));
  for (int32_t n = h->num_nodes - 1; n >= h->node_level_start[1]; --n) {
    if (f->state[n] == FEM_FREE) continue;
    const int32_t* p = h->node[n].parents;
    int parents = p[2] < 0 ? 2 : 4;
    double share = mass[n] / parents;
    for (int k = 0; k < parents; ++k) mass[p[k]] += share;
    mass[n] = 0.0;
  }
}

void yw_fem_carry_forces(const fem_front* f, fem_vec4* force) {
  for (int32_t i = f->num_hanging - 1; i >= 0; --i) {
    int32_t n = f->hanging[i];
    const int32_t* p = f->h->node[n].parents;
    for (int k = 0; k < 2; ++k) {
      fem_vec4* to = &force[p[k]];
      to->x += (fem_real)0.5 * force[n].x;
      to->y += (fem_real)0.5 * force[n].y;
      to->z += (fem_real)0.5 * force[n].z;
    }
    force[n] = (fem_vec4){0};
  }
}

// All four components at a time; the last is 0.
typedef fem_real fem_quad __attribute__((vector_size(4 * sizeof(fem_real))));

static fem_vec4 mean_of(const int32_t* p, const fem_vec4* v) {
  fem_quad a, b, c, d;
  fem_vec4 mean;
  memcpy(&a, &v[p[0]], sizeof a);
  memcpy(&b, &v[p[1]], sizeof b);
  a += b;
  if (p[2] >= 0) {
    memcpy(&c, &v[p[2]], sizeof c);
    memcpy(&d, &v[p[3]], sizeof d);
    a += c + d;
  }
  a *= (fem_real)(p[2] >= 0 ? 0.25 : 0.5);
  memcpy(&mean, &a, sizeof mean);
  return mean;
}

bool yw_fem_is_mean(const int32_t* parents, const fem_vec4* values, int32_t node) {
  fem_vec4 mean = mean_of(parents, values), own = values[node];
  return mean.x == own.x && mean.y == own.y && mean.z == own.z;
}

void yw_fem_follow(const fem_front* f, fem_vec4* pos, fem_vec4* vel) {
  for (int32_t i = 0; i < f->num_hanging; ++i) {
    int32_t n = f->hanging[i];
    const int32_t* p = f->h->node[n].parents;
    pos[n] = mean_of(p, pos);
    vel[n] = mean_of(p, vel);
  }
}

void yw_fem_follow_one(const fem_front* f, fem_vec4* values) {
  for (int32_t n = f->h->node_level_start[1]; n < f->h->num_nodes; ++n) {
    if (f->state[n] != FEM_FREE) values[n] = mean_of(f->h->node[n].parents, values);
  }
}

void yw_fem_carry_one(const fem_front* f, fem_vec4* values) {
  const fem_hierarchy* h = f->h;
  for (int32_t n = h->num_nodes - 1; n >= h->node_level_start[1]; --n) {
    if (f->state[n] == FEM_FREE) continue;
    const int32_t* p = h->node[n].parents;
    int parents = p[2] < 0 ? 2 : 4;
    fem_real share = (fem_real)(p[2] < 0 ? 0.5 : 0.25);
    for (int k = 0; k < parents; ++k) {
      fem_vec4* to = &values[p[k]];
      to->x += share * values[n].x;
      to->y += share * values[n].y;
      to->z += share * values[n].z;
    }
    values[n] = (fem_vec4){0};
  }
}

void yw_fem_follow_all(const fem_front* f, fem_vec4* pos, fem_vec4* vel) {
  const fem_hierarchy* h = f->h;
  for (int32_t n = h->node_level_start[1]; n < h->num_nodes; ++n) {
    if (f->state[n] == FEM_FREE) continue;
    pos[n] = mean_of(h->node[n].parents, pos);
    vel[n] = mean_of(h->node[n].parents, vel);
  }
}

// Sums of the body --------------------------------------------------------------------------------

fem_motion yw_fem_motion_of(const fem_front* f, const double* mass, const fem_vec4* pos,
                            const fem_vec4* vel) {
  fem_motion s = {0};
  for (int32_t i = 0; i < f->num_active; ++i) {
    int32_t n = f->active[i];
    double m = mass[n];
    s.mass += m;
    s.center[0] += m * (double)pos[n].x, s.momentum[0] += m * (double)vel[n].x;
    s.center[1] += m * (double)pos[n].y, s.momentum[1] += m * (double)vel[n].y;
    s.center[2] += m * (double)pos[n].z, s.momentum[2] += m * (double)vel[n].z;
  }
  for (int k = 0; k < 3; ++k) s.center[k] /= s.mass;
  for (int32_t i = 0; i < f->num_active; ++i) {
    int32_t n = f->active[i];
    double m = mass[n];
    const double r[3] = {(double)pos[n].x - s.center[0], (double)pos[n].y - s.center[1],
                         (double)pos[n].z - s.center[2]};
    const double v[3] = {(double)vel[n].x, (double)vel[n].y, (double)vel[n].z};
    double r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    for (int a = 0; a < 3; ++a) {
      int b = (a + 1) % 3, c = (a + 2) % 3;
      s.angular[a] += m * (r[b] * v[c] - r[c] * v[b]);
      for (int k = 0; k < 3; ++k) s.inertia[a][k] += m * ((a == k ? r2 : 0.0) - r[a] * r[k]);
    }
  }
  return s;
}

// omega = I^-1 dL by Cramer's rule; zero for bodies without extent.
static void solve3(const double a[3][3], const double b[3], double out[3]) {
  double c[3][3], det = 0.0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      c[i][j] = a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1];
    }
  }
  for (int j = 0; j < 3; ++j) det += a[0][j] * c[0][j];
  double size = a[0][0] * a[1][1] * a[2][2];
  for (int i = 0; i < 3; ++i) {
    out[i] = 0.0;
    if (!(fabs(det) > 1e-12 * fabs(size))) continue;
    for (int j = 0; j < 3; ++j) out[i] += c[j][i] * b[j];
    out[i] /= det;
  }
}

void yw_fem_restore_motion(const fem_front* f, const fem_motion* before, const double* mass,
                           fem_vec4* pos, fem_vec4* vel) {
  fem_motion now = yw_fem_motion_of(f, mass, pos, vel);
  double lack[3], w[3], shift[3], drift[3];
  for (int k = 0; k < 3; ++k) {
    lack[k] = before->angular[k] - now.angular[k];
    shift[k] = before->center[k] - now.center[k];
    drift[k] = (before->momentum[k] - now.momentum[k]) / now.mass;
  }
  solve3((const double(*)[3])now.inertia, lack, w);
  for (int32_t i = 0; i < f->num_active; ++i) {
    int32_t n = f->active[i];
    const double r[3] = {(double)pos[n].x - now.center[0], (double)pos[n].y - now.center[1],
                         (double)pos[n].z - now.center[2]};
    vel[n].x += (fem_real)(drift[0] + w[1] * r[2] - w[2] * r[1]);
    vel[n].y += (fem_real)(drift[1] + w[2] * r[0] - w[0] * r[2]);
    vel[n].z += (fem_real)(drift[2] + w[0] * r[1] - w[1] * r[0]);
    pos[n].x += (fem_real)shift[0];
    pos[n].y += (fem_real)shift[1];
    pos[n].z += (fem_real)shift[2];
  }
  yw_fem_follow(f, pos, vel);
}

// The switch --------------------------------------------------------------------------------------

// Passes the momentum that no longer free nodes carried beyond their parents' motion down to free
// ones: (surplus of momentum, mass) in work[n].
static void collect_surplus(const fem_front* f, const double* mass, const fem_vec4* vel,
                            double (*work)[4]) {
  const fem_hierarchy* h = f->h;
  for (int32_t n = 0; n < h->num_nodes + f->num_copies; ++n) {
    work[n][0] = work[n][1] = work[n][2] = 0.0;
    work[n][3] = mass[n];
  }
  for (int32_t n = h->num_nodes - 1; n >= h->node_level_start[1]; --n) {
    double* own = work[n];
    if (f->state[n] == FEM_FREE || own[3] == 0.0) continue;
    const int32_t* p = h->node[n].parents;
    int parents = p[2] < 0 ? 2 : 4;
    fem_vec4 mean = mean_of(p, vel);
    own[0] += own[3] * ((double)vel[n].x - (double)mean.x);
    own[1] += own[3] * ((double)vel[n].y - (double)mean.y);
    own[2] += own[3] * ((double)vel[n].z - (double)mean.z);
    for (int k = 0; k < parents; ++k) {
      for (int i = 0; i < 4; ++i) work[p[k]][i] += own[i] / parents;
    }
    own[0] = own[1] = own[2] = own[3] = 0.0;
  }
}

static void give_back(const fem_front* f, const fem_switch* change, const double* mass,
                      const double (*work)[4], fem_vec4* vel) {
  for (int32_t i = 0; i < f->num_active; ++i) {
    int32_t n = f->active[i];
    if (f->state[n] != FEM_FREE || (change->inv_mass && change->inv_mass[n] == 0.0f)) continue;
    vel[n].x += (fem_real)(work[n][0] / mass[n]);
    vel[n].y += (fem_real)(work[n][1] / mass[n]);
    vel[n].z += (fem_real)(work[n][2] / mass[n]);
  }
}

void yw_fem_switch(fem_front* f, const fem_switch* change, const double* fine_mass, double* mass,
                   fem_vec4* pos, fem_vec4* vel, double* work) {
  double(*surplus)[4] = (double(*)[4])work;
  fem_motion before = {0};
  if (!change->held) before = yw_fem_motion_of(f, mass, pos, vel);
  if (change->num_merge > 0) {
    for (int32_t i = 0; i < change->num_merge; ++i) yw_fem_front_merge(f, change->merge[i]);
    yw_fem_front_update(f);
    collect_surplus(f, mass, vel, surplus);
    yw_fem_follow(f, pos, vel);
  }
  if (change->num_split > 0) {
    for (int32_t i = 0; i < change->num_split; ++i) {
      int32_t tet = change->split[i];
      const int32_t* family = f->h->family[tet];
      for (int k = 4; k < FEM_FAMILY_NODES; ++k) {
        int32_t n = family[k];
        if (n < 0 || f->nsplit[n] > 0) continue;
        pos[n] = mean_of(f->h->node[n].parents, pos);
        vel[n] = mean_of(f->h->node[n].parents, vel);
      }
      yw_fem_front_split(f, tet);
    }
    yw_fem_front_update(f);
  }
  yw_fem_carry_masses(f, fine_mass, mass);
  if (change->num_merge > 0) give_back(f, change, mass, (const double(*)[4])surplus, vel);
  yw_fem_follow(f, pos, vel);
  if (!change->held) yw_fem_restore_motion(f, &before, mass, pos, vel);
}
