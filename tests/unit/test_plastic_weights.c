// SPDX-License-Identifier: MIT
// Positions of slaves, exactness of weights on affine fields, forces and their tangent against
// finite differences.
#include "support/plastic_testing.h"
#include "yawara/plastic.h"

// Counts ------------------------------------------------------------------------------------------

static void assert_rows(const plastic_lab* lab, int32_t expected) {
  const plastic_body* body = lab->body;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    assert_int_equal(body->row_start[m + 1] - body->row_start[m], expected);
  }
}

// Masters, slaves and links of a shape at rest; slaves that each master sees, 0: any number.
static void assert_counts(yw_shape* shape, float d, bool sheet, float reach, const int32_t want[3],
                          int32_t row) {
  plastic_lab lab;
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = shape;
  part.sheet = sheet;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = &part;
  def.num_parts = 1;
  lab_begin_reach(&lab, &def, NULL, reach);
  assert_int_equal(lab.body->num_masters, want[0]);
  assert_int_equal(lab.body->num_slaves, want[1]);
  assert_int_equal(lab.model->num_links, want[2]);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  assert_int_equal(lab.body->num_slaves, want[1]);
  if (row) assert_rows(&lab, row);
  lab_end(&lab);
}

// The paper's numbers: 4,096 masters and 6,647 slaves of a cube, 7,569 and 31,680 of a sheet. The
// usual slaves of a volume are the corners of the cells around the masters: 17^3.
static void counts_are_those_of_the_lattice(void** state) {
  (void)state;
  yw_shape *cube = lab_box(16, 16, 16, 0.0625f), *box = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.435f, 0.002f, 0.435f}, &box), YW_OK);
  const int32_t links = 3 * 15 * 16 * 16, of_sheet = 2 * 86 * 87;
  assert_counts(cube, 0.0625f, false, 2, (const int32_t[3]){4096, 6647, links}, 32);
  assert_counts(cube, 0.0625f, false, 0, (const int32_t[3]){4096, 17 * 17 * 17, links}, 0);
  assert_counts(cube, 0.0625f, false, 1.6f, (const int32_t[3]){4096, 17 * 17 * 17, links}, 0);
  assert_counts(box, 0.01f, true, 0, (const int32_t[3]){7569, 31680, of_sheet}, 32);
  assert_counts(box, 0.01f, true, 1, (const int32_t[3]){7569, 2 * 88 * 88, of_sheet}, 0);
  yw_shape_release(cube);
  yw_shape_release(box);
}

// Weights -----------------------------------------------------------------------------------------

// A cube whose slaves are perturbed by a tenth of the spacing, with its weights.
static void begin_shaken(plastic_lab* lab, int32_t n, uint64_t seed, yw_simd simd) {
  test_random random = {seed};
  float d = 0.05f;
  yw_shape* cube = lab_box(n, n, n, d);
  yw_plastic_part part = yw_default_plastic_part();
  part.material.youngs_modulus = 1e5f;
  lab_begin_shape(lab, cube, d, &part);
  yw_shape_release(cube);
  lab->ctx.simd = simd;
  assert_true(yw_plastic_follow(lab->body, &lab->particles, &lab->ctx));
  for (int32_t s = 0; s < lab->body->num_slaves; ++s) {
    for (int k = 0; k < 3; ++k) {
      (&lab->body->slave_pos[s].x)[k] += 0.1f * d * (float)test_random_in(&random, -1, 1);
    }
  }
  for (int32_t m = 0; m < lab->body->num_masters; ++m) {
    lab->particles.vel[m] =
        (yw_vec4){(float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1),
                  (float)test_random_in(&random, -1, 1), 0};
  }
  assert_true(yw_plastic_find_neighbours(lab->body, &lab->particles, &lab->ctx));
  yw_plastic_weigh(lab->body, &lab->particles, &lab->ctx);
}

