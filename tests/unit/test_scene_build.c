// SPDX-License-Identifier: MIT
// From scenes to specs, poses, copies, pins and worlds; and agreement with the schema.
#include <dirent.h>

#include "model/model.h"
#include "scene/loader.h"
#include "scene/records.h"
#include "support/documents.h"
#include "support/scene_peek.h"
#include "support/scene_text.h"
#include "support/testing.h"
#include "yawara/yawara.h"

#define CUBE "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}}"
#define BODY(keys) "{\"bodies\": [{" keys "}]}"
#define CUBE_WITH(keys) BODY(CUBE ", " keys)

static void the_smallest_scene_has_sensible_defaults(void** state) {
  (void)state;
  yw_scene* scene = scene_of("{\"bodies\": [{\"shape\": {\"box\": {\"size\": 1}}}]}");
  yw_scene_info info = yw_scene_info_of(scene);
  assert_string_equal(info.name, "a");
  assert_string_equal(info.description, "");
  assert_near(info.fps, 60, 0);
  assert_int_equal(info.frames, 240);
  assert_int_equal(info.substeps, 4);
  assert_false(info.has_camera);
  assert_near(scene->gravity.y, -9.81, 1e-6);
  assert_int_equal(yw_scene_num_obstacles(scene), 0);
  assert_true(yw_scene_body_look(scene, 0).visible);
  assert_int_equal(scene->models.count, 1);
  yw_scene_destroy(scene);
}

static void equal_models_are_shared(void** state) {
  (void)state;
  yw_scene* scene =
      scene_of("{\"models\": {\"m\": {" CUBE
               ", \"density\": 500}},\n"
               "\"bodies\": [{\"model\": \"m\"}, {" CUBE
               ", \"density\": 500, \"match\": {\"beta\": 0.5}},\n"
               "{\"density\": 500, \"mesh\": {\"lattice\": {\"cells\": 2, \"size\": 1.0}}},\n"
               "{\"model\": {" CUBE ", \"density\": 500}}, {" CUBE
               ", \"density\": 501},\n"
               "{" CUBE ", \"density\": 500, \"match\": {\"groups\": \"per_region\"}}]}");
  static const int32_t expected[] = {0, 0, 0, 0, 1, 2};
  for (int i = 0; i < 6; i++) {
    assert_int_equal(scene->bodies.items[i].model_index, expected[i]);
  }
  assert_int_equal(scene->models.count, 3);
  assert_near(body_setting(scene, 0, "beta"), 0.95, 1e-6);
  assert_near(body_setting(scene, 1, "beta"), 0.5, 0);
  yw_scene_destroy(scene);
}

static void copies_stand_on_a_grid_and_take_colors_in_turn(void** state) {
  (void)state;
  yw_scene* scene =
      scene_of(BODY(CUBE ", \"position\": [1, 2, 3], \"colors\": [\"#ff0000\", [0, 1, 0]],\n"
                         "\"repeat\": {\"count\": [2, 1, 3], \"spacing\": [10, 20, 30]}"));
  assert_int_equal(scene->num_bodies, 6);
  const yw_body_spec* body = &scene->bodies.items[0];
  for (int copy = 0; copy < 6; copy++) {
    yw_transform t = yw_body_copy_transform(body, copy);
    assert_near(t.position.x, 1 + 10 * (copy % 2), 0);
    assert_near(t.position.y, 2, 0);
    assert_near(t.position.z, 3 + 30 * (copy / 2), 0);
    yw_look look = yw_scene_body_look(scene, copy);
    assert_near(look.color.x, copy % 2 == 0, 1e-6);
    assert_near(look.color.y, copy % 2 == 1, 1e-6);
  }
  yw_scene_destroy(scene);
}

