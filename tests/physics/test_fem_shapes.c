// SPDX-License-Identifier: MIT
// Bodies with default settings against CalculiX with quadratic tets (C3D10): sag under a small
// weight and first frequency. With YW_TEST_TABLE (a part of a name, or "all") also shapes that take
// minutes, variants, and processor times relative to the finest mesh: the rows of
// docs/validation.md (scripts/write_validation.sh).
#include "methods/fem/fem.h"
#include "methods/fem/hierarchy.h"
#include "support/need_calculix.h"
#include "support/scene_text.h"
#include "yawara/fem.h"
#include "yawara/yawara.h"

#include <time.h>

#define SECONDS 300
#define GRAVITY 0.2
#define DENSITY 1000.0
#define YOUNGS 1e5
#define CORE_YOUNGS 1e6
#define FRAME (1.0f / 240.0f)
#define NUM_CROSSINGS 5
// The finest mesh does the same work in every frame: one in so many is timed.
#define TIMED_FRAMES 8
// The reference has quadratic tets of the finest level up to this many, else of the level above.
#define MOST_QUADRATIC 25000

typedef struct shape_case {
  const char* name;
  const char* source;  // JSON with ' for ": shape or mesh of the body, held at x <= hold
  const char* fields;  // JSON
  double core;         // half width of a stiffer core along x; 0: none
  double hold;
} shape_case;

#define BAR(cells)                                                \
  "'mesh': {'lattice': {'size': [0.4, 0.1, 0.1], 'cells': " cells \
  ", 'cut': 6, "                                                  \
  "'center': [0.2, 0, 0]}}"
#define CORE ", 'fields': [{'shape': {'box': {'size': [1, 0.05, 0.05]}}, 'youngs_modulus': 1e6}]"

static const shape_case cases[] = {
    {"bar, 4 finest tets thick", BAR("[4, 1, 1]"), ", 'max_level': 2", 0.0, 1e-4},
    {"L bracket",
     "'shape': {'union': {'of': [{'box': {'size': [0.4, 0.1, 0.1], 'center': [0.2, 0, 0]}}, "
     "{'box': {'size': [0.1, 0.3, 0.1], 'center': [0.35, 0.1, 0]}}]}}",
     "", 0.0, 0.06},
    {"beam with a core", "'shape': {'box': {'size': [0.4, 0.1, 0.1], 'center': [0.2, 0, 0]}}", CORE,
     0.025, 0.06},
    {"bar with a core, 8 finest tets thick", BAR("[8, 2, 2]"), ", 'max_level': 2" CORE, 0.025,
     1e-4},
    {"crank on a shaft",
     "'shape': {'union': {'of': [{'cylinder': {'radius': 0.05, 'height': 0.3, 'axis': 'x', "
     "'center': [0.15, 0, 0]}}, {'box': {'size': [0.08, 0.28, 0.08], 'center': [0.3, 0.1, 0]}}, "
     "{'cylinder': {'radius': 0.04, 'height': 0.2, 'axis': 'x', 'center': [0.42, 0.2, 0]}}]}}",
     "", 0.0, 0.06},
};

// The body in a world --------------------------------------------------------------------------

static yw_world* make(const shape_case* c, const char* settings, double gravity) {
  char text[4000];
  snprintf(text, sizeof text,
           "{'gravity': [0, 0, %g], 'bodies': [{%s, 'density': %g, 'pins': "
           "[{'select': {'plane': {'normal': [1, 0, 0], 'point': [%g, 0, 0]}}}], "
           "'fem': {'youngs_modulus': %g%s%s}}]}",
           -gravity, c->source, DENSITY, c->hold, YOUNGS, c->fields, settings);
  for (char* t = text; *t; ++t) {
    if (*t == '\'') *t = '"';
  }
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  yw_scene_destroy(scene);
  return world;
}

static const fem_hierarchy* levels_of(const yw_world* world) {
  const yw_model* model = yw_body_model(world, yw_world_body(world, 0));
  return yw_fem_hierarchy_of(yw_model_data(model, &yw_fem_method));
}