// sum N = 1, sum G = 0, sum r G^T = 1.
static void weights_are_exact_on_affine_fields(void** state) {
  (void)state;
  plastic_lab lab;
  begin_shaken(&lab, 6, 1, yw_simd_resolve(YW_SIMD_AUTO));
  const plastic_body* body = lab.body;
  double worst_sum = 0, worst_zero = 0, worst_one = 0;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    double sum = 0, zero[3] = {0}, one[9] = {0};
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      const yw_vec4 pair = lab_pair(body, m, e);
      const float *g = &pair.x, *x = &body->slave_pos[body->column[e]].x;
      sum += (double)pair.w;
      assert_at_least(pair.w, 0);
      for (int k = 0; k < 3; ++k) zero[k] += (double)g[k] * (double)body->model->spacing;
      for (int k = 0; k < 9; ++k) {
        one[k] += ((double)x[k / 3] - (double)(&lab.particles.pos[m].x)[k / 3]) * (double)g[k % 3];
      }
    }
    worst_sum = fmax(worst_sum, fabs(sum - 1));
    for (int k = 0; k < 3; ++k) worst_zero = fmax(worst_zero, fabs(zero[k]));
    for (int k = 0; k < 9; ++k) worst_one = fmax(worst_one, fabs(one[k] - (k % 4 == 0)));
  }
  assert_at_most(worst_sum, 1e-5);
  assert_at_most(worst_zero, 1e-5);
  assert_at_most(worst_one, 1e-5);
  lab_end(&lab);
}

// What the masters give each slave, N m [v + C (x - r)] with r the mean of a master's slaves, and
// N m: four numbers per slave.
static double* expected_at_slaves(const plastic_lab* lab) {
  const plastic_body* body = lab->body;
  double* out = calloc(4 * (size_t)body->num_slaves, sizeof *out);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    const plastic_state_block* state = &body->state[m / YW_LANES];
    const float* v = &lab->particles.vel[m].x;
    double mass = (double)lab->particles.mass[m], mean[3] = {0};
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      const float* x = &body->slave_pos[body->column[e]].x;
      for (int k = 0; k < 3; ++k) mean[k] += (double)lab_pair(body, m, e).w * (double)x[k];
    }
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      const float* x = &body->slave_pos[body->column[e]].x;
      double share = mass * (double)lab_pair(body, m, e).w, *sum = out + 4 * body->column[e];
      for (int k = 0; k < 3; ++k) {
        double u = (double)v[k];
        for (int i = 0; i < 3; ++i) {
          u += (double)state->c[3 * k + i][m % YW_LANES] * ((double)x[i] - mean[i]);
        }
        sum[k] += share * u;
      }
      sum[3] += share;
    }
  }
  return out;
}

// Mass and momentum arrive at the slaves, at each what its masters give it.
static void transfers_conserve(void** state) {
  (void)state;
  plastic_lab lab;
  begin_shaken(&lab, 6, 2, yw_simd_resolve(YW_SIMD_AUTO));
  plastic_body* body = lab.body;
  test_random random = {3};
  for (int32_t m = 0; m < body->num_masters; ++m) {
    for (int k = 0; k < 9; ++k) {
      body->state[m / YW_LANES].c[k][m % YW_LANES] = (float)test_random_in(&random, -9, 9);
    }
  }
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, lab.ctx.simd);
  for (int32_t c = 0; c < yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK); ++c) {
    kernels->spread(body, &lab.particles, c);
  }
  for (int32_t c = 0; c < yw_plastic_chunks(body->num_slaves, PLASTIC_SLAVE_CHUNK); ++c) {
    kernels->to_slaves(body, &lab.particles, c);
  }
  lab_sums masters = lab_measure(&lab);
  double mass = 0, momentum[3] = {0}, size = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    yw_vec4 v = body->slave_vel[s];
    mass += (double)v.w;
    for (int k = 0; k < 3; ++k) momentum[k] += (double)v.w * (double)(&v.x)[k];
    size += (double)v.w * (fabs((double)v.x) + fabs((double)v.y) + fabs((double)v.z));
  }
  assert_near(mass / masters.mass, 1, 1e-5);
  for (int k = 0; k < 3; ++k) assert_near(momentum[k], masters.momentum[k], 1e-5 * size);
  double* expected = expected_at_slaves(&lab);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    const double* e = expected + 4 * s;
    const float* v = &body->slave_vel[s].x;
    assert_near(v[3], e[3], 1e-5 * mass / body->num_slaves);
    for (int k = 0; k < 3; ++k) {
      assert_near(v[3] * v[k], e[k], 1e-4 * size / body->num_slaves);
    }
  }
  free(expected);
  lab_end(&lab);
}

