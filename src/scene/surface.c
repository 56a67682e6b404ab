// SPDX-License-Identifier: MIT
// The finer triangle mesh embedded in a model for display.
#include <math.h>
#include <string.h>

#include "scene/method.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"

#define MAX_TRIANGLES 8000000
// By default a surface of a shape has about this many triangles at most.
#define DEFAULT_TRIANGLES 200000
// Area of a triangle of yw_shape_surface with edges of 1.
#define TRIANGLE_AREA 0.43
// A default surface that lacks more than this share of the tets' volume has lost parts.
#define LOST_VOLUME 0.1

// Midpoints of edges by their ends: a hash table with open addressing.
typedef struct edge_table {
  uint64_t* keys;  // 0: free; else the two ends, each plus one
  int32_t* midpoints;
  uint32_t mask;
} edge_table;

static bool edge_table_create(const yw_allocator* mem, int32_t num_triangles, edge_table* out) {
  uint32_t size = 16;
  while (size < 4u * (uint32_t)num_triangles) size *= 2;
  out->mask = size - 1;
  out->keys = YW_NEW_ARRAY(mem, uint64_t, size);
  out->midpoints = YW_NEW_ARRAY(mem, int32_t, size);
  return out->keys && out->midpoints;
}

// The midpoint of an edge; returns `fresh` when the edge is new.
static int32_t edge_midpoint(edge_table* table, int32_t a, int32_t b, int32_t fresh) {
  uint64_t low = (uint64_t)(a < b ? a : b) + 1, high = (uint64_t)(a < b ? b : a) + 1;
  uint64_t key = high << 32 | low;
  uint32_t at = (uint32_t)yw_hash_u64(YW_HASH_SEED, key) & table->mask;
  while (table->keys[at] != 0 && table->keys[at] != key) at = (at + 1) & table->mask;
  if (table->keys[at] == 0) {
    table->keys[at] = key;
    table->midpoints[at] = fresh;
  }
  return table->midpoints[at];
}

// Splits every triangle into four; new vertices follow the old ones.
static yw_status subdivide(const yw_allocator* mem, const yw_tri_mesh* in, yw_tri_mesh* out) {
  edge_table table = {0};
  int32_t* edges = YW_NEW_ARRAY(mem, int32_t, 3 * (size_t)in->num_triangles);
  yw_status status = YW_ERR_MEMORY;
  if (!edges || !edge_table_create(mem, in->num_triangles, &table)) goto done;

  int32_t num_vertices = in->num_vertices;
  for (int32_t k = 0; k < 3 * in->num_triangles; k++) {
    int32_t a = in->triangles[k], b = in->triangles[k % 3 == 2 ? k - 2 : k + 1];
    edges[k] = edge_midpoint(&table, a, b, num_vertices);
    num_vertices += edges[k] == num_vertices;
  }
  status = yw_tri_mesh_create(mem, num_vertices, 4 * in->num_triangles, out);
  if (status < 0) goto done;
  memcpy(out->positions, in->positions, (size_t)in->num_vertices * sizeof *in->positions);
  for (int32_t t = 0; t < in->num_triangles; t++) {
    const int32_t *v = in->triangles + 3 * t, *e = edges + 3 * t;
    int32_t pieces[12] = {v[0], e[0], e[2], v[1], e[1], e[0], v[2], e[2], e[1], e[0], e[1], e[2]};
    memcpy(out->triangles + 12 * (size_t)t, pieces, sizeof pieces);
    for (int32_t k = 0; k < 3; k++) {
      out->positions[e[k]] = yw_lerp(in->positions[v[k]], in->positions[v[(k + 1) % 3]], 0.5f);
    }
  }
done:
  yw_mem_free(mem, edges);
  yw_mem_free(mem, table.keys);
  yw_mem_free(mem, table.midpoints);
  return status;
}

static double enclosed_volume(const yw_tri_mesh* mesh) {
  double sum = 0;
  for (int32_t t = 0; t < mesh->num_triangles; t++) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    yw_vec3 a = mesh->positions[v[0]], b = mesh->positions[v[1]], c = mesh->positions[v[2]];
    sum += (double)yw_dot(a, yw_cross(b, c)) / 6.0;
  }
  return sum;
}

/// Mean edge and area of the boundary of the tets, and their volume.
typedef struct tet_extent {
  double edge, area, volume;
} tet_extent;

