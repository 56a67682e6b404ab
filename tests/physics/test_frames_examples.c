// SPDX-License-Identifier: MIT
// Example poses in the energy of frames bodies.
#include "math/small/mat3d.h"
#include "math/small/simplex.h"
#include "support/frames_moving.h"
#include "yawara/extend/vec.h"
#include "yawara/frames.h"
#include "yawara/pose.h"

#define EXAMPLES 2

typedef struct example_bar {
  moving_bar m;
  yw_vec3* poses[EXAMPLES];
  double (*l[EXAMPLES])[6];  // S^k - 1 per region
} example_bar;

static void example_make(example_bar* e, int n, yw_frames_kind kind, float beta) {
  *e = (example_bar){0};
  moving_bar* m = &e->m;
  bar_make(&m->bar, n, kind, 0.3, YW_LATTICE_FIVE, 0.0);
  yw_frames_def def = bar_def(&m->bar, kind);
  const yw_deform_kind how[EXAMPLES] = {YW_DEFORM_TWIST, YW_DEFORM_BEND};
  double* x = malloc(24 * m->bar.count);
  for (int k = 0; k < EXAMPLES; ++k) {
    yw_deform deform = yw_default_deform(how[k]);
    deform.amount = 0.7f;
    e->poses[k] = malloc(sizeof(yw_vec3) * m->bar.count);
    assert_true(yw_deform_apply(&deform, m->bar.mesh.num_vertices, m->bar.mesh.positions,
                                e->poses[k], NULL) >= 0);
    e->l[k] = malloc(sizeof(double[6]) * (size_t)m->bar.regions.num_regions);
    for (size_t i = 0; i < 3 * m->bar.count; ++i) x[i] = (double)(&e->poses[k][i / 3].x)[i % 3];
    for (int32_t r = 0; r < m->bar.regions.num_regions; ++r) {
      double a[9], rotation[9];
      yw_frames_map(&m->bar.regions, r, x, a);
      yw_m3_polar(a, rotation, e->l[k][r]);
      for (int i = 0; i < 3; ++i) e->l[k][r][i] -= 1;
    }
  }
  free(x);
  def.num_examples = EXAMPLES;
  def.examples = (const yw_vec3* const*)e->poses;
  def.params.beta = beta;
  yw_error error = {0};
  if (yw_frames_model_create(NULL, &def, &m->model, &error) < 0) fail_msg("%s", error.message);
  assert_int_equal(yw_frames_method.body_create(m->model, NULL, &m->state, &m->particles, &error),
                   0);
  m->order = yw_frames_method.particle_of_vertex(m->state);
  m->ctx = (yw_step_ctx){.h = 1.0f / 60, .simd = yw_simd_resolve(YW_SIMD_AUTO)};
  m->ctx.report = &m->report;
}

static void example_free(example_bar* e) {
  for (int k = 0; k < EXAMPLES; ++k) free(e->poses[k]), free(e->l[k]);
  moving_free(&e->m);
}

static void aim_at(const example_bar* e, const double* w, frames_targets* targets) {
  for (int32_t r = 0; r < e->m.bar.regions.num_regions; ++r) {
    for (int i = 0; i < 6; ++i) {
      targets->stretch[r][i] = i < 3;
      for (int k = 0; k < EXAMPLES; ++k) targets->stretch[r][i] += w[k] * e->l[k][r][i];
    }
  }
}

