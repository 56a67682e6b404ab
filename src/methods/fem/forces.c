// SPDX-License-Identifier: MIT
// Forces: batches write into their own slots, nodes sum theirs. Nothing is scattered, so sums do
// not depend on threads.
#include "methods/fem/forces.h"

#include <string.h>

#include "methods/fem/element.h"
#include "methods/fem/node_lanes.h"
#include "yawara/extend/memory.h"

// Batches per task: a few microseconds of work.
#define BATCH_BLOCK 4

// Memory ------------------------------------------------------------------------------------------

bool yw_fem_scratch_create(const yw_allocator* mem, const fem_work* work, fem_scratch* out) {
  int32_t batches = 0;
  for (int k = 0; k < FEM_KINDS; ++k) batches += work->kinds[k].capacity / YW_LANES;
  out->slots = YW_NEW_ARRAY(mem, yw_vec4, 2 * (size_t)work->slot_capacity);
  out->squeezed = YW_NEW_ARRAY(mem, uint16_t, (size_t)batches * FEM_FAMILY_CHILDREN);
  out->any_squeezed = YW_NEW_ARRAY(mem, uint8_t, batches);
  if (out->slots && out->squeezed && out->any_squeezed) return true;
  yw_fem_scratch_free(mem, out);
  return false;
}

void yw_fem_scratch_free(const yw_allocator* mem, fem_scratch* scratch) {
  yw_mem_free(mem, scratch->slots);
  yw_mem_free(mem, scratch->squeezed);
  yw_mem_free(mem, scratch->any_squeezed);
  *scratch = (fem_scratch){0};
}

// Blocks of batches -------------------------------------------------------------------------------

typedef struct batch_run {
  const fem_work* work;
  fem_batch_fn run;
  void* context;
} batch_run;

static void run_batches(void* context, int32_t block, int32_t worker) {
  const batch_run* r = context;
  (void)worker;
  int32_t begin = block * BATCH_BLOCK, end = begin + BATCH_BLOCK;
  if (end > r->work->num_batches) end = r->work->num_batches;
  for (int32_t i = begin; i < end; ++i) {
    r->run(r->context, r->work->order[i].kind, r->work->order[i].batch);
  }
}

void yw_fem_for_batches(const fem_work* work, yw_tasks* tasks, fem_batch_fn run, void* context) {
  batch_run r = {work, run, context};
  int32_t blocks = (work->num_batches + BATCH_BLOCK - 1) / BATCH_BLOCK;
  yw_tasks_run_kind(tasks, (yw_task_kind)run, blocks, run_batches, &r);
}

// Strong compression ------------------------------------------------------------------------------

