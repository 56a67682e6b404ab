// SPDX-License-Identifier: MIT
// The finer triangle mesh embedded in a model for display.
#include <math.h>
#include <string.h>

#include "scene/method.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"

#define MAX_TRIANGLES 8000000

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

static float surface_size(const yw_model_spec* model) {
  if (model->surface.size > 0) return model->surface.size;
  float ratio = model->method->surface_size;
  if (model->size > 0) return model->size * (ratio > 0 ? ratio : 0.5f);
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < model->tets.num_vertices; i++) {
    box = yw_aabb_grow(box, model->tets.positions[i]);
  }
  yw_vec3 size = yw_sub(box.upper, box.lower);
  return fmaxf(size.x, fmaxf(size.y, size.z)) / 24.0f;
}

static bool read_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out) {
  yw_error deep = {0};
  const yw_json* node = yw_json_get(model->keys.surface, "file");
  char* file = yw_loader_file(l, model->surface.file);
  if (!file) return yw_memory_fail(&l->r);
  if (yw_tri_mesh_read(file, &l->scene->mem, out, &deep) < 0) {
    return yw_deep_fail(&l->r, node, &deep);
  }
  for (int32_t i = 0; i < out->num_vertices; i++) {
    out->positions[i] = yw_scale(out->positions[i], model->scale);
  }
  // Examples of the surface need the original mesh.
  return yw_tri_mesh_copy(out, &l->scene->mem, &model->surface_mesh) >= 0 || yw_memory_fail(&l->r);
}

static bool make_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out) {
  const yw_allocator* mem = &l->scene->mem;
  if (model->surface.file) return read_surface(l, model, out);
  if (!model->surface.solid) {
    return yw_tet_mesh_surface(&model->tets, mem, out, NULL) >= 0 || yw_memory_fail(&l->r);
  }
  yw_error deep = {0};
  return yw_shape_surface(model->surface.solid, mem, surface_size(model), out, &deep) >= 0 ||
         yw_deep_fail(&l->r, model->keys.surface, &deep);
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
