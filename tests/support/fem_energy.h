// SPDX-License-Identifier: MIT
// How front changes affect the energy of a bar.
#ifndef YW_TESTS_SUPPORT_FEM_ENERGY_H
#define YW_TESTS_SUPPORT_FEM_ENERGY_H

#include "methods/fem/body.h"
#include "methods/fem/fem.h"
#include "support/fem_bar.h"

/// Energy of a body under gravity along -z.
static inline double fem_total_energy(const fem_body* b, const yw_particles* p, double gravity) {
  double energy = yw_fem_elastic_energy(b, p);
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    const yw_vec4 v = p->vel[n];
    double v2 = (double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z;
    energy += b->mass[n] * (0.5 * v2 + gravity * (double)p->pos[n].z);
  }
  return energy;
}

typedef struct fem_switches {
  double upward;  ///< J, sum over all changes that raised the energy
  double stored;  ///< J, largest energy stored in the bar
  int64_t splits, merges;
} fem_switches;

/// The bar of fem_bar.h falls for a time, s; the energy is measured before and after every change.
static inline fem_switches fem_switch_energy(yw_fem_def* def, float gravity, float time) {
  fem_switches out = {0};
  yw_tet_mesh mesh;
  const int32_t cells[3] = {4, 1, 1};
  yw_aabb box = {{0, 0, 0}, {0.4f, 0.1f, 0.1f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  def->mesh = &mesh;
  def->youngs_modulus = 3e5f;
  void *model, *body;
  yw_particles p;
  assert_int_equal(yw_fem_model_create(NULL, def, &model, NULL), YW_OK);
  assert_int_equal(yw_fem_method.body_create(model, NULL, &body, &p, NULL), YW_OK);
  fem_body* b = body;
  yw_hold* holds = calloc((size_t)p.count, sizeof *holds);
  yw_step_ctx ctx = {
      .gravity = {0, 0, -gravity}, .simd = yw_simd_resolve(YW_SIMD_AUTO), .holds = holds};
  for (int32_t n = 0; n < p.count; ++n) {
    yw_vec3 x = yw_xyz(p.pos[n]);
    if (x.x < 1e-5f) holds[ctx.num_holds++] = (yw_hold){.particle = n, .begin = x, .end = x};
  }
  ctx.h = 30.0f * ((const fem_model*)model)->level_step[def->max_level];
  for (float t = 0.0f; t < time; t += ctx.h) {
    b->params.refine = YW_FEM_REFINE_NEVER;
    assert_true(yw_fem_method.advance(body, &p, &ctx) >= 0);
    b->params.refine = YW_FEM_REFINE_JUMP;
    double before = fem_total_energy(b, &p, (double)gravity);
    yw_fem_adapt(b, &p, &ctx);
    out.upward += fmax(fem_total_energy(b, &p, (double)gravity) - before, 0.0);
    out.stored = fmax(out.stored, yw_fem_elastic_energy(b, &p));
  }
  out.splits = b->splits, out.merges = b->merges;
  if (getenv("YW_TEST_FULL")) {
    print_message("g = %g: switches add %.2f %% of %.3f J\n", (double)gravity,
                  100.0 * out.upward / out.stored, out.stored);
  }
  free(holds);
  yw_fem_method.body_destroy(body, &p);
  yw_fem_model_destroy(model);
  yw_tet_mesh_free(&mesh);
  return out;
}

#endif
