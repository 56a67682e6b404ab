// SPDX-License-Identifier: MIT
#include "playback/export_look.h"

#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// True if no vertex has more than one texture coordinate.
static bool one_uv_per_vertex(const obj_corners* c, const float* of_vertex) {
  for (int32_t i = 0; i < c->num_points; ++i) {
    const float* uv = of_vertex + 2 * (size_t)c->vertices[i];
    if (memcmp(uv, c->uvs + 2 * (size_t)i, 2 * sizeof(float)) != 0) return false;
  }
  return true;
}

static bool take_uvs(const obj_corners* c, const yw_tri_mesh* surface, export_look* out) {
  if (!c->uvs) return true;
  float* of_vertex = YW_NEW_ARRAY(NULL, float, 2 * (size_t)surface->num_vertices);
  if (!of_vertex) return false;
  for (size_t i = 0; i < (size_t)c->num_points; ++i) {
    memcpy(of_vertex + 2 * (size_t)c->vertices[i], c->uvs + 2 * i, 2 * sizeof(float));
  }
  out->per_vertex = one_uv_per_vertex(c, of_vertex);
  out->uvs = of_vertex;
  if (out->per_vertex) return true;
  yw_mem_free(NULL, of_vertex);
  size_t corners = 3 * (size_t)surface->num_triangles;
  out->uvs = YW_NEW_ARRAY(NULL, float, 2 * corners);
  for (size_t k = 0; out->uvs && k < corners; ++k) {
    memcpy(out->uvs + 2 * k, c->uvs + 2 * (size_t)c->triangles[k], 2 * sizeof(float));
  }
  return out->uvs != NULL;
}

yw_status export_look_take(const shown_model* model, export_look* out, yw_error* error) {
  *out = (export_look){0};
  if (!model->source) return YW_OK;
  // Faces that were divided in another way have no corners here: plain triangles are exported.
  out->known = obj_corners_read(model->source, &model->surface, &out->corners);
  if (!out->known) return YW_OK;
  const obj_corners* c = &out->corners;
  out->names = YW_NEW_ARRAY(NULL, const char*, c->num_materials);
  bool made = out->names && take_uvs(c, &model->surface, out);
  for (int32_t i = 0; made && i < c->num_materials; ++i) out->names[i] = c->names[i];
  return made ? YW_OK : yw_fail_memory(error, "an export");
}

void export_look_free(export_look* look) {
  obj_corners_free(&look->corners);
  yw_mem_free(NULL, look->uvs);
  yw_mem_free(NULL, look->names);
  *look = (export_look){0};
}

yw_ply_look export_look_ply(const export_look* look) {
  const obj_corners* c = &look->corners;
  return (yw_ply_look){.vertex_uvs = look->per_vertex ? look->uvs : NULL,
                       .corner_uvs = look->per_vertex ? NULL : look->uvs,
                       .materials = c->num_materials > 0 ? c->materials : NULL,
                       .num_materials = c->num_materials,
                       .names = look->names};
}
