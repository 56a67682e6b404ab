// SPDX-License-Identifier: MIT
// "frames" in scene files: materials, stiffness layers, settings, and mistakes in them.
#include "math/small/exponent.h"
#include "methods/frames/model.h"
#include "model/model.h"
#include "scene/loader.h"
#include "support/documents.h"
#include "support/scene_peek.h"
#include "support/scene_text.h"
#include "support/testing.h"
#include "yawara/extend/vec.h"
#include "yawara/yawara.h"

#define CUBE "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}}"
#define BODY(keys) "{\"bodies\": [{" keys "}]}"
#define FRAMES(keys) BODY(CUBE ", \"frames\": {" keys "}")
#define TEDDY \
  "{\"models\": {\"teddy\": {" CUBE ", \"frames\": {}}}, \"bodies\": [{\"model\": \"teddy\", "

// Mistakes ----------------------------------------------------------------------------------------

typedef struct mistake {
  const char *text, *message;
} mistake;

static void check_mistakes(size_t count, const mistake* cases) {
  for (size_t i = 0; i < count; i++) {
    yw_scene* scene = NULL;
    yw_error error = {0};
    yw_status status = read_scene_text(cases[i].text, "dir/a.json", &scene, NULL, &error);
    if (status >= 0) fail_msg("accepted: %s", cases[i].text);
    assert_string_equal(error.message, cases[i].message);
  }
}

