// SPDX-License-Identifier: MIT
// Refinement: the front is split where strains jump from tet to tet, and merged where the strain of
// a family hardly differs from that of its parent.
//
// DIFFERS: Imai et al. refine where a strain leaves the range in which the sampled matrix is valid.
// With consistent matrices that range is unlimited for homogeneous material. What a coarse tet
// cannot represent is a strain that varies inside it; the jump between a tet and the mean of its
// neighbours estimates that. The paper's rule is kept as YW_FEM_REFINE_RANGE.
#include <math.h>
#include <string.h>

#include "math/small/float4.h"
#include "methods/fem/body.h"

// Factor between the thresholds of two levels: for bending, a tet twice as large has four times the
// energy error, in eight times the volume.
#define LEVEL_FACTOR 8.0f
// Softened families (soften.h) bend correctly by themselves. Those next to the finest level may
// jump by this many tau; coarser ones by much less, since they see less of how strains vary. Larger
// factors save tets but let every split raise the energy by more.
#define SOFT_FACTOR 2.5f
#define SOFT_LEVEL_FACTOR 48.0f
// Finest tets among softened ones are stiffer than these, since their border is held straight: a
// few of them do more harm than good. None are created until a jump exceeds this many thresholds,
// or this strain.
#define SOFT_START 5.0f
#define LARGE_JUMP 0.15f
// Families that bend like the material do so well from this level on. A body that is strained at
// all, i.e. whose strains jump by more than rounding makes them, has no coarser tets.
#define BASE_LEVEL 2
#define STRAINED 2e-5f
#define STRAINED_SHARE 1e-3f  // of the largest strain, if that is less
// What rounding makes of a strain: this times the largest coordinate times a gradient. Only a body
// with strains this many times as large is strained for certain, and may be refined for less than
// STRAINED; with 8, bodies in free fall were.
#define ROUNDING 1.2e-7f
#define CERTAIN 32.0f
// Below the level next to the finest, thresholds are in proportion to the largest strain in the
// body while that is below this: a body that bends a little is as fine there as one that bends a
// lot, down to what rounding makes. (At the last level they are not: softened families are exact
// enough for small strains.)
#define SMALL_STRAIN 0.05f
// A family is merged below this fraction of the threshold. At 1.2, fronts flicker and add energy.
#define MERGE_SHARE 0.5f
#define SOFT_MERGE_SHARE 0.4f
// To prevent flicker, a tet that was split again after a merge is merged again only at this
// fraction of its jump at that merge, until the jump has been that small without a split.
#define AGAIN_SHARE 0.5f
// A surface counts as flat at a node this near to the mean of its parents, relative to the length
// of the edge between them.
#define FLAT_SHARE 1e-6f

// Pins --------------------------------------------------------------------------------------------

// Next to the finest level, either all children of a family are split or none.
static void force_whole_families(fem_body* b) {
  const fem_hierarchy* h = &b->model->h;
  for (int32_t t = h->level_start[h->max_level - 2]; t < h->level_start[h->max_level - 1]; ++t) {
    bool* forced = b->forced + h->first_child[t];
    int32_t count = yw_fem_children_of(h, t);
    bool any = false;
    for (int32_t c = 0; c < count; ++c) any = any || forced[c];
    if (any) memset(forced, true, (size_t)count);
  }
}

void yw_fem_note_pins(fem_body* b) {
  const fem_hierarchy* h = &b->model->h;
  bool *needed = (bool*)b->carried, *pulled = needed + h->num_nodes;
  memset(b->is_held, 0, (size_t)h->max_nodes);
  memset(needed, 0, 2 * (size_t)h->num_nodes);
  memset(b->forced, 0, (size_t)h->num_parents);
  for (int32_t i = 0; i < b->num_held; ++i) b->is_held[b->held[i]] = true;
  // A held node between held parents is in the right place without being free.
  for (int32_t i = 0; i < b->num_held; ++i) {
    if (b->held[i] >= h->num_nodes) continue;  // copies are always free
    const int32_t* p = h->node[b->held[i]].parents;
    for (int k = 0; k < 4; ++k) {
      if (p[k] >= 0 && !b->is_held[p[k]]) needed[b->held[i]] = true;
    }
  }
  for (int32_t i = 0; i < b->num_sprung; ++i) {
    if (b->sprung[i] < h->num_nodes) pulled[b->sprung[i]] = true;
  }
  for (int32_t t = h->num_parents - 1; t >= 0; --t) {
    for (int k = 0; k < FEM_FAMILY_NODES; ++k) {
      int32_t n = h->family[t][k];
      // How far a single node gives way depends on the size of its tets: use only finest ones.
      if (n >= 0 && (pulled[n] || (k >= 4 && needed[n]))) b->forced[t] = true;
    }
    if (b->forced[t] && h->parent[t] >= 0) b->forced[h->parent[t]] = true;
  }
  if (h->max_level >= 2) force_whole_families(b);
}

