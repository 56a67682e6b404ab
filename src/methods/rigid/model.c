// SPDX-License-Identifier: MIT
// From a surface or tets to mass, particles and contact geometry.
#include "methods/rigid/model.h"

#include <string.h>

#include "geometry/mass.h"
#include "math/small/mat3d.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// The surface of the body, with the particles that its vertices are.
typedef struct skin {
  yw_tri_mesh mesh;
  int32_t* particles;  // NULL: the same numbers
} skin;

void yw_rigid_model_destroy(void* data) {
  rigid_model* model = data;
  if (!model) return;
  yw_allocator mem = model->mem;
  void* arrays[] = {model->rest,  model->local,     model->particle_mass,
                    model->tets,  model->triangles, model->surface,
                    model->balls, model->groups,    model->shown_local};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(&mem, arrays[i]);
  yw_tri_mesh_free(&model->shown);
  yw_mem_free(&mem, model);
}

// Checks ------------------------------------------------------------------------------------------

static yw_status check_surface(const yw_tri_mesh* surface, const yw_allocator* mem,
                               yw_error* error) {
  if (surface->num_triangles < 4) {
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "rigid: the surface has %d triangles, but a closed one "
                   "has 4 or more",
                   surface->num_triangles);
  }
  for (int32_t i = 0; i < surface->num_vertices; ++i) {
    if (!yw_is_finite3(surface->positions[i])) {
      return yw_fail(error, YW_ERR_GEOMETRY, "rigid: vertex %d of the surface is not finite", i);
    }
  }
  for (int64_t i = 0; i < 3 * (int64_t)surface->num_triangles; ++i) {
    int32_t v = surface->triangles[i];
    if (v < 0 || v >= surface->num_vertices) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "rigid: triangle %d of the surface has vertex %d, but there are %d",
                     (int)(i / 3), v, surface->num_vertices);
    }
  }
  int32_t edge[2];
  yw_status status;
  bool open = yw_surface_open_edge(surface, mem, edge, &status);
  if (status < 0) return yw_fail_memory(error, "a rigid model");
  if (!open) return YW_OK;
  return yw_fail(error, YW_ERR_GEOMETRY,
                 "rigid: the surface is not closed, or its triangles do not face the same way: see "
                 "the edge from vertex %d to %d. Close it, or use it as a shape ({\"shape\": "
                 "{\"mesh\": file}}), which allows holes",
                 edge[0], edge[1]);
}

static yw_status check_def(const yw_rigid_def* def, const yw_allocator* mem, yw_error* error) {
  if (!def->mesh == !def->surface) {
    return yw_fail(error, YW_ERR_INVALID, "rigid: needs a mesh or a surface, and not both");
  }
  if (!(def->density > 0.0f) || !isfinite(def->density)) {
    return yw_fail(error, YW_ERR_INVALID, "rigid: density is %g, but must be finite and above 0",
                   (double)def->density);
  }
  if (!(def->params.damping >= 0.0f) || !isfinite(def->params.damping)) {
    return yw_fail(error, YW_ERR_INVALID, "rigid: damping is %g, but must be finite and at least 0",
                   (double)def->params.damping);
  }
  return def->mesh ? yw_tet_mesh_check(def->mesh, error) : check_surface(def->surface, mem, error);
}

// Mass --------------------------------------------------------------------------------------------

static yw_status find_mass(rigid_model* model, const yw_rigid_def* def, const yw_tri_mesh* surface,
                           yw_error* error) {
  yw_solid_moments own = yw_surface_moments(surface), m = own;
  if (def->shape) m = yw_shape_moments(surface, def->shape);
  // A shape that has little to do with the surface.
  if (!(m.volume > 0.5 * own.volume && m.volume < 2.0 * own.volume)) m = own;
  double rho = (double)def->density, *c = model->center;
  for (int k = 0; k < 3; ++k) c[k] = m.first[k] / m.volume;
  double second[6] = {m.second[0] - m.volume * c[0] * c[0], m.second[1] - m.volume * c[1] * c[1],
                      m.second[2] - m.volume * c[2] * c[2], m.second[3] - m.volume * c[0] * c[1],
                      m.second[4] - m.volume * c[0] * c[2], m.second[5] - m.volume * c[1] * c[2]};
  model->mass = rho * m.volume;
  yw_sym_turning(second, model->inertia);
  for (int k = 0; k < 6; ++k) model->inertia[k] *= rho;
  double axes[4];
  yw_principal_axes(model->inertia, model->moments, axes);
  model->axes = (yw_turn){axes[0], axes[1], axes[2], axes[3]};
  bool good = model->mass > 0.0 && isfinite(model->mass);
  for (int k = 0; k < 3; ++k) good = good && model->moments[k] > 0.0;
  if (good) return YW_OK;
  return yw_fail(error, YW_ERR_GEOMETRY, "rigid: the body has no volume (%g m^3)", m.volume);
}

