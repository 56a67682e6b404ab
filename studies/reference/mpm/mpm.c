// SPDX-License-Identifier: MIT
// One step of the material point method. x_i is the position of a node, w_i its weight at particle
// p, r_i = x_i - x_p, h the edge of a cell. For quadratic splines the gradient of moving least
// squares is g_i = 4 / h^2 w_i r_i.
#include "reference/mpm/mpm.h"

#include <stdlib.h>

#include "math/small/exponent.h"
#include "math/small/polar.h"
#include "reference/mpm/grid.h"
#include "reference/mpm/solver.h"

mpm_def mpm_default_def(void) {
  return (mpm_def){.cell = 0.04f,
                   .tolerance = 1e-3f,
                   .gravity = {0, -9.81f, 0},
                   .material = {.low = -INFINITY, .high = INFINITY, .eta = 1.0f}};
}

mpm* mpm_create(const mpm_def* def, int32_t count) {
  mpm* m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->def = *def;
  m->count = count;
  m->particles = calloc((size_t)count, sizeof *m->particles);
  m->grid = mpm_grid_create(def);
  if (def->implicit) m->solver = mpm_solver_create(count);
  if (!m->particles || !m->grid || (def->implicit && !m->solver)) {
    mpm_destroy(m);
    return NULL;
  }
  for (int32_t i = 0; i < count; ++i) {
    mpm_particle* p = &m->particles[i];
    p->b = p->u = yw_mat3_identity();
    p->s = yw_v3(1, 1, 1);
    p->det_p = p->harden = 1.0f;
  }
  return m;
}

void mpm_destroy(mpm* m) {
  if (!m) return;
  mpm_grid_destroy(m->grid);
  mpm_solver_destroy(m->solver);
  free(m->particles);
  free(m);
}

double mpm_bytes(const mpm* m) {
  double solver = m->solver ? mpm_solver_bytes(m->solver) : 0.0;
  return (double)sizeof(mpm_particle) * m->count + mpm_grid_bytes(m->grid) + solver;
}

double mpm_energy(const mpm* m) {
  double sum = 0;
  for (int32_t i = 0; i < m->count; ++i) {
    const mpm_particle* p = &m->particles[i];
    double a = (double)p->s.x, b = (double)p->s.y, c = (double)p->s.z, j = a * b * c;
    double shear = (a - 1) * (a - 1) + (b - 1) * (b - 1) + (c - 1) * (c - 1);
    sum += (double)(p->volume * p->harden) *
           ((double)m->def.material.mu * shear +
            0.5 * (double)m->def.material.lambda * (j - 1) * (j - 1));
  }
  return sum;
}

float mpm_stable_step(const mpm* m) {
  float stiff = 0, fast = 0;
  for (int32_t i = 0; i < m->count; ++i) {
    const mpm_particle* p = &m->particles[i];
    stiff = fmaxf(stiff, p->harden * p->volume / p->mass);
    fast = fmaxf(fast, yw_length2(p->v));
  }
  float wave = sqrtf((m->def.material.lambda + 2.0f * m->def.material.mu) * stiff);
  return 0.4f * m->def.cell / (wave + sqrtf(fast));
}

// To the grid -------------------------------------------------------------------------------------

static yw_float4 widen(yw_vec3 v, float w) { return (yw_float4){v.x, v.y, v.z, w}; }

// Kirchhoff stress, U diag(2 mu (s - 1) s + lambda J (J - 1)) U^T.
static yw_mat3 stress_of(const mpm_particle* p, const mpm_material* material) {
  float mu2 = 2.0f * p->harden * material->mu, j = p->s.x * p->s.y * p->s.z;
  float pressure = p->harden * material->lambda * j * (j - 1.0f);
  yw_mat3 scaled = {yw_scale(p->u.cx, mu2 * (p->s.x - 1.0f) * p->s.x + pressure),
                    yw_scale(p->u.cy, mu2 * (p->s.y - 1.0f) * p->s.y + pressure),
                    yw_scale(p->u.cz, mu2 * (p->s.z - 1.0f) * p->s.z + pressure)};
  return yw_mat3_mul(scaled, yw_mat3_transpose(p->u));
}

// FLIP and semi-implicit steps need the velocities before forces.
static bool keeps_velocities(const mpm_def* def) { return def->flip > 0 || def->implicit; }

// Momentum and mass, and what the stress adds during dt (unless add_forces does).
static void to_grid(mpm* m, float dt) {
  float cell = m->def.cell, inverse = 1.0f / cell;
  bool with_stress = !keeps_velocities(&m->def);
  for (int32_t k = 0; k < m->grid->num_runs; ++k) {
    const mpm_run* run = &m->grid->runs[k];
    for (int32_t i = run->first; i < run->end; ++i) {
      const mpm_particle* p = &m->particles[i];
      mpm_reach reach = mpm_reach_of(p->x, inverse);
      yw_mat3 affine = yw_mat3_scale(p->c, p->mass * cell);
      if (with_stress) {
        yw_mat3 tau = stress_of(p, &m->def.material);
        affine = yw_mat3_add(affine, yw_mat3_scale(tau, -4.0f * inverse * dt * p->volume));
      }
      const yw_float4 columns[3] = {widen(affine.cx, 0), widen(affine.cy, 0), widen(affine.cz, 0)};
      mpm_scatter(m->grid->node, run, &reach, widen(yw_scale(p->v, p->mass), p->mass), columns);
    }
  }
}

