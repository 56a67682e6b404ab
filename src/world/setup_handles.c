// SPDX-License-Identifier: MIT
// Pins and joints of a setup, and paths.
#include "world/setup.h"
#include "world/setup_parts.h"
#include "yawara/extend/hash.h"

// Paths -------------------------------------------------------------------------------------------

void yw_setup_write_path(const yw_path* path, yw_writer* w) {
  yw_write_u32(w, (uint32_t)path->num_keys);
  yw_write_u32(w, (uint32_t)path->loop << 1 | path->smooth);
  write_floats(w, &path->pivot.x, 3);
  for (int32_t i = 0; i < path->num_keys; ++i) {
    yw_write_f64(w, path->keys[i].time);
    write_floats(w, &path->keys[i].offset.x, 3);
    write_floats(w, &path->keys[i].rotation.x, 4);
  }
}

void yw_setup_read_path(const yw_allocator* mem, yw_reader* r, yw_path* path) {
  yw_path read = {.num_keys = read_count(r, 36)};
  uint32_t flags = yw_read_u32(r);
  read.loop = flags & 2;
  read.smooth = flags & 1;
  read_floats(r, &read.pivot.x, 3);
  yw_key* keys = read.num_keys > 0 ? YW_NEW_ARRAY(mem, yw_key, read.num_keys) : NULL;
  if (read.num_keys > 0 && !keys) r->failed = true;
  for (int32_t i = 0; keys && i < read.num_keys; ++i) {
    read_doubles(r, &keys[i].time, 1);
    read_floats(r, &keys[i].offset.x, 3);
    read_floats(r, &keys[i].rotation.x, 4);
  }
  read.keys = keys;
  if (!r->failed && yw_path_check(&read, "path", NULL) >= 0 && yw_path_copy(mem, &read, path)) {
    yw_mem_free(mem, keys);
    return;
  }
  yw_mem_free(mem, keys);
  *path = (yw_path){0};
  r->failed = true;
}

// Pins --------------------------------------------------------------------------------------------

void yw_setup_write_pins(const yw_world* world, yw_writer* w) {
  yw_write_u32(w, (uint32_t)world->pins.count);
  for (int32_t i = 0; i < world->pins.count; ++i) {
    const yw_pin* pin = &world->pins.items[i];
    yw_write_u32(w, pin->generation);
    if (!(pin->generation & 1)) continue;
    yw_write_u32(w, pin->body);
    yw_write_u32(w, (uint32_t)pin->num_particles);
    yw_write_u32(w, pin->clamp);
    write_floats(w, &pin->stiffness, 1);
    write_floats(w, &pin->damping, 1);
    yw_setup_write_path(&pin->path, w);
    yw_write_u64(w, pin->follow ? yw_follow_hash(pin->follow, YW_HASH_SEED) : 0);
    for (int32_t k = 0; k < pin->num_particles; ++k) {
      yw_write_u32(w, (uint32_t)pin->particles[k]);
      write_floats(w, &pin->placed[k].x, 3);
    }
  }
}

// A particle of a body (slot), which must be there.
static int32_t read_particle(const yw_world* world, yw_reader* r, uint32_t slot) {
  uint32_t particle = yw_read_u32(r);
  if (particle >= (uint32_t)world->bodies.items[slot].particles.capacity) r->failed = true;
  return (int32_t)particle;
}

// Targets are too large for snapshots: they are those of a pin that was there, or kept.
static bool find_targets(const yw_world* world, uint64_t hash, yw_pin* pin) {
  if (!hash) return true;
  yw_follow* follow = yw_setup_find_follow(world, hash);
  if (!follow || follow->num_vertices != pin->num_particles) return false;
  ++follow->more_uses;
  pin->follow = follow;
  return true;
}

