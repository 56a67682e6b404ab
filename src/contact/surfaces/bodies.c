// SPDX-License-Identifier: MIT
// The contact step: boxes -> pairs of bodies -> contacts -> impulses -> guard. Parallel work is
// split into fixed blocks that write to their own lists; the lists are joined in a fixed order.
#include "contact/bodies.h"

#include <string.h>

#include "contact/surfaces/apart.h"
#include "contact/surfaces/aside.h"
#include "contact/surfaces/balance.h"
#include "contact/surfaces/batches.h"
#include "contact/surfaces/calm.h"
#include "contact/surfaces/data.h"
#include "contact/surfaces/guard.h"
#include "contact/surfaces/hanging.h"
#include "contact/surfaces/parts.h"
#include "contact/surfaces/ride.h"
#include "contact/surfaces/sift.h"
#include "contact/surfaces/whole.h"

// How far the guard may move particles beyond their paths, as a share of the mean edge; the fall of
// one step is added.
#define MARGIN_SHARE 0.01f
// Times the way of an obstacle or a pinned part that particles in its way may be moved, on top of
// that.
#define GIVEN_ROOM 3.0f
// Contact is solved again where bodies that it moved hit others that they did not touch before.
#define MAX_SOLVES 2
// The guard looks at ever more leaves, in the end at all.
#define MAX_GUARDS 4
// Leaves per job, per block of jobs, and of a large body; bodies per block.
#define LEAVES_PER_JOB 64
#define LEAVES_PER_BLOCK 128
#define BODIES_PER_BLOCK 16
#define LARGE_BODY 512
// Leaves of a body that are all fitted if it meets others.
#define FEW_LEAVES 16
// Contacts that every list has room for: at first, and at most, as many as the fullest had; jobs
// move from block to block. Near pairs per contact.
#define LEAST_ROOM 128
#define MOST_ROOM 1024
#define PAIRS_PER_CONTACT 6
#define KEPT_PER_CONTACT 12
// Count of a list whose block has not run yet.
#define TO_BE_FOUND (-1)

// Pairs of bodies -------------------------------------------------------------------------------

static void fit_body(const yw_surfaces* c, yw_contact_work* work, yw_tasks* tasks) {
  // The guard has not moved these since the last look.
  bool same =
      c->step.mode == YW_TOUCH_PAIRS && work->fitted && !work->any_unsettled && !work->outdated;
  if (same || work->nearby || work->apart) return;
  if (!work->body->body_contact && !work->body->self_contact) {
    work->box = yw_aabb_empty();
  } else if (c->step.again) {
    yw_touch_predict(work);
    if (c->step.mode == YW_TOUCH_CONTACTS && work->complex->is_volume) yw_aside_measure(work);
  } else {
    yw_touch_fit(work, c->step.mode == YW_TOUCH_CONTACTS, tasks);
  }
}

// Large bodies are fitted by all threads together.
static bool is_large(const yw_contact_work* work) {
  return work->complex->num_leaves >= LARGE_BODY;
}

// Sorts bodies along a space-filling curve and makes room for a tree of their boxes.
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

// Of bodies that were not fitted yet, those that may be apart from all others. Large ones are
// fitted by all threads together, which one thread would hold up.
static bool may_be_apart(const yw_surfaces* c, const yw_contact_work* work) {
  const yw_contact_body* body = work->body;
  return c->seeks_apart && !work->fitted && body->body_contact && !body->self_contact &&
         !is_large(work) && body->particles->count > 0;
}

// Bodies that may be apart get one box first, all others all of theirs.
static void fit_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_surfaces* c = context;
  int32_t end = (block + 1) * BODIES_PER_BLOCK;
  for (int32_t i = block * BODIES_PER_BLOCK; i < end && i < c->works.count; ++i) {
    yw_contact_work* work = &c->works.items[i];
    if (may_be_apart(c, work)) {
      if (!work->apart || work->outdated) yw_apart_fit(work);
    } else if (!is_large(work)) {
      fit_body(c, work, NULL);
    }
  }
}

