// SPDX-License-Identifier: MIT
#include "world/fingerprint.h"

#include "world/world.h"
#include "yawara/extend/hash.h"

enum {
  MODELS,
  BODY_SETTINGS,
  WORLD_SETTINGS,
  OBSTACLE_SHAPES,
  OBSTACLE_PLACES,
  OBSTACLE_SETTINGS,
  PINNED_VERTICES,
  PIN_SETTINGS
};
_Static_assert(PIN_SETTINGS + 1 == YW_FINGERPRINT_PARTS, "one hash for each part");

const char* yw_fingerprint_part_name(int32_t part) {
  static const char* const names[YW_FINGERPRINT_PARTS] = {
      "the number or the models of bodies",
      "friction, restitution, contacts or start times of bodies",
      "gravity, wind, sleep speed, contact iterations or tracks",
      "the number or the shapes of obstacles",
      "the places or paths of obstacles",
      "friction, restitution or stickiness of obstacles",
      "the pinned vertices",
      "the paths, springs or clamps of pins, or joints"};
  return names[part];
}

static uint64_t mix_float(uint64_t hash, float value) {
  return yw_hash_bytes(hash, &value, sizeof value);
}

// Member by member: structs may have padding.
static uint64_t mix_path(uint64_t hash, const yw_path* path) {
  hash = yw_hash_u64(hash, (uint64_t)path->num_keys);
  if (path->num_keys == 0) return hash;
  hash = yw_hash_u64(hash, (uint64_t)path->loop << 1 | (uint64_t)path->smooth);
  hash = yw_hash_bytes(hash, &path->pivot, sizeof path->pivot);
  for (int32_t i = 0; i < path->num_keys; ++i) {
    const yw_key* key = &path->keys[i];
    hash = yw_hash_bytes(hash, &key->time, sizeof key->time);
    hash = yw_hash_bytes(hash, &key->offset, sizeof key->offset);
    hash = yw_hash_bytes(hash, &key->rotation, sizeof key->rotation);
  }
  return hash;
}

// Bodies that collide with all, as most do, add nothing.
static uint64_t mix_filter(uint64_t hash, uint32_t groups, uint32_t mask) {
  if (groups == 1 && mask == UINT32_MAX) return hash;
  return yw_hash_u64(hash, (uint64_t)groups << 32 | mask);
}

static void add_bodies(const yw_world* world, uint64_t* parts) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    parts[MODELS] = yw_hash_u64(parts[MODELS], body->model->hash);
    uint64_t hash =
        mix_float(mix_float(parts[BODY_SETTINGS], body->built_friction), body->restitution);
    hash = yw_hash_u64(hash, (uint64_t)body->body_contact << 1 | (uint64_t)body->self_contact);
    parts[BODY_SETTINGS] = yw_hash_bytes(hash, &body->start, sizeof body->start);
    parts[BODY_SETTINGS] = mix_filter(parts[BODY_SETTINGS], body->groups, body->mask);
  }
}

static uint64_t mix_hand(uint64_t hash, const yw_world_obstacle* o) {
  if (!o->by_hand) return hash;
  hash = yw_hash_bytes(hash, &o->hand_begin, sizeof o->hand_begin);
  hash = yw_hash_bytes(hash, &o->hand_end, sizeof o->hand_end);
  hash = yw_hash_bytes(hash, &o->velocity, sizeof o->velocity);
  return yw_hash_bytes(hash, &o->spin, sizeof o->spin);
}

static void add_obstacles(const yw_world* world, uint64_t* parts) {
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    const yw_world_obstacle* o = &world->obstacles.items[i];
    if (!(o->generation & 1)) continue;
    parts[OBSTACLE_SHAPES] = yw_hash_u64(parts[OBSTACLE_SHAPES], o->shape_hash);
    uint64_t hash = yw_hash_bytes(parts[OBSTACLE_PLACES], &o->transform, sizeof o->transform);
    parts[OBSTACLE_PLACES] = mix_hand(mix_path(hash, &o->path), o);
    hash = mix_float(mix_float(parts[OBSTACLE_SETTINGS], o->friction), o->restitution);
    parts[OBSTACLE_SETTINGS] = mix_filter(yw_hash_u64(hash, o->sticky), o->groups, o->mask);
  }
}

// Slots depend on earlier removals; the order of creation does not.
static int32_t order_of(const yw_world* world, uint32_t slot) {
  int32_t i = 0;
  while (world->body_order.items[i] != slot) ++i;
  return i;
}

static void add_pairs(const yw_world* world, uint64_t* parts) {
  for (int32_t i = 0; i < world->pairs_apart.count; ++i) {
    uint64_t pair = world->pairs_apart.items[i];
    int32_t a = order_of(world, (uint32_t)(pair >> 32)), b = order_of(world, (uint32_t)pair);
    // Slots may be in another order than bodies, so the sum over pairs must not depend on theirs.
    parts[BODY_SETTINGS] += yw_hash_u64(YW_HASH_SEED, yw_contact_pair((uint32_t)a, (uint32_t)b));
  }
}

