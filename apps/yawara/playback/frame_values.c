// SPDX-License-Identifier: MIT
#include "playback/frame_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Vertices that are in no cell in use take the mean of their neighbours, from the known ones
// outwards: adaptive bodies use only some of the vertices that carry the surface.
static void fill_gaps(const yw_tet_mesh* mesh, float* values) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t t = 0; t < mesh->num_tets; ++t) {
      const int32_t* v = mesh->tets + 4 * (size_t)t;
      float sum = 0.0f, known = 0.0f;
      for (int k = 0; k < 4; ++k) {
        if (isnan(values[v[k]])) continue;
        sum += values[v[k]];
        known += 1.0f;
      }
      for (int k = 0; k < 4 && known > 0.0f && known < 4.0f; ++k) {
        if (!isnan(values[v[k]])) continue;
        values[v[k]] = sum / known;
        changed = true;
      }
    }
  }
}

static bool particle_values(const frame_body* body, const frame_field* field,
                            const shown_model* model, float* out) {
  const int32_t* cells = frame_tets(body, model);
  size_t count = (size_t)body->num_particles;
  if (!field->per_cell) {
    if (count > 0) memcpy(out, field->values, sizeof(float) * count);
    return true;
  }
  int32_t* around = YW_NEW_ARRAY(NULL, int32_t, count);
  if (!around) return false;
  for (size_t i = 0; i < count; ++i) out[i] = 0.0f;
  for (int32_t cell = 0; cell < body->num_cells; ++cell) {
    for (int k = 0; k < 4; ++k) {
      int32_t corner = cells[4 * (size_t)cell + (size_t)k];
      out[corner] += field->values[cell];
      ++around[corner];
    }
  }
  for (size_t i = 0; i < count; ++i) out[i] = around[i] > 0 ? out[i] / (float)around[i] : NAN;
  yw_mem_free(NULL, around);
  if (body->cells && body->num_particles == model->tets.num_vertices) fill_gaps(&model->tets, out);
  return true;
}

// Surfaces with a state ---------------------------------------------------------------------------

typedef struct place {
  yw_vec3 at;
  int32_t particle;
} place;

static int compare_places(const void* a, const void* b) {
  const place *p = a, *q = b;
  if (p->at.x != q->at.x) return p->at.x < q->at.x ? -1 : 1;
  return (p->particle > q->particle) - (p->particle < q->particle);
}

// The particle nearest to a point among those sorted by x: searches outwards on both sides until
// the difference in x alone is too large.
static int32_t nearest_place(const place* places, int32_t count, yw_vec3 p) {
  int32_t low = 0, high = count;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (places[middle].at.x < p.x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  int32_t best = 0, ends[2] = {low - 1, low};
  float distance = INFINITY;
  for (bool more = true; more;) {
    more = false;
    for (int side = 0; side < 2; ++side) {
      int32_t at = ends[side];
      if (at < 0 || at >= count || !(fabsf(places[at].at.x - p.x) < distance)) continue;
      more = true;
      ends[side] += side ? 1 : -1;
      float d = yw_distance(places[at].at, p);
      if (d < distance) {
        distance = d;
        best = places[at].particle;
      }
    }
  }
  return best;
}

int32_t* frame_nearest_particles(const frame_body* body, int32_t num_points,
                                 const yw_vec3* points) {
  int32_t* carriers = YW_NEW_ARRAY(NULL, int32_t, num_points);
  place* places = YW_NEW_ARRAY(NULL, place, body->num_particles);
  if (carriers && places) {
    for (int32_t i = 0; i < body->num_particles; ++i) places[i] = (place){body->positions[i], i};
    qsort(places, (size_t)body->num_particles, sizeof *places, compare_places);
    for (int32_t i = 0; i < num_points; ++i) {
      carriers[i] = nearest_place(places, body->num_particles, points[i]);
    }
  }
  if (!places) {
    yw_mem_free(NULL, carriers);
    carriers = NULL;
  }
  yw_mem_free(NULL, places);
  return carriers;
}

static void carry(const frame_body* body, const float* values, const int32_t* carriers,
                  int32_t num_points, float* out) {
  for (int32_t i = 0; i < num_points; ++i) {
    out[i] = carriers[i] < body->num_particles ? values[carriers[i]] : NAN;
  }
}

yw_status frame_values_at(const frame_body* body, const shown_model* model,
                          const frame_field* field, int32_t num_points, const yw_vec3* points,
                          float* out) {
  float* values = YW_NEW_ARRAY(NULL, float, body->num_particles);
  int32_t* carriers = frame_nearest_particles(body, num_points, points);
  bool ok = values && carriers && particle_values(body, field, model, values);
  if (ok) carry(body, values, carriers, num_points, out);
  yw_mem_free(NULL, values);
  yw_mem_free(NULL, carriers);
  return ok ? YW_OK : YW_ERR_MEMORY;
}

static bool carry_by_neighbours(const frame_body* body, const float* values, int32_t** carriers,
                                float* out) {
  if (!*carriers) *carriers = frame_nearest_particles(body, body->num_surface, body->surface);
  if (!*carriers) return false;
  carry(body, values, *carriers, body->num_surface, out);
  return true;
}

// Values of the mesh's vertices that a surface follows, with the same weights: never outside of
// their range.
static void carry_by_links(const shown_model* model, const float* values, float* out) {
  for (int32_t i = 0; i < model->surface.num_vertices; ++i) {
    if (model->kind == SHOWN_BOUNDARY) {
      out[i] = values[model->vertices[i]];
      continue;
    }
    out[i] = 0.0f;
    for (int32_t n = model->first[i]; n < model->first[i + 1]; ++n) {
      out[i] += model->links[n].weight * values[model->links[n].vertex];
    }
  }
}

yw_status frame_shown_values(const frame_body* body, const shown_model* model,
                             const frame_field* field, int32_t** carriers, float* out) {
  if (model->kind == SHOWN_PARTICLES) {
    return particle_values(body, field, model, out) ? YW_OK : YW_ERR_MEMORY;
  }
  float* values = YW_NEW_ARRAY(NULL, float, body->num_particles);
  bool ok = values && particle_values(body, field, model, values);
  if (ok && body->surface) {
    ok = carry_by_neighbours(body, values, carriers, out);
  } else if (ok) {
    carry_by_links(model, values, out);
  }
  yw_mem_free(NULL, values);
  return ok ? YW_OK : YW_ERR_MEMORY;
}