static void fit_rest_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_surfaces* c = context;
  int32_t end = (block + 1) * BODIES_PER_BLOCK;
  for (int32_t i = block * BODIES_PER_BLOCK; i < end && i < c->works.count; ++i) {
    yw_contact_work* work = &c->works.items[i];
    if (may_be_apart(c, work)) fit_body(c, work, NULL);
  }
}

int32_t yw_surfaces_num_apart(const yw_surfaces* c) {
  int32_t count = 0;
  for (int32_t i = 0; i < c->works.count; ++i) count += c->works.items[i].apart;
  return count;
}

static bool fit_bodies(yw_surfaces* c, yw_tasks* tasks) {
  int32_t blocks = (c->works.count + BODIES_PER_BLOCK - 1) / BODIES_PER_BLOCK;
  yw_tasks_run(tasks, blocks, fit_block, c);
  for (int32_t i = 0; i < c->works.count; ++i) {
    if (is_large(&c->works.items[i])) fit_body(c, &c->works.items[i], tasks);
  }
  if (!c->step.again && yw_surfaces_num_apart(c) > 0) {
    if (!sort_bodies(c)) return false;
    yw_apart_find(c->works.items, c->works.count, c->order.items, c->body_nodes.items, &c->step);
    yw_tasks_run(tasks, blocks, fit_rest_block, c);
  }
  // What is near others can only be found when these are fitted.
  for (int32_t i = 0; i < c->works.count && !c->step.again; ++i) {
    yw_contact_work* work = &c->works.items[i];
    if (!work->nearby) continue;
    work->box = yw_aabb_empty();
    if (work->body->body_contact) yw_nearby_fit(work, c->works.items, c->works.count, &c->step);
  }
  return true;
}

// Marks the leaves that the jobs need. Of bodies with few leaves all: finding out takes longer.
static void mark_leaves(yw_surfaces* c) {
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_work* work = &c->works.items[i];
    size_t count = (size_t)work->complex->num_leaves;
    memset(work->needed, work->active && count <= FEW_LEAVES, count);
  }
  for (int32_t i = 0; i < c->jobs.count; ++i) {
    const yw_contact_job* job = &c->jobs.items[i];
    int32_t a = c->works.items[job->a].complex->num_leaves;
    int32_t b = c->works.items[job->b].complex->num_leaves;
    bool few = a <= FEW_LEAVES && b <= FEW_LEAVES, first = job->first == 0;
    if (few || job->obstacles || !first) continue;
    yw_touch_mark(&c->works.items[job->a], &c->works.items[job->b], &c->step);
  }
}

// Drops the jobs without such leaves.
static void drop_idle_jobs(yw_surfaces* c) {
  int32_t left = 0;
  for (int32_t i = 0; i < c->jobs.count; ++i) {
    const yw_contact_job* job = &c->jobs.items[i];
    const uint8_t* needed = c->works.items[job->a].needed + job->first;
    bool idle = !job->obstacles && !memchr(needed, 1, (size_t)(job->end - job->first));
    if (!idle) c->jobs.items[left++] = *job;
  }
  c->jobs.count = left;
}

// Only the search for contacts leaves flat edges out.
static const yw_near_fns* flat_finder(const yw_surfaces* c) {
  return c->step.mode == YW_TOUCH_CONTACTS ? c->step.near : NULL;
}

static void fit_primitives_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const yw_surfaces* c = context;
  int32_t end = (block + 1) * BODIES_PER_BLOCK;
  for (int32_t i = block * BODIES_PER_BLOCK; i < end && i < c->works.count; ++i) {
    const yw_contact_work* work = &c->works.items[i];
    if (work->active && !is_large(work)) yw_touch_fit_primitives(work, flat_finder(c), NULL);
  }
}

