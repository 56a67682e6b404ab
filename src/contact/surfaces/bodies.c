// SPDX-License-Identifier: MIT
// The contact step: boxes -> pairs of bodies -> contacts -> impulses -> guard. Parallel work is
// split into fixed blocks that write to their own lists; the lists are joined in a fixed order.
#include "contact/bodies.h"

#include <string.h>

#include "contact/surfaces/guard.h"
#include "contact/surfaces/hanging.h"
#include "contact/surfaces/solve.h"
#include "contact/surfaces/whole.h"
#include "yawara/extend/memory.h"

// How far the guard may move particles beyond their paths, as a share of the mean edge; the fall of
// one step is added.
#define MARGIN_SHARE 0.01f
// Contact is solved again where bodies that it moved hit others that they did not touch before.
#define MAX_SOLVES 2
// Leaves per job, and per block of jobs.
#define LEAVES_PER_JOB 64
#define LEAVES_PER_BLOCK 128
#define BODIES_PER_BLOCK 16
// Count of a list whose block has not run yet.
#define TO_BE_FOUND (-1)

// Kept per body from step to step: connectivity and memory, no moving state.
typedef struct body_cache {
  uint64_t key, version;
  yw_complex* complex;
  yw_aabb* leaf_nodes;
  yw_path_box* path_boxes;
  float* lane_boxes;
  yw_sort_item *order, *scratch;  // loose points
  int32_t* sorted_vertices;
  int32_t (*sorted_edges)[2];
  yw_vec4* predicted;
  uint8_t* moved;
  yw_vec4 *free, *base, *impulses, *change, *heading;  // bodies that answer
} body_cache;

struct yw_surfaces {
  yw_allocator mem;
  yw_contact_log* log;  // NULL: nobody reads
  YW_LIST(body_cache) caches;
  YW_LIST(yw_complex*) complexes;

  // Data and buffers of one call of resolve.
  yw_simd simd;
  yw_touch_step step;
  YW_LIST(yw_contact_work) works;
  YW_LIST(yw_sort_item) order, scratch;
  YW_LIST(yw_aabb) body_nodes;
  YW_LIST(yw_contact_job) jobs;
  YW_LIST(int32_t) block_start;    // first job of each block
  YW_LIST(yw_contact_list) found;  // contacts of each block
  YW_LIST(yw_contact_batch) batches, colored;
  YW_LIST(uint64_t) used_colors;
  YW_LIST(int32_t) batch_color;
  YW_LIST(yw_vec3) pair_angular;
  YW_LIST(yw_contact_answer) answers;
  YW_LIST(float) yields;
  YW_LIST(yw_contact_row) rows;
  YW_LIST(yw_contact_search) searches;
};

yw_surfaces* yw_surfaces_create(const yw_allocator* mem, yw_simd simd) {
  yw_surfaces* contacts = YW_NEW(mem, yw_surfaces);
  if (!contacts) return NULL;
  contacts->mem = yw_mem_or_default(mem);
  contacts->simd = simd;
  return contacts;
}

void yw_surfaces_set_log(yw_surfaces* c, yw_contact_log* log) { c->log = log; }

// Caches ----------------------------------------------------------------------------------------

static void release_complex(yw_surfaces* c, yw_complex* complex) {
  if (!complex || --complex->users > 0) return;
  for (int32_t i = 0; i < c->complexes.count; ++i) {
    if (c->complexes.items[i] == complex) {
      c->complexes.items[i] = c->complexes.items[--c->complexes.count];
      break;
    }
  }
  yw_complex_destroy(complex);
}

static void cache_clear(yw_surfaces* c, body_cache* cache) {
  release_complex(c, cache->complex);
  void* arrays[] = {cache->leaf_nodes,   cache->path_boxes, cache->lane_boxes,
                    cache->order,        cache->scratch,    cache->sorted_vertices,
                    cache->sorted_edges, cache->predicted,  cache->moved,
                    cache->free,         cache->base,       cache->impulses,
                    cache->change,       cache->heading};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&c->mem, arrays[i]);
  *cache = (body_cache){.key = cache->key};
}

