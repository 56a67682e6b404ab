// SPDX-License-Identifier: MIT
#include "world/contact_book.h"

#include <stdlib.h>

#include "world/world.h"

static yw_contact_book* book_create(const yw_allocator* mem) {
  yw_contact_book* book = YW_NEW(mem, yw_contact_book);
  if (!book) return NULL;
  book->mem = book->log.mem = *mem;
  return book;
}

void yw_book_destroy(yw_contact_book* book) {
  if (!book) return;
  yw_allocator mem = book->mem;
  YW_LIST_FREE(&mem, &book->log.items);
  YW_LIST_FREE(&mem, &book->entries);
  YW_LIST_FREE(&mem, &book->points);
  YW_LIST_FREE(&mem, &book->bodies);
  YW_LIST_FREE(&mem, &book->velocities);
  YW_LIST_FREE(&mem, &book->log_slots);
  YW_LIST_FREE(&mem, &book->areas);
  YW_LIST_FREE(&mem, &book->ranks);
  YW_LIST_FREE(&mem, &book->keys);
  YW_LIST_FREE(&mem, &book->contacts);
  YW_LIST_FREE(&mem, &book->shown_points);
  YW_LIST_FREE(&mem, &book->last);
  YW_LIST_FREE(&mem, &book->begins);
  YW_LIST_FREE(&mem, &book->ends);
  YW_LIST_FREE(&mem, &book->impacts);
  yw_mem_free(&mem, book);
}

// Entries -----------------------------------------------------------------------------------------

static bool same_pair(yw_book_pair a, yw_book_pair b) {
  return a.first == b.first && a.second == b.second;
}

yw_book_entry* yw_book_entry_of(yw_contact_book* book, yw_book_pair pair) {
  int32_t count = book->entries.count, at = book->last_entry;
  if (at < count && same_pair(book->entries.items[at].pair, pair)) return &book->entries.items[at];
  for (at = 0; at < count; ++at) {
    if (same_pair(book->entries.items[at].pair, pair)) {
      book->last_entry = at;
      return &book->entries.items[at];
    }
  }
  if (!YW_LIST_RESERVE(&book->mem, &book->entries, 1)) {
    book->failed = true;
    return NULL;
  }
  book->last_entry = book->entries.count;
  yw_book_entry* entry = &book->entries.items[book->entries.count++];
  *entry = (yw_book_entry){.pair = pair};
  return entry;
}

static void add_point(yw_contact_book* book, const yw_book_point* point) {
  if (!YW_LIST_RESERVE(&book->mem, &book->points, 1)) {
    book->failed = true;
    return;
  }
  book->points.items[book->points.count++] = *point;
}

void yw_book_add(yw_contact_book* book, yw_book_point* touch, yw_vec3 impulse, double weight,
                 float speed) {
  yw_book_entry* entry = yw_book_entry_of(book, touch->pair);
  if (!entry) return;
  entry->point = yw_mad(entry->point, (float)weight, touch->shown.point);
  entry->normal = yw_mad(entry->normal, (float)weight, touch->shown.normal);
  entry->weight += weight;
  entry->impulse = yw_add(entry->impulse, impulse);
  if (speed > entry->info.speed) entry->info.speed = speed;
  add_point(book, touch);
}

// Bodies ------------------------------------------------------------------------------------------

static bool concerns(const yw_body* body, bool lockstep) {
  return yw_body_takes_part(body) && body->lockstep == lockstep;
}

void yw_book_momentum(const yw_body* body, double out[3]) {
  const yw_particles* p = &body->particles;
  out[0] = out[1] = out[2] = 0.0;
  for (int32_t i = 0; i < p->count; ++i) {
    double m = (double)p->mass[i];
    out[0] += m * (double)p->vel[i].x;
    out[1] += m * (double)p->vel[i].y;
    out[2] += m * (double)p->vel[i].z;
  }
}