static void fit_primitives(yw_surfaces* c, yw_tasks* tasks) {
  mark_leaves(c);
  drop_idle_jobs(c);
  int32_t blocks = (c->works.count + BODIES_PER_BLOCK - 1) / BODIES_PER_BLOCK;
  yw_tasks_run(tasks, blocks, fit_primitives_block, c);
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_work* work = &c->works.items[i];
    if (work->active && is_large(work)) yw_touch_fit_primitives(work, flat_finder(c), tasks);
  }
}

static void follow_bodies(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_surfaces* c = context;
  int32_t end = (block + 1) * BODIES_PER_BLOCK;
  for (int32_t i = block * BODIES_PER_BLOCK; i < end && i < c->works.count; ++i) {
    yw_contact_work* work = &c->works.items[i];
    // Nothing moves obstacles off their paths, nor what touches nothing.
    if (!work->body->is_obstacle && !work->apart && !is_large(work)) yw_touch_follow(work, NULL);
  }
}

static bool add_jobs(yw_surfaces* c, int32_t a, int32_t b, bool obstacles) {
  int32_t leaves = c->works.items[a].complex->num_leaves;
  int32_t count = (leaves + LEAVES_PER_JOB - 1) / LEAVES_PER_JOB;
  if (!YW_LIST_RESERVE(&c->mem, &c->jobs, count)) return false;
  for (int32_t first = 0; first < leaves; first += LEAVES_PER_JOB) {
    int32_t end = first + LEAVES_PER_JOB < leaves ? first + LEAVES_PER_JOB : leaves;
    c->jobs.items[c->jobs.count++] =
        (yw_contact_job){.a = a, .b = b, .first = first, .end = end, .obstacles = obstacles};
  }
  return true;
}

static bool add_pair(yw_surfaces* c, int32_t a, int32_t b) {
  if (c->step.mode == YW_TOUCH_PAIRS && !c->works.items[a].any_unsettled &&
      !c->works.items[b].any_unsettled) {
    return true;
  }
  c->works.items[a].active = c->works.items[b].active = true;
  return add_jobs(c, a, b, false);
}

// Adds jobs for bodies that others may press against an obstacle.
static bool add_obstacles(yw_surfaces* c) {
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_work* work = &c->works.items[i];
    // In a later part there may be obstacles at which the body is not yet.
    bool pressed = work->body->obstacles || (c->step.lasting && !work->body->is_obstacle);
    if (work->active && pressed && !add_jobs(c, i, i, true)) return false;
  }
  return true;
}

