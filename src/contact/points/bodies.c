// SPDX-License-Identifier: MIT
// The contact step: boxes -> pairs of bodies -> contacts -> impulses. Parallel work is split into
// fixed blocks that write to their own lists; the lists are joined in a fixed order.
#include "contact/bodies.h"

#include <string.h>

#include "contact/points/detect.h"
#include "contact/points/solve.h"
#include "yawara/extend/memory.h"

// Thickness of the contact skin, as a share of the smaller element; the fall of one step under
// gravity is added.
#define CONTACT_MARGIN 0.02f
#define MAX_CONTACT_MARGIN 0.1f
// Groups of points per job, and per block of jobs.
#define GROUPS_PER_JOB 64
#define GROUPS_PER_BLOCK 128
#define LEAVES_PER_BLOCK 256
#define BODIES_PER_BLOCK 16
// Bodies with at most this many leaves prepare all of them.
#define FEW_LEAVES 16
// Count of a list whose block has not run yet.
#define TO_BE_FOUND (-1)

// Kept per body from step to step: connectivity and memory, no moving state.
typedef struct body_cache {
  uint64_t key, version;
  yw_point_topology* topology;
  yw_aabb *group_nodes, *leaf_nodes;
  yw_point_tet_boxes* tet_boxes;
  uint8_t* needed;
  yw_point_balls* balls;  // bodies of spheres only; otherwise NULL
} body_cache;

typedef struct leaf_block {
  int32_t body, first, end;
} leaf_block;

struct yw_points {
  yw_allocator mem;
  yw_contact_log* log;  // NULL: nobody reads
  YW_LIST(body_cache) caches;
  YW_LIST(yw_point_topology*) topologies;

  // Data and buffers of one call of resolve.
  float h;
  float fall;  // m, fall of one step under gravity
  YW_LIST(yw_point_work) works;
  YW_LIST(yw_point_sort_item) order, scratch;
  YW_LIST(yw_aabb) body_nodes;
  YW_LIST(yw_point_job) jobs;
  YW_LIST(int32_t) block_start;  // first job of each block
  YW_LIST(yw_point_list) found;  // contacts of each block
  YW_LIST(leaf_block) leaf_blocks;
  YW_LIST(yw_point_batch) batches, colored;
  YW_LIST(uint64_t) used_colors;
  YW_LIST(int32_t) batch_color;
  YW_LIST(yw_vec3) pair_angular;
};

yw_points* yw_points_create(const yw_allocator* mem) {
  yw_points* contacts = YW_NEW(mem, yw_points);
  if (contacts) contacts->mem = yw_mem_or_default(mem);
  return contacts;
}

void yw_points_set_log(yw_points* c, yw_contact_log* log) { c->log = log; }

// Caches ----------------------------------------------------------------------------------------

static void release_topology(yw_points* c, yw_point_topology* topology) {
  if (!topology || --topology->users > 0) return;
  for (int32_t i = 0; i < c->topologies.count; ++i) {
    if (c->topologies.items[i] == topology) {
      c->topologies.items[i] = c->topologies.items[--c->topologies.count];
      break;
    }
  }
  yw_point_topology_destroy(topology);
}

static void balls_free(yw_points* c, yw_point_balls* balls) {
  if (!balls) return;
  yw_mem_free(&c->mem, balls->points);
  yw_mem_free(&c->mem, balls->before);
  yw_mem_free(&c->mem, balls->now);
  yw_mem_free(&c->mem, balls->order);
  yw_mem_free(&c->mem, balls->scratch);
  yw_mem_free(&c->mem, balls);
}

