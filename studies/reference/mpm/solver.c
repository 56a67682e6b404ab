// SPDX-License-Identifier: MIT
// Conjugate gradients for the velocities of nodes. H is the second derivative of the energy with
// respect to displacements of the nodes, clamped to be positive: in the axes of a particle's
// stretch three stretches are coupled, and shears in pairs. As in `plastic`, rotations meet no
// resistance.
#include "reference/mpm/solver.h"

#include <stdlib.h>

#include "reference/mpm/grid.h"

#define MOST_ITERATIONS 300

// Stiffness of a particle times dt^2 V0: stretches (symmetric 3 x 3), then shears in planes yz, zx
// and xy: (ab, ab) and (ab, ba).
typedef struct tangent {
  float stretch[6], shear[3][2];
} tangent;

struct mpm_solver {
  int32_t count, capacity;
  tangent* tangents;
  yw_float4 *residual, *direction, *product, *start;
};

mpm_solver* mpm_solver_create(int32_t count) {
  mpm_solver* s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->count = count;
  s->tangents = calloc((size_t)count, sizeof *s->tangents);
  if (s->tangents) return s;
  free(s);
  return NULL;
}

static void free_nodes(mpm_solver* s) {
  free(s->residual);
  free(s->direction);
  free(s->product);
  free(s->start);
}

void mpm_solver_destroy(mpm_solver* s) {
  if (!s) return;
  free_nodes(s);
  free(s->tangents);
  free(s);
}

double mpm_solver_bytes(const mpm_solver* s) {
  return sizeof *s->tangents * (double)s->count + 4.0 * sizeof(yw_float4) * (double)s->capacity;
}

static bool reserve(mpm_solver* s, int32_t nodes) {
  if (nodes <= s->capacity) return true;
  free_nodes(s);
  s->capacity = (nodes + nodes / 4 + 63) / 64 * 64;
  size_t bytes = sizeof(yw_float4) * (size_t)s->capacity;
  s->residual = aligned_alloc(64, bytes);
  s->direction = aligned_alloc(64, bytes);
  s->product = aligned_alloc(64, bytes);
  s->start = aligned_alloc(64, bytes);
  return s->residual && s->direction && s->product && s->start;
}

// Tangents ----------------------------------------------------------------------------------------

// As in src/methods/plastic/stress_kernels.c.
static tangent tangent_of(const mpm_particle* p, const mpm_material* material, float scale) {
  const float s[3] = {p->s.x, p->s.y, p->s.z};
  float mu2 = 2.0f * p->harden * material->mu, lambda = p->harden * material->lambda;
  float j = s[0] * s[1] * s[2], bend = lambda * (j - 1.0f);
  float least = fminf(s[0], fminf(s[1], s[2])), row = fabsf(bend) * (s[0] + s[1] + s[2] - least);
  float diagonal = row > mu2 ? bend * mu2 / row : bend;
  tangent t;
  for (int a = 0; a < 3; ++a) {
    int b = (a + 1) % 3, c = (a + 2) % 3;
    float bc = s[b] * s[c];
    t.stretch[a] = scale * s[a] * s[a] * (mu2 + lambda * bc * bc);
    t.stretch[3 + a] = scale * j * (lambda * j + diagonal);
    float twist = 2.0f * mu2 / fmaxf(s[b] + s[c], 1e-3f), third = bend * s[a];
    float even = 0.5f * fmaxf(mu2 - third, 0.0f), odd = 0.5f * fmaxf(mu2 - twist + third, 0.0f);
    float sum = (s[b] + s[c]) * (s[b] + s[c]), difference = (s[b] - s[c]) * (s[b] - s[c]);
    float shear = 0.25f * (even * sum + odd * difference);
    float turn = fmaxf(0.25f * (even * difference + odd * sum) - shear, 0.0f);
    t.shear[a][0] = scale * (shear + turn);
    t.shear[a][1] = scale * (shear - turn);
  }
  return t;
}

// The change of -f with L, both in the axes of the particle.
static yw_mat3 resist(const tangent* t, yw_mat3 l) {
  const float* d = t->stretch;
  yw_mat3 out;
  out.cx.x = d[0] * l.cx.x + d[3] * l.cy.y + d[5] * l.cz.z;
  out.cy.y = d[3] * l.cx.x + d[1] * l.cy.y + d[4] * l.cz.z;
  out.cz.z = d[5] * l.cx.x + d[4] * l.cy.y + d[2] * l.cz.z;
  out.cy.z = t->shear[0][0] * l.cy.z + t->shear[0][1] * l.cz.y;
  out.cz.y = t->shear[0][1] * l.cy.z + t->shear[0][0] * l.cz.y;
  out.cz.x = t->shear[1][0] * l.cz.x + t->shear[1][1] * l.cx.z;
  out.cx.z = t->shear[1][1] * l.cz.x + t->shear[1][0] * l.cx.z;
  out.cx.y = t->shear[2][0] * l.cx.y + t->shear[2][1] * l.cy.x;
  out.cy.x = t->shear[2][1] * l.cx.y + t->shear[2][0] * l.cy.x;
  return out;
}

// The system --------------------------------------------------------------------------------------

static yw_float4 free_part(const mpm_grid* g, int32_t i, yw_float4 v) {
  yw_float4 n = g->normal[i];
  if (n[3] == 0.0f) return v;
  float along = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
  return (yw_float4){v[0] - along * n[0], v[1] - along * n[1], v[2] - along * n[2], 0.0f};
}