static bool find_pairs(yw_surfaces* c) {
  c->jobs.count = 0;
  int32_t count = c->works.count;
  if (yw_surfaces_num_apart(c) == count) return true;
  if (!sort_bodies(c)) return false;
  yw_box_tree tree = yw_box_tree_of(c->body_nodes.items, count);
  for (int32_t k = 0; k < count; ++k) {
    const yw_contact_work* work = &c->works.items[c->order.items[k].value];
    float margin = yw_touch_room(work, &c->step, c->step.keep ? work->leeway : 0.0f);
    bool meets = work->body->body_contact && work->complex->num_leaves > 0 && !work->apart;
    tree.nodes[tree.first_leaf + k] = meets ? yw_aabb_pad(work->box, margin) : yw_aabb_empty();
  }
  yw_box_tree_refit(&tree);
  for (int32_t k = 0; k < count; ++k) {
    int32_t a = c->order.items[k].value;
    yw_box_walk walk = yw_box_walk_begin(&tree, tree.nodes[tree.first_leaf + k]);
    // Each pair once: from this body on.
    walk.node = tree.first_leaf + k;
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      int32_t b = c->order.items[other].value;
      bool meet = other != k && yw_contact_may_meet(c->works.items[a].body, c->works.items[b].body);
      if (meet && !add_pair(c, a, b)) return false;
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
  list->num_contacts = list->num_spares = list->num_pairs = 0;
  if (!c->step.again) list->num_kept = 0;
  list->need = YW_TOUCH_NOTHING;
  list->num_hits = 0;
  for (int32_t i = c->block_start.items[block]; i < c->block_start.items[block + 1]; ++i) {
    yw_touch_find(c->works.items, &c->jobs.items[i], &c->step, list);
    // A list that is too short is filled again.
    bool complete = list->num_contacts <= list->contact_capacity;
    if (c->step.mode == YW_TOUCH_CONTACTS && complete) yw_surfaces_list_chunks(c, i, list);
  }
}

// Makes room for at least so many entries; what was listed is lost.
static bool grow_list(yw_surfaces* c, yw_contact_list* list, int32_t contacts, int32_t pairs,
                      int32_t kept) {
  // A list is never longer than one of contacts with room for its spares.
  if (contacts > list->spare_capacity) {
    yw_mem_free(&c->mem, list->spares);
    list->spares = YW_NEW_ARRAY(&c->mem, yw_contact_spare, contacts);
    list->spare_capacity = list->spares ? contacts : 0;
  }
  if (contacts > list->contact_capacity) {
    yw_mem_free(&c->mem, list->contacts);
    list->contacts = YW_NEW_ARRAY(&c->mem, yw_contact, contacts);
    list->contact_capacity = list->contacts ? contacts : 0;
  }
  if (pairs > list->pair_capacity) {
    yw_mem_free(&c->mem, list->pairs);
    list->pairs = YW_NEW_ARRAY(&c->mem, yw_near_pair, pairs);
    list->pair_capacity = list->pairs ? pairs : 0;
  }
  if (kept > list->kept_capacity) {
    yw_mem_free(&c->mem, list->kept);
    list->kept = yw_mem_alloc(&c->mem, (size_t)kept, sizeof *list->kept);
    list->kept_capacity = list->kept ? kept : 0;
  }
  return contacts <= list->contact_capacity && contacts <= list->spare_capacity &&
         pairs <= list->pair_capacity && kept <= list->kept_capacity;
}

// True when the list had room for everything; otherwise it gets more, and its block runs again.
static bool is_complete(yw_surfaces* c, yw_contact_list* list, bool* out_of_memory) {
  if (list->num_contacts <= list->contact_capacity && list->num_pairs <= list->pair_capacity &&
      list->num_kept <= list->kept_capacity) {
    return true;
  }
  // The guard seldom acts; when it does, memory should be there.
  int32_t contacts = 2 * list->num_contacts, pairs = 2 * list->num_pairs;
  if (pairs < PAIRS_PER_CONTACT * contacts) pairs = PAIRS_PER_CONTACT * contacts;
  if (contacts > c->room) c->room = contacts < MOST_ROOM ? contacts : MOST_ROOM;
  // What was kept stays.
  int32_t kept = list->num_kept <= list->kept_capacity ? 0 : 2 * list->num_kept;
  if (!grow_list(c, list, contacts, pairs, kept)) *out_of_memory = true;
  list->num_contacts = TO_BE_FOUND;
  return false;
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
  if (c->room < LEAST_ROOM) c->room = LEAST_ROOM;
  for (int32_t i = 0; i < c->block_start.count; ++i) {
    if (!grow_list(c, &c->found.items[i], c->room, PAIRS_PER_CONTACT * c->room,
                   KEPT_PER_CONTACT * c->room)) {
      return false;
    }
  }
  return true;
}

// Runs all jobs. Workers must not allocate: blocks whose list was too short run again with a longer
// one.
static bool run_all_jobs(yw_surfaces* c, yw_tasks* tasks) {
  if (!c->step.again && !cut_job_blocks(c)) return false;
  if (c->step.mode == YW_TOUCH_CONTACTS && !yw_surfaces_begin_chunks(c)) return false;
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

// A single body has nothing to touch unless it collides with itself.
static bool nothing_can_meet(const yw_contact_body* bodies, int32_t num_bodies) {
  int32_t count = 0;
  for (int32_t i = 0; i < num_bodies; ++i) {
    if (bodies[i].self_contact) return false;
    count += bodies[i].body_contact;
  }
  return count < 2;
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
    const yw_contact_batch* batch = &c->colored.items[i];
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

// Notes the bodies on which surfaces of obstacles act: with impulses, or by way of the guard.
static void note_pressed(const yw_surfaces* c, yw_contact_body* bodies, bool guarded) {
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &c->colored.items[i];
    if (!bodies[batch->a].is_obstacle && !bodies[batch->b].is_obstacle) continue;
    bool pressed = guarded;
    for (int32_t k = 0; k < batch->count && !pressed; ++k) {
      pressed = batch->contacts[k].impulse > 0.0f;
    }
    if (pressed) bodies[batch->a].pressed = bodies[batch->b].pressed = true;
  }
}

// The longest way of particles that move as given, squared.
static float given_travel2(const yw_contact_work* work) {
  const yw_contact_body* body = work->body;
  const yw_particles* p = body->particles;
  float most = 0.0f;
  if (body->source) return work->longest * work->longest;
  for (int32_t k = 0; k < p->count; ++k) {
    if (!body->is_obstacle && p->inv_mass[k] != 0.0f) continue;
    most = fmaxf(most, yw_length2(yw_sub(yw_xyz(p->pos[k]), yw_xyz(body->begin[k]))));
  }
  return most;
}

// How far obstacles and pinned parts move at most: the guard has to get others out of their way.
static float given_travel(const yw_surfaces* c) {
  float most = 0.0f;
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_body* body = c->works.items[i].body;
    if (!body->body_contact && !body->self_contact) continue;
    if (!body->rigid) most = fmaxf(most, given_travel2(&c->works.items[i]));
  }
  return sqrtf(most);
}

static bool all_calm(const yw_surfaces* c) {
  bool calm = true;
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_body* body = c->works.items[i].body;
    bool meets = (body->body_contact || body->self_contact) && !c->works.items[i].apart;
    calm = calm && (c->works.items[i].calm || !meets);
  }
  return calm;
}

