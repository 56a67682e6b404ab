// SPDX-License-Identifier: MIT
// Who collides with whom: groups, masks, pairs and joints.
#include <stdlib.h>

#include "world/world.h"
#include "yawara/contact.h"

#define ALL UINT32_MAX

static bool is_plain(uint32_t groups, uint32_t mask) { return groups == 1 && mask == ALL; }

static int by_value(const void* a, const void* b) {
  uint64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

// Pairs of the caller, joined bodies, and those that are moved apart.
static bool list_pairs(yw_world* world) {
  int32_t most = world->pairs_apart.count + world->joints.count + world->parting.count;
  world->apart.count = 0;
  if (!YW_LIST_RESERVE(&world->mem, &world->apart, most)) return false;
  for (int32_t i = 0; i < world->pairs_apart.count; ++i) {
    world->apart.items[world->apart.count++] = world->pairs_apart.items[i];
  }
  for (int32_t i = 0; i < world->joints.count; ++i) {
    const yw_joint* joint = &world->joints.items[i];
    int32_t a = joint->sides[0].body, b = joint->sides[1].body;
    if (!(joint->generation & 1) || joint->collide || a < 0 || b < 0) continue;
    world->apart.items[world->apart.count++] = yw_contact_pair((uint32_t)a, (uint32_t)b);
  }
  for (int32_t i = 0; i < world->parting.count; ++i) {
    world->apart.items[world->apart.count++] = world->parting.items[i];
  }
  size_t count = (size_t)world->apart.count;
  if (count > 1) qsort(world->apart.items, count, sizeof *world->apart.items, by_value);
  return true;
}

// Room for the obstacles of bodies that do not meet all.
static bool reserve_obstacles(yw_world* world) {
  int32_t obstacles = world->obstacles.count, most = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    bool meets_all = true;
    for (int32_t k = 0; k < obstacles && meets_all; ++k) {
      const yw_world_obstacle* o = &world->obstacles.items[k];
      meets_all = (o->groups & body->mask) && (body->groups & o->mask);
    }
    if (!meets_all) most += obstacles;
  }
  world->chosen_obstacles.count = 0;
  return most == 0 || YW_LIST_RESERVE(&world->mem, &world->chosen_obstacles, most);
}

bool yw_filter_begin_step(yw_world* world) {
  if (!list_pairs(world) || !reserve_obstacles(world)) return false;
  int32_t count = world->body_order.count;
  bool needed = world->apart.count > 0;
  for (int32_t i = 0; i < count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    needed = needed || !is_plain(body->groups, body->mask);
  }
  int32_t obstacles = world->surfaces ? world->obstacles.count : 0;
  for (int32_t i = 0; i < obstacles; ++i) {
    const yw_world_obstacle* o = &world->obstacles.items[i];
    needed = needed || ((o->generation & 1) && !is_plain(o->groups, o->mask));
  }
  world->filters.count = 0;
  if (!needed) return true;
  if (!YW_LIST_RESERVE(&world->mem, &world->filters, count + obstacles)) return false;
  for (int32_t i = 0; i < count; ++i) {
    uint32_t slot = world->body_order.items[i];
    const yw_body* body = &world->bodies.items[slot];
    world->filters.items[world->filters.count++] =
        (yw_contact_filter){.groups = body->groups,
                            .mask = body->mask,
                            .number = slot,
                            .apart = world->apart.items,
                            .num_apart = world->apart.count};
  }
  // Of no pair.
  for (int32_t i = 0; i < obstacles; ++i) {
    const yw_world_obstacle* o = &world->obstacles.items[i];
    world->filters.items[world->filters.count++] =
        (yw_contact_filter){.groups = o->groups, .mask = o->mask, .number = UINT32_MAX};
  }
  return true;
}

void yw_filter_obstacles(yw_world* world, const yw_obstacle_set* all) {
  world->chosen_obstacles.count = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = &world->bodies.items[world->body_order.items[i]];
    int32_t count = 0, first_skipped = 0;
    body->obstacles = *all;
    // Bodies that meet all share one list.
    for (; first_skipped < all->count; ++first_skipped) {
      const yw_world_obstacle* o = &world->obstacles.items[all->items[first_skipped].number];
      if (!(o->groups & body->mask) || !(body->groups & o->mask)) break;
    }
    if (first_skipped == all->count) continue;
    yw_obstacle* chosen = world->chosen_obstacles.items + world->chosen_obstacles.count;
    for (int32_t k = 0; k < all->count; ++k) {
      const yw_world_obstacle* o = &world->obstacles.items[all->items[k].number];
      if ((o->groups & body->mask) && (body->groups & o->mask)) chosen[count++] = all->items[k];
    }
    body->obstacles.items = chosen;
    body->obstacles.count = count;
    world->chosen_obstacles.count += count;
  }
}

// The caller's side -------------------------------------------------------------------------------

yw_status yw_body_set_filter(yw_world* world, yw_body_id id, uint32_t groups, uint32_t mask) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body) return YW_ERR_INVALID;
  body->groups = groups;
  body->mask = mask;
  yw_world_wake_all(world);
  return YW_OK;
}

yw_status yw_obstacle_set_filter(yw_world* world, yw_obstacle_id id, uint32_t groups,
                                 uint32_t mask) {
  yw_world_obstacle* obstacle = world ? YW_SLOT_FIND(&world->obstacles, id) : NULL;
  if (!obstacle) return YW_ERR_INVALID;
  obstacle->groups = groups;
  obstacle->mask = mask;
  yw_world_wake_all(world);
  return YW_OK;
}

yw_status yw_world_set_pair_contact(yw_world* world, yw_body_id a, yw_body_id b, bool on) {
  if (!yw_world_find_body(world, a) || !yw_world_find_body(world, b) || a.index1 == b.index1) {
    return YW_ERR_INVALID;
  }
  uint64_t pair = yw_contact_pair(a.index1 - 1, b.index1 - 1);
  if (!YW_LIST_RESERVE(&world->mem, &world->pairs_apart, 1)) return YW_ERR_MEMORY;
  uint64_t* pairs = world->pairs_apart.items;
  int32_t at = 0, count = world->pairs_apart.count;
  while (at < count && pairs[at] < pair) ++at;
  bool listed = at < count && pairs[at] == pair;
  if (listed && on) {
    memmove(pairs + at, pairs + at + 1, (size_t)(count - at - 1) * sizeof *pairs);
    --world->pairs_apart.count;
  } else if (!listed && !on) {
    memmove(pairs + at + 1, pairs + at, (size_t)(count - at) * sizeof *pairs);
    pairs[at] = pair;
    ++world->pairs_apart.count;
  }
  yw_world_wake_all(world);
  return YW_OK;
}

void yw_world_drop_pairs(yw_world* world, uint32_t body) {
  int32_t kept = 0;
  for (int32_t i = 0; i < world->pairs_apart.count; ++i) {
    uint64_t pair = world->pairs_apart.items[i];
    if ((uint32_t)(pair >> 32) == body || (uint32_t)pair == body) continue;
    world->pairs_apart.items[kept++] = pair;
  }
  world->pairs_apart.count = kept;
}
