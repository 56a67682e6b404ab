// SPDX-License-Identifier: MIT
// The bar under its own (small) weight against an independent program, C3D4 elements on the same
// finest mesh: the static solver, and a body that has come to rest in a world.
#include "methods/fem/hierarchy.h"
#include "methods/fem/stiffness.h"
#include "support/need_calculix.h"
#include "yawara/extend/timer.h"
#include "yawara/yawara.h"

#define GRAVITY 0.2f
#define DENSITY 1000.0
#define SECONDS 100

// Stiffness in the four quarters of the bar, from the wall.
static const double youngs[2][4] = {{3e5, 3e5, 3e5, 3e5}, {1.2e6, 9e5, 6e5, 3e5}};

static int32_t quarter_of(double x) {
  int32_t q = (int32_t)(x / 0.1);
  return q < 0 ? 0 : q > 3 ? 3 : q;
}

static void material_at(void* context, yw_vec3 p, int32_t label, yw_fem_material* m) {
  (void)label;
  m->youngs_modulus = (float)youngs[*(const int*)context][quarter_of((double)p.x)];
}

static yw_tet_mesh make_bar(void) {
  yw_tet_mesh mesh;
  const int32_t cells[3] = {4, 1, 1};
  const yw_aabb box = {{0, 0, 0}, {0.4f, 0.1f, 0.1f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  return mesh;
}

static fem_hierarchy divide(const yw_tet_mesh* mesh, int32_t level) {
  fem_hierarchy h;
  yw_error error = {0};
  if (yw_fem_hierarchy_create(NULL, mesh, level, 0.0, &h, &error) < 0)
    fail_msg("%s", error.message);
  return h;
}

// Displacements of the finest level from CalculiX, 3 per node.
static double* ask_calculix(const fem_hierarchy* h, int kind) {
  yw_tet_mesh finest;
  elastic_grid grid;
  yw_error error = {0};
  if (yw_fem_finest_mesh(NULL, h, &finest, &error) < 0) fail_msg("%s", error.message);
  if (elastic_grid_create(&finest, 1, &grid, &error) < 0) fail_msg("%s", error.message);
  calculix_material materials[4];
  int32_t* material_of = calloc(finest.num_tets, sizeof *material_of);
  bool* fixed = calloc(3 * finest.num_vertices, sizeof *fixed);
  double* u = calloc(3 * finest.num_vertices, sizeof *u);
  for (int q = 0; q < 4; ++q) materials[q] = (calculix_material){youngs[kind][q], 0.3, DENSITY};
  for (int32_t t = 0; t < finest.num_tets; ++t) {
    double x = 0;
    for (int k = 0; k < 4; ++k) x += 0.25 * finest.positions[finest.tets[4 * t + k]].x;
    material_of[t] = quarter_of(x);
  }
  for (int32_t i = 0; i < finest.num_vertices; ++i) {
    for (int k = 0; k < 3; ++k) fixed[3 * i + k] = finest.positions[i].x == 0;
  }
  const calculix_model model = {.grid = &grid,
                                .num_materials = 4,
                                .materials = materials,
                                .material_of = material_of,
                                .fixed = fixed,
                                .gravity = {0, 0, -(double)GRAVITY}};
  if (calculix_static(&model, SECONDS, u, NULL, &error) < 0) fail_msg("%s", error.message);
  elastic_grid_free(&grid);
  yw_tet_mesh_free(&finest);
  free(material_of);
  free(fixed);
  return u;
}

static double* solve_directly(const fem_hierarchy* h, int kind) {
  int32_t first = h->level_start[h->max_level], count = h->num_tets - first;
  yw_sym6* c = malloc(count * sizeof *c);
  bool* fixed = calloc(3 * h->num_nodes, sizeof *fixed);
  double* u = calloc(3 * h->num_nodes, sizeof *u);
  for (int32_t t = 0; t < count; ++t) {
    const int32_t* v = h->nodes[first + t];
    double x = 0, share = 0.25 * DENSITY * (double)GRAVITY * yw_fem_volume(h, first + t);
    for (int k = 0; k < 4; ++k) x += 0.25 * h->rest[v[k]].x, u[3 * v[k] + 2] -= share;
    c[t] = yw_sym6_isotropic(youngs[kind][quarter_of(x)], 0.3);
  }
  for (int32_t i = 0; i < 3 * h->num_nodes; ++i) fixed[i] = h->rest[i / 3].x == 0;
  const yw_fem_solid solid = {h->num_nodes, count, h->rest, h->nodes[first], c};
  yw_fem_statics statics;
  yw_error error = {0};
  if (yw_fem_statics_create(NULL, NULL, YW_SIMD_AUTO, &solid, fixed, &statics, &error) < 0 ||
      yw_fem_statics_solve(&statics, NULL, 1, u, u, &error) < 0) {
    fail_msg("%s", error.message);
  }
  yw_fem_statics_free(&statics);
  free(c);
  free(fixed);
  return u;
}

// A damped body on the finest mesh, until it is at rest.
static double* let_it_rest(const yw_tet_mesh* mesh, int32_t level, int kind) {
  yw_error error = {0};
  yw_fem_def def = yw_default_fem_def();
  def.mesh = mesh;
  def.max_level = level;
  def.density = (float)DENSITY;
  def.material_at = material_at;
  def.material_context = &kind;
  def.threads = 1;
  def.params.refine = YW_FEM_REFINE_FINEST;
  def.params.mass_damping = 30;
  def.params.sleep_speed = 0;
  yw_model* model = NULL;
  yw_world* world = NULL;
  yw_world_def world_def = yw_default_world_def();
  world_def.gravity = (yw_vec3){0, 0, -GRAVITY};
  world_def.threads = 1;
  if (yw_model_create_fem(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  if (yw_world_create(&world_def, &world) < 0) fail_msg("no world");
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  yw_body_id body;
  if (yw_body_create(world, &body_def, &body, &error) < 0) fail_msg("%s", error.message);
  const yw_vec3* rest = yw_model_tets(model)->positions;
  int32_t count = yw_model_num_particles(model);
  int32_t* held = malloc(count * sizeof *held);
  int32_t num_held = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (rest[i].x == 0) held[num_held++] = i;
  }
  yw_pin_def pin = yw_default_pin_def();
  pin.body = body;
  pin.vertices = held;
  pin.num_vertices = num_held;
  yw_pin_id pin_id;
  if (yw_pin_create(world, &pin, &pin_id, &error) < 0) fail_msg("%s", error.message);
  for (int i = 0; i < 150; ++i) assert_int_equal(yw_world_step(world, 0.02f, 1, NULL), YW_OK);
  const yw_vec3* x = yw_body_positions(world, body, NULL);
  double* u = malloc(3 * count * sizeof *u);
  for (int32_t i = 0; i < count; ++i) {
    u[3 * i] = (double)x[i].x - rest[i].x, u[3 * i + 1] = (double)x[i].y - rest[i].y;
    u[3 * i + 2] = (double)x[i].z - rest[i].z;
  }
  free(held);
  yw_world_destroy(world);
  yw_model_release(model);
  return u;
}

// Largest difference in deflection, relative to the largest deflection.
static double difference(int32_t count, const double* a, const double* b) {
  double worst = 0, most = 0;
  for (int32_t i = 0; i < count; ++i) {
    worst = fmax(worst, fabs(a[3 * i + 2] - b[3 * i + 2]));
    most = fmax(most, fabs(b[3 * i + 2]));
  }
  return worst / most;
}

static void bars_sag_as_in_calculix(void** state) {
  (void)state;
  need_calculix();
  yw_tet_mesh mesh = make_bar();
  for (int kind = 0; kind < 2; ++kind) {
    // The finest level of the method's bar (20,352 tets) directly, one less for the moving body.
    int32_t level = getenv("YW_TEST_FAST") ? 2 : 3;
    fem_hierarchy h = divide(&mesh, level), coarse = divide(&mesh, 2);
    double begin = yw_seconds();
    double *theirs = ask_calculix(&h, kind), *second = ask_calculix(&coarse, kind);
    double seconds = yw_seconds() - begin;
    double *ours = solve_directly(&h, kind), *moved = let_it_rest(&mesh, 2, kind);
    double direct = difference(h.num_nodes, ours, theirs);
    double rested = difference(coarse.num_nodes, moved, second);
    print_message("%s: direct %.2g, at rest %.2g (ccx took %.1f s)\n",
                  kind ? "graded" : "homogeneous", direct, rested, seconds);
    assert_at_most(direct, 1e-4);
    assert_at_most(rested, 1e-3);
    free(theirs);
    free(second);
    free(ours);
    free(moved);
    yw_fem_hierarchy_free(&h);
    yw_fem_hierarchy_free(&coarse);
  }
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bars_sag_as_in_calculix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
