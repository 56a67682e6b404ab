// SPDX-License-Identifier: MIT
// Laws for the answers of bodies to impulses, whatever the method.
#ifndef YW_TESTS_SUPPORT_RESPONDING_H
#define YW_TESTS_SUPPORT_RESPONDING_H

#include "support/testing.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/method.h"

/// A body driven through the method table. `exactly` is its answer with a tight tolerance.
typedef struct responding {
  const yw_method* method;
  void* state;
  yw_particles* particles;
  yw_step_ctx* ctx;
  yw_status (*exactly)(void* state, const yw_particles* particles, const yw_step_ctx* ctx,
                       const yw_vec4* impulses, yw_vec4* change);
} responding;

static inline yw_vec4* new_vectors(const responding* r) {
  return calloc((size_t)r->particles->capacity, sizeof(yw_vec4));
}

static inline yw_vec3 random_direction(test_random* random) {
  float x = (float)test_random_in(random, -1, 1);
  float y = (float)test_random_in(random, -1, 1);
  float z = (float)test_random_in(random, -1, 1);
  return yw_v3(x, y, z);
}

static inline double dot_vectors(const yw_vec4* a, const yw_vec4* b, int32_t count) {
  double sum = 0;
  for (int32_t i = 0; i < count; ++i) sum += a[i].x * b[i].x + a[i].y * b[i].y + a[i].z * b[i].z;
  return sum;
}

static inline double distance_vectors(const yw_vec4* a, const yw_vec4* b, int32_t count) {
  double sum = 0;
  for (int32_t i = 0; i < count; ++i) {
    sum += pow(a[i].x - b[i].x, 2) + pow(a[i].y - b[i].y, 2) + pow(a[i].z - b[i].z, 2);
  }
  return sqrt(sum);
}

/// a . R b = b . R a, a . R a > 0, and R (a + 3 b) = R a + 3 R b.
static inline void check_symmetry(const responding* r, double tolerance) {
  yw_vec4 *a = new_vectors(r), *b = new_vectors(r), *ra = new_vectors(r), *rb = new_vectors(r);
  yw_vec4 *both = new_vectors(r), *rboth = new_vectors(r);
  int32_t count = r->particles->count;
  test_random random = {3};
  for (int32_t i = 0; i < count; ++i) {
    a[i] = yw_v4(random_direction(&random));
    // One body of impulses everywhere, one of few.
    if (i % 7 == 2) b[i] = yw_v4(random_direction(&random));
    both[i] = yw_mad4(a[i], 3.0f, b[i]);
  }
  assert_int_equal(r->exactly(r->state, r->particles, r->ctx, a, ra), YW_OK);
  assert_int_equal(r->exactly(r->state, r->particles, r->ctx, b, rb), YW_OK);
  assert_int_equal(r->exactly(r->state, r->particles, r->ctx, both, rboth), YW_OK);
  double aa = dot_vectors(a, ra, count), bb = dot_vectors(b, rb, count);
  assert_true(aa > 0 && bb > 0);
  assert_near(dot_vectors(a, rb, count), dot_vectors(b, ra, count), tolerance * sqrt(aa * bb));
  for (int32_t i = 0; i < count; ++i) ra[i] = yw_mad4(ra[i], 3.0f, rb[i]);
  assert_at_most(distance_vectors(ra, rboth, count),
                 tolerance * sqrt(dot_vectors(rboth, rboth, count)));
  free(a), free(b), free(ra), free(rb), free(both), free(rboth);
}

/// Momenta of the changes against those of the impulses, as shares; few particles are pushed.
static inline void check_answered_momentum(const responding* r, double linear, double angular) {
  yw_vec4 *j = new_vectors(r), *change = new_vectors(r);
  test_random random = {5};
  const yw_particles* p = r->particles;
  double push = 0, turn = 0, off[3] = {0}, spin[3] = {0};
  for (int32_t i = 0; i < p->count; i += 11) j[i] = yw_v4(random_direction(&random));
  assert_int_equal(r->method->respond(r->state, p, r->ctx, j, change), YW_OK);
  for (int32_t i = 0; i < p->count; ++i) {
    const float *x = &p->pos[i].x, *v = &change[i].x, *f = &j[i].x;
    double left[3], arm = 0, size = 0;
    for (int k = 0; k < 3; ++k) {
      left[k] = (double)p->mass[i] * v[k] - f[k];
      off[k] += left[k];
      arm += pow((double)x[k] - p->pos[0].x, 2), size += (double)f[k] * f[k];
    }
    push += sqrt(size), turn += sqrt(size * arm);
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      spin[k] += (double)x[a] * left[b] - (double)x[b] * left[a];
    }
  }
  assert_at_most(sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]), linear * push);
  assert_at_most(sqrt(spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2]), angular * turn);
  free(j), free(change);
}

