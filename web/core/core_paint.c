// SPDX-License-Identifier: MIT
// Painting: a byte per vertex of a body's mesh, set by a brush or along a line, and shown as
// values.
#include <math.h>
#include <string.h>

#include "core.h"
#include "playback/frame_values.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

void core_paint_end(core* c) {
  yw_mem_free(NULL, c->paint);
  yw_mem_free(NULL, c->paint_from);
  c->paint = NULL;
  c->paint_from = NULL;
  c->num_paint = 0;
}

// Adaptive bodies are painted on their coarsest mesh, whose vertices come first: that is the one
// that a scene describes.
static int32_t num_painted(const yw_model* model, int32_t num_points) {
  yw_fem_info info;
  if (yw_model_fem_info(model, &info) != YW_OK || info.num_levels < 1) return num_points;
  return info.levels[0].num_nodes;
}

// Vertices that are not painted show the paint of the nearest one that is.
static bool find_nearest(core* c, const yw_vec3* points, int32_t count, int32_t num_paint) {
  c->paint_from = YW_NEW_ARRAY(NULL, int32_t, count);
  if (!c->paint_from) return false;
  for (int32_t i = 0; i < count; ++i) {
    int32_t best = i < num_paint ? i : 0;
    for (int32_t k = 0; i >= num_paint && k < num_paint; ++k) {
      yw_vec3 own = yw_sub(points[k], points[i]), other = yw_sub(points[best], points[i]);
      if (yw_length2(own) < yw_length2(other)) best = k;
    }
    c->paint_from[i] = best;
  }
  return true;
}

// Surfaces of rods and sheets show the paint of the nearest particle.
static bool find_carriers(core* c, int32_t index) {
  core_body* body = &c->bodies[index];
  const yw_model* model = yw_body_model(c->world, body->id);
  if (!yw_model_surface_has_state(model) || body->carriers) return true;
  int32_t num_surface = yw_model_surface(model)->num_vertices;
  frame_body at_rest = {0};
  at_rest.positions = yw_body_positions(c->world, body->id, &at_rest.num_particles);
  if (yw_body_surface_positions(c->world, body->id, c->surface, num_surface) < 0) return false;
  body->carriers = frame_nearest_particles(&at_rest, num_surface, c->surface);
  return body->carriers != NULL;
}

yw_status core_paint_begin(core* c, int32_t body, bool whole, const unsigned char* bytes,
                           int32_t count) {
  yw_status status = core_restart(c);
  if (status < 0) return status;
  if (body < 0 || body >= c->shown->num_bodies) {
    return yw_fail(&c->message, YW_ERR_INVALID, "there is no such body");
  }
  const yw_model* model = yw_body_model(c->world, c->bodies[body].id);
  int32_t num_points = 0;
  const yw_vec3* points = yw_model_points(model, &num_points);
  if (!poser_can_hold(model)) {
    return yw_fail(&c->message, YW_ERR_INVALID, "only volumes, rods and sheets can be painted");
  }
  int32_t needed = whole ? num_points : num_painted(model, num_points);
  c->paint = YW_NEW_ARRAY(NULL, unsigned char, num_points);
  if (!c->paint || !find_nearest(c, points, num_points, needed) || !find_carriers(c, body)) {
    core_paint_end(c);
    return yw_fail_memory(&c->message, "paint");
  }
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

float core_paint_of(const core* c, const yw_surface_map* map, int32_t vertex) {
  if (map->vertices) return (float)c->paint[c->paint_from[map->vertices[vertex]]];
  const int32_t* carriers = c->bodies[c->painted].carriers;
  if (!map->points) return carriers ? (float)c->paint[c->paint_from[carriers[vertex]]] : NAN;
  const yw_embedded_point* point = &map->points[vertex];
  int most = 0;
  for (int k = 1; k < 4; ++k) {
    if (point->weights[k] > point->weights[most]) most = k;
  }
  return (float)c->paint[c->paint_from[point->vertices[most]]];
}