static void paint_covers_what_is_inside_its_shapes(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      BODY(CUBE
           ", \"color\": [1, 0, 0], \"paint\": [\n"
           "{\"shape\": {\"sphere\": {\"radius\": 1}}, \"color\": [0, 1, 0], \"blend\": 0.2},\n"
           "{\"shape\": {\"sphere\": {\"radius\": 0.5}}, \"color\": [0, 0, 1], \"blend\": 0}]"));
  // Outside, in the middle of the border, under one layer of paint, under two.
  static const float reach[] = {1.2f, 1.0f, 0.8f, 0.4f};
  static const yw_vec3 expected[] = {{1, 0, 0}, {0.5f, 0.5f, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 4; i++) {
    yw_vec3 color = yw_scene_body_look(scene, 0).color;
    assert_true(yw_scene_body_paint(scene, 0, (yw_vec3){reach[i], 0, 0}, &color));
    assert_near(color.x, expected[i].x, 1e-5);
    assert_near(color.y, expected[i].y, 1e-5);
    assert_near(color.z, expected[i].z, 1e-5);
  }
  yw_scene_destroy(scene);
  scene = scene_of(BODY(CUBE));
  yw_vec3 color = {0, 0, 0};
  assert_false(yw_scene_body_paint(scene, 0, color, &color));
  // Bodies that are not there have neither paint nor the file of a surface.
  for (int32_t body = -1; body <= 1; body += 2) {
    assert_false(yw_scene_body_paint(scene, body, color, &color));
    assert_null(yw_scene_body_surface_file(scene, body));
  }
  yw_scene_destroy(scene);
}

static void jitter_is_bounded_and_repeatable(void** state) {
  (void)state;
  const char* text = BODY(CUBE
                          ", \"repeat\": {\"count\": [10, 10, 10], \"spacing\": [0, 0, 0], "
                          "\"jitter\": 0.5, \"turn\": 30, \"seed\": 4}");
  yw_scene *a = scene_of(text), *b = scene_of(text);
  double most = 0, least_w = 1, sum = 0;
  for (int copy = 0; copy < 1000; copy++) {
    yw_transform t = yw_body_copy_transform(&a->bodies.items[0], copy);
    yw_transform u = yw_body_copy_transform(&b->bodies.items[0], copy);
    assert_memory_equal(&t, &u, sizeof t);
    most = fmax(most, fmax(fabs(t.position.x), fmax(fabs(t.position.y), fabs(t.position.z))));
    least_w = fmin(least_w, t.rotation.w);
    sum += t.position.x;
  }
  assert_at_most(most, 0.5);
  assert_at_least(most, 0.49);
  assert_at_least(least_w, cos(15.01 * 3.14159265 / 180));
  assert_near(sum / 1000, 0, 0.05);
  yw_scene_destroy(a);
  yw_scene_destroy(b);
}

