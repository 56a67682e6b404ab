// SPDX-License-Identifier: MIT
// Finite-element bars and blocks for tests.
#ifndef YW_TESTS_SUPPORT_FEM_BAR_H
#define YW_TESTS_SUPPORT_FEM_BAR_H

#include "support/world_fixture.h"
#include "yawara/fem.h"

typedef struct fem_test_bar {
  yw_world* world;
  yw_model* model;
  yw_body_id body;
  int32_t tip;  // vertex at the middle of the free end
} fem_test_bar;

static inline yw_model* make_fem_model(yw_fem_def* def, const int32_t cells[3], yw_aabb box) {
  yw_tet_mesh mesh;
  yw_error error = {0};
  yw_model* model = NULL;
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  def->mesh = &mesh;
  yw_status status = yw_model_create_fem(NULL, def, &model, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_true(status >= 0);
  yw_tet_mesh_free(&mesh);
  return model;
}

static inline void fem_pin(yw_world* world, yw_body_id body, const int32_t* vertices, int32_t count,
                           float stiffness) {
  yw_error error = {0};
  yw_pin_def def = yw_default_pin_def();
  def.body = body;
  def.vertices = vertices;
  def.num_vertices = count;
  def.stiffness = stiffness;
  yw_pin_id pin;
  assert_int_equal(yw_pin_create(world, &def, &pin, &error), YW_OK);
}

/// 0.4 x 0.1 x 0.1 m, E = 3e5, nu = 0.3, 1000 kg/m^3, 24 roots, held at x = 0; gravity along -z.
static inline fem_test_bar make_fem_bar(yw_fem_def* def, float gravity) {
  fem_test_bar bar = {.tip = 0};
  yw_world_def world_def = yw_default_world_def();
  world_def.gravity = (yw_vec3){0, 0, -gravity};
  world_def.threads = 1;
  assert_int_equal(yw_world_create(&world_def, &bar.world), YW_OK);
  def->youngs_modulus = 3e5f;
  const int32_t cells[3] = {4, 1, 1};
  bar.model = make_fem_model(def, cells, (yw_aabb){{0, 0, 0}, {0.4f, 0.1f, 0.1f}});
  bar.body = add_body(bar.world, bar.model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  const yw_tet_mesh* fine = yw_model_tets(bar.model);
  int32_t *held = malloc(sizeof *held * (size_t)fine->num_vertices), count = 0;
  float nearest = 1e9f;
  for (int32_t i = 0; i < fine->num_vertices; ++i) {
    yw_vec3 p = fine->positions[i];
    if (p.x < 1e-5f) held[count++] = i;
    float d = fabsf(p.x - 0.4f) + fabsf(p.y - 0.05f) + fabsf(p.z - 0.05f);
    if (d < nearest) nearest = d, bar.tip = i;
  }
  fem_pin(bar.world, bar.body, held, count, 0.0f);
  free(held);
  return bar;
}

static inline void free_fem_bar(fem_test_bar* bar) {
  yw_world_destroy(bar->world);
  yw_model_release(bar->model);
}

static inline double elastic_energy_of(const yw_world* world, yw_body_id body) {
  yw_body_energy energy;
  assert_int_equal(yw_body_energy_of(world, body, &energy), YW_OK);
  return energy.elastic;
}

static inline yw_fem_statistics fem_state_of(const yw_world* world, yw_body_id body) {
  yw_fem_statistics state;
  assert_int_equal(yw_body_fem_statistics(world, body, &state), YW_OK);
  return state;
}

#define FEM_TEST_FRAME (1.0f / 240.0f)

/// Distance between the tips; *deflection keeps the largest deflection of b.
static inline double fem_tip_error(const fem_test_bar* a, const fem_test_bar* b,
                                   double* deflection) {
  yw_vec3 p = yw_body_positions(a->world, a->body, NULL)[a->tip];
  yw_vec3 q = yw_body_positions(b->world, b->body, NULL)[b->tip];
  double x = (double)p.x - (double)q.x, y = (double)p.y - (double)q.y,
         z = (double)p.z - (double)q.z;
  *deflection = fmax(*deflection, fabs((double)q.z - 0.05));
  return sqrt(x * x + y * y + z * z);
}

/// Drops a bar until it swings back (0.4 s, or 0.3 s with YW_TEST_FAST), adaptive and on the finest
/// mesh: tip errors relative to the largest deflection, and the fraction of tets in use.
static inline void check_fem_swing(yw_fem_def* def, int num_cases, bool with_bars,
                                   double least_deflection) {
  static const struct {
    float tau;
    double error, share;
  } cases[2] = {{0.005f, 0.01, 0.75}, {0.01f, 0.02, 0.65}};
  def->params.refine = YW_FEM_REFINE_FINEST;
  fem_test_bar finest = make_fem_bar(def, 9.81f), adaptive[2];
  def->params.refine = YW_FEM_REFINE_JUMP;
  for (int k = 0; k < num_cases; ++k) {
    def->params.tau = cases[k].tau;
    adaptive[k] = make_fem_bar(def, 9.81f);
  }
  double worst[2] = {0}, tets[2] = {0}, deflection = 0.0, all = 0.0;
  int32_t frames = getenv("YW_TEST_FAST") ? 72 : 96;
  for (int32_t i = 0; i < frames; ++i) {
    assert_int_equal(yw_world_step(finest.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
    all += fem_state_of(finest.world, finest.body).num_tets;
    for (int k = 0; k < num_cases; ++k) {
      assert_int_equal(yw_world_step(adaptive[k].world, FEM_TEST_FRAME, 1, NULL), YW_OK);
      worst[k] = fmax(worst[k], fem_tip_error(&adaptive[k], &finest, &deflection));
      tets[k] += fem_state_of(adaptive[k].world, adaptive[k].body).num_tets;
    }
  }
  if (with_bars) assert_at_least(deflection, least_deflection);
  for (int k = 0; k < num_cases && with_bars; ++k) {
    if (getenv("YW_TEST_FULL")) {
      print_message("tau %g: error %.2f %% of %.3f m, %.0f %% of the tets\n", (double)cases[k].tau,
                    100.0 * worst[k] / deflection, deflection, 100.0 * tets[k] / all);
    }
    assert_at_most(worst[k] / deflection, cases[k].error);
    assert_at_most(tets[k] / all, cases[k].share);
  }
  free_fem_bar(&finest);
  for (int k = 0; k < num_cases; ++k) free_fem_bar(&adaptive[k]);
}

#endif
