// SPDX-License-Identifier: MIT
// Scenes from strings, for tests.
#ifndef YW_TESTS_SUPPORT_SCENE_TEXT_H
#define YW_TESTS_SUPPORT_SCENE_TEXT_H

#include "support/testing.h"
#include "yawara/scene.h"

/// path appears in messages; files of the scene are relative to it.
static inline yw_status read_scene_text(const char* text, const char* path, yw_scene** out,
                                        yw_error* warning, yw_error* error) {
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  def.text = text;
  def.size = strlen(text);
  return yw_scene_read(&def, out, warning, error);
}

/// A scene without mistakes. warning may be NULL.
static inline yw_scene* scene_at(const char* path, const char* text, yw_error* warning) {
  yw_scene* scene = NULL;
  yw_error error = {0};
  yw_status status = read_scene_text(text, path, &scene, warning, &error);
  if (status != YW_OK) fail_msg("%s", error.message);
  return scene;
}

static inline yw_scene* scene_of(const char* text) { return scene_at("dir/a.json", text, NULL); }

static inline yw_world* world_of(const yw_scene* scene) {
  yw_world* world = NULL;
  yw_error error = {0};
  if (yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) fail_msg("%s", error.message);
  return world;
}

#endif
