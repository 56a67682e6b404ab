// SPDX-License-Identifier: MIT
#include "world/model.h"

#include <string.h>

#include "methods/fem/fem.h"
#include "methods/frames/frames.h"
#include "methods/match/match.h"
#include "methods/plastic/plastic.h"
#include "methods/slender/slender.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

static bool copy_tets(const yw_allocator* mem, const yw_tet_mesh* from, yw_tet_mesh* to) {
  if (yw_tet_mesh_create(mem, from->num_vertices, from->num_tets, to) < 0) return false;
  memcpy(to->positions, from->positions, sizeof(yw_vec3) * (size_t)from->num_vertices);
  if (from->num_tets > 0) {
    memcpy(to->tets, from->tets, sizeof(int32_t) * 4 * (size_t)from->num_tets);
  }
  return true;
}

static bool copy_triangles(const yw_allocator* mem, const yw_tri_mesh* from, yw_tri_mesh* to) {
  if (yw_tri_mesh_create(mem, from->num_vertices, from->num_triangles, to) < 0) return false;
  memcpy(to->positions, from->positions, sizeof(yw_vec3) * (size_t)from->num_vertices);
  memcpy(to->triangles, from->triangles, sizeof(int32_t) * 3 * (size_t)from->num_triangles);
  if (!from->colors) return true;
  to->colors = YW_NEW_ARRAY(mem, yw_vec3, from->num_vertices);
  if (!to->colors) return false;
  memcpy(to->colors, from->colors, sizeof(yw_vec3) * (size_t)from->num_vertices);
  return true;
}

// What the model shows: what the method makes, else the boundary of the tets, else nothing.
static yw_status make_surface(yw_model* model, const yw_tet_mesh* mesh) {
  const yw_method* method = model->method;
  model->own_surface = method->model_surface != NULL;
  if (model->own_surface) return method->model_surface(model->data, &model->mem, &model->surface);
  if (!mesh) return YW_OK;
  return yw_tet_mesh_surface(mesh, &model->mem, &model->surface, &model->surface_vertices);
}

yw_status yw_model_wrap(const yw_allocator* mem, const yw_method* method, void* data,
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
  if ((mesh && !copy_tets(mem, mesh, &model->rest)) || make_surface(model, mesh) < 0) {
    yw_model_release(model);
    return yw_fail_memory(error, "the surface of a model");
  }
  *out = model;
  return YW_OK;
}

// What a table lacks, or NULL.
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
  yw_error_clear(error);
  const char* missing = !method ? "a table" : !out ? "out" : missing_in(method);
  if (!missing) return yw_model_wrap(mem, method, data, mesh, out, error);
  if (out) *out = NULL;
  if (method && method->model_destroy) method->model_destroy(data);
  return yw_fail(error, YW_ERR_INVALID, "a model of method \"%s\" lacks %s",
                 method && method->name ? method->name : "", missing);
}

yw_match_def yw_default_match_def(void) {
  return (yw_match_def){
      .density = 1000.0f,
      .params = {.alpha = 0.8f, .beta = 0.95f, .damping = 2.0f, .viscosity = 0.015f}};
}

yw_status yw_model_create_match(const yw_allocator* mem, const yw_match_def* def, yw_model** out,
                                yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "match model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_match_model_create(mem, def, &data, error);
  if (built < 0) return built;
  yw_status wrapped = yw_model_wrap(mem, &yw_match_method, data, def->mesh, out, error);
  return wrapped < 0 ? wrapped : built;
}

yw_status yw_model_create_frames(const yw_allocator* mem, const yw_frames_def* def, yw_model** out,
                                 yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "frames model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_frames_model_create(mem, def, &data, error);
  if (built < 0) return built;
  yw_status wrapped = yw_model_wrap(mem, &yw_frames_method, data, def->mesh, out, error);
  return wrapped < 0 ? wrapped : built;
}

static const yw_slender_params slender_defaults = {
    .tolerance = 1e-3f, .substeps = 10, .sweeps = 1, .stiffness = 0.5f};

yw_rod_def yw_default_rod_def(void) {
  return (yw_rod_def){.radius = 0.01f,
                      .width = 0.02f,
                      .thickness = 0.02f,
                      .density = 1000.0f,
                      .youngs_modulus = 1e6f,
                      .poissons_ratio = 0.3f,
                      .params = slender_defaults};
}

yw_sheet_def yw_default_sheet_def(void) {
  return (yw_sheet_def){.thickness = 0.002f,
                        .density = 1000.0f,
                        .youngs_modulus = 1e6f,
                        .poissons_ratio = 0.3f,
                        .params = slender_defaults};
}

yw_status yw_model_create_rod(const yw_allocator* mem, const yw_rod_def* def, yw_model** out,
                              yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "rod: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status status = yw_rod_model_create(mem, def, &data, error);
  return status < 0 ? status : yw_model_wrap(mem, &yw_slender_method, data, NULL, out, error);
}

yw_status yw_model_create_sheet(const yw_allocator* mem, const yw_sheet_def* def, yw_model** out,
                                yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "sheet: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status status = yw_sheet_model_create(mem, def, &data, error);
  return status < 0 ? status : yw_model_wrap(mem, &yw_slender_method, data, NULL, out, error);
}

yw_fem_def yw_default_fem_def(void) {
  return (yw_fem_def){
      .max_level = 3,
      .max_bytes = 2e9,
      .youngs_modulus = 1e5f,
      .poissons_ratio = 0.3f,
      .density = 1000.0f,
      .params = {.tau = 0.01f,
                 .safety = 0.75f,
                 .mass_damping = 0.5f,
                 .soften = true,
                 .strain_range = 0.02f,
                 .creep = 10.0f,
                 .max_plastic = 1.0f,
                 .sleep_speed = 0.001f},
  };
}

// The model's own mesh is the finest level: all particles are its vertices.
yw_status yw_model_create_fem(const yw_allocator* mem, const yw_fem_def* def, yw_model** out,
                              yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "fem model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_fem_model_create(mem, def, &data, error);
  if (built < 0) return built;
  yw_tet_mesh finest = {0};
  yw_status status = yw_fem_finest_mesh(mem, yw_fem_hierarchy_of(data), &finest, error);
  if (status < 0) {
    yw_fem_model_destroy(data);
    return status;
  }
  status = yw_model_wrap(mem, &yw_fem_method, data, &finest, out, error);
  yw_tet_mesh_free(&finest);
  return status < 0 ? status : built;
}

yw_status yw_model_fem_info(const yw_model* model, yw_fem_info* out) {
  if (!model || !out || model->method != &yw_fem_method) return YW_ERR_INVALID;
  yw_fem_model_info(model->data, out);
  return YW_OK;
}

yw_status yw_model_create_plastic(const yw_allocator* mem, const yw_plastic_def* def,
                                  yw_model** out, yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "plastic model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_plastic_model_create(mem, def, &data, error);
  if (built < 0) return built;
  yw_status wrapped = yw_model_wrap(mem, &yw_plastic_method, data, NULL, out, error);
  return wrapped < 0 ? wrapped : built;
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
  if (!copy_triangles(&model->mem, surface, &copy)) {
    yw_tri_mesh_free(&copy);
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