// Particles ---------------------------------------------------------------------------------------

// A share of the mass for every vertex: a third of the triangles' areas around it, or a quarter of
// the tets' volumes. The caller frees them.
static float* vertex_weights(const rigid_model* model, const yw_rigid_def* def) {
  int32_t count = model->num_particles - RIGID_INNER;
  float* weights = YW_NEW_ARRAY(&model->mem, float, count);
  for (int32_t i = 0; weights && def->surface && i < def->surface->num_triangles; ++i) {
    const int32_t* v = def->surface->triangles + 3 * (size_t)i;
    const yw_vec3* x = def->surface->positions;
    float area = yw_length(yw_cross(yw_sub(x[v[1]], x[v[0]]), yw_sub(x[v[2]], x[v[0]])));
    for (int k = 0; k < 3; ++k) weights[v[k]] += area;
  }
  for (int32_t i = 0; weights && def->mesh && i < def->mesh->num_tets; ++i) {
    const int32_t* v = def->mesh->tets + 4 * (size_t)i;
    const yw_vec3* x = def->mesh->positions;
    float volume = yw_dot(yw_cross(yw_sub(x[v[1]], x[v[0]]), yw_sub(x[v[2]], x[v[0]])),
                          yw_sub(x[v[3]], x[v[0]]));
    for (int k = 0; k < 4; ++k) weights[v[k]] += volume;
  }
  return weights;
}

static yw_status fill_particles(rigid_model* model, const yw_rigid_def* def, yw_error* error) {
  const yw_vec3* x = def->mesh ? def->mesh->positions : def->surface->positions;
  int32_t count = def->mesh ? def->mesh->num_vertices : def->surface->num_vertices;
  model->num_particles = count + RIGID_INNER;
  model->rest = YW_NEW_ARRAY(&model->mem, yw_vec3, model->num_particles);
  model->local = YW_NEW_ARRAY(&model->mem, yw_vec3, model->num_particles);
  model->particle_mass = YW_NEW_ARRAY(&model->mem, float, model->num_particles);
  float* weights = vertex_weights(model, def);
  yw_status status = YW_ERR_MEMORY;
  if (model->rest && model->local && model->particle_mass && weights) {
    memcpy(model->rest, x, (size_t)count * sizeof *x);
    for (int32_t i = 0; i < count; ++i) {
      double local[3];
      yw_rigid_to_local(model, x[i], local);
      model->local[i] = yw_v3((float)local[0], (float)local[1], (float)local[2]);
    }
    status = yw_rigid_spread_mass(model, weights, count, error);
  } else {
    yw_fail_memory(error, "a rigid model");
  }
  yw_mem_free(&model->mem, weights);
  return status;
}

// Contact -----------------------------------------------------------------------------------------

// Tets from the centre to every triangle, for bodies whose surface is all visible from there.
static bool fill_fan(rigid_model* model) {
  int32_t centre = model->num_particles - RIGID_INNER;
  for (int32_t i = 0; i < model->num_triangles; ++i) {
    const int32_t* v = model->triangles + 3 * (size_t)i;
    yw_vec3 a = model->local[v[0]], b = model->local[v[1]], c = model->local[v[2]];
    float height = yw_dot(yw_cross(a, b), c), size = model->size;
    if (!(height > 1e-7f * size * size * size)) return true;
  }
  model->tets = YW_NEW_ARRAY(&model->mem, int32_t, 4 * (size_t)model->num_triangles);
  if (!model->tets) return false;
  model->num_tets = model->num_triangles;
  for (int32_t i = 0; i < model->num_triangles; ++i) {
    model->tets[4 * (size_t)i] = centre;
    memcpy(model->tets + 4 * (size_t)i + 1, model->triangles + 3 * (size_t)i, 3 * sizeof(int32_t));
  }
  return true;
}

static bool fill_contact(rigid_model* model, const yw_rigid_def* def, const skin* s) {
  size_t corners = 3 * (size_t)s->mesh.num_triangles;
  model->num_triangles = s->mesh.num_triangles;
  model->triangles = YW_NEW_ARRAY(&model->mem, int32_t, corners);
  model->surface = YW_NEW_ARRAY(&model->mem, int32_t, s->mesh.num_vertices);
  bool* outside = YW_NEW_ARRAY(&model->mem, bool, model->num_particles);
  bool good = model->triangles && model->surface && outside;
  for (size_t i = 0; good && i < corners; ++i) {
    int32_t v = s->mesh.triangles[i];
    model->triangles[i] = s->particles ? s->particles[v] : v;
    outside[model->triangles[i]] = true;
  }
  for (int32_t i = 0; good && i < model->num_particles; ++i) {
    if (outside[i]) model->surface[model->num_surface++] = i;
  }
  yw_mem_free(&model->mem, outside);
  if (!good || !def->mesh) return good && fill_fan(model);
  model->num_tets = def->mesh->num_tets;
  model->tets = YW_NEW_ARRAY(&model->mem, int32_t, 4 * (size_t)model->num_tets);
  if (!model->tets) return false;
  memcpy(model->tets, def->mesh->tets, 4 * (size_t)model->num_tets * sizeof *model->tets);
  return true;
}