static yw_point_balls* balls_create(yw_points* c, int32_t count) {
  yw_point_balls* balls = YW_NEW(&c->mem, yw_point_balls);
  if (!balls) return NULL;
  *balls = (yw_point_balls){.points = YW_NEW_ARRAY(&c->mem, int32_t, count),
                            .before = YW_NEW_ARRAY(&c->mem, yw_vec4, count),
                            .now = YW_NEW_ARRAY(&c->mem, yw_vec4, count),
                            .order = YW_NEW_ARRAY(&c->mem, yw_point_sort_item, count),
                            .scratch = YW_NEW_ARRAY(&c->mem, yw_point_sort_item, count)};
  if (balls->points && balls->before && balls->now && balls->order && balls->scratch) return balls;
  balls_free(c, balls);
  return NULL;
}

static void cache_clear(yw_points* c, body_cache* cache) {
  release_topology(c, cache->topology);
  yw_mem_free(&c->mem, cache->group_nodes);
  yw_mem_free(&c->mem, cache->leaf_nodes);
  yw_mem_free(&c->mem, cache->tet_boxes);
  yw_mem_free(&c->mem, cache->needed);
  balls_free(c, cache->balls);
  *cache = (body_cache){.key = cache->key};
}

void yw_points_destroy(yw_points* c) {
  if (!c) return;
  yw_allocator mem = c->mem;
  for (int32_t i = 0; i < c->caches.count; ++i) cache_clear(c, &c->caches.items[i]);
  for (int32_t i = 0; i < c->found.count; ++i) yw_mem_free(&mem, c->found.items[i].items);
  YW_LIST_FREE(&mem, &c->caches);
  YW_LIST_FREE(&mem, &c->topologies);
  YW_LIST_FREE(&mem, &c->works);
  YW_LIST_FREE(&mem, &c->order);
  YW_LIST_FREE(&mem, &c->scratch);
  YW_LIST_FREE(&mem, &c->body_nodes);
  YW_LIST_FREE(&mem, &c->jobs);
  YW_LIST_FREE(&mem, &c->block_start);
  YW_LIST_FREE(&mem, &c->found);
  YW_LIST_FREE(&mem, &c->leaf_blocks);
  YW_LIST_FREE(&mem, &c->batches);
  YW_LIST_FREE(&mem, &c->colored);
  YW_LIST_FREE(&mem, &c->used_colors);
  YW_LIST_FREE(&mem, &c->batch_color);
  YW_LIST_FREE(&mem, &c->pair_angular);
  yw_mem_free(&mem, c);
}

// The topology of a geometry, shared among bodies with equal connectivity.
static yw_point_topology* find_topology(yw_points* c, const yw_contact_body* body) {
  int32_t num_particles = body->particles->count;
  uint64_t hash = yw_point_topology_hash(&body->geometry, num_particles);
  for (int32_t i = 0; i < c->topologies.count; ++i) {
    yw_point_topology* t = c->topologies.items[i];
    if (t->hash == hash && t->num_particles == num_particles) {
      ++t->users;
      return t;
    }
  }
  if (!YW_LIST_RESERVE(&c->mem, &c->topologies, 1)) return NULL;
  yw_point_topology* t = yw_point_topology_create(&c->mem, &body->geometry, num_particles);
  if (!t) return NULL;
  t->hash = hash;
  t->users = 1;
  c->topologies.items[c->topologies.count++] = t;
  return t;
}

static bool cache_fill(yw_points* c, body_cache* cache, const yw_contact_body* body) {
  cache_clear(c, cache);
  cache->topology = find_topology(c, body);
  if (!cache->topology) return false;
  int32_t groups = cache->topology->num_groups, leaves = cache->topology->num_leaves;
  cache->group_nodes = YW_NEW_ARRAY(&c->mem, yw_aabb, yw_box_tree_nodes(groups));
  cache->leaf_nodes = YW_NEW_ARRAY(&c->mem, yw_aabb, yw_box_tree_nodes(leaves));
  cache->tet_boxes = YW_NEW_ARRAY(&c->mem, yw_point_tet_boxes, leaves);
  cache->needed = YW_NEW_ARRAY(&c->mem, uint8_t, leaves);
  bool volume = cache->topology->is_volume;
  if (!volume) cache->balls = balls_create(c, cache->topology->num_points);
  if (!cache->group_nodes || !cache->leaf_nodes || !cache->tet_boxes || !cache->needed ||
      (!volume && !cache->balls)) {
    cache_clear(c, cache);
    return false;
  }
  cache->version = body->topology_version;
  return true;
}