static void add_forces(mpm* m, float dt) {
  float inverse = 1.0f / m->def.cell;
  for (int32_t k = 0; k < m->grid->num_runs; ++k) {
    const mpm_run* run = &m->grid->runs[k];
    for (int32_t i = run->first; i < run->end; ++i) {
      const mpm_particle* p = &m->particles[i];
      mpm_reach reach = mpm_reach_of(p->x, inverse);
      yw_mat3 tau = yw_mat3_scale(stress_of(p, &m->def.material), -4.0f * inverse * dt * p->volume);
      const yw_float4 columns[3] = {widen(tau.cx, 0), widen(tau.cy, 0), widen(tau.cz, 0)};
      mpm_scatter(m->grid->node, run, &reach, (yw_float4){0}, columns);
    }
  }
}

// On the grid -------------------------------------------------------------------------------------

// The deepest obstacle at a point, or NULL.
static const mpm_obstacle* obstacle_at(const mpm* m, yw_vec3 x, float reach, yw_vec3* normal) {
  const mpm_obstacle* found = NULL;
  for (int32_t i = 0; i < m->def.num_obstacles; ++i) {
    const mpm_obstacle* o = &m->def.obstacles[i];
    float d = yw_shape_distance(o->shape, yw_transform_point_inv(o->transform, x));
    if (!(d < reach)) continue;
    reach = d;
    found = o;
  }
  if (!found || !normal) return found;
  yw_vec3 n;
  yw_shape_distance_normal(found->shape, yw_transform_point_inv(found->transform, x), &n);
  *normal = yw_rotate(found->transform.rotation, n);
  return found;
}

// A node inside an obstacle that moves farther in loses its normal velocity, and tangential
// velocity by Coulomb's law.
static void touch(const mpm* m, int32_t node, yw_vec3 x) {
  yw_float4 q = m->grid->node[node];
  yw_vec3 normal, v = yw_v3(q[0], q[1], q[2]);
  m->grid->normal[node] = (yw_float4){0};
  const mpm_obstacle* o = obstacle_at(m, x, 0.0f, &normal);
  float approach = o ? -yw_dot(v, normal) : 0.0f;
  if (!(approach > 0.0f)) return;
  yw_vec3 slide = yw_mad(v, approach, normal);
  float speed = yw_length(slide), held = o->friction * approach;
  slide = yw_scale(slide, speed > held ? 1.0f - held / speed : 0.0f);
  m->grid->node[node] = widen(slide, q[3]);
  m->grid->normal[node] = widen(normal, 1.0f);
}

static yw_vec3 node_place(const mpm* m, int32_t node) {
  const int32_t* place = m->grid->places[node / MPM_BLOCK];
  int32_t i = node % MPM_BLOCK;
  return yw_scale(
      yw_v3((float)(MPM_EDGE * place[0] + (i >> 4)), (float)(MPM_EDGE * place[1] + (i >> 2 & 3)),
            (float)(MPM_EDGE * place[2] + (i & 3))),
      m->def.cell);
}

// Momentum becomes velocity, gravity acts, and obstacles.
static void move_nodes(mpm* m, float dt) {
  mpm_grid* g = m->grid;
  yw_float4 fall = widen(yw_scale(m->def.gravity, dt), 0.0f);
  float half = 1.5f * m->def.cell;
  for (int32_t b = 0; b < g->num_blocks; ++b) {
    int32_t first = MPM_BLOCK * b;
    yw_vec3 center = yw_add(node_place(m, first), yw_v3(half, half, half));
    bool is_near = obstacle_at(m, center, 1.75f * half, NULL) != NULL;
    for (int32_t i = first; i < first + MPM_BLOCK; ++i) {
      float mass = g->node[i][3];
      g->normal[i] = (yw_float4){0};
      if (!(mass > 0.0f)) continue;
      g->node[i] = g->node[i] * (1.0f / mass) + fall;
      g->node[i][3] = mass;
      if (is_near) touch(m, i, node_place(m, i));
    }
  }
}

// To the particles --------------------------------------------------------------------------------

static yw_vec3 narrow(yw_float4 q) { return yw_v3(q[0], q[1], q[2]); }

static float energy_of(const mpm_material* material, const float s[3]) {
  float sum = 0.0f, j = s[0] * s[1] * s[2] - 1.0f;
  for (int a = 0; a < 3; ++a) sum += material->mu * (s[a] - 1.0f) * (s[a] - 1.0f);
  return sum + 0.5f * material->lambda * j * j;
}