static double step_timed(yw_world* world) {
  clock_t start = clock();
  assert_true(yw_world_step(world, FRAME, 1, NULL) >= 0);
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

// Displacements, 3 per node, of a body that has come to rest: critically damped for about this
// frequency, it has 0.1 % left to go after nine radians. `seconds` of processor time are those of
// the steps; `finest` (may be NULL) those of the finest mesh, of linear tets, from frames in turn
// with these.
static double* sag_of(const shape_case* c, const char* settings, double frequency,
                      yw_fem_statistics* state, double* seconds, double* finest) {
  char damped[300], linear[400];
  snprintf(damped, sizeof damped, ", 'mass_damping': %g, 'sleep_speed': 0%s", 2.0 * frequency,
           settings);
  snprintf(linear, sizeof linear, "%s, 'refine': 'finest'", damped);
  yw_world* world = make(c, damped, GRAVITY);
  yw_world* beside = finest ? make(c, linear, GRAVITY) : NULL;
  const fem_hierarchy* h = levels_of(world);
  for (int frame = 0; yw_world_time(world) < 9.0 / frequency; ++frame) {
    *seconds += step_timed(world);
    if (finest && frame % TIMED_FRAMES == 0) *finest += TIMED_FRAMES * step_timed(beside);
  }
  if (finest) yw_world_destroy(beside);
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), NULL);
  double* u = malloc(3 * sizeof *u * (size_t)h->num_nodes);
  for (int32_t i = 0; i < h->num_nodes; ++i) {
    u[3 * i] = (double)x[i].x - h->rest[i].x;
    u[3 * i + 1] = (double)x[i].y - h->rest[i].y;
    u[3 * i + 2] = (double)x[i].z - h->rest[i].z;
  }
  yw_body_fem_statistics(world, yw_world_body(world, 0), state);
  yw_world_destroy(world);
  return u;
}

// Frequency, rad/s, of the vibration that starts from the displacements u: zero crossings of its
// part along u.
static double frequency_of(const shape_case* c, const char* settings, const double* u) {
  char undamped[300];
  snprintf(undamped, sizeof undamped, ", 'mass_damping': 0, 'sleep_speed': 0%s", settings);
  yw_world* world = make(c, undamped, 0.0);
  const fem_hierarchy* h = levels_of(world);
  yw_body_id body = yw_world_body(world, 0);
  yw_vec3* x = malloc(sizeof *x * (size_t)h->num_nodes);
  yw_vec3* v = calloc((size_t)h->num_nodes, sizeof *v);
  for (int32_t i = 0; i < h->num_nodes; ++i) {
    x[i] = (yw_vec3){(float)(h->rest[i].x + u[3 * i]), (float)(h->rest[i].y + u[3 * i + 1]),
                     (float)(h->rest[i].z + u[3 * i + 2])};
  }
  assert_int_equal(yw_body_set_state(world, body, x, v), YW_OK);
  double first = 0.0, last = 0.0, before = 1.0;
  int crossings = 0;
  while (crossings < NUM_CROSSINGS && yw_world_time(world) < 20.0) {
    assert_true(yw_world_step(world, FRAME, 1, NULL) >= 0);
    const yw_vec3* now = yw_body_positions(world, body, NULL);
    double along = 0.0;
    for (int32_t i = 0; i < h->num_nodes; ++i) {
      along += u[3 * i] * ((double)now[i].x - h->rest[i].x) +
               u[3 * i + 1] * ((double)now[i].y - h->rest[i].y) +
               u[3 * i + 2] * ((double)now[i].z - h->rest[i].z);
    }
    if ((along > 0.0) != (before > 0.0)) {
      last = yw_world_time(world) - (double)FRAME * along / (along - before);
      if (crossings++ == 0) first = last;
    }
    before = along;
  }
  free(x);
  free(v);
  yw_world_destroy(world);
  assert_int_equal(crossings, NUM_CROSSINGS);
  return (NUM_CROSSINGS - 1) * 3.14159265358979 / (last - first);
}