void yw_surfaces_destroy(yw_surfaces* c) {
  if (!c) return;
  yw_allocator mem = c->mem;
  for (int32_t i = 0; i < c->caches.count; ++i) cache_clear(c, &c->caches.items[i]);
  for (int32_t i = 0; i < c->found.count; ++i) {
    yw_mem_free(&mem, c->found.items[i].contacts);
    yw_mem_free(&mem, c->found.items[i].pairs);
  }
  YW_LIST_FREE(&mem, &c->caches);
  YW_LIST_FREE(&mem, &c->complexes);
  YW_LIST_FREE(&mem, &c->works);
  YW_LIST_FREE(&mem, &c->order);
  YW_LIST_FREE(&mem, &c->scratch);
  YW_LIST_FREE(&mem, &c->body_nodes);
  YW_LIST_FREE(&mem, &c->jobs);
  YW_LIST_FREE(&mem, &c->block_start);
  YW_LIST_FREE(&mem, &c->found);
  YW_LIST_FREE(&mem, &c->batches);
  YW_LIST_FREE(&mem, &c->colored);
  YW_LIST_FREE(&mem, &c->used_colors);
  YW_LIST_FREE(&mem, &c->batch_color);
  YW_LIST_FREE(&mem, &c->pair_angular);
  YW_LIST_FREE(&mem, &c->answers);
  YW_LIST_FREE(&mem, &c->yields);
  YW_LIST_FREE(&mem, &c->rows);
  YW_LIST_FREE(&mem, &c->searches);
  yw_mem_free(&mem, c);
}

// The complex of a geometry, shared among bodies with equal connectivity.
static yw_complex* find_complex(yw_surfaces* c, const yw_contact_body* body) {
  int32_t num_particles = body->particles->count;
  uint64_t hash = yw_complex_hash(&body->geometry, num_particles);
  for (int32_t i = 0; i < c->complexes.count; ++i) {
    yw_complex* complex = c->complexes.items[i];
    if (complex->hash == hash && complex->num_particles == num_particles) {
      ++complex->users;
      return complex;
    }
  }
  if (!YW_LIST_RESERVE(&c->mem, &c->complexes, 1)) return NULL;
  yw_complex* complex = yw_complex_create(&c->mem, &body->geometry, num_particles);
  if (!complex) return NULL;
  complex->hash = hash;
  complex->users = 1;
  c->complexes.items[c->complexes.count++] = complex;
  return complex;
}

static bool add_sorting(yw_surfaces* c, body_cache* cache) {
  int32_t count = cache->complex->num_vertices;
  cache->order = YW_NEW_ARRAY(&c->mem, yw_sort_item, count);
  cache->scratch = YW_NEW_ARRAY(&c->mem, yw_sort_item, count);
  cache->sorted_vertices = YW_NEW_ARRAY(&c->mem, int32_t, count);
  cache->sorted_edges = yw_mem_alloc(&c->mem, (size_t)count, sizeof *cache->sorted_edges);
  return cache->order && cache->scratch && cache->sorted_vertices && cache->sorted_edges;
}

static bool add_answering(yw_surfaces* c, body_cache* cache, int32_t count) {
  cache->free = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  cache->base = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  cache->impulses = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  cache->change = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  cache->heading = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  return cache->free && cache->base && cache->impulses && cache->change && cache->heading;
}

static bool cache_fill(yw_surfaces* c, body_cache* cache, const yw_contact_body* body) {
  cache_clear(c, cache);
  cache->complex = find_complex(c, body);
  if (!cache->complex) return false;
  const yw_complex* complex = cache->complex;
  int32_t particles = body->particles->capacity;
  cache->leaf_nodes = YW_NEW_ARRAY(&c->mem, yw_aabb, yw_box_tree_nodes(complex->num_leaves));
  cache->path_boxes = YW_NEW_ARRAY(&c->mem, yw_path_box, particles);
  size_t boxes = (size_t)complex->num_vertices + (size_t)complex->num_edges;
  boxes += (size_t)complex->num_triangles + 3 * YW_LANES;
  cache->lane_boxes = yw_mem_alloc(&c->mem, 6 * boxes, sizeof *cache->lane_boxes);
  cache->predicted = YW_NEW_ARRAY(&c->mem, yw_vec4, particles);
  cache->moved = YW_NEW_ARRAY(&c->mem, uint8_t, particles);
  bool ok = cache->leaf_nodes && cache->path_boxes && cache->lane_boxes && cache->predicted &&
            cache->moved;
  if (complex->is_loose) ok = ok && add_sorting(c, cache);
  if (body->respond) ok = ok && add_answering(c, cache, particles);
  if (!ok) {
    cache_clear(c, cache);
    return false;
  }
  cache->version = body->topology_version;
  return true;
}