// Moves the cache of the body with this key to index i, or creates one.
static bool cache_to_place(yw_points* c, uint64_t key, int32_t i) {
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

// Puts caches and works into the order of the bodies; frees the caches of removed bodies.
static bool update_caches(yw_points* c, const yw_contact_body* bodies, int32_t num_bodies) {
  c->works.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->works, num_bodies)) return false;
  for (int32_t i = 0; i < num_bodies; ++i) {
    if (!cache_to_place(c, bodies[i].key, i)) return false;
    body_cache* cache = &c->caches.items[i];
    bool fresh = cache->topology && cache->version == bodies[i].topology_version;
    if (!fresh && !cache_fill(c, cache, &bodies[i])) return false;
    const yw_point_topology* t = cache->topology;
    c->works.items[c->works.count++] =
        (yw_point_work){.body = &bodies[i],
                        .topology = t,
                        .h = c->h,
                        .points = t->is_volume ? t->points : cache->balls->points,
                        .balls = cache->balls,
                        .groups = yw_box_tree_of(cache->group_nodes, t->num_groups),
                        .leaves = yw_box_tree_of(cache->leaf_nodes, t->num_leaves),
                        .tet_boxes = cache->tet_boxes,
                        .needed = cache->needed};
  }
  while (c->caches.count > num_bodies) cache_clear(c, &c->caches.items[--c->caches.count]);
  return true;
}

// Pairs of bodies -------------------------------------------------------------------------------

static void fit_bodies(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_points* c = context;
  int32_t end = (block + 1) * BODIES_PER_BLOCK;
  for (int32_t i = block * BODIES_PER_BLOCK; i < end && i < c->works.count; ++i) {
    yw_point_work* work = &c->works.items[i];
    work->box = yw_aabb_empty();
    if (!work->body->body_contact && !work->body->self_contact) continue;
    if (work->topology->is_volume) {
      yw_point_fit_points(work);
    } else {
      yw_point_fit_spheres(work);
    }
  }
}

static bool add_job(yw_points* c, yw_point_job_kind kind, int32_t a, int32_t b, float skin) {
  bool whole = kind == YW_POINT_JOB_EDGES || kind == YW_POINT_JOB_SMALL_PAIR;
  int32_t groups = whole ? 1 : c->works.items[a].topology->num_groups;
  int32_t count = (groups + GROUPS_PER_JOB - 1) / GROUPS_PER_JOB;
  if (!YW_LIST_RESERVE(&c->mem, &c->jobs, count)) return false;
  for (int32_t first = 0; first < groups; first += GROUPS_PER_JOB) {
    int32_t end = first + GROUPS_PER_JOB < groups ? first + GROUPS_PER_JOB : groups;
    c->jobs.items[c->jobs.count++] = (yw_point_job){a, b, kind, first, end, skin};
  }
  return true;
}

static float skin_of(const yw_points* c, int32_t a, int32_t b) {
  float size_a = c->works.items[a].topology->size, size_b = c->works.items[b].topology->size;
  float size = size_a < size_b ? size_a : size_b;
  float skin = CONTACT_MARGIN * size + c->fall;
  return skin < MAX_CONTACT_MARGIN * size ? skin : MAX_CONTACT_MARGIN * size;
}

static bool is_small(const yw_point_topology* topology) {
  return topology->is_volume && topology->num_leaves <= FEW_LEAVES;
}