static void copies_start_one_after_another(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      BODY(CUBE ", \"start\": 0.1, \"repeat\": {\"count\": [3, 1, 1], \"spacing\": [4, 0, 0], "
                "\"interval\": 0.1}"));
  yw_world* world = NULL;
  yw_error error = {0};
  assert_int_equal(yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error), YW_OK);
  for (int tenths = 0; tenths <= 3; tenths++) {
    for (int i = 0; i < 3; i++) {
      assert_int_equal(yw_body_is_active(world, yw_world_body(world, i)), tenths > i);
    }
    for (int k = 0; k < 6; k++) assert_int_equal(yw_world_step(world, 1 / 60.0f, 1, NULL), YW_OK);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void pins_select_in_the_place_where_the_body_begins(void** state) {
  (void)state;
  yw_scene* scene = scene_of(BODY(
      CUBE
      ", \"position\": [5, 0, 0], \"rotation\": {\"axis\": \"z\", \"degrees\": 90}, \"pins\": [\n"
      "{\"select\": {\"box\": {\"size\": [2, 0.1, 2], \"center\": [5, 0.5, 0]}}, \"path\": "
      "[{\"time\": 0}, {\"time\": 1, \"offset\": [0, 1, 0]}]},\n"
      "{\"vertices\": [3, 1], \"spring\": {\"stiffness\": 10, \"damping\": 2}}]"));
  const yw_pin_spec* pins = scene->bodies.items[0].pin_list;
  // Rotated by 90 degrees about z, the side x = 0.5 of the cube is on top.
  assert_int_equal(pins[0].num_vertices, 9);
  for (int i = 0; i < 9; i++) {
    assert_near(scene->models.items[0].tets.positions[pins[0].list[i]].x, 0.5, 1e-6);
  }
  assert_near(pins[0].motion.pivot.x, 5, 1e-5);
  assert_near(pins[0].motion.pivot.y, 0.5, 1e-5);
  assert_int_equal(pins[0].motion.num_keys, 2);
  assert_near(pins[0].motion.list[1].offset.y, 1, 0);
  assert_near(pins[0].stiffness, 0, 0);
  assert_int_equal(pins[1].num_vertices, 2);
  assert_int_equal(pins[1].list[0], 3);
  assert_near(pins[1].stiffness, 10, 0);
  assert_near(pins[1].damping, 2, 0);
  yw_scene_destroy(scene);
}

static void deformations_make_poses(void** state) {
  (void)state;
  yw_scene* scene = scene_of(CUBE_WITH(
      "\"examples\": [{\"deform\": {\"stretch\": {\"axis\": \"x\", \"amount\": 1}}},\n"
      "{\"deform\": [{\"move\": [0, 1, 0]}, {\"turn\": {\"axis\": \"y\", \"degrees\": 90}}]},\n"
      "{\"deform\": {\"move\": [0, 0, 2], \"where\": {\"plane\": {}}, \"blend\": 0}}],\n"
      "\"start_pose\": 1"));
  const yw_model_spec* model = &scene->models.items[0];
  for (int i = 0; i < model->tets.num_vertices; i++) {
    yw_vec3 p = model->tets.positions[i], a = model->examples[0][i], b = model->examples[1][i],
            c = model->examples[2][i];
    assert_near(a.x, 2 * p.x, 1e-6);
    assert_near(a.y, p.y, 1e-6);
    assert_near(b.x, p.z, 1e-6);
    assert_near(b.y, p.y + 1, 1e-6);
    assert_near(b.z, -p.x, 1e-6);
    assert_near(c.z, p.z + (p.y <= 0 ? 2 : 0), 1e-6);
  }
  assert_ptr_equal(scene->bodies.items[0].pose, model->examples[1]);
  yw_scene_destroy(scene);
}

static void shapes_are_scaled_turned_and_moved_in_this_order(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"shapes\": {\"rod\": {\"capsule\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0], \"radius\": "
      "0.1}}},\n\"bodies\": [], \"obstacles\": [\n"
      "{\"shape\": {\"use\": \"rod\", \"scale\": 2, \"rotate\": {\"axis\": \"z\", \"degrees\": 90},"
      " \"move\": [5, 0, 0]}},\n"
      "{\"shape\": {\"cylinder\": {\"radius\": 0.5, \"height\": 4, \"axis\": \"z\", \"center\": "
      "[0, 1, 0]}}},\n"
      "{\"shape\": {\"plane\": {\"normal\": [0, 2, 0], \"point\": [7, 3, 7]}}},\n"
      "{\"shape\": {\"box\": {\"size\": [2, 4, 6]}, \"rotate\": [{\"axis\": \"x\", \"degrees\": "
      "90}, {\"axis\": \"y\", \"degrees\": 90}]}}]}");
  const yw_shape* rod = yw_scene_obstacle_shape(scene, 0);
  assert_near(yw_shape_distance(rod, (yw_vec3){5, 2, 0}), -0.2, 1e-5);
  assert_near(yw_shape_distance(rod, (yw_vec3){5, 3, 0}), 0.8, 1e-5);
  const yw_shape* cylinder = yw_scene_obstacle_shape(scene, 1);
  assert_near(yw_shape_distance(cylinder, (yw_vec3){0, 1, 2.5f}), 0.5, 1e-5);
  assert_near(yw_shape_distance(cylinder, (yw_vec3){0, 2, 0}), 0.5, 1e-5);
  assert_near(yw_shape_distance(yw_scene_obstacle_shape(scene, 2), (yw_vec3){0, 4, 0}), 1, 1e-5);
  // (2, 4, 6) about x becomes (2, 6, 4), then about y (4, 6, 2).
  const yw_shape* box = yw_scene_obstacle_shape(scene, 3);
  assert_near(yw_shape_distance(box, (yw_vec3){3, 0, 0}), 1, 1e-5);
  assert_near(yw_shape_distance(box, (yw_vec3){0, 4, 0}), 1, 1e-5);
  assert_near(yw_shape_distance(box, (yw_vec3){0, 0, 2}), 1, 1e-5);
  yw_scene_destroy(scene);
}

static void subdividing_keeps_a_surface_closed(void** state) {
  (void)state;
  yw_scene* scene = scene_of(CUBE_WITH("\"surface\": {\"subdivide\": 2}"));
  const yw_tri_mesh* surface = yw_model_surface(scene->models.items[0].model);
  // 6 sides of 2 x 2 cells of 2 triangles, each cut into 16; Euler: V = T / 2 + 2.
  assert_int_equal(surface->num_triangles, 48 * 16);
  assert_int_equal(surface->num_vertices, 48 * 8 + 2);
  yw_scene_destroy(scene);
}