// Moves the cache of the body with this key to index i, or creates one.
static bool cache_to_place(yw_surfaces* c, uint64_t key, int32_t i) {
  int32_t at = i;
  while (at < c->caches.count && c->caches.items[at].key != key) ++at;
  if (at == c->caches.count) {
    if (!YW_LIST_RESERVE(&c->mem, &c->caches, 1)) return false;
    c->caches.items[c->caches.count++] = (body_cache){.key = key};
  }
  body_cache found = c->caches.items[at];
  c->caches.items[at] = c->caches.items[i];
  c->caches.items[i] = found;
  return true;
}

// Takes room for the boxes of `count` primitives.
static yw_lane_boxes lane_boxes(float** from, int32_t count) {
  yw_lane_boxes boxes;
  for (int d = 0; d < 6; ++d, *from += count + YW_LANES) boxes.sides[d] = *from;
  return boxes;
}

static yw_contact_work work_of(const yw_contact_body* body, const body_cache* cache) {
  const yw_complex* complex = cache->complex;
  bool loose = complex->is_loose;
  float* boxes = cache->lane_boxes;
  yw_lane_boxes vertices = lane_boxes(&boxes, complex->num_vertices);
  yw_lane_boxes edges = lane_boxes(&boxes, complex->num_edges);
  yw_lane_boxes triangles = lane_boxes(&boxes, complex->num_triangles);
  return (yw_contact_work){
      .body = body,
      .complex = complex,
      .vertices = loose ? cache->sorted_vertices : complex->vertices,
      .edges = (const int32_t(*)[2])(loose ? cache->sorted_edges : complex->edges),
      .order = cache->order,
      .scratch = cache->scratch,
      .sorted_vertices = cache->sorted_vertices,
      .sorted_edges = cache->sorted_edges,
      .leaves = yw_box_tree_of(cache->leaf_nodes, complex->num_leaves),
      .path_boxes = cache->path_boxes,
      .vertex_boxes = vertices,
      .edge_boxes = edges,
      .triangle_boxes = triangles,
      .predicted = cache->predicted,
      .moved = cache->moved};
}

// Puts caches and works into the order of the bodies; frees the caches of removed bodies.
static bool update_caches(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies) {
  c->works.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->works, num_bodies)) return false;
  for (int32_t i = 0; i < num_bodies; ++i) {
    if (!cache_to_place(c, bodies[i].key, i)) return false;
    body_cache* cache = &c->caches.items[i];
    bool fresh = cache->complex && cache->version == bodies[i].topology_version;
    if (!fresh && !cache_fill(c, cache, &bodies[i])) return false;
    c->works.items[c->works.count++] = work_of(&bodies[i], cache);
  }
  while (c->caches.count > num_bodies) cache_clear(c, &c->caches.items[--c->caches.count]);
  return true;
}

// Pairs of bodies -------------------------------------------------------------------------------

static void fit_bodies(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_surfaces* c = context;
  int32_t end = (block + 1) * BODIES_PER_BLOCK;
  for (int32_t i = block * BODIES_PER_BLOCK; i < end && i < c->works.count; ++i) {
    yw_contact_work* work = &c->works.items[i];
    work->box = yw_aabb_empty();
    if (work->body->body_contact || work->body->self_contact) yw_touch_fit(work);
  }
}

static bool add_jobs(yw_surfaces* c, int32_t a, int32_t b, bool obstacles) {
  int32_t leaves = c->works.items[a].complex->num_leaves;
  int32_t count = (leaves + LEAVES_PER_JOB - 1) / LEAVES_PER_JOB;
  if (!YW_LIST_RESERVE(&c->mem, &c->jobs, count)) return false;
  for (int32_t first = 0; first < leaves; first += LEAVES_PER_JOB) {
    int32_t end = first + LEAVES_PER_JOB < leaves ? first + LEAVES_PER_JOB : leaves;
    c->jobs.items[c->jobs.count++] = (yw_contact_job){a, b, first, end, obstacles};
  }
  return true;
}

static bool add_pair(yw_surfaces* c, int32_t a, int32_t b) {
  c->works.items[a].active = c->works.items[b].active = true;
  return add_jobs(c, a, b, false);
}

