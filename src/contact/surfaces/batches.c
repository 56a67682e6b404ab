// SPDX-License-Identifier: MIT
#include "contact/surfaces/batches.h"

#include <string.h>

#include "contact/surfaces/answers.h"
#include "math/small/union_find.h"

// One batch per job that found something. Jobs of one pair of bodies are adjacent.
static bool cut_batches(yw_surfaces* c, int32_t* num_pairs) {
  c->batches.count = 0;
  *num_pairs = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->batches, c->jobs.count)) return false;
  for (int32_t block = 0; block < c->block_start.count; ++block) {
    yw_contact_list* list = &c->found.items[block];
    for (int32_t i = c->block_start.items[block]; i < c->block_start.items[block + 1]; ++i) {
      const yw_contact_job* job = &c->jobs.items[i];
      if (job->num_contacts + job->num_spares == 0) continue;
      c->batch_chunks.items[c->batches.count] = c->batch_chunks.items[i];
      const yw_contact_batch* last = c->batches.items + c->batches.count - 1;
      bool leads = c->batches.count == 0 || last->a != job->a || last->b != job->b;
      *num_pairs += leads;
      const yw_contact_work *a = &c->works.items[job->a], *b = &c->works.items[job->b];
      yw_aabb box = yw_aabb_join(a->box, b->box);
      c->batches.items[c->batches.count++] =
          (yw_contact_batch){.contacts = list->contacts + job->first_contact,
                             .count = job->num_contacts,
                             .spares = list->spares + job->first_spare,
                             .num_spares = job->num_spares,
                             .slop = YW_TOUCH_SLOP * yw_touch_skin(a, b),
                             .a = job->a,
                             .b = job->b,
                             .pair = *num_pairs - 1,
                             .leads = leads,
                             .extent = yw_distance(box.lower, box.upper)};
    }
  }
  return true;
}

// Chunks ----------------------------------------------------------------------------------------
//
// Large bodies are cut into chunks of vertices that are close at rest. Batches may be solved at the
// same time when they have no chunk in common.

#define CHUNK 512  // vertices

static int32_t num_chunks(const yw_contact_work* work) {
  return work->complex->num_vertices / CHUNK + 1;
}

bool yw_surfaces_begin_chunks(yw_surfaces* c) {
  c->first_chunk.count = c->batch_chunks.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->first_chunk, c->works.count + 1) ||
      !YW_LIST_RESERVE(&c->mem, &c->batch_chunks, c->jobs.count)) {
    return false;
  }
  int32_t count = 0;
  for (int32_t i = 0; i < c->works.count; ++i) {
    c->first_chunk.items[i] = count;
    count += num_chunks(&c->works.items[i]);
  }
  c->first_chunk.items[c->works.count] = count;
  return true;
}

// Chunks that were added last.
#define RECENT 8

static void add_chunk(const yw_surfaces* c, yw_batch_chunks* chunks, int32_t recent[RECENT],
                      int32_t body, int32_t particle) {
  const yw_contact_work* work = &c->works.items[body];
  int32_t at = num_chunks(work) > 1 ? work->places[particle] / CHUNK : 0;
  int32_t chunk = c->first_chunk.items[body] + at, *slot = &recent[chunk % RECENT];
  if (*slot == chunk || chunks->count > YW_BATCH_CHUNKS) return;
  *slot = chunk;
  for (int32_t i = 0; i < chunks->count; ++i) {
    if (chunks->items[i] == chunk) return;
  }
  if (chunks->count < YW_BATCH_CHUNKS) chunks->items[chunks->count] = chunk;
  ++chunks->count;
}

