// SPDX-License-Identifier: MIT
#include "geometry/tet_pieces.h"

#include "geometry/mesh_faces.h"
#include "geometry/order.h"
#include "math/small/union_find.h"
#include "yawara/extend/memory.h"

#define RINGS 2  // of cubes around a piece that are near it

typedef struct breaker {
  const yw_matter_cover* cover;
  const yw_tet_mesh* tets;
  int32_t* piece;    ///< per tet: union-find
  int32_t* part;     ///< per cube: union-find
  int32_t* home;     ///< per tet that is a piece's root: root of its part of the matter; -1: none
  double* volume;    ///< per tet that is a piece's root
  int32_t* biggest;  ///< per cube that is a part's root: its largest piece; -1: none
} breaker;

yw_status yw_tet_pieces(const yw_tet_mesh* tets, int32_t* piece) {
  int32_t* partner = YW_NEW_ARRAY(&tets->mem, int32_t, 4 * (size_t)tets->num_tets);
  if (partner == NULL) return YW_ERR_MEMORY;
  yw_status status = yw_tet_face_partners(&tets->mem, tets, partner);
  for (int32_t t = 0; t < tets->num_tets; ++t) piece[t] = t;
  for (int32_t f = 0; status == YW_OK && f < 4 * tets->num_tets; ++f) {
    if (partner[f] >= 0) yw_union_join(piece, f / 4, partner[f] / 4);
  }
  for (int32_t t = 0; t < tets->num_tets; ++t) piece[t] = yw_union_root(piece, t);
  yw_mem_free(&tets->mem, partner);
  return status;
}

// The neighbour of a cube in one of 27 directions; -1: none.
static int32_t neighbour(const yw_matter_cover* cover, int32_t cube, int n) {
  const int32_t* at = cover->matter->cubes[cube].cell;
  int32_t cell[3] = {at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1};
  return yw_matter_cover_find(cover, cell);
}

static void join_cubes(breaker* b) {
  int32_t count = b->cover->matter->count;
  for (int32_t n = 0; n < count; ++n) b->part[n] = n;
  for (int32_t n = 0; n < count; ++n) {
    for (int k = 0; k < 13; ++k) {
      int32_t other = neighbour(b->cover, n, k);
      if (other >= 0) yw_union_join(b->part, n, other);
    }
  }
}

// Finds the part of the matter that each piece fills, and the largest piece of each part.
static void find_homes(breaker* b) {
  int32_t num_tets = b->tets->num_tets, num_cubes = b->cover->matter->count;
  for (int32_t t = 0; t < num_tets; ++t) b->home[t] = -1;
  for (int32_t n = 0; n < num_cubes; ++n) b->biggest[n] = -1;
  for (int32_t t = 0; t < num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(b->tets, t, p);
    b->volume[yw_union_root(b->piece, t)] += yw_tet_volume6(p) / 6.0;
  }
  for (int32_t n = 0; n < num_cubes; ++n) {
    if (b->cover->tet[n] < 0) continue;
    b->home[yw_union_root(b->piece, b->cover->tet[n])] = yw_union_root(b->part, n);
  }
  for (int32_t t = 0; t < num_tets; ++t) {
    if (b->piece[t] != t || b->home[t] < 0) continue;
    int32_t* biggest = &b->biggest[b->home[t]];
    if (*biggest < 0 || b->volume[t] > b->volume[*biggest]) *biggest = t;
  }
}

// A piece too small to cover the point of a cube belongs to no part: a crumb.
static bool is_broken(breaker* b, int32_t piece) {
  return b->home[piece] < 0 || b->biggest[b->home[piece]] != piece;
}

static void mark_around(breaker* b, unsigned char* around) {
  int32_t count = b->cover->matter->count;
  for (int32_t n = 0; n < count; ++n) {
    int32_t tet = b->cover->tet[n];
    around[n] = tet >= 0 && is_broken(b, yw_union_root(b->piece, tet));
  }
  for (int ring = 1; ring <= RINGS; ++ring) {
    for (int32_t n = 0; n < count; ++n) {
      for (int k = 0; k < 27 && around[n] == ring; ++k) {
        int32_t other = neighbour(b->cover, n, k);
        if (other >= 0 && !around[other]) around[other] = (unsigned char)(ring + 1);
      }
    }
  }
  for (int32_t n = 0; n < count; ++n) around[n] = around[n] > 0;
}

