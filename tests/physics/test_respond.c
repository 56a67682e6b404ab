// SPDX-License-Identifier: MIT
// Answers of bodies to impulses: what contact between bodies is solved with.
#include "methods/kit/respond.h"
#include "support/frames_moving.h"
#include "support/plastic_testing.h"
#include "support/responding.h"
#include "support/slender_moving.h"

// Rigid answers -----------------------------------------------------------------------------------

// sum m v, or sum y x m v about the center, of changes of velocity; without masses, of impulses.
static void add_momenta(const yw_particles* p, const yw_vec4* v, bool impulses,
                        const double center[3], double linear[3], double angular[3]) {
  for (int k = 0; k < 3; ++k) linear[k] = angular[k] = 0.0;
  for (int32_t i = 0; i < p->count; ++i) {
    double m = impulses ? 1.0 : (double)p->mass[i], y[3], own[3];
    for (int k = 0; k < 3; ++k) {
      y[k] = (double)(&p->pos[i].x)[k] - center[k];
      own[k] = m * (double)(&v[i].x)[k];
      linear[k] += own[k];
    }
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      angular[k] += y[a] * own[b] - y[b] * own[a];
    }
  }
}

// The rest of the impulses has no momenta; any change of velocities gets those of the impulses, or
// without rotations their sum alone.
static void rigid_answers_have_the_momenta_of_the_impulses(void** state) {
  (void)state;
  enum { COUNT = 20 };
  test_random random = {8};
  yw_vec4 pos[COUNT] = {{0}}, impulses[COUNT] = {{0}}, rest[COUNT], change[COUNT] = {{0}};
  float mass[COUNT], inv_mass[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    mass[i] = (float)test_random_in(&random, 0.5, 2);
    inv_mass[i] = 1.0f / mass[i];
    for (int k = 0; k < 3; ++k) {
      (&pos[i].x)[k] = (float)test_random_in(&random, -1, 1) + 3.0f * (float)k;
      (&impulses[i].x)[k] = (float)test_random_in(&random, -1, 1) + 0.3f;
    }
  }
  yw_particles particles = {.count = COUNT, .pos = pos, .mass = mass, .inv_mass = inv_mass};
  for (int turns = 0; turns < 2; ++turns) {
    for (int i = 0; i < COUNT; ++i) {
      for (int k = 0; k < 3; ++k) (&change[i].x)[k] = (float)test_random_in(&random, -1, 1);
    }
    yw_rigid_answer answer = yw_answer_rigidly(&particles, impulses, turns, rest);
    yw_answer_add_rigid(&particles, &answer, change);
    double wanted[2][3], left[2][3], got[2][3];
    add_momenta(&particles, impulses, true, answer.center, wanted[0], wanted[1]);
    add_momenta(&particles, rest, true, answer.center, left[0], left[1]);
    add_momenta(&particles, change, false, answer.center, got[0], got[1]);
    for (int k = 0; k < 3; ++k) {
      assert_at_least(fabs(wanted[0][k]), 0.1);
      for (int kind = 0; kind <= turns; ++kind) {
        assert_near(left[kind][k], 0, 1e-5);
        assert_near(got[kind][k], wanted[kind][k], 1e-5);
      }
    }
  }
}

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

// Rods and sheets ---------------------------------------------------------------------------------

static responding slender_responding(slender_mover* m) {
  return (responding){&yw_slender_method, m->body, &m->particles, &m->ctx, yw_slender_respond};
}

static slender_model* coiled_rod(void) {
  yw_vec3 points[30];
  for (int i = 0; i < 30; ++i) {
    float t = 0.3f * (float)i;
    points[i] = (yw_vec3){0.3f * cosf(t), 0.3f * sinf(t), 0.02f * (float)i};
  }
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = 30;
  def.radius = 0.01f;
  return rod_model_of(&def);
}

// A rod (kind 0) or a sheet that falls, turns and wobbles.
static void make_flying_slender(slender_mover* m, int kind, float young, yw_slender_solver solver) {
  slender_model* model =
      kind == 0 ? coiled_rod() : sheet_from(plate_mesh(1, 1, 7, 7, PLATE_JITTERED), 0.02f, young);
  mover_make(m, model, 1.0f / 240);
  m->ctx.gravity = (yw_vec3){0, -9.81f, 0};
  mover_solver(m, solver);
  yw_slender_params tight = yw_slender_params_of(m->body);
  tight.tolerance = 1e-6f;
  assert_int_equal(yw_slender_set_params(m->body, &tight), 0);
  test_random random = {6};
  for (int32_t i = 0; i < m->particles.count; ++i) {
    yw_vec3 x = yw_xyz(m->particles.pos[i]), kick = random_direction(&random);
    yw_vec3 v = yw_v3(1 - 2 * x.y, 2 * x.x - 1.5f * x.z, 1.5f * x.y + x.x);
    m->particles.vel[i] = yw_v4(yw_mad(v, 0.3f, kick));
  }
  mover_step(m, 5);
}

