// SPDX-License-Identifier: MIT
#include "contact/surfaces/warm.h"

#include <math.h>
#include <string.h>

// Slots per entry, at least.
#define SLOTS_PER_ENTRY 2
// The way over which the mean of a force is taken, in overlaps that are left alone (2 % of an
// edge).
#define GRIP_SLOPS 20.0f
// Bytes of an entry in a snapshot.
#define ENTRY_SIZE 48

// True if the sides of two edges have to change places.
static bool is_swapped(const yw_warm_key* key) {
  if (key->bodies[0] != key->bodies[1]) return key->bodies[0] > key->bodies[1];
  return key->corners[0] > key->corners[2];
}

// Edges are found from either side. True if they changed places.
static bool order_edges(yw_warm_key* key) {
  if (!is_swapped(key)) return false;
  yw_warm_key old = *key;
  for (int k = 0; k < 4; ++k) key->corners[k] = old.corners[(k + 2) % 4];
  key->bodies[0] = old.bodies[1];
  key->bodies[1] = old.bodies[0];
  return true;
}

static yw_warm_key key_of(const yw_contact_body* bodies, const yw_contact* c, bool* swapped) {
  yw_warm_key key = {.bodies = {bodies[c->body[0]].number, bodies[c->body[1]].number}};
  int split = c->count[0];
  for (int k = 0; k < 4; ++k) {
    int side = k < split ? 0 : 1, slot = side ? k - split : k;
    key.corners[k] = c->particles[side][slot < 3 ? slot : 2];
  }
  // An obstacle takes the place of the second particle.
  if (c->count[1] == 0) key.corners[2] = key.corners[3] = -1;
  *swapped = c->count[1] == 2 && order_edges(&key);
  return key;
}

static uint32_t slot_of(const yw_warm* warm, const yw_warm_key* key) {
  uint64_t hash = 0x9e3779b97f4a7c15ull;
  const uint32_t words[6] = {key->bodies[0],
                             key->bodies[1],
                             (uint32_t)key->corners[0],
                             (uint32_t)key->corners[1],
                             (uint32_t)key->corners[2],
                             (uint32_t)key->corners[3]};
  for (int k = 0; k < 6; ++k) hash = (hash ^ words[k]) * 0xff51afd7ed558ccdull;
  hash ^= hash >> 32;
  return (uint32_t)hash & (uint32_t)(warm->slots.count - 1);
}

// The slot of an entry, or the empty one where it would be.
static int32_t* find_slot(const yw_warm* warm, const yw_warm_key* key) {
  uint32_t at = slot_of(warm, key), mask = (uint32_t)(warm->slots.count - 1);
  while (warm->slots.items[at] != 0) {
    const yw_warm_entry* entry = &warm->entries.items[warm->slots.items[at] - 1];
    if (memcmp(&entry->key, key, sizeof *key) == 0) break;
    at = (at + 1) & mask;
  }
  return &warm->slots.items[at];
}

bool yw_warm_begin(const yw_allocator* mem, yw_warm* warm, int32_t room) {
  int32_t slots = 16;
  while (slots < SLOTS_PER_ENTRY * room) slots *= 2;
  warm->entries.count = warm->slots.count = 0;
  if (!YW_LIST_RESERVE(mem, &warm->entries, room) || !YW_LIST_RESERVE(mem, &warm->slots, slots)) {
    return false;
  }
  warm->slots.count = slots;
  memset(warm->slots.items, 0, (size_t)slots * sizeof *warm->slots.items);
  return true;
}

static void add_entry(yw_warm* warm, const yw_warm_entry* entry) {
  int32_t* slot = find_slot(warm, &entry->key);
  if (*slot != 0) return;
  warm->entries.items[warm->entries.count++] = *entry;
  *slot = warm->entries.count;
}

// The first touch is an impact, which the next substeps should not remember.
static void remember(yw_warm_entry* entry, float h, float slip, float slop) {
  bool first = entry->age == 0.0f;
  entry->age = fminf(entry->age + h, YW_GRIP_TIME);
  if (slip * entry->age > GRIP_SLOPS * slop) entry->age = fmaxf(GRIP_SLOPS * slop / slip, h);
  if (first) return;
  float share = entry->grip > 0.0f ? fminf(h / entry->age, 1.0f) : 1.0f;
  entry->grip += share * (entry->force - entry->grip);
}