static bool must_split(const fem_body* b, int32_t tet) {
  return b->forced[tet] || b->model->h.level[tet] < b->params.min_level ||
         b->params.refine == YW_FEM_REFINE_FINEST || (b->model->fragile && b->cracks.fine[tet]);
}

static void change_front(fem_body* b, yw_particles* particles, int32_t num_split,
                         int32_t num_merge) {
  for (int32_t i = 0; i < num_merge && b->has_flown; ++i) yw_fem_flow_merged(b, b->to_merge[i]);
  for (int32_t i = 0; i < num_split && b->has_flown; ++i) yw_fem_flow_split(b, b->to_split[i]);
  const fem_switch change = {.merge = b->to_merge,
                             .num_merge = num_merge,
                             .split = b->to_split,
                             .num_split = num_split,
                             .held = b->num_held > 0,
                             .inv_mass = b->inv_mass};
  yw_fem_switch(&b->front, &change, yw_fem_fine_mass(b), b->mass, particles->pos, particles->vel,
                b->carried);
  b->splits += num_split;
  b->merges += num_merge;
}

static fem_forces_def elastic_forces(fem_body* b, const yw_particles* particles,
                                     const yw_step_ctx* ctx) {
  return (fem_forces_def){.work = &b->work,
                          .front = &b->front,
                          .materials = &b->model->materials,
                          .kernels = YW_KERNEL_PICK(yw_fem_kernels, ctx->simd),
                          .tasks = ctx->tasks,
                          .pos = particles->pos,
                          .scratch = &b->scratch,
                          .look_for_squeezed = true,
                          .plastic = b->has_flown,
                          .force = b->force};
}

// Softened bodies: stores forces before the front changes. Returns the number of squeezed tets.
static int32_t before_split(fem_body* b, const yw_particles* particles, const yw_step_ctx* ctx) {
  if (!b->work.soften) return 0;
  const fem_forces_def forces = elastic_forces(b, particles, ctx);
  int32_t squeezed = yw_fem_forces(&forces);
  yw_fem_carry_forces(&b->front, b->force);
  yw_fem_relax_begin(&b->relax, &b->front, b->inv_mass, b->force);
  return squeezed;
}

// Moves the nodes of split families to where these forces accelerate them alike.
static void after_split(fem_body* b, yw_particles* particles, const yw_step_ctx* ctx,
                        int32_t squeezed) {
  if (!b->work.soften) return;
  const fem_forces_def forces = elastic_forces(b, particles, ctx);
  const fem_relax_def def = {.forces = &forces,
                             .inv_mass = b->inv_mass,
                             .step = yw_fem_stable_now(b, squeezed > 0),
                             .pos = particles->pos};
  fem_motion before = {0};
  if (b->num_held == 0) {
    before = yw_fem_motion_of(&b->front, b->mass, particles->pos, particles->vel);
  }
  if (yw_fem_relax(&b->relax, &def) && b->num_held == 0) {
    yw_fem_restore_motion(&b->front, &before, b->mass, particles->pos, particles->vel);
  }
}

static int32_t list_musts(fem_body* b) {
  int32_t count = 0;
  for (int32_t t = 0; t < b->model->h.num_parents; ++t) {
    if (yw_fem_in_front(&b->front, t) && must_split(b, t)) b->to_split[count++] = t;
  }
  return count;
}

void yw_fem_enforce(fem_body* b, yw_particles* particles, const yw_step_ctx* ctx) {
  if (ctx->begin) yw_fem_follow_one(&b->front, ctx->begin);
  int32_t count = list_musts(b);
  bool changes = count > 0, was_soft = b->work.soften;
  int32_t squeezed = changes ? before_split(b, particles, ctx) : 0;
  for (; count > 0; count = list_musts(b)) change_front(b, particles, count, 0);
  yw_fem_front_changed(b);
  if (changes && was_soft) after_split(b, particles, ctx, squeezed);
}

// Strains -----------------------------------------------------------------------------------------

