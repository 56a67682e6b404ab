// SPDX-License-Identifier: MIT
// The small-strain elasticity used by `yawara fit` and the figures: matrices against the energy of
// the frames method, patch tests, beams, vibrations, and CalculiX.
#include "methods/frames/energy.h"
#include "reference/elastic/bar.h"
#include "support/need_calculix.h"
#include "yawara/frames.h"

#define YOUNG 1e6

static const double bar_size[3] = {5, 1, 1};

static elastic_def bar_def(const elastic_bar* bar, elastic_model model, double poisson) {
  return (elastic_def){.model = model,
                       .mesh = &bar->mesh,
                       .cells = bar->cell_nodes,
                       .num_cells = bar->num_cells,
                       .youngs_modulus = YOUNG,
                       .poissons_ratio = poisson,
                       .density = 1000,
                       .kappa = 100};
}

static void make_bar(int32_t n, int32_t order, elastic_bar* bar) {
  const int32_t cells[3] = {5 * n, n, n};
  yw_error error = {0};
  if (elastic_bar_create(bar_size, cells, order, bar, &error) < 0) fail_msg("%s", error.message);
}

static void make_system(const elastic_def* def, elastic_system* system) {
  yw_error error = {0};
  if (elastic_create(def, system, &error) < 0) fail_msg("%s", error.message);
}

static void jitter(yw_tet_mesh* mesh, float amount) {
  test_random random = {3};
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    float* p = &mesh->positions[i].x;
    for (int k = 0; k < 3; ++k) p[k] += (float)test_random_in(&random, -amount, amount);
  }
}

// K u agrees with the method's own second derivative.
static void frames_matrices_are_the_second_derivative(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    elastic_bar bar;
    elastic_system system;
    make_bar(2, 1, &bar);
    if (kind == ELASTIC_RINGS) jitter(&bar.mesh, 0.08f);
    elastic_def def = bar_def(&bar, (elastic_model)kind, 0.3);
    make_system(&def, &system);
    yw_frames_def frames = yw_default_frames_def();
    frames.mesh = &bar.mesh;
    frames.kind = kind == ELASTIC_CELLS ? YW_FRAMES_CELLS : YW_FRAMES_RINGS;
    frames.cells = bar.cell_nodes;
    frames.num_cells = bar.num_cells;
    frames.youngs_modulus = (float)YOUNG;
    frames_regions regions;
    yw_error error = {0};
    assert_int_equal(yw_frames_regions_create(NULL, &frames, 0, &regions, &error), 0);
    size_t size = 3 * (size_t)regions.num_particles;
    double *x = malloc(8 * size), *u = malloc(8 * size), *a = malloc(8 * size),
           *b = malloc(8 * size);
    frames_tangent* tangents = malloc(sizeof *tangents * (size_t)regions.num_regions);
    test_random random = {11};
    for (size_t i = 0; i < size; ++i) {
      x[i] = (double)(&bar.mesh.positions[i / 3].x)[i % 3];
      u[i] = test_random_in(&random, -1, 1);
    }
    yw_frames_energy(&regions, NULL, x, a, tangents, FRAMES_EXACT);
    yw_frames_apply(&regions, tangents, 1, u, a);
    yw_sparse_multiply(&system.stiffness, NULL, 1, 1, u, b);
    double largest = 0, off = 0;
    for (size_t i = 0; i < size; ++i) {
      largest = fmax(largest, fabs(a[i]));
      off = fmax(off, fabs(a[i] - b[i]));
    }
    assert_at_most(off / largest, 1e-12);
    assert_int_equal(yw_sparse_check(NULL, &system.stiffness, &error), 0);
    free(x), free(u), free(a), free(b), free(tangents);
    yw_frames_regions_free(&regions);
    elastic_free(&system);
    elastic_bar_free(&bar);
  }
}

// Rigid motions need no force; a body of any shape has the specified E and nu.
static void any_body_has_its_moduli(void** state) {
  (void)state;
  const double poissons[3] = {0, 0.3, 0.45};
  for (int model = 0; model <= ELASTIC_TETS; ++model) {
    for (int k = 0; k < 3; ++k) {
      elastic_bar bar;
      elastic_system system;
      elastic_grid grid;
      make_bar(2, 1, &bar);
      if (model != ELASTIC_CELLS) jitter(&bar.mesh, 0.08f);
      yw_error error = {0};
      assert_int_equal(elastic_grid_create(&bar.mesh, 1, &grid, &error), 0);
      elastic_def def = bar_def(&bar, (elastic_model)model, poissons[k]);
      make_system(&def, &system);
      yw_tet_quality quality;
      yw_tet_mesh_quality(&bar.mesh, &quality);
      double young = 0, poisson = 0;
      assert_int_equal(elastic_moduli(&system, &grid, quality.volume, &young, &poisson, &error), 0);
      assert_near(young / YOUNG, 1, 1e-6);
      assert_near(poisson, poissons[k], 1e-6);
      elastic_grid_free(&grid);
      elastic_free(&system);
      elastic_bar_free(&bar);
    }
  }
}

