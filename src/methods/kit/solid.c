// SPDX-License-Identifier: MIT
#include "methods/kit/solid.h"

#include <math.h>

#include "math/small/mat3d.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

static bool fill_tets(yw_solid* solid, const yw_allocator* mem, const yw_tet_mesh* mesh,
                      const yw_tri_mesh* surface, const int32_t* vertex_of_surface) {
  const int32_t* place = solid->particle_of_vertex;
  size_t tets = 4 * (size_t)mesh->num_tets, triangles = 3 * (size_t)surface->num_triangles;
  solid->num_tets = mesh->num_tets;
  solid->num_triangles = surface->num_triangles;
  solid->num_surface = surface->num_vertices;
  solid->tets = YW_NEW_ARRAY(mem, int32_t, tets);
  solid->triangles = YW_NEW_ARRAY(mem, int32_t, triangles);
  solid->surface = YW_NEW_ARRAY(mem, int32_t, surface->num_vertices);
  bool* outside = YW_NEW_ARRAY(mem, bool, mesh->num_vertices);
  bool good = solid->tets && solid->triangles && solid->surface && outside;
  if (good) {
    for (size_t n = 0; n < tets; ++n) solid->tets[n] = place[mesh->tets[n]];
    for (size_t n = 0; n < triangles; ++n) {
      solid->triangles[n] = place[vertex_of_surface[surface->triangles[n]]];
    }
    for (int32_t s = 0; s < surface->num_vertices; ++s) outside[place[vertex_of_surface[s]]] = true;
    for (int32_t p = 0, count = 0; p < mesh->num_vertices; ++p) {
      if (outside[p]) solid->surface[count++] = p;
    }
  }
  yw_mem_free(mem, outside);
  return good;
}

yw_status yw_solid_add_tets(yw_solid* solid, const yw_allocator* mem, const yw_tet_mesh* mesh,
                            const char* what, yw_error* error) {
  yw_tri_mesh surface = {0};
  int32_t* vertex_of_surface = NULL;
  yw_status status = yw_tet_mesh_surface(mesh, mem, &surface, &vertex_of_surface);
  if (status < 0) return yw_fail(error, status, "the surface of the mesh could not be found");
  bool good = fill_tets(solid, mem, mesh, &surface, vertex_of_surface);
  yw_mem_free(mem, vertex_of_surface);
  yw_tri_mesh_free(&surface);
  return good ? YW_OK : yw_fail_memory(error, what);
}

void yw_solid_free(yw_solid* solid, const yw_allocator* mem) {
  yw_mem_free(mem, solid->mass);
  yw_mem_free(mem, solid->rest_positions);
  yw_mem_free(mem, solid->particle_of_vertex);
  yw_mem_free(mem, solid->tets);
  yw_mem_free(mem, solid->triangles);
  yw_mem_free(mem, solid->surface);
  *solid = (yw_solid){0};
}

uint64_t yw_solid_hash(const yw_solid* solid, int32_t num_particles, uint64_t hash) {
  size_t n = (size_t)num_particles;
  hash = yw_hash_bytes(hash, solid->rest_positions, n * sizeof *solid->rest_positions);
  hash = yw_hash_bytes(hash, solid->mass, n * sizeof *solid->mass);
  return yw_hash_bytes(hash, solid->tets, 4 * (size_t)solid->num_tets * sizeof *solid->tets);
}

yw_contact_geometry yw_solid_contact_geometry(const yw_solid* solid) {
  return (yw_contact_geometry){
      .tets = solid->tets,
      .num_tets = solid->num_tets,
      .triangles = solid->triangles,
      .num_triangles = solid->num_triangles,
      .surface_particles = solid->surface,
      .num_surface_particles = solid->num_surface,
      .rest = solid->rest_positions,
  };
}

