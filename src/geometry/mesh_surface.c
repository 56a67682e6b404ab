// SPDX-License-Identifier: MIT
// The boundary of a tet mesh: faces that belong to only one tet, found with a hash table of faces.
#include "geometry/mesh_faces.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

typedef struct face_key {
  int32_t low, middle, high;
} face_key;

static face_key key_of_face(const yw_tet_mesh* mesh, int32_t face) {
  int32_t v[3];
  yw_tet_face_vertices(mesh, face, v);
  int32_t low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
  if (v[2] < low) return (face_key){v[2], low, high};
  if (v[2] > high) return (face_key){low, high, v[2]};
  return (face_key){low, v[2], high};
}

yw_status yw_tet_face_partners(const yw_allocator* mem, const yw_tet_mesh* mesh, int32_t* partner) {
  size_t num_faces = 4 * (size_t)mesh->num_tets, capacity = 16;
  // Two tets share one slot for an inner face, so the table is at most three quarters full.
  while (capacity < num_faces + num_faces / 3) capacity *= 2;
  int32_t* table = YW_NEW_ARRAY(mem, int32_t, capacity);  // face + 1, 0 for an empty slot
  if (table == NULL) return YW_ERR_MEMORY;
  for (int32_t f = 0; f < (int32_t)num_faces; ++f) {
    face_key key = key_of_face(mesh, f);
    uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)key.low << 32 | (uint64_t)key.middle);
    h = yw_hash_u64(h, (uint64_t)key.high);
    size_t slot = (size_t)h & (capacity - 1);
    for (; table[slot] != 0; slot = (slot + 1) & (capacity - 1)) {
      face_key other = key_of_face(mesh, table[slot] - 1);
      if (key.low == other.low && key.middle == other.middle && key.high == other.high) break;
    }
    partner[f] = table[slot] - 1;
    if (table[slot] == 0) {
      table[slot] = f + 1;
    } else if (partner[partner[f]] < 0) {
      partner[partner[f]] = f;
    }
  }
  yw_mem_free(mem, table);
  return YW_OK;
}

// Numbers the vertices of boundary faces in ascending order of their tet mesh numbers.
static int32_t number_surface_vertices(const yw_tet_mesh* mesh, const int32_t* partner,
                                       int32_t* surface_of_tet) {
  for (int32_t f = 0; f < 4 * mesh->num_tets; ++f) {
    if (partner[f] >= 0) continue;
    int32_t v[3];
    yw_tet_face_vertices(mesh, f, v);
    for (int k = 0; k < 3; ++k) surface_of_tet[v[k]] = 1;
  }
  int32_t count = 0;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    surface_of_tet[i] = surface_of_tet[i] ? count++ : -1;
  }
  return count;
}

static void fill_surface(const yw_tet_mesh* mesh, const int32_t* partner,
                         const int32_t* surface_of_tet, yw_tri_mesh* out, int32_t* vertex_map) {
  int32_t* triangle = out->triangles;
  for (int32_t f = 0; f < 4 * mesh->num_tets; ++f) {
    if (partner[f] >= 0) continue;
    int32_t v[3];
    yw_tet_face_vertices(mesh, f, v);
    for (int k = 0; k < 3; ++k) *triangle++ = surface_of_tet[v[k]];
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    int32_t s = surface_of_tet[i];
    if (s < 0) continue;
    out->positions[s] = mesh->positions[i];
    if (vertex_map != NULL) vertex_map[s] = i;
  }
}

yw_status yw_tet_mesh_surface(const yw_tet_mesh* mesh, const yw_allocator* mem_or_null,
                              yw_tri_mesh* out, int32_t** out_vertex_map) {
  if (out == NULL) return YW_ERR_INVALID;
  *out = (yw_tri_mesh){0};
  if (out_vertex_map != NULL) *out_vertex_map = NULL;
  if (mesh == NULL || mesh->num_vertices < 0 || mesh->num_tets < 0) return YW_ERR_INVALID;
  if (mesh->num_tets > INT32_MAX / 4) return YW_ERR_LIMIT;
  for (size_t n = 0; n < 4 * (size_t)mesh->num_tets; ++n) {
    if (mesh->tets[n] < 0 || mesh->tets[n] >= mesh->num_vertices) return YW_ERR_INVALID;
  }

  yw_allocator mem = yw_mem_or_default(mem_or_null);
  yw_status status = YW_ERR_MEMORY;
  int32_t* vertex_map = NULL;
  int32_t* partner = YW_NEW_ARRAY(&mem, int32_t, 4 * (size_t)mesh->num_tets);
  int32_t* surface_of_tet = YW_NEW_ARRAY(&mem, int32_t, mesh->num_vertices);
  if (partner == NULL || surface_of_tet == NULL) goto done;
  if (yw_tet_face_partners(&mem, mesh, partner) != YW_OK) goto done;
  int32_t num_triangles = 0;
  for (int32_t f = 0; f < 4 * mesh->num_tets; ++f) num_triangles += partner[f] < 0;
  int32_t num_vertices = number_surface_vertices(mesh, partner, surface_of_tet);
  if (out_vertex_map != NULL) {
    vertex_map = YW_NEW_ARRAY(&mem, int32_t, num_vertices);
    if (vertex_map == NULL) goto done;
  }
  status = yw_tri_mesh_create(&mem, num_vertices, num_triangles, out);
  if (status != YW_OK) goto done;
  fill_surface(mesh, partner, surface_of_tet, out, vertex_map);
  if (out_vertex_map != NULL) *out_vertex_map = vertex_map;
  vertex_map = NULL;

done:
  yw_mem_free(&mem, vertex_map);
  yw_mem_free(&mem, partner);
  yw_mem_free(&mem, surface_of_tet);
  return status;
}