static void mistakes_are_reported_with_their_place(void** state) {
  (void)state;
  static const mistake cases[] = {
      {FRAMES("\"poissons_ratio\": 0.5"),
       "dir/a.json:1:89: bodies[0].frames.poissons_ratio is 0.5, but must be between 0 and 0.4999"},
      {FRAMES("\"poissons_ratio\": -0.1"),
       "dir/a.json:1:89: bodies[0].frames.poissons_ratio is -0.1, but must be between 0 and "
       "0.4999"},
      {FRAMES("\n\"youngs_modulus\": 0"),
       "dir/a.json:2:19: bodies[0].frames.youngs_modulus is 0, but must be greater than 0 and at "
       "most 1e+13"},
      {FRAMES("\"youngs_modulus\": -3e5"),
       "dir/a.json:1:89: bodies[0].frames.youngs_modulus is -300000, but must be greater than 0 "
       "and at most 1e+13"},
      {FRAMES("\"youngs_modulus\": NaN"),
       "dir/a.json:1:89: expected a value, but found 'NaN' (text is written in double quotes)"},
      {FRAMES("\"yongs_modulus\": 1"),
       "dir/a.json:1:71: unknown key \"yongs_modulus\" in bodies[0].frames (did you mean "
       "\"youngs_modulus\"?)"},
      {FRAMES("\"material\": \"ruber\""),
       "dir/a.json:1:83: bodies[0].frames.material is \"ruber\", which is no material (did you "
       "mean \"rubber\"?)"},
      {FRAMES("\"material\": \"unobtainium\""),
       "dir/a.json:1:83: bodies[0].frames.material is \"unobtainium\", which is no material "
       "(known: fat, gelatin, soft_tissue, foam, soft_silicone, silicone, rubber, cork, "
       "polyethylene, nylon, acrylic, wood, aluminium, glass, steel)"},
      {FRAMES("\"solver\": \"implicid\""),
       "dir/a.json:1:81: bodies[0].frames.solver is \"implicid\", but must be \"implicit\", "
       "\"bdf2\", \"extended\", \"classic\" or \"oriented\" (did you mean \"implicit\"?)"},
      {FRAMES("\"substeps\": 0"),
       "dir/a.json:1:83: bodies[0].frames.substeps is 0, but must be between 1 and 1000"},
      {FRAMES("\"tolerance\": 0"),
       "dir/a.json:1:84: bodies[0].frames.tolerance is 0, but must be between 1e-06 and 0.5"},
      {BODY("\"shape\": {\"sphere\": {\"radius\": 1}}, \"frames\": {\"kind\": \"cells\"}"),
       "dir/a.json:1:69: bodies[0].frames.kind is \"cells\", but the mesh is not a lattice"},
      {BODY(CUBE ", \"match\": {}, \"frames\": {}"),
       "dir/a.json:1:73: bodies[0] has \"match\" and \"frames\", but only one of them can be "
       "given"},
      {FRAMES("\"fields\": {}"),
       "dir/a.json:1:81: bodies[0].frames.fields is an object, but must be a list"},
      {FRAMES("\"fields\": [{}]"),
       "dir/a.json:1:82: bodies[0].frames.fields[0] needs \"youngs_modulus\", \"poissons_ratio\" "
       "or \"material\""},
      {FRAMES("\"fields\": [{\"youngs_modulus\": 0}]"),
       "dir/a.json:1:101: bodies[0].frames.fields[0].youngs_modulus is 0, but must be greater than "
       "0 and at most 1e+13"},
      {FRAMES("\"fields\": [{\"youngs_modulus\": [1, 2]}]"),
       "dir/a.json:1:101: bodies[0].frames.fields[0].youngs_modulus has 2 numbers, which needs "
       "\"from\" and \"to\" beside it"},
      {FRAMES("\"fields\": [{\"from\": [0, 0, 0], \"youngs_modulus\": [1, 2]}]"),
       "dir/a.json:1:82: bodies[0].frames.fields[0] needs \"to\""},
      {FRAMES("\"fields\": [{\"from\": [0, 0, 0], \"to\": [0, 0, 0], \"youngs_modulus\": [1, "
              "2]}]"),
       "dir/a.json:1:82: bodies[0].frames.fields[0] goes from a point to the same point"},
      {FRAMES("\"fields\": [{\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"youngs_modulus\": [1, "
              "0]}]"),
       "dir/a.json:1:141: bodies[0].frames.fields[0].youngs_modulus[1] is 0, but must be greater "
       "than 0 and at most 1e+13"},
      {FRAMES("\"fields\": [{\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"poissons_ratio\": [0.3]}]"),
       "dir/a.json:1:137: bodies[0].frames.fields[0].poissons_ratio has 1 numbers, but must have "
       "2"},
      {FRAMES("\"fields\": [{\"poissons_ratio\": 0.7}]"),
       "dir/a.json:1:101: bodies[0].frames.fields[0].poissons_ratio is 0.7, but must be between 0 "
       "and 0.4999"},
      {FRAMES("\"fields\": [{\"material\": \"stel\"}]"),
       "dir/a.json:1:95: bodies[0].frames.fields[0].material is \"stel\", which is no material "
       "(did you mean \"steel\"?)"},
      {FRAMES("\"fields\": [{\"youngs_modulus\": 1, \"shape\": {\"sphere\": {\"radius\": 0.1, "
              "\"center\": [9, 0, 0]}}}]"),
       "dir/a.json:1:82: bodies[0].frames.fields[0] selects none of the body's 40 points"},
      {BODY(CUBE ", \"frames\": {\"solver\": \"classic\"}, \"examples\": [{\"deform\": {\"twist\": "
                 "{\"degrees\": 9}}}]"),
       "dir/a.json:1:81: bodies[0].frames.solver is \"classic\", which knows the rest pose only, "
       "but there are examples"},
      {TEDDY "\"frames\": {\"material\": \"cork\"}}]}",
       "dir/a.json:1:138: bodies[0].frames.material belongs to the model, but \"model\" is given"},
      {TEDDY "\"match\": {}}]}",
       "dir/a.json:1:124: bodies[0].match is given, but the model is one of \"frames\""},
  };
  check_mistakes(sizeof cases / sizeof *cases, cases);
}

