// SPDX-License-Identifier: MIT
// Positions for nodes after a split.
#include "methods/fem/relax.h"

#include <string.h>

#include "math/small/float4.h"
#include "yawara/extend/memory.h"

// The iteration damps eigenvalues of stiffness over mass within this factor of the largest one that
// the time step allows; slower modes are motion of the body. Fewer steps are enough for a single
// material, but not for the graded bars of tests/physics/test_fem_graded.c.
#define EIGENVALUE_RANGE 150.0f
#define RELAX_STEPS 24
// Strains may have grown since the last check, and modes above the largest eigenvalue diverge.
#define EIGENVALUE_MARGIN 1.5f

// Memory ------------------------------------------------------------------------------------------

bool yw_fem_relax_create(const yw_allocator* mem, const fem_work* work, fem_relax* out) {
  int32_t nodes = work->h->num_nodes, batches = 0;
  for (int k = 0; k < FEM_KINDS; ++k) batches += work->kinds[k].capacity / YW_LANES;
  *out = (fem_relax){.old_state = YW_NEW_ARRAY(mem, uint8_t, nodes),
                     .moves = YW_NEW_ARRAY(mem, uint8_t, nodes),
                     .nodes = YW_NEW_ARRAY(mem, int32_t, nodes),
                     .around = YW_NEW_ARRAY(mem, int32_t, nodes),
                     .start = YW_NEW_ARRAY(mem, yw_vec4, nodes),
                     .pull = YW_NEW_ARRAY(mem, yw_vec4, nodes),
                     .way = YW_NEW_ARRAY(mem, yw_vec4, nodes),
                     .kinds = YW_NEW_ARRAY(mem, int32_t, batches),
                     .batches = YW_NEW_ARRAY(mem, int32_t, batches)};
  if (out->old_state && out->moves && out->nodes && out->around && out->start && out->pull &&
      out->way && out->kinds && out->batches) {
    return true;
  }
  yw_fem_relax_free(mem, out);
  return false;
}

void yw_fem_relax_free(const yw_allocator* mem, fem_relax* r) {
  void* const arrays[] = {r->old_state, r->moves, r->nodes, r->around, r->start,
                          r->pull,      r->way,   r->kinds, r->batches};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(mem, arrays[i]);
  *r = (fem_relax){0};
}

// Lists -------------------------------------------------------------------------------------------

void yw_fem_relax_begin(fem_relax* r, const fem_front* front, const float* inv_mass,
                        const yw_vec4* force) {
  memcpy(r->old_state, front->state, (size_t)front->h->num_nodes);
  memset(r->pull, 0, sizeof *r->pull * (size_t)front->h->num_nodes);
  for (int32_t i = 0; i < front->num_active; ++i) {
    int32_t n = front->active[i];
    if (front->state[n] == FEM_FREE) r->pull[n] = yw_v4(yw_scale(yw_xyz(force[n]), inv_mass[n]));
  }
}

static bool is_new(const fem_relax* r, const fem_front* f, int32_t node) {
  return node >= 0 && f->state[node] == FEM_FREE && r->old_state[node] != FEM_FREE;
}

// Marks the nodes of families with a new node.
static void mark_nodes(fem_relax* r, const fem_relax_def* def) {
  const fem_front* f = def->forces->front;
  memset(r->moves, 0, (size_t)f->h->num_nodes);
  for (int32_t i = 0; i < f->num_families; ++i) {
    const int32_t* family = f->h->family[f->families[i]];
    bool any = false;
    for (int k = 4; k < FEM_FAMILY_NODES; ++k) any = any || is_new(r, f, family[k]);
    for (int k = 0; k < FEM_FAMILY_NODES && any; ++k) {
      int32_t n = family[k];
      if (n >= 0 && f->state[n] == FEM_FREE && def->inv_mass[n] > 0.0f) r->moves[n] = 1;
    }
  }
}

// Lists these and all that hang on them, ascending.
static void list_nodes(fem_relax* r, const fem_front* f) {
  r->num_nodes = r->num_around = 0;
  for (int32_t i = 0; i < f->num_active; ++i) {
    int32_t n = f->active[i];
    const int32_t* p = f->h->node[n].parents;
    if (f->state[n] == FEM_HANGING) {
      r->moves[n] = r->moves[p[0]] || r->moves[p[1]];
    } else if (r->moves[n]) {
      r->nodes[r->num_nodes++] = n;
    }
    if (r->moves[n]) r->around[r->num_around++] = n;
  }
}

// Old nodes keep the accelerations that the forces gave them, new ones get those of their parents;
// with the masses of now, they are forces again.
static void spread_pull(fem_relax* r, const fem_relax_def* def) {
  const fem_front* f = def->forces->front;
  yw_float4_view* pull = (yw_float4_view*)(void*)r->pull;
  for (int32_t i = 0; i < f->num_active; ++i) {
    int32_t n = f->active[i];
    if (r->old_state[n] == FEM_FREE) continue;
    const int32_t* p = f->h->node[n].parents;
    pull[n] = p[2] < 0 ? 0.5f * (pull[p[0]] + pull[p[1]])
                       : 0.25f * ((pull[p[0]] + pull[p[1]]) + (pull[p[2]] + pull[p[3]]));
  }
  for (int32_t i = 0; i < r->num_nodes; ++i) {
    int32_t n = r->nodes[i];
    pull[n] *= 1.0f / def->inv_mass[n];
  }
}

