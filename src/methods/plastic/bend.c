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

// Of opposite directions: cosine of the angle between them at most.
#define OPPOSITE (-0.9f)
// Determinant of sum X X^T over links, in units of d^6, below which masters are in a sheet: there
// it is 0, at a corner of a solid 1.
#define MOST_SPAN 0.3f
#define MAX_ITERATIONS 60
#define TOLERANCE2 1e-6

typedef struct bend_triple {
  int32_t middle, a, b;  // masters
  int32_t links[2];
  float stiffness;  // N/m
} bend_triple;

struct plastic_bend {
  int32_t count;
  bend_triple* triples;
  yw_vec4 *residual, *direction, *product, *change;  // per master
  float* diagonal;
};

void yw_plastic_bend_destroy(plastic_body* body) {
  struct plastic_bend* bend = body->bend;
  if (!bend) return;
  void* const arrays[] = {bend->triples, bend->residual, bend->direction,
                          bend->product, bend->change,   bend->diagonal};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(&body->mem, arrays[i]);
  yw_mem_free(&body->mem, bend);
  body->bend = NULL;
}

// Links of one master while triples are listed.
typedef struct bend_star {
  int32_t count;
  int32_t links[26], others[26];
} bend_star;

static void add_link(bend_star* star, int32_t link, int32_t other) {
  if (star->count == 26) return;
  star->links[star->count] = link;
  star->others[star->count++] = other;
}

static yw_vec3 way_to(const plastic_model* model, int32_t m, int32_t other) {
  return yw_sub(model->masters[other], model->masters[m]);
}

static bool is_flat(const plastic_model* model, int32_t m, const bend_star* star) {
  yw_mat3 sum = {0};
  float inv = 1.0f / model->spacing;
  for (int32_t i = 0; i < star->count; ++i) {
    yw_vec3 x = yw_scale(way_to(model, m, star->others[i]), inv);
    yw_mat3 one = {yw_scale(x, x.x), yw_scale(x, x.y), yw_scale(x, x.z)};
    sum = yw_mat3_add(sum, one);
  }
  return yw_mat3_det(sum) < MOST_SPAN;
}

static float stiffness_of(const plastic_model* model, int32_t m) {
  const plastic_material_block* material = yw_plastic_material_of(model, m);
  float mu = material->mu[m % YW_LANES], lambda = material->lambda[m % YW_LANES];
  return model->spacing * mu * (lambda + mu) / (3.0f * (lambda + 2.0f * mu));
}

// Appends the triples around master m, or counts them.
static int32_t list_triples(const plastic_model* model, int32_t m, const bend_star* star,
                            bend_triple* out) {
  int32_t count = 0;
  if (!yw_plastic_is_elastic(model, m) || !is_flat(model, m, star)) return 0;
  for (int32_t i = 0; i < star->count; ++i) {
    for (int32_t j = i + 1; j < star->count; ++j) {
      int32_t a = star->others[i], b = star->others[j];
      yw_vec3 x = way_to(model, m, a), y = way_to(model, m, b);
      if (yw_dot(x, y) > OPPOSITE * yw_length(x) * yw_length(y)) continue;
      if (out) {
        out[count] =
            (bend_triple){m, a, b, {star->links[i], star->links[j]}, stiffness_of(model, m)};
      }
      ++count;
    }
  }
  return count;
}

static bool reserve(struct plastic_bend* bend, const yw_allocator* mem, size_t n) {
  bend->triples = YW_NEW_ARRAY(mem, bend_triple, bend->count);
  bend->residual = YW_NEW_ARRAY(mem, yw_vec4, n);
  bend->direction = YW_NEW_ARRAY(mem, yw_vec4, n);
  bend->product = YW_NEW_ARRAY(mem, yw_vec4, n);
  bend->change = YW_NEW_ARRAY(mem, yw_vec4, n);
  bend->diagonal = YW_NEW_ARRAY(mem, float, n);
  return bend->triples && bend->residual && bend->direction && bend->product && bend->change &&
         bend->diagonal;
}

bool yw_plastic_bend_create(plastic_body* body) {
  const plastic_model* model = body->model;
  int32_t n = model->num_masters, count = 0;
  if (model->paper || model->without_slaves) return true;
  bend_star* stars = YW_NEW_ARRAY(&body->mem, bend_star, n);
  if (!stars) return false;
  for (int32_t b = 0, link = 0; b < n; ++b) {
    const int32_t* way;
    int32_t links = yw_plastic_links_of(model, b, &way);
    for (int32_t i = 0; i < links; ++i, ++link) {
      add_link(&stars[b + way[i]], link, b);
      add_link(&stars[b], link, b + way[i]);
    }
  }
  for (int32_t m = 0; m < n; ++m) count += list_triples(model, m, &stars[m], NULL);
  bool good = true;
  if (count > 0) {
    body->bend = YW_NEW(&body->mem, struct plastic_bend);
    if (body->bend) body->bend->count = count;
    good = body->bend && reserve(body->bend, &body->mem, (size_t)n);
  }
  for (int32_t m = 0, at = 0; good && count > 0 && m < n; ++m) {
    at += list_triples(model, m, &stars[m], body->bend->triples + at);
  }
  yw_mem_free(&body->mem, stars);
  return good;
}

static bool is_whole(const plastic_body* body, const bend_triple* t) {
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
    const bend_triple* t = &bend->triples[i];
    if (!is_whole(body, t)) continue;
    yw_vec3 ends = yw_add(yw_xyz(v[t->a]), yw_xyz(v[t->b]));
    yw_vec3 bent = yw_mad(ends, -2.0f, yw_xyz(v[t->middle]));
    float k = stiffer * t->stiffness;
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
    const bend_triple* t = &bend->triples[i];
    int32_t n = body->num_masters;
    if (t->middle >= n || t->a >= n || t->b >= n) continue;
    if (!body->is_linked[t->links[0]] || !body->is_linked[t->links[1]]) continue;
    yw_vec3 x = yw_xyz(particles->pos[t->middle]);
    yw_vec3 to_a = yw_sub(yw_xyz(particles->pos[t->a]), x);
    yw_vec3 bent = yw_add(to_a, yw_sub(yw_xyz(particles->pos[t->b]), x));
    sum += 0.5 * (double)(body->params.stiffness_scale * t->stiffness * yw_length2(bent));
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
    const bend_triple* t = &bend->triples[i];
    float k = stiffer * t->stiffness;
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