// True when the pairs that were kept are all that contact can have brought too close.
static bool stayed_near(const yw_surfaces* c) {
  bool strayed = false;
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_body* body = c->works.items[i].body;
    strayed = strayed || ((body->body_contact || body->self_contact) && c->works.items[i].strayed);
  }
  return !strayed;
}

// True when what was found before is all that has to be looked at.
static bool has_all_pairs(yw_surfaces* c, yw_tasks* tasks) {
  // Nothing has moved since it was asked last.
  if (c->step.mode == YW_TOUCH_CONTACTS) return c->lasts;
  if (c->step.mode == YW_TOUCH_PAIRS) return false;
  if (c->lasts) return yw_parts_last(c, tasks);
  if (!c->step.keep) return false;
  int32_t blocks = (c->works.count + BODIES_PER_BLOCK - 1) / BODIES_PER_BLOCK;
  yw_tasks_run(tasks, blocks, follow_bodies, c);
  for (int32_t i = 0; i < c->works.count; ++i) {
    yw_contact_work* work = &c->works.items[i];
    if (is_large(work) && !work->body->is_obstacle && !work->apart) yw_touch_follow(work, tasks);
  }
  return stayed_near(c);
}

// Looks at the paths to where particles are now.
static bool detect(yw_surfaces* c, yw_touch_mode mode, yw_tasks* tasks) {
  int32_t num_bodies = c->works.count;
  c->step.mode = mode;
  float travel = mode == YW_TOUCH_PAIRS ? GIVEN_ROOM * given_travel(c) : 0.0f;
  for (int32_t i = 0; i < num_bodies; ++i) {
    yw_contact_work* work = &c->works.items[i];
    float margin = MARGIN_SHARE * work->complex->size + c->step.fall + travel;
    work->margin = mode == YW_TOUCH_PAIRS ? margin : 0.0f;
  }
  c->step.again = has_all_pairs(c, tasks);
  bool fresh = mode == YW_TOUCH_CONTACTS && !c->step.again;
  c->step.lasting = fresh && c->part + 1 < c->num_parts;
  if (!fit_bodies(c, tasks)) return false;
  c->step.lasting = c->step.lasting && yw_parts_allow(c);
  c->step.keep = fresh && (c->step.lasting || all_calm(c));
  if (!c->step.again) {
    c->lasts = false;
    if (!find_pairs(c)) return false;
    fit_primitives(c, tasks);
  }
  if (!run_all_jobs(c, tasks)) return false;
  if (c->step.lasting) yw_parts_note(c, tasks);
  return true;
}

