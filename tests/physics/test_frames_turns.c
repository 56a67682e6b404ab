// SPDX-License-Identifier: MIT
// Bodies of oriented particles: against the loop of the papers in double, momentum, twist, and the
// same bits over threads and snapshots.
#include "math/small/turn.h"
#include "reference/oriented.h"
#include "support/frames_moving.h"
#include "support/world_fixture.h"
#include "yawara/frames.h"

static void set_oriented(moving_bar* m, int substeps, int sweeps, float stiffness) {
  yw_frames_params params = yw_frames_params_of(m->state);
  params.solver = YW_FRAMES_ORIENTED;
  params.substeps = substeps;
  params.sweeps = sweeps;
  params.stiffness = stiffness;
  assert_int_equal(yw_frames_set_params(m->state, &params), 0);
}

#define MOST 64

// The same body as groups of balls, in the order of the particles.
typedef struct twin {
  frames_oriented particles[MOST];
  int32_t count, start[MOST + 1], members[MOST * MOST];
  frames_loop loop;
} twin;

static void make_twin(const moving_bar* m, int substeps, int sweeps, double stiffness, twin* out) {
  const frames_body* body = m->state;
  const frames_model* model = m->model;
  memset(out, 0, sizeof *out);
  out->count = model->num_particles;
  assert_true(out->count <= MOST);
  for (int32_t p = 0; p < out->count; ++p) {
    frames_oriented* o = &out->particles[p];
    const float *x = &m->particles.pos[p].x, *v = &m->particles.vel[p].x;
    const float* rest = &model->solid.rest_positions[p].x;
    o->mass = model->solid.mass[p];
    o->turn = o->rest_turn = YW_TURN_NONE;
    for (int k = 0; k < 3; ++k) {
      o->semi[k] = sqrt(5.0 * body->balls[p]);
      o->x[k] = x[k], o->v[k] = v[k], o->rest[k] = rest[k];
    }
  }
  for (int32_t r = 0; r < model->num_regions; ++r) {
    out->start[r + 1] = out->start[r];
    for (int32_t i = model->member_start[r]; i < model->member_start[r + 1]; ++i) {
      out->members[out->start[r + 1]++] = model->members[i].particle;
    }
  }
  out->loop = (frames_loop){.scheme = FRAMES_POSITIONS,
                            .h = (double)m->ctx.h / substeps,
                            .rate = stiffness,
                            .sweeps = sweeps,
                            .oriented = true,
                            .num_groups = model->num_regions,
                            .group_start = out->start,
                            .members = out->members};
}

// A stretched and sheared bar that is let go.
static void bodies_move_as_the_papers_loop(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    moving_bar m;
    moving_make(&m, 1, kind, 1e6, 0.3, YW_FRAMES_IMPLICIT);
    set_oriented(&m, 2, 3, 0.3f);
    for (int32_t p = 0; p < m.particles.count; ++p) {
      yw_vec4* x = &m.particles.pos[p];
      *x = (yw_vec4){1.1f * x->x, x->y + 0.15f * x->x, x->z - 0.1f * x->y * x->x, 1};
    }
    twin* t = malloc(sizeof *t);
    make_twin(&m, 2, 3, 0.3f, t);
    // Both begin with unturned balls.
    frames_body* body = m.state;
    for (int32_t p = 0; p < t->count; ++p) body->turns[p] = (yw_vec4){0, 0, 0, 1};
    body->has_turns = true;
    double most = 0.0, moved = 0.0;
    for (int step = 0; step < 20; ++step) {
      assert_at_least(moving_step(&m, 1), 0);
      for (int k = 0; k < 2; ++k) assert_true(yw_oriented_step(&t->loop, t->particles, t->count));
      for (int32_t p = 0; p < t->count; ++p) {
        double way[3];
        yw_vec4 q = body->turns[p];
        yw_turn own = {q.x, q.y, q.z, q.w};
        yw_turn_log(yw_turn_mul(own, yw_turn_conjugate(t->particles[p].turn)), way);
        const float* x = &m.particles.pos[p].x;
        for (int k = 0; k < 3; ++k) {
          most = fmax(most, fmax(fabs(way[k]), fabs(x[k] - t->particles[p].x[k])));
          moved = fmax(moved, fabs(t->particles[p].x[k] - t->particles[p].rest[k]));
        }
      }
    }
    assert_at_least(moved, 0.1);
    assert_at_most(most / moved, 2e-4);
    free(t);
    moving_free(&m);
  }
}

