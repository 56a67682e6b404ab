// SPDX-License-Identifier: MIT
// Bending of elastic sheets and threads of single masters. Strain is that of masters, and these
// only turn where such a sheet bends, so nothing would resist. Here a plate of thickness d does:
// for neighbours a, b of master i that are opposite at rest, the energy is k/2 |x_a + x_b - 2
// x_i|^2 with k = E d / (12 (1 - nu^2)).
//
// B is its second derivative. The force of a step is implicit in itself, f = M dv / dt with
// (M + dt^2 B) dv = -dt B (x + dt v), and acts on masters as springs do: the solve of the slaves
// then needs to know nothing of it. No net force or torque: differences of differences.
#include <math.h>
#include <string.h>

#include "methods/plastic/phases.h"
#include "yawara/extend/memory.h"

#define MAX_ITERATIONS 60
#define TOLERANCE2 1e-6

struct plastic_bend {
  int32_t count;
  plastic_triple* triples;
  float* stiffness;                                  // N/m, per triple
  yw_vec4 *residual, *direction, *product, *change;  // per master
  float* diagonal;
};

void yw_plastic_bend_destroy(plastic_body* body) {
  struct plastic_bend* bend = body->bend;
  if (!bend) return;
  void* const arrays[] = {bend->triples, bend->stiffness, bend->residual, bend->direction,
                          bend->product, bend->change,    bend->diagonal};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(&body->mem, arrays[i]);
  yw_mem_free(&body->mem, bend);
  body->bend = NULL;
}

static float stiffness_of(const plastic_model* model, int32_t m) {
  const plastic_material_block* material = yw_plastic_material_of(model, m);
  float mu = material->mu[m % YW_LANES], lambda = material->lambda[m % YW_LANES];
  return model->spacing * mu * (lambda + mu) / (3.0f * (lambda + 2.0f * mu));
}

static bool reserve(struct plastic_bend* bend, const yw_allocator* mem, size_t n) {
  bend->stiffness = YW_NEW_ARRAY(mem, float, bend->count);
  bend->residual = YW_NEW_ARRAY(mem, yw_vec4, n);
  bend->direction = YW_NEW_ARRAY(mem, yw_vec4, n);
  bend->product = YW_NEW_ARRAY(mem, yw_vec4, n);
  bend->change = YW_NEW_ARRAY(mem, yw_vec4, n);
  bend->diagonal = YW_NEW_ARRAY(mem, float, n);
  return bend->stiffness && bend->residual && bend->direction && bend->product && bend->change &&
         bend->diagonal;
}

bool yw_plastic_bend_create(plastic_body* body) {
  const plastic_model* model = body->model;
  plastic_triple* triples = NULL;
  int32_t count = 0;
  if (!yw_plastic_list_triples(model, &body->mem, yw_plastic_is_elastic, &triples, &count)) {
    return false;
  }
  if (count == 0) return true;
  body->bend = YW_NEW(&body->mem, struct plastic_bend);
  if (!body->bend) {
    yw_mem_free(&body->mem, triples);
    return false;
  }
  body->bend->count = count;
  body->bend->triples = triples;
  if (!reserve(body->bend, &body->mem, (size_t)model->num_masters)) return false;
  for (int32_t i = 0; i < count; ++i) {
    body->bend->stiffness[i] = stiffness_of(model, triples[i].middle);
  }
  return true;
}

static bool is_whole(const plastic_body* body, const plastic_triple* t) {
  const int32_t* island = body->sleep.island;
  int32_t n = body->num_masters;
  return t->middle < n && t->a < n && t->b < n && body->is_linked[t->links[0]] &&
         body->is_linked[t->links[1]] && island[t->middle] < 0 && island[t->a] < 0 &&
         island[t->b] < 0;
}

static void add_to(yw_vec4* v, float s, yw_vec3 by) {
  v->x += s * by.x, v->y += s * by.y, v->z += s * by.z;
}

// out += scale B v
static void multiply(const plastic_body* body, const yw_vec4* v, float scale, yw_vec4* out) {
  const struct plastic_bend* bend = body->bend;
  float stiffer = scale * body->params.stiffness_scale;
  for (int32_t i = 0; i < bend->count; ++i) {
    const plastic_triple* t = &bend->triples[i];
    if (!is_whole(body, t)) continue;
    yw_vec3 ends = yw_add(yw_xyz(v[t->a]), yw_xyz(v[t->b]));
    yw_vec3 bent = yw_mad(ends, -2.0f, yw_xyz(v[t->middle]));
    float k = stiffer * bend->stiffness[i];
    add_to(&out[t->a], k, bent);
    add_to(&out[t->b], k, bent);
    add_to(&out[t->middle], -2.0f * k, bent);
  }
}

