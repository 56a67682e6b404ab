// SPDX-License-Identifier: MIT
#include "commands/mesh_sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text.h"
#include "yawara/extend/text_number.h"
#include "yawara/extend/vec.h"

#define GROWTH 0.5f  // of the size, per distance from a point

// Reading -----------------------------------------------------------------------------------------

// X,Y,Z=H
static bool read_point(const char* text, sized_point* out) {
  static const char separators[] = ",,=";
  const char *at = text, *end = text + strlen(text);
  float* to[4] = {&out->at.x, &out->at.y, &out->at.z, &out->size};
  for (int k = 0; k < 4; ++k) {
    double number;
    at = yw_parse_double(at, end, &number);
    if (!at || !isfinite(number)) return false;
    if (*at != separators[k]) return false;
    *to[k] = (float)number;
    at += k < 3;
  }
  return out->size > 0.0f;
}

static int by_x(const void* a, const void* b) {
  const sized_point *p = a, *q = b;
  return (p->at.x > q->at.x) - (p->at.x < q->at.x);
}

static yw_status read_property(mesh_sizes* s, const char* model, const model_options* options,
                               yw_error* error) {
  yw_tri_mesh mesh = {0};
  float* values = NULL;
  if (!yw_ends_with(model, ".ply")) {
    return yw_fail(error, YW_ERR_INVALID, "%s: --size-by needs a .ply file", model);
  }
  yw_status status = yw_painted_mesh_read(model, s->property, NULL, &mesh, &values, error);
  if (status < 0) return status;
  model_options_apply(options, mesh.positions, mesh.num_vertices);
  s->vertices = YW_NEW_ARRAY(NULL, sized_point, mesh.num_vertices + 1);
  if (!s->vertices) status = yw_fail_memory(error, "sizes");
  for (int32_t i = 0; i < mesh.num_vertices && s->vertices; ++i) {
    s->vertices[i] = (sized_point){mesh.positions[i], values[i]};
  }
  if (s->vertices) {
    s->num_vertices = mesh.num_vertices;
    qsort(s->vertices, (size_t)s->num_vertices, sizeof *s->vertices, by_x);
  }
  yw_tri_mesh_free(&mesh);
  yw_mem_free(NULL, values);
  return status;
}

yw_status mesh_sizes_read(mesh_sizes* s, const char* model, const model_options* options,
                          yw_error* error) {
  for (int32_t i = 0; i < s->near.count; ++i) {
    if (!read_point(s->near.items[i], &s->points[i])) {
      return yw_fail(error, YW_ERR_INVALID,
                     "--near is \"%.80s\", but must be X,Y,Z=H: a place and an edge length, m",
                     s->near.items[i]);
    }
    s->num_points = i + 1;
  }
  return s->property ? read_property(s, model, options, error) : YW_OK;
}

void mesh_sizes_free(mesh_sizes* s) {
  yw_mem_free(NULL, s->vertices);
  s->vertices = NULL;
}

// Values ------------------------------------------------------------------------------------------

static float distance2(const sized_point* a, yw_vec3 p) { return yw_length2(yw_sub(a->at, p)); }

// The size at the nearest vertex: away from x in both directions, until the rest is farther.
static float size_of_nearest(const mesh_sizes* s, yw_vec3 p) {
  int32_t low = 0, high = s->num_vertices;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (s->vertices[middle].at.x < p.x)
      low = middle + 1;
    else
      high = middle;
  }
  float best = INFINITY, size = INFINITY;
  for (int32_t side = 0; side < 2; ++side) {
    int32_t step = side ? 1 : -1;
    for (int32_t i = side ? low : low - 1; i >= 0 && i < s->num_vertices; i += step) {
      float along = s->vertices[i].at.x - p.x, d = distance2(&s->vertices[i], p);
      if (along * along > best) break;
      if (d < best) best = d, size = s->vertices[i].size;
    }
  }
  return size;
}

static float size_at(void* context, yw_vec3 p) {
  const mesh_sizes* s = context;
  float least = INFINITY;
  for (int32_t i = 0; i < s->num_points; ++i) {
    least = fminf(least, s->points[i].size + GROWTH * sqrtf(distance2(&s->points[i], p)));
  }
  float painted = s->num_vertices > 0 ? size_of_nearest(s, p) : INFINITY;
  return painted > 0.0f ? fminf(least, painted) : least;
}

void mesh_sizes_apply(mesh_sizes* s, yw_mesher_def* def) {
  if (s->num_points == 0 && s->num_vertices == 0) return;
  def->size_at = size_at;
  def->size_context = s;
}