static bar_results errors_of(int32_t n, elastic_model model, double poisson) {
  elastic_bar bar;
  elastic_system system;
  make_bar(n, 1, &bar);
  elastic_def def = bar_def(&bar, model, poisson);
  make_system(&def, &system);
  bar_system solver = {.system = &system};
  bar_results got;
  yw_error error = {0};
  if (bar_run(&bar, BAR_ALL_TESTS, bar_solve_system, &solver, &got, &error) < 0) {
    fail_msg("%s", error.message);
  }
  beam b = {5, 1, 1, YOUNG, poisson, 1000};
  bar_results theory = bar_theory(&b);
  bar_system_free(&solver);
  elastic_free(&system);
  elastic_bar_free(&bar);
  return bar_errors(&got, &theory);
}

// The limits of the method's own test, with other loads (triangles) and another solver.
static void bars_converge_to_beam_theory(void** state) {
  (void)state;
  for (int model = 0; model <= ELASTIC_CELLS; ++model) {
    bar_results coarse = errors_of(4, (elastic_model)model, 0.3);
    bar_results fine = errors_of(8, (elastic_model)model, 0.3);
    print_message("%s: bending %+.2f %+.2f %%, cantilever %+.2f %+.2f %%, torsion %+.2f %+.2f %%\n",
                  elastic_model_name((elastic_model)model), 100 * coarse.bending,
                  100 * fine.bending, 100 * coarse.cantilever, 100 * fine.cantilever,
                  100 * coarse.torsion, 100 * fine.torsion);
    assert_at_most(fabs(coarse.youngs_modulus), 1e-6);
    assert_at_most(fabs(coarse.poissons_ratio), 1e-6);
    assert_at_most(fabs(coarse.bending), 0.05);
    assert_at_most(fabs(fine.bending), 0.015);
    assert_at_most(fabs(fine.cantilever), 0.015);
    assert_at_most(fabs(fine.torsion), 0.015);
  }
  bar_results tets = errors_of(4, ELASTIC_TETS, 0.3), fine = errors_of(8, ELASTIC_TETS, 0.3);
  print_message("linear tets: bending %+.2f %+.2f %%\n", 100 * tets.bending, 100 * fine.bending);
  assert_at_least(tets.bending, 0.08);
  assert_at_least(tets.bending / fine.bending, 3);
}

static void vibrations_are_those_of_beams(void** state) {
  (void)state;
  elastic_bar bar;
  elastic_system system;
  const double size[3] = {1, 0.1, 0.06};
  const int32_t cells[3] = {40, 4, 4};
  yw_error error = {0};
  assert_int_equal(elastic_bar_create(size, cells, 1, &bar, &error), 0);
  elastic_def def = bar_def(&bar, ELASTIC_CELLS, 0.3);
  make_system(&def, &system);
  beam b = {size[0], size[1], size[2], YOUNG, 0.3, 1000};
  for (int clamped = 0; clamped < 2; ++clamped) {
    bar_mode modes[6];
    assert_int_equal(bar_modes(&bar, &system, &b, clamped, 6, modes, &error), 0);
    for (int m = 0; m < 6; ++m) {
      print_message("%s, %s %d: %.4f Hz, theory %.4f (%+.2f %%)\n", clamped ? "clamped" : "free",
                    bar_motion_name(modes[m].motion), modes[m].number,
                    modes[m].frequency / (2 * M_PI), modes[m].theory / (2 * M_PI),
                    100 * (modes[m].frequency / modes[m].theory - 1));
      assert_near(modes[m].frequency / modes[m].theory, 1, 0.03);
    }
  }
  elastic_free(&system);
  elastic_bar_free(&bar);
}