static void push_child(const fem_forces_def* def, int k, int32_t batch, int32_t c, int32_t lane) {
  const fem_work* work = def->work;
  const fem_hierarchy* h = work->h;
  const fem_batches* b = &work->kinds[k];
  const fem_kind* kind = &work->tables->kinds[k];
  int32_t owner = b->owner[(size_t)batch * YW_LANES + (size_t)lane];
  int32_t tet = k == FEM_SINGLES ? owner : h->first_child[owner] + c;
  const float* stiffness = def->materials->stiffness;
  double push = yw_fem_push_stiffness(stiffness ? stiffness + (size_t)tet * FEM_MATRIX
                                                : def->materials->uniform_stiffness);
  double volume6 = 6.0 * yw_fem_volume(h, tet) * (yw_fem_is_positive(h, tet) ? 1.0 : -1.0);
  yw_dvec3 x[4], force[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const int32_t* nodes = yw_fem_nodes_of(work, tet);
  for (int s = 0; s < 4; ++s) x[s] = yw_d3(yw_xyz(def->pos[nodes[s]]));
  yw_fem_push(push, volume6, x, force);
  for (int s = 0; s < 4; ++s) {
    int32_t row = kind->child_node[c][s];
    yw_vec4* slot = &def->scratch->slots[b->first_slot[batch] + row * YW_LANES + lane];
    slot->x += (float)force[s].x;
    slot->y += (float)force[s].y;
    slot->z += (float)force[s].z;
  }
}

// Forces ------------------------------------------------------------------------------------------

void yw_fem_batch_forces(const fem_forces_def* def, int32_t k, int32_t batch) {
  fem_scratch* scratch = def->scratch;
  size_t index = (size_t)scratch->first_batch[k] + (size_t)batch;
  const fem_force_args args = {
      .kind = &def->work->tables->kinds[k],
      .batches = &def->work->kinds[k],
      .root_matrices = yw_fem_shared_matrices(def->work),
      .root_means = (const float(*)[FEM_MATRIX])def->work->tables->softening.mean,
      .root_squares = (const float(*)[FEM_TYPES][FEM_MAX_EDGES])def->work->tables->half_squares,
      .type = k % FEM_OWN,
      .pos = def->pos,
      .vel = def->vel,
      .plastic = def->plastic,
      .lag = def->materials->damping_time,
      .slots = scratch->slots,
      .squeezed = def->look_for_squeezed
                      ? scratch->squeezed + (size_t)scratch->first_batch[k] * FEM_FAMILY_CHILDREN
                      : NULL,
  };
  bool found = def->kernels->forces(&args, batch);
  // Written only on change: adjacent bytes belong to other threads (false sharing).
  if (def->look_for_squeezed && scratch->any_squeezed[index] != found) {
    scratch->any_squeezed[index] = found;
  }
  if (!scratch->any_squeezed[index]) return;
  const uint16_t* bits = scratch->squeezed + index * FEM_FAMILY_CHILDREN;
  for (int32_t c = 0; c < args.kind->num_children; ++c) {
    for (int32_t l = 0; l < YW_LANES; ++l) {
      if (bits[c] >> l & 1) push_child(def, k, batch, c, l);
    }
  }
}

static void run_batch(void* context, int32_t k, int32_t batch) {
  yw_fem_batch_forces(context, k, batch);
}

void yw_fem_sum_nodes(const fem_work* work, const fem_scratch* scratch, int32_t begin, int32_t end,
                      yw_vec4* force) {
  for (int32_t i = begin; i < end; ++i) {
    yw_float4 sum =
        sum_slots(scratch->slots, work->slots, work->slot_start[i], work->slot_start[i + 1]);
    yw_float4_store(&force[work->nodes[i]], sum);
  }
}

static void gather_nodes(void* context, int32_t block, int32_t worker) {
  const fem_forces_def* def = context;
  (void)worker;
  int32_t begin = block * FEM_NODE_BLOCK, end = begin + FEM_NODE_BLOCK;
  if (end > def->front->num_active) end = def->front->num_active;
  yw_fem_sum_nodes(def->work, def->scratch, begin, end, def->force);
}

static int32_t count_squeezed(const fem_forces_def* def) {
  const fem_scratch* scratch = def->scratch;
  int32_t count = 0;
  for (int32_t i = 0; i < def->work->num_batches; ++i) {
    fem_batch_ref ref = def->work->order[i];
    int32_t index = scratch->first_batch[ref.kind] + ref.batch;
    if (!scratch->any_squeezed[index]) continue;
    const uint16_t* bits = scratch->squeezed + (size_t)index * FEM_FAMILY_CHILDREN;
    for (int c = 0; c < def->work->tables->kinds[ref.kind].num_children; ++c) {
      for (int l = 0; l < YW_LANES; ++l) count += bits[c] >> l & 1;
    }
  }
  return count;
}

void yw_fem_number_batches(const fem_work* work, fem_scratch* scratch) {
  scratch->first_batch[0] = 0;
  for (int k = 0; k < FEM_KINDS; ++k) {
    scratch->first_batch[k + 1] = scratch->first_batch[k] + yw_fem_num_batches(&work->kinds[k]);
  }
}

int32_t yw_fem_forces(const fem_forces_def* def) {
  fem_forces_def copy = *def;
  yw_fem_number_batches(def->work, def->scratch);
  yw_fem_for_batches(def->work, def->tasks, run_batch, &copy);
  int32_t blocks = (def->front->num_active + FEM_NODE_BLOCK - 1) / FEM_NODE_BLOCK;
  if (!def->only_tets) yw_tasks_run(def->tasks, blocks, gather_nodes, &copy);
  return count_squeezed(def);
}
