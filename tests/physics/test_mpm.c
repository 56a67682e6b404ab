// SPDX-License-Identifier: MIT
// The material point method that studies compare `plastic` with: conservation, a vibrating bar
// against theory, and both kinds of grids.
#include "reference/mpm/mpm.h"
#include "support/testing.h"

#define D 0.02f
#define RHO 1000.0f

// A box of nx x ny x nz particles around the origin, nu = 0.
static mpm* make_box(const mpm_def* def, int nx, int ny, int nz) {
  mpm* m = mpm_create(def, nx * ny * nz);
  assert_non_null(m);
  for (int i = 0; i < m->count; ++i) {
    mpm_particle* p = &m->particles[i];
    p->x = yw_v3(((float)(i % nx) - 0.5f * (float)(nx - 1)) * D,
                 ((float)(i / nx % ny) - 0.5f * (float)(ny - 1)) * D,
                 ((float)(i / nx / ny) - 0.5f * (float)(nz - 1)) * D);
    p->volume = D * D * D;
    p->mass = RHO * p->volume;
  }
  return m;
}

static mpm_def free_def(float youngs) {
  mpm_def def = mpm_default_def();
  def.cell = 2.0f * D;
  def.gravity = yw_v3(0, 0, 0);
  def.material.mu = 0.5f * youngs;
  return def;
}

typedef struct motion {
  double momentum[3], size, spin;
} motion;

static motion motion_of(const mpm* m) {
  motion sum = {{0}, 0, 0};
  for (int32_t i = 0; i < m->count; ++i) {
    const mpm_particle* p = &m->particles[i];
    const double v[3] = {(double)p->v.x, (double)p->v.y, (double)p->v.z};
    for (int a = 0; a < 3; ++a) {
      sum.momentum[a] += (double)p->mass * v[a];
      sum.size += (double)p->mass * fabs(v[a]);
    }
    // With what the affine velocity holds: quadratic splines have a variance of cell^2 / 4.
    double second = 0.25 * (double)(m->def.cell * m->def.cell);
    sum.spin += (double)p->mass * ((double)p->x.x * v[1] - (double)p->x.y * v[0] +
                                   second * (double)(p->c.cx.y - p->c.cy.x));
  }
  return sum;
}

// A bar with displacement A sin(pi X / L) sin(w t) at nu = 0 obeys the wave equation exactly,
// whatever A: P = E (s - 1). Its displacement is 0 again at half the period, L / c. Returns that
// time, over theory.
static double half_period(const mpm_def* def, double youngs, double stretch, float step) {
  enum { NX = 32 };
  mpm* m = make_box(def, NX, 4, 4);
  double length = NX * (double)D, wave = sqrt(youngs / (double)RHO), omega = M_PI * wave / length;
  double rest[NX];
  for (int i = 0; i < m->count; ++i) {
    double x = (double)m->particles[i].x.x, speed = (stretch - 1) * wave;
    rest[i % NX] = x;
    m->particles[i].v.x = (float)(speed * sin(M_PI * x / length));
    m->particles[i].c.cx.x = (float)(speed * M_PI / length * cos(M_PI * x / length));
  }
  double before = 0, time = 0;
  for (;;) {
    double sum = 0;
    assert_true(mpm_advance(m, step, step));
    time += (double)step;
    for (int i = 0; i < m->count; ++i) {
      sum += ((double)m->particles[i].x.x - rest[i % NX]) * sin(M_PI * rest[i % NX] / length);
    }
    assert_true(time < 3 * M_PI / omega);
    if (sum < 0) {
      mpm_destroy(m);
      return (time - (double)step * -sum / (before - sum)) * omega / M_PI;
    }
    before = sum;
  }
}

static void a_bar_vibrates_as_theory_says(void** state) {
  (void)state;
  mpm_def def = free_def(1e5f);
  double explicitly = half_period(&def, 1e5, 1.02, 2e-4f);
  def.implicit = true;
  def.tolerance = 1e-5f;
  double implicitly = half_period(&def, 1e5, 1.02, 2e-4f);
  assert_near(explicitly, 1.0, 0.03);
  assert_near(implicitly, 1.0, 0.03);
}

