// SPDX-License-Identifier: MIT
#include "model/model.h"

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// The shown surface: the method's own, else the boundary of the tets, else empty.
static yw_status make_surface(yw_model* model, const yw_tet_mesh* mesh) {
  const yw_method* method = model->method;
  model->own_surface = method->model_surface != NULL;
  if (model->own_surface) return method->model_surface(model->data, &model->mem, &model->surface);
  if (!mesh) return YW_OK;
  return yw_tet_mesh_surface(mesh, &model->mem, &model->surface, &model->surface_vertices);
}

static yw_status wrap_model(const yw_allocator* mem, const yw_method* method, void* data,
                            const yw_tet_mesh* mesh, yw_model** out, yw_error* error) {
  *out = NULL;
  yw_model* model = YW_NEW(mem, yw_model);
  if (!model) {
    method->model_destroy(data);
    return yw_fail_memory(error, "a model");
  }
  model->mem = yw_mem_or_default(mem);
  atomic_init(&model->references, 1);
  model->method = method;
  model->data = data;
  model->hash = method->model_hash(data);
  if ((mesh && yw_tet_mesh_copy(mesh, mem, &model->rest) < 0) || make_surface(model, mesh) < 0) {
    yw_model_release(model);
    return yw_fail_memory(error, "the surface of a model");
  }
  *out = model;
  return YW_OK;
}

// Name of a required function that the table lacks, or NULL.
static const char* missing_in(const yw_method* m) {
  if (!m->name) return "name";
  if (!m->model_destroy) return "model_destroy";
  if (!m->model_hash) return "model_hash";
  if (!m->model_num_particles) return "model_num_particles";
  if (!m->body_create) return "body_create";
  if (!m->body_destroy) return "body_destroy";
  if (!m->advance) return "advance";
  if (!m->invalidate) return "invalidate";
  if (!m->contact_geometry) return "contact_geometry";
  if (!m->save) return "save";
  if (!m->load) return "load";
  if (m->model_surface && !m->surface_positions) return "surface_positions";
  if (m->num_fields && !m->field_info) return "field_info";
  if (m->num_fields && !m->field_values) return "field_values";
  return NULL;
}

yw_status yw_model_create_custom(const yw_allocator* mem, const yw_method* method, void* data,
                                 const yw_tet_mesh* mesh, yw_model** out, yw_error* error) {
  const char* missing = !method ? "a table" : !out ? "out" : missing_in(method);
  if (!missing) return wrap_model(mem, method, data, mesh, out, error);
  if (out) *out = NULL;
  if (method && method->model_destroy) method->model_destroy(data);
  return yw_fail(error, YW_ERR_INVALID, "a model of method \"%s\" lacks %s",
                 method && method->name ? method->name : "", missing);
}

const void* yw_model_data(const yw_model* model, const yw_method* method) {
  return model && model->method == method ? model->data : NULL;
}

yw_status yw_model_embed_surface(yw_model* model, const yw_tri_mesh* surface, yw_error* error) {
  yw_error_clear(error);
  if (!model || !surface || surface->num_vertices < 1) {
    return yw_fail(error, YW_ERR_INVALID, "the embedded surface has no vertices");
  }
  if (model->rest.num_tets < 1) {
    return yw_fail(
        error, YW_ERR_INVALID,
        "a surface can be embedded in tets only, but a body of method \"%s\" made without "
        "them has its own",
        model->method->name);
  }
  if (atomic_load(&model->references) != 1) {
    return yw_fail(error, YW_ERR_INVALID,
                   "a surface must be embedded before the first body of the model is made");
  }
  for (int64_t i = 0; i < 3 * (int64_t)surface->num_triangles; ++i) {
    int32_t corner = surface->triangles[i];
    if (corner < 0 || corner >= surface->num_vertices) {
      return yw_fail(
          error, YW_ERR_GEOMETRY,
          "triangle %d of the embedded surface has vertex %d, but there are %d (0 to %d)",
          (int)(i / 3), corner, surface->num_vertices, surface->num_vertices - 1);
    }
  }
  yw_tri_mesh copy = {0};
  yw_embedding embedding = {0};
  yw_status status = yw_embedding_create(&model->mem, &model->rest, surface->num_vertices,
                                         surface->positions, &embedding, error);
  if (status < 0) return status;
  if (yw_tri_mesh_copy(surface, &model->mem, &copy) < 0) {
    yw_embedding_free(&embedding);
    return yw_fail_memory(error, "an embedded surface");
  }
  yw_tri_mesh_free(&model->surface);
  yw_embedding_free(&model->embedding);
  yw_mem_free(&model->mem, model->surface_vertices);
  model->surface_vertices = NULL;
  model->own_surface = false;
  model->surface = copy;
  model->embedding = embedding;
  return YW_OK;
}

yw_model* yw_model_retain(yw_model* model) {
  if (model) atomic_fetch_add(&model->references, 1);
  return model;
}

void yw_model_release(yw_model* model) {
  if (!model || atomic_fetch_sub(&model->references, 1) != 1) return;
  model->method->model_destroy(model->data);
  yw_tet_mesh_free(&model->rest);
  yw_tri_mesh_free(&model->surface);
  yw_embedding_free(&model->embedding);
  yw_mem_free(&model->mem, model->surface_vertices);
  yw_allocator mem = model->mem;
  yw_mem_free(&mem, model);
}

const char* yw_model_method(const yw_model* model) { return model->method->name; }

int32_t yw_model_num_particles(const yw_model* model) {
  return model->method->model_num_particles(model->data);
}

const yw_tri_mesh* yw_model_surface(const yw_model* model) { return &model->surface; }

const yw_tet_mesh* yw_model_tets(const yw_model* model) { return &model->rest; }

const int32_t* yw_model_elements(const yw_model* model, int32_t* corners, int32_t* count) {
  *corners = *count = 0;
  if (!model->method->model_elements) return NULL;
  return model->method->model_elements(model->data, corners, count);
}

const yw_vec3* yw_model_points(const yw_model* model, int32_t* count) {
  const yw_method* method = model->method;
  const yw_vec3* points = model->rest.positions;
  if (!points && method->model_points) points = method->model_points(model->data);
  if (count) *count = points ? method->model_num_particles(model->data) : 0;
  return points;
}

bool yw_model_surface_has_state(const yw_model* model) { return model->own_surface; }

yw_surface_map yw_model_surface_map(const yw_model* model) {
  return (yw_surface_map){model->surface_vertices, model->embedding.points};
}

yw_status yw_model_surface_positions(const yw_model* model, const yw_vec3* positions,
                                     yw_vec3* out) {
  if (model->own_surface) return YW_ERR_INVALID;
  for (int32_t i = 0; i < model->surface.num_vertices; ++i) {
    if (model->surface_vertices) {
      out[i] = positions[model->surface_vertices[i]];
      continue;
    }
    const yw_embedded_point* point = &model->embedding.points[i];
    yw_vec3 sum = {0, 0, 0};
    for (int k = 0; k < 4; ++k) sum = yw_mad(sum, point->weights[k], positions[point->vertices[k]]);
    out[i] = sum;
  }
  return YW_OK;
}
