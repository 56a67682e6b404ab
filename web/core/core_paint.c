// SPDX-License-Identifier: MIT
// Painting: a byte per vertex of a body's mesh, set by a brush or along a line, and shown as
// values.
#include <math.h>
#include <string.h>

#include "core.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

void core_paint_end(core* c) {
  yw_mem_free(NULL, c->paint);
  c->paint = NULL;
  c->num_paint = 0;
}

// Adaptive bodies are painted on their coarsest mesh, whose vertices come first: that is the one
// that a scene describes.
static int32_t num_painted(const yw_model* model, int32_t num_points) {
  yw_fem_info info;
  if (yw_model_fem_info(model, &info) != YW_OK || info.num_levels < 1) return num_points;
  return info.levels[0].num_nodes;
}

yw_status core_paint_begin(core* c, int32_t body, bool whole, const unsigned char* bytes,
                           int32_t count) {
  core_paint_end(c);
  yw_status status = core_restart(c);
  if (status < 0) return status;
  if (body < 0 || body >= c->shown->num_bodies) {
    return yw_fail(&c->message, YW_ERR_INVALID, "there is no such body");
  }
  const yw_model* model = yw_body_model(c->world, c->bodies[body].id);
  int32_t num_points = 0;
  if (!yw_model_points(model, &num_points) || yw_model_tets(model)->num_tets == 0) {
    return yw_fail(&c->message, YW_ERR_INVALID, "this body has no tets, so it cannot be painted");
  }
  int32_t needed = whole ? num_points : num_painted(model, num_points);
  c->paint = YW_NEW_ARRAY(NULL, unsigned char, num_points);
  if (!c->paint) return yw_fail_memory(&c->message, "paint");
  if (bytes && count == needed) memcpy(c->paint, bytes, (size_t)count);
  c->painted = body;
  c->num_paint = needed;
  return YW_OK;
}

static unsigned char mix(unsigned char old, float value, float share) {
  float mixed = (float)old + share * (value - (float)old);
  return (unsigned char)yw_clampf(roundf(mixed), 0.0f, 255.0f);
}

void core_paint_dab(core* c, yw_vec3 at, float radius, float value, float softness) {
  int32_t count = 0;
  if (!c->paint) return;
  const yw_vec3* x = yw_body_positions(c->world, c->bodies[c->painted].id, &count);
  for (int32_t i = 0; i < c->num_paint && i < count; ++i) {
    float d = yw_distance(x[i], at) / radius;
    if (!(d <= 1.0f)) continue;
    float share = softness > 0.0f ? yw_clampf((1.0f - d) / softness, 0.0f, 1.0f) : 1.0f;
    c->paint[i] = mix(c->paint[i], value, share);
  }
}

void core_paint_line(core* c, yw_vec3 from, yw_vec3 to, float first, float second) {
  int32_t count = 0;
  yw_vec3 line = yw_sub(to, from);
  float length2 = yw_length2(line);
  if (!c->paint || !(length2 > 0.0f)) return;
  const yw_vec3* x = yw_body_positions(c->world, c->bodies[c->painted].id, &count);
  for (int32_t i = 0; i < c->num_paint && i < count; ++i) {
    float t = yw_clampf(yw_dot(yw_sub(x[i], from), line) / length2, 0.0f, 1.0f);
    c->paint[i] = mix(0, first + t * (second - first), 1.0f);
  }
}

// The paint of a vertex of the mesh; finer vertices of adaptive bodies have none of their own.
static float paint_at(const core* c, int32_t vertex) {
  return vertex < c->num_paint ? (float)c->paint[vertex] : NAN;
}

float core_paint_of(const core* c, const yw_surface_map* map, int32_t vertex) {
  if (map->vertices) return paint_at(c, map->vertices[vertex]);
  if (!map->points) return NAN;
  const yw_embedded_point* point = &map->points[vertex];
  float best = -1.0f, value = NAN;
  for (int k = 0; k < 4; ++k) {
    if (!(point->weights[k] > best) || point->vertices[k] >= c->num_paint) continue;
    best = point->weights[k];
    value = paint_at(c, point->vertices[k]);
  }
  return value;
}