// Momentum and angular momentum of a box that turns, is stretched and flows.
static void free_bodies_keep_their_momentum(void** state) {
  (void)state;
  for (int implicit = 0; implicit < 2; ++implicit) {
    mpm_def def = free_def(1e5f);
    def.material.lambda = 1e5f;
    def.material.low = 0.95f;
    def.material.high = 1.02f;
    def.material.xi = 5.0f;
    def.implicit = implicit;
    mpm* m = make_box(&def, 8, 6, 7);
    for (int32_t i = 0; i < m->count; ++i) {
      mpm_particle* p = &m->particles[i];
      p->v = yw_v3(1.0f + 4.0f * p->x.x - 8.0f * p->x.y, 8.0f * p->x.x, 0.5f);
      p->c = (yw_mat3){{4, 8, 0}, {-8, 0, 0}, {0, 0, 0}};
    }
    motion begin = motion_of(m);
    assert_true(mpm_advance(m, 0.1f, 1e-3f));
    motion end = motion_of(m);
    for (int a = 0; a < 3; ++a) {
      assert_near(end.momentum[a], begin.momentum[a], (implicit ? 1e-4 : 1e-5) * begin.size);
    }
    assert_near(end.spin / begin.spin, 1.0, 0.01);
    mpm_destroy(m);
  }
}

// An affine velocity deforms every particle by 1 + dt L, whatever its place in a cell.
static void affine_velocities_are_exact(void** state) {
  (void)state;
  mpm_def def = free_def(0.0f);
  mpm* m = make_box(&def, 7, 6, 5);
  const yw_mat3 l = {{0.3f, -2, 1}, {1, 0.5f, 0.2f}, {-0.7f, 0.1f, -1}};
  for (int32_t i = 0; i < m->count; ++i) {
    m->particles[i].v = yw_mul(l, m->particles[i].x);
    m->particles[i].c = l;
  }
  assert_true(mpm_advance(m, 1e-2f, 1e-2f));
  yw_mat3 f = yw_mat3_add(yw_mat3_identity(), yw_mat3_scale(l, 1e-2f));
  yw_mat3 b = yw_mat3_mul(f, yw_mat3_transpose(f));
  for (int32_t i = 0; i < m->count; ++i) {
    assert_near(m->particles[i].b.cx.x, b.cx.x, 2e-5);
    assert_near(m->particles[i].b.cy.x, b.cy.x, 2e-5);
    assert_near(m->particles[i].b.cz.y, b.cz.y, 2e-5);
  }
  mpm_destroy(m);
}

// A cube lands on a floor: dense and sparse grids hold the same nodes, so the result is the same;
// its weight is borne, and it may not leave a dense grid.
static void dense_and_sparse_grids_agree(void** state) {
  (void)state;
  yw_shape* ground = NULL;
  assert_int_equal(yw_shape_plane(NULL, yw_v3(0, 1, 0), 0.0f, &ground), YW_OK);
  double height[2];
  for (int dense = 0; dense < 2; ++dense) {
    mpm_def def = free_def(1e5f);
    def.dense = dense;
    def.gravity = yw_v3(0, -9.81f, 0);
    def.box = (yw_aabb){{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
    def.material.eta = 0.0f;
    def.num_obstacles = 1;
    def.obstacles[0] = (mpm_obstacle){ground, {{0, -0.12f, 0}, {0, 0, 0, 1}, 1.0f}, 0.3f};
    mpm* m = make_box(&def, 6, 6, 6);
    assert_true(mpm_advance(m, 0.4f, 1e-3f));
    height[dense] = 0;
    for (int32_t i = 0; i < m->count; ++i) height[dense] += (double)m->particles[i].x.y / m->count;
    if (dense) {
      for (int32_t i = 0; i < m->count; ++i) m->particles[i].v = yw_v3(10, 0, 0);
      assert_false(mpm_advance(m, 0.1f, 1e-3f));
    }
    mpm_destroy(m);
  }
  yw_shape_release(ground);
  assert_near(height[0], height[1], 1e-6);
  // It rests with its middle half its height above the floor, up to a cell.
  assert_near(height[0], -0.12 + 0.06, 0.04);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bar_vibrates_as_theory_says),
      cmocka_unit_test(free_bodies_keep_their_momentum),
      cmocka_unit_test(affine_velocities_are_exact),
      cmocka_unit_test(dense_and_sparse_grids_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
