// SPDX-License-Identifier: MIT
// The reference is of another kind than the code: the largest eigenvalue of Horn's 4x4 quaternion
// matrix, in double, is the maximum of tr(R^T A) over all proper rotations R.
#include "math/polar.h"

#include "base/hash.h"
#include "math/trig.h"
#include "testing.h"

#define CASES 100000
#define BLOCKS 1000

typedef struct dmat3 {
  double m[3][3];
} dmat3;

static dmat3 wide(const yw_mat3* a) {
  return (dmat3){{{(double)a->cx.x, (double)a->cy.x, (double)a->cz.x},
                  {(double)a->cx.y, (double)a->cy.y, (double)a->cz.y},
                  {(double)a->cx.z, (double)a->cy.z, (double)a->cz.z}}};
}

static double norm(const dmat3* a) {
  double sum = 0;
  for (int i = 0; i < 9; ++i) sum += a->m[i / 3][i % 3] * a->m[i / 3][i % 3];
  return sqrt(sum);
}

static dmat3 mul(const dmat3* a, const dmat3* b) {
  dmat3 out = {{{0}}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) out.m[i][j] += a->m[i][k] * b->m[k][j];
    }
  }
  return out;
}

static dmat3 transpose(const dmat3* a) {
  dmat3 out;
  for (int i = 0; i < 9; ++i) out.m[i / 3][i % 3] = a->m[i % 3][i / 3];
  return out;
}

static double difference(const dmat3* a, const dmat3* b) {
  dmat3 d;
  for (int i = 0; i < 9; ++i) d.m[i / 3][i % 3] = a->m[i / 3][i % 3] - b->m[i / 3][i % 3];
  return norm(&d);
}

static double det(const dmat3* a) {
  return a->m[0][0] * (a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1]) -
         a->m[0][1] * (a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0]) +
         a->m[0][2] * (a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0]);
}

// Eigenvalues of Horn's matrix of a, largest first: the values of tr(R^T A) at its four stationary
// rotations.
static void horn_values(const dmat3* a, double values[4]) {
  const double(*m)[3] = a->m;
  double k[4][4] = {
      {m[0][0] + m[1][1] + m[2][2], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]},
      {0, m[0][0] - m[1][1] - m[2][2], m[0][1] + m[1][0], m[0][2] + m[2][0]},
      {0, 0, m[1][1] - m[0][0] - m[2][2], m[1][2] + m[2][1]},
      {0, 0, 0, m[2][2] - m[0][0] - m[1][1]}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) k[i][j] = k[j][i];
  }
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int p = 0; p < 4; ++p) {
      for (int q = p + 1; q < 4; ++q) {
        double angle = 0.5 * atan2(2 * k[p][q], k[q][q] - k[p][p]), c = cos(angle), s = sin(angle);
        for (int i = 0; i < 4; ++i) {
          double x = k[i][p], y = k[i][q];
          k[i][p] = c * x - s * y;
          k[i][q] = s * x + c * y;
        }
        for (int i = 0; i < 4; ++i) {
          double x = k[p][i], y = k[q][i];
          k[p][i] = c * x - s * y;
          k[q][i] = s * x + c * y;
        }
      }
    }
  }
  for (int i = 0; i < 4; ++i) values[i] = k[i][i];
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      if (values[j] > values[i]) {
        double larger = values[j];
        values[j] = values[i];
        values[i] = larger;
      }
    }
  }
}

static yw_mat3 random_rotation(test_random* random) {
  float e[4];
  for (int i = 0; i < 4; ++i) e[i] = (float)test_random_in(random, -1, 1);
  return yw_mat3_from_quat(yw_quat_normalize((yw_quat){e[0], e[1], e[2], e[3]}));
}

enum {
  GENERAL,
  ROTATION,
  SYMMETRIC,
  REPEATED,
  FLAT,
  LINE,
  POINT,
  REFLECTED,
  MIRROR,
  NEARLY_SINGULAR,
  HUGE_ONE,
  TINY_ONE,
  DENORMAL,
  INTEGER,
  SKEWED,
  KINDS
};