typedef struct look {
  fem_body* b;
  const yw_particles* particles;
  const fem_kernels* kernels;
  float* strains[FEM_KINDS];
  float* jumps[FEM_KINDS];
} look;

static void batch_strains(void* context, int32_t k, int32_t batch) {
  const look* l = context;
  const fem_strain_args args = {.h = &l->b->model->h,
                                .tables = &l->b->model->tables,
                                .k = k,
                                .batches = &l->b->work.kinds[k],
                                .pos = l->particles->pos,
                                .strains = l->strains[k],
                                .slots = (yw_vec4(*)[2])l->b->scratch.slots};
  l->kernels->strains(&args, batch);
}

static void batch_jumps(void* context, int32_t k, int32_t batch) {
  const look* l = context;
  const fem_jump_args args = {.kind = &l->b->model->tables.kinds[k],
                              .batches = &l->b->work.kinds[k],
                              .strains = l->strains[k],
                              .node_strains = (const yw_vec4(*)[2])l->b->node_strain,
                              .jumps = l->jumps[k]};
  l->kernels->jumps(&args, batch);
}

// Means over the tets around each node, weighted by volume. The tets of a hanging node count for
// its parents, and it takes their mean.
static void average_at_nodes(fem_body* b) {
  const fem_front* f = &b->front;
  yw_float4_view(*node)[2] = (yw_float4_view(*)[2])(void*)b->node_strain;
  const yw_float4_view(*slots)[2] = (const yw_float4_view(*)[2])(const void*)b->scratch.slots;
  for (int32_t i = 0; i < f->num_active; ++i) {
    yw_float4 low = {0}, high = {0};
    for (int32_t s = b->work.slot_start[i]; s < b->work.slot_start[i + 1]; ++s) {
      low += slots[b->work.slots[s]][0];
      high += slots[b->work.slots[s]][1];
    }
    node[b->work.nodes[i]][0] = low;
    node[b->work.nodes[i]][1] = high;
  }
  for (int32_t i = f->num_hanging - 1; i >= 0; --i) {
    const int32_t* p = f->h->node[f->hanging[i]].parents;
    for (int k = 0; k < 2; ++k) {
      node[p[k]][0] += 0.5f * node[f->hanging[i]][0];
      node[p[k]][1] += 0.5f * node[f->hanging[i]][1];
    }
  }
  for (int32_t i = 0; i < f->num_active; ++i) {
    int32_t n = f->active[i];
    float inverse = 1.0f / node[n][1][2];
    node[n][0] *= inverse;
    node[n][1] *= inverse;
  }
  for (int32_t i = 0; i < f->num_hanging; ++i) {
    const int32_t* p = f->h->node[f->hanging[i]].parents;
    for (int k = 0; k < 2; ++k) {
      node[f->hanging[i]][k] = 0.5f * (node[p[0]][k] + node[p[1]][k]);
    }
  }
}

static look prepare_look(fem_body* b, const yw_particles* particles, const yw_step_ctx* ctx) {
  look l = {.b = b, .particles = particles, .kernels = YW_KERNEL_PICK(yw_fem_kernels, ctx->simd)};
  float *strains = b->strains, *jumps = b->jumps;
  for (int k = 0; k < FEM_KINDS; ++k) {
    size_t children = (size_t)b->model->tables.kinds[k].num_children;
    size_t capacity = (size_t)b->work.kinds[k].capacity;
    l.strains[k] = strains;
    l.jumps[k] = jumps;
    strains += capacity * (children + 1) * 6;
    jumps += capacity * (children + FEM_JUMP_ROWS);
  }
  return l;
}

void yw_fem_find_node_strains(fem_body* b, const yw_particles* particles, const yw_step_ctx* ctx) {
  look l = prepare_look(b, particles, ctx);
  yw_fem_for_batches(&b->work, ctx->tasks, batch_strains, &l);
  average_at_nodes(b);
}

static look look_at_strains(fem_body* b, const yw_particles* particles, const yw_step_ctx* ctx) {
  look l = prepare_look(b, particles, ctx);
  yw_fem_for_batches(&b->work, ctx->tasks, batch_strains, &l);
  average_at_nodes(b);
  yw_fem_for_batches(&b->work, ctx->tasks, batch_jumps, &l);
  return l;
}

static void let_flow(const look* l) {
  fem_body* b = l->b;
  float time = isfinite(b->since_check) ? b->since_check : 0.0f;
  bool flowed = false;
  for (int k = 0; k < FEM_KINDS; ++k) flowed = yw_fem_flow(b, k, l->strains[k], time) || flowed;
  if (!flowed) return;
  b->has_flown = true;
  yw_fem_flow_offsets(b);
}

