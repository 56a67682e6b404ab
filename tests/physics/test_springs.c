// SPDX-License-Identifier: MIT
// Springs equivalent to classic position-based settings, as in `yawara fit`: the first mode of a
// clamped bar, simulated with match and with the classic solver of frames, against springs of
// kappa = alpha / h^2 and of kappa = ((1 - s b)^-k - 1) / (b h^2).
#include "methods/frames/frames.h"
#include "methods/match/match.h"
#include "reference/elastic/bar.h"
#include "support/testing.h"
#include "yawara/extend/vec.h"

typedef struct springs_bar {
  elastic_bar bar;
  elastic_system system;  // of kappa = 1
  bool* fixed;
  double* shape;  // of the first vibration along y, tip of length 1
  double mode;    // b
} springs_bar;

static void make_springs(springs_bar* s, elastic_model model, bool sequential) {
  // Deeper than wide: the first vibration along y is the second of all.
  const double size[3] = {5, 0.8, 1};
  const int32_t cells[3] = {10, 2, 2};
  yw_error error = {0};
  assert_int_equal(elastic_bar_create(size, cells, 1, &s->bar, &error), 0);
  elastic_def def = {.model = model,
                     .mesh = &s->bar.mesh,
                     .cells = s->bar.cell_nodes,
                     .num_cells = s->bar.num_cells,
                     .density = 1000,
                     .kappa = 1,
                     .sequential = sequential};
  if (elastic_create(&def, &s->system, &error) < 0) fail_msg("%s", error.message);
  size_t count = 3 * (size_t)s->system.num_nodes;
  s->fixed = calloc(count, sizeof *s->fixed);
  s->shape = calloc(count, sizeof *s->shape);
  for (size_t i = 0; i < count; ++i) s->fixed[i] = s->bar.grid.nodes[i / 3][0] < 1e-6;
  double frequency;
  assert_int_equal(elastic_modes(&s->system, s->fixed, 1, &frequency, s->shape, &error), 0);
  s->mode = frequency * frequency;
  double tip = s->shape[3 * elastic_node_at(&s->bar.grid, 5, 0, 0) + 1];
  for (size_t i = 0; i < count; ++i) s->shape[i] /= tip;
}

static void free_springs(springs_bar* s) {
  free(s->fixed), free(s->shape);
  elastic_free(&s->system);
  elastic_bar_free(&s->bar);
}

// Angular frequency of the tip after release from the first mode, rad/s, over `swings` half
// periods.
static double simulate(const springs_bar* s, const yw_method* method, void* model, float h,
                       int swings) {
  void* state;
  yw_particles particles;
  yw_method_report report = {0};
  yw_error error = {0};
  assert_int_equal(method->body_create(model, NULL, &state, &particles, &error), 0);
  const int32_t* order = method->particle_of_vertex(state);
  yw_hold* holds = calloc((size_t)particles.count, sizeof *holds);
  yw_step_ctx ctx = {
      .h = h, .simd = yw_simd_resolve(YW_SIMD_AUTO), .report = &report, .holds = holds};
  for (int32_t v = 0; v < s->system.num_nodes; ++v) {
    const double* u = s->shape + 3 * v;
    yw_vec3 p = s->bar.mesh.positions[v];
    const double pull = 0.3;
    if (s->fixed[3 * v]) {
      holds[ctx.num_holds++] = (yw_hold){.particle = order[v], .begin = p, .end = p};
      particles.inv_mass[order[v]] = 0.0f;
      continue;
    }
    p.x += (float)(pull * u[0]), p.y += (float)(pull * u[1]), p.z += (float)(pull * u[2]);
    particles.pos[order[v]] = yw_v4(p);
  }
  method->invalidate(state, &particles);
  int32_t tip = order[elastic_node_at(&s->bar.grid, 5, 0, 0)];
  double before = 1, time = 0, first = 0, last = 0;
  for (int crossings = 0; crossings <= swings && time < 1000;) {
    assert_at_least(method->advance(state, &particles, &ctx), 0);
    time += (double)h;
    double now = (double)particles.pos[tip].y;
    if (now * before < 0) {
      last = time - (double)h * now / (now - before);
      if (crossings++ == 0) first = last;
    }
    before = now;
  }
  free(holds);
  method->body_destroy(state, &particles);
  return M_PI * swings / (last - first);
}

static void shape_matching_is_symplectic_euler_of_springs(void** state) {
  (void)state;
  springs_bar s;
  make_springs(&s, ELASTIC_RING_SPRINGS, false);
  yw_match_def def = yw_default_match_def();
  def.mesh = &s.bar.mesh;
  def.params.damping = def.params.viscosity = 0;
  for (int k = 0; k < 2; ++k) {
    const float h = k ? 1.0f / 240 : 1.0f / 60;
    def.params.alpha = k ? 0.4f : 0.9f;
    void* model;
    yw_error error = {0};
    assert_int_equal(yw_match_model_create(NULL, &def, 0.0, &model, &error), 0);
    double seen = simulate(&s, &yw_match_method, model, h, 8);
    double expected = acos(1 - 0.5 * (double)def.params.alpha * s.mode) / (double)h;
    print_message("alpha %g, step 1/%g s: %.5f rad/s, springs %.5f\n", (double)def.params.alpha,
                  1 / (double)h, seen, expected);
    assert_near(seen / expected, 1, 2e-3);
    yw_match_method.model_destroy(model);
  }
  free_springs(&s);
}

static void position_based_sweeps_are_implicit_euler_of_springs(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    springs_bar s;
    make_springs(&s, kind == YW_FRAMES_CELLS ? ELASTIC_CELL_SPRINGS : ELASTIC_RING_SPRINGS, true);
    yw_frames_def def = yw_default_frames_def();
    def.mesh = &s.bar.mesh;
    def.kind = (yw_frames_kind)kind;
    def.cells = s.bar.cell_nodes;
    def.num_cells = s.bar.num_cells;
    def.params.solver = YW_FRAMES_CLASSIC;
    def.params.substeps = 1;
    def.params.sweeps = 2;
    for (int k = 0; k < 2; ++k) {
      const float h = 1.0f / 60;
      def.params.stiffness = k ? 0.1f : 0.02f;
      void* model;
      yw_error error = {0};
      if (yw_frames_model_create(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
      double seen = simulate(&s, &yw_frames_method, model, h, 4);
      double b = s.mode, share = (double)def.params.stiffness;
      double omega = sqrt(pow(1 - share * b, -2) - 1) / (double)h;
      double expected = atan((double)h * omega) / (double)h;
      print_message("%s, s %g: %.5f rad/s, springs %.5f\n", kind ? "cells" : "rings", share, seen,
                    expected);
      // Each region sees the changes of those before it: correct to first order in s.
      assert_near(seen / expected, 1, k ? 0.025 : 0.005);
      yw_frames_method.model_destroy(model);
    }
    free_springs(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shape_matching_is_symplectic_euler_of_springs),
      cmocka_unit_test(position_based_sweeps_are_implicit_euler_of_springs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
