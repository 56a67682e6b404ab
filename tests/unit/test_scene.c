// SPDX-License-Identifier: MIT
#include "scene/loader.h"
#include "support/counted_memory.h"
#include "support/scene_peek.h"
#include "support/scene_text.h"
#include "support/testing.h"
#include "yawara/yawara.h"

#define CUBE "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}}"

static yw_status read_text(const char* text, int count, const yw_scene_override* overrides,
                           yw_scene** out, yw_error* warning, yw_error* error) {
  yw_scene_def def = yw_default_scene_def();
  def.path = "dir/a.json";
  def.text = text;
  def.size = strlen(text);
  def.overrides = overrides;
  def.num_overrides = count;
  return yw_scene_read(&def, out, warning, error);
}

static void expect_error(const char* text, const char* message) {
  yw_scene* scene = NULL;
  yw_error error = {0}, warning = {0};
  yw_status status = read_text(text, 0, NULL, &scene, &warning, &error);
  if (status >= 0) fail_msg("accepted: %s", text);
  assert_null(scene);
  assert_string_equal(error.message, message);
  assert_int_equal(error.status, status);
  assert_string_equal(warning.message, "");
}

// Mistakes ----------------------------------------------------------------------------------------

typedef struct mistake {
  const char *text, *message;
} mistake;

static void check_mistakes(const mistake* cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    expect_error(cases[i].text, cases[i].message);
  }
}
#define CHECK_MISTAKES(cases) check_mistakes(cases, sizeof cases / sizeof *cases)
#define BODY(keys) "{\"bodies\": [{" keys "}]}"
#define SHAPE(shape) "{\"bodies\": [], \"obstacles\": [{\"shape\": " shape "}]}"
#define CUBE_WITH(keys) BODY(CUBE ", " keys)

static void mistakes_of_the_whole_scene_are_reported(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"[]", "dir/a.json:1:1: the scene is a list, but must be an object"},
      {"{}", "dir/a.json:1:1: the scene needs \"bodies\""},
      {"{\"bodies\": {}}", "dir/a.json:1:12: bodies is an object, but must be a list"},
      {"{\n  \"bodies\": [],\n  \"graviti\": [0, 0, 0]\n}",
       "dir/a.json:3:3: unknown key \"graviti\" in the scene (did you mean \"gravity\"?)"},
      {"{\"bodies\": [], \"colour_of_the_sky\": 1}",
       "dir/a.json:1:16: unknown key \"colour_of_the_sky\" in the scene (known keys: $schema, "
       "name, description, gravity, wind, fps, duration, frames, substeps, contact, "
       "contact_iterations, sleep_speed, camera, shapes, models, bodies, obstacles, joints, "
       "tracks, floor)"},
      {"{\"bodies\": [], \"gravity\": -9.81}",
       "dir/a.json:1:27: gravity is a number, but must be a list of 3 numbers"},
      {"{\"bodies\": [], \"gravity\": [0, -9.81]}",
       "dir/a.json:1:27: gravity has 2 numbers, but must have 3"},
      {"{\"bodies\": [],\n \"gravity\": [0, \"down\", 0]}",
       "dir/a.json:2:17: gravity[1] is a string, but must be a number"},
      {"{\"bodies\": [], \"gravity\": [0, -1e9, 0]}",
       "dir/a.json:1:31: gravity[1] is -1e+09, but must be between -100000 and 100000"},
      {"{\"bodies\": [], \"fps\": 0}",
       "dir/a.json:1:23: fps is 0, but must be greater than 0 and at most 100000"},
      {"{\"bodies\": [], \"substeps\": 2.5}",
       "dir/a.json:1:28: substeps is 2.5, but must be a whole number"},
      {"{\"bodies\": [], \"substeps\": 0}",
       "dir/a.json:1:28: substeps is 0, but must be between 1 and 10000"},
      {"{\"bodies\": [], \"duration\": 1, \"frames\": 60}",
       "dir/a.json:1:31: the scene has \"duration\" and \"frames\", but only one of them can be "
       "given"},
      {"{\"bodies\": [], \"duration\": 1e6, \"fps\": 100000}",
       "dir/a.json:1:28: duration makes 100000000000 frames, but at most 100000000 are allowed"},
      {"{\"bodies\": [], \"name\": 3}", "dir/a.json:1:24: name is a number, but must be a string"},
      {"{\"bodies\": [], \"camera\": {\"eye\": [0, 0, 1]}}",
       "dir/a.json:1:26: camera needs \"target\""},
      {"{\"bodies\": [], \"camera\": {\"eye\": [0, 0, 1], \"target\": [0, 0, 1]}}",
       "dir/a.json:1:26: camera looks from \"eye\" to the same point, \"target\""},
      {"{\"bodies\": [], \"floor\": 1}",
       "dir/a.json:1:25: floor is a number, but must be true, false or an object"},
      {"{\"bodies\": [], \"floor\": {\"hight\": 1}}",
       "dir/a.json:1:26: unknown key \"hight\" in floor (did you mean \"height\"?)"},
      {"{\"bodies\": [], \"obstacles\": [{}]}",
       "dir/a.json:1:30: obstacles[0] needs \"shape\" or \"animation\""},
      {"{\"bodies\": [1,]}", "dir/a.json:1:14: remove the comma before ]"},
  };
  CHECK_MISTAKES(cases);
}