// Sorts bodies along a space-filling curve and builds a tree of their boxes.
static bool sort_bodies(yw_surfaces* c) {
  int32_t count = c->works.count;
  c->order.count = c->scratch.count = c->body_nodes.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->order, count) ||
      !YW_LIST_RESERVE(&c->mem, &c->scratch, count) ||
      !YW_LIST_RESERVE(&c->mem, &c->body_nodes, yw_box_tree_nodes(count))) {
    return false;
  }
  yw_aabb all = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) all = yw_aabb_join(all, c->works.items[i].box);
  for (int32_t i = 0; i < count; ++i) {
    yw_aabb box = c->works.items[i].box;
    yw_vec3 center = yw_scale(yw_add(box.lower, box.upper), 0.5f);
    c->order.items[i] = (yw_sort_item){yw_morton_code(all, center), i};
  }
  yw_sort_items(c->order.items, c->scratch.items, count);
  c->order.count = count;
  return true;
}

// Adds jobs for bodies that others may press against an obstacle.
static bool add_obstacles(yw_surfaces* c) {
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_work* work = &c->works.items[i];
    if (work->active && work->body->obstacles && !add_jobs(c, i, i, true)) return false;
  }
  return true;
}

// Half of the distance at which two bodies have to be looked at; never less than touch.c needs.
static float body_margin(const yw_surfaces* c, const yw_contact_work* work) {
  bool contacts = c->step.mode == YW_TOUCH_CONTACTS;
  return work->margin +
         (contacts ? 0.01f * work->complex->size + c->step.fall : 0.001f * work->complex->size);
}

static bool find_pairs(yw_surfaces* c) {
  c->jobs.count = 0;
  if (!sort_bodies(c)) return false;
  int32_t count = c->works.count;
  yw_box_tree tree = yw_box_tree_of(c->body_nodes.items, count);
  for (int32_t k = 0; k < count; ++k) {
    const yw_contact_work* work = &c->works.items[c->order.items[k].value];
    float margin = body_margin(c, work);
    bool meets = work->body->body_contact && work->complex->num_leaves > 0;
    tree.nodes[tree.first_leaf + k] = meets ? yw_aabb_pad(work->box, margin) : yw_aabb_empty();
  }
  yw_box_tree_refit(&tree);
  for (int32_t k = 0; k < count; ++k) {
    int32_t a = c->order.items[k].value;
    yw_box_walk walk = yw_box_walk_begin(&tree, tree.nodes[tree.first_leaf + k]);
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      int32_t b = c->order.items[other].value;
      if (other <= k || !yw_contact_may_meet(c->works.items[a].body, c->works.items[b].body)) {
        continue;
      }
      if (!add_pair(c, a, b)) return false;
    }
    if (c->works.items[a].body->self_contact && !add_pair(c, a, a)) return false;
  }
  return c->step.mode != YW_TOUCH_CONTACTS || add_obstacles(c);
}

// Contacts --------------------------------------------------------------------------------------

static void run_jobs(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_surfaces* c = context;
  yw_contact_list* list = &c->found.items[block];
  if (list->num_contacts != TO_BE_FOUND) return;
  list->num_contacts = list->num_pairs = 0;
  list->need = YW_TOUCH_NOTHING;
  list->num_hits = 0;
  for (int32_t i = c->block_start.items[block]; i < c->block_start.items[block + 1]; ++i) {
    yw_touch_find(c->works.items, &c->jobs.items[i], &c->step, list);
  }
}

// Groups jobs into blocks of similar work.
static bool cut_job_blocks(yw_surfaces* c) {
  c->block_start.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->block_start, c->jobs.count + 1)) return false;
  int32_t leaves = LEAVES_PER_BLOCK;
  for (int32_t i = 0; i < c->jobs.count; ++i) {
    if (leaves >= LEAVES_PER_BLOCK) {
      c->block_start.items[c->block_start.count++] = i;
      leaves = 0;
    }
    leaves += 4 + c->jobs.items[i].end - c->jobs.items[i].first;
  }
  c->block_start.items[c->block_start.count] = c->jobs.count;
  int32_t missing = c->block_start.count - c->found.count;
  if (missing > 0) {
    if (!YW_LIST_RESERVE(&c->mem, &c->found, missing)) return false;
    memset(c->found.items + c->found.count, 0, (size_t)missing * sizeof *c->found.items);
    c->found.count += missing;
  }
  return true;
}

