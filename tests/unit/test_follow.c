// SPDX-License-Identifier: MIT
// Vertices that follow an animated mesh: where they go, how strongly, torn targets, files,
// mistakes.
#include "support/method_world.h"
#include "support/scene_text.h"
#include "support/temporary_folder.h"
#include "yawara/extend/point_cache.h"
#include "yawara/extend/vec.h"
#include "yawara/yawara.h"

#define BOX "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}}"
#define FRAMES 11

// The lattice of BOX, 27 points, that rises by `rise` m per frame and turns about y.
static void points_at(int frame, double rise, yw_vec3 out[27]) {
  for (int i = 0; i < 27; ++i) {
    float x = (float)(i % 3) * 0.5f - 0.5f, y = (float)(i / 3 % 3) * 0.5f - 0.5f;
    float z = (float)(i / 9) * 0.5f - 0.5f, turn = 0.05f * (float)frame;
    out[i] = (yw_vec3){x + turn * z, y + (float)(rise * frame), z - turn * x};
  }
}

static void write_cache(const char* path, double rise, double fps) {
  yw_point_cache_writer cache;
  yw_point_cache_def def = {.num_points = 27, .fps = fps};
  assert_int_equal(yw_point_cache_open(&cache, path, &def, NULL, NULL), YW_OK);
  for (int i = 0; i < FRAMES; ++i) {
    yw_vec3 points[27];
    points_at(i, rise, points);
    assert_int_equal(yw_point_cache_append(&cache, points, NULL), YW_OK);
  }
  assert_int_equal(yw_point_cache_close(&cache, NULL), YW_OK);
}

static yw_follow_def follow_of(yw_body_id body, const int32_t* vertices, const yw_vec3* targets) {
  yw_follow_def def = yw_default_follow_def();
  def.body = body;
  def.vertices = vertices;
  def.num_vertices = 8;
  def.targets = targets;
  def.num_frames = 2;
  return def;
}

// Vertices of a body of every method are where the animation is, also between its frames.
static void vertices_are_at_their_targets(void** state) {
  (void)state;
  char path[300], text[700];
  snprintf(path, sizeof path, "%s/a.pc2", folder);
  write_cache(path, 0.02, 20);
  static const char* const methods[] = {"match", "frames", "fem"};
  for (int m = 0; m < 3; ++m) {
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"%s\": {%s}, " BOX
             ", \"pins\": [{\"select\": {\"box\": {\"size\": [2, 0.2, 2], \"center\": [0, 0.5, "
             "0]}}, \"follow\": {\"file\": \"%s\", \"fps\": 20}}]}]}",
             methods[m], m == 2 ? "\"max_level\": 0" : "", path);
    yw_scene* scene = scene_of(text);
    assert_int_equal(yw_scene_num_files(scene), 2);
    yw_world* world = world_of(scene);
    for (int step = 0; step < 15; ++step) yw_world_step(world, 0.025f, 3, NULL);
    // 0.375 s are 7.5 frames.
    yw_vec3 a[27], b[27];
    points_at(7, 0.02, a);
    points_at(8, 0.02, b);
    const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), NULL);
    for (int i = 0; i < 27; ++i) {
      if (i / 3 % 3 != 2) continue;
      assert_near(x[i].x, 0.5 * (double)(a[i].x + b[i].x), 1e-5);
      assert_near(x[i].y, 0.5 * (double)(a[i].y + b[i].y), 1e-5);
      assert_near(x[i].z, 0.5 * (double)(a[i].z + b[i].z), 1e-5);
    }
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// Half a turn about y and a rise of 0.5 m, frame by frame.
static yw_vec3 turned(yw_vec3 p, int frame) {
  double angle = 3.14159265358979 * frame / (FRAMES - 1);
  float c = (float)cos(angle), s = (float)sin(angle);
  return (yw_vec3){c * p.x + s * p.z, p.y + 0.05f * (float)frame, c * p.z - s * p.x};
}