static void slender_bodies_answer_as_forces_in_a_step_do(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    for (int solver = 0; solver < 2; ++solver) {
      slender_mover m, twin;
      make_flying_slender(&m, kind, 1e6f, solver);
      make_flying_slender(&twin, kind, 1e6f, solver);
      responding a = slender_responding(&m), b = slender_responding(&twin);
      double push = (double)m.ctx.h * (solver == YW_SLENDER_BDF2 ? 2.0 / 3.0 : 1.0);
      check_answer_is_that_of_forces(&a, &b, 3, yw_v3(0.02f, -0.05f, 0.04f), push, 0.02);
      mover_free(&m);
      mover_free(&twin);
    }
  }
}

static void slender_answers_are_symmetric_and_keep_momentum(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    for (int solver = 0; solver < 4; ++solver) {
      for (int held = 0; held < 2; ++held) {
        slender_mover m;
        make_flying_slender(&m, kind, 1e6f, solver);
        yw_slender_params params = yw_slender_params_of(m.body);
        params.damping = 5.0f;
        assert_int_equal(yw_slender_set_params(m.body, &params), 0);
        if (held) mover_hold(&m, 2, true), mover_hold(&m, 4, false);
        mover_step(&m, 1);
        responding r = slender_responding(&m);
        check_symmetry(&r, 1e-5);
        // Orientations carry a small part of the angular momentum.
        if (!held) check_answered_momentum(&r, 1e-6, 1e-3);
        mover_free(&m);
      }
    }
  }
}

static void slender_answers_leave_no_trace(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    for (int solver = 0; solver < 4; ++solver) {
      slender_mover m, twin;
      make_flying_slender(&m, kind, 1e6f, solver);
      make_flying_slender(&twin, kind, 1e6f, solver);
      responding a = slender_responding(&m), b = slender_responding(&twin);
      check_answer_leaves_no_trace(&a, &b);
      mover_free(&m);
      mover_free(&twin);
    }
  }
}

// A push across the end of a rod: the middle of a stiff one moves as its whole mass.
static void stiff_rods_answer_as_one_and_soft_ones_apart(void** state) {
  (void)state;
  const float youngs[2] = {1e13f, 1.0f};
  for (int k = 0; k < 2; ++k) {
    yw_vec3* points = straight_points(11, 1.0);
    yw_rod_def def = yw_default_rod_def();
    def.points = points;
    def.num_points = 11;
    def.radius = 0.01f;
    def.youngs_modulus = youngs[k];
    slender_mover m;
    mover_make(&m, rod_model_of(&def), 1.0f / 60);
    mover_step(&m, 1);
    responding r = slender_responding(&m);
    yw_vec4 *j = new_vectors(&r), *change = new_vectors(&r);
    double mass = 0, inertia = 0, momentum = 0;
    j[0] = (yw_vec4){0, 1, 0, 0};
    assert_int_equal(r.method->respond(r.state, r.particles, r.ctx, j, change), YW_OK);
    for (int32_t i = 0; i < 11; ++i) {
      mass += m.particles.mass[i];
      inertia += (double)m.particles.mass[i] * pow(m.particles.pos[i].x - 0.5, 2);
      momentum += (double)m.particles.mass[i] * change[i].y;
    }
    double rigid = 1.0 / mass + 0.25 / inertia, apart = 1.0 / (double)m.particles.mass[0];
    print_message("end of a rod: %.5g, rigid %.5g, apart %.5g m/s\n", (double)change[0].y, rigid,
                  apart);
    assert_near(momentum, 1.0, 1e-6);
    assert_near(change[0].y, k == 0 ? rigid : apart, 0.01 * (k == 0 ? rigid : apart));
    free(j), free(change), free(points);
    mover_free(&m);
  }
}

// Particles on an obstacle are free to answer: a sheet on the floor is pushed off as it would be in
// the air.
static void stop_at_floor(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                          const float* radius, float begin, float span) {
  (void)begin, (void)span, (void)old_pos, (void)radius, (void)ctx;
  for (int32_t i = 0; i < particles->count; ++i) {
    if (particles->pos[i].z >= -0.5f) continue;
    particles->pos[i].z = -0.5f;
    particles->vel[i] = (yw_vec4){0};
  }
}