static void mistakes_in_shapes_are_reported(void** state) {
  (void)state;
  static const mistake cases[] = {
      {SHAPE("3"),
       "dir/a.json:1:40: obstacles[0].shape is a number, but must be a shape or the name of one"},
      {SHAPE("{}"),
       "dir/a.json:1:40: obstacles[0].shape needs \"sphere\", \"box\", \"capsule\", \"cylinder\", "
       "\"cone\", \"torus\", \"plane\", \"union\", \"intersection\", \"difference\", \"offset\", "
       "\"mesh\" or \"use\""},
      {SHAPE("{\"sphere\": {\"radius\": 1}, \"box\": {\"size\": 1}}"),
       "dir/a.json:1:66: obstacles[0].shape has \"sphere\" and \"box\", but only one of them can "
       "be given"},
      {SHAPE("{\"spere\": {\"radius\": 1}}"),
       "dir/a.json:1:41: unknown key \"spere\" in obstacles[0].shape (did you mean \"sphere\"?)"},
      {SHAPE("{\"sphere\": {\"radius\": 0}}"),
       "dir/a.json:1:62: obstacles[0].shape.sphere.radius is 0, but must be greater than 0 and at "
       "most 1000000"},
      {SHAPE("{\"sphere\": {}}"), "dir/a.json:1:51: obstacles[0].shape.sphere needs \"radius\""},
      {SHAPE("{\"sphere\": 2}"),
       "dir/a.json:1:51: obstacles[0].shape.sphere is a number, but must be an object"},
      {SHAPE("{\"box\": {\"center\": [0, 0, 0]}}"),
       "dir/a.json:1:48: obstacles[0].shape.box needs \"size\" or \"half_size\""},
      {SHAPE("{\"box\": {\"size\": [1, 0, 1]}}"),
       "dir/a.json:1:61: obstacles[0].shape.box.size[1] is 0, but must be greater than 0 and at "
       "most 1000000"},
      {SHAPE("{\"box\": {\"size\": [1, 0.5, 1], \"rounding\": 0.3}}"),
       "dir/a.json:1:82: obstacles[0].shape.box.rounding is 0.3, but must be at most half the "
       "smallest side, 0.25"},
      {SHAPE("{\"capsule\": {\"from\": [1, 1, 1], \"to\": [1, 1, 1], \"radius\": 1}}"),
       "dir/a.json:1:52: obstacles[0].shape.capsule begins and ends at the same point: use a "
       "sphere"},
      {SHAPE("{\"cylinder\": {\"radius\": 1, \"height\": 1, \"axis\": \"q\"}}"),
       "dir/a.json:1:88: obstacles[0].shape.cylinder.axis is \"q\", but must be \"x\", \"y\", "
       "\"z\" or 3 numbers"},
      {SHAPE("{\"cylinder\": {\"radius\": 1, \"height\": 1, \"axis\": [0, 0, 0]}}"),
       "dir/a.json:1:88: obstacles[0].shape.cylinder.axis is zero, but must have a direction"},
      {SHAPE("{\"cone\": {\"height\": 1}}"),
       "dir/a.json:1:49: obstacles[0].shape.cone needs \"bottom_radius\" or \"top_radius\" above "
       "0"},
      {SHAPE("{\"plane\": {\"offset\": 1, \"point\": [0, 0, 0]}}"),
       "dir/a.json:1:64: obstacles[0].shape.plane has \"offset\" and \"point\", but only one of "
       "them can be given"},
      {SHAPE("{\"union\": {\"of\": []}}"),
       "dir/a.json:1:57: obstacles[0].shape.union.of is empty, but must have a shape"},
      {SHAPE("{\"union\": {\"smooth\": 1}}"),
       "dir/a.json:1:50: obstacles[0].shape.union needs \"of\""},
      {SHAPE("{\"union\": {\"of\": [{\"sphere\": {\"radius\": 1}}], \"smooth\": -1}}"),
       "dir/a.json:1:96: obstacles[0].shape.union.smooth is -1, but must be between 0 and 1000000"},
      {SHAPE("{\"offset\": {\"of\": \"nothing\", \"distance\": 1}}"),
       "dir/a.json:1:58: obstacles[0].shape.offset.of is \"nothing\", but \"shapes\" has no shape "
       "of that name"},
      {"{\"shapes\": {\"wheel\": {\"sphere\": {\"radius\": 1}}}, \"bodies\": [{\"shape\": "
       "\"weel\"}]}",
       "dir/a.json:1:71: bodies[0].shape is \"weel\", but \"shapes\" has no shape of that name "
       "(did you mean \"wheel\"?)"},
      {"{\"shapes\": {\"a\": \"b\", \"b\": {\"use\": \"a\"}}, \"bodies\": []}",
       "dir/a.json:1:36: shapes.b.use is \"a\", but that shape is made of this one"},
      {SHAPE("{\"sphere\": {\"radius\": 1}, \"rotate\": 90}"),
       "dir/a.json:1:76: obstacles[0].shape.rotate is a number, but must be {\"axis\": ..., "
       "\"degrees\": ...} or a quaternion [x, y, z, w]"},
      {SHAPE("{\"sphere\": {\"radius\": 1}, \"rotate\": {\"axis\": \"x\"}}"),
       "dir/a.json:1:76: obstacles[0].shape.rotate needs \"degrees\""},
      {SHAPE("{\"sphere\": {\"radius\": 1}, \"rotate\": [0, 0, 0, 0]}"),
       "dir/a.json:1:76: obstacles[0].shape.rotate is zero, but must be a rotation"},
      {SHAPE("{\"sphere\": {\"radius\": 1}, \"rotate\": [1]}"),
       "dir/a.json:1:76: obstacles[0].shape.rotate has 1 number, but must have 4"},
      {SHAPE("{\"sphere\": {\"radius\": 1}, \"scale\": 0}"),
       "dir/a.json:1:75: obstacles[0].shape.scale is 0, but must be greater than 0 and at most "
       "1000000"},
  };
  CHECK_MISTAKES(cases);
}

