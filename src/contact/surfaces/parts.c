// SPDX-License-Identifier: MIT
#include "contact/surfaces/parts.h"

#include <string.h>

#define BODIES_PER_BLOCK 16
// A leeway is so many times the way ahead in the substep, and at least so many mean edges.
#define AHEAD 2.0f
#define LEAST_LEEWAY 0.01f
// Bodies that use up this share of the largest leeway in one part gain nothing.
#define TOO_FAST 0.5f
// One of so many vertices may be on its way out of the leeway: contact will keep most of them back.
#define MANY 50

static bool meets(const yw_contact_work* work) {
  return work->body->body_contact || work->body->self_contact;
}

// Nothing moves these: contact neither, and what places obstacles is asked.
static bool stands(const yw_contact_work* work) {
  return work->body->is_obstacle && work->longest == 0.0f;
}

// All that decides whether two bodies may meet and that changes from part to part.
static uint8_t role_of(const yw_contact_body* body) {
  return (uint8_t)(body->body_contact | body->self_contact << 1 | body->asleep << 2);
}

// Sheets that meet sheets leave flat edges out of the search (sheets.h), but not out of lists.
static bool may_sheets_meet(const yw_surfaces* c) {
  int32_t count = 0;
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_work* work = &c->works.items[i];
    if (work->flat_edges && meets(work)) count += work->body->self_contact ? 2 : 1;
  }
  return count > 1;
}

bool yw_parts_allow(yw_surfaces* c) {
  if (may_sheets_meet(c)) return false;
  float ahead = AHEAD * (float)(c->num_parts - c->part);
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_work* work = &c->works.items[i];
    float most = YW_LASTING_LEEWAY * work->complex->size;
    if (meets(work) && !work->apart && work->usual > TOO_FAST * most) return false;
    if (work->nearby && !stands(work)) return false;
  }
  for (int32_t i = 0; i < c->works.count; ++i) {
    yw_contact_work* work = &c->works.items[i];
    float size = work->complex->size, most = YW_LASTING_LEEWAY * size;
    work->leeway = work->apart ? most : yw_clampf(ahead * work->usual, LEAST_LEEWAY * size, most);
    if (stands(work)) work->leeway = 0.0f;
  }
  return true;
}

static int32_t num_blocks(const yw_surfaces* c) {
  return (c->works.count + BODIES_PER_BLOCK - 1) / BODIES_PER_BLOCK;
}

static void note_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_surfaces* c = context;
  int32_t end = (block + 1) * BODIES_PER_BLOCK;
  for (int32_t i = block * BODIES_PER_BLOCK; i < end && i < c->works.count; ++i) {
    yw_contact_work* work = &c->works.items[i];
    work->role = role_of(work->body);
    if (!meets(work) || work->nearby) continue;
    size_t size = (size_t)work->body->particles->count * sizeof *work->anchor;
    memcpy(work->anchor, work->body->begin, size);
  }
}

void yw_parts_note(yw_surfaces* c, yw_tasks* tasks) {
  yw_tasks_run(tasks, num_blocks(c), note_block, c);
  c->lasts = true;
}

// Vertices that are farther than the leeway from where they were.
static int32_t count_away(const yw_contact_work* work, const yw_vec4* places) {
  float limit2 = work->leeway * work->leeway;
  int32_t count = 0;
  for (int32_t i = 0; i < work->complex->num_vertices; ++i) {
    int32_t v = work->vertices[i];
    yw_vec3 way = yw_sub(yw_xyz(places[v]), yw_xyz(work->anchor[v]));
    count += !(yw_length2(way) <= limit2 && yw_touch_radius(work, v) <= work->max_radius);
  }
  return count;
}

typedef struct following {
  yw_surfaces* c;
  bool found;  // contacts have been solved
} following;

static void follow_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const following* f = context;
  int32_t end = (block + 1) * BODIES_PER_BLOCK;
  for (int32_t i = block * BODIES_PER_BLOCK; i < end && i < f->c->works.count; ++i) {
    yw_contact_work* work = &f->c->works.items[i];
    work->strayed = false;
    if (!meets(work) || work->nearby) continue;
    int32_t away = count_away(work, work->body->particles->pos), most = 0;
    if (!f->found) most = work->complex->num_vertices / MANY;
    work->strayed = away > most || (!f->found && count_away(work, work->body->begin) > 0);
  }
}

static bool all_within(yw_surfaces* c, bool found, yw_tasks* tasks) {
  following f = {c, found};
  yw_tasks_run(tasks, num_blocks(c), follow_block, &f);
  for (int32_t i = 0; i < c->works.count; ++i) {
    if (c->works.items[i].strayed) return false;
  }
  return true;
}

bool yw_parts_last(yw_surfaces* c, yw_tasks* tasks) { return all_within(c, true, tasks); }

bool yw_parts_renew(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies,
                    yw_tasks* tasks) {
  if (!c->lasts || c->part == 0 || c->works.count != num_bodies) return false;
  for (int32_t i = 0; i < num_bodies; ++i) {
    const yw_surface_cache* cache = &c->caches.items[i];
    if (cache->key != bodies[i].key || cache->version != bodies[i].topology_version ||
        c->works.items[i].role != role_of(&bodies[i])) {
      return false;
    }
    if (cache->nearby && cache->nearby->places != bodies[i].source->places) return false;
  }
  for (int32_t i = 0; i < num_bodies; ++i) {
    yw_contact_work* work = &c->works.items[i];
    work->body = &bodies[i];
    work->any_unsettled = false;
    // Boxes are of the search; bodies that nothing is near have one alone, which is soon fitted.
    work->outdated = true;
  }
  return all_within(c, false, tasks);
}
