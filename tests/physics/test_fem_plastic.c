// SPDX-License-Identifier: MIT
// Plastic flow of finite elements: rate and limits, forces, transfer between levels, a bar that
// stays bent.
#include "methods/fem/body.h"
#include "methods/fem/fem.h"
#include "support/fem_bar.h"
#include "yawara/extend/memory.h"

typedef struct rig {
  void *model, *body;
  yw_particles p;
  yw_step_ctx ctx;
} rig;

static void make_rig(rig* r, yw_fem_def* def, yw_aabb box, const int32_t cells[3]) {
  *r = (rig){.ctx = {.simd = yw_simd_resolve(YW_SIMD_AUTO)}};
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  def->mesh = &mesh;
  assert_int_equal(yw_fem_model_create(NULL, def, &r->model, NULL), YW_OK);
  assert_int_equal(yw_fem_method.body_create(r->model, NULL, &r->body, &r->p, NULL), YW_OK);
  yw_tet_mesh_free(&mesh);
}

static void free_rig(rig* r) {
  yw_fem_method.body_destroy(r->body, &r->p);
  yw_fem_model_destroy(r->model);
}

static yw_fem_def plastic_def(float yield) {
  yw_fem_def def = yw_default_fem_def();
  def.max_level = 2;
  def.youngs_modulus = 1e5f;
  def.params.yield = yield;
  def.params.creep = 20.0f;
  return def;
}

static const int32_t cube_cells[3] = {1, 1, 1};
static const yw_aabb cube = {{0, 0, 0}, {0.1f, 0.1f, 0.1f}};

// Sheared by gamma: the equivalent strain is about gamma / sqrt(3).
static void shear(rig* r, float gamma) {
  const fem_model* model = r->model;
  for (int32_t n = 0; n < r->p.count; ++n) {
    yw_vec3 x = model->rest[n];
    r->p.pos[n] = (yw_vec4){x.x + gamma * x.y, x.y, x.z, 0};
  }
}

static double equivalent_of(const double e[6]) {
  double mean = (e[0] + e[1] + e[2]) / 3.0, sum = 0.0;
  for (int i = 0; i < 3; ++i) sum += (e[i] - mean) * (e[i] - mean);
  for (int i = 3; i < 6; ++i) sum += 0.5 * e[i] * e[i];
  return sqrt(2.0 / 3.0 * sum);
}

// Strain beyond the yield strain becomes plastic at the rate of creep, up to the maximum.
static void elastic_strain_relaxes_to_yield(void** state) {
  (void)state;
  for (int limited = 0; limited < 2; ++limited) {
    yw_fem_def def = plastic_def(0.02f);
    def.params.max_plastic = limited ? 0.01f : 1.0f;
    rig r;
    make_rig(&r, &def, cube, cube_cells);
    fem_body* b = r.body;
    const float gamma = 0.1f;
    shear(&r, gamma);
    // Green strain of simple shear: E22 = gamma^2 / 2, 2 E12 = gamma.
    const double full[6] = {0, 0.5 * 0.01, 0, 0, 0, 0.1};
    double start = equivalent_of(full);
    for (int k = 1; k <= 10; ++k) {
      b->since_check = 0.01f;
      yw_fem_adapt(b, &r.p, &r.ctx);
      double elastic[6], plastic[6];
      for (int i = 0; i < 6; ++i) {
        plastic[i] = (double)b->plastic[0][i];
        elastic[i] = full[i] - plastic[i];
      }
      if (limited) {
        assert_at_most(equivalent_of(plastic), 0.01 * (1 + 1e-5));
      } else {
        double expected = 0.02 + (start - 0.02) * exp(-20.0 * 0.01 * k);
        assert_near(equivalent_of(elastic), expected, 1e-5);
      }
      // Flow preserves volume.
      assert_near(plastic[0] + plastic[1] + plastic[2], 0.0, 1e-7);
    }
    if (limited) assert_near(b->plastic[0][5], 0.01 * sqrt(3.0), 2e-4);
    free_rig(&r);
  }
}

