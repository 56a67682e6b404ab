// SPDX-License-Identifier: MIT
// The family kernels against a plain loop in double precision; same bits for all instruction sets
// and threads.
#include "methods/fem/element.h"
#include "methods/fem/forces.h"
#include "methods/fem/transfer.h"
#include "support/fem_samples.h"
#include "yawara/extend/memory.h"

typedef struct rig {
  yw_tet_mesh mesh;
  fem_hierarchy h;
  fem_front front;
  fem_materials materials;
  fem_tables tables;
  fem_work work;
  fem_scratch scratch;
  float *stiffness, *damping;
  yw_vec4 *pos, *vel, *force;
  test_random random;
} rig;

// Symmetric positive definite: a random matrix times its transpose, plus a diagonal.
static void random_matrix(test_random* random, float scale, float out[FEM_MATRIX]) {
  double a[6][6];
  for (int i = 0; i < 36; ++i) a[i / 6][i % 6] = test_random_in(random, -1, 1);
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) {
      double sum = i == j ? 1.0 : 0.0;
      for (int k = 0; k < 6; ++k) sum += a[i][k] * a[j][k];
      out[yw_fem_matrix_at(i, j)] = (float)(scale * sum);
    }
  }
}

static void make_rig(rig* r, bool general, bool soften, double share, uint64_t seed) {
  *r = (rig){.random = {seed}};
  const int32_t cells[3] = {2, 2, 1};
  yw_aabb box = {{0, 0, 0}, {0.2f, 0.2f, 0.1f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &r->mesh), YW_OK);
  assert_int_equal(yw_fem_hierarchy_create(NULL, &r->mesh, 3, 0.0, &r->h, NULL), YW_OK);
  assert_true(yw_fem_front_create(NULL, &r->h, &r->front));
  size_t tets = (size_t)r->h.num_tets, nodes = (size_t)r->h.num_nodes;
  yw_fem_isotropic(3e5, 0.3, r->materials.uniform_stiffness);
  r->materials.damping_time = 0.002f;
  if (general) {
    r->stiffness = malloc(tets * FEM_MATRIX * sizeof(float));
    r->damping = malloc(tets * FEM_MATRIX * sizeof(float));
    for (size_t t = 0; t < tets; ++t) {
      random_matrix(&r->random, 1e5f, r->stiffness + t * FEM_MATRIX);
      random_matrix(&r->random, 1e2f, r->damping + t * FEM_MATRIX);
    }
    r->materials.stiffness = r->stiffness;
    r->materials.damping = r->damping;
  }
  split_at_random(&r->h, share, &r->random, &r->front);
  assert_true(yw_fem_tables_create(NULL, &r->h, &r->materials, YW_FEM_SOFTEN_FINEST, &r->tables));
  assert_true(yw_fem_work_create(NULL, &r->h, &r->tables, &r->work));
  assert_true(yw_fem_scratch_create(NULL, &r->work, &r->scratch));
  yw_fem_work_build(&r->work, &r->front, soften);
  r->pos = calloc(nodes, sizeof(yw_vec4));
  r->vel = calloc(nodes, sizeof(yw_vec4));
  r->force = calloc(nodes, sizeof(yw_vec4));
  for (size_t n = 0; n < nodes; ++n) {
    yw_dvec3 x = r->h.rest[n];
    float* p = &r->pos[n].x;
    p[0] = (float)(1.1 * x.x + 0.1 * x.y + 2.0 * x.x * x.z);
    p[1] = (float)(0.9 * x.y + 0.2 * x.z - x.y * x.x);
    p[2] = (float)(1.05 * x.z + 1.5 * x.x * x.x);
    for (int k = 0; k < 3; ++k) {
      p[k] += (float)test_random_in(&r->random, -1e-4, 1e-4);
      (&r->vel[n].x)[k] = (float)test_random_in(&r->random, -0.1, 0.1);
    }
  }
}

static void free_rig(rig* r) {
  free(r->stiffness), free(r->damping), free(r->pos), free(r->vel), free(r->force);
  yw_fem_scratch_free(NULL, &r->scratch);
  yw_fem_work_free(&r->work);
  yw_fem_tables_free(NULL, &r->tables);
  yw_fem_front_free(&r->front);
  yw_fem_hierarchy_free(&r->h);
  yw_tet_mesh_free(&r->mesh);
}

