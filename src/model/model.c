// SPDX-License-Identifier: MIT
#include "model/model.h"

#include <stdlib.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// The shown surface: the method's own, else the boundary of the tets, else empty.
static yw_status make_surface(yw_model* model, const yw_tet_mesh* mesh) {
  const yw_method* method = model->method;
  if (method->model_surface) {
    yw_status status = method->model_surface(model->data, &model->mem, &model->surface);
    model->own_surface = model->surface.num_vertices > 0;
    if (status < 0 || model->own_surface) return status;
  }
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

static yw_status check_embedded(const yw_model* model, const yw_tri_mesh* surface,
                                yw_error* error) {
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
  return YW_OK;
}

/// A vertex of the surface, sorted by its place.
typedef struct placed_vertex {
  yw_vec3 place;
  int32_t index;
} placed_vertex;

static int compare_places(const void* a, const void* b) {
  const placed_vertex *p = a, *q = b;
  if (p->place.x != q->place.x) return p->place.x < q->place.x ? -1 : 1;
  if (p->place.y != q->place.y) return p->place.y < q->place.y ? -1 : 1;
  if (p->place.z != q->place.z) return p->place.z < q->place.z ? -1 : 1;
  return (p->index > q->index) - (p->index < q->index);
}

static bool same_place(const placed_vertex* p, const placed_vertex* q) {
  return p->place.x == q->place.x && p->place.y == q->place.y && p->place.z == q->place.z;
}

// Vertices at the same place (seams of textures) get the same vector, the sum of theirs, so that
// they move alike and no crack opens between them. False if out of memory.
static bool join_seams(const yw_allocator* mem, const yw_tri_mesh* surface, yw_vec3* vectors) {
  int32_t count = surface->num_vertices;
  placed_vertex* order = YW_NEW_ARRAY(mem, placed_vertex, count);
  if (!order) return false;
  for (int32_t i = 0; i < count; ++i) order[i] = (placed_vertex){surface->positions[i], i};
  qsort(order, (size_t)count, sizeof *order, compare_places);
  for (int32_t begin = 0, end; begin < count; begin = end) {
    yw_vec3 sum = {0, 0, 0};
    for (end = begin; end < count && same_place(&order[begin], &order[end]); ++end) {
      sum = yw_add(sum, vectors[order[end].index]);
    }
    for (int32_t k = begin; k < end; ++k) vectors[order[k].index] = sum;
  }
  yw_mem_free(mem, order);
  return true;
}

// Points outside of the tets, moved inward by their distance along the normal of the surface. Where
// two sides of a gap are nearer to each other than to their own tets, this keeps them apart.
static yw_vec3* move_inward(const yw_allocator* mem, const yw_tri_mesh* surface,
                            const float* outside) {
  yw_vec3* moved = YW_NEW_ARRAY(mem, yw_vec3, surface->num_vertices);
  if (!moved) return NULL;
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    yw_vec3 a = surface->positions[v[0]];
    yw_vec3 normal =
        yw_cross(yw_sub(surface->positions[v[1]], a), yw_sub(surface->positions[v[2]], a));
    for (int k = 0; k < 3; ++k) moved[v[k]] = yw_add(moved[v[k]], normal);
  }
  if (!join_seams(mem, surface, moved)) {
    yw_mem_free(mem, moved);
    return NULL;
  }
  for (int32_t i = 0; i < surface->num_vertices; ++i) {
    yw_vec3 normal = yw_normalize_or(moved[i], yw_v3(0, 0, 0));
    moved[i] = yw_mad(surface->positions[i], -outside[i], normal);
  }
  return moved;
}

/// What embedding a surface makes.
typedef struct embedded_surface {
  yw_tri_mesh surface;
  yw_embedding nearest;
  yw_tet_mesh carrier;
  yw_smooth_embedding smooth;
  int32_t* walls;
  int32_t num_walls;
} embedded_surface;

static void embedded_free(const yw_allocator* mem, embedded_surface* e) {
  yw_mem_free(mem, e->walls);
  yw_tri_mesh_free(&e->surface);
  yw_embedding_free(&e->nearest);
  yw_tet_mesh_free(&e->carrier);
  yw_smooth_embedding_free(&e->smooth);
}

// The boundary of the tets, which contact sees.
static bool find_walls(const yw_model* model, embedded_surface* e) {
  yw_tri_mesh boundary = {0};
  int32_t* vertices = NULL;
  if (yw_tet_mesh_surface(&model->rest, &model->mem, &boundary, &vertices) < 0) return false;
  e->num_walls = boundary.num_triangles;
  e->walls = YW_NEW_ARRAY(&model->mem, int32_t, 3 * (size_t)e->num_walls);
  for (size_t n = 0; e->walls && n < 3 * (size_t)e->num_walls; ++n) {
    e->walls[n] = vertices[boundary.triangles[n]];
  }
  yw_tri_mesh_free(&boundary);
  yw_mem_free(&model->mem, vertices);
  return e->walls != NULL;
}