// Nothing outside acts: momentum stays, but for rounding.
static void momentum_is_kept(void** state) {
  (void)state;
  moving_bar m;
  moving_make(&m, 2, YW_FRAMES_RINGS, 1e6, 0.3, YW_FRAMES_IMPLICIT);
  set_oriented(&m, 4, 1, 0.5f);
  double before[3] = {0}, after[3] = {0}, mass = 0.0;
  for (int32_t p = 0; p < m.particles.count; ++p) {
    yw_vec4 x = m.particles.pos[p];
    m.particles.vel[p] = (yw_vec4){0.5f + 0.3f * x.y, 0.2f * x.z, -0.4f * x.x, 0};
    const float* v = &m.particles.vel[p].x;
    for (int k = 0; k < 3; ++k) before[k] += (double)m.particles.mass[p] * v[k];
    mass += (double)m.particles.mass[p];
  }
  assert_at_least(moving_step(&m, 60), 0);
  for (int32_t p = 0; p < m.particles.count; ++p) {
    const float* v = &m.particles.vel[p].x;
    for (int k = 0; k < 3; ++k) after[k] += (double)m.particles.mass[p] * v[k];
  }
  for (int k = 0; k < 3; ++k) assert_near(after[k] / mass, before[k] / mass, 1e-3);
  moving_free(&m);
}

// World -------------------------------------------------------------------------------------------

static uint64_t drop(int32_t threads, yw_simd simd, void** snapshot, size_t* size) {
  frames_bar bar;
  bar_make(&bar, 4, YW_FRAMES_RINGS, 0.3, YW_LATTICE_FIVE, 0.0);
  yw_frames_def def = bar_def(&bar, YW_FRAMES_RINGS);
  def.params.solver = YW_FRAMES_ORIENTED;
  yw_model* model;
  assert_int_equal(yw_model_create_frames(NULL, &def, &model, NULL), YW_OK);
  yw_world* world = make_world(threads, simd, true);
  add_body(world, model, (yw_vec3){0, 1.2f, 0}, (yw_quat){0, 0, 0.26f, 0.966f});
  if (*snapshot && *size > 0) {
    yw_error error = {0};
    if (yw_world_load(world, *snapshot, *size, &error) < 0) fail_msg("%s", error.message);
  } else {
    for (int i = 0; i < 20; ++i) assert_true(yw_world_step(world, 1.0f / 60.0f, 1, NULL) >= 0);
    *size = yw_world_snapshot_size(world);
    *snapshot = malloc(*size);
    assert_int_equal(yw_world_save(world, *snapshot, *size, NULL), YW_OK);
  }
  for (int i = 0; i < 10; ++i) assert_true(yw_world_step(world, 1.0f / 60.0f, 1, NULL) >= 0);
  uint64_t hash = yw_world_hash(world);
  yw_world_destroy(world);
  yw_model_release(model);
  bar_free(&bar);
  return hash;
}

static void same_bits_over_threads_and_snapshots(void** state) {
  (void)state;
  void *first = NULL, *other = NULL;
  size_t size = 0, other_size = 0;
  uint64_t expected = drop(1, YW_SIMD_PLAIN, &first, &size);
  assert_true(drop(3, YW_SIMD_AUTO, &other, &other_size) == expected);
  assert_true(drop(2, YW_SIMD_AUTO, &first, &size) == expected);
  free(first);
  free(other);
}

// Examples are refused, with a word.
static void examples_are_refused(void** state) {
  (void)state;
  frames_bar bar;
  bar_make(&bar, 1, YW_FRAMES_RINGS, 0.3, YW_LATTICE_FIVE, 0.0);
  yw_frames_def def = bar_def(&bar, YW_FRAMES_RINGS);
  const yw_vec3* poses[1] = {bar.mesh.positions};
  def.num_examples = 1;
  def.examples = poses;
  def.params.solver = YW_FRAMES_ORIENTED;
  yw_model* model;
  yw_error error = {0};
  assert_int_equal(yw_model_create_frames(NULL, &def, &model, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "oriented"));
  bar_free(&bar);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_move_as_the_papers_loop),
      cmocka_unit_test(momentum_is_kept),
      cmocka_unit_test(same_bits_over_threads_and_snapshots),
      cmocka_unit_test(examples_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