static int32_t run(rig* r, bool damped, yw_simd simd, yw_tasks* tasks) {
  const fem_forces_def def = {.work = &r->work,
                              .front = &r->front,
                              .materials = &r->materials,
                              .kernels = YW_KERNEL_PICK(yw_fem_kernels, yw_simd_resolve(simd)),
                              .tasks = tasks,
                              .pos = r->pos,
                              .vel = damped ? r->vel : NULL,
                              .scratch = &r->scratch,
                              .look_for_squeezed = true,
                              .force = r->force};
  return yw_fem_forces(&def);
}

typedef struct tet_strain {
  double F[3][3], E[6], rate[6];
} tet_strain;

// Deformation gradient, Green strain and its rate in textbook form.
static tet_strain strain_of(const rig* r, int32_t t) {
  const fem_hierarchy* h = &r->h;
  const fem_shape* shape = &h->shapes[h->root[t]][h->type[t]];
  tet_strain out = {.F = {{0}}};
  double s = yw_fem_gradient_scale(h, t), G[3][3] = {{0}};
  for (int a = 0; a < 4; ++a) {
    const float *x = &r->pos[h->nodes[t][a]].x, *v = &r->vel[h->nodes[t][a]].x;
    for (int i = 0; i < 9; ++i) {
      out.F[i / 3][i % 3] += (double)x[i / 3] * s * shape->gradient[a][i % 3];
      G[i / 3][i % 3] += (double)v[i / 3] * s * shape->gradient[a][i % 3];
    }
  }
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  for (int k = 0; k < 6; ++k) {
    double e = 0.0, rate = 0.0, half = k < 3 ? 0.5 : 1.0;
    for (int i = 0; i < 3; ++i) {
      e += out.F[i][row[k]] * out.F[i][column[k]];
      rate += out.F[i][row[k]] * G[i][column[k]] + G[i][row[k]] * out.F[i][column[k]];
    }
    out.E[k] = half * (e - (k < 3));
    out.rate[k] = half * rate;
  }
  return out;
}

// The lane of a tet's family in the lists of softened families, or -1.
static int32_t softened_family(const rig* r, int32_t t, int32_t* present) {
  int32_t parent = r->h.parent[t];
  if (!r->work.soften || parent < 0 || r->h.level[t] == r->h.max_level) return -1;
  const fem_batches* b = &r->work.kinds[FEM_OWN + r->h.type[parent]];
  for (int32_t i = 0; i < b->count; ++i) {
    if (b->owner[i] == parent) return *present = b->present[i], i;
  }
  return -1;
}

// K (mean - own strain), including damping, for a child of a softened family.
static void add_softening(const rig* r, int32_t t, double lag, double S[6]) {
  int32_t parent = r->h.parent[t], present = 0;
  if (softened_family(r, t, &present) < 0) return;
  double mean[6] = {0}, volume = 0.0;
  for (int32_t c = 0; c < yw_fem_children_of(&r->h, parent); ++c) {
    if (!(present >> c & 1)) continue;
    int32_t child = r->h.first_child[parent] + c;
    tet_strain s = strain_of(r, child);
    double own = yw_fem_volume(&r->h, child);
    for (int i = 0; i < 6; ++i) mean[i] += own * (s.E[i] + lag * s.rate[i]);
    volume += own;
  }
  tet_strain s = strain_of(r, t);
  const float* part = yw_fem_soft_part(&r->tables.softening, parent);
  for (int i = 0; i < 36; ++i) {
    int j = i % 6;
    S[i / 6] +=
        (double)part[yw_fem_matrix_at(i / 6, j)] * (mean[j] / volume - s.E[j] - lag * s.rate[j]);
  }
}