static yw_mat3 with_stretches(test_random* random, float x, float y, float z) {
  yw_mat3 u = random_rotation(random), v = random_rotation(random);
  return yw_mat3_mul(yw_mat3_mul(u, yw_mat3_diagonal(yw_v3(x, y, z))), yw_mat3_transpose(v));
}

static yw_mat3 random_entries(test_random* random, double scale) {
  float e[9];
  for (int i = 0; i < 9; ++i) e[i] = (float)(scale * test_random_in(random, -1, 1));
  return (yw_mat3){{e[0], e[1], e[2]}, {e[3], e[4], e[5]}, {e[6], e[7], e[8]}};
}

static yw_mat3 random_matrix(test_random* random, int kind) {
  float s = (float)test_random_in(random, 0.1, 3), t = (float)test_random_in(random, 0.1, 3);
  switch (kind) {
    case ROTATION:
      return random_rotation(random);
    case SYMMETRIC: {
      yw_mat3 m = random_entries(random, 1);
      return yw_mat3_add(m, yw_mat3_transpose(m));
    }
    case REPEATED:
      return with_stretches(random, s, t, test_random_u32(random) & 1 ? t : s);
    case FLAT:
      return with_stretches(random, s, t, 0);
    case LINE:
      return with_stretches(random, s, 0, 0);
    case POINT:
      return yw_mat3_diagonal(yw_v3(0, 0, 0));
    case REFLECTED:
      return with_stretches(random, s + 0.2f, t + 0.2f, -(float)test_random_in(random, 0, 0.5));
    case MIRROR:
      return with_stretches(random, s, s, -s);
    case NEARLY_SINGULAR:
      return with_stretches(random, s, (float)pow(10, test_random_in(random, -9, 0)),
                            (float)pow(10, test_random_in(random, -9, 0)));
    case HUGE_ONE:
      return random_entries(random, pow(10, test_random_in(random, 10, 30)));
    case TINY_ONE:
      return random_entries(random, pow(10, test_random_in(random, -30, -10)));
    case DENORMAL:
      return random_entries(random, pow(10, test_random_in(random, -45, -37)));
    case INTEGER: {
      yw_mat3 m;
      float* e = &m.cx.x;
      for (int i = 0; i < 9; ++i) e[i] = (float)((int)(test_random_u32(random) % 3) - 1);
      return m;
    }
    case SKEWED: {
      // Columns of very different size.
      yw_mat3 m = random_entries(random, 1);
      return (yw_mat3){yw_scale(m.cx, (float)pow(10, test_random_in(random, -20, 5))), m.cy,
                       yw_scale(m.cz, (float)pow(10, test_random_in(random, -20, 5)))};
    }
    default:
      return random_entries(random, 2);
  }
}

// R proper and orthogonal, S symmetric, R S = A, and tr(R^T A) the largest there is.
static void check_polar(const yw_mat3* a, const yw_mat3* r, const yw_mat3* s, double tolerance) {
  dmat3 da = wide(a), dr = wide(r), ds = wide(s), rt = transpose(&dr), st = transpose(&ds);
  dmat3 one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, rtr = mul(&rt, &dr), rs = mul(&dr, &ds);
  double size = norm(&da) + 1e-44;
  assert_at_most(difference(&rtr, &one), tolerance);
  assert_near(det(&dr), 1.0, tolerance);
  assert_true(difference(&ds, &st) == 0.0);
  // Below 1e-38 an entry has an absolute, not a relative, rounding.
  assert_at_most(difference(&rs, &da), tolerance * size + 1e-44);
  double values[4];
  horn_values(&da, values);
  dmat3 rta = mul(&rt, &da);
  assert_near(rta.m[0][0] + rta.m[1][1] + rta.m[2][2], values[0], tolerance * size + 1e-44);
}