// Forces ------------------------------------------------------------------------------------------

// Every master stretched at random.
static void stretch_masters(plastic_body* body, uint64_t seed, double amount) {
  test_random random = {seed};
  for (int32_t m = 0; m < body->num_masters; ++m) {
    plastic_state_block* state = &body->state[m / YW_LANES];
    yw_quat q = yw_quat_normalize(
        (yw_quat){(float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1),
                  (float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1)});
    yw_mat3 u = yw_mat3_from_quat(q);
    const yw_vec3 axes[3] = {u.cx, u.cy, u.cz};
    for (int a = 0; a < 3; ++a) {
      state->u[a][m % YW_LANES] = axes[a].x;
      state->u[3 + a][m % YW_LANES] = axes[a].y;
      state->u[6 + a][m % YW_LANES] = axes[a].z;
      state->sigma[a][m % YW_LANES] = (float)(1 + test_random_in(&random, -amount, amount));
    }
  }
}

// Energy when slaves move by w: F becomes (1 + L(w)) F; double, from the definition. turns: false
// takes the symmetric part of L, so that masters are strained and do not rotate.
static double energy_after(const plastic_lab* lab, const yw_vec4* w, double t, bool turns) {
  const plastic_body* body = lab->body;
  double sum = 0;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    const plastic_state_block* state = &body->state[m / YW_LANES];
    const plastic_material_block* material =
        &lab->model->materials[lab->model->material_of_block[m / YW_LANES]];
    int l = m % YW_LANES;
    double step[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, f[9] = {0}, gradient[9] = {0};
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      const yw_vec4 pair = lab_pair(body, m, e);
      const float *g = &pair.x, *v = &w[body->column[e]].x;
      for (int k = 0; k < 9; ++k) gradient[k] += (double)v[k / 3] * (double)g[k % 3];
    }
    for (int k = 0; k < 9; ++k) {
      double other = turns ? gradient[k] : gradient[3 * (k % 3) + k / 3];
      step[k] += 0.5 * t * (gradient[k] + other);
    }
    for (int k = 0; k < 9; ++k) {
      for (int j = 0; j < 3; ++j) {
        f[k] += step[3 * (k / 3) + j] * (double)state->u[3 * j + k % 3][l] *
                (double)state->sigma[k % 3][l];
      }
    }
    // sum (sigma - 1)^2 = |F|^2 - 2 tr S + 3, and tr S by the polar rotation: Newton on R.
    double r[9], norm2 = 0, trace = 0;
    memcpy(r, f, sizeof r);
    for (int i = 0; i < 40; ++i) {
      double c[9];
      for (int k = 0; k < 9; ++k) {
        int x = (k / 3 + 1) % 3, y = (k / 3 + 2) % 3, z = (k % 3 + 1) % 3, u = (k % 3 + 2) % 3;
        c[k] = r[3 * x + z] * r[3 * y + u] - r[3 * x + u] * r[3 * y + z];
      }
      double det = r[0] * c[0] + r[1] * c[1] + r[2] * c[2];
      for (int k = 0; k < 9; ++k) r[k] = 0.5 * (r[k] + c[k] / det);
    }
    for (int k = 0; k < 9; ++k) norm2 += f[k] * f[k], trace += f[k] * r[k];
    double det = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) +
                 f[2] * (f[3] * f[7] - f[4] * f[6]);
    sum +=
        (double)material->volume[l] * ((double)material->mu[l] * (norm2 - 2 * trace + 3) +
                                       0.5 * (double)material->lambda[l] * (det - 1) * (det - 1));
  }
  return sum;
}