// F S and damping, tet by tet in double.
static void reference(const rig* r, bool damped, yw_dvec3* force) {
  const fem_hierarchy* h = &r->h;
  memset(force, 0, sizeof *force * (size_t)h->num_nodes);
  for (int32_t t = 0; t < h->num_tets; ++t) {
    if (!yw_fem_in_front(&r->front, t)) continue;
    const fem_shape* shape = &h->shapes[h->root[t]][h->type[t]];
    tet_strain e = strain_of(r, t);
    double s = yw_fem_gradient_scale(h, t), S[6] = {0};
    const float* c =
        r->stiffness ? r->stiffness + (size_t)t * FEM_MATRIX : r->materials.uniform_stiffness;
    const float* d = r->damping ? r->damping + (size_t)t * FEM_MATRIX : c;
    double lag = r->damping ? 1.0 : (double)r->materials.damping_time;
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) {
        S[i] += (double)c[yw_fem_matrix_at(i, j)] * e.E[j];
        if (damped) S[i] += (double)d[yw_fem_matrix_at(i, j)] * lag * e.rate[j];
      }
    }
    add_softening(r, t, damped && !r->damping ? lag : 0.0, S);
    const double full[3][3] = {{S[0], S[5], S[4]}, {S[5], S[1], S[3]}, {S[4], S[3], S[2]}};
    for (int a = 0; a < 4; ++a) {
      double out[3] = {0};
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          double p = e.F[i][0] * full[0][j] + e.F[i][1] * full[1][j] + e.F[i][2] * full[2][j];
          out[i] -= yw_fem_volume(h, t) * p * s * shape->gradient[a][j];
        }
      }
      yw_dvec3* to = &force[h->nodes[t][a]];
      *to = yw_dadd(*to, (yw_dvec3){out[0], out[1], out[2]});
    }
  }
}

static void compare(bool general, bool damped, bool soften, double share) {
  rig r;
  make_rig(&r, general, soften, share, 5);
  yw_dvec3* expected = malloc(sizeof *expected * (size_t)r.h.num_nodes);
  reference(&r, damped, expected);
  assert_int_equal(run(&r, damped, YW_SIMD_AUTO, NULL), 0);
  double worst = 0.0, largest = 0.0;
  for (int32_t i = 0; i < r.front.num_active; ++i) {
    int32_t n = r.front.active[i];
    yw_dvec3 got = yw_d3(yw_xyz(r.force[n]));
    worst = fmax(worst, yw_dlength(yw_dsub(got, expected[n])));
    largest = fmax(largest, yw_dlength(expected[n]));
  }
  if (worst > 1e-5 * largest)
    print_error("general %d damped %d share %g\n", general, damped, share);
  assert_at_most(worst / largest, 1e-5);
  free(expected);
  free_rig(&r);
}

static void kernels_equal_the_plain_loop(void** state) {
  (void)state;
  for (int k = 0; k < 8; ++k) {
    compare(k & 1, k & 2, k & 4, 0.5);
    compare(k & 1, k & 2, k & 4, 0.9);
  }
  compare(false, false, true, 1.0);
  compare(false, false, true, 0.0);
}

// The comparison above includes softened families.
static void softening_is_part_of_the_forces(void** state) {
  (void)state;
  rig r, plain;
  make_rig(&r, false, true, 0.5, 5);
  make_rig(&plain, false, false, 0.5, 5);
  run(&r, false, YW_SIMD_AUTO, NULL);
  run(&plain, false, YW_SIMD_AUTO, NULL);
  double apart = 0.0, largest = 0.0;
  for (int32_t n = 0; n < r.h.num_nodes; ++n) {
    yw_dvec3 f = yw_d3(yw_xyz(plain.force[n]));
    apart = fmax(apart, yw_dlength(yw_dsub(yw_d3(yw_xyz(r.force[n])), f)));
    largest = fmax(largest, yw_dlength(f));
  }
  assert_at_least(apart / largest, 0.02);
  free_rig(&r);
  free_rig(&plain);
}

// An affine map: no force on nodes inside, softened or not.
static void uniform_strain_is_not_softened(void** state) {
  (void)state;
  rig r;
  make_rig(&r, false, true, 0.5, 5);
  for (int32_t n = 0; n < r.h.num_nodes; ++n) {
    yw_dvec3 x = r.h.rest[n];
    r.pos[n] = (yw_vec4){(float)(1.1 * x.x + 0.1 * x.y), (float)(0.9 * x.y + 0.2 * x.z),
                         (float)(1.05 * x.z - 0.1 * x.x), 0.0f};
  }
  run(&r, false, YW_SIMD_AUTO, NULL);
  yw_fem_carry_forces(&r.front, r.force);
  double inside = 0.0, largest = 0.0;
  for (int32_t i = 0; i < r.front.num_active; ++i) {
    int32_t n = r.front.active[i];
    yw_dvec3 x = r.h.rest[n];
    double f = yw_dlength(yw_d3(yw_xyz(r.force[n])));
    largest = fmax(largest, f);
    bool outside = x.x < 1e-6 || x.x > 0.2 - 1e-6 || x.y < 1e-6 || x.y > 0.2 - 1e-6 || x.z < 1e-6 ||
                   x.z > 0.1 - 1e-6;
    if (!outside) inside = fmax(inside, f);
  }
  assert_at_most(inside / largest, 1e-5);
  free_rig(&r);
}