// Alternates between weights and rotations until converged, in double.
static void fit(const example_bar* e, const double* x, double* w, frames_targets* targets) {
  const frames_regions* regions = &e->m.bar.regions;
  double gram[EXAMPLES * EXAMPLES] = {0};
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    for (int i = 0; i < EXAMPLES; ++i) {
      for (int j = 0; j < EXAMPLES; ++j) {
        const double *a = e->l[i][r], *b = e->l[j][r];
        double product = 0;
        for (int c = 0; c < 6; ++c) product += (c < 3 ? 1 : 2) * a[c] * b[c];
        gram[i * EXAMPLES + j] +=
            regions->volume[r] *
            (regions->mu[r] * product +
             0.5 * regions->lambda[r] * (a[0] + a[1] + a[2]) * (b[0] + b[1] + b[2]));
      }
    }
  }
  for (int round = 0; round < 300; ++round) {
    double b[EXAMPLES] = {0};
    aim_at(e, w, targets);
    for (int32_t r = 0; r < regions->num_regions; ++r) {
      double a[9], r0[9], s0[6], full[9], bent[9], r1[9], s1[6], t[9];
      yw_frames_map(regions, r, x, a);
      yw_m3_polar(a, r0, s0);
      yw_m3_of_sym(targets->stretch[r], full);
      yw_m3_mul(a, full, bent);
      yw_m3_polar(bent, r1, s1);
      yw_m3_mul_tn(r1, a, t);
      for (int k = 0; k < EXAMPLES; ++k) {
        const double* l = e->l[k][r];
        double product = l[0] * (t[0] - 1) + l[1] * (t[4] - 1) + l[2] * (t[8] - 1) +
                         l[3] * (t[1] + t[3]) + l[4] * (t[2] + t[6]) + l[5] * (t[5] + t[7]);
        b[k] += regions->volume[r] *
                (regions->mu[r] * product +
                 0.5 * regions->lambda[r] * (l[0] + l[1] + l[2]) * (s0[0] + s0[1] + s0[2] - 3));
      }
    }
    yw_project_exact(EXAMPLES, gram, b, NULL, w);
  }
  aim_at(e, w, targets);
}

// Between the poses, perturbed.
static void mix(const example_bar* e, double* x) {
  test_random random = {5};
  for (size_t i = 0; i < 3 * e->m.bar.count; ++i) {
    double rest = e->m.bar.x[i];
    x[i] = rest + 0.5 * ((double)(&e->poses[0][i / 3].x)[i % 3] - rest) +
           0.2 * ((double)(&e->poses[1][i / 3].x)[i % 3] - rest) +
           test_random_in(&random, -0.02, 0.02);
  }
}

static void gradient_is_that_of_the_smallest_energy_and_has_no_torque(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    example_bar e;
    example_make(&e, 1, kind, 0.8f);
    const frames_regions* regions = &e.m.bar.regions;
    size_t n = 3 * e.m.bar.count;
    frames_targets targets = {malloc(sizeof(double[6]) * (size_t)regions->num_regions), 0.8};
    double *x = malloc(8 * n), *y = malloc(8 * n), *g = malloc(8 * n), *d = malloc(8 * n);
    double w[EXAMPLES] = {0}, energy[2], slope = 0, gg = 0, dd = 0;
    mix(&e, x);
    fit(&e, x, w, &targets);
    assert_true(w[0] > 0.05 && w[1] > 0.02 && w[0] + w[1] < 0.98);
    yw_frames_energy(regions, &targets, x, g, NULL, FRAMES_EXACT);
    test_random random = {3};
    for (size_t i = 0; i < n; ++i) {
      d[i] = test_random_in(&random, -1, 1);
      slope += g[i] * d[i], gg += g[i] * g[i], dd += d[i] * d[i];
    }
    for (int side = 0; side < 2; ++side) {
      for (size_t i = 0; i < n; ++i) y[i] = x[i] + (side ? 1e-5 : -1e-5) * d[i];
      fit(&e, y, w, &targets);
      energy[side] = yw_frames_energy(regions, &targets, y, NULL, NULL, FRAMES_EXACT);
    }
    assert_at_most(fabs((energy[1] - energy[0]) / 2e-5 - slope), 1e-6 * sqrt(gg * dd));

    double torque[3] = {0}, size = 0;
    for (size_t v = 0; v < e.m.bar.count; ++v) {
      const double *p = x + 3 * v, *f = g + 3 * v;
      torque[0] += p[1] * f[2] - p[2] * f[1];
      torque[1] += p[2] * f[0] - p[0] * f[2];
      torque[2] += p[0] * f[1] - p[1] * f[0];
      size += sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) * norm3(f);
    }
    assert_at_most(norm3(torque), 1e-12 * size);
    free(targets.stretch), free(x), free(y), free(g), free(d);
    example_free(&e);
  }
}