yw_status yw_find_broken_pieces(const yw_matter_cover* cover, const yw_tet_mesh* tets,
                                unsigned char* around, unsigned char* broken, int32_t* num_pieces,
                                double* volume) {
  const yw_allocator* mem = &cover->matter->mem;
  breaker b = {.cover = cover, .tets = tets};
  b.piece = YW_NEW_ARRAY(mem, int32_t, tets->num_tets);
  b.home = YW_NEW_ARRAY(mem, int32_t, tets->num_tets);
  b.volume = YW_NEW_ARRAY(mem, double, tets->num_tets);
  b.part = YW_NEW_ARRAY(mem, int32_t, cover->matter->count);
  b.biggest = YW_NEW_ARRAY(mem, int32_t, cover->matter->count);
  bool ready = b.piece && b.home && b.volume && b.part && b.biggest;
  yw_status status = ready ? yw_tet_pieces(tets, b.piece) : YW_ERR_MEMORY;
  *num_pieces = 0;
  *volume = 0.0;
  if (status == YW_OK) {
    join_cubes(&b);
    find_homes(&b);
    mark_around(&b, around);
    for (int32_t t = 0; t < tets->num_tets; ++t) {
      int32_t root = yw_union_root(b.piece, t);
      broken[t] = is_broken(&b, root);
      if (root != t || !broken[t]) continue;
      ++*num_pieces;
      *volume += b.volume[t];
    }
  }
  yw_mem_free(mem, b.piece);
  yw_mem_free(mem, b.home);
  yw_mem_free(mem, b.volume);
  yw_mem_free(mem, b.part);
  yw_mem_free(mem, b.biggest);
  return status;
}

yw_status yw_count_tunnels(const yw_tet_mesh* mesh, int32_t* tunnels) {
  yw_adjacency rings = {0};
  int32_t* partner = YW_NEW_ARRAY(&mesh->mem, int32_t, 4 * (size_t)mesh->num_tets + 1);
  yw_status status = partner != NULL ? YW_OK : YW_ERR_MEMORY;
  if (status == YW_OK) status = yw_tet_face_partners(&mesh->mem, mesh, partner);
  if (status == YW_OK) status = yw_tet_adjacency(&mesh->mem, mesh, &rings);
  if (status == YW_OK) {
    int32_t boundary = 0, edges = rings.start[mesh->num_vertices] / 2;
    for (int32_t n = 0; n < 4 * mesh->num_tets; ++n) boundary += partner[n] < 0;
    int32_t faces = (4 * mesh->num_tets + boundary) / 2;
    *tunnels = 1 - (mesh->num_vertices - edges + faces - mesh->num_tets);
  }
  yw_adjacency_free(&rings);
  yw_mem_free(&mesh->mem, partner);
  return status;
}

yw_status yw_drop_tets(yw_tet_mesh* mesh, const unsigned char* drop) {
  int32_t* number = YW_NEW_ARRAY(&mesh->mem, int32_t, mesh->num_vertices);
  if (number == NULL) return YW_ERR_MEMORY;
  int32_t num_tets = 0, num_vertices = 0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    if (drop[t]) continue;
    for (int k = 0; k < 4; ++k) {
      int32_t v = mesh->tets[4 * (size_t)t + (size_t)k];
      mesh->tets[4 * (size_t)num_tets + (size_t)k] = v;
      number[v] = 1;
    }
    ++num_tets;
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    if (!number[i]) continue;
    mesh->positions[num_vertices] = mesh->positions[i];
    number[i] = num_vertices++;
  }
  for (size_t n = 0; n < 4 * (size_t)num_tets; ++n) mesh->tets[n] = number[mesh->tets[n]];
  mesh->num_tets = num_tets;
  mesh->num_vertices = num_vertices;
  yw_mem_free(&mesh->mem, number);
  return YW_OK;
}