static void mistakes_in_models_are_reported(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"{\"bodies\": [{\"shape\": {\"sphere\": {\"radius\": 1}}}, {" CUBE
       "},\n  {\"name\": \"x\"}]}",
       "dir/a.json:2:3: bodies[2] needs \"mesh\", \"shape\", \"rod\", \"sheet\" or \"model\""},
      {BODY(CUBE ", \"shape\": {\"sphere\": {\"radius\": 1}}"),
       "dir/a.json:1:60: bodies[0] has \"mesh\" and \"shape\", but only one of them can be given"},
      {BODY("\"shape\": {\"plane\": {}}"),
       "dir/a.json:1:23: bodies[0].shape has no end (a plane?), but a body must have one"},
      {BODY("\"mesh\": 5"),
       "dir/a.json:1:22: bodies[0].mesh is a number, but must be a file or an object"},
      {BODY("\"mesh\": {}"),
       "dir/a.json:1:22: bodies[0].mesh needs \"lattice\", \"tets\" or \"file\""},
      {BODY("\"mesh\": {\"lattice\": {\"size\": 1}}"),
       "dir/a.json:1:34: bodies[0].mesh.lattice needs \"cells\""},
      {BODY("\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": [1, 1]}}"),
       "dir/a.json:1:55: bodies[0].mesh.lattice.cells has 2 numbers, but must have 3"},
      {BODY("\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 1000}}"),
       "dir/a.json:1:55: bodies[0].mesh.lattice.cells makes 1003003001 vertices, but at most "
       "4000000 are allowed"},
      {BODY("\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2, \"cut\": 7}}"),
       "dir/a.json:1:65: bodies[0].mesh.lattice.cut is 7, but must be between 5 and 6"},
      {BODY("\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}, \"scale\": 2}"),
       "dir/a.json:1:68: bodies[0].mesh.scale is only for meshes from a file"},
      {BODY("\"mesh\": {\"tets\": {\"size\": 0.1}}"),
       "dir/a.json:1:31: bodies[0].mesh.tets needs \"shape\""},
      {CUBE_WITH("\n\"match\": {\"beta\": 1.7}"),
       "dir/a.json:2:19: bodies[0].match.beta is 1.7, but must be between 0 and 1"},
      {CUBE_WITH("\"match\": {\"beta\": \"much\"}"),
       "dir/a.json:1:78: bodies[0].match.beta is a string, but must be a number"},
      {CUBE_WITH("\"match\": {\"betta\": 1}"),
       "dir/a.json:1:70: unknown key \"betta\" in bodies[0].match (did you mean \"beta\"?)"},
      {CUBE_WITH("\"match\": {\"projection\": \"papper\"}"),
       "dir/a.json:1:84: bodies[0].match.projection is \"papper\", but must be \"exact\" or "
       "\"paper\" (did you mean \"paper\"?)"},
      {CUBE_WITH("\"match\": {\"groups\": \"perregion\"}"),
       "dir/a.json:1:80: bodies[0].match.groups is \"perregion\", but must be \"global\" or "
       "\"per_region\" (did you mean \"per_region\"?)"},
      {CUBE_WITH("\"match\": {\"groups\": [1, 2]}"),
       "dir/a.json:1:80: bodies[0].match.groups has 2 labels, but the mesh has 27 vertices"},
      {CUBE_WITH("\"match\": {\"groups\": [{\"shape\": {\"sphere\": {\"radius\": 0.1, \"center\": "
                 "[9, 0, 0]}}}]}"),
       "dir/a.json:1:81: bodies[0].match.groups[0] selects none of the 27 vertices"},
      {CUBE_WITH("\"density\": 0"),
       "dir/a.json:1:71: bodies[0].density is 0, but must be greater than 0 and at most 1000000"},
      {CUBE_WITH("\"examples\": {}"),
       "dir/a.json:1:72: bodies[0].examples is an object, but must be a list"},
      {CUBE_WITH("\"examples\": [{}]"),
       "dir/a.json:1:73: bodies[0].examples[0] needs \"deform\", \"file\", \"surface_file\", "
       "\"positions\" or \"mesh\""},
      {CUBE_WITH("\"examples\": [{\"surface_file\": \"no.obj\"}]"),
       "dir/a.json:1:90: bodies[0].examples[0].surface_file is a pose of the surface, but the "
       "model has no \"surface\" with a file"},
      {CUBE_WITH("\"examples\": [{\"deform\": {\"twits\": {\"degrees\": 9}}}]"),
       "dir/a.json:1:85: unknown key \"twits\" in bodies[0].examples[0].deform (did you mean "
       "\"twist\"?)"},
      {CUBE_WITH("\"examples\": [{\"deform\": []}]"),
       "dir/a.json:1:84: bodies[0].examples[0].deform is empty, but must have a deformation"},
      {CUBE_WITH("\"examples\": [{\"deform\": [{\"twist\": {}}]}]"),
       "dir/a.json:1:95: bodies[0].examples[0].deform[0].twist needs \"degrees\""},
      {CUBE_WITH("\"examples\": [{\"deform\": {\"twist\": {\"amount\": 9}}}]"),
       "dir/a.json:1:95: unknown key \"amount\" in bodies[0].examples[0].deform.twist (known keys: "
       "degrees, axis, origin, length)"},
      {CUBE_WITH("\"examples\": [{\"deform\": {\"squash\": {\"amount\": 1}}}]"),
       "dir/a.json:1:106: bodies[0].examples[0].deform.squash.amount is 1, but must be below 1"},
      {CUBE_WITH("\"examples\": [{\"deform\": {\"taper\": {\"amount\": 3}}}]"),
       "dir/a.json:1:84: bodies[0].examples[0].deform: amount of taper is 3, which scales one end "
       "by -0.5; the scale must stay above 0"},
      {CUBE_WITH("\"examples\": [{\"deform\": {\"bend\": {\"degrees\": 9, \"axis\": \"x\", "
                 "\"toward\": \"x\"}}}]"),
       "dir/a.json:1:131: bodies[0].examples[0].deform.bend.toward points along the axis, but must "
       "point to the side"},
      {CUBE_WITH("\"surface\": {\"size\": 0.1}"),
       "dir/a.json:1:80: bodies[0].surface.size is only for surfaces of a shape, but none is "
       "given"},
      {CUBE_WITH("\"surface\": {\"subdivide\": 9}"),
       "dir/a.json:1:85: bodies[0].surface.subdivide is 9, but must be between 0 and 5"},
      {"{\"models\": {\"teddy\": {" CUBE "}}, \"bodies\": [{\"model\": \"tedy\"}]}",
       "dir/a.json:1:92: bodies[0].model is \"tedy\", but \"models\" has no model of that name "
       "(did you mean \"teddy\"?)"},
      {"{\"models\": {\"teddy\": {" CUBE
       "}}, \"bodies\": [{\"model\": \"teddy\", \"density\": 5}]}",
       "dir/a.json:1:112: bodies[0].density belongs to the model, but \"model\" is given"},
      {"{\"models\": {\"teddy\": {" CUBE ", \"yongs_modulus\": 1}}, \"bodies\": []}",
       "dir/a.json:1:69: unknown key \"yongs_modulus\" in models.teddy (known keys: shape, mesh, "
       "examples, surface, density, match, frames, slender, rod, sheet, fem, plastic, rigid)"},
  };
  CHECK_MISTAKES(cases);
}

