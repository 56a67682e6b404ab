// SPDX-License-Identifier: MIT
// Values of keys in a method's settings, as read from a scene.
#ifndef YW_TESTS_SUPPORT_SCENE_PEEK_H
#define YW_TESTS_SUPPORT_SCENE_PEEK_H

#include <string.h>

#include "scene/method.h"
#include "support/testing.h"

/// The number under a key of settings (of a model or a body); words are numbered from 0.
static inline double setting_of(const yw_scene_method* method, const void* settings,
                                const char* key) {
  for (int32_t i = 0; i < method->record->num_keys; ++i) {
    const yw_key_row* f = &method->record->keys[i];
    const void* at = (const char*)settings + f->offset;
    if (strcmp(f->name, key) != 0) continue;
    if (f->kind == YW_KEY_NUMBER) return (double)*(const float*)at;
    if (f->kind == YW_KEY_BOOL) return *(const bool*)at;
    return *(const int32_t*)at;
  }
  fail_msg("%s has no key %s", method->name, key);
  return 0.0;
}

static inline double model_setting(const yw_scene* scene, int32_t model, const char* key) {
  const yw_model_spec* spec = &scene->models.items[model];
  return setting_of(spec->method, spec->settings, key);
}

static inline double body_setting(const yw_scene* scene, int32_t body, const char* key) {
  const yw_body_spec* spec = &scene->bodies.items[body];
  return setting_of(yw_model_of_body(scene, spec)->method, spec->settings, key);
}

#endif