static void labels_come_from_the_first_shape_around_a_vertex(void** state) {
  (void)state;
  yw_scene* scene = scene_of(CUBE_WITH(
      "\"examples\": [{\"deform\": {\"twist\": {\"degrees\": 90}}}], \"match\": {\"groups\": [\n"
      "{\"shape\": {\"plane\": {\"offset\": -0.1}}}, {\"shape\": {\"plane\": {\"offset\": 0.1}}, "
      "\"label\": 9}]}"));
  // The same with a label for every vertex: 9 of them in each of three layers.
  char given[400] = "{\"bodies\": [{" CUBE
                    ", \"examples\": [{\"deform\": {\"twist\": {\"degrees\": 90}}}], "
                    "\"match\": {\"groups\": [";
  const yw_model_spec* model = &scene->models.items[0];
  for (int i = 0; i < 27; i++) {
    float y = model->tets.positions[i].y;
    const char* label = y < -0.1f ? "1" : y < 0.1f ? "9" : "0";
    snprintf(given + strlen(given), sizeof given - strlen(given), "%s%s", i ? ", " : "", label);
  }
  snprintf(given + strlen(given), sizeof given - strlen(given), "]}}]}");
  yw_scene* same = scene_of(given);
  assert_true(model->model->hash == same->models.items[0].model->hash);
  yw_scene_destroy(same);
  yw_world* world = world_of(scene);
  assert_int_equal(yw_body_match_weights(world, yw_world_body(world, 0), NULL, 0), 3);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Files -------------------------------------------------------------------------------------------

static void write_file(const char* path, const char* text) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void labels_come_from_paint(void** state) {
  (void)state;
  // A wall whose paint is 0.625, 0.25 and -0.125 at the heights of the three layers.
  write_file("scene_paint.ply",
             "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
             "property float z\nproperty float quality\nelement face 1\n"
             "property list uchar int vertex_indices\nend_header\n"
             "0 -1 -1 1\n0 -1 1 1\n0 1 1 -0.5\n0 1 -1 -0.5\n4 0 1 2 3\n");
#define GROUPED(selector)                                                          \
  CUBE_WITH(                                                                       \
      "\"examples\": [{\"deform\": {\"twist\": {\"degrees\": 90}}}], \"match\": {" \
      "\"groups\": [" selector "]}")
  yw_scene* painted = scene_at(
      "a.json",
      GROUPED("{\"painted\": {\"file\": \"scene_paint.ply\", \"attribute\": \"quality\"}}"), NULL);
  yw_scene* lower =
      scene_at("a.json", GROUPED("{\"shape\": {\"plane\": {\"offset\": -0.1}}}"), NULL);
  yw_scene* upper =
      scene_at("a.json",
               GROUPED("{\"painted\": {\"file\": \"scene_paint.ply\", \"attribute\": \"quality\", "
                       "\"range\": [0.8, -0.2]}}"),
               NULL);
  remove("scene_paint.ply");
  uint64_t hash = painted->models.items[0].model->hash;
  assert_true(hash == lower->models.items[0].model->hash);
  assert_true(hash != upper->models.items[0].model->hash);
  yw_scene_destroy(painted);
  yw_scene_destroy(lower);
  yw_scene_destroy(upper);
}

static void an_example_of_another_size_is_an_error(void** state) {
  (void)state;
  write_file("scene_test.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const char* text = CUBE_WITH("\n\"examples\": [{\"file\": \"scene_test.obj\"}]");
  yw_scene* scene = NULL;
  yw_error error = {0};
  yw_status status = read_scene_text(text, "a.json", &scene, NULL, &error);
  remove("scene_test.obj");
  assert_int_equal(status, YW_ERR_FORMAT);
  assert_string_equal(error.message,
                      "a.json:2:23: bodies[0].examples[0].file is \"scene_test.obj\" with 3 "
                      "vertices, but the mesh has 27");
}

// A mesh, a surface and poses of both from files, with the same scale.
static void meshes_surfaces_and_poses_come_from_files(void** state) {
  (void)state;
  write_file("scene_tet.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  write_file("scene_tet.ele", "1 4 0\n0 0 1 2 3\n");
  write_file("scene_pose.node", "4 3 0 0\n0 0 0 0\n1 2 0 0\n2 0 1 0\n3 0 0 1\n");
  const char* faces = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  char text[400];
  snprintf(text, sizeof text, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n%s", faces);
  write_file("scene_skin.obj", text);
  snprintf(text, sizeof text, "v 0 0 0\nv 1 0 0\nv 0 3 0\nv 0 0 1\n%s", faces);
  write_file("scene_skin_pose.obj", text);
  const char* scene_text = BODY(
      "\"mesh\": {\"file\": \"scene_tet.node\", \"scale\": 10}, \"surface\": {\"file\": "
      "\"scene_skin.obj\", \"subdivide\": 1}, \"examples\": [{\"file\": "
      "\"scene_pose.node\"}, {\"surface_file\": \"scene_skin_pose.obj\"}]");
  yw_scene* scene = NULL;
  yw_error error = {0};
  yw_status status = read_scene_text(scene_text, "a.json", &scene, NULL, &error);
  static const char* const files[] = {"scene_tet.node", "scene_tet.ele", "scene_pose.node",
                                      "scene_skin.obj", "scene_skin_pose.obj"};
  for (int i = 0; i < 5; i++) remove(files[i]);
  if (status < 0) fail_msg("%s", error.message);
  const yw_model_spec* model = &scene->models.items[0];
  assert_near(model->tets.positions[1].x, 10, 0);
  assert_near(model->examples[0][1].x, 20, 0);
  assert_near(model->examples[1][2].y, 30, 1e-3);
  assert_int_equal(yw_model_surface(model->model)->num_triangles, 16);
  yw_scene_destroy(scene);
}

// Rigid bodies take the triangles of a file as they are, whatever the case of its ending; other
// files are filled with tets.
static void rigid_bodies_take_triangles_of_files(void** state) {
  (void)state;
  static const char* const names[] = {"scene_hull.obj", "scene_hull.OBJ"};
  for (int i = 0; i < 2; ++i) {
    write_file(names[i],
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    char text[200];
    snprintf(text, sizeof text, "{\"bodies\": [{\"mesh\": {\"file\": \"%s\"}, \"rigid\": {}}]}",
             names[i]);
    yw_scene* scene = NULL;
    yw_error error = {0};
    yw_status status = read_scene_text(text, "a.json", &scene, NULL, &error);
    remove(names[i]);
    if (status < 0) fail_msg("%s", error.message);
    assert_int_equal(scene->models.items[0].tets.num_tets, 0);
    assert_int_equal(yw_model_surface(scene->models.items[0].model)->num_triangles, 4);
    yw_scene_destroy(scene);
  }
}

#define CUBOID_OBJ                                                                      \
  "v 3 0 0\nv 7 0 0\nv 7 2 0\nv 3 2 0\nv 3 0 2\nv 7 0 2\nv 7 2 2\nv 3 2 2\nf 1 4 3 2\n" \
  "f 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"

// The surface of the file is shown as it is, wherever the shape was moved; another file in
// "surface" moves along.
static void bodies_show_the_surface_they_are_made_of(void** state) {
  (void)state;
  write_file("scene_cuboid.obj", CUBOID_OBJ);
  static const char* const extras[] = {"", ", \"surface\": {\"file\": \"scene_cuboid.obj\"}"};
  for (int k = 0; k < 2; k++) {
    char text[600];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"shape\": {\"mesh\": {\"file\": \"scene_cuboid.obj\", \"fit\": 1}, "
             "\"move\": [0, 5, 0], \"scale\": 3, \"rotate\": {\"axis\": [0, 0, 1], \"degrees\": "
             "90}}%s}]}",
             extras[k]);
    yw_scene* scene = NULL;
    yw_error error = {0};
    yw_status status = read_scene_text(text, "a.json", &scene, NULL, &error);
    if (status < 0) fail_msg("%s", error.message);
    const yw_tri_mesh* surface = yw_model_surface(scene->models.items[0].model);
    assert_int_equal(surface->num_vertices, 8);
    assert_int_equal(surface->num_triangles, 12);
    assert_at_most(yw_distance(surface->positions[0], yw_v3(0.75f, 3.5f, -0.75f)), 1e-5);
    assert_at_most(yw_distance(surface->positions[6], yw_v3(-0.75f, 6.5f, 0.75f)), 1e-5);
    yw_scene_destroy(scene);
  }
  remove("scene_cuboid.obj");
}

static void append_box(char* text, size_t room, int number, yw_vec3 low, yw_vec3 high) {
  static const int faces[6][4] = {{1, 4, 3, 2}, {5, 6, 7, 8}, {1, 2, 6, 5},
                                  {2, 3, 7, 6}, {3, 4, 8, 7}, {4, 1, 5, 8}};
  for (int k = 0; k < 8; k++) {
    bool right = k % 4 == 1 || k % 4 == 2, up = k % 4 >= 2;
    size_t used = strlen(text);
    snprintf(text + used, room - used, "v %g %g %g\n", (double)(right ? high.x : low.x),
             (double)(up ? high.y : low.y), (double)(k >= 4 ? high.z : low.z));
  }
  for (int k = 0; k < 6; k++) {
    size_t used = strlen(text);
    const int* f = faces[k];
    snprintf(text + used, room - used, "f %d %d %d %d\n", f[0] + 8 * number, f[1] + 8 * number,
             f[2] + 8 * number, f[3] + 8 * number);
  }
}

// Parts that pass through each other become one sheet, with a handle that is a third as thick as
// the triangles are long.
static void sheets_of_crossing_parts_keep_handles(void** state) {
  (void)state;
  char file[4000] = "";
  append_box(file, sizeof file, 0, yw_v3(-0.5f, -0.5f, -0.5f), yw_v3(0.5f, 0.5f, 0.5f));
  append_box(file, sizeof file, 1, yw_v3(0.4f, 0.3f, -0.05f), yw_v3(1, 0.4f, 0.05f));
  append_box(file, sizeof file, 2, yw_v3(0.4f, -0.4f, -0.05f), yw_v3(1, -0.3f, 0.05f));
  append_box(file, sizeof file, 3, yw_v3(0.9f, -0.4f, -0.05f), yw_v3(1, 0.4f, 0.05f));
  write_file("scene_handle.obj", file);
  yw_scene* scene = NULL;
  yw_error error = {0};
  yw_status status = read_scene_text(
      "{\"bodies\": [{\"sheet\": {\"size\": 0.28, \"thickness\": 0.01, \"shape\": {\"mesh\": "
      "{\"file\": \"scene_handle.obj\"}}}, \"slender\": {}}]}",
      "a.json", &scene, NULL, &error);
  if (status < 0) fail_msg("%s", error.message);
  const yw_model_spec* model = &scene->models.items[0];
  // Particles along the handle, from one end to the other.
  bool found[3] = {false, false, false};
  for (int32_t i = 0; i < yw_model_num_particles(model->model); i++) {
    yw_vec3 x = model->points[i];
    if (x.x > 0.89f) found[x.y < -0.1f ? 0 : x.y > 0.1f ? 2 : 1] = true;
  }
  assert_true(found[0] && found[1] && found[2]);
  yw_scene_destroy(scene);
  remove("scene_handle.obj");
}

// Schema and reference ----------------------------------------------------------------------------

typedef struct text_pile {
  size_t size;
  char text[400000];
} text_pile;

static void pile_up(void* context, const char* text) {
  text_pile* pile = context;
  size_t length = strlen(text);
  assert_true(pile->size + length < sizeof pile->text);
  memcpy(pile->text + pile->size, text, length + 1);
  pile->size += length;
}

// Every $ref in the schema can be resolved.
static void check_references(const yw_json* node, const yw_json* defs) {
  for (int32_t i = 0;
       i < node->count && (node->type == YW_JSON_OBJECT || node->type == YW_JSON_ARRAY); i++) {
    const yw_json* item = node->items[i];
    if (item->key && strcmp(item->key, "$ref") == 0) {
      static const char start[] = "#/$defs/";
      assert_int_equal(strncmp(item->string, start, strlen(start)), 0);
      if (!yw_json_get(defs, item->string + strlen(start)))
        fail_msg("%s leads nowhere", item->string);
    }
    check_references(item, defs);
  }
}

static void check_record(const yw_record* record, const yw_json* root) {
  bool whole = strcmp(record->name, "scene") == 0;
  const yw_json* schema = whole ? root : yw_json_get(yw_json_get(root, "$defs"), record->name);
  const yw_json* properties = yw_json_get(schema, "properties");
  if (!properties) fail_msg("the schema has no properties of %s", record->name);
  assert_true(strlen(record->about) > 0);
  for (int32_t k = 0; k < record->num_keys; k++) {
    const yw_key_row* f = &record->keys[k];
    if (strlen(f->about) == 0) fail_msg("%s.%s is not described", record->name, f->name);
    assert_non_null(yw_json_get(properties, f->name));
  }
}

// The schema is JSON, describes every key of every record, and has the reader's ranges.
static void the_schema_tells_what_the_reader_knows(void** state) {
  (void)state;
  static text_pile pile;
  pile.size = 0;
  yw_scene_write_schema(pile_up, &pile);
  yw_json_doc* doc = NULL;
  yw_error error = {0};
  if (yw_json_parse(NULL, "schema", pile.text, pile.size, &doc, &error) < 0) {
    fail_msg("%s", error.message);
  }
  const yw_json* root = yw_json_root(doc);
  const yw_json* defs = yw_json_get(root, "$defs");
  for (int32_t i = 0; i < yw_num_scene_records; i++) check_record(yw_scene_records[i], root);
  for (int32_t i = 0; yw_scene_methods[i]; i++) {
    const yw_scene_method* method = yw_scene_methods[i];
    check_record(method->record, root);
    const yw_json* model = yw_json_get(yw_json_get(defs, "model"), "properties");
    assert_non_null(yw_json_get(model, method->name));
  }
  check_references(root, defs);
  const yw_json* beta = yw_json_get(yw_json_get(yw_json_get(defs, "match"), "properties"), "beta");
  assert_near(yw_json_get(beta, "maximum")->number, 1, 0);
  assert_near(yw_json_get(beta, "default")->number, 0.95, 0);
  const yw_json* fps = yw_json_get(yw_json_get(root, "properties"), "fps");
  assert_near(yw_json_get(fps, "exclusiveMinimum")->number, 0, 0);
  yw_json_free(doc);
}

static void defaults_are_those_of_the_library(void** state) {
  (void)state;
  yw_match_def match = yw_default_match_def();
  yw_body_def body = yw_default_body_def();
  yw_obstacle_def obstacle = yw_default_obstacle_def();
  yw_world_def world = yw_default_world_def();
  yw_scene* scene = scene_of("{\"floor\": true, \"bodies\": [{" CUBE "}]}");
  const yw_body_spec* spec = &scene->bodies.items[0];
  assert_near(body_setting(scene, 0, "alpha"), match.params.alpha, 0);
  assert_near(body_setting(scene, 0, "beta"), match.params.beta, 0);
  assert_near(body_setting(scene, 0, "damping"), match.params.damping, 0);
  assert_near(body_setting(scene, 0, "viscosity"), match.params.viscosity, 0);
  assert_near(body_setting(scene, 0, "projection"), match.params.projection, 0);
  assert_near(spec->keys.density, match.density, 0);
  assert_near(spec->friction, body.friction, 0);
  assert_near(spec->restitution, body.restitution, 0);
  assert_int_equal(spec->body_contact, body.body_contact);
  assert_int_equal(spec->self_contact, body.self_contact);
  assert_near(scene->obstacles.items[0].friction, obstacle.friction, 0);
  assert_near(scene->obstacles.items[0].restitution, obstacle.restitution, 0);
  assert_memory_equal(&scene->gravity, &world.gravity, sizeof world.gravity);
  assert_int_equal(scene->contact_iterations, world.contact_iterations);
  yw_scene_destroy(scene);
}

// Worlds ------------------------------------------------------------------------------------------

static const char full_scene[] =
    "{\"floor\": {\"height\": -2}, \"gravity\": [0, -10, 0],\n"
    "\"models\": {\"m\": {\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 3}}, \"density\": 800,\n"
    "\"examples\": [{\"name\": \"t\", \"deform\": {\"twist\": {\"degrees\": 90}}}], \"surface\": "
    "{\"subdivide\": 1}}},\n"
    "\"bodies\": [{\"name\": \"row\", \"model\": \"m\", \"position\": [0, 1, 0], \"repeat\": "
    "{\"count\": [3, 1, 1], \"spacing\": [2, 0, 0]}, \"match\": {\"beta\": 0.5}},\n"
    "{\"model\": \"m\", \"position\": [0, 1, 5], \"start_pose\": \"t\", \"pins\": [{\"select\": "
    "{\"plane\": {\"offset\": 0.6}}}]}],\n"
    "\"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 0.5}}, \"position\": [0, -1, 0], "
    "\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [1, 0, 0]}]}]}";

static void a_full_scene_builds_and_steps(void** state) {
  (void)state;
  yw_scene* scene = scene_of(full_scene);
  yw_world* world = world_of(scene);
  assert_int_equal(yw_world_num_bodies(world), 4);
  assert_string_equal(yw_body_name(world, yw_world_body(world, 0)), "row[0]");
  assert_string_equal(yw_body_name(world, yw_world_body(world, 3)), "bodies[1]");
  yw_match_params params;
  assert_int_equal(yw_body_match_params(world, yw_world_body(world, 1), &params), YW_OK);
  assert_near(params.beta, 0.5, 0);
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, yw_world_body(world, 2), &sums), YW_OK);
  assert_near(sums.mass, 800, 0.1);
  assert_near(sums.center[0], 4, 1e-4);
  for (int frame = 0; frame < 30; frame++) {
    assert_true(yw_world_step(world, 1.0f / 60, 4, NULL) >= 0);
  }
  // Half a second of free fall, to the first order of the integrator.
  assert_int_equal(yw_body_sums_of(world, yw_world_body(world, 2), &sums), YW_OK);
  assert_near(sums.center[1], 1 - 0.5 * 10 * 0.25, 0.02);
  // Pinned vertices stay.
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 3), &count);
  const yw_pin_spec* pin = &scene->bodies.items[1].pin_list[0];
  assert_int_equal(pin->num_vertices, 16);
  for (int i = 0; i < 16; i++) assert_near(x[pin->list[i]].y, 0.5, 1e-5);
  yw_transform pose;
  assert_int_equal(yw_obstacle_pose(world, yw_scene_obstacle_id(scene, 1), 0.5, &pose), YW_OK);
  assert_near(pose.position.x, 0.5, 1e-4);
  // The world does not depend on the scene.
  yw_scene_destroy(scene);
  assert_true(yw_world_step(world, 1.0f / 60, 4, NULL) >= 0);
  yw_world_destroy(world);
}