// Flow adds no energy to matter that does not harden, as in plastic (flow_kernels.c).
static void take_back(const mpm_material* material, const float trial[3], float s[3]) {
  float limit = energy_of(material, trial);
  for (int i = 0; i < 4 && material->xi == 0.0f; ++i) {
    float energy = energy_of(material, s);
    if (!(energy > limit)) return;
    float kept = sqrtf(limit / energy);
    for (int a = 0; a < 3; ++a) s[a] = 1.0f + kept * (s[a] - 1.0f);
  }
}

// The elastic tensor after dt L, and what exceeds the limits of stretches goes to the plastic part.
static void deform(mpm_particle* p, const mpm_material* material, yw_mat3 l, float dt) {
  yw_mat3 g = yw_mat3_add(yw_mat3_identity(), yw_mat3_scale(l, dt));
  yw_mat3 b = yw_mat3_mul(yw_mat3_mul(g, p->b), yw_mat3_transpose(g));
  yw_vec3 squares;
  yw_eigen_symmetric(&b, &squares, &p->u);
  const float trial[3] = {sqrtf(fmaxf(squares.x, 1e-8f)), sqrtf(fmaxf(squares.y, 1e-8f)),
                          sqrtf(fmaxf(squares.z, 1e-8f))};
  float s[3], ratio = 1.0f;
  for (int a = 0; a < 3; ++a) s[a] = fminf(fmaxf(trial[a], material->low), material->high);
  bool flows = s[0] != trial[0] || s[1] != trial[1] || s[2] != trial[2];
  if (flows) take_back(material, trial, s);
  for (int a = 0; a < 3; ++a) ratio *= trial[a] / s[a];
  p->s = yw_v3(s[0], s[1], s[2]);
  p->b = b;
  if (!flows) return;
  p->det_p = fminf(fmaxf(p->det_p * ratio, 0.05f), 20.0f);
  p->harden = yw_expf(fminf(fmaxf(material->xi * (1.0f - p->det_p), -20.0f), 4.0f));
  yw_mat3 scaled = {yw_scale(p->u.cx, s[0] * s[0]), yw_scale(p->u.cy, s[1] * s[1]),
                    yw_scale(p->u.cz, s[2] * s[2])};
  p->b = yw_mat3_mul(scaled, yw_mat3_transpose(p->u));
}

// False if a particle is no longer finite.
static bool to_particles(mpm* m, float dt) {
  const mpm_grid* g = m->grid;
  float inverse = 1.0f / m->def.cell, flip = m->def.flip, eta = m->def.material.eta;
  for (int32_t k = 0; k < g->num_runs; ++k) {
    const mpm_run* run = &g->runs[k];
    for (int32_t i = run->first; i < run->end; ++i) {
      mpm_particle* p = &m->particles[i];
      mpm_reach reach = mpm_reach_of(p->x, inverse);
      yw_float4 v, columns[3];
      mpm_gather(g->node, run, &reach, &v, columns);
      yw_mat3 l = yw_mat3_scale(
          (yw_mat3){narrow(columns[0]), narrow(columns[1]), narrow(columns[2])}, 4.0f * inverse);
      p->c = yw_mat3_add(yw_mat3_scale(l, 0.5f * (1.0f + eta)),
                         yw_mat3_scale(yw_mat3_transpose(l), -0.5f * (1.0f - eta)));
      p->x = yw_mad(p->x, dt, narrow(v));
      if (flip > 0) {
        yw_float4 before, unused[3];
        mpm_gather(g->before, run, &reach, &before, unused);
        yw_vec3 kept = yw_add(p->v, yw_sub(narrow(v), narrow(before)));
        p->v = yw_lerp(narrow(v), kept, flip);
        p->c = yw_mat3_scale(p->c, 1.0f - flip);
      } else {
        p->v = narrow(v);
      }
      deform(p, &m->def.material, l, dt);
      if (!yw_is_finite3(p->x)) return false;
    }
  }
  return true;
}

// A step ------------------------------------------------------------------------------------------

static void keep_velocities(mpm_grid* g) {
  for (int32_t i = 0; i < g->num_nodes; ++i) {
    float mass = g->node[i][3];
    g->before[i] = mass > 0.0f ? g->node[i] * (1.0f / mass) : (yw_float4){0};
  }
}

static bool step(mpm* m, float dt) {
  if (!mpm_grid_place(m->grid, m)) return false;
  to_grid(m, dt);
  if (keeps_velocities(&m->def)) {
    keep_velocities(m->grid);
    add_forces(m, dt);
  }
  move_nodes(m, dt);
  if (m->def.implicit && !mpm_solve(m, dt)) return false;
  ++m->substeps;
  return to_particles(m, dt);
}

bool mpm_advance(mpm* m, float time, float longest) {
  while (time > 1e-9f) {
    float dt = m->def.implicit ? longest : fminf(longest, mpm_stable_step(m));
    // Equal parts of what is left.
    dt = time / fmaxf(1.0f, ceilf(time / dt - 1e-3f));
    if (!(dt > 1e-7f) || !step(m, dt)) return false;
    time -= dt;
  }
  return true;
}