// The reference ---------------------------------------------------------------------------------

typedef struct answer {
  double sag;        // m, largest displacement
  double frequency;  // rad/s
  int32_t num_tets;
  double seconds;  // of processor time until it hangs; 0: not measured
} answer;

static double largest(int32_t count, const double* u) {
  double most = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    const double* p = u + 3 * (size_t)i;
    most = fmax(most, sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
  }
  return most;
}

// Tets of one level; its nodes come first, so that numbers are those of the hierarchy.
static yw_tet_mesh mesh_of_level(const fem_hierarchy* h, int32_t level) {
  yw_tet_mesh mesh = {0};
  int32_t first = h->level_start[level], count = h->level_start[level + 1] - first;
  assert_true(yw_tet_mesh_create(NULL, h->node_level_start[level + 1], count, &mesh) >= 0);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) mesh.positions[i] = yw_f3(h->rest[i]);
  for (int32_t t = 0; t < count; ++t) {
    const int32_t* v = h->nodes[first + t];
    bool positive = yw_fem_is_positive(h, first + t);
    const int32_t in_order[4] = {v[0], v[1], v[positive ? 2 : 3], v[positive ? 3 : 2]};
    memcpy(mesh.tets + 4 * (size_t)t, in_order, sizeof in_order);
  }
  return mesh;
}

static bool in_core(const shape_case* c, const elastic_grid* grid, const int32_t* corners) {
  double y = 0.0, z = 0.0;
  for (int k = 0; k < 4; ++k) {
    y += 0.25 * grid->nodes[corners[k]][1];
    z += 0.25 * grid->nodes[corners[k]][2];
  }
  return fabs(y) < c->core && fabs(z) < c->core;
}