static void multiply_particle(const mpm* m, const mpm_run* run, int32_t i, const yw_float4* in,
                              yw_float4* out) {
  const mpm_particle* p = &m->particles[i];
  float inverse = 1.0f / m->def.cell, factor = 4.0f * inverse;
  mpm_reach reach = mpm_reach_of(p->x, inverse);
  yw_float4 sum, columns[3];
  mpm_gather(in, run, &reach, &sum, columns);
  yw_mat3 l = {yw_v3(columns[0][0], columns[0][1], columns[0][2]),
               yw_v3(columns[1][0], columns[1][1], columns[1][2]),
               yw_v3(columns[2][0], columns[2][1], columns[2][2])};
  yw_mat3 own = yw_mat3_mul(yw_mat3_transpose(p->u), yw_mat3_mul(l, p->u));
  own = resist(&m->solver->tangents[i], own);
  l = yw_mat3_scale(yw_mat3_mul(p->u, yw_mat3_mul(own, yw_mat3_transpose(p->u))), factor * factor);
  const yw_float4 back[3] = {
      {l.cx.x, l.cx.y, l.cx.z, 0}, {l.cy.x, l.cy.y, l.cy.z, 0}, {l.cz.x, l.cz.y, l.cz.z, 0}};
  mpm_scatter(out, run, &reach, (yw_float4){0}, back);
}

// product = P (M + dt^2 H) in; returns in . product.
static double multiply(mpm* m, const yw_float4* in) {
  const mpm_grid* g = m->grid;
  yw_float4* out = m->solver->product;
  for (int32_t i = 0; i < g->num_nodes; ++i) out[i] = in[i] * g->node[i][3];
  for (int32_t k = 0; k < g->num_runs; ++k) {
    const mpm_run* run = &g->runs[k];
    for (int32_t i = run->first; i < run->end; ++i) multiply_particle(m, run, i, in, out);
  }
  double dot = 0;
  for (int32_t i = 0; i < g->num_nodes; ++i) {
    out[i] = free_part(g, i, out[i]);
    yw_float4 q = out[i] * in[i];
    dot += (double)(q[0] + q[1] + q[2]);
  }
  return dot;
}

// r . M^-1 r, and direction = M^-1 r + beta direction.
static double turn(mpm* m, double before) {
  const mpm_grid* g = m->grid;
  const mpm_solver* s = m->solver;
  double norm = 0;
  for (int32_t i = 0; i < g->num_nodes; ++i) {
    if (!(g->node[i][3] > 0.0f)) continue;
    yw_float4 q = s->residual[i] * s->residual[i];
    norm += (double)((q[0] + q[1] + q[2]) / g->node[i][3]);
  }
  float beta = before > 0 ? (float)(norm / before) : 0.0f;
  for (int32_t i = 0; i < g->num_nodes; ++i) {
    float mass = g->node[i][3];
    yw_float4 z = mass > 0.0f ? s->residual[i] * (1.0f / mass) : (yw_float4){0};
    s->direction[i] = z + s->direction[i] * beta;
  }
  return norm;
}

// Starts from velocities without forces. Returns v* M v*, relative to the mean motion.
static double begin(mpm* m, float dt) {
  mpm_grid* g = m->grid;
  mpm_solver* s = m->solver;
  yw_float4 fall = {dt * m->def.gravity.x, dt * m->def.gravity.y, dt * m->def.gravity.z, 0};
  double sum[4] = {0}, squares = 0;
  for (int32_t i = 0; i < g->num_nodes; ++i) {
    float mass = g->node[i][3];
    s->residual[i] = s->direction[i] = s->start[i] = (yw_float4){0};
    if (!(mass > 0.0f)) continue;
    for (int a = 0; a < 3; ++a) {
      sum[a] += (double)(mass * g->node[i][a]);
      squares += (double)(mass * g->node[i][a] * g->node[i][a]);
    }
    sum[3] += (double)mass;
    s->residual[i] = free_part(g, i, g->node[i] * mass);
    s->start[i] = free_part(g, i, g->before[i] + fall);
    s->residual[i][3] = s->start[i][3] = 0.0f;
  }
  multiply(m, s->start);
  for (int32_t i = 0; i < g->num_nodes; ++i) {
    float mass = g->node[i][3];
    s->residual[i] -= s->product[i];
    g->node[i] = s->start[i];
    g->node[i][3] = mass;
  }
  double mean = (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / fmax(sum[3], 1e-30);
  return fmax(squares - mean, 1e-12 * squares);
}

bool mpm_solve(mpm* m, float dt) {
  mpm_grid* g = m->grid;
  mpm_solver* s = m->solver;
  if (!reserve(s, g->num_nodes)) return false;
  for (int32_t i = 0; i < m->count; ++i) {
    const mpm_particle* p = &m->particles[i];
    s->tangents[i] = tangent_of(p, &m->def.material, dt * dt * p->volume);
  }
  double scale = begin(m, dt), before = 0;
  double goal = (double)m->def.tolerance * (double)m->def.tolerance * scale;
  for (int32_t k = 0; k < MOST_ITERATIONS; ++k) {
    double norm = turn(m, before);
    if (!(norm > goal)) break;
    double bend = multiply(m, s->direction);
    if (!(bend > 0)) break;
    float length = (float)(norm / bend);
    for (int32_t i = 0; i < g->num_nodes; ++i) {
      float mass = g->node[i][3];
      g->node[i] += s->direction[i] * length;
      g->node[i][3] = mass;
      s->residual[i] -= s->product[i] * length;
    }
    before = norm;
    ++m->iterations;
  }
  return true;
}