void yw_book_begin_advance(yw_world* world, bool lockstep) {
  yw_contact_book* book = world->book;
  if (lockstep) book->points.count = book->num_fixed_points;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (!concerns(body, lockstep) || body->asleep) continue;
    yw_book_body* kept = &book->bodies.items[i];
    const yw_particles* p = &body->particles;
    yw_book_momentum(body, kept->momentum);
    memcpy(book->velocities.items + kept->first_velocity, p->vel,
           (size_t)p->count * sizeof *p->vel);
  }
}

// Contact between bodies --------------------------------------------------------------------------

// Contact with the surface of an obstacle, which may be either side.
static void record_obstacle(yw_world* world, const yw_contact_record* record, int side) {
  yw_contact_book* book = world->book;
  int64_t obstacle = world->contact_bodies.items[record->bodies[side]].obstacle;
  float sign = side == 1 ? 1.0f : -1.0f;
  yw_book_point point = {.pair = {book->log_slots.items[record->bodies[1 - side]], -1 - obstacle},
                         .vertices = {record->vertices[1 - side], -1},
                         .shown = {.point = record->point,
                                   .normal = yw_scale(record->normal, sign),
                                   .impulse = record->impulse}};
  yw_vec3 impulse = yw_mad(record->friction, record->impulse, record->normal);
  yw_book_add(book, &point, yw_scale(impulse, sign), (double)record->impulse, record->approach);
}

static void record_contact(yw_world* world, const yw_contact_record* record) {
  yw_contact_book* book = world->book;
  for (int side = 0; side < 2; ++side) {
    if (record->bodies[side] < world->responders.count) continue;
    record_obstacle(world, record, side);
    return;
  }
  uint32_t slots[2] = {book->log_slots.items[record->bodies[0]], 0};
  const yw_body* bodies[2] = {&world->bodies.items[slots[0]], NULL};
  yw_book_point point = {
      .vertices = {record->vertices[0], record->vertices[1]},
      .shown = {.point = record->point, .normal = record->normal, .impulse = record->impulse}};
  yw_vec3 impulse = yw_mad(record->friction, record->impulse, record->normal);
  if (record->bodies[1] < 0) {
    int64_t obstacle = yw_book_nearest_obstacle(bodies[0], record->point);
    if (obstacle < 0) return;
    point.pair = (yw_book_pair){slots[0], -1 - obstacle};
  } else {
    slots[1] = book->log_slots.items[record->bodies[1]];
    bodies[1] = &world->bodies.items[slots[1]];
    bool swap = bodies[1]->key < bodies[0]->key;
    point.pair = (yw_book_pair){slots[swap], slots[!swap]};
    if (swap) {
      point.shown.normal = yw_neg(record->normal);
      point.vertices[0] = record->vertices[1];
      point.vertices[1] = record->vertices[0];
      impulse = yw_neg(impulse);
    }
  }
  yw_book_add(book, &point, impulse, (double)record->impulse, record->approach);
}

void yw_book_note_contact(yw_world* world, bool lockstep) {
  yw_contact_book* book = world->book;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    uint32_t slot = world->body_order.items[i];
    const yw_body* body = &world->bodies.items[slot];
    bool moved = concerns(body, lockstep) && !body->asleep;
    if (moved && body->model->method->rigid_motion) yw_book_add_rigid(world, slot);
  }
  // Contact saw these bodies, in this order (world/step.c).
  book->log_slots.count = 0;
  for (int32_t i = 0; i < world->responders.count; ++i) {
    const yw_body* body = world->responders.items[i].body;
    book->log_slots.items[book->log_slots.count++] = (uint32_t)(body - world->bodies.items);
  }
  for (int32_t i = 0; i < book->log.items.count; ++i) {
    record_contact(world, &book->log.items.items[i]);
  }
  book->failed = book->failed || book->log.failed;
  book->log.items.count = 0;
  if (!lockstep) book->num_fixed_points = book->points.count;
}

// Steps -------------------------------------------------------------------------------------------

