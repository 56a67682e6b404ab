// SPDX-License-Identifier: MIT
// A small run of every kind of body, in a folder, to be damaged.
#ifndef YW_TESTS_SUPPORT_SAMPLE_RUN_H
#define YW_TESTS_SUPPORT_SAMPLE_RUN_H

#include "playback/frame_values.h"
#include "playback/run_folder.h"
#include "playback/stage.h"
#include "support/temporary_folder.h"
#include "yawara/extend/memory.h"

#define NUM_FRAMES 3

// Every kind of body: a boundary, an embedded surface with paint, a rod with its own surface, a fem
// body with its own cells, particles; a plane and a mesh as obstacles.
static const char sample_run_scene[] =
    "{ \"floor\": true, \"substeps\": 1,\n"
    "  \"camera\": { \"eye\": [0, 1, 3], \"target\": [0, 0, 0] },\n"
    "  \"bodies\": [\n"
    "  { \"name\": \"plain\", \"mesh\": { \"lattice\": { \"size\": 1, \"cells\": [1, 1, 1] } },\n"
    "    \"position\": [3, 0, 0] },\n"
    "  { \"name\": \"carrier\", \"mesh\": { \"lattice\": { \"size\": 1, \"cells\": [1, 1, 1] } },\n"
    "    \"surface\": { \"shape\": { \"sphere\": { \"radius\": 0.4 } }, \"size\": 0.4 },\n"
    "    \"position\": [0, 0.5, 0],\n"
    "    \"paint\": [ { \"shape\": { \"sphere\": { \"radius\": 0.3 } }, \"color\": \"#ff0000\" } ] "
    "},\n"
    "  { \"name\": \"rod\", \"rod\": { \"line\": { \"from\": [0, 2, 0], \"to\": [1, 2, 0], "
    "\"count\": 3 },\n"
    "    \"radius\": 0.1 }, \"frames\": { \"youngs_modulus\": 1e5 } },\n"
    "  { \"name\": \"soft\", \"mesh\": { \"lattice\": { \"size\": 1, \"cells\": [1, 1, 1] } },\n"
    "    \"fem\": { \"max_level\": 0 }, \"position\": [6, 0, 0] },\n"
    "  { \"name\": \"clay\", \"shape\": { \"sphere\": { \"radius\": 0.2 } },\n"
    "    \"plastic\": { \"youngs_modulus\": 1e4, \"yield_stress\": 1e3, \"spacing\": 0.15 },\n"
    "    \"paint\": [ { \"shape\": { \"sphere\": { \"radius\": 0.1 } }, \"color\": \"#ff0000\" } ] "
    "} ],\n"
    "  \"obstacles\": [ { \"shape\": { \"box\": { \"size\": [1, 1, 1] } },\n"
    "    \"position\": [9, 0, 0] } ] }\n";

// Surfaces of shapes have thousands of triangles, of which damage would hardly meet a count.
static inline void make_small(shown_obstacle* obstacle) {
  static const yw_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  assert_false(obstacle->plane);
  yw_tri_mesh_free(&obstacle->surface);
  assert_int_equal(yw_tri_mesh_create(NULL, 4, 4, &obstacle->surface), YW_OK);
  memcpy(obstacle->surface.positions, corners, sizeof corners);
  memcpy(obstacle->surface.triangles, triangles, sizeof triangles);
}

/// Writes the run into the temporary folder; packed: with all frames in one file.
static inline void write_sample_run(bool packed) {
  yw_error error = {0};
  yw_scene* scene;
  yw_world* world;
  shown_scene* shown;
  yw_scene_def def = yw_default_scene_def();
  def.path = store_text("made.json", sample_run_scene);
  if (yw_scene_read(&def, &scene, NULL, &error) < 0) fail_msg("%s", error.message);
  assert_int_equal(yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error), YW_OK);
  assert_int_equal(shown_create(scene, world, &shown, &error), YW_OK);
  make_small(&shown->obstacles[shown->num_obstacles - 1]);
  run_info info = {.made_by = "test", .scene = "/made.json", .fps = 60, .substeps = 1};
  info.frames = info.frames_done = NUM_FRAMES - 1;
  info.packed = packed;
  assert_int_equal(run_info_take_files(scene, &info, &error), YW_OK);
  assert_int_equal(run_folder_make(folder, false, &error), YW_OK);
  assert_int_equal(run_folder_write_shown(folder, scene, NULL, shown, &info, &error), YW_OK);
  frame_pack pack = {0};
  if (packed) assert_int_equal(run_folder_open_pack(folder, 0, &pack, &error), YW_OK);
  frame_cells known[5] = {0};
  for (int32_t i = 0; i < NUM_FRAMES; ++i) {
    const frame_def taken = {world, scene, i, "all", known, false};
    frame_data frame;
    assert_int_equal(frame_take(&taken, &frame, &error), YW_OK);
    assert_int_equal(run_folder_write_frame(folder, &info, packed ? &pack : NULL, &frame, &error),
                     YW_OK);
    frame_free(&frame);
  }
  if (packed) assert_int_equal(frame_pack_flush(&pack, &error), YW_OK);
  frame_pack_close(&pack);
  assert_int_equal(run_info_write(folder, &info, &error), YW_OK);
  run_info_free(&info);
  shown_destroy(shown);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

/// Looks at everything in a frame the way pictures and exports do.
static inline void use_frame(const shown_scene* shown, stage* s, const frame_data* frame) {
  yw_error error = {0};
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    const frame_body* body = &frame->bodies[i];
    const shown_model* model = shown_model_of(shown, i);
    const int32_t* tets = frame_tets(body, model);
    for (int64_t k = 0; k < 4 * (int64_t)body->num_cells; ++k) {
      assert_in_range(tets[k], 0, body->num_particles - 1);
    }
    int32_t most = model->surface.num_vertices;
    if (most < body->num_particles) most = body->num_particles;
    float* values = YW_NEW_ARRAY(NULL, float, most);
    int32_t* carriers = NULL;
    for (int32_t f = 0; f < body->num_fields; ++f) {
      frame_shown_values(body, model, &body->fields[f], &carriers, values);
    }
    yw_mem_free(NULL, carriers);
    yw_mem_free(NULL, values);
  }
  assert_int_equal(stage_show(s, frame, &error), YW_OK);
  stage_picture(s, stage_box(s), 16, 16);
}

#endif