// Holds what the pins of the body hold: vertices of the finest level, and the edges between them.
// Midpoints of the level above are vertices of the finest.
static void hold(const shape_case* c, const elastic_grid* grid, bool finest, bool* fixed) {
  static const uint8_t ends[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
  for (int32_t i = 0; i < 3 * grid->num_nodes; ++i) fixed[i] = grid->nodes[i / 3][0] <= c->hold;
  for (int32_t e = 0; e < grid->num_elements && grid->order == 2 && finest; ++e) {
    const int32_t* n = grid->elements + 10 * (size_t)e;
    for (int k = 0; k < 6; ++k) {
      bool both = fixed[3 * n[ends[k][0]]] && fixed[3 * n[ends[k][1]]];
      for (int i = 0; i < 3; ++i) fixed[3 * n[4 + k] + i] = both;
    }
  }
}

static answer ask_calculix(const shape_case* c, const fem_hierarchy* h, int32_t level,
                           int32_t order) {
  yw_error error = {0};
  yw_tet_mesh mesh = mesh_of_level(h, level);
  elastic_grid grid;
  if (elastic_grid_create(&mesh, order, &grid, &error) < 0) fail_msg("%s", error.message);
  const calculix_material materials[2] = {{YOUNGS, 0.3, DENSITY}, {CORE_YOUNGS, 0.3, DENSITY}};
  int32_t* material_of = calloc((size_t)grid.num_elements, sizeof *material_of);
  bool* fixed = calloc(3 * (size_t)grid.num_nodes, sizeof *fixed);
  double* u = calloc(3 * (size_t)grid.num_nodes, sizeof *u);
  for (int32_t e = 0; e < grid.num_elements; ++e) {
    material_of[e] = in_core(c, &grid, grid.elements + (size_t)(e * elastic_corners(&grid)));
  }
  hold(c, &grid, level == h->max_level, fixed);
  const calculix_model model = {.grid = &grid,
                                .num_materials = 2,
                                .materials = materials,
                                .material_of = material_of,
                                .fixed = fixed,
                                .gravity = {0, 0, -GRAVITY}};
  answer a = {.num_tets = mesh.num_tets};
  if (calculix_static(&model, SECONDS, u, NULL, &error) < 0 ||
      calculix_frequencies(&model, 1, SECONDS, &a.frequency, &error) < 0) {
    fail_msg("%s", error.message);
  }
  a.sag = largest(grid.num_nodes, u);
  elastic_grid_free(&grid);
  yw_tet_mesh_free(&mesh);
  free(material_of);
  free(fixed);
  free(u);
  return a;
}

// The comparison --------------------------------------------------------------------------------

static answer measure(const shape_case* c, const char* settings, double frequency, double* finest) {
  yw_fem_statistics state;
  double seconds = 0.0;
  double* u = sag_of(c, settings, frequency, &state, &seconds, finest);
  yw_world* world = make(c, settings, GRAVITY);
  answer a = {.num_tets = state.num_tets,
              .sag = largest(levels_of(world)->num_nodes, u),
              .seconds = seconds};
  yw_world_destroy(world);
  a.frequency = frequency_of(c, settings, u);
  free(u);
  return a;
}

// Time as a share of that of the finest mesh, if that is known.
static void print_row(const shape_case* c, const char* what, answer a, answer truth,
                      double finest) {
  char share[20] = "";
  if (a.seconds > 0.0 && finest > 0.0) snprintf(share, sizeof share, "%.2f", a.seconds / finest);
  print_message("| %s | %s | %d | %.4g mm (%+.1f %%) | %.4g /s (%+.1f %%) | %s |\n", c->name, what,
                a.num_tets, 1e3 * a.sag, 100.0 * (a.sag / truth.sag - 1.0), a.frequency,
                100.0 * (a.frequency / truth.frequency - 1.0), share);
}

static void compare(const shape_case* c) {
  yw_world* world = make(c, "", GRAVITY);
  const fem_hierarchy* h = levels_of(world);
  int32_t level = h->max_level;
  bool many = h->level_start[level + 1] - h->level_start[level] > MOST_QUADRATIC;
  if (many && c->core == 0.0) --level;  // the core is made of finest tets
  answer truth = ask_calculix(c, h, level, 2);
  print_row(c, "CalculiX, C3D10", truth, truth, 0.0);
  double finest = 0.0;
  answer ours = measure(c, "", truth.frequency, getenv("YW_TEST_TABLE") ? &finest : NULL);
  print_row(c, "default settings", ours, truth, finest);
  if (getenv("YW_TEST_TABLE")) {
    print_row(c, "CalculiX, C3D4, finest mesh", ask_calculix(c, h, h->max_level, 1), truth, 0.0);
    answer soft = measure(c, ", 'soften': 'finest'", truth.frequency, NULL);
    print_row(c, "`soften`: `finest`", soft, truth, finest);
  }
  yw_world_destroy(world);
  assert_near(ours.sag / truth.sag, 1.0, 0.02);
  assert_near(ours.frequency / truth.frequency, 1.0, 0.02);
}

// YW_TEST_TABLE chooses bodies.
static bool is_chosen(const shape_case* c) {
  const char* which = getenv("YW_TEST_TABLE");
  return which == NULL || strcmp(which, "all") == 0 || strstr(c->name, which) != NULL;
}

// The bar with YW_TEST_FULL.
static void a_bar_a_bracket_and_a_beam_with_a_core(void** state) {
  (void)state;
  need_calculix();
  for (int i = getenv("YW_TEST_FULL") ? 0 : 1; i < 3; ++i) {
    if (is_chosen(&cases[i])) compare(&cases[i]);
  }
}

// Minutes each.
static void shapes(void** state) {
  (void)state;
  need_calculix();
  if (!getenv("YW_TEST_TABLE")) skip();
  for (size_t i = 3; i < sizeof cases / sizeof cases[0]; ++i) {
    if (is_chosen(&cases[i])) compare(&cases[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bar_a_bracket_and_a_beam_with_a_core),
      cmocka_unit_test(shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