#define ROD(keys) BODY("\"rod\": {" keys "}, \"frames\": {}")
#define SHEET(keys) BODY("\"sheet\": {" keys "}, \"frames\": {}")
#define LINE "\"line\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0], \"count\": 5}"

static void mistakes_in_rods_and_sheets_are_reported(void** state) {
  (void)state;
  static const mistake cases[] = {
      {ROD(""), "dir/a.json:1:21: bodies[0].rod needs \"line\", \"helix\" or \"points\""},
      {ROD("\"line\": {\"from\": [0, 0, 0], \"to\": [0, 0, 0], \"count\": 5}"),
       "dir/a.json:1:30: bodies[0].rod.line goes from a point to the same point"},
      {ROD("\"line\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0]}"),
       "dir/a.json:1:30: bodies[0].rod.line needs \"count\""},
      {ROD("\"line\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0], \"count\": 1}"),
       "dir/a.json:1:76: bodies[0].rod.line.count is 1, but must be between 2 and 1000000"},
      {ROD("\"points\": []"),
       "dir/a.json:1:32: bodies[0].rod.points has 0 points, but must have 1 to 1000000"},
      {ROD("\"points\": [[0, 0, 0], [1, 0, 0], [1, 0, 0]]"),
       "dir/a.json:1:21: bodies[0].rod: rod: points 1 and 2 are at the same place (0 m apart); "
       "remove one of them"},
      {ROD(LINE ", \"radius\": 0"),
       "dir/a.json:1:90: bodies[0].rod.radius is 0, but must be greater than 0 and at most "
       "1000000"},
      {ROD(LINE ", \"section\": \"rectangle\", \"radius\": 0.1"),
       "dir/a.json:1:114: bodies[0].rod.radius is not for a section that is \"rectangle\""},
      {ROD(LINE ", \"width\": 0.1"),
       "dir/a.json:1:89: bodies[0].rod.width is not for a section that is \"round\""},
      {ROD("\"helix\": {\"radius\": 1, \"turns\": 2, \"length\": 1}"),
       "dir/a.json:1:31: bodies[0].rod.helix needs \"count\""},
      {BODY("\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}}, \"slender\": {}"),
       "dir/a.json:1:71: bodies[0].slender is for rods and sheets, but this is a volume: use "
       "\"frames\""},
      {BODY("\"rod\": {" LINE "}, \"match\": {}"),
       "dir/a.json:1:90: bodies[0].match is for volumes, but this is a rod"},
      {BODY("\"rod\": {" LINE "}, \"frames\": {\"kind\": \"rings\"}"),
       "dir/a.json:1:100: bodies[0].frames.kind is for volumes, but this is a rod"},
      {BODY("\"rod\": {" LINE
            "}, \"frames\": {\"fields\": [{\"shape\": {\"sphere\": {\"radius\": 1, "
            "\"center\": [9, 9, 9]}}, \"material\": \"steel\"}]}"),
       "dir/a.json:1:103: bodies[0].frames.fields[0] selects none of the body's 5 points"},
      {BODY("\"rod\": {" LINE "}, \"frames\": {}, \"surface\": {}"),
       "dir/a.json:1:106: bodies[0].surface is for volumes, but this is a rod"},
      {BODY("\"rod\": {" LINE "}, \"frames\": {}, \"start_pose\": 0"),
       "dir/a.json:1:109: bodies[0].start_pose is not for bodies of \"slender\""},
      {BODY("\"rod\": {" LINE "}, \"frames\": {}, \"pins\": [{\"vertices\": [5]}]"),
       "dir/a.json:1:118: bodies[0].pins[0].vertices[0] is 5, but must be between 0 and 4, the "
       "last vertex"},
      {SHEET(""), "dir/a.json:1:23: bodies[0].sheet needs \"rectangle\", \"file\" or \"shape\""},
      {SHEET("\"file\": \"no.obj\""),
       "dir/a.json:1:32: bodies[0].sheet.file: dir/no.obj: cannot be opened: No such file or "
       "directory"},
      {SHEET("\"rectangle\": {\"width\": 1, \"depth\": 1, \"across\": 4}"),
       "dir/a.json:1:37: bodies[0].sheet.rectangle needs \"along\""},
      {SHEET("\"rectangle\": {\"width\": 1, \"depth\": 1, \"across\": 4, \"along\": 4}, "
             "\"thickness\": 0"),

       "dir/a.json:1:101: bodies[0].sheet.thickness is 0, but must be greater than 0 and at most "
       "1000000"},
  };
  check_mistakes(sizeof cases / sizeof *cases, cases);
}