static void list_batches(fem_relax* r, const fem_work* work) {
  r->num_batches = 0;
  for (int k = 0; k < FEM_KINDS; ++k) {
    int32_t lanes = work->tables->kinds[k].num_nodes * YW_LANES;
    for (int32_t batch = 0; batch < yw_fem_num_batches(&work->kinds[k]); ++batch) {
      const int32_t* nodes = work->kinds[k].nodes + (size_t)batch * (size_t)lanes;
      bool any = false;
      for (int32_t i = 0; i < lanes && !any; ++i) any = r->moves[nodes[i]];
      if (!any) continue;
      r->kinds[r->num_batches] = k;
      r->batches[r->num_batches++] = batch;
    }
  }
}

// Forces ------------------------------------------------------------------------------------------

static void find_forces(const fem_relax* r, const fem_forces_def* def) {
  const fem_work* work = def->work;
  const fem_front* f = def->front;
  const yw_float4_view* slots = (const yw_float4_view*)(const void*)def->scratch->slots;
  yw_float4_view* force = (yw_float4_view*)(void*)def->force;
  for (int32_t i = 0; i < r->num_batches; ++i) {
    yw_fem_batch_forces(def, r->kinds[i], r->batches[i]);
  }
  for (int32_t i = 0; i < r->num_around; ++i) {
    int32_t n = r->around[i], place = work->place[n];
    yw_float4 sum = {0};
    for (int32_t s = work->slot_start[place]; s < work->slot_start[place + 1]; ++s) {
      sum += slots[work->slots[s]];
    }
    force[n] = sum;
  }
  // Hanging nodes pass theirs on to their parents.
  for (int32_t i = r->num_around - 1; i >= 0; --i) {
    int32_t n = r->around[i];
    if (f->state[n] != FEM_HANGING) continue;
    const int32_t* p = f->h->node[n].parents;
    for (int k = 0; k < 2; ++k) {
      if (r->moves[p[k]]) force[p[k]] += 0.5f * force[n];
    }
  }
}

static void follow(const fem_relax* r, const fem_front* f, yw_float4_view* pos) {
  for (int32_t i = 0; i < r->num_around; ++i) {
    int32_t n = r->around[i];
    const int32_t* p = f->h->node[n].parents;
    if (f->state[n] == FEM_HANGING) pos[n] = 0.5f * (pos[p[0]] + pos[p[1]]);
  }
}

// Relaxation --------------------------------------------------------------------------------------

// One step: way = keep way + gain m^-1 (f - f0). Returns the sum of m^-1 (f - f0)^2 before it.
static double step_nodes(const fem_relax* r, const fem_relax_def* def, float keep, float gain) {
  const yw_float4_view *force = (const yw_float4_view*)(const void*)def->forces->force,
                       *pull = (yw_float4_view*)(void*)r->pull;
  yw_float4_view *pos = (yw_float4_view*)(void*)def->pos, *way = (yw_float4_view*)(void*)r->way;
  double sum = 0.0;
  for (int32_t i = 0; i < r->num_nodes; ++i) {
    int32_t n = r->nodes[i];
    yw_float4 left = force[n] - pull[n], square = def->inv_mass[n] * left * left;
    way[i] = keep * way[i] + (gain * def->inv_mass[n]) * left;
    pos[n] += way[i];
    sum += (double)(square[0] + square[1] + square[2]);
  }
  follow(r, def->forces->front, pos);
  return sum;
}

bool yw_fem_relax(fem_relax* r, const fem_relax_def* def) {
  const fem_forces_def* forces = def->forces;
  mark_nodes(r, def);
  list_nodes(r, forces->front);
  if (r->num_nodes == 0) return false;
  spread_pull(r, def);
  list_batches(r, forces->work);
  yw_fem_number_batches(forces->work, forces->scratch);
  yw_float4_view *pos = (yw_float4_view*)(void*)def->pos, *way = (yw_float4_view*)(void*)r->way,
                 *start = (yw_float4_view*)(void*)r->start;
  for (int32_t i = 0; i < r->num_nodes; ++i) start[i] = pos[r->nodes[i]], way[i] = (yw_float4){0};
  float largest = EIGENVALUE_MARGIN * 4.0f / (def->step * def->step),
        least = largest / EIGENVALUE_RANGE;
  float middle = 0.5f * (largest + least), half = 0.5f * (largest - least);
  float keep = 0.0f, gain = 1.0f / middle, ratio = half / middle;
  double first = 0.0, last = 0.0;
  for (int step = 0; step < RELAX_STEPS; ++step) {
    find_forces(r, forces);
    last = step_nodes(r, def, keep, gain);
    if (step == 0) first = last;
    float next = 1.0f / (2.0f * middle / half - ratio);
    keep = next * ratio, gain = 2.0f * next / half, ratio = next;
  }
  if (last < first) return true;
  // Tets that soften under compression may diverge.
  for (int32_t i = 0; i < r->num_nodes; ++i) pos[r->nodes[i]] = start[i];
  follow(r, forces->front, pos);
  return false;
}