bool yw_book_begin_step(yw_world* world) {
  yw_contact_book* book = world->book;
  int32_t count = world->body_order.count, velocities = 0;
  for (int32_t i = 0; i < count; ++i) {
    velocities += world->bodies.items[world->body_order.items[i]].particles.capacity;
  }
  book->bodies.count = book->velocities.count = book->log_slots.count = 0;
  if (!YW_LIST_RESERVE(&book->mem, &book->bodies, count) ||
      !YW_LIST_RESERVE(&book->mem, &book->log_slots, count) ||
      !YW_LIST_RESERVE(&book->mem, &book->ranks, world->bodies.count) ||
      !YW_LIST_RESERVE(&book->mem, &book->areas, velocities) ||
      !YW_LIST_RESERVE(&book->mem, &book->velocities, velocities)) {
    return false;
  }
  for (int32_t i = 0; i < count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    book->ranks.items[world->body_order.items[i]] = i;
    book->bodies.items[i] = (yw_book_body){.first_velocity = book->velocities.count};
    book->velocities.count += body->particles.capacity;
  }
  book->entries.count = 0;
  book->failed = book->log.failed = false;
  return true;
}

void yw_book_begin_substep(yw_world* world) {
  world->book->points.count = world->book->num_fixed_points = 0;
}

static yw_body_id body_id(const yw_world* world, uint32_t slot) {
  return (yw_body_id){slot + 1, world->bodies.items[slot].generation};
}

static yw_contact_info finish_entry(const yw_world* world, const yw_book_entry* entry) {
  yw_contact_info info = entry->info;
  info.bodies[0] = body_id(world, entry->pair.first);
  if (entry->pair.second >= 0) {
    info.bodies[1] = body_id(world, (uint32_t)entry->pair.second);
  } else {
    uint32_t slot = (uint32_t)(-1 - entry->pair.second);
    info.obstacle = (yw_obstacle_id){slot + 1, world->obstacles.items[slot].generation};
  }
  info.point = yw_scale(entry->point, (float)(1.0 / entry->weight));
  info.normal = yw_normalize_or(entry->normal, yw_v3(0, 1, 0));
  info.impulse = yw_dot(entry->impulse, info.normal);
  info.friction = yw_mad(entry->impulse, -info.impulse, info.normal);
  if (entry->unknown) {
    info.impulse = NAN;
    info.friction = yw_v3(NAN, NAN, NAN);
  }
  return info;
}

// Surface around each vertex of a body: a third of its triangles.
static void find_areas(const yw_body* body, yw_book_area* areas) {
  yw_contact_geometry g = body->model->method->contact_geometry(body->state);
  const yw_particles* p = &body->particles;
  memset(areas, 0, (size_t)p->count * sizeof *areas);
  for (int32_t i = 0; i < g.num_triangles; ++i) {
    const int32_t* t = g.triangles + 3 * i;
    yw_vec3 a = yw_xyz(p->pos[t[0]]);
    yw_vec3 n = yw_cross(yw_sub(yw_xyz(p->pos[t[1]]), a), yw_sub(yw_xyz(p->pos[t[2]]), a));
    for (int k = 0; k < 3; ++k) areas[t[k]].vector = yw_mad(areas[t[k]].vector, 1.0f / 6.0f, n);
  }
}

// What the surface around a vertex adds to a contact (its number, from 1); each vertex once.
static float area_at(yw_world* world, int64_t slot, int32_t vertex, int32_t contact,
                     yw_vec3 normal) {
  yw_contact_book* book = world->book;
  if (slot < 0 || vertex < 0) return 0.0f;
  const yw_body* body = &world->bodies.items[slot];
  yw_book_body* kept = &book->bodies.items[book->ranks.items[slot]];
  if (vertex >= body->particles.count) return 0.0f;
  if (!kept->has_areas) find_areas(body, book->areas.items + kept->first_velocity);
  kept->has_areas = true;
  yw_book_area* area = &book->areas.items[kept->first_velocity + vertex];
  if (area->counted == contact) return 0.0f;
  area->counted = contact;
  return fabsf(yw_dot(area->vector, normal));
}

