// SPDX-License-Identifier: MIT
// How thick a body is around each vertex: from every face of its surface, a ray goes straight
// inwards, from tet to tet, until it leaves the body.
#include "methods/match/thickness.h"

#include "geometry/mesh_faces.h"
#include "yawara/extend/memory.h"

// A ray in a mesh with faults may go in circles.
#define MOST_TETS 10000

// Where the ray from p along d leaves the tet: its face, and *at as d's multiple.
static int exit_of(const yw_tet_mesh* mesh, int32_t tet, int entry, yw_dvec3 p, yw_dvec3 d,
                   double* at) {
  yw_dvec3 corner[4];
  int best = -1;
  yw_tet_corners(mesh, tet, corner);
  for (int k = 0; k < 4; ++k) {
    if (k == entry) continue;
    const unsigned char* v = yw_tet_faces[k];
    yw_dvec3 n = yw_dcross(yw_dsub(corner[v[1]], corner[v[0]]),  //
                           yw_dsub(corner[v[2]], corner[v[0]]));
    double along = yw_ddot(d, n);
    if (!(along > 0.0)) continue;
    double t = yw_ddot(yw_dsub(corner[v[0]], p), n) / along;
    if (best < 0 || t < *at) best = k, *at = t;
  }
  return best;
}

static yw_dvec3 middle_of_face(const yw_tet_mesh* mesh, int32_t face, yw_dvec3* inwards) {
  int32_t v[3];
  yw_tet_face_vertices(mesh, face, v);
  yw_dvec3 a = yw_d3(mesh->positions[v[0]]), b = yw_d3(mesh->positions[v[1]]);
  yw_dvec3 c = yw_d3(mesh->positions[v[2]]);
  yw_dvec3 n = yw_dcross(yw_dsub(c, a), yw_dsub(b, a));
  double length = yw_dlength(n);
  *inwards = yw_dscale(n, length > 0.0 ? 1.0 / length : 0.0);
  return yw_dscale(yw_dadd(a, yw_dadd(b, c)), 1.0 / 3.0);
}

// Tets on the way get the length of the shortest ray; none do if it finds no way out.
static void follow_ray(const yw_tet_mesh* mesh, const int32_t* partner, int32_t face,
                       int32_t* visited, float* thickness) {
  yw_dvec3 d, p = middle_of_face(mesh, face, &d);
  int32_t count = 0, tet = face / 4;
  int entry = face & 3;
  double length = 0.0;
  while (count < MOST_TETS) {
    visited[count++] = tet;
    int leaves = exit_of(mesh, tet, entry, p, d, &length);
    if (leaves < 0) return;
    int32_t next = partner[4 * (size_t)tet + (size_t)leaves];
    tet = next / 4, entry = next & 3;
    if (next < 0) break;
  }
  if (count == MOST_TETS) return;
  for (int32_t n = 0; n < count; ++n) {
    float* t = &thickness[visited[n]];
    if (*t == 0.0f || (float)length < *t) *t = (float)length;
  }
}

yw_status yw_match_thickness(const yw_allocator* mem, const yw_tet_mesh* mesh, float* out) {
  size_t tets = (size_t)mesh->num_tets;
  int32_t* partner = YW_NEW_ARRAY(mem, int32_t, 4 * tets);
  int32_t* visited = YW_NEW_ARRAY(mem, int32_t, MOST_TETS);
  float* of_tet = YW_NEW_ARRAY(mem, float, tets);
  int32_t* num = YW_NEW_ARRAY(mem, int32_t, mesh->num_vertices);
  yw_status status = YW_ERR_MEMORY;
  if (partner && visited && of_tet && num) status = yw_tet_face_partners(mem, mesh, partner);
  for (size_t f = 0; status >= 0 && f < 4 * tets; ++f) {
    if (partner[f] < 0) follow_ray(mesh, partner, (int32_t)f, visited, of_tet);
  }
  for (int32_t v = 0; v < mesh->num_vertices; ++v) out[v] = 0.0f;
  // Mean of the tets around that a ray has visited.
  for (size_t i = 0; status >= 0 && i < 4 * tets; ++i) {
    if (!(of_tet[i / 4] > 0.0f)) continue;
    out[mesh->tets[i]] += of_tet[i / 4];
    ++num[mesh->tets[i]];
  }
  for (int32_t v = 0; status >= 0 && v < mesh->num_vertices; ++v) {
    out[v] = num[v] > 0 ? out[v] / (float)num[v] : INFINITY;
  }
  yw_mem_free(mem, partner);
  yw_mem_free(mem, visited);
  yw_mem_free(mem, of_tet);
  yw_mem_free(mem, num);
  return status;
}