// Stress and weights of the float kernels against those in double.
static void kernels_agree_with_double_precision(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    example_bar e;
    example_make(&e, 2, kind, 0.8f);
    const frames_regions* regions = &e.m.bar.regions;
    frames_body* body = e.m.state;
    const frames_kernels* kernels = YW_KERNEL_PICK(yw_frames_kernels, e.m.ctx.simd);
    size_t n = 3 * e.m.bar.count;
    frames_targets targets = {malloc(sizeof(double[6]) * (size_t)regions->num_regions), 0.8};
    frames_targets targets_beta = targets;
    targets_beta.beta = (double)0.8f;
    double *x = malloc(8 * n), *g = malloc(8 * n), w[EXAMPLES] = {0}, error = 0, size = 0;
    mix(&e, x);
    for (size_t v = 0; v < e.m.bar.count; ++v) {
      int32_t p = e.m.order[v];
      for (size_t k = 0; k < 3; ++k) {
        (&body->guess[p].x)[k] = (float)x[3 * v + k];
        x[3 * v + k] = (double)(float)x[3 * v + k];
      }
      body->inverse[p] = 1.0f;
    }
    fit(&e, x, w, &targets_beta);
    for (int round = 0; round < 60; ++round) {
      yw_frames_fit_examples(body, body->guess, &e.m.ctx, kernels);
    }
    for (int k = 0; k < EXAMPLES; ++k) assert_near(body->weights[1 + k], w[k], 1e-4);
    yw_frames_energy(regions, &targets_beta, x, g, NULL, FRAMES_EXACT);
    frames_phase phase = {body, e.m.model, body->guess, body->residual, body->inverse};
    yw_frames_run(&e.m.ctx, body->model->region_chunks, kernels->linearise_bent, &phase);
    yw_frames_run(&e.m.ctx, body->model->particle_chunks, kernels->forces, &phase);
    for (size_t v = 0; v < e.m.bar.count; ++v) {
      for (size_t k = 0; k < 3; ++k) {
        double f = (double)(&body->residual[e.m.order[v]].x)[k];
        error += pow(f + g[3 * v + k], 2), size += pow(g[3 * v + k], 2);
      }
    }
    assert_at_most(sqrt(error / size), 2e-4);
    free(targets.stretch), free(x), free(g);
    example_free(&e);
  }
}

// Released near an example, a body that obeys examples comes to rest in it; one that does not goes
// back to its rest pose.
static void bodies_rest_in_the_example_they_are_near(void** state) {
  (void)state;
  for (int run = 0; run < 4; ++run) {
    bool obeys = run & 1;
    example_bar e;
    example_make(&e, 2, YW_FRAMES_RINGS, obeys ? 1.0f : 0.0f);
    for (size_t v = 0; v < e.m.bar.count; ++v) {
      yw_vec3 x = yw_lerp(e.m.bar.mesh.positions[v], e.poses[1][v], 0.9f);
      e.m.particles.pos[e.m.order[v]] = yw_v4(x);
    }
    yw_frames_method.invalidate(e.m.state, &e.m.particles);
    yw_frames_params params = yw_frames_params_of(e.m.state);
    params.damping = 10;
    params.solver = run < 2 ? YW_FRAMES_IMPLICIT : YW_FRAMES_EXTENDED;
    yw_frames_set_params(e.m.state, &params);
    assert_at_least(moving_step(&e.m, 400), 0);
    float w[1 + EXAMPLES], speed = 0;
    assert_int_equal(yw_frames_weights(e.m.state, w, 3), 3);
    for (int32_t p = 0; p < e.m.particles.count; ++p) {
      speed = fmaxf(speed, yw_length(yw_xyz(e.m.particles.vel[p])));
    }
    assert_at_most(speed, 0.02);
    if (obeys) {
      assert_at_least(w[2], 0.8);
    } else {
      assert_at_least(w[0], 0.98);
    }
    example_free(&e);
  }
}