static bool was_solved(const yw_surfaces* c, int32_t a, int32_t b) {
  if (a == b) return false;
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &c->batches.items[i];
    if ((batch->a == a && batch->b == b) || (batch->a == b && batch->b == a)) return true;
  }
  return false;
}

// After a look: what is left to do. Two bodies that touch and hit each other elsewhere too count as
// pressed: solving again would cost more than the little motion that the guard takes.
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

// Rigid bodies have the velocities of the end of the substep, but moved to where they are with
// those of its middle: contact must see the latter, or bodies at rest are lifted by what it takes
// away too much. What came after the move is gravity, less what obstacles took of it. Bodies that
// meet nobody in this call are not touched: some of them have not moved yet, and what they have is
// of another substep.
static void shift_rigid_velocities(yw_contact_problem* problem, int32_t num_bodies, float sign) {
  for (int32_t i = 0; i < num_bodies; ++i) {
    const yw_rigid_motion* m = problem->bodies[i].rigid;
    yw_particles* p = problem->bodies[i].particles;
    if (!m || m->held || problem->bodies[i].asleep || !problem->bodies[i].body_contact) continue;
    const double* late = m->late_velocity;
    yw_vec3 kick = yw_v3(sign * (float)late[0], sign * (float)late[1], sign * (float)late[2]);
    for (int32_t k = 0; k < p->count; ++k) p->vel[k] = yw_v4(yw_add(yw_xyz(p->vel[k]), kick));
  }
}

// Particles that answer for themselves alone hop from substep to substep, and piles of these
// tremble when they start from old forces; the motions of rigid bodies are solved for by
// themselves. Rods and sheets bend far in an impact, and forces of then mean nothing afterwards.
static bool is_kept(const yw_contact_body* a, const yw_contact_body* b) {
  bool thin = yw_geometry_is_thin(&a->geometry) || yw_geometry_is_thin(&b->geometry);
  return ((a->respond && !a->rigid) || (b->respond && !b->rigid)) && !thin;
}

// Notes the forces at contacts for the next substep.
static bool keep_warm(yw_surfaces* c, const yw_contact_problem* problem, yw_warm* warm) {
  int32_t room = 0;
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &c->colored.items[i];
    bool kept = is_kept(&problem->bodies[batch->a], &problem->bodies[batch->b]);
    room += kept ? batch->count : 0;
  }
  warm->entries.count = 0;
  if (room == 0) return true;
  if (!yw_warm_begin(&c->mem, warm, room)) return false;
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &c->colored.items[i];
    if (!is_kept(&problem->bodies[batch->a], &problem->bodies[batch->b])) continue;
    for (int32_t k = 0; k < batch->count; ++k) {
      const yw_contact* p = &batch->contacts[k];
      yw_warm_add(warm, problem->bodies, p, problem->h);
    }
  }
  return true;
}

static bool solve(yw_surfaces* c, yw_contact_problem* problem, int32_t* num_contacts) {
  if (!yw_surfaces_batch(c, problem)) return false;
  shift_rigid_velocities(problem, c->works.count, -1.0f);
  yw_contact_solve(problem);
  yw_calm_islands(c, problem);
  shift_rigid_velocities(problem, c->works.count, 1.0f);
  *num_contacts = 0;
  for (int32_t i = 0; i < c->batches.count; ++i) *num_contacts += c->colored.items[i].count;
  for (int32_t i = 0; i < c->works.count; ++i) {
    if (c->works.items[i].active) yw_hanging_carry(&c->works.items[i]);
  }
  if (!yw_whole_settle(c, problem, c->works.count)) return false;
  if (c->log) log_contacts(c, problem->bodies);
  return true;
}