// Both sides of flat contact have vertices in it: the larger sum counts.
static float area_of(yw_world* world, const yw_contact_info* info, int32_t contact) {
  const yw_book_point* points = world->book->points.items + info->first_point;
  float sums[2] = {0};
  for (int32_t i = 0; i < info->num_points; ++i) {
    const int32_t* vertices = points[i].vertices;
    sums[0] += area_at(world, (int64_t)points[i].pair.first, vertices[0], contact, info->normal);
    sums[1] += area_at(world, points[i].pair.second, vertices[1], contact, info->normal);
  }
  return fmaxf(sums[0], sums[1]);
}

static yw_book_key key_of(const yw_contact_book* book, yw_book_pair pair, int32_t index) {
  bool obstacle = pair.second < 0;
  uint64_t second =
      obstacle ? (uint64_t)(-1 - pair.second) : (uint64_t)book->ranks.items[pair.second];
  return (yw_book_key){(uint64_t)book->ranks.items[pair.first], (uint64_t)obstacle << 40 | second,
                       index};
}

static int by_key(const void* a, const void* b) {
  const yw_book_key *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  if (x->second != y->second) return x->second < y->second ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

// Sorts with the help of the list of keys.
static bool sort_entries(yw_contact_book* book) {
  int32_t count = book->entries.count, points = book->points.count;
  int32_t most = count > points ? count : points;
  book->keys.count = 0;
  if (!YW_LIST_RESERVE(&book->mem, &book->keys, most) ||
      !YW_LIST_RESERVE(&book->mem, &book->entries, count) ||
      !YW_LIST_RESERVE(&book->mem, &book->points, points)) {
    return false;
  }
  yw_book_key* keys = book->keys.items;
  for (int32_t i = 0; i < count; ++i) keys[i] = key_of(book, book->entries.items[i].pair, i);
  if (count > 1) qsort(keys, (size_t)count, sizeof *keys, by_key);
  // The second half of the list is scratch.
  yw_book_entry* entries = book->entries.items;
  for (int32_t i = 0; i < count; ++i) entries[count + i] = entries[keys[i].index];
  memmove(entries, entries + count, (size_t)count * sizeof *entries);
  for (int32_t i = 0; i < points; ++i) keys[i] = key_of(book, book->points.items[i].pair, i);
  if (points > 1) qsort(keys, (size_t)points, sizeof *keys, by_key);
  yw_book_point* list = book->points.items;
  for (int32_t i = 0; i < points; ++i) list[points + i] = list[keys[i].index];
  memmove(list, list + points, (size_t)points * sizeof *list);
  return true;
}

static bool same_event(const yw_contact_event* event, const yw_contact_info* info) {
  return memcmp(event->bodies, info->bodies, sizeof info->bodies) == 0 &&
         memcmp(&event->obstacle, &info->obstacle, sizeof info->obstacle) == 0;
}

static yw_contact_event event_of(const yw_contact_info* info) {
  return (yw_contact_event){.bodies = {info->bodies[0], info->bodies[1]},
                            .obstacle = info->obstacle,
                            .point = info->point,
                            .normal = info->normal,
                            .impulse = info->impulse,
                            .speed = info->speed};
}

// Both lists have the same order, so that the search starts after what was found last.
static bool is_known(const yw_contact_book* book, const yw_contact_info* info, int32_t* hint) {
  int32_t count = book->last.count;
  for (int32_t k = 0; k < count; ++k) {
    int32_t at = *hint + k < count ? *hint + k : *hint + k - count;
    if (!same_event(&book->last.items[at], info)) continue;
    *hint = at + 1 < count ? at + 1 : 0;
    return true;
  }
  return false;
}

static bool still_touches(const yw_contact_book* book, const yw_contact_event* event,
                          int32_t* hint) {
  int32_t count = book->contacts.count;
  for (int32_t k = 0; k < count; ++k) {
    int32_t at = *hint + k < count ? *hint + k : *hint + k - count;
    if (!same_event(event, &book->contacts.items[at])) continue;
    *hint = at + 1 < count ? at + 1 : 0;
    return true;
  }
  return false;
}

static bool make_events(yw_contact_book* book, float impact_speed) {
  int32_t now = book->contacts.count, before = book->last.count, hint = 0;
  book->begins.count = book->ends.count = book->impacts.count = 0;
  if (!YW_LIST_RESERVE(&book->mem, &book->begins, now) ||
      !YW_LIST_RESERVE(&book->mem, &book->impacts, now) ||
      !YW_LIST_RESERVE(&book->mem, &book->ends, before)) {
    return false;
  }
  for (int32_t i = 0; i < now; ++i) {
    const yw_contact_info* info = &book->contacts.items[i];
    if (!is_known(book, info, &hint)) book->begins.items[book->begins.count++] = event_of(info);
    if (info->speed >= impact_speed) {
      book->impacts.items[book->impacts.count++] = event_of(info);
    }
  }
  hint = 0;
  for (int32_t k = 0; k < before; ++k) {
    if (still_touches(book, &book->last.items[k], &hint)) continue;
    book->ends.items[book->ends.count++] = book->last.items[k];
  }
  book->last.count = 0;
  if (!YW_LIST_RESERVE(&book->mem, &book->last, now)) return false;
  for (int32_t i = 0; i < now; ++i) {
    book->last.items[book->last.count++] = event_of(&book->contacts.items[i]);
  }
  return true;
}

// Contact does not look at sleepers: what they touched, they touch. Their contacts keep the impulse
// along the normal of the last step in which they were awake.
static void keep_sleepers(yw_world* world) {
  yw_contact_book* book = world->book;
  for (int32_t i = 0; i < book->last.count; ++i) {
    const yw_contact_event* event = &book->last.items[i];
    const yw_body* first = yw_world_find_body(world, event->bodies[0]);
    const yw_body* second = yw_world_find_body(world, event->bodies[1]);
    bool obstacle = event->bodies[1].index1 == 0;
    if (!first || !first->asleep || (!obstacle && (!second || !second->asleep))) continue;
    if (obstacle && !YW_SLOT_FIND(&world->obstacles, event->obstacle)) continue;
    yw_book_entry* entry =
        yw_book_entry_of(book, (yw_book_pair){event->bodies[0].index1 - 1,
                                              obstacle ? -(int64_t)event->obstacle.index1
                                                       : (int64_t)event->bodies[1].index1 - 1});
    if (!entry) return;
    // Some were touched without being woken.
    if (entry->weight > 0.0) continue;
    entry->weight = 1.0;
    entry->point = event->point;
    entry->normal = event->normal;
    entry->impulse = yw_scale(event->normal, event->impulse);
  }
}

bool yw_book_end_step(yw_world* world) {
  yw_contact_book* book = world->book;
  keep_sleepers(world);
  book->contacts.count = book->shown_points.count = 0;
  if (book->failed || !sort_entries(book) ||
      !YW_LIST_RESERVE(&book->mem, &book->contacts, book->entries.count) ||
      !YW_LIST_RESERVE(&book->mem, &book->shown_points, book->points.count)) {
    return false;
  }
  int32_t at = 0;
  for (int32_t i = 0; i < book->entries.count; ++i) {
    const yw_book_entry* entry = &book->entries.items[i];
    yw_contact_info info = finish_entry(world, entry);
    info.first_point = at;
    for (; at < book->points.count && same_pair(book->points.items[at].pair, entry->pair); ++at) {
      yw_contact_point shown = book->points.items[at].shown;
      shown.contact = i;
      book->shown_points.items[book->shown_points.count++] = shown;
    }
    info.num_points = at - info.first_point;
    info.area = area_of(world, &info, i + 1);
    book->contacts.items[book->contacts.count++] = info;
  }
  return make_events(book, world->impact_speed);
}

// Reading -----------------------------------------------------------------------------------------

yw_status yw_world_record_contacts(yw_world* world, bool on) {
  if (!world) return YW_ERR_INVALID;
  if (on && !world->book) {
    world->book = book_create(&world->mem);
    if (!world->book) return YW_ERR_MEMORY;
  } else if (!on) {
    yw_book_destroy(world->book);
    world->book = NULL;
  }
  yw_contact_log* log = world->book ? &world->book->log : NULL;
  if (world->points) yw_points_set_log(world->points, log);
  if (world->surfaces) yw_surfaces_set_log(world->surfaces, log);
  return YW_OK;
}

const yw_contact_info* yw_world_contacts(const yw_world* world, int32_t* count) {
  const yw_contact_book* book = world ? world->book : NULL;
  if (count) *count = book ? book->contacts.count : 0;
  return book ? book->contacts.items : NULL;
}

const yw_contact_point* yw_world_contact_points(const yw_world* world, int32_t* count) {
  const yw_contact_book* book = world ? world->book : NULL;
  if (count) *count = book ? book->shown_points.count : 0;
  return book ? book->shown_points.items : NULL;
}

yw_contact_events yw_world_contact_events(const yw_world* world) {
  const yw_contact_book* book = world ? world->book : NULL;
  if (!book) return (yw_contact_events){0};
  return (yw_contact_events){.begins = book->begins.items,
                             .ends = book->ends.items,
                             .impacts = book->impacts.items,
                             .num_begins = book->begins.count,
                             .num_ends = book->ends.count,
                             .num_impacts = book->impacts.count};
}

yw_status yw_world_set_impact_speed(yw_world* world, float speed) {
  if (!world || !(speed >= 0.0f)) return YW_ERR_INVALID;
  world->impact_speed = speed;
  return YW_OK;
}

// Snapshots ---------------------------------------------------------------------------------------

#define EVENT_BYTES (6 * sizeof(uint32_t) + 8 * sizeof(float))

void yw_book_write(const yw_contact_book* book, yw_writer* writer) {
  int32_t count = book ? book->last.count : 0;
  yw_write_u32(writer, (uint32_t)count);
  for (int32_t i = 0; i < count; ++i) {
    const yw_contact_event* event = &book->last.items[i];
    for (int k = 0; k < 2; ++k) {
      yw_write_u32(writer, event->bodies[k].index1);
      yw_write_u32(writer, event->bodies[k].generation);
    }
    yw_write_u32(writer, event->obstacle.index1);
    yw_write_u32(writer, event->obstacle.generation);
    yw_write_f32(writer, &event->point.x, 3);
    yw_write_f32(writer, &event->normal.x, 3);
    yw_write_f32(writer, &event->impulse, 1);
    yw_write_f32(writer, &event->speed, 1);
  }
}

bool yw_book_read(yw_contact_book* book, yw_reader* reader) {
  uint32_t count = yw_read_u32(reader);
  if (reader->failed || count > (reader->size - reader->offset) / EVENT_BYTES) return false;
  if (book) {
    book->last.count = book->contacts.count = book->shown_points.count = 0;
    book->begins.count = book->ends.count = book->impacts.count = 0;
    if (!YW_LIST_RESERVE(&book->mem, &book->last, (int32_t)count)) return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    yw_contact_event event = {0};
    for (int k = 0; k < 2; ++k) {
      event.bodies[k].index1 = yw_read_u32(reader);
      event.bodies[k].generation = yw_read_u32(reader);
    }
    event.obstacle.index1 = yw_read_u32(reader);
    event.obstacle.generation = yw_read_u32(reader);
    yw_read_f32(reader, &event.point.x, 3);
    yw_read_f32(reader, &event.normal.x, 3);
    yw_read_f32(reader, &event.impulse, 1);
    yw_read_f32(reader, &event.speed, 1);
    if (book) book->last.items[book->last.count++] = event;
  }
  return !reader->failed;
}