static void add_pins(const yw_world* world, uint64_t* parts) {
  for (int32_t i = 0; i < world->pins.count; ++i) {
    const yw_pin* pin = &world->pins.items[i];
    if (!(pin->generation & 1)) continue;
    size_t count = (size_t)pin->num_particles;
    uint64_t hash = yw_hash_u64(parts[PINNED_VERTICES], (uint64_t)order_of(world, pin->body));
    hash = yw_hash_bytes(hash, pin->particles, count * sizeof *pin->particles);
    parts[PINNED_VERTICES] = yw_hash_bytes(hash, pin->placed, count * sizeof *pin->placed);
    hash = mix_float(mix_float(parts[PIN_SETTINGS], pin->stiffness), pin->damping);
    hash = mix_path(yw_hash_u64(hash, pin->clamp), &pin->path);
    parts[PIN_SETTINGS] = pin->follow ? yw_follow_hash(pin->follow, hash) : hash;
  }
}

static void add_joints(const yw_world* world, uint64_t* parts) {
  for (int32_t i = 0; i < world->joints.count; ++i) {
    const yw_joint* joint = &world->joints.items[i];
    if (!(joint->generation & 1)) continue;
    uint64_t flags = (uint64_t)joint->collide << 8 | (uint64_t)joint->kind << 1 | joint->limited;
    uint64_t hash = yw_hash_u64(parts[PIN_SETTINGS], flags);
    const double numbers[5] = {joint->lower, joint->upper, joint->length, joint->stiffness,
                               joint->damping};
    hash = yw_hash_bytes(hash, numbers, sizeof numbers);
    for (int s = 0; s < 2; ++s) {
      const yw_joint_side* side = &joint->sides[s];
      hash = yw_hash_u64(hash,
                         side->body < 0 ? 0 : 1 + (uint64_t)order_of(world, (uint32_t)side->body));
      hash = yw_hash_bytes(hash, &side->frame, sizeof side->frame);
      if (!side->particles) continue;
      hash = yw_hash_bytes(hash, side->particles,
                           (size_t)side->num_particles * sizeof *side->particles);
    }
    for (int32_t k = 0; k < joint->num_points; ++k) {
      hash = yw_hash_bytes(hash, joint->points[k].local, sizeof joint->points[k].local);
    }
    parts[PIN_SETTINGS] = hash;
  }
}

// Pins that were removed leave gaps in the numbers of slots.
static uint64_t pin_order(const yw_world* world, uint32_t slot) {
  uint64_t order = 0;
  for (uint32_t i = 0; i < slot; ++i) order += world->pins.items[i].generation & 1;
  return order;
}

// Likewise.
static uint64_t obstacle_order(const yw_world* world, uint32_t slot) {
  uint64_t order = 0;
  for (uint32_t i = 0; i < slot; ++i) order += world->obstacles.items[i].generation & 1;
  return order;
}

static uint64_t mix_drive(const yw_world* world, uint64_t hash, const yw_drive* drive) {
  uint64_t other = 0;
  if (drive->by == YW_DRIVE_HANDLE) other = pin_order(world, drive->other);
  if (drive->aim == YW_DRIVE_TO_BODY) other = (uint64_t)order_of(world, drive->other);
  if (drive->aim == YW_DRIVE_TO_OBSTACLE) other = obstacle_order(world, drive->other);
  return yw_drive_hash(drive, hash, (uint64_t)order_of(world, drive->body), other);
}

static void add_tracks(const yw_world* world, uint64_t* parts) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if (!(track->generation & 1)) continue;
    uint64_t order = 0;
    if (track->target == YW_TRACK_PIN) order = pin_order(world, track->slot);
    if (yw_track_is_of_body(track)) order = (uint64_t)order_of(world, track->slot);
    uint64_t hash = yw_track_hash(track, parts[WORLD_SETTINGS], order);
    parts[WORLD_SETTINGS] = track->drive ? mix_drive(world, hash, track->drive) : hash;
  }
}

yw_fingerprint yw_world_fingerprint(const yw_world* world) {
  yw_fingerprint print;
  for (int32_t i = 0; i < YW_FINGERPRINT_PARTS; ++i) print.parts[i] = YW_HASH_SEED;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, &world->built_gravity, sizeof world->gravity);
  hash = yw_hash_u64(hash, (uint64_t)world->contact_iterations);
  // The default is left out: hashes are older than sleep.
  bool default_sleep = world->sleep_speed == YW_DEFAULT_SLEEP_SPEED;
  if (!default_sleep) hash = yw_hash_bytes(hash, &world->sleep_speed, sizeof world->sleep_speed);
  if (world->wind.density > 0.0f) hash = yw_hash_bytes(hash, &world->wind, sizeof world->wind);
  print.parts[WORLD_SETTINGS] = world->surfaces ? yw_hash_u64(hash, 1) : hash;
  add_bodies(world, print.parts);
  add_pairs(world, print.parts);
  add_obstacles(world, print.parts);
  add_pins(world, print.parts);
  add_joints(world, print.parts);
  add_tracks(world, print.parts);
  return print;
}
