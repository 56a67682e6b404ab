// SPDX-License-Identifier: MIT
// The front. A node born at level l + 1 is a centre, which never hangs, or the midpoint of a
// level-l edge with `ring` tets around it. Depending on how many are split (nsplit), it is inactive
// (none), hanging (some) or free (all). Levels of neighbours may differ by any number.
#include "methods/fem/front.h"

#include <string.h>

#include "yawara/extend/memory.h"

bool yw_fem_front_create(const yw_allocator* mem, const fem_hierarchy* h, fem_front* out) {
  fem_front* f = out;
  *f = (fem_front){.mem = yw_mem_or_default(mem), .h = h};
  f->split = YW_NEW_ARRAY(mem, uint8_t, h->num_parents);
  f->nsplit = YW_NEW_ARRAY(mem, int32_t, h->num_nodes);
  f->state = YW_NEW_ARRAY(mem, uint8_t, h->max_nodes);
  f->active = YW_NEW_ARRAY(mem, int32_t, h->max_nodes);
  f->hanging = YW_NEW_ARRAY(mem, int32_t, h->num_nodes);
  f->families = YW_NEW_ARRAY(mem, int32_t, h->num_parents);
  if (f->split && f->nsplit && f->state && f->active && f->hanging && f->families) {
    yw_fem_front_update(f);
    return true;
  }
  yw_fem_front_free(f);
  return false;
}

void yw_fem_front_free(fem_front* f) {
  void* const arrays[] = {f->split, f->nsplit, f->state, f->active, f->hanging, f->families};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&f->mem, arrays[i]);
  *f = (fem_front){0};
}

static void change(fem_front* f, int32_t tet, bool split) {
  const int32_t* family = f->h->family[tet];
  f->split[tet] = split;
  for (int n = 4; n < FEM_FAMILY_NODES; ++n) {
    if (family[n] >= 0) f->nsplit[family[n]] += split ? 1 : -1;
  }
}

void yw_fem_front_split(fem_front* f, int32_t tet) { change(f, tet, true); }

void yw_fem_front_merge(fem_front* f, int32_t tet) { change(f, tet, false); }

bool yw_fem_can_merge(const fem_front* f, int32_t tet) {
  int32_t first = f->h->first_child[tet];
  if (first >= f->h->num_parents) return true;
  for (int32_t c = 0; c < yw_fem_children_of(f->h, tet); ++c) {
    if (f->split[first + c]) return false;
  }
  return true;
}

void yw_fem_front_reset(fem_front* f) {
  memset(f->split, 0, (size_t)f->h->num_parents);
  memset(f->nsplit, 0, sizeof *f->nsplit * (size_t)f->h->num_nodes);
  yw_fem_front_update(f);
}

// Lists split tets level by level: the children of one level's list give the next.
static void list_families(fem_front* f) {
  const fem_hierarchy* h = f->h;
  int32_t count = 0;
  f->num_tets = h->num_roots;
  f->finest = 0;
  for (int32_t r = 0; r < h->num_roots && h->max_level > 0; ++r) {
    if (f->split[r]) f->families[count++] = r;
  }
  for (int32_t i = 0; i < count; ++i) {
    int32_t tet = f->families[i], first = h->first_child[tet];
    int32_t children = yw_fem_children_of(h, tet);
    f->num_tets += children - 1;
    if (h->level[tet] >= f->finest) f->finest = h->level[tet] + 1;
    if (first >= h->num_parents) continue;
    for (int32_t c = 0; c < children; ++c) {
      if (f->split[first + c]) f->families[count++] = first + c;
    }
  }
  f->num_families = count;
}

void yw_fem_front_update(fem_front* f) {
  const fem_hierarchy* h = f->h;
  f->num_active = f->num_hanging = 0;
  list_families(f);
  for (int32_t n = 0; n < h->num_nodes; ++n) {
    int32_t ring = h->node[n].ring, nsplit = f->nsplit[n];
    bool given = h->node[n].born == 0;
    uint8_t state = given || (nsplit > 0 && nsplit >= ring) ? FEM_FREE
                    : nsplit > 0                            ? FEM_HANGING
                                                            : FEM_INACTIVE;
    f->state[n] = state;
    if (state != FEM_INACTIVE) f->active[f->num_active++] = n;
    if (state == FEM_HANGING) f->hanging[f->num_hanging++] = n;
  }
  for (int32_t n = h->num_nodes; n < h->num_nodes + f->num_copies; ++n) {
    f->state[n] = FEM_FREE;
    f->active[f->num_active++] = n;
  }
}