static double dot(const yw_vec4* a, const yw_vec4* b, const float* inverse, int32_t n) {
  double sum = 0.0;
  for (int32_t m = 0; m < n; ++m) {
    sum += (double)(yw_dot(yw_xyz(a[m]), yw_xyz(b[m])) * (inverse ? 1.0f / inverse[m] : 1.0f));
  }
  return sum;
}

// Conjugate gradients for change, from 0; residual holds the right side.
static void solve(const plastic_body* body, const yw_particles* particles) {
  const struct plastic_bend* bend = body->bend;
  int32_t n = body->num_masters;
  float dt2 = body->dt * body->dt;
  yw_vec4 *r = bend->residual, *p = bend->direction, *q = bend->product;
  memset(bend->change, 0, (size_t)n * sizeof *bend->change);
  for (int32_t m = 0; m < n; ++m) p[m] = yw_v4(yw_scale(yw_xyz(r[m]), 1.0f / bend->diagonal[m]));
  double rho = dot(r, r, bend->diagonal, n), first = rho;
  for (int i = 0; i < MAX_ITERATIONS && rho > TOLERANCE2 * first; ++i) {
    for (int32_t m = 0; m < n; ++m) q[m] = yw_v4(yw_scale(yw_xyz(p[m]), particles->mass[m]));
    multiply(body, p, dt2, q);
    float alpha = (float)(rho / dot(p, q, NULL, n));
    for (int32_t m = 0; m < n; ++m) {
      add_to(&bend->change[m], alpha, yw_xyz(p[m]));
      add_to(&r[m], -alpha, yw_xyz(q[m]));
    }
    double next = dot(r, r, bend->diagonal, n);
    float beta = (float)(next / rho);
    rho = next;
    for (int32_t m = 0; m < n; ++m) {
      yw_vec3 z = yw_scale(yw_xyz(r[m]), 1.0f / bend->diagonal[m]);
      p[m] = yw_v4(yw_mad(z, beta, yw_xyz(p[m])));
    }
  }
}

double yw_plastic_bending_energy(const plastic_body* body, const yw_particles* particles) {
  const struct plastic_bend* bend = body->bend;
  double sum = 0.0;
  for (int32_t i = 0; bend && i < bend->count; ++i) {
    const plastic_triple* t = &bend->triples[i];
    int32_t n = body->num_masters;
    if (t->middle >= n || t->a >= n || t->b >= n) continue;
    if (!body->is_linked[t->links[0]] || !body->is_linked[t->links[1]]) continue;
    yw_vec3 x = yw_xyz(particles->pos[t->middle]);
    yw_vec3 to_a = yw_sub(yw_xyz(particles->pos[t->a]), x);
    yw_vec3 bent = yw_add(to_a, yw_sub(yw_xyz(particles->pos[t->b]), x));
    sum += 0.5 * (double)(body->params.stiffness_scale * bend->stiffness[i] * yw_length2(bent));
  }
  return sum;
}

void yw_plastic_add_bending(plastic_body* body, const yw_particles* particles) {
  const struct plastic_bend* bend = body->bend;
  if (!bend) return;
  int32_t n = body->num_masters;
  float dt = body->dt, stiffer = dt * dt * body->params.stiffness_scale;
  if (n == 0) return;
  for (int32_t m = 0; m < n; ++m) {
    // Relative to the first master: places far from the origin lose no digits.
    yw_vec3 x = yw_sub(yw_xyz(particles->pos[m]), yw_xyz(particles->pos[0]));
    bend->direction[m] = yw_v4(yw_mad(x, dt, yw_xyz(particles->vel[m])));
    bend->residual[m] = (yw_vec4){0};
    bend->diagonal[m] = particles->mass[m];
  }
  multiply(body, bend->direction, -dt, bend->residual);
  for (int32_t i = 0; i < bend->count; ++i) {
    const plastic_triple* t = &bend->triples[i];
    float k = stiffer * bend->stiffness[i];
    if (!is_whole(body, t)) continue;
    bend->diagonal[t->a] += k, bend->diagonal[t->b] += k, bend->diagonal[t->middle] += 4.0f * k;
  }
  solve(body, particles);
  if (!body->is_pulled) memset(body->pull, 0, (size_t)n * sizeof *body->pull);
  body->is_pulled = true;
  for (int32_t m = 0; m < n; ++m) {
    add_to(&body->pull[m], particles->mass[m] / dt, yw_xyz(bend->change[m]));
  }
}
