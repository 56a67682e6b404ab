// SPDX-License-Identifier: MIT
// The step against a plain one in double precision.
#include "reference/plastic_reference.h"
#include "support/plastic_testing.h"
#include "yawara/plastic.h"

// The reference in the state of a body; slaves perturbed equally in both.
static plastic_reference* reference_of(plastic_lab* lab, float dt, float shake) {
  plastic_body* body = lab->body;
  test_random random = {17};
  plastic_reference* r = plastic_reference_create(body->num_masters, body->num_slaves);
  assert_non_null(r);
  r->spacing = (double)lab->model->spacing;
  r->dt = (double)dt;
  r->tolerance = (double)lab->model->params.tolerance;
  r->iterations = lab->model->params.max_iterations;
  for (int k = 0; k < 3; ++k) r->gravity[k] = (double)(&lab->ctx.gravity.x)[k];
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    for (int k = 0; k < 3; ++k) {
      (&body->slave_pos[s].x)[k] += shake * (float)test_random_in(&random, -1, 1);
      r->slaves[s][k] = (double)(&body->slave_pos[s].x)[k];
    }
  }
  for (int32_t m = 0; m < body->num_masters; ++m) {
    const plastic_material_block* material =
        &lab->model->materials[lab->model->material_of_block[m / YW_LANES]];
    const plastic_state_block* state = &body->state[m / YW_LANES];
    int l = m % YW_LANES;
    reference_master* to = &r->masters[m];
    *to = (reference_master){.mass = (double)lab->particles.mass[m],
                             .volume = (double)material->volume[l],
                             .mu = (double)material->mu[l],
                             .lambda = (double)material->lambda[l],
                             .low = (double)material->low[l],
                             .high = (double)material->high[l],
                             .xi = (double)material->xi[l],
                             .eta = (double)material->eta[l],
                             .det_p = (double)state->det_p[l]};
    for (int k = 0; k < 3; ++k) {
      to->x[k] = (double)(&lab->particles.pos[m].x)[k];
      to->v[k] = (double)(&lab->particles.vel[m].x)[k];
    }
    for (int k = 0; k < 9; ++k) {
      to->c[k] = (double)state->c[k][l];
      to->f[k] = (double)state->u[k][l] * (double)state->sigma[k % 3][l];
    }
  }
  return r;
}

static void begin_block(plastic_lab* lab, const yw_plastic_material* material, float dt) {
  float d = 0.05f;
  yw_shape* box = lab_box(8, 7, 6, d);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  part.material = *material;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = &part;
  def.num_parts = 1;
  def.params.time_step = dt;
  def.params.tolerance = 1e-5f;
  def.params.max_iterations = 1000;
  lab_begin(lab, &def);
  yw_shape_release(box);
  assert_true(yw_plastic_follow(lab->body, &lab->particles, &lab->ctx));
}

// One half pulled apart and twisted against the other.
static void twist(plastic_lab* lab) {
  for (int32_t m = 0; m < lab->particles.count; ++m) {
    yw_vec4 x = lab->particles.pos[m];
    float t = x.x - 0.2f;
    lab->particles.vel[m] =
        (yw_vec4){3.0f * t, 4.0f * t * (x.z - 0.15f), -4.0f * t * (x.y - 0.17f), 0};
  }
}

static double largest_error(const plastic_lab* lab, const plastic_reference* r, bool velocity) {
  double worst = 0;
  for (int32_t m = 0; m < r->num_masters; ++m) {
    const float* x = velocity ? &lab->particles.vel[m].x : &lab->particles.pos[m].x;
    const double* y = velocity ? r->masters[m].v : r->masters[m].x;
    for (int k = 0; k < 3; ++k) worst = fmax(worst, fabs((double)x[k] - y[k]));
  }
  return worst;
}

static void compare(const yw_plastic_material* material, float dt, int steps, bool floor) {
  plastic_lab lab;
  begin_block(&lab, material, dt);
  if (floor) {
    lab_add_floor(&lab, 0.0f);
    lab.ctx.friction = 0.0f;
  }
  twist(&lab);
  plastic_reference* r = reference_of(&lab, dt, floor ? 0.0f : 0.005f);
  if (floor) r->floor = 0;
  double fastest = lab_measure(&lab).fastest;
  for (int i = 0; i < steps; ++i) {
    assert_int_equal(lab_step(&lab, dt), YW_OK);
    assert_int_equal(plastic_reference_step(r), 1);
  }
  assert_int_equal(lab.body->num_slaves, r->num_slaves);
  assert_at_most(largest_error(&lab, r, true), 1e-3 * fastest);
  assert_at_most(largest_error(&lab, r, false), 1e-4 * 0.05);
  plastic_reference_destroy(r);
  lab_end(&lab);
}

static void elastic_block_moves_as_the_reference(void** state) {
  (void)state;
  yw_plastic_material material = yw_default_plastic_material();
  material.youngs_modulus = 2e5f;
  compare(&material, 2e-3f, 10, false);
  material.eta = 1.0f;
  compare(&material, 2e-3f, 10, false);
}

static void stiff_block_on_a_floor_moves_as_the_reference(void** state) {
  (void)state;
  yw_plastic_material material = yw_default_plastic_material();
  material.youngs_modulus = 5e6f;
  compare(&material, 1e-3f, 5, true);
}

static void plastic_block_flows_as_the_reference(void** state) {
  (void)state;
  yw_plastic_material material = yw_default_plastic_material();
  material.youngs_modulus = 2e5f;
  material.flow = YW_FLOW_BOX;
  material.xi = 10.0f;
  compare(&material, 1e-3f, 10, false);
}

// In double the identities hold to rounding.
static void reference_weights_are_exact(void** state) {
  (void)state;
  plastic_lab lab;
  yw_plastic_material material = yw_default_plastic_material();
  begin_block(&lab, &material, 1e-3f);
  plastic_reference* r = reference_of(&lab, 1e-3f, 0.005f);
  const reference_pair* pairs;
  int32_t count = plastic_reference_pairs(r, &pairs), e = 0;
  assert_true(count > 20 * r->num_masters);
  double worst = 0;
  for (int32_t m = 0; m < r->num_masters; ++m) {
    double sum = 0, zero[3] = {0}, one[9] = {0};
    for (; e < count && pairs[e].master == m; ++e) {
      sum += pairs[e].n;
      for (int k = 0; k < 3; ++k) zero[k] += pairs[e].g[k] * r->spacing;
      for (int k = 0; k < 9; ++k) one[k] += pairs[e].r[k / 3] * pairs[e].g[k % 3];
    }
    worst = fmax(worst, fabs(sum - 1));
    for (int k = 0; k < 3; ++k) worst = fmax(worst, fabs(zero[k]));
    for (int k = 0; k < 9; ++k) worst = fmax(worst, fabs(one[k] - (k % 4 == 0)));
  }
  assert_at_most(worst, 1e-12);
  plastic_reference_destroy(r);
  lab_end(&lab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elastic_block_moves_as_the_reference),
      cmocka_unit_test(stiff_block_on_a_floor_moves_as_the_reference),
      cmocka_unit_test(plastic_block_flows_as_the_reference),
      cmocka_unit_test(reference_weights_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