// Holds what would come too close. That moves particles and can spoil the proofs of their other
// pairs: the guard looks at the leaves where that may be, and again where it moved others.
static bool guard(yw_surfaces* c, float h, yw_tasks* tasks) {
  int32_t count = c->works.count;
  yw_guard_begin(c->works.items, count, c->found.items, c->block_start.count);
  for (int k = 1; yw_guard_unsettle(c->works.items, count, k == MAX_GUARDS); ++k) {
    if (!detect(c, YW_TOUCH_PAIRS, tasks)) return false;
    yw_guard_motion(c->works.items, count, c->found.items, c->block_start.count, h, tasks);
  }
  return true;
}

int32_t yw_surfaces_num_pairs(const yw_surfaces* c) { return c->batches.count; }

void yw_surfaces_pair(const yw_surfaces* c, int32_t i, int32_t pair[2]) {
  pair[0] = c->batches.items[i].a;
  pair[1] = c->batches.items[i].b;
}

yw_status yw_surfaces_resolve(yw_surfaces* c, yw_contact_body* bodies, int32_t num_bodies, float h,
                              yw_vec3 gravity, int32_t iterations, yw_tasks* tasks,
                              int32_t* num_contacts) {
  int32_t found = 0;
  yw_contact_problem problem = {
      .bodies = bodies, .h = h, .gravity = gravity, .iterations = iterations, .tasks = tasks};
  if (num_contacts) *num_contacts = 0;
  c->batches.count = 0;
  yw_warm* warm = &c->warm[c->series];
  if (nothing_can_meet(bodies, num_bodies)) {
    yw_surfaces_forget(c, c->series);
    return YW_OK;
  }
  c->step = (yw_touch_step){.h = h,
                            .fall = yw_length(gravity) * h * h,
                            .near = yw_near_fns_of(c->simd),
                            .sift = yw_sift_fns_of(c->simd)};
  bool renewed = yw_parts_renew(c, bodies, num_bodies, tasks);
  if (!renewed && !yw_surfaces_update(c, bodies, num_bodies)) return YW_ERR_MEMORY;
  if (!yw_balance_begin(c, bodies, num_bodies)) return YW_ERR_MEMORY;
  yw_touch_need need = YW_TOUCH_HIT;
  for (int k = 0; k < MAX_SOLVES && need == YW_TOUCH_HIT; ++k) {
    // Velocities have the impulses of the first solve already.
    problem.warm = k == 0 && warm->entries.count > 0 ? warm : NULL;
    if (!detect(c, YW_TOUCH_CONTACTS, tasks)) return YW_ERR_MEMORY;
    yw_balance_note(c, bodies, num_bodies, false, tasks);
    if (!solve(c, &problem, &found)) return YW_ERR_MEMORY;
    if (k == 0 && !keep_warm(c, &problem, warm)) return YW_ERR_MEMORY;
    // Before the next search, which overwrites the contacts.
    note_pressed(c, bodies, false);
    if (!detect(c, YW_TOUCH_LOOK, tasks)) return YW_ERR_MEMORY;
    need = greatest_need(c);
  }
  if (need != YW_TOUCH_NOTHING) {
    note_pressed(c, bodies, true);
    yw_balance_note(c, bodies, num_bodies, true, tasks);
    if (!yw_ride_begin(c, bodies, num_bodies, h) || !guard(c, h, tasks)) return YW_ERR_MEMORY;
    yw_ride_end(c, bodies, num_bodies, h);
  }
  yw_balance_end(c, bodies, num_bodies, tasks);
  if (num_contacts) *num_contacts = found;
  return YW_OK;
}