static bool add_pair(yw_points* c, int32_t a, int32_t b) {
  const yw_point_topology* t = c->works.items[a].topology;
  const yw_point_topology* u = c->works.items[b].topology;
  float skin = skin_of(c, a, b);
  c->works.items[a].active = c->works.items[b].active = true;

  if (a != b && is_small(t) && is_small(u)) return add_job(c, YW_POINT_JOB_SMALL_PAIR, a, b, skin);
  bool ok = true;
  if (u->is_volume) ok = ok && add_job(c, YW_POINT_JOB_POINTS_IN_TETS, a, b, skin);
  if (t->is_volume && a != b) ok = ok && add_job(c, YW_POINT_JOB_POINTS_IN_TETS, b, a, skin);
  if (t->is_volume && u->is_volume && a != b) ok = ok && add_job(c, YW_POINT_JOB_EDGES, a, b, skin);
  if (!t->is_volume && !u->is_volume) ok = ok && add_job(c, YW_POINT_JOB_SPHERES, a, b, skin);
  return ok;
}

// Sorts bodies along a space-filling curve and builds a tree of their boxes.
static bool sort_bodies(yw_points* c) {
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
    c->order.items[i] = (yw_point_sort_item){yw_point_morton_code(all, center), i};
  }
  yw_point_sort_items(c->order.items, c->scratch.items, count);
  c->order.count = count;
  return true;
}

// Adds jobs for balls that others may press against an obstacle.
static bool add_obstacles(yw_points* c) {
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_point_work* work = &c->works.items[i];
    if (!work->active || work->topology->is_volume || !work->body->obstacles) continue;
    if (!add_job(c, YW_POINT_JOB_OBSTACLES, i, i, skin_of(c, i, i))) return false;
  }
  return true;
}

static bool find_pairs(yw_points* c) {
  c->jobs.count = 0;
  if (!sort_bodies(c)) return false;
  int32_t count = c->works.count;
  yw_box_tree tree = yw_box_tree_of(c->body_nodes.items, count);
  for (int32_t k = 0; k < count; ++k) {
    const yw_point_work* work = &c->works.items[c->order.items[k].value];
    float margin = 0.5f * MAX_CONTACT_MARGIN * work->topology->size;
    bool meets = work->body->body_contact && work->topology->num_points > 0;
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
  return add_obstacles(c);
}

// Tets that may be needed -----------------------------------------------------------------------

static void fit_leaves(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_points* c = context;
  leaf_block at = c->leaf_blocks.items[block];
  yw_point_fit_leaves(&c->works.items[at.body], at.first, at.end);
}

static void fit_tets(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_points* c = context;
  leaf_block at = c->leaf_blocks.items[block];
  yw_point_work* work = &c->works.items[at.body];
  for (int32_t leaf = at.first; leaf < at.end; ++leaf) {
    if (work->needed[leaf]) yw_point_fit_tets(work, leaf);
  }
}

static bool cut_leaf_blocks(yw_points* c) {
  c->leaf_blocks.count = 0;
  for (int32_t i = 0; i < c->works.count; ++i) {
    yw_point_work* work = &c->works.items[i];
    int32_t leaves = work->topology->num_leaves;
    if (!work->active || leaves == 0) continue;
    memset(work->needed, leaves <= FEW_LEAVES, (size_t)leaves);
    int32_t blocks = (leaves + LEAVES_PER_BLOCK - 1) / LEAVES_PER_BLOCK;
    if (!YW_LIST_RESERVE(&c->mem, &c->leaf_blocks, blocks)) return false;
    for (int32_t first = 0; first < leaves; first += LEAVES_PER_BLOCK) {
      int32_t end = first + LEAVES_PER_BLOCK < leaves ? first + LEAVES_PER_BLOCK : leaves;
      c->leaf_blocks.items[c->leaf_blocks.count++] = (leaf_block){i, first, end};
    }
  }
  return true;
}

// Computes the boxes of leaves, and of tets in leaves that another body's box overlaps.
static bool prepare_tets(yw_points* c, yw_tasks* tasks) {
  if (!cut_leaf_blocks(c)) return false;
  yw_tasks_run(tasks, c->leaf_blocks.count, fit_leaves, c);
  for (int32_t i = 0; i < c->works.count; ++i) {
    if (c->works.items[i].active) yw_box_tree_refit(&c->works.items[i].leaves);
  }
  int32_t last_a = -1, last_b = -1;
  for (int32_t i = 0; i < c->jobs.count; ++i) {
    const yw_point_job* job = &c->jobs.items[i];
    if (job->kind != YW_POINT_JOB_POINTS_IN_TETS || (job->a == last_a && job->b == last_b))
      continue;
    last_a = job->a, last_b = job->b;
    yw_point_work* target = &c->works.items[job->b];
    if (target->topology->num_leaves <= FEW_LEAVES) continue;
    yw_box_walk walk =
        yw_box_walk_begin(&target->leaves, yw_aabb_pad(c->works.items[job->a].box, job->skin));
    for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) target->needed[leaf] = 1;
  }
  yw_tasks_run(tasks, c->leaf_blocks.count, fit_tets, c);
  return true;
}