static void every_matrix_has_its_nearest_rotation(void** state) {
  (void)state;
  test_random random = {11};
  for (int i = 0; i < CASES; ++i) {
    yw_mat3 a = random_matrix(&random, i % KINDS), r, s;
    yw_polar(&a, &r, &s);
    check_polar(&a, &r, &s, 1e-6);
  }
}

static double trace_with(const yw_mat3* r, const yw_mat3* a) {
  return (double)r->cx.x * (double)a->cx.x + (double)r->cx.y * (double)a->cx.y +
         (double)r->cx.z * (double)a->cx.z + (double)r->cy.x * (double)a->cy.x +
         (double)r->cy.y * (double)a->cy.y + (double)r->cy.z * (double)a->cy.z +
         (double)r->cz.x * (double)a->cz.x + (double)r->cz.y * (double)a->cz.y +
         (double)r->cz.z * (double)a->cz.z;
}

static void no_other_rotation_is_nearer(void** state) {
  (void)state;
  test_random random = {12};
  for (int i = 0; i < 3000; ++i) {
    yw_mat3 a = random_matrix(&random, i % KINDS), r, s;
    yw_polar(&a, &r, &s);
    dmat3 da = wide(&a);
    double best = trace_with(&r, &a), slack = 2e-6 * norm(&da) + 1e-44;
    // The other stationary rotations are half turns about the axes of S away.
    yw_mat3 axes;
    yw_vec3 stretches;
    yw_eigen_symmetric(&s, &stretches, &axes);
    const yw_vec3 half_turns[3] = {axes.cx, axes.cy, axes.cz};
    for (int k = 0; k < 3; ++k) {
      yw_quat turn = {half_turns[k].x, half_turns[k].y, half_turns[k].z, 0};
      yw_mat3 other = yw_mat3_mul(r, yw_mat3_from_quat(turn));
      assert_at_most(trace_with(&other, &a), best + slack);
    }
    for (int k = 0; k < 40; ++k) {
      yw_vec3 axis =
          yw_v3((float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1),
                (float)test_random_in(&random, -1, 1));
      float angle = (float)pow(10.0, test_random_in(&random, -3, 0.5));
      yw_mat3 other = yw_mat3_mul(r, yw_mat3_from_quat(yw_quat_axis_angle(axis, angle)));
      assert_at_most(trace_with(&other, &a), best + slack);
    }
  }
}

static void reflected_matrices_have_a_negative_smallest_stretch(void** state) {
  (void)state;
  test_random random = {13};
  for (int i = 0; i < 2000; ++i) {
    yw_mat3 a = with_stretches(&random, 2.0f, 1.0f, -0.5f), r, s, v;
    yw_vec3 values;
    yw_polar(&a, &r, &s);
    yw_eigen_symmetric(&s, &values, &v);
    assert_near(values.x, 2.0, 2e-6);
    assert_near(values.y, 1.0, 2e-6);
    assert_near(values.z, -0.5, 2e-6);
  }
}

static void zero_gives_the_identity_and_a_line_the_shortest_turn(void** state) {
  (void)state;
  yw_mat3 zero = yw_mat3_diagonal(yw_v3(0, 0, 0)), r, s;
  yw_polar(&zero, &r, &s);
  assert_true(r.cx.x == 1 && r.cy.y == 1 && r.cz.z == 1 && r.cx.y == 0 && r.cz.x == 0);
  assert_true(s.cx.x == 0 && s.cy.y == 0 && s.cz.z == 0);
  // x onto y: a quarter turn about z.
  yw_mat3 line = {{0, 3, 0}, {0, 0, 0}, {0, 0, 0}};
  yw_polar(&line, &r, &s);
  assert_near(r.cx.y, 1, 1e-7);
  assert_near(r.cy.x, -1, 1e-7);
  assert_near(r.cz.z, 1, 1e-7);
  assert_near(s.cx.x, 3, 1e-6);
}