static yw_status measure_tets(const yw_allocator* mem, const yw_tet_mesh* tets, tet_extent* out) {
  yw_tri_mesh boundary = {0};
  yw_status status = yw_tet_mesh_surface(tets, mem, &boundary, NULL);
  if (status < 0) return status;
  *out = (tet_extent){.volume = enclosed_volume(&boundary)};
  for (int32_t t = 0; t < boundary.num_triangles; t++) {
    yw_vec3 p[3];
    for (int k = 0; k < 3; k++) p[k] = boundary.positions[boundary.triangles[3 * t + k]];
    for (int k = 0; k < 3; k++) out->edge += (double)yw_distance(p[k], p[(k + 1) % 3]);
    out->area += 0.5 * (double)yw_length(yw_cross(yw_sub(p[1], p[0]), yw_sub(p[2], p[0])));
  }
  if (boundary.num_triangles > 0) out->edge /= 3.0 * boundary.num_triangles;
  yw_tri_mesh_free(&boundary);
  return YW_OK;
}

// A share of the size of the tets, unless that makes too many triangles.
static float surface_size(const yw_model_spec* model, const tet_extent* extent) {
  if (model->surface.size > 0) return model->surface.size;
  float ratio = model->method->surface_size;
  if (ratio > 0 && model->size > 0) return model->size * ratio;
  double finest = sqrt(extent->area / (TRIANGLE_AREA * DEFAULT_TRIANGLES));
  return (float)fmax(0.5 * extent->edge, finest);
}

// The solid's surface. One that has lost thin parts, which the tets keep, is worse than theirs.
static bool make_solid_surface(yw_loader* l, const yw_model_spec* model, yw_tri_mesh* out) {
  const yw_allocator* mem = &l->scene->mem;
  const yw_json* node = model->keys.surface ? model->keys.surface : model->source_node;
  yw_error deep = {0};
  tet_extent extent;
  if (measure_tets(mem, &model->tets, &extent) < 0) return yw_memory_fail(&l->r);
  float size = surface_size(model, &extent);
  yw_status status = yw_shape_surface(model->surface.solid, mem, size, out, &deep);
  if (model->keys.surface) return status >= 0 || yw_deep_fail(&l->r, node, &deep);
  if (status >= 0 && enclosed_volume(out) > (1.0 - LOST_VOLUME) * extent.volume) return true;
  if (status == YW_ERR_MEMORY) return yw_memory_fail(&l->r);
  yw_tri_mesh_free(out);
  return true;
}

static bool read_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out) {
  yw_error deep = {0};
  const yw_json* node = yw_json_get(model->keys.surface, "file");
  char* file = yw_loader_file(l, model->surface.file);
  if (!file) return yw_memory_fail(&l->r);
  if (yw_tri_mesh_read(file, &l->scene->mem, out, &deep) < 0) {
    return yw_deep_fail(&l->r, node ? node : model->source_node, &deep);
  }
  if (!yw_pick_part(l, model->source_node, model->surface_part, out)) return false;
  if (!yw_mend_surface(l, NULL, out)) return false;
  for (int32_t i = 0; i < out->num_vertices; i++) {
    out->positions[i] = yw_transform_point(model->surface_place, out->positions[i]);
  }
  if (model->surface.subdivide == 0 && model->surface_part == 0) model->surface_path = file;
  // Examples of the surface need the original mesh.
  return yw_tri_mesh_copy(out, &l->scene->mem, &model->surface_mesh) >= 0 || yw_memory_fail(&l->r);
}

static bool make_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out) {
  if (model->surface.file) return read_surface(l, model, out);
  if (model->surface.solid) return make_solid_surface(l, model, out);
  return yw_tet_mesh_surface(&model->tets, &l->scene->mem, out, NULL) >= 0 || yw_memory_fail(&l->r);
}

bool yw_build_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out) {
  if (!model->has_surface) return true;
  bool done = make_surface(l, model, out);
  for (int32_t round = 0; round < model->surface.subdivide && done; round++) {
    yw_tri_mesh finer = {0};
    if (out->num_triangles > MAX_TRIANGLES / 4) {
      done = yw_value_fail(&l->r, yw_json_get(model->keys.surface, "subdivide"),
                           "makes more than %d triangles", MAX_TRIANGLES);
    } else if (subdivide(&l->scene->mem, out, &finer) < 0) {
      done = yw_memory_fail(&l->r);
    } else {
      yw_tri_mesh_free(out);
      *out = finer;
    }
  }
  if (!done) yw_tri_mesh_free(out);
  return done;
}