void yw_warm_add(yw_warm* warm, const yw_contact_body* bodies, const yw_contact* c, float h) {
  bool swapped;
  yw_warm_entry entry = {.key = key_of(bodies, c, &swapped),
                         .force = c->impulse / h,
                         .grip = c->grip,
                         .age = c->grip_age};
  entry.drag = yw_scale(c->friction, (swapped ? -1.0f : 1.0f) / h);
  if (entry.force > 0.0f) {
    remember(&entry, h, c->slip, c->slop);
  } else {
    entry.age -= h;
    if (!(entry.age > 0.0f)) return;
  }
  add_entry(warm, &entry);
}

bool yw_warm_find(const yw_warm* warm, const yw_contact_body* bodies, const yw_contact* c,
                  yw_warm_entry* entry) {
  bool swapped;
  if (warm->entries.count == 0) return false;
  yw_warm_key key = key_of(bodies, c, &swapped);
  int32_t at = *find_slot(warm, &key);
  if (at == 0) return false;
  *entry = warm->entries.items[at - 1];
  if (swapped) entry->drag = yw_neg(entry->drag);
  return true;
}

bool yw_warm_has_spare(const yw_warm* warm, const yw_contact_body* bodies, int32_t a, int32_t b,
                       const yw_contact_spare* s) {
  if (warm->entries.count == 0 || s->vertex) return false;
  yw_warm_key key = {.bodies = {bodies[a].number, bodies[b].number}};
  memcpy(key.corners, s->corners, sizeof key.corners);
  order_edges(&key);
  int32_t at = *find_slot(warm, &key);
  return at != 0 && warm->entries.items[at - 1].force > 0.0f;
}

void yw_warm_write(const yw_warm* warm, yw_writer* writer) {
  yw_write_u32(writer, (uint32_t)warm->entries.count);
  for (int32_t i = 0; i < warm->entries.count; ++i) {
    const yw_warm_entry* entry = &warm->entries.items[i];
    for (int k = 0; k < 2; ++k) yw_write_u32(writer, entry->key.bodies[k]);
    for (int k = 0; k < 4; ++k) yw_write_u32(writer, (uint32_t)entry->key.corners[k]);
    const float numbers[6] = {entry->force,  entry->grip,   entry->age,
                              entry->drag.x, entry->drag.y, entry->drag.z};
    yw_write_f32(writer, numbers, 6);
  }
}

yw_status yw_warm_read(const yw_allocator* mem, yw_warm* warm, yw_reader* reader) {
  uint32_t count = yw_read_u32(reader);
  if (reader->failed || count > (reader->size - reader->offset) / ENTRY_SIZE) return YW_ERR_FORMAT;
  if (!yw_warm_begin(mem, warm, (int32_t)count)) return YW_ERR_MEMORY;
  for (uint32_t i = 0; i < count; ++i) {
    yw_warm_entry entry;
    for (int k = 0; k < 2; ++k) entry.key.bodies[k] = yw_read_u32(reader);
    for (int k = 0; k < 4; ++k) entry.key.corners[k] = (int32_t)yw_read_u32(reader);
    float numbers[6] = {0}, sum = 0.0f;
    yw_read_f32(reader, numbers, 6);
    for (int k = 0; k < 6; ++k) sum += numbers[k];
    entry.force = numbers[0], entry.grip = numbers[1], entry.age = numbers[2];
    entry.drag = yw_v3(numbers[3], numbers[4], numbers[5]);
    bool sound = entry.force >= 0.0f && entry.grip >= 0.0f && entry.age > 0.0f;
    if (!sound || !isfinite(sum)) return YW_ERR_FORMAT;
    add_entry(warm, &entry);
  }
  return reader->failed || warm->entries.count != (int32_t)count ? YW_ERR_FORMAT : YW_OK;
}

void yw_warm_free(const yw_allocator* mem, yw_warm* warm) {
  YW_LIST_FREE(mem, &warm->entries);
  YW_LIST_FREE(mem, &warm->slots);
}