// MDD files know their speed. The nearest points carry a body of other vertices, and turn it: a
// motion that does not deform the points does not deform the body, whether they fill space, lie in
// a plane or in a row.
static void bodies_follow_the_nearest_points(void** state) {
  (void)state;
  static const char* const bodies[] = {
      "\"match\": {}, \"mesh\": {\"lattice\": {\"size\": 0.7, \"cells\": 3}}",
      "\"match\": {}, \"mesh\": {\"lattice\": {\"size\": [0.7, 0.2, 0.7], \"cells\": 3}}",
      "\"slender\": {}, \"rod\": {\"line\": {\"from\": [-0.4, 0, 0], \"to\": [0.4, 0, 0], "
      "\"count\": 6}}"};
  for (int m = 0; m < 3; ++m) {
    char path[300], text[700];
    snprintf(path, sizeof path, "%s/a%d.mdd", folder, m);
    yw_point_cache_writer cache;
    yw_point_cache_def def = {.num_points = 27, .fps = 30};
    assert_int_equal(yw_point_cache_open(&cache, path, &def, NULL, NULL), YW_OK);
    for (int frame = 0; frame < FRAMES; ++frame) {
      yw_vec3 points[27];
      points_at(0, 0, points);
      for (int i = 0; i < 27; ++i) {
        if (m > 0) points[i].y = 0;
        if (m > 1) points[i] = yw_v3((float)i / 13.0f - 1.0f, 0, 0);
        points[i] = turned(points[i], frame);
      }
      assert_int_equal(yw_point_cache_append(&cache, points, NULL), YW_OK);
    }
    assert_int_equal(yw_point_cache_close(&cache, NULL), YW_OK);
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{%s, \"pins\": [{\"select\": {\"box\": "
             "{\"size\": 3}}, \"follow\": {\"file\": \"%s\", \"by\": \"nearest\"}}]}]}",
             bodies[m], path);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    int32_t count;
    yw_vec3 rest[64];
    const yw_vec3* start = yw_body_positions(world, yw_world_body(world, 0), &count);
    assert_in_range(count, 6, 64);
    memcpy(rest, start, (size_t)count * sizeof *rest);
    for (int step = 0; step < 30; ++step) yw_world_step(world, 1 / 60.0f, 2, NULL);
    const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), NULL);
    for (int32_t i = 0; i < count; ++i) {
      assert_near(yw_distance(x[i], turned(rest[i], FRAMES - 1)), 0, 1e-4);
    }
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// A series of OBJ files, a painted strength: the upper half follows, the lower half is free.
static void painted_vertices_follow_a_series(void** state) {
  (void)state;
  char path[300], text[900];
  for (int frame = 0; frame < 3; ++frame) {
    yw_vec3 points[27];
    points_at(frame, 0.1, points);
    snprintf(path, sizeof path, "%s/walk_%03d.obj", folder, frame + 5);
    FILE* file = fopen(path, "w");
    for (int i = 0; i < 27; ++i) {
      fprintf(file, "v %.9g %.9g %.9g\n", (double)points[i].x, (double)points[i].y,
              (double)points[i].z);
    }
    fprintf(file, "f 1 2 3\n");
    fclose(file);
  }
  snprintf(path, sizeof path, "%s/paint.ply", folder);
  FILE* file = fopen(path, "w");
  fprintf(file,
          "ply\nformat ascii 1.0\nelement vertex 27\nproperty float x\nproperty float y\nproperty "
          "float z\nproperty float quality\nelement face 1\nproperty list uchar int "
          "vertex_indices\nend_header\n");
  for (int i = 0; i < 27; ++i) fprintf(file, "0 %d 0 %d\n", i, i / 3 % 3 == 2);
  fprintf(file, "3 0 1 2\n");
  fclose(file);
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"match\": {\"stiffness\": 5}, " BOX
           ", \"pins\": [{\"select\": {\"box\": {\"size\": 3}}, \"follow\": {\"file\": "
           "\"%s/walk_###.obj\", \"first\": 5, \"fps\": 10, \"paint\": \"%s\"}}]}]}",
           folder, path);
  yw_scene* scene = scene_of(text);
  assert_int_equal(yw_scene_num_files(scene), 5);
  yw_world* world = world_of(scene);
  for (int step = 0; step < 30; ++step) yw_world_step(world, 1 / 60.0f, 4, NULL);
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), NULL);
  assert_near(x[6].y, 0.7, 1e-5);
  // Those below hang on it and are stretched by their weight.
  assert_at_most(x[0].y, -0.31);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Springs of strength s pull with s / (1 - s): a weight sinks as far as that says.