// K x = omega^2 M x, also for a free body.
static void modes_satisfy_their_equation(void** state) {
  (void)state;
  elastic_bar bar;
  elastic_system system;
  make_bar(2, 1, &bar);
  elastic_def def = bar_def(&bar, ELASTIC_RINGS, 0.3);
  make_system(&def, &system);
  size_t size = 3 * (size_t)system.num_nodes;
  bool* fixed = calloc(size, sizeof *fixed);
  double *shapes = malloc(8 * 5 * size), *product = malloc(8 * size), frequencies[5];
  yw_error error = {0};
  for (int clamped = 0; clamped < 2; ++clamped) {
    for (size_t i = 0; i < size && clamped; ++i) {
      fixed[i] = elastic_is_at(&bar.grid, bar.grid.nodes[i / 3][0], 0);
    }
    assert_int_equal(elastic_modes(&system, fixed, 5, frequencies, shapes, &error), 0);
    for (size_t m = 0; m < 5; ++m) {
      const double* x = shapes + m * size;
      double off = 0, largest = 0;
      yw_sparse_multiply(&system.stiffness, NULL, 1, 1, x, product);
      for (size_t i = 0; i < size; ++i) {
        if (fixed[i]) continue;
        double inertia = frequencies[m] * frequencies[m] * system.mass[i / 3] * x[i];
        largest = fmax(largest, fabs(inertia));
        off = fmax(off, fabs(product[i] - inertia));
      }
      assert_at_most(off / largest, 1e-3);
    }
  }
  free(fixed), free(shapes), free(product);
  elastic_free(&system);
  elastic_bar_free(&bar);
}

// Textbook values: clamped-free 1.8751^2, 4.6941^2; free-free 4.7300^2, for a very thin beam.
static void beam_theory_has_the_textbook_values(void** state) {
  (void)state;
  beam b = {1, 0.001, 0.002, 1e9, 0.3, 1000};
  double unit = sqrt(beam_bending(&b) / (b.density * beam_area(&b)));
  assert_near(beam_bending_frequency(&b, 1, true) / unit, 3.51602, 1e-4);
  assert_near(beam_bending_frequency(&b, 2, true) / unit, 22.0345, 2e-3);
  assert_near(beam_bending_frequency(&b, 1, false) / unit, 22.3733, 2e-3);
  beam square = {1, 1, 1, 1, 0, 1};
  assert_near(2 * beam_torsion(&square), 0.1405770, 1e-6);
  beam flat = {1, 1, 2, 1, 0, 1};
  assert_near(2 * beam_torsion(&flat), 0.4573635, 2e-6);
}

static void bodies_that_are_not_held_are_refused(void** state) {
  (void)state;
  elastic_bar bar;
  elastic_system system;
  make_bar(2, 1, &bar);
  elastic_def def = bar_def(&bar, ELASTIC_RINGS, 0.3);
  make_system(&def, &system);
  bool* fixed = calloc(3 * (size_t)system.num_nodes, sizeof *fixed);
  fixed[0] = true;
  elastic_held* held;
  yw_error error = {0};
  double frequency;
  assert_int_equal(elastic_hold(&system, fixed, 0, &held, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "six rigid motions"));
  assert_int_equal(elastic_modes(&system, fixed, 1, &frequency, NULL, &error), YW_ERR_INVALID);
  free(fixed);
  elastic_free(&system);
  elastic_bar_free(&bar);
}

// The same elements in another program: displacements and frequencies to the digits it prints.
static void linear_tets_are_those_of_calculix(void** state) {
  (void)state;
  need_calculix();
  elastic_bar bar;
  elastic_system system;
  make_bar(2, 1, &bar);
  elastic_def def = bar_def(&bar, ELASTIC_TETS, 0.3);
  make_system(&def, &system);
  bar_setup setup;
  yw_error error = {0};
  assert_int_equal(bar_setup_create(bar.grid.num_nodes, &setup, &error), 0);
  test_random random = {5};
  for (int32_t i = 0; i < setup.size; ++i) {
    setup.fixed[i] = elastic_is_at(&bar.grid, bar.grid.nodes[i / 3][0], 0);
    setup.forces[i] = setup.fixed[i] ? 0 : test_random_in(&random, -1, 1);
  }
  calculix_material material = {YOUNG, 0.3, 1000};
  calculix_model model = {.grid = &bar.grid,
                          .num_materials = 1,
                          .materials = &material,
                          .fixed = setup.fixed,
                          .forces = setup.forces};
  double* theirs = calloc((size_t)setup.size, sizeof *theirs);
  double* reactions = calloc((size_t)setup.size, sizeof *reactions);
  if (calculix_static(&model, 60, theirs, reactions, &error) < 0) fail_msg("%s", error.message);
  bar_system solver = {.system = &system};
  assert_int_equal(bar_solve_system(&solver, &setup, &error), 0);
  double largest = 0, off = 0, pull = 0, pull_off = 0;
  for (int32_t i = 0; i < setup.size; ++i) {
    largest = fmax(largest, fabs(setup.displacements[i]));
    off = fmax(off, fabs(setup.displacements[i] - theirs[i]));
    pull = fmax(pull, fabs(setup.reactions[i]));
    pull_off = fmax(pull_off, fabs(setup.reactions[i] - reactions[i]));
  }
  assert_at_most(off / largest, 2e-6);
  assert_at_most(pull_off / pull, 1e-5);
  print_message("displacements differ by %.1e, reactions by %.1e\n", off / largest,
                pull_off / pull);
  assert_int_equal(calculix_static(&model, 0, theirs, NULL, &error), YW_ERR_LIMIT);
  assert_non_null(strstr(error.message, "stopped"));
  double ours[4], frequencies[4];
  assert_int_equal(elastic_modes(&system, setup.fixed, 4, ours, NULL, &error), 0);
  if (calculix_frequencies(&model, 4, 60, frequencies, &error) < 0) fail_msg("%s", error.message);
  // Masses are lumped here and consistent there; this affects the two bending modes least.
  for (int k = 0; k < 2; ++k) assert_near(ours[k] / frequencies[k], 1, 0.015);
  free(theirs), free(reactions);
  bar_system_free(&solver);
  bar_setup_free(&setup);
  elastic_free(&system);
  elastic_bar_free(&bar);
}