// Decisions ---------------------------------------------------------------------------------------

typedef struct decision {
  const look* look;
  float threshold[FEM_MAX_LEVEL + 1];
  float merge_share;
  bool whole;          // split either all children of a family or none
  bool keeps_surface;  // merges where the surface is flat only
  int32_t num_split, num_merge;
  float stretch;
} decision;

static float largest_strain(const float* strain) {
  float largest = 0.0f;
  for (int i = 0; i < 6; ++i) largest = fmaxf(largest, fabsf(strain[i * YW_LANES]));
  return largest;
}

// True if a strain is within this fraction of the valid range of a coarse tet's sampled matrix.
static bool is_in_range(const fem_body* b, int32_t tet, const float* strain, float share) {
  const fem_range* ranges = b->model->material_data.range;
  for (int i = 0; ranges && i < 6; ++i) {
    float value = strain[i * YW_LANES];
    if (!(value >= share * ranges[tet].low[i] && value <= share * ranges[tet].high[i]))
      return false;
  }
  return true;
}

static float threshold_of(const decision* d, int32_t tet) {
  const fem_model* model = d->look->b->model;
  float threshold = d->threshold[model->h.level[tet]];
  return model->tables.weights ? threshold / model->tables.weights[tet] : threshold;
}

static bool wants_split(const decision* d, int32_t tet, float jump, const float* strain) {
  const fem_body* b = d->look->b;
  if (tet >= b->model->h.num_parents) return false;
  if (jump < AGAIN_SHARE * b->merged_at[tet]) b->merged_at[tet] = 0.0f;
  if (must_split(b, tet)) return true;
  if (b->params.refine == YW_FEM_REFINE_RANGE) {
    return largest_strain(strain) > b->params.strain_range || !is_in_range(b, tet, strain, 1.0f);
  }
  return b->params.refine == YW_FEM_REFINE_JUMP && jump > threshold_of(d, tet);
}

// True if the surface would jump when the children of a tet are merged.
static bool bends_surface(const fem_body* b, const yw_particles* particles, int32_t parent) {
  const int32_t *family = b->model->h.family[parent], *v = family;
  for (int e = 0; e < 6; ++e) {
    int32_t n = family[4 + e];
    if (!yw_fem_on_surface(b)[n] || b->front.state[n] != FEM_FREE) continue;
    yw_vec3 u = yw_xyz(particles->pos[v[yw_fem_edges[e][0]]]);
    yw_vec3 w = yw_xyz(particles->pos[v[yw_fem_edges[e][1]]]);
    yw_vec3 off = yw_sub(yw_xyz(particles->pos[n]), yw_lerp(u, w, 0.5f));
    if (yw_length(off) > FLAT_SHARE * yw_distance(u, w)) return true;
  }
  return false;
}

static bool wants_merge(const decision* d, int32_t parent, float jump, float apart,
                        const float* strain) {
  const fem_body* b = d->look->b;
  if (must_split(b, parent)) return false;
  if (d->keeps_surface && bends_surface(b, d->look->particles, parent)) return false;
  if (b->params.refine == YW_FEM_REFINE_RANGE) {
    // Conditions 1 and 3 of the paper's section 5.2; the caller has checked the second.
    return largest_strain(strain) <= MERGE_SHARE * b->params.strain_range &&
           is_in_range(b, parent, strain, MERGE_SHARE) && apart <= b->params.tau;
  }
  float limit = d->merge_share * threshold_of(d, parent), last = b->merged_at[parent];
  if (last > 0.0f) limit = fminf(limit, AGAIN_SHARE * last);
  return b->params.refine == YW_FEM_REFINE_JUMP && jump < limit && apart < limit &&
         is_in_range(b, parent, strain, 1.0f);
}