static void strengths_are_springs(void** state) {
  (void)state;
  static const int32_t vertices[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int i = 0; i < 2; ++i) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_model* model = make_box_model(1, 1, 1, 0);
    yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
    yw_model_release(model);
    yw_body_sums before;
    yw_body_sums_of(world, body, &before);
    yw_vec3 targets[16];
    memcpy(targets, yw_body_positions(world, body, NULL), 8 * sizeof *targets);
    memcpy(targets + 8, targets, 8 * sizeof *targets);
    yw_follow_def def = follow_of(body, vertices, targets);
    float s = i == 0 ? 0.5f : 0.75f, strengths[8] = {s, s, s, s, s, s, s, s};
    def.strengths = strengths;
    def.stiffness = (float)before.mass * 100.0f;
    def.damping = (float)before.mass * 2.0f;
    yw_pin_id pin;
    assert_int_equal(yw_follow_create(world, &def, &pin, NULL), YW_OK);
    for (int k = 0; k < 400; ++k) yw_world_step(world, 1 / 60.0f, 4, NULL);
    // Springs and weight balance: sum of k d = m g.
    const yw_vec3* x = yw_body_positions(world, body, NULL);
    double drop = 0;
    for (int k = 0; k < 8; ++k) drop += (double)(targets[k].y - x[k].y) / 8;
    double stiffness = 8 * (double)def.stiffness * (i == 0 ? 1 : 3);
    double sag = before.mass * 9.81 / stiffness;
    assert_near(drop, sag, 0.01 * sag);
    assert_int_equal(yw_pin_move(world, pin, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1}),
                     YW_ERR_INVALID);
    assert_int_equal(yw_pin_destroy(world, pin), YW_OK);
    yw_world_destroy(world);
  }
}