// Settings ----------------------------------------------------------------------------------------

static void settings_reach_the_bodies(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"models\": {\"m\": {" CUBE
      ", \"frames\": {\"solver\": \"bdf2\", \"damping\": 3}}},\n"
      "\"bodies\": [{\"model\": \"m\"}, {\"model\": \"m\", \"frames\": {\"solver\": "
      "\"extended\", \"substeps\": 5, \"sweeps\": 2}},\n"
      "{" CUBE ", \"frames\": {\"tolerance\": 0.01, \"beta\": 0.5, \"stiffness\": 0.25}}, {" CUBE
      "}]}");
  yw_world* world = NULL;
  yw_error error = {0};
  if (yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) fail_msg("%s", error.message);
  yw_frames_params p[3];
  for (int i = 0; i < 3; i++) {
    assert_int_equal(yw_body_frames_params(world, yw_world_body(world, i), &p[i]), YW_OK);
  }
  assert_int_equal(p[0].solver, YW_FRAMES_BDF2);
  assert_near(p[0].damping, 3, 0);
  assert_int_equal(p[1].solver, YW_FRAMES_EXTENDED);
  assert_near(p[1].damping, 3, 0);
  assert_int_equal(p[1].substeps, 5);
  assert_int_equal(p[1].sweeps, 2);
  assert_int_equal(p[2].solver, YW_FRAMES_IMPLICIT);
  assert_near(p[2].tolerance, 0.01, 1e-9);
  assert_near(p[2].beta, 0.5, 0);
  assert_near(p[2].stiffness, 0.25, 0);
  assert_string_equal(yw_model_method(yw_body_model(world, yw_world_body(world, 3))), "match");
  assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void models_are_shared_when_their_material_is_the_same(void** state) {
  (void)state;
  yw_scene* scene =
      scene_of("{\"bodies\": [{" CUBE
               ", \"frames\": {\"material\": \"cork\"}},\n"
               "{" CUBE
               ", \"frames\": {\"material\": \"cork\", \"damping\": 2, \"solver\": \"bdf2\"}},\n"
               "{" CUBE
               ", \"density\": 1000, \"frames\": {\"material\": \"cork\"}},\n"
               "{" CUBE ", \"frames\": {\"material\": \"cork\", \"youngs_modulus\": 1e6}}, {" CUBE
               "},\n"
               "{" CUBE ", \"frames\": {}}]}");
  static const int32_t expected[] = {0, 0, 1, 2, 3, 4};
  for (int i = 0; i < 6; i++) {
    assert_int_equal(scene->bodies.items[i].model_index, expected[i]);
  }
  yw_scene_destroy(scene);
}

// Materials ---------------------------------------------------------------------------------------