// True when the list had room for everything; otherwise it gets more, and its block runs again.
static bool is_complete(yw_surfaces* c, yw_contact_list* list, bool* out_of_memory) {
  bool contacts_fit = list->num_contacts <= list->contact_capacity;
  bool pairs_fit = list->num_pairs <= list->pair_capacity;
  if (!contacts_fit) {
    yw_mem_free(&c->mem, list->contacts);
    list->contact_capacity = list->num_contacts + list->num_contacts / 2 + 16;
    list->contacts = YW_NEW_ARRAY(&c->mem, yw_contact, list->contact_capacity);
    if (!list->contacts) list->contact_capacity = 0;
  }
  if (!pairs_fit) {
    yw_mem_free(&c->mem, list->pairs);
    list->pair_capacity = list->num_pairs + list->num_pairs / 2 + 64;
    list->pairs = YW_NEW_ARRAY(&c->mem, yw_near_pair, list->pair_capacity);
    if (!list->pairs) list->pair_capacity = 0;
  }
  if (contacts_fit && pairs_fit) return true;
  *out_of_memory =
      *out_of_memory || (!contacts_fit && !list->contacts) || (!pairs_fit && !list->pairs);
  list->num_contacts = TO_BE_FOUND;
  return false;
}

// Runs all jobs. Workers must not allocate: blocks whose list was too short run again with a longer
// one.
static bool run_all_jobs(yw_surfaces* c, yw_tasks* tasks) {
  if (!cut_job_blocks(c)) return false;
  int32_t blocks = c->block_start.count;
  for (int32_t i = 0; i < blocks; ++i) c->found.items[i].num_contacts = TO_BE_FOUND;
  bool complete = false, out_of_memory = false;
  while (!complete && !out_of_memory) {
    yw_tasks_run(tasks, blocks, run_jobs, c);
    complete = true;
    for (int32_t i = 0; i < blocks; ++i) {
      complete = is_complete(c, &c->found.items[i], &out_of_memory) && complete;
    }
  }
  return !out_of_memory;
}

static bool same_pair(const yw_contact_batch* batch, const yw_contact* contact) {
  int32_t a = contact->body[0], b = contact->body[1];
  return (batch->a == a && batch->b == b) || (batch->a == b && batch->b == a);
}

// Splits the lists where the pair of bodies changes. Jobs of one pair are adjacent, so a pair that
// continues in the next block is the last one.
static bool cut_batches(yw_surfaces* c, int32_t* num_contacts, int32_t* num_pairs) {
  c->batches.count = 0;
  *num_contacts = *num_pairs = 0;
  for (int32_t block = 0; block < c->block_start.count; ++block) {
    yw_contact_list* list = &c->found.items[block];
    yw_contact_batch* batch = NULL;
    *num_contacts += list->num_contacts;
    for (int32_t i = 0; i < list->num_contacts; ++i) {
      yw_contact* contact = &list->contacts[i];
      if (!batch || !same_pair(batch, contact)) {
        if (!YW_LIST_RESERVE(&c->mem, &c->batches, 1)) return false;
        int32_t count = c->batches.count;
        bool leads = count == 0 || !same_pair(&c->batches.items[count - 1], contact);
        *num_pairs += leads;
        batch = &c->batches.items[c->batches.count++];
        int32_t a = contact->body[0], b = contact->body[1];
        yw_aabb box = yw_aabb_join(c->works.items[a].box, c->works.items[b].box);
        float extent = yw_distance(box.lower, box.upper);
        *batch = (yw_contact_batch){.contacts = contact,
                                    .a = a,
                                    .b = b,
                                    .pair = *num_pairs - 1,
                                    .leads = leads,
                                    .extent = extent};
      }
      ++batch->count;
    }
  }
  return true;
}

