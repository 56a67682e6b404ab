// SPDX-License-Identifier: MIT
// Thickness is the length of the chord from a point of the surface along the inward normal. Each of
// some thousand points stands for a piece of the surface, and for half of the matter below it: the
// other half belongs to the other side. Ears, handles and fins count, edges and corners do not.
#include "console/thin_parts.h"

#include <math.h>

#include "yawara/extend/vec.h"

#define SAMPLES 5000
#define START 0.01f       // of the thickness: the surface itself is this close ...
#define LEAST_STEP 0.01f  // ... and what is inside of a body whose parts cross does not end it

static float length_of(const yw_tri_mesh* surface) {
  yw_aabb box = yw_aabb_empty();
  for (size_t n = 0; n < 3 * (size_t)surface->num_triangles; ++n) {
    box = yw_aabb_grow(box, surface->positions[surface->triangles[n]]);
  }
  yw_vec3 size = yw_sub(box.upper, box.lower);
  return fmaxf(size.x, fmaxf(size.y, size.z));
}

// The middle of a triangle, and its normal with the area as length.
static yw_vec3 middle_of(const yw_tri_mesh* surface, int32_t t, yw_vec3* normal) {
  const int32_t* v = surface->triangles + 3 * (size_t)t;
  yw_vec3 a = surface->positions[v[0]], b = surface->positions[v[1]], c = surface->positions[v[2]];
  *normal = yw_scale(yw_cross(yw_sub(b, a), yw_sub(c, a)), 0.5f);
  return yw_scale(yw_add(yw_add(a, b), c), 1.0f / 3.0f);
}

// The chord from p against the normal; `limit` if it is longer, 0 where p is inside of the body.
static float chord(const yw_shape* shape, yw_vec3 p, yw_vec3 normal, float limit) {
  float at = START * limit;
  if (yw_shape_distance(shape, yw_mad(p, at, normal)) < 0.0f) return 0.0f;
  while (at < limit) {
    float distance = yw_shape_distance(shape, yw_mad(p, -at, normal));
    if (distance > 0.0f) return at;
    at += fmaxf(-distance, LEAST_STEP * limit);
  }
  return limit;
}

static float thin_share(const yw_tri_mesh* surface, float thickness) {
  yw_shape* shape = NULL;
  yw_vec3 normal;
  double volume = 0.0, area = 0.0, thin = 0.0, waiting = 0.0;
  if (yw_shape_mesh(NULL, surface, &shape, NULL) < 0) return 0.0f;
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    yw_vec3 p = middle_of(surface, t, &normal);
    volume += (double)yw_dot(p, normal) / 3.0;
    area += (double)yw_length(normal);
  }
  // Points as dense everywhere: small triangles wait for others, large ones count as they are.
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    yw_vec3 p = middle_of(surface, t, &normal);
    float own = yw_length(normal);
    waiting += (double)own;
    if (!(own > 0.0f) || waiting < area / SAMPLES) continue;
    float found = chord(shape, p, yw_scale(normal, 1.0f / own), thickness);
    if (found < thickness) thin += 0.5 * (double)found * waiting;
    waiting = 0.0;
  }
  yw_shape_release(shape);
  return volume > 0.0 ? (float)(thin / volume) : 0.0f;
}

float thin_share_of_file(const char* path, bool tets, float thickness) {
  yw_tet_mesh volume = {0};
  yw_tri_mesh surface = {0};
  int32_t num_turned;
  yw_status status = tets ? yw_tet_mesh_read(path, NULL, &volume, NULL)
                          : yw_tri_mesh_read(path, NULL, &surface, NULL);
  if (status >= 0 && tets) status = yw_tet_mesh_surface(&volume, NULL, &surface, NULL);
  if (status >= 0) status = yw_tri_mesh_orient(&surface, &num_turned);
  float share = status >= 0 ? thin_share(&surface, thickness * length_of(&surface)) : 0.0f;
  yw_tri_mesh_free(&surface);
  yw_tet_mesh_free(&volume);
  return share;
}
