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

#endif
