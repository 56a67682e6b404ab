// SPDX-License-Identifier: MIT
// A small model of every method, about 0.4 m in size, made as scenes make them.
#ifndef YW_TESTS_SUPPORT_METHOD_MODELS_H
#define YW_TESTS_SUPPORT_METHOD_MODELS_H

#include "support/scene_text.h"
#include "support/world_fixture.h"

/// What stands in a scene for each method.
static const char* const method_bodies[] = {
    "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 2}}, \"match\": {}",
    "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 2}}, \"frames\": {}",
    "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 1}}, \"fem\": {\"max_level\": 1, "
    "\"mass_damping\": 0}",
    "\"shape\": {\"box\": {\"size\": 0.4}}, \"plastic\": {\"spacing\": 0.1}",
    "\"shape\": {\"box\": {\"size\": 0.4}}, \"rigid\": {\"size\": 0.1}",
    "\"sheet\": {\"rectangle\": {\"width\": 0.4, \"depth\": 0.4, \"across\": 4, \"along\": 4}, "
    "\"thickness\": 0.02}",
    "\"rod\": {\"line\": {\"from\": [-0.2, 0, 0], \"to\": [0.2, 0, 0], \"count\": 9}, "
    "\"radius\": 0.03}",
};
#define NUM_METHOD_BODIES ((int)(sizeof method_bodies / sizeof *method_bodies))

/// The model of a body; release it.
static inline yw_model* model_of_body(const char* body) {
  char text[1000];
  snprintf(text, sizeof text, "{\"bodies\": [{%s}]}", body);
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  yw_model* model = yw_model_retain((yw_model*)yw_body_model(world, yw_world_body(world, 0)));
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return model;
}

/// The model of number i of the above; release it.
static inline yw_model* method_model(int i) { return model_of_body(method_bodies[i]); }

#endif