// Contacts --------------------------------------------------------------------------------------

static void run_jobs(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_points* c = context;
  yw_point_list* list = &c->found.items[block];
  if (list->count != TO_BE_FOUND) return;
  list->count = 0;
  for (int32_t i = c->block_start.items[block]; i < c->block_start.items[block + 1]; ++i) {
    yw_point_find(c->works.items, &c->jobs.items[i], list);
  }
}

// Groups jobs into blocks of similar work.
static bool cut_job_blocks(yw_points* c) {
  c->block_start.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->block_start, c->jobs.count + 1)) return false;
  int32_t groups = GROUPS_PER_BLOCK;
  for (int32_t i = 0; i < c->jobs.count; ++i) {
    if (groups >= GROUPS_PER_BLOCK) {
      c->block_start.items[c->block_start.count++] = i;
      groups = 0;
    }
    groups += 4 + c->jobs.items[i].end - c->jobs.items[i].first;
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

static bool lengthen(yw_points* c, yw_point_list* list) {
  int32_t room = list->count + list->count / 2 + 16;
  yw_point* items = YW_NEW_ARRAY(&c->mem, yw_point, room);
  if (!items) return false;
  yw_mem_free(&c->mem, list->items);
  *list = (yw_point_list){items, TO_BE_FOUND, room};
  return true;
}

// Runs all jobs. Workers must not allocate: blocks whose list was too short run again with a longer
// one.
static bool find_contacts(yw_points* c, yw_tasks* tasks) {
  if (!cut_job_blocks(c)) return false;
  int32_t blocks = c->block_start.count;
  for (int32_t i = 0; i < blocks; ++i) c->found.items[i].count = TO_BE_FOUND;
  for (bool complete = false; !complete;) {
    yw_tasks_run(tasks, blocks, run_jobs, c);
    complete = true;
    for (int32_t i = 0; i < blocks; ++i) {
      yw_point_list* list = &c->found.items[i];
      if (list->count <= list->capacity) continue;
      complete = false;
      if (!lengthen(c, list)) return false;
    }
  }
  return true;
}

static bool same_pair(const yw_point_batch* batch, const yw_point* contact) {
  int32_t a = contact->body[0], b = contact->body[1];
  return (batch->a == a && batch->b == b) || (batch->a == b && batch->b == a);
}

// Splits the lists where the pair of bodies changes. Jobs of one pair are adjacent, so a pair that
// continues in the next block is the last one.
static bool cut_batches(yw_points* c, int32_t* num_contacts, int32_t* num_pairs) {
  c->batches.count = 0;
  *num_contacts = *num_pairs = 0;
  for (int32_t block = 0; block < c->block_start.count; ++block) {
    yw_point_list* list = &c->found.items[block];
    yw_point_batch* batch = NULL;
    *num_contacts += list->count;
    for (int32_t i = 0; i < list->count; ++i) {
      yw_point* contact = &list->items[i];
      if (!batch || !same_pair(batch, contact)) {
        if (!YW_LIST_RESERVE(&c->mem, &c->batches, 1)) return false;
        int32_t count = c->batches.count;
        bool leads = count == 0 || !same_pair(&c->batches.items[count - 1], contact);
        *num_pairs += leads;
        batch = &c->batches.items[c->batches.count++];
        int32_t a = contact->body[0], b = contact->body[1];
        yw_aabb box = yw_aabb_join(c->works.items[a].box, c->works.items[b].box);
        float extent = yw_distance(box.lower, box.upper);
        *batch = (yw_point_batch){.contacts = contact,
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
static bool color_batches(yw_points* c, yw_point_problem* problem) {
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
  memset(starts, 0, (YW_POINT_MAX_COLORS + 2) * sizeof *starts);
  for (int32_t i = 0; i < count; ++i) {
    const yw_point_batch* batch = &c->batches.items[i];
    uint64_t taken = used[batch->a] | used[batch->b];
    int32_t color = ~taken ? __builtin_ctzll(~taken) : YW_POINT_MAX_COLORS;
    if (color < YW_POINT_MAX_COLORS) {
      used[batch->a] |= 1ull << color;
      used[batch->b] |= 1ull << color;
    }
    c->batch_color.items[i] = color;
    ++starts[color + 1];
  }
  for (int32_t k = 0; k <= YW_POINT_MAX_COLORS; ++k) starts[k + 1] += starts[k];
  int32_t next[YW_POINT_MAX_COLORS + 1];
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

// Tells readers which contacts carried an impulse.
static void log_contacts(yw_points* c, const yw_contact_body* bodies) {
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_point_batch* batch = &c->batches.items[i];
    for (int32_t k = 0; k < batch->count; ++k) {
      const yw_point* p = &batch->contacts[k];
      float impulse = p->impulse + p->bounced;
      if (!(impulse > 0.0f)) continue;
      bool obstacle = p->count[1] == 0;
      yw_contact_record record = {.bodies = {p->body[0], obstacle ? -1 : p->body[1]},
                                  .vertices = {p->count[0] == 1 ? p->particles[0][0] : -1,
                                               p->count[1] == 1 ? p->particles[1][0] : -1},
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

int32_t yw_points_num_pairs(const yw_points* c) { return c->batches.count; }

void yw_points_pair(const yw_points* c, int32_t i, int32_t pair[2]) {
  pair[0] = c->batches.items[i].a;
  pair[1] = c->batches.items[i].b;
}

yw_status yw_points_resolve(yw_points* c, yw_contact_body* bodies, int32_t num_bodies, float h,
                            yw_vec3 gravity, int32_t iterations, yw_tasks* tasks,
                            int32_t* num_contacts) {
  int32_t found = 0;
  yw_point_problem problem = {
      .bodies = bodies, .h = h, .gravity = gravity, .iterations = iterations, .tasks = tasks};
  if (num_contacts) *num_contacts = 0;
  c->batches.count = 0;
  if (nothing_can_meet(bodies, num_bodies)) return YW_OK;
  c->h = h;
  c->fall = yw_length(gravity) * h * h;
  if (!update_caches(c, bodies, num_bodies)) return YW_ERR_MEMORY;
  yw_tasks_run(tasks, (num_bodies + BODIES_PER_BLOCK - 1) / BODIES_PER_BLOCK, fit_bodies, c);
  if (!find_pairs(c)) return YW_ERR_MEMORY;
  if (c->jobs.count == 0) return YW_OK;
  if (!prepare_tets(c, tasks)) return YW_ERR_MEMORY;
  if (!find_contacts(c, tasks)) return YW_ERR_MEMORY;
  if (!cut_batches(c, &found, &problem.num_pairs) || !color_batches(c, &problem) ||
      !YW_LIST_RESERVE(&c->mem, &c->pair_angular, problem.num_pairs)) {
    return YW_ERR_MEMORY;
  }
  problem.pair_angular = c->pair_angular.items;
  yw_point_solve(&problem);
  if (c->log) log_contacts(c, bodies);
  if (num_contacts) *num_contacts = found;
  return YW_OK;
}