static double dot(const plastic_body* body, const yw_vec4* a, const yw_vec4* b) {
  double sum = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    sum += (double)a[s].x * (double)b[s].x + (double)a[s].y * (double)b[s].y +
           (double)a[s].z * (double)b[s].z;
  }
  return sum;
}

static void run_all(plastic_lab* lab, plastic_chunk_fn run, bool slaves) {
  int32_t chunks = slaves ? yw_plastic_chunks(lab->body->num_slaves, PLASTIC_SLAVE_CHUNK)
                          : yw_plastic_chunks(lab->body->num_masters, PLASTIC_CHUNK);
  for (int32_t c = 0; c < chunks; ++c) run(lab->body, &lab->particles, c);
}

// Writes K w to product: no pending step of the solve, and w as the next direction.
static void multiply(plastic_lab* lab, const yw_vec4* w) {
  plastic_body* body = lab->body;
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, lab->ctx.simd);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    body->course[s] = (plastic_course){.direction = w[s], .place = body->slave_pos[s]};
    body->touches[s] = 0;
  }
  body->alpha = 0.0f;
  body->beta = 1.0f;
  run_all(lab, kernels->stiffen, false);
  run_all(lab, kernels->multiply, true);
}

// Net torque of forces on slaves, relative to the sum of their magnitudes.
static double relative_torque(const plastic_body* body, const yw_vec4* force) {
  double torque[3] = {0}, size = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    const float *f = &force[s].x, *x = &body->slave_pos[s].x;
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      torque[k] += (double)x[a] * (double)f[b] - (double)x[b] * (double)f[a];
      size += fabs((double)x[a] * (double)f[b]);
    }
  }
  return (fabs(torque[0]) + fabs(torque[1]) + fabs(torque[2])) / size;
}

// f . w = -dE/dt, and w . (K w) = d2E/dt2 of the strains, for random motions w of the slaves.
// Rotations meet no resistance, so that K w has no net torque, as f has none.
static void forces_and_tangent_are_derivatives(void** state) {
  (void)state;
  plastic_lab lab;
  begin_shaken(&lab, 4, 4, yw_simd_resolve(YW_SIMD_AUTO));
  plastic_body* body = lab.body;
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, lab.ctx.simd);
  // Stretched, so that no eigenvalue is clamped.
  stretch_masters(body, 5, 0.05);
  for (int32_t b = 0; b < yw_plastic_chunks(body->num_masters, YW_LANES); ++b) {
    for (int l = 0; l < 3 * YW_LANES; ++l) {
      body->state[b].sigma[l / YW_LANES][l % YW_LANES] += 0.08f;
    }
  }
  body->dt = 1.0f;
  run_all(&lab, kernels->stress, false);
  run_all(&lab, kernels->forces, true);
  memset(body->slave_vel, 0, (size_t)body->num_slaves * sizeof *body->slave_vel);
  memset(body->normal, 0, (size_t)body->num_slaves * sizeof *body->normal);
  yw_vec4* const vectors[] = {body->product, body->residual, body->solved};
  for (int i = 0; i < 3; ++i) {
    memset(vectors[i], 0, (size_t)body->num_slaves * sizeof *vectors[i]);
  }
  memset(body->inverse, 0, (size_t)body->num_slaves * sizeof *body->inverse);
  yw_vec4* way = body->surface_vel;
  test_random random = {6};
  for (int trial = 0; trial < 3; ++trial) {
    for (int32_t s = 0; s < body->num_slaves; ++s) {
      way[s] =
          (yw_vec4){(float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1),
                    (float)test_random_in(&random, -1, 1), 0};
    }
    const double t = 1e-5;
    double minus = energy_after(&lab, way, -t, true), plus = energy_after(&lab, way, t, true);
    double slope = (plus - minus) / (2 * t);
    double work = -dot(body, body->force, way);
    assert_near(work / slope, 1, 1e-4);
    multiply(&lab, way);
    const double u = 2e-4;
    minus = energy_after(&lab, way, -u, false), plus = energy_after(&lab, way, u, false);
    double middle = energy_after(&lab, way, 0, false);
    double bend = (plus - 2 * middle + minus) / (u * u);
    assert_near(dot(body, body->product, way) / bend, 1, 1e-3);
    assert_at_most(relative_torque(body, body->product), 1e-5);
  }
  lab_end(&lab);
}