static void decide_lane(decision* d, int k, int32_t i) {
  fem_body* b = d->look->b;
  const fem_kind* kind = &b->model->tables.kinds[k];
  const fem_batches* batches = &b->work.kinds[k];
  size_t batch = (size_t)i / YW_LANES, lane = (size_t)i % YW_LANES;
  size_t children = (size_t)kind->num_children;
  const float* jump = d->look->jumps[k] + batch * (children + FEM_JUMP_ROWS) * YW_LANES + lane;
  const float* strain = d->look->strains[k] + batch * (children + 1) * 6 * YW_LANES + lane;
  int32_t owner = batches->owner[i], before = d->num_split, split = 0;
  if (owner < 0) return;
  int32_t first = k == FEM_SINGLES ? owner : b->model->h.first_child[owner];
  for (size_t c = 0; c < children; ++c) {
    if (!(batches->present[i] >> c & 1)) continue;
    int32_t tet = first + (int32_t)c;
    if (wants_split(d, tet, jump[c * YW_LANES], strain + c * 6 * YW_LANES)) split |= 1 << c;
  }
  if (split && d->whole) split = batches->present[i];
  for (size_t c = 0; c < children; ++c) {
    if (split >> c & 1) b->to_split[d->num_split++] = first + (int32_t)c;
  }
  d->stretch = fmaxf(d->stretch, jump[(children + 2) * YW_LANES]);
  if (k == FEM_SINGLES || d->num_split > before) return;
  if (batches->present[i] != (1 << children) - 1) return;
  float own = jump[children * YW_LANES], apart = jump[(children + 1) * YW_LANES];
  if (wants_merge(d, owner, own, apart, strain + children * 6 * YW_LANES)) {
    b->merge_jump[d->num_merge] = fmaxf(own, apart);
    b->to_merge[d->num_merge++] = owner;
  }
}

// Merges siblings only together, so that families stay whole.
static void merge_siblings_only(decision* d) {
  fem_body* b = d->look->b;
  const fem_hierarchy* h = &b->model->h;
  bool* merging = (bool*)b->carried;
  memset(merging, 0, (size_t)h->num_parents);
  for (int32_t i = 0; i < d->num_merge; ++i) merging[b->to_merge[i]] = true;
  int32_t count = 0;
  for (int32_t i = 0; i < d->num_merge; ++i) {
    int32_t tet = b->to_merge[i], parent = h->parent[tet];
    bool all = true;
    for (int32_t c = 0; parent >= 0 && c < yw_fem_children_of(h, parent); ++c) {
      int32_t sibling = h->first_child[parent] + c;
      all = all && (merging[sibling] || !yw_fem_is_split(&b->front, sibling));
    }
    if (!all) continue;
    b->merge_jump[count] = b->merge_jump[i];
    b->to_merge[count++] = tet;
  }
  d->num_merge = count;
}

// True if there are finest tets that only strains require.
static bool has_finest(const fem_body* b) {
  const fem_front* f = &b->front;
  for (int32_t i = f->num_families - 1; i >= 0; --i) {
    if (f->h->level[f->families[i]] < f->h->max_level - 1) return false;
    if (!must_split(b, f->families[i])) return true;
  }
  return false;
}

// The largest weighted jump of tets next to the finest level.
static float largest_jump(const decision* d) {
  const fem_body* b = d->look->b;
  const fem_hierarchy* h = &b->model->h;
  const float* weights = b->model->tables.weights;
  float largest = 0.0f;
  for (int k = 0; k < FEM_KINDS; ++k) {
    const fem_batches* batches = &b->work.kinds[k];
    size_t children = (size_t)b->model->tables.kinds[k].num_children;
    for (int32_t i = 0; i < batches->count; ++i) {
      int32_t owner = batches->owner[i];
      if (owner < 0) continue;
      int32_t first = k == FEM_SINGLES ? owner : h->first_child[owner];
      if (h->level[first] != h->max_level - 1) continue;
      size_t row = ((size_t)i / YW_LANES) * (children + FEM_JUMP_ROWS);
      const float* jump = d->look->jumps[k] + row * YW_LANES + (size_t)i % YW_LANES;
      for (int32_t c = 0; batches->present[i] >> c; ++c) {
        if (!(batches->present[i] >> c & 1)) continue;
        float weight = weights ? weights[first + c] : 1.0f;
        largest = fmaxf(largest, weight * jump[c * YW_LANES]);
      }
    }
  }
  return largest;
}

// The largest tensile strain or jump in the body: the scale of its strains.
static float strain_scale(const decision* d) {
  const fem_body* b = d->look->b;
  float largest = 0.0f;
  for (int k = 0; k < FEM_KINDS; ++k) {
    const fem_batches* batches = &b->work.kinds[k];
    size_t children = (size_t)b->model->tables.kinds[k].num_children;
    for (int32_t i = 0; i < batches->count; ++i) {
      if (batches->owner[i] < 0) continue;
      size_t row = ((size_t)i / YW_LANES) * (children + FEM_JUMP_ROWS);
      const float* jump = d->look->jumps[k] + row * YW_LANES + (size_t)i % YW_LANES;
      largest = fmaxf(largest, jump[(children + 2) * YW_LANES]);
      for (size_t c = 0; c < children; ++c) {
        if (batches->present[i] >> c & 1) largest = fmaxf(largest, jump[c * YW_LANES]);
      }
    }
  }
  return largest;
}