// Sorts batches by color: each takes the first color that neither of its bodies has. When all
// colors are taken (one body under very many), a batch goes to the last color, solved in order.
static bool color_batches(yw_surfaces* c, yw_contact_problem* problem) {
  int32_t count = c->batches.count;
  c->used_colors.count = c->batch_color.count = c->colored.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->used_colors, c->works.count) ||
      !YW_LIST_RESERVE(&c->mem, &c->batch_color, count) ||
      !YW_LIST_RESERVE(&c->mem, &c->colored, count)) {
    return false;
  }
  uint64_t* used = c->used_colors.items;
  memset(used, 0, (size_t)c->works.count * sizeof *used);
  int32_t* starts = problem->color_start;
  memset(starts, 0, (YW_CONTACT_MAX_COLORS + 2) * sizeof *starts);
  for (int32_t i = 0; i < count; ++i) {
    const yw_contact_batch* batch = &c->batches.items[i];
    uint64_t taken = used[batch->a] | used[batch->b];
    int32_t color = ~taken ? __builtin_ctzll(~taken) : YW_CONTACT_MAX_COLORS;
    if (color < YW_CONTACT_MAX_COLORS) {
      used[batch->a] |= 1ull << color;
      used[batch->b] |= 1ull << color;
    }
    c->batch_color.items[i] = color;
    ++starts[color + 1];
  }
  for (int32_t k = 0; k <= YW_CONTACT_MAX_COLORS; ++k) starts[k + 1] += starts[k];
  int32_t next[YW_CONTACT_MAX_COLORS + 1];
  memcpy(next, starts, sizeof next);
  for (int32_t i = 0; i < count; ++i) {
    c->colored.items[next[c->batch_color.items[i]]++] = c->batches.items[i];
  }
  problem->batches = c->colored.items;
  return true;
}

// A single body has nothing to touch unless it collides with itself.
static bool nothing_can_meet(const yw_contact_body* bodies, int32_t num_bodies) {
  int32_t count = 0;
  for (int32_t i = 0; i < num_bodies; ++i) {
    if (bodies[i].self_contact) return false;
    count += bodies[i].body_contact;
  }
  return count < 2;
}

// Bodies that answer impulses themselves, and touch something.
static bool collect_answers(yw_surfaces* c, yw_contact_problem* problem) {
  c->answers.count = c->yields.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->answers, c->works.count) ||
      !YW_LIST_RESERVE(&c->mem, &c->yields, c->works.count)) {
    return false;
  }
  for (int32_t i = 0; i < c->works.count; ++i) {
    c->yields.items[i] = 1.0f;
    const body_cache* cache = &c->caches.items[i];
    if (!problem->bodies[i].respond || c->used_colors.items[i] == 0) continue;
    c->answers.items[c->answers.count++] = (yw_contact_answer){.body = i,
                                                               .free = cache->free,
                                                               .base = cache->base,
                                                               .impulses = cache->impulses,
                                                               .change = cache->change,
                                                               .heading = cache->heading};
  }
  problem->yields = c->yields.items;
  problem->answers = c->answers.items;
  problem->num_answers = c->answers.count;
  return true;
}

// The vertex of one side of a contact, or the nearer one of an edge; -1: a triangle.
static int32_t vertex_of(const yw_contact* p, int side) {
  if (p->count[side] == 0 || p->count[side] > 2) return -1;
  bool second = p->count[side] == 2 && p->weights[side][1] > p->weights[side][0];
  return p->particles[side][second ? 1 : 0];
}

// Tells readers which contacts carried an impulse.
static void log_contacts(yw_surfaces* c, const yw_contact_body* bodies) {
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &c->batches.items[i];
    for (int32_t k = 0; k < batch->count; ++k) {
      const yw_contact* p = &batch->contacts[k];
      float impulse = p->impulse + p->bounced;
      if (!(impulse > 0.0f)) continue;
      bool obstacle = p->count[1] == 0;
      yw_contact_record record = {.bodies = {p->body[0], obstacle ? -1 : p->body[1]},
                                  .vertices = {vertex_of(p, 0), vertex_of(p, 1)},
                                  .normal = p->normal,
                                  .impulse = impulse,
                                  .friction = p->friction,
                                  .approach = p->approach};
      for (int n = 0; n < p->count[0]; ++n) {
        record.point = yw_mad(record.point, p->weights[0][n],
                              yw_xyz(bodies[p->body[0]].particles->pos[p->particles[0][n]]));
      }
      yw_contact_log_add(c->log, &record);
    }
  }
}

// Looks at the paths to where particles are now.
static bool detect(yw_surfaces* c, yw_touch_mode mode, yw_tasks* tasks) {
  int32_t num_bodies = c->works.count;
  c->step.mode = mode;
  for (int32_t i = 0; i < num_bodies; ++i) {
    yw_contact_work* work = &c->works.items[i];
    float margin = MARGIN_SHARE * work->complex->size + c->step.fall;
    work->margin = mode == YW_TOUCH_PAIRS ? margin : 0.0f;
  }
  yw_tasks_run(tasks, (num_bodies + BODIES_PER_BLOCK - 1) / BODIES_PER_BLOCK, fit_bodies, c);
  return find_pairs(c) && run_all_jobs(c, tasks);
}

