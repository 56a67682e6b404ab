// SPDX-License-Identifier: MIT
#include "playback/body_skin.h"

#include <math.h>
#include <string.h>

#include "playback/frame_values.h"
#include "render/skin/skin.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Colours of a skin are mixed along its edges so often: over about a third of a spacing.
#define COLOR_PASSES 5

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

// Every vertex takes its share of the mean of its neighbours; sums has room for one per vertex.
static void mix_once(const yw_tri_mesh* skin, const float* shares, yw_vec3* colors, yw_vec4* sums) {
  memset(sums, 0, sizeof *sums * (size_t)skin->num_vertices);
  for (size_t h = 0; h < 3 * (size_t)skin->num_triangles; ++h) {
    yw_vec4* sum = &sums[skin->triangles[h]];
    yw_vec3 next = colors[skin->triangles[h % 3 == 2 ? h - 2 : h + 1]];
    *sum = (yw_vec4){sum->x + next.x, sum->y + next.y, sum->z + next.z, sum->w + 1.0f};
  }
  for (int32_t i = 0; i < skin->num_vertices; ++i) {
    if (!(sums[i].w > 0.0f)) continue;
    yw_vec3 mean = yw_scale(yw_xyz(sums[i]), 1.0f / sums[i].w);
    colors[i] = yw_lerp(colors[i], mean, shares[i]);
  }
}

bool body_skin_mix_colors(const frame_body* body, const yw_tri_mesh* skin, yw_vec3* colors) {
  if (!body->parted) return true;
  int32_t* nearest = frame_nearest_particles(body, skin->num_vertices, skin->positions);
  float* shares = YW_NEW_ARRAY(NULL, float, skin->num_vertices);
  yw_vec4* sums = YW_NEW_ARRAY(NULL, yw_vec4, skin->num_vertices);
  bool made = nearest && shares && sums;
  for (int32_t i = 0; made && i < skin->num_vertices; ++i) {
    shares[i] = fminf(body->parted[nearest[i]], 0.5f);
  }
  for (int pass = 0; made && pass < COLOR_PASSES; ++pass) mix_once(skin, shares, colors, sums);
  yw_mem_free(NULL, nearest);
  yw_mem_free(NULL, shares);
  yw_mem_free(NULL, sums);
  return made;
}
