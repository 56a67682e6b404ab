// SPDX-License-Identifier: MIT
#include "playback/export_scene.h"

#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// The middle between the sides of a sheet.
static bool flatten(const shown_model* from, shown_model* out) {
  int32_t count = shown_sheet_particles(from);
  yw_tri_mesh middle = {.num_vertices = count,
                        .num_triangles = from->num_elements,
                        .positions = YW_NEW_ARRAY(NULL, yw_vec3, count),
                        .triangles = from->elements,
                        .colors = from->surface.colors};
  *out = (shown_model){.kind = SHOWN_BOUNDARY,
                       .tets = from->tets,
                       .elements = from->elements,
                       .corners = from->corners,
                       .num_elements = from->num_elements,
                       .surface = middle,
                       .source = from->sheet_source};
  memcpy(out->method, from->method, sizeof out->method);
  out->vertices = YW_NEW_ARRAY(NULL, int32_t, count);
  if (!out->vertices || !middle.positions) return false;
  for (int32_t i = 0; i < count; ++i) {
    const yw_vec3* side = from->surface.positions;
    middle.positions[i] = yw_lerp(side[i], side[count + i], 0.5f);
    out->vertices[i] = i;
  }
  return true;
}

yw_status export_scene_open(const shown_scene* from, bool thick, bool looks, export_scene* out,
                            yw_error* error) {
  *out = (export_scene){.shown = *from};
  out->shown.models = YW_NEW_ARRAY(NULL, shown_model, from->num_models);
  out->flat = YW_NEW_ARRAY(NULL, bool, from->num_models);
  out->looks = YW_NEW_ARRAY(NULL, export_look, from->num_models);
  bool made = out->shown.models && out->flat && out->looks;
  for (int32_t i = 0; made && i < from->num_models; ++i) {
    out->shown.models[i] = from->models[i];
    out->flat[i] = from->models[i].sheet_source && !thick;
    if (out->flat[i]) made = flatten(&from->models[i], &out->shown.models[i]);
  }
  yw_status status = made ? YW_OK : yw_fail_memory(error, "an export");
  for (int32_t i = 0; looks && i < from->num_models && status >= 0; ++i) {
    status = export_look_take(&out->shown.models[i], &out->looks[i], error);
  }
  return status;
}

void export_scene_close(export_scene* scene) {
  for (int32_t i = 0; i < scene->shown.num_models; ++i) {
    if (scene->looks) export_look_free(&scene->looks[i]);
    bool flat = scene->flat && scene->flat[i] && scene->shown.models;
    if (!flat) continue;
    yw_mem_free(NULL, scene->shown.models[i].vertices);
    yw_mem_free(NULL, scene->shown.models[i].surface.positions);
  }
  yw_mem_free(NULL, scene->shown.models);
  yw_mem_free(NULL, scene->flat);
  yw_mem_free(NULL, scene->looks);
  *scene = (export_scene){0};
}