// Targets that are torn 1000 m apart within a frame are followed at the largest speed; the body
// stays finite and comes back when they do.
static void torn_targets_do_not_diverge(void** state) {
  (void)state;
  static const char* const methods[] = {"match", "frames", "fem", "slender"};
  for (int m = 0; m < 4; ++m) {
    bool rod = m == 3;
    char text[500];
    snprintf(text, sizeof text, "{\"bodies\": [{\"%s\": {%s}, %s}]}", methods[m],
             m == 2 ? "\"max_level\": 0" : "",
             rod ? "\"rod\": {\"line\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0], \"count\": 8}, "
                   "\"radius\": 0.05}"
                 : BOX);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    yw_body_id body = yw_world_body(world, 0);
    int32_t count;
    const yw_vec3* x = yw_body_positions(world, body, &count);
    int32_t vertices[8];
    yw_vec3 targets[16];
    for (int k = 0; k < 8; ++k) {
      vertices[k] = k * (count / 8);
      targets[k] = x[vertices[k]];
      targets[8 + k] = (yw_vec3){k % 2 ? 1000.0f : -1000.0f, 50.0f * (float)k, 0};
    }
    yw_vec3 there_and_back[24];
    memcpy(there_and_back, targets, sizeof targets);
    memcpy(there_and_back + 16, targets, 8 * sizeof *targets);
    yw_follow_def def = follow_of(body, vertices, there_and_back);
    def.num_frames = 3;
    def.fps = 60;
    def.start = 0.1;
    yw_pin_id pin;
    yw_error error = {0};
    if (yw_follow_create(world, &def, &pin, &error) < 0) fail_msg("%s", error.message);
    yw_step_report report;
    int32_t diverged = 0;
    for (int k = 0; k < 120; ++k) {
      assert_true(yw_world_step(world, 1 / 60.0f, 4, &report) >= 0);
      diverged += report.diverged_bodies;
    }
    assert_int_equal(diverged, 0);
    x = yw_body_positions(world, body, NULL);
    for (int k = 0; k < 8; ++k) assert_near(x[vertices[k]].x, targets[k].x, 1e-3);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// A world that keeps its setup in snapshots brings targets and gusts back.
static void rollback_brings_targets_back(void** state) {
  (void)state;
  static const int32_t vertices[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  yw_world_def world_def = yw_default_world_def();
  world_def.threads = 1;
  world_def.rollback = true;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&world_def, &world), YW_OK);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  yw_vec3 targets[16];
  memcpy(targets, yw_body_positions(world, body, NULL), 8 * sizeof *targets);
  for (int k = 0; k < 8; ++k) targets[8 + k] = yw_add(targets[k], yw_v3(0.3f, 0, 0.1f));
  const float strengths[8] = {1, 0.5f, 0, 0.2f, 1, 0.9f, 0, 0.5f};
  yw_follow_def def = follow_of(body, vertices, targets);
  def.strengths = strengths;
  yw_pin_id pin;
  assert_int_equal(yw_follow_create(world, &def, &pin, NULL), YW_OK);
  yw_wind_def wind = yw_default_wind_def();
  wind.turbulence = 3;
  assert_int_equal(yw_world_set_wind(world, &wind), YW_OK);
  for (int i = 0; i < 2; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  size_t size = yw_world_snapshot_size(world);
  void* saved = malloc(size);
  assert_int_equal(yw_world_save(world, saved, size, NULL), YW_OK);
  for (int i = 0; i < 3; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  uint64_t later = yw_world_hash(world);
  assert_int_equal(yw_pin_destroy(world, pin), YW_OK);
  assert_int_equal(yw_world_set_wind(world, NULL), YW_OK);
  yw_world_step(world, 1 / 60.0f, 4, NULL);
  yw_error error = {0};
  if (yw_world_restore(world, saved, size, &error) != YW_OK) fail_msg("%s", error.message);
  for (int i = 0; i < 3; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  assert_true(yw_world_hash(world) == later);
  free(saved);
  yw_world_destroy(world);
}

static void refuse(yw_world* world, const yw_follow_def* def, const char* words) {
  yw_error error = {0};
  yw_pin_id id;
  assert_int_equal(yw_follow_create(world, def, &id, &error), YW_ERR_INVALID);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void mistakes_are_refused(void** state) {
  (void)state;
  static const int32_t vertices[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  yw_vec3 targets[16] = {{0}};
  float strengths[8] = {0};
  yw_follow_def def = follow_of(body, vertices, targets), bad = def;
  uint64_t before = yw_world_hash(world);
  bad.num_frames = 0;
  refuse(world, &bad, "no targets");
  bad = def;
  bad.fps = 0;
  refuse(world, &bad, "fps is 0");
  bad = def;
  bad.strengths = strengths;
  refuse(world, &bad, "0 everywhere");
  strengths[3] = 1.5f;
  refuse(world, &bad, "strength 3 is 1.5");
  bad = def;
  bad.max_speed = -1;
  refuse(world, &bad, "max_speed");
  bad = def;
  bad.body.generation += 2;
  refuse(world, &bad, "does not exist");
  static const int32_t wrong[8] = {0, 1, 2, 3, 4, 5, 6, 8};
  bad = def;
  bad.vertices = wrong;
  refuse(world, &bad, "vertex 8");
  targets[9].y = NAN;
  refuse(world, &def, "target 1 of frame 1 is not finite");
  assert_true(yw_world_hash(world) == before);
  yw_world_destroy(world);
}

static void refuse_scene(const char* follow, const char* words) {
  char text[900];
  snprintf(text, sizeof text,
           "{\"bodies\": [{" BOX ", \"pins\": [{\"vertices\": [0], \"follow\": {%s}}]}]}", follow);
  char path[300];
  snprintf(path, sizeof path, "%s/scene.json", folder);
  yw_scene* scene = NULL;
  yw_error error = {0};
  assert_true(read_scene_text(text, path, &scene, NULL, &error) < 0);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void mistakes_in_scenes_are_refused(void** state) {
  (void)state;
  char path[300];
  snprintf(path, sizeof path, "%s/a.pc2", folder);
  write_cache(path, 0, 20);
  refuse_scene("", "file");
  refuse_scene("\"file\": \"none.pc2\"", "none.pc2");
  refuse_scene("\"file\": \"none_##.obj\"", "none_00.obj");
  refuse_scene("\"file\": \"a.pc2\", \"paint\": \"b.ply\"", "b.ply");
  refuse_scene("\"file\": \"a.pc2\", \"strength\": 2", "strength is 2");
  // Cut short at every few bytes.
  FILE* file = fopen(path, "rb");
  static char whole[32 + FRAMES * 27 * 12];
  size_t size = fread(whole, 1, sizeof whole, file);
  fclose(file);
  for (size_t cut = 0; cut < size; cut += 97) {
    file = fopen(path, "wb");
    fwrite(whole, 1, cut, file);
    fclose(file);
    refuse_scene("\"file\": \"a.pc2\"", "a.pc2");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vertices_are_at_their_targets),
                                     cmocka_unit_test(bodies_follow_the_nearest_points),
                                     cmocka_unit_test(painted_vertices_follow_a_series),
                                     cmocka_unit_test(strengths_are_springs),
                                     cmocka_unit_test(torn_targets_do_not_diverge),
                                     cmocka_unit_test(rollback_brings_targets_back),
                                     cmocka_unit_test(mistakes_are_refused),
                                     cmocka_unit_test(mistakes_in_scenes_are_refused)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
