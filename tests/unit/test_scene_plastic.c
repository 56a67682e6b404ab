// SPDX-License-Identifier: MIT
// "plastic" and "merge" in scene files: particles, materials, layers, parts that share a body,
// colours, warnings and mistakes.
#include "methods/plastic/model.h"
#include "model/model.h"
#include "scene/loader.h"
#include "support/documents.h"
#include "support/scene_peek.h"
#include "support/scene_text.h"
#include "support/testing.h"
#include "yawara/yawara.h"

#define CUBE "\"shape\": {\"box\": {\"size\": 0.4}}"
#define BODY(keys) "{\"bodies\": [{" keys "}]}"
#define PLASTIC(keys) BODY(CUBE ", \"plastic\": {\"spacing\": 0.1, " keys "}")
#define SOFT CUBE ", \"plastic\": {\"spacing\": 0.1}"
#define TWO(first, second) \
  "{\"bodies\": [{" SOFT ", " first "}, {" SOFT ", \"position\": [1, 0, 0], " second "}]}"

static const plastic_model* model_of(const yw_scene* scene) {
  return scene->models.items[0].model->data;
}

static const plastic_model* group_of(const yw_scene* scene) {
  return scene->groups.items[0].model->data;
}

static float youngs_of(const plastic_model* m, int32_t i) {
  const plastic_material_block* material = yw_plastic_material_of(m, i);
  float mu = material->mu[i % YW_LANES], lambda = material->lambda[i % YW_LANES];
  return mu * (3 * lambda + 2 * mu) / (lambda + mu);
}

// Particles and materials -------------------------------------------------------------------------

static void settings_reach_the_model(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      BODY(CUBE ", \"density\": 700, \"plastic\": {\"spacing\": 0.1, \"youngs_modulus\": 2e5, "
                "\"poissons_ratio\": 0.25, \"theta_c\": 0.02, \"theta_s\": 0.01, \"xi\": 10, "
                "\"eta\": 0.5, \"time_step\": 1e-3, \"tolerance\": 1e-4, \"max_iterations\": 50, "
                "\"sleep_speed\": 0.01}"));
  const plastic_model* m = model_of(scene);
  assert_int_equal(m->num_masters, 64);
  assert_near(youngs_of(m, 63), 2e5, 1);
  assert_near(m->mass[0], 0.7, 1e-5);
  assert_near(m->materials[0].low[0], 0.98, 1e-6);
  assert_near(m->materials[0].high[0], 1.01, 1e-6);
  assert_near(m->materials[0].xi[0], 10, 0);
  assert_near(m->materials[0].eta[0], 0.5, 0);
  assert_near(m->params.time_step, 1e-3, 1e-9);
  assert_near(m->params.tolerance, 1e-4, 1e-9);
  assert_int_equal(m->params.max_iterations, 50);
  assert_near(m->params.sleep_speed, 0.01, 1e-9);
  assert_false(m->paper);
  assert_true(m->num_slaves > m->num_masters);
  yw_scene_destroy(scene);
  scene = scene_of(PLASTIC("\"variant\": \"paper\", \"without_slaves\": true"));
  assert_true(model_of(scene)->paper);
  assert_int_equal(model_of(scene)->num_slaves, 0);
  assert_true(isinf(model_of(scene)->materials[0].yield[0]));
  assert_true(isinf(model_of(scene)->materials[0].high[0]));
  yw_scene_destroy(scene);
}

static yw_plastic_material material_of(const yw_scene* scene) {
  return (yw_plastic_material){.youngs_modulus = (float)model_setting(scene, 0, "youngs_modulus"),
                               .poissons_ratio = (float)model_setting(scene, 0, "poissons_ratio"),
                               .density = scene->models.items[0].keys.density,
                               .flow = (yw_plastic_flow)model_setting(scene, 0, "flow"),
                               .theta_c = (float)model_setting(scene, 0, "theta_c"),
                               .theta_s = (float)model_setting(scene, 0, "theta_s"),
                               .yield_stress = (float)model_setting(scene, 0, "yield_stress"),
                               .xi = (float)model_setting(scene, 0, "xi"),
                               .eta = (float)model_setting(scene, 0, "eta")};
}