static bool was_solved(const yw_surfaces* c, int32_t a, int32_t b) {
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &c->batches.items[i];
    if ((batch->a == a && batch->b == b) || (batch->a == b && batch->b == a)) return true;
  }
  return false;
}

// After a look: what is left to do. Bodies that touch and hit each other elsewhere too are pressed,
// not hit: solving again would cost more than the little motion that the guard takes.
static yw_touch_need greatest_need(const yw_surfaces* c) {
  yw_touch_need need = YW_TOUCH_NOTHING;
  for (int32_t i = 0; i < c->block_start.count; ++i) {
    const yw_contact_list* list = &c->found.items[i];
    if (list->need != YW_TOUCH_NOTHING && need == YW_TOUCH_NOTHING) need = YW_TOUCH_PRESSED;
    bool hit = list->num_hits > YW_TOUCH_MAX_HITS;
    for (int32_t k = 0; k < list->num_hits && !hit; ++k) {
      hit = !was_solved(c, list->hits[k][0], list->hits[k][1]);
    }
    if (hit) return YW_TOUCH_HIT;
  }
  return need;
}

// Rows of the batches, in the order in which they are visited.
static bool add_rows(yw_surfaces* c, const yw_contact_problem* problem, int32_t num_contacts) {
  if (!YW_LIST_RESERVE(&c->mem, &c->rows, num_contacts) ||
      !YW_LIST_RESERVE(&c->mem, &c->searches, num_contacts)) {
    return false;
  }
  int32_t at = 0;
  for (int32_t i = 0; i < problem->color_start[YW_CONTACT_MAX_COLORS + 1]; ++i) {
    problem->batches[i].rows = c->rows.items + at;
    problem->batches[i].searches = c->searches.items + at;
    at += problem->batches[i].count;
  }
  return true;
}

static bool solve(yw_surfaces* c, yw_contact_problem* problem, int32_t* num_contacts) {
  if (!cut_batches(c, num_contacts, &problem->num_pairs) || !color_batches(c, problem) ||
      !collect_answers(c, problem) || !add_rows(c, problem, *num_contacts) ||
      !YW_LIST_RESERVE(&c->mem, &c->pair_angular, problem->num_pairs)) {
    return false;
  }
  problem->pair_angular = c->pair_angular.items;
  yw_contact_solve(problem);
  if (c->log) log_contacts(c, problem->bodies);
  for (int32_t i = 0; i < c->works.count; ++i) {
    if (c->works.items[i].active) yw_hanging_carry(&c->works.items[i]);
  }
  yw_whole_settle(problem, c->works.count);
  return true;
}

yw_status yw_surfaces_resolve(yw_surfaces* c, yw_contact_body* bodies, int32_t num_bodies, float h,
                              yw_vec3 gravity, int32_t iterations, yw_tasks* tasks,
                              int32_t* num_contacts) {
  int32_t found = 0;
  yw_contact_problem problem = {
      .bodies = bodies, .h = h, .gravity = gravity, .iterations = iterations, .tasks = tasks};
  if (num_contacts) *num_contacts = 0;
  if (nothing_can_meet(bodies, num_bodies)) return YW_OK;
  c->step =
      (yw_touch_step){.h = h, .fall = yw_length(gravity) * h * h, .near = yw_near_fns_of(c->simd)};
  if (!update_caches(c, bodies, num_bodies)) return YW_ERR_MEMORY;
  yw_touch_need need = YW_TOUCH_HIT;
  for (int k = 0; k < MAX_SOLVES && need == YW_TOUCH_HIT; ++k) {
    if (!detect(c, YW_TOUCH_CONTACTS, tasks) || !solve(c, &problem, &found) ||
        !detect(c, YW_TOUCH_LOOK, tasks)) {
      return YW_ERR_MEMORY;
    }
    need = greatest_need(c);
  }
  if (need != YW_TOUCH_NOTHING) {
    if (!detect(c, YW_TOUCH_PAIRS, tasks)) return YW_ERR_MEMORY;
    yw_guard_motion(c->works.items, num_bodies, c->found.items, c->block_start.count, h, tasks);
  }
  if (num_contacts) *num_contacts = found;
  return YW_OK;
}