static void keys_win_over_the_material(void** state) {
  (void)state;
  yw_scene* scene =
      scene_of("{\"bodies\": [{" CUBE
               ", \"frames\": {\"material\": \"cork\"}},\n"
               "{" CUBE
               ", \"density\": 200, \"frames\": {\"material\": \"rubber\", \"youngs_modulus\": "
               "2e6}},\n"
               "{" CUBE ", \"frames\": {\"material\": \"rubber\", \"poissons_ratio\": 0.45}}]}");
  const yw_material *cork = yw_material_by_name("cork"), *rubber = yw_material_by_name("rubber");
  const yw_model_spec* m = scene->models.items;
  assert_near(model_setting(scene, 0, "youngs_modulus"), cork->youngs_modulus, 0);
  assert_near(model_setting(scene, 0, "poissons_ratio"), cork->poissons_ratio, 0);
  assert_near(m[0].keys.density, cork->density, 0);
  assert_near(model_setting(scene, 1, "youngs_modulus"), 2e6, 0);
  assert_near(model_setting(scene, 1, "poissons_ratio"), rubber->poissons_ratio, 0);
  assert_near(m[1].keys.density, 200, 0);
  assert_near(model_setting(scene, 2, "youngs_modulus"), rubber->youngs_modulus, 0);
  assert_near(model_setting(scene, 2, "poissons_ratio"), 0.45, 1e-7);
  yw_scene_destroy(scene);
}

// Every material stands in the documentation with the numbers of the table, and in the schema.
static void materials_are_those_of_the_documentation(void** state) {
  (void)state;
  char* docs = read_document("materials.md");
  char* schema = read_document("scene.schema.json");
  assert_null(yw_material_at(-1));
  assert_null(yw_material_at(yw_num_materials()));
  assert_null(yw_material_by_name("Rubber"));
  assert_null(yw_material_by_name(NULL));
  char list[600] = "\"enum\": [";
  for (int32_t i = 0; i < yw_num_materials(); i++) {
    const yw_material* m = yw_material_at(i);
    assert_ptr_equal(yw_material_by_name(m->name), m);
    char row[100];
    snprintf(row, sizeof row, "\n| `%s` | ", m->name);
    const char* at = strstr(docs, row);
    if (!at) fail_msg("docs/materials.md has no row for %s", m->name);
    double young, poisson, density;
    assert_int_equal(sscanf(at + strlen(row), "%lf | %lf | %lf |", &young, &poisson, &density), 3);
    assert_near(m->youngs_modulus / young, 1, 1e-6);
    assert_near(m->poissons_ratio, poisson, 1e-6);
    assert_near(m->density, density, 1e-3);
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", i ? ", " : "", m->name);
    if (i > 0) assert_at_least(m->youngs_modulus, yw_material_at(i - 1)->youngs_modulus);
  }
  assert_non_null(strstr(schema, list));
  free(docs);
  free(schema);
}

// Fields ------------------------------------------------------------------------------------------

// The same cube built in C, with moduli that depend on the position.
static uint64_t cube_hash(float (*young)(yw_vec3), float (*poisson)(yw_vec3)) {
  yw_tet_mesh mesh = {0};
  const int32_t cells[3] = {2, 2, 2};
  yw_aabb box = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  float e[40], nu[40];
  assert_int_equal(mesh.num_tets, 40);
  for (int t = 0; t < 40; t++) {
    yw_vec3 center = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
      center = yw_mad(center, 0.25f, mesh.positions[mesh.tets[4 * t + k]]);
    }
    e[t] = young(center);
    nu[t] = poisson(center);
  }
  yw_frames_def def = yw_default_frames_def();
  def.mesh = &mesh;
  def.element_youngs_modulus_field = e;
  def.element_poissons_ratio_field = nu;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_frames(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  uint64_t hash = model->hash;
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
  return hash;
}

// Geometric from 1e4 to 1e6 Pa.
static float between(float t) {
  return t <= 0.0f ? 1e4f : t >= 1.0f ? 1e6f : 1e4f * yw_powf(1e6f / 1e4f, t);
}
static float gradient_young(yw_vec3 p) { return between(p.y + 0.5f); }
static float shape_young(yw_vec3 p) { return between(0.5f + p.x / 0.5f); }
static float always_030(yw_vec3 p) { return p.x > 9 ? 0 : 0.3f; }
static float gradient_poisson(yw_vec3 p) { return 0.25f * (p.y + 0.5f); }
static float laid_over(yw_vec3 p) { return p.z < -0.2f ? 7e4f : gradient_young(p); }

