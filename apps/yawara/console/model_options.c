// SPDX-License-Identifier: MIT
#include "console/model_options.h"

#include <stdio.h>
#include <string.h>

// Models of this size are rarely meant, m.
#define LARGE 50.0f
#define SMALL 0.005f

static const struct {
  const char* name;
  float metres;
} units[] = {{"m", 1.0f},       {"cm", 0.01f},   {"mm", 0.001f},
             {"inch", 0.0254f}, {"in", 0.0254f}, {"ft", 0.3048f}};
enum { NUM_UNITS = sizeof units / sizeof units[0] };

static float metres_of(const char* unit) {
  for (int i = 0; unit && i < NUM_UNITS; ++i) {
    if (strcmp(unit, units[i].name) == 0) return units[i].metres;
  }
  return unit ? 0.0f : 1.0f;
}

float model_options_metres(const model_options* o) { return metres_of(o->unit); }

bool model_options_turned(const model_options* o) { return o->up && strcmp(o->up, "z") == 0; }

int model_options_check(const model_options* o) {
  if (metres_of(o->unit) == 0.0f)
    return bad_input("--unit is \"%s\", but must be mm, cm, m, inch or ft", o->unit);
  if (o->up && strcmp(o->up, "y") != 0 && strcmp(o->up, "z") != 0)
    return bad_input("--up is \"%s\", but must be y or z", o->up);
  return -1;
}

void model_options_apply(const model_options* o, yw_vec3* positions, int32_t count) {
  float scale = metres_of(o->unit);
  bool turned = model_options_turned(o);
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 p = positions[i];
    p = turned ? (yw_vec3){p.x, p.z, -p.y} : p;
    positions[i] = (yw_vec3){scale * p.x, scale * p.y, scale * p.z};
  }
}

void model_options_hint(const model_options* o, float size, char* out, size_t capacity) {
  out[0] = '\0';
  bool large = size >= LARGE, small = size > 0.0f && size <= SMALL;
  if (o->unit || (!large && !small)) return;
  snprintf(out, capacity,
           "the model is %.5g m large; %s it was made in another unit: --unit mm makes it %.3g m, "
           "--unit cm %.3g m, --unit inch %.3g m",
           (double)size, large ? "perhaps" : "if", 0.001 * (double)size, 0.01 * (double)size,
           0.0254 * (double)size);
  if (small)
    snprintf(out, capacity,
             "the model is %.3g mm large: if it is meant to be larger, scale it where it was made",
             1e3 * (double)size);
}
