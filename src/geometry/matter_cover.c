// SPDX-License-Identifier: MIT
#include "geometry/matter_cover.h"

#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Cubes by place ----------------------------------------------------------------------------------

static size_t slot_of(const yw_matter_cover* c, const int32_t cell[3]) {
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)(uint32_t)cell[0] << 32 | (uint32_t)cell[1]);
  return (size_t)yw_hash_u64(h, (uint32_t)cell[2]) & c->mask;
}

int32_t yw_matter_cover_find(const yw_matter_cover* c, const int32_t cell[3]) {
  int32_t n = c->slots[slot_of(c, cell)] - 1;
  for (; n >= 0; n = c->next[n]) {
    const int32_t* at = c->matter->cubes[n].cell;
    if (at[0] == cell[0] && at[1] == cell[1] && at[2] == cell[2]) break;
  }
  return n;
}

// Covered by tets ---------------------------------------------------------------------------------

static bool is_in_tet(const yw_dvec3 p[4], yw_dvec3 x) {
  for (int k = 0; k < 4; ++k) {
    const unsigned char* v = yw_tet_faces[k];
    yw_dvec3 n = yw_dcross(yw_dsub(p[v[1]], p[v[0]]), yw_dsub(p[v[2]], p[v[0]]));
    if (yw_ddot(n, yw_dsub(x, p[v[0]])) > 0.0) return false;
  }
  return true;
}

// A cube's point may lie up to a cube beside it.
static void cover_by_tet(yw_matter_cover* c, int32_t tet, const yw_dvec3 p[4]) {
  const yw_matter* m = c->matter;
  int32_t low[3], high[3];
  for (int axis = 0; axis < 3; ++axis) {
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < 4; ++k) {
      double x = axis == 0 ? p[k].x : axis == 1 ? p[k].y : p[k].z;
      least = fmin(least, x), most = fmax(most, x);
    }
    double origin = axis == 0 ? m->origin.x : axis == 1 ? m->origin.y : m->origin.z;
    low[axis] = (int32_t)floor((least - origin) / m->side) - 1;
    high[axis] = (int32_t)floor((most - origin) / m->side) + 1;
  }
  int32_t cell[3];
  for (cell[2] = low[2]; cell[2] <= high[2]; ++cell[2]) {
    for (cell[1] = low[1]; cell[1] <= high[1]; ++cell[1]) {
      for (cell[0] = low[0]; cell[0] <= high[0]; ++cell[0]) {
        int32_t n = yw_matter_cover_find(c, cell);
        if (n < 0 || c->tet[n] >= 0) continue;
        if (is_in_tet(p, yw_d3(m->cubes[n].inside))) c->tet[n] = tet;
      }
    }
  }
}

// All ---------------------------------------------------------------------------------------------

static bool list_cubes(yw_matter_cover* c) {
  const yw_matter* m = c->matter;
  c->slots = YW_NEW_ARRAY(&m->mem, int32_t, c->mask + 1);
  c->next = YW_NEW_ARRAY(&m->mem, int32_t, m->count);
  c->tet = YW_NEW_ARRAY(&m->mem, int32_t, m->count);
  if (!c->slots || !c->next || !c->tet) return false;
  for (int32_t n = 0; n < m->count; ++n) {
    size_t slot = slot_of(c, m->cubes[n].cell);
    c->next[n] = c->slots[slot] - 1;
    c->slots[slot] = n + 1;
    c->tet[n] = -1;
  }
  return true;
}

yw_status yw_matter_cover_create(const yw_matter* matter, const yw_tet_mesh* tets,
                                 yw_matter_cover* out) {
  size_t capacity = 16;
  while (capacity < 2 * (size_t)matter->count) capacity *= 2;
  yw_matter_cover c = {.matter = matter, .mask = capacity - 1};
  bool ready = list_cubes(&c);
  for (int32_t t = 0; ready && t < tets->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(tets, t, p);
    cover_by_tet(&c, t, p);
  }
  if (!ready) yw_matter_cover_free(&c);
  *out = c;
  return ready ? YW_OK : YW_ERR_MEMORY;
}

void yw_matter_cover_free(yw_matter_cover* c) {
  if (c->matter == NULL) return;
  yw_mem_free(&c->matter->mem, c->slots);
  yw_mem_free(&c->matter->mem, c->next);
  yw_mem_free(&c->matter->mem, c->tet);
  *c = (yw_matter_cover){0};
}