static uint64_t field_hash(const char* text) {
  yw_scene* scene = scene_of(text);
  uint64_t hash = scene->models.items[0].model->hash;
  yw_scene_destroy(scene);
  return hash;
}

static void fields_are_what_they_say(void** state) {
  (void)state;
  // Geometric from the lower to the upper side.
  assert_true(field_hash(FRAMES("\"fields\": [{\"from\": [0, -0.5, 0], \"to\": [0, 0.5, 0], "
                                "\"youngs_modulus\": [1e4, 1e6]}]")) ==
              cube_hash(gradient_young, always_030));
  assert_true(field_hash(FRAMES("\"youngs_modulus\": 1e4, \"fields\": [{\"from\": [0, -0.5, 0], "
                                "\"to\": [0, 0.5, 0], \"youngs_modulus\": [1e4, 1e6], "
                                "\"poissons_ratio\": [0, 0.25]}]")) ==
              cube_hash(gradient_young, gradient_poisson));
  // In the middle of the border half of it counts.
  assert_true(field_hash(FRAMES(
                  "\"youngs_modulus\": 1e4, \"fields\": [{\"shape\": {\"plane\": {\"normal\": "
                  "[-1, 0, 0]}}, \"blend\": 0.5, \"youngs_modulus\": 1e6}]")) ==
              cube_hash(shape_young, always_030));
  // Later layers cover earlier ones.
  assert_true(field_hash(FRAMES("\"fields\": [{\"from\": [0, -0.5, 0], \"to\": [0, 0.5, 0], "
                                "\"youngs_modulus\": [1e4, 1e6]}, {\"shape\": {\"plane\": "
                                "{\"normal\": [0, 0, 1], \"offset\": -0.2}}, \"youngs_modulus\": "
                                "7e4}]")) == cube_hash(laid_over, always_030));
}

