// SPDX-License-Identifier: MIT
#include "contact/surfaces/batches.h"

#include <string.h>

// Crossings of edges of thick surfaces may overlap by this share of the thickness before they count
// as contacts.
#define SPARE_SLOP 0.02f

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
      const yw_contact_batch* last = c->batches.items + c->batches.count - 1;
      bool leads = c->batches.count == 0 || last->a != job->a || last->b != job->b;
      *num_pairs += leads;
      const yw_contact_work *a = &c->works.items[job->a], *b = &c->works.items[job->b];
      yw_aabb box = yw_aabb_join(a->box, b->box);
      float slop = YW_TOUCH_SLOP * yw_touch_skin(a, b);
      float spare_slop = SPARE_SLOP * (a->max_radius + b->max_radius);
      c->batches.items[c->batches.count++] =
          (yw_contact_batch){.contacts = list->contacts + job->first_contact,
                             .count = job->num_contacts,
                             .spares = list->spares + job->first_spare,
                             .num_spares = job->num_spares,
                             .slop = slop,
                             .spare_slop = spare_slop > slop ? spare_slop : slop,
                             .a = job->a,
                             .b = job->b,
                             .pair = *num_pairs - 1,
                             .leads = leads,
                             .extent = yw_distance(box.lower, box.upper)};
    }
  }
  return true;
}

// Sorts batches by color: each takes the first color that neither of its bodies has. When all
// colors are taken (one body under very many), a batch goes to the last color, visited in order.
static bool color_batches(yw_surfaces* c, yw_contact_problem* problem) {
  int32_t count = c->batches.count, bodies = c->works.count;
  c->used_colors.count = c->batch_color.count = c->colored.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->used_colors, bodies) ||
      !YW_LIST_RESERVE(&c->mem, &c->batch_color, count) ||
      !YW_LIST_RESERVE(&c->mem, &c->colored, count)) {
    return false;
  }
  uint64_t* used = c->used_colors.items;
  memset(used, 0, (size_t)bodies * sizeof *used);
  int32_t* starts = problem->color_start;
  memset(starts, 0, (YW_CONTACT_MAX_COLORS + 2) * sizeof *starts);
  for (int32_t i = 0; i < count; ++i) {
    const yw_contact_batch* batch = &c->batches.items[i];
    uint64_t taken = used[batch->a] | used[batch->b];
    int32_t color = ~taken ? __builtin_ctzll(~taken) : YW_CONTACT_MAX_COLORS;
    if (color < YW_CONTACT_MAX_COLORS) used[batch->a] |= 1ull << color;
    if (color < YW_CONTACT_MAX_COLORS) used[batch->b] |= 1ull << color;
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
  problem->num_batches = count;
  return true;
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
    const yw_surface_cache* cache = &c->caches.items[i];
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

// Memory that the solver needs for each body.
static bool add_memory(yw_surfaces* c, yw_contact_problem* problem) {
  c->colors.count = c->moments.count = 0;
  if (!YW_LIST_RESERVE(&c->mem, &c->colors, c->works.count) ||
      !YW_LIST_RESERVE(&c->mem, &c->moments, c->works.count)) {
    return false;
  }
  for (int32_t i = 0; i < c->works.count; ++i) {
    c->colors.items[i] = c->caches.items[i].colors;
    c->moments.items[i].known = false;
  }
  problem->colors = c->colors.items;
  problem->moments = c->moments.items;
  problem->rows = &c->rows;
  problem->visits = yw_row_fns_of(c->simd);
  problem->mem = &c->mem;
  return true;
}

bool yw_surfaces_batch(yw_surfaces* c, yw_contact_problem* problem) {
  if (!cut_batches(c, &problem->num_pairs) || !color_batches(c, problem) ||
      !collect_answers(c, problem) || !add_memory(c, problem) ||
      !YW_LIST_RESERVE(&c->mem, &c->pair_angular, problem->num_pairs)) {
    return false;
  }
  problem->pair_angular = c->pair_angular.items;
  return true;
}
