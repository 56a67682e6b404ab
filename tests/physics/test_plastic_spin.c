// SPDX-License-Identifier: MIT
// Plastic bodies that rotate freely keep their angular momentum.
#include "geometry/tet_math.h"
#include "math/small/mat3d.h"
#include "support/plastic_testing.h"
#include "yawara/plastic.h"

#define SECONDS 8

typedef struct spin_case {
  const char* name;
  int32_t size[3];  // masters along x, y, z; 0: a ball of size[1] across
  float d;          // m
  yw_vec3 spin;     // rad/s
  float youngs;     // Pa
  float eta;
} spin_case;

static void begin(plastic_lab* lab, const spin_case* c) {
  yw_shape* shape = NULL;
  if (c->size[0] > 0) {
    shape = lab_box(c->size[0], c->size[1], c->size[2], c->d);
  } else {
    assert_int_equal(yw_shape_sphere(NULL, 0.5f * c->d * (float)c->size[1], &shape), YW_OK);
  }
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = shape;
  part.angular_velocity = c->spin;
  part.material.youngs_modulus = c->youngs;
  part.material.eta = c->eta;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = c->d;
  def.parts = &part;
  def.num_parts = 1;
  lab_begin(lab, &def);
  lab->ctx.gravity = (yw_vec3){0, 0, 0};
  yw_shape_release(shape);
}

// Of the masters about the origin, with their own rotation: m axial(C D).
static yw_dvec3 angular_momentum(const plastic_lab* lab) {
  yw_dvec3 sum = {0, 0, 0};
  for (int32_t i = 0; i < lab->particles.count; ++i) {
    const plastic_work_block* work = &lab->body->work[i / YW_LANES];
    const plastic_state_block* state = &lab->body->state[i / YW_LANES];
    int32_t lane = i % YW_LANES;
    double inverse[6], d[6], dm[9], c[9], cd[9], mass = (double)lab->particles.mass[i];
    for (int k = 0; k < 6; ++k) inverse[k] = (double)work->inverse[k][lane];
    for (int k = 0; k < 9; ++k) c[k] = (double)state->c[k][lane];
    yw_sym_invert(inverse, d);
    yw_m3_of_sym(d, dm);
    yw_m3_mul(c, dm, cd);
    yw_dvec3 own = {cd[7] - cd[5], cd[2] - cd[6], cd[3] - cd[1]};
    yw_dvec3 x = yw_d3(yw_xyz(lab->particles.pos[i])), v = yw_d3(yw_xyz(lab->particles.vel[i]));
    sum = yw_dmad(sum, mass, yw_dadd(own, yw_dcross(x, v)));
  }
  return sum;
}

// Magnitude and direction to 1 %, and energy: the body rotates without damping, as long as nothing
// vibrates. Long steps of soft bodies and short ones of stiff bodies, all axes.
static void free_bodies_keep_their_spin(void** state) {
  (void)state;
  static const spin_case cases[] = {
      {"cube", {6, 6, 6}, 0.05f, {0, 1, 0}, 1e5f, 0},
      {"bar", {12, 4, 3}, 0.05f, {0.3f, 1, 0.5f}, 1e5f, 0},
      {"ball", {0, 7, 0}, 0.02f, {2, 0, 1}, 1e4f, 0},
      {"affine bar", {10, 3, 3}, 0.05f, {0, 1, 0.2f}, 1e5f, 1},
      {"stiff plate", {8, 8, 2}, 0.03f, {1, 2, 3}, 1e7f, 0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    const spin_case* c = &cases[k];
    const float h = 1.0f / 60;
    plastic_lab lab;
    begin(&lab, c);
    // C of the masters is known after a step.
    assert_true(lab_step(&lab, h) >= 0);
    yw_dvec3 first = angular_momentum(&lab);
    double energy = lab_measure(&lab).kinetic, worst = 0, size = sqrt(yw_ddot(first, first));
    for (int i = 0; i < 60 * SECONDS; ++i) {
      assert_true(lab_step(&lab, h) >= 0);
      yw_dvec3 off = yw_dsub(angular_momentum(&lab), first);
      worst = fmax(worst, sqrt(yw_ddot(off, off)) / size);
    }
    double kept = lab_measure(&lab).kinetic / energy;
    print_message("%-12s angular momentum changes by %.3f %% in %d s, energy by %.2f %%\n", c->name,
                  100 * worst, SECONDS, 100 * (kept - 1));
    assert_at_most(worst, 0.01);
    assert_near(kept, 1.0, 0.03);
    lab_end(&lab);
  }
}

// What a step after a push loses of the spin is given back, whatever it was, and nothing else.
static void lost_spin_is_given_back(void** state) {
  (void)state;
  const spin_case bar = {"bar", {8, 3, 2}, 0.05f, {0.3f, 1, 0.5f}, 1e5f, 0};
  plastic_lab lab;
  begin(&lab, &bar);
  assert_true(lab_step(&lab, 1.0f / 60) >= 0);
  lab.body->is_pushed = true;
  yw_plastic_note_spin(lab.body, &lab.particles, &lab.ctx);
  assert_true(lab.body->keeps_spin);
  const double *before = lab.body->spin_before, size = sqrt(yw_dot3(before, before));
  double first[3], momentum[3], off[3];
  memcpy(first, before, sizeof first);
  for (int32_t m = 0; m < lab.particles.count; ++m) {
    yw_vec3 x = yw_xyz(lab.particles.pos[m]);
    yw_vec3 turn = yw_cross(yw_v3(0.2f, -0.1f, 0.4f), x);
    lab.particles.vel[m] = yw_v4(yw_add(yw_xyz(lab.particles.vel[m]), turn));
  }
  memcpy(momentum, lab_measure(&lab).momentum, sizeof momentum);
  yw_plastic_restore_spin(lab.body, &lab.particles);
  yw_plastic_note_spin(lab.body, &lab.particles, &lab.ctx);
  for (int k = 0; k < 3; ++k) off[k] = before[k] - first[k];
  assert_at_most(sqrt(yw_dot3(off, off)) / size, 1e-5);
  for (int k = 0; k < 3; ++k) off[k] = lab_measure(&lab).momentum[k] - momentum[k];
  assert_at_most(sqrt(yw_dot3(off, off)), 1e-4);
  lab_end(&lab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_bodies_keep_their_spin),
      cmocka_unit_test(lost_spin_is_given_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