// A body can have its own solver settings.
static void settings_of_the_solver_reach_the_body(void** state) {
  (void)state;
  yw_scene* scene = scene_of("{\"models\": {\"m\": {" SOFT
                             "}}, \"bodies\": [{\"model\": \"m\"}, "
                             "{\"model\": \"m\", \"position\": [0, 5, 0], \"plastic\": "
                             "{\"tolerance\": 1e-4, \"max_iterations\": 50}}]}");
  yw_world* world = NULL;
  yw_error error = {0};
  if (yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) fail_msg("%s", error.message);
  yw_plastic_params a, b;
  assert_int_equal(yw_body_plastic_params(world, yw_world_body(world, 0), &a), YW_OK);
  assert_int_equal(yw_body_plastic_params(world, yw_world_body(world, 1), &b), YW_OK);
  assert_near(a.tolerance, 1e-3, 1e-9);
  assert_near(b.tolerance, 1e-4, 1e-9);
  assert_int_equal(b.max_iterations, 50);
  assert_near(b.sleep_speed, a.sleep_speed, 0);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void defaults_are_those_of_the_library(void** state) {
  (void)state;
  yw_scene* scene = scene_of(PLASTIC("\"eta\": 0"));
  yw_plastic_params params = yw_default_plastic_def().params;
  yw_plastic_material material = yw_default_plastic_material();
  yw_plastic_material read = material_of(scene);
  assert_memory_equal(&read, &material, sizeof material);
  assert_near(body_setting(scene, 0, "tolerance"), params.tolerance, 0);
  assert_near(body_setting(scene, 0, "max_iterations"), params.max_iterations, 0);
  assert_near(body_setting(scene, 0, "time_step"), params.time_step, 0);
  assert_near(body_setting(scene, 0, "sleep_speed"), params.sleep_speed, 0);
  yw_scene_destroy(scene);
}

// Without a spacing there are 24 masters along the longest side, or two across what is thin.
static void the_spacing_follows_the_size(void** state) {
  (void)state;
  yw_scene* scene =
      scene_of(BODY("\"shape\": {\"box\": {\"size\": [0.48, 0.06, 0.06]}}, \"plastic\": {}"));
  assert_near(model_of(scene)->spacing, 0.02, 1e-7);
  assert_int_equal(model_of(scene)->num_masters, 24 * 3 * 3);
  yw_scene_destroy(scene);
  scene = scene_of(BODY("\"shape\": {\"box\": {\"size\": [0.48, 0.02, 0.04]}}, \"plastic\": {}"));
  assert_near(model_of(scene)->spacing, 0.01, 5e-4);
  assert_true(model_of(scene)->num_masters >= 2 * 4 * 46);
  yw_scene_destroy(scene);
}

// Bodies show the surface of their shape or file, sheets their particles.
static void bodies_show_what_they_are_made_of(void** state) {
  (void)state;
  static const struct {
    const char* text;
    bool shows;
  } cases[] = {
      {BODY("\"shape\": {\"sphere\": {\"radius\": 0.1}}, \"plastic\": {}"), true},
      {BODY("\"shape\": {\"sphere\": {\"radius\": 0.1}}, \"plastic\": {}, \"surface\": {\"size\": "
            "0.02}"),
       true},
      {BODY("\"mesh\": {\"lattice\": {\"size\": 0.2, \"cells\": 2}}, \"plastic\": {}"), true},
      {BODY("\"shape\": {\"box\": {\"size\": [0.2, 0.01, 0.2]}}, \"plastic\": {\"sheet\": true}"),
       false},
      {BODY("\"shape\": {\"sphere\": {\"radius\": 0.1}}, \"merge\": \"a\", \"plastic\": "
            "{\"spacing\": 0.02}"),
       true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    yw_scene* scene = scene_of(cases[i].text);
    yw_world* world = NULL;
    yw_error error = {0};
    if (yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) fail_msg("%s", error.message);
    const yw_model* model = yw_body_model(world, yw_world_body(world, 0));
    assert_int_equal(yw_model_surface(model)->num_triangles > 0, cases[i].shows);
    assert_int_equal(yw_model_surface_parts(model), cases[i].shows);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// Boxes of a lattice, tets of a shape and shapes give the same particles; a sheet is one layer.
static void bodies_come_from_any_source(void** state) {
  (void)state;
  static const char* const sources[] = {
      "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 2, \"center\": [0, 1, 0]}}",
      "\"mesh\": {\"tets\": {\"shape\": {\"box\": {\"size\": 0.4, \"center\": [0, 1, 0]}}}}",
      "\"shape\": {\"box\": {\"size\": 0.4, \"center\": [0, 1, 0]}}"};
  for (size_t i = 0; i < 3; i++) {
    char text[300];
    snprintf(text, sizeof text, BODY("%s, \"plastic\": {\"spacing\": 0.1}"), sources[i]);
    yw_scene* scene = scene_of(text);
    const plastic_model* m = model_of(scene);
    assert_int_equal(m->num_masters, 64);
    assert_near(m->masters[0].y, 0.85, 1e-5);
    yw_scene_destroy(scene);
  }
  yw_scene* scene = scene_of(PLASTIC("\"sheet\": true"));
  assert_int_equal(model_of(scene)->num_masters, 16);
  assert_near(model_of(scene)->masters[5].y, 0, 1e-6);
  yw_scene_destroy(scene);
}

static void write_tetrahedron(const char* name) {
  FILE* file = fopen(name, "wb");
  assert_non_null(file);
  fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", file);
  fclose(file);
}

// Six equal corners fill a box: a sixth of its particles, up to the slanted side.
static void bodies_come_from_files_of_triangles(void** state) {
  (void)state;
  write_tetrahedron("scene_plastic.obj");
  const char* text = BODY(
      "\"mesh\": {\"file\": \"scene_plastic.obj\", \"scale\": 2}, \"plastic\": {\"spacing\": "
      "0.1}");
  yw_scene* scene = NULL;
  yw_error error = {0};
  if (read_scene_text(text, "a.json", &scene, NULL, &error) < 0) {
    fail_msg("%s", error.message);
  }
  remove("scene_plastic.obj");
  assert_near(model_of(scene)->num_masters / (8000.0 / 6.0), 1, 0.1);
  yw_scene_destroy(scene);
}

static void materials_by_name_bring_everything(void** state) {
  (void)state;
  for (int32_t i = 0; i < yw_num_plastic_presets(); i++) {
    const yw_plastic_preset* preset = yw_plastic_preset_at(i);
    char text[200];
    snprintf(text, sizeof text, PLASTIC("\"material\": \"%s\""), preset->name);
    yw_scene* scene = scene_of(text);
    yw_plastic_material material = material_of(scene);
    assert_memory_equal(&material, &preset->material, sizeof material);
    yw_scene_destroy(scene);
  }
  // Keys next to it override it; elastic materials do not yield.
  yw_scene* scene = scene_of(BODY(
      CUBE ", \"density\": 3, \"plastic\": {\"spacing\": 0.1, \"material\": \"clay\", \"xi\": 4}"));
  yw_plastic_material material = material_of(scene);
  const yw_plastic_material* clay = &yw_plastic_preset_by_name("clay")->material;
  assert_near(material.density, 3, 0);
  assert_near(material.xi, 4, 0);
  assert_near(material.yield_stress, clay->yield_stress, 0);
  yw_scene_destroy(scene);
  scene = scene_of(PLASTIC("\"material\": \"rubber\""));
  material = material_of(scene);
  assert_near(material.youngs_modulus, yw_material_by_name("rubber")->youngs_modulus, 0);
  assert_near(material.density, yw_material_by_name("rubber")->density, 0);
  assert_int_equal(material.flow, YW_FLOW_NONE);
  yw_scene_destroy(scene);
}

// Every preset stands in the documentation with the numbers of the table, and in the schema.
static void presets_are_those_of_the_documentation(void** state) {
  (void)state;
  char* docs = read_document("materials.md");
  char* schema = read_document("scene.schema.json");
  assert_null(yw_plastic_preset_at(-1));
  assert_null(yw_plastic_preset_at(yw_num_plastic_presets()));
  assert_null(yw_plastic_preset_by_name("Clay"));
  assert_null(yw_plastic_preset_by_name(NULL));
  char list[600] = "\"enum\": [";
  for (int32_t i = 0; i < yw_num_plastic_presets(); i++) {
    const yw_plastic_preset* p = yw_plastic_preset_at(i);
    const yw_plastic_material* m = &p->material;
    assert_ptr_equal(yw_plastic_preset_by_name(p->name), p);
    char row[100];
    snprintf(row, sizeof row, "\n| `%s` | ", p->name);
    const char* at = strstr(docs, row);
    if (!at) fail_msg("docs/materials.md has no row for %s", p->name);
    double young, poisson, density, yield, xi, theta_c, theta_s;
    int read = sscanf(at + strlen(row), "%lf | %lf | %lf | %lf | %lf |", &young, &poisson, &density,
                      &yield, &xi);
    if (m->flow == YW_FLOW_BOX) {
      read = sscanf(at + strlen(row), "%lf | %lf | %lf | %lf, %lf | %lf |", &young, &poisson,
                    &density, &theta_c, &theta_s, &xi);
      assert_int_equal(read, 6);
      assert_near(m->theta_c, theta_c, 1e-6);
      assert_near(m->theta_s, theta_s, 1e-6);
    } else {
      assert_int_equal(read, 5);
      assert_near(m->yield_stress / yield, 1, 1e-6);
    }
    assert_near(m->youngs_modulus / young, 1, 1e-6);
    assert_near(m->poissons_ratio, poisson, 1e-6);
    assert_near(m->density, density, 1e-3);
    assert_near(m->xi, xi, 1e-6);
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", i ? ", " : "", p->name);
    if (i > 0)
      assert_at_least(m->youngs_modulus, yw_plastic_preset_at(i - 1)->material.youngs_modulus);
  }
  assert_non_null(strstr(schema, list));
  free(docs);
  free(schema);
}

// Particles of the right half are stiffer, those of the upper half yield earlier and weigh less.
static void layers_change_particles(void** state) {
  (void)state;
  yw_scene* scene = scene_of(PLASTIC(
      "\"youngs_modulus\": 1e4, \"yield_stress\": 300, \"fields\": [{\"shape\": {\"plane\": "
      "{\"normal\": [-1, 0, 0]}}, \"youngs_modulus\": 1e6}, {\"shape\": {\"plane\": {\"normal\": "
      "[0, -1, 0]}}, \"yield_stress\": 100, \"density\": 500}]"));
  const plastic_model* m = model_of(scene);
  for (int32_t i = 0; i < 64; i++) {
    yw_vec3 p = m->masters[i];
    assert_near(youngs_of(m, i) / (p.x > 0 ? 1e6 : 1e4), 1, 1e-5);
    assert_near(yw_plastic_material_of(m, i)->yield[i % YW_LANES], p.y > 0 ? 100 : 300, 1e-3);
    assert_near(m->mass[i], p.y > 0 ? 0.5 : 1, 1e-6);
  }
  yw_scene_destroy(scene);
}

static void bodies_start_move_and_are_held(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"gravity\": [0, 0, 0], \"bodies\": [{" SOFT
      ", \"position\": [0, 2, 0], \"velocity\": [1, 0, 0], \"start\": 0.1}, {" SOFT
      ", \"position\": [3, 0, 0], \"pins\": [{\"select\": {\"plane\": {\"offset\": -0.1}}}]}]}");
  yw_world* world = world_of(scene);
  yw_body_id late = yw_world_body(world, 0);
  assert_false(yw_body_is_active(world, late));
  for (int i = 0; i < 20; i++) assert_true(yw_world_step(world, 0.01f, 1, NULL) >= 0);
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, late, &sums), YW_OK);
  assert_near(sums.center[0], 0.1, 0.011);
  assert_near(sums.center[1], 2, 1e-4);
  assert_int_equal(scene->bodies.items[1].pin_list[0].num_vertices, 16);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Merging -----------------------------------------------------------------------------------------

static const char merging[] =
    "{\"gravity\": [0, 0, 0], \"bodies\": [{" SOFT
    ", \"color\": [1, 0, 0], \"merge\": true, \"velocity\": [0.5, 0, 0]},\n{" SOFT
    ", \"name\": \"alone\", \"position\": [0, 3, 0]},\n{" SOFT
    ", \"position\": [0.6, 0, 0], \"merge\": true, \"colors\": [[0, 1, 0], [0, 0, 1]], "
    "\"repeat\": {\"count\": [2, 1, 1], \"spacing\": [5, 0, 0], \"interval\": 0.05}},\n{" SOFT
    ", \"position\": [0, 6, 0], \"merge\": \"other\"}]}";

// Three parts form one body, at the position of the first of them in the file.
static void bodies_of_a_group_are_one(void** state) {
  (void)state;
  yw_scene* scene = scene_of(merging);
  yw_world* world = world_of(scene);
  assert_int_equal(yw_world_num_bodies(world), 3);
  assert_string_equal(yw_body_name(world, yw_world_body(world, 1)), "alone");
  assert_string_equal(yw_body_name(world, yw_world_body(world, 2)), "other");
  int32_t count;
  yw_body_positions(world, yw_world_body(world, 0), &count);
  assert_int_equal(count, 128);
  assert_int_equal(group_of(scene)->num_masters, 192);
  for (int i = 0; i < 60; i++) assert_true(yw_world_step(world, 0.01f, 1, NULL) >= 0);
  yw_body_positions(world, yw_world_body(world, 0), &count);
  assert_int_equal(count, 192);
  // The first two met at 0.4 s and move on together, at half the speed.
  const yw_vec3* v = yw_body_velocities(world, yw_world_body(world, 0), &count);
  double mean[3] = {0};
  for (int32_t i = 0; i < count; i++) mean[i / 64] += (double)v[i].x / 64;
  assert_near(mean[0] + mean[1], 0.5, 1e-3);
  assert_near(mean[0] - mean[1], 0, 0.1);
  assert_near(mean[2], 0, 1e-6);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void particles_keep_the_colour_of_their_body(void** state) {
  (void)state;
  yw_scene* scene = scene_of(merging);
  static const yw_vec3 colors[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int32_t i = 0; i < 192; i++) {
    yw_vec3 color;
    assert_true(yw_scene_particle_color(scene, 0, i, &color));
    assert_memory_equal(&color, &colors[i / 64], sizeof color);
  }
  yw_vec3 color;
  assert_false(yw_scene_particle_color(scene, 1, 0, &color));
  assert_false(yw_scene_particle_color(scene, 3, 0, &color));
  yw_scene_destroy(scene);
  // Paint, in the coordinates of the rest pose.
  scene =
      scene_of(BODY(SOFT ", \"position\": [0, 9, 0], \"color\": [1, 0, 0], \"paint\": [{\"shape\": "
                         "{\"plane\": {}}, \"color\": [0, 0, 1], \"blend\": 0}]"));
  for (int32_t i = 0; i < 64; i++) {
    color = yw_scene_body_look(scene, 0).color;
    assert_true(yw_scene_particle_color(scene, 0, i, &color));
    assert_near(color.z, model_of(scene)->masters[i].y < 0, 0);
  }
  yw_scene_destroy(scene);
}

// A group whose parts all start later starts with the first of them.
static void a_group_may_begin_later(void** state) {
  (void)state;
  yw_scene* scene =
      scene_of(BODY(SOFT ", \"merge\": true, \"start\": 0.05, \"repeat\": {\"count\": [2, 1, 1], "
                         "\"spacing\": [3, 0, 0], \"interval\": 0.1}"));
  yw_world* world = world_of(scene);
  int32_t count;
  yw_body_positions(world, yw_world_body(world, 0), &count);
  assert_false(yw_body_is_active(world, yw_world_body(world, 0)));
  for (int i = 0; i < 8; i++) assert_true(yw_world_step(world, 0.01f, 1, NULL) >= 0);
  assert_true(yw_body_is_active(world, yw_world_body(world, 0)));
  yw_body_positions(world, yw_world_body(world, 0), &count);
  assert_int_equal(count, 64);
  for (int i = 0; i < 10; i++) assert_true(yw_world_step(world, 0.01f, 1, NULL) >= 0);
  yw_body_positions(world, yw_world_body(world, 0), &count);
  assert_int_equal(count, 128);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Pins hold particles of the part they belong to: the second of two cubes hangs, the first falls.
static void parts_of_a_group_may_be_pinned(void** state) {
  (void)state;
  yw_scene* scene =
      scene_of(TWO("\"merge\": true", "\"merge\": true, \"pins\": [{\"vertices\": [3, 60, 61]}]"));
  yw_world* world = world_of(scene);
  yw_body_id body = yw_world_body(world, 0);
  int32_t count;
  yw_vec3 before[128];
  memcpy(before, yw_body_positions(world, body, &count), sizeof before);
  assert_int_equal(count, 128);
  for (int i = 0; i < 20; i++) assert_true(yw_world_step(world, 0.005f, 1, NULL) >= 0);
  const yw_vec3* x = yw_body_positions(world, body, &count);
  const int32_t held[3] = {64 + 3, 64 + 60, 64 + 61};
  for (int k = 0; k < 3; k++) {
    assert_near(yw_length(yw_sub(x[held[k]], before[held[k]])), 0, 1e-6);
  }
  assert_near(x[3].y - before[3].y, -0.5 * 9.81 * 0.01, 0.003);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Driven tracks look at one body, which bodies that merge are not.
static void bodies_that_merge_have_no_drives(void** state) {
  (void)state;
#define DRIVE "{\"drive\": {\"by\": \"speed\", \"from\": 0, \"to\": 1}}"
  static const char* const first[3] = {
      "\"merge\": true, \"pins\": [{\"vertices\": [3], \"strength\": " DRIVE "}]",
      "\"merge\": true, \"pins\": [{\"vertices\": [3]}, {\"vertices\": [9], \"strength\": " DRIVE
      "}]",
      "\"merge\": true"};
  for (int k = 0; k < 3; k++) {
    char text[1500];
    snprintf(text, sizeof text,
             "{\"bodies\": [{" SOFT ", %s}, {" SOFT ", \"position\": [1, 0, 0], \"merge\": true}]}",
             first[k]);
    yw_scene* scene = scene_of(text);
    yw_world* world = NULL;
    yw_error error = {0};
    yw_status status = yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error);
    assert_int_equal(status >= 0, k == 2);
    if (k < 2) assert_non_null(strstr(error.message, "bodies that merge cannot have a \"drive\""));
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// Warnings and mistakes ---------------------------------------------------------------------------

static float lowest(const yw_world* world) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), &count);
  float low = INFINITY;
  for (int32_t i = 0; i < count; i++) low = fminf(low, x[i].y);
  return low;
}

// A plate is pressed on a soft cube and raised by 0.2 m: the cube follows if the plate is sticky,
// and otherwise stays on the floor.
static void sticky_obstacles_lift(void** state) {
  (void)state;
  static const char* const sticky[] = {"true", "false"};
  for (int i = 0; i < 2; i++) {
    char text[700];
    snprintf(
        text, sizeof text,
        "{\"fps\": 60, \"floor\": {}, \"bodies\": [{\"shape\": {\"box\": {\"size\": 0.2}}, "
        "\"position\": [0, 0.1, 0], \"plastic\": {\"spacing\": 0.03, \"youngs_modulus\": "
        "1e5}}], \"obstacles\": [{\"sticky\": %s, \"shape\": {\"box\": {\"size\": [0.4, 0.1, "
        "0.4]}}, \"position\": [0, 0.25, 0], \"path\": {\"smooth\": true, \"keys\": [{\"time\": "
        "0}, {\"time\": 0.2, \"offset\": [0, -0.02, 0]}, {\"time\": 0.8, \"offset\": [0, 0.18, "
        "0]}]}}]}",
        sticky[i]);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    float before = lowest(world), after;
    for (int step = 0; step < 60; step++)
      assert_true(yw_world_step(world, 1.0f / 60, 4, NULL) >= 0);
    after = lowest(world);
    if (i == 0) {
      assert_near(after - before, 0.18, 0.02);
    } else {
      assert_near(after, before, 0.01);
    }
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

static void overlaps_are_told(void** state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"{\"bodies\": [{" SOFT "}, {" SOFT ", \"position\": [0.2, 0, 0]}]}",
       "dir/a.json:1:77: bodies[1] begins with 50 % of its particles inside bodies[0]: contact "
       "pushes them apart (\"merge\" joins them)"},
      {"{\"bodies\": [{" SOFT ", \"merge\": true}, {" SOFT
       ", \"position\": [0.2, 0, 0], \"merge\": true}]}",
       ""},
      {"{\"bodies\": [{" SOFT "}, {" SOFT ", \"position\": [0.2, 0, 0], \"start\": 1}]}", ""},
      {"{\"bodies\": [{" SOFT "}, {" SOFT ", \"position\": [0.41, 0, 0]}]}", ""},
      {"{\"bodies\": [{" SOFT "}], \"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 1}}}]}",
       "dir/a.json:1:13: bodies[0] begins with 100 % of its particles inside obstacles[0], which "
       "pushes them out at once"},
      // One that moves is where it is now; later it may be elsewhere.
      {"{\"bodies\": [{" SOFT
       "}], \"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 1}}, \"path\": {\"keys\": "
       "[{\"time\": 0}, {\"time\": 1, \"offset\": [0, 3, 0]}]}}]}",
       "dir/a.json:1:13: bodies[0] begins with 100 % of its particles inside obstacles[0], which "
       "pushes them out at once"},
      {"{\"bodies\": [{" SOFT
       ", \"start\": 2}], \"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 1}}, \"path\": "
       "{\"keys\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 3, 0]}]}}]}",
       ""},
      {"{\"bodies\": [{" SOFT
       ", \"start\": 2}], \"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 1}}}]}",
       "dir/a.json:1:13: bodies[0] begins with 100 % of its particles inside obstacles[0], which "
       "pushes them out at once"},
      {"{\"bodies\": [{" SOFT "}], \"floor\": {\"height\": -0.21}}", ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yw_error warning = {0};
    yw_scene_destroy(scene_at("dir/a.json", cases[i].text, &warning));
    assert_string_equal(warning.message, cases[i].message);
  }
}

// A body inside an obstacle is pushed out in one piece: no excess speed, no particle left inside.
static void a_swallowed_body_comes_out(void** state) {
  (void)state;
  yw_scene* scene = scene_of("{\"gravity\": [0, 0, 0], \"bodies\": [{" SOFT
                             ", \"position\": [0.2, 1, 0]}], \"obstacles\": [{\"shape\": {\"box\": "
                             "{\"size\": [4, 3, 4]}}}]}");
  yw_world* world = world_of(scene);
  for (int i = 0; i < 100; i++) assert_true(yw_world_step(world, 0.01f, 1, NULL) >= 0);
  int32_t count;
  float fast = 0;
  const yw_vec3* v = yw_body_velocities(world, yw_world_body(world, 0), &count);
  for (int32_t i = 0; i < count; i++) fast = fmaxf(fast, yw_length(v[i]));
  assert_at_least(lowest(world), 1.5);
  assert_at_most(fast, 50);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void mistakes_are_reported_with_their_place(void** state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {PLASTIC("\"poissons_ratio\": 0.5"),
       "dir/a.json:1:93: bodies[0].plastic.poissons_ratio is 0.5, but must be between 0 and "
       "0.4999"},
      {PLASTIC("\"poissons_ratio\": -0.1"), "poissons_ratio is -0.1, but must be between 0"},
      {PLASTIC("\"yield_stress\": -3"), "yield_stress is -3, but must be between 0"},
      {PLASTIC("\"theta_c\": 1"), "theta_c is 1, but must be between 0 and 0.999"},
      {PLASTIC("\"theta_s\": 0.1, \"yield_stress\": 3"),
       "yield_stress is for a flow that is \"von_mises\", but here it is \"box\""},
      {PLASTIC("\"flow\": \"elastic\", \"theta_c\": 0.1"), "but here it is \"elastic\""},
      {PLASTIC("\"xi\": 3"), "plastic.xi is for materials that yield"},
      {PLASTIC("\"material\": \"clai\""), "no material (did you mean \"clay\"?)"},
      {PLASTIC("\"material\": \"xxxxx\""), "no material (known: cream, dough,"},
      {BODY(CUBE ", \"plastic\": {\"spacing\": 0}"), "spacing is 0, but must be greater than 0"},
      {BODY("\"shape\": {\"torus\": {\"ring_radius\": 1, \"tube_radius\": 0.1}}, \"plastic\": "
            "{\"spacing\": 3}"),
       "plastic.spacing: the shape holds no point of a lattice with spacing 3 m"},
      {BODY(CUBE ", \"plastic\": {\"spacing\": 1e-3}"),
       "dir/a.json:1:70: bodies[0].plastic.spacing"},
      {BODY(CUBE ", \"plastic\": {\"spacing\": 1e-3}"), "GB, but the limit is 8 GB"},
      {BODY(CUBE ", \"plastic\": {\"spacing\": 1e-5}"), "use a larger spacing"},
      {PLASTIC("\"fields\": [{\"poissons_ratio\": 0.1}]"),
       "only for bodies of \"frames\", \"slender\" or \"fem\""},
      {PLASTIC("\"fields\": [{\"yield_stress\": 10}]"), "is for a flow that is \"von_mises\""},
      {PLASTIC("\"fields\": [{\"blend\": 1}]"), "needs \"youngs_modulus\", \"yield_stress\""},
      {PLASTIC("\"fields\": [{\"shape\": {\"sphere\": {\"radius\": 0.01}}, \"density\": 3}]"),
       "fields[0] selects none of the 64 particles"},
      {BODY(CUBE ", \"frames\": {\"fields\": [{\"yield_stress\": 3}]}"),
       "only for bodies of \"plastic\""},
      {BODY(CUBE ", \"plastic\": {}, \"fem\": {}"), "only one of them can be given"},
      {BODY(CUBE ", \"plastic\": {}, \"start_pose\": 0"), "start_pose is not for bodies of"},
      {BODY("\"shape\": {\"plane\": {}}, \"plastic\": {}"), "has no end"},
      {BODY(CUBE ", \"merge\": true"), "merge is only for bodies of \"plastic\""},
      {BODY(SOFT ", \"merge\": 3"), "merge is a number, but must be true, false or the name"},
      {BODY(CUBE ", \"plastic\": {}, \"merge\": true"), "needs \"spacing\" where bodies merge"},
      {TWO("\"merge\": true", "\"merge\": true, \"start\": 1, \"pins\": [{\"vertices\": [0]}]"),
       "bodies[1].pins is for bodies that are there when others of their group begin (at 0 s), but "
       "this one comes at 1 s"},
      {TWO("\"merge\": true", "\"merge\": true, \"friction\": 1"),
       "bodies[1].friction merges with bodies whose \"friction\" is another"},
      {"{\"bodies\": [{" SOFT ", \"merge\": true}, {" CUBE
       ", \"plastic\": {\"spacing\": 0.05}, \"merge\": true}]}",
       "bodies[1].plastic.spacing merges with bodies whose \"spacing\" is another"},
      {"{\"models\": {\"m\": {" SOFT
       "}}, \"bodies\": [{\"model\": \"m\", \"plastic\": {\"tolerance\": "
       "1e-4, \"eta\": 1}}]}",
       "plastic.eta belongs to the model"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yw_scene* scene = NULL;
    yw_error error = {0}, warning = {0};
    const char* text = cases[i].text;
    yw_status status = read_scene_text(text, "dir/a.json", &scene, &warning, &error);
    if (status >= 0) fail_msg("accepted: %s", text);
    if (!strstr(error.message, cases[i].message)) {
      fail_msg("\"%s\" has no \"%s\"", error.message, cases[i].message);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_reach_the_model),
      cmocka_unit_test(settings_of_the_solver_reach_the_body),
      cmocka_unit_test(defaults_are_those_of_the_library),
      cmocka_unit_test(the_spacing_follows_the_size),
      cmocka_unit_test(bodies_show_what_they_are_made_of),
      cmocka_unit_test(bodies_come_from_any_source),
      cmocka_unit_test(bodies_come_from_files_of_triangles),
      cmocka_unit_test(materials_by_name_bring_everything),
      cmocka_unit_test(presets_are_those_of_the_documentation),
      cmocka_unit_test(layers_change_particles),
      cmocka_unit_test(bodies_start_move_and_are_held),
      cmocka_unit_test(bodies_of_a_group_are_one),
      cmocka_unit_test(particles_keep_the_colour_of_their_body),
      cmocka_unit_test(a_group_may_begin_later),
      cmocka_unit_test(parts_of_a_group_may_be_pinned),
      cmocka_unit_test(bodies_that_merge_have_no_drives),
      cmocka_unit_test(sticky_obstacles_lift),
      cmocka_unit_test(overlaps_are_told),
      cmocka_unit_test(a_swallowed_body_comes_out),
      cmocka_unit_test(mistakes_are_reported_with_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