static void check_gallery_scene(const char* path) {
  yw_scene* scene = NULL;
  yw_error error = {0}, warning = {0};
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  if (yw_scene_read(&def, &scene, &warning, &error) < 0) {
    fail_msg("%s", error.message);
  }
  assert_string_equal(warning.message, "");
  assert_true(yw_scene_info_of(scene).has_camera);
  assert_true(strlen(yw_scene_info_of(scene).description) > 0);
  yw_world* world = world_of(scene);
  yw_step_report report;
  assert_true(yw_world_step(world, 1.0f / 60, 4, &report) >= 0);
  assert_int_equal(report.diverged_bodies, 0);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void every_scene_of_the_gallery_builds_and_steps(void** state) {
  (void)state;
  static const char folder[] = YW_SOURCE_DIR "/scenes/gallery";
  int count = 0;
  DIR* dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent* entry; (entry = readdir(dir));) {
    char path[600];
    if (!strstr(entry->d_name, ".json")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    check_gallery_scene(path);
    count++;
  }
  closedir(dir);
  assert_at_least(count, 7);
}

// The examples in the documentation are scenes.
static void every_example_of_the_documentation_builds(void** state) {
  (void)state;
  char* text = read_document("scenes.md");
  int count = 0;
  static const char begin[] = "```json\n";
  for (char* p = text; (p = strstr(p, begin)); count++) {
    p += strlen(begin);
    char* end = strstr(p, "```");
    assert_non_null(end);
    *end = '\0';
    yw_scene* scene = scene_of(p);
    yw_world_destroy(world_of(scene));
    yw_scene_destroy(scene);
    p = end + 1;
  }
  assert_int_equal(count, 3);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_smallest_scene_has_sensible_defaults),
      cmocka_unit_test(equal_models_are_shared),
      cmocka_unit_test(copies_stand_on_a_grid_and_take_colors_in_turn),
      cmocka_unit_test(paint_covers_what_is_inside_its_shapes),
      cmocka_unit_test(jitter_is_bounded_and_repeatable),
      cmocka_unit_test(copies_start_one_after_another),
      cmocka_unit_test(pins_select_in_the_place_where_the_body_begins),
      cmocka_unit_test(deformations_make_poses),
      cmocka_unit_test(shapes_are_scaled_turned_and_moved_in_this_order),
      cmocka_unit_test(subdividing_keeps_a_surface_closed),
      cmocka_unit_test(labels_come_from_the_first_shape_around_a_vertex),
      cmocka_unit_test(labels_come_from_paint),
      cmocka_unit_test(an_example_of_another_size_is_an_error),
      cmocka_unit_test(rigid_bodies_take_triangles_of_files),
      cmocka_unit_test(meshes_surfaces_and_poses_come_from_files),
      cmocka_unit_test(bodies_show_the_surface_they_are_made_of),
      cmocka_unit_test(sheets_of_crossing_parts_keep_handles),
      cmocka_unit_test(the_schema_tells_what_the_reader_knows),
      cmocka_unit_test(defaults_are_those_of_the_library),
      cmocka_unit_test(a_full_scene_builds_and_steps),
      cmocka_unit_test(every_scene_of_the_gallery_builds_and_steps),
      cmocka_unit_test(every_example_of_the_documentation_builds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
