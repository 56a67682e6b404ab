// SPDX-License-Identifier: MIT
// Plastic materials by name. docs/materials.md cites the sources and gives ranges; a test compares
// the two.
#include <string.h>

#include "yawara/plastic.h"

// Softest first.
static const yw_plastic_preset presets[] = {
    {"cream",
     {.youngs_modulus = 3e3f,
      .poissons_ratio = 0.45f,
      .density = 500.0f,
      .flow = YW_FLOW_VON_MISES,
      .theta_c = 0.025f,
      .theta_s = 0.0075f,
      .yield_stress = 100.0f}},
    {"dough",
     {.youngs_modulus = 2e4f,
      .poissons_ratio = 0.45f,
      .density = 1200.0f,
      .flow = YW_FLOW_VON_MISES,
      .theta_c = 0.025f,
      .theta_s = 0.0075f,
      .yield_stress = 1e3f}},
    {"chewing_gum",
     {.youngs_modulus = 5e4f,
      .poissons_ratio = 0.45f,
      .density = 1150.0f,
      .flow = YW_FLOW_VON_MISES,
      .theta_c = 0.025f,
      .theta_s = 0.0075f,
      .yield_stress = 3e3f,
      .xi = 1.0f}},
    {"snow",
     {.youngs_modulus = 1.4e5f,
      .poissons_ratio = 0.2f,
      .density = 400.0f,
      .flow = YW_FLOW_BOX,
      .theta_c = 0.025f,
      .theta_s = 0.0075f,
      .yield_stress = 1e4f,
      .xi = 10.0f}},
    {"putty",
     {.youngs_modulus = 3e5f,
      .poissons_ratio = 0.4f,
      .density = 1600.0f,
      .flow = YW_FLOW_VON_MISES,
      .theta_c = 0.025f,
      .theta_s = 0.0075f,
      .yield_stress = 5e3f}},
    {"clay",
     {.youngs_modulus = 1e6f,
      .poissons_ratio = 0.4f,
      .density = 1800.0f,
      .flow = YW_FLOW_VON_MISES,
      .theta_c = 0.025f,
      .theta_s = 0.0075f,
      .yield_stress = 2e4f}},
};

int32_t yw_num_plastic_presets(void) { return (int32_t)(sizeof presets / sizeof *presets); }

const yw_plastic_preset* yw_plastic_preset_at(int32_t i) {
  return i >= 0 && i < yw_num_plastic_presets() ? &presets[i] : NULL;
}

const yw_plastic_preset* yw_plastic_preset_by_name(const char* name) {
  for (int32_t i = 0; name && i < yw_num_plastic_presets(); ++i) {
    if (strcmp(presets[i].name, name) == 0) return &presets[i];
  }
  return NULL;
}