static uint64_t rod_hash(const float* field) {
  yw_vec3 points[5] = {{0, 0, 0}, {0.25f, 0, 0}, {0.5f, 0, 0}, {0.75f, 0, 0}, {1, 0, 0}};
  const float ratios[5] = {0.3f, 0.3f, 0.3f, 0.3f, 0.3f};
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = 5;
  def.youngs_modulus_field = field;
  def.poissons_ratio_field = ratios;
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_rod(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  uint64_t hash = model->hash;
  yw_model_release(model);
  return hash;
}

// At the particles; volumes have them per tet or cell.
static void rods_and_sheets_have_fields(void** state) {
  (void)state;
  const float moduli[5] = {1e5f, 1e5f, 1e5f, 1e7f, 1e7f};
  assert_true(
      field_hash(BODY("\"rod\": {" LINE "}, \"frames\": {\"fields\": [{\"shape\": {\"plane\": "
                      "{\"normal\": [-1, 0, 0], \"offset\": -0.6}}, \"youngs_modulus\": "
                      "1e7}]}")) == rod_hash(moduli));
  const char* plain = BODY(
      "\"sheet\": {\"rectangle\": {\"width\": 2, \"depth\": 1, \"across\": 4, \"along\": 2}}, "
      "\"frames\": {}");
  const char* graded = BODY(
      "\"sheet\": {\"rectangle\": {\"width\": 2, \"depth\": 1, \"across\": 4, \"along\": 2}}, "
      "\"frames\": {\"fields\": [{\"from\": [-1, 0, 0], \"to\": [1, 0, 0], "
      "\"youngs_modulus\": [1e5, 1e7]}]}");
  assert_true(field_hash(plain) != field_hash(graded));
}

// A lattice of cells takes its cells from the scene.
static void cells_of_a_lattice_are_found(void** state) {
  (void)state;
  yw_scene* scene = scene_of(FRAMES("\"kind\": \"cells\""));
  uint64_t rings = field_hash(FRAMES(""));
  assert_string_equal(yw_model_method(scene->models.items[0].model), "frames");
  assert_true(scene->models.items[0].model->hash != rings);
  yw_scene_destroy(scene);
}

// Cells have the mean over their volume: exact where a border follows them, half of both where it
// cuts them in two.
static void cells_have_layers_by_volume(void** state) {
  (void)state;
  static const struct {
    const char* offset;
    float left, right;
  } cases[] = {{"0.0", 1e4f, 1e6f}, {"-0.25", 1e4f, 505000.0f}};
  for (int k = 0; k < 2; k++) {
    char text[600];
    snprintf(text, sizeof text,
             FRAMES("\"kind\": \"cells\", \"youngs_modulus\": 1e4, \"fields\": [{\"shape\": "
                    "{\"plane\": {\"normal\": [-1, 0, 0], \"offset\": %s}}, "
                    "\"youngs_modulus\": 1e6}]"),
             cases[k].offset);
    yw_scene* scene = scene_of(text);
    const frames_model* model = scene->models.items[0].model->data;
    int32_t found = 0;
    for (int32_t r = 0; r < model->num_regions; r++) {
      float mu2 = model->blocks[0].mu2[r] / model->volume[r];
      float left = cases[k].left / 1.3f, right = cases[k].right / 1.3f;
      found += fabsf(mu2 / left - 1) < 1e-5f ? 1 : fabsf(mu2 / right - 1) < 1e-5f ? 100 : 0;
    }
    assert_int_equal(found, 404);
    yw_scene_destroy(scene);
  }
}

// Rods and sheets have the requested particles in the requested positions.
static void rods_and_sheets_lie_where_they_should(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"bodies\": [{\"rod\": {" LINE
      "}, \"frames\": {\"material\": \"steel\"}},\n"
      "{\"rod\": {\"helix\": {\"radius\": 2, \"turns\": 1.5, \"length\": 3, \"count\": 7}}, "
      "\"frames\": {}},\n"
      "{\"sheet\": {\"rectangle\": {\"width\": 2, \"depth\": 1, \"across\": 4, \"along\": 2}}, "
      "\"frames\": {}, \"position\": [0, 5, 0], \"pins\": [{\"select\": {\"plane\": {\"normal\": "
      "[1, 0, 0], \"offset\": -0.9}}, \"clamp\": true}]}]}");
  assert_near(scene->models.items[0].keys.density, 7850, 0);
  yw_world* world = NULL;
  yw_error error = {0};
  if (yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) fail_msg("%s", error.message);
  int32_t n;
  const yw_vec3* line = yw_body_positions(world, yw_world_body(world, 0), &n);
  assert_int_equal(n, 5);
  for (int i = 0; i < 5; i++) assert_near(line[i].x, 0.25 * i, 1e-6);
  const yw_vec3* coil = yw_body_positions(world, yw_world_body(world, 1), &n);
  assert_int_equal(n, 7);
  for (int i = 0; i < 7; i++) {
    double angle = 1.5 * 2 * M_PI * i / 6;
    assert_near(hypot(coil[i].x, coil[i].z), 2, 1e-5);
    assert_near(coil[i].y, -1.5 + 0.5 * i, 1e-5);
    // Right-handed about y: from x towards -z.
    assert_near(coil[i].x, 2 * cos(angle), 1e-4);
    assert_near(coil[i].z, -2 * sin(angle), 1e-4);
  }
  const yw_vec3* sheet = yw_body_positions(world, yw_world_body(world, 2), &n);
  assert_int_equal(n, 15);
  assert_near(sheet[0].x, -1, 1e-6);
  assert_near(sheet[14].z, 0.5, 1e-6);
  assert_int_equal(scene->bodies.items[2].pin_list[0].num_vertices, 3);
  yw_body_sums sums;
  yw_body_sums_of(world, yw_world_body(world, 2), &sums);
  assert_near(sums.mass, 1000 * 2 * 0.002, 1e-3);
  assert_string_equal(yw_model_method(scene->models.items[0].model), "slender");
  yw_slender_params params;
  assert_int_equal(yw_body_slender_params(world, yw_world_body(world, 0), &params), YW_OK);
  assert_int_equal(params.substeps, 10);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Without settings, rods have the defaults of slender.
static void a_rod_needs_no_settings(void** state) {
  (void)state;
  yw_scene* scene = scene_of(BODY("\"rod\": {" LINE "}"));
  assert_string_equal(yw_model_method(scene->models.items[0].model), "slender");
  assert_near(model_setting(scene, 0, "youngs_modulus"), 1e5, 0);
  yw_scene_destroy(scene);
}

static uint64_t hash_after_steps(const char* text) {
  yw_scene* scene = scene_of(text);
  yw_world* world = NULL;
  yw_error error = {0};
  if (yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) fail_msg("%s", error.message);
  for (int i = 0; i < 5; i++) assert_true(yw_world_step(world, 1.0f / 60, 2, NULL) >= 0);
  uint64_t hash = yw_world_hash(world);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return hash;
}

// A rod in "models", one in "model" and a sheet in the body itself, each with settings of its body.
#define SLENDER_SCENE(key)                                                                         \
  "{\"floor\": true, \"models\": {\"r\": {\"rod\": {" LINE "}, \"" key                             \
  "\": {\"material\": \"rubber\", \"damping\": 1}}},\n"                                            \
  "\"bodies\": [{\"model\": \"r\", \"position\": [0, 1, 0], \"" key                                \
  "\": {\"damping\": 3, \"solver\": \"bdf2\"}},\n"                                                 \
  "{\"model\": {\"rod\": {" LINE "}, \"" key                                                       \
  "\": {\"material\": \"rubber\", \"solver\": \"extended\"}}, \"position\": [0, 2, 0]},\n"         \
  "{\"sheet\": {\"rectangle\": {\"width\": 2, \"depth\": 1, \"across\": 4, \"along\": 2}}, \"" key \
  "\": {\"youngs_modulus\": 2e5, \"tolerance\": 1e-4}, \"position\": [0, 3, 0]}]}"

// "frames" is the old name of the settings of rods and sheets.
static void scenes_with_the_old_key_move_in_the_same_way(void** state) {
  (void)state;
  uint64_t now = hash_after_steps(SLENDER_SCENE("slender"));
  assert_true(now == hash_after_steps(SLENDER_SCENE("frames")));
  // The bodies get their settings.
  yw_scene* scene = scene_of(SLENDER_SCENE("frames"));
  assert_near(body_setting(scene, 0, "damping"), 3, 0);
  assert_int_equal(body_setting(scene, 1, "solver"), YW_SLENDER_EXTENDED);
  assert_near(body_setting(scene, 1, "damping"), 0, 0);
  assert_near(body_setting(scene, 2, "tolerance"), 1e-4, 1e-9);
  yw_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mistakes_are_reported_with_their_place),
      cmocka_unit_test(mistakes_in_rods_and_sheets_are_reported),
      cmocka_unit_test(rods_and_sheets_lie_where_they_should),
      cmocka_unit_test(a_rod_needs_no_settings),
      cmocka_unit_test(scenes_with_the_old_key_move_in_the_same_way),
      cmocka_unit_test(settings_reach_the_bodies),
      cmocka_unit_test(models_are_shared_when_their_material_is_the_same),
      cmocka_unit_test(keys_win_over_the_material),
      cmocka_unit_test(materials_are_those_of_the_documentation),
      cmocka_unit_test(fields_are_what_they_say),
      cmocka_unit_test(rods_and_sheets_have_fields),
      cmocka_unit_test(cells_of_a_lattice_are_found),
      cmocka_unit_test(cells_have_layers_by_volume),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