// Jumps of this size, at most STRAINED, may be rounding of places in the world: at level 0, twice
// as much per level.
static float rounding_of_strains(const decision* d) {
  const fem_body* b = d->look->b;
  const yw_vec4* pos = d->look->particles->pos;
  float reach = 0.0f;
  for (int32_t n = 0; n < b->model->h.node_level_start[1]; ++n) {
    yw_vec3 x = yw_add(yw_xyz(pos[n]), b->near.origin);
    reach = fmaxf(reach, fmaxf(fabsf(x.x), fmaxf(fabsf(x.y), fabsf(x.z))));
  }
  return ROUNDING * reach * b->model->steepest;
}

// The lowest threshold of a level below the one next to the finest. Where the strains of the body
// may all be rounding, as in free fall, small ones ask for nothing.
static float least_threshold(float rounding, float scale, int32_t level, int32_t top) {
  if (scale < CERTAIN * rounding * (float)(1 << top)) return STRAINED;
  return fminf(STRAINED, rounding * (float)(1 << level));
}

static void set_thresholds(decision* d) {
  const fem_body* b = d->look->b;
  int32_t top = b->model->h.max_level - 1;
  d->whole = b->work.soften && top > 0 && b->params.refine == YW_FEM_REFINE_JUMP;
  d->merge_share = d->whole ? SOFT_MERGE_SHARE : MERGE_SHARE;
  float threshold = d->whole ? SOFT_FACTOR * b->params.tau : b->params.tau;
  float less = 1.0f / (d->whole ? SOFT_LEVEL_FACTOR : LEVEL_FACTOR);
  for (int32_t level = top; level >= 0; --level, threshold *= less) d->threshold[level] = threshold;
  // A body with a single level has no threshold.
  if (!b->work.soften || b->params.refine != YW_FEM_REFINE_JUMP) return;
  float scale = strain_scale(d), rounding = rounding_of_strains(d);
  if (b->model->tables.softening.kind == YW_FEM_SOFTEN_MATERIAL) {
    for (int32_t level = 0; level <= top && level < BASE_LEVEL; ++level) {
      float strained = fminf(STRAINED, STRAINED_SHARE * scale);
      strained = fmaxf(strained, least_threshold(rounding, scale, level, top));
      d->threshold[level] = fminf(d->threshold[level], strained);
    }
    if (top < BASE_LEVEL) return;
  }
  if (!d->whole) return;
  float share = fminf(scale / SMALL_STRAIN, 1.0f);
  for (int32_t level = 0; level < top; ++level) {
    float least = least_threshold(rounding, scale, level, top);
    d->threshold[level] = fminf(d->threshold[level], fmaxf(least, share * d->threshold[level]));
  }
  float start = fminf(SOFT_START * d->threshold[top], fmaxf(LARGE_JUMP, d->threshold[top]));
  if (!has_finest(b) && largest_jump(d) < start) d->threshold[top] = INFINITY;
}

bool yw_fem_adapt(fem_body* b, yw_particles* particles, const yw_step_ctx* ctx) {
  look l = look_at_strains(b, particles, ctx);
  if (b->params.yield > 0.0f) let_flow(&l);
  decision d = {.look = &l, .keeps_surface = ctx->crowded};
  set_thresholds(&d);
  for (int k = 0; k < FEM_KINDS; ++k) {
    for (int32_t i = 0; i < b->work.kinds[k].count; ++i) decide_lane(&d, k, i);
  }
  if (d.whole) merge_siblings_only(&d);
  b->stretch = d.stretch;
  b->since_check = 0.0f;
  if (d.num_split + d.num_merge == 0) return false;
  for (int32_t i = 0; i < d.num_merge; ++i) b->merged_at[b->to_merge[i]] = b->merge_jump[i];
  int32_t squeezed = before_split(b, particles, ctx);
  // New nodes begin on the old surface.
  if (ctx->begin) yw_fem_follow_one(&b->front, ctx->begin);
  change_front(b, particles, d.num_split, d.num_merge);
  yw_fem_front_changed(b);
  after_split(b, particles, ctx, squeezed);
  return true;
}
