// SPDX-License-Identifier: MIT
// Colours of the sweeps and the coarse lattice of frames models.
#include "methods/frames/frames.h"
#include "methods/frames/model.h"
#include "support/frames_testing.h"

static frames_model* make_model(frames_bar* bar, int n, yw_frames_kind kind) {
  bar_make(bar, n, kind, 0.3, YW_LATTICE_FIVE, 0.0);
  yw_frames_def def = bar_def(bar, kind);
  void* model = NULL;
  yw_error error = {0};
  if (yw_frames_model_create(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  return model;
}

static void regions_of_a_color_share_no_particle(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    frames_bar bar;
    frames_model* model = make_model(&bar, 3, kind);
    const frames_sweeps* sweeps = &model->sweeps;
    int32_t* seen = calloc(bar.count, sizeof *seen);
    int32_t regions = 0, members = 0;
    for (int32_t c = 0; c < sweeps->num_colors; ++c) {
      for (int32_t b = sweeps->color_start[c]; b < sweeps->color_start[c + 1]; ++b) {
        const frames_sweep_block* block = &sweeps->blocks[b];
        for (int lane = 0; lane < YW_LANES; ++lane) {
          regions += block->count[lane] > 0;
          members += block->count[lane];
          for (int32_t k = 0; k < block->count[lane]; ++k) {
            int32_t p = sweeps->entries[block->first_entry + k].particle[lane];
            assert_int_not_equal(seen[p], c + 1);
            seen[p] = c + 1;
          }
        }
      }
    }
    assert_int_equal(regions, model->num_regions);
    assert_int_equal(members, model->member_start[model->num_regions]);
    // Lattice cells need eight colours plus a few.
    if (kind == YW_FRAMES_CELLS) assert_true(sweeps->num_colors <= 16);
    free(seen);
    yw_frames_model_destroy(model);
    bar_free(&bar);
  }
}

static void particles_and_regions_list_each_other(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    frames_bar bar;
    frames_model* model = make_model(&bar, 2, kind);
    for (int32_t p = 0; p < model->num_particles; ++p) {
      double sum[3] = {0};
      for (int32_t e = model->holder_start[p]; e < model->holder_start[p + 1]; ++e) {
        int32_t r = model->holder_region[e], found = 0;
        for (int32_t m = model->member_start[r]; m < model->member_start[r + 1]; ++m) {
          if (model->members[m].particle != p) continue;
          ++found;
          for (int k = 0; k < 3; ++k)
            sum[k] += fabsf(model->members[m].g[k] - model->holders[e].g[k]);
        }
        assert_int_equal(found, 1);
      }
      for (int k = 0; k < 3; ++k) assert_near(sum[k], 0, 0);
    }
    yw_frames_model_destroy(model);
    bar_free(&bar);
  }
}

// Translations are exact on the lattice: weights sum to 1 and the stiffness of a translation is 0.
static void the_coarse_lattice_keeps_shifts(void** state) {
  (void)state;
  frames_bar bar;
  frames_model* model = make_model(&bar, 5, YW_FRAMES_RINGS);
  const frames_coarse* coarse = &model->coarse;
  assert_true(coarse->num_nodes > 8 && coarse->num_nodes < model->num_particles / 4);
  for (int32_t p = 0; p < model->num_particles; ++p) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += coarse->corners[p].weight[k];
    assert_near(sum, 1, 1e-6);
  }
  frames_coarse_solver solver;
  yw_error error = {0};
  assert_int_equal(
      yw_frames_coarse_solver_create(NULL, coarse, yw_simd_resolve(YW_SIMD_AUTO), &solver, &error),
      0);
  float* diagonal = malloc(sizeof(float) * bar.count);
  yw_vec4* r = malloc(sizeof(yw_vec4) * bar.count);
  // A load carried by every particle individually moves all equally: z = r / D.
  for (size_t p = 0; p < bar.count; ++p) {
    diagonal[p] = 10 * model->solid.mass[p];
    r[p] = (yw_vec4){3 * model->solid.mass[p], 0, -model->solid.mass[p], 0};
  }
  yw_frames_coarse_prepare(&solver, diagonal, NULL);
  assert_true(solver.ready);
  yw_frames_coarse_restrict(&solver, r, 0, coarse->num_nodes);
  yw_frames_coarse_solve(&solver);
  for (int32_t p = 0; p < model->num_particles; ++p) {
    yw_vec3 z = yw_frames_coarse_at(&solver, p);
    assert_near(z.x, 0.3, 0.3 * 0.1);
    assert_near(z.y, 0, 1e-3);
    assert_near(z.z, -0.1, 0.1 * 0.1);
  }
  free(diagonal), free(r);
  yw_frames_coarse_solver_free(NULL, &solver);
  yw_frames_model_destroy(model);
  bar_free(&bar);
}

// The lattice is stretched as the regions are, at any size of the body.
static void the_coarse_lattice_does_not_depend_on_the_size(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_aabb box = {{0, 0, 0}, {2, 1, 1}};
  const int32_t cells[3] = {8, 12, 12};
  int32_t nodes[3];
  for (int k = 0; k < 3; ++k) {
    float scale = k == 0 ? 1.0f : k == 1 ? 0.01f : 100.0f;
    assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
    double* stiffness = malloc(sizeof(double) * (size_t)mesh.num_vertices);
    for (int32_t i = 0; i < mesh.num_vertices; ++i) {
      stiffness[i] = 1.0;
      mesh.positions[i] = yw_scale(mesh.positions[i], scale);
    }
    const double extent[3] = {3.0 * (double)scale, (double)scale, (double)scale};
    frames_coarse coarse;
    yw_error error = {0};
    assert_int_equal(yw_frames_coarse_create(NULL, mesh.num_vertices, mesh.positions, stiffness,
                                             2.0 * pow((double)scale, 3), extent, &coarse, &error),
                     YW_OK);
    nodes[k] = coarse.num_nodes;
    yw_frames_coarse_free(&coarse);
    free(stiffness);
    yw_tet_mesh_free(&mesh);
  }
  assert_at_least(nodes[0], 20);
  assert_int_equal(nodes[1], nodes[0]);
  assert_int_equal(nodes[2], nodes[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regions_of_a_color_share_no_particle),
      cmocka_unit_test(particles_and_regions_list_each_other),
      cmocka_unit_test(the_coarse_lattice_keeps_shifts),
      cmocka_unit_test(the_coarse_lattice_does_not_depend_on_the_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
