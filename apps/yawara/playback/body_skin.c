// SPDX-License-Identifier: MIT
#include "playback/body_skin.h"

#include <string.h>

#include "playback/frame_values.h"
#include "render/skin/skin.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

static bool same_place(yw_vec3 a, yw_vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Triangles without those of parts that have not started, which are points. NULL: out of memory.
static int32_t* real_triangles(const frame_body* body, const shown_model* model, int32_t* count) {
  const yw_tri_mesh* surface = &model->surface;
  int32_t* kept = YW_NEW_ARRAY(NULL, int32_t, 3 * (size_t)surface->num_triangles);
  *count = 0;
  for (size_t t = 0; kept && t < (size_t)surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * t;
    yw_vec3 a = body->surface[v[0]];
    if (same_place(a, body->surface[v[1]]) && same_place(a, body->surface[v[2]])) continue;
    memcpy(kept + 3 * (size_t)(*count)++, v, 3 * sizeof *v);
  }
  return kept;
}

yw_status body_skin_make(const frame_body* body, const shown_model* model, const yw_vec3* positions,
                         const float* radii, yw_tri_mesh* out, yw_error* error) {
  skin_def def = skin_default_def();
  yw_tri_mesh surface = model->surface;
  // The field is not const in the mesh, but nothing writes to it.
  surface.positions = (yw_vec3*)(uintptr_t)body->surface;
  def.count = body->num_particles;
  def.positions = positions;
  def.radii = radii;
  int32_t* triangles = NULL;
  if (body_is_clad(body) && body->parted) {
    triangles = real_triangles(body, model, &surface.num_triangles);
    if (!triangles) return yw_fail_memory(error, "a skin");
    surface.triangles = triangles;
    def.surface = &surface;
    def.parted = body->parted;
  }
  yw_status status = skin_make(&def, out, error);
  yw_mem_free(NULL, triangles);
  return status;
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