static void obstacles_do_not_hold_answers(void** state) {
  (void)state;
  for (int method = 0; method < 2; ++method) {
    double found[2];
    for (int floor = 0; floor < 2; ++floor) {
      slender_mover sheet;
      moving_bar bar;
      responding r;
      if (method == 0) {
        moving_make(&bar, 2, YW_FRAMES_RINGS, 1e6, 0.3, YW_FRAMES_IMPLICIT);
        r = frames_responding(&bar);
      } else {
        mover_make(&sheet, sheet_from(plate_mesh(1, 1, 5, 5, PLATE_JITTERED), 0.02f, 1e6f),
                   1.0f / 60);
        for (int32_t i = 0; i < sheet.particles.count; ++i) sheet.particles.pos[i].z -= 0.5f;
        yw_slender_method.invalidate(sheet.body, &sheet.particles);
        r = slender_responding(&sheet);
      }
      r.ctx->gravity = (yw_vec3){0, 0, -9.81f};
      if (floor) r.ctx->collide = stop_at_floor;
      assert_true(r.method->advance(r.state, r.particles, r.ctx) >= 0);
      yw_vec4 *j = new_vectors(&r), *change = new_vectors(&r);
      for (int32_t i = 0; i < r.particles->count; ++i) {
        if (r.particles->pos[i].z < -0.4999f) j[i] = (yw_vec4){0, 0, 1, 0};
      }
      j[0] = (yw_vec4){1, 0, 0, 0};
      assert_int_equal(r.method->respond(r.state, r.particles, r.ctx, j, change), YW_OK);
      check_answered_momentum(&r, 1e-6, 1e-3);
      found[floor] = sqrt(dot_vectors(change, change, r.particles->count));
      free(j), free(change);
      if (method == 0)
        moving_free(&bar);
      else
        mover_free(&sheet);
    }
    assert_near(found[1] / found[0], 1.0, 0.02);
  }
}

// Plastic bodies ----------------------------------------------------------------------------------

static yw_status plastic_exactly(void* state, const yw_particles* particles, const yw_step_ctx* ctx,
                                 const yw_vec4* impulses, yw_vec4* change) {
  return yw_plastic_respond(state, particles, ctx, impulses, 1e-5f, change);
}

static responding plastic_responding(plastic_lab* lab) {
  return (responding){&yw_plastic_method, lab->body, &lab->particles, &lab->ctx, plastic_exactly};
}

// A block of 7 x 6 x 5 masters, 0.05 m apart, that falls and turns.
static void make_flying_block(plastic_lab* lab, float young, bool in_one_step) {
  yw_shape* box = lab_box(7, 6, 5, 0.05f);
  yw_plastic_part part = yw_default_plastic_part();
  part.material.youngs_modulus = young;
  part.angular_velocity = (yw_vec3){1, 2, -1.5f};
  lab_begin_shape(lab, box, 0.05f, &part);
  lab->body->params.tolerance = 1e-5f;
  if (in_one_step) lab->body->params.time_step = 1.0f;
  yw_shape_release(box);
  for (int step = 0; step < 4; ++step) assert_true(lab_step(lab, 2e-3f) >= 0);
}

static void plastic_bodies_answer_as_forces_in_a_step_do(void** state) {
  (void)state;
  const float youngs[2] = {1e4f, 1e6f};
  for (int k = 0; k < 2; ++k) {
    plastic_lab lab, twin;
    make_flying_block(&lab, youngs[k], true);
    make_flying_block(&twin, youngs[k], true);
    responding a = plastic_responding(&lab), b = plastic_responding(&twin);
    check_answer_is_that_of_forces(&a, &b, 3, yw_v3(20, -10, 15), (double)lab.ctx.h, 0.02);
    assert_int_equal(lab.body->inner_steps, 1);
    lab_end(&lab);
    lab_end(&twin);
  }
}

static void plastic_answers_are_symmetric_and_keep_momentum(void** state) {
  (void)state;
  for (int held = 0; held < 2; ++held) {
    plastic_lab lab;
    make_flying_block(&lab, 1e5f, false);
    yw_vec3 x = yw_xyz(lab.particles.pos[17]);
    yw_hold hold = {.particle = 17, .begin = x, .end = x};
    lab.ctx.holds = &hold;
    lab.ctx.num_holds = held;
    if (held) lab.particles.inv_mass[17] = 0.0f;
    assert_true(lab_step(&lab, 2e-3f) >= 0);
    responding r = plastic_responding(&lab);
    check_symmetry(&r, 1e-3);
    // Affine velocities carry a part of the angular momentum.
    if (!held) check_answered_momentum(&r, 1e-6, 1.0);
    lab_end(&lab);
  }
}

