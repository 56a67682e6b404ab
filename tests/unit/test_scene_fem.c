// SPDX-License-Identifier: MIT
// "fem" in scene files: levels, layers of material from shapes, labels, grids and paint, settings,
// and mistakes in them.
#include "methods/fem/fem.h"
#include "model/model.h"
#include "scene/loader.h"
#include "support/counted_memory.h"
#include "support/mesh_testing.h"
#include "support/scene_text.h"
#include "support/temporary_folder.h"
#include "yawara/yawara.h"

#define CUBE "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}}"
#define BODY(keys) "{\"bodies\": [{" keys "}]}"
#define FEM(keys) BODY(CUBE ", \"fem\": {\"max_level\": 1, " keys "}")
#define NAMED                                                  \
  "{\"models\": {\"m\": {" CUBE                                \
  ", \"fem\": {\"max_level\": 1}}}, \"bodies\": [{\"model\": " \
  "\"m\", "

static yw_scene* scene_in_folder(const char* text) {
  return scene_at(in_folder("a.json"), text, NULL);
}

static const fem_model* model_of(const yw_scene* scene) {
  return scene->models.items[0].model->data;
}

static double youngs_of(const fem_model* m, int32_t tet) {
  yw_sym6 c;
  const float* from = m->materials.stiffness ? m->materials.stiffness + FEM_MATRIX * (size_t)tet
                                             : m->materials.uniform_stiffness;
  for (int k = 0; k < FEM_MATRIX; ++k) c.m[k] = from[k];
  return yw_fem_moduli(&c).youngs;
}

static yw_vec3 centre_of(const fem_model* m, int32_t tet) {
  yw_dvec3 sum = {0, 0, 0};
  for (int k = 0; k < 4; ++k) sum = yw_dmad(sum, 0.25, m->h.rest[m->h.nodes[tet][k]]);
  return yw_f3(sum);
}