static yw_status embed_smoothly(const yw_model* model, yw_tasks* tasks, embedded_surface* e,
                                yw_error* error) {
  const yw_allocator* mem = &model->mem;
  const yw_method* method = model->method;
  if (method->carrier_tets && method->carrier_tets(model->data, mem, &e->carrier) < 0) {
    return yw_fail_memory(error, "an embedded surface");
  }
  const yw_tet_mesh* tets = e->carrier.num_tets > 0 ? &e->carrier : &model->rest;
  yw_vec3* inward = move_inward(mem, &e->surface, e->nearest.outside);
  if (!inward) return yw_fail_memory(error, "an embedded surface");
  yw_embedding seeds = {0};
  yw_status status =
      yw_embedding_create(mem, tets, e->surface.num_vertices, inward, tasks, &seeds, error);
  yw_mem_free(mem, inward);
  if (status < 0) return status;
  for (int32_t i = 0; i < seeds.count; ++i) seeds.outside[i] = e->nearest.outside[i];
  status = yw_smooth_embedding_create(mem, tets, e->surface.positions, &seeds, &e->smooth, error);
  yw_embedding_free(&seeds);
  return status;
}

yw_status yw_model_embed_surface(yw_model* model, const yw_tri_mesh* surface, yw_error* error) {
  return yw_model_embed_surface_on(model, surface, NULL, error);
}

yw_status yw_model_embed_surface_on(yw_model* model, const yw_tri_mesh* surface, yw_tasks* tasks,
                                    yw_error* error) {
  yw_error_clear(error);
  yw_status status = check_embedded(model, surface, error);
  if (status < 0) return status;
  embedded_surface fresh = {0};
  status = yw_embedding_create(&model->mem, &model->rest, surface->num_vertices, surface->positions,
                               tasks, &fresh.nearest, error);
  if (status >= 0 && yw_tri_mesh_copy(surface, &model->mem, &fresh.surface) < 0) {
    status = yw_fail_memory(error, "an embedded surface");
  }
  if (status >= 0 && !find_walls(model, &fresh)) {
    status = yw_fail_memory(error, "an embedded surface");
  }
  if (status >= 0) status = embed_smoothly(model, tasks, &fresh, error);
  if (status < 0) {
    embedded_free(&model->mem, &fresh);
    return status;
  }
  embedded_surface old = {model->surface, model->embedding, model->carrier,
                          model->smooth,  model->walls,     model->num_walls};
  embedded_free(&model->mem, &old);
  yw_mem_free(&model->mem, model->surface_vertices);
  model->surface_vertices = NULL;
  model->own_surface = false;
  model->surface = fresh.surface;
  model->embedding = fresh.nearest;
  model->carrier = fresh.carrier;
  model->smooth = fresh.smooth;
  model->walls = fresh.walls;
  model->num_walls = fresh.num_walls;
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
  embedded_surface shown = {model->surface, model->embedding, model->carrier,
                            model->smooth,  model->walls,     model->num_walls};
  embedded_free(&model->mem, &shown);
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

bool yw_model_surface_parts(const yw_model* model) {
  return model->own_surface && model->method->surface_parted;
}

int32_t yw_model_surface_particle(const yw_model* model, int32_t vertex) {
  bool known = yw_model_surface_parts(model) && model->method->surface_particle;
  if (!known || vertex < 0 || vertex >= model->surface.num_vertices) return -1;
  return model->method->surface_particle(model->data, vertex);
}

yw_surface_map yw_model_surface_map(const yw_model* model) {
  return (yw_surface_map){model->surface_vertices, model->embedding.points};
}

yw_surface_rig yw_model_surface_rig(const yw_model* model) {
  const yw_tet_mesh* tets = model->carrier.num_tets > 0 ? &model->carrier : &model->rest;
  return (yw_surface_rig){tets, &model->surface, model->smooth.first, model->smooth.links};
}

yw_status yw_model_surface_positions(const yw_model* model, const yw_vec3* positions,
                                     yw_vec3* out) {
  if (model->own_surface) return YW_ERR_INVALID;
  if (!model->surface_vertices && model->surface.num_vertices > 0) {
    yw_surface_rig rig = yw_model_surface_rig(model);
    return yw_surface_rig_move(&rig, positions, out);
  }
  for (int32_t i = 0; i < model->surface.num_vertices; ++i) {
    out[i] = positions[model->surface_vertices[i]];
  }
  return YW_OK;
}