static void mistakes_in_bodies_are_reported(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"{\"bodies\": [7]}", "dir/a.json:1:13: bodies[0] is a number, but must be an object"},
      {CUBE_WITH("\"postion\": [0, 0, 0]"),
       "dir/a.json:1:60: unknown key \"postion\" in bodies[0] (did you mean \"position\"?)"},
      {CUBE_WITH("\"color\": \"red\""),
       "dir/a.json:1:69: bodies[0].color is \"red\", but must be a color like \"#e07a5f\""},
      {CUBE_WITH("\"color\": [2, 0, 0]"),
       "dir/a.json:1:70: bodies[0].color[0] is 2, but must be between 0 and 1"},
      {CUBE_WITH("\"colors\": []"),
       "dir/a.json:1:70: bodies[0].colors is empty, but must have a color"},
      {CUBE_WITH("\"restitution\": -0.5"),
       "dir/a.json:1:75: bodies[0].restitution is -0.5, but must be between 0 and 1"},
      {CUBE_WITH("\"self_contact\": 1"),
       "dir/a.json:1:76: bodies[0].self_contact is a number, but must be true or false"},
      {CUBE_WITH("\"start_pose\": 0"),
       "dir/a.json:1:74: bodies[0].start_pose is 0, but the model has no examples"},
      {CUBE_WITH("\"start_pose\": true"),
       "dir/a.json:1:74: bodies[0].start_pose is true, but must be the number or name of an "
       "example, or a pose like {\"deform\": ...}"},
      {CUBE_WITH("\"examples\": [{\"name\": \"bent\", \"deform\": {\"bend\": {\"degrees\": 9}}}], "
                 "\"start_pose\": 2"),
       "dir/a.json:1:142: bodies[0].start_pose is 2, but the model has 1 example, numbered from 0"},
      {CUBE_WITH("\"examples\": [{\"name\": \"bent\", \"deform\": {\"bend\": {\"degrees\": 9}}}], "
                 "\"start_pose\": \"bend\""),
       "dir/a.json:1:142: bodies[0].start_pose is \"bend\", but the model has no example of that "
       "name (did you mean \"bent\"?)"},
      {CUBE_WITH("\"repeat\": {\"count\": 2}"),
       "dir/a.json:1:70: bodies[0].repeat needs \"spacing\""},
      {CUBE_WITH("\"repeat\": {\"count\": [100, 100, 100], \"spacing\": [1, 1, 1]}"),
       "dir/a.json:1:70: bodies[0].repeat makes 1000000 bodies, but a scene has at most 100000"},
      {CUBE_WITH("\"pins\": [{}]"),
       "dir/a.json:1:69: bodies[0].pins[0] needs \"select\", \"vertices\" or \"painted\""},
      {CUBE_WITH("\"pins\": [{\"vertices\": [27]}]"),
       "dir/a.json:1:83: bodies[0].pins[0].vertices[0] is 27, but must be between 0 and 26, the "
       "last vertex"},
      {CUBE_WITH("\"pins\": [{\"vertices\": []}]"),
       "dir/a.json:1:82: bodies[0].pins[0].vertices is empty, but must have a vertex"},
      {CUBE_WITH(
           "\"pins\": [{\"select\": {\"sphere\": {\"radius\": 0.1, \"center\": [5, 0, 0]}}}]"),
       "dir/a.json:1:80: bodies[0].pins[0].select selects none of the body's 27 vertices, which "
       "lie from (-0.5, -0.5, -0.5) to (0.5, 0.5, 0.5)"},
      {CUBE_WITH("\"pins\": [{\"vertices\": [0], \"spring\": {}}]"),
       "dir/a.json:1:97: bodies[0].pins[0].spring needs \"stiffness\""},
      {CUBE_WITH("\"pins\": [{\"vertices\": [0], \"path\": []}]"),
       "dir/a.json:1:95: bodies[0].pins[0].path is empty, but must have a key"},
      {CUBE_WITH("\"pins\": [{\"vertices\": [0], \"path\": [{\"time\": 1}, {\"time\": 1}]}]"),
       "dir/a.json:1:118: bodies[0].pins[0].path[1].time is 1, but must be later than the key "
       "before, 1"},
      {CUBE_WITH("\"pins\": [{\"vertices\": [0], \"path\": {\"keys\": [{\"time\": 0}, {\"time\": "
                 "1, \"rotation\": {\"axis\": \"x\", \"degrees\": 360}}]}}]"),
       "dir/a.json:1:142: bodies[0].pins[0].path.keys[1].rotation turns by 360 degrees from the "
       "key before, but must turn by less than 180: put keys between"},
  };
  CHECK_MISTAKES(cases);
}