static void check_svd(const yw_mat3* a, const yw_mat3* u, yw_vec3 sigma, const yw_mat3* v,
                      double tolerance) {
  dmat3 da = wide(a), du = wide(u), dv = wide(v), ut = transpose(&du), vt = transpose(&dv);
  dmat3 one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, utu = mul(&ut, &du), vtv = mul(&vt, &dv);
  dmat3 d = {{{(double)sigma.x, 0, 0}, {0, (double)sigma.y, 0}, {0, 0, (double)sigma.z}}};
  dmat3 ud = mul(&du, &d), back = mul(&ud, &vt);
  double size = norm(&da);
  assert_at_most(difference(&utu, &one), tolerance);
  assert_at_most(difference(&vtv, &one), tolerance);
  assert_near(det(&du), 1, tolerance);
  assert_near(det(&dv), 1, tolerance);
  assert_at_most(difference(&back, &da), tolerance * size + 1e-44);
  assert_true(sigma.x >= sigma.y && sigma.y >= fabsf(sigma.z));
  double values[4];
  horn_values(&da, values);
  assert_near(sigma.x, 0.5 * (values[0] + values[1]), tolerance * size + 1e-44);
  assert_near(sigma.y, 0.5 * (values[0] + values[2]), tolerance * size + 1e-44);
  assert_near(sigma.z, 0.5 * (values[0] + values[3]), tolerance * size + 1e-44);
}

static void every_matrix_has_its_singular_values(void** state) {
  (void)state;
  test_random random = {14};
  for (int i = 0; i < CASES / 2; ++i) {
    yw_mat3 a = random_matrix(&random, i % KINDS), u, v;
    yw_vec3 sigma;
    yw_svd(&a, &u, &sigma, &v);
    check_svd(&a, &u, sigma, &v, 1e-6);
  }
}

static void every_symmetric_matrix_has_its_eigenvectors(void** state) {
  (void)state;
  test_random random = {15};
  for (int i = 0; i < CASES / 2; ++i) {
    yw_mat3 m = random_matrix(&random, i % KINDS), v;
    m = yw_mat3_scale(yw_mat3_add(m, yw_mat3_transpose(m)), 0.5f);
    yw_vec3 values;
    yw_eigen_symmetric(&m, &values, &v);
    dmat3 dm = wide(&m), dv = wide(&v), mv = mul(&dm, &dv);
    dmat3 d = {{{(double)values.x, 0, 0}, {0, (double)values.y, 0}, {0, 0, (double)values.z}}};
    dmat3 vd = mul(&dv, &d), vt = transpose(&dv), vtv = mul(&vt, &dv);
    dmat3 one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    assert_at_most(difference(&mv, &vd), 1e-6 * norm(&dm) + 1e-44);
    assert_at_most(difference(&vtv, &one), 1e-6);
    assert_near(det(&dv), 1, 1e-6);
    assert_true(values.x >= values.y && values.y >= values.z);
  }
}

static void largest_floats_stay_finite(void** state) {
  (void)state;
  yw_mat3 a = {{3e38f, -3e38f, 3e38f}, {3e38f, 3e38f, 3e38f}, {-3e38f, 3e38f, 3e38f}}, r, s, u, v;
  yw_vec3 sigma;
  yw_polar(&a, &r, &s);
  yw_svd(&a, &u, &sigma, &v);
  assert_true(yw_is_finite3(s.cx) && yw_is_finite3(s.cy) && yw_is_finite3(s.cz));
  assert_true(yw_is_finite3(r.cx) && yw_is_finite3(r.cy) && yw_is_finite3(sigma));
}

static void quaternions_of_rotations_turn_alike(void** state) {
  (void)state;
  test_random random = {16};
  for (int i = 0; i < 20000; ++i) {
    yw_mat3 r = random_rotation(&random);
    if (i % 4 == 0) r = yw_mat3_from_quat(yw_quat_axis_angle(r.cx, 3.14159265f));
    yw_quat q = yw_quat_from_mat3(&r);
    yw_mat3 back = yw_mat3_from_quat(q);
    dmat3 dr = wide(&r), db = wide(&back);
    assert_at_most(difference(&dr, &db), 1.5e-6);
    assert_true(q.w >= 0.0f);
  }
}

