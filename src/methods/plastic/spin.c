// SPDX-License-Identifier: MIT
// Angular momentum. Masters also have a rotation of their own, in C: that of the slaves around
// them, whose second moments about a master on the lattice are MOMENT d^2. Impulses of other bodies
// turn masters around the body only; the next steps share that out between both. What such a step
// loses of the sum (where slaves no longer lie as on the lattice, and since masters are moved
// before the new rotation is known) is given back as a rigid motion of all parts and pieces, and so
// are later losses until something outside holds the body.
#include <math.h>
#include <string.h>

#include "math/small/exact_sum.h"
#include "math/small/mat3d.h"
#include "methods/plastic/offload.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/plastic.h"
#include "methods/plastic/ranks.h"

// Sum of N r r^T over the slaves at (+-1, +-1, +-1) d / 2 and (+-3, +-1, +-1) d / 2.
#define MOMENT 0.301
// Differences below this share of what the body has are rounding.
#define ROUNDING 1e-7

// Twice the axis of C, 1/s.
static void turning_of(const plastic_body* body, int32_t m, double out[3]) {
  const plastic_state_block* state = &body->state[m / YW_LANES];
  int32_t l = m % YW_LANES;
  out[0] = (double)state->c[7][l] - (double)state->c[5][l];
  out[1] = (double)state->c[2][l] - (double)state->c[6][l];
  out[2] = (double)state->c[3][l] - (double)state->c[1][l];
}

static double moment_of(const plastic_body* body) {
  return MOMENT * (double)body->model->spacing * (double)body->model->spacing;
}

// Sums over the masters of all ranks
// ---------------------------------------------------------------

enum { MOST_SUMS = 11 };

typedef struct master_sums {
  const plastic_body* body;
  const yw_particles* here;
  const double *center, *velocity;  // of the body, for terms about it
} master_sums;

/// Adds what a master contributes.
typedef void (*master_terms)(const master_sums* s, int32_t m, double* out);

// Those of a chunk in their order, chunks exactly: the same for any number of ranks (sums.c).
static void sum_up(const master_sums* s, master_terms terms, int32_t count, double* out) {
  const plastic_body* body = s->body;
  yw_exact_sum sums[MOST_SUMS] = {0};
  for (int32_t first = 0; first < body->num_masters; first += PLASTIC_CHUNK) {
    double own[MOST_SUMS] = {0};
    int32_t end =
        first + PLASTIC_CHUNK < body->num_masters ? first + PLASTIC_CHUNK : body->num_masters;
    for (int32_t m = first; m < end; ++m) terms(s, m, own);
    for (int32_t k = 0; k < count; ++k) yw_exact_add(&sums[k], own[k]);
  }
  if (body->ranks) {
    int32_t numbers = count * (int32_t)(sizeof *sums / sizeof(int64_t));
    yw_ranks_sum(body->ranks->comm, (int64_t*)sums, numbers);
  }
  for (int32_t k = 0; k < count; ++k) out[k] = yw_exact_value(&sums[k]);
}

static void turning_terms(const master_sums* s, int32_t m, double* out) {
  double turning[3], moment = moment_of(s->body) * (double)s->here->mass[m];
  turning_of(s->body, m, turning);
  for (int k = 0; k < 3; ++k) out[k] += moment * turning[k];
}

void yw_plastic_own_spin(const void* state, const yw_particles* particles, double out[3]) {
  const plastic_body* body = state;
  memset(out, 0, 3 * sizeof *out);
  if (body->drag || body->twin || yw_plastic_bring_rest(body) < 0) return;
  yw_particles here = yw_plastic_masters_here(body, particles);
  sum_up(&(master_sums){.body = body, .here = &here}, turning_terms, 3, out);
}

typedef struct motion {
  double mass, center[3], velocity[3], angular[3], inertia[6];
  double size;  // sum of mass times speed and distance from the centre
} motion;

static void place_terms(const master_sums* s, int32_t m, double* out) {
  const float *x = &s->here->pos[m].x, *v = &s->here->vel[m].x;
  double mass = (double)s->here->mass[m];
  out[0] += mass;
  for (int k = 0; k < 3; ++k) {
    out[1 + k] += mass * (double)x[k];
    out[4 + k] += mass * (double)v[k];
  }
}