// Messages of file readers follow the location of the key that names the file.
static void errors_of_files_name_the_place_that_asked(void** state) {
  (void)state;
  static const char* const cases[][3] = {
      {SHAPE("{\"mesh\": {\"file\": \"no.obj\"}}"),
       "dir/a.json:1:58: obstacles[0].shape.mesh.file: ", "dir/no.obj"},
      {BODY("\"mesh\": \"no.node\""), "dir/a.json:1:22: bodies[0].mesh: ", "dir/no.node"},
      {BODY("\"mesh\": {\"file\": \"/no.msh\"}"),
       "dir/a.json:1:31: bodies[0].mesh.file: ", "/no.msh"},
      {CUBE_WITH("\"examples\": [{\"file\": \"no.node\"}]"),
       "dir/a.json:1:82: bodies[0].examples[0].file: ", "dir/no.node"},
      {CUBE_WITH("\"surface\": {\"file\": \"no.ply\"}"),
       "dir/a.json:1:80: bodies[0].surface.file: ", "dir/no.ply"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yw_scene* scene = NULL;
    yw_error error = {0};
    assert_true(read_text(cases[i][0], 0, NULL, &scene, NULL, &error) < 0);
    if (strncmp(error.message, cases[i][1], strlen(cases[i][1])) != 0 ||
        !strstr(error.message + strlen(cases[i][1]), cases[i][2])) {
      fail_msg("\"%s\" should begin with \"%s\" and name %s", error.message, cases[i][1],
               cases[i][2]);
    }
  }
}

static void a_missing_file_and_a_folder_are_errors(void** state) {
  (void)state;
  yw_scene* scene = NULL;
  yw_error error = {0};
  yw_scene_def def = yw_default_scene_def();
  def.path = "/nowhere/a.json";
  assert_int_equal(yw_scene_read(&def, &scene, NULL, &error), YW_ERR_IO);
  assert_string_equal(error.message,
                      "/nowhere/a.json: cannot be opened: No such file or directory");
  def.path = "/tmp";
  assert_int_equal(yw_scene_read(&def, &scene, NULL, &error), YW_ERR_IO);
  assert_null(scene);
}

// Overrides ---------------------------------------------------------------------------------------

static const char override_scene[] =
    "{\"gravity\": [0, -9.81, 0], \"models\": {\"teddy\": {" CUBE "}, \"my.cube\": {" CUBE
    "}},\n"
    " \"bodies\": [{\"model\": \"teddy\", \"match\": {\"alpha\": 0.5}}, {\"model\": \"my.cube\"}]}";

static void overrides_change_and_create_values(void** state) {
  (void)state;
  const yw_scene_override overrides[] = {{"bodies[0].match.beta", "0.25"},
                                         {"gravity[1]", "-1.5"},
                                         {"models.teddy.match.alpha", "0.125"},
                                         {"models[\"my.cube\"].density", "50"},
                                         {"name", "changed"},
                                         {"description", "\"in quotes\""},
                                         {"camera", "{\"eye\": [1, 2, 3], \"target\": [0, 0, 0]}"},
                                         {"camera.fov", "20"},
                                         {"floor", "true"}};
  yw_scene* scene = NULL;
  yw_error error = {0};
  if (read_text(override_scene, 9, overrides, &scene, NULL, &error) != YW_OK) {
    fail_msg("%s", error.message);
  }
  yw_scene_info info = yw_scene_info_of(scene);
  assert_near(body_setting(scene, 0, "beta"), 0.25, 0);
  assert_near(body_setting(scene, 0, "alpha"), 0.5, 0);
  assert_near(model_setting(scene, 0, "alpha"), 0.125, 0);
  assert_near(scene->models.items[1].keys.density, 50, 0);
  assert_near(scene->gravity.y, -1.5, 0);
  assert_string_equal(info.name, "changed");
  assert_string_equal(info.description, "in quotes");
  assert_true(info.has_camera);
  assert_near(info.camera.fov, 20, 0);
  assert_int_equal(yw_scene_num_obstacles(scene), 1);
  yw_scene_destroy(scene);
}

static void mistakes_in_overrides_name_the_override(void** state) {
  (void)state;
  static const struct {
    const char *path, *value, *message;
  } cases[] = {
      {"bodies[0].match.beta", "1.7",
       "--set bodies[0].match.beta: bodies[0].match.beta is 1.7, but must be between 0 and 1"},
      {"bodies[0].match.beta", "much",
       "--set bodies[0].match.beta: bodies[0].match.beta is a string, but must be a number"},
      {"bodies[0].match.betta", "1",
       "--set bodies[0].match.betta: unknown key \"betta\" in bodies[0].match (did you mean "
       "\"beta\"?)"},
      {"bodies[7].match.beta", "1",
       "--set bodies[7].match.beta: bodies has 2 items, so there is no [7]"},
      {"bodies[890].match.beta", "1",
       "--set bodies[890].match.beta: bodies has 2 items, so there is no [890]"},
      {"gravity[3]", "1", "--set gravity[3]: gravity has 3 items, so there is no [3]"},
      {"gravity.y", "1", "--set gravity.y: gravity is not an object"},
      {"models[0]", "1", "--set models[0]: models is not a list"},
      {"obstacles[0].friction", "1",
       "--set obstacles[0].friction: obstacles is not in the scene: set the whole list"},
      {"gravity", "[0, 0",
       "--set gravity: expected , or ], but found the end of the text (the list begins in line 1)"},
      {"gravity", "", "--set gravity: has no value"},
      {"", "1", "--set : expected a path like bodies[0].match.beta"},
      {"bodies[", "1", "--set bodies[: expected a path like bodies[0].match.beta"},
      {"bodies[0]x", "1", "--set bodies[0]x: expected a path like bodies[0].match.beta"},
      {"a..b", "1", "--set a..b: expected a path like bodies[0].match.beta"},
      {"a.", "1", "--set a.: expected a path like bodies[0].match.beta"},
      {".a", "1", "--set .a: expected a path like bodies[0].match.beta"},
      {"bodies[-1]", "1", "--set bodies[-1]: expected a path like bodies[0].match.beta"},
      {"models[\"x].a", "1", "--set models[\"x].a: expected a path like bodies[0].match.beta"},
      {"camera.fov", "20", "--set camera.fov: camera needs \"eye\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yw_scene* scene = NULL;
    yw_error error = {0};
    yw_scene_override override = {cases[i].path, cases[i].value};
    if (read_text(override_scene, 1, &override, &scene, NULL, &error) >= 0) {
      fail_msg("accepted: %s=%s", cases[i].path, cases[i].value);
    }
    assert_string_equal(error.message, cases[i].message);
  }
}

// Warnings and limits -----------------------------------------------------------------------------

static void what_has_no_effect_is_a_warning(void** state) {
  (void)state;
  yw_scene* scene = NULL;
  yw_error warning = {0}, error = {0};
  const char* text =
      "{\"models\": {\"idle\": {" CUBE
      "}},\n\"shapes\": {\"s\": {\"sphere\": {\"radius\": 1}}},\n"
      "\"bodies\": [{" CUBE ",\n\"examples\": [{\"deform\": {\"twist\": {\"degrees\": 0}}}]}]}";
  assert_int_equal(read_text(text, 0, NULL, &scene, &warning, &error), YW_OK);
  assert_int_equal(warning.status, YW_WARN_REDUNDANT);
  assert_non_null(strstr(warning.message, "dir/a.json:2:17: shapes.s is not used\n"));
  assert_non_null(strstr(warning.message, "dir/a.json:1:21: models.idle is not used\n"));
  assert_non_null(strstr(warning.message, "dir/a.json:4:13: bodies[0].examples: "));
  yw_scene_destroy(scene);
}

// Each shape uses the one before twice: 60 lines that would be evaluated 2^60 times.
static void shapes_that_double_are_refused(void** state) {
  (void)state;
  char text[8000];
  int used = sprintf(text, "{\"bodies\": [], \"shapes\": {\"s0\": {\"sphere\": {\"radius\": 1}}");
  for (int i = 1; i < 60; i++) {
    used += sprintf(text + used, ",\n\"s%d\": {\"union\": {\"of\": [\"s%d\", \"s%d\"]}}", i, i - 1,
                    i - 1);
  }
  sprintf(text + used, "}}");
  expect_error(text, "dir/a.json:16:8: shapes.s15 is made of more than 20000 shapes");
}

static void long_chains_of_shapes_are_refused(void** state) {
  (void)state;
  char text[20000];
  int used = sprintf(text, "{\"bodies\": [], \"shapes\": {");
  for (int i = 0; i < 300; i++) used += sprintf(text + used, "\"s%d\": \"s%d\",\n", i, i + 1);
  sprintf(text + used, "\"s300\": {\"sphere\": {\"radius\": 1}}}}");
  expect_error(text, "dir/a.json:65:8: shapes.s64 is nested deeper than 64 shapes");
}

static void running_out_of_memory_is_an_error_and_leaks_nothing(void** state) {
  (void)state;
  const char text[] =
      "{\"shapes\": {\"s\": {\"union\": {\"smooth\": 0.1, \"of\": [{\"sphere\": {\"radius\": 1}}, "
      "{\"box\": {\"size\": 1, \"center\": [1, 0, 0]}}]}}},\n\"floor\": true, \"bodies\": "
      "[{\"mesh\": {\"tets\": {\"shape\": \"s\", \"size\": 0.7}}, \"surface\": {\"subdivide\": 1}, "
      "\"examples\": [{\"deform\": {\"twist\": {\"degrees\": 60}}}], \"pins\": [{\"select\": "
      "\"s\"}], \"repeat\": {\"count\": 2, \"spacing\": [3, 3, 3]}}]}";
  for (int calls = 0;; calls++) {
    counted_memory memory = {.left = calls};
    yw_scene_def def = yw_default_scene_def();
    def.path = "a.json";
    def.text = text;
    def.size = strlen(text);
    def.mem = counted_allocator(&memory);
    yw_scene* scene = NULL;
    yw_error error = {0};
    yw_status status = yw_scene_read(&def, &scene, NULL, &error);
    yw_scene_destroy(scene);
    if (memory.alive != 0) fail_msg("%d blocks leaked when call %d fails", memory.alive, calls);
    if (status == YW_OK) break;
    if (status != YW_ERR_MEMORY) fail_msg("call %d: %d, %s", calls, status, error.message);
    assert_true(calls < 100000);
  }
}

// Rotations of keys about one axis are compared by their degrees; others are not.
static void keys_turn_by_less_than_half(void** state) {
  (void)state;
  static const struct {
    const char *first, *second;
    bool good;
  } cases[] = {
      {"{\"axis\": \"y\", \"degrees\": 100}", "{\"axis\": \"y\", \"degrees\": 270}", true},
      {"{\"axis\": \"y\", \"degrees\": 100}", "{\"axis\": \"y\", \"degrees\": 290}", false},
      {"{\"axis\": \"y\", \"degrees\": 100}", "{\"axis\": \"x\", \"degrees\": 290}", true},
      {"[0, 0, 0, 1]", "{\"axis\": \"y\", \"degrees\": 290}", true},
      {"{\"axis\": \"y\", \"degrees\": 290}", "[0, 0, 0, 1]", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[500];
    snprintf(text, sizeof text,
             "{\"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 1}}, \"path\": [{\"time\": 0, "
             "\"rotation\": %s}, {\"time\": 1, \"rotation\": %s}]}], \"bodies\": []}",
             cases[i].first, cases[i].second);
    yw_scene* scene = NULL;
    yw_error error = {0};
    yw_status status = read_scene_text(text, "dir/a.json", &scene, NULL, &error);
    if ((status >= 0) != cases[i].good) fail_msg("case %zu: %s", i, error.message);
    if (status < 0) assert_non_null(strstr(error.message, "turns by 190 degrees"));
    yw_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_turn_by_less_than_half),
      cmocka_unit_test(mistakes_of_the_whole_scene_are_reported),
      cmocka_unit_test(mistakes_in_shapes_are_reported),
      cmocka_unit_test(mistakes_in_models_are_reported),
      cmocka_unit_test(mistakes_in_bodies_are_reported),
      cmocka_unit_test(errors_of_files_name_the_place_that_asked),
      cmocka_unit_test(a_missing_file_and_a_folder_are_errors),
      cmocka_unit_test(overrides_change_and_create_values),
      cmocka_unit_test(mistakes_in_overrides_name_the_override),
      cmocka_unit_test(what_has_no_effect_is_a_warning),
      cmocka_unit_test(shapes_that_double_are_refused),
      cmocka_unit_test(long_chains_of_shapes_are_refused),
      cmocka_unit_test(running_out_of_memory_is_an_error_and_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