// Batches

typedef struct batch {
  yw_mat3x16 a[BLOCKS], r[BLOCKS], v[BLOCKS];
  yw_sym3x16 s[BLOCKS];
  yw_quatx16 q[BLOCKS];
  float sigma[BLOCKS][3][YW_LANES];
} batch;

static batch one_batch, other_batch;

static yw_mat3 lane_of(const yw_mat3x16* m, int lane) {
  return (yw_mat3){{m->m[0][lane], m->m[3][lane], m->m[6][lane]},
                   {m->m[1][lane], m->m[4][lane], m->m[7][lane]},
                   {m->m[2][lane], m->m[5][lane], m->m[8][lane]}};
}

static yw_mat3 sym_of(const yw_sym3x16* s, int lane) {
  float xy = s->m[3][lane], xz = s->m[4][lane], yz = s->m[5][lane];
  return (yw_mat3){{s->m[0][lane], xy, xz}, {xy, s->m[1][lane], yz}, {xz, yz, s->m[2][lane]}};
}

static void set_lane(yw_mat3x16* to, int lane, const yw_mat3* m) {
  dmat3 d = wide(m);
  for (int i = 0; i < 9; ++i) to->m[i][lane] = (float)d.m[i / 3][i % 3];
}

static yw_quat quat_of(const yw_quatx16* q, int lane) {
  return (yw_quat){q->m[0][lane], q->m[1][lane], q->m[2][lane], q->m[3][lane]};
}

static void set_quat(yw_quatx16* to, int lane, yw_quat q) {
  to->m[0][lane] = q.x, to->m[1][lane] = q.y, to->m[2][lane] = q.z, to->m[3][lane] = q.w;
}

// All kinds mixed in every block, so that each vector has lanes that need every path.
static void fill(batch* b, uint64_t seed) {
  test_random random = {seed};
  memset(b, 0, sizeof *b);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = random_matrix(&random, i % KINDS);
    set_lane(&b->a[i / YW_LANES], i % YW_LANES, &a);
  }
}

// The kinds for which float has a well-defined answer.
static yw_mat3 plausible_matrix(test_random* random, int i) {
  float s[3];
  for (int k = 0; k < 3; ++k) s[k] = (float)test_random_in(random, 0.4, 2);
  if (i % 10 == 0) s[2] = 0.0f;
  if (i % 10 == 1) s[2] = -0.1f;
  return with_stretches(random, s[0], s[1], s[2]);
}

// Guesses are off by up to `angle`.
static void fill_warm(batch* b, uint64_t seed, double angle) {
  test_random random = {seed};
  memset(b, 0, sizeof *b);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = plausible_matrix(&random, i), r, s;
    set_lane(&b->a[i / YW_LANES], i % YW_LANES, &a);
    yw_polar(&a, &r, &s);
    yw_vec3 axis = random_rotation(&random).cx;
    yw_quat off = yw_quat_axis_angle(axis, (float)test_random_in(&random, 0, angle));
    set_quat(&b->q[i / YW_LANES], i % YW_LANES, yw_quat_mul(yw_quat_from_mat3(&r), off));
  }
}

static const yw_polar_batch_fns* best(void) {
  return yw_polar_batch(yw_simd_resolve(YW_SIMD_AUTO));
}

static void batches_have_their_nearest_rotations(void** state) {
  (void)state;
  batch* b = &one_batch;
  fill(b, 21);
  best()->polar(BLOCKS, b->a, b->r, b->s);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = lane_of(&b->a[i / YW_LANES], i % YW_LANES);
    yw_mat3 r = lane_of(&b->r[i / YW_LANES], i % YW_LANES);
    yw_mat3 s = sym_of(&b->s[i / YW_LANES], i % YW_LANES);
    check_polar(&a, &r, &s, 4e-6);
  }
}