static void plastic_answers_leave_no_trace(void** state) {
  (void)state;
  plastic_lab lab, twin;
  make_flying_block(&lab, 1e5f, false);
  make_flying_block(&twin, 1e5f, false);
  responding a = plastic_responding(&lab), b = plastic_responding(&twin);
  check_answer_leaves_no_trace(&a, &b);
  lab_end(&lab);
  lab_end(&twin);
}

// While it tears, slaves are added after the solve whose matrix answers.
static void plastic_answers_of_tearing_matter_leave_no_trace(void** state) {
  (void)state;
  plastic_lab labs[2];
  int fresh = 0;
  for (int k = 0; k < 2; ++k) {
    make_flying_block(&labs[k], 1e3f, false);
    for (int32_t i = 0; i < labs[k].particles.count; ++i) {
      labs[k].particles.vel[i].x += labs[k].model->masters[i].x < 0.175f ? -10.0f : 10.0f;
    }
  }
  responding a = plastic_responding(&labs[0]), b = plastic_responding(&labs[1]);
  for (int step = 0; step < 20; ++step) {
    for (int k = 0; k < 2; ++k) assert_true(lab_step(&labs[k], 2e-3f) >= 0);
    fresh += labs[0].body->num_listed > 0 && labs[0].body->num_slaves > labs[0].body->num_listed;
    check_answered_momentum(&a, 1e-6, 1.0);
    check_answer_leaves_no_trace(&a, &b);
  }
  assert_at_least(fresh, 1);
  lab_end(&labs[0]);
  lab_end(&labs[1]);
}

// Answer of the lowest layer of a block of 4 x 4 x 4 to a push upwards; *touching counts slaves
// that touch the floor.
static double push_from_below(plastic_lab* lab, bool with_floor, int* touching) {
  yw_shape* box = lab_box(4, 4, 4, 0.05f);
  lab_begin_shape(lab, box, 0.05f, NULL);
  yw_shape_release(box);
  if (with_floor) lab_add_floor(lab, 0.5f);
  for (int step = 0; step < 10; ++step) assert_true(lab_step(lab, 1.0f / 240) >= 0);
  *touching = 0;
  for (int32_t s = 0; s < lab->body->num_slaves; ++s) *touching += lab->body->normal[s].w != 0;
  responding r = plastic_responding(lab);
  yw_vec4 *j = new_vectors(&r), *change = new_vectors(&r);
  for (int32_t i = 0; i < 64; ++i) j[i].y = lab->model->masters[i].y < 0.05f ? 1 : 0;
  assert_int_equal(r.method->respond(r.state, r.particles, r.ctx, j, change), YW_OK);
  double work = dot_vectors(j, change, 64);
  free(j), free(change);
  return work;
}

// Awake, the floor holds nothing back; asleep, every master answers for itself.
static void plastic_bodies_on_the_floor_answer(void** state) {
  (void)state;
  plastic_lab lab, falling;
  int touching, none;
  double above = push_from_below(&falling, false, &none);
  double found = push_from_below(&lab, true, &touching);
  assert_at_least(touching, 9);
  assert_near(found / above, 1.0, 0.02);
  lab_end(&falling);

  responding r = plastic_responding(&lab);
  for (int step = 0; step < 960 && lab.report.asleep == 0; ++step) lab_step(&lab, 1.0f / 240);
  assert_int_equal(lab.report.asleep, 64);
  yw_vec4 *j = new_vectors(&r), *change = new_vectors(&r);
  j[5] = (yw_vec4){1, 2, 3, 0};
  assert_int_equal(r.method->respond(r.state, r.particles, r.ctx, j, change), YW_OK);
  for (int32_t i = 0; i < 64; ++i) {
    double speed = (double)yw_length(yw_xyz(change[i]));
    assert_near(speed, i == 5 ? sqrt(14.0) / (double)lab.particles.mass[5] : 0, 1e-4);
  }
  free(j), free(change);
  lab_end(&lab);
}