// Two materials end to end in tension, and a bar that hangs under its own weight, without
// contraction: both are exact in one dimension.
static void calculix_takes_several_materials_and_gravity(void** state) {
  (void)state;
  need_calculix();
  elastic_bar bar;
  make_bar(2, 1, &bar);
  const elastic_grid* grid = &bar.grid;
  int32_t* material_of = calloc((size_t)grid->num_elements, sizeof *material_of);
  for (int32_t e = 0; e < grid->num_elements; ++e) {
    double x = 0;
    for (int k = 0; k < 4; ++k) x += 0.25 * grid->nodes[grid->elements[4 * e + k]][0];
    material_of[e] = x > 2.5;
  }
  bar_setup setup;
  yw_error error = {0};
  assert_int_equal(bar_setup_create(grid->num_nodes, &setup, &error), 0);
  const calculix_material materials[2] = {{YOUNG, 0, 1000}, {4 * YOUNG, 0, 1000}};
  calculix_model model = {.grid = grid,
                          .num_materials = 2,
                          .materials = materials,
                          .material_of = material_of,
                          .fixed = setup.fixed,
                          .displacements = setup.displacements};
  double* found = calloc((size_t)setup.size, sizeof *found);
  for (int32_t i = 0; i < setup.size; ++i) {
    double x = grid->nodes[i / 3][0];
    bool end = elastic_is_at(grid, x, 5);
    setup.fixed[i] = elastic_is_at(grid, x, 0) || (end && i % 3 == 0);
    if (end && i % 3 == 0) setup.displacements[i] = 0.05;
  }
  if (calculix_static(&model, 60, found, setup.reactions, &error) < 0)
    fail_msg("%s", error.message);
  double force = 0;
  for (int32_t i = 0; i < grid->num_nodes; ++i) {
    if (elastic_is_at(grid, grid->nodes[i][0], 5)) force += setup.reactions[3 * i];
  }
  assert_near(force / (0.01 * 1.6 * YOUNG), 1, 1e-5);  // 2 / (1 + 1/4)
  int32_t middle = elastic_node_at(grid, 2.5, 0, 0);
  assert_near(found[3 * middle], 0.04, 1e-7);

  model.num_materials = 1, model.material_of = NULL;
  model.gravity[0] = 10;
  for (int32_t i = 0; i < setup.size; ++i) {
    setup.fixed[i] = elastic_is_at(grid, grid->nodes[i / 3][0], 0);
  }
  if (calculix_static(&model, 60, found, NULL, &error) < 0) fail_msg("%s", error.message);
  double tip = found[3 * elastic_node_at(grid, 5, 0, 0)];
  assert_near(tip / (1000 * 10 * 5 * 5 / (2 * YOUNG)), 1, 0.01);
  free(found), free(material_of);
  bar_setup_free(&setup);
  elastic_bar_free(&bar);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_matrices_are_the_second_derivative),
      cmocka_unit_test(any_body_has_its_moduli),
      cmocka_unit_test(bars_converge_to_beam_theory),
      cmocka_unit_test(vibrations_are_those_of_beams),
      cmocka_unit_test(modes_satisfy_their_equation),
      cmocka_unit_test(beam_theory_has_the_textbook_values),
      cmocka_unit_test(bodies_that_are_not_held_are_refused),
      cmocka_unit_test(linear_tets_are_those_of_calculix),
      cmocka_unit_test(calculix_takes_several_materials_and_gravity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