static void same_bits_over_simd_and_threads(void** state) {
  (void)state;
  rig r;
  make_rig(&r, true, true, 0.6, 8);
  // Some inverted tets, so that recovery is active.
  for (int32_t n = 5; n < r.h.num_nodes; n += 97) r.pos[n].x -= 0.03f;
  size_t bytes = sizeof(yw_vec4) * (size_t)r.h.num_nodes;
  yw_vec4* first = malloc(bytes);
  int32_t squeezed = run(&r, true, YW_SIMD_PLAIN, NULL);
  assert_true(squeezed > 0);
  memcpy(first, r.force, bytes);
  static const yw_simd levels[3] = {YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};
  for (int k = 0; k < 3; ++k) {
    for (int threads = 1; threads <= 3; ++threads) {
      yw_tasks* tasks = yw_tasks_create(NULL, threads);
      memset(r.force, 0, bytes);
      assert_int_equal(run(&r, true, levels[k], tasks), squeezed);
      assert_memory_equal(first, r.force, bytes);
      yw_tasks_destroy(tasks);
    }
  }
  free(first);
  free_rig(&r);
}

// The forces of a body sum to zero, recovery included.
static void forces_add_up_to_zero(void** state) {
  (void)state;
  rig r;
  make_rig(&r, false, true, 0.6, 12);
  for (int32_t n = 5; n < r.h.num_nodes; n += 97) r.pos[n].x -= 0.03f;
  run(&r, true, YW_SIMD_AUTO, NULL);
  double sum[3] = {0}, size = 0.0;
  for (int32_t i = 0; i < r.front.num_active; ++i) {
    yw_vec4 f = r.force[r.front.active[i]];
    sum[0] += (double)f.x, sum[1] += (double)f.y, sum[2] += (double)f.z;
    size += fabs((double)f.x);
  }
  for (int k = 0; k < 3; ++k) assert_at_most(fabs(sum[k]) / size, 1e-6);
  free_rig(&r);
}

static void random_front(rig* r, double share) {
  yw_fem_front_reset(&r->front);
  split_at_random(&r->h, share, &r->random, &r->front);
}

// Lists updated incrementally equal those of a body created with the same front: forces have the
// same bits.
static void lists_depend_on_the_front_alone(void** state) {
  (void)state;
  static const double shares[8] = {0.6, 0.6, 0.0, 0.8, 0.3, 1.0, 0.9, 0.5};
  for (int general = 0; general < 2; ++general) {
    rig r;
    make_rig(&r, general, true, 0.5, 21);
    size_t bytes = sizeof(yw_vec4) * (size_t)r.h.num_nodes;
    yw_vec4* used = malloc(bytes);
    for (int k = 0; k < 16; ++k) {
      // Twice per front: softened, and with softening switched.
      bool soften = (k & 1) == (k >> 2 & 1);
      if (k % 2 == 0) random_front(&r, shares[k / 2]);
      yw_fem_work_build(&r.work, &r.front, soften);
      memset(r.force, 0, bytes);
      run(&r, false, YW_SIMD_AUTO, NULL);
      memcpy(used, r.force, bytes);

      fem_work again = r.work, fresh;
      assert_true(yw_fem_work_create(NULL, &r.h, &r.tables, &fresh));
      yw_fem_work_build(&fresh, &r.front, soften);
      r.work = fresh;
      memset(r.force, 0, bytes);
      run(&r, false, YW_SIMD_AUTO, NULL);
      assert_memory_equal(used, r.force, bytes);
      r.work = again;
      yw_fem_work_free(&fresh);
    }
    free(used);
    free_rig(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_equal_the_plain_loop),
      cmocka_unit_test(softening_is_part_of_the_forces),
      cmocka_unit_test(uniform_strain_is_not_softened),
      cmocka_unit_test(same_bits_over_simd_and_threads),
      cmocka_unit_test(forces_add_up_to_zero),
      cmocka_unit_test(lists_depend_on_the_front_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
