// SPDX-License-Identifier: MIT
// Bodies that overlap, for users who want to know before they step.
#include "contact/surfaces/crossings.h"

#include "world/world.h"
#include "yawara/contact.h"
#include "yawara/extend/memory.h"

static bool may_cross(const yw_world* world, const yw_body* body) {
  return body->body_contact && !body->diverged && body->start <= world->time;
}

// The surfaces of all bodies that may cross, in their order; others stay empty.
static bool fill_sides(const yw_world* world, yw_crossing_side* sides) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (!may_cross(world, body)) continue;
    yw_contact_geometry geometry = body->model->method->contact_geometry(body->state);
    if (geometry.num_triangles == 0 && geometry.num_segments == 0 && !geometry.radius) continue;
    if (!yw_crossing_side_create(&world->mem, &geometry, &body->particles, &sides[i])) return false;
  }
  return true;
}

static bool may_meet(const yw_world* world, int32_t i, int32_t k) {
  if (world->filters.count == 0) return true;
  const yw_contact_body a = {.filter = &world->filters.items[i]};
  const yw_contact_body b = {.filter = &world->filters.items[k]};
  return yw_contact_may_meet(&a, &b);
}

int32_t yw_world_crossings(yw_world* world, yw_body_id (*out)[2], int32_t capacity) {
  if (!world || (!out && capacity > 0)) return -1;
  if (world->body_order.count < 2) return 0;
  // Those that are being moved apart count.
  int32_t num_parting = world->parting.count;
  world->parting.count = 0;
  bool filtered = yw_filter_begin_step(world);
  world->parting.count = num_parting;
  if (!filtered) return -1;
  int32_t count = world->body_order.count, found = 0;
  yw_crossing_side* sides = YW_NEW_ARRAY(&world->mem, yw_crossing_side, count);
  if (!sides) return -1;
  bool good = fill_sides(world, sides);
  for (int32_t i = 0; i < count && good; ++i) {
    for (int32_t k = i + 1; k < count && sides[i].complex; ++k) {
      if (!sides[k].complex || !may_meet(world, i, k)) continue;
      if (!yw_sides_cross(&sides[i], &sides[k])) continue;
      if (found < capacity) {
        out[found][0] = yw_world_body(world, i);
        out[found][1] = yw_world_body(world, k);
      }
      ++found;
    }
  }
  for (int32_t i = 0; i < count; ++i) yw_crossing_side_free(&world->mem, &sides[i]);
  yw_mem_free(&world->mem, sides);
  return good ? found : -1;
}