// The tangent is symmetric and positive semidefinite, however deformed the masters are.
static void tangent_is_symmetric_and_positive(void** state) {
  (void)state;
  plastic_lab lab;
  begin_shaken(&lab, 4, 7, yw_simd_resolve(YW_SIMD_AUTO));
  plastic_body* body = lab.body;
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, lab.ctx.simd);
  stretch_masters(body, 8, 0.9);
  body->dt = 1.0f;
  run_all(&lab, kernels->stress, false);
  memset(body->slave_vel, 0, (size_t)body->num_slaves * sizeof *body->slave_vel);
  memset(body->normal, 0, (size_t)body->num_slaves * sizeof *body->normal);
  test_random random = {9};
  yw_vec4 *way = body->surface_vel, *other = body->force;
  yw_vec4* product = body->solved;
  for (int trial = 0; trial < 4; ++trial) {
    for (int32_t s = 0; s < body->num_slaves; ++s) {
      for (int k = 0; k < 3; ++k) {
        (&way[s].x)[k] = (float)test_random_in(&random, -1, 1);
        (&other[s].x)[k] = (float)test_random_in(&random, -1, 1);
      }
    }
    multiply(&lab, way);
    memcpy(product, body->product, (size_t)body->num_slaves * sizeof *product);
    double own = dot(body, product, way), cross = dot(body, product, other);
    assert_true(own > 0);
    multiply(&lab, other);
    assert_near(dot(body, body->product, way), cross, 1e-5 * own);
  }
  lab_end(&lab);
}

// No net force, and no net torque.
static void forces_add_up_to_nothing(void** state) {
  (void)state;
  plastic_lab lab;
  begin_shaken(&lab, 6, 10, yw_simd_resolve(YW_SIMD_AUTO));
  plastic_body* body = lab.body;
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, lab.ctx.simd);
  stretch_masters(body, 11, 0.2);
  body->dt = 1.0f;
  run_all(&lab, kernels->stress, false);
  run_all(&lab, kernels->forces, true);
  double net[3] = {0}, torque[3] = {0}, size = 0, arm = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    const float *f = &body->force[s].x, *x = &body->slave_pos[s].x;
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      net[k] += (double)f[k];
      torque[k] += (double)x[a] * (double)f[b] - (double)x[b] * (double)f[a];
      size += fabs((double)f[k]);
      arm += fabs((double)x[a] * (double)f[b]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    assert_near(net[k], 0, 1e-5 * size);
    assert_near(torque[k], 0, 1e-5 * arm);
  }
  lab_end(&lab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_those_of_the_lattice),
      cmocka_unit_test(weights_are_exact_on_affine_fields),
      cmocka_unit_test(transfers_conserve),
      cmocka_unit_test(forces_and_tangent_are_derivatives),
      cmocka_unit_test(tangent_is_symmetric_and_positive),
      cmocka_unit_test(forces_add_up_to_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