static bool read_pin(yw_world* world, yw_reader* r, yw_pin* pin) {
  pin->body = yw_read_u32(r);
  int32_t count = read_count(r, 16);
  if (pin->body >= (uint32_t)world->bodies.count ||
      !(world->bodies.items[pin->body].generation & 1)) {
    return false;
  }
  yw_body* body = &world->bodies.items[pin->body];
  pin->clamp = yw_read_u32(r) != 0;
  read_floats(r, &pin->stiffness, 1);
  read_floats(r, &pin->damping, 1);
  yw_setup_read_path(&world->mem, r, &pin->path);
  uint64_t targets = yw_read_u64(r);
  pin->particles = YW_NEW_ARRAY(&world->mem, int32_t, count);
  pin->placed = YW_NEW_ARRAY(&world->mem, yw_vec3, count);
  pin->hand_begin = pin->hand_end = YW_MOTION_NONE;
  pin->strength = 1.0f;
  if (!pin->particles || !pin->placed) return false;
  pin->num_particles = count;
  for (int32_t k = 0; k < count; ++k) {
    pin->particles[k] = read_particle(world, r, pin->body);
    read_floats(r, &pin->placed[k].x, 3);
  }
  if (!YW_LIST_RESERVE(&world->mem, &body->springs, count) ||
      !YW_LIST_RESERVE(&world->mem, &body->holds, count)) {
    return false;
  }
  body->springs.count += count;
  body->holds.count += count;
  return find_targets(world, targets, pin) && !r->failed;
}

bool yw_setup_read_pins(yw_world* world, yw_reader* r) {
  int32_t slots = read_count(r, 4), more = slots - world->pins.count;
  if (r->failed || (more > 0 && !YW_LIST_RESERVE(&world->mem, &world->pins, more))) return false;
  for (int32_t i = 0; i < world->pins.count; ++i) yw_pin_release(world, &world->pins.items[i]);
  for (int32_t i = 0; i < world->bodies.count; ++i) {
    world->bodies.items[i].holds.count = world->bodies.items[i].springs.count = 0;
  }
  world->pins.count = slots;
  for (int32_t i = 0; i < slots; ++i) world->pins.items[i] = (yw_pin){0};
  for (int32_t i = 0; i < slots; ++i) {
    uint32_t generation = yw_read_u32(r);
    if ((generation & 1) && !read_pin(world, r, &world->pins.items[i])) return false;
    world->pins.items[i].generation = generation;
  }
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_world_restore_masses(world, world->body_order.items[i]);
  }
  return !r->failed;
}

// Joints ------------------------------------------------------------------------------------------

static void write_joint(yw_writer* w, const yw_joint* joint) {
  const double numbers[8] = {joint->lower,       joint->upper,  joint->motor_speed,
                             joint->motor_force, joint->length, joint->stiffness,
                             joint->damping,     joint->last_h};
  yw_write_bytes(w, joint->name, sizeof joint->name);
  yw_write_u32(w, (uint32_t)joint->kind << 2 | (uint32_t)joint->collide << 1 | joint->limited);
  write_doubles(w, numbers, 8);
  for (int s = 0; s < 2; ++s) {
    const yw_joint_side* side = &joint->sides[s];
    const double frame[4] = {side->frame.x, side->frame.y, side->frame.z, side->frame.w};
    yw_write_u32(w, (uint32_t)side->body);
    yw_write_u32(w, (uint32_t)side->num_particles);
    for (int32_t k = 0; k < side->num_particles; ++k) yw_write_u32(w, (uint32_t)side->particles[k]);
    write_doubles(w, frame, 4);
  }
  yw_write_u32(w, (uint32_t)joint->num_points);
  for (int32_t k = 0; k < joint->num_points; ++k) {
    const yw_joint_point* point = &joint->points[k];
    write_doubles(w, point->local[0], 6);
    for (int s = 0; s < 2; ++s) {
      yw_write_u32(w, (uint32_t)point->first[s]);
      yw_write_u32(w, (uint32_t)point->count[s]);
    }
  }
}

