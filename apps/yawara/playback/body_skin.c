// SPDX-License-Identifier: MIT
#include "playback/body_skin.h"

#include "playback/frame_values.h"
#include "render/skin/skin.h"
#include "yawara/extend/memory.h"

yw_status body_skin_make(const frame_body* body, const shown_model* model, const yw_vec3* positions,
                         const float* radii, yw_tri_mesh* out, yw_error* error) {
  skin_def def = skin_default_def();
  yw_tri_mesh surface = model->surface;
  // The field is not const in the mesh, but nothing writes to it.
  surface.positions = (yw_vec3*)(uintptr_t)body->surface;
  def.count = body->num_particles;
  def.positions = positions;
  def.radii = radii;
  if (body_is_clad(body) && body->parted) {
    def.surface = &surface;
    def.parted = body->parted;
  }
  return skin_make(&def, out, error);
}

bool body_skin_colors(const frame_body* body, const yw_vec3* colors, int32_t num_points,
                      const yw_vec3* points, yw_vec3* out) {
  const frame_body vertices = {.num_particles = body->num_surface, .positions = body->surface};
  int32_t* nearest = frame_nearest_particles(&vertices, num_points, points);
  for (int32_t i = 0; nearest && i < num_points; ++i) out[i] = colors[nearest[i]];
  bool found = nearest != NULL;
  yw_mem_free(NULL, nearest);
  return found;
}