static void batches_have_their_singular_values(void** state) {
  (void)state;
  batch* b = &one_batch;
  fill(b, 22);
  best()->svd(BLOCKS, b->a, b->r, b->sigma, b->v);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    int block = i / YW_LANES, lane = i % YW_LANES;
    yw_mat3 a = lane_of(&b->a[block], lane), u = lane_of(&b->r[block], lane);
    yw_mat3 v = lane_of(&b->v[block], lane);
    float(*sigma)[YW_LANES] = b->sigma[block];
    check_svd(&a, &u, yw_v3(sigma[0][lane], sigma[1][lane], sigma[2][lane]), &v, 6e-6);
  }
}

static void warm_starts_agree_with_cold_ones(void** state) {
  (void)state;
  batch* b = &one_batch;
  const double angles[] = {0.0, 1e-3, 0.03, 0.3, 1.0};
  for (int k = 0; k < 5; ++k) {
    fill_warm(b, 23 + (uint64_t)k, angles[k]);
    int32_t rescued = best()->polar_warm(BLOCKS, b->a, b->q, b->r, b->s);
    if (angles[k] < 0.5) assert_int_equal(rescued, 0);
    for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
      yw_mat3 a = lane_of(&b->a[i / YW_LANES], i % YW_LANES), r, s;
      yw_mat3 warm = lane_of(&b->r[i / YW_LANES], i % YW_LANES);
      yw_mat3 from_q = yw_mat3_from_quat(quat_of(&b->q[i / YW_LANES], i % YW_LANES));
      yw_polar(&a, &r, &s);
      dmat3 dw = wide(&warm), dr = wide(&r), dq = wide(&from_q);
      assert_at_most(difference(&dw, &dr), 1e-5);
      assert_at_most(difference(&dq, &dr), 1e-5);
    }
  }
}

static void bad_guesses_are_rescued(void** state) {
  (void)state;
  batch* b = &one_batch;
  fill(b, 31);
  test_random random = {32};
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    // Zero, NaN, or a rotation from anywhere, half turns from the answer included.
    yw_mat3 a = lane_of(&b->a[i / YW_LANES], i % YW_LANES), r, s;
    yw_polar(&a, &r, &s);
    yw_quat q = {0, 0, 0, 0};
    if (i % 5 == 1) q.x = NAN;
    if (i % 5 == 2) q = yw_quat_mul(yw_quat_from_mat3(&r), (yw_quat){1, 0, 0, 0});
    if (i % 5 >= 3) {
      yw_mat3 anywhere = random_rotation(&random);
      q = yw_quat_from_mat3(&anywhere);
    }
    set_quat(&b->q[i / YW_LANES], i % YW_LANES, q);
  }
  int32_t rescued = best()->polar_warm(BLOCKS, b->a, b->q, b->r, b->s);
  assert_at_least(rescued, BLOCKS * YW_LANES / 2);
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = lane_of(&b->a[i / YW_LANES], i % YW_LANES);
    yw_mat3 r = lane_of(&b->r[i / YW_LANES], i % YW_LANES);
    yw_mat3 s = sym_of(&b->s[i / YW_LANES], i % YW_LANES);
    yw_mat3 from_q = yw_mat3_from_quat(quat_of(&b->q[i / YW_LANES], i % YW_LANES));
    check_polar(&a, &r, &s, 4e-6);
    dmat3 dr = wide(&r), dq = wide(&from_q);
    assert_at_most(difference(&dr, &dq), 2e-6);
  }
}

// A region that is squashed flat, turned inside out and pulled back, with the rotation carried on.
static void a_rotation_carried_through_a_plane_stays_the_nearest(void** state) {
  (void)state;
  batch* b = &one_batch;
  memset(b, 0, sizeof *b);
  test_random random = {33};
  yw_mat3 turn[YW_LANES];
  for (int lane = 0; lane < YW_LANES; ++lane) {
    turn[lane] = random_rotation(&random);
    set_quat(&b->q[0], lane, yw_quat_from_mat3(&turn[lane]));
  }
  for (int frame = 0; frame <= 400; ++frame) {
    float height = (float)(frame - 200) / -200.0f;
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_mat3 squash = yw_mat3_diagonal(yw_v3(1.0f, 1.1f, height));
      squash.cy.x = 0.01f * (float)lane;
      yw_mat3 a = yw_mat3_mul(turn[lane], squash);
      set_lane(&b->a[0], lane, &a);
    }
    best()->polar_warm(1, b->a, b->q, b->r, b->s);
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_mat3 a = lane_of(&b->a[0], lane), r = lane_of(&b->r[0], lane);
      yw_mat3 s = sym_of(&b->s[0], lane);
      check_polar(&a, &r, &s, 4e-6);
    }
  }
}