/// Twins, of which one answers: what they save and their next step are the same, bit for bit.
static inline void check_answer_leaves_no_trace(const responding* r, const responding* twin) {
  yw_vec4 *j = new_vectors(r), *change = new_vectors(r);
  const responding* both[2] = {r, twin};
  size_t bytes = (size_t)r->particles->count * sizeof *j;
  j[r->particles->count / 2] = (yw_vec4){1, 2, -3, 0};
  assert_int_equal(r->method->respond(r->state, r->particles, r->ctx, j, change), YW_OK);
  for (int step = 0; step < 2; ++step) {
    yw_writer saved[2];
    for (int k = 0; k < 2; ++k) {
      saved[k] = (yw_writer){.hashing = true, .hash = YW_HASH_SEED};
      both[k]->method->save(both[k]->state, &saved[k]);
    }
    assert_true(saved[0].hash == saved[1].hash);
    assert_memory_equal(r->particles->pos, twin->particles->pos, bytes);
    assert_memory_equal(r->particles->vel, twin->particles->vel, bytes);
    for (int k = 0; k < 2 && step == 0; ++k) {
      assert_true(both[k]->method->advance(both[k]->state, both[k]->particles, both[k]->ctx) >= 0);
    }
  }
  free(j), free(change);
}

/// Twins pulled apart by a force on one particle each way, through soft springs that are long: half
/// the difference of their velocities is the answer to `push` times the force, up to a share of it.
/// Each twin's own springs are replaced; the answer is that of the free body.
static inline void check_answer_is_that_of_forces(const responding* r, const responding* twin,
                                                  int32_t particle, yw_vec3 force, double push,
                                                  double tolerance) {
  const float stiffness = 1e-3f;
  const responding* both[2] = {r, twin};
  yw_vec4 *j = new_vectors(r), *change = new_vectors(r), *found = new_vectors(r);
  for (int k = 0; k < 2; ++k) {
    yw_vec3 way = yw_scale(force, (k == 0 ? 1.0f : -1.0f) / stiffness);
    yw_vec3 end = yw_add(yw_xyz(r->particles->pos[particle]), way);
    yw_spring spring = {.particle = particle, .stiffness = stiffness, .begin = end, .end = end};
    yw_step_ctx ctx = *both[k]->ctx;
    ctx.springs = &spring;
    ctx.num_springs = 1;
    assert_true(both[k]->method->advance(both[k]->state, both[k]->particles, &ctx) >= 0);
  }
  for (int32_t i = 0; i < r->particles->count; ++i) {
    found[i] = yw_mad4(r->particles->vel[i], -1.0f, twin->particles->vel[i]);
    found[i] = yw_mad4((yw_vec4){0}, 0.5f, found[i]);
  }
  j[particle] = yw_v4(yw_scale(force, (float)push));
  assert_int_equal(r->method->respond(r->state, r->particles, r->ctx, j, change), YW_OK);
  double size = sqrt(dot_vectors(found, found, r->particles->count));
  double error = distance_vectors(found, change, r->particles->count);
  print_message("answer %.5g m/s, forces in a step %.5g, apart %.2g %%\n",
                (double)yw_length(yw_xyz(change[particle])),
                (double)yw_length(yw_xyz(found[particle])), 100 * error / size);
  assert_at_most(error, tolerance * size);
  free(j), free(change), free(found);
}

/// Speed of particle p along n if the whole body were rigid, for an impulse of 1 N s there.
static inline double rigid_speed(const yw_particles* p, int32_t at, yw_vec3 n, double* center) {
  double mass = 0, c[3] = {0}, inertia[9] = {0}, l[3], r[3];
  for (int32_t i = 0; i < p->count; ++i) {
    mass += p->mass[i];
    for (int k = 0; k < 3; ++k) c[k] += (double)p->mass[i] * (&p->pos[i].x)[k];
  }
  for (int k = 0; k < 3; ++k) c[k] /= mass;
  for (int32_t i = 0; i < p->count; ++i) {
    for (int k = 0; k < 3; ++k) r[k] = (&p->pos[i].x)[k] - c[k];
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        inertia[3 * a + b] += (double)p->mass[i] * ((a == b ? square : 0) - r[a] * r[b]);
      }
    }
  }
  for (int k = 0; k < 3; ++k) r[k] = (&p->pos[at].x)[k] - c[k];
  const float* d = &n.x;
  for (int k = 0; k < 3; ++k)
    l[k] = r[(k + 1) % 3] * d[(k + 2) % 3] - r[(k + 2) % 3] * d[(k + 1) % 3];
  // Cramer's rule.
  double det = 0, turned = 0;
  for (int a = 0; a < 3; ++a) {
    int e = (a + 1) % 3, f = (a + 2) % 3;
    for (int b = 0; b < 3; ++b) {
      int g = (b + 1) % 3, h = (b + 2) % 3;
      double minor =
          inertia[3 * e + g] * inertia[3 * f + h] - inertia[3 * e + h] * inertia[3 * f + g];
      if (a == 0) det += inertia[b] * minor;
      turned += l[a] * minor * l[b];
    }
  }
  *center = 1.0 / mass;
  return 1.0 / mass + turned / det;
}

#endif