void yw_surfaces_list_chunks(yw_surfaces* c, int32_t at, const yw_contact_list* list) {
  const yw_contact_job* job = &c->jobs.items[at];
  yw_batch_chunks* chunks = &c->batch_chunks.items[at];
  const int32_t* first = c->first_chunk.items;
  bool whole = first[job->a + 1] == first[job->a] + 1 && first[job->b + 1] == first[job->b] + 1;
  if (whole) {
    chunks->count = 2;
    chunks->items[0] = first[job->a];
    chunks->items[1] = first[job->b];
    return;
  }
  chunks->count = 0;
  int32_t recent[RECENT];
  memset(recent, -1, sizeof recent);
  for (int32_t i = 0; i < job->num_contacts && chunks->count <= YW_BATCH_CHUNKS; ++i) {
    const yw_contact* p = &list->contacts[job->first_contact + i];
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < p->count[side]; ++k) {
        add_chunk(c, chunks, recent, p->body[side], p->particles[side][k]);
      }
    }
  }
  for (int32_t i = 0; i < job->num_spares && chunks->count <= YW_BATCH_CHUNKS; ++i) {
    const yw_contact_spare* spare = &list->spares[job->first_spare + i];
    int split = spare->vertex ? 1 : 2;
    for (int k = 0; k < 4; ++k) {
      bool first_side = (k < split) != spare->swapped;
      add_chunk(c, chunks, recent, first_side ? job->a : job->b, spare->corners[k]);
    }
  }
}

// Colors that the chunks of a batch have already; `add`: they get these as well.
static uint64_t colors_of(const yw_surfaces* c, int32_t at, uint64_t add) {
  const yw_contact_batch* batch = &c->batches.items[at];
  const yw_batch_chunks* chunks = &c->batch_chunks.items[at];
  uint64_t taken = 0, *used = c->used_colors.items;
  if (chunks->count <= YW_BATCH_CHUNKS) {
    for (int32_t i = 0; i < chunks->count; ++i) taken |= used[chunks->items[i]] |= add;
    return taken;
  }
  // Too many to list: all of both bodies.
  const int32_t bodies[2] = {batch->a, batch->b}, *first = c->first_chunk.items;
  for (int k = 0; k < 2; ++k) {
    for (int32_t i = first[bodies[k]]; i < first[bodies[k] + 1]; ++i) taken |= used[i] |= add;
  }
  return taken;
}

// Sorts batches by color: each takes the first color that none of its chunks has. When all colors
// are taken (one body under very many), a batch goes to the last color, solved in order.
static bool color_batches(yw_surfaces* c, yw_contact_problem* problem) {
  int32_t count = c->batches.count, chunks = c->first_chunk.items[c->works.count];
  c->used_colors.count = c->batch_color.count = c->colored.count = 0;
  c->found_order.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->used_colors, chunks) ||
      !YW_LIST_RESERVE(&c->mem, &c->batch_color, count) ||
      !YW_LIST_RESERVE(&c->mem, &c->found_order, count) ||
      !YW_LIST_RESERVE(&c->mem, &c->colored, count)) {
    return false;
  }
  memset(c->used_colors.items, 0, (size_t)chunks * sizeof *c->used_colors.items);
  int32_t* starts = problem->color_start;
  memset(starts, 0, (YW_CONTACT_MAX_COLORS + 2) * sizeof *starts);
  for (int32_t i = 0; i < count; ++i) {
    uint64_t taken = colors_of(c, i, 0);
    int32_t color = ~taken ? __builtin_ctzll(~taken) : YW_CONTACT_MAX_COLORS;
    if (color < YW_CONTACT_MAX_COLORS) colors_of(c, i, 1ull << color);
    c->batch_color.items[i] = color;
    ++starts[color + 1];
  }
  for (int32_t k = 0; k <= YW_CONTACT_MAX_COLORS; ++k) starts[k + 1] += starts[k];
  int32_t next[YW_CONTACT_MAX_COLORS + 1];
  memcpy(next, starts, sizeof next);
  for (int32_t i = 0; i < count; ++i) {
    int32_t place = next[c->batch_color.items[i]]++;
    c->found_order.items[i] = place;
    c->colored.items[place] = c->batches.items[i];
  }
  problem->divided = chunks > c->works.count;
  problem->batches = c->colored.items;
  problem->found_order = c->found_order.items;
  return true;
}

// True if a batch pushes a body.
static bool is_touched(const yw_surfaces* c, int32_t body) {
  uint64_t used = 0;
  for (int32_t i = c->first_chunk.items[body]; i < c->first_chunk.items[body + 1]; ++i) {
    used |= c->used_colors.items[i];
  }
  return used != 0;
}

static bool is_driven(const yw_contact_body* body) {
  if (!body->is_obstacle) return false;
  if (body->source) return true;
  size_t size = (size_t)body->particles->count * sizeof *body->begin;
  return memcmp(body->begin, body->particles->pos, size) != 0;
}