static void settings_reach_model_and_bodies(void** state) {
  (void)state;
  yw_scene* scene = scene_in_folder(NAMED
                                    "\"fem\": {\"tau\": 0.02, \"refine\": \"finest\", \"hanging\": "
                                    "\"snap\", \"min_level\": 1, \"mass_damping\": 3, \"soften\": "
                                    "\"none\"}}, {\"model\": \"m\"}]}");
  const fem_model* m = model_of(scene);
  assert_int_equal(m->h.max_level, 1);
  assert_null(m->materials.stiffness);
  yw_world* world = NULL;
  yw_error error = {0};
  if (yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) fail_msg("%s", error.message);
  yw_fem_params a, b;
  assert_int_equal(yw_body_fem_params(world, yw_world_body(world, 0), &a), YW_OK);
  assert_int_equal(yw_body_fem_params(world, yw_world_body(world, 1), &b), YW_OK);
  assert_near(a.tau, 0.02, 1e-8);
  assert_int_equal(a.refine, YW_FEM_REFINE_FINEST);
  assert_int_equal(a.hanging, YW_FEM_HANGING_SNAP);
  assert_int_equal(a.min_level, 1);
  assert_near(a.mass_damping, 3, 1e-6);
  assert_int_equal(a.soften, YW_FEM_SOFTEN_NONE);
  const yw_fem_params plain = yw_default_fem_def().params;
  // Adjacent members in memory are unchanged.
  assert_near(a.yield, plain.yield, 0);
  assert_near(a.creep, plain.creep, 0);
  assert_int_equal(b.soften, YW_FEM_SOFTEN_MATERIAL);
  assert_near(b.tau, plain.tau, 1e-9);
  assert_near(b.mass_damping, plain.mass_damping, 1e-9);
  assert_near(b.sleep_speed, plain.sleep_speed, 1e-9);
  assert_near(b.safety, plain.safety, 1e-9);
  assert_near(b.strain_range, plain.strain_range, 1e-9);
  assert_int_equal(b.refine, plain.refine);
  assert_int_equal(b.hanging, plain.hanging);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Without settings: few roots, two levels, and the shape's own surface.
static void a_shape_is_enough(void** state) {
  (void)state;
  static const struct {
    const char* shape;
    double volume, within;
  } shapes[] = {
      {"\"sphere\": {\"radius\": 0.1}", 0.0041888, 0.07},
      {"\"box\": {\"size\": [1, 0.05, 0.05]}", 0.0025, 0.02},
      {"\"capsule\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0], \"radius\": 0.03}", 0.0029405, 0.08},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    char text[300];
    snprintf(text, sizeof text, "{\"bodies\": [{\"shape\": {%s}, \"fem\": {}}]}", shapes[i].shape);
    yw_scene* scene = scene_in_folder(text);
    const yw_model* model = scene->models.items[0].model;
    yw_fem_info info;
    assert_int_equal(yw_model_fem_info(model, &info), YW_OK);
    assert_int_equal(info.num_levels, 3);
    assert_true(info.levels[0].num_tets > 100 && info.levels[0].num_tets < 5000);
    yw_tri_mesh boundary;
    assert_int_equal(yw_tet_mesh_surface(yw_model_tets(model), NULL, &boundary, NULL), YW_OK);
    assert_near(enclosed_volume(&boundary) / shapes[i].volume, 1.0, shapes[i].within);
    assert_near(enclosed_volume(yw_model_surface(model)) / shapes[i].volume, 1.0, 0.02);
    yw_tri_mesh_free(&boundary);
    yw_scene_destroy(scene);
  }
}

static void materials_by_name_bring_their_density(void** state) {
  (void)state;
  yw_scene* scene = scene_in_folder(FEM("\"material\": \"silicone\""));
  const yw_material* silicone = yw_material_by_name("silicone");
  const fem_model* m = model_of(scene);
  assert_near(youngs_of(m, 0) / silicone->youngs_modulus, 1.0, 1e-5);
  assert_near(m->materials.uniform_density, silicone->density, 1e-3);
  yw_scene_destroy(scene);
}

// A ramp in x: 1e4 at -0.5, 1e6 at 0.5, geometric; smooth or not.
static void ramps_and_shapes(void** state) {
  (void)state;
  for (int smooth = 0; smooth < 2; ++smooth) {
    yw_scene* scene = scene_in_folder(
        smooth ? FEM("\"fields\": [{\"from\": [-0.5, 0, 0], \"to\": [0.5, 0, 0], \"smooth\": true, "
                     "\"youngs_modulus\": [1e4, 1e6]}, {\"shape\": {\"box\": {\"size\": [9, 9, "
                     "0.5], \"center\": [0, 0, 0.5]}}, \"density\": 2000}]")
               : FEM("\"fields\": [{\"from\": [-0.5, 0, 0], \"to\": [0.5, 0, 0], "
                     "\"youngs_modulus\": [1e4, 1e6]}, {\"shape\": {\"box\": {\"size\": [9, 9, "
                     "0.5], \"center\": [0, 0, 0.5]}}, \"density\": 2000}]"));
    const fem_model* m = model_of(scene);
    for (int32_t t = m->h.num_parents; t < m->h.num_tets; ++t) {
      yw_vec3 p = centre_of(m, t);
      double x = p.x + 0.5, s = smooth ? x * x * (3 - 2 * x) : x;
      assert_near(youngs_of(m, t) / (1e4 * pow(100, s)), 1.0, 1e-4);
      assert_near(m->materials.density[t - m->h.num_parents], p.z > 0.25 ? 2000 : 1000, 1e-3);
    }
    yw_scene_destroy(scene);
  }
}

static void labels_of_the_mesh(void** state) {
  (void)state;
  store_text("two.mesh",
             "MeshVersionFormatted 1\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 "
             "0\n1 1 1 0\nTetrahedra\n2\n1 2 3 4 5\n2 3 4 5 8\nEnd\n");
  yw_scene* scene = scene_in_folder(
      BODY("\"mesh\": \"two.mesh\", \"fem\": {\"max_level\": 1, \"youngs_modulus\": 1e5, "
           "\"fields\": [{\"labels\": [8, 9], \"youngs_modulus\": 3e5, \"stiffness_damping\": "
           "0.01}]}"));
  const fem_model* m = model_of(scene);
  for (int32_t t = 0; t < m->h.num_tets; ++t) {
    // Homogeneous roots: coarse and fine tets have the same material.
    assert_near(youngs_of(m, t) / (m->h.root[t] == 1 ? 3e5 : 1e5), 1.0, 1e-4);
  }
  assert_non_null(m->materials.damping);
  assert_near(m->damping_time, 0.01, 1e-8);
  yw_scene_destroy(scene);
}

#define GRID                                                                                \
  "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 0 0 0\" Origin=\"-0.5 0 0\" " \
  "Spacing=\"1 1 1\"><Piece Extent=\"0 1 0 0 0 0\"><PointData><DataArray type=\"Float32\" " \
  "Name=\"hu\" format=\"ascii\">100 300</DataArray></PointData></Piece></ImageData></VTKFile>"

static void grids_and_paint(void** state) {
  (void)state;
  store_text("a.vti", GRID);
  yw_scene* scene = scene_in_folder(FEM(
      "\"fields\": [{\"grid\": {\"file\": \"a.vti\", \"array\": \"hu\", \"range\": [100, 300]}, "
      "\"youngs_modulus\": [1e4, 1e6], \"density\": \"file\"}]"));
  const fem_model* m = model_of(scene);
  for (int32_t t = m->h.num_parents; t < m->h.num_tets; ++t) {
    double x = centre_of(m, t).x + 0.5;
    assert_near(youngs_of(m, t) / (1e4 * pow(100, x)), 1.0, 1e-3);
    assert_near(m->materials.density[t - m->h.num_parents], 100 + 200 * x, 1e-2);
  }
  yw_scene_destroy(scene);
  // Paint on a triangle in the plane x = -0.5 that covers the cube's shadow: value = z.
  store_text("p.ply",
             "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
             "property float z\nproperty float q\nelement face 1\n"
             "property list uchar int vertex_indices\nend_header\n"
             "-0.5 -9 -9 -9\n-0.5 9 -9 -9\n-0.5 0 18 18\n3 0 1 2\n");
  scene = scene_in_folder(FEM(
      "\"fields\": [{\"painted\": {\"file\": \"p.ply\", \"attribute\": \"q\", \"range\": [-0.5, "
      "0.5]}, \"poissons_ratio\": [0.1, 0.4], \"youngs_modulus\": [1e4, 1e6]}]"));
  m = model_of(scene);
  for (int32_t t = m->h.num_parents; t < m->h.num_tets; ++t) {
    double z = centre_of(m, t).z + 0.5;
    assert_near(youngs_of(m, t) / (1e4 * pow(100, z)), 1.0, 1e-3);
  }
  yw_scene_destroy(scene);
}

static void a_matrix_of_its_own(void** state) {
  (void)state;
  yw_scene* scene = scene_in_folder(
      FEM("\"fields\": [{\"elasticity\": [9, 1, 1, 0, 0, 0, 5, 1, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 2, "
          "0, 2]}]"));
  const fem_model* m = model_of(scene);
  assert_near(m->materials.uniform_stiffness[0], 9, 1e-6);
  assert_near(m->materials.uniform_stiffness[6], 5, 1e-6);
  yw_scene_destroy(scene);
}

// Pins hold the nodes of all levels.
static void pins_hold_the_finest_nodes(void** state) {
  (void)state;
  yw_scene* scene =
      scene_in_folder(BODY(
          CUBE ", \"fem\": {\"max_level\": 1}, \"pins\": [{\"select\": {\"box\": {\"size\": [0.01, "
               "9, 9], \"center\": [-0.5, 0, 0]}}}]"));
  const yw_body_spec* body = &scene->bodies.items[0];
  assert_int_equal(body->num_pins, 1);
  // 3 x 3 corners of cells, and the middles of the edges in that face: 12 along, 4 across.
  assert_int_equal(body->pin_list[0].num_vertices, 25);
  yw_scene_destroy(scene);
}

static void mistakes_are_reported_with_their_place(void** state) {
  (void)state;
  store_text("zero.vti",
             "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 0 0 0\" Origin=\"-0.5 0 "
             "0\"><Piece Extent=\"0 1 0 0 0 0\"><PointData><DataArray type=\"Float32\" Name=\"a\" "
             "format=\"ascii\">0 0</DataArray></PointData></Piece></ImageData></VTKFile>");
  // A layer around the middle of an edge, where the first level has a vertex, selects something.
  yw_scene_destroy(
      scene_of(BODY("\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 1}}, \"fem\": "
                    "{\"max_level\": 1, \"fields\": [{\"shape\": {\"sphere\": "
                    "{\"radius\": 0.05}, \"move\": [0.5, 0, 0.5]}, \"youngs_modulus\": "
                    "2e5}]}")));
  static const struct {
    const char *text, *message;
  } cases[] = {
      {FEM("\"youngs_modulus\": 0"), "fem.youngs_modulus is 0, but must be greater than 0"},
      {FEM("\"max_levels\": 2"), "unknown key \"max_levels\""},
      {FEM("\"min_level\": 2"), "fem.min_level is 2, but \"max_level\" is 1"},
      {BODY(CUBE ", \"fem\": {\"max_level\": 9}"), "max_level is 9, but must be between 0 and 8"},
      {BODY(CUBE ", \"fem\": {\"max_level\": 8}"), "GB"},
      {FEM("\"sampling\": \"paper\""), "\"embedded\", \"standalone\", \"average\" or \"settled\""},
      {FEM("\"refine\": \"jmp\""), "(did you mean \"jump\"?)"},
      {FEM("\"fields\": [{\"youngs_modulus\": \"file\"}]"), "needs a \"grid\" or \"painted\""},
      {FEM("\"fields\": [{\"grid\": {\"file\": \"a.vti\"}, \"youngs_modulus\": \"value\"}]"),
       "must be a number, two, or \"file\""},
      {FEM("\"fields\": [{\"grid\": {\"file\": \"none.vti\"}, \"youngs_modulus\": \"file\"}]"),
       "cannot be opened"},
      {FEM("\"fields\": [{\"grid\": {\"file\": \"zero.vti\"}, \"youngs_modulus\": \"file\"}]"),
       "Young\'s modulus at ("},
      {FEM("\"fields\": [{\"grid\": {\"array\": \"x\"}, \"youngs_modulus\": \"file\"}]"),
       "needs \"file\""},
      {FEM("\"fields\": [{\"painted\": {\"file\": \"p.ply\"}, \"youngs_modulus\": \"file\"}]"),
       "needs \"attribute\""},
      {FEM("\"fields\": [{\"grid\": {\"file\": \"a.vti\", \"range\": [1, 1]}, \"density\": 1}]"),
       "two equal numbers"},
      {FEM("\"fields\": [{\"elasticity\": [1, 2, 3]}]"), "must have 21"},
      {FEM("\"fields\": [{\"elasticity\": [1, 9, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, "
           "1, 0, 1]}]"),
       "not positive definite"},
      {FEM("\"fields\": [{\"labels\": [3], \"youngs_modulus\": 1}]"),
       "selects none of the 40 tets"},
      {FEM("\"fields\": [{\"smooth\": true, \"youngs_modulus\": 1}]"), "needs \"from\""},
      {BODY(CUBE ", \"fem\": {}, \"match\": {}"), "only one of them can be given"},
      {BODY(CUBE ", \"fem\": {}, \"frames\": {}"), "only one of them can be given"},
      {BODY(CUBE ", \"frames\": {\"fields\": [{\"density\": 3}]}"), "only for bodies of \"fem\""},
      {BODY(CUBE ", \"fem\": {}, \"examples\": [{\"deform\": {\"twist\": {\"degrees\": 9}}}]"),
       "is not for bodies of \"fem\""},
      {NAMED "\"fem\": {\"max_level\": 2}}]}", "belongs to the model, but \"model\" is given"},
      {NAMED "\"frames\": {}}]}", "is given, but the model is one of \"fem\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yw_scene* scene = NULL;
    yw_error error = {0};
    yw_status status = read_scene_text(cases[i].text, in_folder("a.json"), &scene, NULL, &error);
    if (status >= 0) fail_msg("accepted: %s", cases[i].text);
    if (!strstr(error.message, cases[i].message)) {
      fail_msg("\"%s\" without \"%s\"", error.message, cases[i].message);
    }
    assert_non_null(strstr(error.message, "a.json:1:"));
  }
}

// Levels of a surface from a file are as many as are affordable; the model that was made to find
// out is gone.
static void levels_of_files_are_chosen(void** state) {
  (void)state;
  store_text("block.obj",
             "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n"
             "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
  counted_memory memory = {.left = ENOUGH};
  const char* text = BODY(
      "\"mesh\": {\"tets\": {\"size\": 0.5, \"shape\": {\"mesh\": {\"file\": \"block.obj\"}}}}, "
      "\"fem\": {}");
  yw_scene_def def = yw_default_scene_def();
  def.path = in_folder("a.json");
  def.text = text;
  def.size = strlen(text);
  def.mem = counted_allocator(&memory);
  yw_scene* scene = NULL;
  yw_error error = {0};
  if (yw_scene_read(&def, &scene, NULL, &error) < 0) fail_msg("%s", error.message);
  assert_true(model_of(scene)->h.max_level >= 0 && model_of(scene)->h.max_level <= 8);
  yw_scene_destroy(scene);
  assert_int_equal(memory.alive, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_reach_model_and_bodies),
      cmocka_unit_test(a_shape_is_enough),
      cmocka_unit_test(materials_by_name_bring_their_density),
      cmocka_unit_test(ramps_and_shapes),
      cmocka_unit_test(labels_of_the_mesh),
      cmocka_unit_test(grids_and_paint),
      cmocka_unit_test(a_matrix_of_its_own),
      cmocka_unit_test(pins_hold_the_finest_nodes),
      cmocka_unit_test(levels_of_files_are_chosen),
      cmocka_unit_test(mistakes_are_reported_with_their_place),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