void yw_setup_write_joints(const yw_world* world, yw_writer* w) {
  yw_write_u32(w, (uint32_t)world->joints.count);
  for (int32_t i = 0; i < world->joints.count; ++i) {
    const yw_joint* joint = &world->joints.items[i];
    yw_write_u32(w, joint->generation);
    if (joint->generation & 1) write_joint(w, joint);
  }
}

static bool read_side(yw_world* world, yw_reader* r, yw_joint_side* side) {
  double frame[4];
  side->body = (int32_t)yw_read_u32(r);
  int32_t count = read_count(r, 4);
  if (side->body < -1 || side->body >= world->bodies.count || (side->body < 0 && count > 0)) {
    return false;
  }
  if (side->body >= 0 && !(world->bodies.items[side->body].generation & 1)) return false;
  if (count > 0) {
    side->particles = YW_NEW_ARRAY(&world->mem, int32_t, count);
    if (!side->particles) return false;
  }
  side->num_particles = count;
  for (int32_t k = 0; k < count; ++k) {
    side->particles[k] = read_particle(world, r, (uint32_t)side->body);
  }
  read_doubles(r, frame, 4);
  side->frame = (yw_turn){frame[0], frame[1], frame[2], frame[3]};
  return !r->failed;
}

static bool read_points(yw_world* world, yw_reader* r, yw_joint* joint) {
  int32_t count = read_count(r, 64);
  joint->points = YW_NEW_ARRAY(&world->mem, yw_joint_point, count > 0 ? count : 1);
  if (!joint->points || count < 1) return false;
  joint->num_points = count;
  for (int32_t k = 0; k < count; ++k) {
    yw_joint_point* point = &joint->points[k];
    read_doubles(r, point->local[0], 6);
    for (int s = 0; s < 2; ++s) {
      uint32_t first = yw_read_u32(r), num = yw_read_u32(r);
      uint32_t most = (uint32_t)joint->sides[s].num_particles;
      if (first > most || num > most - first) return false;
      point->first[s] = (int32_t)first;
      point->count[s] = (int32_t)num;
    }
  }
  return !r->failed;
}

static bool read_joint(yw_world* world, yw_reader* r, yw_joint* joint) {
  double numbers[8];
  yw_read_bytes(r, joint->name, sizeof joint->name);
  joint->name[sizeof joint->name - 1] = 0;
  uint32_t flags = yw_read_u32(r);
  if (flags >> 2 > YW_JOINT_SPRING) return false;
  joint->kind = (yw_joint_kind)(flags >> 2);
  joint->collide = flags & 2;
  joint->limited = flags & 1;
  read_doubles(r, numbers, 8);
  joint->lower = numbers[0];
  joint->upper = numbers[1];
  joint->motor_speed = numbers[2];
  joint->motor_force = numbers[3];
  joint->length = numbers[4];
  joint->stiffness = numbers[5];
  joint->damping = numbers[6];
  joint->last_h = numbers[7];
  return read_side(world, r, &joint->sides[0]) && read_side(world, r, &joint->sides[1]) &&
         read_points(world, r, joint);
}

bool yw_setup_read_joints(yw_world* world, yw_reader* r) {
  int32_t slots = read_count(r, 4), more = slots - world->joints.count;
  if (r->failed || (more > 0 && !YW_LIST_RESERVE(&world->mem, &world->joints, more)) ||
      !YW_LIST_RESERVE(&world->mem, &world->joined, 2 * slots) ||
      !YW_LIST_RESERVE(&world->mem, &world->motions, 2 * slots)) {
    return false;
  }
  for (int32_t i = 0; i < world->joints.count; ++i) {
    yw_joint_release(world, &world->joints.items[i]);
  }
  world->joints.count = slots;
  for (int32_t i = 0; i < slots; ++i) world->joints.items[i] = (yw_joint){0};
  for (int32_t i = 0; i < slots; ++i) {
    uint32_t generation = yw_read_u32(r);
    if ((generation & 1) && !read_joint(world, r, &world->joints.items[i])) return false;
    world->joints.items[i].generation = generation;
  }
  return !r->failed;
}
