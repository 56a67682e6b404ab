// SPDX-License-Identifier: MIT
// Relaxation after a split: which nodes move, and that the previous forces are restored.
#include "methods/fem/body.h"
#include "methods/fem/fem.h"
#include "support/testing.h"

typedef struct rig {
  void *model, *body;
  yw_particles p;
  yw_step_ctx ctx;
} rig;

// A softened block of level 1, bent.
static void make_rig(rig* r, yw_simd simd, float bend) {
  yw_fem_def def = yw_default_fem_def();
  def.max_level = 2;
  def.params.min_level = 1;
  const int32_t cells[3] = {3, 1, 1};
  const yw_aabb box = {{0, 0, 0}, {0.3f, 0.1f, 0.1f}};
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  def.mesh = &mesh;
  *r = (rig){.ctx = {.simd = simd}};
  assert_int_equal(yw_fem_model_create(NULL, &def, &r->model, NULL), YW_OK);
  assert_int_equal(yw_fem_method.body_create(r->model, NULL, &r->body, &r->p, NULL), YW_OK);
  yw_tet_mesh_free(&mesh);
  fem_body* b = r->body;
  yw_fem_enforce(b, &r->p, &r->ctx);
  assert_true(b->work.soften);
  for (int32_t n = 0; n < r->p.count; ++n) {
    yw_vec3 x = yw_xyz(r->p.pos[n]);
    // Rotated by 3-4-5, then bent.
    yw_vec3 y = {0.8f * x.x - 0.6f * x.y, 0.6f * x.x + 0.8f * x.y, x.z + bend * x.x * x.x};
    float fall = 2.0f * bend * x.x * x.z;
    r->p.pos[n] = (yw_vec4){y.x - 0.8f * fall, y.y - 0.6f * fall, y.z, 0.0f};
  }
  yw_fem_follow_all(&b->front, r->p.pos, r->p.vel);
}

static void free_rig(rig* r) {
  yw_fem_method.body_destroy(r->body, &r->p);
  yw_fem_model_destroy(r->model);
}

// Splits all tets of the first roots.
static void split_roots(rig* r, int32_t count) {
  fem_body* b = r->body;
  const fem_hierarchy* h = &b->model->h;
  for (int32_t t = h->num_roots; t < h->num_parents; ++t) b->forced[t] = h->root[t] < count;
  yw_fem_enforce(b, &r->p, &r->ctx);
}

static yw_vec4* copy_positions(const rig* r) {
  size_t bytes = sizeof(yw_vec4) * (size_t)r->p.count;
  yw_vec4* copy = malloc(bytes);
  memcpy(copy, r->p.pos, bytes);
  return copy;
}

// Largest displacement of nodes that were in use; touched: those of the first root, or the others.
static double farthest(const rig* r, const yw_vec4* before, bool touched) {
  const fem_body* b = r->body;
  const fem_hierarchy* h = &b->model->h;
  bool* inside = calloc((size_t)h->num_nodes, sizeof *inside);
  double most = 0.0;
  for (int32_t t = h->num_roots; t < h->num_tets; ++t) {
    for (int s = 0; s < 4 && h->root[t] == 0; ++s) inside[h->nodes[t][s]] = true;
  }
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    if (inside[n] != touched || h->node[n].born > 1) continue;
    most = fmax(most, (double)yw_distance(yw_xyz(r->p.pos[n]), yw_xyz(before[n])));
  }
  free(inside);
  return most;
}

// Elastic energy plus that of the loads that balanced the forces before the split: the sum is
// minimal where the forces are the same.
static double energy_since(const rig* r, const yw_vec4* before) {
  const fem_body* b = r->body;
  double energy = yw_fem_elastic_energy(b, &r->p);
  for (int32_t n = 0; n < b->model->h.node_level_start[2]; ++n) {
    yw_vec3 way = yw_sub(yw_xyz(r->p.pos[n]), yw_xyz(before[n]));
    energy += (double)yw_dot(yw_xyz(b->relax.pull[n]), way);
  }
  return energy;
}

// A split that leaves new nodes at the mean of their parents raises the energy; with relaxation it
// hardly does.
static void split_families_give_way(void** state) {
  (void)state;
  rig r;
  make_rig(&r, yw_simd_resolve(YW_SIMD_AUTO), 0.5f);
  fem_body* b = r.body;
  double softened = yw_fem_elastic_energy(b, &r.p);
  yw_vec4* before = copy_positions(&r);
  split_roots(&r, b->model->h.num_roots);
  double relaxed = energy_since(&r, before);
  for (int32_t n = 0; n < r.p.count; ++n) {
    if (b->model->h.node[n].born <= 1) r.p.pos[n] = before[n];
  }
  // Nodes of level 2 at the mean of their parents.
  for (int32_t n = b->model->h.node_level_start[2]; n < r.p.count; ++n) {
    const int32_t* p = b->model->h.node[n].parents;
    yw_vec3 sum = yw_add(yw_xyz(r.p.pos[p[0]]), yw_xyz(r.p.pos[p[1]]));
    if (p[2] >= 0) {
      sum = yw_add(sum, yw_add(yw_xyz(r.p.pos[p[2]]), yw_xyz(r.p.pos[p[3]])));
    }
    r.p.pos[n] = yw_v4(yw_scale(sum, p[2] < 0 ? 0.5f : 0.25f));
  }
  double straight = yw_fem_elastic_energy(b, &r.p);
  assert_at_least(straight / softened, 1.002);
  assert_at_most((relaxed - softened) / (straight - softened), 0.25);
  free(before);
  free_rig(&r);
}

// Old nodes of a split family move slightly, others only to keep the centre of mass fixed.
static void only_what_was_split_moves(void** state) {
  (void)state;
  rig r;
  make_rig(&r, yw_simd_resolve(YW_SIMD_AUTO), 0.5f);
  yw_vec4* before = copy_positions(&r);
  split_roots(&r, 1);
  double split = farthest(&r, before, true);
  assert_at_least(split, 1e-5);
  assert_at_most(split, 1e-3);
  assert_at_most(farthest(&r, before, false) / split, 0.1);
  free(before);
  free_rig(&r);
}

// Rotated without strain: nothing moves.
static void turned_body_stays(void** state) {
  (void)state;
  rig r;
  make_rig(&r, yw_simd_resolve(YW_SIMD_AUTO), 0.0f);
  yw_vec4* before = copy_positions(&r);
  split_roots(&r, 1);
  assert_at_most(farthest(&r, before, true), 2e-6);
  assert_at_most(farthest(&r, before, false), 2e-6);
  free(before);
  free_rig(&r);
}

static void same_bits_over_simd(void** state) {
  (void)state;
  static const yw_simd levels[3] = {YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};
  yw_vec4* first = NULL;
  for (int k = 0; k < 3; ++k) {
    rig r;
    make_rig(&r, yw_simd_resolve(levels[k]), 1.0f);
    split_roots(&r, 1);
    if (!first) first = copy_positions(&r);
    assert_memory_equal(first, r.p.pos, sizeof(yw_vec4) * (size_t)r.p.count);
    free_rig(&r);
  }
  free(first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(split_families_give_way),
      cmocka_unit_test(only_what_was_split_moves),
      cmocka_unit_test(turned_body_stays),
      cmocka_unit_test(same_bits_over_simd),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