// With plastic strains everywhere, forces are still the negative energy gradient, for tets with and
// without softening.
static void check_gradients(bool soften) {
  yw_fem_def def = plastic_def(0.01f);
  def.params.min_level = 1;
  def.params.soften = soften;
  rig r;
  make_rig(&r, &def, cube, cube_cells);
  fem_body* b = r.body;
  yw_fem_enforce(b, &r.p, &r.ctx);
  test_random random = {3};
  shear(&r, 0.1f);
  for (int32_t n = 0; n < r.p.count; ++n) {
    r.p.pos[n].x += (float)test_random_in(&random, -1e-3, 1e-3);
    r.p.pos[n].z += (float)test_random_in(&random, -1e-3, 1e-3);
  }
  yw_fem_follow(&b->front, r.p.pos, r.p.vel);
  b->since_check = 0.05f;
  b->params.refine = YW_FEM_REFINE_NEVER;
  yw_fem_adapt(b, &r.p, &r.ctx);
  assert_true(b->has_flown);
  assert_true(b->work.soften == soften);
  const fem_forces_def forces = {.work = &b->work,
                                 .front = &b->front,
                                 .materials = &b->model->materials,
                                 .kernels = YW_KERNEL_PICK(yw_fem_kernels, r.ctx.simd),
                                 .pos = r.p.pos,
                                 .scratch = &b->scratch,
                                 .look_for_squeezed = true,
                                 .plastic = true,
                                 .force = b->force};
  assert_int_equal(yw_fem_forces(&forces), 0);
  double largest = 0.0, worst = 0.0;
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    for (int k = 0; k < 3; ++k) {
      float *x = &r.p.pos[n].x + k, kept = *x;
      double w[2];
      *x = kept + 1e-5f;
      double high = (double)*x;
      w[1] = yw_fem_elastic_energy(b, &r.p);
      *x = kept - 1e-5f;
      double low = (double)*x;
      w[0] = yw_fem_elastic_energy(b, &r.p);
      *x = kept;
      double force = (double)(&b->force[n].x)[k];
      largest = fmax(largest, fabs(force));
      worst = fmax(worst, fabs(force + (w[1] - w[0]) / (high - low)));
    }
  }
  assert_at_least(largest, 0.1);
  assert_at_most(worst / largest, 1e-4);
  free_rig(&r);
}

static void forces_are_gradients(void** state) {
  (void)state;
  check_gradients(false);
  check_gradients(true);
}

// A merged tet has the mean of its children; split again, they keep their differences and follow
// the parent.
static void levels_follow_each_other(void** state) {
  (void)state;
  yw_fem_def def = plastic_def(0.01f);
  rig r;
  make_rig(&r, &def, cube, cube_cells);
  fem_body* b = r.body;
  const fem_hierarchy* h = &b->model->h;
  test_random random = {9};
  int32_t first = h->first_child[0], children = yw_fem_children_of(h, 0);
  float before[12][6];
  double mean[6] = {0};
  for (int32_t c = 0; c < children; ++c) {
    for (int i = 0; i < 6; ++i) {
      b->plastic[first + c][i] = before[c][i] = (float)test_random_in(&random, -0.1, 0.1);
      mean[i] += (double)before[c][i] * yw_fem_volume(h, first + c) / yw_fem_volume(h, 0);
    }
  }
  yw_fem_flow_merged(b, 0);
  for (int i = 0; i < 6; ++i) assert_near(b->plastic[0][i], mean[i], 1e-7);
  // The parent flows a little; its children follow.
  for (int i = 0; i < 6; ++i) b->plastic[0][i] += 0.01f * (float)(i + 1);
  yw_fem_flow_split(b, 0);
  for (int32_t c = 0; c < children; ++c) {
    for (int i = 0; i < 6; ++i) {
      assert_near(b->plastic[first + c][i], before[c][i] + 0.01f * (float)(i + 1), 1e-6);
    }
  }
  free_rig(&r);
}

