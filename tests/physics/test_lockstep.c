// SPDX-License-Identifier: MIT
// Explicit bodies in parts of a substep: what lets bodies that touch advance in lockstep.
#include "methods/fem/body.h"
#include "methods/fem/fem.h"
#include "support/fem_bar.h"
#include "support/responding.h"
#include "support/scene_text.h"

typedef struct fem_mover {
  void *model, *state;
  yw_particles particles;
  yw_hold* holds;
  yw_method_report report;
  yw_step_ctx ctx;
} fem_mover;

// A bar of 0.4 x 0.1 x 0.1 m that hangs on its end at x = 0 and has been swinging.
static void make_swinging(fem_mover* m, yw_fem_refine refine) {
  *m = (fem_mover){0};
  yw_tet_mesh mesh;
  yw_error error = {0};
  const int32_t cells[3] = {4, 1, 1};
  yw_aabb box = {{0, 0, 0}, {0.4f, 0.1f, 0.1f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  yw_fem_def def = yw_default_fem_def();
  def.mesh = &mesh;
  def.youngs_modulus = 3e5f;
  def.params.soften = YW_FEM_SOFTEN_FINEST;
  def.params.refine = refine;
  def.params.sleep_speed = 0.01f;
  if (yw_fem_model_create(NULL, &def, &m->model, &error) < 0) fail_msg("%s", error.message);
  yw_tet_mesh_free(&mesh);
  assert_int_equal(yw_fem_method.body_create(m->model, NULL, &m->state, &m->particles, &error), 0);
  m->ctx = (yw_step_ctx){.h = 1.0f / 240, .simd = yw_simd_resolve(YW_SIMD_AUTO)};
  m->ctx.gravity = (yw_vec3){0, 0, -9.81f};
  m->ctx.report = &m->report;
  m->holds = calloc((size_t)m->particles.count, sizeof *m->holds);
  for (int32_t i = 0; i < m->particles.count; ++i) {
    yw_vec3 x = yw_xyz(m->particles.pos[i]);
    if (x.x > 1e-5f) continue;
    m->holds[m->ctx.num_holds++] = (yw_hold){.particle = i, .begin = x, .end = x};
    m->particles.inv_mass[i] = 0.0f;
  }
  m->ctx.holds = m->holds;
}

static void free_mover(fem_mover* m) {
  yw_fem_method.body_destroy(m->state, &m->particles);
  yw_fem_method.model_destroy(m->model);
  free(m->holds);
}

static responding fem_responding(fem_mover* m) {
  return (responding){&yw_fem_method, m->state, &m->particles, &m->ctx, yw_fem_method.respond};
}

static void advance_in_parts(fem_mover* m, int32_t parts) {
  yw_step_ctx ctx = m->ctx;
  ctx.h = m->ctx.h / (float)parts;
  ctx.num_parts = parts;
  for (ctx.part = 0; ctx.part < parts; ++ctx.part) {
    assert_int_equal(yw_fem_method.advance(m->state, &m->particles, &ctx), YW_OK);
  }
}

static double distance_of(const fem_mover* a, const fem_mover* b) {
  double farthest = 0;
  for (int32_t i = 0; i < a->particles.count; ++i) {
    farthest = fmax(farthest,
                    (double)yw_distance(yw_xyz(a->particles.pos[i]), yw_xyz(b->particles.pos[i])));
  }
  return farthest;
}

// One call for the substep, or one for each of its inner steps: the same steps, the same front, and
// positions that differ by rounding. The bar adapts on its way.
static void parts_take_the_steps_of_the_whole(void** state) {
  (void)state;
  const yw_fem_refine rules[2] = {YW_FEM_REFINE_FINEST, YW_FEM_REFINE_JUMP};
  for (int k = 0; k < 2; ++k) {
    fem_mover whole, parts;
    make_swinging(&whole, rules[k]);
    make_swinging(&parts, rules[k]);
    int32_t most = 0;
    for (int step = 0; step < 48; ++step) {
      int64_t before = ((fem_body*)whole.state)->inner_steps;
      int32_t steps = yw_fem_method.inner_steps(whole.state, &whole.particles, &whole.ctx);
      most = steps > most ? steps : most;
      assert_int_equal(yw_fem_method.advance(whole.state, &whole.particles, &whole.ctx), YW_OK);
      advance_in_parts(&parts, steps);
      int64_t taken = ((fem_body*)whole.state)->inner_steps - before;
      // Strains grow within a substep, and fronts get finer: all of it in the first one.
      if (rules[k] == YW_FEM_REFINE_FINEST && step > 0)
        assert_in_range(taken, steps, steps + steps / 10);
    }
    yw_fem_statistics a, b;
    yw_fem_statistics_of(whole.state, &a);
    yw_fem_statistics_of(parts.state, &b);
    print_message("%s: up to %d steps, %.2g m apart\n", k ? "adaptive" : "finest", (int)most,
                  distance_of(&whole, &parts));
    assert_true(most >= 4);
    assert_int_equal(a.num_tets, b.num_tets);
    print_message("  %d and %d inner steps\n", (int)a.inner_steps, (int)b.inner_steps);
    assert_near((double)b.inner_steps / (double)a.inner_steps, 1.0, 0.05);
    assert_at_most(distance_of(&whole, &parts), 2e-5);
    assert_true((a.splits > 0) && a.splits == b.splits);
    free_mover(&whole);
    free_mover(&parts);
  }
}

// A bar at rest falls asleep after the same time, and then takes no inner steps.
static void parts_fall_asleep_as_the_whole(void** state) {
  (void)state;
  int slept[2];
  for (int k = 0; k < 2; ++k) {
    fem_mover m;
    make_swinging(&m, YW_FEM_REFINE_FINEST);
    m.ctx.gravity = (yw_vec3){0, 0, 0};
    slept[k] = 0;
    for (int step = 1; step < 480 && slept[k] == 0; ++step) {
      advance_in_parts(&m, k == 0 ? 1 : 7);
      if (((fem_body*)m.state)->asleep) slept[k] = step;
    }
    assert_int_equal(yw_fem_method.inner_steps(m.state, &m.particles, &m.ctx), 1);
    int64_t before = ((fem_body*)m.state)->inner_steps;
    advance_in_parts(&m, 7);
    assert_true(((fem_body*)m.state)->inner_steps == before);
    free_mover(&m);
  }
  assert_true(slept[0] > 100);
  assert_int_equal(slept[0], slept[1]);
}

// Hanging nodes move with their parents, which take the impulse.
static void hanging_nodes_answer_with_their_parents(void** state) {
  (void)state;
  fem_mover m;
  make_swinging(&m, YW_FEM_REFINE_JUMP);
  for (int step = 0; step < 54; ++step) advance_in_parts(&m, 1);
  responding r = fem_responding(&m);
  const fem_body* b = m.state;
  assert_true(b->front.num_hanging > 10);
  yw_vec4 *j = new_vectors(&r), *change = new_vectors(&r);
  double sum[3] = {0};
  for (int32_t i = 0; i < b->front.num_hanging; i += 3) {
    int32_t n = b->front.hanging[i];
    // No pin takes a part of it.
    if (m.particles.pos[n].x > 0.1f) j[n] = (yw_vec4){1, 2, 3, 0};
  }
  assert_int_equal(r.method->respond(r.state, r.particles, r.ctx, j, change), YW_OK);
  for (int32_t n = 0; n < m.particles.count; ++n) {
    for (int k = 0; k < 3; ++k) {
      double mass = b->front.state[n] == FEM_FREE ? b->mass[n] : 0.0;
      sum[k] += mass * (&change[n].x)[k] - (&j[n].x)[k];
    }
    if (m.particles.inv_mass[n] == 0) assert_true(yw_length2(yw_xyz(change[n])) == 0);
  }
  for (int32_t i = 0; i < b->front.num_hanging; ++i) {
    const int32_t n = b->front.hanging[i], *p = b->model->h.node[n].parents;
    yw_vec3 mean = yw_lerp(yw_xyz(change[p[0]]), yw_xyz(change[p[1]]), 0.5f);
    assert_at_most(yw_distance(mean, yw_xyz(change[n])), 1e-5f * yw_length(mean));
  }
  double pushed = sqrt(dot_vectors(j, j, m.particles.count));
  for (int k = 0; k < 3; ++k) assert_near(sum[k], 0, 1e-6 * pushed);
  check_symmetry(&r, 1e-5);
  free(j), free(change);
  free_mover(&m);
}

// The largest kinetic energy, J, within 0.1 s of the first body of a scene.
static double liveliest(const char* text) {
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  double most = 0;
  for (int i = 0; i < 24; ++i) {
    assert_int_equal(yw_world_step(world, 1.0f / 240, 1, NULL), YW_OK);
    yw_body_energy energy;
    yw_body_energy_of(world, yw_world_body(world, 0), &energy);
    most = fmax(most, energy.kinetic);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return most;
}

// A stretched bar springs back with the same energy beside a stiffer one that it does not touch,
// although they then advance in parts: alpha is meant for whole substeps.
static void alpha_does_not_depend_on_neighbours(void** state) {
  (void)state;
#define BAR                                                                                     \
  "{\"gravity\": [0, 0, 0], \"bodies\": [{\"mesh\": {\"lattice\": {\"size\": [0.4, 0.1, 0.1], " \
  "\"cells\": [8, 2, 2]}}, \"match\": {\"alpha\": 0.3, \"damping\": 0, \"viscosity\": 0}, "     \
  "\"start_pose\": {\"deform\": {\"stretch\": {\"axis\": \"x\", \"amount\": 0.1}}}}"
  double alone = liveliest(BAR "]}");
  double beside =
      liveliest(BAR
                ", {\"mesh\": {\"lattice\": {\"size\": [0.4, 0.1, 0.1], \"cells\": [8, 2, 2]}}, "
                "\"position\": [0, 0.12, 0], \"match\": {\"stiffness\": 1e5}}]}");
  assert_at_least(alone, 0.1);
  assert_near(beside / alone, 1, 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alpha_does_not_depend_on_neighbours),
      cmocka_unit_test(parts_take_the_steps_of_the_whole),
      cmocka_unit_test(parts_fall_asleep_as_the_whole),
      cmocka_unit_test(hanging_nodes_answer_with_their_parents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