// Bodies that touch each other are an island, named by one of them. Obstacles join nothing.
static bool find_islands(yw_surfaces* c, yw_contact_problem* problem) {
  int32_t count = c->works.count;
  c->island_of.count = c->islands.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->island_of, count) ||
      !YW_LIST_RESERVE(&c->mem, &c->islands, count)) {
    return false;
  }
  int32_t* set = c->island_of.items;
  problem->islands = c->islands.items;
  for (int32_t i = 0; i < count; ++i) {
    set[i] = i;
    problem->islands[i] = (yw_contact_island){.share = 1.0f};
  }
  for (int32_t i = 0; i < c->batches.count; ++i) {
    int32_t a = problem->batches[i].a, b = problem->batches[i].b;
    bool both = !problem->bodies[a].is_obstacle && !problem->bodies[b].is_obstacle;
    if (both) yw_union_join(set, a, b);
  }
  for (int32_t i = 0; i < count; ++i) set[i] = yw_union_root(set, i);
  for (int32_t i = 0; i < c->batches.count; ++i) {
    yw_contact_batch* batch = &problem->batches[i];
    const yw_contact_body *a = &problem->bodies[batch->a], *b = &problem->bodies[batch->b];
    batch->island = set[a->is_obstacle ? batch->b : batch->a];
    problem->islands[batch->island].touches = true;
    if (is_driven(a) || is_driven(b)) problem->islands[batch->island].driven = true;
  }
  return true;
}

// Bodies that answer impulses themselves, and touch something; and others where steps depend on
// them.
static bool collect_answers(yw_surfaces* c, yw_contact_problem* problem) {
  int32_t count = c->works.count;
  c->answers.count = c->yields.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->answers, count) ||
      !YW_LIST_RESERVE(&c->mem, &c->yields, count) || !find_islands(c, problem)) {
    return false;
  }
  for (int32_t i = 0; i < count; ++i) {
    yw_contact_island* island = &problem->islands[c->island_of.items[i]];
    bool answers = problem->bodies[i].respond && !problem->bodies[i].rigid && is_touched(c, i);
    island->answers = island->answers || answers;
    island->thin = island->thin || yw_geometry_is_thin(&problem->bodies[i].geometry);
  }
  for (int32_t i = 0; i < count; ++i) {
    c->yields.items[i] = 1.0f;
    const yw_surface_cache* cache = &c->caches.items[i];
    int32_t island = c->island_of.items[i];
    bool listed = problem->bodies[i].respond || yw_island_searches(&problem->islands[island]);
    if (!listed || !is_touched(c, i) || problem->bodies[i].is_obstacle) continue;
    c->answers.items[c->answers.count++] = (yw_contact_answer){.body = i,
                                                               .island = island,
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

// Rows of the batches, in the order in which they are visited.
static bool add_rows(yw_surfaces* c, const yw_contact_problem* problem) {
  int32_t num_contacts = 0;
  for (int32_t i = 0; i < c->batches.count; ++i) {
    num_contacts += c->batches.items[i].count + c->batches.items[i].num_spares;
  }
  if (!YW_LIST_RESERVE(&c->mem, &c->rows, num_contacts) ||
      !YW_LIST_RESERVE(&c->mem, &c->searches, num_contacts)) {
    return false;
  }
  int32_t at = 0;
  for (int32_t i = 0; i < problem->color_start[YW_CONTACT_MAX_COLORS + 1]; ++i) {
    problem->batches[i].rows = c->rows.items + at;
    problem->batches[i].searches = c->searches.items + at;
    at += problem->batches[i].count + problem->batches[i].num_spares;
  }
  return true;
}

static bool make_lanes(yw_surfaces* c, yw_contact_problem* problem) {
  c->lane_order.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->lane_order, c->batches.count)) return false;
  problem->lane_order = c->lane_order.items;
  problem->row_fns = yw_row_fns_of(c->simd);
  return true;
}

bool yw_surfaces_batch(yw_surfaces* c, yw_contact_problem* problem) {
  if (!cut_batches(c, &problem->num_pairs) || !color_batches(c, problem) ||
      !collect_answers(c, problem) || !add_rows(c, problem) || !make_lanes(c, problem) ||
      !YW_LIST_RESERVE(&c->mem, &c->pair_angular, problem->num_pairs)) {
    return false;
  }
  problem->pair_angular = c->pair_angular.items;
  return true;
}