static bool fill_shown(rigid_model* model, const yw_tri_mesh* shown) {
  if (yw_tri_mesh_copy(shown, &model->mem, &model->shown) < 0) return false;
  model->shown_local = YW_NEW_ARRAY(&model->mem, yw_vec3, shown->num_vertices);
  for (int32_t i = 0; model->shown_local && i < shown->num_vertices; ++i) {
    double local[3];
    yw_rigid_to_local(model, shown->positions[i], local);
    model->shown_local[i] = yw_v3((float)local[0], (float)local[1], (float)local[2]);
  }
  return model->shown_local != NULL;
}

// The model ---------------------------------------------------------------------------------------

// Member by member: structs may have padding.
static uint64_t hash_of(const rigid_model* m) {
  size_t n = (size_t)m->num_particles;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, &m->mass, sizeof m->mass);
  hash = yw_hash_bytes(hash, m->moments, sizeof m->moments);
  hash = yw_hash_bytes(hash, m->center, sizeof m->center);
  hash = yw_hash_bytes(hash, &m->axes, sizeof m->axes);
  hash = yw_hash_bytes(hash, m->local, n * sizeof *m->local);
  hash = yw_hash_bytes(hash, m->particle_mass, n * sizeof *m->particle_mass);
  hash = yw_hash_bytes(hash, m->balls, (size_t)m->num_balls * sizeof *m->balls);
  hash = yw_hash_bytes(hash, m->triangles, 3 * (size_t)m->num_triangles * sizeof *m->triangles);
  return m->tets ? yw_hash_bytes(hash, m->tets, 4 * (size_t)m->num_tets * sizeof *m->tets) : hash;
}

static yw_status find_skin(const yw_rigid_def* def, const yw_allocator* mem, skin* out,
                           yw_error* error) {
  yw_status status = def->mesh ? yw_tet_mesh_surface(def->mesh, mem, &out->mesh, &out->particles)
                               : yw_tri_mesh_copy(def->surface, mem, &out->mesh);
  if (status < 0) return yw_fail(error, status, "rigid: the surface could not be made");
  if (yw_surface_moments(&out->mesh).volume >= 0.0) return YW_OK;
  // Inside out.
  for (int32_t i = 0; i < out->mesh.num_triangles; ++i) {
    int32_t* v = out->mesh.triangles + 3 * (size_t)i;
    int32_t first = v[0];
    v[0] = v[1];
    v[1] = first;
  }
  return YW_OK;
}

static yw_status fill_model(rigid_model* model, const yw_rigid_def* def, const skin* s,
                            yw_error* error) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < s->mesh.num_vertices; ++i) box = yw_aabb_grow(box, s->mesh.positions[i]);
  model->size = yw_distance(box.lower, box.upper);
  yw_status status = find_mass(model, def, &s->mesh, error);
  if (status >= 0) status = fill_particles(model, def, error);
  if (status < 0) return status;
  if (!fill_contact(model, def, s) || !yw_rigid_fill_balls(model, &s->mesh, def->shape) ||
      !yw_rigid_fill_faces(model) || !fill_shown(model, def->shown ? def->shown : &s->mesh)) {
    return yw_fail_memory(error, "a rigid model");
  }
  model->hash = hash_of(model);
  return YW_OK;
}

yw_status yw_rigid_model_create(const yw_allocator* mem, const yw_rigid_def* def, void** out,
                                yw_error* error) {
  *out = NULL;
  yw_status status = check_def(def, mem, error);
  if (status < 0) return status;
  rigid_model* model = YW_NEW(mem, rigid_model);
  if (!model) return yw_fail_memory(error, "a rigid model");
  model->mem = yw_mem_or_default(mem);
  model->params = def->params;
  skin s = {0};
  status = find_skin(def, &model->mem, &s, error);
  if (status >= 0) status = fill_model(model, def, &s, error);
  yw_mem_free(&model->mem, s.particles);
  yw_tri_mesh_free(&s.mesh);
  if (status < 0) {
    yw_rigid_model_destroy(model);
    return status;
  }
  *out = model;
  return YW_OK;
}