void yw_solid_put_at_rest(const yw_solid* solid, yw_particles* particles) {
  for (int32_t p = 0; p < particles->count; ++p) {
    particles->pos[p] = yw_v4(solid->rest_positions[p]);
    particles->mass[p] = solid->mass[p];
    particles->inv_mass[p] = 1.0f / solid->mass[p];
  }
}

// Edges of a tet from its first corner.
static void edges_of(yw_vec3 a, yw_vec3 b, yw_vec3 c, yw_vec3 d, double edges[3][3]) {
  const yw_vec3 ends[3] = {b, c, d};
  for (int k = 0; k < 3; ++k) {
    edges[k][0] = (double)ends[k].x - (double)a.x;
    edges[k][1] = (double)ends[k].y - (double)a.y;
    edges[k][2] = (double)ends[k].z - (double)a.z;
  }
}

// |E|^2 of the map that takes the edges at rest to those of now; det: six times the volume at rest.
static double strain2_of(double rest[3][3], double now[3][3], double* det) {
  double f[9] = {0}, product[9], normals[3][3], sum = 0.0;
  for (int k = 0; k < 3; ++k) yw_cross3(rest[(k + 1) % 3], rest[(k + 2) % 3], normals[k]);
  *det = yw_dot3(rest[0], normals[0]);
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 9; ++i) f[i] += now[k][i / 3] * normals[k][i % 3] / *det;
  }
  yw_m3_mul_tn(f, f, product);
  for (int i = 0; i < 9; ++i) {
    double strain = 0.5 * (product[i] - (i % 4 == 0 ? 1.0 : 0.0));
    sum += strain * strain;
  }
  return sum;
}

double yw_solid_mean_strain2(const yw_solid* solid, const yw_particles* particles) {
  const yw_vec3* x0 = solid->rest_positions;
  const yw_vec4* x = particles->pos;
  double sum = 0.0, volume = 0.0;
  for (int32_t t = 0; t < solid->num_tets; ++t) {
    const int32_t* v = solid->tets + 4 * (size_t)t;
    double rest[3][3], now[3][3], det;
    edges_of(x0[v[0]], x0[v[1]], x0[v[2]], x0[v[3]], rest);
    edges_of(yw_xyz(x[v[0]]), yw_xyz(x[v[1]]), yw_xyz(x[v[2]]), yw_xyz(x[v[3]]), now);
    double strain2 = strain2_of(rest, now, &det);
    if (det == 0.0) continue;
    sum += fabs(det) * strain2;
    volume += fabs(det);
  }
  return volume > 0.0 ? sum / volume : 0.0;
}

yw_status yw_solid_check_examples(int32_t count, const yw_vec3* const* examples, yw_error* error) {
  if (count < 0 || count > YW_MAX_EXAMPLES) {
    return yw_fail(error, YW_ERR_INVALID, "there are %d examples, but at most %d are allowed",
                   count, YW_MAX_EXAMPLES);
  }
  for (int32_t k = 0; k < count; ++k) {
    if (!examples || !examples[k]) {
      return yw_fail(error, YW_ERR_INVALID, "examples[%d] is missing", k);
    }
  }
  return YW_OK;
}

yw_status yw_solid_take_strengths(int32_t count, const float* given, float* out, yw_error* error) {
  for (int32_t k = 0; k < count; ++k) {
    out[k] = given ? given[k] : 1.0f;
    if (!(out[k] >= 0.0f && out[k] <= 1.0f)) {
      return yw_fail(error, YW_ERR_INVALID,
                     "the strength of examples[%d] is %g, but must be between 0 and 1", k,
                     (double)out[k]);
    }
  }
  return YW_OK;
}

uint64_t yw_solid_hash_strengths(int32_t count, const float* strengths, uint64_t hash) {
  bool plain = true;
  for (int32_t k = 0; k < count; ++k) plain = plain && strengths[k] == 1.0f;
  return plain ? hash : yw_hash_bytes(hash, strengths, (size_t)count * sizeof *strengths);
}