// Nothing may build up over a long run: each answer is the next guess.
static void a_spinning_region_stays_exact(void** state) {
  (void)state;
  batch* b = &one_batch;
  memset(b, 0, sizeof *b);
  for (int lane = 0; lane < YW_LANES; ++lane) set_quat(&b->q[0], lane, (yw_quat){0, 0, 0, 1});
  int32_t rescued = 0;
  for (int step = 0; step < 20000; ++step) {
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_vec3 axis = yw_v3(1, 0.1f * (float)lane, -0.5f);
      float speed = 0.002f * (float)lane;
      yw_mat3 turn = yw_mat3_from_quat(yw_quat_axis_angle(axis, speed * (float)step));
      yw_mat3 pull = {{1.2f, 0.1f, 0}, {0.1f, 0.9f, 0.05f}, {0, 0.05f, 0.7f}};
      yw_mat3 a = yw_mat3_mul(turn, pull);
      set_lane(&b->a[0], lane, &a);
    }
    rescued += best()->polar_warm(1, b->a, b->q, b->r, b->s);
    if (step % 100 != 0) continue;
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_quat q = quat_of(&b->q[0], lane);
      assert_near(sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w), 1, 5e-7);
      yw_mat3 a = lane_of(&b->a[0], lane), r = lane_of(&b->r[0], lane);
      yw_mat3 s = sym_of(&b->s[0], lane);
      check_polar(&a, &r, &s, 3e-6);
    }
  }
  assert_int_equal(rescued, 0);
}

static void no_blocks_is_no_work(void** state) {
  (void)state;
  assert_int_equal(best()->polar_warm(0, NULL, NULL, NULL, NULL), 0);
  best()->polar(0, NULL, NULL, NULL);
  best()->svd(0, NULL, NULL, NULL, NULL);
}

// An odd number of blocks takes the ends of tiles and pairs.
static void any_number_of_blocks_gives_the_same_answers(void** state) {
  (void)state;
  fill(&one_batch, 61);
  best()->svd(11, one_batch.a, one_batch.r, one_batch.sigma, one_batch.v);
  for (int count = 1; count < 11; ++count) {
    fill(&other_batch, 61);
    best()->svd(count, other_batch.a, other_batch.r, other_batch.sigma, other_batch.v);
    size_t blocks = (size_t)count;
    assert_memory_equal(one_batch.r, other_batch.r, blocks * sizeof one_batch.r[0]);
    assert_memory_equal(one_batch.v, other_batch.v, blocks * sizeof one_batch.v[0]);
    assert_memory_equal(one_batch.sigma, other_batch.sigma, blocks * sizeof one_batch.sigma[0]);
    assert_true(other_batch.sigma[count][0][0] == 0.0f);
  }
}

