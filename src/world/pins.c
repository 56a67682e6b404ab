// SPDX-License-Identifier: MIT
// Pins hold vertices or pull them with springs; they rest, follow a path or are moved by hand.
#include "world/setup.h"
#include "world/world.h"
#include "yawara/extend/error.h"

yw_pin_def yw_default_pin_def(void) { return (yw_pin_def){0}; }

static yw_status check_def(const yw_body* body, const yw_pin_def* def, yw_error* error) {
  if (def->num_vertices < 1 || !def->vertices) {
    return yw_fail(error, YW_ERR_INVALID, "pin on \"%s\": holds no vertices", body->name);
  }
  for (int32_t i = 0; i < def->num_vertices; ++i) {
    if (def->vertices[i] < 0 || def->vertices[i] >= body->particles.count) {
      return yw_fail(error, YW_ERR_INVALID,
                     "pin on \"%s\": vertex %d, but the body has %d (0 to %d)", body->name,
                     def->vertices[i], body->particles.count, body->particles.count - 1);
    }
  }
  if (!(def->stiffness >= 0.0f) || !isfinite(def->stiffness) || !(def->damping >= 0.0f) ||
      !isfinite(def->damping)) {
    return yw_fail(
        error, YW_ERR_INVALID,
        "pin on \"%s\": stiffness is %g N/m and damping %g N s/m, but both must be 0 or more",
        body->name, (double)def->stiffness, (double)def->damping);
  }
  return yw_path_check(&def->path, "pin", error);
}

static bool fill_pin(yw_world* world, const yw_body* body, const yw_pin_def* def, yw_pin* pin) {
  pin->stiffness = def->stiffness;
  pin->damping = def->damping;
  pin->strength = 1.0f;
  pin->clamp = def->clamp;
  pin->num_particles = def->num_vertices;
  pin->particles = YW_NEW_ARRAY(&world->mem, int32_t, def->num_vertices);
  pin->placed = YW_NEW_ARRAY(&world->mem, yw_vec3, def->num_vertices);
  if (!pin->particles || !pin->placed || !yw_path_copy(&world->mem, &def->path, &pin->path)) {
    return false;
  }
  pin->hand_begin = pin->hand_end = YW_MOTION_NONE;
  const int32_t* table = yw_body_vertex_table(body);
  for (int32_t i = 0; i < def->num_vertices; ++i) {
    int32_t vertex = def->vertices[i];
    pin->particles[i] = table ? table[vertex] : vertex;
    pin->placed[i] = yw_xyz(body->particles.pos[pin->particles[i]]);
  }
  return true;
}

yw_status yw_pin_create(yw_world* world, const yw_pin_def* def, yw_pin_id* out, yw_error* error) {
  return yw_pin_create_following(world, def, NULL, out, error);
}

yw_status yw_pin_create_following(yw_world* world, const yw_pin_def* def, yw_follow* follow,
                                  yw_pin_id* out, yw_error* error) {
  yw_error_clear(error);
  if (!world || !def || !out) return yw_fail(error, YW_ERR_INVALID, "world, def or out is NULL");
  *out = (yw_pin_id){0};
  yw_body* body = yw_world_find_body(world, def->body);
  if (!body) return yw_fail(error, YW_ERR_INVALID, "pin: the body does not exist");
  yw_status status = check_def(body, def, error);
  if (status < 0) return status;

  int32_t slot = YW_SLOT_FREE(&world->mem, &world->pins);
  if (slot < 0) return yw_fail_memory(error, "a pin");
  yw_pin* pin = &world->pins.items[slot];
  uint32_t generation = pin->generation;
  *pin = (yw_pin){.generation = generation, .body = def->body.index1 - 1};
  // Both lists are refilled in every substep; their counts give the capacity that all pins need.
  if (!YW_LIST_RESERVE(&world->mem, &body->springs, def->num_vertices) ||
      !YW_LIST_RESERVE(&world->mem, &body->holds, def->num_vertices) ||
      !fill_pin(world, body, def, pin)) {
    yw_pin_release(world, pin);
    pin->generation = generation;
    return yw_fail_memory(error, "a pin");
  }
  pin->follow = follow;
  for (int32_t i = 0; i < pin->num_particles; ++i) {
    if (yw_pin_holds(pin, i)) body->particles.inv_mass[pin->particles[i]] = 0.0f;
  }
  body->springs.count += def->num_vertices;
  body->holds.count += def->num_vertices;
  ++body->changes;
  pin->generation = generation + 1;
  yw_body_rouse(body);
  *out = (yw_pin_id){(uint32_t)slot + 1, pin->generation};
  return YW_OK;
}

void yw_pin_release(yw_world* world, yw_pin* pin) {
  yw_mem_free(&world->mem, pin->particles);
  yw_mem_free(&world->mem, pin->placed);
  yw_path_free(&world->mem, &pin->path);
  if (pin->follow) yw_setup_keep_follow(world, pin->follow);
  yw_follow_release(&world->mem, pin->follow);
  *pin = (yw_pin){.generation = pin->generation};
}

static yw_pin* find_pin(const yw_world* world, yw_pin_id id) {
  return world ? YW_SLOT_FIND(&world->pins, id) : NULL;
}

void yw_world_restore_masses(yw_world* world, uint32_t slot) {
  yw_body* body = &world->bodies.items[slot];
  yw_particles* p = &body->particles;
  ++body->changes;
  for (int32_t i = 0; i < p->count; ++i) p->inv_mass[i] = 1.0f / p->mass[i];
  body->holds.count = body->springs.count = 0;
  for (int32_t i = 0; i < world->pins.count; ++i) {
    const yw_pin* pin = &world->pins.items[i];
    if (!(pin->generation & 1) || pin->body != slot) continue;
    body->springs.count += pin->num_particles;
    body->holds.count += pin->num_particles;
    for (int32_t k = 0; k < pin->num_particles; ++k) {
      bool here = pin->particles[k] < p->count;
      if (here && yw_pin_holds(pin, k)) p->inv_mass[pin->particles[k]] = 0.0f;
    }
  }
}

yw_status yw_pin_destroy(yw_world* world, yw_pin_id id) {
  yw_pin* pin = find_pin(world, id);
  if (!pin) return YW_ERR_INVALID;
  uint32_t slot = pin->body;
  yw_world_drop_pin_tracks(world, id.index1 - 1);
  yw_pin_release(world, pin);
  ++pin->generation;
  yw_body_rouse(&world->bodies.items[slot]);
  // Particles that no other pin holds become free.
  yw_world_restore_masses(world, slot);
  return YW_OK;
}

void yw_world_drop_pins(yw_world* world, uint32_t body) {
  for (int32_t i = 0; i < world->pins.count; ++i) {
    yw_pin* pin = &world->pins.items[i];
    if (!(pin->generation & 1) || pin->body != body) continue;
    yw_world_drop_pin_tracks(world, (uint32_t)i);
    yw_pin_release(world, pin);
    ++pin->generation;
  }
}

yw_status yw_pin_move(yw_world* world, yw_pin_id id, yw_vec3 offset, yw_quat rotation) {
  yw_pin* pin = find_pin(world, id);
  yw_quat q = rotation;
  float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  if (!pin || pin->follow || !yw_is_finite3(offset) || !(norm > 1e-12f) || !isfinite(norm))
    return YW_ERR_INVALID;
  if (!pin->by_hand) pin->hand_begin = yw_path_at(&pin->path, world->time);
  pin->by_hand = true;
  pin->hand_end = (yw_motion){offset, yw_quat_normalize(rotation)};
  return YW_OK;
}