// Angular momentum, inertia (xx yy zz xy xz yz), and for their size mass r^2 and mass v^2.
static void turn_terms(const master_sums* s, int32_t m, double* out) {
  const float *x = &s->here->pos[m].x, *v = &s->here->vel[m].x;
  double moment = moment_of(s->body), mass = (double)s->here->mass[m], r[3], u[3], around[3],
         own[3];
  for (int k = 0; k < 3; ++k) {
    r[k] = (double)x[k] - s->center[k];
    u[k] = (double)v[k] - s->velocity[k];
    out[10] += mass * (double)v[k] * (double)v[k];
  }
  yw_cross3(r, u, around);
  turning_of(s->body, m, own);
  for (int k = 0; k < 3; ++k) {
    out[k] += mass * (around[k] + moment * own[k]);
    out[3 + k] += mass * (yw_dot3(r, r) - r[k] * r[k] + 2.0 * moment);
  }
  out[6] -= mass * r[0] * r[1];
  out[7] -= mass * r[0] * r[2];
  out[8] -= mass * r[1] * r[2];
  out[9] += mass * yw_dot3(r, r);
}

static motion motion_of(const plastic_body* body, const yw_particles* here) {
  motion out;
  double places[7], turns[MOST_SUMS];
  master_sums s = {.body = body, .here = here, .center = out.center, .velocity = out.velocity};
  sum_up(&s, place_terms, 7, places);
  out.mass = places[0];
  for (int k = 0; k < 3; ++k) {
    out.center[k] = places[1 + k] / out.mass;
    out.velocity[k] = places[4 + k] / out.mass;
  }
  sum_up(&s, turn_terms, MOST_SUMS, turns);
  memcpy(out.angular, turns, sizeof out.angular);
  memcpy(out.inertia, turns + 3, sizeof out.inertia);
  out.size = sqrt(turns[9] * turns[10]);
  return out;
}

// Nothing that it may reach in this substep holds or stops it.
static bool is_free(const plastic_body* body, const yw_particles* here, const yw_step_ctx* ctx) {
  if (ctx->num_holds + ctx->num_springs > 0) return false;
  if (!ctx->obstacles) return true;
  yw_aabb box = yw_aabb_empty();
  float way = ctx->h * ctx->h * yw_length(ctx->gravity), d = body->model->spacing;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    yw_vec3 x = yw_xyz(here->pos[m]);
    box = yw_aabb_grow(box, x);
    box = yw_aabb_grow(box, yw_mad(x, ctx->h, yw_xyz(here->vel[m])));
  }
  if (body->ranks) box = yw_plastic_join_boxes(body, box);
  return ctx->is_clear && ctx->is_clear(ctx, yw_aabb_pad(box, way + 3.0f * d));
}

void yw_plastic_note_spin(plastic_body* body, const yw_particles* particles,
                          const yw_step_ctx* ctx) {
  body->keeps_spin = (body->is_pushed || body->was_pushed) && !body->drag && !body->twin &&
                     body->sleep.num_asleep == 0 && is_free(body, particles, ctx);
  body->was_pushed = body->keeps_spin;
  if (!body->keeps_spin) return;
  motion before = motion_of(body, particles);
  memcpy(body->spin_before, before.angular, sizeof body->spin_before);
}

void yw_plastic_restore_spin(plastic_body* body, yw_particles* particles) {
  if (!body->keeps_spin) return;
  motion now = motion_of(body, particles);
  double lost[3], inverse[6], spin[3], arm[3], change[3];
  for (int k = 0; k < 3; ++k) lost[k] = body->spin_before[k] - now.angular[k];
  if (!(sqrt(yw_dot3(lost, lost)) > ROUNDING * now.size)) return;
  yw_sym_invert(now.inertia, inverse);
  yw_sym_apply(inverse, lost, spin);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    float *x = &particles->pos[m].x, *v = &particles->vel[m].x;
    plastic_state_block* state = &body->state[m / YW_LANES];
    int32_t l = m % YW_LANES;
    for (int k = 0; k < 3; ++k) arm[k] = (double)x[k] - now.center[k];
    yw_cross3(spin, arm, change);
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      v[k] = (float)((double)v[k] + change[k]);
      state->c[3 * b + a][l] += (float)spin[k];
      state->c[3 * a + b][l] -= (float)spin[k];
    }
  }
}