// These bits are the same for gcc and clang at every level of optimisation; a change of them is a
// change of results.
static void bits_have_not_changed(void** state) {
  (void)state;
  static const int kinds[] = {GENERAL, ROTATION, SYMMETRIC, REPEATED, FLAT,
                              LINE,    POINT,    REFLECTED, MIRROR,   INTEGER};
  batch* b = &one_batch;
  memset(b, 0, sizeof *b);
  test_random random = {71};
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 a = random_matrix(&random, kinds[i % 10]), r = random_rotation(&random);
    set_lane(&b->a[i / YW_LANES], i % YW_LANES, &a);
    set_quat(&b->q[i / YW_LANES], i % YW_LANES, yw_quat_from_mat3(&r));
  }
  best()->polar(BLOCKS, b->a, b->r, b->s);
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, b, sizeof *b);
  best()->polar_warm(BLOCKS, b->a, b->q, b->r, b->s);
  hash = yw_hash_bytes(hash, b, sizeof *b);
  best()->svd(BLOCKS, b->a, b->r, b->sigma, b->v);
  hash = yw_hash_bytes(hash, b, sizeof *b);
  if (hash != 0x96fbe6a5ec64f859ull) {
    print_error("hash is %016llx, expected 96fbe6a5ec64f859\n", (unsigned long long)hash);
    fail();
  }
}

static void run_all(batch* b, yw_simd level, uint64_t seed) {
  const yw_polar_batch_fns* fns = yw_polar_batch(level);
  const int third = BLOCKS / 3;
  fill(b, seed);
  test_random random = {seed};
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_mat3 r = random_rotation(&random);
    set_quat(&b->q[i / YW_LANES], i % YW_LANES, yw_quat_from_mat3(&r));
  }
  fns->svd(third, b->a, b->r, b->sigma, b->v);
  fns->polar(third, b->a + third, b->r + third, b->s + third);
  fns->polar_warm(third, b->a + 2 * third, b->q + 2 * third, b->r + 2 * third, b->s + 2 * third);
}

static void every_instruction_set_gives_the_same_bits(void** state) {
  (void)state;
  run_all(&one_batch, YW_SIMD_PLAIN, 41);
  for (int level = YW_SIMD_AVX2; level <= YW_SIMD_AVX512; ++level) {
    if ((int)yw_simd_resolve((yw_simd)level) != level) continue;
    run_all(&other_batch, (yw_simd)level, 41);
    assert_memory_equal(&one_batch, &other_batch, sizeof one_batch);
  }
}

static void a_lane_does_not_depend_on_its_neighbours(void** state) {
  (void)state;
  batch* b = &one_batch;
  fill(b, 51);
  best()->polar(BLOCKS, b->a, b->r, b->s);
  for (int block = 0; block < BLOCKS; block += 7) {
    for (int lane = 0; lane < YW_LANES; ++lane) {
      yw_mat3 a = lane_of(&b->a[block], lane);
      for (int k = 0; k < YW_LANES; ++k) set_lane(&other_batch.a[0], k, &a);
      best()->polar(1, other_batch.a, other_batch.r, other_batch.s);
      for (int i = 0; i < 9; ++i) {
        assert_true(other_batch.r[0].m[i][5] == b->r[block].m[i][lane]);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_matrix_has_its_nearest_rotation),
      cmocka_unit_test(no_other_rotation_is_nearer),
      cmocka_unit_test(reflected_matrices_have_a_negative_smallest_stretch),
      cmocka_unit_test(zero_gives_the_identity_and_a_line_the_shortest_turn),
      cmocka_unit_test(every_matrix_has_its_singular_values),
      cmocka_unit_test(every_symmetric_matrix_has_its_eigenvectors),
      cmocka_unit_test(largest_floats_stay_finite),
      cmocka_unit_test(quaternions_of_rotations_turn_alike),
      cmocka_unit_test(batches_have_their_nearest_rotations),
      cmocka_unit_test(batches_have_their_singular_values),
      cmocka_unit_test(warm_starts_agree_with_cold_ones),
      cmocka_unit_test(bad_guesses_are_rescued),
      cmocka_unit_test(a_rotation_carried_through_a_plane_stays_the_nearest),
      cmocka_unit_test(a_spinning_region_stays_exact),
      cmocka_unit_test(no_blocks_is_no_work),
      cmocka_unit_test(any_number_of_blocks_gives_the_same_answers),
      cmocka_unit_test(bits_have_not_changed),
      cmocka_unit_test(every_instruction_set_gives_the_same_bits),
      cmocka_unit_test(a_lane_does_not_depend_on_its_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
