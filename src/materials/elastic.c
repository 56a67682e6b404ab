// SPDX-License-Identifier: MIT
// Materials by name. docs/materials.md cites the sources and gives ranges; a test compares the two.
#include <string.h>

#include "yawara/model.h"

// Softest first.
// clang-format off
static const yw_material materials[] = {
    {"fat", 3.25e3f, 0.49f, 920.0f},
    {"gelatin", 1e4f, 0.49f, 1030.0f},
    {"soft_tissue", 1.2e4f, 0.49f, 1060.0f},
    {"foam", 2.8e4f, 0.33f, 30.0f},
    {"soft_silicone", 6.9e4f, 0.49f, 1070.0f},
    {"silicone", 1.32e6f, 0.49f, 1030.0f},
    {"rubber", 1.5e6f, 0.49f, 950.0f},
    {"cork", 1.6e7f, 0.05f, 170.0f},
    {"polyethylene", 7.6e8f, 0.42f, 950.0f},
    {"nylon", 2.8e9f, 0.39f, 1140.0f},
    {"acrylic", 3.2e9f, 0.37f, 1180.0f},
    {"wood", 1.08e10f, 0.37f, 450.0f},
    {"aluminium", 7e10f, 0.33f, 2700.0f},
    {"glass", 7.2e10f, 0.22f, 2500.0f},
    {"steel", 2.05e11f, 0.29f, 7850.0f},
};
// clang-format on

int32_t yw_num_materials(void) { return (int32_t)(sizeof materials / sizeof *materials); }

const yw_material* yw_material_at(int32_t i) {
  return i >= 0 && i < yw_num_materials() ? &materials[i] : NULL;
}

const yw_material* yw_material_by_name(const char* name) {
  for (int32_t i = 0; name && i < yw_num_materials(); ++i) {
    if (strcmp(materials[i].name, name) == 0) return &materials[i];
  }
  return NULL;
}