// A body in the pose of an example rotates as freely as one at rest.
static void bent_bodies_spin_freely(void** state) {
  (void)state;
  example_bar e;
  example_make(&e, 2, YW_FRAMES_RINGS, 1.0f);
  for (size_t v = 0; v < e.m.bar.count; ++v) {
    yw_vec3 x = e.poses[1][v];
    e.m.particles.pos[e.m.order[v]] = yw_v4(x);
    e.m.particles.vel[e.m.order[v]] = yw_v4((yw_vec3){-x.y, x.x, 0});
  }
  yw_frames_method.invalidate(e.m.state, &e.m.particles);
  double p0[3], l0[3], p1[3], l1[3];
  const double before = moving_kinetic(&e.m);
  moving_momenta(&e.m, p0, l0);
  assert_at_least(moving_step(&e.m, 60), 0);
  moving_momenta(&e.m, p1, l1);
  for (int k = 0; k < 3; ++k) l1[k] -= l0[k];
  assert_at_most(norm3(l1), 1e-4 * norm3(l0));
  assert_near(moving_kinetic(&e.m) / before, 1, 0.01);
  float w[1 + EXAMPLES];
  yw_frames_weights(e.m.state, w, 3);
  assert_at_least(w[2], 0.9);
  example_free(&e);
}

// Many sweeps of the position-based solver converge to the implicit solver, including examples.
static void sweeps_converge_to_the_implicit_step(void** state) {
  (void)state;
  example_bar e[2];
  for (int k = 0; k < 2; ++k) {
    example_make(&e[k], 2, YW_FRAMES_CELLS, 0.8f);
    moving_bar* m = &e[k].m;
    yw_frames_params params = yw_frames_params_of(m->state);
    params.tolerance = 1e-6f;
    params.solver = k ? YW_FRAMES_EXTENDED : YW_FRAMES_IMPLICIT;
    params.substeps = 1;
    params.sweeps = 400;
    assert_int_equal(yw_frames_set_params(m->state, &params), YW_OK);
    m->ctx.h = 1.0f / 960;
    for (size_t v = 0; v < m->bar.count; ++v) {
      yw_vec3 x = yw_lerp(m->bar.mesh.positions[v], e[k].poses[1][v], 0.5f);
      m->particles.pos[m->order[v]] = yw_v4(x);
    }
    yw_frames_method.invalidate(m->state, &m->particles);
    // Weights converge gradually; both start from the right ones.
    for (int round = 0; round < 60; ++round) {
      yw_frames_fit_examples(m->state, m->particles.pos, &m->ctx,
                             YW_KERNEL_PICK(yw_frames_kernels, m->ctx.simd));
    }
    assert_at_least(moving_step(m, 12), 0);
  }
  double most = 0, moved = 0;
  float w[2][1 + EXAMPLES];
  for (size_t v = 0; v < e[0].m.bar.count; ++v) {
    yw_vec3 x = yw_xyz(e[0].m.particles.pos[e[0].m.order[v]]);
    yw_vec3 y = yw_xyz(e[1].m.particles.pos[e[1].m.order[v]]);
    yw_vec3 start = yw_lerp(e[0].m.bar.mesh.positions[v], e[0].poses[1][v], 0.5f);
    most = fmax(most, (double)yw_distance(x, y));
    moved = fmax(moved, (double)yw_distance(x, start));
  }
  for (int k = 0; k < 2; ++k) assert_int_equal(yw_frames_weights(e[k].m.state, w[k], 3), 3);
  print_message("moved %.4f, apart %.5f, weights %.3f %.3f\n", moved, most, w[0][2], w[1][2]);
  assert_at_least(moved, 0.05);
  assert_at_most(most / moved, 0.03);
  assert_near(w[0][2], w[1][2], 0.02);
  for (int k = 0; k < 2; ++k) example_free(&e[k]);
}

static void the_classic_solver_refuses_examples(void** state) {
  (void)state;
  example_bar e;
  example_make(&e, 1, YW_FRAMES_RINGS, 0.9f);
  yw_frames_params params = yw_frames_params_of(e.m.state);
  params.solver = YW_FRAMES_CLASSIC;
  assert_int_equal(yw_frames_set_params(e.m.state, &params), YW_ERR_INVALID);
  example_free(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradient_is_that_of_the_smallest_energy_and_has_no_torque),
      cmocka_unit_test(kernels_agree_with_double_precision),
      cmocka_unit_test(bodies_rest_in_the_example_they_are_near),
      cmocka_unit_test(bent_bodies_spin_freely),
      cmocka_unit_test(sweeps_converge_to_the_implicit_step),
      cmocka_unit_test(the_classic_solver_refuses_examples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