// A bar that yielded under its weight stays bent without it; an elastic one does not.
static void bent_bar_stays_bent(void** state) {
  (void)state;
  const int32_t cells[3] = {4, 1, 1};
  const yw_aabb box = {{0, 0, 0}, {0.4f, 0.1f, 0.1f}};
  double left[2];
  for (int plastic = 0; plastic < 2; ++plastic) {
    yw_fem_def def = plastic_def(plastic ? 0.01f : 0.0f);
    def.youngs_modulus = 3e5f;
    def.params.mass_damping = 12.0f;
    rig r;
    make_rig(&r, &def, box, cells);
    yw_hold* holds = calloc((size_t)r.p.count, sizeof *holds);
    int32_t tip = 0;
    float nearest = 1e9f;
    for (int32_t n = 0; n < r.p.count; ++n) {
      yw_vec3 x = yw_xyz(r.p.pos[n]);
      float d = yw_distance(x, (yw_vec3){0.4f, 0.05f, 0.05f});
      if (x.x < 1e-5f) holds[r.ctx.num_holds++] = (yw_hold){.particle = n, .begin = x, .end = x};
      if (d < nearest) nearest = d, tip = n;
    }
    r.ctx.holds = holds;
    r.ctx.h = 1.0f / 120.0f;
    for (int32_t i = 0; i < 240; ++i) {
      r.ctx.gravity = (yw_vec3){0, 0, i < 90 ? -9.81f : 0.0f};
      assert_true(yw_fem_method.advance(r.body, &r.p, &r.ctx) >= 0);
    }
    left[plastic] = 0.05 - (double)r.p.pos[tip].z;
    free(holds);
    free_rig(&r);
  }
  assert_near(left[0], 0.0, 1e-3);
  assert_at_least(left[1], 0.02);
}

// Plastic strains are part of a snapshot.
static void resumed_run_is_the_same(void** state) {
  (void)state;
  yw_fem_def def = plastic_def(0.01f);
  void* snapshot = NULL;
  size_t size = 0;
  uint64_t hash[2] = {0};
  for (int pass = 0; pass < 2; ++pass) {
    fem_test_bar bar = make_fem_bar(&def, 9.81f);
    if (pass == 0) {
      for (int32_t i = 0; i < 40; ++i) yw_world_step(bar.world, FEM_TEST_FRAME, 1, NULL);
      size = yw_world_snapshot_size(bar.world);
      snapshot = malloc(size);
      assert_int_equal(yw_world_save(bar.world, snapshot, size, NULL), YW_OK);
    } else {
      assert_int_equal(yw_world_load(bar.world, snapshot, size, NULL), YW_OK);
    }
    for (int32_t i = 0; i < 20; ++i) yw_world_step(bar.world, FEM_TEST_FRAME, 1, NULL);
    hash[pass] = yw_world_hash(bar.world);
    int32_t field = yw_body_find_field(bar.world, bar.body, "plastic_strain");
    int32_t count = yw_body_cells(bar.world, bar.body, NULL, 0);
    float *values = malloc(sizeof *values * (size_t)count), largest = 0.0f;
    assert_int_equal(yw_body_field_values(bar.world, bar.body, field, values, count), YW_OK);
    for (int32_t t = 0; t < count; ++t) largest = fmaxf(largest, values[t]);
    assert_at_least(largest, 0.005);
    free(values);
    free_fem_bar(&bar);
  }
  assert_true(hash[0] == hash[1]);
  free(snapshot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elastic_strain_relaxes_to_yield), cmocka_unit_test(forces_are_gradients),
      cmocka_unit_test(levels_follow_each_other),        cmocka_unit_test(bent_bar_stays_bent),
      cmocka_unit_test(resumed_run_is_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