// A push on a face moves the whole of a stiff block, and of a soft one only the layer behind the
// face. Slaves can move against each other where masters see no gradient, so that even a stiff
// block gives way a little.
static void stiff_plastic_bodies_answer_as_one(void** state) {
  (void)state;
  const float youngs[2] = {1e11f, 1.0f};
  double speeds[2], rigid = 0;
  for (int k = 0; k < 2; ++k) {
    plastic_lab lab;
    make_flying_block(&lab, youngs[k], true);
    responding r = plastic_responding(&lab);
    yw_vec4 *j = new_vectors(&r), *change = new_vectors(&r);
    double mass = 0, momentum = 0;
    for (int32_t i = 0; i < lab.particles.count; ++i) {
      mass += lab.particles.mass[i];
      if (lab.model->masters[i].x < 0.05f) j[i] = (yw_vec4){1.0f / 30, 0, 0, 0};
    }
    assert_int_equal(r.method->respond(r.state, r.particles, r.ctx, j, change), YW_OK);
    for (int32_t i = 0; i < lab.particles.count; ++i) {
      momentum += (double)lab.particles.mass[i] * change[i].x;
    }
    assert_near(momentum, 1.0, 1e-6);
    rigid = 1.0 / mass;
    speeds[k] = dot_vectors(j, change, lab.particles.count);
    free(j), free(change);
    lab_end(&lab);
  }
  print_message("face: stiff %.4g, rigid %.4g; soft %.4g m/s\n", speeds[0], rigid, speeds[1]);
  assert_true(speeds[0] > rigid && speeds[0] < 1.25 * rigid);
  assert_true(speeds[1] > 4.0 * rigid);
}

// Bits --------------------------------------------------------------------------------------------

static void check_bits(const responding* r) {
  yw_vec4 *j = new_vectors(r), *first = new_vectors(r), *change = new_vectors(r);
  test_random random = {8};
  yw_tasks* tasks = yw_tasks_create(NULL, 3);
  assert_non_null(tasks);
  for (int32_t i = 0; i < r->particles->count; i += 4) j[i] = yw_v4(random_direction(&random));
  for (int simd = YW_SIMD_PLAIN; simd <= (int)yw_simd_resolve(YW_SIMD_AUTO); ++simd) {
    for (int threads = 0; threads < 2; ++threads) {
      yw_step_ctx ctx = *r->ctx;
      ctx.simd = (yw_simd)simd;
      ctx.tasks = threads ? tasks : NULL;
      bool is_first = simd == YW_SIMD_PLAIN && threads == 0;
      yw_vec4* out = is_first ? first : change;
      assert_int_equal(r->method->respond(r->state, r->particles, &ctx, j, out), YW_OK);
      size_t bytes = (size_t)r->particles->count * sizeof *j;
      if (!is_first) assert_memory_equal(first, change, bytes);
    }
  }
  yw_tasks_destroy(tasks);
  free(j), free(first), free(change);
}

static void answers_have_the_same_bits_everywhere(void** state) {
  (void)state;
  moving_bar bar;
  make_flying_bar(&bar, 10, YW_FRAMES_RINGS, 1e6, YW_FRAMES_IMPLICIT);
  slender_mover sheet;
  make_flying_slender(&sheet, 1, 1e6f, YW_SLENDER_IMPLICIT);
  plastic_lab lab;
  yw_shape* box = lab_box(12, 12, 12, 0.05f);
  lab_begin_shape(&lab, box, 0.05f, NULL);
  yw_shape_release(box);
  assert_true(lab_step(&lab, 2e-3f) >= 0);
  const responding all[3] = {frames_responding(&bar), slender_responding(&sheet),
                             plastic_responding(&lab)};
  for (int k = 0; k < 3; ++k) check_bits(&all[k]);
  moving_free(&bar);
  mover_free(&sheet);
  lab_end(&lab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_answers_have_the_momenta_of_the_impulses),
      cmocka_unit_test(frames_answer_as_forces_in_a_step_do),
      cmocka_unit_test(frames_answers_are_symmetric),
      cmocka_unit_test(frames_answers_keep_momenta),
      cmocka_unit_test(held_frames_do_not_move),
      cmocka_unit_test(stiff_frames_answer_as_one_and_soft_ones_apart),
      cmocka_unit_test(frames_answers_leave_no_trace),
      cmocka_unit_test(slender_bodies_answer_as_forces_in_a_step_do),
      cmocka_unit_test(slender_answers_are_symmetric_and_keep_momentum),
      cmocka_unit_test(slender_answers_leave_no_trace),
      cmocka_unit_test(stiff_rods_answer_as_one_and_soft_ones_apart),
      cmocka_unit_test(obstacles_do_not_hold_answers),
      cmocka_unit_test(plastic_bodies_answer_as_forces_in_a_step_do),
      cmocka_unit_test(plastic_answers_are_symmetric_and_keep_momentum),
      cmocka_unit_test(plastic_answers_leave_no_trace),
      cmocka_unit_test(plastic_answers_of_tearing_matter_leave_no_trace),
      cmocka_unit_test(plastic_bodies_on_the_floor_answer),
      cmocka_unit_test(stiff_plastic_bodies_answer_as_one),
      cmocka_unit_test(answers_have_the_same_bits_everywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
