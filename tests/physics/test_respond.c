// SPDX-License-Identifier: MIT
// Answers of bodies to impulses: what contact between bodies is solved with.
#include "support/frames_moving.h"
#include "support/responding.h"

// Frames ------------------------------------------------------------------------------------------

static yw_status frames_exactly(void* state, const yw_particles* particles, const yw_step_ctx* ctx,
                                const yw_vec4* impulses, yw_vec4* change) {
  return yw_frames_respond(state, particles, ctx, impulses, 1e-5f, change);
}

static responding frames_responding(moving_bar* m) {
  return (responding){&yw_frames_method, m->state, &m->particles, &m->ctx, frames_exactly};
}

// A bar that falls, turns and wobbles, and has a history.
static void make_flying_bar(moving_bar* m, int n, int kind, double young, yw_frames_solver solver) {
  moving_make(m, n, kind, young, 0.3, solver);
  m->ctx.gravity = (yw_vec3){0, -9.81f, 0};
  yw_frames_params params = yw_frames_params_of(m->state);
  params.tolerance = 1e-5f;
  assert_int_equal(yw_frames_set_params(m->state, &params), 0);
  for (int32_t i = 0; i < m->particles.count; ++i) {
    yw_vec3 x = yw_xyz(m->particles.pos[i]);
    m->particles.vel[i] = yw_v4((yw_vec3){1 - 2 * x.y, 2 * x.x - 1.5f * x.z, 1.5f * x.y + x.x});
  }
  assert_at_least(moving_step(m, 5), 0);
}

static void frames_answer_as_forces_in_a_step_do(void** state) {
  (void)state;
  for (int solver = 0; solver < 2; ++solver) {
    for (int kind = 0; kind < 2; ++kind) {
      moving_bar m, twin;
      make_flying_bar(&m, 3, kind, 1e6, solver);
      make_flying_bar(&twin, 3, kind, 1e6, solver);
      int32_t corner = m.order[bar_vertex(&m.bar, BAR_LENGTH, 0.5, 0.5)];
      responding a = frames_responding(&m), b = frames_responding(&twin);
      // The second-order formula gives two thirds of a force's impulse now and the rest later.
      double push = (double)m.ctx.h * (solver == YW_FRAMES_BDF2 ? 2.0 / 3.0 : 1.0);
      check_answer_is_that_of_forces(&a, &b, corner, yw_v3(300, -500, 200), push, 0.02);
      moving_free(&m);
      moving_free(&twin);
    }
  }
}

static void frames_answers_are_symmetric(void** state) {
  (void)state;
  for (int solver = 0; solver < 2; ++solver) {
    // With and without the coarse lattice; free, and held at one end.
    for (int n = 2; n < 5; n += 2) {
      for (int held = 0; held < 2; ++held) {
        moving_bar m;
        make_flying_bar(&m, n, YW_FRAMES_RINGS, 1e6, solver);
        if (held) moving_clamp(&m);
        assert_at_least(moving_step(&m, 1), 0);
        responding r = frames_responding(&m);
        check_symmetry(&r, 1e-3);
        moving_free(&m);
      }
    }
  }
}

static void frames_answers_keep_momenta(void** state) {
  (void)state;
  for (int solver = 0; solver < 4; ++solver) {
    moving_bar m;
    make_flying_bar(&m, 3, YW_FRAMES_RINGS, 1e6, solver);
    // Damping acts on what is not rigid.
    yw_frames_params params = yw_frames_params_of(m.state);
    params.damping = 5.0f;
    assert_int_equal(yw_frames_set_params(m.state, &params), 0);
    assert_at_least(moving_step(&m, 1), 0);
    responding r = frames_responding(&m);
    check_answered_momentum(&r, 1e-6, 1e-6);
    moving_free(&m);
  }
}

static void held_frames_do_not_move(void** state) {
  (void)state;
  moving_bar m;
  make_flying_bar(&m, 2, YW_FRAMES_RINGS, 1e6, YW_FRAMES_IMPLICIT);
  moving_clamp(&m);
  assert_at_least(moving_step(&m, 1), 0);
  responding r = frames_responding(&m);
  yw_vec4 *j = new_vectors(&r), *change = new_vectors(&r);
  for (int32_t i = 0; i < m.particles.count; ++i) j[i] = (yw_vec4){1, 1, 1, 0};
  assert_int_equal(r.method->respond(r.state, r.particles, r.ctx, j, change), YW_OK);
  for (int32_t i = 0; i < m.particles.count; ++i) {
    assert_true((m.particles.inv_mass[i] == 0) == (yw_length2(yw_xyz(change[i])) == 0));
  }
  free(j), free(change);
  moving_free(&m);
}

// A push of 1 N s at a corner: the whole of a stiff block moves, of a soft one the corner alone.
static void stiff_frames_answer_as_one_and_soft_ones_apart(void** state) {
  (void)state;
  const double youngs[3] = {1e11, 1e6, 10};
  double speeds[3], rigid = 0, apart = 0;
  for (int k = 0; k < 3; ++k) {
    moving_bar m;
    moving_make(&m, 2, YW_FRAMES_RINGS, youngs[k], 0.3, YW_FRAMES_IMPLICIT);
    assert_at_least(moving_step(&m, 1), 0);
    responding r = frames_responding(&m);
    yw_vec4 *j = new_vectors(&r), *change = new_vectors(&r);
    int32_t corner = m.order[bar_vertex(&m.bar, BAR_LENGTH, 0.5, 0.5)];
    double center, mass = 0, momentum = 0;
    j[corner] = (yw_vec4){0, 1, 0, 0};
    assert_int_equal(r.method->respond(r.state, r.particles, r.ctx, j, change), YW_OK);
    rigid = rigid_speed(&m.particles, corner, yw_v3(0, 1, 0), &center);
    apart = 1.0 / (double)m.particles.mass[corner];
    speeds[k] = (double)change[corner].y;
    for (int32_t i = 0; i < m.particles.count; ++i) {
      mass += m.particles.mass[i];
      momentum += (double)m.particles.mass[i] * change[i].y;
    }
    assert_near(momentum / mass, center, 1e-6 * center);
    free(j), free(change);
    moving_free(&m);
  }
  print_message("corner: stiff %.4g, rigid %.4g; middle %.4g; soft %.4g, apart %.4g m/s\n",
                speeds[0], rigid, speeds[1], speeds[2], apart);
  assert_near(speeds[0], rigid, 0.01 * rigid);
  assert_true(speeds[1] > 1.5 * rigid && speeds[1] < 0.75 * apart);
  assert_near(speeds[2], apart, 0.01 * apart);
}

static void frames_answers_leave_no_trace(void** state) {
  (void)state;
  for (int solver = 0; solver < 4; ++solver) {
    moving_bar m, twin;
    make_flying_bar(&m, 4, YW_FRAMES_RINGS, 1e6, solver);
    make_flying_bar(&twin, 4, YW_FRAMES_RINGS, 1e6, solver);
    responding a = frames_responding(&m), b = frames_responding(&twin);
    check_answer_leaves_no_trace(&a, &b);
    moving_free(&m);
    moving_free(&twin);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_answer_as_forces_in_a_step_do),
      cmocka_unit_test(frames_answers_are_symmetric),
      cmocka_unit_test(frames_answers_keep_momenta),
      cmocka_unit_test(held_frames_do_not_move),
      cmocka_unit_test(stiff_frames_answer_as_one_and_soft_ones_apart),
      cmocka_unit_test(frames_answers_leave_no_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
